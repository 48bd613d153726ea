"""Texts from outside come out literally in every form, and a stranger's template gets plain data and limits."""

import html
import re
import shutil

import pytest
from jinja2.exceptions import SecurityError, TemplateError
from markdown_it import MarkdownIt

from symroof.api import Study
from symroof.errors import InputError
from symroof.report import sandbox
from symroof.report.environment import environment
from symroof.report.markup import (
    Code,
    Math,
    Ranged,
    latex_code,
    latex_text,
    markdown_code,
    markdown_text,
)
from symroof.report.sandbox import plain, render_in_child
from symroof.report.view import view
from tests.cli import processor_seconds, refused, study_text

from . import ROOT, blocks, call, markdown, parsed_html, solved_once, static, to_standard_output
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
    "1. one",
    "- dash",
    "+ plus",
    "* star",
    "> quote",
    "# heading",
    "=== equals",
    "---",
    "\\",
    "trailing \\",
    "&",
    "http://example.org/a_b_c",
]


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
    with solved_once(Study.load(hostile(tmp_path_factory.mktemp("solved"), "T")).decide()):
        yield


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A template may take longer on a busy machine: its processor time and its memory are what is tested."""
    monkeypatch.setattr(sandbox, "SECONDS", 300)


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
    return {kind: to_standard_output(path, kind, "--no-plots") for kind in ("md", "tex", "html")}


@pytest.mark.parametrize("text", TITLES)
def test_a_text_reads_literally_in_markdown(text, output):
    paragraphs = [block.text for block in blocks(output["md"], "md") if block.kind == "text"]
    assert literally(text) in paragraphs


@pytest.mark.parametrize("text", TITLES)
def test_a_text_reads_literally_in_html(text, output):
    paragraphs = [block.text for block in blocks(output["html"], "html") if block.kind == "text"]
    assert literally(text) in paragraphs


def test_the_title_reads_literally():
    title = " ".join(TITLES[:12])
    (token,) = [t for t in markdown().parse(f"# {markdown_text(title)}") if t.type == "inline"]
    assert "".join(child.content for child in token.children) == title
    assert {child.type for child in token.children} <= {"text", "text_special"}


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


def test_no_hostile_text_starts_a_command_in_latex(output):
    tex = output["tex"].partition(r"\begin{document}")[2]
    for word in (r"\input{", r"\write18", r"\def", r"\x{"):
        assert word not in tex
    assert r"\textbackslash{}input\{/etc/passwd\}" in tex


@needs_tex
def test_hostile_texts_compile_and_print_what_they_say(output, tmp_path):
    (tmp_path / "review.tex").write_text(output["tex"], encoding="utf-8")
    log = compiled(tmp_path, "review.tex")
    assert "root:" not in log
    assert "Missing character" not in log
    if shutil.which("pdftotext"):
        import subprocess

        text = subprocess.run(
            ["pdftotext", "-layout", "review.pdf", "-"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout
        text = " ".join(text.split())
        for words in (
            "\\input{/etc/passwd}",
            "<script>alert(1)</script>",
            "50 % off_by_one",
            "{{ 7*7 }}",
        ):
            assert words in text


@pytest.mark.parametrize("text", [*TITLES, "漢字 🙂 \u202e\u0000\u0007 end"])
def test_latex_text_holds_no_live_character(text):
    written = latex_text(text)
    bare = re.sub(
        r"\\text[a-z]+\{\}|\\ldots\{\}|\\allowbreak\{\}|\$\\[a-z]+\$|\$-\$|\\[{}$&#_%]", "", written
    )
    assert not re.search(r"[\\{}$&#_%^<>|\"]", bare.replace("~", "")), written
    assert "\n" not in written
    assert latex_code(text).startswith(r"\texttt{")


@pytest.mark.parametrize(
    "title",
    [
        "one\n\n## two",
        "a\r\nb",
        "a\tb",
        "a\x0bb\x0cc",
        "| a |\n| - |\n| b |",
        "a\u2028b\u2029c\u0085d",
    ],
)
def test_a_title_of_several_lines_stays_one(title, tmp_path):
    path = tmp_path / "study.yaml"
    import json

    path.write_text(study_text(title=json.dumps(title)), encoding="utf-8")
    text = to_standard_output(path, "md", "--no-plots")
    heads = [block.text for block in blocks(text, "md") if block.kind in ("h1", "h2")]
    assert heads[1] == "Verdict"
    tex = to_standard_output(path, "tex", "--no-plots")
    (line,) = re.findall(r"^\{\\LARGE\\bfseries .*$", tex, re.M)
    assert line.endswith(r"\par}")


@pytest.mark.parametrize(
    "name",
    ["50%_of#1&co q(1)[2].yaml", "x}{y.yaml", """a'b"c"><img src=x onerror=alert(1)>.yaml"""],
)
def test_a_study_file_with_an_odd_name(name, tmp_path):
    """Figures are named after the study: the name must not break or enter the text that shows them."""
    path = hostile(tmp_path, "T", name=name)
    out = tmp_path / "out"
    outcome = call("report", path, "-o", out, "--format", "md,tex,html")
    if outcome.code == 2:  # refusing such a name is as good
        return
    assert outcome.code == 0, outcome.err
    made = {
        ending: next(out.glob(f"*.{ending}")).read_text(encoding="utf-8")
        for ending in ("md", "tex", "html")
    }
    files = {file.name for file in out.iterdir()}
    from urllib.parse import unquote

    images = [
        child.attrs["src"]
        for t in markdown().parse(made["md"])
        for child in t.children or []
        if child.type == "image"
    ]
    assert len(images) == 3
    assert {unquote(src) for src in images} <= files
    tags = [(tag, attributes) for tag, attributes in parsed_html(made["html"]).tags if tag == "img"]
    assert len(tags) == 3
    assert all(
        set(attributes) == {"src", "alt"} and attributes["src"].startswith("data:image/svg+xml,")
        for _, attributes in tags
    )
    if shutil.which("pdflatex"):
        shutil.copyfile(next(out.glob("*.tex")), out / "plain.tex")
        compiled(out, "plain.tex")


