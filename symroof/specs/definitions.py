"""User-defined inputs, formulas and thresholds of a study or a theory file: their form, and how they become declarations, with names, units and formulas checked.

>>> made = declared_formulas({"cache_share": FormulaSpec(formula="kv_cache_bytes/memory_bytes", unit="", means="cache of all memory")})
>>> made.quantities[0].latex
'\\\\mathrm{cache\\\\_share}'
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema
from sympy import Basic

from symroof.errors import InputError, nearest, split_hint, why
from symroof.specs.fields import (
    Fault,
    Faults,
    Read,
    Spec,
    build,
    exact,
    in_unit,
    raise_faults,
    read_at,
    read_each,
)
from symroof.specs.input_values import in_domain
from symroof.specs.sources import AnySource
from symroof.strict_yaml import Document
from symroof.symbolic import dimensions
from symroof.symbolic.expressions import (
    Expr,
    TooLong,
    inline,
    is_label,
    is_number,
    is_relation,
    names,
    number,
    operator_of,
    parts,
)
from symroof.symbolic.nodes import FUNCTIONS
from symroof.symbolic.reading import LONGEST, as_written, parse, written
from symroof.theory.declarations import NONE, OWN, Declarations, Threshold
from symroof.theory.quantities import Quantity, declared_quantity
from symroof.theory.spellings import printed_name, read_expression, resolved
from symroof.theory.switches import DETAIL, SWITCHES
from symroof.theory.symbols import Symbol, declared_symbol, is_spelling
from symroof.units import Dimension, describe, parse_unit, strict, with_usual_unit

Equation = Annotated[str, Field(max_length=LONGEST)]
MOST_DECLARED = Field(max_length=64)
"""How many inputs, formulas or thresholds a file may have."""


def _formula(value: object) -> str | Expr:
    """A formula as text or in SymPy; a bare number is a formula too."""
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        return number(Fraction(exact(value)))
    if not isinstance(value, (str, Basic)):
        raise ValueError("expected a formula, such as prefill_flops*(1 - hit_rate)")
    return value


def _latex(value: object) -> str:
    if not isinstance(value, str) or not is_spelling(value):
        spelled = r"with letters, digits, Greek, \mathrm{...}, _ and ^, in up to 64 characters"
        raise ValueError(f"spells a name in LaTeX {spelled}")
    return value


def _unit(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a unit such as FLOP, byte/s or USD; a plain number has ''")
    return parse_unit(value).text


Formula = Annotated[Any, Read(_formula, "string number", {"maxLength": LONGEST})]
Latex = Annotated[str, Read(_latex)]
UnitText = Annotated[str, Read(_unit)]


class InputSpec(Spec):
    """A user-defined input; ``counts`` if it counts things, so that answers are integers; ``sign`` if it may be zero or negative, in SymPy's words;
    ``most: 1`` of a share."""

    unit: UnitText = ""
    means: str
    default: Annotated[Any, WithJsonSchema({"type": ["string", "number"]})] = None
    latex: Latex | None = None
    counts: bool = False
    sign: Literal["positive", "nonnegative", "real"] = "positive"
    most: Literal[1] | None = None
    source: AnySource = None


class FormulaSpec(Spec):
    """A user-defined quantity: a formula, checked for its unit; without one it has that of the formula."""

    formula: Formula
    unit: UnitText | None = None
    means: str
    latex: Latex | None = None
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


# ------------------------------------------------------------------------------------------------ declarations

MOST_NODES = 4096
"""The most parts of a formula once the definitions it uses are inlined."""
OWN_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
OF_STUDIES = "model hardware preset draft assume assume_family targets theory define weights kv activations value quantities for_ inputs formula pi detail"
RESERVED = frozenset({*FUNCTIONS, *SWITCHES, *DETAIL, *OF_STUDIES.split()})
"""Reserved words of studies, sweeps and formulas."""

DECLARE = "write a user-defined input into a theory: a file (symroof init theory), or sr.Theory(inputs={...}, define={...})"
"""The hint for a name without a similar one."""


def declared_inputs(specs: Mapping[str, InputSpec]) -> Declarations:
    """The inputs of a file.

    Raises:
        Faults: invalid names, defaults that cannot be read.
    """

    def read(name: str, spec: InputSpec) -> Symbol:
        _check_name(name, NONE)
        return read_at("default", lambda: _symbol(name, spec))

    return Declarations(inputs=tuple(read_each(specs.items(), read).values()))


def declared_formulas(specs: Mapping[str, FormulaSpec], known: Declarations = NONE) -> Declarations:
    """The quantities of a file or a study; their formulas may use each other, symroof's names, and ``known`` ones.

    Raises:
        Faults: invalid or unknown names, formulas that cannot be read or have another unit, circular definitions.
    """
    read_each(specs.items(), lambda name, _: _check_name(name, known))
    fields = {"unit", "means", "latex", "counts", "sign"}
    plain = (declared_quantity(name, {"means": ""}, OWN) for name in specs)
    named = Declarations(quantities=tuple(plain)).joined(known)
    order, circles = _in_order(specs, named)
    made, every = dict[str, Quantity](), known
    for name in order:
        spec = specs[name]
        entry = spec.model_dump(include=fields)
        if spec.unit is None:  # of what cannot be read it does not matter
            entry["unit"] = ""
            with suppress(ValueError, AttributeError):
                unit = dimensions.dimension(_read(spec.formula, named), dimension_in(every))
                entry["unit"] = describe(unit) if unit else ""
        made[name] = declared_quantity(name, entry, OWN, str(spec.source or ""))
        every = Declarations(quantities=(made[name],)).joined(every)

    def read(name: str, spec: FormulaSpec) -> Expr:
        return read_at("formula", lambda: _definition(name, spec.formula, every))

    trees = read_each(specs.items(), read)
    raise_faults(circles)
    raise_faults(list(_too_large(trees, known)))
    quantities = tuple(made[name] for name in specs)
    return Declarations(quantities=quantities, formulas=tuple(trees.items()))


def _in_order(
    specs: Mapping[str, FormulaSpec], known: Declarations
) -> tuple[list[str], list[Fault]]:
    """The names of formulas, each behind those that it uses; of a circle as they are listed, and the circle, which is told when all are read."""
    uses: dict[str, set[str]] = {}
    for name, spec in specs.items():
        with suppress(ValueError):
            uses[name] = specs.keys() & _mentioned(_read(spec.formula, known))
    try:
        return [*dict.fromkeys((*TopologicalSorter(uses).static_order(), *specs))], []
    except CycleError as error:
        circle = error.args[1][:0:-1]
        first = next(name for name in specs if name in circle)
        at = circle.index(first)
        named = " -> ".join([*circle[at:], *circle[:at], first])
        return list(specs), [((first, "formula"), f"is defined by itself: {named}")]


def declared_thresholds(specs: Mapping[int, ThresholdSpec], known: Declarations) -> Declarations:
    """The thresholds of a file or a study by their places in its list.

    Raises:
        Faults: invalid names, equations that cannot be read, sides of different units, undeclared unknowns.
    """
    seen = set()

    def read(_: int, spec: ThresholdSpec) -> Threshold:
        read_at("name", lambda: _check_name(spec.name, known))
        if spec.name in seen:
            raise Faults([(("name",), "is used by another threshold")])
        seen.add(spec.name)
        equation, unknown, means = spec.equation or "", spec.unknown or "", spec.means or ""
        needed = {"equation": equation, "unknown": unknown, "means": means}
        raise_faults([((key,), "is missing") for key, text in needed.items() if not text])

        def check_equation() -> None:
            tree = _read(equation, known)
            if not is_relation(tree) or operator_of(tree) != "=":
                raise ValueError("is not of the form lhs = rhs")
            _check_known(_mentioned(tree), known)
            dimensions.dimension(resolved(written(equation)), dimension_in(known))

        read_at("equation", check_equation)
        read_at("unknown", lambda: _check_known([unknown], known))
        name, ends = printed_name(unknown), (spec.below, spec.above)
        source = str(spec.source or "")
        return Threshold(OWN, spec.name, equation, name, spec.kind, means, *ends, reference=source)

    return Declarations(thresholds=tuple(read_each(specs.items(), read).values()))


def _check_name(name: str, known: Declarations) -> None:
    """Refuse a text that cannot be a user-defined name."""
    why = ""
    if not isinstance(name, str) or not OWN_NAME.fullmatch(name):
        why = "a name has lower-case letters, digits and '_', begins with a letter, and has up to 48 characters"
    elif name in known:
        why = "is already declared"
    elif known.threshold(name) is not None:
        why = "is already the name of a threshold"
    elif NONE.symbol(name) is not None:
        why = "is already a name in symroof; choose another"
    elif (other := printed_name(name)) != name:
        why = f"is read as {other} in formulas; choose another name, such as {name}_own"
    elif name in RESERVED:
        why = "is a reserved word of studies and formulas; choose another name"
    if why:
        raise ValueError(why)


def _check_known(mentioned: Iterable[str], known: Declarations) -> None:
    """Refuse names that nothing declares."""
    unknown = [name for name in mentioned if known.symbol(printed_name(name)) is None]
    told = (f"{name[:40]!r}; {nearest(name, known.known) or DECLARE}" for name in unknown)
    raise_faults([((), f"unknown name {text}") for text in told])


def _symbol(name: str, spec: InputSpec) -> Symbol:
    entry = spec.model_dump(include={"unit", "means", "latex", "counts", "sign", "most"})
    symbol = declared_symbol(name, entry)
    if spec.default is not None:  # the unit is a separate field
        value = in_unit(spec.default, symbol.unit, symbol.written_in, bare=True).value
        symbol = declared_symbol(name, entry | {"default": value})
        in_domain(symbol, number(value))
    return symbol


def dimension_in(known: Declarations) -> Callable[[str], Dimension]:
    """The dimension of each name that is declared."""
    return lambda name: known.symbol(name).dimension  # type: ignore[union-attr]


def _read(formula: str | Expr, known: Declarations) -> Expr:
    """A formula as text, or in SymPy over names that are known."""
    if not isinstance(formula, Basic):
        return resolved(parse(formula))
    try:
        return read_expression(formula, known)
    except InputError as error:
        raise ValueError(why(error.problems)) from None


def _mentioned(tree: Expr) -> list[str]:
    """Every name of a formula, those at changed inputs included."""
    changed = [key for node in parts(tree) for key, _ in getattr(node, "changes", ())]
    return list(dict.fromkeys((*names(tree), *changed)))


def _definition(name: str, formula: Any, known: Declarations) -> Expr:
    """The formula of a declared quantity, with its names and its dimension checked."""
    tree = _read(formula, known)
    _check_known(_mentioned(tree), known)
    if is_label(tree) or (is_relation(tree) and operator_of(tree) == "="):
        raise ValueError("is not a formula of a number; an equation belongs in thresholds")
    own = as_written(formula, printed_name)
    shown = tree if own is None else own

    of = dimension_in(known)
    try:
        dimensions.check(shown, of(name), of, name, bare=own is None)
    except dimensions.DimensionError as error:
        bare = any(is_number(node) for node in parts(shown))
        whole = str(error).startswith(f"{name} is declared as")
        if bare and whole and not dimensions.dimension(shown, lambda inner: strict(of(inner))):
            example = with_usual_unit(Fraction(6), describe(strict(of(name))))
            hint = f"write the unit after one of its numbers, such as {example}"
            raise ValueError(f"{error}; {hint}") from None
        raise
    return tree


def _too_large(read: Mapping[str, Expr], known: Declarations) -> Iterator[Fault]:
    """Formulas that become too large once the definitions they use are substituted."""
    every = {**known.definitions, **read}
    for name in read:
        try:
            inline(every[name], lambda inner, _: every.get(inner), MOST_NODES)
        except TooLong:
            why = f"has more than {MOST_NODES:,} parts with the definitions it uses"
            yield (name, "formula"), why


class _Defined(Spec):
    define: dict[str, FormulaSpec]


def redefined(name: str, entry: Mapping[str, Any], known: Declarations) -> Declarations:
    """The known names with one quantity defined or redefined; formulas that use it follow.

    Raises:
        InputError: an invalid name, a formula that cannot be read or has another unit, circular definitions.
    """
    document = Document("define", {"define": {name: entry}}, {}, (), "")
    own = build(document, _Defined).define
    others = {
        quantity.name: FormulaSpec(
            formula=known.definitions[quantity.name],
            unit=quantity.written_in or quantity.unit,
            means=quantity.meaning,
        )
        for quantity in known.quantities
        if quantity.name != name
    }
    below = Declarations(inputs=known.inputs, thresholds=known.thresholds)
    try:
        made = declared_formulas(others | own, below)
    except Faults as error:
        at = document.problem
        told = [at(("define", *place), *split_hint(message)) for place, message in error.items]
        raise InputError(told) from None
    new = tuple(quantity for quantity in made.quantities if quantity.name == name)
    return replace(made, quantities=new).joined(known)
