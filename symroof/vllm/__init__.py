"""A line that starts a vLLM server: read, explained in symroof's terms, and recommended. Nothing of it is ever run."""
