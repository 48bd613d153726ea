"""Where each slip of the catalogue leads, worked out by hand: the figure that somebody who makes it writes down."""

import re
from fractions import Fraction
from functools import cache
from itertools import groupby

import pytest

from symroof.claims.annotations import annotation_fields
from symroof.claims.claim_settings import merged_settings
from symroof.claims.derive_claim import derived
from symroof.claims.slips import CATALOGUE, context_of, predictions
from symroof.specs.claims import ClaimSpec

FIRST = "model=llama-3-70b hardware=h100-sxm params=70e9 prompt=4000 assume.detail=weights"
CLAIMS = """
cache | 1 GB | kv_cache_bytes model=llama-3-70b prompt=4096 batch=4 output=100
latent | 30 KB | kv_bytes_per_token model=deepseek-v2-lite
narrow heads | 1 KB | kv_bytes_per_token model=mistral-nemo-12b
experts | 47e9 | params model=mixtral-8x7b
active | 13e9 | active_params model=mixtral-8x7b
read | 15 GB | weight_bytes_read model=llama-3-8b
held | 16 GB | weight_bytes model=llama-3-8b
verify | 2 | tokens_per_verify acceptance=0.5 draft_tokens=4
price | 1 USD | price_per_mtok FIRST price='2 USD/hour' margin=0.25 output=100
prefill | 1 PFLOP | prefill_flops FIRST assume.detail=attention
square | 1 PFLOP | prefill_flops FIRST assume.detail=attention assume.attention=full
step | 42 ms | decode_roofline_time FIRST batch=8
read prompt | 1 s | prefill_roofline_time FIRST
response | 0.4 s | decode_time FIRST output=10
group | 1 ms | decode_roofline_time FIRST tp=4
linked | 1 ms | itl FIRST tp=4 link_latency='10 us'
shared out | 141 GB | weight_bytes model=llama-3-70b tp=4
longest | 1024 token | peak_context prompt=1000 output=24
capacity | 80 GB | mem_capacity mem_capacity='80 GB'
ridge | 300 | ridge_point hardware=h100-sxm
half a byte | 4 GB | weight_bytes model=llama-3-8b weight_bytes_per_param=0.5
windows | 2 GB | kv_cache_bytes model=gemma-2-9b context=8192 kv=bf16
hybrid | 25 KB | kv_bytes_per_token model=qwen3-next-80b-a3b kv=bf16
loading | 20 s | load_time params=70e9 weights=fp16 disk_bandwidth='7 GB/s'
first token | 0.6 s | ttft FIRST
routed | 4.6 | experts_read model=mixtral-8x7b batch=3
drawn | 26 GB | weight_bytes_read model=mixtral-8x7b batch=1
worked | 25 GFLOP/token | linear_flops_per_token model=mixtral-8x7b
prefilled | 26 TFLOP | prefill_flops model=mixtral-8x7b prompt=1000
reading | 50 ms | decode_roofline_time FIRST batch=8 context=5000 assume.detail=kv
growing | 40 s | decode_time FIRST batch=8 output=1024 assume.detail=kv
ungrouped | 0.5 MB | kv_bytes_per_token model=llama-2-7b
short prompt | 42 ms | prefill_roofline_time FIRST prompt=96
long prompt | 0.6 s | prefill_roofline_time FIRST context=5000
wide | 60 ms | decode_roofline_time FIRST batch=400
swapped | 20 ms | swap_time model=llama-3-70b prompt=4096 hardware=h100-sxm
every step | 40 s | decode_time FIRST output=1000 assume.decode_steps=output
long answer | 40 s | decode_time FIRST output=1024
one byte | 70 GB | weight_bytes model=llama-3-70b weights=fp8 kv=fp8
cache of bytes | 1 GB | kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp8
prefix of 1,000 | 0.4 s | prefill_roofline_time FIRST cached_prefix=1000
prefix of 1,024 | 0.4 s | prefill_roofline_time FIRST cached_prefix=1024
later | 5 GB | kv_cache_bytes model=llama-3-70b prompt=3000 context=4096 batch=4
"""
"""Claims by name, each with its value and its annotation; FIRST stands for a case that is laid under."""
CACHE, TABLE = 4 * 4096 * 327_680, 128_256 * 4096
"""Four caches of 4,096 tokens of 2*80*8*128 16-bit numbers; the vectors of Llama 3 8B's vocabulary."""
P8, MIXTRAL, TABLE8 = 8_030_261_248, 46_702_792_704, 32_000 * 4096
ACTIVE = 12_879_925_248 - TABLE8
"""Mixtral's published count of active parameters less the table that a token looks up."""
READ = 2 * (P8 - TABLE - 65 * 4096)
"""Without the vectors of 65 norms."""
LINEAR, PAIRS = 2 * 70 * 10**9 * 4000, 80 * 4 * 64 * 128
STEP, FLOPS = Fraction(140, 3350), Fraction(8 * 140, 989_400)
"""Seconds of a step's bytes, and of its FLOPs for eight."""
READ_BY_EIGHT = 140 * 10**9 + 8 * 5000 * 327_680
"""Bytes of a step for eight requests of 5,000 tokens."""
RING = 160 * (Fraction(10, 10**6) + Fraction(2 * 3, 4) * 8192 * 2 / (450 * 10**9))
GUESSED = 4096 * 2 * 80 * (70_553_706_496 / 960) ** 0.5
F, BETA, PEAK, KV8 = Fraction, 3350 * 10**9, 989_400 * 10**9, 8 * 327_680

