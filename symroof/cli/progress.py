"""A bar for long commands, on a terminal and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from symroof.analysis.tracking import Items

T = TypeVar("T")


def bar(items: Items[T], label: str) -> Iterator[T]:
    """The items, with a bar on standard error while they are worked through."""
    with click.progressbar(items, label=label, show_pos=True, file=sys.stderr, hidden=not sys.stderr.isatty()) as shown:
        yield from shown
