"""Every letter the theory prints is read as the name it is of."""

import pytest

from symroof.symbolic.expressions import symbol
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import letter, letters, printed_name, resolved
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import theory

from ..tables import words


def test_every_sign_reads_back_as_its_name():
    for name in (*INPUTS, *QUANTITIES):
        assert resolved(parse(letter(theory().latex(name)))) == symbol(name)


LETTERS = {
    r"\varphi": "varphi",
    r"\mathrm{KV}": "KV",
    r"\mathrm{ITL}_1": "ITL_1",
    r"\mathrm{KV}_{1,max}": "KV_1.max",
    r"c_{\mathrm{mix}}^{1M}": "c_1M_mix",
    r"t^{c}_{\mathrm{prefill}}": "t_c_prefill",
    r"\Phi^1_{\mathrm{mixed}}": "Phi_1_mixed",
    r"r_{p/d}": "r_pd",
    r"\mathrm{ITL}_{\mathrm{worst},c}": "ITL_worst.c",
}


@pytest.mark.parametrize(("latex", "typed"), LETTERS.items())
def test_a_sign_as_people_type_it(latex, typed):
    assert letter(latex) == typed


def test_no_two_names_share_a_letter():
    alone = {**INPUTS, **QUANTITIES}.keys() - set(letters().values())
    assert alone == {"fits", "d_ff"}, (
        "these two are spelled as they are named; every other has a letter of its own"
    )


PRINTED = words(
    "batch=batch bs=batch isl=prompt kappa=kv_bytes_per_token H_kv=n_kv_heads "
    "t_c_prefill=prefill_compute_time H_kv.local=n_kv_heads.local n_layers.window=n_layers.window "
    "bs.full=batch.full L.foo=n_layers.foo foo.local=foo.local L_global=n_layers.global "
    "L_local=n_layers.local L_full=n_layers.full L_window=n_layers.window "
    "H_kv_full=n_kv_heads.full "
    # an alias takes no subscript, a letter none but a kind of layer, and what is no letter stays
    "bs_full=bs_full L_foo=L_foo foo_local=foo_local nothing=nothing"
)


def test_one_name_is_printed_for_every_spelling():
    for spelled, name in (pair.split("=") for pair in PRINTED):
        assert printed_name(spelled) == name


@pytest.mark.parametrize("written", [r"\frac{L}{2}", "b_{kv}", "$L$", "2 L H_kv"])
def test_latex_is_not_read(written):
    """Neither are letters side by side; the error says how a formula is written."""
    with pytest.raises(FormulaError, match=r"write 2\*L\*H\*d_h|write \*"):
        parse(written)
