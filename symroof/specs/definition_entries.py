"""The file form of user-defined entries: inputs, formulas, thresholds."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from sympy import Basic

from symroof.specs.fields import Spec
from symroof.specs.sources import AnySource
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.reading import LONGEST
from symroof.theory.symbols import is_spelling
from symroof.units import Unit, UnitError, parse_unit

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


class FormulaSpec(Spec):
    """A user-defined quantity: a formula, checked for its unit."""

    formula: Formula
    unit: UnitText
    means: str
    latex: Latex = None
    counts: bool = False
    sign: Literal["positive", "nonnegative", "real"] | None = None
    source: AnySource = None


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
