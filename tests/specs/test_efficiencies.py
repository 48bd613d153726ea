"""Entries of fitted efficiencies: their order and unit, and which one stands for a device and an engine."""

from fractions import Fraction

import pytest
from pydantic import ValidationError

from symroof.specs.efficiencies import (
    EfficienciesSpec,
    Efficiency,
    shipped_efficiencies,
)


def entry(**changes):
    return {
        "input": "mfu",
        "family": "all",
        "engine": "all",
        "value": Fraction(1, 2),
        "low": Fraction(2, 5),
        "high": Fraction(3, 5),
        "rows": 9,
        "sources": 3,
    } | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"low": Fraction(51, 100)}, "low, value and high in this order"),
        ({"high": Fraction(49, 100)}, "low, value and high in this order"),
        ({"value": "1 ms", "low": "1 ms", "high": "2 ms"}, "mfu is in no unit"),
        ({"high": "2 s"}, "mfu is in no unit"),  # one of the three is enough
        ({"low": "400 ms"}, "mfu is in no unit"),
        ({"value": "500 ms"}, "mfu is in no unit"),
        ({"input": "layer_overhead"}, "layer_overhead is in s"),
        (
            {"input": "layer_overhead", "value": "1 ms", "low": "1 ms", "high": 2},
            "layer_overhead is in s",
        ),
    ],
)
def test_an_entry_that_contradicts_itself_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        Efficiency(**entry(**changes))


OWN = [
    ("all", "all"),
    ("hopper", "server"),
    ("hopper", "plain"),
    ("ampere", "server"),
    ("cpu", "all"),
]


@pytest.mark.parametrize(
    ("family", "engine", "chosen", "words"),
    [
        ("hopper", "plain", ("hopper", "plain"), ""),
        ("hopper", "server", ("hopper", "server"), ""),
        (
            "ampere",
            "plain",
            ("ampere", "server"),
            "of plain engines on this family of devices (ampere): that of server engines",
        ),
        ("cpu", "server", ("cpu", "all"), ""),
        ("mi", "server", ("all", "all"), "on this family of devices (mi): that of all devices"),
    ],
)
def test_the_entry_of_a_family_and_an_engine_or_the_nearest(family, engine, chosen, words):
    entries = [entry(family=one, engine=other) for one, other in OWN]
    table = EfficienciesSpec(
        rows=9, sources=3, median_error=1, within_half=1, held=1, efficiencies=entries
    )
    found, said = table.chosen("mfu", family, engine)
    assert ((found.family, found.engine), words in said, bool(said)) == (chosen, True, bool(words))


def test_no_share_of_the_compute_peak_is_shipped_at_its_limit():
    """A fit that ends at 1 would go on: its rows determine nothing."""
    shares = [e for e in shipped_efficiencies().efficiencies if e.input == "mfu"]
    assert max(float(e.value.value) for e in shares) < 0.9
    assert {e.family: e.of for e in shares if e.of} == {
        "gddr": "hbm", "gddr experts": "hbm experts", "geforce": "hbm", "geforce experts": "hbm experts", "neuron": "hbm", "neuron experts": "hbm experts",
    }  # fmt: skip
