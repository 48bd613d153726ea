"""The settings of a case that a text states in words: batches, lengths, precisions, parallel degrees.

>>> [(word.name, word.value) for word in settings("At batch 32 and a 4k context, FP8 weights and TP 4")]
[('batch', '32'), ('context', '4096'), ('weights', 'fp8'), ('tp', '4')]
"""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from symroof.claims.draft.named_parts import NUMBER_WORDS

COUNT = (
    rf"(?P<count>\d{{1,3}}(?:(?:,|\{{,\}})\d{{3}})+|\d+(?:\.\d+)?|(?:{'|'.join(NUMBER_WORDS)})(?!\w))\s?(?P<kilo>[kK]i?)?(?![\w%]|[.,]\d|\s?(?:GB|GiB|ms|TB|%))"
)
SMALL = rf"(?P<count>\d{{1,4}}|(?:{'|'.join(NUMBER_WORDS)}))(?!\w|[.,]\d)"
IS = r"\)?\s*(?:sizes?|length|degree|tokens?|window)?\s*(?:\((?:tokens?)\))?\s*(?:of|=|:|is|at|to|with|\$=?)?\s*(?:about |around |roughly |up to |~|≈|\$)?\s*"
LENGTHS = {
    "prompt": r"prompts?|inputs?|isl|seq_len|input length",
    "context": r"contexts?|ctx|sequences?|windows?|conversations?|histor(?:y|ies)|documents?|cache length|seqlen|sequence length|depth",
    "output": r"outputs?|osl|completions?|answers?|responses?|repl(?:y|ies)|summar(?:y|ies)",
}
MOST_TOKENS = 20_000_000
LEAST_TOKENS = 16
LEAST_BARE = 1000
"""Fewer without the word are something else: layers, heads, requests."""


@dataclass(frozen=True)
class Setting:
    """A setting that a text states: its name, its value as an annotation has it, and where it stands."""

    name: str
    value: str
    start: int
    end: int
    soft: bool = False
    """Whether it is only inferred: eight cards are a group of eight, perhaps."""


