"""The command as a process: help, version, light start, pipes, one form for every JSON."""

import json
import re

import pytest

from . import CHAT, COMMANDS, ROOT, TOO_LARGE, good, process


@pytest.mark.sample(5)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    outcome = good(command, "--help")
    assert outcome.out.startswith(f"Usage: symroof {command}")
    assert f"symroof {command} " in outcome.out.partition("\n")[2]  # an example
    headings = re.findall(r"^(\w[\w ]*):$", outcome.out, re.M)
    case = ["This command", "The case", "Advanced"]
    assert headings == case if "--prompt" in outcome.out else set(headings) <= set(case)


def test_the_group_lists_every_command_once():
    text = good("--help").out
    for command in COMMANDS:
        assert len(re.findall(rf"^  {command} ", text, re.M)) == 1


def test_the_version_is_that_of_the_package():
    import symroof

    assert good("--version").out == f"symroof, version {symroof.__version__}\n"


HEAVY = {"sympy", "numpy", "matplotlib", "jinja2"}
FORMULAS = {"symroof.theory.quantities", "symroof.theory.theory", "symroof.theory.spellings"}
HELP, HELPED = {"pydantic", "symroof.symbolic"}, ("eval", "select", "vllm", "check")
LIGHT = {
    ("--help",): {"yaml", "pydantic", "symroof.symbolic"},
    ("list", "hardware"): {"pydantic", "symroof.symbolic", "symroof.theory"},
    ("list", "models"): {"symroof.specs.study", *FORMULAS},
    ("list", "quantities"): {"pydantic"},
    ("validate", str(CHAT)): {"symroof.claims", "symroof.report"},
    **{(name, "--help"): HELP for name in HELPED},
    ("schema", "study"): {"symroof.specs.user_theory", "symroof.analysis"},
    ("eval", str(CHAT)): {"symroof.analysis.equation", "symroof.claims", "symroof.report.view"},
}
"""Commands, and what each leaves unloaded beside the heavy packages."""
EVALUATES = {("list", "models"), ("validate", str(CHAT)), ("eval", str(CHAT))}
"""Those that work out a value (of models with experts, the active parameters), which takes NumPy."""
READS_FORMULAS = {line for line in LIGHT if "symroof.symbolic" not in LIGHT[line]}
"""Those that read formulas or inputs, which are expressions of SymPy."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("line", LIGHT, ids=" ".join)
def test_light_commands_load_what_they_need(line):
    needed = {
        name for name, lines in (("numpy", EVALUATES), ("sympy", READS_FORMULAS)) if line in lines
    }
    code = f"import sys\nfrom symroof.cli.main import main\nc = main({list(line)!r})\nprint(c, sorted({(HEAVY | LIGHT[line]) - needed!r} & set(sys.modules)), file=sys.stderr)"
    assert process(code=code).stderr.strip() == "0 []"


def test_importing_the_package_is_light():
    code = "import sys, symroof as sr\nprint(sr.__version__, sorted({'sympy', 'numpy', 'matplotlib', 'pydantic', 'yaml'} & set(sys.modules)))"
    assert process(code=code).stdout.split(" ", 1)[1].strip() == "[]"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "line", [("list", "quantities"), ("eval", str(TOO_LARGE))], ids=lambda line: line[0]
)
def test_a_closed_pipe_is_no_error(line):
    import shlex
    import subprocess
    import sys

    command = (
        f"{shlex.join([sys.executable, '-m', 'symroof', *line])} | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == 2


def test_every_json_is_one_object_on_one_stream():
    for line in (
        ("eval", CHAT),
        ("derive", "ttft"),
        ("list", "models"),
        ("show", "ttft"),
        ("validate", CHAT),
    ):
        outcome = good(*line, "--json")
        assert isinstance(json.loads(outcome.out), dict)
        assert not re.search(r"\b(NaN|Infinity)\b", outcome.out)
