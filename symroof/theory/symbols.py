"""Inputs, and what every name has: LaTeX, unit, meaning, and possibly a default. The entries are in ``specs/theories/inference``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from symroof.symbolic.expressions import DerivativeName, Expr, declare_order, declare_signed
from symroof.symbolic.printing import exact_text, text
from symroof.theory.theory_files import column, section
from symroof.units import Dimension, combine, describe, parse_quantity, parse_unit


@dataclass(frozen=True)
class Symbol:
    """The declaration of an input or a quantity.

    Attributes:
        name: the one name used in files, formulas, JSON and Python.
        latex: its spelling in formulas.
        unit: its base unit; the empty text is a plain number.
        meaning: one line.
        default: the value if a case sets none; it is listed as defaulted.
        aliases: other names accepted on input, never printed.
        counted: whether it counts things, so that thresholds are rounded to integers.
        written_in: the unit it is usually written in, if that is not the base unit.
        from_zero: whether it may be zero; an input whose default is 0 always may.
        signed: whether it may be negative; all other numbers are positive or zero.
        least, most: formulas of its bounds; without them every positive value is valid.
        noun: the word for what it counts, if that is not its unit.
        negligible: a value below which texts write 0, since estimates are meaningless there.
        digits: the most significant digits that texts write, where a value is known no better.
    """

    name: str
    latex: str
    unit: str
    meaning: str
    default: str | None = None
    aliases: tuple[str, ...] = ()
    counted: bool = False
    written_in: str | None = None
    from_zero: bool = False
    signed: bool = False
    least: str | None = None
    most: str | None = None
    noun: str | None = None
    negligible: str | None = None
    digits: int | None = None

    @property
    def display_unit(self) -> str:
        """The unit as texts name it: replicas are not devices, although their dimension is."""
        return self.noun or self.unit

    @property
    def dimension(self) -> Dimension:
        return parse_unit(self.unit).dimension

    @property
    def may_vanish(self) -> bool:
        """Whether it may be zero: by its declaration, or because its default is."""
        return self.from_zero or (
            self.default is not None and parse_quantity(self.default).value == 0
        )


def default_latex(name: str) -> str:
    r"""The LaTeX of a name that declares none.

    >>> default_latex("wasted_prefill"), default_latex("j")
    ('\\mathrm{wasted\\_prefill}', 'j')
    """
    return name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"


GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|varkappa|lambda|mu|nu|xi|pi|varpi|rho"
    "|varrho|sigma|varsigma|tau|upsilon|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega|ell"
)
LETTER = rf"(?:\\mathrm\{{(?:[A-Za-z0-9,/ ]|\\_)+\}}|\\(?:{GREEK})(?![A-Za-z])|[A-Za-z0-9,/])"
SCRIPT = rf"(?:{LETTER}|\{{(?:\s*{LETTER}(?:_{LETTER})?)+\s*\}})"
SPELLED = re.compile(
    rf"(?:\s*{LETTER}(?:_{SCRIPT}(?:\^{SCRIPT})?|\^{SCRIPT}(?:_{SCRIPT})?)?)+\s*", re.ASCII
)
"""How a name is spelled: letters, digits and Greek, each with a script below and one above."""
LONGEST_LATEX = 64


def is_spelling(spelled: str) -> bool:
    r"""Whether LaTeX is how a name may be spelled, and nothing else that LaTeX could do.

    >>> [is_spelling(latex) for latex in (r"t_{\mathrm{prefill}}", r"\beta_l", r"\input{x}", "x_a_b", "{")]
    [True, True, False, False, False]
    """
    return len(spelled) <= LONGEST_LATEX and SPELLED.fullmatch(spelled) is not None


def declared_symbol(name: str, fields: Mapping[str, Any]) -> Symbol:
    """An input from its entry in a theory file; the default is a number in the base unit.

    >>> declared_symbol("rate", {"unit": "USD/hour", "means": "what it costs", "default": 0}).unit
    'USD/s'
    """
    return Symbol(name, **common_fields(name, fields))


def common_fields(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that entries of inputs and of quantities share, as a :class:`Symbol` has them."""
    unit, written_in = base_unit(fields.get("unit", ""))
    default, sign = fields.get("default"), fields.get("sign")
    declare_order((name,))
    if sign == "real":
        declare_signed(name)
    return {
        "latex": fields.get("latex") or default_latex(name),
        "unit": unit,
        "meaning": fields["means"],
        "default": None if default is None else exact_text(default),
        "aliases": tuple(fields.get("aliases", ())),
        "counted": fields.get("counts", False),
        "written_in": written_in,
        "from_zero": sign == "nonnegative",
        "signed": sign == "real",
        "least": _bound(fields.get("least")),
        "most": _bound(fields.get("most")),
        "noun": fields.get("noun"),
        "negligible": fields.get("negligible"),
        "digits": fields.get("digits"),
    }


