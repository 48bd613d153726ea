"""What stands right beside a number and says what it is of: ``GB per card``, ``a 24 GB card``, ``46.7 GB each``, ``32k tokens = 4.3 GB``.

>>> from symroof.claims.read.numbers import figures
>>> [[cue for cue, _ in cues_beside(text, figures(text)[-1])] for text in ("a 24 GB card", "One H100 SXM has 80 GB", "32k tokens = 4.3 GB")]
[['labelled'], ['labelled'], ['of_tokens']]
"""

import re
from collections.abc import Iterator

from symroof.claims.draft.named_parts import Name, named
from symroof.claims.read.numbers import Figure

BEFORE = 260
"""Characters before a number in which the name of its device is looked for."""
SHARED = re.compile(
    r"(?:\s?/\s?| per | for (?:each|every|one|a) )(?:(?P<user>user|stream|client|req(?:uest)?|seq(?:uence)?)|(?P<device>gpu|card|device|chip))\b", re.IGNORECASE
)
"""A share behind a unit that is none of a unit's own: ``tok/s/user``."""
LABELLING = re.compile(
    r"[ -]?(?:(?:nvidia|amd|consumer|data ?cent\w+|gaming) )?(?:cards?|gpus?|boards?|parts?|accelerators?)\b| of (?:hbm|vram|gddr|unified|on-?board)",
    re.IGNORECASE,
)
"""What follows the size of a memory: ``a 24 GB card``, ``80 GB of HBM3``."""
BEHIND_DEVICE = re.compile(
    r"s?(?:[ -]?(?:sxm\d?|pcie|nvl|oam))?(?: gpus?| cards?| nodes?| machines?| servers?| boxes| parts?| modules?)?[ -]?(?:[(,]?\s?| (?:each |only |already )?(?:ha[sv]e?|with|offers?|provides?|comes? with|brings?) (?:only |just |about )?)",
    re.IGNORECASE,
)
"""What stands between the name of a device and the size of its memory: ``H100 SXM (80 GB each)``, ``One H100 has 80 GB``."""
EACH = re.compile(r"\W{0,3}\b(?:each|apiece)\b(?!\s+(?:request|sequence|user|session|stream|token|layer)s?\b)", re.IGNORECASE)
"""What follows a number that is of each of the things that were counted before it: ``two GPUs: 46.7 GB each``."""
COUNTED_DEVICES = re.compile(r"(?<!\w)(?:gpus?|cards?|devices?|accelerators?|chips?|boards?|tp\s?=\s?\d+)(?!\w)", re.IGNORECASE)
COUNTED_REQUESTS = re.compile(r"(?<!\w)(?:requests?|sequences?|users?|sessions?|streams?|conversations?)(?!\w)", re.IGNORECASE)
SO_MANY_TOKENS = (
    re.compile(r" (?:of [a-z ]{1,12} )?(?:for|at|of) (?:an? |one |the |each )?\d[\d,.]*\s?[kK]?[ -]tokens?\b", re.IGNORECASE),
    re.compile(
        r"(?<![\w.,])\d[\d,.]*\s?[kK]?[ -]tokens?(?: (?:of context|context|long))?\s*(?:=|->|→|≈|:|is|are|takes?|needs?|costs?|makes?|give|means?)\s*(?:about |around |roughly |~|≈)*$",
        re.IGNORECASE,
    ),
)
"""What says that a number of bytes is of so many tokens: behind it ``for a 2,000-token request``, before it ``32k tokens =``."""
IN_OR_OUT = re.compile(r" (?:(?P<prefill>in)|(?P<output_word>out))(?=\s*(?:[,.;)/|+]|and\b|$))")
"""What follows the tokens of a request: ``8,000 tokens in, 400 tokens out``."""
DIVIDED = re.compile(r"\s*(?:/|÷|over|divided by)\s*(?:about |~)?\d[\d.,]*\s?[GT]i?B/s", re.IGNORECASE)
DIVISOR = re.compile(r"\d\s?[KMGT]i?B\s*(?:/|÷|over|divided by)\s*(?:about |~)?$", re.IGNORECASE)
"""What parts bytes from the bandwidth that reads them: ``14.5 GB / 2.04 TB/s``."""
RESTATED = re.compile(r"[\s(,;]*(?:or|i\.e\.,?|that is,?|which is|in other words|=|≈|~|≃)?[\s(]*(?:about|roughly|around|some|~|≈)?\s*", re.IGNORECASE)
"""What stands between a number and the same in another unit: ``131,072 bytes, or 128 KiB``."""
TIMES, EQUATED = re.compile(r"(?<![\w.])(\d{1,5})\s?[×x*·]\s?$"), re.compile(r"[\s(]*[=≈:][\s~]*")
WITHIN = 0.06
"""How far apart two writings of a number may be: ``about 320 KiB`` for 327,000 bytes."""
LEFT = re.compile(r" (?:of (?:the|its|their) \d[\d.,]*\s?[GT]i?B )?(?:(?:is|are|stays?|will be) )?(?:left|free|remain\w*|available|to spare)\b", re.IGNORECASE)
"""What follows the memory that is left: ``62 GB are left``, ``55 GB of the 80 GB remain``."""
PART_OF = re.compile(r" of (?:the|its|their) (?:total |full )?\d", re.IGNORECASE)
WHOLE = re.compile(r"\d\s?(?:[GT]i?B|[BMT]|billion|trillion|million)? of (?:the|its|their) (?:total |full )?$", re.IGNORECASE)
"""What joins a part and its whole: ``37B of its 671B parameters``, ``55 GB of the 80 GB``."""
AS_BEFORE = re.compile(r"\b(?:half|twice|double|a (?:quarter|third)|thrice|\w+ times) (?:of )?(?:that|this|it)\b", re.IGNORECASE)
"""What refers to the number before: ``half of that, 2.1 GB``."""


