"""Units and dimensions: one table, exact, decimal and binary prefixes apart.

A value is an exact ``Fraction`` in base units (byte, FLOP, s, token, USD, J); a dimension is a mapping from base
dimension to exponent. ``byte``, ``FLOP``, ``s``, ``USD`` and ``J`` are checked strictly. Counted things (``token``,
``request``, ``parameter``, ``device``) are carried for display only, because formulas of the field multiply and add
them freely (``chunk + batch`` is a number of tokens).

>>> parse_quantity("3.35 TB/s").value
Fraction(3350000000000, 1)
>>> parse_quantity("80 GiB").value, parse_quantity("80 GB").value
(Fraction(85899345920, 1), Fraction(80000000000, 1))
>>> format_quantity(Fraction(85899345920), "byte")
'85.90 GB'
"""

import difflib
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

Dimension = tuple[tuple[str, Fraction], ...]
"""Base dimensions with their exponents, sorted by name; ``()`` is a plain number."""

PLAIN: Dimension = ()
STRICT = frozenset({"byte", "FLOP", "s", "USD", "J"})
COUNTED = frozenset({"token", "request", "parameter", "device"})

DECIMAL_PREFIXES = {p: Fraction(1000) ** n for n, p in enumerate("kMGTPE", start=1)}
SMALL_PREFIXES = {p: Fraction(1, 1000**n) for p, n in (("m", 1), ("u", 2), ("µ", 2), ("n", 3))}
BINARY_PREFIXES = {f"{p}i": Fraction(1024) ** n for n, p in enumerate("KMGTP", start=1)}

LARGEST_EXPONENT = 60  # 1e60 is far beyond any FLOP count; more is a typing error or an attack
NUMBER = r"[+-]?(?:(?:0|[1-9](?:[_,]?[0-9])*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?"


class UnitError(ValueError):
    """A unit or quantity that cannot be read; the message says what and how to write it."""


@dataclass(frozen=True)
class Unit:
    """A unit as written: its size in base units and its dimension."""

    text: str
    size: Fraction
    dimension: Dimension


@dataclass(frozen=True)
class Quantity:
    """A number with its unit: exact value in base units, and the text it was written as."""

    value: Fraction
    dimension: Dimension
    text: str


def _base() -> dict[str, tuple[Fraction, Dimension]]:
    """Every spelling of every unit, with prefixes."""

    def dim(**powers: int) -> Dimension:
        return tuple(sorted((name, Fraction(n)) for name, n in powers.items()))

    one, bits = Fraction(1), "B byte bytes bit bits"
    written = {
        "B byte bytes": (one, dim(byte=1)),
        "bit bits": (Fraction(1, 8), dim(byte=1)),
        "FLOP FLOPs": (one, dim(FLOP=1)),
        "FLOPS": (one, dim(FLOP=1, s=-1)),
        "s": (one, dim(s=1)),
        "hour hours h": (Fraction(3600), dim(s=1)),
        "month months": (Fraction(3600 * 730), dim(s=1)),
        "Hz": (one, dim(s=-1)),
        "USD": (one, dim(USD=1)),
        "J": (one, dim(J=1)),
        "W": (one, dim(J=1, s=-1)),
        "%": (Fraction(1, 100), PLAIN),
        "token tokens tok": (one, dim(token=1)),
        "request requests req reqs": (one, dim(request=1)),
        "parameter parameters param": (one, dim(parameter=1)),
        "device devices": (one, dim(device=1)),
    }
    table = {name: entry for names, entry in written.items() for name in names.split()}
    taken = (
        (DECIMAL_PREFIXES | {"K": Fraction(1000)}, f"{bits} FLOP FLOPs FLOPS W J Hz token tokens"),
        (BINARY_PREFIXES, bits),
        (SMALL_PREFIXES, "s J W"),
    )
    prefixed = {
        prefix + name: (size * table[name][0], table[name][1])
        for prefixes, names in taken
        for prefix, size in prefixes.items()
        for name in names.split()
    }
    return table | prefixed


UNITS = _base()


def combine(*parts: tuple[Dimension, Fraction | int]) -> Dimension:
    """The dimension of a product of powers: ``combine((byte, 1), (second, -1))``."""
    total: dict[str, Fraction] = {}
    for dimension, power in parts:
        for name, exponent in dimension:
            total[name] = total.get(name, Fraction(0)) + exponent * power
    return tuple(sorted((name, exponent) for name, exponent in total.items() if exponent))


