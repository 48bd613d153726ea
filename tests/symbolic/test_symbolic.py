"""Answers without numbers, held to numbers: draw every symbol, and the printed closed forms and conditions must tell the truth.

Where all conditions of a branch hold, its closed form is a root. Where a scan of the drawn case finds a crossing, a branch
whose conditions hold gives it. What is printed is read back: nothing of how it was solved is used but its text.
"""

import random
from fractions import Fraction
from functools import cache
from math import log10

import pytest

from symroof.analysis.solution_text import solution_json
from symroof.api import Study
from symroof.errors import NoValueHere
from symroof.symbolic.evaluation import NoValue, evaluate
from symroof.symbolic.expressions import names, number
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.theory.switches import assume
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import theory
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import is_whole
from tests.theory import as_symbols

from .scan import ROOT, Scan

pytestmark = pytest.mark.usefixtures("bounded")

DRAWS = 12
WHOLE = {
    "n_layers": (1, 200), "d_model": (64, 16_384), "n_heads": (1, 128), "n_kv_heads": (1, 64), "head_dim": (16, 256), "d_ff": (64, 65_536), "ffn_matrices": (2, 3),
    "vocab_size": (100, 300_000), "learned_positions": (1, 4096), "window": (16, 8192), "chunk": (1, 8192), "draft_tokens": (1, 12), "kernels_per_layer": (1, 30), "n_experts": (8, 512), "experts_per_token": (1, 7), "prompt": (1, 300_000), "output": (2, 3000), "gemm_m": (1, 10_000),
    "gemm_k": (16, 30_000), "gemm_n": (16, 30_000), "multiprocessors": (1, 200), "block_size": (8, 64),
}  # fmt: skip
REAL = {
    "weight_bytes_per_param": (0.2, 5), "kv_bytes_per_element": (0.2, 5), "act_bytes_per_element": (0.2, 5), "peak_flops": (1e12, 1e16), "mem_bandwidth": (1e10, 2e13),
    "mem_capacity": (1e9, 1e13), "link_bandwidth": (1e9, 1e12), "host_bandwidth": (1e9, 1e11), "disk_bandwidth": (1e8, 1e11), "price": (1e-4, 1e-2), "power": (10, 2000),
    "mfu": (0.05, 1), "mbu": (0.05, 1), "ttft_target": (1e-3, 100), "itl_target": (1e-4, 10), "intensity": (0.1, 5000), "clock": (1e9, 3e9), "l2_capacity": (1e6, 1e8),
    "network_bandwidth": (1e8, 1e12), "l2_bandwidth": (1e12, 1e14), "acceptance": (0.05, 0.95), "arrival_rate": (0.01, 100), "cost_target": (0.01, 100),
    "sram_per_multiprocessor": (1e4, 1e6), "sram_bytes_per_clock": (16, 512),
}  # fmt: skip
"""Every input that a symbolic answer leaves open; the others keep their defaults of nothing and one."""

UP = {
    "output": (1, 1e5),
    "mfu": (1e-6, 1),
    "mbu": (1e-6, 1),
    "memory_share": (1e-6, 1),
    "tp": (1e-2, 1e5),
    "prompt": (1e-1, 1e8),
    "context": (1e-1, 1e8),
}
UP |= {
    "mem_bandwidth": (1e4, 1e20),
    "peak_flops": (1e6, 1e24),
    "mem_capacity": (1e2, 1e20),
    "power": (1e-6, 1e9),
    "disk_bandwidth": (1e2, 1e20),
}

