"""What a study or a theory file declares itself, entry by entry: inputs, formulas, thresholds."""

import re
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from symroof.formula.parse import LONGEST
from symroof.formula.tree import Num, Tree
from symroof.specs.fields import Source, Spec
from symroof.units import Unit, UnitError, parse_unit

LATEX = re.compile(r"[A-Za-z0-9_^{},/\\ ]{1,64}")


def titled(value: object) -> object:
    """A source that is written as its title alone."""
    return {"title": value} if isinstance(value, str) else value


AnySource = Annotated[Source | None, BeforeValidator(titled), WithJsonSchema({"type": ["string", "object"]})]
Equation = Annotated[str, Field(max_length=LONGEST)]
Formula = Annotated[
    Any, BeforeValidator(lambda value: _formula(value)), WithJsonSchema({"anyOf": [{"type": "string", "maxLength": LONGEST}, {"type": "number"}]})
]
Latex = Annotated[str | None, BeforeValidator(lambda value: _latex(value))]
UnitText = Annotated[str, BeforeValidator(lambda value: _unit(value).text)]


def _formula(value: object) -> str | Tree:
    """A formula as text or as a tree; a bare number is one, too."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Num(Fraction(value))
    if isinstance(value, str) and len(value) > LONGEST:
        raise ValueError(f"has {len(value):,} characters; a formula has at most {LONGEST:,}")
    if not isinstance(value, (str, Tree)):
        raise ValueError("expected a formula, such as prefill_flops*(1 - hit_rate)")
    return value


def _latex(value: object) -> object:
    if value is None:
        return None
    if not isinstance(value, str) or not LATEX.fullmatch(value):
        raise ValueError(r"spells a name in LaTeX with letters, digits, Greek, \mathrm{...}, _ and ^, in up to 64 characters")
    from symroof.formula.mathml import spelling

    spelling(value)
    return value


def _unit(value: object) -> Unit:
    if not isinstance(value, str):
        raise ValueError("expected a unit such as FLOP, byte/s or USD; a plain number has ''")
    try:
        return parse_unit(value)
    except UnitError as error:
        raise ValueError(str(error)) from None


class InputSpec(Spec):
    """An input of one's own; ``counts`` where it counts things, so that answers are whole; ``sign`` where it may be zero or negative, as SymPy says it."""

    unit: UnitText = ""
    means: str
    default: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})] = None
    latex: Latex = None
    counts: bool = False
    sign: Literal["positive", "nonnegative", "real"] = "positive"
    source: AnySource = None


class FormulaSpec(Spec):
    """A quantity of one's own: a formula, checked for its unit."""

    formula: Formula
    unit: UnitText
    means: str
    latex: Latex = None
    source: AnySource = None


class ThresholdSpec(Spec):
    """A threshold of one's own: an equation, what it is solved for, what the answer means; in a study a name alone is one of the engine's."""

    name: str
    equation: Equation | None = None
    unknown: str | None = None
    means: str | None = None
    kind: Literal["reach", "limit"] = "reach"
    below: str = ""
    above: str = ""
    source: AnySource = None
