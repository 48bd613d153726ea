"""The rows of a layer, and those outside the layers."""

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Architecture, Layer
from symroof.theory.block_rows import FEED_FORWARDS, MIXERS
from symroof.theory.rows import OperatorRow, gemm, product, stored

PLAIN_NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}
"""Vectors of one normalisation module: a weight, or a weight and a bias."""


def layer_rows(layer: Layer, norm: str) -> Iterator[OperatorRow]:
    """The rows of one layer; a layer for images only is resident and idle."""
    for row in _layer_rows(layer, norm):
        if row.stream == "params" or not layer.has("images_only"):
            yield row


def _layer_rows(layer: Layer, norm: str) -> Iterator[OperatorRow]:
    for mixer in layer.mixers:
        yield from MIXERS[mixer](layer)
    yield from FEED_FORWARDS[layer.feed_forward](layer)
    if layer.has("layer_input"):
        yield from gemm("layer_input", "d_model", "d_layer_input", cut="outer")
        yield from gemm("layer_input", "d_layer_input", "d_model", cut="inner")
    if layer.has("hyper"):
        yield from _hyper(layer.has("hyper_residual"))
    if layer.has("attention_residuals"):
        yield from _weighed_sums("residual_attention", "residual_sources")
        yield from _weighed_sums("residual_ffn", "residual_sources")
    if layer.has("altup"):
        yield from _altup()
    if vectors := layer.norms * PLAIN_NORM_VECTORS[norm]:
        yield stored("norm", f"{vectors}*d_model")


def outer_rows(architecture: Architecture) -> Iterator[OperatorRow]:
    """The rows outside the layers: tables before them; final norm and head after them. A tied head multiplies but is
    stored once."""
    rows = "(vocab_size + more_embeddings)" if architecture.more_embeddings else "vocab_size"
    yield replace(stored("embedding", f"{rows}*{_width(architecture)}"), kept=False)
    yield from _around_embedding(architecture)
    if architecture.learned_positions:
        yield stored("positions", "learned_positions*d_model")
    for row in _after_layers(architecture):
        yield replace(row, end=row.end or "last")


def _width(architecture: Architecture) -> str:
    return "d_embedding" if architecture.narrow_embedding else "d_model"


def _after_layers(architecture: Architecture) -> Iterator[OperatorRow]:
    if architecture.altup:
        yield from gemm("altup_out", "(altup_inputs - 1)*d_model", "d_model", cut="inner")
    if architecture.hyper:
        yield from gemm("hyper_head", "hyper_copies*d_model", "hyper_copies", cut="inner")
        yield stored("hyper_head", "hyper_copies + 1")
    if architecture.attention_residuals:
        yield from _weighed_sums("residual_head", "(residual_sums + 1)")
    if architecture.narrow_embedding:
        yield from gemm("embedding_out", "d_model", "d_embedding", cut="outer")
    if architecture.final_norm and (vectors := PLAIN_NORM_VECTORS[architecture.norm]):
        yield stored("norm", f"{vectors}*d_model")
    if architecture.head_bias:
        yield stored("lm_head", "vocab_size")
    for row in gemm("lm_head", _width(architecture), "vocab_size", per="logit_rows"):
        tied = row.stream == "params" and architecture.tied_embeddings
        yield replace(row, end="tied") if tied else row


def _around_embedding(architecture: Architecture) -> Iterator[OperatorRow]:
    """The rows between the table and the residual: a norm, projections to its width and back, vectors for each layer."""
    if architecture.embedding_norm:
        yield stored("norm", f"{PLAIN_NORM_VECTORS[architecture.norm]}*d_model")
    if architecture.narrow_embedding:
        yield from gemm("embedding_in", "d_embedding", "d_model", cut="outer")
    if architecture.layer_inputs:
        yield replace(
            stored("layer_inputs", "layer_input_vocab*n_layers*d_layer_input"), kept=False
        )
        yield from gemm("layer_input_in", "d_model", "n_layers*d_layer_input", cut="outer")
        yield stored("norm", "d_layer_input")
    if architecture.altup:
        yield from gemm("altup_in", "d_model", "(altup_inputs - 1)*d_model", cut="outer")


