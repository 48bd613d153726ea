"""A step is a list of segments ``(requests, new tokens, past tokens)``; their drivers are defined once for all steps.

Prefill, decode and all other steps (verification, chunked) differ only in their segments.
"""

from dataclasses import dataclass

import sympy

from symroof.symbolic.expressions import ONE, Expr, substitute, symbol
from symroof.symbolic.reading import parse
from symroof.theory.switches import Assumptions
from symroof.theory.theory_files import section


@dataclass(frozen=True)
class Segment:
    """``requests`` requests that each add ``new`` tokens to ``past`` tokens already cached.

    ``phase`` is the kind of the new tokens: a ``prompt`` that is prefilled, many at a time, or a ``token`` that is generated;
    ``logits`` which of them need logits, if no switch decides it; ``rows`` the rows of logits of a request under
    ``logits: last``. ``spread`` has the prompt and the decode steps of requests at random positions in their responses: each sees
    the mean of all steps' keys. ``shared`` is true for requests that groups and stages divide evenly, fractions included; ``group`` is
    what the fullest group has of them, where that is not an even share.
    """

    requests: str
    new: str
    past: str
    phase: str = "token"
    logits: str | None = None
    rows: str = "1"
    spread: tuple[str, str] | None = None
    shared: bool = False
    group: str | None = None


@dataclass(frozen=True)
class AttentionReach:
    """The limit on the keys that a query sees, and its symbol: a sliding ``window``, its ``chunk``, the ``top`` keys by a score, or
    ``compressed`` entries, each made of so many tokens; ``top_compressed`` are the top ones of these, ``rate`` the symbol of the tokens of one."""

    kind: str
    symbol: str
    rate: str = ""

    @property
    def letters(self) -> dict[str, Expr]:
        """What the letters of formulas below stand for."""
        return {"w": symbol(self.symbol)} | ({"c": symbol(self.rate)} if self.rate else {})


@dataclass(frozen=True)
class ExpertPool:
    """A pool of experts: the symbols of how many there are and how many a token uses."""

    experts: str
    taken: str


DriverScope = AttentionReach | ExpertPool | None
"""The properties of a layer kind that a driver depends on."""


@dataclass(frozen=True)
class Step:
    """One forward pass: its name, the prefix of its quantities, its segments."""

    name: str
    segments: tuple[Segment, ...]


def _chunks(requests: str, of: str, rows: str) -> Segment:
    """Chunks of prompts, as many as are under way."""
    group = f"group_{requests.removeprefix('concurrent_')}"
    start = f"{of.removeprefix('prefill_')}_start"
    return Segment(requests, of, start, "prompt", rows=rows, shared=True, group=group)


def _responses(requests: str, context: str, spread: tuple[str, str], shared: bool) -> Segment:
    """Requests that decode at random positions in their responses."""
    past = f"{context} - 1"
    return Segment(requests, "decoded_tokens", past, logits="all", spread=spread, shared=shared)


OWN, LONG = ("prompt", "response_steps"), ("long_prompt", "long_response_steps")
DECODED = Segment("batch", "1", "context - 1")
STEPS = (
    Step(
        "prefill", (Segment("prefill_batch", "prompt - cached_prefix", "cached_prefix", "prompt"),)
    ),
    Step("decode", (DECODED,)),
    Step("verify", (Segment("batch", "verified_tokens", "context - 1", logits="all"),)),
    Step("mixed", (Segment("1", "chunk", "chunk_past", "prompt"), DECODED)),
    Step(
        "loaded",
        (
            _chunks("concurrent_chunks", "prefill_chunk", "chunk_logit_rows"),
            _responses("batch", "loaded_context", OWN, shared=False),
        ),
    ),
    Step(
        "mixture",
        (
            _chunks("own_chunks", "own_chunk", "own_logit_rows"),
            _chunks("long_chunks", "long_chunk", "long_logit_rows"),
            _responses("own_batch", "loaded_context", OWN, shared=True),
            _responses("long_batch", "long_context", LONG, shared=True),
        ),
    ),
)
"""The steps: prefill of a prompt; one token for every request; verification of drafted tokens; decode with a chunk of a prompt; and under load, requests
at random positions in their responses together with chunks of prompts, of one kind or of two."""

