"""The same counting done the long way: one layer, one operator and one query token at a time, with plain numbers.

Written from what is counted, not from the engine: no symbols, no closed forms, no shared code.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from ..tables import words

NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}


@dataclass(frozen=True)
class Kind:
    """``count`` layers of one shape; ``window`` is None where queries see everything, ``d_ff`` 0 where there is no feed-forward."""

    count: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    window: int | None = None
    ffn: str = "gated"
    d_ff: int = 32
    qkv_bias: bool = False
    out_bias: bool = False
    ffn_bias: bool = False
    qk_norm: str = "none"
    norms: int | None = None


@dataclass(frozen=True)
class Model:
    kinds: tuple[Kind, ...]
    d_model: int = 64
    vocab_size: int = 100
    tied: bool = False
    positions: int | None = None
    head_bias: bool = False
    norm: str = "rms"
    norms: int = 2
    final_norm: bool = True


@dataclass(frozen=True)
class Widths:
    weight: Fraction = Fraction(2)
    kv: Fraction = Fraction(2)
    activation: Fraction = Fraction(2)


@dataclass(frozen=True)
class Pass:
    """``requests`` requests that each add ``new`` tokens to ``past`` tokens already cached."""

    requests: int
    new: int
    past: int


def as_spec(model):
    """The model as the data of a model spec."""
    return {
        "name": "made-up",
        "d_model": model.d_model,
        "vocab_size": model.vocab_size,
        "tied_embeddings": model.tied,
        "positions": model.positions,
        "head_bias": model.head_bias,
        "norm": {"kind": model.norm, "per_layer": model.norms, "final": model.final_norm},
        "layers": [_kind_as_spec(kind) for kind in model.kinds],
    }


def _kind_as_spec(kind):
    names = words("n_heads n_kv_heads head_dim window qkv_bias out_bias qk_norm")
    attention = {name: getattr(kind, name) for name in names}
    ffn = {"kind": kind.ffn}
    if kind.ffn != "none":
        ffn |= {"d_ff": kind.d_ff, "bias": kind.ffn_bias}
    return {"count": kind.count, "norms": kind.norms, "attention": attention, "ffn": ffn}


def each_layer(model):
    for kind in model.kinds:
        for _ in range(kind.count):
            yield kind


def matrices(kind, width):
    """Every matrix of one layer: operator, inner width, outer width."""
    queries, keys_and_values = kind.n_heads * kind.head_dim, 2 * kind.n_kv_heads * kind.head_dim
    yield "qkv", width, queries + keys_and_values
    yield "attention_out", queries, width
    if kind.ffn == "gated":
        yield "gate_up", width, 2 * kind.d_ff
        yield "down", kind.d_ff, width
    if kind.ffn == "plain":
        yield "up", width, kind.d_ff
        yield "down", kind.d_ff, width


def parameters(model):
    count = model.vocab_size * model.d_model + (model.positions or 0) * model.d_model
    count += 0 if model.tied else model.vocab_size * model.d_model
    count += model.vocab_size if model.head_bias else 0
    count += NORM_VECTORS[model.norm] * model.d_model if model.final_norm else 0
    for kind in each_layer(model):
        count += sum(inner * outer for _, inner, outer in matrices(kind, model.d_model))
        count += biases(kind, model.d_model) + layer_norms(kind, model)
    return count


def biases(kind, width):
    biased = {
        "qkv": kind.qkv_bias,
        "attention_out": kind.out_bias,
        "gate_up": kind.ffn_bias,
        "up": kind.ffn_bias,
        "down": kind.ffn_bias,
    }
    return sum(outer for operator, _, outer in matrices(kind, width) if biased[operator])


def layer_norms(kind, model):
    norms = model.norms if kind.norms is None else kind.norms
    of_heads = {
        "none": 0,
        "head": 2 * kind.head_dim,
        "full": (kind.n_heads + kind.n_kv_heads) * kind.head_dim,
    }
    return norms * NORM_VECTORS[model.norm] * model.d_model + of_heads[kind.qk_norm]


def weights_read(model, widths):
    """Matrices and head once; no norms, no biases, no gathered table."""
    elements = model.d_model * model.vocab_size
    for kind in each_layer(model):
        elements += sum(inner * outer for _, inner, outer in matrices(kind, model.d_model))
    return elements * widths.weight


def held(past, window):
    """Positions a layer's cache still holds when a pass begins."""
    return [
        position for position in range(past) if window is None or position >= past - (window - 1)
    ]