EQUATIONS = [
    ("itl = 50 ms", "batch"),
    ("itl = itl_target", "context"),
    ("itl = itl_target", "weight_bytes_per_param"),
    ("itl = itl_target", "n_layers"),
    ("itl = 2*itl(batch = 1)", "batch"),
    ("itl = 50 ms", "prompt"),
    ("ttft = 200 ms", "prompt"),
    ("ttft = itl", "prompt"),
    ("ttft = 256*itl", "prompt"),
    ("decode_time = 256*itl", "prompt"),
    ("tpot = itl_target", "batch"),
    ("tpot = itl_target", "output"),
    ("response_time = 5 s", "output"),
    ("response_time = 5 s", "prompt"),
    ("ttft + output*itl = 10 s", "output"),
    ("ttft_share = 0.5", "output"),
    ("ttft_share = 0.5", "prompt"),
    ("decode_throughput = 1000 token/s", "batch"),
    ("user_rate = 20 token/s", "mem_bandwidth"),
    ("user_rate = 20 token/s", "peak_flops"),
    ("user_rate = 20 token/s", "batch"),
    ("prefill_throughput = 10*decode_throughput", "prompt"),
    ("prefill_decode_ratio = 10", "batch"),
    ("decode_cost_per_mtok = 1 USD", "price"),
    ("decode_cost_per_mtok = 1 USD", "batch"),
    ("decode_cost_per_mtok = 1 USD", "mem_bandwidth"),
    ("decode_energy_per_token = 1 J/token", "power"),
    ("kv_cache_bytes = 10 GB", "context"),
    ("kv_cache_bytes = weight_bytes", "kv_bytes_per_element"),
    ("kv_bytes_per_token*context = weight_bytes", "head_dim"),
    ("memory_utilization = 0.9", "batch"),
    ("memory_utilization = 0.5", "context"),
    ("free_memory = 10 GB", "mem_capacity"),
    ("weight_bytes = mem_capacity", "n_layers"),
    ("weight_bytes = mem_capacity", "d_model"),
    ("prefill_flops = 1e15 FLOP", "d_model"),
    ("decode_intensity = ridge_point", "batch"),
    ("decode_intensity = effective_ridge", "context"),
    ("prefill_intensity = ridge_point", "prompt"),
    ("attention_intensity = ridge_point", "n_kv_heads"),
    ("gemm_intensity = ridge_point", "gemm_m"),
    ("ridge_point = 200 FLOP/byte", "mem_bandwidth"),
    ("attainable_flops = peak_flops/2", "intensity"),
    ("decode_mbu = 0.5", "batch"),
    ("decode_mfu = 0.3", "batch"),
    ("prefill_mfu = 0.4", "prompt"),
    ("attention_to_linear = 0.1", "prompt"),
    ("head_share = 0.05", "vocab_size"),
    ("itl_last = 2*itl_first", "output"),
    ("load_time = 20 s", "disk_bandwidth"),
    ("gemm_intensity = 100 FLOP/byte", "gemm_k"),
    ("max(prefill_time, itl) = 1 s", "prompt"),
    ("min(prefill_time, itl) = 1 ms", "prompt"),
    ("sqrt(prompt) = 64", "prompt"),
]
SWITCHES = {
    "exact": {},
    "attention": {"detail": "attention"},
    "full": {"detail": "attention", "attention": "full"},
    "weights": {"detail": "weights"},
    "no overlap": {"roofline": "no_overlap"},
    "fixed cache": {"kv_growth": "fixed", "decode_steps": "output"},
    "per operator": {"detail": "attention", "roofline": "per_operator"},
}
NOTHING = {
    ("context_beyond_ridge", "weights"),
    ("max_context_itl", "weights"),
    ("cache_width_stops_helping", "weights"),
    ("attention_equals_linear", "weights"),
}
"""Without a cache the context moves nothing, without attention FLOPs there are none to equal."""
LEAST = {"useful_devices_itl": 2}
"""Between one device and two there is no whole number of all-reduces."""
TOO_LONG = "its closed form is too long to be written out"
NUMBERS_ONLY = {
    "min_acceptance_speculation": "acceptance is raised to a power that is no number",
    "best_draft_tokens": "exponent",
    "max_arrival_ttft": "steady_batch is searched for each arrival_rate",
    "max_batch_sustained_itl": TOO_LONG,
    "max_chunk_sustained_itl": TOO_LONG,
    "output_disaggregation_pays": TOO_LONG,
}
"""Why there is no closed form."""


def formulas(name, switches):
    """Every formula that a threshold's equation leads to under the switches; at other degrees more than these differ."""
    built, threshold = theory(assumptions=assume(**SWITCHES[switches])), THRESHOLDS[name]
    spoken = {threshold.unknown, *threshold.needs, *names(parse(threshold.equation))}
    return (
        switches
        if threshold.unknown in DEGREES
        else {
            inner: built.definition(inner)
            for outer in spoken
            for inner in built.dependencies(outer)
        }
    )


def each_once():
    """Thresholds under all switches, but for those whose formulas the switches leave as they are."""
    for name in THRESHOLDS.keys() - NUMBERS_ONLY.keys():
        seen = []
        for switches in SWITCHES:
            if (name, switches) not in NOTHING and (asked := formulas(name, switches)) not in seen:
                seen.append(asked)
                yield name, switches


BELOW_ONE_DEVICE = pytest.mark.xfail(
    strict=False, reason="without numbers a branch may hold at less than one device of a group"
)
PARAMETERS = [
    *(
        pytest.param(equation, unknown, "exact", id=f"{equation} for {unknown}")
        for equation, unknown in EQUATIONS
    ),
    *(
        pytest.param(
            name,
            THRESHOLDS[name].unknown,
            switches,
            id=f"{name}, {switches}",
            marks=BELOW_ONE_DEVICE if name == "min_devices_itl" else (),
        )
        for name, switches in sorted(each_once())
    ),
]


