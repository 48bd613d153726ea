"""The parts of a review, in order: the sections of its data that each one shows, and its pictures."""

BRIEF = ("verdict", "alternatives", "memory", "time", "assumes", "claims", "against")
"""The parts of a review before its appendix."""
PARTS = (
    *BRIEF,
    "derivations",
    "serving",
    "thresholds",
    "sensitivities",
    "ledger",
    "sources",
)
"""Every part, in order."""
FIGURES_OF = {
    "verdict": ("pareto",),
    "alternatives": ("latency-throughput",),
    "memory": ("memory",),
    "thresholds": ("regimes",),
    "derivations": ("roofline", "ttft", "itl", "memory"),
    "sensitivities": ("tornado",),
    "against": ("waterfall",),
}
"""The pictures of each part."""
FIGURES = tuple({name.replace("-", "_"): 1 for names in FIGURES_OF.values() for name in names})
"""Names of the pictures in templates; one that is not drawn is None."""
