"""A sweep's numbers are those of its cases, worked out one by one and exactly; what stands beside them says how they came about."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.theory.switches import SWITCHES

from ..near import near
from ..tables import case_of, fields, table

CASE = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal prompt=2048 output=128")
STUDY = "llama-3-70b-chat"


def said(case, name):
    """A quantity of a case of its own, exactly, or an end of it; None where it has no value."""
    quantity, _, end = name.rpartition("_")
    try:
        ended = end in ("low", "high")
        return getattr(case.first.result(quantity), end) if ended else case.value(name)
    except InputError:
        return None


def same(found, exact, **close):
    """Whether a point of a grid says what its case says."""
    if exact is None:
        return found in ("", None) or np.isnan(found)
    if isinstance(exact, (bool, str)):
        return found == exact
    return float(found) == pytest.approx(float(exact), **{"rel": 1e-12, "abs": 0, **close})


SWEPT = """
# more of the case | axes | quantities
output=128 | batch: 1:512, prompt: 128:32768:x2 |
output=128 | hardware: [h100-sxm, h200, mi300x], weights: [fp16, fp8, int4], batch: [1, 64] |
output=128 | model: [llama-3-8b, llama-3-70b], kv: [fp16, fp8] |
output=128 | detail: [exact, weights], attention: [causal, full], prompt: 100 | prefill_flops ttft
output=128 | activations: ["on", "off"], prompt: [100, 5000] | prefill_bytes itl
output=128 | tp: [1, 2, 4, 8], mem_bandwidth: 2 TB/s:8 TB/s:x2 | itl ttft link_intensity fits
output=128 | mfu: 0.1:0.9:+0.1, mbu: 0.1:0.9:+0.2 | itl ttft effective_ridge
arrival_rate=1 | arrival_rate: [1, 5, 60, 500], mfu: [0.3, 1] | queue_wait loaded_ttft utilization
output=128 | itl: [5 ms, 20 ms], batch: [1, 8] | decode_mbu decode_throughput tpot
model=mixtral-8x7b | batch: [1, 2, 7, 33, 128], context: [1, 1000] | experts_read itl decode_bound
kv_reserve=paged | prompt: [1, 15, 16, 17, 4096], batch: [1, 9] | kv_reserved_bytes concurrency
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize(("more", "axes", "quantities"), table(SWEPT))
def test_points_are_those_of_cases_of_their_own(more, axes, quantities):
    """At points drawn at random, against a study that holds that point alone and the exact path."""
    given, over = {**CASE, **case_of(more)}, fields(axes)
    found = sr.Study(**given).sweep(quantities.split() or None, **over)
    draw = random.Random(axes)
    sizes = dict(found.sizes)
    for _ in range(min(12, found.sizes and int(np.prod(list(sizes.values()))))):
        at = {axis: draw.randrange(size) for axis, size in sizes.items()}
        chosen = {axis: found[axis].values[i].item() for axis, i in at.items()}
        switches = {k: chosen.pop(k) for k in ("attention", "detail") if k in chosen}
        assume = {**given.get("assume", {}), **switches}
        if chosen.get("activations") in ("on", "off"):
            assume["activations"] = chosen.pop("activations")
        text = {key: f"{value} s" if key == "itl" else value for key, value in chosen.items()}
        case = sr.Study(**{**given, **text, "assume": assume})
        for variable in found.data_vars.values():
            value = variable.isel({k: v for k, v in at.items() if k in variable.dims}).values.item()
            assert same(value, said(case, variable.name)), (variable.name, chosen, assume)


def test_a_formula_of_the_study_follows_the_axis():
    study = sr.Study(**CASE, memory_reserve="1 GB + batch*100 MB")
    found = study.sweep("memory_reserve", batch=[1, 10])
    assert found.memory_reserve.values.tolist() == [1.1e9, 2e9]


