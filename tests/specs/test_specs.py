"""Specs: what is shipped is right, what is wrong is said with place and hint, and nothing hostile gets further."""

import copy
import json
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import setting
from symroof.specs.model import ModelSpec
from symroof.specs.preset import PresetSpec
from symroof.specs.quantization import peak_precision
from symroof.specs.study import StudySpec
from symroof.strict_yaml import Document, loads
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.theory import theory

from ..tables import table, words

KINDS = {"models": ModelSpec, "hardware": HardwareSpec, "studies": StudySpec, "presets": PresetSpec}
SHIPPED = [(kind, name) for kind in KINDS for name in catalogue.entries(kind)]
MODELS, HARDWARE = (sorted(catalogue.entries(kind)) for kind in ("models", "hardware"))


def device(name):
    return build(catalogue.find("hardware", name), HardwareSpec)


def problems(text, kind):
    with pytest.raises(InputError) as error:
        build(loads(text, "file.yaml"), kind)
    return error.value.problems


# -------------------------------------------------------------------------------------------------------- what is shipped


@pytest.mark.parametrize(("kind", "name"), SHIPPED)
def test_every_shipped_spec_is_valid(kind, name):
    spec = build(catalogue.find(kind, name), KINDS[kind])
    if kind in ("models", "hardware"):
        assert spec.name == name
        assert spec.title


@pytest.mark.parametrize("name", MODELS)
def test_own_count_is_the_published_one(name):
    spec = build(catalogue.find("models", name), ModelSpec)
    case = Case(
        theory(spec.architecture()),
        {key: number(Fraction(value)) for key, value in spec.values().items()},
    )
    assert case.value("params") == spec.published_params
    assert spec.source is not None
    assert spec.source.address


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", HARDWARE)
def test_every_number_has_a_source(name):
    spec = device(name)
    numbers = spec.numbers()
    assert len(numbers) >= 3
    for where, valued in numbers:
        source = spec.source_of(valued)
        assert source.title, where
        assert source.address or source.document, where
        assert source.date or source.consulted, where
        assert source.address is None or re.match(r"https?://\S+$", source.address), where


ODD_SPARSE = {
    ("b300", "fp4"): (Fraction(4, 3), Fraction(1, 100)),
    **{("l40s", p): (2, Fraction(1, 30)) for p in ("fp16", "bf16")},
}
"""The B300's data sheet prints 13.5 and 18 PFLOP/s of fp4; that of the L40S prints 362.05 and 733 TFLOP/s."""


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", HARDWARE)
def test_dense_and_sparse_are_kept_apart(name):
    """The sparse rate of 2:4 sparsity is twice the dense one, to the rounding of the documents; there is none without a dense one."""
    for precision, peak in device(name).peaks.items():
        assert peak.dense.value > 0
        if peak.sparse is not None:
            expected, rounding = ODD_SPARSE.get((name, precision), (2, Fraction(1, 50)))
            assert abs(peak.sparse.value / peak.dense.value - expected) < rounding, precision


