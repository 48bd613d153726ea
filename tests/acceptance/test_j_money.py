"""Cost, energy, and what one device may cost beside another (systems 55-57)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B70, H100, KV, TUTORIAL, WEIGHTS, agree, check, elasticity, row

ON = {**B70, **H100, "assume": WEIGHTS}
STEP = Fraction(140, 3350)
LOADED = {**ON, "prompt": 4096, "output": 256, "batch": 64, "chunk": 512}
TURN = (4096 + 255) * Fraction(2 * 70, 989_400)
"""Seconds of the device that one response takes where every step is limited by compute: its tokens, once each."""

COST = [
    row(
        "1 USD an hour, 766 tok/s",
        "decode_cost_per_mtok",
        "0.363",
        **ON,
        batch=32,
        price="1 USD/hour",
    ),
    row("23.93 tok/s", "decode_cost_per_mtok", "11.6", **ON, price="1 USD/hour"),
    row(
        "p/(3600 X) a token",
        "decode_cost_per_mtok",
        Fraction(10**6, 3600) * STEP / 32,
        **ON,
        batch=32,
        price="1 USD/hour",
    ),
    row(
        "twice the rate, half the cost",
        "decode_cost_per_mtok",
        2,
        {"batch": 64},
        **ON,
        batch=32,
        price="1 USD/hour",
    ),
    row(
        "two stages cost twice",
        "decode_cost_per_mtok",
        Fraction(2 * 10**6, 3600) * (STEP + Fraction(16_384, 450 * 10**9)),
        **ON,
        pp=2,
        price="1 USD/hour",
    ),
    row(
        "eight devices, 1 USD an hour each",
        "instance_price",
        Fraction(8, 3600),
        **ON,
        tp=4,
        pp=2,
        price="1 USD/hour",
    ),
    row(
        "one of two stages, 16 requests in each",
        "decode_throughput_per_device",
        Fraction(32, 2) / (STEP + Fraction(16_384 * 16, 450 * 10**9)),
        **ON,
        batch=32,
        pp=2,
    ),
    row(
        "a million prompt tokens",
        "cost_per_mtok_input",
        Fraction(10**6, 3600) * Fraction(2 * 70, 989_400),
        **ON,
        prompt=4096,
        price="1 USD/hour",
    ),
    # prompts fill every step up to 512 tokens, which is limited by compute: 4,351 of them a response
    row(
        "a request's share of full steps",
        "cost_per_request",
        Fraction(1, 3600) * TURN,
        **LOADED,
        price="1 USD/hour",
    ),
    row(
        "a million of its tokens",
        "cost_per_mtok",
        Fraction(10**6, 3600) * TURN / 256,
        **LOADED,
        price="1 USD/hour",
    ),
    row(
        "energy of a decode step, 700 W", "decode_energy_per_token", 700 * STEP / 32, **ON, batch=32
    ),
    row("of a request, prefill included", "energy_per_request", 700 * TURN, **LOADED),
    row("of one of its tokens", "energy_per_token", 700 * TURN / 256, **LOADED),
]

SELECTION = [
    row(
        "TTFT, A100 over H100",
        "ttft",
        "3.170",
        {"hardware": "h100-sxm"},
        **TUTORIAL,
        hardware="a100-80gb-sxm",
        prompt=4096,
    ),
    row(
        "ITL, A100 over H100",
        "itl",
        "1.407",
        {"hardware": "h100-sxm"},
        **TUTORIAL,
        hardware="a100-80gb-sxm",
        prompt=4096,
    ),
    row(
        "ITL, H100 over H200", "itl", "1.236", {"hardware": "h200"}, **TUTORIAL, **H100, prompt=4096
    ),
    row("TTFT buys compute", elasticity("ttft", "peak_flops"), -1, **ON, prompt=4096),
    row("and no bandwidth", elasticity("ttft", "mem_bandwidth"), 0, **ON, prompt=4096),
    row("ITL buys bandwidth", elasticity("itl", "mem_bandwidth"), -1, **ON),
    row("and no compute", elasticity("itl", "peak_flops"), 0, **ON),
]


@pytest.mark.parametrize("case", [*COST, *SELECTION])
def test_row(case):
    check(case)


def test_price_ratio_at_which_two_devices_break_even():
    """Both at their largest batch within 50 ms and 4,608 tokens of cache each, 8B: B = (T BW - W)/(kappa S), the ratio is that of the batches."""
    case = {
        "model": "llama-3-8b",
        "params": 8_030_000_000,
        "prompt": 4608,
        "output": 1,
        "itl_target": "12 ms",
        "efficiency": "peak",
        "assume": KV,
    }
    largest = {
        device: Study(**case, hardware=device).solve("max_batch_itl").value
        for device in ("h100-sxm", "h200")
    }
    batches = [
        (Fraction(12, 1000) * rate - 16_060_000_000) / (131_072 * 4608)
        for rate in (3350 * 10**9, 4800 * 10**9)
    ]
    assert list(largest.values()) == near(batches)
    rival = {
        "rival_price": "4 USD/hour",
        "rival_throughput": f"{float(batches[0] / Fraction(12, 1000)):.12g} token/s",
    }
    study = Study(
        **case,
        hardware="h200",
        decode_throughput=f"{float(batches[1] / Fraction(12, 1000)):.12g} token/s",
        **rival,
    )
    assert study.value("break_even_ratio") == pytest.approx(float(batches[1] / batches[0]))
    assert float(study.solve("break_even_price").value) * 3600 == pytest.approx(
        4 * float(batches[1] / batches[0])
    )


def test_break_even_price_is_a_closed_form():
    """Price over price as rate over rate, a device."""
    study = Study(
        tp=2,
        decode_throughput="3000 token/s",
        rival_price="2 USD/hour",
        rival_throughput="1000 token/s",
    )
    assert study.solve("break_even_price").value == near(Fraction(3, 3600))
    agree(
        Study(tp=2, decode_throughput="3000 token/s", rival_throughput="1000 token/s").value(
            "break_even_ratio"
        ),
        "1.5",
    )
