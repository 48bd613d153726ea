"""Whatever a person gives moves a selection's answer or is named in its first lines."""

import pytest

from tests.cli import call, good

LINE = (
    "--model",
    "llama-3.1-8b",
    "--hardware",
    "h100-sxm",
    "--prompt",
    "2048",
    "--output",
    "300",
    "--efficiency",
    "peak",
    "--set",
    "arrival_rate=5/s",
    "--target",
    "itl=40ms",
)
GIVEN = (
    "cached_prefix=1024", "hit_rate=0.5", "draft_tokens=4", "acceptance=0.7", "long_share=0.3", "output_spread=0.5", "prefill_batch=2", "burst_rate=9 request/s",
    "slo_share=0.5", "percentile=0.9", "queue_time=5 ms", "cost_target=0.5 USD", "fleet_price_target=1 USD/hour", "price_target=1 USD/hour", "margin=0.2",
)  # fmt: skip


def answers(*more):
    choice = call("select", *LINE, *more, "--json").json
    (c,) = choice["configurations"]
    return {"quantities": c["quantities"], "state": c["state"], "batches": c["batches"], "targets": choice["targets"], "checks": c["checks"]}


@pytest.mark.parametrize("given", GIVEN)
def test_what_is_given_moves_the_answer_or_is_named_first(given):
    name = given.partition("=")[0]
    first = [line for line in call("select", *LINE, "--set", given).out.splitlines()[:8] if line.startswith("! ")]
    assert answers("--set", given) != answers() or any(name in line for line in first)


def test_hits_without_a_cached_prefix_are_hits_of_nothing():
    both = good("select", *LINE, "--set", "hit_rate=0.5", "--set", "cached_prefix=1024", "--json").json
    assert both["configurations"][0]["quantities"] != answers("--set", "cached_prefix=1024")["quantities"]
