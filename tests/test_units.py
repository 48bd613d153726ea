"""Units: one table, exact; what is read, what is refused with a hint, and what people see."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.units import (
    UNITS,
    UnitError,
    combine,
    describe,
    format_quantity,
    parse_number,
    parse_quantity,
    parse_unit,
    significant,
)

from .tables import case_of, table, words

# ------------------------------------------------------------------------------------------------------------- prefixes

BASES = ("B", "byte", "bit", "FLOP", "FLOPS", "W", "J", "Hz", "token")


@pytest.mark.parametrize("base", BASES)
def test_each_decimal_prefix_is_a_thousand_times_the_one_before(base):
    sizes = [UNITS[prefix + base][0] for prefix in ("", "k", "M", "G", "T", "P", "E")]
    assert [later / earlier for earlier, later in pairwise(sizes)] == [1000] * 6


@pytest.mark.parametrize("base", ["B", "byte", "bytes", "bit", "bits"])
def test_each_binary_prefix_is_1024_times_the_one_before(base):
    sizes = [UNITS[prefix + base][0] for prefix in ("", "Ki", "Mi", "Gi", "Ti", "Pi")]
    assert [later / earlier for earlier, later in pairwise(sizes)] == [1024] * 5


VALUES = """
1 KB | 1000
1 kB | 1000
1 KiB | 1024
80 GB | 80*10**9
80 GiB | 80*2**30
3.35 TB/s | 3350*10**9
400 Gbit/s | 50*10**9
1 bit | 1/8
4.84 bit | 605/1000
989.4 TFLOP/s | 9894*10**11
989.4 TFLOPS | 9894*10**11
2 TFLOPs | 2*10**12
200 ms | 1/5
5 us | 1/200_000
5 µs | 1/200_000
7 ns | 7/10**9
1 hour | 3600
2 h | 7200
62 % | 62/100
4.29 USD/hour | 429/360_000
700 W | 700
1.83 GHz | 183*10**7
1,024 GB | 1024*10**9
1_000 B | 1000
0.1 | 1/10
3.35e12 byte/s | 3350*10**9
128256 tokens | 128256
1.5 ktoken | 1500
.5 s | 1/2
-3 s | -3
80GB | 80*10**9
7   B | 7
8e9 parameters | 8*10**9
12 token/s | 12
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "value"), table(VALUES))
def test_values(text, value):
    over, _, under = value.partition("/")
    assert parse_quantity(text).value == Fraction(eval(over), eval(under or "1"))


def test_rate_and_amount_of_flops():
    rate, other, amount = (parse_quantity(f"1 {unit}") for unit in ("TFLOPS", "TFLOP/s", "TFLOPs"))
    assert (rate.value, rate.dimension) == (other.value, other.dimension)
    assert amount.dimension != rate.dimension
    assert describe(rate.dimension) == "FLOP/s"
    assert describe(amount.dimension) == "FLOP"


def test_bits_and_bytes_are_one_dimension():
    assert parse_unit("bit").dimension == parse_unit("byte").dimension
    assert parse_quantity("8 Gbit").value == parse_quantity("1 GB").value
    joule, second, byte = (parse_unit(unit).dimension for unit in ("J", "s", "byte"))
    assert parse_quantity("1 W").dimension == combine((joule, 1), (second, -1))
    assert combine((parse_unit("byte/s").dimension, 1), (second, 1)) == byte


REFUSED = """
9**9**9 TB | 1e999 B | 3,35 TB/s | inf B | nan | 3 Tb/s | TB | 3 TB/s/ | 3 TB//s | 1e61 B | 1e-61 s
1,02 | 1,0000 | 1..2 | 1.2.3 | 0x10 | 3 furlongs | 3 TB* | --3 | 1 e5 | 3 B B | 1e | ３ ＴＢ
3 kib | 3 mb | 1/2 s
"""
LONG_OR_EMPTY = ["", " ", "9" * 100, "3 " + "x" * 200, "3 TB\0"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "text", [*LONG_OR_EMPTY, *(cell for row in table(REFUSED) for cell in row)]
)
def test_refused(text):
    with pytest.raises(UnitError) as error:
        parse_quantity(text)
    assert len(str(error.value)) < 300


HINTS = case_of("'3 Tb/s'=TB|Tbit '3 Gflop/s'=GFLOP '3 mss'=ms '3 bytess'=byte '3,35 TB/s'=point")
HINTS |= {"fast": "3.35 TB/s", "1e999 B": "1e60"}


@pytest.mark.parametrize(("text", "hint"), HINTS.items())
def test_refusals_offer_a_way_out(text, hint):
    with pytest.raises(UnitError, match=hint):
        parse_quantity(text)


def read(text):
    """A quantity of a bounded size, or the error that says why there is none."""
    try:
        quantity = parse_quantity(text)
    except UnitError:
        return
    assert isinstance(quantity.value, Fraction)
    assert abs(quantity.value) < 10**90


@given(st.text(max_size=40))
def test_any_text_is_a_quantity_or_an_error(text):
    read(text)


def test_any_pile_of_pieces_is_a_quantity_or_an_error():
    pieces = (*"10e9.,_-+ /%Bé²٣s\n", "TB", "inf", "**")
    draw = random.Random("pieces of quantities")
    for _ in range(3000):
        read("".join(draw.choices(pieces, k=draw.randint(1, 14))))


