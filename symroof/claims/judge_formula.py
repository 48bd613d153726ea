"""Judge a formula: equal to the derived one, equal under conditions that are named, close in numbers, or wrong, with the slips that lead to it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.cases.quantity_result import as_written
from symroof.claims.claim_settings import with_settings
from symroof.claims.claimed_formula import (
    ALL_ACTIVE,
    IDENTITIES,
    LONGEST_FORMULA,
    ClaimedFormula,
    DetailLevel,
    identity_text,
)
from symroof.claims.formula_conditions import (
    LINKS_OUT,
    PREFILLS_OUT,
    ROUNDED,
    conditions,
    reaches,
    simplest,
)
from symroof.claims.judgement import Judgement, tolerance_of
from symroof.claims.read.written_number import CLOSE_ENOUGH
from symroof.claims.slips.explanation import SlipExplanation
from symroof.claims.slips.formula_slips import SECONDS, formula_slips
from symroof.claims.unstated_assumptions import counted_otherwise
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.expressions import names, number
from symroof.symbolic.printing import text
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name
from symroof.theory.switches import DETAIL


def judge_formula(claim: ClaimSpec, seconds: float | None = None) -> Judgement:
    """Equal is exact; numerically close in the case is approximate; equal at another level of detail is conditional.

    Args:
        seconds: processor time for the search for slips; by default that of one claim.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    seconds = SECONDS if seconds is None else seconds
    end = time.process_time() + seconds
    sides = ClaimedFormula(claim)
    if sides.is_too_long:
        return _of_too_long(sides, seconds)
    levels = [DetailLevel("", sides)]
    own = levels[0].own
    stands = Judgement(claim, "exact", claim.formula or "", sides.derived_text())
    if own.verdict == "equal":
        return replace(stands, reason=f"at {taken}") if (taken := _default_case(sides)) else stands
    if not names(sides.claimed) and sides.numeric_ratio() == 1:
        return replace(stands, reason="in the numbers of this case")
    if sides.identities and ClaimedFormula(claim, sides.identities).comparison().verdict == "equal":
        return replace(stands, reason=f"as {identity_text(sides.identities)} here")
    if straightened := _but_for_bends(stands, sides):
        return straightened
    widths = sides.unstated_widths if own.verdict == "dimension" and not own.inverted else {}
    if widths and (
        (wide := _at_widths(claim, widths, seconds / 2)).verdict != "wrong" or wide.slips
    ):
        return wide
    ratio, limit = sides.numeric_ratio(), tolerance_of(claim)
    for detail in DETAIL if "detail" not in claim.given.get("assume", {}) else ():
        plain = with_settings(claim, {"assume": {"detail": detail}})
        for put in ((), (ALL_ACTIVE,)) if ALL_ACTIVE[1] in names(sides.claimed) else ((),):
            levels.append(
                DetailLevel(
                    ", with ".join(filter(None, (f"detail {detail}", identity_text(put)))),
                    ClaimedFormula(plain, put),
                )
            )
            if (
                (own.verdict != "dimension" or sides.stated_widths)
                and not _near(ratio, limit)
                and levels[-1].equal
            ):
                return replace(
                    stands,
                    verdict="conditional",
                    needs=(levels[-1].label,),
                    reason=f"holds at {levels[-1].label}; {_shortened(str(own))}",
                )
    assumed = sides.identities or IDENTITIES[:1]
    if IDENTITIES[0] in assumed and IDENTITIES[0][0] in names(sides.claimed):
        alike = [
            (one.label, ClaimedFormula(one.sides.claim, assumed)) for one in levels if not one.equal
        ]
        both = [
            DetailLevel(", with ".join(filter(None, (label, identity_text(assumed)))), sides)
            for label, sides in alike
        ]
        levels += [level for level in both if not level.equal]
    if not _near(ratio, limit) and (
        long := next((level for level in levels if level.for_long_prompts), None)
    ):
        needs = ", ".join(filter(None, ("prompt + 1 taken as prompt", long.label)))
        return replace(
            stands,
            verdict="conditional",
            needs=(needs,),
            reason=f"holds where {needs}; {_shortened(str(own))}",
        )
    return _unequal_formula(
        replace(stands, ratio=ratio, reason=_shortened(str(own))),
        levels,
        _near(ratio, limit),
        limit is None,
        end,
    )


