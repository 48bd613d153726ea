"""A plugin of pytest that records which lines of the package each test executes, and how long it takes.

Coverage's contexts are the ids of tests. What a fixture of a wider scope executes counts for every test that asks for it, and caches of functions are emptied
where a file of tests begins, so that one test of each file at least stands for a line behind a cache. The empty context is what runs at import and collection.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from .reach import AREAS, LINES, NAME, TESTS, digest

seconds: dict[str, float] = defaultdict(float)
asked: dict[str, set[str]] = defaultdict(set)
"""Context -> names whose formulas it has looked up; formulas are text, so no line says that one is evaluated."""
failing: set[str] = set()
fixtures: dict[str, list[str]] = {}
last_file = ""
context = ""
measured = None


def pytest_configure() -> None:
    """Start before anything of the package is imported."""
    global measured
    from coverage import Coverage

    rooms = [f"*/symroof/{area}/*" for area in os.environ[AREAS].split()]
    measured = Coverage(
        data_file=_folder() / LINES, include=rooms, config_file=False, messages=False
    )
    if (_folder() / LINES).exists():
        measured.load()
    measured.start()
    signal.setitimer = lambda *_: (
        0.0,
        0.0,
    )  # limits of time are those of tests that are not recorded


def switch(new: str) -> None:
    """Count what runs from here on for another test or fixture."""
    global context
    context = new
    measured.switch_context(new)


def pytest_collection_finish() -> None:
    """Note which formulas are looked up from here on."""
    module = sys.modules.get("symroof.theory.theory")
    if module is None:
        return
    plain = module.Theory.definition

    def definition(self: object, name: str) -> object:
        asked[context].add(str(name))
        return plain(self, name)

    module.Theory.definition = definition


def context_of(fixture: pytest.FixtureDef) -> str:
    """The context of a fixture that several tests share.

    Parameters of a fixture are not told apart: a test then counts as one that executes what any of them does.
    """
    return f"fixture {fixture.baseid}::{fixture.argname}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global last_file
    file = item.nodeid.split("::")[0]
    if file != last_file:
        last_file = file
        _empty_caches()
    shared = [
        fixture
        for row in getattr(item, "_fixtureinfo", None).name2fixturedefs.values()
        for fixture in row
        if fixture.scope != "function"
    ]
    fixtures[item.nodeid] = sorted({context_of(fixture) for fixture in shared})
    switch(item.nodeid)
    try:
        return (yield)
    finally:
        switch("")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest
) -> Iterator[object]:
    if fixturedef.scope == "function":
        return (yield)
    switch(context_of(fixturedef))
    try:
        return (yield)
    finally:
        switch(request._pyfuncitem.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    seconds[report.nodeid] += report.duration
    if report.failed:
        failing.add(report.nodeid)


def pytest_sessionfinish() -> None:
    measured.stop()
    measured.save()
    path = _folder() / TESTS
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    digests = {file: digest([Path(file)]) for file in {test.split("::")[0] for test in seconds}}
    for test, taken in seconds.items():
        names = set().union(*(asked[context] for context in (test, *fixtures.get(test, []))))
        rows[test] = {
            "seconds": round(taken, 4),
            "fails": test in failing,
            "fixtures": fixtures.get(test, []),
            "asks": sorted(names),
            "file": digests[test.split("::")[0]],
        }
    path.write_text(json.dumps(rows, indent=0), encoding="utf-8")


def _folder() -> Path:
    return Path(os.environ[NAME])


def _empty_caches() -> None:
    for value in gc.get_objects():
        if isinstance(value, functools._lru_cache_wrapper) and str(value.__module__).startswith(
            "symroof"
        ):
            value.cache_clear()
