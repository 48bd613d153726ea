"""What llama.cpp makes of a model: the type of each tensor in a file of a named mixture (``q4_k_m``), put together by operator.

Source: ``llama_tensor_get_type_impl``, ``tensor_type_fallback`` and ``tensor_allows_quantization`` of ``src/llama-quant.cpp``
(github.com/ggml-org/llama.cpp, commit 007dbbf, consulted 2026-11-22), without an importance matrix. A layer's number decides the
type of some tensors; here each operator has the mean over all layers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from symroof.specs.checkpoints.family_fields import value_of
from symroof.specs.checkpoints.gguf_header import TABLE, TYPES
from symroof.specs.layers import LayerKind
from symroof.specs.model import ModelSpec
from symroof.specs.quantization import Matrix, Quantization, matrices

GROUPED = ("gqa", "chunked")
BY_NAME = {entry.name: entry for entry in TYPES.values()}


LAYERS_OF_70B = 80
"""Llama's 70B and what has as many layers: values take Q5_K instead of Q3_K and Q4_K."""


class Place(NamedTuple):
    """A layer among the layers, with what else a rule goes by: query heads that share a key head, and routed experts."""

    layer: int
    layers: int
    sharing: Fraction
    experts: int

    @property
    def more(self) -> bool:
        """The first and the last eighth of the layers and every third between."""
        first, last = self.layers // 8, 7 * self.layers // 8
        return not first <= self.layer < last or (self.layer - first) % 3 == 2

    def type_of(self, tensor: str, chosen: Mapping[str, str]) -> str:
        """The type of one of its tensors in a mixture."""
        if self.experts == 8 and tensor in ("attn_k", "attn_v"):
            return "Q8_0"
        known = {kind: kind for kind in BY_NAME} | self._asdict() | {"more": self.more}
        name = str(value_of(chosen.get(tensor, chosen["most"]), known))
        large = self.layers == LAYERS_OF_70B and self.sharing > 1
        return "Q5_K" if tensor == "attn_v" and large and name in ("Q3_K", "Q4_K") else name


MIXTURES: Mapping[str, Mapping[str, str]] = TABLE["mixtures"]
"""Mixtures by the name in a file's name: the type of ``most`` tensors, and of those that have another, by their names."""

NARROWER_BLOCKS = {
    "Q2_K": "Q4_0",
    "Q3_K": "Q4_0",
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
    "IQ4_XS": "IQ4_NL",
}
"""What a tensor takes whose rows do not come out even in blocks of 256."""

NOT_QUANTIZED = (
    "router",
    "shared_gate",
    "conv",
    "altup",
    "altup_in",
    "altup_out",
    "laurel",
    "layer_input",
    "layer_input_in",
)
"""Small matrices that stay in 32 bits, as norms and biases do."""


def mixture(name: str, model: ModelSpec | None = None) -> Quantization:
    """How the checkpoint of a model is stored in a file of a mixture; without a model, all in the type that most tensors have.

    >>> from symroof.specs.spec_files import read_spec
    >>> stored = mixture("q4_k_m", read_spec("models", "llama-3-8b")[0])
    >>> {operator: float(8 * width.value) for operator, width in stored.widths.items()}
    {'down': 5.53125, 'lm_head': 6.5625, 'qkv': 4.671875}
    """
    chosen = MIXTURES[name]
    most = BY_NAME[chosen["most"]]
    fields = {"method": name, "bits": most.bits, "format": most.format, "kept": ()}
    if model is not None:
        widths = _widths(chosen, model)
        own = {operator: bits for operator, bits in widths.items() if bits != most.bits}
        fields |= {"kept": NOT_QUANTIZED, "kept_bits": "32 bit", "widths": own}
    return Quantization.model_validate(fields)


def _widths(chosen: Mapping[str, str], model: ModelSpec) -> dict[str, Fraction]:
    """Mean bits of a weight of every operator that is narrowed."""
    held, stored = (defaultdict[str, Fraction](Fraction) for _ in range(2))
    for operator, weights, bits in (*_of_layers(chosen, model), *_around(chosen, model)):
        held[operator] += weights
        stored[operator] += weights * bits
    narrowed = sorted(held.keys() - set(NOT_QUANTIZED))
    widths = {operator: stored[operator] / held[operator] for operator in narrowed}
    if model.tied_embeddings and "embedding" in widths:
        widths["lm_head"] = widths["embedding"]
    return widths


def _around(chosen: Mapping[str, str], model: ModelSpec) -> Iterator[tuple[str, int, Fraction]]:
    """The tables at both ends: operator, weights, bits of a weight. A tied one is stored as an output is."""
    columns, most = model.d_embedding or model.d_model or 1, chosen["most"]
    weights = columns * (model.vocab_size or 0)
    even = columns % BY_NAME[most].block == 0
    output = BY_NAME["Q8_0" if not even or most == "Q8_0" else "Q6_K"].bits
    yield "embedding", weights, output if model.tied_embeddings else _bits(most, columns)
    if not model.tied_embeddings:
        yield "lm_head", weights, output


def _of_layers(chosen: Mapping[str, str], model: ModelSpec) -> Iterator[tuple[str, int, Fraction]]:
    """Every matrix of the layers: operator, weights, mean bits of a weight over the layers. Experts published in MXFP4 stay so in every file."""
    layers = sum(kind.count for kind in model.layers)
    experts = next((kind.ffn.n_experts for kind in model.layers if kind.ffn.kind == "moe"), 0)
    floats = model.quantization is not None and model.quantization.method == "mxfp4"
    for kind in model.layers:
        grouped = kind.widths() if kind.attention.kind in GROUPED else {}
        sharing = Fraction(grouped.get("n_heads", 1)) / Fraction(grouped.get("n_kv_heads", 1))
        places = [Place(i, layers, sharing, experts) for i in range(layers)]
        for tensor, matrix in _tensors(kind, model.d_model or 1):
            own = "MXFP4" if floats and matrix.operator == "experts" else ""
            types = Counter(own or place.type_of(tensor, chosen) for place in places)
            bits = sum(_bits(name, matrix.columns) * count for name, count in types.items())
            weights = matrix.rows * matrix.columns * matrix.times * kind.count
            yield matrix.operator, weights, Fraction(bits) / layers


def _tensors(kind: LayerKind, d_model: int) -> Iterator[tuple[str, Matrix]]:
    """The matrices of a layer with llama.cpp's names, as far as a rule goes by them."""
    seen: dict[str, int] = {}
    grouped = kind.attention.kind in GROUPED
    for matrix in matrices(kind, d_model):
        number = seen[matrix.operator] = seen.get(matrix.operator, -1) + 1
        yield _name(matrix.operator, number, grouped), matrix


def _name(operator: str, number: int, grouped: bool) -> str:
    if operator == "qkv" and grouped:
        return ("attn_q", "attn_k", "attn_v")[min(number, 2)]
    if operator == "down" or (operator in ("experts", "shared_experts") and number == 1):
        return "ffn_down"
    return "attn_output" if operator == "attention_out" else operator


def _bits(name: str, columns: int) -> Fraction:
    """Bits of a weight of a type, or of the one it falls back to where rows are no whole number of blocks."""
    while columns % BY_NAME[name].block:
        name = NARROWER_BLOCKS.get(name, "F16")
    return BY_NAME[name].bits
