"""The live page in a real browser: its numbers are Python's, its texts those of the review, and nothing of a stranger's runs."""

import html
import json
import math
import random
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from symroof.analysis.compile import compile
from symroof.analysis.solve import solve
from symroof.analysis.solved_equation import to_whole
from symroof.analysis.verdict import overloaded
from symroof.api import Study
from symroof.cases.bind_cases import variant
from symroof.report.environment import environment
from symroof.report.live.page import content_hash, json_for_script, live
from symroof.report.live.settings import settings
from symroof.report.view_decision import key_numbers
from symroof.report.view_verdict import state, verdict
from symroof.specs.efficiencies import shipped_efficiencies
from symroof.symbolic.evaluation import NoValue
from symroof.units import format_quantity
from tests.cli import study_text

from . import call

pytestmark = pytest.mark.full

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
SECTION = """<% import "verdict.j2" as said with context %><h2 id="heading">As studied</h2><p id="live-verdict"></p><span id="live-limits"></span>
<div id="live-numbers"><table><thead><tr></tr></thead><tbody></tbody></table></div>
<% include "live/section.html" %><% include "live/results.html" %><% include "live/scripts.html" %>"""
INPUTS = ("batch", "prompt", "output", "tp", "mfu", "mbu")
ASKED = (
    "memory_bytes", "usable_memory", "concurrency", "loaded_ttft", "sustained_itl",
    "sustained_throughput", "cost_per_mtok", "effective_ridge",
)  # fmt: skip
ALONE = (
    "memory_bytes", "ttft", "itl_last", "response_time", "decode_throughput", "decode_intensity",
)  # fmt: skip
SEARCHED = (
    "memory_bytes", "disaggregated_batch", "steady_batch", "loaded_ttft", "sustained_itl", "load",
)  # fmt: skip
POINTS, KEYS, EXACT, SOLVED = 1000, 8, 2, 4
HOSTILE = "</script><script>document.body.dataset.hit=1</script><img src=x onerror='document.body.dataset.hit=1'>{case}"
UNITS = ["memory_bytes", "sustained_itl", "sustained_throughput", "cost_per_mtok"]
MOVED = [
    {},
    {"batch": 512},
    {"prompt": 8000, "batch": 32, "tp": 1},
    {"batch": 1, "prompt": 64, "tp": 4},
    {"mfu": 0.4, "mbu": 0.9, "batch": 48},
    {"mfu": 0.15, "batch": 8},
]
RATES = [
    {"batch": 64, "arrival_rate": 1.5, "dp": 2},
    {"batch": 16, "arrival_rate": 9, "dp": 1},
    {"batch": 16, "arrival_rate": 200, "dp": 3, "prompt": 4000},
]
"""With an arrival rate, which the study has none of: kept up with, about full, and overloaded."""
ADDRESSES = [
    "#batch=512",
    "#tp=4&prompt=64&batch=1",
    "#batch=64&arrival_rate=1.5&dp=2",
    "#batch=32&nosuch=4&mfu=0.4&mbu=0.9",
]
REFUSED = {
    "#batch=abc": "batch",
    "#batch=99999": "batch",
    "#batch=2.5&prompt=64": "batch",
    "#arrival_rate=x": "arrival_rate",
    "#mfu=1.5": "mfu",
    "#tp=3": "tp",
    "#device=nosuch": "device",
}
"""Addresses with a value that no page takes, and the control that says so."""
SLID = [("batch", 0), ("batch", 200), ("mfu", 0), ("arrival_rate", 200)]
SENTENCES = {
    "does_not_fit": "does not fit: it needs",
    "missed": "fits, but misses its target on",
    "partly": "fits, and meets its target on",
    "met": "fits and meets its targets",
}
NEAR = 1e-3
"""How far a range at the corners may be off where a quantity does not move one way with an efficiency: Python searches inside, a page does not."""
DRIVER = """
const form = document.getElementById("live-form"), shown = () => {
  const rows = [...document.querySelectorAll("#live-numbers tbody tr")].map(row => [...row.cells].map(cell => cell.textContent));
  return [document.getElementById("live-verdict").textContent, document.getElementById("live-limits").textContent, rows, document.querySelectorAll("#live-thresholds tbody tr").length];
};
const enter = (field, value) => { field.value = value; field.dispatchEvent(new Event("input", {bubbles: true})); symroof.update(); };
const texts = moves => { for (const [name, value] of Object.entries(moves)) enter(form.elements[name], value); return shown(); };
const slide = ([name, place]) => { enter(document.querySelector(`[data-for=${name}]`), place); return [form.elements[name].value, symroof.state(), ...shown()]; };
const plain = x => typeof x === "number" && !Number.isFinite(x) ? null : x;
document.getElementById("out").textContent = JSON.stringify({
  values: asked.values.map(([key, points, names]) => points.map(point => symroof.values(key, point, names).map(plain))),
  tables: asked.tables.map(([key, points, names]) => points.map(point => symroof.table(key, point, names).map(row => row.map(plain)))),
  solved: asked.solved.map(([key, point]) => symroof.thresholds(key, point)),
  texts: asked.moved.map(moves => { form.reset(); symroof.update(); return texts(moves); }),
  restored: asked.restored.map(text => { symroof.restore(text); return [symroof.state(), document.getElementById("heading").textContent, ...shown()]; }),
  refused: asked.refused.map(([text, name]) => {
    symroof.restore("");
    const studied = shown();
    symroof.restore("#batch=512");
    const before = [document.getElementById("heading").textContent, ...shown()];
    enter(form.elements.batch, "");
    const cleared = [document.getElementById("heading").textContent, ...shown()], said = document.getElementById("live-fault-batch").textContent;
    enter(form.elements.batch, "512");
    const again = document.getElementById("live-fault-batch").hidden;
    symroof.restore(text);
    return {studied, before, cleared, said, again, heading: document.getElementById("heading").textContent, shown: shown(), fault: document.getElementById(`live-fault-${name}`).textContent,
      faults: [...document.querySelectorAll("#live-form small")].filter(each => !each.hidden).length, refused: !document.getElementById("live-refused").hidden};
  }),
  slid: asked.slid.map(move => { symroof.restore(""); return slide(move); }),
  shown: asked.shown.map(([name, value]) => symroof.shown(name, value, 4)),
  images: document.images.length, hit: document.body.dataset.hit ?? null,
});
"""


