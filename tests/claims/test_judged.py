"""One claim of each form at the edge of its verdict, and why it has it."""

import pytest

from symroof.api import Study
from symroof.claims.check import check_text
from symroof.claims.check_result import Checked
from symroof.claims.judge import judge
from symroof.claims.judgement import Judgement
from symroof.specs.claims import ClaimSpec

M70 = {"model": "llama-3-70b"}
CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1000}
FIRST = {"params": "70e9", "hardware": "h100-sxm", "prompt": 4096, "assume": {"detail": "weights"}}
TOKEN = {"quantity": "kv_bytes_per_token", "given": M70}  # 327,680 byte
ROW = {"quantity": "kv_cache_bytes", "given": M70 | {"prompt": 4096}}  # 1.342,177,28 GB a request
LENGTHS = "needs value and the inputs as lists of one length, with something in them"


def judged(**fields):
    return judge(ClaimSpec(id="x", **fields))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "verdict", "reason"),
    [
        (TOKEN | {"value": "344.064 kB", "tolerance": "5 %"}, "approximate", ""),  # 5 % to the byte
        (TOKEN | {"value": "344.065 kB", "tolerance": "5 %"}, "wrong", ""),
        (TOKEN | {"value": "311.297 kB", "tolerance": "0.05"}, "approximate", ""),
        (TOKEN | {"value": "311.295 kB", "tolerance": "0.05"}, "wrong", ""),
        (TOKEN | {"value": "328 kB", "tolerance": 0}, "rounded", ""),
        (TOKEN | {"value": "329 kB", "tolerance": 0}, "wrong", ""),
        (TOKEN | {"value": "328 kB", "tolerance": "-5 %"}, "unchecked", "'-5 %' is not a share of the value"),
        (TOKEN | {"value": "328 kB", "tolerance": "x"}, "unchecked", "'x' is not a share of the value"),
        # a figure of a data sheet claims to be that figure from four digits on
        ({"catalogue": "h100-sxm.mem_bandwidth", "value": "3.35 TB/s"}, "exact", ""),
        ({"catalogue": "h100-sxm.mem_bandwidth", "value": "3.36 TB/s"}, "approximate", ""),
        ({"catalogue": "h100-sxm.mem_bandwidth", "value": "3.352 TB/s"}, "wrong", ""),
        (ROW | {"values": {"value": ["1.34 GB", "2.68 GB"], "batch": [1, 2]}}, "rounded", ""),
        (ROW | {"values": {"value": ["1.34 GB", "2.78 GB"], "batch": [1, 2]}}, "approximate", ""),
        (ROW | {"values": {"value": ["1.34 GB"], "batch": [1, 2]}}, "unchecked", LENGTHS),
        (ROW | {"values": {"value": []}}, "unchecked", LENGTHS),
        (ROW | {"values": {"batch": [1]}}, "unchecked", LENGTHS),
        ({"quantity": "itl", "given": {"model": "llama-3-8b", "hardware": "h100-sxm"}, "value": "4.79 ms"}, "unchecked", "needs prompt, which is not stated and changes the result"),
        ({"quantity": "itl", "given": CASE, "value": "soon"}, "wrong", ""),
        ({"quantity": "itl", "given": CASE, "value": "5 GB"}, "wrong", "the claimed value is byte, but the quantity is s"),
        ({"quantity": "n_experts", "given": M70, "value": "8"}, "unchecked", "has no value here: needs n_experts"),
        ({"relation": "batch > 100", "given": CASE | {"batch": 101}, "value": True}, "exact", ""),
        ({"relation": "batch > 100", "given": CASE | {"batch": 100}, "value": True}, "wrong", ""),
        ({"relation": "decode_bound", "given": CASE, "value": "memory"}, "exact", ""),
        ({"relation": "decode_bound", "given": CASE, "value": "compute"}, "wrong", ""),
        ({"relation": "decode_bound", "given": CASE, "for_all": {"prompt": "1..2000"}, "value": "memory"}, "exact", ""),
        ({"relation": "decode_bound", "given": CASE, "for_all": {"prompt": "1..2000"}, "value": "compute"}, "wrong", ""),
        ({"moves": "itl", "with_": "batch", "given": CASE, "value": "up"}, "exact", ""),
        ({"moves": "itl", "with_": "mbu", "given": CASE, "value": "down"}, "exact", ""),
        ({"moves": "itl", "with_": "mbu", "given": CASE, "value": "up"}, "wrong", ""),
        ({"moves": "weight_bytes", "with_": "batch", "given": CASE, "value": "not"}, "exact", ""),
        ({"moves": "itl", "with_": "itl", "given": CASE, "value": "up"}, "unchecked", "itl moves with itself, whatever it is"),
        ({"moves": "fits", "with_": "batch", "given": CASE, "value": "up"}, "unchecked", "fits is true/false or a category: it has no slope"),
        ({"threshold": "batch_to_ridge", "given": FIRST, "value": "296"}, "exact", ""),  # 295.34 requests: the first whole number, or as it is
        ({"threshold": "batch_to_ridge", "given": FIRST, "value": "295"}, "rounded", ""),
        ({"threshold": "batch_to_ridge", "given": FIRST, "value": "297"}, "approximate", ""),
        ({"expression": "3 GB + 2 s", "value": "5"}, "wrong", "3 GB is byte but 2 s is s"),
        ({"expression": "foo*2", "value": "5"}, "unchecked", "unknown name 'foo'"),
        ({"expression": "1/0", "value": "5"}, "unchecked", "division by zero"),
        ({"unchecked": "a matter of taste"}, "unchecked", "a matter of taste"),
    ],
)  # fmt: skip
def test_the_verdict_of_a_claim(fields, verdict, reason):
    claim = judged(**fields)
    assert (claim.verdict, bool(reason)) == (verdict, reason in claim.reason and bool(reason))


