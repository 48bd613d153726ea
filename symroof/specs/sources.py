"""Where numbers come from: the sources of a file, and the entries that name them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, WithJsonSchema, model_validator

from symroof.errors import nearest
from symroof.specs.fields import Fault, Read, Spec, raise_faults
from symroof.strict_yaml import Location


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, Fraction)):
        raise ValueError("expected text")
    return str(value)


Text = Annotated[str, Read(_text, "string number")]
"""A text that a file may write as a number: the year of a date."""


class Source(Spec):
    """Where a number comes from."""

    title: str
    address: str | None = None
    document: str | None = None
    date: Text | None = None
    consulted: Text | None = None

    def __str__(self) -> str:
        when = self.date or (f"consulted {self.consulted}" if self.consulted else None)
        return ", ".join(part for part in (self.title, self.document, when) if part)


AnySource = Annotated[
    Source | None,
    BeforeValidator(lambda value: {"title": value} if isinstance(value, str) else value),
    WithJsonSchema({"type": ["string", "object"]}),
]
"""A source, which may be given as its title alone."""


class Sourced(Spec):
    """What every number has: a source, by its key in ``sources`` or in full, and perhaps a remark."""

    source: str | Source
    note: str = ""


class SourcedFile(Spec):
    """A file whose numbers name their sources by keys of ``sources``."""

    sources: dict[str, Source] = {}

    @model_validator(mode="after")
    def _sources_resolve(self) -> Self:
        faults: list[Fault] = []
        for place, entry in _entries(self, ()):
            if isinstance(entry.source, str) and entry.source not in self.sources:
                near = nearest(entry.source, self.sources)
                faults.append(((*place, "source"), f"is none of the sources of this file; {near}"))
        raise_faults(faults)
        return self

    def numbers(self) -> list[tuple[str, Any]]:
        """Every number with its path."""
        return [(".".join(map(str, place)), entry) for place, entry in _entries(self, ())]

    def source_of(self, entry: Sourced) -> Source:
        """The source of a number."""
        return self.sources[entry.source] if isinstance(entry.source, str) else entry.source


def _entries(value: object, place: Location) -> Iterator[tuple[Location, Sourced]]:
    if isinstance(value, Sourced):
        yield place, value
    elif isinstance(value, (Spec, dict)):
        for name, inner in dict(value).items():
            yield from _entries(inner, (*place, name))
    elif isinstance(value, tuple):
        for i, inner in enumerate(value):
            yield from _entries(inner, (*place, i))
