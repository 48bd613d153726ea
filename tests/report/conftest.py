"""Where the reviews of the studies lie that many tests read."""

import os

import pytest

from . import REVIEWS


@pytest.fixture(scope="session", autouse=True)
def reviews(tmp_path_factory):
    """One folder for all processes of the run, below the one that pytest clears up."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    (folder / "reviews").mkdir(exist_ok=True)
    REVIEWS[:] = [folder / "reviews"]
