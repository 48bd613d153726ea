"""Time: however many and however costly the claims of a file are, checking them ends."""

import io
import time

import pytest

from symroof.api import Study
from symroof.claims import check as checking
from symroof.claims.check import check, check_text
from symroof.claims.read.markdown_notes import MOST_ANNOTATIONS, Note
from symroof.cli.output import progress_bar
from symroof.errors import InputError
from symroof.specs.claims import MOST_CLAIMS

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
    assert [claim.verdict for claim in report.claims] == [
        "wrong",
        "wrong",
        "unchecked",
        "unchecked",
        "unchecked",
    ]
    assert report.claims[2].reason == "not reached in 60 s, which is all the claims of one file get"
    ((said, line),) = [(problem.message, problem.line) for problem in report.problems]
    assert (said, line) == (
        "3 claims from here on were not reached in 60 s, which is all the claims of one file get",
        4,
    )


def test_python_is_told_by_an_error(tmp_path, monkeypatch):
    path = tmp_path / "c.yaml"
    path.write_text(claim_file(2), encoding="utf-8")
    monkeypatch.setattr(checking, "BUDGET", -1.0)
    with pytest.raises(InputError, match="not reached"):
        check(path)


def test_each_file_has_its_own_time(tmp_path, monkeypatch):
    monkeypatch.setattr(checking, "BUDGET", 5.0)
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(claim_file(3), encoding="utf-8")
    assert check([tmp_path / "a.yaml", tmp_path / "b.yaml"]).summary == {"wrong": 6}


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
    )
    assert not note.problems
    assert time.process_time() - started < 20


def test_the_number_of_claims_is_bounded():
    with pytest.raises(InputError, match=f"at most {MOST_CLAIMS:,} are read from one file"):
        check_text(claim_file(MOST_CLAIMS + 1), "c.yaml")


ALWAYS = {
    "in a part": ("relation: prefill_bound", "prompt: 1..131072", "compute", "conditional", "not for prompt 1 to 238"),
    "throughout": ("relation: prefill_bound", "prompt: 1000..131072", "compute", "exact", ""),
    "nowhere": ("relation: prefill_bound", "prompt: 1000..131072", "memory", "wrong", ""),
    "another label": ("relation: prefill_bound", "prompt: 1..131072", "link", "wrong", "memory or compute"),
    "a truth": ("relation: fits, given: {prompt: 100}", "batch: 1..51200", "true", "conditional", "not for batch 10,277 to 51,200"),
    "a comparison": ("relation: 'itl < 50 ms', given: {prompt: 100}", "batch: 1..512", "true", "exact", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ALWAYS)
def test_a_claim_throughout_a_range_is_solved_not_searched(name):
    """And right: at the ends of the stretches the bound is what the claim says it is."""
    form, span, value, verdict, said = ALWAYS[name]
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


def test_the_stretch_where_a_claim_fails_ends_where_the_bound_changes():
    bounds = [
        Study(model="llama-3-8b", hardware="h200", prompt=prompt, efficiency="peak").value(
            "prefill_bound"
        )
        for prompt in (238, 239)
    ]
    assert bounds == ["memory", "compute"]


# ----------------------------------------------------------------------------------------------------------- progress


class Terminal(io.StringIO):
    """Standard error that may be a terminal."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_alone(terminal, monkeypatch):
    stream = Terminal(terminal)
    monkeypatch.setattr("sys.stderr", stream)
    assert list(progress_bar([1, 2, 3], "checking claims")) == [1, 2, 3]
    assert bool(stream.getvalue()) == terminal
    if terminal:
        assert "checking claims" in stream.getvalue()
        assert "3/3" in stream.getvalue()


@pytest.mark.full
def test_every_claim_of_every_file_is_followed(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(claim_file(2), encoding="utf-8")
    tracked = []
    check(
        [tmp_path / "a.yaml", tmp_path / "b.yaml"],
        track=lambda items, label: tracked.append((label, len(items))) or items,
    )
    assert tracked == [("checking claims", 4)]
