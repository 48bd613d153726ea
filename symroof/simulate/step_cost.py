"""The time of one step as a fast function of what is in it: the theory's own formula, over the drivers of the step.

The theory sums the drivers of a step (tokens, query-key pairs, cached tokens, rows of logits, states) over its segments, and makes times
of them. Here the drivers are summed over the requests that really are in a step, by the same formulas of one segment, and put into the
same formula of the time, printed once as a Python function of floats and once as one of NumPy arrays.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, NamedTuple

from symroof.errors import InputError, NoValue, Problem
from symroof.symbolic.evaluation import function, python
from symroof.symbolic.expressions import Expr, inline, names, number, substitute
from symroof.symbolic.kernels import FUNCTIONS
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
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
    keys = frozenset(free)

    def formula(name: str, changed: frozenset[str]) -> Expr | None:
        moving = keys | changed
        if name in moving:
            return None
        if not case.moves(name, moving):
            return number(Fraction(case.value(name)))
        return case.formula(name, moving)

    return inline(tree, formula)


def over_floats(case: Case, text: str, free: str) -> Callable[[float], float]:
    """A formula of a case as a function of one name.

    Raises:
        NoValue: something has no value here.
    """
    made = printed(inlined(case, parse(text), (free,)), (free,), FLOATS)
    return lambda value: float(made(None, float(value)))


def printed(tree: Expr, free: Sequence[str], functions: Mapping[str, Any]) -> Callable[..., Any]:
    """A formula over its free names as a function of them, in their order."""
    if unbound := [name for name in names(tree) if name not in free]:
        raise NoValue(f"needs {', '.join(unbound)}")
    return function(python(tree, tuple(free)), functions)


class Driver(NamedTuple):
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
    prompt and for a decoding request; :meth:`slowest` makes a time of the sums.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096, batch=8)
    >>> cost = StepCost(study.first.case)
    >>> features = [8*x for x in cost.of_token(4096)]
    >>> abs(cost.slowest([cost.nothing], [features], [8])/float(study.value("itl")) - 1) < 1e-12
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
        self.decoded = int(case.value("decoded_tokens"))
        self.gained = float(case.value("gained_tokens"))
        kinds = dict.fromkeys(
            (per, scope)
            for per, scope, _ in table.drivers(self.step)
            if not isinstance(scope, ExpertPool)
        )
        self.features = tuple(kinds)
        self.drivers = tuple(self._drivers())
        scopes = dict.fromkeys(scope for _, scope in kinds if isinstance(scope, AttentionReach))
        self.reaches = tuple(
            (s.kind, int(case.value(s.symbol)), int(case.value(s.rate)) if s.rate else 1)
            for s in scopes
        )
        self.nothing = (0.0,) * len(self.features)
        free = [driver.name for driver in self.drivers] + ["prefill_batch"] * self.prefill
        alone = "prefill_time + prefill_overhead"
        time = parse(alone if self.prefill else f"{step}_time(loaded_draft_time = 0)")
        try:
            self._free, self._tree = free, inlined(case, time, free)
            self._time = printed(self._tree, free, FLOATS)
            self.of_piece = self._of_request(PIECE, OF_PIECE)
            self._of_token = self._of_request(token_step(self.decoded), OF_TOKEN)
            drafting = over_floats(case, "loaded_draft_time", "batch") if self.decoded > 1 else None
            self._context = float(case.value("context")) if self._fixed else 0.0
        except NoValue as error:
            raise InputError(Problem("simulate", f"this case has no step times: {error}")) from None
        self._drafting = drafting
        self._arrays: Callable[..., Any] | None = None
        self._alone = self.groups == 1 and self.stages == 1

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
                    part = GROUP if self.groups > 1 and not pooled else PASS
                    found[name] = Driver(name, feature, alone, part)
        return list(found.values())

    def _of_request(self, step: Step, free: tuple[str, ...]) -> Callable[..., tuple[float, ...]]:
        """What one request adds to each feature, as a function of its own tokens."""
        phase = step.segments[0].phase
        parts = []
        for per, scope in self.features:
            tree = driver(step, per, scope, self.case.theory.assumptions, phase)
            if isinstance(scope, AttentionReach):
                known = filter(None, (scope.symbol, scope.rate))
                values = {name: number(Fraction(self.case.value(name))) for name in known}
                tree = substitute(tree, values)
            parts.append(printed(tree, free, FLOATS))

        @lru_cache(maxsize=REMEMBERED)
        def features(*numbers: float) -> tuple[float, ...]:
            return tuple(float(part(None, *numbers)) for part in parts)

        return features

    def draft_time(self, decoding: int) -> float:
        """The time to draft for so many decoding requests, at the mean context of the case."""
        return self._drafting(decoding) if self._drafting and decoding else 0.0

    def of_token(self, context: float) -> tuple[float, ...]:
        """What a decoding request that sees so many keys adds to a step."""
        return self._of_token((self._context if self._fixed else context) - 1)

    def even_steps(self, context: float) -> float:
        """The steps for which what a decoding request adds moves evenly from here on."""
        return max((self.until(context) - context) // self.gained, 0) + 1

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
        here, next_one = self.of_token(context), self.of_token(context + self.gained)
        return tuple(b - a for a, b in zip(here, next_one, strict=True))

    # ---------------------------------------------------------------------------------------------------------- time

    def slowest(
        self,
        prompts: Sequence[Sequence[float]],
        tokens: Sequence[Sequence[float]],
        decoding: Sequence[int],
        requests: Sequence[int] = (1,),
    ) -> float:
        """The time of a step, as long as the slowest group takes; experts are read for the tokens of all.

        Args:
            prompts: of each group the features of the pieces in it.
            tokens: of each the features of its decoding requests.
            decoding: how many decode.
            requests: of a prefill, how many prompts.
        """
        each = self._arguments(prompts, tokens, decoding, requests)
        return float(max(self._time(None, *arguments) for arguments in each))

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
        each = self._arguments(prompts, tokens, decoding, ())
        slowest = reduce(np.maximum, (self._arrays(None, *arguments) for arguments in each))
        return np.broadcast_to(slowest, (steps,))

    def _arguments(
        self,
        prompts: Sequence[Sequence[float]],
        tokens: Sequence[Sequence[Any]],
        decoding: Sequence[int],
        requests: Sequence[int],
    ) -> list[list[Any]]:
        """What the formula takes, for each group."""
        last = [max(requests) * self.groups] if self.prefill else []
        prompt, token = sums(prompts), sums(tokens)
        if self._alone:
            return [[_part(prompt, token, f, phase) for _, f, phase, _ in self.drivers] + last]
        if self.stages > 1:
            # prompts of a prefill go through the stages one by one
            parts = requests if self.prefill else [self.stages] * len(prompts)
            prompts = [_scaled(p, 1 / (n or 1)) for p, n in zip(prompts, parts, strict=True)]
            shares = (math.ceil(n / self.stages) / n if n else 1.0 for n in decoding)
            tokens = [_scaled(t, share) for t, share in zip(tokens, shares, strict=True)]
        sources = {"": (prompt, token), PASS: (sums(prompts), sums(tokens))}
        found = []
        for own in zip(prompts, tokens, strict=True):
            sources[GROUP] = own
            found.append(
                [_part(*sources[part], f, phase) for _, f, phase, part in self.drivers] + last
            )
        return found


def _part(prompt: Sequence[Any], token: Sequence[Any], feature: int, phase: str | None) -> Any:
    """A feature of the prompts, of the requests that decode, or of both."""
    if phase is None:
        return prompt[feature] + token[feature]
    return (prompt if phase == "prompt" else token)[feature]


def _scaled(column: Sequence[Any], share: float) -> list[Any]:
    return [x * share for x in column]


def sums(columns: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The features of several together."""
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
    each = "request_bytes_per_device"
    stages = [
        name.removeprefix(each) for name in case.theory.definitions if name.startswith(f"{each}.")
    ]
    room = "usable_memory_per_device - memory_reserve - weight_bytes_per_device"
    shares = [f"{each}{stage}/({room}{stage})" for stage in stages or [""]]
    text = shares[0] if len(shares) == 1 else f"max({', '.join(shares)})"
    try:
        share = over_floats(case, text, "peak_context")
        share(1.0)
    except (NoValue, ZeroDivisionError):
        return lambda context: 0.0
    return share
