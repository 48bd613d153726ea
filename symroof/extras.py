"""Packages that only some outputs need: each belongs to an extra of symroof, and whoever lacks one learns which to install."""

from __future__ import annotations

from importlib import import_module

from symroof.specs.errors import InputError, Problem

EXTRAS = {"xarray": "sweep", "netCDF4": "sweep", "zarr": "sweep", "pyarrow": "sweep", "matplotlib": "plot"}


def require(what: str, *modules: str) -> None:
    """Import what an output needs.

    Raises:
        InputError: it is not installed; the hint names the extra.
    """
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # it is there, and lacks something of its own
                raise
            raise InputError(Problem(what, f"needs {module}, which is not installed", hint=f"pip install 'symroof[{EXTRAS[module]}]'")) from None
