"""A step is a list of segments ``(requests, new tokens, past tokens)``; their drivers are defined once for all steps.

Prefill, decode and all other steps (verification, chunked) differ only in their segments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy

from symroof.symbolic.expressions import ONE, ZERO, Expr, substitute, symbol
from symroof.symbolic.reading import parse
from symroof.theory.switches import Assumptions
from symroof.theory.theory_files import section, table


@dataclass(frozen=True)
class Segment:
    """``requests`` requests that each add ``new`` tokens to ``past`` tokens already cached; ``passes.yaml`` says what the fields mean."""

    requests: str
    new: str
    past: str
    phase: str = "token"
    logits: str | None = None
    rows: str = "1"
    spread: Mapping[str, str] | None = None
    shared: bool = False
    group: str | None = None


@dataclass(frozen=True)
class AttentionReach:
    """The limit on the keys that a query sees, and its symbol: a sliding ``window``, its ``chunk``, the ``top`` keys by a score, or
    ``compressed`` entries, each made of so many tokens; ``top_compressed`` are the top ones of these, ``rate`` the symbol of the tokens of one."""

    kind: str
    symbol: str
    rate: str = ""

    @property
    def letters(self) -> dict[str, Expr]:
        """What the letters of formulas below stand for."""
        return {"w": symbol(self.symbol)} | ({"c": symbol(self.rate)} if self.rate else {})

    @property
    def rules(self) -> Mapping[str, Any]:
        """Its formulas over these letters."""
        return REACHES[self.kind]

    @property
    def slides(self) -> bool:
        """Whether a layer keeps no more than it sees, by counting choice."""
        return isinstance(self.rules["kept"], Mapping)


@dataclass(frozen=True)
class ExpertPool:
    """A pool of experts: the symbols of how many there are and how many a token uses."""

    experts: str
    taken: str


DriverScope = AttentionReach | ExpertPool | None
"""The properties of a layer kind that a driver depends on."""


@dataclass(frozen=True)
class Step:
    """One forward pass: its name, the prefix of its quantities, its segments."""

    name: str
    segments: tuple[Segment, ...]


STEPS = tuple(
    Step(name, tuple(Segment(**fields) for fields in segments))
    for name, segments in table("passes")["steps"].items()
)
"""The steps, in their order."""
PLAIN_DRIVERS: Mapping[str, Any] = table("passes")["drivers"]
REACHES: Mapping[str, Mapping[str, Any]] = table("passes")["reaches"]
EXPERTS_READ: dict[str, str] = next(
    entry.fields["choose"]["experts"] for entry in section("define") if entry.name == "experts_read"
)
"""Experts per layer that the tokens of a decode step read, by counting choice."""
DRIVERS = ("tokens", "pairs", "span", "logit_rows", "experts_read", "state_moves")
"""The drivers of rows of the operator table; each is a quantity of every step."""


def over(text: str, parts: dict[str, Expr]) -> Expr:
    return substitute(parse(text), parts)


def _causal(parts: dict[str, Expr], rules: Mapping[str, Any]) -> Expr:
    """Pairs under the causal mask: the keys seen by all queries up to the end minus those of past queries."""
    if "first_queries" not in rules:
        return over("r*(n*p + n*(n + 1)/2)", parts)
    end = parts["p"] + parts["n"]
    if parts["n"] == ONE:
        return parts["r"] * over(rules["one_query"], {**parts, "x": end})
    upto_end, past = (over(rules["first_queries"], {**parts, "x": x}) for x in (end, parts["p"]))
    return parts["r"] * (upto_end - past)


def driver(
    step: Step,
    per: str,
    scope: DriverScope,
    assumptions: Assumptions,
    phase: str | None = None,
    tokens: str = "",
) -> Expr:
    """A driver of a step, summed over its segments, or over those of one ``phase``; ``tokens`` is the name of those
    that use experts, if they are not all of the step.

    >>> from symroof.symbolic.printing import text
    >>> from symroof.theory.switches import assume
    >>> text(driver(STEPS[1], "pairs", None, assume())), text(driver(STEPS[1], "span", AttentionReach("window", "window"), assume()))
    ('batch*context', 'batch*min(context, window)')
    """
    if isinstance(scope, ExpertPool):
        parts = {
            "n_experts": symbol(scope.experts),
            "experts_per_token": symbol(scope.taken),
            "decode_tokens": symbol(tokens or f"{step.name}_tokens"),
        }
        return over(EXPERTS_READ[assumptions["experts"]], parts)
    segments = [segment for segment in step.segments if phase in (None, segment.phase)]
    return sympy.Add(*(_of_segment(each, per, scope, assumptions) for each in segments))


def _of_segment(
    segment: Segment, per: str, reach: AttentionReach | None, assumptions: Assumptions
) -> Expr:
    letters = zip("rnpz", (segment.requests, segment.new, segment.past, segment.rows), strict=True)
    parts = {letter: parse(formula) for letter, formula in letters}
    parts |= reach.letters if reach else {}
    growing = assumptions["kv_growth"] == "growing"
    if segment.spread and reach and per in ("pairs", "span") and growing:
        # the mean of the keys of all steps, for one new token; without a mask the rectangle over the cached tokens
        cached = per == "pairs" and assumptions["attention"] == "full"
        seen = REACHES["window" if cached and reach.kind == "chunk" else reach.kind]
        prompt, steps = segment.spread["prompt"], f"max({segment.spread['steps']}, 1)"
        begin, end = (
            over(seen["first_queries"], {**parts, "x": parse(x)})
            for x in (prompt, f"{prompt} + {steps}")
        )
        keys = {"keys": (end - begin) / parse(steps)}
        return over("r*n*keys" if per == "pairs" else "r*(keys + n - 1)", parts | keys)
    rules = reach.rules if reach else REACHES["everything"]
    if per == "pairs" and assumptions["attention"] == "causal":
        return _causal(parts, rules)
    found = rules[per] if per in ("pairs", "span") else PLAIN_DRIVERS[per]
    if per == "logit_rows":
        found = found[segment.logits or assumptions["logits"]]
    return over(found, parts)


WORK_TIMES = {"compute_time": "flops", "memory_time": "bytes"}
"""The times of a pass, a stage or an operator, and the work that each is of."""


def work_time(kind: str, work: Expr, assumptions: Assumptions, attention: Expr = ZERO) -> Expr:
    """The time of one device's FLOPs or bytes alone, by a kind of :data:`WORK_TIMES`: as a step has it, of this work, of which ``attention`` is attention's."""
    parts = {f"{WORK_TIMES[kind]}_per_device": work, "attention_flops_per_device": attention}
    return substitute(_of_each_step(kind, assumptions), parts)


@lru_cache(maxsize=256)
def _of_each_step(name: str, assumptions: Assumptions) -> Expr:
    """The formula that a step has for a quantity, in names of one step."""
    fields = next(entry.fields for entry in section("each_step") if entry.name == name)
    if "formula" in fields:
        return parse(fields["formula"])
    ((switch, formulas),) = fields["choose"].items()
    return parse(formulas[assumptions[switch]])
