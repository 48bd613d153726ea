"""Data of a review: derivations, TTFT, ITL, and serving quantities."""

from typing import Any

from symroof.analysis.derivation import DerivationStep, step_of
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.markup import NOTHING, Code, Math, equation, formula, in_words, symbol
from symroof.report.view_case import shown
from symroof.symbolic.expressions import names
from symroof.table_formats import UNKNOWN
from symroof.theory.quantities import GROUPS as QUANTITY_GROUPS

LONGEST_NUMBERS = 240
"""LaTeX characters beyond which a substituted formula is omitted (`symroof derive` has it)."""
LINE_LENGTH = 70
"""Characters beyond which a derivation uses a second line."""


DERIVED = {
    "ttft": "Time to first token",
    "itl": "Inter-token latency",
    "memory_bytes": "Memory",
    "cost_per_mtok": "Cost",
}
"""The derived quantities, one block each; a block omits names that an earlier one expands."""


def derivations(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """One block for each known quantity."""
    groups: list[dict[str, Any]] = []
    known: set[str] = set()
    for name, heading in DERIVED.items():
        if subject.get(name) is not None and (made := lines(name, subject, known)):
            groups.append({"name": name, "heading": heading, "lines": made})
            known |= set(expanded_names(name, subject, known))
    return groups


OVER_A_RESPONSE = {
    "itl_first": "first step",
    "tpot": "mean step (TPOT)",
    "itl_last": "last step",
    "response_steps": "steps",
    "decode_time": "all steps",
    "response_time": "whole response",
    "ttft_share": "share before the first token",
}


def itl(study: Study, subject: BoundCase) -> list[list[str]]:
    """ITL of one request alone from the first step of a response to its last; empty without a response."""
    if subject.get("tpot") is None:
        return []
    return [[words, shown(subject.get(name))] for name, words in OVER_A_RESPONSE.items()]


def bound_of(step: str, subject: BoundCase) -> list[str]:
    """What limits a step; several labels over ranges."""
    bound = subject.get(f"{step}_bound")
    if bound is None:
        return [UNKNOWN]
    return [str(label) for label in (bound.possible or (bound.value,))]


def lines(name: str, subject: BoundCase, known: set[str]) -> list[dict[str, Any]]:
    """The derivation from the quantity down to inputs, without the names in ``known``."""
    return [
        _line(step_of(current, subject, with_ranges=True), subject)
        for current in expanded_names(name, subject, known)
    ]


def expanded_names(name: str, subject: BoundCase, known: set[str] | None = None) -> dict[str, None]:
    """The names that a derivation expands, in order; a quantity that is zero is not expanded further."""
    order: dict[str, None] = {}

    def visit(current: str) -> None:
        if (
            current in order
            or current in (known or ())
            or current in subject.case.given
            or subject.case.theory.definition(current) is None
        ):
            return
        order[current] = None
        result = subject.get(current)
        if result is not None and result.value == 0:
            return
        for inner in names(subject.case.formula(current)):
            visit(inner)

    visit(name)
    return order


def _line(step: DerivationStep, subject: BoundCase) -> dict[str, Any]:
    theory = subject.case.theory
    left = symbol(theory.latex(step.symbol.name), step.symbol.name)
    steps = _steps(
        formula(step.formula, theory.latex),
        Math(step.substituted.latex, step.substituted.text),
        _value(step),
        step,
    )
    return {
        "name": Code(step.symbol.name),
        "symbol": symbol(left),
        "meaning": step.symbol.meaning,
        "left": left,
        "steps": steps,
        "rows": [equation(left, *steps[0]), *(equation(NOTHING, *sides) for sides in steps[1:])],
    }


def _steps(definition: Math, numbers: Math, value: Math, step: DerivationStep) -> list[list[Math]]:
    """The lines of a derivation: definition, then substituted numbers and value; one line if short."""
    if step.result is not None and step.result.value == 0:
        return [[value]]
    sides = (
        [numbers, value] if definition != numbers and len(numbers) <= LONGEST_NUMBERS else [value]
    )
    return (
        [[definition, *sides]]
        if len("".join([definition, *sides])) <= LINE_LENGTH
        else [[definition], sides]
    )


def _value(step: DerivationStep) -> Math:
    if step.result is None:
        return in_words(UNKNOWN)
    return in_words(step.result.plain())


GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "speculation": ("Speculative decoding", ("draft_tokens",)),
    "chunks": ("Chunked prefill", ("chunk",)),
    "batching": ("Batching", ("arrival_rate",)),
    "caches": ("Prefix cache and preemption", ("hit_rate", "preemption_rate", "prefill_devices")),
    "links": ("Links and groups of devices", ("pp", "attention_dp", "ep", "dp", "link_latency")),
    "overheads": ("Launches", ("kernel_launch",)),
    "load": ("Load", ("arrival_rate", "burst_rate")),
    "prices": ("Prices", ("cost_target",)),
}
"""Group of quantities -> heading, and the inputs that make a study show the group."""


def serving(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """One table for each group that the study's inputs concern."""
    asked = [
        (group, heading)
        for group, (heading, inputs) in GROUPS.items()
        if any(subject.case.is_set(name) for name in inputs)
    ]
    groups = [(heading, quantity_rows(group, subject)) for group, heading in asked]
    return [
        {"heading": heading, "rows": rows}
        for heading, rows in (("Defined by this study", defined_rows(subject)), *groups)
        if rows
    ]


def defined_rows(subject: BoundCase) -> list[list[Any]]:
    """The quantities defined in the study, with the reason if one has no value."""
    case, rows = subject.case, []
    for quantity in case.theory.own.quantities:
        result = subject.get(quantity.name)
        value = result.text() if result else f"{UNKNOWN}: {subject.why_unknown(quantity.name)}"
        rows.append(
            [
                Code(quantity.name),
                formula(case.formula_or_name(quantity.name), case.theory.latex),
                value,
                quantity.meaning,
            ]
        )
    return rows


def quantity_rows(group: str, subject: BoundCase) -> list[list[Any]]:
    """Name, formula, value and meaning of every known quantity of a group."""
    case = subject.case
    return [
        [
            Code(quantity.name),
            written if len(written) <= WIDEST_FORMULA else "symroof derive",
            result.plain(),
            quantity.meaning,
        ]
        for quantity in QUANTITY_GROUPS[group]
        if (result := subject.get(quantity.name))
        and (written := formula(case.formula_or_name(quantity.name), case.theory.latex))
    ]


WIDEST_FORMULA = 70
"""LaTeX characters of the longest formula in a table column."""
