"""The tables of a selection as plain text: verdicts with slack, the best configurations, required changes, headroom, fronts."""

import math
from collections.abc import Iterator, Sequence

from symroof.analysis.sensitivity import NOTICEABLE, elasticities_over_ranges, span_text
from symroof.analysis.tipping_points import Flip
from symroof.analysis.verdict import (
    MEMORY,
    TARGET_METRICS,
    limit_of,
    metrics_of,
    queues,
    under_load,
)
from symroof.cases.quantity_result import Result
from symroof.report.purchase_text import purchase_rows
from symroof.report.selection_parts import MISSES, SelectionTable, no_value, shown, slack, verdict
from symroof.report.view_flips import change, lacking
from symroof.select.configuration import CLOSE, PRICED, Configuration, Run
from symroof.select.recommend import recommended_of
from symroof.select.required_changes import last_passing, margins
from symroof.select.selection import BESTS, NEAREST_MISSES, Front, Selection, nearest_misses

BUYS = {"peak_flops": "compute", "mem_bandwidth": "bandwidth"}
"""Hardware inputs, and what to buy to increase them."""

NEAREST = 5  # configurations whose headroom and sensitivities are computed
HEADROOM = ("mfu", "mbu", "peak_flops", "mem_bandwidth", "mem_capacity", "price")
GIVES = ("sustained_throughput_per_device", "cost_per_mtok")  # of what fits, beside latencies
UNBOUNDED = (MEMORY, "price", "fleet_price")  # which do not depend on efficiencies
WORDS = {
    "sustained_throughput": "throughput",
    "sustained_throughput_per_device": "throughput per device",
    "cost_per_mtok": "cost per million tokens",
    "sustained_itl": "inter-token latency",
    "loaded_ttft": "time to first token",
}


def parts(
    choice: Selection, most: int, lacking_ones: int = NEAREST_MISSES
) -> tuple[SelectionTable, ...]:
    """The non-empty tables, each with at most ``most`` configurations; required changes are solved for ``lacking_ones`` near misses."""
    every = (
        SelectionTable("What to buy", *purchase_rows(recommended_of(choice).best[:most])),
        _verdicts(choice, most),
        _besides(choice, most),
        _bests(choice),
        _largest(choice, most),
        required_changes_table(choice, lacking_ones),
        _keeps(choice, most),
        _answers_to(choice, most),
        _fronts(choice, most),
    )
    return tuple(part for part in every if part.rows)


def headline(choice: Selection) -> str:
    """The number of passing configurations and the limits."""
    total, passing = len(choice.configurations), len(choice.passing)
    limits = [f"{name} within {text}" for name, text in _limits(choice).items()]
    what = (
        " and ".join(["memory", *limits])
        if len(limits) < 2
        else ", ".join(["memory", *limits[:-1]]) + f" and {limits[-1]}"
    )
    says = f"{passing:,} of {total:,} configuration{'s' * (total != 1)} pass{'es' * (1 in (passing, total))}: {what}"
    undecided = [c for c in choice.configurations if c.state == "unknown"]
    priceless = all(c.run.unjudged <= PRICED for c in undecided)
    return says + (
        f"; {len(undecided):,} more {'have no price' if priceless else 'are not known'}"
        if undecided
        else ""
    )


def _limits(choice: Selection) -> dict[str, str]:
    """The targets as text."""
    case = choice.configurations[0].run.own.case
    return {
        choice.target_name(name): limit_of(
            case.theory.symbol(metrics_of(name, case)[0]), limit
        ).plain()
        for name, limit in choice.targets.items()
    }


# ------------------------------------------------------------------------------------------------------------ verdicts


