"""What a fit says of itself: limits, intervals, what limits each row, and what it is not sure of, against times made for it."""

from fractions import Fraction

import numpy as np
import pytest

import symroof as sr
from symroof.calibrate.calibration_result import Parameter, written
from symroof.calibrate.fit import _limiting_resource, _parameter, _spread
from symroof.calibrate.terms import TimeTerms

from . import BANDWIDTH, CASES, DH, FLOPS, MATRICES, H, L, Truth, device_bytes, table

LLAMA = {"model": "llama-3.1-8b", "hardware": "h100-sxm"}


def fitted(folder, text, **how):
    path = folder / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return sr.calibrate(path, **LLAMA, **how)


def steps(truth, noise=lambda i: 0.0):
    return "prompt,batch,itl\n" + "".join(
        f"{s},{b},{truth.itl(b, s) * (1 + noise(i))!r}\n" for i, (s, b) in enumerate(CASES)
    )


@pytest.mark.parametrize(
    ("name", "slope", "reach", "expected"),
    [
        (
            "mfu",
            1.25,
            0.05,
            (0.8, 0.768, 0.832),
        ),  # a share is one over its slope, and d(1/x) = dx/x²
        ("mfu", 1.0, 0.1, (1.0, 0.9, 1.0)),
        ("mbu", 1.02, 0.1, (0.9803921568627451, 0.8842752787389465, 1.0)),
        ("mbu", 2.0, 9.0, (0.5, 0.0, 1.0)),
        ("step_overhead", 1.0, 0.25, (1.0, 0.75, 1.25)),
        ("step_overhead", 1e-3, 2e-3, (1e-3, 0.0, 3e-3)),
        ("step_overhead", 0.0, 1e-3, (0.0, 0.0, 1e-3)),
    ],
)
def test_a_parameter_from_its_slope(name, slope, reach, expected):
    """A share of one, and a time of nothing, are at their limits; no interval leaves what there is."""
    made = _parameter(name, slope, reach)
    assert [made.value, made.low, made.high] == pytest.approx(list(expected), rel=1e-12)
    at_limit, everything = (
        made.value == (0 if name == "step_overhead" else 1),
        (made.low, made.high) == (0, 1),
    )
    assert made.note[:9] == ("at its li" if at_limit else "not known" if everything else "")
    alone = _parameter(name, slope, None)
    assert (alone.value, alone.low, alone.high, alone.note) == (
        made.value,
        None,
        None,
        made.note if at_limit else "",
    )


ARMS = TimeTerms(
    ((Fraction(5), Fraction(1)), (Fraction(1), Fraction(3))), (Fraction(9),), Fraction(2), "compute"
)


def test_the_roof_is_the_longer_arm_of_each_pair_and_what_is_fixed():
    assert ARMS.roof == 5 + 3 + 2


@pytest.mark.parametrize(
    ("slopes", "bound"),
    [
        ((2, 4), "memory"),
        ((2, 3), "compute"),
        ((4, 6), "compute"),
        ((1, 2), "memory"),
        ((6, 10), "compute"),
        ((1, 1), "compute"),
    ],
)
def test_a_row_is_limited_by_what_it_spends_most_of_its_time_on(slopes, bound):
    """The first pair takes 5x or y, the second x or 3y: at (2, 4) 10 of compute against 12 of memory."""
    assert _limiting_resource(ARMS, np.array(slopes, dtype=float)) == bound


@pytest.mark.parametrize(
    ("apart", "rank", "unseen"),
    [(0.1, 2, [False, False]), (1e-4, 2, [False, False]), (1e-9, 1, [True, True])],
)
def test_columns_that_are_alike_to_a_thousand_millionth_tell_one_direction(apart, rank, unseen):
    """Where they do tell two, the spread is the root of the diagonal of the inverse of the normal equations."""
    columns = np.array([[1.0, 2.0], [1.0, 2.0 + apart]])
    spread, open_, told = _spread(columns)
    assert (told, open_) == (rank, unseen)
    if rank == 2:
        (a, b), (c, d) = columns
        determinant = (a * d - b * c) ** 2
        assert list(spread) == pytest.approx(
            [np.hypot(b, d) / np.sqrt(determinant), np.hypot(a, c) / np.sqrt(determinant)], rel=1e-6
        )


def test_an_overhead_below_nothing_is_at_its_limit(tmp_path):
    found = fitted(
        tmp_path, table(Truth(mbu=0.8, overhead=0)), fit=["mfu", "step_overhead"], mbu=0.75
    )
    assert (found["step_overhead"].value, "at its limit" in found["step_overhead"].note) == (
        0,
        True,
    )


def test_only_what_the_rows_do_not_tell_is_said_to_be_open(tmp_path):
    found = fitted(tmp_path, steps(Truth()))
    assert [warning.split()[0] for warning in found.warnings if "not determined" in warning] == [
        "mfu"
    ]
    assert [
        warning
        for warning in fitted(tmp_path, table(Truth())).warnings
        if "not determined" in warning
    ] == []


