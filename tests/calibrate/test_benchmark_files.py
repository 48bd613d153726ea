"""Reports of benchmarks: what is used, at which inputs, and why the rest is not."""

import json
from fractions import Fraction

import pytest

import symroof as sr
from symroof.calibrate.benchmark_files import parse_report

SERVE = {
    "completed": 100, "total_input_tokens": 102_400, "total_output_tokens": 12_800, "request_rate": "inf", "max_concurrency": 1,
    "median_ttft_ms": 30.0, "median_tpot_ms": 7.5,
}  # fmt: skip
GENAI = {
    "input_config": {"perf_analyzer": {"stimulus": {"concurrency": 4}}}, "time_to_first_token": {"unit": "ms", "avg": 90.0},
    "inter_token_latency": {"unit": "us", "avg": 9000.0, "p50": 8000.0}, "input_sequence_length": {"avg": 512.0}, "output_sequence_length": {"avg": 64.0},
}  # fmt: skip


def read(report):
    rows, unused = parse_report(json.dumps(report))
    return {
        row.metric: (float(row.seconds), {name: int(value) for name, value in row.inputs.items()})
        for row in rows
    }, [str(item) for item in unused]


def test_one_request_at_a_time_gives_both_latencies():
    """1,024 tokens in and 128 out: the mean step stands at 1,024 + 64."""
    rows, unused = read(SERVE)
    assert rows == {
        "ttft": (0.03, {"prompt": 1024}),
        "itl": (0.0075, {"batch": 1, "prompt": 1024, "context": 1088}),
    }
    assert unused == []


def test_a_queue_is_no_prefill():
    rows, unused = read({**SERVE, "max_concurrency": 32})
    assert rows == {"sustained_itl": (0.0075, {"batch": 32, "prompt": 1024, "output": 128})}
    assert "median_ttft_ms is not used: requests wait" in unused[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_concurrency": None}, "the batch of a step is not known"),
        ({"total_input_tokens": 0, "total_output_tokens": None}, "must be positive"),
        ({"median_ttft_ms": -1}, "must be positive"),
        ({"median_tpot_ms": "fast"}, "is not a number"),
    ],
)
def test_a_report_that_cannot_be_used_says_why(changes, words):
    with pytest.raises(sr.InputError, match=words):
        read({**SERVE, **changes})


def test_genai_perf_has_units_of_its_own():
    rows, unused = read(GENAI)
    assert rows == {"sustained_itl": (0.008, {"batch": 4, "prompt": 512, "output": 64})}
    assert "time_to_first_token" in unused[0]


TRTLLM = {
    "engine": {"backend": "Pytorch"}, "world_info": {"tp_size": 4, "pp_size": 1}, "performance": {"total_latency_ms": 1e5},
    "request_info": {"num_requests": 64, "avg_num_concurrent_requests": 7.94, "avg_input_length": 1024.0, "avg_output_length": 256.0},
    "streaming_metrics": {"avg_ttft_ms": 99.0, "ttft_percentiles": {"p50": 80.0}, "avg_tpot_ms": 9.9, "tpot_percentiles": {"p50": 9.0}},
}  # fmt: skip


def test_trtllm_bench_has_its_own_degrees_and_a_mean_number_of_requests():
    """7.94 requests at a time on average are a batch of 8."""
    rows, unused = read(TRTLLM)
    assert rows == {"sustained_itl": (0.009, {"batch": 8, "prompt": 1024, "output": 256, "tp": 4})}
    assert "ttft (p50) is not used: requests wait" in unused[0]
    alone, _ = read(
        {
            **TRTLLM,
            "request_info": {**TRTLLM["request_info"], "avg_num_concurrent_requests": 0.99},
            "world_info": {"tp_size": 1},
        }
    )
    assert alone["ttft"] == (0.08, {"prompt": 1024})


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"streaming_metrics": None}, "without --streaming"), ({"decoding_stats": {}}, "speculative")],
)
def test_trtllm_bench_without_plain_steps_is_refused(changes, words):
    with pytest.raises(sr.InputError, match=words):
        read({**TRTLLM, **changes})


def test_llama_bench_has_prompts_and_generation_apart():
    """512 tokens at 2,048 a second; 128 at 100 a second from a cache of 1,000, in the middle 1,064."""
    rows, unused = read([
        {"n_prompt": 512, "n_gen": 0, "avg_ts": 2048.0},
        {"n_prompt": 0, "n_gen": 128, "n_depth": 1000, "avg_ts": 100.0},
        {"n_prompt": 512, "n_gen": 128, "avg_ts": 300.0},
    ])  # fmt: skip
    assert rows == {
        "ttft": (0.25, {"prompt": 512}),
        "itl": (0.01, {"batch": 1, "prompt": 1064, "context": 1064}),
    }
    assert unused == ["entry 3 is not used: prefill and decode are timed together"]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "[1]",
        '{"entries": 3}',
        "{",
        '{"entries": [{"n_prompt": "x", "n_gen": 0, "avg_ts": 1}]}',
    ],
)
def test_what_is_no_report_is_refused(text):
    with pytest.raises(sr.InputError):
        parse_report(text)


def test_a_report_is_fitted_like_a_table(tmp_path):
    """Times of the engine itself at mfu 0.5 and mbu 0.8 come back from a report."""
    study = sr.Study("llama-3.1-8b", "h100-sxm", mfu=0.5, mbu=0.8, prompt=[512, 4096])
    prefills = [
        {"n_prompt": p, "n_gen": 0, "avg_ts": float(p / case.result("ttft").value)}
        for p, case in zip((512, 4096), study.cases, strict=True)
    ]
    steps = [
        sr.Study("llama-3.1-8b", "h100-sxm", mfu=0.5, mbu=0.8, prompt=c).value("itl")
        for c in (64, 2048)
    ]
    decodes = [
        {"n_prompt": 0, "n_gen": 2, "n_depth": c - 1, "avg_ts": float(1 / Fraction(t))}
        for c, t in zip((64, 2048), steps, strict=True)
    ]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps([*prefills, *decodes]), encoding="utf-8")
    fit = sr.calibrate(path, fit=["mfu", "mbu"], model="llama-3.1-8b", hardware="h100-sxm")
    assert (fit["mfu"].value, fit["mbu"].value) == pytest.approx((0.5, 0.8), rel=1e-6)
