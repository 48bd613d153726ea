"""Elasticities as formulas: per cent that a quantity moves when one input moves one per cent.

A term ``c*x**k`` moves ``k`` per cent; a sum moves as its terms do, each weighted with its share. So an elasticity is made of shares, written in
the quantities that people know: the elasticity of a step's time in the context is ``kv_bytes_per_token*decode_span/decode_bytes``, the share of
the cache in the bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import islice

from symroof.analysis.inline import readable_form, shortest
from symroof.cases.bound_case import BoundCase
from symroof.formula import build
from symroof.formula.rewrite import rebuild, substitute
from symroof.formula.text import text
from symroof.formula.tree import ZERO, Add, Call, Div, Expr, Name, mentions, parts
from symroof.solver.arms import winning_arms
from symroof.solver.rational import (
    NotRational,
    Polynomial,
    quotient,
    rational,
    shared_factors_out,
    terms_of,
)
from symroof.solver.symbolic import arms


def elasticity(tree: Expr, x: str) -> Expr:
    """The elasticity of a formula without maxima that ``x`` moves.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(elasticity(parse("(weights + k*batch*x)/bandwidth"), "x"))
    'k*batch*x/(weights + k*batch*x)'
    >>> text(elasticity(parse("p*x/(weights + k*x)"), "x"))
    'weights/(weights + k*x)'
    >>> text(elasticity(parse("a/x^2"), "x"))
    '-2'

    Raises:
        NotRational: the formula is no quotient of polynomials in ``x``.
    """
    over, under = (shared_factors_out(p) for p in rational(tree, x))
    if set(over.values()) == {ZERO}:
        return ZERO
    if (
        len(over) == 1
    ):  # what falls with the denominator: weights/(weights + cache), rather than 1 - cache/(weights + cache)
        return _weighted(under, x, -1, next(iter(over)))
    if len(under) == 1:
        return _weighted(over, x, 1, next(iter(under)))
    return build.add(_weighted(over, x, 1), _weighted(under, x, -1))


def _weighted(p: Polynomial, x: str, direction: int, origin: int = 0) -> Expr:
    """The terms of a polynomial, each times its degree above ``origin``, over the polynomial."""
    terms = [
        (power, _at_power(term, x, power)) for power, c in sorted(p.items()) for term in terms_of(c)
    ]
    weighted = [(direction * (power - origin), term) for power, term in terms if power != origin]
    moved = build.add(ZERO, *(build.mul(build.number(weight), term) for weight, term in weighted))
    return build.div(moved, build.add(ZERO, *(term for _, term in terms)))


def _at_power(term: Expr, x: str, power: int) -> Expr:
    return build.as_fraction(build.mul(term, build.power(Name(x), build.number(power))))


WORTH_SHORTENING = 400
"""Characters beyond which no choice of names makes a formula readable."""


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
            NotRational: it has no closed form.
            NoValue: an arm has no value.

        >>> from symroof.formula.text import text
        >>> from symroof.analysis.study import Study
        >>> case = Study(model="llama-3-8b", hardware="h100-sxm", prompt=2048).first
        >>> text(ElasticityFormula("decode_intensity", "batch", case).on_binding_arm())
        'weight_bytes_read/decode_bytes'
        """
        return self._readable(elasticity(winning_arms(self.tree, self.x, self._number), self.x))

    def by_arm(self, most: int) -> Iterator[tuple[Expr, str]]:
        """The elasticity on each arm with the arm's name: never of a maximum itself. Nothing where there are more than ``most``.

        Raises:
            NotRational: it has no closed form.

        >>> from symroof.formula.text import text
        >>> from symroof.analysis.study import Study
        >>> for form, arm in ElasticityFormula("itl", "context", Study().first).by_arm(4):
        ...     print(arm, text(form))
        decode_compute_time attention_flops_per_pair*decode_pairs/decode_flops
        decode_memory_time kv_bytes_per_token*decode_span/decode_bytes
        """
        forms = [
            (elasticity(arm, self.x), conditions)
            for arm, conditions in islice(arms(self.tree, self.x), most + 1)
        ]
        for form, conditions in forms if len(forms) <= most else ():
            winners = dict.fromkeys(
                self._arm_names.get(condition.left, "") for condition in conditions
            )
            if "" not in winners:  # an arm without a name cannot be reported
                yield self._readable(form), ", ".join(winners)

    def _inlined(self, name: str) -> Expr:
        return readable_form(name, self.x, self.bound_case, self._single_term)

    def _single_term(self, name: str) -> Expr | None:
        """A quantity that moves as one term, as a mark times the power of the input."""
        try:
            over, under = rational(readable_form(name, self.x, self.bound_case), self.x)
        except NotRational:
            return None
        power = next(iter(over)) - next(iter(under))
        if len(over) > 1 or len(under) > 1 or not power:
            return None
        mark, moved = f"{name}:{self.x}", build.power(Name(self.x), build.number(abs(power)))
        self._marks[mark] = (
            build.div(Name(name), moved) if power > 0 else build.mul(Name(name), moved)
        )
        return build.mul(Name(mark), moved) if power > 0 else build.div(Name(mark), moved)

    def _number(self, arm: Expr) -> Fraction:
        value: Fraction = self.bound_case.case.evaluate(substitute(arm, self._marks))
        return value

    def _readable(self, tree: Expr) -> Expr:
        """A formula with the names of quantities in place of their marks, in its shortest form."""
        written = self._summed(_cancelled(substitute(tree, self._marks)))
        return (
            shortest(written, self.bound_case)
            if len(text(written)) <= WORTH_SHORTENING
            else written
        )

    def _summed(self, tree: Expr) -> Expr:
        """Sums that a quantity is the name of, by that name: its terms may be among others."""
        summed = rebuild(tree, self._summed)
        if isinstance(summed, Add):
            for name, terms in self._sums.items():
                if terms <= set(summed.terms):
                    return self._summed(
                        build.add(Name(name), *(term for term in summed.terms if term not in terms))
                    )
        return summed

    @cached_property
    def _sums(self) -> dict[str, set[Expr]]:
        """The quantities on the way that are defined as sums, the longest first."""
        case = self.bound_case.case
        formulas = {
            name: case.formula_or_name(name)
            for name in sorted(case.dependencies(self.name))
            if name != self.name
        }
        sums = {name: set(tree.terms) for name, tree in formulas.items() if isinstance(tree, Add)}
        return dict(sorted(sums.items(), key=lambda item: -len(item[1])))

    @cached_property
    def _arm_names(self) -> dict[Expr, str]:
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
        return {self._inlined(name): name for name in named}


def named_arms(node: Expr) -> tuple[Name, ...]:
    """The arms of a maximum that all have names: the compute and the memory time of a step.

    >>> from symroof.formula.parse import parse
    >>> named_arms(parse("max(compute_time, memory_time)")), named_arms(parse("max(context, prompt + output)"))
    ((Name(name='compute_time'), Name(name='memory_time')), ())
    """
    if not isinstance(node, Call) or node.function != "max":
        return ()
    named = tuple(arm for arm in node.args if isinstance(arm, Name))
    return named if len(named) == len(node.args) else ()


def _cancelled(tree: Expr) -> Expr:
    """Powers of the input that the marks brought cancelled."""
    reduced = build.as_fraction(rebuild(tree, _cancelled))
    return quotient(reduced.over, reduced.under) if isinstance(reduced, Div) else reduced
