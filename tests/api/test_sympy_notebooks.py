"""What notebooks show: short reprs, HTML and LaTeX forms, pictures with data, catalogue tables."""

import symroof as sr
from symroof import symbols

from ..tables import case_of

CASE = case_of("model=llama-3-8b prompt=4096 output=64 batch=8")
STUDY = sr.Study(**CASE, hardware=["h100-sxm", "h200"], targets={"itl": 0.05}, price=0.001)


def test_html_forms_hold_the_numbers_and_escape(tmp_path):
    card = sr.Study(**CASE, hardware="h100-sxm", efficiency="peak")._repr_html_()
    assert "<td>5.77 ms</td>" in card and "memory bandwidth" in card  # 19.35 GB at 3.35 TB/s
    chosen = sr.select(STUDY)._repr_html_()
    assert "<td>✓</td>" in chosen and "pass" in chosen.partition("<table>")[0]
    note = tmp_path / "note.md"
    note.write_text("The ridge is < 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    shown = sr.check(note)._repr_html_()
    assert "<table>" in shown and "&lt; 295" in shown


def test_latex_of_solutions_and_derivations():
    solution = STUDY.solve("max_batch_memory")._repr_latex_()
    assert solution.startswith("$\\displaystyle B = ") and "\\frac" in solution
    ratio = STUDY.derive(symbols.ttft / symbols.itl)._repr_latex_()
    assert ratio == r"$\displaystyle \frac{\mathrm{TTFT}}{\mathrm{ITL}}$"
