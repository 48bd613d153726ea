"""The fit to measured rows, part by part, against loops over made-up rows: classes by hand, losses, widths, ends, and the widening that holds four in five."""

import math
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from symroof.specs.efficiencies import FITTED, link_group
from tools.evidence import catalogue_fit
from tools.evidence.catalogue_fit import (
    ALL,
    SINGLE,
    FitArrays,
    HeldOutRow,
    fit,
    folds,
    interval_ends,
    keys_of,
    known_elsewhere,
    least_reach,
    left_out,
    with_missing_classes,
)
from tools.evidence.catalogue_rows import MeasuredRow, TimeParts
from tools.evidence.catalogue_table import CatalogueFit, entries, rests_on

LATENCY = {("link_latency", "pair", "compiled"): 4e-6, ("link_latency", "group", "compiled"): 7e-6, ("link_latency", "group", ALL): 2e-5, ("link_latency", "pair", ALL): 1e-5, ("link_latency", ALL, ALL): 9e-6}  # fmt: skip
TRUE = {
    "mfu": 0.5,
    "mbu": 0.7,
    "layer_overhead": 8e-5,
    "elementwise_bytes": 70.0,
    "link_share": 0.4,
}


def row(
    source, parts, seconds=1.0, family="hbm", engine="compiled", tp=1, decode=None, generation="", model="dense", group="", prompt=9,
):  # fmt: skip
    kind = SimpleNamespace(generation=generation or family, model=model)
    facts = SimpleNamespace(
        engine_class=engine, group=tp, link_group=group or link_group(tp), hardware="h", spec="m", weights="fp8", tp=tp, attention_dp=1, prompt=prompt, output=9,
    )  # fmt: skip
    return MeasuredRow(source, facts, family, seconds, parts, decode, kind)


ONE = row("a", None)


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
            LATENCY[keys_of(row("", None, 1, family, engine, tp))[4]],
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