# ------------------------------------------------------------------------------------------------- own templates


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return hostile(tmp_path_factory.mktemp("own"), "A <b>title</b>")


MARKDOWN = {"format_name": "markdown"}
"""All that a template needs which uses nothing of a review."""


def own(study, tmp_path, text, kind="md"):
    path = tmp_path / "own.j2"
    path.write_text(text, encoding="utf-8")
    return ("report", study, "-o", "-", "--format", kind, "--template", path)


def test_an_own_template_writes_the_same_data(study, tmp_path):
    outcome = call(
        *own(
            study, tmp_path, "<< title >>: << verdict.state >>, << cases[first - 1].ttft >>", "html"
        )
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert re.fullmatch(
        r"A &lt;b&gt;title&lt;/b&gt;: met, [\d.]+ ms \([\d.]+ to [\d.]+ ms\)\n", outcome.out
    )


def test_an_own_template_shows_formulas_in_mathml(study, tmp_path):
    output = call(
        *own(
            study,
            tmp_path,
            "<< derivations[0].lines[0].left >><< derivations[0].lines[0].rows[0]|display_math >>",
            "html",
        )
    ).out
    assert "<mrow><mi>TTFT</mi></mrow></math>" in output
    assert (
        'display="block"><mrow><mi>TTFT</mi><mo>=</mo><msub><mi>t</mi><mi>q</mi></msub>' in output
    )


def test_braces_are_plain_text_to_an_own_template(study, tmp_path):
    assert (
        call(*own(study, tmp_path, "{{ 7*7 }} ''.__class__.__mro__")).out
        == "{{ 7*7 }} ''.__class__.__mro__\n"
    )


def test_an_own_template_that_reaches_for_python_fails_cleanly():
    with pytest.raises(InputError, match=r"own\.j2:2.*(class|unsafe)"):
        render_in_child("one\n<< ''.__class__.__mro__ >>", "own.j2", MARKDOWN)


def test_a_mistake_in_an_own_template_has_its_line(study, tmp_path):
    output = refused(*own(study, tmp_path, "fine\n<% if %>\n"))
    assert "own.j2:2" in output
    assert "<% if %>" in output


def test_an_unknown_name_in_an_own_template():
    with pytest.raises(InputError, match="tittle"):
        render_in_child("<< tittle >>", "own.j2", MARKDOWN)


def test_a_missing_own_template(study, tmp_path):
    assert "No such file" in refused(
        "report", study, "-o", "-", "--template", tmp_path / "nothing.j2"
    )


ATTACKS = [
    "<< ''.__class__ >>", "<< ''.__class__.__mro__ >>", "<< ''['__class__'] >>", "<< ''|attr('__class__') >>", "<< '{0.__class__}'.format('') >>",
    "<< '{0.__class__.__mro__}'.format(title) >>", "<< cycler.__init__.__globals__ >>", "<< self.__init__ >>", "<< lipsum.__globals__['os'].system('true') >>",
    "<< title.__class__.__subclasses__() >>", "<< warnings.append('x') >>", "<< verdict.update({'state': 'met'}) >>", "<< joiner.__init__.__code__ >>",
    "<% set x = ().__class__.__base__ %><< x >>", "<< range(1000000) | list | length >>", "<< verdict.clear() >>", "<< '{x.__class__}'.format_map({'x': title}) >>",
    "<< (title|raw).format.__func__ >>", "<< namespace.__init__.__globals__ >>",
]  # fmt: skip


@pytest.mark.parametrize("text", ATTACKS)
def test_the_sandbox_refuses(text):
    made = environment(sandboxed=True).from_string(text)
    with pytest.raises((SecurityError, TemplateError, OverflowError)):
        made.render(
            title=Code("T"), verdict={"state": "missed"}, warnings=["w"], format_name="markdown"
        )


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../specs/studies/tutorial-sla.yaml",
        "../../../../../../etc/passwd",
        "formats/../../pyproject.toml",
    ],
)
def test_an_own_template_reads_no_other_file(path):
    made = environment(sandboxed=True).from_string(f"<% include '{path}' %>")
    with pytest.raises(TemplateError):
        made.render(format_name="markdown")


