"""Calls of the Python package with a golden answer, each by a name of its own."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

import symroof as sr

from ..tables import words

STUDIES: dict[str, dict[str, Any]] = {
    "dense": {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "output": 256}
    | {"batch": 8, "arrival_rate": 2},
    "moe": {"model": "mixtral-8x7b", "hardware": "h200", "prompt": 2000, "output": 200, "tp": 2}
    | {"batch": 16, "arrival_rate": 1},
}
VALUES = ("itl", "ttft", "decode_time", "memory_bytes", "kv_bytes_per_token", "loaded_ttft")
EXPANDED = ("itl", "ttft", "memory_bytes_per_device", "decode_intensity", "cost_per_mtok")
"""Quantities whose expansion to inputs has a number once the inputs have."""
EQUATIONS = ("max_batch_memory", "prompt_to_ridge", "tpot = 12 ms")
SYMBOLIC = {
    "batch*kv_bytes_per_token*context = weight_bytes": "context",
    "weight_bytes = memory_share*mem_capacity": "memory_share",
    "effective_ridge = 200 FLOP/byte": "mfu",
}
AT = {
    "kv_bytes_per_token": 131072,
    "weight_bytes": 16 * 10**9,
    "params": 8 * 10**9,
    "weight_bytes_per_param": 2,
    "batch": 32,
    "mem_capacity": 80 * 10**9,
    "mem_bandwidth": 3.35e12,
    "peak_flops": 989.4e12,
    "mbu": 0.8,
    "ridge_point": 989.4 / 3.35,
}
POINTS = 40
"""Of a series of a picture; a longer one is thinned."""
KINDS = words("roofline latency-throughput tornado pareto memory regimes parts ttft itl")
BATCHES, PROMPTS = (1, 8, 64), (128, 2048, 16384)


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every call, with both efficiencies."""
    for efficiency in ("peak", "measured"):
        for case in STUDIES:
            for what in (value, expanded, solve, compiled, sweep):
                yield (
                    f"python {what.__name__} {case} {efficiency}",
                    partial(what, case, efficiency),
                )
    for i, kind in enumerate(KINDS):
        case, efficiency = ("dense", "moe")[i % 2], ("peak", "measured")[i // 2 % 2]
        yield f"picture {kind} {case} {efficiency}", partial(picture, case, efficiency, kind)
    over = {"over": "batch"}
    yield "picture over batch", partial(picture, "dense", "measured", "decode_throughput", **over)
    against = {"against": "genz", "quantity": "ttft"}
    yield "picture waterfall", partial(picture, "dense", "peak", "waterfall", **against)
    yield "python symbolic", symbolic


@cache
def study(case: str, efficiency: str) -> sr.Study:
    """The study of a case, read once."""
    return sr.Study(**STUDIES[case], efficiency=efficiency)


def value(case: str, efficiency: str) -> Any:
    """``study.value``."""
    made = study(case, efficiency)
    return {
        name: {
            end: number(getattr(made.value(name).result, end)) for end in ("value", "low", "high")
        }
        for name in VALUES
    }


def expanded(case: str, efficiency: str) -> Any:
    """``study.derive(name).expanded`` at the numbers of the case."""
    made = study(case, efficiency)
    numbers = made.values()
    return {
        name: number(made.derive(name).expanded.xreplace(numbers).evalf(15)) for name in EXPANDED
    }


def solve(case: str, efficiency: str) -> Any:
    """``study.solve``."""
    made, found = study(case, efficiency), {}
    for equation in EQUATIONS:
        solved = made.solve(equation, "batch" if "=" in equation else None)
        found[equation] = {
            "verdict": str(solved.verdict),
            "value": number(solved.value),
            "values": [number(each) for each in solved.values],
        }
    return found


def compiled(case: str, efficiency: str) -> Any:
    """``sr.compile`` over a grid."""
    names = ("itl", "ttft", "decode_throughput", "fits", "decode_bound")
    function = sr.compile(names, ["batch", "prompt"], study(case, efficiency))
    found = function(np.array(BATCHES)[:, None], np.array(PROMPTS)[None, :])
    return {name: np.asarray(grid).tolist() for name, grid in zip(names, found, strict=True)}


def sweep(case: str, efficiency: str) -> Any:
    """``study.sweep``."""
    names = ["itl", "ttft", "cost_per_mtok", "fits"]
    found = study(case, efficiency).sweep(names, batch=list(BATCHES), prompt=list(PROMPTS))
    return {str(name): grid.values.tolist() for name, grid in found.data_vars.items()}


def symbolic() -> Any:
    """``sr.solve`` without a case: its value, or its closed form at numbers."""
    found = {}
    for equation, unknown in SYMBOLIC.items():
        form = sr.solve(equation, unknown).sympy
        named = form.atoms(sympy.Symbol, AppliedUndef)
        values = {each: AT[each.name] for each in named if each.name in AT}
        found[equation] = number(form.xreplace(values).evalf(15))
    return {"plain": number(sr.solve("2*batch + 8 = 64", "batch").value), "forms": found}


def picture(case: str, efficiency: str, kind: str, **options: Any) -> Any:
    """The arrays of a picture by their names, thinned."""
    data = study(case, efficiency).plot(kind, **options).data
    return [
        {"name": name, "points": len(found), "at": found[:: -(-len(found) // POINTS)].tolist()}
        for name, found in data.items()
    ]


def number(given: Any) -> Any:
    """A plain number, whole where it is; other things, such as no number, are themselves."""
    if given is None or isinstance(given, (bool, str)):
        return given
    if isinstance(given, Fraction) or getattr(given, "is_Integer", False):
        return int(given) if given == int(given) else float(given)
    return float(given)
