"""A purchase in words: the same on the first screen of ``select``, on page one of a review, and in the advice for a server."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from symroof.analysis.verdict import LOAD, MEMORY
from symroof.cases.quantity_result import Result
from symroof.specs.catalogue import has_entry
from symroof.units import significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symroof.select.recommend import Purchase, Recommendation

DIGITS = MOST_NAMED = 3
FORMATS = {"fp8": "FP8", "nvfp4": "FP4"}


def usd(amount: float) -> str:
    """An amount in three digits: ``44,600``."""
    return significant(amount, DIGITS)


def device_word(one: Purchase) -> str:
    """A device by its name in the catalogue, as people write it: ``H100 SXM``."""
    name = one.hardware
    return name.replace("-", " ").upper() if has_entry("hardware", name) else one.title


def layout_text(one: Purchase) -> str:
    """Replicas, the requests of each, and how prompts are read."""
    own = one.group["decode"] // one.run.copies_of
    said = []
    if len(one.group) > 1:
        prefill = one.replicas * one.group["prefill"]
        said.append(
            f"{one.run.copies:,} instances of {own:,} that decode, up to {one.batch:,} requests each"
        )
        said.append(f"and {prefill // own:,} instances of {own:,} that prefill")
        return " ".join(said)
    each = f" of {own:,}" if own > 1 else ""
    replicas = f"{one.replicas:,} replica{'s' * (one.replicas != 1)}{each}"
    said.append(f"{replicas}, up to {one.batch:,} request{'s' * (one.batch != 1)}{' each' * (one.replicas > 1)}")  # fmt: skip
    if one.parallel["attention_dp"] > 1:
        said.append(f"attention in {one.parallel['attention_dp']} groups of {one.parallel['tp']}")
    if one.chunk is not None:
        said.append(f"chunks of {one.chunk:,} tokens")
    return ", ".join(said)


def purchase_rows(
    ones: Sequence[Purchase], ranges: bool = True
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The header and the rows of a table of purchases; columns that none fills are left out."""
    header = ("device", "GPUs", "replicas × GPUs", "batch", "chunk", "USD/month", "TTFT", "ITL", "load", "lacks")  # fmt: skip
    rows = [_purchase_row(one, ranges) for one in ones]
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    return tuple(header[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows)


def _purchase_row(one: Purchase, ranges: bool) -> tuple[str, ...]:
    """What is bought of a device; of what does not fit or keep up only that."""
    name = ", ".join([device_word(one), *(f"{name} {value}" for name, value in one.run.own.varied)])
    if not one.passes and {MEMORY, LOAD} & {*one.run.missed_as_expected, *one.run.missed}:
        return (name, *[""] * 8, one.lacks)
    month = usd(one.usd_per_month) if one.usd_per_month is not None else "no price found"
    known = [
        result and (result if ranges else Result(result.symbol, result.value))
        for result in (one.ttft, one.itl)
    ]
    times = (result.plain(DIGITS) if result else "" for result in known)
    load = f"{100 * one.load:.0f} %" if one.load is not None else ""
    chunk = f"{one.chunk:,}" if one.chunk is not None else ""
    return (name, f"{one.devices:,}", one.layout, f"{one.batch:,}", chunk, month, *times, load, one.lacks)  # fmt: skip


def purchase_view(found: Recommendation) -> dict[str, Any]:
    """Page one of a review of what is recommended, as plain values."""
    pick = found.pick
    header, rows = purchase_rows(found.best)
    data: dict[str, Any] = {
        "use": f"{pick.devices:,} × {device_word(pick)}" if pick else None,
        "reason": found.reason,
        "header": list(header),
        "rows": [list(row) for row in rows],
        "prices": prices_text(found),
        "cheaper": cheaper_text(found),
    }
    if pick:
        paid = [text for text in (price_text(pick), tokens_text(pick)) if text]
        rate = pick.highest_rate
        symbol = pick.case.case.theory.symbol("arrival_rate")
        data |= {
            "layout": layout_text(pick),
            "price": ", ".join(paid),
            "load": f"{100 * pick.load:.0f} %" if pick.load is not None else None,
            "highest_rate": Result(symbol, rate).plain(DIGITS) if rate else None,
        }
    return data


def price_text(one: Purchase) -> str:
    """``61.1 USD/hour, 44,600 USD/month``; empty without a price."""
    if one.usd_per_hour is None or one.usd_per_month is None:
        return ""
    return f"{usd(one.usd_per_hour)} USD/hour, {usd(one.usd_per_month)} USD/month"


def tokens_text(one: Purchase) -> str:
    """``1.41 USD per million output tokens``; empty where it is not known."""
    cost = one.cost_per_mtok
    return "" if cost is None else f"{usd(float(cost.value))} USD per million output tokens"


def prices_text(found: Recommendation) -> list[str]:
    """How far prices differ, whether they decide, and up to which price the pick stays first."""
    pick, stays = found.pick, found.stays_up_to
    if pick is None or not pick.priced:
        return []
    said = []
    near = found.undecided_by_price
    if near:
        spread = max(one.prices[1] / one.prices[0] for one in (pick, *near))
        names = [device_word(one) for one in near[:MOST_NAMED]]
        more = [f"{len(near) - MOST_NAMED:,} more"] if len(near) > MOST_NAMED else []
        listed = [*names, *more]
        whom = f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else listed[0]
        said.append(
            f"The prices found do not decide between {device_word(pick)} and {whom}: sellers of one device differ by up to {spread:.2g} times."
        )
    if stays is not None and math.isfinite(stays):
        other = found.runner_up
        then = f", then {device_word(other)}" if other else ""
        said.append(
            f"{device_word(pick)} stays first up to {usd(stays)} USD/hour a device (now {usd(pick.prices_now)}){then}."
        )
    return said


def cheaper_text(found: Recommendation) -> str:
    """What narrower weights would save; empty where they would save nothing."""
    cheaper = found.cheaper
    if cheaper is None:
        return ""
    weights, one = cheaper
    price = f"{usd(one.usd_per_month or 0)} USD/month" if one.load is not None else tokens_text(one)
    return f"Cheaper if {FORMATS.get(weights, weights)} weights are acceptable: {one.devices:,} × {device_word(one)}, {price} (--weights {weights})"
