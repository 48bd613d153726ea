"""What a study or a theory file declares itself, read into declarations of the theory: names, units, formulas checked.

>>> made = declared_formulas({"cache_share": FormulaSpec(formula="kv_cache_bytes/memory_bytes", unit="", means="cache of all memory")})
>>> made.quantities[0].latex
'\\\\mathrm{cache\\\\_share}'
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symroof.errors import InputError, nearest, split_hint
from symroof.formula import dimension
from symroof.formula.parse import FUNCTIONS, FormulaError
from symroof.formula.tree import At, Compare, Largest, Name, Num, Tree, names, walk
from symroof.specs.declared_entries import FormulaSpec, InputSpec, ThresholdSpec
from symroof.specs.fields import Faults, Spec, build, in_unit
from symroof.specs.strict_yaml import Document
from symroof.theory.declarations import NONE, OWN, Declarations
from symroof.theory.quantity import Quantity
from symroof.theory.spellings import printed_name, read_formula, resolved
from symroof.theory.switches import DETAIL, SWITCHES
from symroof.theory.symbols import Symbol, default_latex
from symroof.theory.thresholds import THRESHOLDS, Threshold
from symroof.units import describe, parse_unit, strict, with_usual_unit

MOST_DECLARED = 64
"""Inputs, formulas or thresholds of one file."""
MOST_NODES = 4096
"""Parts that a formula may have once the formulas it speaks of are put in."""
OWN_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
RESERVED = frozenset(
    {*FUNCTIONS, *SWITCHES, "detail", *DETAIL, "model", "hardware", "preset", "draft", "assume", "assume_family", "targets", "theory", "define"}
    | {"weights", "kv", "activations", "value", "quantities", "for_", "inputs", "formula", "pi"}
)
"""Words that a study, a sweep or a formula understands otherwise."""

DECLARE = "write an input of one's own into a theory: a file (symroof init theory), or sr.Theory(inputs={...}, define={...})"
"""The hint for a name that is near to no other."""
Place = tuple[str | int, ...]


def declared_inputs(specs: Mapping[str, InputSpec]) -> Declarations:
    """The inputs of a file.

    Raises:
        Faults: every name that cannot be one, every default that cannot be read.
    """
    faults = [((name,), why) for name in specs if (why := _name_fault(name, NONE))] + _too_many(specs)
    symbols = []
    for name, spec in specs.items():
        try:
            symbols.append(_symbol(name, spec))
        except ValueError as error:
            faults.append(((name, "default"), str(error)))
    _raise(faults)
    return Declarations(inputs=tuple(symbols))


def declared_formulas(specs: Mapping[str, FormulaSpec], known: Declarations = NONE) -> Declarations:
    """The quantities of a file or a study; their formulas may speak of each other, of the engine's names, and of ``known`` ones.

    Raises:
        Faults: names that cannot be one, unknown names, formulas that cannot be read or have another unit, definitions in a circle.
    """
    faults = [((name,), why) for name in specs if (why := _name_fault(name, known))] + _too_many(specs)
    _raise(faults)
    read: dict[str, Tree] = {}
    for name, spec in specs.items():
        try:
            read[name] = spec.formula if isinstance(spec.formula, Tree) else resolved(read_formula(spec.formula, (*known, *specs)))
        except FormulaError as error:
            faults.append(((name, "formula"), f"{error.message} (column {error.column})"))
    made = tuple(_quantity(name, spec) for name, spec in specs.items() if name in read)
    every = Declarations(quantities=made).joined(known)
    for name, tree in read.items():
        if unknown := [inner for inner in _spoken(tree) if inner not in specs and every.symbol(inner) is None]:
            faults += [((name, "formula"), f"unknown name {inner!r}; {nearest(inner, every.known) or DECLARE}") for inner in unknown]
        elif all(inner in read or inner not in specs for inner in _spoken(tree)):
            faults += [((name, "formula"), why) for why in _wrong_dimension(name, tree, every)]
    _raise(faults)
    _raise(_circles(read))
    _raise(_too_large(read, known))
    return Declarations(quantities=made, formulas=tuple(read.items()))


def declared_thresholds(specs: Mapping[int, ThresholdSpec], known: Declarations) -> Declarations:
    """The thresholds of a file or a study by their places in its list.

    Raises:
        Faults: names that cannot be one, equations that cannot be read, sides of different units, unknown unknowns.
    """
    faults: list[tuple[Place, str]] = _too_many(specs)
    made: dict[str, Threshold] = {}
    for place, spec in specs.items():
        why = _name_fault(spec.name, known) or ("is the name of another one" if spec.name in made else "")
        faults += [((place, "name"), why)] if why else []
        lacking = [key for key in ("equation", "unknown", "means") if not getattr(spec, key)]
        faults += [((place, key), "is missing") for key in lacking]
        if lacking:
            continue
        equation, unknown, means = str(spec.equation), str(spec.unknown), str(spec.means)
        faults += [((place, key), message) for key, message in _equation_faults(equation, unknown, known)]
        source = str(spec.source) if spec.source else ""
        made[spec.name] = Threshold(OWN, spec.name, equation, printed_name(unknown), spec.kind, means, spec.below, spec.above, reference=source)
    _raise(faults)
    return Declarations(thresholds=tuple(made.values()))


def _raise(faults: list[tuple[Place, str]]) -> None:
    if faults:
        raise Faults(faults)


def _too_many(specs: Mapping[Any, Any]) -> list[tuple[Place, str]]:
    return [((), f"has {len(specs)} entries; at most {MOST_DECLARED} are read")] if len(specs) > MOST_DECLARED else []


def _name_fault(name: str, known: Declarations) -> str:
    """Why a text cannot be a name of one's own; empty where it can."""
    if not isinstance(name, str) or not OWN_NAME.fullmatch(name):
        return "a name has lower-case letters, digits and '_', begins with a letter, and has up to 48 characters"
    if name in known:
        return "is declared already"
    if name in THRESHOLDS or any(name == own.name for own in known.thresholds):
        return "is the name of a threshold already"
    if NONE.symbol(name) is not None:
        return "is a name of symroof already; choose another"
    if printed_name(name) != name:
        return f"is read as {printed_name(name)}, which formulas spell so; choose another name, such as {name}_own"
    return "is a word that studies and formulas understand otherwise; choose another name" if name in RESERVED else ""


