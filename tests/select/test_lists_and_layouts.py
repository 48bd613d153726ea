"""Lists of candidates as people write them, and layouts of devices over plain numbers: every split by hand, every edge of a count, every refusal word by word."""

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.select import candidates
from symroof.select.candidates import with_candidates
from symroof.select.selection import select, selection_json

from ..tables import table


def refused(call, *args, **more):
    with pytest.raises(InputError) as caught:
        call(*args, **more)
    return caught.value.problems[0]


# ----------------------------------------------------------------------------------------------------------- lists


@pytest.fixture(scope="module")
def study():
    return Study(model="llama-3-8b", hardware="h100-sxm", prompt=100)


@pytest.mark.parametrize(
    ("among", "values"),
    [
        ({"tp": "1, 2,,4 "}, [1, 2, 4]),
        ({"tp": 8}, [8]),
        ({"tp": [1, "2,4"]}, [1, 2, 4]),
        ({"cached_prefix": "0,10"}, [0, 10]),
        ({"cached_prefix": "0"}, [0]),
        ({"batch": range(1, 4)}, [1, 2, 3]),
        ({" tp ": "1,2"}, [1, 2]),
    ],
)
def test_a_list_of_values(study, among, values):
    (name,) = (key.strip() for key in among)
    assert [
        int(answers.case.value(name)) for answers in with_candidates(study, among).cases
    ] == values


@pytest.mark.parametrize(
    ("among", "names"),
    [
        ({"hardware": "h200, h200,h100-sxm"}, ["h200", "h100-sxm"]),
        ({"hardware": "h20[0]"}, ["h200"]),
        ({"hardware": "h10?-sxm"}, ["h100-sxm"]),
        ({"hardware": ["h100-s*", "h100-sxm"]}, ["h100-sxm"]),
    ],
)
def test_a_list_of_devices(study, among, names):
    """Each once, in the order in which it is named first."""
    assert [answers.hardware.name for answers in with_candidates(study, among).cases] == names


UNREADABLE = """
batch | 4,096 | '4,096': a comma separates candidates | write 4096
batch | 1,02 | '1,02': a comma separates candidates | write 102
tp | , | an empty list of candidates |
weights | , | an empty list of candidates |
model | , | an empty list of candidates |
hardware | | an empty list of candidates |
model | llama-9* | no model is like 'llama-9*' | `symroof list models`
gpu | h200 | no such name 'gpu' to choose among | did you mean 'hardware'?
tpp | 1 | no such name 'tpp' to choose among | did you mean 'tp'?
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "listed", "message", "hint"), table(UNREADABLE))
def test_a_list_that_cannot_be_read(study, name, listed, message, hint):
    problem = refused(with_candidates, study, {name: listed})
    assert (problem.message, problem.hint) == (message, hint)


def test_the_most_configurations_of_one_selection(study, monkeypatch):
    monkeypatch.setattr(candidates, "MOST_CANDIDATES", 6)
    assert len(with_candidates(study, {"tp": "1,2", "batch": "1,2,3"}).cases) == 6
    seven = {"tp": "1", "batch": "1,2,3,4,5,6,7"}
    assert "at most 6" in refused(lambda: with_candidates(study, seven).cases).message


# ------------------------------------------------------------------------------------------------------------ JSON


@pytest.fixture(scope="module")
def choice():
    """Two that pass, two that do not, listed batches beside each other."""
    case = {"model": "llama-3-8b", "prompt": 512, "output": 32, "efficiency": "peak", "chunk": 2048}
    return select(
        **case,
        hardware=["h100-sxm", "l40s"],
        among={"batch": "4,64"},
        targets={"itl": 0.03, "cost": 2},
    )


@pytest.mark.parametrize("most", [1, 3])
def test_which_configurations_are_worked_out(choice, most):
    """The first so many; of the others what they are compared by."""
    states = [c.state for c in choice.configurations]
    assert states.count("passes") >= 1 and states.count("fails") >= 2, states
    made = selection_json(choice, most=most)
    for i, (entry, c) in enumerate(zip(made["configurations"], choice.configurations, strict=True)):
        assert entry["worked_out"] is (i < most)
        assert ("checks" in entry) is entry["worked_out"]
        if not entry["worked_out"]:
            values = {name: row["value"] for name, row in entry["quantities"].items()}
            assert values == {name: x for name, (x, *_) in c.screened.values.items()}
        found = [entry[name] for name in ("state", "batch", "copies", "batch_chosen")]
        assert found == [c.state, c.batch, c.copies, True]
    assert made["passing"] == states.count("passes")


def test_targets_have_their_metrics(choice):
    made = selection_json(choice, most=0)
    assert [made["targets"][name] for name in ("itl", "cost")] == [
        {"value": 0.03, "unit": "s", "metric": "sustained_itl"},
        {"value": 2, "unit": "USD", "metric": "cost_per_mtok"},
    ]
