"""Which quantities a sweep computes, and why some have no value: those asked for, or the usual ones, and whether a point fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.sweep.axes import LABELLED
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import Expr
from symroof.symbolic.expressions import names as names_of
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import UNDECLARED_NAMES, base_name
from symroof.theory.sympy_input import is_sympy, known, name_or_expression, read_expression
from symroof.theory.theory import UnknownName
from symroof.theory.theory_files import listed

FIRST = listed("shown", "sweep")  # the quantities of a sweep that requests none
FITS = "fits"
HINT = "--set {0}=VALUE, or an axis: --over {0}=VALUES"


def requested_quantities(names: Iterable[Any], own: Declarations = NONE) -> list[str]:
    """Quantities by their printed names, each once, the ``own`` of the study among them; commas separate names.

    >>> requested_quantities(["ttft,itl", "isl"])
    ['ttft', 'itl', 'prompt']

    Raises:
        InputError: unknown ones, with the nearest name.
    """
    quantities: dict[str, None] = {}
    problems: list[Problem] = []
    for name in (name_or_expression(name, own) for name in names):
        undeclared = isinstance(name, UNDECLARED_NAMES)
        for part in [name] if undeclared else map(str.strip, name.split(",")):
            try:
                quantities[known(part if undeclared else printed_name(part), own)] = None
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)
    return list(quantities)


def formula_columns(over: Mapping[str, Any], own: Declarations = NONE) -> dict[str, Expr]:
    """The keywords of a sweep that are formulas, in SymPy or as text, and so name a column; all others are axes.

    >>> from symroof.symbolic.printing import text
    >>> {name: text(formula) for name, formula in formula_columns({"batch": "1:8", "wait": "ttft/itl", "bacth": "1:8"}).items()}
    {'wait': 'ttft/itl'}

    Raises:
        InputError: the name is one already, or SymPy has something that no formula has.
    """
    columns: dict[str, Expr] = {}
    for name, value in over.items():
        is_axis = name in LABELLED or name in SWITCHES
        taken = is_axis or own.symbol(base_name(printed_name(name)))
        formula = None
        if is_sympy(value) and getattr(value, "free_symbols", None):
            formula = read_expression(value, own=own)
        elif isinstance(value, str) and not taken:
            with suppress(FormulaError):
                formula = resolved(parse(value))
        if formula is None or not names_of(formula):  # the values of an axis
            continue
        if taken or own.threshold(name):
            hint = f"give the column a name of its own: my_{name}=..."
            message = "is a name already, and a formula makes a column"
            raise InputError(Problem("sweep", message, path=name, hint=hint))
        columns[name] = formula
    return columns


def available(
    cases: Sequence[BoundCase], asked: Sequence[str] | None, first: Mapping[str, float]
) -> tuple[list[str], list[dict[str, str]]]:
    """The quantities that have a value in some case, whether it fits among them, and why each case lacks some.

    ``first`` has the first values of the numeric axes; the cases are at the last ones.

    Raises:
        InputError: a quantity that was asked for lacks an input in every case, with what it needs.
    """
    names = list(FIRST if asked is None else asked)
    if FITS not in (*names, *first) and any(map(cases[0].case.theory.timed, names)):
        names.append(FITS)
    reasons = [{name: _reason(case, name, first) for name in names} for case in cases]
    nowhere = {name: lacking for name in names if all(lacking := [why[name][0] for why in reasons])}
    faults = []
    for name, (why, *_) in nowhere.items():
        if why and (name in (asked or ()) or len(nowhere) == len(names)):
            hint = HINT.format(why.name) if isinstance(why, MissingInput) else ""
            faults.append(Problem("sweep", str(why), path=name, hint=hint))
    if faults:
        raise InputError(faults if asked else replace(faults[0], path=""))
    texts = [{name: text for name, (_, text) in why.items() if text} for why in reasons]
    return [name for name in names if name not in nowhere], texts


def _reason(case: BoundCase, name: str, first: Mapping[str, float]) -> tuple[Exception | None, str]:
    """What a quantity lacks at one end of the axes at least, and in words why it has no value there, or anywhere."""
    ends = (case.case, case.case.changed(first)) if first else (case.case,)
    errors: list[Exception] = []
    for end in ends:
        try:
            end.value(name)
        except NoValue as error:
            errors.append(error)
        except UnknownName:
            errors.append(UndefinedValue("is not a part of this model"))
    lacking = next((error for error in errors if isinstance(error, UndefinedValue)), None)
    if len(errors) == len(ends):
        return lacking, str(errors[0])
    return lacking, f"{lacking} on a part of the grid" if lacking else ""
