"""A case for people: its title, what to know before its numbers, and what they look for first: times, what limits them, memory, rates, cost, targets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from symroof.analysis.verdict import (
    ISOLATED_METRICS,
    LOAD,
    MEMORY,
    MEMORY_OF_A_DEVICE,
    instances_of,
    is_per_replica,
    target_checks,
    unjudged,
    waits_without_end,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import RECOMMENDED, VLLM_LINE
from symroof.cases.values import DOES_NOT_FIT, VARIANT, Result
from symroof.symbolic.printing import number_text, text
from symroof.table_formats import FAILS, IN_PART, PASSES, card, html_table
from symroof.theory.layout import DEGREES, shapes_layout
from symroof.theory.symbols import INPUTS, TARGET_SYMBOLS
from symroof.theory.theory_files import column, listed
from symroof.units import format_quantity, is_whole, settled


def _instances(bound_case: BoundCase) -> tuple[float, str] | None:
    """The devices of several instances, and how many decode or only prefill; None for one instance and for ranges of them."""
    every, case = bound_case.get("devices"), bound_case.case
    if every is None or every.ranged:
        return None
    copies, own = case.value("dp"), case.value("instance_devices")
    disaggregated = case.theory.assumptions["scheduling"] == "disaggregated"
    if not disaggregated or not case.has_value("prefill_devices"):
        return (every.value, f", {copies:,.0f} replicas of {own:,.0f}") if copies > 1 else None
    apart, other = case.value("prefill_devices"), case.value("prefill_instance_devices")
    decode, prefill = instances_of("decode", copies, own), copies * apart / other
    return every.value + copies * apart, f", {decode}, {instances_of('prefill', prefill, other)}"


def case_title(bound_case: BoundCase) -> str:
    """The case in a line: model on devices, and what varies."""
    model, varied = bound_case.model, dict(bound_case.varied)
    if bound_case.theory_only:
        of_each = (f"{name} {value}" for name, value in varied.items())
        return ", ".join([bound_case.case.theory.own.title, *of_each])
    draft = bound_case.draft if "draft_tokens" in bound_case.given else None
    drafted = f" drafted by {draft.shown_name}" if draft else ""
    several, one = _instances(bound_case), bound_case.get("instance_devices")
    number, instances = several or (one.value if one else 1, "")
    device = bound_case.hardware.title if bound_case.hardware else "no hardware"
    count, named = f"{number:.0f} × " if number > 1 else "", ("batch", "prompt", "output")
    return ", ".join(
        [
            f"{model.shown_name if model else 'no model'}{drafted} on {count}{device}{instances}",
            *(f"{name} {_span(bound_case, name)}" for name in named if bound_case.chosen(name)),
            *degrees(bound_case, said=several is not None),
            *(f"{name} {x}" for name, x in varied.items() if name not in {*named, *DEGREES}),
        ]
    )


def _span(bound_case: BoundCase, name: str) -> str:
    """The value of an input or its range; a formula without a value is shown itself."""
    found = bound_case.get(name)
    if found is None:
        return text(bound_case.given[name].middle(name))
    ends = (found.low, found.high) if found.ranged else (found.value,)
    return " to ".join(f"{int(x):,}" if is_whole(x) else number_text(settled(x)) for x in ends)


def degrees(bound_case: BoundCase, said: bool = False) -> list[str]:
    """The parallel degrees above one, where the number of devices does not say them: ``attention_dp 8``; ``said``: it says the instances."""
    case, apart = bound_case.case, bound_case.request.prefill
    above = [name for name in DEGREES if name in case.given and case.value(name) != 1]
    above = [name for name in above if not said or name != "dp"]
    shown = [f"{name} {_span(bound_case, name)}" for name in above if above != ["tp"]]
    if said and apart.keys() <= {"instances", "devices", "tp"}:
        return shown
    prefill = " ".join(f"{name} {value}" for name, value in apart.items())
    return [*shown, *([f"prefill {prefill}"] if prefill else [])]


def range_position(bound_case: BoundCase) -> str:
    """Where in its ranges a case is evaluated, in words."""
    if bound_case.interval_word != "range":
        return "at the predicted values"
    both = " and the predicted efficiencies" if bound_case.measured_box else ""
    return f"at the middle of the ranges{both}"


PUBLISHED_TOLERANCE = 0.001
UNKNOWN_FIT, PERCENTILE = "whether it fits", "percentile"
"""Kinds of warnings, beside :data:`MEMORY`, that a screen may say in its own way."""


def case_warnings(bound_case: BoundCase, *but: str) -> list[str]:
    """Everything a reader must know before a number of this case, what does not fit first; ``but`` some kinds."""
    case, targets = bound_case.case, {TARGET_SYMBOLS[target] for target in bound_case.targets}
    found: dict[str, list[str]] = {MEMORY: [], UNKNOWN_FIT: []}
    if bound_case.does_not_fit:
        word = "does not fit" if bound_case.never_fits else "does not fit in part of the range"
        needed, usable = (bound_case.result(name).plain() for name in MEMORY_OF_A_DEVICE)
        count = case.value("instance_devices")
        who = f"the most loaded of {count:.0f} GPUs needs" if count > 1 else "needs"
        reach = "its times, rates and costs cannot be reached"
        found[MEMORY] = [f"{word}: {who} {needed}, and {usable} of memory are usable; {reach}"]
    elif bound_case.fits is None and bound_case.model and bound_case.hardware:
        why = bound_case.why_unknown("fits")
        found[UNKNOWN_FIT] = [f"whether this fits in memory is not known: {why}"]
    if tails := bound_case.request.percentiles:
        said = " and ".join(f"{statistic} of {name}" for name, statistic in tails.items())
        where = "only known from a simulation (`symroof select`, `symroof simulate`)"
        found[PERCENTILE] = [f"{said}: {where}; other commands compare the mean with the target"]
    idle = [n for n, used in _set_by_hand(bound_case, *BY_TOOLS) if not used and n not in targets]
    over = [share for share in ACHIEVED if case.has_value(share) and case.value(share) > ROOF]
    found["other"] = [
        *bound_case.warnings,
        *(f"{name} has no effect: no formula of this case uses it" for name in idle),
        *(f"impossible: {x} is {bound_case.result(x).plain()}, above 100 %" for x in over),
        *filter(None, [published_mismatch(bound_case)]),
    ]
    return [text for kind, texts in found.items() if kind not in but for text in texts]


USUAL = ("ttft", "itl", "response_time", "memory_bytes_per_device", "loaded_itl", "cost_per_mtok")
BY_TOOLS = ("preset", VLLM_LINE, RECOMMENDED)
"""How the origins of values begin that a tool or a preset sets for every model."""


def unused_inputs(
    bound_case: BoundCase, shown: Collection[str], targets_decide: bool = True
) -> list[str]:
    """Inputs that somebody set and that none of the quantities shown depends on, though others of the case do; a target counts as used where it decides."""
    targets = {TARGET_SYMBOLS[target] for target in bound_case.targets}
    reached = frozenset().union(*map(bound_case.case.dependencies, shown))
    return [
        name
        for name, used in _set_by_hand(bound_case, *BY_TOOLS, VARIANT)
        if name not in reached and (not targets_decide if name in targets else used)
    ]


def _set_by_hand(bound_case: BoundCase, *tools: str) -> Iterator[tuple[str, bool]]:
    """Inputs that somebody set here, layouts aside, and not one of the tools, by how the origins of their values begin; and whether a quantity uses each."""
    chosen, dependencies = bound_case.request, bound_case.case.dependencies
    # nearly all inputs move one of the usual: the others are then not even read
    every = bound_case.quantity_names
    names = (*(name for name in USUAL if name in every), *every)
    for name in chosen.values:
        if not shapes_layout(name) and not chosen.origin.get(name, "").startswith(tools):
            yield name, any(name in dependencies(each) for each in names)


ACHIEVED = ("prefill_mfu", "prefill_mbu", "decode_mfu", "decode_mbu")
ROOF = 1 + 1e-9
"""A share above it is above the roof, and not rounded there."""


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


DIGITS = 3
"""Significant digits of a first screen; ``--all`` and ``--json`` have more."""

MARK = {True: PASSES, False: FAILS, None: IN_PART}
RESOURCE = {"memory": "memory bandwidth", "link": "GPU links", "overhead": "fixed overheads"}
"""What limits a step, as people say it."""

ROWS = listed("shown", "screen")
WORDS, LIMITS = column("shown", "words"), column("shown", "limit")
INSTEAD: dict[str, str] = column("shown", "instead")
"""Rows that another one replaces where it has a value."""
MEMORY_SHARE, EACH = "memory_utilization", column("shown", "each")


def of_each(case: BoundCase, name: str) -> dict[str, str]:
    """The words of a quantity where it is that of one of several replicas."""
    return EACH if is_per_replica(case, name) else {}


def summary_rows(case: BoundCase) -> list[list[str]]:
    """Words, value, bound, limit and name of each quantity that has a value."""
    rate = "arrival_rate" in case.given
    # at a rate the steps of as many requests as are there; without, all slots are taken
    left_out = "itl" if rate and case.get("loaded_itl") else "loaded_itl"
    known = [name for name in shown_first(case) if case.get(name) and name != left_out]
    return [
        [
            words_for(WORDS | of_each(case, name), name, rate),
            *(_memory(case) if name == MEMORY_SHARE else both(case, name)),
            _limited_by(case, name, LIMITS.get(name, "")),
            name,
        ]
        for name in known
        if INSTEAD.get(name) not in known
    ]


def shown_first(case: BoundCase) -> list[str]:
    """What people look at first; the price of one copy of the model where there is nothing else."""
    one = not case.case.has_value("dp") or case.case.value("dp") == 1
    one = one and "prefill_devices" not in case.given
    return [name for name in ROWS if name != ("fleet_price" if one else "instance_price")]


def words_for(words: Mapping[str, str], name: str, rate: bool) -> str:
    """The words of a quantity; without an arrival rate every slot is taken under load.

    >>> words_for(WORDS, "sustained_itl", rate=False)
    'time between tokens, under load'
    """
    if rate:
        return words["itl" if name == "loaded_itl" else name]
    return words[name].replace("all slots busy", "under load").replace("capacity", "throughput")


def headed(case: BoundCase, rows: list[list[str]]) -> tuple[list[str], list[int], list[list[str]]]:
    """The heads of the columns of such rows, the places of those that hold anything, and the rows, values and bounds in one column where all are bounds."""
    if case.at_peak is not None:
        how = "predicted (80 %)" if case.measured_box else "at the efficiencies given"
        header = ["", how, "theoretical minimum", "limited by"]
    else:
        rows = [[row[0], " ".join(filter(None, row[1:3])), "", *row[3:]] for row in rows]
        header = ["", "theoretical minimum", "", "limited by"]
    return header, [i for i in range(len(header)) if any(row[i] for row in rows)], rows


def _memory(case: BoundCase) -> tuple[str, str]:
    """What the most loaded device holds of what it may use, and whether it fits."""
    used, usable = (compact(case.result(name)) for name in MEMORY_OF_A_DEVICE)
    room = case.get("concurrency")
    fits = f"{PASSES} room for {compact(room)}" if room else f"{PASSES} fits"
    if case.does_not_fit:
        part = f"{IN_PART} fits in part of its ranges"
        fits = f"{FAILS} does not fit" if case.never_fits else part
    unit = usable[usable.rindex(" ") :]
    each = " each" * (case.case.value("instance_devices") > 1)
    return f"{used.removesuffix(unit)} of {usable}{each}", fits


def both(case: BoundCase, name: str) -> tuple[str, str]:
    """A quantity as expected and its bound at the peak, or as given; a dagger where the case does not fit."""
    found = case.result(name)
    own = compact(found)
    if _is_given(case, name):
        return f"{own}, given", ""
    bound = case.peak_bound(name)
    if bound and case.priced(name):  # how far list prices move it is said of the prediction
        bound = replace(bound, low=None, high=None)
    # a price is the same; a speedup at the peak is no limit of it
    same = bound and bound.value == found.value and found.symbol.unit != "s"
    if same or name == "speculation_speedup":
        bound = None
    most = "at most " if bound and bound.symbol.unit.endswith("/s") else ""
    return own, f"{most}{compact(bound)}" if bound else ""


def limit_word(unit: str) -> str:
    """What the bound at the peak is of a rate; of a time, a cost or a size."""
    return "theoretical limit" if unit.endswith("/s") else "theoretical minimum"


def added_token(case: BoundCase, name: str) -> list[str]:
    """Beside the cache per token: what one more token adds, where that is less, as windows are full."""
    written, added = case.get("kv_bytes_per_token"), case.get("kv_bytes_per_added_token")
    if name != "kv_bytes_per_token" or not written or not added or added.value == written.value:
        return []
    return [f"one more token at this context adds {added.text()} (kv_bytes_per_added_token)"]


def _is_given(case: BoundCase, name: str) -> bool:
    """Whether a person gave a quantity that is otherwise derived: then it is no bound. What a checkpoint says, its stored size for one, is not meant."""
    return name in case.request.values and name not in INPUTS


def compact(result: Result) -> str:
    """Value and range with the unit once where all have the same; a dagger where the case does not fit.

    >>> from symroof.theory.quantities import QUANTITIES
    >>> [compact(Result(QUANTITIES["ttft"], x, x/2, 2*x)) for x in (0.0351, 1.2)]
    ['35.1 ms (17.6–70.2)', '1.2 s (600 ms to 2.4 s)']
    """
    value, span = result.in_two(DIGITS)
    unit, low = value.partition(" ")[2], span.partition(" to ")[0]
    if not unit and span.count(" ") == 2:
        span = span.replace(" to ", "–")
    elif unit and span.endswith(f" {unit}") and " " not in low:
        span = span.removesuffix(f" {unit}").replace(" to ", "–")
    text = f"{value} ({span})" if span else value
    return text + (" †" if DOES_NOT_FIT in result.flags else "")


ALONE = {
    "loaded_ttft": ("ttft", "prefill_bound"),
    "loaded_itl": ("itl", "decode_bound"),
    "sustained_itl": ("itl", "decode_bound"),
}
"""Latencies under load with the same of one request alone, and what limits that."""
ALIKE = 1.05


def _limited_by(case: BoundCase, name: str, limit: str) -> str:
    """What limits a time, over ranges that somebody gave all that do; under load that of a request alone where load adds next to nothing."""
    if _is_given(case, name):
        return ""
    if name in ALONE:
        alone, of_alone = ALONE[name]
        here, single = case.get(name), case.get(alone)
        if here and single and here.value < ALIKE * single.value:
            limit = of_alone
    found = case.get(limit) if limit else None
    if found is None:
        return ""
    each = [str(found.value)] if case.measured_alone else found.plain().split(" or ")
    return " or ".join(RESOURCE.get(one, one) for one in each)


def verdicts(case: BoundCase) -> Iterator[tuple[str, str, bool]]:
    """Each target against what is expected: its mark, in words, and whether it is met beyond doubt; none is met by what does not fit."""
    for check in target_checks(case):
        mark = FAILS if case.never_fits else MARK[check.met]
        name = check.name.upper() if check.name in ISOLATED_METRICS else check.name
        limit = f"{'below ' if name == LOAD else ''}{check.against}"
        part = " (met in part of the range)" if check.met is None else ""
        if name == LOAD and check.met is False:
            part = ": more requests arrive than are served, and the queue grows"
        value = compact(check.metric)
        sure = check.met is True and not check.straddles
        yield mark, f"{name.replace('_', ' ')} {value}, target {limit}{part}", sure
    for name, limit in case.targets.items():
        if waits_without_end(name, case.case):
            target = format_quantity(limit, "s", DIGITS)
            yield FAILS, f"{name.upper()} unbounded, target {target}: the queue grows", False


def verdict_lines(case: BoundCase) -> list[str]:
    """A line for each target, with its mark."""
    return [f"{mark} {text}" for mark, text, _ in verdicts(case)]


def target_warnings(case: BoundCase) -> list[str]:
    """A line for each target that is missed, or met in part of the ranges or of the list prices only, or that cannot be judged."""
    missed = {FAILS: "target missed: "}
    lines = [missed.get(mark, "") + text for mark, text, sure in verdicts(case) if not sure]
    return lines + unjudged(case)


def used_memory(case: BoundCase) -> str:
    """How much of the memory that it may use the most loaded device holds, in percent; empty where it is not known."""
    used, usable = map(case.get, MEMORY_OF_A_DEVICE)
    return f"{100 * used.value / usable.value:.0f} %" if used and usable else ""


MOST_QUANTITIES, MOST_WARNINGS = 8, 2
"""Quantities of a case that has none of the usual, and warnings that a card shows."""


def study_card(cases: Sequence[BoundCase], title: str) -> str:
    """The screen of the first case, with its targets and warnings, and how many other cases there are.

    >>> from symroof.analysis.study import Study
    >>> print(study_card(Study("gpt2").cases, "Study")[:88])
    <p>GPT-2 124M on no hardware</p>
    <table>
    <caption>Study</caption>
    <tr><th></th><th>value
    """
    first, *others = cases
    warned = case_warnings(first)[:MOST_WARNINGS]
    lines = [case_title(first), *verdict_lines(first), *(f"! {text}" for text in warned)]
    lines += [f"and {len(others):,} more case{'s' * (len(others) > 1)}"] * bool(others)
    rows = summary_rows(first)
    if rows:
        header, kept, rows = headed(first, rows)  # what the first screen of ``symroof eval`` has
        table = [[*(row[i] for i in kept), row[-1]] for row in rows]
        return card(lines, html_table([*(header[i] for i in kept), "name"], table, title))
    shown = map(first.result, first.known[:MOST_QUANTITIES])
    table = [[each.symbol.meaning, compact(each), each.name] for each in shown]
    return card(lines, html_table(["", "value", "name"], table, title))
