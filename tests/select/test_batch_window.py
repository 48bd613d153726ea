"""The largest batch that passes, against a walk over the batches and against cases built afresh."""

import random

import pytest

from symroof.api import Study
from symroof.select.batch_window import window
from symroof.select.selection import select

METRICS = {
    "ttft": "loaded_ttft",
    "itl": "sustained_itl",
    "cost": "cost_per_mtok",
    "price": "instance_price",
}


def passes(case, targets, batch):
    """Whether a batch passes, in a case of its own."""
    made = Study(**case, batch=batch)
    values = [
        (float(made.value(METRICS[name])), limit / 3600 if name == "price" else limit)
        for name, limit in targets.items()
    ]
    return bool(made.value("fits")) and all(value <= limit for value, limit in values)


def cases(seed):
    draw = random.Random(seed)
    case = {
        "model": draw.choice(["llama-3-8b", "mixtral-8x7b", "qwen2.5-7b", "deepseek-v2-lite"]), "hardware": draw.choice(["a100-80gb-sxm", "h100-sxm", "gh200"]),
        "tp": draw.choice([1, 2, 4]), "prompt": draw.choice([128, 2048, 8192]), "output": draw.choice([16, 512]),
        "mfu": draw.choice([0.5, 0.7]), "mbu": draw.choice([0.6, 0.9]), "step_overhead": draw.choice(["0 s", "2 ms"]),
    }  # fmt: skip
    targets = {"itl": draw.uniform(0.008, 0.06), "ttft": 5.0}
    return case, targets | ({"cost": draw.uniform(0.1, 3)} if draw.random() < 0.6 else {})


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(24))
def test_the_next_batch_does_not_pass_and_the_last_does(seed):
    case, targets = cases(seed)
    found = window(Study(**case, targets=targets).first)
    if found is None:
        assert not any(
            passes(case, targets, n)
            for n in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)
        )
        return
    assert passes(case, targets, found.most) and not passes(case, targets, found.most + 1)
    assert passes(case, targets, found.least) and (
        found.least == 1 or not passes(case, targets, found.least - 1)
    )
    assert not any(passes(case, targets, found.most * factor) for factor in (2, 3, 7, 50))


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", [0.007, 0.012, 0.02])
def test_a_walk_over_every_batch_finds_the_same(target):
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 8192,
        "output": 64,
        "mbu": 0.8,
    }
    first = Study(**case, targets={"itl": target, "cost": 2}).first
    good = [
        n
        for n in range(1, 90)
        if first.case.changed({"batch": n}).value("fits")
        and passes(case, {"itl": target, "cost": 2}, n)
    ]
    found = window(first)
    assert (found.least, found.most) == (good[0], good[-1]) if good else found is None
    assert good == list(range(good[0], good[-1] + 1)) if good else True


def test_a_batch_that_meets_its_limit_exactly_passes():
    """The target is the time of batch 40 to the last digit: 40 passes, 41 does not."""
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 1000,
        "output": 2,
    }
    exact = Study(**case, batch=40, assume={"targets_under": "isolated"}).value("itl_last")
    answers = Study(**case, targets={"itl": 1}, assume={"targets_under": "isolated"}).first
    found = window(answers.at(answers.case.changed({"itl_target": exact})))
    assert (found.least, found.most, found.stopped_by) == (1, 40, ("itl",))


def test_over_a_range_every_corner_has_to_pass():
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 2048,
        "output": 64,
    }
    ends = [window(Study(**case, mbu=mbu, targets={"itl": 0.012}).first).most for mbu in (0.5, 0.8)]
    assert ends[0] < ends[1]
    assert window(Study(**case, mbu="0.5..0.8", targets={"itl": 0.012}).first).most == min(ends)


def test_what_stops_it_is_named():
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 2048,
        "output": 64,
    }
    assert window(Study(**case, targets={"itl": 1.0}).first).stopped_by == ("memory",)
    assert window(Study(**case, targets={"itl": 0.01}).first).stopped_by == ("itl",)


def test_a_batch_that_nobody_chose_is_the_largest_that_passes():
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 2048,
        "output": 64,
        "targets": {"itl": 0.012},
        "efficiency": "peak",
    }
    (free,) = select(**case).configurations
    (held,) = select(**case, batch=3).configurations
    assert free.window == held.window
    assert (free.run.batch, free.chosen, held.run.batch, held.chosen) == (
        free.window.most,
        False,
        3,
        True,
    )
    assert [run.batch for run in held.runs] == [1, 3, held.window.most]


def test_without_a_response_the_batch_that_nobody_chose_is_the_largest_by_hand():
    """A step of isolated requests reads 2 * 8.03 GB of weights and 2,048 * 131,072 byte a request, at 3.35 TB/s in 12 ms at most: 89 of them."""
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "params": 8_030_000_000,
        "assume": {"detail": "kv"},
    }
    (configuration,) = select(
        **case, prompt=2048, targets={"itl": 0.012}, efficiency="peak"
    ).configurations
    most = (12 * 3_350_000_000 - 2 * 8_030_000_000) // (2048 * 131_072)
    assert (configuration.window.least, configuration.window.most, configuration.run.batch) == (
        1,
        most,
        most,
    )


@pytest.mark.parametrize(
    ("spare", "most", "stopped"),
    [(-1, 88, ("memory",)), (0, 89, ("memory", "itl")), (1, 89, ("itl",))],
)
def test_memory_that_ends_one_batch_before_with_and_after_the_target(spare, most, stopped):
    """A step as above passes up to 89; the memory holds 89 caches beside the weights, one less, or one more."""
    cache, weights = 2048 * 131_072, 2 * 8_030_000_000
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "params": 8_030_000_000,
        "assume": {"detail": "kv"},
        "prompt": 2048,
        "targets": {"itl": 0.012},
    }
    found = window(Study(**case, mem_capacity=f"{weights + (89 + spare) * cache} byte").first)
    assert (12 * 3_350_000_000 - weights) // cache == 89
    assert (found.least, found.most, found.stopped_by) == (1, most, stopped)


def test_a_batch_that_is_too_large_is_told_the_one_that_passes():
    (found,) = select(
        model="llama-3-8b",
        hardware="h100-sxm",
        prompt=2048,
        batch=4000,
        targets={"itl": 0.012},
        efficiency="peak",
    ).configurations
    assert found.state == "fails" and found.window.most < 4000
    assert [run.batch for run in found.runs] == [1, found.window.most]


def test_listed_batches_are_candidates_and_no_other_is_looked_for():
    found = select(model="llama-3-8b", hardware="h100-sxm", prompt=2048, batch=[1, 8])
    assert [c.window for c in found.configurations] == [None, None]
