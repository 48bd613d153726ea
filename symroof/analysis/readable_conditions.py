"""The conditions of a closed form for readers: solved for the next natural symbol, or as the times whose formulas they compare."""

from symroof.analysis.inline import inlined
from symroof.cases.bound_case import BoundCase
from symroof.formula.parse import parse
from symroof.formula.tree import Compare, Expr, Name, QuantityAt, mentions
from symroof.solver.result import Condition
from symroof.solver.symbolic import solve_inequality
from symroof.theory.steps import STEPS

NATURAL = ("context", "prompt", "batch", "output", "tp")
"""The symbols a condition is solved for: the first that it is linear in, down to the definitions of its names."""


def solved_condition(
    condition: Condition, unknown: str, bound_case: BoundCase, symbolic: bool
) -> tuple[Compare, Compare | None] | None:
    """A condition of a closed form, solved for the next natural symbol (a ridge batch exists below some context), and while what that holds."""
    tree = condition.tree
    if not isinstance(tree, Compare) or mentions(tree, unknown):
        return None
    for symbol in NATURAL:
        whole = inlined(tree, symbol, bound_case, symbolic=symbolic)
        if symbol != unknown and isinstance(whole, Compare) and mentions(whole, symbol):
            solved = solve_inequality(whole, symbol)
            if solved:
                return solved
    return None


def times_compared(unknown: str, bound_case: BoundCase, symbolic: bool) -> dict[Expr, Expr]:
    """The times a roofline compares, by their formulas as far as the unknown reaches: at the context, first and last step."""
    ends = (parse("prompt + 1"), parse("prompt + response_steps"))
    times: dict[Expr, Expr] = {}
    theory = bound_case.case.theory
    parts = (
        [f".{part}" for step in STEPS for part in theory.parts(step.name)]
        if theory.assumptions["roofline"] == "per_operator"
        else []
    )
    for name in (
        f"{step.name}_{kind}{part}"
        for part in ("", *dict.fromkeys(parts))
        for step in STEPS
        for kind in ("compute_time", "memory_time")
    ):
        if not (theory.depends(name, unknown) or theory.depends(name, "context")):
            continue  # the answer contains it by its name
        shapes: tuple[Expr, ...] = (
            Name(name),
            *(QuantityAt(name, (("context", end),)) for end in ends),
        )
        for tree in shapes:
            times.setdefault(inlined(tree, unknown, bound_case, symbolic=symbolic), tree)
    return times
