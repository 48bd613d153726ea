"""``symroof simulate``: a server step by step.

``--json`` gives ``{"schema": "symroof/simulate/2", "title", "requests", "replications", "summary": {"ttft" | "itl" | "response_time" | "queue_wait":
{"mean" | "p50" | "p90" | "p99": FIGURE}}, "request_rate", "throughput", "makespan", "busy", "prefilling": FIGURE, "within_targets": FIGURE (where there
are targets), "targets": {name: {"limit", "value", "met", "statistic", "unit"}}, "says": [text], "warnings": [text], "inputs", "assumptions"}``. A FIGURE is
``{"value", "unit"}``, with ``"low"`` and ``"high"`` (95 %) where there are several replications; a value is null where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import (
    all_option,
    json_option,
    pairs,
    study_from,
    study_options,
)
from symroof.cli.output import json_text, say, say_marked, say_one_of, write_file
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.table_formats import FAILS, PASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from symroof.cases.bound_case import BoundCase
    from symroof.simulate.simulation import Simulation

OWN: dict[str, tuple[str, Any, str]] = {
    "arrivals": ("KIND", None, "poisson, bursty or uniform (at arrival_rate), closed-loop, or burst.  [default: burst with --users, poisson with a rate, else closed-loop]"),
    "users": ("N", int, "Users who each send the next request when the last has ended, as --max-concurrency.  [default: the batch; of a burst all]"),
    "burstiness": ("CV", float, "Coefficient of variation of the gaps between bursty arrivals.  [default: the study's, else 2]"),
    "trace": ("FILE", None, "Recorded requests: Azure, BurstGPT, Mooncake, or CSV with arrival,prompt,output."),
    "speed": ("X", 1.0, "How many times faster than recorded they come."),
    "requests": ("N", int, "How many.  [default: 2,000, or 20 a user; of a trace all]"),
    "turns": ("N", 1, "Requests of a session: each has all text before it as a cached prefix."),
    "think": ("SECONDS", 0.0, "Mean time between an answer and the next turn."),
    "budget": ("TOKENS", int, "Tokens of a step of a group.  [default: chunk + batch, else the engine's]"),
    "seed": ("S", 0, "Draws with the same seed are the same."),
    "replications": ("R", 1, "Independent runs, for intervals of 95 %."),
    "warmup": ("SHARE", float, "Share of the requests that end first and are not counted.  [default: 0.1; of a trace or burst 0]"),
    "judge": ("STATISTIC", None, "What every target is of: mean, p50, p90 or p99.  [default: what each says, else the mean]"),
}  # fmt: skip
"""Options of the simulation alone: what stands for the value, its default or else its type, the help."""


def own_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the simulation."""
    for name, (metavar, kind, text) in reversed(OWN.items()):
        own = {"type": kind} if isinstance(kind, type) or kind is None else {"default": kind}
        command = click.option(
            f"--{name}", show_default="default" in own, metavar=metavar, help=text, **own
        )(command)
    return command


@click.command("simulate")
@own_options
@click.option(
    "--lengths",
    multiple=True,
    metavar="NAME=DISTRIBUTION",
    help="prompt=lognormal:MEAN,CV, output=choice:64*0.8,1024*0.2, uniform:LOW..HIGH, exponential:MEAN.",
)
@click.option("--plot", "picture", metavar="FILE", help="Draw the times: .svg, .pdf or .png.")
@all_option
@study_options
@json_option
def command(
    study: str | None,
    lengths: tuple[str, ...],
    picture: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Serve requests step by step, and tell what they wait for.

    symroof simulate --model llama-3.1-8b --hardware h100-sxm --prompt 1024 --output 256 --batch 64 --set chunk=512 --set arrival_rate=12/s

    One instance: what a step holds is the engine's rule (--assume scheduling=chunked, exclusive or disaggregated), how long it takes
    is the formula of the theory at just those requests. The exit code is 1 where a target is missed.
    """
    from symroof.cli.output import progress_bar
    from symroof.simulate.run_simulation import simulate

    chosen = {name: options.pop(name) for name in OWN}
    made = study_from(study, options)
    found = simulate(made.first, lengths=pairs(lengths, "--lengths"), track=progress_bar, **chosen)
    say_one_of(made.cases, "simulating")
    if picture:
        from symroof.cli.plot_command import picture_format
        from symroof.report.pictures.draw import draw
        from symroof.report.pictures.simulated import chart

        drawn = draw(chart(found, "distribution")).form(picture_format(picture))
        write_file(picture, drawn, study, chosen["trace"])
    if as_json:
        say(json_text(found.as_json()))
    else:
        say_marked("\n".join(simulation_lines(found, made.first, everything)))
    return int(found.missed)


MOST_DIGITS = 6
"""Significant digits of ``--all``."""


def simulation_lines(found: Simulation, case: BoundCase, everything: bool) -> list[str]:
    """Targets, tables, what was simulated, and what it rests on: defaults in a line, or ``everything``."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.analysis.verdict import basis_lines
    from symroof.cli.case_screen import ledger
    from symroof.simulate.simulation import rests_on

    (head, times), (_, rates) = found.tables(MOST_DIGITS if everything else DIGITS)
    lines = [line for text in (found.title, *basis_lines([case])) for line in wrapped(text)]
    lines += _targets(found)
    lines += [fitted_table(times, head, "  "), fitted_table(rates, (), "  ")]
    if len(found.runs) > 1:
        lines.append(f"± of {len(found.runs)} independent runs: 95 %, Student's t")
    lines += warning_lines(found.warnings)
    lines += ["simulated:", *(line for text in found.says for line in wrapped(text, "    ", "  "))]
    lines += ledger(case, rests_on(case.case), everything)
    return lines + ["--all: every input with its source, and counting choice"] * (not everything)


def _targets(found: Simulation) -> list[str]:
    """Whether each target is met."""
    import math

    from symroof.analysis.case_summary import DIGITS
    from symroof.units import format_quantity

    def time(value: float) -> str:
        return format_quantity(value, "s", DIGITS) if math.isfinite(value) else "none"

    return [
        f"{PASSES if check['met'] else FAILS} {found.judged[name]} of {name} within {time(check['limit'])}: {time(check['value'])}"
        for name, check in found.checks.items()
    ]
