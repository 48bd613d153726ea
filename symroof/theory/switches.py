"""Every counting choice is a named switch with named values; the first value is the default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Switch:
    """One counting choice: its name and, for each value, the meaning."""

    name: str
    values: dict[str, str]

    @property
    def default(self) -> str:
        return next(iter(self.values))


SWITCHES: dict[str, Switch] = {
    switch.name: switch
    for switch in (
        Switch("parameters", {"matmul": "what each operator multiplies", "nominal": "2 FLOP per parameter and token, all weights read"}),
        Switch("attention_flops", {"on": "products of queries with keys and of scores with values", "off": "left out"}),
        Switch("attention", {"causal": "only the query-key pairs that the causal mask keeps", "full": "all query-key pairs, the full square"}),
        Switch("kv_traffic", {"on": "the cache is read and written", "off": "left out"}),
        Switch("activations", {"on": "each operator reads its input and writes its output once", "off": "left out"}),
        Switch("fusion", {"flash": "scores stay on the chip", "unfused": "scores and probabilities are written and read"}),
        Switch("logits", {"last": "one row of logits per request", "all": "a row for every position"}),
        Switch("experts", {"expected": "expected number of distinct experts read", "all": "every expert read", "distinct_max": "as many as could be distinct"}),
        Switch("mla", {"absorbed": "latent cache, projections absorbed", "expanded": "keys and values cached in full", "reexpanded": "latent cache, expanded again at every step"}),
        Switch("roofline", {"aggregate": "maximum of the sums: a true lower bound", "per_operator": "sum of the operators' maxima", "no_overlap": "compute and memory time added"}),
        Switch("launches", {"exposed": "kernel launches are added to a step", "hidden": "kernel launches run ahead of the device: the larger of both counts", "graph": "one launch for a whole step"}),
        Switch("queue", {"mm1": "exponential service times: M/M/1", "md1": "constant service times: M/D/1", "mg1": "service times with squared coefficient of variation service_spread: M/G/1"}),
        Switch("scheduling", {"chunked": "chunked prefill: decode steps also prefill chunks of prompts", "exclusive": "a prefill pauses the decode", "disaggregated": "disaggregated prefill, on dedicated devices"}),
        Switch("targets_under", {"load": "targets apply to a server under load", "isolated": "to one request alone"}),
        Switch("kv_growth", {"growing": "each step reads what the steps before it wrote", "fixed": "every step at the same context"}),
        Switch("decode_steps", {"output_minus_one": "the first token comes with the prefill", "output": "a step for every token"}),
        Switch("kv_reserve", {"logical": "what the tokens need", "paged": "whole blocks", "unified": "sliding-window layers reserved in full"}),
    )
}  # fmt: skip

DETAIL: dict[str, dict[str, str]] = {
    level: dict(zip(("parameters", "attention_flops", "kv_traffic", "activations"), values, strict=True))
    for level, values in {
        "exact": ("matmul", "on", "on", "on"),
        "attention": ("nominal", "on", "on", "off"),
        "kv": ("nominal", "off", "on", "off"),
        "weights": ("nominal", "off", "off", "off"),
    }.items()
}
"""``detail`` is a name for four switches at once and nothing more."""


@dataclass(frozen=True)
class Assumptions:
    """The value of every switch, and which of them were chosen; the others are defaults."""

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
        """Whether every listed switch has the listed value."""
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
    return Assumptions(tuple((name, switch.default) for name, switch in SWITCHES.items())).replaced(**choices)
