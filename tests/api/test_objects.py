"""What symroof returns compares, hashes, copies and pickles, before and after it is used, and in another process."""

import copy
import pickle

import pytest
import sympy

import symroof as sr
from symroof import symbols as s

from ..tables import case_of

CASE = case_of("model=llama-3-8b hardware=h100-sxm prompt=1024 output=64 batch=8 price=0.001")
CASE["targets"] = {"itl": 0.05}
OTHER = {**CASE, "batch": 9}


def used(case):
    study = sr.Study(**case)
    for name in ("itl", "memory_bytes", "decode_time"):
        study.value(name), study.sympy(name), study.derive(name).steps
    study.solve("itl = 20 ms", "prompt"), study.values(), repr(study), study._repr_html_()
    return study


def study(case, **more):
    return sr.Study(**case, **more)


MADE = {  # what is made of a case; of another case it is another thing
    "study": study,
    "used study": used,
    "ranged study": lambda case: study(case, mbu="0.5..0.9", ttft=2 * s.itl),
    "derivation": lambda case: study(case).derive("itl"),
    "derivation of an expression": lambda case: study(case).derive(
        sympy.diff(s.itl * s.batch, s.batch)
    ),
    "step": lambda case: study(case).derive("itl").steps[-1],
    "number": lambda case: study(case).value("itl"),
    "result": lambda case: study(case).result("itl"),
    "case": lambda case: study(case).first,
    "compiled": lambda case: sr.compile(["itl", "fits"], ["prompt"], **case),
    "selection": lambda case: sr.select(study(case)),
    "waterfall": lambda case: sr.diff(study(case), study({**case, "hardware": "h200"}), "itl"),
    "calibration": lambda case: study(case).calibrate("docs/measured.csv"),
    "formula checked": lambda case: sr.check(
        sympy.Eq(s.kv_bytes_per_token, case["batch"] * s.n_layers * s.act_bytes_per_element)
    ),
    "theory": lambda case: sr.Theory({"width": {"unit": "byte", "default": case["batch"]}}, {}),
    "table": lambda case: sr.hardware()[: case["batch"]],
}


@pytest.fixture(scope="module", params=MADE)
def things(request):
    make = MADE[request.param]
    return make(CASE), make(CASE), make(OTHER)


@pytest.mark.sample(5)
def test_equal_where_the_same_was_asked(things):
    one, same, other = things
    assert one == same
    assert one != other and one != "text" and one is not None


@pytest.mark.sample(5)
def test_equal_things_have_one_hash(things):
    one, same, other = things
    assert hash(one) == hash(same) and {one: "found"}[same] == "found"
    assert len({one, same, other}) == 2


@pytest.mark.sample(5)
def test_copies_are_equal(things):
    one, *_ = things
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert (made, hash(made), repr(made), type(made)) == (one, hash(one), repr(one), type(one))


@pytest.mark.full
def test_a_used_study_is_equal_to_a_fresh_one_and_pickles_as_small():
    fresh, worn = sr.Study(**CASE), used(CASE)
    assert worn == fresh and len(pickle.dumps(worn)) < 2000
    assert pickle.loads(pickle.dumps(worn)).value("itl") == fresh.value("itl")


def test_errors_keep_their_problems():
    with pytest.raises(sr.InputError) as raised:
        sr.Study(bacth=3, prompt=-1)
    made = pickle.loads(pickle.dumps(raised.value))
    assert str(made) == str(raised.value) and made.problems == raised.value.problems
