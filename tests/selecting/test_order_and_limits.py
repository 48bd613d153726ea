"""The order of configurations, limits met by a hair, and layouts counted by hand."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest

from symroof.api import Study
from symroof.select.choice import _place, select
from symroof.select.layouts import _layouts

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 256, "chunk": 2048, "batch": 40}


def test_the_order_of_states_is_before_the_nearness_of_the_miss():
    """Passing, passing at another batch, passing in part, failing, unknown; within a state the nearest miss, or the best, is first."""
    run = SimpleNamespace(passes=True, rank=lambda name: Fraction(5))
    passing = SimpleNamespace(state="passes", runs=(run,), run=run)
    elsewhere = SimpleNamespace(state="fails", runs=(run,), run=SimpleNamespace(passes=False, worst=9))
    missed = [
        SimpleNamespace(state=state, runs=(), run=SimpleNamespace(passes=False, worst=worst))
        for state, worst in product(["in part", "fails", "unknown"], [0, 7])
    ]
    listed = [passing, elsewhere, *missed]
    for by in ("cost", "throughput"):
        places = [_place(configuration, by) for configuration in listed]
        assert places == sorted(places) and len(set(places)) == len(places)
    cheap, dear = (SimpleNamespace(state="passes", runs=(r,), run=r) for r in (SimpleNamespace(passes=True, rank=lambda _, v=v: Fraction(v)) for v in (1, 2)))
    unpriced = SimpleNamespace(passes=True, rank=lambda _: None)
    unknown = SimpleNamespace(state="passes", runs=(unpriced,), run=unpriced)
    assert _place(cheap, "cost") < _place(dear, "cost") < _place(unknown, "cost") < _place(elsewhere, "cost")
    assert _place(dear, "throughput") < _place(cheap, "throughput")


@pytest.mark.parametrize(("factor", "state"), [(1 - 1e-6, "fails"), (1 - 1e-12, "fails"), (1 + 1e-12, "passes"), (1 + 1e-6, "passes")])
def test_a_limit_missed_by_a_hair_is_missed(factor, state):
    """Within a billionth of a limit floats do not decide."""
    exact = Study(**CASE).exact("sustained_itl")
    (configuration,) = select(**CASE, targets={"itl": float(exact) * factor}, efficiency="peak").configurations
    assert configuration.state == state


@pytest.mark.parametrize(("count", "model"), [(1, "llama-3-8b"), (6, "llama-3-8b"), (8, "llama-3-8b"), (8, "mixtral-8x7b")])
def test_layouts_are_every_way_to_split_so_many_devices(count, model):
    """Eight key and value heads: a degree divides them; experts may stand in groups; prefills take some devices of each of several equal sides."""
    answers = Study(model, "h100-sxm", prompt=2048, output=256).first
    by_hand = set()
    for tp in (n for n in range(1, count + 1) if count % n == 0 and (8 % n == 0)):
        for groups in range(1, count // tp + 1):
            if count % (tp * groups) == 0:
                if groups == 1 or model.startswith("mixtral"):
                    by_hand.add((tp, groups, count // tp // groups, 0))
                if groups > 1:
                    by_hand.add((tp, 1, count // tp // groups, tp * (groups - 1)))
    made = [(d["tp"], d.get("attention_dp", 1), d["dp"], d.get("prefill_devices", 0)) for d in _layouts(answers, count)]
    assert sorted(made) == sorted(by_hand)
    assert all((tp * groups + prefill) * dp == count for tp, groups, dp, prefill in made)
