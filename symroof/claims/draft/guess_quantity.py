"""Which quantity a number of a note is: the readings of its unit, weighed by the cues around it.

>>> from symroof.claims.draft.note_blocks import blocks
>>> [block] = blocks("The KV cache takes 1.34 GB, the weights need 141 GB.")
>>> [guess(block, figure, "").quantity for figure in numbers(block)]
['kv_cache_bytes', 'weight_bytes']
"""

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from symroof.claims.draft.cues import ONLY_BEFORE, cues
from symroof.claims.draft.named_parts import named
from symroof.claims.draft.note_blocks import Block
from symroof.claims.draft.numbers_beside import AS_BEFORE, cues_beside, of_each_device, of_each_user
from symroof.claims.draft.readings import CLOSE, FOLLOWS, LEAST, READINGS, SURE
from symroof.claims.read.numbers import Figure, figures
from symroof.claims.read.shown_words import SENTENCE_END
from symroof.units import strict

FARTHEST = 260
"""Characters on either side that are looked at, however long the sentence."""
FADING = 90
"""Characters over which a cue loses half its strength."""
FAINTEST = 0.12
STOPS = (
    (re.compile(r"[;:—]| [-–] |\b(?:whereas|while|but|although)\b|,\s+(?:so|hence|thus|which|and|or|that is|i\.e\.|then|it|we|you)\b"), 0.7, 0.45),
    (re.compile(r",(?!\d)|\band\b"), 0.85, 0.6),
    (re.compile(r"[()]"), 0.9, 0.9),
)
"""What parts clauses, with what is left of a cue across it: of one before the number, of one behind it."""
OTHERS = {"same": 0.55, "case": 0.92, "other": 0.72}
"""What is left of a cue across another number: of the same unit, of one that belongs to the case, of any other."""
ALIKE = {"": "parameter"}
"""Kinds that count as one: parameters with and without the word."""
OF_CASE = frozenset(["token", "request", "device", "parameter", "%"])
OVER = {"column": 1.1, "row": 1.0, "heading": 0.4, "higher": 0.15, "before": 0.38, "referred": 0.52, "intro": 0.22}
"""How far the words of a column's head, a row's label, the nearest heading, those above it, the sentence before (and where a pronoun
refers to it) and the block before count."""
REFERS = re.compile(r"\b(?:that|this|these|those|it|its|they|them|each|both)\b", re.IGNORECASE)
OF_ANOTHER = 0.6
"""What is left of a cue that stands nearer to another number of the same unit."""
SAME_AGAIN, SAME_SENTENCE, REFERRED_TO = 0.15, 0.35, 1.2
"""What speaks for a quantity that the number before it has, of the same unit and paragraph, or sentence; and where it is ``half of that``."""
OFF_TOPIC = 1.5
"""What a cue of something that is not inference takes from every reading."""
WIDEST = 64
"""So many bits or bytes are a precision, which is no quantity."""
SHARES = {"token": "per_token", "device": "per_device", "request": "per_request"}
LABEL = re.compile(r"(?:^|[.;|(]\s|\s[-–—]\s)((?:[^\W\d][\w-]* ){0,4}[^\W\d][\w-]* ?):\s(?:[\d.,]+\s?[×x*·/]\s?)*[~≈]?$")
ITEM = re.compile(r"\s*([^:]{1,70}):\s(?:[\d.,]+\s?[×x*·/]\s?)*[~≈]?")
LABEL_LENGTH = 80
"""``Weights: 18 GB``: what stands right before a colon and a number names it as a row's label does, in an item of a list however it reads."""
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
    def clear(self) -> bool:
        """Whether nothing about it is doubtful."""
        return bool(self.quantity) and not self.doubts

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why a person should look at it."""
        if self.rival:
            return (f"or {self.rival}",)
        return ("few words speak for it",) if self.score < SURE else ()


ARITHMETIC = re.compile(
    r"[=≈](?:\s?[\d.,]{1,12}(?:[eE]\d{1,2})?\s?(?:[A-Za-z]{1,5}(?:/s)?\s)?[×*·/+x−-]){1,12}\s?[\d.,]{1,12}(?:[eE]\d{1,2})?\s?(?:[A-Za-z]{1,5}(?:/s)?\s)?(?=[=≈])"
)
HOURLY = re.compile(r"\s*(?:per|an?|/|each|every)[ -]?(?:gpu|card|device|chip|node|instance)?[ -]?(?:hour|hr|h)\b", re.IGNORECASE)


def numbers(block: Block) -> list[Figure]:
    """The numbers of a block that have a unit, their own or that of their column's head; ``$3 per GPU-hour`` is a price."""
    unit = _unit_of_head(block.column) if block.table else ""
    every = [
        replace(figure, unit="USD/hour", stop=rate.end()) if figure.unit == "USD" and (rate := HOURLY.match(block.text, figure.stop)) else figure
        for figure in _figures(block.text)
    ]
    whole = len(every) == 1 and unit and not every[0].unit and not every[0].power
    return [replace(figure, unit=unit) if whole else figure for figure in every]


