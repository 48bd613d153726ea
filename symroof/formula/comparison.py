"""The result of comparing two formulas, and its text.

>>> from symroof.formula.tree import Name
>>> print(TermDifference(Name("d_model"), Fraction(4), Fraction(2)))
d_model: you have 4, derived 2
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from symroof.formula.text import number_text, text
from symroof.formula.tree import ONE, Tree
from symroof.units import significant

Verdict = Literal["equal", "dimension", "factor", "inverted", "terms", "arms", "different", "undecided"]


@dataclass(frozen=True)
class TermDifference:
    """One power product whose coefficients differ; 0 where a side does not have it.

    Attributes:
        product: the power product, 1 for a plain number.
        claimed, derived: its coefficients.
        under: whether it stands below the bar, above which both formulas are the same.
        bar: what both formulas stand over, where the terms are those above it.
    """

    product: Tree
    claimed: Fraction
    derived: Fraction
    under: bool = False
    bar: Tree = ONE

    def __str__(self) -> str:
        place = " in the denominator" if self.under else "" if self.bar == ONE else f" over {text(self.bar)}"
        ours, theirs = (number_text(value) if value else "none" for value in (self.claimed, self.derived))
        return f"{text(self.product)}{place}: you have {ours}, derived {theirs}"


@dataclass(frozen=True)
class ArmDifference:
    """Arms of a maximum or minimum that differ; None where a side has no such arm."""

    claimed: Tree | None
    derived: Tree | None
    comparison: Comparison | None = None

    def __str__(self) -> str:
        if self.comparison and self.claimed:
            return f"arm {text(self.claimed)}: {self.comparison}"
        return f"extra arm {text(self.claimed)}" if self.claimed else f"missing arm {text(self.derived)}" if self.derived else ""


@dataclass(frozen=True)
class Comparison:
    """How a claimed formula stands to the derived one.

    Attributes:
        verdict: the plainest true answer; ``dimension`` comes first, then the others in the order of the type.
        exact: certain, by algebra or by a point at which the two differ; otherwise so at all ``points`` random points.
        dimension: the error in the dimension, if there is one.
        factor: claimed over derived, where that is a product of powers, or moves with one name only.
        ratio: the factor as a number, where it is one.
        inverted: whether claimed times derived is 1.
        terms: power products with different coefficients, where both are sums over the same bar.
        arms: differing arms of a maximum or minimum.
        low, high: the least and the largest of claimed over derived at random points, where they differ.
    """

    verdict: Verdict
    exact: bool = True
    dimension: str = ""
    factor: Tree | None = None
    ratio: Fraction | None = None
    inverted: bool = False
    terms: tuple[TermDifference, ...] = ()
    arms: tuple[ArmDifference, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    points: int = 0

    def __str__(self) -> str:
        match self.verdict:
            case "equal":
                return "equal" if self.exact else f"equal at {self.points} random points"
            case "dimension":
                return self.dimension
            case "factor" if self.factor:
                return f"is {text(self.factor)} times what is derived"
            case "inverted":
                return "is the inverse of what is derived"
            case "terms" | "arms":
                return "; ".join(map(str, (*self.terms, *self.arms)))
            case "different" if self.low is not None and self.low == self.high:
                return f"is {significant(self.low, 3)} times what is derived where neither is zero, and differs elsewhere"
            case "different" if self.low is not None and self.high is not None:
                return f"differs: at random values it is {significant(self.low, 3)} to {significant(self.high, 3)} times what is derived"
        return "cannot be decided" if self.verdict == "undecided" else "differs"
