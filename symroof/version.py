"""The version of the package, and nothing that would have to be loaded for it."""

__version__ = "0.2.0"
