"""A claim that misses its value: right under something it does not say, or wrong, with the slips that lead to what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from symroof.claims.claim_study import told
from symroof.claims.read.written_number import BOUND, read_written
from symroof.claims.simplifications import Simplified, simplification
from symroof.claims.slips.explanation import Explanation
from symroof.claims.slips.rank import explanations
from symroof.claims.slips.round_efficiencies import round_share
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec

if TYPE_CHECKING:
    from symroof.claims.judgement import Judgement

Under = Callable[[dict[str, Any]], "Judgement"]
"""The claim judged with changes of its case."""

LIKE_A_SHARE = frozenset({"mac_vs_flop"})
"""Slips whose factor a round efficiency has too: of the two, that half the peak is reached is what texts leave unsaid."""
COUNTED = frozenset({"quantity", "threshold", "compare"})
"""Forms whose value hangs on how everything is counted."""
UNSAID = frozenset({"kv_ignored", "attention_ignored", "causal_factor"})
"""Slips that are another way to count rather than an error: a claim that one of them explains is right under what it does not say."""
RIGHT = ("exact", "rounded")


def counted_otherwise(slips: Sequence[Explanation]) -> bool:
    """Whether the first explanation is another way to count and nothing else; of two slips at once, both have one text."""
    return bool(slips) and all(slip.named and slip.slip in UNSAID for slip in slips if slip.text == slips[0].text)


def explained(claim: ClaimSpec, found: Judgement, raw: str, given: Mapping[str, Any], value: Any, under: Under) -> Judgement:
    """A claim that misses its value, with the slips that lead to what it says; a tolerance that the text states is no slip.

    Of a simplification and a slip that both explain it, the one counts that random errors agree with less often.
    """
    missed = found.verdict == "wrong" or (found.verdict == "approximate" and claim.tolerance is None)
    if not missed:
        return found
    found = replace(found, slips=explanations(claim, given, value, raw))
    if found.verdict != "wrong":
        return found
    first = found.slips[0] if found.slips and found.slips[0].named else None
    if first is not None and counted_otherwise(found.slips):
        return replace(found, verdict="conditional", needs=(first.text,), reason=f"holds where {first.text}")
    if (simple := _simplified(claim, found, raw, given, value, under)) and (first is None or simple.chance <= first.chance):
        said = told({"assume": simple.choices})
        return replace(found, verdict="conditional", needs=(said,), reason=f"holds at {said}; as it stands {found.derived}")
    if (first is None or first.slip in LIKE_A_SHARE) and claim.form == "quantity" and not BOUND.match(found.claimed):
        share = round_share(given, found.tolerance, lambda changes: under(changes).verdict in RIGHT)
        if share:
            return replace(found, verdict="conditional", needs=(told(share),), reason=f"holds with {told(share)}; as it stands {found.derived}")
    return found


def _simplified(claim: ClaimSpec, found: Judgement, raw: str, given: Mapping[str, Any], value: Any, under: Under) -> Simplified | None:
    """The simplification of textbooks at which a wrong claim is right."""
    if claim.form not in COUNTED or claim.needs or found.value is None:
        return None
    try:
        written = read_written(value, found.unit, raw)
        return simplification(given, written, found.value, lambda changes: ((one := under(changes)).value, one.verdict in RIGHT))
    except (InputError, ArithmeticError, ValueError):
        return None
