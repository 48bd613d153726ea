"""Page one of a review as one structure: what to buy, how sure that is, what else there is, what would change it, and what to do next.

A text is a string; a list of texts and :class:`Code` is one sentence.
"""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from symroof.analysis.verdict import (
    LOAD,
    MEMORY,
    TargetCheck,
    at_rate,
    limit_of,
    metrics_of,
    missed,
    target_checks,
    unknown_targets,
    waits_without_end,
)
from symroof.cases.bound_case import BOUND, BoundCase
from symroof.cases.engine_inputs import beyond_measurements, kind_of
from symroof.cases.values import Result
from symroof.report import purchase_text as told
from symroof.report.field_names import quantity_name
from symroof.report.markup import Code
from symroof.report.pictures.chart import sentence
from symroof.report.recommendation import Reviewed
from symroof.report.review_sections import NO_STEADY_STATE, decision_metrics
from symroof.select.configuration import PRICED
from symroof.specs.efficiencies import shipped_efficiencies
from symroof.table_formats import UNKNOWN
from symroof.theory.symbols import TARGET_WORDS
from symroof.theory.theory_files import column
from symroof.units import significant
from symroof.vllm.advice import prefill_command, serve_command

if TYPE_CHECKING:
    from symroof.select.purchase import Purchase

Text = list[str]
"""A sentence in pieces, of which some are code."""

MOST_ROWS, FURTHEST = 6, 64
NARROW = 0.9
"""Share of a target from which on its worst case meets it narrowly."""
LATENCIES = ("ttft", "itl")
BROKEN = {MEMORY: "does not fit", LOAD: "does not keep up"}
BROKEN |= {name: f"misses {word}" for name, word in TARGET_WORDS.items()}
TARGETS = {**column("targets", "says"), LOAD: "load, as a share of capacity"}


WORK = {
    "prompt": "prompts of {}",
    "output": "responses of {}",
    "context": "a context of {}",
    "arrival_rate": "{}",
}


def page_one(review: Reviewed) -> dict[str, Any]:
    """The heading, the price, a few sentences, both targets, and the lists and tables below them."""
    one = review.pick or review.shown.best[0]
    return {
        "heading": heading(review),
        "price": _price(review, one),
        "said": _said(review, one),
        **(_targets(one) if review.asks else _without_targets(one.case)),
        "blocks": _blocks(review, one),
    }


def heading(review: Reviewed) -> str:
    """What to use; or what there is to know where a study asks for nothing, or nothing passes."""
    pick, one, spec = review.pick, review.shown.best[0], review.study.spec
    model = one.case.model.shown_name if one.case.model else "the model"
    purpose = spec.title if spec and spec.title else model
    if pick:
        return f"Use {told.named(pick)} for {purpose}"
    if one.case.fits is None:
        return f"Whether {model} fits on {told.named(one)} is not known"
    if not review.asks:
        word = "does not fit" if one.case.never_fits else "does not always fit"
        of = f"{spec.title}: " if spec and spec.title else ""
        return f"{of}{model} {word if one.case.does_not_fit else 'fits'} on {told.named(one)}"
    if one.state == "unknown":
        return f"Whether {told.named(one)} meets every target of {purpose} is not known"
    return f"Nothing passes for {purpose}"


def _price(review: Reviewed, one: Purchase) -> Text:
    """What it costs; of the nearest miss as well what it lacks."""
    if review.fails:
        month = one.usd_per_month if one.counted else None
        paid = "" if month is None else f"It costs {told.usd(month)} USD/month."
        return [told.closest_text(one), paid]
    if one.usd_per_month is None or one.usd_per_hour is None:
        return ["No price of it is known.", ""]
    tokens = told.tokens_text(one)
    if tokens and one.load is None:
        tokens += f" at full load, {_requests(one.batch)}"
    paid = ", ".join(filter(None, (f"{told.usd(one.usd_per_hour)} USD/hour", tokens)))
    shown = review.shown
    more = (told.room_text(one), told.enough_text(shown, one), told.together_text(shown))
    said = " ".join(f"{sentence(text)}." for text in more if text)
    return [f"{told.usd(one.usd_per_month)} USD/month", f"({paid}). {said}".strip()]


