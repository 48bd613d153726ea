"""``symroof eval``: text and JSON, ranges, lists, values set on the line."""

import math
import re

import pytest

from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES

from . import H100, call, cases, good, refused, write_study


def test_eval_has_the_shape_of_the_contract():
    result = good("eval", *H100, "--batch", "2", "--json").json
    assert result["schema"] == "symroof/eval/2"
    (case,) = result["cases"]
    assert (case["model"], case["hardware"]) == ("llama-3-8b", "h100-sxm")
    assert all({"value", "unit", "source"} <= set(entry) for entry in case["inputs"].values())
    assert set(case["assumptions"]) == set(SWITCHES)
    assert all(
        set(entry) == {"value", "defaulted"} and entry["value"] in SWITCHES[switch].values
        for switch, entry in case["assumptions"].items()
    )
    assert all({"value", "unit"} <= set(entry) for entry in case["quantities"].values())
    assert all(isinstance(warning, str) for warning in case["warnings"])


def test_eval_prints_numbers_in_base_units_and_exact_integers_as_integers():
    (case,) = cases(*H100, "--batch", "2")
    exact = {
        "kv_bytes_per_token": 2 * 32 * 8 * 128 * 2,
        "kv_cache_bytes": 2 * 1024 * 2 * 32 * 8 * 128 * 2,
        "decode_tokens": 2,
    }
    for name, value in exact.items():
        result = case["quantities"][name]["value"]
        assert (result, type(result)) == (value, int)
    assert case["inputs"]["peak_flops"]["value"] == 989_400_000_000_000
    assert math.isclose(
        case["quantities"]["ridge_point"]["value"], 989.4e12 / 3.35e12, rel_tol=1e-12
    )
    assert case["quantities"]["ttft"]["unit"] == "s"
    assert case["quantities"]["fits"]["value"] is True
    assert case["quantities"]["decode_bound"]["value"] == ["memory"]


@pytest.mark.full
def test_the_price_is_in_usd_per_second_in_json_and_per_hour_in_text():
    (case,) = cases(*H100)
    assert case["inputs"]["price"]["unit"] == "USD/s"
    assert math.isclose(case["inputs"]["price"]["value"], 3.9 / 3600, rel_tol=1e-12)
    assert "3.9 USD/hour (2.6 to 12.29 USD/hour)" in good("eval", *H100, "--all").out
    assert "3.9 USD/hour (2.6 to 12.3)" in good("eval", *H100).out
    (case,) = cases(*H100, "--set", "h100-sxm.price=4.29 USD/hour")
    assert (
        math.isclose(case["inputs"]["price"]["value"], 4.29 / 3600, rel_tol=1e-12)
        and "low" not in case["inputs"]["price"]
    )


def test_a_ranged_input_gives_every_number_its_ends_and_a_bound_as_a_list():
    (case,) = cases(*H100, "--mfu", "0.5..0.7")
    assert case["inputs"]["mfu"]["value"] == 0.6
    assert (case["inputs"]["mfu"]["low"], case["inputs"]["mfu"]["high"]) == (0.5, 0.7)
    for name, entry in case["quantities"].items():
        if isinstance(entry["value"], bool):
            continue
        if name.endswith("_bound"):
            assert isinstance(entry["value"], list)
        else:
            assert entry["low"] <= entry["value"] <= entry["high"]
    assert (
        case["quantities"]["prefill_compute_time"]["low"]
        < case["quantities"]["prefill_compute_time"]["high"]
    )


def test_a_bound_that_flips_inside_a_range_lists_both():
    (case,) = cases(
        "--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "330", "--mfu", "0.1..1"
    )
    assert sorted(case["quantities"]["prefill_bound"]["value"]) == ["compute", "memory"]


def test_without_a_range_there_are_no_ends():
    (case,) = cases(*H100, "--set", "price=3 USD/hour", "--efficiency", "peak")
    assert not any(
        "low" in entry or "high" in entry
        for entry in (*case["quantities"].values(), *case["inputs"].values())
    )
    assert isinstance(case["quantities"]["decode_bound"]["value"], str)


@pytest.mark.full
def test_listed_values_make_one_case_for_each_combination():
    result = cases(*H100, "--batch", "1", "--batch", "8", "--weights", "fp16", "--weights", "fp8")
    pairs = [
        (case["inputs"]["batch"]["value"], case["inputs"]["weight_bytes_per_param"]["value"])
        for case in result
    ]
    assert sorted(pairs) == [(1, 1), (1, 2), (8, 1), (8, 2)]


