"""Model specs: dimensions by name and a list of layer kinds, with the published parameter count the engine must meet."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symroof.specs.fields import NAME, Spec, Whole, amount, one_of, raise_faults
from symroof.specs.layers import LayerKind, Number, order_faults, repeat_to_length, shortest_pattern
from symroof.specs.quantization import (
    Format,
    Matrix,
    Operator,
    Quantization,
    StoredPart,
    described,
    matrices,
)
from symroof.specs.sources import Source
from symroof.theory.architecture import GENERIC, Architecture
from symroof.units import Quantity

Parameters = Annotated[Quantity, amount("parameter")]


class Norm(Spec):
    """Normalisation: ``rms`` has a weight, ``layer`` a weight and a bias."""

    kind: Literal["rms", "layer", "none"] = "rms"
    per_layer: Annotated[int, Field(ge=0, le=8)] = 2
    final: bool = True
    embedding: bool = False


class LayerInputs(Spec):
    """A vector that each token brings for each layer, out of a table of its own (Gemma 3n)."""

    vocab_size: Whole
    width: Whole


class AltUp(Spec):
    """Copies of the residual beside each other, and a narrow product beside the attention (Gemma 3n)."""

    inputs: Whole
    laurel_rank: Whole


class HyperConnections(Spec):
    """Copies of the residual that weights computed from them join with each block; ``residual`` where weights also mix the copies."""

    copies: Whole
    residual: bool = True


class AttentionResiduals(Spec):
    """The input of each block is weighed from the sums of ``group`` layers each, and of those since the last such sum (Kimi K3)."""

    group: Whole

    def sums(self, layers: int) -> int:
        """Sums that the last layer sees."""
        return -(-layers // self.group)

    def sources(self, layers: int) -> Fraction:
        """Sums that a block weighs, on average: a layer's attention sees those before it, its feed-forward one more where a group begins.

        The first layer's attention has the embedding alone, and weighs nothing.
        """
        begun = [i // self.group + 1 for i in range(layers)]
        attention = sum(sums + (i % self.group > 0) for i, sums in enumerate(begun) if i)
        return Fraction(attention + sum(begun) + layers, 2 * layers)


class Filled(Spec):
    """A field that a model's file leaves out and that was filled in: with what, and why."""

    field: str
    value: str
    why: str


