"""``symroof check``: hand calculations in claim files and notes, compared with derived values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symroof.cli.options import options_of
from symroof.cli.terminal import BAD_INPUT, print_problems, progress_bar, report_bug, say, say_json

if TYPE_CHECKING:
    from symroof.claims.checked import Report

TIMES = ("s", "token/s", "request/s", "USD", "J/token")
BASIS = "Latencies, rates and costs without a stated efficiency: {}."


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options_of("check")
def command(
    files: tuple[str, ...],
    strict: bool,
    everything: bool,
    verbose: bool,
    efficiency: str | None,
    engine: str | None,
    as_json: bool,
) -> int:
    """Check the numbers in notes (Markdown), notebooks and claims files (YAML).

    symroof check notes.md

    In a note, a comment after the sentence says what its number is:

    \b
    ... takes 1.34 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->

    also in Markdown cells of notebooks (.ipynb).

    Exit 1 if a claim is wrong, inconsistent, or conditional and off by more than 25 %; 2 if one cannot be read or evaluated; 101 if symroof itself fails on
    one. The other claims are still checked.
    """
    from symroof.analysis.verdict import default_basis
    from symroof.claims.check import check
    from symroof.cli.check_screen import screen

    report = check(
        dict.fromkeys(files),
        read_past_errors=True,
        track=progress_bar,
        efficiency=efficiency,
        engine=engine,
    )
    if as_json:
        say_json(report.as_json())
    elif not report.problems or not all(claim.faulty for claim in report.claims):
        timed = any(claim.unit in TIMES for claim in report.claims)
        basis = BASIS.format(default_basis(efficiency, engine)) if timed else ""
        say(screen(report, strict, basis, everything, verbose))
    return _code(report, strict, as_json)


def _code(report: Report, strict: bool, as_json: bool) -> int:
    """Print what could not be read, and bugs, and tell the exit code."""
    debug = "--debug" in (click.get_current_context().obj or ())
    failed = [
        report_bug(claim.failure, f"{claim.file}:{claim.line}: {claim.id}", debug)
        for claim in report.claims
        if claim.failure
    ]
    if report.problems:
        print_problems(report.problems, as_json)
    found = BAD_INPUT if report.problems else int(bool(report.findings(strict)))
    return next(iter(failed), found)
