"""Every bound of a file's size, depth and counts: what lies on it is read, the next is refused."""

import struct

import pytest

from symroof import strict_yaml
from symroof.errors import InputError
from symroof.specs.checkpoints import json_text
from symroof.specs.checkpoints.gguf_header import read_header
from symroof.specs.checkpoints.json_text import load_json, loads_json
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.fields import build
from symroof.specs.input_values import settings
from symroof.specs.layers import LayerKind
from symroof.specs.model import ModelSpec, Norm
from symroof.specs.precision import precision_width
from symroof.specs.study import StudySpec
from symroof.strict_yaml import load, loads

from ..tables import case_of
from .checkpoints import read
from .checkpoints.gguf_files import F32, text

CONFIG = case_of(
    "model_type=llama hidden_size=64 num_attention_heads=4 num_hidden_layers=2 vocab_size=320"
)
STUDY = {"model": "llama-3-8b", "hardware": "l4", "workload": {"prompt": 1}}
GROUPED = {"n_heads": 1, "n_kv_heads": 1, "head_dim": 1}


def refusal(reader, argument):
    """What a reader says of something; empty where it takes it."""
    try:
        reader(argument)
    except (InputError, ValueError) as error:
        return str(error)
    return ""


def quantized(**fields):
    return read_quantization({"quantization_config": {"quant_method": "aqlm"} | fields})


def wide_block(columns):
    weights = {"num_bits": 8, "strategy": "block", "block_structure": [1, columns]}
    return quantized(quant_method="compressed-tensors", config_groups={"g": {"weights": weights}})


def study(**changes):
    return StudySpec.model_validate(STUDY | changes)


def formulas(count):
    entry = {"formula": "1", "unit": "", "means": "m"}
    return study(define={f"own_{i}": entry for i in range(count)})


def layer(norms):
    ffn = {"d_ff": 1}
    return LayerKind.model_validate({"count": 1, "attention": GROUPED, "ffn": ffn, "norms": norms})


def context(count):
    return build(loads(f"name: m\nparams: 1 parameter\nmax_context: {count}\n"), ModelSpec)


def group(size):
    return quantized(quant_method="awq", group_size=size)


def nested(depth):
    return loads_json('{"a":' * depth + "1" + "}" * depth)


def lists(depth):
    return loads_json('{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}")


BOUNDS = {
    "depth of YAML": (lambda n: loads("[" * n + "]" * n), 40, "nested more than 40 deep"),
    "depth of JSON": (nested, 40, "nested more than 40 deep"),
    "depth of lists in JSON": (lists, 40, "nested more than 40 deep"),
    "a width": (context, 10**13 - 1, "is far too large"),
    "a width in JSON": (lambda n: read(CONFIG | {"intermediate_size": n}), 10**8, "100,000,000"),
    "columns of a block": (wide_block, 65_536, "expected two whole numbers"),
    "weights of a group": (group, 10**6, "is out of range"),
    "bits of a codeword": (lambda n: quantized(nbits_per_codebook=n), 16, "more than 16 bits"),
    "codebooks": (lambda n: quantized(num_codebooks=n), 16, "more than 16 bits"),
    "norms of a layer": (layer, 8, "less than or equal to 8"),
    "norms of every layer": (lambda n: Norm(per_layer=n), 8, "less than or equal to 8"),
    "values of a list": (lambda n: settings("batch", [*range(1, n + 1)]), 64, "1 to 64 values"),
    "models of a study": (lambda n: study(model=["llama-3-8b"] * n), 64, "or a list of them"),
    "formulas of a study": (formulas, 64, "at most 64 items"),
    "bytes of a number": (lambda n: precision_width(f"{n} byte"), 8, "is not a width"),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("bound", BOUNDS)
def test_what_lies_on_a_bound_is_read_and_the_next_is_refused(bound):
    reader, most, message = BOUNDS[bound]
    assert not refusal(reader, most - 1)
    assert not refusal(reader, most)
    assert message in refusal(reader, most + 1)


def test_the_size_of_files(tmp_path):
    """A million bytes of YAML, four of JSON, and not one more."""
    for name, reader, most, content in (
        ("a.yaml", load, 1_000_000, "a: 1"),
        ("config.json", load_json, 4_000_000, '{"a": 1}'),
    ):
        path = tmp_path / name
        for more, message in ((0, ""), (1, f"is larger than {most:,} bytes")):
            path.write_text(content.ljust(most + more))
            assert message in refusal(reader, path)
            assert bool(refusal(reader, path)) is bool(message)


def test_the_number_of_values(monkeypatch):
    """The list that holds them is one in YAML; of JSON every bracket and comma counts, the first for nothing."""
    monkeypatch.setattr(strict_yaml, "MOST_NODES", 5)
    monkeypatch.setattr(json_text, "MOST_VALUES", 5)
    assert loads("[1, 2, 3, 4]").data == [1, 2, 3, 4]
    assert "more than 5 values" in refusal(loads, "[1, 2, 3, 4, 5]")
    assert loads_json('{"a": [1, 2, 3]}').data == {"a": [1, 2, 3]}
    assert "more than 5 values" in refusal(loads_json, '{"a": [1, 2, 3, 4]}')


def test_the_digits_of_a_number():
    """Longer ones are an infinity, which no field takes."""
    data = loads_json(
        f'{{"a": {"9" * 400}, "b": {"9" * 401}, "c": -{"9" * 399}, "d": -{"9" * 400}}}'
    ).data
    assert data == {"a": 10**400 - 1, "b": float("inf"), "c": 1 - 10**399, "d": float("-inf")}


# ------------------------------------------------------------------------------------------------------ headers of GGUF


def header(keys=0, tensors=0, raw=b""):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + raw


def texts(length):
    return struct.pack("<IIQ", 9, 8, length)


def tensor(*shape):
    return (
        text("t") + struct.pack(f"<I{len(shape)}Q", len(shape), *shape) + struct.pack("<IQ", F32, 0)
    )


KEY = text("a")
HEADERS = {
    "keys": (lambda n: header(n), 10_000, "at most 10,000 are read"),
    "tensors": (lambda n: header(0, n), 100_000, "at most 100,000 are read"),
    "texts": (lambda n: header(1, 0, KEY + texts(n)), 2_000_000, "at most 2,000,000 are read"),
    "texts of two lists": (
        lambda n: header(2, 0, KEY + texts(2) + text("") * 2 + text("b") + texts(n)),
        1_999_998,
        "at most 2,000,000 are read",
    ),
    "bytes": (
        lambda n: header(1, 0, KEY + struct.pack("<IQ", 8, n)),
        (64 << 20) - 24 - 9 - 12,
        "goes beyond the 64 MiB",
    ),
    "bytes of a name": (lambda n: header(1, 0, text("k" * n)), 1024, "longer than 1,024 bytes"),
    "dimensions": (lambda n: header(0, 2, tensor(*[1] * n)), 4, "1 to 4 are read"),
    "elements": (lambda n: header(0, 2, tensor(n)), 10**13, "1 to 10,000,000,000,000 are read"),
}


@pytest.mark.parametrize("bound", HEADERS)
def test_a_header_on_a_bound_is_read_on_to_its_end(bound, tmp_path):
    """Each ends too early, which is only seen where what is on the bound was read."""
    made, most, message = HEADERS[bound]
    path = tmp_path / "h.gguf"
    for count, shown in ((most, "the file ends here"), (most + 1, message)):
        path.write_bytes(made(count))
        assert shown in refusal(read_header, path)
