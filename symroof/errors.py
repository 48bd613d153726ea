"""Errors in the input of users: every problem of a file in one go, each with its place and a hint; and the one warning."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing wrong in one place.

    ``str()`` gives ``FILE:LINE:COLUMN: PATH: MESSAGE``, the line, a caret and the hint. ``location`` is the path as keys.
    """

    file: str
    message: str
    line: int | None = None
    column: int | None = None
    path: str = ""
    hint: str = ""
    source: str = ""
    location: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        place = self.file + (f":{self.line}:{self.column}" if self.line else "")
        lines = [": ".join(part for part in (place, self.path, self.message) if part)]
        if self.line and self.source:
            shown = self.source.rstrip()[:200]
            lines += [f"    {shown}", "    " + " " * len(visible(shown[: (self.column or 1) - 1].ljust(min(self.column or 1, 201) - 1))) + "^"]
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(map(visible, lines))

    def as_json(self) -> dict[str, object]:
        return {key: getattr(self, key) for key in ("file", "line", "column", "path", "message", "hint")}


@dataclass(frozen=True)
class Word:
    """A word or field of a line, and the column it begins in."""

    text: str
    column: int


def visible(text: str, line_breaks: bool = False) -> str:
    """Text in which no character steers a terminal: control, bidirectional and other format characters are written out.

    With ``line_breaks``, line breaks and tabs stay.

    >>> visible("a\\x1b[31m\\u202eb\\n")
    'a␛[31m\\\\u202eb␊'
    """
    layout = "\n\t" if line_breaks else ""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in layout else _written_out(c) for c in text)


def _written_out(c: str) -> str:
    """A character without a glyph by its control picture or its escape; spaces of any width stay."""
    code = ord(c)
    if code < 0x20 or code == 0x7F:
        return chr(0x2421 if code == 0x7F else 0x2400 + code)
    return c if unicodedata.category(c) == "Zs" else c.encode("ascii", "backslashreplace").decode()


class InputError(ValueError):
    """An input is wrong: a name, a value, an equation, a file. On the command line its exit code is 2.

    Attributes:
        problems: everything that is wrong, each with its place and a hint.

    >>> import symroof as sr
    >>> try:
    ...     sr.Study(hardware="h100-sxm").value("ridge_pont")
    ... except sr.InputError as error:
    ...     print(error.problems[0].message, "-", error.problems[0].hint)
    no such quantity or input - did you mean 'ridge_point'?
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[Any, ...]:  # its one argument would be the text alone
        return type(self), (self.problems,), vars(self)


class NoValueHere(InputError):
    """What is asked for is understood and has no value in this case: an input is missing, or a queue only grows.

    Attributes:
        missing: the one input whose value would give it one; empty for any other reason.
    """

    def __init__(self, problem: Problem, missing: str = "") -> None:
        super().__init__(problem)
        self.missing = missing


def why(problems: Iterable[Problem]) -> str:
    """Several problems in one line, without their places."""
    return "; ".join(dict.fromkeys("; ".join(filter(None, (problem.message, problem.hint))) for problem in problems))


HINT = re.compile(r"; (?=did you mean |write |there are: )")


def split_hint(message: str) -> tuple[str, str]:
    """A message that carries its own hint after a semicolon: ``unknown key; did you mean 'prompt'?``, ``...; write '20 ms'``."""
    text, *hints = HINT.split(message, maxsplit=1)
    return text, hints[0] if hints else ""


def on_line(name: str, hint: str) -> str:
    """A hint for a value that is written as ``NAME='VALUE'`` on the command line.

    >>> on_line("itl", "write '20 ms'")
    "write itl='20 ms'"
    """
    return re.sub(r"^write (?=')", f"write {name}=", hint)


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name.

    >>> nearest("mem_bandwith", ["mem_bandwidth", "mem_capacity"])
    "did you mean 'mem_bandwidth'?"

    A name that another spells out further comes before one that only looks alike:

    >>> nearest("device_price", ["fleet_price", "price"])
    "did you mean 'price'?"
    """
    names = sorted(known)
    parts = [each for each in names if f"_{each}_" in f"_{name.lower()}_"]
    matches = difflib.get_close_matches(name, names, n=1, cutoff=0.8) or sorted(parts, key=len)[-1:] or difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if matches:
        return f"did you mean {matches[0]!r}?"
    return f"there are: {', '.join(names)}" if 0 < len(names) <= 16 else ""


class DoesNotFit(UserWarning):
    """A latency, rate or cost is of a configuration that does not fit in memory; :meth:`symroof.Study.value` warns of it.

    >>> import warnings
    >>> import symroof as sr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", sr.DoesNotFit)
    ...     try:
    ...         sr.Study(model="llama-3-70b", hardware="h100-sxm", prompt=4096).value("itl")
    ...     except sr.DoesNotFit as warning:
    ...         print(warning)
    itl = 41.90 ms is of a configuration that does not fit in memory
    """


EXTRAS = {"xarray": "sweep", "netCDF4": "sweep", "zarr": "sweep", "pyarrow": "sweep", "matplotlib": "plot", "torch": "probe"}
"""Package -> the extra of symroof that brings it."""


def require(output: str, *modules: str) -> None:
    """Import the packages that an output needs.

    Raises:
        InputError: it is not installed; the hint names the extra.
    """
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # it is there, and lacks something of its own
                raise
            raise InputError(Problem(output, f"needs {module}, which is not installed", hint=f"pip install 'symroof[{EXTRAS[module]}]'")) from None
