"""The grammar: reads what it should, refuses the rest with a column, in bounded time, and agrees with Python's arithmetic."""

import re
import time
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.symbolic.expressions import number as exact_number
from symroof.symbolic.expressions import parts
from symroof.symbolic.printing import number_text, text
from symroof.symbolic.reading import FormulaError, parse, written

from ..near import near
from ..tables import table, words
from .texts import arithmetic, exact_value, points, with_functions

SECONDS = 10.0
"""Half a second is promised; no machine is so slow that it takes twenty times that, and no text that is not bounded ends in it."""


def read(source):
    """A tree or None, and never anything but a formula error with a column inside the text."""
    try:
        return parse(source)
    except FormulaError as error:
        assert 1 <= error.column <= len(source) + 1
        assert str(error).startswith(f"column {error.column}: ")
        return None
    finally:
        with suppress(FormulaError):
            written(source)


def exact(source, point):
    """What Python makes of the same text, every number a Fraction; None where it divides by zero."""
    wrapped = re.sub(
        r"(?<!\*\*)(?<!\*\*-)(?<![A-Za-z0-9_.])((?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)",
        r"Fraction('\1')",
        source,
    )
    wrapped = re.sub(r"'(\d+)\.'", r"'\1'", wrapped)
    functions = {
        "Fraction": Fraction,
        "max": lambda *x: max(x),
        "min": lambda *x: min(x),
        "ceil": lambda x: Fraction(-(-x // 1)),
        "floor": lambda x: Fraction(x // 1),
    }
    try:
        return Fraction(eval(wrapped, functions | point))
    except ZeroDivisionError:
        return None


# ------------------------------------------------------------------------------------------------------------- totality


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(source):
    read(source)


DEEP = 63
HOSTILE = {
    "brackets": "(" * 4000,
    "closed brackets": "(" * 2000 + "a" + ")" * 2000,
    "signs": "-" * 4000 + "a",
    "powers": "2**" * 1300 + "2",
    "a tower": "9**9**9",
    "a tower of names": "a**a**9**9",
    "nested calls": "max(" * 1000,
    "long product": "a*" * 2047 + "a",
    "long quotient": "a/" * 2047 + "a",
    "long sum": "a+" * 2047 + "a",
    "many names": "+".join(f"a{i}" for i in range(700)),
    "many factors": "*".join(f"a{i}" for i in range(700)),
    "many quotients": "/".join(f"a{i}" for i in range(700)),
    "alternating": "a-b*" * 1000 + "c",
    "nested maxima": "max(" * DEEP + "a" + "".join(f", b{i}*c)" for i in range(DEEP)),
    "nested quotients": "x/(" * DEEP + "a" + ")" * DEEP,
    "nested products": "(x+" * DEEP + "a" + ")*y" * DEEP,
    "big numbers": "*".join(["9**64"] * 680),
    "power of big numbers": "(" + "*".join(["9**64"] * 600) + ")**64",
    "power of a power": "((9**64)**64)**64",
    "division by zero": "1/0",
    "giant": "1e999",
    "giant digits": "9" * 4000,
    "tiny": "1e-999",
    "too long": "a" * 4097,
    "long name": "a" * 4000,
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_little(name):
    start = time.process_time()
    read(HOSTILE[name])
    assert time.process_time() - start < SECONDS


def doubled(times, body, start):
    """A sum over one value of its index puts that value into its body; nested, it is put in again and again."""
    for _ in range(times):
        start = f"sum({body}, i, {start}, {start})"
    return start


def test_sums_do_not_get_around_the_bound_on_powers():
    """sum(i**64, i, X, X) is X**64, so it is bound by what a power is bound by."""
    for source in ("sum(i**64, i, 9**64, 9**64)", doubled(2, "i**64", "9**64")):
        tree = read(source)
        numbers = [node for node in parts(tree) if node.is_Rational] if tree is not None else []
        largest = max((int(node.p).bit_length() for node in numbers), default=0)
        assert largest <= 4096, source


# ------------------------------------------------------------------------------------------------------------ the bounds


def test_bounds_are_where_they_are_said_to_be():
    assert read("a" + "+1" * 2047) is not None  # 4,095 characters
    assert read("a" + "+1" * 2048) is None
    assert read("(" * 63 + "a" + ")" * 63) is not None
    assert read("(" * 64 + "a" + ")" * 64) is None
    assert read("a**64") is not None
    assert read("a**-64") is not None
    assert read("2**64") == exact_number(2**64)
    for source in words("a**65 a**-65 a**0.51 a**(1/9) 9**9**9 (2**64)**65 1e10**(1/3)"):
        assert read(source) is None, source


COLUMNS = """
1/0 | 2
a/(b - b) | 2
a b | 3
2 x | 3
3 B | 3
(a | 3
a) | 2
f(a) | 1
max() | 5
a $ b | 3
9**9**9 | 4
1e999 | 1
log2(a, b) | 1
sum(a, 2, 1, 3) | 1
a = b = c | 7
1..2 | 3
a**b**2.51 | 7
a^65 | 3
max(a = 1) | 1
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("source", "column"), [*table(COLUMNS), ("", "1"), ("a + ", "5")])
def test_an_error_says_where(source, column):
    with pytest.raises(FormulaError) as error:
        parse(source)
    assert error.value.column in (int(column), int(column) + 1)


def test_b_is_the_batch_and_no_byte():
    with pytest.raises(FormulaError, match="byte"):
        parse("80 B")
    assert exact_value(parse("80 byte*B"), {"B": 2}) == 160


UNITS = """
3.35 TB/s | 3350*10**9
2 FLOP*3 | 6
62 % | 62/100
1 GiB | 2**30
4 USD/hour | 4/3600
1,024 | None
6 GB/2 s | 3*10**9
8 TB/s/2 | 4*10**12
50 ms + 1 s | 1.05
"""


@pytest.mark.parametrize(("source", "expected"), table(UNITS))
def test_a_unit_binds_to_its_number(source, expected):
    tree, by_hand = read(source), eval(expected)
    assert (None if tree is None else exact_value(tree, {})) == near(by_hand)


# ------------------------------------------------------------------------------------------------------------ arithmetic

# what is not drawn below: powers of powers, signs in a row, ``^``, a unit of minus
PRECEDENCE = [("-2**2", -4), ("2**3**2", 512), ("2*-3", -6), ("2^3", 8), ("--2", 2), ("+2", 2)]


@pytest.mark.parametrize(("source", "expected"), PRECEDENCE)
def test_precedence(source, expected):
    assert exact_value(parse(source), {}) == expected


@given(arithmetic, points)
def test_values_are_those_of_python(source, point):
    tree, expected = read(source), exact(source, point)
    assume(expected is not None and tree is not None)
    assert exact_value(tree, point) == expected


@given(arithmetic, points)
def test_a_formula_python_can_work_out_is_readable(source, point):
    """Refused are only a division by what is always zero and a power of it."""
    tree = read(source)
    if tree is None:
        with pytest.raises(FormulaError, match="zero|large"):
            parse(source)


# ------------------------------------------------------------------------------------------------------------ round trip


@given(with_functions, points)
def test_a_printed_formula_reads_back(source, point):
    tree = read(source)
    assume(tree is not None)
    expected = exact_value(tree, point)
    again = parse(text(tree))
    if expected is not None:
        assert exact_value(again, point) == expected
    assert text(parse(text(again))) == text(again)


@pytest.mark.parametrize(
    "source",
    ["(a**b)**c", "(-a)**b", "a**(b + c)", "sum(a*j, j, 1, 4)", "1e-9*a", "12345678.125*a"],
)
def test_printed_formulas_keep_their_brackets(source):
    point = {"a": Fraction(3), "b": Fraction(2), "c": Fraction(5)}
    tree = parse(source)
    assert exact_value(parse(text(tree)), point) == exact_value(tree, point)


numerators = st.integers(-(10**40), 10**40)


@given(numerators, st.sampled_from([1, 2, 3, 5, 8, 10, 125, 1000, 2**20, 10**9, 10**11, 7 * 10**6]))
def test_a_printed_number_is_the_number(numerator, denominator):
    number = Fraction(numerator, denominator)
    assert exact_value(parse(number_text(number)), {}) == number
