"""The verdict on a case: does it fit, are the targets met, what limits it. Data and short phrases; the text of the review is in templates."""

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from symroof.analysis.case_titles import devices
from symroof.cases.bound_case import BOUND, EXPECTED, BoundCase
from symroof.cases.input import AT_PEAK, VARIANT
from symroof.cases.measured_efficiencies import beyond_measurements
from symroof.cases.quantity_result import Result
from symroof.cases.request import RECOMMENDED, VLLM_LINE
from symroof.specs.efficiencies import CLASSES, DEFAULT_ENGINE, FITTED, engine_class
from symroof.specs.precision import BITS
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import symbol
from symroof.symbolic.kernels import holds
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.layout import shapes_layout
from symroof.theory.quantities import OF_THE_MIX
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol
from symroof.theory.theory_files import column
from symroof.units import format_quantity

TARGET_METRICS: dict[str, str] = column("targets", "metric")
"""The metric each target is compared with: latencies of a server under load, the price of the whole group, and of the fleet."""

AT_A_RATE: dict[str, str] = column("shown", "at_rate")
"""What a metric becomes where requests arrive at a rate: devices are paid for while they are idle, too, and fewer requests decode than there are slots."""

ISOLATED_METRICS = {name: tuple(each) for name, each in column("targets", "alone").items()}
"""Those that differ for one request alone, the ITL at the last step of the response; without an output there is one step, at the context."""

PUBLISHED_TOLERANCE = 0.001


@dataclass(frozen=True)
class TargetCheck:
    """One target against its metric.

    Attributes:
        met: True, False, or None where it holds in a part of the ranges only, and where those are measured efficiencies as expected; at the median of the list prices.
        slack: limit less value, at the middle of the ranges.
        straddles: whether other list prices than the median would change the verdict.
        statistic: what the target is of; a percentile was decided by simulation.
    """

    name: str
    metric: Result
    limit: Any
    met: bool | None
    statistic: str = "mean"

    @property
    def slack(self) -> float:
        return float(self.limit - self.metric.value)

    @property
    def bound(self) -> Result:
        """The limit as it is written: in the unit of its metric."""
        return limit_of(self.metric.symbol, self.limit)

    @property
    def straddles(self) -> bool:
        low, high = self.metric.low, self.metric.high
        if self.met is None or self.metric.at_median is None or low is None or high is None:
            return False
        return bool(low <= self.limit < high)

    @property
    def against(self) -> str:
        """The limit in a sentence, and where in the list prices the verdict holds if not at all of them."""
        end = "highest" if self.met else "lowest"
        where = f" at the median of the list prices, not at the {end}" if self.straddles else ""
        return f"{self.bound.plain()}{where}"

    @property
    def gap(self) -> Result:
        """The margin, or the excess, as a positive amount."""
        return Result(self.metric.symbol, abs(self.slack))


def limit_of(symbol: Symbol, limit: Any) -> Result:
    """A limit on a quantity, with all its digits: it is known as written."""
    return Result(replace(symbol, digits=None), limit)


def metric_of(target: str, case: Case) -> str | None:
    """The metric that a target is compared with here; None where it has no value, as the wait of a queue that only grows."""
    return next(filter(case.has_value, metrics_of(target, case)), None)


def metrics_of(target: str, case: Case) -> tuple[str, ...]:
    """The metrics that a target may be compared with here; of several the first that has a value."""
    metric = TARGET_METRICS[target]
    if under_load(case):
        return tuple(dict.fromkeys((at_rate(metric, case), metric)))
    alone = ISOLATED_METRICS.get(target, (metric,))
    has_steps = case.has_value("output") or case.theory.assumptions["kv_growth"] == "fixed"
    return alone if has_steps else alone[-1:]


def at_rate(name: str, case: Case) -> str:
    """The name of a quantity at the arrival rate, where one is given and it makes a difference."""
    return AT_A_RATE.get(name, name) if queues(case) else name


def under_load(case: Case) -> bool:
    """Whether targets are compared with a server under load: the length of the responses is known, and they have decode steps."""
    if case.theory.assumptions["targets_under"] != "load" or not case.is_set("output"):
        return False
    return case.has_value("response_steps") and bool(case.value("response_steps") > 0)


def queues(case: Case) -> bool:
    """Whether requests arrive at a rate at a server under load, so that they wait for one another."""
    return "arrival_rate" in case.given and under_load(case)


