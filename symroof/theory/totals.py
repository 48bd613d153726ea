"""From the operator table to definitions: coefficients, parameters, and each step's drivers, FLOPs and bytes.

A coefficient is the cost of all layers together per unit of a driver (``kv_bytes_per_token``); a step's total is the sum of
coefficients times drivers. This keeps closed forms short.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import sympy

from symroof.symbolic.expressions import ONE, ZERO, Expr, substitute, symbol
from symroof.symbolic.reading import parse
from symroof.theory.architecture import Architecture
from symroof.theory.layout import Layout
from symroof.theory.operator_table import (
    GATHERED,
    KEPT_WIDTH,
    WIDTH,
    PlacedRow,
    counted_traffic,
    idle_parameters,
    parameters,
    placed_rows,
    total,
    width_of,
)
from symroof.theory.steps import (
    DRIVERS,
    REACHES,
    STEPS,
    AttentionReach,
    DriverScope,
    ExpertPool,
    Step,
    driver,
)
from symroof.theory.switches import Assumptions
from symroof.theory.theory_files import table

COEFFICIENTS: dict[tuple[str, str], str] = {
    (stream, per): name
    for stream, names in table("passes")["coefficients"].items()
    for per, name in names.items()
}
"""The readable coefficient of each (stream, driver)."""
ALWAYS_READ = "fixed_weight_bytes"
"""The coefficient of the weights outside the experts, if there are any."""

NOTHING = (
    "attention_flops_per_pair",
    "score_bytes_per_pair",
    "kv_bytes_per_token",
    "kv_bytes_per_added_token",
    "kv_cache_bytes",
    "state_bytes",
    "expert_layers",
)
"""Defined as zero if no row defines them."""

Key = tuple[str, str, DriverScope]
BATCH = symbol("batch")


@dataclass(frozen=True)
class Totals:
    """The definitions from one architecture's table under one set of assumptions."""

    architecture: Architecture
    assumptions: Assumptions
    placed: tuple[PlacedRow, ...] = field(default=())
    again: tuple[PlacedRow, ...] = field(default=())
    """Tables at both ends of a pipeline: the second copy."""

    @cached_property
    def counted(self) -> tuple[PlacedRow, ...]:
        """The rows whose FLOPs or bytes count."""
        return tuple(row for row in self.placed if counted_traffic(row, self.assumptions))

    def groups(self, phase: str) -> dict[Key, list[PlacedRow]]:
        """The rows of one phase, by stream, driver, and window or pool; rows without phase are in all."""
        if phase not in self._grouped:
            by_key = self._grouped[phase] = {}
            for row in self.placed:
                if row.stream != "params" and row.phase in (None, phase):
                    by_key.setdefault((row.stream, row.per, row.scope), []).append(row)
        return self._grouped[phase]

    @cached_property
    def _grouped(self) -> dict[str, dict[Key, list[PlacedRow]]]:
        return {}

    @cached_property
    def coefficient_names(self) -> dict[str, dict[Key, str]]:
        """The coefficient's name for each group of each phase. That of a prompt has a separate name if it differs."""
        tokens, prompt = self.groups("token"), self.groups("prompt")
        names = {key: self._name(key, tokens) for key in tokens}
        of_prompt = {
            key: names[key]
            if tokens.get(key) == rows
            else _dotted(self._name(key, prompt), "prompt")
            for key, rows in prompt.items()
        }
        return {"token": names, "prompt": of_prompt}

    def _name(self, key: Key, groups: dict[Key, list[PlacedRow]]) -> str:
        stream, per, _ = key
        alike = [other for other in groups if other[:2] == key[:2]]
        always = key[:2] == ("weights", "once") and self.has_experts
        name = ALWAYS_READ if always else COEFFICIENTS[stream, per]
        return f"{name}.{self._telling_label(key, alike, groups)}" if len(alike) > 1 else name

    def _telling_label(self, key: Key, alike: list[Key], groups: dict[Key, list[PlacedRow]]) -> str:
        """What tells a group from others of its stream and driver: its layer, what its queries reach, or both."""

        def label(other: Key, parts: tuple[bool, bool]) -> str:
            reach = other[2].rules["word"] if isinstance(other[2], AttentionReach) else "any"
            words = (groups[other][0].layer or "all", reach)
            return "_".join(word for word, told in zip(words, parts, strict=True) if told)

        for parts in ((True, False), (False, True)):
            if sum(label(other, parts) == label(key, parts) for other in alike) == 1:
                return label(key, parts)
        return label(key, (True, True))

    @cached_property
    def has_experts(self) -> bool:
        return any(row.per == "experts_read" for row in self.placed)

    def definitions(self) -> Iterator[tuple[str, Expr]]:
        """All definitions from the table, by name."""
        yield from ((name, ZERO) for name in NOTHING)
        yield from self.counting()
        yield from self._coefficients()
        for step in STEPS:
            yield from self._step(step)
        named, kept = self.coefficient_names["token"], self.assumptions["window_cache"]
        parts = [(symbol(named[key]), key[2], kept) for key in named if key[0] == "kv"]
        if parts:
            yield "kv_cache_bytes", sympy.Add(*itertools.starmap(resident, parts))
            yield "kv_bytes_per_added_token", sympy.Add(*itertools.starmap(added, parts))
        if any(row.stream == "state" for row in self.placed):
            yield "state_bytes", parse("batch*state_bytes_per_request")
        yield from self._attention()
        if self.has_experts:
            routed = [row for row in self.placed if row.pooled and row.per == "tokens"]
            for stream, what in (("flops", "flops"), ("activations", "activation_bytes")):
                own = total(row for row in routed if row.stream == stream)
                yield f"expert_{what}_per_token", own

    def counting(self) -> Iterator[tuple[str, Expr]]:
        """The definitions needed to count parameters: parameters and layers."""
        layers = self.architecture.layers
        if len(layers) > 1:
            yield "n_layers", sympy.Add(*(symbol(layer.symbol("n_layers")) for layer in layers))
        yield from self._parameters()

    def _parameters(self) -> Iterator[tuple[str, Expr]]:
        held = [row for row in self.placed if row.stream == "params"]
        yield "params", parameters(held)
        tied = "tied_embeddings" in self.architecture.traits
        tables = GATHERED if tied else ("embedding", *GATHERED)
        gathered = [row for row in held if row.operator in tables]
        yield "active_params", symbol("params") - idle_parameters(held) - total(gathered)
        if self.architecture.kept is not None:
            narrow = [row for row in held if row.width != KEPT_WIDTH]
            yield "quantized_params", parameters(narrow)
            yield "weight_bytes", _stored_bytes(narrow)
            head = f"d_model*vocab_size*{width_of('lm_head', self.architecture)}"
            yield "layer_weight_bytes", parse(f"(weight_bytes_read - {head})/n_layers")

    def _coefficients(self) -> Iterator[tuple[str, Expr]]:
        for phase in ("token", "prompt"):
            groups = self.groups(phase)
            for key, name in self.coefficient_names[phase].items():
                yield name, total(groups[key])
        tokens = self.coefficient_names["token"]
        for (stream, per), name in COEFFICIENTS.items():
            parts = [symbol(own) for key, own in tokens.items() if key[:2] == (stream, per)]
            if len(parts) > 1:
                yield name, sympy.Add(*parts)
        if self.has_experts:
            read = [row for row in self.placed if row.per == "experts_read"]
            counts = {row.layer: row.count for row in read if row.stream == "weights"}
            yield "expert_layers", sympy.Add(*counts.values())
            drawn = [self._term(STEPS[1], key, "token") for key in tokens if key[0] == "weights"]
            yield "weight_bytes_read", sympy.Add(*drawn)

    # --------------------------------------------------------------------------------------------------------- steps

    def driver_name(
        self, step: Step, per: str, scope: DriverScope, phase: str | None = None
    ) -> str:
        """``prefill_pairs``, ``decode_span.local``, ``mixed_tokens.prompt``; the experts read by a decode step are
        ``experts_read``."""
        name = per if (step.name, per) == ("decode", "experts_read") else f"{step.name}_{per}"
        symbol = scope.experts if isinstance(scope, ExpertPool) else scope.symbol if scope else ""
        reach = scope if isinstance(scope, AttentionReach) else None
        label = symbol.partition(".")[2] or (reach.kind if reach else "")
        within = reach.kind if reach and reach.rate and "." in symbol else ""
        for part in (label, within, phase):
            name = _dotted(name, part) if part else name
        return name

    def _term(self, step: Step, key: Key, phase: str, alone: str | None = None) -> Expr:
        """A coefficient times its driver in one step; ``alone`` where it is the driver of one phase's segments."""
        _, per, scope = key
        coefficient: Expr = symbol(self.coefficient_names[phase][key])
        if per == "once":
            return coefficient
        return coefficient * symbol(self.driver_name(step, per, scope, alone))

    def phases(self, step: Step) -> tuple[str, ...]:
        return tuple(dict.fromkeys(segment.phase for segment in step.segments))

    def parts(self, step: Step) -> list[tuple[Key, str, str | None]]:
        """The groups that count in a step: key, phase, and the phase again if only some segments drive it."""
        counting = {(row.stream, row.per, row.scope) for row in self.counted}
        phases = self.phases(step)
        parts: list[tuple[Key, str, str | None]] = []
        for phase in phases:
            for key, rows in self.groups(phase).items():
                same = all(self.groups(other).get(key) == rows for other in phases)
                if key in counting and not (same and phase != phases[0]):
                    parts.append((key, phase, None if same else phase))
        return parts

    def _step(self, step: Step) -> Iterator[tuple[str, Expr]]:
        """Drivers, FLOPs and bytes of one step."""
        for per, scope, alone in self.drivers(step):
            name = self.driver_name(step, per, scope, alone)
            yield name, driver(step, per, scope, self.assumptions, alone)
        terms: dict[bool, list[Expr]] = {True: [], False: []}
        for key, phase, alone in self.parts(step):
            terms[key[0] == "flops"].append(self._term(step, key, phase, alone))
        yield f"{step.name}_flops", sympy.Add(*terms[True])
        yield f"{step.name}_bytes", sympy.Add(*terms[False])

    def drivers(self, step: Step) -> Iterator[tuple[str, DriverScope, str | None]]:
        """The drivers of a step (tokens, pairs, spans ...), each with its window or pool, and its phase if it is of one only."""
        used: set[tuple[str, DriverScope, str | None]] = {
            (key[1], key[2], alone) for key, _, alone in self.parts(step)
        }
        used |= {
            (key[1], key[2], None) for phase in self.phases(step) for key in self.groups(phase)
        }
        used |= {("tokens", None, None), ("logit_rows", None, None)}
        for per in DRIVERS:
            yield from sorted((each for each in used if each[0] == per), key=_scope_order)

    # ------------------------------------------------------------------------------------------------ caches and sums

    def _attention(self) -> Iterator[tuple[str, Expr]]:
        """Sums over the prefill that are quantities of their own."""
        prefill = STEPS[0]
        keys = self.groups("prompt")
        flops: dict[bool, list[Expr]] = {True: [], False: []}
        for key in keys:
            if key[0] == "flops":
                flops[key[1] == "pairs"].append(self._term(prefill, key, "prompt"))
        yield "prefill_attention_flops", sympy.Add(*flops[True])
        yield "prefill_linear_flops", sympy.Add(*flops[False])
        scores = (key for key in keys if key[:2] == ("activations", "pairs"))
        yield "score_traffic", sympy.Add(*(self._term(prefill, key, "prompt") for key in scores))


