"""A bound case: every input of one combination with its value and source, and every result, computed when first used."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symroof.cases.case_inputs import CaseInputs, LoadedSpec
from symroof.cases.checks import check_together, without_value
from symroof.cases.input import AT_PEAK, COSTS, Ends, Input, slow_first
from symroof.cases.measured_efficiencies import add_measured_efficiencies, kind_of, values_at_peak
from symroof.cases.quantity_result import (
    DOES_NOT_FIT,
    NO_RANGE,
    NOT_EVERYWHERE,
    RangeNotFound,
    Result,
    plain_value,
)
from symroof.cases.spec_inputs import load_device
from symroof.specs.efficiencies import shipped_efficiencies
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    Expr,
    fraction,
    is_label,
    is_number,
    is_relation,
    number,
    symbol,
)
from symroof.theory.architecture import GENERIC, SPARSE, Architecture
from symroof.theory.case import Case
from symroof.theory.declarations import DropsCaches, MissingInput
from symroof.theory.operator_table import KEPT_WIDTH, WIDTH
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol, named
from symroof.theory.theory import Theory

if TYPE_CHECKING:
    from symroof.cases.ranges import Ranges

PRICE = "price"
EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})


@dataclass
class Memo:
    """What has been computed of one bound case: results, solutions, and formulas in the forms that questions need."""

    results: dict[str, Result] = field(default_factory=dict)
    solved: dict[tuple[str, str | None], Any] = field(default_factory=dict)
    rough: dict[tuple[str, ...], Case] = field(default_factory=dict)
    flips: dict[Any, Any] = field(default_factory=dict)
    inlined: dict[Any, Expr] = field(default_factory=dict)
    names: dict[Any, tuple[str, ...]] = field(default_factory=dict)
    moves: dict[Any, bool] = field(default_factory=dict)
    at_context: dict[float, BoundCase] = field(default_factory=dict)
    signs: dict[Expr, int | None] = field(default_factory=dict)
    symbolic: dict[frozenset[str], BoundCase] = field(default_factory=dict)
    in_sympy: Callable[[Expr], Any] | None = None


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
        search_inside: whether ranges are searched between their corners as well.
        changed_case: the case at other values, such as a corner of the ranges; None where the values are those given.
        specs: what the specs alone give, which cases on the same specs share.
    """

    documents: tuple[Document, ...] = ()
    varied: tuple[tuple[str, str], ...] = ()
    several_models: bool = False
    search_inside: bool = True
    chosen_draft: LoadedSpec[ModelSpec] = field(default_factory=LoadedSpec)
    prefill_case: BoundCase | None = field(default=None, compare=False)
    changed_case: Case | None = None
    specs: CaseInputs | None = field(default=None, repr=False)
    memo: Memo = field(default_factory=Memo, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        chosen = (self.chosen_model, self.chosen_device, self.chosen_draft, self.assumptions)
        shown = (self.warnings, self.varied, self.several_models, self.search_inside)
        return hash((chosen, shown, self.compute, self.request))

    @property
    def architecture(self) -> Architecture:
        if self.model is not None:
            widths = (name for name in self.given if name.startswith(f"{WIDTH}."))
            own = frozenset(name.removeprefix(f"{WIDTH}.") for name in widths)
            return self.model.architecture(KEPT_WIDTH in self.given, own)
        active, every = (
            self.given[name].setting if name in self.given else None
            for name in ("active_params", "params")
        )  # a token that multiplies all parameters leaves none out
        return GENERIC if active is None or active == every else SPARSE

    # ------------------------------------------------------------------------------------------------ the case, and others like it

    @cached_property
    def given_case(self) -> Case:
        """The definitions with the values given; a range is at its middle."""
        own = self.request.own
        return Case(
            Theory(self.architecture, self.assumptions, own=own),
            {name: each.middle(name, own) for name, each in self.given.items()},
        )

    @property
    def case(self) -> Case:
        """The definitions with the values of this case."""
        return self.changed_case or self.given_case

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
        if case.free not in self.memo.symbolic:
            self.memo.symbolic[case.free] = self.at(case)
        return self.memo.symbolic[case.free]

    def on(self, device: str) -> BoundCase:
        """The same request on another device of the catalogue.

        Raises:
            InputError: there is no such device.
        """
        return self.with_changes(chosen_device=load_device(device))

    def check(self, values: Mapping[str, Fraction], source: str) -> None:
        """Check that a request may have these values together with those of the case.

        Raises:
            InputError: parallel degrees that the model does not allow, a cached prefix longer than its prompt.
        """
        new = {name: Input(number(value), source) for name, value in values.items()}
        check_together(self.given | new)

    # ------------------------------------------------------------------------------------------------ ranges

    @cached_property
    def box(self) -> dict[str, Ends]:
        """The ends of the inputs that are ranges; list prices are at their median here, see :attr:`list_prices`."""
        ranged = {name: each for name, each in self.given.items() if each.ranged}
        return {
            name: (each.setting.low, each.setting.high)
            for name, each in ranged.items()
            if not each.listed
        }

    @cached_property
    def list_prices(self) -> tuple[Fraction, ...]:
        """The lowest and the highest list price of the device where the case is at their median; empty where there is one price, or one is given."""
        price = self.given.get(PRICE)
        if price is None or not price.listed or not self.case.has_value(PRICE):
            return ()
        span = price.setting
        return (span.low, span.high) if self.case.value(PRICE) == float(span.middle) else ()

    def priced(self, name: str) -> bool:
        """Whether the list prices move a quantity."""
        return bool(self.list_prices) and PRICE in self.case.dependencies(name)

    @property
    def measured_box(self) -> dict[str, Ends]:
        """Those of measured efficiencies."""
        return {name: ends for name, ends in self.box.items() if self.given[name].measured}

    @property
    def corner_points(self) -> list[dict[str, Fraction]]:
        """The corners of the ranges: all ends of those that were given, combined with each of :attr:`measured_corners`."""
        given = self.box.keys() - self.measured_box.keys()
        axes = [[{name: end} for end in ends] for name, ends in self.box.items() if name in given]
        return _product([*axes, *([self.measured_corners] if self.measured_box else [])])

    @property
    def measured_corners(self) -> list[dict[str, Fraction]]:
        """The corners of the measured ranges, whose interval is one common widening: all slow ends go together, and all fast ones; those of
        compute vary independently of the others."""
        box = {name: slow_first(ends, name) for name, ends in self.measured_box.items()}
        compute = [[{"mfu": end} for end in sorted(box["mfu"])]] if "mfu" in box else []
        both = [
            {name: ends[fast] for name, ends in box.items() if name != "mfu"} for fast in (0, 1)
        ]
        return _product([*compute, *([both] if both[0] else [])])

    @cached_property
    def corners(self) -> tuple[Case, ...]:
        """The case at every corner of its ranges; empty where no input is a range."""
        return tuple(map(self.case.changed, self.corner_points))

    @cached_property
    def ranges(self) -> Ranges:
        """The bounds of quantities over the ranges of the inputs."""
        from symroof.cases.ranges import Ranges  # NumPy is loaded for the first range

        return Ranges(
            self.case, self.box, self.measured_corners, self.search_inside, lambda: self.known
        )

    @property
    def range_position(self) -> str:
        """Where in its ranges the case is evaluated, in words."""
        measured = self.measured_box
        if measured and measured == self.box:
            return "at the expected values"
        return "at the middle of the ranges" + (
            " and the expected efficiencies" if measured else ""
        )

    def between_corners(self) -> BoundCase:
        """The same case with ranges evaluated at their corners where more than efficiencies are ranges: to search each takes too long for many cases."""
        return self if self.box.keys() <= EFFICIENCIES else self.with_changes(search_inside=False)

    @cached_property
    def at_peak(self) -> BoundCase | None:
        """The same case with every efficiency at 100 % of peak; None where it already is."""
        given = values_at_peak(self.given)
        return None if given.keys() == self.given.keys() else self.with_changes(given=given)

    @cached_property
    def expected_case(self) -> BoundCase | None:
        """The same case with the efficiencies that measurements lead to expect; None where some were given or asked for, or the case is of physics alone.

        >>> from symroof.analysis.study import Study
        >>> case = Study("llama-3-8b", "h100-sxm", prompt=4096).first
        >>> case.result("itl").text(), case.expected("itl").text(), case.expected("weight_bytes")
        ('4.642 ms', '8.414 ms (6.601 to 11.09 ms)', None)
        """
        stated = (
            self.request.states_efficiencies
            or not self.given.keys().isdisjoint(AT_PEAK)
            or self.request.efficiency
        )
        if self.hardware is None or self.engine is None or stated or self.changed_case:
            return None
        made = self.with_changes(given=dict(self.given))
        add_measured_efficiencies(made)
        return made

    @cached_property
    def beyond_measurements(self) -> str:
        """In words, that nothing like this case was measured; empty where something was, or nothing is expected by measurements."""
        measured = any(value.measured for value in self.given.values())
        if self.hardware is None or self.engine is None or not (measured or self.expected_case):
            return ""
        return shipped_efficiencies().beyond(kind_of(self, self.hardware, self.engine_class))

    def expected(self, name: str) -> Result | None:
        """What measurements lead to expect of a latency, rate or cost whose bound this case has; None of anything else."""
        case = self.expected_case
        if case is None or not self.case.theory.timed(name) or is_number(self.case.given.get(name)):
            return None
        found = case.get(name)
        return found if found is not None and not isinstance(found.value, (str, bool)) else None

    def as_json(self, name: str) -> dict[str, Any]:
        """A quantity for programs, with what is expected beside a bound."""
        expected = self.expected(name)
        return self.result(name).as_json() | (
            {"expected": interval_json(expected)} if expected else {}
        )

    @cached_property
    def slow_end(self) -> BoundCase:
        """The same case with every efficiency at the slow end of its range; the case itself where none is a range, or something else is one too."""
        if self.changed_case or not self.box or not self.box.keys() <= EFFICIENCIES:
            return self
        ends = {
            name: replace(self.given[name], setting=number(slow_first(span, name)[0]))
            for name, span in self.box.items()
        }
        return self.with_changes(given=self.given | ends)

    # ------------------------------------------------------------------------------------------------ results

    @property
    def targets(self) -> dict[str, Fraction]:
        """The limits of this case by metric."""
        return {
            name: self.number(symbol)
            for name, symbol in TARGET_SYMBOLS.items()
            if symbol in self.case.given
        }

    def number(self, name: str) -> Fraction:
        """The value that a name is set to.

        Raises:
            InputError: it is a formula that has none here.
        """
        try:
            return Fraction(self.case.value(name))
        except NoValue as error:
            raise without_value(name, self.given[name], error) from None

    def peak_bound(self, name: str) -> Result | None:
        """A latency, rate or cost with every efficiency at 100 % of peak, which none can beat; None of anything else, or where it is already there.

        >>> from symroof.analysis.study import Study
        >>> bound_case = Study("llama-3-8b", "h100-sxm", prompt=4096, efficiency="measured").first
        >>> bound_case.result("itl").text(), bound_case.peak_bound("itl").text(), bound_case.peak_bound("weight_bytes")
        ('8.414 ms (6.601 to 11.09 ms)', '4.642 ms', None)
        """
        if (
            self.at_peak is None
            or not self.case.theory.timed(name)
            or is_number(self.case.given.get(name))
        ):
            return None
        bound = self.at_peak.get(name)
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
            MissingInput: an input it needs has no value.
            NoValue: it has no value here.
        """
        if name not in self.memo.results:
            result = self._unflagged(name)
            if (
                self.does_not_fit
                and self.case.theory.timed(name)
                and not is_number(self.case.given.get(name))
            ):
                result = replace(result, flags=(DOES_NOT_FIT, *result.flags))
            self.memo.results[name] = result
        return self.memo.results[name]

    def get(self, name: str) -> Result | None:
        """A quantity, or None where it has no value."""
        try:
            return self.result(name)
        except NoValue:
            return None

    def both_text(self, name: str) -> str:
        """A quantity in one cell: what measurements lead to expect and its bound at the peak, where it depends on efficiencies that nobody gave.

        >>> from symroof.analysis.study import Study
        >>> [Study("llama-3-8b", "h100-sxm", prompt=4096, engine=engine).first.both_text("itl") for engine in ("vllm", "ideal")]
        ['8.414 ms (6.601 to 11.09 ms), bound 4.642 ms', '4.642 ms']
        """
        own = self.result(name)
        expected = self.expected(name)
        first, bound = (expected, own) if expected else (own, self.peak_bound(name))
        return f"{first.text()}, bound {bound.plain()}" if bound else first.text()

    def peak_bound_text(self, name: str, flagged: bool = False) -> str:
        """The bound as a cell of a table, with its flags where nothing else in the row has them; empty where there is none."""
        bound = self.peak_bound(name)
        return "" if bound is None else bound.text() if flagged else bound.plain()

    def json_with_bound(self, name: str) -> dict[str, Any]:
        """A quantity for programs with its bound at 100 % of peak, where that differs."""
        bound = self.peak_bound(name)
        return self.result(name).as_json() | ({"bound": plain_value(bound.value)} if bound else {})

    def _unflagged(self, name: str) -> Result:
        symbol = self.case.theory.symbol(name)
        value = self.case.value(name)
        if not self.box and not self.priced(name):
            return Result(symbol, value)
        try:
            return self._over_ranges(name, symbol, value)
        except NoValue as error:
            return Result(symbol, value, flags=(_without_range(error),))

    def at_corners(self, name: str) -> tuple[Any, Any]:
        """The least and the largest value of a number in the case and at the corners of its ranges.

        Raises:
            NoValue: it has none at one of them.
        """
        values = [case.value(name) for case in (self.case, *self.corners)]
        return min(values), max(values)

    def _over_ranges(self, name: str, declared: Symbol, value: Any) -> Result:
        formula = symbol(name) if self.case.search(name) else self.case.formula(name)
        if is_relation(formula):
            truths = self.ranges.truths(formula)
            return Result(declared, value, possible=truths if len(truths) > 1 else ())
        if is_label(formula):
            return Result(declared, value, possible=self.ranges.labels(name))
        return self._over_prices(name, Result(declared, value))

    def over_list_prices(self, name: str) -> tuple[Any, Any]:
        """A number at the lowest and the highest list price, everything else as expected.

        Raises:
            NoValue: it has none.
        """
        values = [self.case.changed({PRICE: price}).value(name) for price in self.list_prices] or [
            self.case.value(name)
        ]
        return min(values), max(values)

    def _over_prices(self, name: str, result: Result) -> Result:
        """A number with its extremes over the ranges and the list prices. What the extremes are in the ranges does not depend on the price, since a cost is in
        proportion to it."""
        found = self.ranges.bounds(name)
        if not self.priced(name):
            return replace(result, low=found.low, high=found.high, found=found.found)
        ends = [
            float(self.ranges.at(at).changed({PRICE: price}).value(name))
            for at in (found.lowest, found.highest)
            for price in self.list_prices
        ]
        return replace(
            result,
            low=min(*ends, found.low),
            high=max(*ends, found.high),
            found=found.found,
            at_median=(found.low, found.high),
        )

    def formula(self, tree: Expr, symbol: Symbol, timed: bool) -> Result:
        """The value of a formula that has no name, with range and flags."""
        value = self.case.evaluate(tree)
        flags = (DOES_NOT_FIT,) if timed and self.does_not_fit else ()
        name = named(tree)
        if not self.box and not self.priced(name):
            return Result(symbol, value, flags=flags)
        try:
            return self._over_prices(name, Result(symbol, value, flags=flags))
        except NoValue as error:
            return Result(symbol, value, flags=(*flags, _without_range(error)))

    @property
    def theory_only(self) -> bool:
        """Whether the case is of a user-defined theory alone, without a model or a device."""
        return bool(self.case.theory.own.inputs) and self.model is None and self.hardware is None

    @property
    def quantity_names(self) -> tuple[str, ...]:
        """The quantities that the case is about, in declared order: those of a user-defined theory alone, or else all."""
        own = tuple(quantity.name for quantity in self.case.theory.own.quantities)
        return own if self.theory_only else (*QUANTITIES, *own)

    def quantities(self) -> dict[str, Result]:
        """Every quantity that has a value here, in declared order."""
        if self.box:
            self.ranges.prepare(self.known)
        return {name: self.result(name) for name in self.known}

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The names of all quantities that have a value here, in declared order."""
        return tuple(
            filter(
                self.case.has_value,
                dict.fromkeys(
                    (
                        *self.quantity_names,
                        *(() if self.theory_only else self.case.theory.definitions),
                    )
                ),
            )
        )

    def unknown(self) -> dict[str, str]:
        """Every quantity without a value, and why."""
        return {name: why for name in self.quantity_names if (why := self.why_unknown(name))}

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
        given = self.case.given
        used = [
            name
            for name in self.case.inputs_used(*(quantities or self.quantities()))
            if name in given or self.case.default(name) is not None
        ]
        unused = (
            [
                name
                for name, value in self.given.items()
                if name in given and not (value.defaulted and self.why_unknown(name))
            ]
            if everything
            else []
        )
        return {name: self._input(name) for name in dict.fromkeys((*used, *unused))}

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
            return Result(declared, fraction(default), source="default", defaulted=True)
        if box and name not in box and not is_number(own.setting):  # a formula of what is ranged
            found = self.result(name)
        else:
            ends: Any = (self.list_prices if name == PRICE else ()) or box.get(name, ())
            found = Result(declared, self.number(name), *ends)
        return replace(found, source=own.source, defaulted=own.defaulted)


def interval_json(result: Result) -> dict[str, Any]:
    """A value with the ends of its interval, for programs: null where they are not known, as where a wait has no end at the slow one."""
    low, high = (
        result.value if end is None and not result.without_range else end
        for end in (result.low, result.high)
    )
    return {"value": plain_value(result.value), "low": plain_value(low), "high": plain_value(high)}


def _without_range(error: NoValue) -> str:
    return NO_RANGE if isinstance(error, RangeNotFound) else NOT_EVERYWHERE


def _product(axes: list[list[dict[str, Fraction]]]) -> list[dict[str, Fraction]]:
    """Every choice of one point on each axis; none where there is no axis."""
    return (
        [
            {name: end for part in corner for name, end in part.items()}
            for corner in itertools.product(*axes)
        ]
        if axes
        else []
    )
