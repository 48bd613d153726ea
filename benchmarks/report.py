"""How long commands take beside ``import sympy``, in one run: ratios, not seconds, are what to read.

Run it from anywhere: ``python benchmarks/report.py [ROUNDS]``. Rounds are interleaved, so a busy machine slows all alike, and
processor time (user and system, of the process itself) stands beside the wall clock, which a busy machine stretches. Modules
are compiled as in any installation. ``--small`` runs the quick commands once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDY = str(ROOT / "specs" / "studies" / "llama-3-70b-chat.yaml")
SYMPY = "import sympy"
REPORT = ["-m", "symroof", "report", STUDY, "-o", "{out}"]
FORMATS = ["--format", "md,tex,html"]

COMMANDS: dict[str, tuple[list[str], float | None]] = {
    SYMPY: (["-c", "import sympy"], None),
    "python alone": (["-c", "pass"], None),
    "import symroof": (["-c", "import symroof"], 0.1),
    "--version": (["-m", "symroof", "--version"], 0.25),
    "--help": (["-m", "symroof", "--help"], 0.25),
    "list models": (["-m", "symroof", "list", "models"], 0.5),
    "list hardware": (["-m", "symroof", "list", "hardware"], None),
    "list quantities": (["-m", "symroof", "list", "quantities"], None),
    "validate": (["-m", "symroof", "validate", STUDY], 0.35),
    "eval": (["-m", "symroof", "eval", STUDY, "--json"], 1.0),
    "report, md and tex, no plots": ([*REPORT, "--no-plots"], None),
    "report, three formats, no plots": ([*REPORT, *FORMATS, "--no-plots"], 1.25),
    "report, three formats, plots": ([*REPORT, *FORMATS], 2.0),
}
"""The arguments of each command, and the ratio that is its goal."""
SMALL = (SYMPY, "--help", "validate")


def seconds(arguments: list[str], out: str) -> tuple[float, float]:
    """Processor time and wall time of one process."""
    command = [sys.executable, *(a.format(out=out) if "{out}" in a else a for a in arguments)]
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {"PYTHONPATH": str(ROOT)}
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=7)
    parser.add_argument("--small", action="store_true")
    chosen = parser.parse_args()
    commands = {
        name: entry for name, entry in COMMANDS.items() if not chosen.small or name in SMALL
    }
    with tempfile.TemporaryDirectory() as out:
        rounds = range(
            1 if chosen.small else chosen.rounds + 1
        )  # the first of several compiles modules, and is not counted
        runs = [{name: seconds(line, out) for name, (line, _) in commands.items()} for _ in rounds]
    runs = runs[1:] or runs
    print(
        f"{'':42} {'cpu ms':>8} {'wall ms':>8}   {'x import sympy: cpu':>19} {'wall':>6} {'goal':>6}"
    )
    for name, (_, goal) in commands.items():
        cpu, wall = (statistics.median(run[name][i] for run in runs) for i in (0, 1))
        ratios = [statistics.median(run[name][i] / run[SYMPY][i] for run in runs) for i in (0, 1)]
        print(
            f"{name:42} {1000 * cpu:8.0f} {1000 * wall:8.0f}   {ratios[0]:19.2f} {ratios[1]:6.2f} {'' if goal is None else goal:>6}"
        )


if __name__ == "__main__":
    main()
