"""Fields of studies and presets: named values, precisions, counting choices, efficiencies, thresholds, and what a study declares itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, ValidationInfo, WithJsonSchema

from symroof.errors import nearest
from symroof.specs.definitions import (
    MOST_DECLARED,
    FormulaSpec,
    ThresholdSpec,
    declared_formulas,
    declared_thresholds,
)
from symroof.specs.efficiencies import engine_class
from symroof.specs.fields import Faults, Read, Spec, raise_faults, read_each
from symroof.specs.input_values import MOST_VALUES, Setting, device_input, settings
from symroof.specs.precision import precision_name, precision_width
from symroof.theory.declarations import NONE, THRESHOLDS, Declarations
from symroof.theory.switches import expand_detail
from symroof.theory.symbols import GROUPS, canonical


def _mapped(
    value: object,
    known: list[str] | None = None,
    formulas: bool = True,
    own: Declarations = NONE,
    devices: bool = False,
) -> dict[str, tuple[Setting, ...]]:
    """Names to values; ``known`` limits the names, with ``devices`` inputs of one device are names too."""
    if not isinstance(value, dict):
        raise ValueError("expected keys and values")

    def read(key: str, item: object) -> tuple[Setting, ...]:
        name = canonical(key)
        if known is not None and name not in known:
            hint = "a comma parts entries: write a number without" if key.isdigit() else ""
            if ":" in key:
                hint = f"write a space after the colon: {key.replace(':', ': ', 1)[:60]}"
            raise ValueError(f"unknown key; {hint or nearest(key, known)}".removesuffix("; "))
        if devices and device_input(name):
            return settings(name, item)
        return settings(key, item, formulas, own=own)

    return read_each(value.items(), read, named=canonical)


def _inputs(*names: str, **more: Any) -> dict[str, Any]:
    """The JSON Schema of a mapping of inputs by name."""
    symbols = filter(None, map(NONE.symbol, names))
    properties = {symbol.name: {"description": symbol.meaning} for symbol in symbols}
    return {"properties": more | properties, "additionalProperties": False}


def any_names(
    value: object, info: ValidationInfo, devices: bool = False
) -> dict[str, tuple[Setting, ...]]:
    own = info.data.get("define", NONE)
    return _mapped(value, own=own, devices=devices)


def _declared(specs: dict[str, FormulaSpec], info: ValidationInfo) -> Declarations:
    """The formulas that a study defines, as declarations over those of its theory (the context)."""
    theory: Declarations = info.context or NONE
    return declared_formulas(specs, theory).joined(theory) if specs else theory


Define: TypeAlias = Annotated[dict[str, FormulaSpec], MOST_DECLARED, AfterValidator(_declared)]


def own_thresholds(named: tuple[ThresholdSpec, ...], known: Declarations) -> Declarations:
    """The thresholds that a study declares, by their places among those that it names.

    Raises:
        Faults: a name alone that is none, a fault of a declaration.
    """
    specs = {i: item for i, item in enumerate(named) if item != ThresholdSpec(name=item.name)}
    alone = {i: item.name for i, item in enumerate(named) if i not in specs}
    lacking = {i: n for i, n in alone.items() if n != "all" and known.threshold(n) is None}
    near = {i: nearest(name, THRESHOLDS) for i, name in lacking.items()}
    raise_faults([((i,), f"no threshold {n[:40]!r}; {near[i]}") for i, n in lacking.items()])
    return declared_thresholds(specs, known)


def check_choice(switch: str, value: str) -> None:
    """Check one counting choice.

    Raises:
        ValueError: an unknown switch or value, with the nearest.
    """
    try:
        expand_detail({switch: value})
    except KeyError as error:
        what, unknown, known = error.args
        raise ValueError(f"unknown {what} {unknown[:40]!r}; {nearest(unknown, known)}") from None


def read_assumptions(value: object) -> dict[str, str]:
    """Switches and values as written, ``detail`` expanded.

    Raises:
        ValueError: an unknown switch or value, each with its hint.
    """
    if not isinstance(value, dict):
        raise ValueError("expected switches and values")
    texts = ((str(key), str(item), isinstance(item, bool)) for key, item in value.items())
    choices = {key: text.lower() if is_truth else text for key, text, is_truth in texts}
    read_each(choices.items(), check_choice)
    # here, so that a level's detail beats single switches of the levels below
    return expand_detail(choices)


def precision_names(value: object, of_weights: bool = False) -> tuple[str, ...]:
    """One precision or a list of them: of the weights, or of a cache or of activations, where ``weights`` means the same as the weights.

    >>> precision_names(["fp8", "awq"], of_weights=True)
    ('fp8', 'awq')

    Raises:
        ValueError: no such precision; one of weights alone, or one that says nothing of weights.
    """
    values = value if isinstance(value, (list, tuple)) else [value]
    texts = tuple(precision_name(str(item)) for item in values)
    for text in texts:
        bare = re.fullmatch(r"(\d)bits?", text) if of_weights else None
        if text != "weights":
            precision_width(text)
        elif of_weights:
            message = "'weights' means the precision of the weights"
            raise ValueError(f"{message}; name a precision, such as fp8")
        if not of_weights and text.startswith(("awq", "gptq", "w4a16", "w8a16", "mlx-")):
            message = f"{text} is a format of weights"
            raise ValueError(f"{message}; a cache is stored in fp8, int8, fp16 …")
        if bare:
            usual = "w8a8 or fp8-block" if bare[1] == "8" else "awq or w4a16"
            message = f"{text!r} does not say whether the weights have scales"
            raise ValueError(f"{message}; write {usual}, or '{bare[1]} bit' for none")
    return texts


def _named(value: object) -> object:
    """``all`` or a list of names as entries of a list."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    return [{"name": item} if isinstance(item, str) else item for item in listed]