FIGURES = """
# dense fp16 in TFLOP/s | memory bandwidth in GB/s | capacity in GB
h100-sxm | 989.4 | 3350 | 80
h200 | 989.4 | 4800 | 141
a100-80gb-sxm | 312 | 2039 | 80
a100-40gb-sxm | 312 | 1555 | 40
t4 | 65 | 320 | 16
mi300x | 1307.4 | 5325 | 192
rtx-4090 | | 1008 | 24
rtx-3090 | | 936 | 24
m2-ultra | | 800 | 192
l4 | | 300 | 24
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "peak", "bandwidth", "capacity"), table(FIGURES))
def test_catalogue_figures(name, peak, bandwidth, capacity):
    spec = device(name)
    assert not peak or spec.peaks["fp16"].dense.value == Fraction(peak) * 10**12
    memory = spec.memory.bandwidth.value.value, spec.memory.capacity.value.value
    assert memory == (int(bandwidth) * 10**9, int(capacity) * 10**9)


# --------------------------------------------------------------------------------------------------------------- by name


HOSTILE = ["", ".", "..", "../models/gpt2", "/etc/passwd", "/", "a\0b", "x" * 300, "~", "*", "%s"]
HOSTILE += ["h100-sxm.yaml", "é" * 100, "models", "-", "C:\\x", "x" * 5000 + ".yaml"]


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused(name):
    for kind in ("hardware", "models"):
        with pytest.raises(InputError):
            build(catalogue.find(kind, name), KINDS[kind])


# -------------------------------------------------------------------------------------------------------- what is refused

MODEL = """\
name: tiny
d_model: 64
vocab_size: 100
layers:
- {count: 2, attention: {kind: gqa, n_heads: 4, n_kv_heads: 2, head_dim: 16}, ffn: {kind: gated, d_ff: 128}}
"""
STUDY = """\
model: llama-3-8b
hardware: [h100-sxm]
workload: {prompt: 4096, output: 512, batch: [1, 32]}
efficiency: {mfu: 0.5..0.7, mbu: 80 %}
"""
DEVICE = """\
name: card
title: A card
vendor: V
sources: {sheet: {title: Sheet, date: 2024}}
peaks: {fp16: {dense: 100 TFLOP/s, source: sheet}}
memory: {kind: HBM, bandwidth: {value: 1 TB/s, source: sheet}, capacity: {value: 80 GB, source: sheet}}
"""
FAULTS = r"""
# kind | what stands there | what is put there | place | message | hint
model | d_model: 64 | d_modle: 64 | 2:1 | unknown key | d_model
model | kind: gated | kind: gatd | 5 | must be one of | gated
model | vocab_size: 100 | vocab_size: 1.5 | 3:1 | 1 or more |
model | vocab_size: 100 | | 1 | vocab_size |
study | prompt: 4096 | promt: 4096 | 3:12 | unknown key | prompt
study | mfu: 0.5..0.7 | mfu: 0.7..0.5 | 4:14 | backwards |
study | mfu: 0.5..0.7 | mfu: 50 ms | 4:14 | plain number |
study | prompt: 4096 | prompt: 10.5 | 3:12 | whole number |
study | batch: [1, 32] | batch: [1, -32] | 3 | positive |
study | efficiency: | set: {mem_bandwith: 3 TB/s}\nefficiency: | 4:7 | unknown | mem_bandwidth
study | efficiency: | assume: {atention: full}\nefficiency: | 4:10 | unknown | attention
study | efficiency: | targets: {ttft: 200}\nefficiency: | 4:11 | unit of a time |
device | dense: 100 TFLOP/s | dense: 100 TB/s | 5 | FLOP/s |
device | TFLOP/s, source: sheet | TFLOP/s, source: page | 5:36 | none of the sources | sheet
device | dense: 100 TFLOP/s | sparse: 100 TFLOP/s | 5 | missing |
device | 1 TB/s | '1,5 TB/s' | 6 | point |
device | vendor: V | | 1 | missing |
"""
FORMS = {"model": (ModelSpec, MODEL), "study": (StudySpec, STUDY), "device": (HardwareSpec, DEVICE)}


@pytest.mark.sample(5)
@pytest.mark.parametrize(("form", "old", "new", "place", "message", "hint"), table(FAULTS))
def test_a_fault_is_said_with_place_and_hint(form, old, new, place, message, hint):
    kind, text = FORMS[form]
    assert old in text
    found = problems(text.replace(old, new.replace("\\n", "\n"), 1), kind)
    said = next((p for p in found if message in f"{p.path} {p.message}"), None)
    assert said is not None, [str(p) for p in found]
    assert f"{said.line}:{said.column}:".startswith(f"{place}:"), str(said)
    assert hint in f"{said.message} {said.hint}", str(said)


# --------------------------------------------------------------------------------------------------------------- totality

WRONG = json.loads(r"""[
    null, true, false, 0, -1, "", "x", "1..2", "..", "1..2..3", "1e999", "9**9**9 TB", "3 TB/s", "50 %",
    "nan", [], [[]], [1, "a", null], {}, {"": 1}, {"value": 1}, {"a": {"b": []}}, "sum(1/i, i, 0, 0)",
    "itl", "2*params", "\u0000", "é", "-5 GB", "1 ms..2 GB", "on", {"title": 1}
]""")
WRONG += [10**40, Fraction(1, 3), "a" * 5000]
POISON = st.sampled_from(WRONG)


def spots(data, here=()):
    """Every place in plain data."""
    yield here
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from spots(value, (*here, key))


def put(data, spot, value):
    if not spot:
        return value
    changed = copy.deepcopy(data)
    holder = changed
    for key in spot[:-1]:
        holder = holder[key]
    holder[spot[-1]] = value
    return changed


FULL_STUDY = (
    STUDY
    + "parallel: {tp: 2}\nprecision: {weights: fp16, kv: fp8}\nassume: {detail: exact}\ntargets: {ttft: 200 ms}\nset: {mem_bandwidth: 3 TB/s, prefill_time: 2*prefill_compute_time}\nthresholds: all\nclaims: [a.yaml]\n"
)
BASES = [
    (ModelSpec, loads(MODEL + "order: [full, full]\n").data),
    (StudySpec, loads(FULL_STUDY).data),
    (HardwareSpec, loads(DEVICE).data),
    (PresetSpec, catalogue.find("presets", "tutorial-mlsysim").data),
]


@given(
    st.sampled_from(BASES).flatmap(
        lambda base: st.tuples(st.just(base), st.sampled_from(list(spots(base[1]))))
    ),
    POISON,
)
def test_any_value_anywhere_is_taken_or_refused(where, poison):
    (kind, data), spot = where
    try:
        build(Document("file.yaml", put(data, spot, poison), {(): (1, 1)}, (), ""), kind)
    except InputError as error:
        assert all(p.message for p in error.problems)


NAMES = words("mfu mem_bandwidth prompt itl kv_bytes_per_token price nobody n_heads.local fits")
PIECES = [" ", *words("1 2 0 .. ms GB % params sum( i , ) / - e9 max( itl step <=")]


@given(
    st.sampled_from(NAMES),
    st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join),
)
def test_any_setting_is_taken_or_refused(name, text):
    try:
        found = setting(name, text)
    except ValueError:
        return
    assert found is not None


# ------------------------------------------------------------------------------------------------------------ small things


@pytest.mark.parametrize(
    ("wanted", "available", "found"),
    table("""
int4 | fp16 int8 | fp16
fp8 | fp16 | fp16
fp8 | bf16 fp8 | fp8
fp4 | bf16 fp8 | bf16
bf16 | fp16 | fp16
fp64 | fp16 |
fp32 | fp16 |
"""),
)
def test_a_missing_peak_falls_back_to_a_wider_one(wanted, available, found):
    assert peak_precision(wanted, available.split()) == (found or None)
