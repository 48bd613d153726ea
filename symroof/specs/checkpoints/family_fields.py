"""The small expressions of ``families.yaml`` and ``quantization.yaml``, and the functions that read a field in them.

They are written as Python's expressions are, over names that mean the fields of a file: ``hidden_size`` is a whole number that must be
there, ``head_dim?`` one that may be absent; ``i`` is the number of the layer, the first being 0, ``n`` that of all. Functions
take a field by its name in quotes, ``flag('attention_bias')``, one of an object inside as ``each('ffn_config.moe_top_k')``.
Only what stands in those two tables is read here; no text of a config ever is.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from symroof.specs.checkpoints.config_fields import Config

OPTIONAL = re.compile(r"([A-Za-z_][\w.]*)\?")
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Not: operator.not_,
    ast.In: lambda part, whole: part in whole,
    ast.USub: operator.neg,
    ast.LShift: operator.lshift,
}


@cache
def parsed(text: str) -> ast.expr:
    """An expression as a tree; a field with ``?`` is one that may be absent."""
    return ast.parse(OPTIONAL.sub(r"maybe('\1')", text), mode="eval").body


def value_of(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression of the tables over names, which are looked up when they are needed.

    >>> value_of("window if (i + 1) % 4 else full", {"i": 3, "full": "full"})
    'full'
    """
    return _value(parsed(text), names)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names[name]
        case ast.Tuple(parts):
            return tuple(_value(part, names) for part in parts)
        case ast.IfExp(condition, yes, no):
            return _value(yes if _value(condition, names) else no, names)
        case ast.BoolOp(kind, (first, *more)):
            found = _value(first, names)
            while more and bool(found) == isinstance(kind, ast.And):
                found = _value(more.pop(0), names)
            return found
        case ast.UnaryOp(kind, operand):
            return OPERATORS[type(kind)](_value(operand, names))
        case ast.BinOp(left, kind, right) | ast.Compare(left, [kind], [right]):
            return OPERATORS[type(kind)](_value(left, names), _value(right, names))
        case ast.Call(called, arguments):
            return _value(called, names)(*(_value(each, names) for each in arguments))
    raise AssertionError(f"a table of ours holds {ast.unparse(node)}")


FUNCTIONS: dict[str, Callable[..., Any]] = {"max": lambda c, i, *several: max(several)}
"""The functions of the expressions by name; each takes the config, the number of the layer and what its parentheses hold."""


