"""Arithmetic in claims: numbers with units, names and steps, and what has no value."""

from fractions import Fraction

from symroof.claims.derive_claim import derive_expression

# ----------------------------------------------------------------------------------------------------- arithmetic and ranges


def arithmetic(source, steps=()):
    from symroof.claims.claim_settings import study_of

    result = derive_expression(
        source,
        study_of({"batch": 3}),
        {name: (Fraction(value), unit) for name, value, unit in steps},
    )
    return result.value, result.unit, result.flags


def test_arithmetic_over_units_names_and_steps():
    second, byte = (("s", 1),), (("byte", 1),)
    assert arithmetic("2*3") == (6, "", ())
    assert arithmetic("6 GB / 2 s") == (3 * 10**9, "byte/s", ())
    assert arithmetic("2*batch") == (6, "", ())
    assert arithmetic("batch") == (3, "", ())
    assert arithmetic("a/b", [("a", 6, byte), ("b", 4, second)]) == (Fraction(3, 2), "byte/s", ())
    assert arithmetic("tp*2", [("tp", 5, ())]) == (
        10,
        "",
        (),
    )  # a step goes before an input of that name
    value, _, flags = arithmetic("a + b", [("a", 6, byte), ("b", 4, second)])
    assert (value, flags) == (None, ("dimension",))
