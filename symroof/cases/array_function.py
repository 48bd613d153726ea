"""Quantities of a case as one function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.arrays.graph import Graph, frozen
from symroof.arrays.lower import Builder
from symroof.arrays.program import Output, Program
from symroof.errors import InputError, Problem
from symroof.formula.evaluate import NoValue
from symroof.theory.case import Case
from symroof.theory.symbols import Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, repr=False)
class Compiled:
    """A function of arrays that broadcast against each other, as NumPy's own do; :func:`compile` makes it. It can be pickled, and holds no case.

    Numbers come in base units. Where a quantity has no value (a queue without a steady state, a division by zero) it is
    NaN; a label is then empty. Outputs of cases that do not fit in memory are numbers all the same: compile ``fits`` beside.

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
    program: Program
    single: bool = False

    def __repr__(self) -> str:
        return f"<{', '.join(self.outputs)} of {', '.join(self.inputs)}>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the quantities, in the order of the results."""
        return tuple(output.name for output in self.program.outputs)

    @property
    def units(self) -> Mapping[str, str]:
        """The base unit of every output; empty for plain numbers, truths and labels."""
        return MappingProxyType({symbol.name: symbol.unit for symbol in self.symbols})

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The texts that the codes of an output stand for, for each output that is a label.

        >>> from symroof import compile
        >>> compile("decode_bound", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024).labels["decode_bound"]
        ('compute', 'memory', 'link', 'overhead')
        """
        return MappingProxyType({output.name: output.labels for output in self.program.outputs if output.labels})

    @cached_property
    def depends(self) -> Mapping[str, frozenset[str]]:
        """The inputs that each output depends on.

        >>> from symroof import compile
        >>> both = compile(["itl", "prefill_time"], ["batch", "prompt"], model="llama-3-8b", hardware="h100-sxm")
        >>> {name: sorted(inputs) for name, inputs in both.depends.items()}
        {'itl': ['batch', 'prompt'], 'prefill_time': ['prompt']}
        """
        graph = self.program.graph
        return {output.name: output.moves_with(graph) for output in self.program.outputs}  # a proxy is not pickled

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
        results = tuple(self._spelled(output, codes) for output, codes in zip(self.program.outputs, self.codes(*arrays, out=buffers), strict=True))
        plain = tuple(x if isinstance(x, str) or x.ndim else x[()] for x in results)
        return plain[0] if self.single else plain

    def only(self, names: Sequence[str]) -> Compiled:
        """The function of some of the outputs, in this order, without the work of the others.

        >>> from symroof import compile
        >>> both = compile(["itl", "ttft"], ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
        >>> both.only(["ttft"])
        <ttft of batch>
        """
        by_name = {output.name: (symbol, output) for symbol, output in zip(self.symbols, self.program.outputs, strict=True)}
        symbols, outputs = zip(*(by_name[name] for name in names), strict=True)
        return Compiled(symbols, self.inputs, Program(pruned(self.program.graph, outputs), outputs), False)

    def codes(self, *arrays: Any, out: Sequence[Any] | None = None) -> tuple[np.ndarray[Any, Any], ...]:
        """The same as a tuple, with labels as indices into :attr:`labels` (``int8``), ``-1`` where there is none.

        >>> from symroof import compile
        >>> bound = compile("decode_bound", ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024)
        >>> bound.codes(np.array([1, 64]))
        (array([1, 1], dtype=int8),)
        """
        if len(arrays) != len(self.inputs):
            raise ValueError(f"takes {len(self.inputs)} arrays ({', '.join(self.inputs)}), not {len(arrays)}")
        inputs = [np.asarray(x, dtype=float) for x in arrays]
        if out is not None:
            self._check_room(out, np.broadcast_shapes(*(x.shape for x in inputs)))
        return self.program.run(inputs, out)

    def few(self, *arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        """The outputs, all of them numbers, at a few hundred points in a row, three times faster than a call; last digits may differ from that.

        >>> from symroof import compile
        >>> compile(["itl"], ["batch"], model="llama-3-8b", hardware="h100-sxm", prompt=1024).few(np.array([1, 16]))[0].round(5)
        array([0.00452, 0.00515])
        """
        return self.program.plain([np.asarray(x, dtype=float) for x in arrays])

    def _check_room(self, out: Sequence[Any], shape: tuple[int, ...]) -> None:
        if len(out) != len(self.outputs):
            raise ValueError(f"out has {len(out)} arrays for {len(self.outputs)} outputs")
        for output, array in zip(self.program.outputs, out, strict=True):
            if array.shape != shape or array.dtype != output.dtype:
                raise ValueError(f"out for {output.name} has to be {output.dtype} of shape {shape}, not {array.dtype} of {array.shape}")

    def _spelled(self, output: Output, codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.array([*output.labels, ""])[codes] if output.labels else codes


def compiled(names: tuple[str, ...], inputs: tuple[str, ...], case: Case, single: bool = False) -> Compiled:
    """Quantities of a case as a function of some inputs, whatever the case has there.

    Raises:
        InputError: one has no value whatever the inputs are.
    """
    builder = Builder(case, inputs)
    outputs = tuple(_output(name, builder) for name in names)
    symbols = tuple(case.theory.symbol(name) for name in names)
    return Compiled(symbols, inputs, Program(pruned(builder.graph, outputs), outputs), single)


def _output(name: str, builder: Builder) -> Output:
    """One quantity as an output of its kind: truth, label, relation, maximum or number.

    Raises:
        InputError: it has no value whatever the inputs are.
    """
    try:
        match builder.result(name):
            case bool() as truth:
                return Output(name, relation="=", constant=truth)
            case str() as label:
                return Output(name, labels=(label,), constant=0)
            case (str() as relation, dict() as difference):
                return Output(name, (frozen(difference),), relation=relation)
            case (tuple() as labels, list() as arms):
                return Output(name, tuple(frozen(arm) for arm in arms), labels=labels)
            case dict() as polynomial:
                return Output(name, (frozen(polynomial if builder.graph.light(polynomial) else builder.graph.whole(polynomial)),))
    except NoValue as error:
        raise InputError(Problem(name, f"has no value here: {error}")) from None
    raise TypeError(name)


def pruned(graph: Graph, outputs: Iterable[Output]) -> Graph:
    """The graph with only the operations that the outputs use."""
    used: set[str] = set()

    def visit(forms: Iterable[Any]) -> None:
        for name in {name for form in forms for monomial, _ in form for name, _ in monomial if name in graph.operations and name not in used}:
            used.add(name)
            visit(graph.operations[name].args)

    visit(form for output in outputs for form in output.forms)
    return Graph(graph.inputs, {name: operation for name, operation in graph.operations.items() if name in used})
