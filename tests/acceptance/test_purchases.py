"""Ten purchases worked out by hand: the batch from bytes, the time of a step from bytes and FLOPs, the replicas from a queue, the price from the devices; and drawn studies against an exhaustive search."""

import itertools
import math
import random

import pytest

from symroof.api import Study
from symroof.select.recommend import recommend
from symroof.simulate.run_simulation import simulate

from ..cli import call
from ..near import passes

GIB, MFU, MBU, SHARE, RESERVE, PRICE = 2**30, 0.6, 0.8, 0.92, 2e9, 3.0
DEVICES = {
    # bytes that a driver shows, bytes/s, FLOP/s of 16-bit and of 8-bit products, bytes/s to another device
    "h100-sxm": (79.647 * GIB, 3.35e12, 989.4e12, 1978.9e12, 450e9),
    "h200": (140.401 * GIB, 4.8e12, 989.4e12, 1978.9e12, 450e9),
    "b200": (179.062 * GIB, 7.7e12, 2.25e15, 4.5e15, 900e9),
    "l40s": (44.988 * GIB, 864e9, 362e12, 733e12, 32e9),
    "a100-80gb-sxm": (80 * GIB, 2.039e12, 312e12, 312e12, 300e9),
}
MODELS = {
    # layers, width, query heads, key and value heads, head, feed-forward, vocabulary
    "llama-3.1-8b": (32, 4096, 32, 8, 128, 14336, 128256),
    "llama-3.3-70b": (80, 8192, 64, 8, 128, 28672, 128256),
}
CASE = {
    "efficiency": "peak",
    "mfu": MFU,
    "mbu": MBU,
    "memory_share": SHARE,
    "memory_reserve": "2 GB",
    "price": "3 USD/hour",
    "assume": {"scheduling": "chunked"},
}
ROWS = [
    # model, weights, prompt, output, chunk, requests/s, targets -> device, devices, tp, batch
    ("llama-3.1-8b", "fp16", 2048, 300, 2048, 60, {}, "h100-sxm", 4, 2, 446),
    ("llama-3.1-8b", "fp16", 1024, 256, 1024, 20, {}, "l40s", 3, 1, 157),
    ("llama-3.1-8b", "fp16", 1000, 1000, 1000, 40, {}, "h200", 3, 1, 460),
    ("llama-3.3-70b", "fp8", 1500, 300, 1500, 20, {}, "h100-sxm", 6, 2, 140),
    ("llama-3.3-70b", "fp8", 1500, 300, 1500, 40, {}, "b200", 5, 1, 176),
    ("llama-3.3-70b", "fp16", 4000, 200, 2000, 5, {}, "h200", 6, 2, 96),
    ("llama-3.1-8b", "fp16", 512, 512, 512, 100, {}, "h200", 3, 1, 899),
    ("llama-3.1-8b", "fp16", 8000, 100, 4000, 10, {"ttft": "2 s"}, "a100-80gb-sxm", 9, 1, 57),
    ("llama-3.1-8b", "fp16", 2048, 300, 512, 30, {"itl": "20 ms"}, "h100-sxm", 2, 1, 168),
    ("llama-3.1-8b", "fp16", 2048, 300, 2048, 25, {"itl": "50 ms"}, "b200", 1, 1, None),
]


def matrices(model):
    """Parameters of the matrices of all layers, and of the head."""
    layers, width, heads, kv, head, ff, vocabulary = MODELS[model]
    return layers * (width * head * (2 * heads + 2 * kv) + 3 * width * ff), width * vocabulary


def room(model, weights, device, tp, tokens):
    """Requests that memory holds: what the share leaves beside the weights and the reserve, over a cache of all tokens but the last, which nothing is read for."""
    layers, _, _, kv, head, _, _ = MODELS[model]
    inner, outer = matrices(model)
    width = 1 if weights == "fp8" else 2
    stored = (inner + 2 * outer) * width
    cache = 2 * 2 * layers * kv * head * (tokens - 1)
    return math.floor((SHARE * DEVICES[device][0] - RESERVE - stored / tp) / (cache / tp))


def rate(model, weights, device, tp, prompt, output, chunk, batch):
    """Requests a second of one replica with every slot taken: a request decodes for ``output - 1`` steps and is read in chunks, at most one a step."""
    layers, width, heads, kv, head, _, _ = MODELS[model]
    _, bandwidth, wide, narrow, link = DEVICES[device]
    inner, outer = matrices(model)
    steps, chunks = output - 1, math.ceil(prompt / chunk)
    reading = min(1.0, batch * chunks / (steps + chunks))
    decoding = reading * steps / chunks
    context = prompt + output / 2
    cached = 4 * layers * kv * head * decoding * context

    def step(new):
        tokens = decoding + new
        seen = decoding * context + new * prompt / 2
        products = 2 * inner * tokens / (narrow if weights == "fp8" else wide)
        flops = products + (2 * outer * decoding + 4 * layers * heads * head * seen) / wide
        stored = (inner + outer) * (1 if weights == "fp8" else 2)
        moved = layers * tokens * 2 * (10 * width + 4 * heads * head)  # between operators
        shared = 2 * layers * 2 * (tp - 1) / tp * tokens * width * 2 / link if tp > 1 else 0
        busy = max(flops / tp / MFU, (stored + cached + moved) / tp / bandwidth / MBU)
        return busy + shared

    mean = (1 - reading) * step(0) + reading * step(min(chunk, prompt))
    return reading / chunks / mean


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} on {row[7]}")
def test_a_purchase_by_hand(row):
    model, weights, prompt, output, chunk, arriving, targets, device, devices, tp, batch = row
    asked = {"model": model, "weights": weights, "hardware": device, "prompt": prompt}
    asked |= {"output": output, "chunk": chunk, "arrival_rate": arriving, "targets": targets}
    pick = recommend(Study(**CASE, **asked)).pick
    assert (pick.devices, pick.parallel["tp"], pick.scheduling) == (devices, tp, "chunked")
    assert batch is None or pick.batch == batch
    assert pick.usd_per_hour == pytest.approx(PRICE * devices)
    assert pick.usd_per_month == pytest.approx(PRICE * devices * 730)
    # bytes: no more than memory holds, and without targets as many
    most = room(model, weights, device, tp, prompt + output)
    assert pick.batch <= most and (targets or pick.batch == most)
    # FLOPs, bytes and the queue: the replicas keep up, and one less does not, unless a target asks for more
    own = rate(model, weights, device, tp, prompt, output, chunk, pick.batch)
    needed = arriving / own
    assert needed < pick.replicas * 1.08
    if not targets:
        assert needed > (pick.replicas - 1) * 0.92


