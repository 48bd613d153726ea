"""``symroof check``: the table, the forms for machines, corrected copies, exit codes."""

import json
import re
import shlex
import time

import pytest

from symroof.output_files import PREFIX
from symroof.report.claims_text import off

from . import ROOT, call, good, process, refused

KV = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
RIGHT, WRONG = f"A prompt of 4,096 tokens takes 1.34 GB. {KV}\n", f"A prompt of 4,096 tokens takes 10.7 GB. {KV}\n"
NEEDS = "The first token comes after 1,159 ms. <!-- symroof: ttft params=70e9 hardware=h100-sxm prompt=4096 assume.detail=weights needs.mfu=0.5 -->\n"
POST = ROOT / "docs" / "blog-post.md"


@pytest.fixture
def note(tmp_path):
    def write(text, name="note.md"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    return write


def everything_under(folder):
    return sorted(path.name for path in folder.iterdir())


# ----------------------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("text", "plain", "strict"),
    [
        (RIGHT, 0, 0),
        (WRONG, 1, 1),
        (NEEDS, 0, 1),
        ("No claims.\n", 0, 0),
        ("Soon. <!-- symroof: itl model=llama-3-8b prompt=64 value='5 ms' -->\n", 0, 1),
        ("Good. <!-- symroof: unchecked='a matter of taste' -->\n", 0, 0),
        ("A step takes 42.1 ms. <!-- symroof: itl model=llama-3-70b hardware=h100-sxm prompt=64 assume.detail=weights -->\n", 0, 1),  # does not fit
        ("1 GB <!-- symroof: kv_cache_byts -->\n", 2, 2),
    ],
)
def test_exit_codes(note, text, plain, strict):
    path = note(text)
    assert call("check", path).code == plain
    assert call("check", path, "--strict").code == strict
    assert call("check", path, "--json").code == plain


def test_bad_input_says_every_fault_of_every_file(note, tmp_path):
    first, second = note("1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"), note("claims: [{id: x, quantity: itl, valu: 3}]\n", "b.yaml")
    message = refused("check", first, second, tmp_path / "none.md")
    assert f"{first}:1:20: claims[0].quantity: kv_cache_byts: no such quantity or input" in message
    assert f"{second}:1:33: claims[0].valu: unknown key" in message
    assert f"{tmp_path / 'none.md'}: cannot be read" in message


def test_a_bad_annotation_costs_the_other_claims_nothing(note, tmp_path):
    """Standard output has what could be judged, standard error every fault with its place, line, caret and hint; 2 outweighs 1."""
    first, second = note(f"{WRONG}\n1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"), note(b"\xff", "b.md")
    outcome = call("check", first, second)
    assert outcome.code == 2
    assert re.search(r"1 +A prompt of 4,096 tokens takes 10.7 GB\. +10.7 GB +1.3422 GB +wrong +gqa_forgotten", outcome.out)
    assert re.search(r"3 +1 GB +1 GB +unchecked\n", outcome.out)
    assert "a.md:3:" not in outcome.out, "reported once, with the faults"
    assert outcome.out.endswith("2 claims: 1 wrong, 1 unchecked\n")
    assert f"{first}:3:20: claims[1].quantity: kv_cache_byts: no such quantity or input\n    1 GB <!-- symroof" in outcome.err
    assert f"{' ' * 23}^\n    hint: did you mean 'kv_cache_bytes'?\n" in outcome.err
    assert "b.md: is not UTF-8" in outcome.err