def browse(folder, text, address=""):
    """The page after its scripts have run."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={folder / 'profile'}",
    ]
    return subprocess.run(
        [BROWSER, *quiet, "--dump-dom", file.as_uri() + address],
        capture_output=True,
        timeout=100,
        check=True,
    ).stdout.decode("utf-8")


def driven(folder, made, **asked):
    """What the live part of a page answers to a driver behind it."""
    section = environment().from_string(SECTION).render(live=made, format_name="html")
    nothing = {
        "values": [],
        "tables": [],
        "solved": [],
        "moved": [],
        "shown": [],
        "restored": [],
        "refused": [],
        "slid": [],
    }
    text = f"<!doctype html><meta charset=utf-8><body>{section}<pre id=out></pre><script>const asked={json_for_script(nothing | asked)};{DRIVER}</script>"
    return json.loads(
        html.unescape(re.search(r'<pre id="out">(.+?)</pre>', browse(folder, text), re.DOTALL)[1])
    )


def point(rng):
    """A random setting: whole numbers over orders of magnitude, efficiencies with two digits."""
    whole = {
        name: round(math.exp(rng.uniform(math.log(low), math.log(high))))
        for name, low, high in (("batch", 1, 512), ("prompt", 16, 8192), ("output", 2, 512))
    }
    return {
        **whole,
        "tp": rng.choice([1, 2, 4, 8, 16]),
        "mfu": rng.randrange(20, 101) / 100,
        "mbu": rng.randrange(20, 101) / 100,
    }


def case_at(setting, where):
    """The setting bound as any other case, exactly."""
    return variant(
        setting.bound_case, **{name: Fraction(str(value)) for name, value in where.items()}
    )


def unset(own):
    """Two points, with all efficiencies as evidence has them and with those of compute and memory set."""
    return [{name: value for name, value in own[0].items() if name not in ("mfu", "mbu")}, own[1]]


def differ(value, right, near=1e-12):
    return (value is None) != math.isnan(right) or (
        value is not None and abs(value - right) > near * abs(right)
    )


@pytest.fixture(scope="module")
def chat():
    """Half of what it may be moved to does not fit, or misses a target."""
    return Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=2048,
        output=256,
        batch=16,
        tp=2,
        efficiency="measured",
        weights="fp16",
        kv="fp16",
        price="2.5 USD/hour",
        targets={"ttft": "200 ms", "itl": "15 ms"},
    )


@pytest.fixture(scope="module")
def made(chat):
    return live(chat, chat.first)


@pytest.fixture(scope="module")
def points(chat):
    rng = random.Random(20)
    return [
        (setting, [point(rng) for _ in range(POINTS // KEYS)])
        for setting in rng.sample(settings(chat, chat.first), KEYS)
    ]


@pytest.fixture(scope="module")
def numbers():
    rng = random.Random(3)
    return [
        (
            name,
            float(
                f"{rng.choice((rng.random(), round(rng.random(), 2), 1.0))}e{rng.randrange(-9, 16)}"
            ),
        )
        for name in UNITS
        for _ in range(50)
    ]


@pytest.fixture(scope="module")
def browsed(made, points, numbers, tmp_path_factory):
    solved = [(setting.key, own[0]) for setting, own in points[:SOLVED]]
    values = [(setting.key, own, ASKED) for setting, own in points]
    tables = [(setting.key, unset(own), ASKED) for setting, own in points]
    return driven(
        tmp_path_factory.mktemp("live"),
        made,
        values=values,
        tables=tables,
        solved=solved,
        moved=MOVED + RATES,
        shown=numbers,
        restored=ADDRESSES,
        refused=list(REFUSED.items()),
        slid=SLID,
    )


@needs_browser
def test_a_thousand_random_settings_agree_with_numpy_functions(points, browsed):
    """They come by another way through the formulas: polynomials, and sums in closed form. A message takes as long as evidence says of a group so large.

    Differences of large numbers leave a few more digits off in floats.
    """
    off = []
    latency = {
        group: float(
            shipped_efficiencies().chosen("link_latency", group, "compiled")[0].value.value
        )
        for group in ("pair", "group")
    }
    for (setting, own), rows in zip(points, browsed["values"], strict=True):
        function = compile(ASKED, [*INPUTS, "link_latency"], setting.bound_case)
        messages = np.array([latency["pair" if where["tp"] <= 2 else "group"] for where in own])
        columns = function(
            *(np.array([float(where[name]) for where in own]) for name in INPUTS), messages
        )
        expected = np.broadcast_arrays(*columns)
        for i, (where, row) in enumerate(zip(own, rows, strict=True)):
            off += [
                (setting.key, where, name, row[j], expected[j][i])
                for j, name in enumerate(ASKED)
                if differ(row[j], expected[j][i], 1e-11)
            ]
    assert off == []
    assert sum(len(rows) for rows in browsed["values"]) == POINTS


@needs_browser
def test_settings_agree_with_exact_cases(points, browsed):
    """Each a case of its own, with its number of devices in its formulas."""
    off = []
    for (setting, own), rows in zip(points, browsed["values"], strict=True):
        for where, row in zip(own[:EXACT], rows[:EXACT], strict=True):
            case = case_at(setting, where)
            off += [
                (setting.key, where, name, value)
                for name, value in zip(ASKED, row, strict=True)
                if differ(value, float(case.case.value(name)))
            ]
    assert off == []


@needs_browser
def test_thresholds_agree_with_the_solver(points, browsed):
    """Which closed form holds is decided on the page; the solver walks the axis with the numbers."""
    for (setting, own), answers in zip(points, browsed["solved"], strict=False):
        case = case_at(setting, own[0])
        assert len(answers) > 15
        for name, value in answers:
            solution = solve(name, case)
            if (
                solution.unknown == "output" and value is not None
            ):  # between whole numbers a response has no steps to sum
                value = float(to_whole(Fraction(value), solution.kind))
                assert value == to_whole(solution.value, solution.kind), (setting.key, own[0], name)
                continue
            assert not differ(
                value, math.nan if solution.value is None else float(solution.value)
            ), (setting.key, own[0], name, value, solution.value)


@needs_browser
def test_ranges_and_bounds_agree_with_exact_cases(points, browsed):
    """Over every efficiency that has evidence, and over those of overheads and links alone where the reader has set the others."""
    off, ranged, bounded, searched = [], 0, 0, 0
    for (setting, own), tables in zip(points, browsed["tables"], strict=True):
        for where, table in zip(unset(own), tables, strict=True):
            answers = case_at(setting, where)
            for name, (_, low, high, bound) in zip(ASKED, table, strict=True):
                result, roof = answers.result(name), answers.peak_bound(name)
                expected = [
                    result.low if result.ranged else result.value,
                    result.high if result.ranged else result.value,
                ]
                one_way = result.found != "grid" and not any(
                    axis.joint for axis in answers.ranges.axes
                )  # of many measured ranges Python looks at their common ends
                pairs = list(zip((low, high), map(float, expected), strict=True))
                pairs = (
                    pairs if not result.without_range else []
                )  # a search inside took too long; the page has the corners
                off += [
                    (setting.key, where, name, *pair)
                    for pair in pairs
                    if (differ(*pair) if one_way else abs(pair[0] / pair[1] - 1) > NEAR)
                ]
                searched += result.found == "grid"
                off += (
                    [(setting.key, where, name, bound, roof.value)]
                    if roof and differ(bound, float(roof.value))
                    else []
                )
                ranged, bounded = ranged + result.ranged, bounded + (roof is not None)
    assert off == []
    assert min(ranged, bounded) > 4 * KEYS
    assert searched < KEYS


@needs_browser
def test_texts_are_those_of_a_review(chat, browsed):
    """The whole table of key numbers, with ranges, bounds and slack; the sentences for what limits it and for what it amounts to."""
    seen = set()
    for moves, (sentence, limits, rows, thresholds) in zip(MOVED, browsed["texts"], strict=False):
        answers = variant(chat.first, **moves)
        assert rows == key_numbers(answers)
        assert all(bound for name, _, bound, *_ in rows if "TTFT" in name or "ITL" in name)
        assert (
            SENTENCES[state(answers)] in sentence and f"batch {moves.get('batch', 16)}" in sentence
        )
        view = verdict(chat, answers)
        for target in view["targets"]:
            assert (
                target["state"] != "missed"
                or state(answers) == "does_not_fit"
                or f"{target['value']} against {target['limit']}" in sentence
            )
        assert f"({view['prefill_intensity']}), decode" in limits and limits.endswith(
            f"balance at {view['ridge']}."
        )
        assert thresholds > 15
        seen.add(state(answers))
    assert seen == set(SENTENCES) - {
        "partly"
    }  # the study gives its efficiencies, so that nothing is a range


@needs_browser
def test_an_arrival_rate_and_replicas_give_the_numbers_of_a_study_with_them(chat, browsed):
    """The wait for a first token, the load, the cost at the rate and the price of all replicas, each to the last digit that a review prints."""
    states = []
    for moves, (sentence, _, rows, _) in zip(RATES, browsed["texts"][len(MOVED) :], strict=True):
        answers = variant(
            chat.first, **{name: Fraction(str(value)) for name, value in moves.items()}
        )
        assert rows == key_numbers(answers), moves
        states.append(state(answers))
        assert (
            SENTENCES[states[-1]] in sentence
            or "keeps up with the arriving requests in a part" in sentence
            or "does not keep up" in sentence
        )
        assert ("keep up" in sentence or "keeps up" in sentence) is bool(overloaded(answers))
    assert states == ["met", "partly", "missed"]
    named = [row[0] for row in browsed["texts"][len(MOVED)][2]]
    assert (
        "Memory, per replica" in named
        and "Price of the fleet" in named
        and "Load (arrivals over capacity)" in named
    )


@needs_browser
def test_an_address_gives_the_numbers_of_its_inputs(chat, browsed):
    """What it does not know is left out; without it the page is the study's again."""
    for address, (kept, heading, sentence, _, rows, _) in zip(
        ADDRESSES, browsed["restored"], strict=True
    ):
        given = dict(part.split("=") for part in address[1:].split("&") if "nosuch" not in part)
        assert dict(part.split("=") for part in kept.split("&")) == given
        answers = variant(chat.first, **{name: Fraction(value) for name, value in given.items()})
        assert rows == key_numbers(answers) and SENTENCES[state(answers)] in sentence
        assert heading == "With these inputs:"