def _symbol(name: str, spec: InputSpec) -> Symbol:
    unit, written_in = _base(spec.unit)
    default = None
    if spec.default is not None:
        value = in_unit(spec.default, unit, written_in, bare=True).value  # the unit stands beside it
        if value < 0 and spec.sign != "real":
            raise ValueError("must be 0 or more")
        if spec.counts and value.denominator != 1:
            raise ValueError(f"counts {unit or 'thing'}s: write a whole number")
        default = f"{value}" if value.denominator == 1 else _decimal(value)
    signed, from_zero = spec.sign == "real", spec.sign == "nonnegative"
    latex = spec.latex or default_latex(name)
    return Symbol(name, latex, unit, spec.means, default, counted=spec.counts, written_in=written_in, from_zero=from_zero, signed=signed)


def _decimal(value: Fraction) -> str:
    """A number as a default has it: text of an exact decimal.

    Raises:
        ValueError: it has none.
    """
    digits = 0
    while digits <= 60 and (value * 10**digits).denominator != 1:
        digits += 1
    if digits > 60:
        raise ValueError("is not a decimal number; write one")
    return f"{value * 10**digits}e-{digits}"


def _quantity(name: str, spec: FormulaSpec) -> Quantity:
    unit, written_in = _base(spec.unit)
    source = str(spec.source) if spec.source else ""
    return Quantity(name, spec.latex or default_latex(name), unit, spec.means, written_in=written_in, group=OWN, reference=source)


def _base(written: str) -> tuple[str, str | None]:
    """A unit as its base unit, and as it is written where that is another: ``hour`` is ``s``, written in ``hour``."""
    unit = parse_unit(written)
    return (unit.text, None) if unit.size == 1 else (describe(unit.dimension) if unit.dimension else "", unit.text)


def _spoken(tree: Tree) -> list[str]:
    """Every name of a formula, those at changed inputs included."""
    changed = [key for node in walk(tree) for key, _ in getattr(node, "changes", ())]
    return list(dict.fromkeys((*names(tree), *changed)))


