"""README examples run as tests, and no test depends on the terminal it is started from."""

import os
from doctest import ELLIPSIS

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

os.environ.pop("COLUMNS", None)  # a process of several tells its tests of a terminal there is not

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)], patterns=["README.md"]).pytest()