def target_checks(bound_case: BoundCase) -> list[TargetCheck]:
    """Every target of the study that this case has a metric for."""
    checks = _load_check(bound_case)
    for name, limit in bound_case.targets.items():
        if (tested := metric_of(name, bound_case.case)) is None:
            continue
        metric = bound_case.result(tested)
        low, high = metric.at_median or (metric.low, metric.high)
        if low is None or high is None:
            low, high = metric.value, math.inf if metric.without_range else metric.value
        least = metric.value if measured_alone(bound_case) else low
        holds_at = [bool(holds("<=", float(end), float(limit))) for end in (high, least)]
        met = holds_at[0] or (None if holds_at[1] else False)
        checks.append(TargetCheck(name, metric, limit, met))
    return checks


def measured_alone(bound_case: BoundCase) -> bool:
    """Whether only measured efficiencies are ranges: then a target that the expected value misses is missed."""
    return bound_case.box.keys() <= bound_case.measured_box.keys()


def unknown_targets(bound_case: BoundCase) -> dict[str, str]:
    """The targets of the study that this case has no metric for, and what that needs; a wait without end is judged by its load."""
    case = bound_case.case
    return {
        name: bound_case.why_unknown(metrics_of(name, case)[0])
        for name in bound_case.targets
        if metric_of(name, case) is None and not waits_without_end(name, case)
    }


MEMORY, LOAD = "memory", "load"
"""The constraints besides the targets: that it fits, and that requests are served as fast as they come."""


def waits_without_end(target: str, case: Case) -> bool:
    """Whether the metric of a target has no value because a queue only grows."""
    if target != "ttft" or not queues(case):
        return False
    try:
        case.value(TARGET_METRICS[target])
    except UndefinedValue:
        return False
    except NoValue:
        return True
    return False


PREFILL_LOADS = (
    "prefill_slot_utilization(decoding_requests = steady_batch)",
    "prefill_slot_utilization",
)
"""The load of the prefill at the requests that decode at the arrival rate, which is that of the wait in a TTFT; and beside as many as there can be, where prompts
pile up because there is no such batch."""


def _load_check(bound_case: BoundCase) -> list[TargetCheck]:
    """Whether there is a steady state at the arrival rate, where one is known: of responses, and of prompts where they alone pile up."""
    case = bound_case.case
    load = bound_case.get(LOAD) if queues(case) else None
    if load is None:
        return []
    if load.value < 1 and waits_without_end("ttft", case):
        symbol = case.theory.symbol("prefill_slot_utilization")
        for formula in PREFILL_LOADS:
            with suppress(NoValue):  # where given values leave it none, that of responses has to do
                load = bound_case.formula(parse(formula), symbol, timed=False)
                break
    low, high = load.low or load.value, load.high or load.value
    least = load.value if measured_alone(bound_case) else low
    return [TargetCheck(LOAD, load, 1.0, bool(high < 1) or (False if least >= 1 else None))]


def overloaded(bound_case: BoundCase) -> bool:
    """Whether requests come at least as fast as they are served, so that no wait has an end; ranges at their middle."""
    return any(check.slack <= 0 for check in _load_check(bound_case))


def all_met(checks: list[TargetCheck]) -> bool | None:
    """Whether all targets are met: False where one is missed, None where one is met in a part of the ranges only."""
    states = [check.met for check in checks]
    if False in states:
        return False
    return None if None in states else True


def findings(bound_case: BoundCase) -> list[str]:
    """The faults of a case, one name each: ``does_not_fit``, ``ttft_missed``, ``itl_missed``."""
    names = ["does_not_fit"] if bound_case.does_not_fit else []
    return names + [
        f"{check.name}_missed" for check in target_checks(bound_case) if check.met is not True
    ]


def basis_of(bound_case: BoundCase, names: Collection[str]) -> list[str]:
    """The line of :func:`efficiency_basis` where one of these quantities depends on an efficiency."""
    used = bound_case.inputs(tuple(names), everything=False).keys() if names else frozenset()
    return [efficiency_basis(bound_case)] if used & AT_PEAK.keys() else []


