"""The fit to measured rows, part by part, against loops over made-up rows: classes by hand, losses, widths, ends, and the widening that holds four in five."""

import math
import random
import statistics
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from symroof.specs.efficiencies import FITTED, EfficienciesSpec, link_group
from symroof.specs.fields import build
from symroof.strict_yaml import loads
from tools.evidence import catalogue_fit
from tools.evidence.catalogue_fit import (
    ALL,
    SINGLE,
    FitArrays,
    HeldOutPrediction,
    fit,
    interval_ends,
    keys_of,
    leave_one_source_out,
    link_latencies,
    widths,
    with_missing_classes,
)
from tools.evidence.catalogue_rows import MeasuredRow, TimeParts
from tools.evidence.catalogue_table import CatalogueFit, efficiencies, rests_on

LATENCY = {("link_latency", "pair", "compiled"): 4e-6, ("link_latency", "group", "compiled"): 7e-6, ("link_latency", "group", ALL): 2e-5, ("link_latency", "pair", ALL): 1e-5, ("link_latency", ALL, ALL): 9e-6}  # fmt: skip
TRUE = {
    "mfu": 0.5,
    "mbu": 0.7,
    "layer_overhead": 8e-5,
    "elementwise_bytes": 70.0,
    "link_share": 0.4,
}


def row(source, parts, seconds=1.0, family="hbm", engine="compiled", tp=1, decode=None):
    return MeasuredRow(
        source,
        SimpleNamespace(engine_class=engine, group=tp, link_group=link_group(tp)),
        family,
        seconds,
        parts,
        decode,
    )


def time_of(part, values):
    """``values`` in the order of the inputs: mfu, mbu, cost of a layer, traffic between, latency, share of links."""
    mfu, mbu, layer, between, latency, share = values
    compute, memory = max(part.compute, part.tile) / mfu, part.memory / mbu
    return (
        (compute + memory if part.added else max(compute, memory))
        + part.layers * layer
        + part.between * between
        + part.messages * latency
        + part.sent / share
    )


def made(seed=1, count=60, noise=0.2, sources=4):
    """Rows of several sources, families and engines, with a part of each kind, and times that scatter about the truth."""
    draw, rows = random.Random(seed), []
    for i in range(count):
        family, engine = draw.choice(
            [
                ("hbm", "compiled"),
                ("hbm", "earlier"),
                ("gddr", "compiled"),
                ("hbm", "ggml"),
                ("apple", "ggml"),
            ]
        )
        tp = draw.choice([1, 1, 2, 8])
        parts = [
            TimeParts(draw.uniform(0.1, 2), draw.uniform(0.1, 2), draw.randint(4, 80) * 10.0, draw.uniform(0, 2e-3), draw.randint(0, 900) * (tp > 1), draw.uniform(0, 0.1) * (tp > 1), tile=draw.choice([0.0, draw.uniform(0, 3)]), added=draw.choice([0.0, 0.0, 1.0]))
            for _ in range(draw.choice([1, 1, 2]))
        ]  # fmt: skip
        values = [
            TRUE["mfu"],
            TRUE["mbu"],
            TRUE["layer_overhead"],
            TRUE["elementwise_bytes"],
            LATENCY[keys_of(family, engine, link_group(tp))[4]],
            TRUE["link_share"],
        ]
        seconds = sum(time_of(part, values) for part in parts) * math.exp(draw.gauss(0, noise))
        rows.append(
            row(
                f"s{i % sources if i % 3 else 0}",
                parts[0],
                seconds,
                family,
                engine,
                tp,
                parts[1] if len(parts) > 1 else None,
            )
        )
    return rows


def values_of(one, table):
    return [table[key] for key in keys_of(one.family, one.engine, one.row.link_group)]


