"""What a number is of, by hand: a quantity of so many requests, layers or tokens, divided by them; every dimension another prime."""

import pytest

from symroof.claims.check import check_text
from symroof.claims.judge import judge
from symroof.claims.numbers import figures
from symroof.specs.claims import ClaimSpec
from tests.tables import table

OF = """
There are 47 GB free per GPU. | device
There are 47 GB left on each card. | device
There are 47 GB free. |
Per token and layer it keeps 4096 bytes. | token layer
Each layer keeps 4096 bytes per token. | layer token
# a request has more tokens than one: only parts of a model go beside others
Each request reads 128 kB per token. | token
Per layer it keeps 4096 bytes per layer. | layer
"""


@pytest.mark.parametrize(("sentence", "of"), table(OF))
def test_words_before_and_behind_a_number(sentence, of):
    number = next(figure for figure in figures(sentence))
    assert [str(one) for one in number.denominators] == of.split()


def test_digits_of_another_script_are_no_number():
    """Their decimal sign is none here, and a part of a number must not be put right."""
    assert figures("The cache takes \u0661\u0660\u066b\u0667 GB, not 1.34 GB.")[0].digits == "1.34"


def test_words_at_the_head_of_a_paragraph_behind_a_comment_count():
    """131,072 byte a token: 8 requests of 4,096 tokens keep 4.29 GB, each of them an eighth."""
    text = "<!-- symroof: given model=llama-3-8b prompt=4096 -->\nEach request keeps 537 MB of cache <!-- symroof: kv_cache_bytes batch=8 --> there.\n"
    (claim,) = check_text(text, "note.md").claims
    assert claim.verdict in ("exact", "rounded")


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("A token adds 1.02 kB per layer and device.", "rounded"),  # 2*8*128*2/4 = 1,024 byte
        ("A token adds 1.02 kB for each layer and each GPU.", "rounded"),
        ("A token adds 1.02 kB per layer, per GPU.", "rounded"),
        ("Per layer and per device a token adds 1.02 kB.", "rounded"),
        ("A token adds 4.1 kB per layer and device.", "wrong"),
        ("A token adds 4.1 kB per layer and users wait.", "rounded"),
    ],
)
def test_a_number_of_a_layer_and_a_device(sentence, verdict):
    text = f"{sentence} <!-- symroof: kv_bytes_per_token model=llama-3-70b tp=4 kv=fp16 -->"
    assert check_text(text, "n.md").claims[0].verdict == verdict


def test_a_price_in_a_claim_file_is_of_so_many_tokens():
    """2.99 USD an hour for 2,400 tokens a second are 0.346 USD a million."""
    given = {"price": "2.99 USD/hour", "decode_throughput": "2400 token/s"}
    per_thousand = ClaimSpec(
        id="c", quantity="decode_cost_per_mtok", given=given, value="0.00035 USD per 1K tokens"
    )
    assert judge(per_thousand).verdict == "rounded"
    assert (
        judge(per_thousand.model_copy(update={"value": "0.35 USD per 1 million tokens"})).verdict
        == "rounded"
    )
    assert (
        judge(per_thousand.model_copy(update={"value": "0.35 USD per 1K tokens"})).verdict
        == "wrong"
    )
    for dollars in ("$0.35", "about $0.35", "$0.00035 per 1K tokens", "$0.35 per million tokens"):
        assert judge(per_thousand.model_copy(update={"value": dollars})).verdict == "rounded"
    assert judge(per_thousand.model_copy(update={"value": "$0.3–0.4"})).verdict == "exact"
    assert judge(per_thousand.model_copy(update={"value": "< $0.30"})).verdict == "wrong"
    (slip,) = judge(per_thousand.model_copy(update={"value": "$1,246"})).slips
    assert (slip.slip, slip.named) == ("hours_seconds", True)
