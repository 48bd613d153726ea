"""Quantized checkpoints: resident bytes against what published files say of themselves, and against tensors added up by hand."""

import json
import random
import time
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.checkpoints.module_names import operators_named
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.checkpoints.quantization_methods import known_methods
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec

from ...tables import fields, table, words
from . import DATA, from_file, read
from .sizes import resident, spec

LLAMA_68M = "{name: llama-68m, d_model: 768, vocab_size: 32000, layers: [{count: 2, attention: {n_heads: 12, n_kv_heads: 12, head_dim: 64}, ffn: {d_ff: 3072}}]}"


def shipped(name):
    return build(catalogue.find("models", name), ModelSpec)


def quantized(model, **stored):
    found = read_quantization(
        {
            "num_hidden_layers": sum(kind.count for kind in model.layers),
            "quantization_config": stored,
        }
    )
    return model.model_copy(update={"quantization": found})


# --------------------------------------------------------------------------------------------- what published files say


def test_the_config_of_gpt_oss_alone_gives_the_size_of_its_index():
    """openai/gpt-oss-20b, model.safetensors.index.json: total_size 13761264768."""
    assert resident(from_file("gpt-oss-20b")) == 13_761_264_768


def test_deepseek_v3_and_what_its_files_hold_beside_it():
    """deepseek-ai/DeepSeek-V3: the tensors of its 163 files take 688,574,839,360 byte. They hold, beside the model, a layer that
    guesses ahead (README_WEIGHTS.md: one more layer of experts, a projection of two streams, five norms, table and head again)
    and the routers' corrections in 32 bits. The keys' projection has 576 rows: four and a half blocks of 128 hold five scales."""

    def narrow(rows, inputs):
        return rows * inputs + 4 * -(-rows // 128) * -(-inputs // 128)

    of_attention = [(1536, 7168), (576, 7168), (128 * 192, 1536), (128 * 256, 512), (7168, 16384)]
    attention = sum(narrow(*shape) for shape in of_attention)
    experts = 257 * (2 * narrow(2048, 7168) + narrow(7168, 2048))
    wide = 2 * (256 * 7168 + 7168 * 14336 + 2 * 129280 * 7168 + 5 * 7168 + 1536 + 512)
    beside = attention + experts + wide + 59 * 256 * 4
    assert resident(from_file("deepseek-v3")) + beside == 688_574_839_360


def test_an_awq_config():
    """Qwen/Qwen2.5-7B-Instruct-AWQ: two files of 4.48 and 1.09 GB."""
    config = json.loads((DATA / "configs" / "qwen2.5-7b.config.json").read_text())
    stored = fields(
        "quant_method: awq, bits: 4, group_size: 128, zero_point: true, version: gemm, "
        "modules_to_not_convert: null"
    )
    assert resident(read(config | {"quantization_config": stored})) == 5_570_747_392


def test_a_gptq_file_is_as_large_as_its_index_says_but_for_its_zero_biases():
    """TheBlokeAI/llama-68m-GPTQ-sharded, model.safetensors.index.json: total_size 108218880, with a bias of zeros beside each
    of the seven matrices of both layers, which the note tells of."""
    model = quantized(
        spec(LLAMA_68M), quant_method="gptq", bits=4, group_size=128, desc_act=False, sym=True
    )
    zeros = 2 * 2 * (4 * 768 + 2 * 3072 + 768)
    assert resident(model) == 108_218_880 - zeros
    assert "zero bias" in model.quantization.notes[0]


# ------------------------------------------------------------------------------------------------- tensors added by hand

D, KV, FF, VOCAB, LAYERS = 4096, 1024, 14336, 128256, 32
SHAPES = [(D, D), (KV, D), (KV, D), (D, D), (FF, D), (FF, D), (D, FF)]
"""Output rows and inputs of q, k, v, o, gate, up, down in Llama-3-8B, from its config.json."""
WIDE = 2 * (2 * VOCAB * D + LAYERS * 2 * D + D)
"""Bytes of the two tables and the norms at 16 bits."""


CASES = """
# quant_method: fields | bytes of a matrix of n rows and k inputs
awq: bits: 4, group_size: 128, zero_point: true, version: gemm | n*k/2 + n*k/128*2 + n*k/128/2
awq: w_bit: 4, q_group_size: -1 | n*k/2 + 2*n + n/2
awq: w_bit: 8, q_group_size: 1 | n*k + n*k*2 + n*k
gptq: bits: 4, group_size: 128 | n*k/2 + n*k/128*2 + n*k/128/2 + 4*k
gptq: bits: 8, group_size: 32 | n*k + n*k/32*3 + 4*k
gptq: bits: 3, group_size: 128 | n*k*3/8 + n*k/128*2 + n*k/128*3/8 + 4*k
gptq: bits: 4, group_size: -1 | n*k/2 + 2*n + n/2 + 4*k
gptq: bits: 4, group_size: 128, checkpoint_format: marlin | n*k/2 + n*k/128*2
fp8: weight_block_size: [128, 128] | n*k + 4*n/128*k/128
fp8: activation_scheme: static | n*k + 4 + 4
fp8: activation_scheme: dynamic | n*k + 4
fbgemm_fp8: activation_scale_ub: 1200.0 | n*k + 4*n + 4
bitsandbytes: load_in_8bit: true, load_in_4bit: false | n*k + 4*n
bitsandbytes: load_in_4bit: true, bnb_4bit_quant_type: nf4 | n*k/2 + n*k/64*4 + 64
# with a second quantization of the scales
bitsandbytes: load_in_4bit: true, bnb_4bit_use_double_quant: true | n*k/2 + n*k/64*(1 + 1/64) + 1088
eetq: | n*k + 2*n
quanto: weights: int4 | n*k/2 + n*k/128*4
hqq: quant_config: {weight_quant_params: {nbits: 2, group_size: 64}} | n*k/4 + n*k/64*4
torchao: quant_type: int4_weight_only, quant_type_kwargs: {group_size: 32} | n*k/2 + n*k/32*4
torchao: quant_type: {default: {_type: Int4WeightOnlyConfig, _data: {group_size: 64}}} | n*k*9/16
modelopt: quant_algo: FP8, ignore: [lm_head] | n*k + 8
modelopt: quant_algo: NVFP4, ignore: [lm_head] | n*k/2 + n*k/16 + 8
modelopt: quantization: {quant_algo: NVFP4, group_size: 16, ignore: [lm_head]} | n*k*9/16 + 8
nvfp4: ignore: [lm_head] | n*k/2 + n*k/16 + 8
aqlm: in_group_size: 8, nbits_per_codebook: 16, num_codebooks: 1 | n*k/4 + 2*n + 65536*8*2
"""
COMPRESSED = """
# weights of compressed-tensors | their format | bytes of a matrix of n rows and k inputs
num_bits: 4, strategy: group, group_size: 128, symmetric: true | pack | n*k/2 + n*k/128*2 + 16
num_bits: 4, strategy: group, group_size: 128, symmetric: false | pack | n*k/2 + n*k/128*5/2 + 16
num_bits: 8, type: int, strategy: channel | int | n*k + 2*n
num_bits: 8, type: float, strategy: tensor | float | n*k + 2
num_bits: 8, type: float, strategy: block, block_structure: [128, 128] | float | n*k + 2*n/128*k/128
num_bits: 4, type: float, strategy: tensor_group, group_size: 16 | nvfp4-pack | n*k*9/16 + 8
"""


def compressed(weights, layout):
    group = {"targets": ["Linear"], "weights": {"type": "int", **weights}}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "format": f"{layout}-quantized",
        "ignore": ["lm_head"],
    }


