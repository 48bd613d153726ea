"""What belongs to the package: its version, and the files of data beside its code."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = os.path.dirname(os.path.realpath(__file__))


def data_folder(name: str) -> Path:
    """The folder ``templates`` or ``specs``: inside an installed package, or beside it in a checkout.

    Raises:
        FileNotFoundError: a broken installation.
    """
    from pathlib import Path

    return Path(_place(name))


@lru_cache(maxsize=4)
def _place(name: str) -> str:
    around = os.path.dirname(PACKAGE)
    checkout, installed = os.path.join(around, name), os.path.join(PACKAGE, "_data", name)
    if os.path.isfile(os.path.join(around, "pyproject.toml")) and os.path.isdir(checkout):
        return checkout
    if os.path.isdir(installed):
        return installed
    raise FileNotFoundError(f"symroof was installed without its {name}; install it again")