def function(read: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function one of the expressions'."""
    FUNCTIONS[read.__name__] = read
    return read


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


class LayerNames(dict[str, Any]):
    """What a name means for one layer of a config; ``rules`` are expressions under names of their own."""

    def __init__(self, c: Config, i: int, rules: Mapping[str, str]) -> None:
        super().__init__(i=i)
        self.c, self.rules = c, rules

    def __missing__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return partial(FUNCTIONS[name], self.c, self["i"])
        if name in WORDS:
            return name
        if name in self.rules:
            return value_of(self.rules[name], self)
        return self.c.n_layers if name == "n" else self.c.whole(name)


def at(c: Config, field: str) -> tuple[Config, str]:
    """The object that holds a field, and the field's name in it."""
    *objects, name = field.split(".")
    for each in objects:
        c = c.inside(each)
    return c, name


def _method(name: str) -> Callable[..., Any]:
    """A method of a config as a function of the expressions."""

    def read(c: Config, i: int, field: str, *more: Any) -> Any:
        inside, last = at(c, field)
        return getattr(inside, name)(last, *more)

    return read


FUNCTIONS |= {name: _method(name) for name in ("maybe", "whole", "flag", "states")}


@function
def count(c: Config, i: int, field: str) -> int:
    """A whole number; null, or absent without a default, is 0."""
    inside, name = at(c, field)
    return inside.maybe(name, 0) or 0


@function
def each(c: Config, i: int, field: str) -> int:
    """A whole number, or a list of one for each layer."""
    inside, name = at(c, field)
    if isinstance(inside.raw(name), list):
        entries = inside.wholes(name, c.n_layers, least=1)
        if entries:
            return entries[i]
    return inside.whole(name)


@function
def entry(c: Config, i: int, field: str, least: int = 0) -> int | None:
    """The layer's own of a list with a whole number for each; nothing where there is no list, or an empty one."""
    inside, name = at(c, field)
    if inside.raw(name) == []:
        return None
    entries = inside.wholes(name, c.n_layers, least)
    return entries[i] if entries else None


@function
def entry_if_listed(c: Config, i: int, field: str) -> int | None:
    """The same of a field that may be one number too, which says nothing."""
    inside, name = at(c, field)
    return entry(c, i, field) if isinstance(inside.raw(name), list) else None


@function
def local_letter(c: Config, i: int, field: str) -> bool | None:
    """Whether a text of L and G, repeated, says that a layer is local; the last never is. Nothing where there is a number."""
    pattern = c.raw(field)
    if not isinstance(pattern, str):
        return None
    if not pattern or len(pattern) > c.n_layers or set(pattern) - set("LG"):
        c.fail(field, "expected a number, or letters L and G")
    return i < c.n_layers - 1 and pattern[i % len(pattern)] == "L"


@function
def lists(c: Config, i: int, field: str, layer: int | None = None) -> bool | None:
    """Whether a list of layers holds this one, or the one of a number; nothing where there is no list."""
    inside, name = at(c, field)
    return inside.lists(name, i if layer is None else layer)


@function
def either(c: Config, i: int, value: Any, there: Any, not_there: Any) -> Any:
    """One thing where a value is true, another where it is false, nothing where there is none."""
    if value is None:
        return None
    return there if value else not_there


@function
def given(c: Config, i: int, field: str, otherwise: str) -> int:
    """A field, or what follows from others by an expression in quotes, which is written down."""
    width: int | None = c.maybe(field)
    if width is None:
        width = int(value_of(otherwise, LayerNames(c, i, {})))
        c.fill(field, width, otherwise)
    return width


@function
def below(c: Config, i: int, field: str, limit: str) -> int:
    """A whole number from 0 that must be less than another."""
    number, most = c.whole(field, least=0), c.whole(limit)
    if number >= most:
        c.fail(field, f"{number} is not less than {limit} {most}")
    return number


@function
def divisor(c: Config, i: int, field: str) -> int:
    """KV heads that share out the query heads evenly."""
    inside, name = at(c, field)
    number, n_heads = inside.whole(name), c.whole("num_attention_heads")
    if n_heads % number:
        origin = "" if inside.states(name) else f", the default of {c.source},"
        inside.fail(name, f"{number}{origin} does not divide num_attention_heads {n_heads}")
    return number


@function
def pool(c: Config, i: int, experts: str, taken: str = "num_experts_per_tok") -> int:
    """The experts of a layer: at least as many as one token is sent to."""
    drawn, number = each(c, i, taken), each(c, i, experts)
    if drawn > number:
        inside, name = at(c, taken)
        inside.fail(name, f"{drawn} is more than {experts.rpartition('.')[2]} {number}")
    return int(number)


@function
def kv_heads(c: Config, i: int = 0) -> int:
    """KV heads: as many as query heads where the field is null, or absent and the class has no number of its own."""
    n_heads, number = c.whole("num_attention_heads"), c.maybe("num_key_value_heads")
    if number is None:
        c.fill("num_key_value_heads", n_heads, "as many as num_attention_heads")
        return n_heads
    return int(divisor(c, i, "num_key_value_heads"))


@function
def even_share(c: Config, i: int, rounded: bool = False) -> int:
    """``hidden_size // num_attention_heads``; where it does not come out even ``rounded`` down, or an error."""
    width, n_heads = c.whole("hidden_size"), c.whole("num_attention_heads")
    if width % n_heads and not rounded:
        message = f"{width} is not a multiple of num_attention_heads {n_heads}"
        c.fail("hidden_size", f"{message}, and no head_dim is given")
    if width < n_heads:
        message = f"{n_heads} heads leave nothing of hidden_size {width} for one"
        c.fail("num_attention_heads", message)
    down = ", rounded down" if width % n_heads else ""
    why = f"hidden_size // num_attention_heads{down}"
    c.fill("head_dim", width // n_heads, why if rounded else "hidden_size / num_attention_heads")
    return width // n_heads
