"""Untrusted templates: Jinja's immutable sandbox with plain data, in a child process with limits on time and memory.

The limits stop what the sandbox does not: endless loops and huge output.
"""

import multiprocessing
import os
import re
import signal
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from jinja2 import Environment, Template, TemplateNotFound, TemplateSyntaxError

from symroof.errors import InputError, Problem
from symroof.report.environment import environment

SECONDS, MEMORY_LIMIT, LARGEST_TEXT, MESSAGE = 10, 1 << 30, 20_000_000, 300
TOO_DEEP, TOO_LARGE = "nested too deep", "took too much memory"


@dataclass(frozen=True)
class TemplateFault:
    """An error of a template: file, line (0 if unknown) and message."""

    file: str
    line: int
    message: str


def render_in_child(source: str, file: str, view: dict[str, Any]) -> str:
    """Render a template text.

    Raises:
        InputError: an error in the template with its line, or an exceeded limit.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_render, args=(theirs, source, file, plain(view)), daemon=True)
    child.start()
    theirs.close()
    try:
        if not ours.poll(SECONDS):
            raise InputError(Problem(file, f"the template took longer than {SECONDS} s"))
        outcome = ours.recv()
    except EOFError:
        child.join(1)
        if child.exitcode == -signal.SIGSEGV:  # stack overflow of the interpreter
            raise InputError(
                Problem(file, f"template: {TOO_DEEP}", deepest_line(source), 1)
            ) from None
        raise InputError(Problem(file, f"the template {TOO_LARGE}")) from None
    finally:
        child.kill()
        child.join()
    if isinstance(outcome, TemplateFault):
        lines = source.splitlines() if outcome.file == file else []
        written = lines[outcome.line - 1] if 0 < outcome.line <= len(lines) else ""
        raise InputError(
            Problem(
                outcome.file,
                f"template: {outcome.message}"
                if outcome.line
                else f"the template {outcome.message}",
                outcome.line or None,
                1,
                source=written,
            )
        )
    return str(outcome)


def plain(value: Any) -> Any:
    """Convert the data to strings, numbers, booleans, lists and mappings."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _render(channel: Connection, source: str, file: str, view: dict[str, Any]) -> None:
    """Runs in the child: send the text or the error; print nothing."""
    try:
        _limit()
        channel.send(_outcome(source, file, view))
    except BaseException:  # out of memory while sending; the parent sees a closed channel
        os._exit(1)


def _outcome(source: str, file: str, view: dict[str, Any]) -> str | TemplateFault:
    made = environment(sandboxed=True)
    try:
        code = made.compile(source, file, file)
    except TemplateSyntaxError as error:
        return TemplateFault(file, error.lineno, error.message or "cannot be read")
    except (
        RecursionError,
        MemoryError,
        SyntaxError,
    ):  # limits of Jinja's parser and Python's compiler
        return TemplateFault(file, deepest_line(source), TOO_DEEP)
    except Exception as error:
        return _fault(error, file, str(error) or type(error).__name__)
    return _rendered(
        made, made.template_class.from_code(made, code, made.make_globals(None)), file, view
    )


def _rendered(
    made: Environment, template: Template, file: str, view: dict[str, Any]
) -> str | TemplateFault:
    try:
        text = template.render(**view)
        return text if len(text) <= LARGEST_TEXT else TemplateFault(file, 0, TOO_LARGE)
    except RecursionError as error:
        return _fault(error, file, TOO_DEEP)
    except MemoryError as error:
        return _fault(error, file, TOO_LARGE)
    except TemplateNotFound as error:
        parts = ", ".join(name for name in made.list_templates() if name.endswith(".j2"))
        return _fault(error, file, f"no part {error.name!r}; there are: {parts}")
    except Exception as error:
        return _fault(error, file, str(error).rstrip(".") or type(error).__name__)


def _fault(error: BaseException, file: str, message: str) -> TemplateFault:
    """The error with the innermost template line of the traceback."""
    frames = [
        (frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    own = [line for name, line in frames if name == file]
    parts = [
        (Path(name).name, line) for name, line in frames if name.endswith(".j2") and name != file
    ]
    inside = f", in {parts[-1][0]} line {parts[-1][1]}" if parts else ""
    return TemplateFault(file, own[-1] if own else 0, message[:MESSAGE] + inside)


MARKS = re.compile(r"[(\[{]|[)\]}]|<%[-+]?\s*(?:end)?[a-z]+")


def deepest_line(source: str) -> int:
    """The line with the deepest nesting of brackets and blocks.

    >>> deepest_line("<< ((1)) >>\\n<< (((1))) >>")
    2
    """
    depth, deepest, line = 0, -1, 1
    for number, text in enumerate(source.splitlines(), 1):
        for mark in MARKS.findall(text):
            word = mark.lstrip("<%-+ \t")
            depth += (
                1
                if mark in "([{" or word in BLOCKS
                else -1
                if mark in ")]}" or word.startswith("end")
                else 0
            )
            if depth > deepest:
                deepest, line = depth, number
    return line


BLOCKS = ("if", "for", "macro", "call", "filter", "block", "with", "autoescape")


def _limit() -> None:
    """Limit memory and CPU time, if the system supports it."""
    try:
        import resource
    except ImportError:  # Windows; the time limit of the parent still applies
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(
        resource.RLIMIT_CPU, (SECONDS + 5, SECONDS + 5)
    )  # the wall-clock limit applies first
