"""The cases a claim speaks of, as they are written and as they are read.

Counting choices may stand among the names (``detail=weights``, ``attention=full``) or under ``assume``; a path is looked up
beside the claim file first, as a study file's is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symroof.specs.catalogue import is_path, located
from symroof.specs.strict_yaml import Location
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import ALIASES, INPUTS

PLAIN = ("model", "hardware", "preset", "assume_family")
GIVEN = frozenset({*PLAIN, "weights", "kv", "activations", *INPUTS, *QUANTITIES, *ALIASES})
"""Names that are no counting choice: a case's devices and models, precisions, symbols."""
CHOICES = frozenset({*SWITCHES, "detail"})


def is_switch(name: str, value: object) -> bool:
    """Whether a name of a case is a counting choice; a name that is something else too is one only where its value is one of the choice's.

    >>> is_switch("attention", "full"), is_switch("activations", "off"), is_switch("activations", "fp8"), is_switch("prompt", 4)
    (True, True, False, False)
    """
    if name not in CHOICES:
        return False
    return name not in GIVEN or isinstance(value, bool) or str(value) in SWITCHES[name].values


@dataclass
class Spelled:
    """A claim's data with every case spelled out.

    Attributes:
        moved: where a value now is, and where it stood.
        faults: what is wrong, and where.
    """

    data: dict[str, Any]
    moved: dict[Location, Location] = field(default_factory=dict)
    faults: list[tuple[Location, str]] = field(default_factory=list)


def spelled(claim: Mapping[str, Any], base: Path | None) -> Spelled:
    """A claim's data with switches under ``assume`` and paths as seen from a folder; what is no case stays as it is.

    >>> spelled({"quantity": "itl", "given": {"batch": 2, "detail": "weights"}}, None).data["given"]
    {'batch': 2, 'assume': {'detail': 'weights'}}
    """
    found = Spelled(dict(claim))
    for place, case in _cases(claim):
        _put(found.data, place, _spelled(found, case, place, base))
    return found


def _cases(claim: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Every case of a claim, with its place."""
    for name in ("given", "needs"):
        yield (name,), claim.get(name, {})
    for i, case in _listed(claim.get("between")):
        yield ("between", i), case
    for i, step in _listed(claim.get("steps")):
        yield ("steps", i, "given"), step.get("given", {})


def _listed(items: object) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(items, (list, tuple)):
        yield from ((i, item) for i, item in enumerate(items) if isinstance(item, Mapping))


def _spelled(found: Spelled, case: object, place: Location, base: Path | None) -> object:
    if not isinstance(case, Mapping):
        return case  # said where claims are validated
    read: dict[str, Any] = {}
    switches = {name: value for name, value in case.items() if is_switch(str(name), value)}
    for name, value in case.items():
        if name not in switches:
            read[name] = str(located(value, base)) if name in PLAIN and isinstance(value, str) and is_path(value, base) else value
    assumed = case.get("assume", {})
    if not switches or not isinstance(assumed, Mapping):
        return read
    for name in switches:
        if name in assumed:
            found.faults.append(((*place, name), f"{name} is said twice, here and under assume"))
        found.moved.setdefault((*place, "assume"), (*place, name))
        found.moved[*place, "assume", name] = (*place, name)
    return {**read, "assume": {**assumed, **switches}}


def _put(data: dict[str, Any], place: tuple[str | int, ...], case: object) -> None:
    """Set a case at its place, copying what lies on the way: the claim as it was read stays."""
    if not case:
        return
    head, *rest = place
    inner: Any = data
    for key in (head, *rest[:-1]) if rest else ():
        inner[key] = list(inner[key]) if isinstance(inner[key], (list, tuple)) else dict(inner[key])
        inner = inner[key]
    inner[place[-1]] = case
