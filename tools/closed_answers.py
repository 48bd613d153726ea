"""Answers in SymPy held against numbers: of named thresholds and of equations that are in no book, for models of all kinds, in cases that a seed draws.

In a case ``solution.sympy.xreplace(study.values())`` has to be ``solution.value``, and that value has to meet the equation by the definitions
themselves. Without numbers the pieces have to give the answer of any case that is put in. What is counted here is published in
``docs/validation/closed-forms.md``.
"""

import math
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import sympy

import symroof as sr
from symroof.errors import InputError
from symroof.symbolic.applied import Quantity
from symroof.theory.thresholds import THRESHOLDS
from tools.random_equations import draw_case, draw_equation, movers, shared_out

KINDS = {
    "llama-3-8b": "dense, grouped queries",
    "deepseek-v2-lite": "latent attention and experts",
    "gpt-oss-20b": "windows and experts",
    "mamba-2.8b": "recurrent state",
    "jamba-1.5-mini": "states, attention and experts",
}
"""Models of all kinds."""
PLAIN = "llama-3-8b"
"""The one whose formulas are those without a model."""

CASES, PLAIN_CASES = 3, 5
"""How many cases are drawn for each model, and for the plain one."""

NEEDED = {
    "arrival_rate": Fraction(1, 2),
    "price": "3 USD/hour",
    "chunk": 256,
    "gemm_k": 4096,
    "gemm_n": 4096,
    "kernels_per_layer": 8,
    "kernel_launch": "3 us",
    "prefill_devices": 1,
    "cost_target": "0.5 USD",
    "rival_price": "4 USD/hour",
    "rival_throughput": 1000,
    "network_bandwidth": "50 GB/s",
    "host_bandwidth": "60 GB/s",
}
"""What some thresholds ask for beside the workload."""

DRAFT = {"draft_tokens": 3, "acceptance": 0.7, "draft_cost": 0.1}
"""What thresholds of drafts ask for; an answer without numbers is that of a server without a draft."""

EQUATIONS = 160
"""How many random equations are drawn; of half of them there is nothing to ask."""

CLOSE = 1e-10
NEAR = Fraction(1, 10**6)


@dataclass
class Tally:
    """What came out for one threshold.

    Attributes:
        closed, never: the cases with a closed form that was held against the number, and those without a crossing.
        numeric: the cases whose crossing was bracketed, by the reason.
        pieces: how often the answer without numbers was held against that of a case.
    """

    closed: int = 0
    never: int = 0
    numeric: Counter[str] = field(default_factory=Counter)
    pieces: int = 0


def same(expression, values, exact):
    """Whether an expression comes to a number that was computed in floats."""
    there = sympy.N(expression.xreplace(values).doit(), 30)
    return abs(float(there) - exact) <= abs(exact) * CLOSE


def drawn(model):
    """The cases of a model, each the keywords of a study."""
    rng = random.Random(model)
    options = {
        "hardware": ["h100-sxm", "a100-80gb-sxm", "h200", "mi300x"],
        "prompt": [100, 1000, 5000],
        "output": [2, 50, 300],
        "batch": [1, 4, 30],
        "prefill_batch": [1, 4],
        "mfu": [0.3, 0.5, 1],
        "mbu": [0.4, 0.8],
        "cached_prefix": [0, 0, 64],
        "step_overhead": [0, "1 ms"],
        "itl_target": ["8 ms", "20 ms", "100 ms"],
        "ttft_target": ["200 ms", "1 s", "5 s"],
    }
    return [
        {"model": model, **{name: rng.choice(values) for name, values in options.items()}, **NEEDED}
        for _ in range(PLAIN_CASES if model == PLAIN else CASES)
    ]


def meets(solution, case):
    """Whether a value meets the equation by the definitions themselves: both sides are the same at it, or change over just there."""
    gap = solution.equation.lhs - solution.equation.rhs

    def side(value):
        """The sign of left less right; 0 also where they are the same but for rounding; None where the case is none."""
        try:
            value = (
                value * 3600 if solution.unknown == "price" else value
            )  # prices are taken by the hour
            there = sr.Study(engine="ideal", **{**case, solution.unknown: value})
            left, right = there.value(solution.equation.lhs), there.value(solution.equation.rhs)
        except InputError:
            return None
        return 0 if abs(left - right) <= abs(right) * CLOSE else 1 if left > right else -1

    assert gap != 0
    if solution.integer is None:
        return side(solution.value) == 0 or side(solution.value * (1 - NEAR)) != side(
            solution.value * (1 + NEAR)
        )
    (word, whole), down = next(iter(solution.integer.items())), -1
    steps = (
        range(whole + down, max(whole - 64, 0), down)
        if word == "at_least"
        else range(whole + 1, whole + 64)
    )
    here, beyond = (
        side(whole),
        next((s for n in steps if n >= 1 and (s := side(n)) is not None), None),
    )
    return here is None or beyond is None or here == 0 or beyond == 0 or here != beyond


