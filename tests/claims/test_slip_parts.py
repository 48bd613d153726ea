"""Parts of the search for slips: digits against brute force, which results can be read otherwise, how far digits tell, what a parameter is fitted to."""

import itertools
from fractions import Fraction

import pytest

from symroof.claims.derive_claim import Derived, derived
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explain import (
    digit_slips,
    explanations,
    swapped_digits,
    upside_down,
)
from symroof.claims.slips.explanation import SlipExplanation, factor_text
from symroof.claims.slips.label_slips import explain_label
from symroof.claims.slips.predictions import can_happen, rounded
from symroof.claims.slips.simplifications import simplified_settings, uses_links, with_round_params
from symroof.claims.slips.slip_catalogue import MisreadResult
from symroof.claims.unstated_assumptions import counted_otherwise, round_share
from symroof.specs.claims import ClaimSpec

FIRST = {"model": "llama-3-70b", "prompt": 4096}


@pytest.mark.parametrize("digits", ["7", "77", "78", "100", "1978", "10010"])
def test_every_slip_of_digits(digits):
    """Whatever differs in two neighbours that changed places; nothing twice."""
    every = (
        ["".join(one) for one in itertools.product("0123456789", repeat=len(digits))]
        if len(digits) < 5
        else []
    )
    apart = {
        text: [i for i, (one, other) in enumerate(zip(text, digits, strict=True)) if one != other]
        for text in every
    }
    neighbours = {
        text
        for text, where in apart.items()
        if len(where) == 2
        and where[1] - where[0] == 1
        and [text[i] for i in where] == [digits[i] for i in reversed(where)]
    }
    if every:
        assert set(swapped_digits(digits)) == neighbours
    assert len(list(swapped_digits(digits))) == len(set(swapped_digits(digits)))


def test_digits_of_a_value_that_was_rounded_or_cut_off():
    """197.86 in units of a tenth is 1979 or 1978; neither is a slip of the other, and no slip begins with 0."""
    listed = digit_slips(Fraction("197.86"), Fraction(1, 10))
    assert listed[Fraction("198.7")] == "two digits swapped in 1978"
    assert listed[Fraction("199.7")] == "two digits swapped in 1979"
    assert Fraction("197.7") not in listed  # one digit wrong, which many numbers would be
    assert not {Fraction("197.8"), Fraction("197.9"), Fraction("97.8")} & listed.keys()
    assert digit_slips(Fraction(10), Fraction(1)) == {}


@pytest.mark.parametrize(
    ("units", "over", "unit", "names", "happens"),
    [
        ((), (), "s", (), True), (("byte",), (), "byte/token", (), True), (("byte",), (), "FLOP*byte", (), True), (("byte",), (), "s", (), False), (("s", "USD"), (), "USD", (), True),
        ((), ("batch",), "s", ("batch", "tp"), True), ((), ("batch",), "s", ("tp",), False), (("s",), ("batch",), "byte", ("batch",), False),
    ],
)  # fmt: skip
def test_which_results_can_be_read_otherwise(units, over, unit, names, happens):
    assert can_happen(MisreadResult("x", "value", units, over), unit, frozenset(names)) is happens


@pytest.mark.parametrize(
    ("value", "digits", "few"),
    [
        ("23.93", 2, "24"),
        ("23.93", 1, "20"),
        ("327680", 3, "328000"),
        ("0.0996", 2, "0.1"),
        ("95", 1, "100"),
    ],
)
def test_a_figure_to_few_digits(value, digits, few):
    assert rounded(Fraction(value), digits) == pytest.approx(Fraction(few), rel=1e-12)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [("8", "×8"), ("1", "×1"), ("0.5", "÷2"), ("1.25", "×1.25"), ("0.8", "÷1.25")],
)
def test_a_factor_in_words(ratio, text):
    assert factor_text(Fraction(ratio)) == text


# ---------------------------------------------------------------------------------------------------- upside down, flipped


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "23.93 token/s",
            "the formula is upside down: it gives 41.79 ms, and its inverse is what is claimed",
        ),
        ("0.04179 token/s", "the result is read as its inverse: it gives 41.79 ms"),
        ("41.79 token/s", "the result in thousandths is read as its inverse: it gives 41.79 ms"),
        ("5 token/s", ""),
        ("< 23.93 token/s", ""),
        ("5 GB", ""),
    ],
)
def test_a_ratio_upside_down(value, words):
    """140 GB over 3.35 TB/s."""
    explained = upside_down(value, Derived(Fraction(140, 3350), "s"))
    assert [one.text for one in explained] == ([words] if words else [])


