"""Page one: which case it is about, which cases pass, what to change; by one standard, and nothing that later pages deny."""

import re
from fractions import Fraction

import pytest
import yaml
from markupsafe import Markup
from matplotlib.text import Text

from symroof.analysis.case_titles import case_label
from symroof.analysis.constraints import passes
from symroof.analysis.tipping_points import flips
from symroof.analysis.verdict import findings, overloaded, target_warnings, unknown_targets
from symroof.api import Study
from symroof.report.environment import ranged
from symroof.report.markup import FORMATS as WRITTEN
from symroof.report.pictures.picture_kinds import picture
from symroof.report.recommendation import subject_of
from symroof.report.render import render
from symroof.report.view import view
from symroof.report.view_case import brief
from symroof.report.view_decision import key_numbers
from symroof.report.view_options import ruled_out
from symroof.resources import data_folder

from . import FORMATS, blocks, rows_under, static

CASE = {
    "model": "llama-3-8b",
    "hardware": "h100-sxm",
    "engine": "ideal",
    "prompt": 512,
    "output": 64,
    "batch": [1, 64],
    "mbu": "0.5..0.9",
    "mfu": 1,
}
CASE |= {"layer_overhead": 0, "elementwise_bytes": 0, "assume": {"targets_under": "isolated"}}
WITHIN = {"in part": "8 ms", "throughout": "9.2 ms"}
"""One request takes 15.0 GB of weights: 6.4 ms at 0.7 of 3.35 TB/s and 8.96 ms at half; 64 of them 4.8 GB of cache more, 2.1 ms and 2.9 ms."""


@pytest.fixture(scope="module")
def reviews():
    made = {}
    for name, itl in WITHIN.items():
        data = view(
            Study(**CASE, targets={"itl": itl}),
            "symroof report x.yaml",
            ("verdict", "flips"),
        )
        made[name] = data, {kind: render(data, kind) for kind in FORMATS}
    return made


def page_one(reviews, name, kind="md"):
    return " ".join(
        block.text
        for block in blocks(static(reviews[name][1][kind]), kind)
        if block.section == "Verdict"
    )


@pytest.mark.full
@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_case_that_passes_at_the_middle_is_named_as_that(reviews, kind):
    text = page_one(reviews, "in part", kind)
    assert (
        "Reviewed: the last case of the first model and device, one of 2 cases in the study."
        in text
    )
    assert (
        "NVIDIA H100 SXM5 80 GB, batch 1 fits and meets every target at the middle of the ranges, not throughout the ranges."
        in text
    )
    assert "No single change" not in text


def test_a_case_that_passes_throughout_is_reviewed_before_one_that_passes_at_the_middle(reviews):
    data, _ = reviews["throughout"]
    assert data["verdict"]["state"] == "met" and "batch 1," in data["subject"]


def test_what_page_one_advises_is_what_the_flips_say(reviews):
    _, texts = reviews["in part"]
    rows = blocks(texts["md"], "md")
    later = {
        f"{cells[0]} {cells[2]}"
        for cells in rows_under(rows, "What flips this verdict", "Input")
        if cells[5] == "fits, meets all"
    }
    advised = [cells for cells in rows_under(rows, "Verdict", "Change") if "(now " in cells[0]]
    assert advised
    assert {cells[0].partition(" (now ")[0] for cells in advised} <= later
    assert {cells[2] for cells in advised} == {
        "fits, meets every target at the middle of the ranges"
    }


