"""Defaults of inputs, and what is raised where an input has neither a value nor a default."""

from functools import lru_cache

from symroof.formula.evaluate import NotGiven
from symroof.formula.tree import Num
from symroof.theory.declarations import NONE, Declarations
from symroof.units import parse_quantity


class Missing(NotGiven):
    """An input without a value; ``name`` is the input. A quantity of layers that the model lacks is one too, until it is given; ``why`` says so."""

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(why or f"needs {name}")
        self.name = name


class NotClosed(NotGiven):
    """A quantity that no formula gives under the assumptions; its value can still be given."""


@lru_cache(maxsize=1024)
def default_of(name: str, own: Declarations = NONE) -> Num | None:
    """The default of an input, from its declaration; ``own`` are the declarations of a study."""
    symbol = own.input(name)
    if symbol is None or symbol.default is None:
        return None
    return Num(parse_quantity(symbol.default).value, symbol.dimension)


def neutral_default(name: str) -> Num | None:
    """The default of an input where it is 0 or 1: without effect on a product or a sum, so a formula need not show it.

    >>> neutral_default("batch"), neutral_default("block_size"), neutral_default("prompt")
    (Num(value=Fraction(1, 1), dimension=()), None, None)
    """
    default = default_of(name)
    return Num(default.value) if default is not None and default.value in (0, 1) else None
