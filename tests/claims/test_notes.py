"""Notes: which number an annotation speaks of, what it says, and what is refused, each at its place.

The cache of Llama-3-70B is worked out by hand: 2 (K and V) * 80 layers * 8 heads * 128 wide * 2 byte = 327,680 byte a token.
"""

import re

import pytest

from symroof.claims.check import check_text
from symroof.claims.claim_files import MOST_ANNOTATIONS
from symroof.claims.numbers import figures
from symroof.errors import InputError
from tests.tables import table

TOKEN = 2 * 80 * 8 * 128 * 2
KV = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->"


def only(text):
    """The one claim of a note."""
    (claim,) = check_text(text, "note.md").claims
    return claim


def refused(text):
    """The problems of a note, as (line, column, message with hint)."""
    with pytest.raises(InputError) as caught:
        check_text(text, "note.md")
    return [(p.line, p.column, f"{p.message}; {p.hint}") for p in caught.value.problems]


# -------------------------------------------------------------------------------------------- the number that is meant


def test_the_contract_s_example():
    claim = only(f"A prompt of 4,096 tokens takes 1.34 GB. {KV}\n")
    assert (claim.verdict, claim.claimed, claim.id) == ("rounded", "1.34 GB", "L1")
    assert (claim.line, claim.column) == (1, 32)
    assert claim.value == TOKEN * 4096
    assert claim.says == "A prompt of 4,096 tokens takes 1.34 GB."


