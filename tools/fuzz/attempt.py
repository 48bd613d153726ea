"""One attempt: a command, the files it is run on, and the file form in which a failing one is saved."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import yaml

CASES = Path(__file__).parents[2] / "tests" / "data" / "fuzz"
OPEN = CASES / "open.yaml"


@dataclass(frozen=True)
class Attempt:
    """What is run, and on which files.

    Attributes:
        arguments: the words behind ``symroof``; a byte that is no UTF-8 is a lone surrogate, as Python has it.
        files: name -> content, in the folder where the command runs.
        closed: standard streams that are closed: ``stdout``, ``stderr``, ``stdin``; ``full`` is a standard output on a full disk.
        interrupt_at: Ctrl-C at this import, counted from the start of the entry point.
        says, never: regular expressions that the output (both streams) must hold, and must not.
    """

    arguments: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    closed: tuple[str, ...] = ()
    interrupt_at: int = 0
    says: str = ""
    never: str = ""

    @property
    def size(self) -> int:
        return sum(map(len, self.arguments)) + sum(
            len(name) + len(content) for name, content in self.files.items()
        )


@dataclass(frozen=True)
class Case:
    """A saved attempt: its name, why it is there, and whether it is too slow for the suite."""

    name: str
    area: str
    why: str
    attempt: Attempt
    slow: bool = False


def _encoded(content: bytes) -> object:
    """Text where YAML can hold it and give it back, base64 otherwise."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}
    return (
        text
        if ("\r" not in text and text.isprintable())
        or all(c.isprintable() or c == "\n" for c in text)
        else {"escaped": ascii(text)[1:-1]}
    )


def _decoded(content: object) -> bytes:
    """Text, base64, escapes, or a head with a line that is repeated, ``#`` in it the number: a large file is a small case."""
    if isinstance(content, dict) and "times" in content:
        return (
            content["head"]
            + "".join(content["line"].replace("#", str(i)) for i in range(content["times"]))
        ).encode()
    if isinstance(content, dict) and "base64" in content:
        return base64.b64decode(content["base64"])
    if isinstance(content, dict):
        return _unescaped(content["escaped"]).encode()
    return str(content).encode()


def _unescaped(text: str) -> str:
    return (
        text.encode("ascii")
        .decode("unicode_escape")
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "surrogatepass")
    )


def _word(text: str) -> object:
    return text if text.isprintable() else {"escaped": ascii(text)[1:-1]}


def save(area: str, why: str, attempt: Attempt, folder: Path = CASES) -> Path:
    """Write an attempt as a case named by its content."""
    data: dict[str, object] = {
        "area": area,
        "why": why,
        "run": [_word(word) for word in attempt.arguments],
    }
    if attempt.files:
        data["files"] = {name: _encoded(content) for name, content in attempt.files.items()}
    data |= {
        name: value
        for name in ("interrupt_at", "says", "never")
        if (value := getattr(attempt, name))
    }
    if attempt.closed:
        data["closed"] = list(attempt.closed)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=140)
    path = folder / f"{area}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Case:
    """Read a case back."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    words = tuple(
        _unescaped(word["escaped"]) if isinstance(word, dict) else str(word) for word in data["run"]
    )
    files = {name: _decoded(content) for name, content in data.get("files", {}).items()}
    more = {name: data[name] for name in ("interrupt_at", "says", "never") if name in data}
    attempt = Attempt(words, files, tuple(data.get("closed", ())), **more)
    return Case(path.stem, data["area"], data["why"], attempt, bool(data.get("slow")))


def cases() -> list[Case]:
    """Every saved case, by name."""
    return [load(path) for path in sorted(CASES.glob("*.yaml")) if path != OPEN]


def open_cases() -> dict[str, str]:
    """Names of the cases that fail for now, each with the reason."""
    return yaml.safe_load(OPEN.read_text(encoding="utf-8")) or {} if OPEN.exists() else {}