@given(st.integers(-(10**20), 10**20), st.integers(0, 12))
def test_decimals_are_exact(digits, places):
    sign, size = "-" if digits < 0 else "", str(abs(digits)).zfill(places + 1)
    text = f"{sign}{size[: len(size) - places]}.{size[len(size) - places :]}"
    assert parse_number(text) == Fraction(digits, 10**places)


@given(st.integers(0, 10**15))
def test_grouped_thousands(number):
    assert parse_number(f"{number:,}") == parse_number(str(number)) == number


# ----------------------------------------------------------------------------------------------------------- for people


DIGITS = """
1/3 | 4 | 0.3333
2/3 | 4 | 0.6667
2048 | 4 | 2,048
999.96 | 4 | 1,000
0.9999 | 3 | 1.00
0 | 4 | 0
1/8 | 4 | 0.125
123456 | 4 | 123,500
-1/3 | 4 | -0.3333
1/7000000000 | 4 | 1.429e-10
1e20 | 4 | 1.000e+20
0.99995 | 4 |
5 | 1 | 5
1000.049 | 4 | 1,000
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("value", "digits", "text"), table(DIGITS))
def test_significant_digits(value, digits, text):
    exact, digits = Fraction(value), int(digits)
    found = significant(exact, digits)
    assert not text or found == text
    half = abs(exact) * Fraction(1, 2 * 10 ** (digits - 1))
    assert abs(Fraction(found.replace(",", "")) - exact) <= half


SHOWN = """
85899345920 | byte | 85.90 GB
1342177280 | byte | 1.342 GB
1/24 | s | 41.67 ms
62/100 | | 0.62
3350e9 | byte/s | 3.35 TB/s
0 | byte | 0 bytes
0 | s | 0 s
999999 | byte | 1.000 MB
0.000999999 | s | 1.000 ms
8030261248 | parameter | 8.030 billion parameters
295.343283 | FLOP/byte | 295.3 FLOP/byte
-5e9 | byte | -5 GB
131072 | byte/token | 131.1 kB/token
5e-7 | s | 500 ns
90 | s | 90 s
24 | token/s | 24 tokens/s
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("value", "unit", "text"), table(SHOWN))
def test_for_people(value, unit, text):
    assert format_quantity(Fraction(value), unit) == text


UNITS_SHOWN = words(
    "byte byte/s FLOP FLOP/s s J W Hz token/s FLOP/byte USD byte/token J/token USD/hour"
)


@given(
    st.integers(1, 10**6),
    st.integers(-12, 24),
    st.sampled_from([*UNITS_SHOWN, ""]),
    st.integers(2, 8),
    st.booleans(),
)
def test_what_is_shown_reads_back_to_the_digits_shown(mantissa, power, unit, digits, negative):
    value = Fraction(mantissa) * Fraction(10) ** power * (-1 if negative else 1)
    shown = format_quantity(value, unit, digits)
    read = parse_quantity(shown)
    assert read.dimension == parse_unit(unit).dimension
    assert abs(read.value / parse_unit(unit).size - value) <= abs(value) * Fraction(
        1, 2 * 10 ** (digits - 1)
    ), shown


@given(st.integers(1, 10**9), st.integers(-10, 15), st.sampled_from(["byte", "s", "FLOP/s"]))
def test_four_digits_are_between_one_and_a_thousand(mantissa, power, unit):
    """An engineering prefix leaves 1 to 1,000 before the point, wherever a prefix exists."""
    value = Fraction(mantissa) * Fraction(10) ** power
    low, high = {"byte": (1, 10**20), "s": (Fraction(1, 10**9), 999), "FLOP/s": (1, 10**20)}[unit]
    assume(low <= value <= high)
    shown = Fraction(format_quantity(value, unit).split()[0].replace(",", ""))
    assert 1 <= shown < 1000


# ------------------------------------------------------------------------------------------------ products and powers of units


@pytest.mark.parametrize(
    ("text", "size", "dimension"),
    [
        ("J*s", 1, {"J": 1, "s": 1}),
        ("kJ*ms/byte", 1, {"J": 1, "s": 1, "byte": -1}),
        ("byte/s^2", 1, {"byte": 1, "s": -2}),
        ("1/ms^2", 10**6, {"s": -2}),
        ("W * hour", 3600, {"J": 1}),
        ("GB^2/s", 10**18, {"byte": 2, "s": -1}),
    ],
)
def test_products_and_powers(text, size, dimension):
    unit = parse_unit(text)
    assert (unit.size, dict(unit.dimension)) == (size, dimension)
    assert parse_unit(describe(unit.dimension)).dimension == unit.dimension


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "text", ["J*", "*s", "J**s", "s^", "s^0", "s^-1", "s^2.5", "J*x", "1^2", "2*s"]
)
def test_products_that_are_none(text):
    with pytest.raises(UnitError):
        parse_unit(text)


@pytest.mark.parametrize("text", ["K", "qqq", "7 qqq"])
def test_what_is_no_unit_says_which_there_are(text):
    with pytest.raises(UnitError, match=r"byte, bit, FLOP, s, hour, USD, J, W, Hz, token"):
        parse_quantity(text) if " " in text else parse_unit(text)
