"""Files of strangers: what a message shows of them, and what is read as a number."""

import os

from ..cli import ROOT, call

CASE = "--model llama-3-8b --hardware h100-sxm"


def test_no_line_is_shown_of_a_file_that_only_another_file_names(tmp_path):
    (tmp_path / "secret.yaml").write_text("name: x\ndb_password: hunter2\n")
    for line in (
        "model: secret.yaml\nhardware: h100-sxm",
        "model: llama-3-8b\nhardware: secret.yaml",
    ):
        study = tmp_path / "study.yaml"
        study.write_text(f"workload: {{prompt: 512}}\n{line}\n")
        answer = call("eval", str(study))
        assert answer.code == 2
        assert "db_password: unknown key" in answer.err
        assert "hunter2" not in answer.err
    own = call("eval", "--model", str(tmp_path / "secret.yaml"), "--hardware", "h100-sxm")
    assert "hunter2" in own.err  # the file a person named is shown


def test_a_pipe_that_a_file_names_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    study, note = tmp_path / "study.yaml", tmp_path / "note.md"
    study.write_text("workload: {prompt: 512}\nmodel: ./pipe.yaml\nhardware: h100-sxm\n")
    note.write_text("It takes 1 ms. <!-- symroof: itl model=./pipe.yaml hardware=h100-sxm -->\n")
    for answer in (call("eval", str(study)), call("check", str(note))):
        assert answer.code == 2 and "is not a regular file" in answer.err


def test_the_definition_of_a_given_number_reads_back_in_its_unit():
    given = ("--set", "itl=80 GB/(3.35 TB/s)", *CASE.split())
    assert "itl = 8/335*(1 s)" in call("derive", "itl", *given).out
    again = call("eval", *CASE.split(), "--prompt", "5", "--set", "itl=8/335*(1 s)", "-q", "itl")
    assert again.out.startswith("itl: 23.9 ms")


def test_a_trace_has_plain_digits_and_no_prefix_longer_than_its_prompt(tmp_path):
    trace = tmp_path / "t.csv"
    for row, said in (("0,٣,5,0", "is not a number"), ("0,10,5,20", "more than the prompt")):
        trace.write_text(f"arrival,prompt,output,cached_prefix\n{row}\n")
        answer = call("simulate", *CASE.split(), "--trace", str(trace))
        assert answer.code == 2
        assert "t.csv:2:1" in answer.err
        assert said in answer.err


def test_no_cell_of_a_csv_file_is_worked_out_by_a_spreadsheet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ROOT / "specs" / "models" / "llama-3-8b.yaml"
    (tmp_path / "=1+1.yaml").write_text(model.read_text())
    (tmp_path / "study.yaml").write_text(
        'workload: {prompt: 512}\nmodel: ["=1+1.yaml", llama-3-8b]\nhardware: h100-sxm\n'
    )
    answer = call("sweep", "study.yaml", "-q", "itl", "-o", "out.csv")
    assert answer.code == 0, answer.err
    assert [line.split(",")[0] for line in (tmp_path / "out.csv").read_text().split()] == [
        "model",
        "'=1+1.yaml",
        "llama-3-8b",
    ]


def test_a_review_of_more_cases_than_a_person_reads_is_refused_at_once(tmp_path):
    prompts = ", ".join(str(100 * i) for i in range(1, 61))
    study = tmp_path / "study.yaml"
    study.write_text(
        f"workload: {{prompt: [{prompts}], output: [64, 128]}}\nmodel: llama-3-8b\nhardware: h100-sxm\n"
    )
    answer = call("report", str(study), "-o", str(tmp_path / "out"))
    assert answer.code == 2 and "has 120 cases, and a review shows 64 at most" in answer.err
