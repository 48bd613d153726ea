"""Texts from outside come out literally in every form."""

import html
import re
import shutil

import pytest
from markdown_it import MarkdownIt

from symroof.api import Study
from symroof.report.markup import latex_code, latex_text, markdown_code, markdown_text
from tests.cli import study_text

from . import blocks, markdown, parsed_html, solved_once, static, to_standard_output
from .test_review import compiled, needs_tex

TITLES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; & &amp; &#60;",
    r"\input{/etc/passwd} \write18{true} \def\x{y}",
    r"50 % off_by_one ^2 ~ #1 & {x} \\ $x^2$ $`x`$ $$y$$",
    "a | b || c \\| d",
    "`code` ``two`` ```three```",
    "**bold** __bold__ *i* _i_ ~~gone~~ ~x~",
    "[link](http://example.org) ![image](x.png) [ref][1] <http://example.org>",
    "\"double\" 'single' “curly” ‘curly’ – — … × µ é ß",
    "<% raw %> << title >> {{ 7*7 }} {% x %} <# c #>",
    "--- `` '' ?` !` << >> fi ff",
    "http://example.org/a_b_c",
]
TITLES += ["1. one", "- dash", "+ plus", "* star", "> quote", "# heading", "=== equals", "---"]
TITLES += ["\\", "trailing \\", "&"]


def quoted(text):
    """A text as a double-quoted YAML scalar."""
    written = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    )
    return f'"{written}"'


def hostile(folder, title, note="plain", name="study.yaml"):
    path = folder / name
    path.write_text(
        study_text(title=quoted(title), notes=f"[{quoted(note)}]", targets="{ttft: 200 ms}"),
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module", autouse=True)
def solved(tmp_path_factory):
    """The case of these studies, the same in all: only what strangers write differs."""
    with solved_once(Study.load(hostile(tmp_path_factory.mktemp("solved"), "T"))):
        yield


def literally(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Every hostile text as the note of one study and its first as the title, in the three forms."""
    path = tmp_path_factory.mktemp("hostile") / "study.yaml"
    notes = ", ".join(map(quoted, TITLES))
    path.write_text(
        study_text(title=quoted(" ".join(TITLES[:12])), notes=f"[{notes}]"), encoding="utf-8"
    )
    return {kind: to_standard_output(path, kind) for kind in ("md", "tex", "html")}


@pytest.mark.full
@pytest.mark.parametrize("text", TITLES)
def test_a_text_reads_literally_in_markdown(text, output):
    paragraphs = [block.text for block in blocks(output["md"], "md") if block.kind == "text"]
    assert literally(text) in paragraphs


@pytest.mark.full
@pytest.mark.parametrize("text", TITLES)
def test_a_text_reads_literally_in_html(text, output):
    paragraphs = [block.text for block in blocks(output["html"], "html") if block.kind == "text"]
    assert literally(text) in paragraphs


def test_the_title_reads_literally():
    title = " ".join(TITLES[:12])
    (token,) = [t for t in markdown().parse(f"# {markdown_text(title)}") if t.type == "inline"]
    assert "".join(child.content for child in token.children) == title
    assert {child.type for child in token.children} <= {"text", "text_special"}


@pytest.mark.full
def test_nothing_hostile_becomes_a_tag(output):
    reader = parsed_html(static(output["html"]))
    assert not {"script", "img", "iframe", "b", "a", "svg"} & {tag for tag, _ in reader.tags}
    assert not [
        t
        for t in markdown().parse(output["md"])
        if "html" in t.type
        or any(
            "html" in child.type or child.type in ("link_open", "image")
            for child in t.children or []
        )
    ]


@pytest.mark.full
def test_no_hostile_text_starts_a_command_in_latex(output):
    tex = output["tex"].partition(r"\begin{document}")[2]
    for word in (r"\input{", r"\write18", r"\def", r"\x{"):
        assert word not in tex
    assert r"\textbackslash{}input\{/etc/passwd\}" in tex


@pytest.mark.full
@needs_tex
def test_hostile_texts_compile_and_print_what_they_say(output, tmp_path):
    (tmp_path / "review.tex").write_text(output["tex"], encoding="utf-8")
    log = compiled(tmp_path, "review.tex")
    assert "root:" not in log
    assert "Missing character" not in log
    if shutil.which("pdftotext"):
        import subprocess

        command, how = ["pdftotext", "-layout", "review.pdf", "-"], {"cwd": tmp_path, "timeout": 30}
        told = subprocess.run(command, capture_output=True, text=True, check=True, **how)
        text = " ".join(told.stdout.split())
        for words in (
            "\\input{/etc/passwd}",
            "<script>alert(1)</script>",
            "50 % off_by_one",
            "{{ 7*7 }}",
        ):
            assert words in text


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", [*TITLES, "漢字 🙂 \u202e\u0000\u0007 end"])
def test_latex_text_holds_no_live_character(text):
    written = latex_text(text)
    bare = re.sub(
        r"\\text[a-z]+\{\}|\\ldots\{\}|\\allowbreak\{\}|\$\\[a-z]+\$|\$-\$|\\[{}$&#_%]", "", written
    )
    assert not re.search(r"[\\{}$&#_%^<>|\"]", bare.replace("~", "")), written
    assert "\n" not in written
    assert latex_code(text).startswith(r"\texttt{")


@pytest.mark.full
@pytest.mark.parametrize(
    "title", ["one\n\n## two\r\nb", "a\x0bb\x0cc\td\u2028b\u2029c\u0085d", "| a |\n| - |\n| b |"]
)
def test_a_title_of_several_lines_stays_one(title, tmp_path):
    path = tmp_path / "study.yaml"
    import json

    path.write_text(study_text(title=json.dumps(title)), encoding="utf-8")
    text = to_standard_output(path, "md")
    heads = [block.text for block in blocks(text, "md") if block.kind in ("h1", "h2")]
    assert heads[1] == "Memory"
    tex = to_standard_output(path, "tex")
    (line,) = re.findall(r"^\{\\LARGE\\bfseries .*$", tex, re.M)
    assert line.endswith(r"\par}")


def test_a_code_span_ends_where_it_is_meant_to():
    for inside in ("a` <b>x</b> `", "``a``", "`", "a```b"):
        made = MarkdownIt("commonmark", {"html": True}).render(f"x {markdown_code(inside)} y")
        assert made == f"<p>x <code>{html.escape(inside)}</code> y</p>\n"
