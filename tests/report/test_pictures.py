"""The pictures: no word on another, numbers that hold when worked out anew, flags, and the same bytes every time."""

import io
import re
import subprocess
import sys
from functools import lru_cache
from itertools import combinations
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from symroof.analysis.waterfall import waterfall
from symroof.api import Study
from symroof.errors import InputError
from symroof.report.pictures import ENDINGS, KINDS, bars, chart_of
from symroof.report.pictures.bars import swings
from symroof.report.pictures.curves import along
from symroof.report.pictures.draw import draw
from symroof.report.purchase_text import labelled, usd
from symroof.report.recommendation import as_they_stand, reviewed
from symroof.report.review_sections import memory
from symroof.specs.catalogue import find
from tests.cli import study_text

from ..near import near
from ..tables import fields
from . import ROOT, STEMS, call, parsed_html

LINES = fields(
    """
experts: {model: mixtral-8x7b, hardware: h100-sxm, engine: ideal, tp: 8, prompt: 2048, output: 256,
  batch: 64, mfu: 0.5..0.7, mbu: 0.6..0.9, targets: {itl: 40 ms, ttft: 500 ms}},
too large: {model: llama-3.1-405b, hardware: h100-sxm, engine: ideal, prompt: 4096, output: 512,
  batch: 8, targets: {itl: 50 ms, ttft: 1 s}},
tiny: {model: smollm2-135m, hardware: h200, engine: ideal, prompt: 16, output: 8, batch: 1,
  step_overhead: 500 us},
windows: {model: gemma-2-9b, hardware: h100-sxm, engine: ideal, prompt: 8192, output: 512,
  batch: 16, mfu: 0.5..0.7, targets: {itl: 80 ms}},
latent: {model: deepseek-v2-lite, hardware: a100-80gb-sxm, engine: ideal, prompt: 4096, output: 512,
  batch: 32, targets: {itl: 40 ms, ttft: 1 s}},
states: {model: falcon-mamba-7b, hardware: a10, engine: ideal, prompt: 1024, output: 128, batch: 4,
  targets: {itl: 40 ms}},
twelve: {model: llama-3.1-70b, hardware: [h100-sxm, h200, a100-80gb-sxm], tp: [2, 4],
  weights: [fp16, fp8], prompt: 4096, output: 512, batch: 24, targets: {itl: 30 ms, ttft: 1 s}},
thirty: {model: [llama-3-8b, qwen2.5-7b], hardware: [l4, a10, l40s], prompt: 1024, output: 128,
  batch: [1, 8, 16, 32, 64], targets: {itl: 40 ms}},
one step: {model: llama-3-8b, hardware: a10, engine: ideal, context: 4096, batch: 4,
  targets: {itl: 60 ms}},
short of memory: {model: llama-3-70b, hardware: h100-sxm, engine: ideal, mem_capacity: 80 GB, tp: 2,
  prompt: 4096, output: 512, batch: 32, mfu: 0.6, mbu: 0.8, targets: {ttft: 250 ms, itl: 50 ms}},
numbers: {params: 70.0e+9, n_layers: 80, n_kv_heads: 8, head_dim: 128,
  weight_bytes_per_param: 2, kv_bytes_per_element: 2, act_bytes_per_element: 2, hardware: h100-sxm,
  engine: ideal, mem_capacity: 200 GB, prompt: 100, batch: 3, assume: {detail: kv}},
"""
)
NOTHING = {("states", "itl"), ("one step", "ttft"), ("short of memory", "pareto")}
"""What there is nothing to draw for: no context moves a recurrent model's step, without a prompt there is no first token, and what does not fit is no candidate."""
PAIRS = [
    (label, kind) for label in (*STEMS, *LINES) for kind in KINDS if (label, kind) not in NOTHING
]
CHEAP = fields(
    "model: llama-3-8b, hardware: [h100-sxm, l40s], prompt: 1024, output: 256, batch: [1, 16], "
    "targets: {itl: 50 ms}"
)


@lru_cache(maxsize=64)
def study(label):
    if label in LINES:
        return Study(**LINES[label])
    return Study.load(ROOT / "specs" / "studies" / f"{label}.yaml")


