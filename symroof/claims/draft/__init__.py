"""Drafts of annotations for a note that has none: what each number is, of which case."""
