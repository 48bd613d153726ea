"""A bound case: every input of one combination with its value and source, and every result, computed when first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

from symroof.cases.case_inputs import EFFICIENCIES, PRICE, CaseInputs, LoadedSpec
from symroof.cases.checks import check_together, without_value
from symroof.cases.input import AT_PEAK, Input, slow_first
from symroof.cases.measured_efficiencies import kind_of
from symroof.cases.quantity_result import (
    DOES_NOT_FIT,
    NO_RANGE,
    NOT_EVERYWHERE,
    RangeNotFound,
    Result,
    plain_value,
)
from symroof.specs.efficiencies import shipped_efficiencies
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    Expr,
    is_label,
    is_number,
    is_relation,
    number,
    symbol,
)
from symroof.theory.case import Case
from symroof.theory.declarations import DropsCaches, MissingInput
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol, named

T = TypeVar("T")

EXPECTED, BOUND, GIVEN = "expected", "bound", "given"
"""What a time, rate or cost rests on."""


@dataclass
class BoundCase(CaseInputs, DropsCaches):
    """One combination of a model, a device and values under assumptions: its inputs with their sources, and its results.

    >>> from symroof.analysis.study import Study
    >>> bound_case = Study("llama-3-8b", "h100-sxm", prompt=4096).first
    >>> bound_case.result("kv_cache_bytes").text(), bound_case.get("queue_wait"), bound_case.why_unknown("queue_wait")
    ('536.9 MB', None, 'needs arrival_rate')
    >>> {name: entry.source for name, entry in bound_case.inputs(("prefill_tokens",)).items() if name in ("prompt", "cached_prefix")}
    {'prompt': 'given', 'cached_prefix': 'default'}

    Attributes:
        varied: the values by which it differs from the other cases of its study, as text.
        specs: what the specs alone give, which cases on the same specs share.
    """

    documents: tuple[Document, ...] = ()
    varied: tuple[tuple[str, str], ...] = ()
    several_models: bool = False
    chosen_draft: LoadedSpec[ModelSpec] = field(default_factory=LoadedSpec)
    prefill_case: BoundCase | None = field(default=None, compare=False)
    specs: CaseInputs | None = field(default=None, repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        chosen = (self.chosen_model, self.chosen_device, self.chosen_draft, self.assumptions)
        shown = (self.warnings, self.varied, self.several_models, self.search_inside)
        return hash((chosen, shown, self.compute, self.request))

    # ------------------------------------------------------------------------------------------------ the case, and others like it

    def at(self, case: Case) -> BoundCase:
        """The same inputs with the results at other values."""
        return replace(self, changed_case=case)

    def with_changes(self, **fields: Any) -> BoundCase:
        """The case, at the values given, with some fields replaced."""
        return replace(self, changed_case=None, **fields)

    def with_switches(self, **switches: str) -> BoundCase:
        """The same case under other counting choices."""
        if self.assumptions.holds(tuple(switches.items())):
            return self
        return self.with_changes(assumptions=self.assumptions.replaced(**switches))

    def without_values(self, names: Collection[str]) -> BoundCase:
        """The same case with some names left symbolic: degrees of parallelism among them stay symbols of its formulas."""
        case = self.case.without_values(names)
        if case is self.case:
            return self
        return self.once(("without", case.free), partial(self.at, case))

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """What was made of this case under a key: a result, a solution, formulas; made when it is first asked for."""
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found

    def check(self, values: Mapping[str, Any], source: str) -> None:
        """Check that a request may have these values together with those of the case.

        Raises:
            InputError: parallel degrees that the model does not allow, a cached prefix longer than its prompt.
        """
        new = {name: Input(number(value), source) for name, value in values.items()}
        check_together(self.given | new)

    # ------------------------------------------------------------------------------------------------ ranges

    def between_corners(self) -> BoundCase:
        """The same case with ranges evaluated at their corners where more than efficiencies are ranges: to search each takes too long for many cases."""
        return self if self.box.keys() <= EFFICIENCIES else self.with_changes(search_inside=False)

    @cached_property
    def at_peak(self) -> BoundCase | None:
        """The same case with every efficiency at 100 % of peak; None where it already is."""
        efficiencies = {name for name, own in self.given.items() if own.measured} | AT_PEAK.keys()
        given = {name: own for name, own in self.given.items() if name not in efficiencies}
        return None if given.keys() == self.given.keys() else self.with_changes(given=given)

    @cached_property
    def basis(self) -> str:
        """What its times, rates and costs rest on: ``expected`` by measurements, ``bound`` at 100 % of peak, or ``given`` efficiencies.

        >>> from symroof.analysis.study import Study
        >>> [Study("llama-3-8b", "h100-sxm", prompt=4096, **way).first.basis for way in ({}, {"efficiency": "peak"}, {"mbu": 0.8})]
        ['expected', 'bound', 'given']
        """
        if any(value.measured for value in self.given.values()):
            return EXPECTED
        case = self.case
        at_peak = all(
            name not in case.given or (case.has_value(name) and case.value(name) == peak)
            for name, peak in AT_PEAK.items()
        )
        return BOUND if at_peak else GIVEN

    @cached_property
    def beyond_measurements(self) -> str:
        """In words, that nothing like this case was measured; empty where something was, or nothing is expected by measurements."""
        measured = any(value.measured for value in self.given.values())
        if self.hardware is None or self.engine is None or not measured:
            return ""
        return shipped_efficiencies().beyond(kind_of(self, self.hardware, self.engine_class))

    @cached_property
    def slow_end(self) -> BoundCase:
        """The same case with every efficiency at the slow end of its range; the case itself where none is a range, or something else is one too."""
        if self.changed_case or not self.box or not self.box.keys() <= EFFICIENCIES:
            return self
        given = dict(self.given)
        for name, span in self.box.items():
            given[name] = replace(given[name], setting=number(slow_first(span, name)[0]))
        return self.with_changes(given=given)

    # ------------------------------------------------------------------------------------------------ results

    @property
    def targets(self) -> dict[str, Any]:
        """The limits of this case by metric."""
        return {
            name: self.number(symbol)
            for name, symbol in TARGET_SYMBOLS.items()
            if symbol in self.case.given
        }

    def number(self, name: str) -> Any:
        """The value that a name is set to.

        Raises:
            InputError: it is a formula that has none here.
        """
        try:
            return float(self.case.value(name))
        except NoValue as error:
            raise without_value(name, self.given[name], error) from None

    def _is_derived_time(self, name: str) -> bool:
        """Whether a name is a latency, rate or cost that is worked out here."""
        return self.case.theory.timed(name) and not is_number(self.case.given.get(name))

    def peak_bound(self, name: str) -> Result | None:
        """A latency, rate or cost with every efficiency at 100 % of peak, which none can beat; None of anything else, or where it is already there.

        >>> from symroof.analysis.study import Study
        >>> bound_case = Study("llama-3-8b", "h100-sxm", prompt=4096).first
        >>> bound_case.result("itl").text(), bound_case.peak_bound("itl").text(), bound_case.peak_bound("weight_bytes")
        ('8.368 ms (6.362 to 12.88 ms)', '4.642 ms', None)
        """
        if self.at_peak is None or not self._is_derived_time(name):
            return None
        bound = self.at_peak.get(name)
        own = self.get(name) if bound and bound.symbol.unit == "s" else None
        # a faster prefill on devices of its own keeps more requests decoding, and so their steps longer: the peak then bounds nothing
        return None if bound and own and bound.value > own.value else bound

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
            MissingInput: an input it needs has no value.
            NoValue: it has no value here.
        """
        return self.once(("result", name), partial(self._result, name))

    def _result(self, name: str) -> Result:
        result = self._unflagged(name)
        if not self.case.theory.timed(name):
            return result
        derived = self._is_derived_time(name)
        flags = (DOES_NOT_FIT,) if self.does_not_fit and derived else ()
        basis = self.basis if derived else GIVEN
        return replace(result, flags=(*flags, *result.flags), basis=basis)

    def get(self, name: str) -> Result | None:
        """A quantity, or None where it has no value."""
        try:
            return self.result(name)
        except NoValue:
            return None

    def peak_bound_text(self, name: str, flagged: bool = False) -> str:
        """The bound as a cell of a table, with its flags where nothing else in the row has them; empty where there is none."""
        bound = self.peak_bound(name)
        if bound is None:
            return ""
        return bound.text() if flagged else bound.plain()

    def json_with_bound(self, name: str) -> dict[str, Any]:
        """A quantity for programs with its bound at 100 % of peak, where that differs."""
        bound = self.peak_bound(name)
        return self.result(name).as_json() | ({"bound": plain_value(bound.value)} if bound else {})

    def _unflagged(self, name: str) -> Result:
        return self._over_ranges(name, Result(self.case.theory.symbol(name), self.case.value(name)))

    def formula(self, tree: Expr, symbol: Symbol, timed: bool) -> Result:
        """The value of a formula that has no name, with range and flags."""
        flags = (DOES_NOT_FIT,) if timed and self.does_not_fit else ()
        return self._over_ranges(named(tree), Result(symbol, self.case.evaluate(tree), flags=flags))

    def _over_ranges(self, name: str, result: Result) -> Result:
        """A value with all that it can be over the ranges and the list prices, or the flag of why that is not known."""
        if not self.box and not self.priced(name):
            return result
        try:
            formula = symbol(name) if self.case.search(name) else self.case.formula(name)
            if is_relation(formula):
                truths = self.ranges.truths(formula)
                return replace(result, possible=truths if len(truths) > 1 else ())
            if is_label(formula):
                return replace(result, possible=self.ranges.labels(name))
            return self._over_prices(name, result)
        except NoValue as error:
            flag = NO_RANGE if isinstance(error, RangeNotFound) else NOT_EVERYWHERE
            return replace(result, flags=(*result.flags, flag))

    def _over_prices(self, name: str, result: Result) -> Result:
        """A number with its extremes over the ranges and the list prices. What the extremes are in the ranges does not depend on the price, since a cost is in
        proportion to it."""
        found = self.ranges.bounds(name)
        result = replace(result, low=found.low, high=found.high, found=found.found)
        if not self.priced(name):
            return result
        ends = [found.low, found.high]
        for place in (found.lowest, found.highest):
            there = self.ranges.at(place)
            ends += [float(there.changed({PRICE: price}).value(name)) for price in self.list_prices]
        return replace(result, low=min(ends), high=max(ends), at_median=(found.low, found.high))

    def quantities(self) -> dict[str, Result]:
        """Every quantity that has a value here, in declared order."""
        return {name: self.result(name) for name in self.known}

    def unknown(self) -> dict[str, str]:
        """Every quantity without a value, and why."""
        return {name: why for name in self.quantity_names if (why := self.why_unknown(name))}

    def chosen(self, name: str) -> bool:
        """Whether an input is given; what an engine decides where nobody does is not."""
        own = self.given.get(name)
        return own is not None and not own.defaulted

    def why_unknown(self, name: str) -> str:
        """Why a quantity has no value; empty where it has one."""
        try:
            self.case.value(name)
        except NoValue as error:
            return str(error)
        return ""

    def inputs(
        self, quantities: tuple[str, ...] | None = None, everything: bool = True
    ) -> dict[str, Result]:
        """The inputs behind some quantities (by default all that have a value), with source and whether defaulted.

        With ``everything``, also the values set in the case that none of them uses; of defaults those that have a value here.
        """
        given, case = self.case.given, self.case
        reached = case.inputs_used(*(quantities or self.quantities()))
        names = [name for name in reached if name in given or case.default(name) is not None]
        if everything:
            set_here = (name for name in self.given if name in given)
            names += [n for n in set_here if not (self.given[n].defaulted and self.why_unknown(n))]
        return {name: self._input(name) for name in dict.fromkeys(names)}

    def ledger(
        self, quantities: tuple[str, ...] | None = None, everything: bool = True
    ) -> dict[str, Any]:
        """The inputs of :meth:`inputs` and every switch with its value, in the form of the JSON output."""
        inputs, assumptions = self.inputs(quantities, everything), self.assumptions
        return {
            "inputs": {name: entry.as_json() for name, entry in inputs.items()},
            "assumptions": {
                switch: {"value": value, "defaulted": assumptions.defaulted(switch)}
                for switch, value in self.switches
            },
        }

    @property
    def switches(self) -> tuple[tuple[str, str], ...]:
        """Every counting choice with its value; a user-defined theory alone has none."""
        return () if self.theory_only else self.assumptions.values

    def _input(self, name: str) -> Result:
        """The value of an input with its ends, its source, and whether it is a default."""
        declared, own, box = self.case.theory.symbol(name), self.given.get(name), self.box
        if own is None:
            default = self.case.default(name)
            if default is None:
                raise MissingInput(name)
            return Result(declared, float(default), source="default", defaulted=True)
        ends: Any = (self.list_prices if name == PRICE else ()) or box.get(name, ())
        found = Result(declared, self.number(name), *ends)
        if box and name not in box and not is_number(own.setting):  # a formula of what is ranged
            found = self.result(name)
        return replace(found, source=own.source, defaulted=own.defaulted)


def interval_json(result: Result) -> dict[str, Any]:
    """A value with the ends of its interval, for programs: null where they are not known, as where a wait has no end at the slow one."""
    low, high = (
        result.value if end is None and not result.without_range else end
        for end in (result.low, result.high)
    )
    return {"value": plain_value(result.value), "low": plain_value(low), "high": plain_value(high)}
