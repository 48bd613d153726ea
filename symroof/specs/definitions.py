"""Reads the user-defined entries of a study or a theory file into declarations, with names, units and formulas checked.

>>> made = declared_formulas({"cache_share": FormulaSpec(formula="kv_cache_bytes/memory_bytes", unit="", means="cache of all memory")})
>>> made.quantities[0].latex
'\\\\mathrm{cache\\\\_share}'
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sympy import Basic

from symroof.errors import InputError, nearest, split_hint
from symroof.specs.definition_entries import (
    FormulaSpec,
    InputSpec,
    ThresholdSpec,
)
from symroof.specs.fields import Fault, Faults, Spec, build, in_unit, raise_faults
from symroof.strict_yaml import Document
from symroof.symbolic import dimensions
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    TooLong,
    inline,
    is_label,
    is_number,
    is_relation,
    names,
    operator_of,
    parts,
)
from symroof.symbolic.nodes import FUNCTIONS
from symroof.symbolic.reading import FormulaError, as_written, parse, written
from symroof.theory.declarations import NONE, OWN, THRESHOLDS, Declarations, Threshold
from symroof.theory.quantities import Quantity, declared_quantity
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.switches import DETAIL, SWITCHES
from symroof.theory.symbols import Symbol, base_unit, declared_symbol
from symroof.units import Dimension, describe, strict, with_usual_unit

MOST_DECLARED = 64
"""Inputs, formulas or thresholds of one file."""
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
    _check_count(specs)
    faults: list[Fault] = [((name,), why) for name in specs if (why := _name_fault(name, NONE))]
    symbols = []
    for name, spec in specs.items():
        try:
            symbols.append(_symbol(name, spec))
        except ValueError as error:
            faults.append(((name, "default"), str(error)))
    raise_faults(faults)
    return Declarations(inputs=tuple(symbols))


def declared_formulas(specs: Mapping[str, FormulaSpec], known: Declarations = NONE) -> Declarations:
    """The quantities of a file or a study; their formulas may use each other, symroof's names, and ``known`` ones.

    Raises:
        Faults: invalid or unknown names, formulas that cannot be read or have another unit, circular definitions.
    """
    _check_count(specs)
    raise_faults([((name,), why) for name in specs if (why := _name_fault(name, known))])
    faults: list[Fault] = []
    trees = dict.fromkeys(specs, ZERO)
    for name, spec in specs.items():
        try:
            own = spec.formula
            trees[name] = own if isinstance(own, Basic) else resolved(parse(own))
        except FormulaError as error:
            faults.append(((name, "formula"), f"{error.message} (column {error.column})"))
    unread = {str(place[0]) for place, _ in faults}
    fields = {"unit", "means", "latex", "counts", "sign"}
    made = tuple(
        declared_quantity(name, spec.model_dump(include=fields), OWN, str(spec.source or ""))
        for name, spec in specs.items()
    )
    every = Declarations(quantities=made).joined(known)
    for name, tree in trees.items():
        mentioned = _mentioned(tree)
        found = _unknown(mentioned, every)
        if not found and unread.isdisjoint((name, *mentioned)):
            found = _wrong_dimension(name, specs[name].formula, tree, every)
        faults += [((name, "formula"), why) for why in found]
    raise_faults(faults)
    raise_faults(_circles(trees))
    raise_faults(list(_too_large(trees, known)))
    return Declarations(quantities=made, formulas=tuple(trees.items()))


def declared_thresholds(specs: Mapping[int, ThresholdSpec], known: Declarations) -> Declarations:
    """The thresholds of a file or a study by their places in its list.

    Raises:
        Faults: invalid names, equations that cannot be read, sides of different units, undeclared unknowns.
    """
    _check_count(specs)
    faults: list[Fault] = []
    made: dict[str, Threshold] = {}
    for place, spec in specs.items():
        why = _name_fault(spec.name, known) or (
            "is used by another threshold" if spec.name in made else ""
        )
        faults += [((place, "name"), why)] if why else []
        lacking = [key for key in ("equation", "unknown", "means") if not getattr(spec, key)]
        faults += [((place, key), "is missing") for key in lacking]
        if lacking:
            continue
        equation, unknown, means = str(spec.equation), str(spec.unknown), str(spec.means)
        faults += [
            ((place, key), message) for key, message in _equation_faults(equation, unknown, known)
        ]
        source = str(spec.source) if spec.source else ""
        made[spec.name] = Threshold(
            OWN,
            spec.name,
            equation,
            printed_name(unknown),
            spec.kind,
            means,
            spec.below,
            spec.above,
            reference=source,
        )
    raise_faults(faults)
    return Declarations(thresholds=tuple(made.values()))


def _check_count(specs: Mapping[Any, Any]) -> None:
    if len(specs) > MOST_DECLARED:
        raise Faults([((), f"has {len(specs)} entries; at most {MOST_DECLARED} are read")])


def _unknown(mentioned: Iterable[str], known: Declarations) -> list[str]:
    """What is wrong with names that nothing declares."""
    return [
        f"unknown name {name[:40]!r}; {nearest(name, known.known) or DECLARE}"
        for name in mentioned
        if known.symbol(printed_name(name)) is None
    ]


def _name_fault(name: str, known: Declarations) -> str:
    """Why a text cannot be a user-defined name; empty if it can."""
    if not isinstance(name, str) or not OWN_NAME.fullmatch(name):
        return "a name has lower-case letters, digits and '_', begins with a letter, and has up to 48 characters"
    if name in known:
        return "is already declared"
    if name in THRESHOLDS or any(name == own.name for own in known.thresholds):
        return "is already the name of a threshold"
    if NONE.symbol(name) is not None:
        return "is already a name in symroof; choose another"
    if printed_name(name) != name:
        return (
            f"is read as {printed_name(name)} in formulas; choose another name, such as {name}_own"
        )
    if name in RESERVED:
        return "is a reserved word of studies and formulas; choose another name"
    return ""


def _symbol(name: str, spec: InputSpec) -> Symbol:
    unit, written_in = base_unit(spec.unit)
    entry = spec.model_dump(include={"unit", "means", "latex", "counts", "sign", "most"})
    if spec.default is not None:
        # the unit is a separate field
        entry["default"] = value = in_unit(spec.default, unit, written_in, bare=True).value
        if value < 0 and spec.sign != "real":
            raise ValueError("must be 0 or more")
        if spec.counts and value.denominator != 1:
            raise ValueError(f"counts {unit or 'thing'}s: write a whole number")
    return declared_symbol(name, entry)


def _mentioned(tree: Expr) -> list[str]:
    """Every name of a formula, those at changed inputs included."""
    changed = [key for node in parts(tree) for key, _ in getattr(node, "changes", ())]
    return list(dict.fromkeys((*names(tree), *changed)))


def _wrong_dimension(name: str, formula: Any, tree: Expr, known: Declarations) -> list[str]:
    """Why the dimension of a formula is wrong, naming both units."""
    if is_label(tree) or (is_relation(tree) and operator_of(tree) == "="):
        return ["is not a formula of a number; an equation belongs in thresholds"]
    own = as_written(formula, printed_name)
    shown = tree if own is None else own

    def of(inner: str) -> Dimension:
        return known.symbol(inner).dimension  # type: ignore[union-attr]

    try:
        dimensions.check(shown, of(name), of, name, bare=own is None)
    except dimensions.DimensionError as error:
        bare = any(is_number(node) for node in parts(shown))
        whole = str(error).startswith(f"{name} is declared as")
        if bare and whole and not dimensions.dimension(shown, lambda inner: strict(of(inner))):
            example = with_usual_unit(Fraction(6), describe(strict(of(name))))
            return [f"{error}; write the unit after one of its numbers, such as {example}"]
        return [str(error)]
    return []


def _circles(read: Mapping[str, Expr]) -> list[Fault]:
    """A circular definition, at its first name."""
    uses = {name: read.keys() & _mentioned(tree) for name, tree in read.items()}
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        first = next(name for name in read if name in circle)
        at = circle.index(first)
        named = [*circle[at:-1], *circle[: at + 1]]
        return [((first, "formula"), f"is defined by itself: {' -> '.join(named)}")]
    return []


def _too_large(read: Mapping[str, Expr], known: Declarations) -> Iterator[Fault]:
    """Formulas that become too large once the definitions they use are substituted."""
    every = {**known.definitions, **read}
    for name in read:
        try:
            inline(every[name], lambda inner, _: every.get(inner), MOST_NODES)
        except TooLong:
            why = f"has more than {MOST_NODES:,} parts with the definitions it uses"
            yield (name, "formula"), why


def _equation_faults(equation: str, unknown: str, known: Declarations) -> list[tuple[str, str]]:
    try:
        tree = resolved(parse(equation))
    except FormulaError as error:
        return [("equation", f"{error.message} (column {error.column})")]
    if not is_relation(tree) or operator_of(tree) != "=":
        return [("equation", "is not of the form lhs = rhs")]
    if found := _unknown(_mentioned(tree), known):
        return [("equation", why) for why in found]
    if found := _unknown([unknown], known):
        return [("unknown", why) for why in found]
    try:
        dimensions.dimension(
            resolved(written(equation)),
            lambda inner: known.symbol(inner).dimension,  # type: ignore[union-attr]
        )
    except dimensions.DimensionError as error:
        return [("equation", str(error))]
    return []


class _Defined(Spec):
    define: dict[str, FormulaSpec]


def redefined(name: str, entry: Mapping[str, Any], known: Declarations) -> Declarations:
    """The known names with one quantity defined or redefined; formulas that use it follow.

    Raises:
        InputError: an invalid name, a formula that cannot be read or has another unit, circular definitions.
    """
    document = Document("define", {"define": {name: entry}}, {}, (), "")
    specs = build(document, _Defined).define
    before = {quantity.name: quantity for quantity in known.quantities}
    formulas = tuple((other, tree) for other, tree in known.formulas if other != name)
    quantities = tuple(q for q in known.quantities if q.name != name)
    others = replace(known, quantities=quantities, formulas=formulas)
    below = others
    if name in before and formulas:  # what uses it is read again with it
        below = Declarations(inputs=known.inputs)
        specs = {other: _spec_of(before[other], tree) for other, tree in formulas} | specs
    try:
        return declared_formulas(specs, below).joined(others)
    except Faults as error:
        at = document.problem
        told = [at(("define", *place), *split_hint(message)) for place, message in error.items]
        raise InputError(told) from None


def _spec_of(quantity: Quantity, tree: Expr) -> FormulaSpec:
    return FormulaSpec(
        formula=tree,
        unit=quantity.written_in or quantity.unit,
        means=quantity.meaning,
        latex=quantity.latex,
        counts=quantity.counted,
    )