def as_written(block: Block, figure: Figure) -> bool:
    """Whether a number is read from its own text alone, as `symroof check` reads it, its unit with it."""
    return figure in _figures(block.text)


@lru_cache(maxsize=64)
def _figures(text: str) -> dict[Figure, None]:
    """The numbers of a text, in order."""
    return dict.fromkeys(figures(text))


def _unit_of_head(column: str) -> str:
    match = UNIT_OF_HEAD.search(column)
    named = figures(f"1 {next(filter(None, match.groups()))}") if match else []
    return named[0].unit if named else ""


@lru_cache(maxsize=1024)
def kind_of(figure: Figure) -> str:
    """The row of :data:`READINGS` for a number's unit; a plain number of millions may be a count of parameters.

    >>> [kind_of(figure) for figure in figures("1 GB, 2 GB/GPU, 3 KB per token, 4 ms/token, $5/hour, 46.7B, 8")]
    ['byte', 'byte', 'byte/token', 's', 'USD/s', '', 'none']
    """
    if figure.unit in ("", "x"):
        return "" if figure.unit == "" and figure.power >= 6 and figure.digits[:1] != "$" else "none"
    if figure.unit == "%":
        return "%"
    if figure.unit in ("bit", "bits", "byte", "B") and not figure.power and float(figure.digits.replace(",", "")) <= WIDEST:
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


def guess(block: Block, figure: Figure, before: str, last: tuple[str, int] = ("", 0), earlier: Iterable[str] = ()) -> Guess:
    """What a number is.

    Args:
        before: the text of the block before its own.
        last: what the number before it is and where it stands, where that is of the same unit and paragraph.
        earlier: what the numbers before it in its sentence are.
    """
    readings = READINGS.get(kind_of(figure))
    if readings is None:
        return Guess()
    strength = _strengths(block, figure, before)
    lost = OFF_TOPIC * strength.pop("off_topic", 0.0)
    scores = {name: start + sum(weight * strength.get(cue, 0.0) for cue, weight in weights.items()) - lost for name, (start, weights) in readings.items()}
    if last[0] in scores:
        scores[last[0]] += SAME_SENTENCE if last[1] >= sentence_around(block, figure.start)[0] else SAME_AGAIN
        scores[last[0]] += REFERRED_TO if AS_BEFORE.search(block.text, last[1], figure.start) else 0
    for quantity in set(earlier):
        for name, weight in FOLLOWS.get(quantity, {}).items():
            if name in scores:
                scores[name] += weight
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    score = scores[ranked[0]]
    if score < LEAST:
        return Guess()
    rival = next((name for name in ranked[1:] if score - scores[name] < CLOSE), "")
    return Guess(ranked[0], score, rival)


def _strengths(block: Block, figure: Figure, before: str) -> dict[str, float]:
    """The strength of every cue: of its strongest words."""
    strength: dict[str, float] = {}

    def note(cue: str, value: float) -> None:
        if value >= FAINTEST:
            strength[cue] = max(strength.get(cue, 0.0), value)

    for cue in _of_unit(figure):
        note(cue, 1.0)
    for cue, value in cues_beside(block.text, figure):
        note(cue, value)
    start, end = sentence_around(block, figure.start)
    low = max(start, figure.start - FARTHEST)
    for cue, at, until in _cues(block.text[low : min(end, figure.stop + FARTHEST)]):
        if cue not in ONLY_BEFORE or low + until <= figure.start:
            note(cue, _nearness(block, figure, low + at, low + until))
    for label, over in _over(block, figure, start, before):
        for cue, _, _ in _cues(label):
            if cue in ONLY_BEFORE and not block.table:
                continue
            note(cue, over * (0.5 if cue == "off_topic" and over < 0.5 else 1.0))
    if of_each_device(block.text[low : figure.start], block.text, figure):
        strength |= {"per_device": 1.2, "per_request": 0.0}
    if "whole" in strength:  # what is left is the part
        strength["free"] = 0.0
    if of_each_user(block.text, figure):
        strength |= {"aggregate": 0.0, "in_all": 0.0}
    return strength


