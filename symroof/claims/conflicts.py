"""Two claims of the same thing that cannot both hold: the one that names the other is inconsistent, whichever is right."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.claims.judgement import Judgement
from symroof.claims.read.written_number import Written, read_written
from symroof.units import UnitError, describe, parse_quantity, parse_unit, strict


def by_id(judgements: Sequence[Judgement]) -> dict[str, Judgement]:
    """Judgements by the id of their claim."""
    return {judgement.claim.id: judgement for judgement in judgements}


def resolved(judgement: Judgement, others: Mapping[str, Judgement]) -> Judgement:
    """A judgement compared with the claim that it names in ``conflicts_with``; one that could not be judged for a fault stays so."""
    other = others.get(judgement.claim.conflicts_with or "")
    if other is None or judgement.error is not None:
        return judgement
    one, two = stated(judgement), stated(other)
    if one is None or two is None or compatible(one, two) or len({strict(parse_unit(_unit(claim)).dimension) for claim in (judgement, other)}) > 1:
        return judgement
    reason = f"{judgement.claimed} here and {other.claimed} in {other.claim.id} cannot both be right"
    return replace(judgement, verdict="inconsistent", reason=reason + (f"; derived {judgement.derived}" if judgement.derived else ""))


def stated(judgement: Judgement) -> Written | None:
    """The claimed value as it was read, also where nothing could be derived; None where it could not be read."""
    try:
        return read_written(judgement.claimed, _unit(judgement)) if judgement.claimed else None
    except ValueError:
        return None


def _unit(judgement: Judgement) -> str:
    """The base unit a claimed value is read in: its own where nothing was derived."""
    if judgement.unit or judgement.value is not None:
        return judgement.unit
    try:
        dimension = parse_quantity(judgement.claimed).dimension
        return parse_unit(describe(dimension)).text if dimension else ""
    except UnitError:
        return ""


def compatible(one: Written, two: Written) -> bool:
    """Whether one value can be what both claim, at the precision each is written with.

    >>> compatible(read_written("24", ""), read_written("23.9", "")), compatible(read_written("24", ""), read_written("22", ""))
    (True, False)
    """
    if one.value is None or two.value is None:
        return one.word == two.word
    if one.value == two.value:
        return True
    (low, high), (least, most) = _span(one), _span(two)  # that only touch: each would have to be at its very edge
    return (low is None or most is None or low < most) and (least is None or high is None or least < high)


def _span(written: Written) -> tuple[Fraction | None, Fraction | None]:
    """The least and the most a written value can mean; None for no limit."""
    value = written.value or Fraction(0)
    if written.operator:
        return (None, value) if written.operator.startswith("<") else (value, None)
    low, high = (written.low, written.high) if written.low is not None and written.high is not None else (value, value)
    return low - written.room, high + written.room