def test_two_devices_make_two_cases_the_first_is_the_baseline():
    result = cases(
        "--model", "llama-3-8b", "--hardware", "h200", "--system", "h100-sxm", "--prompt", "1024"
    )
    assert [case["hardware"] for case in result] == ["h200", "h100-sxm"]


def test_eval_text_shows_what_json_says():
    (case,) = cases(*H100, "--batch", "2")
    text = good("eval", *H100, "--batch", "2", "--all").out
    for name, entry in case["quantities"].items():
        line = re.search(rf"^  {re.escape(name)} +(\S.*)$", text, re.M)
        assert line, name
        if isinstance(entry["value"], str):
            assert line[1].startswith(entry["value"])
    assert "11.15 ms" not in text or math.isclose(
        case["quantities"]["ttft"]["value"], 0.01115, rel_tol=1e-3
    )
    for name in case["inputs"]:
        assert re.search(rf"^[* ] {re.escape(name)} ", text, re.M), name
    for switch, chosen in case["assumptions"].items():
        assert re.search(
            rf"^{'[*]' if chosen['defaulted'] else ' '} {switch} +{chosen['value']} ", text, re.M
        ), switch


def fits_a_screen(text):
    lines = text.splitlines()
    return len(lines) <= 25 and max(map(len, lines)) <= 100


