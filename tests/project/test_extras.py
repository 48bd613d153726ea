"""Without the packages of the extras: everything but the outputs that need them works, and those say what to install."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from symroof.errors import EXTRAS

from ..tables import words

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STUDY = str(ROOT / "specs" / "studies" / "llama-3-8b-chat.yaml")
CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "64", "--over", "batch=1:3")
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"xarray", "netCDF4", "zarr", "pyarrow", "dask", "distributed", "pandas", "latex2mathml"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""
"""What an installation with the base packages alone has not."""


def python(code, *arguments, cwd):
    """A Python without the extras."""
    command = [sys.executable, "-c", WITHOUT + code, *arguments]
    inside = {"cwd": cwd, "env": {**os.environ, "PYTHONPATH": f"{ROOT}"}}
    return subprocess.run(
        command, **inside, capture_output=True, text=True, timeout=600, check=False
    )


COMMANDS = """
import contextlib, json, os
from tests.cli import call
outcomes = {}
for name, line in json.loads(sys.argv[1]).items():
    os.mkdir(name)
    with contextlib.chdir(name):
        outcome = call(*line)
    outcomes[name] = [outcome.code, outcome.err]
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Every command below, one after the other in one process, each in a folder of its name: exit codes, messages, folders."""
    folder = tmp_path_factory.mktemp("extras")
    lines = WORKING | {name: line for name, (line, _, _) in LACKING.items()}
    done = python(COMMANDS, json.dumps(lines), cwd=folder)
    assert done.returncode == 0, done.stderr
    return {name: (*outcome, folder / name) for name, outcome in json.loads(done.stdout).items()}


def named(requirement):
    return requirement.partition(">")[0].partition("[")[0]


def test_the_base_is_small_and_every_package_of_an_extra_is_declared_there():
    base = words("click jinja2 markdown-it-py matplotlib numpy pydantic pyyaml sympy")
    assert sorted(named(r) for r in DECLARED["dependencies"]) == base
    extras = DECLARED["optional-dependencies"]
    for module, extra in EXTRAS.items():
        assert module in {named(r) for r in extras[extra]}
    assert extras["all"] == ["symroof[sweep,dask]"]
    assert "symroof[all]" in extras["test"]


WORKING = {
    "help": ("--help",),
    "list": ("list", "hardware"),
    "validate": ("validate", STUDY),
    "eval": ("eval", STUDY),
    "review with figures": ("report", STUDY, "--format", "md,tex,html", "-o", "out"),
    "sweep as JSON": ("sweep", *CASE),
    "sweep as CSV": ("sweep", *CASE, "-o", "grid.csv"),
    "plot as SVG": ("plot", "roofline", STUDY, "-o", "a.svg"),
    "plot as PDF": ("plot", "roofline", STUDY, "-o", "a.pdf"),
}


@pytest.mark.parametrize("name", WORKING)
def test_what_needs_no_extra(name, ran):
    code, message, folder = ran[name]
    assert code == 0, message
    for written in [word for word in WORKING[name] if word.startswith(("grid.", "a."))]:
        assert (folder / written).stat().st_size
    if "out" in WORKING[name]:
        endings = {path.suffix for path in (folder / "out").iterdir()}
        assert endings == {".md", ".tex", ".html", ".svg", ".pdf"}


LACKING = {
    "NetCDF": (("sweep", *CASE, "-o", "grid.nc"), "xarray", "sweep"),
    "Zarr": (("sweep", *CASE, "-o", "grid.zarr"), "xarray", "sweep"),
    "Parquet": (("sweep", *CASE, "-o", "grid.parquet"), "pyarrow", "sweep"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_needs_one_says_which(name, ran):
    _, package, extra = LACKING[name]
    code, message, folder = ran[name]
    assert code == 2
    assert f"needs {package}, which is not installed" in message
    assert f"pip install 'symroof[{extra}]'" in message
    assert "Traceback" not in message
    assert list(folder.iterdir()) == []
