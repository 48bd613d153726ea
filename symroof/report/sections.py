"""The parts of a review, in order, and the pictures each shows."""

BRIEF = ("verdict", "alternatives", "memory", "time", "flips", "thresholds", "claims", "against")
"""The parts of a review before its appendix."""
PARTS = (*BRIEF, "derivations", "serving", "all-thresholds", "all-flips", "sensitivities", "approximations", "ledger", "sources")
"""Every part, in order."""
FIGURES_OF = {
    "verdict": ("memory", "latency-throughput"), "alternatives": ("pareto",), "memory": ("memory",), "all-thresholds": ("regimes",),
    "derivations": ("roofline", "ttft", "itl", "latency-throughput", "memory"), "sensitivities": ("tornado",), "against": ("waterfall",),
}  # fmt: skip
"""The pictures each part shows."""
SHOWN_IN = {
    "derivations": ("derivations",), "flips": ("verdict", "flips", "all-flips"), "cases": ("alternatives", "derivations", "all-flips"), "lacking": ("all-flips",),
    "ledger": ("ledger",), "memory": ("memory",), "ttft": (), "itl": ("derivations",), "operators": ("time", "derivations"), "serving": ("serving",),
    "thresholds": ("thresholds", "all-thresholds"), "claims": ("claims",), "elasticities": ("sensitivities",), "approximations": ("approximations",),
}  # fmt: skip
"""The parts that show what a section of the view model holds: it is worked out for these alone. Any other section is for every part."""
