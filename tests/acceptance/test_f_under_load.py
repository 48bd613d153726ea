"""A server under load (systems 39, 40, 43, 52): steps that take prompts along, prefills that stop the decode, prefills elsewhere."""

from fractions import Fraction
from math import ceil

import pytest

from symroof.analysis.best_batch import why_no_batch
from symroof.api import Study

from . import check, row

P, KAPPA = 70_553_706_496, 327_680
F, BETA = Fraction(989 * 10**12), Fraction(335 * 10**10)
HAND = {
    "model": "llama-3.1-70b", "peak_flops": "989 TFLOP/s", "mem_bandwidth": "3.35 TB/s", "mem_capacity": "1 TB", "prompt": 2048, "output": 256, "batch": 64,
    "price": "2.5 USD/hour", "network_bandwidth": "50 GB/s",
}  # fmt: skip
"""64 requests of 2,048 tokens in and 256 out on one device, memory aside."""
D, PREFILL = Fraction(2 * P, BETA), Fraction(2048 * 2 * P, F)
"""A decode step reads the weights; a prefill multiplies them."""


def under(scheduling="chunked", **more):
    return {**HAND, "engine": "ideal", "assume": {"detail": "weights", "scheduling": scheduling}, **more}


def step(tokens):
    """A step of so many tokens: its work, or the weights read once."""
    return max(tokens * 2 * P / F, D)


DEPLOYMENTS = [
    row("a decode step", "loaded_decode_time", "42.122 ms", **under()),
    row("a prefill", "prefill_time", "292.20 ms", **under()),
    row("paced: prompt tokens of a step", "even_chunk", "514.01", **under()),
    row("paced: a step", "sustained_itl", "82.468 ms", **under()),
    row("paced: tokens", "sustained_throughput", "779.1 tok/s", **under()),
    row("paced: cost", "cost_per_mtok", "0.8913 USD", **under()),
    row("decode alone: tokens", "decode_throughput", "1,519.4 tok/s", **under()),
    row("decode alone: cost", "decode_cost_per_mtok", "0.4570 USD", **under()),
    row("budget 2,048: a token", "sustained_itl", "107.179 ms", **under(chunk=2048)),
    row("budget 2,048: tokens", "sustained_throughput", "599.5 tok/s", **under(chunk=2048)),
    row("budget 2,048: first token", "loaded_ttft", "301.33 ms", **under(chunk=2048)),
    row("budget 2,048: longest step", "worst_itl", "301.33 ms", **under(chunk=2048)),
    row("exclusive: tokens", "sustained_throughput", 256 * 64 / (255 * D + 64 * PREFILL), **under("exclusive")),
    row("exclusive, as written", "sustained_throughput", "556.5 tok/s", **under("exclusive")),
    row("exclusive: a token waits for the 63 others", "sustained_itl", D + 63 * PREFILL / 255, **under("exclusive")),
    row("exclusive: longest wait for a token", "worst_itl", D + PREFILL, **under("exclusive")),
    row("exclusive, two prefilled together", "sustained_requests", 64 / (255 * D + 64 * PREFILL), **under("exclusive", prefill_batch=2)),
    row("apart: tokens", "sustained_throughput", "876.1 tok/s", **under("disaggregated", prefill_devices=1)),
    row("apart: the prefill is slower", "sustained_requests", 1 / PREFILL, **under("disaggregated", prefill_devices=1)),
    row("apart: those it keeps busy decode", "disaggregated_batch", 255 * D / PREFILL, **under("disaggregated", prefill_devices=1)),
    row("apart: two prefill devices, the decode is slower", "sustained_requests", 64 / (255 * D), **under("disaggregated", prefill_devices=2)),
    row("apart: first token", "loaded_ttft", PREFILL + Fraction(2048 * KAPPA, 50 * 10**9), **under("disaggregated", prefill_devices=1)),
    row(
        "three copies, a million tokens of one request of 256 a second",
        "cost_per_mtok_at_rate",
        Fraction(3 * 5, 2 * 3600) * 10**6 / 256,
        **under(dp=3, arrival_rate=1),
    ),
    row("apart: cost of two devices", "cost_per_mtok", Fraction(5, 3600) * 10**6 / (256 / PREFILL), **under("disaggregated", prefill_devices=1)),
]