@needs_browser
def test_what_is_refused_changes_nothing_and_says_so_under_its_field(browsed):
    for address, found in zip(REFUSED, browsed["refused"], strict=True):
        assert found["cleared"] == found["before"] and found["before"][0] == "With these inputs:"
        assert found["said"] == "not applied: a whole number from 1 to 4,096"
        assert found["again"]
        assert (found["heading"], found["shown"]) == ("As studied", found["studied"]), address
        assert found["fault"].startswith("not applied: "), address
        assert (found["faults"], found["refused"]) == (1, True), address


@needs_browser
def test_a_slider_moves_the_verdict(chat, browsed):
    """To its ends: one request, the most of a batch, the least MFU, and more requests a second than any server keeps up with."""
    for (name, _), (value, kept, _, _, rows, _) in zip(SLID, browsed["slid"], strict=True):
        assert kept == f"{name}={value}"
        answers = variant(chat.first, **{name: Fraction(value)})
        assert rows == key_numbers(answers), name
    assert [value for value, *_ in browsed["slid"]] == ["1", "4096", "0.01", "1000"]
    endings = [
        "meets its targets",
        "does not fit",
        "misses its target on time to first token",
        "does not keep up",
    ]
    assert all(ending in answer[2] for ending, answer in zip(endings, browsed["slid"], strict=True))


