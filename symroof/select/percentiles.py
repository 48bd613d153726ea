"""Targets of a percentile: simulation decides them, for the cheapest candidates that closed forms, which are means, leave."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Track, untracked
from symroof.analysis.verdict import TargetCheck, metric_of
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result
from symroof.errors import InputError
from symroof.select.candidates import finer
from symroof.select.configuration import AS_EXPECTED
from symroof.select.purchase import Purchase
from symroof.select.screening import screen
from symroof.simulate.run_simulation import FEWEST, REQUESTS, WRITTEN, simulate

MORE_COPIES = (1.1, 1.25, 1.5, 2, 3)
"""Replicas that are tried, times those that closed forms ask for, until the waits are short enough."""
SMALLER = 4
"""How often a batch that nobody chose is halved, until steps are short enough."""
MEDIAN_OFF = 3
"""How far a mean may be above the limit of a median: few long waits raise the one alone."""
PARTS = 4
"""In how many steps a number between one that misses and one that does not is looked for."""
DEVICES = 4
"""Devices of which something cheaper passes, and a dearer device is not simulated."""
TRIED = 8
"""Candidates of one combination and one kind of scheduling that are simulated at most."""
NEAR = 4
"""So many of the best with instances that only prefill are looked at with other numbers of these."""

ROOMY, LONGEST = 0.3, 10
"""With so much room in the capacity a run of the usual length shows the waits; with less longer ones, up to so many times."""

Key = Callable[[Purchase], Any]
"""The smaller, the better."""


def decide(
    cases: Sequence[tuple[Purchase, Sequence[Purchase]]],
    percentiles: Mapping[str, str],
    key: Key,
    track: Track = untracked,
) -> list[Purchase]:
    """The best candidate of every case, by simulation; ``percentiles``: target -> its statistic.

    Cases, each with the best of its candidates by means, are looked at from the cheapest on, and the candidates of each, until one passes: what costs more
    than another of its device, or than some other devices, is not simulated.
    """
    found: list[Purchase] = []
    cheapest: dict[str, Any] = {}
    ranked = sorted(cases, key=lambda case: key(case[0]))
    for best, candidates in track(ranked, "simulating configurations"):
        name = best.hardware
        of_others = sorted(cheapest.values())[DEVICES - 1 : DEVICES]
        limit = cheapest.get(name) or next(iter(of_others), None)
        if limit is not None and best.state == "passes" and key(best) >= limit:
            found.append(replace(best, unsimulated=tuple(percentiles)))
            continue
        left = _screened(candidates, percentiles, key)
        apart = [x for x in left if x.scheduling == "disaggregated" and "dp" not in x.own.given]
        more = (x for one in apart[:NEAR] for x in finer(one, one.copies, True))
        near = {(id(x.own), x.changes["prefill_devices"]): x for x in more}
        left = sorted((*left, *_screened([*near.values()], percentiles, key)), key=key)
        kinds: dict[str, list[Purchase]] = {}
        for one in left:
            kinds.setdefault(one.scheduling, []).append(one)
        tried = sorted((one for kind in kinds.values() for one in kind[:TRIED]), key=key)
        one = _decided(tried, percentiles, key, limit) or best
        found.append(one)
        if one.simulated and one.state == "passes":
            cheapest[name] = min(key(one), cheapest.get(name, key(one)))
    return found


def _decided(
    candidates: Sequence[Purchase], percentiles: Mapping[str, str], key: Key, best: Any
) -> Purchase | None:
    """The cheapest candidate that meets the percentiles, and is cheaper than ``best``; else the nearest."""
    tried: list[Purchase] = []
    least = math.inf
    for one in candidates:
        if tried and best is not None and key(one) >= best:
            break
        tried.append(replace(_enough(one, percentiles, least), window=None))
        if tried[-1].state == "passes":
            best = key(tried[-1]) if best is None else min(best, key(tried[-1]))
            least = min(least, tried[-1].devices)
    return min(tried, key=key, default=None)


def _screened(
    candidates: Sequence[Purchase], percentiles: Mapping[str, str], key: Key
) -> list[Purchase]:
    """Those of which the means pass, the best first; the mean of what has to keep a median may be above it."""

    def left(one: Purchase) -> bool:
        shares = one.judged.shares
        return not one.unjudged and all(
            percentiles.get(name) == "p50" and shares[name][AS_EXPECTED] <= MEDIAN_OFF
            for name in one.missed_as_expected
        )

    each = screen([[candidate] for candidate in candidates], between=False)
    return sorted(filter(left, each), key=key)


def _enough(one: Purchase, percentiles: Mapping[str, str], least: float) -> Purchase:
    """The configuration, simulated: where it misses with more replicas if their number is open, fewer than ``least`` devices, else with a smaller batch if nobody
    chose it; as it is if no change is enough."""
    met = dict[int, Purchase]()
    by, of = ("dp", one.copies_of) if "arrival_rate" in one.own.given else ("batch", 1)

    def meets(number: int) -> bool:
        tried = _simulated(one.changed(by, number * of), percentiles)
        if _met(tried):
            met[number] = tried
        return number in met

    first = _simulated(one, percentiles)
    if _met(first):
        return first
    if by == "dp":
        bad = one.copies // of
        more = [math.ceil(bad * times) for times in MORE_COPIES]
        if math.isfinite(least):  # of those that are cheaper than what passes only the most
            more = [math.ceil(least * bad / one.devices) - 1]
        numbers = [] if by in one.own.given else [number for number in more if number > bad]
    else:
        bad = one.batch
        numbers = [] if one.chosen else [bad >> halved for halved in range(1, SMALLER + 1)]
    for number in numbers:
        if number and number != bad and meets(number):
            break
        bad = number
    else:
        return first
    step = (number - bad) // PARTS or int(math.copysign(1, number - bad))
    between = range(bad + step, number, step)
    return next((met[n] for n in between if meets(n)), met[number])


def _met(one: Purchase) -> bool:
    """Whether what was simulated meets its targets, looked at first, and all other conditions hold."""
    return all(check.met for check in one.simulated) and one.state == "passes"


def _simulated(one: Purchase, percentiles: Mapping[str, str]) -> Purchase:
    """The configuration with the targets of a percentile as simulated at the expected values, and at the slow end of what was measured if they are met there."""
    case = one.case
    found = slow = _figures(case, percentiles)
    met_as_expected = all(value <= case.targets[name] for name, value in found.items())
    if met_as_expected and case.slow_end is not case:
        slow = _figures(case.slow_end, percentiles)
    checks = []
    for name, statistic in percentiles.items():
        limit = case.targets[name]
        met = False if found[name] > limit else True if slow[name] <= limit else None
        tested = metric_of(name, case.case) or f"loaded_{name}"
        symbol = replace(case.case.theory.symbol(tested), digits=3)
        metric = Result(symbol, found[name], found[name], slow[name])
        checks.append(TargetCheck(name, metric, limit, met, statistic))
    return replace(one, simulated=tuple(checks))


def _figures(case: BoundCase, percentiles: Mapping[str, str]) -> dict[str, Fraction]:
    """Target -> the statistic in seconds; infinite where requests are refused or nothing could be simulated. What misses in a run of the usual length is not looked
    at in a longer one, where waits are longer."""
    counts = [max(REQUESTS, 20 * int(case.number("batch")))]
    if "arrival_rate" in case.given:
        # a queue takes longer to grow near the capacity, as the square of what is left of it
        left = max(1 - float(case.case.value("load")), 1e-9)
        most = max(FEWEST, int(WRITTEN / case.number("output")))
        longest = int(REQUESTS * min(max(ROOMY / left, 1) ** 2, LONGEST))
        counts = sorted({min(REQUESTS, most), min(longest, most)})
    endless = figures = dict.fromkeys(percentiles, Fraction(10**9))
    for count in counts:
        try:
            found = simulate(case, requests=count)
        except InputError:
            return endless
        if found.requests.refused.any():
            return endless
        figures = {name: Fraction(found.summary[name][x]) for name, x in percentiles.items()}
        if any(value > case.targets[name] for name, value in figures.items()):
            break
    return figures
