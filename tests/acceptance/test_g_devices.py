"""Several devices: tensor parallelism, links, pipelines, experts apart, prefill apart from decode (systems 5, 44-46)."""

from fractions import Fraction

import numpy as np
import pytest

from symroof.api import Study

from ..near import near
from . import B8, B70, H100, KV, WEIGHTS, case_of, check, rows

LINK = 450 * 10**9
"""An H100's NVLink, one direction."""
NETWORK = 50 * 10**9
"""And its port to other nodes."""
ON = {**B70, **H100, "assume": WEIGHTS}
GROUPS = case_of("model=deepseek-v3 hardware=h200 attention_dp=8 prompt=1000 batch=64")
# 2 all-reduces in each of 80 layers; a decode message is a token of 8192 two-byte numbers; a device sends 2(n-1)/n of it
SENT = 160 * 8192 * 2

ROWS = rows(
    globals(),
    """
decode_link_time  | = 0 | ON
decode_link_time  | = 160*3e-6 + 7/8*2*32*SENT/LINK | ON tp=8 batch=32 link_latency='3 us'
itl               | = 0.14/8/3.35 + 160*3e-6 + 7/8*2*SENT/LINK | ON tp=8 link_latency='3 us'
prefill_link_time | = 4096*SENT/LINK | ON tp=2 prompt=4096
prefill_roofline_time | = 70*4096/989_400 | ON tp=2 prompt=4096
# a step of two stages is two passes of half the layers, each of half the requests; one send between
decode_link_time  | = 8192*2/LINK | ON pp=2
itl               | = 2*70/3350 + 8*8192*2/LINK | ON pp=2 batch=15
fleet_throughput  | = 3*16/(140/3350 + 8*8192*2/LINK) | ON pp=2 dp=3 batch=16
devices           | = 24 | tp=4 pp=2 dp=3
prefill_bound     | link | ON tp=2 prompt=4096 link_bandwidth='10 GB/s'
transfer_time | = 327.68e6/5e10 + 1e-3 | ON prompt=1000 network_bandwidth=5e10 link_latency=0.001
solve min_network_bandwidth_transfer | = 4096*327_680*3350/140 | ON prompt=4096
""",
)


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


# ------------------------------------------------------------------------------------------------------------------ rings


def ring_all_reduce(size):
    """Elements one device of a ring sends until all hold the sum, by doing it: as many parts as devices, one a step."""
    parts = [[10 * device + part for part in range(size)] for device in range(size)]
    expected = [sum(10 * device + part for device in range(size)) for part in range(size)]
    sent = 0
    for reduce in (True, False):
        for step in range(size - 1):
            moving = [(device, (device - step + (not reduce)) % size) for device in range(size)]
            values = {(device, part): parts[device][part] for device, part in moving}
            for (device, part), value in values.items():
                to = (device + 1) % size
                parts[to][part] = parts[to][part] + value if reduce else value
            sent += 1
    assert all(part == expected for part in parts)
    return Fraction(sent, size)


@pytest.mark.parametrize("size", [2, 3, 4, 8])
def test_an_all_reduce_sends_what_a_ring_sends(size):
    study = Study(d_model=8192, **H100, batch=7, tp=size, link_latency="2 us")
    message = 7 * 8192 * 2
    assert study.value("all_reduce_time") == near(
        Fraction(2, 10**6) + ring_all_reduce(size) * message / LINK
    )
    assert study.value("all_gather_time") == near(
        Fraction(2, 10**6) + Fraction(size - 1, size) * message / LINK
    )


