"""A bound on every solve: what hangs fails, and the rest goes on."""

import signal

import pytest

SECONDS = 4


@pytest.fixture(autouse=True)
def bounded():
    """Interrupt a test that works for longer than any answer may take."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        raise TimeoutError(f"still working after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
