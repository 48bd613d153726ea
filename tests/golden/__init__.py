"""Golden answers: the numbers and verdicts of eight hundred questions, by name (README.md)."""
