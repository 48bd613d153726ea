"""``symroof simulate``: a server step by step.

``--json`` gives ``{"schema": "symroof/simulate/2", "title", "requests", "replications", "summary": {"ttft" | "itl" | "response_time" | "queue_wait":
{"mean" | "p50" | "p90" | "p99": FIGURE}}, "request_rate", "throughput", "makespan", "busy", "prefilling": FIGURE, "within_targets": FIGURE (where there
are targets), "targets": {name: {"limit", "value", "met", "statistic", "unit"}}, "says": [text], "warnings": [text], "inputs", "assumptions"}``. A FIGURE is
``{"value", "unit"}``, with ``"low"`` and ``"high"`` (95 %) where there are several replications; a value is null where there is none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import (
    all_option,
    json_option,
    pairs,
    picture_format,
    study_from,
    study_options,
)
from symroof.cli.output import json_text, say, say_marked, say_one_of, write_file
from symroof.errors import InputError, Problem

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase
    from symroof.simulate.simulation import Simulation


@click.command("simulate")
@click.option(
    "--arrivals",
    metavar="KIND",
    help="poisson, bursty or uniform (at arrival_rate), closed-loop (users met in the middle of their work), or burst (all at once).  [default: burst with --users, poisson with a rate, else closed-loop]",
)
@click.option(
    "--users",
    type=int,
    metavar="N",
    help="Users who send their first requests at once and each next one when the last has ended, as vllm bench serve --max-concurrency.  [default: the batch of a closed loop; of a burst all]",
)
@click.option(
    "--burstiness",
    type=float,
    default=2.0,
    show_default=True,
    metavar="CV",
    help="Coefficient of variation of the gaps between bursty arrivals.",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Recorded requests: Azure, BurstGPT, Mooncake, or CSV with arrival,prompt,output.",
)
@click.option(
    "--speed",
    type=float,
    default=1.0,
    show_default=True,
    metavar="X",
    help="How many times faster than recorded they come.",
)
@click.option(
    "--requests",
    type=int,
    metavar="N",
    help="How many.  [default: 2,000, or 20 a user; of a trace all]",
)
@click.option(
    "--lengths",
    multiple=True,
    metavar="NAME=DISTRIBUTION",
    help="prompt=lognormal:MEAN,CV, output=choice:64*0.8,1024*0.2, uniform:LOW..HIGH, exponential:MEAN.",
)
@click.option(
    "--turns",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Requests of a session: each has all text before it as a cached prefix.",
)
@click.option(
    "--think",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Mean time between an answer and the next turn.",
)
@click.option(
    "--budget",
    type=int,
    metavar="TOKENS",
    help="Tokens of a step of a group.  [default: chunk + batch, else the engine's]",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="S",
    help="Draws with the same seed are the same.",
)
@click.option(
    "--replications",
    type=int,
    default=1,
    show_default=True,
    metavar="R",
    help="Independent runs, for intervals of 95 %.",
)
@click.option(
    "--warmup",
    type=float,
    metavar="SHARE",
    help="Share of the requests that end first and are not counted.  [default: 0.1; of a trace or burst 0]",
)
@click.option(
    "--judge",
    metavar="STATISTIC",
    help="What every target is of: mean, p50, p90 or p99.  [default: what each says, else the mean]",
)
@click.option("--plot", "picture", metavar="FILE", help="Write a picture: .svg, .pdf or .png.")
@all_option
@click.option(
    "--kind",
    default="distribution",
    show_default=True,
    metavar="KIND",
    help="Of the picture: distribution or timeline.",
)
@study_options
@json_option
def command(
    study: str | None,
    lengths: tuple[str, ...],
    picture: str | None,
    kind: str,
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
    if picture and any(
        path
        and os.path.exists(path)
        and os.path.exists(picture)
        and os.path.samefile(picture, path)
        for path in (study, chosen["trace"])
    ):
        raise InputError(
            Problem(
                picture,
                "is an original; a picture never replaces one",
                hint="write it to another file",
            )
        )
    found = simulate(made.first, lengths=pairs(lengths, "--lengths"), track=progress_bar, **chosen)
    say_one_of(made.cases, "simulating")
    if picture:
        from symroof.report.pictures.draw import draw
        from symroof.report.pictures.simulated import chart

        write_file(picture, draw(chart(found, kind)).form(picture_format(picture)))
    if as_json:
        say(json_text(found.as_json()))
    else:
        say_marked(written(found, made, everything))
    return int(found.missed)


OWN = (
    "arrivals",
    "users",
    "burstiness",
    "trace",
    "speed",
    "requests",
    "turns",
    "think",
    "budget",
    "seed",
    "replications",
    "warmup",
    "judge",
)


def written(found: Simulation, study: Any, everything: bool) -> str:
    """Targets, tables, what was simulated, and what it rests on: defaults in a line, or ``everything``."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.cli.case_screen import rests_on
    from symroof.cli.output import inputs_table, switches_line
    from symroof.cli.terminal import folded_table, warning_lines, wrapped
    from symroof.simulate.run_simulation import rests_on as simulated_names

    (head, times), (_, rates) = found.tables(MOST_DIGITS if everything else DIGITS)
    lines = [
        *wrapped(found.title, "  ", ""),
        *(line for text in _basis(study.first) for line in wrapped(text, "  ", "")),
        *_targets(found),
    ]
    lines += [folded_table(times, head, "  "), folded_table(rates, (), "  ")]
    if len(found.runs) > 1:
        lines.append(f"± of {len(found.runs)} independent runs: 95 %, Student's t")
    lines += warning_lines(found.warnings)
    lines += ["simulated:", *(line for text in found.says for line in wrapped(text, "    ", "  "))]
    names = simulated_names(study.first.case)
    if not everything:
        return "\n".join(
            [
                *lines,
                *rests_on(study.first, names=names),
                "--all: every input with its source, and counting choice",
            ]
        )
    return "\n".join(
        [
            *lines,
            "",
            "inputs (* = defaulted):",
            inputs_table(study.first.inputs(names)),
            "",
            switches_line(study.first),
        ]
    )


MOST_DIGITS = 6
"""Significant digits of ``--all``."""


def _basis(case: BoundCase) -> list[str]:
    """What the times rest on; at the peak, how to simulate what to expect."""
    from symroof.analysis.verdict import basis_lines

    return list(basis_lines([case]))


def _targets(found: Simulation) -> list[str]:
    """Whether each target is met."""
    import math
    from fractions import Fraction

    from symroof.analysis.case_summary import DIGITS
    from symroof.table_formats import FAILS, PASSES
    from symroof.units import format_quantity

    lines = []
    for name, check in found.checks.items():
        limit, value = (
            format_quantity(Fraction(check[key]), "s", DIGITS)
            if math.isfinite(check[key])
            else "none"
            for key in ("limit", "value")
        )
        lines.append(
            f"{PASSES if check['met'] else FAILS} {found.judged[name]} of {name} within {limit}: {value}"
        )
    return lines
