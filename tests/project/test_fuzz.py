"""A short attack with a fixed seed, and every failure that was ever saved.

What fails for now stands in ``tests/data/fuzz/open.yaml``; a fault that one of those shows is not reported a second time by the attack.
"""

import os

import pytest

from tools.fuzz.areas import areas
from tools.fuzz.attempt import Attempt, cases, load, open_cases, save
from tools.fuzz.findings import finding
from tools.fuzz.hunt import Hunt
from tools.fuzz.runner import GIGABYTE, Limits, Outcome, Runner

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the attack forks")
SUITE = Limits(cpu=60, memory=GIGABYTE, wall=0)
"""A hang ends; how fast the machine is decides nothing. Five seconds are held against in the long run."""
INPUTS, SEED = 2, 2026
SAVED = {case.name: case for case in cases() if not case.slow}
OPEN = open_cases()


@pytest.fixture(scope="module")
def runner():
    with Runner(SUITE) as made:
        yield made


@pytest.fixture(scope="module")
def outcomes(runner):
    """What every saved case comes to."""
    return {
        name: finding(case.attempt, runner.run(case.attempt), SUITE) for name, case in SAVED.items()
    }


@pytest.mark.parametrize("name", SAVED)
def test_what_failed_once(name, outcomes):
    made = outcomes[name]
    if name in OPEN:
        assert made, f"{name} passes now: take it off the list in tests/data/fuzz/open.yaml"
    else:
        assert not made, f"{made.signature}\n{made.detail}"


def test_the_list_names_cases():
    assert set(OPEN) <= {case.name for case in cases()}


@pytest.mark.parametrize("area", areas())
def test_attack(area, runner, outcomes):
    known = {made.signature for name, made in outcomes.items() if made and name in OPEN}
    made = Hunt(runner, known)(areas()[area](), SEED, INPUTS)
    assert made.inputs == INPUTS or made.finding, made.trouble
    if made.finding:
        path = save(area, made.finding.signature, made.attempt)
        pytest.fail(f"{made.finding.signature}\n{made.finding.detail}\nsaved as {path}")


# ------------------------------------------------------------------------------------------- the attack itself can fail


def outcome(code=0, out=b"", err=b"", **more):
    return Outcome(code, out, err, **more)


FAULTS = {
    "a bug": (
        ("eval",),
        outcome(
            101,
            err=b'Traceback (most recent call last)\n  File "/x/symroof/a/b.py", line 3, in f\n    x\nKeyError: 1\n',
        ),
        "bug: KeyError in symroof/a/b.py:f",
    ),
    "a traceback": (
        ("eval",),
        outcome(1, err=b"Traceback (most recent call last)\nValueError: x\n"),
        "traceback: ValueError in - (eval)",
    ),
    "slow": (("eval",), outcome(cpu=61), "slow: eval"),
    "large": (("eval",), outcome(memory=2 * GIGABYTE), "memory: eval"),
    "killed": (("eval",), outcome(-11), "signal: eval SIGSEGV"),
    "another code": (("eval",), outcome(3), "exit: eval 3"),
    "no word": (("eval",), outcome(2), "silent: eval"),
    "an escape": (("show", "x"), outcome(out=b"a \x1b[2J"), "control: show stdout"),
    "a direction": (("show", "x"), outcome(2, err="a \u202e".encode()), "control: show stderr"),
    "a repr": (("eval",), outcome(2, err=b"is Fraction(1, 2)"), "inside: eval Fraction("),
    "no JSON": (("eval", "--json"), outcome(out=b'{"a": NaN}'), "json: eval"),
    "a file left": (("plot",), outcome(2, err=b"x", written={"a.svg": b""}), "partial: plot"),
    "live in a page": (
        ("report",),
        outcome(written={"a.html": b"<p><fuzzlive></p>"}),
        "live: report html",
    ),
    "live in Markdown": (
        ("report",),
        outcome(written={"a.md": b"`a` <fuzzlive> `b`"}),
        "live: report md",
    ),
    "a row that is an option": (
        ("report",),
        outcome(written={"a.tex": b"a & b \\\\\n[1ex] c & d \\\\"}),
        "live: report tex",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name):
    arguments, what, signature = FAULTS[name]
    assert finding(Attempt(arguments), what, SUITE).signature == signature


@pytest.mark.parametrize(
    "what",
    [
        outcome(),
        outcome(1),
        outcome(2, err=b"x: wrong"),
        outcome(
            written={
                "a.md": b"`<fuzzlive>`",
                "a.html": b"&lt;fuzzlive&gt;",
                "a.tex": b"a \\\\\n{}[1ex]",
            }
        ),
    ],
)
def test_what_is_well_is_left(what):
    assert finding(Attempt(("report",)), what, SUITE) is None


def test_a_runaway_ends(runner, monkeypatch):
    """A process that never ends on its own is ended by its limit of processor time."""
    forever = Attempt(("--forever",))
    monkeypatch.setattr(runner, "limits", Limits(cpu=1, wall=0))
    assert finding(forever, runner.run(forever), runner.limits).kind == "slow"


@pytest.mark.parametrize(
    "attempt",
    [
        Attempt(
            ("eval", "a\x1b b", "b\udcff"),
            {
                "a.yaml": b"a: 1\n",
                "b.gguf": b"\x00\xff",
                "c.md": "a\r\n\u202e\U0001f600\x07".encode(),
                "b\udcff.yaml": b"",
            },
        ),
        Attempt(("list",), closed=("stdout",), interrupt_at=3, says="a", never="b"),
    ],
)
def test_a_case_reads_back(attempt, tmp_path):
    assert load(save("area", "why", attempt, tmp_path)).attempt == attempt
