"""What must never happen, whatever was sent: an outcome held against it, and a signature that tells one fault from another."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import dataclass

from .attempt import Attempt
from .runner import Limits, Outcome

MARK = "fuzzlive"
"""Generators write it as the name of an HTML element: where it is one in a review, a stranger's text is live."""
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LEAKED = re.compile(r"Fraction\(|\bNum\(|\bName\(|object at 0x|NoneType|<class '|unhashable|unpack")
FRAME = re.compile(r'File "[^"]*?/(symroof/[^"]+)", line \d+, in (\S+)')
RAISED = re.compile(r"^(?!symroof: )([A-Za-z_][\w.]+)(?=:|$)", re.MULTILINE)
ROW = re.compile(r"\\\\[ \t]*\n[ \t]*[\[*]")


@dataclass(frozen=True)
class Finding:
    """One fault: its kind, where it shows, and what to look at."""

    kind: str
    where: str
    detail: str

    @property
    def signature(self) -> str:
        return f"{self.kind}: {self.where}"


def finding(attempt: Attempt, outcome: Outcome, limits: Limits) -> Finding | None:
    """The worst that an outcome shows, or None where all is well."""
    checks = (_ended, _crashed, _used, _code, _streams, _json, _files, _expected)
    command = next((word for word in attempt.arguments if not word.startswith("-")), "-")
    return next(
        (made for check in checks if (made := check(attempt, outcome, limits, command[:20]))), None
    )


def _errors(outcome: Outcome) -> str:
    return outcome.stderr.decode("utf-8", "replace")


def _ended(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    """A limit of time, or a signal."""
    if outcome.code in (-signal.SIGXCPU, -signal.SIGALRM):
        return Finding(
            "slow" if outcome.code == -signal.SIGXCPU else "hang",
            f"{command} {_stack(outcome.trace)}",
            outcome.trace[:3000],
        )
    if outcome.code < 0 and not attempt.interrupt_at:
        return Finding(
            "signal", f"{command} {signal.Signals(-outcome.code).name}", _errors(outcome)[-2000:]
        )
    return None


def _stack(trace: str) -> str:
    """The rooms a slow command is in, outermost first: the innermost frames change from run to run."""
    frames = re.findall(
        r'File "[^"]*?/symroof/([^"]+)\.py", line \d+ in (\S+)', trace.split("\n\n")[0]
    )
    outer = [f"{file}:{name}" for file, name in reversed(frames) if not file.startswith("cli/")]
    return " > ".join(dict.fromkeys(outer[:3]))


def _crashed(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    """A bug by its own word, or an error that nobody caught."""
    errors = _errors(outcome)
    if outcome.code not in (101, 111, 112) and "Traceback (most recent call last)" not in errors:
        return None
    errors = outcome.trace if outcome.code in (111, 112) else errors
    last = errors.rpartition("Traceback (most recent call last)")[2]
    frames, raised = FRAME.findall(last), RAISED.findall(last)
    place = f"{frames[-1][0]}:{frames[-1][1]}" if frames else "-"
    kind = "bug" if outcome.code == 101 else "traceback"
    return Finding(
        kind,
        f"{raised[-1] if raised else 'Exception'} in {place}" + ("" if frames else f" ({command})"),
        last[-2500:],
    )


def _used(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    if outcome.cpu > limits.cpu:
        return Finding("slow", command, f"{outcome.cpu:.1f} s")
    if outcome.memory > limits.memory + (256 << 20):  # what the fork server has when it starts
        return Finding("memory", command, f"{outcome.memory / 1e9:.2f} GB")
    return None


def _code(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    interrupted = (130, -signal.SIGINT) if attempt.interrupt_at else ()
    if outcome.code not in (0, 1, 2, *interrupted):
        return Finding("exit", f"{command} {outcome.code}", _errors(outcome)[-1500:])
    if outcome.code == 2 and outcome.stderr.startswith(b"variant:"):
        return Finding(
            "variant", command, _errors(outcome)[:500]
        )  # what symroof tries of its own accord is nothing the input says
    if outcome.code == 2 and not outcome.stderr and "stderr" not in attempt.closed:
        return Finding("silent", command, outcome.stdout.decode("utf-8", "replace")[:500])
    return None


def _streams(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    """Signs that steer a terminal, and the inside of Python, in what is printed."""
    binary = outcome.stdout[:4] in (b"\x89PNG", b"%PDF")
    for name, raw in (("stdout", b"" if binary else outcome.stdout), ("stderr", outcome.stderr)):
        text = raw.decode("utf-8", "replace")
        if found := STEERING.search(text):
            form = (
                " " + attempt.arguments[attempt.arguments.index("--format") + 1]
                if "--format" in attempt.arguments[:-1]
                else ""
            )
            return Finding(
                "control",
                f"{command}{form[:10]} {name}",
                ascii(text[max(0, found.start() - 100) : found.end() + 60]),
            )
        if found := LEAKED.search(text):
            return Finding(
                "inside",
                f"{command} {found[0]}",
                text[max(0, found.start() - 200) : found.end() + 100],
            )
    return None


def _json(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    """With ``--json`` one object on standard output, without NaN or infinity."""
    if (
        "--json" not in attempt.arguments
        or outcome.code not in (0, 1)
        or not outcome.stdout
        or {"-h", "--help", "--version"} & set(attempt.arguments)
    ):
        return None
    try:
        made = json.loads(outcome.stdout, parse_constant=_refuse)
    except ValueError as error:
        return Finding("json", command, f"{error}: {outcome.stdout[:300]!r}")
    return None if isinstance(made, dict) else Finding("json", command, "not an object")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} in JSON")


def _files(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    """No file is left by a command that refused; none holds a stranger's markup."""
    if outcome.code == 2 and outcome.written:
        return Finding("partial", command, ", ".join(outcome.written))
    for name, content in [("stdout." + _form(attempt), outcome.stdout), *outcome.written.items()]:
        text = content.decode("utf-8", "replace")
        if (live := _live(name, text)) is not None:
            return Finding("live", f"{command} {name.rpartition('.')[2]}", live)
    return None


def _form(attempt: Attempt) -> str:
    words = attempt.arguments
    return next((words[i + 1] for i, word in enumerate(words[:-1]) if word == "--format"), "txt")


def _live(name: str, text: str) -> str | None:
    """Where a stranger's text is markup of the page, the document or the picture."""
    ending = name.rpartition(".")[2]
    if ending in ("html", "svg") and (at := text.find(f"<{MARK}")) >= 0:
        return text[max(0, at - 150) : at + 60]
    if ending == "md" and MARK in text:
        from markdown_it import MarkdownIt

        rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
        if (at := rendered.find(f"<{MARK}")) >= 0:
            return rendered[max(0, at - 150) : at + 60]
    if ending == "tex" and (row := ROW.search(text)):
        return text[max(0, row.start() - 80) : row.end() + 80]
    return None


def _expected(attempt: Attempt, outcome: Outcome, limits: Limits, command: str) -> Finding | None:
    text = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")
    if attempt.says and not re.search(attempt.says, text):
        return Finding("says", f"{command} {attempt.says}", text[-1500:])
    if attempt.never and re.search(attempt.never, text):
        return Finding("never", f"{command} {attempt.never}", text[-1500:])
    return None
