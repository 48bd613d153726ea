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
    _within: dict[tuple[frozenset[str], frozenset[str]], dict[str, bool]] = field(
        default_factory=dict
    )

    def moves(self, name: str, keys: frozenset[str], given: frozenset[str] | None = None) -> bool:
        """Whether a name depends on one of the changed ones here. The ``given`` names, by default the changed ones, have values
        from elsewhere, so those that are not changed depend on nothing."""
        if name in keys:
            return True
        within = self._within.setdefault((keys, given or keys), {})
        if name not in within:
            self._look(name, keys, given or keys, within)
        return within[name]

    def _look(
        self, name: str, keys: frozenset[str], given: frozenset[str], within: dict[str, bool]
    ) -> None:
        """Search the dependencies of a name for one of the keys; if there is none, no name visited depends on them either, circles included."""
        led_from: dict[str, str | None] = {name: None}
        left = [name] if name not in given else []
        while left:
            at = left.pop()
            for inner in self.mentioned(at, given):
                if inner in keys or within.get(inner):
                    on_the_way: str | None = at
                    while on_the_way is not None:
                        within[on_the_way], on_the_way = True, led_from[on_the_way]
                    return
                if inner not in led_from and inner not in within and inner not in given:
                    led_from[inner] = at
                    left.append(inner)
        within.update(dict.fromkeys(led_from, False))

    def mentioned(self, name: str, keys: frozenset[str]) -> tuple[str, ...]:
        """The names that the value of a name directly depends on."""
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