def methods():
    for said, by_hand in table(CASES):
        method, _, rest = said.partition(":")
        yield pytest.param({"quant_method": method, **fields(rest)}, by_hand, id=said)
    for said, layout, by_hand in table(COMPRESSED):
        yield pytest.param(compressed(fields(said), layout), by_hand, id=said)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("said", "by_hand"), [*methods()])
def test_every_tensor_of_llama_3_8b(said, by_hand):
    held = sum(eval(by_hand, {"n": Fraction(n), "k": k}) for n, k in SHAPES)
    assert resident(quantized(shipped("llama-3-8b"), **said)) == WIDE + LAYERS * held


# --------------------------------------------------------------------------------------------------- modules that stay wide


OF_ATTENTION = {"qkv", "attention_out", "qkv_down", "q_up", "kv_up", "head_gate"}
MODULES = r"""
lm_head | lm_head
lm_head.weight | lm_head
model.embed_tokens | embedding
re:.*lm_head | lm_head
gate | router
re:.*mlp.gate$ | router
re:.*\.mlp\.gate$ | router
model.layers.*.mlp.router | router
mlp.shared_expert_gate | shared_gate
re:model\.layers\.\d+\.self_attn\.o_proj | attention_out
q_proj k_proj |
q_proj k_proj v_proj | qkv
down_proj | down
vision_tower.blocks.0.mlp.fc1 model.visual.layers.3.mlp.down_proj mtp.layers.0 |
model.layers.*.mlp.experts.* | experts
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("patterns", "operators"), table(MODULES))
def test_module_names_mean_operators(patterns, operators):
    found = operators_named(patterns.split())
    assert found.wholly == set(operators.split())
    assert found.unread == ()


def test_module_names_of_all_of_attention_or_of_nothing():
    for pattern in ("model.layers.*.self_attn", "*self_attn*", "re:model.layers.*.self_attn.*"):
        assert operators_named([pattern]).wholly == OF_ATTENTION
    assert operators_named(["unheard_of"]).unread == ("unheard_of",)
    assert operators_named([""]).wholly == set()


def test_a_regular_expression_with_more_than_wildcards_is_told_and_not_run():
    hostile = "re:(a+)+$" + "(" * 50
    model = quantized(shipped("llama-3-8b"), quant_method="awq", modules_to_not_convert=[hostile])
    assert "was not understood" in model.quantization.unread[0]
    assert operators_named(["x" * 10_000]).unread == ("x" * 60,)


def test_a_megabyte_of_module_names_is_read_at_once():
    """Each name was compared with every part of every module: 25,000 of them took 18 s."""
    named = [
        f"model.layers.{i % 1000}.mlp.{part}{i}" for part in ("x", "y*") for i in range(12_500)
    ]
    begun = time.process_time()
    found = operators_named([*named, "model.layers.7.mlp.down_proj"])
    assert time.process_time() - begun < 5
    assert found.partly == {"down": {7}}


def test_groups_that_differ_are_each_stored_as_they_say():
    """Targets by name hold before those of a kind (compressed-tensors, find_matched_target); of two groups for everything the first."""
    rows, half = (
        {"weights": {"num_bits": bits, "type": "int", "strategy": "channel"}} for bits in (8, 4)
    )
    linear, down = {"targets": ["Linear"]}, {"targets": [r"re:.*mlp\.down_proj"]}
    stored = fields("quant_method: compressed-tensors, format: int-quantized, ignore: [lm_head]")

    def sized(**groups):
        return resident(quantized(shipped("llama-3-8b"), **stored, config_groups=groups))

    whole = sized(a=rows | linear)
    assert (
        whole == sized(a=rows | linear, b=rows | linear) == sized(a=rows | linear, b=half | linear)
    )
    assert (
        whole - sized(a=rows | linear, b=half | down)
        == whole - sized(b=half | down, a=rows | linear)
        == LAYERS * D * FF // 2
    )
    stored |= {"config_groups": {"a": rows | linear}, "sparsity_config": {"format": "dense"}}
    sparse = read_quantization({"quantization_config": stored})
    assert sparse.notes == ("sparsity of the stored weights is not counted",)


def test_mixed_precision_by_hand():
    """Attention in 8-bit floats with two scales of 32 bits for a matrix, feed-forward in NVFP4 with an 8-bit scale for 16 and the same two; head and table wide."""
    stored = {f"self_attn.{name}_proj": "FP8" for name in "qkvo"}
    stored |= {f"mlp.{name}_proj": "NVFP4" for name in ("gate", "up", "down")}
    listed = {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {
            f"model.layers.{i}.{module}": {"quant_algo": name, "group_size": 16}
            for i in range(LAYERS)
            for module, name in stored.items()
        },
    }
    model = quantized(shipped("llama-3-8b"), **listed)
    held = sum(n * k + 8 for n, k in SHAPES[:4]) + sum(
        n * k // 2 + n * (k // 16) + 8 for n, k in SHAPES[4:]
    )
    assert resident(model) == WIDE + LAYERS * held
    assert (model.quantization.method, model.quantization.compute) == ("nvfp4", "fp4")


CACHES = """
kv_cache_quant_algo: FP8 | fp8
kv_cache_scheme: {num_bits: 8, type: float, dynamic: false} | fp8
kv_cache_scheme: FP8 | fp8
kv_cache_quant_algo: NVFP4 | fp4
kv_cache_scheme: null |
"""


@pytest.mark.parametrize(("said", "kv"), table(CACHES))
def test_the_cache_that_a_checkpoint_asks_for(said, kv):
    stored = fields(f"quant_method: modelopt, quant_algo: FP8, {said}")
    model = quantized(shipped("llama-3-8b"), **stored)
    assert model.quantization.kv == (kv or None)
    width = {"": 2, "fp8": 1, "fp4": 0.5}[kv]
    assert Study(model=model, prompt=1).value("kv_bytes_per_token") == 2 * 32 * KV * width
    assert Study(model=model, prompt=1, kv="fp16").value("kv_bytes_per_token") == 2 * 32 * KV * 2


# -------------------------------------------------------------------------------------------------------------- what is wrong


WRONG = """
quant_method: awqq | .quant_method: no quantization method 'awqq' is known
quant_method: null | .quant_method: is missing
quant_method: 4 | .quant_method: expected a text
quant_method: gptq | .bits: is missing
quant_method: gptq, bits: 5 | .bits: expected 2 or 3 or 4 or 8
quant_method: gptq, bits: true | .bits: expected a whole number
quant_method: gptq, bits: 4, group_size: 0 | .group_size: expected -1, or 1 or more
quant_method: awq, group_size: 1000000000000000000000000 | .group_size: is out of range
quant_method: fp8, weight_block_size: [128] | .weight_block_size: expected two whole numbers
quant_method: bitsandbytes | : is neither load_in_8bit nor load_in_4bit
quant_method: compressed-tensors | .config_groups: is missing
quant_method: modelopt, quant_algo: W7A7 | .quant_algo: no algorithm 'W7A7' is known
quant_method: modelopt | .quant_algo: no algorithm 'MISSING' is known
quant_method: torchao, quant_type: unheard | .quant_type: no type
quant_method: awq, modules_to_not_convert: lm_head | to_not_convert: expected a list of module names
quant_method: awq, ignore: [1] | ignore: expected a list of module names
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("stored", "said"), table(WRONG))
def test_what_is_wrong_is_told_with_its_place(stored, said):
    with pytest.raises(InputError) as error:
        read_quantization({"quantization_config": fields(stored)})
    assert said in str(error.value)


