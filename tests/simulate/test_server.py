"""The server against times by hand, against a loop over requests, against queueing theory, and against the closed forms."""

import heapq

import numpy as np
import pytest

import symroof as sr
from symroof.simulate.server import Rules, Server
from symroof.simulate.step_cost import StepCost
from symroof.simulate.workload import Workload

from ..near import near
from ..tables import case_of
from . import by_hand, write_trace

LLAMA = {"model": "llama-3-8b", "hardware": "h100-sxm", "engine": "ideal"}
SMALL = LLAMA | {"prompt": 1000, "output": 2, "batch": 64, "chunk": 4096, "mem_capacity": "18 GB"}
SERVICE = LLAMA | {"prompt": 600, "batch": 16, "chunk": 512, "arrival_rate": 9}
PAIR = [(0, 4, 3), (0, 10, 3), (0.025, 2, 1)]


def test_three_requests_by_hand(tmp_path):
    """2 ms a token, a budget of 10 tokens, places for two.

    0 ms: A (4 tokens) and 6 of B's 10. 20 ms: A's first token; A decodes, 4 more of B: 5 tokens, to 30 ms: A's second, B's first token.
    A and B decode, to 34 ms: A has its third token and ends; C waits since 25 ms: B decodes and C (2 tokens), to 40 ms: B's third token, C's
    first and only one.
    """
    trace = write_trace(tmp_path, PAIR)
    found = by_hand().simulate(trace=trace)
    table = found.requests
    assert table.first_token.tolist() == pytest.approx([0.020, 0.030, 0.040])
    assert table.end.tolist() == pytest.approx([0.034, 0.040, 0.040])
    assert table.start.tolist() == pytest.approx([0, 0, 0.034])
    assert sorted(zip(found.gaps.round(6).tolist(), found.counts.tolist(), strict=True)) == [
        (0.004, 2),
        (0.006, 1),
        (0.01, 1),
    ]
    assert found.summary["ttft"]["mean"] == pytest.approx((20 + 30 + 15) / 3000)
    assert found.summary["itl"]["p50"] == pytest.approx(0.004)
    assert (found.makespan, found.busy, found.prefilling) == pytest.approx((0.040, 1, 0.9))


def test_prompts_first_by_hand(tmp_path):
    """Prefills stop the decode: A to 8 ms, B to 28 ms, both decode to 32 and 36 ms; C waited for a place, to 40 ms."""
    trace = write_trace(tmp_path, PAIR)
    found = by_hand("exclusive").simulate(trace=trace)
    assert found.requests.first_token.tolist() == pytest.approx([0.008, 0.028, 0.040])
    assert found.requests.end.tolist() == pytest.approx([0.036, 0.036, 0.040])
    # A's second token comes 24 ms after its first, B's 4 ms
    assert sorted(zip(found.gaps.round(6).tolist(), found.counts.tolist(), strict=True)) == [
        (0.004, 1),
        (0.004, 2),
        (0.024, 1),
    ]


def test_disaggregated_by_hand(tmp_path):
    """A is prefilled to 8 ms, B to 28 ms, C to 32 ms; A decodes alone, 2 ms a step, to 12 ms."""
    trace = write_trace(tmp_path, PAIR)
    found = by_hand("disaggregated", prefill_devices=1).simulate(trace=trace)
    assert found.requests.first_token.tolist() == pytest.approx([0.008, 0.028, 0.032])
    assert found.requests.end.tolist() == pytest.approx([0.012, 0.032, 0.032])
    assert any("transfers of caches take no time" in text for text in found.says)
    both = by_hand("disaggregated", prefill_devices=2).simulate(trace=trace)
    assert both.requests.first_token.tolist() == pytest.approx([0.008, 0.020, 0.029])


