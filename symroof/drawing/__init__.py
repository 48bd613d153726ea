"""Drawing lines, areas and text with automatic label placement, written as SVG, PDF or PNG; and text and HTML tables."""

ENDINGS = ("svg", "pdf", "png")
"""Output formats: modules of this package."""
