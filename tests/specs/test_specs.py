"""Specs: what is shipped is right, what is wrong is said with place and hint, and nothing hostile gets further."""

import copy
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
from symroof.specs.precision import peak_precision
from symroof.specs.preset import PresetSpec
from symroof.specs.study import StudySpec
from symroof.strict_yaml import Document, loads
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.theory import theory

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


TERA, GIGA = 10**12, 10**9
FIGURES = {
    "h100-sxm": (Fraction(9894, 10) * TERA, 3350 * GIGA, 80 * GIGA),
    "h200": (Fraction(9894, 10) * TERA, 4800 * GIGA, 141 * GIGA),
    "a100-80gb-sxm": (312 * TERA, 2039 * GIGA, 80 * GIGA),
    "t4": (65 * TERA, 320 * GIGA, 16 * GIGA),
    "rtx-4090": (None, 1008 * GIGA, 24 * GIGA),
    "rtx-3090": (None, 936 * GIGA, 24 * GIGA),
    "m2-ultra": (None, 800 * GIGA, 192 * GIGA),
    "a100-40gb-sxm": (312 * TERA, 1555 * GIGA, 40 * GIGA),
    "mi300x": (Fraction(13074, 10) * TERA, 5325 * GIGA, 192 * GIGA),
    "l4": (None, 300 * GIGA, 24 * GIGA),
}
"""Dense fp16, memory bandwidth, capacity."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", FIGURES)
def test_catalogue_figures(name):
    spec, (peak, bandwidth, capacity) = device(name), FIGURES[name]
    assert peak is None or spec.peaks["fp16"].dense.value == peak
    assert (spec.memory.bandwidth.value.value, spec.memory.capacity.value.value) == (
        bandwidth,
        capacity,
    )


# --------------------------------------------------------------------------------------------------------------- by name


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../models/gpt2",
        "/etc/passwd",
        "/",
        "a\0b",
        "x" * 300,
        "~",
        "*",
        "h100-sxm.yaml",
        "%s",
        "é" * 100,
        "models",
        "-",
        " h100-sxm",
        "h100-sxm\n",
        "C:\\x",
        "x" * 5000 + ".yaml",
    ],
)
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
TEXTS = {ModelSpec: MODEL, StudySpec: STUDY, HardwareSpec: DEVICE}


FAULTS = [
    (ModelSpec, "d_model: 64", "d_modle: 64", 2, 1, "unknown key", "d_model"),
    (ModelSpec, "kind: gated", "kind: gatd", 5, None, "must be one of", "gated"),
    (ModelSpec, "vocab_size: 100", "vocab_size: 1.5", 3, 1, "1 or more", ""),
    (ModelSpec, "vocab_size: 100\n", "", 1, None, "vocab_size", ""),
    (ModelSpec, "head_dim: 16", "head_dim: [16]", 5, None, "1 or more", ""),
    (StudySpec, "prompt: 4096", "promt: 4096", 3, 12, "unknown key", "prompt"),
    (StudySpec, "mfu: 0.5..0.7", "mfu: 0.7..0.5", 4, 14, "backwards", ""),
    (StudySpec, "mfu: 0.5..0.7", "mfu: 50 ms", 4, 14, "plain number", ""),
    (StudySpec, "prompt: 4096", "prompt: 10.5", 3, 12, "whole number", ""),
    (StudySpec, "batch: [1, 32]", "batch: [1, -32]", 3, None, "positive", ""),
    (
        StudySpec,
        "efficiency:",
        "set: {mem_bandwith: 3 TB/s}\nefficiency:",
        4,
        7,
        "unknown",
        "mem_bandwidth",
    ),
    (
        StudySpec,
        "efficiency:",
        "assume: {atention: full}\nefficiency:",
        4,
        10,
        "unknown",
        "attention",
    ),
    (StudySpec, "efficiency:", "targets: {ttft: 200}\nefficiency:", 4, 11, "unit of a time", ""),
    (HardwareSpec, "dense: 100 TFLOP/s", "dense: 100 TB/s", 5, None, "FLOP/s", ""),
    (
        HardwareSpec,
        "dense: 100 TFLOP/s, source: sheet",
        "dense: 100 TFLOP/s, source: page",
        1,
        None,
        "not listed under sources",
        "",
    ),
    (
        HardwareSpec,
        "dense: 100 TFLOP/s, source: sheet",
        "sparse: 100 TFLOP/s, source: sheet",
        5,
        None,
        "missing",
        "",
    ),
    (HardwareSpec, "1 TB/s", "'1,5 TB/s'", 6, None, "point", ""),
    (HardwareSpec, "80 GB", "-80 GB", 6, None, "", ""),
    (HardwareSpec, "vendor: V\n", "", 1, None, "missing", ""),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("kind", "old", "new", "line", "column", "message", "hint"), FAULTS)
def test_a_fault_is_said_with_place_and_hint(kind, old, new, line, column, message, hint):
    assert TEXTS[kind].count(old) >= 1
    found = problems(TEXTS[kind].replace(old, new, 1), kind)
    said = next((p for p in found if message in f"{p.path} {p.message}"), None)
    assert said is not None, [str(p) for p in found]
    assert said.line == line, str(said)
    assert column is None or said.column == column, str(said)
    assert hint in f"{said.message} {said.hint}", str(said)


# --------------------------------------------------------------------------------------------------------------- totality

POISON = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        10**40,
        Fraction(1, 3),
        "",
        "x",
        "1..2",
        "..",
        "1..2..3",
        "9**9**9 TB",
        "1e999",
        "3 TB/s",
        "50 %",
        "nan",
        [],
        [[]],
        [1, "a", None],
        {},
        {"": 1},
        {"value": 1},
        {"a": {"b": []}},
        "sum(1/i, i, 0, 0)",
        "itl",
        "2*params",
        "a" * 5000,
        "\x00",
        "é",
        "-5 GB",
        "1 ms..2 GB",
        "on",
        {"title": 1},
    ]
)


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


@given(
    st.sampled_from(
        [
            "mfu",
            "mem_bandwidth",
            "prompt",
            "itl",
            "kv_bytes_per_token",
            "price",
            "nobody",
            "n_heads.local",
            "fits",
        ]
    ),
    st.text(max_size=30)
    | st.lists(
        st.sampled_from(
            [
                "1",
                "2",
                "0",
                "..",
                "ms",
                " ",
                "GB",
                "%",
                "params",
                "sum(",
                "i",
                ",",
                ")",
                "/",
                "-",
                "e9",
                "max(",
                "itl",
                "step",
                "<=",
            ]
        ),
        max_size=10,
    ).map("".join),
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
    [
        ("int4", ["fp16", "int8"], "fp16"),
        ("fp8", ["fp16"], "fp16"),
        ("fp8", ["bf16", "fp8"], "fp8"),
        ("bf16", ["fp16"], "fp16"),
        ("fp64", ["fp16"], None),
        ("fp32", ["fp16"], None),
    ],
)
def test_a_missing_peak_falls_back_to_a_wider_one(wanted, available, found):
    assert peak_precision(wanted, available) == found
