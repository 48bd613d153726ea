"""Fields of specs: quantities, ranges, sources, and what a fault of each kind says, word for word as people read it."""

from fractions import Fraction

import pytest

from symroof.errors import InputError
from symroof.specs.efficiencies import engine_class
from symroof.specs.fields import ValueRange, build, in_unit, parse_range
from symroof.specs.measured import Measurement
from symroof.specs.model import ModelSpec
from symroof.specs.study import StudySpec
from symroof.strict_yaml import loads

EXPECTED = "expected a quantity in byte, such as '80 GB'"
RATE = "write the unit of a bandwidth, such as '3.35 TB/s'; write '3 TB/s'"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (True, "byte", EXPECTED),
        (1.5, "byte", EXPECTED),
        (None, "byte", EXPECTED),
        (["80 GB"], "byte", EXPECTED),
        ([], "", "expected a quantity in a plain number, such as '1'"),
        (3, "byte/s", RATE),
        ("3", "byte/s", RATE),
        ("3 TB", "byte/s", "is in byte, but byte/s is needed, such as '3.35 TB/s'"),
        (3, "FLOP", "write the unit, such as '1 FLOP'; write '3 FLOP'"),
        ("80 %", "W", "write the unit of a power, such as '700 W'; write '0.8 W'"),
    ],
)
def test_what_is_no_quantity_of_a_unit(value, unit, message):
    with pytest.raises(ValueError) as error:
        in_unit(value, unit)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1 ms..2 ms", 1, 2),
        ("1..2 ms", 1, 2),
        ("2 ms..2 ms", 2, 2),
        ("1e-3..2e-3 s", 1, 2),
        ("500 us..2 ms", Fraction(1, 2), 2),
        ("1_000..2,000 us", 1, 2),
    ],
)
def test_a_range_of_times(text, low, high):
    span = parse_range(text, "s")
    assert (1000 * span.low, 1000 * span.high, 1000 * span.middle, span.text) == (
        low,
        high,
        Fraction(low + high) / 2,
        text,
    )
    assert ValueRange(span.low, span.high, text, Fraction(7)).middle == 7


# ---------------------------------------------------------------------------------------------- what a fault says, and where


def faults(text, kind):
    with pytest.raises(InputError) as error:
        build(loads(text, "f.yaml"), kind)
    return [(p.line, p.column, p.path, p.message, p.hint) for p in error.value.problems]


LAYER = "name: m\nd_model: 8\nvocab_size: 8\nlayers: [{count: 1, attention: {n_heads: 1, n_kv_heads: 1, head_dim: 1}, ffn: {d_ff: 3}}]"
BARE = "name: m\nparams: 1 parameter\n"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("[1]", [(1, 1, "", "expected keys and values", "begin with 'name: ...'")]),
        ("{}", [(1, 1, "name", "is missing", "")]),
        ("name: m\nlayers: 3", [(2, 1, "layers", "expected a list", "")]),
        ("name: m\nlayers: [3]", [(2, 10, "layers[0]", "expected keys and values", "")]),
        (
            f"{BARE}title: [1]\ntied_embeddings: 3",
            [
                (3, 1, "title", "expected text", ""),
                (4, 1, "tied_embeddings", "expected true or false", ""),
            ],
        ),
        (
            f"{BARE}norm: {{kind: rsm}}",
            [(3, 8, "norm.kind", "must be one of rms, layer, none", "did you mean 'rms'?")],
        ),
        (f"{BARE}norm: {{kind: 3}}", [(3, 8, "norm.kind", "must be one of rms, layer, none", "")]),
        (
            f"{BARE}norm: {{kidn: rms}}",
            [(3, 8, "norm.kidn", "unknown key", "did you mean 'kind'?")],
        ),
        (f"{BARE}norm: 3", [(3, 1, "norm", "expected keys and values", "")]),
        (
            f"{BARE}source: {{titel: x}}",
            [
                (3, 1, "source.title", "is missing", ""),
                (3, 10, "source.titel", "unknown key", "did you mean 'title'?"),
            ],
        ),
        (
            BARE.replace("name: m", "name: M x"),
            [(1, 1, "name", "must be lower-case letters, digits, '.', '_' and '-'", "")],
        ),
        (
            f"{BARE}aliases: x\nnotes: {{a: 1}}",
            [(3, 1, "aliases", "expected a list", ""), (4, 1, "notes", "expected a list", "")],
        ),
        (
            LAYER.replace("head_dim: 1", "head_dim: 1, widnow: 3"),
            [(4, 73, "layers[0].attention.widnow", "unknown key", "did you mean 'window'?")],
        ),
        (
            LAYER.replace("d_ff: 3", "d_ff: 3, baas: 1"),
            [(4, 89, "layers[0].ffn.baas", "unknown key", "did you mean 'bias'?")],
        ),
        (
            LAYER.replace("{n_heads", "{kind: gqb, n_heads"),
            [
                (
                    4,
                    21,
                    "layers[0].attention",
                    "kind must be one of gqa, chunked, mla, compressed, shared, none",
                    "did you mean 'gqa'?",
                )
            ],
        ),
    ],
)
def test_faults_of_a_model(text, listed):
    assert faults(text, ModelSpec) == listed


