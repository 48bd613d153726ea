"""Which rows a layer has, and what stands outside the layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Architecture, Layer
from symroof.theory.feed_forwards import FEED_FORWARDS
from symroof.theory.mixers import MIXERS
from symroof.theory.rows import Row, gemm, stored

PLAIN_NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}
"""Vectors of one normalisation module: a weight, or a weight and a bias."""


def layer_rows(layer: Layer, norm: str) -> Iterator[Row]:
    """The rows of one layer."""
    for mixer in layer.mixers:
        yield from MIXERS[mixer](layer)
    yield from FEED_FORWARDS[layer.feed_forward](layer)
    if vectors := layer.norms * PLAIN_NORM_VECTORS[norm]:
        yield stored("norm", f"{vectors}*d_model")


def outer_rows(architecture: Architecture) -> Iterator[Row]:
    """What stands outside the layers: tables, final norm, head. A tied head multiplies but is stored once."""
    yield replace(stored("embedding", "vocab_size*d_model"), kept=False)
    if architecture.learned_positions:
        yield stored("positions", "learned_positions*d_model")
    if architecture.final_norm and (vectors := PLAIN_NORM_VECTORS[architecture.norm]):
        yield stored("norm", f"{vectors}*d_model")
    if architecture.head_bias:
        yield stored("lm_head", "vocab_size")
    for row in gemm("lm_head", "d_model", "vocab_size", per="logit_rows"):
        if not (row.stream == "params" and architecture.tied_embeddings):
            yield row


PARAMETER_GROUPS = {
    "embedding": "embedding", "positions": "embedding", "lm_head": "head",
    "qkv": "attention", "qkv_down": "attention", "q_up": "attention", "kv_up": "attention", "attention": "attention",
    "attention_out": "attention", "head_gate": "attention",
    "ssm_in": "state space", "ssm_x": "state space", "ssm_dt": "state space", "conv": "state space", "scan": "state space", "ssm_out": "state space",
    "gate_up": "feed-forward", "up": "feed-forward", "down": "feed-forward",
    "router": "router", "experts": "experts", "shared_experts": "shared experts", "shared_gate": "router",
    "norm": "norms", "qk_norm": "norms", "latent_norm": "norms",
}  # fmt: skip
"""Where an operator's parameters stand in the parameter table."""
