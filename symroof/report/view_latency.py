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
    theory, known = subject.case.theory, set[str]()
    for name, heading in DERIVED.items():
        order = expanded_names(name, subject, known) if subject.get(name) is not None else ()
        lines = []
        for each in order:
            step, spelled = step_of(each, subject, with_ranges=True), theory.latex(each)
            steps, left = _steps(formula(step.formula, theory.latex), step), symbol(spelled, each)
            rows = [equation(left, *steps[0])]
            rows += [equation(NOTHING, *sides) for sides in steps[1:]]
            line = {"name": Code(each), "symbol": symbol(left), "meaning": step.symbol.meaning}
            lines.append(line | {"left": left, "steps": steps, "rows": rows})
        if lines:
            groups.append({"name": name, "heading": heading, "lines": lines})
            known |= set(order)
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


def expanded_names(name: str, subject: BoundCase, known: set[str] | None = None) -> dict[str, None]:
    """The names that a derivation expands, in order; a quantity that is zero is not expanded further."""
    order: dict[str, None] = {}

    def visit(current: str) -> None:
        known_here = {*order, *(known or ()), *subject.case.given}
        if current in known_here or subject.case.theory.definition(current) is None:
            return
        order[current] = None
        result = subject.get(current)
        if result is not None and result.value == 0:
            return
        for inner in names(subject.case.formula(current)):
            visit(inner)

    visit(name)
    return order


def _steps(definition: Math, step: DerivationStep) -> list[list[Math]]:
    """The lines of a derivation: definition, then substituted numbers and value; one line if short."""
    numbers = Math(step.substituted.latex, step.substituted.text)
    value = in_words(UNKNOWN if step.result is None else step.result.plain())
    if step.result is not None and step.result.value == 0:
        return [[value]]
    told = definition != numbers and len(numbers) <= LONGEST_NUMBERS
    sides = [numbers, value] if told else [value]
    short = len("".join([definition, *sides])) <= LINE_LENGTH
    return [[definition, *sides]] if short else [[definition], sides]


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
    groups = {"Defined by this study": defined_rows(subject)}
    for group, (heading, inputs) in GROUPS.items():
        if any(subject.case.is_set(name) for name in inputs):
            groups[heading] = quantity_rows(group, subject)
    return [{"heading": heading, "rows": rows} for heading, rows in groups.items() if rows]


def defined_rows(subject: BoundCase) -> list[list[Any]]:
    """The quantities defined in the study, with the reason if one has no value."""
    case, rows = subject.case, []
    for quantity in case.theory.own.quantities:
        result, name = subject.get(quantity.name), quantity.name
        value = result.text() if result else f"{UNKNOWN}: {subject.why_unknown(name)}"
        written = formula(case.formula_or_name(name), case.theory.latex)
        rows.append([Code(name), written, value, quantity.meaning])
    return rows


def quantity_rows(group: str, subject: BoundCase) -> list[list[Any]]:
    """Name, formula, value and meaning of every known quantity of a group."""
    case, rows = subject.case, []
    for quantity in QUANTITY_GROUPS[group]:
        if result := subject.get(quantity.name):
            written = formula(case.formula_or_name(quantity.name), case.theory.latex)
            short = written if len(written) <= WIDEST_FORMULA else "symroof derive"
            rows.append([Code(quantity.name), short, result.plain(), quantity.meaning])
    return rows


WIDEST_FORMULA = 70
"""LaTeX characters of the longest formula in a table column."""