def strict(dimension: Dimension) -> Dimension:
    """The part of a dimension that is checked: counted things are left out."""
    return tuple(pair for pair in dimension if pair[0] in STRICT)


def describe(dimension: Dimension) -> str:
    """A dimension in words.

    >>> describe(parse_unit("TB/s").dimension)
    'byte/s'
    """
    if not dimension:
        return "a plain number"
    over = [n if e == 1 else f"{n}^{e}" for n, e in dimension if e > 0]
    under = [n if e == -1 else f"{n}^{-e}" for n, e in dimension if e < 0]
    return ("*".join(over) or "1") + "".join(f"/{n}" for n in under)


POWER = re.compile(r"[1-9]")
"""An exponent of a unit."""
NAMES = "byte, bit, FLOP, s, hour, USD, J, W, Hz, token, request, parameter, device and %, with k, M, G ... where they are usual"


@lru_cache(maxsize=512)
def parse_unit(text: str) -> Unit:
    """Read ``TB/s``, ``FLOP/byte``, ``USD/hour``, ``J*s``, ``byte/s^2``; the empty text is a plain number.

    Raises:
        UnitError: an unknown unit, with the nearest known ones.
    """
    size, dimension = Fraction(1), PLAIN
    parts = re.split(r"([*/])", text) if text.strip() else []
    for position, (mark, part) in enumerate(zip(["*", *parts[1::2]], parts[::2], strict=False)):
        name, raised, exponent = (piece.strip() for piece in part.partition("^"))
        if (
            position == 0 and not raised and (name == "1" or (not name and parts[1:2] == ["/"]))
        ):  # 3/s is three in a second
            continue
        if name not in UNITS or (raised and not POWER.fullmatch(exponent)):
            raise UnitError(unknown_unit(part.strip()))
        power = int(exponent or 1) * (1 if mark == "*" else -1)
        size *= UNITS[name][0] ** power
        dimension = combine((dimension, 1), (UNITS[name][1], power))
    return Unit(text.strip(), size, dimension)


PREFIXES_ALONE = {"k": 1, "K": 1, "M": 2, "G": 3}
"""Letters that are a power of 1,000 or of 1,024, by its exponent, where no unit follows them."""


def _either(number: str, letter: str) -> str:
    """The error text for a number whose letter has two meanings, with both.

    >>> _either("128", "k")
    "'128k' is ambiguous: write 128000 or 131072"
    """
    decimal, binary = (
        f"{float(parse_number(number) * size ** PREFIXES_ALONE[letter]):.15g}"
        for size in (1000, 1024)
    )
    return f"{number + letter!r} is ambiguous: write {decimal} or {binary}"


MEANT = {
    "request/s": ("rps", "qps", "requests per second"),
    "/s": ("per second",),
    "token/s": ("tps",),
    "token": ("toks",),
    "GB/s": ("GBps",),
    "TB/s": ("TBps",),
    "Gbit/s": ("Gbps",),
    "Tbit/s": ("Tbps",),
    "GB": ("gig", "gigs"),
    "device": ("gpu", "gpus"),
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("msec",),
    "hour": ("hr", "hrs"),
    "hour or s, as 120 s for 2 min and 360/hour for 6/min": ("m", "min", "minute", "minutes"),
    "USD": ("$",),
    "USD, the only currency": ("eur", "€", "gbp", "£", "cny", "rmb", "jpy"),
}
ABBREVIATED = {word: unit for unit, words in MEANT.items() for word in words}
"""Units as tools of serving abbreviate them, with how they are written here."""


def unknown_unit(name: str) -> str:
    """The error text for an unknown unit, with the nearest ones.

    >>> unknown_unit("rps")
    "unknown unit 'rps'; did you mean request/s?"
    """
    if meant := ABBREVIATED.get(name) or ABBREVIATED.get(name.lower()):
        return f"unknown unit {name!r}; did you mean {meant}?"
    if not name or name in PREFIXES_ALONE:
        return f"no unit can be read; there are: {NAMES}"
    same_but_case = [unit for unit in UNITS if unit.lower() == name.lower()]
    alike = difflib.get_close_matches(name, UNITS, n=2, cutoff=0.5)
    near = " or ".join(dict.fromkeys([*same_but_case, *alike]))
    hint = f"did you mean {near}?" if near else f"there are: {NAMES}"
    return f"unknown unit {name[:40]!r}; {hint}"