def _requests(count: float) -> str:
    return f"{count:,.0f} request{'s' * (count != 1)} at a time"


def _said(review: Reviewed, one: Purchase) -> list[str]:
    """What is bought and what for, the head room, and what fails as the study has it."""
    said: list[str] = []
    if review.fails and (opened := review.opened):
        said.append(told.opened_text(opened))
    if review.fixed and not one.case.does_not_fit:
        unfit = [x for x in review.shown.best if x.case.does_not_fit]
        said += [f"{told.labelled(x)} {x.lacks}." for x in unfit[:MOST_ROWS]]
    case, device = one.case, one.case.hardware
    work = [words.format(_now(name, case)) for name, words in WORK.items() if name in case.given]
    model = case.model.shown_name if case.model else "The model"
    where = f" on {device.title}" if device else ""
    unset = " (batch not set)" if review.fixed and not case.chosen("batch") else ""
    said.append(f"{model}{where}: {told.layout_text(one)}{unset}; {', '.join(work)}.")
    if one.case.does_not_fit:
        said.append(f"It needs {_memory(case)}. All times and costs below assume that it fits.")
    elif not review.asks:
        said.append(f"It needs {_memory(case)}; the study sets no targets.")
    return said


def _now(name: str, case: BoundCase) -> str:
    """An input as it is, or its name where it has no number."""
    return case.result(name).plain(told.DIGITS) if case.case.has_value(name) else name


def _memory(case: BoundCase) -> str:
    """``196 GB of memory, and 157 GB is usable``."""
    needed, usable = (case.get(name) for name in ("memory_bytes", "usable_memory"))
    if needed is None or usable is None:
        return "more memory than is known"
    return f"{needed.plain(told.DIGITS)} of memory, and {usable.plain(told.DIGITS)} is usable"


def _targets(one: Purchase) -> dict[str, Any]:
    case = one.case
    simulated = {check.name: check for check in one.simulated}
    checks = {check.name: simulated.get(check.name, check) for check in target_checks(case)}
    if LOAD in checks and checks[LOAD].met:
        del checks[LOAD]
    rows = []
    for name, check in checks.items():
        words, (value, span) = TARGETS[name], check.metric.in_two(told.DIGITS)
        if name in simulated:
            slow = Result(check.metric.symbol, check.metric.high or check.metric.value)
            words, span = f"{words}, {check.statistic}", f"up to {slow.plain(told.DIGITS)}"
        rows.append([words, value, span, check.bound.plain(), _outcome(check)])
    for name in case.targets.keys() - checks.keys():
        symbol = case.case.theory.symbol(metrics_of(name, case.case)[0])
        why = unknown_targets(case).get(name, "missed")
        value = NO_STEADY_STATE if waits_without_end(name, case.case) else UNKNOWN
        rows.append([TARGETS[name], value, "", limit_of(symbol, case.targets[name]).plain(), why])
    for name, found in (("ttft", one.ttft), ("itl", one.itl)):  # a wait that no target limits
        if found and name not in case.targets:
            rows.append([TARGETS[name], *found.in_two(told.DIGITS), "none", ""])
    return {
        "header": ["target", "predicted", case.interval_word, "limit", "outcome"],
        "rows": rows,
    }


def _without_targets(case: BoundCase) -> dict[str, Any]:
    """What a case gives, where there is nothing to compare it with."""
    names, rows = (*decision_metrics(case).values(), at_rate("cost_per_mtok", case.case)), []
    for found in filter(None, map(case.get, names)):
        bound = case.peak_bound(found.name)
        least = bound.in_two(told.DIGITS)[0] if bound else ""
        rows.append([quantity_name(found.name, case), *found.in_two(told.DIGITS), least])
    header = ["quantity", "predicted", case.interval_word, "theoretical minimum"]
    return {"header": header, "rows": rows}


def _outcome(check: TargetCheck) -> str:
    """Met, met narrowly or missed, and where in its interval."""
    if check.met is False:
        return "missed"
    if check.met is None:
        end = "in the worst case" if check.slack >= 0 else "at the predicted value"
        return f"missed {end}"
    if check.straddles:
        return "met at the median price"
    high = check.metric.value if check.metric.high is None else check.metric.high
    most = NARROW * float(check.limit)
    worst = " in the worst case" * (float(check.metric.value) <= most)
    return f"met, narrowly{worst}" if float(high) > most else "met"


