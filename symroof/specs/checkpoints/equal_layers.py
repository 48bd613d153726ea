"""Layers that a file describes one by one, as the kinds of a model spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def collected(layers: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[int]]:
    """Equal layers as one kind with their number, in order of first appearance; and for each layer which of the kinds it is.

    >>> collected([{"ffn": "moe"}, {"ffn": "dense"}, {"ffn": "moe"}])
    ([{'count': 2, 'ffn': 'moe'}, {'count': 1, 'ffn': 'dense'}], [0, 1, 0])
    """
    kinds: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    order = []
    for layer in layers:
        number = numbers.setdefault(repr(layer), len(kinds))
        if number == len(kinds):
            kinds.append({"count": 0, **layer})
        kinds[number]["count"] += 1
        order.append(number)
    return kinds, order
