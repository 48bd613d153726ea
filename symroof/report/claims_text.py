"""A checked claim as text: how far off it is, the likely mistake, and the command that derives the right value."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symroof.errors import visible
from symroof.specs.engine_profile import IDEAL

if TYPE_CHECKING:
    from symroof.claims.checked import Checked
    from symroof.claims.explain_slips import SlipExplanation

MOST_SLIPS, LONGEST = 2, 360
"""Mistakes, and characters of a sentence."""
TELLING = 0.01
"""Probability of a coincidence from which it is printed."""
FITTED, LIKELY = ("hidden_efficiency", "hidden_overhead"), 0.5
"""Mistakes with a free parameter, and the probability of a coincidence from which one is hidden: any number would fit."""
OPTIONS = """prompt output batch context tp mfu mbu weights kv activations
model hardware preset efficiency engine"""
"""Inputs that have an option of their own name."""
HOW_TO_BEGIN = "no claims; add one after a sentence: <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
MARKED = {
    "does_not_fit": "this configuration does not fit in memory",
    "dimension": "the units do not agree",
    "regime": "used outside the regime it holds in",
}


def explained(claim: Checked) -> list[str]:
    """The details of an incorrect claim: its place, what is known of it, and the command that derives the value."""
    place = f"{claim.file}:{claim.line}:{claim.column}"
    head = visible(f"{place}: {claim.word}: {claim.says or claim.id}")
    command = reproduced(claim)
    lines = [*findings(claim), *([f"see: {command}"] if command else [])]
    head = head if len(head) <= LONGEST else head[: LONGEST - 1] + "…"
    return [head, *("    " + visible(line) for line in lines)]


def findings(claim: Checked) -> list[str]:
    """What is known of a claim: the size of the error, its reason, the likely mistake."""
    lines = []
    if claim.claimed and claim.derived:
        far = off(claim.ratio) if claim.verdict == "wrong" else ""
        lines.append(f"claimed {claim.claimed}, derived {claim.derived}{far}")
    lines += [claim.reason] if claim.reason else []
    lines += [
        f"{'known mistake' if slips[0].named else 'perhaps'}: {names(slips)}: {slips[0].text}{odds(slips[0].chance)}"
        for slips in put_forward(claim)
    ]
    return lines + [f"note: {MARKED.get(flag, flag)}" for flag in claim.flags]


def put_forward(claim: Checked) -> list[list[SlipExplanation]]:
    """The mistakes to print: the named ones, or else the best guesses, grouped if they only explain the error together. JSON has all."""
    if claim.verdict == "conditional":
        return []  # not wrong: its reason names what is missing
    by_text: dict[str, list[SlipExplanation]] = {}
    for slip in [slip for slip in claim.slips if slip.named] or [
        slip for slip in claim.slips if slip.slip not in FITTED or slip.chance <= LIKELY
    ]:
        by_text.setdefault(slip.text, []).append(slip)
    return list(by_text.values())[:MOST_SLIPS]


def names(slips: Sequence[SlipExplanation]) -> str:
    return " and ".join(slip.slip for slip in slips)


def odds(chance: float) -> str:
    """How often a mistake would explain a random error; empty if rarely.

    >>> odds(0.16), odds(0.004)
    (' (16 % of random errors would fit too)', '')
    """
    return f" ({chance * 100:.0f} % of random errors would fit too)" if chance >= TELLING else ""


def off(ratio: float | None) -> str:
    """The size of the error in words: a percentage, or a factor if large.

    >>> off(1.2), off(8.0), off(0.25)
    (': 20 % too high', ': 8 times too high', ': 4 times too low')
    """
    if ratio is None or ratio <= 0 or ratio == 1:
        return ""
    if 0.5 < ratio < 1.5:
        return f": {abs(ratio - 1) * 100:.2g} % too {'high' if ratio > 1 else 'low'}"
    factor = ratio if ratio > 1 else 1 / ratio
    form = next((form for most, form in ((1000, ".3g"), (1e9, ",.0f")) if factor < most), ".1e")
    return f": {factor:{form}} times too {'high' if ratio > 1 else 'low'}"


def reproduced(claim: Checked) -> str:
    """The command that derives the correct value; empty if no single command does."""
    spec = claim.claim
    if claim.value is None or claim.parts or not (spec.quantity or spec.threshold):
        return ""
    verb = ["derive", spec.quantity]
    if not spec.quantity:
        verb = ["solve", spec.threshold, *(["--for", spec.solve_for] if spec.solve_for else [])]
    for name, value in spec.given.items():
        if name in OPTIONS.split():
            verb += [f"--{name}", _plain(value)]
            continue
        option = {"assume": "--assume", "targets": "--target"}.get(name, "--set")
        pairs = ((name, value),) if option == "--set" else value.items()
        verb += [word for key, each in pairs for word in (option, f"{key}={_plain(each)}")]
    if "hardware" in spec.given and not spec.given.keys() & {"engine", "preset"}:
        verb += ["--engine", IDEAL]  # hand calculations mean physics
    return shlex.join(["symroof", *map(str, verb)])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(float(value)) if not isinstance(value, (str, int)) else str(value)
