"""What notebooks show: short reprs, HTML and LaTeX forms, pictures with data, catalogue tables."""

import pytest
import sympy

import symroof as sr
from symroof import symbols
from symroof.report.pictures.picture_kinds import KINDS
from symroof.theory.quantities import QUANTITIES
from symroof.theory.thresholds import THRESHOLDS

STUDY = sr.Study(
    "llama-3-8b",
    ["h100-sxm", "h200"],
    prompt=4096,
    output=64,
    batch=8,
    targets={"itl": 0.05},
    price=0.001,
)


def test_reprs_are_short_and_no_addresses(tmp_path):
    note = tmp_path / "note.md"
    note.write_text("The ridge is 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    derivation = STUDY.derive("kv_bytes_per_token")
    things = [
        STUDY,
        derivation,
        STUDY.solve("max_batch_memory"),
        sr.check(note),
        sr.check(note).claims[0],
        sr.calibrate("docs/measured.csv", model="llama-3.1-8b", hardware="h100-sxm"),
        sr.select(STUDY),
        STUDY.plot("itl"),
        *derivation.limits,
        *derivation.elasticities,
    ]
    for thing in things:
        assert (
            len(repr(thing)) < 300
            and "object at 0x" not in repr(thing)
            and "Name(" not in repr(thing)
        ), thing


def test_html_forms_hold_the_numbers_and_escape(tmp_path):
    card = sr.Study(
        "llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8, efficiency="peak"
    )._repr_html_()
    assert (
        "<td>5.77 ms</td>" in card and "limited by memory" in card.partition("<table>")[0]
    )  # 19.35 GB at 3.35 TB/s
    assert (
        "<td>✓</td>" in sr.select(STUDY)._repr_html_()
        and "pass" in sr.select(STUDY)._repr_html_().partition("<table>")[0]
    )
    note = tmp_path / "note.md"
    note.write_text("The ridge is < 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    shown = sr.check(note)._repr_html_()
    assert "<table>" in shown and "&lt; 295" in shown


def test_cards_have_a_sentence_a_formula_and_a_table():
    single = sr.Study(
        "llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8, targets={"itl": "1 ms"}
    )
    for shown, said, cell in (
        (single, "✗ itl within 1 ms", "<td>sustained_itl</td>"),
        (
            single.derive("itl"),
            "itl, inter-token latency: time of one decode step at the current context: 9.85 ms (7.76 to 13.0), bound 5.77 ms",
            "<td>decode_memory_time</td>",
        ),
        (single.solve("max_batch_memory"), "batch: at most", "<td>within memory</td><td>yes</td>"),
        (sr.solve("batch_to_ridge"), "batch: depends on the conditions", "<td>only if</td>"),
        (sr.Study("llama-3-8b", batch=[1, 2]), "2 cases", "<td>weight_bytes</td>"),
        (
            sr.Theory.load("training-step").study(model_parameters=7e9),
            "A training run",
            "<td>112 GB</td>",
        ),
        (sr.Study().derive("kv_bytes_per_token"), "no number, it needs n_layers", "$$"),
    ):
        card = shown._repr_html_()
        assert card.startswith("<p>") and said in card.partition("</p>")[0] and cell in card, card
    assert (
        "$$" in single.derive("itl")._repr_html_()
        and "<table>" not in sr.Study().derive("kv_bytes_per_token")._repr_html_()
    )


def test_a_study_of_three_devices_says_how_many_meet_its_targets():
    """16.06 GB of weights: at 0.3 TB/s a step takes 53 ms, at 3.35 TB/s 5 ms."""
    card = sr.Study(
        "llama-3-8b",
        ["h100-sxm", "h200", "l4"],
        prompt=100,
        output=20,
        batch=1,
        targets={"itl": "25 ms"},
    )._repr_html_()
    assert "3 cases; 2 fit and meet every target" in card


@pytest.mark.full
def test_a_review_shows_its_first_page_and_is_written(tmp_path):
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=1024, batch=8, targets={"itl": "50 ms"})
    asked = study.request
    review = study.report(tmp_path / "review", formats=("md",))
    assert study.request == asked  # asked for a review, it counts as before
    page = (tmp_path / "review" / "review.md").read_text(encoding="utf-8")
    assert "fits and meets its target" in review.says and review.says in repr(review)
    assert review._repr_markdown_() in page or review._repr_markdown_().splitlines()[0] in page
    assert (tmp_path / "review" / "review-memory.svg").is_file()
    review.save(tmp_path / "full", formats=("md",), full=True)
    assert (tmp_path / "full" / "review-roofline.svg").is_file()
    assert review.save(tmp_path / "other") == tmp_path / "other" / "review.html"


def test_what_a_study_offers_is_what_the_reference_has():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text(
        encoding="utf-8"
    )
    listed = (
        page.partition("autoclass:: symroof.Study\n   :members: ")[2].partition("\n")[0].split(", ")
    )
    assert [name for name in dir(sr.Study("gpt2")) if not name.startswith("_")] == listed
    assert set(dir(sr)) - {name for name in dir(sr) if name.startswith("__")} == set(sr.__all__) - {
        "__version__"
    }


def test_latex_of_solutions_and_derivations():
    solution = STUDY.solve("max_batch_memory")
    assert (
        solution._repr_latex_().startswith("$\\displaystyle B = ")
        and "\\frac" in solution._repr_latex_()
    )
    assert (
        STUDY.derive(symbols.ttft / symbols.itl)._repr_latex_()
        == r"$\displaystyle \frac{\mathrm{TTFT}}{\mathrm{ITL}}$"
    )


@pytest.mark.full
def test_every_picture_has_data_and_an_svg(tmp_path):
    for kind in KINDS:
        picture = STUDY.plot(kind)
        assert picture._repr_svg_().startswith("<svg")
        assert picture.data.sizes["point"] > 0 and picture.data.attrs["says"] == picture.says
    STUDY.plot("itl").save(tmp_path / "itl.svg")
    assert (tmp_path / "itl.svg").read_text() == STUDY.plot("itl")._repr_svg_()


def test_the_data_of_a_picture_are_the_values_of_the_study():
    data = (
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8, efficiency="peak")
        .plot("itl")
        .data
    )
    line = data.sel(point=data.line == "line")
    for place in (0, len(line.point) // 2):
        there = sr.Study(
            "llama-3-8b", "h100-sxm", batch=8, context=int(line.x[place]), efficiency="peak"
        )
        assert abs(float(line.y[place]) / there.value("itl") - 1) < 1e-12


def test_a_formula_of_ones_own_over_an_input():
    """Points of the line are values of the study there; memory ends where it is solved to end, and the axes name what they show."""
    study = sr.Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=4096,
        output=64,
        batch=64,
        price="2.5 USD/hour",
        memory_share=0.92,
        efficiency="peak",
    )
    study.define("cost_of_wait", symbols.price * symbols.ttft, unit="USD")
    drawn = study.plot("cost_of_wait", over=symbols.prompt)
    data = drawn.data
    line = data.sel(point=data.line.isin(["line", "beyond"]))
    for place in (0, len(line.point) // 2, -1):
        there = sr.Study("llama-3-8b", "h100-sxm", prompt=int(line.x[place]), efficiency="peak")
        assert abs(float(line.y[place]) / (there.value("ttft") * 2.5 / 3600) - 1) < 1e-12
    assert float(data.sel(point=data.line == "memory").x[0]) == pytest.approx(
        float(study.solve("max_batch_memory", "prompt").value)
    )
    assert (data.x_name, data.y_name) == ("prompt (token)", "cost_of_wait (USD)")
    assert drawn._repr_svg_().startswith("<svg") and "cost_of_wait" in repr(drawn)
    assert study.plot(symbols.ttft / symbols.itl, over="batch").says.startswith(
        "At batch 64 requests, ttft/itl is "
    )
    assert repr(study.plot(symbols.itl)) == repr(study.plot("itl"))


@pytest.mark.parametrize(
    ("quantity", "over", "refused"),
    [
        (
            symbols.ttft / symbols.itl,
            None,
            r"drawn over an input\n    hint: study.plot\(ttft/itl, over=batch\)",
        ),
        ("fits", "batch", "true/false or a category"),
        ("itl", "output", "output does not move itl here"),
        ("itl", "btach", "no such quantity or input"),
        ("queue_wait", "batch", "queue_wait needs arrival_rate"),
    ],
)
def test_what_cannot_be_drawn_is_said(quantity, over, refused):
    with pytest.raises(sr.InputError, match=refused):
        STUDY.plot(quantity, over=over)


def test_bars_of_memory_add_up():
    data = sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8).plot("memory").data
    bars = data.sel(point=data.line != "usable memory")
    assert float(bars.y.sum()) == float(
        sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8).value("memory_bytes")
    )


def test_plot_leaves_the_study_as_it_is():
    before = STUDY.value("usable_memory")
    STUDY.plot("memory")
    assert STUDY.value("usable_memory") == before


@pytest.mark.full
def test_tables_of_the_catalogue():
    assert len(sr.models()) > 100 and len(sr.hardware()) > 30
    assert len(sr.quantities()) == len(QUANTITIES) and len(sr.thresholds()) == len(THRESHOLDS)
    definition = sr.quantities()["ridge_point"]["definition"]
    assert definition == symbols.peak_flops / symbols.mem_bandwidth and isinstance(
        definition, sympy.Expr
    )
    assert "llama-3-8b" in repr(sr.models()) and "<td>llama-3-8b</td>" in sr.models()._repr_html_()
    assert repr(sr.models()[:2]).count("\n") == 3
