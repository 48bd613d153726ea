"""The regime map: its lines and regions by direct evaluation."""

import re
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.path import Path

from symroof.api import Study
from symroof.errors import InputError
from symroof.report.pictures import chart_of
from symroof.report.pictures.curves import at_a_context
from symroof.report.pictures.draw import draw

from ..tables import fields

CASES = fields(
    """
dense: {model: llama-3-70b, hardware: h100-sxm, tp: 2, prompt: 4096, output: 512, batch: 32,
  mfu: 0.6, mbu: 0.8, targets: {itl: 50 ms}},
windowed: {model: gemma-2-9b, hardware: h100-sxm, prompt: 4096, output: 512, batch: 16, mfu: 0.5,
  mbu: 0.8, targets: {itl: 20 ms}},
one step: {model: llama-3-8b, hardware: a10, context: 4096, batch: 4, targets: {itl: 60 ms}},
experts: {model: mixtral-8x7b, hardware: h100-sxm, tp: 4, prompt: 2048, output: 256, batch: 16,
  targets: {itl: 20 ms}},
too slow: {model: llama-3-8b, hardware: t4, prompt: 4096, batch: 1, targets: {itl: 10 ms}},
"""
)
SIDES = {
    "ridge": ("decode_compute_time", "decode_memory_time"),
    "memory": ("memory_bytes", "usable_memory"),
    "target": ("itl", "itl_target"),
}


@pytest.fixture(scope="module", params=CASES)
def label(request):
    return request.param


def study(label):
    return Study(**CASES[label])


def bound(label, context, batch):
    """The case bound anew as so many requests at a context, without prompt and output."""
    chosen = {name: v for name, v in CASES[label].items() if name not in ("prompt", "output")}
    case = Study(**(chosen | {"context": 1, "batch": 1})).first.case
    return case.changed({"context": context, "batch": Fraction(batch)})


def past(label, name, context, batch):
    case = bound(label, context, batch)
    left, right = SIDES[name]
    return case.value(left) > case.value(right)


@pytest.mark.sample(2)
def test_both_sides_are_equal_on_every_line(label):
    shown = chart_of("regimes", study(label))
    low, high = shown.x.low / 4 * 1.001, shown.x.high * 4 * 0.999
    for name in SIDES.keys() & shown.data.keys():
        for batch, context in shown.data[name][::7]:
            if low < batch < high:
                case = bound(label, context, batch)
                left, right = (float(case.value(side)) for side in SIDES[name])
                assert left == pytest.approx(right, rel=1e-12), (name, context)
            else:
                assert past(label, name, context, 1) == (batch <= low)


@pytest.mark.sample(2)
def test_regions_are_what_the_sides_say(label):
    """Their corners, a little inside: past the ridge compute limits, past the line of memory it does not fit."""
    shown = chart_of("regimes", study(label))
    looked = 0
    for area in draw(shown).axes[0].collections:
        line, beyond = {
            "compute-bound": ("ridge", True),
            "memory-bound": ("ridge", False),
            "does not fit": ("memory", True),
        }.get(area.get_label(), (None, None))
        if line is None:
            continue
        path = Path(np.log(area.get_paths()[0].vertices))
        for x in np.linspace(*np.log([shown.x.low, shown.x.high]), 9)[1:-1]:
            for y in np.linspace(*np.log([shown.y.low, shown.y.high]), 9)[1:-1]:
                if path.contains_point((x, y), radius=-0.05):
                    batch, context = (Fraction(float(v)) for v in np.exp([x, y]))
                    near = [past(label, line, context, batch * k / 100) for k in (95, 105)]
                    assert beyond in near, (area.get_label(), batch, context)
                    looked += 1
    assert looked > 10


def test_the_text_alternative_says_the_numbers(label):
    case, sentence = study(label).first.case, chart_of("regimes", study(label)).says
    assert f"at a context of {int(case.value('peak_context')):,} tokens" in sentence
    end = re.search(r"beyond a context of ([\d,]+) tokens no batch reaches the ridge", sentence)
    beyond = int(end[1].replace(",", ""))
    assert past(label, "ridge", beyond * Fraction(99, 100), 10**9)
    assert not any(past(label, "ridge", beyond + 1, 10**power) for power in range(12))
    held = case.value("concurrency")
    words = "memory holds none" if held < 1 else f"memory holds a batch of {int(held):,}"
    assert words in sentence and ("does not fit" in sentence) is (not case.value("fits"))


def of(**case):
    return chart_of("regimes", Study(**case))


def test_without_decode_times_there_is_no_map():
    with pytest.raises(InputError, match="peak_flops"):
        of(model="llama-3-8b", prompt=1024, batch=4)
    with pytest.raises(InputError, match="nothing to draw"):
        of(hardware="h100-sxm")


def test_extreme_cases_have_a_map_too():
    assert (
        "1,000,000 requests at a context of 575 tokens"
        in of(model="llama-3-8b", hardware="h100-sxm", prompt=512, output=64, batch=1_000_000).alt
    )
    assert (
        "1 request at a context of 1 token is"
        in of(model="smollm2-135m", hardware="h200", prompt=1, output=1, batch=1).alt
    )


def test_a_batch_that_is_a_formula_of_the_prompt_stands_still_where_the_context_moves():
    """A map leaves the prompt out, and took the batch with it; a formula of the context moves with the context."""
    case = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "output": 10}
    for context in (Fraction(5), Fraction(4105), Fraction(20_000)):
        of_prompt, same = (
            at_a_context(Study(**case, batch=batch).first, context)
            for batch in ("prompt - 3000", 1096)
        )
        assert of_prompt.case.value("itl") == same.case.value("itl")
        assert (
            at_a_context(Study(**case, batch="2*context").first, context).case.value("batch")
            == 2 * context
        )