def parse_number(text: str, largest: int = LARGEST_EXPONENT) -> Fraction:
    """An exact number: ``0.1`` is 1/10, ``3.35e12`` and ``1,024`` and ``1_024`` are read; ``1,02`` is refused."""
    text = text.strip()
    if re.fullmatch(r"0|[1-9][0-9]*", text) and len(text) <= largest:  # most numbers of files
        return Fraction(int(text))
    if not re.fullmatch(NUMBER, text) or len(text) > 120:
        raise UnitError(f"not a number: {text[:40]!r}")
    mantissa = re.split("[eE]", text)[0]
    if "," in mantissa and not re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", mantissa):
        raise UnitError(
            f"not a number: {text[:40]!r}; commas only group thousands, the decimal mark is a point"
        )
    value = Decimal(text.replace(",", "").replace("_", ""))
    if value and abs(value.adjusted()) > largest:
        raise UnitError(f"number out of range: {text[:40]!r} (at most 1e{largest})")
    return Fraction(value)


def parse_quantity(text: str) -> Quantity:
    """Read a number with an optional unit: ``3.35 TB/s``, ``200 ms``, ``62 %``, ``80 GiB``, ``0.5``.

    Raises:
        UnitError: no number, an unknown unit, a number out of range.
    """
    match = re.fullmatch(rf"\s*({NUMBER})(?![0-9.])\s*(.*?)\s*", text, flags=re.DOTALL)
    if not match or len(text) > 120:
        raise UnitError(
            f"not a quantity: {text[:40]!r}; write a number and a unit, such as '3.35 TB/s'"
        )
    if ".." in text:
        raise UnitError(f"{text.strip()[:40]!r} is a range, where one value is needed")
    if match[2] in PREFIXES_ALONE:
        raise UnitError(_either(match[1], match[2]))
    unit = parse_unit(match[2])
    return Quantity(parse_number(match[1]) * unit.size, unit.dimension, text.strip())


# ---------------------------------------------------------------------------------------------------- for people

SYMBOLS = {"byte": "B", "FLOP": "FLOP", "s": "s", "J": "J", "W": "W", "Hz": "Hz"}
"""The short sign that carries a prefix: 1e9 byte is printed ``1 GB``."""


SETTLED = 13
"""Significant digits that a computed float is good for: more would show how it was rounded."""


def settled(value: float | Fraction) -> Fraction:
    """A number as an exact one; what was computed in floats is the decimal that it stands for.

    >>> settled(0.1 + 0.2), settled(Fraction(1, 3))
    (Fraction(3, 10), Fraction(1, 3))
    """
    exact = Fraction(value)
    return exact if exact.denominator < 2**40 else Fraction(f"{float(value):.{SETTLED - 1}e}")


def is_whole(value: float | Fraction) -> bool:
    """Whether a number is whole.

    >>> is_whole(3.0), is_whole(Fraction(7, 2))
    (True, False)
    """
    return Fraction(value).denominator == 1


def significant(value: float | Fraction, digits: int = 4) -> str:
    """A number to so many significant digits, thousands grouped, never ``0.000``.

    >>> significant(Fraction(1, 3)), significant(Fraction(41791044, 1000)), significant(Fraction(2048))
    ('0.3333', '41,790', '2,048')
    """
    if value == 0:
        return "0"
    value = settled(value)
    number = Decimal(value.numerator) / Decimal(value.denominator)
    for _ in range(2):  # rounding 999.96 carries into one digit more: round again there
        number = number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1))
    if not -5 <= number.adjusted() < 15:
        return f"{number:.{digits - 1}e}"
    if Fraction(number) == value:  # nothing was rounded away, so no zeros that say it was
        number = number.normalize()
    return f"{number:,f}"


def scaled(value: float | Fraction, unit: str) -> tuple[Fraction, str]:
    """A value in the unit people would print it in: ``(1.5e10, 'byte/s')`` becomes ``(15, 'GB/s')``."""
    value = settled(value)
    head, _, tail = unit.partition("/")
    if head == "parameter" and not tail:
        for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
            if abs(value) >= size * Fraction(9995, 10000):
                return value / size, f"{word} parameters"
        return value, "parameters"
    if head not in SYMBOLS or unit == "FLOP/byte":
        return value, unit
    steps = _steps(head)
    best, scale = "", Fraction(1)
    if value:
        found = (step[:2] for step in steps if abs(value) >= step[2])
        best, scale = next(found, steps[-1][:2])
    symbol = SYMBOLS[head] if best else head
    return value / scale, f"{best}{symbol}" + (f"/{tail}" if tail else "")


