"""Words that ``templates/glossary.yaml`` says must not be printed: looked for in what a dozen commands print first."""

import re

import pytest
import yaml

from symroof.resources import data_folder

from . import call

TERMS = yaml.safe_load(data_folder("templates").joinpath("glossary.yaml").read_text("utf-8"))[
    "terms"
]
FORBIDDEN = [word for entry in TERMS.values() for word in entry.get("not", ())]
CASE = ("--model", "llama-3.1-8b", "--hardware", "h100-sxm", "--prompt", "1024", "--output", "64")
SERVED = "vllm serve meta-llama/Llama-3.1-8B --max-num-seqs 64"
PRINTED = {
    "eval": ("eval", *CASE, "--target", "itl=50 ms"),
    "eval several": ("eval", *CASE, "--batch", "1,8"),
    "eval a rate": ("eval", *CASE, "--batch", "8", "--qps", "4"),
    "derive": ("derive", "itl", *CASE),
    "solve": ("solve", "batch_to_ridge", *CASE),
    "solve nothing": ("solve", "max_batch_itl"),
    "simulate": ("simulate", *CASE, "--batch", "8", "--qps", "4", "--requests", "100"),
    "diff": ("diff", " ".join(CASE), f"{' '.join(CASE)} --batch 8", "-q", "itl"),
    "measured": ("diff", *CASE, "--measured", "itl = 30 ms"),
    "select": ("select", *CASE, "--batch", "8", "--target", "itl=50 ms"),
    "vllm": ("vllm", SERVED, *CASE[2:], "--target", "itl=50 ms"),
    "help": ("--help",),
    "eval --help": ("eval", "--help"),
    "select --help": ("select", "--help"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", PRINTED)
def test_nothing_printed_uses_a_word_that_the_glossary_forbids(name):
    printed = call(*PRINTED[name]).out.lower()
    found = [
        word for word in FORBIDDEN if re.search(rf"(?<![\w-]){re.escape(word)}(?!\w)", printed)
    ]
    assert found == [], printed


def test_every_term_has_a_meaning():
    assert all(entry["means"] for entry in TERMS.values())
