"""``quantization_config`` of a checkpoint: how wide its matrices are stored, with all that is stored beside them.

Checked against what published checkpoints say of themselves (``total_size`` of their safetensors index). A scheme says what
a weight, a group, a row, a column and a matrix take; which operators stay wide is read off the lists of modules.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from symroof.errors import InputError, Problem, nearest
from symroof.specs.checkpoints.module_names import operators_named
from symroof.specs.checkpoints.quantization_methods import METHODS, SchemeError
from symroof.specs.fields import first_error
from symroof.specs.quantization import Quantization
from symroof.strict_yaml import Location, path_text

Report = Callable[[Location, str, str], Problem]

FIELDS = ("quantization_config", "compression_config")
NESTED = ("text_config", "llm_config", "language_config")
LISTS = ("modules_to_not_convert", "ignored_layers", "ignore", "modules_not_converted", "exclude_modules", "llm_int8_skip_modules", "skip_modules")
NEVER = ("embedding", "layer_inputs", "conv", "router", "shared_gate")
"""What no method narrows: tables, short convolutions, and the few columns that choose experts."""

MOST_PATTERNS = 100_000


def read_quantization(config: Mapping[str, Any], report: Report | None = None) -> Quantization | None:
    """How the checkpoint of a ``config.json`` is stored; None where it is not quantized.

    An unquantized checkpoint is served in 16 bits whatever its ``torch_dtype`` says: float32 files are narrowed when loaded.

    Raises:
        InputError: an unknown method, a field that is missing or not what it should be.

    >>> read_quantization({"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}).scale_bits.text
    '20 bit'
    """
    place, fields = _fields(config)
    say = report or _in_config
    if fields is None:
        return None
    if not isinstance(fields, Mapping):
        raise InputError(say(place, "expected an object with fields", ""))
    try:
        return _read(fields, _n_layers(config))
    except SchemeError as error:
        raise InputError(say((*place, *error.place), str(error), error.hint)) from None
    except ValidationError as error:
        raise InputError(say(place, f"is not a valid quantization: {': '.join(first_error(error))}", "")) from None


def _in_config(place: Location, message: str, hint: str) -> Problem:
    return Problem("config.json", message, path=path_text(place), hint=hint)


def _fields(config: Mapping[str, Any]) -> tuple[Location, Any]:
    """The field, at the top level or with the language model's fields."""
    for place in ((), *((name,) for name in NESTED)):
        inside = config.get(place[0]) if place else config
        if isinstance(inside, Mapping):
            for name in FIELDS:
                if inside.get(name) is not None:
                    return (*place, name), inside[name]
    return (), None


def _n_layers(config: Mapping[str, Any]) -> int | None:
    counts = (inside.get("num_hidden_layers") for inside in (config, *(config.get(name) for name in NESTED)) if isinstance(inside, Mapping))
    return next((n for n in counts if isinstance(n, int) and n > 0), None)


def _read(fields: Mapping[str, Any], n_layers: int | None) -> Quantization:
    method = fields.get("quant_method")
    if method is None:
        method = "bitsandbytes" if any(fields.get(key) for key in ("load_in_8bit", "load_in_4bit")) else "modelopt" if "quant_algo" in fields else None
    if not isinstance(method, str):
        raise SchemeError("is missing" if method is None else "expected a text", ("quant_method",), f"known are {', '.join(METHODS)}")
    scheme = METHODS.get(method.lower())
    if scheme is None:
        near = nearest(method, METHODS)
        known = f"known are {', '.join(METHODS)}"
        raise SchemeError(f"no quantization method {method[:40]!r} is known", ("quant_method",), f"{near} {known}" if near.startswith("did") else known)
    stored = scheme(fields)
    wide, notes = _wide(fields, stored.pop("kept", ("lm_head",)), n_layers)
    return Quantization.model_validate({**stored, "kept": wide, "notes": (*stored.get("notes", ()), *notes)})


def _wide(fields: Mapping[str, Any], always: tuple[str, ...], n_layers: int | None) -> tuple[tuple[str, ...], list[str]]:
    """Operators that stay wide, and what of the lists could not be read exactly."""
    named = operators_named(_patterns(fields))
    wide, notes = {*NEVER, *always, *named.wholly}, [f"the pattern {text!r} of modules that stay wide was not understood" for text in named.unread[:5]]
    for operator, layers in named.partly.items():
        if operator in wide:
            continue
        mostly = n_layers is None or 2 * len(layers) >= n_layers
        wide |= {operator} if mostly else set()
        if n_layers is None or len(layers) < n_layers:
            notes.append(f"{operator} stays wide in {len(layers)} of {n_layers or 'some'} layers; it counts as {'wide' if mostly else 'quantized'} in all")
    return tuple(sorted(wide)), notes


def _patterns(fields: Mapping[str, Any]) -> list[str]:
    """Every list of modules, wherever the method keeps it."""
    inside = fields.get("quantization")
    patterns: list[str] = []
    for source in (fields, inside if isinstance(inside, Mapping) else {}):
        for name in LISTS:
            listed = source.get(name) or []
            if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
                raise SchemeError("expected a list of module names", (name,))
            if len(listed) > MOST_PATTERNS:
                raise SchemeError(f"has more than {MOST_PATTERNS:,} entries", (name,))
            patterns += listed
    return patterns
