"""The settings of a live page: devices and precisions to choose from, their efficiencies, and the ranges of their inputs."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sympy import Number

from symroof.analysis.study import Study
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import AT_PEAK, COSTS, Input
from symroof.cases.measured_efficiencies import OF_LINKS, limit_by_compute
from symroof.errors import InputError
from symroof.specs.fields import ValueRange
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import is_number
from symroof.theory.case import Case
from symroof.theory.declarations import default_of

DEVICES = ("h100-sxm", "h200", "b200", "mi300x", "a100-80gb-sxm", "l40s")
"""Offered in addition to the devices of the study: the most rented ones."""
WEIGHTS, CACHE = ("fp16", "fp8", "int4-g128"), ("fp16", "fp8")
SAME = {"bf16": "fp16"}
"""Precision names of equal width, of which only one is offered."""
Values = dict[str, float | None]


@dataclass(frozen=True)
class Setting:
    """A device with precisions of weights and cache."""

    device: str
    weights: str
    cache: str
    bound_case: BoundCase

    @property
    def key(self) -> str:
        """The lookup key of the page."""
        return "|".join((self.device, self.weights, self.cache))


def settings(study: Study, subject: BoundCase) -> list[Setting]:
    """All valid combinations, that of the subject first."""
    own = subject
    if own.hardware is None or own.model is None:
        return []
    devices = dict.fromkeys(
        [
            own.hardware.name,
            *(case.hardware.name for case in study.cases if case.hardware),
            *DEVICES,
        ]
    )
    return list(_bound(own, devices))


def _bound(own: BoundCase, devices: Iterable[str]) -> Iterator[Setting]:
    fixed = own.request.values
    weights, cache = own.precisions.get("weights", ""), own.precisions.get("kv", "")
    for device in devices:
        for wide in _offered(weights, WEIGHTS, "weight_bytes_per_param" in fixed):
            for stored in _offered(cache, CACHE, "kv_bytes_per_element" in fixed):
                changes = ({} if wide == weights else {"weights": wide}) | (
                    {} if stored == cache else {"kv": stored}
                )
                with contextlib.suppress(InputError):  # unknown device or unsupported precision
                    same_device = own.hardware is not None and device == own.hardware.name
                    bound_case = (
                        own
                        if same_device and not changes
                        else variant(own, on=own if same_device else own.on(device), **changes)
                    )
                    yield Setting(device, wide, stored, bound_case)


def _offered(own: str, others: tuple[str, ...], fixed: bool) -> list[str]:
    return [own] if fixed else [own, *(name for name in others if name not in (own, SAME.get(own)))]


def values_of(case: Case, names: Iterable[str]) -> Values:
    """The values of some names in a case; None if unknown."""
    return {name: _value(case, name) for name in names}


def _value(case: Case, name: str) -> float | None:
    try:
        return float(case.value(name))
    except NoValue:
        return None


def differing(cases: list[Case], but: Iterable[str]) -> dict[str, list[float | None]]:
    """The values in every case of names whose values differ between cases; a name given as a formula follows the names in it."""
    names = dict.fromkeys(
        name
        for case in cases
        for name, tree in case.given.items()
        if is_number(tree) and name not in set(but)
    )
    rows = {name: [_value(case, name) for case in cases] for name in names}
    return {name: row for name, row in rows.items() if any(value != row[0] for value in row)}


MOST_RANGES = 6
"""Maximum ranges for which the page evaluates all corners (64 for six), those that end together counted once; with more it only shows expected values."""
Ends = dict[str, tuple[float, float]]


def efficiencies(setting: Setting) -> dict[str, Input]:
    """Efficiencies and ranges of a setting, including those of links, which apply as soon as the reader selects several devices."""
    given = dict(setting.bound_case.given)
    if any(value.measured for value in given.values()):
        given = _of_several(setting.bound_case, given)
    return {
        name: value
        for name, value in given.items()
        if name in AT_PEAK
        or value.measured
        or (isinstance(value.setting, ValueRange) and not value.listed)
    }


def _of_several(bound_case: BoundCase, given: dict[str, Input]) -> dict[str, Input]:
    """The values of a case plus the measured efficiencies of links, which a single-device case does not include."""
    for tp in (2, 3, 5, 7):
        with contextlib.suppress(InputError):  # the heads cannot be divided this way
            several = variant(bound_case, tp=tp).given
            return {
                name: value
                for name, value in several.items()
                if name in OF_LINKS and value.measured
            } | given
    return given


def of_links(setting: Setting, degrees: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Link inputs and their ranges for each number of devices, where they differ from the setting's own.

    A single device uses defaults.
    """
    own, ranges = efficiencies(setting), ends(setting)
    measured = {
        name: value.setting for name, value in own.items() if name in OF_LINKS and value.measured
    }
    made: dict[str, dict[str, Any]] = {}
    for tp in degrees:
        with contextlib.suppress(InputError):  # the heads cannot be divided this way
            other = variant(setting.bound_case, tp=tp)
            case = other.case
            spans = {
                name: given.setting
                for name in measured
                if (given := other.given.get(name)) and isinstance(given.setting, ValueRange)
            }
            values = {
                name: float(case.value(name))
                for name, mine in measured.items()
                if spans.get(name) != mine
            }
            if values:
                made[str(tp)] = {
                    "values": values,
                    "ends": {
                        name: (float(s.low), float(s.high))
                        for name, s in spans.items()
                        if name in values and name in ranges
                    },
                }
    return made


