"""Quantities of a case as one function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.errors import InputError, Problem
from symroof.symbolic.blocks import Array, blocks, cut
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import is_condition_or_label, is_label, is_relation, symbol
from symroof.theory.case import Case
from symroof.theory.dependence import Dependence
from symroof.theory.symbols import Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping


NO_LABEL = -1


@dataclass(frozen=True)
class Output:
    """One result: a number, a truth, or a label as its place among ``labels``. ``constant`` is its value where no input moves it."""

    name: str
    truth: bool = False
    labels: tuple[str, ...] = ()
    constant: Any = None

    @property
    def dtype(self) -> Any:
        """Numbers are floats, truths are truths, labels their places."""
        return np.dtype(np.int8 if self.labels else np.bool_ if self.truth else np.float64)

    def of(self, case: Case) -> Any:
        """The result over arrays, without a value where there is none: NaN, False or ``-1``."""
        if self.constant is not None:
            return self.labels.index(self.constant) if self.labels else self.constant
        try:
            value = case.value(self.name)
            if not isinstance(value, bool | str) and np.isnan(value).any():
                value = case.with_care().value(self.name)
        except NoValue:
            value = np.nan
        if self.truth:
            return np.equal(value, 1)
        if isinstance(value, str):  # where no input is an array
            return self.labels.index(value)
        return np.where(np.isnan(value), NO_LABEL, value) if self.labels else value


@dataclass(frozen=True, repr=False)
class Compiled:
    """A function of arrays that broadcast against each other, as NumPy's own do; :func:`compile` makes it. It can be pickled.

    Numbers come in base units. Where a quantity has no value (a queue without a steady state, a division by zero) it is
    NaN; a label is then empty. Outputs of cases that do not fit in memory are numbers all the same: compile ``fits`` as well.

    Attributes:
        symbols: the quantities computed, in the order of the results.
        inputs: the names of the arguments, in their order.

    >>> from symroof import compile
    >>> step = compile(["itl", "decode_bound"], ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
    >>> step
    <itl, decode_bound of batch>
    >>> step.inputs, step.outputs, dict(step.units)
    (('batch',), ('itl', 'decode_bound'), {'itl': 's', 'decode_bound': ''})
    """

    symbols: tuple[Symbol, ...]
    inputs: tuple[str, ...]
    results: tuple[Output, ...]
    case: Case = field(hash=False)
    single: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "depends"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def __repr__(self) -> str:
        return f"<{', '.join(self.outputs)} of {', '.join(self.inputs)}>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the quantities, in the order of the results."""
        return tuple(output.name for output in self.results)

    @property
    def units(self) -> Mapping[str, str]:
        """The base unit of every output; empty for plain numbers, truths and labels."""
        return MappingProxyType({symbol.name: symbol.unit for symbol in self.symbols})

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The texts that the codes of an output encode, for each output that is a label.

        >>> from symroof import compile
        >>> compile("decode_bound", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024).labels["decode_bound"]
        ('compute', 'memory', 'link', 'overhead')
        """
        return MappingProxyType(
            {output.name: output.labels for output in self.results if output.labels}
        )

    @cached_property
    def depends(self) -> Mapping[str, frozenset[str]]:
        """The inputs that each output depends on.

        >>> from symroof import compile
        >>> both = compile(["itl", "prefill_time"], ["batch", "prompt"], model="llama-3-8b", hardware="h100-sxm")
        >>> {name: sorted(inputs) for name, inputs in both.depends.items()}
        {'itl': ['batch', 'prompt'], 'prefill_time': ['prompt']}
        """
        moves = Dependence(self.case).moves
        return {
            name: frozenset(
                by for by in self.inputs if moves(name, frozenset((by,)), frozenset(self.inputs))
            )
            for name in self.outputs
        }  # a proxy is not pickled

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The outputs at these inputs: one array where the quantity was a single name, else a tuple.

        Args:
            arrays: one for each input, in base units, of shapes that broadcast; each result has their common shape.
            out: arrays for the results, as NumPy's functions take them: of the common shape, ``float`` for numbers and ``bool`` for
                truths; for labels use :meth:`codes`.

        Raises:
            ValueError: another number of arrays than of inputs, shapes that do not broadcast, ``out`` of another shape.

        >>> from symroof import compile
        >>> grid = compile("kv_cache_bytes", ["batch", "prompt"], model="llama-3-8b")
        >>> grid(np.array([[1], [8]]), np.array([1024, 2048, 4096])).shape
        (2, 3)
        """
        if out is not None and self.labels:
            raise ValueError("labels are texts: codes(..., out=...) writes their places")
        buffers = (out,) if self.single and out is not None and not isinstance(out, tuple) else out
        results = tuple(
            self._spelled(output, codes)
            for output, codes in zip(self.results, self.codes(*arrays, out=buffers), strict=True)
        )
        plain = tuple(x if isinstance(x, str) or x.ndim else x[()] for x in results)
        return plain[0] if self.single else plain

    def only(self, names: Sequence[str]) -> Compiled:
        """The function of some of the outputs, in this order, without the work of the others.

        >>> from symroof import compile
        >>> both = compile(["itl", "ttft"], ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
        >>> both.only(["ttft"])
        <ttft of batch>
        """
        by_name = {
            output.name: (symbol, output)
            for symbol, output in zip(self.symbols, self.results, strict=True)
        }
        symbols, outputs = zip(*(by_name[name] for name in names), strict=True)
        return Compiled(symbols, self.inputs, outputs, self.case)

    def codes(self, *arrays: Any, out: Sequence[Any] | None = None) -> tuple[Array, ...]:
        """The same as a tuple, with labels as indices into :attr:`labels` (``int8``), ``-1`` where there is none.

        >>> from symroof import compile
        >>> bound = compile("decode_bound", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
        >>> bound.codes(np.array([1, 64]))
        (array([1, 1], dtype=int8),)
        """
        if len(arrays) != len(self.inputs):
            raise ValueError(
                f"takes {len(self.inputs)} arrays ({', '.join(self.inputs)}), not {len(arrays)}"
            )
        inputs = [np.asarray(x, dtype=float) for x in arrays]
        shape = np.broadcast_shapes(*(x.shape for x in inputs))
        if out is None:
            out = [np.empty(shape, output.dtype) for output in self.results]
        else:
            self._check_room(out, shape)
        for place in blocks(shape):
            for home, value in zip(out, self._at([cut(x, place) for x in inputs]), strict=True):
                home[place] = value
        return tuple(out)

    def _at(self, inputs: Sequence[Any]) -> list[Any]:
        """Every output over the inputs of one block."""
        case = self.case.changed(dict(zip(self.inputs, inputs, strict=True)))
        with np.errstate(all="ignore"):
            return [output.of(case) for output in self.results]

    def _check_values(self) -> None:
        """Whether every output has a value somewhere, evaluated at the values of the case.

        Raises:
            InputError: an input is missing, or something is divided by zero whatever the inputs are.
        """
        known = {
            name: float(self.case.value(name)) if self.case.has_value(name) else 1.0
            for name in self.inputs
        }
        case = self.case.changed({name: np.array([x]) for name, x in known.items()})
        for output in self.results:
            try:
                with np.errstate(all="ignore"):
                    case.value(output.name) if output.constant is None else None
            except NoValue as error:
                raise _none(output.name, error) from None

    def _check_room(self, out: Sequence[Any], shape: tuple[int, ...]) -> None:
        if len(out) != len(self.outputs):
            raise ValueError(f"out has {len(out)} arrays for {len(self.outputs)} outputs")
        for output, array in zip(self.results, out, strict=True):
            if array.shape != shape or array.dtype != output.dtype:
                raise ValueError(
                    f"out for {output.name} has to be {output.dtype} of shape {shape}, not {array.dtype} of {array.shape}"
                )

    def _spelled(self, output: Output, codes: Array) -> Array:
        return np.array([*output.labels, ""])[codes] if output.labels else codes


def compiled(
    names: tuple[str, ...], inputs: tuple[str, ...], case: Case, single: bool = False
) -> Compiled:
    """Quantities of a case as a function of some inputs, whatever the case has there.

    Raises:
        InputError: one has no value whatever the inputs are.
    """
    symbols = tuple(case.theory.symbol(name) for name in names)
    made = Compiled(
        symbols, inputs, tuple(_output(name, inputs, case) for name in names), case, single
    )
    made._check_values()
    return made


def _output(name: str, inputs: tuple[str, ...], case: Case) -> Output:
    """One quantity as an output of its kind.

    Raises:
        InputError: it has no value whatever the inputs are.
    """
    keys = frozenset(inputs)
    try:
        tree = symbol(name) if name in keys or case.search(name, keys) else case.formula(name, keys)
        kind = is_condition_or_label(tree)
        fixed = case.value(name) if kind and not case.dependencies(name) & keys else None
    except NoValue as error:
        raise _none(name, error) from None
    if is_label(tree):
        return Output(
            name,
            labels=(fixed,) if fixed else tuple(label for label, _ in tree.arms),
            constant=fixed,
        )
    return Output(name, truth=is_relation(tree), constant=fixed)


def _none(name: str, error: NoValue) -> InputError:
    return InputError(Problem(name, f"has no value here: {error}"))
