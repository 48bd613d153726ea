"""The case of a number from what a note states: on statements made by hand, each at its reach."""

import pytest

from symroof.claims.draft.guess_case import Case, _devices, _lengths, _others, _typed, _variants, _with, guess_case, settled
from symroof.claims.draft.note_words import ELSEWHERE, HEADING, OWN_ROW, PARAGRAPH, SENTENCE, Stated
from symroof.claims.read.numbers import figures


class Note:
    """What a note states: name -> statement, and of one name other values elsewhere."""

    def __init__(self, others=None, **stated):
        self.others, self.stated, self.whole = others or {}, stated, {}

    def nearest(self, name, index, figure, whole=False):
        self.whole[name] = whole
        return self.stated.get(name)

    def values(self, name):
        return self.others.get(name, [])


MODEL, DEVICE = Stated("llama-3-8b", HEADING), Stated("h100-sxm", HEADING)


def case(quantity, number="12 ms", **stated):
    made = guess_case(Note(**stated), 0, figures(number)[0], quantity)
    return made.given, made.doubts


@pytest.mark.parametrize(
    ("stated", "given", "doubts"),
    [
        ({"batch": Stated("8", SENTENCE)}, {"batch": "8"}, []),
        ({"batch": Stated("8", PARAGRAPH)}, {"batch": "8"}, []),
        ({"tp": Stated("4", SENTENCE)}, {"tp": "4"}, []),
        ({"tp": Stated("4", SENTENCE, soft=True)}, {"tp": "4"}, ["tp 4"]),
        ({"tp": Stated("4", ELSEWHERE)}, {"tp": "4"}, []),
        ({"tp": Stated("4", ELSEWHERE, several=True)}, {"tp": "4"}, ["tp 4"]),
        ({"tp": Stated("4", HEADING, several=True)}, {"tp": "4"}, []),
        ({"weights": Stated("fp8", SENTENCE)}, {"weights": "fp8", "activations": "fp8"}, []),
        ({"weights": Stated("int4", SENTENCE, soft=True)}, {"weights": "int4"}, []),  # a precision may be inferred
        ({"kv": Stated("fp8", SENTENCE)}, {"kv": "fp8"}, []),
        ({"output": Stated("100", SENTENCE)}, {}, []),  # of no length
        ({"prompt": Stated("10", SENTENCE)}, {"prompt": "10"}, []),
        ({"context": Stated("10", SENTENCE)}, {"context": "10"}, []),
        ({"context": Stated("10", SENTENCE), "prompt": Stated("20", PARAGRAPH)}, {"context": "10"}, []),
        ({"context": Stated("10", SENTENCE, soft=True), "prompt": Stated("20", SENTENCE)}, {"prompt": "20"}, []),
        ({"context": Stated("10", SENTENCE), "prompt": Stated("20", SENTENCE)}, {"prompt": "20"}, []),
        ({"context": Stated("10", SENTENCE, soft=True)}, {"context": "10"}, ["context 10"]),
        ({"context": Stated("10", ELSEWHERE, several=True)}, {"context": "10"}, ["context 10"]),
        ({"context": Stated("10", ELSEWHERE)}, {"context": "10"}, []),
        ({"context": Stated("10", HEADING, several=True)}, {"context": "10"}, []),
        ({"price": Stated("2 USD/hour", SENTENCE)}, {}, []),  # a step does not move with it
        ({"mfu": Stated("50 %", SENTENCE)}, {"mfu": "50 %"}, []),
    ],
)
def test_the_settings_of_a_step(stated, given, doubts):
    assert case("itl", model=MODEL, hardware=DEVICE, **stated) == ({"model": "llama-3-8b", "hardware": "h100-sxm", **given}, doubts)


def test_what_is_doubtful_about_a_case():
    assert case("itl") == ({}, ["no model of the catalogue is named"])
    assert case("weight_bytes_per_device", "12 GB", model=MODEL) == ({"model": "llama-3-8b"}, ["tp is not stated"])
    assert case("weight_bytes_per_device", "12 GB", model=MODEL, tp=Stated("2", SENTENCE)) == ({"model": "llama-3-8b", "tp": "2"}, [])
    assert case("weight_bytes", "12 GB", model=Stated("llama-3-8b", SENTENCE, soft=True))[1] == ["model llama-3-8b"]


