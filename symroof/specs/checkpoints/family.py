"""Families of models, read from ``specs/checkpoints/families.yaml``: what a ``config.json`` of each makes of a layer list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from symroof.resources import data_folder
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family_fields import LayerNames, at, value_of
from symroof.specs.checkpoints.family_rules import FUNCTIONS
from symroof.specs.layers import distinct_layers
from symroof.strict_yaml import load

Recipe = Mapping[str, Any]
"""What the fields of a config make of a part of a layer: by each key of a model spec a value, an expression, or a part inside."""
PARTS = {"mixers": ("attention", "mixers"), "beside": ("attention", "mixers")}
"""Named parts that a recipe may be made of, where they are not those of its own key."""
PLAIN = {"attention": "grouped", "ffn": "gated", "experts": None, "norm": None, "outer": None}
"""Recipes of an entry, with the part that one which is left out is."""
MOST_KINDS = 128
"""Distinct kinds of layer in one model; real ones have a few, those with a width for each layer a few dozen."""


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The file as it stands."""
    data: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "families.yaml").data
    return data


def expression(text: str, c: Config, i: int) -> Any:
    """The value of an expression for a layer of a config."""
    return value_of(text, LayerNames(c, i, table()["parts"]["rules"]))


@lru_cache(maxsize=4)
def words(kind: str) -> Mapping[str, str]:
    """The words of a list of layers, each with what it means here."""
    return dict(table()["words"][kind])


def _word_of(kind: str) -> Callable[..., str | None]:
    """The layer's word in a list that may be longer by the layers that predict tokens ahead; nothing where there is no list."""

    def read(c: Config, i: int, field: str, ahead: int = 0) -> str | None:
        inside, name = at(c, field)
        entries = inside.listed(name)
        longer = ahead if entries is not None and len(entries) != c.n_layers else 0
        taken = inside.words(name, words(kind), c.n_layers + longer)
        return taken[i] if taken else None

    return read


FUNCTIONS |= {"listed": _word_of("layers"), "fed": _word_of("feeds")}


def joined(written: Any, key: str) -> dict[str, Any]:
    """A recipe, a name of one, or a list of both, joined in order."""
    if isinstance(written, str):
        return next(
            dict(held[written])
            for section in PARTS.get(key, (key,))
            if written in (held := table()["parts"][section])
        )
    if isinstance(written, list):
        return {name: value for part in written for name, value in joined(part, key).items()}
    return dict(written or {})


