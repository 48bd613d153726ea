"""What `symroof schema review` says of the data of a review is so; a template written from it alone works."""

import pytest

from symroof.api import Study
from symroof.report.render import render_own
from symroof.report.review_schema import CASE, FIELDS, FLIP, INSIDE, TYPES, review_schema
from symroof.report.view import view

PLAIN = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}
OWN = """<% import "formats/" ~ format_name ~ ".j2" as f with context %>
<< f.document_begin(title) >>
<< f.section("In short") >>
<% call f.p() %><< subject >>: << verdict.state|as_code >>, limited by << verdict.decode_bound|joined(" or ") >>.<% endcall %>
<< f.table(["Number", "Value", "Bound", "Target", "Slack"], decision.numbers) >>
<% for flip in flips.worse %><% call f.p() %><< flip.label >>: << flip.now >>, << f.b(flip.at) >><% endcall %><% endfor %>
<< f.document_end() >>"""


@pytest.fixture(scope="module")
def data():
    study = Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=1024,
        output=64,
        batch=[1, 64],
        mfu=0.5,
        mbu=0.8,
        layer_overhead=0,
        targets={"itl": "5 ms"},
    ).decide()
    return view(study, "symroof report x.yaml")


def wrong(value, fields, place):
    """Keys of an object that are not documented, and values of another type."""
    off = [f"{place}: {set(value) ^ set(fields)}"] if set(value) ^ set(fields) else []
    allowed = {name: TYPES[kind]["type"] for name, (kind, _) in fields.items()}
    kinds = {
        name: tuple(PLAIN[each] for each in ([kind] if isinstance(kind, str) else kind))
        for name, kind in allowed.items()
    }
    return off + [
        f"{place}.{name}: {value[name]!r}"
        for name in fields
        if name in value and not isinstance(value[name], kinds[name])
    ]


def test_every_object_has_the_keys_and_types_that_are_documented(data):
    off = wrong({**data, "format_name": "html"}, FIELDS, "review")
    for name, fields in INSIDE.items():
        value = data[name]
        assert value, name
        one = value[0] if isinstance(value, list) else value
        if name == "thresholds":
            one = {**one, "entries": one["entries"]}
        off += wrong(one, fields, name)
    off += wrong(data["flips"]["worse"][0], FLIP, "flip")
    extra = {
        "kind": ("text", ""),
        "gain": ("text", ""),
        "bounds": ("texts", ""),
        "passes": ("truth", ""),
        "shown_fits": ("text", ""),
        "fits": ("truth", ""),
    }
    off += wrong(data["verdict"]["alternatives"][0], {**CASE, **extra}, "alternative")
    assert off == []


def test_the_schema_shows_how_a_template_is_written():
    schema = review_schema()
    assert "<< title >>" in schema["description"]
    assert set(schema["properties"]["decision"]["properties"]) == set(INSIDE["decision"])
    assert schema["properties"]["cases"]["items"]["properties"]["rate"]["description"]


@pytest.mark.parametrize(("kind", "begins"), [("md", "# Llama"), ("html", "<!doctype html>")])
def test_a_template_written_from_the_schema_alone(data, kind, begins, tmp_path):
    path = tmp_path / "own.j2"
    path.write_text(OWN, encoding="utf-8")
    text = render_own(data, kind, str(path))
    assert text.startswith(begins)
    for words in (
        data["decision"]["numbers"][1][1].partition(" (")[0],
        data["flips"]["worse"][0]["at"],
        "limited by memory",
    ):
        assert words in text
