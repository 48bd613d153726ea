"""Parser of ``vllm serve`` commands: words split as a shell would, each with its column."""

import io
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.errors import InputError, LocatedText, Problem, nearest
from symroof.units import UnitError, parse_number
from symroof.vllm.flags import CHOICE, COUNT, FLAGS, JSON, SHARE, SHORT, SWITCH, VALUELESS

NAME = "vllm line"
MAX_LENGTH, MAX_WORDS, MAX_JSON = 8_192, 256, 2_048
SHELL = re.compile(r"[;|&<>`]+|.*\$[({\w].*|.*`.*", re.DOTALL)
SIZES = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
"""Suffixes of integers as vLLM parses them: 16k is 16,000 and 16K is 16,384."""
LARGEST_COUNT = 10**9


@dataclass(frozen=True)
class FlagValue:
    """A flag of a command: its parsed value, its text and its column."""

    name: str
    value: Any
    text: str
    column: int


@dataclass(frozen=True)
class ServeCommand:
    """A parsed command: known flags, and words that are ignored."""

    source: str
    flags: dict[str, FlagValue]
    others: tuple[LocatedText, ...]

    def problem(self, column: int, message: str, hint: str = "", path: str = "") -> Problem:
        return Problem(NAME, message, 1, column, path, hint, self.source)


def read_line(text: str) -> ServeCommand:
    """Parse a command.

    >>> line = read_line("vllm serve meta-llama/Llama-3.1-8B -tp 2 --max-num-seqs=64 --port 80")
    >>> line.flags["tensor-parallel-size"].value, line.flags["max-num-seqs"].value, [word.text for word in line.others]
    (2, 64, ['--port', '80'])

    Raises:
        InputError: every invalid word, with its column.
    """
    source = re.sub(r"\\\r?\n|[\r\n]", "  ", text).rstrip()
    return _CommandParser(source, _words(source)).read()


def _words(source: str) -> list[LocatedText]:
    """Split a command into words as a shell would."""
    if len(source) > MAX_LENGTH:
        raise InputError(Problem(NAME, f"is longer than {MAX_LENGTH:,} characters"))
    stream = io.StringIO(source)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[LocatedText] = []
    while True:
        start = stream.tell()
        try:
            token = lexer.get_token()
        except ValueError as error:
            raise InputError(Problem(NAME, f"cannot be split into words: {str(error).lower()}", 1, start + 1, source=source)) from None
        if token is None:
            return words
        while start < len(source) and source[start].isspace():
            start += 1
        words.append(LocatedText(token, start + 1))
        if len(words) > MAX_WORDS:
            raise InputError(Problem(NAME, f"has more than {MAX_WORDS} words", 1, start + 1, source=source))


