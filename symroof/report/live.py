"""The sliders of an HTML review: what page one shows, computed beforehand at every point of a grid of two inputs.

The page holds the numbers and computes none: a slider's stops are the points of the grid.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.verdict import (
    LOAD,
    TARGET_METRICS,
    at_rate,
    limit_of,
    measured_alone,
    metric_of,
    metrics_of,
    queues,
    under_load,
    unknown_targets,
    waits_without_end,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import PRICE
from symroof.cases.quantity_result import NOT_EVERYWHERE, WITHOUT_RANGE
from symroof.report.field_names import input_name, quantity_name, short_label
from symroof.report.view_case import NO_STEADY_STATE, metric
from symroof.resources import data_folder
from symroof.symbolic.blocks import Array
from symroof.symbolic.kernels import nearly_equal
from symroof.table_formats import FAILS, IN_PART, PASSES, UNKNOWN
from symroof.theory.theory_files import listed
from symroof.units import is_whole, parse_quantity, parse_unit, plural, scaled

MOST_CASES, MOST_CORNERS, LARGEST_BATCH = 3, 64, 4096
"""Cases of a review with sliders, corners of ranges that are looked at, and the largest batch."""
FACTORS = (0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2)
"""Arrival rates, as shares of that of the case."""
LEAST_PROMPT, MORE_PROMPT = 128, 8
"""The shortest prompt, and how many times longer than that of the case the longest is."""
MEMORY = ("memory_bytes", "fits")

Grid = Mapping[str, Sequence[float]]
"""The stops of each input."""
Columns = Mapping[str, Array]
"""The values of each quantity along four axes: stops of the first input, stops of the second, what is expected and the corners of the ranges,
the price and the ends of the list prices."""


def live(every: Sequence[BoundCase]) -> dict[str, Any] | None:
    """Data and script of the sliders, which start on the first case; None without a model on a device, or a batch that is a plain number."""
    subject, by_key = every[0], dict[Any, BoundCase]()
    for case in every:  # told apart by all but the inputs that the sliders move
        moved = ("batch", *_second(case))
        given = str({name: each for name, each in case.given.items() if name not in moved})
        key = (case.chosen_model.name, case.chosen_device.name, case.assumptions, given)
        by_key.setdefault(key, case)
    shown = [*by_key.values()][:MOST_CASES]
    cases = [_case(case) for case in shown if case.model and case.hardware and _grid(case)]
    if not cases or not _grid(subject):
        return None
    inputs = []
    for name in _grid(subject):
        unit, label = subject.case.theory.symbol(name).display_unit, input_name(name, subject)
        whole = name != "arrival_rate"
        inputs.append({"name": name, "label": label, "unit": plural(unit, 2), "whole": whole})
    signs = {"missed": FAILS, "partly": IN_PART}
    data = {
        "cases": cases,
        "inputs": inputs,
        "unknown": UNKNOWN,
        "signs": signs,
        "part": WITHOUT_RANGE[NOT_EVERYWHERE],
    }
    script = (data_folder("templates") / "live" / "page.js").read_text(encoding="utf-8")
    return {
        "json": json_for_script(data),
        "inputs": inputs,
        "moved": "arrival rates" if "arrival_rate" in _grid(subject) else "prompts",
        "labels": [case["label"] for case in cases],
        "rows": _starting(subject, cases[0]),
        "script": script,
        "hash": content_hash(script),
    }


def _second(case: BoundCase) -> tuple[str, ...]:
    """The input beside the batch: the arrival rate where there is one, else the prompt; none that is a range or a formula."""
    name = "arrival_rate" if queues(case.case) else "prompt"
    return (name,) if _is_plain(name, case) else ()


def _is_plain(name: str, case: BoundCase) -> bool:
    own = case.given.get(name)
    if own is None:
        return name == "batch"
    return own.number is not None and (name == "arrival_rate" or is_whole(own.number))


def _grid(case: BoundCase) -> dict[str, list[float]]:
    """The stops of each slider, among them the values of the case; empty where its batch is no plain number."""
    if not _is_plain("batch", case):
        return {}
    value = case.case.value
    held = value("concurrency") if case.case.has_value("concurrency") else 0
    own = {name: float(value(name)) for name in ("batch", *_second(case))}
    stops = {"batch": _round_counts(1, min(held, LARGEST_BATCH))}
    if "prompt" in own:
        least = max(LEAST_PROMPT, int(value("cached_prefix")) + 1)
        longest = case.model.max_context if case.model else None
        room = (longest or math.inf) - (value("output") if case.case.has_value("output") else 0)
        stops["prompt"] = _round_counts(least, min(MORE_PROMPT * own["prompt"], room), 1)
    if "arrival_rate" in own:
        stops["arrival_rate"] = [float(f"{factor * own['arrival_rate']:.3g}") for factor in FACTORS]
    return {name: sorted({*stops[name], own[name]}) for name in own}


def _round_counts(least: float, most: float, each: int = 4) -> list[float]:
    """Whole numbers from ``least`` to ``most``, so many in each doubling, and both ends.

    >>> _round_counts(1, 30)
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 24.0, 28.0, 30.0]
    """
    steps = range(int(math.log2(max(most, 1))) + 1)
    counts = {2**power * (1 + part / each) for power in steps for part in range(each)}
    return [float(x) for x in sorted({*counts, most}) if least <= x <= most and is_whole(x)]


def columns(case: BoundCase, names: Sequence[str], grid: Grid) -> Columns:
    """Quantities at every point of the grid and of the ranges, in one call of the case's functions; costs are in proportion to the price."""
    many = len(case.corner_points) > MOST_CORNERS  # then the ends of given ranges are left out
    inside = case.measured_corners if many else case.corner_points
    corners: list[Mapping[str, Any]] = [{}, *inside]
    scenarios = {
        name: np.array([float(corner.get(name, case.case.value(name))) for corner in corners])
        for name in case.box
    }
    moved: list[tuple[str, int, Any]] = [
        (name, axis, stops) for axis, (name, stops) in enumerate(grid.items())
    ]
    moved += [(name, 2, values) for name, values in scenarios.items()]
    shape, arrays = [1, 1, len(corners)], []
    for _, axis, values in moved:
        shape[axis] = len(values)
        arrays.append(np.array(values).reshape([-1 if each == axis else 1 for each in range(3)]))
    function = compile(names, [name for name, _, _ in moved], case)
    found = zip(names, function.codes(*arrays), strict=True)
    prices = [float(price) / case.case.value(PRICE) for price in case.list_prices]
    return {
        name: np.broadcast_to(values, shape)[..., None]
        * ([1.0, *prices] if prices and case.priced(name) else [1])
        for name, values in found
    }


