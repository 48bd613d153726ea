"""Blocks of a layer: what contradicts itself is refused, either way round, and what they say of themselves is what they were given."""

import pytest
from pydantic import ValidationError

from symroof.specs.layers import LayerKind
from symroof.specs.model import ModelSpec
from symroof.specs.quantization import Quantization

GROUPED = {"n_heads": 6, "n_kv_heads": 2, "head_dim": 5}
LATENT = {
    "kind": "mla",
    "n_heads": 3,
    "kv_lora_rank": 7,
    "qk_nope_dim": 5,
    "qk_rope_dim": 2,
    "value_dim": 11,
}
LINEAR = {
    "linear_key_heads": 2,
    "linear_value_heads": 4,
    "linear_key_dim": 3,
    "linear_value_dim": 5,
}
POOL = {"kind": "moe", "n_experts": 8, "experts_per_token": 2, "d_expert": 13}
DENSE = {"d_ff": 17}


def layer(attention=GROUPED, ffn=DENSE, **fields):
    return LayerKind.model_validate({"count": 1, "attention": attention, "ffn": ffn} | fields)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("attention", "ffn", "message"),
    [
        (GROUPED | {"n_kv_heads": 4}, DENSE, "n_heads 6 is not a multiple of n_kv_heads 4"),
        (GROUPED | {"n_kv_heads": 12}, DENSE, "n_heads 6 is not a multiple of n_kv_heads 12"),
        (
            GROUPED | {"chunk_size": 4},
            DENSE,
            "chunk_size belongs to `kind: chunked`, and that needs one",
        ),
        (
            GROUPED | {"kind": "chunked"},
            DENSE,
            "chunk_size belongs to `kind: chunked`, and that needs one",
        ),
        (
            GROUPED | {"kind": "chunked", "chunk_size": 4, "window": 4},
            DENSE,
            "a layer has a window or a chunk, not both",
        ),
        (
            {"kind": "gated_delta", **LINEAR},
            DENSE,
            "d_conv belongs to `kind: gated_delta` and `kimi_delta`, and those need one",
        ),
        (
            {"kind": "linear", "d_conv": 4, **LINEAR},
            DENSE,
            "d_conv belongs to `kind: gated_delta` and `kimi_delta`, and those need one",
        ),
        (GROUPED, {"kind": "gated"}, "d_ff is missing"),
        (GROUPED, {"kind": "plain"}, "d_ff is missing"),
        (GROUPED, POOL | {"experts_per_token": 9}, "experts_per_token 9 is more than n_experts 8"),
        (GROUPED, POOL | {"d_shared": 3}, "d_shared and shared_gate need n_shared_experts"),
        (GROUPED, POOL | {"shared_gate": True}, "d_shared and shared_gate need n_shared_experts"),
    ],
)
def test_what_contradicts_itself_is_refused(attention, ffn, message):
    with pytest.raises(ValidationError, match=message):
        layer(attention, ffn)


def test_a_layer_needs_both_parts_or_a_mixer():
    for fields, missing in (
        ({"ffn": DENSE}, ["attention"]),
        ({"attention": GROUPED}, ["ffn"]),
        ({}, ["attention", "ffn"]),
    ):
        with pytest.raises(ValidationError) as error:
            LayerKind.model_validate({"count": 1, **fields})
        assert [place for place, _ in error.value.errors()[0]["ctx"]["error"].items] == [
            (name,) for name in missing
        ]
    alone = LayerKind.model_validate({"count": 1, "mixer": {"kind": "conv", "d_conv": 3}})
    assert (alone.attention.kind, alone.ffn.kind) == ("none", "none")


# --------------------------------------------------------------------------------------------------------------- models

OUTER = {"name": "m", "d_model": 64, "vocab_size": 100}


def model(*layers, **fields):
    return ModelSpec.model_validate(
        OUTER
        | {"layers": [{"count": 1, "attention": GROUPED, "ffn": DENSE} | one for one in layers]}
        | fields
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"d_model": None}, "layers also need d_model and vocab_size"),
        ({"vocab_size": None}, "layers also need d_model and vocab_size"),
        ({"layers": []}, "give layers"),
        (
            {"layers": [{"count": 1, "label": "a", "attention": GROUPED, "ffn": DENSE}] * 2},
            "two kinds of layer have the same label",
        ),
    ],
)
def test_what_is_no_model(fields, message):
    with pytest.raises(ValidationError, match=message):
        model({}, **fields)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("layers", "labels", "mixing"),
    [
        ([{}], ["full"], "gqa"),
        (
            [{}, {"attention": GROUPED | {"window": 9}, "count": 3}],
            ["full", "local"],
            "1 gqa, 3 window",
        ),
        ([{}, {"ffn": POOL, "count": 2}], ["dense", "moe"], "gqa"),
        ([{}, {"ffn": {"kind": "none"}}], ["dense", "none"], "gqa"),
        (
            [{}, {"attention": GROUPED | {"window": 9}, "ffn": POOL}],
            ["full_dense", "local_moe"],
            "1 gqa, 1 window",
        ),
        ([{"attention": {"kind": "none"}}, {"ffn": {"kind": "none"}}], ["dense", "full"], "gqa"),
        (
            [
                {"attention": {"kind": "none"}},
                {"mixer": {"kind": "conv", "d_conv": 3}, "attention": {"kind": "none"}},
            ],
            ["ffn", "conv"],
            "conv",
        ),
        (
            [
                {"attention": GROUPED | {"shares_kv": True}},
                {"attention": GROUPED | {"images_only": True}},
            ],
            ["full_shared", "image"],
            "gqa",
        ),
        (
            [{"attention": {"kind": "gated_delta", "d_conv": 4, **LINEAR}}, {"attention": LATENT}],
            ["delta", "full"],
            "1 gated_delta, 1 mla",
        ),
        (
            [{}, {"ffn": DENSE | {"bias": True}}, {"ffn": DENSE | {"inner_norm": True}}],
            ["full", "full2", "full3"],
            "gqa",
        ),
        (
            [
                {},
                {"label": "full", "ffn": {"d_ff": 9}},
                {"label": "full2", "ffn": {"d_ff": 7}},
                {"ffn": {"d_ff": 5}},
            ],
            ["full", "full2", "full22", "full3"],
            "gqa",
        ),
    ],
)
def test_kinds_of_layer_are_told_apart(layers, labels, mixing):
    made = model(*layers)
    assert made.labels() == labels
    assert made.mixing() == mixing


# --------------------------------------------------------------------------------------------------------- quantization


def stored(**fields):
    return Quantization.model_validate(
        {"method": "m", "bits": "4 bit", "format": "int4", "kept": []} | fields
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": "int5"}, "unknown name 'int5'"),
        ({"compute": "fp9"}, "unknown name 'fp9'"),
        ({"kept": ["dwn"]}, "unknown name 'dwn'; did you mean 'down'"),
        ({"widths": {"dwn": "4 bit"}}, "unknown name 'dwn'"),
        (
            {"kept": ["down"], "widths": {"down": "4 bit"}},
            "down is kept and has a width of its own; say one of them",
        ),
    ],
)
def test_a_quantization_that_contradicts_itself(fields, message):
    with pytest.raises(ValidationError, match=message):
        stored(**fields)
