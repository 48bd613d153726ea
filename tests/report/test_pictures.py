"""The pictures: no word over another, numbers that hold when worked out anew, flags, and the same bytes every time."""

import math
import re
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from symroof.api import Study
from symroof.drawing.canvas import Polyline
from symroof.errors import InputError
from symroof.report.pictures import itl as itl_picture
from symroof.report.pictures import ttft as ttft_picture
from symroof.report.pictures.curves import (
    cases_at,
    log_spaced,
    memory_limit,
    solve_limit,
    values_along,
)
from symroof.report.pictures.picture_kinds import ENDINGS, KINDS, of_review, picture
from symroof.report.pictures.tornado import swings
from symroof.report.recommendation import subject_of
from symroof.specs.catalogue import find
from tests.cli import study_text

from ..near import near
from . import ROOT, STEMS, call, parsed_html

LINES = {
    "experts": {"model": "mixtral-8x7b", "hardware": "h100-sxm", "engine": "ideal", "tp": 8, "prompt": 2048, "output": 256, "batch": 64, "mfu": "0.5..0.7", "mbu": "0.6..0.9", "targets": {"itl": "40 ms", "ttft": "500 ms"}},
    "too large": {"model": "llama-3.1-405b", "hardware": "h100-sxm", "engine": "ideal", "prompt": 4096, "output": 512, "batch": 8, "targets": {"itl": "50 ms", "ttft": "1 s"}},
    "tiny": {"model": "smollm2-135m", "hardware": "h200", "engine": "ideal", "prompt": 16, "output": 8, "batch": 1, "step_overhead": "500 us"},
    "windows": {"model": "gemma-2-9b", "hardware": "h100-sxm", "engine": "ideal", "prompt": 8192, "output": 512, "batch": 16, "mfu": "0.5..0.7", "targets": {"itl": "80 ms"}},
    "latent": {"model": "deepseek-v2-lite", "hardware": "a100-80gb-sxm", "engine": "ideal", "prompt": 4096, "output": 512, "batch": 32, "targets": {"itl": "40 ms", "ttft": "1 s"}},
    "states": {"model": "falcon-mamba-7b", "hardware": "a10", "engine": "ideal", "prompt": 1024, "output": 128, "batch": 4, "targets": {"itl": "40 ms"}},
    "twelve": {"model": "llama-3.1-70b", "hardware": ["h100-sxm", "h200", "a100-80gb-sxm"], "tp": [2, 4], "weights": ["fp16", "fp8"], "prompt": 4096, "output": 512, "batch": 16, "targets": {"itl": "30 ms", "ttft": "1 s"}},
    "thirty": {"model": ["llama-3-8b", "qwen2.5-7b"], "hardware": ["l4", "a10", "l40s"], "prompt": 1024, "output": 128, "batch": [1, 8, 16, 32, 64], "targets": {"itl": "40 ms"}},
    "one step": {"model": "llama-3-8b", "hardware": "a10", "engine": "ideal", "context": 4096, "batch": 4, "targets": {"itl": "60 ms"}},
    "short of memory": {"model": "llama-3-70b", "hardware": "h100-sxm", "engine": "ideal", "mem_capacity": "80 GB", "tp": 2, "prompt": 4096, "output": 512, "batch": 32, "mfu": 0.6, "mbu": 0.8, "targets": {"ttft": "250 ms", "itl": "50 ms"}},
    "numbers": {"params": 70e9, "n_layers": 80, "n_kv_heads": 8, "head_dim": 128, "weight_bytes_per_param": 2, "kv_bytes_per_element": 2, "act_bytes_per_element": 2, "hardware": "h100-sxm", "engine": "ideal", "mem_capacity": "200 GB", "prompt": 100, "batch": 3, "assume": {"detail": "kv"}},
}  # fmt: skip
NOTHING = {("states", "itl"), ("too large", "pareto"), ("one step", "ttft")}
"""What there is nothing to draw for: no context moves a recurrent model's step, nothing fits, and without a prompt there is no first token."""
PAIRS = [(label, kind) for label in (*STEMS, *LINES) for kind in KINDS]


