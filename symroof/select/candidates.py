"""The candidates of a selection: lists such as ``hardware=all`` or ``weights=fp16,fp8``, and every layout of a number of devices."""

import copy
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import ROLES, Request, request_of
from symroof.errors import InputError, Problem, nearest
from symroof.specs.catalogue import entries
from symroof.specs.other_tools import equivalent_of_name
from symroof.theory.declarations import Declarations
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.sympy_input import symbol_name

ALL = "all"
KINDS = {"hardware": "hardware", "model": "models"}
"""Candidates that are chosen by name, and the part of the catalogue that has the names."""

ORIGIN = "among"

MOST_CANDIDATES = 20_000
"""Configurations of one selection at most."""


def with_candidates(study: Study, among: Mapping[str, Any]) -> Study:
    """The study with its own values of some names replaced by candidates.

    A name is ``hardware``, ``model``, a precision (``weights``, ``kv``, ``activations``) or an input. A value is a list, or a
    text with commas; names of hardware and models may be ``all`` of the catalogue, or a pattern such as ``h100*``.

    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096)
    >>> len(with_candidates(study, {"hardware": "h100*, h200", "tp": "1,2"}).cases)
    8

    Raises:
        InputError: an unknown name, an empty list, a value that cannot be read.
    """
    made = copy.copy(study)
    made.most_cases = MOST_CANDIDATES
    if not among:
        return made
    own = study.declared
    lists: dict[str, Any] = {
        name: _listed(name, value)
        for name, value in ((_name(key, own), value) for key, value in among.items())
    }
    named = {key: lists.pop(key, None) for key in KINDS}
    made.select(request_of(named["model"], named["hardware"], origin=ORIGIN, own=own, **lists))
    return made


def _name(key: Any, own: Declarations) -> str:
    """A name that can be chosen among, the inputs of the study's own theory too; a SymPy symbol is one.

    Raises:
        InputError: it is not declared.
    """
    text = str(symbol_name(key))
    name = canonical(text.strip())
    if name not in KINDS and name not in ROLES and own.input(name) is None:
        hint = (
            "did you mean 'hardware'?"
            if equivalent_of_name(name) == "--hardware"
            else nearest(text, [*KINDS, *ROLES, *INPUTS, *own])
        )
        raise InputError(Problem(ORIGIN, f"no such name {text[:40]!r} to choose among", hint=hint))
    return name


