"""Each claim is judged on its own: one that is faulty, or in which symroof itself fails, leaves the others as they are."""

import pytest

from symroof.analysis.study import Study
from symroof.claims.check import check, check_text
from symroof.claims.judge import judge
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec
from tests.cli import call

CASE = "model: llama-3-8b, hardware: h100-sxm, prompt: 4096"
GOOD = "quantity: kv_cache_bytes, given: {model: llama-3-70b, prompt: 4096}, value: 1.34 GB"
FAULTY = """
formula | prefill_bound is true/false or a category | - | quantity: kv_cache_bytes, formula: \
2*prefill_bound
quantity | prefill_bound is true/false or a category | - | quantity: prefill_bound, formula: '2'
expression | prefill_bound is true/false or a category | - | expression: 2*prefill_bound, given: \
{CASE}, value: 3
relation | prefill_bound is true/false or a category | - | relation: prefill_bound > 2, given: \
{CASE}, value: true
values | lists of one length | - | quantity: kv_cache_bytes, given: {model: llama-3-8b}, values: \
{value: []}
values.model[0] | 1: no such model | - | quantity: kv_cache_bytes, values: {value: [1 GB], model: [1]}
given.assume_family | expected one name |  | quantity: weight_bytes, given: {model: gpt2, \
assume_family: [1]}, value: 1 GB
given.prompt | a claim is of one case | - | quantity: kv_cache_bytes, given: {model: gpt2, prompt: \
[1, 2]}, value: 1 GB
catalogue | no such figure | did you mean 'peaks.fp16.dense'? | catalogue: h100-sxm.peaks.fp16, value: 1 TFLOP/s
with | itl moves with itself | - | moves: itl, with: itl, given: {CASE}, value: up
formula | expected a number | - | quantity: itl, given: {CASE}, value: 5 ms, formula: 'garbage('
given.prompt | begins with 0 | - | quantity: kv_cache_bytes, given: {model: gpt2, prompt: \
2026-01-01}, value: 1 GB
with | batchh: no such quantity or input | did you mean 'batch'? | moves: itl, with: batchh, \
value: up
expression | expected a number, a name or '(' but found the end of the formula |  | expression: '1 \
+', value: 1
relation | unknown name 'itll' | did you mean 'itl'? | relation: 'itll < 3', value: true
steps[0].expression | unknown name 'bb' |  | steps: [{name: a, expression: '2*bb', value: 1}]
given.mem_bandwidth | write the unit of a bandwidth, such as '3.35 TB/s' | write mem_bandwidth='3 TB/s' | \
quantity: itl, value: 1 ms, given: {mem_bandwidth: 3}
given.targets.itl | write the unit of a time, such as '50 ms' | write itl='5 ms' | quantity: itl, \
value: 1 ms, given: {targets: {itl: 5}}
given.model | 5: no such model | - | quantity: itl, value: 1 ms, given: {model: 5}
needs.mfuu | unknown name 'mfuu' | did you mean 'mfu'? | quantity: ridge_point, value: 295, given: \
{hardware: h100-sxm}, needs: {mfuu: 1}
between[1].batchh | unknown name 'batchh' | did you mean 'batch'? | compare: itl, between: \
[{batch: 1}, {batchh: 2}], value: 1
conflicts_with | is the id of no claim in this file | - | quantity: itl, value: 1 ms, \
conflicts_with: nobody
given.theory | nothing-such: no such theory in the catalogue | there are: training-step | \
quantity: itl, value: 1 ms, given: {theory: nothing-such}
"""
"""The place of the fault in the claim, a part of its message, its hint where one is needed, the claim."""


@pytest.mark.sample(6)
@pytest.mark.parametrize("row", FAULTY.strip().splitlines())
def test_a_faulty_claim_is_an_error_at_its_place_and_leaves_the_others(tmp_path, row):
    path, message, hint, claim = row.replace("CASE", CASE).split(" | ")
    file = tmp_path / "c.yaml"
    file.write_text(
        f"claims:\n- {{id: first, {claim}}}\n- {{id: second, {GOOD}}}\n", encoding="utf-8"
    )
    report = check(file, read_past_errors=True)
    assert [(c.id, c.verdict, c.faulty, c.failure) for c in report.claims] == [
        ("first", "unchecked", True, None),
        ("second", "rounded", False, None),
    ]
    (problem,) = report.problems
    assert message in problem.message and (hint == "-" or problem.hint == hint)
    place = problem.path.removeprefix("claims[0]").lstrip(".") or "-"
    assert (problem.line, place) == (2, path)
    outcome = call("check", str(file))
    assert outcome.code == 2
    assert "1 is right" in outcome.out


