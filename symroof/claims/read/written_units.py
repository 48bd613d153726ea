"""Units as people write them, and the words behind them that say what a number is of: ``tps``, ``GB per GPU``, ``USD per 1K tokens``.

>>> unit_at("gigabytes per second", 0), unit_at("tok/s/user", 0)
(('GB/s', 20), ('token/s', 5))
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from symroof.units import UNITS, parse_unit

SEPARATOR = re.compile(r"\s{0,20}/\s{0,20}|\s+per\s+|\s+an?\s+|\s+for\s+(?:every|each)\s+")
HOUR_OF = re.compile(
    r"(?:GPU|device|card|chip|accelerator|node|[AH]\d{3}|B\d{3})[\s-](?=h(?:ours?|rs?)?\b)",
    re.IGNORECASE,
)
"""A GPU-hour is an hour, of one device."""
NAMES = re.compile(
    rf"%|[x×](?!\w|\s{{0,8}}[\d(])|(?:{HOUR_OF.pattern})?[^\W\d_]{{1,20}}(?:(?:{SEPARATOR.pattern})(?:{HOUR_OF.pattern})?[^\W\d_]{{1,20}}){{0,2}}",
    re.IGNORECASE,
)

ALIASES = {
    "s": "sec secs second seconds",
    "ms": "msec millisecond milliseconds",
    "us": "μs microsecond microseconds",
    "ns": "nanosecond nanoseconds",
    "hour": "hr hrs",
    "%": "percent",
    "USD": "dollar dollars",
    "x": "times ×",
    "token": "toks tok tokens",
    "token/s": "tps",
    "request": "reqs req requests",
    "request/s": "rps",
    "param": "params",
    "device": "gpu gpus",
    "byte": "bytes",
    "W": "watt watts",
    "J": "joule joules",
    "FLOP": "flop flops",
    "GFLOP": "gigaflop gigaflops",
    "TFLOP": "teraflop teraflops",
    "PFLOP": "petaflop petaflops",
    "EFLOP": "exaflop exaflops",
    "kB": "kilobyte kilobytes",
    "MB": "megabyte megabytes",
    "GB": "gigabyte gigabytes",
    "TB": "terabyte terabytes",
    "KiB": "kibibyte kibibytes",
    "MiB": "mebibyte mebibytes",
    "GiB": "gibibyte gibibytes",
    "TiB": "tebibyte tebibytes",
}
SPELLED = {alias: unit for unit, aliases in ALIASES.items() for alias in aliases.split()}
"""Units as people write them, in small letters, and as symroof does."""

RATES = (["t", "s"], ["T", "s"])
"""``t/s``, tokens a second as llama.cpp prints them; alone the letter is no unit."""

NOUNS = {
    "device": r"(?:GPU|card|device|accelerator|chip|TPU|rank|[A-Z]{1,2}\d{2,3}[A-Z]?)s?(?!-)",
    "layer": r"layers?",
    "request": r"(?:request|sequence|user|conversation|session|stream|client|customer|query|queries|seq)s?",
    "token": r"(?:tokens?|toks?)",
    "head": r"(?:kv[\s-])?heads?",
    "hour": r"(?:hours?|hr|h)",
    "second": r"(?:seconds?|sec|s)",
    "day": r"days?",
    "month": r"months?",
    "parameter": r"(?:parameter|param|weight)s?",
    "element": r"(?:element|value|number|entry|scalar)s?",
}
"""What a number can be of, and the words for it."""
PARTS = ("layer", "head")
"""Parts of a model, which a number can be of in addition to anything else."""
TIMES = ("second", "hour", "day", "month")
LONG = (
    r"(?P<long>tok(?:en)?s?[\s-]{1,3}(?:long[\s-])?(?=request|sequence|user|conversation|session))?"
)
"""``4k-token`` before the request that is so long."""
COUNT = r"(?:(?P<count>\d[\d,]{0,12}(?:\.\d{1,3})?)[\s-]?)?(?:(?P<size>k|K|M|B|thousand|million|billion)(?:\b|(?=[Tt]ok))[\s-]?)?"
POWERS_OF_TEN = {
    word: power
    for power, words in {
        3: "k thousand",
        6: "m million",
        9: "b bn billion",
        12: "t trillion",
    }.items()
    for word in words.split()
}
"""The powers of ten that words and letters behind a number are."""
NOUN = "|".join(f"(?P<{kind}>{words})" for kind, words in NOUNS.items())
STATE = r"(?:free|left|spare|unused|available|remaining|resident)"
"""How memory is, between its size and whose it is: ``47 GB free per GPU``."""
DENOMINATOR = re.compile(
    rf"(?:\s{{0,4}}/\s{{0,4}}|\s{{1,4}}an?\s{{1,4}}|(?:\s+(?:of|for)\s+(?:the\s+)?[A-Za-z-]{{2,14}}(?:\s+[A-Za-z-]{{2,14}})?|\s+{STATE})?"
    rf"(?:[\s-]{{1,4}}per[\s-]{{1,4}}|\s{{1,4}}(?:on|for|in|of|at)\s+(?:each|every)\s+(?:of\s+the\s+)?|\s+(?:each|every)\s+))"
    rf"{COUNT}{LONG}(?:(?!(?:of|and|with)\b)[A-Za-z]{{3,14}}[\s-]){{0,2}}?(?:{NOUN})(?![\w])"
)
"""``per GPU``, ``an hour``, ``/1K tokens``, ``on each device``: at once behind a unit."""
ALSO = re.compile(
    rf"(?:,?\s+and\s+|,\s+)(?:(?:(?:on|for|in|of|at)\s+)?(?:per|each|every)\s+(?P<noun>{'|'.join(NOUNS[kind] for kind in ('device', 'layer', 'head', 'request'))})"
    r"|(?<!, )(?P<bare>layer|device|GPU|card|chip|head|request|user|sequence))(?!\w|\s+\d|-)"
)
"""``per layer and device``: behind what else a number is of; without ``per`` only one of a kind."""
LEADING = re.compile(
    rf"(?:^\s*|[.,;:(|]\s*|\band\s+|\bso\s+|\bthen\s+)(?:(?:on|for|in|and|so)\s+)?(?:each|every|per)\s+{COUNT}{LONG}(?:[A-Za-z]{{3,14}}[\s-]){{0,2}}?(?:{NOUN})\b"
    r"(?:\s+and\s+(?:(?:each|every|per)\s+)?(?P<also>layer|head|device|GPU|card)\b)?"
    r"(?![\s-]*(?:per|of each|group))(?:(?!\b(?:together|total|altogether|overall|in all|all)\b)[^.;!?|\d]){0,60}$",
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


def unit_at(text: str, place: int) -> tuple[str, int]:
    """The longest unit that can be read at a place of a text, as symroof writes it, and where it ends."""
    match = NAMES.match(text, place) or (
        NAMES.match(text, place + 1) if text[place : place + 1] == "/" else None
    )
    if not match:
        return "", place
    parts = list(SEPARATOR.finditer(match[0]))
    for cut in [len(match[0]), *(part.start() for part in reversed(parts))]:
        pieces = [unit_name(HOUR_OF.sub("", piece)) for piece in SEPARATOR.split(match[0][:cut])]
        if pieces[:2] in RATES:
            pieces[0] = "token"
        if pieces[0].endswith("FLOPS") and pieces[1:2] == ["byte"]:  # FLOPS/byte: the S is a plural
            pieces[0] = pieces[0][:-1]
        after = match.start() + cut
        if pieces == ["x"]:
            return ("", place) if text[after : after + 1].isalnum() else ("x", after)
        if all(name in UNITS for piece in pieces for name in piece.split("/")):
            return "/".join(pieces), after
    return "", place


def money_unit(text: str, place: int) -> tuple[str, int]:
    """The unit of a price behind its number, ``an hour`` or ``/GPU-hour``, and where it ends; of a price of something else just dollars.

    >>> money_unit("$2.50 per GPU-hour", 5), money_unit("$0.80 per million tokens", 5)
    (('USD/hour', 18), ('USD', 5))
    """
    behind = SEPARATOR.match(text, place)
    unit, after = unit_at(text, behind.end()) if behind else ("", place)
    timed = bool(unit) and parse_unit(unit).dimension == parse_unit("s").dimension
    if timed or (unit and text[place : place + 1] == "/"):
        return (f"USD/{unit}", after)
    return ("USD", place)


def unit_name(name: str) -> str:
    """A unit's name as symroof writes it."""
    plural = name in ("tokens", "tok", "bytes", "requests")
    if name in UNITS and not plural:
        return name
    lower = name.lower()
    return SPELLED.get(lower) or (lower if len(lower) > 3 and lower in UNITS else name)


