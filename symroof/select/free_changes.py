"""What a configuration that fails lacks where its batch and its copies are nobody's choice: each value of an input is judged at those that it allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.errors import InputError
from symroof.select.configuration import Run, with_inputs
from symroof.select.screening import screen
from symroof.theory.symbols import SHARES

IMPROVED = ("mfu", "mbu", "peak_flops", "mem_bandwidth", "mem_capacity")
"""Inputs that may get larger, each alone."""
FURTHEST, POINTS, ROUNDS, DIGITS = 1024, 12, 3, 3
"""How many times its value an input is followed, the values that are judged at once, how often the gap before the first that passes is looked at again, and
the digits of the answer, rounded up."""
DEGREES = (2, 4, 8, 16, 32, 64)
"""Numbers of devices of a group that are tried."""


@dataclass(frozen=True)
class FreeChange:
    """An input and the least value with which some batch and number of copies pass; None where none that was tried does."""

    now: Result
    value: Fraction | None
    batch: int = 0
    copies: int = 1

    @property
    def name(self) -> str:
        return self.now.name

    def text(self) -> str:
        """The value, and the batch and the copies that it then has."""
        if self.value is None:
            end = (
                "even at 1"
                if self.name in SHARES
                else f"up to {max(DEGREES)}"
                if self.name == "tp"
                else f"up to {FURTHEST:,} times as much"
            )
            return f"no value is enough at any batch and number of replicas, {end}"
        beside = f"{self.copies:,} replica{'s' * (self.copies != 1)}, batch {self.batch:,}"
        return f"{'' if self.name == 'tp' else 'at least '}{Result(self.now.symbol, self.value).plain()} ({beside})"


def are_free(run: Run) -> bool:
    """Whether the batch of a configuration, and at an arrival rate its copies, are what others allow."""
    return (
        bool(run.shares)
        and "batch" not in run.own.given
        and ("arrival_rate" not in run.own.given or "dp" not in run.own.given)
    )


def free_changes(run: Run) -> tuple[FreeChange, ...]:
    """The least value of each input alone with which a configuration passes, its batch and copies following.

    >>> from symroof.select.selection import select
    >>> case = {"model": "llama-3.1-8b", "hardware": "a10g", "prompt": 2048, "output": 300, "mfu": 0.6, "mbu": 0.75, "arrival_rate": 20}
    >>> (configuration,) = select(**case, targets={"itl": "40 ms", "ttft": "300 ms"}, efficiency="peak").configurations
    >>> [change.value is not None for change in free_changes(configuration.run) if change.name in ("peak_flops", "tp")]
    [True, True]
    """
    return tuple(_changes(run.own))


def _changes(own: BoundCase) -> Iterator[FreeChange]:
    for name in IMPROVED:
        if own.case.has(name) and name not in own.box:
            yield _least(own, name)
    if own.case.value("tp") in (1, *DEGREES):
        now = own.case.value("tp")
        found = _judged(own, "tp", [Fraction(n) for n in DEGREES if n > now])
        yield FreeChange(
            own.result("tp"),
            *next(((value, *passing) for value, passing in found if passing), (None,)),
        )


def _least(own: BoundCase, name: str) -> FreeChange:
    """The least value of an input that passes: a value among some, then among those in the gap before the first."""
    now = Fraction(own.case.value(name))
    low, high = now, Fraction(1) if name in SHARES else now * FURTHEST
    if low >= high:
        return FreeChange(own.result(name), None)
    best: tuple[Fraction, int, int] | None = None
    for _ in range(ROUNDS):
        ratio = float(high / low) ** (1 / POINTS)
        tried = [*(_rounded(low * Fraction(ratio) ** i) for i in range(1, POINTS)), high]
        found = _judged(own, name, [value for value in dict.fromkeys(tried) if low < value <= high])
        first = next((i for i, (_, passing) in enumerate(found) if passing), None)
        if first is None:
            break
        best = found[first][0], *found[first][1]  # type: ignore[misc]
        low, high = found[first - 1][0] if first else low, found[first][0]
        if first == 0 and high == _rounded(low):
            break
    return FreeChange(own.result(name), *(best or (None,)))


def _rounded(value: Fraction) -> Fraction:
    """A value with few digits, rounded up."""
    text = f"{float(value):.{DIGITS}e}"
    near = Fraction(text)
    return near if near >= value else near + Fraction(10) ** (int(text.partition("e")[2]) - DIGITS)


def _judged(
    own: BoundCase, name: str, values: Sequence[Fraction]
) -> list[tuple[Fraction, tuple[int, int] | None]]:
    """Each value with the batch and the copies that pass with it; None where none do. Values that the case cannot have are left out."""
    cases: list[tuple[Fraction, BoundCase]] = []
    for value in values:
        try:
            cases.append((value, with_inputs(own, **{name: value})))
        except InputError:
            continue
    screened = screen([bound_case for _, bound_case in cases])
    return [
        (value, (s.batch, s.copies or 1) if s is not None and s.passes else None)
        for (value, _), s in zip(cases, screened, strict=True)
    ]