@lru_cache(maxsize=16)
def _steps(head: str) -> tuple[tuple[str, Fraction, Fraction], ...]:
    """The prefixes a unit is printed with, the largest first: each with its size and the least value that takes it."""
    small = {prefix: SMALL_PREFIXES[prefix] for prefix in "nµm"} if head in ("s", "J") else {}
    steps = small | {"": Fraction(1)} | (DECIMAL_PREFIXES if head != "s" else {})
    least = Fraction(99995, 100000)
    return tuple((prefix, scale, scale * least) for prefix, scale in reversed(steps.items()))


def readable(value: float | Fraction, unit: str) -> str:
    """A value with its unit as a formula takes it: read back, it is the value to six digits.

    >>> readable(Fraction(70553706496), "parameter"), readable(Fraction(1, 5000), "s")
    ('7.05537e10 parameter', '200 us')
    """
    number, text = (settled(value), unit) if unit.startswith("parameter") else scaled(value, unit)
    if abs(number) >= 10**7:
        mantissa, _, exponent = f"{float(number):.5e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)} {text}".strip()
    return f"{significant(number, 6).replace(',', '')} {text.replace('µ', 'u')}".strip()


USUAL: dict[str, tuple[str, str, tuple[tuple[str, int], ...]]] = {
    "byte/s": ("a bandwidth", "3.35 TB/s", (("TB/s", 20), ("GB/s", 10**4))),
    "byte": ("a size", "80 GB", (("GB", 10**4),)),
    "byte/token": ("a size", "320 KB/token", (("KB/token", 10**4),)),
    "FLOP/s": ("a rate", "989.4 TFLOP/s", (("TFLOP/s", 10**5),)),
    "s": ("a time", "50 ms", (("ms", 10**5),)),
    "W": ("a power", "700 W", ()),
    "USD/s": ("a price", "4.29 USD/hour", (("USD/hour", 10**4),)),
    "Hz": ("a clock", "1.83 GHz", (("GHz", 10), ("MHz", 10**4))),
}
"""What has a unit, how people write it, and the units in which they do, each with the largest number that is usual in it."""


NO_USUAL: tuple[str, str, tuple[tuple[str, int], ...]] = ("", "", ())


def example(unit: str, written_in: str | None = None) -> str:
    """How a value of a unit is written."""
    return repr(USUAL[unit][1] if unit in USUAL else f"1 {written_in or unit}".strip())


def with_usual_unit(value: float | Fraction, unit: str, written_in: str | None = None) -> str:
    """The probable quantity of a bare number: in the unit people write, or, where it is far too large or small for that, in the base unit.

    >>> with_usual_unit(Fraction("3.35"), "byte/s"), with_usual_unit(Fraction(450), "byte/s"), with_usual_unit(Fraction(80 * 10**9), "byte")
    ('3.35 TB/s', '450 GB/s', '80 GB')
    >>> with_usual_unit(Fraction(20), "s"), with_usual_unit(Fraction("0.05"), "s"), with_usual_unit(Fraction(4), "byte", "bit")
    ('20 ms', '50 ms', '4 bit')
    """
    usual = ((written_in, 10**4),) if written_in else USUAL.get(unit, NO_USUAL)[2]
    name = next((name for name, most in usual if 0.1 <= abs(float(value)) <= most), None)
    return f"{significant(value, 6).replace(',', '')} {name}" if name else readable(value, unit)


def format_quantity(value: float | Fraction, unit: str, digits: int = 4) -> str:
    """A value for people: significant digits and an engineering prefix.

    >>> format_quantity(Fraction(1342177280), "byte"), format_quantity(Fraction(1, 24), "s"), format_quantity(Fraction(62, 100), "")
    ('1.342 GB', '41.67 ms', '0.62')
    """
    number, text = scaled(value, unit)
    return f"{significant(number, digits)} {plural(text, number)}".strip()


def plural(unit: str, value: float | Fraction) -> str:
    """``1 token``, ``2 tokens/s``, ``2 GB/s``: words take an s, signs do not."""
    head, slash, tail = unit.partition("/")
    word = re.fullmatch("[a-z]{3,}", head)
    return f"{head}s{slash}{tail}" if word and value != 1 else unit
