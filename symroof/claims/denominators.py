"""What a number is of: ``141 GB per GPU`` is a claim of one device, whatever its quantity is of.

The words around a number say it (``GB per GPU``, ``USD per 1K tokens``, ``Each request holds``), and its quantity is divided by so
many devices, requests, layers or tokens. Words that mean nothing for a quantity change nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from symroof.errors import InputError, Problem
from symroof.resources import data_folder
from symroof.specs.claims import ClaimSpec
from symroof.strict_yaml import load
from symroof.symbolic.expressions import Expr, symbol
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import resolved

WORDS = load(data_folder("specs") / "check" / "words.yaml").data
"""What people write around a number; the file says what each part means."""
NOUNS: Mapping[str, str] = WORDS["nouns"]
"""What a number can be of, and the words for it."""
TIMES = ("second", "hour", "day", "month")
PARTS = ("layer", "head")
"""Parts of a model, which a number can be of in addition to anything else."""
POWERS_OF_TEN = {"": 0, "k": 3, "thousand": 3, "m": 6, "million": 6, "b": 9, "bn": 9, "billion": 9}
POWERS_OF_TEN |= {"t": 12, "trillion": 12}
KIND = "|".join(f"(?P<{kind}>{words})" for kind, words in NOUNS.items())
SIZE = r"k|K|M|B|thousand|million|billion"
COUNT = rf"(?:(?P<count>\d[\d,]*(?:\.\d+)?)[\s-]?)?(?:(?P<size>{SIZE})(?:\b|(?=[Tt]ok))[\s-]?)?"
OTHERS = r"(?:(?!(?:of|and|with|\d+)\b)[\w-]{2,14}[\s-]){0,2}?"
NOUN = rf"(?:{COUNT}|{OTHERS})(?:{KIND})(?![\w-])"
EACH = r"(?:(?:on|for|in|of|at)\s+)?(?:each|every)(?:\s+of\s+the)?"
BEHIND = re.compile(
    rf"(?:\s{{0,4}}/\s{{0,4}}|\s{{1,4}}an?\s{{1,4}}"
    rf"|(?:\s+(?!and\b|per\b|an?\b|each\b|every\b)[A-Za-z-]{{2,14}}){{0,3}}[\s-]{{1,4}}(?:per|{EACH})[\s-]{{1,4}}){NOUN}"
)
"""``per GPU``, ``an hour``, ``/1K tokens``, ``free on each device``: behind a unit."""
ALSO = re.compile(
    rf"(?:,?\s+and\s+(?:(?:{EACH}|per)\s+)?|,\s+(?:{EACH}|per)\s+)(?!\w+s\b)(?:{KIND})(?![\w-]|\s+\d)"
)
"""``per layer and device``: what else a number is of, behind the first."""
LEADING = re.compile(
    rf"(?:^\s*|[.,;:(|]\s*|\b(?:and|so|then)\s+)(?:(?:on|for|in)\s+)?(?:each|every|per)\s+{NOUN}",
    re.IGNORECASE,
)
"""``Each GPU holds``, ``per request:``: at the head of the clause before a number."""
CLAUSE = re.compile(
    r"(?!\s+(?:per|of each|group))(?:(?!\b(?:together|total|altogether|overall|all)\b)[^.;!?|\d]){0,60}",
    re.IGNORECASE,
)
"""What may stand between such a head and the number."""


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
    behind, _ = _with_others(text, BEHIND.match(text, stop))
    clause, leading = text[max(start - 120, 0) : start], []
    for head in LEADING.finditer(clause):
        found, end = _with_others(clause, head)
        if CLAUSE.fullmatch(clause, end):
            leading = found
            break
    if any(one.kind not in TIMES for one in behind):  # then only a part of the model can be added
        kinds = {one.kind for one in behind}
        leading = [one for one in leading if one.kind in PARTS and one.kind not in kinds]
    return (*leading, *behind)


def _with_others(text: str, match: re.Match[str] | None) -> tuple[list[Denominator], int]:
    """A denominator and those that follow it, and where they end."""
    found, end = [], 0
    while match:
        named, end = match.groupdict(), match.end()
        kind = next(kind for kind in NOUNS if named[kind])
        power = POWERS_OF_TEN[(named.get("size") or "").lower()]
        count = Fraction((named.get("count") or "1").replace(",", ""))
        found.append(Denominator(kind, count * 10**power))
        match = BEHIND.match(text, end) or ALSO.match(text, end)
    return found, end


DIVISORS: dict[str, dict[str, str]] = {}
for kind, table in WORDS["divisors"].items():
    DIVISORS[kind] = {name: each for each, names in table.items() for name in names.split()}
"""How many of a kind a quantity is of, as a formula over the case."""
SPLIT = {name: f"{name}_per_device" for name in QUANTITIES if f"{name}_per_device" in QUANTITIES}
DIVISORS["device"] = {name: f"{name}/{own}" for name, own in SPLIT.items()} | DIVISORS["device"]


def denominators_of(claim: ClaimSpec) -> tuple[Denominator, ...]:
    """What the number of a claim is of.

    Raises:
        InputError: words that name nothing a number can be of.
    """
    of = denominators(f"1 per {claim.per}", 0, 1) if claim.per else ()
    if claim.per and not of:
        message = f"{claim.per[:40]!r} is not something a number can be per"
        hint = "write device, request, layer, head, token or 1K tokens"
        raise InputError(Problem("per", message, hint=hint))
    return of


def claimed_quantity_formula(claim: ClaimSpec, name: str) -> Expr:
    """The formula a claim's number is of: its quantity, divided where the words around the number say so."""
    whole, count = name, Fraction(1)
    for one in denominators_of(claim):
        divisor = DIVISORS.get(one.kind, {}).get(name)
        if divisor and (one.count != 1 or divisor != "1"):
            whole, count = f"{whole}/({divisor})", count * one.count
    if whole == name:
        return symbol(name)
    return resolved(parse(f"{whole}*{count.numerator}/{count.denominator}"))
