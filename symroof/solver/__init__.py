"""Crossings of ``lhs = rhs`` in one unknown: closed forms with the conditions under which they exist.

This room knows nothing of LLMs: it is given trees, a way to find the number of a coefficient, and the unknown's name.
"""