@pytest.mark.parametrize(("copies", "instances"), [(6, 1), (2, 3)])
def test_instances_that_prefill_are_shared_by_all_that_decode(copies, instances):
    """Against a queue of all prompts of the service, one of which in so many goes to the instance that is simulated."""
    case = LLAMA | {"prompt": 3000, "output": 40, "batch": 256, "dp": copies}
    case |= {"prefill_devices": instances, "assume": {"scheduling": "disaggregated"}}
    service = sr.Study(**case, arrival_rate=1).first.case.value("service_time")
    rate = 0.85 * copies * instances / service
    found = sr.Study(**case, arrival_rate=rate).simulate(requests=20_000).requests
    free, waits = [0.0] * (copies * instances), []
    for arrival in np.random.default_rng(1).exponential(1 / rate, 120_000).cumsum().tolist():
        start = max(arrival, free[0])
        heapq.heapreplace(free, start + service)
        waits.append(start - arrival)
    seen = found.first_token - found.arrival
    ours = seen - seen.min()
    assert ours.mean() == pytest.approx(np.mean(waits), rel=0.1)
    assert np.quantile(ours, 0.99) == pytest.approx(np.quantile(waits, 0.99), rel=0.15)


def test_cached_tokens_are_not_computed(tmp_path):
    rows = [(0, 10, 1, 6), (1, 10, 1, 10)]
    found = by_hand().simulate(
        trace=write_trace(tmp_path, rows, head="arrival,prompt,output,cached_prefix")
    )
    assert (found.requests.first_token - found.requests.arrival).tolist() == pytest.approx(
        [0.008, 0.002]
    )  # one token is always computed


def most_at_once(found):
    """The most requests that are in service together."""
    table = found.requests[~found.requests.refused]
    return max(np.sum((table.start <= t) & (table.end > t)) for t in table.start)


def test_what_no_memory_holds_is_refused_and_others_wait_for_room(tmp_path):
    study = sr.Study(**SMALL)
    held = int(study.value("concurrency"))
    found = study.simulate(
        trace=write_trace(tmp_path, [(0, 10_000_000, 2), *[(0, 1000, 200)] * 40])
    )
    assert found.requests.refused.tolist() == [True] + [False] * 40
    assert found.missed
    assert "refused" in found.warnings[0]
    assert most_at_once(found) <= held


def test_a_run_ends_where_its_last_request_is_refused_or_has_no_decode(tmp_path):
    study = sr.Study(**SMALL)
    found = study.simulate(trace=write_trace(tmp_path, [(0, 100, 2), (5, 10_000_000, 2)]))
    assert found.requests.refused.tolist() == [False, True]
    assert found.makespan == 5
    alone = study.simulate(trace=write_trace(tmp_path, [(0, 10_000_000, 2)]))
    assert alone.requests.refused.all()
    assert alone.missed
    assert "-" in repr(alone)
    ended = by_hand("disaggregated", prefill_devices=1).simulate(
        trace=write_trace(tmp_path, [(0, 10, 1), (0, 10, 1)])
    )
    assert ended.makespan == pytest.approx(0.04)


# ------------------------------------------------------------------------------------------------------- other servers


