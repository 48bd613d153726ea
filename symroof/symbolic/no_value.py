"""Formulas without a value, apart from the kernels: whoever only lists names does without NumPy."""


class NoValue(ArithmeticError):
    """The formula has no value here; the message says why."""


class UndefinedValue(NoValue):
    """A name in the formula has no value at any point."""