@lru_cache(maxsize=64)
def study(label):
    return (
        Study(**LINES[label])
        if label in LINES
        else Study.load(ROOT / "specs" / "studies" / f"{label}.yaml")
    )


@lru_cache(maxsize=256)
def drawn(label, kind):
    return picture(kind, study(label), subject_of(study(label)))


@pytest.mark.parametrize(("label", "kind"), sorted(NOTHING))
def test_what_cannot_be_drawn_says_why(label, kind):
    with pytest.raises(InputError, match=r"nothing to draw: \w+"):
        drawn(label, kind)


# --------------------------------------------------------------------------------------------------------- words


@pytest.mark.sample(5)
@pytest.mark.parametrize(("label", "kind"), [pair for pair in PAIRS if pair not in NOTHING])
def test_no_word_touches_another_or_leaves_the_page(label, kind):
    canvas = drawn(label, kind).canvas
    assert len(canvas.labels) > 8
    for a, b in combinations(canvas.labels, 2):
        apart = (
            a.box[0] >= b.box[2]
            or b.box[0] >= a.box[2]
            or a.box[1] >= b.box[3]
            or b.box[1] >= a.box[3]
        )
        assert apart, (a.text, b.text)
    for words in canvas.labels:
        assert words.box[0] >= 0, words.text
        assert words.box[1] >= -canvas.below, words.text
        assert words.box[2] <= canvas.width, words.text
        assert words.box[3] <= canvas.height, words.text


@pytest.mark.sample(7)
@pytest.mark.parametrize(("label", "kind"), [pair for pair in PAIRS if pair not in NOTHING])
def test_a_picture_is_well_formed_and_says_what_it_shows(label, kind):
    made = drawn(label, kind)
    root = ElementTree.fromstring(made.form("svg"))
    assert root.get("role") == "img"
    assert [node.text for node in root if node.tag.endswith("}desc")] == [made.alt]
    assert made.shows.endswith(".")
    assert made.says.endswith(".")
    assert not re.search(r"\b(nan|inf)\b", made.form("svg").decode())
    assert made.form("pdf").startswith(b"%PDF")


def test_every_kind_is_drawn_for_most_of_these():
    for kind in KINDS:
        assert sum((label, kind) not in NOTHING for label in LINES) >= len(LINES) - 1


@pytest.mark.full
@pytest.mark.parametrize("label", ["llama-3-70b-chat", "too large", "experts"])
def test_the_same_study_gives_the_same_bytes(label):
    anew = (
        Study(**LINES[label])
        if label in LINES
        else Study.load(ROOT / "specs" / "studies" / f"{label}.yaml")
    )
    for made in of_review(anew, subject_of(anew)):
        assert [made.form(ending) for ending in ("svg", "pdf")] == [
            drawn(label, made.name).form(ending) for ending in ("svg", "pdf")
        ]


@pytest.mark.full
def test_a_picture_as_png():
    assert {ending: drawn("tiny", "memory").form(ending)[:4] for ending in ENDINGS} == {
        "svg": b"<svg",
        "pdf": b"%PDF",
        "png": b"\x89PNG",
    }


def test_a_title_of_any_letters_is_drawn(tmp_path):
    text = find("models", "llama-3-8b", None).text.replace(
        "title: Llama 3 8B", 'title: "模型 <b>&amp;</b> (8B) \\\\ \\u0007"'
    )
    (tmp_path / "odd.yaml").write_text(text, encoding="utf-8")
    made = Study(str(tmp_path / "odd.yaml"), "h100-sxm", prompt=512, batch=4)
    assert ElementTree.fromstring(picture("roofline", made).form("svg")) is not None
    assert picture("roofline", made).form("pdf").count(b"stream") == 2


