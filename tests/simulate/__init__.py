"""Servers whose steps can be timed by hand, and one that serves them with a loop over requests instead of sums over batches."""

import symroof as sr

from .. import tables


def by_hand(scheduling="chunked", **more):
    """A case whose step takes 2 ms a token: 10⁹ parameters at 10¹² FLOP/s, and a cache that takes no room."""
    case = tables.case_of(
        "params=1e9 active_params=1e9 peak_flops=1e12 mem_bandwidth=1e12 weight_bytes_per_param=2 "
        "kv_bytes_per_token=0"
    )
    usual = {"prompt": 10, "output": 3, "batch": 2, "chunk": 8}
    return sr.Study(**case, **usual | more, assume={"detail": "weights", "scheduling": scheduling})


def write_trace(folder, rows, name="trace.csv", head="arrival,prompt,output"):
    """A trace of rows of numbers."""
    path = folder / name
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
