"""``symroof eval``: text and JSON, ranges, lists, values set on the line."""

import math

import pytest

from symroof.cli.terminal import coloured
from symroof.theory.switches import SWITCHES

from ..tables import table, words
from . import H100, cases, good, write_study


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
    (unlike,) = cases(*H100, "--context", "100000", "-q", "itl")
    assert any(warning.startswith("no request longer than") for warning in unlike["warnings"])


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
    assert "3.9 USD/hour (2.6–12.3)" in good("eval", *H100).out
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


def fits_a_screen(text):
    lines = text.splitlines()
    return len(lines) <= 25 and max(map(len, lines)) <= 100


def test_the_first_screen_is_what_to_expect_and_its_limit(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    (case,) = cases(*H100, "--batch", "2")
    text = good("eval", *H100, "--batch", "2").out
    assert fits_a_screen(text)
    itl, bound = case["quantities"]["itl"]["value"], case["quantities"]["itl"]["bound"]
    row = next(line for line in text.splitlines() if line.startswith("  time between tokens "))
    assert (
        f"{itl * 1000:.3g} ms (" in row
        and f" {bound * 1000:.3g} ms " in row
        and row.endswith("memory bandwidth")
    )
    assert "78.7 GB" in text and "✓ room for " in text
    assert "Assumed: 16-bit weights" in text and "92 % of memory for vLLM" in text


def test_what_does_not_fit_is_marked_at_every_number(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    line = words("--model llama-3-70b --hardware h100-sxm --prompt 4096 --output 9")
    text = good("eval", *line).out
    assert "✗ does not fit" in text and "! † does not fit: needs " in text and fits_a_screen(text)
    rows = [
        line
        for line in text.splitlines()
        if line.startswith(("  time", "    under load", "  output", "  cost per"))
    ]
    assert len(rows) == 6 and all(line.count("†") == 2 for line in rows)


@pytest.mark.parametrize(
    ("case", "said"),
    table("""
--model qwen3-32b --hardware rtx-5090 | it fits with --tp 4 or --weights awq
--model llama-3.1-70b --hardware h100 --tp 16 | tp 16 spans 2 nodes of 8 devices
--model llama-3.1-70b --hardware h100 --tp 8 --weights fp8 | Assumed: 16-bit KV cache, FP8 matrix products
--model llama-3.1-70b --hardware h100 --tp 4 --weights nvfp4 | has no dense fp4 peak: operands are widened and compute at bf16
"""),
)
def test_what_to_know_beside_the_numbers(case, said):
    assert said in " ".join(good("eval", *words(case), "--prompt", "1000").out.split())


def test_colour_only_on_a_terminal():
    assert coloured("✓ fits in memory") == "\x1b[32m✓\x1b[0m fits in memory"
    assert "\x1b" not in good("eval", *H100).out


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


@pytest.mark.parametrize("line", ["eval", "diff --measured itl=45ms"])
def test_what_the_engine_does_not_start_is_said(line):
    """1,536 columns of an expert over 8 are 192 each, and blocks of scales have 128."""
    case = words("--model=Qwen/Qwen3-235B-A22B-FP8 --hardware=h100 --prompt=2000 --output=50")
    said = " ".join(good(*words(line), *case, "--tp=8").out.split())
    assert "vLLM 0.33 does not start this: tp 8 cuts" in said and "starts with --ep 8" in said
    whole = good(*words(line), *case, "--tp=8", "--ep=8").out
    assert "does not start" not in whole
