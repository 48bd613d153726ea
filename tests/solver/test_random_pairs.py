"""Three hundred equations that are in no book, solved, and scanned without the solver: verdicts, places and closed forms must agree.

A seed draws a model, a device, a workload, switches, an equation between quantities of one unit, and an input that moves it.
"""

import math
import random
from fractions import Fraction
from functools import cache

import pytest

from symroof.analysis.solution import trees
from symroof.analysis.solution_text import solution_json
from symroof.api import Study
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import names
from symroof.theory.defaults import Missing, default_of
from symroof.theory.thresholds import THRESHOLDS

from .scan import POLE, ROOT, Scan

SEEDS = 300
MODELS = [
    "llama-3-8b", "llama-3-70b", "llama-2-7b", "gemma-2-9b", "gemma-2-27b", "gemma-3-1b", "mistral-7b-v0.1", "falcon-7b", "falcon-40b", "qwen2.5-0.5b",
    "qwen3-8b", "gpt2", "opt-6.7b", "gpt-neox-20b", "phi-3-mini-4k", "starcoder2-15b", "olmo-2-7b", "smollm2-135m", "llama-3.1-405b", "phi-2",
]  # fmt: skip
DEVICES = ["h100-sxm", "a100-80gb-sxm", "mi300x", "l4", "tpu-v5e", "h200", "b200", "rtx-4090", "l40s", "gaudi3"]
QUANTITIES = {
    "s": [
        "ttft", "itl", "decode_time", "response_time", "prefill_compute_time", "prefill_memory_time", "prefill_time", "prefill_roofline_time", "tpot", "itl_first",
        "decode_compute_time", "decode_memory_time", "decode_roofline_time", "decode_link_time", "prefill_link_time", "itl_last", "prefill_overhead", "itl_target",
    ],
    "byte": [
        "kv_cache_bytes", "weight_bytes", "weight_bytes_read", "decode_bytes", "prefill_bytes", "memory_bytes", "usable_memory", "peak_kv_cache_bytes",
        "kv_reserved_bytes", "kv_cache_bytes_per_device", "weight_bytes_per_device", "logit_bytes", "free_memory",
    ],
    "FLOP": ["prefill_flops", "decode_flops", "prefill_attention_flops", "prefill_linear_flops", "decode_flops_per_device", "sampling_flops"],
    "FLOP/byte": ["prefill_intensity", "decode_intensity", "ridge_point", "effective_ridge", "attention_intensity"],
    "token/s": ["decode_throughput", "user_rate", "prefill_throughput"],
    "": ["prefill_mfu", "prefill_mbu", "decode_mfu", "decode_mbu", "ttft_share", "memory_utilization", "attention_to_linear", "head_share", "phase_ratio"],
    "byte/token": ["kv_bytes_per_token", "activation_bytes_per_token", "head_activation_bytes_per_row"],
    "USD": ["decode_cost_per_mtok", "cost_per_request"],
    "J/token": ["decode_energy_per_token"],
}  # fmt: skip
SPANS = {
    **dict.fromkeys(("batch", "prefill_batch", "prompt", "context", "window", "learned_positions"), (1e-2, 1e7)),
    **dict.fromkeys(("n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ff", "vocab_size"), (1e-1, 1e6)),
    **dict.fromkeys(("mfu", "mbu", "memory_share"), (1e-4, 1)),
    **dict.fromkeys(("weight_bytes_per_param", "kv_bytes_per_element", "act_bytes_per_element"), (1e-4, 1e4)),
    **dict.fromkeys(("step_overhead", "layer_overhead", "queue_time", "link_latency", "itl_target"), (1e-9, 1e4)),
    "output": (1, 2e4), "tp": (1e-1, 1e5), "mem_bandwidth": (1e8, 1e17), "peak_flops": (1e10, 1e20), "mem_capacity": (1e6, 1e16), "link_bandwidth": (1e6, 1e16),
    "memory_reserve": (1e3, 1e15), "price": (1e-9, 1e2), "power": (1e-2, 1e6), "cached_prefix": (1e-2, math.inf),
}  # fmt: skip
"""Where an input is scanned."""

LARGEST = {**dict.fromkeys(("mfu", "mbu", "memory_share"), lambda case: 1), "cached_prefix": lambda case: case.value("prompt")}
"""What an input cannot exceed: a share one, a cached prefix its prompt."""

TOGETHER = {frozenset((*t.equation.split(" = "), t.unknown)) for t in THRESHOLDS.values()}
"""Equations that have a name, with their unknowns: those are tested elsewhere."""


