"""What a configuration of ``symroof select`` costs in one run of a thousand and of ten thousand, beside one that is judged alone, and beside ``import sympy``.

Run it from anywhere: ``python benchmarks/selection.py``. Processor time; ratios, not seconds, are what to read. A whole command is timed as its own process,
tables included. A sample of the configurations is then judged one by one, each in a selection of its own: states and batches have to be the same.
``--small`` takes a few configurations.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from report import COMMANDS, SYMPY, seconds  # noqa: E402

MODEL, PROMPT, OUTPUT = "llama-3.1-8b", 2048, 300
TARGETS = {"ttft": "2 s", "itl": "50 ms"}
THOUSAND = {"hardware": "all", "tp": "1,2,4", "weights": "fp16,fp8", "kv": "fp16,fp8"}
TEN_THOUSAND = {
    **THOUSAND,
    "tp": "1,2,4,8",
    "weights": "fp16,fp8,int4",
    "chunk": "512,1024,2048,4096",
}
FEW = {"hardware": "h100-sxm,l40s", "tp": "1,2"}
GOALS = {"a thousand": 3.0, "ten thousand": 20.0}
"""Seconds on an idle machine, all included."""


def command(among: dict[str, str]) -> list[str]:
    """The line of a selection."""
    words = [
        "-m",
        "symroof",
        "select",
        "--model",
        MODEL,
        "--prompt",
        str(PROMPT),
        "--output",
        str(OUTPUT),
    ]
    words += [word for name, value in among.items() for word in ("--among", f"{name}={value}")]
    return [
        *words,
        *(word for name, value in TARGETS.items() for word in ("--target", f"{name}={value}")),
    ]


def judged(among: dict[str, str]) -> tuple[float, dict[str, tuple[str, int]]]:
    """Processor time of judging all of some candidates together, and the state and the batch of each."""
    from symroof.select.selection import select

    start = time.process_time()
    choice = select(model=MODEL, prompt=PROMPT, output=OUTPUT, targets=TARGETS, among=among)
    return time.process_time() - start, {
        _key(c): (c.state, c.run.batch) for c in choice.configurations
    }


def _key(configuration) -> str:
    """Hardware and degrees: the label leaves out what is listed once."""
    own, case = configuration.run.own, configuration.run.own.case
    return " ".join(
        [
            own.hardware.name,
            str(case.value("tp")),
            *(f"{role} {own.precisions[role]}" for role in ("weights", "kv")),
        ]
    )


def alone(among: dict[str, str], count: int) -> tuple[float, dict[str, tuple[str, int]]]:
    """The same of the first ``count`` pairs of a device and a width, one by one; time of one configuration."""
    devices = (
        ["h100-sxm", "l40s", "a100-80gb-sxm", "t4", "h200", "mi300x"]
        if among["hardware"] == "all"
        else among["hardware"].split(",")
    )
    total, states = 0.0, {}
    pairs = [(device, tp) for device in devices for tp in among["tp"].split(",")][:count]
    for device, tp in pairs:
        one = {name: value.split(",")[0] for name, value in among.items()} | {
            "hardware": device,
            "tp": tp,
        }
        taken, state = judged(one)
        total, states = total + taken, states | state
    return total / len(pairs), states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    sizes = {"a few": FEW} if small else {"a thousand": THOUSAND, "ten thousand": TEN_THOUSAND}
    with tempfile.TemporaryDirectory() as out:
        beside, _ = seconds(COMMANDS[SYMPY][0], out)
        print(f"{'whole commands':28} {'cpu s':>8} {'goal s':>8} {'x import sympy':>15}")
        for name, among in sizes.items():
            cpu, _ = seconds(command(among), out)
            print(f"{name:28} {cpu:8.2f} {GOALS.get(name, ''):>8} {cpu / beside:15.1f}")
    among = FEW if small else THOUSAND
    judged(FEW)  # theories are built once for a process, and are not counted
    together, states = judged(among)
    one, own = alone(among, 4 if small else 18)
    assert own.items() <= states.items(), "a configuration judged alone comes out otherwise"
    each = together / len(states)
    print(f"{'judged':28} {'cpu ms each':>12} {'ratio':>8}")
    print(f"{'alone':28} {1e3 * one:12.2f} {one / each:8.1f}")
    print(f"{f'together, of {len(states):,}':28} {1e3 * each:12.2f} {1:8.1f}")


if __name__ == "__main__":
    main()
