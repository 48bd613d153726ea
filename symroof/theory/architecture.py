"""An architecture is a list of layer kinds: which blocks a layer has, not how wide they are.

Widths are inputs with values; this is the structure. If two kinds of layer differ in a width, each has its own
symbol (``n_heads.local``); otherwise they share one.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Layer:
    """One kind of layer: its blocks and their options.

    Attributes:
        label: names the kind if there are several.
        mixers: the blocks that mix tokens (``gqa``, ``mla``, ``mamba``, ``mamba2``, ``linear``); two may run in parallel.
        feed_forward: the block after them (``gated``, ``plain``, ``moe``, ``none``).
        reach: ``window`` if queries see only the last ``window`` keys, ``chunk`` if only those of their own chunk, ``top`` if only
            the ``index_topk`` of the highest score.
        traits: options besides its blocks, listed in ``specs/theories/inference/blocks.yaml``; each only changes rows of the operator table.
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
