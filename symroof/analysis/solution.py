"""A solution for people and programs: the answer in a few words, what it means or why there is none; as JSON, and as the lines of a screen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from sympy import Symbol
from sympy.printing.pretty.pretty_symbology import greek_unicode

from symroof.analysis.case_summary import case_title, case_warnings, range_position, unused_inputs
from symroof.analysis.equation import to_whole
from symroof.analysis.solved_equation import SolvedEquation
from symroof.analysis.verdict import basis_of
from symroof.cases.checks import LENGTHS, lengths
from symroof.cases.values import Result, plain_value
from symroof.errors import NoValue
from symroof.symbolic.expressions import ZERO, Expr, names, operator_of, relation
from symroof.symbolic.printing import latex, shortened_formula, text
from symroof.symbolic.roots import Form
from symroof.units import format_quantity

FAR = 1e9
"""A value of the unknown so large that slower-growing terms no longer matter."""
SETTLED = 1e-4
LONGEST, LONGEST_SHOWN = 160, 80
"""Characters of a side that a sentence holds, and that a solution shows of itself."""
LONGEST_LIMIT = 240
"""Characters of a condition that is solved for the next symbol."""


class Solution(SolvedEquation):
    """A solved equation of one case.

    >>> from symroof.analysis.study import Study
    >>> solution = Study(model="llama-3-8b", hardware="h100-sxm", prompt=128).solve("batch_to_ridge")
    >>> solution
    <decode_compute_time = decode_memory_time for batch: at least 399 requests (138 to 2,773), bound at least 518 requests>
    >>> solution.verdict, solution.method, solution.integer, solution.within_memory
    ('crosses', 'closed_form', {'at_least': 399}, True)
    >>> solution.reason
    'from this batch on a decode step is limited by compute'

    Solutions of the same equation in the same case are equal, whichever study they come from; they can be copied and pickled.
    """

    def __repr__(self) -> str:
        """The equation with its answer in one line."""
        sides = " = ".join(shortened_formula(side, LONGEST_SHOWN) for side in self.written_sides)
        peak = f", bound {self.at_peak.in_ranges()}" if self.at_peak is not None else ""
        return f"<{sides} for {self.unknown}: {self.in_ranges()}{peak}>"

    @property
    def written_sides(self) -> tuple[str, str]:
        """Both sides in the grammar of formulas, of a text in the order of the text."""
        as_asked = isinstance(self.asked, str) and self.threshold is None
        left, right = (text(side, as_written=as_asked) for side in self.written.args)
        return left, right

    def _repr_latex_(self) -> str | None:
        """The closed forms of the answer with their conditions; None where there is none."""
        spelled, forms = self.spelled, self.answering
        if not forms:
            return None
        answer, both, row = latex(forms[0].root, spelled), r" \wedge ", r" \\ "
        if len(forms) > 1:
            met = [both.join(latex(c, spelled) for c, _ in self.shown_conditions(f)) for f in forms]
            roots = (latex(form.root, spelled) for form in forms)
            lines = (rf"{root} & \text{{if }} {own}" for root, own in zip(roots, met, strict=True))
            answer = rf"\begin{{cases}} {row.join(lines)} \end{{cases}}"
        return rf"$\displaystyle {spelled(self.unknown)} = {answer}$"

    def shown_conditions(self, form: Form) -> list[tuple[Expr, bool | None]]:
        """The conditions of a form as people read them, in the times that they compare, and whether each holds."""
        moved = any(self.x in given.free_symbols for given in form.conditions)
        times = self.times_compared if moved else {}
        met = form.met or (None,) * len(form.conditions)
        return [
            (relation(operator_of(given), *(times.get(side, side) for side in given.args)), holds)
            for given, holds in zip(form.conditions, met, strict=True)
        ]

    def shown(self) -> str:
        """The whole number or value with its unit, or "never"; "any" where every value does."""
        said = {"identical": "everywhere", "conditional": "depends on the inputs"}
        if self.verdict in said:
            return said[self.verdict]
        if self.value is None:
            return "always exists" if self.verdict == "crosses" else self._none()
        if not self.integer or (self.threshold is None and ZERO in self.sides):
            # a place, as an extremum: no whole number is asked for
            return Result(self.declared, self.value).plain()
        ((word, last),) = self.integer.items()
        return f"{word.replace('_', ' ')} {Result(self.declared, last).plain()}"

    def _none(self) -> str:
        """The answer where the sides do not meet."""
        met = self.threshold.met if self.threshold else ""
        return "any" if met and self.verdict == f"lhs_{met}" else "never"

    def in_ranges(self) -> str:
        """The answer at the middle of the ranges, and how far it moves over them."""
        value, (low, high, everywhere) = self.shown(), self.extent
        if low is None or high is None:
            return value

        def end(value: float) -> str:
            if self.declared.counted:
                return f"{to_whole(value, self.kind):,}"
            return Result(self.declared, value).plain()

        first, last = end(low), end(high)
        if first == last and everywhere:
            return value
        digits, _, unit = first.partition(" ")
        least = digits if unit and last.endswith(f" {unit}") else first
        ends = first if first == last else f"{least} to {last}"
        if self.value is None:
            return f"{self._none()} {range_position(self.bound_case)}; {ends} in part of them"
        return f"{value} ({ends}{'' if everywhere else '; in part of the ranges only'})"

    @property
    def why_numeric(self) -> str:
        """Why there is no closed form; empty where there is one."""
        found = self.candidates
        if self.answering:
            return ""
        if self.value is not None and found.because:
            return found.because.replace("the unknown", self.unknown)
        if self.missing and found.more:
            return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
        same = self.verdict == "identical"
        return "the two sides are the same" if same else "the two sides do not meet"

    @cached_property
    def reason(self) -> str:
        """A plain sentence: the meaning of the number, or why there is none."""
        sentence = self._meaning() + self._beyond_context()
        if self.missing and self.candidates.more:
            sentence += "; more cases are possible than are listed"
        if self.missing and self.verdict in ("crosses", "conditional"):
            sentence += f"; its number needs {self.missing}"
        return sentence

    def _beyond_context(self) -> str:
        """The remark where the answer is a request longer than the model's context."""
        case, unknown = self.bound_case, self.unknown
        model, sizes = case.model, lengths(case.given)
        together = next((names for names in LENGTHS if unknown in names), ())
        if not (together and self.whole and model and model.max_context):
            return ""
        sizes = {**sizes, unknown: self.whole}
        if sum(sizes.get(name, 0) for name in together) <= model.max_context:
            return ""
        return f"; beyond {model.shown_name}'s maximum context of {model.max_context:,} tokens"

    def _meaning(self) -> str:
        verdict, threshold, value = self.verdict, self.threshold, self.value
        means: str = threshold.means if threshold else ""
        start = f"{means}; " if means else ""
        if verdict == "identical":
            return "both sides are the same"
        if verdict == "conditional":
            if self.candidates.every or self.candidates.more:
                return f"{start}there is an answer where the conditions below hold"
            return f"{start}the two sides meet at no positive {self.unknown}, unless they are the same at every one"
        if value is None and verdict == "crosses":
            return means or "an answer always exists"
        if value is None:
            return self._never()
        if self.integer and round(value, 9) < 1:
            return f"{start}the exact crossing is below one, at {format_quantity(value, '')}"
        if means:
            return means
        lhs, rhs = self._short_sides()  # the larger before and after the crossing
        sooner = self.larger_before(value) if len(self.values) == 1 else 0
        if sooner and self.larger_at(2 * value) == -sooner:
            words = ("below", "above") if sooner < 0 else ("above", "below")
            return f"{lhs} is {words[0]} {rhs} before this value and {words[1]} it after"
        return f"{lhs} and {rhs} meet here"

    def _never(self) -> str:
        """Which side stays the larger, for which values of the unknown, and why."""
        (lhs, rhs), growth, unknown = self._short_sides(), self._growth(), self.unknown
        larger = "above" if self.verdict == "lhs_above" else "below"
        threshold = self.threshold
        why = f": {threshold.never(self.verdict)}" if threshold else ""
        reach, pole = f"every {unknown}", self.found.pole if self.found else None
        if pole is not None:
            reach = f"{unknown} up to {format_quantity(pole, '')}, where a denominator is zero,"
        return f"{lhs} stays {larger} {rhs} for {reach}{why}{f' ({growth})' if growth else ''}"

    def _short_sides(self) -> list[str]:
        """The sides as they are written, a long one by its place."""
        pairs = zip(self.written_sides, ("left", "right"), strict=True)
        return [side if len(side) <= LONGEST else f"the {place} side" for side, place in pairs]

    def _growth(self) -> str:
        """What each further unit of the unknown adds to the sides far out, where that is settled: why they never meet. Over ranges there is no one number to report."""
        unknown, case = self.unknown, self.bound_case
        named = next((side.name for side in self.sides if isinstance(side, Symbol)), "")
        if not self.moves:
            return f"this does not depend on {unknown} here"
        if not named or not self.declared.counted or not case.measured_alone:
            return ""
        grown, of = [], case.case.theory.symbol(named)
        try:
            ends = self.over_arrays()(FAR * np.arange(1.0, 4.0), 0)
        except NoValue:
            return ""
        for values, name in zip(ends, self._short_sides(), strict=True):
            first, second, third = np.broadcast_to(values, 3)
            if not abs(third - 2 * second + first) <= SETTLED * abs(second - first):
                return ""
            if first != second:
                grown.append(f"{Result(of, float(second - first) / FAR).plain()} to {name}")
        each = self.declared.display_unit or unknown
        return f"each {each} adds {' and '.join(grown)}" if grown else ""