def basis_lines(cases: Iterable[BoundCase]) -> tuple[str, ...]:
    """What the times of several cases rest on, each once; a user-defined theory alone has none."""
    lines = dict[str, None]()
    for case in cases:
        if not case.theory_only:
            lines |= dict.fromkeys(
                filter(None, (efficiency_basis(case), beyond_measurements(case)))
            )
    return tuple(lines)


def efficiency_basis(bound_case: BoundCase) -> str:
    """What the times of a case rest on: the theoretical minimum, measurements, or the efficiencies that were given."""
    if bound_case.basis != EXPECTED:
        return AT_THE_PEAK if bound_case.basis == BOUND else "at the efficiencies given"
    given = bound_case.given
    own = [name for name in FITTED if name in given and not given[name].measured]
    shown = (name.upper() if name in ("mfu", "mbu") else name.replace("_", " ") for name in own)
    which = f"predicted with {' and '.join(shown)} as set, the rest from measurements of"
    return OF_ENGINES.format(which if own else BY_MEASUREMENT, CLASSES[bound_case.engine_class])


AT_THE_PEAK = "theoretical minimum (100 % of peak)"
BY_MEASUREMENT = "predicted from measurements of"
OF_ENGINES = "{} {}; ranges are 80 % intervals"


def default_basis(efficiency: str | None, engine: str | None) -> str:
    """What times rest on where no case has efficiencies of its own."""
    return (
        OF_ENGINES.format(BY_MEASUREMENT, CLASSES[engine_class(engine or DEFAULT_ENGINE)])
        if efficiency == "measured"
        else AT_THE_PEAK
    )


def target_warnings(bound_case: BoundCase) -> list[str]:
    """A line for every target that is missed or cannot be judged or that list prices decide, and for requests that come faster than they are served, wholly or in a part of the ranges."""
    words = {
        True: "meets its {} target",
        False: "misses its {} target",
        None: "meets its {} target in part of the range only",
    }
    of_load = {
        False: "does not keep up with the arriving requests",
        None: "keeps up with the arriving requests in part of the range only",
    }
    lines = []
    for check in target_checks(bound_case):
        if check.met is not True or check.straddles:
            said = of_load if check.name == LOAD else words
            against = f"{check.metric.text()} against {check.against}"
            lines.append(f"{said[check.met].format(check.name)}: {against}")
    for name, why in unknown_targets(bound_case).items():
        lines.append(f"whether it meets its {name} target is not known: {why}")
    return lines


def splits_evenly(bound_case: BoundCase, group: int) -> bool:
    """Whether a number of devices takes the same number of heads each: of the cache's heads too, or copies of one each."""
    heads, shared = map(bound_case.get, ("n_heads", "n_kv_heads"))
    if heads is not None and heads.value % group:
        return False
    return shared is None or shared.value % group == 0 or group % shared.value == 0


def case_warnings(bound_case: BoundCase) -> list[str]:
    """Everything a reader must know before a number of this case."""
    warnings = []
    if bound_case.does_not_fit:
        word = "does not fit" if bound_case.never_fits else "does not fit in part of the range"
        needed = (
            f"{memory_needed(bound_case)}; the latencies, rates and costs below cannot be reached"
        )
        warnings.append(f"{word}: {needed}")
    elif bound_case.fits is None and bound_case.model and bound_case.hardware:
        why = bound_case.why_unknown("fits")
        warnings.append(f"whether this fits in memory is not known: {why}")
    warnings += [
        *bound_case.warnings,
        *_without_effect(bound_case),
        *kinds_of_requests(bound_case),
        *_wide_arithmetic(bound_case),
    ]
    for share in ACHIEVED:
        if (found := bound_case.get(share)) is not None and found.value > ROOF:
            warnings.append(f"impossible: {share} is {found.plain()}, above 100 %")
    tp, heads = int(bound_case.case.value("tp")), bound_case.get("n_heads")
    if tp > 1 and heads is not None and not splits_evenly(bound_case, tp):
        fullest = f"the most loaded GPU has {-(-int(heads.value) // tp)}"
        warnings.append(f"tp {tp} does not divide {heads.plain()} query heads: {fullest}")
    published = published_mismatch(bound_case)
    return [*warnings, published] if published else warnings


BY_TOOLS = ("preset", VLLM_LINE, RECOMMENDED)
"""How the origins of values begin that a tool or a preset sets for every model."""


