"""What makes the site: the tables and outputs of its pages come from the commands themselves."""

import contextlib
import io
import json
import shlex
from pathlib import Path
from typing import Any

from symroof.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def answered(command: str, *options: str) -> str:
    """What a command prints.

    Raises:
        SystemExit: it fails.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*shlex.split(command), *options])
    if code:
        raise SystemExit(f"exit {code}: symroof {command}")
    return out.getvalue()


def found(command: str) -> dict[str, Any]:
    """The answer of a command as JSON."""
    made: dict[str, Any] = json.loads(answered(command, "--json"))
    return made
