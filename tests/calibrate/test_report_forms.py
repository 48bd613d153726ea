"""Reports of benchmarks at the edges of their forms: what a length, a batch or a unit may be, where each is read, and every reason word by word."""

import json
from fractions import Fraction

import pytest
import yaml

import symroof as sr
from symroof.calibrate.benchmark_files import parse_report
from symroof.errors import InputError

from ..tables import case_of, table

LENGTHS = "the report has no lengths of prompts and outputs"
SERVE = case_of(
    "completed=8 total_input_tokens=804 total_output_tokens=84 max_concurrency=1 median_ttft_ms=40 "
    "median_tpot_ms=5"
)
GENAI = yaml.safe_load("""
input_config: {a: {concurrency: 1}}
time_to_first_token: {unit: s, avg: 2.0}
inter_token_latency: {avg: 9.0, p50: 7.0}
input_sequence_length: {avg: 300.5}
output_sequence_length: {avg: 21.0}
""")
TRTLLM = yaml.safe_load("""
performance: {}
world_info: {tp_size: 2, pp_size: 3}
streaming_metrics: {ttft_percentiles: {p50: 80.0}, tpot_percentiles: {p50: 9.0}}
request_info: {avg_num_concurrent_requests: 1.49, avg_input_length: 64.0, avg_output_length: 32.0}
""")


def read(report):
    rows, unused = parse_report(json.dumps(report), "r.json")
    assert all(row.column == 1 for row in rows)
    return [(row.metric, row.seconds, dict(row.inputs), row.line) for row in rows], [
        str(item) for item in unused
    ]


def refused(report):
    with pytest.raises(InputError) as caught:
        parse_report(report if isinstance(report, str) else json.dumps(report), "r.json")
    (problem,) = caught.value.problems
    return problem


def test_mean_lengths_are_rounded_and_the_step_stands_in_the_middle():
    """804 tokens over 8 requests are 100 1/2, rounded to even; the context is half of 10 1/2 beyond, 105 3/4."""
    rows, unused = read(SERVE)
    assert rows == [
        ("ttft", Fraction(1, 25), {"prompt": 100}, 1),
        ("itl", Fraction(1, 200), {"batch": 1, "prompt": 100, "context": 106}, 1),
    ]
    assert unused == []


RATE = (
    "requests arrive at a rate, so the batch of a step is not known; measure at a fixed concurrency"
)
QUEUED = "requests wait for each other before their prefill (queueing); measure with one request at a time"
DRAFTS = "a step of speculative decoding gives more than one token"
TOGETHER = "prefill and decode are timed together"


@pytest.mark.parametrize(
    ("changes", "used", "unused"),
    [
        ({"max_concurrency": 2}, "sustained_itl", [f"median_ttft_ms is not used: {QUEUED}"]),
        ({"median_ttft_ms": None}, "itl", []),
        ({"total_output_tokens": None}, "ttft", [f"median_tpot_ms is not used: {LENGTHS}"]),
        ({"accept_length": 2.7}, "ttft", [f"median_tpot_ms is not used: {DRAFTS}"]),
        ({"median_tpot_ms": None}, "ttft", []),
    ],
)
def test_what_of_a_server_is_used(changes, used, unused):
    rows, rest = read({**SERVE, **changes})
    assert ([row[0] for row in rows], rest) == ([used], unused)


def unused(*entries):
    return "; ".join(f"{entry} is not used: {why}" for entry, why in entries)


TIMES = ("median_ttft_ms", "median_tpot_ms")
KNOWN = {"n_prompt": 1, "n_gen": 0, "avg_ts": 1}
UNKNOWN = "is not a benchmark report that symroof knows"
SPEED = {"n_prompt": 1, "n_gen": 1, "avg_ts": 1}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({**SERVE, "max_concurrency": None}, unused(*((name, RATE) for name in TIMES))),
        ({**SERVE, "completed": None}, unused(*((name, LENGTHS) for name in TIMES))),
        ({**SERVE, **dict.fromkeys(TIMES)}, "has no times"),
        ({**SERVE, "median_ttft_ms": True}, "median_ttft_ms is not a number"),
        ({**SERVE, "completed": -1}, "completed must be positive"),
        (
            {**TRTLLM, "streaming_metrics": 3},
            unused(("entry 1", f"without --streaming {TOGETHER}")),
        ),
        ({**TRTLLM, "decoding_stats": None}, unused(("entry 1", DRAFTS))),
        ([{"n_prompt": 1, "n_gen": 0}], unused(("entry 1", "the report has no avg_ts"))),
        ([SPEED] * 2, unused(("entry 1", TOGETHER), ("entry 2", TOGETHER))),
        ([{"n_prompt": 1}], UNKNOWN),
        ([KNOWN, {"n_prompt": 1}], UNKNOWN),
    ],
)
def test_why_a_report_is_refused(report, message):
    problem = refused(report)
    assert (problem.message, problem.line, problem.column) == (message, 1, 1)