def _without_effect(bound_case: BoundCase) -> list[str]:
    """Values that somebody set here and that no formula of this model uses: a window where no layer has one."""
    targets = {TARGET_SYMBOLS[target] for target in bound_case.targets}
    return [
        f"{name} has no effect: no formula of this case uses it"
        for name in _set_by_hand(bound_case, *BY_TOOLS)
        if name not in targets and not _is_used(bound_case, name)
    ]


def _set_by_hand(bound_case: BoundCase, *tools: str) -> list[str]:
    """Inputs that somebody set here, layouts aside, and not one of the tools, by how the origins of their values begin."""
    chosen = bound_case.request
    return [
        name
        for name in chosen.values
        if not shapes_layout(name) and not chosen.origin.get(name, "").startswith(tools)
    ]


def _is_used(bound_case: BoundCase, name: str) -> bool:
    """Whether some quantity depends on a name here."""
    return any(name in bound_case.case.dependencies(each) for each in bound_case.quantity_names)


def unused_inputs(
    bound_case: BoundCase, shown: Collection[str], targets_decide: bool = True
) -> list[str]:
    """Inputs that somebody set and that none of the quantities shown depends on, though others of the case do; a target counts as used where it decides."""
    targets = {TARGET_SYMBOLS[target] for target in bound_case.targets}
    reached = frozenset().union(*map(bound_case.case.dependencies, shown))
    return [
        name
        for name in _set_by_hand(bound_case, *BY_TOOLS, VARIANT)
        if name not in reached
        and (not targets_decide if name in targets else _is_used(bound_case, name))
    ]


def _wide_arithmetic(bound_case: BoundCase) -> list[str]:
    """8-bit weights alone do not make 8-bit arithmetic: worth a warning where the device has it and the precision of the activations is a default."""
    weights, chosen = bound_case.precisions.get("weights", ""), bound_case.request.precision
    device, compute = bound_case.hardware, bound_case.compute
    if device is None or BITS.get(weights) != 8 or weights not in device.peaks:
        return []
    if "weights" not in chosen or "activations" in chosen or compute == weights:
        return []
    beside = f"{weights} weights with {bound_case.precisions['activations']} activations"
    peak = f"--activations {weights} uses the {weights} peak"
    return [f"{beside} compute at the {compute} peak; {peak}"]


ACHIEVED = ("prefill_mfu", "prefill_mbu", "decode_mfu", "decode_mbu")
ROOF = 1 + 1e-9
"""A share above it is above the roof, and not rounded there."""


def memory_needed(bound_case: BoundCase) -> str:
    """The memory that the most loaded device needs, of the memory it may use."""
    needed, usable = (
        bound_case.result("memory_bytes_per_device"),
        bound_case.result("usable_memory_per_device"),
    )
    count = devices(bound_case)
    who = f"the most loaded of {count} GPUs needs" if count > 1 else "needs"
    return f"{who} {needed.plain()}, and {usable.plain()} of memory are usable"


def published_mismatch(bound_case: BoundCase) -> str | None:
    """A warning where the engine's own parameter count is not the published one."""
    model = bound_case.model
    published = model.published_params if model and model.layers else None
    if model is None or not published or "params" in bound_case.given:
        return None
    counted = bound_case.get("params")
    if counted is None or abs(counted.value - published) <= PUBLISHED_TOLERANCE * published:
        return None
    both = (format_quantity(count, "parameter") for count in (counted.value, published))
    return f"{model.name}: counted {', published '.join(both)}"


def kinds_of_requests(bound_case: BoundCase) -> list[str]:
    """A remark for the kind of requests whose mean first token misses the target that the mean of all requests meets, throughout the ranges of both."""
    limit, decided = bound_case.targets.get("ttft"), bound_case.case.given.get("loaded_ttft")
    if limit is None or decided != symbol(OF_THE_MIX["loaded_ttft"]):
        return []

    def slowest(name: str) -> float | None:
        found = bound_case.get(name)
        if found is None:
            return None
        return float(found.value if found.high is None else found.high)

    mean = slowest("mix_loaded_ttft")
    if mean is None or mean > limit:
        return []
    kinds = {"the case's own": "mix_own_ttft", "long": "mix_long_ttft"}
    return [
        f"{whose} requests miss the TTFT target that the mean of all requests meets, at {bound_case.result(name).text()}: {name}"
        for whose, name in kinds.items()
        if (worst := slowest(name)) is not None and worst > limit
    ]