def test_a_place_inside_other_fields_is_told():
    for config, said in (
        ({"quantization_config": []}, "quantization_config: expected an object"),
        (
            {"quantization_config": compressed({"num_bits": 9}, "")},
            "config_groups.group_0.weights.num_bits: expected 2 or 3 or 4 or 8",
        ),
        (
            {"text_config": {"quantization_config": {"quant_method": "no"}}},
            "text_config.quantization_config.quant_method: no quantization method 'no'",
        ),
    ):
        with pytest.raises(InputError) as error:
            read_quantization(config)
        assert said in str(error.value)


ODD = [None, 0, -1, 4, 10**40, 1.5, "x", "int4", [], [1], ["a"], {}, {"a": 1}, True, [128, 128]]
ODD += [["re:("], ["*", "**.**", "layers."], {"group_0": {"weights": {"num_bits": 4}}}]
FIELDS = words(
    "bits group_size weight_block_size config_groups ignore modules_to_not_convert load_in_4bit "
    "bnb_4bit_quant_type quant_algo quantization quant_type quant_type_kwargs weights quant_config "
    "in_group_size nbits_per_codebook lm_head format"
)


def test_fields_of_any_kind_never_crash():
    """Whatever stands in the fields, the answer is a quantization or bad input."""
    chance = random.Random(7)
    done = 0
    for _ in range(3000):
        stored = {name: chance.choice(ODD) for name in chance.sample(FIELDS, 5)}
        stored["quant_method"] = chance.choice(sorted(known_methods()))
        layers = chance.choice([2, None, "a"])
        try:
            read_quantization({"quantization_config": stored, "num_hidden_layers": layers})
            done += 1
        except InputError:
            pass
    assert 0 < done < 3000


def test_a_model_of_mlx():
    """Tables and head are narrow too: 4 bits and two 16-bit numbers for 64 weights; 65 norms of 4,096 stay wide (mlx.core.quantize)."""
    llama = json.loads((DATA / "configs" / "llama-3.1-8b.config.json").read_text())
    narrow, norms = 8_030_261_248 - 65 * 4096, 65 * 4096
    for said, per_weight in (
        ({"group_size": 64, "bits": 4}, 4.5),
        ({"group_size": 64, "bits": 6}, 6.5),
        ({"group_size": 32, "bits": 4, "mode": "mxfp4"}, 4.25),
    ):
        model = read(llama | {"quantization": said, "quantization_config": said})
        assert resident(model) == narrow * per_weight / 8 + 2 * norms
        assert model.quantization.unread == ()
    mixed = {"group_size": 64, "bits": 4, "lm_head": False}
    mixed["model.layers.3.mlp.down_proj"] = {"group_size": 64, "bits": 6}
    made = read(llama | {"quantization": mixed}).quantization
    (part,) = made.parts
    assert (part.operators, part.layers, part.of, part.bits.text) == (("down",), 1, 32, "6 bit")
    assert "lm_head" in made.kept
