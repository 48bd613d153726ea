"""The file form of user-defined entries: inputs, formulas, thresholds."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from sympy import Basic

from symroof.specs.fields import Source, Spec
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.printing import is_spelling, text
from symroof.symbolic.reading import LONGEST
from symroof.units import Unit, UnitError, parse_unit

Place = tuple[str | int, ...]


def titled(value: object) -> object:
    """A source given as its title only."""
    return {"title": value} if isinstance(value, str) else value


AnySource = Annotated[
    Source | None, BeforeValidator(titled), WithJsonSchema({"type": ["string", "object"]})
]
Equation = Annotated[str, Field(max_length=LONGEST)]
Formula = Annotated[
    Any,
    BeforeValidator(lambda value: _formula(value)),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": LONGEST}, {"type": "number"}]}),
]
Latex = Annotated[str | None, BeforeValidator(lambda value: _latex(value))]
UnitText = Annotated[str, BeforeValidator(lambda value: _unit(value).text)]


def _formula(value: object) -> str | Expr:
    """A formula as text or as a tree; a bare number is a formula too."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return number(Fraction(value))
    if isinstance(value, str) and len(value) > LONGEST:
        raise ValueError(f"has {len(value):,} characters; a formula has at most {LONGEST:,}")
    if not isinstance(value, (str, Basic)):
        raise ValueError("expected a formula, such as prefill_flops*(1 - hit_rate)")
    return value


def _latex(value: object) -> object:
    if value is None:
        return None
    if not isinstance(value, str) or not is_spelling(value):
        raise ValueError(
            r"spells a name in LaTeX with letters, digits, Greek, \mathrm{...}, _ and ^, in up to 64 characters"
        )
    return value


def _unit(value: object) -> Unit:
    if not isinstance(value, str):
        raise ValueError("expected a unit such as FLOP, byte/s or USD; a plain number has ''")
    try:
        return parse_unit(value)
    except UnitError as error:
        raise ValueError(str(error)) from None


def _said(formula: Any) -> str:
    return text(formula) if isinstance(formula, Basic) else " ".join(str(formula).split())


class InputSpec(Spec):
    """A user-defined input; ``counts`` if it counts things, so that answers are integers; ``sign`` if it may be zero or negative, in SymPy's words;
    ``most: 1`` of a share."""

    unit: UnitText = ""
    means: str
    default: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})] = (
        None
    )
    latex: Latex = None
    counts: bool = False
    sign: Literal["positive", "nonnegative", "real"] = "positive"
    most: Literal[1] | None = None
    source: AnySource = None


class ConditionSpec(Spec):
    """A condition for a quantity to have a value, and the message if it does not hold."""

    holds: Formula
    otherwise: str


class FixedPointSpec(Spec):
    """The least value of an input, from 0 to ``up_to``, at which it equals a formula that depends on it."""

    unknown: str
    equals: Formula
    up_to: Formula


class LargestSpec(Spec):
    """The largest whole value of an input up to ``up_to`` at which a formula is 1; 0 if there is none."""

    unknown: str
    holds: Formula
    up_to: Formula


class FormulaSpec(Spec):
    """A user-defined quantity, checked for its unit: a formula, one for each value of a counting choice, or a search.

    ``exists`` names conditions of the file; ``without`` has the formula if an input has no value; ``absent`` the values of inputs that may be missing.
    """

    formula: Formula | None = None
    choose: dict[str, dict[str, Formula]] = Field(default={}, max_length=1)
    fixed_point: FixedPointSpec | None = None
    largest: LargestSpec | None = None
    without: dict[str, Formula] = Field(default={}, max_length=1)
    absent: dict[str, Formula] = {}
    exists: tuple[str, ...] = ()
    unit: UnitText
    means: str
    latex: Latex = None
    counts: bool = False
    sign: Literal["positive", "nonnegative", "real"] | None = None
    source: AnySource = None

    @model_validator(mode="after")
    def _one_way(self) -> "FormulaSpec":
        ways = [
            key
            for key in ("formula", "choose", "fixed_point", "largest")
            if getattr(self, key) not in (None, {})
        ]
        if len(ways) != 1:
            named = f", not {' and '.join(ways)}" if ways else ""
            raise ValueError(f"has to have one of formula, choose, fixed_point and largest{named}")
        return self

    def searches(self) -> Iterator[tuple[str, FixedPointSpec | LargestSpec]]:
        """The search for its value, if it is searched for, under its key."""
        found = (("fixed_point", self.fixed_point), ("largest", self.largest))
        yield from ((key, search) for key, search in found if search)

    def formulas(self) -> Iterator[tuple[Place, Any]]:
        """Every formula with its place in the entry, that of its value first."""
        if self.formula is not None:
            yield ("formula",), self.formula
        for switch, values in self.choose.items():
            yield from ((("choose", switch, value), formula) for value, formula in values.items())
        yield from ((("without", key), formula) for key, formula in self.without.items())
        yield from ((("absent", key), formula) for key, formula in self.absent.items())
        for key, search in self.searches():
            for field in ("equals", "holds", "up_to"):
                if hasattr(search, field):
                    yield (key, field), getattr(search, field)

    @property
    def said(self) -> str:
        """How its value is computed, in one line."""
        if self.formula is not None:
            return _said(self.formula)
        if self.fixed_point:
            return f"the {self.fixed_point.unknown} that equals {_said(self.fixed_point.equals)}, at most {_said(self.fixed_point.up_to)}"
        if self.largest:
            return f"the largest whole {self.largest.unknown} up to {_said(self.largest.up_to)} at which {_said(self.largest.holds)} = 1"
        return "; ".join(
            f"{_said(formula)} ({switch}={value})"
            for switch, values in self.choose.items()
            for value, formula in values.items()
        )


class ThresholdSpec(Spec):
    """A user-defined threshold: an equation, its unknown, the meaning of the answer; in a study a name alone is a built-in one."""

    name: str
    equation: Equation | None = None
    unknown: str | None = None
    means: str | None = None
    kind: Literal["reach", "limit"] = "reach"
    below: str = ""
    above: str = ""
    source: AnySource = None
