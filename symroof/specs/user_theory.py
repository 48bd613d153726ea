"""User-defined theories, as files and in Python: inputs, formulas over them and over built-in names, thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, model_validator

from symroof.errors import InputError
from symroof.specs.definitions import (
    MOST_DECLARED,
    FormulaSpec,
    InputSpec,
    ThresholdSpec,
    declared_formulas,
    declared_inputs,
    declared_thresholds,
)
from symroof.specs.fields import NAME, Spec, build, read_at
from symroof.specs.sources import AnySource
from symroof.strict_yaml import Document
from symroof.symbolic.printing import text
from symroof.theory.declarations import Declarations
from symroof.theory.spellings import is_sympy, read_expression, symbol_name, with_units


class TheorySpec(Spec):
    """A user-defined theory: inputs, formulas over them and over built-in names, thresholds."""

    name: Annotated[str, Field(pattern=NAME)]
    title: str
    source: AnySource = None
    inputs: Annotated[dict[str, InputSpec], MOST_DECLARED]
    define: Annotated[dict[str, FormulaSpec], MOST_DECLARED] = {}
    thresholds: Annotated[tuple[ThresholdSpec, ...], MOST_DECLARED] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> TheorySpec:
        self.declared  # noqa: B018
        return self

    @cached_property
    def declared(self) -> Declarations:
        """The declarations of the file.

        Raises:
            Faults: everything wrong with its names and formulas.
        """
        own = read_at("inputs", lambda: declared_inputs(self.inputs))
        own = read_at("define", lambda: declared_formulas(self.define, own)).joined(own)
        listed = dict(enumerate(self.thresholds))
        solvable = read_at("thresholds", lambda: declared_thresholds(listed, own))
        return replace(solvable.joined(own), title=self.title)


def from_python(
    inputs: Mapping[Any, Any], define: Mapping[Any, Any], thresholds: Any, title: str = ""
) -> Declarations:
    """A theory defined in Python, in the form of a file; see :class:`symroof.api.Theory` for the entries.

    Raises:
        InputError: everything wrong with its names and formulas.

    >>> made = from_python({"width": "byte", "rate": "byte/s"}, {"wait": "width/rate"}, {})
    >>> made.quantity("wait").unit, made.input("width").may_vanish
    ('s', False)
    """
    entries = {str(symbol_name(key)): _input(key, value) for key, value in inputs.items()}
    defined: dict[str, Any] = {
        (name := str(symbol_name(key))): {
            "means": name,
            **(value if isinstance(value, Mapping) else {"formula": value}),
        }
        for key, value in define.items()
    }
    data: dict[str, Any] = {"name": "python", "title": title or "A theory in Python"}
    data |= {"inputs": entries, "define": defined}
    known = _built(data)
    named = thresholds if isinstance(thresholds, Mapping) else {}  # in a list each has its own
    data["thresholds"] = [
        _threshold(str(symbol_name(name)), value, known) for name, value in named.items()
    ] or [_threshold("", value, known) for value in thresholds]
    symbols = tuple((key.name, key) for key in inputs if is_sympy(key))
    return replace(_built(data), symbols=symbols)


def _built(data: dict[str, Any]) -> Declarations:
    try:
        return build(Document("theory", data, {}, (), ""), TheorySpec).declared
    except InputError as error:  # there are no lines to point at
        told = [replace(problem, line=None, column=None) for problem in error.problems]
        raise InputError(told) from None


def _input(key: Any, value: Any) -> dict[str, Any]:
    """The file form of an input, from a unit or an entry; it takes the sign of its symbol, and an integer symbol counts things."""
    entry: dict[str, Any] = {"means": str(symbol_name(key))}
    if is_sympy(key):
        signs = ("positive", "nonnegative", "real")
        entry |= next(({"sign": sign} for sign in signs if getattr(key, f"is_{sign}")), {})
        entry |= {"counts": True} if key.is_integer else {}
    entry |= value if isinstance(value, Mapping) else {"unit": value or ""}
    default = entry.get("default")
    return entry | ({"default": Fraction(str(default))} if is_sympy(default) else {})


def _threshold(name: str, value: Any, own: Declarations) -> dict[str, Any]:
    """The file form of a threshold, from its entry, or from a pair of the equation and its unknown."""
    if not isinstance(value, Mapping):
        pair = value if isinstance(value, tuple) else (value,)
        value = dict(zip(("equation", "unknown"), pair, strict=False))
    entry = dict(value)
    equation = entry.get("equation")
    if is_sympy(equation):
        equation = text(with_units(read_expression(equation, own), own))
    entry = {"name": name, "means": str(equation), **entry, "equation": equation}
    return {**entry, "unknown": symbol_name(entry["unknown"])} if "unknown" in entry else entry
