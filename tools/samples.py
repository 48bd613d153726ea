"""Render the samples in ``reports/`` again: ``python tools/samples.py``. Look at them before you commit them."""

import os
from pathlib import Path

from symroof.cli.main import main

ROOT = Path(__file__).resolve().parents[1]


def run() -> None:
    os.chdir(ROOT)
    for study in sorted(Path("specs/studies").glob("*.yaml")):
        code = main(
            [
                "report",
                str(study),
                "-o",
                f"reports/{study.stem}",
                "--format",
                "md,tex,html",
                "--full",
            ]
        )
        if code:
            raise SystemExit(code)


if __name__ == "__main__":
    run()
