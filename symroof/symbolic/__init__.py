"""Formulas and their values, along an axis of scenarios; nothing here knows of language models."""
