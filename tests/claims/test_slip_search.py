"""The search for slips on predictions made by hand: what differs, what agrees, what is named and what only suggested, and two slips at once."""

from fractions import Fraction
from itertools import combinations
from math import log, prod
from types import SimpleNamespace

import pytest

from symroof.claims.claim_settings import study_of
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.context import _texts, context_of
from symroof.claims.slips.explain import MOST_CHANGES, MOST_SUGGESTIONS, _differs, _distinct, _of_formulas, _of_pairs, _pairs
from symroof.claims.slips.label_slips import _answers, _by_chance
from symroof.claims.slips.predictions import SlipPrediction, _digits, _worked_out, two_slips
from symroof.claims.slips.slip_catalogue import CaseChange, MisreadResult, OtherFigure, RoundedFigure
from symroof.errors import InputError
from symroof.formula.parse import parse
from symroof.specs.claims import ClaimSpec


class Hundred:
    """A context whose value is a hundred times every factor that is set."""

    value = Fraction(100)

    @staticmethod
    def value_with(sets):
        return 100 * prod((factor for one in sets for name, factor in one.items() if name != "assume"), start=Fraction(1))


def change(name, factor, *, paired=True, slip=None, digits=1):
    return SlipPrediction((slip or name,), (f"{name} wrong",), 100 * Fraction(factor), ({name: Fraction(factor)},), paired=paired, digits=digits)


@pytest.mark.parametrize(("value", "differs"), [("100", False), ("100.5", False), ("100.51", True), ("99.5", False), ("99.49", True), ("200", True)])
def test_a_prediction_differs_where_the_digits_written_tell(value, differs):
    """Of 100 half of the last digit is half a per cent."""
    assert _differs(Fraction(value), Hundred, read_written("100", "")) is differs


def test_of_a_value_the_first_prediction_counts():
    listed = [change("a", 2), change("b", 3), change("c", 2)]
    assert [p.slips for p in _distinct(listed)] == [("a",), ("b",)]


def test_a_slip_is_named_where_few_random_errors_agree_with_any():
    (one,) = _of_formulas([change("a", 2), change("b", 50)], Hundred, read_written("200", ""))
    assert (one.slip, one.named, one.text) == ("a", True, "a wrong: ×2")
    assert one.chance == pytest.approx(log((200 / 199.5) / (200 / 201)) / log(4))
    assert _of_formulas([change("a", 2)], Hundred, read_written("202", "")) == []
    assert _of_formulas([change("a", "1/4")], Hundred, read_written("25", ""))[0].text == "a wrong: ÷4"


def test_where_many_agree_by_chance_the_first_three_are_suggested():
    """Predictions all over the neighbourhood of the claim explain whatever stands there."""
    around = [change(f"x{i}", Fraction(50 + i, 50)) for i in range(60, 200)]
    agreeing = [change(name, 2) for name in ("a", "b", "c", "d")]
    listed = _of_formulas([*agreeing, *around], Hundred, read_written("2e2", ""))
    assert [one.slip for one in listed] == ["a", "b", "c"][:MOST_SUGGESTIONS]
    assert not any(one.named for one in listed) and listed[0].chance > 0.2
    few = _of_formulas(agreeing, Hundred, read_written("200.0", ""))
    assert [(one.slip, one.named) for one in few] == [(name, True) for name in ("a", "b", "c", "d")]


# --------------------------------------------------------------------------------------------------------- two at once


def test_two_slips_of_different_names_and_of_different_values():
    """Two changes of other things; none of one slip twice, of the same name twice, of one that stands alone, or of a value that another has."""
    singles = [change("a", 2), change("b", 3), change("b2", 5, slip="b"), change("c", 7, paired=False), change("d", 2)]
    assert sorted(p.value / 100 for p in _pairs(singles, Hundred)) == [6, 10]
    same = SlipPrediction(("e",), ("e",), Fraction(1100), ({"a": Fraction(11)},))
    assert [p.value for p in _pairs([change("a", 2), same], Hundred)] == []
    switches = [SlipPrediction((name,), (name,), Fraction(100 + i), ({"assume": {name: "on"}},)) for i, name in enumerate("xy")]
    assert len(list(_pairs(switches, Hundred))) == 1