# The drivers of a segment, over requests r, new tokens n, past tokens p and a window or chunk w. A query sees at most its
# last w keys, its own included; a windowed cache still holds w - 1 past tokens when a segment begins. Of a chunk it sees
# the keys in it before the query. Queries that choose their keys one by one read what any of them chose: at most all. An entry is made of
# the w (or c) tokens before its end, so that the query at position x sees floor(x/w); a span counts the tokens it stands for.
SPAN = {
    None: "r*(p + n)",
    "window": "r*min(p + n, w - 1 + n)",
    "chunk": "r*(p - floor(p/w)*w + n)",
    "top": "r*min(p + n, n*w/(1 token))",
    "compressed": "r*floor((p + n)/w)*w",
    "top_compressed": "r*min(floor((p + n)/c), n*w/(1 token))*c",
}
FULL_PAIRS = {
    None: "r*n*(p + n)",
    "window": "r*n*min(p + n, w - 1 + n)",
    "chunk": "r*n*min(p + n, w - 1 + n)",
    "top": "r*n*min(p + n, w)",
    "compressed": "r*n*floor((p + n)/w)",
    "top_compressed": "r*n*min(floor((p + n)/c), w)",
}
CAUSAL_PAIRS = "r*(n*p + n*(n + 1)/2)"
ONE_QUERY = {
    "window": "min(x, w)",
    "chunk": "x - floor((x - 1)/w)*w",
    "top": "min(x, w)",
    "compressed": "floor(x/w)",
    "top_compressed": "min(floor(x/c), w)",
}
"""The keys that the query at position x sees."""
STAIRS = "(c*floor({x}/c)*(floor({x}/c) - 1)/2 + floor({x}/c)*({x} - c*floor({x}/c) + 1))"
TRIANGLE = {
    **dict.fromkeys(("window", "top"), "(min(x, w)*(min(x, w) + 1)/2 + (x - min(x, w))*w)"),
    "compressed": STAIRS.format(x="x").replace("c*", "w*").replace("/c", "/w"),
    "top_compressed": f"({STAIRS.format(x='min(x, c*w)')} + (x - min(x, c*w))*w)",
    "chunk": "(floor(x/w)*w*(w + 1)/2 + (x - floor(x/w)*w)*(x - floor(x/w)*w + 1)/2)",
}
"""Keys that the first x queries of a sequence see together."""
CACHED_TOKENS = {
    None: "context",
    "top": "context",
    "compressed": "floor(context/w)*w",
    "top_compressed": "floor(context/c)*c",
}
"""Tokens that a layer keeps of a sequence, those that entries stand for included; of one with a window or chunks see the next."""
WINDOW_KEEPS = {
    "window": "min(context, w)",
    "chunk": "min(context, w + window_chunk)",
    "full": "context",
}
"""Tokens that a layer with a window, or of chunks, keeps, by counting choice."""
LOGIT_ROWS = {"last": "r*z", "all": "r*n"}
EXPERTS_READ: dict[str, str] = next(
    entry.fields["choose"]["experts"] for entry in section("define") if entry.name == "experts_read"
)
"""Experts per layer that the tokens of a decode step read, by counting choice."""
DRIVERS = ("tokens", "pairs", "span", "logit_rows", "experts_read", "state_moves")
"""The drivers of rows of the operator table; each is a quantity of every step."""


def over(text: str, parts: dict[str, Expr]) -> Expr:
    return substitute(parse(text), parts)


def _causal(parts: dict[str, Expr], reach: str | None) -> Expr:
    """Pairs under the causal mask: the keys seen by all queries up to the end minus those of past queries."""
    if reach is None:
        return over(CAUSAL_PAIRS, parts)
    end = parts["p"] + parts["n"]
    if parts["n"] == ONE:
        return parts["r"] * over(ONE_QUERY[reach], {**parts, "x": end})
    upto_end, past = (over(TRIANGLE[reach], {**parts, "x": x}) for x in (end, parts["p"]))
    return parts["r"] * (upto_end - past)


def driver(
    step: Step,
    per: str,
    scope: DriverScope,
    assumptions: Assumptions,
    phase: str | None = None,
    tokens: str = "",
) -> Expr:
    """A driver of a step, summed over its segments, or over those of one ``phase``; ``tokens`` is the name of those
    that use experts, if they are not all of the step.

    >>> from symroof.symbolic.printing import text
    >>> from symroof.theory.switches import assume
    >>> text(driver(STEPS[1], "pairs", None, assume())), text(driver(STEPS[1], "span", AttentionReach("window", "window"), assume()))
    ('batch*context', 'batch*min(context, window)')
    """
    if isinstance(scope, ExpertPool):
        parts = {
            "n_experts": symbol(scope.experts),
            "experts_per_token": symbol(scope.taken),
            "decode_tokens": symbol(tokens or f"{step.name}_tokens"),
        }
        return over(EXPERTS_READ[assumptions["experts"]], parts)
    segments = [segment for segment in step.segments if phase in (None, segment.phase)]
    return sympy.Add(*(_segment(segment, per, scope, assumptions) for segment in segments))


def _mean(parts: dict[str, Expr], reach: str, prompt: str, steps: str) -> Expr:
    """The keys that a request at a random position in its response sees in a step, within a window or a chunk, for one new token."""
    steps = f"max({steps}, 1)"
    begin, end = (
        over(TRIANGLE[reach], {**parts, "x": parse(x)}) for x in (prompt, f"{prompt} + {steps}")
    )
    return (end - begin) / parse(steps)


def _segment(
    segment: Segment, per: str, reach: AttentionReach | None, assumptions: Assumptions
) -> Expr:
    parts = {
        "r": parse(segment.requests),
        "n": parse(segment.new),
        "p": parse(segment.past),
        "z": parse(segment.rows),
    }
    kind = reach.kind if reach else None
    if reach:
        parts |= reach.letters
    growing = assumptions["kv_growth"] == "growing"
    if segment.spread and kind and per in ("pairs", "span") and growing:
        # the rectangle over the cached tokens
        cached = per == "pairs" and assumptions["attention"] == "full"
        mean = _mean(parts, "window" if cached and kind == "chunk" else kind, *segment.spread)
        return over("r*n*keys" if per == "pairs" else "r*(keys + n - 1)", {**parts, "keys": mean})
    if per == "pairs" and assumptions["attention"] == "causal":
        return _causal(parts, kind)
    plain = {
        "tokens": "r*n",
        "pairs": FULL_PAIRS[kind],
        "span": SPAN[kind],
        "logit_rows": LOGIT_ROWS[segment.logits or assumptions["logits"]],
        "state_moves": "2*r",
    }
    return over(plain[per], parts)
