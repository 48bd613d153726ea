"""LaTeX as people paste it: read as what it says, refused with a column where it says two things, in bounded time."""

import random
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.formula.latex import latex
from symroof.formula.parse import FormulaError, parse
from symroof.formula.parse_latex import parse_latex
from symroof.formula.text import text
from symroof.theory.spellings import read_formula, resolved

from . import examples, points, with_functions
from .test_parse import value

SECONDS = 10.0
"""Half a second is promised; no machine is so slow that it takes twenty times that, and no text that is not bounded ends in it."""


@pytest.mark.parametrize(
    ("source", "meaning"),
    [
        (r"2 L H_{kv} d_h", "2*L*H_kv*d_h"),
        (r"2LH_{kv}d_hb_{\mathrm{kv}}", "2*L*H_kv*d_h*b_kv"),
        (r"\dfrac{P b_w}{\beta}", "P*b_w/beta"),
        (r"\frac12 P", "P/2"),
        (r"\tfrac{1}{2}\cdot P", "P/2"),
        (r"P \times S \div 2", "P*S/2"),
        (r"\max\left(\frac{\Phi}{F}, \frac{Q}{\beta}\right)", "max(Phi/F, Q/beta)"),
        (r"\max\{a, b\}", "max(a, b)"),
        (r"\min{(a, b)} + \min{a, b}", "2*min(a, b)"),
        (r"\bigl(a + b\bigr)^{2}", "(a + b)**2"),
        (r"\left[a + b\right]^2", "(a + b)**2"),
        (r"\lceil S / p \rceil p", "ceil(S/p)*p"),
        (r"\left\lfloor \frac{M}{\kappa} \right\rfloor", "floor(M/kappa)"),
        (r"\sqrt{\frac{P}{12 L}}", "sqrt(P/(12*L))"),
        (r"\log_2 B + \log_{2}\left(B + 1\right)", "log2(B) + log2(B + 1)"),
        (r"\exp\left(-\frac{a}{b}\right) + \exp(x)", "exp(-a/b) + exp(x)"),
        (r"d_h^2 + d^{2} + d^x", "d_h**2 + d**2 + d**x"),
        (r"\left(1 - \frac{k}{E}\right)^{T}", "(1 - k/E)**T"),
        (r"\text{TTFT} = \mathrm{ITL} \cdot N", "TTFT = ITL*N"),
        (r"\eta_c\, \kappa\; \lambda\quad \varphi_h~\Phi", "eta_c*kappa*lambda*varphi_h*Phi"),
        (r"1{,}024 + 4\,096", "5120"),
        (r"3.35 \times 10^{12}", "3.35e12"),
        (r"3.35 \cdot 10^{12}\,\mathrm{byte/s}", "3.35e12 byte/s"),
        (r"W / 3.35 \times 10^{12}\,\text{byte}/\text{s}", "W/(3.35e12 byte/s)"),
        (r"10^{-3}\,\mathrm{s}", "1e-3 s"),
        (r"80\%", "80%"),
        (r"80\,\text{GB}", "80 GB"),
        (r"\frac{80 GB}{3.35 TB/s}", "80 GB/(3.35 TB/s)"),
        (r"295\,\mathrm{FLOP/B}", "295 FLOP/byte"),
        (r"\mathrm{TTFT} \le 200\,\text{ms}", "TTFT <= 200 ms"),
        (r"a \leq b", "a <= b"),
        (r"a \geq b", "a >= b"),
        (r"a &= b \\", "a = b"),
        (r"$a \cdot b$", "a*b"),
        (r"$$ a \cdot b. $$", "a*b"),
        (r"\(a \cdot b\)", "a*b"),
        (r"\[ a \cdot b \]", "a*b"),
        (r"-\frac{-a}{b} \cdot -c", "-(-a/b)*(-c)"),
        (r"C_{\max}", "C_max"),
        (r"t^{c}_{\mathrm{prefill}}", "t_c_prefill"),
        (r"\text{prefill\_flops}", "prefill_flops"),
        (r"\sum_{j=1}^{n} a j + b", "sum(a*j, j, 1, n) + b"),
        (r"\left. \mathrm{ITL} \right\vert_{C = S + 1}", "ITL(C = S + 1)"),
        (r"\mathrm{ITL}(C = S + 1)", "ITL(C = S + 1)"),
        (r"\mathrm{ITL}(N - 1)", "ITL*(N - 1)"),
        (r"\max(a, b)*c**2", "max(a, b)*c**2"),
    ],
)
def test_what_it_says(source, meaning):
    assert parse_latex(source) == parse(meaning)


