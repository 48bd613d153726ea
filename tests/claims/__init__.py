"""Claims: read, judged, told."""
