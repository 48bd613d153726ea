"""Small parts of a selection on stand-ins: what is not known, what is screened at corners, which configuration is worked out for what."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.api import Study
from symroof.formula.tree import Name, Num
from symroof.report.selection_parts import verdict
from symroof.report.selection_tables import _reasons
from symroof.select import as_json, batch_window
from symroof.select import configuration as configurations
from symroof.select.batch_window import Window
from symroof.select.candidates import widened
from symroof.select.configuration import Run, at_batch
from symroof.select.pareto_front import front
from symroof.select.screened_group import Screened, _number


@pytest.mark.parametrize(
    ("most", "least", "batch", "passes"),
    [(0, 1, 1, False), (9, 1, 1, True), (9, 1, 9, True), (9, 1, 5, True), (9, 3, 5, True), (9, 3, 3, True), (9, 3, 2, False), (9, 3, 10, False), (1, 1, 1, True), (1, 1, 2, False), (3, 0, 2, True), (0, 0, 0, False)],
)  # fmt: skip
def test_a_batch_passes_between_the_ends_of_its_window(most, least, batch, passes):
    assert Screened(most, least, None, batch).passes is passes


@pytest.mark.parametrize(
    ("batch", "copies", "changes"), [(1, None, ()), (1, 1, ()), (1, 2, (("dp", 2),)), (2, None, (("batch", 2),)), (9, 3, (("batch", 9), ("dp", 3)))]
)
def test_a_screened_configuration_is_changed_where_it_is_judged_elsewhere(batch, copies, changes):
    """A case without a batch has one request and one copy."""
    study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=64)
    made = configurations._judged(study.first, False, Screened(9, 1, copies, batch, values={batch: {}}))
    assert made.run.changes == changes
    assert configurations._judged(study.first, False, Screened(9, 1, 1, 1, values={1: {}})).run.answers is study.first


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (Window(3, None), "3 or more"),
        (Window(1000, None), "1,000 or more"),
        (Window(5, 5), "5"),
        (Window(1, 1234), "1 to 1,234"),
        (Window(1000, 1000), "1,000"),
    ],
)
def test_a_window_in_words(window, text):
    assert str(window) == text


# ------------------------------------------------------------------------------------------------------------ not known


@pytest.mark.parametrize("judged", [(), ("itl",), ("memory",), ("memory", "itl")])
@pytest.mark.parametrize("targets", [{}, {"cost": "needs price"}])
def test_what_cannot_be_judged(judged, targets, monkeypatch):
    """Memory where nothing is known of it, and the targets of the case that have no metric."""
    answers = SimpleNamespace(why_unknown=lambda name: f"no {name}")
    monkeypatch.setattr(configurations, "unjudged", lambda case: targets if case is answers else None)
    one = Run("one", answers)
    one.__dict__["checks"] = tuple(SimpleNamespace(name=name) for name in judged)
    assert one.unknown == ({} if "memory" in judged else {"memory": "no fits"}) | targets


# ------------------------------------------------------------------------------------------------------------- corners


@dataclass(frozen=True)
class Cornered:
    corners: tuple = ()
    moved: object = None


@pytest.mark.parametrize("none", [False, True])
@pytest.mark.parametrize("corners", [(), ("a",), ("a", "b")])
def test_a_window_is_screened_at_every_corner_or_at_the_case_itself(corners, none, monkeypatch):
    asked = []

    def screened(cases, own):
        asked.append(([case.moved for case in cases], own))
        return [None if none and i == 0 else i + 1 for i in range(len(cases))]

    monkeypatch.setattr(batch_window, "screened", screened)
    monkeypatch.setattr(batch_window, "replace", lambda answers, moved, _memo: replace(answers, moved=moved))
    places = list(corners) or [None]
    assert batch_window._screened(Cornered(corners)) == ([] if none else list(range(1, len(places) + 1)))
    assert asked == [(places, False)]


# ---------------------------------------------------------------------------------------------------------- worked out


@pytest.mark.parametrize(
    ("state", "missed", "short", "lacks", "together", "keeps"),
    [
        ("fails", ("itl",), True, ["lever"], {"tp": "bought"}, []),
        ("fails", ("itl",), False, None, None, []),
        ("fails", (), True, [], None, []),
        ("in part", ("itl",), True, ["lever"], {"tp": "bought"}, []),
        ("in part", (), True, [], None, []),
        ("unknown", ("itl",), True, [], None, []),
        ("passes", (), True, [], None, ["kept"]),
        ("passes", (), False, [], None, ["kept"]),
    ],
)
def test_what_is_solved_for_a_configuration(state, missed, short, lacks, together, keeps, monkeypatch):
    """What it lacks where it misses a condition and that is asked for; how far it can go where it passes."""
    for name, answer in {
        "together": lambda answers: {"tp": SimpleNamespace(as_json=lambda: "bought")}, "lacks": lambda answers: ["lever"], "lever_json": lambda lever: lever,
        "keeps": lambda answers: ["kept"], "keep_json": lambda keep: keep, "_quantities": lambda run: iter([("q", 1)]), "_known": lambda run: (), "_elasticity": lambda *_: 0.5,
        "case_warnings": lambda answers: [],
    }.items():  # fmt: skip
        monkeypatch.setattr(as_json, name, answer)
    monkeypatch.setattr(as_json, "SWITCHES", ())
    answers = SimpleNamespace(binding=None, inputs=lambda known, defaulted: {}, slow_end=None)
    run = SimpleNamespace(answers=answers, missed=missed, passes=state == "passes", checks=(), unknown={})
    made = as_json._solved(SimpleNamespace(state=state, run=run, largest=None), short)
    assert (made["lacks"], made["together"], made["keeps"]) == (lacks, together, keeps)
    assert made["at_largest_batch"] is None
    assert as_json._solved(SimpleNamespace(state=state, run=run, largest=run), short)["at_largest_batch"] == {"q": 1}


@pytest.mark.parametrize(("more", "worked", "lacking"), [({}, 20, 3), ({"most": 4}, 4, 3), ({"lacking": 5}, 20, 5), ({"most": 30, "lacking": 0}, 30, 0)])
def test_how_many_configurations_are_worked_out_and_for_how_many_what_they_lack_is_solved(more, worked, lacking, monkeypatch):
    """The first twenty and the three nearest misses, unless more are asked for; here the misses are the last ones."""
    monkeypatch.setattr(as_json, "configuration_json", lambda c, worked_out, short: (worked_out, short))
    passing = [SimpleNamespace(state="passes", run=SimpleNamespace(missed=()), runs=()) for _ in range(30)]
    missing = [SimpleNamespace(state="fails", run=SimpleNamespace(missed=("itl",)), runs=()) for _ in range(6)]
    choice = SimpleNamespace(
        configurations=(*passing, *missing), targets={}, order="rate", basis=(), passing=tuple(passing), best=lambda what: None, fronts=(), fitting_fronts=()
    )
    made = as_json.choice_json(choice, **more)
    assert made["configurations"] == [(i < worked or 30 <= i < 30 + lacking, 30 <= i < 30 + lacking) for i in range(36)]
    assert (made["passing"], made["schema"], made["sorted_by"], set(made["best"].values())) == (30, "symroof/select/1", "rate", {None})


def test_the_most_candidates_of_one_selection():
    assert widened(Study(model="llama-3-8b", hardware="h100-sxm", prompt=100), {}).most_cases == 20_000


# ------------------------------------------------------------------------------------------------------------ at a batch


def test_a_configuration_at_another_batch_keeps_its_copies():
    """With its quantities there, where the screening has them: then it is inside its limits, and fails none."""
    run = Run("one", SimpleNamespace(targets={}), (("batch", 5), ("dp", 3)), {"itl": 0.1}, {"itl": 0.7, "memory": 0.5})
    moved = at_batch(run, 9, {"itl": 0.2})
    assert (moved.changes, moved.quick, moved.shares) == ((("batch", 9), ("dp", 3)), {"itl": 0.2}, {"itl": 0.0, "memory": 0.0})
    assert (at_batch(run, 9).quick, at_batch(run, 9).shares) == ({}, {})


@pytest.mark.parametrize(
    ("points", "places"), [([], ()), ([(1,)], (0,)), ([(1, 2), (2, 1)], (0, 1)), ([(1, 1), (1, 2)], (1,)), ([(1, 2), (1, 1)], (0,)), ([(2, 2)] * 2, (0, 1))]
)
def test_a_front_of_few_points(points, places):
    assert front(points, (True,) * (len(points[0]) if points else 0)) == places


# --------------------------------------------------------------------------------------------------------------- labels


def labelled(monkeypatch, *, devices=1, dp=1, tp=1, prefill=0, apart=False, compared=False, hardware="l4", several=False, varied=(), named=()):
    monkeypatch.setattr(configurations, "degrees", lambda answers: list(named))
    values = {"served_devices": Fraction(devices), "dp": Fraction(dp), "tp": Fraction(tp), "prefill_devices": Fraction(prefill)}
    binding = SimpleNamespace(
        model=SimpleNamespace(name="m"), several_models=several, hardware=SimpleNamespace(name=hardware) if hardware else None, varied=varied,
        assumptions={"scheduling": "disaggregated" if apart else "chunked"}, given={"attention_dp": 1} if compared else {},
    )  # fmt: skip
    return configurations.label(SimpleNamespace(binding=binding, case=SimpleNamespace(value=values.__getitem__)))


@pytest.mark.parametrize(
    ("case", "label"),
    [
        ({}, "l4"), ({"devices": 2}, "2 x l4"), ({"devices": Fraction(5, 2), "dp": 2}, "5 x l4"), ({"hardware": None}, "no hardware"), ({"several": True}, "m, l4"),
        ({"devices": 4, "tp": 4}, "4 x l4"), ({"devices": 4, "tp": 4, "compared": True}, "4 x l4, tp 4"), ({"compared": True}, "l4"), ({"devices": 4, "named": ["tp 2", "pp 2"], "compared": True}, "4 x l4, tp 2, pp 2"),
        ({"devices": 3, "tp": 2, "prefill": 1, "apart": True}, "3 x l4, tp 2, 1 of them prefill"), ({"devices": 3, "dp": 2, "prefill": Fraction(3, 2), "named": ["dp 2"], "apart": True}, "6 x l4, dp 2, 3 of them prefill"),
        ({"varied": (("batch", "4"), ("tp", "2"), ("weights", "fp8"))}, "l4, batch 4, weights fp8"),
    ],
)  # fmt: skip
def test_a_label_of_devices_layout_and_what_is_listed(case, label, monkeypatch):
    """A plain group is named where layouts are compared or prompts read apart."""
    assert labelled(monkeypatch, **case) == label


@pytest.mark.parametrize(
    ("name", "numbers", "priced", "value"),
    [
        ("mfu", (), True, 0.5),
        ("mfu", ("mfu",), True, 0.7),
        ("formula", (), True, 0.7),
        ("price", (), True, 0.7),
        ("price", (), False, math.nan),
        ("none", (), True, 0.7),
    ],
)
def test_a_number_of_a_case(name, numbers, priced, value):
    """As it stands, unless the case was moved to another; the price of a device that has none is no number."""
    given = {"mfu": Num(Fraction(1, 2)), "formula": Name("mfu"), "price": Name("mfu")}
    case = SimpleNamespace(given=given, numbers=dict.fromkeys(numbers), value=lambda asked: Fraction(7, 10), has=lambda asked: priced)
    assert _number(case, name) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("expected", "fast", "words"),
    [
        (("fleet_price",), ("fleet_price",), "misses fleet_price"),
        (("load", "ttft", "fleet_price"), ("fleet_price",), "does not keep up, misses fleet_price"),
        (("memory", "ttft"), ("memory",), "does not fit, misses ttft"),
        (("load",), ("itl",), "does not keep up, misses itl"),
    ],
)
def test_a_verdict_names_what_is_missed_as_expected_first(expected, fast, words):
    """Of a queue that grows the wait without end is not named as well."""
    run = SimpleNamespace(state="fails", missed=fast, missed_as_expected=expected, unknown={})
    assert verdict(SimpleNamespace(run=run, window=None)) == words


def test_reasons_stand_below_the_table_each_once():
    listed = [
        SimpleNamespace(label=label, run=SimpleNamespace(unknown=dict.fromkeys(names, "needs price") | more))
        for label, names, more in (("a", ("cost",), {}), ("b", ("cost", "price"), {"ttft": "no steady state"}), ("c", ("cost",), {}), ("d", (), {}))
    ]
    assert list(_reasons(listed)) == ["cost of a and 2 more: needs price", "price of b: needs price", "ttft of b: no steady state"]
