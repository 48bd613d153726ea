"""Progress of long work: it iterates through a tracker that its caller supplies."""

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Track(Protocol):
    """Yields the items one by one, and may show under a label how many are done."""

    def __call__(self, items: Collection[T], label: str) -> Iterable[T]: ...


def untracked(items: Collection[T], label: str) -> Iterable[T]:
    """The items, without any display."""
    return items
