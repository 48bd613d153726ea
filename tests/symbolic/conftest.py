"""A bound on every solve, in processor time, as others may share the machine: what hangs fails, and the rest goes on."""

import signal

import pytest

SECONDS = 4


@pytest.fixture
def bounded():
    """Interrupt a test that works for longer than any answer may take."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_):
        raise TimeoutError(f"still working after {SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
