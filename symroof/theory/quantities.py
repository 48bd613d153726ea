"""Every quantity that symroof derives, from its entry in ``specs/theories/inference``: a formula over names, for any architecture.

Quantities without a formula there are put together from the operator table (:mod:`symroof.theory.theory`). Entries under ``each_step`` say
what every step has, in names of one step: ``flops`` is ``prefill_flops``, ``decode_flops`` and so on.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from symroof.theory.quantity import Quantity, declared_quantity
from symroof.theory.steps import STEPS, Step
from symroof.theory.theory_files import default_sources, parts, section
from symroof.theory.totals import ALWAYS_READ, COEFFICIENTS

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

GROUPS: dict[str, tuple[Quantity, ...]] = {
    group: tuple(quantities)
    for group, quantities in groupby(QUANTITIES.values(), key=lambda q: q.group)
}
"""The quantities by part of the theory, and those of each step."""

OF_THE_MIX: dict[str, str] = {
    entry.fields["of_mix"]: entry.name for entry in section("define") if "of_mix" in entry.fields
}
"""The quantities of a server under load that decide, and what they are where it serves a mix."""