def test_a_claim_throughout_a_range_that_holds_in_a_part_of_it():
    """Either answer holds in a part, and the other's begins at the next whole number: where the batch no longer fits."""
    yes, no = (
        judged(relation="fits", given=CASE, for_all={"batch": "1..1000"}, value=value)
        for value in (True, False)
    )
    first = int(yes.reason.partition("not for batch ")[2].partition(" ")[0])
    assert yes.reason == f"holds in only part of the range: not for batch {first} to 1,000"
    assert no.reason == f"holds in only part of the range: not for batch 1 to {first - 1}"
    assert (yes.verdict, no.verdict) == ("conditional", "conditional")
    assert [
        bool(Study(**CASE, engine="ideal", batch=batch).value("fits"))
        for batch in (first - 1, first)
    ] == [True, False]


def test_what_a_claim_needs():
    """16 GFLOP a token: at the peak and at half of it, to the digits written."""
    peak = Study(**CASE, efficiency="peak").value("ttft")
    half = Study(**CASE, mfu=0.5).value("ttft")
    needs = {"mfu": 0.5}
    there = judged(quantity="ttft", given=CASE, needs=needs, value=f"{float(1000 * half):.2f} ms")
    assert (there.verdict, there.needs) == ("conditional", ("mfu 0.5",))
    assert (
        there.reason
        == f"holds with mfu 0.5 ({there.reason.partition('(')[2].partition(')')[0]}); otherwise {there.derived}"
    )
    assert (
        judged(
            quantity="ttft", given=CASE, needs=needs, value=f"{float(1000 * peak):.2f} ms"
        ).verdict
        == "rounded"
    )
    assert (
        judged(
            quantity="ttft", given=CASE, needs=needs, value=f"{float(3000 * half):.2f} ms"
        ).verdict
        == "wrong"
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("verdict", "ratio", "flags", "needs", "plain", "strict"),
    [
        ("wrong", None, (), {}, True, True),
        ("inconsistent", None, (), {}, True, True),
        ("exact", 1, (), {}, False, False),
        ("exact", 1, ("regime",), {}, False, True),
        ("conditional", "5/4", (), {}, False, True),
        ("conditional", "1251/1000", (), {}, True, True),
        ("conditional", "3/4", (), {}, False, True),
        ("conditional", "749/1000", (), {}, True, True),
        ("conditional", "2", (), {"mfu": 1}, False, True),
        ("conditional", None, (), {}, False, True),
        ("unchecked", None, (), {}, False, True),
    ],
)
def test_what_is_to_be_acted_on(verdict, ratio, flags, needs, plain, strict):
    """A conditional claim from a quarter off on, unless it states what it needs."""
    from fractions import Fraction

    claim = ClaimSpec(id="x", quantity="itl", value="1", needs=needs)
    one = Checked(
        Judgement(claim, verdict, ratio=None if ratio is None else Fraction(ratio), flags=flags),
        "n.md",
        1,
        1,
        "1",
    )
    assert (one.finding(), one.finding(strict=True)) == (plain, strict)


def test_what_somebody_left_unchecked_is_no_finding():
    one = Checked(Judgement(ClaimSpec(id="x", unchecked="taste"), "unchecked"), "n.md", 1, 1, "")
    assert not one.finding(strict=True)


def chain(*steps):
    listed = ", ".join(f"{{name: {name}, {how}, value: '{value}'}}" for name, how, value in steps)
    (claim,) = check_text(f"claims: [{{id: c, steps: [{listed}]}}]", "c.yaml").claims
    return claim.verdict, claim.reason


def test_chains():
    """Each step against the true numbers before it and against those that are written."""
    a, b = ("a", "expression: 2*3"), ("b", "expression: a*2")
    assert chain((*a, "6"), (*b, "12")) == ("exact", "")
    assert chain((*a, "7"), (*b, "14")) == (
        "inconsistent",
        "a step does not follow from the numbers written before it: a 7; passed on to b",
    )
    assert chain((*a, "6"), (*b, "13")) == (
        "inconsistent",
        "a step does not follow from the numbers written before it: b 13",
    )
    assert chain((*a, "7")) == (
        "inconsistent",
        "a step does not follow from the numbers written before it: a 7, where a 6 comes out",
    )
    assert chain((*a, "7"), (*b, "12")) == (
        "inconsistent",
        "a step does not follow from the numbers written before it: a 7; passed on to b",
    )
    assert (
        chain((*a, "7"), ("c", "expression: 5*5", "25"))[1]
        == "a step does not follow from the numbers written before it: a 7"
    )
    assert chain((*a, "7"), (*b, "14"), ("c", "expression: b + 1", "15"))[1].endswith(
        "; passed on to b, c"
    )
