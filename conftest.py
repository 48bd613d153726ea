"""Tests in two tiers; Python examples of the README and of the site run as tests as well.

``python -m pytest`` runs the quick tier, ``python -m pytest --full`` all. A test is left to the
full tier by ``@pytest.mark.full``; of a test with many cases ``@pytest.mark.sample(8)`` leaves
eight, spread evenly over the list, in the quick one.
"""

import os
import signal
from collections import defaultdict
from doctest import ELLIPSIS

import pytest
from hypothesis import settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
os.environ.pop("COLUMNS", None)  # no test depends on the terminal that it is started from

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
).pytest()

collect_ignore_glob = ["docs/conf.py", "docs/_build", "docs/reference/generated"]

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("full", max_examples=100, deadline=None)


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the slow tests as well: 15 minutes")


def pytest_configure(config):
    settings.load_profile("full" if config.getoption("--full") else "quick")


def pytest_collection_modifyitems(config, items):
    """Leave out what is of the full tier."""
    if config.getoption("--full"):
        return
    sampled = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample"):
            sampled[item.nodeid.partition("[")[0]].append(item)
    late = {item for item in items if item.get_closest_marker("full")}
    for cases in sampled.values():
        count = cases[0].get_closest_marker("sample").args[0]
        chosen = {round(i * (len(cases) - 1) / max(1, count - 1)) for i in range(count)}
        late |= {case for place, case in enumerate(cases) if place not in chosen}
    config.hook.pytest_deselected(items=[item for item in items if item in late])
    items[:] = [item for item in items if item not in late]
