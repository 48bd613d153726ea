"""Every input that once made a command crash, hang or print what it must not, run again."""

import base64
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from symroof.cli.main import main

FOLDER = Path(__file__).parents[1] / "data" / "fuzz"
CASES = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.yaml"))
}
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LARGEST = 4 << 20
"""Bytes that a command may print."""


def text_of(written):
    """Text, or escapes where YAML cannot hold it."""
    if not isinstance(written, dict):
        return str(written)
    text = written["escaped"].encode("ascii").decode("unicode_escape")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def content_of(written):
    """Text, escapes, base64, or a head and a line that is repeated with its number for ``#``."""
    if isinstance(written, dict) and "times" in written:
        lines = [written["line"].replace("#", str(i)) for i in range(written["times"])]
        return (written["head"] + "".join(lines)).encode()
    if isinstance(written, dict) and "base64" in written:
        return base64.b64decode(written["base64"])
    return text_of(written).encode()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CASES)
def test_what_crashed_once(name, tmp_path, monkeypatch, capsys):
    case = CASES[name]
    for file, written in case.get("files", {}).items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content_of(written))
    monkeypatch.chdir(tmp_path)
    code = main([text_of(word) for word in case["run"]])
    printed = capsys.readouterr()
    assert code in (0, 1, 2), printed.err
    assert printed.err or code != 2
    assert len(printed.out) + len(printed.err) <= LARGEST
    for text in (printed.out, printed.err):
        assert not STEERING.search(text)
        assert "<fuzzlive" not in re.sub("`[^`\n]*`", "", text)
        assert "Traceback" not in text
        assert not ("never" in case and re.search(case["never"], text))


@pytest.mark.sample(1)
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
@pytest.mark.parametrize("words", ["list models", "eval --model nosuch"])
def test_a_closed_stream_is_no_crash(closed, words):
    line = f"'{sys.executable}' -m symroof {words} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == (0 if words == "list models" else 2)


INTERRUPTED = """
import os, signal, sys
class Interrupt:
    left = {at}
    def find_spec(self, *_):
        Interrupt.left -= 1
        if Interrupt.left == -1:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["symroof", "list", "models"]
from symroof.cli import run
run()
"""
"""The program with Ctrl-C at a certain import, so that the moment does not depend on speed."""


@pytest.mark.parametrize("at", [1, 20])
def test_ctrl_c_while_it_starts_is_no_crash(at):
    command = [sys.executable, "-c", INTERRUPTED.format(at=at)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (130, -2)
    assert "Traceback" not in done.stderr
