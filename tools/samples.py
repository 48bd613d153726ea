"""Render the samples in ``reports/samples/`` again: ``python tools/samples.py``. Read them."""

import os
from pathlib import Path

from symroof.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ("llama-3-8b-chat", "llama-3-70b-chat")
"""A study that fits and meets its targets, and one that does not fit as asked."""


def run() -> None:
    os.chdir(ROOT)
    for stem in SAMPLES:
        folder = Path("reports/samples") / stem
        study = f"specs/studies/{stem}.yaml"
        code = main(["report", study, "-o", str(folder), "--format", "md,tex,html", "--full"])
        if code:
            raise SystemExit(code)
        for picture in folder.glob("*.pdf"):  # of the .tex alone, for its compiler
            picture.unlink()


if __name__ == "__main__":
    run()
