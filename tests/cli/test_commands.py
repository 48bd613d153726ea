"""Every command: its help, its output in text and JSON, its exit code."""

import json
import math
import re
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.formula.parse import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES

from . import CHAT, COMMANDS, ROOT, STEMS, STUDIES, call, cases, good, process, refused, write_study

H100 = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "16")
RANGED = STUDIES / "qwen2.5-7b-budget.yaml"
TOO_LARGE = STUDIES / "llama-3-70b-chat.yaml"


# ----------------------------------------------------------------------------------------------------------- help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    outcome = good(command, "--help")
    assert outcome.out.startswith(f"Usage: symroof {command}")
    assert "--help" in outcome.out


@pytest.mark.parametrize("command", ["eval", "derive", "check", "list", "show", "validate"])
def test_every_command_that_prints_a_result_takes_json(command):
    assert "--json" in good(command, "--help").out


@pytest.mark.parametrize("command", ["report", "eval", "derive"])
def test_a_case_can_be_given_on_the_line(command):
    text = good(command, "--help").out
    for option in (
        "--model",
        "--hardware",
        "--system",
        "--prompt",
        "--output",
        "--batch",
        "--weights",
        "--kv",
        "--activations",
        "--tp",
        "--mfu",
        "--mbu",
        "--assume",
        "--preset",
        "--set",
    ):
        assert option in text


def test_the_group_lists_every_command_once():
    text = good("--help").out
    for command in COMMANDS:
        assert len(re.findall(rf"^  {command} ", text, re.M)) == 1


def test_the_version_is_that_of_the_package():
    import symroof

    assert good("--version").out == f"symroof, version {symroof.__version__}\n"


# ----------------------------------------------------------------------------------------------------------- eval


def test_eval_has_the_shape_of_the_contract():
    result = good("eval", *H100, "--batch", "2", "--json").json
    assert result["schema"] == "symroof/eval/1"
    (case,) = result["cases"]
    assert (case["model"], case["hardware"]) == ("llama-3-8b", "h100-sxm")
    assert all({"value", "unit", "source"} <= set(entry) for entry in case["inputs"].values())
    assert set(case["assumptions"]) == set(SWITCHES)
    assert all(set(entry) == {"value", "defaulted"} and entry["value"] in SWITCHES[switch].values for switch, entry in case["assumptions"].items())
    assert all({"value", "unit"} <= set(entry) for entry in case["quantities"].values())
    assert all(isinstance(warning, str) for warning in case["warnings"])


def test_eval_prints_numbers_in_base_units_and_exact_integers_as_integers():
    (case,) = cases(*H100, "--batch", "2")
    exact = {"kv_bytes_per_token": 2 * 32 * 8 * 128 * 2, "kv_cache_bytes": 2 * 1024 * 2 * 32 * 8 * 128 * 2, "decode_tokens": 2}
    for name, value in exact.items():
        result = case["quantities"][name]["value"]
        assert (result, type(result)) == (value, int)
    assert case["inputs"]["peak_flops"]["value"] == 989_400_000_000_000
    assert math.isclose(case["quantities"]["ridge_point"]["value"], 989.4e12 / 3.35e12, rel_tol=1e-12)
    assert case["quantities"]["ttft"]["unit"] == "s"
    assert case["quantities"]["fits"]["value"] is True
    assert case["quantities"]["decode_bound"]["value"] == "memory"


def test_the_price_is_in_usd_per_second_in_json_and_per_hour_in_text():
    (case,) = cases(*H100)
    assert case["inputs"]["price"]["unit"] == "USD/s"
    assert math.isclose(case["inputs"]["price"]["value"], 4.29 / 3600, rel_tol=1e-12)
    assert "4.29 USD/hour" in good("eval", *H100).out


def test_a_ranged_input_gives_every_number_its_ends_and_a_bound_as_a_list():
    (case,) = cases(*H100, "--mfu", "0.5..0.7")
    assert case["inputs"]["mfu"]["value"] == 0.6
    assert (case["inputs"]["mfu"]["low"], case["inputs"]["mfu"]["high"]) == (0.5, 0.7)
    for name, entry in case["quantities"].items():
        if isinstance(entry["value"], bool):
            continue
        if name.endswith("_bound"):
            assert isinstance(entry["value"], list)
        else:
            assert entry["low"] <= entry["value"] <= entry["high"]
    assert case["quantities"]["prefill_compute_time"]["low"] < case["quantities"]["prefill_compute_time"]["high"]


