"""A study: cases bound to the theory, and the questions that one case answers. Sweeps, claims and fits are in :mod:`symroof.api`."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from symroof.cases.bind_cases import MOST_CASES, bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import Request, request_of, study_request, target_request
from symroof.cases.values import DOES_NOT_FIT, Number, Result
from symroof.errors import DoesNotFit, InputError, NoValueHere, Problem
from symroof.specs.model import ModelSpec
from symroof.specs.spec_files import declared_in, study_document
from symroof.specs.study import StudySpec
from symroof.strict_yaml import Document
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import known, resolved
from symroof.theory.symbols import ExpressionName

if TYPE_CHECKING:  # the solver and the derivations load when a study is first solved or derived: listing values needs neither
    from symroof.analysis.derivation import Derivation
    from symroof.analysis.solution import Solution

T = TypeVar("T")
MOST_SHOWN = 4
"""The most cases that a study shows of itself."""


class Track(Protocol):
    """How long work is followed: yields the items one by one, and may show under a label how many are done."""

    def __call__(self, items: Collection[T], label: str) -> Iterable[T]: ...


def untracked(items: Collection[T], label: str) -> Iterable[T]:
    """The items, without any display."""
    return items


class Declaring(Protocol):
    """What declares names: a theory in Python, another study."""

    @property
    def declared(self) -> Declarations: ...


class Study:
    """A model, a device, a workload and targets.

    >>> study = Study(model="llama-3-70b", hardware="h100-sxm", prompt=4096, tp=2)
    >>> study.value("kv_cache_bytes")
    1.342 GB
    >>> float(study.value("kv_cache_bytes"))
    1342177280.0

    Everything is optional. Without a model or a device, derivations and solutions stay symbolic. Lists (of devices, batches ...) make
    several cases. Methods that return one value use the first case; :attr:`cases` has all.

    Args:
        model: a name from the catalogue or the hub, the path of a model spec, ``config.json`` or GGUF file, or a model spec; a list makes several cases.
        hardware: a name from the catalogue, or a path; a list makes several cases.
        preset: counts as another tool does (``"genz"``); all other arguments override it.
        assume: counting choices, from switch to value (``symroof list assumptions``).
        assume_family: the family of models to read an unknown ``config.json`` as.
        draft: the draft model of speculative decoding.
        theory: formulas of your own: a :class:`symroof.Theory`, a file, or an included one (``training-step``). Its inputs become keywords;
            plain numbers are in the units that it declares.
        prefill: instances that only prefill: ``{"tp": 4, "instances": 3}``.
        targets: limits by metric: ``{"ttft": 0.2, "itl": "50 ms"}``; a plain number is in seconds or USD.
        efficiency: ``"measured"`` predicts with an interval (the default, unless ``mfu`` or ``mbu`` is given); ``"peak"`` gives the theoretical minimum.
        engine: the engine (``"vllm"``, the default), or its class: ``"compiled"``, ``"earlier"`` (until 2024), ``"eager"``, ``"ggml"``.
        chosen: any input or quantity (``prompt``, ``batch``, ``tp``, ``mfu`` ...), and the precisions ``weights``, ``kv``, ``activations``.
            Numbers are in base units, text has a unit (``"3.35 TB/s"``), ``"0.5..0.7"`` is a range, a list makes several cases.

    Raises:
        InputError: unknown names, unreadable values, values outside their limits; all of them at once.

    >>> study = Study("llama-3-8b", ["h100-sxm", "h200"], prompt=4096, batch=[1, 8], weights="fp8")
    >>> len(study.cases)
    4
    """

    most_cases = MOST_CASES  # that its lists may multiply to

    def __init__(
        self,
        model: str | Iterable[str] | ModelSpec | None = None,
        hardware: str | Iterable[str] | None = None,
        *,
        preset: str | None = None,
        assume: dict[str, str] | None = None,
        assume_family: str | None = None,
        draft: str | None = None,
        theory: str | os.PathLike[str] | Declaring | None = None,
        prefill: dict[str, int] | None = None,
        targets: dict[str, Any] | None = None,
        efficiency: str | None = None,
        engine: str | None = None,
        **chosen: Any,
    ) -> None:
        self.spec: StudySpec | None = None
        self.document: Document | None = None
        if isinstance(theory, (str, os.PathLike)):
            own = declared_in(os.fspath(theory))
        else:
            own = NONE if theory is None else theory.declared
        words = {"draft": draft, "efficiency": efficiency, "engine": engine, "prefill": prefill}
        named: dict[str, Any] = {"own": own, "assume_family": assume_family, **words, **chosen}
        made = request_of(model, hardware, preset, assume, **named)
        self.request = target_request(targets or {}).over(made)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        line: Request | None = None,
        targets: dict[str, Any] | None = None,
    ) -> Self:
        """Read a study from its file, or an included one by its name.

        Args:
            path: the file of a study or theory, or the name of an included one.
            line: a request that overrides the file.
            targets: limits by metric that override those of the file.

        Raises:
            InputError: all problems of the file, with places and hints.

        >>> study = Study.load("llama-3-8b-chat", targets={"itl": "30 ms"})
        >>> {metric: float(limit) for metric, limit in study.first.targets.items()}
        {'ttft': 0.2, 'itl': 0.03}
        """
        study = cls()
        study.document = study_document(str(path))
        study.spec, own = study_request(study.document)
        study.request = target_request(targets or {}).over(line.over(own) if line else own)
        return study

    def select(self, line: Request) -> None:
        """Lay a stronger request over the one of this study, in place; cases are bound anew."""
        self.request = line.over(self.request)
        self.__dict__.pop("cases", None)

    @property
    def declared(self) -> Declarations:
        """The names that this study declares itself: those of its theory, and what :meth:`define` adds."""
        return self.request.own

    def define(
        self,
        name: str,
        formula: Any,
        unit: str | None = "",
        means: str = "",
        latex: str | None = None,
    ) -> Self:
        """Define a quantity of your own in this study, and return the study.

        Args:
            name: in snake case, not a name of symroof; replaces an earlier definition.
            formula: text, a number or a SymPy expression over inputs and quantities, including those defined before.
            unit: its unit (``FLOP``, ``byte/s``), by default a plain number; None for that of the formula.
            means: its meaning, in one line.
            latex: its LaTeX.

        Raises:
            InputError: an invalid name, an unreadable formula, a formula of another unit, circular definitions.

        >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096, hit_rate=0.25)
        >>> study.define("wasted_prefill", "prefill_flops*(1 - hit_rate)", unit="FLOP", means="work a perfect prefix cache would save")
        Study(Llama 3 8B on NVIDIA H100 SXM5 80 GB, prompt 4,096)
        >>> study.value("wasted_prefill") == 0.75*study.value("prefill_flops")
        True
        """
        from symroof.specs.definitions import redefined

        entry = {"formula": formula, "unit": unit, "means": means or name, "latex": latex}
        self.select(Request(own=redefined(name, entry, self.declared)))
        return self

    @property
    def empty(self) -> bool:
        """Whether no model, device, precision or value was chosen."""
        chosen = self.request
        return not (chosen.models or chosen.hardware or chosen.values or chosen.precision)

    def __eq__(self, other: object) -> bool:
        """Whether both ask for the same: the same choices and declarations, by the same file or none. What has been computed is no part of it."""
        mine = (self.request, self.document)
        return isinstance(other, Study) and mine == (other.request, other.document)

    def __hash__(self) -> int:
        return hash(self.request)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "cases"}

    def __repr__(self) -> str:
        from symroof.analysis.case_summary import case_title

        titles = [case_title(case) for case in self.cases[:MOST_SHOWN]]
        more = ["..."] if len(self.cases) > MOST_SHOWN else []
        return f"Study({'; '.join([*titles, *more])})"

    def _repr_html_(self) -> str:
        from symroof.analysis.case_summary import study_card

        return study_card(self.cases, (self.spec.title if self.spec else "") or "Study")

    @cached_property
    def cases(self) -> tuple[BoundCase, ...]:
        """One case for every combination of the listed models, devices and values, in the order of the lists.

        >>> [case.result("batch").text() for case in Study("llama-3-8b", batch=[1, 8]).cases]
        ['1 request', '8 requests']
        """
        return tuple(bound_cases(self.request, self.most_cases))

    @property
    def first(self) -> BoundCase:
        """The first case: the baseline, which :meth:`value`, :meth:`derive` and :meth:`solve` use."""
        return self.cases[0]

    def _printed(self, name: Any) -> str:
        """The printed name of a quantity or input of the first case; text that is no name is a formula."""
        if isinstance(name, str) and not re.fullmatch(r"\s*[\w.]*\s*", name):
            try:
                name = resolved(parse(name))
            except FormulaError as error:
                problem = Problem("formula", error.message, 1, error.column, source=name)
                raise InputError(problem) from None
        printed, case = known(name, self.declared), self.first.case
        if isinstance(printed, ExpressionName) and (wrong := case.first_non_number(printed.tree)):
            message = f"{wrong} is true/false or a category, not a number"
            raise InputError(Problem("formula", message, source=printed))
        if "." in printed and not case.theory.knows(printed):
            hint = f"the whole is {printed.partition('.')[0]}"
            raise InputError(Problem(printed, "is not known of one operator or layer", hint=hint))
        return printed

    def result(self, name: Any) -> Result:
        """A quantity or SymPy expression in the first case, with unit, interval and flags, in base units.

        Raises:
            InputError: an unknown quantity, a missing input, or no value here (a division by zero).

        >>> result = Study("llama-3-8b", "h100-sxm").result("kv_bytes_per_token")
        >>> result.value, result.symbol.unit, result.text()
        (131072.0, 'byte/token', '131.1 kB/token')
        """
        printed = self._printed(name)
        try:
            return self.first.result(printed)
        except ArithmeticError as error:
            missing = error.name if isinstance(error, MissingInput) else ""
            message, hint = f"has no value here: {error}", f"give {missing}" * bool(missing)
            raise NoValueHere(Problem(printed, message, hint=hint), missing) from None

    def value(self, name: Any) -> Any:
        """A quantity or SymPy expression in the first case as a :class:`Number`: a float in base units with ``unit``, ``low``, ``high`` and ``flags``.

        A truth (``fits``) is a ``bool``, a label (``decode_bound``) a ``str``; with ranges as inputs, a tuple of all that occur.

        Raises:
            InputError: an unknown quantity, a missing input, or no value here.

        Warns:
            DoesNotFit: a latency, rate or cost of a configuration that does not fit in memory.

        >>> study = Study(model="llama-3-70b", hardware="h100-sxm", tp=4, prompt=4096, batch=8)
        >>> study.value("itl"), study.value("decode_bound"), study.value("fits")
        (21.85 ms (16.41 to 33.76 ms), 'memory', True)
        >>> import sympy
        >>> from symroof.symbols import batch, itl, ttft
        >>> round(study.value(ttft/itl)), study.value(sympy.diff(itl, batch))
        (18, 161.8 µs/request (125.6 to 259.3 µs/request))
        """
        result = self.result(name)
        if DOES_NOT_FIT in result.flags:
            message = f"{name} = {result.plain()} is of a configuration that does not fit in memory"
            warnings.warn(message, DoesNotFit, stacklevel=2)
        if isinstance(result.value, (bool, str)):
            several = len(result.possible) > 1 and not self.first.measured_alone
            return result.possible if several else result.value
        return Number(result)

    def derive(self, name: Any) -> Derivation:
        """Derive a quantity: definition, expansion to inputs, numbers and value. It stays symbolic if inputs are missing.

        Raises:
            InputError: no such quantity.

        >>> derivation = Study(hardware="h100-sxm").derive("ridge_point")
        >>> derivation.definition, derivation.steps[-1].substituted.text, derivation.result.text()
        (peak_flops/mem_bandwidth, '989.4 TFLOP/s/3.35 TB/s', '295.3 FLOP/byte')
        """
        from symroof.analysis.derivation import Derivation

        return Derivation(self._printed(name), self.first)

    def sympy(self, name: Any, depth: int | None = None) -> Any:
        """A quantity of the first case as a SymPy expression in the symbols of :mod:`symroof.symbols`.

        Sums stay ``Sum`` (``.doit()`` adds them up), truths are relations, and labels are a ``Piecewise``. Numbers are exact and in base units.
        A quantity that is found by a search (``steady_batch``, ``best_batch``) stays a symbol: :meth:`values` has its number.
        Substitute with ``xreplace``, which takes milliseconds where ``subs`` takes seconds; ``study.value(expression)`` is faster still.

        Args:
            name: a quantity or input, by name or symbol.
            depth: how often definitions are substituted: 1 is the formula as it is defined; by default down to inputs.

        Raises:
            InputError: no such quantity.

        >>> import sympy
        >>> from symroof.symbols import batch
        >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096, batch=8)
        >>> study.sympy("decode_memory_time", depth=1)
        decode_bytes/(mbu*mem_bandwidth)
        >>> sympy.diff(study.sympy("kv_cache_bytes"), batch).xreplace(study.values())
        536870912
        >>> itl = float(study.sympy("itl").xreplace(study.values()))
        >>> abs(itl / study.value("itl") - 1) < 1e-12
        True
        """
        from symroof.analysis.in_sympy import definition_in_sympy

        return definition_in_sympy(self._printed(name), self.first, depth)

    def symbol(self, name: str) -> Any:
        """The SymPy object of a name, as in the expressions of this study, including names that it defines.

        Raises:
            InputError: no such name.

        >>> study = Study(theory="training-step").define("spare", "accelerator_memory - weights_sharded_bytes", unit="byte")
        >>> study.symbol("young_interval").is_positive, study.symbol("spare").is_positive, study.symbol("spare").is_real
        (True, None, True)
        """
        from symroof.symbols import symbol

        return symbol(known(name, self.declared), self.declared)

    def values(self, quantities: bool = False) -> dict[Any, Any]:
        """The exact numbers of the first case by symbol, in base units, for ``xreplace``: inputs, defaults, and quantities without a formula.
        Other quantities and their derivatives are not items, but are found if an expression contains them.

        Args:
            quantities: also include derived quantities as items, for ``subs``.

        >>> from symroof.symbols import batch, kv_cache_bytes
        >>> study = Study("llama-3-8b", prompt=4096, batch=8)
        >>> study.values()[batch], study.values(quantities=True)[kv_cache_bytes]
        (8, 4294967296)
        >>> (kv_cache_bytes/batch).xreplace(study.values())
        536870912
        """
        from symroof.analysis.in_sympy import values

        return values(self.first, quantities)

    def solve(self, equation: Any, for_: Any = None) -> Solution:
        """Solve a named threshold, or an equation for an input, in the first case.

        Args:
            equation: the name of a threshold (``symroof list thresholds``), or an equation, as text or a SymPy ``Eq``.
            for_: the unknown, by name or symbol; a threshold has its own.

        Raises:
            InputError: an unknown name, sides of different dimensions, an unknown that does not occur, an equation without a value.

        >>> study = Study(model="llama-3-70b", params=70e9, hardware="h100-sxm", prompt=4096, efficiency="peak", assume={"detail": "weights"})
        >>> study.solve("batch_to_ridge").integer
        {'at_least': 296}
        """
        from symroof.analysis.solve import solve

        return solve(equation, self.first, for_)

    def solutions(self, equation: Any, for_: Any = None) -> list[Solution]:
        """The same as :meth:`solve` in every case, in order."""
        from symroof.analysis.solve import solve

        return [solve(equation, case, for_) for case in self.cases]
