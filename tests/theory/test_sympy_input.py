"""Units that SymPy leaves unsaid: a number beside a quantity has its unit, as far as what stands beside it decides that."""

import pytest

from symroof.formula import dimension
from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import Num, walk
from symroof.theory.sympy_input import with_units
from symroof.theory.theory import theory

UNSAID = [  # as SymPy has it, and with units
    ("itl + 1/20", "itl + 1/20*1 s"),
    ("1/20 + itl", "1/20*1 s + itl"),
    ("itl*3 + 5 + ttft", "3*itl + 5 s + ttft"),
    ("max(itl, 1/20)", "max(itl, 1/20*1 s)"),
    ("min(2*itl, 3, ttft)", "min(2*itl, 3 s, ttft)"),
    ("itl = 1/20", "itl = 1/20*1 s"),
    ("3 + 4 = itl", "7 s = itl"),
    ("of_largest(itl, 1, 2, ttft)", "of_largest(itl, 1 s, 2 s, ttft)"),
    ("of_largest(prompt, itl, 8, 2)", "of_largest(prompt, itl, 8, 2 s)"),
    # FLOPs are numbers in what people write: a part without them gets them, a part of another dimension does not
    ("prefill_flops + 2*params*prompt", "prefill_flops + 2 FLOP*params*prompt"),
    ("2*params*prompt + prefill_flops", "2 FLOP*params*prompt + prefill_flops"),
    ("prefill_flops + 2*params = 7", "prefill_flops + 2 FLOP*params = 7 FLOP"),
    ("prefill_flops + 2*itl", "prefill_flops + 2*itl"),
    ("kv_cache_bytes + 3", "kv_cache_bytes + 3 byte"),
]
AS_IT_IS = [
    "itl = 0", "2*itl = ttft", "log2(itl/ttft)", "exp(itl)", "exp(-itl)", "exp(2*prompt)", "exp(mfu/3)", "batch + 1", "foo + 1", "max(5*prompt, itl)", "itl*0 + ttft",
    "max(0, itl)", "itl/2", "exp(max(0, itl))", "exp(1/itl)",
]  # fmt: skip
"""Nothing is missing, a zero or a one has any unit, a name is not known, or the parts are unlike."""


class Values:
    axes, careful = 0, False

    def value(self, name):
        return (7 + len(name)) / 3


@pytest.mark.sample(5)
@pytest.mark.parametrize(("plain", "spoken"), UNSAID)
def test_a_number_has_the_unit_of_what_stands_beside_it(plain, spoken):
    made, expected = with_units(parse(plain)), parse(spoken)
    assert evaluate(made, Values()) == pytest.approx(evaluate(expected, Values()), rel=1e-12)
    assert units(made) == units(expected)


def units(tree):
    """The numbers of a formula by their units."""
    return sorted(
        str(node.dimension) for node in walk(tree) if isinstance(node, Num) and node.dimension
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("plain", AS_IT_IS)
def test_what_needs_no_unit_stays(plain):
    assert with_units(parse(plain)) == parse(plain)


@pytest.mark.parametrize("plain", ["exp(-itl/0.01)", "log2(itl/5)", "2 + exp(3*itl + ttft/7)"])
def test_the_argument_of_an_exponential_is_a_plain_number(plain):
    """A number of it has the unit that makes it one; its value stays."""
    made = with_units(parse(plain))
    assert dimension.dimension(made, theory().dimension) == ()
    assert evaluate(made, Values()) == pytest.approx(evaluate(parse(plain), Values()), rel=1e-12)
    with pytest.raises(dimension.DimensionError):
        dimension.dimension(parse(plain), theory().dimension)
