r"""Reads formulas pasted from notes and papers: a bounded subset of LaTeX.

``\frac``, ``\cdot``, ``\times``, ``\max``, ``\lceil``, ``\sqrt``, ``\log_2``, ``\ln`` (and ``\log``, which is the same), ``\pi``, ``\sum``, powers, letters side by side as a
product, units in ``\text{}`` after a number, one relation. A letter and its subscript form one name: ``H_{kv}`` is
``H_kv``; :func:`symroof.theory.spellings.resolved` gives the name it stands for. A formula that two readers would read differently,
such as ``a/b c``, is an error.

>>> from symroof.formula.text import text
>>> text(parse_latex(r"\kappa = 2 L H_{kv} d_h b_{\mathrm{kv}}"))
'kappa = 2*L*H_kv*d_h*b_kv'
>>> text(parse_latex(r"\max\left(\frac{\Phi}{\eta_c F}, \frac{W}{3.35 \times 10^{12}\,\mathrm{byte/s}}\right)"))
'max(Phi/(eta_c*F), W/(3.35e12 byte/s))'
"""

import re
from collections.abc import Set
from fractions import Fraction
from functools import lru_cache

from symroof.formula import build
from symroof.formula.latex_tokens import UPRIGHT, latex_tokens
from symroof.formula.parse import LARGEST_POWER_OF_TEN, FormulaError, Reader, Token, check_arguments
from symroof.formula.tree import PI, ArgMax, Expr, Name, Num, QuantityAt, Sum
from symroof.units import UNITS, parse_unit

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,47}(?:\.[A-Za-z][A-Za-z0-9_]{0,31}){0,2}")
DEEPEST_LABEL = 8
CLOSING = {"(": ")", "[": "]", r"\{": r"\}", "{": "}", "lceil": "rceil", "lfloor": "rfloor"}
ROUNDED = {"lceil": "ceil", "lfloor": "floor"}
FRACTIONS = frozenset({"frac", "tfrac", "dfrac", "cfrac"})


@lru_cache(maxsize=4096)
def parse_latex(source: str, known: frozenset[str] = frozenset()) -> Expr:
    r"""Read a formula in LaTeX; ``known`` names are read whole where they stand without ``\mathrm{}``, others letter by letter.

    >>> from symroof.formula.text import text
    >>> text(parse_latex(r"2 L d_h \cdot tp")), text(parse_latex(r"2 L d_h \cdot tp", frozenset({"tp"})))
    ('2*L*d_h*t*p', '2*L*d_h*tp')
    >>> parse_latex(r"\fracc{a}{b}")
    Traceback (most recent call last):
        ...
    symroof.formula.parse.FormulaError: column 1: unknown command \fracc; did you mean \frac?

    Raises:
        FormulaError: anything that is not in the subset, with its column.
    """
    return _LatexReader(latex_tokens(source, known), known).whole()


@lru_cache(maxsize=1024)
def sign_name(latex: str) -> str:
    r"""The name that a LaTeX symbol is read as; a superscript is part of the name.

    >>> sign_name(r"t^{c}_{\mathrm{prefill}}"), sign_name(r"b_{kv}"), sign_name(r"\mathrm{KV}_{max}")
    ('t_c_prefill', 'b_kv', 'KV_max')
    """
    reader = _LatexReader(latex_tokens(latex), frozenset())
    name = reader.sign(every_label=True)
    reader.expect("end", "the end of the sign")
    return name


