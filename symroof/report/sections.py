"""The parts of a review, in order, and the pictures each shows."""

BRIEF = ("verdict", "alternatives", "memory", "time", "flips", "thresholds", "claims", "against")
"""The parts of a review before its appendix."""
PARTS = (*BRIEF, "derivations", "serving", "all-thresholds", "all-flips", "sensitivities", "approximations", "ledger", "sources")
"""Every part, in order."""
FIGURES_OF = {
    "verdict": ("memory", "latency-throughput"), "alternatives": ("pareto",), "memory": ("memory",), "all-thresholds": ("regimes",),
    "derivations": ("roofline", "ttft", "itl", "latency-throughput"), "sensitivities": ("tornado",), "against": ("waterfall",),
}  # fmt: skip
"""The pictures each part shows."""
