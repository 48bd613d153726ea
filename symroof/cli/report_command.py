"""``symroof report``: the design review of a study, written to files or standard output."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.compared_cases import against_option, study_of_case
from symroof.cli.options import pairs, strict_option, study_from, study_options
from symroof.cli.output import report_bug, say
from symroof.errors import visible
from symroof.report.markup import FORMATS as OUTPUTS
from symroof.report.review_parts import BRIEF, PARTS

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall

FORMATS = (*OUTPUTS, "pdf", "json")
DEFAULT_FORMATS = "html,md"
COMPARED = ("ttft", "itl", "memory_bytes", "cost_per_mtok")
"""Quantities of the section that compares two cases, if both have them."""


@click.command("report")
@click.option(
    "-o",
    "--out",
    default=None,
    metavar="DIR",
    help="Folder for the review (default: reports/STUDY); - writes one format to standard output.",
)
@click.option(
    "--format",
    "formats",
    default=None,
    metavar="LIST",
    help=f"Comma-separated, of {', '.join(FORMATS)} (default: {DEFAULT_FORMATS}).",
)
@click.option(
    "--full",
    is_flag=True,
    help="Add the appendix: every derivation, threshold, sensitivity, input and source.",
)
@click.option(
    "--sections",
    default=None,
    metavar="LIST",
    help=f"Only these sections, comma-separated: {', '.join(PARTS)}.",
)
@click.option(
    "--among",
    multiple=True,
    metavar="NAME=LIST",
    help="Candidates, as in `symroof select`.",
)
@click.option("--no-plots", is_flag=True, help="Omit the figures.")
@against_option
@study_options
@strict_option
@click.pass_context
def command(context: click.Context, /, study: str | None, **options: Any) -> int:
    """Write the design review of a study, as HTML and Markdown.

    symroof report specs/studies/llama-3-70b-chat.yaml

    symroof report chat.yaml --full --format pdf

    symroof report chat.yaml --against genz

    With --against B, a section explains how the latencies, the memory and the cost differ from those of B: `symroof diff` in a review.
    B is a study, a case in quotes, a preset that counts this one, or a number: --against 'itl = 14.2 ms'.
    """
    from symroof.analysis.verdict import findings
    from symroof.report.recommendation import reviewed, subject_of
    from symroof.report.render import tex_engine
    from symroof.report.review_files import review_files
    from symroof.report.view import view
    from symroof.select.candidates import device_counts, with_candidates

    out = options.pop("out")
    formats = _formats(options.pop("formats"), out)
    if "pdf" in formats:
        tex_engine()
    name = slug(Path(study).stem) if study else "case"
    folder = Path(out) if out else _own_folder(name)
    rest, counts = device_counts(pairs(options.pop("among"), "--among"))
    made, found = reviewed(with_candidates(study_from(study, options), rest, bool(rest)), counts)
    other = _other(made, options)
    parts = _parts(options["sections"], options["full"])
    data = view(made, reproduce(list(context.obj or ())), parts, other, found)
    failures = data["claims"].pop("failures") if data["claims"] else []
    drawn = not options["no_plots"] and out != "-"
    files = review_files(made, name, formats, data, other, with_figures=drawn)
    if out == "-":
        sys.stdout.buffer.write(files[f"{name}.{formats[0]}"])
    else:
        _write(folder, files, [f"{name}.{chosen}" for chosen in formats])
        _conclude(data, folder / f"{name}.html" if "html" in formats else None)
    failed = [
        report_bug(error, place, "--debug" in (context.obj or ())) for place, error in failures
    ]
    return next(iter(failed), int(options["strict"] and bool(findings(subject_of(made)))))


def _own_folder(name: str) -> Path:
    """The folder of a review for which nobody named one.

    Raises:
        OSError: it, or the folder of all reviews, is a symbolic link.
    """
    from symroof.output_files import refuse_link

    folder = Path("reports") / name
    for part in (folder.parent, folder):
        refuse_link(part)
    return folder


def _other(made: Study, options: dict[str, Any]) -> tuple[str, list[Waterfall]] | None:
    """The argument of --against, and the waterfalls from the case of the review to it; None without it.

    Raises:
        click.BadParameter: the section is requested without --against.
        InputError: an unknown case, or one that shares no quantity with this one.
    """
    against = options.pop("against")
    if against is None:
        if "against" in (options["sections"] or ""):
            raise click.BadParameter(
                "the section against needs --against B", param_hint="--sections"
            )
        return None
    from symroof.claims.case_comparison import (
        is_preset,
        split_number_side,
        study_under_preset,
        waterfall_to_text,
        waterfalls,
    )
    from symroof.report.recommendation import subject_of

    if number := split_number_side(against):
        if not number[0]:
            raise click.BadParameter(
                f"a number belongs to one quantity: --against 'itl = {number[1][:40]}'",
                param_hint="--against",
            )
        return number[1], [waterfall_to_text(made, *number)]
    other = (
        study_under_preset(against, made) if is_preset(against) else study_of_case(against, options)
    )
    return against, waterfalls(subject_of(made), subject_of(other), COMPARED)


def _parts(listed: str | None, full: bool) -> tuple[str, ...]:
    """The parts of the review, in its own order.

    Raises:
        click.BadParameter: an unknown section, or none.
    """
    names = (
        [part.strip() for part in listed.split(",") if part.strip()]
        if listed is not None
        else PARTS
        if full
        else BRIEF
    )
    unknown = [name for name in names if name not in PARTS]
    if unknown or not names:
        named = f"unknown section {', '.join(unknown)}" if unknown else "no section is named"
        raise click.BadParameter(f"{named}; there are {', '.join(PARTS)}", param_hint="--sections")
    return tuple(part for part in PARTS if part in names)


def slug(stem: str) -> str:
    """A file name that is safe in Markdown, LaTeX and HTML.

    >>> slug('50%_of#1&co')
    '50-_of-1-co'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip(".-") or "review"


def reproduce(arguments: list[str]) -> str:
    """The command line that reproduces this review, without options for destination and format."""
    words, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("-o", "--out", "--format"):
            skip = True
        elif not argument.startswith(("--out=", "--format=", "-o")):
            words.append(argument)
    return visible(shlex.join(["symroof", *words]))


def _formats(formats: str | None, out: str | None) -> list[str]:
    chosen = [
        part.strip()
        for part in (formats or ("md" if out == "-" else DEFAULT_FORMATS)).split(",")
        if part.strip()
    ]
    unknown = [part for part in chosen if part not in FORMATS]
    if unknown or not chosen:
        named = f"unknown format {', '.join(unknown)}" if unknown else "no format is named"
        raise click.BadParameter(f"{named}; there are {', '.join(FORMATS)}", param_hint="--format")
    if out == "-" and len(chosen) > 1:
        raise click.BadParameter("standard output takes one format", param_hint="--format")
    return list(dict.fromkeys(chosen))


def _write(folder: Path, files: Mapping[str, bytes], documents: Collection[str]) -> None:
    from symroof.output_files import write_all

    write_all(folder, files)
    pictures = (
        f" and {len(files) - len(documents)} picture files" if len(files) > len(documents) else ""
    )
    say(f"wrote {', '.join(str(folder / document) for document in documents)}{pictures}", err=True)


def _conclude(data: dict[str, Any], page: Path | None) -> None:
    """Print the recommendation and the verdict, as the review words them, and the page to open."""
    from symroof.cli.terminal import reflowed
    from symroof.report.review_files import conclusion

    for sentence in conclusion(data):
        say("\n".join(reflowed([sentence])))
    if page:
        say(f"open {page}")
