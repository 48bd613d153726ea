"""Workloads: which phase dominates, mixes of short and long requests (systems 58, 59)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, H100_989, KV, WEIGHTS, agree, check, row

HALF = {**B8, **H100_989, "mfu": 0.5, "assume": WEIGHTS}
SHORT_LONG = {"short": 64, "long": 4096}

SHARES = [
    row("4,000 in, 100 out", "ttft_share", "21.5 %", **HALF, prompt=4000, output=100),
    row("4,000 in, 10 out", "ttft_share", "75 %", **HALF, prompt=4000, output=10),
    row("50 in, 500 out: the chatbot", "ttft_share", "0.20 %", **HALF, prompt=50, output=500),
]


@pytest.mark.parametrize("case", SHARES)
def test_row(case):
    check(case)


@pytest.mark.parametrize(
    ("hardware", "weights", "published"),
    [
        ("h100-sxm", "fp16", "147.7"),
        ("a100-80gb-sxm", "fp16", "76.5"),
        ("a100-80gb-sxm", "int4", "19.1"),
    ],
)
def test_prompt_tokens_a_step_from_which_the_prefill_is_the_longer_part(
    hardware, weights, published
):
    """S/(N - 1) > (b_w/2) R eta_c/eta_m: 147.7 with 989.4 TFLOP/s, 147.6 with 989."""
    result = Study(
        **B8,
        hardware=hardware,
        mfu=0.5,
        weights=weights,
        activations="fp16",
        output=1001,
        assume=WEIGHTS,
    ).solve("prompt_ttft_exceeds_decode")
    agree(result.value / 1000, published)


@pytest.mark.parametrize("prompt", SHORT_LONG)
@pytest.mark.parametrize("output", SHORT_LONG)
def test_quadrants(prompt, output):
    """Prefill share 1/(1 + (N - 1) b_w R eta_c/(2 S eta_m)) above the ridge; below it the prefill takes one step: 1/N."""
    tokens, steps = SHORT_LONG[prompt], SHORT_LONG[output] - 1
    ridge = Fraction(989_000, 3350) / 2
    share = 1 / (1 + steps * ridge / tokens) if tokens > ridge else Fraction(1, steps + 1)
    assert Study(**HALF, prompt=tokens, output=SHORT_LONG[output]).value("ttft_share") == near(
        share
    )
    assert (share > Fraction(1, 2)) is False, (
        "none of the four is dominated by its prefill: that takes 147.6 prompt tokens a step"
    )


def test_nine_tenths_of_the_time_in_the_prefill():
    """S/(N - 1) > 9*147.6 = 1,329."""
    result = Study(**HALF, output=101).solve("ttft_share = 0.9", for_="prompt")
    agree(result.value / 100, "1,329")


# ------------------------------------------------------------------------------------------------------------------ mixes

MIX = {"prompt": 500, "output": 100, "long_share": 0.1, "long_prompt": 8000, "long_output": 1000}


def seconds(prompt, output):
    return max(
        Fraction(2 * 8_030_000_000 * prompt, 494_500 * 10**9), Fraction(16_060, 3_350_000)
    ) + (output - 1) * Fraction(16_060, 3_350_000)


def test_mean_over_a_mix_request_by_request():
    """Of ten requests nine are short and one is long."""
    ten = [seconds(500, 100)] * 9 + [seconds(8000, 1000)]
    study = Study(**HALF, **MIX, price="3.6 USD/hour")
    assert study.value("mix_response_time") == near(sum(ten) / 10)
    assert study.value("long_time_share") == near(ten[-1] / sum(ten))
    # each kind on an instance of its own, one request at a time; the spread of a step's tokens,
    # zero here, is the root of a difference of floats that are alike
    assert study.value("mix_cost_per_request") == pytest.approx(float(sum(ten) / 10_000), rel=1e-9)


def test_bytes_of_a_mix_step_by_step():
    def moved(prompt, output):
        return sum(
            16_060_000_000 + 131_072 * (prompt + step) for step in range(output)
        )  # the prefill writes its prompt: step 0

    nine, one = 9 * moved(500, 100), moved(8000, 1000)
    study = Study(**B8, **H100_989, **MIX, assume=KV)
    assert study.value("response_bytes") == moved(500, 100)
    assert study.value("long_bytes_share") == near(Fraction(one, nine + one))


@pytest.mark.parametrize(("share", "like"), [(0, (500, 100)), (1, (8000, 1000))])
def test_a_mix_of_one_sort_is_that_sort(share, like):
    study = Study(**HALF, **{**MIX, "long_share": share})
    assert study.value("mix_response_time") == near(seconds(*like))