def solution_json(solution: Solution) -> dict[str, Any]:
    """The form of the contract, ``symroof/solve/2``."""
    low, high, everywhere = solution.extent
    over_ranges: dict[str, Any] = {}
    if low is not None:
        over_ranges = {"low": plain_value(low), "high": plain_value(high), "everywhere": everywhere}
    if solution.at_peak is not None:
        over_ranges["bound"] = plain_value(solution.bound)
    return {
        "schema": "symroof/solve/2",
        "equation": dict(zip(("lhs", "rhs"), solution.written_sides, strict=True)),
        "unknown": solution.unknown,
        "verdict": solution.verdict,
        "method": solution.method,
        "domain": [plain_value(end) for end in solution.domain],
        "branches": [_form_json(form, solution) for form in solution.candidates.every],
        "values": [plain_value(value) for value in solution.values],
        "value": plain_value(solution.value),
        **over_ranges,
        "integer": solution.integer,
        "within_memory": solution.within_memory,
        "unit": solution.declared.unit,
        "reason": solution.reason,
        "assumed": {name: plain_value(entry.value) for name, entry in solution.defaults.items()},
        "warnings": [*without_effect(solution), *case_warnings(solution.bound_case)],
    }


def _form_json(form: Form, solution: Solution) -> dict[str, Any]:
    def both(tree: Expr) -> dict[str, Any]:
        return {"text": text(tree), "latex": latex(tree, solution.spelled)}

    return {
        "closed_form": None if form.root is None else both(form.root),
        "where": {name: both(tree) for name, tree in where(form, solution).items()},
        "conditions": [
            {**both(tree), "holds": holds} for tree, holds in solution.shown_conditions(form)
        ],
        "value": plain_value(form.value),
        "holds": form.value is not None,
    }


