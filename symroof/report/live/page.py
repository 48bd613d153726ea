"""The data and script of a live page, generated from the formulas of the case."""

import base64
import contextlib
import hashlib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.verdict import LOAD, NOT_AT, TARGET_METRICS, metrics_of, queues, under_load
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import NO_RANGE, WITHOUT_RANGE
from symroof.errors import InputError
from symroof.report.field_names import PER_REPLICA, input_name, quantity_words
from symroof.report.live.javascript_program import Program, javascript_list
from symroof.report.live.settings import (
    Ends,
    Setting,
    at_peak,
    differing,
    ends,
    expected,
    limit_of_bandwidth,
    of_links,
    over_ranges,
    settings,
    together,
    values_of,
)
from symroof.report.live.threshold_formulas import ThresholdFormula, threshold_formula
from symroof.report.view_case import NO_STEADY_STATE, PARTS, WIDE, decision_metrics
from symroof.report.view_decision import AT_MEDIAN, IN_PART, MOST_NUMBERS, UNBOUNDED, key_metrics
from symroof.resources import data_folder
from symroof.symbolic.expressions import Expr, is_number, symbol
from symroof.symbolic.kernels import nearly_equal
from symroof.theory.symbols import INPUTS, NOUNS, TARGET_SYMBOLS, base_name
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import COUNTED, DECIMAL_PREFIXES, SYMBOLS, is_whole, parse_unit

WHOLE, SHARES = ("batch", "prompt", "output"), ("mfu", "mbu")
LONGEST, LARGEST_BATCH, MOST_DEVICES, MOST_REPLICAS, MOST_REQUESTS = 16_384, 4_096, 16, 256, 1_000
"""Maxima of the controls."""
MOST_PRINTED = 20_000
"""Maximum characters of a threshold's closed forms, to keep the page small."""
MEMORY_PARTS = (
    "weight_bytes_per_device",
    "peak_kv_cache_bytes_per_device",
    "state_bytes_per_device",
    "memory_reserve",
)
MEMORY_FIGURES = (
    "memory_bytes",
    "usable_memory",
    "free_memory",
    "fits",
    "memory_bytes_per_device",
    "usable_memory_per_device",
    "concurrency",
    "instance_devices",
)
LIMITING = (
    "prefill_bound",
    "prefill_intensity",
    "decode_bound",
    "decode_intensity",
    "effective_ridge",
)


@dataclass
class SettingGroup:
    """Settings with the same formulas, and their program and thresholds."""

    settings: list[Setting]
    program: Program
    forms: list[ThresholdFormula]
    table: dict[str, list[float | None]]
    ends: list[Ends]


@dataclass
class Side:
    """The page for one way in which requests come: a batch that is always full, or an arrival rate."""

    subject: BoundCase
    chosen: list[Setting]
    controls: list[dict[str, Any]]
    groups: list[SettingGroup]


