"""A plugin of pytest: the first test that fails is written to the file that ``FIRST_FAILURE`` names, whole; printed summaries cut names off."""

import os
from pathlib import Path

import pytest

NAME = "FIRST_FAILURE"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Called by pytest for the setup, the call and the teardown of each test."""
    path = Path(os.environ[NAME])
    if report.failed and not path.exists():
        path.write_text(report.nodeid, encoding="utf-8")
