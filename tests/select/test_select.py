"""Who passes, who is best, and a published selection table by its own arithmetic."""

import random

import pytest

import symroof as sr
from symroof.api import Study
from symroof.errors import InputError
from symroof.select.selection import select

from ..tables import case_of


@pytest.fixture(scope="module")
def tutorial():
    return select("tutorial-sla")


def by_name(choice):
    return {c.case.hardware.name: c for c in choice.configurations}


def check(configuration, name):
    return next(c for c in configuration.checks if c.name == name)


def test_the_tutorials_t4_holds_nothing_of_what_is_printed_for_it(tutorial):
    t4 = by_name(tutorial)["t4"]
    assert t4.missed == ("memory", "ttft", "itl")
    assert float(check(t4, "memory").metric.value) == pytest.approx(18.4575e9, rel=1e-4)
    assert check(t4, "ttft").metric.flags == check(t4, "itl").metric.flags == ("does_not_fit",)
    assert t4.window is None


def test_sorted_passing_first_and_the_nearest_miss_before_the_far_one(tutorial):
    names = [c.case.hardware.name for c in tutorial.configurations]
    assert names == ["h200", "h100-sxm", "a100-80gb-sxm", "t4"]
    assert [c.state for c in tutorial.configurations] == ["passes", "passes", "fails", "fails"]


SMALL = case_of("model=llama-3-8b prompt=2048 output=256 mfu=0.5 mbu=0.8 efficiency=peak")


def test_the_passing_ones_stand_cheapest_first():
    devices = ["a100-80gb-sxm", "h100-sxm", "gh200"]
    work = {"batch": 16, "chunk": 2048}
    found = select(**SMALL, **work, hardware=devices, tp=[1, 2], targets={"itl": 0.05})
    costs = []
    for c in found.passing:
        case = c.case
        lone = {"hardware": case.hardware.name, "tp": int(case.case.value("tp"))}
        costs.append(Study(**SMALL, **lone, **work).value("cost_per_mtok"))
    assert len(costs) == 6
    assert costs == sorted(costs)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(4))
def test_what_does_not_pass_never_competes(seed):
    draw = random.Random(seed)
    limits = {"ttft": (0.05, 0.5), "itl": (0.005, 0.05), "cost": (0.1, 2)}
    targets = {name: draw.uniform(*ends) for name, ends in limits.items()}
    devices = ["t4", "a100-80gb-sxm", "h100-sxm", "mi300x"]
    layouts = {"tp": [1, 2], "batch": [1, 32, 256]}
    found = select(**SMALL, hardware=devices, **layouts, targets=targets)
    assert len(found.configurations) == 24
    for c in found.configurations:
        limits = {"ttft": "loaded_ttft", "itl": "sustained_itl", "cost": "cost_per_mtok"}
        case = c.case.case
        fits = case.value("memory_bytes") <= case.value("usable_memory")
        met = [
            case.has_value(metric) and float(case.value(metric)) <= targets[name]
            for name, metric in limits.items()
        ]
        assert (c.state == "passes") is (fits and all(met))
        assert (c in found.passing) is (fits and all(met))


def test_an_unknown_price_is_no_pass_and_no_failure():
    found = by_name(select(**SMALL, hardware=["h100-sxm", "gaudi3"], batch=16, targets={"cost": 5}))
    assert found["h100-sxm"].state == "passes"
    assert found["gaudi3"].state == "unknown"
    assert found["gaudi3"].unknown == {"cost": "needs price"}
    failing = by_name(
        select(**SMALL, hardware=["gaudi3"], batch=16, targets={"cost": 5, "itl": 1e-6})
    )
    assert failing["gaudi3"].state == "fails"  # a miss is a miss, whatever is not known


def test_one_configuration_and_no_target_say_how_to_go_on():
    found = select(**SMALL, hardware="h100-sxm")
    assert found.configurations[0].state == "passes"
    assert found.hints[0].startswith("no target is set, so only memory decides")
    assert not select(
        **SMALL, hardware=["h100-sxm", "h200"], targets={"itl": 1, "ttft": 9}, chunk=8192
    ).hints


@pytest.mark.full
def test_all_hardware_is_the_whole_catalogue():
    from symroof.specs.catalogue import entries

    found = select(model="llama-3-8b", prompt=128, batch=1, among={"hardware": "all"})
    names = {c.case.hardware.name for c in found.configurations}
    assert names == {*entries("hardware")}


WRONG = [
    ({"among": {"weights": "fp16,fp99"}}, "fp99"),
    (
        {"among": dict.fromkeys(("tp", "batch", "prompt"), range(1, 31))},
        "27,000 cases; at most 20,000",
    ),
    ({"targets": {"cots": 2}}, "no such target 'cots'"),
    ({"targets": {"price": "2 USD"}}, "USD/s is needed"),
    ({"targets": {"cost": "2 USD/hour"}}, "USD is needed"),
]


@pytest.mark.parametrize(("more", "message"), WRONG)
def test_bad_input(more, message):
    with pytest.raises(InputError) as error:
        select(**SMALL, hardware="h100-sxm", **more)
    assert message in error.value.problems[0].message


@pytest.mark.parametrize(
    ("missing", "case"),
    [
        ("model", {"hardware": "h200", "prompt": 8}),
        ("prompt", {"model": "llama-3-8b", "hardware": "h200"}),
    ],
)
def test_what_there_is_to_choose_has_to_be_given(missing, case):
    with pytest.raises(InputError, match=missing):
        select(**case)


def test_the_study_itself_is_left_as_it_is():
    study = Study(**SMALL, hardware="h100-sxm")
    assert len(sr.select(study, among={"tp": "1,2"}).configurations) == 2
    assert len(study.cases) == 1
