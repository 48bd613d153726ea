"""Formulas over NumPy arrays: the functions that a formula is printed with, sums over steps, and what asks for the names of a case.

Where a rounding or a comparison comes out closer than floats can tell, the exact value decides.
"""
