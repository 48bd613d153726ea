"""Which way each cue speaks for a reading of a number, as a reader would say: what a cue speaks against, in each unit, and what no unit alone suggests."""

import pytest

from symroof.claims.draft.drafted_copy import Draft, Guessed, _as_elsewhere, annotated
from symroof.claims.draft.guess_quantity import Guess, _nearness, kind_of, numbers
from symroof.claims.draft.note_blocks import blocks
from symroof.claims.draft.readings import READINGS
from symroof.claims.read.numbers import figures

AGAINST = {
    "byte": """
        cache: weight_bytes weight_bytes_per_device memory_reserve mem_capacity
        weights: kv_cache_bytes kv_cache_bytes_per_device mem_capacity decode_bytes
        state: kv_cache_bytes
        expert: weight_bytes
        precision: mem_capacity
        model: mem_capacity
        footprint: mem_capacity
        capacity: weight_bytes_per_device decode_bytes
        labelled: weight_bytes weight_bytes_per_device kv_cache_bytes
        free: weight_bytes weight_bytes_per_device kv_bytes_per_token kv_cache_bytes kv_cache_bytes_per_device memory_bytes memory_bytes_per_device memory_reserve mem_capacity
        leaving: weight_bytes_per_device kv_cache_bytes kv_cache_bytes_per_device mem_capacity
        reserved: weight_bytes free_memory mem_capacity
        in_all: weight_bytes weight_bytes_per_device kv_cache_bytes kv_cache_bytes_per_device mem_capacity
        per_device: weight_bytes kv_cache_bytes memory_bytes
        per_request: weight_bytes weight_bytes_per_device
        per_token: kv_cache_bytes free_memory
        of_tokens: kv_bytes_per_token
        context: kv_bytes_per_token
        layer: kv_bytes_per_token weight_bytes
        whole: weight_bytes kv_cache_bytes free_memory
        divided: kv_bytes_per_token
        reading: weight_bytes kv_bytes_per_token memory_bytes memory_bytes_per_device mem_capacity
        step: weight_bytes kv_bytes_per_token memory_bytes
        prefill: decode_bytes
        load_word: decode_bytes
        swap: decode_bytes""",
    "byte/token": "off_topic: kv_bytes_per_token",
    "byte/s": """
        link: mem_bandwidth
        network: mem_bandwidth link_bandwidth
        host: mem_bandwidth
        disk: mem_bandwidth
        l2: mem_bandwidth""",
    "FLOP/s": "achieved: peak_flops",
    "FLOP": """
        prefill: peak_flops decode_flops
        step: peak_flops prefill_flops
        per_token: peak_flops prefill_flops
        computing: peak_flops
        attention: prefill_flops
        attention_work: prefill_flops
        gemm: decode_flops""",
    "FLOP/byte": """
        decode: ridge_point
        step: ridge_point
        attention: ridge_point
        ridge: decode_intensity prefill_intensity attention_intensity
        prefill: decode_intensity""",
    "s": """
        target: ttft prefill_time itl tpot decode_time response_time
        first_token: prefill_time itl response_time itl_target
        between_tokens: ttft decode_time response_time
        response: prefill_time itl
        prefill: itl decode_compute_time
        decoding_all: response_time
        step: decode_time response_time load_time
        load_word: ttft decode_memory_time
        recompute: prefill_time swap_time
        swap: decode_memory_time
        sustained: prefill_time
        weights: transfer_time
        all_reduce: itl
        overhead: itl
        layer: itl
        launch: step_overhead""",
    "token/s": """
        aggregate: user_rate
        in_all: user_rate
        per_user: decode_throughput prefill_throughput
        per_device: user_rate decode_throughput
        prefill: user_rate decode_throughput
        sustained: user_rate decode_throughput prefill_throughput
        target: user_rate""",
    "request/s": "arriving: sustained_requests\nsustained: arrival_rate",
    "USD": """
        of_input: cost_per_mtok decode_cost_per_mtok
        without_prefill: cost_per_mtok
        sustained: decode_cost_per_mtok
        per_million: cost_per_request
        off_topic: cost_per_mtok""",
    "USD/token": "of_input: cost_per_mtok decode_cost_per_mtok\nwithout_prefill: cost_per_mtok",
    "USD/s": "group: price\nfleet: price group_price\nper_device: group_price\noff_topic: price",
    "J/token": "without_prefill: energy_per_token",
    "token": """
        output_word: prompt context
        chunk_word: prompt context
        prefill: context output
        context: output
        sliding: context
        speculation: output""",
    "request": "decode: concurrency",
    "device": "fleet: tp",
    "parameter": "active: params",
    "": "active: params\npart: params",
    "%": "achieved: mfu mbu\nshare_mbu: memory_utilization",
}
"""Unit -> what each cue speaks against: the size of a cache is no size of weights, what is per device is not of all of them."""
ALONE = {
    "byte": ["weight_bytes", "kv_cache_bytes"], "byte/token": ["kv_bytes_per_token"], "byte/parameter": ["weight_bytes_per_param"], "byte/s": ["mem_bandwidth"],
    "FLOP/s": ["peak_flops"], "FLOP": ["prefill_flops", "decode_flops"], "s": [], "USD": [], "J": [], "": [], "%": [],
    "FLOP/byte": ["ridge_point", "decode_intensity", "prefill_intensity", "attention_intensity", "gemm_intensity"], "token/s": ["user_rate", "decode_throughput"],
    "request/s": ["arrival_rate", "sustained_requests"], "USD/token": ["cost_per_mtok", "decode_cost_per_mtok", "cost_per_mtok_input"], "USD/request": ["cost_per_request"],
    "USD/s": ["price", "group_price", "fleet_price"], "W": ["power"], "J/token": ["energy_per_token", "decode_energy_per_token"], "J/request": ["energy_per_request"],
    "token": ["prompt", "context", "output"], "request": ["concurrency", "batch"], "device": ["tp", "devices"], "parameter": ["params", "active_params"],
}  # fmt: skip
"""What a number of a unit may be without a word that speaks for it; every other reading starts with something against it."""


