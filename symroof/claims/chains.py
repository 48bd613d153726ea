"""A chain of named steps: every one is worked out from the true ones before it and from the claimed ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symroof.analysis.study import Study, known
from symroof.claims.claim_study import changed, study_of
from symroof.claims.derive_claim import Derived, Known, worked_out
from symroof.claims.judgement import HOLDS, ORDER, Judgement, held, shown
from symroof.claims.read.written_number import Written, read_written
from symroof.claims.slips.explanation import Explanation
from symroof.claims.slips.rank import explain
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec, StepSpec
from symroof.theory.spellings import printed_name
from symroof.units import Dimension, parse_unit, strict

Numbers = dict[str, tuple[Fraction, Dimension]]


def chain(claim: ClaimSpec) -> Judgement:
    """Each step judged twice: does it follow from the numbers written before it, and is it true?

    A step that does not follow makes the chain inconsistent, even where the end is right; steps that all follow from a
    wrong one make it wrong. A step that does not follow is explained like a value of its own.
    """
    study = study_of(claim.given)
    true: Numbers = {}
    said: Numbers = {}
    parts, follows = [], True
    for step in claim.steps:
        derived = _step(step, study, claim, true)
        if not isinstance(derived.value, Fraction):
            return Judgement(claim, "wrong", str(step.value), reason=derived.why, flags=derived.flags)
        written = _written(step, derived)
        part = held(claim, written, derived)
        again = _step(step, study, claim, said)
        fair = isinstance(again.value, Fraction) and written.verdict(again.value) in HOLDS
        follows &= fair
        slips = () if fair or part.verdict in HOLDS else _slips(step, claim, written, again, said)
        parts.append(replace(part, slips=slips, claimed=f"{step.name} {part.claimed}", derived=f"{step.name} {part.derived}"))
        unit = strict(parse_unit(derived.unit).dimension) if derived.unit else ()
        true[step.name] = derived.value, unit
        said[step.name] = written.value if written.value is not None else derived.value, unit
    worst = max(parts, key=lambda part: ORDER.index(part.verdict))
    verdict = worst.verdict if follows else "inconsistent"
    reason = worst.reason if follows else "a step does not follow from the numbers written before it"
    flags = tuple(dict.fromkeys(flag for part in parts for flag in part.flags))
    texts = {name: ", ".join(getattr(part, name) for part in parts) for name in ("claimed", "derived")}
    return Judgement(claim, verdict, texts["claimed"], texts["derived"], flags=flags, reason=reason, slips=_told(parts, claim), parts=tuple(parts))


def _slips(step: StepSpec, claim: ClaimSpec, written: Written, again: Derived, said: Known) -> tuple[Explanation, ...]:
    """What leads from the numbers written before a step to what it says: a step that is wrong only because they are has no slip of its own."""
    given = changed(claim.given, step.given)
    own = ClaimSpec(id=step.name, quantity=step.quantity, expression=step.expression, given=given, value=step.value)
    return explain(own, given, written, again, said)


def _told(parts: list[Judgement], claim: ClaimSpec) -> tuple[Explanation, ...]:
    """The slips of all steps, each with the step it happened in."""
    return tuple(replace(slip, text=f"{step.name}: {slip.text}") for step, part in zip(claim.steps, parts, strict=True) for slip in part.slips)


def _step(step: StepSpec, study: Study, claim: ClaimSpec, before: Known) -> Derived:
    if step.expression:
        return worked_out(step.expression, study_of(changed(claim.given, step.given)) if step.given else study, before)
    if not step.quantity:
        raise InputError(Problem(step.name, "a step needs an expression or a quantity"))
    own = study_of(changed(claim.given, step.given)) if step.given else study
    name = known(printed_name(step.quantity))
    return Derived(own.exact(name), own.first.case.theory.symbol(name).unit, answers=own.first)


def _written(step: StepSpec, derived: Derived) -> Written:
    try:
        return read_written(step.value, derived.unit)
    except ValueError as error:
        raise InputError(Problem(step.name, f"{error}; derived {shown(derived.value, derived.unit)}")) from None