HOSTILE = {
    "huge": b"<!-- symroof: " + b"x" * 900_000 + b" -->",
    "unclosed": b"1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b " + b"y " * 400_000,
    "ten thousand": f"1.34 GB {KV}\n\n".encode() * 10_000,
    "ten thousand bad": b"1 GB <!-- symroof: kv_cache_byts modle=3 x= a a -->\n\n" * 10_000,
    "not UTF-8": b"\xff\xfe\x00 1 GB",
    "too large": b"a" * 2_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_notes_are_refused_in_bounded_time(name, note):
    started = time.perf_counter()
    outcome = call("check", note(HOSTILE[name]))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert time.perf_counter() - started < 10


def test_json_stays_one_object_whatever_is_bad(note, tmp_path):
    first, second = note(f"{RIGHT}\n1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"), tmp_path / "none.md"
    outcome = call("check", first, second, "--json")
    assert (outcome.code, outcome.json["summary"]) == (2, {"rounded": 1, "unchecked": 1})
    assert outcome.json["claims"][1]["reason"] == "kv_cache_byts: no such quantity or input; did you mean 'kv_cache_bytes'?"
    assert [(error["file"], error["line"]) for error in outcome.json["errors"]] == [(str(first), 3), (str(second), None)]
    assert json.loads(outcome.err)["errors"] == outcome.json["errors"]
    assert call("check", second, "--json").json["claims"] == []
    assert "errors" not in call("check", note(RIGHT), "--json").json


def test_bad_input_in_the_forms_for_reviews(note):
    path = note(f"{WRONG}\n1 GB <!-- symroof: kv_cache_byts -->\n")
    github = call("check", path, "--format", "github")
    assert (github.code, github.out.count("::error"), github.err.count("::error")) == (2, 1, 1)
    log = json.loads(call("check", path, "--format", "sarif").out)
    assert [(result["ruleId"], result["level"]) for result in log["runs"][0]["results"]] == [("wrong/gqa_forgotten", "error"), ("unchecked", "error")]


def test_a_note_with_a_bad_annotation_is_not_corrected(note, tmp_path):
    """Nor is any other file of that call: what is written is whole, or it is not written."""
    first, second = note(f"{WRONG}\n1 GB <!-- symroof: kv_cache_byts -->\n", "a.md"), note(WRONG, "b.md")
    outcome = call("check", first, second, "--fix", "--in-place")
    assert outcome.code == 2
    assert outcome.err.startswith("nothing was corrected: first mend what follows\n")
    assert second.read_text(encoding="utf-8") == WRONG
    assert everything_under(tmp_path) == ["a.md", "b.md"]


def test_usage_errors(note):
    path = note(RIGHT)
    for arguments in (["--json", "--format", "sarif"], ["-o", "x.md"], ["--in-place"], ["--fix", "--in-place", "-o", "x.md"], ["--format", "xml"]):
        refused("check", path, *arguments)
    refused("check")


# ------------------------------------------------------------------------------------------------------------- for people


def test_the_table_tells_sentence_claimed_derived_verdict_and_correction(note):
    out = call("check", note(RIGHT + "\n" + WRONG)).out
    assert re.search(r"line +sentence +claimed +derived +verdict +slip +correction\n", out)
    assert re.search(r"1 +A prompt of 4,096 tokens takes 1.34 GB\. +1.34 GB +1.3422 GB +rounded\n", out)
    assert re.search(r"3 +A prompt of 4,096 tokens takes 10.7 GB\. +10.7 GB +1.3422 GB +wrong +gqa_forgotten,? +1.34 GB\n", out)
    assert ":3:32: wrong: A prompt of 4,096 tokens takes 10.7 GB." in out
    assert "claimed 10.7 GB, derived 1.3422 GB: 7.97 times too high" in out  # 10.7e9/1342177280 = 7.972
    assert out.endswith("2 claims: 1 rounded, 1 wrong\n")


@pytest.mark.parametrize("columns", [40, 80, 120, 300])
def test_the_table_keeps_to_the_width_of_the_terminal(columns):
    done = process("check", POST, COLUMNS=str(columns))
    table = done.stdout.split("\n\n")[0].splitlines()
    assert done.returncode == 1
    assert max(map(len, table[1:])) <= max(columns, 100)
    assert all("24 tokens/sec" in done.stdout for _ in table)


def test_every_command_it_names_runs():
    out = call("check", POST).out
    commands = re.findall(r"see: (symroof .*)", out)
    assert len(commands) >= 3
    for line in commands:
        good(*shlex.split(line)[1:])


@pytest.mark.parametrize(
    ("ratio", "words"), [(None, ""), (1.04, ": 4 % too high"), (0.96, ": 4 % too low"), (1e12, ": 1.0e+12 times too high"), (0.001, ": 1,000 times too low")]
)
def test_how_far_off(ratio, words):
    assert off(ratio) == words


def test_text_of_strangers_cannot_steer_a_terminal(note):
    out = call("check", note(f"\x1b[31m\x07 evil\u202e\0 takes 10.7 GB {KV}")).out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", out)


def test_no_claims_shows_how_to_write_one(note):
    assert "no claims; put one behind a sentence: <!-- symroof: kv_cache_bytes" in good("check", note("Text.")).out


# ----------------------------------------------------------------------------------------------------------- for machines


def test_json_is_one_object_of_the_contract(note):
    path = note(WRONG)
    result = call("check", path, "--json").json
    (claim,) = result["claims"]
    assert (result["schema"], result["summary"]) == ("symroof/check/1", {"wrong": 1})
    assert (claim["file"], claim["line"], claim["claimed"], claim["derived"], claim["correction"]) == (str(path), 1, 10_700_000_000, 1_342_177_280, "1.34 GB")


def test_github_annotations(note):
    path = note(RIGHT + "\n" + WRONG + "\n" + NEEDS)
    lines = call("check", path, "--format", "github").out.splitlines()
    assert lines[0].startswith(f"::error file={path},line=3,col=32,title=symroof%3A wrong::")
    assert "claimed 10.7 GB, derived 1.3422 GB" in lines[0]
    assert lines[1].startswith(f"::warning file={path},line=5,col=29,")
    assert lines[2] == "3 claims: 1 rounded, 1 conditional, 1 wrong"


def test_github_annotations_are_escaped(note):
    path = note("100 % sure:: that it is 10 %25 <!-- x -->%0A::error::x at 62 % <!-- symroof: expression='1/2' -->\n", "a,b: c%.md")
    line, _ = call("check", path, "--format", "github").out.splitlines()
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert properties.endswith("a%2Cb%3A c%25.md,line=1,col=" + properties.rpartition("col=")[2])
    assert len(properties.split(",")) == 4
    assert re.sub("%(25|0A|0D)", "", message).count("%") == 0
    assert "%250A" in message


def test_github_form_tells_bad_input_in_its_own_way(note):
    path = note("1 GB <!-- symroof: kv_cache_byts -->\n")
    outcome = call("check", path, "--format", "github")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"::error file={path},line=1,col=20,")


