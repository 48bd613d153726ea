"""The façade in Python: values with unit, range and flags, exact numbers, derivations, errors."""

import math
import warnings
from pathlib import Path

import pytest

import symroof as sr
from symroof.api import Study
from symroof.cases.quantity_result import Number

from ..near import near

STUDIES = Path(__file__).resolve().parents[2] / "specs" / "studies"
H100 = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1024, "output": 16, "batch": 2}


@pytest.fixture(scope="module")
def study():
    return sr.Study(**H100, efficiency="peak")


def refused(make):
    """The message of the InputError that a call must raise."""
    with pytest.raises(sr.InputError) as caught:
        make()
    return str(caught.value)


# -------------------------------------------------------------------------------------------------------- values


def test_a_value_is_a_float_in_base_units_that_knows_its_unit(study):
    value = study.value("kv_cache_bytes")
    assert isinstance(value, float)
    assert value == 2 * 1024 * 2 * 32 * 8 * 128 * 2
    assert (value.unit, value.low, value.high, value.flags) == ("byte", value, value, ())
    assert str(value) == repr(value) == "268.4 MB"
    assert value / 2 == 2 * 1024 * 32 * 8 * 128 * 2


def test_a_value_agrees_with_a_hand_count(study):
    """The cache read and the weights streamed by one step, over the bandwidth: that is the step, memory binds it."""
    weights = 32 * (4096 * (32 + 2 * 8) * 128 + 32 * 128 * 4096 + 3 * 4096 * 14336) + 128256 * 4096
    activations = 2 * (32 * (4 * 4096 + (32 + 16) * 128 + 3 * 32 * 128 + 3 * 14336) + 4096 + 128256)
    moved = 2 * weights + 2 * activations + 2 * 1024 * 131072
    assert study.value("itl") == pytest.approx(moved / 3.35e12, rel=1e-12)


def test_a_truth_and_a_label_come_as_themselves(study):
    assert study.value("fits") is True
    assert study.value("decode_bound") == "memory"


def test_a_label_that_changes_over_a_range_comes_as_all_of_them():
    ranged = sr.Study("llama-3-8b", "h100-sxm", prompt=330, mfu="0.1..1")
    assert set(ranged.value("prefill_bound")) == {"compute", "memory"}


def test_values_by_hand(study):
    assert study.value("ridge_point") == near(989.4 / 3.35)
    assert study.value("kv_bytes_per_token") == 131072
    assert study.value("fits") is True


def test_a_value_with_a_root():
    preset = sr.Study("llama-3-8b", "h100-sxm", preset="tutorial-mlsysim", prompt=4096)
    squared = (preset.value("kv_bytes_per_token") / (2 * 32 * 2)) ** 2
    assert squared == near(8_030_000_000 / (12 * 32))


def test_python_numbers_mean_their_decimals():
    assert sr.Study("llama-3-8b", "h100-sxm", prompt=10, mfu=0.1).value("mfu") == near(0.1)
    assert (
        sr.Study("llama-3-8b", "h100-sxm", prompt=10, mem_bandwidth=3.35e12).value("mem_bandwidth")
        == 3_350_000_000_000
    )


def test_units_in_keywords():
    given = sr.Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=10,
        mem_bandwidth="3 TB/s",
        step_overhead="50 us",
        price="3.6 USD/hour",
    )
    assert given.value("mem_bandwidth") == 3 * 10**12
    assert given.value("step_overhead") == near(50e-6)
    assert given.value("price") == near(0.001)


def test_a_range_has_a_middle_and_two_ends():
    value = sr.Study(**H100, mfu="0.5..0.7").value("prefill_compute_time")
    flops = sr.Study(**H100).value("prefill_flops")
    assert float(value) == pytest.approx(flops / 0.6 / 989.4e12)
    assert (value.low, value.high) == (
        pytest.approx(flops / 0.7 / 989.4e12),
        pytest.approx(flops / 0.5 / 989.4e12),
    )


def test_a_number_keeps_its_result():
    value = sr.Study(**H100).value("ttft")
    assert isinstance(value, Number)
    assert value.result.symbol.name == "ttft"


