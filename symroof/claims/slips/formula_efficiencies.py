"""What has a free parameter in a formula: an efficiency that makes it equal, a fixed cost added to it. Only ever suggested.

A plain number can be read as a share of the peak wherever the formula has one, so these explain little.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symroof.claims.formula_sides import Level
from symroof.claims.slips.coincidence import chance
from symroof.claims.slips.context import spoken
from symroof.claims.slips.explanation import Explanation
from symroof.claims.slips.free_parameters import EFFICIENCIES, LEAST, MOST
from symroof.formula import build
from symroof.formula.compare import same
from symroof.formula.comparison import Comparison
from symroof.formula.rewrite import substitute
from symroof.formula.text import text
from symroof.formula.tree import Num
from symroof.units import format_quantity, significant


def shares(level: Level) -> tuple[Explanation, ...]:
    """An efficiency or a fixed cost with which a formula is the one derived.

    >>> from symroof.claims.formula_sides import Sides
    >>> from symroof.specs.claims import ClaimSpec
    >>> sides = Sides(ClaimSpec(id="t", quantity="prefill_compute_time", formula="2*prefill_flops/peak_flops"), {})
    >>> [found.text for found in shares(Level("", sides, sides.compared()))]
    ['equal at mfu 0.5: that share of the peak is reached']
    """
    return (*_efficiencies(level), *_fixed_costs(level))


def _efficiencies(level: Level) -> Iterator[Explanation]:
    sides = level.sides
    hangs_on = spoken(sides.answers.case, sides.asked)
    kept = sides.depths[-1]
    claimed = sides.opened(sides.claimed, kept)
    for name, meaning in EFFICIENCIES:
        for share in _candidates(level.own) if name in hangs_on else ():
            made = substitute(sides.expanded(sides.derived, kept), {name: Num(share)})
            if same(claimed, sides.opened(made, kept)):
                by_chance = chance(float(share), 1.0, [(float(LEAST), float(MOST))])
                where = f", at {level.says}" if level.says else ""
                yield Explanation(
                    "hidden_efficiency", False, text(made), by_chance, f"equal at {name} {significant(share, 3)}{where}: that share {meaning} is reached"
                )
                break


def _candidates(found: Comparison) -> list[Fraction]:
    """The shares that plain numbers between the formulas, or between arms of them, may be; and that none is reached but all."""
    ratios = [found.ratio, *(arm.comparison.ratio for arm in found.arms if arm.comparison)]
    both = [share for ratio in ratios if ratio and ratio > 0 for share in (ratio, 1 / ratio)]
    return [share for share in dict.fromkeys(both) if LEAST <= share < MOST] + [MOST]


def _fixed_costs(level: Level) -> Iterator[Explanation]:
    """A plain time added."""
    terms = level.own.terms
    if level.sides.unit != "s" or len(terms) != 1 or terms[0].derived or terms[0].under or terms[0].claimed <= 0:
        return
    added = build.mul(build.number(terms[0].claimed), terms[0].product)
    if isinstance(added, Num):
        says = f"{format_quantity(added.value, 's', 3)} more than derived: a fixed cost of that length"
        yield Explanation("hidden_overhead", False, text(level.sides.claimed), 1.0, says)