def by_requests(cost, batch, budget, work):
    """When requests have their first and last token, by a loop over every request in every step."""
    clock, came, waiting, running = 0.0, 0, [], []
    first, last, read, written = {}, {}, {}, {}
    while len(last) < len(work):
        while came < len(work) and work.arrival[came] <= clock:
            waiting.append(came)
            came += 1
        decoding = [i for i in running if i in first]
        left, pieces = budget - len(decoding), []
        for i in [i for i in running if i not in first] + waiting[:]:
            if left <= 0 or (i in waiting and len(running) >= batch):
                break
            if i in waiting:
                waiting.remove(i)
                running.append(i)
                read[i] = int(work.cached[i])
            taken = min(left, int(work.prompt[i]) - read[i])
            pieces.append((i, taken))
            left -= taken
        if not decoding and not pieces:
            clock = work.arrival[came]
            continue
        read_now = [
            cost.of_piece(n, read[i], float(read[i] + n == work.prompt[i])) for i, n in pieces
        ]
        written_now = [cost.of_token(int(work.prompt[i]) + written[i] + 1) for i in decoding]
        prompts = np.sum(read_now or [cost.nothing], axis=0)
        tokens = np.sum(written_now or [cost.nothing], axis=0)
        clock += cost.slowest([prompts], [tokens], [len(decoding)])
        for i in decoding:
            written[i] += 1
        for i, n in pieces:
            read[i] += n
            if read[i] == work.prompt[i]:
                first[i], written[i] = clock, 0
        for i in [i for i in running if i in first and written[i] >= work.output[i] - 1]:
            last[i] = clock
            running.remove(i)
    return [first[i] for i in range(len(work))], [last[i] for i in range(len(work))]


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    "model", ["llama-3-8b", "gpt-oss-20b", "llama-4-scout", "deepseek-v2-lite"]
)
@pytest.mark.parametrize("rate", [5, 60])
def test_sums_over_a_batch_are_a_loop_over_its_requests(model, rate):
    case = case_of("hardware=h200 engine=ideal prompt=100 step_overhead='1 ms'")
    case |= {"model": model, "tp": 8 if model == "llama-4-scout" else 1}
    cost = StepCost(sr.Study(**case).first.case)
    random_ = np.random.default_rng(rate)
    count = 60
    arrival = np.cumsum(random_.exponential(1 / rate, count))
    prompts = random_.integers(1, 900, count) + random_.integers(0, 2, count) * 7800
    outputs, cached = random_.integers(1, 300, count), random_.integers(0, 500, count)
    work = Workload(arrival, prompts, outputs, np.minimum(cached, prompts - 1))
    server = Server(cost, Rules(12, 300), work)
    server.run(count)
    first, last = by_requests(cost, 12, 300, work)
    assert server.first == pytest.approx(first, rel=1e-9)
    assert server.ended == pytest.approx(last, rel=1e-9)
    assert server.gaps.arrays()[1].sum() == (work.output - 1).sum()


def test_groups_split_requests_and_wait_for_the_slowest(tmp_path):
    case = case_of(
        "model=deepseek-v2-lite hardware=h200 engine=ideal attention_dp=4 prompt=1000 output=65 "
        "batch=32 chunk=2048"
    )
    study = sr.Study(**case)
    trace = write_trace(tmp_path, [(i / 500, 1000, 65) for i in range(200)])
    found = study.simulate(trace=trace)
    assert most_at_once(found) == 32
    assert found.counts.sum() == (found.requests.output - 1).sum()
    cost = StepCost(study.first.case)
    alone = study.simulate(
        trace=write_trace(tmp_path, [(0, 500, 1), (0, 400, 1)])
    ).requests  # one prompt each of two groups
    pieces = [cost.of_piece(n, 0, 1.0) for n in (500, 400)] + [cost.nothing] * 2
    assert alone.first_token.tolist() == pytest.approx(
        [cost.slowest(pieces, [cost.nothing] * 4, [0] * 4)] * 2
    )


# ---------------------------------------------------------------------------------------------------- queueing theory


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheduling", ["exclusive", "disaggregated"])
@pytest.mark.parametrize(("output", "spread"), [("fixed", 0), ("exponential", 1)])
def test_a_server_that_only_prefills_waits_as_pollaczek_and_khinchine_say(
    scheduling, output, spread
):
    """W = (1 + v)/2·ρ·s/(1 - ρ): prompts of 100 tokens at 2 ms each, a load of 0.6."""
    study = by_hand(scheduling, prompt=100, output=1, batch=1, prefill_devices=1, arrival_rate=3)
    lengths = {"prompt": f"{output}:100", "output": "1"}
    runs = [study.simulate("poisson", requests=8000, seed=5 + i, lengths=lengths) for i in range(4)]
    waits = [found.summary["queue_wait"]["mean"] for found in runs]
    drawn = np.concatenate([found.requests.prompt for found in runs]) * 0.002
    load = 3 * drawn.mean()
    exact = 3 * (drawn**2).mean() / (2 * (1 - load))
    assert load == pytest.approx(0.6, rel=0.03)
    assert (drawn**2).mean() / drawn.mean() ** 2 == pytest.approx(1 + spread, rel=0.1)
    assert abs(np.mean(waits) - exact) < max(3 * np.std(waits), 0.05 * exact)