@pytest.mark.parametrize("changes", [{"n_prompt": -1}, {"n_depth": -1}, {"n_gen": 1.5}], ids=str)
def test_a_count_that_is_none_is_refused_at_its_entry(changes):
    problem = refused([KNOWN, KNOWN | changes])
    said = "n_prompt, n_gen and n_depth are whole numbers"
    assert (problem.message, problem.line, problem.column) == (said, 2, 1)


LLAMA_BENCH = """
512 0 0     | ttft 128 | prompt=512
512 None 100 | ttft 128 | prompt=612 cached_prefix=100
0 2 0       | itl 1/4  | batch=1 prompt=1 context=1
None 7 50   | itl 1/4  | batch=1 prompt=53 context=53
"""


@pytest.mark.parametrize(("counts", "time", "where"), table(LLAMA_BENCH))
def test_a_row_of_llama_bench(counts, time, where):
    """At four tokens a second; generation stands in its middle, behind what is cached."""
    n_prompt, n_gen, n_depth = (None if n == "None" else int(n) for n in counts.split())
    entry = {"n_prompt": n_prompt, "n_gen": n_gen, "n_depth": n_depth, "avg_ts": 4}
    ((metric, seconds, inputs, line),), _ = read([entry])
    assert (metric, seconds) == (time.split()[0], Fraction(time.split()[1]))
    assert (inputs, line) == (case_of(where), 1)


def test_units_and_medians_of_genai_perf():
    """A first token in seconds and a mean alone; steps in milliseconds where no unit stands, the median before the mean."""
    rows, rest = read(GENAI)
    assert rows == [
        ("ttft", 2, {"prompt": 300}, 1),
        ("itl", Fraction(7, 1000), {"batch": 1, "prompt": 300, "context": 311}, 1),
    ]
    assert rest == []
    (only,), _ = read({**GENAI, "time_to_first_token": {"unit": "s"}})
    assert only[0] == "itl"
    (only,), _ = read({**GENAI, "inter_token_latency": 5})
    assert only[0] == "ttft"
    (only,), (why,) = read({**GENAI, "output_sequence_length": 5})
    assert (only[0], why) == ("ttft", f"inter_token_latency is not used: {LENGTHS}")
    both = unused(("time_to_first_token", LENGTHS), ("inter_token_latency", LENGTHS))
    assert refused({**GENAI, "input_sequence_length": 5}).message == both


CONFIGS = [
    ({"x": {"y": {"concurrency": 5}}}, 5),
    ({"concurrency": True, "x": {"concurrency": 5}}, 5),
    ([{"concurrency": 5}], None),
]


@pytest.mark.parametrize(("config", "batch"), CONFIGS)
def test_where_the_number_of_requests_at_a_time_stands(config, batch):
    if batch:
        rows, _ = read({**GENAI, "input_config": config})
        assert rows[-1][2]["batch"] == batch
    else:
        assert RATE in refused({**GENAI, "input_config": config}).message


@pytest.mark.parametrize(("mean", "batch"), [(0.2, 1), (1.49, 1), (1.51, 2), (7.6, 8)])
def test_the_batch_of_trtllm_bench_is_the_nearest_whole_number(mean, batch):
    requests = {**TRTLLM["request_info"], "avg_num_concurrent_requests": mean}
    rows, _ = read({**TRTLLM, "request_info": requests})
    where = {"context": 80} if batch == 1 else {"output": 32}
    where |= {"batch": batch, "prompt": 64, "tp": 2, "pp": 3}
    metric = "itl" if batch == 1 else "sustained_itl"
    assert rows[-1] == (metric, Fraction(9, 1000), where, 1)
    assert (len(rows) == 2) is (batch == 1)
    if batch == 1:
        assert rows[0] == ("ttft", Fraction(8, 100), {"prompt": 64, "tp": 2, "pp": 3}, 1)


def test_a_report_is_fitted_like_a_table(tmp_path):
    """Times of the engine itself at mfu 0.5 and mbu 0.8 come back from a report."""

    def at(quantity, prompt):
        return sr.Study("llama-3.1-8b", "h100-sxm", mfu=0.5, mbu=0.8, prompt=prompt).value(quantity)

    prefills = [
        {"n_prompt": p, "n_gen": 0, "avg_ts": float(p / at("ttft", p))} for p in (512, 4096)
    ]
    decodes = [
        {"n_prompt": 0, "n_gen": 2, "n_depth": c - 1, "avg_ts": float(1 / at("itl", c))}
        for c in (64, 2048)
    ]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps([*prefills, *decodes]), encoding="utf-8")
    fit = sr.Study("llama-3.1-8b", "h100-sxm").calibrate(path, ["mfu", "mbu"])
    assert (fit["mfu"].value, fit["mbu"].value) == pytest.approx((0.5, 0.8), rel=1e-6)
