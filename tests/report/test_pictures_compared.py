"""The pictures that compare: every configuration labelled, the front checked point by point, omitted ones named."""

import re

import pytest

from symroof.api import Study
from symroof.report.pictures import pareto
from symroof.report.pictures.cases import batch_series, labels
from symroof.report.pictures.picture_kinds import picture
from symroof.report.view_case import memory

pytestmark = pytest.mark.full

TWELVE = {"model": "llama-3.1-70b", "hardware": ["h100-sxm", "h200", "a100-80gb-sxm"], "tp": [2, 4], "weights": ["fp16", "fp8"], "prompt": 4096, "output": 512, "batch": 24, "targets": {"itl": "30 ms"}}  # fmt: skip
CHEAP = {
    "model": "llama-3-8b",
    "hardware": ["h100-sxm", "l40s"],
    "prompt": 1024,
    "output": 256,
    "batch": [1, 16],
    "targets": {"itl": "50 ms"},
}


@pytest.fixture(scope="module")
def twelve():
    return Study(**TWELVE)


def test_configurations_differ_in_more_than_their_batch(twelve):
    assert len(batch_series(twelve)) == 12
    two = batch_series(Study(**CHEAP))
    assert [configuration.batches for configuration in two] == [(1, 16), (1, 16)]
    assert "batch" not in "".join(configuration.label for configuration in two)


def test_every_case_has_a_label_of_its_own(twelve):
    for study in (
        twelve,
        Study(**CHEAP),
        Study("llama-3-8b", "h100-sxm", prompt=512, weights=["fp16", "fp8"], kv=["fp16", "fp8"]),
    ):
        every = labels(study.cases)
        assert len(set(every)) == len(every)


def test_the_best_within_the_target_is_found_by_trying_every_batch():
    """Cost and ITL under load of whole batches of both devices, from cases bound one by one."""
    sentence = picture("pareto", Study(**CHEAP)).says
    costs = {}
    for device in CHEAP["hardware"]:
        first = Study(**(CHEAP | {"hardware": device, "batch": 1})).first.case
        for batch in range(1, 440):
            case = first.changed({"batch": batch})
            if case.value("fits") and case.value("sustained_itl") <= case.value("itl_target"):
                costs[device, batch] = float(case.value("cost_per_mtok"))
    batch, cost = re.search(
        r"([\d,]+) requests, [\d.]+ ms, ([\d.]+) USD per million", sentence
    ).groups()
    assert min(costs.values()) == pytest.approx(
        costs["h100-sxm", int(batch)], rel=1e-12
    )  # where compute limits, several batches cost the same
    assert float(cost) == pytest.approx(min(costs.values()), rel=1e-3)


def test_nothing_on_the_front_is_beaten_and_all_of_it_fits(twelve):
    points = [
        point
        for place, configuration in enumerate(batch_series(twelve))
        for point in pareto._points(place, configuration, pareto.UNDER_LOAD, "cost_per_mtok")
    ]
    sentence = picture("pareto", twelve).says
    on_front = {
        name
        for configuration in batch_series(twelve)
        if (name := configuration.label) in sentence.partition(". ")[0]
    }
    assert on_front
    for place, configuration in enumerate(batch_series(twelve)):
        own = [point for point in points if point.place == place]
        assert own
        beaten = all(
            any(
                o.itl <= p.itl and o.worth <= p.worth and (o.itl, o.worth) != (p.itl, p.worth)
                for o in points
            )
            for p in own
        )
        assert beaten is (configuration.label not in on_front)
        last = max(own, key=lambda point: point.batch)
        line = {
            "hardware": configuration.first.hardware.name,
            "tp": int(configuration.first.case.value("tp")),
            "weights": configuration.first.precisions["weights"],
        }
        assert Study(**(TWELVE | line | {"batch": last.batch})).first.case.value("fits")


def test_what_fits_nowhere_is_left_out_and_named():
    study = Study("llama-3-8b", ["t4", "h100-sxm"], prompt=4096, output=64, batch=1)
    made = picture("pareto", study)
    assert "Fits at no batch: NVIDIA T4" in made.says
    assert "Left out, for they fit at no batch: NVIDIA T4" in " ".join(
        words.text for words in made.canvas.labels
    )


def test_more_lines_than_can_be_read_are_named_as_left_out(twelve):
    made = picture("latency-throughput", twelve)
    notes = " ".join(words.text for words in made.canvas.labels)
    assert "4 of 12 configurations" in notes
    for left_out in batch_series(twelve)[4:]:
        assert left_out.label in notes
    bars = picture("memory", Study(**(TWELVE | {"batch": [1, 2]})))
    assert "Left out: 12 further cases." in " ".join(words.text for words in bars.canvas.labels)


def test_the_bars_say_what_eval_says(twelve):
    made = picture("memory", twelve)
    assert (
        made.says
        == f"{sum(bool(case.case.value('fits')) for case in twelve.cases)} of 12 cases fit."
    )
    parts = made.shows.rstrip(".").partition(" at usable memory. ")[2].split("; ")
    for part, case, label in zip(parts, twelve.cases, labels(twelve.cases), strict=True):
        assert part.startswith(
            f"{label}: {case.result('memory_bytes').plain()} of {case.result('usable_memory').plain()}"
        )
        assert ("does not fit" in part) is (not case.case.value("fits"))


def test_the_parts_of_the_memory_add_up():
    """A latent cache is held by every device of a group, and each keeps a reserve of its own."""
    study = Study("deepseek-r1", "h200", tp=8, prompt=2048, output=512, batch=64)
    needed, parts = study.first.case.value("memory_bytes"), memory(study, study.first)
    drawn = [
        size for part, _, size in picture("memory", study).canvas.drawn if part != "usable memory"
    ]
    assert len(drawn) == 3 and sum(drawn) == pytest.approx(float(needed), rel=1e-12)
    sizes = [float(cell.split()[0]) for cell in parts["rows"][0][1:5]]
    assert sum(sizes[:3]) == pytest.approx(sizes[3], rel=1e-3)
    assert [word for word, *_ in parts["parts"]] == ["weights", "cache", "reserve", "total"]


def test_the_case_itself_is_on_the_front_picture():
    study = Study(**CHEAP)
    made = picture("pareto", study, study.cases[1])
    assert any(
        "this case: batch 16" in words.text.replace("\n", " ") for words in made.canvas.labels
    )
    itl, cost = (
        float(study.cases[1].case.value(name)) for name in ("sustained_itl", "cost_per_mtok")
    )
    assert any(
        shape == "circle" and (x, y) == pytest.approx((itl, cost))
        for shape, x, y in made.canvas.drawn
        if isinstance(x, float)
    )


def test_the_subject_of_a_review_is_drawn_first(twelve):
    subject = twelve.cases[7]
    assert (
        picture("latency-throughput", twelve, subject)
        .says.partition(": ")[2]
        .startswith(labels(twelve.cases)[7])
    )
