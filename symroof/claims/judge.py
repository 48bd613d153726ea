"""Judge a claim: derive it independently, compare it at its written precision, and find the assumptions under which it would be true."""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from symroof.claims.chains import chain
from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.denominators import denominator_text, is_per_time, with_denominator
from symroof.claims.derive_claim import derived, forget_derived
from symroof.claims.formula_claims import judge_formula
from symroof.claims.judgement import HOLDS, Judgement, compared, flags_of, joined, value_text, worst
from symroof.claims.read.written_number import DimensionMismatch, read_written
from symroof.claims.roof_share import with_roof_share
from symroof.claims.slips.explanation import SlipExplanation, agreeing_ranges, chance
from symroof.claims.unstated_assumptions import explain_failure
from symroof.claims.unused_dimensions import check_dimensions_used
from symroof.errors import InputError, NoValueHere, Problem
from symroof.specs.claims import ClaimSpec
from symroof.theory.declarations import MissingInput
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
    forget_derived()
    try:
        check_dimensions_used(claim, shared)
        if claim.form == "steps":
            return chain(claim)
        if claim.formula and claim.form in ("quantity", "threshold"):
            return judge_formula(claim) if claim.value is None else _formula_and_value(claim)
        return replace(
            _row(claim)
            if claim.values
            else with_roof_share(_judged_with_needs(with_denominator(claim))),
            claim=claim,
        )
    except (InputError, ArithmeticError) as error:
        reason, fault = (
            _why(error),
            error if isinstance(error, InputError) and not isinstance(error, NoValueHere) else None,
        )
        return Judgement(claim, "unchecked", str(claim.value or ""), reason=reason, error=fault)
    except UnknownName as error:
        return Judgement(
            claim,
            "unchecked",
            str(claim.value or ""),
            reason=f"unknown name {error.args[0]!r}: this model has no such part",
        )
    except Exception as error:
        return failed_judgement(claim, error)


def _formula_and_value(claim: ClaimSpec) -> Judgement:
    """A claim of a formula and of its value: as good as the worse of the two."""
    alone = {
        "formula": claim.model_copy(update={"value": None}),
        "value": claim.model_copy(update={"formula": None}),
    }
    formula, value = (judge(one) for one in alone.values())
    worse = worst([value, formula])
    if worse is value or worse.error is not None:
        return replace(worse, claim=claim)
    return replace(
        worse,
        claim=claim,
        claimed=value.claimed,
        reason="; ".join(filter(None, (f"of the formula {claim.formula}", worse.reason))),
        parts=(value, formula),
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
    if (
        not isinstance(stated, (list, tuple))
        or not stated
        or any(not isinstance(v, (list, tuple)) or len(v) != len(stated) for v in lists.values())
    ):
        raise InputError(
            Problem(
                "values",
                "needs value and the inputs as lists of one length, with something in them",
            )
        )
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
        missing = (
            error.missing
            if isinstance(error, NoValueHere)
            else error.name
            if isinstance(error, MissingInput)
            else ""
        )
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
        return explain_failure(
            claim, replace(needing if own.verdict == "unchecked" else own, flags=flags), _judged
        )
    stands = f"otherwise {own.derived or f'it cannot be derived: {own.reason}'}"
    needs = settings_text(claim.needs)
    return replace(
        own,
        verdict="conditional",
        needs=(needs,),
        flags=flags,
        reason=f"holds with {needs} ({needing.derived}); {stands}",
    )


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
        return Judgement(
            claim, "wrong", str(value), result.reason, flags=result.flags, reason=result.reason
        )
    try:
        written = read_written(value, result.unit if result.number is not None else "")
    except DimensionMismatch as error:
        flags = (*result.flags, "dimension")
        return Judgement(
            claim,
            "wrong",
            str(value),
            value_text(result.value, result.unit),
            flags=flags,
            reason=f"the claimed value {error}",
        )
    except ValueError as error:
        reason = f"the claimed value cannot be read: {error}"
        return Judgement(
            claim,
            "unchecked",
            str(value),
            value_text(result.value, result.unit),
            flags=result.flags,
            reason=reason,
        )
    return compared(claim, written, result)


def _judged_without_input(claim: ClaimSpec, name: str) -> Judgement:
    """A claim whose text leaves an input out: judged where it matters least, and conditional where it would matter more."""
    points = UNSTATED[name]
    tried = [_judged(with_settings(claim, {name: point})) for point in points]
    least = tried[0]
    if all(one.verdict in HOLDS for one in tried):
        return replace(
            least,
            reason=f"{name} is not stated, and the claim holds for any from {points[0]:,} to {points[-1]:,}",
        )
    if least.verdict in HOLDS:
        needs = f"a {name} so short that it does not matter"
        return replace(
            least,
            verdict="conditional",
            needs=(needs,),
            reason=f"{name} is not stated: {least.derived} without it",
        )
    if (
        len({one.derived for one in tried}) == 1
    ):  # it does not matter at all: the claim is wrong whatever it is
        return explain_failure(with_settings(claim, {name: points[0]}), least, _judged)
    return Judgement(
        claim,
        "unchecked",
        least.claimed,
        reason=f"needs {name}, which is not stated and changes the result",
    )
