"""Crossings of ``lhs = rhs`` in one unknown: closed forms with the conditions under which they exist.

This room knows nothing of LLMs: it takes trees, a function that evaluates a coefficient, and the unknown's name.
"""
