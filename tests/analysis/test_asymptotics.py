"""Limits of small formulas of one's own, each worked out by hand: which are reported, in which words, and which are not."""

import pytest

from symroof.analysis.asymptotics import limit_forms
from symroof.api import Study

LINES = {  # a plain formula -> (values, the input's limits as a reader sees them)
    "settling": ("(3*batch + 2)/(batch + 5)", {}, ["as the batch grows: 3 = 3"]),
    "whole": ("batch*gemm_k", {}, []),  # nothing is left out far out
    "growing": ("batch*gemm_k + gemm_n", {}, ["as the batch grows, without bound, like: batch*gemm_k"]),
    "falling": ("gemm_k/(batch + 1)", {"batch": 1, "gemm_k": 4}, ["as the batch grows, falling like gemm_k/batch: 0 = 0"]),
    "vanishing": ("batch + context", {"batch": 2, "context": 5}, ["as the context goes to 0: batch = 2", "as the context grows, without bound, like: context", "as the batch grows, without bound, like: batch"]),
    # an arm that binds already is no news, unless a range reaches another
    "there_already": ("min(batch, 5)", {"batch": 7}, []),
    "partly_there": ("min(batch, gemm_k)", {"batch": 7, "gemm_k": "4..6"}, ["as the batch grows: gemm_k = 5 (4 to 6)"]),
    "undecided": ("max(batch*gemm_k + 1, batch*gemm_n + 2)", {}, [
        "as the batch grows, while gemm_k >= gemm_n, without bound, like: batch*gemm_k",
        "as the batch grows, while gemm_n >= gemm_k, without bound, like: batch*gemm_n",
    ]),
    # the sign of a coefficient counts where every corner of the ranges agrees
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
    "same_far_out": ("max(gemm_k + gemm_n/batch, gemm_k + d_ff/batch)", {}, ["as the batch grows: gemm_k"]),
    # the prompt is the context where nothing else says how long that is
    "through_the_context": ("gemm_k + context", {"prompt": 5}, ["as the context goes to 0: gemm_k", "as the context grows, without bound, like: context"]),
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
