"""What is attacked, and the tests that have to notice: those of the room first, then those of its neighbours."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .formulas import formula_mutants
from .mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]

AREAS = {
    "theory": ("tests/theory", "tests/acceptance"),
    "solver": ("tests/solver", "tests/acceptance/test_thresholds.py", "tests/cli/test_solve.py"),
    "arrays": ("tests/arrays", "tests/sweep"),
    "claims": (
        "tests/claims",
        *(f"tests/cli/test_check{part}.py" for part in ("", "_fix", "_forms")),
    ),
    "specs": ("tests/specs", "tests/cases", "tests/cli/test_config_json.py"),
    "analysis": (
        "tests/analysis",
        "tests/report/test_tipping_points.py",
        "tests/cli/test_derive.py",
        "tests/cli/test_diff.py",
    ),
    "select": ("tests/select", "tests/cli/test_select.py"),
    "calibrate": ("tests/calibrate", "tests/cli/test_calibrate.py"),
}
"""A room of the package -> its tests, which are asked before those of other rooms that reach a fault too. Rendered samples (``tests/report/test_samples.py``)
and figures printed in ``docs/`` hold whatever the engine says, so they are no witnesses and stand in none."""

WITNESSES = tuple(
    dict.fromkeys(
        [
            *(f"symroof/{area}" for area in AREAS),
            *(test for tests in AREAS.values() for test in tests),
        ]
    )
)
"""Every file and folder of tests that may notice a fault, and the doctests of the rooms."""


@dataclass(frozen=True)
class Fault:
    """A mutant in its file.

    Attributes:
        path: the file, from the root of the repository.
        line: where it stands, counted from one.
        text: that line as it is, stripped.
        edit: ``old -> new``.
        mutant: the change itself.
    """

    path: str
    line: int
    text: str
    edit: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.mutant.kind}: {self.edit}"


def faults(area: str, root: Path = ROOT) -> list[Fault]:
    """Every fault of an area, in the order of its files."""
    return [
        fault
        for path in sorted((root / "symroof" / area).rglob("*.py"))
        for fault in faults_of(path, root)
    ]


def faults_of(path: Path, root: Path = ROOT) -> list[Fault]:
    """Every fault of a file that leaves it readable as Python."""
    source = path.read_text(encoding="utf-8")
    lines, name = source.splitlines(), path.relative_to(root).as_posix()
    places = {
        mutant: mutant.line(source) for mutant in {*mutants(source), *formula_mutants(source)}
    }
    listed = sorted(places, key=lambda m: (m.start, m.kind, m.new))
    return [Fault(name, places[m], lines[places[m] - 1].strip(), m.edit(source), m) for m in listed]


def sample(listed: list[Fault], count: int, seed: int, area: str) -> list[Fault]:
    """So many of an area's faults, the same for the same seed: kinds take turns, so that the many constants do not crowd out the few signs.

    A longer sample of the same seed begins with the shorter one.
    """
    numbers = random.Random(f"{seed} {area}")
    by_kind: dict[str, list[Fault]] = defaultdict(list)
    for fault in numbers.sample(listed, len(listed)):
        by_kind[fault.mutant.kind].append(fault)
    kinds = numbers.sample(sorted(by_kind), len(by_kind))
    turns = (
        [
            by_kind[kind][turn]
            for turn in range(len(listed))
            for kind in kinds
            if turn < len(by_kind[kind])
        ]
        if count
        else []
    )
    return turns[:count]
