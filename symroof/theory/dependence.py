"""Which names of a case move with which inputs: which have to be functions of them, and which are numbers."""

import sys
from dataclasses import dataclass, field

from symroof.formula.evaluate import NoValue
from symroof.formula.tree import changed_inputs, names
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES

INNERMOST = sys.maxsize
"""A place inside of no circle."""


@dataclass(frozen=True)
class Dependence:
    """The dependences of one case, each looked up once.

    >>> from symroof.formula.parse import parse
    >>> from symroof.theory.theory import theory
    >>> case = Case(theory(), {"peak_flops": parse("989.4 TFLOP/s"), "mem_bandwidth": parse("3.35 TB/s")})
    >>> dependence = Dependence(case)
    >>> dependence.moves("ridge_point", frozenset({"mem_bandwidth"})), dependence.moves("ridge_point", frozenset({"batch"}))
    (True, False)
    """

    case: Case
    _moves: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict)
    _open: dict[tuple[str, frozenset[str]], int] = field(default_factory=dict)
    _doubtful: dict[tuple[str, frozenset[str]], int] = field(default_factory=dict)
    """Names that do not move as far as a circle that is still open shows, and its outermost place."""

    def moves(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a name depends on one of the changed ones here."""
        return self._reaches(name, keys)[0]

    def _reaches(self, name: str, keys: frozenset[str]) -> tuple[bool, int]:
        """Whether a name leads to one of the keys, and the outermost place of a circle that a no leans on: the no holds where that circle has none."""
        if name in keys:
            return True, INNERMOST
        if (name, keys) in self._moves:
            return self._moves[name, keys], self._doubtful.get((name, keys), INNERMOST)
        if (name, keys) in self._open:
            return False, self._open[name, keys]
        depth, before, leans = len(self._open), len(self._doubtful), INNERMOST
        self._open[name, keys] = depth
        for inner in self.mentioned(name, keys):
            moves, place = self._reaches(inner, keys)
            leans = min(leans, place)
            if moves:
                break
        else:
            moves = False
        del self._open[name, keys]
        self._moves[name, keys] = moves
        if not moves and leans < depth:
            self._doubtful[name, keys] = leans
            return False, leans
        for doubtful in list(self._doubtful)[before:]:  # the circle is closed: without a key in it they hold, and else they are asked again
            del self._doubtful[doubtful]
            if moves:
                del self._moves[doubtful]
        return moves, INNERMOST

    def mentioned(self, name: str, keys: frozenset[str]) -> tuple[str, ...]:
        """The names that the value of a name is worked out from."""
        if search := self.case.search(name, keys):
            return (*search.demands, *QUANTITIES[name].demands)
        try:
            formula = self.case.formula(name, keys)
        except NoValue:
            return ()
        quantity = QUANTITIES.get(name)
        return (
            *(inner for inner in names(formula) if inner != name),
            *(key for key in changed_inputs(formula) if key in keys),
            *(quantity.demands if quantity else ()),
        )
