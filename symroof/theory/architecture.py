"""An architecture is a list of layer kinds: which blocks a layer has, not how wide they are; and the rows of these blocks.

Widths are inputs with values; this is the structure. If two kinds of layer differ in a width, each has its own symbol
(``n_heads.local``); otherwise they share one. The rows of the operator table are read from
``specs/theories/inference/blocks.yaml``, which says what its entries mean.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from symroof.theory.theory_files import table


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

    ``order`` is the label of every layer, starting at the input; empty if there is one kind. ``traits`` are what the model has
    around its layers, listed in ``specs/theories/inference/blocks.yaml``.
    ``kept`` are the operators whose matrices are stored at ``unquantized_bytes_per_param`` while the others are quantized; None if
    all parameters have one width. ``widths`` are the operators with a separate width (``weight_bytes_per_param.down``).
    ``sparse``: only the totals of a model with experts are known, ``params`` and ``active_params``.
    """

    layers: tuple[Layer, ...] = field(default_factory=lambda: (Layer(),))
    order: tuple[str, ...] = ()
    traits: frozenset[str] = frozenset({"final_norm"})
    norm: str = "rms"
    kept: frozenset[str] | None = None
    widths: frozenset[str] = frozenset()
    sparse: bool = False


GENERIC = Architecture()
"""A dense decoder with grouped-query attention and one kind of layer: the architecture of formulas without a model."""

SPARSE = Architecture(sparse=True)
"""The same with experts, of which only the totals are known: all parameters and those that a token multiplies."""


CORE, INDEX, SCAN = "attention", "index_scores", "scan"
CORES = (CORE, INDEX)
"""Operators whose work grows with pairs of queries and keys."""
SHARED_COPIES = "shared_blocks"
"""The symbol of how many blocks there are whose weights several layers share, for layers to take in turn."""


class MatrixShape(NamedTuple):
    """``times`` equal matrices of ``rows`` outputs and ``columns`` inputs, each a formula over widths."""

    rows: str
    columns: str = "d_model"
    times: str = "1"


@dataclass(frozen=True)
class OperatorRow:
    """One entry of the operator table; ``amount`` is a formula over symbols, per unit of ``per``.

    Attributes:
        operator, stream: the operator, and one of ``params``, ``flops``, ``weights``, ``kv``, ``kv_again`` (read without
            being stored here), ``state``, ``activations``.
        own: the part of one of ``tp`` devices, if that does not follow from the widths it names.
        shapes: the matrices of a row of parameters, as checkpoints store them: the parts of a fused product separately.
        reaching: whether the layer's own reach (a window, a chunk, a choice of keys) limits its count.
        reach: the reach that limits it, where that is not the layer's.
        phase: ``prompt`` or ``token`` if the row exists only for segments that prefill a prompt, or that generate tokens.
        when: switch values under which the row counts.
        kept: whether its parameters are never quantized: norms, biases, tables of scalars.
        pooled: whether all devices of an instance share it evenly, whichever group the tokens belong to: routed experts.
        copies: the symbol of how many there are of what a row of parameters holds, if layers share it.
        end: ``last`` for a row after the layers; ``tied`` for a table that is stored once, but at both ends of a pipeline.
    """

    operator: str
    stream: str
    amount: str
    per: str
    own: str = ""
    shapes: tuple[MatrixShape, ...] = ()
    reaching: bool = False
    reach: str | None = None
    phase: str | None = None
    when: tuple[tuple[str, str], ...] = ()
    kept: bool = False
    pooled: bool = False
    copies: str = ""
    end: str = ""

    @property
    def copied(self) -> bool:
        """Whether every device holds a full copy, whatever widths it names: the norms."""
        return self.operator.endswith("norm")


# ------------------------------------------------------------------------------------------------------- rows of each kind of entry


def stored(operator: str, elements: str, per: str = "once") -> Iterator[OperatorRow]:
    """Parameters that are resident but neither multiplied as a matrix nor streamed: norms, biases, tables."""
    yield OperatorRow(operator, "params", elements, per, kept=True)


