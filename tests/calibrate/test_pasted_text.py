"""Benchmark output as people paste it, read by its words; closed loops and near-equal rows fitted for what they tell."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.calibrate.pasted_text import parse_pasted

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
    found = parse_pasted(text, "pasted.txt")
    assert found is not None
    rows, unused = found
    return [
        (
            row.metric,
            row.seconds,
            {name: int(value) for name, value in row.inputs.items()},
            row.line,
        )
        for row in rows
    ], [str(item) for item in unused]


def refused(text):
    with pytest.raises(sr.InputError) as caught:
        parse_pasted(text, "pasted.txt")
    return caught.value.problems[0]


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
    assert (
        "the batch of a step is not known"
        in refused(
            BLOCK.format("Successful requests: 9\nMax request concurrency: not set", 9216, 900)
        ).message
    )


def test_tables_of_llama_bench():
    """512 tokens at 2,048 a second; one token at 100 a second from a cache of 4,096, in its middle 4,160. The CSV says the same."""
    table = """
| model           |     size | ngl |          test |              t/s |
| --------------- | -------: | --: | ------------: | ---------------: |
| llama 8B Q4_K_M | 4.58 GiB |  99 |         pp512 | 2,048.00 ± 32.23 |
| llama 8B Q4_K_M | 4.58 GiB |  99 | tg128 @ d4096 |    100.00 ± 1.50 |
| llama 8B Q4_K_M | 4.58 GiB |  99 |   pp512+tg128 |    600.22 ± 3.39 |
build: 1234 (8)
"""
    rows, unused = read(table)
    assert rows == [
        ("ttft", Fraction(1, 4), {"prompt": 512}, 4),
        ("itl", Fraction(1, 100), {"batch": 1, "prompt": 4160, "context": 4160}, 5),
    ]
    assert unused == ["pp512+tg128 of line 6 is not used: prefill and decode are timed together"]
    same, _ = read(
        'n_prompt,n_gen,n_depth,avg_ts\n"512","0","0","2048.0"\n"0","128","4096","100.0"\n'
    )
    assert [row[:3] for row in same] == [row[:3] for row in rows]


def test_a_table_of_llama_batched_bench():
    """Eight prompts of 128 tokens in 0.751 s together; 256 steps of all eight in 15.11 s."""
    rows, _ = read(
        "| PP | TG | B | N_KV | T_PP s | S_PP t/s | T_TG s | S_TG t/s |\n|--|--|--|--|--|--|--|--|\n| 128 | 256 | 8 | 3072 | 0.751 | 1363.92 | 15.11 | 135.5 |\n"
    )
    assert rows == [
        ("ttft", Fraction(751, 1000), {"prompt": 128, "prefill_batch": 8}, 3),
        ("itl", Fraction(1511, 25600), {"batch": 8, "prompt": 128, "context": 256}, 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "| ISL | OSL | Concurrency | TTFT (ms) | TPOT (ms) |\n|---|---|---|---|---|\n| 1024 | 128 | 16 | 90 | 9.5 |\n| 1024 | 128 | 1 | 40 | 8 |",
        "Input Len\tOutput Len\tMax Concurrency\tMean TTFT\tMedian ITL\n1,024\t128\t16\t0.09 s\t9.5 ms\n1,024\t128\t1\t40ms\t8000 us\n",
        "isl/osl,conc,ttft_ms,p50 tpot_ms,mean TPOT [ms],P99 TPOT (ms)\n1k/128,16,90,9.5,70,99\n1024/128,1,40,8,70,99\n",
        "results of today\n\n| **Input Tokens** | `Output Tokens` | users | time to first token [s] | Time per Output Token (s) |\n| - | - | - | - | - |\n"
        "| 1024 | 128 | 16 | 0.09 | 0.0095 |\n| 1024 | 128 | 1 | 0.040 | 0.008 |\n\nfaster than yesterday",
    ],
)
def test_tables_under_the_names_that_people_give(text):
    """Any case, unit, mark and order of words; a median wins over a mean, and a tail is no time of a step."""
    rows, unused = read(text)
    assert [row[:3] for row in rows] == [
        ("sustained_itl", Fraction(19, 2000), {"batch": 16, "prompt": 1024, "output": 128}),
        ("ttft", Fraction(1, 25), {"prompt": 1024}),
        ("itl", Fraction(1, 125), {"batch": 1, "prompt": 1024, "context": 1088}),
    ]
    assert any("requests wait" in line for line in unused)
    assert ("column mean TPOT [ms], P99 TPOT (ms) is not used" in unused[0]) is ("P99" in text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("| ISL | TPOT |\n|--|--|\n| 512 | 8 |", "has no unit"),
        ("| ISL | TTFT (ms) |\n|--|--|\n| 512 | fast |", "is not a time"),
        ("| ISL | RPS | TTFT (ms) |\n|--|--|--|\n| 512 | 4 | 80 |", "requests arrive at a rate"),
        ("| ISL | TTFT (ms) |\n|--|--|\n| many | 8 |", "no length of the prompt"),
        ("| ISL | TTFT (ms) |\n|--|--|\n| 0.5 | 8 |", "is not a number of tokens"),
        ("| ISL | OSL | TTFT (ms) |\n|--|--|--|\n| 512 | 8 |", "has 2 values for 3 columns"),
        ("| ISL | TTFT (bananas) |\n|--|--|\n| 512 | 8 |", "has no unit"),
    ],
)
def test_what_a_table_lacks_is_said(text, words):
    assert words in refused(text).message


@pytest.mark.parametrize(
    "text", ["", "hello", "| a | b |\n|--|--|\n| 1 | 2 |", "x" * 5000, "prompt,batch\n1,2\n"]
)
def test_what_is_no_benchmark_is_left_alone(text):
    assert parse_pasted(text) is None


# ------------------------------------------------------------------------------------------------------- what is fitted


def test_a_closed_loop_is_a_step_and_the_prompts_of_the_others(tmp_path):
    """Times made by hand with an mfu of 1/2, an mbu of 4/5 and a millisecond a step: each of the others' prompts is prefilled once in a response."""
    truth = Truth(0.5, 0.8, 1e-3)
    loops = [(512, 128, 4), (2048, 256, 16), (4096, 512, 8), (1024, 1024, 64)]
    rows = [truth.itl(b, s + n // 2) + (b - 1) / (n - 1) * truth.ttft(s) for s, n, b in loops]
    table = "| ISL | OSL | Concurrency | TPOT (s) |\n|--|--|--|--|\n" + "".join(
        f"| {s} | {n} | {b} | {t!r} |\n" for (s, n, b), t in zip(loops, rows, strict=True)
    )
    (path := tmp_path / "loops.md").write_text(table)
    made = sr.calibrate(path, **LLAMA)
    assert {p.name: p.value for p in made.parameters if p.name != "link_latency"} == pytest.approx(
        {"mfu": 0.5, "mbu": 0.8, "step_overhead": 1e-3}, rel=1e-6
    )


def test_near_equal_rows_tell_one_number(tmp_path):
    """Four steps of about 8.1 ms at batch 1: 16.1 GB of weights in them are 0.59 of 3.35 TB/s, and nothing is said of compute or of a fixed part."""
    (path := tmp_path / "near.csv").write_text(
        "prompt,batch,itl_ms\n1000,1,8.10\n1010,1,8.15\n1020,1,8.09\n1030,1,8.14\n"
    )
    made = sr.calibrate(path, **LLAMA)
    assert made["mfu"].value is made["step_overhead"].value is None
    assert made["mbu"].value == pytest.approx(0.556, abs=0.002)
    assert made["mfu"].note.startswith("no row is limited by compute")
    assert (
        made["step_overhead"].note
        == "taken as 0: rows so alike tell one number; measure other prompts and batches to tell it from mbu"
    )
    assert made.block().splitlines()[-1].startswith("efficiency: {from: measured, mbu: ")
    assert made.block().endswith(", step_overhead: 0 s}\n")
    both = sr.calibrate(path, fit=["mbu", "step_overhead"], **LLAMA)
    assert both["step_overhead"].note.startswith("its interval is 0 s to ")
