"""What CONTRIBUTING promises a newcomer: every addition, made in the files that it names and in no other, comes out everywhere it should."""

import itertools
import json
import re
from functools import partial
from types import SimpleNamespace

import pytest
import yaml

from tests.near import near
from tests.project.additions import (
    CONTRIBUTING,
    ROOT,
    Insert,
    command_line,
    entries,
    make,
    paths,
    python,
)
from tests.project.additions.made import ADDITIONS
from tests.specs.checkpoints import gguf_files
from tools.docs import tables

pytestmark = pytest.mark.full

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "16")
KV = 2 * 32 * 8 * 128 * 2
"""Bytes that Llama-3-8B caches for a token: keys and values of 32 layers, 8 heads of 128, 16 bits each."""
WEIGHTS = 8_030_261_248 * 2
FORMS = """
from symroof.symbolic.printing import latex, text
from symroof.symbolic.reading import parse, written
print(parse("nearest(5/3)"), latex(written("nearest(5/3)"), str, as_written=True))
longest = parse("hypotenuse(prompt, 3)")
print(text(longest), parse(text(longest)) == longest)
"""
BY_TESTS = {"A system of the sixty"}
"""What is no part of the package: a row of a page."""


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    """The copy with every addition: its command line, and the folder that it runs in."""
    root, folder = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("work")
    make(root, ADDITIONS)
    with command_line(root, folder) as run:
        yield SimpleNamespace(
            run=run, python=partial(python, root, folder), folder=folder, root=root
        )


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


def test_every_entry_is_made_here():
    assert set(entries()) == set(ADDITIONS) | BY_TESTS
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


