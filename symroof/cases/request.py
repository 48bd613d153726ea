"""A request: what was given and by whom, from keywords or a study file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from symroof.cases.values import AT_PEAK, HEADS, ROLE_INPUT
from symroof.errors import InputError, Problem, nearest, on_line, split_hint
from symroof.specs.engine_profile import IDEAL, chosen_engine
from symroof.specs.fields import Faults
from symroof.specs.input_values import Setting, device_input, settings
from symroof.specs.model import ModelSpec
from symroof.specs.spec_files import read_spec, read_study
from symroof.specs.study import StudySpec, read_limit
from symroof.specs.study_fields import (
    efficiency_basis,
    precision_names,
    prefill_layout,
    read_assumptions,
)
from symroof.strict_yaml import Document
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.symbols import INPUTS, TARGET_SYMBOLS, canonical

ROLES = tuple(ROLE_INPUT)
VLLM_LINE, RECOMMENDED = "vllm line", "recommended"
"""The origins of values that a command line of vLLM says or leaves to it, and of those that are advised in their place."""
Values = Mapping[str, tuple[Setting, ...]]


@dataclass(frozen=True)
class Request:
    """A request: names, lists of values, switches. Stronger ones override weaker ones.

    ``efficiency``: where efficiencies that are not set come from, ``peak`` or ``measured`` (the default, unless by a preset, by ``ideal`` or with some that are set).
    ``engine``: the profile of the serving engine, with its version; ``engine_class``: the class of engines measured, where that is said apart.
    ``prefill``: the layout and the number of instances that only prefill, where they have one of their own.
    ``statistics``: what each target is of, ``mean`` or a percentile.
    ``traffic``: what simulations draw, by name: arrivals, burstiness, distributions of lengths.
    ``own``: names that the study declares itself. ``of_devices``: inputs of one device, by a name such as ``h100-sxm.price``.
    """

    models: tuple[str | ModelSpec, ...] = field(default=(), hash=False)
    hardware: tuple[str, ...] = ()
    precision: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    values: Values = field(default_factory=dict, hash=False)
    assume: dict[str, str] = field(default_factory=dict, hash=False)
    preset: str | None = None
    origin: dict[str, str] = field(default_factory=dict, hash=False)
    base: Path | None = None
    assume_family: str | None = None
    draft: str | None = None
    efficiency: str = ""
    engine: str = ""
    engine_class: str = ""
    own: Declarations = NONE
    of_devices: Values = field(default_factory=dict, hash=False)
    statistics: Mapping[str, str] = field(default_factory=dict, hash=False)
    prefill: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    traffic: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def percentiles(self) -> dict[str, str]:
        """The targets of a percentile, which closed forms cannot decide: they are means."""
        return {name: each for name, each in self.statistics.items() if each != "mean"}

    @property
    def basis(self) -> str:
        """Where efficiencies that are not set come from."""
        return self.efficiency or ("peak" if self.states_efficiencies else "measured")

    @property
    def states_efficiencies(self) -> bool:
        """Whether measurements have no say unless asked for: with efficiencies that are set a case is at these, as presets have theirs, and ``ideal`` is physics."""
        physics = self.engine == IDEAL and not self.engine_class
        return bool(self.preset) or physics or not AT_PEAK.keys().isdisjoint(self.values)

    def over(self, weaker: Request) -> Request:
        """This request with the values of a weaker one where it has none: mappings name by name, everything else where it is set; an input of all devices over those of one."""
        replaced = [name for name in weaker.of_devices if name.rpartition(".")[2] in self.values]
        if replaced:
            kept = {name: v for name, v in weaker.of_devices.items() if name not in replaced}
            weaker = replace(weaker, of_devices=kept)
        pairs = {f.name: (getattr(self, f.name), getattr(weaker, f.name)) for f in fields(self)}
        merged: dict[str, Any] = {
            name: {**under, **own} if isinstance(own, Mapping) else own or under
            for name, (own, under) in pairs.items()
        }
        return Request(**merged)

    def without(self, names: Collection[str]) -> Request:
        """This request with some precisions and values left open.

        >>> left = request_of(prompt=1024, batch=8, kv="fp8").without(("batch", "kv"))
        >>> list(left.values), dict(left.precision)
        (['prompt'], {})
        """
        roles = {role: formats for role, formats in self.precision.items() if role not in names}
        values = {name: values for name, values in self.values.items() if name not in names}
        return replace(self, precision=roles, values=values)


HELD = ("own", "base", "assume_family", "draft")
"""What a request keeps as it is given."""
PROFILE = ("engine", "engine_class")
READ: dict[str, Callable[[Any], dict[str, Any]]] = {
    "efficiency": lambda value: {"efficiency": efficiency_basis(value)},
    "engine": lambda value: dict(zip(PROFILE, chosen_engine(value), strict=True)),
    "prefill": lambda value: {"prefill": prefill_layout(value)},
}
"""What is neither a precision nor an input, and how it is read."""


def request_of(
    model: str | Iterable[str] | ModelSpec | None = None,
    hardware: str | Iterable[str] | None = None,
    preset: str | None = None,
    assume: dict[str, str] | None = None,
    origin: str = "given",
    **chosen: Any,
) -> Request:
    """A request from plain values: precisions by role, every other keyword a symbol or quantity, those of ``own`` among them.

    Raises:
        InputError: an unknown name or a value that cannot be read.
    """
    held: dict[str, Any] = {name: chosen.pop(name) for name in HELD if name in chosen}
    precision, values, of_devices, own = {}, {}, {}, held.get("own", NONE)
    problems: list[Problem] = []
    for name, value in {**chosen, "assume": assume or {}}.items():
        try:
            if name == "assume":
                held[name] = read_assumptions(dict(value))
            elif name in READ:
                held |= READ[name](value) if value else {}
            elif value is None:
                continue
            elif name in ROLES:
                precision[name] = precision_names(value, of_weights=name == "weights")
            elif device_input(name):
                of_devices[name] = settings(name, value, bare=True)
            else:
                values[canonical(name)] = settings(name, value, bare=True, own=own)
        except ValueError as error:
            problems += _problems(origin, name, error)
    if problems:
        raise InputError(problems)
    if held.get("prefill"):
        held["assume"].setdefault("scheduling", "disaggregated")
    draft = ["draft"] if held.get("draft") else []
    return Request(
        models=(model,) if isinstance(model, ModelSpec) else _names(model),
        hardware=_names(hardware),
        precision=precision,
        values=values,
        preset=preset,
        origin=dict.fromkeys([*precision, *values, *of_devices, *held["assume"], *draft], origin),
        of_devices=of_devices,
        **held,
    )


def _problems(origin: str, name: str, error: ValueError) -> list[Problem]:
    faults = error.items if isinstance(error, Faults) else [((), str(error))]
    problems = []
    for place, text in faults:
        path = ".".join((name, *map(str, place))) if name == "prefill" else name
        message, hint = split_hint(text)
        problems.append(Problem(origin, message, path=path, hint=on_line(name, hint)))
    return problems


def _names(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def target_request(targets: dict[str, Any]) -> Request:
    """Targets by name as a request; a plain Python number is seconds, USD a million tokens, or USD an hour, ``{"p99": 2}`` a percentile.

    >>> [values[0] for values in target_request({"itl": 0.05, "cost": "2 USD", "price": 36}).values.values()]
    [1/20, 2, 1/100]
    """
    values: dict[str, tuple[Setting, ...]] = {}
    statistics: dict[str, str] = {}
    for written, value in targets.items():
        name = "itl" if written == "tpot" else written  # what vLLM's benchmark calls it
        if name not in TARGET_SYMBOLS:
            hint = nearest(name, TARGET_SYMBOLS)
            raise InputError(Problem("targets", f"no such target {name!r}", hint=hint))
        symbol = INPUTS[TARGET_SYMBOLS[name]]
        try:
            statistics[name], limit = read_limit(symbol, value, bare=True)
            values[symbol.name] = (limit,)
        except ValueError as error:
            raise InputError(_problems("targets", name, error)) from None
    return Request(values=values, origin=dict.fromkeys(values, "target"), statistics=statistics)


def study_request(document: Document) -> tuple[StudySpec | None, Request]:
    """A study file and its request; the file of a theory alone has no study, and declares names.

    Raises:
        InputError: everything wrong with the file, with places and hints.
    """
    spec = read_study(document)
    if not isinstance(spec, StudySpec):
        return None, Request(own=spec.declared)
    base = Path(document.file).resolve().parent
    check_names(document, spec, base)
    limits = {name: target for name, target in spec.targets if target is not None}
    aims = {TARGET_SYMBOLS[name]: (limit,) for name, (_, limit) in limits.items()}
    of_devices: Values = {name: value for name, value in spec.set.items() if device_input(name)}
    plain: Values = {name: value for name, value in spec.set.items() if name not in of_devices}
    values: Values = {**spec.workload, **spec.efficiency, **spec.parallel, **plain, **aims}
    precision = {role: value for role, value in spec.precision if value}
    assume = {"scheduling": "disaggregated"} | spec.assume if spec.prefill else spec.assume
    profile, kind = chosen_engine(spec.engine) if spec.engine else ("", "")
    return spec, Request(
        models=spec.model,
        hardware=spec.hardware,
        precision=precision,
        values=values,
        assume=assume,
        preset=spec.preset,
        origin=dict.fromkeys([*values, *of_devices, *precision, *spec.assume, "draft"], "study"),
        base=base,
        assume_family=spec.assume_family,
        draft=spec.draft,
        efficiency=spec.efficiency.basis,
        engine=profile,
        engine_class=spec.efficiency.engine or kind,
        own=spec.declared,
        of_devices=of_devices,
        statistics={name: statistic for name, (statistic, _) in limits.items()},
        prefill=spec.prefill,
        traffic={name: each for name, each in spec.traffic if each},
    )


def check_names(document: Document, spec: StudySpec, base: Path) -> None:
    """Every name of the study leads to an entry or a file; a fault points at the study's own line."""
    named = [
        *((("models", "model", i), name) for i, name in enumerate(spec.model)),
        *((("models", "draft", 0), name) for name in (spec.draft,) if name and name not in HEADS),
        *((("hardware", "hardware", i), name) for i, name in enumerate(spec.hardware)),
        *((("presets", "preset", 0), name) for name in (spec.preset,) if name),
    ]
    problems: list[Problem] = []
    for (kind, key, i), name in named:
        try:
            read_spec(kind, name, base, spec.assume_family)
        except InputError as error:
            first = error.problems[0]
            place = (key, i) if (key, i) in document.places else (key,)
            # without a line the name is the fault; a fault inside the file it names has a place of
            # its own, and no line is shown of a file that only another file names: it may be secret
            here = document.problem(place, f"{name}: {first.message}", first.hint)
            inside = [replace(problem, source="") for problem in error.problems]
            problems += [here] if first.line is None else inside
    if problems:
        raise InputError(problems)
