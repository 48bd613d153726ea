"""Judge a claim: derive it independently, compare it at its written precision, and find the assumptions under which it would be true."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from symroof.claims.checked import HOLDS, Checked, compared, flags_of, joined, value_text, worst
from symroof.claims.claim_settings import (
    merged_settings,
    settings_text,
    study_of,
    with_settings,
    with_study_settings,
)
from symroof.claims.denominators import TIMES, denominators_of
from symroof.claims.derive_claim import derived
from symroof.claims.explain_slips import SlipExplanation, agreeing_ranges, chance, explain
from symroof.claims.formula_claims import judge_formula
from symroof.claims.numbers import figures
from symroof.claims.slips import FAILURES, Context
from symroof.claims.unstated_assumptions import explain_failure, with_roof_share
from symroof.claims.written_number import DimensionMismatch, read_written
from symroof.errors import InputError, NoValueHere, Problem
from symroof.specs.claims import ClaimSpec
from symroof.theory.declarations import MissingInput
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import ARCHITECTURE, base_name, canonical
from symroof.theory.theory import UnknownName
from symroof.units import Dimension, describe, parse_unit, strict

UNSTATED = {"prompt": (1, 4096, 131072)}
"""Inputs that texts leave out because they hardly matter, and the values over which that is tried, the least first."""

RATE_ALONE = "; decode_throughput, the rate of decoding alone, needs none"


def judge(claim: ClaimSpec, shared: Collection[str] = (), folder: Path | None = None) -> Checked:
    """Judge one claim; ``shared`` are the settings that are defaults of its file, in whose ``folder`` paths begin.

    A claim that cannot be derived is ``unchecked``, with the reason: nothing is guessed. Nothing is raised, whatever fails: one
    failing claim never affects the others.
    """
    if claim.form == "unchecked":
        return Checked(claim, "unchecked", reason=claim.unchecked or "")
    try:
        claim = with_study_settings(claim, folder)
        check_dimensions_used(claim, shared)
        if claim.form == "steps":
            return chain(claim)
        if claim.formula and claim.form in ("quantity", "threshold"):
            return judge_formula(claim) if claim.value is None else _formula_and_value(claim)
        if claim.values:
            return _row(claim)
        return replace(with_roof_share(_with_needs(with_denominator(claim))), claim=claim)
    except (InputError, ArithmeticError) as error:
        fault = None if isinstance(error, ArithmeticError | NoValueHere) else error
        return _unchecked(claim, _why(error), fault)
    except UnknownName as error:
        return _unchecked(claim, f"unknown name {error.args[0]!r}: this model has no such part")
    except Exception as error:
        return failed_judgement(claim, error)


def _unchecked(claim: ClaimSpec, reason: str, error: Exception | None = None) -> Checked:
    said, number = str(claim.value or ""), None
    if said:  # in a unit of its own, to be compared with other claims
        own = figures(said)[:1]
        unit = describe(own[0].dimension) if own and own[0].dimension else ""
        with suppress(ValueError):
            number = read_written(claim.value, unit)
    return Checked(claim, "unchecked", said, reason=reason, error=error, number=number)


def failed_judgement(claim: ClaimSpec, error: Exception) -> Checked:
    """A claim in which symroof itself failed."""
    reason = f"symroof itself failed in this claim: {type(error).__name__}: {str(error)[:200]}"
    return _unchecked(claim, reason, error)


def _why(error: Exception) -> str:
    """Why something cannot be derived, in a phrase."""
    if not isinstance(error, InputError):
        return str(error)
    said = ": ".join(filter(None, (error.problems[0].path, error.problems[0].message)))
    asked = isinstance(error, NoValueHere) and (error.problems[0].file, error.missing)
    return said + RATE_ALONE * (asked == ("sustained_throughput", "output"))


def _formula_and_value(claim: ClaimSpec) -> Checked:
    """A claim of a formula and of its value: as good as the worse of the two."""
    formula = judge(claim.model_copy(update={"value": None}))
    value = judge(claim.model_copy(update={"formula": None}))
    worse = replace(worst([value, formula]), claim=claim, factor=formula.factor)
    if worse.error is not None or worse.verdict == value.verdict:
        return worse
    reason = "; ".join(filter(None, (f"of the formula {claim.formula}", worse.reason)))
    parts = (value, formula)
    return replace(worse, claimed=value.claimed, number=value.number, reason=reason, parts=parts)


def _row(claim: ClaimSpec) -> Checked:
    """A row of a table: each of its values judged, as good as the worst."""
    lists, stated = dict(claim.values), claim.values.get("value")
    several = all(isinstance(values, (list, tuple)) for values in lists.values())
    if not stated or not several or len({len(values) for values in lists.values()}) > 1:
        message = "needs value and the inputs as lists of one length, with something in them"
        raise InputError(Problem("values", message))
    del lists["value"]
    parts = []
    for i, value in enumerate(stated):
        cell = with_settings(claim, {name: values[i] for name, values in lists.items()})
        parts.append(_with_needs(with_denominator(cell.model_copy(update={"value": value}))))
    return replace(worst(parts), claim=claim, **joined(parts))


def _with_needs(claim: ClaimSpec) -> Checked:
    """The claim under the settings its text states, and where that fails or does not suffice, with its ``needs``.

    A claim that fails as stated and holds under an unstated assumption is conditional; the assumption is named and quantified.
    """
    try:
        own = _judged(claim)
        if claim.per and own.verdict not in HOLDS and (other := _of_the_whole(claim, own)):
            return other
    except (InputError, ArithmeticError) as error:
        if not claim.needs:
            missing = error.missing if isinstance(error, NoValueHere) else ""
            missing = error.name if isinstance(error, MissingInput) else missing
            if missing in UNSTATED:
                return _without_input(claim, missing)
            raise
        own = _unchecked(claim, _why(error))
    if claim.needs:  # its names are checked where it is not needed too
        study_of(with_settings(claim, claim.needs).given)
    if not claim.needs or own.verdict in HOLDS:
        return explain_failure(own)
    needing = _judged(with_settings(claim, claim.needs))
    own = replace(own, flags=flags_of(own, needing))
    if needing.verdict not in HOLDS:
        return explain_failure(own)
    stands = f"otherwise {own.derived or f'it cannot be derived: {own.reason}'}"
    needs = settings_text(claim.needs)
    reason = f"holds with {needs} ({needing.derived}); {stands}"
    return own.conditional(needs, reason)


def with_denominator(claim: ClaimSpec) -> ClaimSpec:
    """A claim of a quantity with what its number is of: as it says itself, or by the words around the number.

    >>> with_denominator(ClaimSpec(id="w", quantity="weight_bytes", value="141 GB per GPU")).per
    'device'
    >>> with_denominator(ClaimSpec(id="w", quantity="weight_bytes", says="Every GPU holds 141 GB.", value="141 GB")).per
    'device'
    """
    if claim.form != "quantity" or claim.per is not None or claim.value is None:
        return claim
    own = figures(str(claim.value))
    # of 1K tokens the thousand is a number of its own
    if not own or (len(own) > 1 and not own[0].denominators):
        return claim
    said = (own[0].number, own[0].unit.partition("/")[0])
    every = (one for one in figures(claim.says) if (one.number, one.unit.partition("/")[0]) == said)
    of = own[0].denominators or next((one.denominators for one in every), ())
    return claim.model_copy(update={"per": " per ".join(map(str, of))}) if of else claim


def _of_the_whole(claim: ClaimSpec, own: Checked) -> Checked | None:
    """A claim whose number is right, but of something else than the words around it say; None where it is not."""
    whole = _judged(claim.model_copy(update={"per": ""}))
    per = denominators_of(claim)
    another_time = "dimension" in own.flags and any(one.kind in TIMES for one in per)
    if not another_time and (whole.verdict not in HOLDS or whole.derived == own.derived):
        return None
    of = " of a ".join(map(str, reversed(per)))
    share = 0.0
    text = f"{whole.derived} is the {printed_name(claim.quantity or '')} as a whole; per {of} it is {own.derived}"
    if another_time:
        text = f"the number is of another time or thing than {claim.quantity}, which is {whole.derived}"
    elif (value := read_written(claim.value, whole.unit)).value and whole.value and own.value:
        ranges = agreeing_ranges([whole.value], value)
        share = chance(float(value.number), float(own.value), ranges)
    slip = SlipExplanation("denominator", True, whole.value or Fraction(0), share, text)
    return replace(own, verdict="wrong", reason="", slips=(slip,))


def _judged(claim: ClaimSpec) -> Checked:
    """The claim under its settings as they are."""
    result, value = derived(claim), claim.value
    if result.value is None:
        found = Checked(claim, "wrong", str(value), result.reason, reason=result.reason)
        return replace(found, flags=result.flags, found=result)
    shown = value_text(result.value, result.unit)
    found = Checked(claim, "wrong", str(value), shown, flags=result.flags, found=result)
    try:
        written = read_written(value, result.unit if result.number is not None else "")
    except DimensionMismatch as error:
        flags = (*result.flags, "dimension")
        return replace(found, flags=flags, reason=f"the claimed value {error}")
    except ValueError as error:
        reason = f"the claimed value cannot be read: {error}"
        return replace(found, verdict="unchecked", reason=reason)
    return compared(claim, written, result)


def _without_input(claim: ClaimSpec, name: str) -> Checked:
    """A claim whose text leaves an input out: judged where it matters least, and conditional where it would matter more."""
    points = UNSTATED[name]
    tried = [_judged(with_settings(claim, {name: point})) for point in points]
    least, ends = tried[0], f"{points[0]:,} to {points[-1]:,}"
    if all(one.verdict in HOLDS for one in tried):
        reason = f"{name} is not stated, and the claim holds for any from {ends}"
        return replace(least, reason=reason)
    if least.verdict in HOLDS:
        needs = f"a {name} so short that it does not matter"
        return least.conditional(needs, f"{name} is not stated: {least.derived} without it")
    if len({one.derived for one in tried}) == 1:  # it is wrong whatever the input is
        return explain_failure(least)
    reason = f"needs {name}, which is not stated and changes the result"
    return _unchecked(claim, reason)


DENSE = frozenset(
    "n_layers d_model n_heads n_kv_heads head_dim d_ff ffn_matrices vocab_size".split()  # noqa: SIM905
)
"""Dimensions that every formula without a model may use; all others take effect through layers that have such a part."""
OF_LAYERS = frozenset({symbol.name for symbol in ARCHITECTURE} - DENSE | {"active_params"})
LAYERS = "layers: [{count: 61, attention: {kind: mla, …}, …}]"


def check_dimensions_used(claim: ClaimSpec, shared: Collection[str] = ()) -> None:
    """Check that a claim uses the dimensions it states; ``shared`` names are defaults of its file, which may stay unused.

    Raises:
        InputError: one of them changes nothing, for no layer has such a part.

    >>> claim = ClaimSpec(id="kv", quantity="kv_bytes_per_token", given={"kv_lora_rank": 512, "n_layers": 61, "n_kv_heads": 1, "head_dim": 1}, value="1 kB")
    >>> try:
    ...     check_dimensions_used(claim)
    ... except InputError as error:
    ...     error.problems[0].message
    'kv_lora_rank cannot be used: no model or layers with such a part are given'
    """
    forms = ("quantity", "relation", "compare", "expression")
    if claim.formula or claim.form not in forms or "layers" in claim.given:
        return
    # the two totals describe a model, of which a claim may need one
    described = {"active_params"} if "params" in claim.given else set()
    partial = [name for name in claim.given if canonical(name) in OF_LAYERS - described]
    try:
        needed = Context(claim, Fraction(1), "").dependencies if partial else None
    except FAILURES:
        needed = frozenset()
    for name in partial:
        if needed is not None and name not in shared and base_name(canonical(name)) not in needed:
            message = f"{name} cannot be used: no model or layers with such a part are given"
            raise InputError(Problem(name, message, hint=f"name a model, or write {LAYERS}"))


# -------------------------------------------------------------------------------------- chains


def chain(claim: ClaimSpec) -> Checked:
    """Each step judged twice: does it follow from the numbers written before it, and is it true?

    A step that does not follow makes the chain inconsistent, even where the end is right; steps that all follow from a
    wrong one make it wrong. A step that does not follow is explained like a value of its own.
    """
    true: dict[str, tuple[Fraction, Dimension]] = {}
    stated: dict[str, tuple[Fraction, Dimension]] = {}
    parts: list[Checked] = []
    unsound: list[Checked] = []
    for step in claim.steps:
        if bool(step.expression) == bool(step.quantity):
            raise InputError(Problem(step.name, "a step needs an expression or a quantity"))
        fields = {"quantity": step.quantity, "expression": step.expression, "value": step.value}
        own = ClaimSpec(id=step.name, given=merged_settings(claim.given, step.given), **fields)
        result = derived(own, true)
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
        parts.append(replace(part, claimed=claimed, derived=shown, number=None))
        if result.number is None:  # a truth or a label, which no later step can calculate with
            continue
        again = derived(own, stated)
        if again.number is None or written.verdict(again.number) not in HOLDS:
            unsound.append(parts[-1])
            if part.verdict not in HOLDS:  # a step that is wrong as those before it are has no slip
                parts[-1] = replace(parts[-1], slips=explain(own, written, again, stated))
        unit = strict(parse_unit(result.unit).dimension) if result.unit else ()
        true[step.name] = result.number, unit
        stated[step.name] = written.value if written.value is not None else result.number, unit
    verdict, reason = worst(parts).verdict, worst(parts).reason
    if unsound:
        reason = f"a step does not follow from the numbers written before it: {unsound[0].claimed}"
        reason += f", where {unsound[0].derived} comes out" if len(parts) == 1 else ""
        verdict = "inconsistent"
    of_steps = zip(claim.steps, parts, strict=True)
    every = ((step.name, slip) for step, part in of_steps for slip in part.slips)
    slips = tuple(replace(slip, cause=f"{name}: {slip.cause}") for name, slip in every)
    return Checked(claim, verdict, reason=reason, slips=slips, **joined(parts))
