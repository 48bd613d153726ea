"""Parser of the command lines of servers: words split as a shell would, each with its column."""

import difflib
import io
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any

from symroof.errors import InputError, LocatedText, Problem, nearest
from symroof.strict_yaml import load
from symroof.units import parse_number
from symroof.vllm.engines import (
    ENGINES,
    NOT_MODELLED,
    TRTLLM,
    VALUELESS,
    VLLM,
    Engine,
    Flag,
    engine_of_image,
)

NAME = "vllm line"
MAX_LENGTH, MAX_WORDS, MAX_JSON = 8_192, 256, 2_048
SHELL = re.compile(r"[;|&<>`]+|.*\$\(.*|.*`.*", re.DOTALL)
VARIABLE = re.compile(r"\$[{\w]")
WRAPPERS = re.compile(
    "sudo|nohup|exec|time|env|uv|uvx|numactl|srun|docker|podman|nerdctl|run|nice|taskset"
)
"""Programs that start another one, whose words follow theirs."""
AUTO = "auto"
"""The longest request that fits: what vLLM takes ``auto`` and -1 for."""
SIZES = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
"""Suffixes of integers as vLLM parses them: 16k is 16,000 and 16K is 16,384."""
LARGEST_COUNT = 10**9
SPELT_ALIKE = 0.82
"""How alike a misspelt flag and the one that was meant are."""


@dataclass(frozen=True)
class FlagValue:
    """A flag of a command: its parsed value, its text and its column."""

    name: str
    value: Any
    text: str
    column: int


@dataclass(frozen=True)
class ServeCommand:
    """A parsed command: known flags by the names of vLLM, words that are ignored, what stands before, and what is said of the line itself."""

    source: str
    flags: dict[str, FlagValue]
    others: tuple[str, ...]
    engine: Engine = VLLM
    before: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    def problem(self, column: int, message: str, hint: str = "", path: str = "") -> Problem:
        return Problem(NAME, message, 1, column, path, hint, self.source)

    def on(self, name: str) -> bool:
        """Whether a switch is on."""
        return name in self.flags and self.flags[name].value is True


def read_line(text: str, engines: tuple[Engine, ...] = (VLLM,)) -> ServeCommand:
    """Parse a command of one of the engines, or the one of a container that runs it.

    >>> line = read_line("vllm serve meta-llama/Llama-3.1-8B -tp 2 --max-num-seqs=64 --port 80")
    >>> line.flags["tensor-parallel-size"].value, line.flags["max-num-seqs"].value, line.others
    (2, 64, ('--port', '80'))
    >>> read_line("python3 -m sglang.launch_server --model-path m --tp 8", ENGINES).engine.name
    'sglang'

    Raises:
        InputError: every invalid word, with its column.
    """
    text = COMMENT.sub(lambda found: found[1] or "", text)
    source = re.sub(r"\\\r?\n|[\r\n]", "  ", text).rstrip()
    return _CommandParser(source, _words(source), engines).read()


COMMENT = re.compile(r"""('[^']*'|"[^"]*")|(?<!\S)#[^\n]*""")
"""What a shell takes for a comment: from a # at the beginning of a word to the end of its line; or a quoted text, which has none."""


def _words(source: str) -> list[LocatedText]:
    """Split a command into words as a shell would."""
    if len(source) > MAX_LENGTH:
        raise InputError(Problem(NAME, f"is longer than {MAX_LENGTH:,} characters"))
    stream = io.StringIO(source)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[LocatedText] = []
    while True:
        start, message = stream.tell(), ""
        try:
            token = lexer.get_token()
        except ValueError as error:
            message = f"cannot be split into words: {str(error).lower()}"
        else:
            if token is None:
                return words
            start += len(source[start:]) - len(source[start:].lstrip())
            words.append(LocatedText(token, start + 1))
            if len(words) > MAX_WORDS:
                message = f"has more than {MAX_WORDS} words"
        if message:
            raise InputError(Problem(NAME, message, 1, start + 1, source=source))


