"""The sliders of an HTML review: the numbers are those of ``eval``, the first those of page one, and no text of strangers becomes markup."""

import html
import itertools
import json
import math
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
from symroof.symbolic.kernels import nearly_equal
from tests.cli import study_text

from . import call

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
NEAR = 5e-4
"""Numbers of four digits."""
HOSTILE = "</script><script>document.body.dataset.hit=1</script><img src=x onerror='document.body.dataset.hit=1'>"
STUDIES = {
    "measured": {"targets": {"ttft": "200 ms", "itl": "15 ms", "cost": "1 USD"}},
    "at a rate": {"arrival_rate": "4 request/s", "dp": 2, "targets": {"ttft": "1 s"}},
    "ranged": {"mfu": "0.4..0.6", "efficiency": "peak", "targets": {"itl": "12 ms"}},
    "alone": {"assume": {"targets_under": "isolated"}, "targets": {"itl": "12 ms"}},
}
QUANTITIES = {
    "Memory": "memory_bytes",
    "TTFT under load": "loaded_ttft",
    "Time to first token (TTFT)": "ttft",
    "Inter-token latency (ITL), last step": "itl_last",
    "Cost per million output tokens at full load": "cost_per_mtok",
    "Load (arrivals over capacity)": "load",
}
SIZES = {"ms": 1e-3, "s": 1, "GB": 1e9, "USD": 1, "": 1}
MOVES = """
const slider = document.getElementById("live-slider-batch"), typed = document.getElementById("live-batch");
const told = () => [document.getElementById("live-says").textContent, document.getElementById("live-rows").rows[0].textContent,
  typed.value, slider.value, typed.getAttribute("aria-invalid"), document.getElementById("live-fault-batch").textContent];
const type = text => { typed.value = text; typed.dispatchEvent(new Event("change")); return told(); };
const all = [told()];
slider.value = 0; slider.dispatchEvent(new Event("input")); all.push(told());
for (const text of ["99999", "many", "2.5", "", "17", "2"]) all.push(type(text));
document.getElementById("live-form").reset(); all.push(told());
document.body.append(Object.assign(document.createElement("pre"), {id: "out", textContent: JSON.stringify(all)}));
"""


def study_of(name):
    return Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=2048,
        output=256,
        batch=16,
        price="2.5 USD/hour",
        **STUDIES[name],
    )


def at(row, stops, places):
    """The value, the ends and the sign of a row at one stop of each slider."""
    width = len(stops[1]) if row["along"][1] else 1
    place = (places[0] * width if row["along"][0] else 0) + (places[1] if row["along"][1] else 0)
    ends = [row[key][place] if key in row else None for key in ("value", "low", "high")]
    return ends, row.get("marks", "")[places[0] * len(stops[1]) + places[1] :][:1]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", STUDIES)
def test_numbers_are_those_of_eval(name):
    """At ends and in the middle of the grid, with the ends of their ranges and the verdicts on them."""
    study, compared = study_of(name), 0
    (case,) = json.loads(live([study.first])["json"])["cases"]
    inputs = ("batch", "arrival_rate" if "rate" in name else "prompt")
    middles = [sorted({0, len(stops) // 2, len(stops) - 1}) for stops in case["stops"]]
    for places in itertools.product(*middles):
        point = {n: Fraction(str(case["stops"][i][places[i]])) for i, n in enumerate(inputs)}
        there = variant(study.first, **point)
        marks = {
            check.metric.name: {True: "✓", None: "~", False: "✗"}[check.met]
            for check in target_checks(there)
        }
        for row in case["rows"]:
            label = row["label"].removesuffix(", per replica")
            if label not in QUANTITIES:
                continue
            (value, low, high), sign = at(row, case["stops"], places)
            result = there.get(QUANTITIES[label])
            if result is None:
                assert value is None and sign == "✗"
                continue
            size = SIZES[row["unit"]]
            own = [result.value, result.low, result.high]
            for shown, right in zip((value, low, high), own, strict=True):
                if shown is not None and right is not None:
                    assert math.isclose(shown * size, right, rel_tol=NEAR), (label, places)
                    compared += 1
            if result.ranged and not result.without_range:
                assert low is not None and high is not None
            if "target" in row and label != "Memory":
                assert sign == marks[QUANTITIES[label]], (label, places)
            if label == "Memory":
                assert sign == ("✗" if there.never_fits else "~" if there.does_not_fit else "✓")
    assert compared > 40


def test_the_first_case_is_what_was_recommended_then_the_best_of_other_devices():
    review = reviewed(
        Study("llama-3-8b", ["h100-sxm", "l40s"], prompt=1024, output=256, targets={"itl": "50 ms"})
    )
    made = live([one.case for one in review.shown.best])
    data = json.loads(made["json"])
    assert len(data["cases"]) == len(review.found.best) == 2
    first = data["cases"][0]
    assert first["stops"][0][first["start"][0]] == review.pick.batch
    assert nearly_equal(first["stops"][1][first["start"][1]], 1024)


def test_a_case_without_a_device_or_with_a_range_as_its_batch_has_no_sliders():
    bare = Study("llama-3-8b", prompt=128, mem_bandwidth="1 TB/s", peak_flops="100 TFLOP/s")
    assert live([bare.first]) is None
    ranged = Study("llama-3-8b", "h100-sxm", prompt=128, output=16, batch="1..8")
    assert live([ranged.first]) is None


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
    assert code.count("\n") <= 150
    assert "<img src=x" not in text


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_slider_moves_and_what_is_refused_changes_nothing(page):
    folder, text = page
    text = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", text)
    file = folder / "driven.html"
    file.write_text(text.replace("</body>", f"<script>{MOVES}</script></body>"), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, timeout=100, check=True).stdout.decode()
    assert "data-hit" not in shown
    found = re.search(r'<pre id="out">(.+?)</pre>', shown, re.DOTALL)[1]
    first, moved, *refused, between, exact, reset = json.loads(html.unescape(found))
    assert first[0].startswith("batch size 2 requests, prompt length ")
    assert first[0].endswith("Fits; meets every target.")
    assert moved[0].startswith("batch size 1 request") and moved[1] != first[1]
    for told, text in zip(refused, ("99999", "many", "2.5", ""), strict=True):
        assert told[:2] == moved[:2] and told[2] == text and told[3] == "0"
        assert told[4] == "true" and re.fullmatch(
            r"Not applied: give a whole number from 1 to [\d,]+\.", told[5]
        )
    assert (
        between[0].startswith("batch size 16 ")
        and between[5] == "The computed point nearest to 17."
    )
    assert exact[:5] == first[:5] and exact[5] == ""
    assert reset == first