@pytest.mark.full
def test_a_mark_is_explained_where_it_stands():
    """On page one, among the options, and among the alternatives; the reviewed case's own numbers have none."""
    study = Study(
        "llama-3-8b",
        "l4",
        prompt=512,
        output=64,
        batch=[512, 1],
        mfu=1,
        mbu=1,
        targets={"itl": "1 s"},
    )
    assert [case.does_not_fit for case in study.cases] == [True, False]
    text = render(view(study, "symroof report x.yaml", ("verdict", "alternatives")), "md")
    first, _, second = text.partition("## Alternatives")
    marked = [line for line in first.splitlines() if "†" in line]
    assert (
        [line.count("†") for line in marked] == [1, 1]
        and marked[0].startswith("| 1 × NVIDIA L4")
        and "does not fit" in marked[0]
    )
    assert (
        marked[1].startswith("† Does not fit in memory.") and "† Does not fit in memory." in second
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_a_range_in_finished_markup_is_escaped_once(kind):
    """TeX printed ``\\$\\textbackslash{}mu\\$s`` where a macro had written µ already."""
    output = WRITTEN[kind]
    for plain in ("below 22.51 µs, outside its range", "below 22.51 µs (20.1 to 25 µs)"):
        once = output.stacked(ranged(output.written(plain)))
        assert once == output.stacked(ranged(plain))
        assert "textbackslash" not in once and isinstance(once, Markup)


def test_the_picture_of_a_server_at_work_ends_where_its_target_does():
    study = Study(
        "llama-3-8b",
        "h100-sxm",
        engine="ideal",
        prompt=2048,
        output=64,
        batch=8,
        mfu=0.5,
        mbu=0.7,
        layer_overhead=0,
        targets={"itl": "20 ms"},
    )
    made = picture("latency-throughput", study)
    most = int(
        re.search(r"the target of 20 ms allows at most ([\d,]+) requests", made.says)[1].replace(
            ",", ""
        )
    )
    within, beyond = (
        study.first.case.changed({"batch": batch}).value("sustained_itl")
        for batch in (most, most + 1)
    )
    assert within * 1000 <= 20 < beyond * 1000
    alone = study.first.case.changed({"batch": most + 1}).value("itl_last")
    assert alone * 1000 < 20  # decode alone would allow more
    assert made.alt.startswith("Throughput against inter-token latency under load")
    assert not findings(subject_of(study))


@pytest.mark.full
def test_every_configuration_is_labelled_once_and_the_subject_is_there():
    study = Study(
        "llama-3-8b",
        ["h100-sxm", "l4"],
        tp=[1, 2],
        prompt=512,
        output=64,
        batch=[8, 64],
        mfu=0.5,
        mbu=0.7,
        layer_overhead=0,
    )
    figure = picture("pareto", study, subject_of(study))
    texts = [" ".join(text.get_text().split()) for text in figure.findobj(Text)]
    names = [
        "NVIDIA H100 SXM5 80 GB",
        "2 × NVIDIA H100 SXM5 80 GB",
        "NVIDIA L4 24 GB",
        "2 × NVIDIA L4 24 GB",
    ]
    assert max(texts.count(name) for name in names) == 1
    assert texts.count("2 × NVIDIA H100 SXM5 80 GB") == 1  # the last on the first device


@pytest.fixture(scope="module")
def piling_up():
    """Prompts of 1,024 tokens with a budget of 128 beside 64 requests: right below its full load a server prefills them more slowly than they come."""
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "engine": "ideal",
        "prompt": 1024,
        "output": 64,
        "batch": 64,
        "mfu": 0.5,
        "mbu": 0.7,
        "layer_overhead": 0,
    }
    return lambda rate: (
        Study(**case, chunk=128, arrival_rate=f"{rate} request/s", targets={"ttft": "1 s"}).first
    )


def test_no_flip_meets_every_target_where_the_wait_has_no_end(piling_up):
    """Right below the arrival rate that it can serve a server keeps up, and its prompts do not."""
    flip = next(flip for flip in flips(piling_up(90), ("arrival_rate",), ("load",)) if flip.holds)
    assert (flip.wrong_now, flip.wrong, flip.good) == (("load", "ttft"), ("ttft",), False)


