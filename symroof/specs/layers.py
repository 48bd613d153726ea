"""Layer kinds as model specs write them: attention or another mixer, and what follows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from symroof.specs.fields import Spec, Whole, raise_faults
from symroof.theory.architecture import Layer

Number = int | Fraction
"""A width: only the experts that a token draws on average may be no whole number."""


class LayerBlock(Spec):
    """A part of a layer: the widths it gives to symbols, the traits it gives to the layer.

    ``GIVES`` names traits after the fields that give them by being on or there; a field that is on gives one of its own name.
    """

    GIVES: ClassVar[Mapping[str, str]] = {}

    def widths(self) -> dict[str, Number]:
        """Every width by its symbol's name."""
        return {
            name: value
            for name, value in self
            if isinstance(value, int) and not isinstance(value, bool)
        }

    def traits(self) -> frozenset[str]:
        """The traits that are switched on."""
        return frozenset(
            self.GIVES.get(name, name)
            for name, value in self
            if value is True or (name in self.GIVES and value not in (None, False))
        )

    @property
    def reach(self) -> str | None:
        """How far a query sees, where that is not all: a ``window``, a ``chunk``, or the ``top`` keys."""
        fields = (("window", "window"), ("chunk_size", "chunk"), ("index_topk", "top"))
        return next((word for field, word in fields if getattr(self, field, None)), None)


class ChoosingAttention(LayerBlock):
    """``index_topk`` keys are chosen for a query where it is given; ``index_heads`` of ``index_dim`` score them, or an earlier layer's have."""

    window: Whole | None = None
    index_heads: Whole | None = None
    index_dim: Whole | None = None
    index_topk: Whole | None = None

    @model_validator(mode="after")
    def _index(self) -> Self:
        if (self.index_heads is None) != (self.index_dim is None):
            raise ValueError("index_heads and index_dim belong together")
        if self.index_heads and not self.index_topk:
            raise ValueError("an indexer needs index_topk")
        if self.window and self.index_topk:
            raise ValueError("a layer has a window or chooses its keys, not both")
        return self


class GroupedAttention(ChoosingAttention):
    """Grouped-query attention; multi-head has as many KV heads as heads, multi-query has one."""

    GIVES = {"value_dim": "value_dim", "index_heads": "indexer", "q_lora_rank": "q_lora"}

    kind: Literal["gqa", "chunked"] = "gqa"
    n_heads: Whole
    n_kv_heads: Whole
    head_dim: Whole
    value_dim: Whole | None = None
    chunk_size: Whole | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: Literal["none", "head", "head_bias", "full"] = "none"
    sinks: bool = False
    out_gate: bool = False
    head_gate: bool = False
    gate_bias: bool = False
    differential: bool = False
    q_lora_rank: Whole | None = None
    unbiased_gate: bool = False
    shares_kv: bool = False
    value_is_key: bool = False
    result_norm: bool = False
    images_only: bool = False

    @model_validator(mode="after")
    def _groups(self) -> GroupedAttention:
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads {self.n_heads} is not a multiple of n_kv_heads {self.n_kv_heads}"
            )
        if (self.kind == "chunked") != (self.chunk_size is not None):
            raise ValueError("chunk_size belongs to `kind: chunked`, and that needs one")
        if self.window and self.chunk_size:
            raise ValueError("a layer has a window or a chunk, not both")
        return self


class LatentAttention(ChoosingAttention):
    """Multi-head latent attention; without ``q_lora_rank`` queries are made from the residual at once."""

    GIVES = {"q_lora_rank": "q_lora", "index_heads": "indexer"}

    kind: Literal["mla"]
    n_heads: Whole
    kv_lora_rank: Whole
    qk_nope_dim: Whole
    qk_rope_dim: Whole
    value_dim: Whole
    q_lora_rank: Whole | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    out_gate: bool = False
    head_gate: bool = False
    sinks: bool = False
    rope_norm: bool = False

    @model_validator(mode="after")
    def _queries(self) -> LatentAttention:
        if self.index_heads and self.q_lora_rank is None:
            raise ValueError(
                "the indexer makes its queries out of those of q_lora_rank, which is missing"
            )
        return self


class CompressedAttention(LayerBlock):
    """A window, and behind it entries that each stand for ``compress_rate`` tokens, all of them or those that an indexer chooses."""

    GIVES = {"compress_rate": "compressed", "index_topk": "indexer"}

    kind: Literal["compressed"]
    n_heads: Whole
    head_dim: Whole
    q_lora_rank: Whole
    window: Whole
    out_rank: Whole
    out_groups: Whole
    compress_rate: Whole | None = None
    index_heads: Whole | None = None
    index_dim: Whole | None = None
    index_topk: Whole | None = None

    @model_validator(mode="after")
    def _entries(self) -> CompressedAttention:
        index = (self.index_heads, self.index_dim, self.index_topk)
        if None in index and any(index):
            raise ValueError("index_heads, index_dim and index_topk belong together")
        if self.index_topk and not self.compress_rate:
            raise ValueError("an indexer needs compress_rate")
        if self.n_heads * self.head_dim % self.out_groups:
            raise ValueError(
                f"out_groups {self.out_groups} does not divide n_heads*head_dim {self.n_heads * self.head_dim}"
            )
        return self


