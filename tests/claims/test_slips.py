"""Slips named: known ones, seeded ones by hand, and random errors that must not be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from symroof.claims.derive_claim import derived
from symroof.claims.judge import judge
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.explain import explain, explanations
from symroof.claims.slips.explanation import SlipExplanation
from symroof.claims.slips.slip_catalogue import CATALOGUE
from symroof.specs.claims import ClaimSpec
from tests.claims import by_hand

LLAMA = {"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 4096}
FIRST_ORDER = {**LLAMA, "params": "70e9", "assume": {"detail": "weights"}}
CONTRACT = frozenset(
    """
    gqa_forgotten k_and_v_factor gb_gib decimal_binary_k bits_bytes sparse_peak peak_of_other_dtype peak_of_other_sku mac_vs_flop bidirectional_link
    inverted_ratio bytes_per_param_forgotten head_dim_assumed width_guessed batch_factor layers_factor kv_ignored attention_ignored causal_factor
    memory_floor_ignored compute_floor_ignored n_vs_n_minus_one precision_mixed rounded_chain hours_seconds per_device_vs_total tied_embedding
    kv_heads_wrong bandwidth_of_other_part per_token_vs_per_sequence decimal_point total_vs_active_params experts_topk_vs_all latent_kv_expanded rope_key_forgotten acceptance_not_compounded markup_vs_margin
    training_flops links_ignored growth_ignored output_ignored window_ignored
    """.split()  # noqa: SIM905
)  # arithmetic and the two with a free parameter are found otherwise


def found(value: str, **claim: object) -> tuple[SlipExplanation, ...]:
    spec = ClaimSpec(id="c", value=value, **claim)
    return explanations(spec, derived(spec))


def named(value: str, **claim: object) -> list[str]:
    return [explanation.slip for explanation in found(value, **claim) if explanation.named]


KNOWN = [
    ("gqa_forgotten", "10.74 GB", {"quantity": "kv_cache_bytes", "given": LLAMA}),
    ("width_guessed", "1.20 GB", {"quantity": "kv_cache_bytes", "given": {"model": "llama-3-8b", "prompt": 2048}}),
    ("arithmetic", "1987 TFLOP/s", {"catalogue": "h100-sxm.peaks.fp8.dense"}),
    ("inverted_ratio", "41.8 token/s", {"expression": "140 GB / (3.35 TB/s)"}),
    ("inverted_ratio", "23.9 token/s", {"expression": "140 GB / (3.35 TB/s)"}),
    ("inverted_ratio", "41.8 token/s", {"quantity": "user_rate", "given": FIRST_ORDER}),
    ("rounded_chain", "3072 token/s", {"quantity": "decode_throughput", "given": {**FIRST_ORDER, "batch": 128}}),
    ("gb_gib", "1.25 GB", {"quantity": "kv_cache_bytes", "given": LLAMA}),
    ("gb_gib", "320 KB", {"quantity": "kv_bytes_per_token", "given": LLAMA}),
    ("gb_gib", "12.8 GB", {"expression": "80 GB / 5.8"}),
    ("sparse_peak", "590.7", {"threshold": "batch_to_ridge", "given": {**LLAMA, "assume": {"detail": "weights"}}}),
    ("sparse_peak", "3957.8 TFLOP/s", {"catalogue": "h100-sxm.peaks.int8.dense"}),
    ("sparse_peak", "591.0 FLOP/byte", {"quantity": "ridge_point", "given": {"peak_flops": "990 TFLOP/s", "mem_bandwidth": "3.35 TB/s"}}),
    ("bandwidth_of_other_part", "2.04 TB/s", {"catalogue": "a100-40gb-sxm.mem_bandwidth"}),
    ("bidirectional_link", "900 GB/s", {"catalogue": "h100-sxm.link.bandwidth"}),
    ("gqa_forgotten", "64", {"catalogue": "llama-3-70b.n_kv_heads"}),
    ("inverted_ratio", "0.698x", {"compare": "itl", "given": {"model": "llama-3-8b", "prompt": 1}, "between": ({"hardware": "h100-sxm"}, {"hardware": "h200"})}),
    ("memory_floor_ignored", "1.68 ms", {"quantity": "prefill_time", "given": {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 100, "params": "8.03e9", "assume": {"detail": "kv"}, "mfu": "0.967"}}),
    ("n_vs_n_minus_one", "417.9 ms", {"quantity": "decode_time", "given": {**FIRST_ORDER, "output": 10}}),
    ("per_device_vs_total", "70.0 GB", {"quantity": "weight_bytes", "given": {**FIRST_ORDER, "tp": 2}}),
    ("hours_seconds", "6.00 USD", {"expression": "6 USD/hour * 1 s"}),
]  # fmt: skip


KNOWN += [
    ("training_flops", "98.51", {"threshold": "prompt_to_ridge", "given": {"params": "8e9", "peak_flops": "990 TFLOP/s", "mem_bandwidth": "3.35 TB/s", "weights": "fp16", "assume": {"detail": "weights"}}}),
    ("k_and_v_factor", "119", {"threshold": "max_batch_memory", "given": {"model": "llama-3.1-8b", "mem_capacity": "80 GB", "context": 8192, "kv": "bf16"}}),
    ("total_vs_active_params", "37.0 GB", {"quantity": "weight_bytes", "given": {"params": "671e9", "active_params": "37e9", "weights": "fp8"}}),
    ("bandwidth_of_other_part", "24 token/s", {"quantity": "user_rate", "given": {"params": "70e9", "weights": "fp16", "hardware": "h100-pcie", "batch": 1, "assume": {"detail": "weights"}}}),
    ("gqa_forgotten", "14", {"threshold": "max_batch_memory", "given": {"model": "llama-3.1-8b", "mem_capacity": "80 GB", "context": 8192}}),
    ("bandwidth_of_other_part", "1008 GB/s", {"catalogue": "rtx-5090.mem_bandwidth"}),
    ("bits_bytes", "161.3 s", {"quantity": "load_time", "given": {"model": "llama-3-70b", "weights": "fp16", "disk_bandwidth": "7 GB/s"}}),
    ("inverted_ratio", "34.1 ms", {"quantity": "itl", "given": {"params": "8e9", "hardware": "m4-max", "weights": "bf16", "batch": 1, "assume": {"detail": "weights"}}}),
]  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("slip", "value", "claim"), KNOWN, ids=[f"{slip} {value}" for slip, value, _ in KNOWN]
)
def test_known_slips_are_named_first(slip, value, claim):
    assert named(value, **claim)[:1] == [slip]


def test_the_catalogue_holds_the_contracts_slips_and_no_others():
    assert [slip.name for slip in CATALOGUE] == list(dict.fromkeys(slip.name for slip in CATALOGUE))
    assert {slip.name for slip in CATALOGUE} == CONTRACT


def test_json_is_the_contracts():
    first = found("10.74 GB", quantity="kv_cache_bytes", given=LLAMA)[0].as_json()
    assert first == {
        "slip": "gqa_forgotten", "named": True, "explains": 10737418240, "chance": pytest.approx(0.0032, abs=1e-3),
        "text": "query heads used for KV heads in the cache: ×8",
    }  # fmt: skip


def test_two_slips_only_where_there_are_four_digits():
    """10.74 GB, written as so many GiB: 11.53."""
    assert set(named("11.53 GB", quantity="kv_cache_bytes", given=LLAMA)) == {
        "gqa_forgotten",
        "gb_gib",
    }
    assert named("11.5 GB", quantity="kv_cache_bytes", given=LLAMA) == []


@pytest.mark.parametrize(
    ("value", "expression", "text"),
    [
        (
            "6.00 USD",
            "6 USD/hour * 1 s",
            "hours taken for seconds",
        ),  # a 600th of a cent a second, times 3,600
        ("0.001667 USD", "6 USD/hour * 1 hour", "seconds taken for hours"),
        ("7200 s", "2 s", "hours taken for seconds"),
        ("0.0005556 s", "2 s", "seconds taken for hours"),
    ],
)
def test_hours_and_seconds_are_told_apart(value, expression, text):
    """Too large by 3,600: hours went in where seconds stand; too small by it: the other way round."""
    first = found(value, expression=expression)[0]
    assert (first.slip, first.named) == ("hours_seconds", True)
    assert text in first.text


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


def test_rows_are_explained_value_by_value():
    claim = ClaimSpec(
        id="c",
        quantity="kv_cache_bytes",
        given=LLAMA,
        values={"batch": [1, 2], "value": ["1.34 GB", "21.5 GB"]},
    )
    judged = judge(claim)
    assert [part.verdict for part in judged.parts] == ["rounded", "wrong"]
    assert judged.parts[1].slips[0].slip == "gqa_forgotten"


def test_ratios_tell_in_which_case_the_slip_is():
    """4.8/2.039 = 2.354, where 4.8/3.35 = 1.433 is right: the H100 is taken for the PCIe part."""
    claim = {
        "compare": "decode_memory_time",
        "given": {"model": "llama-3-8b", "prompt": 64},
        "between": ({"hardware": "h100-sxm"}, {"hardware": "h200"}),
    }
    first = found("2.354x", **claim)[0]
    assert (first.slip, first.named) == ("bandwidth_of_other_part", True)
    assert first.text == "the bandwidth of the h100-pcie in the first case only: ×1.643"


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


OF_A_CASE = 5
"""Quantities asked of each random case: what a case takes to be built is paid once."""


def explained(
    text: str, quantity: str, given: dict[str, object], true: Fraction
) -> tuple[SlipExplanation, ...]:
    claim = ClaimSpec(id="c", quantity=quantity, given=given, value=text)
    right = derived(claim)
    assert float(right.value) == pytest.approx(
        float(true), rel=1e-12
    )  # the hand knows the same theory
    return explain(claim, read_written(text, right.unit), right)


def drawn(rng: random.Random) -> Iterator[tuple[by_hand.Numbers, dict[str, object], str]]:
    """Random cases without end, each with several quantities."""
    while True:
        numbers, given = by_hand.case(rng)
        for quantity in rng.sample(list(by_hand.UNIT), OF_A_CASE):
            permitted = [
                devices for devices in (2, 4, 8) if numbers.K % devices == 0
            ]  # whole heads for each
            if quantity != "weight_bytes_per_device":
                yield numbers, given, quantity
            elif permitted:
                devices = rng.choice(permitted)
                yield replace(numbers, n=devices), {**given, "tp": devices}, quantity


@pytest.mark.full
def test_random_errors_are_seldom_named():
    """Of 90 true values off by a random factor, fewer than 5 get a named slip."""
    rng = random.Random(2026)
    count, misnamed = 0, Counter()
    for numbers, given, quantity in drawn(rng):
        if count == 90:
            break
        factor = 10 ** rng.uniform(-1, 1)
        if abs(factor - 1) <= 0.05:
            continue
        true = numbers.value(quantity)
        text, _ = by_hand.written(
            true * Fraction(factor), by_hand.UNIT[quantity], rng.choice((2, 3, 4))
        )
        misnamed[
            any(explanation.named for explanation in explained(text, quantity, given, true))
        ] += 1
        count += 1
    assert misnamed[True] < 5
