"""A wrong latency against the roof, with the arithmetic of the roof by hand: 2 bytes of each streamed parameter over the bandwidth."""

import re

import pytest

from symroof.claims.checked import HOLDS
from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec
from tests.cli import call

from ..tables import fields

CASE = fields(
    "model: llama-3.1-8b, hardware: h100-sxm, prompt: 2048, batch: 1, assume: {detail: weights}"
)
ROOF = 2 * 8_030_261_248 / 3.35e12
"""`detail: weights` streams every parameter once: 4.794 ms."""


def judged(value, quantity="itl", **more):
    return judge(
        ClaimSpec(id="x", says="x", quantity=quantity, given={**CASE, **more}, value=value)
    )


def test_faster_than_the_roof_is_impossible():
    assert judged("1.234 ms").verdict == "wrong" and judged("1.234 ms").impossible
    assert judged("1.234 ms").reason.endswith("beyond 100 % of peak: impossible")
    assert judged("812.345 token/s", "user_rate").reason.endswith(
        "beyond 100 % of peak: impossible"
    )


def test_slower_is_a_share_of_the_roof():
    words = f"right at {100 * ROOF / 0.01737:.0f} % of peak"
    assert judged("17.37 ms").reason.endswith(words)
    assert judged(f"{1 / 0.01737:.4f} token/s", "user_rate").reason.endswith(words)


@pytest.mark.parametrize("more", [{"mbu": 0.7}, {"efficiency": "measured"}])
def test_a_claim_that_states_its_efficiencies_is_not_held_to_the_roof(more):
    assert "roof" not in judged("17.37 ms", **more).reason


@pytest.mark.parametrize(
    ("value", "quantity"), [("4.794 ms", "itl"), ("208.6 token/s", "decode_throughput")]
)
def test_a_limit_that_is_right_has_what_to_expect_beside_it(value, quantity, tmp_path):
    found = judged(value, quantity)
    assert found.verdict in HOLDS and found.at_limit
    assert re.search(r"theoretical limit: predicted .+ \(.+ to .+\), theoretical", found.reason)
    assert not judged(value, quantity, mbu=1).at_limit
    case = "model=llama-3.1-8b hardware=h100-sxm prompt=2048 batch=1 detail=weights"
    (tmp_path / "n.md").write_text(f"It is {value}. <!-- symroof: {quantity} {case} -->\n")
    assert "predicted" in call("check", str(tmp_path / "n.md")).out
