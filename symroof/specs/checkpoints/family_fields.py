"""Ways to read a field in the expressions of ``families.yaml``.

Each is a function of the config, the number of the layer and the terms between its parentheses.
"""

from collections.abc import Callable, Mapping
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family_expressions import Term


def maybe(c: Config, i: int, field: Term) -> int | None:
    """``field?``: a whole number, or nothing where the field is null or absent without a default."""
    inside, name = field.field(c)
    return inside.maybe(name)


def count(c: Config, i: int, field: Term) -> int:
    """A whole number; null, or absent without a default, is 0."""
    inside, name = field.field(c)
    return inside.maybe(name, 0) or 0


def whole(c: Config, i: int, field: Term, least: Term) -> int:
    """A whole number from another least one than 1."""
    inside, name = field.field(c)
    return inside.whole(name, least.read(c, i))


def flag(c: Config, i: int, field: Term) -> bool:
    """True or false."""
    inside, name = field.field(c)
    return inside.flag(name)


def states(c: Config, i: int, field: Term) -> bool:
    """Whether the file itself says something."""
    inside, name = field.field(c)
    return inside.states(name)


def each(c: Config, i: int, field: Term) -> int:
    """A whole number, or a list of one for each layer."""
    inside, name = field.field(c)
    if isinstance(inside.raw(name), list):
        entries = inside.wholes(name, c.n_layers, least=1)
        if entries:
            return entries[i]
    return inside.whole(name)


def entry(c: Config, i: int, field: Term, least: Term | None = None) -> int | None:
    """The layer's own of a list with a whole number for each; nothing where there is no list, or an empty one."""
    inside, name = field.field(c)
    if inside.raw(name) == []:
        return None
    entries = inside.wholes(name, c.n_layers, least.read(c, i) if least else 0)
    return entries[i] if entries else None


def entry_if_listed(c: Config, i: int, field: Term) -> int | None:
    """The same of a field that may be one number too, which says nothing."""
    inside, name = field.field(c)
    return entry(c, i, field) if isinstance(inside.raw(name), list) else None


def local_letter(c: Config, i: int, field: Term) -> bool | None:
    """Whether a text of L and G, repeated, says that a layer is local; the last never is. Nothing where there is a number."""
    pattern = c.raw(field.path[-1])
    if not isinstance(pattern, str):
        return None
    if not pattern or len(pattern) > c.n_layers or set(pattern) - set("LG"):
        c.fail(field.path[-1], "expected a number, or letters L and G")
    return i < c.n_layers - 1 and pattern[i % len(pattern)] == "L"


def lists(c: Config, i: int, field: Term, layer: Term | None = None) -> bool | None:
    """Whether a list of layers holds this one, or the one of a number; nothing where there is no list."""
    inside, name = field.field(c)
    return inside.lists(name, layer.read(c, i) if layer else i)


def either(c: Config, i: int, value: Term, there: Term, not_there: Term, unsaid: Term) -> Any:
    """One thing where a value is true, another where it is false, a third where there is none."""
    said = value.read(c, i)
    if said is None:
        return unsaid.read(c, i)
    return (there if said else not_there).read(c, i)


def given(c: Config, i: int, field: Term, otherwise: Term) -> int:
    """A field, or what follows from others, which is written down."""
    width: int | None = c.maybe(field.path[-1])
    if width is None:
        width = int(otherwise.read(c, i))
        c.fill(field.path[-1], width, otherwise.text)
    return width


def below(c: Config, i: int, field: Term, limit: Term) -> int:
    """A whole number from 0 that must be less than another."""
    name, at, most = field.path[-1], c.whole(field.path[-1], least=0), limit.read(c, i)
    if at >= most:
        c.fail(name, f"{at} is not less than {limit.text} {most}")
    return at


def divisor(c: Config, i: int, field: Term) -> int:
    """KV heads that share out the query heads evenly."""
    inside, name = field.field(c)
    number, n_heads = inside.whole(name), c.whole("num_attention_heads")
    if n_heads % number:
        origin = "" if inside.states(name) else f", the default of {c.source},"
        inside.fail(name, f"{number}{origin} does not divide num_attention_heads {n_heads}")
    return number


def pool(c: Config, i: int, experts: Term, taken: Term | None = None) -> int:
    """The experts of a layer: at least as many as one token is sent to."""
    taken = taken or Term("", lambda c, i: None, ("num_experts_per_tok",))
    drawn, number = each(c, i, taken), each(c, i, experts)
    if drawn > number:
        inside, name = taken.field(c)
        inside.fail(name, f"{drawn} is more than {experts.path[-1]} {number}")
    return number


def largest(c: Config, i: int, *terms: Term) -> Any:
    return max(term.read(c, i) for term in terms)


def kv_heads(c: Config, i: int = 0) -> int:
    """KV heads: as many as query heads where the field is null, or absent and the class has no number of its own."""
    n_heads, number = c.whole("num_attention_heads"), c.maybe("num_key_value_heads")
    if number is None:
        c.fill("num_key_value_heads", n_heads, "as many as num_attention_heads")
        return n_heads
    return divisor(c, i, Term("", lambda c, i: None, ("num_key_value_heads",)))


def even_share(c: Config, i: int) -> int:
    """``hidden_size // num_attention_heads``, with an error where it does not come out even."""
    width, n_heads = c.whole("hidden_size"), c.whole("num_attention_heads")
    if width % n_heads:
        message = f"{width} is not a multiple of num_attention_heads {n_heads}"
        c.fail("hidden_size", f"{message}, and no head_dim is given")
    c.fill("head_dim", width // n_heads, "hidden_size / num_attention_heads")
    return width // n_heads


def own_share(c: Config, i: int) -> int:
    """The same in classes that round it down."""
    width, n_heads = c.whole("hidden_size"), c.whole("num_attention_heads")
    if width < n_heads:
        message = f"{n_heads} heads leave nothing of hidden_size {width} for one"
        c.fail("num_attention_heads", message)
    rounded = ", rounded down" if width % n_heads else ""
    c.fill("head_dim", width // n_heads, f"hidden_size // num_attention_heads{rounded}")
    return width // n_heads


def listed(known: Mapping[str, str]) -> Callable[..., str | None]:
    """The layer's word in a list that may be longer by the layers that predict tokens ahead; nothing where there is no list."""

    def read(c: Config, i: int, field: Term, ahead: Term | None = None) -> str | None:
        inside, name = field.field(c)
        more = ahead.read(c, i) if ahead else 0
        entries = inside.listed(name)
        longer = more if entries is not None and len(entries) != c.n_layers else 0
        taken = inside.words(name, known, c.n_layers + longer)
        return taken[i] if taken else None

    return read


FIELD_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        function.__name__: function
        for function in (
            maybe, count, whole, flag, states, each, entry, entry_if_listed, lists, local_letter, either, given, below, divisor, pool,
            kv_heads, even_share, own_share,
        )
    },
    "max": largest,
}  # fmt: skip
"""Every function by its name in the expressions."""
