"""Crossings without numbers: for every choice of arms the root, and the conditions under which it is the answer.

Symbols are positive; beyond that nothing is known of them, so existence depends on conditions, and they are the answer. A name that may be zero or
negative is written as the difference of two positive ones while equations are solved.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from symroof.formula import build
from symroof.formula.compare import same
from symroof.formula.rewrite import replaced, substitute
from symroof.formula.tree import ZERO, Compare, Expr, Name, Pow
from symroof.solver.arms import beats, ends, innermost
from symroof.solver.closed_forms import Form, closed_forms, known_sign, plain_sign, plainly_positive
from symroof.solver.crossing import hidden_exponent, whole_name
from symroof.solver.rational import NotRational, Polynomial, factored, rational, shared_factors_out
from symroof.solver.result import CLOSED, Branch, Condition, Crossing


def split_signs(tree: Expr, signed: Iterable[str]) -> Expr:
    """A formula in which each signed name is how far it lies above zero, less how far below."""
    return substitute(
        tree, {name: build.sub(Name(_above(name)), Name(_below(name))) for name in signed}
    )


def join_signs(tree: Expr, signed: Iterable[str]) -> Expr:
    """The same in the names again: what holds for every two numbers holds for the name and zero."""
    return substitute(
        tree,
        {
            part: whole
            for name in signed
            for part, whole in ((_above(name), Name(name)), (_below(name), ZERO))
        },
    )


def join_signs_of_crossing(crossing: Crossing, signed: Iterable[str]) -> Crossing:
    """A crossing without numbers in the names again."""
    signed = tuple(signed)

    def relation(tree: Compare) -> Compare:
        return Compare(tree.operator, join_signs(tree.left, signed), join_signs(tree.right, signed))

    def condition(each: Condition) -> Condition:
        return replace(
            each,
            tree=relation(each.tree),
            abbreviated=relation(each.abbreviated) if each.abbreviated else None,
        )

    def branch(each: Branch) -> Branch:
        form, abbreviated = (
            join_signs(tree, signed) if tree is not None else None
            for tree in (each.closed_form, each.abbreviated)
        )
        named = tuple((name, join_signs(tree, signed)) for name, tree in each.named)
        return replace(
            each,
            closed_form=form,
            abbreviated=abbreviated,
            named=named,
            conditions=tuple(map(condition, each.conditions)),
        )

    return replace(crossing, branches=tuple(map(branch, crossing.branches))) if signed else crossing


def _above(name: str) -> str:
    """With spaces, which no name of anybody has."""
    return f"{name} above zero"


def _below(name: str) -> str:
    return f"{name} below zero"


MOST_BRANCHES = 32
"""More choices of arms than a reader can use."""


def symbolic(difference: Expr, x: str, within: tuple[Compare, ...] = ()) -> Crossing:
    """The crossing of two sides whose inputs have no numbers; ``within`` are bounds of the unknown.

    Raises:
        NotRational: the unknown is rounded, or is in an exponent and elsewhere too; only numbers help then.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> branch = symbolic(parse("a*x - b*x - c"), "x").branches[0]
    >>> text(branch.closed_form), [text(condition.tree) for condition in branch.conditions]
    ('c/(a - b)', ['a - b > 0'])
    """
    if difference == ZERO:
        return Crossing("identical", CLOSED)
    chosen = list(islice(arms(difference, x), MOST_BRANCHES + 1))
    try:
        quotients = [(conditions, *_quotient(arm, x)) for arm, conditions in chosen[:MOST_BRANCHES]]
    except NotRational:
        if (power := hidden_exponent(difference, x)) is None:
            raise
        return _through_power(difference, power, x, within)
    valid = [(conditions, over, under) for conditions, over, under in quotients if under]
    if not valid:
        raise NotRational("it divides by zero, whatever the symbols")
    if not any(over for _, over, _ in valid):
        return Crossing("identical", CLOSED)
    branches = [
        branch
        for conditions, over, under in valid
        for branch in _branches(over, (*conditions, *_off_zero(under, x), *within))
    ]
    more = len(chosen) > MOST_BRANCHES or any(_degree(over) > 2 for _, over, _ in valid)
    if (
        not branches
        and not more
        and (sides := {_side(over, under) for _, over, under in valid}) in ({1}, {-1})
    ):
        return Crossing("lhs_above" if sides == {1} else "lhs_below", CLOSED)
    unconditional = any(not branch.conditions for branch in branches)
    return Crossing(
        "crosses" if unconditional else "conditional", CLOSED, tuple(branches), more=more
    )


def _degree(over: Polynomial) -> int:
    """The degree of a polynomial without the power that all its terms share: the unknown is positive."""
    return max(over, default=0) - min(over, default=0)


def _side(over: Polynomial, under: Polynomial) -> int:
    """The sign of a quotient without roots; 0 where the shapes of its coefficients do not tell it."""
    signs = {plain_sign(c) for c in over.values()}
    return (
        signs.pop() if len(signs) == 1 and all(plainly_positive(c) for c in under.values()) else 0
    )


def _through_power(difference: Expr, power: Pow, x: str, within: tuple[Compare, ...]) -> Crossing:
    """All of the unknown is in one exponent: the power as a whole first, then its logarithm."""
    whole = whole_name(x)
    branches = []
    for outer in symbolic(replaced(difference, power, Name(whole)), whole).branches:
        if outer.closed_form is None:
            continue
        exponent = build.div(build.call("log2", outer.closed_form), build.call("log2", power.base))
        for inner in symbolic(build.sub(power.exponent, exponent), x, within).branches:
            branches.append(
                replace(
                    inner,
                    conditions=(
                        *(Condition(c.tree, None) for c in outer.conditions),
                        *inner.conditions,
                    ),
                )
            )
    return Crossing("conditional", CLOSED, tuple(branches))


def arms(
    tree: Expr, x: str, conditions: tuple[Compare, ...] = ()
) -> Iterator[tuple[Expr, tuple[Compare, ...]]]:
    """Every way to choose the winners of the maxima that the unknown moves, with the conditions under which they win."""
    node = innermost(tree, x)
    if node is None:
        yield tree, conditions
        return
    sides = ends(tree, node)
    leads = {_lead(condition) for condition in conditions}
    for winner in node.args:
        duels = [
            beats(node, substitute(winner, end), substitute(other, end))
            for other in node.args
            if other != winner
            for end in sides
        ]
        if any(known_sign(_lead(duel)) == -1 or _lead(_turned(duel)) in leads for duel in duels):
            continue  # it loses by its shape, or to what has won elsewhere in the formula
        open_ = (
            duel for duel in duels if known_sign(_lead(duel)) is None and _lead(duel) not in leads
        )
        yield from arms(replaced(tree, node, winner), x, (*conditions, *open_))


def _lead(duel: Compare) -> Expr:
    """The lead of the winner of two arms over the other, in a maximum or a minimum: not negative where it wins."""
    return (
        build.sub(duel.left, duel.right)
        if duel.operator == ">="
        else build.sub(duel.right, duel.left)
    )


def _turned(duel: Compare) -> Compare:
    return Compare(duel.operator, duel.right, duel.left)


def _quotient(tree: Expr, x: str) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of a choice of arms, without coefficients that are zero whatever the symbols."""
    over, under = rational(tree, x)
    return _without_zeros(factored(shared_factors_out(over))), under if _without_zeros(
        under
    ) else {}


