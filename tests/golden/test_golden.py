"""Numbers and verdicts are those stored (README.md): sixty questions always, all with the marker ``full``."""

import pytest

from .answers import questions, stored
from .kept import differences

ASKED = questions()
QUICK = (
    *("eval dense peak", "eval dense measured", "eval moe-ep measured", "eval mla peak"),
    *("eval windows-cross peak", "eval hybrid measured", "eval attention-dp measured"),
    *("eval load-apart measured", "eval fp8 peak", "eval paged peak", "eval prefix peak"),
    *("eval draft-model measured", "eval overheads peak", "eval given-formula peak"),
    *("eval range-mfu measured", "eval preset measured", "eval does-not-fit peak"),
    *(f"solve dense {name} peak" for name in ("batch_to_ridge", "max_batch_memory")),
    *(f"solve dense {name} measured" for name in ("max_batch_itl", "min_bandwidth_itl")),
    *("solve moe batch_reads_experts peak", "solve windows max_context_memory measured"),
    *("solve mla min_devices_memory peak", "solve targets max_batch_itl measured"),
    *("solve dense itl = 10 ms peak", "solve moe tpot = 12 ms measured"),
    *("solve none batch_to_ridge peak", "solve dense-tp max_prompt_ttft measured"),
    *(f"derive dense {name} peak" for name in ("itl", "decode_time", "ttft")),
    *("derive moe itl measured", "derive mla kv_cache_bytes peak", "derive none ttft measured"),
    *("sweep dense peak", "sweep moe measured", "check distserve"),
    *("select llama-3-8b-chat measured", "diff measured"),
    "report fp8 peak",
    *("vllm share peak", "vllm tp peak", "simulate poisson peak"),
    *("simulate loop measured", "simulate bursty measured", "simulate exclusive peak"),
    *("picture roofline dense peak", "picture memory dense peak", "picture over batch"),
    *("picture waterfall", "python symbolic", "python value dense measured"),
    *("python expanded dense peak", "python solve moe measured", "python compiled moe peak"),
    *("python sweep dense measured", "python value moe peak"),
)
"""Some of every kind, cheap ones."""


@pytest.fixture(scope="module")
def golden():
    return stored()


def test_every_question_has_an_answer_and_every_answer_its_question(golden):
    assert golden.keys() == ASKED.keys()
    assert set(QUICK) <= ASKED.keys()


@pytest.mark.parametrize("name", QUICK)
def test_answer(name, golden):
    assert list(differences(golden[name], ASKED[name]())) == []


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in ASKED if name not in QUICK])
def test_every_answer(name, golden):
    assert list(differences(golden[name], ASKED[name]())) == []
