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

MULTIPLIED, WITH_TABLE, LAYERS_ONLY = (
    "what a token multiplies",
    "and the input table",
    "neither token table",
)
ACTIVE = {
    "dbrx": ("36", MULTIPLIED),
    "deepseek-v2": ("21", MULTIPLIED),
    "deepseek-v3": ("37", MULTIPLIED),
    "dots-llm1": ("14", WITH_TABLE),
    "ernie-4.5-21b-a3b": ("3", MULTIPLIED),
    "glm-4.5": ("32", LAYERS_ONLY),
    "glm-4.5-air": ("12", LAYERS_ONLY),
    "gpt-oss-20b": ("3.61", MULTIPLIED),
    "gemma-4-26b-a4b": ("3.8", MULTIPLIED),
    "gpt-oss-120b": ("5.13", MULTIPLIED),
    "granite-4.0-h-small": ("9", MULTIPLIED),
    "granite-4.0-h-tiny": ("1", MULTIPLIED),
    "hunyuan-a13b": ("13", MULTIPLIED),
    "jamba-1.5-mini": ("12", MULTIPLIED),
    "kimi-k2": ("32", MULTIPLIED),
    "llama-4-maverick": ("17", WITH_TABLE),
    "llama-4-scout": ("17", WITH_TABLE),
    "mimo-v2-flash": ("15", MULTIPLIED),
    "minimax-m2": ("10", MULTIPLIED),
    "minimax-text-01": ("45.9", LAYERS_ONLY),
    "mixtral-8x7b": ("12.9", WITH_TABLE),
    "mixtral-8x22b": ("39", MULTIPLIED),
    "nemotron-3-nano-30b-a3b": ("3.2", MULTIPLIED),
    "nemotron-3-super-120b-a12b": ("12", MULTIPLIED),
    "olmoe-1b-7b": ("1.3", WITH_TABLE),
    "phi-3.5-moe": ("6.6", WITH_TABLE),
    "qwen1.5-moe-a2.7b": ("2.7", WITH_TABLE),
    "qwen2-57b-a14b": ("14", MULTIPLIED),
    "qwen3-30b-a3b": ("3", MULTIPLIED),
    "qwen3-235b-a22b": ("22", MULTIPLIED),
    "qwen3-coder-480b-a35b": ("35", MULTIPLIED),
    "qwen3-next-80b-a3b": ("3", LAYERS_ONLY),
    "qwen3.5-35b-a3b": ("3", MULTIPLIED),
    "qwen3.5-122b-a10b": ("10", WITH_TABLE),
    "qwen3.5-397b-a17b": ("17", WITH_TABLE),
}
"""Billions of active parameters that the model card or the paper prints, and what they count: publishers do not agree."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", ACTIVE)
def test_active_parameters_are_the_published_ones(name):
    said, counted = ACTIVE[name]
    spec = build(catalogue.find("models", name), ModelSpec)
    case = Case(
        theory(spec.architecture()),
        {key: number(Fraction(value)) for key, value in spec.values().items()},
    )
    active = case.value("active_params")
    assert active < case.value("params") / 2
    table = spec.d_model * spec.vocab_size
    active += {
        MULTIPLIED: 0,
        WITH_TABLE: 0 if spec.tied_embeddings else table,
        LAYERS_ONLY: -table,
    }[counted]
    digits = len(said.partition(".")[2])
    assert abs(active / 10**9 - Fraction(said)) <= Fraction(1, 2 * 10**digits)


GIB = 2**30


@pytest.mark.parametrize(("name", "gib"), [("gpt-oss-120b", "60.8"), ("gpt-oss-20b", "12.8")])
def test_a_quantized_checkpoint_is_as_large_as_published(name, gib):
    """The checkpoint sizes of OpenAI's model card, arXiv 2508.10925, table 1."""
    stored = Study(model=name, hardware="h200", prompt=1024, batch=1).value("weight_bytes")
    assert abs(stored / GIB - Fraction(gib)) <= Fraction(1, 20)


def test_what_deepseek_v3_keeps_wide_and_its_scales_come_on_top_of_a_byte_a_parameter():
    tables, routers, biases = 2 * 7168 * 129280, 58 * 7168 * 256, 58 * 256
    norms = 61 * (2 * 7168 + 1536 + 512) + 7168
    wide = tables + routers + biases + norms
    narrow = 671026419200 - wide
    stored = Study(model="deepseek-v3", hardware="h200", tp=8, prompt=1024, batch=1).value(
        "weight_bytes"
    )
    assert stored == narrow + Fraction(narrow * 4, 128 * 128) + 2 * wide
