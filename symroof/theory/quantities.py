"""Every quantity that symroof derives, from its entry in ``specs/theories/inference``: a formula over names, for any architecture.

Quantities without a formula there are put together from the operator table (:mod:`symroof.theory.theory`). Entries under ``each_step`` say
what every step has, in names of one step: ``flops`` is ``prefill_flops``, ``decode_flops`` and so on.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from symroof.symbolic.expressions import names
from symroof.symbolic.printing import exact_text
from symroof.symbolic.reading import parse
from symroof.theory.steps import STEPS, Step
from symroof.theory.symbols import Symbol, common_fields
from symroof.theory.theory_files import cited, conditions, default_sources, parts, section
from symroof.theory.totals import ALWAYS_READ, COEFFICIENTS


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
    return written if written is None or isinstance(written, str) else exact_text(written)


WORD = re.compile(r"\b[a-z]\w*+(?! =)")
"""A name in a formula; what stands before an equals sign is a label or an input."""


def _of_step(
    step: Step, name: str, fields: Mapping[str, Any], own: Mapping[str, Any], reference: str
) -> Quantity:
    """What a step has, under the name, LaTeX and formula that it has in this step."""

    def said(formula: str) -> str:
        return WORD.sub(
            lambda word: f"{step.name}_{word[0]}" if word[0] in own else word[0], formula
        )

    quantity = declared_quantity(f"{step.name}_{name}", fields, step.name, reference)
    return replace(
        quantity,
        latex=rf"{quantity.latex}_{{\mathrm{{{step.name}}}}}",
        meaning=f"{step.name}: {quantity.meaning}",
        definition=quantity.definition and said(quantity.definition),
        variants=tuple((value, said(formula)) for value, formula in quantity.variants),
    )


def _of_a_device(quantities: list[Quantity]) -> Iterator[Quantity]:
    """Coefficients of the operator table, of which a device can have a part that is no even share."""
    for q in quantities:
        if q.name in {*COEFFICIENTS.values(), ALWAYS_READ}:
            base, mark, index = q.latex.partition("_")  # W_r becomes W_{r1}
            yield replace(
                q,
                name=f"{q.name}_per_device",
                latex=f"{base}_{{{index.strip('{}')}1}}" if mark else f"{base}_1",
                meaning=f"{q.meaning}: the part on one device",
            )


def _declared() -> Iterator[Quantity]:
    """Every quantity, part by part in the order of the theory."""
    sources = default_sources()
    for part in parts():
        own = part.get("each_step", {})
        yield from (
            _of_step(step, name, fields, own, sources[part["name"]])
            for step in STEPS
            for name, fields in own.items()
        )
        group = [
            declared_quantity(name, fields, part["name"], sources[part["name"]])
            for name, fields in part.get("define", {}).items()
        ]
        yield from group
        yield from _of_a_device(group)


QUANTITIES: dict[str, Quantity] = {quantity.name: quantity for quantity in _declared()}

OF_THE_MIX: dict[str, str] = {
    entry.fields["of_mix"]: entry.name for entry in section("define") if "of_mix" in entry.fields
}
"""The quantities of a server under load that decide, and what they are where it serves a mix."""
