"""The results of a case: every quantity, input and counting choice, each worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symroof.cases.binding import Binding
from symroof.cases.given_formulas import without_value
from symroof.cases.quantity_result import DOES_NOT_FIT, NO_RANGE, NOT_EVERYWHERE, Input, NotWorkedOut, Result, Value, bare
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Compare, Largest, Name, Num, Tree
from symroof.theory.case import Case
from symroof.theory.declarations import Missing, Recall
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol, named

if TYPE_CHECKING:
    from symroof.cases.ranges import Ranges


@dataclass
class Answers(Recall):
    """The results of one bound case, each computed when first used.

    >>> from symroof.analysis.study import Study
    >>> answers = Study("llama-3-8b", "h100-sxm", prompt=4096).first
    >>> answers.result("kv_cache_bytes").text(), answers.get("queue_wait"), answers.why_unknown("queue_wait")
    ('536.9 MB', None, 'needs arrival_rate')
    >>> {name: entry.source for name, entry in answers.inputs(("prefill_tokens",)).items() if name in ("prompt", "cached_prefix")}
    {'prompt': 'given', 'cached_prefix': 'default'}
    """

    binding: Binding
    _memo: dict[str, Result] = field(default_factory=dict, compare=False)
    solved: dict[tuple[str, str | None], Any] = field(default_factory=dict, compare=False)
    rough: dict[tuple[str, ...], Any] = field(default_factory=dict, compare=False)
    """Differences of equations over some inputs, in floats."""
    crossed: dict[tuple[Tree | str, ...], tuple[tuple[Fraction, ...], ...]] = field(default_factory=dict, compare=False)
    """The crossings of solved equations at each corner of the ranges."""
    flips: dict[tuple[Any, ...], Any] = field(default_factory=dict, compare=False)
    """Where conditions change, by the inputs and conditions asked about."""
    moved: Case | None = None
    """The case where it is not the binding's own: a corner of its ranges."""
    spoken: dict[tuple[str, frozenset[str], bool, frozenset[str]], tuple[str, ...]] = field(default_factory=dict, compare=False)
    moves: dict[tuple[str, frozenset[str], bool, frozenset[str]], bool] = field(default_factory=dict, compare=False)
    opened: dict[tuple[Tree, str, frozenset[str], bool, frozenset[str], bool], Tree] = field(default_factory=dict, compare=False)
    elsewhere: dict[int, Answers] = field(default_factory=dict, compare=False)
    """The results in cases of other values, such as the corners of the ranges, by the identity of the case that they hold."""
    corner_of: Answers | None = field(default=None, compare=False)
    """The results within whose ranges the case is a corner."""
    at_context: dict[Fraction, Answers] = field(default_factory=dict, compare=False)
    """The case as requests at one context, shared by all that ask there."""
    signs: dict[Tree, int | None] = field(default_factory=dict, compare=False)
    """The signs of coefficients, where numbers or their shape show them."""
    _freed: dict[frozenset[str], Answers] = field(default_factory=dict, compare=False)
    in_sympy: Callable[[Tree], Any] | None = field(default=None, compare=False)
    """How formulas of this case become SymPy expressions; it remembers the parts that it has written."""

    def __hash__(self) -> int:
        return hash(self.binding)

    @cached_property
    def case(self) -> Case:
        """The definitions with the values of this case."""
        return self.moved or self.binding.case()

    def assumed(self, **switches: str) -> Answers:
        """The same case under other counting choices."""
        assumptions = self.binding.assumptions
        if assumptions.holds(tuple(switches.items())):
            return self
        return Answers(replace(self.binding, assumptions=assumptions.replaced(**switches)))

    def freed(self, names: Collection[str]) -> Answers:
        """The same case with the values of some names open: degrees of parallelism among them stay symbols of its formulas."""
        case = self.case.freed(names)
        if case is self.case:
            return self
        if case.free not in self._freed:
            self._freed[case.free] = Answers(self.binding, moved=case)
        return self._freed[case.free]

    @property
    def targets(self) -> dict[str, Fraction]:
        """The limits of this case by metric."""
        return {name: self.set_to(symbol) for name, symbol in TARGET_SYMBOLS.items() if symbol in self.case.given}

    def set_to(self, name: str) -> Fraction:
        """The value that a name is set to.

        Raises:
            InputError: it is a formula that has none here.
        """
        try:
            value: Fraction = self.case.value(name)
        except NoValue as error:
            raise without_value(name, self.binding.given[name], error) from None
        return value

    @cached_property
    def box(self) -> dict[str, tuple[Fraction, Fraction]]:
        """The ends of the inputs that are ranges."""
        return self.binding.box()

    @cached_property
    def ranges(self) -> Ranges:
        """The bounds of quantities over the ranges of the inputs."""
        from symroof.cases.ranges import Ranges  # NumPy is loaded for the first range

        return Ranges(self.case, self.box, self.binding.measured_corners(), self.binding.searched, self.known)

    @cached_property
    def corners(self) -> tuple[Case, ...]:
        """The case at every corner of its ranges; empty where no input is a range."""
        return tuple(map(self.case.changed, self.binding.corners()))

    @property
    def standing(self) -> str:
        """Where values stand within their ranges, in words."""
        measured = self.binding.measured_box()
        if measured and measured == self.binding.box():
            return "at the expected values"
        return "at the middle of the ranges" + (" and the expected efficiencies" if measured else "")

    @cached_property
    def roof(self) -> Answers | None:
        """The same case with every efficiency at the peak; None where it stands there."""
        peak = self.binding.at_peak()
        return Answers(peak) if peak else None

    @cached_property
    def slow_end(self) -> Answers:
        """The same case with every efficiency at the slow end of its range; the case itself where none is a range, or something else is one too."""
        slow = None if self.moved else self.binding.paced(fast=False)
        return Answers(slow) if slow else self

    def bound(self, name: str) -> Result | None:
        """A latency, rate or cost with every efficiency at the peak, which none can beat; None of anything else, or where it stands there.

        >>> from symroof.analysis.study import Study
        >>> answers = Study("llama-3-8b", "h100-sxm", prompt=4096, efficiency="measured").first
        >>> answers.result("itl").text(), answers.bound("itl").text(), answers.bound("weight_bytes")
        ('8.358 ms (6.669 to 10.48 ms)', '4.642 ms', None)
        """
        if self.roof is None or not self.case.theory.timed(name) or isinstance(self.case.given.get(name), Num):
            return None
        bound = self.roof.get(name)
        own = self.get(name) if bound and bound.symbol.unit == "s" else None
        if bound and own and Fraction(bound.value) > Fraction(own.value):
            return None  # a faster prefill on devices of its own keeps more requests decoding, and so their steps longer: the peak bounds nothing
        return bound

    @cached_property
    def fits(self) -> Result | None:
        """Whether the case fits memory; None where it is not known."""
        try:
            return self._unflagged("fits")
        except NoValue:
            return None

    @property
    def does_not_fit(self) -> bool:
        """Whether it fails to fit anywhere in the ranges."""
        return self.fits is not None and (self.fits.value is False or False in self.fits.possible)

    @property
    def never_fits(self) -> bool:
        """Whether it fails to fit everywhere in the ranges."""
        return self.fits is not None and self.fits.value is False and True not in self.fits.possible

    def result(self, name: str) -> Result:
        """A quantity with range and flags.

        Raises:
            Missing: an input it needs has no value.
            NoValue: it has no value here.
        """
        if name not in self._memo:
            result = self._unflagged(name)
            if self.does_not_fit and self.case.theory.timed(name) and not isinstance(self.case.given.get(name), Num):
                result = replace(result, flags=(DOES_NOT_FIT, *result.flags))
            self._memo[name] = result
        return self._memo[name]

    def get(self, name: str) -> Result | None:
        """A quantity, or None where it has no value."""
        try:
            return self.result(name)
        except NoValue:
            return None

    def bound_text(self, name: str, flagged: bool = False) -> str:
        """The bound as a cell of a table, with its flags where nothing else in the row has them; empty where there is none."""
        bound = self.bound(name)
        return "" if bound is None else bound.text() if flagged else bound.plain()

    def decided_json(self, name: str) -> dict[str, Any]:
        """A quantity for programs with its bound at 100 % of peak beside it, where it is another."""
        bound = self.bound(name)
        return self.result(name).as_json() | ({"bound": bare(bound.value)} if bound else {})

    def _unflagged(self, name: str) -> Result:
        symbol = self.case.theory.symbol(name)
        value = self.case.value(name)
        if not self.box:
            return Result(symbol, value)
        try:
            return self._over_ranges(name, symbol, value)
        except NoValue as error:
            return Result(symbol, value, flags=(_without_range(error),))

    def at_corners(self, name: str) -> tuple[Fraction, Fraction]:
        """The least and the largest value of a number in the case and at the corners of its ranges.

        Raises:
            NoValue: it has none at one of them.
        """
        values = [Fraction(case.value(name)) for case in (self.case, *self.corners)]
        return min(values), max(values)

    def _over_ranges(self, name: str, symbol: Symbol, value: Value) -> Result:
        formula = Name(name) if self.case.search(name) else self.case.formula(name)
        if isinstance(formula, Compare):
            truths = self.ranges.truths(formula)
            return Result(symbol, value, possible=truths if len(truths) > 1 else ())
        if isinstance(formula, Largest):
            return Result(symbol, value, possible=self.ranges.labels(name))
        found = self.ranges.bounds(name)
        return Result(symbol, value, found.low, found.high, found=found.found)

    def formula(self, tree: Tree, symbol: Symbol, timed: bool) -> Result:
        """The value of a formula that has no name, with range and flags."""
        value = self.case.evaluate(tree)
        flags = (DOES_NOT_FIT,) if timed and self.does_not_fit else ()
        if not self.box:
            return Result(symbol, value, flags=flags)
        try:
            found = self.ranges.bounds(named(tree))
        except NoValue as error:
            return Result(symbol, value, flags=(*flags, _without_range(error)))
        return Result(symbol, value, found.low, found.high, flags=flags, found=found.found)

    @property
    def apart(self) -> bool:
        """Whether the case is of a theory of the user's own alone, without a model or a device."""
        binding = self.binding
        return bool(self.case.theory.own.inputs) and binding.model is None and binding.hardware is None

    @property
    def declared(self) -> tuple[str, ...]:
        """The quantities that the case is about, in declared order: those of a theory of one's own alone, or else all."""
        own = tuple(quantity.name for quantity in self.case.theory.own.quantities)
        return own if self.apart else (*QUANTITIES, *own)

    def quantities(self) -> dict[str, Result]:
        """Every quantity that has a value here, in declared order."""
        if self.box:
            self.ranges.prepare(self.known())
        return {name: self.result(name) for name in self.known()}

    def known(self) -> tuple[str, ...]:
        """Every quantity that has a value here, in declared order."""
        return self._known

    @cached_property
    def _known(self) -> tuple[str, ...]:
        return tuple(filter(self.case.known, dict.fromkeys((*self.declared, *(() if self.apart else self.case.theory.definitions)))))

    def unknown(self) -> dict[str, str]:
        """Every quantity without a value, and why."""
        return {name: why for name in self.declared if (why := self.why_unknown(name))}

    def why_unknown(self, name: str) -> str:
        """Why a quantity has no value; empty where it has one."""
        try:
            self.case.value(name)
        except NoValue as error:
            return str(error)
        return ""

    def inputs(self, quantities: tuple[str, ...] | None = None, everything: bool = True) -> dict[str, Input]:
        """The inputs behind some quantities (by default all that have a value), with source and whether defaulted.

        With ``everything``, also the values set in the case that none of them uses.
        """
        given = self.case.given
        used = [name for name in self.case.used(*(quantities or self.quantities())) if name in given or self.case.default(name) is not None]
        unused = [name for name in self.binding.given if name in given] if everything else []
        return {name: self._input(name) for name in dict.fromkeys((*used, *unused))}

    def ledger(self, quantities: tuple[str, ...] | None = None, everything: bool = True) -> dict[str, Any]:
        """The inputs of :meth:`inputs` and every switch with its value, in the form of the JSON output."""
        inputs, assumptions = self.inputs(quantities, everything), self.binding.assumptions
        return {
            "inputs": {name: {**i.result.as_json(), "source": i.source, "defaulted": i.defaulted} for name, i in inputs.items()},
            "assumptions": {switch: {"value": value, "defaulted": assumptions.defaulted(switch)} for switch, value in self.switches},
        }

    @property
    def switches(self) -> tuple[tuple[str, str], ...]:
        """Every counting choice with its value; a theory of one's own alone has none."""
        return () if self.apart else self.binding.assumptions.values

    def _input(self, name: str) -> Input:
        symbol = self.case.theory.symbol(name)
        setting = self.binding.given.get(name)
        if setting is None:
            default = self.case.default(name)
            if default is None:
                raise Missing(name)
            return Input(Result(symbol, default.value), "default", True)
        value, box = self.set_to(name), self.box
        moving = box and name not in box and not isinstance(setting.setting, Num)  # a formula of what is ranged
        result = self.result(name) if moving else Result(symbol, value, *(box.get(name) or (None, None)))
        return Input(result, setting.source, setting.defaulted)


def _without_range(error: NoValue) -> str:
    return NO_RANGE if isinstance(error, NotWorkedOut) else NOT_EVERYWHERE
