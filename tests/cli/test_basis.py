"""What latencies rest on stands in the first lines: all that measurements know of is expected, and bound where asked."""

import pytest

from . import call, good

CASE = (
    "--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "2048", "--output", "64",
    "--batch", "8",
)  # fmt: skip
EXPECTED = (
    "expected by measured efficiencies of compiled engines; the range holds 80 % of measurements"
)
PEAK = "bound at 100 % of peak"


@pytest.fixture
def lines(tmp_path):
    return {
        "eval": ("eval", *CASE, "--all"),
        "derive": ("derive", "itl", "--all", *CASE),
        "solve": ("solve", "max_batch_itl", "--all", *CASE, "--target", "itl=20 ms"),
        "select": ("select", *CASE),
        "vllm": ("vllm", "vllm serve llama-3-8b --max-num-seqs 8", *CASE[2:], "--details"),
        "plot": ("plot", "itl", *CASE, "-o", str(tmp_path / "x.svg")),
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["eval", "derive", "solve", "select", "vllm", "plot"])
def test_all_expect_and_show_the_bound(lines, name):
    text = call(*lines[name]).out
    assert EXPECTED in "\n".join(text.splitlines()[:8]) and "bound" in text


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["eval", "derive", "solve", "select", "vllm", "plot"])
def test_at_the_peak_they_say_that(lines, name):
    text = call(*lines[name], "--efficiency", "peak").out
    assert PEAK in "\n".join(text.splitlines()[:8]) and EXPECTED not in text


@pytest.mark.full
def test_programs_find_the_bound_beside_what_is_expected():
    case = (*CASE, "--set", "chunk=512", "--json")  # select chooses one that is left open
    at_peak = good("eval", *case, "--efficiency", "peak").json["cases"][0]["quantities"]
    (configuration,) = good("select", *case).json["configurations"]
    for name in ("itl", "ttft", "sustained_itl", "sustained_throughput", "cost_per_mtok"):
        entry = configuration["quantities"][name]
        assert entry["bound"] == pytest.approx(at_peak[name]["value"])
        assert entry["low"] < entry["value"] < entry["high"]
    assert "bound" not in configuration["quantities"]["memory_bytes"]


def test_a_sweep_and_a_check_say_it_too(tmp_path):
    swept = call("sweep", *CASE[:-2], "--over", "batch=1,2", "-q", "itl", "-o", tmp_path / "x.csv")
    assert swept.err.splitlines()[0] == EXPECTED
    assert call(
        "sweep", *CASE[:-2], "--over", "batch=1,2", "-q", "itl", "--efficiency", "peak"
    ).json["basis"] == [PEAK]
    note = tmp_path / "note.md"
    note.write_text(
        "A step takes 4.79 ms. <!-- symroof: itl model=llama-3.1-8b hardware=h100-sxm prompt=1 detail=weights -->\n"
    )
    assert PEAK in call("check", note).out
    note.write_text(
        "The cache takes 131,072 byte. <!-- symroof: kv_cache_bytes model=llama-3.1-8b prompt=1 -->\n"
    )
    assert PEAK not in call("check", note).out


NOTE = (
    "A step takes 9 ms. <!-- symroof: itl model=llama-3.1-8b hardware=h100-sxm prompt=1 -->\n\n"
    "With all of the bandwidth it takes 4.48 ms. <!-- symroof: itl model=llama-3.1-8b hardware=h100-sxm prompt=1 efficiency=peak -->\n"
)


@pytest.mark.full
def test_check_takes_where_efficiencies_come_from_for_claims_that_state_none(tmp_path):
    """The derived values are those of `eval`; a claim with a word of its own keeps it, and the command beside a wrong one says what it stood on."""
    note = tmp_path / "note.md"
    note.write_text(NOTE)
    case = ("--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--prompt", "1", "--json")
    for engine in ("compiled", "ggml"):
        expected = good("eval", *case, "--efficiency", "measured", "--engine", engine).json[
            "cases"
        ][0]["quantities"]["itl"]
        first, second = call(
            "check", note, "--efficiency", "measured", "--engine", engine, "--json"
        ).json["claims"]
        assert expected["value"] * float(first["ratio"]) == pytest.approx(9e-3)
        assert second["verdict"] == "rounded"
    printed = call("check", note, "--efficiency", "measured", "--engine", "vllm", "-v").out
    assert EXPECTED in printed.splitlines()[0]
    assert "\nlatencies, rates and costs: bound at 100 % of peak" in call("check", note).out


@pytest.mark.full
def test_a_claim_beside_measured_efficiencies_says_whether_they_allow_it(tmp_path):
    note = tmp_path / "note.md"
    for claimed, word in (
        ("9.7 ms", "reason: between the ends"),
        ("40 ms", "not between the ends"),
    ):
        note.write_text(NOTE.replace("9 ms", claimed, 1))
        printed = call("check", note, "--efficiency", "measured", "-v").out
        assert word.removeprefix("reason: ") in printed and ("not between" in printed) == (
            claimed == "40 ms"
        )
        assert "--efficiency measured" in printed


@pytest.mark.parametrize(
    "words",
    [("--efficiency", "best"), ("--engine", "abacus"), ("--draft", "--efficiency", "measured")],
)
def test_check_refuses_what_it_cannot_stand_on(tmp_path, words):
    note = tmp_path / "note.md"
    note.write_text(NOTE)
    assert call("check", note, *words).code == 2
