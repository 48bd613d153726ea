"""States, hints and names of a choice, over plain numbers in place of configurations: every case of a small table, every edge."""

import itertools
import math
import re
from fractions import Fraction
from types import SimpleNamespace

import pytest
from symroof.select.choice import BESTS, FRONTS, ORDERS, Choice, misses
from symroof.select.screened_group import CLOSE

from symroof.api import Study
from symroof.select import configuration as configurations
from symroof.select.batch_window import Window
from symroof.select.configuration import Configuration, Run, targets_of
from symroof.theory.symbols import TARGET_SYMBOLS


def run(targets=(), **more):
    """A screened run of a case that has these targets."""
    return Run("one", SimpleNamespace(targets=dict.fromkeys(targets, Fraction(1))), **more)


HAIR = CLOSE * 2


@pytest.mark.parametrize(
    ("shares", "slow", "fast", "state", "missed"),
    [
        ({"memory": 0.5, "itl": 0.9}, {}, {}, "passes", ()),
        ({"memory": 0.5, "itl": 1 + HAIR}, {}, {}, "fails", ("itl",)),
        ({"memory": 1.5, "itl": 1.1}, {}, {}, "fails", ("memory", "itl")),
        ({"memory": 0.5, "load": 0.99, "itl": 0.1}, {}, {}, "passes", ()),
        ({"memory": 0.5, "load": 1.2, "itl": 0.1}, {}, {}, "fails", ("load",)),
        ({"itl": 0.9}, {"itl": 1.2}, {"itl": 0.7}, "in part", ()),
        ({"itl": 0.9}, {"itl": 0.95}, {"itl": 0.7}, "passes", ()),
        ({"itl": 1.2}, {"itl": 1.4}, {"itl": 0.7}, "in part", ()),
        ({"itl": 1.2}, {"itl": 1.4}, {"itl": 1.1}, "fails", ("itl",)),
    ],
)
def test_the_state_of_a_screened_run(shares, slow, fast, state, missed):
    """Over ranges it fails where its fast end does, and passes where its slow end does."""
    one = run(("itl",), shares=shares, slow=slow, fast=fast)
    assert (one.state, one.missed, one.passes) == (state, missed, state == "passes")
    assert one.worst == max(shares.values())
    assert one.missed_as_expected == tuple(name for name, share in shares.items() if share > 1)
    assert one.missed_when_slow == tuple(name for name, share in (slow or shares).items() if share > 1)


def test_of_an_endless_wait_the_load_says_how_far_it_is_off():
    """Where the queue grows, the time to first token has no end: of two such the one with the smaller load is nearer."""
    near, far = (run(("ttft",), shares={"memory": 0.5, "load": load, "ttft": math.inf}) for load in (1.1, 1.9))
    assert (near.worst, far.worst) == (1.1, 1.9)
    assert near.state == far.state == "fails" and near.missed_as_expected == ("load", "ttft")
    full = run(("itl",), shares={"load": 1.0, "itl": 1.0})
    assert full.missed_as_expected == ("load",)


def test_a_target_without_a_share_is_not_known_unless_something_is_missed():
    one = run(("itl", "cost"), shares={"itl": 0.5})
    assert (one.state, one.unjudged) == ("unknown", {"cost"})
    assert run(("itl", "cost"), shares={"itl": 1.5}).state == "fails"


@pytest.mark.parametrize("end", ["shares", "slow", "fast"])
def test_a_share_of_one_is_compared_exactly(end):
    """Within a billionth of a limit the exact metric decides: here it is met, whatever the float says."""
    shares = {"shares": {"itl": 0.5}, "slow": {"itl": 0.6}, "fast": {"itl": 0.4}}
    if end == "shares":
        shares = {"shares": {"itl": 1 + CLOSE / 2}}
    else:
        shares[end] = {"itl": 1 + CLOSE / 2}
    one = run(("itl",), **shares)
    one.__dict__["checks"] = (SimpleNamespace(met=False, name="itl"),)
    assert one.state == "fails"
    beyond = run(("itl",), shares={"itl": 0.5}, slow={"itl": 1 + HAIR}, fast={"itl": 0.4})
    beyond.__dict__["checks"] = one.__dict__["checks"]
    assert beyond.state == "in part"