HAND = """
cache | 8*CACHE | query heads used for KV heads in the cache
cache | 8*CACHE | query heads used for KV heads
cache | CACHE/2 | keys without values, or values without keys
cache | 2*CACHE | the factor 2 of keys and values twice
cache | 1*CACHE/8 | 1 KV heads
cache | 2*CACHE/8 | 2 KV heads
cache | 4*CACHE/8 | 4 KV heads
cache | 16*CACHE/8 | 16 KV heads
cache | 32*CACHE/8 | 32 KV heads
cache | 8*GUESSED | width guessed as sqrt(params/(12*n_layers)), grouped heads left out
cache | CACHE/80 | the cache of one layer
cache | CACHE/80 | one layer in place of all
cache | CACHE*80 | layers counted twice
cache | CACHE/4 | one request in place of the batch
cache | CACHE/4 | the batch left out
cache | 4*CACHE | multiplied by the batch once more
cache | CACHE/4096 | of one token, not of the sequence
cache | CACHE*4096 | of a sequence, not of one token
cache | CACHE/4096 | of one prompt token, not of the prompt
cache | 4*4097*327_680 | one token of context more
cache | 2*CACHE | the kv at fp32
cache | CACHE/2 | the kv at fp8
cache | CACHE/4 | the kv at int4
cache | CACHE/2 | weights, cache and arithmetic at fp8
cache | CACHE*(1000/1024)**3 | a GiB written for a GB
cache | CACHE*1.024**3 | a GB written for a GiB
cache | 4*4000*327_680 | a k of 1,000 in the prompt
cache | CACHE*1.024 | a k of 1,024 in the context
cache | 8*CACHE | bits taken for bytes
cache | CACHE/8 | bytes taken for bits
cache | 1/CACHE | the ratio upside down
cache | CACHE*10**1 | the decimal point 1 place to the right
cache | CACHE*10**2 | the decimal point 2 places to the right
cache | CACHE/10**1 | the decimal point 1 place to the left
cache | CACHE/10**2 | the decimal point 2 places to the left
cache | CACHE*1000 | a factor of 1,000 too much
cache | CACHE/1000 | a factor of 1,000 too little
latent | 27*2*16*(128 + 64 + 128) | keys and values of every head kept in place of their latent
latent | 27*2*16*2*128 | a latent cache taken for two vectors of value_dim a head
latent | 27*2*2*512 | a latent for keys and another for values
latent | 27*2*512 | the rotated key beside the latent left out
narrow heads | 2*40*8*160*2 | head width taken as d_model/n_heads in attention
narrow heads | 2*40*8*160*2 | head width taken as d_model/n_heads
experts | ACTIVE | only the parameters that a token multiplies counted
experts | ACTIVE + TABLE8 | only the parameters that a token multiplies counted, and the input table
experts | MIXTRAL + TABLE8 | a tied embedding counted twice, or a head counted in
experts | MIXTRAL - TABLE8 | an untied head left out
active | MIXTRAL | every parameter taken for one that a token multiplies
active | ACTIVE + TABLE8 | the gathered input table counted among the active parameters
active | ACTIVE + 32*6*3*4096*14_336 | every expert multiplied by every token
read | READ + 2*TABLE | the gathered input table streamed too
read | READ - 2*TABLE | the head not streamed
held | P8 | weights at one byte each: the bytes of a parameter forgotten
held | 4*P8 | the weights at fp32
held | 4*P8 | weights of 4 byte each
held | P8/2 | weights of 1/2 byte each
half a byte | 2*P8 | weights of 2 byte each
held | P8/2 | the weights at int4
verify | 3 | accepted tokens added up, though each needs all before it to be accepted
verify | 15/16 | only the tokens that are accepted counted, not the one that comes with them
prefill | LINEAR + PAIRS*4000**2 | the whole square of attention counted, not the causal half
prefill | LINEAR | attention FLOPs left out
prefill | 3*LINEAR + PAIRS*4000*4001/2 | 6 FLOP a parameter and token, as in training, for 2
prefill | 3*(LINEAR + PAIRS*4000*4001/2) | forward and backward pass counted, as in training
prefill | (LINEAR + PAIRS*4000*4001/2)/2 | multiply-adds counted as one FLOP
prefill | (LINEAR + PAIRS*4000*4001/2)*2 | FLOPs doubled once more
square | LINEAR + PAIRS*4000*4001/2 | the causal half counted, not the whole square
step | FLOPS | only the decode's FLOPs timed: no memory floor
read prompt | STEP | only the prefill's bytes timed: no compute floor
windows | 2*42*8*256*2*8192 | every layer keeps the whole context, as if none had a window
hybrid | 2*48*2*256*2 | every layer taken for one that keeps a cache
loading | 160 | a rate in bytes taken for one in bits
loading | F(5, 2) | a rate in bits taken for one in bytes
step | 1/(1000*STEP) | a rate read as a time in milliseconds
read prompt | F(LINEAR, PEAK)*1024/1000 | a k of 1,024 in the prompt
step | 1000/STEP | a time in milliseconds read as a rate
step | 3600*STEP | hours taken for seconds
step | STEP/3600 | seconds taken for hours
response | 10*STEP | as many decode steps as output tokens; the first token comes with the prefill
response | 10*STEP | one output token more
response | 8*STEP | one output token fewer
response | F(9, 10)*STEP | of one output token, not of the response
response | 90*STEP | of the response, not of one output token
group | STEP | one device in place of the group
shared out | 2*70_553_706_496/4 | one device's share for the whole
shared out | 2*70_553_706_496*4 | multiplied by the devices
linked | STEP/4 | the time on the links between devices left out
linked | STEP/4 + RING/2 + 160*F(5, 10**6) | both directions of the link added
longest | 1000 | the output left out of the longest context
longest | 24 | the prompt left out of the longest context
longest | 1023/1.024 | tokens counted with a k of 1,024
longest | 1023*1.024 | tokens counted with a k of 1,000
capacity | 80*1024**3 | memory of so many GB taken as GiB
capacity | 80*10**9*(1000/1024)**3 | memory of so many GiB taken as GB
drawn | 2*MIXTRAL | every weight that is stored taken for one that is read
worked | 2*MIXTRAL | every parameter taken for one that a token multiplies
prefilled | 2000*MIXTRAL | every parameter taken for one that a token multiplies
routed | 2 | a step reads the experts of one token, whatever its batch
routed | 8 | every expert is read, however few tokens there are
routed | 6 | no two tokens share an expert
reading | STEP | reads of the cache left out
reading | STEP | no cache at all
reading | 4000*F(READ_BY_EIGHT, BETA) | of the prompt, not of one token
reading | F(READ_BY_EIGHT, 4800*10**9) | the bandwidth of the h200
growing | 1023*(STEP + 4000*F(KV8, BETA)) | every step at one context, as if the cache did not grow
ungrouped | 2*32*8*128*2 | 8 KV heads
short prompt | F(2*70*96, 989_400) | only the prefill's FLOPs timed: no memory floor
long prompt | F(LINEAR, 1_978_900*10**9) | the sparse peak, 1978.9 TFLOP/s, for the dense one
long prompt | F(LINEAR, 1_978_900*10**9) | the fp8 peak
long prompt | F(LINEAR, 148_000*10**9) | the peak of the h20
wide | STEP | only the decode's bytes timed: no compute floor
swapped | F(4096*327_680, 128*10**9) | both directions of the host link added
every step | 999*STEP | one decode step fewer than counted
every step | 1024*STEP | a k of 1,024 in the output
long answer | 999*STEP | a k of 1,000 in the output
one byte | 2*70_553_706_496 | the weights at fp16
one byte | 2*70_553_706_496 | weights and arithmetic at fp16
one byte | 2*70_553_706_496 | weights, cache and arithmetic at fp16
held | 4*P8 | weights and arithmetic at fp32
held | 1*P8 | weights and arithmetic at fp8
held | F(1, 2)*P8 | weights and arithmetic at int4
held | 4*P8 | weights, cache and arithmetic at fp32
held | F(1, 2)*P8 | weights, cache and arithmetic at int4
held | P8 | the weights at fp8
cache of bytes | 4096*327_680 | the kv at fp16
prefix of 1,000 | F(2*70*2976, 989_400) | a k of 1,024 in the cached_prefix
prefix of 1,024 | F(2*70*3000, 989_400) | a k of 1,000 in the cached_prefix
later | 4*4000*327_680 | a k of 1,000 in the context
"""
"""A claim, the figure that a slip leads to, and the words of the slip.

latent: 27 layers, 512 wide with a rotated key of 64; 16 heads of 128 and 64 for keys, of 128 for values.
narrow heads: 5,120/32 for the model's 128. hybrid: 12 of the 48 layers have a cache.
routed: of eight experts two a token; 8*(1 - (3/4)**3) = 4.625 for three tokens. longest: the last token is never read.
"""
ROWS = [tuple(line.split(" | ")) for line in HAND.strip().splitlines()]