@pytest.mark.parametrize("unit", READINGS)
def test_what_a_cue_speaks_against(unit):
    lines = (line.strip().partition(": ") for line in AGAINST.get(unit, "").strip().splitlines())
    expected = {(cue, name) for cue, _, listed in lines for name in listed.split()}
    assert expected <= {(cue, name) for name, (_, weights) in READINGS[unit].items() for cue, weight in weights.items() if weight < 0}


@pytest.mark.parametrize("unit", READINGS)
def test_what_a_unit_may_be_without_words(unit):
    assert [name for name, (start, _) in READINGS[unit].items() if start >= 0] == ALONE[unit]


# ----------------------------------------------------------------------------------------------- how much a word counts


def strength(text, word="cache", digits="3"):
    """How much a word counts for a number, as :func:`_nearness` has it."""
    (block,) = blocks(text)
    figure = next(figure for figure in numbers(block) if figure.digits == digits)
    start = block.text.index(word)
    return _nearness(block, figure, start, start + len(word))


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("cache 3 GB", 1 / (1 + 1 / 90)),
        ("cache xxxxxxxx 3 GB", 1 / (1 + 10 / 90)),
        ("3 GB cache", 1 / (1 + 1 / 90)),
        ("3 GB xxxxxxxx cache", 1 / (1 + 10 / 90)),
        # what parts clauses takes more from a word before the number than from one behind it, or less; brackets alike
        ("cache; 3 GB", 0.7 / (1 + 2 / 90)),
        ("3 GB; cache", 0.45 / (1 + 2 / 90)),
        ("cache while 3 GB", 0.7 / (1 + 7 / 90)),
        ("cache, 3 GB", 0.85 / (1 + 2 / 90)),
        ("3 GB, cache", 0.6 / (1 + 2 / 90)),
        ("cache and 3 GB", 0.85 / (1 + 5 / 90)),
        ("cache (3 GB", 0.9 / (1 + 2 / 90)),
        ("3 GB) cache", 0.9 / (1 + 2 / 90)),
        ("cache, x, 3 GB", 0.85**2 / (1 + 5 / 90)),
        ("cache, x, y, z, 3 GB", 0.85**3 / (1 + 11 / 90)),  # no more than three of a kind
        ("cache, so 3 GB", 0.7 * 0.85 / (1 + 5 / 90)),
        # another number between: of the same unit, of the case, any other
        ("cache 7 GB 3 GB", 0.55 * 0.6 / (1 + 6 / 90)),
        ("cache 7 tokens 3 GB", 0.92 / (1 + 10 / 90)),
        ("cache 7 ms 3 GB", 0.72 / (1 + 6 / 90)),
        # nearer to another number of the same unit
        ("7 GB cache xxxx 3 GB", 0.6 / (1 + 6 / 90)),
        ("7 GB xxxx cache 3 GB", 1 / (1 + 1 / 90)),
        ("7 ms cache xxxx 3 GB", 1 / (1 + 6 / 90)),
    ],
)
def test_a_word_fades_with_distance_and_across_what_stands_between(text, by_hand):
    assert strength(text) == pytest.approx(by_hand, rel=1e-12)