def test_so_many_changes_are_tried_two_by_two():
    factors = [Fraction(100 + i, 100) for i in range(1, MOST_CHANGES + 4)]
    singles = [change(f"x{i}", factor) for i, factor in enumerate(factors)]
    assert sorted(p.value for p in _pairs(singles, Hundred)) == sorted(100 * a * b for a, b in combinations(factors[:14], 2))


@pytest.mark.parametrize(
    ("written", "slips", "named"),
    [
        ("600.0", ["a", "b"], True), ("600.4", [], None), ("600", [], None),  # three digits are too few for two slips
        ("700.0", ["a", "gb_gib"], True), ("700", ["a", "gb_gib"], False), ("0.7e3", [], None), ("500.0..700.0", [], None),
    ],
)  # fmt: skip
def test_two_slips_explain_a_claim_of_four_digits(written, slips, named):
    """Beside one in the unit, which people make whatever else they do, three digits suffice for a suggestion; few pairs that are rough say too much."""
    more = [] if written != "0.7e3" else [change(f"x{i}", Fraction(20 + i, 10)) for i in range(60)]
    listed = _of_pairs([change("a", 2), change("b", 3), change("gb_gib", "3.5"), *more], Hundred, read_written(written, ""))
    assert [one.slip for one in listed] == slips
    if slips:
        assert {one.named for one in listed} == {named}
        assert {one.text for one in listed} == {f"{' wrong and '.join(slips)} wrong: ×{'6' if 'b' in slips else '7'}"}


def test_what_changes_the_same_thing_is_not_done_twice():
    assert two_slips(Hundred, change("a", 2), change("a", 3)) is None
    both = two_slips(Hundred, change("a", 2), change("b", 3))
    assert (both.slips, both.texts, both.value) == (("a", "b"), ("a wrong", "b wrong"), 600)
    assert two_slips(Hundred, SlipPrediction(("r",), ("r",), Fraction(1), misreading=MisreadResult("r", "value")), change("a", 2)) is None


# ------------------------------------------------------------------------------------------------------- how many answers


def asking(form, value="1", stands="batch"):
    claim = ClaimSpec(id="x", value=value, **form)
    return SimpleNamespace(claim=claim, value=Fraction(10), answers=SimpleNamespace(case=SimpleNamespace(stands_for=lambda name: parse(stands))))


def test_how_many_answers_a_question_has():
    ask = asking({"moves": "itl", "with_": "batch"})
    assert _answers(ask.claim, ask.answers) == 3
    ask = asking({"relation": "batch > 1"})
    assert _answers(ask.claim, ask.answers) == 2
    from symroof.api import Study

    answers = Study("llama-3-8b", "h100-sxm", prompt=100).first
    arms = len(answers.case.stands_for("decode_bound").arms)
    assert _answers(ClaimSpec(id="x", relation="decode_bound", value="compute"), answers) == arms > 2


@pytest.mark.parametrize(
    ("form", "truth", "reached", "share"),
    [
        ({"moves": "itl", "with_": "batch"}, "up", ["down", "up", "down"], 0.5),
        ({"moves": "itl", "with_": "batch"}, "up", ["down", "not"], 1.0),
        ({"relation": "batch > 1"}, True, [False, True], 1.0),
        ({"relation": "batch > 1"}, True, [True], 0.0),
    ],
)
def test_the_share_of_wrong_answers_that_some_change_makes_true(form, truth, reached, share):
    assert _by_chance(asking(form), read_written("soon", ""), SimpleNamespace(value=truth), reached) == share


@pytest.mark.parametrize(
    ("bound", "reached", "share"),
    [
        ("< 8", [Fraction(6), Fraction(20), Fraction(-1)], log(8 * 1.25**3 / 6) / log(1.25**6)),  # true at 10; from 6 on a bound would hold
        ("< 8", [Fraction(100)], 0.0),
        ("> 12.5", [Fraction(16), Fraction(3)], log(16 / 12.5 * 1.25**3) / log(1.25**6)),
        ("> 12.5", [Fraction(1)], 0.0),
        ("> -3", [Fraction(1)], 1.0),
    ],
)
def test_the_share_of_wrong_bounds_that_some_change_would_meet(bound, reached, share):
    """Bounds about as wrong as this one: up to thrice its error away."""
    assert _by_chance(asking({"quantity": "batch"}, bound), read_written(bound, ""), SimpleNamespace(value=Fraction(10)), reached) == pytest.approx(share)


