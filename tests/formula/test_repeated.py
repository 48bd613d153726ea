"""Formulas with named parts have the values that they have without."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.repeated import WORTH_NAMING, Repeated, parted
from symroof.formula.rewrite import replaced
from symroof.formula.tree import Name, walk


class Numbers(dict[str, Fraction]):
    """Values of names, and how often each was asked for."""

    def __init__(self, **values: int) -> None:
        super().__init__({name: Fraction(value) for name, value in values.items()})
        self.asked: list[str] = []

    def value(self, name: str) -> Fraction:
        self.asked.append(name)
        return self[name]


@pytest.mark.parametrize(
    ("formula", "by_hand"),
    [
        ("(a*x + b)/(a*x + b + 1)", lambda x: (2 * x + 3) / (2 * x + 4)),
        ("sum((a*x + b)*k + (a*x + b), k, 1, 4)", lambda x: 14 * (2 * x + 3)),
        ("max(a*x, b)*max(a*x, b)", lambda x: max(2 * x, Fraction(3)) ** 2),
    ],
)
def test_a_repeated_part_is_worked_out_once_and_right(formula, by_hand):
    value = Repeated(Numbers(a=2, b=3))
    for x in map(Fraction, range(1, WORTH_NAMING + 3)):
        assert value(parse(formula), {"x": x}) == by_hand(x)


def test_parts_that_move_with_the_index_of_a_sum_stay_where_they_are():
    made = parted(parse("sum((k + x)*(k + x) + 2*x, k, 1, 3) + 2*x"), frozenset("x"))
    assert not made.still and [len(list(walk(part))) for part in made.named.values()] == [3]  # 2*x alone
    assert evaluate(made.top, Numbers(**{"(0)": 10}), {"x": Fraction(5)}) == 6**2 + 7**2 + 8**2 + 3 * 10 + 10


def test_a_part_is_worked_out_only_where_it_is_reached():
    """A quotient by zero, of what moves and of what does not; zero times it is zero while nothing reaches it, and an error once something does."""
    value = Repeated(Numbers(a=2, zero=0))
    for text, x in (("zero*(a/x + 1) + zero*x*(a/x + 1)", 0), ("x*(a/zero + 1)", 0), ("x*(a/zero + 1) + x*sum(k/zero, k, 1, 3)", 0), ("x*(nameless + a)", 0)):
        for _ in range(WORTH_NAMING + 1):
            assert value(parse(text), {"x": Fraction(x)}) == 0
    for text, x in (("(a/x + 1)*(a/x + 1)", 0), ("x*(a/zero + 1)", 1), ("zero/x + x", 0), ("(a - 2)/x*x", 0)):
        for _ in range(WORTH_NAMING + 1):
            with pytest.raises(NoValue):
                value(parse(text), {"x": Fraction(x)})


def test_what_nothing_moves_is_looked_up_once_for_all_points():
    numbers = Numbers(a=2, b=3)
    value, tree = Repeated(numbers), parse("(a*b + x)*(a*b + x)*(a + x) + sum((a + b)*k + x, k, 1, 2)")
    for i in range(WORTH_NAMING + 3):
        numbers.asked.clear()
        x = Fraction(i)
        assert value(tree, {"x": x}) == (6 + x) ** 2 * (2 + x) + 15 + 2 * x
        assert set(numbers.asked) == ({"a", "b"} if i < WORTH_NAMING else set())


def test_a_part_that_holds_the_index_of_a_sum_is_replaced_too():
    """``j`` is no free name of the sum, so nor of what is around it."""
    tree = parse("2*sum(ceil(j/b)*c, j, 1, n) + ceil(j/b)")
    assert replaced(tree, parse("ceil(j/b)"), Name("blocks")) == parse("2*sum(blocks*c, j, 1, n) + blocks")
    assert replaced(tree, parse("ceil(n/b)"), Name("blocks")) is tree


def test_formulas_at_one_point_share_their_parts():
    """``a*b + c`` stands in three formulas and is worked out once: with nothing put in, and at each point."""
    numbers = Numbers(a=2, b=3, c=4)
    value = Repeated(numbers)
    formulas = [parse(text) for text in ("(a*b + c)*2", "(a*b + c)/5", "(a*b + c)*a - a")]
    for at in ({}, {"b": Fraction(5)}, {"b": Fraction(1)}):
        numbers.asked.clear()
        part = 2 * at.get("b", 3) + 4
        assert [value(formula, at) for formula in formulas] == [part * 2, Fraction(part, 5), 2 * part - 2]
        assert numbers.asked.count("c") == 1
