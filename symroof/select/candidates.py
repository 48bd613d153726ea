"""The candidates of a selection: lists such as ``hardware=all`` or ``weights=fp16,fp8``, and every layout of a number of devices."""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import ROLES, request_of
from symroof.errors import InputError, Problem, nearest
from symroof.specs.catalogue import entries
from symroof.theory.declarations import Declarations
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.sympy_input import symbol_name

ALL = "all"
KINDS = {"hardware": "hardware", "model": "models"}
"""Candidates that are chosen by name, and the part of the catalogue that has the names."""
ORIGIN = "among"
MOST_CANDIDATES = 20_000
"""Configurations of one selection at most."""


def with_candidates(study: Study, among: Mapping[str, Any], all_devices: bool = False) -> Study:
    """The study with its own values of some names replaced by candidates; with ``all_devices`` every device of the catalogue with a price where none is named.

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
    request = study.request
    described = request.hardware or "hardware" in among or "mem_capacity" in request.values
    if all_devices and not described and (request.models or "model" in among):
        shipped = entries("hardware").items()
        priced = [name for name, entry in shipped if "prices" in entry.document.data]
        among = {"hardware": priced, **among}
    if not among:
        return made
    own = study.declared
    named = {_name(key, own): value for key, value in among.items()}
    lists: dict[str, Any] = {name: _listed(name, value) for name, value in named.items()}
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
    if name == "prefill_devices":
        hint = "--assume scheduling=disaggregated searches only layouts with such GPUs"
        message = "how many GPUs only prefill is searched, and is no list of candidates"
        raise InputError(Problem(ORIGIN, message, path=name, hint=hint))
    if name not in KINDS and name not in ROLES and own.input(name) is None:
        hint = nearest(text, [*KINDS, *ROLES, *INPUTS, *own])
        if name in SWITCHES:
            hint = f"--assume {name}={'|'.join(SWITCHES[name].values)} fixes it"
        raise InputError(Problem(ORIGIN, f"no such name {text[:40]!r} to choose among", hint=hint))
    return name


def _listed(name: str, value: Any) -> list[Any]:
    """The values of one name, patterns written out.

    Raises:
        InputError: none are left.
    """
    single = isinstance(value, str) or not isinstance(value, Iterable)
    values: list[Any] = []
    for item in [value] if single else value:
        values += _split(name, item) if isinstance(item, str) else [item]
    if name in KINDS:
        each = (entry for item in values for entry in _matching(name, str(item)))
        values = list(dict.fromkeys(each))
    if not values:
        hint = f"{name}={EXAMPLES.get(name, '1,2,4')}"
        raise InputError(Problem(ORIGIN, "an empty list of candidates", path=name, hint=hint))
    return values


def _split(name: str, text: str) -> list[str]:
    """A text at its commas; one that groups thousands would be two candidates.

    Raises:
        InputError: a part that begins with a nought, as of ``4,096``.
    """
    values = [part.strip() for part in text.split(",") if part.strip()]
    if whole := re.fullmatch(r"\s*(\d+)\s*(?:-|:|\.\.)\s*(\d+)\s*", text):
        between = [str(2**i) for i in range(31) if int(whole[1]) < 2**i < int(whole[2])]
        hint = f"write {name}={','.join([whole[1], *between[:6], whole[2]])}"
        raise InputError(Problem(ORIGIN, f"{text[:40]!r} is not a list", path=name, hint=hint))
    if any(part.isdigit() and part.startswith("0") and part != "0" for part in values):
        message, hint = f"{text[:40]!r}: a comma separates candidates", text.replace(",", "")[:40]
        raise InputError(Problem(ORIGIN, message, path=name, hint=f"write {hint}"))
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
        message, hint = f"no {name} is like {item[:40]!r}", f"`symroof list {KINDS[name]}`"
        raise InputError(Problem(ORIGIN, message, path=name, hint=hint))
    return matching


DEVICES = "devices"
MOST_DEVICES = 1024


def device_counts(among: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """The candidates without the numbers of devices that all replicas have together, and those numbers.

    >>> device_counts({"hardware": "all", "devices": "4,8"})
    ({'hardware': 'all'}, (4, 8))

    Raises:
        InputError: a number of devices that is none.
    """
    rest = dict(among)
    value = rest.pop(DEVICES, ())
    values = [value] if isinstance(value, int) else value
    words = [str(x).strip() for x in (value.split(",") if isinstance(value, str) else values)]
    wrong = [
        x for x in words if not re.fullmatch(r"[0-9]{1,4}", x) or not 0 < int(x) <= MOST_DEVICES
    ]
    if wrong:
        message = f"{wrong[0][:40]!r} is not a number of devices"
        hint = f"{DEVICES}=4,8, at most {MOST_DEVICES:,}"
        raise InputError(Problem(ORIGIN, message, path=DEVICES, hint=hint))
    return rest, tuple(dict.fromkeys(map(int, words)))


def check_open(study: Study, counts: Sequence[int]) -> None:
    """Nothing that layouts of a number of devices choose is fixed by the study.

    Raises:
        InputError: it fixes a degree.
    """
    chosen = [name for name in LAYOUT_INPUTS if name in study.request.values] if counts else []
    if chosen:
        message = f"{DEVICES} tries every layout, and {chosen[0]} is given too"
        hint = f"leave {chosen[0]} out, or list --among {chosen[0]}=1,2,4,8 instead"
        raise InputError(Problem("study", message, path=chosen[0], hint=hint))


LAYOUT_INPUTS = ("tp", "pp", "attention_dp", "dp", "prefill_devices")
"""The inputs that a layout of a number of devices sets."""