# ---------------------------------------------------------------------------------------------------- engines, measurements


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        ("vLLM 0.6.9", "earlier"),
        ("vLLM 0.7", "compiled"),
        ("vLLM 0.7.0", "compiled"),
        ("vllm-0.10.2", "compiled"),
        ("vLLM 1.0", "compiled"),
        ("vLLM v0.6", "earlier"),
        ("SGLang 0.3.9", "earlier"),
        ("SGLang 0.4.0", "compiled"),
        ("TensorRT-LLM 0.20", "earlier"),
        ("TensorRT-LLM 1.0", "compiled"),
        ("TRTLLM 1.1", "compiled"),
        ("FasterTransformer 5.3", "earlier"),
        ("llama.cpp b4000", "ggml"),
        ("vLLM", "compiled"),
        ("HF Transformers 4.46", "eager"),
        ("EAGER", "eager"),
    ],
)
def test_an_engine_is_of_its_class_from_a_version_on(engine, kind):
    assert engine_class(engine) == kind


ROW = {
    "engine": "vLLM",
    "device": "H100",
    "value": "1 ms",
    "place": "t",
    "model": "m",
    "weights": "fp16",
    "kv": "fp16",
    "batch": 3,
    "prompt": 5,
    "output": 7,
    "metric": "itl",
}


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({}, Fraction(1, 1000)),
        ({"metric": "response_time"}, Fraction(1, 1000)),
        ({"metric": "tpot"}, Fraction(1, 1000)),
        ({"metric": "ttft", "output": None}, Fraction(1, 1000)),
        ({"metric": "response_rate", "value": "11 token/s"}, Fraction(3 * 7, 11)),
        ({"metric": "prefill_rate", "value": "11 token/s", "output": None}, Fraction(3 * 5, 11)),
        ({"metric": "decode_rate", "value": "11 token/s"}, Fraction(3, 11)),
        ({"metric": "response_rate", "value": "11 token/s", "output": 1}, Fraction(3, 11)),
    ],
)
def test_the_time_behind_a_measurement(changes, seconds):
    assert Measurement.model_validate(ROW | changes).seconds == seconds


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value": "1"}, "write the unit, such as '12.5 ms' or '104.9 token/s'"),
        ({"value": 1}, "write the unit"),
        ({"value": "0 ms"}, "must be positive"),
        ({"value": "-1 ms"}, "must be positive"),
        ({"value": "1 byte"}, "value: itl is in s"),
        ({"metric": "prefill_rate"}, "value: prefill_rate is in token/s"),
        ({"metric": "tpot", "output": None}, "output: is missing: tpot is of all generated tokens"),
        (
            {"metric": "decode_rate", "value": "1 token/s", "output": 1},
            "output: one token comes with the prefill",
        ),
        ({"metric": "tpot", "output": 1}, "output: one token comes with the prefill"),
        ({"engine": "unheard-of"}, "engine: no such engine"),
    ],
)
def test_a_measurement_that_is_none(changes, message):
    with pytest.raises(ValueError, match=message):
        Measurement.model_validate(ROW | changes)


# ---------------------------------------------------------------------------------------------------------------- studies

CASE = {"model": "llama-3-8b", "hardware": "l4", "workload": {"prompt": 1}}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": []}, "expected a name, a path, or a list of them"),
        ({"model": ["llama-3-8b", ""]}, "expected a name, a path, or a list of them"),
        ({"model": ["llama-3-8b", 3]}, "expected a name, a path, or a list of them"),
        ({"hardware": [["l4"]]}, "expected a name, a path, or a list of them"),
        ({"model": None}, "is missing"),
        ({"workload": None}, "is missing"),
        ({"workload": {"batch": 1}}, r"needs prompt \(and output for a whole response\)"),
        ({"workload": 3}, "expected keys and values"),
        ({"efficiency": "measurd"}, "no such efficiency 'measurd'; did you mean 'measured'"),
        (
            {"efficiency": {"from": "x", "engine": "vlm"}},
            "from: no such efficiency 'x'; .*engine: no such engine 'vlm'",
        ),
        ({"efficiency": {"engine": "vllm", "mfu": 2}}, "mfu: must be between 0 and 1"),
        ({"efficiency": {"mfv": 0.5}}, "unknown key; did you mean 'mfu'"),
        ({"assume": 3}, "expected switches and values"),
        ({"precision": {"weights": ["fp8", "fp17"]}}, "unknown precision 'fp17'"),
        (
            {"precision": {"weights": "4-bit"}},
            "'4bit' does not say whether the weights have scales",
        ),
        ({"targets": {"itl": "50 GB"}}, "is in byte, but s is needed"),
        ({"targets": {"itl": "0 ms"}}, "must be positive"),
    ],
)
def test_a_study_that_is_none(fields, message):
    with pytest.raises(ValueError, match=message):
        StudySpec.model_validate(CASE | fields)
