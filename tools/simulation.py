"""Closed forms of a server under load against the server that `symroof simulate` serves requests with, step by step.

``python -m tools.simulation [COUNT]`` draws random deployments of every kind and prints how far the closed forms are off.
"""

import random
import statistics
import sys
from contextlib import suppress

import numpy as np

import symroof as sr

KINDS = {
    "dense": ("llama-3.1-8b", "llama-3.1-70b", "qwen2.5-7b", "phi-4", "mistral-nemo-12b"),
    "experts": ("mixtral-8x7b", "qwen3-30b-a3b", "olmoe-1b-7b", "dbrx"),
    "latent": ("deepseek-v2-lite", "deepseek-v3"),
    "windows": ("gemma-2-9b", "mistral-7b-v0.1", "gpt-oss-20b", "gemma-3-27b"),
    "recurrent": (
        "falcon-mamba-7b",
        "jamba-1.5-mini",
        "granite-4.0-h-small",
        "nemotron-nano-9b-v2",
    ),
    "attention_dp": ("deepseek-v3", "deepseek-v2-lite", "qwen3-30b-a3b", "mixtral-8x7b"),
    "mix": ("llama-3.1-8b", "qwen2.5-7b", "mixtral-8x7b", "gemma-3-27b", "falcon-mamba-7b"),
}
"""The models that are drawn, by kind of deployment."""
DEVICES = ("h100-sxm", "h200", "a100-80gb-sxm", "l40s", "mi300x")
LOADS = (0.3, 0.6, 0.8)
"""Arrival rates over the rate that a closed loop of users gets."""


def deployment(kind, draw):
    """A random deployment that fits: batches of 4 to 256, prompts of 64 to 8,192 tokens, responses of 8 to 512."""
    while True:
        groups = draw.choice((2, 4, 8)) if kind == "attention_dp" else 1
        case = {
            "model": draw.choice(KINDS[kind]), "hardware": draw.choice(DEVICES), "tp": draw.choice((1, 1, 2) if groups > 1 else (1, 2, 4, 8)),
            "batch": round(4 * 2 ** draw.uniform(0, 6)) * groups, "prompt": round(64 * 2 ** draw.uniform(0, 7)), "output": round(8 * 2 ** draw.uniform(0, 6)),
            "mfu": draw.choice((0.5, 0.7, 1)), "mbu": draw.choice((0.7, 0.85, 1)), "step_overhead": draw.choice(("0 s", "1 ms", "4 ms")),
        }  # fmt: skip
        case |= {"attention_dp": groups} if groups > 1 else {}
        case |= (
            {"engine": "vllm"}
            if draw.random() < 0.3
            else {"engine": "ideal", "chunk": draw.choice((256, 512, 1024, 2048, 8192)) * groups}
        )
        if kind == "mix":
            long = round(256 * 2 ** draw.uniform(0, 5)), round(8 * 2 ** draw.uniform(0, 6))
            case |= {
                "long_share": round(draw.uniform(0.05, 0.5), 2),
                "long_prompt": long[0],
                "long_output": long[1],
            }
        longest = {
            **case,
            "prompt": max(case["prompt"], case.get("long_prompt", 0)),
            "output": max(case["output"], case.get("long_output", 0)),
        }
        with suppress(sr.InputError):  # heads that so many devices do not share out
            if not sr.Study(**longest).first.does_not_fit:
                return case


def closed(study, name):
    """A closed form of a study, of the mix where it has one."""
    return float(study.value(("mix_" if "long_share" in study.first.given else "") + name))


def differences(case, loads=LOADS, seed=1, replications=4):
    """How far closed forms are off, as shares: rate and ITL of a closed loop, the longest step of bursts, TTFT and decoding requests at each load."""
    study = sr.Study(**case)
    users = int(study.first.case.value("batch"))
    loop = study.simulate(
        "closed-loop", requests=max(600, 6 * users), seed=seed, replications=replications
    )
    rate = loop.rates["request_rate"][0].value
    off = {
        "rate": closed(study, "sustained_requests") / rate - 1,
        "itl": closed(study, "sustained_itl") / loop.summary["itl"]["mean"].value - 1,
    }
    bursts = sr.Study(**case, arrival_rate=0.7 * rate).simulate(
        "bursty", burstiness=10.0, requests=max(1000, 4 * users), seed=seed
    )
    off["worst"] = closed(study, "worst_itl") / float(bursts.runs[0].gaps.max()) - 1
    for load in loads:
        loaded = sr.Study(**case, arrival_rate=load * rate)
        found = loaded.simulate(
            "poisson",
            requests=max(2000, 10 * users),
            seed=seed + round(100 * load),
            replications=replications,
        )
        decoding = (
            load
            * rate
            * float(
                np.mean(
                    [
                        (run.requests.end - run.requests.first_token)[run.requests.counted].mean()
                        for run in found.runs
                    ]
                )
            )
        )
        off[f"ttft {load}"] = (
            closed(loaded, "loaded_ttft") / found.summary["ttft"]["mean"].value - 1
        )
        off[f"decoding {load}"] = closed(loaded, "steady_batch") / decoding - 1
    return off


FEW = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "engine": "ideal",
    "batch": 16,
    "prompt": 512,
    "output": 200,
    "mfu": 0.6,
    "mbu": 0.8,
    "step_overhead": "1 ms",
}
MANY = {**FEW, "batch": 128, "prompt": 1024, "output": 65, "network_bandwidth": "50 GB/s"}
SERVED = {
    "chunked": {**MANY, "chunk": 512}, "exclusive": MANY, "disaggregated": {**MANY, "prefill_devices": 1},
    "chunked, few slots": {**FEW, "chunk": 512}, "exclusive, few slots": FEW,
}  # fmt: skip
"""The deployments of the page ``serving.md``: with many slots and short responses, and with few and long ones."""


def first_tokens(kind, load):
    """The mean time to first token of one of them, simulated and in closed form, in seconds."""
    case = {**SERVED[kind], "assume": {"scheduling": kind.partition(",")[0]}}
    study = sr.Study(
        **case, arrival_rate=load * float(sr.Study(**case).value("sustained_requests"))
    )
    return study.simulate(requests=6000, replications=4, seed=7).summary["ttft"][
        "mean"
    ].value, closed(study, "loaded_ttft")


def main(count):
    for kind in KINDS:
        draw = random.Random(kind)
        found = [differences(deployment(kind, draw)) for _ in range(count)]
        print(f"{kind}: {count} deployments")
        for name in found[0]:
            values = sorted(off[name] for off in found)
            middle = statistics.median(map(abs, values))
            print(
                f"  {name:13} median {middle:6.1%}, from {values[0]:+7.1%} to {values[-1]:+7.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
