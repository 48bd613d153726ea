"""``symroof check``: hand calculations in claim files and notes, compared with derived values."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from symroof.cli.options import json_option
from symroof.cli.output import BAD_INPUT, json_text, print_problems, progress_bar, report_bug, say

if TYPE_CHECKING:
    from symroof.claims.checked import Report

TIMES = ("s", "token/s", "request/s", "USD", "J/token")
BASIS = "Latencies, rates and costs without a stated efficiency: {}."
WITHOUT_TERMINAL = 140
"""Columns of an output that is not a terminal."""


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github"]),
    default="text",
    help="A table, or GitHub annotations (default: text).",
)
@click.option("--fix", is_flag=True, help="Write a corrected copy of each note: NAME.fixed.md.")
@click.option("-o", "--out", metavar="FILE|DIR", help="With --fix: where the copy goes.")
@click.option("--in-place", is_flag=True, help="With --fix: change the note itself.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit 1 also if a claim is conditional, does not fit in memory, or could not be checked.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Every claim, in a table with its sentence."
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="For each claim that does not hold, all details, with the command that derives it.",
)
@click.option(
    "--efficiency",
    type=click.Choice(("peak", "measured")),
    help="Source of the efficiencies that a claim does not state (default: peak).",
)
@click.option(
    "--engine",
    metavar="NAME",
    help="Engine, or engine class, of measured efficiencies: compiled, earlier, eager, ggml, vllm ...",
)
@json_option
def command(
    files: tuple[str, ...],
    form: str,
    fix: bool,
    out: str | None,
    in_place: bool,
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
    one. The other claims are still checked, but --fix then writes nothing.
    """
    from symroof.analysis.verdict import default_basis
    from symroof.claims.check import check

    _check_options(form, fix, out, in_place, as_json)
    report = check(
        dict.fromkeys(files),
        read_past_errors=True,
        track=progress_bar,
        efficiency=efficiency,
        engine=engine,
    )
    if fix and not report.problems and not report.failures:
        _write_copies(report, out, in_place)
    if as_json:
        say(json_text(report.as_json()))
    elif not report.problems or not all(claim.faulty for claim in report.claims):
        timed = any(claim.unit in TIMES for claim in report.claims)
        basis = BASIS.format(default_basis(efficiency, engine)) if timed else ""
        detail = verbose if everything or verbose else None
        say(_printed(report, form, strict, detail, basis))
    if fix and report.problems:
        say("nothing was corrected; fix these errors first:", err=True)
    return _code(report, form, strict, as_json)


def _code(report: Report, form: str, strict: bool, as_json: bool) -> int:
    """Print what could not be read, and bugs, and tell the exit code."""
    debug = "--debug" in (click.get_current_context().obj or ())
    failed = [
        report_bug(claim.failure, f"{claim.file}:{claim.line}: {claim.id}", debug)
        for claim in report.failures
        if claim.failure
    ]
    if form == "github" and report.problems:
        from symroof.report.claims_text import annotation

        for p in report.problems:
            message = ": ".join(filter(None, (p.path, p.message, p.hint)))
            place = (p.file, p.line or 1, p.column or 1)
            say(annotation("error", *place, "symroof: bad input", message), err=True)
    elif report.problems:
        print_problems(report.problems, as_json)
    found = BAD_INPUT if report.problems else int(bool(report.findings(strict)))
    return next(iter(failed), found)


def _check_options(form: str, fix: bool, out: str | None, in_place: bool, as_json: bool) -> None:
    refused = {
        "--json and --format cannot be used together": as_json and form != "text",
        "-o and --in-place need --fix": (out is not None or in_place) and not fix,
        "--fix writes a file, not standard output": out == "-",
        "-o and --in-place cannot be used together": out is not None and in_place,
    }
    for message, wrong in refused.items():
        if wrong:
            raise click.UsageError(message)


def _printed(report: Report, form: str, strict: bool, verbose: bool | None, basis: str) -> str:
    """The report in a form; as text the first screen, or every claim where ``verbose`` is not None."""
    from symroof.report.claims_text import github_annotations, summary, text

    if form == "github":
        return "\n".join([*github_annotations(report, strict), summary(report)])
    if verbose is None:
        from symroof.cli.check_screen import screen

        return screen(report, strict, basis)
    wide = shutil.get_terminal_size((WITHOUT_TERMINAL, 24)).columns
    return "\n".join(filter(None, [basis, text(report, wide, strict, verbose)]))


def _write_copies(report: Report, out: str | None, in_place: bool) -> None:
    """Write the corrected copies; all are made before the first is written."""
    from symroof.claims.corrected_copies import copies
    from symroof.output_files import write_atomic
    from symroof.report.claims_text import corrections

    made = copies(report, out, in_place)
    for copy in made:
        if copy.written:
            write_atomic(copy.path, copy.content)
    reports = [corrections(copy) for copy in made if copy.written or copy.uncorrected]
    say("\n".join(reports) or "nothing to correct", err=True)
