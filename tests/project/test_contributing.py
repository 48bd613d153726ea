"""What CONTRIBUTING promises a newcomer: an addition to each part, made in the files that its entry names and in no other, comes out everywhere it should."""

import json
import re
from types import SimpleNamespace

import pytest

from tests.project.additions import CONTRIBUTING, ROOT, command_line, entries, make, paths
from tests.project.additions.made import ADDITIONS

pytestmark = pytest.mark.full

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "16")
KV = 2 * 32 * 8 * 128 * 2
"""Bytes that Llama-3-8B caches for a token: keys and values of 32 layers, 8 heads of 128, 16 bits each."""
WEIGHTS = 8_030_261_248 * 2


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    """The copy with every addition: its command line, and the folder that it runs in."""
    root, folder = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("work")
    make(root, ADDITIONS)
    with command_line(root, folder) as run:
        yield SimpleNamespace(run=run, folder=folder, root=root)


def listed(newcomer, kind):
    return {entry["name"]: entry for entry in newcomer.run("list", kind, "--json").json["entries"]}


def quantities(newcomer, *words):
    (case,) = newcomer.run("eval", *words, "--json").json["cases"]
    return {name: entry["value"] for name, entry in case["quantities"].items()}


def checked(newcomer, text, name="note.md"):
    """The one claim of a note, which is right or wrong."""
    (newcomer.folder / name).write_text(text, encoding="utf-8")
    outcome = newcomer.run("check", name, "--json", code=1 if "wrong" in name else 0)
    (claim,) = outcome.json["claims"]
    return claim


# -------------------------------------------------------------------------------------------------------------- the page


def test_what_is_made_here_is_an_entry():
    assert set(ADDITIONS) <= set(entries())
    assert CONTRIBUTING.count("\n- **") == len(entries())


@pytest.mark.parametrize(
    "path", sorted({path for text in CONTRIBUTING.split("\n- ") for path in paths(text)})
)
def test_every_file_that_the_page_names_is_there(path):
    assert (
        (ROOT / path).exists() if "NAME" not in path else list(ROOT.glob(path.replace("NAME", "*")))
    )


@pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.name)
def test_every_name_that_an_entry_writes_stands_in_a_file_it_names(entry):
    files = [
        file
        for pattern in entry.patterns + paths(entry.text)
        for file in ROOT.glob(pattern)
        if file.is_file()
    ]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for name in re.findall(r"`([A-Z_]{4,})`", entry.text):
        assert re.search(rf"\b{name}\b", text), (
            f"{name} is in none of {[str(file.relative_to(ROOT)) for file in files]}"
        )


def test_a_schema_changes_where_an_entry_says_so_and_nowhere_else(newcomer):
    printed = {path.name.partition(".")[0]: path for path in (ROOT / "schema").glob("*.json")}
    changed = {
        kind
        for kind, path in printed.items()
        if newcomer.run("schema", kind).out != path.read_text(encoding="utf-8")
    }
    assert changed == {kind for name in ADDITIONS for kind in entries()[name].schemas}


# ------------------------------------------------------------------------------------------------------------ the theory


def test_a_quantity_comes_out_of_every_command(newcomer):
    value = 1024 * KV
    assert (
        listed(newcomer, "quantities")["prompt_cache_bytes"]["definition"]
        == "prompt*kv_bytes_per_token"
    )
    assert quantities(newcomer, *CASE)["prompt_cache_bytes"] == value
    derived = newcomer.run("derive", "prompt_cache_bytes", *CASE, "--json").json
    assert derived["value"] == value
    assert r"\kappa" in derived["definition"]["latex"]
    solved = newcomer.run(
        "solve", "prompt_cache_bytes = 1 GiB", "--for", "prompt", *CASE, "--json"
    ).json
    assert solved["value"] == 2**30 / KV
    swept = newcomer.run(
        "sweep", *CASE, "--over", "prompt=1:3", "-q", "prompt_cache_bytes", "--json"
    ).json
    assert swept["data"]["prompt_cache_bytes"] == [KV, 2 * KV, 3 * KV]
    claim = "One prompt takes {} MB. <!-- symroof: prompt_cache_bytes model=llama-3-8b prompt=1024 -->\n"
    assert checked(newcomer, claim.format("134.2"))["derived"] == value
    assert checked(newcomer, claim.format("120"), "wrong.md")["verdict"] == "wrong"


