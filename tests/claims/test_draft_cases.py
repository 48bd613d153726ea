"""Drafted cases: which precision, length and group of devices a number of a note is of. The notes are small, and what is right any reader says."""

import pytest

from symroof.claims.check import check_text
from symroof.claims.corrected_copies import corrected
from symroof.claims.draft.drafted_copy import draft


def drafted(text):
    """The drafts of a note by the number as it stands there, each with its quantity and settings."""
    return {one.text: (one.quantity, one.given) for one in draft(text, "note.md").drafts}


def weights(text):
    return {number: given.get("weights") for number, (_, given) in drafted(text).items()}


@pytest.mark.parametrize(
    ("sentence", "answers"),
    [
        ("The weights of Llama 3.1 70B are 140 GB in fp16 and 35 GB at 4 bit.", {"140 GB": "fp16", "35 GB": "int4"}),
        ("Llama 3.1 70B at 4 bits needs 35 GB for the weights, in fp16 it needs 140 GB.", {"35 GB": "int4", "140 GB": "fp16"}),
        ("Llama 3.1 8B weights in int8 are 8 GB, like that. fp16 would be 16 GB.", {"8 GB": "int8", "16 GB": "fp16"}),
        ("In fp16, the checkpoint of Llama 3.1 8B is 16 GB, and its weights stay 16.1 GB on the card.", {"16 GB": "fp16", "16.1 GB": "fp16"}),
    ],
)
def test_a_precision_belongs_to_the_number_of_its_clause(sentence, answers):
    assert weights(sentence).items() >= answers.items()


SETUP = "We serve Llama 3.1 8B in bf16 on an H100 SXM. The weights take 16 GB.\n\n"


@pytest.mark.parametrize(
    "passage",
    [
        "In FP8 the weights shrink to 8 GB.",
        "Switching to INT8 weights would halve the checkpoint to 8 GB.",
        "- Switching to INT8 halves the weights.\n- With FP8 the weights take 8 GB.",
        "With FP8 the weights take 8 GB.",
    ],
)
def test_a_what_if_lasts_for_its_sentence_or_item(passage):
    """Whatever a text passes by, its later numbers are of what it serves."""
    note = weights(f"{SETUP}{passage}\n\nAt batch 1 each decode step takes 4.8 ms.\n\n| GPU | Step at batch 1 (ms) |\n|---|---|\n| L40S | 18.6 |\n")
    assert (note["4.8 ms"], note["18.6"], note.get("8 GB", "fp8") in ("fp8", "int8")) == ("bf16", "bf16", True)


def test_a_what_if_holds_for_the_rest_of_its_item():
    note = weights(
        f"{SETUP}- Switching to INT8 shrinks the weights to 8 GB. Each decode step at batch 1 then takes 2.4 ms.\n- Each decode step takes 4.8 ms.\n"
    )
    assert (note["8 GB"], note["2.4 ms"], note["4.8 ms"]) == ("int8", "int8", "bf16")


def test_what_a_heading_says_lasts_for_its_section():
    note = weights("# Llama 3.1 8B on the H100 in FP8\n\nIn bf16 the weights would take 16 GB.\n\nThe weights take 8 GB.\n\nEach decode step takes 2.4 ms.\n")
    assert (note["16 GB"], note["8 GB"], note["2.4 ms"]) == ("bf16", "fp8", "fp8")


@pytest.mark.parametrize(
    ("text", "quantity", "given"),
    [
        ("Mixtral 8x7B weights in bf16 go on two GPUs (TP=2): 46.7 GB each.", "weight_bytes_per_device", {"model": "mixtral-8x7b", "weights": "bf16", "tp": "2"}),
        ("With TP=2 the weights of Mixtral 8x7B in bf16 take 46.7 GB per card.", "weight_bytes_per_device", {"model": "mixtral-8x7b", "weights": "bf16", "tp": "2"}),
        ("The cache of Mixtral 8x7B takes 131 KB per token, or 262 MB for a 2,000-token request.", "kv_cache_bytes", {"model": "mixtral-8x7b", "prompt": "2000"}),
        ("Llama 3.1 8B caches 0.125 MB per token, so 32k tokens = 4.3GB.", "kv_cache_bytes", {"model": "llama-3.1-8b", "context": "32768"}),
        ("Llama 3.1 8B: 32k tokens of cache = 4.3 GB. With a q8 KV cache half of that, 2.1 GB.", "kv_cache_bytes", {"model": "llama-3.1-8b", "kv": "int8", "context": "32768"}),
        ("The weights of Llama 3.1 70B in fp8 take 71 GB, and one H100 SXM has 80 GB.", "mem_capacity", {"hardware": "h100-sxm"}),
        ("The weights of Llama 3.1 8B take 16 GB; our L40S nodes have 48 GB each.", "mem_capacity", {"hardware": "l40s"}),
    ],
)  # fmt: skip
def test_the_words_beside_a_number_say_what_it_is_of(text, quantity, given):
    one = draft(text, "note.md").drafts[-1]
    assert (one.quantity, one.given) == (quantity, given)


