"""The notebook of this folder from its text: cells begin with ``# %%``, those of words with ``# %% [markdown]``."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Any

MARK, WORDS = "# %%", "# %% [markdown]"


def cells(text: str) -> Iterator[tuple[str, str]]:
    """The cells of a text, each with its kind.

    >>> list(cells("# %% [markdown]\\n# # Title\\n\\n# %%\\n1 + 1\\n"))
    [('markdown', '# Title'), ('code', '1 + 1')]
    """
    for part in ("\n" + text).split("\n" + MARK)[1:]:
        head, _, body = part.partition("\n")
        if (MARK + head).strip() == WORDS:
            yield (
                "markdown",
                "\n".join(
                    line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()
                ),
            )
        else:
            yield "code", body.strip()


FORMS = {
    "text/html": "_repr_html_",
    "text/latex": "_repr_latex_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
}
"""The forms in which a value shows itself, and the methods that make them."""


def run(source: str, space: dict[str, Any]) -> Any:
    """The value of a cell: that of the expression it ends in, else None.

    >>> run("a = 2\\na + 1", {})
    3
    """
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "docs/notebook.py", "exec"), space)
    return (
        eval(compile(ast.Expression(last.value), "docs/notebook.py", "eval"), space)
        if last
        else None
    )


def outputs(value: Any, count: int) -> list[dict[str, Any]]:
    """What a notebook stores of a value: its text, and every other form that it has."""
    if value is None:
        return []
    shown = {"text/plain": repr(value)} | {
        kind: made for kind, name in FORMS.items() if (made := getattr(value, name, lambda: None)())
    }
    data = {kind: text.splitlines(keepends=True) for kind, text in shown.items()}
    return [
        {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
    ]


def notebook(text: str, space: dict[str, Any] | None = None) -> str:
    """The notebook with the outputs of its cells, which run in ``space``."""
    made, space, count = [], {} if space is None else space, 0
    for i, (kind, source) in enumerate(cells(text)):
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": f"cell-{i}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": outputs(run(source, space), count)}
        made.append(cell)
    whole: dict[str, Any] = {
        "cells": made,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
