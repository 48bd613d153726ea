"""Search and algebra of formulas: this room knows nothing of LLMs."""
