"""A stranger's template: Jinja's immutable sandbox, plain data only, in a child process with limits on time and memory.

The sandbox alone does not stop a template that loops or builds a huge text; the child's limits do.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import Any

from symroof.errors import InputError, Problem
from symroof.report.environment import environment

SECONDS, MEMORY, LARGEST_TEXT = 10, 1 << 30, 20_000_000


def render_in_child(source: str, file: str, view: dict[str, Any]) -> str:
    """Render a template text.

    Raises:
        InputError: a mistake in the template with its line, or a limit passed.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_render, args=(theirs, source, plain(view)), daemon=True)
    child.start()
    theirs.close()
    try:
        if not ours.poll(SECONDS):
            raise InputError(Problem(file, f"the template took longer than {SECONDS} s"))
        kind, line, text = ours.recv()
    except EOFError:
        raise InputError(Problem(file, "the template took too much memory")) from None
    finally:
        child.kill()
        child.join()
    if kind == "error":
        lines = source.splitlines()
        raise InputError(Problem(file, text, line or None, 1, source=lines[line - 1] if line and line <= len(lines) else ""))
    return str(text)


def plain(value: Any) -> Any:
    """The view without anything but texts, numbers, truths, lists and mappings."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if key != "entries"}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _render(channel: Connection, source: str, view: dict[str, Any]) -> None:
    from jinja2 import TemplateError, TemplateSyntaxError

    _limit()
    try:
        text = environment(sandboxed=True).from_string(source).render(**view)
        if len(text) > LARGEST_TEXT:
            raise MemoryError
        channel.send(("text", 0, text))
    except TemplateSyntaxError as error:
        channel.send(("error", error.lineno, f"template: {error.message}"))
    except MemoryError:
        channel.send(("error", 0, "the template took too much memory"))
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        channel.send(("error", 0, f"template: {error}"))


def _limit() -> None:
    """Bound memory and processor time, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows; the time limit above still holds
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 5, SECONDS + 5))  # the wall clock above comes first
