"""Tables of the five sources, as printed; cells that a row of a system has already stand there."""

import pytest

from ..tables import words
from . import B70, H100, TUTORIAL, WEIGHTS, check, row

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
            ("TTFT OK", "ttft <= ttft_target"),
            ("ITL OK", "itl <= itl_target"),
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

# Fifth: the chapter
ENVELOPE_COLUMNS = (
    ("prefill", 4096, 1, ("573 TFLOP", "140 GB", 4096, "compute", "0.58 s", 4096, "7e3 tok/s")),
    ("decode", 4096, 1, ("140 GFLOP", "140 GB", 1, "memory", "41.8 ms", 1, "24 tok/s")),
    ("decode", 4096, 32, ("4.48 TFLOP", "140 GB", 32, "memory", "41.8 ms", 32, "766 tok/s")),
)
STEP_QUANTITIES = words(
    "{}_flops {}_bytes {}_intensity {}_bound {}_roofline_time {}_tokens {}_throughput"
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


@pytest.mark.parametrize("case", [*PHASE, *QUANTIZATION, *SLA, *BANDWIDTH, *ENVELOPE])
def test_cell(case):
    check(case)
