"""Models whose published figures say more than a count: what a token makes active, and how large a checkpoint is."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.theory import theory

ACTIVE = """
# what a token multiplies
dbrx=36 deepseek-v2=21 deepseek-v3=37 ernie-4.5-21b-a3b=3 gpt-oss-20b=3.61 gemma-4-26b-a4b=3.8
gpt-oss-120b=5.13 granite-4.0-h-small=9 granite-4.0-h-tiny=1 hunyuan-a13b=13 jamba-1.5-mini=12
kimi-k2=32 mimo-v2-flash=15 minimax-m2=10 mixtral-8x22b=39 nemotron-3-nano-30b-a3b=3.2
nemotron-3-super-120b-a12b=12 qwen2-57b-a14b=14 qwen3-30b-a3b=3 qwen3-235b-a22b=22
qwen3-coder-480b-a35b=35 qwen3.5-35b-a3b=3
# and the input table
dots-llm1=14 llama-4-maverick=17 llama-4-scout=17 mixtral-8x7b=12.9 olmoe-1b-7b=1.3 phi-3.5-moe=6.6
qwen1.5-moe-a2.7b=2.7 qwen3.5-122b-a10b=10 qwen3.5-397b-a17b=17
# neither token table
glm-4.5=32 glm-4.5-air=12 minimax-text-01=45.9 qwen3-next-80b-a3b=3
"""
"""Billions of active parameters that the model card or the paper prints, and what they count: publishers do not agree."""


def published():
    for part in ACTIVE.strip().removeprefix("# ").split("\n# "):
        counted, _, names = part.partition("\n")
        for each in names.split():
            yield pytest.param(*each.split("="), counted, id=each)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "said", "counted"), [*published()])
def test_active_parameters_are_the_published_ones(name, said, counted):
    spec = build(catalogue.find("models", name), ModelSpec)
    values = {key: number(Fraction(value)) for key, value in spec.values().items()}
    case = Case(theory(spec.architecture()), values)
    active = case.value("active_params")
    assert active < case.value("params") / 2
    table = spec.d_model * spec.vocab_size
    if counted == "and the input table":
        active += 0 if spec.tied_embeddings else table
    elif counted == "neither token table":
        active -= table
    digits = len(said.partition(".")[2])
    assert abs(active / 10**9 - Fraction(said)) <= Fraction(1, 2 * 10**digits)


GIB = 2**30


@pytest.mark.parametrize(("name", "gib"), [("gpt-oss-120b", "60.8"), ("gpt-oss-20b", "12.8")])
def test_a_quantized_checkpoint_is_as_large_as_published(name, gib):
    """The checkpoint sizes of OpenAI's model card, arXiv 2508.10925, table 1."""
    stored = Study(model=name, hardware="h200", prompt=1024, batch=1).value("weight_bytes")
    assert abs(stored / GIB - Fraction(gib)) <= Fraction(1, 20)
