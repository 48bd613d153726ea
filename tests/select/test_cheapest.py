"""Who is cheapest: a selection and the cost of a request, each worked out on its own, over random demands."""

import itertools
import random
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.select.selection import select

MODELS = ("llama-3.1-8b", "qwen2.5-7b", "gemma-2-9b", "qwen3-30b-a3b")
PRICED = ("h100-sxm", "a100-80gb-sxm", "l40s", "h100-pcie", "gh200")


def demand(seed):
    draw = random.Random(seed)
    case = {
        "model": draw.choice(MODELS),
        "prompt": round(64 * 2 ** draw.uniform(0, 7)),
        "output": round(16 * 2 ** draw.uniform(0, 5)),
    }
    targets = {"itl": draw.choice((0.02, 0.05, 0.1)), "ttft": draw.choice((0.5, 2, 10))}
    scheduling = draw.choice(("chunked", "exclusive"))
    return {
        **case,
        "chunk": draw.choice((512, 2048)),
        "assume": {"scheduling": scheduling},
        "mfu": draw.choice((0.4, 0.7)),
        "mbu": 0.8,
    }, targets


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_the_first_of_a_selection_has_the_cheapest_request(seed):
    """Each passing configuration bound anew at its batch: the devices' price over the responses they finish."""
    case, targets = demand(seed)
    choice = select(
        **case,
        efficiency="peak",
        hardware=random.Random(seed).sample(PRICED, 3),
        among={"tp": "1,2"},
        targets=targets,
    )
    costs = []
    for c in choice.passing:
        own = c.run.bound_case
        made = Study(
            **case,
            hardware=own.hardware.name,
            tp=int(own.case.value("tp")),
            batch=c.run.batch,
            efficiency="peak",
        )
        by_hand = made.value("price") * made.value("tp") / made.value("sustained_requests")
        assert (
            Fraction(c.run.value("cost_per_request")) == by_hand == made.value("cost_per_request")
        )
        costs.append(by_hand)
    assert len(costs) > 1
    assert all(b >= a * (1 - Fraction(1, 10**12)) for a, b in itertools.pairwise(costs))
    best = choice.best("cost")
    assert best is not None and best.value("cost_per_request") <= min(costs) * (
        1 + Fraction(1, 10**12)
    )