def ends(setting: Setting) -> Ends:
    """The ranges of a setting; empty if there are too many corners."""
    given = efficiencies(setting)
    spans = {
        name: value.setting
        for name, value in given.items()
        if isinstance(value.setting, ValueRange)
    }
    together = [name for name in spans if ends_with_others(name, given[name])]
    return (
        {}
        if len(spans) - len(together) + bool(together) > MOST_RANGES
        else {name: (float(span.low), float(span.high)) for name, span in spans.items()}
    )


def ends_with_others(name: str, value: Input) -> bool:
    """Whether the ends of a range go together with those of all other measured ones (:attr:`BoundCase.measured_corners`)."""
    return value.measured and name != "mfu"


def together(chosen: Iterable[Setting]) -> dict[str, bool]:
    """The ranges of some settings that end together, and whether the slow end of each is the high one."""
    return {
        name: name in COSTS
        for setting in chosen
        for name, value in efficiencies(setting).items()
        if ends_with_others(name, value)
    }


def limit_of_bandwidth(setting: Setting) -> list[float]:
    """How much MBU may be for each unit of an MFU that a reader sets, then the ends and the expected value of MBU without that limit; empty without one."""
    found = limit_by_compute(setting.bound_case)
    return [float(found[0]), *map(float, found[1])] if found else []


def expected(setting: Setting) -> dict[str, float]:
    """The expected value of each efficiency and range."""
    plain = {name: value.setting for name, value in efficiencies(setting).items()}
    return {
        name: float(value.middle if isinstance(value, ValueRange) else value)
        for name, value in plain.items()
        if isinstance(value, ValueRange | Number)
    }


def at_peak(settings: Iterable[Setting]) -> dict[str, float]:
    """The efficiencies of some settings at 100 % of peak; empty if one is a formula."""
    given = [
        (name, value)
        for setting in settings
        for name, value in efficiencies(setting).items()
        if name in AT_PEAK or value.measured
    ]
    if any(not isinstance(value.setting, Number | ValueRange) for _, value in given):
        return {}
    peaks = {
        name: default_of(name)
        for name in dict.fromkeys([*(name for name, _ in given), "mfu", "mbu"])
    }
    return {name: float(peak) for name, peak in peaks.items() if peak is not None}


def over_ranges(names: Iterable[str], subject: BoundCase) -> list[str]:
    """The quantities whose extremes are at corners of the ranges, or that no range affects."""
    return [
        name
        for name in names
        if not subject.box
        or not subject.ranges.moving(name)
        or ((result := subject.get(name)) and result.found == "corners")
    ]
