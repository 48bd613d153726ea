"""The factor between two formulas that moves with one name only."""

from symroof.formula import build, quotients
from symroof.formula.canonical_form import NormalForms, Quotient
from symroof.formula.polynomial import tree_of
from symroof.formula.tree import Tree, names


def factor_of_one_name(claimed: Tree, derived: Tree, forms: NormalForms) -> Tree | None:
    """Claimed over derived where it moves with one name only, such as ``output/(output - 1)``: factors that match are cancelled.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(factor_of_one_name(parse("output*itl"), parse("(output - 1)*itl"), NormalForms()))
    'output/(output - 1)'
    """
    parts = [quotients.above_and_below(tree) for tree in (claimed, derived)]
    over = _factors([*parts[0][0], *parts[1][1]], forms)
    under = _factors([*parts[1][0], *parts[0][1]], forms)
    shared = [key for key in over if key in under]
    if not shared:
        return None
    above: dict[str, tuple[Quotient, int]] = {}
    for side, sign in ((over, 1), (under, -1)):
        for key, (form, times) in side.items():
            above[key] = (form, above.get(key, (form, 0))[1] + sign * times)
    left = {key: pair for key, pair in above.items() if pair[1]}
    tree = _tree(forms.of(build.div(_product(left, 1, forms), _product(left, -1, forms))), forms)  # shared factors cancel in its form
    return tree if len(names(tree)) == 1 else None


def _factors(parts: list[Tree], forms: NormalForms) -> dict[str, tuple[Quotient, int]]:
    """The factors by their form, each with how often it occurs."""
    counted: dict[str, tuple[Quotient, int]] = {}
    for part in parts:
        form = forms.of(part)
        counted[form.key()] = (form, counted.get(form.key(), (form, 0))[1] + 1)
    return counted


def _tree(form: Quotient, forms: NormalForms) -> Tree:
    return build.div(tree_of(form.over, forms.atoms), tree_of(form.under, forms.atoms))


def _product(parts: dict[str, tuple[Quotient, int]], sign: int, forms: NormalForms) -> Tree:
    return build.mul(
        build.number(1),
        *(build.power(_tree(form, forms), build.number(abs(times))) for form, times in parts.values() if times * sign > 0),
    )
