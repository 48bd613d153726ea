"""``python -m tools.mutation [AREA ...] [--count N] [--seed S]``: put small faults in, one at a time, and count those that the tests notice."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from .areas import AREAS, Fault, faults, sample
from .equivalents import equivalents
from .trial import Copy, Outcome

COUNT = 50
"""Faults of an area: 400 over all eight."""


def main() -> int:
    """Run the sample, print every fault as it is decided, then the shares and the survivors."""
    options = _options()
    areas = options.area or [*AREAS]
    outcomes: dict[str, list[tuple[Fault, Outcome]]] = {area: [] for area in areas}
    failing: dict[str, bool] = {}
    try:
        for group in [[area] for area in areas] if options.own else [areas]:
            _run(group, options, outcomes, failing)
    except KeyboardInterrupt:
        print("interrupted")
    _summary(
        {area: rows for area, rows in outcomes.items() if rows},
        [test for test, fails in failing.items() if fails],
    )
    return 0


def _run(
    areas: list[str],
    options: argparse.Namespace,
    outcomes: dict[str, list[tuple[Fault, Outcome]]],
    failing: dict[str, bool],
) -> None:
    """The faults of some areas in one copy, with the tests of all of them or with their own alone."""
    with tempfile.TemporaryDirectory(prefix="symroof-mutation-") as folder:
        of_one = (
            {"witnesses": (f"symroof/{areas[0]}", *AREAS[areas[0]]), "areas": areas}
            if options.own
            else {}
        )
        copy = Copy(Path(folder), options.limit, **of_one)
        if options.reach:
            copy.record = options.reach / areas[0] if options.own else options.reach
        try:
            for area in areas:
                for fault in drawn(area, options.count, options.seed, copy.root):
                    outcome = copy.run(fault, area)
                    outcomes[area].append((fault, outcome))
                    print(
                        f"{'killed  ' if outcome.killed else 'SURVIVED'} {outcome.seconds:5.0f} s  {fault}  {outcome.by}",
                        flush=True,
                    )
        finally:
            failing |= copy.failing
            copy.close()


def drawn(area: str, count: int, seed: int, root: Path) -> list[Fault]:
    """The sample of an area, without equivalents; of the copy, so that the repository may go on changing meanwhile."""
    same = equivalents()
    return sample(
        [fault for fault in faults(area, root) if not any(entry.is_of(fault) for entry in same)],
        count,
        seed,
        area,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument(
        "area",
        nargs="*",
        metavar="AREA",
        help=f"one or several of {', '.join(AREAS)} (default: all)",
    )
    parser.add_argument(
        "--count",
        type=int,
        default=COUNT,
        metavar="N",
        help=f"faults of each area (default: {COUNT})",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument(
        "--limit",
        type=float,
        default=60,
        metavar="SECONDS",
        help="processor time for one fault; one that no test has noticed by then has survived (default: 60)",
    )
    parser.add_argument(
        "--own",
        action="store_true",
        help="ask the tests that mirror the area alone: recorded in a few minutes, and the share is a lower bound, since tests of other rooms notice as well",
    )
    parser.add_argument(
        "--reach",
        type=Path,
        metavar="FOLDER",
        help="where the record of which test executes which line stands, or will (default: made anew)",
    )
    options = parser.parse_args()
    unknown = sorted({*options.area} - {*AREAS})
    if unknown:
        parser.error(f"no such area: {', '.join(unknown)}; there are {', '.join(AREAS)}")
    return options


def _summary(outcomes: dict[str, list[tuple[Fault, Outcome]]], failing: list[str]) -> None:
    print(f"\n{'area':<12}{'faults':>8}{'noticed':>9}{'by time':>9}{'share':>8}{'s a fault':>11}")
    rows = {**outcomes, "all": [row for area in outcomes.values() for row in area]}
    for area, listed in rows.items():
        noticed = sum(outcome.killed for _, outcome in listed)
        late = sum(outcome.by == "time" for _, outcome in listed)
        print(
            f"{area:<12}{len(listed):>8}{noticed:>9}{late:>9}{noticed / len(listed) if listed else 0:>8.0%}{_mean(listed):>11.1f}"
        )
    survivors = [fault for fault, outcome in rows["all"] if not outcome.killed]
    print(f"\nsurvivors: {len(survivors)}")
    for fault in survivors:
        print(f"  {fault}\n      {fault.text}")
    if failing:
        print("\nleft out, since they fail without any fault:", *failing, sep="\n  ")


def _mean(listed: list[tuple[Fault, Outcome]]) -> float:
    return sum(outcome.seconds for _, outcome in listed) / len(listed) if listed else 0


if __name__ == "__main__":
    raise SystemExit(main())
