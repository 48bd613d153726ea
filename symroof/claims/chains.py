"""A chain of named steps: every one is worked out from the true ones before it and from the claimed ones."""

from dataclasses import replace
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.claims.checked import HOLDS, Checked, compared, joined, value_text, worst
from symroof.claims.claim_settings import study_of, with_settings
from symroof.claims.derive_claim import Derived, Steps, derive_expression, quantity_name
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explain import explain
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec, StepSpec
from symroof.units import Dimension, parse_unit, strict


def chain(claim: ClaimSpec) -> Checked:
    """Each step judged twice: does it follow from the numbers written before it, and is it true?

    A step that does not follow makes the chain inconsistent, even where the end is right; steps that all follow from a
    wrong one make it wrong. A step that does not follow is explained like a value of its own.
    """
    study = study_of(claim.given)
    true: dict[str, tuple[Fraction, Dimension]] = {}
    stated: dict[str, tuple[Fraction, Dimension]] = {}
    parts: list[Checked] = []
    unsound: list[Checked] = []
    for step in claim.steps:
        result = _derived(step, claim, study, true)
        if result.value is None:
            reason = result.reason
            return Checked(claim, "wrong", str(step.value), reason=reason, flags=result.flags)
        try:
            written = read_written(step.value, result.unit)
        except ValueError as error:
            message = f"{error}; derived {value_text(result.value, result.unit)}"
            raise InputError(Problem(step.name, message)) from None
        part = compared(claim, written, result)
        claimed, shown = f"{step.name} {part.claimed}", f"{step.name} {part.derived}"
        parts.append(replace(part, claimed=claimed, derived=shown))
        if result.number is None:  # a truth or a label, which no later step can calculate with
            continue
        again = _derived(step, claim, study, stated)
        if again.number is None or written.verdict(again.number) not in HOLDS:
            unsound.append(parts[-1])
            if part.verdict not in HOLDS:  # a step that is wrong as those before it are has no slip
                own = ClaimSpec(
                    id=step.name,
                    quantity=step.quantity,
                    expression=step.expression,
                    given=with_settings(claim, step.given).given,
                    value=step.value,
                )
                parts[-1] = replace(parts[-1], slips=explain(own, written, again, stated))
        unit = strict(parse_unit(result.unit).dimension) if result.unit else ()
        true[step.name] = result.number, unit
        stated[step.name] = written.value if written.value is not None else result.number, unit
    verdict, reason = worst(parts).verdict, worst(parts).reason
    if unsound:
        reason = f"a step does not follow from the numbers written before it: {unsound[0].claimed}"
        reason += f", where {unsound[0].derived} comes out" if len(parts) == 1 else ""
        verdict = "inconsistent"
    slips = tuple(
        replace(slip, text=f"{step.name}: {slip.text}")
        for step, part in zip(claim.steps, parts, strict=True)
        for slip in part.slips
    )
    return Checked(claim, verdict, reason=reason, slips=slips, **joined(parts))


def _derived(step: StepSpec, claim: ClaimSpec, study: Study, before: Steps) -> Derived:
    if step.given:
        study = study_of(with_settings(claim, step.given).given)
    if step.expression:
        return derive_expression(step.expression, study, before)
    if not step.quantity:
        raise InputError(Problem(step.name, "a step needs an expression or a quantity"))
    result = study.result(quantity_name(step.quantity, claim.given))
    return Derived(result.value, result.symbol.unit, flags=result.flags, answers=study.first)