@dataclass(frozen=True, eq=False)
class Family:
    """One entry of the table; a key that it lacks is that of the plainest model.

    Attributes:
        source: the class whose configuration and modelling code were read.
        defaults: what it supplies where a file is silent; ``inside`` the same for objects in it.
        names: spellings of a field, where the class takes others than its name.
        attention, ffn, experts: recipes of full attention, a dense feed-forward block and a sparse one.
        mixers: recipes of other words that ``mixing`` yields: recurrences, attention of another shape.
        layers: how many there are.
        mixing, feeding: the word of every layer.
        norm, outer: recipes of the normalisation, and of what is outside the layers.
        without_effect: keys that change nothing in this class alone.
    """

    entry: Mapping[str, Any]

    @property
    def source(self) -> str:
        return str(self.entry["source"])

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        return joined(self.entry.get("defaults"), "defaults")

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        written = joined(self.entry.get("names"), "names")
        return {name: tuple(spellings) for name, spellings in written.items()}

    @property
    def without_effect(self) -> list[str]:
        return self.entry.get("without_effect") or []

    def config(self, document: Any, place: Any, data: Mapping[str, Any]) -> Config:
        """The fields of a file as the class takes them."""
        inside = self.entry.get("inside") or {}
        return Config(document, place, data, self.defaults, self.names, self.source, inner=inside)

    def recipe(self, key: str, plain: str | None = None) -> Recipe:
        return joined(self.entry.get(key, plain), key)

    @cached_property
    def mixers(self) -> Mapping[str, Recipe]:
        """The recipe behind each word of ``mixing``; windows and chunks add their own field to full attention."""
        full = self.recipe("attention", "grouped")
        own = self.entry.get("mixers") or {}
        return {
            "full": full,
            "window": {**full, **joined("window", "attention")},
            "chunk": {**full, **joined("chunk", "attention")},
            **{word: joined(written, "mixers") for word, written in own.items()},
        }

    @cached_property
    def feeds(self) -> Mapping[str, Recipe]:
        """The recipe behind each word of ``feeding``."""
        dense = self.recipe("ffn", "gated")
        sparse = self.recipe("experts") or dense
        return {"dense": dense, "sparse": sparse, "none": {"kind": "none"}}

    @property
    def feeding(self) -> str:
        return str(
            self.entry.get("feeding") or ("sparse" if self.entry.get("experts") else "dense")
        )

    def words(self, c: Config) -> list[tuple[str, str]]:
        """What each layer is: its mixer and what follows it."""
        numbers = range(expression(self.entry.get("layers", "n"), c, 0))
        mixers = [expression(self.entry.get("mixing", "full"), c, i) for i in numbers]
        return [(mixer, expression(self.feeding, c, i)) for i, mixer in enumerate(mixers)]

    def layer(self, c: Config, i: int, mixing: str, feeding: str) -> dict[str, Any]:
        """One layer, as a model spec writes it."""
        recipe = self.mixers.get(mixing)
        if recipe is None:
            said = next((key for key, word in words("layers").items() if word == mixing), mixing)
            c.fail("layer_types", f"has {said!r}, which {self.source} does not know")
        own = c.of_layer(i)
        mixer, feed = made(recipe, own, i), made(self.feeds[feeding], own, i)
        beside, norms = mixer.pop("beside", None), mixer.pop("norms", feed.pop("norms", None))
        more = {"mixer": beside, "norms": norms}
        return {
            "attention": mixer,
            "ffn": feed,
            **{key: value for key, value in more.items() if value is not None},
        }


def made(recipe: Recipe, c: Config, i: int) -> dict[str, Any]:
    """A recipe for one layer of a config: its expressions read, its parts made; what is nothing is left out."""
    found = {key: _made(key, value, c, i) for key, value in recipe.items()}
    return {key: value for key, value in found.items() if value is not None}


def _made(key: str, value: Any, c: Config, i: int) -> Any:
    if isinstance(value, str):
        return expression(value, c, i)
    if isinstance(value, list | dict):
        part = joined(value, key)
        when = part.pop("when", None)
        return None if when and not expression(when, c, i) else made(part, c, i)
    return value


OUTER: Recipe = {
    "d_model": "hidden_size",
    "vocab_size": "vocab_size",
    "tied_embeddings": "flag('tie_word_embeddings')",
}
NORM: Recipe = {"kind": "rms", "per_layer": 2}


def model_fields(family: Family, c: Config) -> tuple[dict[str, Any], list[int]]:
    """The fields of a model spec that a config makes, and for each layer which of the kinds it is.

    Raises:
        InputError: a field that is not what it should be, at its place.
    """
    fields = made({**OUTER, **family.recipe("outer")}, c, 0)
    fields["norm"] = made({**NORM, **family.recipe("norm")}, c, 0)
    fields["layers"], kinds = distinct_layers(
        family.layer(c, i, *words) for i, words in enumerate(family.words(c))
    )
    if len(fields["layers"]) > MOST_KINDS:
        c.fail("num_hidden_layers", f"the layers are of more than {MOST_KINDS} kinds")
    if c.states("max_position_embeddings"):
        fields["max_context"] = c.whole("max_position_embeddings")
    return fields, kinds


@lru_cache(maxsize=1)
def refused() -> Mapping[str, str]:
    """Types that transformers can load and that are not read, with the reason."""
    return {name: each["why"] for each in table()["refused"] for name in each["types"]}


@lru_cache(maxsize=256)
def family_of(model_type: str) -> Family | None:
    """The family of a type."""
    entry = table()["families"].get(table()["same_as"].get(model_type, model_type))
    return None if entry is None else Family(entry)


def known_types() -> list[str]:
    """Every ``model_type`` that can be read."""
    return sorted({*table()["families"], *table()["same_as"], *table()["wrappers"]})
