"""A diagnosis as text: the figure, what was predicted, and the causes that explain it, on one screen."""

from symroof.analysis.case_summary import DIGITS, case_title, compact, limit_word
from symroof.analysis.diagnosis import ALIKE, Diagnosis
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result
from symroof.select.candidates import not_started

SHOWN = 6
BEATS = "  It beats the theoretical minimum: the server does less work than this case describes, or the figure measures something else."


ALONE = {
    "itl": ("time between tokens while no prompt is prefilled", "sustained_itl"),
    "ttft": ("time to first token of a request alone", "loaded_ttft"),
}
"""What a name means that people also give to a measurement under load, and the name of that."""


def _while_busy(case: BoundCase, name: str) -> list[str]:
    """That people measure something else under load than a name means, and what that is here."""
    if name not in ALONE:
        return []
    meaning, loaded = ALONE[name]
    there = case.get(loaded)
    here = f", here {compact(there)}" if there else ""
    said = [f"  {name}: {meaning}; a benchmark of a busy server measures {loaded}{here}"]
    unseen = "not looked at without --output: prefills of other requests, the usual cause on a busy server"
    return said if case.case.has_value("output") else [*said, f"  {unseen}"]


def diagnosis_text(found: Diagnosis, case: BoundCase, everything: bool = False) -> str:
    """What was measured against what is predicted, and the causes, the best first."""
    measured = Result(found.expected.symbol, found.measured).plain()
    word, least = limit_word(found.expected.symbol.unit), found.bound
    bound = f", {word} {compact(least)}" if least else ""
    lines = [
        case_title(case),
        f"  {found.name}: measured {measured}, predicted {compact(found.expected)}{bound}",
    ]
    if case.does_not_fit and case.case.has_value("concurrency"):
        room = case.result("concurrency").plain()
        lines.append(
            f"  this does not fit in memory: {room} run at once, and the others wait or start again"
        )
    if refused := not_started(case):
        lines.append(f"  {refused}")
    lines += _while_busy(case, found.name)
    if found.explained:
        inside = "Nothing to explain: the measurement is inside the 80 % interval, which says that it is usual, not that it is good."
        return "\n".join([*lines, "", inside])
    if found.beats_the_bound:
        lines.append(BEATS)
    holding = [each for each in found.explanations if each.holds]
    shown = holding or list(found.explanations)
    hidden = 0 if everything else len(shown[SHOWN:])
    shown = shown[: len(shown) - hidden]
    said = "No single cause explains it." + " The nearest:" * bool(shown)
    if holding:
        many = f"{len(holding)} likely causes, any of which could explain it:"
        outside = "It is outside the 80 % interval."
        said = f"{outside} {many if len(holding) > 1 else 'Likely cause:'}"
    lines += ["", said]
    for place, each in enumerate(shown, 1):
        why = f": {each.said}" if each.said else ""
        reads = f"{each.reads} " if each.reads != found.name else ""
        predicted = compact(each.predicted)
        lines.append(f"{place}. {each.cause.title}{why}; predicts {reads}{predicted}")
        seen = []
        for name, now, then in each.signature:
            ratio = float(then.value) / float(now.value)
            plain = [Result(one.symbol, one.value).plain(DIGITS) for one in (now, then)]
            change = "unchanged" if abs(ratio - 1) < ALIKE else f"{ratio:.2g} times {plain[0]}"
            seen.append(f"{name} {plain[1]} ({change})")
        lines += [f"   you would also see: {'; '.join(seen)}"] if seen else []
        lines.append(f"   check: {each.cause.check}")
    if hidden:
        lines.append(f"{hidden} more: --all shows them.")
    others = [each for each in found.explanations if everything and each not in shown]
    lines += ["", "Tried too, and not enough alone:"] * bool(others)
    for each in others:
        said = "; ".join(filter(None, [each.said, f"predicts {compact(each.predicted)}"]))
        lines.append(f"- {each.cause.title}: {said}")
    return "\n".join(lines)
