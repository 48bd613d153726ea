"""Closed forms of a server under load against the server that `symroof simulate` serves requests with, step by step.

``python -m tools.simulation [COUNT]`` prints how far the closed forms of so many drawn deployments of each kind are off, with every slot taken and at four loads.
"""

import random
import sys
from contextlib import suppress
from statistics import fmean

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
    "exclusive": ("llama-3.1-8b", "mistral-nemo-12b", "qwen3-30b-a3b"),
    "disaggregated": ("llama-3.1-8b", "mistral-nemo-12b", "qwen3-30b-a3b"),
    "mix": ("llama-3.1-8b", "qwen2.5-7b", "mixtral-8x7b", "gemma-3-27b", "falcon-mamba-7b"),
}
"""The models that are drawn, by kind of deployment."""
DEVICES = ("h100-sxm", "h200", "a100-80gb-sxm", "l40s", "mi300x")


def deployment(kind, draw):
    """A random deployment that fits: batches of 4 to 256, prompts of 64 to 8,192 tokens, responses of 8 to 512."""
    while True:
        groups = draw.choice((2, 4, 8)) if kind == "attention_dp" else 1
        case = {
            "model": draw.choice(KINDS[kind]),
            "hardware": draw.choice(DEVICES),
            "tp": draw.choice((1, 1, 2) if groups > 1 else (1, 2, 4, 8)),
            "batch": round(4 * 2 ** draw.uniform(0, 6)) * groups,
            "prompt": round(64 * 2 ** draw.uniform(0, 7)),
            "output": round(8 * 2 ** draw.uniform(0, 6)),
            "mfu": draw.choice((0.5, 0.7, 1)),
            "mbu": draw.choice((0.7, 0.85, 1)),
            "step_overhead": draw.choice(("0 s", "1 ms", "4 ms")),
        }
        case |= {"attention_dp": groups} if groups > 1 else {}
        if kind in ("exclusive", "disaggregated"):
            case |= {"engine": "ideal", "assume": {"scheduling": kind}}
            if kind == "disaggregated":
                case |= {"prefill_devices": case["tp"], "network_bandwidth": "50 GB/s"}
        elif draw.random() < 0.3:
            case |= {"engine": "vllm"}
        else:
            chunk = draw.choice((256, 512, 1024, 2048, 8192)) * groups
            case |= {"engine": "ideal", "chunk": chunk}
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


def differences(case, seed=1, runs=4):
    """How far closed forms are off, as shares: rate and ITL of a closed loop, the longest step of bursts."""
    study = sr.Study(**case)
    requests = max(600, 6 * int(study.first.case.value("batch")))
    loops = [study.simulate("closed-loop", requests, seed + i) for i in range(runs)]
    rate = fmean(loop.rates["request_rate"][0] for loop in loops)
    off = {
        "rate": closed(study, "sustained_requests") / rate - 1,
        "itl": closed(study, "sustained_itl") / fmean(loop.summary["itl"]["mean"] for loop in loops)
        - 1,
    }
    fast, requests = sr.Study(**case, arrival_rate=0.7 * rate), max(1000, requests)
    bursts = fast.simulate("burst", requests, seed)
    off["worst"] = closed(study, "worst_itl") / float(bursts.gaps.max()) - 1
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
    "chunked": {**MANY, "chunk": 512},
    "exclusive": MANY,
    "disaggregated": {**MANY, "prefill_devices": 1},
    "chunked, few slots": {**FEW, "chunk": 512},
    "exclusive, few slots": FEW,
}
"""The deployments of the page ``serving.md``: with many slots and short responses, and with few and long ones."""


def first_tokens(kind, load):
    """The mean time to first token of one of them, simulated and in closed form, in seconds."""
    case = {**SERVED[kind], "assume": {"scheduling": kind.partition(",")[0]}}
    study = sr.Study(**case, arrival_rate=load * closed(sr.Study(**case), "sustained_requests"))
    runs = [study.simulate(requests=6000, seed=7 + i) for i in range(4)]
    return fmean(run.summary["ttft"]["mean"] for run in runs), closed(study, "loaded_ttft")


LOADS = (0.2, 0.4, 0.6, 0.8)
RARE = {
    "model": "mistral-nemo-12b",
    "hardware": "a100-80gb-sxm",
    "engine": "ideal",
    "prompt": 300,
    "output": 300,
    "batch": 48,
    "chunk": 2048,
    "mfu": 0.6,
    "mbu": 0.75,
    "long_share": 0.05,
    "long_prompt": 10_000,
    "long_output": 500,
}
"""Short prompts that wait behind rare long ones."""


def over_simulated(case, load, seeds=2, seed=1):
    """Time between tokens and time to first token at a load, by formula over simulated."""
    study = sr.Study(**case, arrival_rate=load * closed(sr.Study(**case), "sustained_requests"))
    requests = max(4000, 10 * int(study.first.case.value("batch")))
    runs = [study.simulate("poisson", requests=requests, seed=seed + i) for i in range(seeds)]
    means = {name: fmean(run.summary[name]["mean"] for run in runs) for name in ("itl", "ttft")}
    return tuple(closed(study, f"loaded_{name}") / mean for name, mean in means.items())


def main(count: int) -> None:
    for kind in KINDS:
        draw = random.Random(kind)
        for case in [deployment(kind, draw) for _ in range(count)]:
            print(kind, case, {name: f"{value:+.1%}" for name, value in differences(case).items()})
            for load in LOADS:
                itl, ttft = over_simulated(case, load)
                print(f"  load {load}: ITL {itl:.3f}, TTFT {ttft:.3f} of the simulated", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
