"""Study specs: what a design review is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, ValidatorFunctionWrapHandler, WithJsonSchema, field_validator, model_validator

from symroof.errors import nearest
from symroof.formula.tree import Num
from symroof.specs.declared_entries import FormulaSpec, ThresholdSpec
from symroof.specs.engines import engine_class
from symroof.specs.fields import Faults, Spec, in_unit
from symroof.specs.input_values import MOST_VALUES, Setting, in_domain, of_device, setting_of_device, settings
from symroof.specs.stored import precision_name, precision_width
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.switches import expand_detail
from symroof.theory.symbols import GROUPS, INPUTS, TARGET_SYMBOLS, canonical


def _mapped(value: object, known: list[str] | None, formulas: bool, own: Declarations = NONE, devices: bool = False) -> dict[str, tuple[Setting, ...]]:
    """Names to values, all faults at once; ``known`` limits the names, with ``devices`` inputs of one device are names too."""
    if not isinstance(value, dict):
        raise ValueError("expected keys and values")
    mapped: dict[str, tuple[Setting, ...]] = {}
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for key, item in value.items():
        name = canonical(key)
        if known is not None and name not in known:
            faults.append(((key,), f"unknown key; {nearest(key, known)}"))
            continue
        try:
            mapped[name] = (setting_of_device(name, item),) if devices and of_device(name) else settings(key, item, formulas, own=own)
        except Faults as error:
            faults += [((key, *place), message) for place, message in error.items]
        except ValueError as error:
            faults.append(((key,), str(error)))
    if faults:
        raise Faults(faults)
    return mapped


def _group(*groups: str, extra: tuple[str, ...] = ()) -> Any:
    """A field that maps names of some groups of inputs to values."""
    known = [symbol.name for group in groups for symbol in GROUPS[group]] + list(extra)

    def check(value: object) -> dict[str, tuple[Setting, ...]]:
        return _mapped(value, known, formulas=False)

    return Annotated[Any, BeforeValidator(check), _NamesSchema(known)]


class _NamesSchema:
    """The JSON Schema of a field that maps known names, worked out when it is asked for: meanings of quantities are no matter of reading."""

    def __init__(self, known: list[str]) -> None:
        self.known = known

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        properties = {name: {"description": symbol.meaning} for name in self.known if (symbol := NONE.symbol(name))}
        return {"type": "object", "properties": properties, "additionalProperties": False}


def _any_names(value: object, info: ValidationInfo) -> dict[str, tuple[Setting, ...]]:
    return _mapped(value, None, formulas=True, own=_declared(info))


def _of_study(value: object, info: ValidationInfo) -> dict[str, tuple[Setting, ...]]:
    return _mapped(value, None, formulas=True, own=_declared(info), devices=True)


def _declared(info: ValidationInfo) -> Declarations:
    """What the study declares, as far as it is read: its theory and its own formulas."""
    theory: Declarations = info.context or NONE
    return _own_formulas(info.data.get("define", {}), theory).joined(theory)


def _own_formulas(specs: dict[str, FormulaSpec], known: Declarations) -> Declarations:
    """The formulas that a study declares; what reads them is loaded for the first."""
    if not specs:
        return NONE
    from symroof.specs.declared_names import declared_formulas

    return declared_formulas(specs, known)


def _own_thresholds(named: tuple[ThresholdSpec, ...], known: Declarations) -> Declarations:
    """The thresholds that a study declares beside those that it names; what reads them is loaded for the first."""
    if not (specs := _own(named)):
        return NONE
    from symroof.specs.declared_names import declared_thresholds

    return declared_thresholds(specs, known)


def read_assumptions(value: object) -> dict[str, str]:
    """Switches and values as written, ``detail`` expanded.

    Raises:
        ValueError: an unknown switch or value, each with its hint.
    """
    if not isinstance(value, dict):
        raise ValueError("expected switches and values")
    choices = {str(key): str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}
    faults: list[tuple[tuple[str | int, ...], str]] = []
    for key, item in choices.items():
        try:
            expand_detail({key: item})
        except KeyError as error:
            what, unknown, known = error.args
            faults.append(((key,), f"unknown {what} {unknown!r}; {nearest(unknown, known)}"))
    if faults:
        raise Faults(faults)
    return expand_detail(choices)  # here, so that a level's detail beats single switches of the levels below


def precision_names(value: object) -> tuple[str, ...]:
    """One precision or a list of them; ``weights`` means the same as the weights.

    Raises:
        ValueError: no such precision.
    """
    values = value if isinstance(value, (list, tuple)) else [value]
    texts = tuple(precision_name(str(item)) for item in values)
    for text in texts:
        if text != "weights":
            precision_width(text)
    return texts


def weight_precisions(value: object) -> tuple[str, ...]:
    """The same of the weights themselves, of which ``weights`` says nothing.

    >>> weight_precisions(["fp8", "awq"])
    ('fp8', 'awq')

    Raises:
        ValueError: no such precision, or ``weights``.
    """
    texts = precision_names(value)
    if "weights" in texts:
        raise ValueError("'weights' stands for the precision of the weights; write that of the weights by its name, such as fp8")
    return texts


NEEDED: Any = Field(default=None, validate_default=True)
"""A field that a study needs unless it is about a theory of its own."""


def _left_out(value: object, info: ValidationInfo) -> bool:
    """Whether a study of a theory alone leaves a field out; any other study needs it."""
    if value is None and not info.data.get("theory"):
        raise ValueError("is missing")
    return value is None


def _own(thresholds: tuple[ThresholdSpec, ...]) -> dict[int, ThresholdSpec]:
    """The thresholds that a study declares, by their places among those that it names."""
    return {i: item for i, item in enumerate(thresholds) if item != ThresholdSpec(name=item.name)}


def _named(value: object) -> object:
    """``all`` or a list of names as entries of a list."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    return [{"name": item} if isinstance(item, str) else item for item in listed]