def _blocks(review: Reviewed, one: Purchase) -> list[dict[str, Any]]:
    """The parts below the targets: a name, and a text, a list or a table."""
    changes = _repairs(review) if review.fails else _changes(review, one)
    header, rows = _instead(review, one)
    sure = " ".join([_latency(one.case, len(one.group) > 1), *_prices(review)])
    blocks: list[dict[str, Any]] = [
        {"name": "How sure.", "text": sure},
        {"name": "Alternatives.", "header": header, "rows": rows},
        {"name": "It would pass if" if review.fails else "Changes if", "texts": changes},
        {"name": "Next.", "texts": _next(review, one)},
    ]
    empty: dict[str, Any] = {"text": "", "texts": [], "header": [], "rows": []}
    return [
        empty | each for each in blocks if each.get("text") or each.get("rows") or each.get("texts")
    ]


def _latency(case: BoundCase, apart: bool) -> str:
    """How far the predicted latencies can be trusted, and what was measured; ``apart``: with GPUs that only prefill."""
    if case.basis == BOUND:
        return "Latency: this is the theoretical minimum, and a real server is slower."
    measured = any(value.measured for value in case.given.values())
    if not measured or case.hardware is None or case.engine is None:
        return "Latency: it rests on the efficiencies that the study sets, not on measurements."
    spec = shipped_efficiencies()
    mine = kind_of(case, case.hardware, case.engine_class)
    same = sum(kind.rows for kind in spec.measured if not kind.differences(mine))
    far = beyond_measurements(case)
    sure, said = "medium", "such models were measured on this generation of GPUs, not on this one"
    if same:
        sure, said = "high", f"{same:,} public measurement{'s' * (same > 1)} {mine.words()}"
    if far or apart:
        sure, said = "low", far or said
    also = f" {sentence(told.APART)}." * apart
    return f"Latency, {sure} confidence: {said}.{also}"


def _prices(review: Reviewed) -> list[str]:
    pick = review.pick
    if pick is None or not pick.priced:
        return []
    (low, high), now = pick.prices, told.usd(pick.prices_now)
    said = f"Price: {now} USD/hour per {told.device_word(pick)}"
    if low < high and pick.usd_per_month:
        month = [told.usd(pick.usd_per_month * end / pick.prices_now) for end in (low, high)]
        said += f", the median of list prices from {told.usd(low)} to {told.usd(high)} ({' to '.join(month)} USD/month)"
    said += "."
    return [said, *filter(None, [told.undecided_text(review.shown)])]


def _instead(review: Reviewed, one: Purchase) -> tuple[list[str], list[list[str]]]:
    """The best of each other device, or what else the study lists, and how its price compares."""
    others = [other for other in review.shown.best if other is not one]
    mine = one.spent if review.pick else None
    at_rate = one.load is not None
    rows = []
    for other in others[:MOST_ROWS]:
        spent = other.spent
        price = ratio = ""
        if spent and other.counted:
            price = told.usd((at_rate and other.usd_per_month) or spent)
            ratio = significant(spent / mine, 2) if mine else ""
        fewer = review.shown.as_predicted(other) if at_rate else None
        cheaper = f"{told.named(fewer)}, {told.paid_text(fewer)}" if fewer else ""
        rows.append([told.labelled(other), price, ratio, cheaper, other.lacks])
    head = "USD/month" if at_rate else "USD per million tokens"
    header = ["candidate", head, "× the price of the pick", "at the predicted values", "misses"]
    return header, rows


