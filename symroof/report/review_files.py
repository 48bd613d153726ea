"""The files of a review, and the review that a notebook shows."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symroof.report.markup import FORMATS
from symroof.report.review_parts import BRIEF, FIGURES_OF, PARTS

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall
    from symroof.report.pictures.draw import Picture
    from symroof.report.recommendation import Reviewed

Compared = tuple[str, "list[Waterfall]"]
"""What a review is compared with: its name, and the way to each quantity of it."""


def review_files(
    review: Reviewed,
    name: str,
    formats: Sequence[str],
    data: dict[str, Any],
    other: Compared | None = None,
    *,
    with_figures: bool,
) -> dict[str, bytes]:
    """The review in every format and its figures, by file name.

    Args:
        formats: of ``html``, ``md``, ``tex``, ``pdf`` and ``json``.
        data: what :func:`symroof.report.view.view` makes of the study.
    """
    from symroof.report.pictures.picture_kinds import of_review

    parts = data["parts"]
    unused = {figure for figures in FIGURES_OF.values() for figure in figures} - {
        figure for part in parts for figure in FIGURES_OF.get(part, ())
    }
    plots = (
        [*of_review(review, unused), *(_waterfall(other) if other and "against" in parts else [])]
        if with_figures
        else []
    )
    if "html" in formats and "verdict" in parts:
        from symroof.report.live import live

        data["live"] = live([one.case for one in review.candidates])
    files = {f"{name}.{chosen}": _render(data, chosen, name, plots) for chosen in formats}
    endings = {
        FORMATS[chosen].figure_ending
        for chosen in formats
        if chosen in FORMATS and chosen != "html"
    }  # HTML embeds its pictures
    return files | {
        f"{name}-{plot.name}.{ending}": plot.form(ending) for plot in plots for ending in endings
    }


def _waterfall(other: Compared) -> list[Picture]:
    """The picture of the first quantity."""
    from symroof.report.pictures.bars import waterfall
    from symroof.report.pictures.draw import draw

    return [draw(waterfall(other[1][0], "this case", other[0]))]


def _render(data: dict[str, Any], chosen: str, name: str, plots: list[Picture]) -> bytes:
    from symroof.report.render import pdf, render

    if chosen == "json":  # the recommendation first, then every section as it is computed
        told = {"schema": "symroof/report/1", **(data["recommended"] or {"recommendation": None})}
        shown = {name: value for name, value in data.items() if name != "recommended"}
        return (json.dumps(told | shown, default=str, ensure_ascii=False) + "\n").encode()
    source = "tex" if chosen == "pdf" else chosen
    ending = FORMATS[source].figure_ending
    figures = data["figures"] | {
        p.name.replace("-", "_"): {
            "file": _file(p, chosen, name, ending),
            "alt": p.alt,
            "caption": p.caption,
        }
        for p in plots
    }
    text = render(data | {"figures": figures}, source)
    return (
        pdf(text, {f"{name}-{p.name}.pdf": p.form("pdf") for p in plots})
        if chosen == "pdf"
        else text.encode("utf-8", "backslashreplace")
    )


def _file(picture: Picture, chosen: str, name: str, ending: str) -> str:
    """The address of a picture: a file next to the review, or a data URL in HTML."""
    if chosen != "html":
        return f"{name}-{picture.name}.{ending}"
    from urllib.parse import quote

    return "data:image/svg+xml," + quote(
        picture.form("svg").decode("utf-8"), safe=" =:/;,()'!*@?+$-._~[]|"
    )  # not "&", which HTML would read as the beginning of a character reference


def conclusion(data: dict[str, Any]) -> tuple[str, ...]:
    """The first lines of page one; none where the review is without it."""
    page = data["page"]
    return (f"{page['heading']}.", " ".join(page["price"]).strip(), *page["said"]) if page else ()


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
        self.says = " ".join(conclusion(self._view(BRIEF)))

    def _view(self, parts: Sequence[str]) -> dict[str, Any]:
        from symroof.report.view import view

        return view(self._review, self._reproduce, parts)

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

        data = self._view(PARTS if full else BRIEF)
        if data["claims"]:
            data["claims"].pop("failures")
        write_all(
            Path(folder), review_files(self._review, "review", formats, data, with_figures=True)
        )
        return Path(folder) / f"review.{formats[0]}"

    def _repr_markdown_(self) -> str:
        from symroof.report.render import render

        return render(self._view(("verdict",)), "md")

    def __repr__(self) -> str:
        return f"<Review: {self.says}>"
