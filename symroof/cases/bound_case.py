"""A case: every input of one combination with its value and source, and every result, computed when first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar, cast

from symroof.cases.ranges import Ranges
from symroof.cases.request import Request
from symroof.cases.values import (
    AT_PEAK,
    DOES_NOT_FIT,
    EFFICIENCIES,
    PRICE,
    Ends,
    Input,
    Result,
    architecture_of,
    corner_points,
    plain_value,
    slow_first,
)
from symroof.errors import NoValue
from symroof.specs.efficiencies import DEFAULT_ENGINE
from symroof.specs.engine_profile import EngineSpec
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.specs.preset import PresetSpec
from symroof.strict_yaml import Document
from symroof.symbolic.expressions import Expr, is_number, number
from symroof.theory.case import Case
from symroof.theory.declarations import DropsCaches, default_of
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import Assumptions, assume
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol, named
from symroof.theory.theory import Theory

T = TypeVar("T")

EXPECTED, BOUND, GIVEN = "expected", "bound", "given"
"""What a time, rate or cost rests on."""


@dataclass
class BoundCase(DropsCaches):
    """One combination of a model, a device and values under assumptions: its inputs with their sources, and its results.

    >>> from symroof.analysis.study import Study
    >>> bound_case = Study("llama-3-8b", "h100-sxm", prompt=4096).first
    >>> bound_case.result("kv_cache_bytes").text(), bound_case.get("queue_wait"), bound_case.why_unknown("queue_wait")
    ('536.9 MB', None, 'needs arrival_rate')

    Attributes:
        documents: the files that its specs were read from.
        given: the value of every input that something sets, with its source.
        precisions: the precision of each role by name; ``compute`` that which the device multiplies in.
        engine: the profile of the serving engine that the case stands on; None without a model and a device.
        search_inside: whether ranges are searched between their corners as well.
        changed_case: the case at other values, such as a corner of the ranges; None where the values are those given.
        varied: the values by which it differs from the other cases of its study, as text.
        prefills: the case of the instances that prefill, where they have a layout of their own.
        specs: what the specs alone give, which cases on the same specs share.
    """

    model: ModelSpec | None = None
    hardware: HardwareSpec | None = None
    preset: PresetSpec | None = None
    draft: ModelSpec | None = None
    documents: tuple[Document, ...] = ()
    request: Request = field(default_factory=Request)
    assumptions: Assumptions = field(default_factory=assume)
    given: dict[str, Input] = field(default_factory=dict)
    precisions: dict[str, str] = field(default_factory=dict)
    compute: str | None = None
    engine: EngineSpec | None = None
    warnings: tuple[str, ...] = ()
    varied: tuple[tuple[str, str], ...] = ()
    several_models: bool = False
    search_inside: bool = True
    changed_case: Case | None = None
    prefills: BoundCase | None = field(default=None, compare=False)
    specs: BoundCase | None = field(default=None, repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        shown = (self.warnings, self.varied, self.several_models, self.search_inside)
        return hash((self.request, self.assumptions, shown, self.compute))

    @property
    def asked_model(self) -> str:
        """The model by the name that it was asked for."""
        named = next(iter(self.request.models), "")
        return named if isinstance(named, str) else named.name

    @property
    def engine_class(self) -> str:
        """The class of engines that measured efficiencies are of."""
        return self.request.engine_class or (self.engine.kind if self.engine else DEFAULT_ENGINE)

    def warn(self, *texts: str) -> None:
        """Add warnings."""
        self.warnings += texts

    def add(self, values: Mapping[str, Input]) -> None:
        """Add values of inputs that have none."""
        self.given |= {name: value for name, value in values.items() if name not in self.given}

    @cached_property
    def given_case(self) -> Case:
        """The definitions with the values given; a range is at its middle."""
        architecture = architecture_of(self.model, self.given)
        values = {name: each.middle(name) for name, each in self.given.items()}
        return Case(Theory(architecture, self.assumptions, own=self.request.own), values)

    @property
    def case(self) -> Case:
        """The definitions with the values of this case."""
        return self.changed_case or self.given_case

    @property
    def theory_only(self) -> bool:
        """Whether the case is of a user-defined theory alone, without a model or a device."""
        return bool(self.case.theory.own.inputs) and self.model is None and self.hardware is None

    @property
    def quantity_names(self) -> tuple[str, ...]:
        """The quantities that the case is about, in declared order: those of a user-defined theory alone, or else all."""
        own = tuple(quantity.name for quantity in self.case.theory.own.quantities)
        return own if self.theory_only else (*QUANTITIES, *own)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The names of all quantities that have a value here, in declared order."""
        parts = () if self.theory_only else tuple(self.case.theory.definitions)
        return tuple(filter(self.case.has_value, dict.fromkeys((*self.quantity_names, *parts))))

    def at(self, case: Case) -> BoundCase:
        """The same inputs with the results at other values."""
        return replace(self, changed_case=case)

    def with_changes(self, **fields: Any) -> BoundCase:
        """The case, at the values given, with some fields replaced."""
        return replace(self, changed_case=None, **fields)

    def with_given(self, changes: Mapping[str, Input | None]) -> BoundCase:
        """The case with some inputs replaced, added, or (None) left out."""
        given = {name: own for name, own in {**self.given, **changes}.items() if own is not None}
        return self.with_changes(given=given)

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
        return cast(T, self.memo[key])

    @cached_property
    def at_peak(self) -> BoundCase | None:
        """The same case with every efficiency at 100 % of peak; None where it already is."""
        names = {name for name, own in self.given.items() if own.measured or name in AT_PEAK}
        if not names:
            return None
        made, peaks = self.with_given(dict.fromkeys(names)), {n: default_of(n) for n in names}
        if None not in peaks.values():  # by the formulas of this case
            made.changed_case = self.given_case.changed(peaks)
        return made

    @cached_property
    def slow_end(self) -> BoundCase:
        """The same case with every efficiency at the slow end of its range; the case itself where none is a range, or something else is one too."""
        if self.changed_case or not self.box or not self.box.keys() <= EFFICIENCIES:
            return self
        slow = {n: number(slow_first(ends, n)[0]) for n, ends in self.box.items()}
        made = self.with_given({n: replace(self.given[n], setting=x) for n, x in slow.items()})
        return replace(made, prefills=self.prefills and self.prefills.slow_end)

    @cached_property
    def basis(self) -> str:
        """What its times, rates and costs rest on: ``expected`` by measurements, ``bound`` at 100 % of peak, or ``given`` efficiencies."""
        if any(value.measured for value in self.given.values()):
            return EXPECTED
        stated = ((n, peak) for n, peak in AT_PEAK.items() if n in self.case.given)
        at_peak = all(self.case.has_value(n) and self.case.value(n) == peak for n, peak in stated)
        return BOUND if at_peak else GIVEN

    @cached_property
    def box(self) -> dict[str, Ends]:
        """The ends of the inputs that are ranges; list prices are at their median here, see :attr:`list_prices`."""
        ranged = {name: own for name, own in self.given.items() if own.ranged and not own.listed}
        return {name: (own.low, own.high) for name, own in ranged.items()}  # type: ignore[misc]

    @property
    def measured_box(self) -> dict[str, Ends]:
        """Those of measured efficiencies."""
        return {name: ends for name, ends in self.box.items() if self.given[name].measured}

    @cached_property
    def list_prices(self) -> tuple[float, ...]:
        """The lowest and the highest list price of the device where the case is at their median; empty where there is one price, or one is given."""
        price, case = self.given.get(PRICE), self.case
        if price and price.listed and case.has_value(PRICE) and case.value(PRICE) == price.value:
            return (price.low, price.high)  # type: ignore[return-value]
        return ()

    def priced(self, name: str) -> bool:
        """Whether the list prices move a quantity."""
        return bool(self.list_prices) and PRICE in self.case.dependencies(name)

    @property
    def measured_alone(self) -> bool:
        """Whether only measured efficiencies are ranges: then a target that the expected value misses is missed."""
        return self.box.keys() <= self.measured_box.keys()

    @property
    def interval_word(self) -> str:
        """What the range of a value is."""
        return "80 % interval" if self.box and self.measured_alone else "range"

    @property
    def prefill_case(self) -> BoundCase:
        """The case of the instances that prefill: this one, unless they have a layout of their own."""
        return self.prefills or self

    @property
    def measured_corners(self) -> list[dict[str, float]]:
        """The corners of the measured ranges alone."""
        return corner_points({}, self.measured_box)

    @property
    def corner_points(self) -> list[dict[str, float]]:
        """The corners of all ranges."""
        return corner_points(self.box, self.measured_box)

    @cached_property
    def corners(self) -> tuple[Case, ...]:
        """The case at every corner of its ranges; empty where no input is a range."""
        return tuple(map(self.case.changed, self.corner_points))

    @cached_property
    def ranges(self) -> Ranges:
        """The bounds of quantities over the ranges of the inputs."""
        joint = tuple(filter(None, [self.measured_corners]))
        return Ranges(self.case, self.box, joint, self.search_inside)

    @property
    def targets(self) -> dict[str, Any]:
        """The limits of this case by metric."""
        own = ((n, s) for n, s in TARGET_SYMBOLS.items() if s in self.case.given)
        return {name: self.number(symbol) for name, symbol in own}

    def number(self, name: str) -> Any:
        """The value that a name is set to.

        Raises:
            InputError: it is a formula that has none here.
        """
        try:
            return float(self.case.value(name))
        except NoValue as error:
            raise self.given[name].without_value(name, error) from None

    def _is_derived_time(self, name: str) -> bool:
        """Whether a name is a latency, rate or cost that is worked out here."""
        return self.case.theory.timed(name) and not is_number(self.case.given.get(name))

    def peak_bound(self, name: str) -> Result | None:
        """A latency, rate or cost with every efficiency at 100 % of peak, which none can beat; None of anything else, or where it is already there."""
        if self.at_peak is None or not self._is_derived_time(name):
            return None
        bound = self.at_peak.get(name)
        own = self.get(name) if bound and bound.symbol.unit == "s" else None
        # a faster prefill on devices of its own keeps more requests decoding, and so their steps longer: the peak then bounds nothing
        return None if bound and own and bound.value > own.value else bound

    @cached_property
    def fits(self) -> Result | None:
        """Whether the case fits memory; None where it is not known."""
        return self.get("fits")

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
        case = self.case
        result = self._over_ranges(name, Result(case.theory.symbol(name), case.value(name)))
        if not case.theory.timed(name):
            return result
        if not self._is_derived_time(name):
            return replace(result, basis=GIVEN)
        flags = (DOES_NOT_FIT,) if self.does_not_fit else ()
        return replace(result, flags=(*flags, *result.flags), basis=self.basis)

    def get(self, name: str) -> Result | None:
        """A quantity, or None where it has no value."""
        try:
            return self.result(name)
        except NoValue:
            return None

    def json_with_bound(self, name: str) -> dict[str, Any]:
        """A quantity for programs with its bound at 100 % of peak, where that differs."""
        bound = self.peak_bound(name)
        return self.result(name).as_json() | ({"bound": plain_value(bound.value)} if bound else {})

    def formula(self, tree: Expr, symbol: Symbol) -> Result:
        """The value of a formula under a name that people know, with range and flags as of a quantity."""
        return replace(self.result(named(tree)), symbol=symbol)

    def _over_ranges(self, name: str, result: Result) -> Result:
        """A value with all that it can be over the ranges and the list prices."""
        found = self.ranges.over(name, result) if self.box else result
        if not self.priced(name) or found.without_range:
            return found
        joint = (*self.ranges.joint, [{PRICE: price} for price in self.list_prices])
        over_both = self.once("over prices", partial(replace, self.ranges, joint=joint))
        at_median = (found.low, found.high) if self.box else (result.value, result.value)
        return replace(over_both.over(name, result), at_median=at_median)

    def chosen(self, name: str) -> bool:
        """Whether an input is given; what an engine decides where nobody does is not."""
        return name in self.given and not self.given[name].defaulted

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
        reached = case.inputs_used(*(quantities or self.known))
        names = [name for name in reached if name in given or case.default(name) is not None]
        names += [name for name in self.given if name in given] if everything else []
        open_ = {n for n, own in self.given.items() if own.is_formula} - self.request.values.keys()
        open_ |= {n for n, own in self.given.items() if own.defaulted}
        known = dict.fromkeys(n for n in names if n not in open_ or not self.why_unknown(n))
        return {name: self._input(name) for name in known}

    def _input(self, name: str) -> Result:
        """The value of an input with its ends, its source, and whether it is a default."""
        declared, own = self.case.theory.symbol(name), self.given.get(name)
        if own is None:
            default: Any = self.case.default(name)
            return Result(declared, float(default), source="default", defaulted=True)
        ends: Any = (self.list_prices if name == PRICE else ()) or self.box.get(name, ())
        found = Result(declared, self.number(name), *ends)  # a formula without a value ends here
        if self.box and name not in self.box and not is_number(own.setting):
            found = self.result(name)
        return replace(found, source=own.source, defaulted=own.defaulted)

    def ledger(
        self, quantities: tuple[str, ...] | None = None, everything: bool = True
    ) -> dict[str, Any]:
        """The inputs of :meth:`inputs` and every switch with its value, in the form of the JSON output."""
        inputs, said = self.inputs(quantities, everything), self.assumptions
        return {
            "inputs": {name: entry.as_json() for name, entry in inputs.items()},
            "assumptions": {
                switch: {"value": value, "defaulted": said.defaulted(switch)}
                for switch, value in (() if self.theory_only else said.values)
            },
        }
