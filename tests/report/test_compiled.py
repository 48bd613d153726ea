"""Templates compiled once: the same words, and never those of another source."""

import sys

import pytest
from jinja2 import FileSystemLoader

from symroof.report import compiled
from symroof.report.environment import environment


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "KEPT", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "kept"


def said(folder):
    """What a template says in an environment of its own, as another process would have it."""
    made = environment()
    made.loader = FileSystemLoader(folder)
    return made.get_template("words.j2").render(format_name="markdown", x=2)


def test_a_template_is_kept_and_says_the_same(tmp_path, kept):
    (tmp_path / "words.j2").write_text("twice << x >>", encoding="utf-8")
    assert said(tmp_path) == "twice 2"
    (file,) = kept.iterdir()
    before = file.read_bytes()
    assert said(tmp_path) == "twice 2"
    assert [path.read_bytes() for path in kept.iterdir()] == [before]


def test_another_source_is_compiled_anew(tmp_path, kept):
    for text in ("once << x >>", "more << x >>"):
        (tmp_path / "words.j2").write_text(text, encoding="utf-8")
        assert said(tmp_path) == text.replace("<< x >>", "2")


def test_other_filters_compile_anew(tmp_path, kept, monkeypatch):
    (tmp_path / "words.j2").write_text("<< 'a  b'|squeeze >>", encoding="utf-8")
    said(tmp_path)
    before = [path.read_bytes() for path in kept.iterdir()]
    monkeypatch.setattr(compiled, "_filters", lambda: iter(["another filter"]))
    said(tmp_path)
    assert [path.read_bytes() for path in kept.iterdir()] != before


@pytest.mark.parametrize("damage", [b"", b"noise", bytes(range(256))])
def test_damaged_bytecode_is_compiled_anew(damage, tmp_path, kept):
    (tmp_path / "words.j2").write_text("twice << x >>", encoding="utf-8")
    said(tmp_path)
    (file,) = kept.iterdir()
    good = file.read_bytes()
    file.write_bytes(damage)
    assert said(tmp_path) == "twice 2"
    for length in (3, 12, 20, 40, len(good) - 30):
        file.write_bytes(good[:length])
        assert said(tmp_path) == "twice 2"


def test_where_nothing_can_be_written_or_may_be_nothing_is(tmp_path, kept, monkeypatch):
    (tmp_path / "words.j2").write_text("twice << x >>", encoding="utf-8")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert said(tmp_path) == "twice 2"
    assert not kept.exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept.write_text("a file where the folder would be")
    assert said(tmp_path) == "twice 2"


def test_a_strangers_template_is_not_kept(kept):
    assert environment(sandboxed=True).bytecode_cache is None
