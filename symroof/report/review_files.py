"""The files of a review, and the review that a notebook shows."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from symroof.report.markup import FORMATS
from symroof.report.view import BODY, FULL, PAGE_ONE, view

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.report.pictures.draw import Picture
    from symroof.report.recommendation import Reviewed

Made = dict[tuple[str, str], bytes]
"""Pictures by name and ending."""


def review_files(
    review: Reviewed, name: str, formats: Sequence[str], data: dict[str, Any], *, with_figures: bool
) -> dict[str, bytes]:
    """The review in every format and its figures, by file name.

    Args:
        formats: of ``html``, ``md``, ``tex``, ``pdf`` and ``json``.
        data: what :func:`symroof.report.view.view` makes of the study.
    """
    from symroof.report.pictures import of_review

    plots = of_review(review, full=data["full"]) if with_figures else []
    if "html" in formats:
        from symroof.report.live import live

        data["live"] = live(review.subject)
    written = {"tex" if chosen == "pdf" else chosen for chosen in formats} & FORMATS.keys()
    endings = {FORMATS[chosen].figure_ending for chosen in written}
    made = {(p.name, ending): p.form(ending) for p in plots for ending in endings}
    files = {f"{name}.{chosen}": _render(data, chosen, name, plots, made) for chosen in formats}
    beside = {FORMATS[chosen].figure_ending for chosen in FORMATS.keys() & {*formats} - {"html"}}
    return files | {
        f"{name}-{figure}.{ending}": content
        for (figure, ending), content in made.items()
        if ending in beside  # HTML embeds its pictures
    }


def _render(
    data: dict[str, Any], chosen: str, name: str, plots: list[Picture], made: Made
) -> bytes:
    from symroof.report.render import pdf, render

    if chosen == "json":  # the recommendation first, then every section as it is computed
        told = {"schema": "symroof/report/1", **(data["recommended"] or {"recommendation": None})}
        shown = {name: value for name, value in data.items() if name != "recommended"}
        return (json.dumps(told | shown, default=str, ensure_ascii=False) + "\n").encode()
    source, figures = "tex" if chosen == "pdf" else chosen, dict(data["figures"])
    ending = FORMATS[source].figure_ending
    for p in plots:
        file = f"{name}-{p.name}.{ending}"
        if (
            chosen == "html"
        ):  # not "&", which HTML would read as the beginning of a character reference
            svg = quote(made[p.name, "svg"].decode(), safe=" =:/;,()'!*@?+$-._~[]|")
            file = f"data:image/svg+xml,{svg}"
        figures[p.name.replace("-", "_")] = {"file": file, "alt": p.alt, "caption": p.caption}
    text = render(data | {"figures": figures}, source)
    if chosen == "pdf":
        return pdf(text, {f"{name}-{p.name}.pdf": made[p.name, "pdf"] for p in plots})
    return text.encode("utf-8", "backslashreplace")


def conclusion(data: dict[str, Any]) -> tuple[str, ...]:
    """The first lines of page one."""
    page = data["page"]
    return f"{page['heading']}.", " ".join(page["price"]).strip(), *page["said"]


class Review:
    """The design review of a study, shown in a notebook as its first page; :meth:`save` writes it.

    >>> from symroof.analysis.study import Study
    >>> review = Review(Study("llama-3-8b", "h100-sxm", prompt=1024, output=128, batch=8, targets={"itl": "50 ms"}), "symroof report")
    >>> review.says.partition(".")[0]
    'Use 1 × H100 SXM for Llama 3 8B'

    Attributes:
        says: what to use, and what it costs.
    """

    def __init__(self, study: Study, reproduce: str) -> None:
        from symroof.report.recommendation import reviewed

        self._review = reviewed(study)
        self._reproduce = reproduce
        self.says = " ".join(conclusion(self._view(PAGE_ONE)))

    def _view(self, depth: int) -> dict[str, Any]:
        return view(self._review, self._reproduce, depth)

    def save(
        self,
        folder: str | os.PathLike[str],
        formats: Sequence[str] = ("html", "md"),
        full: bool = False,
    ) -> Path:
        """Write the review and its pictures into a folder, and return the path of the first format.

        Args:
            folder: where to write it; it is made where it does not exist.
            formats: of ``html``, ``md``, ``tex`` and ``pdf``.
            full: with the appendix.
        """
        from symroof.output_files import write_all

        data = self._view(FULL if full else BODY)
        if data["claims"]:
            data["claims"].pop("failures")
        write_all(
            Path(folder), review_files(self._review, "review", formats, data, with_figures=True)
        )
        return Path(folder) / f"review.{formats[0]}"

    def _repr_markdown_(self) -> str:
        from symroof.report.render import render

        return render(self._view(PAGE_ONE), "md")

    def __repr__(self) -> str:
        return f"<Review: {self.says}>"
