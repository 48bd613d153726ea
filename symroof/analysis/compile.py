"""Quantities of a case as one NumPy function, fast enough for sweeps of millions of points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.array_function import Compiled, compiled
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.sympy_input import is_sympy, known, symbol_name


def compile(
    quantities: Any, inputs: Sequence[Any], study: Study | BoundCase | None = None, **case: Any
) -> Compiled:
    """Quantities as a NumPy function of some inputs, everything else as the first case of a study (or the keywords) has it.

    Args:
        quantities: a name or a SymPy expression, whose results come as one array, or several, whose results come as a tuple.
        inputs: the names or symbols of the arguments: inputs, or quantities that then replace their definition.
        study: a study, or one of its cases; without one, the keywords are the case.
        case: keywords of :class:`Study`.

    Called with the axes of a grid (``batch[:, None], prompt[None, :]``), what moves along one axis is worked out along it alone.

    >>> import numpy as np
    >>> itl = compile("itl", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> itl
    <itl of batch>
    >>> [f"{1e3*t:.2f}" for t in itl(np.array([1, 16, 256]))]
    ['4.52', '5.15', '15.14']
    >>> both = compile(["fits", "decode_bound"], ["batch", "prompt"], model="llama-3-8b", hardware="h100-sxm")
    >>> fits, bound = both(np.array([[1], [512]]), np.array([[1024, 8192]]))
    >>> fits.tolist(), bound.tolist()
    ([[True, True], [False, False]], [['memory', 'memory'], ['memory', 'memory']])

    >>> from symroof.symbols import batch, decode_throughput, itl
    >>> rate = compile(1/itl, [batch], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> rate(np.array([1, 16])).round()
    array([221., 194.])

    Arrays are taken as they are: whether a batch is whole and a share below one is for the caller to check (:meth:`Study.sweep` does).

    Raises:
        InputError: no quantity, an unknown quantity or input, an input twice, a quantity with a missing input.
    """
    bound_case = study if isinstance(study, BoundCase) else (study or Study(**case)).first
    single = isinstance(quantities, str) or is_sympy(quantities)
    names = (quantities,) if single else tuple(quantities)
    if not names:
        raise InputError(
            Problem("quantities", "a function computes at least one", hint="such as itl")
        )
    own = bound_case.case.theory.own
    return _compiled(
        tuple(known(name, own) for name in names), _moved(inputs, own), bound_case, single
    )


def compile_alike(
    quantities: Sequence[str],
    inputs: Sequence[str],
    bound_case: BoundCase,
    free: Collection[str] = (),
) -> Compiled:
    """Quantities as a function of inputs that may shape a layout of devices, for arrays of numbers that all lead to that of this case; those of ``free`` may be any.

    Raises:
        InputError: as :func:`compile`.
    """
    own = bound_case.case.theory.own
    names, moved = tuple(known(name, own) for name in quantities), _moved(inputs, own)
    return compiled(
        names, moved, replace(bound_case.case.without_values(free), same_layout=True), False
    )


def compile_cases(
    quantities: Sequence[str], inputs: Sequence[str], cases: Iterable[BoundCase]
) -> list[Compiled]:
    """The same quantities as a function for each of several cases.

    Raises:
        InputError: as :func:`compile`.
    """
    bound = list(cases)
    own = bound[0].case.theory.own if bound else NONE
    names, moved = tuple(known(name, own) for name in quantities), _moved(inputs, own)
    return [_compiled(names, moved, bound_case, False) for bound_case in bound]


def _moved(inputs: Sequence[Any], own: Declarations) -> tuple[str, ...]:
    moved = tuple(known(symbol_name(name), own) for name in inputs)
    if not moved:
        raise InputError(Problem("inputs", "a function needs at least one", hint="such as batch"))
    for i, name in enumerate(moved):
        if name in moved[:i]:
            raise InputError(Problem("inputs", "is given twice", path=name))
    return moved


def _compiled(
    names: tuple[str, ...], inputs: tuple[str, ...], bound_case: BoundCase, single: bool
) -> Compiled:
    return compiled(names, inputs, bound_case.case.without_values(inputs, rounded=True), single)


__all__ = ["Compiled", "compile", "compile_alike", "compile_cases"]