CLASSES = [  # family, engines, devices -> class of mfu, of the cost of a layer, of the latency of links
    ("hbm", "compiled", 1, ("hbm", ALL), ("hbm", "compiled"), ("pair", "compiled")),
    ("hbm", "earlier", 2, ("hbm", ALL), ("hbm", "earlier"), ("pair", ALL)),
    ("hbm", "eager", 3, ("hbm", ALL), ("hbm", "eager"), ("group", ALL)),
    ("hbm", "ggml", 8, ("server", "ggml"), ("hbm", "ggml"), ("group", ALL)),
    ("gddr", "ggml", 1, ("server", "ggml"), ("gddr", "ggml"), ("pair", ALL)),
    ("gddr", "earlier", 4, ("gddr", ALL), ("gddr", "compiled"), ("group", ALL)),
    ("geforce", "ggml", 1, ("geforce", "ggml"), ("gddr", "ggml"), ("pair", ALL)),
    ("geforce", "compiled", 1, ("geforce", ALL), ("gddr", "compiled"), ("pair", "compiled")),
    ("apple", "ggml", 1, ("apple", "ggml"), ("apple", "ggml"), ("pair", ALL)),
    ("unified", "earlier", 1, ("unified", ALL), ("unified", "compiled"), ("pair", ALL)),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("family", "engine", "devices", "mfu", "layer", "latency"), CLASSES)
def test_the_class_of_every_input(family, engine, devices, mfu, layer, latency):
    """Engines of ggml have an mfu of their own, one on all servers; engines before 2025 a cost of a layer of their own on HBM alone; GeForce shares that of GDDR."""
    expected = (
        ("mfu", *mfu),
        ("mbu", ALL, ALL),
        ("layer_overhead", *layer),
        ("elementwise_bytes", ALL, ALL),
        ("link_latency", *latency),
        ("link_share", ALL, ALL),
    )
    assert keys_of(family, engine, link_group(devices)) == expected
    assert tuple((name, ALL, ALL) for name in FITTED) == SINGLE


def test_classes_of_makers_and_of_exchanges():
    """AMD's kernels of each class of engines have an mfu of their own, and older ones their cost of a layer; exchanges between experts have a latency that is fitted."""
    assert keys_of("cdna", "earlier", "group")[0] == ("mfu", "cdna", "earlier") and keys_of(
        "cdna", "earlier", "group"
    )[2] == (
        "layer_overhead",
        "cdna",
        "earlier",
    )
    assert keys_of("cdna", "ggml", "group")[0] == ("mfu", "cdna", "ggml")
    assert keys_of("hbm", "compiled", link_group(8, experts=True))[4] == (
        "link_latency",
        "experts",
        ALL,
    )
    assert keys_of("hbm", "compiled", "pair", experts=True)[0] == ("mfu", "hbm experts", ALL)
    assert keys_of("hbm", "ggml", "pair", experts=True)[0] == keys_of("hbm", "ggml", "pair")[0]
    assert keys_of("gaudi", "earlier", "pair", experts=True)[0] == ("mfu", "gaudi", ALL)
    assert keys_of("gaudi", "earlier", "pair")[2] == ("layer_overhead", "gaudi", "compiled")


def test_times_and_losses_are_those_of_loops():
    rows = made(noise=0.4)
    table = FitArrays(tuple(rows))
    values = {
        key: {**TRUE, "link_latency": LATENCY.get(key)}[key[0]] * (1 + 0.01 * i)
        for i, key in enumerate(table.keys)
    }
    times = [sum(time_of(part, values_of(one, values)) for part in one.parts) for one in rows]
    assert table.times(values).tolist() == pytest.approx(times, rel=1e-12)
    counts = {one.source: sum(other.source == one.source for other in rows) for one in rows}
    weights = [counts[one.source] ** -0.5 for one in rows]
    errors = [abs(math.log(time / one.seconds)) for time, one in zip(times, rows, strict=True)]
    losses = [error**2 / 0.5 if error < 0.25 else error - 0.125 for error in errors]
    assert min(errors) < 0.25 < max(errors)
    loss = sum(w * one for w, one in zip(weights, losses, strict=True)) / sum(weights)
    assert table.loss([math.log(values[key]) for key in table.keys]) == pytest.approx(
        loss, rel=1e-12
    )


