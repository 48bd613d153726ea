"""``symroof diff``: sides in every form, tables and JSON, what is refused."""

import pytest

import symroof as sr
from tests.cli import call, good, refused, write_study
from tests.tables import words

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "2048")


def test_two_lines_in_quotes_end_at_the_second():
    sides = ("--model llama-3-8b --prompt 1024", "--model llama-3-8b --prompt 2048 --batch 3")
    out = good("diff", *sides, "-q", "kv_cache_bytes", "--json").json
    assert out["schema"] == "symroof/diff/2"
    (entry,) = out["quantities"]
    assert (entry["from"]["value"], entry["to"]["value"], entry["effect"], entry["factor"]) == (
        131072 * 1024,
        131072 * 6144,
        131072 * 5120,
        6,
    )
    assert [
        (step["changes"][0]["name"], step["effect"], step["factor"], step["value"])
        for step in entry["steps"]
    ] == [("prompt", 131072 * 1024, 2, 131072 * 2048), ("batch", 131072 * 4096, 3, 131072 * 6144)]


def test_presets_count_the_case_of_the_options_or_a_study():
    line = good("diff", "symroof", "tutorial-mlsysim", *CASE, "-q", "itl", "--json").json[
        "quantities"
    ][0]
    assert line["to"]["value"] == pytest.approx(
        8.3519e-3, rel=1e-4
    )  # the tutorial's printed 8.35 ms
    study = good("diff", "llama-3-8b-chat", "tutorial-mlsysim", "-q", "itl", "--json").json[
        "quantities"
    ][0]
    named = good(
        "diff", "symroof", "tutorial-mlsysim", "llama-3-8b-chat", "-q", "itl", "--json"
    ).json["quantities"][0]
    assert study == named
    peak = sr.Study.load("llama-3-8b-chat").first.peak_bound("itl")
    assert study["from"]["value"] == peak.value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("symroof",), "give two sides"),
        (("llama-3-8b-chatt", "symroof"), "did you mean 'llama-3-8b-chat'"),
        (("symroof", "tutorial-mlsysim", *CASE, "-q", "itll"), "no such quantity"),
        (("symroof", "tutorial-mlsysim", *CASE, "--batchsize", "3"), "--batchsize"),
        (("--model llama-3-8b", "--modell llama-3-8b"), "no such option"),
        (("--model 'llama-3-8b", "llama-3-8b-chat"), "cannot be read as a command line"),
    ],
)
def test_bad_sides_are_refused(arguments, message):
    assert message in refused("diff", *arguments)


@pytest.fixture(scope="module", autouse=True)
def wide():
    """A terminal in which no line is broken."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "2000")
        yield


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measured", "itl", *CASE), "is not NAME = VALUE"),
        (("--measured", "itl = 28", *CASE), "write the unit of a time"),
        (("--measured", "itl = 0 s", *CASE), "is not a number above zero"),
        (("--measured", "itl = 3 GB", *CASE), "is in byte, but s is needed"),
    ],
)
def test_numbers_that_say_nothing_are_refused(arguments, message):
    assert message in refused("diff", *arguments)


CHAT = "llama-3-8b-chat"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plot", "waterfall", CHAT), "give the second with --against B"),
        (("plot", "itl", CHAT, "--against", "genz"), "itl takes no second side"),
        (("plot", "waterfall", CHAT, "--against", "gen"), "did you mean 'genz'"),
        (("diff", CHAT, "genz", "-q", ","), "names no quantity"),
    ],
)
def test_second_sides_that_say_nothing_are_refused(arguments, message):
    assert message in refused(*arguments)


def test_a_quantity_without_a_value_on_one_side_leaves_the_others():
    """Eight slots do not keep up with nine requests a second, sixty-four do."""
    few, many = (
        f"--model llama-3-8b --hardware h100-sxm --engine ideal --batch {batch}"
        for batch in (8, 64)
    )
    options = words("--prompt 2048 --output 300 --set arrival_rate=9/s --json")
    line = ("diff", few, many, *options)
    result = call(*line, "-q", "loaded_ttft,sustained_itl")
    assert result.code == 2 and [entry["quantity"] for entry in result.json["quantities"]] == [
        "sustained_itl"
    ]
    assert "has no value on the first side: no steady state" in result.err
    alone = call(*line, "-q", "loaded_ttft,admission_wait")
    assert (alone.code, alone.out) == (2, "") and "loaded_ttft" in alone.err


def test_a_case_in_quotes_keeps_what_it_says_and_takes_the_rest_from_the_options(tmp_path):
    """131,072 byte a token: 2,048 tokens against 1,024, whatever the options say; three requests on both sides."""
    two = ("--model llama-3-8b --prompt 1024", "--model llama-3-8b --prompt 2048")
    options = ("--prompt", "512", "--batch", "3", "-q", "kv_cache_bytes", "--json")
    (entry,) = good("diff", *two, *options).json["quantities"]
    assert [entry[side]["value"] for side in ("from", "to")] == [131072 * 3072, 131072 * 6144]
    file = write_study(tmp_path, hardware="h200")
    for other in ("--hardware h200", file):
        line = ("plot", "waterfall", *CASE, "--against", other, "-o", tmp_path / "way.svg")
        assert "mem_bandwidth: 3.35 TB/s -> 4.8 TB/s" in call(*line).out