def test_prompts_that_pile_up_while_responses_keep_up_are_overload(piling_up):
    capacity = piling_up(1).case.value("sustained_requests")
    late = piling_up(float(capacity * (1 - Fraction(1, 10**7))))
    assert late.case.value("load") < 1
    assert late.get("loaded_ttft") is None
    assert late.case.value("arrival_rate") * 1024 >= late.case.value("open_room") / late.case.value(
        "open_full_time"
    )  # more tokens than full steps prefill
    assert (overloaded(late), findings(late)) == (True, ["load_missed"])
    assert not findings(piling_up(float(capacity / 2)))


@pytest.mark.full
def test_a_price_that_nobody_knows_is_no_budget_kept(tmp_path):
    """A case without a price was said to meet every target, the one on its price included."""
    base = yaml_of("hardware", "h200")
    unpriced = tmp_path / "unpriced.yaml"
    unpriced.write_text(base, encoding="utf-8")
    targets = {"itl": "1 s", "price": "20 USD/hour"}
    study = Study(
        "llama-3-8b", ["h100-sxm", str(unpriced)], prompt=512, output=64, batch=8, targets=targets
    )
    priced, other = study.cases
    assert [passes(case) for case in study.cases] == [True, False]
    assert (unknown_targets(priced), unknown_targets(other)) == ({}, {"price": "needs price"})
    assert "whether it meets its price target is not known: needs price" in target_warnings(other)
    data = view(study, "symroof report x.yaml", ("verdict", "alternatives"))
    assert [row["verdict"] for row in data["cases"]] == ["met", "not known"]
    text = render(data, "md")
    assert "fits and meets every target throughout" not in text
    assert "| price target not known |" not in text, "what passes has nothing to change"
    alone = render(
        view(
            Study("llama-3-8b", str(unpriced), prompt=512, output=64, batch=8, targets=targets),
            "x",
            ("verdict",),
        ),
        "md",
    )
    assert (
        "fits, but whether it meets its target on price per instance (needs price) is not known."
        in alone
    )
    assert "price target not known" in alone, "a change that leaves it unknown says so"
    missed = Study(
        "llama-3-8b",
        str(unpriced),
        prompt=512,
        output=64,
        batch=8,
        targets={**targets, "itl": "1 ms"},
    )
    assert "misses its target on inter-token latency" in render(
        view(missed, "x", ("verdict",)), "md"
    )


def yaml_of(kind, name):
    """A spec of the catalogue without its price."""
    spec = yaml.safe_load(
        (data_folder("specs") / kind / f"{name}.yaml").read_text(encoding="utf-8")
    )
    spec.pop("prices", None)
    return yaml.safe_dump({**spec, "name": "unpriced"})


@pytest.mark.full
def test_a_device_is_out_where_its_peak_with_one_request_misses_a_target():
    """4,096 tokens of an 8B take 66 TFLOP and more: an A100 at its peak of 312 TFLOP/s needs more than 200 ms, whatever the batch."""
    case = {
        "model": "llama-3-8b",
        "prompt": 4096,
        "output": 64,
        "batch": 8,
        "mfu": 0.6,
        "mbu": 0.8,
        "targets": {"ttft": "200 ms"},
    }
    study = Study(**case, hardware=["h100-sxm", "a100-80gb-sxm"])
    subject = subject_of(study)
    assert subject.hardware.name == "h100-sxm"
    ((label, missed, value, limit),) = ruled_out(study, subject)
    alone = Study(**{**case, "batch": 1, "mfu": 1, "mbu": 1}, hardware="a100-80gb-sxm").first
    assert (label, missed, limit) == ("1 × NVIDIA A100 SXM4 80 GB", "never ttft", "200 ms")
    assert (
        float(value.split()[0]) / 1000
        == pytest.approx(float(alone.case.value("loaded_ttft")), rel=5e-3)
        and float(value.split()[0]) > 200
    )
    text = render(view(study, "symroof report x.yaml", ("verdict",)), "md")
    assert (
        f"cannot meet 200 ms to the first token: it takes {value} even at its peak with a single request."
        in text
    )
    slower = Study(**{**case, "mfu": 0.5}, hardware=["h200", "a100-80gb-sxm"], tp=[1, 2])
    assert ruled_out(slower, subject_of(slower)) == [], (
        "groups of several sizes are not spoken of as one"
    )


