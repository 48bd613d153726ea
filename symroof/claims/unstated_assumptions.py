"""A claim that misses its value: right under an assumption it does not state, or wrong, with the slips that lead to its value.

Two sorts of assumptions are tried. The simplifications of textbooks count less than everything: there are four, so a number
written with three digits seldom agrees with one by chance; how seldom decides against a slip that would explain the claim too.
Round efficiencies are tried where nothing else explains a claim.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.judgement import Judgement
from symroof.claims.read.prose_numbers import BOUND_WORD
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explain import explanations
from symroof.claims.slips.explanation import SlipExplanation, agreeing_ranges, chance, factor_text
from symroof.claims.slips.simplifications import simplified_settings, with_round_params
from symroof.claims.slips.slip_catalogue import OTHER_COUNTS
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec
from symroof.theory.switches import expand_detail

Judge = Callable[[ClaimSpec], Judgement]

SELDOM = 0.2
"""A simplification is reported where at most this share of random errors of the claim's size would agree with one."""
SHARES = tuple(
    Fraction(percent, 100) for percent in (50, 60, 40, 70, 80, 30, 90, 45, 55, 35, 65, 75, 85)
)
EFFICIENCIES = ("mfu", "mbu")
NEVER = 1000
"""How far off a threshold is taken to be that is never reached."""
SHARPEST = Fraction(1, 200)
"""How precisely a claim must be written for a round share to be evidence: some share agrees with any rough number."""
NOTABLE = Fraction(101, 100)
"""The effect from which on what was left out is named."""
LIKE_A_SHARE = frozenset({"mac_vs_flop"})
"""Slips whose factor a round efficiency has too: of the two, texts leave out that half the peak is reached."""

TABLE_COUNTED = "the gathered input table counted among the active parameters"
"""How many model cards count them."""
RIGHT = ("exact", "rounded")


def counted_otherwise(slips: Sequence[SlipExplanation]) -> bool:
    """Whether the first explanation is another way to count and nothing else; of two slips at once, both have one text."""
    return bool(slips) and all(
        slip.named and slip.slip in OTHER_COUNTS for slip in slips if slip.text == slips[0].text
    )


def explain_failure(claim: ClaimSpec, judgement: Judgement, judge: Judge) -> Judgement:
    """A claim that misses its value, with the slips that lead to its value; a tolerance that the text states is no slip.

    Of a simplification and a slip that both explain it, the one counts that random errors agree with less often.

    Args:
        judge: gives the verdict on the claim under other settings.
    """
    if judgement.verdict != "wrong" and (
        judgement.verdict != "approximate" or claim.tolerance is not None
    ):
        return judgement
    judgement = replace(judgement, slips=explanations(claim))
    if judgement.verdict != "wrong":
        return judgement
    first = judgement.slips[0] if judgement.slips and judgement.slips[0].named else None
    if first is not None and counted_otherwise(judgement.slips):
        return replace(
            judgement,
            verdict="conditional",
            needs=(first.cause,),
            reason=f"holds with {first.text}",
        )
    table = next(
        (
            slip
            for slip in judgement.slips
            if slip.cause == TABLE_COUNTED and claim.quantity == "active_params"
        ),
        None,
    )
    if table:
        return replace(
            judgement,
            verdict="conditional",
            needs=(TABLE_COUNTED,),
            reason=f"holds with {table.text}; otherwise {judgement.derived}",
        )
    simple = simplification(claim, judgement, judge)
    if simple and (first is None or simple.chance <= first.chance):
        needs, named = settings_text(simple.settings), {slip.slip for slip in simple.slips}
        slips = (*simple.slips, *(slip for slip in judgement.slips if slip.slip not in named))
        return replace(
            judgement,
            verdict="conditional",
            needs=(needs,),
            slips=slips,
            reason=f"holds at {needs}; otherwise {judgement.derived}",
        )
    if (
        (first is None or first.slip in LIKE_A_SHARE)
        and claim.form == "quantity"
        and not BOUND_WORD.match(judgement.claimed)
    ):
        share = round_share(
            claim.given,
            judgement.tolerance,
            lambda changes: judge(with_settings(claim, changes)).verdict in RIGHT,
        )
        if share:
            needs = settings_text(share)
            return replace(
                judgement,
                verdict="conditional",
                needs=(needs,),
                reason=f"holds with {needs}; otherwise {judgement.derived}",
            )
    return judgement


