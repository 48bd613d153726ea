"""One question has one answer: random deployments, asked of every command and of Python."""

import math
import random
from fractions import Fraction

import pytest

from symroof.api import Study
from tests.cli import call

from ..tables import words

MODELS = {  # by how many devices their heads may be shared out, and what to call them on a line
    "llama-3.1-8b": ("meta-llama/Llama-3.1-8B-Instruct", (1, 2, 4)),
    "qwen2.5-7b": ("Qwen/Qwen2.5-7B-Instruct", (1, 2, 4)),
    "gemma-2-9b": ("google/gemma-2-9b-it", (1, 2)),
    "mixtral-8x7b": ("mistralai/Mixtral-8x7B-Instruct-v0.1", (4, 8)),
    "llama-3.1-70b": ("meta-llama/Llama-3.1-70B-Instruct", (4, 8)),
    "deepseek-v3": ("deepseek-ai/DeepSeek-V3", (8,)),
}
DEVICES = ("h100-sxm", "h200", "a100-80gb-sxm", "l40s", "mi300x")
TIMED = words(
    "itl ttft sustained_itl loaded_ttft sustained_requests decode_throughput cost_per_mtok load"
)
CLOSE = 1e-6


def deployments(count, seed=41):
    """Models, devices, lengths, rates and targets within what people serve."""
    draw = random.Random(seed)
    for _ in range(count):
        model = draw.choice(list(MODELS))
        prompt = int(2 ** draw.uniform(8, 14))
        case = {"model": model, "hardware": draw.choice(DEVICES), "prompt": prompt}
        case |= {"tp": draw.choice(MODELS[model][1]), "output": draw.choice((64, 200, 500, 1000))}
        if model.startswith("llama") and draw.random() < 0.4:
            case["weights"] = "fp8"
        case["batch"] = draw.choice((1, 4, 16, 48))
        case["arrival_rate"] = round(10 ** draw.uniform(-1, 1.5), 2)
        yield case, f"{draw.choice((20, 40, 80, 150))} ms"


def contradictions(case, itl):
    """What two commands say differently of one deployment."""
    model, device, tp = (case[name] for name in ("model", "hardware", "tp"))
    rest = case.keys() - {"model", "hardware", "arrival_rate"}
    line = [f"--{name}={value}" for name, value in case.items() if name in rest]
    on_line = [
        f"--model={model}",
        f"--hardware={device}",
        *line,
        f"--set=arrival_rate={case['arrival_rate']} request/s",
        f"--target=itl={itl}",
    ]
    found = []

    def same(what, *values):
        known = [float(value) for value in values if value is not None]
        unknown = [value is None for value in values]
        apart = known and max(known) - min(known) > CLOSE * abs(max(known))
        if any(unknown) != all(unknown) or apart:
            found.append(f"{what}: {values}")

    evaluated = call("eval", *on_line, "--json").json["cases"][0]["quantities"]
    expected, measured, peak = (
        Study(**case, targets={"itl": itl}, **basis)
        for basis in ({}, {"efficiency": "measured"}, {"efficiency": "peak"})
    )
    by_line = {name: evaluated.get(name) for name in TIMED}
    for name in TIMED:  # Python, with and without efficiencies asked for
        entry, own, asked = by_line[name] or {}, expected.first.get(name), measured.first.get(name)
        values = [each and each.value for each in (own, asked)]
        same(f"{name} of eval, Python and efficiency=measured", entry.get("value"), *values)
        if own is not None:
            same(f"{name}, least expected", entry["low"], own.low)
            same(f"{name}, bound", entry.get("bound"), peak.first.result(name).value)
    for name in ("ttft", "itl"):
        derived = call("derive", name, *on_line, "--json").json
        for key in ("value", "bound"):
            same(f"{key} of {name} of derive", derived[key], by_line[name][key])
    room = call("solve", "max_batch_memory", *on_line, "--json").json
    capacity = evaluated["concurrency"]["value"]
    most = (room["integer"] or {}).get("at_most", 0)
    same("largest batch in memory, of solve and eval", most, capacity)
    same("fits, of eval and its room", evaluated["fits"]["value"], case["batch"] <= capacity)
    for basis, study in (("measured", expected), ("peak", peak)):
        line = ("min_copies_arrival", *on_line, "--efficiency", basis, "--json")
        least = call("solve", *line).json["integer"]["at_least"]
        same(f"replicas, {basis}", least, least_above(study.value("load")))
    hub = MODELS[model][0]
    flags = " --quantization fp8" if "weights" in case else ""
    line = f"vllm serve {hub} -tp {tp} --max-num-seqs {case['batch']}{flags}"
    lengths = (f"--prompt={case['prompt']}", f"--output={case['output']}")
    options = (f"--hardware={device}", *lengths, f"--target=itl={itl}", "--json")
    served = call("vllm", line, *options).json
    same("room of the line", served["quantities"]["concurrency"]["value"], capacity)
    if case["batch"] <= capacity:
        for name in ("itl", "ttft", "sustained_itl", "sustained_requests", "cost_per_mtok"):
            if (entry := served["quantities"].get(name)) is not None:
                for key in ("value", "bound"):
                    same(f"{key} of {name} of the line", entry.get(key), by_line[name].get(key))
    return found


def least_above(load):
    """At a load of 1 the queue grows."""
    load = Fraction(load)
    return math.floor(load) + 1 if load >= 1 and load.denominator == 1 else math.ceil(load)


@pytest.mark.full
@pytest.mark.parametrize(("case", "itl"), list(deployments(4)), ids=str)
def test_one_question_has_one_answer(case, itl):
    assert contradictions(case, itl) == []
