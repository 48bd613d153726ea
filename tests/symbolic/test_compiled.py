"""Compiled functions against the values of cases, one point after another: on grids, on scattered
points, and where the memory is used up to the last byte.
"""

import random

import numpy as np
import pytest

import symroof as sr
from symroof.errors import NoValue

from ..tables import case_of, table

CASE = case_of(
    "hardware=h100-sxm prompt=4096 output=48 batch=8 tp=2 acceptance=0.7 draft_tokens=4 "
    "chunk=512 arrival_rate=1 long_prompt=8192 long_output=64 long_share=0.1 "
    "kernels_per_layer=8 kernel_launch='4 us' ttft_target='500 ms' step_overhead='1 ms' "
    "link_latency='5 us' network_bandwidth='50 GB/s' preemption_rate=0.01 percentile=0.99 "
    "burst_rate=10 burst_duration='3 s'"
)
WHOLE = {"batch": (1, 600), "prompt": (1, 20000), "output": (1, 200), "tp": (1, 8)}
WHOLE |= {"chunk": (64, 4096), "context": (1, 20000)}
CASES = """
llama-3-8b    | output tp batch                | roofline=per_operator
gemma-2-9b    | batch prompt                   | output=30
mixtral-8x7b  | mem_bandwidth acceptance batch | experts=expected kv_reserve=paged
deepseek-v3   | batch prompt                   | hardware=h200 tp=16 experts=distinct_max queue=md1
gpt-oss-20b   | batch prompt mbu               | tp=1 output=20 chunk=8192 kv_growth=fixed
llama-3-8b    | context batch                  | detail=kv
"""


def study(model, **changes):
    return sr.Study(model=model, **{**CASE, **changes})


def drawn(axis, draw):
    if axis in WHOLE:
        return float(draw.randint(*WHOLE[axis]))
    return draw.randint(1, 999) * 1e10 if axis == "mem_bandwidth" else draw.randint(1, 100) / 100


def value_or_none(case, name):
    try:
        return case.value(name)
    except NoValue:
        return None


@pytest.mark.sample(1)
@pytest.mark.parametrize(("model", "axes", "changes"), table(CASES))
def test_every_quantity_is_that_of_the_case_at_each_point(model, axes, changes):
    case, axes = study(model, **case_of(changes)).first, axes.split()
    names = [
        name
        for name in case.case.theory.definitions
        if value_or_none(case.case, name) is not None and name not in axes
    ]
    draw = random.Random(f"{model} {axes}")
    points = [tuple(drawn(axis, draw) for axis in axes) for _ in range(3)]
    found = sr.compile(names, axes, case)(*map(np.array, zip(*points, strict=True)))
    for i, point in enumerate(points):
        moved = case.case.changed(dict(zip(axes, point, strict=True)))
        for name, values in zip(names, found, strict=True):
            true, value = value_or_none(moved, name), np.broadcast_to(values, len(points))[i]
            where = f"{name} at {dict(zip(axes, point, strict=True))}"
            if true is None:
                assert value == "" or np.isnan(value) or not value, where
            elif isinstance(true, bool | str):
                assert value == true, where
            else:  # of a share that is 0, the difference of two floats near 1 may be left
                least = 1e-300 if moved.theory.symbol(name).unit else 1e-12
                assert value == pytest.approx(true, rel=1e-10, abs=least), where


def test_fits_where_the_memory_is_used_up_to_the_last_byte():
    case = study("llama-3-8b", tp=1, engine="ideal", long_share=0).first
    per_token, weights = case.case.value("kv_bytes_per_token"), case.case.value("weight_bytes")
    function = sr.compile(["fits", "concurrency"], ["batch", "prompt", "mem_capacity"], case)
    draw, points = random.Random(2), []
    for _ in range(200):
        batch, prompt = draw.randint(1, 64), draw.randint(1, 5000)
        needed = weights + batch * (prompt + 47) * per_token
        points += [(batch, prompt, needed + off) for off in (-1, 0, 1)]
    fits, most = function(*(np.array([float(p[i]) for p in points]) for i in range(3)))
    assert fits.tolist() == [False, True, True] * 200
    assert all(most[i] == p[0] - (i % 3 == 0) for i, p in enumerate(points))
