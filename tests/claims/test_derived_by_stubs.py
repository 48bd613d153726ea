"""What each form of a claim is held against, on studies that are stand-ins: values, units, remarks and refusals."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.claims import derive_claim as deriving
from symroof.claims.derive_claim import Derived, _outside_its_regime, _threshold, _throughout, _timed, derived, worked_out
from symroof.errors import InputError, NoValueHere
from symroof.specs.claims import ClaimSpec
from symroof.theory.declarations import Missing

TIMED = ("itl", "ttft", "prefill_time")


def case(**more):
    theory = SimpleNamespace(definitions={*TIMED, "weight_bytes"}, timed=lambda name: name in TIMED, symbol=lambda name: SimpleNamespace(unit="s"))
    return SimpleNamespace(**{"theory": theory, "numbers": (), **more})


def answers(bound=None, exact=None, fits=True, **more):
    """What binds as the claim counts, and counted exactly; of the other phase nothing is known."""
    asked = []

    def get(name, result=bound):
        asked.append(name)
        return None if result is None else SimpleNamespace(value=result)

    other = SimpleNamespace(get=lambda name: get(name, exact))
    return SimpleNamespace(get=get, assumed=lambda **switches: other, asked=asked, does_not_fit=not fits, case=case(**more))


def claim(value="1", **fields):
    return ClaimSpec(id="x", value=value, **fields)


PLAIN = {"given": {"assume": {"detail": "weights"}}}


@pytest.mark.parametrize(
    ("fields", "bound", "exact", "outside"),
    [
        (PLAIN, "memory", "compute", True), (PLAIN, "memory", "memory", False), (PLAIN, None, "compute", False), (PLAIN, "memory", None, False), ({}, "memory", "compute", False),
        ({"given": {"assume": {"logits": "all"}}}, "memory", "compute", False),
    ],
)  # fmt: skip
def test_a_plainer_count_that_changes_what_binds(fields, bound, exact, outside):
    for quantity, phase in (("itl", "decode"), ("ttft", "prefill"), ("prefill_time", "prefill")):
        there = answers(bound, exact)
        assert _outside_its_regime(claim(quantity=quantity, **fields), there) is outside
        assert set(there.asked) == ({f"{phase}_bound"} if fields is PLAIN else set())
    assert not _outside_its_regime(claim(quantity="weight_bytes", **fields), answers(bound, exact))
    assert not _outside_its_regime(claim(quantity="n_layers", **fields), answers(bound, exact))


@pytest.mark.parametrize(
    ("fields", "timed"),
    [
        ({"quantity": "itl"}, True), ({"quantity": "weight_bytes"}, False), ({"quantity": "n_layers"}, False), ({"compare": "itl", "between": [{"batch": 1}, {"batch": 2}]}, True),
        ({"relation": "itl < 3 ms", "value": True}, True), ({"relation": "weight_bytes < 3 GB", "value": True}, False), ({"expression": "2*itl + ttft"}, True), ({"expression": "2*weight_bytes"}, False),
        ({"expression": "weight_bytes/itl"}, True),
    ],
)  # fmt: skip
def test_claims_that_mean_nothing_where_the_case_does_not_fit(fields, timed):
    assert _timed(claim(**fields), answers()) is timed


@pytest.mark.parametrize(
    ("fits", "flags", "quantity", "made"),
    [
        (True, (), "itl", ()), (False, (), "itl", ("does_not_fit",)), (False, ("does_not_fit",), "itl", ("does_not_fit",)), (False, ("a",), "itl", ("a", "does_not_fit")),
        (False, (), "weight_bytes", ()),
    ],
)  # fmt: skip
def test_the_remarks_on_a_derived_value(fits, flags, quantity, made, monkeypatch):
    monkeypatch.setitem(deriving.FORMS, "quantity", lambda claim: Derived(Fraction(1), flags=flags, answers=answers("memory", "compute", fits)))
    assert derived(claim(quantity=quantity)).flags == made
    regime = () if quantity == "weight_bytes" else ("regime",)
    assert derived(claim(quantity=quantity, **PLAIN)).flags == (*made, *regime)
    monkeypatch.setitem(deriving.FORMS, "quantity", lambda claim: Derived(Fraction(1), flags=flags))
    assert derived(claim(quantity=quantity)).flags == flags


# ----------------------------------------------------------------------------------------------------------- thresholds


@pytest.mark.parametrize(
    ("value", "integer", "kind", "made"),
    [
        (Fraction(5, 2), {}, "crossing", (Fraction(5, 2), None)), (Fraction(5, 2), {"ceil": 3}, "crossing", (Fraction(5, 2), 3)),
        (Fraction(5, 2), {"floor": 2}, deriving.LIMIT, (2, None)), (Fraction(5, 2), {}, deriving.LIMIT, (Fraction(5, 2), None)), (None, {}, "crossing", ("never", None)),
    ],
)  # fmt: skip
def test_the_number_of_a_threshold(value, integer, kind, made, monkeypatch):
    """A crossing, or the first whole number behind it; of a limit the last whole number that keeps it, and no other."""
    solution = SimpleNamespace(verdict="", symbol=SimpleNamespace(unit="token"), value=value, integer=integer, kind=kind, reason="why", flags=("f",))
    monkeypatch.setattr(deriving, "study_of", lambda given: SimpleNamespace(solve=lambda *_: solution, first=None))
    result = _threshold(claim(threshold="itl = 5 ms"))
    assert (result.value, result.other, result.unit, result.why) == (*made, "token", "why")
    assert result.flags == (() if value is None else ("f",))


def test_a_threshold_that_needs_another_input(monkeypatch):
    solution = SimpleNamespace(verdict="conditional", missing="prompt")
    monkeypatch.setattr(deriving, "study_of", lambda given: SimpleNamespace(solve=lambda *_: solution))
    with pytest.raises(NoValueHere, match="needs prompt for a number"):
        _threshold(claim(threshold="itl = 5 ms"))


# ---------------------------------------------------------------------------------------------------- ratios and directions


def study(value, fits=True, slope=None):
    def exact(name):
        if isinstance(value, Exception):
            raise value
        return value

    first = SimpleNamespace(does_not_fit=not fits, case=case(slope=lambda name, moving: slope))
    return SimpleNamespace(exact=exact, first=first)


def compared(one, two, monkeypatch, quantity="itl"):
    monkeypatch.setattr(deriving, "study_of", lambda given: one if given["batch"] == 1 else two)
    return deriving._compare(claim(compare=quantity, between=[{"batch": 1}, {"batch": 2}]))


def test_the_ratio_of_two_cases(monkeypatch):
    """The first over the second; that one of them does not fit is remarked of the second, the first has its own remark."""
    result = compared(study(Fraction(6)), study(Fraction(4)), monkeypatch)
    assert (result.value, result.unit, result.flags) == (Fraction(3, 2), "", ())
    assert compared(study(Fraction(6)), study(Fraction(4), fits=False), monkeypatch).flags == ("does_not_fit",)
    assert compared(study(Fraction(6)), study(Fraction(4), fits=False), monkeypatch, "weight_bytes").flags == ()
    assert compared(study(Fraction(0)), study(Fraction(4)), monkeypatch).value == 0
    for one, two in ((Fraction(6), Fraction(0)), ("memory", Fraction(4)), (Fraction(6), "memory"), (True, True)):
        with pytest.raises(NoValueHere, match="has no ratio here: one of the two values is not a number, or the second is 0"):
            compared(study(one), study(two), monkeypatch)


@pytest.mark.parametrize(
    ("error", "message", "missing"), [(Missing("prompt"), "needs prompt", "prompt"), (ZeroDivisionError("division by zero"), "division by zero", "")]
)
def test_a_ratio_of_what_has_no_value(error, message, missing, monkeypatch):
    with pytest.raises(NoValueHere, match=message) as caught:
        compared(study(error), study(Fraction(1)), monkeypatch)
    assert (caught.value.missing, caught.value.problems[0].file) == (missing, "itl")


@pytest.mark.parametrize(("slope", "direction"), [(Fraction(1, 10**9), "up"), (Fraction(-1, 10**9), "down"), (Fraction(0), "not")])
def test_the_direction_in_which_a_quantity_moves(slope, direction, monkeypatch):
    monkeypatch.setattr(deriving, "study_of", lambda given: study(Fraction(1), slope=slope))
    assert deriving._moves(claim("up", moves="itl", with_="batch")).value == direction
    with pytest.raises(InputError, match="itl moves with itself, whatever it is"):
        deriving._moves(claim("up", moves="itl", with_="itl"))
    for label in ("memory", True):
        monkeypatch.setattr(deriving, "study_of", lambda given, label=label: study(label, slope=slope))
        with pytest.raises(InputError, match="itl is true/false or a category: it has no slope"):
            deriving._moves(claim("up", moves="itl", with_="batch"))


# ----------------------------------------------------------------------------------------------------- arithmetic and ranges


def arithmetic(source, steps=()):
    from symroof.claims.claim_settings import study_of

    result = worked_out(source, study_of({"batch": 3}), {name: (Fraction(value), unit) for name, value, unit in steps})
    return result.value, result.unit, result.flags


def test_arithmetic_over_units_names_and_steps():
    second, byte = (("s", 1),), (("byte", 1),)
    assert arithmetic("2*3") == (6, "", ())
    assert arithmetic("6 GB / 2 s") == (3 * 10**9, "byte/s", ())
    assert arithmetic("2*batch") == (6, "", ())
    assert arithmetic("batch") == (3, "", ())
    assert arithmetic("a/b", [("a", 6, byte), ("b", 4, second)]) == (Fraction(3, 2), "byte/s", ())
    assert arithmetic("tp*2", [("tp", 5, ())]) == (10, "", ())  # a step goes before an input of that name
    value, _, flags = arithmetic("a + b", [("a", 6, byte), ("b", 4, second)])
    assert (value, flags) == (None, ("dimension",))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("2 +", "end of the formula"),
        ("1/0", "division by zero"),
        ("foo*2", "unknown name 'foo'"),
        ("decode_bound*2", "is true/false or a category, not a number"),
    ],
)
def test_arithmetic_that_has_no_value(source, message):
    with pytest.raises(InputError, match=message):
        arithmetic(source)


@pytest.mark.parametrize(
    ("value", "possible", "parts", "made"),
    [
        (True, (True,), "", (True, "")), (True, (False,), "", (False, "")), (True, (True, False), "not for batch 1", ("in part", "not for batch 1")),
        ("memory", ("memory", "compute"), "", ("in part", "memory or compute")), ("link", ("memory", "compute"), "not", ("memory or compute", "")),
    ],
)  # fmt: skip
def test_a_claim_throughout_a_range(value, possible, parts, made):
    result = _throughout(claim(value, relation="decode_bound"), possible, SimpleNamespace(failing=parts) if parts else None, study(Fraction(1)))
    assert (result.value, result.why) == made
