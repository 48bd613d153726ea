"""Blocks of a layer: what contradicts itself is refused, either way round, and what they say of themselves is what they were given."""

import pytest
from pydantic import ValidationError

from symroof.specs.layers import LayerKind
from symroof.specs.model import ModelSpec
from symroof.specs.quantization import Quantization

from ..tables import fields, table

GROUPED = fields("n_heads: 6, n_kv_heads: 2, head_dim: 5")
LATENT = fields(
    "kind: mla, n_heads: 3, kv_lora_rank: 7, qk_nope_dim: 5, qk_rope_dim: 2, value_dim: 11"
)
LINEAR = fields(
    "linear_key_heads: 2, linear_value_heads: 4, linear_key_dim: 3, linear_value_dim: 5"
)
POOL = fields("kind: moe, n_experts: 8, experts_per_token: 2, d_expert: 13")
DENSE = {"d_ff": 17}
BLOCKS = {"gqa": GROUPED, "linear": LINEAR, "moe": POOL, "dense": DENSE}
CONTRADICTIONS = """
# attention | feed-forward | what is said
gqa, n_kv_heads: 4 | dense | n_heads 6 is not a multiple of n_kv_heads 4
gqa, n_kv_heads: 12 | dense | n_heads 6 is not a multiple of n_kv_heads 12
gqa, chunk_size: 4 | dense | chunk_size belongs to `kind: chunked`
gqa, kind: chunked | dense | chunk_size is missing
gqa, kind: chunked, chunk_size: 4, window: 4 | dense | a layer has window or chunk_size, not both
linear, kind: gated_delta | dense | d_conv is missing
linear, kind: linear, d_conv: 4 | dense | d_conv belongs to `kind: gated_delta` and `kimi_delta`
gqa | , kind: gated | d_ff is missing
gqa | , kind: plain | d_ff is missing
gqa | moe, experts_per_token: 9 | experts_per_token 9 is more than n_experts [+] n_zero_experts 8
gqa | moe, d_shared: 3 | d_shared needs n_shared_experts
gqa | moe, shared_gate: true | shared_gate needs n_shared_experts
"""


def block(text):
    """One of the blocks by its name, with other fields."""
    name, _, more = text.partition(", ")
    return BLOCKS.get(name, {}) | fields(more)


def layer(attention=GROUPED, ffn=DENSE):
    return LayerKind.model_validate({"count": 1, "attention": attention, "ffn": ffn})


@pytest.mark.sample(5)
@pytest.mark.parametrize(("attention", "ffn", "message"), table(CONTRADICTIONS))
def test_what_contradicts_itself_is_refused(attention, ffn, message):
    with pytest.raises(ValidationError, match=message):
        layer(block(attention), block(ffn))


def test_a_layer_needs_both_parts_or_a_mixer():
    for given, missing in (
        ({"ffn": DENSE}, ["attention"]),
        ({"attention": GROUPED}, ["ffn"]),
        ({}, ["attention", "ffn"]),
    ):
        with pytest.raises(ValidationError) as error:
            LayerKind.model_validate({"count": 1, **given})
        items = error.value.errors()[0]["ctx"]["error"].items
        assert [place for place, _ in items] == [(name,) for name in missing]
    alone = LayerKind.model_validate({"count": 1, "mixer": {"kind": "conv", "d_conv": 3}})
    assert (alone.attention.kind, alone.ffn.kind) == ("none", "none")


# --------------------------------------------------------------------------------------------------------------- models

OUTER = {"name": "m", "d_model": 64, "vocab_size": 100}


def model(*layers, **more):
    made = [{"count": 1, "attention": GROUPED, "ffn": DENSE} | one for one in layers]
    return ModelSpec.model_validate(OUTER | {"layers": made} | more)


def test_what_is_no_model():
    for layers, more, message in (
        ([{}], {"d_model": None}, "layers also need d_model and vocab_size"),
        ([{}], {"vocab_size": None}, "layers also need d_model and vocab_size"),
        ([{}], {"layers": []}, "give layers"),
        ([{"label": "a"}] * 2, {}, "two kinds of layer have the same label"),
    ):
        with pytest.raises(ValidationError, match=message):
            model(*layers, **more)


WINDOWED = {"attention": GROUPED | {"window": 9}}
NO_ATTENTION, NO_FFN = {"attention": {"kind": "none"}}, {"ffn": {"kind": "none"}}
CONV = {"mixer": {"kind": "conv", "d_conv": 3}} | NO_ATTENTION
SHARES, IMAGES = ({"attention": GROUPED | {key: True}} for key in ("shares_kv", "images_only"))
DELTA = {"attention": {"kind": "gated_delta", "d_conv": 4, **LINEAR}}
BIASED, NORMED = ({"ffn": DENSE | {key: True}} for key in ("bias", "inner_norm"))
LABELLED = [{"label": "full", "ffn": {"d_ff": 9}}, {"label": "full2", "ffn": {"d_ff": 7}}]
LAYERS = [
    ([{}], "full", "gqa"),
    ([{}, WINDOWED | {"count": 3}], "full local", "1 gqa, 3 window"),
    ([{}, {"ffn": POOL, "count": 2}], "dense moe", "gqa"),
    ([{}, NO_FFN], "dense none", "gqa"),
    ([{}, WINDOWED | {"ffn": POOL}], "full_dense local_moe", "1 gqa, 1 window"),
    ([NO_ATTENTION, NO_FFN], "dense full", "gqa"),
    ([NO_ATTENTION, CONV], "ffn conv", "conv"),
    ([SHARES, IMAGES], "full_shared image", "gqa"),
    ([DELTA, {"attention": LATENT}], "delta full", "1 gated_delta, 1 mla"),
    ([{}, BIASED, NORMED], "full full2 full3", "gqa"),
    ([{}, *LABELLED, {"ffn": {"d_ff": 5}}], "full full2 full22 full3", "gqa"),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("layers", "labels", "mixing"), LAYERS)
def test_kinds_of_layer_are_told_apart(layers, labels, mixing):
    made = model(*layers)
    assert made.labels() == labels.split()
    assert made.mixing() == mixing


# --------------------------------------------------------------------------------------------------------- quantization


def test_a_quantization_that_contradicts_itself():
    for changes, message in table("""
format: int5 | unknown name 'int5'
compute: fp9 | unknown name 'fp9'
kept: [dwn] | unknown name 'dwn'; did you mean 'down'
widths: {dwn: 4 bit} | unknown name 'dwn'
kept: [down], widths: {down: 4 bit} | down is kept and has a width of its own; say one of them
"""):
        given = fields("method: m, bits: 4 bit, format: int4, kept: []") | fields(changes)
        with pytest.raises(ValidationError, match=message):
            Quantization.model_validate(given)