class _CommandParser:
    """Converts words to flags and collects every problem."""

    def __init__(self, source: str, words: list[LocatedText]) -> None:
        self.line = ServeCommand(source, {}, ())
        self.words = words
        self.others: list[LocatedText] = []
        self.problems: list[Problem] = []

    def read(self) -> ServeCommand:
        self._shell()
        self._start()
        while self.words:
            word = self.words.pop(0)
            if word.text.startswith("-") and len(word.text) > 1:
                self._flag(word)
            elif "model" not in self.line.flags:
                self._note(FlagValue("model", word.text, word.text, word.column))
            else:
                self.problems.append(self.line.problem(word.column, f"{word.text[:40]!r} belongs to no flag", "a flag begins with --"))
        if "model" not in self.line.flags and not self.problems:
            self.problems.append(self.line.problem(1, "names no model", "vllm serve MODEL ..."))
        if self.problems:
            raise InputError(self.problems)
        return ServeCommand(self.line.source, self.line.flags, tuple(self.others))

    def _shell(self) -> None:
        """Reject shell syntax."""
        for word in self.words:
            if SHELL.fullmatch(word.text):
                self.problems.append(self.line.problem(word.column, f"{word.text[:40]!r} is shell syntax, and no shell runs here", "write the value itself"))
        if self.problems:
            raise InputError(self.problems)

    def _start(self) -> None:
        """Skip environment variables, then ``vllm serve`` or Python with the server's module."""
        while self.words and re.fullmatch(r"[A-Za-z_]\w*=.*", self.words[0].text, re.DOTALL):
            self.others.append(self.words.pop(0))
        texts = [word.text for word in self.words[:3]]
        if texts[:2] == ["vllm", "serve"]:
            del self.words[:2]
        elif len(texts) == 3 and re.fullmatch(r"(\S*/)?python3?(\.\d+)?", texts[0]) and texts[1:] == ["-m", "vllm.entrypoints.openai.api_server"]:
            del self.words[:3]
        else:
            column = self.words[0].column if self.words else 1
            raise InputError(self.line.problem(column, "does not begin with vllm serve", "vllm serve MODEL --max-num-seqs 256 ..."))

    def _flag(self, word: LocatedText) -> None:
        spelled, equals, value = word.text.partition("=")
        head, dot, tail = spelled.lstrip("-").partition(".")
        name = f"{head.replace('_', '-')}{dot}{tail}"
        off = name.startswith("no-") and name[3:] in FLAGS
        name = SHORT.get(name, name) if len(name) <= 2 else name.removeprefix("no-") if off else name
        base, _, key = name.partition(".")
        if name not in FLAGS and not (key and base in FLAGS and FLAGS[base].kind == JSON):
            self._other(word, bool(equals), name)
            return
        if FLAGS[base].kind == SWITCH:
            self._note(FlagValue(name, not off if not equals else value.lower() == "true", word.text, word.column))
            return
        if not equals:
            if not self.words or (self.words[0].text.startswith("-") and len(self.words[0].text) > 1):
                self.problems.append(self.line.problem(word.column, "has no value", path=f"--{name}"))
                return
            following = self.words.pop(0)
            value, word = following.text, LocatedText(following.text, following.column)
        try:
            self._note(FlagValue(name, READERS[FLAGS[base].kind](base, value) if not key else value, value, word.column))
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            self.problems.append(self.line.problem(word.column, message, hint, f"--{name}"))

    def _other(self, word: LocatedText, has_value: bool, name: str) -> None:
        """Keep an ignored flag with the words up to the next flag."""
        self.others.append(word)
        if has_value or name in VALUELESS or name.startswith(("no-", "enable-", "disable-")):
            return
        while self.words and not self.words[0].text.startswith("-"):
            self.others.append(self.words.pop(0))

    def _note(self, written: FlagValue) -> None:
        if written.name in self.line.flags:
            self.problems.append(self.line.problem(written.column, "is given twice", path=f"--{written.name}"))
        self.line.flags[written.name] = written


# ------------------------------------------------------------------------------------------------------- values


def _count(name: str, text: str) -> int:
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([kmgKMG]?)", text)
    value = Fraction(match[1]) * SIZES.get(match[2], 1) if match else Fraction(0)
    if value.denominator != 1 or not 0 < value <= LARGEST_COUNT:
        raise ValueError(f"{text[:40]!r} is not a whole number, 1 or more, such as 256 or 16k")
    return int(value)


def _share(name: str, text: str) -> Fraction:
    try:
        value = parse_number(text)
    except UnitError as error:
        raise ValueError(str(error)) from None
    if not 0 < value <= 1:
        raise ValueError(f"{text[:40]!r} is not a share above 0 and up to 1, such as 0.9")
    return value


def _choice(name: str, text: str) -> str:
    known = [value for value, _ in FLAGS[name].choices]
    if text not in known:
        raise ValueError(f"{text[:40]!r} is not modelled here; {nearest(text, known)}".rstrip("; "))
    return text


def _json(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if len(text) <= MAX_JSON else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError('is not a JSON object, such as \'{"model": "...", "num_speculative_tokens": 4}\'')
    return value


READERS: dict[str, Callable[[str, str], Any]] = {COUNT: _count, SHARE: _share, CHOICE: _choice, JSON: _json, "text": lambda name, text: text}