@cache
def tallies(model):
    """Every named threshold in every case of a model, by its name.

    Raises:
        AssertionError: an expression is not the number it stands for.
    """
    found = {name: Tally() for name in THRESHOLDS}
    for case in drawn(model):
        plain, drafting = (
            sr.Study(**case, engine="ideal"),
            sr.Study(**case, **DRAFT, engine="ideal"),
        )
        for name, tally in found.items():
            study = drafting if THRESHOLDS[name].group == "speculation" else plain
            try:
                solution = study.solve(name)
            except InputError:  # the model has no such thing: experts, chunks of a state
                continue
            if solution.symbolic:
                continue
            label = f"{name} of {case}"
            if solution.value is None:
                tally.never += 1
                assert solution.sympy is None and solution.why_numeric, label
            else:
                assert meets(solution, case | (DRAFT if study is drafting else {})), label
                count(solution, study, tally, label)
            tally.pieces += pieces_hold(without_numbers(model, name), solution, study, label)
    return found


def count(solution, study, tally, label):
    """One answer in a case: the expression is the number, or says why there is none."""
    if solution.sympy is None:
        assert solution.why_numeric, label
        tally.numeric[solution.why_numeric] += 1
    else:
        assert same(solution.sympy, study.values(), solution.value), label
        tally.closed += 1


@cache
def without_numbers(model, name):
    """The answer in symbols, for the architecture of a model or, of the plain one, without any; None where there is none.

    A number of devices is asked of a model on devices of one kind: how heads are shared out, and which links there are, lays out the formulas.
    """
    degrees = THRESHOLDS[name].unknown == "tp"
    try:
        solution = (
            sr.solve(name)
            if model == PLAIN and not degrees
            else sr.Study(model, "h100-sxm" if degrees else None, engine="ideal").solve(name)
        )
    except InputError:
        return None
    return solution if solution.symbolic and solution.sympy is not None else None


def pieces_hold(symbolic, solution, study, label):
    """Whether the answer in symbols was asked; it has to be the number of a case that is put in."""
    if symbolic is None or (symbolic.unknown == "tp" and study.first.hardware.name != "h100-sxm"):
        return False
    if symbolic.written_sides != solution.written_sides:
        return False  # of a case that is judged under load the equation is another
    named = symbolic.sympy.replace(Quantity, lambda *values: sympy.Symbol("of_other_names"))
    assert symbolic.unknown not in {free.name for free in named.free_symbols}, label
    values = study.values()
    use_defaults = symbolic.sympy.xreplace(values)
    if solution.value is None:
        assert use_defaults is sympy.nan, label
    elif (
        solution.sympy is None and solution.integer is not None
    ):  # a sum has no value between whole numbers: what is bracketed is one
        assert math.ceil(use_defaults) == math.ceil(solution.value), label
    else:
        assert same(symbolic.sympy, values, solution.value), label
    return True


def random_answer(seed):
    """One equation that is in no book, in a case of any kind of model: solved, and held against its number with and without one; what came out."""
    rng = random.Random(seed)
    study = draw_case(rng, list(KINDS))
    if not shared_out(study):
        return "no such case"
    equation = draw_equation(rng, study)
    unknowns = movers(study, equation) if equation else []
    if not unknowns:
        return "nothing to solve for"
    unknown, label = rng.choice(unknowns), f"{seed}: {equation} of {study}"
    try:
        solution = study.solve(equation, unknown)
    except InputError:
        return "refused"
    if solution.symbolic:
        return "symbolic"
    tally = Tally()
    if solution.value is not None:
        count(solution, study, tally, label)
    laid_out = (
        unknown == "tp" or study.value("tp") != 1 or "context" in study.first.given
    )  # one device, and the context that follows from the prompt
    pieces = None if laid_out else _in_symbols(study, equation, unknown)
    held = pieces is not None and pieces_hold(pieces, solution, study, label)
    return ("closed" if tally.closed else "numeric" if tally.numeric else "never") + (
        " and in symbols" if held else ""
    )


@cache
def random_answers(count):
    """What came out of so many random equations."""
    return Counter(map(random_answer, range(count)))


def _in_symbols(study, equation, unknown):
    try:
        solution = sr.Study(
            study.first.model.name, engine="ideal", assume=dict(study.first.assumptions.values)
        ).solve(equation, unknown)
    except InputError:
        return None
    return solution if solution.symbolic and solution.sympy is not None else None