# ----------------------------------------------------------------------------------------------- where a slip may have happened


@pytest.mark.parametrize(
    ("way", "matters", "digits"),
    [
        (OtherFigure("x", "peak_flops", "parts"), (), 2), (OtherFigure("x", "peak_flops", "relatives"), (), 3), (OtherFigure("x", "peak_flops", "sparse"), (), 1), (OtherFigure("x", "peak_flops", "precisions"), (), 1),
        (CaseChange("x", {}), ("params",), 1), (CaseChange("x", {}, precise_for=("params",)), ("params",), 3), (CaseChange("x", {}, precise_for=("params", "tp")), ("tp",), 3), (CaseChange("x", {}, precise_for=("params",)), (), 1),
        (RoundedFigure("itl", 2), ("params",), 1),
    ],
)  # fmt: skip
def test_from_how_many_digits_on_a_number_tells(way, matters, digits):
    """There are many other parts, and more that serve elsewhere."""
    assert _digits(SimpleNamespace(depends_on=lambda name: name in matters), way) == digits


CASE = {"model": "llama-3-8b", "prompt": 1000, "batch": 3}


@pytest.mark.parametrize(
    ("name", "value", "made"),
    [
        ("prompt", "prompt*1024/1000", 1024), ("prompt", "prompt*1000/1024", None), ("batch", "1", 1), ("batch", "batch - 3", None), ("batch", "batch - 4", None), ("batch", "batch/2", None),
        ("mem_bandwidth", "1/2", Fraction(1, 2)), ("weights", "fp8", "fp8"), ("assume", {"detail": "kv"}, {"detail": "kv"}), ("kv_bytes_per_token", "2*kv_bytes_per_token", 262_144),
        ("peak_context", "prompt", "prompt"),  # stands as a definition
        ("kv_bytes_per_token", "n_experts*kv_bytes_per_token", None),
    ],
)  # fmt: skip
def test_the_value_that_a_slip_sets(name, value, made):
    """No half of a request and no request at all; a quantity in its own terms is a number, in others a definition."""
    case = study_of(CASE).first.case
    if made is None:
        with pytest.raises((ArithmeticError, LookupError, InputError)):
            _worked_out(case, name, value)
    else:
        assert _worked_out(case, name, value) == made


def test_numbers_as_settings_of_a_case_take_them():
    assert _texts({"kernel_launch": Fraction(1, 3), "batch": Fraction(3), "itl": Fraction(2), "weights": "fp8"}) == {
        "kernel_launch": "1 s*1/3", "batch": 3, "itl": "2 s*1/1", "weights": "fp8",
    }  # fmt: skip


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
    claim = ClaimSpec(id="x", compare="batch", between=[{"batch": 1}, {"batch": 2}], value="2", given={"prompt": 5})
    both = context_of(claim, SimpleNamespace(number=Fraction(1, 2), unit=""), "2")
    assert both.sides == ((0, 1), (0,), (1,))
    assert [both.where(side) for side in both.sides] == ["", " in the first case only", " in the second case only"]
    assert both.value_with(({}, {})) == Fraction(1, 2)
    assert both.value_with(({"batch": Fraction(3)}, {})) == Fraction(3, 2)
    assert both.value_with(({}, {"batch": Fraction(4)})) == Fraction(1, 4)
    one = context_of(ClaimSpec(id="x", quantity="batch", value="2", given={"batch": 3}), SimpleNamespace(number=Fraction(3), unit="request"), "2")
    assert (one.sides, one.where((0,)), one.value_with(({"batch": Fraction(5)},))) == (((0,),), "", 5)
    assert one.value_with(({"mbu": Fraction(-1), "batch": Fraction(0)},)) is None