def where(form: Form, solution: Solution) -> dict[str, Expr]:
    """The definitions of the names in a closed form: its coefficients, and the derived quantities in it."""
    case, definitions = solution.bound_case.case, {short.name: long for short, long in form.named}
    for tree in (form.root, *definitions.values()):
        for name in names(tree) if tree is not None else ():
            known = name in definitions or name == solution.unknown
            if not known and case.theory.definition(name) is not None:
                definitions[name] = case.readable_formula(name)
    return definitions


def question(solution: Solution) -> list[str]:
    """What is asked, the equation, the case, and the basis of its times."""
    case, asked = solution.bound_case, " = ".join(solution.written_sides)
    timed = sorted(names(solution.relation)) if case.hardware else []
    threshold = solution.threshold
    first = [f"{threshold.name}: {threshold.means}", f"  {asked}"] if threshold else []
    first = first or [f"{asked}, solved for {solution.unknown}"]
    title = case_title(case) if case.model or case.hardware else ""
    return [*first, *(f"  {line}" for line in filter(None, (title, *basis_of(case, timed))))]


def answer(solution: Solution) -> list[str]:
    """The number, predicted and at the peak, and the sentence where it says more than the question."""
    first, at_peak = solution.in_ranges(), solution.at_peak
    least = at_peak.in_ranges() if at_peak is not None else ""
    peak = f"; at 100 % of peak: {least}" if least and least != first else ""
    asked = solution.threshold.means if solution.threshold else ""
    more = solution.reason.removeprefix(asked).removeprefix("; ")
    return [f"{solution.unknown}: {first}{peak}", *([f"  {more}"] if more else [])]