def _without_zeros(p: Polynomial) -> Polynomial:
    return {power: c for power, c in p.items() if not vanishes(c)}


def _branches(over: Polynomial, conditions: tuple[Compare, ...]) -> list[Branch]:
    """The closed forms of one choice of arms; none where the unknown drops out or the degree is too high."""
    if _degree(over) not in (1, 2):
        return []
    forms = closed_forms(over, plain_sign)
    return [
        _branch(form, conditions)
        for form in forms
        if not any(_fails(_whole(form, condition)) for condition in form.conditions)
    ]


def _fails(condition: Compare) -> bool:
    """Whether a condition fails by its shape, all symbols being positive."""
    larger, smaller = (
        (condition.left, condition.right)
        if condition.operator in (">", ">=")
        else (condition.right, condition.left)
    )
    sign = known_sign(build.sub(larger, smaller))
    return sign == -1 or (sign == 0 and condition.operator in (">", "<"))


def _off_zero(under: Polynomial, x: str) -> tuple[Compare, ...]:
    """That a denominator the unknown moves is not zero, where it could be: a root of both is no crossing."""
    if set(under) == {0} or all(plainly_positive(c) for c in under.values()):
        return ()
    whole = build.add(
        *(build.mul(c, build.power(Name(x), build.number(power))) for power, c in under.items())
    )
    return (Compare(">", build.power(whole, build.number(2)), ZERO),)


def vanishes(tree: Expr) -> bool:
    """Whether a formula is zero whatever its symbols: by its polynomial, or where it has none at every one of many random points.

    >>> from symroof.formula.parse import parse
    >>> vanishes(parse("a*(b + c) - b*a - c*a")), vanishes(parse("a*b - c"))
    (True, False)
    """
    return same(tree, ZERO)


def _branch(form: Form, conditions: tuple[Compare, ...]) -> Branch:
    """A candidate whose conditions cannot be evaluated yet."""
    own = (Condition(_whole(form, condition), None, condition) for condition in form.conditions)
    return Branch(
        form.expand(form.abbreviated),
        (*own, *(Condition(tree, None) for tree in conditions)),
        None,
        form.abbreviated,
        form.named,
    )


def _whole(form: Form, condition: Compare) -> Compare:
    """A condition with the coefficients written out, whose names say nothing of their sign."""
    return Compare(condition.operator, form.expand(condition.left), form.expand(condition.right))


def solve_inequality(condition: Compare, symbol: str) -> tuple[Compare, Compare | None] | None:
    """A condition solved for a symbol, where it is linear in it; and what has to hold for that side of it.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(solve_inequality(parse("a*mem_bandwidth - b*context*peak_flops > 0"), "context")[0])
    'context < a*mem_bandwidth/(b*peak_flops)'
    >>> [text(part) for part in solve_inequality(parse("p + (q - r)*context > 0"), "context")]
    ['context < p/(r - q)', 'r - q > 0']
    """
    left = build.sub(condition.left, condition.right)
    try:
        over, under = rational(left, symbol)
    except NotRational:
        return None
    if set(over) != {0, 1} or set(under) != {0} or not plainly_positive(under[0]):
        return None
    upward = condition.operator in (">", ">=")
    slope, start = (
        (over[1], over[0]) if upward else (build.negated(over[1]), build.negated(over[0]))
    )
    strict = "=" if condition.operator.endswith("=") else ""
    if plain_sign(slope) > 0:
        return Compare(">" + strict, Name(symbol), build.div(build.negated(start), slope)), None
    falling = build.negated(slope)
    side = None if plainly_positive(falling) else Compare(">", falling, ZERO)
    return Compare("<" + strict, Name(symbol), build.div(start, falling)), side