class Checkpoint(Spec):
    """A checkpoint of the model by its name on the hub, stored otherwise than the model was published.

    Attributes:
        precision: a precision of whole checkpoints (``symroof list precisions``), which says how most matrices are stored.
        kept, parts, kv: what this one has instead of what the precision says: operators that stay wide, operators stored otherwise, the cache.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,96}/[A-Za-z0-9_.-]{1,96}$")]
    precision: Annotated[str, one_of(described)]
    kept: tuple[Operator, ...] = ()
    parts: tuple[StoredPart, ...] = ()
    kv: Format | None = None
    source: Source

    def laid_over(self, plain: Quantization) -> Quantization:
        """What its precision says, with what this one has instead."""
        own = {"kept": self.kept, "parts": self.parts, "kv": self.kv}
        return plain.model_copy(update={name: value for name, value in own.items() if value})


class ModelSpec(Spec):
    """One model. With ``layers`` everything is derived; with ``params`` alone only what needs no dimensions is.

    ``order`` is a pattern of the labels of ``layers``, in the order in which the model has them; it repeats until all layers
    are used. Without it the kinds follow one another as they are listed.
    """

    name: Annotated[str, Field(pattern=NAME)]
    title: str | None = None
    aliases: tuple[str, ...] = ()
    vendor: str | None = None
    source: Source | None = None
    params: Parameters | None = None
    active_params: Parameters | None = None
    published_params: Whole | None = None
    d_model: Whole | None = None
    vocab_size: Whole | None = None
    tied_embeddings: bool = False
    positions: Whole | None = None
    head_bias: bool = False
    d_embedding: Whole | None = None
    more_embeddings: Whole | None = None
    layer_inputs: LayerInputs | None = None
    altup: AltUp | None = None
    hyper_connections: HyperConnections | None = None
    attention_residuals: AttentionResiduals | None = None
    max_context: Whole | None = None
    norm: Norm = Norm.model_construct()
    layers: tuple[LayerKind, ...] = ()
    order: tuple[str, ...] = ()
    quantization: Quantization | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    stored_bytes: Whole | None = None
    notes: tuple[str, ...] = ()
    filled: tuple[Filled, ...] = ()
    caveats: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> ModelSpec:
        if self.layers and not (self.d_model and self.vocab_size):
            raise ValueError("layers also need d_model and vocab_size")
        if not self.layers and not self.params:
            raise ValueError("give layers (with d_model and vocab_size), or params alone")
        labels = [kind.label for kind in self.layers if kind.label]
        if len(set(labels)) != len(labels):
            raise ValueError("two kinds of layer have the same label")
        raise_faults(order_faults(self.order, self._counts()))
        return self

    def cautions(self, as_stored: bool = True) -> list[str]:
        """What a reader must know before a number: what was assumed, what the file left to defaults, and ``as_stored`` what is not known of its storage."""
        unread = self.quantization.unread if self.quantization and as_stored else ()
        said = [f"{self.shown_name}: {caveat}" for caveat in (*self.caveats, *unread)]
        if named := ", ".join(f"{entry.field} {entry.value}" for entry in self.filled):
            said.append(f"{self.shown_name}'s file leaves out what was filled in: {named}")
        return said

    @property
    def shown_name(self) -> str:
        """How people call it: the title, or else the name."""
        return self.title or self.name

    def mixing(self) -> str:
        """How the layers mix tokens, in few words: ``mla``, or ``36 gated_delta, 12 gqa`` where layers differ."""
        layers: dict[str, int] = {}
        for kind in self.layers:
            for word in kind.mixing():
                layers[word] = layers.get(word, 0) + kind.count
        if len(layers) < 2:
            return "".join(layers)
        return ", ".join(f"{count} {word}" for word, count in layers.items())

    def padded_caches(self, whole_windows: bool) -> list[str]:
        """A remark where vLLM pads caches to pages of one size, as many layers to a group of each kind (kv_cache_utils.py): beside keys a state takes a page
        as large as a block of theirs, and the last group of a kind is filled up. How keys of an indexer and compressed entries are packed differs by version.
        """
        layers, packed = Counter[str](), False
        for kind in self.layers:
            attention = kind.attention
            keys = attention.kind != "none" and not getattr(attention, "shares_kv", False)
            reach = "" if whole_windows or attention.reach == "top" else attention.reach or ""
            layers.update({reach: kind.count * keys, "state": kind.count * bool(kind.mixer)})
            packed |= attention.kind == "compressed"
            packed |= attention.kind == "gqa" and bool(attention.index_heads)
        counts = sorted(filter(None, layers.values())) or [1]
        group = counts[-1] if counts[-1] < 1.5 * counts[0] else counts[0]
        mixed = layers["state"] and len(counts) > 1
        if not (packed or mixed or any(count % group for count in counts)):
            return []
        padded = "vLLM pads their pages to one size, which is not modelled"
        return [f"caches of several kinds: {padded}, so fewer requests may fit"]

    def experts(self) -> str | None:
        """How many experts a token sees: ``8 of 256 + 1`` with a shared one; None without experts."""
        pool = next((kind.ffn for kind in self.layers if kind.ffn.kind == "moe"), None)
        if pool is None:
            return None
        shared = f" + {pool.n_shared_experts}" if pool.n_shared_experts else ""
        return f"{pool.experts_per_token} of {pool.n_experts}{shared}"

    def labels(self) -> list[str]:
        """A label for each kind of layer: its own, or one that tells it apart."""
        labels: list[str] = []
        for kind, telling in zip(self.layers, _distinguishing_labels(self.layers), strict=True):
            label = kind.label or telling
            more = (f"{label}{number}" for number in itertools.count(2))
            free = (name for name in itertools.chain([label], more) if name not in labels)
            labels.append(next(free))
        return labels

    def _counts(self) -> dict[str, int]:
        return {label: kind.count for label, kind in zip(self.labels(), self.layers, strict=True)}

    def sequence(self) -> tuple[str, ...]:
        """The label of every layer in the model's order; empty where all layers are of one kind."""
        counts = self._counts()
        if len(counts) < 2:
            return ()
        if not self.order:
            return tuple(Counter(counts).elements())
        return repeat_to_length(self.order, sum(counts.values()))

    def in_order(self, kinds: Sequence[int]) -> ModelSpec:
        """The same model with its layers in an order: for each layer, the position of its kind in ``layers``."""
        labels, listed = self.labels(), list(kinds) == sorted(kinds)
        order = () if listed else tuple(labels[kind] for kind in shortest_pattern(kinds))
        return self.model_copy(update={"order": order})

    def operator_widths(self) -> dict[str, Fraction]:
        """Bytes of a parameter of every operator that the checkpoint stores at a width of its own."""
        if self.quantization is None:
            return {}
        held = [
            matrix._replace(times=matrix.times * kind.count)
            for kind in self.layers
            for matrix in matrices(kind, self.d_model or 1)
        ]
        if not self.tied_embeddings and self.vocab_size:
            held.append(Matrix("lm_head", self.vocab_size, self.d_embedding or self.d_model or 1))
        return self.quantization.operator_widths(held)

    def architecture(
        self, quantized: bool = False, widths: frozenset[str] = frozenset()
    ) -> Architecture:
        """The structure, for the theory; ``quantized`` where the weights are as the checkpoint stores them, some operators
        with ``widths`` of their own."""
        if not self.layers:
            return GENERIC
        hyper, norm, own = self.hyper_connections, self.norm, self._own()
        held: dict[str, Any] = {
            "altup": self.altup,
            "attention_residuals": self.attention_residuals,
        }
        held |= {"hyper": hyper, "hyper_residual": hyper and hyper.residual}
        held |= {"layer_input": self.layer_inputs, "learned_positions": self.positions}
        held |= {"final_norm": norm.final, "embedding_norm": norm.embedding}
        held |= {"tied_embeddings": self.tied_embeddings, "head_bias": self.head_bias}
        held |= {"narrow_embedding": self.d_embedding, "more_embeddings": self.more_embeddings}
        traits = frozenset(trait for trait, there in held.items() if there)
        labels = self.labels() if len(self.layers) > 1 else ["all"]
        kinds = zip(labels, self.layers, strict=True)
        layers = tuple(kind.structure(label, norm.per_layer, own, traits) for label, kind in kinds)
        kept = frozenset(self.quantization.kept) if quantized and self.quantization else None
        stored = widths if quantized else frozenset()
        return Architecture(layers, self.sequence(), traits, norm.kind, kept, stored)

    def _own(self) -> frozenset[str]:
        """Widths that differ between kinds; with several kinds each also counts its own layers."""
        if len(self.layers) < 2:
            return frozenset()
        values: dict[str, set[Number]] = {}
        for kind in self.layers:
            for name, value in kind.widths().items():
                values.setdefault(name, set()).add(value)
        return frozenset({"n_layers", *(name for name, held in values.items() if len(held) > 1)})

    def values(self) -> dict[str, Fraction]:
        """Every dimension by its symbol's name, per kind of layer where they differ."""
        values: dict[str, Fraction] = {}
        for layer, kind in zip(self.architecture().layers, self.layers, strict=False):
            values[layer.symbol("n_layers")] = Fraction(kind.count)
            values |= {layer.symbol(name): Fraction(value) for name, value in kind.widths().items()}
        outer: dict[str, Number | None] = {
            "d_model": self.d_model,
            "vocab_size": self.vocab_size,
            "learned_positions": self.positions,
            "d_embedding": self.d_embedding,
            "more_embeddings": self.more_embeddings,
        }
        if table := self.layer_inputs:
            outer |= {"d_layer_input": table.width, "layer_input_vocab": table.vocab_size}
        if self.altup:
            outer |= {"altup_inputs": self.altup.inputs, "laurel_rank": self.altup.laurel_rank}
        if self.hyper_connections:
            outer |= {"hyper_copies": self.hyper_connections.copies}
        if residuals := self.attention_residuals:
            layers = sum(kind.count for kind in self.layers)
            outer["residual_sources"] = residuals.sources(layers)
            outer["residual_sums"] = residuals.sums(layers)
        values |= {name: Fraction(value) for name, value in outer.items() if value}
        totals = {"params": self.params, "active_params": self.active_params}
        return values | {name: value.value for name, value in totals.items() if value}