def kinds(value):
    if isinstance(value, dict):
        return {type(key) for key in value}.union(*(kinds(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*map(kinds, value))
    return {type(value)}


def test_an_own_template_gets_plain_data_only():
    study = Study.load(ROOT / "specs" / "studies" / "llama-3-70b-chat.yaml")
    assert kinds(plain(view(study, "symroof"))) <= {
        str,
        Code,
        Math,
        Ranged,
        int,
        float,
        bool,
        type(None),
    }


def test_an_endless_template_is_stopped(monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 2)
    loops = "".join(f"<% for i{n} in range(90000) %>" for n in range(4)) + "<% endfor %>" * 4
    started = processor_seconds()
    with pytest.raises(InputError, match="took longer than 2 s"):
        render_in_child(loops, "own.j2", MARKDOWN)
    assert processor_seconds() - started < 4


@pytest.mark.parametrize(
    "text",
    [
        "<< 'x' * 3000000000 >>",
        "<% set x = ['y' * 1000000] * 3000 %><< x|join >>",
        "<< ('x' * 1000) * 20001 >>",
    ],
)
def test_a_template_that_fills_the_memory_is_stopped(text):
    started = processor_seconds()
    with pytest.raises(InputError, match="memory"):
        render_in_child(text, "own.j2", MARKDOWN)
    assert processor_seconds() - started < 10


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a\n<< 1 + 'a' >>", 2, "unsupported operand"),
        ("a\nb\n<< nosuch.a >>", 3, "'nosuch' is undefined"),
        ("<% for %>", 1, "expected an expression"),
        ("a\n<% include 'nosuch.j2' %>", 2, "no part 'nosuch.j2'; there are: formats/html.j2"),
        (
            "a\n<% import 'formats/markdown.j2' as f with context %><< f.table(['x'], 3) >>",
            2,
            "in markdown.j2 line",
        ),
        ("a\n<% macro m() %><< m() >><% endmacro %><< m() >>", 2, "nested too deep"),
        ("a\n<< " + "(" * 300 + "1" + ")" * 300 + " >>", 2, "nested too deep"),
        ("a\n<< " + "[" * 2000 + "]" * 2000 + " >>", 2, "nested too deep"),
        ("a\n" + "<% if 1 %>" * 300 + "<% endif %>" * 300, 2, "nested too deep"),
        ("a\n<< ('a'|center(10**9))|length >><< 'x' * 10**10 >>", 2, "memory"),
    ],
)
def test_a_mistake_in_a_template_has_its_line(text, line, words):
    """Also at run time, in a shipped part, and where the depth is beyond the parser or the compiler."""
    with pytest.raises(InputError) as caught:
        render_in_child(text, "own.j2", MARKDOWN)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("own.j2", line)
    assert words.lower() in problem.message.lower()


def test_an_own_template_includes_the_shipped_words(study, tmp_path):
    shipped = call("report", study, "--no-plots", "-o", "-").out
    file = tmp_path / "own.j2"
    file.write_text("<% include 'review.j2' %>")
    assert (
        call("report", study, "--no-plots", "-o", "-", "--template", file).out.split(
            "Made by symroof"
        )[0]
        == shipped.split("Made by symroof")[0]
    )
    assert "Made by symroof" in shipped


JSON_TYPES = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "array": list,
    "object": dict,
    "null": type(None),
}


def test_the_data_of_a_template_is_documented(study):
    """Every key that a view has, with its type."""
    documented = call("schema", "review").json["properties"]
    data = plain(view(Study.load(study).decide(), "symroof report")) | {"format_name": "markdown"}
    for properties, values in (
        (documented, data),
        (documented["verdict"]["properties"], data["verdict"]),
    ):
        assert properties is not documented or values.keys() <= properties.keys()
        for name, schema in properties.items():
            kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
            assert schema["description"]
            held = str if isinstance(values.get(name), Ranged) else type(values.get(name))
            assert name not in values or held in [JSON_TYPES[kind] for kind in kinds], name
    assert documented.keys() - data.keys() <= {"against"}


def test_a_code_span_ends_where_it_is_meant_to():
    for inside in ("a` <b>x</b> `", "``a``", "`", "a```b"):
        made = MarkdownIt("commonmark", {"html": True}).render(f"x {markdown_code(inside)} y")
        assert made == f"<p>x <code>{html.escape(inside)}</code> y</p>\n"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("<< lipsum() >>", "'lipsum' is undefined"),
        ("<< [1, 2]|random >>", "No filter named 'random'"),
    ],
)
def test_a_template_has_nothing_random(source, what):
    with pytest.raises(InputError, match=what):
        render_in_child(source, "t.j2", {})
