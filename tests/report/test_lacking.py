"""The review's table of what the other failing cases lack."""

from symroof.api import Study
from symroof.report.recommendation import subject_of
from symroof.report.view_flips import MOST, lacking_cases

CASE = {"model": "llama-3-8b", "prompt": 4096, "mfu": 0.5, "batch": 1}


def rows(study):
    lacking = lacking_cases(study, subject_of(study))
    return lacking["rows"] if lacking else []


def test_another_device_that_fails_is_told_what_it_lacks():
    study = Study(**CASE, hardware=["h100-sxm", "a100-80gb-sxm"], targets={"ttft": 0.2})
    by_input = {row[1]: row for row in rows(study)}
    assert [row[0] for row in rows(study)][:2] == ["NVIDIA A100 SXM4 80 GB", ""]
    flops = study.cases[1].case.value("prefill_flops")
    needed = float(flops) / (0.5 * 0.2)  # the first token is all compute
    assert by_input["peak_flops"][3] == f"at least {needed / 1e12:.1f} TFLOP/s"


def test_the_reviewed_case_has_its_own_section_and_passing_ones_none():
    assert not rows(Study(**CASE, hardware="a100-80gb-sxm", targets={"ttft": 0.2}))
    assert {
        label
        for label, *_ in rows(
            Study(**CASE, hardware=["a100-80gb-sxm", "h100-sxm"], targets={"ttft": 0.2})
        )
        if label
    } == {"NVIDIA A100 SXM4 80 GB"}
    assert not rows(Study(**CASE, hardware=["h100-sxm", "a100-80gb-sxm"]))


def test_no_more_cases_than_a_reader_compares():
    study = Study(
        **{**CASE, "batch": list(range(1, MOST + 4))},
        hardware=["h100-sxm", "t4"],
        targets={"ttft": 0.2},
    )
    lacking = lacking_cases(study, subject_of(study))
    assert sum(bool(row[0]) for row in lacking["rows"]) == MOST
    assert lacking["more"] == 3