@pytest.mark.parametrize("single", [False, True])
def test_no_step_from_the_fit_is_better(single):
    """Four thousandths of any parameter to either side: no less loss, and no share above one; the latencies of links stand as they are."""
    rows = made()
    values = fit(rows, LATENCY, single)
    table = FitArrays(tuple(rows), single)
    assert set(values) == set(table.keys)
    point = [math.log(values[key]) for key in table.keys]
    best = table.loss(point)
    for i, key in enumerate(table.keys):
        if key[0] == "link_latency":
            assert values[key] == pytest.approx(LATENCY[key])
            continue
        assert values[key] <= 1 + 1e-12 or key[0] in ("layer_overhead", "elementwise_bytes")
        for way in (0.004, -0.004):
            moved = [x + way * (i == k) for k, x in enumerate(point)]
            assert table.loss(moved) >= best - 1e-8 or (
                way > 0 and values[key] * math.exp(way) > 1 and key[0] in catalogue_fit.MOST
            )
    start = [math.log(LATENCY.get(key, TRUE.get(key[0], 0) or 1)) for key in table.keys]
    assert best <= table.loss(start) + 1e-6


def test_a_share_stands_at_one_where_rows_ask_for_more():
    rows = [
        row("a", TimeParts(0.01 * (i + 1), 1.0 + i, 0.0, 0.0, 0.0, 0.0), 0.9 * (1 + i))
        for i in range(6)
    ]
    assert fit(rows, LATENCY)["mbu", ALL, ALL] == pytest.approx(1)


def test_what_no_row_decides_stays_where_it_starts():
    values = fit(
        [row("a", TimeParts(1.0, 0.1, 0.0, 0.0, 0.0, 0.0), 1.25 * k) for k in (1, 1, 1)],
        LATENCY,
        start={**catalogue_fit.START, "mbu": 0.77},
    )
    assert values["mbu", ALL, ALL] == pytest.approx(0.77) and values[
        "mfu", "hbm", ALL
    ] == pytest.approx(0.8, rel=0.01)


def test_how_far_each_input_scatters():
    """Of the rows whose time an input makes for more than half: 1.4826 times the median distance of the logarithms from their median; of fewer than ten, that of a layer."""
    rows = []
    draw = random.Random(3)
    for i in range(45):
        kind = i % 3
        part = TimeParts(
            1.0 if kind == 0 else 0.1,
            1.0 if kind == 1 else 0.2,
            20_000.0 if kind == 2 else 10.0,
            0.0,
            0.0,
            0.0,
        )
        rows.append(
            row(
                "a",
                part,
                time_of(part, [0.5, 0.7, 8e-5, 70, 0, 0.4])
                * math.exp(draw.gauss(0, (0.1, 0.2, 0.4)[kind])),
            )
        )
    values = {
        key: {**TRUE, "link_latency": 1e-5}[key[0]] for key in keys_of("hbm", "compiled", "pair")
    }
    asked = {"mfu": [], "mbu": [], "layer_overhead": []}
    for i, one in enumerate(rows):
        kind = ("mfu", "mbu", "layer_overhead")[i % 3]
        part = one.prefill
        own = {
            "mfu": part.compute / 0.5,
            "mbu": part.memory / 0.7,
            "layer_overhead": part.layers * 8e-5,
        }[kind]
        total = time_of(part, [0.5, 0.7, 8e-5, 70, 0, 0.4])
        assert own > total / 2
        if one.seconds - (total - own) > 0:
            asked[kind].append(math.log((one.seconds - (total - own)) / own))
    spread = {}
    for kind, logs in asked.items():
        middle = statistics.median(logs)
        spread[kind] = 1.4826 * statistics.median(abs(x - middle) for x in logs)
    found = widths(rows, values)
    assert {kind: found[kind] for kind in asked} == pytest.approx(spread, rel=1e-9)
    assert (
        found["elementwise_bytes"]
        == found["link_share"]
        == found["link_latency"]
        == found["layer_overhead"]
    )
    few = [one for i, one in enumerate(rows) if i % 3 or i < 27]
    assert widths(few, values)["mfu"] == found["layer_overhead"], "nine rows are too few"


