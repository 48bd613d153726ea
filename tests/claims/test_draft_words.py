"""The words of a note that state a case: counts, lengths, precisions, names of parts, each at its place."""

import pytest

from symroof.claims.draft.case_words import Setting, _overlaps, count, settings
from symroof.claims.draft.named_parts import named


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        # fewer tokens than 16 are something else, fewer than 1,000 unless the text says that they are tokens, and so are more than 20 million
        ("a prompt of 15 tokens", []),
        ("a prompt of 16 tokens", ["prompt 16"]),
        ("a 999 prompt", ["prompt 999"]),
        ("a 999 context", []),
        ("a 1000 context", ["context 1000"]),
        ("a context of 20000000 tokens", ["context 20000000"]),
        ("a context of 20000001 tokens", []),
        ("64 sequences in flight", ["batch 64"]),
        ("batch 0", []),
        ("bs=8", ["batch 8"]),
        ("concurrency: 32", ["batch 32"]),
        ("8 concurrent requests", ["batch 8"]),
        ("8 requests per second", []),
        ("single-user", ["batch 1"]),
        ("one user", ["batch 1"]),
        ("ten requests", ["batch 10"]),
        ("ISL 1024, OSL 128", ["prompt 1024", "output 128"]),
        ("1024 tokens in, 128 tokens out", ["prompt 1024", "output 128"]),
        ("prompts of 2,048 tokens and outputs of 256 tokens", ["prompt 2048", "output 256"]),
        ("a 4k-token prompt", ["prompt 4096"]),
        ("a 2.5k context", ["context 2500"]),
        ("10k tokens of context", ["context 10000"]),
        ("a 32Ki context", ["context 32768"]),
        ("C = 8192", ["context 8192"]),
        ("500 tokens", ["context? 500"]),
        ("128 tokens per request", []),
        ("a 2048 prompt at batch thirty-two", ["prompt 2048", "batch 32"]),
        ("TP=4, PP 2, EP=8 and dp 3", ["tp 4", "pp 2", "ep 8", "dp 3"]),
        ("tensor parallelism of 2, 4 stages, 3 replicas", ["tp 2", "pp 4", "dp 3"]),
        ("4-way tensor parallel", ["tp 4"]),
        ("1-way", []),  # one way of a link
        ("on 8 GPUs", ["tp? 8"]),
        ("one node of 8 GPUs", ["tp? 8"]),
        ("a 4 GB prompt", []),
        ("the 8 heads of the prompt", []),
        ("fp8 weights", ["weights fp8"]),
        ("the KV cache in fp8", ["kv fp8"]),
        ("bf16", ["weights? bf16"]),
        ("the fp8 tensor peak", ["compute fp8"]),
        ("16-bit weights and an 8-bit cache", ["weights fp16", "kv int8"]),
        # the nearest word within 48 characters and the clause; what follows counts as two characters nearer
        (f"weights {39 * 'x'} fp8", ["weights fp8"]),
        (f"weights {40 * 'x'} fp8", ["weights? fp8"]),
        (f"fp8 {44 * 'x'} kv", ["kv fp8"]),
        (f"fp8 {45 * 'x'} kv", ["weights? fp8"]),
        ("cache x fp8 xx weights", ["weights fp8"]),
        ("cache x fp8 xxxxxx weights", ["kv fp8"]),
        ("cache x fp8 xxx weights", ["weights fp8"]),
        ("the cache: fp8 weights", ["weights fp8"]),
        ("the cache, fp8; weights", ["kv fp8"]),
    ],
)
def test_what_a_text_states_of_a_case(text, stated):
    words = dict.fromkeys(f"{word.name}{'?' * word.soft} {word.value}" for word in settings(text))
    assert list(words) == stated


@pytest.mark.parametrize(
    ("written", "kilo", "digits"),
    [("4", "k", "4096"), ("10", "k", "10000"), ("1.5", "k", "1500"), ("2.0", "k", "2048"), ("0.5", "k", "500"), ("3", "Ki", "3072"), ("96", "k", "96000"),
     ("64", "K", "65536"), ("0", "", ""), ("x", "", ""), ("1{,}024", "", "1024"), ("Eight", "", "8"), ("1.5", "", "")],
)  # fmt: skip
def test_a_count_as_digits(written, kilo, digits):
    assert count(written, kilo) == digits


