"""Where each slip of the catalogue leads, worked out by hand: the figure that somebody who makes it writes down."""

import re
from fractions import Fraction
from functools import cache

import pytest

from symroof.claims.derive_claim import derived
from symroof.claims.slips.predictions import context_of, predictions
from symroof.claims.slips.slip_catalogue import CATALOGUE, RoundedFigure
from symroof.specs.claims import ClaimSpec

FIRST_ORDER = {
    "model": "llama-3-70b",
    "hardware": "h100-sxm",
    "params": "70e9",
    "prompt": 4000,
    "assume": {"detail": "weights"},
}
WITH_CACHE = FIRST_ORDER | {"assume": {"detail": "kv"}}
CLAIMS = {
    "cache": (
        "1 GB",
        {
            "quantity": "kv_cache_bytes",
            "given": {"model": "llama-3-70b", "prompt": 4096, "batch": 4, "output": 100},
        },
    ),
    "latent": ("30 KB", {"quantity": "kv_bytes_per_token", "given": {"model": "deepseek-v2-lite"}}),
    "narrow heads": (
        "1 KB",
        {"quantity": "kv_bytes_per_token", "given": {"model": "mistral-nemo-12b"}},
    ),
    "experts": ("47e9", {"quantity": "params", "given": {"model": "mixtral-8x7b"}}),
    "active": ("13e9", {"quantity": "active_params", "given": {"model": "mixtral-8x7b"}}),
    "read": ("15 GB", {"quantity": "weight_bytes_read", "given": {"model": "llama-3-8b"}}),
    "held": ("16 GB", {"quantity": "weight_bytes", "given": {"model": "llama-3-8b"}}),
    "verify": (
        "2",
        {"quantity": "tokens_per_verify", "given": {"acceptance": 0.5, "draft_tokens": 4}},
    ),
    "price": (
        "1 USD",
        {
            "quantity": "price_per_mtok",
            "given": {**FIRST_ORDER, "price": "2 USD/hour", "margin": 0.25, "output": 100},
        },
    ),
    "prefill": (
        "1 PFLOP",
        {"quantity": "prefill_flops", "given": {**FIRST_ORDER, "assume": {"detail": "attention"}}},
    ),
    "square": (
        "1 PFLOP",
        {
            "quantity": "prefill_flops",
            "given": {**FIRST_ORDER, "assume": {"detail": "attention", "attention": "full"}},
        },
    ),
    "step": ("42 ms", {"quantity": "decode_roofline_time", "given": {**FIRST_ORDER, "batch": 8}}),
    "read prompt": ("1 s", {"quantity": "prefill_roofline_time", "given": FIRST_ORDER}),
    "response": ("0.4 s", {"quantity": "decode_time", "given": {**FIRST_ORDER, "output": 10}}),
    "group": ("1 ms", {"quantity": "decode_roofline_time", "given": {**FIRST_ORDER, "tp": 4}}),
    "linked": (
        "1 ms",
        {"quantity": "itl", "given": {**FIRST_ORDER, "tp": 4, "link_latency": "10 us"}},
    ),
    "shared out": (
        "141 GB",
        {"quantity": "weight_bytes", "given": {"model": "llama-3-70b", "tp": 4}},
    ),
    "longest": (
        "1024 token",
        {"quantity": "peak_context", "given": {"prompt": 1000, "output": 24}},
    ),
    "capacity": ("80 GB", {"quantity": "mem_capacity", "given": {"mem_capacity": "80 GB"}}),
    "link": ("450 GB/s", {"catalogue": "h100-sxm.link.bandwidth"}),
    "ridge": ("300", {"quantity": "ridge_point", "given": {"hardware": "h100-sxm"}}),
    "half a byte": (
        "4 GB",
        {
            "quantity": "weight_bytes",
            "given": {"model": "llama-3-8b", "weight_bytes_per_param": "0.5"},
        },
    ),
    "no device": (
        "100 FLOP/byte",
        {
            "quantity": "ridge_point",
            "given": {"peak_flops": "200 TFLOP/s", "mem_bandwidth": "2 TB/s"},
        },
    ),
    "windows": (
        "2 GB",
        {
            "quantity": "kv_cache_bytes",
            "given": {"model": "gemma-2-9b", "context": 8192, "kv": "bf16"},
        },
    ),
    "hybrid": (
        "25 KB",
        {"quantity": "kv_bytes_per_token", "given": {"model": "qwen3-next-80b-a3b", "kv": "bf16"}},
    ),
    "loading": (
        "20 s",
        {
            "quantity": "load_time",
            "given": {"params": "70e9", "weights": "fp16", "disk_bandwidth": "7 GB/s"},
        },
    ),
    "first token": ("0.6 s", {"quantity": "ttft", "given": FIRST_ORDER}),
    "money": ("6 USD", {"expression": "6 USD/hour * 1 s"}),
    "routed": ("4.6", {"quantity": "experts_read", "given": {"model": "mixtral-8x7b", "batch": 3}}),
    "reading": (
        "50 ms",
        {"quantity": "decode_roofline_time", "given": {**WITH_CACHE, "batch": 8, "context": 5000}},
    ),
    "growing": (
        "40 s",
        {"quantity": "decode_time", "given": {**WITH_CACHE, "batch": 8, "output": 1024}},
    ),
    "ungrouped": ("0.5 MB", {"quantity": "kv_bytes_per_token", "given": {"model": "llama-2-7b"}}),
    "short prompt": (
        "42 ms",
        {"quantity": "prefill_roofline_time", "given": {**FIRST_ORDER, "prompt": 96}},
    ),
    "long prompt": (
        "0.6 s",
        {"quantity": "prefill_roofline_time", "given": {**FIRST_ORDER, "context": 5000}},
    ),
    "wide": ("60 ms", {"quantity": "decode_roofline_time", "given": {**FIRST_ORDER, "batch": 400}}),
    "swapped": (
        "20 ms",
        {
            "quantity": "swap_time",
            "given": {"model": "llama-3-70b", "prompt": 4096, "hardware": "h100-sxm"},
        },
    ),
    "every step": (
        "40 s",
        {
            "quantity": "decode_time",
            "given": {
                **FIRST_ORDER,
                "output": 1000,
                "assume": {"detail": "weights", "decode_steps": "output"},
            },
        },
    ),
    "long answer": ("40 s", {"quantity": "decode_time", "given": {**FIRST_ORDER, "output": 1024}}),
    "one byte": (
        "70 GB",
        {
            "quantity": "weight_bytes",
            "given": {"model": "llama-3-70b", "weights": "fp8", "kv": "fp8"},
        },
    ),
    "cache of bytes": (
        "1 GB",
        {
            "quantity": "kv_cache_bytes",
            "given": {"model": "llama-3-70b", "prompt": 4096, "kv": "fp8"},
        },
    ),
    "read as bytes": (
        "8 GB",
        {"quantity": "weight_bytes_read", "given": {"model": "llama-3-8b", "weights": "fp8"}},
    ),
    "prefix of 1,000": (
        "0.4 s",
        {"quantity": "prefill_roofline_time", "given": {**FIRST_ORDER, "cached_prefix": 1000}},
    ),
    "prefix of 1,024": (
        "0.4 s",
        {"quantity": "prefill_roofline_time", "given": {**FIRST_ORDER, "cached_prefix": 1024}},
    ),
    "later": (
        "5 GB",
        {
            "quantity": "kv_cache_bytes",
            "given": {"model": "llama-3-70b", "prompt": 3000, "context": 4096, "batch": 4},
        },
    ),
}
CACHE, TABLE = 4 * 4096 * 327_680, 128_256 * 4096
"""Four caches of 4,096 tokens of 2*80*8*128 16-bit numbers; the vectors of Llama 3 8B's vocabulary."""
P8, MIXTRAL, TABLE8 = 8_030_261_248, 46_702_792_704, 32_000 * 4096
ACTIVE = 12_879_925_248 - TABLE8
"""Mixtral's published count of active parameters less the table that a token looks up."""
READ = 2 * (P8 - TABLE - 65 * 4096)
"""Without the vectors of 65 norms."""
LINEAR, PAIRS = 2 * 70 * 10**9 * 4000, 80 * 4 * 64 * 128
TIMES = Fraction(140, 3350), Fraction(8 * 140, 989_400)
"""Seconds of a step's bytes, and of its FLOPs for eight."""
READ_BY_EIGHT = 140 * 10**9 + 8 * 5000 * 327_680
"""Bytes of a step for eight requests of 5,000 tokens."""
RING = 160 * (Fraction(10, 10**6) + Fraction(2 * 3, 4) * 8192 * 2 / (450 * 10**9))