def _strings(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values or len(values) > MOST_VALUES or not all(isinstance(item, str) and item for item in values):
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
    if value not in BASES:
        raise ValueError(f"must be one of {', '.join(BASES)}; {nearest(str(value)[:40], BASES)}")
    return str(value)


def _efficiencies(value: object) -> EfficiencyBlock:
    """``measured``, or ``{from: measured, engine: eager, mbu: 0.8}``, or numbers alone."""
    rest: Any = {"from": value} if isinstance(value, str) else dict(value) if isinstance(value, dict) else value
    basis, engine = "", ""
    faults: list[tuple[tuple[str | int, ...], str]] = []
    if isinstance(rest, dict):
        for key, read in (("from", efficiency_basis), ("engine", lambda name: engine_class(str(name)))):
            if key in rest:
                try:
                    text = read(rest.pop(key))
                    basis, engine = (text, engine) if key == "from" else (basis, text)
                except ValueError as error:
                    faults.append((() if isinstance(value, str) else (key,), str(error)))
    if faults:
        raise Faults(faults)
    block = EfficiencyBlock(_mapped(rest, [symbol.name for symbol in GROUPS["efficiency"]], formulas=False))
    block.basis, block.engine = basis, engine
    return block


Efficiencies = Annotated[
    Any,
    BeforeValidator(_efficiencies),
    WithJsonSchema({
        "anyOf": [
            {"enum": list(BASES)},
            {
                "type": "object",
                "properties": {
                    "from": {"enum": list(BASES), "description": "where efficiencies that are not given come from"},
                    "engine": {"type": "string", "description": "an engine or its class: compiled, earlier, eager, ggml"},
                    **{symbol.name: {"description": symbol.meaning} for symbol in GROUPS["efficiency"]},
                },
                "additionalProperties": False,
            },
        ]
    }),
]  # fmt: skip
NameList = Annotated[Any, BeforeValidator(_strings), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})]
Texts = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
Precisions = Annotated[Any, BeforeValidator(precision_names), Texts]
WeightPrecisions = Annotated[Any, BeforeValidator(weight_precisions), Texts]
ONE_THRESHOLD: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Thresholds = Annotated[
    tuple[ThresholdSpec, ...],
    BeforeValidator(_named),
    WithJsonSchema({"anyOf": [{"const": "all", "type": "string"}, {"items": ONE_THRESHOLD, "type": "array"}]}),
]
Settings = Annotated[Any, BeforeValidator(_any_names), WithJsonSchema({"type": "object"})]
StudySettings = Annotated[Any, BeforeValidator(_of_study), WithJsonSchema({"type": "object"})]
Assume = Annotated[Any, BeforeValidator(read_assumptions), WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}})]
if TYPE_CHECKING:
    Workload: TypeAlias = dict[str, tuple[Setting, ...]]
    Efficiency: TypeAlias = EfficiencyBlock
    Parallel: TypeAlias = dict[str, tuple[Setting, ...]]