@pytest.mark.parametrize("ep", [1, 2, 4])
def test_tokens_go_to_their_experts_and_back(ep):
    """A token goes once to each other device of its two experts; one device sends nothing. Two ways in every expert layer, the way there in 8 bits if asked for;
    the most loaded device takes its share more."""
    asked = {"model": "mixtral-8x7b", **H100, "batch": 4, "ep": ep, "link_latency": "1 us"}
    study = Study(**asked)
    others = Fraction(sum(len({a, b} - {0}) for a in range(ep) for b in range(ep)), ep**2)
    one_way = Fraction(1, 10**6) + others * 4 * 4096 * 2 / LINK if ep > 1 else 0
    assert study.value("all_to_all_time") == near(one_way)
    assert (
        study.value("decode_link_time")
        == study.value("decode_exchange_time")
        == near(2 * 32 * one_way, 1e-12)
    )
    narrow = Study(**asked, dispatch_bytes_per_element="1 byte", expert_imbalance="1.5")
    if ep > 1:
        assert narrow.value("decode_link_time") == near(
            2 * 32 * Fraction(1, 10**6)
            + 32 * Fraction(3, 2) * (one_way - Fraction(1, 10**6)) * Fraction(3, 2)
        )


def test_what_of_an_exchange_runs_beside_the_work():
    """All of it at the bound: the longer hides the shorter. None with measured efficiencies, and what is asked for between."""
    bound = Study(**GROUPS, efficiency="peak")
    work, exchange, link, overhead = (
        bound.value(f"decode_{name}")
        for name in ("roofline_time", "exchange_time", "link_time", "overhead")
    )
    assert bound.value("itl") == work + link - min(work, exchange) + overhead
    half = Study(**GROUPS, exchange_overlap=Fraction(1, 2))
    assert half.value("itl") == work + link - min(work, exchange) / 2 + overhead
    measured = Study(**GROUPS).first.case
    assert measured.value("itl") == sum(
        measured.value(f"decode_{name}") for name in ("roofline_time", "link_time", "overhead")
    )


def test_the_most_loaded_device_multiplies_more_of_the_experts_alone():
    """With experts 1.5 times as loaded as in the mean, half as many FLOPs of routed experts come on top of a device's; totals stay."""
    even, uneven = Study(**GROUPS, efficiency="peak"), Study(**GROUPS, expert_imbalance="1.5")
    routed = 2 * 64 * 58 * 8 * 3 * 7168 * 2048  # tokens, layers, experts, three matrices
    assert (
        uneven.value("decode_flops_per_device") - even.value("decode_flops_per_device")
        == Fraction(routed, 8) / 2
    )
    assert uneven.value("decode_flops") == even.value("decode_flops")


def test_one_group_sends_its_experts_nothing():
    """Each device of a group has all its tokens, as with vLLM's expert parallelism beside tensor parallelism: a layer has the same two all-reduces."""
    cut, whole = (Study("deepseek-v3", "h200", batch=64, tp=8, ep=ep, prompt=1000) for ep in (1, 8))
    assert whole.value("decode_exchange_time") == 0
    assert whole.value("decode_link_time") == cut.value("decode_link_time") > 0


@pytest.mark.parametrize(
    ("batch", "layout"),
    [
        (1, {"tp": 8, "ep": 8}),
        (8, {"tp": 8, "ep": 8}),
        (32, {"tp": 8, "ep": 8}),
        (64, {"attention_dp": 16}),
    ],
)
def test_the_device_with_most_of_the_experts_in_use_reads_more(batch, layout):
    """Each of the tokens chooses 8 of 256 experts at random. What the device reads that holds most of those chosen, over 2,000 drawn steps, is what
    1.5 standard deviations above the mean give; nothing is added where experts are cut, and at the bound."""
    study = {
        "model": "deepseek-v3",
        "hardware": "h200",
        "batch": batch,
        "prompt": 1000,
        "weights": "fp8",
        "efficiency": "peak",
    }
    even, uneven = Study(**study, **layout), Study(**study, **layout, expert_spread="1.5")
    devices = layout.get("ep", layout.get("attention_dp"))
    rng = np.random.default_rng(1)
    chosen = np.zeros((2000, 256), dtype=bool)
    for _ in range(batch):
        np.put_along_axis(chosen, np.argsort(rng.random(chosen.shape), axis=1)[:, :8], True, axis=1)
    held = chosen.reshape(2000, devices, -1).sum(axis=2)
    expert = 58 * 3 * 7168 * 2048  # layers, matrices, bytes
    added = (
        float(uneven.value("decode_bytes_per_device") - even.value("decode_bytes_per_device"))
        / expert
    )
    assert added == pytest.approx((held.max(axis=1) - held.mean(axis=1)).mean(), rel=0.2)
    if "tp" in layout:
        assert Study(**study, tp=8, expert_spread="1.5").value("decode_bytes_per_device") == Study(
            **study, tp=8
        ).value("decode_bytes_per_device")