def _of_too_long(sides: ClaimedFormula, seconds: float) -> Judgement:
    """A formula of something that is too long to write out, a rate under load: right with prefills left out, where it is short, or by numbers."""
    claim = sides.claim
    shown = Judgement(
        claim, "exact", claim.formula or "", text(sides.derived), ratio=sides.numeric_ratio()
    )
    decode = shown
    if PREFILLS_OUT.name not in {*names(sides.claimed), *map(printed_name, claim.given)}:
        decode = judge_formula(with_settings(claim, PREFILLS_OUT.settings), seconds)
        needs = (PREFILLS_OUT.words, *decode.needs)
        if decode.verdict in ("exact", "conditional"):
            return replace(
                shown,
                verdict="conditional",
                needs=needs,
                slips=decode.slips,
                reason=f"holds with {', '.join(needs)}",
                ratio=None,
            )
    judgement = _by_numbers(replace(shown, ratio=None) if shown.ratio == 1 else shown, sides)
    return replace(judgement, slips=decode.slips) if judgement.verdict == "wrong" else judgement


def _default_case(sides: ClaimedFormula) -> str:
    """The defaults that a formula takes for granted which its quantity depends on: one request, one device. Empty where there are none."""
    unstated = {"batch": "a batch of 1"} if "batch" in names(sides.derived) else {}
    unstated |= {"tp": "one device"} if (sides.claim.quantity or "").endswith("_per_device") else {}
    stated = {*names(sides.claimed), *map(printed_name, sides.claim.given)}
    return " on ".join(
        words
        for name, words in unstated.items()
        if name not in stated and not ({*DEGREES} & stated and name == "tp")
    )


def _but_for_bends(stands: Judgement, sides: ClaimedFormula) -> Judgement | None:
    """A formula that has ``x`` where the derived one has ``max(x, 0)``, or does not round as that does; None of any other, and where numbers tell."""
    bent = sides.omitted_bends()
    roundings = [part for part in bent if part.func in ROUNDED]
    floors = [part for part in bent if part.func not in ROUNDED]
    states = {None} if roundings else set(map(sides.bend_is_inactive, floors))
    if not bent or False in states or (roundings and sides.numeric_ratio() is not None):
        return None
    needs = (*map(reaches, floors), *dict.fromkeys(ROUNDED[part.func] for part in roundings))
    said = " and ".join(needs)
    if None not in states:
        return replace(stands, reason=f"as {said} here")
    return replace(stands, verdict="conditional", needs=needs, reason=f"holds where {said}")


WIDER = "4 byte"
"""Another width than the usual ones, to see whether it matters."""


def _at_widths(claim: ClaimSpec, widths: Mapping[str, str], seconds: float) -> Judgement:
    """A formula that writes a plain 2 for the bytes of a number, at those widths: a model says them, else they are a condition."""
    judgement = judge_formula(with_settings(claim, widths), seconds)
    if judgement.needs:  # those of what another level of detail leaves out do not matter
        widths = {
            name: width
            for name, width in widths.items()
            if judge_formula(with_settings(claim, {**widths, name: WIDER}), 0).needs
            != judgement.needs
        }
    at = ", ".join(f"{name} = {width}" for name, width in widths.items())
    if judgement.verdict == "wrong":
        return replace(judgement, flags=(), reason=f"with {at}")
    if "model" in claim.given:
        return replace(judgement, reason=judgement.reason or f"with {at} here")
    needs = (*judgement.needs, at)
    return replace(
        judgement, verdict="conditional", needs=needs, reason=f"holds where {'; '.join(needs)}"
    )


def _near(ratio: Fraction | None, limit: Fraction | None) -> bool:
    return ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit)


def _near_at(slip: str, levels: Sequence[DetailLevel], limit: Fraction | None) -> bool:
    """Whether the sides are close in numbers at the level of detail that a slip's text ends with."""
    label = slip.partition(", at ")[2]
    return any(
        level.label == label and _near(level.sides.numeric_ratio(), limit) for level in levels
    )


def _shortened(comparison: str) -> str:
    """A comparison cut to a length that fits next to a claim: factors between maxima are too long to be read."""
    if len(comparison) <= LONGEST_FORMULA:
        return comparison
    return f"{comparison[:LONGEST_FORMULA].rpartition(' ')[0]} …"


OUTPUT = "output_ignored"
HEADS, HEADS_MISTAKEN = identity_text((("n_kv_heads", "n_heads"),)), "gqa_forgotten"
"""An identity that texts take for granted in the parameters of a model, and the mistake that it is in its cache."""