def _wrong_dimension(name: str, tree: Tree, known: Declarations) -> list[str]:
    """Why the dimension of a formula is wrong, with both units."""
    if isinstance(tree, Largest) or (isinstance(tree, Compare) and tree.operator == "="):
        return ["is not a formula of a number; an equation belongs in thresholds"]
    declared = known.own(name).dimension  # type: ignore[union-attr]
    try:
        dimension.check(tree, declared, lambda inner: known.symbol(inner).dimension, name)  # type: ignore[union-attr]
    except dimension.DimensionError as error:
        bare = any(isinstance(node, Num) and not node.dimension for node in walk(tree))
        whole = str(error).startswith(f"{name} is declared as")
        plain = bare and whole and not dimension.dimension(tree, lambda inner: strict(known.symbol(inner).dimension))  # type: ignore[union-attr]
        return [f"{error}; write the unit behind a number of it, such as {with_usual_unit(Fraction(6), describe(strict(declared)))}" if plain else str(error)]
    return []


def _circles(read: Mapping[str, Tree]) -> list[tuple[Place, str]]:
    """Definitions that lead back to themselves, each circle once."""
    faults: list[tuple[Place, str]] = []
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = (*path[path.index(name) :], name)
            faults.append(((circle[0], "formula"), f"is defined by itself: {' -> '.join(circle)}"))
        elif name not in done:
            for inner in _spoken(read[name]):
                if inner in read:
                    visit(inner, (*path, name))
            done.add(name)

    for name in read:
        visit(name, ())
    return faults


def _too_large(read: Mapping[str, Tree], known: Declarations) -> list[tuple[Place, str]]:
    """Formulas that grow beyond use once the ones they speak of are put in."""
    every = {**known.definitions, **read}
    sizes: dict[str, int] = {}

    def size(name: str) -> int:
        if name not in sizes:
            sizes[name] = sum(size(node.name) if isinstance(node, (Name, At)) and node.name in every else 1 for node in walk(every[name]))
        return sizes[name]

    return [((name, "formula"), f"has more than {MOST_NODES:,} parts with the formulas it speaks of") for name in read if size(name) > MOST_NODES]


def _equation_faults(equation: str, unknown: str, known: Declarations) -> list[tuple[str, str]]:
    try:
        tree = resolved(read_formula(equation, tuple(known)))
    except FormulaError as error:
        return [("equation", f"{error.message} (column {error.column})")]
    if not isinstance(tree, Compare) or tree.operator != "=":
        return [("equation", "is not of the form lhs = rhs")]
    if strange := [inner for inner in _spoken(tree) if known.symbol(inner) is None]:
        return [("equation", f"unknown name {inner!r}; {nearest(inner, known.known)}") for inner in strange]
    if known.symbol(printed_name(unknown)) is None:
        return [("unknown", f"unknown name {unknown[:40]!r}; {nearest(unknown, known.known)}")]
    try:
        dimension.dimension(tree, lambda inner: known.symbol(inner).dimension)  # type: ignore[union-attr]
    except dimension.DimensionError as error:
        return [("equation", str(error))]
    return []


class _Defined(Spec):
    define: dict[str, FormulaSpec]


def redefined(name: str, entry: Mapping[str, Any], known: Declarations) -> Declarations:
    """The known names with one quantity defined, or defined anew; formulas that speak of it follow.

    Raises:
        InputError: a name that cannot be one, a formula that cannot be read or has another unit, definitions in a circle.
    """
    document = Document("define", {"define": {name: entry}}, {}, (), "")
    specs = build(document, _Defined).define
    before = {quantity.name: quantity for quantity in known.quantities}
    formulas = tuple((other, tree) for other, tree in known.formulas if other != name)
    others = Declarations(known.inputs, tuple(q for q in known.quantities if q.name != name), known.thresholds, formulas, known.title)
    later = {other: _spec_of(before[other], tree) for other, tree in formulas} if name in before else {}
    try:
        return declared_formulas({**later, **specs}, Declarations(inputs=known.inputs) if later else others).joined(others)
    except Faults as error:
        raise InputError([document.problem(("define", *place), *split_hint(message)) for place, message in error.items]) from None


def _spec_of(quantity: Quantity, tree: Tree) -> FormulaSpec:
    return FormulaSpec(formula=tree, unit=quantity.written_in or quantity.unit, means=quantity.meaning, latex=quantity.latex)
