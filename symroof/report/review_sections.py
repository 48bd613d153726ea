"""Sections of a review as plain data: cases, inputs and assumptions, memory; derivations, ITL over a response, operators, both rooflines."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from symroof.analysis.derivation import DerivationStep
from symroof.analysis.study import Study
from symroof.analysis.verdict import ISOLATED_METRICS, TARGET_METRICS, at_rate, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result
from symroof.report.field_names import input_name, operator_name, short_label
from symroof.report.markup import NOTHING, Code, Math, Ranged, equation, formula, in_words
from symroof.specs.efficiencies import FITTED
from symroof.symbolic.expressions import label, names
from symroof.symbolic.reading import parse
from symroof.table_formats import UNKNOWN
from symroof.theory.operator_table import Operator
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import TARGET_SYMBOLS, named
from symroof.theory.theory_files import column
from symroof.units import format_quantity, significant


def shown(result: Result | None) -> str:
    """A result as text, or "not known". The flag "does not fit" is shown with the case, not with each number."""
    return cell(result) if result else UNKNOWN


NO_STEADY_STATE = "unbounded: the queue has no steady state"
"""TTFT of an overloaded server."""


def cell(result: Result, digits: int = 3) -> str:
    """A result as a table cell, with its range separate."""
    value, span = result.in_two(digits)
    return Ranged(value, span) if span else value


def marked(label: str, case: BoundCase) -> str:
    """The label of a case, with † if it does not fit in memory."""
    return f"{label} †" if case.does_not_fit else label


def decision_metrics(case: BoundCase) -> dict[str, str]:
    """The latencies and rate that targets apply to: of a server under load, or of one request alone.

    >>> decision_metrics(Study("llama-3-8b", "h100-sxm", prompt=4096, output=256).first)
    {'ttft': 'loaded_ttft', 'itl': 'sustained_itl', 'rate': 'sustained_throughput'}
    """
    if under_load(case.case):
        ttft, itl = TARGET_METRICS["ttft"], at_rate(TARGET_METRICS["itl"], case.case)
        return {"ttft": ttft, "itl": itl, "rate": "sustained_throughput"}
    last = next((name for name in ISOLATED_METRICS["itl"] if case.get(name)), "itl")
    return {"ttft": "ttft", "itl": last, "rate": "decode_throughput"}


MOST_INPUTS = 8
CHANGED = {*column("moving", "assumed")} - {"mfu", "mbu"}
"""Inputs whose defaults people change most often."""


def assumes(study: Study, subject: BoundCase) -> list[list[str]]:
    """Rows of input, value and source: efficiencies, then defaults that people change."""
    latencies = ("ttft", "itl") if subject.get("itl") else ("ttft",)
    inputs = subject.inputs((*latencies, "fits"), everything=False)
    names = [n for n in FITTED if n in inputs and (n in ("mfu", "mbu") or not inputs[n].defaulted)]
    names += [name for name, entry in inputs.items() if entry.defaulted and name in CHANGED]
    rows = []
    for name in names[:MOST_INPUTS]:
        entry, words = inputs[name], input_name(name, subject)
        if name in ("mfu", "mbu"):
            words += f" ({subject.case.theory.symbol(name).meaning})"
        source = "set in the study" if entry.source == "study" else entry.source
        source = "default" if entry.defaulted and not source.startswith("default ") else source
        rows.append([words, cell(entry) if entry.value else "none", source])
    return rows


REPORTED = (
    "memory_bytes",
    "fits",
    "memory_utilization",
    "ttft",
    "itl_last",
    "decode_time",
    "prefill_mfu",
    "decode_mbu",
    "sustained_throughput",
    *TARGET_METRICS.values(),
    *TARGET_SYMBOLS.values(),
)
"""The quantities of a review, whose inputs are listed."""


def ledger(study: Study, subject: BoundCase) -> dict[str, Any]:
    """Inputs with sources, assumptions with meanings, defaults separately."""
    inputs = subject.inputs(tuple(name for name in REPORTED if subject.get(name)), everything=False)
    chosen, rows, switches = subject.assumptions, ([], []), ([], [])  # type: ignore[var-annotated]
    for name, one in inputs.items():
        last = one.symbol.meaning if one.defaulted else one.source
        written = Math(subject.case.theory.latex(name))
        rows[bool(one.defaulted)].append([Code(name), written, one.plain(), last])
    for name, switch in SWITCHES.items():
        row = [Code(name), Code(chosen[name]), switch.values[chosen[name]]]
        switches[bool(chosen.defaulted(name))].append(row)
    shown = {"chosen_inputs": rows[0], "defaulted": rows[1]}
    shown |= {"chosen": switches[0], "standard": switches[1]}
    precisions = [[role, Code(name)] for role, name in subject.precisions.items()]
    return shown | {"precisions": precisions, "compute": subject.compute}


PARTS = {
    "weight_bytes_per_device": "weights",
    "peak_kv_cache_bytes_per_device": "cache",
    "state_bytes_per_device": "state",
    "memory_reserve": "reserve",
}
"""Parts of the memory of the most loaded device, with their labels."""


def memory_parts(cases: Iterable[BoundCase]) -> dict[str, str]:
    """The parts to show: recurrent state and reserve only if some case has them."""
    listed, kept = list(cases), [*PARTS][:2]
    return {n: w for n, w in PARTS.items() if n in kept or any(c.case.value(n) for c in listed)}


def memory_part(name: str, case: BoundCase) -> Result:
    """A part of the memory on all devices of an instance, each counted as the most loaded one: the parts add up to ``memory_bytes``."""
    return case.formula(parse(f"{name}*instance_devices"), QUANTITIES["memory_bytes"])


def memory(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """Memory by part for every case; None if a size is unknown."""
    if subject.get("memory_bytes") is None:
        return None
    sized = [case for case in study.cases if case.get("memory_bytes")]
    parts, rows = memory_parts(sized), []
    for case in sized:
        sizes = [cell(memory_part(name, case)) for name in parts]
        ends = cell(case.result("memory_bytes")), shown(case.get("usable_memory")), shown(case.fits)
        rows.append([marked(short_label(case), case), *sizes, *ends])
    reserve, share = (subject.case.value(f"memory_{name}") for name in ("reserve", "share"))
    apart = subject.prefills and subject.prefills.get("weight_bytes_per_device")
    return {
        "apart": apart.plain() if apart else "",
        "concurrency": held.plain() if (held := subject.get("concurrency")) else UNKNOWN,
        "header": [word.capitalize() for word in parts.values()],
        "rows": rows,
        "all_usable": bool(reserve == 0 and share == 1),
    }


LONGEST_NUMBERS, LINE_LENGTH = 240, 70
"""LaTeX characters beyond which a substituted formula is omitted (`symroof derive` has it), and beyond which a derivation uses a second line."""
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
            steps, left = _steps(formula(step.formula, theory.latex), step), Math(spelled, each)
            rows = [equation(left, *steps[0])]
            rows += [equation(NOTHING, *sides) for sides in steps[1:]]
            line = {"name": Code(each), "symbol": Math(left), "meaning": step.symbol.meaning}
            lines.append(line | {"left": left, "steps": steps, "rows": rows})
        if lines:
            groups.append({"name": name, "heading": heading, "lines": lines})
            known |= set(order)
    return groups


def bound_of(step: str, subject: BoundCase) -> list[str]:
    """What limits a step; several labels over ranges."""
    bound = where(step, subject).get(f"{step}_bound")
    return [str(label) for label in bound.possible or (bound.value,)] if bound else [UNKNOWN]


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


def where(step: str, subject: BoundCase) -> BoundCase:
    """The case of the instances that a step is on: prefills may be on some of another layout."""
    return subject.prefill_case if step == "prefill" else subject


def operators(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """One table for each step with a known time."""
    return [phase(step.name, subject) for step in STEPS if timed(step.name, subject)]


def timed(step: str, subject: BoundCase) -> bool:
    """Whether the time of a step's work is known."""
    return where(step, subject).get(f"{step}_roofline_time") is not None


