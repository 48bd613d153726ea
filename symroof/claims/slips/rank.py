"""Why a claim is wrong: the slips that lead to exactly what was written, and how far each explanation can be trusted.

A checker that can explain anything explains nothing. One change explains a claim; two do only where the claim has four
digits or more and no single one does. An explanation is named where a random error of that size would seldom have found
one; else it is suggested. What has a free parameter is only ever suggested.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symroof.claims.derive_claim import Derived, Known, derived
from symroof.claims.read.written_number import Written, read_written
from symroof.claims.slips import digit_slips as digits
from symroof.claims.slips.apply import Prediction, combined, predictions
from symroof.claims.slips.coincidence import chance, spans
from symroof.claims.slips.context import Scene, scene_of
from symroof.claims.slips.explanation import SELDOM, Explanation, times
from symroof.claims.slips.free_parameters import fitted
from symroof.claims.slips.inverse_unit import upside_down
from symroof.claims.slips.label_slips import flipped
from symroof.claims.slips.slip_catalogue import CATALOGUE
from symroof.specs.claims import ClaimSpec

SELDOM_IN_PAIRS = 0.06
"""The same where two slips are needed: there are so many pairs."""
PAIRED_DIGITS = 4
"""Digits from which on a claim is fine enough for two slips at once, or for one wrong digit."""
MOST_CHANGES = 14
"""Changes of the case that are tried two by two."""
MOST_SUGGESTIONS = 3


def explanations(claim: ClaimSpec, given: Mapping[str, Any], value: Any, raw: str = "") -> tuple[Explanation, ...]:
    """The slips behind a claimed value as it stands in its file; a value of the inverse dimension is a ratio upside down, and a
    bound, a truth or a label is only ever suggested one."""
    found = derived(claim, given)
    if found.value is None:
        return ()
    try:
        written = read_written(value, found.unit if isinstance(found.value, Fraction) else "", raw)
    except ValueError:
        return upside_down(value, found, raw) if isinstance(found.value, Fraction) else ()
    if claim.for_all and (written.operator or written.word is not None):
        return ()  # a range has room for too many changes to tell one from another
    if written.operator or written.word is not None:
        return flipped(claim, given, written, found)
    return explain(claim, given, written, found)


def explain(claim: ClaimSpec, given: Mapping[str, Any], written: Written, found: Derived, steps: Known | None = None) -> tuple[Explanation, ...]:
    """The slips that lead to what was written, best first; nothing for a bound, a label or what has no value.

    ``steps`` are the numbers that arithmetic may name besides the case's.

    >>> claim = ClaimSpec(id="kv", quantity="kv_cache_bytes", given={"model": "llama-3-70b", "prompt": 4096}, value="10.74 GB")
    >>> first, *_ = explain(claim, claim.given, read_written("10.74 GB", "byte"), derived(claim, claim.given))
    >>> first.slip, first.named, first.text
    ('gqa_forgotten', True, 'query heads used for KV heads in the cache: ×8')
    """
    if written.value is None or written.operator or written.value <= 0 or not isinstance(found.value, Fraction) or found.value <= 0:
        return ()
    scene = scene_of(claim, given, found.value, found.unit, written.text, steps or {})
    singles = [p for slip in CATALOGUE for p in predictions(scene, slip) if _tells(p.value, scene, written)]
    explanations = _of_formulas(singles, scene, written) or _of_digits(singles, scene, written) or _of_pairs(singles, scene, written)
    free = [Explanation(f.slip, False, written.value, f.chance, f.says) for f in fitted(scene, written.value)]
    return (*explanations, *free)


def _tells(value: Fraction, scene: Scene, written: Written) -> bool:
    """Whether a prediction differs from the true value by more than the digits written can hide."""
    return abs(value / scene.value - 1) > written.half / written.number


def _of_formulas(singles: Sequence[Prediction], scene: Scene, written: Written) -> list[Explanation]:
    """Single slips of the catalogue."""
    matched = _ordered((p for p in singles if written.agrees(p.value)), written)
    if not matched:
        return []
    share = chance(float(written.number), float(scene.value), spans([p.value for p in singles], written))
    found = [explanation for p in matched for explanation in _told(p, share <= SELDOM, share, scene)]
    return found if share <= SELDOM else found[:MOST_SUGGESTIONS]


def _of_digits(singles: Sequence[Prediction], scene: Scene, written: Written) -> list[Explanation]:
    """A slip of digits: swapped ones from three digits on, a wrong one from four."""
    if written.digits < PAIRED_DIGITS - 1 or written.low is not None or written.about:
        return []
    options = digits.slips(scene.value, 2 * written.half)
    says = options.get(written.number)
    if says is None:
        return []
    half = float(written.half)
    taken = [value for value, how in options.items() if how.startswith(digits.SWAPPED) or written.digits >= PAIRED_DIGITS]
    share = chance(
        float(written.number), float(scene.value), [*spans([p.value for p in singles], written), *((float(v) - half, float(v) + half) for v in taken)]
    )
    named = share <= SELDOM and written.number in taken
    return [Explanation("arithmetic", named, written.number, share, f"{says}: {times(written.number / scene.value)}")]


def _of_pairs(singles: Sequence[Prediction], scene: Scene, written: Written) -> list[Explanation]:
    """Two slips at once, where the claim is fine enough to tell."""
    if written.digits < PAIRED_DIGITS or written.low is not None:
        return []
    pairs = [p for p in _pairs(singles, scene) if _tells(p.value, scene, written)]
    matched = _ordered((p for p in pairs if written.agrees(p.value)), written)
    if not matched:
        return []
    share = chance(float(written.number), float(scene.value), spans([p.value for p in (*singles, *pairs)], written))
    return _told(matched[0], share <= SELDOM_IN_PAIRS, share, scene)


def _pairs(singles: Sequence[Prediction], scene: Scene) -> Iterator[Prediction]:
    """Every two slips that are told apart: two changes of the case, or a change and a result read otherwise."""
    cases = _distinct(p for p in singles if p.paired and p.sets is not None)[:MOST_CHANGES]
    results = _distinct(p for p in singles if p.paired and p.way is not None)
    for first, second in itertools.combinations([*cases, *results], 2):
        if first.slips != second.slips and (both := combined(scene, first, second)) is not None:
            yield both


def _distinct(found: Iterable[Prediction]) -> list[Prediction]:
    """The first prediction of each value."""
    first: dict[Fraction, Prediction] = {}
    for prediction in found:
        first.setdefault(prediction.value, prediction)
    return list(first.values())


def _ordered(matched: Iterable[Prediction], written: Written) -> list[Prediction]:
    """What rounds to the claim before what was cut off to it, then by the catalogue; each slip once."""
    found: dict[tuple[str, ...], Prediction] = {}
    for prediction in sorted(matched, key=lambda p: abs(p.value - written.number) > written.room):
        found.setdefault(prediction.slips, prediction)
    return list(found.values())


def _told(prediction: Prediction, named: bool, share: float, scene: Scene) -> list[Explanation]:
    """A prediction in words; two slips at once stand under both their names."""
    text = f"{' and '.join(prediction.says)}: {times(prediction.value / scene.value)}"
    return [Explanation(slip, named, prediction.value, share, text) for slip in prediction.slips]
