"""What a claim that fails is said to need, decided on judgements made by hand: the order of what is tried, and the sentences."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.claims import judge as judging
from symroof.claims import unstated_assumptions as assuming
from symroof.claims.judge import _at_any, _missed, _near, _near_at, _settled, _shortened, judge
from symroof.claims.judgement import ORDER, Judgement, compared, flags_of, joined, tolerance_of, value_text, worst
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explanation import Explanation
from symroof.claims.unstated_assumptions import explained, simplification
from symroof.errors import InputError, NoValueHere, Problem
from symroof.specs.claims import ClaimSpec
from symroof.theory.declarations import Missing
from symroof.theory.theory import UnknownName

CLAIM = ClaimSpec(id="x", quantity="itl", value="5 ms", given={"batch": 2})
NEEDING = CLAIM.model_copy(update={"needs": {"mfu": Fraction(1, 2)}})
SLIP = Explanation("gqa_forgotten", True, Fraction(1), 0.1, "a slip: ×2")


def of(verdict, derived="6 ms", **fields):
    return Judgement(fields.pop("claim", CLAIM), verdict, "5 ms", derived, **fields)


@pytest.fixture
def answers(monkeypatch):
    """Judge with the answers that a function gives, and mark what slips are looked for in."""

    def put(function):
        def judged(claim):
            answer = function(claim.given)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(judging, "_judged", judged)
        monkeypatch.setattr(judging, "explained", lambda claim, judgement, judge: ("explained", claim.given, judgement))

    return put


# ----------------------------------------------------------------------------------------------- as it stands, and its needs


@pytest.mark.parametrize("verdict", ["exact", "rounded", "approximate", "wrong"])
def test_a_claim_without_needs_is_explained_as_it_stands(verdict, answers):
    answers(lambda given: of(verdict))
    assert _settled(CLAIM) == ("explained", {"batch": 2}, of(verdict))


def test_a_claim_that_holds_needs_nothing(answers):
    answers(lambda given: of("rounded"))
    assert _settled(NEEDING) == ("explained", {"batch": 2}, of("rounded"))


@pytest.mark.parametrize("verdict", ["exact", "rounded", "approximate"])
def test_a_claim_that_holds_under_its_needs_is_conditional(verdict, answers):
    answers(lambda given: of(verdict, "5 ms", flags=("b",)) if "mfu" in given else of("wrong", flags=("a",)))
    made = _settled(NEEDING)
    assert (made.verdict, made.needs, made.flags) == ("conditional", ("mfu 0.5",), ("a", "b"))
    assert made.reason == "holds with mfu 0.5 (5 ms); as it stands 6 ms"


def test_a_claim_that_cannot_be_derived_without_its_needs(answers):
    answers(lambda given: of("exact", "5 ms") if "mfu" in given else NoValueHere(Problem("", "has none", path="itl")))
    assert _settled(NEEDING).reason == "holds with mfu 0.5 (5 ms); as it stands it cannot be derived: itl: has none"
    answers(lambda given: of("wrong", "7 ms") if "mfu" in given else NoValueHere(Problem("", "has none", path="itl")))
    assert _settled(NEEDING) == ("explained", {"batch": 2}, of("wrong", "7 ms"))


def test_a_claim_that_fails_under_its_needs_too_is_explained_as_it_stands(answers):
    answers(lambda given: of("wrong", "7 ms", flags=("b",)) if "mfu" in given else of("wrong", flags=("a",)))
    assert _settled(NEEDING) == ("explained", {"batch": 2}, of("wrong", flags=("a", "b")))


# ------------------------------------------------------------------------------------------------- an input that is left out


@pytest.mark.parametrize("error", [NoValueHere(Problem("itl", "needs prompt"), "prompt"), Missing("prompt")])
def test_a_prompt_that_is_not_stated_is_tried_at_three_lengths(error, answers):
    tried = []

    def at(given):
        if "prompt" not in given:
            return error
        tried.append(given["prompt"])
        return of("exact")

    answers(at)
    made = _settled(CLAIM)
    assert (tried, made.verdict, made.reason) == ([1, 4096, 131072], "exact", "prompt is not stated, and holds for any from 1 to 131,072")


@pytest.mark.parametrize(
    "error", [NoValueHere(Problem("itl", "needs batch"), "batch"), Missing("batch"), InputError(Problem("itl", "needs prompt")), ArithmeticError("prompt")]
)
def test_anything_else_that_is_missing_is_an_error(error, answers):
    answers(lambda given: error)
    with pytest.raises(type(error)):
        _settled(CLAIM)


def test_where_a_prompt_matters_the_claim_holds_for_short_ones_or_is_not_checked(answers):
    answers(lambda given: of("rounded", "5 ms") if given["prompt"] == 1 else of("wrong", "9 ms"))
    made = _at_any(CLAIM, "prompt")
    assert (made.verdict, made.needs) == ("conditional", ("a prompt so short that it does not matter",))
    assert made.reason == "prompt is not stated: 5 ms without it"
    answers(lambda given: of("wrong", f"{given['prompt']} ms"))
    made = _at_any(CLAIM, "prompt")
    assert (made.verdict, made.claimed, made.reason) == ("unchecked", "5 ms", "needs prompt, which is not stated, and what is claimed moves with it")
    answers(lambda given: of("exact") if given["prompt"] > 1 else of("wrong", "9 ms"))
    assert _at_any(CLAIM, "prompt").verdict == "unchecked"


def test_where_a_prompt_does_not_matter_the_claim_is_explained_at_the_shortest(answers):
    answers(lambda given: of("wrong", "9 ms"))
    assert _at_any(CLAIM, "prompt") == ("explained", {"batch": 2, "prompt": 1}, of("wrong", "9 ms"))


# ------------------------------------------------------------------------------------------------- a claim never takes others


@pytest.mark.parametrize(
    ("error", "reason", "fault"),
    [
        (InputError(Problem("", "is no share", path="mfu")), "mfu: is no share", True), (InputError(Problem("", "is no share")), "is no share", True),
        (NoValueHere(Problem("", "needs prompt", path="itl")), "itl: needs prompt", False), (ZeroDivisionError("division by zero"), "division by zero", False),
        (UnknownName("n_experts"), "unknown name 'n_experts': this model has no such part", False),
        (RuntimeError("x" * 300), f"symroof itself failed in this claim: RuntimeError: {'x' * 200}", True),
    ],
)  # fmt: skip
def test_why_a_claim_could_not_be_judged(error, reason, fault, monkeypatch):
    def fails(claim, shared):
        raise error

    monkeypatch.setattr(judging, "check_used", fails)
    made = judge(CLAIM)
    assert (made.verdict, made.claimed, made.reason, made.error is error) == ("unchecked", "5 ms", reason, fault)
    assert judge(ClaimSpec(id="x", unchecked="taste")).reason == "taste"


# --------------------------------------------------------------------------------------------------- formulas that differ


def missed(slips, *, near=False, ratio=Fraction(2), explain=True, verdict="factor", levels=(), monkeypatch=None):
    asked = []
    monkeypatch.setattr(judging, "formula_slips", lambda levels, end: asked.append(end) or tuple(slips))
    level = SimpleNamespace(label="", own=SimpleNamespace(verdict=verdict), sides=SimpleNamespace(in_numbers=lambda: ratio))
    made = _missed(Judgement(CLAIM, "exact", ratio=ratio, reason="it is twice that"), [level, *levels], near, explain, 7.0)
    return made, asked


def floor(text, slip="memory_floor_ignored"):
    return Explanation(slip, True, "x", 0.0, text)


@pytest.mark.parametrize(
    ("slip", "phase", "bound"), [("memory_floor_ignored", "prefill", "compute"), ("compute_floor_ignored", "decode", "memory"), ("compute_floor_ignored", "prefill", "memory")]
)  # fmt: skip
def test_an_arm_left_out_is_right_where_the_other_binds(slip, phase, bound, monkeypatch):
    one = floor(f"only the {phase}'s half timed", slip)
    for more in ({"near": True}, {"ratio": None}):
        made, _ = missed([one], monkeypatch=monkeypatch, **more)
        assert (made.verdict, made.needs, made.slips) == ("conditional", (f"{phase} bound by {bound}",), (one,))
        assert made.reason == f"holds where {phase} is bound by {bound}"
    assert missed([one], monkeypatch=monkeypatch)[0].verdict == "wrong"  # twice as much in numbers


def test_an_arm_left_out_at_a_plainer_count_that_comes_close(monkeypatch):
    one = floor("only the decode's half timed, at detail kv", "compute_floor_ignored")
    for label, ratio, verdict in (
        ("detail kv", Fraction(101, 100), "conditional"),
        ("detail kv", Fraction(2), "wrong"),
        ("detail weights", Fraction(1), "wrong"),
    ):
        level = SimpleNamespace(label=label, sides=SimpleNamespace(in_numbers=lambda ratio=ratio: ratio))
        made, _ = missed([one], levels=[level], monkeypatch=monkeypatch)
        assert (made.verdict, made.needs) == (verdict, ("decode bound by memory, at detail kv",) if verdict == "conditional" else ())


def test_an_arm_left_out_with_another_slip_is_wrong(monkeypatch):
    both = [floor("a and b"), Explanation("gqa_forgotten", True, "x", 0.0, "a and b")]
    assert missed(both, ratio=None, monkeypatch=monkeypatch)[0].verdict == "wrong"
    made, _ = missed([floor("only the decode's half timed"), floor("other", "gqa_forgotten")], ratio=None, monkeypatch=monkeypatch)
    assert made.verdict == "conditional"


def test_a_formula_that_comes_close_in_numbers_is_approximate(monkeypatch):
    made, asked = missed([SLIP], near=True, ratio=Fraction(102, 100), monkeypatch=monkeypatch)
    assert (made.verdict, made.slips, made.reason, asked) == ("approximate", (SLIP,), "it is twice that; 1.02 times here", [7.0])
    made, asked = missed([SLIP], near=True, ratio=Fraction(102, 100), explain=False, monkeypatch=monkeypatch)
    assert (made.verdict, made.slips, asked) == ("approximate", (), [])
    made, asked = missed([SLIP], explain=False, monkeypatch=monkeypatch)
    assert (made.verdict, made.slips, asked) == ("wrong", (SLIP,), [7.0])


def test_a_formula_that_counts_otherwise_is_conditional_and_any_other_wrong(monkeypatch):
    plain = Explanation("kv_ignored", True, "x", 0.0, "reads of the cache left out: ÷2")
    made, _ = missed([plain], monkeypatch=monkeypatch)
    assert (made.verdict, made.needs, made.reason) == (
        "conditional", ("reads of the cache left out",), "holds with reads of the cache left out: ÷2; it is twice that",
    )  # fmt: skip
    assert [missed([SLIP], verdict=verdict, monkeypatch=monkeypatch)[0].flags for verdict in ("dimension", "factor")] == [("dimension",), ()]
    assert missed([], monkeypatch=monkeypatch)[0].verdict == "wrong"


def test_how_close_is_close():
    """5 % where the text states no tolerance."""
    assert [_near(Fraction(percent, 100), None) for percent in (94, 95, 100, 105, 106)] == [False, True, True, True, False]
    assert [_near(Fraction(percent, 100), Fraction(1, 100)) for percent in (98, 99, 101, 102)] == [False, True, True, False]
    assert not _near(None, None)
    level = SimpleNamespace(label="", sides=SimpleNamespace(in_numbers=lambda: Fraction(1)))
    assert _near_at("a slip", [level], None) and not _near_at("a slip, at detail kv", [level], None)


def test_a_comparison_is_as_long_as_fits_beside_a_claim():
    words = "ab " * 66 + "cd"
    assert (len(words), _shortened(words)) == (200, words)
    assert _shortened(words + "e") == "ab " * 65 + "ab …"


# ---------------------------------------------------------------------------------------------------- verdicts and their texts


def test_a_row_is_as_good_as_its_worst_value():
    parts = [of(verdict, flags=flags) for verdict, flags in (("exact", ("a",)), ("wrong", ("b", "a")), ("rounded", ()), ("wrong", ("c",)))]
    assert worst(parts) is parts[1]
    assert flags_of(*parts) == ("a", "b", "c")
    assert joined(parts) == {"claimed": "5 ms, 5 ms, 5 ms, 5 ms", "derived": "6 ms, 6 ms, 6 ms, 6 ms", "flags": ("a", "b", "c"), "parts": tuple(parts)}
    assert [ORDER.index(verdict) for verdict in ("exact", "rounded", "approximate", "conditional", "inconsistent", "wrong", "unchecked")] == list(range(7))


def test_the_values_of_a_row_have_inputs_of_their_own(monkeypatch):
    """Lists of one length, each value judged with its place of every list; a row may have values alone."""
    judged = []
    monkeypatch.setattr(judging, "_settled", lambda claim: judged.append((claim.value, claim.given)) or of("exact"))

    def row(**values):
        return judging._row(CLAIM.model_copy(update={"value": None, "values": values}))

    assert row(value=["1", "2"], prompt=[3, 4], tp=[5, 6]).verdict == "exact"
    assert judged == [("1", {"batch": 2, "prompt": 3, "tp": 5}), ("2", {"batch": 2, "prompt": 4, "tp": 6})]
    assert row(value=["1"]).parts == (of("exact"),)
    for values in (
        {"value": ["1", "2"], "prompt": [3, 4], "tp": [5]},
        {"value": ["1", "2"], "prompt": 3, "tp": [5, 6]},
        {"value": []},
        {"value": "1"},
        {"prompt": [1]},
    ):
        with pytest.raises(InputError, match="needs value and the inputs as lists of one length, with something in them"):
            row(**values)


def derived(value, other=None, unit="", why=""):
    return SimpleNamespace(value=value, other=other, number=value if isinstance(value, Fraction) else None, unit=unit, flags=(), why=why, span=None)


@pytest.mark.parametrize(
    ("value", "result", "verdict", "ratio", "tolerance", "reason"),
    [
        ("12", derived(Fraction(12)), "exact", 1, Fraction(1, 24), ""),
        ("12", derived(Fraction(24), other=Fraction(12)), "exact", Fraction(1, 2), Fraction(1, 24), ""),
        ("12", derived(Fraction(24), why="for one"), "wrong", Fraction(1, 2), Fraction(1, 24), "for one"),
        ("12", derived(Fraction(1145, 100)), "approximate", Fraction(240, 229), Fraction(1, 24), ""),
        ("25", derived(Fraction(258, 10)), "rounded", Fraction(125, 129), Fraction(1, 50), "digits were cut off, not rounded"),
        ("about 4", derived(Fraction(49, 10)), "approximate", Fraction(40, 49), Fraction(1, 4), "as near as a hedged number of 1 digit has to be"),
        ("about 1.2e1", derived(Fraction(129, 10)), "approximate", Fraction(40, 43), Fraction(1, 12), "as near as a hedged number of 2 digits has to be"),
        ("0", derived(Fraction(3)), "wrong", 0, None, ""),
        ("yes", derived("in part"), "conditional", None, None, "holds in a part of the range only"),
        ("yes", derived("in part", why="not for batch 1 to 3"), "conditional", None, None, "holds in a part of the range only: not for batch 1 to 3"),
        ("12", derived("in part"), "wrong", None, Fraction(1, 24), "holds in a part of the range only"),
    ],
)
def test_a_value_compared_with_the_derived_one(value, result, verdict, ratio, tolerance, reason):
    made = compared(CLAIM, read_written(value, ""), result)
    assert (made.verdict, made.ratio, made.tolerance, made.reason) == (verdict, ratio, tolerance, reason)


def test_the_tolerance_that_a_text_states():
    figure = {"catalogue": "h100-sxm.power", "value": "1"}
    assert [tolerance_of(ClaimSpec(id="x", **figure), digits) for digits in (3, 4)] == [None, 0]
    assert tolerance_of(CLAIM, 9) is None
    assert tolerance_of(ClaimSpec(id="x", **figure, tolerance="2 %"), 9) == Fraction(1, 50)
    for tolerance, message in (("-1", "'-1' is not a share of the value"), ("soon", "'soon' is not a share of the value"), ("3 GB", "is byte")):
        with pytest.raises(InputError, match=message) as caught:
            tolerance_of(ClaimSpec(id="x", **figure, tolerance=tolerance))
        assert caught.value.problems[0].hint == ("" if "GB" in tolerance else "write '5 %' or 0.05")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(True, "", "true"), (False, "", "false"), ("memory", "", "memory"), (Fraction(1, 1800), "USD/s", "2 USD/hour"), (Fraction(1234567, 1800000), "USD/s", "2,469.1 USD/hour"), (Fraction(1, 40), "s", "25 ms"), (None, "", "None")],
)  # fmt: skip
def test_a_derived_value_as_text(value, unit, text):
    assert value_text(value, unit) == text


# -------------------------------------------------------------------------------------------------- what a text leaves out

TRUE = Fraction(10, 1000)


def wrong(verdict="wrong", **fields):
    return Judgement(CLAIM, verdict, "5 ms", "10 ms", value=TRUE, unit="s", **fields)


@pytest.fixture
def found(monkeypatch):
    def put(slips=(), simple=None, share=None):
        monkeypatch.setattr(assuming, "explanations", lambda claim: tuple(slips))
        monkeypatch.setattr(assuming, "simplification", lambda *_: simple)
        monkeypatch.setattr(assuming, "round_share", lambda *_: share)

    return put


def simple(chance, slips=()):
    return assuming.Simplified({"assume": {"detail": "kv"}}, chance, slips)


def test_what_holds_has_no_slips_unless_it_is_only_close(found):
    found([SLIP])
    assert explained(CLAIM, wrong("rounded"), None).slips == ()
    assert explained(CLAIM, wrong("approximate"), None).slips == (SLIP,)
    assert explained(CLAIM.model_copy(update={"tolerance": "5 %"}), wrong("approximate"), None).slips == ()
    assert explained(CLAIM.model_copy(update={"tolerance": "5 %"}), wrong(), None).slips == (SLIP,)


def test_a_plainer_count_goes_before_a_slip_that_random_errors_agree_with_more_often(found):
    for chance, verdict in ((0.05, "conditional"), (0.1, "conditional"), (0.11, "wrong")):
        found([SLIP], simple(chance))
        made = explained(CLAIM, wrong(), None)
        assert (made.verdict, made.slips) == (verdict, (SLIP,))
    found([SLIP], simple(0.05, (Explanation("gqa_forgotten", True, "x", 0.0, "again"),)))
    made = explained(CLAIM, wrong(), None)
    assert (made.needs, [slip.text for slip in made.slips], made.reason) == (("detail kv",), ["again"], "holds at detail kv; as it stands 10 ms")
    unnamed = Explanation("gqa_forgotten", False, Fraction(1), 0.1, "a guess")
    found([unnamed], simple(0.19))
    assert explained(CLAIM, wrong(), None).verdict == "conditional"


def test_another_way_to_count_is_a_condition(found):
    found([Explanation("kv_ignored", True, Fraction(1), 0.1, "reads left out: ÷2")], simple(0.0))
    made = explained(CLAIM, wrong(), None)
    assert (made.verdict, made.needs, made.reason) == ("conditional", ("reads left out",), "holds with reads left out: ÷2")


def test_a_round_efficiency_is_tried_where_nothing_else_explains_a_claim(found):
    half = {"mfu": Fraction(1, 2)}
    for slips, verdict in (
        ([], "conditional"), ([Explanation("mac_vs_flop", True, Fraction(1), 0.1, "twice")], "conditional"), ([SLIP], "wrong"),
        ([Explanation("gqa_forgotten", False, Fraction(1), 0.1, "a guess")], "conditional"),
    ):  # fmt: skip
        found(slips, None, half)
        assert explained(CLAIM, wrong(), None).verdict == verdict
    found([], None, half)
    made = explained(CLAIM, wrong(), None)
    assert (made.needs, made.reason) == (("mfu 0.5",), "holds with mfu 0.5; as it stands 10 ms")
    bound = Judgement(CLAIM, "wrong", "< 5 ms", "10 ms", value=TRUE, unit="s")
    assert explained(CLAIM, bound, None).verdict == "wrong"
    ratio = ClaimSpec(id="x", compare="itl", between=[{"batch": 1}, {"batch": 2}], value="2x")
    assert explained(ratio, wrong(), None).verdict == "wrong"
    found([], None, None)
    assert explained(CLAIM, wrong(), None).verdict == "wrong"


def plainer(*verdicts):
    """Judges each plainer count in its order, with a value beside the true one."""
    order = iter(verdicts)

    def judged(claim):
        verdict = next(order, "wrong")
        return Judgement(claim, verdict, value=TRUE / 2 if verdict != "wrong" else TRUE * 3)

    return judged


@pytest.mark.parametrize(
    ("value", "verdicts", "settings"),
    [
        ("5.00 ms", ("rounded",), {"assume": {"detail": "weights"}}), ("5.00 ms", ("wrong", "exact"), {"assume": {"detail": "kv"}}), ("5.00 ms", ("approximate",) * 4, None),
        ("5.00 ms", (), None), ("< 5.00 ms", ("exact",), None), ("5.00..6.00 ms", ("exact",), None), ("-5.00 ms", ("exact",), None), ("soon", ("exact",), None), ("5 GB", ("exact",), None),
    ],
)  # fmt: skip
def test_the_plainest_count_under_which_a_claim_holds(value, verdicts, settings):
    claim = CLAIM.model_copy(update={"value": value})
    made = simplification(claim, wrong(), plainer(*verdicts))
    assert (made and made.settings) == settings


def test_a_plainer_count_is_no_evidence_where_a_fifth_of_all_errors_would_have_one():
    """A number of one digit: 4.5 to 5.5 ms around 5, and as much again around others, of half to twice of it."""
    for value, seldom in (("5.00 ms", True), ("5.0 ms", True), ("5 ms", False)):
        assert (simplification(CLAIM.model_copy(update={"value": value}), wrong(), plainer("exact")) is not None) is seldom
    assert simplification(CLAIM, Judgement(CLAIM, "wrong", value=None, unit="s"), plainer("exact")) is None
    assert simplification(CLAIM, Judgement(CLAIM, "wrong", value=Fraction(0), unit="s"), plainer("exact")) is None
