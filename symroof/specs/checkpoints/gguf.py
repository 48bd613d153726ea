"""A GGUF file as a model: what llama.cpp runs, with its exact parameters and resident bytes, from the header alone.

The shapes of its tensors are the widths, the metadata says what shapes cannot. Tensor names are those of ``gguf-py/gguf/constants.py``
(github.com/ggml-org/llama.cpp). Extents come inputs first: a matrix of n outputs and k inputs has shape (k, n), experts a third extent. What a block
is made of stands in ``specs/checkpoints/ggml.yaml``, as expressions over the methods of :class:`GgufLayer`.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from symroof.errors import nearest
from symroof.specs.checkpoints.family_fields import WORDS, value_of
from symroof.specs.checkpoints.gguf_header import FILE_TYPES, TABLE, Header, Tensor, read_header
from symroof.specs.fields import first_error, spec_name
from symroof.specs.layers import distinct_layers
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import Document
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.theory import theory


@dataclass(frozen=True)
class GgufLayer:
    """One block's tensors by their names without ``blk.N.``."""

    header: Header
    index: int
    tensors: dict[str, Tensor]

    def has(self, name: str) -> bool:
        return f"{name}.weight" in self.tensors

    def biased(self, *names: str) -> bool:
        return any(f"{name}.bias" in self.tensors for name in names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Extents of a tensor, a missing second one being 1."""
        tensor = self.tensors.get(f"{name}.weight")
        if tensor is None:
            raise self.header.problem(f"blk.{self.index}.{name}.weight", "is missing")
        return (*tensor.shape, 1)[: max(len(tensor.shape), 2)]

    def inputs(self, name: str) -> int:
        return self.shape(name)[0]

    def outputs(self, name: str) -> int:
        return self.shape(name)[1]

    def meta(self, key: str) -> int | None:
        """A whole number of the architecture's metadata; of one a layer, this layer's."""
        name = f"{self.header.metadata['general.architecture']}.{key}"
        value = self.header.metadata.get(name)
        if isinstance(value, list):
            if self.index >= len(value):
                raise self.header.problem(
                    name, f"has {len(value)} entries; layer {self.index} has none"
                )
            value = value[self.index]
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**8:
            raise self.header.problem(name, "expected a whole number")
        return value

    def needed(self, key: str) -> int:
        value = self.meta(key)
        if not value:
            name = f"{self.header.metadata['general.architecture']}.{key}"
            raise self.header.problem(
                name,
                "is missing" if value is None else f"is 0 in layer {self.index}, which needs one",
            )
        return value

    def split(self, name: str, parts: int, total: int | None = None) -> int:
        """The outputs of a tensor, or another extent of it, shared out evenly."""
        total = self.outputs(name) if total is None else total
        if parts < 1 or total % parts or total < parts:
            raise self.header.problem(
                f"blk.{self.index}.{name}.weight",
                f"its extent of {total:,} cannot be shared by {parts:,}",
            )
        return total // parts

    def whole_parts(self, name: str, parts: int | None) -> int:
        """So many parts of a tensor's inputs, where they come out even; else one."""
        return parts if parts and self.inputs(name) % parts == 0 else 1

    def slides(self) -> bool | None:
        """Whether it slides, by the file's pattern or else the architecture's; None where neither says."""
        architecture = str(self.header.metadata["general.architecture"])
        pattern = self.header.metadata.get(f"{architecture}.attention.sliding_window_pattern")
        if isinstance(pattern, list):
            return bool(pattern[self.index % len(pattern)]) if pattern else None
        whole = isinstance(pattern, int) and not isinstance(pattern, bool)
        period = (
            self.meta("attention.sliding_window_pattern")
            if whole
            else TABLE["periods"].get(architecture)
        )
        return None if period is None else period == 0 or self.index % period < period - 1

    def reach(self) -> int | None:
        """The window of a layer that slides, where that is shorter than the longest context."""
        window, longest = self.meta("attention.sliding_window"), self.meta("context_length")
        whole = not window or (longest and window >= longest)
        return None if whole or not self.slides() else window


class _Names(dict[str, Any]):
    """What a name in a block's table means: a field that was read before it, a method of the layer, or a word."""

    def __init__(self, layer: GgufLayer) -> None:
        super().__init__()
        self.layer = layer

    def __missing__(self, name: str) -> Any:
        return name if name in WORDS else getattr(self.layer, name)


def layer_kind(layer: GgufLayer) -> dict[str, Any]:
    """One block as the fields of a layer kind, without its count."""
    wide = (layer.header.tensors["token_embd.weight"].shape[0], 1)
    tensors = (name.removesuffix(".weight") for name in layer.tensors if name.endswith(".weight"))
    norms = [name for name in tensors if name.endswith("norm") or "norm_" in name]
    counted = sum(name not in TABLE["inside"] and layer.shape(name) == wide for name in norms)
    fields: dict[str, Any] = {"norms": counted}
    for part, choices in TABLE["parts"].items():
        names = _Names(layer)
        block = next((name for tensor, name in choices.items() if layer.has(tensor)), "")
        for name, written in TABLE["blocks"].get(block, {}).items():
            names[name] = value_of(written, names)
        if names:
            fields[part] = {field: value for field, value in names.items() if value is not None}
    return {**fields, "ffn": fields.get("ffn", {"kind": "none"})}


ARCHITECTURES = frozenset(TABLE["architectures"])
"""Architectures (``general.architecture``) whose tensors mean what their names say."""

MOST_PARTS, MOST_LAYERS = 1000, 1000


OPERATORS = {tensor: operator for operator, own in TABLE["tensors"].items() for tensor in own}
"""Which operator of the theory a matrix belongs to."""

SMALL = re.compile(r"(norm|bias)(_\d)?$|^(attn_sinks|ssm_a|ssm_d|position_embd|exp_probs_b)$")
"""What stays wide and is multiplied by nothing as a matrix: norms, biases, scalars, tables of positions."""

OLD_EXPERT = re.compile(r"ffn_(gate|up|down)\.\d{1,4}$")


@dataclass
class TensorTotals:
    """Parameters and bytes of a file by operator, those of the small wide tensors under no operator's name; and tensors that no layer list has."""

    elements: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, Tensor] = field(default_factory=dict)

    def bits(self, operator: str) -> Fraction:
        """Bits of a parameter, with all that is stored beside it."""
        return Fraction(8 * self.bytes[operator], self.elements[operator])


