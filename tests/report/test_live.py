"""The sliders of an HTML review: the texts are those of ``eval``, the first those of page one, and no text of strangers becomes markup."""

import html
import itertools
import json
import re
import shutil
import subprocess
from fractions import Fraction

import pytest

from symroof.analysis.verdict import target_checks
from symroof.api import Study
from symroof.cases.bind_cases import variant
from symroof.report.live import content_hash, live
from symroof.report.recommendation import reviewed
from symroof.report.review_sections import NO_STEADY_STATE
from symroof.table_formats import FAILS, IN_PART, PASSES
from tests.cli import study_text

from . import call

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
HOSTILE = "</script><script>document.body.dataset.hit=1</script><img src=x onerror='document.body.dataset.hit=1'>"
MARKS = {True: PASSES, None: IN_PART, False: FAILS}
STUDIES = {
    "measured": {"targets": {"ttft": "200 ms", "itl": "15 ms", "cost": "1 USD"}},
    "at a rate": {"arrival_rate": "4 request/s", "dp": 2, "targets": {"ttft": "1 s"}},
    "ranged": {"mfu": "0.4..0.6", "efficiency": "peak", "targets": {"itl": "12 ms"}},
    "alone": {"assume": {"targets_under": "isolated"}, "targets": {"itl": "12 ms"}},
}
MOVES = """
const slider = document.getElementById("live-batch"), shown = document.getElementById("live-value-batch");
const told = () => [shown.textContent, document.getElementById("live-rows").rows[0].textContent, slider.value];
const all = [told()];
slider.value = 0; slider.dispatchEvent(new Event("input")); all.push(told());
document.getElementById("live-form").reset(); all.push(told());
document.body.append(Object.assign(document.createElement("pre"), {id: "out", textContent: JSON.stringify(all)}));
"""


def study_of(name):
    case = {"prompt": 2048, "output": 256, "batch": 16, "price": "2.5 USD/hour"}
    return Study("llama-3-8b", "h100-sxm", **case, **STUDIES[name])


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", STUDIES)
def test_texts_are_those_of_eval(name):
    """At ends and in the middle of the grid, with the ends of their ranges and the verdicts on them."""
    study = study_of(name)
    data = json.loads(live(study.first)["json"])
    stops = [[each.split()[0].replace(",", "") for each in x["stops"]] for x in data["inputs"]]
    for places in itertools.product(*({0, len(each) // 2, len(each) - 1} for each in stops)):
        point = {x["name"]: Fraction(stops[i][places[i]]) for i, x in enumerate(data["inputs"])}
        there = variant(study.first, point)
        at = places[0] * len(stops[1]) + places[1]
        marks = {check.metric.name: MARKS[check.met] for check in target_checks(there)}
        for row in data["rows"]:
            result, text = there.get(row["name"]), row["texts"][at]
            if result is None:
                assert text == NO_STEADY_STATE and row["marks"][at] == FAILS
            elif not result.without_range:
                assert text == result.plain(3), (row["name"], places)
            if row["name"] == "memory_bytes":
                fits = FAILS if there.never_fits else IN_PART if there.does_not_fit else PASSES
                assert row["marks"][at] == fits
            elif row["target"]:
                assert row["marks"][at] == marks.get(row["name"], FAILS), (row["name"], places)


def test_the_sliders_start_at_what_is_recommended():
    review = reviewed(
        Study("llama-3-8b", ["h100-sxm", "l40s"], prompt=1024, output=256, targets={"itl": "50 ms"})
    )
    data = json.loads(live(review.subject)["json"])
    first, second = (x["stops"][at] for x, at in zip(data["inputs"], data["start"], strict=True))
    assert first == f"{review.pick.batch:,} requests" and second == "1,024 tokens"


def test_a_case_without_a_device_or_with_a_range_as_its_batch_has_no_sliders():
    bare = Study("llama-3-8b", prompt=128, mem_bandwidth="1 TB/s", peak_flops="100 TFLOP/s")
    assert live(bare.first) is None
    ranged = Study("llama-3-8b", "h100-sxm", prompt=128, output=16, batch="1..8")
    assert live(ranged.first) is None


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The HTML review of a study with a hostile title."""
    folder = tmp_path_factory.mktemp("live")
    text = study_text(title=json.dumps(HOSTILE), targets="{ttft: 200 ms, itl: 50 ms}")
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    done = call("report", str(folder / "study.yaml"), "-o", str(folder), "--format", "html")
    assert done.code == 0, done.err
    return folder, (folder / "study.html").read_text(encoding="utf-8")


def test_a_page_is_small_and_runs_its_own_script_alone(page):
    """No network, nothing evaluated, and no title of a stranger as markup."""
    _, text = page
    assert len(text.encode()) < 200_000
    data, code = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert f"script-src '{content_hash(code)}'" in text and "default-src 'none'" in text
    assert "<" not in data and not re.search(r"\beval\b|Function\(|innerHTML|http", code)
    assert code.count("\n") <= 60
    assert "<img src=x" not in text


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_slider_moves_and_is_reset(page):
    folder, text = page
    text = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", text)
    file = folder / "driven.html"
    file.write_text(text.replace("</body>", f"<script>{MOVES}</script></body>"), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, timeout=100, check=True).stdout.decode()
    assert "data-hit" not in shown
    found = re.search(r'<pre id="out">(.+?)</pre>', shown, re.DOTALL)[1]
    first, moved, reset = json.loads(html.unescape(found))
    assert first[0] == "2 requests" and first[1].endswith("met")
    assert moved[0] == "1 request" and moved[1] != first[1]
    assert reset == first
