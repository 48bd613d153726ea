"""Names that a study or a theory file declares beside the engine's own: inputs, quantities with their formulas, thresholds.

They travel with the selection of a study into its theory, and so are known in that study and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from symroof.formula.evaluate import NotGiven
from symroof.formula.tree import DerivativeName, Num, Tree
from symroof.theory.quantity import Quantity
from symroof.theory.symbols import INPUTS, STEP_INDEX, Symbol, base_name, slope_symbol
from symroof.units import parse_quantity

if TYPE_CHECKING:
    from symroof.theory.thresholds import Threshold


class Recall:
    """A dataclass that keeps what it works out. Fields that are not compared are forgotten by copies and pickles, as is all that is cached beside the fields.

    >>> from dataclasses import dataclass, field
    >>> import copy
    >>> @dataclass
    ... class Square(Recall):
    ...     side: int
    ...     known: dict = field(default_factory=dict, compare=False)
    >>> copy.copy(Square(3, {"area": 9}))
    Square(side=3, known={})
    """

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.compare}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            fresh = field.default if field.default_factory is MISSING else field.default_factory()
            object.__setattr__(self, field.name, state.get(field.name, fresh))


OWN = "defined"
"""The group of quantities and thresholds that are declared here."""


@dataclass(frozen=True)
class Declarations(Recall):
    """What one study declares; every name in it is none of the engine's.

    Attributes:
        formulas: the definition of each quantity.
        title: what a theory file calls itself.
        symbols: the SymPy symbols that the caller has for some of the inputs, by name.

    >>> from symroof.theory.quantity import declared_quantity
    >>> own = Declarations(quantities=(declared_quantity("cache_share", {"unit": "s", "means": "cache of all memory"}, OWN),))
    >>> own.symbol("cache_share").meaning, own.symbol("ttft").unit, own.symbol("ttf")
    ('cache of all memory', 's', None)
    """

    inputs: tuple[Symbol, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    formulas: tuple[tuple[str, Tree], ...] = ()
    title: str = ""
    symbols: tuple[tuple[str, Any], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.inputs or self.quantities or self.thresholds)

    def __iter__(self) -> Iterator[str]:
        """The names of its inputs and quantities."""
        return iter(self._symbols)

    def __contains__(self, name: object) -> bool:
        return name in self._symbols

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        return {symbol.name: symbol for symbol in (*self.inputs, *self.quantities)}

    def joined(self, other: Declarations) -> Declarations:
        """Both declarations as one; a name of this one hides the same name of the other."""
        return Declarations(
            _over(self.inputs, other.inputs),
            _over(self.quantities, other.quantities),
            _over(self.thresholds, other.thresholds),
            tuple({**dict(other.formulas), **dict(self.formulas)}.items()),
            self.title or other.title,
            tuple({**dict(other.symbols), **dict(self.symbols)}.items()),
        )

    def own(self, name: str) -> Symbol | None:
        """The declaration of an input or quantity that is declared here."""
        return self._symbols.get(name)

    def symbol(self, name: str) -> Symbol | None:
        """The declaration of any input or quantity, declared here or in the engine; one of a kind of layer has that of the whole."""
        if isinstance(name, DerivativeName):
            quantity, by = self.symbol(name.quantity), self.symbol(name.by)
            return slope_symbol(name, quantity, by) if quantity and by else None
        base = base_name(name)
        if name == STEP_INDEX.name:
            return STEP_INDEX
        return self._symbols.get(name) or INPUTS.get(name) or INPUTS.get(base) or _quantity(name) or _quantity(base)

    def quantity(self, name: str) -> Quantity | None:
        """The declaration of a quantity, declared here or in the engine."""
        own = self._symbols.get(name)
        return own if isinstance(own, Quantity) else _quantity(name)

    def input(self, name: str) -> Symbol | None:
        """The declaration of an input, declared here or in the engine."""
        own = self._symbols.get(name)
        return INPUTS.get(name) if own is None else None if isinstance(own, Quantity) else own

    def threshold(self, name: str) -> Threshold | None:
        """A named threshold, declared here or in the engine."""
        from symroof.theory.thresholds import THRESHOLDS

        return next((own for own in self.thresholds if own.name == name), None) or THRESHOLDS.get(name)

    @cached_property
    def in_sympy(self) -> dict[str, Any]:
        """The SymPy symbols of names that are declared here, as far as they have been made; :func:`symroof.symbols.symbol` makes them."""
        return dict(self.symbols)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Every name of an input or quantity, the engine's among them."""
        from symroof.theory.quantities import QUANTITIES

        return (*self._symbols, *INPUTS, *QUANTITIES)

    @cached_property
    def definitions(self) -> dict[str, Tree]:
        """The formulas of the quantities that are declared here."""
        return dict(self.formulas)


def _quantity(name: str) -> Quantity | None:
    """The engine's quantity of a name; a study of inputs alone needs none, and they are loaded for the first that is asked for."""
    from symroof.theory.quantities import QUANTITIES

    return QUANTITIES.get(name)


S = TypeVar("S", bound="Symbol | Threshold")


def _over(mine: tuple[S, ...], theirs: tuple[S, ...]) -> tuple[S, ...]:
    hidden = {each.name for each in mine}
    return (*(each for each in theirs if each.name not in hidden), *mine)


NONE = Declarations()
"""A study that declares nothing."""


class Missing(NotGiven):
    """An input without a value; ``name`` is the input. A quantity of layers that the model lacks is one too, until it is given; ``why`` says so."""

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(why or f"needs {name}")
        self.name = name


class NoClosedForm(NotGiven):
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