@lru_cache(maxsize=256)
def drawn(label, kind):
    return draw(chart_of(kind, study(label), as_they_stand(study(label).cases)[0].case))


def texts(figure):
    """The words of a figure with their boxes on the page, ticks and titles included."""
    figure.draw_without_rendering()
    every = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    return [(text.get_text(), text.get_window_extent()) for text in every]


def words(figure):
    return " ".join(text.replace("\n", " ") for text, _ in texts(figure))


def apart(figure):
    """No word touches another or leaves the page."""
    found = texts(figure)
    assert len(found) > 5
    for (a, one), (b, other) in combinations(found, 2):
        assert not one.shrunk(0.98, 0.9).overlaps(other.shrunk(0.98, 0.9)), (a, b)
    for text, box in found:
        inside = (
            box.x0 > -1,
            box.y0 > -1,
            box.x1 < figure.bbox.x1 + 1,
            box.y1 < figure.bbox.y1 + 1,
        )
        assert all(inside), text


@pytest.mark.parametrize(("label", "kind"), sorted(NOTHING))
def test_what_cannot_be_drawn_says_why(label, kind):
    with pytest.raises(InputError, match=r"nothing to draw: \w+"):
        drawn(label, kind)


# --------------------------------------------------------------------------------------------------------- words


@pytest.mark.sample(16)
@pytest.mark.parametrize(("label", "kind"), PAIRS)
def test_words_are_apart_and_the_picture_is_well_formed(label, kind):
    made = drawn(label, kind)
    apart(made)
    root = ElementTree.fromstring(made.form("svg"))
    assert root.get("role") == "img"
    assert [node.text for node in root if node.tag.endswith("}desc")] == [made.alt]
    assert made.says.endswith(".")
    assert not re.search(r"\b(nan|inf)\b", words(made))
    assert all(len(values) for values in made.data.values())


@pytest.mark.parametrize("over", ["batch", "batch,prompt"])
def test_words_are_apart_over_inputs_and_in_a_waterfall(over):
    chat = Study("llama-3-8b", "h100-sxm", prompt=4096, batch=16)
    apart(chat.plot("itl", over=over))
    apart(chat.plot("waterfall", against="genz", quantity="ttft"))


def test_the_same_study_gives_the_same_bytes(tmp_path):
    for ending in ENDINGS:
        one, other = (Study(**LINES["tiny"]).plot("ttft").form(ending) for _ in range(2))
        assert one == other
        drawn("tiny", "ttft").savefig(tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").read_bytes() == one


def test_an_svg_follows_the_theme():
    """Every colour of it has one for dark screens."""
    svg = study("tiny").plot("ttft")._repr_svg_()
    assert "prefers-color-scheme: dark" in svg
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg))
    ruled = dict(re.findall(r'\[style\*="\w+: (#\w+)"\]\{\w+:(#\w+)!', svg))
    assert used <= set(ruled)