@pytest.mark.parametrize(
    ("source", "column", "says"),
    [
        (r"a + \fracc{1}{2}", 5, r"did you mean \frac?"),
        (r"\begin{align} a", 1, "without the environment"),
        (r"a / b c", 3, "ambiguous division"),
        (r"2 3 a", 3, "two numbers side by side"),
        (r"x^10 \cdot 2", 3, "only the first digit"),
        (r"10^{7}^2", 7, "two scripts"),
        (r"a & b", 3, "one formula at a time"),
        (r"a = b \\ c = d", 7, "one formula at a time"),
        (r"\left( a", 9, "closes '(' of column 6"),
        (r"\lceil a", 9, r"\rceil"),
        (r"\frac{a}{0}", 1, "division by zero"),
        (r"\log_3 a", 1, r"only \log_2 and \ln"),
        (r"\sqrt[3]{a}", 6, "only square roots"),
        (r"80\,\text{B}", 5, "write \\text{byte}"),
        (r"\text{KV cache} \cdot 2", 1, "neither a name nor a unit"),
        (r"4,096 \cdot L", 3, "thousands"),
        (r"a_{b+c}", 5, "subscript is a label"),
        (r"a \cdot", 8, "the end of the formula"),
        ("$ a", 1, "unexpected character"),
        (r"9^{9^{9}}", 4, "exponents are whole numbers"),
        (r"\max a", 6, "in brackets"),
        (r"a = b = c", 7, "expected an operator"),
    ],
)
def test_what_is_refused(source, column, says):
    with pytest.raises(FormulaError) as caught:
        parse_latex(source)
    assert caught.value.column == column
    assert says in caught.value.message


@pytest.mark.parametrize(
    "source",
    ["{" * 100 + "a", "(" * 65 + "a" + ")" * 65, r"\sqrt" * 100 + "a", r"\log_2" * 70 + "a", r"\frac1" * 100 + "a", "a^{" * 70 + "2" + "}" * 70, "a" * 4097,
     r"((a^{64})^{64})^{64}", r"10^{200}", "9" * 200, r"\sum_{j=1}^2" * 100 + "j", "_" + "{" * 50, r"a_{\mathrm{b}" * 300],
)  # fmt: skip
def test_what_is_too_much(source):
    start = time.process_time()
    with pytest.raises(FormulaError):
        parse_latex(source)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "source",
    [
        "a" * 4096,
        "a_1+" * 1000 + "b",
        r"\frac{a}{b}" * 370,
        "ab" * 2000,
        "+".join(f"x_{{{i}}}" for i in range(500)),
        "(a" * 60 + ")" * 60,
    ],
)
def test_long_formulas_are_quick(source):
    start = time.process_time()
    parse_latex(source)
    assert time.process_time() - start < SECONDS


@examples(400)
@given(with_functions, points)
def test_what_is_printed_reads_back(source, point):
    try:
        tree = parse(source)
    except FormulaError:
        return
    back = parse_latex(latex(tree, str), frozenset({"prompt", "x1"}))
    assert value(back, point) == value(tree, point)


PIECES = (
    "a", "H", "_", "^", "{", "}", "(", ")", "[", "]", "2", "10", "0", "3.35", "1{,}024", r"\frac", r"\cdot", r"\times", r"\left", r"\right", r"\max", r"\{", r"\}", r"\lceil",
     r"\rceil", r"\sqrt", r"\log", r"\sum", r"\text{GB}", r"\mathrm{TTFT}", r"\text", r"\operatorname{arg\,max}", r"\text{x: }", r"\eta", r"\%", "%", ",", "=", r"\le", r"\\", "&",
     "$", r"\,", "~", " ", "/", "+", "-", "|", r"\vert", r"\left.", "é", "\0", "\\", ".", "GB", "max", "tp", r"\quad", r"\foo"
)  # fmt: skip