PIECES = [
    row("three pieces and a rest of 248", "sustained_itl", D + Fraction(64, 255) * (3 * step(664) + step(312) - 4 * D), **under(chunk=600)),
    row("the steps of one prompt", "loaded_ttft", 3 * step(664) + step(312), **under(chunk=600)),
    row("the longest of them", "worst_itl", step(664), **under(chunk=600)),
    row("a budget beyond the prompt", "sustained_itl", D + Fraction(64, 255) * (step(2112) - D), **under(chunk=8192)),
    row("too small a budget: every step full", "chunked_batch", Fraction(256 * 255, 2048), **under(chunk=256)),
    row("a full step", "sustained_itl", step(256 + Fraction(256 * 255, 2048)), **under(chunk=256)),
    row("a prefix cached: half a prompt", "sustained_itl", D + Fraction(64, 255) * (step(1088) - D), **under(chunk=2048, cached_prefix=1024)),
    row("responses of one token: prefills alone", "sustained_requests", 1 / PREFILL, **under(output=1)),
    row("the same where they stop the decode", "sustained_requests", 1 / PREFILL, **under("exclusive", output=1)),
    row("the same elsewhere", "sustained_requests", 2 / PREFILL, **under("disaggregated", output=1, prefill_devices=2)),
    row("four copies of the instance: its own rate", "sustained_requests", 64 / (255 * step(64 + Fraction(64 * 2048, 255))), **under(dp=4)),
    row("the fleet's load", "load", 10 * 255 * step(64 + Fraction(64 * 2048, 255)) / 64 / 4, **under(dp=4, arrival_rate="10 request/s")),
    row("price of the fleet", "fleet_price", Fraction(10, 3600), **under(dp=4)),
]


@pytest.mark.parametrize("case", [*DEPLOYMENTS, *PIECES])
def test_row(case):
    check(case)


def test_a_response_of_one_token_has_no_itl():
    assert "needs an output of 2 tokens" in Study(**under(output=1)).first.why_unknown("sustained_itl")


@pytest.mark.parametrize("window", [4096, 1000, 2100])
def test_keys_within_a_window_are_the_mean_over_the_steps(window):
    """All layers of Mistral-7B see at most so many keys; a request at step j has prompt + j of them."""
    study = Study(model="mistral-7b-v0.1", hardware="h100-sxm", prompt=2048, output=200, batch=8, window=window, assume={"activations": "off"})
    keys = Fraction(sum(min(2048 + j, window) for j in range(1, 200)), 199)
    weights = 2 * (32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 32_000)
    assert study.exact("loaded_decode_time") == (weights + 8 * 131_072 * keys) / BETA


def test_degrees_share_out_requests_of_a_step():
    """Two groups of 32, each with half of the prompt tokens of a step."""
    groups = Study(**{**under(chunk=2048), "tp": 1, "attention_dp": 2, "link_latency": "0 s", "link_bandwidth": "1e6 TB/s"})
    assert float(groups.exact("loaded_decode_time")) == pytest.approx(float(D), rel=1e-6)
    assert float(groups.exact("worst_itl")) == pytest.approx(float(step(1056)), rel=1e-3)


@pytest.mark.parametrize("rate", [1, 2, "2.3"])
def test_the_busy_batch_is_its_own_arrivals(rate):
    """Little's law, by putting it in: a rate times the time that its own batch takes."""
    case = Study(**under(chunk=2048, arrival_rate=f"{rate} request/s")).first.case
    busy = case.value("steady_batch")
    there = case.changed({"batch": busy}).value("sustained_itl")
    assert float(Fraction(rate) * 255 * there) == pytest.approx(float(busy), rel=1e-20)
    assert 0 < busy < 64


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(2)])
def test_a_paced_server_reads_prompts_at_the_pace_of_its_slots(rate):
    """64 slots take 514.01 prompt tokens a step along, however few of them are busy: three such pieces of a prompt and a rest; the wait is that of M/M/1."""
    case = Study(**under(arrival_rate=f"{float(rate)} request/s")).first.case
    busy = case.value("steady_batch")
    assert float(busy) == pytest.approx(float(rate * 255 * step(busy + busy * Fraction(2048, 255))), rel=1e-12)
    pace = Fraction(64 * 2048, 255)
    service = 3 * step(pace + busy) + step(2048 - 3 * pace + busy)
    assert float(case.value("loaded_ttft")) == pytest.approx(float(service / (1 - rate * service)), rel=1e-12)  # T + rho T/(1 - rho)
    assert case.value("loaded_ttft") < 1