def test_a_server_works_whenever_somebody_is_there():
    study = sr.Study(**SERVICE, output=100, mfu=0.5)
    found = study.simulate("burst", requests=1500, seed=2)
    table = found.requests
    spans = sorted(zip(table.arrival, table.end, strict=True))
    present, end = 0.0, 0.0
    for start, stop in spans:
        present += max(0.0, stop - max(start, end))
        end = max(end, stop)
    assert found.busy * found.makespan == pytest.approx(present, rel=1e-6)
    assert (table.start >= table.arrival).all()
    assert (table.first_token > table.start).all()


def test_what_would_take_hours_is_refused(tmp_path):
    for prompt, output in ((10, 10_000_000), (10_000_000, 10)):
        with pytest.raises(sr.InputError, match="more than can be simulated"):
            by_hand().simulate(trace=write_trace(tmp_path, [(0, prompt, output)] * 1001))


def test_draws_follow_the_seed():
    study = sr.Study(**SERVICE, output=30)
    one, same, other = (study.simulate(requests=200, seed=seed) for seed in (4, 4, 5))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_times_between_tokens_that_are_merged_keep_their_mean(monkeypatch):
    study = sr.Study(**SERVICE, output=90)
    plain = study.simulate(requests=300, seed=4)
    monkeypatch.setattr("symroof.simulate.simulation.MOST_GAPS", 200)
    merged = study.simulate(requests=300, seed=4)
    for name, value in plain.summary["itl"].items():
        assert merged.summary["itl"][name] == pytest.approx(
            value, rel=1e-12 if name == "mean" else 1e-3
        )
    assert len(merged.gaps) < len(plain.gaps)


def test_instances_that_share_one_that_prefills_queue_for_it():
    """Two that decode and one that prefills, busy for 60 % of the time: the mean wait of an M/D/1 queue of all prompts, and no longer prefill."""
    case = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal prompt=4096 output=1")
    work = float(sr.Study(**case).value("prefill_time"))
    study = sr.Study(**case, batch=8, dp=2, prefill={"instances": 1}, arrival_rate=0.6 / work)
    found = study.simulate(requests=20_000)
    waited = found.requests.first_token - found.requests.arrival
    alone = work + float(study.value("transfer_time"))
    assert min(waited) == pytest.approx(alone)
    assert waited.mean() - alone == pytest.approx(0.6 * work / (2 * 0.4), rel=0.08)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "server",
    [
        "batch=16 chunk=2048",
        "batch=64 chunk=512 output=100",
        "batch=32 scheduling=exclusive",
        "batch=32 scheduling=disaggregated prefill_devices=1",
        "model=deepseek-v3 hardware=h200 attention_dp=8 weights=fp8 batch=128 chunk=16384",
    ],
)
@pytest.mark.parametrize(
    "drafts",
    [
        "draft_tokens=1 acceptance=0.8 draft_cost=0.05",
        "draft_tokens=3 tokens_per_verify=2.4 draft_cost=0.02",
    ],
)
def test_drafts_as_in_the_closed_forms(server, drafts):
    """Steps that verify several tokens of a request and gain some of them: rates and times between tokens are those of the formulas."""
    case = case_of("model=llama-3.1-8b hardware=h100-sxm prompt=1024 output=300 efficiency=peak")
    case |= case_of(server)
    study = sr.Study(**case | case_of(drafts))
    found = study.simulate(requests=3000)
    assert found.rates["request_rate"][0] == near(study.value("sustained_requests"), 0.03)
    assert found.summary["itl"]["mean"] == near(study.value("sustained_itl"), 0.03)
    assert study.value("sustained_itl") != sr.Study(**case).value("sustained_itl")


def test_a_context_of_drafts_may_stop_between_the_last_tokens_of_a_window():
    """99 + 1 + 16 steps of 1.7 tokens are 127.2, in a window of 128: a response goes on from there."""
    case = case_of("model=gpt-oss-20b hardware=h100-sxm prompt=99 output=60 batch=2 chunk=512")
    drafts = case_of("draft_tokens=1 acceptance=0.7 draft_cost=0.1 arrival_rate=5")
    found = sr.Study(**case | drafts).simulate(requests=50)
    assert not np.isnan(found.requests.end).any()