def test_the_bound_that_rows_of_the_other_arm_give(tmp_path):
    """Of steps that memory limits, the one nearest to compute: its FLOPs over the peak must not take longer than its bytes do."""
    found = fitted(tmp_path, steps(Truth()))
    shares = []
    for prompt, batch in CASES:
        flops = 2 * batch * MATRICES + 4 * L * H * DH * prompt * batch
        shares.append(
            (flops / FLOPS) / (device_bytes(batch, prompt * batch, batch) / (0.82 * BANDWIDTH))
        )
    assert found["mfu"].note.endswith(f"at least {max(shares):.2g}")
    both = fitted(tmp_path, steps(Truth()), fit=["mfu", "step_overhead"], mbu=0.82)
    assert both["mfu"].note.startswith("no row is limited by compute") and both["mfu"].value is None


@pytest.mark.parametrize("cases", [CASES, [(128, 1), (100_000, 1), (128, 700), (16, 2000)]])
def test_each_row_says_what_limits_it(cases, tmp_path):
    truth = Truth()
    lines = [
        "prompt,batch,ttft,itl",
        *(f"{s},{b},{truth.ttft(s)!r},{truth.itl(b, s)!r}" for s, b in cases),
    ]
    found = fitted(tmp_path, "\n".join(lines), fit=["mfu", "mbu", "step_overhead"])
    limits = []
    for prompt, batch in cases:
        prefill = (
            2 * (prompt * (MATRICES - 4096 * 128256) + 4096 * 128256)
            + 4 * L * H * DH * prompt * (prompt + 1) / 2
        )
        decode = 2 * batch * MATRICES + 4 * L * H * DH * prompt * batch
        for flops, moved in (
            (prefill, device_bytes(prompt, prompt, 1)),
            (decode, device_bytes(batch, prompt * batch, batch)),
        ):
            limits.append(
                "compute" if flops / (0.56 * FLOPS) > moved / (0.82 * BANDWIDTH) else "memory"
            )
    assert [row.bound for row in found.residuals] == limits
    assert {"compute", "memory"} <= set(limits)


def test_an_interval_that_reaches_nothing_is_said_to_hardly_tell(tmp_path):
    """An overhead of a microsecond under noise of 3 %: its interval goes down to 0, those of the shares do not."""
    noise = [0.03, -0.03, 0.02, -0.03, 0.03, -0.02, 0.01]
    found = fitted(
        tmp_path, steps(Truth(overhead=3e-4), noise.__getitem__), fit=["mbu", "step_overhead"]
    )
    wide = [warning.split()[3] for warning in found.warnings if "reaches down to 0" in warning]
    assert wide == ["step_overhead"]
    assert found["step_overhead"].low == 0 < found["step_overhead"].value and found["mbu"].low > 0.7


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("mbu", 0.8, 0.7, 0.9), "0.7..0.9"),
        (Parameter("mbu", 0.8, 0.797, 0.803), "0.8"),  # within half a percent to either side
        (Parameter("mbu", 0.8, 0.795, 0.805), "0.795..0.805"),
        (Parameter("mbu", 0.8, 0.0, 0.9), "0.8"),  # a share of nothing is no efficiency
        (Parameter("mbu", 0.8), "0.8"),
        (Parameter("step_overhead", 1.5e-3, 0.0, 3e-3), "0 s..3 ms"),
        (Parameter("step_overhead", 1.5e-3, 1e-3, 2e-3), "1 ms..2 ms"),
        (Parameter("step_overhead", 2.0, 1.0, 3.0), "1 s..3 s"),
        (Parameter("link_latency", 7e-6, 999e-9, 13.001e-6), "0.999 us..13 us"),
        (
            Parameter("step_overhead", 432.8e-6, 0.0, 37.38e-3),
            "432.8 us",
        ),  # cut off at nothing: the middle is another number
        (Parameter("mbu", 0.95, 0.85, 1.0), "0.95"),
    ],
)
def test_values_and_ranges_as_a_study_takes_them(parameter, text):
    assert written(parameter) == text


def test_a_study_of_the_block_stands_at_the_fit(tmp_path):
    """Times that no one mfu describes: intervals cut off at 0 and 1. The study of the block gives the fitted time of the row, and says what is not known."""
    found = fitted(
        tmp_path,
        "prompt,batch,ttft_ms,itl_ms\n1024,1,18.9,7.02\n1024,16,95.1,8.11\n2048,64,410,14.0\n",
    )
    assert [(p.name, p.low, p.high) for p in found.parameters][:2] == [
        ("mfu", 0, 1),
        ("mbu", 0, 1),
    ] and found["step_overhead"].low == 0
    block = found.block()
    study = tmp_path / "study.yaml"
    study.write_text(
        "model: llama-3.1-8b\nhardware: h100-sxm\nworkload: {prompt: 1024, batch: 16}\n" + block,
        encoding="utf-8",
    )
    row = next(
        r for r in found.residuals if r.measurement.line == 3 and r.measurement.metric == "itl"
    )
    assert sr.Study.load(study).value("itl") == pytest.approx(row.fitted, rel=1e-3)
    assert (
        "# mfu lies between 0 and 1; not known" in block
        and "# step_overhead lies between 0 s and 37.38 ms" in block
    )
    assert [
        warning
        for warning in found.warnings
        if "not known" in warning and warning.split()[0] in ("mfu", "mbu")
    ]


def test_a_fit_in_a_few_words_has_both_ends(tmp_path):
    noise = [0.01, -0.02, 0.015, -0.01, 0.02, -0.015, 0.005] * 2
    found = fitted(tmp_path, table(Truth(), noise.__getitem__))
    mfu = found["mfu"]
    assert f"mfu {mfu.value:.4g} ({mfu.low:.4g} to {mfu.high:.4g})" in repr(found)
