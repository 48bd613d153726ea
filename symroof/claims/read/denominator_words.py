"""The words around a number that say what it is of: ``GB per GPU``, ``USD per 1K tokens``, ``Each request holds``."""

import re
from dataclasses import dataclass
from fractions import Fraction

NOUNS = {
    "device": r"(?:GPU|card|device|accelerator|chip|TPU|rank|[A-Z]{1,2}\d{2,3}[A-Z]?)s?",
    "layer": r"layers?",
    "request": r"(?:request|sequence|user|conversation|session|stream|client|customer|query|queries|seq)s?",
    "token": r"(?:tokens?|toks?)(?![\s-](?:long|request|sequence|user|conversation|session))",
    "head": r"(?:kv[\s-])?heads?",
    "hour": r"(?:hours?|hr|h)",
    "second": r"(?:seconds?|sec|s)",
    "day": r"days?",
    "month": r"months?",
    "parameter": r"(?:parameter|param|weight)s?",
    "element": r"(?:element|value|number|entry|scalar)s?",
}
"""What a number can be of, and the words for it."""
TIMES = ("second", "hour", "day", "month")
PARTS = ("layer", "head")
"""Parts of a model, which a number can be of in addition to anything else."""
POWERS_OF_TEN = {"": 0, "k": 3, "thousand": 3, "m": 6, "million": 6, "b": 9, "billion": 9}
SIZE = r"k|K|M|B|thousand|million|billion"
COUNT = rf"(?:(?P<count>\d[\d,]*(?:\.\d+)?)[\s-]?)?(?:(?P<size>{SIZE})(?:\b|(?=[Tt]ok))[\s-]?)?"
WORDS = r"(?:(?!(?:of|and|with|\d+)\b)[\w-]{2,14}[\s-]){0,2}?"
NOUN = rf"(?:{COUNT}|{WORDS})(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in NOUNS.items())})(?![\w-])"
EACH = r"(?:(?:on|for|in|of|at)\s+)?(?:each|every)(?:\s+of\s+the)?"
BEHIND = re.compile(
    rf"(?:\s{{0,4}}/\s{{0,4}}|\s{{1,4}}an?\s{{1,4}}"
    rf"|(?:\s+(?!and\b|per\b|an?\b|each\b|every\b)[A-Za-z-]{{2,14}}){{0,3}}[\s-]{{1,4}}(?:per|{EACH})[\s-]{{1,4}}){NOUN}"
)
"""``per GPU``, ``an hour``, ``/1K tokens``, ``free on each device``: behind a unit."""
ALSO = re.compile(
    rf"(?:,?\s+and\s+(?:(?:{EACH}|per)\s+)?|,\s+(?:{EACH}|per)\s+)"
    r"(?P<kind>layer|head|device|GPU|card|chip|request|user|sequence)(?![\w-]|\s+\d)"
)
"""``per layer and device``: what else a number is of, behind the first."""
LEADING = re.compile(
    rf"(?:^\s*|[.,;:(|]\s*|\b(?:and|so|then)\s+)(?:(?:on|for|in)\s+)?(?:each|every|per)\s+{NOUN}"
    r"(?:\s+and\s+(?:(?:each|every|per)\s+)?(?P<kind>layer|head|device|GPU|card)\b)?"
    r"(?!\s+(?:per|of each|group))(?:(?!\b(?:together|total|altogether|overall|all)\b)[^.;!?|\d]){0,60}$",
    re.IGNORECASE,
)
"""``Each GPU holds``, ``per request:``: at the head of the clause before a number."""


@dataclass(frozen=True)
class Denominator:
    """What a number is of: so many of a kind, one of :data:`NOUNS`.

    >>> str(Denominator("token", Fraction(1000))), str(Denominator("device"))
    ('1,000 tokens', 'device')
    """

    kind: str
    count: Fraction = Fraction(1)

    def __str__(self) -> str:
        return self.kind if self.count == 1 else f"{float(self.count):,.10g} {self.kind}s"


def denominators(text: str, start: int, stop: int) -> tuple[Denominator, ...]:
    """What the number is of whose digits begin, and whose own unit ends, at these places of a text.

    >>> [str(one) for one in denominators("328 kB per token per layer", 0, 6)], [str(one) for one in denominators("Each GPU holds 141 GB", 15, 21)]
    (['token', 'layer'], ['device'])
    >>> [str(one) for one in denominators("3.62 USD per 1K tokens", 0, 8)], [str(one) for one in denominators("0.44 GB per layer and device", 0, 7)]
    (['1,000 tokens'], ['layer', 'device'])
    """
    behind: list[Denominator] = []
    while match := BEHIND.match(text, stop) or (ALSO.match(text, stop) if behind else None):
        behind.append(_denominator(match))
        stop = match.end()
    leading: list[Denominator] = []
    if match := LEADING.search(text[max(start - 120, 0) : start]):
        leading = [_denominator(match, own=True)]
        leading += [Denominator(_kind(match["kind"]))] if match["kind"] else []
    if any(one.kind not in TIMES for one in behind):  # then only a part of the model can be added
        kinds = {one.kind for one in behind}
        leading = [one for one in leading if one.kind in PARTS and one.kind not in kinds]
    return (*leading, *behind)


def end_of_denominators(text: str, stop: int) -> int:
    """Where the words end that say what a number is of, behind its unit."""
    while match := BEHIND.match(text, stop):
        stop = match.end()
    return stop


def _kind(noun: str) -> str:
    """The kind that a noun is of."""
    return next(kind for kind, words in NOUNS.items() if re.fullmatch(words, noun))


def _denominator(match: re.Match[str], own: bool = False) -> Denominator:
    named = match.groupdict()
    if named.get("kind") and not own:
        return Denominator(_kind(named["kind"]))
    kind = next(kind for kind in NOUNS if named[kind])
    power = POWERS_OF_TEN[(named["size"] or "").lower()]
    return Denominator(kind, Fraction((named["count"] or "1").replace(",", "")) * 10**power)
