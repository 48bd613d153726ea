"""Judge a claim: derive it independently, compare it at its written precision, and find the assumptions under which it would be true."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.cases.quantity_result import as_written
from symroof.claims.chains import chain
from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.claimed_formula import IDENTITIES, LONGEST_FORMULA, ClaimedFormula, DetailLevel
from symroof.claims.denominators import denominator_text, is_per_time, with_denominator
from symroof.claims.derive_claim import derived
from symroof.claims.judgement import HOLDS, Judgement, compared, flags_of, joined, tolerance_of, value_text, worst
from symroof.claims.read.written_number import CLOSE_ENOUGH, DimensionMismatch, read_written
from symroof.claims.roof_share import with_roof_share
from symroof.claims.slips.explanation import SlipExplanation, agreeing_ranges, chance
from symroof.claims.slips.formula_slips import SECONDS, formula_slips
from symroof.claims.unstated_assumptions import counted_otherwise, explain_failure
from symroof.claims.unused_dimensions import check_dimensions_used
from symroof.errors import InputError, NoValueHere, Problem
from symroof.formula.text import text
from symroof.formula.tree import Call, Num, names
from symroof.specs.claims import ClaimSpec
from symroof.theory.declarations import MissingInput
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name
from symroof.theory.switches import DETAIL
from symroof.theory.theory import UnknownName

UNSTATED = {"prompt": (1, 4096, 131072)}
"""Inputs that texts leave out because they hardly matter, and the values over which that is tried, the least first."""


def judge(claim: ClaimSpec, shared: Collection[str] = ()) -> Judgement:
    """Judge one claim; ``shared`` are the settings that are defaults of its file.

    A claim that cannot be derived is ``unchecked``, with the reason: nothing is guessed. Nothing is raised, whatever fails: one
    failing claim never affects the others.
    """
    if claim.form == "unchecked":
        return Judgement(claim, "unchecked", reason=claim.unchecked or "")
    try:
        check_dimensions_used(claim, shared)
        if claim.form == "steps":
            return chain(claim)
        if claim.formula and claim.form in ("quantity", "threshold"):
            return _formula(claim) if claim.value is None else _formula_and_value(claim)
        return replace(_row(claim) if claim.values else with_roof_share(_judged_with_needs(with_denominator(claim))), claim=claim)
    except (InputError, ArithmeticError) as error:
        reason, fault = _why(error), error if isinstance(error, InputError) and not isinstance(error, NoValueHere) else None
        return Judgement(claim, "unchecked", str(claim.value or ""), reason=reason, error=fault)
    except UnknownName as error:
        return Judgement(claim, "unchecked", str(claim.value or ""), reason=f"unknown name {error.args[0]!r}: this model has no such part")
    except Exception as error:
        return failed_judgement(claim, error)


def _formula_and_value(claim: ClaimSpec) -> Judgement:
    """A claim of a formula and of its value: as good as the worse of the two."""
    alone = {"formula": claim.model_copy(update={"value": None}), "value": claim.model_copy(update={"formula": None})}
    formula, value = (judge(one) for one in alone.values())
    worse = worst([value, formula])
    if worse is value or worse.error is not None:
        return replace(worse, claim=claim)
    return replace(
        worse, claim=claim, claimed=value.claimed, reason="; ".join(filter(None, (f"of the formula {claim.formula}", worse.reason))), parts=(value, formula)
    )


def failed_judgement(claim: ClaimSpec, error: Exception) -> Judgement:
    """A claim in which symroof itself failed."""
    reason = f"symroof itself failed in this claim: {type(error).__name__}: {str(error)[:200]}"
    return Judgement(claim, "unchecked", str(claim.value or ""), reason=reason, error=error)


def _why(error: Exception) -> str:
    """Why something cannot be derived, in a phrase."""
    if not isinstance(error, InputError):
        return str(error)
    problem = error.problems[0]
    return ": ".join(part for part in (problem.path, problem.message) if part)


def _row(claim: ClaimSpec) -> Judgement:
    """A row of a table: each of its values judged, as good as the worst."""
    stated = claim.values.get("value")
    lists = {name: values for name, values in claim.values.items() if name != "value"}
    if not isinstance(stated, (list, tuple)) or not stated or any(not isinstance(v, (list, tuple)) or len(v) != len(stated) for v in lists.values()):
        raise InputError(Problem("values", "needs value and the inputs as lists of one length, with something in them"))
    parts = []
    for i, value in enumerate(stated):
        cell = with_settings(claim, {name: values[i] for name, values in lists.items()})
        parts.append(_judged_with_needs(with_denominator(cell.model_copy(update={"value": value}))))
    return replace(worst(parts), **joined(parts))


def _judged_with_needs(claim: ClaimSpec) -> Judgement:
    """The claim under the settings its text states, and where that fails or does not suffice, with its ``needs``.

    A claim that fails as stated and holds under an unstated assumption is conditional; the assumption is named and quantified.
    """
    try:
        own = _judged(claim)
        if claim.per and own.verdict not in HOLDS and (other := _of_the_whole(claim, own)):
            return other
    except (InputError, ArithmeticError) as error:
        missing = error.missing if isinstance(error, NoValueHere) else error.name if isinstance(error, MissingInput) else ""
        if not claim.needs and missing in UNSTATED:
            return _judged_without_input(claim, missing)
        if not claim.needs:
            raise
        own = Judgement(claim, "unchecked", str(claim.value), reason=_why(error))
    if not claim.needs or own.verdict in HOLDS:
        return explain_failure(claim, own, _judged)
    needing = _judged(with_settings(claim, claim.needs))
    flags = flags_of(own, needing)
    if needing.verdict not in HOLDS:
        return explain_failure(claim, replace(needing if own.verdict == "unchecked" else own, flags=flags), _judged)
    stands = f"otherwise {own.derived}" if own.derived else f"otherwise it cannot be derived: {own.reason}"
    needs = settings_text(claim.needs)
    return replace(own, verdict="conditional", needs=(needs,), flags=flags, reason=f"holds with {needs} ({needing.derived}); {stands}")


def _of_the_whole(claim: ClaimSpec, own: Judgement) -> Judgement | None:
    """A claim whose number is right, but of something else than the words around it say; None where it is not."""
    whole = _judged(claim.model_copy(update={"per": ""}))
    another_time = is_per_time(claim) and "dimension" in own.flags
    if not another_time and (whole.verdict not in HOLDS or whole.derived == own.derived):
        return None
    value = read_written(claim.value, whole.unit) if not another_time else None
    text = (
        denominator_text(claim, whole.derived, own.derived)
        if value
        else f"the number is of another time or thing than {claim.quantity}, which is {whole.derived}"
    )
    share = (
        chance(float(value.number), float(own.value or 1), agreeing_ranges([whole.value], value))
        if value and value.value and whole.value and own.value
        else 0.0
    )
    slip = SlipExplanation("denominator", True, whole.value or Fraction(0), share, text)
    return replace(own, verdict="wrong", reason="", slips=(slip,))


def _judged(claim: ClaimSpec) -> Judgement:
    """The claim under its settings as they are."""
    result, value = derived(claim), claim.value
    if result.value is None:
        return Judgement(claim, "wrong", str(value), result.reason, flags=result.flags, reason=result.reason)
    try:
        written = read_written(value, result.unit if result.number is not None else "")
    except DimensionMismatch as error:
        flags = (*result.flags, "dimension")
        return Judgement(claim, "wrong", str(value), value_text(result.value, result.unit), flags=flags, reason=f"the claimed value {error}")
    except ValueError as error:
        reason = f"the claimed value cannot be read: {error}"
        return Judgement(claim, "unchecked", str(value), value_text(result.value, result.unit), flags=result.flags, reason=reason)
    return compared(claim, written, result)


def _judged_without_input(claim: ClaimSpec, name: str) -> Judgement:
    """A claim whose text leaves an input out: judged where it matters least, and conditional where it would matter more."""
    points = UNSTATED[name]
    tried = [_judged(with_settings(claim, {name: point})) for point in points]
    least = tried[0]
    if all(one.verdict in HOLDS for one in tried):
        return replace(least, reason=f"{name} is not stated, and the claim holds for any from {points[0]:,} to {points[-1]:,}")
    if least.verdict in HOLDS:
        needs = f"a {name} so short that it does not matter"
        return replace(least, verdict="conditional", needs=(needs,), reason=f"{name} is not stated: {least.derived} without it")
    if len({one.derived for one in tried}) == 1:  # it does not matter at all: the claim is wrong whatever it is
        return explain_failure(with_settings(claim, {name: points[0]}), least, _judged)
    return Judgement(claim, "unchecked", least.claimed, reason=f"needs {name}, which is not stated and changes the result")


# ----------------------------------------------------------------------------------------------------------- formulas


def _formula(claim: ClaimSpec, seconds: float | None = None) -> Judgement:
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
        shown = Judgement(claim, "exact", claim.formula or "", text(sides.derived), ratio=sides.numeric_ratio())
        return _by_numbers(replace(shown, ratio=None) if shown.ratio == 1 else shown, sides)
    levels = [DetailLevel("", sides)]
    own = levels[0].own
    stands = Judgement(claim, "exact", claim.formula or "", sides.derived_text())
    if own.verdict == "equal":
        return replace(stands, reason=f"at {taken}") if (taken := _default_case(sides)) else stands
    if not names(sides.claimed) and sides.numeric_ratio() == 1:
        return replace(stands, reason="in the numbers of this case")
    if sides.identities and ClaimedFormula(claim, sides.identities).comparison().verdict == "equal":
        return replace(stands, reason=f"as {_identity_text(sides.identities)} here")
    if straightened := _but_for_bends(stands, sides):
        return straightened
    widths = sides.unstated_widths if own.verdict == "dimension" and not own.inverted else {}
    if widths and ((wide := _at_widths(claim, widths, seconds / 2)).verdict != "wrong" or wide.slips):
        return wide
    ratio, limit = sides.numeric_ratio(), tolerance_of(claim)
    for detail in DETAIL if "detail" not in claim.given.get("assume", {}) else ():
        plain = with_settings(claim, {"assume": {"detail": detail}})
        for put in ((), (ALL_ACTIVE,)) if ALL_ACTIVE[1] in names(sides.claimed) else ((),):
            levels.append(DetailLevel(", with ".join(filter(None, (f"detail {detail}", _identity_text(put)))), ClaimedFormula(plain, put)))
            if (own.verdict != "dimension" or sides.stated_widths) and not _near(ratio, limit) and levels[-1].equal:
                return replace(stands, verdict="conditional", needs=(levels[-1].label,), reason=f"holds at {levels[-1].label}; {_shortened(str(own))}")
    assumed = sides.identities or IDENTITIES[:1]
    if IDENTITIES[0] in assumed and IDENTITIES[0][0] in names(sides.claimed):
        alike = [(one.label, ClaimedFormula(one.sides.claim, assumed)) for one in levels if not one.equal]
        both = [DetailLevel(", with ".join(filter(None, (label, _identity_text(assumed)))), sides) for label, sides in alike]
        levels += [level for level in both if not level.equal]
    if not _near(ratio, limit) and (long := next((level for level in levels if level.for_long_prompts), None)):
        needs = ", ".join(filter(None, ("prompt + 1 taken as prompt", long.label)))
        return replace(stands, verdict="conditional", needs=(needs,), reason=f"holds where {needs}; {_shortened(str(own))}")
    return _unequal_formula(replace(stands, ratio=ratio, reason=_shortened(str(own))), levels, _near(ratio, limit), limit is None, end)


ALL_ACTIVE = ("params", "active_params")
"""What texts about dense models treat as one number: an embedding table that is only looked up multiplies nothing."""


def _default_case(sides: ClaimedFormula) -> str:
    """The defaults that a formula takes for granted which its quantity depends on: one request, one device. Empty where there are none."""
    unstated = {"batch": "a batch of 1"} if "batch" in names(sides.derived) else {}
    unstated |= {"tp": "one device"} if (sides.claim.quantity or "").endswith("_per_device") else {}
    stated = {*names(sides.claimed), *map(printed_name, sides.claim.given)}
    return " on ".join(words for name, words in unstated.items() if name not in stated and not ({*DEGREES} & stated and name == "tp"))


ROUNDED = {"floor": "it is not rounded down to a whole number", "ceil": "it is not rounded up to a whole number"}


def _but_for_bends(stands: Judgement, sides: ClaimedFormula) -> Judgement | None:
    """A formula that has ``x`` where the derived one has ``max(x, 0)``, or does not round as that does; None of any other, and where numbers tell."""
    bent = sides.omitted_bends()
    roundings = [part for part in bent if part.function in ROUNDED]
    floors = [part for part in bent if part.function not in ROUNDED]
    states = {None} if roundings else set(map(sides.bend_is_inactive, floors))
    if not bent or False in states or (roundings and sides.numeric_ratio() is not None):
        return None
    needs = (*map(_reaches, floors), *dict.fromkeys(ROUNDED[part.function] for part in roundings))
    said = " and ".join(needs)
    if None not in states:
        return replace(stands, reason=f"as {said} here")
    return replace(stands, verdict="conditional", needs=needs, reason=f"holds where {said}")


def _reaches(floor: Call) -> str:
    """``x >= 0`` of ``max(x, 0)``."""
    held, least = sorted(floor.args, key=lambda arg: isinstance(arg, Num))
    return f"{text(held)} >= {text(least)}"


WIDER = "4 byte"
"""Another width than the usual ones, to see whether it matters."""


def _at_widths(claim: ClaimSpec, widths: Mapping[str, str], seconds: float) -> Judgement:
    """A formula that writes a plain 2 for the bytes of a number, at those widths: a model says them, else they are a condition."""
    judgement = _formula(with_settings(claim, widths), seconds)
    if judgement.needs:  # those of what another level of detail leaves out do not matter
        widths = {name: width for name, width in widths.items() if _formula(with_settings(claim, {**widths, name: WIDER}), 0).needs != judgement.needs}
    at = ", ".join(f"{name} = {width}" for name, width in widths.items())
    if judgement.verdict == "wrong":
        return replace(judgement, flags=(), reason=f"with {at}")
    if "model" in claim.given:
        return replace(judgement, reason=judgement.reason or f"with {at} here")
    needs = (*judgement.needs, at)
    return replace(judgement, verdict="conditional", needs=needs, reason=f"holds where {'; '.join(needs)}")


def _identity_text(identities: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{name} = {formula}" for name, formula in identities)


def _near(ratio: Fraction | None, limit: Fraction | None) -> bool:
    return ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit)


def _near_at(slip: str, levels: Sequence[DetailLevel], limit: Fraction | None) -> bool:
    """Whether the sides are close in numbers at the level of detail that a slip's text ends with."""
    label = slip.partition(", at ")[2]
    return any(level.label == label and _near(level.sides.numeric_ratio(), limit) for level in levels)


