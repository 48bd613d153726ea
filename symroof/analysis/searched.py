"""The relation that a searched quantity solves: no formula gives its value, but one says which value it is."""

from symroof.cases.bound_case import BoundCase
from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.rewrite import substitute
from symroof.formula.tree import ONE, At, Compare, Name, Tree, names


def implicit(name: str, bound_case: BoundCase) -> Compare | None:
    """The relation in the quantity's own name: the fixed point it is the least of, or what the largest whole number meets; None for any other.

    >>> from symroof.analysis.study import Study
    >>> from symroof.formula.text import text
    >>> text(implicit("disaggregated_batch", Study().first))
    'disaggregated_batch = min(prefill_request_rate*response_steps*loaded_decode_time(batch = disaggregated_batch), batch)'
    >>> implicit("itl", Study().first) is None
    True
    """
    search = bound_case.case.search(name)
    if search is None:
        return None
    body, high = parse(search.body), parse(search.high)
    there = substitute(body, {inner: _at(inner, search.unknown, name, bound_case) for inner in names(body)})
    return Compare("=", there, ONE) if search.kind == "most" else Compare("=", Name(name), build.call("min", there, high))


def _at(inner: str, unknown: str, name: str, bound_case: BoundCase) -> Tree:
    """A name of the body where the unknown is the searched quantity."""
    if inner == unknown:
        return Name(name)
    return At(inner, ((unknown, Name(name)),)) if bound_case.case.theory.depends(inner, unknown) else Name(inner)
