"""From a case to a simulation: its rules, its traffic, and the runs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.case_summary import case_title
from symroof.analysis.study import Track, untracked
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, NoValue, Problem, nearest
from symroof.simulate.apart import Disaggregated, Exclusive
from symroof.simulate.server import Rules, Server
from symroof.simulate.simulation import FIELDS, METRICS, Simulation
from symroof.simulate.step_cost import StepCost, over_floats, request_share
from symroof.simulate.workload import (
    ARRIVALS,
    MOST_REQUESTS,
    Length,
    Traffic,
    Workload,
    checked,
    read_trace,
)
from symroof.theory.case import Case

REQUESTS, FEWEST, WRITTEN = 2_000, 200, 2**25
"""Requests of a run that nobody gave a number; fewer where their responses would have more tokens than so many together, which takes seconds."""
NO_BUDGET = 10**12
"""Tokens of a step where no engine and no budget is named: all prompts that wait go into the next step, as in the closed forms."""
FEWEST_TURNS = 3
"""Requests a user of a closed loop that a steady state between its start and its end needs."""
AT_ONCE = "all requests are counted: --requests of three a user and more leave start and end out"
MOST_TOKENS, MOST_PREFILLS = 10**10, 10**8
"""Tokens that all requests of a run write, and steps that their prompts take; beyond that a simulation would take hours."""


def simulate(
    answers: BoundCase,
    arrivals: str | None = None,
    requests: int | None = None,
    seed: int = 0,
    *,
    users: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    lengths: Mapping[str, Any] | None = None,
    track: Track = untracked,
) -> Simulation:
    """A simulation of a case; :meth:`symroof.Study.simulate` says what each argument is.

    Raises:
        InputError: everything wrong with the arguments, the trace or the case.
    """
    case = answers.case
    _check_options(requests, seed)
    if trace is not None:
        if arrivals is not None or lengths:
            raise InputError(Problem("trace", "has its own arrivals and lengths"))
        work = read_trace(trace, requests)
    else:
        work = _drawn(_traffic(answers, arrivals, users, lengths or {}), requests, users, seed)
    schedule = case.theory.assumptions["scheduling"]
    cost = prefill = StepCost(case)
    kind = KINDS[schedule]
    if schedule != "chunked":
        prefill = StepCost(answers.prefill_case.case, "prefill")
    rules, told = _rules(answers, cost, prefill, schedule)
    _bounded(work, rules)
    server = kind(cost, rules, work, prefill)
    for part in track(range(100), "simulating"):
        server.run(len(work) * (part + 1) // 100)
    return _simulation(answers, server, told)


def _simulation(answers: BoundCase, server: Server, told: tuple[str, ...]) -> Simulation:
    """What a server that has served everything leaves behind."""
    work, end = server.work, server.clock
    first = np.array(server.first)
    refused = np.isnan(first)
    times = [server.came, server.began, first, np.where(refused, np.nan, server.ended)]
    counted = ~refused & (np.array(server.came) >= server.counted_from)
    columns = [*map(np.array, times), work.prompt, work.output, work.cached, refused, counted]
    table = np.rec.fromarrays(columns, dtype=list(FIELDS.items()))
    makespan = max(end, float(np.nanmax(table.end, initial=0.0)))
    apart = isinstance(server, Disaggregated)  # whose prefills are on other devices
    worked = server.decode_time + (0.0 if apart else server.prefill_time)
    share = 1 / makespan if makespan else 0.0
    limits = {name: float(limit) for name, limit in answers.targets.items() if name in METRICS}
    return Simulation(
        case_title(answers),
        table,
        *server.gaps.arrays(),
        (server.counted_from, min(server.counted_to, end)),
        makespan,
        worked * share,
        server.prefill_time * share,
        limits,
        {name: answers.request.statistics.get(name, "mean") for name in limits},
        (*work.says, *told),
        _warnings(answers, work, int(refused.sum())),
        answers,
    )


def _check_options(requests: int | None, seed: int) -> None:
    """Refuse numbers that mean nothing.

    Raises:
        InputError: all of them.
    """
    bounds = (("requests", requests, 1, MOST_REQUESTS), ("seed", seed, 0, 2**63 - 1))
    problems = [
        Problem(name, f"has to be from {low:,} to {high:,}")
        for name, value, low, high in bounds
        if value is not None and not low <= value <= high
    ]
    if problems:
        raise InputError(problems)


def _drawn(traffic: Traffic, requests: int | None, users: int | None, seed: int) -> Workload:
    """The requests of a run."""
    looped = traffic.arrivals == "closed-loop"
    usual = min(REQUESTS, max(FEWEST, int(WRITTEN / traffic.output.numbers[0])))
    count = requests or max(usual, 20 * (users or 0), 20 * traffic.users if looped else 0)
    few = looped and count < FEWEST_TURNS * traffic.users
    traffic = replace(traffic, arrivals="burst") if few else traffic
    work = traffic.drawn(count, np.random.default_rng(seed))
    return replace(work, says=(*work.says, AT_ONCE)) if few else work


def _bounded(work: Workload, rules: Rules) -> None:
    """Refuse what would take hours.

    Raises:
        InputError: too many tokens.
    """
    prompts, written = float(work.prompt.sum()), float(work.output.sum())
    if written > MOST_TOKENS or prompts / (rules.budget or math.inf) > MOST_PREFILLS:
        message = f"have {prompts:,.0f} tokens of prompts and {written:,.0f} of responses"
        raise InputError(Problem("requests", f"{message}: more than can be simulated"))


KINDS = {"chunked": Server, "exclusive": Exclusive, "disaggregated": Disaggregated}


def _traffic(
    answers: BoundCase, arrivals: str | None, users: int | None, lengths: Mapping[str, Any]
) -> Traffic:
    """What is drawn: as the case has it, unless lengths are given."""
    case, told = answers.case, answers.request.traffic
    known = case.has_value("arrival_rate")
    said = (told.get("arrivals") if known else None) or ("poisson" if known else "closed-loop")
    kind = (arrivals or said).strip().lower().replace("_", "-")
    if arrivals is None and users is not None:  # who start at once, as those of a benchmark do
        kind = "burst"
    if kind not in ARRIVALS:
        hint = nearest(kind, ARRIVALS)
        raise InputError(Problem("arrivals", "no such kind of arrivals", path=kind[:40], hint=hint))
    read = _lengths({n: told[n] for n in ("prompt", "output") if n in told} | dict(lengths))
    mix = None
    if not read and case.has_value("long_share"):
        long_prompt, long_output = (_fixed(case, name) for name in ("long_prompt", "long_output"))
        mix = float(case.value("long_share")), long_prompt, long_output
    for name in ("prompt", "output"):
        read.setdefault(name, _fixed(case, name))
    rate = float(case.value("arrival_rate") / case.value("dp")) if known else 0.0
    groups = int(case.value("attention_dp"))
    of_batch = -(-int(case.value("batch")) // groups) * groups
    cached = int(case.value("cached_prefix")) if case.has_value("cached_prefix") else 0
    several = (MOST_REQUESTS if kind == "burst" else of_batch) if users is None else users
    spread = told.get("burstiness", 2.0)
    traffic = Traffic(kind, read["prompt"], read["output"], rate, several, spread, cached, mix)
    return checked(traffic)


def _lengths(lengths: Mapping[str, Any]) -> dict[str, Length]:
    """The distributions that are given.

    Raises:
        InputError: everything that is none.
    """
    read: dict[str, Length] = {}
    problems = []
    for name, given in lengths.items():
        if name not in ("prompt", "output"):
            hint = nearest(str(name), ["prompt", "output"])
            problems.append(Problem("lengths", "no such length", path=str(name)[:40], hint=hint))
            continue
        try:
            read[name] = given if isinstance(given, Length) else Length.read(str(given))
        except ValueError as error:
            problems.append(Problem("lengths", str(error), path=name))
    if problems:
        raise InputError(problems)
    return read


def _fixed(case: Case, name: str) -> Length:
    """The length that a case has; outputs may be spread."""
    mean = float(number(case, name))
    spread = float(case.value("output_spread")) if name == "output" else 0.0
    return Length("lognormal", (mean, math.sqrt(spread))) if spread else Length("fixed", (mean,))


def number(case: Case, name: str) -> Fraction:
    """An input that a simulation cannot do without.

    Raises:
        InputError: the case has none.
    """
    try:
        return Fraction(case.value(name))
    except NoValue as error:
        raise InputError(Problem("simulate", f"a simulation {error}", path=name)) from None


def _rules(
    answers: BoundCase, cost: StepCost, prefill: StepCost, schedule: str
) -> tuple[Rules, tuple[str, ...]]:
    """What the engine puts into a step, and the same in words."""
    case, groups = answers.case, cost.groups
    batch = -(-int(case.value("batch")) // groups)
    each = f" of each of {groups} attention groups" if groups > 1 else ""
    usual = "" if case.is_set("batch") else " (the default of batch)"
    told = [f"at most {batch:,} requests{each} at once{usual}"]
    budget, together, share = 0, 1, request_share(case)
    if schedule == "chunked":
        budget, said = _chunks(case, cost, batch, each)
        told.append(said)
    else:
        together = max(1, int(case.value("prefill_batch")) // prefill.groups)
        where = "before any decode" if schedule == "exclusive" else "on other devices"
        some = f", up to {together:,} at once" if together > 1 else ""
        told.append(f"whole prompts{some}{each}, {where}")
    apart: dict[str, Any] = {}
    if schedule == "disaggregated":
        apart = {"prefill_instances": _prefill_instances(case), "sharing": int(case.value("dp"))}
        try:
            apart["transfer"] = over_floats(case, "transfer_time", "prompt")
        except NoValue as error:
            told.append(f"transfers of caches take no time: {error}")
    fitting = "requests wait until their longest cache fits; none is preempted"
    told.append(fitting if share(1) else "memory is not known, and bounds nothing")
    if case.has_value("queue_time") and case.value("queue_time"):
        told.append("queue_time is not used: waits are simulated")
    later = "each other one with a step"
    if cost.decoded > 1:
        later = f"then {cost.gained:.3g} with each step in the mean, which verifies {cost.decoded} for a request"
    told.append(f"the first token comes with the prefill, {later}")
    front = float(case.value("server_latency"))
    return Rules(batch, budget, together, share=share, front=front, **apart), tuple(told)


def _chunks(case: Case, cost: StepCost, batch: int, each: str) -> tuple[int, str]:
    """The tokens of a step that takes chunks of prompts along, and what is said of it.

    Raises:
        InputError: they leave none for prompts.
    """
    first = "first those that decode, then prompts in order of arrival"
    if case.is_set("chunk"):
        budget = -(-int(case.value("chunk")) // cost.groups) + batch * cost.decoded
        said = f"a step{each} has {budget:,} tokens, chunk + batch: {first}"
    else:
        budget = NO_BUDGET
        said = f"a step{each} has no token budget: all prompts that wait are prefilled whole in the next one, as far as places in the batch are free"
    if budget <= batch * cost.decoded:
        message = f"of {budget:,} tokens leaves none for prompts beside {batch * cost.decoded:,} that decode"
        raise InputError(Problem("chunk", message))
    return budget, said


def _prefill_instances(case: Case) -> Fraction:
    """How many instances prefill for one that decodes.

    Raises:
        InputError: too many, too few, or no part that can be simulated.
    """
    asked = number(case, "prefill_devices") / Fraction(case.value("prefill_instance_devices"))
    instances = asked.limit_denominator(1000)
    if not 0 < instances <= 1000 or abs(instances - asked) > 1e-12 * asked:
        message = "have to make from 1/1,000 to 1,000 instances"
        raise InputError(Problem("prefill_devices", message))
    return instances


def _warnings(answers: BoundCase, work: Workload, refused: int) -> tuple[str, ...]:
    found = [f"{refused:,} requests are refused: no memory holds them"] if refused else []
    if answers.does_not_fit:
        found.append("does not fit: the batch has no room, so fewer requests are served at once")
    case = answers.case
    if case.has_value("arrival_rate") and case.has_value("load") and case.value("load") >= 1:
        grows = "requests come faster than they are served: the queue only grows, and its times depend on how many requests are simulated"
        found.append(grows)
    if 0 < work.loop < len(work) and not np.ptp(work.output[work.loop :]):
        way = f"--lengths output=lognormal:{work.output[-1]},0.4 varies them"
        found.append(f"responses of one length: users take turns and may wait less; {way}")
    return (*found, *answers.warnings)
