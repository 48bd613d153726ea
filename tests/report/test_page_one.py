"""Page one: which case it is about, which cases pass, what to change; by one standard, and nothing that later pages deny."""

import re
from fractions import Fraction

import pytest
import yaml

from symroof.analysis.verdict import findings, unknown_targets
from symroof.api import Study
from symroof.report.page_one import page_one
from symroof.report.recommendation import Reviewed, as_they_stand, reviewed
from symroof.resources import data_folder
from symroof.select.recommend import Recommendation

from ..near import passes
from ..tables import fields

CASE = fields(
    "model: llama-3-8b, hardware: h100-sxm, engine: ideal, prompt: 512, output: 64, "
    "batch: [1, 64], tp: 1, mbu: 0.5..0.9, mfu: 1"
)
CASE |= {"layer_overhead": 0, "elementwise_bytes": 0, "assume": {"targets_under": "isolated"}}
WITHIN = "9.2 ms"
"""One request takes 15.0 GB of weights: 6.4 ms at 0.7 of 3.35 TB/s and 8.96 ms at half; 64 of them 4.8 GB of cache more, 2.1 ms and 2.9 ms."""


def test_a_case_that_passes_throughout_is_reviewed_before_one_that_passes_at_the_middle():
    review = reviewed(Study(**CASE, targets={"itl": WITHIN}))
    page = page_one(review)
    assert page["heading"].startswith("Use 1 ×") and review.subject.number("batch") == 1
    assert [row[4] for row in page["rows"]] == ["met, narrowly in the worst case", ""]


@pytest.mark.parametrize(("batch", "words"), [(16, "prompt"), (600, "batch")])
def test_page_one_says_what_would_make_a_case_pass(batch, words):
    """The longest prompt, or the largest batch, that keeps the targets at the slow end; one more does not."""
    case = fields("model: llama-3-8b, hardware: l40s, prompt: 2048, output: 64, tp: 1, chunk: 2048")
    limits = {"prompt": {"ttft": "300 ms"}, "batch": {"itl": "60 ms"}}[words]
    study = Study(**case, batch=batch, targets=limits)
    page = page_one(reviewed(study))
    (block,) = (block for block in page["blocks"] if block["name"] == "It would pass if")
    said = [text for text, *_ in block["texts"]]
    (most,) = (m for text in said if (m := re.match(rf"the {words} is at most ([\d,]+) ", text)))
    most = int(most[1].replace(",", ""))
    ends = [
        Study(**case | {"batch": batch, words: n}, targets=limits).first.slow_end
        for n in (most, most + 1)
    ]
    assert [passes(end) for end in ends] == [True, False]
    if words == "prompt":
        assert said[1] == "the target is TTFT 550 ms"
    else:
        assert page["said"][0].startswith("A layout that the study does not fix would pass")


@pytest.fixture(scope="module")
def piling_up():
    """Prompts of 1,024 tokens with a budget of 128 beside 64 requests: right below its full load a server prefills them more slowly than they come."""
    case = fields(
        "model: llama-3-8b, hardware: h100-sxm, engine: ideal, prompt: 1024, output: 64, "
        "batch: 64, mfu: 0.5, mbu: 0.7, layer_overhead: 0"
    )
    return lambda rate: (
        Study(**case, chunk=128, arrival_rate=f"{rate} request/s", targets={"ttft": "1 s"}).first
    )


def test_prompts_that_pile_up_while_responses_keep_up_are_overload(piling_up):
    capacity = piling_up(1).case.value("sustained_requests")
    late = piling_up(float(capacity * (1 - Fraction(1, 10**7))))
    assert late.case.value("load") < 1
    assert late.get("loaded_ttft") is None
    assert late.case.value("arrival_rate") * 1024 >= late.case.value("open_room") / late.case.value(
        "open_full_time"
    )  # more tokens than full steps prefill
    assert findings(late) == ["load_missed"]
    assert not findings(piling_up(float(capacity / 2)))


def test_page_one_lists_what_would_change_the_pick_and_what_to_do_next():
    study = Study(
        "llama-3.1-8b",
        ["h100-sxm", "l40s"],
        **fields(
            "prompt: 2048, output: 64, batch: 16, chunk: 2048, targets: {itl: 300 ms, ttft: 3 s}"
        ),
    )
    page = page_one(reviewed(study))
    names = [block["name"] for block in page["blocks"]]
    assert names == ["How sure.", "Alternatives.", "Changes if", "Next."]
    changes = [text for text, *_ in page["blocks"][2]["texts"]]
    price, prompts = changes[:2]
    assert re.match(
        r"H100 SXM costs more than [\d.]+ USD/hour each \(now 3.9\): then 1 × L40S", price
    )
    first = re.match(r"prompts are ([\d,]+) tokens or longer", prompts)[1]
    longest = int(first.replace(",", "")) - 1
    ends = [
        Study("llama-3.1-8b", "h100-sxm", prompt=n, output=64, batch=16, chunk=2048).first.slow_end
        for n in (longest, longest + 1)
    ]
    assert [
        end.case.value("loaded_ttft") <= 3 and end.case.value("sustained_itl") <= 0.3
        for end in ends
    ] == [True, False]
    assert "at full load, 16 requests at a time" in page["price"][1]
    assert page["blocks"][3]["texts"][0][1].startswith("vllm serve ")


def test_a_target_is_met_narrowly_where_its_slow_end_is_near():
    case = fields("model: llama-3-8b, hardware: h100-sxm, prompt: 2048, output: 64, batch: 16")
    slow = Study(**case).first.result("sustained_itl").high
    outcomes = []
    for share in (1.05, 1.2, 0.95):
        study = Study(**case, targets={"itl": slow * share})
        alone = Reviewed(study, None, Recommendation(as_they_stand(study.cases)))
        outcomes.append(page_one(alone)["rows"][0][4])
    assert outcomes == ["met, narrowly in the worst case", "met", "missed in the worst case"]


def test_a_price_that_nobody_knows_is_no_budget_kept(tmp_path):
    """A case without a price was said to meet every target, the one on its price included."""
    file = data_folder("specs") / "hardware" / "h200.yaml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8")) | {"name": "unpriced", "prices": []}
    (tmp_path / "unpriced.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    device, targets = str(tmp_path / "unpriced.yaml"), {"itl": "1 s", "price": "20 USD/hour"}
    study = Study("llama-3-8b", device, prompt=512, output=64, batch=8, targets=targets)
    assert passes(study.first) is False
    assert unknown_targets(study.first) == {"price": "needs price"}
    page = page_one(reviewed(study))
    assert (
        page["heading"]
        == "Whether 1 × NVIDIA H200 SXM 141 GB meets every target of Llama 3 8B is not known"
    )
    assert ["price of a replica", "not known", "", "20 USD/hour", "needs price"] in page["rows"]
