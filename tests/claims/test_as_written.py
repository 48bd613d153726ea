"""Text as people write it: the number a claim is about, what it is of, and what went wrong, each with an answer worked out by hand.

Llama-3-70B: 70,553,706,496 parameters, 80 layers, 8 of 64 heads of width 128 for keys and values: 2*80*8*128*2 = 327,680 byte a token.
H100: 989.4 TFLOP/s dense, 3.35 TB/s. 70e9 parameters in 16 bits: 140 GB/(3.35 TB/s) = 41.79 ms, 23.93 token/s.
"""

import pytest

from symroof.claims.check import check_text
from symroof.errors import InputError

HOLDS = ("exact", "rounded")
L70 = "model=llama-3-70b"
H100 = f"{L70} hardware=h100-sxm"
FIRST = "params=70e9 hardware=h100-sxm prompt=1 detail=weights"


def claims(text, name="note.md"):
    return check_text(text, name).claims


# ---------------------------------------------------------------------------- right text: the number, and how it is written

RIGHT = """
141 GB in 16-bit precision. | weight_bytes L70 | 141 GB
140 GB (70B parameters, 2 bytes per parameter). | weight_bytes params=70e9 weights=fp16 | 140 GB
42 ms, against a 30 ms target. | itl FIRST value='42 ms' | 42 ms
70 GB with 8-bit weights. | weight_bytes params=70e9 weights=fp8 | 70 GB
A parameter takes 2 bytes. | weight_bytes_per_param weights=fp16 | 2 bytes
It takes under 50 ms. | itl FIRST | under 50 ms
4.179e-2 s | itl FIRST | 4.179e-2 s
4.179 × 10⁻² s | itl FIRST | 4.179 × 10⁻² s
24 tps | user_rate FIRST | 24 tps
1.34 GB, or 1.25 GiB | kv_cache_bytes L70 prompt=4096 | 1.25 GiB
35.3 GB per GPU | weight_bytes L70 tp=4 | 35.3 GB per GPU
Each GPU holds 35.3 GB | weight_bytes L70 tp=4 | 35.3 GB
35.3 GB on each H100 | weight_bytes L70 tp=4 | 35.3 GB
10.74 GB/GPU | kv_cache_bytes L70 tp=4 prompt=4096 batch=32 | 10.74 GB/GPU
2.68 GB per request | kv_cache_bytes L70 prompt=8192 batch=32 | 2.68 GB per request
2.68 GB a sequence | kv_cache_bytes L70 prompt=8192 batch=32 | 2.68 GB
328 kB per token | kv_cache_bytes L70 prompt=8192 batch=32 | 328 kB per token
4.096 kB per layer | kv_bytes_per_token L70 | 4.096 kB
4.096 kB per token per layer | kv_bytes_per_token L70 | 4.096 kB per token
328 MB per 1K tokens | kv_bytes_per_token L70 | 328 MB
0.457 USD per million tokens | decode_cost_per_mtok H100 detail=weights prompt=1 batch=64 \
price='2.5 USD/hour' | 0.457 USD
0.000457 USD per 1K tokens | decode_cost_per_mtok H100 detail=weights prompt=1 batch=64 price='2.5 \
USD/hour' | 0.000457 USD
23.7 tok/s per user | decode_throughput H100 detail=weights prompt=1 batch=64 | 23.7 tok/s
1,519 tok/s | decode_throughput H100 detail=weights prompt=1 batch=64 | 1,519 tok/s
it fits | fits H100 tp=2 prompt=100 value=1 | 1
"""
"""A sentence, its annotation, and the number it is about. Weights of 141.107 GB on four devices are 35.277 GB, and norms
on each; 327,680*4096*32/4 is 10.74 GB; 64/0.042122 s are 1,519 tokens a second, 23.7 for each of 64 users."""


def rows(table):
    """The rows of a table, the short names of cases written out."""
    long = table.replace("H100", "L70 hardware=h100-sxm").replace("L70", "model=llama-3-70b")
    long = long.replace("on each model=llama-3-70b hardware=h100-sxm", "on each H100")
    return [line.split(" | ") for line in long.replace("FIRST", FIRST).strip().splitlines()]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("sentence", "annotation", "number"), rows(RIGHT))
