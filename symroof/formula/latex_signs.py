r"""The smallest things of a formula in LaTeX: letters with their labels as names, numbers with their powers of ten and units.

>>> sign_name(r"t^{c}_{\mathrm{prefill}}"), sign_name(r"b_{kv}"), sign_name(r"\mathrm{KV}_{max}")
('t_c_prefill', 'b_kv', 'KV_max')
"""

import re
from collections.abc import Set
from fractions import Fraction
from functools import lru_cache

from symroof.formula.latex_tokens import latex_tokens
from symroof.formula.parse import LARGEST_POWER_OF_TEN, FormulaError, Reader, Token
from symroof.formula.tree import Num
from symroof.units import UNITS, parse_unit

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,47}(?:\.[A-Za-z][A-Za-z0-9_]{0,31}){0,2}")
DEEPEST_LABEL = 8


@lru_cache(maxsize=1024)
def sign_name(latex: str) -> str:
    """The name a sign is read as, its superscript a label too."""
    reader = SignReader(latex_tokens(latex), frozenset())
    name = reader.sign(every_label=True)
    reader.expect("end", "the end of the sign")
    return name


class SignReader(Reader):
    """Names and numbers, over the bounds of the plain grammar; ``known`` are the names a superscript may belong to."""

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
            raise FormulaError(f"{token.text[:40]!r} is neither a name nor a unit" if token.text else "a name is missing", token.column)
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
        joined = "_".join(part for part in ((name.partition("_")[0], label, name.partition("_")[2]) if after else (name, label, below)) if part)
        several = len(label) > 1 or below or after
        if every_label or (several and joined in self.known) or (below and label.isalpha() and not after):
            self.position = start + 1
            return self.label(0)
        self.position = start
        return ""

    def label(self, depth: int) -> str:
        """The label of a script, letters and digits only; a comma parts a name from its kind of layer."""
        token = self.advance()
        if token.kind == "number" and len(token.text) > 1 and depth == 0:
            raise FormulaError(f"LaTeX takes only the first digit of {token.text[:12]}; put it in braces", token.column)
        if token.kind in ("letter", "text", "number") or token.text in ("max", "min"):
            written = re.sub(r"[ /.\-]", "", token.text)
            if re.fullmatch(r"[A-Za-z0-9_]+", written):
                return written
        if token.text == "{" and depth < DEEPEST_LABEL:
            joined = ""
            while not self.at("}") and self.token.kind != "end":
                joined += "." if self.take(",") else "" if self.take("/", "-") else self.label(depth + 1)
            self.expect("}", "'}'")
            if joined:
                return joined
        raise FormulaError(r"a subscript is a label of letters and digits, such as _{kv}", token.column)

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
            raise FormulaError("two scripts on one sign; put what is raised in brackets", self.token.column)
        return Fraction(10) ** (exponent if times_ten else exponent - 1)

    def unit(self) -> str:
        r"""The unit right after a number: ``\,\mathrm{TB/s}``, ``\%``; a text that is no unit is not consumed."""
        if self.take("%"):
            return "%"
        token = self.token
        if token.kind == "text" and token.text == "B":
            raise FormulaError(r"write \text{byte}: B alone is the batch, or a billion", token.column)
        if token.kind != "text" or not is_unit(token.text):
            return ""
        self.position += 1
        written = token.text
        while self.at("/") and self.under_a_unit(self._next()):
            written += "/" + self._next().text
            self.position += 2
        return written

    def under_a_unit(self, token: Token) -> bool:
        return token.text in UNITS and token.text != "B" and (token.kind == "text" or (token.kind == "letter" and token.text not in self.known))


def is_unit(written: str) -> bool:
    return all(part.strip() in UNITS for part in written.split("/"))
