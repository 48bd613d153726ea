"""The notebook of this folder from its text: cells begin with ``# %%``, those of words with ``# %% [markdown]``."""

from __future__ import annotations

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
            yield "markdown", "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
        else:
            yield "code", body.strip()


def notebook(text: str) -> str:
    """The notebook, without outputs: whoever opens it runs it."""
    made = [
        {
            "cell_type": kind,
            "id": f"cell-{i}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
        }
        for i, (kind, source) in enumerate(cells(text))
    ]
    whole: dict[str, Any] = {
        "cells": made,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
