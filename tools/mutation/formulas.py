"""Small faults in formulas that stand as text: in the declarations of quantities, rows and thresholds."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Iterator

from symroof.formula.parse import FormulaError, parse
from symroof.formula.tree import Name, walk
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.units import strict

from .mutants import Mutant, Places, code

LITERAL = re.compile(r"[rRfF]{0,2}(\"|')(?!\1\1)((?:(?!\1).)*)\1", re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|<=|>=|[-+*/^<>=(),]")
HOLE = re.compile(r"\{[^{}]*\}")
UNITS = {
    "GiB": "GB",
    "MiB": "MB",
    "KiB": "KB",
    "GB": "GiB",
    "MB": "MiB",
    "TB": "GB",
    "ms": "s",
    "us": "ms",
    "hour": "s",
    "bit": "byte",
}
MEASURE = re.compile(r"(?:\d[\d.]* ?|\w+/)([A-Za-z]+)")
"""A number with a unit, or a rate."""
TAKEN_FOR = {
    "prompt": "context",
    "context": "prompt",
    "output": "prompt",
    "batch": "prefill_batch",
    "d_ff": "d_model",
    "tp": "pp",
    "pp": "tp",
    "ep": "tp",
}
"""Names that are taken for each other without being spelled alike."""
SWAPPED = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}
DECLARED = {**INPUTS, **QUANTITIES}


def formula_mutants(source: str) -> list[Mutant]:
    """Every fault of this kind in the formulas of a module; only those that the check of dimensions lets through, as far as the names tell."""
    places = Places(source)
    listed = [mutant for node in code(ast.parse(source)) for mutant in _at(node, places)]
    return sorted(set(listed), key=lambda m: (m.start, m.new))


def _at(node: ast.AST, places: Places) -> Iterator[Mutant]:
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        literal = LITERAL.fullmatch(places.text(node))
        if literal:
            yield from _in_text(_without_holes(literal[2]), places.span(node)[0] + literal.start(2))
    if (
        isinstance(node, ast.keyword)
        and node.arg == "variants"
        and isinstance(node.value, ast.Dict)
    ):
        yield from _exchanged(node.value.values, places)


def _without_holes(text: str) -> str:
    """A formula with a name of the same length for every part that is put in."""
    return HOLE.sub(lambda hole: "h" * len(hole[0]), text)


def _in_text(text: str, start: int) -> Iterator[Mutant]:
    measure = MEASURE.fullmatch(text)
    if measure and measure[1] in UNITS:
        yield Mutant(
            "unit's neighbour", start + measure.start(1), start + measure.end(1), UNITS[measure[1]]
        )
    elif is_formula(text):
        for kind, (first, last), new in formula_edits(text):
            yield Mutant(kind, start + first, start + last, new)


def is_formula(text: str) -> bool:
    """Whether a text is a formula with a name of the theory and an operation.

    >>> is_formula("2*n_layers*d_model"), is_formula("FLOP/byte"), is_formula("prompt"), is_formula("weights of the prompt")
    (True, False, False, False)
    """
    sides = re.split(r"(?<![<>=])=(?!=)", text) if "(" not in text else [text]
    try:
        nodes = [node for side in sides for node in walk(parse(side))]
    except FormulaError:
        return False
    return len(nodes) > 1 and any(
        isinstance(node, Name) and node.name in DECLARED for node in nodes
    )


def formula_edits(text: str) -> Iterator[tuple[str, tuple[int, int], str]]:
    """Kind, place and replacement of every fault of a formula.

    >>> sorted(new for _, _, new in formula_edits("2*n_layers"))
    ['', '', '(n_layers + 1)', '(n_layers - 1)', '1', '3']
    """
    cut = list(TOKEN.finditer(text))
    for index, token in enumerate(cut):
        before, after = (
            (cut[index - 1] if index else None),
            (cut[index + 1] if index + 1 < len(cut) else None),
        )
        word, span = token[0], token.span()
        if word in "+-" and before and (before[0] == ")" or before[0][0].isalnum()):
            yield "sign", span, "-" if word == "+" else "+"
        elif word in ("<", "<=", ">", ">="):
            yield "comparison", span, word[0] if "=" in word else word + "="
        elif word in SWAPPED and after and after[0] == "(":
            yield "min/max", span, SWAPPED[word]
        elif word.isdigit():
            yield from (("± 1", span, str(int(word) + step)) for step in (-1, 1))
        if word.isdigit() or (word in DECLARED and not strict(DECLARED[word].dimension)):
            yield from _dropped(text, token, before, after)
        if word in DECLARED and not (after and after[0] in "=("):
            if DECLARED[word].counted:
                yield from (("± 1", span, f"({word} {step} 1)") for step in "+-")
            yield from (("name swapped", span, other) for other in confusable(word))


def _dropped(
    text: str, token: re.Match[str], before: re.Match[str] | None, after: re.Match[str] | None
) -> Iterator[tuple[str, tuple[int, int], str]]:
    """A factor with its sign; a number before a unit is no factor."""
    if after and after[0] == "*" and (before is None or before[0] not in "/^"):
        yield "factor dropped", (token.start(), after.end()), ""
    elif (
        before
        and before[0] in "*/"
        and (after is None or after[0] not in "^(")
        and text[token.end() : token.end() + 1] != " "
    ):
        yield "factor dropped", (before.start(), token.end()), ""


def confusable(name: str) -> list[str]:
    """The input that a name is most easily taken for: spelled like it, of the same dimension.

    >>> confusable("n_kv_heads"), confusable("mfu")
    (['n_heads'], ['mbu'])
    """
    if name in TAKEN_FOR:
        return [TAKEN_FOR[name]]
    alike = [
        other
        for other, symbol in INPUTS.items()
        if other != name and strict(symbol.dimension) == strict(DECLARED[name].dimension)
    ]
    return difflib.get_close_matches(name, alike, n=1)


def _exchanged(values: list[ast.expr], places: Places) -> Iterator[Mutant]:
    """Two neighbouring variants of a switch in each other's place."""
    for left, right in itertools.pairwise(values):
        (first, middle), (again, last) = places.span(left), places.span(right)
        if places.text(left) != places.text(right):
            yield Mutant(
                "variants exchanged",
                first,
                last,
                places.text(right) + places.source[middle:again] + places.text(left),
            )
