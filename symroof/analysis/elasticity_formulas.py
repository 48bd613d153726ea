"""Elasticities as formulas: per cent that a quantity moves when one input moves one per cent.

A term ``c*x**k`` moves ``k`` per cent; a sum moves as its terms do, each weighted with its share. So an elasticity is made of shares, written in
the quantities that people know: the elasticity of a step's time in the context is ``kv_bytes_per_token*decode_span/decode_bytes``, the share of
the cache in the bytes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import sympy
from sympy import Symbol

from symroof.analysis.closed_branches import solvable, written
from symroof.analysis.inline import readable_form, shortest
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.arms import combinations, settled_at
from symroof.symbolic.expressions import Expr, mentions, number, parts, size, substitute, symbol
from symroof.symbolic.polynomials import NoClosedForm, Powers, fraction, tidied
from symroof.symbolic.printing import text


def elasticity(expr: Any, x: sympy.Symbol) -> Any:
    """The elasticity of an expression without maxima that ``x`` moves.

    >>> b, k, p, w, a, x = sympy.symbols("b k p w a x", positive=True)
    >>> elasticity((w + k*b*x)/a, x), elasticity(p*x/(w + k*x), x), elasticity(a/x**2, x)
    (b*k*x/(b*k*x + w), w/(k*x + w), -2)

    Raises:
        NoClosedForm: the expression is no quotient of polynomials in ``x``.
    """
    above, below = fraction(expr, x)
    over, under = (tidied(p, x, factored=False)[0] for p in (above, below))
    if set(over.values()) == {0}:
        return sympy.S.Zero
    taken_out = min(above) - min(over) - min(below) + min(under)  # the power of x itself
    if len(over) == 1:  # weights/(weights + cache), rather than 1 - cache/(weights + cache)
        return _weighted(under, x, -1, next(iter(over)) + taken_out)
    if len(under) == 1:
        return _weighted(over, x, 1, next(iter(under)) - taken_out)
    return _weighted(over, x, 1, -taken_out) + _weighted(under, x, -1)


def _weighted(p: Powers, x: sympy.Symbol, direction: int, origin: int = 0) -> Any:
    """The terms of a polynomial, each times its degree above ``origin``, over the polynomial."""
    terms = [(power, term * x**power) for power, c in p.items() for term in sympy.Add.make_args(c)]
    moved = (direction * (power - origin) * term for power, term in terms)
    return sympy.Add(*moved) / sympy.Add(*(term for _, term in terms))


WORTH_SHORTENING = 400
"""Characters beyond which no choice of names makes a formula readable."""
MOST_NODES = 4_000
"""The largest formula, written out, that an elasticity is made of: nobody reads a longer one."""


@dataclass
class ElasticityFormula:
    """One quantity and one input that moves it.

    A quantity that moves as one term, ``c*x**k``, stays closed: intermediate formulas hold a mark for ``c`` times the
    power, and the result has the quantity's name again.
    """

    name: str
    x: str
    bound_case: BoundCase
    _marks: dict[str, Expr] = field(default_factory=dict)
    _terms: dict[str, Expr | None] = field(default_factory=dict)

    @cached_property
    def tree(self) -> Expr:
        """The quantity opened as far as single terms."""
        return self._inlined(self.name)

    @property
    def moves(self) -> bool:
        """Whether the input moves the quantity."""
        return mentions(self.tree, self.x)

    def on_binding_arm(self) -> Expr:
        """The elasticity on the arms that win by value.

        Raises:
            NoClosedForm: it has none.
            NoValue: an arm has no value.

        >>> from symroof.symbolic.printing import text
        >>> from symroof.analysis.study import Study
        >>> case = Study(model="llama-3-8b", hardware="h100-sxm", prompt=2048).first
        >>> text(ElasticityFormula("decode_intensity", "batch", case).on_binding_arm())
        'weight_bytes_read/decode_bytes'
        """
        place = float(self.bound_case.case.value(self.x))
        settled, _ = settled_at(self._sympy, self._plain_x, self._number, place)
        return self._readable(elasticity(settled, self._plain_x))

    def by_arm(self, most: int) -> Iterator[tuple[Expr, str]]:
        """The elasticity on each arm with the arm's name: never of a maximum itself. Nothing where there are more than ``most``.

        Raises:
            NoClosedForm: it has none.

        >>> from symroof.symbolic.printing import text
        >>> from symroof.analysis.study import Study
        >>> for form, arm in ElasticityFormula("itl", "context", Study().first).by_arm(4):
        ...     print(arm, text(form))
        decode_compute_time attention_flops_per_pair*decode_pairs/decode_flops
        decode_memory_time kv_bytes_per_token*decode_span/decode_bytes
        """
        forms = [
            (elasticity(arm, self._plain_x), conditions)
            for arm, conditions in islice(combinations(self._sympy, self._plain_x), most + 1)
        ]
        for form, conditions in forms if len(forms) <= most else ():
            winners = dict.fromkeys(
                self._arm_names.get(condition.lhs, "") for condition in conditions
            )
            if "" not in winners:  # an arm without a name cannot be reported
                yield self._readable(form), ", ".join(winners)

    def _inlined(self, name: str) -> Expr:
        return readable_form(name, self.x, self.bound_case, self._single_term)

    @cached_property
    def _plain_x(self) -> sympy.Symbol:
        return solvable(symbol(self.x), self.bound_case)

    @cached_property
    def _sympy(self) -> Any:
        if size(self.tree) > MOST_NODES:
            raise NoClosedForm("it is too long to be written out")
        return solvable(self.tree, self.bound_case)

    def _single_term(self, name: str) -> Expr | None:
        """A quantity that moves as one term, as a mark times the power of the input."""
        if name not in self._terms:
            self._terms[name] = self._marked(name)
        return self._terms[name]

    def _marked(self, name: str) -> Expr | None:
        try:
            tree = readable_form(name, self.x, self.bound_case)
            if size(tree) > MOST_NODES:
                return None
            formula = solvable(tree, self.bound_case)
            over, under = fraction(formula, self._plain_x)
        except NoClosedForm:
            return None
        power = next(iter(over)) - next(iter(under))
        if len(over) > 1 or len(under) > 1 or not power:
            return None
        mark, moved = f"{name}:{self.x}", symbol(self.x) ** number(abs(power))
        self._marks[mark] = (symbol(name) / moved) if power > 0 else (symbol(name) * moved)
        return (symbol(mark) * moved) if power > 0 else (symbol(mark) / moved)

    def _number(self, expr: Expr, at: Mapping[str, float] | None = None) -> float:
        return float(self.bound_case.case.evaluate(substitute(expr, self._marks), at))

    def _readable(self, expr: Any) -> Expr:
        """A formula with the names of quantities in place of their marks, in its shortest form."""
        marks = {mark: solvable(tree, self.bound_case) for mark, tree in self._marks.items()}
        summed = self._summed(substitute(expr, marks))
        tree = written(summed)
        return shortest(tree, self.bound_case) if len(text(tree)) <= WORTH_SHORTENING else tree

    def _summed(self, expr: Any) -> Any:
        """Sums that a quantity is the name of, by that name: its terms may be among others."""
        if not expr.args:
            return expr
        summed = expr.func(*map(self._summed, expr.args))
        for name, terms in self._sums.items() if summed.is_Add else ():
            if terms <= set(summed.args):
                rest = (term for term in summed.args if term not in terms)
                return self._summed(sympy.Add(solvable(symbol(name), self.bound_case), *rest))
        return summed

    @cached_property
    def _sums(self) -> dict[str, set[Any]]:
        """The quantities on the way that are defined as sums, the longest first."""
        case = self.bound_case.case
        sums = {
            name: set(solvable(formula, self.bound_case).args)
            for name in sorted(case.dependencies(self.name) - {self.name})
            if (formula := case.formula_or_name(name)).is_Add
        }
        return dict(sorted(sums.items(), key=lambda item: -len(item[1])))

    @cached_property
    def _arm_names(self) -> dict[Any, str]:
        """The named arms of maxima on the way, as they are here when inlined."""
        theory = self.bound_case.case.theory
        definitions = (theory.definition(name) for name in sorted(theory.dependencies(self.name)))
        named = (
            arm.name
            for tree in definitions
            if tree is not None
            for node in parts(tree)
            for arm in named_arms(node)
        )
        return {solvable(self._inlined(name), self.bound_case): name for name in named}


def named_arms(node: Expr) -> tuple[Expr, ...]:
    """The arms of a maximum that all have names: the compute and the memory time of a step.

    >>> from symroof.symbolic.reading import parse
    >>> named_arms(parse("max(compute_time, memory_time)")), named_arms(parse("max(context, prompt + output)"))
    ((compute_time, memory_time), ())
    """
    if not isinstance(node, sympy.Max):
        return ()
    named = tuple(arm for arm in node.args if isinstance(arm, Symbol))
    return named if len(named) == len(node.args) else ()
