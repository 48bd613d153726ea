"""Compiled functions against the exact path: every quantity, at random points, under many switches, on grids and on scattered points."""

import pickle
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue

from .numpy_walk import Walk

pytestmark = pytest.mark.full

CASE = {
    "hardware": "h100-sxm", "prompt": 4096, "output": 48, "batch": 8, "tp": 2, "acceptance": 0.7, "draft_tokens": 4, "chunk": 512, "arrival_rate": 1,
    "long_prompt": 8192, "long_output": 64, "long_share": 0.1, "kernels_per_layer": 8, "kernel_launch": "4 us", "ttft_target": "500 ms", "step_overhead": "1 ms",
    "link_latency": "5 us", "network_bandwidth": "50 GB/s", "preemption_rate": 0.01, "percentile": 0.99, "burst_rate": 10, "burst_duration": "3 s",
}  # fmt: skip

WHOLE = {
    "batch": (1, 600),
    "prompt": (1, 20000),
    "output": (1, 200),
    "tp": (1, 8),
    "chunk": (64, 4096),
    "cached_prefix": (0, 1),
}
SHARES = ("mfu", "mbu", "acceptance", "hit_rate")


def drawn(axis, draw):
    if axis in WHOLE:
        return Fraction(draw.randint(*WHOLE[axis]))
    if axis in SHARES:
        return Fraction(draw.randint(1, 100), 100)
    return Fraction(draw.randint(1, 999) * 10 ** draw.choice((8, 9, 10)))


def study(model, **changes):
    assume = changes.pop("assume", {})
    return sr.Study(model=model, assume=assume, **{**CASE, **changes})


def exact_value(case, name):
    try:
        return case.value(name)
    except NoValue:
        return None


def numbers_of(case, axes):
    """Every quantity that moves with an axis or not, and has a value in the case."""
    return [
        name
        for name in case.theory.definitions
        if exact_value(case, name) is not None and name not in axes
    ]


def searched(name, case):
    return any(case.search(inner) for inner in case.dependencies(name))


CASES = [
    ("llama-3-70b", ("batch", "prompt"), {}),
    ("llama-3-8b", ("output", "tp", "batch"), {"assume": {"roofline": "per_operator"}}),
    (
        "llama-3-8b",
        ("prompt", "mfu", "chunk"),
        {"assume": {"roofline": "no_overlap", "launches": "hidden"}},
    ),
    ("gemma-2-9b", ("batch", "prompt"), {"output": 30}),
    (
        "mixtral-8x7b",
        ("mem_bandwidth", "acceptance", "batch"),
        {"assume": {"experts": "expected", "kv_reserve": "paged"}},
    ),
    (
        "deepseek-v3",
        ("batch", "prompt"),
        {"hardware": "h200", "tp": 16, "assume": {"experts": "distinct_max", "queue": "md1"}},
    ),
    (
        "gpt-oss-20b",
        ("batch", "prompt", "mbu"),
        {
            "tp": 1,
            "output": 20,
            "chunk": 8192,
            "assume": {"kv_growth": "fixed", "kv_reserve": "unified"},
        },
    ),
    ("llama-3-8b", ("context", "batch"), {"assume": {"detail": "kv"}}),
]


@cache
def lowered(place):
    """One of the cases; its quantities that no search works out, as a function of the axes; and those of a search."""
    model, axes, changes = CASES[place]
    case = study(model, **changes).first
    names = numbers_of(case.case, axes)
    dear = [name for name in names if searched(name, case.case)]
    plain = [name for name in names if name not in dear]
    return case, axes, plain, sr.compile(plain, axes, case), dear


PLACES = [
    pytest.param(place, id=f"{model}-{'-'.join(axes)}")
    for place, (model, axes, _) in enumerate(CASES)
]


@pytest.mark.parametrize("place", PLACES)
def test_every_quantity_agrees_with_its_exact_value(place):
    case, axes, plain, function, dear = lowered(place)
    draw = random.Random(f"{CASES[place][0]} {axes}")
    points = [tuple(drawn(axis, draw) for axis in axes) for _ in range(4)]
    held_to_exact(case, axes, points, plain, function)
    if dear:  # a search is hundreds of values, exact ones and others
        held_to_exact(case, axes, points[:2], dear, sr.compile(dear, axes, case))


def least(case, name):
    """What the difference of two floats near 1 may leave of a share that is 0."""
    return 1e-300 if case.case.theory.symbol(name).unit else 1e-12


def held_to_exact(case, axes, points, names, function):
    found = function(*(np.array([float(point[i]) for point in points]) for i in range(len(axes))))
    for i, point in enumerate(points):
        moved = case.case.changed(dict(zip(axes, point, strict=True)))
        for name, values in zip(names, found, strict=True):
            true, value = exact_value(moved, name), np.broadcast_to(values, len(points))[i]
            where = f"{name} at {dict(zip(axes, point, strict=True))}"
            if true is None:
                assert value == "" or np.isnan(value) or not value, where
            elif isinstance(true, bool | str):
                assert value == true, where
            else:
                assert value == pytest.approx(float(true), rel=1e-11, abs=least(case, name)), where


