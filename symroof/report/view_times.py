"""Data of a review: derivations, ITL over a response, quantities of the study, operators and both rooflines."""

import contextlib
from fractions import Fraction
from typing import Any

from symroof.analysis.derivation import DerivationStep
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import operator_name
from symroof.report.markup import NOTHING, Code, Math, equation, formula, in_words, symbol
from symroof.report.view_case import cell, shown
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import label, names
from symroof.table_formats import UNKNOWN
from symroof.theory.operators import Operator
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS
from symroof.theory.symbols import named
from symroof.units import format_quantity, significant

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
            step, spelled = DerivationStep(each, subject), theory.latex(each)
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


def defined(study: Study, subject: BoundCase) -> list[list[Any]]:
    """The quantities defined in the study, with the reason if one has no value."""
    case, rows = subject.case, []
    for quantity in case.theory.own.quantities:
        result, name = subject.get(quantity.name), quantity.name
        value = result.text() if result else f"{UNKNOWN}: {subject.why_unknown(name)}"
        written = formula(case.formula_or_name(name), case.theory.latex)
        rows.append([Code(name), written, value, quantity.meaning])
    return rows


def operators(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """One table for each step with a known time."""
    tables = [table for step in STEPS if (table := phase(step.name, subject))]
    return [{key: value for key, value in table.items() if key != "entries"} for table in tables]


def phase(step: str, subject: BoundCase) -> dict[str, Any] | None:
    """The operators of one step, the slowest first."""
    if subject.get(f"{step}_roofline_time") is None:
        return None
    entries = [entry(step, operator, subject) for operator in subject.case.theory.operators[step]]
    whole = sum((e["time"].value for e in entries), Fraction(0))
    entries.sort(key=lambda e: -e["time"].value)
    several = len({e["layer"] for e in entries if e["layer"]}) > 1
    rows = [row(e, whole, several) for e in entries]
    link, overhead = subject.get(f"{step}_link_time"), subject.get(f"{step}_overhead")
    return {
        "step": step,
        "rows": rows,
        "link": link.plain(3) if link and link.value else None,
        "overhead": overhead.plain(3) if overhead and overhead.value else None,
        "traffic_between": bool((between := subject.get("elementwise_bytes")) and between.value),
        "entries": entries,
    }


def entry(step: str, operator: Operator, subject: BoundCase) -> dict[str, Any]:
    """Time, bound and intensity of an operator over all its layers."""
    time = subject.formula(operator.roofline_time, QUANTITIES[f"{step}_roofline_time"])
    amounts = (operator.flops, operator.bytes, operator.device_flops, operator.device_bytes)
    flops, moved, own_flops, own_moved = (
        subject.case.evaluate(operator.count * tree) for tree in amounts
    )
    arms = label((("compute", operator.compute_time), ("memory", operator.memory_time)))
    bound = [str(subject.case.evaluate(arms))]
    with contextlib.suppress(NoValue):
        bound = list(subject.ranges.labels(named(arms))) if subject.box else bound
    return {
        "operator": operator.name,
        "layer": operator.layer,
        "time": time,
        "flops": flops,
        "bytes": moved,
        "device_flops": own_flops,
        "intensity": own_flops / own_moved if own_moved else None,
        "bound": bound,
    }


def row(e: dict[str, Any], whole: Fraction, several: bool) -> list[Any]:
    time: Result = e["time"]
    name = operator_name(e["operator"]) + (f" ({e['layer']})" if several and e["layer"] else "")
    intensity = significant(e["intensity"], 4) if e["intensity"] is not None else UNKNOWN
    share = f"{float(time.value / whole) * 100:.1f} %" if whole else UNKNOWN
    return [
        name,
        share,
        cell(time),
        " or ".join(e["bound"]),
        intensity,
        format_quantity(e["flops"], "FLOP"),
        format_quantity(e["bytes"], "byte"),
    ]


NOTABLE_DIFFERENCE = 0.02


def rooflines(study: Study, subject: BoundCase) -> list[list[str]]:
    """The latencies under both rooflines; empty where they differ by less than 2 %."""
    both = {name: subject.with_switches(roofline=name) for name in ("aggregate", "per_operator")}
    pairs = [[case.get(latency) for case in both.values()] for latency in ("ttft", "itl")]
    known = [(float(one.value), float(other.value)) for one, other in pairs if one and other]
    if not any(one and abs(other / one - 1) > NOTABLE_DIFFERENCE for one, other in known):
        return []
    return [[Code(n), shown(c.get("ttft")), shown(c.get("itl"))] for n, c in both.items()]