def _listed(name: str, value: Any) -> list[Any]:
    """The values of one name, patterns written out.

    Raises:
        InputError: none are left.
    """
    items: list[Any] = (
        [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    )
    values = [
        part for item in items for part in (_split(name, item) if isinstance(item, str) else [item])
    ]
    if name in KINDS:
        values = list(
            dict.fromkeys(entry for item in values for entry in _matching(name, str(item)))
        )
    if not values:
        raise InputError(
            Problem(
                ORIGIN,
                "an empty list of candidates",
                path=name,
                hint=f"{name}={EXAMPLES.get(name, '1,2,4')}",
            )
        )
    return values


def _split(name: str, text: str) -> list[str]:
    """A text at its commas; one that groups thousands would be two candidates.

    Raises:
        InputError: a part that begins with a nought, as of ``4,096``.
    """
    values = [part.strip() for part in text.split(",") if part.strip()]
    if whole := re.fullmatch(r"\s*(\d+)\s*(?:-|:|\.\.)\s*(\d+)\s*", text):
        between = [str(2**i) for i in range(31) if int(whole[1]) < 2**i < int(whole[2])]
        listed = ",".join([whole[1], *between[:6], whole[2]])
        raise InputError(
            Problem(
                ORIGIN, f"{text[:40]!r} is not a list", path=name, hint=f"write {name}={listed}"
            )
        )
    if any(part.isdigit() and part.startswith("0") and part != "0" for part in values):
        raise InputError(
            Problem(
                ORIGIN,
                f"{text[:40]!r}: a comma separates candidates",
                path=name,
                hint=f"write {text.replace(',', '')[:40]}",
            )
        )
    return values


EXAMPLES = {
    "hardware": "all, or hardware=h100-sxm,h200",
    "model": "llama-3-8b,llama-3-70b",
    "weights": "fp16,fp8",
    "kv": "fp16,fp8",
}


def _matching(name: str, item: str) -> list[str]:
    """A name as it is, or every entry of the catalogue that a pattern matches."""
    if item != ALL and not any(sign in item for sign in "*?["):
        return [item]
    matching = [entry for entry in entries(KINDS[name]) if item == ALL or fnmatchcase(entry, item)]
    if not matching:
        raise InputError(
            Problem(
                ORIGIN,
                f"no {name} of the catalogue is like {item[:40]!r}",
                path=name,
                hint=f"`symroof list {KINDS[name]}`",
            )
        )
    return matching


def widen_hint(study: Study) -> str:
    """How to widen a study that has one configuration only."""
    chosen: Request = study.request
    model = chosen.precision.get("weights", ("fp16",))[0]
    return f"one configuration only; widen it: --among hardware=all --among tp=1,2,4,8 --among weights={','.join(dict.fromkeys((model, 'fp8')))}"


DEVICES, INSTANCE = "devices", "instance_devices"
LAYOUT_INPUTS = ("tp", "pp", "attention_dp", "dp", "prefill_devices")
"""The inputs that a layout sets; of an instance all but its copies."""

MOST_DEVICES = 1024

SHARES = 16
"""Prefill devices are tried in so many parts of all devices at most."""


@dataclass(frozen=True)
class DeviceCounts:
    """Numbers of devices to lay out.

    Attributes:
        numbers: each in every layout.
        whole: whether they are all devices; else those of one instance, of which there are as many copies as an arrival rate asks for.
    """

    numbers: tuple[int, ...] = ()
    whole: bool = True

    @property
    def word(self) -> str:
        return DEVICES if self.whole else INSTANCE

    @property
    def chosen(self) -> tuple[str, ...]:
        """The inputs that these layouts set."""
        return tuple(name for name in LAYOUT_INPUTS if self.whole or name != "dp")


NO_COUNTS = DeviceCounts()


def device_counts(among: Mapping[str, Any]) -> tuple[dict[str, Any], DeviceCounts]:
    """The candidates without their numbers of devices, and those numbers.

    >>> device_counts({"hardware": "all", "devices": "4,8"})
    ({'hardware': 'all'}, DeviceCounts(numbers=(4, 8), whole=True))

    Raises:
        InputError: a number of devices that is none, or a degree listed as well.
    """
    rest = dict(among)
    listed = {word: rest.pop(word) for word in (DEVICES, INSTANCE) if word in rest}
    if len(listed) > 1:
        raise InputError(
            Problem(
                "among",
                "both devices of all replicas and of one instance are listed",
                path=DEVICES,
                hint=f"list {DEVICES} or {INSTANCE}",
            )
        )
    for word, value in listed.items():
        words = (
            value.split(",")
            if isinstance(value, str)
            else [value]
            if isinstance(value, int)
            else list(value)
        )
        counts = DeviceCounts(
            tuple(dict.fromkeys(_count(str(one).strip(), word) for one in words)), word == DEVICES
        )
        clash = [name for name in counts.chosen if name in rest]
        if clash:
            raise InputError(
                Problem(
                    "among",
                    f"{clash[0]} is what layouts of devices choose",
                    path=word,
                    hint=f"list {word} or {clash[0]}, not both",
                )
            )
        return rest, counts
    return rest, NO_COUNTS


def _count(word: str, path: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 6 and 0 < int(word) <= MOST_DEVICES):
        raise InputError(
            Problem(
                "among",
                f"{word[:40]!r} is not a number of devices",
                path=path,
                hint=f"{path}=4,8, at most {MOST_DEVICES:,}",
            )
        )
    return int(word)


def expand_layouts(cases: Sequence[BoundCase], counts: DeviceCounts) -> tuple[BoundCase, ...]:
    """Every case in every layout of every number of devices; the cases as they are where no number is listed.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300)
    >>> [[(name, int(number)) for name, number in degrees] for degrees in map(degrees_of, expand_layouts(study.cases, DeviceCounts((2,))))]
    [[('dp', 2)], [('prefill_devices', 1)], [('tp', 2)]]

    Raises:
        InputError: a study that chooses a degree itself.
    """
    if not counts.numbers:
        return tuple(cases)
    chosen = [name for name in counts.chosen if name in cases[0].given]
    if chosen:
        raise InputError(
            Problem(
                "study",
                f"{counts.word} tries every layout, and the study fixes {chosen[0]}",
                path=chosen[0],
                hint=f"leave {chosen[0]} out of the study, or list --among {chosen[0]}=1,2,4,8 instead",
            )
        )
    layouts = _layouts if counts.whole else _instances
    every = (
        laid
        for bound_case in cases
        for count in counts.numbers
        for degrees in layouts(bound_case, count)
        for laid in _in_layout(bound_case, degrees)
    )
    made = tuple(itertools.islice(every, MOST_CANDIDATES + 1))
    if len(made) > MOST_CANDIDATES:
        raise InputError(
            Problem(
                "among",
                f"more than {MOST_CANDIDATES:,} layouts",
                path=counts.word,
                hint=f"fewer numbers of {counts.word}",
            )
        )
    return made


def degrees_of(bound_case: BoundCase) -> tuple[tuple[str, Fraction], ...]:
    """The degrees of a layout that are not 1, and its prefill devices."""
    chosen = [
        (name, bound_case.case.value(name))
        for name in LAYOUT_INPUTS
        if name in bound_case.case.given
    ]
    return tuple((name, value) for name, value in chosen if value != 1 or name == "prefill_devices")


Degrees = dict[str, int | Fraction]


def _layouts(bound_case: BoundCase, count: int) -> Iterator[Degrees]:
    """Degrees whose product is the number of devices; where prompts are read on separate devices, the prefill devices of all copies are shared among them."""
    for instance, group in _groups(bound_case, count):
        copies = count // instance
        yield {**group, "dp": copies}
        for reading in _prefill_shares(bound_case, copies):
            yield {
                **group,
                "dp": copies - reading,
                "prefill_devices": Fraction(instance * reading, copies - reading),
            }


def _instances(bound_case: BoundCase, count: int) -> Iterator[Degrees]:
    """Degrees of one instance, those that prefill for it among its devices."""
    for instance, group in _groups(bound_case, count):
        if instance == count:
            yield dict(group)
        elif _can_prefill_apart(bound_case):
            yield {**group, "prefill_devices": count - instance}


def _groups(bound_case: BoundCase, count: int) -> Iterator[tuple[int, Degrees]]:
    """Devices and degrees of the groups that a number of devices is a multiple of; heads have to be shared out or copied evenly."""
    case, experts = bound_case.case, bound_case.case.has("n_experts")
    for tp in (n for n in _divisors(count) if case.can_split_heads(n)):
        for attention in _divisors(count // tp) if experts else [1]:
            yield tp * attention, {"tp": tp, "attention_dp": attention}


def _can_prefill_apart(bound_case: BoundCase) -> bool:
    """Whether prompts can be read on devices of their own: there is a network to hand their cache over, and a decode."""
    return bound_case.case.has("network_bandwidth") and bound_case.case.is_set("output")


def _prefill_shares(bound_case: BoundCase, groups: int) -> Iterator[int]:
    """How many of so many equal groups may read prompts for the others: every number of few, of many only in even parts."""
    if _can_prefill_apart(bound_case):
        yield from (
            reading for reading in range(1, groups) if groups // math.gcd(reading, groups) <= SHARES
        )


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def _in_layout(bound_case: BoundCase, degrees: Mapping[str, Any]) -> Iterator[BoundCase]:
    """The case in a layout; none where the model does not allow it."""
    assume = dict(bound_case.request.assume) | (
        {"scheduling": "disaggregated"} if "prefill_devices" in degrees else {}
    )
    base = bound_case.with_changes(request=replace(bound_case.request, assume=assume))
    try:
        made = variant(base, **degrees)
    except InputError:
        return
    yield replace(made, several_models=bound_case.several_models, varied=bound_case.varied)