def test_right_text_holds_and_its_number_is_the_one_claimed(sentence, annotation, number):
    (claim,) = claims(f"{sentence} <!-- symroof: {annotation} -->")
    assert (claim.verdict in HOLDS, claim.claimed) == (True, number), claim


def test_a_claim_takes_no_number_of_the_claim_before_it():
    text = "46.7B parameters, <!-- symroof: params model=mixtral-8x7b --> of which 12.7B are active. <!-- symroof: active_params model=mixtral-8x7b -->"
    assert [(claim.claimed, claim.verdict) for claim in claims(text)] == [
        ("46.7B parameters", "rounded"),
        ("12.7B", "rounded"),
    ]
    with pytest.raises(InputError, match="between the previous annotation and this one"):
        claims(
            f"1.34 GB <!-- symroof: kv_cache_bytes {L70} prompt=4096 --> is all there is. <!-- symroof: weight_bytes {L70} -->"
        )
    row = f"| 1.34 GB | 141 GB | <!-- symroof: weight_bytes {L70} --> <!-- symroof: kv_cache_bytes {L70} prompt=4096 --> |"
    assert [claim.claimed for claim in claims(f"| a | b | c |\n|---|---|---|\n{row}\n")] == [
        "141 GB",
        "1.34 GB",
    ]


@pytest.mark.parametrize("value", ["1.0e-2 s", "10 ms", "1 × 10^-2 s", "1.00 × 10⁻² s"])
def test_a_value_in_a_file_is_read_as_one_number(value):
    text = f"claims: [{{id: a, quantity: expert, expression: 1 s/100, value: '{value}'}}]".replace(
        "quantity: expert, ", ""
    )
    assert check_text(text, "c.yaml").claims[0].verdict == "exact"


@pytest.mark.parametrize("value", ["8.03B", "8.03 billion", "8.03 billion parameters", "0.00803T"])
def test_parameters_are_counted_in_billions(value):
    text = f"claims: [{{id: a, quantity: params, given: {{model: llama-3-8b}}, value: '{value}'}}]"
    assert check_text(text, "c.yaml").claims[0].verdict == "rounded"


# ------------------------------------------------------------------------------------------- wrong text: what went wrong

MISSED = """
141 GB per GPU | weight_bytes L70 tp=4 | wrong | denominator
85.9 GB per request | kv_cache_bytes L70 prompt=8192 batch=32 | wrong | denominator
328 kB per layer | kv_bytes_per_token L70 | wrong | denominator
0.457 USD per 1K tokens | decode_cost_per_mtok H100 detail=weights prompt=1 batch=64 price='2.5 \
USD/hour' | wrong | denominator
0.457 USD an hour | decode_cost_per_mtok H100 detail=weights prompt=1 batch=64 price='2.5 \
USD/hour' | wrong | denominator
1,519 tok/s per user | decode_throughput H100 detail=weights prompt=1 batch=64 | wrong | denominator
10 GB | kv_cache_bytes L70 prompt=4096 batch=8 | wrong | gb_gib
847 TFLOP | prefill_flops params=70.6e9 prompt=2000 detail=weights | wrong | training_flops
29.2 s | decode_time model=llama-3-8b hardware=h100-sxm detail=kv prompt=1000 output=4001 batch=64 \
| wrong | growth_ignored
227 GB | memory_bytes L70 prompt=4096 output=1024 batch=64 | wrong | output_ignored
73.0 ms | prefill_time H100 tp=8 detail=weights prompt=4096 | wrong | links_ignored
170 ms | prefill_time H100 tp=2 detail=weights prompt=4096 | wrong | sparse_peak
42.1 ms | itl H100 prompt=8192 batch=32 | conditional | kv_ignored
5.27 ms | itl H100 tp=8 prompt=8192 batch=32 | conditional | kv_ignored
41.8 ms | itl H100 prompt=8192 batch=32 | conditional | kv_ignored
93.4 GFLOP | decode_flops model=mixtral-8x7b prompt=1 detail=weights | wrong | \
total_vs_active_params
12.9B active | active_params model=mixtral-8x7b | approximate | tied_embedding
10.74 GB | kv_cache_bytes L70 prompt=4096 | wrong | gqa_forgotten
2.5 MB per token | kv_bytes_per_token L70 | wrong | gqa_forgotten
160 KB per token | kv_bytes_per_token L70 | wrong | k_and_v_factor
137 KB per token | kv_bytes_per_token model=deepseek-v3 | wrong | k_and_v_factor
33 TFLOP | prefill_flops model=llama-3-8b prompt=2048 | conditional | attention_ignored
33 ms | ttft model=llama-3-8b hardware=h100-sxm prompt=2048 | conditional | attention_ignored
4.8 ms | itl model=llama-3-8b hardware=h100-sxm prompt=128 | conditional | tied_embedding
about 280 GB | weight_bytes L70 | wrong | precision_mixed
"""
"""By hand:
the number is right of something else
10.737 GB is 10.00 GiB: more than a twentieth is no digit cut off
6*70.6e9*2000 for 2*70.6e9*2000 = 282.4 TFLOP
4,000 steps at a context of 1,000: (16.0605 + 64*131,072*1e3/1e9)/3350 = 7.298 ms each; as the cache grows 49.2 s
141.107 + 327,680*64*4096/1e9 = 227.0; with the output 141.107 + 327,680*64*5119/1e9 = 248.5
2*70.55e9*4096/(8*989.4e12) = 73.02 ms, before 160 all-reduces of 1.75*4096*8192*2 byte at 450 GB/s: 41.8 ms
half of 292.08 + 23.86 ms of links
141.107/3.35 = 42.12 ms, a cache of 85.9 GB beside it; the same over eight devices; and with 70e9 for the name
2*46.7e9 for 2*12.75e9; and 12.88e9 with the input table of 32,000*4,096
2*80*64*128*2 = 2,621,440 byte, which is 2.5 MiB; 80*8*128*2 = 160 KiB; 2*61*(512 + 64)*2 = 137.25 KiB
2*8.03e9*2048 = 32.9 TFLOP, over 989.4 TFLOP/s 33.2 ms; 16.06/3.35 = 4.79 ms: the input table multiplied and read as well
4*70.55e9 = 282.2 GB: about 280 has two digits
"""


