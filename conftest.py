"""Tests in two tiers; Python examples of the README and of the site run as tests as well.

``python -m pytest`` runs the quick tier, ``python -m pytest --full`` all, ``--rest`` what the quick
tier leaves out, and its drawn tests again with more examples. A test is left to the full tier by
``@pytest.mark.full``; of a test with many cases ``@pytest.mark.sample(8)`` leaves eight, spread
evenly over the list, in the quick one.
"""

import os
import signal
from collections import defaultdict
from doctest import ELLIPSIS

from hypothesis import is_hypothesis_test, settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
os.environ.pop("COLUMNS", None)  # no test depends on the terminal that it is started from

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
    patterns=["README.md", "docs/*.md", "docs/*/*.md"],
).pytest()

collect_ignore_glob = ["docs/conf.py", "docs/_build", "docs/reference/generated"]

for tier, count in {"quick": 10, "full": 100}.items():
    settings.register_profile(
        tier, max_examples=count, deadline=None, database=None, derandomize=True
    )


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the slow tests as well")
    parser.addoption("--rest", action="store_true", help="the slow tests alone")


def pytest_configure(config):
    settings.load_profile("full" if _slow(config) else "quick")


def _slow(config):
    return config.getoption("--full") or config.getoption("--rest")


def pytest_ignore_collect(collection_path, config):
    """Modules of the full tier are not even imported, unless they are named on the line."""
    if collection_path.suffix != ".py" or _slow(config):
        return None
    named = any(collection_path.name in argument for argument in config.args)
    text = "" if named else collection_path.read_text(encoding="utf-8")
    return True if "\npytestmark = pytest.mark.full\n" in text else None


def pytest_collection_modifyitems(config, items):
    """Leave out what is of the full tier, or what is not."""
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
    if config.getoption("--rest"):
        left = [
            item
            for item in items
            if item not in late and not is_hypothesis_test(getattr(item, "obj", None))
        ]
    else:
        left = [item for item in items if item in late]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in {*left}]
