"""A claim judged: derived anew, held to the precision it was written with, and what it would need to be true."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.claims.chains import chain
from symroof.claims.claim_study import changed, told
from symroof.claims.derive_claim import derived
from symroof.claims.formula_claims import formula
from symroof.claims.judgement import HOLDS, ORDER, Judgement, held, shown
from symroof.claims.read.written_number import read_written
from symroof.claims.unstated_assumptions import explained
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec


def judge(claim: ClaimSpec, raw: str = "") -> Judgement:
    """Judge one claim; ``raw`` is how its value stood in the file.

    A claim that cannot be derived is ``unchecked``, with the reason: nothing is guessed.
    """
    if claim.form == "unchecked":
        return Judgement(claim, "unchecked", reason=claim.unchecked or "")

    try:
        if claim.form == "steps":
            return chain(claim)
        if claim.formula and claim.form in ("quantity", "threshold") and claim.value is None:
            return formula(claim)
        if claim.values:
            return _rows(claim)
        return _settled(claim, claim.given, claim.value, raw)
    except (InputError, ArithmeticError) as error:
        return Judgement(claim, "unchecked", str(claim.value or ""), reason=_why(error))


def _why(error: Exception) -> str:
    """Why something cannot be derived, in a phrase."""
    if not isinstance(error, InputError):
        return str(error)
    problem = error.problems[0]
    return ": ".join(part for part in (problem.path, problem.message) if part)


def _settled(claim: ClaimSpec, given: Mapping[str, Any], value: Any, raw: str = "") -> Judgement:
    """The claim as its text gives it, and where that fails or does not suffice, with what it says it needs.

    A claim that fails as it stands and holds under what it does not say is conditional; that is named and quantified.
    """
    try:
        found = _judged(claim, given, value, raw)
    except (InputError, ArithmeticError) as error:
        unsaid = _unstated(error)
        if unsaid and not claim.needs:
            return _at_any(claim, given, value, raw, unsaid)
        if not claim.needs:
            raise
        found = Judgement(claim, "unchecked", str(value), reason=_why(error))
    if not claim.needs or found.verdict in HOLDS:
        return _explained(claim, found, raw, given, value)
    under = _judged(claim, changed(given, claim.needs), value, raw)
    flags = tuple(dict.fromkeys((*found.flags, *under.flags)))
    if under.verdict not in HOLDS:
        return _explained(claim, replace(under if found.verdict == "unchecked" else found, flags=flags), raw, given, value)
    stands = f"as it stands {found.derived}" if found.derived else f"as it stands it cannot be derived: {found.reason}"
    return replace(found, verdict="conditional", needs=(told(claim.needs),), flags=flags, reason=f"holds with {told(claim.needs)} ({under.derived}); {stands}")


def _judged(claim: ClaimSpec, given: Mapping[str, Any], value: Any, raw: str = "") -> Judgement:
    """The claim under one reading of what is given."""
    found = derived(claim, given)
    if found.value is None:
        return Judgement(claim, "wrong", str(value), found.why, flags=found.flags, reason=found.why)
    try:
        written = read_written(value, found.unit if isinstance(found.value, Fraction) else "", raw)
    except ValueError as error:
        flags = (*found.flags, "dimension") if "but the quantity is" in str(error) else found.flags
        return Judgement(claim, "wrong", str(value), shown(found.value, found.unit), flags=flags, reason=f"the claimed value {error}")
    return held(claim, written, found)


def _rows(claim: ClaimSpec) -> Judgement:
    """A row of a table: each of its values judged, as good as the worst."""
    stated = claim.values.get("value")
    lists = {name: values for name, values in claim.values.items() if name != "value"}
    if not isinstance(stated, (list, tuple)) or any(not isinstance(v, (list, tuple)) or len(v) != len(stated) for v in lists.values()):
        from symroof.errors import Problem

        raise InputError(Problem("values", "needs value and the inputs as lists of one length"))
    parts = []
    for i, value in enumerate(stated):
        given = changed(claim.given, {name: values[i] for name, values in lists.items()})
        parts.append(_settled(claim, given, value))
    worst = max(parts, key=lambda part: ORDER.index(part.verdict))
    flags = tuple(dict.fromkeys(flag for part in parts for flag in part.flags))
    joined = {name: ", ".join(getattr(part, name) for part in parts) for name in ("claimed", "derived")}
    return replace(worst, claimed=joined["claimed"], derived=joined["derived"], flags=flags, parts=tuple(parts))


UNSTATED = {"prompt": (1, 4096, 131072)}
"""Inputs that texts leave out because they hardly matter, and the values over which that is tried, the least first."""
MISSING = re.compile(r"needs (\w+)$")


def _unstated(error: Exception) -> str | None:
    """The input that is missing, where it is one that texts leave out."""
    found = MISSING.search(_why(error))
    return found[1] if found and found[1] in UNSTATED else None


def _at_any(claim: ClaimSpec, given: Mapping[str, Any], value: Any, raw: str, name: str) -> Judgement:
    """A claim whose text leaves an input out: judged where it matters least, and conditional where it would matter more."""
    tried = [_judged(claim, changed(given, {name: point}), value, raw) for point in UNSTATED[name]]
    least = tried[0]
    if least.verdict in HOLDS and all(one.verdict in HOLDS for one in tried):
        return replace(least, reason=f"{name} is not stated, and holds for any from {UNSTATED[name][0]:,} to {UNSTATED[name][-1]:,}")
    if least.verdict in HOLDS:
        return replace(
            least, verdict="conditional", needs=(f"a {name} so short that it does not matter",), reason=f"{name} is not stated: {least.derived} without it"
        )
    if len({one.derived for one in tried}) == 1:  # it does not matter at all: the claim is wrong whatever it is
        return _explained(claim, least, raw, changed(given, {name: UNSTATED[name][0]}), value)
    return Judgement(claim, "unchecked", least.claimed, reason=f"needs {name}, which is not stated, and what is claimed moves with it")


def _explained(claim: ClaimSpec, found: Judgement, raw: str, given: Mapping[str, Any], value: Any) -> Judgement:
    """A claim that misses its value, with what leads to what it says."""
    return explained(claim, found, raw, given, value, lambda changes: _judged(claim, changed(given, changes), value, raw))
