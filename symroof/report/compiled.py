"""Shipped templates compiled once and kept where Python keeps its own compiled modules, under the same rules."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source
from pickle import UnpicklingError

from jinja2.bccache import Bucket, BytecodeCache

from symroof.report.write import write_atomic

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.dirname(cache_from_source(os.path.abspath(__file__)))


class Beside(BytecodeCache):
    """Jinja's bytecode in the package's own ``__pycache__``: whoever can write there can write the package.

    Jinja compares the source, the form of its bytecode and Python's version; the filters, which it may have applied to
    constants, are compared with the source. Where nothing can be written, or Python is told to write no bytecode, templates
    are compiled each time.
    """

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(source + "".join(_filters()))

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError, UnpicklingError), open(_place(bucket), "rb") as stream:
            bucket.load_bytecode(stream)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                write_atomic(_place(bucket), bucket.bytecode_to_string())


def _filters() -> Iterator[str]:
    """The source of what a compiled template may hold results of."""
    for module in ("environment", "markup", "table"):
        with open(os.path.join(HERE, f"{module}.py"), encoding="utf-8") as stream:
            yield stream.read()


def _place(bucket: Bucket) -> str:
    return os.path.join(KEPT, f"template-{bucket.key[:16]}.{sys.implementation.cache_tag}.jinja")