def test_a_word_that_overlaps_the_number_counts_whole():
    assert strength("3 GB/cache x", word="GB") == 1.0


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("1 GB", "byte"), ("2 GB/GPU", "byte"), ("3 KB per token", "byte/token"), ("4 ms/token", "s"), ("$5/hour", "USD/s"), ("46.7B", ""), ("8", "none"), ("2x", "none"), ("45 %", "%"),
        ("64 bytes", "none"), ("65 bytes", "byte"), ("16 bits", "none"), ("3 J/s", "W"), ("3 J/token", "J/token"), ("3 FLOP/byte", "FLOP/byte"), ("3 token/s", "token/s"),
        ("3 request/s", "request/s"), ("7 million", ""), ("7 thousand", "none"), ("70B parameters", "parameter"), ("3 GHz", "none"), ("3 USD/token", "USD/token"),
    ],
)  # fmt: skip
def test_the_kind_of_a_number(unit, kind):
    assert kind_of(figures(unit)[0]) == kind


@pytest.mark.parametrize(
    ("score", "rival", "clear", "doubts"),
    [(1.3, "", True, ()), (1.29, "", False, ("few words speak for it",)), (2.0, "itl", False, ("or itl",)), (1.0, "itl", False, ("or itl",))],
)
def test_what_is_doubtful(score, rival, clear, doubts):
    one = Guess("ttft", score, rival)
    assert (one.clear, one.doubts) == (clear, doubts)
    assert not Guess("", 2.0).clear


def test_a_column_with_a_unit_makes_its_plain_numbers_amounts_of_it():
    """One number alone in a cell of a table."""
    note = blocks("| case | cache (GB) | rate, token/s | rent in USD/hour |\n|---|---|---|---|\n| a | 3 | 4 | 5 |\n| b | 3 of 4 | 4 ms | $5 |\n")
    cells = {(block.row or block.text, block.column): [figure.unit for figure in numbers(block)] for block in note if block.table}
    assert [cells["a", column] for column in ("cache (GB)", "rate, token/s", "rent in USD/hour")] == [["GB"], ["token/s"], ["USD/hour"]]
    assert [cells["b", column] for column in ("cache (GB)", "rate, token/s", "rent in USD/hour")] == [["", ""], ["ms"], ["USD"]]


def elsewhere(number, *guesses):
    """What the same number is taken for at each of its places."""
    (figure,) = figures(number)
    return [one.guess.quantity for one in _as_elsewhere([Guessed(i, figure, figure, one) for i, one in enumerate(guesses)])]


def test_a_number_that_hardly_speaks_is_what_it_clearly_is_elsewhere():
    """With three characters or more, and where little or the same speaks for it there."""
    clear, nothing = Guess("kv_cache_bytes", 2.0), Guess()
    assert elsewhere("1.34 GB", clear, nothing) == ["kv_cache_bytes"] * 2
    assert elsewhere("1.34 GB", nothing, clear) == ["kv_cache_bytes"] * 2
    assert elsewhere("141 GB", clear, nothing) == ["kv_cache_bytes"] * 2
    assert elsewhere("14 GB", clear, nothing) == ["kv_cache_bytes", ""]
    assert elsewhere("1.34 GB", Guess("kv_cache_bytes", 1.0), nothing) == ["kv_cache_bytes", ""]
    assert elsewhere("1.34 GB", clear, Guess("weight_bytes", 1.29, "memory_bytes")) == ["kv_cache_bytes"] * 2
    assert elsewhere("1.34 GB", clear, Guess("weight_bytes", 1.3, "memory_bytes")) == ["kv_cache_bytes", "weight_bytes"]
    assert elsewhere("1.34 GB", clear, Guess("weight_bytes", 1.3, "kv_cache_bytes")) == ["kv_cache_bytes"] * 2
    assert elsewhere("1.34 GB", clear, Guess("weight_bytes", 2.0)) == ["kv_cache_bytes", "weight_bytes"]


def test_an_annotation_in_words():
    figure = figures("5 ms")[0]

    def comment(quantity, given, doubts=(), value=""):
        return Draft(1, 1, "5 ms", 0, 4, quantity, given, doubts, figure, value=value).annotation

    assert comment("itl", {"batch": "8", "mfu": "50 %"}, ("or tpot", "tp 2")) == "<!-- symroof: itl batch=8 mfu='50 %' note='doubtful: or tpot; tp 2' -->"
    assert comment("mem_capacity", {"hardware": "l4"}) == "<!-- symroof: mem_capacity hardware=l4 tolerance=0.1 -->"
    assert comment("mem_capacity", {"mem_capacity": "80 GB"}) == "<!-- symroof: mem_capacity mem_capacity='80 GB' -->"
    assert comment("itl", {"hardware": "l4"}, value="5 ms") == "<!-- symroof: itl hardware=l4 value='5 ms' -->"


def test_annotations_are_put_behind_their_numbers_in_order():
    one, two = figures("5 ms and 6 ms")
    drafts = [Draft(1, 1, "6 ms", 9, 13, "tpot", {}, (), two), Draft(1, 1, "5 ms", 0, 4, "itl", {}, (), one)]
    assert annotated("5 ms and 6 ms.", drafts) == "5 ms<!-- symroof: itl --> and 6 ms<!-- symroof: tpot -->."
    assert annotated("none", []) == "none"
