"""What drives the rows of every step, counted query by query: tokens, keys met, cached tokens read, rows of logits, experts and states."""

from fractions import Fraction
from itertools import product

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import symbol
from symroof.theory.steps import (
    CACHED_TOKENS,
    SPAN,
    STEPS,
    WINDOW_KEEPS,
    AttentionReach,
    ExpertPool,
    driver,
)
from symroof.theory.switches import SWITCHES, assume
from symroof.theory.totals import resident

from ..near import near
from . import Floats

BY_NAME = {step.name: step for step in STEPS}
REACHES = {
    None: None,
    "window": AttentionReach("window", "window"),
    "chunk": AttentionReach("chunk", "chunk_size"),
}
POINTS = [
    {"prefill_batch": 2, "prompt": 9, "cached_prefix": 3, "batch": 5, "context": 11, "verified_tokens": 4, "decoded_tokens": 3, "chunk": 6, "chunk_past": 2, "concurrent_chunks": 3, "prefill_chunk": 7, "chunk_start": 1,
     "chunk_logit_rows": 2, "loaded_context": 13, "response_steps": 6, "window": 4, "chunk_size": 5,
     "own_chunks": 2, "own_chunk": 4, "own_chunk_start": 3, "own_logit_rows": 1, "long_chunks": 1, "long_chunk": 9, "long_chunk_start": 6, "long_logit_rows": 2, "own_batch": 3, "long_batch": 2, "long_context": 22, "long_prompt": 17, "long_response_steps": 9},
    {"prefill_batch": 1, "prompt": 10, "cached_prefix": 0, "batch": 3, "context": 5, "verified_tokens": 1, "decoded_tokens": 1, "chunk": 5, "chunk_past": 5, "concurrent_chunks": 1, "prefill_chunk": 5, "chunk_start": 10,
     "chunk_logit_rows": 1, "loaded_context": 10, "response_steps": 1, "window": 5, "chunk_size": 5,
     "own_chunks": 1, "own_chunk": 5, "own_chunk_start": 5, "own_logit_rows": 1, "long_chunks": 2, "long_chunk": 10, "long_chunk_start": 0, "long_logit_rows": 1, "own_batch": 1, "long_batch": 4, "long_context": 15, "long_prompt": 15, "long_response_steps": 1},
    {"prefill_batch": 4, "prompt": 3, "cached_prefix": 2, "batch": 1, "context": 1, "verified_tokens": 3, "decoded_tokens": 2, "chunk": 1, "chunk_past": 0, "concurrent_chunks": 2, "prefill_chunk": 1, "chunk_start": 6,
     "chunk_logit_rows": 1, "loaded_context": 4, "response_steps": 0, "window": 1, "chunk_size": 1,
     "own_chunks": 3, "own_chunk": 1, "own_chunk_start": 0, "own_logit_rows": 1, "long_chunks": 1, "long_chunk": 1, "long_chunk_start": 2, "long_logit_rows": 1, "own_batch": 2, "long_batch": 1, "long_context": 3, "long_prompt": 2, "long_response_steps": 0},
    {"prefill_batch": 3, "prompt": 30, "cached_prefix": 7, "batch": 2, "context": 24, "verified_tokens": 5, "decoded_tokens": 4, "chunk": 8, "chunk_past": 16, "concurrent_chunks": 1, "prefill_chunk": 9, "chunk_start": 15,
     "chunk_logit_rows": 1, "loaded_context": 33, "response_steps": 20, "window": 12, "chunk_size": 8,
     "own_chunks": 1, "own_chunk": 8, "own_chunk_start": 8, "own_logit_rows": 0, "long_chunks": 1, "long_chunk": 19, "long_chunk_start": 31, "long_logit_rows": 1, "own_batch": 4, "long_batch": 1, "long_context": 70, "long_prompt": 61, "long_response_steps": 25},
]  # fmt: skip
"""Off every edge; on edges of chunks and windows; a window of one and a response of one token; across several chunks."""


def segments(step, v):
    """Requests, new tokens and those before them, of prompts and of requests that decode."""
    decoding = ("token", v["batch"], 1, v["context"] - 1)
    return {
        "prefill": [
            ("prompt", v["prefill_batch"], v["prompt"] - v["cached_prefix"], v["cached_prefix"])
        ],
        "decode": [decoding],
        "verify": [("token", v["batch"], v["verified_tokens"], v["context"] - 1)],
        "mixed": [("prompt", 1, v["chunk"], v["chunk_past"]), decoding],
        "loaded": [
            ("prompt", v["concurrent_chunks"], v["prefill_chunk"], v["chunk_start"]),
            ("token", v["batch"], v["decoded_tokens"], v["loaded_context"] - 1),
        ],
        "mixture": [
            ("prompt", v["own_chunks"], v["own_chunk"], v["own_chunk_start"]),
            ("prompt", v["long_chunks"], v["long_chunk"], v["long_chunk_start"]),
            ("token", v["own_batch"], v["decoded_tokens"], v["loaded_context"] - 1),
            ("token", v["long_batch"], v["decoded_tokens"], v["long_context"] - 1),
        ],
    }[step]


def seen(position, reach, v):
    """Keys that the query at a position meets, its own included."""
    return [
        key
        for key in range(position + 1)
        if reach is None
        or (
            key > position - v["window"]
            if reach == "window"
            else key // v["chunk_size"] == position // v["chunk_size"]
        )
    ]


