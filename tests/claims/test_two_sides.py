"""The sides of a comparison, and figures of the catalogue: which text is what, and which error what is none gives."""

from fractions import Fraction

import pytest

from symroof.analysis.study import Study
from symroof.claims.case_comparison import (
    SYMROOF,
    diff,
    is_file,
    is_preset,
    parse_claim,
    resolve_side,
    split_number_side,
    waterfall_to_text,
)
from symroof.claims.catalogue_figures import (
    catalogue_figure,
)
from symroof.errors import InputError


@pytest.fixture(scope="module")
def case():
    return Study("llama-3-8b", "h100-sxm", prompt=2048)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("14.2 ms", ("", "14.2 ms")), ("itl = ~14 ms", ("itl", "~14 ms")), ("about 14 ms", ("", "about 14 ms")), ("~ 14 ms", ("", "~ 14 ms")), (".5 s", ("", ".5 s")), ("itl=", ("itl", "")),
        ("genz", None), ("--batch=3", None), ("itl == 3", None), ("3x", ("", "3x")),
    ],
)  # fmt: skip
def test_which_side_is_a_number(text, side):
    assert split_number_side(text) == side


def test_which_side_is_a_preset_and_which_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [is_preset(text) for text in (SYMROOF, "genz", "nothing", "llama-3-8b-chat")] == [
        True,
        True,
        False,
        False,
    ]
    assert [is_file(text) for text in ("genz", "x" * 5000, "a\0b")] == [False, False, False]
    (tmp_path / "genz").write_text("x")
    (tmp_path / "14 ms").write_text("x")
    assert (is_file("genz"), is_preset("genz"), split_number_side("14 ms")) == (True, False, None)
    (tmp_path / SYMROOF).write_text("x")
    assert is_preset(SYMROOF)


@pytest.mark.parametrize(
    ("a", "b", "quantity", "message"),
    [
        ("14 ms", "15 ms", "itl", "14 ms: and the other side are both numbers"),
        ("itl = 14 ms", None, "ttft", "itl = 14 ms: is a number of itl, but ttft was requested"),
        ("14 GB", None, "itl", "14 GB: itl: is byte, but the quantity is s"),
        ("itl = soon", None, "itl", "'soon' is not a number"),
        ("genz", "symroof", "itl", "a preset counts a study, and there is none"),
    ],
)
def test_sides_that_do_not_go_together(a, b, quantity, message, case):
    with pytest.raises(InputError) as error:
        diff(a, case if b is None else b, quantity)
    assert message in str(error.value)


def test_a_preset_counts_the_other_side_or_the_study_beside(case):
    other = Study("llama-3-8b", "l4", prompt=2048)
    assert resolve_side("genz", None, case).request.preset == "genz"
    assert resolve_side("genz", other, case).request.hardware == ("l4",)
    assert resolve_side(SYMROOF, None, case).request.preset is None
    assert resolve_side(case, other, other) is case
    assert case.request.preset is None


def test_the_way_to_a_number_and_back(case):
    """2,048 tokens of 131,072 byte each, and 300 MB: one step."""
    there, back = diff(case, "300 MB", "kv_cache_bytes"), diff("300 MB", case, "kv_cache_bytes")
    assert (there.start.value, there.end.value) == (2048 * 131_072, 300 * 10**6)
    assert (back.start.value, back.end.value) == (there.end.value, there.start.value)
    assert [int(step.effect) for step in there.steps] == [300 * 10**6 - 2048 * 131_072]
    assert waterfall_to_text(case, "kv_cache_bytes", "268.4 MB").end.value == Fraction(2684 * 10**5)
    assert parse_claim("kv_cache_bytes", "300 MB", "x")[1].value == 3 * 10**8


# -------------------------------------------------------------------------------------------------------- the catalogue


@pytest.mark.parametrize(
    ("path", "value", "unit"),
    [
        ("h100-sxm.mem_bandwidth", 3350 * 10**9, "byte/s"), ("h100-sxm.memory.bandwidth", 3350 * 10**9, "byte/s"), ("h100-sxm.peaks.fp16.sparse", 19789 * 10**11, "FLOP/s"),
        ("h100-sxm.peaks.fp16.dense", 9894 * 10**11, "FLOP/s"), ("h100-sxm.link.devices", 8, ""), ("llama-3-70b.n_kv_heads", 8, ""), ("llama-3.1-70b.n_layers", 80, ""),
        ("h100-sxm.power", 700, "W"),
    ],
)  # fmt: skip
def test_a_figure_by_its_path(path, value, unit):
    assert catalogue_figure(path) == (value, unit)


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("h100-smx.power", "h100-smx.power begins with no device or model of the catalogue", "did you mean 'h100-sxm'?"),
        ("h100-sxm.powr", "h100-sxm.powr: no such figure", "did you mean 'power'?"),
        ("h100-sxm.peaks.fp16", "h100-sxm.peaks.fp16 is a peak of several kinds", "write h100-sxm.peaks.fp16.dense or h100-sxm.peaks.fp16.sparse"),
        ("h100-sxm.peaks.fp17.dense", "h100-sxm.peaks.fp17.dense: no such figure", ""),
        ("h100-sxm.memory.bandwith", "h100-sxm.memory.bandwith: no such figure", "did you mean 'memory.bandwidth'?"),
        ("v100-sxm2-32gb.peaks.fp16.sparse", "no sparse peak there", ""),
        ("h100-sxm.itl", "has no itl", ""),
        ("llama-3-70b.n_experts", "has no n_experts", ""),
    ],
)  # fmt: skip
def test_a_figure_that_is_not_there(path, message, hint):
    with pytest.raises(InputError) as error:
        catalogue_figure(path)
    assert message in error.value.problems[0].message
    assert error.value.problems[0].hint == hint
