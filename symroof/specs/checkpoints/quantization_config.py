"""``quantization_config`` of a checkpoint: how wide its matrices are stored, with all that is stored beside them.

Checked against what published checkpoints say of themselves (``total_size`` of their safetensors index). A scheme says what
a weight, a group, a row, a column and a matrix take; which operators stay wide is read off the lists of modules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from symroof.errors import InputError, Problem, nearest
from symroof.specs.checkpoints.family import table as families_table
from symroof.specs.checkpoints.module_names import (
    NamedOperators,
    operator_modules,
    operators_named,
    table,
)
from symroof.specs.checkpoints.quantization_methods import (
    SchemeError,
    along_row,
    bits,
    known_methods,
    mixed_precision,
    scheme_of,
)
from symroof.specs.fields import first_error
from symroof.specs.layers import MOST_LAYERS
from symroof.specs.quantization import Quantization, Storage, matrices
from symroof.strict_yaml import Location, path_text

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec

Report = Callable[[Location, str, str], Problem]

FIELDS = ("quantization_config", "compression_config", "quantization")
"""Where a file says how it is stored; the last is that of MLX."""
OF_MLX = ("conv",)
"""What MLX does not narrow: its tables and routers are stored as all else is."""
NEVER = ("embedding", "layer_inputs", "conv", "router", "shared_gate")
"""What no method narrows: tables, short convolutions, and the few columns that choose experts."""

MOST_PATTERNS = 100_000


def read_quantization(
    config: Mapping[str, Any], report: Report | None = None, model: ModelSpec | None = None
) -> Quantization | None:
    """How the checkpoint of a ``config.json`` is stored; None where it is not quantized. ``model`` says which of its layers have which operators.

    An unquantized checkpoint is served in 16 bits whatever its ``torch_dtype`` says: float32 files are narrowed when loaded.

    Raises:
        InputError: an unknown method, a field that is missing or not what it should be.

    >>> read_quantization({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}).scale_bits.text
    '20 bit'
    """

    def in_config(place: Location, message: str, hint: str) -> Problem:
        return Problem("config.json", message, path=path_text(place), hint=hint)

    place, fields = _fields(config)
    say = report or in_config
    if fields is None:
        return None
    if not isinstance(fields, Mapping):
        raise InputError(say(place, "expected an object with fields", ""))
    _, inner = [*_insides(config)][:2][-1]
    kind = str(inner.get("model_type") or "")
    try:
        return _read(fields, _held(config, model), kind, config.get("expert_dtype"))
    except SchemeError as error:
        raise InputError(say((*place, *error.place), str(error), error.hint)) from None
    except ValidationError as error:
        raise InputError(
            say(place, f"is not a valid quantization: {': '.join(first_error(error))}", "")
        ) from None


def _fields(config: Mapping[str, Any]) -> tuple[Location, Any]:
    """The field, at the top level or with the language model's fields."""
    for place, inside in _insides(config):
        for name in FIELDS:
            if inside.get(name) is not None:
                return (*place, name), inside[name]
    return (), None


def _insides(config: Mapping[str, Any]) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    """The fields of the file, and those of a language model inside it, with their places."""
    yield (), config
    for name in families_table()["nested"]:
        if isinstance(inside := config.get(name), Mapping):
            yield (name,), inside


@dataclass(frozen=True)
class Held:
    """Where a model has its operators: the layers of each, and its parameters; of an unknown model all layers have all of them."""

    n_layers: int | None
    layers: Mapping[str, frozenset[int]]
    params: Mapping[str, int]

    def of(self, operator: str) -> frozenset[int] | None:
        """The layers that have an operator; None where that is not known."""
        if self.layers:
            return self.layers.get(operator, frozenset())
        return frozenset(range(self.n_layers)) if self.n_layers else None


