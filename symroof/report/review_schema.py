"""The parts of a review, and the JSON Schema of its data for built-in and custom templates.

Texts contain rounded numbers with units; a table is a list of rows. Unknown values are null.
"""

from typing import Any

BRIEF = ("verdict", "alternatives", "memory", "time", "flips", "thresholds", "claims", "against")
"""The parts of a review before its appendix."""
PARTS = (
    *BRIEF,
    "derivations",
    "serving",
    "all-thresholds",
    "all-flips",
    "sensitivities",
    "approximations",
    "ledger",
    "sources",
)
"""Every part, in order."""
FIGURES_OF = {
    "verdict": ("memory", "pareto"), "alternatives": ("pareto", "latency-throughput"), "memory": ("memory",), "all-thresholds": ("regimes",),
    "derivations": ("roofline", "ttft", "itl", "memory"), "sensitivities": ("tornado",), "against": ("waterfall",),
}  # fmt: skip
"""The pictures of each part."""
SHOWN_IN = {
    "derivations": ("derivations",), "flips": ("verdict", "flips", "all-flips"), "cases": ("alternatives", "derivations", "all-flips"), "lacking": ("all-flips",),
    "ledger": ("ledger",), "memory": ("memory",), "ttft": (), "itl": ("derivations",), "operators": ("time", "derivations"), "serving": ("serving",),
    "thresholds": ("thresholds", "all-thresholds"), "claims": ("claims",), "elasticities": ("sensitivities",), "approximations": ("time", "approximations"),
}  # fmt: skip
"""The parts that use a section of the data; it is only computed for these. Other sections are always computed."""
FIGURES = (
    "memory",
    "latency_throughput",
    "ttft",
    "itl",
    "roofline",
    "regimes",
    "pareto",
    "tornado",
    "waterfall",
)
"""Names of the figures in templates; a figure that is not drawn is None."""

TEXT, TRUTH, COUNT, NUMBER, TEXTS, ROWS = "text", "truth", "count", "number", "texts", "rows"
TYPES: dict[str, dict[str, Any]] = {
    TEXT: {"type": ["string", "null"]},
    TRUTH: {"type": ["boolean", "null"]},
    COUNT: {"type": ["integer", "null"]},
    NUMBER: {"type": ["number", "null"]},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    ROWS: {"type": "array", "items": {"type": "array"}},
    "object": {"type": ["object", "null"]},
    "objects": {"type": ["array", "null"], "items": {"type": "object"}},
}
Field = tuple[str, str]
"""A type and a description."""

WRITING = """A template is Jinja that writes a value as << title >>, a statement as <% if flips %> … <% endif %> and a comment as <# … #>. \
Values are escaped for the format that is written. <% import "formats/" ~ format_name ~ ".j2" as f with context %> brings the parts of a document: \
f.document_begin(title), f.section(text), f.subsection(text), f.table(header, rows), f.figure(picture, caption), f.b(text), f.document_end(), and \
paragraphs as <% call f.p() %> … <% endcall %>. Filters of its own: joined (a list as a text), as_code (a name as it is typed). \
<% include "review.j2" %> writes the shipped review."""

