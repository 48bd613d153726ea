"""Walks of the formula tree against walks written out here."""

import pytest

from symroof.formula.parse import parse
from symroof.formula.rewrite import rebuild, replaced
from symroof.formula.tree import Mul, Name, Num, Sum, mapper, mentions, names, parts, walk

FORMULAS = (
    "max(a*b, c)*d + max(a*b, c)/e",
    "sum(x*step^2 + max(step, y), step, 1, n) + step",
    "ceil(a/b)*(ceil(a/b) + 1) - itl(context = a/b + 1)",
    "largest(compute = a/b, memory = c/d)",
    "(a - b)*(a - b)/(c + a - b)",
)


@pytest.mark.parametrize("source", FORMULAS)
def test_parts_are_the_nodes_of_a_walk_each_where_it_first_occurs(source):
    assert list(parts(parse(source))) == list(dict.fromkeys(walk(parse(source))))


@pytest.mark.parametrize("source", FORMULAS)
def test_a_part_is_replaced_wherever_a_plain_walk_meets_it(source):
    def everywhere(node, old):
        return Name("new") if node == old else rebuild(node, lambda child: everywhere(child, old))

    tree = parse(source)
    for old in parts(tree):
        assert replaced(tree, old, Name("new")) == everywhere(tree, old)
    assert replaced(tree, Name("absent"), Name("new")) is tree


def test_names_are_free_names_in_the_order_they_are_written():
    assert names(parse("sum(x*step, step, first, last)*z + itl(context = y)*x")) == (
        "x",
        "first",
        "last",
        "z",
        "itl",
        "y",
    )
    assert names(parse("sum(step, step, 1, step)")) == (
        "step",
    )  # the last value is outside the sum
    assert not mentions(parse("sum(step, step, 1, n)"), "step")


def test_a_mapper_asks_equal_parts_once_and_only_what_a_rule_asks_for():
    asked = []
    rules = {
        Name: lambda node, go: asked.append(node.name) or 1,
        Num: lambda node, go: 0,
        Mul: lambda node, go: sum(map(go, node.factors)),
        Sum: lambda node, go: go(node.last),
    }
    assert mapper(rules)(parse("a*b*sum(c*j, j, 1, a)*2")) == 3
    assert asked == ["a", "b"]
    with pytest.raises(TypeError, match="no rule"):
        mapper(rules)(parse("a + b"))
