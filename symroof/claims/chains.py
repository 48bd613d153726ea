"""A chain of named steps: every one is worked out from the true ones before it and from the claimed ones."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.claims.claim_settings import study_of, with_settings
from symroof.claims.derive_claim import Derived, Steps, derive_expression, quantity_name
from symroof.claims.judgement import HOLDS, Judgement, compared, joined, value_text, worst
from symroof.claims.read.written_number import WrittenNumber, read_written
from symroof.claims.slips.explain import explain
from symroof.claims.slips.explanation import SlipExplanation
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec, StepSpec
from symroof.symbolic.expressions import names
from symroof.symbolic.reading import parse
from symroof.units import Dimension, parse_unit, strict


def chain(claim: ClaimSpec) -> Judgement:
    """Each step judged twice: does it follow from the numbers written before it, and is it true?

    A step that does not follow makes the chain inconsistent, even where the end is right; steps that all follow from a
    wrong one make it wrong. A step that does not follow is explained like a value of its own.
    """
    study = study_of(claim.given)
    true: dict[str, tuple[Fraction, Dimension]] = {}
    stated: dict[str, tuple[Fraction, Dimension]] = {}
    parts: list[Judgement] = []
    unsound: list[int] = []
    for step in claim.steps:
        result = _derived(step, claim, study, true)
        if result.value is None:
            return Judgement(
                claim, "wrong", str(step.value), reason=result.reason, flags=result.flags
            )
        written = _written(step, result)
        part = compared(claim, written, result)
        if result.number is None:  # a truth or a label, which no later step can calculate with
            parts.append(
                replace(
                    part,
                    claimed=f"{step.name} {part.claimed}",
                    derived=f"{step.name} {part.derived}",
                )
            )
            continue
        again = _derived(step, claim, study, stated)
        sound = again.number is not None and written.verdict(again.number) in HOLDS
        unsound += [] if sound else [len(parts)]
        slips = (
            () if sound or part.verdict in HOLDS else _slips(step, claim, written, again, stated)
        )
        parts.append(
            replace(
                part,
                slips=slips,
                claimed=f"{step.name} {part.claimed}",
                derived=f"{step.name} {part.derived}",
            )
        )
        unit = strict(parse_unit(result.unit).dimension) if result.unit else ()
        true[step.name] = result.number, unit
        stated[step.name] = written.value if written.value is not None else result.number, unit
    verdict, reason = (
        (worst(parts).verdict, worst(parts).reason)
        if not unsound
        else ("inconsistent", f"{_does_not_follow(parts, unsound)}")
    )
    if late := _resting(claim, parts):
        reason = "; ".join(filter(None, (reason, f"passed on to {', '.join(late)}")))
    slips = tuple(
        replace(slip, text=f"{step.name}: {slip.text}")
        for step, part in zip(claim.steps, parts, strict=True)
        for slip in part.slips
    )
    return Judgement(claim, verdict, reason=reason, slips=slips, **joined(parts))


def _does_not_follow(parts: Sequence[Judgement], unsound: Sequence[int]) -> str:
    first = parts[unsound[0]]
    return f"a step does not follow from the numbers written before it: {first.claimed}" + (
        f", where {first.derived} comes out" if len(parts) == 1 else ""
    )


def _resting(claim: ClaimSpec, parts: Sequence[Judgement]) -> list[str]:
    """The steps that use the number of the first wrong step, or of one that does, and so inherit its error."""
    wrong = next((i for i, part in enumerate(parts) if part.verdict not in HOLDS), None)
    if wrong is None:
        return []
    reached, late = {claim.steps[wrong].name}, []
    for step in claim.steps[wrong + 1 :]:
        if step.expression and reached & set(names(parse(step.expression))):
            reached.add(step.name)
            late.append(step.name)
    return late


def _slips(
    step: StepSpec, claim: ClaimSpec, written: WrittenNumber, again: Derived, stated: Steps
) -> tuple[SlipExplanation, ...]:
    """What leads from the numbers written before a step to its own: a step that is wrong only because they are has no slip of its own."""
    given = with_settings(claim, step.given).given
    own = ClaimSpec(
        id=step.name,
        quantity=step.quantity,
        expression=step.expression,
        given=given,
        value=step.value,
    )
    return explain(own, written, again, stated)


def _derived(step: StepSpec, claim: ClaimSpec, study: Study, before: Steps) -> Derived:
    if step.given:
        study = study_of(with_settings(claim, step.given).given)
    if step.expression:
        return derive_expression(step.expression, study, before)
    if not step.quantity:
        raise InputError(Problem(step.name, "a step needs an expression or a quantity"))
    name = quantity_name(step.quantity, claim.given)
    return Derived(
        study.result(name).value,
        study.first.case.theory.symbol(name).unit,
        flags=study.result(name).flags,
        answers=study.first,
    )


def _written(step: StepSpec, result: Derived) -> WrittenNumber:
    try:
        return read_written(step.value, result.unit)
    except ValueError as error:
        raise InputError(
            Problem(step.name, f"{error}; derived {value_text(result.value, result.unit)}")
        ) from None