PLACES = {
    "after a colon on the next line": ("The cache:\n1.34 GB\n" + KV, (2, 1)),
    "bold": ("It takes **1.34 GB** " + KV, (1, 12)),
    "in a code span": ("It takes `1.34 GB` " + KV, (1, 11)),
    "a hard space": ("It takes 1.34\u00a0GB " + KV, (1, 10)),
    "spelled out": ("It takes 1.34 gigabytes " + KV, (1, 10)),
    "the second of two numbers of the kind": ("Not 2 GB but 1.34 GB " + KV, (1, 14)),
    "a number of another kind in between": ("It takes 1.34 GB in 5 ms " + KV, (1, 10)),
    "a list item": (f"- 7 GB is more\n- It takes 1.34 GB {KV}\n", (2, 12)),
    "a heading": (f"7 GB\n## Cache: 1.34 GB {KV}\n", (2, 11)),
    "a table cell": (f"| a | b |\n|---|---|\n| 1.34 GB {KV} | 7 GB |\n", (3, 3)),
    "a cell of its own": (f"| a | b | c |\n|---|---|---|\n| 1.34 GB | 5 ms | {KV} |\n", (3, 3)),
    "a quotation": (f"> It takes\n> 1.34 GB {KV}\n", (2, 3)),
    "a tag with a number in it": (f'1.34 GB <img width="7 GB"> {KV}', (1, 1)),
    "an address with a number in it": (f"[1.34 GB](http://example.org/7GB) {KV}", (1, 2)),
    "Windows line ends": (f"One.\r\n\r\nIt takes\r\n1.34 GB {KV}\r\n", (4, 1)),
    "wide characters before it": (f"缓存 é 1.34 GB {KV}", (1, 6)),
    "a name with a number behind it": (f"1.34 GB on an H100-80GB {KV}", (1, 1)),
    "an escaped comment before it": (f"1.34 GB \\<!-- no comment {KV}", (1, 1)),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", PLACES)
def test_the_number_beside_an_annotation(name):
    text, place = PLACES[name]
    claim = only(text)
    assert ((claim.line, claim.column), claim.verdict) == (place, "rounded")


def test_value_says_which_number_is_meant():
    claim = only("It takes 1.34 GB, or 1.25 GiB. " + KV.replace("kv=fp16", "value='1.34 GB'"))
    assert (claim.claimed, claim.column) == ("1.34 GB", 10)
    assert only("It takes 1.34 GB, or 1.25 GiB. " + KV).claimed == "1.25 GiB"


def test_a_value_the_sentence_does_not_hold_is_stale():
    ((line, column, said),) = refused(
        "It takes 1.35 GB. " + KV.replace("kv=fp16", "value='1.34 GB'")
    )
    assert (line, column) == (1, 78)
    assert "'1.34 GB' does not appear before this annotation" in said
    assert "1.35 GB" in said


def test_a_value_stands_for_a_number_in_words():
    assert (
        only("Twice as much. <!-- symroof: expression='2 byte / 1 byte' value=2x -->").verdict
        == "exact"
    )


HEDGES = """
rounded | about 1.34 GB; ~1.3 GB
exact | under 1.4 GB; at least 1.3 GB; 1.2–1.4 GB; between 1.2 and 1.4 GB
wrong | less than 1.3 GB; no more than 1.3 GB
approximate | 1.25 to 1.30 GB; 1.340 GB
exact | 1.34217728 × 10^9 bytes; 1,342,177,280 bytes; 1.342177280e9 bytes; 1.25 GiB
"""
"""Of 1.3422 GB, behind "It takes"."""


@pytest.mark.parametrize(("verdict", "numbers"), table(HEDGES))
def test_hedges_bounds_and_ranges_are_part_of_the_claim(verdict, numbers):
    sentences = [f"It takes {number}. {KV}" for number in numbers.split("; ")]
    assert [only(sentence).verdict for sentence in sentences] == [verdict] * len(sentences)
    assert only(f"It cannot take less than 1.3 GB. {KV}").verdict == "exact"
    assert only(f"It grows from 0.1 to 1.34 GB. {KV}").verdict == "rounded"


def test_a_default_holds_for_what_follows_and_is_laid_over():
    text = (
        "<!-- symroof: given model=llama-3-70b prompt=4096 -->\n\n1.34 GB <!-- symroof: kv_cache_bytes -->\n\n"
        "0.67 GB <!-- symroof: kv_cache_bytes prompt=2048 -->\n\n<!-- symroof: given prompt=8192 -->\n\n2.68 GB <!-- symroof: kv_cache_bytes -->\n"
    )
    assert [c.verdict for c in check_text(text, "n.md").claims] == ["rounded"] * 3
    cleared = text + "\n<!-- symroof: given -->\n\n2.68 GB <!-- symroof: kv_cache_bytes -->\n"
    assert check_text(cleared, "n.md").claims[-1].verdict == "unchecked"


def test_several_annotations_in_a_paragraph():
    text = f"A token adds 328 kB <!-- symroof: kv_bytes_per_token model=llama-3-70b -->, so 4,096 take 1.34 GB. {KV}"
    first, second = check_text(text, "n.md").claims
    assert (first.claimed, first.verdict, first.id) == ("328 kB", "rounded", "L1")
    assert (second.claimed, second.verdict, second.id) == ("1.34 GB", "rounded", "L1-2")
    assert second.says == "so 4,096 take 1.34 GB."


FORMS = {
    "989.4e12 over 3.35e12 is 295 FLOP/byte <!-- symroof: expression='989.4e12 FLOP/s / 3.35e12 byte/s' -->": "rounded",
    "at batch 296 <!-- symroof: threshold=batch_to_ridge params=70e9 hardware=h100-sxm prompt=4096 assume.detail=weights -->": "exact",
    "8 of them <!-- symroof: min_devices_memory model=llama-3.1-70b hardware=h100-sxm prompt=131072 batch=8 -->": "exact",
    "decode is memory-bound <!-- symroof: relation=decode_bound model=llama-3-8b hardware=h100-sxm prompt=64 batch=1 -->": "exact",
    "decode is compute bound <!-- symroof: relation=decode_bound model=llama-3-8b hardware=h100-sxm prompt=64 batch=1 -->": "wrong",
    "it does not fit <!-- symroof: relation=fits model=llama-3-70b hardware=h100-sxm prompt=64 -->": "exact",
    "it fits <!-- symroof: relation=fits model=llama-3-8b hardware=h100-sxm prompt=64 -->": "exact",
    "it fits on 2 <!-- symroof: fits model=llama-3-8b hardware=h100-sxm prompt=64 -->": "exact",
    "soon <!-- symroof: relation='ttft < 200 ms' model=llama-3-8b hardware=h100-sxm prompt=64 -->": "exact",
    "an H200 is 1.43x faster <!-- symroof: compare=itl model=llama-3-8b prompt=64 between='hardware=h100-sxm | hardware=h200' -->": "rounded",
    "more helps <!-- symroof: moves=decode_throughput with=mem_bandwidth model=llama-3-8b hardware=h100-sxm prompt=64 value=up -->": "exact",
    "an H100 reads 3.35 TB/s <!-- symroof: catalogue=h100-sxm.mem_bandwidth -->": "exact",
    "tastes good <!-- symroof: unchecked='a matter of taste' -->": "unchecked",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", FORMS, ids=lambda text: text[:24])
def test_every_form(text):
    claim = only(text)
    assert claim.verdict == FORMS[text], claim.reason


def test_a_latency_below_what_is_predicted_has_both_numbers_beside_it():
    """Eight billion weights of two bytes take 4.8 ms to read; nobody has measured 6 ms of it."""
    claim = only(
        "a token takes 6 ms <!-- symroof: itl model=llama-3.1-8b hardware=h100-sxm batch=1 prompt=1000 -->"
    )
    assert claim.verdict == "wrong" and "impossible" not in claim.word
    assert re.search(r"predicted \S+ ms \(.*\), theoretical minimum 4\.\d+ ms", claim.reason)


def test_a_bar_in_a_table_is_written_with_a_backslash():
    row = "| 1.43x <!-- symroof: compare=itl model=llama-3-8b prompt=64 between='hardware=h100-sxm \\| hardware=h200' --> |"
    assert only(f"| a |\n|---|\n{row}\n").verdict == "rounded"


PROSE = """
70 billion parameters | 70e9 parameters
a 70B model | 70e9
24 tokens per second | 24 token/s
24 tokens a second | 24 token/s
24 tok/s/user | 24 token/s
$0.80 per million tokens | 0.80 USD
$4.29/hour | 4.29 USD/hour
costs $ 2 | 2 USD
62 percent | 62 %
FP16 on H100 and Llama-3-70B |
the 3rd of 8x7B |
1.4 × 10¹¹ bytes | 1.4e11 byte
295 FLOPS/byte | 295 FLOP/byte
50-ms | 50 ms
1,34 GB, 1'000 GB, 3.1.2 and 25 ± 2 ms | 25
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "written"), table(PROSE))
def test_numbers_as_prose_writes_them(text, written):
    assert " ".join(figure.written for figure in figures(text)) == written


# --------------------------------------------------------------------------------------------------- what is not read


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "text",
    [
        f"```\n1.34 GB {KV}\n```\n",
        f"~~~ md\n1.34 GB {KV}\n```\n~~~\n",
        f"```\n1.34 GB {KV}\n",
        f"> ```\n> 1.34 GB {KV}\n> ```\n",
        f"- ```\n  1.34 GB {KV}\n  ```\n",
        f"`1.34 GB {KV}`",
        f"``1.34 ` GB {KV}``",
        f"text `a\nb {KV}` text",
        f"Text.\n\n    1.34 GB {KV}\n",
        f"1.34 GB \\{KV}",
        "<!-- symroof is a tool -->",
        "<!-- anything else -->",
        "",
        "\ufeff",
    ],
)
def test_code_and_other_comments_hold_no_claims(text):
    assert check_text(text, "note.md").claims == ()


# ------------------------------------------------------------------------------------------------------ what is refused

FAULTS = """
20 | did you mean 'kv_cache_bytes' | 1 GB <!-- symroof: kv_cache_byts model=llama-3-70b prompt=1 -->
53 | did you mean 'prompt' | 1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b promt=1 -->
53 | positive | 1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=-1 -->
62 | set twice | 1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=1 prompt=2 -->
53 | no value | 1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt= -->
35 | is not NAME=VALUE | 1 GB <!-- symroof: kv_cache_bytes model='llama-3-70b prompt=1 -->
35 | 'of' is not NAME=VALUE | 1 GB <!-- symroof: kv_cache_bytes of llama -->
62 | byte/s is needed | 1 GB <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=1 \
mem_bandwidth='3 TB' -->
35 | not a regular file | 1 GB <!-- symroof: kv_cache_bytes model=/dev/zero prompt=1 -->
20 | did you mean 'batch_to_ridge' | 1 GB <!-- symroof: threshold=batch_to_rigde -->
20 | exponent | 1 GB <!-- symroof: expression='9**9**9' -->
35 | expected keys and values | 1 GB <!-- symroof: kv_cache_bytes values=3 model=llama-3-70b -->
11 | needs one of quantity | 1 GB <!-- symroof: model=llama-3-70b -->
9 | states no value | up <!-- symroof: moves=itl with=batch model=llama-3-70b -->
51 | no claim | 1 GB <!-- symroof: weight_bytes model=llama-3-70b conflicts_with=L9 -->
16 | no number in byte | no number <!-- symroof: weight_bytes model=llama-3-70b -->
11 | is empty | 1 GB <!-- symroof: -->
11 | colon | 1 GB <!-- symroof kv_cache_bytes model=llama-3-70b -->
11 | does not end | 1 GB <!-- symroof: kv_cache_bytes
11 | does not end | 1 GB <!-- symroof: kv_cache_bytes <!-- x -->
"""
"""The column, a part of the message, and the note."""
FAULTS_IN_LINES = {
    "1 GB\n<!-- symroof: kv_cache_bytes\nmodel=llama-3-70b\n  promt=4 -->": (
        4,
        3,
        "did you mean 'prompt'",
    )
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", FAULTS.strip().splitlines())
def test_a_fault_is_told_with_its_place(row):
    column, words, text = row.split(" | ", 2)
    found = refused(text)
    assert found[0][:2] == (1, int(column)) and words in found[0][2]


@pytest.mark.parametrize("text", FAULTS_IN_LINES)
def test_a_fault_is_told_with_its_line(text):
    line, column, words = FAULTS_IN_LINES[text]
    found = refused(text)
    assert found[0][:2] == (line, column) and words in found[0][2]


def test_every_fault_of_a_file_in_one_run():
    text = "1 GB <!-- symroof: weight_bytes modle=x -->\n\n2 GB <!-- symroof: weight_bytes modell=x kv_cache=1 -->\n"
    assert [place[:2] for place in refused(text)] == [(1, 33), (3, 33), (3, 42)]


def test_the_number_of_annotations_is_bounded():
    text = f"1.34 GB {KV}\n\n" * (MOST_ANNOTATIONS + 1)
    ((_, _, said),) = [problem for problem in refused(text) if "more than" in problem[2]]
    assert f"{MOST_ANNOTATIONS} annotations" in said


# ------------------------------------------------------------------------------------------------------------ hostility


SHORT = """
# 45/1.28 are 35.2
It does 295 FLOPs for every byte. | ridge_point hardware=h100-sxm | 295 FLOPs for every byte | rounded
Only 35 requests are left. | expression='45 GB/1.28 GB' | 35 requests | rounded
It costs 3 dollars a second, for 12 tokens. | expression='45 GB/1.28 GB' | 12 tokens | wrong
"""


@pytest.mark.parametrize(("text", "annotation", "claimed", "verdict"), table(SHORT))
def test_rates_and_counts_that_leave_a_word_out(text, annotation, claimed, verdict):
    claim = only(f"{text} <!-- symroof: {annotation} -->")
    assert (claim.claimed, claim.verdict) == (claimed, verdict)


LATEX = r"""
$1.34\,\text{GB}$
$2 GB$
$$ 1.34 GB $$
$`1.34 GB`$
\(1.34 GB\)
\[1.34\,GB\]
$6 \times 70 = 80$ GB
$2 \cdot 3 \times 4 + 5 = 25$ GB
"""


@pytest.mark.parametrize("formula", [*LATEX.strip().splitlines(), "$$\n1.34 GB\n$$"])
def test_a_formula_is_not_read(formula):
    """Neither is a number in it taken, nor its arithmetic checked; what is shown has dots in its place."""
    kv = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
    ((_, _, message),) = refused(f"The cache is {formula}. {kv}\n")
    assert message.startswith("no size found") or "no number" in message, message
    (claim,) = check_text(f"Of {formula} and 10.7 GB, {kv}\n", "n.md").claims
    assert claim.claimed == "10.7 GB"
    assert claim.says.startswith("Of …") and claim.says.endswith("and 10.7 GB")


LED = """
$n$ × 80 × 2 = 320
80 × 2 = 320 × $n$
80 × 2 $n$ = 320
80 × $n$ × 2 = 320
$n$ 80 × 2 = 320
"""


@pytest.mark.parametrize("text", LED.strip().splitlines())
def test_arithmetic_with_a_formula_in_it_is_not_checked(text):
    assert check_text(text + "\n", "n.md").claims == ()
