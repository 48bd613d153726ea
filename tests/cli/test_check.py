"""``symroof check``: exit codes, bad input, the table for people."""

import json
import re
import shlex
import time

import pytest

from . import KV, NEEDS, RIGHT, ROOT, WRONG, call, good, refused

POST = ROOT / "docs" / "blog-post.md"


@pytest.mark.parametrize(
    ("text", "plain", "strict"),
    [
        (RIGHT, 0, 0),
        (WRONG, 1, 1),
        (NEEDS, 0, 1),
        ("No claims.\n", 0, 0),
        ("Soon. <!-- symroof: itl model=llama-3-8b prompt=64 value='5 ms' -->\n", 0, 1),
        ("Good. <!-- symroof: unchecked='a matter of taste' -->\n", 0, 0),
        (
            "A step takes 42.1 ms. <!-- symroof: itl model=llama-3-70b hardware=h100-sxm prompt=64 assume.detail=weights -->\n",
            0,
            1,
        ),  # does not fit
        ("1 GB <!-- symroof: kv_cache_byts -->\n", 2, 2),
    ],
)
def test_exit_codes(note, text, plain, strict):
    path = note(text)
    assert call("check", path).code == plain
    assert call("check", path, "--strict").code == strict
    assert call("check", path, "--json").code == plain


def test_a_bad_annotation_costs_the_other_claims_nothing(note, tmp_path):
    """Standard output has what could be judged, standard error every fault with its place, line, caret and hint; 2 outweighs 1."""
    first, second = (
        note(f"{WRONG}\n1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"),
        note(b"\xff", "b.md"),
    )
    outcome = call("check", first, second, "--all")
    assert outcome.code == 2
    assert re.search(r"✗ +1 +A prompt of 4,096 tokens takes .*1\.3422 GB", outcome.out)
    assert "a.md:3" not in outcome.out, "reported once, with the faults"
    assert (
        f"{first}:3:20: claims[1].quantity: kv_cache_byts: no such quantity or input\n    1 GB <!-- symroof"
        in outcome.err
    )
    assert f"{' ' * 23}^\n    hint: did you mean 'kv_cache_bytes'?\n" in outcome.err
    assert "b.md: is not UTF-8" in outcome.err


HOSTILE = {
    "huge": b"<!-- symroof: " + b"x" * 900_000 + b" -->",
    "ten thousand bad": b"1 GB <!-- symroof: kv_cache_byts modle=3 x= a a -->\n\n" * 10_000,
    "not UTF-8": b"\xff\xfe\x00 1 GB",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_notes_are_refused_in_bounded_time(name, note):
    started = time.process_time()
    outcome = call("check", note(HOSTILE[name]))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert time.process_time() - started < 10


def test_json_stays_one_object_whatever_is_bad(note, tmp_path):
    first, second = (
        note(f"{RIGHT}\n1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"),
        tmp_path / "none.md",
    )
    outcome = call("check", first, second, "--json")
    assert (outcome.code, outcome.json["schema"]) == (2, "symroof/check/1")
    assert outcome.json["summary"] == {"rounded": 1, "unchecked": 1}
    assert (
        outcome.json["claims"][1]["reason"]
        == "kv_cache_byts: no such quantity or input; did you mean 'kv_cache_bytes'?"
    )
    assert [(error["file"], error["line"]) for error in outcome.json["errors"]] == [
        (str(first), 3),
        (str(second), None),
    ]
    assert json.loads(outcome.err)["errors"] == outcome.json["errors"]
    assert call("check", second, "--json").json["claims"] == []
    assert "errors" not in call("check", note(RIGHT), "--json").json


def test_the_first_screen_is_the_answer(monkeypatch):
    """Sixteen claims, four of them wrong: how many, then where, what is said, what is right, the mistake."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = call("check", POST).out.splitlines()
    assert "blog-post.md: 4 of 16 claims are wrong, 1 is true only" in lines[0]
    assert lines[1].endswith("; 11 are right") and lines[0].startswith("✗ ")
    assert re.search(r"line +the text says +correct +why$", lines[2])
    assert re.fullmatch(
        r"✗  8     2\.62 MB +327\.68 kB/token +query heads used for KV heads in the cache \(×8\)",
        lines[4],
    )
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert "! lines 14, 15: this configuration does not fit in memory" in lines


@pytest.mark.parametrize("count", [3, 40])
def test_more_than_fits_on_a_screen_is_counted(note, count):
    """The wrong ones first, whatever their order."""
    path = note(f"{NEEDS}\n" * 20 + f"{WRONG}\n" * count)
    lines = call("check", path).out.splitlines()
    shown = [line for line in lines if line.startswith(("✗  ", "~  "))]
    assert len(lines) <= 25
    assert [line[0] for line in shown[:3]] == ["✗"] * 3
    (left_out,) = [line for line in lines if line.startswith("and ")]
    said = dict(
        reversed(part.split(" more ")) for part in left_out.removeprefix("and ").split(", ")
    )
    assert sum(map(int, said.values())) + len(shown) == 20 + count


def test_every_command_it_names_runs():
    out = call("check", POST, "-v").out
    commands = re.findall(r"see: (symroof .*)", out)
    assert len(commands) >= 3
    for line in commands:
        good(*shlex.split(line)[1:])


def test_text_of_strangers_cannot_steer_a_terminal(note):
    out = call("check", note(f"\x1b[31m\x07 evil\u202e\0 takes 10.7 GB {KV}")).out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", out)


# ------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("name", ["paper.pdf", "paper.tex", "code.py", "notes.txt", "page.html"])
def test_a_file_that_cannot_hold_claims_says_so(note, name):
    path = note(b"%PDF \xff\xfe" if name.endswith("pdf") else "Some words, and 1 GB.\n", name)
    message = refused("check", path)
    assert f"a {path.suffix} file cannot hold claims" in message
    assert "claims are read in Markdown notes (.md), notebooks (.ipynb) and claim files" in message
