"""The answer to ``lhs = rhs``: crossings, the branches they come from, the conditions those rest on."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symroof.formula.tree import Compare, Expr

Evaluate = Callable[[Expr, dict[str, Fraction]], Fraction]
"""The exact value of a tree with some names set."""

CLOSED, NUMERIC = "closed_form", "numeric"


@dataclass(frozen=True)
class Condition:
    """A condition for a closed form to be the answer, and whether it holds.

    ``abbreviated`` is the same in the coefficients that the closed form gives names to.
    """

    tree: Compare
    holds: bool | None
    abbreviated: Compare | None = None


@dataclass(frozen=True)
class Branch:
    """One candidate: its formula, its conditions, and its value, which it has where it is a crossing here.

    Attributes:
        closed_form: the whole formula; None where there is none of readable size.
        abbreviated: the same in named coefficients, where it is long.
        named: the formulas of those coefficients.
    """

    closed_form: Expr | None
    conditions: tuple[Condition, ...]
    value: Fraction | None = None
    abbreviated: Expr | None = None
    named: tuple[tuple[str, Expr], ...] = ()

    @property
    def holds(self) -> bool:
        return self.value is not None

    @property
    def shown(self) -> Expr | None:
        """The formula as people read it."""
        return self.abbreviated or self.closed_form


@dataclass(frozen=True)
class Crossing:
    """The answer to ``lhs = rhs``.

    Attributes:
        verdict: ``crosses``, ``lhs_above``, ``lhs_below``, ``identical``; ``conditional`` without numbers.
        method: ``closed_form``, or ``numeric`` where a crossing has no closed form of readable size and was bracketed.
        branches: candidate closed forms with their conditions.
        values: every crossing in the domain, in order.
        more: whether the crossings go on beyond those listed, as those of a rounded formula can.
        searched: the first and the last point at which a scan compared the sides; None where the answer is exact.
        because: why there is no closed form, where values were bracketed and a single reason says it.
    """

    verdict: str
    method: str
    branches: tuple[Branch, ...] = ()
    values: tuple[Fraction, ...] = ()
    domain: tuple[Fraction, Fraction | None] = (Fraction(0), None)
    more: bool = False
    searched: tuple[Fraction, Fraction] | None = None
    because: str = ""

    @property
    def value(self) -> Fraction | None:
        return self.values[0] if self.values else None


@dataclass(frozen=True)
class Solved:
    """An equation and its crossing."""

    lhs: Expr
    rhs: Expr
    crossing: Crossing

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Left and right."""
        return self.lhs, self.rhs

    @property
    def branch(self) -> Branch | None:
        """The branch that gives the value, or the first that would if its conditions held."""
        branches = self.crossing.branches
        return next(
            (b for b in branches if b.value == self.crossing.value),
            branches[0] if branches else None,
        )

    @property
    def closed_form(self) -> Expr | None:
        """The formula of the crossing, or the formula it would have if its conditions held."""
        return self.branch.closed_form if self.branch else None


@dataclass(frozen=True)
class Region:
    """An interval of the unknown on which every maximum has one winner.

    ``edge`` is the difference of two arms that vanishes at ``low``, where the winner changes there; after a pole a
    denominator vanishes at ``low``.
    """

    low: Fraction
    high: Fraction | None
    tree: Expr
    conditions: tuple[Compare, ...] = ()
    edge: Expr | None = None
    after_pole: bool = False

    def between(self, low: Fraction, high: Fraction | None) -> Fraction:
        """A point inside an interval that may be open above."""
        return low * 2 + 1 if high is None else (low + high) / 2

    @property
    def inside(self) -> Fraction:
        return self.between(self.low, self.high)
