"""The settings of a claim: model, hardware, inputs, switches and targets, as files spell them and as the study they describe.

In a file, switches may be given among the names (``detail=weights``, ``attention=full``) or under ``assume``; a path is relative
to the file first, as in a study file.
"""

from collections.abc import Mapping
from fractions import Fraction
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
from symroof.specs.spec_files import declared_in
from symroof.strict_yaml import Document
from symroof.symbolic.printing import number_text
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import ALIASES, INPUTS
from symroof.units import settled

Settings = Mapping[str, Any]

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
ROW = "a row of a table is written with values"
STUDIES: dict[str, Study] = {}
MOST_STUDIES = 512
"""Every slip that is tried on a claim asks for the same case: its values are worked out once."""


def study_of(settings: Settings) -> Study:
    """The study that settings describe.

    >>> study_of({"model": "llama-3-70b", "prompt": 4096}).value("kv_cache_bytes")
    1.342 GB

    Raises:
        InputError: an unknown name, a value that cannot be read.
    """
    for name, value in settings.items():
        fault, hint = "", ""
        if name in NESTED:
            fault = "" if isinstance(value, Mapping) else "expected keys and values"
        elif name in (*SPECS, *WORDS, "draft"):
            fault = "" if isinstance(value, str) else "expected one name"
        elif name in SETTABLE and isinstance(value, (list, tuple, Mapping)):
            fault, hint = "expected one value: a claim is of one case", ROW
        if fault:
            raise InputError(Problem(name, fault, hint=hint))
    if any(is_path(str(settings.get(name, ""))) for name in SPECS):  # a file may change
        return _built(settings)
    key = repr(settings)  # which tells True from 1 and '1' from 1
    if key not in STUDIES:
        if len(STUDIES) >= MOST_STUDIES:
            STUDIES.clear()
        STUDIES[key] = _built(settings)
    return STUDIES[key]


def declarations_of(settings: Settings) -> Declarations:
    """The names that the theory of some settings declares; none without a theory.

    Raises:
        InputError: no such theory, everything wrong with it.
    """
    return declared_in(str(settings["theory"])) if settings.get("theory") else NONE


def _built(settings: Settings) -> Study:
    settings = dict(settings)
    if "layers" in settings:  # with these as their model
        fields = {name: settings.pop(name) for name in LAYERED if name in settings}
        data = {"name": "given", "title": "the given layers", **fields}
        settings["model"] = build(Document("given", data, {}, (), ""), ModelSpec)
    specs = {name: settings.pop(name) for name in SPECS if name in settings}
    assume = {str(k): _switch_value(value) for k, value in settings.pop("assume", {}).items()}
    targets = dict(settings.pop("targets", {}))
    study = Study(**specs, assume=assume, targets=targets, **settings)
    if not study.request.engine:  # hand calculations mean physics
        study.select(Request(engine=IDEAL))
    return study


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
    words, linkless = [], False
    for name, value in settings.items():
        if name.endswith("_link_time") and value == "0 s":
            linkless = True
            continue
        inner = value.items() if isinstance(value, Mapping) else ((name, value),)
        for key, item in inner:
            number = isinstance(item, float | Fraction)
            words.append(f"{key} {number_text(settled(item)) if number else _switch_value(item)}")
    return ", ".join([*words, *(["the links left out"] if linkless else [])])


# ------------------------------------------------------------------------------------------------------- as files spell them


def is_switch(name: str, value: object) -> bool:
    """Whether a setting is a switch; a name that is something else too is one only where its value is one of the switch's.

    >>> is_switch("attention", "full"), is_switch("activations", "off"), is_switch("activations", "fp8"), is_switch("prompt", 4)
    (True, True, False, False)
    """
    if name not in SWITCH_NAMES:
        return False
    return name not in SETTABLE or isinstance(value, bool) or str(value) in SWITCHES[name].values


def with_study_settings(claim: ClaimSpec, base: Path | None = None) -> ClaimSpec:
    """A claim with its settings as a study takes them: switches under ``assume``, paths as seen from a folder.

    Raises:
        InputError: a switch that is set twice, a path to what is no file.

    >>> claim = ClaimSpec(id="a", quantity="itl", given={"batch": 2, "detail": "weights"}, value="1 s")
    >>> with_study_settings(claim).given
    {'batch': 2, 'assume': {'detail': 'weights'}}
    """

    def taken(settings: Settings) -> dict[str, Any]:
        found = {name: value for name, value in settings.items() if not is_switch(name, value)}
        for name in found.keys() & SPECS:
            if isinstance(found[name], str) and is_path(found[name], base):
                found[name] = str(resolve_path(found[name], base))
        switches = {name: value for name, value in settings.items() if name not in found}
        assumed = settings.get("assume", {})
        if not switches or not isinstance(assumed, Mapping):
            return found
        if twice := switches.keys() & assumed.keys():
            message = "is set twice, here and under assume"
            raise InputError([Problem(name, message) for name in sorted(twice)])
        return {**found, "assume": {**assumed, **switches}}

    steps = [step.model_copy(update={"given": taken(step.given)}) for step in claim.steps]
    read: dict[str, Any] = {"between": tuple(map(taken, claim.between)), "steps": tuple(steps)}
    read |= {"given": taken(claim.given), "needs": taken(claim.needs)}
    return claim.model_copy(update=read)
