"""Choosing among configurations: which pass, what the others lack, and which are Pareto-optimal."""
