"""A diagnosis as text: the figure, what was expected, and the causes that explain it, on one screen."""

from symroof.analysis.case_titles import case_title
from symroof.analysis.diagnosis import ALIKE, Diagnosis, Explanation
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result

SHOWN = 6


def diagnosis_text(found: Diagnosis, case: BoundCase) -> str:
    """What was measured against what is expected, and the causes, the best first."""
    measured = Result(found.expected.symbol, found.measured).plain()
    bound = f", bound {found.bound.plain()}" if found.bound else ""
    lines = [
        f"{found.name} measured at {measured}: {case_title(case)}",
        f"  expected {found.expected.text()}{bound}",
    ]
    if found.explained:
        return "\n".join(
            [*lines, "", "nothing to explain: it lies in the interval that is expected"]
        )
    if found.beats_the_bound:
        lines.append(
            "  it beats the bound: the server does less than this case says, or the figure is of something else"
        )
    holding = [each for each in found.explanations if each.holds]
    shown = (holding or list(found.explanations))[:SHOWN]
    if not holding:
        lines += [
            "",
            "no cause alone explains it" + ("; those that come nearest:" if shown else ""),
        ]
    else:
        lines += [
            "",
            f"{len(holding)} of the usual causes explain{'s' * (len(holding) == 1)} it, each alone:",
        ]
    for place, each in enumerate(shown, 1):
        lines += [
            f"{place}. {_line(each, found.name)}",
            *_also(each),
            f"   check: {each.cause.check}",
        ]
    return "\n".join(lines)


def _line(each: Explanation, name: str) -> str:
    said = f": {each.said}" if each.said else ""
    reads = f"{each.reads} " if each.reads != name else ""
    return f"{each.cause.title}{said}; then {reads}{each.predicted.text()} is expected"


def _also(each: Explanation) -> list[str]:
    """What else would be seen, against now."""
    seen = []
    for name, now, then in each.signature:
        ratio = float(then.value) / float(now.value)
        change = "as now" if abs(ratio - 1) < ALIKE else f"{ratio:.2g} times {_middle(now)}"
        seen.append(f"{name} {_middle(then)} ({change})")
    return [f"   then also: {'; '.join(seen)}"] if seen else []


def _middle(result: Result) -> str:
    """The value expected, without its interval."""
    return Result(result.symbol, result.value).plain()
