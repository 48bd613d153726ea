"""Warnings that Python users may filter or turn into errors."""

from __future__ import annotations


class DoesNotFit(UserWarning):
    """A latency, rate or cost is of a configuration that does not fit in memory; :meth:`symroof.Study.value` warns of it.

    >>> import warnings
    >>> import symroof as sr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", sr.DoesNotFit)
    ...     try:
    ...         sr.Study(model="llama-3-70b", hardware="h100-sxm", prompt=4096).value("itl")
    ...     except sr.DoesNotFit as warning:
    ...         print(warning)
    itl = 41.90 ms is of a configuration that does not fit in memory
    """