def pairs(kind, step, mask):
    """Keys each query meets, query by query."""
    count = 0
    for query in range(step.past, step.past + step.new):
        if mask == "full":
            count += len(held(step.past, kind.window)) + step.new
            continue
        oldest = 0 if kind.window is None else query - kind.window + 1
        count += sum(1 for key in range(query + 1) if key >= oldest)
    return step.requests * count


def span(kind, step):
    """Cached tokens read, and new ones written, by one layer."""
    return step.requests * (len(held(step.past, kind.window)) + step.new)


def kv_bytes_of_layer(kind, widths):
    return 2 * kind.n_kv_heads * kind.head_dim * widths.kv


def of_a_device(model, tp):
    """What the fullest of ``tp`` devices has of every layer: whole heads, and its share of feed-forward widths and of the head's rows."""
    kinds = [
        replace(
            kind,
            n_heads=-(-kind.n_heads // tp),
            n_kv_heads=-(-kind.n_kv_heads // tp),
            d_ff=Fraction(kind.d_ff, tp),
        )
        for kind in model.kinds
    ]
    return replace(model, kinds=tuple(kinds), vocab_size=Fraction(model.vocab_size, tp))


def operators(model, step, switches, widths, tp=1):
    """``(name, FLOPs, bytes)`` of every operator of every layer in one pass, of one of ``tp`` devices."""
    if switches["parameters"] == "nominal":
        yield from _nominal(model, step, switches, widths, tp)
        return
    model = of_a_device(model, tp)
    tokens, moves = step.requests * step.new, switches["activations"] == "on"
    for kind in each_layer(model):
        for name, inner, outer in matrices(kind, model.d_model):
            yield _matrix(name, inner, outer, tokens, moves, widths)
        yield _attention(kind, step, switches, widths)
    rows = tokens if switches["logits"] == "all" else step.requests
    yield _matrix("lm_head", model.d_model, model.vocab_size, rows, moves, widths)


def _matrix(name, inner, outer, rows, moves, widths):
    moved = rows * (inner + outer) * widths.activation if moves else 0
    return name, 2 * rows * inner * outer, inner * outer * widths.weight + moved


def _attention(kind, step, switches, widths):
    met = pairs(kind, step, switches["attention"])
    flops = 4 * kind.n_heads * kind.head_dim * met if switches["attention_flops"] == "on" else 0
    moved = (
        span(kind, step) * kv_bytes_of_layer(kind, widths)
        if switches["kv_traffic"] == "on"
        else Fraction(0)
    )
    if switches["activations"] == "on":
        moved += step.requests * step.new * 2 * kind.n_heads * kind.head_dim * widths.activation
        if switches["fusion"] == "unfused":
            scores = kind.n_heads * met * widths.activation
            # scores written and read, probabilities written and read
            moved += scores + scores + scores + scores
    return "attention", flops, moved


def _nominal(model, step, switches, widths, tp):
    """Two operators: everything linear, which multiplies and reads every parameter, and attention layer by layer."""
    count = Fraction(parameters(model), tp)
    yield "linear", 2 * count * step.requests * step.new, count * widths.weight
    for kind in each_layer(of_a_device(model, tp)):
        yield _attention(kind, step, switches, widths)


def totals(model, step, switches, widths, tp=1):
    """FLOPs and bytes of one pass, on one of ``tp`` devices."""
    found = list(operators(model, step, switches, widths, tp))
    return sum(flops for _, flops, _ in found), sum(moved for _, _, moved in found)


def roofline(model, step, switches, widths, compute, memory, tp=1):
    """Time of one pass where each of ``tp`` devices has ``compute`` FLOP/s and ``memory`` byte/s."""
    flops, moved = totals(model, step, switches, widths, tp)
    if switches["roofline"] == "aggregate":
        return max(Fraction(flops) / compute, Fraction(moved) / memory)
    if switches["roofline"] == "no_overlap":
        return Fraction(flops) / compute + Fraction(moved) / memory
    return sum(
        max(Fraction(f) / compute, Fraction(b) / memory)
        for _, f, b in operators(model, step, switches, widths, tp)
    )


def cache(model, batch, context, widths):
    """Resident cache: each layer keeps the last ``window`` tokens at most."""
    return sum(
        batch
        * (context if kind.window is None else min(context, kind.window))
        * kv_bytes_of_layer(kind, widths)
        for kind in each_layer(model)
    )
