"""The review: its conclusions, its words, its three forms."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from urllib.parse import unquote

import pytest

from symroof.analysis.verdict import target_checks
from symroof.api import Study
from symroof.report.pictures import KINDS
from symroof.report.recommendation import reviewed
from symroof.report.review_sections import operators
from tests.cli import process, write_study
from tests.tables import words

from . import (
    ROOT,
    STEMS,
    blocks,
    call,
    made,
    parsed_html,
    printed,
    rows_under,
    solved_once,
    text_of,
    to_standard_output,
)


def first_page(stem, kind="md"):
    """The blocks before the first section."""
    return [block for block in blocks(text_of(stem, kind), kind) if not block.section]


# --------------------------------------------------------------------------------------------------- conclusions


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_page_one_has_the_targets_with_the_numbers_of_their_checks(stem):
    listed = reviewed(Study.load(ROOT / "specs" / "studies" / f"{stem}.yaml"))
    rows = rows_under(first_page(stem), "", "target")[:2]
    checks = target_checks(listed.subject)
    assert len(rows) == len(checks) == 2
    for check, (_, value, *_, limit, outcome) in zip(checks, rows, strict=True):
        assert printed(value)[0].value == pytest.approx(float(check.metric.value), rel=6e-3)
        assert printed(limit)[0].value == float(check.limit)
        assert outcome.startswith("met" if check.met else "missed")


CHAT = ROOT / "specs" / "studies" / "llama-3-8b-chat.yaml"


@pytest.fixture(scope="module")
def chat():
    """The study of :data:`CHAT`, as a review decides on it."""
    return Study.load(CHAT)


@pytest.fixture
def solved(chat):
    """Reviews of :data:`CHAT` differ in what is written alone."""
    with solved_once(chat):
        yield


@pytest.mark.full
def test_the_appendix_is_asked_for(solved):
    full, short = text_of(CHAT.stem, "md"), to_standard_output(CHAT)
    heads = [re.findall(r"^## (.*)$", text, re.M) for text in (full, short)]
    assert heads[1] == [head for head in heads[0] if not head.startswith("Appendix")]
    assert len(heads[0]) > len(heads[1]) > 3


@pytest.mark.full
def test_caches_are_handed_over_where_devices_prefill_on_their_own(tmp_path):
    """What a device knows of its network asks for nothing; the threshold of the network is one of devices that prefill on their own."""
    small = {
        "model": "llama-3-70b",
        "hardware": "h100-sxm",
        "workload": "{prompt: 4096, output: 16, batch: 1}",
        "efficiency": "{from: peak, mfu: 0.5}",
    }
    quiet, asked = (
        to_standard_output(write_study(tmp_path, **small, **more), "md", "--full")
        for more in ({}, {"parallel": "{tp: 2, prefill_devices: 2}"})
    )
    words = "min_network_bandwidth_transfer"
    assert words not in quiet.replace("\\", "")
    assert words in asked.replace("\\", "")


def test_operators_of_a_prefill_elsewhere_are_in_the_layout_of_its_instances():
    load = {
        "model": "llama-3.1-70b",
        "hardware": "b200",
        "prompt": 1500,
        "output": 300,
        "batch": 64,
    }
    apart = Study(**load, tp=2, prefill={"tp": 1, "instances": 4}, arrival_rate=2)
    (of_prefill,), (alone,) = (
        [table["rows"] for table in operators(study, study.first) if table["step"] == "prefill"]
        for study in (apart, Study(**load, tp=1))
    )
    assert of_prefill == alone


def heads_and_numbers(stem, kind):
    """The headings of a review, and the numbers in each row of its first page."""
    if kind != "tex":
        found = blocks(text_of(stem, kind), kind)
        heads = [block.text for block in found if block.kind in ("h2", "h3")]
        rows = [block.text for block in found if not block.section and block.kind == "row"]
    else:
        body = text_of(stem, kind).partition(r"\begin{document}")[2]
        escaped = re.findall(r"^\\(?:sub)?section\{(.*)\}$", body, re.M)
        heads = [re.sub(r"\\(?=[_%&])|\\allowbreak\{\}", "", head) for head in escaped]
        heads = [head.replace(r"\textdagger{}", "†") for head in heads]
        rows = re.findall(r"^.*(?= \\\\$)", body.partition(r"\section{")[0], re.M)
    return heads, [re.findall(r"\d[\d,.]*\d|\d", row) for row in rows]


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_every_form_has_the_same_sections_and_the_same_numbers(stem):
    md, tex, html = (heads_and_numbers(stem, kind) for kind in ("md", "tex", "html"))
    assert md == tex == html and len(md[0]) > 4 and len(md[1]) > 2


@pytest.mark.full
def test_a_study_without_targets_says_so(tmp_path):
    assert "sets no targets" in to_standard_output(write_study(tmp_path))


# --------------------------------------------------------------------------------------------------------- words


def test_the_words_hold_no_number_and_no_unit():
    """Numbers and units come with the data, so a template cannot state one that is not derived."""
    text = (ROOT / "templates" / "review.j2").read_text(encoding="utf-8")
    words = re.sub(r"<#.*?#>", "", text, flags=re.S)
    assert re.findall(r"\d", words.replace(".j2", "")) == []
    outside = re.sub(r"<%.*?%>|<<.*?>>", " ", words, flags=re.S)
    units = r"(?<![\w/-])(?:ms|µs|us|ns|[kMGTPK]?i?B|[kMGTP]?FLOPS?|[kMGTP]?FLOP/s|bytes?/s|[kMGT]B/s|FLOP/byte|token/s|tok/s|W|kW|USD|J|Hz|GHz|seconds?|milliseconds?|dollars?|percent|%)(?![\w/-])"
    assert re.findall(units, outside) == []
    assert (
        re.findall(
            r"\b(one|two|three|four|five|six|seven|eight|nine|ten|twice|half|double|hundred|thousand) (?:ms|GB|bytes?|tokens?/s|seconds?)\b",
            outside,
        )
        == []
    )


# ---------------------------------------------------------------------------------------------------- same bytes


@pytest.mark.full
def test_the_same_run_gives_the_same_bytes_under_any_hash_seed(tmp_path):
    stem = "qwen2.5-7b-budget"
    done = process(
        *words(f"report specs/studies/{stem}.yaml --format md,tex,html --full -o"),
        tmp_path,
        PYTHONHASHSEED="2",
        TZ="Pacific/Auckland",
        LC_ALL="C",
    )
    assert done.returncode == 0, done.stderr
    first = {path.name: path.read_bytes() for path in made(stem).iterdir()}
    second = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(first) == 3 + 2 * (len(KINDS) - 1)  # all but the parts
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_the_command_repeats_every_option_that_changes_the_review():
    from symroof.cli.report_command import reproduce

    line = "report 'a b.yaml' -o out --output 512 --osl=7 --set 'itl=14 ms' --out x --out=y -oz"
    kept = "symroof report 'a b.yaml' --output 512 --osl=7 --set 'itl=14 ms'"
    assert reproduce(shlex.split(line)) == kept


# ------------------------------------------------------------------------------------------------------ Markdown


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_every_table_of_the_markdown_is_whole(stem):
    """A table is a header, a rule, and rows of as many cells; two tables that run into each other are one broken one."""
    tables = re.findall(r"(?:^\|.*\|\n)+", text_of(stem, "md"), re.M)
    assert len(tables) >= 10
    for table in tables:
        lines = table.splitlines()
        counts = {len(re.split(r"(?<!\\)\|", line)) for line in lines}
        assert len(counts) == 1, table[:300]
        assert re.fullmatch(r"\|(?: -{3}:? \|)+", lines[1])
        assert not [line for line in lines[2:] if re.fullmatch(r"\|(?: -{3}:? \|)+", line)], table[
            :300
        ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_math_stands_only_where_github_reads_it(stem):
    text = text_of(stem, "md")
    fences = re.findall(r"^```(\w*)\n.*?^```$", text, re.S | re.M)
    assert set(fences) == {"math", "sh"}
    outside = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.S | re.M)
    outside = re.sub(r"\$`[^`]*`\$", "", outside)
    assert "$" not in outside
    assert not re.search(r"\\(?:frac|mathrm|cdot|left|text|begin)", outside)


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_every_figure_that_is_shown_is_there(stem):
    for target in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text_of(stem, "md")):
        assert (made(stem) / target).is_file()
    inside = re.findall(r'<img src="([^"]*)"', text_of(stem, "html"))
    assert len(inside) == len(re.findall(r"!\[", text_of(stem, "md")))
    for picture in inside:
        assert unquote(picture.removeprefix("data:image/svg+xml,")).encode() in [
            path.read_bytes() for path in made(stem).glob("*.svg")
        ]
    for target in re.findall(r"\\(?:drawn|filling)\{([^}]*)\}", text_of(stem, "tex")):
        assert (made(stem) / target).is_file()


# ---------------------------------------------------------------------------------------------------------- HTML


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_the_html_is_self_contained(stem):
    reader = parsed_html(text_of(stem, "html"))
    names = {tag for tag, _ in reader.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "base", "form"}
    for tag, attributes in reader.tags:
        for key, value in attributes.items():
            assert not key.startswith("on")
            if key in ("src", "href", "srcset", "data", "poster"):
                inside = tag == "img" and value.startswith("data:image/svg+xml,")
                assert inside or not re.match(r"\s*(\w+:|//)", value or ""), (tag, value)
    styles = re.findall(r"<style>(.*?)</style>", text_of(stem, "html"), re.S)
    assert not [style for style in styles if "url(" in style or "@import" in style]


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_every_tag_of_the_html_is_closed(stem):
    text = re.sub(r"<!doctype html>|<meta [^>]*>|<img [^>]*>", "", text_of(stem, "html"))
    opened = []
    for slash, name, self_closed in re.findall(
        r"<(/?)([a-zA-Z][\w-]*)[^>]*?(/?)>", re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    ):
        if slash:
            assert opened
            assert opened.pop() == name
        elif not self_closed:
            opened.append(name)
    assert opened == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", STEMS)
def test_no_formula_is_left_as_latex_in_the_html(stem):
    assert re.findall(r"\\[a-zA-Z]+", text_of(stem, "html")) == []


# --------------------------------------------------------------------------------------------------------- LaTeX

needs_tex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
WIDEST = 20.0
"""Points a line may stick out."""


def compiled(folder, name):
    """The log of pdflatex over a file of a folder; a failure is the test's."""
    line = ["pdflatex", "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", name]
    env = {**os.environ, "openin_any": "p", "max_print_line": "1000"}
    how = {"cwd": folder, "env": env, "capture_output": True, "timeout": 60}
    done = subprocess.run(line, check=False, **how)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, "\n".join(
        line for line in log.splitlines() if line.startswith("!")
    )
    return log