def totals_by_operator(
    tensors: Iterable[tuple[str, Tensor]], plain: bool, q_lora: bool
) -> TensorTotals:
    """Tensors, by their names without ``blk.N.``, shared out; ``plain`` feed-forward layers have no gate."""
    held = TensorTotals()
    for name, tensor in tensors:
        base, _, kind = name.rpartition(".")
        operator = "experts" if OLD_EXPERT.match(base) else OPERATORS.get(base)
        operator = {
            "attn_kv_a_mqa": operator if q_lora else "qkv",
            "ffn_up": "up" if plain else operator,
        }.get(base, operator)
        if base in TABLE["constants"]:
            continue
        scale = kind in ("scale", "input_scale")
        if not (operator and (scale or kind == "weight")):
            operator = ""
            if kind != "bias" and not SMALL.search(base if kind == "weight" else name):
                held.unknown[tensor.name] = tensor
                continue
        held.elements[operator] += 0 if operator and scale else tensor.elements
        held.bytes[operator] += tensor.bytes
    return held


def quantization(header: Header, held: TensorTotals, tied: bool) -> dict[str, Any]:
    """The fields of a quantization that gives back the file's bytes: the width that most parameters have, and each operator's own."""
    widths = {operator: held.bits(operator) for operator, n in held.elements.items() if n}
    small = widths.pop("", Fraction(32))
    if tied and "embedding" in widths:
        widths["lm_head"] = widths["embedding"]
    common = _most_common((bits, held.elements[operator]) for operator, bits in widths.items())
    kind = _most_common((tensor.type, tensor.elements) for tensor in header.tensors.values())
    stated = header.metadata.get("general.file_type")
    method = FILE_TYPES.get(stated) if type(stated) is int else None
    return {
        "method": method or kind.name.lower(),
        "bits": common,
        "format": kind.format,
        "kept": (),
        "kept_bits": small,
        "widths": {operator: bits for operator, bits in sorted(widths.items()) if bits != common},
    }


