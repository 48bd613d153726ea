"""A family of models: what its ``config.json`` makes of a layer list, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.layer_layouts import (
    ALL_FULL,
    CHUNKED,
    DENSE,
    FULL,
    NOTHING,
    SLIDING,
    SPARSE,
    Layout,
)
from symroof.specs.checkpoints.recipes import (
    CHUNK,
    GATED,
    GROUPED,
    NO_FEED,
    RMS,
    WINDOW,
    Recipe,
    flag,
    made,
    whole,
)
from symroof.specs.layer_order import distinct_layers

V5, V524 = "transformers 5.23.0", "transformers 5.24.0"
TIED = {"tie_word_embeddings": True}
MOST_KINDS = 128
"""Distinct kinds of layer in one model; real ones have a few, those with a width for each layer a few dozen."""


@dataclass(frozen=True)
class Family:
    """One entry of the table.

    Attributes:
        source: the class whose configuration and modelling code were read.
        defaults: what it supplies where a file is silent.
        attention: the recipe of full attention; windows and chunks add their own field to it.
        mixers: recipes of other words that ``mixing`` may yield: recurrences, attention of another shape.
        ffn, experts: the recipes of a dense feed-forward block, and of a sparse one.
        mixing, feeding: the word of every layer.
        norm: the recipe of the normalisation.
        outer: recipes of what is outside the layers.
        names: spellings of a field, where the class takes others than its name.
    """

    source: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    attention: Recipe = field(default_factory=lambda: GROUPED)
    mixers: Mapping[str, Recipe] = field(default_factory=dict)
    ffn: Recipe = field(default_factory=lambda: GATED)
    experts: Recipe | None = None
    mixing: Layout = ALL_FULL
    feeding: Layout | None = None
    norm: Recipe = field(default_factory=lambda: RMS)
    outer: Recipe = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def recipe_of_mixer(self, word: str) -> Recipe | None:
        """The recipe behind a word of ``mixing``."""
        own = {
            FULL: self.attention,
            SLIDING: {**self.attention, **WINDOW},
            CHUNKED: {**self.attention, **CHUNK},
        }
        return self.mixers.get(word, own.get(word))

    def recipe_of_feed(self, word: str) -> Recipe:
        """The recipe behind a word of ``feeding``."""
        return {DENSE: self.ffn, SPARSE: self.experts or self.ffn, NOTHING: NO_FEED}[word]


def sizes(
    vocab: int,
    width: int,
    inner: int | None,
    layers: int | None,
    heads: int,
    kv_heads: int | None,
    **more: object,
) -> dict[str, object]:
    """The defaults nearly every class has; the embeddings are not tied unless ``more`` ties them."""
    return {
        "vocab_size": vocab, "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "tie_word_embeddings": False, **more,
    }  # fmt: skip


OUTER: Recipe = {
    "d_model": whole("hidden_size"),
    "vocab_size": whole("vocab_size"),
    "tied_embeddings": flag("tie_word_embeddings"),
}


def model_fields(family: Family, c: Config) -> tuple[dict[str, Any], list[int]]:
    """The fields of a model spec that a config makes, and for each layer which of the kinds it is.

    Raises:
        InputError: a field that is not what it should be, at its place.
    """
    fields = made({**OUTER, **family.outer}, c, 0)
    fields["norm"] = made({**RMS, **family.norm}, c, 0)
    fields["layers"], kinds = distinct_layers(
        layer(family, c, i, *words) for i, words in enumerate(_words(family, c))
    )
    if len(fields["layers"]) > MOST_KINDS:
        c.fail("num_hidden_layers", f"the layers are of more than {MOST_KINDS} kinds")
    if c.states("max_position_embeddings"):
        fields["max_context"] = c.whole("max_position_embeddings")
    return fields, kinds


def try_layers(family: Family, c: Config) -> None:
    """Read a config as :func:`model_fields` does, but one layer of each kind alone: enough to know which fields are taken.

    Raises:
        InputError: a field that is not what it should be, at its place.
    """
    made({**OUTER, **family.outer}, c, 0)
    made({**RMS, **family.norm}, c, 0)
    kinds: dict[tuple[str, str, bool], int] = {}
    for i, words in enumerate(_words(family, c)):
        alone = c.has_own_fields(i)  # such a layer has fields that no other takes
        if alone or (*words, alone) not in kinds:
            kinds[*words, alone] = i
            layer(family, c, i, *words)
    c.states("max_position_embeddings")


def _words(family: Family, c: Config) -> list[tuple[str, str]]:
    mixing = family.mixing(c)
    feeding = (
        family.feeding(c) if family.feeding else [SPARSE if family.experts else DENSE] * len(mixing)
    )
    return list(zip(mixing, feeding, strict=True))


def layer(family: Family, c: Config, i: int, mixing: str, feeding: str) -> dict[str, Any]:
    """One layer, as a model spec writes it."""
    recipe = family.recipe_of_mixer(mixing)
    if recipe is None:
        c.fail("layer_types", f"has {mixing!r}, which {family.source} does not know")
    own = c.of_layer(i)
    made_mixer, made_feed = made(recipe, own, i), made(family.recipe_of_feed(feeding), own, i)
    beside, norms = (
        made_mixer.pop("beside", None),
        made_mixer.pop("norms", made_feed.pop("norms", None)),
    )
    return {
        "attention": made_mixer,
        **({"mixer": beside} if beside else {}),
        "ffn": made_feed,
        **({"norms": norms} if norms is not None else {}),
    }
