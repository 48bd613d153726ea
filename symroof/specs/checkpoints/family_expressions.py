"""The small expressions of ``families.yaml``: what a value of a layer is, over the fields of a ``config.json``.

``hidden_size`` is a whole number that must be there, ``head_dim?`` one that may be absent, ``linear_attn_config.head_dim``
one of an object inside; ``i`` is the number of the layer, the first being 0, ``n`` that of all. Beside arithmetic,
comparisons, ``a or b`` and ``a if b else c`` there are the functions of :mod:`family_fields` and :mod:`family_rules`. Only the table's own text is
read, by the syntax tree of Python, of which the few kinds of nodes below are known.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from symroof.specs.checkpoints.config_fields import Config

WORDS = frozenset(
    [
        "full",
        "window",
        "chunk",
        "linear",
        "conv",
        "hybrid",
        "index",
        "cross",
        "none",
        "dense",
        "sparse",
        "head",
        "head_bias",
        "layer",
        "rms",
        "gated",
        "plain",
        "moe",
        "gqa",
        "chunked",
        "mla",
        "compressed",
        "shared",
        "mamba",
        "mamba2",
        "rg_lru",
        "rwkv4",
        "rwkv7",
        "gated_delta",
        "kimi_delta",
    ]
)
"""Words that mean themselves: kinds of layers, of blocks and of norms."""
OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several,
}
OPTIONAL = re.compile(r"([A-Za-z_][\w.]*)\?")


@dataclass(frozen=True)
class Term:
    """A part of an expression.

    Attributes:
        text: as it is written.
        read: its value for a config and the number of a layer.
        path: the field that it names, inside the objects before it; empty where it is no field.
    """

    text: str
    read: Callable[[Config, int], Any]
    path: tuple[str, ...] = ()

    def field(self, c: Config) -> tuple[Config, str]:
        """The object that holds the field, and the field's name."""
        for name in self.path[:-1]:
            c = c.inside(name)
        return c, self.path[-1]

    def whole(self, c: Config, i: int) -> int:
        inside, name = self.field(c)
        return inside.whole(name)


Function = Callable[..., Any]
"""What a call means: a function of the config, the number of the layer, and the terms between the parentheses."""


class Expressions:
    """Reads expressions with the functions and the named expressions that they may use.

    >>> read = Expressions({"maybe": lambda c, i, term: term.field(c)[0].maybe(term.path[-1])}, {})
    >>> read("window if (i + 1) % 4 else full").read(None, 3)
    'full'
    """

    def __init__(self, functions: Mapping[str, Function], named: Mapping[str, str]) -> None:
        self.functions, self.named = functions, named
        self.read = lru_cache(maxsize=None)(self._read)

    def __call__(self, text: str) -> Term:
        """The expression of a text.

        Raises:
            ValueError: it is none, or has a part that is not known.
        """
        return self.read(text)

    def _read(self, text: str) -> Term:
        try:
            return self.term(ast.parse(OPTIONAL.sub(r"maybe(\1)", text), mode="eval").body)
        except SyntaxError:
            raise ValueError(f"is no expression: {text}") from None

    def term(self, node: ast.expr) -> Term:
        """A part of the tree as a term; those that may be left out are read when they are needed."""
        text = ast.unparse(node)
        match node:
            case ast.Constant(value):
                return Term(text, lambda c, i: value)
            case ast.Name("i"):
                return Term(text, lambda c, i: i)
            case ast.Name("n"):
                return Term(text, lambda c, i: c.n_layers)
            case ast.Name(word) if word in WORDS:
                return Term(text, lambda c, i: word)
            case ast.Name(name) if name in self.named:
                return self(self.named[name])
            case ast.Name() | ast.Attribute():
                field = Term(text, lambda c, i: None, tuple(text.split(".")))
                return Term(text, field.whole, field.path)
            case ast.Tuple(elts=parts):
                several = [self.term(part) for part in parts]
                return Term(text, lambda c, i: [each.read(c, i) for each in several])
            case ast.UnaryOp(op=ast.Not() | ast.USub() as sign, operand=operand):
                inner = self.term(operand)
                negative = isinstance(sign, ast.USub)
                return Term(
                    text, lambda c, i: -inner.read(c, i) if negative else not inner.read(c, i)
                )
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
                if type(op) in OPERATORS:
                    return self.operation(text, OPERATORS[type(op)], left, right)
            case ast.BoolOp(op, parts):
                return self.choice(text, isinstance(op, ast.Or), parts)
            case ast.IfExp(test, body, orelse):
                asked, there, otherwise = map(self.term, (test, body, orelse))
                return Term(
                    text, lambda c, i: (there if asked.read(c, i) else otherwise).read(c, i)
                )
            case ast.Call(ast.Name(name), args) if name in self.functions:
                function, terms = self.functions[name], [self.term(each) for each in args]
                return Term(text, lambda c, i: function(c, i, *terms))
        raise ValueError(f"is not known in an expression: {text}")

    def operation(
        self, text: str, function: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr
    ) -> Term:
        one, other = self.term(left), self.term(right)
        return Term(text, lambda c, i: function(one.read(c, i), other.read(c, i)))

    def choice(self, text: str, first_true: bool, parts: list[ast.expr]) -> Term:
        """``a or b``: the first that is something; ``a and b``: the first that is nothing; else the last."""
        *first, last = (self.term(part) for part in parts)

        def read(c: Config, i: int) -> Any:
            for each in first:
                if bool(value := each.read(c, i)) == first_true:
                    return value
            return last.read(c, i)

        return Term(text, read)
