"""How long commands take beside ``import sympy``, in one run: ratios, not seconds, are what to read.

Run it from anywhere: ``python benchmarks/report.py [ROUNDS]``. Rounds are interleaved, so a busy machine slows all alike, and
processor time (user and system, of the process itself) stands beside the wall clock, which a busy machine stretches. Modules
are compiled as in any installation; *first* is without the cache, *repeated* out of it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDY = str(ROOT / "specs" / "studies" / "llama-3-70b-chat.yaml")
SYMPY, FIRST, REPEATED = "import sympy", "off", "{out}/kept"
REPORT = ["-m", "symroof", "report", STUDY, "-o", "{out}"]
FORMATS = ["--format", "md,tex,html"]

COMMANDS: dict[str, tuple[str, list[str], float | None]] = {
    SYMPY: (FIRST, ["-c", "import sympy"], None),
    "python alone": (FIRST, ["-c", "pass"], None),
    "--help": (FIRST, ["-m", "symroof", "--help"], 0.25),
    "list models, first": (FIRST, ["-m", "symroof", "list", "models"], None),
    "list models, repeated": (REPEATED, ["-m", "symroof", "list", "models"], 0.25),
    "list hardware, first": (FIRST, ["-m", "symroof", "list", "hardware"], None),
    "list quantities, first": (FIRST, ["-m", "symroof", "list", "quantities"], None),
    "validate, first": (FIRST, ["-m", "symroof", "validate", STUDY], None),
    "validate, repeated": (REPEATED, ["-m", "symroof", "validate", STUDY], 0.25),
    "eval": (FIRST, ["-m", "symroof", "eval", STUDY, "--json"], None),
    "report, md and tex, no plots, first": (FIRST, [*REPORT, "--no-plots"], None),
    "report, three formats, no plots, first": (FIRST, [*REPORT, *FORMATS, "--no-plots"], 1.5),
    "report, three formats, no plots, repeated": (REPEATED, [*REPORT, *FORMATS, "--no-plots"], 0.3),
    "report, three formats, plots, first": (FIRST, [*REPORT, *FORMATS], None),
    "report, three formats, plots, repeated": (REPEATED, [*REPORT, *FORMATS], None),
}
"""What is run: where answers are kept, the arguments, and the ratio it is meant to stay under."""


def seconds(kept: str, arguments: list[str], out: str) -> tuple[float, float]:
    """Processor time and wall time of one process."""
    command = [sys.executable, *(a.format(out=out) if "{out}" in a else a for a in arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"SYMROOF_CACHE": kept.format(out=out), "PYTHONPATH": str(ROOT)}
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, wall


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as out:
        runs = [{name: seconds(kept, line, out) for name, (kept, line, _) in COMMANDS.items()} for _ in range(rounds + 1)][1:]
    print(f"{'':42} {'cpu ms':>8} {'wall ms':>8}   {'x import sympy: cpu':>19} {'wall':>6} {'goal':>6}")
    for name, (_, _, goal) in COMMANDS.items():
        cpu, wall = (statistics.median(run[name][i] for run in runs) for i in (0, 1))
        ratios = [statistics.median(run[name][i] / run[SYMPY][i] for run in runs) for i in (0, 1)]
        print(f"{name:42} {1000 * cpu:8.0f} {1000 * wall:8.0f}   {ratios[0]:19.2f} {ratios[1]:6.2f} {'' if goal is None else goal:>6}")


if __name__ == "__main__":
    main()
