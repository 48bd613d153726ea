"""The search for slips on predictions made by hand: what differs, what agrees, what is named and what only suggested, and two slips at once."""

from fractions import Fraction
from math import prod
from types import SimpleNamespace

import pytest

from symroof.claims.slips.context import context_of
from symroof.claims.slips.predictions import SlipPrediction, two_slips
from symroof.claims.slips.slip_catalogue import MisreadResult
from symroof.specs.claims import ClaimSpec


class Hundred:
    """A context whose value is a hundred times every factor that is set."""

    value = Fraction(100)

    @staticmethod
    def value_with(sets):
        return 100 * prod(
            (factor for one in sets for name, factor in one.items() if name != "assume"),
            start=Fraction(1),
        )


def change(name, factor, *, paired=True, slip=None, digits=1):
    return SlipPrediction(
        (slip or name,),
        (f"{name} wrong",),
        100 * Fraction(factor),
        ({name: Fraction(factor)},),
        paired=paired,
        digits=digits,
    )


# --------------------------------------------------------------------------------------------------------- two at once


def test_what_changes_the_same_thing_is_not_done_twice():
    assert two_slips(Hundred, change("a", 2), change("a", 3)) is None
    both = two_slips(Hundred, change("a", 2), change("b", 3))
    assert (both.slips, both.texts, both.value) == (("a", "b"), ("a wrong", "b wrong"), 600)
    assert (
        two_slips(
            Hundred,
            SlipPrediction(("r",), ("r",), Fraction(1), misreading=MisreadResult("r", "value")),
            change("a", 2),
        )
        is None
    )


# ----------------------------------------------------------------------------------------------- where a slip may have happened


CASE = {"model": "llama-3-8b", "prompt": 1000, "batch": 3}


@pytest.mark.parametrize(
    ("written", "prefix", "words"),
    [
        ("1.34 GB", "G", {"decimal": "GB", "binary": "GiB", "too_large": ", GB for MB", "too_small": ", GB for TB"}), ("5 us", "", {"too_large": ", us for ns", "too_small": ", us for ms"}),
        ("3 kB", "K", {"decimal": "KB", "binary": "KiB", "too_large": ", kB for byte", "too_small": ", kB for MB"}), ("24 token/s", "", {"too_large": "", "too_small": ""}), ("7", "", {"too_large": "", "too_small": ""}),
        ("3 MiB", "M", {"decimal": "MB", "binary": "MiB"}), ("3 Gbit", "G", {}), ("3 G", "", {}),
    ],
)  # fmt: skip
def test_the_units_that_a_written_number_may_stand_for(written, prefix, words):
    claim = ClaimSpec(id="x", quantity="kv_cache_bytes", value=written, given=CASE)
    context = context_of(claim, SimpleNamespace(number=Fraction(1), unit="byte"), written)
    assert context.prefix == prefix
    assert {name: context.words[name] for name in words} == words
    assert context.put == {"value": 1, **({"prefix": " KMGTP".index(prefix)} if prefix else {})}


def test_the_cases_that_a_slip_may_have_happened_in():
    claim = ClaimSpec(
        id="x",
        compare="batch",
        between=[{"batch": 1}, {"batch": 2}],
        value="2",
        given={"prompt": 5},
    )
    both = context_of(claim, SimpleNamespace(number=Fraction(1, 2), unit=""), "2")
    assert both.sides == ((0, 1), (0,), (1,))
    assert [both.where(side) for side in both.sides] == [
        "",
        " in the first case only",
        " in the second case only",
    ]
    assert both.value_with(({}, {})) == Fraction(1, 2)
    assert both.value_with(({"batch": Fraction(3)}, {})) == Fraction(3, 2)
    assert both.value_with(({}, {"batch": Fraction(4)})) == Fraction(1, 4)
    one = context_of(
        ClaimSpec(id="x", quantity="batch", value="2", given={"batch": 3}),
        SimpleNamespace(number=Fraction(3), unit="request"),
        "2",
    )
    assert (one.sides, one.where((0,)), one.value_with(({"batch": Fraction(5)},))) == (
        ((0,),),
        "",
        5,
    )
    assert one.value_with(({"mbu": Fraction(-1), "batch": Fraction(0)},)) is None
