"""``python -m tools.docs [PAGE ...]`` runs what the pages show, or what those named show, and writes it.

Read the differences before you commit them. The reference is made when the site is built (``docs/conf.py``);
the pages of evidence are written by ``python -m tools.evidence``.
"""

import sys
from pathlib import Path

from tools.docs import DOCS, examples, notebook, tables


def main(named: list[Path]) -> None:
    """Write the outputs of examples, the pages of tables, and the notebook."""
    examples.refresh([page for page in examples.pages() if not named or page in named])
    for source in tables.sources():
        page = tables.target(source)
        if not named or page in named:
            page.write_text(tables.page(source), encoding="utf-8")
    book = DOCS / "notebook.ipynb"
    if not named or book in named:
        book.write_text(notebook.run_again(book.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main([Path(name).resolve() for name in sys.argv[1:]])