def test_the_first_screen_is_what_to_expect_and_its_limit(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    (case,) = cases(*H100, "--batch", "2")
    text = good("eval", *H100, "--batch", "2").out
    assert fits_a_screen(text)
    itl, bound = case["quantities"]["itl"]["value"], case["quantities"]["itl"]["bound"]
    row = next(line for line in text.splitlines() if "inter-token latency, alone" in line)
    assert (
        f"{itl * 1000:.3g} ms (" in row
        and f" {bound * 1000:.3g} ms " in row
        and row.endswith("memory")
    )
    assert "78.7 GB" in text and "✓ fits" in text and "requests that fit at once" in text
    assert "weights fp16*" in text and "memory_share 0.92" in text


def test_what_does_not_fit_is_marked_at_every_number(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = good(
        "eval",
        "--model",
        "llama-3-70b",
        "--hardware",
        "h100-sxm",
        "--prompt",
        "4096",
        "--output",
        "9",
    ).out
    assert "✗ does not fit" in text and "! † does not fit: needs " in text and fits_a_screen(text)
    rows = [
        line
        for line in text.splitlines()
        if line.startswith(("  time", "  inter-token", "  output", "  cost per"))
    ]
    assert len(rows) == 6 and all(line.count("†") == 2 for line in rows)


def test_one_quantity_with_range_bound_and_meaning():
    lines = good("eval", *H100, "-q", "itl", "-q", "weight_bytes,isl").out.splitlines()
    assert (
        lines[0].startswith("itl: ")
        and ", bound " in lines[0]
        and "inter-token latency" in lines[1]
    )
    assert lines[2:] == [
        "weight_bytes: 16.1 GB",
        "  resident weights: all parameters",
        "prompt: 1,024 tokens",
        "  prompt tokens of one request",
    ]
    assert "did you mean 'itl'" in refused("eval", *H100, "-q", "itll")
    assert set(good("eval", *H100, "-q", "itl", "--json").json["cases"][0]["quantities"]) == {"itl"}


def test_a_given_time_is_no_bound():
    row = next(
        line
        for line in good("eval", *H100, "--set", "ttft=300 ms").out.splitlines()
        if "time to first token, alone" in line
    )
    assert row.endswith("300 ms, given")
    assert (
        "prompt: 1,024 tokens\n" in good("eval", *H100, "-q", "isl").out
    )  # an input is given anyway


@pytest.mark.full
def test_the_price_of_a_device_that_is_not_there_is_named_as_unused():
    assert (
        "no effect on any device here: h200.price"
        in good("eval", *H100, "--set", "h200.price=3 USD/h").out
    )
    both = good("eval", *H100, "--hardware", "h200", "--set", "h200.price=3 USD/h", "--json").json[
        "cases"
    ]
    assert not any("h200.price" in warning for case in both for warning in case["warnings"])


def test_several_cases_are_one_row_each():
    text = good(
        "eval",
        *H100[:2],
        *H100[4:],
        "--hardware",
        "h100-sxm",
        "--hardware",
        "l4",
        "--target",
        "itl=20 ms",
    ).out
    rows = [line for line in text.splitlines() if line.lstrip().startswith(("✓", "✗"))]
    assert [row.split()[0] for row in rows] == ["✓", "✗"]


def test_without_a_target_met_as_expected_the_bound_is_beside_it():
    text = good("eval", *H100, "--target", "itl=1 ms").out
    assert re.search(r"^✗ itl within 1 ms: \S+ ms \(.*\), bound \S+ ms$", text, re.M)


def test_colour_only_where_it_is_asked_for_or_on_a_terminal(monkeypatch):
    assert "\x1b[32m✓\x1b[0m" in good("eval", *H100, "--color").out
    assert "\x1b" not in good("eval", *H100).out + good("eval", *H100, "--no-color").out


def test_every_quantity_either_has_a_value_or_says_why_not():
    (case,) = cases("--model", "llama-3-8b", "--prompt", "1024")
    assert "ttft" not in case["quantities"]
    assert "peak_flops" in case["unknown"]["ttft"] or "not given" in case["unknown"]["ttft"]
    assert set(case["quantities"]) | set(case["unknown"]) >= set(QUANTITIES)


def test_a_file_and_the_line_together(tmp_path):
    path = write_study(tmp_path)
    (case,) = cases(path, "--batch", "7", "--model", "llama-3.2-1b")
    assert (case["model"], case["inputs"]["batch"]["value"], case["inputs"]["prompt"]["value"]) == (
        "llama-3.2-1b",
        7,
        1024,
    )


def test_set_takes_units_and_any_quantity():
    (case,) = cases(*H100, "--set", "mem_bandwidth=3 TB/s", "--set", "itl=14 ms")
    assert case["inputs"]["mem_bandwidth"]["value"] == 3 * 10**12
    assert case["quantities"]["itl"]["value"] == 0.014
    assert case["quantities"]["user_rate"]["value"] == pytest.approx(1 / 0.014)
    assert case["quantities"]["decode_mbu"]["value"] == pytest.approx(
        case["quantities"]["decode_bytes"]["value"] / 3e12 / 0.014
    )


def test_set_takes_aliases_and_prints_the_name():
    (case,) = cases(*H100[:4], "--set", "isl=512", "--set", "bs=3")
    assert (case["inputs"]["prompt"]["value"], case["inputs"]["batch"]["value"]) == (512, 3)
    assert not {"isl", "bs"} & set(case["inputs"])


@pytest.mark.full
def test_assume_turns_one_switch():
    (case,) = cases(*H100, "--assume", "attention=full")
    assert case["assumptions"]["attention"] == {"value": "full", "defaulted": False}
    assert case["quantities"]["prefill_pairs"]["value"] == 1024**2
    (plain,) = cases(*H100)
    assert plain["assumptions"]["attention"] == {"value": "causal", "defaulted": True}
    assert plain["quantities"]["prefill_pairs"]["value"] == 1024 * 1025 // 2


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (("--prompt", "8*batch", "--batch", "500"), "batch 500, prompt 4,000"),
        (("--prompt", "700", "--batch", "prompt/35"), "batch 20, prompt 700"),
        (("--prompt", "1000*batch", "--batch", "1..8"), "batch 1 to 8, prompt 1000*batch"),
    ],
)
def test_the_title_shows_what_a_formula_comes_to_or_the_formula(given, title):
    assert (
        good("eval", "--model", "llama-3-8b", "--hardware", "h100-sxm", *given)
        .out.splitlines()[0]
        .endswith(f"80 GB, {title}")
    )


def test_a_formula_that_lacks_a_value_says_which():
    assert (
        "prompt: its formula has no value here: needs window"
        in call("eval", "--prompt", "window").err
    )


def test_a_folder_hides_no_study_of_the_catalogue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "llama-3-8b-chat").mkdir()
    (tmp_path / "genz").mkdir()
    (tmp_path / "other").mkdir()
    assert "Llama 3 8B" in good("eval", "llama-3-8b-chat").out
    assert "slip: genz" in good("diff", "llama-3-8b-chat", "genz").out
    assert "is a directory, not a file" in call("eval", "other").err


def test_an_assumption_given_twice():
    result = call("eval", *H100, "--assume", "queue=mg1", "--assume", "queue=md1")
    assert result.code == 2 and "queue is mg1 and md1; a case takes one" in result.err
