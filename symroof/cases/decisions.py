"""What a decision takes for granted where nothing else is set: the memory and the token budget of an engine, and the mix of requests."""

from fractions import Fraction

from symroof.cases.mixed_requests import add_mix
from symroof.cases.spec_values import Given, dimension
from symroof.formula.tree import Num
from symroof.theory.switches import Assumptions

ENGINE_SHARE = Fraction(92, 100)
"""The share of a device's memory that an engine takes: vLLM's default of gpu-memory-utilization, by the version read."""

ENGINE_CHUNK = Fraction(2048)
"""Prompt tokens that a step takes along beside the batch: vLLM's default of max-num-batched-tokens, by the version read."""

DECIDING_SHARE = Given(Num(ENGINE_SHARE), "default of decisions: what vLLM takes of a device's memory (gpu-memory-utilization)", defaulted=True)
DECIDING_CHUNK = Given(Num(ENGINE_CHUNK, dimension("chunk")), "default of decisions: vLLM's token budget of a step beside the batch", defaulted=True)


def set_for_decision(assumptions: Assumptions, given: dict[str, Given], warnings: list[str]) -> None:
    """Complete the inputs of a case that something is decided by, and say what was done about a mix; what is given stays."""
    given.setdefault("memory_share", DECIDING_SHARE)
    if "output" in given and assumptions["scheduling"] == "chunked":
        given.setdefault("chunk", DECIDING_CHUNK)
    if assumptions["targets_under"] == "load":
        add_mix(given, warnings)
