"""Bad input: exit code 2, a message with the place and a hint, nothing on standard output, nothing half written."""

import os
import time

import pytest

from ..tables import table
from . import ROOT, STUDIES, call, everything_under, process, refused, write_study

CHAT = STUDIES / "llama-3-8b-chat.yaml"
LINE = ("--model", "llama-3-8b", "--hardware", "h100-sxm")


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# -------------------------------------------------------------------------------------- what a study may not say

IN_FILE = r"""
# a key of the small study | line:column of the fault | what the message must hold
hardware: [h100-sxm | | not valid YAML
workloads: {prompt: 3} | 5:1 | workloads: unknown key, did you mean 'workload'
set: {mem_bandwith: 3 TB/s} | 5:7 | mem_bandwith, did you mean 'mem_bandwidth'
set: {mem_bandwidth: 3 TB/sec} | 5:7 | unit, sec
set: {mem_bandwidth: 3 TB} | 5:7 | byte, byte/s is needed, 3.35 TB/s
model: llama-3-9b | 2:1 | no such model, did you mean 'llama-3-8b'
thresholds: [batch_to_rigde] | 5:1 | batch_to_rigde, did you mean 'batch_to_ridge'
efficiency: {mfu: 0.7..0.5} | 5:14 | backwards, 0.5..0.7
efficiency: {mfu: "__import__('os').system('true')"} | 5:14 | mfu
set: {itl: "9**9**9"} | 5:7 | exponent
set: {itl: "decode_tim * 2"} | 5:7 | decode_tim, did you mean 'decode_time'
hardware: h100-sxm\nhardware: h200 | 4:1 | duplicate key, line 3
title: !!python/object/apply:os.system [true] | 1:8 | tags are not used
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("said", "place", "words"), table(IN_FILE))
def test_a_fault_in_a_study_is_reported_with_its_place(said, place, words, tmp_path):
    key, _, value = said.replace("\\n", "\n").partition(": ")
    path = write_study(tmp_path, **{key: value})
    started = time.process_time()
    command = ("report", path, "-o", "-") if key == "thresholds" else ("eval", path)
    message = refused(*command)
    assert time.process_time() - started < 10
    for word in words.split(", "):
        assert word in message
    first = message.splitlines()[0]
    assert first.startswith(f"{path}:{place}"), first


# --------------------------------------------------------------------------------------- what a file may not be


@pytest.mark.parametrize(
    "text", ["", "just words\n", "- 1\n- 2\n", "---\na: 1\n---\nb: 2\n", "\0", "{"]
)
def test_a_file_that_is_no_study(text, tmp_path):
    path = written(tmp_path / "odd.yaml", text)
    assert str(path) in refused("eval", path)
    assert str(path) in refused("validate", path)


def test_a_study_that_names_a_missing_model_file(tmp_path):
    assert "nothing.yaml" in refused("eval", write_study(tmp_path, model="./nothing.yaml"))


# ---------------------------------------------------------------------------------- what the line may not say

ON_LINE = {
    "no value": ([*LINE, "--set", "itl"], ["NAME=VALUE"]),
    "a backslash in a name, with a unit": ([*LINE, "--set", r"\i=5 ms"], [r"\i: unknown name"]),
    "infinite": ([*LINE, "--set", "itl=inf"], ["inf"]),
    "giant": ([*LINE, "--prompt", "1e400"], ["out of range"]),
    "Python": ([*LINE, "--set", "itl=__import__('os').system('true')"], ["itl"]),
    "long formula": ([*LINE, "--set", f"itl={'itl+' * 2000}itl"], ["itl"]),
    "itself": ([*LINE, "--prompt", "100", "--set", "itl=2*itl"], ["itl"]),
    "an efficiency without its value": (["--set", "mfu=w"], ["mfu", "needs window"]),
    "a circle": ([*LINE, "--prompt", "100", "--set", "itl=tpot", "--set", "tpot=itl"], ["itl"]),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ON_LINE)
def test_a_fault_on_the_line_is_reported(name):
    line, words = ON_LINE[name]
    started = time.process_time()
    message = refused("eval", *line)
    assert time.process_time() - started < 10
    for word in words:
        assert word in message


def test_errors_go_to_standard_error_as_json_too():
    import json

    outcome = call("eval", "--model", "llama-3-9b", "--json")
    assert (outcome.code, outcome.out) == (2, "")
    result = json.loads(outcome.err)
    assert result["errors"][0]["hint"].startswith("did you mean 'llama-3-8b'? ")


# ------------------------------------------------------------------------------------------------------ writing


def report(out, *more):
    """A review of one section: these tests look at how it is written."""
    line = ("report", CHAT, "-o", out, "--format", "md")
    return (*line, *more)


def test_a_link_is_not_followed_where_nobody_named_the_picture(tmp_path, monkeypatch):
    victim = written(tmp_path / "victim", "mine")
    (tmp_path / "memory.svg").symlink_to(victim)
    monkeypatch.chdir(tmp_path)
    assert "memory.svg: is a symbolic link" in refused("plot", "memory", *LINE, "--prompt", "100")
    assert victim.read_text(encoding="utf-8") == "mine"


@pytest.mark.full
@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(step, tmp_path, monkeypatch):
    old = written(tmp_path / "llama-3-8b-chat.md", "the old review")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    outcome = call(*report(tmp_path))
    assert outcome.code not in (0, 1)
    assert "Traceback" not in outcome.err
    assert old.read_text(encoding="utf-8") == "the old review"
    assert everything_under(tmp_path) == ["llama-3-8b-chat.md"]


@pytest.mark.full
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize(
    "line", [("list", "models"), ("eval", str(CHAT), "--json")], ids=lambda line: line[0]
)
def test_a_full_standard_output_is_an_error_in_one_line(line):
    import subprocess
    import sys

    with open("/dev/full", "wb") as full:
        command, told = [sys.executable, "-m", "symroof", *line], {"stdout": full, "text": True}
        told |= {"stderr": subprocess.PIPE, "cwd": ROOT, "timeout": 60}
        done = subprocess.run(command, check=False, **told)
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr
    assert done.returncode == 2


def test_standard_output_takes_one_format():
    assert "one format" in refused("report", CHAT, "-o", "-", "--format", "md,tex")


@pytest.mark.parametrize("formats", ["docx", "md,docx", ","])
def test_an_unknown_format(formats, tmp_path):
    message = refused("report", CHAT, "-o", tmp_path / "out", "--format", formats)
    assert "md, tex, html, pdf" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_a_pdf_without_tex_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused("report", CHAT, "-o", tmp_path / "out", "--format", "pdf")
    assert "pdflatex" in message
    assert "apt-get install" in message
    assert not (tmp_path / "out").exists()


def test_an_interrupt_from_the_keyboard_prints_no_traceback():
    code = (
        "import sys\nfrom symroof.cli import list_command, run\n"
        "def fail(): raise KeyboardInterrupt\n"
        "list_command.KINDS['models'] = fail\nsys.argv = ['symroof', 'list', 'models']\nrun()"
    )
    done = process(code=code)
    assert "Traceback" not in done.stderr
    assert done.returncode == 130


def test_the_library_leaves_ctrl_c_to_its_caller():
    code = "import signal, symroof\nassert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    assert process(code=code).returncode == 0
