"""The factor between two products, where it moves with one name only: ``output/(output - 1)``, ``2*prompt/(prompt + 1)``.

>>> from symroof.formula.parse import parse
>>> from symroof.formula.text import text
>>> text(factor_of_one_name(parse("output*itl"), parse("(output - 1)*itl"), NormalForms()))
'output/(output - 1)'
"""

from __future__ import annotations

from symroof.formula import build, quotients
from symroof.formula.canonical_form import NormalForms, Quotient
from symroof.formula.polynomial import tree_of
from symroof.formula.tree import Tree, names


def factor_of_one_name(claimed: Tree, derived: Tree, forms: NormalForms) -> Tree | None:
    """Claimed over derived where it moves with one name only, such as ``output/(output - 1)``: factors that match are cancelled."""
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
    tree = _tidied(build.div(_product(left, 1, forms), _product(left, -1, forms)), forms)
    return tree if len(names(tree)) == 1 else None


def _factors(parts: list[Tree], forms: NormalForms) -> dict[str, tuple[Quotient, int]]:
    found: dict[str, tuple[Quotient, int]] = {}
    for part in parts:
        form = forms.of(part)
        found[form.key()] = (form, found.get(form.key(), (form, 0))[1] + 1)
    return found


def _tidied(tree: Tree, forms: NormalForms) -> Tree:
    """The formula as its form says it, shared factors above and below the bar gone."""
    return _tree(forms.of(tree), forms)


def _tree(form: Quotient, forms: NormalForms) -> Tree:
    return build.div(tree_of(form.over, forms.atoms), tree_of(form.under, forms.atoms))


def _product(parts: dict[str, tuple[Quotient, int]], sign: int, forms: NormalForms) -> Tree:
    return build.mul(
        build.number(1),
        *(build.power(_tree(form, forms), build.number(abs(times))) for form, times in parts.values() if times * sign > 0),
    )