def drawn(rng, theory, needs=()):
    """A case with a number for every symbol, far from any real one; what a threshold asks for is drawn though it has a default."""
    given = {name: Fraction(rng.randint(*span)) for name, span in WHOLE.items()}
    given |= {
        name: Fraction(10 ** rng.uniform(log10(low), log10(high)))
        for name, (low, high) in REAL.items()
    }
    given |= {
        name: Fraction(rng.randint(1, 99), 10**6)
        for name in needs
        if name not in given and INPUTS[name].default in ("0", None)
    }
    return Case(theory, {name: number(value) for name, value in given.items()})


@cache
def answered(equation, unknown, switches):
    study = Study(assume=SWITCHES[switches])
    solution = study.solve(equation, unknown)
    return study.first.case.theory, solution, solution_json(solution)


def candidates(case, unknown, printed):
    """Value of each branch whose conditions all hold in a case, conditions looked at in that value."""
    for branch in printed["branches"]:
        form = parse(branch["closed_form"]["text"])
        where = {name: parse(entry["text"]) for name, entry in branch["where"].items()}
        try:
            value = evaluate(form, Known(case, where))
            there = Known(case.changed({unknown: value}), where)
            if all(evaluate(parse(condition["text"]), there) for condition in branch["conditions"]):
                yield branch, value
        except NoValue:
            continue


class Known:
    """A case that also knows the coefficients named in ``where``."""

    axes, careful = 0, False

    def __init__(self, case, where):
        self.case, self.where = case, where

    def value(self, name):
        return (
            evaluate(self.where[name], self)
            if name in self.where and name not in self.case.theory.definitions
            else self.case.value(name)
        )

    def at(self, name, changes):
        return self.case.at(name, changes)


@pytest.mark.sample(4)
@pytest.mark.parametrize(("equation", "unknown", "switches"), PARAMETERS)
def test_the_symbolic_answer_tells_the_truth(equation, unknown, switches, monkeypatch):
    as_symbols(monkeypatch)
    theory, solution, printed = answered(equation, unknown, switches)
    assert solution.value is None or not printed["branches"] or solution.verdict == "crosses"
    written = THRESHOLDS[equation].equation if equation in THRESHOLDS else equation
    rng = random.Random(f"{equation} {unknown} {switches}")
    for _ in range(DRAWS):
        case = drawn(rng, theory, THRESHOLDS[equation].needs if equation in THRESHOLDS else ())
        scan = Scan(
            case,
            written,
            unknown,
            *UP.get(unknown, (1e-4, 1e8)),
            points=240,
            whole=unknown == "output",
        )
        found = list(candidates(case, unknown, printed))
        label = f"{written} for {unknown}: {solution.verdict}, {len(printed['branches'])} branches"
        for branch, value in found:
            said = f"{label}\n{branch['closed_form']['text']} = {float(value):.9g}\nwhere its conditions hold: {[c['text'] for c in branch['conditions']]}"
            assert value > 0, said
            assert unknown not in ("mfu", "mbu") or value <= 1, said
            if scan.whole and not is_whole(value):
                low, high = value.__floor__(), value.__ceil__()
                assert low == 0 or scan.sign(low) != scan.sign(high), said
            else:
                assert scan.meets(value), f"{said}\nresidual {scan.residual(value)}"
        values = [*(value for _, value in found), *solution.values]
        most = (
            float(case.evaluate(parse(INPUTS[unknown].most)))
            if unknown in INPUTS and INPUTS[unknown].most
            else float("inf")
        )
        for i, k, sign in scan.turns() if switches != "per operator" else ():
            low, high = scan.xs[i], scan.xs[k]
            explained = (
                high > most
                or low < LEAST.get(equation, 0)
                or any(low <= value <= high for value in values)
            )
            assert explained or scan.kind(scan.x(i), scan.x(k), sign) != ROOT, (
                f"{label}\nno branch whose conditions hold gives the one from {low} to {high}"
            )
        if solution.verdict in ("lhs_above", "lhs_below"):
            assert {scan.signs[i] for i in scan.known} <= {
                0,
                1 if solution.verdict == "lhs_above" else -1,
            }, label
        if solution.verdict == "crosses" and unknown not in ("output",):
            assert found or solution.method == "numeric", (
                f"{label}\nsaid to cross whatever the symbols"
            )
        assert solution.verdict != "identical" or scan.everywhere, label


@pytest.mark.parametrize("name", NUMBERS_ONLY)
def test_what_only_numbers_answer_says_so(name):
    """No closed form is made up: the error says why there is none, and which input is missing for an answer with numbers."""
    with pytest.raises(NoValueHere) as error:
        Study().solve(name)
    message = error.value.problems[0].message
    assert "has no symbolic answer" in message
    assert NUMBERS_ONLY[name] in message
    assert any(f"{inner} is missing" in message for inner in INPUTS)
