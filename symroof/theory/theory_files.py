"""The files of symroof's built-in theory: ``specs/theories/inference.yaml`` and its parts, read like any theory file.

Every entry stands in one file under ``specs/theories/inference``; this module hands the entries out, and the modules that declare
inputs, quantities, thresholds and switches make objects of them. What such a file says is checked in full by a test, not at every start.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from symroof.resources import data_folder
from symroof.strict_yaml import load

INFERENCE = "inference"
"""The theory that needs no naming: its names are known everywhere."""


DEFINITION = "definition"
"""The source of a formula that is the meaning of its names, such as a ratio or a sum: there is nothing to look up."""


@lru_cache(maxsize=4)
def table(name: str) -> Mapping[str, Any]:
    """A file beside the parts: ``blocks``, the rows of the operator table; ``passes``, the steps and what drives them."""
    return load(data_folder("specs") / "theories" / INFERENCE / f"{name}.yaml").data  # type: ignore[no-any-return]


class SectionEntry(NamedTuple):
    """One entry of a section: the part it stands in, its name, and its fields."""

    part: str
    name: str
    fields: Any


@lru_cache(maxsize=1)
def parts() -> tuple[Mapping[str, Any], ...]:
    """The data of every part, in the order of ``inference.yaml``."""
    folder = data_folder("specs") / "theories"
    index = load(folder / f"{INFERENCE}.yaml").data
    return tuple(load(folder / INFERENCE / f"{name}.yaml").data for name in index["parts"])


def section(name: str) -> Iterator[SectionEntry]:
    """The entries of a section, such as ``inputs`` or ``define``, over all parts.

    >>> next(section("switches"))[:2]
    ('switches', 'parameters')
    """
    for part in parts():
        entries = part.get(name, {})
        for key, fields in (
            entries.items()
            if isinstance(entries, Mapping)
            else ((entry["name"], entry) for entry in entries)
        ):
            yield SectionEntry(part["name"], key, fields)


def listed(of: str, where: str) -> tuple[str, ...]:
    """The names of a section, ``shown`` or ``moving``, that are of use somewhere, in their order."""
    return tuple(entry.name for entry in section(of) if where in entry.fields.get("in", ()))


def column(of: str, field: str) -> dict[str, Any]:
    """A field of the entries of a section that have it, by their names."""
    return {entry.name: entry.fields[field] for entry in section(of) if field in entry.fields}


@lru_cache(maxsize=1)
def references() -> dict[str, str]:
    """The literature by the short names that entries cite as their ``source``."""
    return {entry.name: entry.fields for entry in section("references")}


def cited(source: str) -> str:
    """A source as people read it: an entry of the references by its short name, anything else as it is written."""
    return references().get(source, source)


@lru_cache(maxsize=1)
def conditions() -> dict[str, tuple[str, str]]:
    """Conditions by name: what has to hold, and the message where it does not."""
    return {
        entry.name: (entry.fields["holds"], entry.fields["otherwise"])
        for entry in section("conditions")
    }


@lru_cache(maxsize=1)
def default_sources() -> dict[str, str]:
    """The source of the entries of a part that name none."""
    return {part["name"]: cited(part.get("source", "")) for part in parts()}