def _case(case: BoundCase) -> dict[str, Any]:
    """A case for the page: its stops, and a row of numbers for all that page one shows."""
    grid, names = _grid(case), _metrics(case)
    asked = dict.fromkeys(each for alike in names for each in alike)
    memory = [name for name in MEMORY if case.get(name) is not None]
    found, rows = columns(case, [*asked, *memory], grid), []
    if memory:
        rows.append(_row(case, "memory_bytes", found["memory_bytes"]))
    if "fits" in memory:
        fits, usable = found["fits"][..., 0], case.result("usable_memory").plain(3)
        rows[0] |= {"target": usable, "memory": True, "marks": _marks(fits.all(-1), ~fits.any(-1))}
    for each in names:
        first, *others = (found[name] for name in each)
        for other in others:  # of several metrics of a target the first that has a value
            first = np.where(np.isnan(first), other, first)
        rows.append(_row(case, each[0], first) | _judged(case, each[0], first[..., 0]))
    return {
        "label": short_label(replace(case, varied=())),
        "stops": [[_short(stop) for stop in stops] for stops in grid.values()],
        "start": [stops.index(float(case.case.value(name))) for name, stops in grid.items()],
        "rows": rows,
        "targets": len(case.targets),
        "unknown": "; ".join(f"{name}: {why}" for name, why in unknown_targets(case).items()),
    }


def _metrics(case: BoundCase) -> list[tuple[str, ...]]:
    """What the page shows beside memory, each with what stands in for it where it has no value: metrics of targets, then the other key metrics."""
    shown: list[tuple[str, ...]] = [(LOAD,)] if queues(case.case) else []
    for target in (name for name in case.targets if name not in unknown_targets(case)):
        endless = waits_without_end(target, case.case)
        shown.append(tuple(n for n in metrics_of(target, case.case) if case.get(n) or endless))
    named = {name for names in shown for name in names}
    return [*shown, *((name,) for name in key_metrics(case) if name not in named)]


SERVER, REQUEST = listed("shown", "server"), listed("shown", "request")
"""Key metrics of a server under load, and of one request alone."""