def _most_common(weighed: Iterable[tuple[Any, int]]) -> Any:
    """The value that most weights have."""
    totals = Counter[Any]()
    for value, weights in weighed:
        totals[value] += weights
    return totals.most_common(1)[0][0]


def read_gguf(path: str | os.PathLike[str]) -> tuple[ModelSpec, Header]:
    """The model in a GGUF file, or in all parts of a split one, and its header; the tensors' data are not read.

    Raises:
        InputError: not GGUF, cut short, out of bounds, an architecture that is not known, metadata or tensors missing.
    """
    header = _with_parts(read_header(path), Path(path))
    architecture = _architecture(header)
    layers, layer_tensors = _layers(header, architecture)
    kinds, order = distinct_layers(layer_kind(layer) for layer in layers)
    outer = [
        (name, tensor) for name, tensor in header.tensors.items() if not name.startswith("blk.")
    ]
    plain = any(kind["ffn"]["kind"] == "plain" for kind in kinds)
    q_lora = any("q_lora_rank" in kind.get("attention", {}) for kind in kinds)
    held = totals_by_operator([*outer, *layer_tensors], plain, q_lora)
    fields = _outer_fields(header, architecture) | {
        "layers": kinds,
        "published_params": held.elements.total(),
    }
    fields["quantization"] = quantization(header, held, fields["tied_embeddings"])
    try:
        model = ModelSpec.model_validate(fields).in_order(order)
    except ValidationError as error:
        field, message = first_error(error)
        raise header.problem(field, f"is not a valid model: {message}") from None
    return model.model_copy(update={"notes": tuple(_notes(held, layers, model))}), header


def read(
    path: str | os.PathLike[str], assume_family: str | None = None
) -> tuple[ModelSpec, Document]:
    """The model of a GGUF file and the file itself, whose text, for telling versions apart, is its list of tensors."""
    model, header = read_gguf(path)
    lines = tuple(
        f"{tensor.name} {'x'.join(map(str, tensor.shape))} {tensor.type.name}"
        for tensor in header.tensors.values()
    )
    return model, Document(header.file, {}, {}, lines, "\n".join(lines))


def _with_parts(header: Header, path: Path) -> Header:
    """The header with the tensors of all parts, where a file is one of several."""
    count = header.metadata.get("split.count")
    if not isinstance(count, int) or count < 2:
        return header
    split = re.fullmatch(r"(.*-)(\d{5})(-of-\d{5}\.gguf)", path.name)
    if split is None or count > MOST_PARTS:
        raise header.problem(
            "split.count",
            f"is one of {count:,} parts, and its name does not say which",
            "name it like model-00001-of-00002.gguf",
        )
    parts = [
        read_header(path.with_name(f"{split[1]}{i:05d}{split[3]}")) for i in range(1, count + 1)
    ]
    tensors: dict[str, Tensor] = {}
    for part in parts:
        for name in part.tensors.keys() & tensors.keys():
            raise part.problem(name[:80], "duplicate tensor: another part has it too")
        tensors |= part.tensors
    return Header(header.file, parts[0].metadata, parts[0].lengths, tensors)


def _architecture(header: Header) -> str:
    architecture = header.metadata.get("general.architecture")
    if not isinstance(architecture, str):
        raise header.problem(
            "general.architecture", "is missing" if architecture is None else "expected a text"
        )
    if architecture not in ARCHITECTURES:
        near = (
            nearest(architecture, ARCHITECTURES) or f"known are {', '.join(sorted(ARCHITECTURES))}"
        )
        raise header.problem(
            "general.architecture", f"no architecture {architecture[:40]!r} is known", near
        )
    if "token_embd.weight" not in header.tensors:
        raise header.problem("token_embd.weight", "is missing: the file holds no model")
    return architecture


