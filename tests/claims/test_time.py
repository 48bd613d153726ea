"""Time: however many and however costly the claims of a file are, checking them ends."""

import time

import pytest

from symroof.claims import check as checking
from symroof.claims.check import check, check_text
from symroof.claims.claim_files import MOST_ANNOTATIONS, Note
from tests.tables import table, words

CASE = "model: llama-3-8b, hardware: h100-sxm"


def claim_file(count):
    return "claims:\n" + "".join(
        f"- {{id: c{i}, quantity: kv_cache_bytes, given: {{{CASE}, prompt: {i + 1}}}, value: 1 GB}}\n"
        for i in range(count)
    )


def test_what_the_time_does_not_suffice_for_is_said_and_not_judged(tmp_path, monkeypatch):
    """The claims that were reached keep their verdicts; running out of time is a fault of the file, so nothing passes unseen."""
    path = tmp_path / "c.yaml"
    path.write_text(claim_file(5), encoding="utf-8")
    times = iter([0.0, 0.0, 0.0, *[checking.BUDGET + 1] * 9])
    monkeypatch.setattr(checking, "process_time", lambda: next(times))
    report = check(path, read_past_errors=True)
    assert [claim.verdict for claim in report.claims] == words(
        "wrong wrong unchecked unchecked unchecked"
    )
    assert report.claims[3].reason == "not reached in 60 s, which is all the claims of one file get"
    ((said, line),) = [(problem.message, problem.line) for problem in report.problems]
    assert (said, line) == ("not reached in 60 s, which is all the claims of one file get", 4)


@pytest.mark.full
def test_reading_as_many_claims_as_a_file_may_hold_is_bounded():
    """What a note's annotations speak of is known without working it out: an equation is not solved for its unit."""
    started = time.process_time()
    equation = "<!-- symroof: threshold='ttft = output*itl' for=prompt model=llama-3-8b hardware=h100-sxm output={} -->"
    note = Note(
        "".join(
            f"At a prompt of 4 tokens. {equation.format(i + 2)}\n\n"
            for i in range(MOST_ANNOTATIONS)
        ),
        "n.md",
        {},
    )
    assert not note.problems
    assert time.process_time() - started < 20


ALWAYS = """
relation: prefill_bound | prompt: 1..131072 | compute | conditional | not for prompt 1 to 238
relation: prefill_bound | prompt: 1000..131072 | compute | exact |
relation: prefill_bound | prompt: 1000..131072 | memory | wrong |
relation: prefill_bound | prompt: 1..131072 | link | wrong | memory or compute
relation: fits, given: {prompt: 100} | batch: 1..51200 | true | conditional | not for batch \
10,277 to 51,200
relation: 'itl < 50 ms', given: {prompt: 100} | batch: 1..512 | true | exact |
"""
"""In a part of the range, throughout, nowhere, under another label; a truth, a comparison."""


@pytest.mark.parametrize(("form", "span", "value", "verdict", "said"), table(ALWAYS))
def test_a_claim_throughout_a_range_is_solved_not_searched(form, span, value, verdict, said):
    """And right: at the ends of the stretches the bound is what the claim says it is."""
    given = "model: llama-3-8b, hardware: h200"
    entry = (
        form.replace("given: {", f"given: {{{given}, ")
        if "given" in form
        else f"{form}, given: {{{given}}}"
    )
    started = time.process_time()
    (claim,) = check_text(
        f"claims:\n- {{id: a, {entry}, for_all: {{{span}}}, value: {value}}}\n", "c.yaml"
    ).claims
    assert (claim.verdict, said in f"{claim.reason} {claim.derived}") == (verdict, True), (
        claim.reason,
        claim.derived,
    )
    assert time.process_time() - started < 10
