"""The declaration of a derived quantity, and how it is read from a theory file."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from symroof.symbolic.expressions import ZERO, Expr, names, substitute
from symroof.symbolic.printing import exact_text
from symroof.symbolic.reading import parse
from symroof.theory.switches import Assumptions
from symroof.theory.symbols import Symbol, common_fields
from symroof.theory.theory_files import cited, conditions, section

WORK_TIMES = {"compute_time": "flops", "memory_time": "bytes"}
"""The times of a pass, a stage or an operator, and the work that each is of."""


def work_time(kind: str, work: Expr, assumptions: Assumptions, attention: Expr = ZERO) -> Expr:
    """The time of one device's FLOPs or bytes alone, by a kind of :data:`WORK_TIMES`: as a step has it, of this work, of which ``attention`` is attention's."""
    parts = {f"{WORK_TIMES[kind]}_per_device": work, "attention_flops_per_device": attention}
    return substitute(_of_each_step(kind, assumptions), parts)


@lru_cache(maxsize=256)
def _of_each_step(name: str, assumptions: Assumptions) -> Expr:
    """The formula that a step has for a quantity, in names of one step."""
    fields = next(entry.fields for entry in section("each_step") if entry.name == name)
    if "formula" in fields:
        return parse(fields["formula"])
    ((switch, formulas),) = fields["choose"].items()
    return parse(formulas[assumptions[switch]])


@dataclass(frozen=True)
class ImplicitDefinition:
    """How a quantity without a formula is computed: as the value of an input that satisfies a condition.

    Attributes:
        kind: ``fixed_point``, the least value at which the input equals ``body``; ``largest``, the largest whole number at which ``body`` is 1.
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

        >>> str(ImplicitDefinition("largest", "batch", "meets_itl", "concurrency"))
        'the largest whole batch up to concurrency at which meets_itl = 1, 0 where there is none'
        """
        if self.kind == "largest":
            return f"the largest whole {self.unknown} up to {self.high} at which {self.body} = 1, 0 where there is none"
        most = f"the case's {self.unknown}" if self.high == self.unknown else self.high
        return f"the {self.unknown} at which {self.unknown} = {self.body}, at most {most}"

    @property
    def required_names(self) -> tuple[str, ...]:
        """The names that the value depends on, without the unknown."""
        return tuple(
            name
            for text in (self.body, self.high)
            for name in names(parse(text))
            if name != self.unknown
        )


@dataclass(frozen=True)
class Quantity(Symbol):
    """A derived quantity.

    Attributes:
        definition: a formula, or None if the operator table supplies it.
        switch: the switch whose value chooses among ``variants``.
        variants: switch value -> formula.
        group: the section it is listed under.
        reference: the source of the formula.
        absent: inputs that may be missing, each with the value that then replaces it.
        without: an input, and the formula if it has no value.
        search: how it is computed if it has no formula.
        exists: conditions for a value, each with the message if it does not hold.
    """

    definition: str | None = None
    switch: str | None = None
    variants: tuple[tuple[str, str], ...] = ()
    group: str = ""
    reference: str = ""
    absent: tuple[tuple[str, str], ...] = ()
    without: tuple[str, str] | None = None
    search: ImplicitDefinition | None = None
    exists: tuple[tuple[str, str], ...] = ()

    @cached_property
    def chooses(self) -> bool:
        """Whether its formula chooses among others."""
        return (self.definition or "").startswith("of_largest(")

    @property
    def written(self) -> tuple[str, ...]:
        """The formulas besides its definition: of conditions, of a search, of what it is without an optional input."""
        searched = (self.search.body, self.search.high) if self.search else ()
        return (*(condition for condition, _ in self.exists), *searched, *(self.without or ())[1:])

    @property
    def required_names(self) -> tuple[str, ...]:
        """The names in the conditions under which it has a value."""
        return tuple(name for condition, _ in self.exists for name in names(parse(condition)))


def declared_quantity(
    name: str, fields: Mapping[str, Any], group: str, reference: str = ""
) -> Quantity:
    """A quantity from its entry in a theory file; ``reference`` is the source if the entry names none.

    >>> entry = {"unit": "s", "means": "time to read it", "choose": {"kv_traffic": {"on": "a/b", "off": "0"}}, "without": {"b": "a"}}
    >>> made = declared_quantity("read_time", entry, "example")
    >>> made.switch, made.variants, made.without
    ('kv_traffic', (('on', 'a/b'), ('off', '0')), ('b', 'a'))
    """
    switch, variants = next(iter(fields.get("choose", {}).items()), (None, {}))
    searches = (
        ImplicitDefinition(kind, found["unknown"], str(found[body]), str(found["up_to"]))
        for kind, body in (("fixed_point", "equals"), ("largest", "holds"))
        if (found := fields.get(kind))
    )
    return Quantity(
        name,
        **common_fields(name, fields),
        definition=_formula(fields.get("formula")),
        switch=switch,
        variants=tuple((value, _formula(formula) or "") for value, formula in variants.items()),
        group=group,
        reference=cited(fields.get("source", "")) or reference,
        absent=tuple((key, str(value)) for key, value in fields.get("absent", {}).items()),
        without=next(((key, str(value)) for key, value in fields.get("without", {}).items()), None),
        search=next(iter(searches), None),
        exists=tuple(conditions()[condition] for condition in fields.get("exists", ())),
    )


def _formula(written: Any) -> str | None:
    """A formula as text; a bare number is a formula too."""
    return None if written is None else written if isinstance(written, str) else exact_text(written)