def test_a_device_that_tuning_could_help_is_not_ruled_out_for_good():
    """At its peak an L4 would keep within the limit, so that the review gives the value of the study instead."""
    study = Study(
        "llama-3-8b",
        ["h100-sxm", "l4"],
        prompt=512,
        output=64,
        batch=4,
        mfu=0.5,
        mbu=0.6,
        targets={"itl": "70 ms"},
    )
    ((label, missed, value, limit),) = ruled_out(study, subject_of(study))
    here = next(case for case in study.cases if case.hardware.name == "l4").case.value(
        "sustained_itl"
    )
    assert (label, missed, limit) == ("1 × NVIDIA L4 24 GB", "itl", "70 ms")
    assert float(value.split()[0]) / 1000 == pytest.approx(float(here), rel=6e-2) and here > 0.07


@pytest.mark.full
def test_the_options_have_a_sign_each_and_what_is_recommended_comes_first():
    study = Study(
        "llama-3-8b",
        ["t4", "l4", "h100-sxm"],
        prompt=2048,
        output=64,
        batch=[16, 64],
        mfu=0.5,
        mbu=0.8,
        targets={"itl": "8 ms"},
    )
    data = view(study, "symroof report x.yaml", ("verdict",))
    options, cases = data["verdict"]["options"], {case_label(case): case for case in study.cases}
    assert options[0][1] == "✓ meets all" and "batch" in options[0][0]
    for label, outcome, *_ in options[1:]:
        case = cases[label.removesuffix(" †").removeprefix("1 × ")]
        assert outcome.startswith("✗") is (passes(case) is False)
        assert ("does not fit" in outcome) is case.does_not_fit


@pytest.mark.full
def test_no_risk_is_of_the_device_or_a_precision_and_each_ends_the_verdict():
    study = Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=2048,
        output=64,
        batch=16,
        mfu=0.5,
        mbu=0.8,
        targets={"itl": "50 ms", "ttft": "1 s"},
    )
    data = view(study, "symroof report x.yaml", ("verdict",))
    risks = data["flips"]["risks"]
    assert len(risks) == 3 and all(risk["ruins"] for risk in risks)
    assert not {str(risk["name"]) for risk in risks} & {
        "peak_flops",
        "mem_bandwidth",
        "mem_capacity",
        "weight_bytes_per_param",
        "kv_bytes_per_element",
        "tp",
    }
    assert "With `--full` it has every derivation" in render(data, "md")


def test_two_digits_where_the_range_is_wide():
    """A tenth to either side and more; the same value without a range has three."""
    wide, narrow = (
        Study("llama-3-8b", "h100-sxm", prompt=4096, output=64, mfu=mfu, mbu=1).first
        for mfu in ("0.4..0.6", "0.49..0.51")
    )
    assert [brief(case.result("ttft")) for case in (wide, narrow)] == [2, 3]
    cells = [
        next(row[1] for row in key_numbers(case) if row[0].startswith("TTFT"))
        for case in (wide, narrow)
    ]
    assert [
        len(cell.split()[0].replace(".", "").lstrip("0").rstrip("0")) <= digits
        for cell, digits in zip(cells, (2, 3), strict=True)
    ] == [True, True]
    assert len(cells[1].split()[0].replace(".", "")) == 3


@pytest.mark.full
def test_a_batch_that_nobody_set_is_the_recommended_one():
    case = {
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "prompt": 512,
        "output": 64,
        "targets": {"itl": "50 ms"},
    }
    said, fixed = (Study(**each).report().says for each in (case, {**case, "batch": 1}))
    assert re.search(r"up to (\d{2,3}) requests", said) and "not set" not in said
    assert "batch 1, prompt 512" in fixed
