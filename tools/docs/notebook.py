"""Runs the cells of the notebook of this site, as Jupyter would, and stores what they show."""

from __future__ import annotations

import ast
import json
from typing import Any

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
    exec(compile(tree, "notebook.ipynb", "exec"), space)
    return (
        eval(compile(ast.Expression(last.value), "notebook.ipynb", "eval"), space) if last else None
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


def run_again(text: str, space: dict[str, Any] | None = None) -> str:
    """The notebook with the outputs of today; its cells run in ``space``."""
    whole: dict[str, Any] = json.loads(text)
    space = {} if space is None else space
    code = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        value = run("".join(cell["source"]), space)
        cell |= {"execution_count": count, "outputs": outputs(value, count)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