def test_lists_make_cases_and_plain_questions_go_to_the_first():
    several = sr.Study("llama-3-8b", ["h100-sxm", "h200"], prompt=1024, batch=[1, 8])
    assert [(case.hardware.name, int(case.case.value("batch"))) for case in several.cases] == [
        ("h100-sxm", 1),
        ("h100-sxm", 8),
        ("h200", 1),
        ("h200", 8),
    ]
    assert several.value("batch") == 1
    assert several.first.hardware.name == "h100-sxm"


def test_any_quantity_may_be_set_and_the_rest_follows():
    measured = sr.Study(**H100, itl="14 ms")
    assert measured.value("itl") == 0.014
    assert measured.value("decode_throughput") == pytest.approx(2 / 0.014)
    assert measured.value("decode_mbu") == pytest.approx(
        measured.value("decode_bytes") / 3.35e12 / 0.014
    )


def test_params_alone_give_what_needs_no_dimensions():
    bare = sr.Study(params=70 * 10**9, hardware="h100-sxm", prompt=4096)
    assert bare.value("weight_bytes") == 140e9
    assert "kv_bytes_per_token" not in bare.first.quantities()


def test_without_a_case_the_error_names_the_missing_input():
    assert "needs" in refused(lambda: sr.Study().value("ttft"))
    message = refused(lambda: sr.Study("llama-3-8b", prompt=10).value("ridge_point"))
    assert "peak_flops" in message or "mem_bandwidth" in message


# --------------------------------------------------------------------------------------------------- does not fit


def test_a_case_that_does_not_fit_warns_at_the_caller():
    large = sr.Study("llama-3-70b", "h100-sxm", prompt=1024, efficiency="peak")
    with pytest.warns(sr.DoesNotFit, match=r"^itl = 41\.\d+ ms is of a configuration") as caught:
        value = large.value("itl")
    assert caught[0].filename == __file__
    assert value.flags == ("does_not_fit",)
    assert str(value).endswith("ms (does not fit)")


def test_the_warning_can_be_an_error():
    large = sr.Study("llama-3-70b", "h100-sxm", prompt=1024, output=256)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.DoesNotFit)
        with pytest.raises(sr.DoesNotFit):
            large.value("cost_per_mtok")
        assert large.value("memory_bytes") > 80e9


# -------------------------------------------------------------------------------------------------------- errors


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"model": "llama-3-9b"}, ["did you mean 'llama-3-8b'"]),
        ({"hardware": "h100-smx"}, ["did you mean 'h100-sxm'"]),
        ({"mem_bandwith": "3 TB/s"}, ["did you mean 'mem_bandwidth'"]),
        ({"mem_bandwidth": "3 TB"}, ["byte/s is needed"]),
        ({"mfu": 1.5}, ["between 0 and 1"]),
        ({"mfu": "0.7..0.5"}, ["backwards"]),
        ({"batch": 0}, ["positive"]),
        ({"batch": -3}, ["positive"]),
        ({"batch": 1.5}, ["whole number"]),
        ({"batch": True}, ["batch"]),
        ({"batch": "many"}, ["batch"]),
        ({"batch": []}, ["1 to 64"]),
        ({"mfu": math.nan}, ["mfu"]),
        ({"mfu": math.inf}, ["mfu"]),
        ({"weights": "fp17"}, ["fp17"]),
        ({"assume": {"attention": "casual"}}, ["did you mean 'causal'"]),
        ({"preset": "tutorial"}, ["tutorial-mlsysim"]),
        ({"targets": {"itll": "5 ms"}}, ["did you mean 'itl'"]),
        ({"targets": {"itl": "5 GB"}}, ["s is needed"]),
        ({"itl": "2*itl"}, ["itl"]),
    ],
    ids=str,
)
def test_what_a_study_may_not_be(keywords, words):
    message = refused(lambda: sr.Study(**{**H100, **keywords}).value("itl"))
    for word in words:
        assert word in message


