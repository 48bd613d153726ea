"""``symroof simulate``: a server step by step.

``--json`` gives ``summary`` (a metric -> mean, p50, p90, p95, p99), rates and ``targets``; a figure is ``{"value", "unit"}``; a value is null where there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import options_of, pairs, study_from, study_options
from symroof.cli.terminal import (
    fitted_table,
    say_json,
    say_marked,
    say_one_of,
    warning_lines,
    wrapped,
)
from symroof.table_formats import FAILS, PASSES

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase
    from symroof.simulate.simulation import Simulation

OWN = ("arrivals", "users", "trace", "requests", "seed")
"""Options that the simulation takes as they are."""


@click.command("simulate")
@options_of("simulate")
@study_options
def command(
    study: str | None, lengths: tuple[str, ...], everything: bool, as_json: bool, **options: Any
) -> int:
    """Simulate a server step by step: mean and percentile latencies.

    symroof simulate --model llama-3.1-8b --hardware h100-sxm --prompt 1024 --output 256 --batch 64 --set chunk=512 --set arrival_rate=12/s

    One replica is simulated. Each step takes what the engine's scheduler would put in it (--assume scheduling=chunked, exclusive or
    disaggregated) and as long as the formulas predict for it. The exit code is 1 if a target is missed.
    """
    from symroof.cli.terminal import progress_bar
    from symroof.simulate.run_simulation import simulate

    chosen = {name: options.pop(name) for name in OWN}
    made = study_from(study, options)
    found = simulate(made.first, lengths=pairs(lengths, "--lengths"), track=progress_bar, **chosen)
    say_one_of(made.cases, "simulating")
    if as_json:
        say_json(found.as_json())
    else:
        say_marked("\n".join(simulation_lines(found, made.first, everything)))
    return int(found.missed)


MOST_DIGITS = 6
"""Significant digits of ``--all``."""


def simulation_lines(found: Simulation, case: BoundCase, everything: bool) -> list[str]:
    """What was simulated, latencies against their targets, rates, and what was assumed; with ``everything`` the rules and inputs."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.analysis.verdict import basis_lines
    from symroof.cli.case_screen import assumed, ledger
    from symroof.simulate.simulation import rests_on
    from symroof.theory.symbols import TARGET_WORDS

    (head, times), (_, rates) = found.tables(MOST_DIGITS if everything else DIGITS)
    arrivals, *rules = found.says
    lines = wrapped(found.title)
    lines += wrapped(f"{len(found.requests):,} requests, {arrivals}", "    ", "  ")
    basis = (text.partition("; ranges")[0] for text in basis_lines([case]))
    lines += [line for text in basis for line in wrapped(text, "    ", "  ")]
    named = zip(times, found.summary, strict=True)
    table = [
        [TARGET_WORDS.get(name, row[0]), *row[1:], *_target(found, name, DIGITS)]
        for row, name in named
    ]
    aimed = ["target", "requests"] if found.limits else []
    lines += ["", fitted_table(table, [*head, *aimed], "  ", left=not aimed)]
    lines += wrapped(f"{'; '.join(f'{words} {value}' for words, value in rates)}.", "    ", "  ")
    lines += warning_lines(found.warnings)
    if everything:
        lines += ["", "rules of the simulation"]
        lines += [line for text in rules for line in wrapped(text, "    ", "  ")]
        return [*lines, *ledger(case, rests_on(case.case))]
    remark = "--all shows the rules of the simulation and every input with its source."
    return [*lines, *assumed(case, rests_on(case.case), remark=remark)]


def _target(found: Simulation, name: str, digits: int) -> list[str]:
    """The target of a latency, and whether it is met; two empty cells where it has none."""
    from symroof.units import format_quantity

    check = found.checks.get(name)
    if check is None:
        return ["", ""] if found.limits else []
    met = found.within({name: found.limits[name]})
    share, verdict = (met, f"{PASSES} met") if check["met"] else (1 - met, f"{FAILS} missed")
    limit_text = format_quantity(check["limit"], "s", digits)
    return [f"{found.judged[name]} {limit_text}", f"{verdict} by {100 * share:.0f} %"]
