"""Layer kinds as model specs write them, attention or another mixer and what follows it; and the order of a model's layers: a pattern of labels that repeats.

The fields of its blocks, and what they must agree in, stand in ``specs/layer_fields.yaml``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import cycle, islice
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union

from pydantic import Field, create_model, model_validator

from symroof.resources import data_folder
from symroof.specs.fields import Fault, Spec, Whole, raise_faults
from symroof.strict_yaml import load
from symroof.theory.architecture import Layer

T = TypeVar("T")

MOST_LAYERS = 1000
"""Layers of one model: each has its place in the order. The deepest of the catalogue has a tenth of them, and reading so many takes half a second."""


def repeat_to_length(pattern: Sequence[T], length: int) -> tuple[T, ...]:
    """A pattern again and again, cut off at a length.

    >>> repeat_to_length(["local", "local", "global"], 5)
    ('local', 'local', 'global', 'local', 'local')
    """
    return tuple(islice(cycle(pattern), length))


def shortest_pattern(sequence: Sequence[T]) -> tuple[T, ...]:
    """The fewest first entries that make the whole sequence by repeating; all of them where no pattern comes twice.

    >>> shortest_pattern("aabaabaa")
    ('a', 'a', 'b')
    """
    whole, length = tuple(sequence), len(sequence)
    periods = (n for n in range(1, length // 2 + 1) if whole[n:] == whole[:-n])
    return whole[: next(periods, length)]


def distinct_layers(layers: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[int]]:
    """Equal layers as one kind with their number, in order of first appearance; and for each layer which of the kinds it is.

    >>> distinct_layers([{"ffn": "moe"}, {"ffn": "dense"}, {"ffn": "moe"}])
    ([{'count': 2, 'ffn': 'moe'}, {'count': 1, 'ffn': 'dense'}], [0, 1, 0])
    """
    kinds: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    order = []
    for layer in layers:
        number = numbers.setdefault(repr(layer), len(kinds))
        if number == len(kinds):
            kinds.append({"count": 0, **layer})
        kinds[number]["count"] += 1
        order.append(number)
    return kinds, order


def order_faults(order: Sequence[str], counts: Mapping[str, int]) -> list[Fault]:
    """What keeps a pattern from being the order of a model's layers, at its place in the spec."""
    n_layers = sum(counts.values())
    if n_layers > MOST_LAYERS:
        most = f"at most {MOST_LAYERS:,} can be laid out"
        return [(("layers",), f"hold {n_layers:,} layers in all; {most}")]
    if len(order) > n_layers:
        return [(("order",), f"has {len(order):,} entries for {n_layers:,} layers")]
    made = Counter(repeat_to_length(order, n_layers)) if order else counts
    wrong = [
        f"{made.get(label, 0):,} {label[:40]} instead of {counts.get(label, 0):,}"
        for label in {**counts, **made}
        if made.get(label, 0) != counts.get(label, 0)
    ]
    message = f"repeated over {n_layers:,} layers makes {', '.join(wrong)}"
    return [(("order",), message)] if wrong else []


Number = int | Fraction
"""A width: only the experts that a token draws on average may be no whole number."""


class LayerBlock(Spec):
    """A part of a layer, of a kind of the table: the widths it gives to symbols, the traits it gives to the layer; ``RULES`` is its entry."""

    RULES: ClassVar[Mapping[str, Any]] = {}
    kind: str

    def widths(self) -> dict[str, Number]:
        """Every width by its symbol's name."""
        return {name: value for name, value in self if type(value) is int}

    def traits(self) -> frozenset[str]:
        """The traits that are switched on; a field that is on gives one of its own name, or as the table says."""
        gives = self.RULES.get("gives", {})
        on = {name for name, value in self if value is True}
        on |= {name for name, value in self if name in gives and value not in (None, False)}
        return frozenset(gives.get(name, name) for name in on)

    @property
    def reach(self) -> str | None:
        """How far a query sees, where that is not all: a ``window``, a ``chunk``, or the ``top`` keys."""
        fields = (("window", "window"), ("chunk_size", "chunk"), ("index_topk", "top"))
        return next((word for field, word in fields if getattr(self, field, None)), None)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if fault := next(self._contradictions(), None):
            raise ValueError(fault)
        return self

    def _contradictions(self) -> Iterator[str]:
        """What its fields must agree in and do not."""
        given = {name: value for name, value in self if value not in (None, False)}
        for written in self.RULES.get("together", ()):
            names = written.split()
            if 0 < len(given.keys() & names) < len(names):
                yield f"{', '.join(names[:-1])} and {names[-1]} belong together"
        for name, written in self.RULES.get("with", {}).items():
            lacking = [other for other in written.split() if other not in given]
            if name in given and lacking:
                yield f"{name} needs {' and '.join(lacking)}"
        for written in self.RULES.get("not_both", ()):
            if given.keys() >= set(written.split()):
                yield f"a layer has {written.replace(' ', ' or ')}, not both"
        for written, part in self.RULES.get("multiples", {}).items():
            whole = math.prod(given[name] for name in written.split())
            if whole % given[part]:
                shown = f"{written.replace(' ', '*')} {whole}"
                yield f"{shown} is not a multiple of {part} {given[part]}"
        for name, kinds in self.RULES.get("of_kind", {}).items():
            if self.kind in kinds and name not in given:
                yield f"{name} is missing"
            if self.kind not in kinds and name in given:
                yield f"{name} belongs to `kind: {'` and `'.join(kinds)}`"
        for name, written in self.RULES.get("at_most", {}).items():
            most = sum(given.get(part, 0) for part in written.split())
            if given[name] > most:
                shown = f"{written.replace(' ', ' + ')} {most}"
                yield f"{name} {given[name]} is more than {shown}"


