"""What a live page needs for ranges and bounds: the ends of the inputs that are ranges, and the efficiencies at the peak."""

import contextlib
from collections.abc import Iterable
from typing import Any

from symroof.cases.binding import Binding
from symroof.cases.case_results import Answers
from symroof.cases.evidence import AT_PEAK, OF_LINKS
from symroof.cases.spec_values import Given
from symroof.errors import InputError
from symroof.formula.tree import Num
from symroof.report.live.choices import Setting
from symroof.specs.fields import Span
from symroof.theory.declarations import default_of

MOST_RANGES = 6
"""Ranges of which a page looks at every corner, 64 of six; where there are more it shows the expected values alone."""
Ends = dict[str, tuple[float, float]]


def efficiencies(setting: Setting) -> dict[str, Given]:
    """What a setting says of efficiencies and of whatever else is a range; of links as soon as the reader takes several devices."""
    given = dict(setting.binding.given)
    if any(value.measured for value in given.values()):
        given = _of_several(setting.binding, given)
    return {name: value for name, value in given.items() if name in AT_PEAK or value.measured or isinstance(value.setting, Span)}


def _of_several(binding: Binding, given: dict[str, Given]) -> dict[str, Given]:
    """The values of a case with the evidence of links, which a case of one device does not ask for."""
    for tp in (2, 3, 5, 7):
        with contextlib.suppress(InputError):  # heads that cannot be shared out so
            several = binding.variant(tp=tp).given
            return {name: value for name, value in several.items() if name in OF_LINKS and value.measured} | given
    return given


def of_links(setting: Setting, degrees: Iterable[int]) -> dict[str, dict[str, Any]]:
    """The inputs of links, with their ends, where a reader takes so many devices and evidence says something else of them than of the setting's own; of
    one device it says nothing, and they stand at their defaults."""
    own, ranges = efficiencies(setting), ends(setting)
    measured = {name: value.setting for name, value in own.items() if name in OF_LINKS and value.measured}
    made: dict[str, dict[str, Any]] = {}
    for tp in degrees:
        with contextlib.suppress(InputError):  # heads that cannot be shared out so
            other = setting.binding.variant(tp=tp)
            case = other.case()
            spans = {name: given.setting for name in measured if (given := other.given.get(name)) and isinstance(given.setting, Span)}
            values = {name: float(case.value(name)) for name, mine in measured.items() if spans.get(name) != mine}
            if values:
                made[str(tp)] = {
                    "values": values,
                    "ends": {name: (float(s.low), float(s.high)) for name, s in spans.items() if name in values and name in ranges},
                }
    return made


def ends(setting: Setting) -> Ends:
    """The ranges of a setting; none where there are too many to look at every corner."""
    spans = {name: value.setting for name, value in efficiencies(setting).items() if isinstance(value.setting, Span)}
    return {} if len(spans) > MOST_RANGES else {name: (float(span.low), float(span.high)) for name, span in spans.items()}


def expected(setting: Setting) -> dict[str, float]:
    """The expected value of each efficiency, and the middle of each range."""
    plain = {name: value.setting for name, value in efficiencies(setting).items()}
    return {name: float(value.middle if isinstance(value, Span) else value.value) for name, value in plain.items() if isinstance(value, Span | Num)}


def at_peak(settings: Iterable[Setting]) -> dict[str, float]:
    """Every efficiency of some settings at the peak; empty where one is a formula, which nothing may replace."""
    given = [(name, value) for setting in settings for name, value in efficiencies(setting).items() if name in AT_PEAK or value.measured]
    if any(not isinstance(value.setting, Num | Span) for _, value in given):
        return {}
    peaks = {name: default_of(name) for name in dict.fromkeys([*(name for name, _ in given), "mfu", "mbu"])}
    return {name: float(peak.value) for name, peak in peaks.items() if peak is not None}


def over_ranges(names: Iterable[str], subject: Answers) -> list[str]:
    """The quantities whose extremes stand at the corners of the ranges, or that no range moves."""
    return [name for name in names if not subject.box or not subject.ranges.moving(name) or ((result := subject.get(name)) and result.found == "corners")]
