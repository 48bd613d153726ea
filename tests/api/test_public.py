"""Every public name of ``import symroof as sr``, and every result it returns, is documented with an example that runs as a doctest."""

import inspect

import pytest

import symroof as sr
from symroof.analysis.derivation import Derivation
from symroof.analysis.solution import Solution
from symroof.calibrate.calibration_result import Calibration
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Number, Result
from symroof.claims.checked import Checked, Report
from symroof.select.configuration import Configuration
from symroof.select.selection import Selection

PUBLIC = {name: getattr(sr, name) for name in sr.__all__ if name != "__version__"}
RESULTS = (Number, Result, BoundCase, Solution, Derivation, Selection, Configuration)
RESULTS += (Calibration, Report, Checked)


@pytest.mark.sample(5)
@pytest.mark.parametrize("entry", [*PUBLIC.values(), *RESULTS], ids=lambda entry: entry.__name__)
def test_every_public_name_and_result_has_an_example(entry):
    assert ">>>" in inspect.getdoc(entry)


def test_every_public_member_is_documented_and_says_what_is_refused():
    for owner in (sr.Study, sr.Compiled):
        for name, member in inspect.getmembers_static(owner):
            made = getattr(member, "__func__", None) or getattr(member, "func", None) or member
            ours = name in vars(owner) and not name.startswith("_")
            if ours and (callable(made) or isinstance(made, property)):
                assert (made.__doc__ or "").strip(), f"{owner.__name__}.{name}"
    study = [
        getattr(sr.Study, n) for n in ["value", "result", "derive", "solve", "sweep", "calibrate"]
    ]
    for function in (*study, sr.check, sr.compile, sr.select, sr.solve):
        assert "InputError:" in inspect.getdoc(function)
