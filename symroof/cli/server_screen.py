"""What ``symroof vllm`` and ``symroof server`` print: the line to start, why, and what changes; the same as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symroof.analysis.case_summary import case_title, case_warnings, compact, target_warnings
from symroof.analysis.solution import solution_json
from symroof.analysis.verdict import efficiency_basis, waits_without_end
from symroof.cli.case_screen import marked, switches, value_row
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.report.purchase_text import price_text
from symroof.table_formats import text_table
from symroof.theory.theory_files import column, listed
from symroof.vllm.advice import Review


def review_json(advised: Review, idle: list[str]) -> dict[str, Any]:
    """The review as JSON; ``idle`` are warnings of what has no effect."""
    answers, made = advised.served.study.first, advised.served
    pick = advised.pick
    gives = {name: pick.case.json_with_bound(name) for name in advised.gives} if pick else {}
    return {
        "schema": f"symroof/{'vllm' if made.line.engine.name == 'vllm' else 'server'}/1",
        "engine": made.line.engine.name,
        "model": answers.model.name if answers.model else None,
        "hardware": answers.hardware.name if answers.hardware else None,
        "flags": [vars(flag) for flag in made.flags],
        "not_modelled": list(made.line.others),
        "basis": efficiency_basis(answers),
        "quantities": {name: advised.case_of(name).json_with_bound(name) for name in advised.facts},
        "limits": [
            {
                "name": limit.name,
                "value": limit.value,
                "means": limit.means,
                "solution": solution_json(limit.solution),
            }
            for limit in advised.limits
        ],
        "recommended": {
            "line": advised.line or None,
            "flags": [vars(advice) for advice in advised.advice],
            "quantities": gives,
        },
        **(
            advised.found.as_json(advised.line)
            if advised.found
            else {"recommendation": None, "reason": advised.warnings[-1]}
        ),
        **answers.ledger(tuple(advised.facts), everything=False),
        "warnings": list(dict.fromkeys((*idle, *case_warnings(answers), *advised.warnings))),
        "read": made.line.engine.source,
    }


WORDS = column("shown", "words")
DETAILS = "--details shows every flag, all quantities, each limit with its formula, and sources."


def screen(advised: Review, idle: Iterable[str], everything: bool) -> str:
    """The recommended line, why, what it gives against now, and warnings; with ``everything`` each flag, quantity and limit."""
    served, case = advised.served, advised.served.study.first
    lines = [*warning_lines([served.assumed]), ""] if served.assumed else []
    lines += ["Recommended:", advised.line, ""] if advised.line else []
    for advice in advised.advice:  # a reason for each flag
        flag = f"{served.line.engine.spelled(advice.flag) or advice.flag} {advice.value}".rstrip()
        lines += wrapped(f"{flag}: {advice.because}", "    ", "  ", None if everything else 2)
    lines += wrapped(f"{case_title(case)}; {efficiency_basis(case)}")
    rows = _rows(advised)
    head = ["", "as given", *(["recommended"] if advised.line else [])]
    lines += [fitted_table(rows, head, "  ", flexible=0, left=True)] if rows else []
    lines += wrapped(_replicas(advised))
    warnings = [
        *(text for text in advised.warnings if text != served.assumed),
        *marked(case),
        *(f"as given: {text}" for text in target_warnings(case)),
        *idle,
    ]
    lines += warning_lines(warnings, len(warnings) if everything else 4)
    if served.line.others:
        lines += wrapped(
            f"not modelled: {' '.join(served.line.others)}", most=None if everything else 2
        )
    if everything:
        return "\n".join([*lines, *_details(advised)])
    flags = ", ".join(f"{flag.flag} {flag.value}" for flag in served.flags if flag.defaulted)
    lines += wrapped(f"{served.line.engine.title} defaults: {flags}.", most=2) if flags else []
    return "\n".join([*lines, *wrapped(DETAILS)])


def _rows(advised: Review) -> list[list[str]]:
    """What the line gives as it is, and as recommended."""
    first, rows = advised.served.study.first, []
    rate = "arrival_rate" in first.given
    names = [name for name in listed("shown", "line") if rate or name != "sustained_itl"]
    if "loaded_itl" not in advised.facts and "loaded_ttft" not in advised.facts:
        names += listed("shown", "line_alone")
    pick = advised.pick.case if advised.pick else None
    for name in names:
        found = (advised.facts.get(name), advised.gives.get(name) or (pick and pick.get(name)))
        given, gives = (compact(each) if each else "" for each in found)
        given = given or "unbounded" * waits_without_end(name, first.case)
        rows.append([WORDS[name], given, *([gives] if advised.line else [])])
    return [row for row in rows if any(row[1:])]


def _replicas(advised: Review) -> str:
    """The copies of the recommended line that the arrival rate needs, and what they cost; empty without a rate."""
    pick = advised.pick
    if pick is None or pick.load is None:
        return ""
    rate, paid = pick.case.result("arrival_rate").plain(), price_text(pick)
    many = f"for {rate}: {pick.replicas:,} replica{'s' * (pick.replicas != 1)}"
    return ", ".join(filter(None, (many, f"{pick.devices:,} GPUs", paid)))


def _details(advised: Review) -> list[str]:
    """Every flag, all quantities, each limit with its closed form, and the switches."""
    served = advised.served
    flags = [["* " if t.defaulted else "  ", t.flag, t.value, t.sets, t.says] for t in served.flags]
    limits = [
        [
            limit.name,
            "no limit" if limit.value is None else f"{limit.value:,}",
            limit.equation,
            limit.means,
        ]
        for limit in advised.limits
    ]
    rows = [value_row(advised.case_of(name), name, x) for name, x in advised.facts.items()]
    bound = "theoretical minimum" if any(row[2] for row in rows) else ""
    lines = [
        "",
        f"flags (* = {served.line.engine.title}'s default)",
        text_table(flags, ["", "flag", "value", "sets", "means"]),
        "",
        "current configuration",
        text_table(rows, ["", "", bound, ""], indent="  "),
        "",
        "limits (chunk: with a full batch at its last step, at the end of the prompt)",
        text_table(limits, ["", "at", "from", "meaning"], indent="  "),
        "",
    ]
    return [*lines, *switches(served.study.first), f"flags as in {served.line.engine.source}"]
