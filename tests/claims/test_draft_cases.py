"""Drafted cases: which precision, length and group of devices a number of a note is of. The notes are small, and what is right any reader says."""

import pytest

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
