"""What a configuration lacks and how far it can go, over conditions that are thresholds of one number: each answer by hand."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.formula.evaluate import NoValue
from symroof.select import required_changes as changes
from symroof.select.required_changes import Keep, _end, _first_that_does, _lever, _met, _moves, _nearest, _solvable, _unsolved, keeps, together, tried


class Case:
    """Values of inputs; ``permitted`` degrees share out the heads."""

    def __init__(self, permitted=lambda number: True, given=None, numbers=(), counted=(), **values):
        self.values, self.permits, self.numbers, self.counted = values, permitted, set(numbers), counted
        self.given = values if given is None else given
        self.theory = SimpleNamespace(
            symbol=lambda name: SimpleNamespace(name=name, counted=name in counted, unit="s"), timed=lambda name: name.endswith("time")
        )

    def value(self, name):
        return self.values[name]

    def changed(self, other):
        return Case(self.permits, None, self.numbers, self.counted, **{**self.values, **other})

    def known(self, name):
        return name in self.values


@dataclass
class Limit:
    """Holds where an input is at least, or at most, a number; without a value below ``unknown``."""

    name: str
    of: str = "tp"
    least: Fraction | None = None
    most: Fraction | None = None
    waiting: bool = False
    unknown: Fraction = Fraction(-1)
    metric: str = "a_time"
    solution: object = 1

    def holds(self, case):
        value = case.value(self.of)
        if value < self.unknown:
            raise NoValue("none")
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def waits(self, case):
        return self.waiting

    def inputs(self, case):
        return {self.of}

    def solved(self, name, answers):
        return self.solution

    def share(self, case):
        return Fraction(case.value(self.of)) / (self.most or 1)


def answers(**values):
    more = {key: values.pop(key) for key in ("permitted", "counted", "given", "numbers") if key in values}
    case = Case(**more, **values)
    return SimpleNamespace(case=case, result=lambda name: SimpleNamespace(name=name, value=case.value(name), symbol=case.theory.symbol(name)), fits=None)


def flip(condition, *, holds=True, good=False, distance=1, wrong=(), wrong_now=(), name="mfu", value=2, up=True, ruins=False, last=None):
    return SimpleNamespace(
        name=name, condition=condition, holds=holds, good=good, distance=distance, wrong=wrong, wrong_now=wrong_now, value=Fraction(value), up=up, ruins=ruins, last=last or Fraction(value)
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------- devices that are tried


def test_the_next_numbers_of_devices_that_share_out_the_heads():
    """Six of them above the present one, and none above 1,024."""
    assert tried(Case(tp=Fraction(1))) == [2, 3, 4, 5, 6, 7]
    assert tried(Case(lambda number: number % 4 == 0, tp=Fraction(4))) == [8, 12, 16, 20, 24, 28]
    assert tried(Case(lambda number: number % 1024 == 0, tp=Fraction(1))) == [1024]
    assert tried(Case(lambda number: number > 1024, tp=Fraction(1))) == []


def test_whether_a_number_of_devices_does():
    limit = Limit("itl", least=Fraction(4), unknown=Fraction(3))
    assert [_met(limit, Case(tp=Fraction(9)), number) for number in (2, 3, 4)] == [None, False, True]


@pytest.mark.parametrize(
    ("name", "waiting", "least", "also", "number", "last"),
    [("tp", True, 3, 0, 3, 2), ("tp", True, 2, 0, 2, 1), ("tp", True, 3, 5, 5, 4), ("tp", True, 8, 0, None, None), ("tp", False, 3, 0, None, None), ("mfu", True, 3, 0, None, None)],
)  # fmt: skip
def test_the_first_number_of_devices_with_which_everything_holds(name, waiting, least, also, number, last):
    here = answers(tp=Fraction(1), mfu=Fraction(1))
    late, other = Limit("ttft", least=Fraction(least), waiting=waiting), Limit("itl", least=Fraction(also))
    missed = [one for one in (late, other) if not one.holds(here.case)]
    found = _first_that_does(name, missed, [late, other], here)
    assert (found and (found.value, found.last, found.condition, found.wrong_now)) == (number and (number, last, "ttft", tuple(one.name for one in missed)))


@pytest.mark.parametrize(
    ("name", "waiting", "least", "unknown", "end", "open_"),
    [
        ("tp", True, 99, -1, None, True),  # of all six too few
        ("tp", True, 99, 3, None, False),  # what two devices come to is not known
        ("tp", False, 99, -1, None, False),
        ("mfu", True, 99, -1, None, False),
        ("tp", True, 99, -1, True, True),
        ("tp", True, 99, -1, False, False),
        ("mfu", False, 99, 3, True, True),
    ],
)
def test_whether_some_value_may_meet_a_condition_that_is_not_known(name, waiting, least, unknown, end, open_):
    limit = Limit("ttft", least=Fraction(least), waiting=waiting, unknown=Fraction(unknown))
    ended = None if end is None else SimpleNamespace(met=end)
    assert _unsolved(limit, name, ended, answers(tp=Fraction(1))) is open_


# -------------------------------------------------------------------------------------------------------------- levers


@pytest.mark.parametrize(
    ("given", "numbers", "name", "of", "moves"),
    [({"mfu": 1}, (), "mfu", "mfu", True), ({}, ("mfu",), "mfu", "mfu", True), ({}, (), "mfu", "mfu", True), ({}, (), "price", "price", False), ({"price": 1}, (), "price", "mfu", False)],
)  # fmt: skip
def test_what_moves_a_condition(given, numbers, name, of, moves):
    """An input that has a value, its own or a default, and that some condition asks for."""
    assert _moves(name, [Limit("itl", "other"), Limit("itl", of)], Case(given=given, numbers=numbers)) is moves


def test_a_number_that_no_solution_leads_to():
    solved, open_, other = Limit("a"), Limit("b", solution=None), Limit("c", "mfu", solution=None)
    here = answers(tp=Fraction(1))
    assert _solvable("tp", [solved, other], here) and not _solvable("tp", [solved, open_], here)


def lever(asked, flipping, name="mfu", **values):
    here = answers(**(values or {"mfu": Fraction(1, 4)}))
    return _lever(name, asked, flipping, here)


@pytest.fixture
def ends(monkeypatch):
    def put(**found):
        monkeypatch.setattr(changes, "_end", lambda condition, name, answers: found.get(condition.name))

    return put


def test_a_lever_that_makes_everything_hold(ends):
    """The first such flip, and the value there; nothing of it is stuck or breaks."""
    ends(a=SimpleNamespace(metric=1, met=False))
    missed = Limit("a", "mfu", least=Fraction(1, 2))
    cure, good = flip("a", value=Fraction(1, 2)), flip("a", good=True, value=Fraction(3, 4))
    made = lever([missed], [cure, good, flip("a", good=True)])
    assert (made.flip, made.value, made.cures, made.stuck, made.breaks, made.unsolved) == (good, Fraction(3, 4), (("a", cure),), (), (), ())


def test_a_lever_that_cures_one_condition_and_not_another(ends):
    """Of those that it does not cure the metric at its end, unless it is met there: then some value may do; what goes wrong behind the furthest cure."""
    ends(b=SimpleNamespace(metric="late", met=False), c=SimpleNamespace(metric=None, met=True), d=None, e=SimpleNamespace(metric=None, met=False))
    asked = [Limit(name, "mfu", least=Fraction(1)) for name in "abcde"] + [Limit("held", "mfu"), Limit("other", "mbu", least=Fraction(9))]
    near, far = flip("a", distance=1, wrong=("x",)), flip("a", distance=3, holds=False)
    made = lever(asked, [far, near], mfu=Fraction(1, 4), mbu=Fraction(1))
    assert (made.flip, made.value, made.cures) == (None, None, (("a", near),))
    assert (made.stuck, made.unsolved, made.breaks) == ((("b", "late"), ("e", None)), ("c",), ("x",))
    second = flip("b", distance=2, wrong=("y", "z"), wrong_now=("z",))
    assert lever(asked, [near, second], mfu=Fraction(1, 4), mbu=Fraction(1)).breaks == ("y",)


# ---------------------------------------------------------------------------------------------------------------- ends


@pytest.mark.parametrize(
    ("name", "now", "there"), [("mfu", Fraction(1, 4), Fraction(1)), ("mfu", Fraction(1), None), ("mem_bandwidth", Fraction(3), 3 * Fraction(10) ** 30), ("tp", Fraction(2), None)]
)  # fmt: skip
def test_a_condition_where_a_lever_ends(name, now, there):
    """A share at one, unless it is there; a count has none; anything else where it no longer matters."""
    here = answers(counted=("tp",), **{name: now, "a_time": Fraction(7)})
    end = _end(Limit("itl", name, most=there and there - 1), name, here)
    if there is None:
        assert end is None
        return
    assert (end.met, end.metric.value) == (False, 7)
    assert _end(Limit("itl", name, least=there), name, here).met


def test_an_end_that_does_not_fit_and_one_without_a_metric():
    here = answers(mfu=Fraction(1, 2), a_time=Fraction(7), size=Fraction(7), fits=False)
    assert _end(Limit("itl", "mfu"), "mfu", here).metric.flags == ("does_not_fit",)
    assert _end(Limit("itl", "mfu", metric="size"), "mfu", here).metric.flags == ()
    here.fits, here.case.values["fits"] = True, True
    assert _end(Limit("itl", "mfu"), "mfu", here).metric.flags == ()
    here.case.values["fits"] = False
    assert _end(Limit("itl", "mfu"), "mfu", here).metric.flags == ("does_not_fit",)
    end = _end(Limit("itl", "mfu", metric="none"), "mfu", here)
    assert (end.metric, end.met) == (None, True)
    assert _end(Limit("itl", "mfu", unknown=Fraction(2)), "mfu", here) is None


# ------------------------------------------------------------------------------------------------------------- how far it goes


def test_the_sides_of_how_far_it_can_go():
    assert [(Keep(flip("a", up=up, value=5, last=Fraction(4))).side, Keep(flip("a", up=up, last=Fraction(4))).value) for up in (True, False)] == [
        ("at_most", 4), ("at_least", 4),
    ]  # fmt: skip


@pytest.fixture
def flipping(monkeypatch):
    """Flips by condition; which conditions were solved for."""
    asked = []

    def put(**listed):
        asked.clear()

        def flips(answers, names, wrong, waits=False):
            asked.append(*wrong)
            return [one for condition in wrong for one in listed.get(condition, ())]

        monkeypatch.setattr(changes, "flips", flips)
        return asked

    return put


def nearest(name, limits, here):
    return [(one.condition, one.up) for one in _nearest(name, limits, here)]


def test_the_nearest_flips_that_ruin_what_passes(flipping):
    """One downwards and one upwards, each the nearest; what ruins nothing is none."""
    here = answers(mfu=Fraction(1), counted=("tp",), tp=Fraction(2))
    a, b = Limit("a", "mfu"), Limit("b", "mfu")
    flipping(
        a=[flip("a", ruins=True, distance=3, wrong=("a", "b"))],
        b=[flip("b", ruins=True, distance=2), flip("b", ruins=True, up=False, distance=9), flip("b", distance=1)],
    )
    assert nearest("mfu", [a, b], here) == [("b", True), ("b", False)]
    flipping(a=[flip("a", ruins=True, distance=2, wrong=("b",))], b=[flip("b", ruins=True, distance=2)])
    assert nearest("mfu", [a, b], here) == [("a", True)]
    flipping(a=[flip("a")], b=[])
    assert nearest("mfu", [a, b], here) == []


def test_a_condition_that_breaks_at_one_of_the_nearest_flips_is_solved(flipping):
    here = answers(mfu=Fraction(1))
    flipping(a=[flip("a", ruins=True, distance=3, wrong=("a", "b")), flip("a", ruins=True, up=False, wrong=("a",))], b=[flip("b", ruins=True, distance=2)])
    assert nearest("mfu", [Limit("a", "mfu"), Limit("b", "mfu")], here) == [("b", True), ("a", False)]


@pytest.mark.parametrize(
    ("first", "second", "nearer"),
    [
        (Fraction(1, 2), 0, "b"),
        (Fraction(1, 2), None, "b"),
        (None, Fraction(1, 2), "a"),
        (0, Fraction(1, 2), "a"),
        (None, None, "a"),
        (2, 1, "b"),
        (1, 2, "a"),
        (1, 1, "a"),
    ],
)
def test_a_flip_without_a_distance_is_right_there(first, second, nearer, flipping):
    flipping(a=[flip("a", ruins=True, distance=first, wrong=("b",))], b=[flip("b", ruins=True, distance=second)])
    assert nearest("mfu", [Limit("a", "mfu"), Limit("b", "mfu")], answers(mfu=Fraction(1))) == [(nearer, True)]


def test_a_condition_that_still_holds_where_another_breaks_is_not_solved(flipping):
    """Unless the lever is a count, more of which does one condition good and another harm."""
    here = answers(mfu=Fraction(1), counted=("tp",), tp=Fraction(2))
    a, b = Limit("a", "mfu"), Limit("b", "mfu")
    listed = {"a": [flip("a", ruins=True, wrong=("a",))], "b": [flip("b", ruins=True, distance=Fraction(1, 2))]}
    asked = flipping(**listed)
    assert (nearest("mfu", [a, b], here), asked) == ([("a", True)], ["a"])
    asked = flipping(**listed)
    assert (nearest("tp", [a, b], here), asked) == ([("b", True)], ["a", "b"])


def test_a_count_whose_flip_a_wait_breaks_before_is_left_out(flipping):
    here = answers(counted=("tp",), tp=Fraction(2))
    for least, left in ((4, []), (3, [("a", False)])):
        flipping(a=[flip("a", ruins=True, up=False, last=Fraction(3))])
        assert nearest("tp", [Limit("a", "tp"), Limit("late", "tp", least=Fraction(least), waiting=True)], here) == left
    flipping(a=[flip("a", ruins=True, up=False, last=Fraction(3))])
    assert nearest("mfu", [Limit("a", "mfu"), Limit("late", "mfu", least=Fraction(9), waiting=True)], answers(mfu=Fraction(2))) == [("a", False)]


def test_only_what_passes_can_go_further(monkeypatch):
    """The tightest condition is solved first; levers stand in their order."""
    tight, loose = Limit("tight", "mfu", most=Fraction(2)), Limit("loose", "mfu", most=Fraction(9))
    monkeypatch.setattr(changes, "conditions", lambda answers: [loose, tight])
    order = []
    monkeypatch.setattr(changes, "_nearest", lambda name, tightest, answers: order.append([c.name for c in tightest]) or [flip("a", name=name)])
    assert [keep.name for keep in keeps(answers(mfu=Fraction(1)), ["price", "mfu"])] == ["mfu", "price"]
    assert order == [["tight", "loose"]] * 2
    assert keeps(answers(mfu=Fraction(3)), ["mfu"]) == ()


# -------------------------------------------------------------------------------------------------------------- together


def test_what_another_device_brings_is_cured_one_condition_after_another(monkeypatch, flipping):
    """Each by the first of capacity, peak, bandwidth and price that can; then all of it has to hold."""
    values = {"mem_capacity": Fraction(1), "peak_flops": Fraction(1), "mem_bandwidth": Fraction(1), "price": Fraction(1)}
    room, speed = Limit("room", "mem_capacity", least=Fraction(4)), Limit("speed", "mem_bandwidth", least=Fraction(6))
    listed = {"room": flip("room", name="mem_capacity", value=4), "speed": flip("speed", name="mem_bandwidth", value=6)}
    monkeypatch.setattr(changes, "flips", lambda answers, names, wrong: [listed[next(iter(wrong))]] if listed[next(iter(wrong))].name in names else [])
    monkeypatch.setattr(changes, "_moved", lambda answers, moved: SimpleNamespace(case=answers.case.changed(moved)))
    monkeypatch.setattr(changes, "Result", lambda symbol, value: (symbol.name, value))

    def of(*asked):
        monkeypatch.setattr(changes, "conditions", lambda answers: list(asked))
        return together(answers(**values))

    assert of(room, speed) == {"mem_capacity": ("mem_capacity", 4), "mem_bandwidth": ("mem_bandwidth", 6)}
    assert of() == {} == of(Limit("held", "price"))
    listed["room"] = flip("room", holds=False, name="mem_capacity", value=4)
    assert of(room) is None
    listed["room"] = flip("room", name="mem_capacity", value=4)
    assert of(Limit("cheap", "mem_capacity", most=Fraction(3)), room) is None  # what cures the second breaks the first