def test_a_bound_that_flips_inside_a_range_lists_both():
    (case,) = cases("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "330", "--mfu", "0.1..1")
    assert sorted(case["quantities"]["prefill_bound"]["value"]) == ["compute", "memory"]


def test_without_a_range_there_are_no_ends():
    (case,) = cases(*H100)
    assert not any("low" in entry or "high" in entry for entry in (*case["quantities"].values(), *case["inputs"].values()))
    assert isinstance(case["quantities"]["decode_bound"]["value"], str)


def test_listed_values_make_one_case_for_each_combination():
    result = cases(*H100, "--batch", "1", "--batch", "8", "--weights", "fp16", "--weights", "fp8")
    pairs = [(case["inputs"]["batch"]["value"], case["inputs"]["weight_bytes_per_param"]["value"]) for case in result]
    assert sorted(pairs) == [(1, 1), (1, 2), (8, 1), (8, 2)]


def test_two_devices_make_two_cases_the_first_is_the_baseline():
    result = cases("--model", "llama-3-8b", "--hardware", "h200", "--system", "h100-sxm", "--prompt", "1024")
    assert [case["hardware"] for case in result] == ["h200", "h100-sxm"]


def test_eval_text_shows_what_json_says():
    (case,) = cases(*H100, "--batch", "2")
    text = good("eval", *H100, "--batch", "2").out
    for name, entry in case["quantities"].items():
        line = re.search(rf"^  {re.escape(name)} +(\S.*)$", text, re.M)
        assert line, name
        if isinstance(entry["value"], str):
            assert line[1].startswith(entry["value"])
    assert "11.15 ms" not in text or math.isclose(case["quantities"]["ttft"]["value"], 0.01115, rel_tol=1e-3)
    for name in case["inputs"]:
        assert re.search(rf"^[* ] {re.escape(name)} ", text, re.M), name
    for switch, chosen in case["assumptions"].items():
        assert re.search(rf"^{'[*]' if chosen['defaulted'] else ' '} {switch} +{chosen['value']} ", text, re.M), switch


def test_every_quantity_either_has_a_value_or_says_why_not():
    (case,) = cases("--model", "llama-3-8b", "--prompt", "1024")
    assert "ttft" not in case["quantities"]
    assert "peak_flops" in case["unknown"]["ttft"] or "not given" in case["unknown"]["ttft"]
    assert set(case["quantities"]) | set(case["unknown"]) >= set(QUANTITIES)


def test_a_file_and_the_line_together(tmp_path):
    path = write_study(tmp_path)
    (case,) = cases(path, "--batch", "7", "--model", "llama-3.2-1b")
    assert (case["model"], case["inputs"]["batch"]["value"], case["inputs"]["prompt"]["value"]) == ("llama-3.2-1b", 7, 1024)


def test_set_takes_units_and_any_quantity():
    (case,) = cases(*H100, "--set", "mem_bandwidth=3 TB/s", "--set", "itl=14 ms")
    assert case["inputs"]["mem_bandwidth"]["value"] == 3 * 10**12
    assert case["quantities"]["itl"]["value"] == 0.014
    assert case["quantities"]["user_rate"]["value"] == pytest.approx(1 / 0.014)
    assert case["quantities"]["decode_mbu"]["value"] == pytest.approx(case["quantities"]["decode_bytes"]["value"] / 3e12 / 0.014)


def test_set_takes_aliases_and_prints_the_name():
    (case,) = cases(*H100[:4], "--set", "isl=512", "--set", "bs=3")
    assert (case["inputs"]["prompt"]["value"], case["inputs"]["batch"]["value"]) == (512, 3)
    assert not {"isl", "bs"} & set(case["inputs"])


def test_assume_turns_one_switch():
    (case,) = cases(*H100, "--assume", "attention=full")
    assert case["assumptions"]["attention"] == {"value": "full", "defaulted": False}
    assert case["quantities"]["prefill_pairs"]["value"] == 1024**2
    (plain,) = cases(*H100)
    assert plain["assumptions"]["attention"] == {"value": "causal", "defaulted": True}
    assert plain["quantities"]["prefill_pairs"]["value"] == 1024 * 1025 // 2


# ----------------------------------------------------------------------------------------------------- precedence

PRESET = "tutorial-mlsysim"


def chosen(path, *arguments):
    (case,) = cases(path, *arguments)
    return case


def test_command_line_over_study_over_preset_over_default(tmp_path):
    plain = write_study(tmp_path, "plain.yaml")
    preset = write_study(tmp_path, "preset.yaml", preset=PRESET)
    study = write_study(tmp_path, "own.yaml", preset=PRESET, efficiency="{mfu: 0.6}")
    steps = [(plain, (), 1, "default"), (preset, (), 0.5, f"preset {PRESET}"), (study, (), 0.6, "study"), (study, ("--mfu", "0.7"), 0.7, "command line")]
    for path, line, value, source in steps:
        result = chosen(path, *line)["inputs"]["mfu"]
        assert (result["value"], result["source"]) == (value, source)


def test_a_preset_on_the_line_is_still_weaker_than_the_study(tmp_path):
    path = write_study(tmp_path, efficiency="{mfu: 0.6}")
    result = chosen(path, "--preset", PRESET)["inputs"]
    assert result["mfu"]["value"] == 0.6
    assert result["layer_overhead"]["source"] == f"preset {PRESET}"


def test_a_switch_of_the_line_beats_the_study_and_the_study_the_preset(tmp_path):
    path = write_study(tmp_path, preset=PRESET, assume="{activations: on}")
    assert chosen(path)["assumptions"]["activations"]["value"] == "on"
    assert chosen(path, "--assume", "activations=off")["assumptions"]["activations"]["value"] == "off"


def test_detail_on_the_line_beats_a_single_switch_of_the_study(tmp_path):
    path = write_study(tmp_path, assume="{kv_traffic: off}")
    assert chosen(path, "--assume", "detail=exact")["assumptions"]["kv_traffic"]["value"] == "on"


def test_detail_in_the_study_beats_a_single_switch_of_the_preset(tmp_path):
    path = write_study(tmp_path, preset=PRESET, assume="{detail: exact}")
    result = chosen(path)["assumptions"]
    assert {switch: result[switch]["value"] for switch in ("parameters", "attention_flops", "kv_traffic", "activations")} == {
        "parameters": "matmul", "attention_flops": "on", "kv_traffic": "on", "activations": "on",
    }  # fmt: skip


def test_a_single_switch_beside_detail_wins_over_it():
    result = cases(*H100, "--assume", "detail=weights", "--assume", "kv_traffic=on")[0]["assumptions"]
    assert {s: result[s]["value"] for s in ("parameters", "attention_flops", "kv_traffic", "activations")} == {
        "parameters": "nominal", "attention_flops": "off", "kv_traffic": "on", "activations": "off",
    }  # fmt: skip


def test_precision_of_the_line_beats_the_study_and_the_study_the_preset(tmp_path):
    preset = write_study(tmp_path, "preset.yaml", preset=PRESET, precision="{weights: int8}")
    assert chosen(preset)["inputs"]["kv_bytes_per_element"]["value"] == 1  # the preset's cache follows the weights
    study = write_study(tmp_path, "own.yaml", preset=PRESET, precision="{weights: int8, kv: fp16}")
    assert chosen(study)["inputs"]["kv_bytes_per_element"]["value"] == 2
    assert chosen(study, "--kv", "fp8")["inputs"]["kv_bytes_per_element"]["value"] == 1


def test_a_target_of_the_line_beats_the_study(tmp_path):
    path = write_study(tmp_path, targets="{itl: 50 ms}")
    assert chosen(path)["inputs"]["itl_target"]["value"] == 0.05
    assert chosen(path, "--target", "itl=10 ms")["inputs"]["itl_target"]["value"] == 0.01


def test_a_target_set_as_a_symbol_beats_the_study(tmp_path):
    path = write_study(tmp_path, targets="{itl: 50 ms}")
    assert chosen(path, "--set", "itl_target=10 ms")["inputs"]["itl_target"]["value"] == 0.01


# ----------------------------------------------------------------------------------------------------- exit codes


def test_strict_says_one_where_a_target_is_missed():
    assert call("eval", CHAT, "--strict").code == 0
    assert call("eval", CHAT, "--strict", "--target", "itl=1 ms").code == 1
    assert call("eval", CHAT, "--target", "itl=1 ms").code == 0


def test_strict_says_one_where_a_target_set_as_a_symbol_is_missed():
    assert call("eval", CHAT, "--strict", "--set", "itl_target=1 ms").code == 1


def test_strict_says_one_where_it_does_not_fit():
    assert call("eval", TOO_LARGE, "--strict", "--json").code == 1
    assert call("eval", TOO_LARGE, "--json").code == 0


def test_strict_says_one_where_a_target_is_met_in_a_part_of_the_ranges_only(tmp_path):
    path = write_study(tmp_path, efficiency="{mfu: 0.2..0.9}", targets="{ttft: 30 ms}")
    (case,) = cases(path)
    assert case["quantities"]["ttft"]["low"] < 0.03 < case["quantities"]["ttft"]["high"]
    assert call("eval", path, "--strict").code == 1


def test_json_never_changes_the_exit_code():
    for line in ((CHAT,), (TOO_LARGE, "--strict"), ("--model", "nothing")):
        assert call("eval", *line).code == call("eval", *line, "--json").code


def test_strict_works_for_the_report(tmp_path):
    assert call("report", TOO_LARGE, "-o", tmp_path, "--format", "md", "--no-plots", "--strict").code == 1
    assert (tmp_path / "llama-3-70b-chat.md").exists()
    assert call("report", CHAT, "-o", tmp_path, "--format", "md", "--no-plots", "--strict").code == 0


def broken(monkeypatch):
    """Make ``list models`` hit a bug."""
    from symroof.cli import list_command

    def fail():
        raise RuntimeError("out of cheese")

    monkeypatch.setitem(list_command.KINDS, "models", fail)


def test_a_bug_is_one_line_and_101(monkeypatch):
    broken(monkeypatch)
    outcome = call("list", "models")
    assert (outcome.code, outcome.out) == (101, "")
    assert outcome.err.count("\n") == 1
    assert "out of cheese" in outcome.err
    assert "--debug" in outcome.err
    assert "Traceback" not in outcome.err


def test_debug_shows_the_traceback_of_a_bug_and_still_says_101():
    code = (
        "import sys\nfrom symroof.cli import list_command, run\n"
        "def fail(): raise RuntimeError('out of cheese')\n"
        "list_command.KINDS['models'] = fail\nsys.argv = ['symroof', '--debug', 'list', 'models']\nrun()"
    )
    done = process(code=code)
    assert "Traceback" in done.stderr
    assert "out of cheese" in done.stderr
    assert done.returncode == 101


def test_the_process_ends_with_the_exit_code():
    assert process("eval", str(CHAT), "--strict", "--target", "itl=1 ms").returncode == 1
    done = process("eval", "--model", "nothing-like-it")
    assert (done.returncode, done.stdout) == (2, "")


# --------------------------------------------------------------------------------------------------------- derive


def test_derive_has_the_shape_of_the_contract():
    result = good("derive", "kv_cache_bytes", *H100, "--batch", "2", "--json").json
    assert {"schema", "quantity", "unit", "definition", "expanded", "substituted", "value", "steps"} <= set(result)
    assert (result["schema"], result["quantity"], result["unit"]) == ("symroof/derive/1", "kv_cache_bytes", "byte")
    for part in ("definition", "expanded", "substituted"):
        assert set(result[part]) == {"text", "latex"}
    assert (result["value"], type(result["value"])) == (2 * 1024 * 2 * 32 * 8 * 128 * 2, int)


DERIVED = [
    "ttft",
    "itl",
    "kv_cache_bytes",
    "fits",
    "decode_bound",
    "prefill_intensity",
    "decode_throughput",
    "cost_per_mtok",
    "memory_utilization",
    "concurrency",
    "ridge_point",
]


@pytest.mark.parametrize("quantity", DERIVED)
def test_every_text_of_a_derivation_parses_back(quantity):
    result = good("derive", quantity, *H100, "--batch", "2", "--json").json
    texts = [result[part]["text"] for part in ("definition", "expanded", "substituted")]
    texts += [step[part]["text"] for step in result["steps"] for part in ("definition", "substituted")]
    for text in texts:
        parse(text)


ARITHMETIC = ["ttft", "itl", "kv_cache_bytes", "prefill_intensity", "decode_throughput", "memory_utilization", "user_rate", "prefill_flops", "concurrency"]


@pytest.mark.parametrize("quantity", ARITHMETIC)
def test_a_substituted_line_comes_to_its_value(quantity):
    """The numbers that stand in the line, worked out, are the value it claims, as far as four digits carry."""
    from symroof.formula.evaluate import evaluate

    result = good("derive", quantity, *H100, "--batch", "2", "--json").json
    steps = [*result["steps"], {"quantity": quantity, "substituted": result["substituted"], "value": result["value"]}]
    assert len(steps) > 1
    for step in steps:
        worked_out = float(evaluate(parse(step["substituted"]["text"]), NoNames()))
        assert worked_out == pytest.approx(float(step["value"]), rel=3e-3), step["quantity"]


class NoNames:
    """An environment in which nothing has a name: a substituted line has numbers only."""

    def value(self, name):
        raise AssertionError(f"{name} stands in a substituted line")

    def at(self, name, changes):
        raise AssertionError(name)


@pytest.mark.parametrize("quantity", ["kv_bytes_per_token", "kv_cache_bytes", "itl", "decode_intensity"])
def test_the_expansion_has_inputs_only_and_comes_to_the_value(quantity):
    """The expanded formula, evaluated over the printed inputs, is the printed value."""
    from symroof.formula.evaluate import evaluate
    from symroof.formula.tree import names
    from symroof.theory.symbols import INPUTS, base_name

    (case,) = cases(*H100, "--batch", "2")
    result = good("derive", quantity, *H100, "--batch", "2", "--json").json
    tree = parse(result["expanded"]["text"])
    assert all(base_name(name) in INPUTS for name in names(tree))

    class Inputs(NoNames):
        def value(self, name):
            return Fraction(str(case["inputs"][name]["value"]))

    assert float(evaluate(tree, Inputs())) == pytest.approx(case["quantities"][quantity]["value"], rel=1e-12)


def test_derive_without_a_case_stays_symbolic():
    result = good("derive", "kv_bytes_per_token", "--json").json
    assert result["value"] is None
    assert {str(name) for name in re.findall(r"[a-z_]+", result["expanded"]["text"])} == {"n_layers", "n_kv_heads", "head_dim", "kv_bytes_per_element"}
    text = good("derive", "kv_bytes_per_token").out
    assert "no number" in text
    assert "kv_bytes_per_token = " in text


def test_derive_text_has_definition_expansion_numbers_and_value():
    text = good("derive", "ttft", *H100).out
    for part in ("definition", "expanded to inputs", "with numbers"):
        assert part in text
    (case,) = cases(*H100)
    last = text.partition("\ninputs (")[0].strip().splitlines()[-1]
    number, unit = re.search(r"= ([\d.]+) (ms|s)$", last).groups()
    assert float(number) * {"ms": 1e-3, "s": 1}[unit] == pytest.approx(case["quantities"]["ttft"]["value"], rel=6e-4)


def test_derive_tells_limits_and_elasticities():
    text = good("derive", "itl", *H100).out
    _, _, limits = text.partition("\nlimits\n")
    assert "  as memory bandwidth grows: decode_compute_time = " in limits.partition("\n\n")[0]
    assert "  first order (weights alone): max(" in limits
    _, _, table = text.partition("\nelasticities: per cent that itl moves when an input moves one per cent (on decode_memory_time)\n")
    assert re.search(r"^  mem_bandwidth +-1\.00  = -1$", table, re.M)
    symbolic = good("derive", "gemm_intensity").out
    assert "  as activations vanish: 2*gemm_m/weight_bytes_per_param\n" in symbolic
    for nothing in ("fits", "decode_bound"):
        assert "elasticities" not in good("derive", nothing, *H100).out


def test_derive_of_a_case_that_does_not_fit_carries_the_flag():
    line = ("--model", "llama-3-70b", "--hardware", "h100-sxm", "--prompt", "1024")
    result = good("derive", "itl", *line, "--json").json
    assert result["flags"] == ["does_not_fit"]
    timed = [step for step in result["steps"] if step["unit"] == "s"]
    assert timed
    assert all(step.get("flags") == ["does_not_fit"] for step in timed)
    text, _, ledger = good("derive", "itl", *line).out.partition("\ninputs (")
    assert ledger
    for text_line in text.splitlines():
        if re.search(r"\d (ms|s|µs)\b", text_line):
            assert "does not fit" in text_line


def test_derive_lists_the_inputs_and_assumptions_it_rests_on():
    result = good("derive", "itl", *H100, "--batch", "2", "--assume", "roofline=no_overlap", "--json").json
    (case,) = cases(*H100, "--batch", "2", "--assume", "roofline=no_overlap")
    assert result["assumptions"] == case["assumptions"]
    assert result["assumptions"]["roofline"] == {"value": "no_overlap", "defaulted": False}
    text = good("derive", "itl", *H100, "--batch", "2", "--assume", "roofline=no_overlap").out
    assert re.search(r"roofline=no_overlap(?!\*)", text)
    assert "attention=causal*" in text
    for name in ("mem_bandwidth", "batch", "n_layers", "mfu"):
        assert re.search(rf"^[* ] {name} ", text, re.M), name


def test_derive_latex_has_balanced_braces():
    text = good("derive", "ttft", "--latex").out
    assert text.strip()
    assert text.count("{") == text.count("}")


def test_derive_an_unknown_name_names_the_nearest():
    message = refused("derive", "ttfft")
    assert "did you mean 'ttft'" in message


# ------------------------------------------------------------------------------------------------- the process

LIGHT = [("--help",), ("list", "models"), ("list", "quantities"), ("validate", str(CHAT)), ("eval", "--help"), ("schema", "study"), ("eval", str(CHAT))]


@pytest.mark.parametrize("line", LIGHT, ids=" ".join)
def test_light_commands_do_not_load_sympy(line):
    code = f"import sys\nfrom symroof.cli.main import main\nc = main({list(line)!r})\nprint(c, sorted({{'sympy', 'numpy', 'matplotlib', 'jinja2'}} & set(sys.modules)), file=sys.stderr)"
    assert process(code=code).stderr.strip() == "0 []"


def test_help_loads_no_command():
    code = "import sys\nfrom symroof.cli.main import main\nmain(['--help'])\nprint([m for m in sys.modules if m.endswith('_command') or m == 'yaml'], file=sys.stderr)"
    assert process(code=code).stderr.strip() == "[]"


def test_importing_the_package_is_light():
    code = "import sys, symroof as sr\nprint(sr.__version__, sorted({'sympy', 'numpy', 'matplotlib', 'pydantic', 'yaml'} & set(sys.modules)))"
    assert process(code=code).stdout.split(" ", 1)[1].strip() == "[]"


@pytest.mark.parametrize(
    "line", [("list", "quantities"), ("eval", str(TOO_LARGE)), ("report", str(CHAT), "-o", "-", "--no-plots"), ("schema", "study")], ids=lambda line: line[0]
)
def test_a_closed_pipe_is_no_error(line):
    import shlex
    import subprocess
    import sys

    command = f"{shlex.join([sys.executable, '-m', 'symroof', *line])} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == 2


def test_a_very_early_closed_pipe_is_no_error():
    import os
    import subprocess
    import sys

    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "symroof", "list", "quantities"], stdout=closed, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_colour_codes_and_no_progress_off_a_terminal(tmp_path):
    done = process("report", str(CHAT), "-o", str(tmp_path), "--no-plots")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stderr


@pytest.mark.parametrize("stem", STEMS)
def test_python_and_the_command_line_agree(stem):
    path = STUDIES / f"{stem}.yaml"
    study = Study.load(path)
    for case, answers in zip(cases(path), study.cases, strict=True):
        for name in ("itl", "ttft", "memory_bytes"):
            assert case["quantities"][name]["value"] == float(answers.result(name).value)


def test_every_json_is_one_object_on_one_stream():
    for line in (("eval", CHAT), ("derive", "ttft"), ("list", "models"), ("show", "ttft"), ("validate", CHAT)):
        outcome = good(*line, "--json")
        assert isinstance(json.loads(outcome.out), dict)
        assert not re.search(r"\b(NaN|Infinity)\b", outcome.out)