def test_what_lacks_an_input_or_a_value_is_no_fault(tmp_path):
    file = tmp_path / "c.yaml"
    queue = f"quantity: queue_wait, given: {{{CASE}, output: 100, arrival_rate: 1000000 request/s}}, value: 1 s"
    file.write_text(
        f"claims:\n- {{id: a, quantity: kv_cache_bytes, value: 1 GB}}\n- {{id: b, {queue}}}\n",
        encoding="utf-8",
    )
    report = check(file)
    assert [(c.verdict, c.faulty) for c in report.claims] == [
        ("unchecked", False),
        ("unchecked", False),
    ]
    assert report.claims[0].reason.startswith("has no value here: needs ")
    assert call("check", str(file)).code == 0
    file.write_text(
        f"claims:\n- {{id: a, quantity: output_throughput, given: {{{CASE}}}, value: 1 token/s}}\n",
        encoding="utf-8",
    )
    assert "needs output; decode_throughput" in check(file).claims[0].reason


def test_a_failure_of_symroof_stays_in_its_claim(tmp_path, monkeypatch):
    """Whatever the failure is: the others are reported, that claim says so, and --debug shows where it happened."""
    whole = Study.result

    def fails(self, name):
        if name == "weight_bytes":
            raise RuntimeError("a wheel came off")
        return whole(self, name)

    monkeypatch.setattr(Study, "result", fails)
    file = tmp_path / "c.yaml"
    file.write_text(
        f"claims:\n- {{id: one, quantity: weight_bytes, given: {{model: gpt2}}, value: 1 GB}}\n- {{id: two, {GOOD}}}\n",
        encoding="utf-8",
    )
    report = check(file)
    assert [claim.verdict for claim in report.claims] == ["unchecked", "rounded"]
    assert (
        report.claims[0].reason
        == "symroof itself failed in this claim: RuntimeError: a wheel came off"
    )
    assert [claim.id for claim in report.claims if claim.failure] == ["one"]
    outcome = call("check", str(file))
    assert outcome.code == 101
    assert "symroof itself failed in this claim" in outcome.out
    assert (
        outcome.err
        == f"symroof: {file}:2: one: a bug in symroof: RuntimeError: a wheel came off (`symroof --debug …` shows where; report it)\n"
    )
    assert "Traceback" in call("--debug", "check", str(file)).err
    assert call("check", str(file), "--json").json["summary"] == {"rounded": 1, "unchecked": 1}


def test_a_chain_may_end_in_a_label():
    steps = ({"name": "binds", "quantity": "decode_bound", "value": "memory"},)
    claim = ClaimSpec(
        id="a", steps=steps, given={"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096}
    )
    assert judge(claim).verdict == "exact"
    assert (
        judge(
            claim.model_copy(
                update={"steps": (claim.steps[0].model_copy(update={"value": "compute"}),)}
            )
        ).verdict
        == "wrong"
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("formula", "value", "verdict"),
    [
        ("itl*itl", "4.9 ms", "wrong"),
        ("decode_roofline_time + decode_link_time + decode_overhead", "1 s", "wrong"),
    ],
)
def test_a_formula_and_a_value_of_one_claim_are_both_judged(formula, value, verdict):
    """The formula went unread where there was a value."""
    claim = ClaimSpec(
        id="a",
        quantity="itl",
        given={"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "output": 2},
        formula=formula,
        value=value,
    )
    made = judge(claim)
    assert made.verdict == verdict and ("of the formula itl*itl" in made.reason) is (
        formula == "itl*itl"
    )


def test_a_list_is_no_value_and_a_prompt_of_zero_no_empty_cell():
    with pytest.raises(InputError, match=r"2:26: claims\[0\].value: must be one value"):
        check_text("claims:\n- {id: a, quantity: itl, value: [30 ms]}\n", "c.yaml")
    unread = ClaimSpec(
        id="a",
        quantity="itl",
        given={"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096},
        value=".nan",
    )
    assert judge(unread).verdict == "unchecked" and "cannot be read" in judge(unread).reason