HAND = [
    ("cache", "query heads used for KV heads in the cache", 8 * CACHE),
    ("cache", "query heads used for KV heads", 8 * CACHE),
    ("cache", "keys without values, or values without keys", CACHE / 2),
    ("cache", "the factor 2 of keys and values twice", 2 * CACHE),
    *(("cache", f"{count} KV heads", count * CACHE / 8) for count in (1, 2, 4, 16, 32)),
    (
        "cache",
        "width guessed as sqrt(params/(12*n_layers)), grouped heads left out",
        4 * 4096 * 2 * 80 * (70_553_706_496 / 960) ** 0.5 * 2,
    ),
    ("cache", "the cache of one layer", CACHE / 80),
    ("cache", "one layer in place of all", CACHE / 80),
    ("cache", "layers counted twice", CACHE * 80),
    ("cache", "one request in place of the batch", CACHE / 4),
    ("cache", "the batch left out", CACHE / 4),
    ("cache", "multiplied by the batch once more", 4 * CACHE),
    ("cache", "of one token, not of the sequence", CACHE / 4096),
    ("cache", "of a sequence, not of one token", CACHE * 4096),
    ("cache", "of one prompt token, not of the prompt", CACHE / 4096),
    ("cache", "one token of context more", 4 * 4097 * 327_680),
    ("cache", "the kv at fp32", 2 * CACHE),
    ("cache", "the kv at fp8", CACHE / 2),
    ("cache", "the kv at int4", CACHE / 4),
    ("cache", "weights, cache and arithmetic at fp8", CACHE / 2),
    ("cache", "a GiB written for a GB", CACHE * (1000 / 1024) ** 3),
    ("cache", "a GB written for a GiB", CACHE * 1.024**3),
    ("cache", "a k of 1,000 in the prompt", 4 * 4000 * 327_680),
    ("cache", "a k of 1,024 in the context", CACHE * 1.024),
    ("cache", "bits taken for bytes", 8 * CACHE),
    ("cache", "bytes taken for bits", CACHE / 8),
    ("cache", "the ratio upside down", 1 / CACHE),
    *(
        (
            "cache",
            f"the decimal point {places} place{'s' * (places > 1)} to the right",
            CACHE * 10**places,
        )
        for places in (1, 2)
    ),
    *(
        (
            "cache",
            f"the decimal point {places} place{'s' * (places > 1)} to the left",
            CACHE / 10**places,
        )
        for places in (1, 2)
    ),
    ("cache", "a factor of 1,000 too much", CACHE * 1000),
    ("cache", "a factor of 1,000 too little", CACHE / 1000),
    ("step", "a factor of 1,000 too much", TIMES[0] * 1000),
    ("step", "a factor of 1,000 too little", TIMES[0] / 1000),
    # 27 layers, 512 wide with a rotated key of 64; 16 heads of 128 and 64 for keys, of 128 for values
    (
        "latent",
        "keys and values of every head kept in place of their latent",
        27 * 2 * 16 * (128 + 64 + 128),
    ),
    ("latent", "a latent cache taken for two vectors of value_dim a head", 27 * 2 * 16 * 2 * 128),
    ("latent", "a latent for keys and another for values", 27 * 2 * 2 * 512),
    ("latent", "the rotated key beside the latent left out", 27 * 2 * 512),
    (
        "narrow heads",
        "head width taken as d_model/n_heads in attention",
        2 * 40 * 8 * 160 * 2,
    ),  # 5,120/32 for the model's 128
    ("narrow heads", "head width taken as d_model/n_heads", 2 * 40 * 8 * 160 * 2),
    ("experts", "only the parameters that a token multiplies counted", ACTIVE),
    (
        "experts",
        "only the parameters that a token multiplies counted, and the input table",
        ACTIVE + TABLE8,
    ),
    ("experts", "a tied embedding counted twice, or a head counted in", MIXTRAL + TABLE8),
    ("experts", "an untied head left out", MIXTRAL - TABLE8),
    ("active", "every parameter taken for one that a token multiplies", MIXTRAL),
    ("active", "the gathered input table counted among the active parameters", ACTIVE + TABLE8),
    ("active", "every expert multiplied by every token", ACTIVE + 32 * 6 * 3 * 4096 * 14_336),
    ("read", "the gathered input table streamed too", READ + 2 * TABLE),
    ("read", "the head not streamed", READ - 2 * TABLE),
    ("held", "weights at one byte each: the bytes of a parameter forgotten", P8),
    ("held", "the weights at fp32", 4 * P8),
    ("held", "weights of 4 byte each", 4 * P8),
    ("held", "weights of 1/2 byte each", P8 / 2),
    ("half a byte", "weights of 2 byte each", 2 * P8),
    ("held", "the weights at int4", P8 / 2),
    ("verify", "accepted tokens added up, though each needs all before it to be accepted", 3),
    (
        "verify",
        "only the tokens that are accepted counted, not the one that comes with them",
        sum(0.5**k for k in range(1, 5)),
    ),
    (
        "prefill",
        "the whole square of attention counted, not the causal half",
        LINEAR + PAIRS * 4000**2,
    ),
    ("prefill", "attention FLOPs left out", LINEAR),
    (
        "prefill",
        "6 FLOP a parameter and token, as in training, for 2",
        3 * LINEAR + PAIRS * 4000 * 4001 / 2,
    ),
    (
        "prefill",
        "forward and backward pass counted, as in training",
        3 * (LINEAR + PAIRS * 4000 * 4001 / 2),
    ),
    ("prefill", "multiply-adds counted as one FLOP", (LINEAR + PAIRS * 4000 * 4001 / 2) / 2),
    ("prefill", "FLOPs doubled once more", (LINEAR + PAIRS * 4000 * 4001 / 2) * 2),
    ("square", "the causal half counted, not the whole square", LINEAR + PAIRS * 4000 * 4001 / 2),
    ("step", "only the decode's FLOPs timed: no memory floor", TIMES[1]),
    ("read prompt", "only the prefill's bytes timed: no compute floor", TIMES[0]),
    ("no device", "the sparse peak, 400 TFLOP/s, for the dense one", 200),
    (
        "windows",
        "every layer keeps the whole context, as if none had a window",
        2 * 42 * 8 * 256 * 2 * 8192,
    ),
    (
        "hybrid",
        "every layer taken for one that keeps a cache",
        2 * 48 * 2 * 256 * 2,
    ),  # 12 of the 48 do
    ("loading", "a rate in bytes taken for one in bits", 160),
    ("loading", "a rate in bits taken for one in bytes", Fraction(5, 2)),
    ("step", "a rate read as a time in milliseconds", 1 / (1000 * TIMES[0])),
    ("read prompt", "a k of 1,024 in the prompt", Fraction(LINEAR, 989_400 * 10**9) * 1024 / 1000),
    (
        "read prompt",
        "of one prompt token, not of the prompt",
        Fraction(LINEAR // 4000, 989_400 * 10**9),
    ),
    ("step", "a time in milliseconds read as a rate", 1000 / TIMES[0]),
    ("step", "of the prompt, not of one token", 4000 * TIMES[0]),
    ("step", "hours taken for seconds", 3600 * TIMES[0]),
    ("step", "seconds taken for hours", TIMES[0] / 3600),
    (
        "response",
        "as many decode steps as output tokens; the first token comes with the prefill",
        10 * TIMES[0],
    ),
    ("response", "one output token more", 10 * TIMES[0]),
    ("response", "one output token fewer", 8 * TIMES[0]),
    ("response", "of one output token, not of the response", Fraction(9, 10) * TIMES[0]),
    ("response", "of the response, not of one output token", 90 * TIMES[0]),
    ("group", "one device in place of the group", TIMES[0]),
    ("shared out", "one device's share for the whole", 2 * 70_553_706_496 / 4),
    ("shared out", "multiplied by the devices", 2 * 70_553_706_496 * 4),
    ("linked", "the time on the links between devices left out", TIMES[0] / 4),
    (
        "linked",
        "both directions of the link added",
        TIMES[0] / 4 + RING / 2 + 160 * Fraction(5, 10**6),
    ),
    ("longest", "the output left out of the longest context", 1000),
    ("longest", "the prompt left out of the longest context", 24),
    ("longest", "tokens counted with a k of 1,024", 1023 / 1.024),  # the last token is never read
    ("longest", "tokens counted with a k of 1,000", 1023 * 1.024),
    ("capacity", "memory of so many GB taken as GiB", 80 * 1024**3),
    ("capacity", "memory of so many GiB taken as GB", 80 * 10**9 * (1000 / 1024) ** 3),
    ("link", "both directions of the link added", 900 * 10**9),
    ("money", "hours taken for seconds", 6),
    # of eight experts two a token; 8*(1 - (3/4)**3) = 4.625 for three tokens
    ("routed", "a step reads the experts of one token, whatever its batch", 2),
    ("routed", "every expert is read, however few tokens there are", 8),
    ("routed", "no two tokens share an expert", 6),
    ("reading", "reads of the cache left out", TIMES[0]),
    ("reading", "no cache at all", TIMES[0]),
    ("reading", "of a sequence, not of one token", 5000 * Fraction(READ_BY_EIGHT, 3350 * 10**9)),
    ("reading", "of one token, not of the sequence", Fraction(READ_BY_EIGHT, 5000 * 3350 * 10**9)),
    ("reading", "of the prompt, not of one token", 4000 * Fraction(READ_BY_EIGHT, 3350 * 10**9)),
    ("reading", "one token of context more", Fraction(READ_BY_EIGHT + 8 * 327_680, 3350 * 10**9)),
    (
        "reading",
        "a k of 1,024 in the context",
        Fraction(140 * 10**9 + 8 * 5120 * 327_680, 3350 * 10**9),
    ),
    (
        "reading",
        "one request in place of the batch",
        Fraction(140 * 10**9 + 5000 * 327_680, 3350 * 10**9),
    ),
    ("reading", "the bandwidth of the h200", Fraction(READ_BY_EIGHT, 4800 * 10**9)),
    ("reading", "the bandwidth of the h20", Fraction(READ_BY_EIGHT, 4000 * 10**9)),
    (
        "growing",
        "every step at one context, as if the cache did not grow",
        1023 * Fraction(140 * 10**9 + 8 * 4000 * 327_680, 3350 * 10**9),
    ),
    ("ungrouped", "8 KV heads", 2 * 32 * 8 * 128 * 2),
    ("ungrouped", "1 KV heads", 2 * 32 * 128 * 2),
    (
        "short prompt",
        "only the prefill's FLOPs timed: no memory floor",
        Fraction(2 * 70 * 96, 989_400),
    ),
    (
        "long prompt",
        "of one prompt token, not of the prompt",
        Fraction(LINEAR // 4000, 989_400 * 10**9),
    ),
    (
        "long prompt",
        "the sparse peak, 1978.9 TFLOP/s, for the dense one",
        Fraction(LINEAR, 1_978_900 * 10**9),
    ),
    ("long prompt", "the fp8 peak", Fraction(LINEAR, 1_978_900 * 10**9)),
    ("long prompt", "the tf32 peak", Fraction(LINEAR, 494_700 * 10**9)),
    ("long prompt", "the peak of the h20", Fraction(LINEAR, 148_000 * 10**9)),
    ("wide", "only the decode's bytes timed: no compute floor", TIMES[0]),
    ("swapped", "both directions of the host link added", Fraction(4096 * 327_680, 128 * 10**9)),
    ("every step", "one decode step fewer than counted", 999 * TIMES[0]),
    ("every step", "a k of 1,024 in the output", 1024 * TIMES[0]),
    ("long answer", "a k of 1,000 in the output", 999 * TIMES[0]),
    *(
        ("one byte", f"{what} at fp16", 2 * 70_553_706_496)
        for what in ("the weights", "weights and arithmetic", "weights, cache and arithmetic")
    ),
    *(
        ("held", f"{what} at {name}", width * P8)
        for what in ("weights and arithmetic", "weights, cache and arithmetic")
        for name, width in (("fp32", 4), ("fp8", 1), ("int4", Fraction(1, 2)))
    ),
    ("held", "the weights at fp8", P8),
    ("cache of bytes", "the kv at fp16", 4096 * 327_680),
    (
        "cache of bytes",
        "width guessed as sqrt(params/(12*n_layers)), grouped heads left out",
        4096 * 2 * 80 * (70_553_706_496 / 960) ** 0.5,
    ),
    ("read as bytes", "the gathered input table streamed too", READ // 2 + TABLE),
    ("read as bytes", "the head not streamed", READ // 2 - TABLE),
    ("prefix of 1,000", "a k of 1,024 in the cached_prefix", Fraction(2 * 70 * 2976, 989_400)),
    ("prefix of 1,024", "a k of 1,000 in the cached_prefix", Fraction(2 * 70 * 3000, 989_400)),
    ("later", "of one token, not of the sequence", 4 * 327_680),
    ("later", "of a sequence, not of one token", CACHE * 4096),
    ("later", "a k of 1,000 in the context", 4 * 4000 * 327_680),
]


@cache
def predicted(claim):
    """Every value that a slip leads to, by its words."""
    value, spec = CLAIMS[claim]
    made = ClaimSpec(id="c", value=value, **spec)
    context = context_of(made, derived(made), value)
    found = {}
    for slip in CATALOGUE:
        for prediction in predictions(context, slip):
            found.setdefault(prediction.texts[0], []).append(float(prediction.value))
    return found


@pytest.mark.parametrize(
    ("claim", "text", "value"), HAND, ids=[f"{claim}: {text}" for claim, text, _ in HAND]
)
def test_a_slip_leads_where_the_hand_comes(claim, text, value):
    assert any(
        found == pytest.approx(float(value), rel=1e-12) for found in predicted(claim).get(text, ())
    ), predicted(claim).get(text)


def test_a_margin_is_a_share_of_the_price():
    """At 25 % of it a price is 4/3 of the cost, not 5/4."""
    (found,) = predicted("price")["a share of the price put on top of the cost"]
    (down,) = predicted("price")["the decimal point 1 place to the left"]
    assert found == pytest.approx(10 * down * (3 / 4) * (5 / 4), rel=1e-12)


def test_every_way_of_the_catalogue_is_worked_out_by_hand():
    """Each stands in the catalogue once and leads where a row states; rounded figures have a test of their own, and so has the price put on top of a cost."""
    assert len({slip.name for slip in CATALOGUE}) == len(CATALOGUE)
    ways = {
        way.text
        for slip in CATALOGUE
        for way in slip.variants
        if not isinstance(way, RoundedFigure)
    }
    patterns = {way: re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(way))) for way in ways}
    assert [
        way for way in ways if not any(patterns[way].fullmatch(text) for _, text, _ in HAND)
    ] == ["a share of the price put on top of the cost"]


ROUNDED = {
    "reading": {
        "params": (1, 2),
        "kv_bytes_per_token": (2, 3),
        "weight_bytes_read": (2, 3),
        "peak_flops": (2, 3),
        "mem_bandwidth": (2,),
    },
    "later": {"kv_bytes_per_token": (2, 3), "kv_cache_bytes": (2, 3)},
    "held": {"params": (1, 2), "weight_bytes": (2, 3)},
    "ridge": {"ridge_point": (2, 3), "peak_flops": (2, 3), "mem_bandwidth": (2,)},
    "first token": {
        "params": (1, 2),
        "peak_flops": (2, 3),
        "mem_bandwidth": (2,),
        "weight_bytes_read": (2, 3),
        "prefill_time": (2, 3),
    },
}


@pytest.mark.parametrize("claim", ROUNDED)
def test_which_figures_are_rounded_on_the_way(claim):
    """People write down few figures before they go on, each to so many digits."""
    texts = {
        f"{name} rounded to {digits} digit{'s' if digits > 1 else ''} on the way"
        for name, places in ROUNDED[claim].items()
        for digits in places
    }
    assert {text for text in predicted(claim) if "rounded to" in text} == texts


def test_figures_that_are_rounded_on_the_way():
    """A step of 12.0565 ms, 82.943 a second; a figure that moves the answer by more than a tenth (10 ms) is no such slip."""
    found = {text: value for text, (value, *_) in predicted("linked").items() if "rounded" in text}
    assert 1000 * float(TIMES[0] / 4 + RING) == pytest.approx(12.0565, abs=1e-4)
    assert found["mem_bandwidth rounded to 2 digits on the way"] == pytest.approx(
        float(TIMES[0]) / 4 * 3.35 / 3.4 + float(RING), rel=1e-12
    )
    assert {
        text: 1000 * value for text, value in found.items() if text.startswith(("itl", "user_rate"))
    } == pytest.approx(
        {
            "itl rounded to 2 digits on the way": 12,
            "itl rounded to 3 digits on the way": 12.1,
            "user_rate rounded to 1 digit on the way": 1000 / 80,
            "user_rate rounded to 2 digits on the way": 1000 / 83,
            "user_rate rounded to 3 digits on the way": 1000 / 82.9,
        }
    )
