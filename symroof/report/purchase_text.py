"""A purchase in words: the same on the first screen of ``select``, on page one of a review, and in the advice for a server."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from symroof.analysis.verdict import LOAD, MEMORY, instances_of, limit_of, target_checks
from symroof.cases.engine_inputs import beyond_measurements
from symroof.report.field_names import short_device
from symroof.report.markup import Ranged
from symroof.theory.layout import DEGREES
from symroof.units import significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symroof.select.purchase import Purchase
    from symroof.select.recommend import Recommendation

DIGITS = MOST_NAMED = 3
APART = "no public measurement of prefill on separate GPUs is known; its times rest on those of ordinary servers"
SLOWER = {
    "cdna3": "measured servers (vLLM 0.9 and 0.10) reached two thirds to three quarters of the predicted rate"
}
"""What measured servers of a generation say against predictions from single steps (docs/serving.md)."""
WIDE = 3
"""So many times the devices that the predicted values need: then the interval and not the load decides."""
FORMATS = {"fp8": "FP8", "nvfp4": "FP4"}


def usd(amount: float) -> str:
    """An amount in three digits: ``44,600``."""
    return significant(amount, DIGITS)


def device_word(one: Purchase) -> str:
    """A device in short: ``H100 SXM``."""
    return short_device(one.case.hardware)


def named(one: Purchase) -> str:
    """How many of which device, and how many of them only prefill: ``32 × H200 (8 of them only prefill)``; of what misses one replica."""
    prefill = one.replicas * one.group.get("prefill", 0)
    apart = f" ({prefill:,} of them only prefill{'s' * (prefill == 1)})"
    return f"{one.amount} × {device_word(one)}{apart * bool(prefill and one.counted)}"


def labelled(one: Purchase) -> str:
    """The same with what the study lists besides."""
    varied = (pair for pair in one.own.varied if pair[0] not in DEGREES)
    return ", ".join([named(one), *(f"{name} {value}" for name, value in varied)])


def closest_text(one: Purchase) -> str:
    """The nearest miss, and what it lacks."""
    return f"Closest: {labelled(one)} ({one.lacks})."


def up_to(batch: int) -> str:
    """``up to 12 requests``."""
    return f"up to {batch:,} request{'s' * (batch != 1)}"


def instances(one: Purchase) -> tuple[int, int, int, int]:
    """How many instances decode and of how many devices each is; the same of those that only prefill."""
    own, count = one.group["decode"] // one.whole, (one.prefill or {}).get("instances", 0)
    other = one.replicas * one.group["prefill"] // count if count else own
    return one.copies, own, count, other


def layout_text(one: Purchase) -> str:
    """Replicas, the requests of each, and how prompts are read."""
    copies, own, others, other = instances(one)
    said = []
    if len(one.group) > 1:
        each = " each" * (copies > 1)
        decode = f"{instances_of('decode', copies, own)}, {up_to(one.batch)}{each}"
        return f"{decode}, and {instances_of('prefill', others, other)}"
    each = f" of {own:,}" if own > 1 else ""
    replicas = f"{one.replicas:,} replica{'s' * (one.replicas != 1)}{each}"
    said.append(f"{replicas}, {up_to(one.batch)}{' each' * (one.replicas > 1)}")
    if one.parallel["attention_dp"] > 1:
        said.append(f"attention in {one.parallel['attention_dp']} groups of {one.parallel['tp']}")
    if one.chunk is not None:
        said.append(f"chunks of {one.chunk:,} tokens")
    return ", ".join(said)


def layout_word(one: Purchase) -> str:
    """``tp 2, chunked``, ``tp 2, prefill tp 1``: what tells a layout of a device from the others."""
    degrees = [f"{name} {n}" for name, n in one.parallel.items() if n > 1] or ["tp 1"]
    if one.prefill is None:
        return ", ".join([*degrees, one.scheduling])
    apart = [f"{name} {n}" for name, n in sorted(one.prefill.items()) if name != "instances"]
    return ", ".join([*degrees, f"prefill {' '.join(apart or ['tp 1'])}"])


def purchase_rows(
    ones: Sequence[Purchase], ranges: bool = True, found: Recommendation | None = None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The header and the rows of a table of purchases; columns that none fills are left out. Without a rate they are ranked by the cost of a token, not by the
    bill of a month."""
    at_rate = any(one.load is not None for one in ones)
    paid = "USD/month" if at_rate else "USD/M tokens"
    header = f"device|GPUs|replicas × GPUs|batch|chunk|{paid}|TTFT|ITL|load|misses".split("|")
    enough = [enough_devices(found, one) if found else None for one in ones]
    rows = [_purchase_row(*row, ranges, at_rate) for row in zip(ones, enough, strict=True)]
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    return tuple(header[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows)


def enough_devices(found: Recommendation, one: Purchase) -> int | None:
    """How many devices would do at the predicted values; None where that is no other number, or not known."""
    fewer = found.as_predicted(one)
    return fewer.devices if fewer and fewer.devices != one.devices else None


def _purchase_row(
    one: Purchase, enough: int | None, ranges: bool, at_rate: bool
) -> tuple[str, ...]:
    """What is bought of a device, in brackets how many would be ``enough``; of what does not fit or keep up only that, of replicas that miss a target one of these."""
    brackets = f"({enough:,})" if enough else ""
    name = ", ".join([device_word(one), *(f"{name} {value}" for name, value in one.own.varied)])
    if not one.counted and {MEMORY, LOAD} & {*one.missed_as_expected, *one.missed}:
        return (name, brackets, *[""] * 7, one.lacks)
    cost = float(one.cost_per_mtok.value) if one.cost_per_mtok else None
    price = one.usd_per_month if at_rate else cost
    paid = usd(price) if price is not None else "no price found"
    times = []
    for result in (one.ttft, one.itl):
        value, span = result.in_two(DIGITS) if result else ("", "")
        times.append(Ranged(value, span) if ranges and span else value)
    load = f"{100 * one.load:.0f} %" if one.load is not None else ""
    chunk = f"{one.chunk:,}" if one.chunk is not None else ""
    copies, own, others, other = instances(one)
    layout = f"{copies:,} × {own}" + (f" + {others:,} × {other} prefill" if others else "")
    count = f"{one.devices:,}"
    if not one.counted:
        each = others // one.replicas
        beside = f" + {each:,} × {other} prefill" * bool(others)
        count, paid, load = "", "", ""
        layout = f"{one.whole} × {own}{beside}"
    count = f"{count} {brackets}".strip()
    return (name, count, layout, f"{one.batch:,}", chunk, paid, *times, load, one.lacks)


def needed_text(one: Purchase) -> str:
    """The targets that what misses would keep, rounded up to two digits; empty where more than latencies is in the way."""
    needed = []
    for check in target_checks(one.case):
        if check.met is True:
            continue
        high = float(check.metric.value if check.metric.high is None else check.metric.high)
        if one.case.does_not_fit or check.name not in ("ttft", "itl") or not 0 < high < math.inf:
            return ""
        size = 10.0 ** (math.floor(math.log10(high)) - 1)
        limit = limit_of(check.metric.symbol, float(f"{math.ceil(high / size) * size:.2g}"))
        needed.append(f"{check.name.upper()} {limit.plain()}")
    are = "s are" if len(needed) > 1 else " is"
    return f"the target{are} {' and '.join(needed)}" if needed else ""


def price_text(one: Purchase) -> str:
    """``61.1 USD/hour, 44,600 USD/month``; empty without a price."""
    if one.usd_per_hour is None or one.usd_per_month is None:
        return ""
    return f"{usd(one.usd_per_hour)} USD/hour, {usd(one.usd_per_month)} USD/month"


def room_text(one: Purchase) -> str:
    """Up to which rate it serves, and how much more that is; empty without a rate."""
    if not one.highest_rate or one.headroom is None:
        return ""
    where = f" in the worst case of the {one.own.interval_word}" * bool(one.own.box)
    if one.headroom < 1 / 200:
        return f"no headroom{where}"
    share, times = f"{100 * one.headroom:.0f} % more", f"{1 + one.headroom:.0f} times as many"
    more = share if one.headroom < 3 else times
    rate = significant(one.highest_rate, DIGITS)
    return f"up to {rate} requests/s ({more}){' even' * bool(where)}{where}"


def enough_text(found: Recommendation, one: Purchase) -> str:
    """What would do if the predictions hold; empty where nothing cheaper would. Of a percentile target that headroom is not known."""
    if one.passes and one.simulated and one.load is not None:
        return "Headroom was not calculated: with a percentile target each rate needs its own simulation"
    fewer = found.as_predicted(one)
    if fewer is None:
        return ""
    would = f"{fewer.devices:,} × {device_word(fewer)} would do ({layout_text(fewer)})"
    far = one.devices > WIDE * fewer.devices
    wide = ", which is too wide here to buy from: measure first" * far
    sized = f"Sized for the whole {one.own.interval_word}{wide}"
    return f"{sized}; at the predicted values {would}, {paid_text(fewer)}"


def together_text(found: Recommendation) -> str:
    """What would do without devices that only prefill, of any device that is shown; empty where the pick has none, or nothing would."""
    if found.pick is None or found.pick.scheduling != "disaggregated":
        return ""
    every = (x for x in (found.together, *found.others) if x and x.passes and not x.prefill)
    one = min(every, key=lambda each: each.spent or math.inf, default=None)
    return f"Without GPUs that only prefill: {named(one)}, {paid_text(one)}" if one else ""


def tokens_text(one: Purchase) -> str:
    """``1.41 USD per million output tokens``; empty where it is not known."""
    cost = one.cost_per_mtok
    return "" if cost is None else f"{usd(float(cost.value))} USD per million output tokens"


def paid_text(one: Purchase) -> str:
    """What it costs in the unit that it is compared in: a month where requests arrive, else a million tokens."""
    return f"{usd(one.usd_per_month or 0)} USD/month" if one.load is not None else tokens_text(one)


def opened_text(one: Purchase) -> str:
    """What passes with another layout than the one that a study fixes."""
    times = [("TTFT", one.ttft), ("ITL", one.itl)]
    found = [f"{name} {result.in_two(DIGITS)[0]}" for name, result in times if result]
    said = ", ".join([named(one), layout_text(one), *found, price_text(one)])
    return f"A layout that the study does not fix would pass: {said}."


def undecided_text(found: Recommendation) -> str:
    """Whether the prices found decide between the pick and others; empty where they do."""
    pick, near = found.pick, found.undecided_by_price
    if pick is None or not near:
        return ""
    spread = max(one.prices[1] / one.prices[0] for one in (pick, *near))
    names = list(dict.fromkeys(device_word(one) for one in near))
    more = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    *first, last = (*names[:MOST_NAMED], *more)
    whom = f"{', '.join(first)} and {last}" if first else last
    return f"Sellers' prices of one GPU differ by up to {spread:.2g} times: at some of them {whom} can be cheaper than {device_word(pick)}."


def not_measured(ones: Sequence[Purchase]) -> list[str]:
    """Of which devices the intervals are those of other measurements, and of which."""
    by_text: dict[str, list[str]] = {}
    for one in ones:  # first what was measured to be otherwise
        device = one.case.hardware
        if slower := SLOWER.get(device.generation) if device else None:
            by_text.setdefault(slower, []).append(device_word(one))
    for one in ones:
        apart = APART * (len(one.group) > 1)
        for text in filter(None, (beyond_measurements(one.case), apart)):
            by_text.setdefault(text, []).append(device_word(one))
    return [f"{', '.join(dict.fromkeys(names))}: {text}" for text, names in by_text.items()]


def prices_text(found: Recommendation) -> list[str]:
    """How far prices differ, whether they decide, and up to which price the pick stays first."""
    pick, stays = found.pick, found.stays_up_to
    said = [text for text in [undecided_text(found)] if text]
    if pick and stays is not None and math.isfinite(stays):
        then = device_word(found.rivals[0])
        said.append(
            f"{device_word(pick)} stays first up to {usd(stays)} USD/hour a device (now {usd(pick.prices_now)}), then {then}."
        )
    return said


def cheaper_text(found: Recommendation) -> str:
    """What narrower weights would save; empty where they would save nothing."""
    cheaper = found.cheaper
    if cheaper is None:
        return ""
    weights, one = cheaper
    word = FORMATS.get(weights, weights)
    others = " compares the other devices, too" * (len(found.best) > 1)
    return f"Cheaper if {word} weights are acceptable: {named(one)}, {paid_text(one)} (--weights {weights}{others})"
