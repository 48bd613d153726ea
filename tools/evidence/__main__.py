"""``python -m tools.evidence [WHAT ...]`` fits the catalogue again and writes what rests on it.

``efficiencies`` is the table that symroof ships; the others are pages of the site and a picture, a minute each.
"""

import sys
from collections import Counter
from pathlib import Path

from tools.evidence.catalogue_table import CatalogueFit, efficiencies
from tools.evidence.measured_page import efficiencies_page, measured_page, measured_plot
from tools.evidence.serving_page import rates_page, serving_page

ROOT = Path(__file__).resolve().parents[2]
FROM_FIT = {
    "efficiencies": efficiencies,
    "measured": measured_page,
    "measured-plot": measured_plot,
    "fit": efficiencies_page,
}
ALONE = {"serving": serving_page, "rates": rates_page}
WRITTEN = {
    "efficiencies": "specs/efficiencies.yaml",
    "measured": "docs/measured.md",
    "measured-plot": "docs/measured.svg",
    "fit": "docs/validation/efficiencies.md",
    "serving": "docs/serving.md",
    "rates": "docs/validation/published-rates.md",
}


def main(words: list[str]) -> None:
    """Write what is named, or everything."""
    named = words or [*WRITTEN]
    if unknown := set(named) - set(WRITTEN):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(WRITTEN)}")
    fitted = CatalogueFit.of_catalogue()
    for name in named:
        text = FROM_FIT[name](fitted) if name in FROM_FIT else ALONE[name]()
        (ROOT / WRITTEN[name]).write_text(text, encoding="utf-8")
    for (source, reason), count in Counter((r.source, r.reason) for r in fitted.refused).items():
        print(f"{source}: {count} row{'s' * (count != 1)} not used: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
