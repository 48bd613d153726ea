"""How long the whole list of named thresholds takes to derive, beside ``import sympy`` and beside ``sympy.solve``, in one run.

Run it from anywhere: ``python benchmarks/solve.py``. Rounds are interleaved, each in a process of its own, so a busy machine
slows both alike; ratios, not seconds, are what to read. ``--profile`` prints where the time goes instead, ``--quick`` leaves
``sympy.solve`` out, ``--small`` takes a few thresholds once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PATIENCE, MOST_ARMS = 5.0, 16
CASE = {
    "model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 4096, "output": 512, "batch": 8, "tp": 4, "mfu": 0.5, "mbu": 0.8,
    "step_overhead": "1 ms", "targets": {"itl": "50 ms", "ttft": "2 s"},
}  # fmt: skip
IMPORT = (
    "import time; start = time.perf_counter(); import sympy; print(time.perf_counter() - start)"
)
WAYS = ("numbers, cold", "numbers, warm", "symbols, cold", "symbols, warm")
"""Cold: no theory and no formula read yet. Warm: both there, the case and its answers new."""


@dataclass(frozen=True)
class Size:
    """Rounds of processes, passes in each, and how many thresholds."""

    rounds: int = 7
    passes: int = 5
    thresholds: int | None = None


WHOLE, SMALL = Size(), Size(rounds=1, passes=1, thresholds=2)


# ------------------------------------------------------------------------------------------------- symroof, in a process


def answered(name: str, answers: BoundCase) -> bool:
    """Whether a threshold has an answer: some need inputs that this case does not give, and have none without numbers."""
    from symroof.analysis.solve import solve
    from symroof.errors import InputError

    try:
        return solve(name, answers) is not None
    except InputError:
        return False


def asked(answers: BoundCase, size: Size) -> list[str]:
    """The thresholds that have an answer."""
    from symroof.theory.thresholds import THRESHOLDS

    return list(
        itertools.islice((name for name in THRESHOLDS if answered(name, answers)), size.thresholds)
    )


def caches(*packages: str) -> list:
    """The caches of every function in the loaded modules of some packages."""
    modules = [module for name, module in sys.modules.items() if name.startswith(packages)]
    return list(
        {
            id(value): value
            for module in modules
            for value in vars(module).values()
            if hasattr(value, "cache_clear")
        }.values()
    )


def derivations(size: Size) -> dict[str, float]:
    """Seconds to derive the whole list each way; the modules are imported and the spec files read before."""
    from symroof.analysis.solve import solve
    from symroof.api import Study
    from symroof.formula.parse import parse
    from symroof.theory import theory as theories

    times: dict[str, list[float]] = {way: [] for way in WAYS}
    bound = {"numbers": Study(**CASE).first, "symbols": Study().cases[0]}
    named = {kind: asked(binding.with_changes(), size) for kind, binding in bound.items()}
    for _ in range(size.passes):
        for way in WAYS:
            kind, _, state = way.partition(", ")
            if state == "cold":
                theories.theory.cache_clear()
                theories._theory.cache_clear()
                parse.cache_clear()
            for cached in caches(
                "symroof.formula", "symroof.solver"
            ):  # nothing of an earlier pass helps the next
                cached.cache_clear()
            start = time.perf_counter()
            answers = bound[kind].with_changes()
            for name in named[kind]:
                solve(name, answers)
            times[way].append(time.perf_counter() - start)
    return {way: min(each) for way, each in times.items()}


def child(*arguments: str) -> str:
    """What a Python process printed."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


# ------------------------------------------------------------------------------------------------------------- sympy.solve


def choices(tree):
    """A formula once for every way its maxima and minima may fall: ``solve`` takes none of them."""
    from symroof.formula.rewrite import rebuild
    from symroof.formula.tree import Call, walk

    pending, whole = [tree], []
    while pending and len(whole) < MOST_ARMS:
        current = pending.pop()
        node = next(
            (n for n in walk(current) if isinstance(n, Call) and n.function in ("max", "min")), None
        )
        if node is None:
            whole.append(current)
            continue

        def put(part, arm, node=node):
            return arm if part == node else rebuild(part, lambda inner: put(inner, arm))

        pending += [put(current, arm) for arm in reversed(node.args)]
    return whole