def _hyper(residual: bool) -> Iterator[OperatorRow]:
    """Hyper-connections (arXiv 2409.19606) around both blocks of a layer: weights out of all copies of the residual that make a block's
    input of them and give its result to them; with ``residual`` (arXiv 2512.24880) others that mix the copies."""
    mixes, scales = ("hyper_copies*(hyper_copies + 2)", 3) if residual else ("2*hyper_copies", 2)
    for operator in ("hyper_attention", "hyper_ffn"):
        yield from gemm(operator, "hyper_copies*d_model", mixes, cut="inner")
        yield stored(operator, f"{mixes} + {scales}")
        yield from product(operator, f"d_model*{mixes}", "2*(hyper_copies + 1)*d_model")


def _weighed_sums(operator: str, sources: str) -> Iterator[OperatorRow]:
    """Attention over depth (Attention Residuals, arXiv 2603.15031): sums of earlier layers, each scored by a vector behind a norm, are
    weighed by the softmax of their scores. Nothing of it is kept from token to token."""
    yield stored(operator, "2*d_model")
    yield from product(operator, f"2*d_model*{sources}", f"d_model*({sources} + 1)")


def _altup() -> Iterator[OperatorRow]:
    """Copies of the residual (alternating updates, Baykal et al. 2023, arXiv 2301.13310, as Gemma 3n has them): a router that
    runs before and after the layer, coefficients that predict and correct the copies, and the narrow product beside."""
    yield from gemm("altup", "d_model", "altup_inputs")
    yield from product("altup", "d_model*altup_inputs", "d_model + altup_inputs")
    yield from gemm("altup", "altup_inputs", "altup_inputs^2")
    yield from product("altup", "d_model*altup_inputs^2", "2*altup_inputs*d_model")
    yield from gemm("altup", "altup_inputs", "altup_inputs")
    yield stored("norm", "3*d_model")
    yield from gemm("laurel", "d_model", "laurel_rank", cut="outer")
    yield from gemm("laurel", "laurel_rank", "d_model", cut="inner")


PARAMETER_GROUPS = {
    "embedding": "embedding",
    "positions": "embedding",
    "embedding_in": "embedding",
    "embedding_out": "embedding",
    "layer_inputs": "embedding",
    "layer_input_in": "layer inputs",
    "layer_input": "layer inputs",
    "altup_in": "altup",
    "altup_out": "altup",
    "altup": "altup",
    "laurel": "altup",
    "latent_down": "experts",
    "latent_up": "experts",
    "lm_head": "head",
    "qkv": "attention",
    "qkv_down": "attention",
    "q_up": "attention",
    "kv_up": "attention",
    "attention": "attention",
    "attention_out": "attention",
    "head_gate": "attention",
    "indexer": "attention",
    "compressor": "attention",
    "adapter": "adapters",
    "adapter_out": "adapters",
    "attention_adapter": "adapters",
    "attention_adapter_out": "adapters",
    "shared_out": "attention",
    "hyper_attention": "residual",
    "hyper_ffn": "residual",
    "hyper_head": "residual",
    "residual_attention": "residual",
    "residual_ffn": "residual",
    "residual_head": "residual",
    "ssm_gate": "state space",
    "ssm_value": "state space",
    "ssm_in": "state space",
    "ssm_x": "state space",
    "ssm_dt": "state space",
    "conv": "state space",
    "scan": "state space",
    "ssm_out": "state space",
    "gate_up": "feed-forward",
    "up": "feed-forward",
    "ffn_gate": "feed-forward",
    "down": "feed-forward",
    "router": "router",
    "experts": "experts",
    "shared_experts": "shared experts",
    "shared_gate": "router",
    "norm": "norms",
    "qk_norm": "norms",
    "latent_norm": "norms",
    "mixer_norm": "state space",
}
"""The group of an operator's parameters in the parameter table."""
