"""The documentation site: ``python -m sphinx -W --keep-going -b html docs docs/_build``."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from symroof.resources import __version__  # noqa: E402
from tools.docs.reference_pages import write_pages  # noqa: E402

project = "symroof"
author = "the symroof authors"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "style.md"]  # style is for contributors
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
html_theme = "furo"
html_title = "symroof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["../reports/samples"]  # the sample reviews, as they are
html_show_copyright = False
smartquotes = False  # they make dashes of options
html_show_sourcelink = False
html_copy_source = False


def setup(app: Any) -> None:
    """The reference pages are made from the theory, the catalogue and the command line before any page is read."""
    app.connect("builder-inited", lambda _: write_pages(HERE / "reference" / "generated"))