def test_a_threshold_is_listed_solved_and_reviewed(newcomer):
    assert listed(newcomer, "thresholds")["prompt_cache_equals_weights"]["unknown"] == "prompt"
    found = newcomer.run("solve", "prompt_cache_equals_weights", *CASE, "--json").json
    assert found["value"] == pytest.approx(WEIGHTS / KV)
    assert found["integer"] == {"at_least": WEIGHTS // KV + 1}
    assert "prompt_cache_equals_weights" in " ".join(
        review(newcomer, "md").replace("\\", "").split()
    )


def test_a_block_is_read_counted_and_timed(newcomer):
    """The starter's 22 layers with three plain matrices for three gated ones: 5632 * (2 * 2048 + 5632) parameters each."""
    text = (
        (ROOT / "templates/starters/model.yaml")
        .read_text(encoding="utf-8")
        .replace("kind: gated", "kind: deep")
    )
    (newcomer.folder / "deep.yaml").write_text(text, encoding="utf-8")
    found = quantities(
        newcomer, "--model", "deep.yaml", "--hardware", "h100-sxm", "--prompt", "8", "--tp", "2"
    )
    rest = 2 * 32000 * 2048 + 2048 + 22 * (2048 * (2048 + 2 * 256) + 2048 * 2048 + 2 * 2048)
    assert found["params"] == rest + 22 * 5632 * (2 * 2048 + 5632)
    assert found["decode_flops"] > 2 * 22 * 5632 * (2 * 2048 + 5632)


# ---------------------------------------------------------------------------------------------------------- checkpoints


def config(newcomer, name, **fields):
    (newcomer.folder / name).write_text(json.dumps(fields), encoding="utf-8")
    return quantities(newcomer, "--model", name, "--prompt", "8")


PRODUCTS = 2 * (64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 128)
"""Two layers of width 64: 4 query and 2 key-value heads of 16, a gated block of 128."""


def test_a_family_reads_a_small_config_json(newcomer):
    """The defaults stand where the file is silent; three norms a layer, one at the end."""
    assert (
        config(newcomer, "config.json", model_type="made_up")["params"]
        == 2 * 1000 * 64 + PRODUCTS + (2 * 3 + 1) * 64
    )
    assert (
        config(newcomer, "config.json", model_type="made_up", vocab_size=500)["params"]
        == 2 * 500 * 64 + PRODUCTS + (2 * 3 + 1) * 64
    )


# --------------------------------------------------------------------------------------------------------------- claims


def test_a_slip_is_named_in_a_claim_that_makes_it(newcomer):
    """Queries beside keys and values: half as much again, 201.3 MB for 134.2."""
    claim = checked(
        newcomer,
        f"It takes {1024 * KV * 1.5 / 1e6:.1f} MB. <!-- symroof: kv_cache_bytes model=llama-3-8b prompt=1024 -->\n",
        "wrong.md",
    )
    named = {slip["slip"] for slip in claim["slips"] if slip["named"]}
    assert "queries_cached" in named


def review(newcomer, ending):
    newcomer.run("report", *CASE, "-o", "plain", "--format", ending, "--full")
    return (newcomer.folder / f"plain/case.{ending}").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------------ the command line


def test_a_command_is_listed_and_run(newcomer):
    assert "The number of models." in newcomer.run("--help").out
    assert int(newcomer.run("count").out) == len(listed(newcomer, "models"))
