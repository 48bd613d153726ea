"""Attention in 16 bits beside products in 8: its FLOPs run at a peak of their own, on every layout and operator by operator."""

from fractions import Fraction

import pytest

import symroof as sr

PEAK, WIDE = 2 * 10**15, 10**15
CASE = {
    "engine": "ideal", "model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 8192, "output": 64,
    "batch": 8, "weights": "fp8", "activations": "fp8", "peak_flops": PEAK,
}  # fmt: skip


def study(**more):
    return sr.Study(
        **{**CASE, **more}, attention_peak_flops=WIDE, assume={"attention_arithmetic": "wide"}
    )


def test_a_prefill_by_hand():
    """80 layers of 64 heads of 128, 4 FLOP for each of the 8192*8193/2 pairs a query sees, at half of the peak of the rest."""
    attention = 4 * 80 * 64 * 128 * Fraction(8192 * 8193, 2)
    rest = sr.Study(**CASE).value("prefill_flops") - attention
    assert study().value("prefill_compute_time") == rest / PEAK + attention / WIDE


@pytest.mark.parametrize(
    ("degrees", "share"),
    [
        ({"tp": 4}, 4),
        ({"tp": 2, "pp": 4}, 2),
        ({"attention_dp": 2, "tp": 2, "prefill_batch": 2}, 2),
    ],
)
def test_on_several_devices_each_runs_its_part(degrees, share):
    """A prompt goes through all stages one after the other, so pp does not shorten its compute."""
    one, own = study(), study(**degrees)
    assert own.value("prefill_compute_time") == pytest.approx(
        float(one.value("prefill_compute_time") / share), rel=1e-3
    )


def test_operators_add_up_to_the_step():
    case = study()
    parts = [case.value(f"decode_compute_time.{name}") for name in ("linear", "attention")]
    assert sum(parts) == case.value("decode_compute_time")
    assert (
        case.value("decode_compute_time.attention") == case.value("decode_flops.attention") / WIDE
    )


def test_without_the_choice_nothing_changes():
    assert (
        sr.Study(**CASE, attention_peak_flops=WIDE).value("prefill_compute_time")
        == sr.Study(**CASE).value("prefill_flops") / PEAK
    )