@pytest.mark.full
@needs_tex
@pytest.mark.parametrize("stem", ["llama-3-70b-chat", "qwen2.5-7b-budget", "tutorial-sla"])
def test_the_latex_compiles_and_nothing_sticks_out(stem, tmp_path):
    shutil.copytree(made(stem), tmp_path / "tex")
    compiled(tmp_path / "tex", f"{stem}.tex")
    log = compiled(tmp_path / "tex", f"{stem}.tex")
    wide = [float(size) for size in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log)]
    assert [size for size in wide if size > WIDEST] == []
    assert "Missing character" not in log
    assert "undefined" not in log


@pytest.mark.full
@needs_tex
def test_a_pdf_of_a_review(solved, tmp_path):
    outcome = call("report", CHAT, "-o", tmp_path, "--format", "pdf")
    assert outcome.code == 0, outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["llama-3-8b-chat.pdf"]
    assert (tmp_path / "llama-3-8b-chat.pdf").read_bytes().startswith(b"%PDF-")


# ----------------------------------------------------------------------------------------------------- files written


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "start"),
    [("md", "# Use 1 × H100 SXM for"), ("tex", r"\documentclass"), ("html", "<!doctype html>")],
)
def test_standard_output_holds_the_review_and_nothing_else(kind, start, solved, tmp_path):
    with contextlib.chdir(tmp_path):
        outcome = call("report", CHAT, "-o", "-", "--format", kind)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(start)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_the_default_folder_and_formats(solved, tmp_path):
    with contextlib.chdir(tmp_path):
        outcome = call("report", CHAT)
    assert outcome.code == 0
    written = [f"reports/llama-3-8b-chat/llama-3-8b-chat.{kind}" for kind in ("html", "md")]
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert [file for file in files if not file.endswith(".svg")] == written
    pictures = len(files) - len(written)
    assert outcome.err == f"wrote {', '.join(written)} and {pictures} picture files\n"
    recommended, *lines, page = outcome.out.splitlines()
    targets = [line for line in lines if "  target " in line]
    verdict = " ".join(line.strip() for line in lines if line not in targets)
    text = re.sub(r"[*\\]", "", (tmp_path / written[1]).read_text(encoding="utf-8"))
    assert recommended == "Use 1 × H100 SXM for Llama-3 8B chat on one H100."
    assert f"# {recommended.removesuffix('.')}\n" in text
    price, rest = verdict.split(" Llama 3 8B", 1)
    assert price in " ".join(text.split()) and rest in " ".join(text.split())
    assert [line.split("  ")[1] for line in targets] == [
        "time to first token",
        "time between tokens",
    ]
    assert page == f"open {written[0]}"


@pytest.mark.full
def test_both_rooflines_stand_side_by_side_where_they_differ(tmp_path):
    """By the contract where they differ by more than two per cent; a prefill just above the ridge has operators on both sides."""
    path = write_study(
        tmp_path, workload="{prompt: 450, output: 16, batch: 1}", set="{server_latency: 0 s}"
    )
    times = {
        name: call("eval", path, "--assume", f"roofline={name}", "--json").json["cases"][0][
            "quantities"
        ]["ttft"]["value"]
        for name in ("aggregate", "per_operator")
    }
    text = to_standard_output(path)
    assert times["per_operator"] > 1.02 * times["aggregate"]
    assert "| `per_operator` |" in text
    assert "within two per cent" not in text
