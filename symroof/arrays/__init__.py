"""Formulas as NumPy functions: exact polynomials over inputs and operations, evaluated block by block.

A tree becomes a :class:`~symroof.arrays.graph.Graph`: polynomials with exact coefficients whose names are inputs, or
operations (a maximum, a rounding, a sum) over other polynomials. Constants are folded exactly, an operation
that occurs twice is one name. The graph is then evaluated over arrays: what moves along one axis of a grid is worked out along that axis
alone, what moves along two is a product of two thin matrices, and everything large stays in blocks that fit a cache.
Where a rounding or a comparison comes out closer than floats can tell, the exact value decides.
"""