@pytest.mark.parametrize(
    ("quantity", "whole"),
    [("itl", False), ("memory_bytes", True), ("decode_throughput", True), ("cost_per_mtok", True), ("energy_per_token", True), ("kv_cache_bytes", False)],
)
def test_the_batch_of_what_means_little_at_one_is_looked_for_in_the_whole_note(quantity, whole):
    note = Note(model=MODEL, hardware=DEVICE, batch=Stated("8", ELSEWHERE))
    made = guess_case(note, 0, figures("12 GB")[0], quantity)
    assert (note.whole["batch"], made.given["batch"], "batch 8" in made.doubts) == (whole, "8", whole)


def test_the_batch_of_a_cache_stands_in_its_own_sentence():
    for reach, taken in ((SENTENCE, True), (PARAGRAPH, False), (HEADING, True)):
        assert ("batch" in case("kv_cache_bytes", "12 GB", model=MODEL, batch=Stated("8", reach))[0]) is taken
        assert "batch" in case("itl", model=MODEL, batch=Stated("8", reach))[0]


def test_how_many_requests_fit_is_of_no_batch():
    assert "batch" not in case("concurrency", "12 requests", model=MODEL, hardware=DEVICE, batch=Stated("8", SENTENCE))[0]
    assert "power" not in case("energy_per_token", "12 J/token", model=MODEL, hardware=DEVICE, power=Stated("700 W", SENTENCE))[0]


@pytest.mark.parametrize(
    ("quantity", "number", "stated", "given"),
    [
        ("prompt", "12 tokens", {"model": MODEL}, {"prompt": "12"}),
        ("context", "12 tokens", {"model": MODEL}, {"context": "12"}),
        ("mfu", "12 %", {}, {"mfu": "12 %"}),
        ("power", "12 W", {"hardware": DEVICE}, {"hardware": "h100-sxm"}),
        ("power", "12 W", {}, {"power": "12 W"}),
        ("params", "12B", {"model": MODEL}, {"model": "llama-3-8b"}),
        ("n_layers", "12", {"model": MODEL}, {"n_layers": "12"}),
        ("price", "$12/hour", {"hardware": DEVICE}, {"price": "12 USD/hour"}),
        ("weight_bytes_per_param", "2 bytes", {}, {"weights": "fp16"}),
        ("weight_bytes_per_param", "1 byte", {"weights": Stated("fp8", SENTENCE)}, {"weights": "fp8"}),
    ],
)
def test_a_number_that_is_an_input_itself(quantity, number, stated, given):
    """Unless it is a figure of a device or a model that is named: then it is held against that."""
    assert case(quantity, number, **stated)[0] == given


def test_the_precision_that_is_multiplied_is_that_of_the_peak():
    peak = {"hardware": DEVICE, "compute": Stated("fp8", PARAGRAPH), "weights": Stated("int4", SENTENCE)}
    assert case("peak_flops", "12 TFLOP/s", **peak)[0] == {"hardware": "h100-sxm", "weights": "fp8", "activations": "fp8"}
    assert case("peak_flops", "12 TFLOP/s", **peak | {"compute": Stated("fp8", HEADING)})[0] == {"hardware": "h100-sxm", "weights": "int4"}
    assert case("itl", model=MODEL, **peak)[0]["weights"] == "int4"


@pytest.mark.parametrize(
    ("group", "devices", "given", "doubts"),
    [("4", "8", {"tp": "4", "dp": "2"}, []), ("4", "4", {"tp": "4", "dp": "1"}, []), ("4", "6", {"tp": "6"}, ["one group of all devices"]), (None, "8", {"tp": "8"}, ["one group of all devices"])],
)  # fmt: skip
def test_the_copies_that_so_many_devices_make(group, devices, given, doubts):
    made = Case({"tp": group} if group else {})
    _devices(made, devices)
    assert (made.given, made.doubts) == (given, doubts)


def test_free_memory_beside_the_weights_alone():
    def lengths(**stated):
        made = Case()
        _lengths(Note(**stated), 0, figures("12 GB")[0], "free_memory", made)
        return made.given, made.doubts

    alone = ({"prompt": "1"}, ["beside the weights alone"])
    assert lengths() == lengths(prompt=Stated("9", PARAGRAPH)) == lengths(prompt=Stated("9", SENTENCE, soft=True)) == alone
    assert lengths(prompt=Stated("9", SENTENCE)) == ({"prompt": "9"}, [])
    assert lengths(context=Stated("9", PARAGRAPH), prompt=Stated("8", SENTENCE)) == ({"prompt": "8"}, [])


# ------------------------------------------------------------------------------------------------------- other readings