@pytest.mark.full
def test_signs_of_markup_in_a_title_leave_every_picture_of_a_page_whole(tmp_path):
    """A picture there is an address in an attribute: read as that, it is XML with the title in it."""
    title = "AT&T <8B> $x^2$ 模型 \\\\ \\u0007"
    text = find("models", "llama-3-8b", None).text.replace("title: Llama 3 8B", f'title: "{title}"')
    (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
    study = tmp_path / "study.yaml"
    study.write_text(study_text(model="model.yaml", targets="{ttft: 200 ms}"), encoding="utf-8")
    outcome = call("report", study, "-o", tmp_path, "--format", "html")
    assert outcome.code == 0, outcome.err
    page = parsed_html((tmp_path / "study.html").read_text(encoding="utf-8"))
    pictures = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert pictures
    for address in pictures:
        svg = ElementTree.fromstring(unquote(address.partition(",")[2]))
        assert "AT&T <8B> $x^2$ 模型" in "".join(svg.itertext())


def test_a_picture_is_drawn_into_axes_of_a_caller():
    axes = Figure().subplots(1, 2)
    for kind, each in zip(("itl", "memory"), axes, strict=True):
        made = study("tiny").plot(kind, each)
        assert made is each.figure
        assert set(made.data) == set(study("tiny").plot(kind).data)
    assert made.axes[0].get_title(loc="left") and made.savefig(io.BytesIO()) is None


@pytest.mark.parametrize("line", ["eval", "plot --help", "plot nonsense", "plot memory -o a.jpg"])
def test_matplotlib_loads_where_a_picture_is_drawn(line):
    command, *rest = line.split()
    chat = [] if rest == ["--help"] else [str(ROOT / "specs/studies/llama-3-8b-chat.yaml")]
    code = (
        "import sys; from symroof.cli.main import main; "
        f"main({[command, *rest[:1], *chat, *rest[1:]]!r}); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("False\n"), done.stderr


# ------------------------------------------------------------------------------------------------------- numbers


def at(label, **changes):
    """A quantity's case bound anew with other inputs."""
    chosen = {name: value for name, value in LINES[label].items() if name not in changes} | changes
    return Study(**{name: value for name, value in chosen.items() if value is not None}).first.case


def told(label, kind, pattern):
    """A whole number that a picture says."""
    return int(re.search(pattern, drawn(label, kind).says)[1].replace(",", ""))


def test_a_curve_is_what_the_study_says_at_each_point():
    points = [64, 777, 4096]
    values = along(study("latent").first.case, "ttft", "prompt", points)
    assert values == pytest.approx([float(at("latent", prompt=n).value("ttft")) for n in points])
    chat = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "batch": 16}
    grid = Study(**chat).plot("itl", over="batch,prompt").data
    there = Study(**chat | {"batch": grid["batch"][5], "prompt": grid["prompt"][9]})
    assert grid["itl"][9, 5] == pytest.approx(there.value("itl"), rel=1e-12)


@pytest.mark.parametrize("label", ["experts", "windows", "latent"])
def test_batches_that_memory_and_target_allow_are_the_last_that_do(label):
    most = told(label, "latency-throughput", r"emory holds at most ([\d,]+) requests")
    assert at(label, batch=most).value("fits") and not at(label, batch=most + 1).value("fits")
    most = told(label, "latency-throughput", r"the target allows at most ([\d,]+) request")
    goal, name = at(label).value("itl_target"), "sustained_itl"
    assert at(label, batch=most).value(name) <= goal < at(label, batch=most + 1).value(name)


@pytest.mark.parametrize("label", ["experts", "latent"])
def test_the_prompt_that_the_target_allows_is_the_last_that_meets_it(label):
    most = told(label, "ttft", r"the target of .{,9} allows at most ([\d,]+) tokens")
    goal = at(label).value("ttft_target")
    assert at(label, prompt=most).value("ttft") <= goal < at(label, prompt=most + 1).value("ttft")


def test_swings_are_the_metrics_of_cases_with_the_low_and_the_high_value():
    """Whole counts go by whole steps; ranges to their ends; a share stays below one."""
    first = Study(**(LINES["latent"] | {"mfu": "0.5..0.7"}), chunk=2048).first
    by_name = {swing.name: swing for swing in swings(first)}
    ends = {"batch": (29, 35), "prompt": (3686, 4506), "mfu": (0.5, 0.7), "mbu": (0.9, 1)}
    for name, pair in ends.items():
        assert (by_name[name].low, by_name[name].high) == pytest.approx(pair), name
        for place, value in enumerate(pair):
            there = Study(**(LINES["latent"] | {"mfu": 0.6} | {name: value}), chunk=2048).first.case
            for metric, values in by_name[name].ends.items():
                right = pytest.approx(float(there.value(metric)), rel=1e-9)
                assert values[place] == right, (name, metric)
    assert "queue_time" not in by_name
    first = Study("llama-3-8b", "h100-sxm", prompt=1024, output=256, batch=16).first
    price = next(swing for swing in swings(first) if swing.name == "price")
    assert (price.low, price.high) == pytest.approx([*map(float, first.list_prices)])
    assert list(price.ends) == ["cost_per_mtok"]
    low, high = price.ends["cost_per_mtok"]
    assert high / low == near(price.high / price.low)


# ------------------------------------------------------------------------------------------------ comparisons


def test_the_pick_is_on_the_picture_at_its_own_cost():
    """Of a study that fixes its batch as eval has it; at a rate what select would buy, by the month."""
    study = Study(**CHEAP)
    made, review = study.plot("pareto"), reviewed(study)
    own = [float(review.subject.case.value(name)) for name in ("sustained_itl", "cost_per_mtok")]
    assert made.data[labelled(review.pick)][0] == pytest.approx(own)
    assert "batch 16" in words(made) and made.says.startswith("1 × H100 SXM, batch 16: ")
    rate = {name: value for name, value in CHEAP.items() if name != "batch"} | {"arrival_rate": 40}
    made, review = Study(**rate).plot("pareto"), reviewed(Study(**rate))
    for one in review.found.best:
        spot = made.data[labelled(one)][0]
        assert spot == pytest.approx([float(one.itl.value), one.usd_per_month])
    price = usd(review.pick.usd_per_month)
    assert made.says.startswith(f"{labelled(review.pick)}: {price} USD/month")


def test_the_parts_of_the_memory_add_up():
    """A latent cache is held by every device of a group, and each keeps a reserve of its own."""
    study = Study("deepseek-r1", "h200", tp=8, prompt=2048, output=512, batch=64)
    needed, parts = study.first.case.value("memory_bytes"), memory(study, study.first)["header"]
    data = study.plot("memory").data
    sizes = [data[name][0] for name in ("weights", "cache", "reserve")]
    assert sum(sizes) == pytest.approx(float(needed), rel=1e-12)
    assert parts == ["Weights", "Cache", "Reserve"]


def test_a_waterfall_ends_at_the_second_value():
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 2048}
    tools = [Study(**case, preset=name).first for name in ("genz", "aiconfigurator")]
    way = waterfall(*tools, "ttft")
    after, ends = bars.waterfall(way, "one", "other").data["after"], (way.start, way.end)
    assert after[[0, -1]] == pytest.approx([float(end.value) for end in ends])
    assert after[-2] == pytest.approx(after[-1], rel=1e-3)


