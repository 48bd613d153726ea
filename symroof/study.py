"""The façade: a theory bound to specs. Everything the command line and the reports do, Python can do here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symroof.binding import Binding, Selection, Values, bindings
from symroof.choosing import aimed, check_names, selection
from symroof.derivation import Derivation, derive
from symroof.results import DOES_NOT_FIT, TARGETS, Answers, Result
from symroof.solution import Solution
from symroof.solving import solve
from symroof.specs.catalogue import find
from symroof.specs.errors import InputError, Problem, nearest
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.specs.strict_yaml import Document, load
from symroof.specs.study import StudySpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.thresholds import THRESHOLDS
from symroof.verdict import case_title
from symroof.warnings import DoesNotFit
from symroof.witness import looked_at

if TYPE_CHECKING:
    import xarray

    from symroof.calibration.found import Calibration
    from symroof.claims.checked import Report
    from symroof.sweeping.axes import Axis
    from symroof.sweeping.plan import Plan


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
    def load(cls, path: str | os.PathLike[str], line: Selection | None = None, targets: dict[str, Any] | None = None) -> Study:
        """A study from its file, or a shipped one by name, with a stronger selection over it.

        Raises:
            InputError: everything wrong with the file, with places and hints.
        """
        looked_at(path)
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

    def decide(self) -> Study:
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
        that does not fit in memory warns :class:`~symroof.warnings.DoesNotFit`.
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
        [{'at_most': 119}, {'at_most': 232}]
        """
        return [solve(equation, case, for_) for case in self.cases]

    def sweep(self, quantities: str | Sequence[str] | None = None, **over: Any) -> xarray.Dataset:
        """A grid of quantities over any inputs, one variable a quantity along the axes it depends on.

        An axis is a keyword: numbers in base units, or a text such as ``"128:32768:x2"``; models, devices, precisions and
        counting choices by name. Lists of the study that no keyword names are axes, too. Units and meanings stand in the
        attributes of the variables, assumptions, inputs with their sources and warnings in those of the whole. Without
        ``quantities``, the usual ones; whether a point fits in memory comes along with every latency, rate and cost.

        >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096)
        >>> found = study.sweep(batch=[1, 64, 256], quantities=["itl", "kv_cache_bytes"])
        >>> dict(found.sizes), found.itl.units, found.fits.values.tolist()
        ({'batch': 3}, 's', [True, True, False])

        Raises:
            InputError: everything wrong with the axes; a quantity that has no value anywhere.
        """
        from symroof.sweeping.axes import axes_of
        from symroof.sweeping.dataset import dataset

        return dataset(self.planned_sweep(axes_of(over.items()), [quantities] if isinstance(quantities, str) else quantities))

    def planned_sweep(self, axes: Sequence[Axis], quantities: Iterable[str] | None = None) -> Plan:
        """A sweep before anything is worked out, over axes and the lists of this study."""
        from symroof.sweeping.planning import plan

        return plan(self._selection, axes, quantities, self.spec.title if self.spec else None)

    def calibrate(self, measured: str | os.PathLike[str], fit: Sequence[str] | None = None) -> Calibration:
        """Fit efficiencies and overheads to the latencies of a CSV file, laid over the first case.

        ``fit`` names what to fit (default: mfu, mbu, step_overhead, and link_latency where the rows can tell it). Every
        interval is at 95 %, Student's t.

        Raises:
            InputError: everything wrong with the file; a row faster than the roof allows.
        """
        from symroof.calibration.calibrating import calibrate

        return calibrate(measured, self.first, fit)

    def check(self) -> Report:
        """Check the claim files the study names, looked up from its own folder.

        Raises:
            InputError: everything wrong with them.
        """
        from symroof.claims.checking import check

        base = Path(self.document.file).resolve().parent if self.document else Path()
        return check([base / name for name in (self.spec.claims if self.spec else ())])


def solve_symbolic(equation: str, for_: str | None = None) -> Solution:
    """A named threshold, or ``lhs = rhs`` for an input, without any case: the answer stays symbolic.

    >>> from symroof.formula.text import text
    >>> text(solve_symbolic("kv_cache_bytes = weight_bytes", for_="batch").closed_form)
    'weight_bytes/(kv_bytes_per_token*context)'
    """
    return Study().solve(equation, for_)


def calibrate(
    measured: str | os.PathLike[str], study: str | os.PathLike[str] | Study | None = None, fit: Sequence[str] | None = None, **case: Any
) -> Calibration:
    """Fit efficiencies and overheads to measured latencies, over a study or a case given by keywords.

    >>> found = calibrate("docs/measured.csv", model="llama-3.1-8b", hardware="h100-sxm")
    >>> round(found["mfu"].value, 2), round(found["mbu"].value, 2)
    (0.55, 0.81)

    Raises:
        InputError: everything wrong with the files.
    """
    made = study if isinstance(study, Study) else Study(**case) if study is None else Study.load(study, selection(origin="given", **case) if case else None)
    return made.calibrate(measured, fit)


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


__all__ = ["Number", "Study", "calibrate", "known", "solve_symbolic"]