@pytest.mark.parametrize("place", PLACES)
def test_every_quantity_agrees_with_a_plain_walk_of_its_formula(place):
    """Far more points than exact arithmetic can take: floats on both sides, so truths may differ where both sides are as good as equal.

    What is searched is held by its exact value alone: a plain walk takes each of its hundreds of steps through every formula.
    """
    case, axes, names, function, _ = lowered(place)
    draw = random.Random(f"walk {CASES[place][0]} {axes}")
    points = [tuple(float(drawn(axis, draw)) for axis in axes) for _ in range(400)]
    arrays = {axis: np.array([point[i] for point in points]) for i, axis in enumerate(axes)}
    walk = Walk(
        replace(case.case.without_values(axes), rounded=True), arrays
    )  # where degrees move, the formulas of any degree
    with np.errstate(all="ignore"):
        for name, found in zip(names, function(*arrays.values()), strict=True):
            found, plain = np.broadcast_arrays(found, walk.value(name))
            if found.dtype.kind in "bU":
                assert np.mean(found == plain) > 0.99, name
            else:
                np.testing.assert_allclose(
                    found, plain, rtol=1e-9, atol=least(case, name), err_msg=name
                )


def test_a_grid_is_the_same_as_its_points():
    names = [
        "ttft",
        "itl",
        "decode_throughput",
        "fits",
        "decode_bound",
        "cost_per_mtok",
        "decode_time",
        "concurrency",
    ]
    function = sr.compile(names, ["batch", "prompt", "tp", "mbu"], study("gemma-2-9b").first)
    axes = [
        np.arange(1.0, 40),
        np.arange(16.0, 9000, 300),
        np.array([1.0, 2, 4]),
        np.array([0.5, 0.8]),
    ]
    mesh = np.meshgrid(*axes, indexing="ij")
    scattered = function(*(x.ravel() for x in mesh))
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        opened = [axes[i].reshape([-1 if k == order[i] else 1 for k in range(4)]) for i in range(4)]
        for name, grid, points in zip(names, function(*opened), scattered, strict=True):
            back = np.transpose(grid, order).ravel()
            if points.dtype.kind in "bU":
                assert (back == points).all(), name
            else:
                np.testing.assert_allclose(back, points, rtol=1e-12, err_msg=name)


def test_more_points_than_a_block_holds():
    function = sr.compile(["itl", "fits"], ["batch", "prompt"], study("llama-3-8b").first)
    rng = np.random.default_rng(5)
    batch, prompt = rng.integers(1, 500, 100_000), rng.integers(1, 30_000, 100_000)
    itl, fits = function(batch, prompt)
    whole = function(np.arange(1, 500)[:, None], np.arange(1, 30_000, 7)[None, :])
    for i in range(0, 100_000, 9_973):
        alone = function(float(batch[i]), float(prompt[i]))
        assert (itl[i], fits[i]) == (pytest.approx(alone[0], rel=1e-13), alone[1])
    assert whole[0].shape == (499, 4286)
    assert whole[0][250, 99] == pytest.approx(function(251.0, 1.0 + 7 * 99)[0], rel=1e-13)


# ---------------------------------------------------------------------------------------------- where floats cannot tell


def test_fits_is_exact_where_the_memory_is_used_up_to_the_last_byte():
    case = study("llama-3-8b", tp=1, engine="ideal", long_share=0).first
    per_token, weights = case.case.value("kv_bytes_per_token"), case.case.value("weight_bytes")
    function = sr.compile(["fits", "concurrency"], ["batch", "prompt", "mem_capacity"], case)
    draw = random.Random(2)
    points = []
    for _ in range(200):
        batch, prompt = draw.randint(1, 64), draw.randint(1, 5000)
        needed = weights + batch * (prompt + 47) * per_token
        points += [(batch, prompt, needed + off) for off in (-1, 0, 1)]
    fits, most = function(*(np.array([float(p[i]) for p in points]) for i in range(3)))
    assert fits.tolist() == [False, True, True] * 200
    assert all(most[i] == p[0] - (i % 3 == 0) for i, p in enumerate(points))


