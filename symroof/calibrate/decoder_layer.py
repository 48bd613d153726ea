"""One decoder layer in PyTorch with random weights at a model's shapes: timed by :mod:`symroof.calibrate.probe`. Only sizes matter, not values."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class LayerShape:
    """The widths of one kind of layer: grouped attention and a dense feed-forward.

    Attributes:
        count: layers of this kind.
        window: maximum keys that a token attends to; None for all.
        gated: whether the feed-forward is gated.
    """

    count: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    d_ff: int
    gated: bool
    window: int | None = None

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        """Shapes of the weights: fused QKV, output, up with gate, down."""
        heads = self.n_heads * self.head_dim
        return (
            (self.d_model, heads + 2 * self.n_kv_heads * self.head_dim),
            (heads, self.d_model),
            (self.d_model, self.d_ff * (2 if self.gated else 1)),
            (self.d_ff, self.d_model),
        )

    @property
    def parameters(self) -> int:
        return sum(rows * columns for rows, columns in self.matrices)

    def cached(self, context: int) -> int:
        """Keys that a decode step at a context reads per request."""
        return min(context, self.window or context)


class DecoderLayer:
    """A layer with random weights; ``prefill`` and ``decode`` do the work of one step and return its output."""

    def __init__(self, shape: LayerShape, device: str, precision: str) -> None:
        self.torch: Any = import_module("torch")
        self.shape, self.kind = shape, {"device": device, "dtype": getattr(self.torch, precision)}
        self.qkv, self.out, self.up, self.down = (
            self.torch.randn(size, **self.kind) * size[0] ** -0.5 for size in shape.matrices
        )
        self.norms = [self.torch.ones(shape.d_model, **self.kind) for _ in range(2)]

    def prefill(self, hidden: Any) -> Any:
        """``hidden`` is (requests, tokens, width): causal, limited to the window."""
        query, key, value = self._projected(hidden, 0)
        return self._feed_forward(
            hidden, self._attention(query, key, value, *self._mask(hidden.shape[1]))
        )

    def decode(self, hidden: Any, keys: Any, values: Any) -> Any:
        """``hidden`` is (requests, 1, width), the cache (requests, heads, context, head width): the last position is written, all are read."""
        last = keys.shape[2] - 1
        query, key, value = self._projected(hidden, last)
        keys[:, :, last:], values[:, :, last:] = key, value
        return self._feed_forward(hidden, self._attention(query, keys, values, None, False))

    def cache(self, requests: int, context: int) -> tuple[Any, Any]:
        """Random keys and values."""
        size = (requests, self.shape.n_kv_heads, self.shape.cached(context), self.shape.head_dim)
        return self.torch.randn(size, **self.kind), self.torch.randn(size, **self.kind)

    def _mask(self, tokens: int) -> tuple[Any, bool]:
        """The attention mask and whether plain causal attention is enough."""
        if self.shape.window is None or self.shape.window >= tokens:
            return None, True
        place = self.torch.arange(tokens, device=self.kind["device"])
        behind = place[:, None] - place[None, :]
        return (behind >= 0) & (behind < self.shape.window), False

    def _projected(self, hidden: Any, first: int) -> tuple[Any, Any, Any]:
        shape, functional = self.shape, self.torch.nn.functional
        normed = functional.rms_norm(hidden, (shape.d_model,), self.norms[0])
        parts = (
            (normed @ self.qkv)
            .unflatten(-1, (-1, shape.head_dim))
            .transpose(1, 2)
            .split([shape.n_heads, shape.n_kv_heads, shape.n_kv_heads], 1)
        )
        query, key, value = parts
        return self._rotated(query, first), self._rotated(key, first), value

    def _rotated(self, heads: Any, first: int) -> Any:
        """Rotary positions."""
        half = self.shape.head_dim // 2
        places = self.torch.arange(first, first + heads.shape[2], **self.kind)
        angles = self.torch.outer(places, 1e4 ** -self.torch.linspace(0, 1, half, **self.kind))
        left, right = heads[..., :half], heads[..., half : 2 * half]
        return self.torch.cat(
            (
                left * angles.cos() - right * angles.sin(),
                right * angles.cos() + left * angles.sin(),
                heads[..., 2 * half :],
            ),
            -1,
        )

    def _attention(self, query: Any, key: Any, value: Any, mask: Any, causal: bool) -> Any:
        attention = self.torch.nn.functional.scaled_dot_product_attention
        mixed = attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=causal,
            enable_gqa=self.shape.n_heads != self.shape.n_kv_heads,
        )
        return mixed.transpose(1, 2).flatten(2) @ self.out

    def _feed_forward(self, hidden: Any, attended: Any) -> Any:
        functional = self.torch.nn.functional
        hidden = hidden + attended
        wide = functional.rms_norm(hidden, (self.shape.d_model,), self.norms[1]) @ self.up
        if self.shape.gated:
            gate, wide = wide.chunk(2, -1)
            wide = functional.silu(gate) * wide
        else:
            wide = functional.gelu(wide)
        return hidden + wide @ self.down
