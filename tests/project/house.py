"""How large the house is: lines of each package against its budget, and what is too long or too small to stand alone."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORE = Path(__file__).with_name("offenders.txt")
MODULE, FUNCTION, HELPER, MERGED = 400, 60, 6, 30
"""Lines of a module, of a function, of a helper's body, and of a caller with the helper in it."""

PACKAGES = {
    "top level": (),
    "symbolic": ("formula", "symbolic"),
    "theory": ("theory",),
    "checkpoints": ("specs/checkpoints",),
    "specs": ("specs",),
    "study": ("cases", "analysis"),
    "select": ("select",),
    "simulate": ("simulate",),
    "servers": ("vllm",),
    "sweep": ("sweep",),
    "calibrate": ("calibrate",),
    "check": ("claims",),
    "report": ("report", "table_formats.py"),
    "cli": ("cli",),
}
"""The rooms of each package; a folder belongs to the first that names it."""


def lines(path: Path) -> int:
    """Lines of a file, as ``ruff format`` leaves it (which the tests of the repository ask for)."""
    return len(path.read_text(encoding="utf-8").splitlines())


def sizes() -> dict[str, int]:
    """Lines of each package, of the tests, and of every other Python file."""
    found: Counter[str] = Counter()
    for path in (ROOT / "symroof").rglob("*.py"):
        found[package_of(path.relative_to(ROOT / "symroof"))] += lines(path)
    found["tests"] = sum(map(lines, (ROOT / "tests").rglob("*.py")))
    found["other"] = sum(sum(map(lines, (ROOT / name).rglob("*.py"))) for name in OTHERS)
    return dict(found)


OTHERS = ("tools", "docs", "benchmarks")


def package_of(path: Path) -> str:
    """The package of a module of symroof, by its path there."""
    for package, rooms in PACKAGES.items():
        if any(path.is_relative_to(room) for room in rooms):
            return package
    return "top level"


def offenders() -> Iterator[str]:
    """What is too long, too nested or too small to stand alone, a line each."""
    for path in sorted((ROOT / "symroof").rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        if len(text.splitlines()) > MODULE:
            yield f"module {name}"
        if nested := sum(map(_is_nested, ast.walk(tree))):
            yield f"conditional {name} {nested}"
        named = Counter(_names(tree))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            if _length(function) > FUNCTION:
                yield f"function {name} {function.name}"
            elif _is_small_helper(function) and named[function.name] == 1:
                callers = [f for f in functions if f is not function and _calls(f, function.name)]
                if callers and _length(callers[-1]) + _body(function) <= MERGED:
                    yield f"helper {name} {function.name}"


def _length(function: ast.FunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def _body(function: ast.FunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _is_small_helper(function: ast.FunctionDef) -> bool:
    private = function.name.startswith("_") and not function.name.startswith("__")
    return private and not function.decorator_list and _body(function) <= HELPER


def _is_nested(node: ast.AST) -> bool:
    """Whether a conditional expression stands in another."""
    return isinstance(node, ast.IfExp) and any(
        isinstance(part, ast.IfExp) for part in ast.walk(node) if part is not node
    )


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _calls(function: ast.FunctionDef, name: str) -> bool:
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any(getattr(call, "id", getattr(call, "attr", "")) == name for call in calls)


def stored() -> list[str]:
    """The offenders that are known: the list only shrinks."""
    return STORE.read_text(encoding="utf-8").splitlines()


def grown(found: list[str], known: list[str]) -> list[str]:
    """Those found that are not known; fewer nested conditionals of a module are not new."""
    counts = {
        line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in known if _counted(line)
    }
    return [
        line
        for line in found
        if line not in known
        and not (
            _counted(line) and int(line.rpartition(" ")[2]) < counts.get(line.rpartition(" ")[0], 0)
        )
    ]


def _counted(line: str) -> bool:
    return line.startswith("conditional ")


if __name__ == "__main__":  # takes off the list what no longer offends
    found = list(offenders())
    if new := grown(found, stored()) if STORE.exists() else []:
        sys.exit("\n".join(["not on the list, which only shrinks:", *new]))
    STORE.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    print(*(f"{package:<12} {size:>7,}" for package, size in sizes().items()), sep="\n")
