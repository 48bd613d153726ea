"""symroof: why is my LLM this fast, and what would make it faster?

Symbolic roofline derivations for LLM inference. ``import symroof as sr`` is quick: everything loads when first used.

>>> import symroof as sr
>>> sr.Study(hardware="h100-sxm").value("ridge_point")
295.3 FLOP/byte

- :class:`Study` binds a model, a device and a workload: values, derivations, solutions, sweeps.
- :class:`Theory` is a theory of one's own: inputs, formulas, thresholds.
- :func:`solve` solves an equation without any case; :func:`compile` makes quantities a NumPy function (:class:`Compiled`).
- :func:`select` judges configurations against targets.
- :func:`check` checks hand calculations in notes and claim files, or a formula.
- :func:`diff` says why two cases, or two tools, give different numbers (:class:`Waterfall`).
- :mod:`symroof.symbols` has every input and quantity as a SymPy symbol; ``study.sympy``, solutions and derivations are made of them, and a
  SymPy expression is taken wherever a name, formula or equation is.
- :func:`models`, :func:`hardware`, :func:`quantities`, :func:`thresholds` are the catalogue as tables.
- :class:`InputError` is raised for a wrong input; :class:`DoesNotFit` warns of a configuration beyond memory.

Numbers are in base units: byte, FLOP, s, token, request, USD, W.
"""

import sys  # and not __future__, which is a file to load before Ctrl-C is heeded


def _is_program() -> bool:
    """Whether this process is the command line, ``symroof`` or ``python -m symroof``, and not somebody's that imports the package."""
    name = sys.argv[0].replace("\\", "/").rpartition("/")[2] if getattr(sys, "argv", None) else ""
    return name in ("symroof", "symroof.exe") or (
        name == "-m" and "-m symroof" in " ".join(sys.orig_argv)
    )


if _is_program():
    import os

    try:
        import signal

        # Ctrl-C while modules load is no traceback; symroof.cli.run takes over
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    except KeyboardInterrupt:
        os._exit(130)

from types import ModuleType  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from symroof.resources import __version__  # noqa: E402

if TYPE_CHECKING:
    from symroof import symbols
    from symroof.analysis.compile import Compiled, compile
    from symroof.analysis.two_cases import diff
    from symroof.analysis.waterfall import Waterfall
    from symroof.api import Study, Theory, hardware, models, quantities, thresholds
    from symroof.api import solve_symbolic as solve
    from symroof.claims.check import check
    from symroof.errors import DoesNotFit, InputError
    from symroof.select.selection import select

__all__ = [
    "Compiled",
    "DoesNotFit",
    "InputError",
    "Study",
    "Theory",
    "Waterfall",
    "__version__",
    "check",
    "compile",
    "diff",
    "hardware",
    "models",
    "quantities",
    "select",
    "solve",
    "symbols",
    "thresholds",
]

_HOMES = {
    **dict.fromkeys(("Study", "Theory", "models", "hardware", "quantities", "thresholds"), "api"),
    **dict.fromkeys(("Compiled", "compile"), "analysis.compile"),
    **dict.fromkeys(("InputError", "DoesNotFit"), "errors"),
    "solve": "api",
    "Waterfall": "analysis.waterfall",
    "check": "claims.check",
    "diff": "analysis.two_cases",
    "select": "select.selection",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "symbols":
        return import_module("symroof.symbols")
    if name not in _HOMES:
        raise AttributeError(f"module 'symroof' has no attribute {name!r}")
    own = "solve_symbolic" if name == "solve" else name
    return getattr(import_module(f"symroof.{_HOMES[name]}"), own)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Facade(ModuleType):
    """Importing ``symroof.select`` binds that package to its parent, where it would hide the public function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
