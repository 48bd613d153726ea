"""Which quantity a number of a note is: the readings of its unit, weighed by the cues around it.

>>> from symroof.claims.draft.note_blocks import blocks
>>> [block] = blocks("The KV cache takes 1.34 GB, the weights need 141 GB.")
>>> [guess(block, figure, "").quantity for figure in numbers(block)]
['kv_cache_bytes', 'weight_bytes']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from symroof.claims.draft.cues import cues
from symroof.claims.draft.note_blocks import Block
from symroof.claims.draft.readings import CLOSE, LEAST, READINGS, SURE
from symroof.claims.read.markdown_notes import SENTENCE_END
from symroof.claims.read.numbers import Figure, figures
from symroof.units import strict

FARTHEST = 260
"""Characters on either side that are looked at, however long the sentence."""
FADING = 90
"""Characters over which a cue loses half its strength."""
FAINTEST = 0.12
ACROSS = {"number": 0.62, "clause": 0.72, "comma": 0.88, "bracket": 0.9}
"""What is left of a cue across another number, a semicolon or dash, a comma, a bracket."""
STOPS = (("clause", re.compile(r"[;:—]| [-–] |\b(?:whereas|while|but|although)\b")), ("comma", re.compile(r",(?!\d)")), ("bracket", re.compile(r"[()]")))
OVER = {"column": 1.1, "row": 1.0, "heading": 0.4, "higher": 0.15, "before": 0.38, "intro": 0.22}
"""How far the words of a column's head, a row's label, the nearest heading, those above it, the sentence before and the block before count."""
OFF_TOPIC = 1.5
"""What a cue of something that is not inference takes from every reading."""
WIDEST = 64
"""So many bits or bytes are a precision, which is no quantity."""
SHARES = {"token": "per_token", "device": "per_device", "request": "per_request"}
UNIT_OF_HEAD = re.compile(r"[(\[]\s*([^()\[\]\d]{1,16}?)\s*[)\]]|,\s*([A-Za-z%/µ]{1,12})$|\bin ([A-Za-z%/µ]{1,12})$")


@dataclass(frozen=True)
class Guess:
    """What a number probably is.

    Attributes:
        quantity: the likeliest; empty where nothing speaks for any.
        score: the evidence for it.
        rival: the next one, where it is nearly as likely.
    """

    quantity: str = ""
    score: float = 0.0
    rival: str = ""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why a person should look at it."""
        if self.rival:
            return (f"or {self.rival}",)
        return ("few words speak for it",) if self.score < SURE else ()


def numbers(block: Block) -> list[Figure]:
    """The numbers of a block that have a unit, their own or that of their column's head."""
    unit = _unit_of_head(block.column) if block.table else ""
    every = figures(block.text)
    whole = len(every) == 1 and unit and not every[0].unit and not every[0].power
    return [replace(figure, unit=unit) if whole else figure for figure in every]


def _unit_of_head(column: str) -> str:
    match = UNIT_OF_HEAD.search(column)
    named = figures(f"1 {next(filter(None, match.groups()))}") if match else []
    return named[0].unit if named else ""


def kind_of(figure: Figure) -> str:
    """The row of :data:`READINGS` for a number's unit; a plain number of millions may be a count of parameters.

    >>> [kind_of(figure) for figure in figures("1 GB, 2 GB/GPU, 3 KB per token, 4 ms/token, $5/hour, 46.7B, 8")]
    ['byte', 'byte', 'byte/token', 's', 'USD/s', '', 'none']
    """
    if figure.unit in ("", "x"):
        return "" if figure.unit == "" and figure.power >= 6 and figure.digits[:1] != "$" else "none"
    if figure.unit == "%":
        return "%"
    if figure.unit in ("bit", "bits", "byte") and not figure.power and float(figure.digits.replace(",", "")) <= WIDEST:
        return "none"
    over = {name for name, exponent in figure.dimension if exponent > 0}
    under = [name for name, exponent in figure.dimension if exponent < 0]
    head = next((name for name in ("byte", "FLOP", "USD", "J", "token", "request", "parameter", "device", "s") if name in over), "")
    per = next((name for name in ("s", "byte", "token", "parameter", "request") if name in under and f"{head}/{name}" in READINGS), "")
    if head == "J" and "s" in under:
        return "W"
    if strict(figure.dimension) and not per and any(name in ("s", "byte", "FLOP") for name in under):
        return "none"
    return f"{head}/{per}" if per else head if head in READINGS else "none"