def _bound(formula: Any) -> str | None:
    """A bound as a formula; a bare number is a formula too."""
    return None if formula is None else str(formula)


@lru_cache(maxsize=256)
def base_unit(written: str) -> tuple[str, str | None]:
    """The base unit of a unit, and the unit as written if it differs.

    >>> base_unit("hour"), base_unit("byte/s")
    (('s', 'hour'), ('byte/s', None))
    """
    unit = parse_unit(written)
    return (
        (unit.text, None)
        if unit.size == 1
        else (describe(unit.dimension) if unit.dimension else "", unit.text)
    )


INPUT_ENTRIES = tuple(section("inputs"))
GROUPS: dict[str, tuple[Symbol, ...]] = {
    part: tuple(declared_symbol(entry.name, entry.fields) for entry in entries)
    for part, entries in groupby(INPUT_ENTRIES, key=lambda entry: entry.part)
}
"""The inputs by the part of the theory that declares them."""
ARCHITECTURE, PARALLEL = GROUPS["architecture"], GROUPS["parallel"]
INPUTS: dict[str, Symbol] = {symbol.name: symbol for group in GROUPS.values() for symbol in group}
ALIASES: dict[str, str] = {
    alias: entry.name
    for name in ("inputs", "define")
    for entry in section(name)
    for alias in entry.fields.get("aliases", ())
}
"""Other names that are accepted on input, of inputs and of quantities."""
SHARES = frozenset(symbol.name for symbol in INPUTS.values() if symbol.most == "1")
"""Inputs that lie between 0 and 1."""
STEP_INDEX = Symbol("step", "j", "", "number of a decode step", counted=True)

TARGET_SYMBOLS: dict[str, str] = column("targets", "input")
TARGET_WORDS: dict[str, str] = column("targets", "short")
"""The input of each target, by the option that sets it."""


class ExpressionName(str):
    """A formula used as a name: its text, with the tree. It can be computed like a named quantity.

    >>> from symroof.symbolic.reading import parse
    >>> ExpressionName.of(parse("ttft/itl")), base_name(ExpressionName.of(parse("0.5*itl")))
    ('ttft/itl', 'itl/2')
    """

    tree: Expr

    @classmethod
    def of(cls, tree: Expr) -> ExpressionName:
        made = cls(text(tree))
        made.tree = tree
        return made


def named(tree: Expr) -> str:
    """The name of a formula that is just a name, or else the formula used as a name.

    >>> from symroof.symbolic.reading import parse
    >>> named(parse("itl")), named(parse("2*itl")), isinstance(named(parse("itl")), ExpressionName)
    ('itl', '2*itl', False)
    """
    return tree.name if tree.is_Symbol else ExpressionName.of(tree)


UNDECLARED_NAMES = (ExpressionName, DerivativeName)
"""Types of names that need no declaration."""


def base_name(name: str) -> str:
    """The name without its kind of layer: ``n_heads`` for ``n_heads.local``."""
    return name if isinstance(name, UNDECLARED_NAMES) else name.partition(".")[0]


def canonical(name: str) -> str:
    """The printed name of a name or an alias."""
    return ALIASES.get(name, name)


def slope_symbol(name: DerivativeName, quantity: Symbol, by: Symbol) -> Symbol:
    r"""The declaration of a derivative, from those of the quantity and the input.

    >>> slope_symbol(DerivativeName.of("prompt", "batch"), INPUTS["prompt"], INPUTS["batch"]).latex
    '\\frac{\\partial S}{\\partial B}'
    """
    unit = combine((quantity.dimension, 1), (by.dimension, -1))
    latex = rf"\frac{{\partial {quantity.latex}}}{{\partial {by.latex}}}"
    return Symbol(
        name,
        latex,
        describe(unit) if unit else "",
        f"derivative of {quantity.name} by {by.name}",
        signed=True,
    )


def of_kind(symbol: Symbol, kind: str) -> Symbol:
    """The symbol of one kind of layer: ``H_{kv}`` of the local layers is ``H_{kv, local}``."""
    escaped = kind.replace("_", r"\_")
    spelled, written = symbol.latex, rf"\mathrm{{{escaped}}}"
    if spelled.endswith("}") and "_{" in spelled:
        latex = f"{spelled[:-1]}, {written}}}"
    elif "_" in spelled:
        latex = f"{spelled.replace('_', '_{', 1)}, {written}}}"
    else:
        latex = f"{spelled}_{{{written}}}"
    return replace(
        symbol, name=f"{symbol.name}.{kind}", latex=latex, meaning=f"{symbol.meaning}, {kind}"
    )