def read(source):
    start = time.process_time()
    for reader in (read_formula, parse_latex):
        try:
            tree = reader(source)
        except FormulaError as error:
            assert 1 <= error.column <= len(source) + 1
        else:
            text(resolved(tree))
    assert time.process_time() - start < SECONDS


def test_any_pile_of_tokens_is_read_or_refused():
    draw = random.Random("piles of tokens")
    for _ in range(2000):
        read("".join(draw.choices(PIECES, k=draw.randint(1, 25))))


@examples(400)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(source):
    read(source)


FORMULA = r"\mathrm{TTFT} = \max\left(\frac{2 P S + 4 L d S^2}{\eta_c F}, \frac{P b_w}{\eta_m \beta}\right) + t_0 + 3.35 \times 10^{12}\,\mathrm{TB/s}"


def test_a_mutated_formula_is_read_or_refused():
    draw = random.Random("up to four mutations")
    for _ in range(800):
        source = FORMULA
        for _ in range(draw.randint(1, 4)):
            at, length = draw.randrange(len(FORMULA)), draw.randint(0, 4)
            source = (
                source[:at]
                + draw.choice(("", "{", "}", "^", "_", "\\", "(", "9", "a", r"\frac", " "))
                + source[at + length :]
            )
        read(source)


# ---------------------------------------------------------------------------------------------------- either grammar


@pytest.mark.parametrize(
    ("source", "meaning"),
    [
        ("2*L*H_kv*d_h", "2*n_layers*n_kv_heads*head_dim"),
        ("2 L H_kv d_h b_kv", "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element"),
        (
            r"\beta_l \alpha_l S_c B_p P_a b_{kv} d_{ff}",
            "link_bandwidth*link_latency*cached_prefix*prefill_batch*active_params*kv_bytes_per_element*d_ff",
        ),
        ("80 GB/(3.35 TB/s)", "80 GB/(3.35 TB/s)"),
        (r"t^{m}_{\mathrm{decode}} \cdot mfu", "decode_memory_time*mfu"),
        ("5 V", "5*vocab_size"),
        ("L_{local} H_{kv, local}", "n_layers.local*n_kv_heads.local"),
    ],
)
def test_either_grammar(source, meaning):
    assert resolved(read_formula(source)) == parse(meaning)


@pytest.mark.parametrize(
    "source",
    [
        "4 k",
        "8 B",
        "70 B + 1",
        "2 foo",
        "prompt output",
        "prompt(S + 1)",
        "2 P S / F B",
        "x L",
        "3 GBB",
    ],
)
def test_what_is_no_product_of_letters(source):
    with pytest.raises(FormulaError):
        read_formula(source)


def test_a_unit_that_is_also_a_product_is_refused():
    with pytest.raises(FormulaError, match="unit and a product"):
        read_formula(r"2PB \cdot S")
    assert resolved(read_formula(r"2 P B \cdot S")) == parse("2*params*batch*prompt")


def test_names_of_a_claim_are_read_too():
    assert read_formula("2 L zeta_q", also={"zeta_q"}) == parse("2*L*zeta_q")


def test_values_are_exact():
    assert value(parse_latex(r"0.1 \times 10^{-2} a"), {"a": Fraction(7)}) == Fraction(7, 1000)


@pytest.mark.parametrize(
    "source", ["of_largest(8)", "of_largest(8, 2, 3)", r"\text{of_largest}(x)"]
)
def test_a_choice_takes_pairs_however_it_is_written(source):
    """Letters side by side are read as LaTeX, which took any number of arguments: one ended in a traceback."""
    with pytest.raises(FormulaError, match=r"of_largest\(\) takes"):
        read_formula(source, ("x",))
