"""What a golden answer keeps of an answer, and where two of them differ."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

CLOSE, DIGITS = 1e-9, 12
ROUNDING = 1e-12
PROSE = {
    *("text", "latex", "says", "means", "meaning", "message", "reason", "because"),
    *("title", "warnings", "source", "unit", "units", "read", "solved", "line", "command"),
    *("claimed_text", "derived_text", "correction", "schema", "column", "x_name", "y_name"),
    "label",
}
"""Keys of words; units are base units, and where a number comes from is said in words."""
FORMULAS = {"closed_form", "where", "conditions", "equation", "definition", "expanded"} | {
    "substituted",
    "steps",
    "branches",
}
"""Keys of formulas: another engine may write them otherwise. Their values stand beside them."""
TIMED = {"slips", "assumptions_needed"}
"""Keys of what is searched for until a time is up: a loaded machine finds less."""
NAMES = ("id", "name", "quantity", "symbol", "flag", "operator", "metric", "label", "model")
"""What the entries of a list are named by, the first that they all have."""
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+*/-]{0,39}")
"""A name or a verdict; a sentence has spaces."""
GONE = object()


def kept(answer: Any) -> Any:
    """Numbers, truths and names of an answer under their keys, without the words.

    >>> kept({"value": 1 / 3, "says": "a third", "bound": "memory", "list": [{"name": "b", "n": 2}]})
    {'value': 0.333333333333, 'bound': 'memory', 'list': {'b': {'n': 2}}}
    """
    found = _kept(answer)
    return {} if found is GONE else found


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        chosen = {key: value[key] for key in value if key not in PROSE | FORMULAS | TIMED}
        return {str(key): found for key in chosen if (found := _kept(chosen[key])) is not GONE}
    if isinstance(value, (list, tuple)):
        return _by_name(list(value))
    if isinstance(value, str):
        return value if WORD.fullmatch(value) else GONE
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    return value if value is None or isinstance(value, (bool, int)) else str(value)


def _by_name(entries: list[Any]) -> Any:
    """A list by the names of its entries, where they have any; equal names are counted."""
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        return [found for entry in entries if (found := _kept(entry)) is not GONE]
    by = next((key for key in NAMES if all(isinstance(e.get(key), str) for e in entries)), None)
    if by is None:
        return [_kept(entry) for entry in entries]
    seen: Counter[str] = Counter()
    named = {}
    for entry in entries:
        seen[entry[by]] += 1
        name = entry[by] + (f" #{seen[entry[by]]}" if seen[entry[by]] > 1 else "")
        named[name] = _kept({key: entry[key] for key in entry if key != by})
    return named


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ; keys that are new are no difference, keys that are gone are.

    >>> list(differences({"a": 1.0, "b": 2, "c": "x"}, {"a": 1.0 + 1e-12, "b": 3, "d": 0}))
    ['.b: 2, now 3', '.c: gone, was x']
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key, was in old.items():
            if key in new:
                yield from differences(was, new[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: gone, was {was}"[:200]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from differences(was, now, f"{path}[{i}]")
    elif not _same(old, new):
        yield f"{path}: {old}, now {new}"[:300]


def _same(old: Any, new: Any) -> bool:
    """Whether two values are equal but for rounding, or close where the old one is no whole number.

    >>> _same(2, 2.0), _same(0.1, 0.1 + 1e-13), _same(1, True), _same(10, 10.0000000001)
    (True, True, False, False)
    """
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, float) and isinstance(new, (int, float)):
        return math.isclose(old, new, rel_tol=CLOSE)
    if isinstance(old, int) and isinstance(new, float):
        return abs(old - new) <= ROUNDING * max(abs(old), 1)
    return bool(old == new)