def test_no_steady_state_is_said():
    study = Study(**under(chunk=2048, arrival_rate="3 request/s"))
    assert study.exact("load") > 1
    assert "no steady state" in study.first.why_unknown("loaded_ttft")


@pytest.mark.parametrize(("itl", "ttft"), [("90 ms", None), ("60 ms", None), ("90 ms", "260 ms"), ("40 ms", None), (None, "305 ms")])
def test_the_best_batch_batch_by_batch(itl, ttft):
    """Every batch that fits is tried; the last that meets both targets is the best."""
    targets = {name: value for name, value in (("itl_target", itl), ("ttft_target", ttft)) if value}
    case = Study(**under(chunk=2048, **{**targets, "mem_capacity": "240 GB"})).first.case
    seconds = [Fraction(text.split()[0]) / 1000 if text else None for text in (itl, ttft)]

    def meets(batch):
        there = case.changed({"batch": Fraction(batch)})
        values = there.value("sustained_itl"), there.value("loaded_ttft")
        return all(limit is None or value <= limit for value, limit in zip(values, seconds, strict=True))

    most = int((240 * 10**9 - 2 * P) // (KAPPA * 2303))
    assert case.value("best_batch") == max([n for n in range(1, most + 1) if meets(n)], default=0)
    expected = case.changed({"batch": case.value("best_batch")}).value("sustained_requests") if case.value("best_batch") else 0
    assert case.value("max_goodput") == expected


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"itl_target": "40 ms"}, "a batch of 1 already has a sustained_itl of 43.10 ms, over its target of 40 ms"),  # 42.122 + (292.34 - 42.122)/255
        ({"itl_target": "60 ms", "mem_capacity": "141 GB"}, "a batch of 1 does not fit, it needs 141.9 GB of the 141 GB"),  # 2 P + 327,680 byte * 2,303
        # (240 GB - 2 P)/(2,303 * 327,680 byte) = 131.04; itl 42.122 + 131/255 (310.9 - 42.122) = 180.2 ms, 131/(255 itl) = 2.851 a second
        ({"ttft_target": "1 s", "mem_capacity": "240 GB", "arrival_rate": "4 request/s"}, "at the largest, 131, load is 1.403"),
        # a prompt of 100 tokens is read in one step of 42.122 ms, 23.74 a second
        (
            {"ttft_target": "1 s", "prompt": 100, "output": 101, "arrival_rate": "24 request/s"},
            "prompts arrive faster than they are prefilled, 2,048 tokens a step",
        ),
        ({"ttft_target": "250 ms", "arrival_rate": "2 request/s", "mem_capacity": "240 GB"}, "the least that keeps up with the arrivals, has a loaded_ttft"),
    ],
)
def test_a_best_batch_of_none_says_why(chosen, words):
    answers = Study(**under(chunk=2048, **chosen)).first
    assert answers.case.value("best_batch") == answers.case.value("max_goodput") == 0
    assert words in why_no_batch(answers)


def test_where_a_batch_is_good_there_is_no_reason():
    assert why_no_batch(Study(**under(chunk=2048, itl_target="60 ms", mem_capacity="240 GB")).first) is None
    assert why_no_batch(Study("llama-3.1-8b", prompt=2048).first) is None


# -------------------------------------------------------------------------------------------------------------- thresholds


def test_largest_batch_and_budget_within_the_target():
    """By trying: the answer meets 80 (90) ms and one more does not."""

    def itl(**changed):
        return Study(**under(**{"chunk": 2048, **changed})).exact("sustained_itl")

    batch = Study(**under(chunk=2048, itl_target="80 ms")).solve("max_batch_sustained_itl").integer["at_most"]
    assert itl(batch=batch) <= Fraction(80, 1000) < itl(batch=batch + 1)
    budget = Study(**under(chunk=64, itl_target="90 ms")).solve("max_chunk_sustained_itl").integer["at_most"]
    assert itl(chunk=budget) <= Fraction(90, 1000) < itl(chunk=budget + 1)


def test_copies_for_a_hundred_requests_a_second():
    """2,048 in, 300 out, 64 at once: 100 a second over 64/(299 itl) each."""
    itl = D + Fraction(64, 299) * (step(2112) - D)
    answer = Study(**under(output=300, chunk=2048, arrival_rate="100 request/s")).solve("min_copies_arrival")
    assert answer.value == 100 * 299 * itl / 64
    assert answer.integer == {"at_least": ceil(100 * 299 * itl / 64)}


