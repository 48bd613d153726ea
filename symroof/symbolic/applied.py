"""Quantities in users' hands: unknown functions of their inputs, printed by their name.

``itl`` is ``itl(batch, context, ...)`` with every input that it depends on, so that SymPy's own rules for an unknown function
hold: derivatives, integrals, sums and limits stay unevaluated, ``solve`` and ``Poly`` refuse. At other inputs it is printed
``itl(batch = 5)``. Formulas of the theory have plain symbols instead: :func:`translator` has them translated, and
:func:`symroof.symbolic.from_sympy.to_core` what comes back.

>>> batch, price, x = sympy.symbols("batch price x", positive=True)
>>> itl = quantity("itl", (batch, price), nonnegative=True)
>>> sympy.diff(itl*batch, batch), sympy.diff(itl, x), (itl*batch).subs(batch, 5)
(batch*Derivative(itl, batch) + itl, 0, 5*itl(batch = 5))
>>> sympy.limit(itl/batch, batch, sympy.oo), sympy.integrate(itl, (batch, 1, 8)), sympy.solve(2*itl - x, itl)
(Limit(itl/batch, batch, oo, dir='-'), Integral(itl, (batch, 1, 8)), [x/2])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Derivative, Dummy, S, Subs, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.symbol import Str

from symroof.symbolic.expressions import DerivativeName
from symroof.symbolic.nodes import At, OfLargest, Total


@dataclass(frozen=True)
class Declared:
    """What a quantity is: its name, the symbols of its inputs in order, what SymPy may assume of it."""

    name: str
    inputs: tuple[Any, ...]
    assumed: tuple[tuple[str, bool], ...]


FUNCTIONS: dict[tuple[Declared, tuple[str, ...]], Any] = {}
KINDS: dict[str, set[Any]] = {}
"""The symbols of single kinds of layer, by the input that they are part of."""


class KindSymbol(Symbol):  # type: ignore[misc]
    """An input of one kind of layer, ``n_layers.local``: what depends on the input depends on it."""

    __slots__ = ()

    def __new__(cls, name: str, **assumed: Any) -> Any:
        made = super().__new__(cls, name, **assumed)
        KINDS.setdefault(name.partition(".")[0], set()).add(made)
        return made

    def _has_matcher(self) -> Callable[[Any], bool]:
        return lambda part: part == self or (isinstance(part, Quantity) and part.has_kind(self))


KindSymbol.__name__ = "Symbol"  # the class name by which SymPy sorts


def quantity(name: str, inputs: Iterable[Any], **assumed: bool) -> Any:
    """The object of a quantity: always an equal one."""
    declared = Declared(name, tuple(inputs), tuple(assumed.items()))
    return _made(declared, (), declared.inputs)


def _made(declared: Declared, given: tuple[str, ...], values: Iterable[Any]) -> Any:
    """A quantity at values of its inputs, and of what is ``given`` beside them."""
    key = declared, given
    if key not in FUNCTIONS:
        fields, assumed = {"declared": declared, "given": given}, dict(declared.assumed)
        FUNCTIONS[key] = UndefinedFunction(declared.name, (Quantity,), fields, **assumed)
    return FUNCTIONS[key](*values)


class Quantity(AppliedUndef):  # type: ignore[misc]
    """What every quantity is an instance of.

    Its arguments are the values of its inputs, then those of the quantities, and of inputs of one kind of layer, that are given.
    """

    declared: Declared
    given: tuple[str, ...] = ()

    def __new__(cls, *values: Any, **options: Any) -> Any:
        """What is given as it is anyway is not given."""
        start = len(cls.declared.inputs)
        beside = tuple(zip(cls.given, values[start:], strict=True))
        kept = tuple(
            (name, value)
            for name, value in beside
            if isinstance(value, Dummy)
            or getattr(value, "name", "") != name
            or getattr(value, "changes", {})
        )
        if len(kept) == len(beside):
            return super().__new__(cls, *values, **options)
        names = tuple(name for name, _ in kept)
        return _made(cls.declared, names, (*values[:start], *(value for _, value in kept)))

    @property
    def plain(self) -> Any:
        """The quantity at its inputs as they are."""
        return _made(self.declared, (), self.declared.inputs)

    @property
    def changes(self) -> dict[str, Any]:
        """The inputs that are not themselves, and what is given, with their values."""
        inputs = zip(self.declared.inputs, self.args, strict=False)
        changed = {own.name: value for own, value in inputs if value != own}
        return changed | dict(zip(self.given, self._beside, strict=True))

    @property
    def _beside(self) -> tuple[Any, ...]:
        return self.args[len(self.declared.inputs) :]  # type: ignore[no-any-return]

    def at(self, changes: Mapping[str, Any]) -> Any:
        """The quantity at other values; what is no input of it is given beside them."""
        left = dict(changes)
        pairs = zip(self.declared.inputs, self.args, strict=False)
        values = [left.pop(own.name, value) for own, value in pairs]
        beside = dict(zip(self.given, self._beside, strict=True)) | left
        return _made(self.declared, tuple(beside), (*values, *beside.values()))

    def has_kind(self, symbol: Any) -> bool:
        """Whether it depends on an input of one kind of layer."""
        base = symbol.name.partition(".")[0]
        return symbol.name not in self.given and any(
            own.name == base and own == value
            for own, value in zip(self.declared.inputs, self.args, strict=False)
        )

    @property
    def free_symbols(self) -> set[Any]:
        if not self.given and self.args == self.declared.inputs:
            found = set(self.args)
        else:
            found = set().union(*(arg.free_symbols for arg in self.args))
        kinds = (KINDS.get(getattr(arg, "name", ""), ()) for arg in self.args)
        return found.union(*(filter(self.has_kind, some) for some in kinds))

    def _eval_derivative(self, by: Any) -> Any:
        moved = (i for i, arg in enumerate(self.args) if arg == by or by in arg.free_symbols)
        slope = sum((self.args[i].diff(by) * self.fdiff(i + 1) for i in moved), S.Zero)
        kind = isinstance(by, KindSymbol) and self.has_kind(by)
        return slope + Slope(self, by, evaluate=False) if kind else slope

    def fdiff(self, argindex: int = 1) -> Any:
        plain = super().fdiff(argindex)
        return plain.replace(Derivative, lambda *args: Slope(*args, evaluate=False))

    def _eval_subs(self, old: Any, new: Any) -> Any:
        if isinstance(old, KindSymbol) and self.has_kind(old):
            return self.at({old.name: new})
        return super()._eval_subs(old, new)

    def _xreplace(self, rule: Any) -> tuple[Any, bool]:
        """SymPy takes a derivative by a quantity with a dummy in its place: here as a quantity that is given."""
        if self in rule or not isinstance(rule, dict):
            return super()._xreplace(rule)  # type: ignore[no-any-return]
        held_by_dummies = self.given and all(isinstance(value, Dummy) for value in self._beside)
        if held_by_dummies and self.plain in rule:  # by ``lambdify``, one quantity after another
            return rule[self.plain], True
        held = {
            old.name: new
            for old, new in rule.items()
            if (isinstance(new, Dummy) and isinstance(old, Quantity) and old == old.plain)
            or (isinstance(old, KindSymbol) and self.has_kind(old))
        }
        made, changed = super()._xreplace(rule)
        return (made.at(held), True) if held else (made, changed)

    def _eval_evalf(self, prec: int) -> None:
        """It has no value of its own."""

    def sort_key(self, order: Any = None) -> tuple[Any, ...]:
        """Its place in sums and products is that of a symbol of its name."""
        return Symbol.class_key(), (1, (str(self),)), S.One.sort_key(), S.One

    def _sympystr(self, printer: Any) -> str:
        changed = ", ".join(f"{name} = {printer._print(to)}" for name, to in self.changes.items())
        return f"{self.name}({changed})" if changed else self.name

    def _latex(self, printer: Any, exp: Any = None) -> str:
        spelled = printer._settings.get("symbol_names", {}).get(self.plain)
        spelled = spelled or printer._print(Symbol(self.name))
        changes = self.changes
        if changes:
            known = {own.name: own for own in self.declared.inputs}
            at = ", ".join(
                f"{printer._print(known.get(name, Symbol(name)))} = {printer._print(value)}"
                for name, value in changes.items()
            )
            spelled = rf"\left. {spelled} \right\vert_{{{at}}}"
        if exp is None:
            return str(spelled)
        base = rf"\left({spelled}\right)" if changes or "^" in spelled else spelled
        return f"{base}^{{{exp}}}"

    def _as_symbol(self, printer: Any) -> Any:
        return printer._print(Symbol(str(self)))

    _pretty = _ccode = _fcode = _pythoncode = _numpycode = _javascript = _as_symbol
    _mathml_content = _mathml_presentation = _as_symbol

    def __reduce__(self) -> Any:
        return _made, (self.declared, self.given, self.args)


class Slope(Derivative):  # type: ignore[misc]
    """The derivative of a quantity: a number for the quantity or the input alone does not make it 0; its own value does.

    >>> batch = Symbol("batch", positive=True)
    >>> itl = quantity("itl", (batch,), positive=True)
    >>> slope = sympy.diff(itl*batch, batch)
    >>> slope.xreplace({itl: 5, batch: 2}), slope.xreplace({itl: 5, batch: 2, sympy.diff(itl, batch): 3})
    (2*Derivative(itl, batch) + 5, 11)
    """

    def __new__(cls, expr: Any, *variables: Any, **options: Any) -> Any:
        if not isinstance(expr, Quantity):
            return Derivative(expr, *variables, **options)
        return super().__new__(cls, expr, *variables, **options)

    def _eval_subs(self, old: Any, new: Any) -> Any:
        if old == self.expr and new.is_number:
            return self
        made = super()._eval_subs(old, new)
        return Slope(*made.args, evaluate=False) if type(made) is Derivative else made

    def _xreplace(self, rule: Any) -> tuple[Any, bool]:
        if self not in rule and isinstance(rule, dict):
            for part in (self.expr, *self.variables):
                if getattr(rule.get(part), "is_number", part in rule):
                    return self, False
        return super()._xreplace(rule)  # type: ignore[no-any-return]


Slope.__name__ = "Derivative"  # the class name by which SymPy sorts and prints


def translator(public: Callable[[str], Any]) -> Callable[[Any], Any]:
    """What gives formulas of the theory in users' symbols, converting shared parts once; ``public`` gives the object of a name.

    A sum is a ``Sum``, a choice a ``Piecewise``, a label a ``Piecewise`` over plain symbols of the labels.

    >>> from symroof.symbolic.reading import parse
    >>> itl = quantity("itl", (sympy.Symbol("batch", positive=True),), positive=True)
    >>> translator(lambda name: itl)(parse("2*itl(batch = 8)"))
    2*itl(batch = 8)
    """
    known: dict[Any, Any] = {}

    def go(node: Any) -> Any:
        if node not in known:
            known[node] = rule(node)
        return known[node]

    def rule(node: Any) -> Any:
        if node.is_Symbol:
            return public(node.name)
        if isinstance(node, At):
            return _changed(node.name, {key: go(value) for key, value in node.changes}, public)
        if isinstance(node, Str):
            return label_symbol(node.name)
        if isinstance(node, Total):
            bounds = public(node.index), go(node.first), go(node.last)
            return sympy.Sum(go(node.body), bounds)
        args = list(map(go, node.args))
        if isinstance(node, OfLargest):
            keys, pieces = args[::2], []
            for i, (key, value) in enumerate(zip(keys, args[1::2], strict=True)):
                leads = (sympy.Ge(key, other) for other in keys[i + 1 :])
                pieces.append((value, sympy.And(*leads)))
            return sympy.Piecewise(*pieces)
        return node.func(*args) if args else node

    return go


def label_symbol(text: str) -> Any:
    """The symbol of a label such as ``compute``, without assumptions because it is no number."""
    return Symbol(text)


def _changed(name: str, changes: Mapping[str, Any], public: Callable[[str], Any]) -> Any:
    """A quantity, or a derivative of one, at changed inputs; what it does not depend on changes nothing."""
    if isinstance(name, DerivativeName):
        by = public(name.by)
        others = {key: value for key, value in changes.items() if key != name.by}
        point = changes.get(name.by, by)
        if point == by and not any(by in value.free_symbols for value in others.values()):
            return sympy.diff(_changed(name.quantity, others, public), by)
        dummy = Dummy(name.by, real=True)
        moved = _changed(name.quantity, {**others, name.by: dummy}, public)
        return Subs(sympy.diff(moved, dummy), dummy, point)
    found, moving = public(name), {}
    if name in changes or not isinstance(found, Quantity):
        return changes.get(name, found)
    for key, value in changes.items():
        part = public(key)
        kind = isinstance(part, KindSymbol) and found.has_kind(part)
        if part in found.declared.inputs or kind or isinstance(part, Quantity):
            moving[key] = value
    return found.at(moving)