@pytest.mark.full
def test_signs_of_markup_in_a_title_leave_every_picture_of_a_page_whole(tmp_path):
    """A picture there is an address in an attribute: read as that, it is XML with the title in it."""
    text = find("models", "llama-3-8b", None).text.replace("Llama 3 8B", "AT&T <8B> model")
    (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
    study = tmp_path / "study.yaml"
    study.write_text(study_text(model="model.yaml", targets="{ttft: 200 ms}"), encoding="utf-8")
    outcome = call("report", study, "-o", tmp_path, "--format", "html")
    assert outcome.code == 0, outcome.err
    assert "AT&T <8B> model on" in outcome.out
    page = parsed_html((tmp_path / "study.html").read_text(encoding="utf-8"))
    pictures = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert pictures
    for address in pictures:
        svg = ElementTree.fromstring(unquote(address.partition(",")[2]))
        assert "AT&T <8B> model" in "".join(svg.itertext())


# ------------------------------------------------------------------------------------------------------- numbers


def at(label, **changes):
    """A quantity's case bound anew with other inputs."""
    chosen = {name: value for name, value in LINES[label].items() if name not in changes} | changes
    return Study(**{name: value for name, value in chosen.items() if value is not None}).first.case


def test_a_curve_is_what_the_study_says_at_each_point():
    points = [Fraction(n) for n in (64, 777, 4096)]
    values = values_along(cases_at(study("latent").first.case, "prompt", points), "ttft")
    assert values == [
        pytest.approx(float(at("latent", prompt=int(n)).value("ttft")), rel=1e-12) for n in points
    ]


def test_points_are_whole_but_for_what_was_solved():
    points = log_spaced(1, 1000, [17.25, 5000.0, math.inf])
    assert [p for p in points if p.denominator > 1] == [Fraction(17.25)]
    assert (points[0], points[-1]) == (1, 1000)
    assert points == sorted(set(points))


@pytest.mark.sample(2)
@pytest.mark.parametrize("label", ["experts", "windows", "latent"])
def test_the_batch_that_memory_holds_is_the_last_that_fits(label):
    sentence = drawn(label, "latency-throughput").says
    most = int(re.search(r"memory holds at most ([\d,]+) requests", sentence)[1].replace(",", ""))
    assert at(label, batch=most).value("fits")
    assert not at(label, batch=most + 1).value("fits")


@pytest.mark.parametrize("label", ["experts", "windows", "latent"])
def test_the_batch_that_the_target_allows_is_the_last_that_meets_it(label):
    sentence = drawn(label, "latency-throughput").says
    most = int(
        re.search(r"the target of [\d.]+ ms allows at most ([\d,]+) request", sentence)[1].replace(
            ",", ""
        )
    )
    goal = at(label).value("itl_target")
    assert (
        at(label, batch=most).value("sustained_itl")
        <= goal
        < at(label, batch=most + 1).value("sustained_itl")
    )


@pytest.mark.parametrize("label", ["experts", "latent"])
def test_the_prompt_that_the_target_allows_is_the_last_that_meets_it(label):
    sentence = drawn(label, "ttft").says
    most = int(
        re.search(r"the target of [\d.]+ m?s allows at most ([\d,]+) tokens", sentence)[1].replace(
            ",", ""
        )
    )
    goal = at(label).value("ttft_target")
    assert at(label, prompt=most).value("ttft") <= goal < at(label, prompt=most + 1).value("ttft")
    ridge = int(
        re.search(r"from ([\d,]+) tokens on compute takes longer", sentence)[1].replace(",", "")
    )
    for prompt, longer in ((ridge - 1, "prefill_memory_time"), (ridge, "prefill_compute_time")):
        case = at(label, prompt=prompt)
        assert case.value(longer) == max(
            case.value("prefill_memory_time"), case.value("prefill_compute_time")
        )


@pytest.mark.parametrize("label", ["windows", "latent"])
def test_the_context_at_which_the_cache_doubles_a_step(label):
    sentence = drawn(label, "itl").says
    most = int(
        re.search(r"beyond ([\d,]+) tokens a step takes more than twice", sentence)[1].replace(
            ",", ""
        )
    )
    alone = at(label, prompt=None, output=None, context=1).value("itl")
    assert (
        at(label, prompt=None, output=None, context=most).value("itl")
        <= 2 * alone
        < at(label, prompt=None, output=None, context=most + 1).value("itl")
    )


def test_what_the_cache_adds_is_the_difference_of_two_contexts():
    sentence = drawn("latent", "itl").says
    words = float(re.search(r"1,000 tokens more add ([\d.]+) µs", sentence)[1])
    added = at("latent", prompt=None, output=None, context=5000).value("itl") - at(
        "latent", prompt=None, output=None, context=4000
    ).value("itl")
    assert words == pytest.approx(float(added) * 1e6, rel=1e-3)


def test_swings_are_the_metrics_of_cases_with_the_low_and_the_high_value():
    """Whole counts go by whole steps; ranges to their ends; a share stays below one."""
    first = Study(**(LINES["latent"] | {"mfu": "0.5..0.7"}), chunk=2048).first
    by_name = {swing.name: swing for swing in swings(first)}
    ends = {
        "batch": (29, 35),
        "prompt": (3686, 4506),
        "mfu": (0.5, 0.7),
        "mbu": (0.9, 1),
        "mem_bandwidth": (1.8351e12, 2.2429e12),
    }
    for name, pair in ends.items():
        assert (float(by_name[name].low), float(by_name[name].high)) == pytest.approx(pair), name
        for place, value in enumerate(pair):
            unit = {"mem_bandwidth": f"{value / 1e9} GB/s"}.get(name, value)
            there = Study(**(LINES["latent"] | {"mfu": 0.6} | {name: unit}), chunk=2048).first.case
            for metric, values in by_name[name].ends.items():
                assert float(values[place]) == pytest.approx(
                    float(there.value(metric)), rel=1e-9
                ), (name, metric)
    base = {
        metric: float(first.case.value(metric))
        for metric in ("loaded_ttft", "sustained_itl", "cost_per_mtok")
    }
    moved = [
        max(
            abs(float(end) / base[metric] - 1)
            for metric, pair in swing.ends.items()
            for end in pair
        )
        for swing in by_name.values()
    ]
    assert moved == sorted(moved, reverse=True) and min(moved) >= 0.01
    assert first.case.theory.symbol("queue_time").name not in by_name


def test_the_swing_of_a_price_is_between_the_list_prices():
    first = Study("llama-3-8b", "h100-sxm", prompt=1024, output=256, batch=16).first
    price = next(swing for swing in swings(first) if swing.name == "price")
    assert (price.low, price.high) == first.list_prices and list(price.ends) == ["cost_per_mtok"]
    low, high = price.ends["cost_per_mtok"]
    assert high / low == near(price.high / price.low)


def test_the_parts_of_a_step_are_in_words_and_its_other_batches_drawn():
    made = drawn("experts", "itl")
    assert re.search(r"of a step, [\d.]+ [mµ]s links between devices", made.says)
    doubled = [
        (x, y) for name, x, y in made.canvas.drawn if name == "batch 128" and float(x).is_integer()
    ]
    assert len(doubled) > 9
    for context, value in doubled[5:7]:
        right = at("experts", prompt=None, output=None, context=int(context), batch=128).value(
            "itl"
        )
        assert value == pytest.approx(float(right), rel=1e-9)


def test_the_roofline_speaks_in_words():
    for label in ("experts", "latent", "states"):
        texts = " ".join(words.text for words in drawn(label, "roofline").canvas.labels)
        assert "_" not in texts and "Also drawn" not in texts


@pytest.mark.full
def test_latency_is_on_the_same_axis_where_configurations_are_compared():
    for label in ("experts", "twelve", "windows"):
        assert (
            drawn(label, "pareto").canvas.axes[0]
            == drawn(label, "latency-throughput").canvas.axes[0]
            == "inter-token latency under load"
        )


# ------------------------------------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pareto"])
def test_a_case_that_does_not_fit_says_so_on_the_picture_and_in_words(kind):
    made = drawn("too large", kind)
    assert any("does not fit" in words.text for words in made.canvas.labels)
    assert "not fit" in made.says or "memory holds none" in made.says, made.says
    assert "(does not fit)" not in made.alt


def test_what_lies_beyond_memory_is_dashed_and_grey():
    """On the page: the full line ends where the dashed one begins, at the solved place."""
    answers = study("llama-3-70b-chat").first
    made = ttft_picture.picture(study("llama-3-70b-chat"), answers)
    lines = [
        item
        for item in made.canvas.items
        if isinstance(item, Polyline) and item.stroke and not item.closed
    ]
    full = next(line for line in lines if line.width == 2.2)
    dashed = next(line for line in lines if line.stroke == "#808080")
    assert full.dash == ()
    assert dashed.dash
    assert full.points[-1] == dashed.points[0]
    cut = next(line for line in lines if line.stroke == "#000000" and line.width == 1.5)
    assert cut.points[0][0] == pytest.approx(full.points[-1][0], abs=0.01)


def test_a_case_that_fits_is_flagged_nowhere():
    for kind in ("roofline", "memory", "tornado"):
        made = drawn("tiny", kind)
        assert not any("does not fit" in words.text for words in made.canvas.labels)
        assert "not fit" not in made.alt


def test_a_target_beyond_memory_is_marked():
    """Two H100 of 80 GB leave (160 GB - 141.1 GB)/32 for a request of the 32, 1,801 tokens; a first token within 250 ms allows a longer prompt."""
    texts = [
        words.text.replace("\n", " ") for words in drawn("short of memory", "ttft").canvas.labels
    ]
    answers = subject_of(study("short of memory"))
    target, memory = (
        int(place.value)
        for place in (
            solve_limit("ttft = ttft_target", answers, "prompt"),
            memory_limit(answers, "prompt"),
        )
    )
    assert target > memory == int((160 * 10**9 - 141_107_412_992) / (32 * 327_680)) - 511
    assert any(re.search(rf"{target:,} tokens †", text) for text in texts)


def test_ranges_are_told_with_the_value():
    assert re.search(
        r"The first token of a prompt of [\d,]+ tokens takes [\d.]+ ms \([\d.]+ to [\d.]+ ms\), bound [\d.]+ ms;",
        drawn("experts", "ttft").says,
    )
    assert re.search(
        r"takes [\d.]+ ms \([\d.]+ to [\d.]+ ms\), bound [\d.]+ ms, and 1,000 tokens more add",
        drawn("experts", "itl").says,
    )


def test_a_quantity_that_was_given_has_no_curve():
    measured = Study(
        "llama-3-8b", "h100-sxm", engine="ideal", prompt=1024, batch=4, itl="9 ms", ttft="50 ms"
    )
    for module in (itl_picture, ttft_picture):
        with pytest.raises(InputError, match="moves its"):
            module.picture(measured, measured.first)


@pytest.mark.full
def test_a_group_without_links_has_a_roofline_and_a_review():
    """What two devices send each other takes an unknown time: the phases and the operators are known all the same."""
    made = picture("roofline", Study("olmo-2-7b", "m3-max", tp=2, prompt=128))
    assert "limited by" not in made.says
    outcome = call(
        "report",
        "--model",
        "olmo-2-7b",
        "--hardware",
        "m3-max",
        "--tp",
        "2",
        "--prompt",
        "128",
        "--no-plots",
        "-o",
        "-",
    )
    assert outcome.code == 0, outcome.err
    assert "Where the time goes" in outcome.out
