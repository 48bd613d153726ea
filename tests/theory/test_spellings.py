"""Every sign the theory prints is read back as the name it is of, every printed definition as its value."""

import random
from fractions import Fraction
from functools import cache

import pytest

from symroof.formula.evaluate import NoValue
from symroof.formula.latex import latex
from symroof.formula.parse import FormulaError
from symroof.formula.text import text
from symroof.formula.tree import Name, Num
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import letters, printed_name, read_formula, resolved
from symroof.theory.switches import SWITCHES
from symroof.theory.switches import assume as assumptions
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import theory

CONTRACT = {
    "params": "P", "active_params": "P_a", "n_layers": "L", "d_model": "d", "n_heads": "H", "n_kv_heads": "H_{kv}", "head_dim": "d_h", "d_ff": "d_{ff}", "vocab_size": "V",
    "window": "w", "weight_bytes_per_param": "b_w", "kv_bytes_per_element": "b_{kv}", "act_bytes_per_element": "b_a", "prompt": "S", "output": "N", "batch": "B",
    "prefill_batch": "B_p", "context": "C", "cached_prefix": "S_c", "peak_flops": "F", "mem_bandwidth": r"\beta", "mem_capacity": "M", "link_bandwidth": r"\beta_l",
    "link_latency": r"\alpha_l", "ffn_matrices": "n_f", "mfu": r"\eta_c", "mbu": r"\eta_m", "step_overhead": "t_0", "layer_overhead": "t_l", "queue_time": "t_q",
}  # fmt: skip
"""The LaTeX column of the contract's table of inputs, as far as the inputs exist."""


def random_case(built, seed):
    draw = random.Random(seed)
    free = {
        name
        for name in {*built.mentioned_names, *INPUTS}
        if built.definition(name) is None and base_name(name) in INPUTS
    }
    values = {name: Num(Fraction(draw.randint(1, 60))) for name in sorted(free)}
    return Case(
        built,
        values
        | {"prompt": Num(Fraction(draw.randint(70, 90))), "tp": Num(Fraction(draw.randint(2, 5)))},
    )


CHOICES = [
    {},
    *({name: value} for name, switch in SWITCHES.items() for value in list(switch.values)[1:]),
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_printed_definition_reads_back_as_its_value(choice):
    reads_back(theory(assumptions=assumptions(**choice)))


@pytest.mark.parametrize(
    "model", ["gemma-2-9b", "gemma-3-1b", "gpt2", "phi-3-mini-4k", "llama-3-70b"]
)
def test_a_printed_definition_of_a_model_reads_back_as_its_value(model):
    reads_back(theory(build(catalogue.find("models", model), ModelSpec).architecture()))


def reads_back(built):
    """Every definition as LaTeX has its value at made-up inputs; one that comes back as it was written has it at any."""
    cases = [random_case(built, seed) for seed in range(2)]
    for name, definition in built.definitions.items():
        written = latex(definition, built.latex)
        again = read(written)
        assert again == definition or all(
            value(case, again) == value(case, definition) for case in cases
        ), f"{name} = {written}"


@cache
def read(written):
    return resolved(read_formula(written))


def value(case, tree):
    """The value, or why there is none: a model whose layers all have windows has no pairs without one."""
    try:
        return case.evaluate(tree)
    except NoValue as error:
        return str(error)


def test_every_sign_reads_back_as_its_name():
    for name in (*INPUTS, *QUANTITIES):
        assert resolved(read_formula(theory().latex(name))) == Name(name)


@pytest.mark.parametrize(("name", "spelled"), CONTRACT.items())
def test_the_contract_spells(name, spelled):
    assert resolved(read_formula(spelled)) == Name(name)


def test_no_two_names_share_a_letter():
    alone = {**INPUTS, **QUANTITIES}.keys() - set(letters().values())
    assert alone == {"fits", "d_ff"}, (
        "these two are spelled as they are named; every other has a letter of its own"
    )


PRINTED = {
    "batch": "batch", "bs": "batch", "isl": "prompt", "kappa": "kv_bytes_per_token", "H_kv": "n_kv_heads", "t_c_prefill": "prefill_compute_time",
    "H_kv.local": "n_kv_heads.local", "n_layers.window": "n_layers.window", "bs.full": "batch.full", "L.foo": "n_layers.foo", "foo.local": "foo.local",
    "L_global": "n_layers.global", "L_local": "n_layers.local", "L_full": "n_layers.full", "L_window": "n_layers.window", "H_kv_full": "n_kv_heads.full",
    # an alias takes no subscript, a letter none but a kind of layer, and what is no letter stays
    "bs_full": "bs_full", "L_foo": "L_foo", "foo_local": "foo_local", "nothing": "nothing",
}  # fmt: skip


@pytest.mark.parametrize(("spelled", "name"), PRINTED.items())
def test_one_name_is_printed_for_every_spelling(spelled, name):
    assert printed_name(spelled) == name


@pytest.mark.parametrize(
    ("written", "formula"),
    [
        ("2 L H_kv d_h", "2*L*H_kv*d_h"), ("L B", "L*B"), ("B 3 L", "3*B*L"), ("5 L B", "5*L*B"), ("2 d_ff L", "2*d_ff*L"), ("2 log2(L) H", "2*log2(L)*H"),
        (r"\frac{L}{2}", "L/2"), ("max(L, H)", "max(L, H)"), ("80 GB", "8e10 byte"),
        ("4 k", None), ("2 L 4 k", None), ("4 M L", None), ("3 B L", None),  # a thousand, a million, a billion, or a name
        ("2 L x", None), ("2 L batch", None), ("2 3", None), ("2 L +", None), ("", None),
    ],
)  # fmt: skip
def test_letters_side_by_side_are_a_product_where_none_may_be_a_unit(written, formula):
    if formula is None:
        with pytest.raises(FormulaError):
            read_formula(written)
    else:
        assert text(read_formula(written)) == formula