def _verdicts(choice: Selection, most: int) -> SelectionTable:
    """All configurations with verdict, metrics and slack, throughput and cost."""
    names = [*choice.targets, MEMORY]
    extra = [
        name
        for target, name in (("ttft", "loaded_ttft"), ("itl", "sustained_itl"))
        if target not in choice.targets
    ]
    shown_extra = [{"loaded_ttft": "ttft", "sustained_itl": "itl"}[name] for name in extra]
    header = (
        "configuration",
        "batch",
        "verdict",
        *(cell for name in names for cell in (choice.target_name(name), "slack")),
        *shown_extra,
        "throughput per device",
        "cost",
    )
    first = choice.configurations[:most]
    rows = [
        _verdict(c, names, [*extra, *([] if c.run.bound_case.does_not_fit else GIVES)])
        for c in first
    ]
    says = ["expected value (80 % prediction interval)"] if any(_measured(c) for c in first) else []
    says += (
        [f"{' and '.join(map(choice.target_name, choice.study.request.percentiles))} simulated"]
        if choice.study.request.percentiles
        else []
    )
    says += ["slack in % of the limit"]
    left_out = _left_out(len(choice.configurations), most)
    filled = tuple((*row, *([""] * (len(header) - len(row)))) for row in rows)
    return SelectionTable(
        "Configurations",
        header,
        filled,
        "; ".join([*says, *([left_out] if left_out else [])]),
        tuple(_reasons(first)),
    )


def _verdict(c: Configuration, names: Sequence[str], extra: Sequence[str]) -> tuple[str, ...]:
    checks = {check.name: check for check in c.run.checks}
    cells = [
        cell
        for name in names
        for cell in (
            (checks[name].metric.text(), slack(checks[name]))
            if name in checks
            else (no_value(c.run, name), "")
        )
    ]
    return (
        c.label,
        f"{c.run.batch:,}",
        verdict(c),
        *cells,
        *(shown(c.run, name) for name in extra),
    )


def _reasons(first: Sequence[Configuration]) -> Iterator[str]:
    """Why metrics are unknown, each reason with its first configuration."""
    labels: dict[tuple[str, str], list[str]] = {}
    for c in first:
        for name, reason in c.run.unknown.items():
            labels.setdefault((name, reason), []).append(c.label)
    for (name, reason), alike in labels.items():
        yield f"{name} of {alike[0]}{f' and {len(alike) - 1:,} more' if len(alike) > 1 else ''}: {reason}"


def _measured(c: Configuration) -> bool:
    """Whether its ranges come from measurements."""
    return bool(c.run.own.measured_box)


def _bounded(first: Sequence[Configuration]) -> bool:
    """Whether expected values have a bound."""
    return any(c.run.bound_case.at_peak for c in first)


def _besides(choice: Selection, most: int) -> SelectionTable:
    """The same configurations at 100 % of peak, if efficiencies are measured, and for one request alone, if latencies are under load."""
    first = choice.configurations[:most]
    under = [
        name
        for name, metric in TARGET_METRICS.items()
        if name in choice.targets and metric not in GIVES and name not in UNBOUNDED
    ]
    alone = (
        ("ttft", "itl")
        if any(under_load(c.run.own.case) for c in choice.configurations[:1])
        else ()
    )
    bounds = _bounded(first)
    header = ["configuration", "batch"]
    header += (
        [f"{name} at peak" for name in (*under, "throughput per device", "cost")] if bounds else []
    )
    header += [
        cell for name in alone for cell in (f"{name} alone", *(["at peak"] if bounds else []))
    ]
    rows = []
    for c in first:
        cells = (
            [_bound(c, TARGET_METRICS[name]) for name in under]
            + ["" if c.run.bound_case.does_not_fit else _bound(c, name) for name in GIVES]
            if bounds
            else []
        )
        rows.append(
            (
                c.label,
                f"{c.run.batch:,}",
                *cells,
                *(
                    cell
                    for name in alone
                    for cell in (shown(c.run, name), *([_bound(c, name)] if bounds else []))
                ),
            )
        )
    what = [*(["at 100 % of peak"] if bounds else []), *(["one request alone"] if alone else [])]
    return SelectionTable(
        "The same configurations " + " and ".join(what), tuple(header), tuple(rows) if what else ()
    )


def _bound(c: Configuration, name: str) -> str:
    """A quantity at 100 % of peak."""
    return c.run.bound_case.peak_bound_text(c.run.tested(name), flagged=True)


