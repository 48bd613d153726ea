"""Layers of a GGUF file: the shapes of its tensors are the widths, the metadata says what shapes cannot.

Tensor names are those of ``gguf-py/gguf/constants.py`` (github.com/ggml-org/llama.cpp). Extents come inputs first: a matrix of n
outputs and k inputs has shape (k, n), experts a third extent. What a block is made of stands in ``specs/checkpoints/ggml.yaml``,
as expressions over the methods of :class:`GgufLayer`.
"""

from dataclasses import dataclass
from typing import Any

from symroof.specs.checkpoints.family_fields import WORDS, value_of
from symroof.specs.checkpoints.ggml_types import TABLE
from symroof.specs.checkpoints.gguf_header import Header, Tensor


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
        for field, written in TABLE["blocks"].get(block, {}).items():
            names[field] = value_of(written, names)
        if names:
            fields[part] = {field: value for field, value in names.items() if value is not None}
    return {**fields, "ffn": fields.get("ffn", {"kind": "none"})}