else:
    Workload, Efficiency, Parallel = _group("workload", extra=("context",)), Efficiencies, _group("parallel")


class Precision(Spec):
    """Three independent precisions; ``weights`` in the other two means: the same as the weights."""

    weights: WeightPrecisions | None = None
    kv: Precisions | None = None
    activations: Precisions | None = None


def _limit(target: str, example: str) -> Any:
    """A field that holds the limit of one target."""
    symbol = INPUTS[TARGET_SYMBOLS[target]]

    def check(value: object) -> Setting:
        return in_domain(symbol, Num(in_unit(value, symbol.unit, symbol.written_in).value, symbol.dimension))

    return Annotated[Any, BeforeValidator(check), WithJsonSchema({"type": "string", "description": symbol.meaning, "examples": [example]})]


class Targets(Spec):
    """Limits on what is served, each on one metric.

    ``ttft`` and ``itl`` are times, ``itl`` of the last step; ``cost`` is the price of a million output tokens, ``price`` that
    of the devices that hold one copy of the model, ``fleet_price`` that of all devices: a budget. Memory is always a limit.
    """

    ttft: _limit("ttft", "200 ms") | None = None  # type: ignore[valid-type]
    itl: _limit("itl", "50 ms") | None = None  # type: ignore[valid-type]
    cost: _limit("cost", "2 USD") | None = None  # type: ignore[valid-type]
    price: _limit("price", "20 USD/hour") | None = None  # type: ignore[valid-type]
    fleet_price: _limit("fleet_price", "100 USD/hour") | None = None  # type: ignore[valid-type]


class StudySpec(Spec):
    """One design review: a model, hardware (the first is the baseline), a workload, targets; or a theory of one's own with values."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["model", "hardware", "workload"]}, {"required": ["theory"]}]})

    title: str | None = None
    theory: str | None = None
    define: dict[str, FormulaSpec] = {}
    model: NameList = NEEDED
    draft: str | None = None
    assume_family: str | None = None
    hardware: NameList = NEEDED
    parallel: Parallel = {}
    precision: Precision = Precision.model_construct()
    workload: Workload = NEEDED
    efficiency: Efficiency = EfficiencyBlock()
    assume: Assume = {}
    preset: str | None = None
    targets: Targets = Targets.model_construct()
    set: StudySettings = {}
    thresholds: Thresholds = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @field_validator("define")
    @classmethod
    def _defined(cls, value: dict[str, FormulaSpec], info: ValidationInfo) -> dict[str, FormulaSpec]:
        _own_formulas(value, info.context or NONE)
        return value

    @field_validator("model", "hardware", mode="wrap")
    @classmethod
    def _needed(cls, value: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        return () if _left_out(value, info) else read(value)

    @field_validator("workload", mode="wrap")
    @classmethod
    def _workload(cls, value: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        return {} if _left_out(value, info) else read(value)

    @field_validator("thresholds")
    @classmethod
    def _solvable(cls, value: tuple[ThresholdSpec, ...], info: ValidationInfo) -> tuple[ThresholdSpec, ...]:
        if "define" in info.data:  # formulas at fault are reported first: equations may speak of them
            _own_thresholds(value, _declared(info))
        return value

    def declarations(self, theory: Declarations = NONE) -> Declarations:
        """What the study declares, over those of its theory."""
        own = _own_formulas(self.define, theory).joined(theory)
        return _own_thresholds(self.thresholds, own).joined(own)

    @model_validator(mode="after")
    def _prompt(self) -> StudySpec:
        if self.model and "prompt" not in self.workload and "context" not in self.workload:
            raise Faults([(("workload",), "needs prompt (and output for a whole response)")])
        return self
