"""The tables of a selection as plain text: verdicts with headroom, the best configurations, inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.case_warnings import case_warnings, unused_inputs
from symroof.analysis.verdict import LOAD, MEMORY, TargetCheck, limit_of, metrics_of
from symroof.cases.quantity_result import Result
from symroof.report.purchase_text import purchase_rows
from symroof.select.configuration import PRICE, PRICED, Configuration, Run, prices_move
from symroof.select.recommend import recommended_of
from symroof.select.selection import Selection
from symroof.select.selection_json import QUANTITIES
from symroof.table_formats import UNKNOWN
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.units import significant

MOST_SHOWN = 3
"""Configurations and values named in a line."""
GIVES = ("sustained_throughput_per_device", "cost_per_mtok")
"""What a configuration that fits gives, beside latencies."""
MISSES = {MEMORY: "does not fit", LOAD: "does not keep up"}
TABLE_QUANTITIES = (
    "memory_bytes",
    "fits",
    "sustained_itl",
    "loaded_itl",
    "loaded_ttft",
    "sustained_throughput_per_device",
    "load",
    "ttft",
    "itl_last",
    "itl",
    "decode_throughput_per_device",
    "cost_per_mtok",
    "fleet_price",
    *TARGET_SYMBOLS.values(),
)
"""The quantities of the tables: the ledger lists their inputs."""
Rows = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class SelectionTable:
    """A table with its heading, an introduction (``says``) and notes on its columns."""

    title: str
    header: tuple[str, ...]
    rows: Rows
    says: str = ""
    notes: tuple[str, ...] = ()


def parts(choice: Selection, most: int) -> tuple[SelectionTable, ...]:
    """The non-empty tables, each with at most ``most`` configurations."""
    every = (
        SelectionTable("What to buy", *purchase_rows(recommended_of(choice).best[:most])),
        _verdicts(choice, most),
    )
    return tuple(part for part in every if part.rows)


def headline(choice: Selection) -> str:
    """The number of passing configurations and the limits."""
    total, passing = len(choice.configurations), len(choice.passing)
    case = choice.configurations[0].run.own.case
    limits = ["memory"]
    for name, limit in choice.targets.items():
        shown = limit_of(case.theory.symbol(metrics_of(name, case)[0]), limit).plain()
        limits.append(f"{choice.target_name(name)} within {shown}")
    what = " and ".join([", ".join(limits[:-1]), limits[-1]] if len(limits) > 1 else limits)
    says = f"{passing:,} of {total:,} configuration{'s' * (total != 1)} pass{'es' * (1 in (passing, total))}: {what}"
    undecided = [c for c in choice.configurations if c.state == "unknown"]
    if not undecided:
        return says
    priceless = all(c.run.unjudged <= PRICED for c in undecided)
    return f"{says}; {len(undecided):,} more {'have no price' if priceless else 'are not known'}"


def shown(run: Run, name: str) -> str:
    """A quantity of a run with its flags, or what stands for one without a value."""
    if result := run.result(name):
        return result.text()
    return "no price found" if not run.own.case.has(PRICE) and prices_move(name) else UNKNOWN


def _verdicts(choice: Selection, most: int) -> SelectionTable:
    """All configurations with verdict, metrics and headroom, throughput and cost."""
    names = [*choice.targets, MEMORY]
    latencies = {"ttft": "loaded_ttft", "itl": "sustained_itl"}
    extra = {name: metric for name, metric in latencies.items() if name not in choice.targets}
    checked = (cell for name in names for cell in (choice.target_name(name), "left"))
    header = (
        "configuration",
        "batch",
        "verdict",
        *checked,
        *extra,
        "throughput per device",
        "cost",
    )
    first, rows = choice.configurations[:most], []
    for c in first:
        row = [c.label, f"{c.run.batch:,}", verdict(c)]
        checks = {check.name: check for check in c.run.checks}
        for name in names:
            check = checks.get(name)
            row += [check.metric.text(), slack(check)] if check else [shown(c.run, name), ""]
        given = GIVES if not c.run.bound_case.does_not_fit else ()
        row += [shown(c.run, metric) for metric in (*extra.values(), *given)]
        rows.append((*row, *[""] * (len(header) - len(row))))
    says = []
    if any(c.run.own.measured_box for c in first):
        says.append("predicted value (80 % interval)")
    if simulated := choice.study.request.percentiles:
        says.append(f"{' and '.join(map(choice.target_name, simulated))} simulated")
    says.append("left: headroom in % of the limit")
    if (count := len(choice.configurations)) > most:
        says.append(f"the first {most:,} of {count:,}; --json has all")
    unknown: dict[str, list[str]] = {}
    for c in first:
        for name, reason in c.run.unknown.items():
            unknown.setdefault(f"{name}: {reason}", []).append(c.label)
    notes = tuple(f"{_several(labels)}: {why}" for why, labels in unknown.items())
    return SelectionTable("Configurations", header, rows, "; ".join(says), notes)


def verdict(c: Configuration) -> str:
    """The state in words, with missed targets and the batches that would pass."""
    run = c.run
    names = dict.fromkeys((*run.missed_as_expected, *run.missed))
    if LOAD in names:
        names.pop("ttft", None)  # an unstable queue has no finite wait
    words = {
        "passes": "passes",
        "in part": "passes over part of its ranges",
        "unknown": f"not known: {', '.join(run.unknown)}",
        "fails": ", ".join(MISSES.get(name, f"misses {name}") for name in names),
    }[run.state]
    within = c.window and run.state in ("fails", "in part")
    return f"{words}; passes with a batch of {c.window}" if within else words


def slack(check: TargetCheck) -> str:
    """The slack in percent of the limit, negative if it is exceeded.

    >>> from symroof.analysis.study import Study
    >>> from symroof.analysis.verdict import target_checks
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, targets={"ttft": 0.1})
    >>> slack(target_checks(study.first)[0])
    '-34 %'
    """
    share = (
        f"{'-' if check.slack < 0 else '+'}{significant(100 * abs(check.slack) / check.limit, 2)} %"
    )
    if check.met is None:
        return f"{share}, met in part"
    return f"{share}, at the median price" if check.straddles else share


def ledger(choice: Selection, most: int) -> tuple[SelectionTable, ...]:
    """Inputs of the first configurations and switches as tables; a star marks defaults."""
    found: dict[str, dict[tuple[object, str], Result]] = {}
    for c in choice.configurations[:most]:
        case = c.run.bound_case
        names = tuple(name for name in TABLE_QUANTITIES if case.get(name))
        for name, value in case.inputs(names, everything=False).items():
            found.setdefault(name, {})[value.value, value.source] = value
    alike = {name: next(iter(own.values())) for name, own in found.items() if len(own) == 1}
    rows = [("* " * one.defaulted + n, one.text(), one.source) for n, one in alike.items()]
    for name, values in found.items():
        if name not in alike:
            ordered = sorted(values.values(), key=lambda one: Fraction(one.value))
            texts = list(dict.fromkeys(one.plain() for one in ordered))
            span = ", ".join(texts) if len(texts) <= MOST_SHOWN else f"{texts[0]} to {texts[-1]}"
            rows.append((name, span, "differs between the configurations"))
    first = choice.configurations[0].run.bound_case.assumptions
    switches = [
        ("* " * first.defaulted(name) + name, first[name], switch.values[first[name]])
        for name, switch in SWITCHES.items()
    ]
    some = f"; of the first {most:,} configurations" if len(choice.configurations) > most else ""
    return (
        SelectionTable("Inputs", ("input", "value", "source"), rows, "* = default" + some),
        SelectionTable("Assumptions", ("switch", "value", "meaning"), switches, "* = default"),
    )


def warnings(choice: Selection, most: int) -> list[str]:
    """Warnings of the first configurations, each once with the configurations it applies to; memory is in the table."""
    first, labels_of = choice.configurations[:most], dict[str, list[str]]()
    for c in first:
        for text in case_warnings(c.run.bound_case):
            if not text.startswith("does not fit"):
                labels_of.setdefault(text, []).append(c.label)
    said = []
    if first:
        case = first[0].run.bound_case
        unused = unused_inputs(case, [name for name in QUANTITIES if case.case.has_value(name)])
        none = "has no effect here: nothing that a selection shows depends on it"
        said += [f"{name} {none}" for name in unused]
    for text, labels in labels_of.items():
        said.append(text if len(labels) == len(first) else f"{_several(labels)}: {text}")
    return said


def _several(labels: Sequence[str]) -> str:
    names = list(dict.fromkeys(labels))
    more = f" and {len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else ""
    return "; ".join(names[:MOST_SHOWN]) + more
