"""Answers kept between runs: told again to the byte while nothing they rest on has changed, and worked out anew as soon as anything has."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from specs.families.gguf_files import block, gguf, heads, model

from symroof import witness
from symroof.cli import cache
from symroof.cli.cache import Answer, kept

from . import CHAT, ROOT, call, study_text, write_study

WATCHED = """
import sys
from symroof.cli.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print({"yaml", "symroof.theory"} & set(sys.modules) and "worked" or "told", file=sys.stderr)
sys.exit(code)
"""
"""Runs a command and says whether it was worked out: what is only told needs neither a YAML reader nor the theory."""


class Run:
    """A command in a process of its own; ``worked`` is off where it was told from what was kept."""

    def __init__(self, kept_in, *line, cwd=None, root=ROOT, **environment):
        cwd = cwd or root
        env = {**os.environ, "PYTHONPATH": str(root), "SYMROOF_CACHE": str(kept_in), **environment}
        done = subprocess.run([sys.executable, "-c", WATCHED, *map(str, line)], capture_output=True, cwd=cwd, env=env, timeout=60, check=False)
        said = done.stderr.decode().splitlines()
        self.code, self.out, self.err, self.worked = done.returncode, done.stdout, said[:-1], said[-1] == "worked"

    @property
    def told(self):
        return self.code, self.out, self.err


def entries(folder):
    return sorted(folder.glob("*.json"))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------------------------------------------ what is told again

LINES = [
    ("list", "models"),
    ("list", "hardware", "--json"),
    ("list", "quantities"),
    ("validate", "specs/studies/llama-3-8b-chat.yaml", "specs/models/llama-3-8b.yaml"),
    ("report", "specs/studies/llama-3-8b-chat.yaml", "-o", "-", "--format", "html"),
    ("report", "--model", "llama-3-8b", "--hardware", "l4", "--prompt", "64", "-o", "-", "--weights", "fp32", "--strict"),
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_repeated_command_says_the_same(line, tmp_path):
    off, first, second = Run("off", *line), Run(tmp_path, *line), Run(tmp_path, *line)
    assert (off.worked, first.worked, second.worked) == (True, True, False)
    assert off.told == first.told == second.told
    assert first.out
    assert first.code == (1 if "--strict" in line else 0)


def test_a_repeated_review_writes_the_same_files_wherever_it_is_asked_to(tmp_path):
    line = ("report", "specs/studies/tutorial-sla.yaml", "--format", "md,tex,html", "-o")
    first, second = Run(tmp_path / "kept", *line, tmp_path / "a"), Run(tmp_path / "kept", *line, tmp_path / "b")
    assert (first.worked, second.worked) == (True, False)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert [text.replace("/a/", "/b/") for text in first.err] == second.err
    assert any(name.endswith(".svg") for name in contents(tmp_path / "b"))
    for kind in ("md", "tex", "html"):
        assert (tmp_path / "b" / f"tutorial-sla.{kind}").read_bytes() == (ROOT / "reports" / "tutorial-sla" / f"tutorial-sla.{kind}").read_bytes()


def test_no_cache_neither_asks_nor_keeps_and_is_not_told(tmp_path):
    plain = Run(tmp_path, "report", CHAT, "-o", "-")
    anew = Run(tmp_path, "report", CHAT, "-o", "-", "--no-cache")
    assert anew.worked
    assert anew.told == plain.told
    assert len(entries(tmp_path)) == 1


def test_what_is_refused_is_not_kept(tmp_path):
    bad = write_study(tmp_path, workload="{prompt: 1024, batch: 2 ms}")
    for line in (("validate", bad), ("validate", CHAT, bad), ("report", bad, "-o", "-")):
        first, second = Run(tmp_path / "kept", *line), Run(tmp_path / "kept", *line)
        assert first.code == 2
        assert second.worked
        assert first.told == second.told
    assert not (tmp_path / "kept").exists()


# ----------------------------------------------------------------------------------------------------- what is worked out anew


def test_another_question_is_worked_out(tmp_path):
    line = ("report", CHAT, "-o", "-")
    assert Run(tmp_path, *line).worked
    others = [(*line, "--format", "tex"), (*line, "--batch", "3"), (*line, "--strict")]
    assert all(Run(tmp_path, *other).worked for other in others)
    short = ("list", "presets")
    assert Run(tmp_path, *short).worked
    assert Run(tmp_path, *short, SOURCE_DATE_EPOCH="1").worked
    assert Run(tmp_path, *short, cwd=tmp_path).worked
    assert not Run(tmp_path, *line).worked
    assert not Run(tmp_path, *short).worked
    assert Run(tmp_path, "list", "models").out != Run(tmp_path, "list", "models", "--json").out


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The package with its words and data in another place, free to be changed."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("symroof", "templates", "specs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


@pytest.mark.parametrize("name", ["symroof/theory/thresholds.py", "templates/review.j2", "specs/hardware/h100-sxm.yaml", "specs/models/new.yaml"])
def test_another_definition_is_worked_out(name, copied, tmp_path):
    line, place = ("list", "thresholds"), copied / name
    assert Run(tmp_path, *line, root=copied).worked
    assert not Run(tmp_path, *line, root=copied).worked
    before = place.stat() if place.exists() else None
    place.write_text((place.read_text(encoding="utf-8") if before else "") + "\n", encoding="utf-8")
    if before:
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Run(tmp_path, *line, root=copied).worked


def test_two_installations_share_nothing(copied, tmp_path):
    assert Run(tmp_path, "list", "assumptions").worked
    assert Run(tmp_path, "list", "assumptions", root=copied).worked


def test_another_package_makes_another_answer(tmp_path, monkeypatch):
    before = cache.definitions()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    other = cache.definitions()
    (tmp_path / "sympy-99.dist-info").mkdir()
    assert len({before, other, cache.definitions()}) == 3


def test_a_changed_file_is_read_again_though_its_size_and_date_stay(tmp_path):
    study = write_study(tmp_path, title="One title")
    before = study.stat()
    assert b"One title" in Run(tmp_path / "kept", "report", study, "-o", "-").out
    study.write_text(study_text(title="Two title"), encoding="utf-8")
    os.utime(study, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert b"Two title" in Run(tmp_path / "kept", "report", study, "-o", "-").out
    assert not Run(tmp_path / "kept", "report", study, "-o", "-").worked


def test_every_file_behind_a_review_counts(tmp_path):
    """Its model, its device, its claims, its template: each change is seen."""
    shutil.copy(ROOT / "specs" / "models" / "llama-3-8b.yaml", tmp_path / "own.yaml")
    shutil.copy(ROOT / "specs" / "hardware" / "h100-sxm.yaml", tmp_path / "device.yaml")
    (tmp_path / "claims.yaml").write_text(
        "source: me\nclaims:\n- {id: one, says: one, quantity: params, given: {model: llama-3-8b}, value: 8.03e9}\n", encoding="utf-8"
    )
    (tmp_path / "words.j2").write_text("<< title >> << claims.rows >>", encoding="utf-8")
    study = write_study(tmp_path, model="own.yaml", hardware="device.yaml", claims="[claims.yaml]")
    line = ("report", study, "-o", "-", "--template", tmp_path / "words.j2")
    first = Run(tmp_path / "kept", *line)
    assert first.code == 0, first.err
    assert not Run(tmp_path / "kept", *line).worked
    for name in ("own.yaml", "device.yaml", "claims.yaml", "words.j2"):
        (tmp_path / name).write_text((tmp_path / name).read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert Run(tmp_path / "kept", *line).worked, name


def test_a_file_that_comes_to_stand_before_another_is_found(tmp_path):
    """A path of a study is looked up beside the study first: a model that appears there is the one that is meant."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    shutil.copy(ROOT / "specs" / "models" / "llama-3-8b.yaml", tmp_path / "here" / "own.yaml")
    study = write_study(tmp_path / "there", model="own.yaml")
    line = ("report", study, "-o", "-")
    first = Run(tmp_path / "kept", *line, cwd=tmp_path / "here")
    assert not Run(tmp_path / "kept", *line, cwd=tmp_path / "here").worked
    shutil.copy(ROOT / "specs" / "models" / "llama-3-70b.yaml", tmp_path / "there" / "own.yaml")
    second = Run(tmp_path / "kept", *line, cwd=tmp_path / "here")
    assert second.worked
    assert second.out != first.out