def _held(config: Mapping[str, Any], model: ModelSpec | None) -> Held:
    counts = (inside.get("num_hidden_layers") for _, inside in _insides(config))
    n_layers = next((n for n in counts if isinstance(n, int) and 0 < n <= MOST_LAYERS), None)
    if model is None:
        return Held(n_layers, {}, {})
    layers: dict[str, set[int]] = {}
    params: Counter[str] = Counter()
    kinds = dict(zip(model.labels(), model.layers, strict=True))
    sequence = model.sequence() or (next(iter(kinds)),) * model.layers[0].count
    places = {label: [i for i, other in enumerate(sequence) if other == label] for label in kinds}
    for label, kind in kinds.items():
        for matrix in matrices(kind, model.d_model or 1):
            layers.setdefault(matrix.operator, set()).update(places[label])
            params[matrix.operator] += (
                matrix.rows * matrix.columns * matrix.times * len(places[label])
            )
    return Held(
        n_layers, {operator: frozenset(numbers) for operator, numbers in layers.items()}, params
    )


Group = tuple[Mapping[str, Any], NamedOperators, bool]
"""What a group stores of each weight, its operators, and whether it is for everything."""


def _read(
    fields: Mapping[str, Any], held: Held, model_type: str, expert_dtype: Any
) -> Quantization:
    method, stored = _scheme(fields)
    notes, always = stored.pop("notes", ()), stored.pop("kept", ("lm_head",))
    groups = stored.pop("groups", []) + stored.pop("others", [])
    named = operators_named([*_patterns(fields), *stored.pop("wide", ())], model_type)
    never = OF_MLX if stored.pop("narrow", False) else NEVER
    if (
        stored and str(fields.get("quant_algo")).upper() == "MIXED_PRECISION"
    ):  # a checkpoint of one method, of which another stored parts again
        groups, named = mixed_precision(fields), NamedOperators(frozenset())
    each = [(how, operators_named(modules, model_type), "*" in modules) for how, modules in groups]
    if not stored:
        base = _base(each, held)
        stored = dict(base[0])
        if not base[2]:
            named_by_any = {name for _, one, _ in each for name in (*one.wholly, *one.partly)}
            always = tuple(name for name in operator_modules() if name not in named_by_any)
        each.remove(base)
    if expert_dtype == "fp4":
        each.append((MXFP4_EXPERTS, NamedOperators(frozenset(["experts"])), False))
    kept, parts, doubts = _wide({*never, *always}, named, held)
    taken: set[str] = set(kept) - set(always)
    for how, one, of_all in each:
        if of_all:  # of two groups for everything the first holds
            continue
        made = _stored_parts(how, one, held, taken)
        parts += made
        taken |= {
            operator for part in made for operator in part["operators"] if "layers" not in part
        }
    elsewhere = {operator for part in parts for operator in part["operators"]}
    unread = [
        f"the pattern {text!r} of its list of modules was not understood"
        for text in named.unread[:5]
    ]
    known = table()["known"] + table()["lists"]
    left = (key for key in fields if key not in known and fields[key] not in (None, [], {}))
    own = () if method == "mlx" else left
    unread += [f"quantization_config.{key} was not read" for key in islice(own, 5)]
    return Quantization.model_validate(
        {
            **stored,
            "kept": tuple(sorted(kept - elsewhere)),
            "parts": parts,
            "kv": _cache(fields),
            "notes": (*notes, *doubts),
            "unread": unread,
        }
    )


