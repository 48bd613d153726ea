"""The derivation of a number: definition, expansion to inputs, substituted line, value, and the same for every step on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from symroof.analysis.asymptotics import FirstOrder, Limit, first_order, limit_forms
from symroof.analysis.sensitivity import Elasticity, binding_arms, elasticities
from symroof.cases.case_results import Answers, Result
from symroof.formula.evaluate import NoValue
from symroof.formula.latex import latex
from symroof.formula.mathml import THIN, mathml, measured, spelling, words
from symroof.formula.rewrite import rebuild
from symroof.formula.text import text
from symroof.formula.tree import Add, At, Call, Name, Neg, Total, Tree, mentions, names, walk
from symroof.theory.symbols import STEP_INDEX, Symbol, Unnamed
from symroof.units import readable, scaled, significant


class Written(NamedTuple):
    """A name or its value as text that a formula takes, as LaTeX and as MathML."""

    text: str
    latex: str
    mathml: str

    @classmethod
    def name(cls, name: str, spelled: str) -> Written:
        return cls(name, spelled, spelling(spelled))


@dataclass(frozen=True)
class Substituted:
    """A formula with numbers in place of its names; a name without a value stays."""

    tree: Tree
    put: Mapping[str, Written]
    spell: Callable[[str], str]

    @property
    def text(self) -> str:
        return text(self.tree, lambda name: self._shown(name).text)

    @property
    def latex(self) -> str:
        return latex(self.tree, lambda name: self._shown(name).latex, dots=True)

    @property
    def mathml(self) -> str:
        return mathml(self.tree, lambda name: self._shown(name).mathml, dots=True)

    def _shown(self, name: str) -> Written:
        return self.put[name] if name in self.put else Written.name(name, self.spell(name))


@dataclass(frozen=True)
class Step:
    """One line of a derivation: a quantity, its formula, the formula with numbers, the value, or why there is none."""

    symbol: Symbol
    formula: Tree
    substituted: Substituted
    result: Result | None
    why_unknown: str = ""


class Derivation:
    """The derivation of one quantity in one case, symbolic where inputs are missing.

    >>> from symroof.analysis.study import Study
    >>> derivation = Study(model="llama-3-8b").derive("kv_bytes_per_token")
    >>> derivation.definition
    2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers
    >>> derivation
    <kv_bytes_per_token = 2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element = 131.1 kB/token>
    >>> print(derivation.latex())
    \\kappa = 2 L H_{kv} d_h b_{kv}
    >>> derivation.steps[-1].substituted.text, derivation.result.text()
    ('2*32*8*128*2 byte', '131.1 kB/token')

    Attributes:
        name, symbol: the quantity derived.
        answers: the case it is derived in.
        steps: one step for every quantity on the way, deepest first, the quantity itself last.
        limits, first_order: its form as an input vanishes or grows, and with the weights alone.
        elasticities, binding_arms: its sensitivity to each input, and the arms of maxima that the sensitivities hold on.
    """

    def __init__(self, name: str, answers: Answers) -> None:
        self.name, self.answers = name, answers
        self._theory = answers.case.theory
        self.symbol = self._theory.symbol(name)

    @property
    def formula(self) -> Tree:
        """The definition's tree: the formula set in the case, or the declared one; an input is itself."""
        return self.answers.case.explains(self.name)

    @cached_property
    def expansion(self) -> Tree:
        """The tree over inputs alone."""
        return self.formula if _is_number(self.formula) else self.answers.case.expanded(Name(self.name))

    @property
    def definition(self) -> Any:
        """The definition as a SymPy expression."""
        return self._sympy(self.formula)

    @property
    def expanded(self) -> Any:
        """The expansion to inputs as a SymPy expression."""
        return self._sympy(self.expansion)

    def _sympy(self, tree: Tree) -> Any:
        from symroof.analysis.expressions import in_sympy

        return in_sympy(tree, self.answers)

    def latex(self) -> str:
        """The definition as LaTeX; an expression without a name is itself."""
        formula = latex(self.formula, self._theory.latex)
        return formula if isinstance(self.name, Unnamed) else f"{self._theory.latex(self.name)} = {formula}"

    def __repr__(self) -> str:
        value = f" = {self.result.text()}" if self.result else ""
        return f"<{self.name}{'' if isinstance(self.name, Unnamed) else f' = {text(self.formula)}'}{value}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def result(self) -> Result | None:
        """The value with range and flags, or None where an input is missing."""
        return self.answers.get(self.name)

    @cached_property
    def why_unknown(self) -> str:
        """Why there is no value; empty where there is one."""
        return self.answers.why_unknown(self.name)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """One line for every quantity on the way, deepest first, this one last."""
        order: dict[str, None] = {}
        self._visit(self.name, order)
        return tuple(step_of(name, self.answers) for name in order)

    def _visit(self, name: str, order: dict[str, None]) -> None:
        if name in order:
            return
        formula = self.answers.case.explains(name)
        if formula == Name(name) or _is_number(formula):
            return
        for inner in names(formula):
            self._visit(inner, order)
        order[name] = None

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The form of the quantity as one input vanishes or grows; see :func:`symroof.analysis.asymptotics.limit_forms`.

        >>> from symroof.analysis.study import Study
        >>> limit = Study(assume={"detail": "attention"}).derive("decode_intensity").limits[-1]
        >>> limit.says, text(limit.tree)
        ('as the batch grows', '(attention_flops_per_pair*context + 2*params)/(kv_bytes_per_token*context)')
        """
        return limit_forms(self.name, self.answers)

    @cached_property
    def first_order(self) -> FirstOrder | None:
        """The quantity counted with the weights alone, where that differs and is short."""
        return first_order(self.name, self.answers)

    @cached_property
    def elasticities(self) -> tuple[Elasticity, ...]:
        """Per cent that the quantity moves when one input moves one per cent; see :func:`symroof.analysis.sensitivity.elasticities`.

        >>> from symroof.analysis.study import Study
        >>> elasticities = Study(hardware="h100-sxm").derive("ridge_point").elasticities
        >>> [(e.symbol.name, str(e.value)) for e in elasticities]
        [('peak_flops', '1'), ('mem_bandwidth', '-1')]
        """
        return elasticities(self.name, self.answers)

    @cached_property
    def binding_arms(self) -> tuple[str, ...]:
        """The arms of maxima that the value stands on: the compute or the memory time of a step."""
        return binding_arms(self.name, self.answers) if self.result else ()

    def as_json(self) -> dict[str, Any]:
        """The form of the contract, ``symroof/derive/1``."""
        own = step_of(self.name, self.answers)
        entry: dict[str, Any] = {
            "schema": "symroof/derive/1",
            "quantity": self.name,
            "unit": self.symbol.unit,
            "meaning": self.symbol.meaning,
            "definition": self._both(self.formula),
            "expanded": self._both(self.expansion),
            "substituted": {"text": own.substituted.text, "latex": own.substituted.latex},
        }
        entry |= self.result.as_json() if self.result else {"value": None, "reason": self.why_unknown}
        entry["steps"] = [self._step_json(step) for step in self.steps]
        spell = self._theory.latex
        entry["limits"] = [limit.as_json(spell) for limit in self.limits]
        entry["first_order"] = self.first_order.as_json(spell) if self.first_order else None
        entry["elasticities"] = [elasticity.as_json(spell) for elasticity in self.elasticities]
        entry["binding_arms"] = list(self.binding_arms)
        return entry | self.ledger()

    def ledger(self) -> dict[str, Any]:
        """The inputs and assumptions behind the value: the inputs used with their sources, every switch, and the defaults among them."""
        return self.answers.ledger((self.name,), everything=False)

    def _step_json(self, step: Step) -> dict[str, Any]:
        entry = {
            "quantity": step.symbol.name,
            "definition": self._both(step.formula),
            "substituted": {"text": step.substituted.text, "latex": step.substituted.latex},
        }
        return entry | (step.result.as_json() if step.result else {"value": None, "unit": step.symbol.unit, "reason": step.why_unknown})

    def _both(self, tree: Tree) -> dict[str, str]:
        return {"text": text(tree), "latex": latex(tree, self._theory.latex)}


def step_of(name: str, answers: Answers, with_ranges: bool = False) -> Step:
    """One line: formula, substituted formula, value. ``with_ranges``, as reviews have it, shows the range of each number, and a unit that all
    numbers share at the value alone."""
    formula = answers.case.explains(name)
    theory = answers.case.theory
    put: dict[str, Written] = {}
    settled = _settled(formula, answers, put)
    put |= {
        node.name: _shown(node.name, answers, with_ranges) for node in walk(settled) if isinstance(node, Name) and node.name not in put and node.name != name
    }
    result = answers.get(name)
    if with_ranges and result is not None:
        put |= _in_one_unit(settled, result, answers)
    return Step(theory.symbol(name), formula, Substituted(settled, put, theory.latex), result, answers.why_unknown(name) if result is None else "")


def _settled(tree: Tree, answers: Answers, put: dict[str, Written], moving: frozenset[str] = frozenset()) -> Tree:
    """The formula with quantities at changed inputs substituted by value; under a sum they depend on its index and stay."""
    if isinstance(tree, Total):
        moving |= {tree.index}
    if isinstance(tree, At) and not any(mentions(value, index) for _, value in tree.changes for index in moving):
        try:
            value = answers.case.evaluate(tree)
        except NoValue:
            return tree
        placeholder = f"at{len(put)}"
        put[placeholder] = _written(value, answers.case.theory.symbol(tree.name))
        return Name(placeholder)
    return rebuild(tree, lambda child: _settled(child, answers, put, moving))


def _is_number(tree: Tree) -> bool:
    return not names(tree) and not any(isinstance(node, At) for node in walk(tree))


def _shown(name: str, answers: Answers, with_ranges: bool = False) -> Written:
    """A name's value as it stands in a substituted line; the name itself where it is not known."""
    theory = answers.case.theory
    if name == STEP_INDEX.name:
        return Written.name(name, STEP_INDEX.latex)
    try:
        value = answers.case.value(name)
    except (NoValue, LookupError):
        return Written.name(name, theory.latex(name))
    written = _written(value, theory.symbol(name))
    result = answers.get(name) if with_ranges else None
    if result is not None and result.ranged:
        span = f"({result.span()})"
        return Written(written.text, rf"{written.latex}\,\text{{{span}}}", f"{written.mathml}{THIN}{words(span)}")
    return written


