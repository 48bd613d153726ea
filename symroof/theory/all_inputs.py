"""The inputs that a quantity depends on, over all counting choices and models."""

import re
from functools import cache

from symroof.symbolic.expressions import changed_inputs, names
from symroof.theory.declarations import Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import Quantity
from symroof.theory.steps import STEPS
from symroof.theory.symbols import GROUPS, INPUTS, base_name

WORD = re.compile(r"[A-Za-z]\w*")
OF_OPERATORS = ("architecture", "precision", "workload", "parallel", "hardware", "efficiency")
"""The inputs that totals of the operator table may depend on: which, depends on the model and on its layout, and they have no text."""


def inputs_of(declared: Quantity, own: Declarations) -> list[str]:
    """The inputs that a quantity depends on under some counting choice, for some model."""
    seen, left = {declared.name}, [declared.name]
    while left:
        below = _mentioned(left.pop(), own) - seen
        seen |= below
        left += below
    return [name for name in (*INPUTS, *(known.name for known in own.inputs)) if name in seen]


def _mentioned(name: str, own: Declarations) -> frozenset[str]:
    declared = own.own(name) or QUANTITIES.get(name)
    if not isinstance(declared, Quantity):
        return frozenset()
    if name not in own:
        return _mentioned_by(declared)
    formula = own.definitions.get(name)
    written = () if formula is None else (*names(formula), *changed_inputs(formula))
    return _mentioned_by(declared).union(map(base_name, written))


@cache
def _mentioned_by(declared: Quantity) -> frozenset[str]:
    """The names in all formulas, searches and conditions of a declaration; those of the segments of a step whose total it is."""
    texts = [declared.definition, *(part for pair in declared.variants for part in pair)]
    texts += [part for pair in (*declared.absent, *declared.exists) for part in pair]
    texts += declared.without or ()
    if declared.search:
        texts += [declared.search.unknown, declared.search.body, declared.search.high]
    found = {word for text in texts for word in WORD.findall(text or "")}
    written = [text for _, text in declared.variants] or [declared.definition or ""]
    if declared.name in QUANTITIES and not declared.search and not all(written):
        found |= {known.name for group in OF_OPERATORS for known in GROUPS[group]}
        for step in STEPS:
            if declared.name.startswith(f"{step.name}_"):
                found |= set(WORD.findall(str(step.segments)))
    return frozenset(found)