@dataclass(frozen=True)
class SimplifiedCase:
    """Settings under which a claim holds, the share of random errors that would hold under such, and the slip that leaves the same out."""

    settings: dict[str, Any]
    chance: float
    slips: tuple[SlipExplanation, ...] = ()


def simplification(claim: ClaimSpec, judgement: Judgement, judge: Judge) -> SimplifiedCase | None:
    """The plainest simplification under which a wrong claim holds; None where its settings say how it counts, or chance would do as well.

    Where one comes close, the rounded parameters of the model's name are tried as well.
    """
    true = judgement.value
    if claim.form != "threshold" and (true is None or true <= 0):
        return None
    try:
        written = read_written(claim.value, judgement.unit)
        number = written.value
        if number is None or written.operator or written.low is not None or number <= 0:
            return None
        true = true or NEVER * number
        tried = [
            (settings, judge(with_settings(claim, settings)))
            for settings in simplified_settings(claim)
        ]
        if not any(one.verdict in RIGHT for _, one in tried):
            near = [settings for settings, one in tried if one.verdict == "approximate"]
            tried += [
                (rounder, judge(with_settings(claim, rounder)))
                for settings in near
                for rounder in with_round_params(claim, settings)
            ]
        values = [
            one.value
            for _, one in tried
            if one.value is not None and one.value > 0 and one.value != true
        ]
        share = chance(float(number), float(true), agreeing_ranges(values, written))
        first = next((settings for settings, one in tried if one.verdict in RIGHT), None)
        if first is None or share > SELDOM:
            return None
        return SimplifiedCase(first, share, _left_out(claim, first, true, number, share, judge))
    except (InputError, ArithmeticError, ValueError):
        return None


LEFT_OUT = {
    "kv_ignored": ("kv_traffic", "reads of the cache left out"),
    "attention_ignored": ("attention_flops", "attention FLOPs left out"),
}
"""Slips that a plainer count makes, the switch of each, and the words for it."""


def _left_out(
    claim: ClaimSpec,
    settings: Mapping[str, Any],
    true: Fraction,
    claimed: Fraction,
    share: float,
    judge: Judge,
) -> tuple[SlipExplanation, ...]:
    """The slip that explains the most of what a simplification changes."""
    switched = expand_detail(settings.get("assume", {}))
    effects: list[tuple[Fraction, str, str]] = []
    for slip, (switch, text) in LEFT_OUT.items():
        if switched.get(switch) == "off" and (
            value := judge(with_settings(claim, {"assume": {switch: "off"}})).value
        ):
            effects.append((max(value / true, true / value), slip, text))
    factor, slip, text = max(effects, default=(Fraction(1), "", ""))
    return (
        (SlipExplanation(slip, True, claimed, share, f"{text}: {factor_text(claimed / true)}"),)
        if factor > NOTABLE
        else ()
    )


def round_share(
    settings: Mapping[str, Any], tolerance: Fraction | None, holds: Callable[[dict[str, Any]], bool]
) -> dict[str, Fraction] | None:
    """The one round efficiency under which a claim holds; None where several would do, or the claim is rough.

    >>> round_share({}, Fraction(1, 1000), lambda changes: changes == {"mfu": Fraction(1, 2)})
    {'mfu': Fraction(1, 2)}
    >>> round_share({"mfu": 1}, Fraction(1, 1000), lambda changes: "mfu" in changes)
    """
    if tolerance is None or tolerance > SHARPEST:
        return None
    candidates = [
        {name: share}
        for name in EFFICIENCIES
        if name not in settings
        for share in SHARES
        if holds({name: share})
    ]
    return candidates[0] if len(candidates) == 1 else None