class SharedBlock(LayerBlock):
    """Attention and a gated feed-forward that layers share; each has its own adapters beside them where ``adapter_rank`` is given."""

    GIVES = {"adapter_rank": "adapters"}

    kind: Literal["shared"]
    shared_blocks: Whole
    n_heads: Whole
    n_kv_heads: Whole
    head_dim: Whole
    d_ff: Whole
    adapter_rank: Whole | None = None
    attention_adapters: bool = False


class NoAttention(LayerBlock):
    kind: Literal["none"]


class Recurrence(LayerBlock):
    """A mixer with a projection into it and one out of it; what stands beside it may have biases of its own."""

    GIVES = {"in_bias": "state_in_bias", "out_bias": "state_out_bias"}

    in_bias: bool = False
    out_bias: bool = False


class Mamba(Recurrence):
    """Mamba; ``mixer_norm`` where step sizes, inputs and outputs of the state are normalised (Jamba), ``ssm_heads`` where channels share steps."""

    GIVES = {**Recurrence.GIVES, "ssm_heads": "head_steps"}

    kind: Literal["mamba"]
    d_inner: Whole
    d_state: Whole
    d_conv: Whole
    dt_rank: Whole
    ssm_heads: Whole | None = None
    conv_bias: bool = True
    mixer_norm: bool = False


class Mamba2(Recurrence):
    """Mamba-2."""

    kind: Literal["mamba2"]
    d_inner: Whole
    d_state: Whole
    d_conv: Whole
    ssm_heads: Whole
    ssm_groups: Whole
    conv_bias: bool = True
    mixer_norm: bool = True


class RgLru(Recurrence):
    """RG-LRU (Griffin): a state of one number a channel, gated by matrices over the channels of each of ``ssm_heads`` blocks."""

    kind: Literal["rg_lru"]
    d_inner: Whole
    d_conv: Whole
    ssm_heads: Whole
    conv_bias: bool = True

    @model_validator(mode="after")
    def _blocks(self) -> RgLru:
        if self.d_inner % self.ssm_heads:
            raise ValueError(f"ssm_heads {self.ssm_heads} does not divide d_inner {self.d_inner}")
        return self


class Rwkv4(LayerBlock):
    """RWKV-4: for each channel a weighted sum of values, that of the weights, and their scale."""

    kind: Literal["rwkv4"]
    d_inner: Whole


class LinearAttention(LayerBlock):
    """Linear attention: ``linear`` with a fixed decay a head, ``gated_delta`` with the gated delta rule and a short convolution,
    ``kimi_delta`` with a decay for each channel of a key."""

    kind: Literal["linear", "gated_delta", "kimi_delta"]
    linear_key_heads: Whole
    linear_value_heads: Whole
    linear_key_dim: Whole
    linear_value_dim: Whole
    d_conv: Whole | None = None
    full_decay: bool = False
    full_gate: bool = False

    @model_validator(mode="after")
    def _taps(self) -> LinearAttention:
        if (self.kind != "linear") != (self.d_conv is not None):
            raise ValueError(
                "d_conv belongs to `kind: gated_delta` and `kimi_delta`, and those need one"
            )
        return self


class Rwkv7(LayerBlock):
    """RWKV-7; without ``value_rank`` in the first layer, whose values the others take a share of."""

    GIVES = {"value_rank": "value_residual"}

    kind: Literal["rwkv7"]
    linear_key_heads: Whole
    linear_value_heads: Whole
    linear_key_dim: Whole
    linear_value_dim: Whole
    decay_rank: Whole
    erase_rank: Whole
    gate_rank: Whole
    value_rank: Whole | None = None


class ShortConvolution(Recurrence):
    """A gated short convolution of the residual width, with no attention beside it."""

    kind: Literal["conv"]
    d_conv: Whole
    conv_bias: bool = False


class FeedForward(LayerBlock):
    """Gated (three matrices), plain (two), or none."""

    GIVES = {"bias": "ffn_bias", "result_gate": "ffn_result_gate"}

    kind: Literal["gated", "plain", "none"] = "gated"
    d_ff: Whole | None = None
    bias: bool = False
    inner_norm: bool = False
    learned_activation: bool = False
    result_gate: bool = False

    @model_validator(mode="after")
    def _width(self) -> FeedForward:
        if self.kind != "none" and self.d_ff is None:
            raise ValueError("d_ff is missing")
        return self

    def widths(self) -> dict[str, Number]:
        matrices = {"gated": 3, "plain": 2}.get(self.kind)
        return {"d_ff": self.d_ff or 0, "ffn_matrices": matrices} if matrices else {}


