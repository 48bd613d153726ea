"""From a case to a simulation: its rules, its traffic, and the runs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.tracking import Track, untracked
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem, nearest
from symroof.simulate.server import Disaggregated, Exclusive, Rules, Server
from symroof.simulate.simulation import METRICS, Run, Simulation
from symroof.simulate.step_cost import FLOATS, StepCost, inlined, printed, request_share
from symroof.simulate.traces import read_trace
from symroof.simulate.workload import ARRIVALS, MOST_REQUESTS, Length, Traffic, Workload, checked
from symroof.specs.fields import STATISTICS
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.reading import parse
from symroof.theory.case import Case

REQUESTS, MOST_REPLICATIONS = 2_000, 100
NO_BUDGET = 10**12
"""Tokens of a step where no engine and no budget is named: all prompts that wait go into the next step, as in the closed forms."""
FEWEST_TURNS = 3
"""Requests a user of a closed loop that a steady state between its start and its end needs."""
AT_ONCE = "all requests are counted: --requests of three a user and more leave start and end out"
PARTS = 100
MOST_TOKENS, MOST_PREFILLS = 10**10, 10**8
"""Tokens that all requests of a run write, and steps that their prompts take; beyond that a simulation would take hours."""


def simulate(
    answers: BoundCase,
    arrivals: str | None = None,
    requests: int | None = None,
    seed: int = 0,
    *,
    users: int | None = None,
    burstiness: float = 2.0,
    trace: str | os.PathLike[str] | None = None,
    speed: float = 1.0,
    lengths: Mapping[str, Any] | None = None,
    turns: int = 1,
    think: float = 0.0,
    budget: int | None = None,
    replications: int = 1,
    warmup: float | None = None,
    judge: str | None = None,
    track: Track = untracked,
) -> Simulation:
    """A simulation of a case; :meth:`symroof.Study.simulate` says what each argument is.

    Raises:
        InputError: everything wrong with the arguments, the trace or the case.
    """
    case = answers.case
    problems = [
        Problem(name, message)
        for name, wrong, message in (
            (
                "requests",
                requests is not None and not 1 <= requests <= MOST_REQUESTS,
                f"has to be from 1 to {MOST_REQUESTS:,}",
            ),
            (
                "replications",
                not 1 <= replications <= MOST_REPLICATIONS,
                f"has to be from 1 to {MOST_REPLICATIONS}",
            ),
            ("seed", not 0 <= seed < 2**63, "is a whole number from 0 on"),
            ("warmup", warmup is not None and not 0 <= warmup <= 0.9, "is a share from 0 to 0.9"),
            (
                "budget",
                budget is not None and not 1 <= budget <= 10_000_000,
                "has to be from 1 to 10,000,000 tokens",
            ),
            (
                "judge",
                judge is not None and judge not in STATISTICS,
                nearest(judge or "", [*STATISTICS]),
            ),
        )
        if wrong
    ]
    if problems:
        raise InputError(problems)
    if trace is not None:
        if arrivals is not None or lengths:
            raise InputError(Problem("trace", "has its own arrivals and lengths"))
        recorded = read_trace(trace, requests, speed)
        works: Iterable[Workload] = [recorded]
        says = recorded.says
    else:
        traffic = _traffic(answers, arrivals, users, burstiness, lengths or {}, turns, think)
        few: tuple[str, ...] = ()
        looped = traffic.arrivals == "closed-loop"
        count = requests or max(REQUESTS, 20 * (users or 0), 20 * traffic.users if looped else 0)
        if looped and count < FEWEST_TURNS * traffic.users:
            traffic, few = replace(traffic, arrivals="burst"), (AT_ONCE,)
        left_out = (0.0 if traffic.arrivals == "burst" else 0.1) if warmup is None else warmup
        works = (
            traffic.drawn(count, np.random.default_rng(seed + i), left_out)
            for i in range(replications)
        )
        says = (*traffic.says(), *few)
    schedule = case.theory.assumptions["scheduling"]
    cost = StepCost(case)
    prefill = (
        None
        if schedule == "chunked"
        else StepCost((answers.prefill_case or answers).case, "prefill")
    )
    rules, told = _rules(answers, cost, prefill or cost, schedule, budget)
    runs = []
    for work in works:
        _bounded(work, rules)
        server = _server(cost, rules, work, prefill, schedule)
        for part in track(range(PARTS), "simulating"):
            server.run(len(work) * (part + 1) // PARTS)
        runs.append(Run.of(server))
    limits = {name: float(limit) for name, limit in answers.targets.items() if name in METRICS}
    judged = {name: judge or answers.request.statistics.get(name, "mean") for name in limits}
    return Simulation(
        case_title(answers),
        tuple(runs),
        limits,
        judged,
        (*says, *told),
        _warnings(answers, runs),
        answers.ledger(rests_on(case)),
    )


def _bounded(work: Workload, rules: Rules) -> None:
    """Refuse what would take hours.

    Raises:
        InputError: too many tokens.
    """
    if (
        float(work.output.sum()) > MOST_TOKENS
        or float(work.prompt.sum()) / (rules.budget or math.inf) > MOST_PREFILLS
    ):
        raise InputError(
            Problem(
                "requests",
                f"have {int(work.prompt.sum()):,} tokens of prompts and {int(work.output.sum()):,} of responses: more than can be simulated",
            )
        )


RESTS_ON = ("loaded_time", "concurrency", "load", "time_outside_steps")
OF_PREFILL = ("prefill_time", "prefill_overhead", "transfer_time")
"""Its times, what memory holds, and what comes; and those of a prefill on its own."""


def rests_on(case: Case) -> tuple[str, ...]:
    """The quantities whose inputs a simulation of a case has."""
    names = (
        RESTS_ON if case.theory.assumptions["scheduling"] == "chunked" else (*RESTS_ON, *OF_PREFILL)
    )
    return tuple(filter(case.has_value, names))


def _server(
    cost: StepCost, rules: Rules, work: Workload, prefill: StepCost | None, schedule: str
) -> Server:
    if prefill is None:
        return Server(cost, rules, work)
    return (Exclusive if schedule == "exclusive" else Disaggregated)(cost, rules, work, prefill)


def _traffic(
    answers: BoundCase,
    arrivals: str | None,
    users: int | None,
    burstiness: float,
    lengths: Mapping[str, Any],
    turns: int,
    think: float,
) -> Traffic:
    """What is drawn: as the case has it, unless lengths are given."""
    case = answers.case
    known = case.has_value("arrival_rate")
    kind = (arrivals or ("poisson" if known else "closed-loop")).strip().lower().replace("_", "-")
    if arrivals is None and users is not None:  # who start at once, as those of a benchmark do
        kind = "burst"
    if kind not in ARRIVALS:
        raise InputError(
            Problem(
                "arrivals",
                "no such kind of arrivals",
                path=kind[:40],
                hint=nearest(kind, [*ARRIVALS]),
            )
        )
    read: dict[str, Length] = {}
    problems = []
    for name, text in lengths.items():
        if name not in ("prompt", "output"):
            problems.append(
                Problem(
                    "lengths",
                    "no such length",
                    path=str(name)[:40],
                    hint=nearest(str(name), ["prompt", "output"]),
                )
            )
            continue
        try:
            read[name] = text if isinstance(text, Length) else Length.read(str(text))
        except ValueError as error:
            problems.append(Problem("lengths", str(error), path=name))
    if problems:
        raise InputError(problems)
    mix = None
    if not read and case.has_value("long_share"):
        long_prompt, long_output = (
            Length("fixed", (float(number(case, name)),)) for name in ("long_prompt", "long_output")
        )
        mix = float(case.value("long_share")), long_prompt, long_output
    for name in ("prompt", "output"):
        if name not in read:
            mean, spread = (
                float(number(case, name)),
                float(case.value("output_spread")) if name == "output" else 0.0,
            )
            read[name] = (
                Length("lognormal", (mean, math.sqrt(spread)))
                if spread
                else Length("fixed", (mean,))
            )
    rate = float(case.value("arrival_rate") / case.value("dp")) if known else 0.0
    groups = int(case.value("attention_dp"))
    of_batch = -(-int(case.value("batch")) // groups) * groups
    cached = int(case.value("cached_prefix")) if case.has_value("cached_prefix") else 0
    return checked(
        Traffic(
            kind,
            read["prompt"],
            read["output"],
            rate,
            (MOST_REQUESTS if kind == "burst" else of_batch) if users is None else users,
            burstiness,
            cached,
            turns,
            think,
            int(case.value("block_size")),
            mix,
        )
    )


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
    answers: BoundCase, cost: StepCost, prefill: StepCost, schedule: str, budget: int | None
) -> tuple[Rules, tuple[str, ...]]:
    """What the engine puts into a step, and the same in words."""
    case, groups = answers.case, cost.groups
    batch = -(-int(case.value("batch")) // groups)
    share, each = (
        request_share(case),
        f" of each of {groups} attention groups" if groups > 1 else "",
    )
    told = [
        f"at most {batch:,} requests{each} at once{'' if case.is_set('batch') else ' (the default of batch)'}"
    ]
    transfer, instances, together = (lambda prompt: 0.0), Fraction(1), 1
    if schedule == "chunked":
        if budget is None and case.is_set("chunk"):
            budget = -(-int(case.value("chunk")) // groups) + batch * cost.decoded
            told.append(
                f"a step{each} has {budget:,} tokens, chunk + batch: first those that decode, then prompts in order of arrival"
            )
        elif budget is None:
            budget = NO_BUDGET
            told.append(
                f"a step{each} has no token budget: all prompts that wait are prefilled whole in the next one, as far as places in the batch are free"
            )
        else:
            told.append(
                f"a step{each} has {budget:,} tokens: first those that decode, then prompts in order of arrival"
            )
        if budget <= batch * cost.decoded:
            raise InputError(
                Problem(
                    "budget",
                    f"of {budget:,} tokens leaves none for prompts beside {batch * cost.decoded:,} that decode",
                )
            )
    else:
        together = max(1, int(case.value("prefill_batch")) // prefill.groups)
        where = "before any decode" if schedule == "exclusive" else "on other devices"
        if budget is not None and schedule == "exclusive":
            together = batch
            told.append(
                f"prompts{each} {where}, in order of arrival, up to {budget:,} tokens in a step"
            )
        else:
            told.append(
                f"whole prompts{f', up to {together:,} at once' if together > 1 else ''}{each}, {where}"
            )
            told += (
                [f"the budget of {budget:,} tokens is not used: prompts are prefilled whole"]
                if budget is not None
                else []
            )
            budget = None
    if schedule == "disaggregated":
        asked = number(case, "prefill_devices") / Fraction(case.value("prefill_instance_devices"))
        instances = asked.limit_denominator(1000)
        if not 0 < instances <= 1000 or abs(instances - asked) > 1e-12 * asked:
            raise InputError(
                Problem("prefill_devices", "have to make from 1/1,000 to 1,000 instances")
            )
        try:
            sent = printed(inlined(case, parse("transfer_time"), ("prompt",)), ("prompt",), FLOATS)
            transfer = lambda prompt: float(sent(None, float(prompt)))  # noqa: E731
        except NoValue as error:
            told.append(f"transfers of caches take no time: {error}")
    told.append(
        "requests wait until their longest cache fits; none is preempted"
        if share(1)
        else "memory is not known, and bounds nothing"
    )
    if case.has_value("queue_time") and case.value("queue_time"):
        told.append("queue_time is not used: waits are simulated")
    told.append("the first token comes with the prefill, each other one with a step")
    if cost.decoded > 1:
        told[-1] = (
            f"the first token comes with the prefill, then {cost.gained:.3g} with each step in the mean, which verifies {cost.decoded} for a request"
        )
    return Rules(
        batch,
        budget or 0,
        together,
        instances,
        share,
        transfer,
        float(case.value("server_latency")),
    ), tuple(told)


def _warnings(answers: BoundCase, runs: list[Run]) -> tuple[str, ...]:
    found = []
    if refused := sum(int(run.requests.refused.sum()) for run in runs):
        found.append(f"{refused:,} requests are refused: no memory holds them")
    if answers.does_not_fit:
        found.append(
            "does not fit: the batch has no room in memory, so fewer requests are served at once"
        )
    if unsteady(answers.case):
        found.append(
            "requests come faster than they are served: the queue only grows, and its times depend on how many requests are simulated"
        )
    return tuple(found)


def unsteady(case: Case) -> bool:
    """Whether requests come faster than the closed form of the rate allows."""
    return (
        case.has_value("arrival_rate") and case.has_value("load") and bool(case.value("load") >= 1)
    )