def test_the_memory_of_several_devices_is_left_alone():
    """48 GB are two cards of 24 GB: no figure of the card."""
    note = draft("The weights of Llama 3.1 70B at 4 bit take 35 GB, so two RTX 4090s (48 GB) are enough.", "note.md")
    assert ([one.text for one in note.drafts], [(one.text, one.why) for one in note.left]) == (
        ["35 GB"],
        [("48 GB", "it is of several devices together")],
    )


def test_a_table_of_devices_is_of_the_group_of_its_text_or_of_one_of_each_doubtfully():
    """Llama 3.1 8B streams 15.01 GB a step: over 3.35 TB/s 4.48 ms, over two of them half as long; either way a person has to look."""
    one, group = (
        draft(
            f"We run Llama 3.1 8B in bf16 with TP=2.\n\nAt a short prompt of 32 tokens:\n\n| GPU | Step at batch 1 |\n|---|---|\n| H100 | {time} |\n", "note.md"
        ).drafts[-1]
        for time in ("4.48 ms", "2.3 ms")
    )
    assert ("tp" in one.given, "of one device, not tp" in one.doubts) == (False, True)
    assert (group.given["tp"], "tp 2" in group.doubts) == ("2", True)


def test_a_doubtful_draft_is_never_corrected(tmp_path):
    """Both numbers are half of what the annotations derive; only the one that a person has looked at is changed."""
    note = tmp_path / "note.md"
    claim = "The weights take 8 GB. <!-- symroof: weight_bytes model=llama-3.1-8b weights=fp16{} -->\n"
    note.write_text(claim.format(" note='doubtful: weights fp16'") + "\n" + claim.format(" note='from the model card'"))
    copy = corrected(str(note), list(check_text(note.read_text(), str(note)).claims), tmp_path / "copy.md")
    assert [line[:22] for line in copy.content.decode().splitlines()[::2]] == ["The weights take 8 GB.", "The weights take 16 GB"]
    assert [(claim.line, why.partition(":")[0], "not changed" in why) for claim, why in copy.left] == [(1, "doubtful", True)]


ON_ONE = "Llama 3 8B on an H100 SXM.\n\n"


@pytest.mark.parametrize(
    ("sentence", "quantities"),
    [
        ("One expert's weights are 352 MB.", {"352 MB": "expert_weight_bytes"}),
        ("Each layer has 436 MB of weights.", {"436 MB": "layer_weight_bytes"}),
        ("Traffic is 5 requests/s.", {"5 requests/s": "arrival_rate"}),
        ("The sliding window is 4,096 tokens.", {"4,096 tokens": "window"}),
        ("Each token stores 131,072 bytes, or 128 KiB.", {"131,072 bytes": "kv_bytes_per_token", "128 KiB": "kv_bytes_per_token"}),
        ("Time per token: 16.1 GB / 3.35 TB/s = 4.8 ms.", {"16.1 GB": "weight_bytes", "3.35 TB/s": "mem_bandwidth", "4.8 ms": "itl"}),
        ("Prefilling 4,096 tokens takes 66 TFLOPs; at 989 TFLOPS that is 0.066 s.", {"66 TFLOPs": "prefill_flops", "0.066 s": "prefill_time"}),
        ("Attention FLOPs at 4,096 tokens of prompt are 8.8 TFLOPs.", {"8.8 TFLOPs": "prefill_attention_flops"}),
        ("After the weights 55 GB of the 80 GB remain for the KV cache.", {"55 GB": "free_memory", "80 GB": "mem_capacity"}),
        ("A mixture activates 12.9B of its 46.7B parameters per token.", {"12.9B": "active_params", "46.7B parameters": "params"}),
        ("At batch 64 we see 4,500 tokens/s in total or 70 tokens/s per user.", {"4,500 tokens/s": "decode_throughput", "70 tokens/s": "user_rate"}),
        ("Prefix caching hits 60 % of the time.", {"60 %": "hit_rate"}),
    ],
)
def test_plain_sentences_are_drafted_as_any_reader_takes_them(sentence, quantities):
    note = drafted(ON_ONE + sentence + "\n")
    assert {number: quantity for number in quantities for text, (quantity, _) in note.items() if number in text} == quantities


