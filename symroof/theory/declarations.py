"""Named thresholds; what a study or a theory file declares itself (inputs, quantities, thresholds); and the defaults of inputs.

A threshold is one equation, its unknown, the meaning of the answer and the source of the question; the built-in ones stand in
``specs/theories/inference/thresholds.yaml``. Declarations are passed with the selection of a study into its theory, so they are
known in that study only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from symroof.errors import UndefinedValue
from symroof.symbolic.expressions import DerivativeName, Expr, number
from symroof.theory.quantities import QUANTITIES, Quantity
from symroof.theory.symbols import INPUTS, STEP_INDEX, Symbol, base_name, slope_symbol
from symroof.theory.theory_files import cited, section
from symroof.units import parse_quantity

SUBJECTS: dict[str, tuple[str, str]] = {
    entry.name: (entry.fields["title"], cited(entry.fields["source"]))
    for entry in section("subjects")
}
"""The heading of each group, and the reference of its thresholds that name none."""

THRESHOLD_GROUPS = {group: heading for group, (heading, _) in SUBJECTS.items()}


@dataclass(frozen=True)
class Threshold:
    """A named equation.

    Attributes:
        group: the subject it belongs to, a key of :data:`SUBJECTS`.
        equation: ``lhs = rhs`` over quantities.
        unknown: the input it is solved for.
        kind: ``reach`` (the least whole value at which the sides have changed over), or ``limit`` (the largest at which
            they have not).
        means: the meaning of the value.
        below, above: why there is no crossing if the left side stays below, or above, the right one for all values of the unknown.
        met: which of these two means that every value does, so that the answer is "any" and not "never"; empty where neither does.
        needs: additional inputs, such as a target.
        under_load: the equation where targets apply to a server under load; empty where it is the same.
        when: inputs that a case must set for a review to report it: without chunks, no thresholds of chunks.
        reference: the source of the question.
    """

    group: str
    name: str
    equation: str
    unknown: str
    kind: str
    means: str
    below: str
    above: str
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    reference: str = ""
    under_load: str = ""
    met: str = ""

    def never(self, verdict: str) -> str:
        """Why there is no crossing, by the larger side; empty for any other verdict."""
        return {"lhs_below": self.below, "lhs_above": self.above}.get(verdict, "")


def declared_threshold(fields: Mapping[str, Any]) -> Threshold:
    """A threshold from its entry in a theory file; its source is that of its subject unless it names one."""
    group = fields["subject"]
    return Threshold(
        group,
        **{
            key: fields[key]
            for key in ("name", "equation", "unknown", "kind", "means", "below", "above")
        },
        needs=tuple(fields.get("needs", ())),
        when=tuple(fields.get("when", ())),
        reference=cited(fields.get("source", "")) or SUBJECTS[group][1],
        under_load=fields.get("under_load", ""),
        met=fields.get("met", ""),
    )


THRESHOLDS: dict[str, Threshold] = {
    entry.name: declared_threshold(entry.fields) for entry in section("thresholds")
}

FULL_MEMORY = THRESHOLDS["max_batch_memory"].equation
"""The equation at which the most loaded device is full."""


class DropsCaches:
    """A dataclass with caches that copies and pickles drop: fields that are not compared, and everything cached outside the fields.

    >>> from dataclasses import dataclass, field
    >>> import copy
    >>> @dataclass
    ... class Square(DropsCaches):
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
"""The group of user-defined quantities and thresholds."""


@dataclass(frozen=True)
class Declarations(DropsCaches):
    """The user-defined names of one study; none of them is a name of symroof.

    Attributes:
        formulas: the definition of each quantity.
        title: the title of the theory file.
        symbols: the caller's SymPy symbols for some of the inputs, by name.

    >>> from symroof.theory.quantities import declared_quantity
    >>> own = Declarations(quantities=(declared_quantity("cache_share", {"unit": "s", "means": "cache of all memory"}, OWN),))
    >>> own.symbol("cache_share").meaning, own.symbol("ttft").unit, own.symbol("ttf")
    ('cache of all memory', 's', None)
    """

    inputs: tuple[Symbol, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    formulas: tuple[tuple[str, Expr], ...] = ()
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
        """Both declarations combined; a name of this one hides the same name in the other."""
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
        """The declaration of any input or quantity, user-defined or built-in; a name of one kind of layer has that of the whole."""
        if isinstance(name, DerivativeName):
            quantity, by = self.symbol(name.quantity), self.symbol(name.by)
            return slope_symbol(name, quantity, by) if quantity and by else None
        base = base_name(name)
        if name == STEP_INDEX.name:
            return STEP_INDEX
        return (
            self._symbols.get(name)
            or INPUTS.get(name)
            or INPUTS.get(base)
            or QUANTITIES.get(name)
            or QUANTITIES.get(base)
        )

    def quantity(self, name: str) -> Quantity | None:
        """The declaration of a quantity, user-defined or built-in."""
        own = self._symbols.get(name)
        return own if isinstance(own, Quantity) else QUANTITIES.get(name)

    def input(self, name: str) -> Symbol | None:
        """The declaration of an input, user-defined or built-in."""
        own = self._symbols.get(name)
        return INPUTS.get(name) if own is None else None if isinstance(own, Quantity) else own

    def threshold(self, name: str) -> Threshold | None:
        """A named threshold, user-defined or built-in."""
        return next((own for own in self.thresholds if own.name == name), None) or THRESHOLDS.get(
            name
        )

    @cached_property
    def in_sympy(self) -> dict[str, Any]:
        """The SymPy symbols of names that are declared here, as far as they have been made; :func:`symroof.symbols.symbol` makes them."""
        return dict(self.symbols)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Every name of an input or quantity, built-in ones included."""
        return (*self._symbols, *INPUTS, *QUANTITIES)

    @cached_property
    def definitions(self) -> dict[str, Expr]:
        """The formulas of the quantities that are declared here."""
        return dict(self.formulas)


S = TypeVar("S", bound="Symbol | Threshold")


def _over(mine: tuple[S, ...], theirs: tuple[S, ...]) -> tuple[S, ...]:
    hidden = {each.name for each in mine}
    return (*(each for each in theirs if each.name not in hidden), *mine)


NONE = Declarations()
"""No user-defined names."""


class MissingInput(UndefinedValue):
    """An input has no value; ``name`` is the input. Also a quantity of layers that the model lacks; ``why`` says so."""

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(why or f"needs {name}")
        self.name = name


class NoClosedForm(UndefinedValue):
    """A quantity has no closed form under the assumptions; its value can still be given."""


@lru_cache(maxsize=1024)
def default_of(name: str, own: Declarations = NONE) -> Expr | None:
    """The default of an input, from its declaration; ``own`` are the declarations of a study."""
    symbol = own.input(name)
    if symbol is None or symbol.default is None:
        return None
    return number(parse_quantity(symbol.default).value)


def neutral_default(name: str) -> Expr | None:
    """The default of an input if it is 0 or 1: without effect on a product or a sum, so formulas may omit it.

    >>> neutral_default("batch"), neutral_default("block_size"), neutral_default("prompt")
    (1, None, None)
    """
    default = default_of(name)
    return default if default is not None and default in (0, 1) else None
