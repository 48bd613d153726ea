"""Why rows leave a parameter open, what a time is made of, and where the bounds of servers end: by hand, over plain numbers."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from symroof.api import Study
from symroof.calibrate import fit as fitting
from symroof.calibrate.fit import (
    _drop_undetermined_link_latency,
    _memory_warning,
    _spread,
    _why_undetermined,
)
from symroof.calibrate.measurements import MeasuredLatency
from symroof.calibrate.terms import (
    DEFAULT_FIT,
    OVERHEADS,
    SHARES,
    TimeTerms,
    fit_parameters,
    terms,
    unit_of,
)
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue

from ..near import near

NOTHING, SOMETHING = np.zeros(3), np.array([0.0, 0.1, 0.0])


def arms(compute, memory):
    return SimpleNamespace(compute=np.array(compute, float), memory=np.array(memory, float))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "column", "others", "rows", "point", "says"),
    [
        ("mfu", SOMETHING, ["mfu", "mbu"], arms([1], [1]), (1, 1), "these rows cannot separate it from mbu"),
        (
            "step_overhead",
            SOMETHING,
            ["mbu", "step_overhead", "link_latency"],
            arms([1], [1]),
            (1, 1),
            "these rows cannot separate it from mbu and link_latency",
        ),
        ("mfu", NOTHING, ["mfu"], arms([1, 3, 9], [8, 6, 0]), (9, 2), "no row is limited by compute; it is at least 0.25"),
        ("mbu", NOTHING, ["mbu"], arms([4, 2], [1, 4]), (4, 9), "no row is limited by memory; it is at least 0.5"),
        ("mbu", NOTHING, ["mbu"], arms([4, 2], [1, 8]), (4, 9), "no row is limited by memory"),
        ("mbu", NOTHING, ["mbu"], arms([4, 2], [0, 0]), (4, 9), "no row is limited by memory"),
        ("mfu", NOTHING, ["mfu", "mbu"], arms([1], [8]), (1, 1), "no row is limited by compute"),
        ("mfu", NOTHING, ["mfu", "link_latency"], arms([1], [8]), (1, 1), "no row is limited by compute; it is at least 0.12"),
        ("link_latency", NOTHING, ["link_latency"], arms([1], [8]), (1, 1), "no row crosses a link"),
        ("queue_time", NOTHING, ["queue_time"], arms([1], [8]), (1, 1), "no row depends on it"),
    ],
)  # fmt: skip
def test_why_rows_leave_a_parameter_open(name, column, others, rows, point, says):
    """A share that no row asks for is bounded by what the other arm takes: of rows that have one, the nearest."""
    assert _why_undetermined(name, column, others, rows, np.array(point, float)) == says


def rates(*pairs):
    return [
        TimeTerms(((Fraction(1), Fraction(2)),), tuple(map(Fraction, pair)), Fraction(0), "memory")
        for pair in pairs
    ]


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([(1, 0), (1, 0)], False),  # no links
        ([(1, 64), (1, 64)], False),  # groups of one size
        ([(1, 64), (2, 128)], False),  # as many messages a step
        ([(1, 0), (1, 64)], True),
        ([(1, 64), (0, 64)], False),  # a row without the overhead of a step tells nothing of it
    ],
)
def test_a_latency_of_links_is_fitted_where_rows_tell_it_from_steps(pairs, told):
    names, rows = _drop_undetermined_link_latency(
        ("mfu", "mbu", "step_overhead", "link_latency"), rates(*pairs)
    )
    assert names == (
        ("mfu", "mbu", "step_overhead", "link_latency") if told else ("mfu", "mbu", "step_overhead")
    )
    assert [row.rates for row in rows] == [
        tuple(map(Fraction, pair if told else pair[:1])) for pair in pairs
    ]
    assert [(row.arms, row.fixed, row.label) for row in rows] == [(((1, 2),), 0, "memory")] * len(
        pairs
    )
    assert _drop_undetermined_link_latency(("mfu", "step_overhead"), rates((1,), (1,)))[0] == (
        "mfu",
        "step_overhead",
    )


def test_rows_that_do_not_fit_are_named_once_each():
    """A row without a size is passed over."""

    def fits(batch):
        if batch == 0:
            raise NoValue("none")
        return batch < 5

    case = SimpleNamespace(
        changed=lambda inputs: SimpleNamespace(
            value=lambda name: {"fits": fits(inputs["batch"])}[name]
        )
    )
    rows = [
        MeasuredLatency("itl", Fraction(1), {"batch": batch}, line, 1)
        for line, batch in ((3, 4), (4, 5), (4, 5), (5, 0), (6, 9))
    ]
    answers = SimpleNamespace(case=case)
    assert _memory_warning(rows, answers) == [
        "was measured, but does not fit in memory by this case (line 4, 6): is the model, precision or tp right?"
    ]
    assert _memory_warning(rows[:1], answers) == []


@pytest.mark.parametrize(
    ("columns", "told", "unseen"),
    [
        ([[1, 0], [1, 0]], 1, [False, True]),
        ([[0, 0], [0, 0]], 0, [True, True]),
        ([[1, 2], [2, 4], [3, 6.1]], 2, [False, False]),
        ([[3, 1]], 1, [True, True]),
        ([[1, 0, 2], [0, 1, 0]], 2, [True, False, True]),
    ],
)
def test_which_parameters_the_columns_tell(columns, told, unseen):
    """A column of nothing is told by no row; columns that are each other's multiples not apart."""
    spread, open_, rank = _spread(np.array(columns, float))
    assert (rank, [bool(one) for one in open_]) == (told, unseen)
    known = [i for i, one in enumerate(unseen) if not one]
    normal = np.array(columns, float)[:, known]
    assert [spread[i] for i in known] == pytest.approx(
        list(np.sqrt(np.diag(np.linalg.inv(normal.T @ normal)))) if known else [], rel=1e-6
    )