class _CommandParser:
    """Converts words to flags and collects every problem."""

    def __init__(self, source: str, words: list[LocatedText], engines: tuple[Engine, ...]) -> None:
        self.line = ServeCommand(source, {}, ())
        self.engines, self.engine = engines, engines[0]
        self.words = words
        self.others: dict[str, list[str]] = {}
        self.before: list[str] = []
        self.said: list[str] = []
        self.problems: list[Problem] = []

    def read(self) -> ServeCommand:
        for shell, option, inner in zip(self.words, self.words[1:], self.words[2:], strict=False):
            if re.fullmatch(r"(/\S*/)?(ba|z)?sh -\w*c", f"{shell.text} {option.text}"):
                # bash -c '...': the line inside
                self.words = [LocatedText(word.text, inner.column) for word in _words(inner.text)]
                break
        self._shell()
        self._start()
        while self.words:
            self._word(self.words.pop(0))
        if "config" in self.line.flags:
            self._config(self.line.flags["config"])
        if "model" not in self.line.flags and not self.problems:
            hint = f"{' '.join(self.engine.program)} MODEL ..."
            self.problems.append(self.line.problem(1, "names no model", hint))
        if self.problems:
            raise InputError(self.problems)
        others, said = tuple(chain(*self.others.values())), tuple(dict.fromkeys(self.said))
        before = tuple(self.before)
        return replace(self.line, others=others, engine=self.engine, before=before, said=said)

    def _word(self, word: LocatedText) -> None:
        if word.text.startswith("-") and len(word.text) > 1:
            self._flag(word)
        elif "model" not in self.line.flags:
            self._note(FlagValue("model", self._known(word), word.text, word.column))
        else:
            message = f"{word.text[:40]!r} belongs to no flag"
            self.problems.append(self.line.problem(word.column, message, "a flag begins with --"))

    def _shell(self) -> None:
        """Reject shell syntax; a variable is only one where its value matters."""
        redirect = r"&|\d?>&\d|[&\d]?>>?\S+"
        while self.words:  # at the end it says where the output goes, or that nothing waits for it
            if re.fullmatch(redirect, self.words[-1].text):
                del self.words[-1:]
            elif len(self.words) > 1 and re.fullmatch(r"[&\d]?>>?", self.words[-2].text):
                del self.words[-2:]
            else:
                break
        for word in self.words:
            if SHELL.fullmatch(word.text):
                self.problems.append(self._no_shell(word))
        if self.problems:
            raise InputError(self.problems)

    def _no_shell(self, word: LocatedText) -> Problem:
        message = f"{word.text[:40]!r} is shell syntax, and no shell runs here"
        return self.line.problem(word.column, message, "write the value itself")

    def _known(self, word: LocatedText) -> str:
        """The text of a value that matters."""
        if VARIABLE.search(word.text):
            self.problems.append(self._no_shell(word))
        return word.text

    def _start(self) -> None:
        """Skip environment variables and programs that start another, a container's among them, then the server's own first words."""
        while self.words and re.fullmatch(r"[A-Za-z_]\w*=.*", self.words[0].text, re.DOTALL):
            self.before.append(self.words.pop(0).text)
        wrapped = bool(self.words and WRAPPERS.fullmatch(self.words[0].text))
        for skipped in range(len(self.words) if wrapped else 1):
            if found := self._begins(skipped):
                self.engine, count = found
                self.before += [word.text for word in self.words[: skipped + count]]
                self.before[-count:] = self.before[-count:] if wrapped else self.engine.program
                del self.words[: skipped + count]
                return
        known = " or ".join(" ".join(engine.program) for engine in self.engines)
        column = self.words[0].column if self.words else 1
        elsewhere = _CommandParser(self.line.source, self.words, ENGINES)._begins(0)
        hint = "`symroof server` reads this one" if elsewhere else f"{known} MODEL ..."
        raise InputError(self.line.problem(column, f"does not begin with {known}", hint))

    def _begins(self, skipped: int) -> tuple[Engine, int] | None:
        """The engine whose line begins behind some words, and how many words that takes."""
        words = [word.text for word in self.words[skipped : skipped + 4]]
        for engine in self.engines:
            for start in engine.starts:
                count = start.count(" ") + 1
                if len(words) >= count and re.fullmatch(start, " ".join(words[:count])):
                    return engine, count
        imaged = engine_of_image(words[0]) if skipped and words else None
        if imaged is None or imaged not in self.engines:
            return None
        inner = None
        if len(words) > 1 and not words[1].startswith("-"):
            inner = self._begins(skipped + 1)
        return (inner[0], inner[1] + 1) if inner else (imaged, 1)

    def _flag(self, word: LocatedText) -> None:
        spelled, equals, value = word.text.partition("=")
        head, dot, tail = spelled.lstrip("-").partition(".")
        written = f"{head.replace('_', '-')}{dot}{tail}"
        known = self.engine.spellings.values()
        plain = written.removeprefix("no-")
        off = plain != written and self.engine.spellings.get(plain, plain) in known
        name = self._full_name(plain if off else written, spelled, word)
        base, _, key = name.partition(".")
        if base not in known or (key and self.engine.flag(base).kind != "json"):
            self._other(word, bool(equals), written)
            return
        flag, following = self.engine.flag(base), self.words[0].text if self.words else "--"
        if flag.kind == "switch":
            if not equals and following.lower() in ("true", "false"):
                value = self.words.pop(0).text
            on = (value or "true").lower() == "true"
            self._note(FlagValue(name, on != off, word.text, word.column))
            return
        if not equals:
            if re.match(r"-.", following) and not re.fullmatch(r"-\d+", following):
                fault = self.line.problem(word.column, "has no value", path=f"--{name}")
                self.problems.append(fault)
                return
            word = self.words.pop(0)
            value = word.text
        self._value(name, flag, value, word.column, bool(key))

    def _value(self, name: str, flag: Flag, value: str, column: int, key: bool = False) -> None:
        if VARIABLE.search(self._known(LocatedText(value, column))):
            return
        if flag.kind == "json" and not key and not value.startswith('{"'):
            # without quotes around it a shell, and shlex, drop those inside
            value = next(iter(self.line.source[column - 1 :].split(" ")), value)
        try:
            read = value if key else READERS[flag.kind](flag, value)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            self.problems.append(self.line.problem(column, message, hint, f"--{name}"))
        else:
            self._note(FlagValue(name, read, value, column))

    def _full_name(self, written: str, spelled: str, word: LocatedText) -> str:
        """A flag by its name here: as it is spelled, or by a beginning that is no other flag's where the engine takes one."""
        base, dot, key = written.partition(".")
        spellings = self.engine.spellings
        if base in spellings:
            return f"{spellings[base]}{dot}{key}"
        if not self.engine.abbreviates or not spelled.startswith("--"):
            return written
        begun = sorted({name for other, name in spellings.items() if other.startswith(base)})
        if len(begun) > 1:
            flags = ", ".join(f"--{name}" for name in begun[:4])
            message = "is the beginning of several flags"
            self.problems.append(self.line.problem(word.column, message, flags, f"--{base}"))
        return f"{begun[0]}{dot}{key}" if len(begun) == 1 else written

    def _config(self, file: FlagValue) -> None:
        """The flags of a file, where the line does not have them."""
        try:
            data = load(file.value).data
        except InputError as error:
            hint = "where the file is not at hand, leave the flag out: what it sets is then the engine's default"
            self.problems += [replace(each, hint=each.hint or hint) for each in error.problems]
            return
        if not isinstance(data, dict):
            message = "expected a file of flags and their values"
            self.problems.append(self.line.problem(file.column, message, path="--config"))
            return
        own = dict(self.line.flags)
        for key, value in _of_file(data, self.engine):
            name = self.engine.spellings.get(key.replace("_", "-"), key.replace("_", "-"))
            if name in own or name == "config":
                continue
            if name not in self.engine.spellings.values():
                words = [f"--{key[:60]}"] + [_text(value)[:60]] * (value is not True)
                self.others.setdefault(name, words)
            elif self.engine.flag(name).kind == "switch":
                self._note(FlagValue(name, value is True, str(value), file.column))
            else:
                self._value(name, self.engine.flag(name), _text(value), file.column)

    def _other(self, word: LocatedText, has_value: bool, name: str) -> None:
        """Keep an ignored flag with the words up to the next flag; leave a misspelt one out."""
        words = [word.text]
        alone = has_value or name in VALUELESS or name.startswith(("no-", "enable-", "disable-"))
        while not alone and self.words and not self.words[0].text.startswith("-"):
            words.append(self.words.pop(0).text)
        near = difflib.get_close_matches(name, self.engine.spellings, n=1, cutoff=SPELT_ALIKE)
        # short ones are alike by chance, and a longer name of one is another flag
        if not near or len(name) < 10 or name.startswith(near[0]) or name in NOT_MODELLED:
            self.others.pop(name, None)  # of one that is given twice the last counts
            self.others[name] = words
            return
        wrong = f"{word.text.partition('=')[0][:60]} is unknown: it was ignored, and the recommended line leaves it out"
        self.said.append(f"{wrong}; did you mean --{near[0]}?")

    def _note(self, written: FlagValue) -> None:
        if written.name in self.line.flags:
            said = f"--{written.name} is given more than once: the last one counts"
            self.said.append(f"{said}, {written.text[:60]}")
        self.line.flags[written.name] = written


