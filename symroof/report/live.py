"""The sliders of an HTML review: what page one shows, computed beforehand at every point of a grid of two inputs.

The page holds the texts and computes nothing: a slider's stops are the points of the grid.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.verdict import (
    LOAD,
    TARGET_METRICS,
    at_rate,
    limit_of,
    metric_of,
    metrics_of,
    queues,
    under_load,
    unknown_targets,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import NOT_EVERYWHERE, PRICE, Result
from symroof.report.field_names import input_name, quantity_name
from symroof.report.review_sections import NO_STEADY_STATE
from symroof.resources import data_folder
from symroof.symbolic.evaluation import Array
from symroof.table_formats import FAILS, IN_PART, PASSES, UNKNOWN
from symroof.theory.theory_files import listed
from symroof.units import is_whole

MOST_CORNERS, LARGEST_BATCH, DIGITS = 64, 4096, 3
"""Corners of ranges that are looked at, the largest batch, and digits."""
FACTORS = (0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2)
"""Arrival rates, as shares of that of the case."""
LEAST_PROMPT, MORE_PROMPT = 128, 8
"""The shortest prompt, and how many times longer than that of the case the longest is."""
MEMORY = ("memory_bytes", "fits")
WORDS = {PASSES: "met", IN_PART: "met in part", FAILS: "missed", "": ""}
"""What a mark says of a target, and of memory."""

Grid = Mapping[str, Sequence[float]]
"""The stops of each input."""
Columns = Mapping[str, Array]
"""The values of each quantity along four axes: stops of the first input, stops of the second, what is expected and the corners of the ranges,
the price and the ends of the list prices."""


def live(case: BoundCase) -> dict[str, Any] | None:
    """Data and script of the sliders of a case; None without a model on a device, or a batch that is a plain number."""
    grid = _grid(case) if case.model and case.hardware else {}
    if not grid:
        return None
    rows = _rows(case, grid)
    places = [stops.index(float(case.case.value(name))) for name, stops in grid.items()]
    start = int(np.ravel_multi_index(places, [len(stops) for stops in grid.values()]))
    inputs = []
    for name, stops in grid.items():
        symbol = case.case.theory.symbol(name)
        texts = [Result(symbol, stop).plain(DIGITS) for stop in stops]
        inputs.append({"name": name, "label": input_name(name, case), "stops": texts})
    data = {"inputs": inputs, "start": places, "rows": rows, "words": WORDS}
    script = (data_folder("templates") / "live" / "page.js").read_text(encoding="utf-8")
    return {
        "json": json_for_script(data),
        "inputs": inputs,
        "moved": "arrival rates" if "arrival_rate" in grid else "prompts",
        "rows": [
            [row["label"], row["texts"][start], row["target"], WORDS[row["marks"][start]]]
            for row in rows
        ],
        "script": script,
        "hash": content_hash(script),
    }


def _is_plain(name: str, case: BoundCase) -> bool:
    own = case.given.get(name)
    if own is None:
        return name == "batch"
    return own.number is not None and (name == "arrival_rate" or is_whole(own.number))


def _grid(case: BoundCase) -> dict[str, list[float]]:
    """The stops of the batch and of the arrival rate, or else of the prompt, among them the values of the case; empty where its batch is no plain number."""
    if not _is_plain("batch", case):
        return {}
    value = case.case.value
    held = value("concurrency") if case.case.has_value("concurrency") else 0
    second = "arrival_rate" if queues(case.case) else "prompt"
    own = {name: float(value(name)) for name in ("batch", second) if _is_plain(name, case)}
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
    corners = [{}, *(case.measured_corners if many else case.corner_points)]
    moved: dict[str, tuple[int, Any]] = {
        name: (axis, stops) for axis, (name, stops) in enumerate(grid.items())
    }
    for name in case.box:
        here = case.case.value(name)
        moved[name] = 2, [float(corner.get(name, here)) for corner in corners]
    arrays = [
        np.array(values).reshape([-1 if each == axis else 1 for each in range(3)])
        for axis, values in moved.values()
    ]
    function = compile(names, [*moved], case)
    shape = np.broadcast_shapes(*(array.shape for array in arrays), (1, 1, len(corners)))
    prices = [1.0, *(float(price) / case.case.value(PRICE) for price in case.list_prices)]
    return {
        name: np.broadcast_to(values, shape)[..., None] * (prices if case.priced(name) else [1.0])
        for name, values in zip(names, function(*arrays), strict=True)
    }


def _rows(case: BoundCase, grid: Grid) -> list[dict[str, Any]]:
    """What page one shows: its label, its target, and at each point its text and whether the target is met."""
    limits = {LOAD: Fraction(1)} if queues(case.case) else {}
    for target, limit in case.targets.items():
        if target not in unknown_targets(case):
            named = metrics_of(target, case.case)
            limits[next(filter(case.get, named), named[0])] = Fraction(limit)
    names, alone = [*dict.fromkeys((*limits, *key_metrics(case)))], case.measured_alone
    memory = [name for name in MEMORY if case.get(name) is not None]
    found, rows = columns(case, [*names, *memory], grid), []
    for name in (*memory[:1], *names):
        row, values = _row(case, name, found[name]), found[name][..., 0]
        if limit := limits.get(name):
            target = limit_of(case.case.theory.symbol(name), limit).plain()
            below = np.less if name == LOAD else np.less_equal
            high = np.where(np.isnan(values), np.inf, values).max(-1)
            least = values[..., 0] if alone else np.fmin.reduce(values, axis=-1)
            marks = _marks(below(high, float(limit)), ~below(least, float(limit)))
            row |= {"target": target, "marks": marks}
        elif name == MEMORY[0] and len(memory) > 1:
            fits = found["fits"][..., 0]
            marks = _marks(fits.all(-1), ~fits.any(-1))
            row |= {"target": case.result("usable_memory").plain(DIGITS), "marks": marks}
        rows.append(row)
    return rows


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


def _marks(met: Any, missed: Any) -> list[str]:
    marks: list[str] = np.where(met, PASSES, np.where(missed, FAILS, IN_PART)).ravel().tolist()
    return marks


def _row(case: BoundCase, name: str, values: Array) -> dict[str, Any]:
    """A quantity at each point, as it is written everywhere else."""
    symbol, texts = case.case.theory.symbol(name), []
    nowhere = NO_STEADY_STATE if name == TARGET_METRICS["ttft"] else UNKNOWN
    ends = values[..., 0, 0], np.fmin.reduce(values, axis=(2, 3)), values.max((2, 3))
    for value, low, high in zip(*(end.ravel().tolist() for end in ends), strict=True):
        flags = () if math.isfinite(high) else (NOT_EVERYWHERE,)
        known = math.isfinite(value)
        text = Result(symbol, value, low, high, flags=flags).plain(DIGITS) if known else nowhere
        texts.append(text)
    row = {"name": name, "label": quantity_name(name, case), "texts": texts}
    return row | {"target": "", "marks": [""] * len(texts)}


def json_for_script(data: Any) -> str:
    """JSON that is safe inside a script element."""
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def content_hash(code: str) -> str:
    """The hash of the script for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
