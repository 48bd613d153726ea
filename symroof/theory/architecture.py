"""An architecture is a list of layer kinds: which blocks stand in a layer, not how wide they are.

Widths are inputs with values; this is the structure. Where two kinds of layer differ in a width, each has its own
symbol (``n_heads.local``); where they agree they share one.
"""

from dataclasses import dataclass, field

TRAITS = {
    "qkv_bias": "the projections into the attention have bias vectors",
    "out_bias": "the projection out of the attention has one",
    "state_in_bias": "the projection into a recurrence or a short convolution has a bias vector",
    "state_out_bias": "the projection out of it has one",
    "ffn_bias": "the feed-forward matrices have bias vectors, of every expert too",
    "sinks": "one learned score a query head that takes probability and no value",
    "out_gate": "the query projection makes a gate of the attention's result too",
    "head_gate": "a gate of one number per head, made by a matrix of its own",
    "shares_kv": "keys and values are those of an earlier layer: none are made and none are kept",
    "value_is_key": "values are the keys before their rotation: no matrix of their own, though they are kept",
    "value_dim": "values have a width of their own",
    "q_lora": "queries come through a narrow middle (latent attention)",
    "mixer_norm": "the mixer normalises inside itself",
    "conv_bias": "the short convolution has a bias",
    "shared_expert": "some experts see every token",
    "shared_gate": "the shared expert's result is gated by one number per token",
    "router_bias": "the router has a bias vector",
    "plain_experts": "an expert is two matrices and not three",
    "shared_bias": "the shared experts' matrices have bias vectors, and those around a latent",
    "expert_latent": "routed experts work on a narrower latent, with a matrix into it and one out of it",
    "result_norm": "the attention's result is normalised before its projection",
    "inner_norm": "what the feed-forward layer widened is normalised before it is narrowed",
    "learned_activation": "the feed-forward layer's activation has two learned numbers",
    "images_only": "the layer attends to images and is skipped where there are none: resident, and at rest",
    "layer_input": "the token's own vector for this layer is gated in",
    "altup": "several copies of the residual are kept beside each other and predicted, and a narrow product runs beside the attention (Gemma 3n)",
}
"""Options of a layer beside its blocks; each changes rows of the operator table and nothing else."""


@dataclass(frozen=True)
class Layer:
    """One kind of layer: its blocks and their options.

    Attributes:
        label: names the kind where there is more than one.
        mixers: the blocks that mix tokens (``gqa``, ``mla``, ``mamba``, ``mamba2``, ``linear``); two may stand side by side.
        feed_forward: the block after them (``gated``, ``plain``, ``moe``, ``none``).
        reach: ``window`` where queries see only the last ``window`` keys, ``chunk`` where only those of their own chunk.
        traits: names out of :data:`TRAITS`.
        qk_norm: ``none``, ``head`` (one vector of head_dim each), ``head_bias`` (with a bias beside it) or ``full`` (one vector over all
            heads each).
        norms: normalisation modules in the layer.
        own: the widths this kind does not share with the others; they get dotted names.
    """

    label: str = "all"
    mixers: tuple[str, ...] = ("gqa",)
    feed_forward: str = "gated"
    reach: str | None = None
    traits: frozenset[str] = frozenset()
    qk_norm: str = "none"
    norms: int = 2
    own: frozenset[str] = frozenset()

    def symbol(self, name: str) -> str:
        """The name a width goes by in this kind of layer."""
        return f"{name}.{self.label}" if name in self.own else name

    def has(self, trait: str) -> bool:
        """Whether the layer has a trait.

        Raises:
            KeyError: no such trait.
        """
        TRAITS[trait]
        return trait in self.traits


@dataclass(frozen=True)
class Architecture:
    """Layer kinds, their order, and the parts before and after the layers.

    ``order`` is the label of every layer, the first at the input; empty where there is one kind.
    ``narrow_embedding``: tables of their own width, projected to the residual's and back. ``more_embeddings``: rows of the
    input table that the head does not have. ``layer_inputs``: a second table with a vector for each layer. ``altup``: the
    residual is copied before the layers and merged after them.
    ``kept`` are the operators whose matrices are stored at ``unquantized_bytes_per_param`` where the others are quantized; None where
    all parameters have one width. ``widths`` are those with a width of their own (``weight_bytes_per_param.down``).
    """

    layers: tuple[Layer, ...] = field(default_factory=lambda: (Layer(),))
    order: tuple[str, ...] = ()
    tied_embeddings: bool = False
    norm: str = "rms"
    final_norm: bool = True
    learned_positions: bool = False
    head_bias: bool = False
    embedding_norm: bool = False
    narrow_embedding: bool = False
    more_embeddings: bool = False
    layer_inputs: bool = False
    altup: bool = False
    kept: frozenset[str] | None = None
    widths: frozenset[str] = frozenset()


GENERIC = Architecture()
"""A dense decoder with grouped-query attention and one kind of layer: the architecture of formulas without a model."""
