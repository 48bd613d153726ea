"""Pictures: what they show of a study, and how Matplotlib draws it."""

ENDINGS = ("svg", "pdf", "png")
"""Output formats."""
