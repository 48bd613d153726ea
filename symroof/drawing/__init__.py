"""Drawing: lines, areas and words on a page, room for labels, and the page as SVG, PDF or PNG. Knows nothing of what it draws."""

ENDINGS = ("svg", "pdf", "png")
"""The forms a drawing takes: modules of this room."""