def draw_case(rng):
    prompt = rng.choice([48, 512, 2048, 8192])
    case = {
        "model": rng.choice(MODELS), "hardware": rng.choice(DEVICES), "prompt": prompt, "output": rng.choice([2, 16, 128]), "batch": rng.choice([1, 4, 32, 200]),
        "tp": rng.choice([1, 1, 2, 8]), "mfu": rng.choice([0.3, 0.5, 1]), "mbu": rng.choice([0.6, 0.8, 1]), "itl_target": "50 ms",
    }  # fmt: skip
    sometimes = {
        "prefill_batch": 4, "cached_prefix": prompt // 3, "step_overhead": "1 ms", "layer_overhead": "20 us", "queue_time": "30 ms", "link_latency": "8 us",
        "memory_reserve": "2 GB", "memory_share": 0.9, "context": rng.choice([1, 1024, 20_000]), "price": "3 USD/hour", "power": "700 W",
    }  # fmt: skip
    case |= {name: value for name, value in sometimes.items() if rng.random() < (0.9 if name in ("price", "power") else 0.25)}
    case |= {role: rng.choice(["fp16", "fp8"]) for role in ("weights", "kv") if rng.random() < 0.3}
    switches = {
        "detail": ["exact", "exact", "attention", "kv", "weights"], "attention": ["causal", "full"], "roofline": ["aggregate", "aggregate", "per_operator", "no_overlap"],
        "kv_growth": ["growing", "growing", "fixed"], "decode_steps": ["output_minus_one", "output"], "fusion": ["flash", "unfused"], "logits": ["last", "all"],
        "kv_reserve": ["logical", "logical", "unified", "paged"],
    }  # fmt: skip
    assume = {switch: rng.choice(values) for switch, values in switches.items()}
    if rng.random() < 0.2:
        assume["activations"] = "off"
    return Study(**case, assume=assume)


def shared_out(study):
    """Whether the drawn devices can hold the model's key and value heads: whole ones, or as many copies of each."""
    try:
        return bool(study.cases)
    except InputError as error:
        assert "cannot share out" in str(error)
        return False


def draw_equation(rng, study):
    """A pair, a multiple, a number near the value, a sum, or a ratio."""
    unit = rng.choice(list(QUANTITIES))
    known = [name for name in QUANTITIES[unit] if study.first.get(name) is not None]
    if not known:
        return None
    first, second, third = (rng.choice(known) for _ in range(3))
    form = rng.choice(["pair", "pair", "pair", "multiple", "number", "number", "sum", "ratio"])
    factor = rng.choice(["2", "3", "10", "256", "0.37"])
    if form == "number":
        return f"{first} = {float(study.exact(first)) * rng.choice([0.2, 0.7, 0.95, 1.3, 4]):.6g} {unit}"
    if form == "sum":
        return f"{first} + {second} = {factor}*{third}"
    if form == "ratio":
        value = study.exact(second)
        return f"{first}/{second} = {float(study.exact(first) / value) * rng.choice([0.3, 1.5, 7]):.5g}" if value else None
    return f"{first} = {f'{factor}*' if form == 'multiple' else ''}{second}" if first != second else None


def movers(study, equation):
    """The inputs that an equation depends on and that have a value here."""
    case = study.first.case
    behind = {name for written in names(parse(equation)) for name in case.theory.ancestry(written)}
    return sorted(name for name in behind if name.partition(".")[0] in SPANS and (name == "context" or name in case.given or default_of(name) is not None))


@cache
def draw(seed):
    """A random case, equation and unknown."""
    rng = random.Random(seed)
    while True:
        study = draw_case(rng)
        if not shared_out(study):
            continue
        equation = draw_equation(rng, study)
        found = movers(study, equation) if equation else []
        if not found:
            continue
        unknown = rng.choice(found)
        if frozenset((*equation.split(" = "), unknown)) in TOGETHER or "= 0 " in equation:
            continue
        try:
            return study, equation, unknown, scanned(study, equation, unknown)
        except Missing:  # splitting over devices whose link nobody gave
            continue


