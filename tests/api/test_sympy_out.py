"""SymPy out: every quantity as an expression whose numbers are the engine's, one symbol a name, of the declared sign."""

import subprocess
import sys

import pytest
import sympy

import symroof as sr
from symroof import symbols
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import theory

from ..near import near
from ..tables import case_of

CASE = case_of(
    "model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=5 batch=4 "
    "cached_prefix=128 tp=2 arrival_rate=1 price=0.001 itl_target=0.05 ttft_target=0.5 "
    "draft_tokens=3 acceptance=0.7 draft_cost=0.1 chunk=256"
)


def agrees(expression, value, share=False):
    """Labels and truths as they are, numbers to rounding; a share may be what rounding leaves of one."""
    if isinstance(value, bool):
        return bool(expression) is value
    if isinstance(value, str):
        return str(expression) == value
    left = 1e-15 if share else 0
    return float(expression) == near(value) or abs(float(expression) - value) <= left


@pytest.fixture(scope="module")
def study():
    return sr.Study(**CASE)


@pytest.mark.parametrize(
    "name", ["itl", "decode_time", "weight_bytes", "peak_context", "queue_wait"]
)
def test_definitions_as_declared_with_the_values_of_quantities(study, name):
    value = study.sympy(name, depth=1).xreplace(study.values(quantities=True))
    assert agrees(value.doit(), study.value(name))


def test_symbols_are_the_same_objects_everywhere():
    study = sr.Study("llama-3-8b", "h100-sxm", engine="ideal", prompt=1024)
    assert study.sympy("itl").free_symbols <= set(symbols.latex)
    assert symbols.batch is symbols.symbol("batch") and symbols.seq_len is symbols.prompt
    assert sympy.diff(study.derive("ttft").expanded, symbols.prompt) != 0


def test_signs_are_as_declared():
    assert symbols.batch.is_positive and not symbols.batch.is_integer
    assert symbols.cached_prefix.is_nonnegative and symbols.cached_prefix.is_positive is None
    assert symbols.free_memory.is_real and symbols.free_memory.is_nonnegative is None
    assert sympy.Max(symbols.free_memory, 0) != symbols.free_memory
    assert symbols.decode_bound.is_real is None


def test_every_name_has_a_symbol_and_its_latex():
    for name in (*INPUTS, *QUANTITIES):
        assert str(getattr(symbols, name)) == name
        assert symbols.latex[getattr(symbols, name)] == theory().symbol(name).latex
    assert (
        sympy.latex(symbols.symbol("n_layers.local"), symbol_names=symbols.latex)
        == r"L_{\mathrm{local}}"
    )
    with pytest.raises(AttributeError):
        symbols.no_such_name  # noqa: B018


SERVER = case_of(
    "model=llama-3-8b hardware=h100-sxm engine=ideal prompt=1024 output=128 batch=32 "
    "arrival_rate=1 prefill_devices=1"
)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("threshold", "why"),
    [
        ("max_batch_sustained_itl", "its closed form is too long to be written out"),
        ("max_arrival_ttft", "steady_batch is searched for each arrival_rate"),
    ],
)
def test_a_crossing_without_a_closed_form_says_why(threshold, why):
    solution = sr.Study(**SERVER, itl_target="10 ms", ttft_target="1 s", chunk=1024).solve(
        threshold
    )
    assert solution.sympy is None and solution.why_numeric == why
    with pytest.raises(sr.InputError, match=f"no symbolic answer.*{why}.*missing"):
        sr.solve(threshold)
    assert sr.solve("max_batch_memory").why_numeric == ""


def test_nothing_loads_sympy_before_it_is_needed():
    script = "import sys, symroof as sr; dir(sr); assert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