@needs_browser
def test_a_page_says_at_first_what_it_says_without_scripts(tmp_path):
    """The verdict, the numbers and what limits it; with an address, those of its inputs instead: one verdict."""
    study = tmp_path / "study.yaml"
    study.write_text(study_text(title="T", targets="{ttft: 200 ms, itl: 50 ms}"), encoding="utf-8")
    assert (
        call(
            "report",
            str(study),
            "-o",
            str(tmp_path),
            "--format",
            "html",
            "--sections",
            "verdict",
            "--no-plots",
        ).code
        == 0
    )
    text = (tmp_path / "study.html").read_text(encoding="utf-8")
    place = re.compile(r'id="(heading|live-verdict|live-limits)"[^>]*>([^<]*)<')
    before, after = (dict(place.findall(page)) for page in (text, browse(tmp_path, text)))
    assert {name: html.unescape(words).strip() for name, words in after.items()} == {
        name: html.unescape(words).strip() for name, words in before.items()
    }
    cells = [
        re.findall(
            r"<t[dh][^>]*>(.*?)</t[dh]>",
            re.search(r'<div id="live-numbers">.*?</div>', page, re.DOTALL)[0],
        )
        for page in (text, browse(tmp_path, text))
    ]
    assert len(cells[0]) > 20 and cells[0] == cells[1]
    moved = dict(place.findall(browse(tmp_path, text, "#batch=4096")))
    assert moved["heading"] == "With these inputs:" and "does not fit" in moved["live-verdict"]


