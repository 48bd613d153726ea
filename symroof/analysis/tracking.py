"""How long work lets its caller follow it: it goes through its items by what the caller hands in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Items(Protocol[T_co]):
    """What has a length and can be gone through."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[T_co]: ...


class Track(Protocol):
    """Yields the items one by one, and may show under a label how many are done."""

    def __call__(self, items: Items[T], label: str) -> Iterable[T]: ...


def untracked(items: Items[T], label: str) -> Iterable[T]:
    """The items, and nothing is shown."""
    return items
