"""A wheel built from the sdist and installed in an empty place produces the review; nothing of the checkout is in reach."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..tables import words

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]


def run(*command, cwd, env=None):
    inside = {"cwd": cwd, "env": {**os.environ, **(env or {})}}
    done = subprocess.run(command, **inside, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    # the wheel is built from the sdist
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT), cwd=out)
    assert list(out.glob("*.tar.gz"))
    return next(out.glob("*.whl"))


def test_wheel_carries_templates_specs_and_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "symroof/py.typed",
        "symroof/_data/templates/review.j2",
        "symroof/_data/specs/models/llama-3-70b.yaml",
        "symroof/_data/templates/formats/latex_preamble.tex",
    ):
        assert wanted in names
    assert not any(name.startswith("tests/") for name in names)


ALONE = """
import importlib.abc, sys
extras = set(sys.argv[2].split(","))
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in extras:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import symroof
assert symroof.__file__.startswith(sys.argv[1]), symroof.__file__
from symroof.cli.main import main
sys.exit(main(sys.argv[3:]))
"""
EXTRAS = "xarray,netCDF4,zarr,pyarrow,torch,dask,distributed,scipy,pandas,sphinx,myst_parser,transformers,hypothesis,pytest"
"""What a plain installation lacks, and what comes with it."""


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A call of the installed wheel in an empty folder, with its base packages alone."""
    place, work = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    install = words("-m pip install --quiet --no-deps --no-index --target")
    run(sys.executable, *install, str(place), str(wheel), cwd=work)

    def call(*line):
        command = (sys.executable, "-c", ALONE, str(place), EXTRAS, *line)
        return run(*command, cwd=work, env={"PYTHONPATH": str(place)}).stdout

    call.work = work
    return call


def test_installed_wheel_writes_the_review(installed):
    installed("report", "llama-3-70b-chat", "-o", "out", "--format", "html,md,tex", "--full")
    out = installed.work / "out"
    review = (out / "llama-3-70b-chat.md").read_text(encoding="utf-8")
    assert "does not fit" in review.split("##")[1]
    assert (out / "llama-3-70b-chat.tex").read_text(encoding="utf-8").startswith("\\documentclass")
    assert "<svg" in (out / "llama-3-70b-chat-roofline.svg").read_text(encoding="utf-8")
    assert "</html>" in (out / "llama-3-70b-chat.html").read_text(encoding="utf-8")


def test_installed_wheel_answers_in_an_empty_folder(installed):
    case = words("--model llama-3.1-8b --hardware h100-sxm --prompt 1024 --output 128")
    assert "time to first token" in installed("eval", *case)
    assert "H100 SXM" in installed("select", "llama-3-8b-chat")
    assert "8.03 billion parameters" in installed("derive", "params", *case)
    assert "vllm serve Qwen/Qwen3-8B" in installed("vllm", "vllm serve Qwen/Qwen3-8B", *case[2:])
    assert "TTFT" in installed("simulate", *case, "--requests", "20")
    (installed.work / "post.md").write_text(
        "Its ridge is 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->\n",
        encoding="utf-8",
    )
    assert "the claim is right" in installed("check", "post.md")
    installed("init", "study", "-o", "study.yaml")
    assert "a valid study file" in installed("validate", "study.yaml")
