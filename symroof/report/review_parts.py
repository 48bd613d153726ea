"""The parts of a review, in order: the sections of its data that each one shows, and its pictures."""

BRIEF = ("verdict", "alternatives", "memory", "time", "flips", "assumes", "claims", "against")  # fmt: skip
"""The parts of a review before its appendix."""
PARTS = (
    *BRIEF,
    "derivations",
    "serving",
    "thresholds",
    "all-flips",
    "sensitivities",
    "approximations",
    "ledger",
    "sources",
)
"""Every part, in order."""
FIGURES_OF = {
    "verdict": ("pareto",), "alternatives": ("latency-throughput",), "memory": ("memory",), "thresholds": ("regimes",),
    "derivations": ("roofline", "ttft", "itl", "memory"), "sensitivities": ("tornado",), "against": ("waterfall",),
}  # fmt: skip
"""The pictures of each part."""
SHOWN_IN = {
    "derivations": ("derivations",), "flips": ("flips", "all-flips"), "isolated": ("derivations",), "bounds": ("derivations",), "assumes": ("assumes",), "rooflines": ("time", "approximations"),
    "ledger": ("ledger",), "memory": ("memory",), "itl": ("derivations",), "operators": ("time", "derivations"), "serving": ("serving",),
    "thresholds": ("thresholds",), "closed_forms": ("thresholds",), "claims": ("claims",), "elasticities": ("sensitivities",), "levels": ("approximations",),
}  # fmt: skip
"""The parts that use a section of the data; it is only computed for these. Other sections are always computed."""
FIGURES = (
    "memory",
    "latency_throughput",
    "ttft",
    "itl",
    "roofline",
    "regimes",
    "pareto",
    "tornado",
    "waterfall",
)
"""Names of the pictures in templates; one that is not drawn is None."""
