"""README examples run as tests, and no test hears of what a developer's runs have kept."""

import os
from doctest import ELLIPSIS

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

os.environ["SYMROOF_CACHE"] = "off"  # every process a test starts inherits it; the tests of the cache give it a folder

os.environ.pop("COLUMNS", None)  # a process of several tells its tests of a terminal there is not

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)], patterns=["README.md"]).pytest()