def cached(past, reach, v, square=False):
    """Tokens before the new ones that a layer still reads; for a whole square a chunk is what a cache of its length holds."""
    if reach == "chunk" and not square:
        return past % v["chunk_size"]
    width = None if reach is None else v["window"] if reach == "window" else v["chunk_size"]
    return len([position for position in range(past) if width is None or position > past - width])


def steps_on(v, long=False):
    """Positions of a response's steps."""
    prompt, steps = (
        (v["long_prompt"], v["long_response_steps"]) if long else (v["prompt"], v["response_steps"])
    )
    return range(prompt, prompt + max(steps, 1))


def spread(step, phase, reach, growing):
    """Whether requests stand anywhere in their responses, each with the keys of its own step."""
    return step in ("loaded", "mixture") and phase == "token" and reach and growing


def pairs(step, reach, v, causal=True, growing=True, of=None):
    count = Fraction(0)
    for phase, requests, new, past in segments(step, v):
        if of not in (None, phase):
            continue
        if spread(step, phase, reach, growing):
            kind, held = (
                (reach, v)
                if causal
                else (
                    "window",
                    {**v, "window": v["window"] if reach == "window" else v["chunk_size"]},
                )
            )
            steps = steps_on(v, past == v["long_context"] - 1)
            count += (
                requests
                * new
                * Fraction(sum(len(seen(position, kind, held)) for position in steps), len(steps))
            )
        elif causal:
            count += requests * sum(
                len(seen(position, reach, v)) for position in range(past, past + new)
            )
        else:
            count += requests * new * (cached(past, reach, v, square=True) + new)
    return count


def span(step, reach, v, growing=True, of=None):
    count = Fraction(0)
    for phase, requests, new, past in segments(step, v):
        if of not in (None, phase):
            continue
        if spread(step, phase, reach, growing):
            steps = steps_on(v, past == v["long_context"] - 1)
            count += requests * (
                Fraction(sum(len(seen(position, reach, v)) for position in steps), len(steps))
                + new
                - 1
            )
        else:
            count += requests * (cached(past, reach, v) + new)
    return count


def value(step, per, reach, v, phase=None, **switches):
    return evaluate(
        driver(BY_NAME[step], per, REACHES[reach], assume(**switches), phase), Floats(v)
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("step", BY_NAME)
@pytest.mark.parametrize("reach", REACHES)
def test_keys_met_and_read(step, reach):
    for v, growth, phase in product(POINTS, ("growing", "fixed"), (None, "prompt", "token")):
        if phase and not any(of == phase for of, *_ in segments(step, v)):
            continue
        growing = growth == "growing"
        assert value(step, "span", reach, v, phase, kv_growth=growth) == near(
            span(step, reach, v, growing, phase)
        )
        for mask in ("causal", "full"):
            assert value(step, "pairs", reach, v, phase, kv_growth=growth, attention=mask) == near(
                pairs(step, reach, v, mask == "causal", growing, phase)
            ), mask


@pytest.mark.parametrize("step", BY_NAME)
def test_tokens_rows_and_states(step):
    for v in POINTS:
        parts = segments(step, v)
        tokens = sum(requests * new for _, requests, new, _ in parts)
        last = {
            "prefill": v["prefill_batch"],
            "decode": v["batch"],
            "verify": tokens,
            "mixed": 1 + v["batch"],
            "loaded": v["concurrent_chunks"] * v["chunk_logit_rows"]
            + v["batch"] * v["decoded_tokens"],
            "mixture": v["own_chunks"] * v["own_logit_rows"]
            + v["long_chunks"] * v["long_logit_rows"]
            + (v["own_batch"] + v["long_batch"]) * v["decoded_tokens"],
        }[step]
        assert (
            value(step, "tokens", None, v)
            == value(step, "logit_rows", None, v, logits="all")
            == tokens
        )
        assert value(step, "logit_rows", None, v, logits="last") == last
        assert value(step, "state_moves", None, v) == sum(
            requests + requests for _, requests, _, _ in parts
        ), "read and written"


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_experts_that_tokens_draw(tokens):
    """A token draws two of six: an expert is left out by each with a chance of two thirds."""
    v = Floats({"n_experts.a": 6, "taken": 2, "decode_tokens": tokens, "elsewhere": 3})

    def read(how, names=""):
        return evaluate(
            driver(
                BY_NAME["decode"],
                "experts_read",
                ExpertPool("n_experts.a", "taken"),
                assume(experts=how),
                tokens=names,
            ),
            v,
        )

    assert [read(how) for how in ("expected", "all", "distinct_max")] == near(
        [
            6 - 6 * Fraction(2, 3) ** tokens,
            6,
            min(6, 2 * tokens),
        ]
    )
    assert read("expected", "elsewhere") == near(6 - 6 * Fraction(8, 27))


@pytest.mark.parametrize(("reach", "limit"), [(None, 99), ("window", 7), ("chunk", 5)])
def test_tokens_a_layer_keeps(reach, limit):
    for context in range(1, 12):
        v = Floats(
            {
                "context": context,
                "window": 7,
                "chunk_size": 5,
                "kappa": 3,
                "requests": 2,
                "window_chunk": 2,
            }
        )
        for kept, tokens in (
            ("window", min(context, limit)),
            ("chunk", min(context, limit + 2)),
            ("full", context),
        ):
            assert (
                evaluate(resident(symbol("kappa"), REACHES[reach], kept, symbol("requests")), v)
                == 3 * 2 * tokens
            )
    assert WINDOW_KEEPS.keys() == SWITCHES["window_cache"].values.keys()
    assert CACHED_TOKENS.keys() | {"window", "chunk"} == SPAN.keys()
