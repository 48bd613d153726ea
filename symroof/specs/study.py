"""Study specs: what a design review is about."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from sympy import Basic

from symroof.errors import meant_by
from symroof.specs.definitions import ThresholdSpec
from symroof.specs.engine_profile import Engine
from symroof.specs.fields import Faults, Read, Spec, in_unit
from symroof.specs.input_values import Setting, in_domain, setting
from symroof.specs.study_fields import (
    Assume,
    Define,
    Efficiency,
    EfficiencyBlock,
    NameList,
    Parallel,
    Precision,
    PrefillLayout,
    StudySettings,
    Thresholds,
    Workload,
    own_thresholds,
)
from symroof.symbolic.expressions import number
from symroof.theory.declarations import Declarations
from symroof.theory.symbols import GROUPS, INPUTS, TARGET_SYMBOLS, Symbol, canonical

BLOCKS = ("workload", "parallel", "efficiency")

NEEDED: Any = Field(default=None, validate_default=True)
"""A field that a study needs unless it is about a theory of its own."""


STATISTICS = {"mean": None, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
"""What a limit on a latency may be of: the mean, or the share of times that are no longer."""


def split_statistic(value: object) -> tuple[str, object]:
    """The statistic that a limit is of, and the limit: ``{p99: 2 s}`` or ``p99 2 s``; without one it is of the mean.

    >>> split_statistic("p99 2 s"), split_statistic({"p90": "50 ms"}), split_statistic("200 ms")
    (('p99', '2 s'), ('p90', '50 ms'), ('mean', '200 ms'))

    Raises:
        ValueError: no such statistic, or more than one.
    """
    if isinstance(value, dict):
        if len(value) != 1:
            raise ValueError("one statistic and its limit, as in {p99: 2 s}")
        ((name, limit),) = value.items()
    else:
        text = value.strip() if isinstance(value, str) else ""
        found = re.fullmatch(r"(mean|p[\d.]+)[\s:=<]+(\S.*)", text)
        if not found:
            if behind := re.fullmatch(r"(\S.*?)[\s:]+(mean|p[\d.]+)", text):
                raise ValueError(f"the statistic comes first; write '{behind[2]} {behind[1]}'")
            return "mean", value
        name, limit = found.groups()
    if name not in STATISTICS:
        raise ValueError(f"no statistic {str(name)[:20]!r}; there are: {', '.join(STATISTICS)}")
    return str(name), limit


def read_limit(symbol: Symbol, value: object, bare: bool = False) -> tuple[str, Setting]:
    """The statistic and the limit of a target; only times have other statistics than the mean."""
    statistic, limit = split_statistic(value) if symbol.unit == "s" else ("mean", value)
    if isinstance(limit, Basic):
        return statistic, setting(symbol.name, limit, bare=bare)
    read = in_unit(limit, symbol.unit, symbol.written_in, bare and not isinstance(limit, str))
    return statistic, in_domain(symbol, number(read.value))


def _limit(target: str, example: str) -> Read:
    """Marks a field that holds the statistic and the limit of one target; only times have other statistics than the mean."""
    symbol = INPUTS[TARGET_SYMBOLS[target]]
    more: dict[str, Any] = {"description": symbol.meaning, "examples": [example]}
    timed = symbol.unit == "s"
    if timed:
        more["properties"] = {name: {"type": "string"} for name in STATISTICS}
        more |= {"minProperties": 1, "maxProperties": 1, "additionalProperties": False}
    return Read(partial(read_limit, symbol), "string object" if timed else "string", more)


class Targets(Spec):
    """Limits on what is served, each on one metric.

    ``ttft`` and ``itl`` are times, ``itl`` of the last step, in the mean or as a percentile (``{p99: 2 s}``), which simulation decides; ``cost`` is the price of a million output tokens, ``price`` that
    of the devices that hold one copy of the model, ``fleet_price`` that of all devices: a budget. Memory is always a limit.
    """

    ttft: Annotated[Any, _limit("ttft", "200 ms")] | None = None
    itl: Annotated[Any, _limit("itl", "50 ms")] | None = None
    cost: Annotated[Any, _limit("cost", "2 USD")] | None = None
    price: Annotated[Any, _limit("price", "20 USD/hour")] | None = None
    fleet_price: Annotated[Any, _limit("fleet_price", "100 USD/hour")] | None = None


class Traffic(Spec):
    """What simulations draw in place of one length and Poisson arrivals: lengths such as ``lognormal:2048,0.8``."""

    arrivals: Literal["poisson", "bursty", "uniform"] | None = None
    burstiness: Annotated[float, BeforeValidator(float), Field(gt=0)] | None = None
    prompt: str | None = None
    output: str | None = None


class StudySpec(Spec):
    """One design review: a model, hardware (the first is the baseline; without any `select` searches the catalogue), a workload, targets; or a user-defined theory with values."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["model", "workload"]}, {"required": ["theory"]}]}
    )

    title: str | None = None
    theory: str | None = None
    define: Define = Field(default={}, validate_default=True)
    model: NameList = NEEDED
    draft: str | None = None
    assume_family: str | None = None
    hardware: NameList = ()
    parallel: Parallel = {}
    prefill: PrefillLayout = {}
    precision: Precision = Precision.model_construct()
    workload: Workload = NEEDED
    traffic: Traffic = Traffic.model_construct()
    engine: Engine | None = None
    efficiency: Efficiency = EfficiencyBlock()
    assume: Assume = {}
    preset: str | None = None
    targets: Targets = Targets.model_construct()
    set: StudySettings = {}
    thresholds: Thresholds = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def elsewhere(cls, key: str) -> str:
        """The block that an input belongs into, by its name or as other tools name it."""
        blocks = {symbol.name: block for block in BLOCKS for symbol in GROUPS[block]}
        blocks |= dict.fromkeys(Precision.model_fields, "precision")
        for name in (canonical(key), *meant_by(key)):
            block = blocks.get(name, "set" * (name in INPUTS))
            if block and name not in cls.model_fields:
                return f"write {block}: {{{name}: ...}}"
        return ""

    @field_validator("model", "workload", mode="wrap")
    @classmethod
    def _needed(
        cls, value: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> object:
        if value is None and info.data.get("theory"):
            return {} if info.field_name == "workload" else ()
        if value is None:
            raise ValueError("is missing")
        return read(value)

    @field_validator("thresholds")
    @classmethod
    def _solvable(
        cls, value: tuple[ThresholdSpec, ...], info: ValidationInfo
    ) -> tuple[ThresholdSpec, ...]:
        # formulas at fault are reported first: equations may speak of them
        if "define" in info.data:
            own_thresholds(value, info.data["define"])
        return value

    @property
    def declared(self) -> Declarations:
        """What the study declares, over those of its theory."""
        known: Any = self.define
        return own_thresholds(self.thresholds, known).joined(known)

    @model_validator(mode="after")
    def _prompt(self) -> StudySpec:
        if self.model and "prompt" not in self.workload and "context" not in self.workload:
            raise Faults([(("workload",), "needs prompt (and output for a whole response)")])
        return self