def live(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """Data and script of the live page; None without a model on a device or an input that is a plain number."""
    sides = [
        side
        for each in (subject, _at_a_rate(subject))
        if each is not None and (side := _side(study, each)) is not None
    ]
    if not sides or sides[0].subject is not subject:
        return None
    first, controls = sides[0], sides[-1].controls
    offsets = [sum(len(side.groups) for side in sides[:i]) for i in range(len(sides))]
    chosen = first.chosen
    data: dict[str, Any] = {
        "controls": controls,
        "optional": [
            control["name"]
            for control in controls
            if control["name"] not in {own["name"] for own in first.controls}
        ],
        "devices": {
            setting.device: setting.bound_case.hardware.title
            for setting in chosen
            if setting.bound_case.hardware
        },
        "weights": list(dict.fromkeys(setting.weights for setting in chosen)),
        "cache": list(dict.fromkeys(setting.cache for setting in chosen)),
        "start": chosen[0].key,
        "model": subject.model.shown_name if subject.model else "",
        "most": MOST_NUMBERS,
        "in_part": IN_PART,
        "at_median": AT_MEDIAN,
        "not_at": NOT_AT,
        "unbounded": NO_STEADY_STATE,
        "waiting": TARGET_METRICS["ttft"],
        "per_replica": sorted(PER_REPLICA),
        "wide": float(WIDE),
        "no_range": WITHOUT_RANGE[NO_RANGE],
        "memory": {name: word for name, word in PARTS.items() if subject.case.theory.knows(name)},
        "sides": [_side_data(side, offset) for side, offset in zip(sides, offsets, strict=True)],
        "thresholds": [
            [_described(form, side.subject) for form in group.forms]
            for side in sides
            for group in side.groups
        ],
    }
    code = script([group for side in sides for group in side.groups])
    return {
        "data": data,
        "json": json_for_script(data),
        "script": code,
        "hash": content_hash(code),
        "controls": controls,
    }


def _at_a_rate(subject: BoundCase) -> BoundCase | None:
    """The subject with requests that arrive at half the rate that it can serve; None where it has a rate, or targets no server under load."""
    if not under_load(subject.case) or "arrival_rate" in subject.given:
        return None
    served = subject.get("sustained_requests")
    if served is None or not served.value:
        return None
    half = Fraction(f"{float(served.value * subject.case.value('dp')) / 2:.2g}")
    with contextlib.suppress(InputError):
        return variant(subject, arrival_rate=half)
    return None


def _side(study: Study, subject: BoundCase) -> Side | None:
    chosen = settings(study, subject)
    controls = _controls(subject)
    if not chosen or not controls:
        return None
    moved, peaks = frozenset(control["name"] for control in controls), frozenset(at_peak(chosen))
    return Side(
        subject, chosen, controls, [_group(own, subject, moved, peaks) for own in _grouped(chosen)]
    )


def _side_data(side: Side, offset: int) -> dict[str, Any]:
    """What the page has to know of a side besides its formulas; its groups are counted from ``offset``."""
    subject, quantities = side.subject, _quantities(side.subject)
    degrees = next((control["options"] for control in side.controls if control["name"] == "tp"), ())
    made: dict[str, Any] = {
        "numbers": _numbers(subject),
        "targets": _targets(subject),
        "priced": [name for name in quantities if subject.priced(name)],
        "peak": at_peak(side.chosen),
        "bounded": [
            name
            for name in quantities
            if name not in UNBOUNDED
            and subject.case.theory.timed(name)
            and not is_number(subject.case.given.get(name))
        ],
        "ranged": over_ranges(quantities, subject),
        "ranged_at_peak": over_ranges(quantities, subject.at_peak or subject),
        "links": of_links(side.chosen[0], degrees),
        "together": together(side.chosen),
        "curve": _curve(subject),
        "dp": float(subject.case.value("dp")),
        "units": _units(subject),
        "settings": {},
    }
    for i, group in enumerate(side.groups, offset):
        for j, setting in enumerate(group.settings):
            prices = [float(price) for price in setting.bound_case.list_prices]
            made["settings"][setting.key] = [
                i,
                {name: row[j] for name, row in group.table.items()},
                group.ends[j],
                prices,
                limit_of_bandwidth(setting),
            ]
    return made


def _controls(subject: BoundCase) -> list[dict[str, Any]]:
    """The inputs with a control, each with value and limits."""
    case, model = subject.case, subject.model
    most = {
        "batch": LARGEST_BATCH,
        "prompt": (model and model.max_context) or 10**6,
        "output": LONGEST,
        "dp": MOST_REPLICAS,
    }
    arrivals = ("arrival_rate", "dp") if "arrival_rate" in subject.given else ()
    plain = [name for name in ("tp", *WHOLE, *arrivals, *SHARES) if _is_plain(name, subject)]
    if "tp" in plain and not _same_with_open(("tp",), subject):
        plain.remove("tp")
    controls = []
    for name in plain:
        value = float(case.value(name))
        entry: dict[str, Any] = {
            "name": name,
            "label": input_name(name, subject),
            "value": value,
            "shown": f"{value:.4g}" if name in (*SHARES, "arrival_rate") else f"{int(value)}",
            "options": None,
        }
        if name == "tp":
            entry["options"] = sorted(
                {
                    int(value),
                    *(2**i for i in range(MOST_DEVICES.bit_length()) if case.can_split_heads(2**i)),
                }
            )
        elif name in SHARES:
            entry |= {"least": 0.01, "most": 1, "whole": False}
        elif name == "arrival_rate":
            entry |= {"least": 0.01, "most": MOST_REQUESTS, "whole": False}
        else:
            least = (
                int(case.value("cached_prefix")) + 1
                if name == "prompt"
                else 2
                if name == "output" and value > 1
                else 1
            )
            entry |= {"least": least, "most": max(most[name], int(value)), "whole": True}
        controls.append(entry)
    return controls


def _same_with_open(degrees: Collection[str], subject: BoundCase) -> bool:
    """Whether formulas for any number of devices give the subject's own numbers: a cache per token that somebody set is that of one number."""
    open_case = subject.case.without_values(degrees, rounded=True)
    for name in filter(subject.case.has_value, _quantities(subject)):
        if not open_case.has_value(name):
            return False
        own, there = subject.case.value(name), open_case.value(name)
        near = isinstance(own, float) and bool(nearly_equal(own, there))  # formulas round otherwise
        if not (near or own == there):
            return False
    return True


def _is_plain(name: str, subject: BoundCase) -> bool:
    """Whether an input is a known integer, share or rate, and not a formula."""
    case = subject.case
    known = name in case.given or case.default(name) is not None
    return (
        known
        and case.is_input(name)
        and case.has_value(name)
        and (name in (*SHARES, "arrival_rate") or is_whole(case.value(name)))
    )


def _grouped(chosen: Sequence[Setting]) -> list[list[Setting]]:
    """Settings with the same formulas: of one architecture, under the same switches, with the same per-operator widths and given formulas."""
    groups: dict[Any, list[Setting]] = {}
    for setting in chosen:
        bound = setting.bound_case
        dotted = frozenset(name for name in bound.given if base_name(name) != name)
        formulas = frozenset(
            (name, tree) for name, tree in bound.given_case.given.items() if not is_number(tree)
        )
        groups.setdefault((bound.architecture, bound.assumptions, dotted, formulas), []).append(
            setting
        )
    return list(groups.values())


def _group(
    own: list[Setting], subject: BoundCase, moved: frozenset[str], peaks: frozenset[str]
) -> SettingGroup:
    bound = [setting.bound_case.given_case for setting in own]
    spans, values = [ends(setting) for setting in own], [expected(setting) for setting in own]
    own_values = dict.fromkeys(
        [
            *(name for name in SHARES if name in moved),
            *sorted(peaks),
            *(name for span in spans for name in span),
        ]
    )
    table = differing(bound, {*moved, *own_values})
    table |= {
        name: [
            there.get(name, values_of(case, [name])[name])
            for case, there in zip(bound, values, strict=True)
        ]
        for name in own_values
    }
    lacking = frozenset(name for name, row in table.items() if None in row)
    first = own[0].bound_case
    symbolic = first.at(first.case.without_values(moved, rounded=True))
    program = Program(symbolic.case, frozenset({*moved, *table}), lacking)
    program.add(*(symbol(name) for name in _quantities(subject)))
    forms = [form for form in _forms(first, symbolic) if _length(form, program) <= MOST_PRINTED]
    for form in forms:
        program.add(*(value for value, _ in form.branches))
        program.add(
            form.difference,
            symbol("fits"),
            *(tree for _, conditions in form.branches for tree in conditions),
            changed=form.threshold.unknown,
        )
    reached = {name for asked, _ in program.functions.values() for name in asked} | {
        name for name in own_values if name in moved
    }
    table = {name: row for name, row in table.items() if name in reached}
    return SettingGroup(
        own,
        program,
        forms,
        table,
        [{name: span[name] for name in span if name in reached} for span in spans],
    )


def _length(form: ThresholdFormula, program: Program) -> int:
    return sum(
        len(program.text(tree))
        for value, conditions in form.branches
        for tree in (value, *conditions)
    )


def _forms(first: BoundCase, symbolic: BoundCase) -> list[ThresholdFormula]:
    declared = [
        threshold
        for threshold in THRESHOLDS.values()
        if all(map(first.case.is_set, (*threshold.needs, *threshold.when)))
    ]
    return [
        form
        for threshold in declared
        if (form := threshold_formula(threshold, first, symbolic)) is not None
    ]


def _quantities(subject: BoundCase) -> list[str]:
    """The quantities that the page shows."""
    limits = [
        name
        for target in _targets(subject)
        for name in (*target["metrics"], target["limit"])
        if isinstance(name, str)
    ]
    metrics = [
        *key_metrics(subject),
        *(
            name
            for name in (*decision_metrics(subject).values(), *_curve(subject).values())
            if subject.get(name)
        ),
    ]
    return [
        name
        for name in dict.fromkeys((*MEMORY_FIGURES, *MEMORY_PARTS, *metrics, *limits, *LIMITING))
        if subject.case.theory.knows(name)
    ]


def _curve(subject: BoundCase) -> dict[str, str]:
    """The metrics of the curve over the batch; of a server under load with every slot taken, at an arrival rate, too: its throughput is so."""
    full = {"itl": TARGET_METRICS["itl"]} if under_load(subject.case) else {}
    return decision_metrics(subject) | full


def _numbers(subject: BoundCase) -> list[dict[str, str]]:
    """Names and labels of the key numbers; the page adds that one is of a replica, where there are several."""
    return [{"name": name, "label": quantity_words(name, subject)} for name in key_metrics(subject)]


def _targets(subject: BoundCase) -> list[dict[str, Any]]:
    own: list[dict[str, Any]] = [
        {
            "name": name,
            "metrics": [
                metric
                for metric in metrics_of(name, subject.case)
                if subject.case.theory.knows(metric)
            ],
            "limit": TARGET_SYMBOLS[name],
        }
        for name in subject.targets
    ]
    if queues(subject.case):
        own = [{"name": LOAD, "metrics": [LOAD], "limit": 1, "below": True}, *own]
    for target in own:
        target["label"] = quantity_words(target["metrics"][0], subject)
    return own


def _units(subject: BoundCase) -> dict[str, Any]:
    """Number formats: symbols, prefixes, and the unit of each quantity."""
    theory = subject.case.theory
    names = sorted(
        {*_quantities(subject), *INPUTS, *(threshold.unknown for threshold in THRESHOLDS.values())}
    )
    written = {
        name: [
            theory.symbol(name).written_in,
            float(parse_unit(theory.symbol(name).written_in).size),
        ]
        for name in names
        if theory.symbol(name).written_in
    }
    return {
        "of": {name: theory.symbol(name).display_unit for name in names},
        "plural": sorted(COUNTED | NOUNS),
        "counted": [name for name in names if theory.symbol(name).counted],
        "written": written,
        "digits": {name: digits for name in names if (digits := theory.symbol(name).digits)},
        "signs": SYMBOLS,
        "prefixes": [[prefix, float(size)] for prefix, size in DECIMAL_PREFIXES.items()],
    }


def _described(form: ThresholdFormula, subject: BoundCase) -> dict[str, Any]:
    threshold = form.threshold
    return {
        "name": threshold.name, "unknown": threshold.unknown, "kind": threshold.kind, "unit": subject.case.theory.symbol(threshold.unknown).display_unit,
        "counted": subject.case.theory.symbol(threshold.unknown).counted, "means": threshold.means, "below": threshold.below, "above": threshold.above,
    }  # fmt: skip


def script(groups: list[SettingGroup]) -> str:
    """The complete script: kernels, programs and page logic."""
    shared: dict[str, int] = {}
    programs = ",\n".join(_printed(group, shared) for group in groups)
    kernels, page = (
        (data_folder("templates") / "live" / name).read_text(encoding="utf-8")
        for name in ("kernels.js", "page.js")
    )
    names, short = shortened(f"const F=[{','.join(shared)}],PROGRAMS=[{programs}];")
    return f'"use strict";(()=>{{\n{kernels}\n{names}\n{short}\n{page}\n}})();'


ASKED = re.compile(r'e\.v\(("[^"]+")\)')


def shortened(programs: str) -> tuple[str, str]:
    """Replace repeated names in programs by short constants; returns the constants and the programs.

    >>> shortened('e.v("batch")*e.v("prompt")/e.v("batch")')
    ('const n0="batch",n1="prompt";', 'e.v(n0)*e.v(n1)/e.v(n0)')
    """
    places = {name: f"n{i}" for i, name in enumerate(dict.fromkeys(ASKED.findall(programs)))}
    names = ",".join(f"{place}={name}" for name, place in places.items())
    return f"const {names};", ASKED.sub(lambda match: f"e.v({places[match[1]]})", programs)


def _printed(group: SettingGroup, shared: dict[str, int]) -> str:
    def form(each: ThresholdFormula) -> str:
        branches = ",".join(
            f"{{value:e=>{text(value)},conditions:{javascript_list(map(text, conditions))}}}"
            for value, conditions in each.branches
        )
        return f"{{difference:e=>{text(each.difference)},branches:[{branches}]}}"

    def text(tree: Expr) -> str:
        return group.program.text(tree)

    thresholds = ",\n".join(map(form, group.forms))
    return f"{{theory:new Theory({group.program.script(shared)}),thresholds:[{thresholds}]}}"


def json_for_script(data: Any) -> str:
    """JSON that is safe inside a script element."""
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=True, default=float)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def content_hash(code: str) -> str:
    """The hash of the script for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