def cues_beside(text: str, figure: Figure) -> Iterator[tuple[str, float]]:
    """The cues of the words right beside a number, each with its strength."""
    if share := SHARED.match(text, figure.stop):
        yield "per_device" if share.lastgroup == "device" else "per_user", 1.0
    if way := IN_OR_OUT.match(text, figure.stop):
        yield str(way.lastgroup), 0.8
    if DIVIDED.match(text, figure.stop):
        yield "divided", 1.0
    if DIVISOR.search(text[max(figure.start - 40, 0) : figure.start]):
        yield "divisor", 1.0
    if PART_OF.match(text, figure.stop):
        yield "part", 1.0
    if WHOLE.search(text[max(figure.start - 40, 0) : figure.start]):
        yield "whole", 1.0
    elif LEFT.match(text, figure.stop):
        yield "free", 1.3
    if LABELLING.match(text, figure.stop) or _device_before(text, figure):
        yield "labelled", 1.0
    if _of_so_many_tokens(text, figure):
        yield "of_tokens", 1.0


def _device_before(text: str, figure: Figure) -> Name | None:
    """The device whose name a number stands right behind."""
    low = max(0, figure.start - BEFORE)
    devices = [part for part in named(text[low : figure.start]) if part.kind == "hardware"]
    return next((part for part in devices if BEHIND_DEVICE.fullmatch(text, low + part.end, figure.start)), None)


def of_several_devices(text: str, figure: Figure) -> bool:
    """Whether a memory is that of several devices together: ``two 4090s (48 GB)``, not ``two 4090s (24 GB each)``."""
    device = _device_before(text, figure)
    return device is not None and device.count > 1 and not EACH.match(text, figure.stop)


def restated(text: str, before: Figure, figure: Figure) -> bool:
    """Whether a number is the one before it, written in another unit.

    >>> from symroof.claims.read.numbers import figures
    >>> [restated(text, *figures(text)) for text in ("131,072 bytes, or 128 KiB", "131,072 bytes, or 1 GB", "128 KiB and 128 KiB")]
    [True, False, False]
    """
    first, second = before.amount, figure.amount
    same = bool(first and second) and first[1] == second[1] and abs(first[0] - second[0]) <= WITHIN * max(abs(first[0]), abs(second[0]))
    return same and RESTATED.fullmatch(text, before.stop, figure.start) is not None


def many_of(text: str, before: Figure, figure: Figure) -> bool:
    """Whether a number is so many times the one before it: ``2 × 350 W = 700 W``.

    >>> from symroof.claims.read.numbers import figures
    >>> [many_of(text, *figures(text)[-2:]) for text in ("2 × 350 W = 700 W", "2 × 350 W = 350 W", "350 W = 0.35 kW")]
    [True, False, False]
    """
    times = TIMES.search(text[max(before.start - 8, 0) : before.start])
    one, many = before.amount, figure.amount
    equated = EQUATED.fullmatch(text, before.stop, figure.start)
    if not (times and equated and one and many):
        return False
    return bool(one[1] == many[1] and many[0] == one[0] * int(times[1]))


def of_each_device(before: str, text: str, figure: Figure) -> bool:
    """Whether a number is of each of the devices that its sentence counts, and not of each request."""
    if not EACH.match(text, figure.stop):
        return False
    devices = [match.end() for match in COUNTED_DEVICES.finditer(before)] + [part.end for part in named(before) if part.kind == "hardware"]
    requests = [match.end() for match in COUNTED_REQUESTS.finditer(before)]
    return max(devices, default=-1) > max(requests, default=-1)


def of_each_user(text: str, figure: Figure) -> bool:
    """Whether a number is of each user by the words right behind it, whatever is said of all together: ``6,000 tokens/s in total, 90 tokens/s per user``."""
    share = SHARED.match(text, figure.stop) or SHARED.search(text[figure.end : figure.stop])
    return bool(share and share["user"])


def _of_so_many_tokens(text: str, figure: Figure) -> bool:
    """Whether a number is of so many tokens, which stand right beside it."""
    behind, before = SO_MANY_TOKENS
    return bool(behind.match(text, figure.stop) or before.search(text[max(figure.start - 60, 0) : figure.start]))