def denominators(text: str, start: int, stop: int) -> tuple[Denominator, ...]:
    """What the number is of whose digits begin, and whose own unit ends, at these places of a text.

    >>> [str(one) for one in denominators("328 kB per token per layer", 0, 6)], [str(one) for one in denominators("Each GPU holds 141 GB", 15, 21)]
    (['token', 'layer'], ['device'])
    >>> [str(one) for one in denominators("Each layer keeps 4096 bytes per token", 17, 27)], [str(one) for one in denominators("47 GB free on each card", 0, 5)]
    (['layer', 'token'], ['device'])
    >>> [str(one) for one in denominators("3.62 USD per 1K tokens", 0, 8)]
    ['1,000 tokens']
    >>> [str(one) for one in denominators("0.44 GB per layer and device", 0, 7)]
    ['layer', 'device']
    """
    behind: list[Denominator] = []
    while one := DENOMINATOR.match(text, stop):
        behind.append(_denominator(one))
        stop = one.end()
        while also := ALSO.match(text, stop):
            behind.append(Denominator(_kind(also["noun"] or also["bare"])))
            stop = also.end()
    leading: list[Denominator] = []
    if match := LEADING.search(text[max(start - 120, 0) : start]):
        leading = [_denominator(match)]
        leading += [Denominator(_kind(match["also"]))] if match["also"] else []
    if any(one.kind not in TIMES for one in behind):  # then only a part of the model can be added
        kinds = {one.kind for one in behind}
        leading = [one for one in leading if one.kind in PARTS and one.kind not in kinds]
    return (*leading, *behind)


def _kind(noun: str) -> str:
    """The kind that a noun is of."""
    return next(kind for kind, words in NOUNS.items() if re.fullmatch(words, noun))


def _denominator(match: re.Match[str]) -> Denominator:
    kind = next(kind for kind in NOUNS if match[kind])
    size = (match["size"] or "").lower()
    count = Fraction((match["count"] or "1").replace(",", "")) * 10 ** POWERS_OF_TEN.get(size, 0)
    return Denominator(kind) if match["long"] else Denominator(kind, count)