@pytest.mark.parametrize("devices", [1, 2, 4, 8, 16, 32])
def test_key_heads_are_shared_out_and_copied_beyond_their_number(devices):
    """The fullest device, head by head: device i of n serves query heads i*64/n on, each with its key head."""
    heads = 64 // devices
    held = max(
        len({query // 8 for query in range(device * heads, (device + 1) * heads)})
        for device in range(devices)
    )
    study = Study(**B70, **H100, tp=devices, prompt=4096)
    assert study.value("kv_cache_bytes_per_device") == held * 2 * 80 * 128 * 2 * 4096
    assert study.value("kv_cache_bytes") == 8 * 2 * 80 * 128 * 2 * 4096


# ----------------------------------------------------------------------------------------------- how many devices still help


def step(devices, latency, batch=1):
    """Seconds of a step of the 70B, by hand. Beyond eight devices a ring runs inside each node over the message, and each device
    takes its eighth to the other nodes: of n devices in n/8 nodes all but 8/n of it, twice."""
    beside, message = min(devices, 8), batch * 8192 * 2
    between = Fraction(2 * message, 8) * (1 - Fraction(beside, devices)) / NETWORK
    links = (
        160 * (latency + Fraction(2 * (beside - 1), beside) * message / LINK + between)
        if devices > 1
        else 0
    )
    return Fraction(140, 3350 * devices), links


def permitted(up_to):
    """Numbers of devices that share out eight key heads, one by one: whole heads each, or as many copies of each."""
    return [n for n in range(1, up_to) if not (8 % n and n % 8)]


@pytest.mark.parametrize("microseconds", [1, 5, 50])
def test_links_outweigh_the_work_from_some_number_of_devices_on(microseconds):
    first = next(
        n
        for n in permitted(1000)
        if step(n, Fraction(microseconds, 10**6))[1] >= step(n, Fraction(microseconds, 10**6))[0]
    )
    solution = Study(**ON, link_latency=f"{microseconds} us").solve("devices_link_bound")
    assert solution.integer == {"at_least": first}


def test_every_device_helps_or_none_does():
    """A ring sends hardly more with more devices: over a quick link each shortens the step, over a slow one none does."""
    quick = [sum(step(n, 0)) for n in (2, 3, 8, 64)]
    assert quick == sorted(quick, reverse=True)
    assert Study(**ON).solve("useful_devices_itl").verdict == "lhs_below"
    assert Study(**ON, link_bandwidth="50 MB/s").solve("useful_devices_itl").integer == {
        "at_least": 1
    }


@pytest.mark.parametrize("batch", [1, 8, 32])
def test_devices_divide_so_that_both_phases_keep_pace(batch):
    """Of 1,000 devices: as many prompts read a second as responses written."""
    study = Study(**B8, **H100, prompt=2048, output=200, batch=batch, assume=KV)
    share = study.value("prefill_device_share")
    read = 1000 * share / Fraction(2 * 8_030_000_000 * 2048, 989_400 * 10**9)
    written = (
        1000
        * (1 - share)
        * batch
        / sum(
            Fraction(16_060_000_000 + batch * 131_072 * (2048 + j), 3350 * 10**9)
            for j in range(1, 200)
        )
    )
    assert read == written