def _changes(review: Reviewed, one: Purchase) -> list[Text]:
    """What would change the pick: prices, longer prompts, more requests, what narrower weights or another batch would save."""
    ranking, case, said = review.shown, one.case, []
    stays = ranking.stays_up_to
    worst = f"in the worst case of the {case.interval_word} " if case.box else ""
    if review.pick and stays is not None and math.isfinite(stays):
        price = f"more than {told.usd(stays)} USD/hour each (now {told.usd(one.prices_now)})"
        said.append(
            [f"{told.device_word(one)} costs {price}: then {told.named(ranking.rivals[0])}"]
        )
    if review.pick and (prompt := _too_long(one)):
        much = Result(case.case.theory.symbol("prompt"), prompt).plain(told.DIGITS)
        slow = case.slow_end.case.changed({"prompt": prompt})
        wrong = missed(case, slow)
        misses = ", ".join(BROKEN[name] for name in wrong)
        where = "" if wrong == [MEMORY] else worst
        said.append(
            [f"prompts are {much} or longer (now {_now('prompt', case)}): {where}it then {misses}"]
        )
    if review.pick and one.highest_rate:
        rate = Result(case.case.theory.symbol("arrival_rate"), one.highest_rate).plain(told.DIGITS)
        now = _now("arrival_rate", case)
        said.append([f"more than {rate} (now {now}) arrive: {worst}it then needs another replica"])
    if not review.asks and (held := case.get("concurrency")):
        said.append([f"more than {held.plain(told.DIGITS)} run at a time: memory is full"])
    if less := review.opened:
        full = (told.named(less), told.layout_text(less), told.paid_text(less))
        said.append([f"the batch may change: {', '.join(full)}"])
    if review.found and ranking is review.found and review.found.cheaper:
        weights, less = review.found.cheaper
        word = told.FORMATS.get(weights, weights)
        text = f"{word} weights are acceptable: {told.named(less)}, {told.paid_text(less)},"
        said.append([text, Code(f"--weights {weights}")])
    return said


def _too_long(one: Purchase) -> float | None:
    """The first prompt with which it does not fit or misses a latency in the worst case; None where that is beyond what the model reads."""
    case, model = one.case, one.case.model
    if "prompt" not in case.given or not case.targets.keys() & {*LATENCIES}:
        return None
    most = FURTHEST * int(case.case.value("prompt"))
    most = min(most, (model.max_context if model else None) or most)
    longest = one.longest("prompt", most)
    return longest + 1.0 if longest and longest < most else None


def _repairs(review: Reviewed) -> list[Text]:
    """What would make the first case pass: shorter prompts, fewer requests, other targets."""
    one, said = review.shown.best[0], []
    missed = {*one.missed, *one.missed_as_expected, *one.missed_when_slow}
    for name in ("prompt", "batch") if not missed & PRICED else ():
        if name in one.case.given and name not in one.case.box:
            now = int(one.case.case.value(name))
            if most := one.longest(name, now):
                much = Result(one.case.case.theory.symbol(name), most).plain(told.DIGITS)
                then = "it then fits" if MEMORY in missed else "every target is then met"
                said.append([f"the {name} is at most {much} (now {now:,}): {then}"])
    if not missed & PRICED and (rate := one.highest_rate):
        much = Result(one.case.case.theory.symbol("arrival_rate"), rate).plain(told.DIGITS)
        said.append([f"at most {much} arrive (now {_now('arrival_rate', one.case)})"])
    if needed := told.needed_text(one):
        said.append([needed])
    return said


def _next(review: Reviewed, one: Purchase) -> list[Text]:
    """The command that serves it, what to measure, and the command that fits the prediction to it."""
    document, said = review.study.document, []
    file = shlex.quote(document.file.replace("\\", "/")) if document else ""
    if review.fails:
        look = Code(f"symroof select {file} --details")
        return [["See every candidate:", look]] if file else []
    if command := serve_command(one):
        prefill = prefill_command(one)
        said.append([f"Serve {'each decode instance' if prefill else 'it'}:", Code(command)])
        said += [["Serve each prefill instance:", Code(prefill)]] if prefill else []
    load = f"with {_requests(one.batch)}"
    if one.load is not None:
        rate = float(one.case.case.value("arrival_rate")) * one.whole / one.copies
        whole = "one replica"
        if one.prefill:
            many = one.prefill["instances"] // one.replicas
            whole = f"{one.whole} decode and {many} prefill instances"
        load = f"of {whole} at {significant(rate, told.DIGITS)} requests/s"
    said.append([f"Measure the time to first token and between tokens {load}."])
    fit = Code(f"symroof calibrate measured.csv {file}".rstrip())
    return [*said, ["Fit the prediction to what you measured:", fit]]