def test_an_edit_that_the_page_does_not_name_is_refused(tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(AssertionError, match=r"which CONTRIBUTING does not name"):
        make(tmp_path / "copy", {"A slip": [Insert("symroof/claims/judge.py", "", "import")]})


def test_a_schema_changes_where_an_entry_says_so_and_nowhere_else(newcomer):
    printed = {path.name.partition(".")[0]: path for path in (ROOT / "schema").glob("*.json")}
    changed = {
        kind
        for kind, path in printed.items()
        if newcomer.run("schema", kind).out != path.read_text(encoding="utf-8")
    }
    assert changed == {kind for entry in entries().values() for kind in entry.schemas}


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


def test_a_limit_form_is_printed_for_what_it_moves(newcomer):
    assert (
        "as the fixed cost of a step vanishes:"
        in newcomer.run("derive", "itl", *CASE, "--set", "step_overhead=5 ms", "--all").out
    )


def test_a_switch_value_is_listed_and_chosen(newcomer):
    values = [
        entry["value"]
        for entry in newcomer.run("list", "assumptions", "--json").json["entries"]
        if entry["name"] == "kv_reserve"
    ]
    assert values == ["logical", "paged", "doubled", "unified"]
    assert (
        quantities(newcomer, *CASE, "--assume", "kv_reserve=doubled")["kv_reserved_bytes"]
        == 2 * (1024 + 15) * KV
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


def test_a_function_of_the_grammar_is_evaluated_swept_and_printed(newcomer):
    """A third of the prompt, to the nearest whole token: of 5 it is 2, of 7 too. Sides of 3 and 4 have one of 5 across."""
    case = ("--model", "llama-3-8b", "--set", "context=nearest(prompt/3)")
    assert quantities(newcomer, *case, "--prompt", "5")["kv_cache_bytes"] == 2 * KV
    swept = newcomer.run(
        "sweep", *case, "--over", "prompt=2:7", "-q", "kv_cache_bytes", "--json"
    ).json
    assert swept["data"]["kv_cache_bytes"] == [KV, KV, KV, 2 * KV, 2 * KV, 2 * KV]
    across = ("--model", "llama-3-8b", "--set", "context=hypotenuse(3*prompt, 4*prompt)")
    assert quantities(newcomer, *across, "--prompt", "2")["kv_cache_bytes"] == 10 * KV
    swept = newcomer.run(
        "sweep", *across, "--over", "prompt=1:3", "-q", "kv_cache_bytes", "--json"
    ).json
    assert swept["data"]["kv_cache_bytes"] == [5 * KV, 10 * KV, 15 * KV]
    assert newcomer.python(FORMS).splitlines() == [
        r"2 \operatorname{nearest}{\left(\frac{5}{3} \right)}",
        "hypotenuse(prompt, 3) True",
    ]


# --------------------------------------------------------------------------------------------------------- the catalogue


def test_an_accelerator_is_listed_valid_shown_and_chosen(newcomer):
    """The starter's 400 TFLOP/s, 3 TB/s and 81,559 MiB."""
    assert listed(newcomer, "hardware")["made-up-gpu"]["dense_16_bit_peak"] == "400 TFLOP/s"
    newcomer.run("validate", newcomer.root / "specs/hardware/made-up-gpu.yaml")
    assert "My device 80 GB" in newcomer.run("show", "made-up-gpu").out
    found = quantities(
        newcomer,
        "--model",
        "llama-3-8b",
        "--hardware",
        "made-up-gpu",
        "--prompt",
        "1024",
        "--engine",
        "ideal",
    )
    assert found["ridge_point"] == pytest.approx(400 / 3)
    assert found["usable_memory"] == 81559 * 2**20
    (newcomer.folder / "choice.yaml").write_text(
        study_text(hardware="[made-up-gpu, h100-sxm]"), encoding="utf-8"
    )
    assert "MADE UP GPU" in newcomer.run("select", "choice.yaml").out


def test_a_model_is_listed_valid_and_counted(newcomer):
    assert listed(newcomer, "models")["made-up-1b"]["parameters"] == 1_100_048_384
    newcomer.run("validate", newcomer.root / "specs/models/made-up-1b.yaml")
    assert (
        quantities(newcomer, "--model", "made-up-1b", "--hardware", "h100-sxm", "--prompt", "8")[
            "params"
        ]
        == 1_100_048_384
    )


def test_a_source_of_measurements_is_listed_valid_and_shown(newcomer):
    assert listed(newcomer, "measured")["made-up-source"]["measurements"] == 1
    newcomer.run("validate", newcomer.root / "specs/measured/made-up-source.yaml")
    assert "1.02 s" in newcomer.run("show", "made-up-source", "--all").out


def test_a_theory_is_listed_shown_and_worked_out(newcomer):
    """The starter's three copies of 1 TB, at 0.02 USD a GB."""
    assert listed(newcomer, "theories")["made-up"]["quantities"] == 2
    assert "stored_bytes*copies" in newcomer.run("show", "made-up").out
    assert quantities(
        newcomer, "made-up", "--set", "stored_bytes=1 TB", "--set", "disk_price=0.02 USD/GB"
    ) == near({"disk_bytes": 3e12, "disk_cost": 60})


def test_an_engine_is_listed_valid_and_chosen(newcomer):
    assert listed(newcomer, "engines")["made-up-engine"]["version"] == "1.0"
    newcomer.run("validate", newcomer.root / "specs/engines/made-up-engine.yaml")
    memory = quantities(newcomer, *CASE, "--engine", "ideal")["usable_memory"]
    assert quantities(newcomer, *CASE, "--engine", "made-up-engine")[
        "usable_memory"
    ] == pytest.approx(0.9 * memory)
    assert quantities(newcomer, *CASE, "--engine", "made-up-engine@0.5")[
        "usable_memory"
    ] == pytest.approx(0.8 * memory)


def test_a_preset_is_listed_valid_shown_and_taken_apart(newcomer):
    assert "made-up-tool" in listed(newcomer, "presets")
    newcomer.run("validate", newcomer.root / "specs/presets/made-up-tool.yaml")
    assert "the device waits for it" in newcomer.run("show", "made-up-tool", "--all").out
    (entry,) = newcomer.run("diff", "symroof", "made-up-tool", *CASE, "-q", "itl", "--json").json[
        "quantities"
    ]
    assert [
        step["effect"]
        for step in entry["steps"]
        if step["changes"][0]["name"] == "itl: sampling on the host"
    ] == [pytest.approx(5e-4)]


def test_a_claim_file_is_valid_and_checked(newcomer):
    """The starter's five sentences; its comments say which of them need something unsaid."""
    file = newcomer.root / "specs/claims/made-up.yaml"
    newcomer.run("validate", file)
    assert [claim["verdict"] for claim in newcomer.run("check", file, "--json").json["claims"]] == [
        "rounded",
        "rounded",
        "exact",
        "rounded",
        "conditional",
    ]


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


def test_a_quantization_method_narrows_what_it_says(newcomer):
    """6 bits for the products; tables, head and norms keep 16."""
    found = config(
        newcomer, "six.json", model_type="made_up", quantization_config={"quant_method": "six"}
    )
    assert found["weight_bytes"] == PRODUCTS * 6 // 8 + 2 * (2 * 1000 * 64 + 7 * 64)


def test_a_precision_is_listed_and_taken(newcomer):
    """2 bits and an eighth of a 16-bit scale's 128th: 2.125; tables, head and norms of Llama-3-8B keep 16."""
    assert listed(newcomer, "precisions")["w2a16"]["bits"] == 2.125
    wide = 2 * 128256 * 4096 + (2 * 32 + 1) * 4096
    narrow = 8_030_261_248 - wide
    assert quantities(newcomer, *CASE, "--weights", "w2a16")["weight_bytes"] == pytest.approx(
        2 * wide + narrow * 2.125 / 8, rel=1e-4
    )


def test_an_architecture_of_gguf_files_is_read(newcomer):
    layers = [gguf_files.block(i, 64, 4, 2, 16, 128) for i in range(2)]
    metadata, tensors = gguf_files.model(
        "madeup", layers, 64, 1000, gguf_files.heads("madeup", 4, 2)
    )
    (newcomer.folder / "m.gguf").write_bytes(gguf_files.gguf(metadata, tensors))
    assert (
        quantities(newcomer, "--model", "m.gguf", "--prompt", "8")["params"]
        == 2 * 1000 * 64 + PRODUCTS + 5 * 64
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


def test_a_unit_of_prose_is_read(newcomer):
    claim = checked(
        newcomer,
        "It takes 0.1342 gigs. <!-- symroof: kv_cache_bytes model=llama-3-8b prompt=1024 -->\n",
    )
    assert (claim["claimed"], claim["verdict"]) == (0.1342e9, "rounded")


# --------------------------------------------------------------------------------------------------- reviews, pictures


def study_text(**changes):
    fields = {
        "title": "A study",
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "workload": "{prompt: 1024, output: 16, batch: 2}",
    } | changes
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


@pytest.fixture(scope="module")
def reviews(newcomer):
    """One study reviewed in every format, with its pictures, by file ending."""
    targets = "{itl: 50 ms, energy: 1 J}"
    (newcomer.folder / "study.yaml").write_text(
        study_text(targets=targets, thresholds="all", efficiency="{from: peak}"), encoding="utf-8"
    )
    newcomer.run("report", "study.yaml", "-o", "out", "--format", "md,tex,html,txt", "--full")
    return {
        ending: (newcomer.folder / f"out/study.{ending}").read_text(encoding="utf-8")
        for ending in ("md", "tex", "html", "txt")
    }


def review(newcomer, ending):
    newcomer.run("report", *CASE, "-o", "plain", "--format", ending, "--no-plots", "--full")
    return (newcomer.folder / f"plain/case.{ending}").read_text(encoding="utf-8")


def test_a_section_is_in_the_review_of_every_format(reviews):
    """1,039 tokens of two requests, in sheets of 3 kB."""
    sheets = -(-2 * (1024 + 15) * KV // 3000)
    for ending, heading in (
        ("md", "## On paper"),
        ("tex", r"\section{On paper}"),
        ("html", "On paper</h2>"),
        ("txt", "== On paper"),
    ):
        assert heading in reviews[ending]
        assert re.search(rf"The cache fills {sheets:,}|The cache fills {sheets}", reviews[ending])


def test_a_picture_is_plotted_and_in_the_review(newcomer, reviews):
    newcomer.run("plot", "two-times", *CASE, "-o", "two.svg")
    assert (newcomer.folder / "two.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "two-times" in newcomer.run("plot", "--help").out
    assert (newcomer.folder / "out/study-two-times.svg").is_file()
    assert "](study-two-times.svg)" in reviews["md"]


def test_an_output_format_is_written(newcomer, reviews):
    assert "== Verdict" in reviews["txt"]
    assert "txt" in newcomer.run("report", "--help").out


# ---------------------------------------------------------------------------------------- verdicts, sweeps, selections


def test_a_target_is_judged_flipped_solved_and_selected_by(newcomer, reviews):
    """Half a joule is missed at any batch: prefill alone takes 2 FLOPs for each of 7 billion parameters and 1,024 tokens, 10 J for 16 tokens at 989.4 TFLOP/s on 700 W. A batch of two misses a joule."""
    assert "energy per token" in reviews["md"].split("## Cases")[0]
    assert "misses its target on energy per token" in " ".join(reviews["md"].split())
    solved = [
        newcomer.run(
            "solve",
            "energy_per_token = energy_target",
            "--for",
            "batch",
            *CASE,
            *("--efficiency", "peak", "--set", f"energy_target={limit} J", "--json"),
        ).json["verdict"]
        for limit in (0.5, 1)
    ]
    assert solved == ["lhs_above", "crosses"]
    assert "energy" in newcomer.run("select", "study.yaml", code=1).out
    assert "meets the energy target" in reviews["md"]
    newcomer.run("eval", *CASE, "--target", "energy=2 J")


def test_a_condition_of_the_headline_is_flipped_in_the_review(reviews):
    """Free memory is more than the weights: smaller memory ends that."""
    assert "lacks room for the weights again" in reviews["md"]


def test_a_lever_is_what_a_failing_configuration_lacks(newcomer):
    (newcomer.folder / "tight.yaml").write_text(
        study_text(
            hardware="l4",
            workload="{prompt: 1024, output: 16, batch: 60}",
            efficiency="{memory_share: 0.8}",
        ),
        encoding="utf-8",
    )
    assert "memory_share" in newcomer.run("select", "tight.yaml", "--details", code=1).out


def test_a_format_of_sweeps_is_written_by_its_ending(newcomer):
    newcomer.run("sweep", *CASE, "--over", "prompt=1:3", "-q", "kv_cache_bytes", "-o", "out.tsv")
    rows = [
        line.split("\t")
        for line in (newcomer.folder / "out.tsv").read_text(encoding="utf-8").splitlines()
    ]
    assert rows == [["prompt", "kv_cache_bytes"], *([str(n), str(n * KV)] for n in (1, 2, 3))]


# ------------------------------------------------------------------------------------------------------ the command line


def test_a_command_is_listed_and_run(newcomer):
    assert "The number of models." in newcomer.run("--help").out
    assert int(newcomer.run("count").out) == len(listed(newcomer, "models"))


def test_an_option_of_another_tool_leads_to_ours(newcomer):
    assert "--tp" in newcomer.run("eval", *CASE, "--cards", "2", code=2).err


def test_a_flag_of_vllm_sets_its_input(newcomer):
    found = newcomer.run(
        "vllm", "vllm serve llama-3-8b --compute-share 0.5", "--hardware", "h100-sxm", "--details"
    ).out
    assert "mfu = 0.5" in found


# ------------------------------------------------------------------------------------------------------- beside the package


def test_a_row_of_the_systems_is_run_by_their_test():
    """Of Llama-3-8B: 1,000 tokens of 131,072 byte."""
    source = (ROOT / "docs/validation/systems.yaml").read_text(encoding="utf-8")
    before = "    - [rate at 1 FLOP/byte, "
    assert source.count(before) == 1
    added = source.replace(
        before,
        "    - [cache of 1000, derive kv_cache_bytes $m8 --prompt 1000, 131.1 MB]\n" + before,
    )
    row = next(itertools.islice(tables.rows(yaml.load(added, yaml.BaseLoader)), 1))
    assert row.what == "cache of 1000"
    assert row.printed == "131.1 MB"
