"""Processor time of the main commands as ratios to ``import sympy``, all in one run.

Run it from anywhere: ``python benchmarks/speed.py [ROUNDS]``. Rounds are interleaved, so that a busy
machine slows all alike; ratios, not seconds, are what to read.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "specs" / "studies"
LLAMA = "--model llama-3-8b --hardware h100-sxm --prompt 1024 --output 256"
DEEPSEEK = "--model deepseek-v3 --hardware h200 --prompt 1024 --output 256 --tp 8 --batch 64"
AMONG = "--among hardware=all --among tp=1,2,4 --among weights=fp16,fp8 --among kv=fp16,fp8"
TARGETS = "--target ttft=2s --target itl=50ms"
GRID = "--over batch=1:1000 --over prompt=32:32000:+32 -q itl,ttft"
SYMPY = "import sympy"
COMMANDS = {
    "eval": f"eval {LLAMA}",
    "eval, attention groups under load": f"eval {DEEPSEEK} --set attention_dp=8 --set arrival_rate=5/s",
    "solve": f"solve batch_to_ridge {LLAMA}",
    "check, a post of 16 claims": f"check {ROOT}/docs/blog-post.md",
    "report, Llama-3 8B": f"report {STUDIES}/llama-3-8b-chat.yaml -o {{out}}",
    "report, Llama-3 70B": f"report {STUDIES}/llama-3-70b-chat.yaml -o {{out}}",
    "select, of a thousand": f"select --model llama-3.1-8b --prompt 2048 --output 300 {AMONG} {TARGETS}",
    "sweep, a million points": f"sweep {LLAMA} {GRID} -o {{out}}/grid.nc",
}


def program(command: str, out: str) -> list[str]:
    """The words of a process."""
    if command == SYMPY:
        return [sys.executable, "-c", SYMPY]
    return [sys.executable, "-m", "symroof", *command.format(out=out).split()]


def seconds(words: list[str]) -> float:
    """Processor time of one process, user and system."""
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = os.posix_spawn(words[0], words, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):  # 1: a finding, such as a wrong claim
        raise SystemExit(f"exit {code}: {' '.join(words)}")
    return used.ru_utime + used.ru_stime


def timed(commands: dict[str, str], rounds: int) -> dict[str, list[float]]:
    """Seconds of every command, round after round; the first, which compiles, is not counted."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            with tempfile.TemporaryDirectory() as out:
                used = seconds(program(command, out))
            if number or not rounds:
                times[name].append(used)
    return times


def main(rounds: int = 3) -> None:
    """Print a line for each command."""
    times = timed({SYMPY: SYMPY, **COMMANDS}, rounds)
    beside = times[SYMPY]
    print(f"{'processor time':36} {'seconds':>8} {'x import sympy':>15}")
    for name, used in times.items():
        ratio = statistics.median(a / b for a, b in zip(used, beside, strict=True))
        print(f"{name:36} {statistics.median(used):8.2f} {ratio:15.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