def test_a_link_that_leads_elsewhere_is_followed_anew(tmp_path):
    for name, chosen in (("a", "llama-3-8b"), ("b", "llama-3-70b")):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / "specs" / "models" / f"{chosen}.yaml", tmp_path / name / "own.yaml")
        write_study(tmp_path / name, model="own.yaml")
    link = tmp_path / "study.yaml"
    link.symlink_to(tmp_path / "a" / "study.yaml")
    first = Run(tmp_path / "kept", "report", link, "-o", "-")
    link.unlink()
    link.symlink_to(tmp_path / "b" / "study.yaml")
    assert Run(tmp_path / "kept", "report", link, "-o", "-").out != first.out


def test_a_header_of_many_gigabytes_is_not_compared_and_so_not_kept(tmp_path):
    path = tmp_path / "small.gguf"
    path.write_bytes(gguf(*model("llama", [block(i, 64, 4, 2, 16, 128) for i in range(2)], 64, 100, heads("llama", 4, 2))))
    assert [Run(tmp_path / "kept", "validate", path).worked for _ in range(2)] == [True, True]


# ------------------------------------------------------------------------------------------------------- entries that are none


def written(place, entry):
    """An entry as the cache writes it, its mark included."""
    body = json.dumps(entry).encode()
    place.write_bytes(hashlib.sha256(place.name.encode() + body).hexdigest().encode() + b"\n" + body)


