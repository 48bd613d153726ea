"""The printed results of benchmarks; closed loops and near-equal rows fitted for what they tell."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.calibrate.benchmark_files import parse_printed

from . import Truth

LLAMA = {"model": "llama-3.1-8b", "hardware": "h100-sxm"}
BLOCK = """
INFO: warmed up
============ Serving Benchmark Result ============
{0}
Benchmark duration (s):                  47.88
Total input tokens:                      {1}
Total input text tokens:                 999
Total generated tokens:                  {2}
Total generated tokens (retokenized):    7
Request throughput (req/s):              2.09
---------------Time to First Token----------------
Mean TTFT (ms):                          49.00
Median TTFT (ms):                        47.50
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          8.31
Median TPOT (ms):                        8.25
P99 TPOT (ms):                           10.12
---------------Inter-token Latency----------------
Median ITL (ms):                         8.00
==================================================
"""


def read(text):
    rows, unused = parse_printed(text, "printed.txt")
    return [
        (row.metric, row.seconds, {name: int(x) for name, x in row.inputs.items()}, row.line)
        for row in rows
    ], [str(item) for item in unused]


def test_printed_blocks_of_vllm_and_sglang():
    """100 requests of 1,024/128; with four in flight a closed loop whose first tokens queue, one at a time both. Without a limit no batch is known."""
    vllm = BLOCK.format(
        "Successful requests: 100\nMaximum request concurrency: 4", "102,400", 12800
    )
    sglang = BLOCK.format(
        "Max request concurrency:                 1\nSuccessful requests: 10", 10240, 1280
    )
    rows, unused = read(vllm + sglang)
    assert rows == [
        ("sustained_itl", Fraction(33, 4000), {"batch": 4, "prompt": 1024, "output": 128}, 3),
        ("ttft", Fraction(19, 400), {"prompt": 1024}, 24),
        ("itl", Fraction(33, 4000), {"batch": 1, "prompt": 1024, "context": 1088}, 24),
    ]
    assert len(unused) == 1 and unused[0].startswith("median_ttft_ms is not used: requests wait")
    unlimited = BLOCK.format("Successful requests: 9\nMax request concurrency: not set", 9216, 900)
    with pytest.raises(sr.InputError, match="the batch of a step is not known"):
        parse_printed(unlimited)


# ------------------------------------------------------------------------------------------------------- what is fitted


def test_a_closed_loop_is_a_step_and_the_prompts_of_the_others(tmp_path):
    """Times made by hand with an mfu of 1/2, an mbu of 4/5 and a millisecond a step: each of the others' prompts is prefilled once in a response."""
    truth = Truth(0.5, 0.8, 1e-3)
    loops = [(512, 128, 4), (2048, 256, 16), (4096, 512, 8), (1024, 1024, 64)]
    rows = [truth.itl(b, s + n // 2) + (b - 1) / (n - 1) * truth.ttft(s) for s, n, b in loops]
    lines = [f"{s},{n},{b},{t!r}" for (s, n, b), t in zip(loops, rows, strict=True)]
    (path := tmp_path / "loops.csv").write_text(
        "\n".join(["prompt,output,batch,sustained_itl", *lines])
    )
    made = sr.Study(**LLAMA).calibrate(path)
    assert {p.name: p.value for p in made.parameters if p.name != "link_latency"} == pytest.approx(
        {"mfu": 0.5, "mbu": 0.8, "step_overhead": 1e-3}, rel=1e-6
    )


def test_near_equal_rows_tell_one_number(tmp_path):
    """Four steps of about 8.1 ms at batch 1: 16.1 GB of weights in them are 0.59 of 3.35 TB/s, and nothing is said of compute or of a fixed part."""
    (path := tmp_path / "near.csv").write_text(
        "prompt,batch,itl_ms\n1000,1,8.10\n1010,1,8.15\n1020,1,8.09\n1030,1,8.14\n"
    )
    made = sr.Study(**LLAMA).calibrate(path)
    assert made["mfu"].value is made["step_overhead"].value is None
    assert made["mbu"].value == pytest.approx(0.556, abs=0.002)
    assert made["mfu"].note.startswith("no row is limited by compute")
    assert (
        made["step_overhead"].note
        == "taken as 0: rows so alike tell one number; measure other prompts and batches to tell it from mbu"
    )
    assert made.block().splitlines()[-1].startswith("efficiency: {from: measured, mbu: ")
    assert made.block().endswith(", step_overhead: 0 s}\n")
    both = sr.Study(**LLAMA).calibrate(path, ["mbu", "step_overhead"])
    assert both["step_overhead"].note.startswith("its interval is 0 s to ")