def test_the_readings_of_a_doubtful_case():
    """As it is, then with one setting changed, then with more; a group may be none at all."""
    words = Note({"batch": ["8", "1", "2", "3", "4"], "tp": ["4", "2"]})
    made = Case({"batch": "8", "tp": "4", "prompt": "9"}, ["batch 8", "tp 4"])
    listed = [(one.get("batch"), one.get("tp")) for one in _variants(made, "itl", words)]
    assert listed[0] == ("8", "4")
    assert set(listed[1:6]) == {("1", "4"), ("2", "4"), ("3", "4"), ("8", "2"), ("8", None)}
    assert len(listed) == 12 == 4 * 3
    assert all(one["prompt"] == "9" for one in _variants(made, "itl", words))
    more = Note({"batch": ["8", "1", "2", "3"], "tp": ["4", "2", "1"], "pp": ["2", "3"]})
    assert len(_variants(Case({"batch": "8", "tp": "4", "pp": "2"}, ["batch 8", "tp 4", "pp 2"]), "itl", more)) == 12
    assert _variants(Case({"batch": "8"}, []), "itl", words) == [{"batch": "8"}]
    assert _variants(Case({"prompt": "8"}, []), "prompt", words) == []  # what the number itself sets would always hold
    assert _variants(Case({}, ["no model of the catalogue is named"]), "itl", words) == []
    assert _variants(Case({}, ["tp is not stated"]), "itl", words) == []


def test_what_else_a_setting_may_be():
    words = Note({"tp": ["1", "2", "4", "8", "16"], "batch": ["1"], "model": ["a", "b"]})
    assert _others("tp", "2", words) == ["1", "4", "8", ""]
    assert _others("batch", "1", words) == _others("model", "a", words) == _others("hardware", "a", words) == []
    assert _with({"tp": "2", "batch": "1"}, {"tp": ""}) == {"batch": "1"}
    assert _with({"weights": "fp8", "activations": "fp8"}, {"weights": "fp16"}) == {"weights": "fp16"}
    assert _with({"weights": "fp16"}, {"weights": "int8"}) == {"weights": "int8", "activations": "int8"}
    assert _typed({"batch": "8", "mfu": "50 %"}) == {"batch": 8, "mfu": "50 %"}


@pytest.mark.parametrize(
    ("number", "quantity", "rival", "reading"),
    [
        # 8 caches of 1,000 tokens of 131,072 bytes are 1.0486 GB; one is 131 MB
        ("1.05 GB", "kv_cache_bytes", "", ("kv_cache_bytes", "8")),
        ("131 MB", "kv_cache_bytes", "", ("kv_cache_bytes", "1")),
        ("0.13 GB", "kv_cache_bytes", "", ("kv_cache_bytes", "1")),
        ("1 GB", "kv_cache_bytes", "", None),  # one digit says nothing
        ("0.1 GB", "kv_cache_bytes", "", None),
        ("131 kB", "kv_cache_bytes", "kv_bytes_per_token", ("kv_bytes_per_token", None)),
        ("1.06 GB", "kv_cache_bytes", "", ("kv_cache_bytes", "8")),  # 1.1 % off
        ("1.08 GB", "kv_cache_bytes", "", None),  # 3 %
    ],
)
def test_the_reading_under_which_a_doubtful_number_holds(number, quantity, rival, reading):
    words = Note({"batch": ["8", "1"]}, model=MODEL, prompt=Stated("1000", SENTENCE), batch=Stated("8", SENTENCE, soft=True))
    made = settled(words, 0, figures(number)[0], quantity, rival)
    assert (made and (made[0], made[1].given.get("batch"))) == reading


def test_a_table_of_devices_beside_a_group_that_the_text_states():
    """Llama 3 8B streams 15.01 GB a step, over 3.35 TB/s 4.48 ms; over two devices half as long."""
    stated = {"model": MODEL, "prompt": Stated("1", SENTENCE), "hardware": Stated("h100-sxm", OWN_ROW), "tp": Stated("2", ELSEWHERE)}
    given, doubts = case("decode_memory_time", "4.48 ms", **stated)
    assert ("tp" in given, doubts) == (False, ["of one device, not tp"])
    given, doubts = case("decode_memory_time", "2.24 ms", **stated)
    assert (given.get("tp"), doubts) == ("2", ["tp 2"])
    given, doubts = case("decode_memory_time", "4.48 ms", **stated | {"hardware": DEVICE})
    assert (given.get("tp"), doubts) == ("2", [])