def entry(**changes):
    return {"form": cache.FORM, "seen": {}, "text": "", "files": {}, "code": 0} | changes


BROKEN = {
    "empty": lambda place: place.write_bytes(b""),
    "torn": lambda place: place.write_bytes(place.read_bytes()[:-20]),
    "changed": lambda place: place.write_bytes(place.read_bytes().replace(b"h100", b"H100")),
    "noise": lambda place: place.write_bytes(bytes(range(256)) * 40),
    "another form": lambda place: written(place, entry(form="symroof/answer/0", text="wrong")),
    "no object": lambda place: written(place, ["wrong"]),
    "nothing in it": lambda place: written(place, {}),
    "odd types": lambda place: written(place, entry(seen=[1], files=7, code="x")),
    "deep": lambda place: place.write_bytes(place.read_bytes()[:65] + b"[" * 100_000),
    "a path out": lambda place: written(place, entry(files={"../stolen": "x"})),
    "a whole path": lambda place: written(place, entry(files={"/tmp/stolen-by-symroof": "x"})),
    "a hidden file": lambda place: written(place, entry(files={".bashrc": "x"})),
    "another review's file": lambda place: written(place, entry(files={"Makefile": "all:"})),
    "a folder": lambda place: (place.unlink(), place.mkdir()),
    "a link to nowhere": lambda place: (place.unlink(), place.symlink_to("/nowhere")),
}


@pytest.fixture(scope="module")
def review(tmp_path_factory):
    """A review with the entry it leaves."""
    folder = tmp_path_factory.mktemp("review")
    line = ("report", CHAT, "--no-plots", "--format", "md", "-o")
    first = Run(folder / "kept", *line, folder / "out")
    assert first.code == 0
    return line, folder / "kept", contents(folder / "out")


@pytest.mark.parametrize("how", BROKEN)
def test_an_entry_that_is_none_is_ignored(how, review, tmp_path):
    line, original, good = review
    shutil.copytree(original, tmp_path / "kept")
    (place,) = entries(tmp_path / "kept")
    BROKEN[how](place)
    run = Run(tmp_path / "kept", *line, tmp_path / "in" / "out")
    assert run.code == 0, run.err
    assert contents(tmp_path / "in" / "out") == good
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["out"]
    assert not os.path.exists("/tmp/stolen-by-symroof")


def test_an_entry_under_another_name_is_ignored(review, tmp_path):
    line, original, good = review
    (place,) = entries(original)
    shutil.copytree(original, tmp_path / "kept")
    Run(tmp_path / "kept", *line, tmp_path / "other", "--batch", "2")
    for path in entries(tmp_path / "kept"):
        if path.name != place.name:
            shutil.copy(place, path)
    assert Run(tmp_path / "kept", *line, tmp_path / "again", "--batch", "2").worked
    assert contents(tmp_path / "again") == contents(tmp_path / "other") != good


@pytest.mark.parametrize("where", ["/dev/null", "/dev/null/deeper", "/proc/nowhere/deeper"])
def test_where_nothing_can_be_kept_everything_is_worked_out(where):
    assert Run("off", "list", "presets").told == Run(where, "list", "presets").told
    assert Run(where, "list", "presets").worked