def test_prefill_devices_at_which_both_sides_keep_pace():
    answer = Study(**under("disaggregated", prefill_devices=1)).solve("prefill_devices_pace")
    assert answer.value == 64 * PREFILL / (255 * D)
    assert answer.integer == {"at_least": 2}


def test_output_at_which_decode_and_prefill_take_equal_shares():
    """(N - 1) D/64 = PREFILL."""
    assert Study(**under()).solve("output_equal_shares").value == 1 + 64 * PREFILL / D


def test_output_up_to_which_devices_of_their_own_pay():
    """A budget of 64 reads a prompt in 32 steps: beside one prefill device a decode device does better than half of what it leaves."""
    answer = Study(**under("disaggregated", prefill_devices=1, chunk=64)).solve("output_disaggregation_pays")

    def apart(output):
        return min(1 / PREFILL, 64 / ((output - 1) * D)) / 2

    def together(output):
        slots = min(Fraction(64), Fraction(64 * (output - 1), 2048))
        pieces = max(step(64 + slots) - D, 0) * 32
        return slots / ((output - 1) * (step(64 + slots) if slots < 64 else D + Fraction(64, output - 1) * pieces))

    last = int(answer.values[-1])  # the other crossing is at a single token, which is not decoded
    assert apart(last - 1) > together(last - 1)
    assert apart(last) == together(last)
    assert apart(last + 1) < together(last + 1)
    assert Study(**under("disaggregated", prefill_devices=1, chunk=2048)).solve("output_disaggregation_pays").verdict == "lhs_below"


def test_devices_of_their_own_under_a_target():
    """Within 60 ms a step without prompts has room for 420 requests, one with 2,048 prompt tokens beside every fourteenth for 18."""
    target = Fraction(60, 1000)
    study = Study(**under(prefill_devices=1, chunk=2048, itl_target="60 ms"))

    def together(batch):
        return D + Fraction(batch, 255) * (step(2048 + batch) - D)

    most = max(batch for batch in range(1, 500) if together(batch) <= target)
    apart = max(batch for batch in range(1, 1000) if step(batch) <= target)
    assert (study.exact("chunked_target_batch"), study.exact("disaggregated_target_batch")) == (most, apart) == (18, 420)
    assert study.exact("chunked_target_rate") == most / (255 * together(most))
    assert study.exact("disaggregated_target_rate") == min(1 / PREFILL, apart / (255 * step(apart)))
    assert study.exact("disaggregated_target_rate") / 2 > study.exact("chunked_target_rate")
    assert study.solve("output_disaggregation_pays").own_side == 1
    assert Study(**under(prefill_devices=1, chunk=2048)).solve("output_disaggregation_pays").own_side == -1
    late = Study(**under(prefill_devices=1, chunk=2048, itl_target="60 ms", ttft_target="200 ms"))
    assert late.exact("chunked_target_rate") == late.exact("disaggregated_target_rate") == 0


def test_arrival_rate_at_which_the_first_token_leaves_its_target():
    """The answer, put in: its own busy batch, the wait of a lane (M/M/1) at that batch, and the steps a prompt is read in."""
    rate = Study(**under(chunk=2048, ttft_target="400 ms")).solve("max_arrival_ttft").value
    low, high = Fraction(0), Fraction(64)
    for _ in range(80):
        middle = (low + high) / 2
        itl = D + middle / 255 * (step(2048 + middle) - D)
        low, high = (middle, high) if rate * 255 * itl > middle else (low, middle)
    read = step(2048 + low)
    busy = rate * read
    assert float(read + busy * read / (1 - busy)) == pytest.approx(0.4, rel=1e-9)
    assert Study(**under(chunk=2048, ttft_target="200 ms")).solve("max_arrival_ttft").verdict == "lhs_above"


def test_an_overloaded_server_is_said_to_be_one_beside_the_rate_it_would_bear():
    """64 requests decode for 255 steps of 107.179 ms (the hand's), so 2.342 a second are served; of 5 the rest pile up."""
    most = 64 / (255 * float(D + Fraction(64, 255) * (step(2048 + 64) - D)))
    assert most == pytest.approx(2.3417, rel=1e-4)
    answer = Study(**under(chunk=2048, ttft_target="1000 s", arrival_rate=5)).solve("max_arrival_ttft")
    assert answer.verdict == "lhs_below" and f"every arrival_rate up to {most:.3f} request/s (beyond it no steady state" in answer.reason
    over = "at the 5 request/s of this case the queue is unstable (load >= 1)"
    assert over in answer.reason and over in Study(**under(chunk=2048, ttft_target="400 ms", arrival_rate=5)).solve("max_arrival_ttft").reason
    assert "of this case" not in Study(**under(chunk=2048, ttft_target="400 ms", arrival_rate=1)).solve("max_arrival_ttft").reason


