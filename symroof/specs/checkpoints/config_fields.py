"""The fields of one ``config.json``, taken strictly; what the file leaves out and its class supplies is written down.

A field is what it should be or an error with its place: no number from a text, no truth from a 1, nothing evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from symroof.errors import nearest
from symroof.specs.checkpoints.json_text import JsonDocument, kind_of_value
from symroof.specs.layers import MOST_LAYERS
from symroof.specs.model import Filled
from symroof.strict_yaml import Location

MOST = 10**8
"""No width, count of heads or vocabulary comes near."""

MISSING: Any = object()


@dataclass
class Config:
    """One language model's fields, below ``place`` in a file.

    Attributes:
        data: the fields.
        defaults: what the class supplies where the file is silent.
        names: other spellings of a field that the class takes, in order.
        source: the class whose defaults these are.
        consulted: the places of all fields that were asked for, here and in the objects inside.
        around: the place of the model's fields, where these are those of one layer laid over them.
        inner: defaults of the objects inside.
    """

    document: JsonDocument
    place: Location
    data: Mapping[str, Any]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = "the class"
    filled: dict[str, Filled] = field(default_factory=dict)
    consulted: set[Location] = field(default_factory=set)
    around: Location | None = None
    inner: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------ finding a field

    def place_of(self, name: str) -> Location:
        """The place of a field, by whichever of its spellings the file uses."""
        written = [spelling for spelling in self.spellings(name) if spelling in self.data]
        said = (spelling for spelling in written if self.data[spelling] is not None)
        return (*self.place, next(said, (*written, name)[0]))

    def spellings(self, name: str) -> tuple[str, ...]:
        return self.names.get(name, (name,))

    def _consult(self, name: str) -> None:
        places = (self.place,) if self.around is None else (self.place, self.around)
        self.consulted.update(
            (*place, spelling) for place in places for spelling in self.spellings(name)
        )

    def raw(self, name: str) -> Any:
        """What the file or the class's default says, unread; MISSING where neither does."""
        written = [
            self.data[spelling] for spelling in self.spellings(name) if spelling in self.data
        ]
        self._consult(name)
        if written:
            return next((value for value in written if value is not None), None)
        return self.defaults.get(name, MISSING)

    def states(self, name: str) -> bool:
        """Whether the file itself says something other than null."""
        self._consult(name)
        return any(self.data.get(spelling) is not None for spelling in self.spellings(name))

    def fail(self, name: str, message: str, hint: str = "") -> NoReturn:
        """Stop with an error at a field."""
        raise self.document.error(self.place_of(name), message, hint)

    def fill(self, name: str, value: object, why: str) -> None:
        """Write down a value that the file does not give."""
        self.filled.setdefault(
            name, Filled(field=".".join(map(str, (*self.place, name))), value=str(value), why=why)
        )

    def _taken(self, name: str, check: Callable[[Any], object]) -> Any:
        """A field that passes a check, which fails otherwise; a default is written down, null is nothing."""
        value = self.raw(name)
        if value is None or value is MISSING:
            return None
        check(value)
        if not any(spelling in self.data for spelling in self.spellings(name)):
            self.fill(
                name,
                str(value).lower() if isinstance(value, bool) else value,
                f"the default of {self.source}",
            )
        return value

    def _typed(self, name: str, right: Callable[[Any], bool], expected: str) -> Any:
        """A field for which ``right`` holds."""

        def check(value: Any) -> None:
            if not right(value):
                self.fail(name, f"expected {expected}, found {kind_of_value(value)}")

        return self._taken(name, check)

    # ------------------------------------------------------------------------------------------------ reading a field

    def maybe(self, name: str, least: int = 1, most: int = MOST) -> int | None:
        """A whole number, or None where the field is null or absent without a default."""
        return self._taken(name, lambda value: self._whole(name, value, least, most))  # type: ignore[no-any-return]

    def whole(self, name: str, least: int = 1, most: int = MOST) -> int:
        """A whole number that must be there."""
        number = self.maybe(name, least, most)
        if number is None:
            self.fail(
                name, "is null; expected a whole number" if self.raw(name) is None else "is missing"
            )
        return number

    def _whole(self, name: str, value: Any, least: int, most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(name, f"expected a whole number, found {kind_of_value(value)}")
        if value < least:
            self.fail(
                name, f"expected a whole number, {least} or more, found {kind_of_value(value)}"
            )
        if value > most:
            self.fail(name, f"is far too large: {kind_of_value(value)}; at most {most:,}")
        return value

    def flag(self, name: str) -> bool:
        """True or false; null counts as false, as it does in the classes."""
        return bool(self._typed(name, lambda value: isinstance(value, bool), "true or false"))

    def text(self, name: str, longest: int = MOST_LAYERS) -> str | None:
        """A short text."""
        return self._typed(  # type: ignore[no-any-return]
            name, lambda value: isinstance(value, str) and 0 < len(value) <= longest, "a text"
        )

    def number(self, name: str) -> float | None:
        """A positive number, fractional or not."""
        return self._typed(  # type: ignore[no-any-return]
            name,
            lambda value: (
                isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < MOST
            ),
            "a positive number",
        )

    def listed(self, name: str, length: int | None = None) -> list[Any] | None:
        """A list, as long as there are layers where ``length`` says so; None where null or absent."""
        value = self.raw(name)
        if value is None or value is MISSING:
            return None
        if not isinstance(value, list):
            self.fail(name, f"expected a list, found {kind_of_value(value)}")
        if length is not None and len(value) != length:
            self.fail(name, f"has {len(value)} entries for {length} layers")
        if len(value) > MOST_LAYERS:
            self.fail(name, f"has {len(value):,} entries; up to {MOST_LAYERS:,} can be read")
        return value

    def wholes(self, name: str, length: int | None = None, least: int = 0) -> list[int] | None:
        """A list of whole numbers, such as the indices of layers."""
        entries = self.listed(name, length)
        for value in entries or ():
            self._whole(name, value, least, MOST)
        return entries

    def lists(self, name: str, layer: int) -> bool | None:
        """Whether a list of layers holds one by its number; None where null or absent."""
        entries = self.wholes(name)
        return None if entries is None else layer in entries

    def words(self, name: str, known: Mapping[str, str], length: int | None) -> list[str] | None:
        """A list of words, one a layer, each as the word ``known`` takes it for."""
        entries = self.listed(name, length)
        for value in entries or ():
            if not isinstance(value, str) or value not in known:
                message = f"has an unknown entry: {kind_of_value(value)}"
                self.fail(name, message, nearest(str(value)[:40], known))
        return None if entries is None else [known[value] for value in entries]

    # --------------------------------------------------------------------------------------------------- parts of it

    @cached_property
    def known(self) -> set[str]:
        """Every spelling of every field that the class has and these readings know, asked for in this file or not."""
        return {spelling for name in self.defaults for spelling in self.spellings(name)}

    def contradicts(self, key: str) -> bool:
        """Whether a field of the file is another spelling of one that was read, with another value."""
        others = [self.place_of(name)[-1] for name, spelled in self.names.items() if key in spelled]
        return key not in others and any(
            self.data.get(str(other)) not in (None, self.data[key]) for other in others
        )

    @property
    def n_layers(self) -> int:
        return self.whole("num_hidden_layers", most=MOST_LAYERS)

    def bounded(self, name: str, layers: int) -> None:
        """Stop where a field lays out more layers than any model has."""
        if not 0 < layers <= MOST_LAYERS:
            self.fail(name, f"lays out {layers:,} layers; from 1 to {MOST_LAYERS:,} can be read")

    def inside(self, name: str) -> Config:
        """The fields of an object inside this one; an absent one has its class's defaults."""
        value = self.data.get(name)
        self.consulted.add((*self.place, name))
        if value is not None and not isinstance(value, dict):
            self.fail(name, f"expected an object with fields, found {kind_of_value(value)}")
        return replace(
            self,
            place=(*self.place, name),
            data=value or {},
            defaults=self.inner.get(name, {}),
            names={},
            around=None,
            inner={},
        )

    def of_layer(self, i: int) -> Config:
        """The fields as one layer has them: those that ``per_layer_config`` holds for its number replace the model's."""
        own = self._layer_fields.get(i)
        if own is None:
            return self
        place, data = (
            (*self.place, "per_layer_config", own),
            self.data | self.data["per_layer_config"][own],
        )
        self.consulted.add(place)
        return replace(self, place=place, data=data, around=self.place)

    @cached_property
    def _layer_fields(self) -> Mapping[int, str]:
        """The key of each layer that ``per_layer_config`` has fields for; keys are numbers, with zeros before them or not."""
        layers = self.inside("per_layer_config").data
        for key, fields in layers.items():
            if not (
                key.isdecimal() and key.isascii() and len(key) < 6 and isinstance(fields, dict)
            ):
                self.fail(
                    "per_layer_config",
                    f"expected the fields of each layer by its number, found {kind_of_value(key)}",
                )
        return {int(key): key for key in layers}
