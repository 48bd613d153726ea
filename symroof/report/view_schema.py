"""The data of a review as a JSON Schema: what templates, the shipped one and your own, have to write with.

Texts come with their numbers rounded and their units; a table is its rows of cells. What a case lacks is null.
"""

from __future__ import annotations

from typing import Any

TEXT, TRUTH, COUNT, TEXTS, ROWS = "text", "truth", "count", "texts", "rows"
TYPES: dict[str, dict[str, Any]] = {
    TEXT: {"type": "string"},
    TRUTH: {"type": "boolean"},
    COUNT: {"type": "integer"},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    ROWS: {"type": "array", "items": {"type": "array"}},
    "object": {"type": ["object", "null"]},
    "objects": {"type": ["array", "null"], "items": {"type": "object"}},
}
Field = tuple[str, str]
"""A type, and its parts."""

FIELDS: dict[str, Field] = {
    "title": (TEXT, "title of the study, or the case in a line"),
    "subject": (TEXT, "the case that the review goes into, in a line"),
    "warnings": (TEXTS, "what a reader must know before any number"),
    "verdict": ("object", "the state of the subject, what limits it, what would change it"),
    "decision": ("object", "page one: key numbers, what they rest on, whether the case or any other does not fit"),
    "derivations": ("objects", "a block for each derived quantity: name, heading, lines"),
    "flips": ("object", "values of inputs at which the verdict changes, for the better and for the worse, the nearest first"),
    "cases": ("objects", "every case of the study in a row"),
    "lacking": ("object", "what each failing case lacks: rows, and how many more there are"),
    "ledger": ("object", "inputs with their sources, defaults, counting choices, precisions"),
    "memory": ("object", "what has to fit, part by part, for every case"),
    "ttft": ("object", "time to first token of one request alone, with its bound and intensity"),
    "itl": ("object", "a decode step of one request alone: first, mean and last, with its bound and intensity"),
    "operators": ("objects", "for each step the operators, the slowest first: share, time, bound, intensity, work, traffic"),
    "serving": ("objects", "serving quantities that the study's inputs ask for, by group"),
    "thresholds": ("objects", "every threshold by group, solved: value, formula, conditions, reason"),
    "claims": ("object", "claims of the study's texts with their verdicts"),
    "against": ("object", "what leads to another case or tool that the review is held against"),
    "elasticities": ("object", "change of each metric in per cent as an input grows by one"),
    "approximations": ("object", "the same case at other levels of detail and other rooflines"),
    "parts": (TEXTS, "the parts that this review prints"),
    "symbols": (ROWS, "symbols that the thresholds speak in: symbol, name, meaning"),
    "notes": (TEXTS, "notes of the study"),
    "sources": (ROWS, "documents that numbers come from: entry, document, address"),
    "inputs": (ROWS, "files behind the review: name, content hash"),
    "version": (TEXT, "version of symroof"),
    "command": (TEXT, "the command line that makes the review again"),
    "figures": ("object", "pictures by name, each with its file, alternative text and what it says; null where it is not drawn"),
    "live": ("object", "of HTML alone: data, JSON and script of the live page"),
    "most": ("object", "rows that page one and the body take of what the appendix has in full"),
    "format_name": (TEXT, "markdown, latex or html"),
}
VERDICT: dict[str, Field] = {
    "state": (TEXT, "does_not_fit, fits_partly, missed, partly, met, no_targets or memory_unknown"),
    "case": (TEXT, "the case in a line"),
    "needed": (TEXT, "memory it needs"),
    "usable": (TEXT, "memory it may use"),
    "spare": (TEXT, "memory left over"),
    "devices": (COUNT, "devices of an instance"),
    "targets": ("objects", "each target: name, limit, value, state (met, missed, partly), slack"),
    "prefill_bound": (TEXTS, "what limits the prefill; several over ranges"),
    "decode_bound": (TEXTS, "what limits a decode step; several over ranges"),
    "alternatives": ("objects", "one change at a time, each worked out: kind, label, gain, bounds at the peak, whether it fits and meets every target"),
    "others": ("object", "labels of the other cases by what they amount to"),
}


def review_schema() -> dict[str, Any]:
    """The JSON Schema of the data that a review's template gets.

    >>> review_schema()["properties"]["title"]
    {'type': 'string', 'description': 'title of the study, or the case in a line'}
    """
    properties = {name: _described(field) for name, field in FIELDS.items()}
    properties["verdict"] = {"type": "object", "description": FIELDS["verdict"][1], "properties": {name: _described(field) for name, field in VERDICT.items()}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Review", "type": "object", "properties": properties}


def _described(field: Field) -> dict[str, Any]:
    kind, meaning = field
    return {**TYPES[kind], "description": meaning}
