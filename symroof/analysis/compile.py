"""Quantities of a case as one NumPy function: each call is one evaluation of the case along scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, NoValue, Problem
from symroof.symbolic.evaluation import Array, blocks, cut
from symroof.symbolic.expressions import is_condition_or_label, is_label, is_relation, symbol
from symroof.theory.case import Case
from symroof.theory.spellings import is_sympy, known, symbol_name
from symroof.theory.symbols import Symbol


@dataclass(frozen=True)
class Output:
    """One result: a number, a truth, or a label, one of ``labels``."""

    symbol: Symbol
    truth: bool = False
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def dtype(self) -> Any:
        """Numbers are floats, truths are truths, labels texts."""
        if self.labels:
            return np.array([*self.labels, ""]).dtype
        return np.dtype(np.bool_ if self.truth else np.float64)

    def of(self, case: Case) -> Any:
        """The result along scenarios, without a value where there is none: NaN, False or an empty text."""
        try:
            value = case.value(self.name)
        except NoValue:
            value = np.nan
        if self.truth:
            return np.equal(value, 1)
        if not self.labels or isinstance(value, str):  # a label that no input moves
            return value
        places = np.where(np.isnan(value), -1, value).astype(int)
        return np.array([*self.labels, ""])[places]


@dataclass(frozen=True, repr=False)
class Compiled:
    """A function of arrays that broadcasts as NumPy does, made by :func:`compile`. It can be pickled.

    Results are in base units. A quantity without a value (a queue without a steady state, a division by zero) is NaN, a label
    without a value is empty. Cases that do not fit in memory have numbers, too, so compile ``fits`` as well.

    Attributes:
        inputs: the names of the arguments, in order.

    >>> from symroof import compile
    >>> step = compile(["itl", "decode_bound"], ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> step
    <itl, decode_bound of batch>
    >>> step.inputs, step.outputs, dict(step.units)
    (('batch',), ('itl', 'decode_bound'), {'itl': 's', 'decode_bound': ''})
    """

    case: Case = field(hash=False)
    inputs: tuple[str, ...]
    results: tuple[Output, ...]
    single: bool = False

    def __repr__(self) -> str:
        return f"<{', '.join(self.outputs)} of {', '.join(self.inputs)}>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the quantities, in the order of the results."""
        return tuple(output.name for output in self.results)

    @property
    def units(self) -> Mapping[str, str]:
        """The base unit of every output; empty for plain numbers, truths and labels."""
        return MappingProxyType({output.name: output.symbol.unit for output in self.results})

    def __call__(self, *arrays: Any) -> Any:
        """The outputs at these inputs: one array where the quantity was a single name, else a tuple.

        Args:
            arrays: one for each input, in base units, of shapes that broadcast; each result has their common shape.

        Raises:
            ValueError: another number of arrays than of inputs, shapes that do not broadcast.

        >>> from symroof import compile
        >>> grid = compile("kv_cache_bytes", ["batch", "prompt"], model="llama-3-8b")
        >>> grid(np.array([[1], [8]]), np.array([1024, 2048, 4096])).shape
        (2, 3)
        """
        if len(arrays) != len(self.inputs):
            needed = f"{len(self.inputs)} arrays ({', '.join(self.inputs)})"
            raise ValueError(f"takes {needed}, not {len(arrays)}")
        found = along(self.case, dict(zip(self.inputs, arrays, strict=True)), self.results)
        plain = tuple(x if x.ndim else x[()] for x in found)
        return plain[0] if self.single else plain


def along(case: Case, arrays: Mapping[str, Any], results: Sequence[Output]) -> tuple[Array, ...]:
    """The results along arrays of some inputs, a block that fits a core's cache at a time."""
    inputs = {name: np.asarray(x, dtype=float) for name, x in arrays.items()}
    shape = np.broadcast_shapes(*(x.shape for x in inputs.values()))
    found = tuple(np.empty(shape, output.dtype) for output in results)
    for place in blocks(shape):
        there = case.changed({name: cut(x, place) for name, x in inputs.items()}, keep=False)
        with np.errstate(all="ignore"):
            for home, output in zip(found, results, strict=True):
                home[place] = output.of(there)
        there.forget()
    return found


def compile(
    quantities: Any, inputs: Sequence[Any], study: Study | BoundCase | None = None, **case: Any
) -> Compiled:
    """Turn quantities into a NumPy function of some inputs. All other inputs keep their values in the study or the keywords.

    Args:
        quantities: a name or SymPy expression, which returns an array, or several, which return a tuple.
        inputs: the arguments, by name or symbol. A quantity as an argument replaces its definition.
        study: a study or one of its cases; without it, keywords describe the case.
        case: keywords of :class:`Study`.

    Call it with the axes of a grid (``batch[:, None], prompt[None, :]``): what depends on one axis is computed along that axis only.

    >>> import numpy as np
    >>> itl = compile("itl", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> itl
    <itl of batch>
    >>> [f"{1e3*t:.2f}" for t in itl(np.array([1, 16, 256]))]
    ['8.22', '9.06', '22.56']
    >>> both = compile(["fits", "decode_bound"], ["batch", "prompt"], model="llama-3-8b", hardware="h100-sxm")
    >>> fits, bound = both(np.array([[1], [512]]), np.array([[1024, 8192]]))
    >>> fits.tolist(), bound.tolist()
    ([[True, True], [False, False]], [['memory', 'memory'], ['memory', 'memory']])

    >>> from symroof.symbols import batch, decode_throughput, itl
    >>> rate = compile(1/itl, [batch], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> rate(np.array([1, 16])).round()
    array([122., 110.])

    The values of arrays are not checked (:meth:`Study.sweep` checks them).

    Raises:
        InputError: no quantity, an unknown quantity or input, a repeated input, a missing input.
    """
    bound_case = study if isinstance(study, BoundCase) else (study or Study(**case)).first
    single = isinstance(quantities, str) or is_sympy(quantities)
    names = (quantities,) if single else tuple(quantities)
    if not names:
        message = "a function computes at least one"
        raise InputError(Problem("quantities", message, hint="such as itl"))
    own = bound_case.case.theory.own
    moved = tuple(known(symbol_name(name), own) for name in inputs)
    if not moved:
        raise InputError(Problem("inputs", "a function needs at least one", hint="such as batch"))
    if twice := next((name for name in moved if moved.count(name) > 1), None):
        raise InputError(Problem("inputs", "is given twice", path=twice))
    free, keys = bound_case.case.without_values(moved, rounded=True), frozenset(moved)
    here = {name: free.value(name) if free.has_value(name) else 1.0 for name in moved}
    there = free.changed({name: np.array([float(x)]) for name, x in here.items()})
    results = []
    for name in (known(each, own) for each in names):
        try:
            results.append(output(name, keys, free))
            with np.errstate(all="ignore"):
                there.value(name)
        except NoValue as error:
            raise InputError(Problem(name, f"has no value here: {error}")) from None
    return Compiled(free, moved, tuple(results), single)


def output(name: str, keys: frozenset[str], case: Case) -> Output:
    """One quantity as an output of its kind; a label that none of the ``keys`` moves has its one value.

    Raises:
        NoValue: an input is missing.
    """
    tree = symbol(name) if name in keys or case.search(name, keys) else case.formula(name, keys)
    fixed = is_condition_or_label(tree) and case.dependencies(name).isdisjoint(keys)
    value: Any = case.value(name) if fixed else None
    declared = case.theory.symbol(name)
    if is_label(tree):
        return Output(declared, labels=(value,) if fixed else tuple(arm for arm, _ in tree.arms))
    return Output(declared, truth=is_relation(tree))
