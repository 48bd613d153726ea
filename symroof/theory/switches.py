"""Counting choices: named switches with named values; the first value is the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from symroof.theory.theory_files import section


@dataclass(frozen=True)
class Switch:
    """One counting choice: its name and, for each value, the meaning."""

    name: str
    values: dict[str, str]

    @property
    def default(self) -> str:
        return next(iter(self.values))


SWITCHES: dict[str, Switch] = {
    entry.name: Switch(entry.name, entry.fields) for entry in section("switches")
}

DETAIL: dict[str, dict[str, str]] = {entry.name: entry.fields for entry in section("detail")}
"""``detail`` sets four switches at once."""


@dataclass(frozen=True)
class Assumptions:
    """The value of every switch, and which ones were chosen; the others are defaults."""

    values: tuple[tuple[str, str], ...]
    chosen: frozenset[str] = frozenset()

    def __getitem__(self, switch: str) -> str:
        return self._by_name[switch]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return dict(self.values)

    def defaulted(self, switch: str) -> bool:
        return switch not in self.chosen

    def holds(self, conditions: tuple[tuple[str, str], ...]) -> bool:
        """Whether all listed switches have the listed values."""
        return all(self[switch] == value for switch, value in conditions)

    def replaced(self, **changes: str) -> Assumptions:
        """The same assumptions with some switches set, ``detail`` included."""
        chosen = expand_detail(changes)
        return Assumptions(tuple((dict(self.values) | chosen).items()), self.chosen | set(chosen))


def expand_detail(choices: dict[str, str]) -> dict[str, str]:
    """``{'detail': 'weights', 'logits': 'all'}`` as plain switches; a switch named beside ``detail`` wins.

    Raises:
        KeyError: an unknown switch or value; ``args`` are (what, given, known names).
    """
    chosen: dict[str, str] = {}
    if "detail" in choices:
        if choices["detail"] not in DETAIL:
            raise KeyError("value of detail", choices["detail"], tuple(DETAIL))
        chosen |= DETAIL[choices["detail"]]
    for switch, value in choices.items():
        if switch == "detail":
            continue
        if switch not in SWITCHES:
            raise KeyError("assumption", switch, (*SWITCHES, "detail"))
        if value not in SWITCHES[switch].values:
            raise KeyError(f"value of {switch}", value, tuple(SWITCHES[switch].values))
        chosen[switch] = value
    return chosen


def assume(**choices: str) -> Assumptions:
    """Assumptions from choices, the rest defaulted.

    >>> assume(detail="weights")["kv_traffic"], assume().defaulted("attention")
    ('off', True)
    """
    return Assumptions(tuple((name, switch.default) for name, switch in SWITCHES.items())).replaced(
        **choices
    )
