"""What explains a measured figure, against times by hand."""

from fractions import Fraction

import pytest

from symroof.analysis.diagnosis import diagnose
from symroof.api import Study
from symroof.errors import InputError
from tests.cli import good, refused

from ..tables import case_of

STREAMED = 8030261248 - 128256 * 4096 - 65 * 4096
"""Parameters that a step of Llama 3.1 8B reads: neither the input table nor the norms."""
BETA = 3.35e12
WORDS = "model=llama-3.1-8b hardware=h100-sxm prompt=2048 output=300 batch=1"
CASE = case_of(
    f"{WORDS} mbu=0.75..0.85 mfu=0.5..0.7 step_overhead=0 layer_overhead=0 elementwise_bytes=0"
)
LINE = f"--{WORDS.replace(' ', ' --')}".split()


def found(name, measured, **more):
    return diagnose(Study(**CASE | more), name, Fraction(measured).limit_denominator(10**9))


def named(diagnosis):
    return [each.cause.name for each in diagnosis.explanations if each.holds]


def test_a_figure_as_expected_needs_no_explanation():
    diagnosis = found("itl", 2 * STREAMED / (0.8 * BETA))
    assert diagnosis.explained and diagnosis.explanations == ()


def test_weights_that_were_not_quantized_read_twice_as_much():
    read = 2 * STREAMED / (0.79 * BETA) + 2048 * 131072 / (0.79 * BETA)
    diagnosis = found("itl", read, weights="fp8")
    assert named(diagnosis)[0] == "weights_format"
    best = diagnosis.explanations[0]
    assert best.said == "weights in bf16" and best.off < 1.06
    assert [label for label, _, _ in best.signature] == ["ttft"]


def test_eager_execution_by_what_was_measured_of_it():
    """A layer takes 135 to 246 µs more where the host launches each kernel (specs/efficiencies.yaml): 32 layers, 4.3 to 7.9 ms."""
    study = Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=1)
    diagnosis = diagnose(study, "itl", Fraction(14, 1000))
    assert named(diagnosis)[0] == "eager"
    low, high = diagnosis.explanations[0].predicted.low, diagnosis.explanations[0].predicted.high
    assert 0.004 < low < 0.014 < high


def test_a_rate_that_narrower_weights_do_not_raise():
    """Qwen3-32B on an H100 NVL, 32 at once, 654 tokens/s in BF16 and no more in FP8 (vllm-project/vllm#17788)."""
    study = Study("qwen3-32b", "h100-nvl", prompt=217, output=200, batch=32)
    found = diagnose(study, "sustained_throughput", 654)
    sampling = next(each for each in found.explanations if each.cause.name == "sampling")
    assert sampling.holds and sampling.said == "20 ms more per step"
    narrow = Study("qwen3-32b", "h100-nvl", prompt=217, output=200, batch=32, weights="fp8")
    causes = {
        each.cause.name: each for each in diagnose(narrow, "sustained_throughput", 654).explanations
    }
    assert causes["sampling"].holds and not causes["eager"].holds


def test_what_no_cause_explains_is_said():
    diagnosis = found("itl", 2)
    assert not diagnosis.explained and named(diagnosis) == []
    assert [each.off for each in diagnosis.explanations] == sorted(
        each.off for each in diagnosis.explanations
    )
    text = good("diff", "--measured", "itl = 2 s", *LINE).out
    assert "No single cause explains it. The nearest:" in text and len(text.splitlines()) < 40


def test_on_the_command_line():
    assert "Nothing to explain" in good("diff", "--measured", "itl = 8 ms", *LINE).out
    said = good("diff", "--measured", "itl = 14 ms", *LINE).out
    assert "1. eager execution" in said and "check: " in said and "you would also see: ttft" in said
    answer = good("diff", "--measured", "itl = 14 ms", *LINE, "--json").json["diagnosis"]
    assert (
        answer["measured"] == 0.014
        and answer["expected"]["low"] < answer["expected"]["value"]
        and not answer["explained"]
    )
    assert answer["explanations"][0]["cause"] == "eager" and answer["explanations"][0]["holds"]
    assert "NAME = VALUE" in refused("diff", "--measured", "28 ms", *LINE)
    assert "depends on no efficiency" in refused("diff", "--measured", "weight_bytes = 3 GB", *LINE)
    twice = ("--measured", "itl = 28 ms", "--measured", "ttft = 2 s")
    assert "--measured is given twice" in refused("diff", *twice, *LINE)


def test_a_first_token_that_is_waited_for_is_a_queue():
    """Nothing else that a server does makes 49 ms of prefill and host 900 ms, or no part of a step longer."""
    queued = found("ttft", "0.9", output=256, batch=16).explanations[0]
    assert (queued.cause.name, queued.holds, queued.reads) == ("queue", True, "loaded_ttft")
    assert "queue" not in [e.cause.name for e in found("itl", "0.05", output=256).explanations]


def test_a_figure_that_is_only_counted_is_refused():
    with pytest.raises(InputError, match="depends on no efficiency"):
        found("kv_cache_bytes", 1)
