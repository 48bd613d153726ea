"""The SymPy side of a solution: the form that holds in a case, or every candidate under conditions free of the unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import Any

from symroof.analysis.expressions import in_sympy
from symroof.analysis.readable_conditions import solved_condition
from symroof.cases.bound_case import BoundCase
from symroof.formula import build
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.random_points import RandomPoint
from symroof.formula.rewrite import rebuild, substitute
from symroof.formula.tree import ZERO, Call, Compare, Expr, Name, mentions, names
from symroof.solver.closed_forms import plainly_positive
from symroof.solver.rational import NotRational, Polynomial, rational, shared_factors_out
from symroof.solver.result import CLOSED, Branch, Condition, Solved
from symroof.solver.symbolic import join_signs, split_signs
from symroof.theory.symbols import INPUTS, base_name


def expression(form: Expr, bound_case: BoundCase) -> Any:
    """A formula in SymPy. Where degrees are free in the case, what it names only then is written out."""
    if bound_case.case.free:
        own = bound_case.given_case.theory
        form = substitute(
            form,
            {
                name: bound_case.case.expanded(Name(name), complete=False)
                for name in names(form)
                if own.definition(name) is None
            },
        )
    return in_sympy(form, bound_case)


def relations(conditions: Iterable[Expr], bound_case: BoundCase) -> tuple[Any, ...]:
    """Conditions as SymPy relations; those that declared signs decide are left out."""
    return tuple(filter(_open, (expression(condition, bound_case) for condition in conditions)))


def _open(relation: Any) -> bool:
    """Whether declared signs do not decide a relation in its favour."""
    return bool(relation != True)  # noqa: E712


def signed_names(formulas: Iterable[Expr], unknown: str, bound_case: BoundCase) -> tuple[str, ...]:
    """The names of some formulas that may be negative, and of those that a study or a theory declares also what may be zero."""
    from symroof.symbols import symbol

    theory = bound_case.case.theory
    known = dict.fromkeys(name for tree in formulas for name in names(tree) if name != unknown)
    own = [
        name for name in known if name in theory.own and not symbol(name, theory.own).is_positive
    ]
    return (
        *own,
        *(
            name
            for name in known
            if name not in theory.own and (declared := theory.own.symbol(name)) and declared.signed
        ),
    )


def piecewise(branches: Iterable[Branch], unknown: str, bound_case: BoundCase) -> Any:
    """Every candidate, each where its conditions hold at it; a single one without conditions is the expression itself.

    >>> from symroof.analysis.study import Study
    >>> bound_case = Study().first
    >>> from symroof.formula.parse import parse
    >>> from symroof.solver.symbolic import symbolic
    >>> piecewise(symbolic(parse("max(a*x, b) - c"), "x").branches, "x", bound_case)
    Piecewise((c/a, -b + c >= 0))
    """
    import sympy

    forms, conditions, signed = [], [], dict[str, None]()
    for branch in branches:
        assert branch.closed_form is not None, "answers without numbers are closed"
        trees = [condition.tree for condition in branch.conditions]
        signed |= dict.fromkeys(signed_names((branch.closed_form, *trees), unknown, bound_case))
        form, *met = (split_signs(tree, signed) for tree in (branch.closed_form, *trees))
        root = _Root.of(form, met, unknown)
        forms.append(form)
        conditions.append([*_exists(branch.closed_form, bound_case), *map(root.put_into, met)])

    def relation(tree: Expr) -> Any:
        return expression(join_signs(tree, signed), bound_case)

    written = [
        (relation(form), sympy.And(*filter(_open, map(relation, met))))
        for form, met in zip(forms, conditions, strict=True)
    ]
    pieces = list(written)
    for first, later in sorted(
        _out_of_order(forms, conditions)
    ):  # the answer is the first crossing
        (form, met), also = pieces[first], written[later][1]
        pieces[first] = (
            form,
            sympy.And(
                met, sympy.Or(sympy.Not(also), relation(_not_later(forms[first], forms[later])))
            ),
        )
    pieces = [(form, condition) for form, condition in pieces if condition != False]  # noqa: E712
    if not pieces:
        return sympy.nan
    if len(pieces) == 1 and pieces[0][1] == True:  # noqa: E712
        return pieces[0][0]
    return sympy.Piecewise(*pieces, evaluate=False)


POINTS, DECADES = 200, 2
"""Random values of all names at which candidates are looked at together, and over how many decades either way."""


def _out_of_order(
    forms: Sequence[Expr], conditions: Sequence[Sequence[Expr]]
) -> set[tuple[int, int]]:
    """Pairs of candidates of which both may hold, and the later one be the smaller, as random values of their names show."""
    found = set[tuple[int, int]]()
    for seed in range(POINTS if len(forms) > 1 else 0):
        numbers, values = RandomPoint(f"{seed}", DECADES, whole=False), {}
        for place, (form, met) in enumerate(zip(forms, conditions, strict=True)):
            with suppress(NoValue):
                if all(evaluate(condition, numbers) for condition in met):
                    values[place] = evaluate(form, numbers)
        found |= {(i, k) for i, k in combinations(values, 2) if values[k] < values[i]}
    return found


def _not_later(first: Expr, second: Expr) -> Expr:
    """That one of two positive forms is not the larger: multiplied out where a denominator may be zero, as in :class:`_Root`."""
    (over, under), (other, beneath) = _quotient(first), _quotient(second)
    if plainly_positive(under) and plainly_positive(beneath):
        return _real(Compare("<=", first, second))
    return _real(
        Compare(
            "<=", build.mul(over, under, beneath, beneath), build.mul(other, beneath, under, under)
        )
    )


def _exists(form: Expr, bound_case: BoundCase) -> Iterator[Compare]:
    """That inputs which may be 0 do not make a root 0, or divide by it: the shape of a root is looked at as if all were positive."""
    for factor in chain(*build.numerator_and_denominator(form)):
        whole = bound_case.case.expanded(factor, complete=False)
        nothing = {
            name: ZERO
            for name in names(whole)
            if base_name(name) in INPUTS and INPUTS[base_name(name)].may_vanish
        }
        if plainly_positive(factor) and substitute(whole, dict(nothing)) == ZERO:
            yield Compare(">", factor, ZERO)


@dataclass(frozen=True)
class _Root:
    """A closed form as a quotient, to be put into conditions for the unknown. SymPy compares neither infinite nor complex numbers, and does not stop
    at the first condition that fails: so conditions are multiplied by the denominator, and have no roots and logarithms of negative numbers.

    ``positive`` is whether the denominator is, by its shape or by a condition of the candidate.
    """

    unknown: str
    over: Expr
    under: Expr
    positive: bool

    @classmethod
    def of(cls, form: Expr, conditions: Sequence[Expr], unknown: str) -> _Root:
        over, under = _quotient(form)
        return cls(
            unknown, over, under, plainly_positive(under) or Compare(">", under, ZERO) in conditions
        )

    def put_into(self, condition: Expr) -> Expr:
        """A condition with the form in the place of the unknown."""
        assert isinstance(condition, Compare)
        return _real(self._without_bars(condition))

    def _without_bars(self, condition: Compare) -> Compare:
        operator, left, right = condition.operator, condition.left, condition.right
        if not mentions(condition, self.unknown):
            over, under = _quotient(left)
            return (
                Compare(operator, over if plainly_positive(under) else build.mul(over, under), ZERO)
                if right == ZERO
                else condition
            )
        with suppress(NotRational):
            above, below = rational(build.sub(left, right), self.unknown)
            if all(map(plainly_positive, below.values())):
                return Compare(operator, shared_factors_out({0: self._value(above)})[0], ZERO)
        return Compare(
            operator,
            *(
                substitute(side, {self.unknown: build.div(self.over, self.under)})
                for side in (left, right)
            ),
        )

    def _value(self, p: Polynomial) -> Expr:
        """A polynomial at the form, times a power of the denominator and over one of the form: both are positive."""
        least = min(p)
        degree = max(p) - least
        degree += 0 if self.positive else degree % 2
        powers = {
            k: (
                build.power(self.over, build.number(k - least)),
                build.power(self.under, build.number(degree - k + least)),
            )
            for k in p
        }
        return build.add(ZERO, *(build.mul(c, *powers[k]) for k, c in p.items()))


def _quotient(tree: Expr) -> tuple[Expr, Expr]:
    """Numerator and denominator."""
    over, under = build.numerator_and_denominator(tree)
    return build.mul(*over), build.mul(*under)


def _real(tree: Expr) -> Expr:
    match tree:
        case Call("sqrt", (inside,)):
            return build.call("sqrt", build.call("max", _real(inside), ZERO))
        case Call("log2", (inside,)):  # of the size of what it is of
            return build.call(
                "log2", build.call("sqrt", build.power(_real(inside), build.number(2)))
            )
    return rebuild(tree, _real)


def definitions(
    formulas: Iterable[Expr], unknown: str, bound_case: BoundCase, symbolic: bool
) -> dict[Any, Any]:
    """Symbol -> expression over inputs, of every derived quantity in some formulas."""
    from symroof.symbols import symbol

    case = bound_case.case
    named = dict.fromkeys(
        name
        for tree in formulas
        for name in names(tree)
        if name != unknown and case.theory.definition(name) is not None
    )
    written = {
        name: case.expanded(Name(name), complete=False if symbolic else None) for name in named
    }
    return {
        symbol(name, case.theory.own): in_sympy(tree, bound_case)
        for name, tree in written.items()
        if tree != Name(name)
    }


class InSympy:
    """The side of a solution that is SymPy: the answer, what it rests on, and what its names are."""

    _trees: Solved
    unknown: str
    bound_case: BoundCase
    missing: str | None

    @property
    def why_numeric(self) -> str:
        """Why :attr:`sympy` is None: there is no closed form, so that values were bracketed, or no answer at all; empty where it is an expression.

        >>> from symroof.analysis.study import Study
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=1024, output=128, chunk=256, itl_target="8 ms")
        >>> study.solve("max_batch_sustained_itl").why_numeric
        'batch is in an exponent'
        """
        crossing = self._trees.crossing
        if self._answering:
            return ""
        if crossing.method != CLOSED:
            return crossing.because or "no closed form of readable size exists"
        if self.symbolic and crossing.more:
            return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
        return (
            "the two sides are the same"
            if crossing.verdict == "identical"
            else "the two sides do not meet"
        )

    @property
    def equation(self) -> Any:
        """The equation as it is named, a SymPy ``Eq``."""
        import sympy

        return sympy.Eq(
            *(in_sympy(side, self.bound_case) for side in self._trees.sides), evaluate=False
        )

    @property
    def closed_form(self) -> Any:
        """The same as :attr:`sympy`."""
        return self.sympy

    @property
    def symbolic(self) -> bool:
        """Whether the answer is in symbols, an input being missing for one in numbers: it contains nothing but inputs and quantities."""
        return self.missing is not None

    @property
    def _answering(self) -> tuple[Branch, ...]:
        """The closed forms that give the answer: of a case the one that holds, without numbers each that may."""
        crossing = self._trees.crossing
        if self.symbolic:
            return () if crossing.more else crossing.branches
        met = (
            b
            for b in crossing.branches
            if b.holds and b.value == crossing.value and b.closed_form is not None
        )
        return tuple(met)[:1]

    @cached_property
    def sympy(self) -> Any:
        """The answer as a SymPy expression in the symbols of :mod:`symroof.symbols`; None where there is none, and :attr:`why_numeric` says why.

        In a case it is the form that holds there, and ``solution.sympy.xreplace(study.values())`` is :attr:`value`. Without numbers it has every
        candidate, as a ``Piecewise`` whose conditions do not contain the unknown; no input is substituted.

        >>> import symroof as sr
        >>> from symroof.symbols import batch, context, kv_cache_bytes, weight_bytes
        >>> import sympy
        >>> sr.solve(sympy.Eq(kv_cache_bytes, weight_bytes), for_=context).sympy
        weight_bytes/(batch*kv_bytes_per_token)
        >>> sr.solve("max_batch_memory").sympy
        Piecewise(((mem_capacity*memory_share - memory_reserve - weight_bytes)/(kv_bytes_per_token*peak_context), mem_capacity*memory_share - memory_reserve - weight_bytes > 0))
        """
        answering = self._answering
        if not answering:
            return None
        return (
            piecewise(answering, self.unknown, self.bound_case)
            if self.symbolic
            else self._expression(answering[0])
        )

    @property
    def expanded(self) -> Any:
        """The answer in inputs alone, so that its derivative by an input is whole; None where there is no closed form.

        >>> import symroof as sr
        >>> sr.solve("kv_cache_bytes = 1 GB", for_="batch").expanded
        500000000/(head_dim*kv_bytes_per_element*n_kv_heads*n_layers*prompt)
        """
        return None if self.sympy is None else self.sympy.xreplace(self.where)

    @property
    def conditions(self) -> tuple[Any, ...]:
        """What the answer rests on, as SymPy relations that may contain the unknown: in a case all that the form that holds needs, or that one
        which does not would need; without numbers what every candidate needs. Those that declared signs decide are left out."""
        return self._relations(self._conditions)

    @property
    def branches(self) -> tuple[tuple[Any, tuple[Any, ...]], ...]:
        """Every candidate, a choice of arms each: its closed form (None where there is none) and its conditions, in SymPy.

        >>> import symroof as sr
        >>> for form, conditions in sr.solve("max(kv_cache_bytes, weight_bytes) = mem_capacity", for_="batch").branches:
        ...     print(form, conditions)
        mem_capacity/(context*kv_bytes_per_token) (batch*context*kv_bytes_per_token >= weight_bytes,)
        """
        return tuple(
            (self._expression(branch), self._relations(branch.conditions))
            for branch in self._trees.crossing.branches
        )

    def _expression(self, branch: Branch) -> Any:
        return (
            None if branch.closed_form is None else expression(branch.closed_form, self.bound_case)
        )

    def _relations(self, conditions: tuple[Condition, ...]) -> tuple[Any, ...]:
        return relations((condition.tree for condition in conditions), self.bound_case)

    @cached_property
    def where(self) -> dict[Any, Any]:
        """Symbol -> expression in inputs, for every derived quantity in the closed forms, the conditions and the limits: one ``xreplace`` substitutes them all.

        >>> import symroof as sr
        >>> list(sr.solve("kv_cache_bytes = 1 GB", for_="batch").where.items())
        [(kv_bytes_per_token, 2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers), (context, prompt)]
        """
        branches = self._trees.crossing.branches
        forms = (branch.closed_form for branch in branches if branch.closed_form is not None)
        conditions = (condition.tree for branch in branches for condition in branch.conditions)
        return definitions(
            (*forms, *conditions, *self._limits), self.unknown, self.bound_case, self.symbolic
        )

    @property
    def limits(self) -> tuple[Any, ...]:
        """The conditions solved for the next symbol, as SymPy relations: a ridge batch exists below some context."""
        return relations(self._limits, self.bound_case)

    @property
    def _limits(self) -> tuple[Compare, ...]:
        solved = (
            solved_condition(condition, self.unknown, self.bound_case, self.symbolic)
            for condition in self._conditions
        )
        return tuple(pair[0] for pair in solved if pair)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        branches = self._answering or self._trees.crossing.branches[:1]
        first = branches[0].conditions if branches else ()
        return tuple(
            condition
            for condition in first
            if all(condition in branch.conditions for branch in branches)
        )
