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

from ..tables import fields, table

EXPECTED = "expected a quantity in byte, such as '80 GB'"
RATE = "write the unit of a bandwidth, such as '3.35 TB/s'; write '3 TB/s'"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (True, "byte", EXPECTED),
        (1.5, "byte", "write the unit of a size, such as '80 GB'; write '1.5 GB'"),
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


BARE = "name: m\nparams: 1 parameter\n"
OF_A_MODEL = """
[1] | 1:1: : expected keys and values | begin with 'name: ...'
{} | 1:1: name: is missing |
{name: m, layers: 3} | 1:11: layers: expected a list |
{name: m, layers: [3]} | 1:20: layers[0]: expected keys and values |
title: [1] | 3:1: title: expected text |
tied_embeddings: 3 | 3:1: tied_embeddings: expected true or false |
norm: {kind: rsm} | 3:8: norm.kind: must be one of rms, layer, none | did you mean 'rms'?
norm: {kidn: rms} | 3:8: norm.kidn: unknown key | did you mean 'kind'?
source: {title: x, dat: 1} | 3:20: source.dat: unknown key | did you mean 'date'?
layers: [{count: 1, ffn: {d_ff: 3}, attention: {kind: gqb}}] | must be one of gqa, chunked, | 'gqa'?
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "said", "hint"), table(OF_A_MODEL))
def test_faults_of_a_model(text, said, hint):
    with pytest.raises(InputError) as error:
        build(loads(text if text[0] in "[{" else BARE + text, "f.yaml"), ModelSpec)
    problem = error.value.problems[0]
    assert said in f"{problem.line}:{problem.column}: {problem.path}: {problem.message}"
    assert hint in problem.hint


# ---------------------------------------------------------------------------------------------------- engines, measurements


ENGINES = """
vLLM 0.6.9 | earlier
vLLM 0.7 | compiled
vllm-0.10.2 | compiled
vLLM v0.6 | earlier
SGLang 0.3.9 | earlier
SGLang 0.4.0 | compiled
TensorRT-LLM 0.20 | earlier
TRTLLM 1.1 | compiled
FasterTransformer 5.3 | earlier
llama.cpp b4000 | ggml
vLLM | compiled
HF Transformers 4.46 | eager
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("engine", "kind"), table(ENGINES))
def test_an_engine_is_of_its_class_from_a_version_on(engine, kind):
    assert engine_class(engine) == kind


ROW = fields(
    "engine: vLLM, device: H100, value: 1 ms, place: t, model: m, weights: fp16, kv: fp16, "
    "batch: 3, prompt: 5, output: 7, metric: itl"
)


TIMES = """
metric: itl | 1/1000
metric: response_time | 1/1000
metric: tpot | 1/1000
metric: ttft, output: null | 1/1000
metric: response_rate, value: 11 token/s | 21/11
metric: prefill_rate, value: 11 token/s, output: null | 15/11
metric: decode_rate, value: 11 token/s | 3/11
metric: response_rate, value: 11 token/s, output: 1 | 3/11
"""


@pytest.mark.parametrize(("changes", "seconds"), table(TIMES))
def test_the_time_behind_a_measurement(changes, seconds):
    assert Measurement.model_validate(ROW | fields(changes)).seconds == Fraction(seconds)


NO_MEASUREMENT = """
value: "1" | value: itl is in s
value: 0 ms | must be positive
value: 1 byte | value: itl is in s
metric: prefill_rate | value: prefill_rate is in token/s
metric: tpot, output: null | output: is missing: tpot is of all generated tokens
metric: decode_rate, value: 1 token/s, output: 1 | output: one token comes with the prefill
metric: tpot, output: 1 | output: one token comes with the prefill
engine: unheard-of | engine: no such engine
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("changes", "message"), table(NO_MEASUREMENT))
def test_a_measurement_that_is_none(changes, message):
    with pytest.raises(ValueError, match=message):
        Measurement.model_validate(ROW | fields(changes))


# ---------------------------------------------------------------------------------------------------------------- studies

CASE = {"model": "llama-3-8b", "hardware": "l4", "workload": {"prompt": 1}}


NO_STUDY = r"""
model: [] | expected a name, a path, or a list of them
model: [llama-3-8b, 3] | expected a name, a path, or a list of them
hardware: [[l4]] | expected a name, a path, or a list of them
model: null | is missing
workload: null | is missing
workload: {batch: 1} | needs prompt \(and output for a whole response\)
workload: 3 | expected keys and values
efficiency: measurd | no such efficiency 'measurd'; did you mean 'measured'
efficiency: {from: x, engine: vlm} | from: no such efficiency 'x'; .*engine: no such engine 'vlm'
efficiency: {engine: vllm, mfu: 2} | mfu: must be between 0 and 1
efficiency: {mfv: 0.5} | unknown key; did you mean 'mfu'
assume: 3 | expected switches and values
precision: {weights: [fp8, fp17]} | unknown precision 'fp17'
precision: {weights: 4-bit} | '4bit' does not say whether the weights have scales
targets: {itl: 50 GB} | is in byte, but s is needed
targets: {itl: 0 ms} | must be positive
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("changes", "message"), table(NO_STUDY))
def test_a_study_that_is_none(changes, message):
    with pytest.raises(ValueError, match=message):
        StudySpec.model_validate(CASE | fields(changes))
