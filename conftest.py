"""Python examples of the README and of the site run as tests, and no test depends on the terminal or the shell it is started from."""

import os
import signal
from doctest import ELLIPSIS

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a job in the background ignores Ctrl-C, and so would every process that a test starts
os.environ.pop("COLUMNS", None)  # a process of several tells its tests of a terminal there is not

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
).pytest()

collect_ignore_glob = [
    "docs/conf.py",
    "docs/_build",
    "docs/reference/generated",
]
