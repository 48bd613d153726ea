"""Calling the command line in this process, and small study files to call it on."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from symroof.cli.main import main

from ..tables import words

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "specs" / "studies"
CHAT = STUDIES / "llama-3-8b-chat.yaml"
STEMS = sorted(path.stem for path in STUDIES.glob("*.yaml"))
TOO_LARGE = STUDIES / "llama-3-70b-chat.yaml"
"""A study that does not fit in memory."""
H100 = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "16")
COMMANDS = words(
    "report eval derive diff check plot simulate sweep calibrate vllm select list show validate "
    "schema init"
)

KV = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
RIGHT, WRONG = (
    f"A prompt of 4,096 tokens takes 1.34 GB. {KV}\n",
    f"A prompt of 4,096 tokens takes 10.7 GB. {KV}\n",
)
NEEDS = "The first token comes after 1,159 ms. <!-- symroof: ttft params=70e9 hardware=h100-sxm prompt=4096 assume.detail=weights needs.mfu=0.5 -->\n"


@dataclass(frozen=True)
class Outcome:
    """What a call left: exit code and both streams as text."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as the one JSON object it must be."""
        return json.loads(self.out)


def call(*arguments):
    """Run one command in this process; an error that escapes ``main`` escapes here too."""
    words = [str(argument) for argument in arguments]
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)
    )
    with (
        mock.patch.object(sys, "argv", ["symroof", *words]),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        code = main(words)
    return Outcome(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def good(*arguments):
    """A call that must succeed and say nothing on standard error."""
    outcome = call(*arguments)
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    return outcome


def refused(*arguments):
    """A call that must be refused: exit code 2, nothing on standard output, no traceback. Returns its message."""
    outcome = call(*arguments)
    assert outcome.code == 2, (outcome.code, outcome.err, outcome.out[:200])
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert outcome.err.strip()
    return outcome.err


def process(*arguments, code=None, cwd=ROOT, seconds=60, **environment):
    """Run a command (or Python ``code``) in a process of its own."""
    command = (
        [sys.executable, "-c", code, *map(str, arguments)]
        if code
        else [sys.executable, "-m", "symroof", *map(str, arguments)]
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=env, timeout=seconds, check=False
    )


def flat(text):
    """A text without its line breaks and indents, wherever the terminal's width puts them."""
    return " ".join(text.split())


def processor_seconds():
    """Processor time of this process and of those it has waited for: unlike the clock's, the same on a busy machine."""
    return sum(os.times()[:4])


def study_text(**changes):
    """A small valid study as YAML text; a key set to None is left out, another is written as given."""
    lines = {
        "title": "A small study",
        "model": "llama-3-8b",
        "hardware": "h100-sxm",
        "workload": "{prompt: 1024, output: 16, batch: 2}",
    } | changes
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value is not None)


def write_study(folder, name="study.yaml", **changes):
    """The small study in a file."""
    path = folder / name
    path.write_text(study_text(**changes), encoding="utf-8")
    return path


def cases(*arguments):
    """The cases of ``eval --json``."""
    return good("eval", *arguments, "--json").json["cases"]


def everything_under(folder):
    return sorted(path.name for path in folder.iterdir())
