"""Published rates of servers under load below what their devices allow, and the page that lists them."""

import re
from fractions import Fraction

import pytest

from symroof.errors import InputError
from symroof.resources import data_folder
from symroof.specs.measured import ServedRate
from tools.evidence.catalogue_rows import sources
from tools.evidence.serving_bounds import BoundedRate, UnboundedRate, bounded_rates
from tools.evidence.serving_page import rate_line

from ..tables import case_of

pytestmark = pytest.mark.full

PAGE = (
    (data_folder("specs").parent / "docs" / "validation" / "published-rates.md")
    .read_text(encoding="utf-8")
    .splitlines()
)
QUICK = {"mlperf-inference-v51": 2}
"""The most devices of a rate whose every layout is worked out here, by source; the page has all."""


@pytest.fixture(scope="module")
def rates():
    quick = []
    for spec in sources():
        most = QUICK.get(spec.name, 10**6)
        some = [row for row in spec.serving if row.devices <= most or not row.hardware]
        quick += bounded_rates(spec.model_copy(update={"serving": tuple(some)}))
    return quick


def published():
    return [line.strip("| ").split(" | ") for line in PAGE if re.search(r" \d+ x [a-z]", line)]


def test_every_published_rate_is_on_the_page_and_below_its_bound():
    """Each row of the catalogue whose device is known, by its number of devices and its rate; none above the roof, the best near it."""
    rows = sorted(
        (row.devices, f"{float(row.value.value):,.6g}")
        for spec in sources()
        for row in spec.serving
        if row.hardware
    )
    listed = published()
    assert sorted((int(cells[1].split(" x ")[0]), cells[5]) for cells in listed) == rows
    assert len(rows) >= 150
    shares = [
        float(cells[5].replace(",", "")) / float(cells[6].replace(",", "")) for cells in listed
    ]
    assert 0.6 < max(shares) < 0.95


def test_the_page_is_what_the_catalogue_gives(rates):
    known = [rate for rate in rates if isinstance(rate, BoundedRate)]
    assert len(known) > 120
    assert not [rate for rate in known if rate_line(rate) not in PAGE], (
        "stale: python -m tools.evidence"
    )


def test_a_bound_by_hand(rates):
    """Llama-3.1-8B in fp8 on one H100, 128 in and 4,096 out: a step reads the weights but the gathered table once, and the caches at their mean length."""
    (rate,) = [
        r
        for r in rates
        if isinstance(r, BoundedRate)
        and r.row.spec == "llama-3.1-8b"
        and r.row.hardware == "h100-sxm"
        and r.row.output.value == 4096
    ]
    token = 2 * 32 * 8 * 128
    batch = Fraction(81_559 * 2**20 - 8_030_261_248, token * (128 + 2048))
    read = 8_030_261_248 - 128_256 * 4096 + batch * token * (128 + Fraction(4096, 2))
    assert rate.batch == int(batch)
    assert rate.bound < float(batch * 4096 / (4095 * read / Fraction(335 * 10**10)))
    # activations and the prompts' own work beside them
    assert rate.bound == pytest.approx(float(batch / (read / Fraction(335 * 10**10))), rel=0.05)


def test_what_is_lacking_is_listed(rates):
    reasons = {rate.reason for rate in rates if isinstance(rate, UnboundedRate)}
    assert (
        "[MAXSUN] MS-Intel Arc Pro B60 Dual 48G Turbo is not in the catalogue of hardware"
        in reasons
    )
    assert all(any(reason in line for line in PAGE) for reason in reasons)


SERVED = case_of(
    "engine='vLLM 0.9' device=H100 place='table 1' model='Llama 3 8B' weights=fp16 kv=fp16 "
    "devices=8 output=100 value='20 token/s'"
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "20 ms"}, "token/s"),
        ({"tp": 3}, "whole number of instances"),
        ({"output": 0}, "positive"),
        ({"kv": "fp17"}, "precision"),
    ],
)
def test_bad_rates_are_refused_with_their_reason(changes, words):
    ServedRate.model_validate(SERVED)
    with pytest.raises((ValueError, InputError), match=words):
        ServedRate.model_validate({**SERVED, **changes})
