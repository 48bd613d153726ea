"""What a fit says of itself: limits, intervals, what limits each row, and what it is not sure of."""

import pytest

import symroof as sr
from symroof.calibrate.calibration_result import Parameter, written

from . import BANDWIDTH, CASES, DH, FLOPS, MATRICES, H, L, Truth, device_bytes, table

LLAMA = {"model": "llama-3.1-8b", "hardware": "h100-sxm"}


def fitted(folder, text, fit=None):
    path = folder / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return sr.Study(**LLAMA).calibrate(path, fit)


def steps(truth, noise=lambda i: 0.0):
    return "prompt,batch,itl\n" + "".join(
        f"{s},{b},{truth.itl(b, s) * (1 + noise(i))!r}\n" for i, (s, b) in enumerate(CASES)
    )


def test_only_what_the_rows_do_not_tell_is_said_to_be_open(tmp_path):
    """Of steps that memory limits, the one nearest to compute: its FLOPs over the peak must not take longer than its bytes do."""
    found = fitted(tmp_path, steps(Truth()))
    assert [text.split()[0] for text in found.warnings if "not determined" in text] == ["mfu"]
    shares = []
    for prompt, batch in CASES:
        flops = 2 * batch * MATRICES + 4 * L * H * DH * prompt * batch
        moved = device_bytes(batch, prompt * batch, batch)
        shares.append((flops / FLOPS) / (moved / (0.82 * BANDWIDTH)))
    assert found["mfu"].note.endswith(f"at least {max(shares):.2g}")
    whole = fitted(tmp_path, table(Truth()))
    assert not [text for text in whole.warnings if "not determined" in text]


@pytest.mark.parametrize("cases", [CASES, [(128, 1), (100_000, 1), (128, 700), (16, 2000)]])
def test_each_row_says_what_limits_it(cases, tmp_path):
    truth = Truth()
    lines = ["prompt,batch,ttft,itl"]
    lines += [f"{s},{b},{truth.ttft(s)!r},{truth.itl(b, s)!r}" for s, b in cases]
    found = fitted(tmp_path, "\n".join(lines), fit=["mfu", "mbu", "step_overhead"])
    limits = []
    for prompt, batch in cases:
        rows = prompt * (MATRICES - 4096 * 128256) + 4096 * 128256
        prefill = 2 * rows + 4 * L * H * DH * prompt * (prompt + 1) / 2
        decode = 2 * batch * MATRICES + 4 * L * H * DH * prompt * batch
        for flops, moved in (
            (prefill, device_bytes(prompt, prompt, 1)),
            (decode, device_bytes(batch, prompt * batch, batch)),
        ):
            compute = flops / (0.56 * FLOPS) > moved / (0.82 * BANDWIDTH)
            limits.append("compute" if compute else "memory")
    assert [row.bound for row in found.residuals] == limits
    assert {"compute", "memory"} <= set(limits)


def test_rows_that_do_not_fit_are_named(tmp_path):
    text = "prompt,batch,itl_ms\n1024,1,8\n100000,64,300\n1024,8,9\n"
    said = "was measured, but does not fit in memory by this case (line 3)"
    assert any(warning.startswith(said) for warning in fitted(tmp_path, text).warnings)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("mbu", 0.8, 0.7, 0.9), "0.7..0.9"),
        (Parameter("mbu", 0.8, 0.797, 0.803), "0.8"),  # within half a percent to either side
        (Parameter("mbu", 0.95, 0.85, 1.0), "0.85..1"),
        (Parameter("mbu", 0.8), "0.8"),
        (Parameter("step_overhead", 1.5e-3, 0.0, 3e-3), "0 s..3 ms"),
        (Parameter("step_overhead", 0.0, 0.0, 37e-6), "0 s..37 us"),
        (Parameter("link_latency", 7e-6, 999e-9, 13.001e-6), "0.999 us..13 us"),
    ],
)
def test_values_and_ranges_as_a_study_takes_them(parameter, text):
    assert written(parameter) == text
