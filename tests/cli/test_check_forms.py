"""``symroof check`` for machines: JSON, and the hook and the action that run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..tables import fields
from . import RIGHT, ROOT, WRONG


def test_the_pre_commit_hook_runs_check_on_notes_and_claim_files():
    import yaml

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"], hook["language"]) == (
        "symroof-check",
        "symroof check",
        "python",
    )
    for path, expected in fields(
        "notes.md: 1, a/b.markdown: 1, specs/claims/x.yaml: 1, my-claims.yml: 1, a.ipynb: 1, "
        "study.yaml: 0, md.py: 0"
    ).items():
        assert bool(re.search(hook["files"], path)) == expected


def action(folder, **inputs):
    """The last step of the action, run in a folder as a runner runs it."""
    import yaml

    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][-1]
    names = {
        name: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]
        for name, value in step["env"].items()
    }
    given = {"files": "", "strict": "false"} | inputs
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **{name: given[of] for name, of in names.items()}}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.full
def test_the_action_checks_the_files_of_its_patterns(note, tmp_path):
    note(RIGHT + "\n" + WRONG)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/more.md").write_text(RIGHT, encoding="utf-8")
    result = action(tmp_path, files="*.md docs/**/*.md")
    assert (result.returncode, result.stdout.splitlines()[0]) == (
        1,
        "✗ 2 files: 1 of 3 claims is wrong; 2 are right",
    )
    assert action(tmp_path, files="docs/*.md").returncode == 0
    assert (
        action(tmp_path, files="*.tex").returncode,
        action(tmp_path, files="*.tex").stdout.strip(),
    ) == (2, "::error::no file matches *.tex")