def _distinguishing_labels(kinds: tuple[LayerKind, ...]) -> list[str]:
    """What tells kinds of layer apart: how they mix tokens, what follows, or both; one that does one thing alone goes by that."""
    feeds = [{"moe": "moe", "none": "none"}.get(kind.ffn.kind, "dense") for kind in kinds]
    mixers = [_mixer_word(kind) for kind in kinds]
    if len(set(feeds)) == 1:
        return mixers
    if len(set(mixers)) == 1:
        return feeds
    pairs = zip(mixers, feeds, strict=True)
    words = ([word for word in pair if word not in ("ffn", "none")] for pair in pairs)
    return ["_".join(each) or "none" for each in words]


def _mixer_word(kind: LayerKind) -> str:
    attention = kind.attention
    if attention.kind == "shared":
        return "shared"
    if kind.mixer is not None:
        return str(kind.mixer.kind).replace("gated_", "")
    if attention.kind == "none":
        return "ffn"
    if attention.kind == "compressed":
        if attention.index_topk:
            return "chosen"
        return "compressed" if attention.compress_rate else "local"
    word = {"window": "local", "chunk": "chunked"}.get(attention.reach or "", "full")
    if attention.kind not in ("gqa", "chunked"):
        return word
    if attention.images_only:
        return "image"
    return f"{word}_shared" if attention.shares_kv else word
