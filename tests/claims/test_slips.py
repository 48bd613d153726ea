"""Slips named: known ones, seeded ones by hand, and random errors that must not be."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction

import pytest

from symroof.claims.annotations import annotation_fields
from symroof.claims.derive_claim import derived
from symroof.claims.explain_slips import SlipExplanation, explain
from symroof.claims.judge import judge
from symroof.claims.written_number import DimensionMismatch, read_written
from symroof.specs.claims import ClaimSpec
from symroof.units import format_quantity

LLAMA = {"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 4096}
CASE = "model=llama-3-70b hardware=h100-sxm prompt=4096"


def found(value: str, **claim: object) -> tuple[SlipExplanation, ...]:
    spec = ClaimSpec(id="c", value=value, **claim)
    result, written = derived(spec), None
    with suppress(DimensionMismatch):
        written = read_written(value, result.unit)
    return explain(spec, written, result)


def named(value: str, **claim: object) -> list[str]:
    return [explanation.slip for explanation in found(value, **claim) if explanation.named]


KNOWN = """
gqa_forgotten; 10.74 GB; kv_cache_bytes LLAMA
width_guessed; 1.20 GB; kv_cache_bytes model=llama-3-8b prompt=2048
arithmetic; 1987 TFLOP/s; catalogue=h100-sxm.peaks.fp8.dense
inverted_ratio; 41.8 token/s; expression='140 GB / (3.35 TB/s)'
inverted_ratio; 23.9 token/s; expression='140 GB / (3.35 TB/s)'
inverted_ratio; 41.8 token/s; user_rate FIRST
gb_gib; 1.25 GB; kv_cache_bytes LLAMA
gb_gib; 320 KB; kv_bytes_per_token LLAMA
gb_gib; 12.8 GB; expression='80 GB / 5.8'
sparse_peak; 590.7; threshold=batch_to_ridge LLAMA assume.detail=weights
sparse_peak; 3957.8 TFLOP/s; catalogue=h100-sxm.peaks.int8.dense
sparse_peak; 591.0 FLOP/byte; ridge_point peak_flops='990 TFLOP/s' mem_bandwidth='3.35 TB/s'
bandwidth_of_other_part; 2.04 TB/s; catalogue=a100-40gb-sxm.mem_bandwidth
bidirectional_link; 900 GB/s; catalogue=h100-sxm.link.bandwidth
gqa_forgotten; 64; catalogue=llama-3-70b.n_kv_heads
inverted_ratio; 0.698x; compare=itl model=llama-3-8b prompt=1 between='hardware=h100-sxm | \
hardware=h200'
memory_floor_ignored; 1.68 ms; prefill_time model=llama-3-8b hardware=h100-sxm prompt=100 \
params=8.03e9 assume.detail=kv mfu=0.967
n_vs_n_minus_one; 417.9 ms; decode_time FIRST output=10
per_device_vs_total; 70.0 GB; weight_bytes FIRST tp=2
hours_seconds; 6.00 USD; expression='6 USD/hour * 1 s'
training_flops; 98.51; threshold=prompt_to_ridge params=8e9 peak_flops='990 TFLOP/s' \
mem_bandwidth='3.35 TB/s' weights=fp16 assume.detail=weights
k_and_v_factor; 119; threshold=max_batch_memory model=llama-3.1-8b mem_capacity='80 GB' \
context=8192 kv=bf16
total_vs_active_params; 37.0 GB; weight_bytes params=671e9 active_params=37e9 weights=fp8
bandwidth_of_other_part; 24 token/s; user_rate params=70e9 weights=fp16 hardware=h100-pcie batch=1 \
assume.detail=weights
gqa_forgotten; 14; threshold=max_batch_memory model=llama-3.1-8b mem_capacity='80 GB' context=8192
bandwidth_of_other_part; 1008 GB/s; catalogue=rtx-5090.mem_bandwidth
bits_bytes; 161.3 s; load_time model=llama-3-70b weights=fp16 disk_bandwidth='7 GB/s'
inverted_ratio; 34.1 ms; itl params=8e9 hardware=m4-max weights=bf16 batch=1 assume.detail=weights
"""
"""A slip, the value it leads to, and the annotation of the claim."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", KNOWN.strip().splitlines())
def test_known_slips_are_named_first(row):
    slip, value, annotation = row.split("; ")
    words = annotation.replace("FIRST", f"{CASE} params=70e9 assume.detail=weights")
    fields = annotation_fields(words.replace("LLAMA", CASE))[0]
    assert named(value, **fields)[:1] == [slip]