def names(text, family=""):
    return [f"{name.count or ''}{'?' * name.sized}{name.entry}" for name in named(text, family)]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("llama 3 70b", ["llama-3-70b"]),
        ("Llama 3 8B and 70B", ["llama-3-8b", "?llama-3-70b"]),
        ("Qwen2.5 7B, the 32B", ["qwen2.5-7b", "?qwen2.5-32b"]),
        ("the Qwen2.5 family: 32B", ["?qwen2.5-32b"]),
        ("the 32B", []),
        ("4xH100", ["4h100-sxm"]),
        ("4 x H100 SXM", ["4h100-sxm"]),
        ("eight H100s", ["8h100-sxm"]),
        ("8 A100 80GB", ["8a100-80gb-sxm"]),
        ("two NVIDIA H200", ["2h200"]),
        ("1,024 H100s", ["1024h100-sxm"]),
        ("12345 H100s", ["h100-sxm"]),
        ("2.5 H100", ["h100-sxm"]),
        ("the v4 H100", ["h100-sxm"]),
        ("a 4090", ["rtx-4090"]),
        ("two 4090s", ["2rtx-4090"]),
        ("4090 tokens", []),
        ("the H100 (SXM)", ["h100-sxm"]),
        ("A100-40GB PCIe", ["a100-40gb-pcie"]),
        ("Mixtral 8x7B", ["mixtral-8x7b"]),
        ("H100 and H200", ["h100-sxm", "h200"]),
        ("100 tokens on an L4", ["l4"]),
    ],
)
def test_parts_that_a_text_names(text, entries):
    assert names(text) == entries


def test_a_size_is_of_the_family_named_before():
    assert names("the 8B", "llama3") == ["?llama-3-8b"]


def test_a_name_stands_where_it_stands():
    """With the size of its memory, without the count before it."""
    for text, shown in (("on 4xH100s,", "H100s"), ("an H100 80GB card", "H100 80GB"), ("(Llama-3-70B)", "Llama-3-70B"), ("H100 80 GB/s", "H100")):
        (name,) = named(text)
        assert text[name.start : name.end] == shown


def test_a_count_stands_no_farther_before_a_name_than_eighteen_characters():
    assert names(f"8{' ' * 17}H100") == ["8h100-sxm"]
    assert names(f"8{' ' * 18}H100") == ["h100-sxm"]
    assert names("8 nvidia H100") == ["8h100-sxm"]


@pytest.mark.parametrize(
    ("text", "entries"), [("the 4090", ["rtx-4090"]), ("a 4090", ["rtx-4090"]), ("of 4090", []), ("4090s", ["rtx-4090"]), ("a 4090 card", ["rtx-4090"])]
)
def test_a_name_of_digits_alone(text, entries):
    assert names(text) == entries


def test_a_name_goes_on_over_no_other():
    assert names("H100 H100 H100 and L4, L40S") == ["h100-sxm"] * 3 + ["l4", "l40s"]


WORDS = """one 1 single 1 two 2 dual 2 three 3 four 4 five 5 six 6 seven 7 eight 8 ten 10 twelve 12 sixteen 16 thirty-two 32 sixty-four 64"""


def test_numbers_in_words():
    words = WORDS.split()
    assert {word: count(word) for word in words[::2]} == dict(zip(words[::2], words[1::2], strict=True))
    assert {word: count(word.title()) for word in words[::2]} == dict(zip(words[::2], words[1::2], strict=True))
    assert [count(word) for word in ("nine", "eleven", "")] == [""] * 3


@pytest.mark.parametrize(
    ("start", "end", "overlaps"),
    [(0, 4, True), (4, 6, True), (2, 3, True), (0, 9, True), (5, 9, False), (0, 1, False), (9, 20, False), (20, 22, False), (40, 45, True), (60, 70, False)],
)
def test_what_is_inferred_where_something_is_stated(start, end, overlaps):
    """Beside it, it stands on its own."""
    assert _overlaps([(1, 5), (30, 33), (34, 36), (37, 39), (41, 44)], Setting("tp", "2", start, end, True)) is overlaps
