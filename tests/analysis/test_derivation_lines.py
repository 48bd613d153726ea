"""One line of a derivation: the formula with numbers, in which unit they stand, and their ranges."""

import pytest

from symroof.analysis.derivation_steps import step_of
from symroof.api import Study

LINES = {  # name -> the line of a case of 100 tokens, and of one of 100 to 200, whose middle is 150
    # all numbers of a sum share the unit of its result, which stands there alone
    "memory_bytes_per_device": ("0 + 248.9 + 0 + 4.387", "253.3 MB", r"0 + 248.9 + 0 + 6.230\,\text{(4.387 to 8.073)}"),
    "response_time": ("0.08479 + 1.427", "1.512 ms", r"0.09029\,\text{(0.08479 to 0.09579)} + 1.437\,\text{(1.427 to 1.448)}"),
    # other formulas have each number with its own unit; counts have none
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


OWN = {  # formula of one's own -> unit, its line, and with ranges
    "queue_time + step_overhead": ("s", "2 ms + 2 ms", r"2 + 2\,\text{(1 to 3)}"),
    "max(queue_time, step_overhead)": ("s", "max(2 ms, 2 ms)", r"\max\left(2\,\text{(1 to 3)}, 2\right)"),
    "step_overhead + kernel_launch": ("s", "2 ms + 0 s", "2 + 0"),
    # units of their own: what comes to nothing has no unit to share, one number is no sum, and a product is none
    "queue_time - step_overhead": ("s", "2 ms - 2 ms", r"2\,\mathrm{ms}\,\text{(1 to 3 ms)} - 2\,\mathrm{ms}"),
    "-queue_time": ("s", "-2 ms", r"-2\,\mathrm{ms}\,\text{(1 to 3 ms)}"),
    "queue_time*gemm_k + step_overhead": ("s", "2 ms + 2 ms*7", r"2\,\mathrm{ms} + 2\,\mathrm{ms}\,\text{(1 to 3 ms)} \cdot 7"),
    "queue_time*2": ("s", "2*2 ms", r"2 \cdot 2\,\mathrm{ms}\,\text{(1 to 3 ms)}"),
    "2*mem_capacity": ("byte", "2*80 GB", r"2 \cdot 80\,\mathrm{GB}"),
    # plain numbers have none: six digits, and whole ones up to twelve
    "gemm_m/gemm_n + gemm_k/gemm_n": ("", "1234567/3 + 7/3", r"\frac{1234567}{3} + \frac{7}{3}"),
    "10*gemm_d": ("", "10*123456789012", r"10 \cdot 123456789012"),
    "10*gemm_e": ("", "10*1234567890120", r"10 \cdot 1234567890120"),
    "third + gemm_k": ("", "7 + 2.33333", "7 + 2.33333"),
    "gemm_k + gemm_n": ("", "7 + 3", "7 + 3"),
    "batch + gemm_k": ("", "3 + 7", "3 + 7"),
}  # fmt: skip


def test_formulas_of_ones_own_with_numbers():
    """Two milliseconds, of one to three; a sum of times shares the unit of its result where ranges are shown."""
    study = Study(
        prompt=100,
        batch=3,
        gemm_k=7,
        gemm_m=1234567,
        gemm_n=3,
        queue_time="1 ms..3 ms",
        step_overhead="2 ms",
        mem_capacity="80 GB",
    )
    study.define("third", "gemm_k/gemm_n").define("gemm_d", "123456789012").define(
        "gemm_e", "1234567890123"
    )
    for index, (formula, (unit, _, _)) in enumerate(OWN.items()):
        study.define(f"mine_{index}", formula, unit=unit)
    for index, (formula, (_, line, with_range)) in enumerate(OWN.items()):
        assert step_of(f"mine_{index}", study.first).substituted.text == line, formula
        assert (
            step_of(f"mine_{index}", study.first, with_ranges=True).substituted.latex == with_range
        ), formula