def _left_out(count: int, most: int) -> str:
    return f"the first {most:,} of {count:,}; --show {count} shows all" if count > most else ""


# ---------------------------------------------------------------------------------------------------------------- best


def _bests(choice: Selection) -> SelectionTable:
    """The best passing configuration by each metric."""
    rows = []
    for what, (name, _) in BESTS.items():
        best = choice.best(what)
        if best:
            known = sum(
                any(run.rank(name) is not None for run in c.runs) for c in choice.configurations
            )
            runs = sum(bool(c.runs) for c in choice.configurations)
            rows.append(
                (
                    what + (f" (known for {known:,} of {runs:,})" if known < runs else ""),
                    shown(best, name),
                    best.label,
                    f"{best.batch:,}",
                )
            )
    return SelectionTable(
        "Best under the targets" if choice.targets else "Best of what fits",
        ("best", "", "configuration", "batch"),
        tuple(rows),
    )


def _largest(choice: Selection, most: int) -> SelectionTable:
    """The largest passing batch and its metrics."""
    windowed = [c for c in choice.configurations if c.window]
    rows = [_window(c) for c in windowed[:most]]
    header = (
        "configuration",
        "batches",
        "at the next batch",
        "itl",
        "throughput",
        "per device",
        "cost",
    )
    says = "prefills included where the output length is known: inter-token latency, throughput and cost of a server under load; else of one step at the context"
    slow = (
        "; batches at the slow end of what was measured"
        if any(c.run.slow for c in windowed[:most])
        else ""
    )
    return SelectionTable(
        "The largest batch that fits and meets every target", header, tuple(rows), says + slow
    )


def _window(c: Configuration) -> tuple[str, ...]:
    run = c.largest or c.run
    stopped = ", ".join(_stop(name, run) for name in c.window.stopped_by) if c.window else ""
    metrics = [
        shown(run, name)
        for name in (
            "sustained_itl",
            "sustained_throughput",
            "sustained_throughput_per_device",
            "cost_per_mtok",
        )
    ]
    return (c.label, str(c.window), stopped or "passes", *metrics)


def _stop(name: str, run: Run) -> str:
    """What one request more breaks; a batch keeps the ITL within its target with every slot taken, at an arrival rate, too."""
    full = " at full slots" if name == "itl" and queues(run.own.case) else ""
    return MISSES.get(name, f"misses {name}") + full


# --------------------------------------------------------------------------------------------------- lacking and keeping


def required_changes_table(choice: Selection, most: int) -> SelectionTable:
    """The required change of each input alone for failing configurations, then the required device."""
    failing = nearest_misses(choice)
    rows = [
        ("" if i else c.label, *line)
        for c in failing[:most]
        for i, line in enumerate(lacking(c.run.bound_case))
    ]
    says = "each input alone, solved with all conditions together; everything else unchanged"
    says += (
        f"; the {most} nearest of {len(failing):,}, --lacks {len(failing)} solves all"
        if len(failing) > most
        else ""
    )
    return SelectionTable(
        "Required changes of failing configurations",
        ("configuration", "input", "now", "passes with", "change"),
        tuple(rows),
        says,
    )


def _keeps(choice: Selection, most: int) -> SelectionTable:
    """The last passing value of each input for passing configurations."""
    shown_ones = choice.passing[: min(most, NEAREST)]
    by_label = {
        c.label: {flip.name: flip for flip in margins(c.run.bound_case.slow_end, HEADROOM)}
        for c in shown_ones
    }
    names = [name for name in HEADROOM if any(name in own for own in by_label.values())]
    rows = [
        (label, *(_headroom(own[name]) if name in own else "" for name in names))
        for label, own in by_label.items()
    ]
    says = "each input alone, solved: the last value that still passes, and its change" + (
        ", at the slow end of what was measured" if any(c.run.slow for c in shown_ones) else ""
    )
    says += _first_of(len(shown_ones), len(choice.passing))
    return SelectionTable(
        "Headroom of passing configurations",
        ("configuration", *names),
        tuple(rows) if names else (),
        says,
    )