def test_sarif_has_a_result_and_a_rule_for_what_does_not_hold(note, monkeypatch, tmp_path):
    note(RIGHT + "\n" + WRONG + "\n" + NEEDS, "my note.md")
    monkeypatch.chdir(tmp_path)
    log = json.loads(call("check", "my note.md", "--format", "sarif").out)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (log["version"], run["tool"]["driver"]["name"], rules) == ("2.1.0", "symroof", ["conditional", "wrong/gqa_forgotten"])
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [("wrong/gqa_forgotten", "error"), ("conditional", "warning")]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] and r["message"]["text"] for r in run["results"])
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20note.md"
    assert place["region"] == {"startLine": 3, "startColumn": 32, "endLine": 3, "endColumn": 36}
    strict = json.loads(call("check", "my note.md", "--format", "sarif", "--strict").out)
    assert [r["level"] for r in strict["runs"][0]["results"]] == ["error", "error"]
    assert json.loads(good("check", note(RIGHT), "--format", "sarif").out)["runs"][0]["results"] == []


# ------------------------------------------------------------------------------------------------------- corrected copies


def test_fix_writes_a_copy_beside_the_note(note, tmp_path):
    path = note(RIGHT + "\n" + WRONG)
    outcome = call("check", path, "--fix")
    assert (outcome.code, outcome.err) == (1, f"wrote {tmp_path / 'note.fixed.md'}: 1 number corrected\n  line 3: 10.7 GB is now 1.34 GB\n")
    assert path.read_text(encoding="utf-8") == RIGHT + "\n" + WRONG
    assert (tmp_path / "note.fixed.md").read_text(encoding="utf-8") == RIGHT + "\n" + RIGHT
    assert good("check", tmp_path / "note.fixed.md").out.endswith("2 claims: 2 rounded\n")


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


@pytest.mark.parametrize(("written", "right"), KEPT)
def test_only_the_digits_change_and_the_copy_is_right(written, right, note, tmp_path):
    text = "\ufeffFirst.\r\n\r\nIt takes {}, you see. " + KV + "\r\nLast 2.68 GB.\r\n"
    call("check", note(text.format(written)), "--fix", "-o", tmp_path / "out.md")
    assert (tmp_path / "out.md").read_bytes() == text.format(right).encode("utf-8")
    assert list(good("check", tmp_path / "out.md", "--json").json["summary"]) in (["rounded"], ["exact"])


@pytest.mark.parametrize("written", ["under 1.2 GB", "1.5–1.6 GB", "5 ms", "1.3 GB", "1.34 GB"])
def test_bounds_ranges_other_units_and_what_holds_stay(written, note, tmp_path):
    text = f"It takes {written}. {KV.replace(' -->', '')} value='{written.replace('–', '..').replace('under', '<')}' -->\n"
    call("check", note(text), "--fix", "-o", tmp_path / "out.md")
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == text


def test_the_example_is_right_once_it_is_corrected(tmp_path):
    outcome = call("check", POST, "--fix", "-o", tmp_path / "post.md")
    assert outcome.code == 1
    assert ", 0 left" not in outcome.err
    assert set(good("check", tmp_path / "post.md", "--json").json["summary"]) == {"exact", "rounded", "conditional"}


def test_two_claims_that_want_one_number_otherwise_leave_it(note, tmp_path):
    text = f"It takes 10.7 GB. {KV} {KV.replace('4096', '8192')}\n"
    outcome = call("check", note(text), "--fix")
    stays = "  line 1: 10.7 GB stays: two claims want it otherwise\n"
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
        "  line 3: under 1.2 GB stays: it is a bound or a range: what is right only its author knows",
        "  line 5: 1.5–1.6 GB stays: it is a bound or a range: what is right only its author knows",
        "  line 9: compute stays: it is no number of the text",
        "  line 11: 2.68 GB stays: it is no number of the text",
        "  line 13: 7 GB stays: it contradicts itself or another claim: what is right only its author knows",
    ]


