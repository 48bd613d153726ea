"""Tables of the five sources, as printed; cells that a row of a system has already stand there."""

import pytest

from ..tables import words
from . import B70, H100, WEIGHTS, check, row, rows

SLA = {"ttft_target": "200 ms", "itl_target": "50 ms"}
# The tutorial (first source): three tables, to every printed digit, through the preset that names its hidden settings.
# Second source: 35 GB of 4-bit weights.
ROWS = rows(
    globals(),
    """
ttft     | 66.52 ms | TUTORIAL hardware=h100-sxm prompt=2048
itl      | 8.35 ms  | TUTORIAL hardware=h100-sxm prompt=2048
weight_bytes   | 16.06 GB | TUTORIAL hardware=h100-sxm prompt=2048
kv_cache_bytes | 1.20 GB  | TUTORIAL hardware=h100-sxm prompt=2048
memory_utilization | 20.1 % | TUTORIAL hardware=h100-sxm prompt=2048
ttft         | 33.25 ms | TUTORIAL H100 prompt=2048 weights=int8
itl          | 5.78 ms  | TUTORIAL H100 prompt=2048 weights=int8
weight_bytes | 8.03 GB  | TUTORIAL H100 prompt=2048 weights=int8
ttft         | 66.52 ms | TUTORIAL H100 prompt=2048 weights=int4
itl          | 4.49 ms  | TUTORIAL H100 prompt=2048 weights=int4
weight_bytes | 4.02 GB  | TUTORIAL H100 prompt=2048 weights=int4
ttft | 2024.1 ms | TUTORIAL hardware=t4 prompt=4096
itl  | 60.88 ms  | TUTORIAL hardware=t4 prompt=4096
itl <= itl_target   | = False  | TUTORIAL hardware=t4 prompt=4096 SLA
ttft | 421.7 ms  | TUTORIAL hardware=a100-80gb-sxm prompt=4096
itl  | 12.25 ms  | TUTORIAL hardware=a100-80gb-sxm prompt=4096
ttft <= ttft_target | = False  | TUTORIAL hardware=a100-80gb-sxm prompt=4096 SLA
itl <= itl_target   | = True   | TUTORIAL hardware=a100-80gb-sxm prompt=4096 SLA
ttft | 133.0 ms  | TUTORIAL hardware=h100-sxm prompt=4096
itl  | 8.71 ms   | TUTORIAL hardware=h100-sxm prompt=4096
ttft <= ttft_target | = True   | TUTORIAL hardware=h100-sxm prompt=4096 SLA
itl  | 7.05 ms   | TUTORIAL hardware=h200 prompt=4096
user_rate | 29 tok/s | B70 hardware=rtx-4090 weights=int4 detail=weights
user_rate | 27 tok/s | B70 hardware=rtx-3090 weights=int4 detail=weights
user_rate | 58 tok/s | B70 hardware=a100-80gb-sxm weights=int4 detail=weights
user_rate | 23 tok/s | B70 hardware=m2-ultra weights=int4 detail=weights
""",
)

# Fifth: the chapter
ENVELOPE_COLUMNS = (
    ("prefill", 4096, 1, ("573 TFLOP", "140 GB", 4096, "compute", "0.58 s", 4096, "7e3 tok/s")),
    ("decode", 4096, 1, ("140 GFLOP", "140 GB", 1, "memory", "41.8 ms", 1, "24 tok/s")),
    ("decode", 4096, 32, ("4.48 TFLOP", "140 GB", 32, "memory", "41.8 ms", 32, "766 tok/s")),
)
STEP_QUANTITIES = words(
    "{}_flops {}_bytes {}_intensity {}_bound {}_roofline_time {}_tokens {}_throughput"
)
CHAPTER = {**B70, **H100, "peak_flops": "989.5 TFLOP/s", "assume": WEIGHTS}
ENVELOPE = [
    row(
        f"{name.format(step)} {batch}",
        name.format(step),
        printed,
        **CHAPTER,
        prompt=prompt,
        batch=batch,
    )
    for step, prompt, batch, column in ENVELOPE_COLUMNS
    for name, printed in zip(STEP_QUANTITIES, column, strict=True)
]


@pytest.mark.parametrize("case", [*ROWS, *ENVELOPE])
def test_cell(case):
    check(case)