# ------------------------------------------------------------------------------------------------ what does not fit


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pareto"])
def test_a_case_that_does_not_fit_says_so_on_the_picture_and_in_words(kind):
    made = drawn("too large", kind)
    assert "does not fit" in words(made)
    assert "not fit" in made.says or "memory holds none" in made.says, made.says


def test_what_lies_beyond_memory_is_a_line_of_its_own_and_a_target_there_is_marked():
    """Two H100 of 80 GB leave (160 GB - 141.1 GB)/32 for a request of the 32, 1,801 tokens; a first token within 250 ms allows a longer prompt."""
    made = drawn("short of memory", "ttft")
    edge = made.data["memory"][0]
    assert int(edge) == int((160 * 10**9 - 141_107_412_992) / (32 * 327_680)) - 511
    assert made.data["line"][-1, 0] == made.data["beyond"][0, 0] == edge
    (target,) = made.data["target met"][:, 0]
    assert target > edge and f"{int(target):,} tokens, does not fit" in words(made)


def test_a_quantity_that_was_given_has_no_curve():
    chosen = {"engine": "ideal", "prompt": 1024, "batch": 4, "itl": "9 ms", "ttft": "50 ms"}
    measured = Study("llama-3-8b", "h100-sxm", **chosen)
    for kind in ("itl", "ttft"):
        with pytest.raises(InputError, match="moves its"):
            measured.plot(kind)


@pytest.mark.full
def test_a_group_without_links_has_a_roofline():
    """What two devices send each other takes an unknown time: the phases and the operators are known all the same."""
    made = Study("olmo-2-7b", "m3-max", tp=2, prompt=128).plot("roofline")
    assert "limited by" not in made.says
    assert np.isfinite(made.data["prefill"]).all()


@pytest.mark.parametrize("layout", [{"tp": 4}, {"pp": 2, "tp": 2}, {}])
def test_the_parts_of_a_latency_are_all_of_it(layout):
    """The cache is what a step at the context takes more than one at a single token."""
    made = Study("llama-3.1-8b", "h100-sxm", prompt=2000, output=300, batch=16, **layout)
    data = made.plot("parts").data
    for name in ("ttft", "itl"):
        assert sum(data[name]) == pytest.approx(float(made.value(name)))
    cache = data["itl"][list(data["part"]).index("KV cache")]
    assert cache == pytest.approx(float(made.value("itl") - made.value("itl(context = 1)")))