def scanned(study, equation, unknown):
    low, high = SPANS[unknown.partition(".")[0]]
    if unknown == "cached_prefix":
        high = float(study.exact("prompt")) * (1 - 1e-9)
    if unknown == "prompt":
        low = max(low, float(study.exact("cached_prefix")) * (1 + 1e-9))
    return Scan(study.first.case, equation, unknown, low, high, whole=unknown == "output")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_solver_and_scan_agree(seed):
    study, equation, unknown, scan = draw(seed)
    label = f"{equation} for {unknown} of {study}, {study.bound.assumptions.values}"
    try:
        solution = study.solve(equation, unknown)
    except InputError as error:
        assert "does not occur" in str(error), f"{label}: {error}"
        assert len({round(float(v), 30) for v in scan.left - scan.right}) == 1, f"{label}: {error}"
        return
    places = "".join(f"\n  {kind} from {a:.9g} to {b:.9g}" for a, b, kind in scan.changes)
    label += f":\n{solution.verdict} {solution.method} {[float(v) for v in solution.values]}{places}\n  signs {scan.runs()}"
    check_verdict(solution, scan, label)
    check_places(solution, scan, label)
    check_forms(study, equation, solution, scan, label)


def check_verdict(solution, scan, label):
    low, high = trees(solution).crossing.domain
    signs = {scan.signs[i] for i in scan.known if low <= scan.xs[i] and (high is None or scan.xs[i] <= high)}
    if scan.everywhere:
        assert solution.verdict == "identical", label
    elif solution.verdict == "identical":
        raise AssertionError(label)
    if solution.verdict == "lhs_above":
        assert signs <= {1, 0}, label
    if solution.verdict == "lhs_below":
        assert signs <= {-1, 0}, label
    assert (solution.verdict == "crosses") == bool(solution.values), label
    most = LARGEST.get(solution.unknown, lambda case: math.inf)(scan.case)
    assert all(v <= most for v in solution.values), f"{label}\n{solution.unknown} is at most {most}"
    assert list(solution.values) == sorted(set(solution.values)) and all(v > 0 for v in solution.values), label


def check_places(solution, scan, label):
    """Every turn of the sign holds a crossing, every crossing is a turn, a touch or the end of a stretch of equality."""
    low, high = scan.ends
    inside = [v for v in solution.values if low < v < high]
    for a, b, kind in scan.changes:
        if kind == POLE:
            continue
        assert any(a <= v <= b for v in inside), f"{label}\nnothing found from {a} to {b} ({kind})"
        if kind == ROOT and not any(p >= a and q <= b for p, q in scan.plateaus()):
            assert sum(a <= v <= b for v in inside) % 2 == 1, label
    for v in solution.values:
        if scan.whole and v.denominator != 1:
            assert scan.sign(math.floor(v)) != scan.sign(math.ceil(v)), f"{label}\n{float(v)} is no crossing"
        elif not scan.meets(v):
            step = 1 if scan.whole else v / 10**9
            assert scan.sign(v - step) != scan.sign(v + step), f"{label}\n{float(v)} is no crossing: residual {scan.residual(v)}"


def check_forms(study, equation, solution, scan, label):
    """Closed forms as printed, read back, put in: no residual; and the conditions of those that hold, hold."""
    printed = solution_json(solution)
    for branch, entry in zip(trees(solution).crossing.branches, printed["branches"], strict=True):
        assert all(condition["holds"] is True for condition in entry["conditions"]) or not branch.holds, label
        if not branch.holds or entry["closed_form"] is None:
            continue
        value = read_back(entry, study.first.case)
        assert abs(value / branch.value - 1) < Fraction(1, 10**12), label
        assert any(abs(value / v - 1) < Fraction(1, 10**12) for v in solution.values), label
        if not scan.whole or value.denominator == 1:
            assert scan.meets(value), f"{label}\n{entry['closed_form']['text']}"


class WithCoefficients:
    """A case that also knows the coefficients named in ``where``."""

    def __init__(self, case, where):
        self.case, self.where = case, where

    def value(self, name):
        try:
            return self.case.value(name)
        except (LookupError, NoValue):
            return evaluate(parse(self.where[name]["text"]), self)

    def at(self, name, changes):
        return self.case.at(name, changes)


def read_back(entry, case):
    return evaluate(parse(entry["closed_form"]["text"]), WithCoefficients(case, entry["where"]))


def test_the_draws_are_varied():
    """The random pairs are not one kind of question: many unknowns, and every verdict that sides of different formulas can have."""
    drawn = [draw(seed) for seed in range(0, SEEDS, 5)]
    assert len({unknown for _, _, unknown, _ in drawn}) > 15
    turns = [len(scan.turns()) for *_, scan in drawn]
    assert min(turns) == 0 and max(turns) > 0 and 12 < sum(map(bool, turns)) < 54
