"""``symroof check`` for machines: JSON and GitHub annotations; and the hook and the action that run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from . import NEEDS, RIGHT, ROOT, WRONG, call


def test_json_is_one_object_of_the_contract(note):
    path = note(WRONG)
    result = call("check", path, "--json").json
    (claim,) = result["claims"]
    assert (result["schema"], result["summary"]) == ("symroof/check/1", {"wrong": 1})
    assert (
        claim["file"],
        claim["line"],
        claim["claimed"],
        claim["derived"],
        claim["correction"],
    ) == (str(path), 1, 10_700_000_000, 1_342_177_280, "1.34 GB")


def test_github_annotations(note):
    path = note(RIGHT + "\n" + WRONG + "\n" + NEEDS)
    lines = call("check", path, "--format", "github").out.splitlines()
    assert lines[0].startswith(f"::error file={path},line=3,col=32,title=symroof%3A wrong::")
    assert "claimed 10.7 GB, derived 1.3422 GB" in lines[0]
    assert lines[1].startswith(f"::warning file={path},line=5,col=29,")
    assert lines[2] == "3 claims: 1 rounded, 1 conditional, 1 wrong"


def test_github_annotations_are_escaped(note):
    path = note(
        "100 % sure:: that it is 10 %25 <!-- x -->%0A::error::x at 62 % <!-- symroof: expression='1/2' -->\n",
        "a,b: c%.md",
    )
    line, _ = call("check", path, "--format", "github").out.splitlines()
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert properties.endswith("a%2Cb%3A c%25.md,line=1,col=" + properties.rpartition("col=")[2])
    assert len(properties.split(",")) == 4
    assert re.sub("%(25|0A|0D)", "", message).count("%") == 0
    assert "%250A" in message


def test_the_pre_commit_hook_runs_check_on_notes_and_claim_files():
    import yaml

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"], hook["language"]) == (
        "symroof-check",
        "symroof check",
        "python",
    )
    for path, expected in {
        "notes.md": 1,
        "a/b.markdown": 1,
        "specs/claims/x.yaml": 1,
        "my-claims.yml": 1,
        "a.ipynb": 1,
        "study.yaml": 0,
        "md.py": 0,
    }.items():
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
def test_the_action_annotates(note, tmp_path):
    note(RIGHT + "\n" + WRONG)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/more.md").write_text(RIGHT, encoding="utf-8")
    result = action(tmp_path, files="*.md docs/**/*.md")
    assert (result.returncode, result.stdout.splitlines()[-1]) == (
        1,
        "3 claims: 2 rounded, 1 wrong",
    )
    assert result.stdout.startswith("::error file=note.md,line=3,")
    assert action(tmp_path, files="docs/*.md").returncode == 0
    assert (
        action(tmp_path, files="*.tex").returncode,
        action(tmp_path, files="*.tex").stdout.strip(),
    ) == (2, "::error::no file matches *.tex")