def _text(value: Any) -> str:
    """A value of a file as a line would write it."""
    if isinstance(value, dict):
        return json.dumps(value, default=float)
    return f"{float(value):.12g}" if isinstance(value, Fraction) else str(value)


def _of_file(data: dict[str, Any], engine: Engine) -> list[tuple[str, Any]]:
    """The flags of a file; those of TensorRT-LLM stand in objects of their own."""
    if engine is not TRTLLM:
        return list(data.items())
    cache = data.get("kv_cache_config")
    inner = {"dtype": "kv-cache-dtype", "free_gpu_memory_fraction": "free-memory-share"}
    cache = cache if isinstance(cache, dict) else {}
    flags = {key: value for key, value in data.items() if key != "kv_cache_config"}
    flags |= {inner.get(key, f"kv_cache_config.{key}"): value for key, value in cache.items()}
    return list(flags.items())


# ------------------------------------------------------------------------------------------------------- values


def _count(flag: Flag, text: str) -> int | str:
    if flag.name == "max-model-len" and text.lower() in (AUTO, "-1", "0"):
        return AUTO
    if flag.name == "max-num-batched-tokens" and text == "-1":
        return 0  # SGLang: prompts are not cut into chunks
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([kmgKMG]?)", text)
    value = Fraction(match[1]) * SIZES.get(match[2], 1) if match else Fraction(0)
    if value.denominator != 1 or not 0 < value <= LARGEST_COUNT:
        raise ValueError(f"{text[:40]!r} is not a whole number, 1 or more, such as 256 or 16k")
    return int(value)


def _share(flag: Flag, text: str) -> Fraction:
    value = parse_number(text)
    if not 0 < value <= 1:
        raise ValueError(f"{text[:40]!r} is not a share above 0 and up to 1, such as 0.9")
    return value


def _choice(flag: Flag, text: str) -> str:
    known = list(flag.choices)
    if text not in known and flag.name != "quantization":
        hint = nearest(text, known) or f"there are: {', '.join(known)}"
        raise ValueError(f"{text[:40]!r} is not modelled here; {hint}")
    return text


def _json(flag: Flag, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if len(text) <= MAX_JSON else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError(
            'is not a JSON object, such as \'{"model": "...", "num_speculative_tokens": 4}\''
        )
    return value


READERS: dict[str, Callable[[Flag, str], Any]] = {
    "count": _count,
    "share": _share,
    "choice": _choice,
    "json": _json,
    "text": lambda flag, text: text,
}
