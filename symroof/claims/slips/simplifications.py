"""How texts count more simply than everything: a plainer detail, and the parameters rounded as a model's name has them (70e9, 8.03e9)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import Settings, study_of
from symroof.claims.slips.context import FAILURES
from symroof.claims.slips.predictions import rounded
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.printing import number_text
from symroof.theory.switches import DETAIL, expand_detail

SIMPLIFIED_FORMS = frozenset({"quantity", "threshold", "compare"})
"""Forms whose value depends on how everything is counted."""
SIMPLIFICATIONS: tuple[dict[str, str], ...] = (
    *({"detail": level} for level in reversed(DETAIL) if level != "exact"),
    {"detail": "attention", "attention": "full"},
)
"""The plainest first."""
NAME_DIGITS = (1, 2, 3)
"""Digits to which people round the parameters of a model."""
PARALLEL = ("tp", "pp", "ep", "attention_dp")
NO_LINKS = {"prefill_link_time": "0 s", "decode_link_time": "0 s"}
"""Settings under which what devices send to each other takes no time, as texts count that divide by the devices."""
DENSE_SHARE = Fraction(3, 4)
"""The share of the parameters that a token of a dense model multiplies at least: all but the input table."""


def simplified_settings(claim: ClaimSpec) -> list[dict[str, Any]]:
    """Settings under which a claim would be counted more simply, the plainest first; none where it says how it counts.

    >>> simplified_settings(ClaimSpec(id="t", quantity="itl", given={"params": "70e9"}, value="1 s"))[:2]
    [{'assume': {'detail': 'weights'}}, {'assume': {'detail': 'kv'}}]
    """
    if claim.form not in SIMPLIFIED_FORMS or claim.needs or "preset" in claim.given:
        return []
    chosen = expand_detail(
        {str(name): str(value) for name, value in claim.given.get("assume", {}).items()}
    )
    plain = [
        {"assume": switches}
        for switches in SIMPLIFICATIONS
        if not expand_detail(switches).keys() & chosen.keys()
    ]
    return [*plain, *({**settings, **NO_LINKS} for settings in plain if uses_links(claim))]


def uses_links(claim: ClaimSpec) -> bool:
    """Whether a claim is of several devices that send to each other in a step."""
    return any(str(claim.given.get(name, 1)) != "1" for name in PARALLEL)


def with_round_params(claim: ClaimSpec, settings: Settings) -> Iterator[dict[str, Any]]:
    """The same settings with the parameters of the claim's model to few digits; none of one whose tokens do not multiply them all.

    >>> claim = ClaimSpec(id="t", quantity="itl", given={"model": "llama-3-8b"}, value="1 s")
    >>> [settings["params"] for settings in with_round_params(claim, {})]
    ['8e9', '8.03e9']
    """
    if "params" in claim.given or "model" not in claim.given:
        return
    try:
        case = study_of(claim.given).first.case
        true, active = case.value("params"), case.value("active_params")
    except FAILURES:
        return
    if active > true * DENSE_SHARE:
        for value in dict.fromkeys(rounded(true, digits) for digits in NAME_DIGITS):
            if value != true:
                yield {**settings, "params": number_text(value)}