def _says_nothing_of_output(claim: ClaimSpec) -> bool:
    """Whether a formula is of a prompt alone, so that its longest context is the prompt."""
    return "output" not in {*map(printed_name, claim.given)}


BOUND_BY = {"compute_floor_ignored": "memory", "memory_floor_ignored": "compute"}
"""What binds where an arm of the roofline is left out rightly, by the slip that leaves the other out."""
LINKS_IGNORED = "links_ignored"


def _left_out_rightly(
    together: Sequence[SlipExplanation],
    judgement: Judgement,
    levels: Sequence[DetailLevel],
    near: bool,
) -> tuple[str, ...]:
    """The conditions under which one arm of the roofline, and with it the time on links, are left out rightly; empty where something else is."""
    kinds = {slip.slip for slip in together}
    floors = kinds & BOUND_BY.keys()
    numbers = (
        near
        or judgement.ratio is None
        or (
            len(together) == 1 and _near_at(together[0].text, levels, tolerance_of(judgement.claim))
        )
    )
    if not numbers or len(floors) != 1 or kinds - floors - {LINKS_IGNORED}:
        return ()
    phase = (
        "prefill"
        if f"the prefill's {'FLOPs' if 'memory_floor_ignored' in floors else 'bytes'}"
        in together[0].text
        else "decode"
    )
    bound = f"{phase} bound by {BOUND_BY[floors.pop()]}" + "".join(
        together[0].text.partition(", at ")[1:]
    )
    return (bound, *([LINKS_OUT] if LINKS_IGNORED in kinds else []))


def _unequal_formula(
    judgement: Judgement, levels: list[DetailLevel], near: bool, explain: bool, end: float
) -> Judgement:
    """A formula equal at no level: close in numbers, right where one arm binds or under another way to count that it does not state, or wrong."""
    slips = formula_slips(levels, end) if explain or not near else ()
    together = [slip for slip in slips if slips and slip.text == slips[0].text]
    if simpler := _left_out_rightly(together, judgement, levels, near):
        said = simpler[0].replace(" bound", " is bound", 1)
        return replace(
            judgement,
            verdict="conditional",
            needs=simpler,
            slips=slips,
            reason=f"holds where {', '.join((said, *simpler[1:]))}",
        )
    if near and judgement.ratio is not None:
        return replace(
            judgement,
            verdict="approximate",
            slips=slips,
            reason=f"{judgement.reason}; {float(judgement.ratio):.4g} times here",
        )
    if counted_otherwise(slips) or (
        together and together[0].slip == OUTPUT and _says_nothing_of_output(judgement.claim)
    ):
        return replace(
            judgement,
            verdict="conditional",
            needs=(slips[0].cause,),
            slips=slips,
            reason=f"holds with {slips[0].text}; {judgement.reason}",
        )
    own = levels[0].own.verdict
    named = any(slip.named for slip in slips)
    if not near and not named and end and (own != "dimension" or levels[0].sides.stated_widths):
        found = conditions(judgement.claim)
        if not found or HEADS in found:
            plain, right = simplest(judgement.claim)
            found = found or right
            slips = slips if right else formula_slips(plain, time.process_time() + SECONDS) or slips
        if found and not any(slip.slip == HEADS_MISTAKEN for slip in slips):
            return replace(
                judgement,
                verdict="conditional",
                needs=found,
                reason=f"holds with {', '.join(found)}; {judgement.reason}",
            )
    if own == "undecided" and not slips:
        return _by_numbers(judgement, levels[0].sides)
    return replace(
        judgement, verdict="wrong", flags=("dimension",) if own == "dimension" else (), slips=slips
    )


def _by_numbers(judgement: Judgement, sides: ClaimedFormula) -> Judgement:
    """A formula of which neither algebra nor random values tell: wrong where numbers of the case do, with values for what it lacks."""
    apart = (judgement.ratio, {}) if judgement.ratio is not None else sides.trial_difference()
    if apart is None:
        return replace(
            judgement,
            verdict="unchecked",
            reason="undecided: algebra is inconclusive, and no trial values show a difference",
        )
    ratio, put = apart
    where = " and ".join(
        f"{name} = {as_written(name, number(value))}" for name, value in put.items()
    )
    at = (
        f"where {where}"
        if where
        else "here"
        if judgement.ratio is not None
        else "in a case that it was tried in"
    )
    return replace(
        judgement, verdict="wrong", reason=f"{float(ratio):.4g} times what is derived {at}"
    )
