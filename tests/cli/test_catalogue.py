"""The catalogue and its files from the command line: list, show, validate, schema, init."""

import re

import pytest
import yaml

from symroof.report.catalogue_tables import models
from symroof.specs.catalogue import entries
from symroof.symbolic.reading import parse
from symroof.theory import theory as theories

from . import CHAT, ROOT, call, good, refused, write_study

# ------------------------------------------------------------------------------------------------- list and show

KINDS = ("models", "hardware", "precisions", "quantities", "thresholds", "assumptions", "presets")


@pytest.mark.parametrize("kind", KINDS)
def test_list_prints_every_entry_in_a_line(kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    result = good("list", kind, "--json").json
    assert (result["schema"], result["kind"]) == ("symroof/list/1", kind)
    names = [entry["name"] for entry in result["entries"]]
    text = good("list", kind).out
    assert names
    for name in names:
        assert re.search(rf"^{re.escape(name)} ", text, re.M), name
    lines = text.splitlines()
    assert len(lines) == len(names) + 2 and max(map(len, lines)) <= 100
    assert len(good("list", kind, "--all").out) >= len(text)


def test_list_models_and_hardware_are_the_files_of_the_catalogue():
    for kind in ("models", "hardware", "presets"):
        stems = {path.stem for path in (ROOT / "specs" / kind).glob("*.yaml")}
        assert {entry["name"] for entry in good("list", kind, "--json").json["entries"]} == stems


def test_list_models_says_what_tells_models_apart():
    result = {entry["name"]: entry for entry in good("list", "models", "--json").json["entries"]}
    message = {
        name: tuple(result[name][key] for key in ("attention", "experts", "active_params"))
        for name in ("llama-3-8b", "deepseek-v3", "qwen3-next-80b-a3b")
    }
    assert message == {
        "llama-3-8b": ("gqa", None, None),
        "deepseek-v3": ("mla", "8 of 256 + 1", 36625618432),
        "qwen3-next-80b-a3b": ("36 gated_delta, 12 gqa", "10 of 512 + 1", 3563764480),
    }
    for name, entry in result.items():
        assert (entry["active_params"] is None) == (entry["experts"] is None), name


def test_active_parameters_are_counted_without_a_theory_of_latencies(monkeypatch):
    """Mixtral 8x7B: all but six of the eight experts of each of 32 layers, three matrices of 4,096 x 14,336 each, and the table of 32,000 rows that is gathered."""
    monkeypatch.setattr(theories, "_theory", lambda *_: pytest.fail("built the whole theory"))
    mixtral = next(row for row in models() if row["name"] == "mixtral-8x7b")
    assert mixtral["active_params"] == 46_702_792_704 - 32 * 6 * 3 * 4096 * 14336 - 32_000 * 4096


def test_list_quantities_has_latex_unit_meaning_and_a_definition_that_parses():
    entries = good("list", "quantities", "--json").json["entries"]
    for entry in entries:
        assert entry["latex"]
        assert entry["meaning"]
        assert isinstance(entry["unit"], str)
        if entry["definition"]:
            parse(entry["definition"])
    expected = [
        "ridge_point", "weight_bytes", "kv_bytes_per_token", "kv_cache_bytes", "ttft", "itl",
        "tpot", "response_time", "decode_throughput", "fits", "cost_per_mtok", "energy_per_token",
    ]  # fmt: skip
    assert set(expected) <= {entry["name"] for entry in entries}


def test_list_thresholds_are_equations_that_parse():
    entries = {
        entry["name"]: entry for entry in good("list", "thresholds", "--json").json["entries"]
    }
    expected = "batch_to_ridge prompt_to_ridge context_beyond_ridge max_batch_memory max_context_memory max_batch_itl max_prompt_ttft min_bandwidth_itl min_flops_ttft min_devices_memory attention_equals_linear batch_kv_equals_weights"
    assert set(expected.split()) <= set(entries)
    for entry in entries.values():
        parse(entry["equation"])


def test_lists_and_entries_carry_the_reference_of_quantities_and_thresholds():
    listed = {
        entry["name"]: entry["reference"]
        for kind in ("quantities", "thresholds")
        for entry in good("list", kind, "--json").json["entries"]
    }
    assert all(listed.values())
    for name, source in (
        ("ridge_point", "Williams, Waterman, Patterson 2009, Roofline"),
        ("free_chunk", "Agrawal et al. 2023, SARATHI"),
        ("fits", "definition"),
    ):
        facts = {fact[0]: fact[1] for fact in good("show", name, "--json").json["facts"]}
        assert facts["reference"] == listed[name]
        assert listed[name].startswith(source)
        assert source in good("show", name, "--all").out


def test_eval_has_no_references():
    """A table of values shows values: the sources stand where the meanings do."""
    assert "Roofline:" not in good("eval", CHAT).out


def test_list_assumptions_has_one_default_for_each_switch():
    rows = good("list", "assumptions", "--json").json["entries"]
    defaults = [row["name"] for row in rows if row["default"]]
    assert sorted(defaults) == sorted({row["name"] for row in rows})


def test_list_an_unknown_kind_is_refused():
    assert "model" in refused("list", "modells")


SHOWN = [
    "llama-3-8b", "h100-sxm", "tutorial-mlsysim", "ttft", "prompt", "batch_to_ridge", "kv_traffic",
    "isl",
]  # fmt: skip


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
    for table in result["tables"]:
        for row in table["rows"]:
            assert all(cell in text for cell in row)


def test_show_hardware_has_a_source_for_every_number():
    tables = good("show", "h100-sxm", "--json").json["tables"]
    assert sum(len(table["rows"]) for table in tables) >= 8
    for table in tables:
        source = table["columns"].index("source")
        assert all(row[source] for row in table["rows"])


def test_show_hardware_keeps_dense_and_sparse_apart():
    rows = {row[0]: row for row in good("show", "h100-sxm", "--json").json["tables"][0]["rows"]}
    assert rows["fp16"][1:3] == ["989.4 TFLOP/s", "1978.9 TFLOP/s"]


def test_show_a_model_counts_its_parameters():
    facts = {fact[0]: fact for fact in good("show", "llama-3-8b", "--json").json["facts"]}
    assert facts["params"][2].startswith("8,030,261,248")


ORDERS = {
    "gemma-3-1b": "  5 local, global, repeated\n",
    "deepseek-v3": "  3 dense, 58 moe\n",
    "lfm2-1.2b": "  2 conv, full, 2 conv, full, 2 conv, full, conv, full, conv, full, conv, full, conv\n",
}


@pytest.mark.parametrize("name", ORDERS)
def test_show_a_model_has_the_order_of_its_layers_in_a_line(name):
    assert f"order of the layers\n{ORDERS[name]}" in good("show", name, "--all").out


def test_show_a_model_of_one_kind_says_nothing_of_an_order():
    assert "order of the layers" not in good("show", "llama-3-8b").out


def test_show_takes_a_path():
    assert "H100" in good("show", ROOT / "specs" / "hardware" / "h100-sxm.yaml").out


def test_show_an_unknown_name_names_the_nearest():
    assert "did you mean 'h100-sxm'" in refused("show", "h100-smx")


# ------------------------------------------------------------------------------------- validate, schema, init

FILE_KINDS = ("study", "model", "hardware", "preset", "claims", "measured", "efficiencies")


def test_validate_every_spec_of_the_repository():
    tables = ROOT / "specs" / "checkpoints"  # of our own alone
    files = sorted(set((ROOT / "specs").rglob("*.yaml")) - set(tables.iterdir()))
    result = good("validate", *files, "--json").json
    assert (result["schema"], result["problems"]) == ("symroof/validate/1", [])
    folders = {
        "studies": "study",
        "models": "model",
        "hardware": "hardware",
        "presets": "preset",
        "theories": "theory",
        "claims": "claims",
        "measured": "measured",
        "specs": "efficiencies",
        "engines": "engine",
        "inference": "theory part",
    }
    assert [(entry["file"], entry["kind"]) for entry in result["valid"]] == [
        (str(path), "theory part" if path.name == "inference.yaml" else folders[path.parent.name])
        for path in files
    ]


def test_validate_says_every_problem_of_every_file(tmp_path):
    first = write_study(tmp_path, "first.yaml", modell="x", efficiency="{mfu: 2}")
    second = write_study(tmp_path, "second.yaml", workload=None)
    outcome = call("validate", first, second, CHAT)
    assert outcome.code == 2
    assert outcome.out == f"{CHAT}: a valid study file\n"
    for words in (
        f"{first}:5:1: modell: unknown key",
        f"{first}:6:",
        "efficiency.mfu",
        f"{second}:1:1: workload: is missing",
        "did you mean 'model'",
    ):
        assert words in outcome.err


def test_validate_json_has_the_place_of_every_problem(tmp_path):
    path = write_study(tmp_path, efficiency="{mfu: 2}")
    outcome = call("validate", path, "--json")
    assert outcome.code == 2
    (problem,) = outcome.json["problems"]
    assert (problem["file"], problem["line"], problem["column"], problem["path"]) == (
        str(path),
        5,
        14,
        "efficiency.mfu",
    )


def test_the_list_has_the_memory_that_cases_have():
    """What the driver reports where that is known, the label elsewhere."""
    listed = {
        entry["name"]: entry["mem_capacity"]
        for entry in good("list", "hardware", "--json").json["entries"]
    }
    assert (listed["h100-sxm"], listed["gaudi3"]) == ("81559 MiB", "128 GB")


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_schema_is_a_json_schema_of_the_kind(kind):
    result = good("schema", kind).json
    assert result["$schema"].startswith("https://json-schema.org/")
    assert result["type"] == "object"
    assert result["additionalProperties"] is False


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_the_schemas_for_editors_are_those_the_command_prints(kind):
    assert (ROOT / "schema" / f"{kind}.schema.json").read_text(encoding="utf-8") == good(
        "schema", kind
    ).out, f"stale: symroof schema {kind}"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        ("study", "studies"),
        ("model", "models"),
        ("hardware", "hardware"),
        ("preset", "presets"),
        ("measured", "measured"),
        ("theory", "theories"),
    ],
)
def test_schema_knows_every_key_of_the_catalogue_and_demands_no_other(kind, folder):
    result = good("schema", kind).json
    for path in (entry.path for entry in entries(folder).values()):
        keys = set(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
        assert keys <= set(result["properties"]), path
        assert any(set(form["required"]) <= keys for form in result.get("anyOf", [result])), path


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