def _of_unit(figure: Figure) -> Iterator[str]:
    """The cues that a unit itself is: ``GB/GPU``, ``ms/token``."""
    for name, exponent in figure.dimension:
        if exponent < 0 and name in SHARES:
            yield SHARES[name]
            yield from {"request": ("per_user",), "token": ("between_tokens",)}.get(name, ())


def _over(block: Block, figure: Figure, start: int, before: str) -> Iterator[tuple[str, float]]:
    """The texts that a sentence stands under or behind, each with how much its words count."""
    yield block.column, OVER["column"]
    yield block.row, OVER["row"]
    before_it = block.text[max(start, figure.start - LABEL_LENGTH) : figure.start]
    if label := LABEL.search(before_it) or (block.is_item and ITEM.fullmatch(before_it)):
        yield label[1], OVER["row"]
    for i, heading in enumerate(reversed(block.headings)):
        yield heading, OVER["heading" if i == 0 else "higher"]
    if start > 0:
        clause = STOPS[1][0].split(block.text[max(start, figure.start - FARTHEST) : figure.start])[-1]
        refers = REFERS.search(clause)
        yield block.text[max(sentence_around(block, start - 1)[0], start - FARTHEST) : start], OVER["referred" if refers else "before"]
    elif before and not block.is_title:
        yield before[-FARTHEST:], OVER["intro"]


@lru_cache(maxsize=4096)
def _cues(text: str) -> tuple[tuple[str, int, int], ...]:
    parts = (("device" if name.kind == "hardware" else "model", name.start, name.end) for name in named(text))
    return (*cues(text), *parts)


def _nearness(block: Block, figure: Figure, start: int, end: int) -> float:
    """How much words count for a number: fading with distance and across what stands between."""
    if start < figure.stop and end > figure.start:
        return 1.0
    low, high = (figure.stop, start) if start >= figure.stop else (end, figure.start)
    behind = start >= figure.stop
    worked = sum(until - begin for begin, until in _arithmetic(block.text) if low <= begin and until <= high)
    value = 1.0 / (1.0 + (high - low - worked) / FADING)
    for stops, (_, left_before, left_behind) in zip(_stops(block.text), STOPS, strict=True):
        value *= (left_behind if behind else left_before) ** min(bisect.bisect_left(stops, high) - bisect.bisect_left(stops, low), 3)
    own, nearer = ALIKE.get(kind_of(figure), kind_of(figure)), False
    every = _numbers_of(block.text)
    first = bisect.bisect_left(every, (min(low, figure.start) - FARTHEST,))
    for place, stop, kind in every[first : bisect.bisect_left(every, (max(high, figure.stop) + FARTHEST,))]:
        if low <= place < high:
            value *= OTHERS["same" if kind == own else "case" if kind in OF_CASE else "other"]
        if kind == own and place != figure.start:
            nearer = nearer or (start - stop if start >= stop else place - end) < high - low
    return float(value * (OF_ANOTHER if nearer else 1.0))


@lru_cache(maxsize=64)
def _arithmetic(text: str) -> tuple[tuple[int, int], ...]:
    """Where a text works a number out, which sets its words no farther apart from the result."""
    return tuple(match.span() for match in ARITHMETIC.finditer(text))


@lru_cache(maxsize=64)
def _stops(text: str) -> tuple[tuple[int, ...], ...]:
    """Where clauses of a text part, for each kind of :data:`STOPS`."""
    return tuple(tuple(match.start() for match in pattern.finditer(text)) for pattern, _, _ in STOPS)


@lru_cache(maxsize=64)
def _numbers_of(text: str) -> tuple[tuple[int, int, str], ...]:
    """Where the numbers with a unit of a text begin and end, and of which kind they are."""
    return tuple((figure.start, figure.stop, ALIKE.get(kind, kind)) for figure in _figures(text) if (kind := kind_of(figure)) != "none")


@lru_cache(maxsize=64)
def _ends(text: str) -> tuple[int, ...]:
    """Where the sentences of a text begin."""
    return tuple(match.end() for match in SENTENCE_END.finditer(text))


def sentence_around(block: Block, place: int) -> tuple[int, int]:
    """Where the sentence around a place begins and ends."""
    begins = _ends(block.text)
    at = bisect.bisect_right(begins, place)
    return begins[at - 1] if at else 0, begins[at] if at < len(begins) else len(block.text)
