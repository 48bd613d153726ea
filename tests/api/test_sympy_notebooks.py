"""What notebooks show: short reprs, HTML and LaTeX forms, pictures with data, catalogue tables."""

import symroof as sr
from symroof import symbols

STUDY = sr.Study(
    "llama-3-8b",
    ["h100-sxm", "h200"],
    prompt=4096,
    output=64,
    batch=8,
    targets={"itl": 0.05},
    price=0.001,
)


def test_html_forms_hold_the_numbers_and_escape(tmp_path):
    card = sr.Study(
        "llama-3-8b", "h100-sxm", prompt=4096, output=64, batch=8, efficiency="peak"
    )._repr_html_()
    assert "<td>5.77 ms</td>" in card and "memory bandwidth" in card  # 19.35 GB at 3.35 TB/s
    assert (
        "<td>✓</td>" in sr.select(STUDY)._repr_html_()
        and "pass" in sr.select(STUDY)._repr_html_().partition("<table>")[0]
    )
    note = tmp_path / "note.md"
    note.write_text("The ridge is < 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    shown = sr.check(note)._repr_html_()
    assert "<table>" in shown and "&lt; 295" in shown


def test_latex_of_solutions_and_derivations():
    solution = STUDY.solve("max_batch_memory")
    assert (
        solution._repr_latex_().startswith("$\\displaystyle B = ")
        and "\\frac" in solution._repr_latex_()
    )
    assert (
        STUDY.derive(symbols.ttft / symbols.itl)._repr_latex_()
        == r"$\displaystyle \frac{\mathrm{TTFT}}{\mathrm{ITL}}$"
    )
