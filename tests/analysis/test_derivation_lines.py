"""One line of a derivation: the formula with numbers, and their ranges."""

import pytest

from symroof.analysis.derivation import step_of
from symroof.api import Study

LINES = {  # name -> the line of a case of 100 tokens, and of one of 100 to 200, whose middle is 150
    # each number has its own unit; counts have none
    "kv_cache_bytes": ("1*36.864 kB/token*100", "3.686 MB", r"1 \cdot 36.86\,\mathrm{kB/token} \cdot 150\,\text{(100 to 200 tokens)}"),
    "peak_context": ("max(100, 100 + 20 - 1)", "119 tokens", r"\max\left(150\,\text{(100 to 200 tokens)}, 150\,\text{(100 to 200 tokens)} + 20 - 1\right)"),
    "decode_intensity": ("250.750 MFLOP/251.184 MB", "0.9983 FLOP/byte", r"\frac{252.6\,\mathrm{MFLOP}\,\text{(250.8 to 254.4 MFLOP)}}{253.0\,\mathrm{MB}\,\text{(251.2 to 254.9 MB)}}"),
    "fits": ("253.266 MB <= 85.5208 GB", "yes", r"255.1\,\mathrm{MB}\,\text{(253.3 to 257.0 MB)} \le 85.52\,\mathrm{GB}"),
    # under a sum what the index moves stays a name
    "decode_time": ("sum(itl(context = 100 + step), step, 1, 19)", "1.427 ms", r"\sum_{j=1}^{19} \left. \mathrm{ITL} \right\vert_{C = 150\,\text{(100 to 200 tokens)} + j}"),
}  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    return tuple(
        Study("gpt2", "h100-sxm", engine="ideal", prompt=prompt, output=20).first
        for prompt in (100, "100..200")
    )


def test_formulas_with_numbers(cases):
    one, ranged = cases
    for name, (line, result, with_range) in LINES.items():
        step = step_of(name, one, with_ranges=True)
        assert (step.substituted.text, step.result.text()) == (line, result), name
        assert step_of(name, ranged, with_ranges=True).substituted.latex == with_range, name
        assert "(" not in step_of(name, ranged).substituted.latex.replace("\\left(", "").replace(
            "max(", ""
        ), name
        assert step.why_unknown == "" and step.search is None


def test_a_line_without_a_value_says_what_it_needs(cases):
    """Names without a value stay; the rate of arrivals is missing."""
    step = step_of("queue_wait", cases[0], with_ranges=True)
    assert step.substituted.text == "84.7851 us*utilization/max(1 - utilization, 0)"
    assert (step.result, step.why_unknown) == (None, "needs arrival_rate")


def test_quantities_at_changed_inputs_are_numbers_unless_a_sum_moves_them(cases):
    """The first and the last step are at 101 and 119 tokens: each a value; those of the sum are not."""
    for name in ("itl_first", "itl_last"):
        step = step_of(name, cases[0])
        assert step.substituted.text.endswith(" us") and "context" not in step.substituted.text
        assert float(step.substituted.text.split()[0]) == pytest.approx(
            float(step.result.value) * 1e6, rel=1e-4
        )
