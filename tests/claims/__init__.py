"""Claims: read, judged, explained."""