FIELDS: dict[str, Field] = {
    "title": (TEXT, "title of the study, or the case in a line"),
    "subject": (TEXT, "the case that the review details, in a line"),
    "warnings": (TEXTS, "what a reader must know before any number"),
    "verdict": ("object", "the state of the subject, what limits it, what would change it"),
    "decision": (
        "object",
        "page one: key numbers, what they rest on, whether the case or any other does not fit",
    ),
    "derivations": ("objects", "a block for each derived quantity: name, heading, lines"),
    "flips": (
        "object",
        "values of inputs at which the verdict changes, for the better and for the worse, the nearest first",
    ),
    "cases": ("objects", "every case of the study in a row"),
    "lacking": ("object", "what each failing case lacks: rows, and how many more there are"),
    "ledger": ("object", "inputs with their sources, defaults, counting choices, precisions"),
    "memory": ("object", "what has to fit, part by part, for every case"),
    "ttft": ("object", "time to first token of one request alone, with its bound and intensity"),
    "itl": (
        "object",
        "a decode step of one request alone: first, mean and last, with its bound and intensity",
    ),
    "operators": (
        "objects",
        "for each step the operators, the slowest first: share, time, bound, intensity, work, traffic",
    ),
    "serving": ("objects", "serving quantities for the study's inputs, by group"),
    "thresholds": (
        "objects",
        "every threshold by group, solved: value, formula, conditions, reason",
    ),
    "claims": ("object", "claims of the study's texts with their verdicts"),
    "against": ("object", "what leads to another case or tool that the review is compared with"),
    "elasticities": ("object", "change of each metric in per cent as an input grows by one"),
    "approximations": ("object", "the same case at other levels of detail and other rooflines"),
    "parts": (TEXTS, "the parts that this review prints"),
    "symbols": (ROWS, "symbols that the thresholds speak in: symbol, name, meaning"),
    "notes": (TEXTS, "notes of the study"),
    "sources": (ROWS, "documents that numbers come from: entry, document, address"),
    "inputs": (ROWS, "files behind the review: name, content hash"),
    "version": (TEXT, "version of symroof"),
    "command": (TEXT, "the command line that makes the review again"),
    "figures": (
        "object",
        "pictures by name, each with its file, alternative text and what it says; null where it is not drawn",
    ),
    "live": ("object", "of HTML alone: data, JSON and script of the live page"),
    "most": ("object", "rows that page one and the body take of what the appendix has in full"),
    "format_name": (TEXT, "markdown, latex or html"),
}
CASE: dict[str, Field] = {
    "title": (TEXT, "the case in a line"),
    "label": (TEXT, "what tells it from the other cases; marked † where it does not fit"),
    "is_subject": (TRUTH, "whether it is the case that the review details"),
    "fits": (TEXT, "yes, no, or not known"),
    "memory": (TEXT, "memory it needs"),
    "ttft": (
        TEXT,
        "time to first token: of a server under load, or of one request alone where targets apply to that",
    ),
    "itl": (TEXT, "inter-token latency, likewise"),
    "rate": (TEXT, "output tokens a second, likewise"),
    "isolated": (
        TEXTS,
        "of one prefill and a batch that decodes alone: TTFT, ITL, ITL at the last step, output rate",
    ),
    "verdict": (TEXT, "whether it meets its targets: met, missed, in part, not known, none set"),
    "cost": (TEXT, "cost per million output tokens"),
    "findings": (TEXTS, "its faults by name: does_not_fit, ttft_missed, …"),
    "targets": ("objects", "each target: name, limit, value, state (met, missed, partly), slack"),
    "unjudged": ("object", "targets that cannot be judged, each with what is missing"),
}
FLIP: dict[str, Field] = {
    "name": (TEXT, "the input"),
    "label": (TEXT, "the input in words"),
    "now": (TEXT, "its value"),
    "at": (TEXT, "the value at which the verdict changes"),
    "up": (TRUTH, "whether that is above the value now"),
    "counted": (TRUTH, "whether the input counts things"),
    "until": (TEXT, "the next value at which it changes back"),
    "more_turns": (
        TEXT,
        "how many more times the verdict changes further away, in words; empty for none",
    ),
    "everywhere": (TRUTH, "whether it does so in all of the ranges"),
    "ends_named": (
        TRUTH,
        "whether the range of that value names an end where there is none: never, any",
    ),
    "inside": (TRUTH, "whether the value lies inside the input's own range"),
    "evenly": (TEXT, "devices that divide the heads evenly, where those of the flip do not"),
    "change": (TEXT, "how far away: +29 %, ×3.5"),
    "condition": (TEXT, "what changes: memory, ttft, itl, load, cost, price"),
    "holds": (TRUTH, "whether the condition holds from there on"),
    "wrong": (TEXTS, "the conditions that fail there"),
    "good": (TRUTH, "whether everything holds there"),
    "ruins": (TRUTH, "whether everything holds now and no longer there"),
}
INSIDE: dict[str, dict[str, Field]] = {
    "verdict": {
        "state": (
            TEXT,
            "does_not_fit, fits_partly, missed, not_known, partly, met, no_targets or memory_unknown",
        ),
        "case": (TEXT, "the case in a line"),
        "needed": (TEXT, "memory it needs"),
        "usable": (TEXT, "memory it may use"),
        "short": (TEXT, "memory it lacks"),
        "spare": (TEXT, "memory left over"),
        "devices": (COUNT, "devices of an instance"),
        "targets": (
            "objects",
            "each target: name, limit, value, state (met, missed, partly), slack",
        ),
        "unjudged": ("object", "targets that cannot be judged, each with what is missing"),
        "prefill_bound": (TEXTS, "what limits the prefill; several over ranges"),
        "decode_bound": (TEXTS, "what limits a decode step; several over ranges"),
        "prefill_intensity": (TEXT, "FLOP a byte of the prefill"),
        "decode_intensity": (TEXT, "FLOP a byte of a decode step"),
        "ridge": (
            TEXT,
            "FLOP a byte at which compute and memory bandwidth balance, efficiencies counted",
        ),
        "alternatives": (
            "objects",
            "one change at a time: the keys of a case, kind and label of the change, gain, bounds at the peak, fits (a truth), shown_fits, "
            "and passes: whether it fits and meets every target, null where it does with ranges at their middle and not throughout",
        ),
        "at_corners": (TRUTH, "whether ranges of the alternatives are evaluated at their corners"),
        "good": (
            "objects",
            "those that fit and meet every target, ranges at their middle where the case itself does not",
        ),
        "fitting": ("objects", "those that fit"),
        "ridge_batch": (
            "object",
            "the batch at which decode becomes compute-bound: shown, exists, memory, number",
        ),
        "limits": ("object", "other limits by the name of their threshold, in the same form"),
        "ttft": (TEXT, "time to first token of one request alone"),
        "itl": (TEXT, "the last step of a batch that decodes alone"),
        "rate": (TEXT, "output tokens a second of that batch"),
        "all_usable": (TRUTH, "whether nothing of the memory is set aside"),
        "others": (
            "object",
            "labels of the other cases by what they amount to: does_not_fit, missed, not_known, met",
        ),
        "recommended": (
            "object",
            "of a case that fails the cheapest configuration that passes: found (label, batch, replicas, devices, price, cost, targets; null where none does), and "
            "what was tried: devices, weights, replicas (a truth), nearest (the label of the nearest miss)",
        ),
        "options": (
            ROWS,
            "what is recommended, the case and the others side by side: label, outcome, first token, time between tokens, output rate, cost of a million tokens, price; empty where there is one",
        ),
        "beyond": (
            ROWS,
            "latency targets that the device misses at its peak, so that no tuning meets them: target, bound, limit",
        ),
    },
    "decision": {
        "under_load": (TRUTH, "whether latencies are those of a server under load"),
        "numbers": (ROWS, "key numbers: quantity, value with its range, bound, target, slack"),
        "basis": (TEXT, "what the latencies, rates and costs rest on"),
        "bounds": (ROWS, "each case at the peak of its device: label, TTFT, ITL, rate, cost"),
        "rests_on": (
            ROWS,
            "efficiencies, and defaults that could change the verdict: input, value (empty: not modelled), evidence",
        ),
        "does_not_fit": (TRUTH, "whether the case fails to fit anywhere in its ranges"),
        "some_do_not_fit": (TRUTH, "whether that is so of any case of the study"),
        "passing": (
            "object",
            "other cases that meet every target, the cheapest first: labels, how many more, whether throughout their ranges (everywhere), and whether other list prices would change it (at_median)",
        ),
        "cases": (COUNT, "cases of the study"),
        "use": (TEXT, "the reviewed case in few words, where it meets every target"),
        "ruled_out": (
            ROWS,
            "other devices of which no case passes: label, the target missed (never …: at the peak too; or memory), value, limit",
        ),
        "next": (
            "object",
            "commands to go on with: select, compare; null where the study is no file",
        ),
        "standing": (TEXT, "where ranges are evaluated, in words; empty if no case has any"),
    },
    "derivations": {
        "name": (TEXT, "the quantity"),
        "heading": (TEXT, "the quantity in words"),
        "lines": (
            "objects",
            "for each name: name, symbol, meaning, left side, steps of the formula, and rows with both",
        ),
    },
    "flips": {
        "better": ("objects", "flips that repair something"),
        "worse": ("objects", "flips that break something"),
        "nearest": (COUNT, "how many of each the body shows"),
        "far": (
            "objects",
            "those that break something further away than far_factor, ranges as standing has them",
        ),
        "far_factor": (TEXT, "the factor beyond which a flip is far"),
        "never": (TEXTS, "inputs whose value changes nothing"),
        "ranged": (TRUTH, "whether some input is a range"),
        "standing": (TEXT, "where ranges are evaluated, in words"),
        "waits": (
            TEXT,
            "where TTFT holds an estimated wait: the command that searches for what makes it miss its target, which is not among these",
        ),
        "good_now": (TRUTH, "whether everything holds now"),
        "mending": (
            "objects",
            "flips after which everything holds, no further away than far_factor, the nearest first",
        ),
        "risks": ("objects", "the nearest flips after which it no longer does"),
    },
    "cases": CASE,
    "memory": {
        "parts": (ROWS, "what has to fit: name, size, meaning"),
        "usable": (TEXT, "memory it may use"),
        "free": (TEXT, "memory left over"),
        "short": (TRUTH, "whether it fails to fit"),
        "utilization": (TEXT, "share of the usable memory"),
        "concurrency": (TEXT, "requests that memory holds"),
        "logical": (TEXT, "the cache that the tokens need"),
        "set_aside": (TEXTS, "what engines allocate for it, where that is notably more"),
        "header": (TEXTS, "the parts in words, as columns of rows"),
        "rows": (ROWS, "each case: label, the parts, total, usable, fits"),
        "devices": (COUNT, "devices of an instance"),
        "all_usable": (TRUTH, "whether nothing of the memory is set aside"),
    },
    "operators": {
        "step": (TEXT, "prefill, decode, mixed, loaded, verify"),
        "rows": (ROWS, "operator, share, time, bound, FLOP a byte, work, traffic"),
        "link": (TEXT, "time between devices"),
        "overhead": (TEXT, "overheads: fixed costs, and traffic between operators"),
        "traffic_between": (TRUTH, "whether that traffic is among them"),
    },
    "serving": {
        "heading": (TEXT, "the group"),
        "rows": (ROWS, "quantity, formula, value, meaning"),
    },
    "thresholds": {
        "heading": (TEXT, "the group"),
        "entries": (
            "objects",
            "name, value, reason (what it means), memory, equation, formula, unknown, and rank among those near the case, 0 elsewhere",
        ),
    },
    "ledger": {
        "chosen_inputs": (ROWS, "input, symbol, value, source"),
        "defaulted": (ROWS, "input, symbol, value, meaning"),
        "chosen": (ROWS, "counting choices that were made: name, value, meaning"),
        "standard": (ROWS, "counting choices at their default: name, value, meaning"),
        "precisions": (ROWS, "what is stored, and in what"),
        "compute": (TEXT, "the precision whose peak counts"),
    },
    "lacking": {
        "rows": (ROWS, "case, input, value now, what passes, change"),
        "more": (COUNT, "failing cases beyond those"),
    },
    "elasticities": {
        "metrics": (TEXTS, "the columns"),
        "rows": (ROWS, "input, then a figure for each metric"),
        "best": ("object", "the strongest input of each latency"),
    },
    "approximations": {
        "levels": (ROWS, "detail, TTFT, ITL, intensity of prefill and decode"),
        "rooflines": (ROWS, "roofline, TTFT, ITL"),
        "apart": (TRUTH, "whether the rooflines differ by more than two per cent"),
    },
    "figures": {},
}
"""The keys of each object, or of the entries of a list."""
INSIDE["figures"] = dict.fromkeys(
    FIGURES, ("object", "file, alt (alternative text) and says (the takeaway)")
)


def review_schema() -> dict[str, Any]:
    """The JSON Schema of the data that a review's template gets.

    >>> review_schema()["properties"]["version"]
    {'type': ['string', 'null'], 'description': 'version of symroof'}
    >>> review_schema()["properties"]["flips"]["properties"]["better"]["items"]["properties"]["now"]["description"]
    'its value'
    """
    properties = {name: _described(field, INSIDE.get(name, {})) for name, field in FIELDS.items()}
    inside = properties["flips"]["properties"]
    for name in ("better", "worse", "far", "risks"):
        inside[name]["items"] = _object(FLIP)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Review", "description": WRITING, "type": "object", "properties": properties,
    }  # fmt: skip


def _described(field: Field, inside: dict[str, Field]) -> dict[str, Any]:
    kind, meaning = field
    made = {**TYPES[kind], "description": meaning}
    if inside and kind == "objects":
        return {**made, "items": _object(inside)}
    return {**made, "properties": _object(inside)["properties"]} if inside else made


def _object(fields: dict[str, Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _described(field, {}) for name, field in fields.items()},
    }