def _shortened(comparison: str) -> str:
    """A comparison cut to a length that fits next to a claim: factors between maxima are too long to be read."""
    return comparison if len(comparison) <= LONGEST_FORMULA else f"{comparison[:LONGEST_FORMULA].rpartition(' ')[0]} …"


BOUND_BY = {"compute_floor_ignored": "memory", "memory_floor_ignored": "compute"}
"""What binds where an arm of the roofline is left out rightly, by the slip that leaves the other out."""


def _unequal_formula(judgement: Judgement, levels: list[DetailLevel], near: bool, explain: bool, end: float) -> Judgement:
    """A formula equal at no level: close in numbers, right where one arm binds or under another way to count that it does not state, or wrong."""
    slips = formula_slips(levels, end) if explain or not near else ()
    together = [slip for slip in slips if slips and slip.text == slips[0].text]
    if len(together) == 1 and slips[0].slip in BOUND_BY and (near or judgement.ratio is None or _near_at(slips[0].text, levels, tolerance_of(judgement.claim))):
        phase = "prefill" if "prefill" in slips[0].text else "decode"
        needs = f"{phase} bound by {BOUND_BY[slips[0].slip]}" + "".join(slips[0].text.partition(", at ")[1:])
        return replace(judgement, verdict="conditional", needs=(needs,), slips=slips, reason=f"holds where {needs.replace(' bound', ' is bound', 1)}")
    if near and judgement.ratio is not None:
        return replace(judgement, verdict="approximate", slips=slips, reason=f"{judgement.reason}; {float(judgement.ratio):.4g} times here")
    if counted_otherwise(slips):
        return replace(judgement, verdict="conditional", needs=(slips[0].cause,), slips=slips, reason=f"holds with {slips[0].text}; {judgement.reason}")
    own = levels[0].own.verdict
    if own == "undecided" and not slips:
        return _by_numbers(judgement, levels[0].sides)
    return replace(judgement, verdict="wrong", flags=("dimension",) if own == "dimension" else (), slips=slips)


def _by_numbers(judgement: Judgement, sides: ClaimedFormula) -> Judgement:
    """A formula of which neither algebra nor random values tell: wrong where numbers of the case do, with values for what it lacks."""
    apart = (judgement.ratio, {}) if judgement.ratio is not None else sides.trial_difference()
    if apart is None:
        return replace(judgement, verdict="unchecked", reason="undecided: algebra is inconclusive, and no trial values show a difference")
    ratio, put = apart
    where = " and ".join(f"{name} = {as_written(name, Num(value))}" for name, value in put.items())
    return replace(judgement, verdict="wrong", reason=f"{float(ratio):.4g} times what is derived {f'where {where}' if where else 'here'}")
