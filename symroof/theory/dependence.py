"""Which names of a case depend on which inputs, and which are constants."""

from dataclasses import dataclass, field

from symroof.symbolic.expressions import changed_inputs, names
from symroof.symbolic.no_value import NoValue
from symroof.theory.case import Case


@dataclass(frozen=True)
class Dependence:
    """The dependences of one case, cached.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.theory.theory import theory
    >>> case = Case(theory(), {"peak_flops": parse("989.4 TFLOP/s"), "mem_bandwidth": parse("3.35 TB/s")})
    >>> dependence = Dependence(case)
    >>> dependence.moves("ridge_point", frozenset({"mem_bandwidth"})), dependence.moves("ridge_point", frozenset({"batch"}))
    (True, False)
    """

    case: Case
    _known: dict[tuple[str, frozenset[str]], frozenset[str]] = field(default_factory=dict)
    _mentioned: dict[tuple[str, frozenset[str]], tuple[str, ...]] = field(default_factory=dict)

    def moves(self, name: str, keys: frozenset[str], given: frozenset[str] | None = None) -> bool:
        """Whether a name depends on one of the changed ones here. The ``given`` names, by default the changed ones, have values
        from elsewhere, so those that are not changed depend on nothing."""
        given = given or keys
        if (name, given) not in self._known:
            reached, left = {name}, [name]
            while left:
                at = left.pop()
                new = () if at in given else set(self.mentioned(at, given)) - reached
                reached.update(new)
                left += new
            self._known[name, given] = frozenset(reached)
        return not keys.isdisjoint(self._known[name, given])

    def mentioned(self, name: str, keys: frozenset[str]) -> tuple[str, ...]:
        """The names that the value of a name directly depends on."""
        if (name, keys) not in self._mentioned:
            self._mentioned[name, keys] = self._found(name, keys)
        return self._mentioned[name, keys]

    def _found(self, name: str, keys: frozenset[str]) -> tuple[str, ...]:
        if search := self.case.search(name, keys):
            return (*search.required_names, *self.case.theory.own.quantity(name).required_names)  # type: ignore[union-attr]
        try:
            formula = self.case.formula(name, keys)
        except NoValue:
            return ()
        quantity = self.case.theory.own.quantity(name)
        return (
            *(inner for inner in names(formula) if inner != name),
            *(key for key in changed_inputs(formula) if key in keys),
            *(quantity.required_names if quantity else ()),
        )
