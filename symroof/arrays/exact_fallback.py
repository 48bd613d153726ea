"""Where floats cannot decide, the exact value does: roundings next to whole numbers, comparisons of values that are all but equal."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from symroof.arrays.graph import Form, Graph
from symroof.arrays.values import Values, exact
from symroof.formula.evaluate import RELATIONS, NoValue, written

DOUBT = 512 * float(np.finfo(float).eps)
"""The share of the magnitude of its terms by which a sum of floats may be off here: they have a few dozen operations at most."""

ROUNDINGS = ("ceil", "floor")
SUMS = ("form", "max", "min")
"""Operations that are as far off as the terms of the polynomials inside them."""


def magnitude(form: Form, sizes: Callable[[str, bool], float]) -> float:
    """How large the terms of a polynomial get: what its floats may be off is a share of that. ``sizes`` tells the largest
    (with True the least) absolute value of a name."""
    total = 0.0
    for monomial, coefficient in form:
        term = abs(float(coefficient))
        for name, exponent in monomial:
            term *= sizes(name, exponent < 0) ** exponent
        total += term
    return total


def size(x: Any, least: bool) -> float:
    """The largest absolute value, or the least that is not zero; 1 where there is none."""
    sizes = np.abs(x)
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)] if isinstance(sizes, np.ndarray) else np.array([sizes] if sizes else [])
    return 1.0 if not sizes.size else float(sizes.min() if least else sizes.max())


def whole_terms(graph: Graph, form: Form, values: Callable[[str], Any]) -> bool:
    """Whether a polynomial of these values has no rounding at all, wherever they stand."""
    return _of_whole_names(graph, form, values) and magnitude(form, lambda name, least: size(values(name), least)) * _parts(form) < WHOLE_IN_FLOATS


WHOLE_IN_FLOATS = 2**52
"""Below it floats hold every whole number, and sums of such lose nothing."""


def _of_whole_names(graph: Graph, form: Form, values: Callable[[str], Any]) -> bool:
    """Whether a polynomial has whole names, coefficients over a power of two and no quotients: without rounding while it is not too large."""
    powers = [power for monomial, _ in form for power in monomial]
    if any(exponent < 0 for _, exponent in powers) or any(c.denominator.bit_count() != 1 for _, c in form):
        return False
    return all(_exactly_whole(graph, name, values) for name in {name: None for name, _ in powers})


def _parts(form: Form) -> int:
    """Into how many parts the coefficients of such a polynomial cut a whole."""
    return max((c.denominator for _, c in form), default=1)


def _exactly_whole(graph: Graph, name: str, values: Callable[[str], Any]) -> bool:
    """Whether a name has whole values that no float is off: an input, what is rounded, and maxima and sums of such."""
    operation = graph.operations.get(name)
    if operation is None:
        return bool(np.all(values(name) == np.rint(values(name))))
    if operation.kind in ROUNDINGS:  # exact once it is mended
        return True
    whole = operation.kind in SUMS and all(c.denominator == 1 for arg in operation.args for _, c in arg)
    return whole and all(whole_terms(graph, arg, values) for arg in operation.args)


def _one_beside_whole(graph: Graph, form: Form, values: Callable[[str], Any]) -> tuple[Any, Any] | None:
    """A polynomial as two numbers without rounding, one a power of two of an input of any value, so that its sum is whole only where the input
    is: ``prompt/8 + (step - 1)/8``. None where it is anything else."""
    others = [term for term in form if any(not _exactly_whole(graph, name, values) or size(values(name), False) > 2**40 for name, _ in term[0])]
    if len(others) != 1:
        return None
    ((((name, exponent), *product), coefficient),) = others
    rest = Form(term for term in form if term not in others)
    plain = exponent == 1 and not product and name not in graph.operations and abs(coefficient.numerator) == 1 and coefficient.denominator.bit_count() == 1
    if not plain or any((c / coefficient).denominator != 1 for _, c in rest) or not whole_terms(graph, rest, values):
        return None
    total: Any = 0.0
    for monomial, c in rest:
        total = total + reduce(lambda a, b: a * b, (values(inner) ** power for inner, power in monomial), float(c))
    return values(name) * float(coefficient), total


def rounded_sum(a: Any, b: Any, up: bool) -> Any:
    """The sum of two numbers rounded to whole ones as if no float had come in between (Knuth's exact error of an addition).

    >>> float(rounded_sum(np.float64(2.0**60), np.float64(-0.125), up=False)) == 2.0**60 - 1, float(rounded_sum(np.float64(0.5), np.float64(2.0), up=True))
    (True, 3.0)
    """
    with np.errstate(invalid="ignore"):  # what is infinite stays so
        total = a + b
        other = total - a
        error = (a - (total - other)) + (b - other)
    whole = total == np.rint(total)
    return np.ceil(total) + (whole & (error > 0)) if up else np.floor(total) - (whole & (error < 0))


def mend(values: Values, name: str, result: Any, spend: Callable[[], None] | None = None) -> Any:
    """The value of a rounding or relation over arrays, put right where it is in doubt; any other operation as it is.

    ``spend`` is called for every operation that is worked out exactly, and may end that.
    """
    operation = values.graph.operations[name]
    if operation.kind not in ROUNDINGS and operation.kind not in RELATIONS:
        return result
    form = operation.args[0]
    if whole_terms(values.graph, form, values.name):
        return result
    if operation.kind in ROUNDINGS and (terms := _one_beside_whole(values.graph, form, values.name)):
        return rounded_sum(*terms, up=operation.kind == "ceil")
    off = DOUBT * magnitude(form, lambda inner, least: _size_of(values, inner, least))
    argument = values.form(form)
    doubt = np.abs(argument - (np.rint(argument) if operation.kind in ROUNDINGS else 0.0)) <= off  # this close to a whole number, or to equality
    if np.any(doubt) and (arms := _beside_whole(values, form)):  # a minimum that is its whole number, and nothing else comes near it
        doubt &= np.any(np.broadcast_arrays(*(np.abs(arm - argument) <= DOUBT * np.abs(argument) + off for arm in arms)), axis=0)
    if np.any(doubt):  # the largest terms of all places are a quick first look; places far from them are off by less, or by nothing
        magnitudes = _magnitudes(values, form)
        doubt &= np.abs(argument - (np.rint(argument) if operation.kind in ROUNDINGS else 0.0)) <= DOUBT * magnitudes
        if _of_whole_names(values.graph, form, values.name):
            doubt &= magnitudes * _parts(form) >= WHOLE_IN_FLOATS
    if not np.any(doubt):
        return result
    mended = np.array(result)
    view = np.atleast_1d(mended)  # also of a number that no array moves, such as the index of a sum
    settle(view, doubt, sorted(values.graph.reach(name)), values.point, lambda point: exact(values.graph, point, spend).name(name))
    return mended


def _size_of(values: Values, name: str, least: bool) -> float:
    """The size of a name over all places: of a sum that stands under it that of its terms, which may cancel."""
    if (name, least) not in values.sizes:
        operation = values.graph.operations.get(name)
        if least or operation is None or operation.kind not in SUMS:
            values.sizes[name, least] = size(values.name(name), least)
        else:
            values.sizes[name, least] = max(magnitude(arg, lambda inner, smallest: _size_of(values, inner, smallest)) for arg in operation.args)
    return values.sizes[name, least]


def _magnitudes(values: Values, form: Form) -> Any:
    """How large the terms of a polynomial get in each place, those of the polynomials inside it that it takes as one name among them."""
    total: Any = 0.0
    for monomial, coefficient in form:
        term: Any = abs(float(coefficient))
        for name, exponent in monomial:
            term = term * (_magnitude_of(values, name) if exponent > 0 else np.abs(values.name(name))) ** exponent
        total = total + term
    return total


def _magnitude_of(values: Values, name: str) -> Any:
    """The magnitude of a name: of a sum that stands under it that of its terms, which may cancel."""
    operation = values.graph.operations.get(name)
    if operation is None or operation.kind not in SUMS:
        return np.abs(values.name(name))
    return reduce(np.maximum, [_magnitudes(values, arg) for arg in operation.args])


def _beside_whole(values: Values, form: Form) -> list[Any]:
    """Of a maximum or minimum of whole numbers and other arms, those others; none where a form is anything else."""
    if len(form) != 1 or form[0][1] != 1 or len(form[0][0]) != 1 or form[0][0][0][1] != 1:
        return []
    operation = values.graph.operations.get(form[0][0][0][0])
    if operation is None or operation.kind not in ("max", "min"):
        return []
    return [values.form(arm) for arm in operation.args if any(monomial for monomial, _ in arm) or any(c.denominator != 1 for _, c in arm)]


def settle(
    result: Any, doubt: Any, inputs: Sequence[str], arrays: Mapping[str, Any], value: Callable[[dict[str, Fraction]], Any], none: float = np.nan
) -> None:
    """Put the exact value in every doubtful place; each different point of the inputs is worked out once.

    ``none`` is put where a point has no value.
    """
    places = np.nonzero(np.broadcast_to(doubt, result.shape))
    columns = np.array([np.broadcast_to(arrays[key], result.shape)[places] for key in inputs], dtype=float).reshape(len(inputs), len(places[0]))
    rows, back = np.unique(columns, axis=1, return_inverse=True)
    settled = np.array([_or_none(value, dict(zip(inputs, map(float, row), strict=True)), none) for row in rows.T])
    result[places] = settled.astype(result.dtype)[back.reshape(-1)]


def _or_none(value: Callable[[dict[str, Fraction]], Any], point: Mapping[str, float], none: float) -> float:
    try:
        return float(value({key: written(x) for key, x in point.items()}))
    except (NoValue, ValueError, OverflowError):  # a point that is no number has no value either
        return none


@lru_cache(maxsize=1024)
def in_floats(value: Fraction) -> bool:
    """Whether the decimal that a float is written as is just this value.

    >>> in_floats(Fraction(7, 10)), in_floats(Fraction(1, 3))
    (True, False)
    """
    return written(float(value)) == value
