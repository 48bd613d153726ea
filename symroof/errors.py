"""Input errors with the location and a hint for every problem, and the one warning."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from symroof.resources import data_folder


@dataclass(frozen=True)
class Problem:
    """One problem at one location.

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
            shown, before = self.source.rstrip()[:200], min(self.column or 1, 201) - 1
            caret = " " * len(visible(shown[:before].ljust(before)))
            lines += [f"    {shown}", f"    {caret}^"]
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(map(visible, lines))

    def as_json(self) -> dict[str, object]:
        shown = ("file", "line", "column", "path", "message", "hint")
        return {key: getattr(self, key) for key in shown}


@dataclass(frozen=True)
class LocatedText:
    """A word or field of a line with its start column."""

    text: str
    column: int


def visible(text: str, line_breaks: bool = False) -> str:
    """Escape every character that could control a terminal: control, bidirectional and other format characters.

    With ``line_breaks``, line breaks and tabs are kept.
    """
    if text.isprintable():
        return text
    kept = "\n\t" if line_breaks else ""
    return "".join(c if c.isprintable() or c in kept else _escaped(c) for c in text)


def _escaped(c: str) -> str:
    """The control picture or escape of an unprintable character; spaces of any width are kept."""
    code = ord(c)
    if code < 0x20 or code == 0x7F:
        return chr(0x2421 if code == 0x7F else 0x2400 + code)
    return c if unicodedata.category(c) == "Zs" else c.encode("ascii", "backslashreplace").decode()


class InputError(ValueError):
    """Invalid input: a name, a value, an equation or a file. On the command line, the exit code is 2.

    Attributes:
        problems: every problem, with its location and a hint.

    >>> import symroof as sr
    >>> sr.Study(hardware="h100-sxm").value("ridge_pont")
    Traceback (most recent call last):
    symroof.errors.InputError: ridge_pont: no such quantity or input
        hint: did you mean 'ridge_point'?
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        several = (problems,) if isinstance(problems, Problem) else problems
        self.problems: tuple[Problem, ...] = tuple(several)
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[Any, ...]:  # its one argument would be the text alone
        return type(self), (self.problems,), vars(self)


class NoValue(ArithmeticError):
    """A formula has no value here; the message says why."""


class UndefinedValue(NoValue):
    """A name in a formula has no value at any point."""


class NoValueHere(InputError):
    """A valid request has no value in this case: an input is missing, or a queue grows without bound.

    Attributes:
        missing: the input whose value would give it one; empty for any other reason.
    """

    def __init__(self, problem: Problem, missing: str = "") -> None:
        super().__init__(problem)
        self.missing = missing


def why(problems: Iterable[Problem]) -> str:
    """Several problems on one line, without locations."""
    each = ("; ".join(filter(None, (p.message, p.hint))) for p in problems)
    return "; ".join(dict.fromkeys(each))


HINT = re.compile(r"; (?=did you mean |write |download |there are: )")


def split_hint(message: str) -> tuple[str, str]:
    """Split a message from the hint after its semicolon: ``unknown key; did you mean 'prompt'?``, ``...; write '20 ms'``."""
    text, *hints = HINT.split(message, maxsplit=1)
    return text, hints[0] if hints else ""


def on_line(name: str, hint: str) -> str:
    """The same hint with the value written as ``NAME='VALUE'``."""
    return f"write {name}={hint.removeprefix('write ')}" if hint.startswith("write '") else hint


@lru_cache(maxsize=1)
def _glossary() -> dict[str, list[str]]:
    """Word -> the names of symroof that people may mean by it."""
    import yaml

    text = data_folder("templates").joinpath("glossary.yaml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for name, entry in yaml.load(text, yaml.CSafeLoader)["terms"].items():
        for word in entry.get("words", "").split():
            found.setdefault(word, []).append(name)
    return found


def meant_by(word: str) -> list[str]:
    """The names that people mean by a word, however it is spelled: ``itl`` by ``TPOT``."""
    return _glossary().get(word.lower().replace("-", "_"), [])


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: what the word means, else the name that it begins or is spelled like.

    >>> nearest("mem_bandwith", ["mem_bandwidth", "mem_capacity"])
    "did you mean 'mem_bandwidth'?"
    """
    names = sorted(known)
    tail = re.fullmatch(r"(p\d\d)_(\w+)|(\w+)_(p\d\d)", re.sub("[- ]", "_", name.lower()))
    if tail and (metric := tail[2] or tail[3]) in names:  # as other tools name a percentile
        of = tail[1] or tail[4]
        return f"write {metric}: {{{of}: 2 s}} in a file, --target '{metric}={of} 2 s' on the line"
    parts = [each for each in names if f"_{each}_" in f"_{name.lower()}_"]
    begun = [each for each in names if each.startswith((f"{name}_", f"{name}-"))]
    matches = (
        [each for each in meant_by(name) if each in names]
        or (begun if 1 < len(begun) <= 6 else [])
        or difflib.get_close_matches(name, names, n=1, cutoff=0.8)
        or sorted(parts, key=len)[-1:]
        or difflib.get_close_matches(name, names, n=1, cutoff=0.65)
    )
    numbers = re.findall(r"\d+", name)  # gpt-4 is no slip for gpt2, but a101 is one for a100
    matches = [m for m in matches if not numbers or _share_a_number(numbers, m)]
    if matches:
        return f"did you mean {' or '.join(map(repr, matches))}?"
    return f"there are: {', '.join(names)}" if 0 < len(names) <= 16 else ""


def _share_a_number(numbers: list[str], name: str) -> bool:
    """Whether a name has one of these numbers, or a long one but for a digit."""
    return any(
        number == own
        or (len(number) > 2 and difflib.SequenceMatcher(None, number, own).ratio() > 0.6)
        for number in numbers
        for own in re.findall(r"\d+", name)
    )


class DoesNotFit(UserWarning):
    """A latency, rate or cost of a configuration that does not fit in memory, from :meth:`symroof.Study.value`.

    >>> import warnings
    >>> import symroof as sr
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     _ = sr.Study("llama-3-70b", "h100-sxm", prompt=4096).value("itl")
    >>> print(found[0].message)
    itl = 57.92 ms (46.21 to 88.58 ms) is of a configuration that does not fit in memory
    """


EXTRAS = dict.fromkeys(("xarray", "dask", "netCDF4", "zarr", "pyarrow"), "sweep")
"""The extra of symroof that installs each package."""


def require(output: str, *modules: str) -> None:
    """Check that the packages of an output are installed.

    Raises:
        InputError: one is not; the hint names the extra.
    """
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # installed, but one of its own dependencies is missing
                raise
            message = f"needs {module}, which is not installed"
            hint = f"pip install 'symroof[{EXTRAS[module]}]'"
            raise InputError(Problem(output, message, hint=hint)) from None