def gemm(
    operator: str,
    inner: str,
    outer: str,
    per: str = "tokens",
    bias: str = "",
    cut: str = "",
    parts: Iterable[MatrixShape] = (),
) -> Iterator[OperatorRow]:
    """``per`` rows times an ``inner`` by ``outer`` matrix: a multiply and an add are 2 FLOP; read the matrix once,
    read each input row and write each output row once.

    Devices split a matrix along the width they divide (heads, columns of a feed-forward layer); ``cut`` names the side, ``inner``
    or ``outer``, if neither width is one of those; ``parts`` are the matrices of a fused product.
    """
    part = {"inner": (f"({inner})/tp", outer), "outer": (inner, f"({outer})/tp")}.get(cut)
    elements, moved = f"({inner})*({outer})", f"({inner}) + ({outer})"
    own = (f"({part[0]})*({part[1]})", f"({part[0]}) + ({part[1]})") if part else ("", "")
    shapes = tuple(parts) or (MatrixShape(outer, inner),)
    yield from matrix(operator, elements, shapes, bias, own[0])
    yield from product(operator, elements, moved, per, own)


def matrix(
    operator: str, elements: str, shapes: tuple[MatrixShape, ...], bias: str = "", own: str = ""
) -> Iterator[OperatorRow]:
    """A matrix that is resident and read by every step."""
    yield OperatorRow(operator, "params", elements, "once", own, shapes)
    if bias:
        yield from stored(operator, bias)
    width = "weight_bytes_per_param"
    yield OperatorRow(
        operator, "weights", f"({elements})*{width}", "once", own and f"({own})*{width}"
    )


def product(
    operator: str, elements: str, moved: str, per: str = "tokens", own: tuple[str, str] = ("", "")
) -> Iterator[OperatorRow]:
    """``per`` rows through a matrix of so many ``elements``, with so many input and output elements ``moved`` by each."""
    width = "act_bytes_per_element"
    multiplied, carried = own[0] and f"2 FLOP*{own[0]}", own[1] and f"({own[1]})*{width}"
    yield OperatorRow(operator, "flops", f"2 FLOP*{elements}", per, multiplied)
    yield OperatorRow(operator, "activations", f"({moved})*{width}", per, carried)


def row(operator: str, **fields: Any) -> Iterator[OperatorRow]:
    """One row as it is."""
    yield OperatorRow(operator, **fields)


KINDS: dict[str, Callable[..., Iterator[OperatorRow]]] = {
    made.__name__: made for made in (gemm, matrix, product, stored, row)
}
FORMULAS = ("amount", "elements", "moved", "inner", "outer", "bias", "own")
WORDS = ("stream", "per", "cut")
MARKS = ("reaching", "reach", "phase", "kept", "pooled", "copies", "end")
"""Fields of an entry: formulas, words, and those that every row of the entry gets."""


# ------------------------------------------------------------------------------------------------------------ entries of blocks.yaml

NAME = re.compile(r"\b[a-z]\w*")


def block_rows(
    name: str, traits: frozenset[str], given: Mapping[str, str] | None = None
) -> Iterator[OperatorRow]:
    """The rows of a block in a layer of some traits; ``given`` are formulas by the names that the block has for them.

    >>> next(block_rows("token_indexer", frozenset())).amount
    '(q_lora_rank)*(index_heads*index_dim)'
    """
    reader = _BlockReader(traits, given or {})
    for entry in table("blocks")["blocks"][name]:
        if reader.counts(entry):
            yield from reader.rows(entry)


