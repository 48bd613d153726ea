"""A solved equation of one case: the crossings, the whole number to act on, whether memory allows it, and its meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from sympy import Basic

from symroof.analysis.closed_branches import Branch, Branches, Condition, EquationForms
from symroof.analysis.equations import as_asked
from symroof.analysis.posed_equation import PosedEquation, balanced
from symroof.analysis.solution_sympy import InSympy
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result, plural
from symroof.errors import InputError
from symroof.symbolic.axis_points import SAME, Crossings
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, Expr, fraction, is_number, names, number
from symroof.symbolic.printing import latex, shortened_formula, text
from symroof.symbolic.stretches import Stretch, longest, stretches, words
from symroof.theory.case import Case
from symroof.theory.symbols import GROUPS, Symbol, base_name
from symroof.theory.thresholds import Threshold
from symroof.units import format_quantity, settled, significant

COEFFICIENTS = ("c0", "c1", "c2")
"""The names of the coefficients of a long root."""
LONGEST = 80
"""Characters of a side that a solution shows of itself."""

MOST_DEGREES = 1024
"""How many numbers of devices beyond a crossing are tried."""
LIMIT, REACH = "limit", "reach"
CLOSE = Fraction(1, 10**12)
"""How near a crossing lies to a whole number that it is, as a share of it."""
OF_MODEL = frozenset(
    symbol.name for group in ("architecture", "precision") for symbol in GROUPS[group]
)
"""Inputs that come with the model."""
CLAIMS_MEMORY = ("batch", "context", "prompt", "output", "prefill_batch")
"""Unknowns that take memory: for these the answer is tested for whether the case still fits."""


def to_whole(value: Fraction, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE * max(near, 1):
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


ABOVE, BELOW = "above", "below"
"""Where a crossing has beyond that no longer exists: beyond every value of the unknown, or short of every one."""
NO_END = {REACH: ("never", "any"), LIMIT: ("no limit", "none")}
"""The ends of a range of crossings where some corner has none: what is reached at no value or at any, what is limited by nothing or allows none."""


class Extent(NamedTuple):
    """How far a crossing moves over the ranges of its case.

    Attributes:
        low, high: the least and the largest; None where nothing is a range, or the sides meet nowhere in them.
        everywhere: whether there is one in the middle and at every corner.
        beyond: where it has beyond at the corners that have none, as far as that is known.
    """

    low: Fraction | None
    high: Fraction | None
    everywhere: bool
    beyond: frozenset[str] = frozenset()


@dataclass(repr=False, eq=False)
class Solution(InSympy):
    """A solved equation of one case.

    >>> from symroof.analysis.study import Study
    >>> solution = Study(model="llama-3-8b", hardware="h100-sxm", prompt=128).solve("batch_to_ridge")
    >>> solution
    <decode_compute_time = decode_memory_time for batch: expected at least 411 requests (184 to 1,504), bound at least 518 requests; assumed mfu = 1, mbu = 1>
    >>> solution.verdict, solution.method, solution.integer, solution.within_memory
    ('crosses', 'closed_form', {'at_least': 518}, True)
    >>> solution.reason
    'from this batch on a decode step is limited by compute'

    Attributes:
        equation: the equation as it is named, in SymPy; ``relation`` is its formula, ``asked`` what was asked: text, a name or SymPy.
        unknown: the name solved for.
        kind: ``reach`` or ``limit``: which way a crossing is rounded.
        bound_case: the case.
        threshold: the named threshold, where the equation is one.
        missing: the input that a number would need, where the answer is symbolic: without a case, or with one that lacks it.
        found: what the search found; None where the answer is symbolic.
        without_numbers: the closed forms of a symbolic answer.
        verdict: ``crosses``, ``lhs_above``, ``lhs_below``, ``identical``; ``conditional`` without numbers.
        value: the first crossing, in double precision; None where the sides never meet. Over ranges of inputs it is that at their middle,
            and ``low`` and ``high`` are the least and the largest at the corners; ``everywhere`` is whether each corner has one.
        integer: ``{"at_least": n}`` or ``{"at_most": n}`` where the unknown counts things; both where a threshold holds from one number to another.
        within_memory: whether the case still fits at that value; None where memory is not known or not concerned.
        reason: a plain sentence.
        assumed: the inputs that nobody gave, at their defaults; empty without numbers.
        sympy: the closed form; without numbers every candidate, as a ``Piecewise``.
        branches: every candidate with its conditions, in SymPy; ``conditions`` and ``limits`` are what the closed form rests on.
        where: what the derived quantities in these are in inputs; ``expanded`` is the closed form in inputs alone.

    Solutions of the same equation in the same case are equal, whichever study they come from; they can be copied and pickled.
    """

    asked: Any
    relation: Expr
    unknown: str
    kind: str
    bound_case: BoundCase
    solve_again: Callable[[Any, BoundCase, str], Solution]
    explain: Callable[[Solution], str]
    found: Crossings | None = None
    threshold: Threshold | None = None
    missing: str | None = None
    without_numbers: Branches | None = None

    @property
    def sides(self) -> tuple[Expr, Expr]:  # type: ignore[override]
        """Left and right as formulas, for the rooms of this package."""
        return self.relation.lhs, self.relation.rhs

    @property
    def posed(self) -> PosedEquation:
        return PosedEquation(self.relation, self.unknown, self.bound_case)

    @property
    def moves(self) -> bool:
        """Whether a side depends on the unknown in this case."""
        return self.posed.moves

    @property
    def verdict(self) -> str:  # type: ignore[override]
        """Whether the sides meet, or which side stays the larger."""
        return self.found.verdict if self.found else self.candidates.verdict

    @property
    def method(self) -> str:
        """``closed_form``, or ``numeric`` where a crossing has none of readable size."""
        return self.candidates.method

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """Every crossing, in rising order, in base units."""
        return tuple(self.found.values) if self.found else ()

    @property
    def value(self) -> Fraction | None:
        """The first crossing, in base units."""
        return self.values[0] if self.values else None

    @property
    def domain(self) -> tuple[Any, Any]:
        """Where the unknown can lie; of sides that never meet, up to where a denominator vanishes."""
        if self.found is None:
            return Fraction(0), None
        axis = self.posed.axis(self.bound_case.case)
        end = axis.high if self.found.pole is None else self.found.pole
        return axis.low, end

    @cached_property
    def candidates(self) -> Branches:  # type: ignore[override]
        """The closed forms with their conditions, as formulas; found when they are first asked for."""
        if self.without_numbers is not None or self.found is None:
            return self.without_numbers or Branches()
        forms = EquationForms(self.relation, self.unknown, self.bound_case)
        if self.values:
            return forms.at_crossings(self.values)
        return (
            forms.candidate(self.found.searched[1]) if self.verdict != "identical" else Branches()
        )

    @property
    def branch(self) -> Branch | None:
        """The branch that gives the value, or the first that would if its conditions held."""
        every = self.candidates.every
        return next((b for b in every if b.value == self.value), every[0] if every else None)

    @property
    def low(self) -> Fraction | None:
        """The least first crossing over the ranges of the inputs; None where nothing is a range, or the sides meet nowhere in them.

        >>> from symroof.analysis.study import Study
        >>> solution = Study("llama-3-8b", "h100-sxm", prompt=4096, mbu="0.5..0.9").solve("itl = 20 ms", "batch")
        >>> [round(float(crossing), 1) for crossing in (solution.low, solution.value, solution.high)], solution.everywhere
        ([34.1, 58.8, 83.5], True)
        """
        return self.extent.low

    @property
    def high(self) -> Fraction | None:
        """The largest, as :attr:`low` is the least."""
        return self.extent.high

    @property
    def everywhere(self) -> bool:
        """Whether the sides meet at every corner of the ranges; of a case without ranges, whether they meet."""
        return self.extent.everywhere

    @cached_property
    def extent(self) -> Extent:
        """The least and the largest crossing over the ranges, whether there is always one, and where it has beyond if not."""
        corners = () if self.symbolic or self.starts_later else self.at_corners
        if not corners:
            return Extent(None, None, self.value is not None)
        firsts = [crossings[0] for crossings in corners if crossings]
        met = [*firsts, *([] if self.value is None else [self.value])]
        everywhere = len(firsts) == len(corners) and self.value is not None
        if not met:
            return Extent(None, None, False)
        beyond = frozenset() if everywhere or self.value is None else self.side_beyond(self.value)
        return Extent(min(met), max(met), everywhere, beyond)

    @cached_property
    def at_corners(self) -> tuple[tuple[Any, ...], ...]:
        """The crossings at each corner of the case's ranges; none where nothing is ranged, or the unknown itself is."""
        points = self.bound_case.corner_points if self.bound_case.box and not self.symbolic else []
        if not points or self.unknown in self.bound_case.box:
            return ()
        return self.crossings_at({name: [point[name] for point in points] for name in points[0]})

    def crossings_at(self, columns: Mapping[str, Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
        """The crossings where some inputs have other values: one search for all columns."""
        floats = {name: tuple(map(float, values)) for name, values in columns.items()}
        return tuple(map(tuple, self.posed.crossings_at(floats)))

    def side_beyond(self, crossing: Fraction) -> frozenset[str]:
        """Where a crossing has gone at the corners that have none: above every value of the unknown, below every one, or both; nothing where that is not known.

        Where the sides never meet, one is the larger throughout. If it is the one that is larger before the crossing, there the crossing
        would come later than any value; else it would have come before.

        >>> from symroof.analysis.study import Study
        >>> solution = Study("llama-3-8b", "h100-sxm", prompt=512, mfu="0.2..0.9", mbu=0.8).solve("batch_to_ridge")
        >>> [len(crossings) for crossings in solution.at_corners], sorted(solution.side_beyond(solution.value))
        ([1, 0], ['above'])
        """
        before, ends = self.before(crossing), set()
        point = max(crossing, Fraction(1)).__ceil__() if self.symbol.counted else crossing
        for case, crossings in zip(self.bound_case.corners, self.at_corners, strict=False):
            if crossings:
                continue
            side = self._side_in(case, point)
            if not before or not side:
                return frozenset()
            ends.add(ABOVE if side == before else BELOW)
        return frozenset(ends)

    @cached_property
    def expected(self) -> Solution | None:
        """The answer at the efficiencies that measurements lead to expect, where the case gives none and a side depends on them: :attr:`value` is then a bound.

        >>> from symroof.analysis.study import Study
        >>> solution = Study("llama-3-8b", "h100-sxm", prompt=4096).solve("itl = 20 ms", "batch")
        >>> [round(float(each.value), 1) for each in (solution, solution.expected)]
        [95.9, 57.6]
        """
        own = self.bound_case
        case = (
            own if own.case.numbers else own.with_changes()
        ).expected_case  # a degree that is solved for is open here, and again there
        if (
            case is None
            or self.symbolic
            or not any(map(self.bound_case.case.theory.timed, self._names))
        ):
            return None
        try:
            return self.solve_again(self.asked, case, self.unknown)
        except InputError:
            return None

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of both sides."""
        return tuple(dict.fromkeys(name for side in self.sides for name in names(side)))

    @cached_property
    def written(self) -> Expr:
        """The equation as it was asked, its numbers with their units: for printing alone."""
        return as_asked(self.asked, self.relation, self.bound_case.case.theory.own)

    @property
    def written_sides(self) -> tuple[str, str]:
        """Both sides in the grammar of formulas, of a text in the order of the text."""
        as_written = isinstance(self.asked, str) and self.threshold is None
        left, right = (text(side, as_written=as_written) for side in self.written.args)
        return left, right

    @property
    def symbol(self) -> Symbol:
        """The unknown with its unit and meaning."""
        return self.bound_case.case.theory.symbol(self.unknown)

    @cached_property
    def assumed(self) -> dict[Any, Any]:
        """Symbol -> number, of each input that the answer rests on and that nobody gave: its default. Empty where the answer is symbolic.

        >>> from symroof.analysis.study import Study
        >>> Study("llama-3-8b", "h100-sxm", engine="ideal", prompt=1024, weights="fp8", kv="fp8").solve("max_context_memory").assumed
        {memory_reserve: 0, batch: 1, memory_share: 1}
        >>> Study().solve("max_context_memory").assumed
        {}
        """
        from symroof.symbols import symbol

        return {
            symbol(name, self.bound_case.case.theory.own): number(entry.value)
            for name, entry in self.defaults.items()
        }

    @cached_property
    def defaults(self) -> dict[str, Result]:
        """The same by name, with units."""
        if self.symbolic:
            return {}
        inputs = self.bound_case.inputs(self._names, everything=False)
        moved = [
            name
            for name, valued in self.bound_case.given.items()
            if isinstance(valued.setting, Basic) and self.unknown in names(valued.setting)
        ]  # by the answer: no number was assumed
        return {
            name: entry
            for name, entry in inputs.items()
            if entry.defaulted and name not in (self.unknown, *moved)
        }

    def spelled(self, name: str) -> str:
        """How formulas of the answer spell a name, the coefficients of a long one included."""
        return (
            f"{name[0]}_{name[1:]}"
            if name in COEFFICIENTS
            else self.bound_case.case.theory.latex(name)
        )

    @cached_property
    def integer(self) -> dict[str, int] | None:
        """The whole-number answer, from the values at it and at its neighbours."""
        if not self.symbol.counted or self.value is None:
            return None
        if stretch := longest(self.stretches):
            first, last = stretch
            return {
                **({} if last is None else {"at_most": last}),
                **({"at_least": first} if first > 1 or last is None else {}),
            }
        return {"at_most" if self.kind == LIMIT else "at_least": self.rounded(self.value)}

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """First and last of each run of whole numbers at which the threshold holds, where it can start to hold more than once; else empty."""
        if (
            self.threshold is None
            or not self.threshold.holds
            or self.value is None
            or self.symbolic
        ):
            return ()
        return stretches(self.values, self.side, self.threshold.holds)

    @property
    def starts_later(self) -> bool:
        """Whether the threshold holds from a number on, not up to one: its first crossing alone says nothing."""
        return bool(self.stretches) and self.integer is not None and "at_least" in self.integer

    def rounded(self, value: Fraction) -> int:
        """A crossing as the whole number it allows: the last that keeps a limit, the first that reaches.

        The sides are evaluated at the candidate and its neighbours, as a jump may lie just behind a whole number.
        """
        down, up = to_whole(value, LIMIT), to_whole(value, REACH)
        before = self.before(value)
        if not before:
            return to_whole(value, self.kind)
        if self.unknown == "tp":
            return next(
                (n for n in self.degrees(max(up, 1)) if self.side(n) in (-before, 0)), max(up, 1)
            )
        if self.kind == LIMIT:
            return next((n for n in (down, down - 1) if n < 1 or self.side(n) in (before, 0)), down)
        return next(
            (n for n in (up, up + 1) if n >= 1 and self.side(n) in (-before, 0)), max(up, 1)
        )

    def degrees(self, first: int, up: bool = True) -> Iterator[int]:
        """Numbers of devices that can share out the key and value heads, from one on, upwards or downwards."""
        tried = range(first, first + MOST_DEGREES) if up else range(first, 0, -1)
        return (n for n in tried if self.bound_case.case.can_split_heads(n))

    def before(self, value: Fraction) -> int:
        """Which side is the larger just before a crossing; 0 where that is undecided."""
        earlier = max((v for v in self.values if v < value), default=self.domain[0])
        side = self.side((earlier + value) / 2)
        if side is None and self.symbol.counted:  # between whole numbers a sum has no value
            side = self.side(math.ceil(value) - 1)
        return side or 0

    def side(self, point: Fraction | int) -> int | None:
        """The sign of left less right at a value of the unknown, by the definitions themselves."""
        return self._side_in(self.bound_case.case, point)

    def _side_in(self, case: Case, point: Fraction | int) -> int | None:
        relation = balanced(self.relation)
        there = case.changed({self.unknown: point})
        try:
            left, right = (float(there.evaluate(side)) for side in (relation.lhs, relation.rhs))
        except (NoValue, OverflowError):
            return None
        if abs(left - right) <= SAME * max(abs(left), abs(right)):
            return 0
        return 1 if left > right else -1

    @cached_property
    def own_side(self) -> int | None:
        """The sign of left less right at the unknown's own value in the case; None where it has none, or the sides have none there.

        >>> from symroof.analysis.study import Study
        >>> [Study("llama-3-8b", "h100-sxm", prompt=4096, batch=batch).solve("itl = 20 ms", "batch").own_side for batch in (1, 200)]
        [-1, 1]
        """
        own = self.bound_case.given.get(self.unknown)
        return (
            self.side(fraction(own.setting))
            if own is not None and is_number(own.setting) and not self.symbolic
            else None
        )

    @cached_property
    def whole(self) -> Fraction | None:
        """The value to act on: the whole number where things are counted, else the crossing."""
        return Fraction(next(iter(self.integer.values()))) if self.integer else self.value

    @cached_property
    def within_memory(self) -> bool | None:
        """Whether the case fits in memory with the unknown at its whole-number answer."""
        if self.whole is None or self.whole < 1 or self.unknown not in CLAIMS_MEMORY:
            return None
        try:
            return bool(self.bound_case.case.changed({self.unknown: self.whole}).value("fits"))
        except NoValue:
            return None

    @property
    def flags(self) -> tuple[str, ...]:
        """``does_not_fit`` where the answer is beyond memory."""
        return (DOES_NOT_FIT,) if self.within_memory is False else ()

    def shown(self) -> str:
        """The answer in a few words: the whole number or value with its unit, or "never".

        Where a side is 0, as of the derivative at an extremum, no whole number is asked for, and the place itself is the answer.

        >>> from symroof.analysis.study import Study
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096)
        >>> study.solve("itl = 10 ms", "batch").shown(), study.solve("itl - 10 ms = 0", "batch").shown()
        ('at least 35 requests', '34.11 requests, between 34 and 35')
        """
        if self.verdict == "identical":
            return "everywhere"
        if self.verdict == "conditional":
            return "depends on the conditions"
        if self.verdict == "crosses" and self.value is None:
            return "always one, by the formula"
        if self.value is None:
            return "never"
        if self.integer and self.threshold is None and ZERO in self.sides:
            return self._place(self.value)
        if self.integer and len(self.integer) > 1:
            first, last = self.integer["at_least"], self.integer["at_most"]
            return f"{words((first, last))} {plural(self.symbol.display_unit, Fraction(last))}"
        if self.integer:
            (word, number), unit = next(iter(self.integer.items())), self.symbol.display_unit
            return f"{word.replace('_', ' ')} {number:,}" + (
                f" {plural(unit, Fraction(number))}" if unit else ""
            )
        return format_quantity(self.value, self.symbol.display_unit)

    def _place(self, value: Fraction) -> str:
        """A crossing of a count as it lies, between two whole numbers or on one."""
        value = settled(value)
        unit = self.symbol.display_unit
        named = f" {plural(unit, value)}" if unit else ""
        if value.denominator == 1:
            return f"{value.numerator:,}{named}"
        return (
            f"{significant(value)}{named}, between {math.floor(value):,} and {math.ceil(value):,}"
        )

    def _repr_html_(self) -> str:
        from symroof.drawing.table_formats import card, html_table

        bound = f"; bound {self.in_ranges()}" if self.expected is not None else ""
        said = f"{self.unknown}: {f'expected {self.expected.in_ranges()}' if self.expected is not None else self.in_ranges()}{bound}"
        rows = [
            ["equation", " = ".join(self.written_sides)],
            ["solved for", self.unknown],
        ]
        rows += (
            [["within memory", "yes" if self.within_memory else "no"]]
            if self.within_memory is not None
            else []
        )
        states: dict[bool | None, str] = {
            True: "condition, holds",
            False: "condition, does not hold",
        }
        rows += [
            [
                "only if" if self.symbolic else states.get(condition.holds, "condition"),
                text(readable_condition(condition)),
            ]
            for condition in self._conditions
        ]
        form = (self._repr_latex_() or "").strip("$").removeprefix(r"\displaystyle ")
        return card([said, self.reason], html_table(["", ""], rows), form)

    def _repr_latex_(self) -> str | None:
        branches = self._answering
        if not branches:
            return None
        forms = [
            latex(branch.shown, self.spelled) for branch in branches if branch.shown is not None
        ]
        if len(forms) > 1:
            conditions = (
                r" \wedge ".join(
                    latex(readable_condition(c), self.spelled) for c in branch.conditions
                )
                for branch in branches
            )
            cases = r" \\ ".join(
                rf"{form} & \text{{if }} {condition}"
                for form, condition in zip(forms, conditions, strict=True)
            )
            forms = [rf"\begin{{cases}} {cases} \end{{cases}}"]
        return rf"$\displaystyle {self.spelled(self.unknown)} = {forms[0]}$"

    @property
    def _key(self) -> tuple[Any, ...]:
        case = self.bound_case.case
        return (
            self.relation,
            self.unknown,
            self.kind,
            self.threshold,
            self.missing,
            self.found,
            self.without_numbers,
            self.bound_case.with_changes(),
            case.free,
            dict(case.numbers),
        )

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Solution) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.relation, self.unknown))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.asked, *self._key, self.solve_again, self.explain)

    def in_ranges(self) -> str:
        """The answer at the middle of the ranges, and how far it moves over them; the same as :meth:`shown` where it does not.

        >>> from symroof.analysis.study import Study
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=512, mfu="0.3..0.9")
        >>> study.solve("batch_to_ridge").in_ranges(), study.solve("max_batch_memory").in_ranges()
        ('at least 1,083 requests (150 to never)', 'at most 882 requests')
        """
        value, (low, high, everywhere, beyond) = self.shown(), self.extent
        if low is None or high is None:
            return value
        first, last = self._end(low), self._end(high)
        if first == last and everywhere:
            return value
        if beyond:
            past, short = NO_END[self.kind]
            return f"{value} ({short if BELOW in beyond else first} to {past if ABOVE in beyond else last})"
        digits, _, unit = first.partition(" ")
        ends = (
            f"{digits if unit and last.endswith(f' {unit}') else first} to {last}"
            if first != last
            else first
        )
        if self.value is None:
            return f"never {self.bound_case.range_position}; {ends} in a part of them"
        return f"{value} ({ends}{'' if everywhere else ', in a part of the ranges only'})"

    def _end(self, value: Fraction) -> str:
        return (
            f"{to_whole(value, self.kind):,}"
            if self.symbol.counted
            else format_quantity(value, self.symbol.unit)
        )

    def __repr__(self) -> str:
        sides = " = ".join(shortened_formula(side, LONGEST) for side in self.written_sides)
        answer = (
            self.in_ranges()
            if self.expected is None
            else f"expected {self.expected.in_ranges()}, bound {self.in_ranges()}"
        )
        return f"<{sides} for {self.unknown}: {answer}{self._rests_on()}>"

    def _rests_on(self) -> str:
        """The load and the efficiencies that nobody gave, where they change the answer: those that are not 0, which adds nothing."""
        told = [
            f"{name} = {entry.text()}"
            for name, entry in self.defaults.items()
            if entry.value and base_name(name) not in OF_MODEL
        ]
        return f"; assumed {', '.join(told)}" if told and self.value is not None else ""

    @cached_property
    def reason(self) -> str:
        """A plain sentence: the meaning of the number, or why there is none."""
        return self.explain(self)


def _restored(
    asked: Any, relation: Expr, unknown: str, kind: str, threshold: Threshold | None, missing: str | None, found: Crossings | None,
    without_numbers: Branches | None, bound_case: BoundCase, free: frozenset[str], numbers: dict[str, Any], solve_again: Any, explain: Any,
) -> Solution:  # fmt: skip
    """A solution as it was pickled or copied, whatever was computed in its case left to be computed again."""
    bound_case = bound_case.at(bound_case.case.changed(numbers)) if numbers else bound_case
    case = bound_case.without_values(free)
    return Solution(
        asked,
        relation,
        unknown,
        kind,
        case,
        solve_again,
        explain,
        found,
        threshold,
        missing,
        without_numbers,
    )


def readable_condition(condition: Condition) -> Expr:
    """A condition in the shortest names."""
    return condition.tree if condition.abbreviated is None else condition.abbreviated