def with_sympy(name: str, answer) -> None:
    """Solve one threshold's equation over inputs by ``sympy.solve``, arm by arm; seconds and number of roots into the queue."""
    import sympy

    from symroof.analysis.solve import parse_equation
    from symroof.api import Study
    from symroof.formula import build
    from symroof.formula.to_sympy import symbol, to_sympy
    from symroof.theory.thresholds import THRESHOLDS

    threshold = THRESHOLDS[name]
    relation, theory = parse_equation(threshold.equation), Study().first.case.theory
    difference = theory.expand(build.sub(relation.left, relation.right))
    arms = [to_sympy(tree) for tree in choices(difference)]
    start, roots = time.perf_counter(), 0
    try:
        for arm in arms:
            roots += len(sympy.solve(arm.doit(), symbol(threshold.unknown)))
        answer.put({"seconds": time.perf_counter() - start, "arms": len(arms), "roots": roots})
    except (NotImplementedError, ValueError, TypeError, RecursionError) as error:
        answer.put(
            {
                "seconds": time.perf_counter() - start,
                "arms": len(arms),
                "error": type(error).__name__,
            }
        )


def by_sympy(name: str) -> dict:  # type: ignore[type-arg]
    """The same in a process that is stopped when patience ends."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=with_sympy, args=(name, answer))
    process.start()
    process.join(PATIENCE + 3)  # it imports SymPy first
    if process.is_alive():
        process.terminate()
        process.join()
        return {"error": "timeout"}
    return answer.get(timeout=1) if process.exitcode == 0 else {"error": f"exit {process.exitcode}"}


def one_by_one(size: Size) -> dict[str, float]:
    """Seconds that symroof takes for each threshold without a case, theory there."""
    from symroof.analysis.solve import solve
    from symroof.api import Study

    bound = Study().first
    times: dict[str, list[float]] = {name: [] for name in asked(bound.with_changes(), size)}
    for _ in range(size.passes):
        for name in times:
            answers = bound.with_changes()
            assert answers.case
            start = time.perf_counter()
            solve(name, answers)
            times[name].append(time.perf_counter() - start)
    return {name: min(each) for name, each in times.items()}


# ------------------------------------------------------------------------------------------------------------------ tables


def beside_import(size: Size) -> None:
    rounds = []
    for _ in range(size.rounds):
        seconds = float(child("-c", IMPORT))
        rounds.append(
            {
                "import sympy": seconds,
                **json.loads(child(__file__, "--derive", *(["--small"] if size is SMALL else []))),
            }
        )
    print(f"{'the whole list':34} {'median s':>9} {'x import sympy':>15}")
    for way in ("import sympy", *WAYS):
        times, ratios = [r[way] for r in rounds], [r[way] / r["import sympy"] for r in rounds]
        print(f"{way:34} {statistics.median(times):9.3f} {statistics.median(ratios):15.2f}")


def beside_solve(size: Size) -> None:
    own, total, failed = one_by_one(size), [0.0, 0.0], []
    print(f"\n{'symbolic, one by one':34} {'symroof s':>9} {'sympy s':>9} {'ratio':>9}")
    for name, seconds in own.items():
        other = by_sympy(name)
        if "error" in other:
            failed.append(name)
            print(f"{name:34} {seconds:9.4f} {other['error']:>9} {'':>9}")
            continue
        total = [total[0] + seconds, total[1] + other["seconds"]]
        print(f"{name:34} {seconds:9.4f} {other['seconds']:9.3f} {other['seconds'] / seconds:9.0f}")
    if total[0]:
        print(
            f"{'those that both solve':34} {total[0]:9.4f} {total[1]:9.3f} {total[1] / total[0]:9.0f}"
        )
    print(
        f"sympy.solve fails, or works for more than {PATIENCE:.0f} s, on {len(failed)} of {len(own)}"
    )


def profile(size: Size) -> None:
    import cProfile
    import pstats

    derivations(size)
    with cProfile.Profile() as calls:
        derivations(size)
    for order in ("tottime", "cumulative"):
        pstats.Stats(calls).sort_stats(order).print_stats(18)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    for flag in ("--derive", "--profile", "--quick", "--small"):
        reader.add_argument(flag, action="store_true")
    chosen = reader.parse_args()
    size = SMALL if chosen.small else WHOLE
    if chosen.derive:
        print(json.dumps(derivations(size)))
    elif chosen.profile:
        profile(size)
    else:
        beside_import(size)
        if not chosen.quick:
            beside_solve(size)


if __name__ == "__main__":
    main()
