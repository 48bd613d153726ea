"""``python -m tools.fuzz --minutes 30``: attack until the time is up; save every distinct failure, shrunk."""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from .areas import areas
from .attempt import CASES, cases, open_cases, save
from .findings import Finding, finding
from .hunt import Hunt
from .runner import Limits, Runner

ROUND, ROUND_SECONDS = 60, 20
"""Attempts in a round on one area, and seconds after which no more are drawn: areas whose commands are slow do not crowd out the others."""


def main() -> int:
    """Go round the areas; exit 1 where something new was found."""
    options = _options()
    chosen = {
        name: make() for name, make in areas().items() if not options.area or name in options.area
    }
    end = time.monotonic() + options.minutes * 60
    with Runner(Limits()) as runner:
        known = _replayed(runner)
        tally = {name: [0, 0, 0.0] for name in chosen}
        found: list[tuple[str, Finding, Path]] = []
        numbers = random.Random(options.seed)
        try:
            while time.monotonic() < end:
                for name, strategy in chosen.items():
                    if time.monotonic() >= end:
                        break
                    until = min(end, time.monotonic() + ROUND_SECONDS)
                    made = Hunt(
                        runner, known, lambda until=until: time.monotonic() >= until, options.shrink
                    )(strategy, numbers.getrandbits(32), ROUND)
                    tally[name][0] += made.inputs
                    tally[name][2] += made.cpu
                    fresh = [(made.attempt, made.finding)] if made.finding else []
                    for attempt, what in [*fresh, *made.others.values()]:
                        known.add(what.signature)
                        tally[name][1] += 1
                        path = save(name, what.signature, attempt, options.cases)
                        found.append((name, what, path))
                        print(f"{name}: {what.signature}\n    {path}", flush=True)
                    if not made.inputs and time.monotonic() < end:
                        print(
                            f"{name}: nothing was drawn: {made.trouble or 'the strategy is empty'}",
                            flush=True,
                        )
                    print(
                        f"{name}: {made.inputs} inputs, {made.cpu:.0f} s CPU, exit codes {dict(sorted(made.codes.items()))}",
                        flush=True,
                    )
        except KeyboardInterrupt:
            print("interrupted")
    _summary(tally, found)
    return int(bool(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--area",
        action="append",
        choices=sorted(areas()),
        help="only this area; several times for several",
    )
    parser.add_argument(
        "--shrink",
        type=float,
        default=60,
        metavar="SECONDS",
        help="time for making one failure smaller (default: 60)",
    )
    parser.add_argument(
        "--cases", type=Path, default=CASES, metavar="DIR", help="where failures are saved"
    )
    return parser.parse_args()


def _replayed(runner: Runner) -> set[str]:
    """Signatures of the saved cases that still fail, the slow ones included."""
    known: set[str] = set()
    expected = open_cases()
    for case in cases():
        made = finding(case.attempt, runner.run(case.attempt), runner.limits)
        if made:
            known.add(made.signature)
        if made and case.name not in expected:
            print(f"case {case.name} fails: {made.signature}", flush=True)
        elif not made and case.name in expected:
            print(f"case {case.name} passes: take it off the list in open.yaml", flush=True)
    return known


def _summary(tally: dict[str, list], found: list[tuple[str, Finding, Path]]) -> None:
    print(f"\n{'area':<12}{'inputs':>8}{'failures':>10}{'CPU s':>8}")
    for name, (inputs, failures, cpu) in tally.items():
        print(f"{name:<12}{inputs:>8}{failures:>10}{cpu:>8.0f}")
    for name, what, path in found:
        print(
            f"\n{name}: {what.signature}\n  {path}\n"
            + "\n".join(f"    {line}" for line in what.detail.splitlines()[-8:])
        )


if __name__ == "__main__":
    raise SystemExit(main())
