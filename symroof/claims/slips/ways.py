"""The ways in which a slip happens, as data: a slip is a name and its ways.

Of four sorts: a :class:`Change` of inputs, quantities or switches and an :class:`Other` figure of the hardware catalogue,
after which the claim is derived anew; a figure :class:`Rounded` on the way; and a :class:`Result` read or counted otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Change:
    """Names set to formulas over the true case, precisions and switches to values.

    A formula for an input, or for a quantity in terms of itself, is worked out in the true case first; any other stands
    as the definition of its quantity.

    Attributes:
        fine: names of which, where the value depends on one, it explains a number of three digits or more only: fewer say too little.
    """

    text: str
    sets: Mapping[str, Any]
    fine: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rounded:
    """A figure written down with few digits and used on: a quantity, or as ``rate`` the reciprocal of one."""

    symbol: str
    digits: int
    rate: str = ""

    @property
    def text(self) -> str:
        return f"{self.rate or self.symbol} rounded to {self.digits} digit{'s' if self.digits > 1 else ''} on the way"


@dataclass(frozen=True)
class Other:
    """Another figure of the catalogue in an input's place.

    Attributes:
        text: the explanation; ``{figure}`` is the other figure's name.
        symbol: the input.
        figures: ``sparse`` (this peak with sparsity), ``precisions`` (this part's other peaks), ``parts`` (its kin with memory of its sort),
            ``relatives`` (its other kin).
    """

    text: str
    symbol: str
    figures: str


@dataclass(frozen=True)
class Result:
    """The derived value, read or counted otherwise.

    Attributes:
        text: the explanation; ``{decimal}`` and ``{binary}`` are the claim's unit of bytes, such as GB and GiB; ``{too_large}`` and ``{too_small}``
            the unit that it may stand for, a thousandth or a thousand of it.
        formula: over the case and ``value``, the derived value; ``prefix`` is the power of the claim's prefix, 3 for GB.
        units: base units of which the derived value has one; empty for any.
        over: names of which the claimed quantity depends on one; empty for any.
    """

    text: str
    formula: str
    units: tuple[str, ...] = ()
    over: tuple[str, ...] = ()


Way = Change | Rounded | Other | Result


@dataclass(frozen=True)
class Slip:
    """One slip by name and the ways it happens.

    Attributes:
        paired: whether it may be one of two.
        figures: whether it happens to figures as they are read and written only, and never to a formula over names.
    """

    name: str
    ways: tuple[Way, ...]
    paired: bool = True
    figures: bool = False
