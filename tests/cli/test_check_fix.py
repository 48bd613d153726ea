"""``symroof check --fix``: corrected copies of notes."""

import pytest

from . import KV, RIGHT, ROOT, WRONG, call, everything_under, good, refused

POST = ROOT / "docs" / "blog-post.md"


def test_fix_writes_a_copy_beside_the_note(note, tmp_path):
    path = note(RIGHT + "\n" + WRONG)
    outcome = call("check", path, "--fix")
    assert (outcome.code, outcome.err) == (
        1,
        f"wrote {tmp_path / 'note.fixed.md'}: 1 number corrected\n  line 3: 10.7 GB is now 1.34 GB\n",
    )
    assert path.read_text(encoding="utf-8") == RIGHT + "\n" + WRONG
    assert (tmp_path / "note.fixed.md").read_text(encoding="utf-8") == RIGHT + "\n" + RIGHT
    assert "all 2 claims are right" in good("check", tmp_path / "note.fixed.md").out


KEPT = [
    ("**2.68** GB", "**1.34** GB"),
    ("2.680 GB", "1.342 GB"),
    ("2 GB", "1 GB"),
    ("2,684 MB", "1,342 MB"),
    ("2.50 GiB", "1.25 GiB"),
    ("about 2.68 gigabytes", "about 1.34 gigabytes"),
    ("2.68e9 bytes", "1.34e9 bytes"),
    ("2.68 × 10^9 bytes", "1.34 × 10^9 bytes"),
    ("2,684,354,560 bytes", "1,342,177,280 bytes"),
    ("2.68\u00a0GB", "1.34\u00a0GB"),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("written", "right"), KEPT)
def test_only_the_digits_change_and_the_copy_is_right(written, right, note, tmp_path):
    text = "\ufeffFirst.\r\n\r\nIt takes {}, you see. " + KV + "\r\nLast 2.68 GB.\r\n"
    call("check", note(text.format(written)), "--fix", "-o", tmp_path / "out.md")
    assert (tmp_path / "out.md").read_bytes() == text.format(right).encode("utf-8")
    assert list(good("check", tmp_path / "out.md", "--json").json["summary"]) in (
        ["rounded"],
        ["exact"],
    )


@pytest.mark.full
def test_the_example_is_right_once_it_is_corrected(tmp_path):
    outcome = call("check", POST, "--fix", "-o", tmp_path / "post.md")
    assert outcome.code == 1
    assert ", 0 left" not in outcome.err
    assert set(good("check", tmp_path / "post.md", "--json").json["summary"]) == {
        "exact",
        "rounded",
        "conditional",
    }


def test_two_claims_that_want_one_number_otherwise_leave_it(note, tmp_path):
    text = f"It takes 10.7 GB. {KV} {KV.replace('4096', '8192').replace(' -->', '')} value='10.7 GB' -->\n"
    outcome = call("check", note(text), "--fix")
    stays = "  line 1: 10.7 GB stays: a claim of it would fail with the corrected number\n"
    assert outcome.err == f"nothing written: 0 numbers corrected, 2 left\n{stays}{stays}"
    assert everything_under(tmp_path) == ["note.md"]


def test_an_original_is_replaced_only_in_place(note, tmp_path):
    path = note(WRONG)
    for goal in (path, f"{tmp_path}/", tmp_path / "sub" / ".." / "note.md"):
        assert "is an original" in refused("check", path, "--fix", "-o", goal)
    assert path.read_text(encoding="utf-8") == WRONG
    assert call("check", path, "--fix", "--in-place").code == 1
    assert path.read_text(encoding="utf-8") == RIGHT
    assert everything_under(tmp_path) == ["note.md"]


def test_a_link_in_the_place_of_a_copy_is_not_followed(note, tmp_path):
    path, victim = note(WRONG), tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    link = tmp_path / "note.fixed.md"
    link.symlink_to(victim)
    assert f"{link}: is a symbolic link" in refused("check", path, "--fix")
    assert victim.read_text(encoding="utf-8") == "mine"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "note.md").symlink_to(victim)
    assert "is a symbolic link" in refused("check", path, "--fix", "-o", tmp_path / "out")
    assert victim.read_text(encoding="utf-8") == "mine"
    assert call("check", path, "--fix", "-o", link).code == 1  # a person named this one
    assert victim.read_text(encoding="utf-8") == RIGHT
    assert link.is_symlink()


def test_several_notes_go_to_a_folder(note, tmp_path):
    first, second = note(WRONG, "a.md"), note(WRONG, "b.md")
    assert "for several notes" in refused(
        "check", first, second, "--fix", "-o", tmp_path / "out.md"
    )
    assert call("check", first, second, "--fix", "-o", f"{tmp_path}/out/").code == 1
    assert everything_under(tmp_path / "out") == ["a.md", "b.md"]
    (tmp_path / "x").mkdir()
    third = tmp_path / "x" / "a.md"
    third.write_text(WRONG, encoding="utf-8")
    assert "two corrected notes" in refused(
        "check", first, third, "--fix", "-o", f"{tmp_path}/both/"
    )
