"""Corrected copies of notes: where they go, which numbers are put right and which are left to their author, by judgements made by hand."""

import codecs
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from symroof.claims import corrected_copies
from symroof.claims.check import check
from symroof.claims.check_result import Checked, Report
from symroof.claims.corrected_copies import AUTHOR, copies, corrected, goals_of
from symroof.claims.judgement import Judgement
from symroof.claims.read.numbers import figures
from symroof.errors import InputError
from symroof.specs.claims import ClaimSpec


def goals(files, out=None, in_place=False):
    return {Path(file).name: str(goal) for file, goal in goals_of(files, out, in_place).items()}


def test_where_a_copy_goes(tmp_path):
    assert goals(["d/a.md"]) == {"a.md": "d/a.fixed.md"}
    assert goals(["a.md", "b.MD", "c.yaml", "a.md"]) == {"a.md": "a.fixed.md", "b.MD": "b.fixed.MD"}
    assert goals(["d/a.md"], "x.md") == {"a.md": "x.md"}
    assert goals(["d/a.md", "b.tex"], "new/") == {"a.md": "new/a.md", "b.tex": "new/b.tex"}
    assert goals(["d/a.md"], str(tmp_path)) == {"a.md": f"{tmp_path}/a.md"}
    assert goals(["d/a.md"], in_place=True) == {"a.md": str(Path("d/a.md").resolve())}


@pytest.mark.parametrize(
    ("files", "out", "message", "hint"),
    [
        (["c.yaml", "d.yaml"], None, "is not a Markdown note; only numbers in notes are corrected", ""), (["a.md"], "./a.md", "is an original; a copy never replaces one", "--in-place replaces it"),
        (["a.md", "c.yaml"], "c.yaml", "is an original; a copy never replaces one", "--in-place replaces it"), (["a.md", "b.md"], "x.md", "is one file for several notes", "give a folder: -o DIR/"),
        (["d/a.md", "e/a.md"], "new/", "would hold two corrected notes", "take them one at a time"),
    ],
)  # fmt: skip
def test_where_no_copy_can_go(files, out, message, hint):
    with pytest.raises(InputError) as caught:
        goals(files, out)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)
    if message.startswith("is no"):
        assert problem.file == "c.yaml, d.yaml"


TEXT = "It takes 5 ms, then 7 ms and under 9 ms.\n"


def claim(digits, value="6", verdict="wrong", note="", figure=True, passed_on=()):
    """A claim about a number of the text, which is so many ms in truth."""
    own = next((one for one in figures(TEXT) if one.digits == digits), None) if figure else None
    spec = ClaimSpec(id=f"c{digits}", quantity="itl", value=f"{digits} ms", note=note)
    judgement = Judgement(spec, verdict, f"{digits} ms", value=None if value is None else Fraction(value) / 1000, unit="s")
    return Checked(judgement, "n.md", 1, 1, f"{digits} ms", figure=own, passed_on=passed_on)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    def make(*claims, text=TEXT, holds=True, again=None):
        path = tmp_path / "n.md"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        verdicts = again if again is not None else ["rounded" if holds else "wrong"] * len(claims)

        def checked(text, file):
            if verdicts == "unreadable":
                raise InputError("no")
            return SimpleNamespace(claims=[SimpleNamespace(verdict=verdict) for verdict in verdicts])

        monkeypatch.setattr(corrected_copies, "check_text", checked)
        return corrected(str(path), list(claims), tmp_path / "x.md")

    return make


def told(made):
    return [one.id for one in made.corrected], {one.id: reason for one, reason in made.left}


def test_a_wrong_number_is_put_right(copy):
    made = copy(claim("5"), claim("7", verdict="exact"))
    assert (made.content.decode(), told(made), made.written) == (TEXT.replace("5 ms", "6 ms"), (["c5"], {}), True)
    made = copy(claim("5", verdict="exact"))
    assert (made.content.decode(), told(made), made.written) == (TEXT, ([], {}), False)


def test_each_note_has_its_own_claims_and_is_written_where_it_is_asked_for(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        corrected_copies, "corrected", lambda file, claims, goal, asked: made.append((Path(file).name, [one.id for one in claims], goal.name, asked))
    )
    one, two = (str(tmp_path / name) for name in ("a.md", "b.md"))
    claims = tuple(Checked(claim(digits).judgement, file, 1, 1, "") for digits, file in (("5", one), ("7", two), ("9", one)))
    copies(Report(claims, (one, two, "c.yaml")))
    copies(Report(claims[:1], (one,)), out=str(tmp_path / "x.md"))
    assert made == [("a.md", ["c5", "c9"], "a.fixed.md", False), ("b.md", ["c7"], "b.fixed.md", False), ("a.md", ["c5"], "x.md", True)]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (claim("5", note="doubtful: x"), "doubtful: not changed; remove its note once the annotation is right"), (claim("5", note="Doubtful"), "doubtful: not changed; remove its note once the annotation is right"),
        (claim("5", verdict="inconsistent"), "it contradicts itself or another claim: " + AUTHOR), (claim("5", figure=False), "it is not a number in the text"), (claim("5", value=None), "there is no right number for it"),
        (claim("9"), "it is a bound or a range: " + AUTHOR),
    ],
)  # fmt: skip
def test_a_number_that_is_left_to_its_author(one, reason, copy):
    made = copy(one)
    assert (made.content.decode(), told(made)) == (TEXT, ([], {one.id: reason}))