@pytest.mark.parametrize(
    ("value", "words"), [(False, ["one request in place of the batch: then false"]), (True, [])]
)
def test_the_only_change_that_makes_an_answer_true(value, words):
    claim = ClaimSpec(
        id="c",
        relation="batch > 100",
        given=FIRST | {"batch": 200, "hardware": "h100-sxm"},
        value=value,
    )
    explained = (
        explanations(claim)
        if value
        else explain_label(claim, read_written(value, ""), derived(claim))
    )
    assert [one.text for one in explained] == words
    assert not any(one.named for one in explained)


# ------------------------------------------------------------------------------------------------------ plainer counts


def test_how_texts_count_more_simply():
    """The plainest first; a case that says how it counts, or states a preset, is held to it; links are left out where there are some."""
    details = ["weights", "kv", "attention"]
    plain = simplified_settings(ClaimSpec(id="c", quantity="itl", given={"params": 1}, value="1 s"))
    assert [one["assume"]["detail"] for one in plain] == [*details, "attention"]
    assert plain[-1] == {"assume": {"detail": "attention", "attention": "full"}}
    over = simplified_settings(
        ClaimSpec(id="c", quantity="itl", given={"params": 1, "tp": 2}, value="1 s")
    )
    assert (
        over[:4] == plain
        and [sorted(one) for one in over[4:]]
        == [["assume", "decode_link_time", "prefill_link_time"]] * 4
    )
    for fields in (
        {"given": {"preset": "genz"}},
        {"needs": {"mfu": 1}},
        {"given": {"assume": {"detail": "kv"}}},
    ):
        assert simplified_settings(ClaimSpec(id="c", quantity="itl", value="1 s", **fields)) == []
    assert simplified_settings(ClaimSpec(id="c", catalogue="h100-sxm.power", value="1 W")) == []
    halves = simplified_settings(
        ClaimSpec(id="c", quantity="itl", given={"assume": {"attention": "full"}}, value="1 s")
    )
    assert [one["assume"] for one in halves] == [{"detail": level} for level in details]
    assert [
        uses_links(ClaimSpec(id="c", quantity="itl", given={"ep": n}, value="1"))
        for n in (1, "1", 2)
    ] == [False, False, True]


@pytest.mark.parametrize(
    ("given", "params"),
    [
        ({"model": "llama-3-8b"}, ["8e9", "8.03e9"]),
        ({"model": "mixtral-8x7b"}, []),
        ({"params": "7e9"}, []),
        ({"model": "llama-3-8b", "params": 1}, []),
        ({}, []),
    ],
)
def test_parameters_as_a_name_rounds_them(given, params):
    """Not those of a model of which a token multiplies less than three quarters."""
    assert [
        one["params"]
        for one in with_round_params(
            ClaimSpec(id="c", quantity="itl", given=given, value="1 s"), {"x": 1}
        )
    ] == params


@pytest.mark.parametrize(
    ("given", "tolerance", "holding", "share"),
    [
        ({}, Fraction(1, 200), {("mfu", 50)}, {"mfu": Fraction(1, 2)}),
        ({}, Fraction(1, 199), {("mfu", 50)}, None),
        ({}, None, {("mfu", 50)}, None),
        ({}, Fraction(1, 1000), {("mfu", 50), ("mbu", 50)}, None),
        ({"mbu": 1}, Fraction(1, 1000), {("mfu", 50), ("mbu", 50)}, {"mfu": Fraction(1, 2)}),
        ({}, Fraction(1, 1000), {("mbu", 85)}, {"mbu": Fraction(17, 20)}),
        ({}, Fraction(1, 1000), {("mbu", 30)}, {"mbu": Fraction(3, 10)}),
        ({}, Fraction(1, 1000), {("mbu", 29), ("mbu", 86), ("mbu", 100)}, None),
    ],
)  # fmt: skip
def test_the_one_round_efficiency(given, tolerance, holding, share):
    def holds(changes):
        ((name, value),) = changes.items()
        return (name, value * 100) in holding

    assert round_share(given, tolerance, holds) == share


def test_another_way_to_count_and_nothing_else():
    def one(slip, named=True, text="a"):
        return SlipExplanation(slip, named, Fraction(1), 0.1, text)

    assert counted_otherwise([one("kv_ignored")])
    assert counted_otherwise(
        [one("kv_ignored"), one("attention_ignored"), one("gqa_forgotten", text="b")]
    )
    assert not counted_otherwise([])
    assert not counted_otherwise([one("kv_ignored", named=False)])
    assert not counted_otherwise([one("kv_ignored"), one("gqa_forgotten")])
    assert not counted_otherwise([one("gqa_forgotten"), one("kv_ignored", text="b")])


def test_what_has_no_slips():
    case = {"quantity": "kv_cache_bytes", "given": FIRST}
    for value in ("1.34 GB", "< 5 GB", "soon", "-3 GB", "0 GB"):
        assert [
            one for one in explanations(ClaimSpec(id="c", value=value, **case)) if one.named
        ] == []
