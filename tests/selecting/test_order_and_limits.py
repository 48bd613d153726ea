"""The order of configurations, limits met by a hair, and layouts counted by hand."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.select.candidates import MOST_DEVICES, DeviceCounts, _layouts, device_counts
from symroof.select.selection import _sort_key, select
from symroof.select.selection_json import configuration_json

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 256, "chunk": 2048, "batch": 40}

STATES = ("in part", "fails")
NO_PRICE = {"fleet_price"}


def unknown(worst, unjudged, missed=()):
    """A configuration that is not known, of which a device gives the less the more of its limits it takes up."""
    run = SimpleNamespace(passes=False, worst=worst, unjudged=unjudged, missed_as_expected=missed, rank=lambda name: Fraction(9 - worst))
    return SimpleNamespace(state="unknown", runs=(), run=run)


def test_the_order_of_states_is_before_the_nearness_of_the_miss():
    """Passing, passing at another batch, in part, but for a price, failing, unknown; within a state the nearest miss, or the best, is first."""
    run = SimpleNamespace(passes=True, rank=lambda name: Fraction(5))
    passing = SimpleNamespace(state="passes", runs=(run,), run=run)
    elsewhere = SimpleNamespace(state="fails", runs=(run,), run=SimpleNamespace(passes=False, worst=9))
    in_part, failing = ([SimpleNamespace(state=state, runs=(), run=SimpleNamespace(passes=False, worst=worst)) for worst in (0, 7)] for state in STATES)
    priceless, dear_too, open_ = ([unknown(worst, *why) for worst in (0, 7)] for why in ((NO_PRICE,), (NO_PRICE, ("itl",)), (NO_PRICE | {"ttft"},)))
    listed = [passing, elsewhere, *in_part, *priceless, *failing, *open_]
    assert [_sort_key(c, "cost") for c in dear_too] == [_sort_key(c, "cost") for c in open_]
    for by in ("cost", "throughput"):
        places = [_sort_key(configuration, by) for configuration in listed]
        assert places == sorted(places) and len(set(places)) == len(places)
    cheap, dear = (SimpleNamespace(state="passes", runs=(r,), run=r) for r in (SimpleNamespace(passes=True, rank=lambda _, v=v: Fraction(v)) for v in (1, 2)))
    unpriced = SimpleNamespace(passes=True, rank=lambda _: None)
    without = SimpleNamespace(state="passes", runs=(unpriced,), run=unpriced)
    assert _sort_key(cheap, "cost") < _sort_key(dear, "cost") < _sort_key(without, "cost") < _sort_key(elsewhere, "cost")
    assert _sort_key(dear, "throughput") < _sort_key(cheap, "throughput")


@pytest.mark.parametrize(("factor", "state"), [(1 - 1e-6, "fails"), (1 - 1e-12, "fails"), (1 + 1e-12, "passes"), (1 + 1e-6, "passes")])
def test_a_limit_missed_by_a_hair_is_missed(factor, state):
    """Within a billionth of a limit floats do not decide."""
    exact = Study(**CASE).exact("sustained_itl")
    (configuration,) = select(**CASE, targets={"itl": float(exact) * factor}, efficiency="peak").configurations
    assert configuration.state == state


@pytest.mark.parametrize(("count", "model"), [(1, "llama-3-8b"), (6, "llama-3-8b"), (8, "llama-3-8b"), (8, "mixtral-8x7b")])
def test_layouts_are_every_way_to_split_so_many_devices(count, model):
    """Eight key and value heads: a degree divides them; experts may stand in groups; of several equal sides some read prompts for the others."""
    answers = Study(model, "h100-sxm", prompt=2048, output=256).first
    by_hand = set()
    for tp in (n for n in range(1, count + 1) if count % n == 0 and (8 % n == 0)):
        for groups in range(1, count // tp + 1 if model.startswith("mixtral") else 2):
            if count % (tp * groups) == 0:
                copies = count // tp // groups
                by_hand.add((tp, groups, copies, 0))
                by_hand |= {(tp, groups, copies - reading, Fraction(tp * groups * reading, copies - reading)) for reading in range(1, copies)}
    made = [(d["tp"], d.get("attention_dp", 1), d["dp"], d.get("prefill_devices", 0)) for d in _layouts(answers, count)]
    assert sorted(made) == sorted(by_hand)
    assert all((tp * groups + prefill) * dp == count for tp, groups, dp, prefill in made)


def test_the_worst_of_isolated_requests_is_the_metric_that_takes_most_of_its_limit():
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048, "batch": 8, "assume": {"targets_under": "isolated"}}
    exact = Study(**case)
    for targets in ({"ttft": 0.5, "itl": 0.006}, {"ttft": 0.01, "itl": 0.5}, {"ttft": 5.0, "itl": 5.0}):
        (configuration,) = select(**case, targets=targets, efficiency="peak", memory_share=1).configurations
        shares = [exact.exact("memory_utilization"), *(exact.exact(name) / Fraction(str(limit)) for name, limit in targets.items())]
        assert float(configuration.run.worst) == pytest.approx(float(max(shares)), rel=1e-12)


@pytest.mark.parametrize(("text", "counts"), [("1", (1,)), ("4,8", (4, 8)), ("8,8, 2", (8, 2)), (str(MOST_DEVICES), (MOST_DEVICES,))])
def test_numbers_of_devices_as_they_are_listed(text, counts):
    assert device_counts({"devices": text, "model": ["a"]}) == ({"model": ["a"]}, DeviceCounts(counts))


@pytest.mark.parametrize("text", ["0", "-1", str(MOST_DEVICES + 1), "٣", "1.5", "100000", "four"])
def test_other_numbers_of_devices_are_refused(text):
    with pytest.raises(InputError, match="is not a number of devices"):
        device_counts({"devices": text})


def test_a_window_in_json_has_its_ends_and_what_stops_it():
    """Tokens of a small batch cost too much, steps of a large one take too long: at either end the next batch fails by a case of its own."""
    case = {key: value for key, value in CASE.items() if key != "batch"} | {"memory_share": 0.92, "price": "2.5 USD/hour"}
    (configuration,) = select(**case, targets={"itl": 0.03, "cost": 0.25}, efficiency="peak").configurations
    written = configuration_json(configuration)["batches"]
    met = {}
    for batch in (written["least"] - 1, written["least"], written["most"], written["most"] + 1):
        made = Study(**case, batch=batch)
        met[batch] = made.exact("sustained_itl") <= 0.03 and made.exact("cost_per_mtok") <= 0.25
    assert list(met.values()) == [False, True, True, False]
    assert written["stopped_by"] == ["itl"]