@needs_browser
def test_numbers_are_written_as_in_python(chat, numbers, browsed):
    for (name, value), written in zip(numbers, browsed["shown"], strict=True):
        symbol = chat.first.case.theory.symbol(name)
        assert written == format_quantity(
            Fraction(repr(value)), symbol.unit, min(4, symbol.digits or 4)
        )


@needs_browser
def test_searched_quantities_agree(tmp_path):
    """Fixed points and largest batches: requests that decode behind a slower prefill, and at an arrival rate; of experts, windows and a checkpoint in 4 bits."""
    study = Study(
        "gpt-oss-20b", "h100-sxm", prompt=2048, output=64, batch=64, prefill_devices=1, arrival_rate="2 request/s", assume={"scheduling": "disaggregated"},
        targets={"ttft": "2 s", "itl": "20 ms"},
    )  # fmt: skip
    rng, own = random.Random(4), settings(study, study.first)[0]
    arrivals = {"arrival_rate": 2, "dp": 1}
    where = [
        arrivals
        | {
            "batch": rng.randrange(1, 400),
            "prompt": rng.randrange(64, 8000),
            "output": rng.randrange(3, 300),
            "tp": 1,
        }
        for _ in range(6)
    ]
    (rows,) = driven(tmp_path, live(study, study.first), values=[(own.key, where, SEARCHED)])[
        "values"
    ]
    valued = 0
    for each, row in zip(where, rows, strict=True):
        case = case_at(own, each).case
        for name, value in zip(SEARCHED, row, strict=True):
            try:
                expected = float(case.value(name))
            except NoValue:
                expected = math.nan
            assert not differ(value, expected), (each, name, value, expected)
            valued += value is not None
    assert valued > 12


