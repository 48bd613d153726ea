"""Layouts, copies and breaking points under load: against plain walks over batches, and the arithmetic of a server by hand."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.select.selection import select

from ..near import near
from ..tables import case_of

CASE = case_of(
    "model=llama-3.1-8b prompt=2048 output=300 chunk=2048 memory_share=0.92 efficiency=peak"
)
TARGETS = {"ttft": "500 ms", "itl": "50 ms"}


def by_layout(choice):
    return {(int(c.case.case.value("tp")), c.copies): c for c in choice}


@pytest.fixture(scope="module")
def four():
    return [
        select(**CASE, hardware="h100-sxm", targets=TARGETS, tp=tp, dp=4 // tp).configurations[0]
        for tp in (1, 2, 4)
    ]


def step(tp, tokens, batch, past, rows):
    """Time of a step by hand: matrices over tokens, attention over what each token sees, weights and cache read once, two all-reduces a layer."""
    layers, width, heads, kv, head, ff, vocabulary = 32, 4096, 32, 8, 128, 14336, 128256
    matrices = layers * (width * head * (2 * heads + 2 * kv) + 3 * width * ff)
    seen = batch * (2048 + 150) + sum(past + i + 1 for i in range(tokens - batch))
    flops = 2 * matrices * tokens + 2 * width * vocabulary * rows + 4 * layers * heads * head * seen
    cached = batch * (2048 + 150) + (past + tokens - batch if tokens > batch else 0)
    attention = 2 * (width + (2 * kv + heads) * head) + 2 * (heads * head + width)
    vectors = attention + 4 * heads * head + 2 * (width + 2 * ff) + 2 * (ff + width)
    moved = tokens * layers * vectors
    bytes_ = 2 * (matrices + width * vocabulary) + 4 * layers * kv * head * cached + moved
    link = 2 * layers * 2 * (tp - 1) / tp * tokens * width * 2 / 450e9
    return max(flops / tp / 989.4e12, bytes_ / tp / 3.35e12) + link


def test_the_three_layouts_stand_in_the_order_of_a_server_that_is_worked_out_by_hand(four):
    """A slot turns over every 299 steps; each turn takes one whole prompt along, and one prompt's step lasts longer than a plain one."""
    held, by_hand = by_layout(four), {}
    for tp in (1, 2, 4):
        batch = held[tp, 4 // tp].batch
        # the budget of 2,048 reads one prompt a step, so as many decode as a turn has steps
        decoding = min(batch, 299)
        plain = step(tp, decoding, decoding, 0, decoding)
        mixed = step(tp, decoding + 2048, decoding, 0, decoding + 1)
        by_hand[tp] = 4 // tp * decoding / (299 * (plain + decoding / 299 * (mixed - plain)))
    runs = {tp: held[tp, 4 // tp] for tp in (1, 2, 4)}
    engine = {tp: run.copies * run.result("sustained_requests").value for tp, run in runs.items()}
    assert sorted(engine, key=engine.get) == sorted(by_hand, key=by_hand.get) == [4, 1, 2]
    assert engine == pytest.approx(by_hand, rel=0.05)


def test_a_fleet_that_does_not_keep_up_fails_and_says_so():
    (c,) = select(
        **CASE, hardware="h100-sxm", tp=1, dp=2, targets=TARGETS, arrival_rate=100
    ).configurations
    assert c.state == "fails" and "load" in c.missed


@pytest.mark.parametrize("scheduling", ["chunked", "disaggregated"])
def test_what_does_not_keep_up_is_judged_at_the_largest_batch_that_its_latencies_allow(scheduling):
    """Not at one request: what it lacks is what the fullest server lacks."""
    case = case_of("model=llama-3.1-8b hardware=h100-sxm prompt=2048 output=300 efficiency=peak")
    case |= {"prefill_devices": 1} if scheduling == "disaggregated" else {"chunk": 2048}
    case |= {"assume": {"scheduling": scheduling}}
    asked = {"arrival_rate": "400 request/s", "targets": {"itl": "20 ms"}}
    study = Study(**case, dp=1, tp=1, **asked)
    (judged,) = select(study).configurations
    batch = judged.batch
    here, beyond = (Study(**case, batch=b).value("sustained_itl") for b in (batch, batch + 1))
    assert judged.state != "passes"
    assert here <= Fraction(1, 50)
    assert beyond > Fraction(1, 50) or batch + 1 > study.value("concurrency")


@pytest.mark.full
def test_fast_prefills_beside_a_slow_decode_are_judged_where_prefills_have_devices_of_their_own():
    """They keep more requests decoding than slow ones, so the slow end of all efficiencies is not the worst."""
    target = Fraction(1, 20)
    case = case_of(
        "model=llama-3.3-70b hardware=mi300x weights=fp8 activations=fp8 kv=fp8 prompt=3000 "
        "output=400 arrival_rate='20 request/s' scheduling=disaggregated"
    )
    more = {"targets": {"itl": "50 ms"}, "among": {"tp": "1,2"}}
    apart = [c for n in (2, 4, 6) for c in select(**case, prefill_devices=n, **more).passing]
    assert len(apart) > 1
    ahead = 0
    for one in apart:
        here, batch = one.case, one.batch
        now, more = (
            [corner.changed({"batch": Fraction(n)}) for corner in here.corners]
            for n in (batch, batch + 1)
        )
        slowest, beyond = (max(c.value("sustained_itl") for c in some) for some in (now, more))
        assert slowest <= target, (one.changes, batch)
        assert beyond > target or not all(corner.value("fits") for corner in more)
        slow_end = here.slow_end.case.changed({"batch": Fraction(batch)})
        ahead += slowest > slow_end.value("sustained_itl")
    assert ahead, "in one of them at least another corner is the worst"


RANGED = case_of(
    "model=llama-3.1-8b hardware=h100-sxm prompt=2048 output=300 arrival_rate='50 request/s' "
    "chunk=2048 tp=1 efficiency=peak price='4.29 USD/hour'"
)


@pytest.fixture(scope="module")
def ranged():
    targets = {"itl": "50 ms", "fleet_price": "40 USD/hour"}
    return select(**RANGED, mfu="0.4..0.6", mbu="0.7..0.9", targets=targets).configurations[0]


def test_copies_over_ranges_bear_the_rate_at_every_corner(ranged):
    """Each corner bound anew: every one bears it with these copies and this batch, the slowest not with one copy less."""

    def load(mfu, mbu, copies):
        layout = {"batch": ranged.batch, "dp": copies, "memory_share": 0.92}
        return Study(**RANGED, mfu=mfu, mbu=mbu, **layout).value("load")

    corners = [(mfu, mbu) for mfu in (0.4, 0.6) for mbu in (0.7, 0.9)]
    assert ranged.copies > 1
    assert all(load(*corner, ranged.copies) < 1 for corner in corners)
    assert load(0.4, 0.7, ranged.copies - 1) >= 1


def test_the_budget_is_of_all_copies(ranged):
    """4.29 USD an hour for each H100."""
    copies = ranged.copies
    assert ranged.result("fleet_price").value == near(429 / 360_000 * copies)
    assert (ranged.state == "passes") is (429 * copies <= 4000)
    targets = {"itl": "50 ms", "fleet_price": "9 USD/hour"}
    dear = select(**RANGED, mfu="0.4..0.6", mbu="0.7..0.9", targets=targets).configurations[0]
    assert (dear.copies, dear.missed) == (copies, ("fleet_price",))


@pytest.mark.sample(1)
@pytest.mark.parametrize("load", [0.5, 0.95])
def test_a_wait_for_a_slot_is_a_part_of_the_time_that_the_target_is_compared_with(load):
    """Sixteen slots for 199 steps each: at 95 % of what they sustain requests wait for a slot longer than for all else."""
    case = case_of(
        "model=llama-3.1-8b hardware=h100-sxm batch=16 prompt=512 output=200 chunk=512 tp=1 "
        "efficiency=peak"
    )
    case["arrival_rate"] = load * float(Study(**case).value("sustained_requests"))
    answers = Study(**case)
    wait, whole = (float(answers.value(name)) for name in ("admission_wait", "loaded_ttft"))
    assert (wait > whole / 2) is (load > 0.9)
    states = [
        select(**case, targets={"ttft": whole + change * wait}, dp=1).configurations[0].state
        for change in (-0.5, 0.5)
    ]
    assert states == ["fails", "passes"]


def test_one_request_waits_for_no_prompt_of_others():
    """Its longest step is a step without prompts, at every length of a prompt; a second request brings one."""
    for prompt in (100, 1024, 100_000):
        alone, both = (
            Study("llama-3.1-8b", "h100-sxm", prompt=prompt, output=200, chunk=512, batch=batch)
            for batch in (1, 2)
        )
        assert alone.value("worst_itl") == alone.value("loaded_decode_time")
        assert both.value("worst_itl") > both.value("loaded_decode_time")
