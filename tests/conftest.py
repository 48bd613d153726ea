"""What every test has, wherever it runs."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def unhurried():
    """Time for the search for slips, in a process that a thousand tests have filled: how long it takes is measured elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symroof.claims.formula_claims.SECONDS", 5.0)
        yield
