"""Options of other tools: what each is here, one of a row by hand, and that whatever they lead to is there."""

import re

import pytest

from symroof.cli.main import main
from symroof.specs.other_tools import OF_OTHER_TOOLS, equivalent, of_other_tools
from symroof.theory.symbols import INPUTS

BY_HAND = {
    "-tp": "--tp", "--pipeline-parallel-size": "--set pp=N", "--data-parallel-size": "--set dp=N", "--expert-parallel-size": "--set ep=N",
    "--max-num-seqs": "--batch", "--random-input-len": "--prompt", "--max-new-tokens": "--output", "--max-model-len": "--prompt, --output, --context",
    "--gpu": "--hardware", "--hf-model": "--model", "--w-bit": "--weights", "--torch-dtype": "--weights, --activations", "--cache-type-k": "--kv",
    "--gpu-memory-utilization": "--set memory_share=0.9", "--max-num-batched-tokens": "--set chunk=N", "--block-size": "--set block_size=N",
    "--request-rate": "--set arrival_rate=N/s", "--num-speculative-tokens": "--set draft_tokens=N", "--draft-model": "--draft",
}  # fmt: skip


def test_one_option_of_each_row():
    assert {option: of_other_tools(option, ()) for option in BY_HAND} == BY_HAND
    assert {*BY_HAND.values()} == {*OF_OTHER_TOOLS.values()}
    assert equivalent("max_new_tokens") == "--output" and equivalent("dp_size") == "--set dp=N" and equivalent("batch") == ""
    assert of_other_tools("-t", ["eval", "-tp=4"]) == "--tp" and of_other_tools("--unheard-of", ()) == ""


@pytest.mark.parametrize("ours", sorted({*BY_HAND.values()}))
def test_what_they_lead_to_is_there(ours, capsys):
    """An option that `eval` has, or an input that can be set."""
    main(["eval", "--help"])
    help_text = capsys.readouterr().out
    for option in ours.split(", "):
        set_one = re.fullmatch(r"--set (\w+)=.+", option)
        assert set_one[1] in INPUTS if set_one else re.search(rf"{option}\b", help_text)
