"""Evidence: published measurements against symroof and its peers; not a part of the package."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
FOLDER = Path(__file__).parent


def filled(name: str, **facts: object) -> str:
    """The page ``pages/NAME.md`` with its facts put in."""
    text = (FOLDER / "pages" / f"{name}.md").read_text(encoding="utf-8")
    return text.format_map(facts)


def grouped(items: Iterable[T], by: Callable[[T], Any]) -> dict[Any, list[T]]:
    """The items that agree in something, by what they agree in, sorted."""
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(by(item), []).append(item)
    return dict(sorted(groups.items()))


def median_error(errors: Iterable[float]) -> float:
    """The median of relative errors, whatever their sign."""
    return statistics.median(map(abs, errors))


def within(errors: Iterable[float], limit: float) -> float:
    """The share of errors that are no larger than a limit."""
    return statistics.mean(abs(error) <= limit for error in errors)


def middle(errors: Sequence[float]) -> str:
    """The median of predicted over measured."""
    return f"{1 + statistics.median(errors):.2f}"
