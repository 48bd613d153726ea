"""``symroof solve``: the form of the contract, and answers worked out by hand."""

import json
import re
from math import ceil

import pytest

from symroof.api import Study
from symroof.cli.main import main
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.reading import parse
from symroof.symbols import context
from tests.tables import case_of, words

CASE = ["--model", "llama-3-70b", "--hardware", "h100-sxm", "--tp", "2"]


def solved(capsys, *arguments):
    assert main(["solve", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def ridge_batch(context, peak=989.4e12, bandwidth=3.35e12):
    """Llama-3 70B on two devices by hand: work and traffic of one more request against the weights. Both devices read the whole
    inputs of what is cut by columns (queries, gate, head), and write the whole outputs of what is cut by rows."""
    layers, d, heads, kv_heads, width, ff, vocabulary = 80, 8192, 64, 8, 128, 28672, 128256
    matrices = layers * d * ((heads + 2 * kv_heads) * width + heads * width + 3 * ff)
    flops = 2 * matrices + 4 * layers * heads * width * context + 2 * d * vocabulary
    moved = (
        2
        * (
            layers * (2 * 4 * d + (heads + 2 * kv_heads) * width + 3 * heads * width + 3 * ff)
            + 2 * d
            + vocabulary
        )
        + 2 * 2 * layers * kv_heads * width * context
    )
    slope = flops / peak - moved / bandwidth
    return 2 * (matrices + d * vocabulary) / bandwidth / slope if slope > 0 else None


@pytest.mark.parametrize("context", [1, 512, 1024, 1381, 1382, 4096])
def test_batch_to_ridge(capsys, context):
    line = ["--prompt", "1", "--context", str(context), "--efficiency", "peak"]
    result = solved(capsys, "batch_to_ridge", *CASE, *line)
    expected = ridge_batch(context)
    if expected is None:
        assert (result["verdict"], result["value"], result["integer"]) == ("lhs_below", None, None)
        assert "never" not in result["reason"] and "every batch" in result["reason"]
        assert any(
            condition["holds"] is False
            for branch in result["branches"]
            for condition in branch["conditions"]
        )
    else:
        assert result["verdict"] == "crosses" and result["method"] == "closed_form"
        assert result["value"] == pytest.approx(expected, rel=1e-12)
        assert result["integer"] == {"at_least": ceil(expected)}
        assert all(
            condition["holds"]
            for branch in result["branches"]
            for condition in branch["conditions"]
        )


def test_form_of_the_contract(capsys):
    line = words("max_batch_memory --engine ideal --prompt 4096 --output 512")
    result = solved(capsys, *line, *CASE)
    assert set(result) >= set(
        words(
            "schema equation unknown verdict method domain branches values value integer "
            "within_memory unit reason"
        )
    )
    assert (
        result["schema"] == "symroof/solve/2"
        and result["unknown"] == "batch"
        and result["unit"] == "request"
    )
    norms = 161 * 8192 * 2  # each of the two has all of them
    assert result["value"] == pytest.approx(
        (81559 * 2**20 - norms - (141107412992 - norms) / 2) / (327680 / 2 * 4607), rel=1e-12
    )
    assert result["integer"] == {"at_most": 19} and result["within_memory"] is True
    (branch,) = result["branches"]
    assert set(branch) == {"closed_form", "where", "conditions", "value", "holds"}
    assert (
        branch["where"]["kv_bytes_per_token"]["text"]
        == "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element"
    )


def test_without_a_case_the_answer_is_symbolic(capsys):
    """The ridge batch of theory: R W/(2P + aS - R kappa S), which exists for S < 2P/(R kappa - a)."""
    result = solved(capsys, "batch_to_ridge", "--assume", "detail=attention")
    assert (result["verdict"], result["value"], result["unknown"]) == ("conditional", None, "batch")
    (branch,) = result["branches"]
    (condition,) = branch["conditions"]
    assert condition["holds"] is None
    numbers = case_of(
        "params=70_000_000_000 weight_bytes_per_param=2 n_layers=80 n_heads=64 n_kv_heads=8 "
        "head_dim=128 kv_bytes_per_element=2 peak_flops=989_400_000_000_000 "
        "mem_bandwidth=3_350_000_000_000 mfu=1 mbu=1 context=1024"
    )
    study = Study(
        **{
            name: (f"{value} byte" if "bytes" in name else value) for name, value in numbers.items()
        },
        assume={"detail": "attention"},
    )
    ridge, weights, kappa, pair = 989.4 / 3.35, 140e9, 327680, 2621440
    value = evaluate(parse(branch["closed_form"]["text"]), study.first.case)
    assert float(value) == pytest.approx(
        ridge * weights / (140e9 + pair * 1024 - ridge * kappa * 1024), rel=1e-12
    )
    (limit,) = Study(assume={"detail": "attention"}).solve("batch_to_ridge").limits
    assert (limit.lhs, limit.rel_op) == (context, "<")
    exists = float(limit.rhs.xreplace(study.values()))
    assert exists == pytest.approx(140e9 / (ridge * kappa - pair), rel=1e-12)


def test_a_range_of_an_input_is_a_range_of_the_answer(capsys):
    """At 20 ms a fixed bandwidth moves so many bytes: the weights once and the cache of each request."""
    options = words("--for batch --model llama-3-8b --hardware h100-sxm --prompt 4096")
    case = ["itl = 20 ms", *options]
    ranged = solved(capsys, *case, "--mbu", "0.5..0.9")
    ends = [solved(capsys, *case, "--mbu", mbu) for mbu in ("0.5", "0.9")]
    assert [ranged["low"], ranged["high"]] == [end["value"] for end in ends] and ranged[
        "everywhere"
    ] is True
    assert not {"low", "high", "everywhere"} & ends[0].keys()
    assert main(["solve", *case, "--mbu", "0.5..0.9"]) == 0
    first, last = (end["integer"]["at_least"] for end in ends)
    assert (
        f"batch: at least {ranged['integer']['at_least']:,} requests ({first} to {last})"
        in capsys.readouterr().out
    )


def test_the_answer_comes_first_then_the_closed_form_and_its_conditions(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    line = ["batch_to_ridge", *CASE, "--prompt", "512"]
    assert main(["solve", *line]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) <= 25
    assert lines[0].startswith("batch_to_ridge: from this batch on ")
    assert any(re.match("batch: at least .*; at 100 % of peak: at least ", text) for text in lines)
    assert any(text.startswith("  batch = F·mfu·") for text in lines)
    assert " weight_bytes_read" in "\n".join(lines)
    assert main(["solve", "--formula", *line]) == 0
    full = capsys.readouterr().out
    assert "with weight_bytes_read = " in full and "\nas LaTeX\n  B = \\frac{" in full