class Experts(LayerBlock):
    """A mixture of experts: ``experts_per_token`` of ``n_experts``, and shared ones that every token sees."""

    GIVES = {
        "bias": "ffn_bias",
        "n_shared_experts": "shared_expert",
        "d_latent": "expert_latent",
        "n_zero_experts": "zero_experts",
    }

    kind: Literal["moe"]
    n_experts: Whole
    experts_per_token: Whole
    d_expert: Whole
    n_shared_experts: Whole | None = None
    d_shared: Whole | None = None
    expert: Literal["gated", "plain"] = "gated"
    bias: bool = False
    router_bias: bool = False
    shared_gate: bool = False
    shared_bias: bool = False
    d_latent: Whole | None = None
    latent_norm: bool = False
    n_zero_experts: Whole | None = None

    @model_validator(mode="after")
    def _pool(self) -> Experts:
        if self.experts_per_token > self.n_experts + (self.n_zero_experts or 0):
            raise ValueError(
                f"experts_per_token {self.experts_per_token} is more than n_experts {self.n_experts}"
            )
        if self.n_shared_experts is None and (self.d_shared or self.shared_gate):
            raise ValueError("d_shared and shared_gate need n_shared_experts")
        return self

    def widths(self) -> dict[str, Number]:
        widths = super().widths()
        if self.n_zero_experts:
            widths["experts_per_token"] *= Fraction(
                self.n_experts, self.n_experts + self.n_zero_experts
            )
        if self.n_shared_experts:
            widths["d_shared"] = self.d_shared or self.d_expert
        return widths

    def traits(self) -> frozenset[str]:
        return super().traits() | ({"plain_experts"} if self.expert == "plain" else frozenset())


Attention = Annotated[
    GroupedAttention | LatentAttention | CompressedAttention | SharedBlock | NoAttention,
    Field(discriminator="kind"),
]
Mixers = Mamba | Mamba2 | RgLru | Rwkv4 | LinearAttention | Rwkv7 | ShortConvolution
Mixer = Annotated[Mixers, Field(discriminator="kind")]
MIXER_KINDS = {
    kind for block in get_args(Mixers) for kind in get_args(block.model_fields["kind"].annotation)
}


class LayerKind(Spec):
    """``count`` layers of one kind: attention, or another mixer, or both side by side, and a feed-forward block."""

    count: Whole
    label: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,15}$")] | None = None
    attention: Attention = NoAttention.model_construct(kind="none")
    mixer: Mixer | None = None
    ffn: Annotated[FeedForward | Experts, Field(discriminator="kind")] = (
        FeedForward.model_construct(kind="none")
    )
    norms: Annotated[int, Field(ge=0, le=8)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _kinds(cls, data: Any) -> Any:
        """``attention`` without a kind is grouped; one whose kind is a mixer is that mixer; a feed-forward is gated."""
        if not isinstance(data, dict):
            return data
        fields = dict(data)
        for name, kind in (("attention", "gqa"), ("ffn", "gated")):
            if isinstance(fields.get(name), dict) and "kind" not in fields[name]:
                fields[name] = {"kind": kind, **fields[name]}
        attention = fields.get("attention")
        if "mixer" in fields:
            return fields
        if isinstance(attention, dict) and attention.get("kind") in MIXER_KINDS:
            return {"mixer": fields.pop("attention"), **fields}
        raise_faults(
            [((name,), "is missing") for name in ("attention", "ffn") if name not in fields]
        )
        return fields

    @property
    def blocks(self) -> tuple[LayerBlock, ...]:
        return tuple(block for block in (self.attention, self.mixer, self.ffn) if block is not None)

    def widths(self) -> dict[str, Number]:
        """Every width of the kind by its symbol's name."""
        return {name: value for block in self.blocks for name, value in block.widths().items()}

    def mixing(self) -> Iterator[str]:
        """A word for each block that mixes tokens: its kind, and ``window`` or ``chunked`` where a query does not see all."""
        kind = self.attention.kind
        if kind in ("gqa", "chunked", "mla"):
            yield {"window": "window", "chunk": "chunked"}.get(self.attention.reach or "", kind)
        elif kind != "none":
            yield kind
        if self.mixer is not None:
            yield self.mixer.kind

    def structure(
        self, label: str, norms: int, own: frozenset[str], more: frozenset[str] = frozenset()
    ) -> Layer:
        """The kind as the theory sees it; ``more`` are traits that the model gives to all its layers."""
        mixers = tuple(
            "gqa" if block.kind == "chunked" else block.kind
            for block in (self.attention, self.mixer)
            if block is not None and block.kind != "none"
        )
        qk_norm = self.attention.qk_norm if isinstance(self.attention, GroupedAttention) else "none"
        traits = frozenset(trait for block in self.blocks for trait in block.traits()) | more
        return Layer(
            label,
            mixers,
            self.ffn.kind,
            self.attention.reach,
            traits,
            qk_norm,
            norms if self.norms is None else self.norms,
            own,
        )
