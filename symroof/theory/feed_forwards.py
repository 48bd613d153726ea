"""The blocks after the mixer: dense feed-forward layers, and experts of which a token sees a few."""

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Layer
from symroof.theory.rows import Row, Shape, gemm, matrix, product, stored


def dense(layer: Layer) -> Iterator[Row]:
    """Gated (three matrices) or plain (two): all but the last widen, the last narrows."""
    wide = "(ffn_matrices - 1)*d_ff"
    operator = "gate_up" if layer.feed_forward == "gated" else "up"
    yield from gemm(operator, "d_model", wide, bias=wide if layer.has("ffn_bias") else "", parts=[Shape("d_ff", "d_model", "ffn_matrices - 1")])
    if layer.has("learned_activation"):
        yield stored(operator, "2")
    if layer.has("inner_norm"):
        yield stored("norm", "d_ff")
    yield from gemm("down", "d_ff", "d_model", bias="d_model" if layer.has("ffn_bias") else "")


def experts(layer: Layer) -> Iterator[Row]:
    """A router and ``n_experts`` small feed-forward layers, of which a token sees ``experts_per_token``; beside them,
    where there are any, shared ones that every token sees (DeepSeekMoE, arXiv 2401.06066)."""
    yield from gemm("router", "d_model", "n_experts", bias="n_experts" if layer.has("router_bias") else "")
    matrices = 2 if layer.has("plain_experts") else 3
    width = "d_latent" if layer.has("expert_latent") else "d_model"
    yield from (replace(row, pooled=True) for row in _routed(layer, matrices, width))
    if layer.has("expert_latent"):
        yield from gemm("latent_down", "d_model", "d_latent", bias="d_latent" if layer.has("shared_bias") else "")
        yield from gemm("latent_up", "d_latent", "d_model", bias="d_model" if layer.has("shared_bias") else "")
    if layer.has("shared_expert"):
        shared = f"{matrices}*d_model*n_shared_experts*d_shared"
        shapes = _narrowed(matrices, "n_shared_experts*d_shared")
        yield from matrix("shared_experts", shared, shapes, f"{matrices - 1}*n_shared_experts*d_shared + d_model" if layer.has("shared_bias") else "")
        yield from product("shared_experts", shared, _moved(matrices, "n_shared_experts*d_shared"))
    if layer.has("shared_gate"):
        yield from gemm("shared_gate", "d_model", "1")


def _routed(layer: Layer, matrices: int, width: str) -> Iterator[Row]:
    """The routed experts: all are held, those that tokens draw are read, each token's multiply."""
    one = f"{matrices}*{width}*d_expert"
    yield Row("experts", "params", one, "experts_held", shapes=_narrowed(matrices, "d_expert", width, "n_experts"))
    if layer.has("ffn_bias"):
        yield stored("experts", f"{matrices - 1}*d_expert + {width}", "experts_held")
    yield Row("experts", "weights", f"{one}*weight_bytes_per_param", "experts_read")
    yield from product("experts", f"{matrices}*experts_per_token*{width}*d_expert", f"experts_per_token*({_moved(matrices, 'd_expert', width)})")


def _narrowed(matrices: int, inner: str, width: str = "d_model", times: str = "1") -> tuple[Shape, Shape]:
    """The matrices that widen and the one that narrows, of so many experts."""
    return Shape(inner, width, f"{matrices - 1}*{times}"), Shape(width, inner, times)


def _moved(matrices: int, inner: str, width: str = "d_model") -> str:
    """Elements that go into and come out of the widening product and the narrowing one."""
    return f"2*{width} + {matrices}*{inner}"


def nothing(layer: Layer) -> Iterator[Row]:
    """No operator at all."""
    yield from ()


FEED_FORWARDS = {"gated": dense, "plain": dense, "moe": experts, "none": nothing}
