"""``symroof check --fix``: corrected copies of notes."""

import re

import pytest

from symroof.output_files import PREFIX

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
    assert "2 claims: all hold (2 rounded)" in good("check", tmp_path / "note.fixed.md").out


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


@pytest.mark.parametrize("written", ["under 1.2 GB", "1.5–1.6 GB", "5 ms", "1.3 GB", "1.34 GB"])
def test_bounds_ranges_other_units_and_what_holds_stay(written, note, tmp_path):
    text = f"It takes {written}. {KV.replace(' -->', '')} value='{written.replace('–', '..').replace('under', '<')}' -->\n"
    call("check", note(text), "--fix", "-o", tmp_path / "out.md")
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == text


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
    stays = "  line 1: 10.7 GB stays: two claims correct it differently\n"
    assert outcome.err == f"nothing written: 0 numbers corrected, 2 left\n{stays}{stays}"
    assert everything_under(tmp_path) == ["note.md"]


def test_fix_tells_what_it_corrected_and_what_it_left_and_why(note, tmp_path):
    text = (
        f"{WRONG}\nIt takes under 1.2 GB. {KV}\n\nIt takes 1.5–1.6 GB. {KV}\n\n{RIGHT}\n"
        f"Decode is compute-bound. <!-- symroof: relation=decode_bound model=llama-3-8b hardware=h100-sxm prompt=64 -->\n\n"
        f"Twice that. {KV.replace(' -->', '')} value='2.68 GB' id=twice -->\n\nOr 7 GB. {KV.replace(' -->', '')} conflicts_with=twice -->\n"
    )
    path = note(text)
    first, *lines = call("check", path, "--fix").err.splitlines()
    assert first == f"wrote {tmp_path / 'note.fixed.md'}: 1 number corrected, 5 left"
    assert lines == [
        "  line 1: 10.7 GB is now 1.34 GB",
        "  line 3: under 1.2 GB stays: it is a bound or a range: only its author can decide the correct value",
        "  line 5: 1.5–1.6 GB stays: it is a bound or a range: only its author can decide the correct value",
        "  line 9: compute stays: it is not a number in the text",
        "  line 11: 2.68 GB stays: it is not a number in the text",
        "  line 13: 7 GB stays: it contradicts itself or another claim: only its author can decide the correct value",
    ]


@pytest.mark.full
def test_slips_in_the_text_for_people(note):
    """Named ones; a pair of slips once; guesses that any number would fit stand in JSON alone."""
    pair = "It takes 11.53 GB. " + KV
    out = call("check", note(pair), "-v").out
    assert out.count("slip: ") == 1
    assert re.search(r"slip: (gqa_forgotten and gb_gib|gb_gib and gqa_forgotten): .*\n", out)
    guesses = "A step takes 60.3 ms. <!-- symroof: itl model=llama-3-70b hardware=h100-sxm tp=2 prompt=4096 -->"
    out = call("check", note(guesses), "-v").out
    assert "perhaps: " not in out  # any number would fit those
    assert len(call("check", note(guesses), "--json").json["claims"][0]["slips"]) >= 2


def test_nothing_to_correct_writes_nothing(note, tmp_path):
    assert call("check", note(RIGHT), "--fix").err == "nothing to correct\n"
    assert everything_under(tmp_path) == ["note.md"]


def test_an_original_is_replaced_only_in_place(note, tmp_path):
    path = note(WRONG)
    for goal in (path, f"{tmp_path}/", tmp_path / "sub" / ".." / "note.md"):
        assert "is an original" in refused("check", path, "--fix", "-o", goal)
    assert path.read_text(encoding="utf-8") == WRONG
    assert call("check", path, "--fix", "--in-place").code == 1
    assert path.read_text(encoding="utf-8") == RIGHT
    assert everything_under(tmp_path) == ["note.md"]


def test_a_link_to_a_note_stays_a_link(note, tmp_path):
    (tmp_path / "link.md").symlink_to(note(WRONG))
    assert "is an original" in refused(
        "check", tmp_path / "link.md", "--fix", "-o", tmp_path / "note.md"
    )
    call("check", tmp_path / "link.md", "--fix", "--in-place")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "note.md").read_text(encoding="utf-8") == RIGHT


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


def test_a_copy_never_replaces_another_of_the_files(note):
    first, second = note(WRONG), note(WRONG, "note.fixed.md")
    assert "is an original" in refused("check", first, second, "--fix")


def test_a_copy_is_a_file_and_only_fix_makes_one(note):
    assert "--fix writes a file, not standard output" in refused(
        "check", "--fix", note(WRONG), "-o", "-"
    )
    for option in (("-o", "x.md"), ("--in-place",)):
        assert "-o and --in-place need --fix" in refused("check", note(WRONG), *option)


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


def test_claim_files_are_not_corrected(note):
    path = note(
        "claims: [{id: a, quantity: kv_cache_bytes, given: {model: llama-3-70b, prompt: 4096}, value: 2 GB}]\n",
        "c.yaml",
    )
    assert "is not a Markdown note" in refused("check", path, "--fix")


def test_a_copy_is_written_whole_or_not_at_all(note, tmp_path, monkeypatch):
    path = note(WRONG)

    def full(*_):
        raise OSError(28, "No space left on device", "note.md")

    monkeypatch.setattr("os.replace", full)
    outcome = call("check", path, "--fix", "--in-place")
    assert outcome.code == 2
    assert "No space left" in outcome.err
    assert path.read_text(encoding="utf-8") == WRONG
    assert not [name for name in everything_under(tmp_path) if name.startswith(PREFIX)]