def test_a_number_whose_annotation_is_doubtful_is_never_changed(tmp_path):
    """Both numbers are half of what the annotations derive; only the one that its author is sure of is changed."""
    note = tmp_path / "note.md"
    sentence = "The weights take 8 GB. <!-- symroof: weight_bytes model=llama-3.1-8b weights=fp16{} -->\n"
    note.write_text(sentence.format(" note='doubtful: weights fp16'") + "\n" + sentence.format(" note='from the model card'"))
    (made,) = copies(check(str(note)))
    assert [line[:22] for line in made.content.decode().splitlines()[::2]] == ["The weights take 8 GB.", "The weights take 16 GB"]
    assert [(one.line, why.partition(":")[0], "not changed" in why) for one, why in made.left] == [(1, "doubtful", True)]


def test_a_number_that_other_claims_are_about_too(copy):
    same = Checked(claim("5", "8").judgement, "n.md", 1, 1, "5 ms", figure=claim("5").figure)
    assert told(copy(claim("5"), claim("5", verdict="rounded"))) == ([], {"c5": "another claim holds it right"})
    made = copy(claim("5"), same)
    assert (told(made)[0], [reason for _, reason in made.left]) == ([], ["two claims want it otherwise"] * 2)
    made = copy(claim("5"), claim("5"))
    assert (told(made), made.content.decode()) == ((["c5", "c5"], {}), TEXT.replace("5 ms", "6 ms"))


@pytest.mark.parametrize(
    ("again", "left"),
    [(["wrong", "exact"], True), (["approximate", "wrong"], False), (["exact"], True), ("unreadable", True), (["conditional", "exact"], True)],
)
def test_a_number_is_put_right_where_its_claim_then_holds(again, left, copy):
    """And the note then has as many claims."""
    made = copy(claim("5"), claim("7", verdict="exact"), again=again)
    assert told(made) == (([], {"c5": "the claim would not hold with it put right"}) if left else (["c5"], {}))
    assert (made.content.decode() == TEXT) is left


def test_line_ends_and_the_mark_of_the_file_stay(copy):
    text = codecs.BOM_UTF8 + TEXT.replace("\n", "\r\n").encode()
    assert copy(claim("5"), text=text).content == text.replace(b"5 ms", b"6 ms")


def test_what_else_rests_on_a_number_that_was_put_right(copy):
    """Arithmetic it comes out of, what the check says it is passed on to, and the same number again: five places at most."""
    text = "It takes 5 ms, then 7 ms and under 9 ms.\n\nTwice 25 ms: 2 × 12.5 ms = 25 ms.\n" + "Again 25 ms.\n\n" * 7
    own = figures(text)
    (result,) = (one for one in own if one.start == text.index("25 ms.\n"))
    wrong = Checked(claim("5").judgement, "n.md", 3, 1, "25 ms", figure=result, passed_on=("50 ms in line 40",))
    (look,) = copy(wrong, text=text).look
    lines = [3, 4, *range(6, 20, 2)][:5]
    assert look == ("2 × 12.5 ms in line 3, which it comes out of", "50 ms in line 40", *(f"25 ms in line {line}" for line in lines))
    other = Checked(claim("7", verdict="exact").judgement, "n.md", 4, 1, "25 ms", figure=next(one for one in own if one.start == text.index("25 ms: ")))
    assert "25 ms in line 3" not in copy(wrong, other, text=text).look[0]


def test_a_note_is_read_once_for_all_its_corrected_numbers(tmp_path, monkeypatch):
    """What rests on a number was looked for in the whole note again for each: 300 wrong numbers took a minute."""
    wrong = "A 4,096-token prompt takes 10.7 GB of cache. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->\n\n"
    (tmp_path / "note.md").write_text(wrong * 5)
    read, readings = corrected_copies.read_note, []
    monkeypatch.setattr(corrected_copies, "read_note", lambda *given: (readings.append(given), read(*given))[1])
    (copy,) = copies(check(str(tmp_path / "note.md")))
    assert len(copy.corrected) == 5 and len(readings) == 1
