"""The README's shell examples run, and its two commands are what the CI script runs."""

import re
import shlex
from pathlib import Path

import pytest

from symroof.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
EXAMPLES = [line for block in BLOCKS[2:] for line in block.splitlines() if line.startswith("symroof ")]


@pytest.mark.parametrize("line", EXAMPLES)
def test_example_runs(line, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    line = line.replace("corrected/", f"{tmp_path}/")
    if line.startswith("symroof plot") or line.endswith(".svg"):
        line = f"{line.partition(' -o ')[0]} -o {tmp_path / 'picture.svg'}"
    assert main(shlex.split(line, comments=True)[1:]) == int(line.startswith("symroof check"))  # the post has wrong numbers
    assert capsys.readouterr().out.strip()


def test_opens_with_two_commands():
    head = README.split("\n\n", 2)[1]
    assert head.count("```sh") == 2
    assert "symroof report specs/studies/" in BLOCKS[0]
    assert BLOCKS[1].strip().endswith("-m pytest")


def test_study_in_the_readme_is_valid(tmp_path, capsys):
    study = re.search(r"^```yaml\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)[1]
    (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
    assert main(["validate", str(tmp_path / "study.yaml")]) == 0


def test_the_annotated_sentences_in_the_readme_are_found_wrong(tmp_path):
    """327,680 byte a token and 4,096 tokens are 1.34 GB; 989.4e12 / 3.35e12 = 295."""
    import symroof as sr

    note = re.search(r"^```markdown\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)[1]
    (tmp_path / "note.md").write_text(note, encoding="utf-8")
    assert [claim.correction for claim in sr.check(tmp_path / "note.md").claims] == ["1.34 GB", "295 FLOP/byte"]


def test_the_post_in_the_readme_has_as_many_wrong_numbers_as_it_says():
    import symroof as sr

    said = {"four": 4, "five": 5, "six": 6}[re.search(r"has (\w+) wrong ones", README)[1]]
    assert sr.check(ROOT / "docs" / "blog-post.md").summary["wrong"] == said


def test_every_command_is_in_the_table():
    from symroof.cli.main import COMMANDS

    for name in COMMANDS:
        assert f"symroof {name}" in README
