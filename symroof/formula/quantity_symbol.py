"""SymPy symbols of quantities, which are not constants: SymPy keeps their derivatives unevaluated instead of 0."""

import sys
from functools import cache
from types import FrameType
from typing import Any

from sympy import Derivative, Symbol

UNIONS = ("free_symbols", "_eval_free_symbols", "<genexpr>", "<listcomp>")
"""What collects the free symbols of an expression from those of its parts."""
STEPS = ("_eval_derivative", "_eval_derivative_n_times")
"""The methods by which parts of an expression take their derivative by their first argument."""


class QuantityDerivative(Derivative):  # type: ignore[misc]
    """The derivative of a quantity, kept until its own value is substituted: a number for the quantity or the input alone would make it 0.

    >>> from sympy import diff
    >>> itl, batch = quantity_symbol("itl", positive=True), Symbol("batch", positive=True)
    >>> slope = diff(itl*batch, batch)
    >>> slope.xreplace({itl: 5, batch: 2}), slope.xreplace({itl: 5, batch: 2, diff(itl, batch): 3})
    (2*Derivative(itl, batch) + 5, 11)
    """

    def _eval_subs(self, old: Any, new: Any) -> Any:
        if new.is_number or not self.has(old):
            return self
        made = super()._eval_subs(old, new)
        return (
            QuantityDerivative(*made.args)
            if isinstance(made, Derivative) and isinstance(made.expr, QuantitySymbol)
            else made
        )

    def _xreplace(self, rule: Any) -> Any:
        if self not in rule and any(
            getattr(rule.get(part), "is_number", True)
            for part in self.atoms(Symbol)
            if part in rule
        ):
            return self, False
        return super()._xreplace(rule)


class QuantitySymbol(Symbol):  # type: ignore[misc]
    """The symbol of a quantity that depends on inputs through a formula that the symbol does not show.

    Its derivative by any other symbol stays unevaluated instead of 0, alone and within any expression:

    >>> import sympy
    >>> itl, batch = quantity_symbol("itl", positive=True), Symbol("batch", positive=True)
    >>> sympy.diff(2*itl, batch), sympy.diff(itl*batch, batch), sympy.diff(itl, itl)
    (2*Derivative(itl, batch), batch*Derivative(itl, batch) + itl, 1)

    Otherwise it is an ordinary symbol:

    >>> sympy.solve(itl*batch - 3, batch), (itl*batch).free_symbols == {itl, batch}
    ([3/itl], True)
    """

    __slots__ = ()

    def _eval_derivative(self, by: Any) -> Any:
        return super()._eval_derivative(by) if by == self else QuantityDerivative(self, by)

    def _eval_derivative_n_times(self, by: Any, n: Any) -> Any:
        return (
            super()._eval_derivative_n_times(by, n)
            if by == self
            else QuantityDerivative(self, (by, n))
        )

    @property
    def free_symbols(self) -> set[Any]:
        """Itself; while SymPy differentiates, also the variables: SymPy returns 0 for an expression that lacks them."""
        return {self, *_variables(sys._getframe(1))}

    def __reduce__(self) -> Any:
        return _restored, (self.name, tuple(self._assumptions_orig.items()))


for kind, name in ((QuantitySymbol, "Symbol"), (QuantityDerivative, "Derivative")):
    kind.__name__ = name  # the class name by which SymPy sorts and prints


def _variables(frame: FrameType | None) -> list[Any]:
    """The variables of the derivative that is being taken by the caller; none if there is none."""
    while frame and frame.f_code.co_name in UNIONS:
        frame = frame.f_back
    if frame is None:
        return []
    if frame.f_code is Derivative.__new__.__code__:
        return [symbol for symbol, _ in frame.f_locals.get("variable_count", ())]
    return [frame.f_locals[frame.f_code.co_varnames[1]]] if frame.f_code.co_name in STEPS else []


def quantity_symbol(name: str, **assumptions: bool) -> Any:
    """The symbol of a name and its assumptions: always the same object, also copied or unpickled.

    >>> import pickle
    >>> itl = quantity_symbol("itl", positive=True)
    >>> pickle.loads(pickle.dumps(itl)) is itl, itl == Symbol("itl", positive=True)
    (True, False)
    """
    return _restored(name, tuple(assumptions.items()))


@cache
def _restored(name: str, assumptions: tuple[tuple[str, bool], ...]) -> Any:
    return QuantitySymbol(name, **dict(assumptions))
