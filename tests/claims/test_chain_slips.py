"""Slips in chains: the step that does not follow from the numbers before it is explained, and no other."""

from __future__ import annotations

from symroof.claims.check import check_text
from symroof.claims.checked import Checked
from symroof.claims.judge import judge
from symroof.specs.claims import ClaimSpec
from symroof.theory.quantities import QUANTITIES

LLAMA = {"model": "llama-3-70b", "hardware": "h100-sxm", "prompt": 4096, "batch": 4}


def chain(*steps: tuple[str, str, str], **given: object) -> Checked:
    """A chain judged; each step is a name, arithmetic or a quantity, and its value."""
    made = tuple(
        {"name": name, "quantity" if source in QUANTITIES else "expression": source, "value": value}
        for name, source, value in steps
    )
    return judge(ClaimSpec(id="c", steps=made, given={**LLAMA, **given}))


def named(judged: Checked) -> list[tuple[str, str]]:
    return [(slip.text.partition(":")[0], slip.slip) for slip in judged.slips if slip.named]


def test_the_step_with_the_slip_is_named_and_what_follows_from_it_is_not():
    """2 * 80 * 64 * 128 * 2 byte = 2.62 MB with 64 query heads for 8; times 4,096 tokens that is 10.73 GB."""
    judged = chain(
        ("token", "kv_bytes_per_token", "2.62 MB"),
        ("one", "token*prompt", "10.73 GB"),
        ("all", "one*batch", "42.92 GB"),
    )
    assert named(judged)[0] == ("token", "gqa_forgotten")
    assert [[slip.slip for slip in part.slips if slip.named][:1] for part in judged.parts] == [
        ["gqa_forgotten"],
        [],
        [],
    ]
    assert judged.slips[0].chance < 0.05


def test_arithmetic_over_earlier_steps_is_explained():
    """140 GB over the 2.039 TB/s of the PCIe part; a cache of one request for four; a rate upside down."""
    assert named(
        chain(("weights", "70e9*2 byte", "140 GB"), ("time", "weights/mem_bandwidth", "68.7 ms"))
    )[0] == ("time", "bandwidth_of_other_part")
    assert named(
        chain(("token", "kv_bytes_per_token", "328 KB"), ("all", "token*prompt*batch", "1.34 GB"))
    )[0] == ("all", "batch_factor")
    assert named(
        chain(
            ("time", "140 GB / (3.35 TB/s)", "41.8 ms"),
            ("rate", "1 token / time", "0.0418 token/s"),
        )
    )[0] == ("rate", "inverted_ratio")


def test_a_step_may_have_the_letter_of_a_name():
    """``w`` is the window of attention elsewhere; here it is the step before: 140e9 / 3.35e12 = 41.79 ms."""
    assert (
        chain(("w", "70e9*2 byte", "140 GB"), ("t", "w/mem_bandwidth", "41.8 ms")).verdict
        == "rounded"
    )


def test_right_steps_have_no_slips_and_json_tells_those_of_wrong_ones():
    right = "{name: token, quantity: kv_bytes_per_token, value: 328 KB}, {name: one, expression: token*4096, value: %s}"
    text = "claims:\n" + "".join(
        f"- {{id: {i}, given: {{model: llama-3-70b}}, steps: [{right % value}]}}\n"
        for i, value in (("a", "1.34 GB"), ("b", "13.4 GB"))
    )
    good, bad = check_text(text, "claims.yaml").as_json()["claims"]
    assert good["slips"] == []
    assert (bad["slips"][0]["slip"], bad["slips"][0]["text"]) == (
        "decimal_point",
        "one: the decimal point 1 place to the right: ×10",
    )
