"""A claim about a whole range: the subranges in which it holds are solved for, not searched."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.claims.claim_settings import declarations_of, study_of
from symroof.claims.read.written_number import read_written
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec
from symroof.specs.fields import ValueRange, parse_range
from symroof.specs.input_values import symbol_of
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, Max, is_label, is_relation
from symroof.symbolic.printing import text

Outcome = bool | str
Part = tuple[Fraction, Fraction, Outcome]
"""The ends of a subrange and the outcome in it."""


@dataclass(frozen=True)
class RangeOutcomes:
    """A range of one input, split where the outcome of a claim may change.

    Attributes:
        parts: each subrange with its ends and the outcome in it.
        claimed: the outcome that is claimed.
        in_closed_form: whether every split is known in closed form: then no other change is possible.
    """

    name: str
    counted: bool
    parts: tuple[Part, ...]
    claimed: Outcome | None
    in_closed_form: bool

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        return tuple(dict.fromkeys(outcome for _, _, outcome in self.parts))

    @property
    def failing(self) -> str:
        """Where the claim does not hold: ``not for prompt 1 to 308``."""
        ends = [(low, high) for low, high, outcome in self.parts if outcome != self.claimed]
        return ", ".join(
            f"not for {self.name} {self._end(low, ceil(low))} to {self._end(high, floor(high))}"
            for low, high in ends
        )

    def _end(self, value: Fraction, whole: int) -> str:
        """An end of a subrange: of a count the first or the last whole number in it."""
        return f"{whole:,}" if self.counted else f"{float(value):.6g}"


def range_outcomes(claim: ClaimSpec, relation: Expr) -> RangeOutcomes | None:
    """The subranges of the one ranged input; None where several are ranged, or where nothing can be solved for."""
    if len(claim.for_all) != 1:
        return None
    name, span = next((str(name), str(span)) for name, span in claim.for_all.items())
    try:
        symbol = symbol_of(name, declarations_of(claim.given))
        ends = parse_range(span, symbol.unit, symbol.written_in)
        answers = study_of({key: value for key, value in claim.given.items() if key != name}).first
        solved = [solve(equation, answers, name) for equation in _edges(relation, claim)]
        cuts = {
            Fraction(value)
            for solution in solved
            for value in solution.values
            if ends.low < value < ends.high
        }
        pairs = pairwise(sorted({ends.low, *cuts, ends.high}))
        # else no whole number in it
        inner = [(a, b) for a, b in pairs if not symbol.counted or ceil(a) <= floor(b)]
        middles = [
            (low, high, _outcome(relation, answers, name, (low + high) / 2)) for low, high in inner
        ]
        parts = tuple(
            _whole_ends(part, relation, answers, name) if symbol.counted else part
            for part in middles
        )
        edges = all(
            _outcome(relation, answers, name, end) in {outcome for _, _, outcome in parts}
            for end in (ends.low, ends.high)
        )
        claimed = read_written(claim.value, "").word
    except (InputError, NoValue, ValueError, IndexError):
        return None
    return RangeOutcomes(
        name,
        symbol.counted,
        parts,
        claimed,
        edges and bool(solved) and all(_covers(one, ends) for one in solved),
    )


def _whole_ends(part: Part, relation: Expr, answers: BoundCase, name: str) -> Part:
    """A subrange of a count from its first to its last whole number: one at which the outcome turns belongs to one side of it alone."""
    low, high, outcome = part
    first, last = Fraction(ceil(low)), Fraction(floor(high))
    if _outcome(relation, answers, name, first) != outcome:
        first += 1
    if _outcome(relation, answers, name, last) != outcome:
        last -= 1
    return (first, last, outcome) if first <= last else part


def _covers(solution: Solution, ends: ValueRange) -> bool:
    """Whether every crossing in the range is known in closed form."""
    low, high = solution.domain
    return (
        solution.method == "closed_form" and low <= ends.low and (high is None or ends.high <= high)
    )


def _edges(relation: Expr, claim: ClaimSpec) -> list[str]:
    """The equations at whose solutions the claim may change."""
    if is_relation(relation):
        return [f"{text(relation.lhs)} = {text(relation.rhs)}"]
    if not is_label(relation):
        return []
    own = next((arm for label, arm in relation.arms if label == claim.value), None)
    others = [arm for label, arm in relation.arms if arm != own]
    return [f"{text(own)} = {text(Max(*others))}"] if own is not None and others else []


def _outcome(relation: Expr, answers: BoundCase, name: str, point: Fraction) -> Outcome:
    outcome = answers.case.changed({name: point}).evaluate(relation)
    return outcome if isinstance(outcome, bool) else str(outcome)
