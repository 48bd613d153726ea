"""The declaration of a derived quantity."""

from dataclasses import dataclass, replace
from functools import cached_property

from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.tree import Tree, names
from symroof.theory.symbols import Symbol

COMPUTE_RATE, MEMORY_RATE = "(mfu*peak_flops)", "(mbu*mem_bandwidth)"
"""The FLOPs and bytes that one device achieves in a second."""
WORK_TIMES = {"compute_time": ("flops", COMPUTE_RATE), "memory_time": ("bytes", MEMORY_RATE)}
"""The times of a pass, of a stage and of an operator alike: which work each is of, and the rate of one device."""


def work_time(kind: str, work: Tree) -> Tree:
    """The time of one device's FLOPs or bytes alone, by a kind of :data:`WORK_TIMES`."""
    return build.div(work, parse(WORK_TIMES[kind][1]))


NEGLIGIBLE_WAIT = "1 ns"
"""An estimated wait shorter than this is none."""


@dataclass(frozen=True)
class Search:
    """How a quantity without a formula is worked out: the value of an input at which something holds.

    Attributes:
        kind: ``fixed``, the least value at which the input equals ``body``; ``most``, the largest whole number at which ``body`` is 1.
        unknown: the input.
        body: a formula that depends on it.
        high: a formula for the largest value.
    """

    kind: str
    unknown: str
    body: str
    high: str

    def __str__(self) -> str:
        """The search in words.

        >>> str(Search("most", "batch", "meets_itl", "concurrency"))
        'the largest whole batch up to concurrency at which meets_itl = 1, 0 where there is none'
        """
        if self.kind == "most":
            return f"the largest whole {self.unknown} up to {self.high} at which {self.body} = 1, 0 where there is none"
        most = f"the case's {self.unknown}" if self.high == self.unknown else self.high
        return f"the {self.unknown} at which {self.unknown} = {self.body}, at most {most}"

    @property
    def demands(self) -> tuple[str, ...]:
        """The names that the value depends on."""
        return tuple(name for text in (self.body, self.high) for name in names(parse(text)) if name != self.unknown)


@dataclass(frozen=True)
class Quantity(Symbol):
    """A derived quantity.

    Attributes:
        definition: a formula, or None where the operator table supplies it.
        switch: the switch whose value chooses among ``variants``.
        variants: switch value -> formula.
        group: the section it is listed under.
        reference: the source of the formula, one of :mod:`symroof.theory.references`.
        absent: inputs that may be missing, each with the value that replaces it then.
        without: an input, and the formula where it has no value.
        search: how it is worked out where no formula gives it.
        exists: conditions under which it has a value, each with the message where it does not hold.
    """

    definition: str | None = None
    switch: str | None = None
    variants: tuple[tuple[str, str], ...] = ()
    group: str = ""
    reference: str = ""
    absent: tuple[tuple[str, str], ...] = ()
    without: tuple[str, str] | None = None
    search: Search | None = None
    exists: tuple[tuple[str, str], ...] = ()

    @cached_property
    def chooses(self) -> bool:
        """Whether its formula is a choice among others."""
        return (self.definition or "").startswith("of_largest(")

    @property
    def demands(self) -> tuple[str, ...]:
        """The names in the conditions under which it has a value."""
        return tuple(name for condition, _ in self.exists for name in names(parse(condition)))


def declared(group: str, name: str, latex: str, unit: str, meaning: str, definition: str | None = None, **more: object) -> Quantity:
    variants = more.pop("variants", {})
    return Quantity(name, latex, unit, meaning, definition=definition, group=group, variants=tuple(variants.items()), **more)  # type: ignore[arg-type,attr-defined]


def referenced(reference: str, *quantities: Quantity) -> tuple[Quantity, ...]:
    """Quantities with the reference of their group, except those that name their own.

    >>> group = referenced("definition", declared("g", "a", "a", "s", "one"), declared("g", "b", "b", "s", "two", reference="Little 1961"))
    >>> [quantity.reference for quantity in group]
    ['definition', 'Little 1961']
    """
    return tuple(q if q.reference else replace(q, reference=reference) for q in quantities)
