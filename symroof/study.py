"""A study: cases bound to the theory, and the questions that one case answers. Sweeps, claims and fits are in :mod:`symroof.api`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from symroof.binding import Binding, Selection, Values, bindings
from symroof.choosing import aimed, check_names, selection
from symroof.derivation import Derivation, derive
from symroof.results import DOES_NOT_FIT, TARGETS, Answers, Result
from symroof.solution import Solution
from symroof.solving import solve
from symroof.specs.catalogue import find
from symroof.specs.errors import DoesNotFit, InputError, Problem, nearest
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.specs.strict_yaml import Document, load
from symroof.specs.study import StudySpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.thresholds import THRESHOLDS
from symroof.verdict import case_title


class Number(float):
    """A float in base units that remembers its unit, range and flags; its text shows them all."""

    result: Result

    def __new__(cls, result: Result) -> Number:
        made = super().__new__(cls, result.value)
        made.result = result
        return made

    @property
    def unit(self) -> str:
        return self.result.symbol.unit

    @property
    def low(self) -> float:
        return float(self.result.low) if self.result.low is not None else float(self)

    @property
    def high(self) -> float:
        return float(self.result.high) if self.result.high is not None else float(self)

    @property
    def flags(self) -> tuple[str, ...]:
        return self.result.flags

    def __repr__(self) -> str:
        return self.result.text()

    __str__ = __repr__


class Study:
    """A model, a device and a workload, bound to the theory.

    >>> study = Study(model="llama-3-70b", hardware="h100-sxm", prompt=4096, tp=2)
    >>> study.value("kv_cache_bytes")
    1.342 GB
    >>> float(study.value("kv_cache_bytes"))
    1342177280.0

    A study may hold several cases (lists of devices, batches ...); plain questions go to the first, :attr:`cases` has all.
    """

    def __init__(
        self,
        model: str | Iterable[str] | ModelSpec | None = None,
        hardware: str | Iterable[str] | None = None,
        *,
        preset: str | None = None,
        assume: dict[str, str] | None = None,
        assume_family: str | None = None,
        draft: str | None = None,
        targets: dict[str, Any] | None = None,
        **chosen: Any,
    ) -> None:
        self.spec: StudySpec | None = None
        self.document: Document | None = None
        self._selection = aimed(targets or {}).over(selection(model, hardware, preset, assume, assume_family=assume_family, draft=draft, **chosen))

    @classmethod
    def load(cls, path: str | os.PathLike[str], line: Selection | None = None, targets: dict[str, Any] | None = None) -> Self:
        """A study from its file, or a shipped one by name, with a stronger selection over it.

        Raises:
            InputError: everything wrong with the file, with places and hints.
        """
        document = load(path) if Path(path).exists() else find("studies", str(path))
        spec = build(document, StudySpec)
        made = cls()
        made.spec, made.document = spec, document
        base = Path(document.file).resolve().parent
        check_names(document, spec, base)
        aims = {TARGETS[name]: (value,) for name, value in spec.targets if value is not None}
        values: Values = {**spec.workload, **spec.efficiency, **spec.parallel, **spec.set, **aims}
        precision = {role: value for role, value in spec.precision if value}
        origin = dict.fromkeys([*values, *precision, *spec.assume, "draft"], "study")
        own = Selection(spec.model, spec.hardware, precision, values, spec.assume, spec.preset, origin, base, spec.assume_family, spec.draft)
        made._selection = aimed(targets or {}).over(line.over(own) if line else own)
        return made

    def select(self, line: Selection) -> None:
        """Lay a stronger selection over what this study says."""
        self._selection = line.over(self._selection)
        self.__dict__.pop("cases", None)

    def decide(self) -> Self:
        """The same study where something is bought or set by its answers: memory that an engine keeps free is not used."""
        self.select(Selection(deciding=True))
        return self

    @property
    def empty(self) -> bool:
        """Whether nothing was chosen at all."""
        chosen = self._selection
        return not (chosen.models or chosen.hardware or chosen.values or chosen.precision)

    def __repr__(self) -> str:
        return f"Study({'; '.join(case_title(case) for case in self.cases[:4])}{'; ...' if len(self.cases) > 4 else ''})"

    @cached_property
    def cases(self) -> tuple[Answers, ...]:
        """One case for every combination of what was listed."""
        return tuple(Answers(binding) for binding in bindings(self._selection))

    @property
    def first(self) -> Answers:
        return self.cases[0]

    @property
    def bound(self) -> Binding:
        return self.first.binding

    def result(self, name: str) -> Result:
        """A quantity of the first case with unit, range and flags.

        Raises:
            InputError: no such quantity, an input it needs is missing.
        """
        wanted = known(name)
        try:
            return self.first.result(wanted)
        except ArithmeticError as error:
            raise InputError(Problem(wanted, f"has no value here: {error}")) from None

    def value(self, name: str) -> Any:
        """A quantity of the first case as a float in base units (a truth or a label as itself).

        The float carries ``unit``, ``low``, ``high`` and ``flags``. Asking a latency, rate or cost of a configuration
        that does not fit in memory warns :class:`~symroof.specs.errors.DoesNotFit`.
        """
        found = self.result(name)
        if DOES_NOT_FIT in found.flags:
            warnings.warn(f"{name} = {found.plain()} is of a configuration that does not fit in memory", DoesNotFit, stacklevel=2)
        if isinstance(found.value, (bool, str)):
            return found.possible if len(found.possible) > 1 else found.value
        return Number(found)

    def exact(self, name: str) -> Fraction | bool | str:
        """A quantity of the first case exactly, while its formula is rational; a root is given to 40 digits."""
        return self.result(name).value

    def derive(self, name: str) -> Derivation:
        """Definition, expansion to inputs, substituted line and value of a quantity."""
        return derive(known(name), self.first)

    def solve(self, equation: str, for_: str | None = None) -> Solution:
        """A named threshold, or ``lhs = rhs`` for an input, in the first case.

        >>> study = Study(model="llama-3-70b", params=70e9, hardware="h100-sxm", prompt=4096, assume={"detail": "weights"})
        >>> study.solve("batch_to_ridge").integer
        {'at_least': 296}
        """
        return solve(equation, self.first, for_)

    def solutions(self, equation: str, for_: str | None = None) -> list[Solution]:
        """The same in every case, in order.

        >>> study = Study(model="llama-3-8b", hardware=["h100-sxm", "h200"], prompt=4096)
        >>> [solution.integer for solution in study.solutions("max_batch_memory")]
        [{'at_most': 129}, {'at_most': 250}]
        """
        return [solve(equation, case, for_) for case in self.cases]


def known(name: str) -> str:
    """The printed name of a quantity or input.

    Raises:
        InputError: unknown, with the nearest name.
    """
    wanted = canonical(name)
    if wanted in QUANTITIES or wanted in INPUTS or "." in wanted:
        return wanted
    if wanted in THRESHOLDS:
        raise InputError(Problem(name, "is a threshold, not a quantity", hint=f"`symroof solve {name}`"))
    raise InputError(Problem(name, "no such quantity or input", hint=nearest(name, [*QUANTITIES, *INPUTS])))


__all__ = ["Number", "Study", "known"]