@pytest.mark.parametrize(
    ("mets", "unknown", "state"),
    [
        ([], {}, "passes"),
        ([True], {}, "passes"),
        ([None], {}, "in part"),
        ([None, False], {}, "fails"),
        ([True], {"cost": "needs price"}, "unknown"),
        ([None], {"cost": "needs price"}, "unknown"),
        ([False], {"cost": "needs price"}, "fails"),
    ],
)
def test_the_state_of_a_run_by_its_checks(mets, unknown, state):
    one = run()
    one.__dict__.update(
        checks=tuple(SimpleNamespace(met=met, name=f"c{i}", metric=SimpleNamespace(value=3), limit=Fraction(4 - i)) for i, met in enumerate(mets)),
        unknown=unknown,
    )
    assert one.state == state
    assert one.missed == tuple(f"c{i}" for i, met in enumerate(mets) if met is False)
    assert one.worst == max((Fraction(3, 4 - i) for i in range(len(mets))), default=0)
    assert one.unjudged == unknown.keys()
    assert one.missed_as_expected == tuple(f"c{i}" for i in range(len(mets)) if 4 - i < 3)


def test_a_rank_is_the_screened_number_where_there_is_one():
    assert run(quick={"itl": 0.25}).rank("itl") == 0.25
    assert run(quick={"itl": 0.25}).rank("cost_per_mtok") is None


def test_batch_and_copies_are_those_that_were_solved_or_those_of_the_case():
    own = SimpleNamespace(set_to={"batch": Fraction(7), "dp": Fraction(3)}.__getitem__)
    assert (Run("a", own).batch, Run("a", own).copies) == (7, 3)
    assert (Run("a", own, (("batch", 9), ("dp", 2))).batch, Run("a", own, (("batch", 9), ("dp", 2))).copies) == (9, 2)


def test_targets_stand_in_their_declared_order():
    names = list(TARGET_SYMBOLS)
    runs = [SimpleNamespace(own=SimpleNamespace(targets={name: Fraction(i)})) for i, name in reversed(list(enumerate(names)))]
    assert list(targets_of(tuple(runs)).items()) == [(name, Fraction(i)) for i, name in enumerate(names)]


# -------------------------------------------------------------------------------------------------------- bests and fronts


def test_less_of_a_time_or_a_price_is_better_and_more_of_a_rate():
    for name, larger in (*BESTS.values(), *ORDERS.values(), *itertools.chain(*FRONTS)):
        assert larger is ("throughput" in name), name


# ------------------------------------------------------------------------------------------------------------------- hints


def configuration(hardware="h100", price=True, given=(), state="passes", decoding=9, batch=9, scheduling="chunked", missed=()):
    values = {"chunk": 2048, "chunked_batch": decoding, "mix_batch": Fraction(2 * decoding, 3)}
    theory = SimpleNamespace(assumptions={"scheduling": scheduling})
    case = SimpleNamespace(has=lambda name: price, value=values.__getitem__, known=lambda name: values.get(name) is not None, theory=theory, given=set())
    binding = SimpleNamespace(hardware=SimpleNamespace(name=hardware), given=dict.fromkeys(given, SimpleNamespace(setting=1)))
    own = SimpleNamespace(binding=binding, case=case)
    return SimpleNamespace(state=state, label=hardware, run=SimpleNamespace(own=own, answers=own, batch=batch, missed=missed))


def hints(configurations, order="rate", targets=("itl",)):
    return Choice(None, tuple(configurations), order, dict.fromkeys(targets, Fraction(1))).hints


@pytest.mark.parametrize("count", [1, 6, 7, 9])
def test_devices_without_a_price_are_named_where_a_price_decides(count):
    listed = [*(configuration(f"d{i}", price=False) for i in range(count)), configuration("d0", price=False), configuration("priced")]
    names = ", ".join(f"d{i}" for i in range(min(count, 6))) + (f" and {count - 6} more" if count > 6 else "")
    says = f"no price of {names} is known, so what they cost is not judged: --set d0.price='3 USD/hour' sets that of one device"
    assert (
        hints(listed, order="cost")
        == hints(listed, targets=("cost",))
        == hints(listed, targets=("fleet_price", "itl"))
        == hints(listed, order="fleet")
        == (says,)
    )
    assert hints(listed, targets=("itl", "ttft")) == ()
    assert hints(listed[-1:] * 2, order="cost") == ()


def test_without_a_target_memory_alone_decides():
    listed = [configuration("a"), configuration("b")]
    assert hints(listed, targets=()) == ("no target is set, so only memory decides: --target ttft='200 ms' --target itl='50 ms'",)


@pytest.mark.parametrize(("given", "says"), [((), False), (("arrival_rate",), True), (("arrival_rate", "dp"), False)])
def test_one_layout_of_copies_is_not_all_there_are(given, says):
    listed = [configuration("a", given=given), configuration("b", given=given)]
    assert hints(listed) == (("every replica has the same parallel layout: --among instance_devices=1,2,4,8 tries every layout of a replica",) if says else ())
    mixed = [configuration("a", given=("arrival_rate",)), configuration("b")]
    assert hints(mixed) == ()