def test_a_group_named_later_is_none_of_an_earlier_number():
    """141.1 GB over four cards of 3.35 TB/s is 10.5 ms; 70.6 GB on one is 21 ms: only so does each sentence hold."""
    text = (
        "Llama 3.1 70B in FP8 on an H100 SXM: at batch 1 a decode step takes about 21 ms.\n"
        "With tensor parallelism over 4 GPUs in BF16 a step takes 10.5 ms at batch 1.\n"
    )
    alone, group = (given for number, (_, given) in drafted(text).items() if number.endswith("ms"))
    assert (alone["weights"], "tp" in alone) == ("fp8", False)
    assert (group["weights"], group["tp"]) == ("bf16", "4")


def test_of_two_likely_readings_the_one_that_gives_the_number_is_drafted():
    """989.4 TFLOP/s is the bf16 peak of the card, and 1,979 the fp8 one, whatever the weights of the paragraph are stored in."""
    text = "Llama 3.1 70B on an H100 SXM. BF16 weights take 141 GB, FP8 weights 70.6 GB.\n\nThe card has a peak of 989 TFLOPS and one of 1,979 TFLOPS.\n"
    assert [drafted(text)[number][1]["weights"] for number in ("989 TFLOPS", "1,979 TFLOPS")] == ["bf16", "fp8"]


def test_what_many_devices_have_is_no_figure_of_one():
    note = drafted("Two L40S: power 2 × 350 W = 700 W, bandwidth 2 × 864 GB/s = 1,728 GB/s.\n")
    assert {number: quantity for number, (quantity, _) in note.items()} == {"350 W": "power", "864 GB/s": "mem_bandwidth"}


def test_a_wrong_number_stays_doubtful_where_its_words_are():
    """Neither one user nor all of them get 190 tokens/s of a 70B on one H100: 3.35 TB/s hold 47 times its 70.6 GB."""
    text = "Llama 3.1 70B in FP8 on an H100 SXM: at a 4,096-token context and batch 1 a decode step takes 21 ms, which is {} tokens/s.\n"
    for rate, doubtful in ((190, True), (47, False)):
        [one] = [one for one in draft(text.format(rate), "note.md").drafts if one.text.endswith("tokens/s")]
        assert bool(one.doubts) is doubtful


TWO_MODELS = """# Two deployments

All of this is in BF16 unless it says otherwise.

## DeepSeek-V3 on 8×H200

In FP8 the weights need 671 GB, i.e. 84 GB on each of the eight GPUs. A decode step takes 25 ms at batch 64.

## Qwen2.5 32B

We serve Qwen2.5-32B in AWQ on two L40S with tensor parallelism. Weights: 18 GB in total, so each card holds 9 GB.
KV cache per token = 2 × 64 × 8 × 128 × 2 B = 262 kB.

- ITL at batch 1 with a 2,000-token prompt: 10.4 ms
"""


def test_sections_of_two_models_do_not_lend_each_other_their_settings():
    note = drafted(TWO_MODELS)
    assert (note["84 GB"][0], note["9 GB"][0]) == ("weight_bytes_per_device",) * 2
    assert "prompt" not in note["25 ms"][1]  # stated for the other model, further down
    assert [note["10.4 ms"][1][name] for name in ("weights", "hardware", "batch", "prompt")] == ["awq", "l40s", "1", "2000"]


def test_a_label_and_arithmetic_stand_right_beside_their_number():
    note = drafted(TWO_MODELS)
    assert (note["18 GB"][0], note["262 kB"][0]) == ("weight_bytes", "kv_bytes_per_token")
    assert "2 B" not in note


