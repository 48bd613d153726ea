"""The live page: inputs a reader moves, and everything that follows, from JavaScript printed from the formulas."""
