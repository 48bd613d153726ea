"""Limits and first-order formulas of small formulas of one's own, each worked out by hand: which are reported, in which words, and which are not."""

from fractions import Fraction

import pytest
import sympy

from symroof.analysis.asymptotics import divides_by_zero, first_order, limit_forms
from symroof.api import Study
from symroof.symbolic.expressions import Max, number, symbol

from ..near import near

LINES = {  # a plain formula -> (values, the input's limits as a reader sees them)
    "settling": ("(3*batch + 2)/(batch + 5)", {}, ["as the batch grows: 3 = 3"]),
    "settled": ("(3*batch + 2)/(batch + 5)", {"batch": 5}, ["as the batch grows: 3 = 3"]),
    "whole": ("batch*gemm_k", {}, []),  # nothing is left out far out
    "growing": ("batch*gemm_k + gemm_n", {}, ["as the batch grows, without bound, like: batch*gemm_k"]),
    "falling": ("gemm_k/(batch + 1)", {"batch": 1, "gemm_k": 4}, ["as the batch grows, falling like gemm_k/batch: 0 = 0"]),
    "falling_to_a_coefficient": ("gemm_k + 1/(batch + 1)", {"batch": 1, "gemm_k": 4}, ["as the batch grows: gemm_k = 4"]),
    "vanishing": ("batch + context", {"batch": 2, "context": 5}, ["as the context goes to 0: batch = 2", "as the context grows, without bound, like: context", "as the batch grows, without bound, like: batch"]),
    "squared": ("context**2 + 1", {"context": 5}, ["as the context goes to 0: 1 = 1", "as the context grows, without bound, like: context**2"]),
    # an arm that binds already is no news, unless a range reaches another
    "far_below": ("min(batch, 5)", {"batch": 2}, ["as the batch grows: 5 = 5"]),
    "there_already": ("min(batch, 5)", {"batch": 7}, []),
    "partly_there": ("min(batch, gemm_k)", {"batch": 7, "gemm_k": "4..6"}, ["as the batch grows: gemm_k = 5 (4 to 6)"]),
    "undecided": ("max(batch*gemm_k + 1, batch*gemm_n + 2)", {}, [
        "as the batch grows, while gemm_k >= gemm_n, without bound, like: batch*gemm_k",
        "as the batch grows, while gemm_n >= gemm_k, without bound, like: batch*gemm_n",
    ]),
    "decided": ("max(batch*gemm_k + 1, batch*gemm_n + 2)", {"batch": 2, "gemm_k": 3, "gemm_n": 1}, ["as the batch grows, without bound, like: batch*gemm_k"]),
    # the sign of a coefficient counts where every corner of the ranges agrees
    "one_sign": ("max((gemm_k - gemm_n)*batch + 1, 7)", {"batch": 4, "gemm_k": 3, "gemm_n": "1..2"}, ["as the batch grows, without bound, like: batch*(gemm_k - gemm_n)"]),
    "two_signs": ("max((gemm_k - gemm_n)*batch + 1, 7)", {"batch": 4, "gemm_k": 3, "gemm_n": "2..5"}, [
        "as the batch grows, while gemm_k - gemm_n >= 0, without bound, like: batch*(gemm_k - gemm_n)",
        "as the batch grows, while gemm_n - gemm_k >= 0: 7",
    ]),
    # arms that say the same need no condition
    "alike": ("min(batch*gemm_k, batch*gemm_n)/batch + 1/batch", {"gemm_k": 3, "gemm_n": 3, "batch": 2}, ["as the batch grows: gemm_k = 3"]),
    "four_arms": ("max(batch*gemm_k + 1, batch*gemm_n + 2, batch*d_ff + 3, batch*d_model + 4)", {}, [
        "as the batch grows, while gemm_k >= gemm_n, while gemm_k >= d_ff, while gemm_k >= d_model, without bound, like: batch*gemm_k",
        "as the batch grows, while gemm_n >= gemm_k, while gemm_n >= d_ff, while gemm_n >= d_model, without bound, like: batch*gemm_n",
        "as the batch grows, while d_ff >= gemm_k, while d_ff >= gemm_n, while d_ff >= d_model, without bound, like: d_ff*batch",
        "as the batch grows, while d_model >= gemm_k, while d_model >= gemm_n, while d_model >= d_ff, without bound, like: d_model*batch",
    ]),
    "five_arms": ("max(batch*gemm_k + 1, batch*gemm_n + 2, batch*d_ff + 3, batch*d_model + 4, batch*n_heads + 5)", {}, []),
    "flat_or_growing": ("max(batch*(gemm_k - gemm_n), d_ff)", {}, [
        "as the batch grows, while gemm_k - gemm_n >= 0, without bound, like: batch*(gemm_k - gemm_n)",
        "as the batch grows, while gemm_n - gemm_k >= 0: d_ff",
    ]),
    "cut_off": ("max(5 - batch, 0)", {"batch": 2}, ["as the batch grows: 0 = 0"]),
    "same_far_out": ("max(gemm_k + gemm_n/batch, gemm_k + d_ff/batch)", {}, ["as the batch grows: gemm_k"]),
    "rounded": ("ceil(batch/7) + 1/batch", {"batch": 2}, []),
    # the prompt is the context where nothing else says how long that is
    "through_the_context": ("gemm_k + context", {"prompt": 5}, ["as the context goes to 0: gemm_k", "as the context grows, without bound, like: context"]),
    "beside_the_context": ("gemm_k + context + prompt", {"prompt": 5}, ["as the context goes to 0: prompt + gemm_k", "as the context grows, without bound, like: context", "as the prompt grows, without bound, like: 2*prompt"]),
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("label", LINES)
def test_limits_by_hand(label):
    formula, values, lines = LINES[label]
    limits = limit_forms(label, Study(**values).define(label, formula).first)
    assert [
        f"{limit.says}: {limit.text}{f' = {limit.result.text()}' if limit.result else ''}"
        for limit in limits
    ] == lines
    for limit, line in zip(limits, lines, strict=True):
        assert limit.grows is ("without bound" in line)
        assert (limit.conditions_text == ()) is ("while" not in line)
        assert repr(limit) == f"<{limit.says} {limit.text}>"


def powers(most, last):
    """k + k² + … and a number at the end: up to the nineteenth power 235 characters and those of the number, up to the ninth 105."""
    return f"{' + '.join(['gemm_k', *(f'gemm_k**{n}' for n in range(2, most + 1))])} + {last}"


def test_of_two_arms_one_is_not_reported_alone():
    """One limit can be read at a glance and the other cannot: neither is shown."""
    formula = f"max(batch*gemm_n + 1, ({powers(19, 12345678)})*batch + 2)"
    assert limit_forms("half", Study().define("half", formula).first) == ()


@pytest.mark.parametrize(("under", "expected"), [(0, True), (1, False), (2, False)])
def test_a_quotient_over_nothing_anywhere_in_a_formula(under, expected):
    quotient = symbol("gemm_n") / number(Fraction(under))
    assert (
        divides_by_zero(quotient)
        is divides_by_zero(symbol("batch") + quotient)
        is divides_by_zero(Max(quotient, symbol("batch")) * symbol("context"))
        is divides_by_zero(sympy.Add(quotient, 0, evaluate=False))
        is expected
    )
    assert not divides_by_zero(0 / symbol("gemm_n")) and not divides_by_zero(symbol("batch"))


def test_nothing_is_divided_by_nothing():
    """Without overheads a step that memory does not hold up takes no time, and no rate is as large as its share of that."""
    study = Study(prompt=10, batch=2).define(
        "share", "(batch + 1)/(step_overhead*batch)", unit="1/s"
    )
    assert limit_forms("share", study.first) == ()
    assert [
        limit.text
        for limit in limit_forms(
            "share",
            Study(step_overhead="1 s")
            .define("share", "(batch + 1)/(step_overhead*batch)", unit="1/s")
            .first,
        )
    ] == ["1/step_overhead"]


TIMES = {"model": "gpt2", "hardware": "h100-sxm", "prompt": 100, "output": 20, "efficiency": "peak"}
ITL = "max(2*batch*params/(peak_flops*mfu), weight_bytes_per_param*params/(mem_bandwidth*mbu))"
FIRST = {  # with the weights alone: two FLOPs and all bytes of each parameter
    "itl": ITL,
    "decode_throughput": f"batch/{ITL}",
    "ttft": ITL.replace("batch", "prompt"),
    "decode_flops": "2*batch*params",
    "decode_bytes": "weight_bytes_per_param*params",
    "decode_intensity": "2*batch/weight_bytes_per_param",
    "decode_time": None,  # a sum of steps
    "decode_link_time": None,  # nothing either way
    "kv_bytes_per_token": None,  # the weights have nothing to do with it
    "fits": None,
    "decode_bound": None,
    "batch": None,
}


@pytest.mark.parametrize("study", [{}, TIMES])
def test_first_order_by_hand(study):
    answers = Study(**study).first
    forms = {name: first_order(name, answers) for name in FIRST}
    assert {name: form and form.text for name, form in forms.items()} == FIRST
    if study:
        parameters = 124_439_808
        assert forms["itl"].result.value == near(2 * parameters / 3.35e12)
        assert forms["decode_flops"].result.value == 2 * parameters
        assert forms["decode_flops"].as_json(str)["value"] == 2 * parameters
    else:
        assert all(form.result is None for form in forms.values() if form)
        assert forms["decode_flops"].as_json(str)["value"] is None
    assert repr(forms["decode_bytes"]) == "<weight_bytes_per_param*params>"