M70, M8, H = {"model": "llama-3-70b"}, {"model": "llama-3-8b"}, {"hardware": "h100-sxm"}
EIGHT_BITS = {"weights": "fp8", "activations": "fp8"}
CASES = [
    ("Llama-3-70B on 4xH100 with TP=4: each GPU holds 35 GB of weights.", "35 GB", "weight_bytes_per_device", M70 | {"tp": "4"}, ()),
    ("Llama-3-70B in fp8 on H100: a decode step takes 12 ms at batch 8 and a context of 4096 tokens.", "12 ms", "itl", M70 | H | EIGHT_BITS | {"context": "4096", "batch": "8"}, ()),
    ("Llama-3-70B in fp8 on H100: prefill of a 4096-token prompt takes 12 ms.", "12 ms", "prefill_time", M70 | H | EIGHT_BITS | {"prompt": "4096"}, ()),
    ("Llama-3-70B in bf16 on H100: prefill of a 4096-token prompt takes 12 ms.", "12 ms", "prefill_time", M70 | H | {"weights": "bf16", "prompt": "4096"}, ()),
    ("A step takes 12 ms.", "12 ms", "itl", {}, ("no model of the catalogue is named",)),
    ("An H100 peaks at 1979 TFLOP/s in fp8.", "1979 TFLOP/s", "peak_flops", H | EIGHT_BITS, ()),
    ("Llama-3-70B at batch 4.\n\nAt a prompt of 4096 tokens the KV cache takes 5.4 GB.", "5.4 GB", "kv_cache_bytes", M70 | {"prompt": "4096"}, ()),
    ("Llama-3-70B leaves 12 GB free on an H100.", "12 GB", "free_memory", M70 | H | {"prompt": "1"}, ("beside the weights alone",)),
    ("Llama-3-70B leaves 12 GB free on an H100 at a prompt of 512 tokens.", "12 GB", "free_memory", M70 | H | {"prompt": "512"}, ()),
    ("Weights take 2 bytes per parameter.", "2 bytes per parameter", "weight_bytes_per_param", {"weights": "fp16"}, ()),
    ("FP8 weights take 1 byte per parameter.", "1 byte per parameter", "weight_bytes_per_param", {"weights": "fp8"}, ()),
    ("The price is $2.50/hour.\n\nLlama-3-70B on H100 at batch 8 and a context of 1000 tokens: a million tokens cost $0.90.", "$0.90", "cost_per_mtok",
     M70 | H | {"prompt": "1000", "batch": "8", "price": "2.50 USD/hour"}, ("or decode_cost_per_mtok",)),
    ("Llama-3-70B on H100 at batch 8.\n\nThe throughput is 800 token/s in all.", "800 token/s", "decode_throughput", M70 | H | {"batch": "8"}, ("batch 8",)),
    ("Llama-3-70B: a prompt of 1000 tokens. A context of 2000 tokens. A decode step takes 12 ms.", "12 ms", "itl", M70 | {"prompt": "1000"}, ()),
    ("Llama-3-70B: a prompt of 1000 tokens.\n\nAt a context of 2000 tokens a decode step takes 12 ms.", "12 ms", "itl", M70 | {"context": "2000"}, ()),
    ("Llama-3-70B: a context of 2000 tokens.\n\nAt a prompt of 1000 tokens a decode step takes 12 ms.", "12 ms", "itl", M70 | {"prompt": "1000"}, ()),
    ("Llama-3-70B has 70.6B parameters.", "70.6B parameters", "params", M70, ()),
    ("TTFT of a 2048-token prompt is 200 ms with Llama-3-8B on an A100.", "200 ms", "ttft", M8 | {"hardware": "a100-80gb-sxm", "prompt": "2048"}, ()),
    ("MFU is 45 %. Llama-3-8B prefills 2048 tokens on an H100 in 80 ms of prefill.", "80 ms", "prefill_time", M8 | H | {"prompt": "2048", "mfu": "45 %"}, ()),
    ("| GPU | KV cache |\n|---|---|\n| H100 | 1.34 GB |\n\nLlama-3-70B, 4096 tokens of context, TP=2.", "1.34 GB", "kv_cache_bytes", M70 | {"context": "4096"}, ()),
    ("Llama-3-70B: each GPU holds 35 GB of weights.", "35 GB", "weight_bytes_per_device", M70, ("tp is not stated",)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "quantity", "given", "doubts"), CASES, ids=[number for _, number, *_ in CASES])
def test_a_number_has_the_settings_that_its_quantity_moves_with_and_no_others(text, number, quantity, given, doubts):
    (one,) = [one for one in draft(text, "note.md").drafts if one.text == number]
    assert (one.quantity, one.given, one.doubts) == (quantity, given, doubts)
