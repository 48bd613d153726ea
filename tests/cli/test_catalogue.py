"""The catalogue and its files from the command line: list, show, validate, schema, init."""

import re

import pytest

from symroof.report.catalogue_tables import models
from symroof.specs.spec_files import FILE_KINDS
from symroof.theory import theory as theories

from ..tables import fields, words
from . import CHAT, ROOT, call, good, refused, write_study

# ------------------------------------------------------------------------------------------------- list and show

KINDS = ("models", "hardware", "precisions", "quantities", "thresholds", "assumptions", "presets")


@pytest.mark.parametrize("kind", KINDS)
def test_list_prints_every_entry(kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    result = good("list", kind, "--json").json
    assert (result["schema"], result["kind"]) == ("symroof/list/1", kind)
    names = [entry["name"] for entry in result["entries"]]
    text = good("list", kind).out
    for name in names:
        assert re.search(rf"^{re.escape(name)} ", text, re.M), name
    assert names and max(map(len, text.splitlines())) <= 100 and "…" not in text
    assert good("list", kind, f"{names[0][:3]}*{names[0][-1]}").out


def test_active_parameters_are_counted_without_a_theory_of_latencies(monkeypatch):
    """Mixtral 8x7B: all but six of the eight experts of each of 32 layers, three matrices of 4,096 x 14,336 each, and the table of 32,000 rows that is gathered."""
    monkeypatch.setattr(theories, "_theory", lambda *_: pytest.fail("built the whole theory"))
    mixtral = next(row for row in models() if row["name"] == "mixtral-8x7b")
    assert mixtral["active_params"] == 46_702_792_704 - 32 * 6 * 3 * 4096 * 14336 - 32_000 * 4096


SHOWN = words("llama-3-8b h100-sxm tutorial-mlsysim ttft prompt batch_to_ridge kv_traffic isl")


@pytest.mark.parametrize("name", SHOWN)
def test_show_in_text_and_json_say_the_same(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    result = good("show", name, "--json").json
    assert result["schema"] == "symroof/show/1"
    text = good("show", name, "--all").out
    assert text.startswith(result["title"])
    for fact in result["facts"]:
        for cell in fact:
            assert cell in text


# ------------------------------------------------------------------------------------- validate, schema, init


def test_validate_every_spec_of_the_repository():
    own = ("check", "layer_fields", "names", "servers", "theories/inference")  # of our own alone
    files = [
        path
        for path in sorted((ROOT / "specs").rglob("*.yaml"))
        if not str(path.relative_to(ROOT / "specs")).startswith(own)
    ]
    result = good("validate", *files, "--json").json
    assert (result["schema"], result["problems"]) == ("symroof/validate/1", [])
    folders = fields(
        "studies: study, models: model, hardware: hardware, presets: preset, theories: theory, "
        "claims: claims, measured: measured, specs: efficiencies, engines: engine"
    )
    assert [(entry["file"], entry["kind"]) for entry in result["valid"]] == [
        (str(path), folders[path.parent.name]) for path in files
    ]


def test_validate_says_every_problem_of_every_file(tmp_path):
    first = write_study(tmp_path, "first.yaml", modell="x", efficiency="{mfu: 2}")
    second = write_study(tmp_path, "second.yaml", workload=None)
    third = write_study(tmp_path, "third.yaml", model="nope", workload="{prompt:10}")
    fourth = write_study(tmp_path, "fourth.yaml", model="nope")
    outcome = call("validate", first, second, third, fourth, CHAT)
    assert outcome.code == 2
    assert outcome.out == f"{CHAT}: a valid study file\n"
    for said in (
        f"{first}:5:1: modell: unknown key",
        f"{first}:6:",
        "efficiency.mfu",
        f"{second}:1:1: workload: is missing",
        "did you mean 'model'",
        "hint: write a space after the colon: prompt: 10",
        "model: nope: no such model in the catalogue",
    ):
        assert said in outcome.err


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_the_schemas_for_editors_are_those_the_command_prints(kind):
    assert (ROOT / "schema" / f"{kind}.schema.json").read_text(encoding="utf-8") == good(
        "schema", kind
    ).out, f"stale: symroof schema {kind}"


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_init_writes_a_starter_that_is_valid(kind, tmp_path):
    path = tmp_path / f"{kind}.yaml"
    outcome = call("init", kind, "-o", path)
    assert (outcome.code, outcome.out) == (0, "")
    assert good("validate", path).out == f"{path}: a valid {kind} file\n"
    assert good("init", kind).out == path.read_text(encoding="utf-8")


def test_init_never_overwrites(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("mine", encoding="utf-8")
    assert "exists already" in refused("init", "study", "-o", path)
    assert path.read_text(encoding="utf-8") == "mine"
