"""The façade: what ``import symroof as sr`` gives. A study here sweeps, checks its claims and fits measurements as well; each
room loads when it is first asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from symroof import study as core
from symroof.choosing import selection
from symroof.solution import Solution

if TYPE_CHECKING:
    import xarray

    from symroof.calibration.found import Calibration
    from symroof.claims.checked import Report
    from symroof.sweeping.axes import Axis
    from symroof.sweeping.plan import Plan


class Study(core.Study):
    __doc__ = core.Study.__doc__

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
        return _fitted(measured, self, fit)

    def check(self) -> Report:
        """Check the claim files the study names, looked up from its own folder.

        Raises:
            InputError: everything wrong with them.
        """
        from symroof.claims.checking import check_study

        return check_study(self)


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
    made = (
        study if isinstance(study, core.Study) else Study(**case) if study is None else Study.load(study, selection(origin="given", **case) if case else None)
    )
    return _fitted(measured, made, fit)


def _fitted(measured: str | os.PathLike[str], study: core.Study, fit: Sequence[str] | None) -> Calibration:
    from symroof.calibration.calibrating import calibrate

    return calibrate(measured, study.first, fit)


__all__ = ["Study", "calibrate", "solve_symbolic"]
