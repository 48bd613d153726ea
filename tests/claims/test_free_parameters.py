"""An efficiency or a fixed cost that would make a claim true, on a case of one formula: 0.1 s over the share of the peak, and what is added."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import log
from types import SimpleNamespace

import pytest

from symroof.claims.slips.free_parameters import fitted_parameters


def time(sets):
    return Fraction(1, 10) / sets.get("mfu", 1) + sets.get("step_overhead", 0)


def rate(sets):
    return 10 * sets.get("mbu", 1)


@dataclass
class OneFormula:
    """What the search asks of a claim's context."""

    name: str = "mfu"
    of: Callable = time
    unit: str = "s"
    form: str = "quantity"
    cases: tuple = ({},)
    sides: tuple = ((0,),)
    dependencies: object = frozenset()

    @property
    def claim(self):
        return SimpleNamespace(form=self.form)

    @property
    def value(self):
        return self.value_with(tuple({} for _ in self.cases))

    def depends_on(self, name):
        return name == self.name

    def where(self, side):
        return f" in {side}"

    def value_with(self, sets):
        values = [self.of(one) for one in sets]
        return None if None in values else values[0] / values[1] if len(values) > 1 else values[0]


def texts(claimed, **fields):
    return [one.text for one in fitted_parameters(OneFormula(**fields), Fraction(claimed))]


SHARE = "holds at {} {} in (0,): that share of the {} is reached"


@pytest.mark.parametrize(
    ("claimed", "share"),
    [
        ("0.2", "0.5"),
        ("0.125", "0.8"),
        ("2", "0.05"),
        ("2.01", None),
        ("0.3", "0.333"),
        ("0.1001", "0.999"),
        ("0.1", None),
        ("0.0999", None),
        ("0.05", None),
    ],
)
def test_the_share_of_a_peak_at_which_a_time_is_as_long(claimed, share):
    """From a twentieth up to all of it; all of it is what stands."""
    assert [one for one in texts(claimed) if "reached" in one] == (
        [SHARE.format("mfu", share, "peak")] if share else []
    )
    assert [one for one in texts(claimed, name="mbu") if "reached" in one] == []


def test_a_share_of_the_bandwidth_and_of_a_rate():
    assert texts("5", name="mbu", of=rate, unit="token/s") == [
        SHARE.format("mbu", "0.5", "bandwidth")
    ]
    assert texts("11", name="mbu", of=rate, unit="token/s") == []
    assert texts("0.4", name="mbu", of=rate, unit="token/s") == []


def test_a_value_that_jumps_over_the_claim_is_not_met():
    """Nor where nothing has a value at all; where only the far end has none, what lies before may be met."""

    def jumping(sets):
        return Fraction(1) if sets.get("mfu", 1) > Fraction(1, 2) else Fraction(3)

    assert texts("2", of=jumping) == ["1 s more than derived: a fixed overhead of that length"]
    assert texts("2", of=lambda sets: None if "mfu" in sets else Fraction(1)) == [
        "1 s more than derived: a fixed overhead of that length"
    ]
    short = [
        one
        for one in texts(
            "0.2",
            of=lambda sets: (
                None
                if sets.get("mfu", 1) < Fraction(1, 4)
                else Fraction(1, 10) / sets.get("mfu", 1)
            ),
        )
        if "share" in one
    ]
    assert short == [SHARE.format("mfu", "0.5", "peak")]


def test_how_many_random_errors_a_share_would_explain():
    """Of those around 0.15 s (from 0.075 to 0.3) the ones from 0.1 s on; of those around 1.5 s (from 0.75 to 3) the ones to 2 s."""
    (share,) = (
        one.chance
        for one in fitted_parameters(OneFormula(), Fraction("0.15"))
        if "reached" in one.text
    )
    assert share == pytest.approx(log(3) / log(4))
    (share,) = (
        one.chance
        for one in fitted_parameters(OneFormula(), Fraction("1.5"))
        if "reached" in one.text
    )
    assert share == pytest.approx(log(2 / 0.75) / log(4))
    (share,) = (
        one.chance
        for one in fitted_parameters(OneFormula(name="mbu", of=rate, unit="token/s"), Fraction(8))
    )
    assert share == pytest.approx(log(10 / 8 * 1.25**3) / log(1.25**6))  # from 8/1.25^3 to 8*1.25^3


def test_a_latency_that_is_longer_has_a_fixed_cost():
    """Of any length, so that it explains whatever is longer; nothing of a latency that is shorter, or of one that depends on everything."""
    (one,) = fitted_parameters(OneFormula(name=""), Fraction("0.15"))
    assert (one.slip, one.named, one.text) == (
        "hidden_overhead",
        False,
        "50 ms more than derived: a fixed overhead of that length",
    )
    assert one.chance == pytest.approx(log(3) / log(4))
    assert (
        texts("0.0999", name="")
        == texts("0.1", name="")
        == texts("0.15", name="", dependencies=None)
        == []
    )


def test_a_fixed_cost_of_every_step_of_anything_else():
    """Up to a second of it."""
    cost = "holds with a fixed overhead of {} per step in (0,)"
    assert texts("0.35", name="step_overhead", form="threshold") == [cost.format("250 ms")]
    assert texts("1.1", name="step_overhead", form="threshold") == [cost.format("1 s")]
    assert texts("1.11", name="step_overhead", form="threshold") == []
    assert texts(
        "5",
        name="step_overhead",
        unit="token/s",
        of=lambda sets: 1 / (Fraction(1, 10) + sets.get("step_overhead", 0)),
    ) == [cost.format("100 ms")]
    assert texts("5", name="", unit="token/s") == []


def test_of_two_cases_both_or_either():
    """In both a share makes no difference to their ratio."""
    two = {"cases": ({}, {}), "sides": ((0, 1), (0,), (1,)), "unit": "", "form": "compare"}
    assert texts("2", **two) == [SHARE.format("mfu", "0.5", "peak")]
    assert texts("0.5", **two) == [SHARE.format("mfu", "0.5", "peak").replace("(0,)", "(1,)")]