def _layers(header: Header, architecture: str) -> tuple[list[GgufLayer], list[tuple[str, Tensor]]]:
    """The blocks that run, and their tensors; prediction heads come last and are left out."""
    count, ahead = (
        _whole(header, f"{architecture}.{key}", default)
        for key, default in (("block_count", None), ("nextn_predict_layers", 0))
    )
    if not 0 < count - ahead <= min(len(header.tensors), MOST_LAYERS):
        raise header.problem(
            f"{architecture}.block_count",
            f"is {count:,}; the file has {len(header.tensors):,} tensors",
        )
    blocks: list[dict[str, Tensor]] = [{} for _ in range(count - ahead)]
    for name, tensor in header.tensors.items():
        if (
            re.fullmatch(r"blk\.\d+\.attn_[kv]_b\.weight", name)
            and f"{name.rsplit('_', 2)[0]}_kv_b.weight" in header.tensors
        ):
            continue  # the same matrix cut in two, beside the whole
        if (match := re.fullmatch(r"blk\.(0|[1-9]\d{0,4})\.(.+)", name)) and int(match[1]) < len(
            blocks
        ):
            blocks[int(match[1])][match[2]] = tensor
    layers = [GgufLayer(header, i, block) for i, block in enumerate(blocks)]
    return layers, [(name, tensor) for block in blocks for name, tensor in block.items()]


def _whole(header: Header, key: str, default: int | None = None) -> int:
    value = header.metadata.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise header.problem(key, "is missing" if value is None else "expected a whole number")
    return value


def _outer_fields(header: Header, architecture: str) -> dict[str, Any]:
    """Everything but the layers."""
    tensors = header.tensors
    title = header.metadata.get("general.name") or Path(header.file).stem
    d_model, vocab = (*tensors["token_embd.weight"].shape, 1)[:2]
    norms = any(name.endswith("norm.bias") for name in tensors)
    context = header.metadata.get(f"{architecture}.context_length")
    positions = tensors.get("position_embd.weight")
    return {
        "name": spec_name(str(title)),
        "title": "".join(c for c in str(title) if c.isprintable())[:64] or None,
        "source": {"title": f"header of {Path(header.file).name}"},
        "d_model": d_model,
        "vocab_size": vocab,
        "tied_embeddings": "output.weight" not in tensors,
        "positions": positions.shape[1] if positions and len(positions.shape) > 1 else None,
        "head_bias": "output.bias" in tensors,
        "max_context": context
        if isinstance(context, int) and not isinstance(context, bool) and context > 0
        else None,
        "norm": {"kind": "layer" if norms else "rms", "final": "output_norm.weight" in tensors},
    }


def _notes(held: TensorTotals, layers: list[GgufLayer], model: ModelSpec) -> list[str]:
    """Notes on all that the layer list does not have."""
    notes = [
        "Widths are those of the file's tensors; tables worked out from metadata (rope_freqs) are not parameters and are not counted."
    ]
    if held.unknown:
        named = ", ".join(sorted(held.unknown)[:3])
        size = sum(tensor.bytes for tensor in held.unknown.values())
        notes.append(
            f"{len(held.unknown)} tensors with {size:,} byte belong to no operator and are not counted: {named[:160]}"
        )
    window = layers[0].meta("attention.sliding_window")
    if window and layers[0].slides() is None:
        notes.append(
            f"The file names a window of {window:,} tokens; llama.cpp gives this architecture none, so attention is full."
        )
    made = Case(
        theory(model.architecture()), {name: number(n) for name, n in model.values().items()}
    ).value("params")
    total = held.elements.total()
    if made != total:
        notes.append(
            f"The file's tensors hold {total:,} parameters, the layer list makes {int(made):,}: bytes are off by as much."
        )
    return notes
