"""What the formulas of a review cost as objects: symroof's own nodes beside SymPy's, and how much of a command either would be.

Run it from anywhere: ``python benchmarks/expressions.py``. Every node that one review (or, with ``--small``, one ``eval``) makes is recorded, in
order, and made again: as it was, as SymPy expressions that keep the written order (``evaluate=False``), and as SymPy makes them by itself.
Processor time; the ratio to ``import sympy`` is what to read, as in ``report.py``. Formulas are SymPy wherever a person meets them;
this is why they are not inside (:mod:`symroof.formula.tree`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
REVIEW = [
    "report",
    str(ROOT / "specs" / "studies" / "llama-3-70b-chat.yaml"),
    "--format",
    "md,tex,html",
    "-o",
]
EVAL = [
    "eval",
    "--model",
    "llama-3-8b",
    "--hardware",
    "h100-sxm",
    "--prompt",
    "2048",
    "--output",
    "256",
]


def recorded(arguments: list[str]) -> tuple[list[Any], float]:
    """Every node that a command makes, in order, and the time of the command without the recording."""
    from symroof.cli.main import main
    from symroof.formula import tree

    made: list[Any] = []
    kinds = tree.CHILDREN
    originals = {kind: kind.__init__ for kind in kinds}

    def noted(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **more: Any) -> None:
            original(self, *args, **more)
            made.append(self)

        return init

    for kind, original in originals.items():
        kind.__init__ = noted(original)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(arguments) in (0, 1)
    spent = time.process_time() - started
    for kind, original in originals.items():
        kind.__init__ = original
    return made, spent


def own(nodes: list[Any]) -> float:
    """The time in which the nodes are made as they were."""
    calls = [
        (type(node), tuple(getattr(node, field.name) for field in fields(node))) for node in nodes
    ]
    started = time.process_time()
    for kind, values in calls:
        kind(*values)
    return time.process_time() - started


def in_sympy(nodes: list[Any], evaluate: bool, distinct: bool) -> float:
    """The time in which SymPy makes the same expressions, each of its parts already made; ``distinct`` ones once each."""
    from sympy import Add, Function, Max, Min, Mul, Pow, Rational, Symbol, ceiling, floor, sqrt

    from symroof.formula import tree

    functions = {"max": Max, "min": Min, "ceil": ceiling, "floor": floor, "sqrt": sqrt}
    made: dict[Any, Any] = {}

    def of(node: Any) -> Any:
        match node:
            case tree.Num(value):
                return Rational(value.numerator, value.denominator)
            case tree.Name(name):
                return Symbol(name, positive=True)
            case tree.Neg(arg):
                return Mul(-1, made[arg], evaluate=evaluate)
            case tree.Add(terms):
                return Add(*map(made.__getitem__, terms), evaluate=evaluate)
            case tree.Mul(factors):
                return Mul(*map(made.__getitem__, factors), evaluate=evaluate)
            case tree.Div(over, under):
                return Mul(made[over], Pow(made[under], -1, evaluate=evaluate), evaluate=evaluate)
            case tree.Pow(base, exponent):
                return Pow(made[base], made[exponent], evaluate=evaluate)
            case tree.Call(name, args) if name in ("max", "min"):
                return functions[name](
                    *map(made.__getitem__, args), evaluate=False
                )  # comparing the arms would take seconds
            case tree.Call(name, args) if name in functions:
                return functions[name](*map(made.__getitem__, args), evaluate=evaluate)
        return Function(type(node).__name__)(*map(made.__getitem__, tree.children(node)))

    spent = 0.0
    for node in nodes:
        if node in made and distinct:
            continue
        missing = [part for part in tree.children(node) if part not in made]
        assert not missing, missing
        started = time.process_time()
        made[node] = of(node)
        spent += time.process_time() - started
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="one eval instead of a review")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as folder:
        nodes, command = recorded(EVAL if small else [*REVIEW, folder])
    started = time.process_time()
    import sympy  # noqa: F401

    unit = time.process_time() - started
    seen: set[Any] = set()
    complete = []  # a part that another module made when it was imported is made here first
    from symroof.formula.tree import children

    def add(node: Any) -> None:
        for part in children(node):
            if part not in seen:
                add(part)
        seen.add(node)
        complete.append(node)

    for node in nodes:
        add(node)
    print(
        f"{len(complete):,} nodes, {len(seen):,} different ones, in {'an eval' if small else 'a review'} of {command / unit:.1f} x import sympy"
    )
    rows = {
        "own nodes, every one": own(complete),
        "SymPy, every one, written order": in_sympy(complete, evaluate=False, distinct=False),
        "SymPy, each different one once, written order": in_sympy(
            complete, evaluate=False, distinct=True
        ),
        "SymPy, every one, as it makes them": in_sympy(complete, evaluate=True, distinct=False),
        "SymPy, each different one once, as it makes them": in_sympy(
            complete, evaluate=True, distinct=True
        ),
    }
    for what, spent in rows.items():
        print(f"{what:52}{spent / unit:6.2f} x import sympy")


if __name__ == "__main__":
    main()
