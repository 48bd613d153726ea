"""Selections over a range: every answer holds at both ends, each worked out in a case of its own, and the next one fails at an end."""

import pytest

from symroof.api import Study
from symroof.select.choice import select

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "output": 256, "chunk": 2048, "memory_share": 0.92}
ENDS = (1024, 4096)
METRICS = {"itl": "sustained_itl", "cost": "cost_per_mtok"}
PRICE = {"price": "2.5 USD/hour"}


def chosen(**more):
    (configuration,) = select(**CASE, **more, prompt=f"{ENDS[0]}..{ENDS[1]}", efficiency="peak").configurations
    return configuration


def passes(targets, prompt, batch, **more):
    made = Study(**CASE, prompt=prompt, batch=batch, **more)
    met = all(made.exact(METRICS[name]) <= limit for name, limit in targets.items())
    return met and bool(made.exact("fits")) and ("arrival_rate" not in more or made.exact("load") < 1)


@pytest.mark.parametrize("targets", [{"itl": 0.03, "cost": 0.25}, {"itl": 0.06, "cost": 0.4}])
def test_the_window_is_that_of_both_ends(targets):
    window = chosen(targets=targets, **PRICE).window
    assert window.stopped_by in (("itl",), ("memory",))
    for batch, both in ((window.least - 1, False), (window.least, True), (window.most, True), (window.most + 1, False)):
        assert all(passes(targets, prompt, batch, **PRICE) for prompt in ENDS) is both, batch


def test_the_copies_are_those_of_the_end_that_takes_most():
    """Twenty requests a second are too many for one copy at the long prompts, and one copy less than it takes has no steady state there."""
    configuration = chosen(targets={"itl": 0.03}, arrival_rate=20)
    copies, batch = configuration.run.copies, configuration.run.batch
    assert configuration.state == "passes" and batch == configuration.window.most and copies == 2
    assert all(passes({"itl": 0.03}, prompt, batch, arrival_rate=20, dp=copies) for prompt in ENDS)
    assert [passes({"itl": 0.03}, prompt, batch, arrival_rate=20, dp=copies - 1) for prompt in ENDS] == [True, False]


def test_a_batch_passes_in_part_where_one_end_does():
    states = {}
    for batch in (50, 150, 600):
        met = [passes({"itl": 0.03}, prompt, batch) for prompt in ENDS]
        states[batch] = "passes" if all(met) else "in part" if any(met) else "fails"
        assert chosen(targets={"itl": 0.03}, batch=batch).state == states[batch]
    assert set(states.values()) == {"passes", "in part", "fails"}


def test_the_shares_are_those_of_the_worse_end():
    """Where every end passes, what the metrics take of their limits is the most that they take at an end."""
    configuration = chosen(targets={"itl": 0.03}, batch=50)
    expected = max(float(Study(**CASE, prompt=prompt, batch=50).exact("sustained_itl")) for prompt in ENDS) / 0.03
    assert float(configuration.run.worst) == pytest.approx(max(expected, max(_memory_share(prompt) for prompt in ENDS)), rel=1e-9)


def _memory_share(prompt):
    made = Study(**CASE, prompt=prompt, batch=50)
    return float(made.exact("memory_bytes_per_device") / made.exact("usable_memory_per_device"))