CLASSES = [  # family, engines, devices -> class of mfu, of the cost of a layer, of the latency of links
    ("hbm", "compiled", 1, ("hbm", ALL), ("hbm", "compiled"), ("pair", "compiled")),
    ("hbm", "earlier", 2, ("hbm", ALL), ("hbm", "earlier"), ("pair", "compiled")),
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
    assert keys_of(row("a", None, 1, family, engine, devices)) == expected
    assert tuple((name, ALL, ALL) for name in FITTED) == SINGLE


@pytest.mark.parametrize(
    ("case", "place", "key"),
    [  # AMD's generations and engines have values of their own, and there latent attention a cost of a layer
        ({"family": "cdna", "generation": "cdna3", "engine": "earlier"}, 0, ("mfu", "cdna3", "earlier")),
        ({"family": "cdna", "generation": "cdna3", "model": "latent attention and experts"}, 0, ("mfu", "cdna3 experts", "compiled")),
        ({"family": "cdna", "generation": "cdna3", "model": "latent attention and experts"}, 2, ("layer_overhead", "cdna3 latent", "compiled")),
        ({"family": "cdna", "generation": "cdna4", "model": "experts"}, 2, ("layer_overhead", "cdna4", "compiled")),
        ({"family": "cdna", "generation": "cdna2"}, 1, ("mbu", "cdna", ALL)),
        ({"generation": "hopper", "model": "experts"}, 0, ("mfu", "hbm experts", ALL)),
        ({"generation": "hopper", "model": "latent attention and experts"}, 2, ("layer_overhead", "hbm", "compiled")),
        ({"engine": "ggml", "model": "experts"}, 0, ("mfu", "server", "ggml")),
        ({"family": "gaudi", "model": "experts"}, 0, ("mfu", "gaudi", ALL)),
        ({"family": "gaudi", "engine": "earlier"}, 2, ("layer_overhead", "gaudi", "compiled")),
        ({"group": "experts"}, 4, ("link_latency", "experts", ALL)),  # fitted, of all engines
    ],
)  # fmt: skip
def test_classes_of_makers_models_and_exchanges(case, place, key):
    assert keys_of(row("a", None, **case))[place] == key


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
    fast, slow = interval_ends(values, width, 2.0)
    e = math.exp
    assert list(fast.values()) == pytest.approx(
        [0.6 * e(0.2), 1, 1e-4 / e(0.6), 5e-6 / e(0.8), 0.2 * e(1)]
    )
    assert list(slow.values()) == pytest.approx(
        [0.6 / e(0.2), 0.95 / e(0.4), 1e-4 * e(0.6), 5e-6 * e(0.8), 0.2 / e(1)]
    )


def test_classes_that_were_never_measured_take_those_of_other_generations_of_their_family_or_of_all():
    values = {
        ("layer_overhead", "hbm", "eager"): 1e-4,
        ("layer_overhead", "hbm", "ggml"): 4e-4,
        ("layer_overhead", "gddr", "ggml"): 7e-4,
        ("mfu", "hbm", ALL): 0.5,
        ("mfu", "cdna3", "compiled"): 0.2,
        ("mfu", "cdna4", "compiled"): 0.8,
        ("mfu", "cdna3 experts", "compiled"): 0.1,
        ("mfu", "cdna2", "earlier"): 0.05,
    }
    general = {("layer_overhead", ALL, ALL): 3e-4, ("mfu", ALL, ALL): 0.4}
    expected = {
        ("layer_overhead", "hbm", "eager"): 1e-4,
        ("layer_overhead", "hbm", "compiled"): 2e-4,
        ("layer_overhead", "apple", "ggml"): 3e-4,
        ("mfu", "apple", "ggml"): 0.4,
        ("mfu", "cdna2", "compiled"): 0.4,  # of two generations, not of its other engines
        ("mfu", "cdna4 experts", "compiled"): 0.1,
        ("mfu", "cdna4", "eager"): 0.8,
    }
    assert with_missing_classes(values, general, list(expected)) == pytest.approx(expected)


WIDTH = {
    "mfu": 0.3,
    "mbu": 0.2,
    "layer_overhead": 0.35,
    "elementwise_bytes": 0.1,
    "link_latency": 0.25,
    "link_share": 0.15,
}


def test_each_row_is_predicted_by_a_fit_that_has_not_seen_its_group(monkeypatch):
    """Expected, least and most by loops; doubling a group's own times moves nothing."""
    monkeypatch.setattr(
        catalogue_fit, "STEPS", (0.5, 0.15)
    )  # how near a fit comes is another test's
    rows = [one for one in made(seed=4, count=40, sources=3) if one.family == "hbm"]
    found = left_out(rows, LATENCY, lambda one: one.source, {})
    assert sorted(one.row.source for one in found) == sorted(one.source for one in rows)
    for one in found:
        predicted = one.predicted(WIDTH, 1.5)
        values = [one.values[key] for key in keys_of(one.row)]
        ends = [
            [
                min(value * math.exp(way * 1.5 * WIDTH[name]), 1)
                if name in ("mfu", "mbu", "link_share")
                else value / math.exp(way * 1.5 * WIDTH[name])
                for name, value in zip(FITTED, values, strict=True)
            ]
            for way in (1, -1)
        ]
        times = [sum(time_of(part, each) for part in one.row.parts) for each in (values, *ends)]
        assert [predicted.expected, predicted.low, predicted.high] == pytest.approx(times, rel=1e-9)
        assert predicted.error == pytest.approx(predicted.expected / one.row.seconds - 1)
        assert predicted.held == (predicted.low <= one.row.seconds <= predicted.high)
    doubled = [replace(one, seconds=one.seconds * 2) if one.source == "s1" else one for one in rows]
    again = left_out(doubled, LATENCY, lambda one: one.source, {}, lambda one: one.source == "s1")
    assert [one.values for one in again] == [one.values for one in found if one.row.source == "s1"]


@pytest.mark.parametrize(
    ("width", "far", "reach"),
    [
        (1e-9, 1.1, 10.0),
        (0.04, math.exp(0.19), 4.75),
        (0.04, math.exp(0.2) / (1 + 1e-9), 5.0),
        (1.0, 1.0, 0.05),
    ],
)
def test_the_reach_is_the_least_that_holds_four_in_five(width, far, reach):
    """Rows a factor off the fit, which is the truth; one in five may lie outside, whatever it is off. No interval reaches further than ten times the scatter."""
    part = TimeParts(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    values = {key: {**TRUE, "link_latency": 1e-5}[key[0]] for key in keys_of(ONE)}
    rows = [HeldOutRow(row("a", part, (far if i else 9.0) / 0.7), values) for i in range(5)]
    assert least_reach(rows, dict.fromkeys(FITTED, width)) == pytest.approx(reach)


def test_what_other_sources_know_and_the_tenths_of_cells():
    """Ten rows of each class elsewhere are enough; the rows of a cell, alike but for their batch, are all left out together."""
    rows = [row("a", None), *(row("b", None, prompt=i // 2) for i in range(20))]
    rows += [row("b", None, engine="earlier")] * 9 + [row("a", None, engine="earlier")]
    known, tenth = known_elsewhere(rows), folds(rows)
    assert [known(rows[0]), known(rows[1]), known(rows[-1])] == [True, False, False]
    assert all(tenth(rows[1 + 2 * i]) == tenth(rows[2 + 2 * i]) for i in range(10))
    assert len({tenth(one) for one in rows}) == 10


# --------------------------------------------------------------------------------------------------------- the table


@pytest.mark.parametrize(
    ("known", "of"),
    [
        (["gddr", "hbm"], {"gddr": "gddr"}),
        (["hbm"], {"gddr": "hbm"}),
        (["hbm", "hbm experts"], {"gddr": "hbm", "gddr experts": "hbm experts"}),
        ([], {}),  # no neighbour knows either
    ],
)
def test_a_share_that_rows_do_not_determine_is_that_of_the_family_of_most_sources(known, of):
    values = {("mfu", name, ALL): 0.7 for name in ("gddr", "hbm", "hbm experts")}
    key = ("mfu", "gddr", ALL)
    listed = rests_on(key, key, values, {one for one in values if one[1] not in known})
    assert {shown[1]: source[1] for shown, source in listed} == of


def test_what_rows_do_not_determine():
    """A share that would be more than 1 if it could, and one that no row's time depends on."""
    memory = [
        row("a", TimeParts(0.01, 1.0 + i, 0.0, 0.0, 0.0, 0.0), 0.9 * (1 + i)) for i in range(6)
    ]
    fitted = CatalogueFit(tuple(memory), ())
    fitted.__dict__.update(latency=LATENCY)
    assert {("mbu", ALL, ALL), ("mfu", "hbm", ALL)} <= fitted.undetermined
    compute = [
        replace(one, prefill=TimeParts(1.0 + i, 0.01, 0.0, 0.0, 0.0, 0.0), seconds=2.0 + 2 * i)
        for i, one in enumerate(memory)
    ]
    fitted = CatalogueFit(tuple(compute), ())
    fitted.__dict__.update(latency=LATENCY)
    assert ("mfu", "hbm", ALL) not in fitted.undetermined


def test_each_class_stands_under_its_families():
    """The cost of a layer of GDDR stands under GeForce too, also of engines before; AMD's generations under their own names and, as their mean, under the
    family's; what rows do not determine under the family it is taken from; the last of an input is for all devices."""
    values = {
        ("mfu", "cdna3", "compiled"): 0.2,
        ("mfu", "cdna4", "compiled"): 0.8,
        ("mfu", "hbm", ALL): 0.7,
        ("mfu", "neuron", ALL): 1.0,
        ("mfu", "server", "ggml"): 0.3,
        ("mbu", ALL, ALL): 0.8,
        ("layer_overhead", "gddr", "compiled"): 4e-5,
        ("layer_overhead", "hbm", "compiled"): 8e-5,
    }
    fitted = SimpleNamespace(
        values=values,
        general={(name, ALL, ALL): 0.5 for name in FITTED},
        undetermined={("mfu", "neuron", ALL)},
        count=lambda key: (5, 2),
        rows=[row("a", None)] * 9,
    )
    listed = {key: (value, of, rows) for key, value, of, (rows, _) in entries(fitted)}
    layer = "layer_overhead"
    expected = {
        ("mfu", "cdna3", "compiled"): (0.2, "", 5),
        ("mfu", "cdna", "compiled"): (pytest.approx(0.4), "cdna", 10),
        ("mfu", "neuron", ALL): (0.7, "hbm", 5),
        ("mfu", "gddr", "ggml"): (0.3, "", 5),
        ("mfu", ALL, ALL): (0.5, ALL, 9),
        ("mbu", ALL, ALL): (0.8, "", 5),
        (layer, "geforce", "earlier"): (4e-5, "", 5),
        (layer, "gddr", "compiled"): (4e-5, "", 5),
        (layer, "hbm", "compiled"): (8e-5, "", 5),
    }
    assert {key: listed[key] for key in expected} == expected
    assert not {("mfu", "server", "ggml"), (layer, "hbm", "earlier")} & set(listed)
    assert [key[1] for key in listed if key[0] == "mfu"][-1] == ALL
