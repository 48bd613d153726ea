"""Tables of the five sources, as printed; cells that a row of a system has already stand there."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import B70, H100, TUTORIAL, WEIGHTS, agree, check, row

# The tutorial (first source): three tables, to every printed digit, through the preset that names its hidden settings
PHASE = [
    row(
        f"tutorial, phases: {quantity}",
        quantity,
        printed,
        **TUTORIAL,
        hardware="h100-sxm",
        prompt=2048,
    )
    for quantity, printed in (
        ("ttft", "66.52 ms"),
        ("itl", "8.35 ms"),
        ("weight_bytes", "16.06 GB"),
        ("kv_cache_bytes", "1.20 GB"),
        ("memory_utilization", "20.1 %"),
    )
]
QUANTIZATION = [
    row(
        f"tutorial, {weights}: {quantity}",
        quantity,
        printed,
        **TUTORIAL,
        **H100,
        prompt=2048,
        weights=weights,
    )
    for weights, *numbers in (
        ("fp16", "66.52 ms", "8.35 ms", "16.06 GB"),
        ("int8", "33.25 ms", "5.78 ms", "8.03 GB"),
        ("int4", "66.52 ms", "4.49 ms", "4.02 GB"),
    )
    for quantity, printed in zip(("ttft", "itl", "weight_bytes"), numbers, strict=True)
]
SLA_TABLE = (
    ("t4", "2024.1 ms", "60.88 ms", False, False),
    ("a100-80gb-sxm", "421.7 ms", "12.25 ms", False, True),
    ("h100-sxm", "133.0 ms", "8.71 ms", True, True),
    ("h200", "133.0 ms", "7.05 ms", True, True),
)
SLA = [
    row(
        f"tutorial, {hardware}: {name}",
        quantity,
        printed,
        **TUTORIAL,
        hardware=hardware,
        prompt=4096,
        ttft_target="200 ms",
        itl_target="50 ms",
    )
    for hardware, *cells in SLA_TABLE
    for (name, quantity), printed in zip(
        (
            ("TTFT", "ttft"),
            ("ITL", "itl"),
            ("TTFT OK", lambda s: s.value("ttft") <= s.value("ttft_target")),
            ("ITL OK", lambda s: s.value("itl") <= s.value("itl_target")),
        ),
        cells,
        strict=True,
    )
]

# Second source: 35 GB of 4-bit weights on four devices
BANDWIDTH = [
    row(
        f"bandwidth list, {hardware}",
        quantity,
        printed,
        **B70,
        hardware=hardware,
        weights="int4",
        assume=WEIGHTS,
    )
    for hardware, *numbers in (
        ("rtx-4090", "1,008e-3 TB/s", "29 tok/s"),
        ("rtx-3090", "936e-3 TB/s", "27 tok/s"),
        ("a100-80gb-sxm", "2,039e-3 TB/s", "58 tok/s"),
        ("m2-ultra", "800e-3 TB/s", "23 tok/s"),
    )
    for quantity, printed in zip(("mem_bandwidth", "user_rate"), numbers, strict=True)
]

# Third: the code of the blog post
CODE = {"params": 70 * 10**9, "peak_flops": 989e12, "mem_bandwidth": 3.35e12, "assume": WEIGHTS}
POST = [
    row("code: ridge point", "ridge_point", "295 FLOP/byte", **CODE),
    row("code: regime(1)", "decode_bound", "memory", **CODE, batch=1),
    row("code: regime(4000)", "prefill_bound", "compute", **CODE, prompt=4000),
    row("code: regime(256)", "decode_bound", "memory", **CODE, batch=256),
    row("code: 140 GB", "weight_bytes", "140 GB", **CODE),
    row("code: 0.042 s", "itl", "0.042 s", **CODE),
    row("code: 24 tokens/sec", "user_rate", "24 tok/s", **CODE),
]

# Fifth: the chapter
ENVELOPE_COLUMNS = (
    ("prefill", 4096, 1, ("573 TFLOP", "140 GB", 4096, "compute", "0.58 s", 4096, "7e3 tok/s")),
    ("decode", 4096, 1, ("140 GFLOP", "140 GB", 1, "memory", "41.8 ms", 1, "24 tok/s")),
    ("decode", 4096, 32, ("4.48 TFLOP", "140 GB", 32, "memory", "41.8 ms", 32, "766 tok/s")),
)
STEP_QUANTITIES = (
    "{}_flops",
    "{}_bytes",
    "{}_intensity",
    "{}_bound",
    "{}_roofline_time",
    "{}_tokens",
    "{}_throughput",
)
ENVELOPE = [
    row(
        f"back of the envelope: batch {batch}, {quantity.format(step)}",
        quantity.format(step),
        printed,
        **B70,
        **H100,
        peak_flops="989.5 TFLOP/s",
        prompt=prompt,
        batch=batch,
        assume=WEIGHTS,
    )
    for step, prompt, batch, column in ENVELOPE_COLUMNS
    for quantity, printed in zip(STEP_QUANTITIES, column, strict=True)
]


@pytest.mark.parametrize("case", [*PHASE, *QUANTIZATION, *SLA, *BANDWIDTH, *POST, *ENVELOPE])
def test_cell(case):
    check(case)


def test_tutorial_says_fraction_of_a_millisecond_and_prints_eight():
    """ "ITL is a fraction of a millisecond": its own table has 8.35 ms, and the weights alone take 4.79 ms."""
    assert Study(**TUTORIAL, **H100, prompt=2048).value("itl") > Fraction(8, 1000)


def test_batch_295_is_not_quite_the_ridge():
    """The chapter calls batch 295 the ridge point: R is 295.34, so 295 is still (just) memory-bound and 296 is the first beyond it."""
    times = {
        batch: Study(params=70 * 10**9, batch=batch, assume=WEIGHTS, **H100) for batch in (295, 296)
    }
    assert times[295].value("decode_compute_time") < times[295].value("decode_memory_time")
    assert times[296].value("decode_compute_time") > times[296].value("decode_memory_time")
    agree(times[295].value("decode_compute_time") / times[295].value("decode_memory_time"), "0.999")