# -------------------------------------------------------------------------------------------------------------------- terms


@pytest.fixture(scope="module")
def case():
    return Study(
        model="llama-3-8b", hardware="h100-sxm", tp=2, layer_overhead="10 us", link_latency="3 us"
    ).first.case


@pytest.mark.parametrize("metric", ["ttft", "itl"])
def test_the_terms_of_a_time_make_the_time(case, metric):
    """At mfu 1/2, mbu 4/5 and overheads of their own, each entering as its rate says: the engine's own time there."""
    fit = ("mfu", "mbu", "step_overhead", "link_latency", "queue_time")
    measured = MeasuredLatency(
        metric, Fraction(1), {"prompt": Fraction(300), "batch": Fraction(7)}, 1, 1
    )
    made = terms(case, measured, fit)
    shares, overheads = (
        {"mfu": Fraction(1, 2), "mbu": Fraction(4, 5)},
        {
            "step_overhead": Fraction(1, 500),
            "link_latency": Fraction(1, 10**5),
            "queue_time": Fraction(1, 50),
        },
    )
    there = case.changed({**measured.inputs, **shares, **overheads})
    own = (
        sum(max(c / shares["mfu"], m / shares["mbu"]) for c, m in made.arms)
        + sum(
            r * overheads[n]
            for r, n in zip(
                made.rates, ("step_overhead", "link_latency", "queue_time"), strict=True
            )
        )
        + made.fixed
    )
    assert own == there.value(metric)
    assert (
        made.rates[2] == (near(1 if metric == "ttft" else 0))
        and made.rates[0] == near(1)
        and made.rates[1] == near(2 * 32)
    )
    assert made.roof == sum(
        max(pair) for pair in made.arms
    ) + made.fixed and made.fixed >= 32 * Fraction(1, 10**5)


def test_what_is_fitted_stands_in_its_own_order(case):
    assert fit_parameters(("queue_time", "mbu", "step_overhead", "mfu"), case.theory) == (
        "mfu",
        "mbu",
        "step_overhead",
        "queue_time",
    )
    assert set(DEFAULT_FIT) <= {*SHARES, *OVERHEADS}
    assert [unit_of(name) for name in ("mfu", "step_overhead", "ttft")] == ["", "s", "s"]


@pytest.mark.parametrize(
    ("fit", "assume", "message", "hint"),
    [
        (("mfu", "mfv"), {}, "'mfv' cannot be fitted", "did you mean 'mfu'?"),
        ((), {}, "nothing to fit", "any of mfu, mbu, step_overhead, layer_overhead, link_latency, prefill_overhead, queue_time"),
        (("mfu",), {"launches": "hidden"}, "launches=hidden makes the overhead an arm of a maximum; calibrate under another choice", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(fit, assume, message, hint):
    theory = Study(
        model="llama-3-8b", hardware="h100-sxm", prompt=8, assume=assume
    ).first.case.theory
    with pytest.raises(InputError) as caught:
        fit_parameters(fit, theory)
    assert [(problem.message, problem.hint) for problem in caught.value.problems] == [
        (message, hint)
    ]


@pytest.mark.parametrize(
    "name",
    [
        "itl",
        "decode_roofline_time",
        "decode_compute_time",
        "decode_memory_time",
        "decode_link_time",
    ],
)
def test_a_time_with_a_number_leaves_nothing_to_fit(name):
    given = Study(model="llama-3-8b", hardware="h100-sxm", prompt=8, **{name: 0.5}).first.case
    with pytest.raises(InputError) as caught:
        terms(given, MeasuredLatency("itl", Fraction(1), {}, 1, 1), ("mfu",))
    (problem,) = caught.value.problems
    assert (problem.message, problem.path) == (
        "is given a number, so there is nothing to fit",
        name,
    )


def test_times_faster_than_the_roof_are_refused_with_both_numbers(tmp_path):
    """One nanosecond a step: the roof is 2 byte of 7.5 thousand million parameters and more over 3.35 TB/s, 4.5 ms."""
    path = tmp_path / "m.csv"
    path.write_text("prompt,batch,itl_us\n16,1,0.001\n16,1,20000\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        fitting.calibrate(path, Study(model="llama-3-8b", hardware="h100-sxm").first)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.path) == (2, 6, "itl")
    assert (
        problem.message
        == "impossible: above the memory roof: 1 ns measured, at least 4.483 ms at 100 % of peak"
    )
