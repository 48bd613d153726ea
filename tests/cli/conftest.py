"""Fixtures of the command line's tests."""

import pytest


@pytest.fixture
def note(tmp_path):
    """Write a note, by default ``note.md``, and return its path."""

    def write(text, name="note.md"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    return write
