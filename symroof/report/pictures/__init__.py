"""Pictures: what they show of a study, and how Matplotlib draws it."""

ENDINGS = ("svg", "pdf", "png")
"""Output formats."""
STYLES = ("screen", "print", "dark")
"""``screen`` follows the theme of its reader where the format can: in SVG."""
