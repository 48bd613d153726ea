"""Which quantities a sweep computes: those asked for, or the ones people look at first, and always whether the point fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem, nearest
from symroof.sweep.axes import LABELLED
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import Expr
from symroof.symbolic.expressions import names as names_of
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.case import Case
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import printed_name, resolved
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import UNDECLARED_NAMES, base_name
from symroof.theory.sympy_input import is_sympy, name_or_expression, read_expression
from symroof.theory.theory import UnknownName

FIRST = (
    "ttft", "itl", "user_rate", "decode_throughput", "response_time", "memory_bytes", "memory_utilization", "fits", "cost_per_mtok", "prefill_bound",
    "decode_bound",
)  # fmt: skip
"""The quantities of a sweep that requests none."""
FITS = "fits"


def requested_quantities(names: Iterable[Any], own: Declarations = NONE) -> list[str]:
    """Quantities by their printed names, each once, the ``own`` of the study among them; commas separate names. A SymPy expression is one.

    >>> requested_quantities(["ttft,itl", "isl"])
    ['ttft', 'itl', 'prompt']

    Raises:
        InputError: unknown ones, with the nearest name.
    """
    quantities: dict[str, None] = {}
    problems = []
    for written in (
        part for name in (name_or_expression(name, own) for name in names) for part in _parts(name)
    ):
        name = printed_name(written)
        if isinstance(written, UNDECLARED_NAMES):
            quantities[written] = None
        elif own.symbol(base_name(name)):
            quantities[name] = None
        elif own.threshold(base_name(name)):
            problems.append(
                Problem(
                    "--quantity",
                    "is a threshold, not a quantity",
                    path=written[:60],
                    hint=f"`symroof solve {written[:60]}`",
                )
            )
        else:
            hint = nearest(name, own.known) or "`symroof list quantities` shows them"
            problems.append(
                Problem("--quantity", "no such quantity or input", path=written[:60], hint=hint)
            )
    if problems:
        raise InputError(problems)
    return list(quantities)


def _parts(written: str) -> list[str]:
    if isinstance(written, UNDECLARED_NAMES):
        return [written]
    return [part.strip() for part in written.split(",")]


def formula_columns(over: Mapping[str, Any], own: Declarations = NONE) -> dict[str, Expr]:
    """The keywords of a sweep that are formulas, in SymPy or as text, and so name a column; all others are axes.

    >>> from symroof.symbolic.printing import text
    >>> {name: text(formula) for name, formula in formula_columns({"batch": "1:8", "wait": "ttft/itl", "bacth": "1:8"}).items()}
    {'wait': 'ttft/itl'}

    Raises:
        InputError: the name is one already, or SymPy has something that no formula has.
    """
    made = {
        name: formula
        for name, value in over.items()
        if (formula := _formula(name, value, own)) is not None
    }
    for name in made:
        if (
            name in LABELLED
            or name in SWITCHES
            or own.symbol(base_name(printed_name(name)))
            or own.threshold(name)
        ):
            raise InputError(
                Problem(
                    "sweep",
                    "is a name already, and a formula makes a column",
                    path=name,
                    hint=f"give the column a name of its own: my_{name}=...",
                )
            )
    return made


def _formula(name: str, value: Any, own: Declarations) -> Expr | None:
    """The formula of a column; None of the values of an axis: numbers, labels, texts that name an input or are no formula of names."""
    if is_sympy(value):
        return read_expression(value, own=own) if getattr(value, "free_symbols", None) else None
    if (
        not isinstance(value, str)
        or name in LABELLED
        or name in SWITCHES
        or own.symbol(base_name(printed_name(name)))
    ):
        return None
    try:
        tree = resolved(parse(value))
    except FormulaError:
        return None
    return tree if names_of(tree) else None


def available_quantities(
    cases: Sequence[BoundCase], names: Sequence[str] | None, axes: Mapping[str, Any]
) -> SweepQuantities:
    """The quantities that have a value in some case, and what each case lacks of them.

    ``axes`` has the first value of every numeric axis; the case itself is at the last ones.

    Raises:
        InputError: a quantity that was asked for has no value in any case, with what it needs.
    """
    requested = [name for name in (FIRST if names is None else names) if name not in axes]
    if not requested:
        raise InputError(
            Problem(
                "sweep",
                "every quantity that is asked for is an axis",
                hint="ask for one that is computed, such as -q itl",
            )
        )
    if any(cases[0].case.theory.timed(name) for name in requested) and FITS not in [
        *requested,
        *axes,
    ]:
        requested.append(FITS)
    first = {name: value for name, value in axes.items() if value is not None}
    looked = [
        {name: [_missing_input(end, name) for end in _ends(case, first)] for name in requested}
        for case in cases
    ]
    lacking = [_where(reasons, any) for reasons in looked]
    nowhere = {
        name: why for name, why in lacking[0].items() if all(name in missing for missing in lacking)
    }
    if names is not None and (
        faults := [
            Problem("sweep", str(why), path=name, hint=_hint(why))
            for name, why in nowhere.items()
            if name in names
        ]
    ):
        raise InputError(faults)
    quantities = [name for name in requested if name not in nowhere]
    if not quantities:
        needed = "; ".join(dict.fromkeys(map(str, nowhere.values())))
        raise InputError(
            Problem(
                "sweep",
                f"none of the usual quantities has a value: {needed}",
                hint="give a model and a device, or ask for a quantity with -q",
            )
        )
    notes = (
        (f"whether a point fits in memory is not known: {nowhere[FITS]}",)
        if FITS in nowhere
        else ()
    )
    none = [
        {name: str(why) for name, why in _where(reasons, all).items() if name in quantities}
        for reasons in looked
    ]
    partly = [
        {
            name: f"{why} on a part of the grid"
            for name, why in missing.items()
            if name in quantities
        }
        for missing in lacking
    ]
    return SweepQuantities(tuple(quantities), tuple(none), tuple(partly), notes)


@dataclass(frozen=True)
class SweepQuantities:
    """Quantities to compute.

    Attributes:
        missing: for each case, what has no value anywhere on the grid for want of an input, and which.
        missing_in_part: the same where that holds at one end of the axes.
        notes: warnings about the whole.
    """

    quantities: tuple[str, ...]
    missing: tuple[dict[str, str], ...]
    missing_in_part: tuple[dict[str, str], ...]
    notes: tuple[str, ...]


def _ends(case: BoundCase, first: Mapping[str, Any]) -> tuple[Case, ...]:
    """A case at both ends of its axes: an input may be needed at one of them only, as links are."""
    return (case.case, case.case.changed(first)) if first else (case.case,)


def _where(
    looked: Mapping[str, list[Exception | None]], where: Callable[[Iterable[object]], bool]
) -> dict[str, Exception]:
    """What lacks an input at any of the ends, or at all of them, with the reason."""
    return {name: next(filter(None, reasons)) for name, reasons in looked.items() if where(reasons)}


def _missing_input(case: Case, name: str) -> Exception | None:
    """Why a quantity has no value whatever the axes are; nothing where it has one, here or elsewhere on the grid."""
    try:
        case.value(name)
    except UndefinedValue as error:
        return error
    except UnknownName:
        return UnknownName("is not a part of this model")
    except NoValue:
        pass
    return None


def _hint(why: Exception) -> str:
    if isinstance(why, MissingInput):
        return f"--set {why.name}=VALUE, or an axis: --over {why.name}=VALUES"
    return ""
