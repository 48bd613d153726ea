"""Page one: which case it is about, which cases pass, what to change; by one standard, and nothing that later pages deny."""

from fractions import Fraction

import pytest
import yaml
from markupsafe import Markup

from symroof.analysis.case_titles import case_label
from symroof.analysis.constraints import passes
from symroof.analysis.verdict import findings, overloaded, unknown_targets
from symroof.api import Study
from symroof.report.environment import ranged
from symroof.report.markup import FORMATS as WRITTEN
from symroof.report.page_one import key_numbers
from symroof.report.render import render
from symroof.report.view import view
from symroof.report.view_case import brief
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


@pytest.mark.parametrize("kind", FORMATS)
def test_a_range_in_finished_markup_is_escaped_once(kind):
    """TeX printed ``\\$\\textbackslash{}mu\\$s`` where a macro had written µ already."""
    output = WRITTEN[kind]
    for plain in ("below 22.51 µs, outside its range", "below 22.51 µs (20.1 to 25 µs)"):
        once = output.stacked(ranged(output.written(plain)))
        assert once == output.stacked(ranged(plain))
        assert "textbackslash" not in once and isinstance(once, Markup)


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
    assert len(risks) == 3
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


def test_a_price_that_nobody_knows_is_no_budget_kept(tmp_path):
    """A case without a price was said to meet every target, the one on its price included."""
    file = data_folder("specs") / "hardware" / "h200.yaml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8")) | {"name": "unpriced", "prices": []}
    (tmp_path / "unpriced.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    device, targets = str(tmp_path / "unpriced.yaml"), {"itl": "1 s", "price": "20 USD/hour"}
    study = Study("llama-3-8b", device, prompt=512, output=64, batch=8, targets=targets)
    assert passes(study.first) is False
    assert unknown_targets(study.first) == {"price": "needs price"}
    text = render(view(study, "x", ("verdict",)), "md")
    assert "whether it meets its target on price per instance (needs price) is not known" in text