def test_a_crossing_that_is_a_whole_number_is_rounded_as_exact_arithmetic_does():
    case = study("llama-3-8b", tp=1, memory_reserve="0 B").first
    function = sr.compile("chunk_steps", ["prompt", "chunk"], case)
    prompts = np.arange(1.0, 4001)
    steps = function(prompts[:, None], np.array([[49.0, 100.0, 7.0]]))
    for column, chunk in enumerate((49, 100, 7)):
        assert steps[:, column].tolist() == [-(-int(p) // chunk) for p in prompts]


def test_tenths_are_tenths():
    case = sr.Study(hardware="h100-sxm", model="llama-3-8b", prompt=100, memory_share=1).first
    usable = case.case.value("mem_capacity")
    function = sr.compile("fits", ["memory_share", "memory_reserve"], case)
    reserve = (
        usable * Fraction(7, 10)
        - case.case.value("memory_bytes")
        + case.case.value("memory_reserve")
    )
    assert function(0.7, float(reserve)) and not function(0.7, float(reserve) + 1)


def test_a_tie_goes_to_the_arm_named_first():
    """3,000 FLOPs at 0.3 of the peak and 30 bytes at 0.1 of the bandwidth: tied where three peaks are a hundred bandwidths."""
    inputs = ["peak_flops", "mem_bandwidth", "mfu", "mbu"]
    tied = sr.compile(
        "decode_bound",
        inputs,
        hardware="h100-sxm",
        model="llama-3-8b",
        decode_flops=3000,
        decode_bytes=30,
        prompt=8,
    )
    bandwidths = np.arange(3.0, 6e4, 3.0)
    peaks = 100 * bandwidths / 3
    assert (3000 / (0.3 * peaks) < 30 / (0.1 * bandwidths)).any(), (
        "no float falls on the wrong side: the test would show nothing"
    )
    assert (tied(peaks, bandwidths, 0.3, 0.1) == "compute").all()
    assert (tied(peaks * (1 + 1e-12), bandwidths, 0.3, 0.1) == "memory").all()


# ------------------------------------------------------------------------------------------------------- as a function


def test_it_broadcasts_and_takes_what_numpy_takes():
    function = sr.compile(["itl", "memory_bytes"], ["batch", "prompt"], study("llama-3-8b").first)
    itl, memory = function(8, [1024, 2048])
    assert itl.shape == memory.shape == (2,)
    assert isinstance(function(8, 1024)[0], float)
    assert function(np.zeros((0, 3)), 5)[0].shape == (0, 3)
    with pytest.raises(ValueError, match="takes 2 arrays"):
        function(1)
    with pytest.raises(ValueError):
        function(np.ones(3), np.ones(4))


def test_out_is_written_in_place_whatever_its_strides():
    function = sr.compile(["itl", "fits"], ["batch", "prompt"], study("llama-3-8b").first)
    batch, prompt = np.arange(1.0, 30)[:, None], np.arange(1.0, 50)[None, :]
    plain = function(batch, prompt)
    for itl in (np.empty((29, 49)), np.empty((49, 29)).T, np.empty((58, 98))[::2, ::2]):
        fits = np.empty((29, 49), bool)
        assert function(batch, prompt, out=(itl, fits))[0] is itl
        assert (itl == plain[0]).all() and (fits == plain[1]).all()
    with pytest.raises(ValueError, match="out for itl"):
        function(batch, prompt, out=(np.empty((2, 2)), fits))


def test_a_pickled_function_gives_the_same_numbers():
    function = sr.compile(["itl", "decode_bound"], ["batch"], study("mixtral-8x7b").first)
    again = pickle.loads(pickle.dumps(function))
    batch = np.arange(1, 100)
    assert all((a == b).all() for a, b in zip(function(batch), again(batch), strict=True))


def test_what_no_input_moves_is_the_same_everywhere():
    function = sr.compile(
        ["ridge_point", "weight_bytes", "fits"], ["arrival_rate"], study("llama-3-8b").first
    )
    ridge, _, fits = function(np.arange(1, 4))
    assert function.depends["ridge_point"] == frozenset()
    assert np.unique(ridge).size == 1 and fits.all()


def test_no_value_is_no_number():
    function = sr.compile(
        ["queue_wait", "prefill_bound"], ["arrival_rate"], study("llama-3-8b").first
    )
    waits, _ = function(np.array([0.1, 1e6, np.nan]))
    assert waits[0] > 0 and np.isnan(waits[1:]).all()


@pytest.mark.parametrize(
    ("quantities", "inputs", "says"),
    [
        ("itlx", ["batch"], "no such quantity"),
        ("itl", ["batchh"], "no such quantity or input"),
        ("itl", ["prompt", "isl"], "twice"),
        ("itl", [], "needs at least one"),
        ([], ["batch"], "at least one"),
        ("goodput", ["batch"], "needs"),
        ("batch_to_ridge", ["batch"], "threshold"),
    ],
)
def test_bad_input_says_what_is_wrong(quantities, inputs, says):
    with pytest.raises(InputError, match=says):
        sr.compile(quantities, inputs, model="llama-3-8b", hardware="h100-sxm", prompt=64)


def test_an_input_nobody_gave_matters_only_where_it_does():
    """One device sends nothing over a link that is not there; two have no time for it."""
    function = sr.compile(
        ["itl", "decode_bound"], ["tp", "batch"], model="llama-3-8b", hardware="m3-max", prompt=64
    )
    itl, bound = function(np.array([[1.0], [2.0]]), np.array([1.0, 4.0]))
    alone = sr.Study(model="llama-3-8b", hardware="m3-max", prompt=64, batch=4)
    assert itl[0, 1] == pytest.approx(float(alone.exact("itl")), rel=1e-12) and bound[
        0, 1
    ] == alone.value("decode_bound")
    assert np.isnan(itl[1]).all() and (bound[1] == "").all()
    with pytest.raises(InputError, match="needs link_bandwidth"):
        sr.compile("link_ridge", ["batch"], model="llama-3-8b", hardware="m3-max")