def claim_of(name):
    """The claim of a name."""
    rows = (line.split(" | ") for line in CLAIMS.strip().splitlines())
    value, annotation = next((value, text) for one, value, text in rows if one == name)
    data = annotation_fields(annotation.replace("FIRST", ""))[0]
    base = annotation_fields(FIRST)[0]["given"] if "FIRST" in annotation else {}
    return ClaimSpec(
        id="c", value=value, **{**data, "given": merged_settings(base, data.get("given", {}))}
    )


@cache
def predicted(claim):
    """Every value that a slip leads to, by its words."""
    made = claim_of(claim)
    context = context_of(made, derived(made), str(made.value))
    found = {}
    for way in CATALOGUE:
        for prediction in predictions(context, way):
            found.setdefault(prediction.texts[0], []).append(float(prediction.value))
    return found


@pytest.mark.parametrize(("claim", "figure", "text"), ROWS)
def test_a_slip_leads_where_the_hand_comes(claim, figure, text):
    value = float(eval(figure, globals()))
    assert any(found == pytest.approx(value, rel=1e-12) for found in predicted(claim)[text])


def test_a_margin_is_a_share_of_the_price():
    """At 25 % of it a price is 4/3 of the cost, not 5/4."""
    (found,) = predicted("price")["a share of the price put on top of the cost"]
    (down,) = predicted("price")["the decimal point 1 place to the left"]
    assert found == pytest.approx(10 * down * (3 / 4) * (5 / 4), rel=1e-12)


