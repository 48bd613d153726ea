"""FLOPs, parameters, bytes and times of made-up models equal loops over layers, operators and query tokens."""

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.specs.model import ModelSpec
from symroof.theory.switches import SWITCHES

from ..tables import words
from . import case, oracle
from .oracle import Kind, Model, Pass, Widths

SMALL = st.integers(1, 6)
WIDTH = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)])
CHOSEN = words("parameters attention_flops attention kv_traffic activations fusion logits roofline")


@st.composite
def kinds(draw):
    kv_heads = draw(st.integers(1, 4))
    return Kind(
        count=draw(SMALL),
        n_heads=kv_heads * draw(st.integers(1, 4)),
        n_kv_heads=kv_heads,
        head_dim=draw(st.sampled_from([1, 8, 16])),
        window=draw(st.none() | st.integers(1, 60)),
        ffn=draw(st.sampled_from(["gated", "plain", "none"])),
        d_ff=draw(st.integers(1, 90)),
        qkv_bias=draw(st.booleans()),
        out_bias=draw(st.booleans()),
        ffn_bias=draw(st.booleans()),
        qk_norm=draw(st.sampled_from(["none", "head", "full"])),
        norms=draw(st.none() | st.integers(0, 4)),
    )


@st.composite
def models(draw):
    """Every option of a dense model, but for a tied head with a bias, which has a test of its own."""
    tied = draw(st.booleans())
    return Model(
        kinds=tuple(draw(st.lists(kinds(), min_size=1, max_size=3))),
        d_model=draw(st.integers(1, 70)),
        vocab_size=draw(st.integers(1, 300)),
        tied=tied,
        positions=draw(st.none() | st.integers(1, 50)),
        head_bias=draw(st.booleans()) and not tied,
        norm=draw(st.sampled_from(["rms", "layer", "none"])),
        norms=draw(st.integers(0, 4)),
        final_norm=draw(st.booleans()),
    )


WIDTHS = st.builds(Widths, WIDTH, WIDTH, WIDTH)
SETTINGS = st.fixed_dictionaries(
    {name: st.sampled_from(list(SWITCHES[name].values)) for name in CHOSEN}
)


def plain(switches):
    """Nominal counting goes with activations off, as in every level of ``detail`` that has it."""
    return {**switches, "activations": "off"} if switches["parameters"] == "nominal" else switches


def bound(model, switches=None, widths=None, **values):
    widths = widths or Widths()
    precision = {
        "weight_bytes_per_param": widths.weight,
        "kv_bytes_per_element": widths.kv,
        "act_bytes_per_element": widths.activation,
    }
    return case(ModelSpec.model_validate(oracle.as_spec(model)), switches, **precision, **values)


@given(models(), WIDTHS)
def test_parameters_and_weights(model, widths):
    found = bound(model, widths=widths)
    count = oracle.parameters(model)
    assert found.value("params") == count
    assert found.value("weight_bytes") == count * widths.weight
    assert found.value("weight_bytes_read") == oracle.weights_read(model, widths)
    assert found.value("kv_bytes_per_token") == sum(
        oracle.kv_bytes_of_layer(kind, widths) for kind in oracle.each_layer(model)
    )
    if not model.positions:
        assert found.value("active_params") == count - (
            0 if model.tied else model.vocab_size * model.d_model
        )


@given(models(), SETTINGS, WIDTHS, st.integers(1, 40), st.integers(0, 39), st.integers(1, 3))
def test_prefill(model, switches, widths, prompt, cached, batch):
    switches, cached = plain(switches), min(cached, prompt - 1)
    found = bound(model, switches, widths, prompt=prompt, cached_prefix=cached, prefill_batch=batch)
    step = Pass(batch, prompt - cached, cached)
    assert (found.value("prefill_flops"), found.value("prefill_bytes")) == oracle.totals(
        model, step, switches, widths
    )
    assert found.value("prefill_tokens") == batch * (prompt - cached)


@given(models(), SETTINGS, WIDTHS, st.integers(1, 70), st.integers(1, 5), st.sampled_from([1, 2]))
def test_decode(model, switches, widths, context, batch, tp):
    assume(tp == 1 or all(kind.n_kv_heads != 3 for kind in model.kinds))
    switches, step = plain(switches), Pass(batch, 1, context - 1)
    found = bound(model, switches, widths, context=context, batch=batch, tp=tp)
    whole, device = (
        (found.value(f"decode_flops{of}"), found.value(f"decode_bytes{of}"))
        for of in ("", "_per_device")
    )
    assert whole == oracle.totals(model, step, switches, widths)
    assert device == oracle.totals(model, step, switches, widths, tp)
    assert found.value("kv_cache_bytes") == oracle.cache(model, batch, context, widths)


def test_a_tied_head_keeps_its_bias():
    """Tying shares the matrix; the bias is a parameter of its own."""
    model = Model((Kind(2, 4, 2, 8),), tied=True, head_bias=True)
    without = Model((Kind(2, 4, 2, 8),), tied=True)
    assert bound(model).value("params") - bound(without).value("params") == model.vocab_size


def test_the_oracle_counts_a_hand_example():
    """Two layers, width 4, one head of 2, gated 3 wide, 5 words, untied, 3 tokens in one request: worked out by hand."""
    model = Model((Kind(2, 1, 1, 2, d_ff=3),), d_model=4, vocab_size=5, norms=2)
    # layer: qkv 4*6=24, out 2*4=8, gate_up 4*6=24, down 3*4=12 -> 68, norms 8; two layers 152, tables 20+20, final norm 4
    assert oracle.parameters(model) == 152 + 40 + 4
    default = {name: SWITCHES[name].default for name in CHOSEN}
    # linear 2*68*2*3=816, head 2*20=40, attention 4*2*(1+2+3)*2=96
    # weights (136+20)*2=312; cache 3 tokens*2*2*2*2 layers=48; activations 2 layers*3*2*(10+6+10+7+4)=444, head 2*9=18
    assert oracle.totals(model, Pass(1, 3, 0), default, Widths()) == (
        816 + 40 + 96,
        312 + 48 + 444 + 18,
    )
    assert [
        oracle.pairs(Kind(1, 1, 1, 1, window=2), Pass(1, 3, 2), mask) for mask in ("causal", "full")
    ] == [2 + 2 + 2, 3 * (1 + 3)]