def test_an_axis_wins_over_the_study_and_its_lists_are_axes_too():
    found = sr.Study.load(STUDY).sweep("itl", batch=[2, 4, 8])
    assert dict(found.sizes) == {"hardware": 2, "batch": 3}
    alone = sr.Study.load(STUDY).sweep("itl", hardware="h200")
    assert dict(alone.sizes) == {"hardware": 1, "batch": 2}


def test_the_switch_beside_detail_wins():
    found = sr.Study(**CASE).sweep(
        "decode_bytes", detail=["exact", "weights"], kv_traffic=["on", "off"]
    )
    assert found.attrs["assumptions"]
    alone = sr.Study(**CASE, assume={"detail": "weights", "kv_traffic": "on"}).value("decode_bytes")
    assert found.decode_bytes.sel(detail="weights", kv_traffic="on").item() == float(alone)


def test_whether_it_fits_comes_along():
    """8 billion weights of 2 byte leave 69.5 GB of 81,559 MiB; a request of 2,048 + 127 tokens takes 285 MB, so 243 fit and 244 do not."""
    room = 81_559 * 2**20 - Fraction(sr.Study(**CASE).value("weight_bytes"))
    most = room // (131072 * (2048 + 127))
    found = sr.Study(**CASE).sweep("itl", batch=[most, most + 1])
    assert found.fits.values.tolist() == [True, False]
    assert found.fits.dtype == bool
    assert "1 of 2 points do not fit in memory" in found.attrs["warnings"]
    assert "fits" not in sr.Study(**CASE).sweep("kv_cache_bytes", batch=[1, 2])


def test_what_only_some_cases_have_is_missing_elsewhere_and_told():
    found = sr.Study(**CASE).sweep("cost_per_mtok", hardware=["h100-sxm", "gaudi3"])
    assert np.isfinite(found.cost_per_mtok.values[0])
    assert np.isnan(found.cost_per_mtok.values[1])
    assert (
        "cost_per_mtok has no value where hardware=gaudi3: needs price" in found.attrs["warnings"]
    )


def test_a_label_that_only_the_range_of_an_efficiency_moves_is_the_expected_one():
    """No axis moves it, and along the range another label may hold."""
    case = {"model": "llama-3-8b", "prompt": 2048, "hardware": "h200"}
    names = ["prefill_bound", "decode_bound"]
    found = sr.Study(**case).sweep(names, weights=["fp16", "int4"], tp=[1, 4])
    alone = sr.Study(**case, weights="int4", tp=4)
    assert [found[name].values[1, 1] for name in names] == [alone.value(name) for name in names]


def test_units_meanings_and_assumptions():
    found = sr.Study(**CASE, mfu="0.5..0.7", assume={"attention": "full"}).sweep(
        ["ttft", "decode_bound"], batch=[1, 2], logits=["last", "all"]
    )
    assert (found.ttft.units, found.ttft.long_name) == ("s", "time to first token")
    meaning = "decode batch size: requests decoded together"
    assert (found.batch.units, found.batch.long_name) == ("request", meaning)
    assumptions = json.loads(found.attrs["assumptions"])
    assert list(assumptions) == list(SWITCHES)
    assert assumptions["attention"] == {"value": "full", "defaulted": False}
    assert assumptions["fusion"] == {"value": "flash", "defaulted": True}
    assert assumptions["logits"] == {"value": ["last", "all"], "defaulted": False}
    inputs = json.loads(found.attrs["inputs"])
    assert inputs["mem_bandwidth"]["value"] == 3350000000000
    assert "data sheet" in inputs["mem_bandwidth"]["source"]
    assert inputs["queue_time"]["defaulted"] is True
    assert "batch" not in inputs
    assert (found.attrs["models"], found.attrs["hardware"], found.attrs["source"]) == (
        "llama-3-8b",
        "h100-sxm",
        f"symroof {sr.__version__}",
    )
    assert "mfu is given as 0.5..0.7: evaluated at its middle, 0.6" in found.attrs["warnings"]
    assert found.ttft.sel(logits="last", batch=1).item() == near(
        sr.Study(**{**CASE, "mfu": 0.6, "assume": {"attention": "full"}}).value("ttft"), 1e-12
    )