def test_every_way_of_the_catalogue_is_worked_out_by_hand():
    """Each stands in the catalogue once and leads where a row states; rounded figures have a test of their own, and so has the price put on top of a cost."""
    names = [slip for slip, _ in groupby(way.slip for way in CATALOGUE)]
    assert len(set(names)) == len(names)
    ways = {way.text for way in CATALOGUE if not way.digits}
    patterns = {way: re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(way))) for way in ways}
    assert [way for way in ways if not any(patterns[way].fullmatch(text) for *_, text in ROWS)] == [
        "a share of the price put on top of the cost"
    ]


ROUNDED = """
reading | params 1 2, kv_bytes_per_token 2 3, weight_bytes_read 2 3, peak_flops 2 3, mem_bandwidth 2
later | kv_bytes_per_token 2 3, kv_cache_bytes 2 3
held | params 1 2, weight_bytes 2 3
ridge | ridge_point 2 3, peak_flops 2 3, mem_bandwidth 2
first token | params 1 2, peak_flops 2 3, mem_bandwidth 2, weight_bytes_read 2 3, prefill_time 2 3
"""


@pytest.mark.parametrize("row", ROUNDED.strip().splitlines())
def test_which_figures_are_rounded_on_the_way(row):
    """People write down few figures before they go on, each to so many digits."""
    claim, figures = row.split(" | ")
    every = [
        (name, digits) for name, *rest in map(str.split, figures.split(", ")) for digits in rest
    ]
    found = {text.split(" digit")[0] for text in predicted(claim) if "rounded to" in text}
    assert found == {f"{name} rounded to {digits}" for name, digits in every}


def test_figures_that_are_rounded_on_the_way():
    """A step of 12.0565 ms; a figure that moves the answer by more than a tenth (10 ms) is no such slip."""
    found = {text[:16]: one for text, (one, *_) in predicted("linked").items() if "rounded" in text}
    assert 1000 * float(STEP / 4 + RING) == pytest.approx(12.0565, abs=1e-4)
    assert found["mem_bandwidth ro"] == pytest.approx(
        float(STEP) / 4 * 3.35 / 3.4 + float(RING), rel=1e-12
    )
    times = {text: 1000 * value for text, value in found.items() if text.startswith("itl")}
    assert times == pytest.approx({"itl rounded to 2": 12, "itl rounded to 3": 12.1})
