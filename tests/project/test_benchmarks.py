"""Every benchmark runs, at a small size; what it compares has to agree, how long it takes is no test's affair."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
PRINTED = {
    "expressions.py": ("own nodes, every one", "SymPy, every one, written order"),
    "report.py": ("import sympy", "--help", "validate"),
    "selection.py": ("import sympy", "alone", "together"),
    "solve.py": ("numbers, cold", "symbols, warm", "batch_to_ridge"),
    "sweep.py": ("compiled", "by hand in NumPy", "lambdify(cse=True)", "scattered points"),
}


def test_every_benchmark_is_run_here():
    assert {path.name for path in FOLDER.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_benchmark_runs(name, tmp_path):
    done = subprocess.run(
        [sys.executable, FOLDER / name, "--small"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in PRINTED[name]:
        assert line in done.stdout