def _stored_bytes(narrow: list[PlacedRow]) -> Expr:
    """The resident bytes of a quantized checkpoint: operators with a separate width, other quantized ones, the rest."""
    wide = parse(f"(params - quantized_params)*{KEPT_WIDTH}")
    own = sorted({row.width for row in narrow} - {WIDTH})
    if not own:
        return parse(f"quantized_params*{WIDTH}") + wide
    widths = {width: [row for row in narrow if row.width == width] for width in (*own, WIDTH)}
    held = (parameters(rows) * symbol(width) for width, rows in widths.items())
    return sympy.Add(*held, wide)


def resident(coefficient: Expr, scope: DriverScope, kept: str, requests: Expr = BATCH) -> Expr:
    """The bytes that requests cache at the context, from those of one token; ``kept`` is what a layer with a window, or of chunks, keeps."""
    reach = scope if isinstance(scope, AttentionReach) else None
    found = REACHES["everything"]["kept"] if reach is None else reach.rules["kept"]
    held = parse(found[kept] if reach and reach.slides else found)
    return coefficient * requests * (substitute(held, reach.letters) if reach else held)


def added(coefficient: Expr, scope: DriverScope, kept: str) -> Expr:
    """The bytes that a request caches more where the context is one token longer: none in a full window; of entries for several tokens the mean."""
    if not isinstance(scope, AttentionReach) or not scope.slides:
        return coefficient
    held = resident(coefficient, scope, kept, ONE)
    return substitute(held, {"context": symbol("context") + 1}) - held


def _dotted(name: str, label: str) -> str:
    return f"{name}_{label}" if "." in name else f"{name}.{label}"


def _scope_order(driven: tuple[str, DriverScope, str | None]) -> tuple[str, str]:
    _, scope, alone = driven
    own = scope.experts if isinstance(scope, ExpertPool) else scope.symbol if scope else ""
    return own, alone or ""


def totals(architecture: Architecture, assumptions: Assumptions, layout: Layout) -> Totals:
    """The table of an architecture, ready to be summed."""
    table = placed_rows(architecture, assumptions, layout)
    once, again = (tuple(r for r in table if (r.end == "tied") is tied) for tied in (False, True))
    return Totals(architecture, assumptions, once, again)
