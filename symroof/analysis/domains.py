"""Where an unknown can lie, and where the quantities of an equation exist."""

from collections.abc import Iterator

from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, names
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, base_name


def existence_conditions(relation: Expr, case: Case) -> Iterator[Expr]:
    """The conditions under which the quantities of an equation have values, each once."""
    needed = {inner for name in names(relation) for inner in case.theory.dependencies(name)}
    for inner in sorted(needed - set(case.given)):
        for condition, _ in QUANTITIES[inner].exists if inner in QUANTITIES else ():
            yield parse(condition)


def domain_formulas(unknown: str) -> tuple[str | None, str | None]:
    """The formulas of the least and the largest value of an unknown, where it has them."""
    symbol = INPUTS.get(base_name(unknown))
    return (symbol.least, symbol.most) if symbol else (None, None)


def domain(unknown: str, case: Case) -> tuple[float, float | None]:
    """Where an unknown can lie in a case."""
    least, most = (_end(formula, case) for formula in domain_formulas(unknown))
    return least or 0.0, most


def _end(formula: str | None, case: Case) -> float | None:
    """The value of an end; None where it has none."""
    try:
        return float(case.evaluate(parse(formula))) if formula else None
    except NoValue:
        return None