@pytest.mark.sample(6)
@pytest.mark.parametrize(("sentence", "annotation", "verdict", "slip"), rows(MISSED))
def test_what_went_wrong_is_named_or_suggested_first(sentence, annotation, verdict, slip):
    (claim,) = claims(f"{sentence} <!-- symroof: {annotation} -->")
    first = claim.slips[0].slip if claim.slips else ""
    assert (claim.verdict, first) == (verdict, slip), claim.slips


# --------------------------------------------------------------------------------------------- arithmetic in the text


def test_a_right_number_from_arithmetic_that_does_not_come_out():
    text = "It takes 6 × 70.6B × 2,000 = 282 TFLOP. <!-- symroof: prefill_flops params=70.6e9 prompt=2000 detail=weights -->"
    (claim,) = claims(text)
    assert (claim.verdict, claim.reason) == (
        "inconsistent",
        "the number holds, but 6 × 70.6B × 2,000 is 847, not 282",
    )


# ------------------------------------------------------------------------------------------------- lengths with a k, rates


def test_an_ambiguous_length_in_an_annotation_is_refused_with_both_its_values():
    with pytest.raises(InputError, match="'128k' is ambiguous: write 128000 or 131072"):
        claims(f"It takes 39 GB. <!-- symroof: kv_cache_bytes {L70} context=128k -->")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It reads 3.35 TB/s -> 23.9 tok/s.", "23.9 tok/s"),  # an arrow is no bound
        ("It reads 3.35 TB/s => 23.9 t/s.", "23.9 t/s"),
        ("llama.cpp prints 23.9 t/s.", "23.9 t/s"),
        ("It makes ~24 t/s.", "~24 t/s"),
        ("It makes 0.0239k t/s.", "0.0239k t/s"),
        ("It makes more than 20 tok/s, so > 20 t/s.", "> 20 t/s"),
    ],
)
def test_rates_as_forums_write_them(text, number):
    (claim,) = claims(f"{text} <!-- symroof: user_rate {FIRST} -->")
    assert (claim.claimed, claim.verdict in (*HOLDS,)) == (number, True)


def test_a_t_alone_is_no_rate():
    with pytest.raises(InputError, match="no number in token/s"):
        claims(f"It weighs 24 t. <!-- symroof: user_rate {FIRST} -->")
