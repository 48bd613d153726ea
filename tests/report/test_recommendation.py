"""Which case a review details, and what it recommends where that fails: against every degree, chunk and batch worked out one by one."""

import pytest

from symroof.api import Study
from symroof.cases.request import request_of
from symroof.report.page_one import page_one
from symroof.report.purchase_text import not_measured, usd
from symroof.report.recommendation import reviewed
from symroof.select.recommend import recommend

from ..cli import call, refused
from ..near import passes
from ..tables import fields

CASE = fields(
    "efficiency: peak, model: llama-3.1-8b, hardware: a10g, prompt: 1024, output: 128, batch: 64, "
    "mfu: 0.6, mbu: 0.75, price: 1, engine: vllm"
)


def test_the_subject_is_the_cheapest_that_passes_else_the_nearest_miss():
    listed = Study(
        **{**CASE, "hardware": ["a10g", "h100-sxm"], "batch": [1, 8, 16]}, targets={"itl": "50 ms"}
    )
    good = [case for case in listed.cases if passes(case)]
    assert len(good) > 1
    cheapest = min(good, key=lambda case: case.case.value("cost_per_mtok"))
    subject = reviewed(listed).subject
    assert (subject.hardware, subject.varied) == (cheapest.hardware, cheapest.varied)
    none = Study(
        **{**CASE, "hardware": ["a10g", "h100-sxm"], "batch": [1, 8]}, targets={"itl": "10 us"}
    )
    subject = reviewed(none).subject
    nearest = min(none.cases, key=lambda case: case.slow_end.case.value("sustained_itl"))
    assert (subject.hardware, subject.varied) == (nearest.hardware, nearest.varied)


def test_what_does_not_fit_is_no_nearest_miss_where_something_fits():
    """64 requests of 2,048 tokens take 17 GB beside 15 GB of weights, which an A10G of 24 GB has no room for."""
    case = {**CASE, "hardware": "a10g", "prompt": 2048, "tp": 1, "batch": [1, 64]}
    page = page_one(reviewed(Study(**case, targets={"itl": "1 ms"})))
    assert page["price"][0].startswith("Closest: 1 × A10G, batch 1 (ITL ")
    assert "1 × A10G, batch 64 does not fit: needs 1." in " ".join(page["said"])


def test_nothing_else_is_recommended_to_what_passes_and_nothing_where_nothing_does():
    good = reviewed(Study(**{**CASE, "batch": 1}, targets={"itl": "1 s"}))
    assert good.pick.case is good.subject
    never = reviewed(Study(**CASE, targets={"itl": "10 us"}))
    assert never.pick is None and "× A10G" in page_one(never)["price"][0]


def test_what_a_study_fixes_and_fails_is_said_with_what_passes_where_it_is_open():
    """A step of an 8B in 16 bits reads 15.0 GB: 6.0 ms at three quarters of an H100's 3.35 TB/s, half of that on two."""
    review = reviewed(Study(**CASE | {"hardware": "h100-sxm", "tp": 1}, targets={"itl": "6 ms"}))
    page = page_one(review)
    assert review.pick is None and recommend(review.study).pick is None
    assert page["heading"].startswith("Nothing passes for")
    assert page["price"][0].startswith("Closest: 1 × H100 SXM (ITL ")
    devices = review.opened.devices
    assert devices > 1
    assert page["said"][0].startswith(
        f"A layout that the study does not fix would pass: {devices} × H100 SXM, 1 replica of {devices}"
    )


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    """A study of two devices and a rate, which fixes neither layout nor batch."""
    path = tmp_path_factory.mktemp("chat") / "chat.yaml"
    path.write_text(
        "model: llama-3.1-8b\nhardware: [l40s, h100-sxm]\nworkload: {prompt: 2000, output: 300}\n"
        "set: {arrival_rate: 60/s}\ntargets: {ttft: 1 s, itl: 40 ms}\n",
        encoding="utf-8",
    )
    return str(path)


def test_a_review_starts_on_what_select_names(chat):
    review = reviewed(Study.load(chat))
    pick = recommend(Study.load(chat)).pick
    assert (review.pick.hardware, review.pick.devices, review.pick.batch) == (
        pick.hardware,
        pick.devices,
        pick.batch,
    )
    assert review.subject is review.study.cases[0] and passes(review.subject)
    page = page_one(review)
    assert page["heading"] == f"Use {pick.devices} × H100 SXM for Llama 3.1 8B"
    assert page["price"][0] == f"{usd(pick.usd_per_month)} USD/month"
    rows = {row[0]: row for row in page["rows"]}
    for name, result in (("first token", pick.ttft), ("between tokens", pick.itl)):
        _, value, span, *_ = rows[f"time {'to ' * (name[0] == 'f')}{name}"]
        assert f"{value} ({span})" == result.plain(3)
    assert (
        f"{usd(float(pick.cost_per_mtok.value))} USD per million output tokens" in page["price"][1]
    )
    (instead,) = (block for block in page["blocks"] if block["name"] == "Alternatives.")
    assert "× L40S" in instead["rows"][0][0]


def test_a_fixed_batch_is_reviewed_in_the_layout_and_the_chunk_that_select_names(chat):
    """The review was of the case as it stands, in the chunk of the engine's own budget."""
    study = Study.load(chat, request_of(batch=8, assume={"scheduling": "chunked"}))
    review, pick = reviewed(study), recommend(study).pick
    assert review.pick.as_json() == pick.as_json() and pick.chunk is not None
    assert review.subject.case.value("chunk") == pick.chunk
    assert (review.subject.case.value("dp"), review.pick.batch) == (pick.copies, 8)


def test_where_nothing_passes_a_review_says_what_would():
    asked = Study("llama-3.1-8b", "l40s", prompt=2000, output=300, targets={"itl": "1 ms"})
    page = page_one(reviewed(asked))
    assert page["heading"] == "Nothing passes for Llama 3.1 8B"
    assert page["price"][0].startswith("Closest: 8 × L40S (ITL ")
    (block,) = (block for block in page["blocks"] if block["name"] == "It would pass if")
    assert block["texts"][-1][0].startswith("the target is ITL ")


def test_a_case_without_a_device_is_reviewed_over_the_catalogue_under_its_own_name(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    line = ["--model", "llama-3.1-8b", "--prompt", "512", "--output", "64"]
    assert call("report", *line, "--format", "md", "--target", "itl=30 ms").code == 0
    text = (tmp_path / "reports/llama-3.1-8b/case.md").read_text()
    assert text.startswith("# Use 1 × ") and "**Alternatives.**" in text


def test_a_rate_without_the_length_of_responses_is_no_load():
    line = ["--model", "llama-3.1-8b", "--prompt", "512", "--set", "arrival_rate=5/s"]
    for command in ("select", "report"):
        assert "hint: --output 300" in refused(command, *line, "--hardware", "h100")


def test_measured_servers_below_the_prediction_are_told():
    """Of each generation once, beside what else nobody measured."""
    case = {"prompt": 2000, "output": 300, "arrival_rate": 20, "targets": {"itl": "50 ms"}}
    found = recommend(Study("llama-3.1-8b", ["mi300x", "h100-sxm"], **case))
    (told,) = (line for line in not_measured(found.best) if "two thirds" in line)
    assert told.startswith("MI300X: measured servers")