def _in_one_unit(tree: Tree, result: Result, answers: Answers) -> dict[str, Written]:
    """The numbers of a sum, or of the largest of several, in the unit that their result is printed in; nothing where they have other units."""
    own, theory = result.symbol, answers.case.theory
    spoken = list(dict.fromkeys(node.name for node in walk(tree) if isinstance(node, Name)))
    alike = all(isinstance(node, (Name, Neg, Add)) or (isinstance(node, Call) and node.function in ("max", "min")) for node in walk(tree))
    if not alike or len(spoken) < 2 or not isinstance(result.value, Fraction) or not result.value or own.counted or own.written_in:
        return {}
    values = {name: answers.get(name) for name in spoken if theory.knows(name) and theory.symbol(name).unit == own.unit}
    number, _ = scaled(result.value, own.unit)
    if len(values) < len(spoken) or not own.unit:
        return {}
    return {name: _bare(value, result.value / number) for name, value in values.items() if value is not None and isinstance(value.value, Fraction)}


def _bare(result: Result, size: Fraction) -> Written:
    """A value as a number of units of a size, with its range."""
    digits = significant(Fraction(result.value) / size).replace(",", "")
    if not result.ranged or result.low is None or result.high is None:
        return Written(digits, digits, measured(digits, ""))
    span = f"({significant(result.low / size)} to {significant(result.high / size)})"
    return Written(digits, rf"{digits}\,\text{{{span}}}", f"{measured(digits, '')}{THIN}{words(span)}")


def _written(value: Any, symbol: Symbol) -> Written:
    """A value as it stands in a formula."""
    if not isinstance(value, Fraction):
        return Written(str(value), rf"\text{{{value}}}", words(str(value)))
    if symbol.unit in ("", "token", "request", "device") or symbol.counted:
        plain = significant(value, 6 if value.denominator != 1 else 12).replace(",", "")
        return Written(plain, plain, measured(plain, ""))
    number, unit = scaled(value, symbol.unit)
    digits, spelled = significant(number).replace(",", ""), unit.replace("%", r"\%").replace(" ", r"\ ").replace("µ", r"\mu ")
    return Written(readable(value, symbol.unit), rf"{digits}\,\mathrm{{{spelled}}}", measured(digits, unit))