def _strings(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if not 0 < len(values) <= MOST_VALUES or any(not x or type(x) is not str for x in values):
        raise ValueError("expected a name, a path, or a list of them")
    return tuple(values)


BASES = ("peak", "measured")
"""Where efficiencies that are not given come from: the peak (all shares 1, no overhead), or the measurements of others."""


class EfficiencyBlock(dict[str, tuple[Setting, ...]]):
    """Efficiencies by name, and where the others come from: ``basis`` and the class of ``engine``, empty where the study says nothing."""

    basis: str = ""
    engine: str = ""


def efficiency_basis(value: object) -> str:
    """``peak`` or ``measured``.

    Raises:
        ValueError: neither.
    """
    text = str(value)[:40]
    if text not in BASES:
        raise ValueError(f"no such efficiency {text!r}; {nearest(text, BASES)}")
    return text


def _efficiencies(value: object) -> EfficiencyBlock:
    """``measured``, or ``{from: measured, engine: eager, mbu: 0.8}``, or numbers alone."""
    if isinstance(value, str):
        value = {"from": efficiency_basis(value)}
    rest: Any = dict(value) if isinstance(value, dict) else value
    readers: dict[str, Callable[[Any], str]] = {"from": efficiency_basis, "engine": engine_class}
    words: dict[str, str] = {}
    if isinstance(rest, dict):
        stated = [(key, rest.pop(key)) for key in readers if key in rest]
        words = read_each(stated, lambda key, text: readers[key](str(text)))
    block = EfficiencyBlock(_mapped(rest, OF_EFFICIENCY, formulas=False))
    block.basis, block.engine = words.get("from", ""), words.get("engine", "")
    return block


OF_WORKLOAD, OF_PARALLEL, OF_EFFICIENCY = (
    [symbol.name for symbol in GROUPS[group]] for group in ("workload", "parallel", "efficiency")
)
OF_WORKLOAD.append("context")
BASIS = {"enum": list(BASES), "description": "source of those that are not given"}
CLASS = {"type": "string", "description": "an engine, or a class of engines"}
NamesAndValues = WithJsonSchema({"type": "object"})
WORD_OR_NUMBERS = _inputs(*OF_EFFICIENCY, **{"from": BASIS, "engine": CLASS})
WORD_OR_NUMBERS = {"pattern": "^(peak|measured)$"} | WORD_OR_NUMBERS
Efficiency: TypeAlias = Annotated[Any, Read(_efficiencies, "string object", WORD_OR_NUMBERS)]
TEXTS = {"items": {"type": "string"}}
NameList = Annotated[Any, Read(_strings, "string array", TEXTS)]
Precisions = Annotated[Any, Read(precision_names, "string array", TEXTS)]
of_weights = partial(precision_names, of_weights=True)
WeightPrecisions = Annotated[Any, Read(of_weights, "string array", TEXTS)]
Thresholds = Annotated[
    tuple[ThresholdSpec, ...],
    MOST_DECLARED,
    BeforeValidator(_named),
    WithJsonSchema({"type": ["string", "array"], "items": {"type": ["string", "object"]}}),
]
Settings = Annotated[Any, BeforeValidator(any_names), NamesAndValues]
StudySettings = Annotated[Any, BeforeValidator(partial(any_names, devices=True)), NamesAndValues]
ANY_WORDS = {"additionalProperties": {"type": "string"}}
Assume = Annotated[Any, Read(read_assumptions, "object", ANY_WORDS)]
Workload: TypeAlias = Annotated[
    Any, Read(partial(_mapped, known=OF_WORKLOAD), "object", _inputs(*OF_WORKLOAD))
]
Parallel: TypeAlias = Annotated[
    Any, Read(partial(_mapped, known=OF_PARALLEL), "object", _inputs(*OF_PARALLEL))
]


class Precision(Spec):
    """Three independent precisions; ``weights`` in the other two means: the same as the weights."""

    weights: WeightPrecisions | None = None
    kv: Precisions | None = None
    activations: Precisions | None = None


OF_PREFILL = ("tp", "pp", "attention_dp", "ep", "instances", "devices")
"""What a layout of instances that only prefill says."""


def prefill_layout(value: object) -> dict[str, Fraction]:
    """The layout and number of the instances that only prefill, by name: whole numbers from 1 on.

    >>> prefill_layout({"tp": 4, "instances": "3"})
    {'tp': Fraction(4, 1), 'instances': Fraction(3, 1)}

    Raises:
        Faults: everything wrong, with the name.
    """
    if not isinstance(value, Mapping):
        raise Faults([((), "expected keys and values")])

    def read(key: object, item: object) -> Fraction:
        if key not in OF_PREFILL:
            raise ValueError(f"unknown key; {nearest(str(key), OF_PREFILL)}")
        if isinstance(item, bool) or not re.fullmatch(r"[1-9]\d{0,5}", str(item).strip()):
            raise ValueError("is a whole number from 1 on")
        return Fraction(str(item).strip())

    if {"instances", "devices"} <= value.keys():
        raise Faults([(("devices",), "instances say how many devices there are")])
    return read_each(value.items(), read)


ONLY_PREFILL = "instances that only prefill, where their layout is their own: degrees, and how many instances (or devices) beside all that decode"
COUNTS = {name: {"type": "integer", "minimum": 1} for name in OF_PREFILL}
LAYOUT = {"description": ONLY_PREFILL, "properties": COUNTS, "additionalProperties": False}
PrefillLayout: TypeAlias = Annotated[Any, Read(prefill_layout, "object", LAYOUT)]