def _scheme(fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method of a file, and what it stores."""
    method, place = fields.get("quant_method") or _unnamed(fields), ("quant_method",)
    known = f"known are {', '.join(known_methods())}"
    if not isinstance(method, str):
        raise SchemeError("is missing" if method is None else "expected a text", place, known)
    stored = scheme_of(method.lower(), fields)
    if stored is None:
        near = nearest(method, known_methods())
        hint = f"{near} {known}" if near.startswith("did") else known
        raise SchemeError(f"no quantization method {method[:40]!r} is known", place, hint)
    return method, stored


def _unnamed(fields: Mapping[str, Any]) -> str | None:
    """The method of a file that does not name it, by the fields that it alone has."""
    if any(fields.get(key) for key in ("load_in_8bit", "load_in_4bit")):
        return "bitsandbytes"
    if "quant_algo" in fields:
        return "modelopt"
    if "qformat_weight" in fields:
        return "mistral"
    return "mlx" if {"bits", "group_size"} <= fields.keys() else None


MXFP4_EXPERTS = {"bits": bits(4), **along_row(32, 8)}
"""Experts in 4-bit floats with an 8-bit exponent for 32, beside 8-bit matrices (DeepSeek-V4, ``expert_dtype``)."""
STORAGE = frozenset(Storage.model_fields)


def _base(groups: list[Group], held: Held) -> Group:
    """The group for everything, or else that of the most parameters; of an unknown model of the most operators."""
    sizes = [
        sum(held.params.get(name, 0) if held.params else 1 for name in (*one.wholly, *one.partly))
        for _, one, _ in groups
    ]
    everything = [group for group in groups if group[2]]
    return everything[0] if everything else groups[sizes.index(max(sizes))]


def _by_layers(
    named: NamedOperators, held: Held, taken: Collection[str]
) -> tuple[set[str], list[dict[str, Any]]]:
    """The operators that are named in every layer that has them, and parts for those that are in some; ``taken`` are left out."""
    whole, parts = set(named.wholly) - set(taken), []
    for operator, layers in named.partly.items():
        among = held.of(operator)
        if operator in taken:
            continue
        if among is None or among <= layers:
            whole.add(operator)
        elif layers & among:
            count = {"layers": len(layers & among), "of": len(among)}
            parts.append({"operators": (operator,), **count})
    return whole, parts


def _wide(
    always: set[str], named: NamedOperators, held: Held
) -> tuple[set[str], list[dict[str, Any]], list[str]]:
    """Operators that stay wide, those that do in some of their layers, and what could not be read exactly."""
    there = {name for name in named.partly if held.of(name) != frozenset()}
    wide, parts = _by_layers(named, held, always | named.partly.keys() - there)
    notes = [
        f"{name} stays wide in {len(layers)} of some layers; it counts as wide in all"
        for name, layers in named.partly.items()
        if name in wide and held.of(name) is None
    ]
    return always | wide, [{**part, "bits": bits(16)} for part in parts], notes


def _stored_parts(
    how: Mapping[str, Any], named: NamedOperators, held: Held, taken: set[str]
) -> list[dict[str, Any]]:
    """The operators of a group with what it stores, those of all layers together; ``taken`` are stored otherwise already."""
    storage = {key: value for key, value in how.items() if key in STORAGE}
    whole, some = _by_layers(named, held, taken)
    parts = [{**storage, **part} for part in some]
    outside = ("lm_head", "embedding")
    there = sorted(each for each in whole if held.of(each) != frozenset() or each in outside)
    return [{**storage, "operators": tuple(there)}, *parts] if there else parts


def _cache(fields: Mapping[str, Any]) -> str | None:
    """The precision of the cache that a checkpoint asks for (``kv_cache_quant_algo``, ``kv_cache_scheme``)."""
    inside = fields.get("quantization")
    source = inside if isinstance(inside, Mapping) else fields
    named = source.get("kv_cache_quant_algo") or source.get("kv_cache_scheme")
    if isinstance(named, Mapping):
        return {("float", 8): "fp8", ("int", 8): "int8", ("float", 4): "fp4"}.get(
            (str(named.get("type", "float")), named.get("num_bits") or 0)
        )
    return {"FP8": "fp8", "INT8": "int8", "NVFP4": "fp4"}.get(str(named).upper())


def _patterns(fields: Mapping[str, Any]) -> list[str]:
    """Every list of modules, wherever the method keeps it."""
    inside = fields.get("quantization")
    patterns: list[str] = []
    for source in (fields, inside if isinstance(inside, Mapping) else {}):
        for name in table()["lists"]:
            listed = source.get(name) or []
            if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
                raise SchemeError("expected a list of module names", (name,))
            if len(listed) > MOST_PATTERNS:
                raise SchemeError(f"has more than {MOST_PATTERNS:,} entries", (name,))
            patterns += listed
    return patterns
