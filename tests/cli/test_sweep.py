"""``symroof sweep``: the JSON of the contract, files, Ctrl-C, refusals."""

import csv
import os
import signal
import subprocess
import sys
import time

import pytest

import symroof as sr

from ..tables import table
from . import CHAT, ROOT, call, good, refused, write_study

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "16")


def test_the_contract(tmp_path):
    """A point of each quantity against a case of its own; a queue without a steady state is null."""
    axes = ("--over", "batch=1:4:x2", "--over", "arrival_rate=1 request/s,500 request/s")
    wanted = ("-q", "itl,fits", "--quantity", "queue_wait", "-q", "decode_bound")
    result = good("sweep", *CASE, *axes, *wanted).json
    assert result["schema"] == "symroof/sweep/2"
    assert result["dims"] == ["batch", "arrival_rate"]
    assert result["coords"] == {"batch": [1, 2, 4], "arrival_rate": [1, 500]}
    times = [f"{name}{end}" for name in ("itl", "queue_wait") for end in ("", "_low", "_high")]
    assert list(result["data"]) == [*times[:3], "fits", *times[3:], "decode_bound"]
    own, low, high = (result["data"][name][2][0] for name in times[:3])
    assert low < own < high
    assert result["data"]["fits"] == [[True, True]] * 3
    assert result["data"]["decode_bound"] == [["memory", "memory"]] * 3
    case = sr.Study(
        model="llama-3-8b", hardware="h100-sxm", prompt=1024, output=16, batch=4, arrival_rate=1
    )
    assert result["data"]["itl"][2][0] == pytest.approx(float(case.value("itl")), rel=1e-12)
    assert result["data"]["queue_wait"][2] == [
        pytest.approx(float(case.value("queue_wait")), rel=1e-12),
        None,
    ]
    assert result["units"]["itl"] == "s"
    assert result["assumptions"]["attention"] == {"value": "causal", "defaulted": True}


def test_a_study_its_lists_and_a_stronger_line(tmp_path):
    study = write_study(
        tmp_path, hardware="[h100-sxm, h200]", workload="{prompt: 1024, output: 16, batch: [1, 32]}"
    )
    result = good("sweep", study, "-q", "itl").json
    assert result["coords"] == {"hardware": ["h100-sxm", "h200"], "batch": [1, 32]}
    result = good(
        "sweep", study, "-q", "itl", "--over", "batch=2,3", "--hardware", "h200", "--prompt", "7"
    ).json
    assert result["coords"] == {"batch": [2, 3]}
    assert result["inputs"]["prompt"]["value"] == 7


def test_points_that_do_not_fit_and_ranges_are_reported():
    outcome = call("sweep", *CASE, "--over", "batch=1,10000", "-q", "itl", "--mfu", "0.5..0.7")
    assert outcome.code == 0
    assert outcome.json["data"]["fits"] == [True, False]
    assert "! 1 of 2 points do not fit in memory" in outcome.err
    assert "mfu is given as 0.5..0.7: evaluated at its middle, 0.6" in outcome.err
    assert outcome.json["warnings"] == [
        line.removeprefix("! ") for line in outcome.err.splitlines()
    ]


def test_a_file(tmp_path):
    goal = tmp_path / "grid.csv"
    outcome = call(
        "sweep", CHAT, "--over", "prompt=128:4096:x2", "-q", "ttft,prefill_bound", "-o", goal
    )
    assert (outcome.code, outcome.out) == (0, "")
    assert f"wrote {goal}: 2 hardware x 6 prompt" in outcome.err
    rows = list(csv.DictReader(goal.read_text(encoding="utf-8").splitlines()))
    assert {row["prompt"] for row in rows} == {"128", "256", "512", "1024", "2048", "4096"}
    assert set(rows[0]) >= {"prompt", "ttft", "prefill_bound", "fits"}


REFUSED = """
# after the case | what the message must hold
--over batch=1:1000 --over prompt=1:1000 --over output=1:1000 | -o FILE.parquet
--over batch=1:1000000 --over prompt=1:1000000 -o grid.nc | 1,000,000,000,000 points
--over batch=1:8 --over bs=9 | is an axis twice
--over batch=1:8 -o grid.xls | there are: .csv
--over batch=1:8 -o no/such/grid.csv | there is no folder no/such
--json | nothing to sweep over
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("options", "word"), table(REFUSED))
def test_bad_input(options, word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert word in refused("sweep", *CASE, *options.split())
    assert os.listdir(tmp_path) == []


@pytest.mark.full
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    """The signal a terminal sends, while blocks are worked out: the old file stays, and the exit code is 130."""
    goal = tmp_path / "grid.csv"
    goal.write_text("old", encoding="utf-8")
    line = ["sweep", *CASE, "--over", "batch=1:3000", "--over", "context=1:2000", "-q", "itl"]
    running = subprocess.Popen(
        [sys.executable, "-m", "symroof", *line, "-o", str(goal)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".symroof-*/whole")) and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "interrupted")
    assert os.listdir(tmp_path) == [goal.name]
    assert goal.read_text(encoding="utf-8") == "old"