def test_which_half_of_a_row_counts():
    """A row that takes its tile and one that takes its links for the most part ask for mfu and for the share of links; one that takes just half of its time so asks for nothing."""
    tiles = [
        row(
            "a",
            TimeParts(0.1, 0.2, 0.0, 0.0, 0.0, 0.0, tile=1.0),
            2.0 * math.exp(0.1 * (i % 5 - 2)),
        )
        for i in range(10)
    ]
    links = [
        row(
            "a",
            TimeParts(0.1, 0.2, 0.0, 0.0, 0.0, 1.0),
            (0.2 / 0.7 + 2.5) * math.exp(0.05 * (i % 5 - 2)),
        )
        for i in range(10)
    ]
    traffic = [
        row("a", TimeParts(0.0, 0.07, 0.0, 1e-2, 0.0, 0.0), 0.8 * math.exp(0.2 * (i % 5 - 2)))
        for i in range(10)
    ]
    latency = [
        row("a", TimeParts(0.0, 0.07, 0.0, 0.0, 1e5, 0.0), 1.1 * math.exp(0.3 * (i % 5 - 2)))
        for i in range(10)
    ]
    layers = [
        row("a", TimeParts(0.0, 0.07, 1e4, 0.0, 0.0, 0.0), 0.9 * math.exp(0.4 * (i % 5 - 2)))
        for i in range(10)
    ]
    halves = [
        row("a", TimeParts(0.0, 0.35, 6250.0, 0.0, 0.0, 0.0), 1.0 * math.exp(0.9 * (i % 2)))
        for i in range(30)
    ]
    values = {
        key: {**TRUE, "link_latency": 1e-5}[key[0]] for key in keys_of("hbm", "compiled", "pair")
    }
    found = widths([*tiles, *links, *traffic, *latency, *layers, *halves], values)

    def of(rows, rest, own):
        logs = sorted(math.log((one.seconds - rest) / own) for one in rows)
        middle = statistics.median(logs)
        return 1.4826 * statistics.median(abs(x - middle) for x in logs)

    assert found == pytest.approx({
        "mfu": of(tiles, 0, 2.0), "link_share": of(links, 0.2 / 0.7, 2.5), "elementwise_bytes": of(traffic, 0.1, 0.7), "link_latency": of(latency, 0.1, 1.0),
        "layer_overhead": of(layers, 0.1, 0.8), "mbu": of(layers, 0.1, 0.8),
    }, rel=1e-9)  # fmt: skip


def test_the_ends_of_intervals_by_hand():
    """e to the widening times the width: a share is divided at the slow end and stops at one at the fast end, a cost the other way round."""
    values = {
        ("mfu", "hbm", ALL): 0.6,
        ("mbu", ALL, ALL): 0.95,
        ("layer_overhead", "hbm", ALL): 1e-4,
        ("link_latency", "pair", ALL): 5e-6,
        ("link_share", ALL, ALL): 0.2,
    }
    width = {"mfu": 0.1, "mbu": 0.2, "layer_overhead": 0.3, "link_latency": 0.4, "link_share": 0.5}
    fast, slow = interval_ends(values, width, {"hbm": 2.0})
    e = math.exp
    assert list(fast.values()) == pytest.approx(
        [0.6 * e(0.2), 1, 1e-4 / e(0.6), 5e-6 / e(0.8), 0.2 * e(1)]
    )
    assert list(slow.values()) == pytest.approx(
        [0.6 / e(0.2), 0.95 / e(0.4), 1e-4 * e(0.6), 5e-6 * e(0.8), 0.2 / e(1)]
    )