def guess(block: Block, figure: Figure, before: str) -> Guess:
    """What a number is; ``before`` is the text of the block before its own."""
    readings = READINGS.get(kind_of(figure))
    if readings is None:
        return Guess()
    strength = _strengths(block, figure, before)
    lost = OFF_TOPIC * strength.pop("off_topic", 0.0)
    scored = sorted(((start + sum(weight * strength.get(cue, 0.0) for cue, weight in weights.items()) - lost, name) for name, (start, weights) in readings.items()), reverse=True)
    (score, name), (next_score, rival) = scored[0], scored[1] if len(scored) > 1 else (-9.0, "")
    if score < LEAST:
        return Guess()
    return Guess(name, score, rival if score - next_score < CLOSE else "")


def _strengths(block: Block, figure: Figure, before: str) -> dict[str, float]:
    """The strength of every cue: of its strongest words."""
    strength: dict[str, float] = {}

    def note(cue: str, value: float) -> None:
        if value >= FAINTEST:
            strength[cue] = max(strength.get(cue, 0.0), value)

    for name, exponent in figure.dimension:
        if exponent < 0 and name in SHARES:
            note(SHARES[name], 1.0)
            if name == "request":
                note("per_user", 1.0)
            if name == "token":
                note("between_tokens", 1.0)
    start, end = sentence_around(block, figure.start)
    low = max(start, figure.start - FARTHEST)
    for cue, at, until in _cues(block.text[low : min(end, figure.stop + FARTHEST)]):
        note(cue, _nearness(block, figure, low + at, low + until))
    for label, over in _over(block, start, before):
        for cue, _, _ in _cues(label):
            note(cue, OVER[over])
    return strength


def _over(block: Block, start: int, before: str) -> Iterator[tuple[str, str]]:
    """The texts that a sentence stands under or behind, each with how it does."""
    yield block.column, "column"
    yield block.row, "row"
    for i, heading in enumerate(reversed(block.headings)):
        yield heading, "heading" if i == 0 else "higher"
    if start > 0:
        yield block.text[max(sentence_around(block, start - 1)[0], start - FARTHEST) : start], "before"
    elif before and not block.is_title:
        yield before[-FARTHEST:], "intro"


@lru_cache(maxsize=4096)
def _cues(text: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(cues(text))


def _nearness(block: Block, figure: Figure, start: int, end: int) -> float:
    """How much words count for a number: fading with distance and across what stands between."""
    if start < figure.stop and end > figure.start:
        return 1.0
    low, high = (figure.stop, start) if start >= figure.stop else (end, figure.start)
    between = block.text[low:high]
    value = 1.0 / (1.0 + (high - low) / FADING)
    for name, pattern in STOPS:
        value *= ACROSS[name] ** min(len(pattern.findall(between)), 3)
    return float(value * ACROSS["number"] ** min(sum(1 for place in _numbers_of(block.text) if low <= place < high), 3))


@lru_cache(maxsize=64)
def _numbers_of(text: str) -> tuple[int, ...]:
    """Where the numbers with a unit of a text begin."""
    return tuple(figure.start for figure in figures(text) if figure.unit not in ("", "x"))


@lru_cache(maxsize=64)
def _ends(text: str) -> tuple[int, ...]:
    """Where the sentences of a text begin."""
    return tuple(match.end() for match in SENTENCE_END.finditer(text))


def sentence_around(block: Block, place: int) -> tuple[int, int]:
    """Where the sentence around a place begins and ends."""
    start, end = 0, len(block.text)
    for at in _ends(block.text):
        if at <= place:
            start = at
        else:
            end = at
            break
    return start, end
