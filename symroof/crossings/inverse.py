"""The unknown inside one rounding, root or exponent: solve for that as a whole, then undo it.

``a*ceil(x/b) = c`` is solved for ``ceil(x/b)`` as for any name; the answer is then taken through the inverse.
"""

from __future__ import annotations

from fractions import Fraction

from symroof.crossings.crossing import CLOSED, Branch, Condition, Crossing
from symroof.crossings.rational import NotRational
from symroof.crossings.roots import sign
from symroof.crossings.walk import Walk
from symroof.formula import build
from symroof.formula.tree import ONE, Call, Compare, Name, Pow, Total, Tree, mentions, rebuild, substitute, walk

WHOLE = "(whole)"
"""Stands for the undone node while it is solved for; no name that anybody can write."""


def opaque(tree: Tree, x: str) -> Tree | None:
    """The one node that hides the unknown from polynomials, where all of the unknown is inside it and its like.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(opaque(parse("a*ceil(x/b) + c*ceil(x/b) - d"), "x")), opaque(parse("x*sqrt(x)"), "x")
    ('ceil(x/b)', None)
    """
    found = [node for node in walk(tree) if _hides(node, x)]
    inner = [node for node in found if not any(_hides(child, x) for child in walk(node) if child is not node)]
    if len(set(inner)) != 1 or any(isinstance(node, Total) and mentions(node, x) for node in walk(tree)):
        return None
    return inner[0] if not mentions(_replaced(tree, inner[0]), x) else None


def _hides(node: Tree, x: str) -> bool:
    match node:
        case Call("ceil" | "floor" | "sqrt"):
            return mentions(node, x)
        case Pow(base, exponent):
            return mentions(exponent, x) and not mentions(base, x)
    return False


def _replaced(tree: Tree, node: Tree) -> Tree:
    return Name(WHOLE) if tree == node else rebuild(tree, lambda child: _replaced(child, node))


def undone(difference: Tree, walk_along: Walk) -> Crossing:
    """Every zero of a difference that moves with the unknown inside one opaque node only.

    Raises:
        NotRational: there is no such node, or it cannot be undone.
    """
    node = opaque(difference, walk_along.x)
    if node is None:
        raise NotRational("the unknown stands both inside and outside a rounding, root or exponent")
    outer = Walk(WHOLE, walk_along.evaluate).solve(_replaced(difference, node))
    if outer.verdict in ("lhs_above", "lhs_below", "identical"):
        return Crossing(outer.verdict, CLOSED, domain=walk_along.domain)
    branches = [back for branch in outer.branches if branch.holds and branch.closed_form for back in _back(branch, node, walk_along)]
    if any(branch.closed_form is None for branch in outer.branches if branch.holds):
        raise NotRational("no closed form of what stands under the rounding")
    values = sorted({b.value for b in branches if b.holds and b.value is not None})
    if values:
        return Crossing("crosses", CLOSED, tuple(branches), tuple(values), walk_along.domain)
    inside = walk_along.evaluate(difference, {walk_along.x: _somewhere(walk_along)})
    return Crossing("lhs_above" if sign(inside) > 0 else "lhs_below", CLOSED, tuple(branches), domain=walk_along.domain)


def _somewhere(walk_along: Walk) -> Fraction:
    return walk_along.high / 2 if walk_along.high is not None else walk_along.low + 1


def _back(branch: Branch, node: Tree, walk_along: Walk) -> list[Branch]:
    """The branches in the unknown of one branch in the node's value."""
    form, value = branch.closed_form, branch.value
    found: list[Branch] = []
    if form is None or value is None:
        return found
    for inner in _inner_values(node, form, value):
        answer = walk_along.solve(build.sub(_argument(node), inner))
        for own in answer.branches:
            if own.closed_form is not None:
                carried = tuple(Condition(_with_node(c.tree, node), c.holds) for c in branch.conditions)
                found.append(Branch(own.closed_form, (*carried, *own.conditions), own.value, own.holds))
    return found


def _with_node(tree: Compare, node: Tree) -> Compare:
    return Compare(tree.operator, substitute(tree.left, {WHOLE: node}), substitute(tree.right, {WHOLE: node}))


def _argument(node: Tree) -> Tree:
    return node.args[0] if isinstance(node, Call) else node.exponent  # type: ignore[union-attr]


def _inner_values(node: Tree, form: Tree, value: Fraction) -> list[Tree]:
    """What the node's argument is where the node has a value; of a rounding, where it jumps across it."""
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