@needs_browser
def test_the_page_runs_its_own_script_alone(tmp_path):
    """Under its security policy; untrusted text stays text."""
    study = tmp_path / "study.yaml"
    study.write_text(
        study_text(title=json.dumps(HOSTILE), targets="{ttft: 200 ms}"), encoding="utf-8"
    )
    done = call(
        "report",
        str(study),
        "-o",
        str(tmp_path),
        "--format",
        "html",
        "--sections",
        "verdict",
        "--no-plots",
    )
    assert done.code == 0
    text = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 500_000
    *_, code = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert f"script-src '{content_hash(code)}'" in text and "http:" not in code.replace(
        "http://www.w3.org", ""
    )
    after = browse(
        tmp_path, text.replace("</body>", "<script>document.body.dataset.hit=1</script></body>")
    )
    assert "data-hit" not in after and "<img" not in after
    assert re.search(r'id="live-verdict"[^>]*>[^<]*(does not fit|misses|meets)', after)


@needs_browser
def test_one_request_alone_and_names_of_strangers_that_are_texts(chat, tmp_path):
    """The metrics of a study whose targets are held against one request; and no title of a spec becomes markup."""
    study = Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=2048,
        output=64,
        mfu="0.4..0.6",
        assume={"targets_under": "isolated"},
        targets={"itl": "5 ms"},
    )
    made = live(study, study.first)
    data = made["data"] | {
        "model": HOSTILE,
        "devices": dict.fromkeys(made["data"]["devices"], HOSTILE),
    }
    own, where = (
        settings(study, study.first)[0],
        [
            {"batch": 3, "prompt": 700, "output": 9, "tp": 1},
            {"batch": 90, "prompt": 7000, "output": 40, "tp": 2, "mbu": 0.7},
        ],
    )
    answered = driven(
        tmp_path,
        made | {"data": data, "json": json_for_script(data)},
        moved=[{}],
        tables=[(own.key, where, ALONE)],
    )
    assert (answered["images"], answered["hit"]) == (0, None)
    sentence, _, rows, _ = answered["texts"][0]
    assert HOSTILE in sentence
    assert rows == key_numbers(study.first)
    for each, table in zip(where, answered["tables"][0], strict=True):
        case = case_at(own, each)
        for name, (value, low, high, bound) in zip(ALONE, table, strict=True):
            result, roof = case.result(name), case.peak_bound(name)
            assert not differ(value, float(result.value)), (each, name)
            assert not result.ranged or not (
                differ(low, float(result.low)) or differ(high, float(result.high))
            ), (each, name)
            assert roof is None or not differ(bound, float(roof.value)), (each, name)


@needs_browser
def test_a_cache_per_token_of_a_preset_is_that_of_the_page(tmp_path):
    """Split over devices it would be that of the model's heads, so that the page offers no other number of devices."""
    study = Study(
        "llama-3-8b", "h100-sxm", prompt=4096, preset="tutorial-mlsysim", targets={"itl": "50 ms"}
    )
    made = live(study, study.first)
    assert "tp" not in [control["name"] for control in made["controls"]]
    own, where = (
        settings(study, study.first)[0],
        [{"batch": 1, "prompt": 4096}, {"batch": 7, "prompt": 900}],
    )
    (rows,) = driven(
        tmp_path, made, values=[(own.key, where, ("memory_bytes", "itl_last", "concurrency"))]
    )["values"]
    for each, row in zip(where, rows, strict=True):
        case = case_at(own, each).case
        assert not any(
            differ(value, float(case.value(name)))
            for name, value in zip(("memory_bytes", "itl_last", "concurrency"), row, strict=True)
        )


def test_a_case_without_a_device_has_no_live_page():
    study = Study("llama-3-8b", prompt=128, mem_bandwidth="1 TB/s", peak_flops="100 TFLOP/s")
    assert live(study, study.first) is None
