"""What a reader of a live page may choose among: devices and precisions, each combination bound as any case is."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from symroof.analysis.study import Study
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.theory.case import Case

DEVICES = ("h100-sxm", "h200", "b200", "mi300x", "a100-80gb-sxm", "l40s")
"""Offered beside the devices of the study: the ones rented most."""
WEIGHTS, CACHE = ("fp16", "fp8", "int4-g128"), ("fp16", "fp8")
SAME = {"bf16": "fp16"}
"""Of two names of one width the other, which is not offered beside it."""
Values = dict[str, float | None]


@dataclass(frozen=True)
class Setting:
    """One device with one precision of weights and cache."""

    device: str
    weights: str
    cache: str
    bound_case: BoundCase

    @property
    def key(self) -> str:
        """How the page looks it up."""
        return "|".join((self.device, self.weights, self.cache))


def settings(study: Study, subject: BoundCase) -> list[Setting]:
    """Every combination that there is, that of the subject first."""
    own = subject
    if own.hardware is None or own.model is None:
        return []
    devices = dict.fromkeys([own.hardware.name, *(case.hardware.name for case in study.cases if case.hardware), *DEVICES])
    return list(_bound(own, devices))


def _bound(own: BoundCase, devices: Iterable[str]) -> Iterator[Setting]:
    fixed = own.request.values
    weights, cache = own.precisions.get("weights", ""), own.precisions.get("kv", "")
    for device in devices:
        for wide in _offered(weights, WEIGHTS, "weight_bytes_per_param" in fixed):
            for stored in _offered(cache, CACHE, "kv_bytes_per_element" in fixed):
                changes = ({} if wide == weights else {"weights": wide}) | ({} if stored == cache else {"kv": stored})
                with contextlib.suppress(InputError):  # a device outside the catalogue, a precision it cannot be stored in
                    same_device = own.hardware is not None and device == own.hardware.name
                    bound_case = own if same_device and not changes else variant(own, on=own if same_device else own.on(device), **changes)
                    yield Setting(device, wide, stored, bound_case)


def _offered(own: str, others: tuple[str, ...], fixed: bool) -> list[str]:
    return [own] if fixed else [own, *(name for name in others if name not in (own, SAME.get(own)))]


def values_of(case: Case, names: Iterable[str]) -> Values:
    """The numbers of some names in a case; None where one has none."""
    return {name: _value(case, name) for name in names}


def _value(case: Case, name: str) -> float | None:
    try:
        return float(case.value(name))
    except NoValue:
        return None


def differing(cases: list[Case], but: Iterable[str]) -> dict[str, list[float | None]]:
    """The names whose numbers differ between cases, each with its number in every case."""
    names = dict.fromkeys(name for case in cases for name in case.given if name not in set(but))
    rows = {name: [_value(case, name) for case in cases] for name in names}
    return {name: row for name, row in rows.items() if any(value != row[0] for value in row)}
