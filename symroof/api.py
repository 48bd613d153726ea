"""The façade: what ``import symroof as sr`` gives. A study here sweeps, checks its claims and fits measurements as well; each
room loads when it is first asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from symroof.analysis import study as core
from symroof.errors import InputError, Problem
from symroof.report.catalogue_tables import CatalogueTable
from symroof.symbolic.from_sympy import is_sympy
from symroof.theory.spellings import symbol_name

if TYPE_CHECKING:
    import xarray

    from symroof.analysis.derivation import Derivation
    from symroof.analysis.solution import Solution
    from symroof.calibrate.calibration_result import Calibration
    from symroof.claims.checked import Report
    from symroof.report.pictures.chart import Chart
    from symroof.report.pictures.draw import Picture
    from symroof.report.review_files import Review
    from symroof.simulate.simulation import Simulation
    from symroof.theory.declarations import Declarations


PUBLIC = """calibrate check define derive expected load plot report result simulate solve sweep
symbol sympy value values"""
"""What a study offers; the rest of its attributes are for the package itself, and change."""


class Study(core.Study):
    __doc__ = core.Study.__doc__

    def sweep(self, quantities: Any = None, **over: Any) -> xarray.Dataset:
        """Compute a grid of quantities over any inputs, as an ``xarray.Dataset``.

        Each keyword is an axis: numbers in base units, text such as ``"128:32768:x2"``, or names of models, devices, precisions and
        counting choices. Lists in the study are axes, too. The attributes of each variable have its unit and meaning; those of
        the dataset have assumptions, inputs with sources, and warnings. Every latency, rate and cost comes with ``fits``.
        A grid of more than a gigabyte consists of dask arrays.

        If the value of a keyword is a formula, in SymPy or as text, it becomes a column of that name instead of an axis.

        >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096)
        >>> grid = study.sweep(batch=[1, 64, 256], quantities=["itl", "kv_cache_bytes"])
        >>> dict(grid.sizes), grid.itl.units, grid.fits.values.tolist()
        ({'batch': 3}, 's', [True, True, False])
        >>> from symroof.symbols import batch, itl
        >>> grid = study.sweep(batch=[1, 64], share=itl/batch, ratio="ttft/itl")
        >>> list(grid), grid.share.units, grid.share.long_name, grid.ratio.values.round().tolist()
        (['share', 'share_low', 'share_high', 'ratio', 'ratio_low', 'ratio_high', 'fits'], 's', 'itl/batch', [16.0, 6.0])

        Raises:
            InputError: all problems of the axes; a quantity without any value; a column with a name that is taken.
        """
        from symroof.sweep.axes import axes_of
        from symroof.sweep.dataset import dataset
        from symroof.sweep.grid import formula_columns, make_grid
        from symroof.symbolic.printing import text

        single = isinstance(quantities, str) or is_sympy(quantities)
        wanted = [quantities] if single else quantities
        study, formulas = copy(self), formula_columns(over, self.declared)
        for name, formula in formulas.items():
            study.define(name, formula, None, text(formula))
        pairs = ((name, values) for name, values in over.items() if name not in formulas)
        axes = axes_of(pairs, own=self.declared)
        asked = [*(wanted or ()), *formulas] if formulas else wanted
        return dataset(make_grid(study, axes, asked))

    def plot(
        self,
        kind: Any,
        ax: Any = None,
        *,
        over: Any = None,
        against: core.Study | str | os.PathLike[str] | None = None,
        quantity: Any = "itl",
    ) -> Picture:
        """Draw a picture, as ``symroof plot`` does, and return it as a Matplotlib ``Figure``.

        Args:
            kind: ``roofline``, ``latency-throughput``, ``regimes``, ``pareto``, ``memory``, ``tornado``, ``ttft`` or ``itl``; ``waterfall`` with a
                second side; with ``over`` a quantity by name or symbol, or a SymPy expression.
            ax: Matplotlib axes to draw into; by default a new figure.
            over: the input on the axis, by name or symbol; two for a map.
            against: the other side of a waterfall: a study, its file or name, a preset, or a number with its unit.
            quantity: the quantity of a waterfall.

        Returns:
            The figure. ``.data`` maps names to arrays (of a curve, rows of x and y in base units), ``.says`` is its takeaway, ``.alt`` its text alternative.
            ``.savefig("x.svg")`` (or ``.pdf``, ``.png``) writes the same bytes every time.

        Raises:
            InputError: an unknown kind; something that the kind needs and the study lacks; ``against`` for a kind without a second side.

        >>> from symroof.symbols import batch, itl, price
        >>> Study("llama-3-8b", "h100-sxm", prompt=4096, price="2.5 USD/hour").plot(price*itl/batch, over=batch).says
        'At batch 1 request, price*itl/batch is 5.811e-6 USD (4.418e-6 to 8.941e-6 USD); from 1 to 16 it goes from 5.811e-6 USD to 4.953e-7 USD.'
        >>> Study("llama-3-8b", "h100-sxm", prompt=4096).plot("itl").data["line"][:2, 0].tolist()
        [256.0, 288.0]
        """
        from symroof.report.pictures.draw import draw

        return draw(self._chart(kind, over, against, quantity), ax)

    def _chart(self, kind: Any, over: Any, against: Any, quantity: Any) -> Chart:
        """What a picture shows."""
        from symroof.analysis.two_cases import diff, resolve_side
        from symroof.report.pictures import KINDS, WATERFALL, bars, chart_of, checked, over_input

        if over is not None:
            return over_input.over_input(self, kind, over)
        study, kind = copy(self), symbol_name(kind)
        known = kind in KINDS or kind == WATERFALL
        if not known and (is_sympy(kind) or self.declared.quantity(str(kind))):
            hint = f"study.plot({str(kind)[:40]}, over=batch)"
            problem = Problem(str(kind)[:80], "a quantity is drawn over an input", hint=hint)
            raise InputError(problem)
        if against is None:
            return chart_of(kind, study)
        if checked(kind) != WATERFALL:
            hint = "leave against out, or draw a waterfall"
            raise InputError(Problem(kind, "takes no second side", hint=hint))
        name = "the other" if isinstance(against, core.Study) else os.fspath(against)
        other = copy(resolve_side(against, study))
        return bars.waterfall(diff(study, other, quantity), "this study", name)

    def calibrate(
        self, measured: str | os.PathLike[str], fit: Sequence[str] | None = None
    ) -> Calibration:
        """Fit efficiencies and overheads to measured latencies.

        Args:
            measured: a CSV file with a row for each measurement, a column for each input that varies, and latencies such as ``ttft_ms``.
            fit: the inputs to fit (default: mfu, mbu, step_overhead, and link_latency if the rows determine it).

        Returns:
            Each input with its interval (95 %, Student's t), and the residuals. The fit minimizes the squares of relative residuals.

        Raises:
            InputError: all problems of the file; a row faster than the device allows.

        >>> fit = Study("llama-3.1-8b", "h100-sxm").calibrate("docs/measured.csv")
        >>> [parameter.name for parameter in fit.parameters], round(fit["mbu"].value, 2)
        (['mfu', 'mbu', 'step_overhead'], 0.81)
        """
        from symroof.calibrate.fit import calibrate

        return calibrate(measured, self.first, fit)

    def simulate(
        self,
        arrivals: str | None = None,
        requests: int | None = None,
        seed: int = 0,
        *,
        users: int | None = None,
        trace: str | os.PathLike[str] | None = None,
        lengths: Mapping[str, Any] | None = None,
    ) -> Simulation:
        """Simulate one replica of the first case step by step: requests arrive, wait, are prefilled and decoded. The switch ``scheduling``
        decides which requests are in a step; the same formulas as for ``itl`` decide how long it takes.

        Args:
            arrivals: ``poisson``, ``bursty``, ``uniform`` at ``arrival_rate/dp``; ``closed-loop`` (the default without a rate): users in the steady
                state; or ``burst`` (the default with ``users``): all at once, as a benchmark sends them.
            requests: their number (default 2,000, or 20 for each user); of a trace, the first ones.
            seed: of the random numbers.
            users: each sends its next request when the last one has ended (default: the batch for a closed loop, all requests for a burst).
            trace: a file of recorded requests: Azure, BurstGPT, or columns ``arrival,prompt,output``.
            lengths: ``{"prompt": "lognormal:512,1.2", "output": "lognormal:300,0.8"}``; also ``uniform:1..99``, ``exponential:64``, a number.

        Returns:
            A result with ``.summary``, ``.rates`` and ``.requests`` (a record array).

        Raises:
            InputError: all problems of the arguments and the trace; missing inputs.

        >>> study = Study("llama-3-8b", "h100-sxm", prompt=1024, output=64, batch=32, chunk=512, arrival_rate=8)
        >>> found = study.simulate(requests=400, seed=1)
        >>> found.summary["ttft"]["mean"] < 0.1, len(found.requests), found == study.simulate(requests=400, seed=1)
        (True, 400, True)
        """
        from symroof.simulate.run_simulation import simulate

        return simulate(
            self.first, arrivals, requests, seed, users=users, trace=trace, lengths=lengths
        )

    def report(
        self, folder: str | os.PathLike[str] | None = None, formats: Sequence[str] = ("html", "md")
    ) -> Review:
        """Make the design review of the study. A notebook shows its first page. With a ``folder``, the review is also written there.

        Args:
            folder: where to write the review and its pictures.
            formats: any of ``html``, ``md``, ``tex`` and ``pdf``.

        Returns:
            The review. ``.says`` is what to buy and what it costs, ``.save(folder)`` writes it.

        Raises:
            InputError: a study without a model or a device.

        >>> Study("llama-3-8b", "h100-sxm", prompt=1024, output=256, batch=8, targets={"itl": "50 ms"}).report().says.partition(" (")[0]
        'Use 1 × H100 SXM for Llama 3 8B. 2,850 USD/month'
        """
        from symroof.report.review_files import Review

        review = Review(self, "study.report()")
        if folder is not None:
            review.save(folder, formats)
        return review

    def __dir__(self) -> Iterable[str]:
        return [*PUBLIC.split(), *(name for name in super().__dir__() if name.startswith("_"))]

    def check(self) -> Report:
        """Check the claims of the study. The report of a study without claims is empty.

        Raises:
            InputError: everything wrong with them.

        >>> Study("llama-3-8b").check()
        Report(no claims)
        """
        from symroof.claims.check import check_study

        return check_study(self)


class Theory:
    """A set of inputs, formulas and thresholds of your own.

    >>> import sympy
    >>> width, patch = sympy.symbols("width patch", positive=True)
    >>> theory = Theory(
    ...     inputs={width: {"unit": "byte", "means": "of a row"}, patch: "byte", "rate": {"unit": "byte/s", "default": "2 GB/s"}},
    ...     define={"rows": sympy.sqrt(width**2)/patch, "wait": {"formula": "rows*width/rate", "unit": "s", "means": "time of a patch"}},
    ...     thresholds={"widest": {"equation": "wait = 1 s", "unknown": width, "means": "the widest row in a second"}},
    ... )
    >>> theory.sympy("rows"), theory.solve("wait = 2 s", for_=patch).sympy
    (width/patch, width**2/(2*rate))
    >>> Study(theory=theory, width="1 GB", patch="250 MB").value("wait")
    2 s

    Args:
        inputs: from a name to its unit (``"byte/s"``, ``""`` or None for a plain number), or to an entry with ``unit``, ``means``, ``default``, ``latex``,
            ``counts`` (integers only) and ``sign`` (``positive``, ``nonnegative``, ``real``). A name may be your own SymPy symbol. Its assumptions
            then decide sign and ``counts``, and it appears in all expressions.
        define: from a name to a formula, as text or in SymPy, or to an entry with ``formula``, ``unit``, ``means``, ``latex``. By default, the unit follows from the formula.
        thresholds: from a name to an equation and its unknown, or to an entry with ``equation``, ``unknown``, ``means``; or a list of entries, as in a file.
        title: its title.

    Raises:
        InputError: all problems of its names and formulas.
    """

    def __init__(
        self,
        inputs: Mapping[Any, Any] | None = None,
        define: Mapping[Any, Any] | None = None,
        thresholds: Mapping[Any, Any] | Sequence[Any] | None = None,
        title: str = "",
    ) -> None:
        from symroof.specs.user_theory import from_python

        self.declared: Declarations = from_python(
            inputs or {}, define or {}, thresholds or {}, title
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Theory:
        """Read a theory from its file, or an included one by its name.

        Raises:
            InputError: no such file or name, everything wrong with it.

        >>> Theory.load("training-step")
        <Theory: A training run, its work, its memory and its checkpoints>
        """
        from symroof.specs.spec_files import declared_in

        theory = cls.__new__(cls)
        theory.declared = declared_in(os.fspath(path))
        return theory

    @property
    def symbols(self) -> dict[str, Any]:
        """The SymPy symbol of each of its inputs and quantities, by name.

        >>> Theory.load("training-step").symbols["young_interval"].is_positive
        True
        """
        from symroof.symbols import symbol

        return {name: symbol(name, self.declared) for name in self.declared}

    def study(self, model: Any = None, hardware: Any = None, **chosen: Any) -> Study:
        """A study of this theory. Keywords are those of :class:`Study` and the inputs of the theory.

        >>> Theory({"width": "byte"}, {"area": "width^2"}).study(width=3).value("area")
        9 byte^2
        """
        return Study(model, hardware, theory=self, **chosen)

    def sympy(self, name: Any, depth: int | None = None) -> Any:
        """A quantity as a SymPy expression, as :meth:`Study.sympy` gives it."""
        return self.study().sympy(name, depth)

    def derive(self, name: Any) -> Derivation:
        """The derivation of a quantity in symbols, as :meth:`Study.derive` gives it."""
        return self.study().derive(name)

    def solve(self, equation: Any, for_: Any = None) -> Solution:
        """A threshold or an equation solved in symbols, as :meth:`Study.solve` does; ``theory.study(...)`` has numbers."""
        return self.study().solve(equation, for_)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Theory) and self.declared == other.declared

    def __hash__(self) -> int:
        return hash(self.declared)

    def __repr__(self) -> str:
        return f"<Theory: {self.declared.title}>"


def solve_symbolic(equation: Any, for_: Any = None) -> Solution:
    """Solve a named threshold, or an equation for an input, without a model or device: the answer stays symbolic.

    Args:
        equation: the name of a threshold (``symroof list thresholds``), or an equation: a SymPy ``Eq``, or text such as ``"itl = 20 ms"``.
        for_: the unknown, by name or symbol: any input or quantity. A threshold has its own.

    Returns:
        The closed form with the conditions under which it holds.

    Raises:
        InputError: an unknown name, sides of different dimensions, an unknown that does not occur.

    >>> solve_symbolic("kv_cache_bytes = weight_bytes", for_="batch").sympy
    weight_bytes/(context*kv_bytes_per_token)
    >>> ridge = solve_symbolic("batch_to_ridge")
    >>> ridge.verdict, len(ridge.conditions)
    ('conditional', 1)
    """
    if isinstance(for_, Study):
        raise InputError(Problem("for_", "is a study", hint="write study.solve(equation, for_)"))
    return Study().solve(equation, for_)


def models() -> CatalogueTable:
    """The models of the catalogue: name, parameters, active parameters, attention, experts, other names.

    >>> models()["llama-3-8b"]["parameters"]
    8030261248
    """
    return _table("models")


def hardware() -> CatalogueTable:
    """The devices of the catalogue: name, dense 16-bit peak, memory bandwidth and capacity, as their sources write them.

    >>> hardware()["h100-sxm"]["mem_bandwidth"]
    '3.35 TB/s'
    """
    return _table("hardware")


def quantities() -> CatalogueTable:
    """All quantities: name, LaTeX, base unit, meaning, reference, and definition in SymPy for a dense model with default counting choices.

    >>> quantities()["kv_bytes_per_token"]["definition"]
    2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers
    """
    from symroof.analysis.in_sympy import definition_in_sympy

    case = Study().first
    return CatalogueTable(
        [
            {**row, "definition": row["definition"] and definition_in_sympy(row["name"], case, 1)}
            for row in _table("quantities")
        ]
    )


def thresholds() -> CatalogueTable:
    """All named thresholds: unknown, meaning of the answer, and equation. :func:`solve` accepts the names.

    >>> thresholds()["max_batch_memory"]["unknown"]
    'batch'
    """
    return _table("thresholds")


def _table(kind: str) -> CatalogueTable:
    from symroof.report.catalogue_tables import KINDS

    return CatalogueTable(KINDS[kind]())
