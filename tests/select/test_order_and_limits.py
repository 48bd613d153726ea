"""The order of configurations, limits met by a hair, and layouts counted by hand."""

from fractions import Fraction

import pytest
from symroof.select.as_json import configuration_json
from symroof.select.choice import select
from symroof.select.layouts import MOST_DEVICES, Counts, device_counts

from symroof.api import Study
from symroof.errors import InputError

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 256, "chunk": 2048, "batch": 40}


@pytest.mark.parametrize(("factor", "state"), [(1 - 1e-6, "fails"), (1 - 1e-12, "fails"), (1 + 1e-12, "passes"), (1 + 1e-6, "passes")])
def test_a_limit_missed_by_a_hair_is_missed(factor, state):
    """Within a billionth of a limit floats do not decide."""
    exact = Study(**CASE).exact("sustained_itl")
    (configuration,) = select(**CASE, targets={"itl": float(exact) * factor}, efficiency="peak").configurations
    assert configuration.state == state


def test_the_worst_of_isolated_requests_is_the_metric_that_takes_most_of_its_limit():
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048, "batch": 8, "assume": {"targets_under": "isolated"}}
    exact = Study(**case)
    for targets in ({"ttft": 0.5, "itl": 0.006}, {"ttft": 0.01, "itl": 0.5}, {"ttft": 5.0, "itl": 5.0}):
        (configuration,) = select(**case, targets=targets, efficiency="peak", memory_share=1).configurations
        shares = [exact.exact("memory_utilization"), *(exact.exact(name) / Fraction(str(limit)) for name, limit in targets.items())]
        assert float(configuration.run.worst) == pytest.approx(float(max(shares)), rel=1e-12)


@pytest.mark.parametrize(("text", "counts"), [("1", (1,)), ("4,8", (4, 8)), ("8,8, 2", (8, 2)), (str(MOST_DEVICES), (MOST_DEVICES,))])
def test_numbers_of_devices_as_they_are_listed(text, counts):
    assert device_counts({"devices": text, "model": ["a"]}) == ({"model": ["a"]}, Counts(counts))


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