def test_without_a_home_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("SYMROOF_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == str(tmp_path / "symroof")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == str(tmp_path / ".cache" / "symroof")
    for off in ("off", "OFF", " "):
        monkeypatch.setenv("SYMROOF_CACHE", off)
        assert cache.folder() is None


def test_several_at_once_do_no_harm(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SYMROOF_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", WATCHED, "list", "hardware"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=ROOT) for _ in range(4)]
    said = {process.communicate(timeout=60)[0] for process in running}
    assert len(said) == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    last = Run(tmp_path, "list", "hardware")
    assert not last.worked
    assert {last.out} == said


# --------------------------------------------------------------------------------------------------------- the room, in here


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A cache in this process, as if nothing had been read in it yet."""
    monkeypatch.setenv("SYMROOF_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(witness._Watch, "late", False)
    return tmp_path / "kept"


def test_the_room_is_bounded_and_the_oldest_go(room, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST_ROOM", 3_500)

    def ask(n):
        monkeypatch.setattr(witness._Watch, "late", False)
        asked = []
        answer = kept({"n": n}, lambda: asked.append(n) or Answer("x" * 800 + str(n)))
        assert answer.text.endswith(str(n))
        for path in entries(room):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10))
        return bool(asked)

    assert [ask(n) for n in range(3)] == [True] * 3
    assert [ask(n) for n in (0, 1, 2)] == [False] * 3
    assert [ask(n) for n in (3, 4)] == [True] * 2
    assert ask(0)
    assert sum(path.stat().st_size for path in entries(room)) <= 3_500


def test_an_answer_too_large_is_told_and_not_kept(room, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST_ENTRY", 1_000)
    assert kept({"n": 1}, lambda: Answer("x" * 2_000)).text == "x" * 2_000
    assert not room.exists()


def test_bytes_that_are_no_text_come_back(room):
    answer = Answer(files={"a.pdf": bytes(range(256)), "b.md": "ä\r\n\u2028".encode()}, code=1)
    assert kept({}, lambda: answer) == answer
    assert kept({}, lambda: pytest.fail("worked out twice"), lambda found: True) == answer


def test_a_file_that_changes_while_it_is_read_is_not_relied_on(room, tmp_path):
    path = tmp_path / "file"
    path.write_text("before")

    def work_out():
        witness.was_read(path, path.read_bytes())
        path.write_text("after")
        return Answer("before")

    assert kept({}, work_out).text == "before"
    assert not room.exists()


def test_a_process_that_remembers_files_keeps_nothing(room, monkeypatch, tmp_path):
    monkeypatch.setattr(witness._Watch, "late", True)
    assert kept({}, lambda: Answer("x")).text == "x"
    assert not room.exists()


def test_every_file_that_is_opened_is_witnessed(tmp_path):
    """What Python itself sees opened, but for its libraries and symroof's own files, is what an entry names."""
    model = tmp_path / "model"
    model.mkdir()
    shutil.copy(ROOT / "tests" / "data" / "configs" / "gpt-oss-20b.config.json", model / "config.json")
    study = write_study(tmp_path, model=str(model), claims="[note.md]")
    (tmp_path / "note.md").write_text("It has 21 billion parameters. <!-- symroof: params model=model -->\n", encoding="utf-8")
    code = f"""
import os, sys
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" and isinstance(args[0], (str, os.PathLike)) and args[1] in ("r", "rb") else None)
from symroof.cli.main import main
code = main(["report", {str(study)!r}, "-o", "-", "--draft", {str(model)!r}, "--set", "draft_tokens=2", "--set", "acceptance=0.5"])
print("\\n".join(os.path.abspath(path) for path in opened), file=sys.stderr)
sys.exit(code)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SYMROOF_CACHE": str(tmp_path / "kept")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=env, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (place,) = entries(tmp_path / "kept")
    seen = json.loads(place.read_bytes().partition(b"\n")[2])["seen"]
    own = {path for path in done.stderr.splitlines() if path.startswith(str(tmp_path)) and not path.startswith(str(tmp_path / "kept"))}
    assert {os.path.basename(path) for path in own} == {"study.yaml", "config.json", "note.md"}
    assert own <= {path for path, found in seen.items() if found not in ("absent", "folder", "there")}


def test_in_one_process_commands_work_as_ever(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMROOF_CACHE", str(tmp_path / "kept"))
    assert call("list", "hardware") == call("list", "hardware")
