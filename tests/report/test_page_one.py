"""Page one: which case it is about, which cases pass, what to change; by one standard, and nothing that later pages deny."""

import re

import pytest
from markupsafe import Markup

from symroof.analysis.verdict import findings
from symroof.api import Study
from symroof.report.environment import ranged
from symroof.report.markup import FORMATS as WRITTEN
from symroof.report.pictures.picture_kinds import picture
from symroof.report.render import render
from symroof.report.view import subject_of, view

from . import FORMATS, blocks, rows_under, static

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 512, "output": 64, "batch": [1, 64], "mbu": "0.5..0.9", "mfu": 1}
CASE |= {"layer_overhead": 0, "elementwise_bytes": 0, "assume": {"targets_under": "isolated"}}
WITHIN = {"in part": "8 ms", "throughout": "9.2 ms"}
"""One request takes 15.0 GB of weights: 6.4 ms at 0.7 of 3.35 TB/s and 8.96 ms at half; 64 of them 4.8 GB of cache more, 2.1 ms and 2.9 ms."""


@pytest.fixture(scope="module")
def reviews():
    made = {}
    for name, itl in WITHIN.items():
        data = view(Study(**CASE, targets={"itl": itl}), "symroof report x.yaml", ("verdict", "flips"), whole=False)
        made[name] = data, {kind: render(data, kind) for kind in FORMATS}
    return made


def page_one(reviews, name, kind="md"):
    return " ".join(block.text for block in blocks(static(reviews[name][1][kind]), kind) if block.section == "Verdict")


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_case_that_passes_at_the_middle_is_named_as_that(reviews, kind):
    text = page_one(reviews, "in part", kind)
    assert "Of 2 cases in the study, this review goes into the last one listed for the first model and device." in text
    assert "NVIDIA H100 SXM5 80 GB, batch 1 fits and meets every target at the middle of the ranges, not throughout the ranges." in text
    assert "No single change" not in text


def test_a_case_that_passes_throughout_is_preferred_where_the_subject_passes_at_the_middle(reviews):
    data, _ = reviews["throughout"]
    assert data["verdict"]["state"] == "partly"
    assert "batch 1 fits and meets every target throughout the ranges." in page_one(reviews, "throughout")


def test_what_page_one_advises_is_what_the_flips_say(reviews):
    data, texts = reviews["in part"]
    rows = blocks(texts["md"], "md")
    later = {f"{cells[0]} {cells[2]}" for cells in rows_under(rows, "What flips this verdict", "Input") if cells[5] == "fits, meets all"}
    advised = [cells for cells in rows_under(rows, "Verdict", "Change") if "(now " in cells[0]]
    assert advised
    assert {cells[0].partition(" (now ")[0] for cells in advised} <= later
    assert {cells[2] for cells in advised} == {"fits, meets every target at the middle of the ranges"}
    batch = next(int(re.search(r"at most (\d+) requests", cells[0])[1]) for cells in advised if cells[0].startswith("batch"))
    last = Study(**{**CASE, "batch": 1, "mbu": "0.7"}, targets={"itl": "8 ms"}).first.case
    assert last.changed({"batch": batch}).value("itl_last") * 1000 <= 8 < last.changed({"batch": batch + 1}).value("itl_last") * 1000


def test_a_mark_is_explained_where_it_stands_and_nowhere_else():
    study = Study("llama-3-8b", "l4", prompt=512, output=64, batch=[512, 1], mfu=1, mbu=1, targets={"itl": "1 s"})
    assert [case.does_not_fit for case in study.cases] == [True, False]
    text = render(view(study, "symroof report x.yaml", ("verdict", "alternatives"), whole=False), "md")
    first, _, second = text.partition("## Alternatives")
    assert "†" not in first
    assert "† Does not fit in memory." in second


@pytest.mark.parametrize("kind", FORMATS)
def test_a_range_in_finished_markup_is_escaped_once(kind):
    """TeX printed ``\\$\\textbackslash{}mu\\$s`` where a macro had written µ already."""
    output = WRITTEN[kind]
    for plain in ("below 22.51 µs, outside its range", "below 22.51 µs (20.1 to 25 µs)"):
        once = output.stacked(ranged(output.written(plain)))
        assert once == output.stacked(ranged(plain))
        assert "textbackslash" not in once and isinstance(once, Markup)


def test_the_picture_of_a_server_at_work_ends_where_its_target_does():
    study = Study("llama-3-8b", "h100-sxm", prompt=2048, output=64, batch=8, mfu=0.5, mbu=0.7, layer_overhead=0, targets={"itl": "20 ms"})
    made = picture("latency-throughput", study)
    most = int(re.search(r"the target of 20 ms allows at most ([\d,]+) requests", made.says)[1].replace(",", ""))
    within, beyond = (study.first.case.changed({"batch": batch}).value("sustained_itl") for batch in (most, most + 1))
    assert within * 1000 <= 20 < beyond * 1000
    alone = study.first.case.changed({"batch": most + 1}).value("itl_last")
    assert alone * 1000 < 20  # decode alone would allow more
    assert made.title.startswith("Inter-token latency under load")
    assert not findings(subject_of(study))


def test_prompts_that_pile_up_while_responses_keep_up_are_overload():
    """One prompt at a time in steps of 16 tokens takes 128 steps of the batch: longer than the time between arrivals, near the full load."""
    study = Study("llama-3-8b", "h100-sxm", prompt=2048, output=130, batch=1, mfu=0.5, mbu=0.7, layer_overhead=0, chunk=16, targets={"ttft": "9000 s"})
    rates = [study.first.case.changed({"arrival_rate": rate}) for rate in ()]
    assert not rates
