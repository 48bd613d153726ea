"""Small faults in Python: where a file could have them, and what would stand there instead.

Edits are made in the text, at the positions that the syntax tree gives, so that comments and lines stay as they are.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/"}
NAMES = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "any": "all", "all": "any"}
ENDS = {
    "low": "high",
    "high": "low",
    "least": "most",
    "most": "least",
    "lower": "upper",
    "upper": "lower",
    "below": "above",
    "above": "below",
}
TEXT = (ast.JoinedStr, ast.List, ast.Tuple)


@dataclass(frozen=True)
class Mutant:
    """One fault: the text from ``start`` to ``end`` of a file replaced by ``new``."""

    kind: str
    start: int
    end: int
    new: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]

    def line(self, source: str) -> int:
        return source.count("\n", 0, self.start) + 1

    def edit(self, source: str) -> str:
        """The change in one line, whatever it spans in the file."""
        return " ".join(
            f"{source[self.start : self.end].strip()} -> {self.new or '(nothing)'}".split()
        )


class Places:
    """Positions of the syntax tree, which counts lines and bytes, as offsets into the text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.offsets = [0]
        for line in self.lines:
            self.offsets.append(self.offsets[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        return self.offsets[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(
            node.end_lineno, node.end_col_offset
        )

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def between(self, left: ast.expr, right: ast.expr, sign: str) -> tuple[int, int] | None:
        """Where an operator stands between its two sides; None where a comment or a bracket makes that unclear."""
        start, end = self.span(left)[1], self.span(right)[0]
        words = r"\s+".join(map(re.escape, sign.split()))
        match = re.fullmatch(rf"[)\s]*({words})[(\s]*", self.source[start:end])
        return (start + match.start(1), start + match.end(1)) if match else None


def mutants(source: str) -> list[Mutant]:
    """Every fault of this kind that the file could have."""
    places = Places(source)
    return sorted(
        {mutant for node in code(ast.parse(source)) for mutant in _at(node, places)},
        key=lambda m: (m.start, m.new),
    )


def code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something: no annotations, decorators (sizes of caches) or parts of f-strings, whose positions older Pythons do not know."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node
                if not isinstance(node, ast.JoinedStr):
                    yield from code(node)


def _at(node: ast.AST, places: Places) -> Iterator[Mutant]:
    match node:
        case ast.Compare():
            yield from _comparison(node, places)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.FloorDiv()) if not (
            _is_text(node.left) or _is_text(node.right)
        ):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}[
                type(node.op)
            ]
            yield from _replaced("sign", places.between(node.left, node.right, sign), SIGNS[sign])
        case ast.BoolOp():
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in itertools.pairwise(node.values):
                yield from _replaced("and/or", places.between(left, right, old), new)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            start, _ = places.span(node)
            kind, sign = (
                ("not dropped", "not ") if isinstance(node.op, ast.Not) else ("minus dropped", "-")
            )
            yield Mutant(kind, start, start + len(sign), "")
        case ast.Constant(value=int() as number) if (
            not isinstance(number, bool) and places.text(node).isdigit()
        ):
            yield from (
                Mutant("± 1", *places.span(node), str(other))
                for other in (number - 1, number + 1)
                if other >= 0
            )
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield Mutant("min/max", *places.span(node.func), NAMES[name])
        case ast.Attribute(attr=name) if name in ENDS:
            end = places.span(node)[1]
            yield Mutant("other end", end - len(name), end, ENDS[name])


def _comparison(node: ast.Compare, places: Places) -> Iterator[Mutant]:
    signs = {
        ast.Lt: "<",
        ast.LtE: "<=",
        ast.Gt: ">",
        ast.GtE: ">=",
        ast.Eq: "==",
        ast.NotEq: "!=",
        ast.In: "in",
        ast.NotIn: "not in",
        ast.Is: "is",
        ast.IsNot: "is not",
    }
    for left, op, right in zip(
        [node.left, *node.comparators], node.ops, node.comparators, strict=False
    ):
        sign = signs[type(op)]
        yield from _replaced("comparison", places.between(left, right, sign), COMPARISONS[sign])


def _replaced(kind: str, span: tuple[int, int] | None, new: str) -> Iterator[Mutant]:
    if span:
        yield Mutant(kind, *span, new)


def _is_text(node: ast.expr) -> bool:
    """Whether ``+`` or ``*`` would not be arithmetic here: the fault would be a crash that any test notices."""
    return (
        isinstance(node, TEXT)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or (isinstance(node, ast.BinOp) and _is_text(node.left))
    )