def test_an_unknown_quantity_names_the_nearest(study):
    assert "did you mean 'ttft'" in refused(lambda: study.value("ttfft"))
    assert "did you mean 'ttft'" in refused(lambda: study.derive("ttfft"))


# -------------------------------------------------------------------------------------------------- targets, files


def test_targets_in_seconds_or_with_a_unit():
    for target in (0.05, "50 ms"):
        assert sr.Study(**H100, targets={"itl": target}).value("itl_target") == near(0.05)


def test_load_reads_a_file_and_paths_in_it_are_beside_it(tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    source = (STUDIES.parent / "models" / "llama-3-8b.yaml").read_text(encoding="utf-8")
    (models / "mine.yaml").write_text(
        source.replace("name: llama-3-8b", "name: mine"), encoding="utf-8"
    )
    path = tmp_path / "study.yaml"
    path.write_text(
        "model: models/mine.yaml\nhardware: h100-sxm\nworkload: {prompt: 1024, output: 16, batch: 2}\n",
        encoding="utf-8",
    )
    loaded = Study.load(path)
    assert loaded.first.model.name == "mine"
    assert loaded.value("itl") == sr.Study(**H100).value("itl")


def test_load_reads_title_targets_and_ranges():
    loaded = Study.load(STUDIES / "llama-3-70b-chat.yaml")
    assert loaded.spec.title == "Llama-3 70B chat on H100"
    assert len(loaded.cases) == 4
    assert loaded.value("ttft_target") == near(0.2)
    assert loaded.value("mfu").low == 0.5


def test_load_reports_faults_with_their_places(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "model: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 0}\n", encoding="utf-8"
    )
    assert refused(lambda: Study.load(path)).startswith(f"{path}:3:12: workload.prompt: ")


# ----------------------------------------------------------------------------------------------------- how it shows


def test_an_empty_study():
    """A model, a device, a value or a precision is something; a counting choice is none of these."""
    assert sr.Study().empty and sr.Study(assume={"attention": "full"}).empty
    assert not any(
        sr.Study(**one).empty
        for one in ({"model": "gpt2"}, {"hardware": "h100-sxm"}, {"batch": 2}, {"weights": "fp8"})
    )


def test_a_label_over_a_range_that_does_not_change_comes_as_itself():
    """Memory binds a step of one request at any efficiency of arithmetic above a hundredth."""
    assert sr.Study("gpt2", "h100-sxm", prompt=100, mfu="0.5..1").value("decode_bound") == "memory"
    assert sr.Study("gpt2", "h100-sxm", prompt=100, mfu="0.5..1").value("fits") is True


# ---------------------------------------------------------------------------------------------------- derivations


def test_a_derivation_is_a_sympy_expression():
    import sympy

    derivation = sr.Study().derive("kv_bytes_per_token")
    names = {str(symbol) for symbol in derivation.expanded.free_symbols}
    assert isinstance(derivation.expanded, sympy.Expr)
    assert names == {"n_layers", "n_kv_heads", "head_dim", "kv_bytes_per_element"}
    values = {
        symbol: {"n_layers": 80, "n_kv_heads": 8, "head_dim": 128, "kv_bytes_per_element": 2}[
            str(symbol)
        ]
        for symbol in derivation.expanded.free_symbols
    }
    assert derivation.expanded.subs(values) == 327680


def test_every_step_of_a_derivation_comes_after_what_it_needs(study):
    from symroof.symbolic.expressions import names
    from symroof.symbolic.reading import parse

    seen = set()
    steps = study.derive("response_time").steps
    own = {step.symbol.name for step in steps}
    for step in steps:
        assert set(names(parse(step.text))) & own <= seen, step.symbol.name
        seen.add(step.symbol.name)


def test_a_threshold_by_name_and_by_equation_agree():
    memory = sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=128)
    named, written = (
        memory.solve("max_batch_memory"),
        memory.solve("memory_bytes = usable_memory", for_="batch"),
    )
    assert named.value == written.value
    largest = next(iter(named.integer.values()))
    assert (
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=128, batch=largest).value("fits")
        is True
    )
    assert (
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=128, batch=largest + 1).value("fits")
        is False
    )