class _BlockReader:
    """Reads the entries of a block for a layer of some traits."""

    def __init__(self, traits: frozenset[str], given: Mapping[str, str]) -> None:
        self.traits, self.known = traits, traits | given.keys()
        self.names = {name: _bracketed(formula) for name, formula in given.items()}

    def counts(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry counts for these traits."""
        if "if" in entry and self.known.isdisjoint(entry["if"].split()):
            return False
        return self.known.isdisjoint(entry.get("unless", "").split())

    def chosen(self, field: Any) -> Any:
        """A field, or of one by traits the first that holds; empty where none does."""
        if not isinstance(field, Mapping):
            return field
        holding = (
            value
            for traits, value in field.items()
            if traits == "otherwise" or not self.known.isdisjoint(traits.split())
        )
        return next(holding, "")

    def formula(self, field: Any) -> str:
        """The formula of a field, with what its names stand for."""
        return NAME.sub(lambda name: self.names.get(name[0], name[0]), str(self.chosen(field)))

    def rows(self, entry: Mapping[str, Any]) -> Iterator[OperatorRow]:
        kind, what = next(iter(entry.items()))
        if kind == "let":
            for name, field in what.items():
                self.names[name] = _bracketed(self.formula(field))
            return
        marks = {key: self.chosen(entry[key]) for key in MARKS if key in entry}
        when = tuple(entry.get("when", {}).items())
        for made in self.used(entry) if kind == "use" else self.made(kind, entry):
            yield replace(made, when=(*when, *made.when), **marks)

    def used(self, entry: Mapping[str, Any]) -> Iterator[OperatorRow]:
        """The rows of another block."""
        own = {"use", "if", "unless", "when", *MARKS}
        given = {key: self.formula(field) for key, field in entry.items() if key not in own}
        filled = {key: formula for key, formula in given.items() if formula}
        return block_rows(entry["use"], self.traits, filled)

    def made(self, kind: str, entry: Mapping[str, Any]) -> Iterator[OperatorRow]:
        """The rows of an entry of one kind."""
        fields: dict[str, Any] = {key: self.chosen(entry[key]) for key in WORDS if key in entry}
        for key in ("parts", "shapes"):
            if key in entry:
                fields[key] = tuple(self.shapes(entry[key]))
        if "parts" in entry and "outer" not in entry:
            fields["outer"] = " + ".join(part.rows for part in fields["parts"])
        fields |= {key: self.formula(entry[key]) for key in FORMULAS if key in entry}
        if fields.get("bias") == "outer":
            fields["bias"] = fields["outer"]
        return KINDS[kind](self.formula(entry[kind]), **fields)

    def shapes(self, parts: Iterable[Any]) -> Iterator[MatrixShape]:
        for part in map(self.chosen, parts):
            if part:
                yield MatrixShape(*map(self.formula, part if isinstance(part, list) else [part]))


def _bracketed(formula: str) -> str:
    return formula if re.fullmatch(r"\w*", formula) else f"({formula})"


# ------------------------------------------------------------------------------------------------ layers, and what stands around them

PLAIN_NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}
"""Vectors of one normalisation module: a weight, or a weight and a bias."""
FEED_FORWARDS = {"gated": "dense", "plain": "dense", "moe": "moe"}
"""The block of each kind of feed-forward layer; the others have none."""
PARAMETER_GROUPS: dict[str, str] = {
    operator: group
    for group, operators in table("blocks")["parameter_groups"].items()
    for operator in operators
}
"""The group of an operator's parameters in the parameter table."""


def layer_rows(layer: Layer, norm: str) -> Iterator[OperatorRow]:
    """The rows of one layer; a layer for images only is resident and idle."""
    vectors = layer.norms * PLAIN_NORM_VECTORS[norm]
    given = {"norm_vectors": str(vectors)} if vectors else {}
    traits = layer.traits | {layer.feed_forward, f"qk_norm_{layer.qk_norm}"}
    blocks = [*layer.mixers, FEED_FORWARDS.get(layer.feed_forward)]
    for name in filter(None, blocks):
        yield from _busy(layer, block_rows(name, traits))
    yield from _busy(layer, block_rows("layer", traits, given))


def _busy(layer: Layer, rows: Iterator[OperatorRow]) -> Iterator[OperatorRow]:
    return (row for row in rows if row.stream == "params" or "images_only" not in layer.traits)


def outer_rows(architecture: Architecture) -> Iterator[OperatorRow]:
    """The rows outside the layers: tables before them; final norm and head after them. A tied head multiplies but is
    stored once."""
    vectors = PLAIN_NORM_VECTORS[architecture.norm]
    given = {"norm_vectors": str(vectors)}
    traits = architecture.traits if vectors else architecture.traits - {"final_norm"}
    yield from block_rows("before_layers", traits, given)
    for row in block_rows("after_layers", traits, given):
        tied = row.operator == "lm_head" and row.shapes and "tied_embeddings" in traits
        yield replace(row, end="tied" if tied else "last")
