"""Progress of long work: it iterates through a tracker that its caller supplies."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Items(Protocol[T_co]):
    """Sized and iterable."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[T_co]: ...


class Track(Protocol):
    """Yields the items one by one, and may show under a label how many are done."""

    def __call__(self, items: Items[T], label: str) -> Iterable[T]: ...


def untracked(items: Items[T], label: str) -> Iterable[T]:
    """The items, without any display."""
    return items