def _patterns() -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Name, pattern, and the value where the pattern has no count."""

    def rule(name: str, text: str, value: str = "") -> tuple[str, re.Pattern[str], str]:
        return name, re.compile(text, re.IGNORECASE), value

    yield rule("batch", rf"\bbatch(?:es|ed)?(?:[- ]?sizes?)?{IS}{SMALL}")
    yield rule("batch", rf"\b(?:bs|max[_-]num[_-]seqs|concurrency)\s?[=:]?\s?{SMALL}")
    yield rule(
        "batch",
        rf"\b{SMALL}[- ](?:(?:concurrent|simultaneous|parallel|active|decoding|running) )?(?:requests|sequences|sessions|users|streams|conversations|chats)\b(?!\s?(?:/|per|a second|fit))",
    )
    yield rule("batch", r"\b(?:one|a|single) (?:single )?(?:user|stream|client)\b|\bsingle[- ](?:user|stream|request|sequence)\b|\bbatch[- ]of[- ]one\b", "1")
    for name, words in LENGTHS.items():
        yield rule(name, rf"(?<![\w.,]){COUNT}[- ]?(?:tokens?[- ])?(?:long[- ])?(?:{words})\b(?! (?:per|layers|heads))")
        yield rule(name, rf"\b(?:{words}){IS}{COUNT}(?:[- ]?tokens?)?\b(?!\s?(?:requests|sequences|users|ms|s\b))")
        yield rule(name, rf"(?<![\w.,]){COUNT}\s?\$?\s?tokens? (?:of|for the|per) (?:the |its )?(?:{words})\b")
        yield rule(name, rf"(?<![\w.,]){COUNT}\s(?:{words}) tokens?\b(?!\s?(?:/|per|a second))")
    yield rule(
        "prompt", rf"(?<![\w.,]){COUNT}\s?tokens? (?:in|prompt)\b|\b[SP]\s?=\s?{COUNT.replace('count', 'count2').replace('kilo', 'kilo2')}\$?\s*tokens?\b"
    )
    yield rule("prompt", rf"(?<![\w.,]){COUNT}[ -]tokens?[ -]requests?\b")
    yield rule("output", rf"(?<![\w.,]){COUNT}\s?(?:tokens? out|new tokens|generated tokens|tokens? long)\b")
    yield rule("context", rf"\bC\s?=\s?{COUNT}")
    yield rule("context?", rf"(?<![\w.,]){COUNT}\s?tokens?\b(?!\s?(?:/|per|a second|of chunk))")
    yield rule("tp", rf"\btp\s?[=:-]?\s?{SMALL}|\btensor[- ]parallel\w*(?:[- ](?:size|degree))?{IS}{SMALL.replace('count', 'count2')}")
    yield rule("tp", rf"\b{SMALL}[- ]way(?:[- ]tensor(?:[- ]parallel\w*)?|[- ]tp| sharding| split)?\b(?![- ](?:pipeline|expert|data))")
    yield rule(
        "pp",
        rf"\bpp\s?[=:-]?\s?{SMALL}|\bpipeline[- ]parallel\w*{IS}{SMALL.replace('count', 'count2')}|\b{SMALL.replace('count', 'count3')} (?:pipeline )?stages\b",
    )
    yield rule("ep", rf"\bep\s?[=:-]?\s?{SMALL}|\bexpert[- ]parallel\w*{IS}{SMALL.replace('count', 'count2')}")
    yield rule("dp", rf"\bdp\s?[=:-]?\s?{SMALL}|\b{SMALL.replace('count', 'count2')} (?:replicas|copies|instances)\b")
    yield rule(
        "tp?",
        rf"\b(?:on|over|across|between|among|with|using|of) (?:all )?{SMALL} (?:of them|gpus|cards|devices|accelerators|chips)\b|\b{SMALL.replace('count', 'count2')}\s?[x×] ?gpus?\b|\bone (?:node|box|server) of {SMALL.replace('count', 'count3')}\b",
    )


PATTERNS = tuple(_patterns())

PRECISIONS = {
    "fp16": r"fp16|float16|half[- ]precision|16[- ]bits?|f16",
    "bf16": r"bf16|bfloat16",
    "fp32": r"fp32|float32|32[- ]bits?|single precision",
    "fp8": r"fp8|float8|e4m3|e5m2",
    "int8": r"int8|8[- ]bits?|q8(?:_0)?",
    "w8a8": r"w8a8",
    "awq": r"awq",
    "gptq": r"gptq",
    "int4": r"int4|4[- ]bits?|w4a16",
    "q4_k_m": r"q4_k_m",
    "nf4": r"nf4",
    "mxfp4": r"mxfp4",
    "nvfp4": r"nvfp4|fp4",
}
PRECISION = re.compile("|".join(rf"(?P<{name}>(?<!\w)(?:{words})(?!\w))" for name, words in PRECISIONS.items()), re.IGNORECASE)
OF_CACHE = re.compile(r"(?<!\w)(?:kv|cache|keys|values|attention)(?!\w)", re.IGNORECASE)
OF_WEIGHTS = re.compile(r"(?<!\w)(?:weights?|checkpoint|parameters?|model|quantized)(?!\w)", re.IGNORECASE)
OF_PEAK = re.compile(r"(?<!\w)(?:peak|tensor(?![- ]parallel)|dense|sparse|[tp]?flops?(?:/s)?|compute)(?!\w)", re.IGNORECASE)
NEAR, NOWHERE = 48, 1000
OF_TOKENS = re.compile(r"tokens?|\d (?:inputs?|outputs?|prompt)$|[io]sl", re.IGNORECASE)
CLAUSE = re.compile(r"[.;:|\n]")


def settings(text: str) -> list[Setting]:
    """Every setting a text states, in order."""
    counted = list(_counted(text))
    ends = sorted((word.start, word.end) for word in counted if not word.soft)
    stated = [word for word in counted if not word.soft or not _overlaps(ends, word)] + list(_precisions(text))
    return sorted(stated, key=lambda word: (word.start, word.end))


def _overlaps(spans: list[tuple[int, int]], word: Setting) -> bool:
    """Whether what is only inferred stands where something is stated."""
    at = bisect.bisect_left(spans, (word.end,))
    return any(start < word.end and word.start < end for start, end in spans[max(at - 4, 0) : at])


def _counted(text: str) -> Iterator[Setting]:
    for name, pattern, value in PATTERNS:
        for match in pattern.finditer(text):
            count = value or _value(match)
            if "way" in match[0] and count == "1":  # one way of a link
                continue
            if count and (name.rstrip("?") not in LENGTHS or _is_length(match[0], int(count))):
                yield Setting(name.rstrip("?"), count, match.start(), match.end(), name.endswith("?"))


def _is_length(text: str, count: int) -> bool:
    """Whether a count is one of tokens: 64 sequences are none, a 2,048 prompt is one."""
    return LEAST_TOKENS <= count <= MOST_TOKENS and (count >= LEAST_BARE or bool(OF_TOKENS.search(text)))


def _value(match: re.Match[str]) -> str:
    """The count of a match as a plain whole number; empty where it is none."""
    groups = match.groupdict()
    written = next((groups[name] for name in ("count", "count2", "count3") if groups.get(name)), "")
    kilo = groups.get("kilo") or groups.get("kilo2") or ""
    return count(written, kilo)


def count(written: str, kilo: str = "") -> str:
    """A written count as digits; ``4k`` tokens are 4,096, ``10k`` are 10,000.

    >>> count("4", "k"), count("10", "k"), count("thirty-two"), count("1,024")
    ('4096', '10000', '32', '1024')
    """
    if written.lower() in NUMBER_WORDS:
        return str(NUMBER_WORDS[written.lower()])
    digits = written.replace("{,}", "").replace(",", "")
    if not kilo:
        return digits if digits.isdigit() and int(digits) else ""
    thousands = float(digits)
    binary = kilo.endswith("i") or (thousands.is_integer() and int(thousands) & (int(thousands) - 1) == 0)
    return str(round(thousands * (1024 if binary else 1000)))


def _precisions(text: str) -> Iterator[Setting]:
    """Precisions, each of the weights, the cache or the arithmetic by the word nearest to it; of the weights, it is inferred, where there is none."""
    for match in PRECISION.finditer(text):
        low, high = max(match.start() - NEAR, 0), match.end() + NEAR
        before, after = CLAUSE.split(text[low : match.start()])[-1], CLAUSE.split(text[match.end() : high])[0]
        distances = {name: _distance(pattern, before, after) for name, pattern in (("weights", OF_WEIGHTS), ("kv", OF_CACHE), ("compute", OF_PEAK))}
        of = min(distances, key=lambda name: distances[name])
        yield Setting(of, str(match.lastgroup), match.start(), match.end(), distances[of] == NOWHERE)


def _distance(pattern: re.Pattern[str], before: str, after: str) -> int:
    """How far the nearest word of a pattern is; what follows counts as a little nearer than what precedes."""
    behind = [len(before) - match.end() + 2 for match in pattern.finditer(before)]
    ahead = [match.start() for match in pattern.finditer(after)]
    return min([*behind, *ahead], default=NOWHERE)
