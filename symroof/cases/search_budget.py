"""How long the ranges of a case may be searched: counted, so that a search ends at the same place on every machine."""

from __future__ import annotations

from dataclasses import dataclass

from symroof.formula.evaluate import NoValue

MOST_AXES = 5
"""A box of more axes is not searched."""


class NotWorkedOut(NoValue):
    """The range of a quantity takes too long to search."""

    def __init__(self) -> None:
        super().__init__("range not computed")


@dataclass
class Budget:
    """The numbers that searches may still compute.

    Attributes:
        search: how many one search may, half a second or less.
        left: how many all searches of a case may together.
    """

    search: int = 20_000_000
    left: int = 60_000_000

    def limited(self) -> Budget:
        """What one search may take of it."""
        return Budget(min(self.search, self.left), min(self.search, self.left))

    def spend(self, numbers: int) -> None:
        """Take so many off.

        Raises:
            NotWorkedOut: they are more than are left.
        """
        self.left -= numbers
        if self.left < 0:
            raise NotWorkedOut
