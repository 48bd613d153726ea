"""Data of a review: input values that flip the verdict, and the required changes of failing cases."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import range_position
from symroof.analysis.constraints import constraints
from symroof.analysis.solved_equation import ABOVE, BELOW
from symroof.analysis.study import Study
from symroof.analysis.tipping_points import Flip, flips, never
from symroof.analysis.verdict import LOAD, MEMORY, splits_evenly
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import input_name
from symroof.report.markup import Code, Ranged
from symroof.select.required_changes import Lever, combined_change, required_changes
from symroof.theory.symbols import GROUPS
from symroof.units import significant

DIGITS = 3
FAR = 10
"""Factor beyond which a flip for the worse is listed below the table."""

UNCHANGEABLE = frozenset(
    symbol.name for group in ("hardware", "efficiency") for symbol in GROUPS[group]
) - {"memory_share"}
"""What nobody who runs a model can change: a device is as it is made, and an efficiency is what comes out. The appendix has them all the same."""

NEAREST = 5
"""Maximum flips in each direction in the body; the appendix has all."""


def flip_rows(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """Flips for the better and for the worse, the nearest first; None without conditions."""
    if not constraints(subject):
        return None
    every = flips(subject)
    repairs = [f for f in every if f.holds]
    breaks = _first_each(f for f in every if not f.holds)
    near = [f for f in breaks if f.distance is None or f.distance <= FAR]
    return {
        "better": [row(f, subject) for f in repairs],
        "worse": [row(f, subject) for f in near],
        "far": [row(replace(f, alone=True), subject) for f in breaks if f not in near],
        "never": [input_name(name, subject) for name in never(subject, every)],
        "ranged": bool(subject.box),
        "standing": range_position(subject),
        "waits": next(
            (
                Code(f"symroof solve '{c.equation}' --for …")
                for c in constraints(subject)
                if c.has_wait(subject.case)
            ),
            None,
        ),
        "mending": [
            row(f, subject)
            for f in repairs
            if f.good and f.name not in UNCHANGEABLE and (f.distance is None or f.distance <= FAR)
        ],
    }


def flip_view(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """The flips as tables: the nearest in words, and all by name."""
    found = flip_rows(study, subject)
    if found is None:
        return None
    asks = bool(subject.targets)
    tables = {
        f"{side}{which}": flip_table(found[side][:most], asks, in_words=not which)
        for side in ("better", "worse")
        for which, most in (("", NEAREST), ("_all", None))
    }
    far = [f"{change_in_words(row)}: {then_text(row, asks)}" for row in found["far"]]
    return {name: found[name] for name in ("never", "ranged", "standing", "waits")} | tables | {"far": far, "far_factor": str(FAR)}  # fmt: skip


def change_in_words(row: dict[str, Any]) -> str:
    """``prompt length is above 2,300 tokens (now 1,500 tokens)``."""
    return f"{row['label']} is {limit_text(row)} (now {row['now']})"


def _first_each(breaks: Iterable[Flip]) -> list[Flip]:
    """The nearest flip of each input in each direction."""
    nearest: dict[tuple[str, bool], Flip] = {}
    for flip in breaks:
        nearest.setdefault((flip.name, flip.up), flip)
    return list(nearest.values())


def row(flip: Flip, subject: BoundCase) -> dict[str, Any]:
    """A flip as plain data."""
    return {
        "name": Code(flip.name),
        "label": input_name(flip.name, subject),
        "now": flip.now.plain(DIGITS) if flip.now.value else "0",
        "at": _ends(flip) if flip.spread.beyond else flip.at.plain(DIGITS),
        "ends_named": bool(flip.spread.beyond),
        "up": flip.up,
        "counted": flip.now.symbol.counted,
        "until": flip.until and f"{int(flip.until):,}" if flip.now.symbol.counted else None,
        "more_turns": max(len(flip.turns) - 1, 0),
        "everywhere": flip.spread.everywhere,
        "inside": flip.inside,
        "evenly": _evenly(flip, subject),
        "change": change(flip.factor),
        "condition": flip.condition,
        "holds": flip.holds,
        "wrong": list(flip.wrong),
        "good": flip.good,
    }


def limit_text(row: dict[str, Any]) -> Ranged | str:
    """Where an input changes the result: ``above 51.4 request/s (43.5 to 60.2 request/s)``, and under which conditions."""
    words = ("at most", "at least") if row["counted"] else ("below", "above")
    value, _, span = row["at"].partition(" (")
    more = ""
    if row["until"]:
        turns = row["more_turns"]
        beyond = f" (and {turns} more change{'s' * (turns > 1)} beyond)" if turns else ""
        more += f", back at {row['until']}{beyond}"
    if row["evenly"]:
        more += f"; {row['evenly']} divide the heads evenly"
    if not row["everywhere"] and not row["ends_named"]:
        more += ", in a part of the ranges only"
    if row["inside"] is not None:
        more += f", {'inside' if row['inside'] else 'outside'} its range"
    alone = f"{words[row['up']]} {value}{more}"
    return Ranged(alone, span.removesuffix(")")) if span else alone


def then_text(row: dict[str, Any], targets: bool) -> str:
    """What is wrong beyond it; or that all is well."""
    words = {MEMORY: "does not fit", LOAD: "does not keep up", "ttft": "misses TTFT", "itl": "misses ITL"}  # fmt: skip
    wrong = [words.get(name, f"misses {name.replace('_', ' ')}") for name in row["wrong"]]
    return ", ".join(wrong) or ("fits, meets every target" if targets else "fits")


def flip_table(
    rows: Iterable[dict[str, Any]], targets: bool, in_words: bool = True
) -> list[list[Any]]:
    """Rows of input, value now, where it changes the result, the change and what then holds."""
    name = "label" if in_words else "name"
    return [[r[name], r["now"], limit_text(r), r["change"], then_text(r, targets)] for r in rows]


def _ends(flip: Flip) -> str:
    """The value with its range, where an end may be ``never`` (no value flips it there) or ``any`` (every value does)."""
    never_, any_ = (ABOVE, BELOW) if flip.up else (BELOW, ABOVE)
    words = {never_: "never", any_: "any"}
    ends = []
    for side, value in ((BELOW, flip.spread.low), (ABOVE, flip.spread.high)):
        plain = Result(flip.now.symbol, value or flip.value).plain(DIGITS)
        ends.append(words[side] if side in flip.spread.beyond else plain)
    return f"{Result(flip.now.symbol, flip.value).plain(DIGITS)} ({' to '.join(ends)})"


def change(factor: Fraction | float | None) -> str:
    """The relative change: percent up to twice the value, a factor beyond; empty if the value is zero now.

    >>> change(1.29), change(0.25), change(3.5), change(None)
    ('+29 %', '-75 %', '×3.5', '')
    """
    if factor is None:
        return ""
    if factor > 2:
        return f"×{significant(factor, 3)}"
    moved = (factor - 1) * 100
    return f"{'+' if moved > 0 else ''}{significant(moved, 2)} %"


def _evenly(flip: Flip, subject: BoundCase) -> str | None:
    """The next number of devices that divides the heads, if the first that flips does not."""
    heads = subject.get("n_heads")
    if flip.name != "tp" or not flip.up or heads is None or splits_evenly(subject, int(flip.value)):
        return None
    return next(
        (
            f"{n:,}"
            for n in range(int(flip.value), int(Fraction(heads.value)) + 1)
            if splits_evenly(subject, n)
        ),
        None,
    )


def lacking(answers: BoundCase) -> list[tuple[str, ...]]:
    """Rows of input, current value, passing value and change, then the required device."""
    levers = required_changes(answers)
    rows: list[tuple[str, ...]] = [
        (
            lever.name,
            lever.now.plain(),
            needed(lever, answers),
            change(lever.flip.factor) if lever.flip else "",
        )
        for lever in levers
    ]
    bought = (
        None
        if any(
            lever.flip and lever.name in ("peak_flops", "mem_bandwidth", "mem_capacity")
            for lever in levers
        )
        else combined_change(answers)
    )
    brought = [
        f"{name} {result.plain()}" for name, result in (bought or {}).items() if name != "price"
    ]
    if brought:
        rows.append(("a device with", "", f"at least {', '.join(brought)}", ""))
    return rows or [("", "", "none of these inputs changes what it misses", "")]


def needed(lever: Lever, answers: BoundCase) -> str:
    """The smallest change of an input that makes everything pass, or why none does."""
    if lever.flip:
        cells = row(lever.flip, answers)
        more = [f"{cells['evenly']} divide the heads evenly"] if cells["evenly"] else []
        if not (cells["everywhere"] or cells["ends_named"]):
            more.append("in a part of the ranges only")
        return "; ".join([f"at {'least' if lever.flip.up else 'most'} {cells['at']}", *more])
    why = [
        f"{row(flip, answers)['at']} {'fits' if name == MEMORY else f'meets {name}'} only"
        for name, flip in lever.cures
    ]
    if lever.breaks:
        why.append("which then misses " + ", ".join(lever.breaks))
    end = "even at 1" if lever.now.symbol.most == "1" else "however large"
    for name, best in lever.stuck:
        if best:
            verb = "takes" if best.symbol.unit == "s" else "is"
            why.append(f"{end}, {name} {verb} {best.plain()}")
        elif len(lever.stuck) == 1:
            why.append(f"{end}, {name} is unbounded (the queue has no steady state)")
    if lever.stuck or not lever.unsolved:
        return "no value is enough: " + ("; ".join(why) or "no number of them passes")
    bound = "may be met by some number" if lever.now.symbol.counted else f"is met {end}"
    told = [*why, *(f"{name} {bound}" for name in lever.unsolved)]
    return "not known, as the wait has no formula to solve: " + "; ".join(told)