@pytest.mark.parametrize(
    ("decoding", "batch", "more", "requests"),
    [(9, 9, {}, None), (8, 9, {}, "8"), (Fraction(41, 5), 9, {}, "9"), (10, 9, {}, None), (1, 1234, {}, "1"), (6, 9, {"scheduling": "exclusive"}, None), (12, 9, {"given": ("long_share", "prompt", "output", "long_prompt", "long_output")}, "8"), (None, 9, {}, None)],
)  # fmt: skip
def test_steps_full_of_prompts_before_the_batch_is_full(decoding, batch, more, requests):
    """Of the first that passes; of a mix the requests that it decodes, two thirds here."""
    if decoding is None:
        first = configuration("a", batch=batch)
        first.run.answers.case.has_value = lambda name: False
    else:
        first = configuration("a", decoding=decoding, batch=batch, **more)
    listed = [configuration("z", state="fails", decoding=1, batch=5), first, configuration("b", decoding=1, batch=99)]
    expected = f"a: 2,048 prompt tokens fill the token budget of every step beside {requests} decoding requests, so that a batch of {batch:,} gives no more throughput: --among chunk=2048,4096,8192 tries larger budgets"
    assert hints(listed) == ((expected,) if requests else ())


def test_misses_are_those_that_fail_a_condition():
    listed = [configuration(state=state, missed=missed) for state in ("passes", "in part", "fails", "unknown") for missed in ((), ("itl",))]
    assert misses(SimpleNamespace(configurations=listed)) == [listed[3], listed[5]]


def test_what_a_configuration_competes_with():
    """Its own batch and the ends of its window, each once, where it passes, the smallest first."""

    def made(batch, window, passes=True):
        own = SimpleNamespace(batch=batch, passes=passes)
        one = Configuration(own, window, True)
        one.__dict__["_at"] = None
        object.__setattr__(one, "_at", lambda at: own if at == batch else SimpleNamespace(batch=at, passes=True))
        return [(competitor.batch, competitor is own) for competitor in one.runs]

    assert made(5, Window(2, 9)) == [(2, False), (5, True), (9, False)]
    assert made(5, Window(5, 5)) == [(5, True)]
    assert made(5, None) == [(5, True)] and made(5, None, passes=False) == []
    assert made(5, Window(2, None)) == [(2, False), (5, True)]
    assert made(12, Window(2, 9), passes=False) == [(2, False), (9, False)]


@pytest.mark.parametrize(
    ("case", "label"),
    [
        ({}, "h100-sxm"),
        ({"tp": 2}, "2 x h100-sxm"),
        ({"tp": 2, "dp": 3}, "6 x h100-sxm, tp 2, dp 3"),
        ({"dp": 4}, "4 x h100-sxm, dp 4"),
        ({"tp": 2, "pp": 2}, "4 x h100-sxm, tp 2, pp 2"),
    ],
)
def test_a_configuration_in_the_names_one_types(case, label):
    answers = Study(model="llama-3-8b", hardware="h100-sxm", prompt=64, **case).first
    assert configurations.label(answers) == label


def test_a_choice_in_a_notebook():
    """A row each; a column for what any of them has a value of, empty where one has none."""

    def one(label, batch, state, **values):
        known = {name: SimpleNamespace(text=lambda text=text: text) for name, text in values.items()}
        return SimpleNamespace(label=label, state=state, run=SimpleNamespace(batch=batch, result=known.get))

    choice = Choice(None, (one("a", 1234, "passes", itl="5 ms", ttft="1 s"), one("b", 2, "fails", itl="6 ms")), "rate", {})
    html = choice._repr_html_()
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", html, re.DOTALL)
    assert cells == ["configuration", "state", "batch", "ttft", "itl", "a", "passes", "1,234", "1 s", "5 ms", "b", "fails", "2", "", "6 ms"]
    assert repr(choice) == "<Selection: 1 of 2 pass, first a>"
    assert repr(Choice(None, choice.configurations[1:], "rate", {})) == "<Selection: 0 of 1 pass>"


@pytest.mark.parametrize(
    ("share", "itl", "load"), [(1 - HAIR, False, False), (1 - CLOSE / 2, False, False), (1.0, False, True), (1 + CLOSE / 2, False, True), (1 + HAIR, True, True), (math.inf, True, True)]
)  # fmt: skip
def test_what_is_missed_by_a_share_of_its_limit(share, itl, load):
    """By more than a billionth of a limit; at a load of one the queue already grows."""
    assert [run(("itl",), shares={name: share}).missed for name in ("itl", "load")] == [("itl",) * itl, ("load",) * load]
    assert run(("itl",), shares={"itl": 0.5}, slow={"itl": share}, fast={"itl": 0.5}).missed == ()
    assert run(("itl",), shares={"itl": 0.5}, slow={"itl": 0.5}, fast={"itl": share}).missed == ("itl",) * itl