class _LatexReader(Reader):
    """The grammar of LaTeX, within the limits of the plain grammar; ``known`` are the names that a superscript may belong to."""

    def __init__(self, tokens: list[Token], known: Set[str]) -> None:
        super().__init__(tokens)
        self.known = known

    def at(self, *texts: str) -> bool:
        return self.token.kind in ("op", "command") and self.token.text in texts

    def advance(self) -> Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def sign(self, every_label: bool = False) -> str:
        """A letter or upright word with its labels as one name; a superscript is a label only where that names something."""
        token = self.advance()
        if token.kind not in ("letter", "text") or not NAME.fullmatch(token.text):
            raise FormulaError(
                f"{token.text[:40]!r} is neither a name nor a unit"
                if token.text
                else "a name is missing",
                token.column,
            )
        above = self.superscript(token.text, every_label) if self.at("^") else ""
        below = self.label(0) if self.take("_") else ""
        if below and not above and self.at("^"):
            above = self.superscript(f"{token.text}_{below}", every_label, after=True)
        name = "_".join(part for part in (token.text, above, below) if part)
        if not NAME.fullmatch(name):
            raise FormulaError(f"{name[:60]!r} is too long for a name", token.column)
        return name

    def superscript(self, name: str, every_label: bool, after: bool = False) -> str:
        """The superscript as a label, or nothing where it is a power and stays."""
        start = self.position
        self.position += 1
        try:
            label = self.label(0)
            below = self.label(0) if not after and self.take("_") else ""
        except FormulaError:
            self.position = start
            return ""
        joined = "_".join(
            part
            for part in (
                (name.partition("_")[0], label, name.partition("_")[2])
                if after
                else (name, label, below)
            )
            if part
        )
        several = len(label) > 1 or below or after
        if (
            every_label
            or (several and joined in self.known)
            or (below and label.isalpha() and not after)
        ):
            self.position = start + 1
            return self.label(0)
        self.position = start
        return ""

    def label(self, depth: int) -> str:
        """The label of a script, letters and digits only; a comma parts a name from its kind of layer."""
        token = self.advance()
        if token.kind == "number" and len(token.text) > 1 and depth == 0:
            raise FormulaError(
                f"LaTeX takes only the first digit of {token.text[:12]}; put it in braces",
                token.column,
            )
        if token.kind in ("letter", "text", "number") or token.text in ("max", "min"):
            written = re.sub(r"[ /.\-]", "", token.text)
            if re.fullmatch(r"[A-Za-z0-9_]+", written):
                return written
        if token.text == "{" and depth < DEEPEST_LABEL:
            joined = ""
            while not self.at("}") and self.token.kind != "end":
                joined += (
                    "." if self.take(",") else "" if self.take("/", "-") else self.label(depth + 1)
                )
            self.expect("}", "'}'")
            if joined:
                return joined
        raise FormulaError(
            r"a subscript is a label of letters and digits, such as _{kv}", token.column
        )

    def number(self, token: Token) -> Num:
        """A number, its power of ten, and the unit that binds to them."""
        value = self.plain_number(token) * self.power_of_ten(token)
        unit = parse_unit(self.unit())
        self.bounded(Num(value), token)
        return Num(value * unit.size, unit.dimension)

    def power_of_ten(self, token: Token) -> Fraction:
        r"""``\times 10^{12}`` after a number belongs to it, so that a unit behind it does too."""
        ahead = self.tokens[self.position : self.position + 2]
        times_ten = self.at("*") and ahead[1].kind == "number" and ahead[1].text == "10"
        start = self.position + (2 if times_ten else 0)
        match [(part.kind, part.text) for part in self.tokens[start : start + 5]]:
            case [(_, "^"), (_, "{"), (_, "-"), ("number", digits), (_, "}")] if digits.isdigit():
                exponent, length = -int(digits), 5
            case [(_, "^"), (_, "{"), ("number", digits), (_, "}"), *_] if digits.isdigit():
                exponent, length = int(digits), 4
            case [(_, "^"), ("number", digits), *_] if len(digits) == 1:
                exponent, length = int(digits), 2
            case _:
                return Fraction(1)
        if not (times_ten or token.text == "10"):
            return Fraction(1)
        if abs(exponent) > LARGEST_POWER_OF_TEN:
            raise FormulaError("the number this makes is too large", token.column)
        self.position = start + length
        if self.at("^"):
            raise FormulaError(
                "two scripts on one symbol; put the base of the power in brackets",
                self.token.column,
            )
        return Fraction(10) ** (exponent if times_ten else exponent - 1)

    def unit(self) -> str:
        r"""The unit right after a number: ``\,\mathrm{TB/s}``, ``\%``; a text that is no unit is not consumed."""
        if self.take("%"):
            return "%"
        token = self.token
        if token.kind == "text" and token.text == "B":
            raise FormulaError(
                r"write \text{byte}: B alone is the batch, or a billion", token.column
            )
        if token.kind != "text" or not is_unit(token.text):
            return ""
        self.position += 1
        written = token.text
        while self.at("/") and self.under_a_unit(self._next()):
            written += "/" + self._next().text
            self.position += 2
        return written

    def under_a_unit(self, token: Token) -> bool:
        return (
            token.text in UNITS
            and token.text != "B"
            and (token.kind == "text" or (token.kind == "letter" and token.text not in self.known))
        )

    # ------------------------------------------------------------------------------------------------------ products

    def product(self) -> Expr:
        tree, _ = self.signed_chain()
        while operator := self.take("*", "/"):
            right, factors = self.signed_chain()
            if operator.text == "*":
                tree = self.bounded(build.mul(tree, right), operator)
            elif factors > 1:
                raise FormulaError(
                    r"ambiguous division: write \frac{..}{..}, or brackets", operator.column
                )
            else:
                tree = self.quotient(tree, right, operator)
        return tree

    def signed_chain(self) -> tuple[Expr, int]:
        """A run of factors side by side, and how many they are."""
        negative = False
        while operator := self.take("-", "+"):
            negative ^= operator.text == "-"
        first = self.token
        factors = [self.power()]
        while self.begins_factor():
            if self.token.kind == "number" and self.tokens[self.position - 1].kind == "number":
                raise FormulaError(
                    r"two numbers side by side; write \cdot between them, or 1{,}024",
                    self.token.column,
                )
            factors.append(self.power())
        tree = self.bounded(build.mul(*factors), first) if len(factors) > 1 else factors[0]
        return (build.neg(tree) if negative else tree), len(factors)

    def begins_factor(self) -> bool:
        return self.token.kind in ("number", "letter", "text", "command") or self.at(*CLOSING)

    def power(self) -> Expr:
        base = self.atom()
        operator = self.take("^", "**")
        if not operator:
            return base
        with self.deeper():
            exponent = self.argument() if operator.text == "^" else self.power()
        if self.at("^", "**", "_"):
            raise FormulaError(
                "two scripts on one symbol; put the base of the power in brackets",
                self.token.column,
            )
        return self.raised(base, exponent, operator)

    def argument(self) -> Expr:
        """The argument of a command or a script: a group in braces, or the one sign that follows."""
        token = self.token
        if self.at("{"):
            return self.group()
        if (
            token.kind == "number" and len(token.text) > 1
        ):  # \frac12: LaTeX takes one digit at a time
            if not token.text.isdigit() or self.tokens[self.position - 1].text == "^":
                raise FormulaError(
                    f"LaTeX takes only the first digit of {token.text[:12]}; put it in braces",
                    token.column,
                )
            self.tokens[self.position] = Token("number", token.text[1:], token.column + 1)
            return Num(Fraction(token.text[0]))
        if token.kind == "letter":
            return Name(self.advance().text)
        return Num(Fraction(self.advance().text)) if token.kind == "number" else self.atom()

    # --------------------------------------------------------------------------------------------------------- atoms

    def atom(self) -> Expr:
        token = self.token
        if token.kind == "number":
            return self.number(self.advance())
        if token.kind == "text" and (token.text in UPRIGHT or token.text == "argmax"):
            self.position += 1
            return self.named_call(token)
        if (
            token.kind == "text"
            and is_unit(token.text)
            and token.text not in self.known
            and token.text != "B"
        ):
            unit = parse_unit(self.unit())
            return Num(unit.size, unit.dimension)
        if token.kind in ("letter", "text"):
            name = self.sign()
            return self.changed(name) or (
                PI if name == PI.function and name not in self.known else Name(name)
            )
        if self.at(*CLOSING):
            return self.group()
        if token.kind == "command":
            self.position += 1
            with self.deeper():
                return self.command(token)
        raise self.unexpected("a number, a name or '('")

    def group(self) -> Expr:
        opening = self.advance()
        tree = self.sum()
        closing = CLOSING[opening.text]
        self.expect(
            closing,
            f"the {_shown(closing)} that closes {_shown(opening.text)} of column {opening.column}",
        )
        return build.call(ROUNDED[opening.text], tree) if opening.text in ROUNDED else tree

    def command(self, token: Token) -> Expr:
        match token.text:
            case text if text in FRACTIONS:
                over = self.argument()
                return self.quotient(over, self.argument(), token)
            case "sqrt":
                if self.at("["):
                    raise FormulaError("only square roots; write a power", self.token.column)
                return build.call("sqrt", self.argument())
            case "ln":
                return build.call("log", self.power())
            case "log":
                return self.logarithm(token)
            case "exp":
                return build.call("exp", self.power())
            case "sum":
                return self.total()
        return self.arms(token)

    def logarithm(self, token: Token) -> Expr:
        """To base 2 where that is written, natural without a base, as SymPy and most papers print it."""
        if not self.take("_"):
            return build.call("log", self.power())
        if self.label(0) != "2":
            raise FormulaError(r"only \log_2 and \ln", token.column)
        return build.call("log2", self.power())

    def arms(self, token: Token) -> Expr:
        """The arguments of a maximum or minimum, in any brackets."""
        if not self.at("(", "[", r"\{", "{"):
            raise FormulaError(rf"\{token.text} takes its arguments in brackets", self.token.column)
        braces = self.take("{")
        opening = self.take("(", "[", r"\{") or braces
        arms = [self.sum()]
        while self.take(","):
            arms.append(self.sum())
        check_arguments(token.text, len(arms), token.column)
        for bracket in (opening, braces if opening is not braces else None):
            if bracket:
                self.expect(CLOSING[bracket.text], f"',' or {_shown(CLOSING[bracket.text])}")
        return build.call(token.text, *arms)

    def named_call(self, token: Token) -> Expr:
        r"""A function written upright: ``\text{ceil}(x)``, ``\operatorname{arg\,max}(\text{compute: } x, ..)``."""
        with self.deeper():
            if token.text == "argmax":
                return self.largest()
            if token.text in ("max", "min", "of_largest"):
                return self.arms(token)
            if not self.at("(", "[", "{"):
                raise FormulaError(
                    f"{token.text} takes its argument in brackets", self.token.column
                )
            return build.call(token.text, self.group())

    def largest(self) -> Expr:
        self.expect("(", "'('")
        arms: list[tuple[str, Expr]] = []
        while not arms or self.take(","):
            label = self.token
            if label.kind != "text" or not label.text.endswith(":"):
                raise FormulaError(r"expected a label such as \text{compute: }", label.column)
            self.position += 1
            arms.append((label.text.removesuffix(":").strip(), self.sum()))
        self.expect(")", "',' or ')'")
        return ArgMax(tuple(arms))

    def total(self) -> Expr:
        r"""``\sum_{j=1}^{n}`` of the product that follows."""
        self.expect("_", "the index of the sum, such as _{j=1}")
        self.expect("{", "'{'")
        index = self.sign()
        self.expect("=", "'='")
        first = self.sum()
        self.expect("}", "'}'")
        self.expect("^", "the last value of the index, such as ^{n}")
        last = self.argument()
        return Sum(self.product(), index, first, last)

    def changed(self, name: str) -> Expr | None:
        r"""A quantity at changed inputs: ``\left. X \right\vert_{C = S + 1}`` or ``X(C = S + 1)``."""
        start = self.position
        if self.take("|"):
            self.expect("_", "'_'")
            self.expect("{", "'{'")
            return QuantityAt(name, self.changes("}"))
        if self.take("(") and self.token.kind in ("letter", "text"):
            try:
                self.sign()
                named = self.at("=")
            except FormulaError:
                named = False
            self.position = start + 1
            if named:
                return QuantityAt(name, self.changes(")"))
        self.position = start
        return None

    def changes(self, closing: str) -> tuple[tuple[str, Expr], ...]:
        changes: list[tuple[str, Expr]] = []
        while not changes or self.take(","):
            key = self.sign()
            self.expect("=", "'='")
            changes.append((key, self.sum()))
        self.expect(closing, f"',' or {closing!r}")
        return tuple(changes)


def is_unit(written: str) -> bool:
    return all(part.strip() in UNITS for part in written.split("/"))


def _shown(bracket: str) -> str:
    return rf"\{bracket}" if bracket.isalpha() else f"'{bracket}'"
