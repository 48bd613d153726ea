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
    from symroof.report.recommendation import Reviewed

SAFE = " =:/;,()'!*@?+$-._~[]|"
"""Characters of a picture that an address in an attribute may hold."""


def review_files(
    review: Reviewed, name: str, formats: Sequence[str], data: dict[str, Any], *, with_figures: bool
) -> dict[str, bytes]:
    """The review in every format and its figures, by file name.

    Args:
        formats: of ``html``, ``md``, ``tex``, ``pdf`` and ``json``.
        data: what :func:`symroof.report.view.view` makes of the study.
    """
    from symroof.report.live import live
    from symroof.report.pictures import of_review
    from symroof.report.render import pdf, render

    plots = of_review(review, full=data["full"]) if with_figures else []
    if "html" in formats:
        data["live"] = live(review.subject)
    files, made = dict[str, bytes](), dict[str, bytes]()
    for chosen in formats:
        if chosen == "json":
            files[f"{name}.json"] = _json(data)
            continue
        source, figures = "tex" if chosen == "pdf" else chosen, dict(data["figures"])
        for p in plots:
            file = f"{name}-{p.name}.{FORMATS[source].figure_ending}"
            made[file] = made.get(file) or p.form(FORMATS[source].figure_ending)
            if chosen in ("md", "tex"):  # a page embeds its pictures
                files[file] = made[file]
            place = _embedded(made[file]) if chosen == "html" else file
            figures[p.name.replace("-", "_")] = {"file": place, "alt": p.alt, "caption": p.caption}
        text = render(data | {"figures": figures}, source)
        encoded = text.encode("utf-8", "backslashreplace")
        files[f"{name}.{chosen}"] = pdf(text, made) if chosen == "pdf" else encoded
    return files


def _embedded(svg: bytes) -> str:
    """An address that holds a picture; without "&", which HTML would read as the beginning of a character reference."""
    return f"data:image/svg+xml,{quote(svg.decode(), safe=SAFE)}"


def _json(data: dict[str, Any]) -> bytes:
    """The recommendation first, then every section as it is computed."""
    told = {"schema": "symroof/report/1", **(data["recommended"] or {"recommendation": None})}
    shown = {name: value for name, value in data.items() if name != "recommended"}
    return (json.dumps(told | shown, default=str, ensure_ascii=False) + "\n").encode()


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