def phase(step: str, subject: BoundCase) -> dict[str, Any]:
    """The operators of one step, the slowest first."""
    subject, every = where(step, subject), entries(step, subject)
    whole = sum((e["time"].value for e in every), Fraction(0))
    several = len({e["layer"] for e in every if e["layer"]}) > 1
    rows = [row(e, whole, several) for e in sorted(every, key=lambda e: -e["time"].value)]
    link, overhead = subject.get(f"{step}_link_time"), subject.get(f"{step}_overhead")
    return {
        "step": step,
        "rows": rows,
        "link": link.plain(3) if link and link.value else None,
        "overhead": overhead.plain(3) if overhead and overhead.value else None,
        "beside_prompts": subject.assumptions["scheduling"] == "chunked",
        "traffic_between": bool((between := subject.get("elementwise_bytes")) and between.value),
    }


def entries(step: str, subject: BoundCase) -> list[dict[str, Any]]:
    """Time, bound and intensity of each operator of a step over all its layers."""
    subject = where(step, subject)
    return [_entry(step, operator, subject) for operator in subject.case.theory.operators[step]]


def _entry(step: str, operator: Operator, subject: BoundCase) -> dict[str, Any]:
    time = subject.formula(operator.roofline_time, QUANTITIES[f"{step}_roofline_time"])
    amounts = (operator.flops, operator.bytes, operator.device_flops, operator.device_bytes)
    every = (subject.case.evaluate(operator.count * tree) for tree in amounts)
    flops, moved, own_flops, own_moved = every
    arms = label((("compute", operator.compute_time), ("memory", operator.memory_time)))
    found = subject.result(named(arms))
    bound = [str(each) for each in found.possible or (found.value,)]
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
    work, traffic = format_quantity(e["flops"], "FLOP"), format_quantity(e["bytes"], "byte")
    return [name, share, cell(time), " or ".join(e["bound"]), intensity, work, traffic]


NOTABLE_DIFFERENCE = 0.02


def rooflines(study: Study, subject: BoundCase) -> list[list[str]]:
    """The latencies under both rooflines; empty where they differ by less than 2 %."""
    both = {name: subject.with_switches(roofline=name) for name in ("aggregate", "per_operator")}
    pairs = [[case.get(latency) for case in both.values()] for latency in ("ttft", "itl")]
    known = [(float(one.value), float(other.value)) for one, other in pairs if one and other]
    if not any(one and abs(other / one - 1) > NOTABLE_DIFFERENCE for one, other in known):
        return []
    return [[Code(n), shown(c.get("ttft")), shown(c.get("itl"))] for n, c in both.items()]