def _first_of(some: int, count: int) -> str:
    """A note that a table only shows the first rows; empty if it shows all."""
    return f"; the first {some} of {count:,}" if some < count else ""


def _headroom(flip: Flip) -> str:
    return f"{Result(flip.now.symbol, last_passing(flip)).plain()} ({change(flip.factor)})"


# --------------------------------------------------------------------------------------------------------- what to buy


def _answers_to(choice: Selection, most: int) -> SelectionTable:
    """Elasticities of the latencies to compute and bandwidth, and what to buy."""
    shown_ones = choice.configurations[: min(most, NEAREST)]
    rows = [line for c in shown_ones if (line := _bought(c.label, c.run))]
    header = (
        "configuration",
        "ttft to compute",
        "to bandwidth",
        "itl to compute",
        "to bandwidth",
        "buy",
    )
    says = "elasticity: % change of a latency per 1 % more peak compute or memory bandwidth of the device; of the latencies that the targets limit, at this batch"
    says += _first_of(len(shown_ones), len(choice.configurations))
    return SelectionTable("Sensitivity to bandwidth and compute", header, tuple(rows), says)


def _bought(label: str, run: Run) -> tuple[str, ...]:
    metrics = {target: metrics_of(target, run.bound_case.case)[0] for target in ("ttft", "itl")}
    spans = {
        target: elasticities_over_ranges(run.bound_case, metric, BUYS)
        for target, metric in metrics.items()
    }
    if any(len(own) < len(BUYS) for own in spans.values()):
        return ()
    cells = [span_text(*span) for own in spans.values() for span in own.values()]
    parts = {
        target: buy({by: span[0] for by, span in own.items()}) for target, own in spans.items()
    }
    words = [
        f"{what} for {' and '.join(t for t, part in parts.items() if part == what)}"
        for what in dict.fromkeys(parts.values())
        if what
    ]
    return (label, *cells, ", ".join(words) or "neither changes them")


def buy(elasticities: dict[str, float]) -> str:
    """What a latency depends on most; empty if on neither.

    >>> buy({"peak_flops": 0.0, "mem_bandwidth": -0.99})
    'bandwidth'
    """
    name = max(elasticities, key=lambda by: abs(elasticities[by]))
    return BUYS[name] if abs(elasticities[name]) >= NOTICEABLE else ""


# -------------------------------------------------------------------------------------------------------------- fronts


def _fronts(choice: Selection, most: int) -> SelectionTable:
    """The Pareto-optimal runs for each pair of metrics; equally good runs share a row."""
    rows = [
        line
        for over, fronts in (("pass", choice.fronts), ("fit", choice.fitting_fronts))
        for f in fronts
        for line in _front(f, over, most)
    ]
    says = "for each pair of metrics, the configurations that no other beats in both"
    return SelectionTable(
        "Pareto fronts",
        ("among those that", "best in", "configuration", "batch", "", ""),
        tuple(rows),
        says,
    )


def _front(f: Front, over: str, most: int) -> list[tuple[str, ...]]:
    named = " and ".join(WORDS[name] for name, _ in f.respects)
    alike: list[list[Run]] = []
    for run in f.runs:
        if alike and all(_as_good(alike[-1][0], run, name) for name, _ in f.respects):
            alike[-1].append(run)
        else:
            alike.append([run])
    rows = [
        (_labels(runs), f"{runs[0].batch:,}", *(shown(runs[0], name) for name, _ in f.respects))
        for runs in alike[:most]
    ]
    rows += [(f"and {len(alike) - most:,} more", "", "", "")] if len(alike) > most else []
    return [(over if i == 0 else "", named if i == 0 else "", *row) for i, row in enumerate(rows)]


def _as_good(one: Run, other: Run, name: str) -> bool:
    a, b = one.rank(name), other.rank(name)
    return a is not None and b is not None and math.isclose(a, b, rel_tol=CLOSE)


def _labels(runs: Sequence[Run]) -> str:
    return runs[0].label + (f", and {len(runs) - 1:,} more as good" if len(runs) > 1 else "")
