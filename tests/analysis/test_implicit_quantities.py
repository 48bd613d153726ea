"""Why an answer is a number and no formula, and the relations of what is searched, as a reader sees them."""

import pytest

from symroof.analysis.derivation import implicit
from symroof.api import Study
from symroof.symbolic.printing import text

SERVED = {
    "model": "gpt2", "hardware": "h100-sxm", "prompt": 1024, "output": 128, "batch": 8,
    "efficiency": "peak",
}  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("more", "equation", "unknown", "why"),
    [
        (
            {"arrival_rate": "1 request/s", "ttft_target": "1 s"},
            "max_arrival_ttft",
            None,
            "steady_batch is searched for each arrival_rate",
        ),
        ({}, "exp(batch/10) = batch**2 + 2", "batch", "batch is in an exponent"),
        ({}, "batch**3 + batch = 30", "batch", "no closed form of readable size exists"),
        ({}, "3*batch = 22", "batch", ""),
    ],
)
def test_why_an_answer_is_a_number(more, equation, unknown, why):
    assert Study(**SERVED, **more).solve(equation, unknown).why_numeric == why


@pytest.mark.full
def test_the_relation_of_what_is_searched():
    """The least batch that the arrivals keep busy, at most that of the case; the largest that meets both targets; a formula has none."""
    answers = Study(**SERVED, arrival_rate="1 request/s", itl_target="1 ms").first
    busy = "arrival_rate*slot_steps*open_step_time(decoding_requests = steady_batch)/dp"
    assert text(implicit("steady_batch", answers)) == f"steady_batch = min({busy}, most_decoding)"
    assert (
        text(implicit("best_batch", answers))
        == "meets_itl(batch = best_batch)*meets_ttft(wait_for_slot = 0, batch = best_batch) = 1"
    )
    assert implicit("itl", answers) is None
    derivation = Study(**SERVED, arrival_rate="1 request/s").derive("steady_batch")
    assert derivation.implicit_text == f"steady_batch = min({busy}, most_decoding)"
    assert [step.symbol.name for step in derivation.steps] == ["steady_batch"]
