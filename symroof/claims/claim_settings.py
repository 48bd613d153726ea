"""The settings of a claim: model, hardware, inputs, switches and targets, as files spell them and as the study they describe.

In a file, switches may be given among the names (``detail=weights``, ``attention=full``) or under ``assume``; a path is relative
to the file first, as in a study file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import Request
from symroof.errors import InputError, Problem
from symroof.specs.catalogue import is_path, resolve_path
from symroof.specs.claims import ClaimSpec
from symroof.specs.engine_profile import IDEAL
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.specs.study_files import declared_in
from symroof.strict_yaml import Document, Location
from symroof.symbolic.printing import number_text
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import ALIASES, INPUTS
from symroof.units import settled

Settings = Mapping[str, Any]
WORD = re.compile(r"[a-z][a-z0-9_]*")

SPECS = ("model", "hardware", "preset", "assume_family", "theory")
NESTED = ("assume", "targets")
LAYERED = ("layers", "d_model", "vocab_size", "tied_embeddings", "norm", "positions", "head_bias")
"""Fields of a model that a claim may state in full instead of a name."""
WORDS = ("efficiency", "engine")
"""Settings that are a word: where efficiencies come from, and of which engine."""
SETTABLE = frozenset(
    {*SPECS, *WORDS, "weights", "kv", "activations", *INPUTS, *QUANTITIES, *ALIASES}
)
"""Names of settings that are no switch: models and devices, precisions, symbols."""
SWITCH_NAMES = frozenset({*SWITCHES, "detail"})


def study_of(settings: Settings) -> Study:
    """The study that settings describe.

    >>> study_of({"model": "llama-3-70b", "prompt": 4096}).value("kv_cache_bytes")
    1.342 GB

    Raises:
        InputError: an unknown name, a value that cannot be read.
    """
    for name in NESTED:
        if not isinstance(settings.get(name, {}), Mapping):
            raise InputError(Problem(name, "expected keys and values"))
    for name in (*SPECS, *WORDS, "draft"):
        if not isinstance(settings.get(name, ""), str):
            raise InputError(Problem(name, "expected one name"))
    for name, value in settings.items():
        if name in SETTABLE and isinstance(value, (list, tuple, Mapping)):
            raise InputError(
                Problem(
                    name,
                    "expected one value: a claim is of one case",
                    hint="a row of a table is written with values",
                )
            )
    from_file = any(is_path(str(settings.get(name, ""))) for name in SPECS)
    return _built(settings) if from_file else _cached(_Key(repr(settings), settings))


def with_theory(claim: dict[str, Any], declared: Mapping[str, str]) -> dict[str, Any]:
    """A claim that speaks of names that a study declares, with that study as its theory where it names none; ``declared``: name -> file."""
    given = claim.get("given", {})
    theory = declaring_file(str(claim), declared)
    if theory and isinstance(given, dict):
        return {**claim, "given": {"theory": theory, **given}}
    return claim


def declaring_file(text: str, declared: Mapping[str, str]) -> str:
    """The file that declares a name of a text; empty where none of them is declared."""
    if declared:
        return next((declared[word] for word in WORD.findall(text) if word in declared), "")
    return ""


def declarations_of(settings: Settings) -> Declarations:
    """The names that the theory of some settings declares; none without a theory.

    Raises:
        InputError: no such theory, everything wrong with it.
    """
    return declared_in(str(settings["theory"])) if settings.get("theory") else NONE


@dataclass(frozen=True)
class _Key:
    """Settings as a key of the cache: their repr tells True from 1 and '1' from 1."""

    text: str
    settings: Settings = field(compare=False)


@lru_cache(maxsize=512)
def _cached(key: _Key) -> Study:
    """Every slip that is tried on a claim asks for the same case: its values are worked out once."""
    return _built(key.settings)


def _built(settings: Settings) -> Study:
    settings = _with_model(settings)
    own = {name: value for name, value in settings.items() if name not in (*SPECS, *NESTED)}
    specs = {name: settings[name] for name in SPECS if name in settings}
    assume = {str(name): _switch_value(value) for name, value in settings.get("assume", {}).items()}
    study = Study(**specs, assume=assume, targets=dict(settings.get("targets", {})), **own)
    if not study.request.engine:  # hand calculations mean physics
        study.select(Request(engine=IDEAL))
    return study


def _with_model(settings: Settings) -> Settings:
    """Settings that state layers, with these as their model."""
    if "layers" not in settings:
        return settings
    fields = {name: settings[name] for name in LAYERED if name in settings}
    spec = build(
        Document("given", {"name": "given", "title": "the given layers", **fields}, {}, (), ""),
        ModelSpec,
    )
    return {
        **{name: value for name, value in settings.items() if name not in LAYERED},
        "model": spec,
    }


def _switch_value(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def merged_settings(settings: Settings, changes: Settings) -> dict[str, Any]:
    """Settings with changes laid over them; switches and targets one by one."""
    merged = {**settings, **changes}
    for name in NESTED:
        if name in settings and name in changes:
            merged[name] = {**settings[name], **changes[name]}
    return merged


def with_settings(claim: ClaimSpec, changes: Settings) -> ClaimSpec:
    """The claim with changes of its settings."""
    return claim.model_copy(update={"given": merged_settings(claim.given, changes)})


def settings_text(settings: Settings) -> str:
    """Settings in words: ``mfu 0.5, detail weights``."""
    words = []
    without = {name for name in settings if name.endswith("_link_time") and settings[name] == "0 s"}
    for name, value in settings.items():
        if name in without:
            continue
        inner = value.items() if isinstance(value, Mapping) else ((name, value),)
        words += [
            f"{key} {number_text(settled(item)) if isinstance(item, float | Fraction) else _switch_value(item)}"
            for key, item in inner
        ]
    return ", ".join([*words, *(["the links left out"] if without else [])])


# ------------------------------------------------------------------------------------------------------- as files spell them


def is_switch(name: str, value: object) -> bool:
    """Whether a setting is a switch; a name that is something else too is one only where its value is one of the switch's.

    >>> is_switch("attention", "full"), is_switch("activations", "off"), is_switch("activations", "fp8"), is_switch("prompt", 4)
    (True, True, False, False)
    """
    if name not in SWITCH_NAMES:
        return False
    return name not in SETTABLE or isinstance(value, bool) or str(value) in SWITCHES[name].values


@dataclass
class Normalized:
    """A claim's data with all settings normalized.

    Attributes:
        moved: the place of a value -> its place in the file.
        faults: places and messages.
    """

    data: dict[str, Any]
    moved: dict[Location, Location] = field(default_factory=dict)
    faults: list[tuple[Location, str]] = field(default_factory=list)


def normalized(claim: Settings, base: Path | None) -> Normalized:
    """A claim's data with switches under ``assume`` and paths as seen from a folder; all other fields stay as they are.

    >>> normalized({"quantity": "itl", "given": {"batch": 2, "detail": "weights"}}, None).data["given"]
    {'batch': 2, 'assume': {'detail': 'weights'}}
    """
    result = Normalized(dict(claim))
    result.data |= {
        name: _normalized(result, claim[name], (name,), base)
        for name in ("given", "needs")
        if name in claim
    }
    if isinstance(cases := claim.get("between"), (list, tuple)):
        result.data["between"] = [
            _normalized(result, case, ("between", i), base) for i, case in enumerate(cases)
        ]
    if isinstance(steps := claim.get("steps"), (list, tuple)):
        result.data["steps"] = [
            {**step, "given": _normalized(result, step["given"], ("steps", i, "given"), base)}
            if isinstance(step, Mapping) and "given" in step
            else step
            for i, step in enumerate(steps)
        ]
    return result


def _normalized(result: Normalized, settings: object, place: Location, base: Path | None) -> object:
    if not isinstance(settings, Mapping):
        return settings  # the validation of the claim reports it
    switches = {name: value for name, value in settings.items() if is_switch(str(name), value)}
    others = {
        name: str(resolve_path(value, base))
        if name in SPECS and isinstance(value, str) and is_path(value, base)
        else value
        for name, value in settings.items()
        if name not in switches
    }
    assumed = settings.get("assume", {})
    if not switches or not isinstance(assumed, Mapping):
        return others
    for name in switches:
        if name in assumed:
            result.faults.append(((*place, name), f"{name} is set twice, here and under assume"))
        result.moved.setdefault((*place, "assume"), (*place, name))
        result.moved[*place, "assume", name] = (*place, name)
    return {**others, "assume": {**assumed, **switches}}
