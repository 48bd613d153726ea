"""A wheel built from the sdist and installed in an empty place produces the review; nothing of the checkout is in reach."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, cwd, env=None):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT), cwd=out)  # the wheel is built from the sdist
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


def test_installed_wheel_writes_the_review(wheel, tmp_path):
    place, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(place), str(wheel), cwd=work)
    script = "import sys, symroof; assert symroof.__file__.startswith(sys.argv[1]), symroof.__file__; from symroof.cli.main import main; sys.exit(main(sys.argv[2:]))"
    run(
        sys.executable,
        "-c",
        script,
        str(place),
        "report",
        "llama-3-70b-chat",
        "-o",
        "out",
        "--format",
        "md,tex",
        "--no-plots",
        cwd=work,
        env={"PYTHONPATH": str(place)},
    )
    review = (work / "out" / "llama-3-70b-chat.md").read_text(encoding="utf-8")
    assert "does not fit" in review.split("##")[1]
    assert (work / "out" / "llama-3-70b-chat.tex").read_text(encoding="utf-8").startswith("\\documentclass")