def test_two_slips_only_where_there_are_four_digits():
    """10.74 GB, written as so many GiB: 11.53."""
    assert set(named("11.53 GB", quantity="kv_cache_bytes", given=LLAMA)) == {
        "gqa_forgotten",
        "gb_gib",
    }
    assert named("11.5 GB", quantity="kv_cache_bytes", given=LLAMA) == []


def test_one_digit_explains_nothing():
    suggested = found(
        "2 FLOP/byte", quantity="decode_intensity", given={**LLAMA, "assume": {"detail": "weights"}}
    )
    assert suggested
    assert not any(explanation.named for explanation in suggested)


@pytest.mark.full
def test_free_parameters_are_only_suggested():
    slips = {
        explanation.slip: explanation
        for explanation in found("60.3 ms", quantity="itl", given={**LLAMA, "tp": 2})
    }
    assert set(slips) == {"hidden_efficiency", "hidden_overhead"}
    assert not any(explanation.named for explanation in slips.values())
    assert "mbu 0.347" in slips["hidden_efficiency"].text  # 20.96 ms of 60.3 ms
    assert "39.3 ms" in slips["hidden_overhead"].text
    assert slips["hidden_efficiency"].chance > 0.9


def test_bounds_labels_and_right_claims_have_no_slips():
    assert found("< 5 GB", quantity="kv_cache_bytes", given={**LLAMA, "batch": 8}) == ()
    assert found("compute", quantity="decode_bound", given=LLAMA) == ()
    assert (
        judge(ClaimSpec(id="c", quantity="kv_cache_bytes", given=LLAMA, value="1.34 GB")).slips
        == ()
    )


def test_judgements_carry_slips_and_stated_tolerances_need_none():
    claim = {"id": "c", "quantity": "kv_cache_bytes", "given": {**LLAMA, "prompt": 4000}}
    judged = judge(ClaimSpec(**claim, value="1.342 GB"))
    assert judged.verdict == "approximate"
    assert [slip.slip for slip in judged.slips][:1] == ["decimal_binary_k"]
    assert judge(ClaimSpec(**claim, value="1.342 GB", tolerance="3 %")).slips == ()
    conditional = judge(ClaimSpec(**claim, value="2.62 GB", needs={"batch": 2}))
    assert (conditional.verdict, conditional.slips) == ("conditional", ())


@pytest.mark.parametrize(
    ("value", "claim"),
    [
        ("24 GB", {"quantity": "mem_capacity", "given": {"hardware": "rtx-4090"}}),
        ("40 GB", {"catalogue": "a100-80gb-sxm.memory.capacity"}),
        ("350 W", {"catalogue": "h100-sxm.power"}),
        ("1979.9 TFLOP/s", {"catalogue": "h100-sxm.peaks.fp8.dense"}),  # one digit off
    ],
)
def test_another_devices_memory_and_a_digit_that_is_wrong_explain_nothing(value, claim):
    assert not {"other_variant", "arithmetic"} & {slip.slip for slip in found(value, **claim)}


# ------------------------------------------------------------------------------------------------------ measured


@pytest.mark.full
def test_random_errors_are_seldom_named():
    """Of 60 right values off by a random factor, fewer than 4 get a named slip."""
    rng, named_ones = random.Random(2026), 0
    for _ in range(60):
        given = {
            "model": rng.choice(("llama-3-8b", "llama-2-70b", "qwen2.5-32b", "gemma-7b")),
            "hardware": rng.choice(("h100-sxm", "a100-80gb-sxm", "l40s", "mi300x")),
            "prompt": rng.choice((512, 1000, 4096, 8000)),
            "batch": rng.choice((1, 4, 24, 64)),
            "output": rng.randint(6, 40),
            "assume": {"detail": "attention"},
        }
        quantity = rng.choice(("kv_cache_bytes", "weight_bytes", "prefill_flops", "ttft", "itl"))
        right = derived(ClaimSpec(id="c", quantity=quantity, given=given, value="1"))
        factor = Fraction(str(round(rng.choice((1.1, 1.4, 2, 5)) * rng.uniform(1, 1.9), 3)))
        value = format_quantity(right.number * factor, right.unit, rng.choice((2, 3, 4)))
        named_ones += bool(named(value, quantity=quantity, given=given))
    assert named_ones < 4
