"""Data of a review: input values that flip the verdict, and the required changes of failing cases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from symroof.analysis.case_titles import range_position
from symroof.analysis.case_warnings import splits_evenly
from symroof.analysis.tipping_points import Flip, flips, never
from symroof.analysis.verdict import LOAD, MEMORY, constraints, measured_alone
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import PRICE
from symroof.cases.quantity_result import Result
from symroof.report.field_names import input_name
from symroof.report.markup import Code
from symroof.select.required_changes import Lever, combined_change, required_changes
from symroof.theory.symbols import GROUPS
from symroof.units import significant

DIGITS = 3
JUST_BEYOND = 1.001
NONE: Mapping[str, float] = MappingProxyType({})
FAR = 10
"""Factor beyond which a flip for the worse is listed below the table."""

UNCHANGEABLE = frozenset(
    symbol.name for group in ("hardware", "efficiency") for symbol in GROUPS[group]
) - {"memory_share"}
"""What nobody who runs a model can change: a device is as it is made, and an efficiency is what comes out. The appendix has them all the same."""

BOUGHT = ("peak_flops", "mem_bandwidth", "mem_capacity")
NEAREST = 5
"""Maximum flips in each direction in the body; the appendix has all."""


def flip_rows(subject: BoundCase, nearer: Mapping[str, float] = NONE) -> dict[str, Any] | None:
    """Flips for the better and for the worse in the worst case, which decides a verdict, the nearest first; None without conditions.

    ``nearer``: from which value of an input on a target is missed by a wait, which no equation of a flip holds.
    """
    case = subject.slow_end
    if not constraints(case):
        return None
    every = [replace(flip, alone=True) for flip in flips(case)]
    repairs = [f for f in every if f.holds]
    first: dict[tuple[str, bool], Flip] = {}
    for f in every:  # the nearest of each input in each direction
        if not f.holds:
            first.setdefault((f.name, f.up), f)
    breaks = [*first.values()]
    near = [f for f in breaks if f.distance is None or f.distance <= FAR]
    waits = [c.equation for c in constraints(case) if c.has_wait(case.case)]
    return {
        "better": [row(f, case) for f in repairs],
        "worse": _with_nearer([row(f, case) for f in near], nearer, case),
        "far": [row(f, case) for f in breaks if f not in near],
        "never": [input_name(name, case) for name in never(case, every)],
        "standing": _standing(subject),
        "waits": Code(f"symroof solve '{waits[0]}' --for …") if waits else None,
        "mending": [
            row(f, case)
            for f in repairs
            if f.good and f.name not in UNCHANGEABLE and (f.distance is None or f.distance <= FAR)
        ],
    }


def _standing(subject: BoundCase) -> str:
    """Where in its ranges the case stands; empty without ranges."""
    if subject.slow_end is subject:
        return range_position(subject) if subject.box else ""
    interval = "80 % interval" if measured_alone(subject) else "ranges"
    return f"in the worst case of the {interval}"


def _with_nearer(
    rows: list[dict[str, Any]], nearer: Mapping[str, float], case: BoundCase
) -> list[dict[str, Any]]:
    """The rows, with what is missed before them instead of those of the same inputs."""
    found = []
    for name, value in nearer.items():
        now, symbol = case.result(name), case.case.theory.symbol(name)
        there = case.case.changed({name: value if symbol.counted else value * JUST_BEYOND})
        wrong = [c.name for c in constraints(case) if not c.holds(there)]
        shown = {
            "name": Code(name),
            "label": input_name(name, case),
            "now": now.plain(DIGITS),
            "at": Result(symbol, value).plain(DIGITS),
        }
        state = {"up": True, "counted": symbol.counted, "until": None, "evenly": None}
        factor = value / float(now.value)
        found.append((factor, shown | state | {"change": change(factor), "wrong": wrong}))
    found.sort(key=lambda pair: pair[0])
    kept = [row for row in rows if not (row["up"] and row["name"] in nearer)]
    return [*(row for _, row in found), *kept]


def flip_view(subject: BoundCase, nearer: Mapping[str, float] = NONE) -> dict[str, Any] | None:
    """The flips as tables: the nearest in words, and all by name."""
    found, asks = flip_rows(subject, nearer), bool(subject.targets)
    if found is None:
        return None
    shown = {name: found[name] for name in ("never", "standing", "waits")}
    for side in ("better", "worse"):
        for key, name, most in ((side, "label", NEAREST), (f"{side}_all", "name", None)):
            shown[key] = [
                [r[name], r["now"], limit_text(r), r["change"], then_text(r["wrong"], asks)]
                for r in found[side][:most]
            ]
    far = [f"{change_in_words(row)}: {then_text(row['wrong'], asks)}" for row in found["far"]]
    return shown | {"far": far, "far_factor": str(FAR)}


def change_in_words(row: dict[str, Any]) -> str:
    """``prompt length is above 2,300 tokens (now 1,500 tokens)``."""
    return f"{row['label']} is {limit_text(row)} (now {row['now']})"


def row(flip: Flip, subject: BoundCase) -> dict[str, Any]:
    """A flip as plain data."""
    return {
        "name": Code(flip.name),
        "label": input_name(flip.name, subject),
        "now": flip.now.plain(DIGITS) if flip.now.value else "0",
        "at": flip.at.plain(DIGITS),
        "up": flip.up,
        "counted": flip.now.symbol.counted,
        "until": f"{int(flip.turns[0]):,}" if flip.turns and flip.now.symbol.counted else None,
        "more_turns": max(len(flip.turns) - 1, 0),
        "evenly": _evenly(flip, subject),
        "change": change(flip.factor),
        "condition": flip.condition,
        "holds": flip.holds,
        "wrong": list(flip.wrong),
        "good": flip.good,
    }


def limit_text(row: dict[str, Any]) -> str:
    """Where an input changes the result, ``above 43.5 request/s``, and under which conditions."""
    words = ("at most", "at least") if row["counted"] else ("below", "above")
    more = ""
    if row["until"]:
        turns = row["more_turns"]
        beyond = f" (and {turns} more change{'s' * (turns > 1)} beyond)" if turns else ""
        more += f", back at {row['until']}{beyond}"
    if row["evenly"]:
        more += f"; {row['evenly']} divide the heads evenly"
    return f"{words[row['up']]} {row['at']}{more}"


def then_text(wrong: Sequence[str], targets: bool) -> str:
    """What is wrong beyond a value, by the names of the conditions; or that all is well."""
    words = {
        MEMORY: "does not fit",
        LOAD: "does not keep up",
        "ttft": "misses TTFT",
        "itl": "misses ITL",
    }
    said = [words.get(name, f"misses {name.replace('_', ' ')}") for name in wrong]
    return ", ".join(said) or ("fits, meets every target" if targets else "fits")


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
    heads, least = subject.get("n_heads"), int(flip.value)
    if flip.name != "tp" or not flip.up or heads is None or splits_evenly(subject, least):
        return None
    counts = range(least, int(Fraction(heads.value)) + 1)
    return next((f"{n:,}" for n in counts if splits_evenly(subject, n)), None)


def lacking(answers: BoundCase) -> list[tuple[str, ...]]:
    """Rows of input, current value, passing value and change, then the required device."""
    levers = required_changes(answers)
    rows: list[tuple[str, ...]] = []
    for lever in levers:
        moved = change(lever.flip.factor) if lever.flip else ""
        rows.append((lever.name, lever.now.plain(), needed(lever, answers), moved))
    if not any(lever.flip and lever.name in BOUGHT for lever in levers):
        together = combined_change(answers) or {}
        brought = [f"{name} {one.plain()}" for name, one in together.items() if name != PRICE]
        if brought:
            rows.append(("a device with", "", f"at least {', '.join(brought)}", ""))
    return rows or [("", "", "none of these inputs changes what it misses", "")]


def needed(lever: Lever, answers: BoundCase) -> str:
    """The smallest change of an input that makes everything pass, or why none does."""
    if lever.flip:
        even = _evenly(lever.flip, answers)
        more = f"; {even} divide the heads evenly" if even else ""
        return f"at {'least' if lever.flip.up else 'most'} {lever.flip.at.plain(DIGITS)}{more}"
    why = [
        f"{flip.at.plain(DIGITS)} {'fits' if name == MEMORY else f'meets {name}'} only"
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