def key_metrics(case: BoundCase) -> list[str]:
    """What the page shows of a case beside memory and targets.

    >>> from symroof.analysis.study import Study
    >>> key_metrics(Study("llama-3-8b", "h100-sxm", prompt=4096, output=256).first)
    ['loaded_ttft', 'sustained_itl', 'concurrency', 'sustained_throughput', 'cost_per_mtok']
    """
    own = SERVER if under_load(case.case) else REQUEST
    spelled = {"itl_last": metric_of("itl", case.case)}
    names = dict.fromkeys(at_rate(spelled.get(name) or name, case.case) for name in own)
    idle = () if queues(case.case) else ("fleet_price",)
    return [name for name in names if name not in idle and case.get(name)]


def _judged(case: BoundCase, name: str, values: Array) -> dict[str, Any]:
    """The target of a metric, and whether each point meets it, by the rule of a verdict: throughout the ranges, in a part of them, or not."""
    tested = (
        limit for target, limit in case.targets.items() if name in metrics_of(target, case.case)
    )
    limit = Fraction(1) if name == LOAD else next(tested, None)
    if limit is None:
        return {}
    most = float(limit)
    high = np.where(np.isnan(values), np.inf, values).max(-1)
    least = values[..., 0] if measured_alone(case) else np.fmin.reduce(values, axis=-1)
    met = high < most if name == LOAD else high <= most
    missed = ~(least < most if name == LOAD else least <= most)
    return {
        "target": limit_of(case.case.theory.symbol(name), limit).plain(),
        "marks": _marks(met, missed),
    }


def _marks(met: Any, missed: Any) -> str:
    return "".join(np.where(met, PASSES, np.where(missed, FAILS, IN_PART)).ravel().tolist())


def _row(case: BoundCase, name: str, values: Array) -> dict[str, Any]:
    """The numbers of a quantity, in the unit that they are shown in."""
    symbol, own = case.case.theory.symbol(name), case.get(name)
    if symbol.negligible is not None:
        least = float(parse_quantity(symbol.negligible).value)
        values = np.where(np.abs(values) < least, 0.0, values)
    known = values[np.isfinite(values) & (values != 0)]
    typical = float(known[0]) if known.size else 1.0
    typical = float(own.value) if own and own.value else typical
    size, unit = 1.0, plural(symbol.display_unit, 2) if symbol.unit else ""
    if symbol.written_in:
        size, unit = float(parse_unit(symbol.written_in).size), symbol.written_in
    elif not symbol.counted:
        number, unit = scaled(typical, symbol.unit)
        size, unit = typical / float(number), plural(unit, 2)
    ends = {"value": values[..., 0, 0]}
    low, high = np.fmin.reduce(values, axis=(2, 3)), values.max((2, 3))
    if not nearly_equal(low, high).all():
        ends |= {"low": low, "high": high}
    along = [
        any((end != end.take([0], axis)).any() and not np.isnan(end).all() for end in ends.values())
        for axis in (0, 1)
    ]
    here = tuple(slice(None) if moves else slice(1) for moves in along)
    return {
        "label": quantity_name(name, case),
        "unit": unit,
        "counted": symbol.counted,
        "digits": symbol.digits or 3,
        **({"nowhere": NO_STEADY_STATE} if name == TARGET_METRICS["ttft"] else {}),
        "along": along,
        **{end: [_short(x / size) for x in at[here].ravel().tolist()] for end, at in ends.items()},
    }


def _short(x: float) -> int | float | None:
    """A number in six digits, of which up to three are shown; nothing where there is none."""
    if not math.isfinite(x):
        return None
    return round(x) if is_whole(x) else float(f"{x:.6g}")


def _starting(case: BoundCase, told: Mapping[str, Any]) -> list[list[str]]:
    place = int(np.ravel_multi_index(told["start"], [len(stops) for stops in told["stops"]]))
    names = [*([("memory_bytes",)] if case.get("memory_bytes") else []), *_metrics(case)]
    return [
        [
            row["label"],
            metric(next(filter(case.get, alike), alike[0]), case),
            row.get("target", ""),
            row["marks"][place] if "marks" in row else "",
        ]
        for alike, row in zip(names, told["rows"], strict=True)
    ]


def json_for_script(data: Any) -> str:
    """JSON that is safe inside a script element."""
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def content_hash(code: str) -> str:
    """The hash of the script for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