DRAWN = 3


def drawn(seed):
    """A study at random: rates or none, dense or with experts, one or two devices."""
    draw = random.Random(seed)
    case = {
        "model": draw.choice(["llama-3.1-8b", "qwen3-30b-a3b", "llama-3.3-70b"]),
        "hardware": draw.sample(["h100-sxm", "h200", "b200", "mi300x"], 2),
        "weights": draw.choice(["bf16", "fp8"]),
        "prompt": draw.choice([500, 1500, 4000]),
        "output": draw.choice([100, 300]),
        "targets": {"itl": draw.choice([0.03, 0.05]), "ttft": draw.choice([1, 3])},
    }
    if draw.random() < 0.7:
        case["arrival_rate"] = draw.choice([5, 20])
    return case


@pytest.mark.full
@pytest.mark.parametrize("seed", range(DRAWN))
def test_nothing_cheaper_passes_on_the_grid_of_candidates(seed):
    """Every layout, chunk and a batch of every size is bound on its own; what is named passes at the slow end, and nothing that passes costs less."""
    case = drawn(seed)
    pick = recommend(Study(**case)).pick
    assert pick is None or passes(pick.case)
    dearest = math.inf if pick is None else price_of(pick.case)
    for device, tp, chunk in itertools.product(case["hardware"], (1, 2, 4, 8), (256, 1024, 4096)):
        one = {**case, "hardware": device, "tp": tp, "chunk": chunk}
        (found,) = recommend(Study(**one)).choice.configurations
        if found.state != "passes":
            continue
        for batch in {max(1, found.batch * n // 4) for n in (1, 2, 3, 4)}:
            for copies in {found.copies, found.copies - 1} - {0}:
                made = Study(**one, batch=batch, dp=copies).first
                assert passes(made) is not True or price_of(made) >= dearest * 0.994


def price_of(case):
    """What purchases are compared by."""
    name = "fleet_price" if "arrival_rate" in case.given else "cost_per_mtok"
    return float(case.case.value(name))


KINDS = {
    # dense, with experts, with latent attention; a rate or none; means and a percentile
    "llama-3.1-8b": (4, 40),
    "qwen3-30b-a3b": (5, 20),
    "deepseek-v2-lite": (5, 30),
    "llama-3.3-70b": (2, 10),
}


def asked(seed):
    """A study at random, as Python takes it and as options."""
    draw, model = random.Random(1000 + seed), list(KINDS)[seed % len(KINDS)]
    case = {"prompt": draw.choice([500, 1500, 4000]), "output": draw.choice([100, 300])}
    tail = "p99 " if seed % 8 == 5 else ""
    targets = {"itl": f"{draw.choice([30, 50, 80])} ms", "ttft": f"{tail}{draw.choice([1, 3])} s"}
    users = seed % 3 == 1  # so many at once, whatever they wait for
    if users:
        targets, case["batch"] = {}, draw.choice([8, 32])
    options = [f"--{name}={value}" for name, value in case.items()]
    options += [f"--target={name}={limit}" for name, limit in targets.items()]
    if not users and draw.random() < 0.6:
        case["arrival_rate"] = draw.choice(KINDS[model])
        options.append(f"--set=arrival_rate={case['arrival_rate']}/s")
    devices = draw.sample(["h100-sxm", "h200", "b200", "mi300x", "l40s"], draw.choice([1, 2]))
    return Study(model, devices, targets=targets, **case), model, devices, options


NAMED = ("hardware", "devices", "batch", "chunk", "replicas", "usd_per_month", "parallel")


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", [3, 0, 1, 2])
def test_every_command_names_the_same_purchase(seed):
    """`select`, `report`, Python, and the advice for the line that starts it; and it passes when it is bound and simulated."""
    study, model, devices, options = asked(seed)
    line = [f"--model={model}", *(f"--hardware={name}" for name in devices), *options]
    chosen = call("select", *line, "--json").json["recommendation"]
    reviewed = call("report", *line, "--format=json", "-o", "-").json
    assert reviewed["recommendation"] == chosen
    pick = recommend(study).pick
    assert (pick is None) == (chosen is None)
    if pick is None:
        return
    found = pick.as_json()
    assert {name: found[name] for name in NAMED} == {name: chosen[name] for name in NAMED}
    assert passes(pick.case) is not False
    if pick.scheduling != "chunked":
        return
    if pick.load is not None:
        assert not simulate(pick.case, requests=200).requests.refused.any()
    served = call("vllm", chosen["command"], f"--hardware={pick.hardware}", *options, "--json")
    advised = served.json["recommendation"]
    assert {name: advised[name] for name in NAMED} == {name: chosen[name] for name in NAMED}
