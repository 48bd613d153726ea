"""A file of claims checked with verdicts made by hand: what stands beside each, where faults are reported, and what passes on."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from symroof.claims import check as checking
from symroof.claims.check import check, check_text
from symroof.claims.judgement import Judgement
from symroof.claims.slips.explanation import Explanation
from symroof.errors import InputError, NoValueHere, Problem
from symroof.symbols import head_dim, itl, kv_bytes_per_element, kv_bytes_per_token, n_kv_heads, n_layers

ARITHMETIC, OTHER = (Explanation(name, True, Fraction(1), 0.1, name) for name in ("arithmetic", "gqa_forgotten"))
ITL = "<!-- symroof: itl batch=1 -->"


@pytest.fixture
def verdicts(monkeypatch):
    """Judge every claim as a function of its value does."""

    def put(function):
        def judged(claim, shared):
            made = function(str(claim.value))
            return replace(made, claim=claim, claimed=made.claimed or str(claim.value))

        monkeypatch.setattr(checking, "judge", judged)

    return put


def of(verdict, ratio=2, **fields):
    return Judgement(None, verdict, derived="6 ms", ratio=None if ratio is None else Fraction(ratio), value=Fraction(6, 1000), unit="s", **fields)


def checked(text, file="n.md"):
    report = check_text(text, file)
    return report.claims[0]


# ------------------------------------------------------------------------------------------------------------ arithmetic

WRONG_SUM, RIGHT_SUM = f"Takes 2 × 3 ms = 7 ms. {ITL}", f"Takes 2 × 3 ms = 6 ms. {ITL}"


@pytest.mark.parametrize(
    ("verdict", "reason", "made", "says"),
    [
        ("exact", "", "inconsistent", "the number holds, but 2 × 3 ms is 6, not 7"), ("approximate", "r", "inconsistent", "the number holds, but 2 × 3 ms is 6, not 7"),
        ("wrong", "r", "wrong", "r; 2 × 3 ms is 6, not 7"), ("wrong", "", "wrong", "2 × 3 ms is 6, not 7"), ("conditional", "r", "conditional", "r; 2 × 3 ms is 6, not 7"),
    ],
)  # fmt: skip
def test_a_number_whose_arithmetic_does_not_come_out(verdict, reason, made, says, verdicts):
    verdicts(lambda value: of(verdict, reason=reason))
    one = checked(WRONG_SUM)
    assert (one.verdict, one.reason) == (made, says)
    verdicts(lambda value: of("unchecked", reason=reason, error=NoValueHere(Problem("x", "y"))))
    assert checked(WRONG_SUM).reason == reason


def test_a_number_whose_arithmetic_comes_out_has_no_slip_of_digits(verdicts):
    verdicts(lambda value: of("wrong", slips=(ARITHMETIC, OTHER)))
    assert [slip.slip for slip in checked(RIGHT_SUM).slips] == ["gqa_forgotten"]
    for text in (WRONG_SUM, f"Takes 6 ms. {ITL}", f"6 ms {ITL} and 2 × 3 ms = 6 ms."):
        assert [slip.slip for slip in checked(text).slips] == ["arithmetic", "gqa_forgotten"]


@pytest.mark.parametrize(
    ("verdict", "ratio", "passed"),
    [("wrong", 2, True), ("inconsistent", 2, True), ("wrong", None, True), ("conditional", 2, False), ("exact", 2, False), ("wrong", "1.049", False), ("wrong", "1.051", True), ("wrong", "0.949", True), ("wrong", "0.951", False)],
)  # fmt: skip
def test_a_wrong_number_is_passed_on_to_what_is_worked_out_of_it(verdict, ratio, passed, verdicts):
    verdicts(lambda value: of(verdict, ratio))
    one = checked(f"Takes 282 ms. {ITL}\n\nThen 282 ms + 20 ms = 302 ms.\n\nAnd 302 ms × 2 = 604 ms.\n")
    assert one.passed_on == (("302 ms in line 3", "604 ms in line 5") if passed else ())
    assert checked(f"Takes 282 ms. {ITL}\n").passed_on == ()


# ----------------------------------------------------------------------------------------------------------- corrections


@pytest.mark.parametrize(
    ("text", "verdict", "correction"),
    [
        ("about 5 ms", "wrong", "about 6 ms"), ("5 ms", "approximate", ""), ("5 ms", "conditional", ""), ("under 5 ms", "wrong", ""), ("4 to 5 ms", "wrong", ""), ("5.0 ms", "wrong", "6.0 ms"),
    ],
)  # fmt: skip
def test_the_right_number_is_written_as_the_wrong_one_was(text, verdict, correction, verdicts):
    verdicts(lambda value: of(verdict))
    assert checked(f"Takes {text}. {ITL}").correction == correction
    verdicts(lambda value: of(verdict, parts=(of("wrong"),)))
    assert checked(f"Takes {text}. {ITL}").correction == ""


def test_where_no_number_can_be_put_the_derived_value_stands(verdicts):
    verdicts(lambda value: of("wrong", claimed="5"))
    claims = "claims:\n- {id: a, quantity: itl, value: 5}\n"
    assert checked(claims, "c.yaml").correction == "0.006"
    verdicts(lambda value: of("wrong", claimed="soon"))
    assert checked(claims.replace("5", "soon"), "c.yaml").correction == "6 ms"


# ---------------------------------------------------------------------------------------------------------------- faults


def report(error, text, file, monkeypatch):
    def judged(claim, shared):
        return Judgement(claim, "unchecked", "5", error=error)

    monkeypatch.setattr(checking, "judge", judged)
    return checking._judged([checking.read(text, file)])


CLAIM = "claims:\n- id: a\n  quantity: itl\n  given: {prompt: 3}\n  value: 5\n"


@pytest.mark.parametrize(
    ("problem", "line", "message"),
    [
        (Problem("", "is bad", path="prompt"), 4, "is bad"), (Problem("", "is bad", path="value"), 5, "is bad"), (Problem("prompt", "is bad"), 4, "is bad"), (Problem("mfu", "is bad"), 2, "mfu: is bad"),
        (Problem("", "is bad"), 2, "is bad"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_judged_is_a_fault_at_its_field(problem, line, message, monkeypatch):
    made = report(InputError(replace(problem, hint="do so")), CLAIM, "c.yaml", monkeypatch)
    assert [(one.line, one.message, one.hint) for one in made.problems] == [(line, message, "do so")]
    assert made.claims[0].faulty
    note = report(InputError(problem), f"\n\nTakes 5 ms. {ITL}", "n.md", monkeypatch)
    assert [(one.line, one.column) for one in note.problems] == [(3, 7)]


def test_a_failure_of_symroof_is_no_fault_of_the_file(monkeypatch):
    made = report(RuntimeError("x"), CLAIM, "c.yaml", monkeypatch)
    assert (made.problems, made.claims[0].faulty, len(made.failures)) == ((), False, 1)


def test_claims_that_are_too_late_are_one_fault_together(monkeypatch):
    text = "claims:\n" + "".join(f"- {{id: c{i}, quantity: itl, given: {{prompt: 3}}, value: 5}}\n" for i in range(3))
    made = report(TimeoutError("x"), text, "c.yaml", monkeypatch)
    assert [(one.line, one.message.partition(" were ")[0], one.hint) for one in made.problems] == [(2, "3 claims from here on", "check them in smaller files")]
    assert all(claim.faulty for claim in made.claims)


def test_where_what_is_beside_a_claim_fails_that_claim_alone_says_so(verdicts, monkeypatch):
    verdicts(lambda value: of("exact"))

    def fails(judgement, ids):
        if judgement.claim.id == "L1":
            raise RuntimeError("no")
        return judgement

    monkeypatch.setattr(checking, "resolved", fails)
    first, second = check_text(f"5 ms {ITL}\n\n6 ms {ITL}", "n.md").claims
    assert (first.verdict, first.reason, second.verdict) == ("unchecked", "symroof itself failed in this claim: RuntimeError: no", "exact")


# ------------------------------------------------------------------------------------------------------ numbers as written


def test_a_number_is_judged_with_the_digits_it_is_written_with(monkeypatch):
    seen = []
    monkeypatch.setattr(
        checking,
        "judge",
        lambda claim, shared: seen.append((claim.value, claim.values.get("value"), [step.value for step in claim.steps])) or Judgement(claim, "exact"),
    )
    check_text(
        "claims:\n- {id: a, quantity: itl, value: 1.20}\n- {id: b, quantity: itl, values: {value: [1.20, 2.0], batch: [1, 2]}}\n- {id: c, steps: [{name: s, expression: '2', value: 2.00}]}\n",
        "c.yaml",
    )
    assert seen == [("1.20", None, []), (None, ["1.20", "2.0"], []), (None, None, ["2.00"])]


# -------------------------------------------------------------------------------------------------------------- equations

FORMULA = 2 * n_layers * n_kv_heads * head_dim * kv_bytes_per_element


def test_an_equation_stands_either_way_round():
    for equation in (sympy.Eq(kv_bytes_per_token, FORMULA), sympy.Eq(FORMULA, kv_bytes_per_token)):
        (one,) = check(equation).claims
        assert (one.verdict, one.id, one.file, one.line, one.claim.says) == ("exact", "kv_bytes_per_token", "", 0, str(equation))


@pytest.mark.parametrize(("equation", "message"), [(sympy.Eq(2 * itl, 3 * head_dim), "is not Eq"), (FORMULA, "is not Eq"), (itl < 3, "is not Eq")])
def test_an_equation_without_a_quantity(equation, message):
    with pytest.raises(InputError, match=message):
        check(equation)


def test_settings_beside_an_equation_and_beside_files(tmp_path):
    (tmp_path / "n.md").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match="settings stand in the file; they are taken beside an equation alone"):
        check(tmp_path / "n.md", batch=3)
    with pytest.raises(InputError, match="efficiency"):
        check(tmp_path / "n.md", efficiency="best")
    with pytest.raises(InputError, match="No such file"):
        check(tmp_path / "none.pdf")
    (tmp_path / "x.pdf").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="a .pdf file cannot hold claims"):
        check(tmp_path / "x.pdf")
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError) as caught:
        check(tmp_path / "x.yaml")
    assert "cannot hold" not in str(caught.value)


def test_an_efficiency_holds_for_claims_that_state_none(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(checking, "judge", lambda claim, shared: seen.append(dict(claim.given)) or Judgement(claim, "exact"))
    (tmp_path / "n.md").write_text("5 ms <!-- symroof: itl batch=1 --> 6 ms <!-- symroof: itl efficiency=peak -->", encoding="utf-8")
    check(tmp_path / "n.md", efficiency="measured")
    assert seen == [{"efficiency": "measured", "batch": 1}, {"efficiency": "peak"}]
    seen.clear()
    check(tmp_path / "n.md")
    assert seen == [{"batch": 1}, {"efficiency": "peak"}]
