"""Targets of a percentile: simulation decides them, for the configurations that closed forms, which are means, leave."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.analysis.tracking import Track, untracked
from symroof.analysis.verdict import LOAD, TargetCheck, metric_of
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.errors import InputError
from symroof.select.configuration import Configuration, Run, at_batch
from symroof.simulate.run_simulation import REQUESTS, simulate

MORE_COPIES = (Fraction(11, 10), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3))
"""Replicas that are tried, times those that closed forms ask for, until the waits are short enough."""

SMALLER = 4
"""How often a batch that nobody chose is halved, until steps are short enough."""

MEDIAN_OFF = 3
"""How far a mean may be above the limit of a median: few long waits raise the one alone."""


def decide(
    ranked: Sequence[Configuration], percentiles: Mapping[str, str], track: Track = untracked
) -> list[Configuration]:
    """The configurations, in the same order, with the targets of a percentile decided by simulation.

    ``percentiles``: target -> its statistic. One that closed forms leave is simulated as it is, and where it misses with more replicas if their number
    is open, else with smaller batches if nobody chose the batch; the first that passes is taken.
    """
    return [
        _decided(one, percentiles) if _left(one.run, percentiles) else one
        for one in track(ranked, "simulating configurations")
    ]


def _left(run: Run, percentiles: Mapping[str, str]) -> bool:
    """Whether the means pass; those of a median may be above it."""
    if run.unjudged or LOAD in run.missed_as_expected:
        return False
    missed = set(run.missed_as_expected)
    return all(percentiles.get(name) == "p50" and run.share(name) <= MEDIAN_OFF for name in missed)


def _decided(configuration: Configuration, percentiles: Mapping[str, str]) -> Configuration:
    first, *others = _attempts(configuration)
    run = _simulated(first, percentiles)
    for other in () if _meets(run) else others:
        tried = _simulated(other, percentiles)
        if _meets(tried) and tried.passes:
            run = tried
            break
    return replace(configuration, run=run, window=None, ends={})


def _meets(run: Run) -> bool:
    """Whether what was simulated meets its targets: looked at first, as the other conditions take longer."""
    return all(check.met for check in run.simulated)


def _attempts(configuration: Configuration) -> Iterator[Run]:
    """The run as it is, and those that wait less or step faster."""
    run = configuration.run
    yield run
    if "arrival_rate" in run.own.given:
        if "dp" not in run.own.given:
            more = sorted({math.ceil(run.copies * times) for times in MORE_COPIES} - {run.copies})
            bare = replace(run, quick={}, shares={}, slow={}, fast={})
            for copies in more:
                yield replace(bare, changes=(*dict(run.changes, dp=Fraction(copies)).items(),))
    elif not configuration.chosen:
        smaller = {run.batch >> halved for halved in range(1, SMALLER + 1)} - {0}
        yield from (
            at_batch(replace(run, shares={}), batch) for batch in sorted(smaller, reverse=True)
        )


def _simulated(run: Run, percentiles: Mapping[str, str]) -> Run:
    """The run with the targets of a percentile as simulated at the expected values, and at the slow end of what was measured if they are met there."""
    case = run.bound_case
    found = slow = _figures(case, percentiles)
    met_as_expected = all(value <= case.targets[name] for name, value in found.items())
    if met_as_expected and case.slow_end is not case:
        slow = _figures(case.slow_end, percentiles)
    checks = []
    for name, statistic in percentiles.items():
        limit = case.targets[name]
        met = False if found[name] > limit else True if slow[name] <= limit else None
        metric = metric_of(name, case.case) or f"loaded_{name}"
        symbol = replace(case.case.theory.symbol(metric), digits=3)
        checks.append(TargetCheck(name, Result(symbol, found[name]), limit, met, statistic))
    shares = {name: float(value / case.targets[name]) for name, value in slow.items()}
    return run.with_decided(tuple(checks), shares)


def _figures(case: BoundCase, percentiles: Mapping[str, str]) -> dict[str, Fraction]:
    """Target -> the statistic in seconds; infinite where requests are refused or nothing could be simulated."""
    count = None if "arrival_rate" in case.given else max(REQUESTS, 20 * int(case.number("batch")))
    try:
        found = simulate(case, requests=count)
    except InputError:
        found = None
    if found is None or any(run.requests.refused.any() for run in found.runs):
        return dict.fromkeys(percentiles, Fraction(10**9))
    figures = found.summary
    return {name: Fraction(figures[name][which].value) for name, which in percentiles.items()}