def test_classes_that_were_never_measured_take_those_of_their_family_or_of_all():
    values = {
        ("layer_overhead", "hbm", "eager"): 1e-4,
        ("layer_overhead", "hbm", "ggml"): 4e-4,
        ("layer_overhead", "gddr", "ggml"): 7e-4,
        ("mfu", "hbm", ALL): 0.5,
    }
    general = {("layer_overhead", ALL, ALL): 3e-4, ("mfu", ALL, ALL): 0.4}
    keys = [
        ("layer_overhead", "hbm", "eager"),
        ("layer_overhead", "hbm", "compiled"),
        ("layer_overhead", "apple", "ggml"),
        ("mfu", "apple", "ggml"),
    ]
    assert list(with_missing_classes(values, general, keys).values()) == pytest.approx(
        [1e-4, 2e-4, 3e-4, 0.4]
    )


WIDTH = {
    "mfu": 0.3,
    "mbu": 0.2,
    "layer_overhead": 0.35,
    "elementwise_bytes": 0.1,
    "link_latency": 0.25,
    "link_share": 0.15,
}


@pytest.fixture(scope="module")
def fitted():
    """Few rows of three sources; and the values that those of the other two give each."""
    rows = [one for one in made(seed=4, count=40, sources=3) if one.family in ("hbm", "gddr")][:27]
    by_source = {}
    patch = pytest.MonkeyPatch()
    patch.setattr(catalogue_fit, "STEPS", (0.5, 0.15))  # how near a fit comes is another test's
    for name in ("s0", "s1", "s2"):
        others = [one for one in rows if one.source != name]
        general = fit(others, LATENCY, single=True)
        values = {
            **fit(
                others,
                LATENCY,
                start={**{key[0]: value for key, value in general.items()}, "mfu": 0.6},
            ),
            **LATENCY,
        }
        for key in {
            key for one in rows for key in keys_of(one.family, one.engine, one.row.link_group)
        } - set(values):
            same = [value for other, value in values.items() if other[:2] == key[:2]]
            values[key] = statistics.geometric_mean(same) if same else general[key[0], ALL, ALL]
        by_source[name] = values
    result = leave_one_source_out(rows, LATENCY, WIDTH)
    patch.undo()
    return rows, result, by_source


def end(one, values, widening, way):
    """The time of a row with every input at one end of its interval: shares up to one and down, costs the other way round."""
    moved = []
    for key, value in zip(FITTED, values_of(one, values), strict=True):
        factor = math.exp(widening * WIDTH[key] * way)
        moved.append(
            min(value * factor, 1) if key in ("mfu", "mbu", "link_share") else value / factor
        )
    return sum(time_of(part, moved) for part in one.parts)


def test_each_row_is_predicted_from_the_other_sources(fitted):
    """Expected, least and most; a class that the others lack takes that of its family, or of all devices."""
    rows, (predictions, widenings), by_source = fitted
    assert [p.row for p in predictions] == [
        one
        for family in ("gddr", "hbm")
        for name in by_source
        for one in rows
        if (one.source, one.family) == (name, family)
    ]
    for p in predictions:
        values, widening = by_source[p.row.source], widenings[p.row.family]
        assert p.expected == pytest.approx(
            sum(time_of(part, values_of(p.row, values)) for part in p.row.parts), rel=1e-9
        )
        assert (p.low, p.high) == pytest.approx(
            (end(p.row, values, widening, 1), end(p.row, values, widening, -1)), rel=1e-9
        )
        assert p.error == pytest.approx(p.expected / p.row.seconds - 1) and p.held == (
            p.low <= p.row.seconds <= p.high
        )