def test_inputs_that_differ_are_lists():
    grid = sr.Study(**CASE).sweep("itl", hardware=["h100-sxm", "h200"], weights=["fp16", "fp8"])
    found = json.loads(grid.attrs["inputs"])
    assert found["mem_bandwidth"]["value"] == [3.35e12, 4.8e12]
    assert found["mem_bandwidth"]["unit"] == "byte/s" and len(found["mem_bandwidth"]["source"]) == 2
    assert found["weight_bytes_per_param"]["value"] == [2, 1]
    assert found["n_layers"]["value"] == 32


EVERY_SWITCH = {name: list(switch.values) for name, switch in SWITCHES.items()}
MANY = {"batch": range(1, 10**5), "prompt": range(1, 10**5), "output": range(1, 10**4)}
REFUSED = [
    ({}, None, "nothing to sweep over"),
    ({"tp": [1, 2], **EVERY_SWITCH}, None, "cases; at most 1,000"),
    (MANY, None, "points; at most 10,000,000,000"),
    ({"batch": [1]}, ["ttf"], "did you mean 'ttft'?"),
    ({"batch": [1]}, ["batch_to_ridge"], "is a threshold"),
    ({"batch": [1]}, ["queue_wait"], "needs arrival_rate"),
    ({"batch": [1]}, ["batch"], "is an axis"),
    ({"batch": [1]}, ["n_heads.global"], "n_heads.global"),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("over", "quantities", "word"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_swept_is_refused(over, quantities, word):
    with pytest.raises(InputError) as caught:
        sr.Study(**CASE).sweep(quantities, **over)
    assert word in str(caught.value)


def test_without_a_case_what_needs_none_is_swept():
    found = sr.Study().sweep(
        "ridge_point", peak_flops=["1 PFLOP/s"], mem_bandwidth=["2 TB/s", "4 TB/s"]
    )
    assert found.ridge_point.values.tolist() == [[500, 250]]
    with pytest.raises(InputError, match="weight_bytes: needs vocab_size"):
        sr.Study().sweep("weight_bytes", batch=[1])


NO_LINKS = case_of(
    "model=llama-3-8b prompt=1024 peak_flops=1e15 mem_bandwidth=3e12 mem_capacity=80e9"
)


def test_what_an_axis_needs_everywhere_is_asked_for():
    """Two devices send each other something, so need the bandwidth of a link; one does not."""
    with pytest.raises(InputError, match="needs link_bandwidth") as caught:
        sr.Study(**NO_LINKS).sweep("itl", tp=[2, 4])
    assert (
        caught.value.problems[0].hint
        == "--set link_bandwidth=VALUE, or an axis: --over link_bandwidth=VALUES"
    )
    assert np.isfinite(sr.Study(**NO_LINKS).sweep("itl", batch=[1, 2]).itl.values).all()


def test_what_one_device_needs_on_a_part_of_the_grid_is_missing_there_alone():
    """An M3 Max has no link to another: one sends nothing, two have no time for sending."""
    alone = "m3-max"
    found = sr.Study(model="llama-3-8b", prompt=1024).sweep(
        "itl", hardware=["h100-sxm", alone], tp=[1, 2]
    )
    assert np.isfinite(found.itl.values).tolist() == [[True, True], [True, False]]
    assert found.itl.sel(hardware=alone, tp=1) == pytest.approx(
        float(sr.Study(model="llama-3-8b", prompt=1024, hardware=alone).value("itl"))
    )
    assert (
        f"itl has no value where hardware={alone}, tp=2: needs link_bandwidth"
        in found.attrs["warnings"]
    )
