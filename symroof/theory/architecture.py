"""An architecture is a list of layer kinds: which blocks a layer has, not how wide they are.

Widths are inputs with values; this is the structure. If two kinds of layer differ in a width, each has its own
symbol (``n_heads.local``); otherwise they share one.
"""

from dataclasses import dataclass, field

TRAITS = {
    "qkv_bias": "the projections into the attention have bias vectors",
    "out_bias": "the output projection of the attention has a bias vector",
    "state_in_bias": "the projection into a recurrence or a short convolution has a bias vector",
    "state_out_bias": "the projection out of it has one",
    "ffn_bias": "the feed-forward matrices have bias vectors, of every expert too",
    "sinks": "one learned score per query head that takes probability but no value (attention sink)",
    "out_gate": "the query projection also computes a gate on the attention's output",
    "gate_bias": "the gate has one bias per head",
    "unbiased_gate": "the gate is a matrix of its own without bias vectors, whatever the projections have",
    "head_gate": "a gate of one number per head, computed by a separate matrix",
    "shares_kv": "keys and values of an earlier layer are reused: none are computed and none are cached",
    "value_is_key": "values are the keys before rotation: no matrix of their own, but they are cached",
    "value_dim": "values have a different width from keys",
    "q_lora": "queries are projected through a low-rank bottleneck",
    "differential": "the difference of two attentions: each head's probabilities weigh the values of two (differential attention)",
    "indexer": "a narrow attention of its own scores all keys and chooses those that the attention sees (sparse attention)",
    "compressed": "beside its window the layer keeps entries that each stand for several tokens",
    "rope_norm": "the rotary key of a latent is normalised too",
    "latent_norm": "the latent that routed experts operate on is normalised",
    "zero_experts": "some experts compute nothing: they only have a place in the router",
    "head_steps": "step sizes, decays and the way past the state are one number a head (PLaMo 2)",
    "value_residual": "a share of the first layer's values is mixed into the layer's own (RWKV-7)",
    "full_decay": "decays are made from the residual at once, without a bottleneck (Kimi delta attention)",
    "full_gate": "so is the gate of its result",
    "adapters": "each layer has an adapter of a low rank beside the feed-forward of a block that layers share",
    "attention_adapters": "and beside its queries, keys and values",
    "hyper": "copies of the residual are kept in parallel, and weights computed from them join them with each block (hyper-connections)",
    "hyper_residual": "other such weights mix the copies with each other",
    "attention_residuals": "the input of each block is an attention over sums of earlier layers (Attention Residuals)",
    "mixer_norm": "the mixer has a norm inside",
    "conv_bias": "the short convolution has a bias",
    "shared_expert": "some experts process every token",
    "shared_gate": "the shared expert's result is gated by one number per token",
    "router_bias": "the router has a bias vector",
    "plain_experts": "an expert has two matrices instead of three",
    "shared_bias": "the shared experts' matrices have bias vectors, and those around a latent",
    "expert_latent": "routed experts operate on a narrower latent, with a projection into and out of it",
    "result_norm": "the attention's output is normalised before its projection",
    "inner_norm": "the inner activations of the feed-forward layer are normalised",
    "ffn_result_gate": "the result of the feed-forward layer is gated by a matrix over the residual (RWKV-4)",
    "learned_activation": "the activation of the feed-forward layer has two learned parameters",
    "images_only": "the layer attends to images and is skipped for text: resident but idle",
    "layer_input": "a per-layer input vector of the token is gated in",
    "altup": "several copies of the residual are kept in parallel and predicted, with a low-rank branch parallel to the attention (Gemma 3n)",
}
"""Options of a layer besides its blocks; each only changes rows of the operator table."""


@dataclass(frozen=True)
class Layer:
    """One kind of layer: its blocks and their options.

    Attributes:
        label: names the kind if there are several.
        mixers: the blocks that mix tokens (``gqa``, ``mla``, ``mamba``, ``mamba2``, ``linear``); two may run in parallel.
        feed_forward: the block after them (``gated``, ``plain``, ``moe``, ``none``).
        reach: ``window`` if queries see only the last ``window`` keys, ``chunk`` if only those of their own chunk, ``top`` if only
            the ``index_topk`` of the highest score.
        traits: names out of :data:`TRAITS`.
        qk_norm: ``none``, ``head`` (one vector of head_dim each), ``head_bias`` (with a bias beside it) or ``full`` (one vector over all
            heads each).
        norms: normalisation modules in the layer.
        own: the widths that this kind does not share with the others; they get dotted names.
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
        """The name of a width in this kind of layer."""
        return f"{name}.{self.label}" if name in self.own else name

    def has(self, trait: str) -> bool:
        """Whether the layer has a trait.

        Raises:
            KeyError: no such trait.
        """
        TRAITS[trait]
        return trait in self.traits

    def only(self, trait: str, formula: str) -> str:
        """A formula that counts where the layer has a trait."""
        return formula if self.has(trait) else ""


@dataclass(frozen=True)
class Architecture:
    """The layer kinds, their order, and the parts before and after the layers.

    ``order`` is the label of every layer, starting at the input; empty if there is one kind.
    ``narrow_embedding``: tables of a different width, projected to the residual's and back. ``more_embeddings``: rows of the
    input table that the head does not have. ``layer_inputs``: a second table with a vector for each layer. ``altup``: the
    residual is copied before the layers and merged after them. ``hyper``: so it is for hyper-connections.
    ``attention_residuals``: the head's input is weighed from sums of layers as a block's is.
    ``kept`` are the operators whose matrices are stored at ``unquantized_bytes_per_param`` while the others are quantized; None if
    all parameters have one width. ``widths`` are the operators with a separate width (``weight_bytes_per_param.down``).
    ``sparse``: only the totals of a model with experts are known, ``params`` and ``active_params``.
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
    hyper: bool = False
    attention_residuals: bool = False
    kept: frozenset[str] | None = None
    widths: frozenset[str] = frozenset()
    sparse: bool = False


GENERIC = Architecture()
"""A dense decoder with grouped-query attention and one kind of layer: the architecture of formulas without a model."""

SPARSE = Architecture(sparse=True)
"""The same with experts, of which only the totals are known: all parameters and those that a token multiplies."""