def test_latex_is_read_and_printed_as_a_person_would_write_it(note, tmp_path):
    """The digits are corrected where they stand, with LaTeX's own marks around and in them."""
    text = "A token adds $10.7\\,\\text{{kB}}$ {}, that is ${}$ bytes. {}\n"
    first, second = (f"<!-- symroof: kv_bytes_per_token model=llama-3-70b {id} -->" for id in ("", "id=b"))
    path = note(text.format(first, "2{,}621{,}440", second))
    outcome = call("check", path, "--fix", "-o", tmp_path / "out.md")
    assert re.search(r"1 +A token adds 10.7 kB +10.7 kB +327.68 kB/token +wrong", outcome.out)
    assert "claimed 2,621,440 bytes, derived" in outcome.out
    assert "line 1: 2,621,440 bytes is now 327,680 bytes" in outcome.err
    fixed = text.format(first, "327{,}680", second).replace("10.7", "328")
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == fixed


def test_slips_in_the_text_for_people(note):
    """Named ones, else the two best guesses; a pair of slips once; what random errors would do only where it tells something."""
    pair = "It takes 11.53 GB. " + KV
    out = call("check", note(pair)).out
    assert out.count("slip: ") == 1
    assert re.search(r"slip: (gqa_forgotten and gb_gib|gb_gib and gqa_forgotten): .*\n", out)
    guesses = "A step takes 60.3 ms. <!-- symroof: itl model=llama-3-70b hardware=h100-sxm tp=2 prompt=4096 -->"
    out = call("check", note(guesses)).out
    assert out.count("perhaps: ") == 2
    assert re.search(r"perhaps: hidden_efficiency: .* \(100 % of random errors would fit too\)", out)
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
    assert "is an original" in refused("check", tmp_path / "link.md", "--fix", "-o", tmp_path / "note.md")
    call("check", tmp_path / "link.md", "--fix", "--in-place")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "note.md").read_text(encoding="utf-8") == RIGHT


def test_a_copy_never_replaces_another_of_the_files(note):
    first, second = note(WRONG), note(WRONG, "note.fixed.md")
    assert "is an original" in refused("check", first, second, "--fix")


def test_several_notes_go_to_a_folder(note, tmp_path):
    first, second = note(WRONG, "a.md"), note(WRONG, "b.md")
    assert "for several notes" in refused("check", first, second, "--fix", "-o", tmp_path / "out.md")
    assert call("check", first, second, "--fix", "-o", f"{tmp_path}/out/").code == 1
    assert everything_under(tmp_path / "out") == ["a.md", "b.md"]
    (tmp_path / "x").mkdir()
    third = tmp_path / "x" / "a.md"
    third.write_text(WRONG, encoding="utf-8")
    assert "two corrected notes" in refused("check", first, third, "--fix", "-o", f"{tmp_path}/both/")


def test_claim_files_are_not_corrected(note):
    path = note("claims: [{id: a, quantity: kv_cache_bytes, given: {model: llama-3-70b, prompt: 4096}, value: 2 GB}]\n", "c.yaml")
    assert "no Markdown note" in refused("check", path, "--fix")


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


# ------------------------------------------------------------------------------------------------- validate, schema, init


def test_validate_reads_notes_and_claim_files_with_their_names(note):
    right, wrong = note(WRONG), note("claims: [{id: a, quantity: itll, value: 3 ms}]\n", "c.yaml")
    assert good("validate", right).out == f"{right}: a valid claims file\n"
    assert f"{wrong}:1:18: claims[0].quantity: itll: no such quantity or input" in refused("validate", wrong)


def test_the_starter_is_checked_too(tmp_path):
    call("init", "claims", "-o", tmp_path / "c.yaml")
    assert set(good("check", tmp_path / "c.yaml", "--json").json["summary"]) == {"exact", "rounded", "conditional"}


def test_the_schema_has_the_keys_of_files():
    claim = good("schema", "claims").json["$defs"]["ClaimSpec"]["properties"]
    assert {"for", "with", "quantity", "conflicts_with"} <= set(claim)
    assert not {"solve_for", "with_"} & set(claim)


def test_the_pre_commit_hook_runs_check_on_notes_and_claim_files():
    import yaml

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (hook["id"], hook["entry"], hook["language"]) == ("symroof-check", "symroof check", "python")
    for path, expected in {"notes.md": 1, "a/b.markdown": 1, "specs/claims/x.yaml": 1, "my-claims.yml": 1, "study.yaml": 0, "md.py": 0}.items():
        assert bool(re.search(hook["files"], path)) == expected
