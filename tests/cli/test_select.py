"""``symroof select``: tables, JSON, exit codes, refusals."""

import pytest

from symroof.select.selection import QUANTITIES

from . import call, good, refused

CASE = (
    "--model",
    "llama-3-8b",
    "--hardware",
    "a100-80gb-sxm",
    "--hardware",
    "h100-sxm",
    "--prompt",
    "4096",
    "--output",
    "128",
    "--tp",
    "1",
    "--set",
    "chunk=4096",
    "--mfu",
    "0.5",
    "--efficiency",
    "peak",
)
PASSING, FAILING = ("--target", "ttft=200 ms"), ("--target", "ttft=1 ms")


def test_exit_codes():
    assert call("select", *CASE, *PASSING).code == 0  # one of two passes
    assert call("select", *CASE, *PASSING, "--strict").code == 1
    assert call("select", *CASE, *FAILING).code == 1
    assert call("select", *CASE, *FAILING, "--json").code == 1
    assert call("select", *CASE, "--target", "ttft=1 s", "--strict").code == 0


def test_json_holds_the_whole_selection():
    result = good("select", *CASE, *PASSING, "--among", "tp=1,2", "--json").json
    assert result["schema"] == "symroof/select/1"
    assert result["targets"] == {"ttft": {"value": 0.2, "unit": "s", "metric": "loaded_ttft"}}
    assert result["passing"] == sum(c["state"] == "passes" for c in result["configurations"]) == 2
    assert len(result["configurations"]) == 4
    for c in result["configurations"]:
        check = c["checks"]["ttft"]
        assert check["slack"] == pytest.approx(0.2 - check["value"])
        assert check["share"] == pytest.approx(check["slack"] / 0.2)
        assert check["met"] is (check["value"] <= 0.2)
        assert set(c["quantities"]) <= set(QUANTITIES)
        assert c["inputs"]["mbu"]["defaulted"] is True
    failing = result["configurations"][-1]
    assert (failing["label"], failing["missed"]) == ("a100-80gb-sxm", ["ttft"])


REFUSED = [
    (("--among", "tp="), "--among"),
    (("--among", "hardware=,"), "an empty list of candidates"),
    (("--among", "colour=red"), "no such name 'colour'"),
    (("--target", "speed=1"), "no such target"),
    (
        tuple(
            word
            for name in ("batch", "prompt", "output")
            for word in ("--among", f"{name}=" + ",".join(map(str, range(1, 31))))
        ),
        "at most 20,000",
    ),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("line", "word"), REFUSED)
def test_bad_lines_are_refused(line, word):
    assert word in refused("select", *CASE, *line)


def test_details_have_every_candidate_and_the_inputs_of_the_first():
    said = good("select", *CASE, *PASSING, "--details").out
    assert "1 of 2 candidates pass" in said and "A100 80GB SXM: TTFT" in said
    assert "inputs (* = default):" in said and "assumptions (* = default):" in said


def test_details_have_each_layout_that_was_tried_of_the_first_device():
    """With its prefill in chunks and apart: what each needs at the rate."""
    line = ["--model=llama-3.1-8b", "--hardware=h100-sxm", "--prompt=2048", "--output=300"]
    said = good("select", *line, "--qps=40", "--target=itl=30 ms", "--details").out
    _, _, tried = said.partition("Layouts of H100 SXM that were tried, all 11, each at its best:")
    rows = [line.split("  ")[1] for line in tried.splitlines() if line.startswith("✓")]
    assert len(rows) == 11 and {"tp 1, chunked", "tp 4, prefill tp 1"} <= {*map(str.strip, rows)}


def test_nothing_to_choose_is_refused():
    assert "no model to choose" in refused("select", "--hardware", "h100-sxm", "--prompt", "5")
    assert "give a study file" in refused("select")
