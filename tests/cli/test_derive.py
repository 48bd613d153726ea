"""``symroof derive``: texts that parse back, numbers that come to their values, limits, ledger."""

import re

import pytest

from symroof.symbolic.reading import parse

from ..tables import words
from . import H100, cases, good


def test_derive_has_the_shape_of_the_contract():
    result = good("derive", "kv_cache_bytes", *H100, "--batch", "2", "--json").json
    assert set(words("schema quantity unit definition expanded substituted value steps")) <= set(
        result
    )
    assert (result["schema"], result["quantity"], result["unit"]) == (
        "symroof/derive/1",
        "kv_cache_bytes",
        "byte",
    )
    for part in ("definition", "expanded", "substituted"):
        assert set(result[part]) == {"text", "latex"}
    assert (result["value"], type(result["value"])) == (2 * 1024 * 2 * 32 * 8 * 128 * 2, int)


ARITHMETIC = words(
    "ttft itl kv_cache_bytes prefill_intensity decode_throughput memory_utilization user_rate "
    "prefill_flops concurrency"
)


@pytest.mark.sample(8)
@pytest.mark.parametrize("quantity", ARITHMETIC)
def test_a_substituted_line_comes_to_its_value(quantity):
    """The numbers that stand in the line, worked out, are the value it claims, as far as four digits carry."""
    from symroof.symbolic.evaluation import evaluate

    result = good("derive", quantity, *H100, "--batch", "2", "--json").json
    steps = [
        *result["steps"],
        {"quantity": quantity, "substituted": result["substituted"], "value": result["value"]},
    ]
    assert len(steps) > 1
    for step in steps:
        worked_out = float(evaluate(parse(step["substituted"]["text"]), NoNames()))
        assert worked_out == pytest.approx(float(step["value"]), rel=3e-3), step["quantity"]


class NoNames:
    """An environment in which nothing has a name: a substituted line has numbers only."""

    axes = 0

    def value(self, name):
        raise AssertionError(f"{name} stands in a substituted line")

    def at(self, name, changes):
        raise AssertionError(name)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "quantity", ["kv_bytes_per_token", "kv_cache_bytes", "itl", "decode_intensity"]
)
def test_the_expansion_has_inputs_only_and_comes_to_the_value(quantity):
    """The expanded formula, evaluated over the printed inputs, is the printed value."""
    from symroof.symbolic.evaluation import evaluate
    from symroof.symbolic.expressions import names
    from symroof.theory.symbols import INPUTS, base_name

    (case,) = cases(*H100, "--batch", "2")
    result = good("derive", quantity, *H100, "--batch", "2", "--json").json
    tree = parse(result["expanded"]["text"])
    assert all(base_name(name) in INPUTS for name in names(tree))

    class Inputs(NoNames):
        def value(self, name):
            return float(case["inputs"][name]["value"])

    assert float(evaluate(tree, Inputs())) == pytest.approx(
        case["quantities"][quantity]["value"], rel=1e-12
    )


def test_derive_without_a_case_stays_symbolic():
    result = good("derive", "kv_bytes_per_token", "--json").json
    assert result["value"] is None
    assert {str(name) for name in re.findall(r"[a-z_]+", result["expanded"]["text"])} == set(
        words("n_layers n_kv_heads head_dim kv_bytes_per_element")
    )
    text = good("derive", "kv_bytes_per_token").out
    assert "no number" in text
    assert "kv_bytes_per_token = " in text


def test_the_value_comes_first_and_every_line_fits(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = good("derive", "ttft", *H100).out.splitlines()
    assert re.fullmatch(r"ttft = \S+ ms \(.*\); theoretical minimum \S+ ms", lines[0])
    assert lines[1] == "  time to first token"
    assert "  ttft = prefill_overhead + prefill_time + time_outside_steps" in lines
    assert any(line.startswith("with numbers (the last ") for line in lines)
    assert max(map(len, lines)) <= 100
    assert "it needs prompt, for example --prompt 4096" in good("derive", "ttft", *H100[:4]).out


def test_derive_tells_elasticities():
    text = good("derive", "itl", *H100, "--efficiency", "peak", "--all").out
    _, _, table = text.partition("\nelasticities: % change of itl per 1 % change of an input\n")
    assert re.search(r"^  mem_bandwidth +-1\.00$", table, re.M)
    for nothing in ("fits", "decode_bound"):
        assert "1 % more" not in good("derive", nothing, *H100).out


def test_derive_of_a_case_that_does_not_fit_carries_the_flag():
    line = ("--model", "llama-3-70b", "--hardware", "h100-sxm", "--prompt", "1024")
    result = good("derive", "itl", *line, "--json").json
    assert result["flags"] == ["does_not_fit"]
    timed = [step for step in result["steps"] if step["unit"] == "s"]
    assert timed
    assert all(step.get("flags") == ["does_not_fit"] for step in timed)
    text, _, ledger = good("derive", "itl", *line, "--all").out.partition("\ninputs (")
    assert ledger
    for text_line in text.splitlines():
        if re.search(r"\d (ms|s|µs)\b", text_line):
            assert "does not fit" in text_line or "†" in text_line
