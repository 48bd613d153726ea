"""Polynomials over whole grids: block after block, in arrays that stay in the cache and are used again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symroof.arrays.evaluation_plan import Nest, Plan, bare, planned
from symroof.arrays.exact_fallback import mend, size
from symroof.arrays.graph import Form, frozen
from symroof.arrays.kernels import EXTREME
from symroof.arrays.memory_layout import cut
from symroof.arrays.values import Values, arrays
from symroof.formula.polynomial import ONE_TERM

Array = np.ndarray[Any, Any]
Place = tuple[slice, slice, slice]
Thin = tuple[Array, Array]


@dataclass
class Chunk:
    """A part of the outer axis: what moves along rows or columns alone is worked out here, for all its blocks at once."""

    plan: Plan
    inputs: Mapping[str, Array]
    values: Values = field(init=False)
    _thin: dict[Form, Thin] = field(default_factory=dict)
    _light: dict[Form, Array] = field(default_factory=dict)
    _sizes: dict[tuple[str, bool], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = arrays(self.plan.graph, self.inputs, mend)

    def light(self, form: Form) -> Array:
        """The values of a polynomial that is not full."""
        if form not in self._light:
            self._light[form] = three(self.values.form(form))
        return self._light[form]

    def size(self, name: str, least: bool) -> float:
        """The largest (least) absolute value of a name that is not full."""
        if (name, least) not in self._sizes:
            self._sizes[name, least] = size(self.values.name(name), least)
        return self._sizes[name, least]

    def thin(self, form: Form) -> Thin:
        """The two thin matrices whose product is the thin part of a polynomial."""
        if form not in self._thin:
            pairs = self.plan.terms(form).pairs
            pairs = pairs if len(pairs) > 1 else (*pairs, (frozen({}), frozen({})))  # NumPy multiplies by two columns three times faster than by one
            left = np.concatenate(np.broadcast_arrays(*(self.light(row) for row, _ in pairs)), axis=2)  # each has one column, on the right one row
            right = np.concatenate(np.broadcast_arrays(*(self.light(column) for _, column in pairs)), axis=1)
            self._thin[form] = left, right
        return self._thin[form]


def three(x: Any) -> Array:
    """A number as an array with three axes, an array as it is."""
    return np.asarray(x, dtype=float).reshape((1, 1, 1)) if np.ndim(x) == 0 else x


class Block:
    """One block of a chunk: a buffer for each full operation until its last use."""

    def __init__(self, chunk: Chunk, place: Place, shape: tuple[int, ...], pool: Pool, homes: Mapping[str, Array]) -> None:
        self.chunk, self.plan, self.place, self.shape, self.pool = chunk, chunk.plan, place, shape, pool
        self.homes = homes
        self.arrays: dict[str, Array] = {}
        self._sizes: dict[tuple[str, bool], float] = {}

    def run(self) -> None:
        """Every full operation of the plan."""
        for i, name in enumerate(self.plan.order):
            home = self.homes.get(name)
            out = home if home is not None else self.pool.take(self.shape)
            self._operation(name, out)
            self.arrays[name] = out
            for ended in self.plan.ended[i]:
                self.pool.give(self.arrays.pop(ended))

    def _operation(self, name: str, out: Array) -> None:
        operation = self.plan.graph.operations[name]
        if not planned(operation):
            out[...] = self.plainly(name)
            return
        first, *others = self.plan.args(name)
        reached = self.known(first)
        if reached is None or not others:
            self.into(first, out)
            reached = out
        for other in others:
            with self.value(other) as value:
                reached = EXTREME[operation.kind](reached, value, out=out)

    def release(self) -> None:
        """Every buffer back."""
        for name, buffer in self.arrays.items():
            if name not in self.homes:
                self.pool.give(buffer)
        self.arrays.clear()

    def point(self) -> dict[str, Array]:
        """The inputs of this block."""
        return {name: cut(x, self.place) for name, x in self.chunk.inputs.items()}

    def size(self, name: str, least: bool) -> float:
        """The largest (least) absolute value of a name here; of one that is not full, in the whole chunk."""
        if not self.plan.full(name):
            return self.chunk.size(name, least)
        if (name, least) not in self._sizes:
            self._sizes[name, least] = size(self.full(name), least)
        return self._sizes[name, least]

    def plainly(self, name: str) -> Any:
        """An operation by the plain walk, over this block's part of everything known."""
        known = {key: cut(three(value), self.place) for key, value in self.chunk.values.point.items()}
        return arrays(self.plan.graph, known | self.arrays, mend).name(name)

    def known(self, form: Form) -> Array | None:
        """The values of a polynomial that takes no work: one that is not full, or a name."""
        if not self.plan.is_full(form):
            return cut(self.chunk.light(form), self.place)
        name = bare(form)
        return self.full(name) if name else None

    @contextmanager
    def value(self, form: Form) -> Iterator[Array]:
        """The values of a polynomial, for as long as they are looked at."""
        known = self.known(form)
        if known is not None:
            yield known
            return
        out = self.pool.take(self.shape)
        self.into(form, out)
        yield out
        self.pool.give(out)

    def full(self, name: str) -> Array:
        """The values of a name in this block."""
        return self.arrays[name] if name in self.arrays else cut(three(self.chunk.values.name(name)), self.place)

    def into(self, form: Form, out: Array) -> None:
        """The values of a polynomial, written where they belong."""
        if not self.plan.is_full(form):
            out[...] = cut(self.chunk.light(form), self.place)
            return
        terms = self.plan.terms(form)
        if terms.pairs:
            self._thin_product(self.chunk.thin(form), out)
            if terms.nest is not None:
                self._add(terms.nest, out)
        elif terms.nest is not None:
            self._nest(terms.nest, out)

    def _thin_product(self, thin: Thin, out: Array) -> None:
        outer, rows, columns = self.place
        inner = slice(None)
        np.matmul(cut(thin[0], (outer, rows, inner)), cut(thin[1], (outer, inner, columns)), out=out)

    def _nest(self, nest: Nest | Form, out: Array) -> None:
        """Powers of full names by Horner's rule."""
        if isinstance(nest, Form):
            out[...] = cut(self.chunk.light(nest), self.place)
            return
        name = self.full(nest.name)
        if nest.inner == ONE and not nest.under:
            np.copyto(out, name)
        else:
            inner = cut(self.chunk.light(nest.inner), self.place) if isinstance(nest.inner, Form) else out
            if inner is out:
                self._nest(nest.inner, out)
            (np.divide if nest.under else np.multiply)(inner, name, out=out)
        if nest.under:
            self._unless_zero(nest.name, out)
        if nest.rest is not None:
            self._add(nest.rest, out)

    def _add(self, nest: Nest | Form, out: Array) -> None:
        """A nest added to the values in ``out``."""
        if isinstance(nest, Form):
            np.add(out, cut(self.chunk.light(nest), self.place), out=out)
            return
        plain = nest.inner == ONE and not nest.under and nest.rest is None
        spare = self.full(nest.name) if plain else self.pool.take(self.shape)
        if not plain:
            self._nest(nest, spare)
        np.add(out, spare, out=out)
        if not plain:
            self.pool.give(spare)

    def _unless_zero(self, name: str, out: Array) -> None:
        """No value where a divisor is zero."""
        if not self.plan.above_zero(name):
            zero = self.full(name) == 0
            if zero.any():
                out[np.broadcast_to(zero, out.shape)] = np.nan


ONE = frozen(ONE_TERM)


@dataclass
class Pool:
    """Buffers that are used again: a new array each time would cost more than writing into it."""

    free: list[Array] = field(default_factory=list)

    def take(self, shape: Sequence[int]) -> Array:
        size = int(np.prod(shape))
        for i, buffer in enumerate(self.free):
            if buffer.size >= size:
                return self.free.pop(i)[:size].reshape(shape)
        return np.empty(size).reshape(shape)

    def give(self, buffer: Array) -> None:
        assert buffer.base is not None  # it was cut out of what is free
        self.free.append(buffer.base)
