"""``symroof report``: the design review of a study, written to files or standard output."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click

from symroof.cli.options import options_of, pairs, study_from, study_options, words_without
from symroof.cli.terminal import fitted_table, report_bug, say, wrapped
from symroof.errors import visible
from symroof.report.markup import FORMATS as OUTPUTS

FORMATS = (*OUTPUTS, "pdf", "json")


@click.command("report")
@options_of("report")
@study_options
@click.pass_context
def command(context: click.Context, /, study: str | None, **options: Any) -> int:
    """Write a design review with a recommendation, as HTML and Markdown.

    symroof report chat.yaml --full --format pdf
    """
    from symroof.analysis.verdict import findings
    from symroof.report.recommendation import reviewed
    from symroof.report.render import tex_engine
    from symroof.report.review_files import conclusion, review_files
    from symroof.report.view import BODY, FULL, view
    from symroof.select.candidates import with_candidates

    out = options.pop("out")
    default = "md" if out == "-" else "html,md"
    listed = options.pop("formats")
    formats = _chosen(default if listed is None else listed)
    if out == "-" and len(formats) > 1:
        raise click.BadParameter("standard output takes one format", param_hint="--format")
    if out and Path(out).suffix[1:].isalpha() and not Path(out).is_dir():
        raise click.BadParameter("a review is several files: name a folder", param_hint="--out")
    if "pdf" in formats:
        tex_engine()
    among = pairs(options.pop("among"), "--among")
    made = study_from(study, options)
    asked = with_candidates(made, among, True)
    # of a case, so that another keeps its own; several devices are one question
    named = (made.first.model, made.first.hardware if len(made.request.hardware) < 2 else None)
    name = slug(Path(study).stem) if study else "case"
    own = slug(name if study else "-".join(each.name for each in named if each))
    folder = Path(out) if out else _own_folder(own)
    if out not in (None, "-"):  # one that cannot be written is noticed before the work
        folder.mkdir(parents=True, exist_ok=True)
    review = reviewed(asked)
    depth = FULL if options["full"] else BODY
    data = view(review, reproduce(list(context.obj or ())), depth)
    failures = data["claims"].pop("failures") if data["claims"] else []
    files = review_files(review, name, formats, data, with_figures=out != "-")
    if out == "-":
        sys.stdout.buffer.write(files[f"{name}.{formats[0]}"])
    else:
        _write(folder, files, [f"{name}.{chosen}" for chosen in formats])
        for place, sentence in enumerate(conclusion(data)):  # as the review words them
            say("\n".join(wrapped(sentence, "    ")))
            if place == 1:  # below the price
                say("\n".join(_targets(data["page"])))
        if "html" in formats:
            say(f"open {folder / f'{name}.html'}")
    debug = "--debug" in (context.obj or ())
    failed = [report_bug(error, place, debug) for place, error in failures]
    return next(iter(failed), int(options["strict"] and bool(findings(review.subject))))


def _targets(page: dict[str, Any]) -> list[str]:
    """A line for each target; or for each figure of a study without targets, with its theoretical minimum."""
    rows = []
    for words, value, span, limit, *outcome in page["rows"]:
        least = f"theoretical limit {limit}" if limit else ""
        beside = f"target {limit}: {outcome[0]}" if outcome else least
        rows.append((words, f"{value} ({span})" if span else value, beside))
    return fitted_table(rows, (), "  ", left=True).splitlines()


def _own_folder(name: str) -> Path:
    """The folder of a review for which nobody named one."""
    from symroof.output_files import refuse_link

    folder = Path("reports") / name
    for part in (folder.parent, folder):
        refuse_link(part)
    return folder


def _chosen(listed: str) -> list[str]:
    """The formats of a list with commas, each once."""
    names = list(dict.fromkeys(filter(None, map(str.strip, listed.split(",")))))
    unknown = ", ".join(name for name in names if name not in FORMATS)
    if unknown or not names:
        named = f"unknown format {unknown}" if unknown else "no format is named"
        message = f"{named}; there are {', '.join(FORMATS)}"
        raise click.BadParameter(message, param_hint="--format")
    return names


def slug(stem: str) -> str:
    """A file name that is safe in Markdown, LaTeX and HTML.

    >>> slug('50%_of#1&co')
    '50-_of-1-co'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip(".-") or "review"


def reproduce(arguments: list[str]) -> str:
    """The command line that reproduces this review, without options for destination and format."""
    kept = words_without(arguments, ("-o", "--out", "--format"))
    words = [word for word in kept if not word.startswith("-o")]
    return visible(shlex.join(["symroof", *words]))


def _write(folder: Path, files: Mapping[str, bytes], documents: Collection[str]) -> None:
    from symroof.output_files import write_all

    write_all(folder, files)
    pictures = len(files) - len(documents)
    named = ", ".join(str(folder / document) for document in documents)
    say(f"wrote {named}{f' and {pictures} picture files' if pictures else ''}", err=True)