def _form(name: str, entry: Mapping[str, Any]) -> type[LayerBlock]:
    """The form of one entry of the table."""
    fields: dict[str, Any] = {"kind": (Literal[tuple(entry["kinds"])], entry.get("kind", ...))}
    fields |= dict.fromkeys(entry.get("needs", ()), (Whole, ...))
    fields |= dict.fromkeys(entry.get("may_have", ()), (Whole | None, None))
    fields |= dict.fromkeys(entry.get("flags", ()), (bool, False))
    fields |= dict.fromkeys(entry.get("usual", ()), (bool, True))
    for field, words in entry.get("words", {}).items():
        fields[field] = (Literal[tuple(words)], words[0])
    made = create_model(
        name, __base__=LayerBlock, __module__=__name__, __doc__=entry["means"], **fields
    )
    made.RULES = entry
    return made


BLOCKS: Mapping[str, Mapping[str, Any]] = load(data_folder("specs") / "layer_fields.yaml").data
ATTENTION, MIXERS, FEEDS = (
    [_form(name, entry) for name, entry in BLOCKS[part].items()]
    for part in ("attention", "mixer", "ffn")
)
for form in (*ATTENTION, *MIXERS, *FEEDS):
    globals()[form.__name__] = form  # where pickle looks
MIXER_KINDS = {kind for entry in BLOCKS["mixer"].values() for kind in entry["kinds"]}


def _one_of(forms: list[type[LayerBlock]]) -> Any:
    """A field that holds one of some blocks, told by its ``kind``."""
    return Annotated[Union[tuple(forms)], Field(discriminator="kind")]  # noqa: UP007


NO_ATTENTION: Any = ATTENTION[-1].model_construct(kind="none")
NO_FEED: Any = FEEDS[0].model_construct(kind="none")
FFN_MATRICES = {"gated": 3, "plain": 2}


class LayerKind(Spec):
    """``count`` layers of one kind: attention, or another mixer, or both side by side, and a feed-forward block."""

    count: Whole
    label: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,15}$")] | None = None
    attention: _one_of(ATTENTION) = NO_ATTENTION  # type: ignore[valid-type]
    mixer: _one_of(MIXERS) | None = None  # type: ignore[valid-type]
    ffn: _one_of(FEEDS) = NO_FEED  # type: ignore[valid-type]
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
        missing = [name for name in ("attention", "ffn") if name not in fields]
        raise_faults([((name,), "is missing") for name in missing])
        return fields

    @property
    def blocks(self) -> tuple[LayerBlock, ...]:
        return tuple(block for block in (self.attention, self.mixer, self.ffn) if block is not None)

    def widths(self) -> dict[str, Number]:
        """Every width of the kind by its symbol's name."""
        widths = {name: value for block in self.blocks for name, value in block.widths().items()}
        if matrices := FFN_MATRICES.get(self.ffn.kind):
            widths["ffn_matrices"] = matrices
        if unused := widths.get("n_zero_experts"):  # of the experts that a token draws
            experts = self.ffn.n_experts
            widths["experts_per_token"] *= Fraction(experts, experts + int(unused))
        if "n_shared_experts" in widths:
            widths.setdefault("d_shared", self.ffn.d_expert)
        return widths

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
        kinds = (block.kind for block in (self.attention, self.mixer) if block is not None)
        mixers = tuple("gqa" if kind == "chunked" else kind for kind in kinds if kind != "none")
        qk_norm = getattr(self.attention, "qk_norm", "none")
        traits = frozenset(trait for block in self.blocks for trait in block.traits()) | more
        if getattr(self.ffn, "expert", "") == "plain":
            traits |= {"plain_experts"}
        reach, count = self.attention.reach, norms if self.norms is None else self.norms
        return Layer(label, mixers, self.ffn.kind, reach, traits, qk_norm, count, own)