def remarks(solution: Solution) -> list[str]:
    """All crossings, whether it fits, why there is no closed form."""
    lines = []
    if len(solution.values) > 1:
        every = ", ".join(Result(solution.declared, x).plain() for x in solution.values)
        lines.append(f"all crossings: {every}")
    if solution.within_memory is not None:
        fits = "fits" if solution.within_memory else "does not fit"
        lines.append(f"{fits} in memory at this value")
    if solution.method == "numeric":
        why = solution.why_numeric or "crossings beyond the first have no closed form"
        lines.append(f"solved numerically: {why}")
    return lines


def without_effect(solution: Solution) -> list[str]:
    """What somebody set and this equation does not depend on, in one sentence."""
    asked = {solution.unknown, *names(solution.relation)}
    unused = unused_inputs(solution.bound_case, asked, targets_decide=False)
    return [f"no effect on this answer: {', '.join(unused)}"] if unused else []


GREEK = re.compile(r"\\(?:var)?([A-Za-z]+)")


def closed_form_lines(solution: Solution, short: bool) -> list[str]:
    """The closed forms with their conditions and what their names are: the first in ``short`` letters, or each over names and as LaTeX."""
    spelled = solution.spelled
    forms = [  # those that hold; of sides that never meet all
        form
        for form in solution.candidates.every
        if form.root is not None and (form.value is not None or solution.value is None)
    ]
    letters, defined = dict[str, str](), dict[str, Expr]()

    def letter(name: str) -> str:
        """The letter of a name in print; the name where another has its letter, or it has none."""
        if name not in letters:
            plain = re.sub(r"\\(?:mathrm|text|operatorname)|[{}]", "", spelled(name))
            found = GREEK.sub(lambda letter: greek_unicode.get(letter[1], letter[0]), plain)
            taken = len(found) >= len(name) or "\\" in found or found in letters.values()
            letters[name] = name if taken else found
        return letters[name]

    def written(tree: Expr) -> str:
        if not short:
            return text(tree)
        return text(tree, letter).replace("**", "^").replace("*", "·").replace(" - ", " − ")

    lines: list[str] = []
    for form in forms[: 1 if short else None]:
        lines.append(f"  {solution.unknown} = {written(form.root)}")
        named = {own.name: tree for own, tree in form.named} if short else where(form, solution)
        fresh = {name: tree for name, tree in named.items() if defined.get(name) != tree}
        lines += [f"    with {name} = {written(tree)}" for name, tree in fresh.items()]
        defined |= fresh
        for whole, (shown, holds) in zip(form.trees, solution.shown_conditions(form), strict=True):
            if not (short and holds):
                said = _in_numbers(whole, solution, written) or written(shown)
                lines.append(f"    if {said}{', which does not hold here' * (holds is False)}")
    told = [f"{one} {name}" for name, one in letters.items() if one != name]
    lines += [f"  where {' · '.join(told)}"] if told else []
    if short or not forms:
        return lines
    roots = [f"  {spelled(solution.unknown)} = {latex(form.root, spelled)}" for form in forms]
    return [*lines, "as LaTeX", *roots]


def _in_numbers(condition: Expr, solution: Solution, written: Callable[[Expr], str]) -> str:
    """A condition solved for the next symbol, in numbers where they are known; empty where that is not readable."""
    limit = solution.solved_condition(condition)
    if limit is None or len(text(limit)) > LONGEST_LIMIT:
        return ""
    with suppress(NoValue):
        value = float(solution.bound_case.case.evaluate(limit.rhs))
        declared = solution.bound_case.case.theory.symbol(limit.lhs.name)
        whole = math.floor(value) if declared.counted else value
        if value >= 1:
            return f"{limit.lhs} {operator_of(limit)} {Result(declared, whole).plain(3)}"
    return written(limit)
