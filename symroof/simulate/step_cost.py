"""The time of one step as a fast function of what is in it: the theory's own formula, over the drivers of the step.

The theory sums the drivers of a step (tokens, query-key pairs, cached tokens, rows of logits, states) over its segments, and makes times
of them. Here the drivers are summed over the requests that really are in a step, by the same formulas of one segment, and put into the
same formula of the time, printed once as a Python function of floats and once as one of NumPy arrays.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from symroof.errors import InputError, Problem
from symroof.symbolic.code import python
from symroof.symbolic.evaluation import NoValue, function
from symroof.symbolic.expressions import Expr, inline, names, number, substitute
from symroof.symbolic.kernels import FUNCTIONS
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.dependence import Dependence
from symroof.theory.devices import GROUP, PASS, Devices
from symroof.theory.stages import Pipeline
from symroof.theory.steps import STEPS, AttentionReach, ExpertPool, Segment, Step, driver
from symroof.theory.totals import totals

FLOATS: dict[str, Any] = {
    **FUNCTIONS,
    "max": max,
    "min": min,
    "pow": operator.pow,
    "div": operator.truediv,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
}
"""What the code of a formula calls, over single floats: a step takes microseconds."""

REMEMBERED = 1 << 16
"""Requests of which it is remembered what they add: lengths and contexts recur."""

PIECE = Step("piece", (Segment("1", "piece_new", "piece_past", "prompt", rows="piece_rows"),))
"""One request that is prefilled."""


def token_step(tokens: int) -> Step:
    """One request that decodes: one token, or those of a verification."""
    return Step("token", (Segment("1", str(tokens), "token_past"),))


OF_PIECE, OF_TOKEN = ("piece_new", "piece_past", "piece_rows"), ("token_past",)


def inlined(case: Case, tree: Expr, free: Sequence[str]) -> Expr:
    """A formula of a case over some free names alone: what they do not move is a number.

    Raises:
        NoValue: something has no value here.
    """
    keys, dependence = frozenset(free), Dependence(case)

    def formula(name: str, changed: frozenset[str]) -> Expr | None:
        moving = keys | changed
        if name in moving:
            return None
        if not dependence.moves(name, moving):
            return number(Fraction(case.value(name)))
        return case.formula(name, moving)

    return inline(tree, formula)


def printed(tree: Expr, free: Sequence[str], functions: Mapping[str, Any]) -> Callable[..., Any]:
    """A formula over its free names as a function of them, in their order."""
    if unbound := [name for name in names(tree) if name not in free]:
        raise NoValue(f"needs {', '.join(unbound)}")
    return function(python(tree, tuple(free)), functions)


@dataclass(frozen=True)
class Driver:
    """A driver of the step as the formula asks for it.

    Attributes:
        feature: the place of what it sums, among the features of a request.
        phase: whose segments it sums: ``prompt``, ``token``, or both where it is None.
        part: of one ``group``, of one ``pass`` through a stage, or of all where it is empty.
    """

    name: str
    feature: int
    phase: str | None
    part: str


class StepCost:
    """The time of a step of the theory at any requests.

    A request adds its features to a step: one number for each kind of driver. :meth:`of_piece` and :meth:`of_token` have them for a piece of a
    prompt and for a decoding request; :meth:`time` makes a time of the sums.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096, batch=8)
    >>> cost = StepCost(study.first.case)
    >>> features = [8*x for x in cost.of_token(4096)]
    >>> abs(cost.time(cost.nothing, features, 8)/float(study.value("itl")) - 1) < 1e-12
    True

    Args:
        step: ``loaded``, a step that decodes and may prefill, or ``prefill``.

    Attributes:
        decoded, gained: tokens that a decoding request computes in a step, and that it gains in the mean; more than one with drafts.

    Raises:
        InputError: the case lacks something that a time needs.
    """

    def __init__(self, case: Case, step: str = "loaded") -> None:
        self.case, self.prefill = case, step == "prefill"
        theory = case.theory
        table = totals(theory.architecture, theory.assumptions, theory.layout)
        self.devices = (
            Pipeline(table, theory.layout)
            if theory.layout.staged
            else Devices(table, theory.layout)
        )
        self.step = next(known for known in STEPS if known.name == step)
        self.groups = int(case.value("attention_dp")) if theory.layout.attention_dp else 1
        self.stages = int(case.value("pp")) if theory.layout.staged else 1
        self._fixed = theory.assumptions["kv_growth"] == "fixed"
        self.decoded, self.gained = (
            int(case.value("decoded_tokens")),
            float(case.value("gained_tokens")),
        )
        kinds = dict.fromkeys(
            (per, scope)
            for per, scope, _ in table.drivers(self.step)
            if not isinstance(scope, ExpertPool)
        )
        self.features = tuple(kinds)
        self.drivers = tuple(self._drivers())
        self.reaches = tuple(
            (
                scope.kind,
                int(case.value(scope.symbol)),
                int(case.value(scope.rate)) if scope.rate else 1,
            )
            for scope in dict.fromkeys(
                scope for _, scope in kinds if isinstance(scope, AttentionReach)
            )
        )
        self.nothing = (0.0,) * len(self.features)
        free = [driver.name for driver in self.drivers] + ["prefill_batch"] * self.prefill
        time = parse(
            "prefill_time + prefill_overhead"
            if self.prefill
            else f"{step}_time(loaded_draft_time = 0)"
        )
        try:
            self._free, self._tree = free, inlined(case, time, free)
            self._time = printed(self._tree, free, FLOATS)
            self.of_piece = self._of_request(PIECE, OF_PIECE)
            self._of_token = self._of_request(token_step(self.decoded), OF_TOKEN)
            self._drafting = (
                printed(inlined(case, parse("loaded_draft_time"), ("batch",)), ("batch",), FLOATS)
                if self.decoded > 1
                else None
            )
            self._context = float(case.value("context")) if self._fixed else 0.0
        except NoValue as error:
            raise InputError(Problem("simulate", f"this case has no step times: {error}")) from None
        self._arrays: Callable[..., Any] | None = None
        self._alone = self.groups == 1 and self.stages == 1
        self._order = [(driver.feature, driver.phase) for driver in self.drivers]
        self._plan = [(driver.feature, driver.phase, driver.part) for driver in self.drivers]

    def _drivers(self) -> list[Driver]:
        """The drivers of the whole step, of a group and of a pass, by the names that the formula has for them."""
        found: dict[str, Driver] = {}
        for per, scope, alone in self.devices.totals.drivers(self.step):
            if isinstance(scope, ExpertPool):
                continue
            feature = self.features.index((per, scope))
            whole = self.devices.totals.driver_name(self.step, per, scope, alone)
            found[whole] = Driver(whole, feature, alone, "")
            for pooled in (True, False):
                name = self.devices.driver_name(self.step, per, scope, alone, pooled)
                if name != whole:
                    found[name] = Driver(
                        name, feature, alone, GROUP if self.groups > 1 and not pooled else PASS
                    )
        return list(found.values())

    def _of_request(self, step: Step, free: tuple[str, ...]) -> Callable[..., tuple[float, ...]]:
        """What one request adds to each feature, as a function of its own tokens."""
        phase = step.segments[0].phase
        parts = []
        for per, scope in self.features:
            tree = driver(step, per, scope, self.case.theory.assumptions, phase)
            if isinstance(scope, AttentionReach):
                tree = substitute(
                    tree,
                    {
                        symbol: number(Fraction(self.case.value(symbol)))
                        for symbol in (scope.symbol, scope.rate)
                        if symbol
                    },
                )
            parts.append(printed(tree, free, FLOATS))

        @lru_cache(maxsize=REMEMBERED)
        def features(*numbers: float) -> tuple[float, ...]:
            return tuple(float(part(None, *numbers)) for part in parts)

        return features

    def draft_time(self, decoding: int) -> float:
        """The time to draft for so many decoding requests, at the mean context of the case."""
        return float(self._drafting(None, float(decoding))) if self._drafting and decoding else 0.0

    def of_token(self, context: float) -> tuple[float, ...]:
        """What a decoding request that sees so many keys adds to a step."""
        return self._of_token((self._context if self._fixed else context) - 1)

    def even_steps(self, context: float) -> float:
        """The steps for which what a decoding request adds moves evenly from here on."""
        return (self.until(context) - context) // self.gained + 1

    def until(self, context: float) -> float:
        """The largest context up to which what a decoding request adds moves evenly from here on."""
        ends = [math.inf]
        for kind, reach, rate in () if self._fixed else self.reaches:
            if kind == "compressed" or (kind == "top_compressed" and context < reach * rate):
                each = reach if kind == "compressed" else rate
                ends.append((context // each + 1) * each - 1)
            elif kind != "top_compressed" and context < reach:
                ends.append(reach if kind == "chunk" else reach - 1)
            elif kind == "chunk":
                ends.append(math.ceil(context / reach) * reach)
        return min(ends)

    def slope(self, context: float) -> tuple[float, ...]:
        """What a decoding request adds more to each step, as its context grows, as far as that is even."""
        if self._fixed or self.even_steps(context) <= 1:
            return self.nothing
        return tuple(
            b - a
            for a, b in zip(
                self.of_token(context), self.of_token(context + self.gained), strict=True
            )
        )

    # ---------------------------------------------------------------------------------------------------------- time

    def time(
        self, prompt: Sequence[float], token: Sequence[Any], decoding: int, requests: int = 0
    ) -> Any:
        """The time of a step of one group.

        Args:
            prompt: features of the pieces in it.
            token: features of its decoding requests: floats.
            decoding: how many decode.
            requests: of a prefill, how many prompts.
        """
        if self._alone:
            both = [p + d for p, d in zip(prompt, token, strict=True)]
            arguments = [
                both[f] if phase is None else (prompt if phase == "prompt" else token)[f]
                for f, phase in self._order
            ]
            return (
                self._time(None, *arguments, requests or 1)
                if self.prefill
                else self._time(None, *arguments)
            )
        return self.slowest([prompt], [token], [decoding], [requests])

    def slowest(
        self,
        prompts: Sequence[Sequence[float]],
        tokens: Sequence[Sequence[Any]],
        decoding: Sequence[int],
        requests: Sequence[int] = (),
    ) -> Any:
        """The time of a step of several groups, as long as the slowest takes; experts are read for the tokens of all."""
        return max(
            self._time(None, *arguments)
            for arguments in self._arguments(prompts, tokens, decoding, requests)
        )

    def times(
        self,
        prompts: Sequence[Sequence[float]],
        tokens: Sequence[Sequence[Any]],
        decoding: Sequence[int],
        steps: int,
    ) -> Any:
        """The times of several steps one after the other, where features are arrays with a place for each."""
        import numpy as np

        if self._arrays is None:
            self._arrays = printed(self._tree, self._free, FUNCTIONS)
        slowest = reduce(
            np.maximum,
            (
                self._arrays(None, *arguments)
                for arguments in self._arguments(prompts, tokens, decoding, ())
            ),
        )
        return np.broadcast_to(slowest, (steps,))

    def _arguments(
        self,
        prompts: Sequence[Sequence[float]],
        tokens: Sequence[Sequence[Any]],
        decoding: Sequence[int],
        requests: Sequence[int],
    ) -> list[list[Any]]:
        """What the formula takes, for each group."""
        prompt, token = _sums(prompts), _sums(tokens)
        prompt_pass, token_pass = prompt, token
        if self.stages > 1:
            if self.prefill:  # prompts go through the stages one by one
                prompts = [
                    [x / count for x in column] if count else column
                    for column, count in zip(prompts, requests, strict=True)
                ]
            else:
                prompts = [[x / self.stages for x in column] for column in prompts]
            shares = [
                math.ceil(count / self.stages) / count if count else 1.0 for count in decoding
            ]
            tokens = [
                [x * share for x in column] for column, share in zip(tokens, shares, strict=True)
            ]
            prompt_pass, token_pass = _sums(prompts), _sums(tokens)
        last = [max(requests) * self.groups] if self.prefill else []
        found = []
        for of_prompts, of_tokens in zip(prompts, tokens, strict=True):
            sources = {
                "": (prompt, token),
                PASS: (prompt_pass, token_pass),
                GROUP: (of_prompts, of_tokens),
            }
            arguments: list[Any] = []
            for feature, phase, part in self._plan:
                p, d = sources[part]
                arguments.append(
                    p[feature] + d[feature]
                    if phase is None
                    else p[feature]
                    if phase == "prompt"
                    else d[feature]
                )
            found.append(arguments + last)
        return found


def _sums(columns: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The features of all groups together."""
    return (
        columns[0] if len(columns) == 1 else [sum(column) for column in zip(*columns, strict=True)]
    )


def request_share(case: Case) -> Callable[[int], float]:
    """The share of a group's memory beside the weights that a request takes at its longest context; nothing where memory is not known.

    >>> from symroof.analysis.study import Study
    >>> case = Study("llama-3-8b", "h100-sxm", prompt=4096, output=512).first.case
    >>> share = request_share(case)
    >>> int(1/share(4096 + 511)) == case.value("concurrency")
    True
    """
    free = ("peak_context",)
    stages = [
        name.removeprefix("request_bytes_per_device")
        for name in case.theory.definitions
        if name.startswith("request_bytes_per_device.")
    ]
    room = "usable_memory_per_device - memory_reserve - weight_bytes_per_device"
    shares = [f"request_bytes_per_device{stage}/({room}{stage})" for stage in stages or [""]]
    text = shares[0] if len(shares) == 1 else f"max({', '.join(shares)})"
    try:
        share = printed(inlined(case, parse(text), free), free, FLOATS)
        share(None, 1.0)
    except (NoValue, ZeroDivisionError):
        return lambda context: 0.0
    return lambda context: float(share(None, float(context)))


__all__ = ["FLOATS", "Driver", "StepCost", "inlined", "printed", "request_share"]
