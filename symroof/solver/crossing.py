"""The solver: closed forms where there are any, else a scan along the axis, and which of the two it was.

Where the unknown is inside one rounding, root or exponent, ``a*ceil(x/b) = c``, the equation is solved for ``ceil(x/b)``
as for any name; the answer is then taken through the inverse.
"""

from dataclasses import replace
from fractions import Fraction

from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.rewrite import replaced, substitute
from symroof.formula.tree import ONE, ZERO, Call, Compare, Expr, Name, Pow, Sum, mentions, parts
from symroof.solver.axis_walk import AxisWalk
from symroof.solver.joint_search import Rough
from symroof.solver.rational import NotRational
from symroof.solver.result import CLOSED, Branch, Condition, Crossing, Evaluate, Region
from symroof.solver.roots import sign
from symroof.solver.scan import scan


def crossing(
    difference: Expr,
    x: str,
    evaluate: Evaluate,
    low: Fraction = Fraction(0),
    high: Fraction | None = None,
    rough: Rough | None = None,
    along: Evaluate | None = None,
) -> Crossing:
    """Where a difference of two sides is zero, for ``x`` above ``low`` (zero or more) and up to ``high``.

    Args:
        difference: left side less right side, opened as far as ``x`` reaches.
        evaluate: the exact value of a tree, with ``x`` set.
        rough: the difference at many points, in floats, where there is no closed form.
        along: the exact difference where it is scanned, if that has no value at some points at which its formula has one.

    Raises:
        NoValue: the sides have no value anywhere on the axis, or a name in them has none.

    >>> from symroof.formula.evaluate import evaluate as value
    >>> from symroof.formula.parse import parse
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> env = Numbers(a=Fraction(3), b=Fraction(16))
    >>> answer = crossing(parse("a*ceil(x/b) - 13"), "x", lambda tree, at: value(tree, env, at))
    >>> answer.verdict, answer.method, answer.values    # four blocks reach 12, the fifth begins just after 64
    ('crosses', 'closed_form', (Fraction(64, 1),))
    """
    try:
        return exact(difference, AxisWalk(x, evaluate, low, high))
    except NotRational as error:
        return replace(scan(difference, x, along or evaluate, low, high, rough), because=str(error))


def hiding_node(tree: Expr, x: str) -> Expr | None:
    """The one node that hides the unknown from polynomials, where all of the unknown is inside it and its like.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(hiding_node(parse("a*ceil(x/b) + c*ceil(x/b) - d"), "x")), hiding_node(parse("x*sqrt(x)"), "x")
    ('ceil(x/b)', None)
    """
    hiding = {node for node in parts(tree) if _hides(node, x)}
    inner = [node for node in hiding if hiding & parts(node) == {node}]
    if len(inner) != 1 or any(isinstance(node, Sum) and mentions(node, x) for node in parts(tree)):
        return None
    return inner[0] if not mentions(replaced(tree, inner[0], Name(whole_name(x))), x) else None


def hidden_exponent(tree: Expr, x: str) -> Pow | None:
    """The one power whose exponent holds all of the unknown."""
    node = hiding_node(tree, x)
    return node if isinstance(node, Pow) else None


def _hides(node: Expr, x: str) -> bool:
    match node:
        case Call("ceil" | "floor" | "sqrt"):
            return mentions(node, x)
        case Pow(base, exponent):
            return mentions(exponent, x) and not mentions(base, x)
    return False


def whole_name(x: str) -> str:
    """Stands for the undone node while it is solved for; no name that anybody can write, however deep."""
    return f"({x})"


def exact(difference: Expr, along: AxisWalk) -> Crossing:
    """Every zero of a difference in closed form, as deep as roundings, roots and exponents are nested.

    Raises:
        NotRational: the unknown also occurs outside the one that hides it, or it cannot be undone.
    """
    try:
        return along.solve(difference)
    except NotRational:
        node = hiding_node(difference, along.x)
        if node is None:
            raise
        return _undone(difference, node, along)


def _undone(difference: Expr, node: Expr, along: AxisWalk) -> Crossing:
    inner = replaced(difference, node, Name(whole_name(along.x)))
    outer = exact(inner, AxisWalk(whole_name(along.x), along.evaluate))
    holding = [branch for branch in outer.branches if branch.holds]
    if any(branch.closed_form is None for branch in holding):
        raise NotRational("no closed form of what is rounded")
    if _zero_at_zero(inner, along):  # the axis is open at zero, a root or a rounding may lie on it
        holding.append(Branch(ZERO, (), ZERO.value))
    branches = [back for branch in holding for back in _back(branch, node, along)]
    values = sorted({b.value for b in branches if b.value is not None})
    if values:
        return Crossing("crosses", CLOSED, tuple(branches), tuple(values), along.domain)
    side = sign(along.evaluate(difference, {along.x: Region(*along.domain, difference).inside}))
    return Crossing(
        {1: "lhs_above", -1: "lhs_below", 0: "identical"}[side],
        CLOSED,
        tuple(branches),
        domain=along.domain,
    )


def _zero_at_zero(inner: Expr, along: AxisWalk) -> bool:
    try:
        return along.evaluate(inner, {whole_name(along.x): ZERO.value}) == 0
    except NoValue:
        return False


def _back(branch: Branch, node: Expr, along: AxisWalk) -> list[Branch]:
    """The branches in the unknown of one branch in the node's value."""
    form, value = branch.closed_form, branch.value
    branches: list[Branch] = []
    if form is None or value is None:
        return branches
    for inner in _inner_values(node, form, value):
        try:
            answer = exact(build.sub(_argument(node), inner), along)
        except NoValue:  # a logarithm of what no power equals
            continue
        for own in answer.branches:
            if own.closed_form is not None:
                carried = tuple(
                    Condition(_with_node(c.tree, node, along.x), c.holds) for c in branch.conditions
                )
                branches.append(Branch(own.closed_form, (*carried, *own.conditions), own.value))
    return branches


def _with_node(tree: Compare, node: Expr, x: str) -> Compare:
    put = {whole_name(x): node}
    return Compare(tree.operator, substitute(tree.left, put), substitute(tree.right, put))


def _argument(node: Expr) -> Expr:
    return node.args[0] if isinstance(node, Call) else node.exponent  # type: ignore[union-attr]


def _inner_values(node: Expr, form: Expr, value: Fraction) -> list[Expr]:
    """The node's argument where the node has a value; of a rounding, where it jumps across the value."""
    match node:
        case Call("sqrt", _):
            return [build.power(form, build.number(2))]
        case Pow(base, _):
            return [build.div(build.call("log2", form), build.call("log2", base))]
        case Call("ceil", _):  # the argument passes the whole number below on its way to the next
            steps = (form,) if value.denominator == 1 else ()
            return [build.sub(build.call("ceil", form), ONE), *steps]
        case Call("floor", _):
            steps = (form,) if value.denominator == 1 else ()
            return [*steps, build.add(build.call("floor", form), ONE)]
    raise NotRational("no inverse")
