"""The order of a model's kinds of layer: a pattern of labels that repeats and may be cut off where the layers end."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, TypeVar

from symroof.errors import nearest
from symroof.specs.fields import Fault

T = TypeVar("T")

MOST_LAYERS = 1000
"""Layers of one model: each has its place in the order. The deepest of the catalogue has a tenth of them, and reading so many takes half a second."""


def repeat_to_length(pattern: Sequence[T], length: int) -> tuple[T, ...]:
    """A pattern again and again, cut off at a length.

    >>> repeat_to_length(["local", "local", "global"], 5)
    ('local', 'local', 'global', 'local', 'local')
    """
    return tuple(islice(cycle(pattern), length))


def shortest_pattern(sequence: Sequence[T]) -> tuple[T, ...]:
    """The fewest first entries that make the whole sequence by repeating; all of them where no pattern comes twice.

    >>> shortest_pattern("aabaabaa")
    ('a', 'a', 'b')
    """
    whole, length = tuple(sequence), len(sequence)
    periods = (n for n in range(1, length // 2 + 1) if whole[n:] == whole[:-n])
    return whole[: next(periods, length)]


def distinct_layers(layers: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[int]]:
    """Equal layers as one kind with their number, in order of first appearance; and for each layer which of the kinds it is.

    >>> distinct_layers([{"ffn": "moe"}, {"ffn": "dense"}, {"ffn": "moe"}])
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


def order_faults(order: Sequence[str], counts: Mapping[str, int]) -> list[Fault]:
    """What keeps a pattern from being the order of a model's layers, at its place in the spec."""
    n_layers = sum(counts.values())
    if n_layers > MOST_LAYERS:
        most = f"at most {MOST_LAYERS:,} can be laid out"
        return [(("layers",), f"hold {n_layers:,} layers in all; {most}")]
    unknown: list[Fault] = []
    for i, label in enumerate(order):
        if label not in counts:
            message = f"no kind of layer has the label {label[:40]!r}; {nearest(label, counts)}"
            unknown.append((("order", i), message.removesuffix("; ")))
    if unknown or not order:
        return unknown
    if len(order) > n_layers:
        return [(("order",), f"has {len(order):,} entries for {n_layers:,} layers")]
    made = Counter(repeat_to_length(order, n_layers))
    wrong = [
        f"{made[label]:,} {label} instead of {count:,}"
        for label, count in counts.items()
        if made[label] != count
    ]
    message = f"repeated over {n_layers:,} layers makes {', '.join(wrong)}"
    return [(("order",), message)] if wrong else []