@pytest.mark.parametrize("family", ["gddr", "hbm"])
def test_the_widening_is_the_least_that_holds_four_in_five(fitted, family):
    """Of each family, in steps of a twentieth: one step less holds fewer."""
    rows, (predictions, widenings), by_source = fitted
    own = [one for one in rows if one.family == family]

    def holds(wide):
        return sum(
            end(one, by_source[one.source], wide, 1)
            <= one.seconds
            <= end(one, by_source[one.source], wide, -1)
            for one in own
        ) >= 0.8 * len(own)

    assert sum(p.held for p in predictions if p.row.family == family) >= 0.8 * len(own)
    assert widenings[family] == next(k / 20 for k in range(1, 200) if holds(k / 20)) > 0.05


@pytest.mark.parametrize(
    ("width", "far", "widening"),
    [
        (1e-9, 1.1, 10.0),
        (0.04, math.exp(0.19), 4.75),
        (0.04, math.exp(0.2) / (1 + 1e-9), 5.0),
        (1.0, 1.0, 0.05),
    ],
)
def test_intervals_are_widened_ten_times_at_most(monkeypatch, width, far, widening):
    """Rows a factor off the fit, which is the truth; one in five may lie outside, whatever it is off."""
    part = TimeParts(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    values = {
        key: {**TRUE, "link_latency": 1e-5}[key[0]]
        for key in (*keys_of("hbm", "compiled", "pair"), *SINGLE)
    }
    monkeypatch.setattr(catalogue_fit, "fit", lambda *rows, **how: values)
    rows = [row(f"s{i % 2}", part, (far if i else 9.0) / 0.7) for i in range(5)]
    predictions, found = leave_one_source_out(rows, LATENCY, dict.fromkeys(FITTED, width))
    assert found == pytest.approx({"hbm": widening}) and len(predictions) == 5
    assert sum(p.held for p in predictions) == (0 if width < 1e-6 else 4)


def test_median_latencies_of_small_messages(monkeypatch):
    """In pairs and in groups, of an engine's own kernels and of NCCL; messages of 40,000 bytes and more, those of no size, rates and other operations are left out."""

    def ceiling(op, value, devices, engine, message=1, dimension=(("s", 1),)):
        shape = {"message": message} if message else {}
        return SimpleNamespace(
            op=op,
            value=SimpleNamespace(value=value, dimension=dimension),
            devices=devices,
            engine=engine,
            shape=shape,
        )

    listed = [
        ceiling("all_reduce", 3e-6, 2, "vLLM"), ceiling("all_reduce", 5e-6, 2, "own", 39_999), ceiling("all_reduce", 50e-6, 2, "own", 40_000),
        ceiling("all_reduce", 9e-6, 3, "NCCL 2.2"), ceiling("all_reduce", 11e-6, 8, "NCCL"), ceiling("all_reduce", 99e-6, 8, "own"),
        ceiling("copy", 1e-6, 2, "own"), ceiling("all_reduce", 1e-6, 2, "own", dimension=()), ceiling("all_reduce", 60e-6, 2, "own", None),
    ]  # fmt: skip
    monkeypatch.setattr(
        catalogue_fit,
        "sources",
        lambda: [SimpleNamespace(ceilings=listed[:4]), SimpleNamespace(ceilings=listed[4:])],
    )
    assert link_latencies() == pytest.approx({
        ("link_latency", "pair", "compiled"): 4e-6,
        ("link_latency", "group", ALL): 10e-6, ("link_latency", "group", "compiled"): 99e-6, ("link_latency", ALL, ALL): 9e-6,
    })  # fmt: skip


# --------------------------------------------------------------------------------------------------------- the table


@pytest.mark.parametrize(
    ("own", "main", "experts", "of"),
    [
        (0.9, 0.7, None, {"gddr": "gddr"}),
        (1.0, 0.7, None, {"gddr": "hbm"}),
        (1.0, 0.7, 0.3, {"gddr": "hbm", "gddr experts": "hbm experts"}),
        (1.0, 1.0, 0.3, {"gddr": "gddr"}),  # no neighbour knows either
        (1.0, None, None, {"gddr": "gddr"}),
    ],
)
def test_a_share_fitted_at_its_limit_is_not_known(own, main, experts, of):
    """It is that of the family of most sources, and so for models with experts."""
    key = ("mfu", "gddr", ALL)
    values = {key: own, ("mfu", "hbm", ALL): main, ("mfu", "hbm experts", ALL): experts}
    values = {each: value for each, value in values.items() if value is not None}
    listed = rests_on(key, key, values)
    assert {shown[1]: source[1] for shown, source in listed} == of
    cost = ("layer_overhead", "gddr", ALL)
    assert rests_on(cost, cost, {cost: 1.0}) == [(cost, cost)]


@pytest.fixture(scope="module")
def shown():
    """A table of made-up rows, and what it reads as."""
    rows, draw = tuple(made(count=48, sources=3)), random.Random(9)
    fitted = CatalogueFit(rows, ())
    keys = sorted(
        {key for one in rows for key in keys_of(one.family, one.engine, one.row.link_group)}
    )
    size = {**TRUE, "link_latency": 1e-5}
    rows = (replace(rows[0], seconds=2.0), *rows[1:])
    fitted = CatalogueFit(rows, ())
    predictions = [
        HeldOutPrediction(
            one,
            one.seconds * math.exp(draw.gauss(0, 0.5)),
            one.seconds * 0.9,
            one.seconds * draw.uniform(0.8, 2),
        )
        for one in rows
    ]
    predictions[0] = HeldOutPrediction(
        rows[0], 3.0, 1.0, 2.0
    )  # half off exactly, and its time at an end
    predictions[1] = HeldOutPrediction(
        rows[1], 4.0 * rows[1].seconds, rows[1].seconds, 5.0 * rows[1].seconds
    )
    fitted.__dict__.update(
        values={key: size[key[0]] * draw.uniform(0.5, 1.9) for key in keys},
        general={(name, ALL, ALL): size[name] for name in FITTED},
        widths=WIDTH,
        _left_out=(predictions, {"hbm": 1.7, "gddr": 1.2}),
    )
    text = efficiencies(fitted)
    return fitted, text, build(loads(text), EfficienciesSpec)


def test_the_table_counts_rows_and_sources_and_how_well_they_are_predicted(shown):
    fitted, _, read = shown
    errors = sorted(abs(p.error) for p in fitted.predictions)
    assert (read.rows, read.sources) == (48, 3)
    assert float(read.median_error.value) == pytest.approx((errors[23] + errors[24]) / 2, abs=5e-4)
    assert float(read.within_half.value) == pytest.approx(
        sum(error <= 0.5 for error in errors) / 48, abs=5e-4
    )
    assert float(read.held.value) == pytest.approx(
        sum(p.held for p in fitted.predictions) / 48, abs=5e-4
    )


def test_each_class_stands_under_its_families_with_its_rows(shown):
    """One mfu of ggml on servers stands under both families; the cost of a layer of GDDR under GeForce too, of engines of 2025 also for those before, but not on HBM."""
    fitted, _, read = shown
    rows = fitted.rows
    for entry in read.efficiencies:
        if (
            entry.family == ALL
            and len([e for e in read.efficiencies if e.input == entry.input]) > 1
        ):
            assert (entry.rows, entry.sources) == (48, 3)
            continue
        classes = {
            "mfu": lambda one: (
                "server" if one.engine == "ggml" and one.family in ("hbm", "gddr") else one.family,
                "ggml" if one.engine == "ggml" else ALL,
            ),
            "layer_overhead": lambda one: (
                "gddr" if one.family == "geforce" else one.family,
                "compiled" if one.engine == "earlier" and one.family != "hbm" else one.engine,
            ),
            "link_latency": lambda one: (
                "pair" if one.row.group <= 2 else "group",
                "compiled" if one.engine == "compiled" else ALL,
            ),
        }.get(entry.input, lambda one: (ALL, ALL))
        family = (
            "server"
            if entry.input == "mfu" and entry.engine == "ggml" and entry.family in ("hbm", "gddr")
            else "gddr"
            if entry.input == "layer_overhead" and entry.family == "geforce"
            else entry.family
        )
        engine = (
            "compiled"
            if entry.input == "layer_overhead"
            and entry.engine == "earlier"
            and entry.family != "hbm"
            else entry.engine
        )
        own = [
            one
            for one in rows
            if classes(one) == (family, engine)
            and (one.row.group > 1 or entry.input not in ("link_latency", "link_share"))
        ]
        assert (entry.rows, entry.sources) == (len(own), len({one.source for one in own})), entry
    entries = [(e.input, e.family, e.engine) for e in read.efficiencies]
    listed = set(entries)
    assert len(listed) == len(entries)
    for name in FITTED:
        engines = [
            engine == ALL for input_, family, engine in entries if input_ == name and family != ALL
        ]
        assert engines == sorted(engines), "what is of all engines stands behind the others"
    assert [entries.count((name, ALL, ALL)) for name in FITTED] == [1] * 6
    assert {
        ("mfu", "hbm", "ggml"),
        ("mfu", "gddr", "ggml"),
        ("layer_overhead", "geforce", "compiled"),
        ("layer_overhead", "gddr", "earlier"),
    } <= listed
    assert ("layer_overhead", "hbm", "earlier") in listed and (
        "mfu",
        "server",
        "ggml",
    ) not in listed


def test_values_and_their_ends_are_those_of_the_fit(shown):
    """Three digits; of all devices the least and the most of any class."""
    fitted, text, read = shown
    for entry in read.efficiencies:
        value, low, high = (float(amount.value) for amount in (entry.value, entry.low, entry.high))
        key = (entry.input, entry.family, entry.engine)
        if key in fitted.values and entry.family != ALL:
            widening = fitted.widening.get({"server": "hbm"}.get(entry.family, entry.family), 1.7)
            factor = math.exp(widening * fitted.widths[entry.input])
            most = 1 if entry.input in ("mfu", "mbu", "link_share") else math.inf
            assert (value, low, high) == pytest.approx(
                (
                    fitted.values[key],
                    fitted.values[key] / factor,
                    min(fitted.values[key] * factor, most),
                ),
                rel=6e-3,
            )
        of_all = [e for e in read.efficiencies if e.input == entry.input]
        if entry.family == ALL and len(of_all) > 1:
            assert value == pytest.approx(fitted.general[entry.input, ALL, ALL], rel=6e-3)
            assert (low, high) == (
                min(float(e.low.value) for e in of_all),
                max(float(e.high.value) for e in of_all),
            )
    names = [
        line.split("input: ")[1].split(",")[0] for line in text.splitlines() if "input: " in line
    ]
    assert [name for name, after in pairwise([*names, ""]) if name != after] == list(FITTED)


def test_one_class_of_one_family_still_has_a_line_of_all_devices():
    rows = tuple(
        row("a", TimeParts(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), seconds, tp=2) for seconds in (1.0, 2.0)
    )
    fitted = CatalogueFit(rows, ())
    size = {**TRUE, "link_latency": 1e-5}
    predictions = [HeldOutPrediction(one, 1.0, 0.5, 2.0) for one in rows]
    values = {key: size[key[0]] for key in keys_of("hbm", "compiled", "pair")}
    fitted.__dict__.update(
        values=values,
        general={(name, ALL, ALL): size[name] for name in FITTED},
        widths=WIDTH,
        _left_out=(predictions, {"hbm": 1.0}),
        latency=LATENCY,
    )
    entries = [
        (e.input, e.family, e.engine)
        for e in build(loads(efficiencies(fitted)), EfficienciesSpec).efficiencies
    ]
    own = [
        ("mfu", "hbm", ALL),
        ("layer_overhead", "hbm", "compiled"),
        ("link_latency", "pair", "compiled"),
    ]
    assert sorted(entries) == sorted([*own, *((name, ALL, ALL) for name in FITTED)])