# ------------------------------------------------------------------------------------------------- several devices at work

FREE_LINKS = {"link_latency": "0 s", "link_bandwidth": "1e9 TB/s"}


@pytest.mark.parametrize("tp", [2, 4])
def test_a_group_at_work_divides_work_and_reads(tp):
    """Links that cost nothing: a step of T tokens takes 1/tp of its work, or of the weights."""
    study = Study(**under(chunk=2048, tp=tp, **FREE_LINKS))
    assert float(study.exact("sustained_itl")) == pytest.approx(float((D + Fraction(64, 255) * (step(2112) - D)) / tp), rel=1e-6)
    assert float(study.exact("worst_itl")) == pytest.approx(float(step(2112) / tp), rel=1e-6)
    assert study.exact("cost_per_mtok") == Fraction(5 * tp, 2 * 3600) * 10**6 / study.exact("sustained_throughput")


@pytest.mark.parametrize(("prompt", "steps"), [(2048, [1024, 1024]), (2500, [1024, 1024, 452]), (600, [600])])
def test_a_group_of_attention_reads_a_prompt_of_its_own_with_its_share_of_the_budget(prompt, steps):
    """Each of two groups holds all weights, decodes 32 of 64, and reads a prompt of its own: of 2,048 tokens a step 1,024."""
    case = under(chunk=2048, attention_dp=2, prompt=prompt, arrival_rate="1 request/s", **FREE_LINKS)
    counting = {"attention_flops": "off", "kv_traffic": "off", "activations": "off"}
    study = Study(**{**case, "assume": counting, "mem_capacity": "10 TB"})
    assert study.exact("sustained_itl") < study.exact("worst_itl")
    layers, head = 80 * 855_638_016, 128_256 * 8192  # a row of logits for each request that decodes, and for the piece
    reading = sum(2 * max(Fraction(layers * (piece + 32) + head * 33, F), Fraction(layers + head, BETA)) for piece in steps)
    assert float(study.exact("prompt_prefill_time")) == pytest.approx(float(reading), rel=1e-6)
    assert float(study.exact("prefill_slot_utilization")) == pytest.approx(float(reading / 2), rel=1e-6)
    assert study.exact("prompt_prefill_time") > Study(**{**case, "assume": counting, "prefill_batch": 1}).exact("prefill_time")


def test_all_reduces_at_work_are_of_all_tokens_of_the_step():
    """Two a layer of 10 us and 2 (n - 1)/n of 2 byte * 8,192 for each of 64 + 2,048 tokens, beside a half of the work."""
    study = Study(**under(chunk=2048, tp=2, link_latency="10 us", link_bandwidth="450 GB/s"))
    reduced = 160 * (Fraction(1, 10**5) + Fraction(2112 * 8192 * 2, 450 * 10**9))
    assert float(study.exact("worst_itl")) == pytest.approx(float(step(2112) / 2 + reduced), rel=1e-9)


def test_a_pipeline_at_work_takes_its_slowest_stage_twice():
    """Two stages of 40 layers; the last has the head: it reads 40 * 855,638,016 + 128,256 * 8,192 parameters for each group of 32."""
    counting = {"attention_flops": "off", "kv_traffic": "off", "activations": "off", "scheduling": "exclusive"}
    study = Study(**{**HAND, **FREE_LINKS, "pp": 2, "assume": counting})
    stage = Fraction(2 * (40 * 855_638_016 + 128_256 * 8192), BETA)
    assert float(study.exact("loaded_decode_time")) == pytest.approx(float(2 * stage), rel=1e-6)
    prefill = study.exact("prefill_time") + study.exact("prefill_overhead")
    assert float(study.exact("sustained_requests")) == pytest.approx(float(64 / (255 * 2 * stage + 64 * prefill)), rel=1e-6)


def test_a_prompt_just_over_the_budget_holds_its_lane_for_a_full_step_and_a_short_one():
    study = Study(**under(chunk=2048, prompt=2049, arrival_rate="1 request/s"))
    assert study.exact("prefill_slot_time") == study.exact("prompt_prefill_time") == step(2112) + step(65)
    assert study.exact("prefill_slot_utilization") == step(2112) + D
