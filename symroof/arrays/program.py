"""A compiled function: outputs over inputs, called with arrays that broadcast. It holds nothing but names and exact numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.arrays.cache_blocks import Array, Block, Chunk, Place, Pool
from symroof.arrays.evaluation_plan import Plan, bare
from symroof.arrays.exact_fallback import DOUBT, magnitude, mend, settle
from symroof.arrays.graph import FOLDED, Form, Graph
from symroof.arrays.kernels import HOLDS
from symroof.arrays.memory_layout import Layout, cut
from symroof.arrays.values import arrays, exact

NO_LABEL = -1


@dataclass(frozen=True)
class Output:
    """One result: a number (a polynomial), a truth (a polynomial against zero) or a label (the place of its largest arm).

    ``constant`` stands where no input moves it.
    """

    name: str
    forms: tuple[Form, ...] = ()
    relation: str | None = None
    labels: tuple[str, ...] = ()
    constant: Any = None

    def moves_with(self, graph: Graph) -> frozenset[str]:
        """The inputs that move it."""
        return frozenset().union(*map(graph.inputs_of, self.forms))

    @property
    def dtype(self) -> Any:
        """Numbers are floats, truths are truths, labels their places."""
        return np.dtype(np.int8 if self.labels else np.bool_ if self.relation else np.float64)


@dataclass(frozen=True)
class Program:
    """Outputs over a graph. No call leaves any state, so threads may share one."""

    graph: Graph
    outputs: tuple[Output, ...]

    def run(self, inputs: Sequence[Any], out: Sequence[Array] | None = None) -> tuple[Array, ...]:
        """Every output over the inputs; numbers without a value are NaN, labels ``-1``."""
        layout = Layout.of(inputs)
        seen = [layout.three(x) for x in inputs]
        folded = [layout.folded(array) for array in out] if out is not None else [None] * len(self.outputs)
        homes = [array if array is not None else np.empty(layout.sizes, output.dtype) for array, output in zip(folded, self.outputs, strict=True)]
        if all(layout.sizes):
            self._fill(layout, seen, homes)
        if out is None:
            return tuple(home.reshape(layout.shape) for home in homes)
        for array, own, home in zip(out, folded, homes, strict=True):
            if own is None:
                array[...] = home.reshape(layout.shape)
        return tuple(out)

    def plain(self, inputs: Sequence[Any]) -> tuple[Array, ...]:
        """Outputs that are numbers by the plain walk of the graph: of a few hundred points in a row, blocks and buffers cost more than the work."""
        values, shape = arrays(self.graph, dict(zip(self.graph.inputs, inputs, strict=True)), mend), np.broadcast_shapes(*map(np.shape, inputs))
        with np.errstate(all="ignore"):
            return tuple(np.broadcast_to(values.form(output.forms[0]), shape) for output in self.outputs)

    def _fill(self, layout: Layout, seen: Sequence[Array], homes: Sequence[Array]) -> None:
        varies = {name: frozenset(axis for axis in range(3) if x.shape[axis] != 1) for name, x in zip(self.graph.inputs, seen, strict=True)}
        positive = frozenset(name for name, x in zip(self.graph.inputs, seen, strict=True) if np.min(x) > 0)
        plan = Plan(self.graph, varies, positive, layout.sizes[1] > 1, tuple(form for output in self.outputs for form in output.forms))
        forms = [tuple(map(plan.best, output.forms)) for output in self.outputs]
        pool = Pool()
        with np.errstate(all="ignore"):
            for part in layout.chunks():
                own = {name: cut(x, (part, slice(None), slice(None))) for name, x in zip(self.graph.inputs, seen, strict=True)}
                chunk = Chunk(plan, own)
                for place in layout.blocks(part):
                    self._block(chunk, place, part.start, forms, homes, pool)

    def _block(self, chunk: Chunk, place: Place, start: int, forms: Sequence[tuple[Form, ...]], homes: Sequence[Array], pool: Pool) -> None:
        outer, rows, columns = place
        within = (slice(outer.start - start, outer.stop - start), rows, columns)
        views = [home[place] for home in homes]
        names = [bare(own[0]) if own and output.dtype == np.float64 else None for output, own in zip(self.outputs, forms, strict=True)]
        direct: dict[str, Array] = {}
        for name, view in zip(names, views, strict=True):
            if name in chunk.plan.order:
                direct.setdefault(name, view)
        block = Block(chunk, within, tuple(part.stop - part.start for part in place), pool, direct)
        block.run()
        for output, own, name, view in zip(self.outputs, forms, names, views, strict=True):
            if name is None or direct.get(name) is not view:
                Results(block, output, own, view).write()
        block.release()


@dataclass
class Results:
    """One output of one block, written where it belongs."""

    block: Block
    output: Output
    forms: tuple[Form, ...]
    view: Array

    def write(self) -> None:
        """The values, exact where floats cannot decide."""
        if not self.forms:
            self.view[...] = self.output.constant
        elif self.output.labels:
            self._label()
        elif self.output.relation:
            self._truth(self.output.relation)
        else:
            self.block.into(self.forms[0], self.view)

    def _truth(self, relation: str) -> None:
        (form,) = self.forms
        with self.block.value(form) as difference:
            HOLDS[relation](difference, 0.0, out=self.view)
            off = self.off(form)
            if not least(difference) > off:
                graph = self.block.plan.graph
                self._settle(np.abs(difference) <= off, lambda point: FOLDED[relation](exact(graph, point).form(form)), False)

    def _label(self) -> None:
        """The place of the largest arm: a running maximum, and whatever comes close to it looked at exactly."""
        block, view, (first, *others) = self.block, self.view, self.forms
        best, apart = block.pool.take(view.shape), block.pool.take(view.shape)
        block.into(first, best)
        view[...] = 0
        off, doubt = sum(self.off(form) for form in self.forms), np.zeros(view.shape, bool)
        for i, other in enumerate(others, 1):
            with block.value(other) as value:
                np.subtract(value, best, out=apart)
                np.copyto(view, i, where=apart > 0)
                if not least(apart) > off:
                    doubt |= np.abs(apart) <= off
                np.maximum(best, value, out=best)
        view[np.isnan(best)] = NO_LABEL
        if doubt.any():
            self._settle(doubt, lambda point: largest(block.plan.graph, self.forms, point), NO_LABEL)
        block.pool.give(best)
        block.pool.give(apart)

    def off(self, form: Form) -> float:
        """How far the floats of a polynomial may be off here."""
        return DOUBT * magnitude(form, self.block.size)

    def _settle(self, doubt: Array, value: Callable[[dict[str, Fraction]], Any], none: float) -> None:
        graph = self.block.plan.graph
        settle(self.view, doubt, sorted(self.output.moves_with(graph)), self.block.point(), value, none)


def largest(graph: Graph, arms: tuple[Form, ...], point: Mapping[str, Fraction]) -> int:
    """The place of the largest arm at one point, exactly; a tie goes to the first."""
    values = exact(graph, point)
    reached = [values.form(arm) for arm in arms]
    return max(range(len(reached)), key=lambda i: (reached[i], -i))


def least(x: Array) -> float:
    """The least absolute value; NaN where there is one."""
    return float(np.abs(x).min())
