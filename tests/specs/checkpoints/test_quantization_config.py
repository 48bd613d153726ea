"""Quantized checkpoints: resident bytes against what published files say of themselves, and against tensors added up by hand."""

import json
import random

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.checkpoints.module_names import operators_named
from symroof.specs.checkpoints.quantization_config import read_quantization
from symroof.specs.checkpoints.quantization_methods import known_methods
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec

from . import DATA, read
from .sizes import resident, spec

LLAMA_68M = "{name: llama-68m, d_model: 768, vocab_size: 32000, layers: [{count: 2, attention: {n_heads: 12, n_kv_heads: 12, head_dim: 64}, ffn: {d_ff: 3072}}]}"


def gpt_oss(layers, experts):
    attention = (
        "n_heads: 64, n_kv_heads: 8, head_dim: 64, qkv_bias: true, out_bias: true, sinks: true"
    )
    ffn = f"{{kind: moe, n_experts: {experts}, experts_per_token: 4, d_expert: 2880, bias: true, router_bias: true}}"
    halves = [
        f"{{count: {layers // 2}, attention: {{{attention}{window}}}, ffn: {ffn}}}"
        for window in (", window: 128", "")
    ]
    return spec(
        f"{{name: gpt-oss, d_model: 2880, vocab_size: 201088, layers: [{', '.join(halves)}]}}"
    )


DEEPSEEK_ATTENTION = "{kind: mla, n_heads: 128, kv_lora_rank: 512, qk_nope_dim: 128, qk_rope_dim: 64, value_dim: 128, q_lora_rank: 1536}"
DEEPSEEK_V3 = f"""{{name: deepseek-v3, d_model: 7168, vocab_size: 129280, layers: [
 {{count: 3, attention: {DEEPSEEK_ATTENTION}, ffn: {{d_ff: 18432}}}},
 {{count: 58, attention: {DEEPSEEK_ATTENTION}, ffn: {{kind: moe, n_experts: 256, experts_per_token: 8, d_expert: 2048, n_shared_experts: 1, router_bias: true}}}}]}}"""


def shipped(name):
    return build(catalogue.find("models", name), ModelSpec)


def quantized(model, **fields):
    found = read_quantization(
        {
            "num_hidden_layers": sum(kind.count for kind in model.layers),
            "quantization_config": fields,
        }
    )
    return model.model_copy(update={"quantization": found})


# --------------------------------------------------------------------------------------------- what published files say

MXFP4 = {
    "quant_method": "mxfp4",
    "modules_to_not_convert": [
        "model.layers.*.self_attn",
        "model.layers.*.mlp.router",
        "model.embed_tokens",
        "lm_head",
    ],
}


def test_gpt_oss_120b_is_as_large_as_its_index_says():
    """openai/gpt-oss-120b, model.safetensors.index.json: total_size 65248815744."""
    assert resident(quantized(gpt_oss(36, 128), **MXFP4)) == 65_248_815_744


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


def by_hand(matrix):
    """Bytes of Llama-3-8B where each matrix takes what ``matrix`` says of its rows and inputs."""
    return WIDE + LAYERS * sum(matrix(rows, inputs) for rows, inputs in SHAPES)


CASES = [
    (
        {
            "quant_method": "awq",
            "bits": 4,
            "group_size": 128,
            "zero_point": True,
            "version": "gemm",
        },
        lambda n, k: n * k // 2 + n * (k // 128) * 2 + n * (k // 128) // 2,
    ),
    (
        {"quant_method": "awq", "w_bit": 4, "q_group_size": -1},
        lambda n, k: n * k // 2 + 2 * n + n // 2,
    ),
    (
        {"quant_method": "awq", "w_bit": 8, "q_group_size": 1},
        lambda n, k: n * k + n * k * 2 + n * k,
    ),
    (
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        lambda n, k: n * k // 2 + n * (k // 128) * 2 + n * (k // 128) // 2 + 4 * k,
    ),
    (
        {"quant_method": "gptq", "bits": 8, "group_size": 32},
        lambda n, k: n * k + n * (k // 32) * 3 + 4 * k,
    ),
    (
        {"quant_method": "gptq", "bits": 3, "group_size": 128},
        lambda n, k: n * k * 3 // 8 + n * (k // 128) * 2 + n * (k // 128) * 3 // 8 + 4 * k,
    ),
    (
        {"quant_method": "gptq", "bits": 4, "group_size": -1},
        lambda n, k: n * k // 2 + 2 * n + n // 2 + 4 * k,
    ),
    (
        {"quant_method": "gptq", "bits": 4, "group_size": 128, "checkpoint_format": "marlin"},
        lambda n, k: n * k // 2 + n * (k // 128) * 2,
    ),
    (
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        lambda n, k: n * k + 4 * (n // 128) * (k // 128),
    ),
    ({"quant_method": "fp8", "activation_scheme": "static"}, lambda n, k: n * k + 4 + 4),
    ({"quant_method": "fp8", "activation_scheme": "dynamic"}, lambda n, k: n * k + 4),
    ({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}, lambda n, k: n * k + 4 * n + 4),
    (
        {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": False},
        lambda n, k: n * k + 4 * n,
    ),
    ({"load_in_8bit": True}, lambda n, k: n * k + 4 * n),
    (
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
        lambda n, k: n * k // 2 + n * k // 64 * 4 + 64,
    ),
    (
        {
            "quant_method": "bitsandbytes",
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_use_double_quant": True,
        },
        lambda n, k: n * k // 2 + n * k // 64 + n * k // 64 // 256 * 4 + 64 + 1024,
    ),
    ({"quant_method": "eetq"}, lambda n, k: n * k + 2 * n),
    ({"quant_method": "quanto", "weights": "int4"}, lambda n, k: n * k // 2 + n * k // 128 * 4),
    (
        {
            "quant_method": "hqq",
            "quant_config": {"weight_quant_params": {"nbits": 2, "group_size": 64}},
        },
        lambda n, k: n * k // 4 + n * k // 64 * 4,
    ),
    (
        {
            "quant_method": "torchao",
            "quant_type": "int4_weight_only",
            "quant_type_kwargs": {"group_size": 32},
        },
        lambda n, k: n * k // 2 + n * (k // 32) * 4,
    ),
    (
        {
            "quant_method": "torchao",
            "quant_type": {
                "default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 64}}
            },
        },
        lambda n, k: n * k // 2 + n * (k // 64) * 4,
    ),
    (
        {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]},
        lambda n, k: n * k + 8,
    ),
    (
        {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]},
        lambda n, k: n * k // 2 + n * (k // 16) + 8,
    ),
    ({"quant_method": "nvfp4", "ignore": ["lm_head"]}, lambda n, k: n * k // 2 + n * (k // 16) + 8),
    (
        {
            "quant_method": "modelopt",
            "quantization": {
                "quant_algo": "NVFP4",
                "group_size": 16,
                "exclude_modules": ["lm_head"],
            },
        },
        lambda n, k: n * k // 2 + n * (k // 16) + 8,
    ),
    (
        {"quant_method": "aqlm", "in_group_size": 8, "nbits_per_codebook": 16, "num_codebooks": 1},
        lambda n, k: n * k // 4 + 2 * n + 65536 * 8 * 2,
    ),
]


def compressed(weights, layout, activations=None):
    group = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "format": layout,
        "ignore": ["lm_head"],
    }


CASES += [
    (
        compressed(
            {
                "num_bits": 4,
                "type": "int",
                "strategy": "group",
                "group_size": 128,
                "symmetric": True,
            },
            "pack-quantized",
        ),
        lambda n, k: n * k // 2 + n * (k // 128) * 2 + 16,
    ),
    (
        compressed(
            {
                "num_bits": 4,
                "type": "int",
                "strategy": "group",
                "group_size": 128,
                "symmetric": False,
            },
            "pack-quantized",
        ),
        lambda n, k: n * k // 2 + n * (k // 128) * 5 // 2 + 16,
    ),
    (
        compressed(
            {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True},
            "int-quantized",
        ),
        lambda n, k: n * k + 2 * n,
    ),
    (
        compressed(
            {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True},
            "float-quantized",
        ),
        lambda n, k: n * k + 2,
    ),
    (
        compressed(
            {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
            "float-quantized",
        ),
        lambda n, k: n * k + 2 * (n // 128) * (k // 128),
    ),
    (
        compressed(
            {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
            "nvfp4-pack-quantized",
        ),
        lambda n, k: n * k // 2 + n * (k // 16) + 8,
    ),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("fields", "matrix"),
    CASES,
    ids=lambda value: str(value.get("quant_method")) if isinstance(value, dict) else "",
)
def test_every_tensor_of_llama_3_8b(fields, matrix):
    assert resident(quantized(shipped("llama-3-8b"), **fields)) == by_hand(matrix)


def test_a_block_that_ends_at_an_edge_still_has_a_scale():
    """The keys' projection of DeepSeek-V3 has 576 rows: four and a half blocks of 128 hold five scales."""
    bytes_of = {"narrow": 0, "scales": 0}
    attention = [(1536, 7168), (576, 7168), (128 * 192, 1536), (128 * 256, 512), (7168, 128 * 128)]
    dense = [(18432, 7168), (18432, 7168), (7168, 18432)]
    expert = [(2048, 7168), (2048, 7168), (7168, 2048)]
    for times, matrices in ((61, attention), (3, dense), (58 * 257, expert)):
        for rows, inputs in matrices:
            bytes_of["narrow"] += times * rows * inputs
            bytes_of["scales"] += times * 4 * -(-rows // 128) * -(-inputs // 128)
    norms = 61 * (2 * 7168 + 1536 + 512) + 7168
    routers = 58 * (256 * 7168 + 256)
    by_hand = sum(bytes_of.values()) + 2 * (2 * 129280 * 7168 + norms + routers)
    model = quantized(
        spec(DEEPSEEK_V3),
        quant_method="fp8",
        fmt="e4m3",
        weight_block_size=[128, 128],
        activation_scheme="dynamic",
    )
    assert resident(model) == by_hand
    assert Study(model=model).value("quantized_params") == bytes_of["narrow"]


# --------------------------------------------------------------------------------------------------- modules that stay wide


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("patterns", "operators"),
    [
        (["lm_head"], {"lm_head"}),
        (["lm_head.weight"], {"lm_head"}),
        (["model.embed_tokens"], {"embedding"}),
        (["re:.*lm_head"], {"lm_head"}),
        (["gate"], {"router"}),
        (["re:.*mlp.gate$"], {"router"}),
        (["re:.*\\.mlp\\.gate$"], {"router"}),
        (["model.layers.*.mlp.router"], {"router"}),
        (["mlp.shared_expert_gate"], {"shared_gate"}),
        (
            ["model.layers.*.self_attn"],
            {"qkv", "attention_out", "qkv_down", "q_up", "kv_up", "head_gate"},
        ),
        (["*self_attn*"], {"qkv", "attention_out", "qkv_down", "q_up", "kv_up", "head_gate"}),
        (
            ["re:model.layers.*.self_attn.*"],
            {"qkv", "attention_out", "qkv_down", "q_up", "kv_up", "head_gate"},
        ),
        ([r"re:model\.layers\.\d+\.self_attn\.o_proj"], {"attention_out"}),
        (["q_proj", "k_proj"], set()),
        (["q_proj", "k_proj", "v_proj"], {"qkv"}),
        (["down_proj"], {"down"}),
        (
            [
                "vision_tower.blocks.0.mlp.fc1",
                "model.visual.layers.3.mlp.down_proj",
                "mtp.layers.0",
            ],
            set(),
        ),
        (["model.layers.*.mlp.experts.*"], {"experts"}),
        (["unheard_of"], set()),
        ([""], set()),
    ],
)
def test_module_names_mean_operators(patterns, operators):
    found = operators_named(patterns)
    assert found.wholly - ({"experts"} if patterns == ["down_proj"] else set()) == operators
    assert found.unread == (("unheard_of",) if patterns == ["unheard_of"] else ())


def test_a_regular_expression_with_more_than_wildcards_is_told_and_not_run():
    hostile = "re:(a+)+$" + "(" * 50
    model = quantized(shipped("llama-3-8b"), quant_method="awq", modules_to_not_convert=[hostile])
    assert "was not understood" in model.quantization.unread[0]
    assert operators_named(["x" * 10_000]).unread == ("x" * 60,)


def test_groups_that_differ_are_each_stored_as_they_say():
    """Targets by name hold before those of a kind (compressed-tensors, find_matched_target); of two groups for everything the first."""
    rows, half = (
        {"weights": {"num_bits": bits, "type": "int", "strategy": "channel"}} for bits in (8, 4)
    )
    linear, down = {"targets": ["Linear"]}, {"targets": [r"re:.*mlp\.down_proj"]}
    fields = {
        "quant_method": "compressed-tensors",
        "format": "int-quantized",
        "ignore": ["lm_head"],
    }

    def sized(**groups):
        return resident(quantized(shipped("llama-3-8b"), **fields, config_groups=groups))

    whole = sized(a=rows | linear)
    assert (
        whole == sized(a=rows | linear, b=rows | linear) == sized(a=rows | linear, b=half | linear)
    )
    assert (
        whole - sized(a=rows | linear, b=half | down)
        == whole - sized(b=half | down, a=rows | linear)
        == LAYERS * D * FF // 2
    )
    sparse = read_quantization(
        {
            "quantization_config": fields
            | {"config_groups": {"a": rows | linear}, "sparsity_config": {"format": "dense"}}
        }
    )
    assert sparse.notes == ("sparsity of the stored weights is not counted",)


def modelopt_layers(*stored):
    return {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {
            f"model.layers.{i}.{module}": {"quant_algo": name, "group_size": 16}
            for i in range(LAYERS)
            for module, name in stored
        },
    }


def test_mixed_precision_by_hand():
    """Attention in 8-bit floats with two scales of 32 bits for a matrix, feed-forward in NVFP4 with an 8-bit scale for 16 and the same two; head and table wide."""
    attention, ffn = ("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj")
    listed = modelopt_layers(
        *((f"self_attn.{name}", "FP8") for name in attention),
        *((f"mlp.{name}", "NVFP4") for name in ffn),
    )
    model = quantized(shipped("llama-3-8b"), **listed)
    held = sum(n * k + 8 for n, k in SHAPES[:4]) + sum(
        n * k // 2 + n * (k // 16) + 8 for n, k in SHAPES[4:]
    )
    assert resident(model) == WIDE + LAYERS * held
    assert (model.quantization.method, model.quantization.compute) == ("nvfp4", "fp4")


@pytest.mark.parametrize(
    ("fields", "kv"),
    [
        ({"kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": False}}, "fp8"),
        ({"kv_cache_scheme": "FP8"}, "fp8"),
        ({"kv_cache_quant_algo": "NVFP4"}, "fp4"),
        ({"kv_cache_scheme": None}, None),
        ({}, None),
    ],
)
def test_the_cache_that_a_checkpoint_asks_for(fields, kv):
    model = quantized(shipped("llama-3-8b"), quant_method="modelopt", quant_algo="FP8", **fields)
    assert model.quantization.kv == kv
    width = {None: 2, "fp8": 1, "fp4": 0.5}[kv]
    assert Study(model=model, prompt=1).value("kv_bytes_per_token") == 2 * 32 * KV * width
    assert Study(model=model, prompt=1, kv="fp16").value("kv_bytes_per_token") == 2 * 32 * KV * 2


# -------------------------------------------------------------------------------------------------------------- what is wrong


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"quantization_config": {"quant_method": "awqq"}},
            "quantization_config.quant_method: no quantization method 'awqq' is known",
        ),
        ({"quantization_config": {}}, "quantization_config.quant_method: is missing"),
        (
            {"quantization_config": {"quant_method": 4}},
            "quantization_config.quant_method: expected a text",
        ),
        ({"quantization_config": []}, "quantization_config: expected an object"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantization_config.bits: is missing"),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 5}},
            "quantization_config.bits: expected 2 or 3 or 4 or 8",
        ),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": True}},
            "quantization_config.bits: expected a whole number",
        ),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 0}},
            "quantization_config.group_size: expected -1, or 1 or more",
        ),
        (
            {"quantization_config": {"quant_method": "awq", "group_size": 10**30}},
            "quantization_config.group_size: is out of range",
        ),
        (
            {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128]}},
            "quantization_config.weight_block_size: expected two whole numbers",
        ),
        (
            {"quantization_config": {"quant_method": "bitsandbytes"}},
            "quantization_config: is neither load_in_8bit nor load_in_4bit",
        ),
        (
            {"quantization_config": {"quant_method": "compressed-tensors"}},
            "quantization_config.config_groups: is missing",
        ),
        (
            {"quantization_config": compressed({"num_bits": 9}, "")},
            "quantization_config.config_groups.group_0.weights.num_bits: expected 2 or 3 or 4 or 8",
        ),
        (
            {"quantization_config": {"quant_method": "modelopt", "quant_algo": "W7A7"}},
            "quantization_config.quant_algo: no algorithm 'W7A7' is known",
        ),
        (
            {"quantization_config": {"quant_method": "modelopt"}},
            "quantization_config.quant_algo: no algorithm 'MISSING' is known",
        ),
        (
            {"quantization_config": {"quant_method": "torchao", "quant_type": "x" * 999}},
            "quantization_config.quant_type: no type",
        ),
        (
            {"quantization_config": {"quant_method": "awq", "modules_to_not_convert": "lm_head"}},
            "modules_to_not_convert: expected a list of module names",
        ),
        (
            {"quantization_config": {"quant_method": "awq", "ignore": [1]}},
            "ignore: expected a list of module names",
        ),
        (
            {"text_config": {"quantization_config": {"quant_method": "no"}}},
            "text_config.quantization_config.quant_method: no quantization method 'no'",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(config, said):
    with pytest.raises(InputError) as error:
        read_quantization(config)
    assert said in str(error.value)


ODD = [
    None,
    0,
    -1,
    4,
    10**40,
    1.5,
    "x",
    "int4",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    True,
    [128, 128],
    ["re:("],
    ["*", "**.**", "layers."],
    {"group_0": {"weights": {"num_bits": 4}}},
]
FIELDS = [
    "bits",
    "group_size",
    "weight_block_size",
    "config_groups",
    "ignore",
    "modules_to_not_convert",
    "load_in_4bit",
    "bnb_4bit_quant_type",
    "quant_algo",
    "quantization",
    "quant_type",
    "quant_type_kwargs",
    "weights",
    "quant_config",
    "in_group_size",
    "nbits_per_codebook",
    "lm_head",
    "format",
]


def test_fields_of_any_kind_never_crash():
    """Whatever stands in the fields, the answer is a quantization or bad input."""
    chance = random.Random(7)
    read = 0
    for _ in range(3000):
        fields = {name: chance.choice(ODD) for name in chance.sample(FIELDS, 5)} | {
            "quant_method": chance.choice(sorted(known_methods()))
        }
        try:
            read_quantization(
                {"quantization_config": fields, "num_hidden_layers": chance.choice([2, None, "a"])}
            )
            read += 1
        except InputError:
            pass
    assert 0 < read < 3000


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
    mixed = {
        "group_size": 64,
        "bits": 4,
        "lm_head": False,
        "model.layers.3.mlp.down_proj": {"group_size": 64, "bits": 6},
    }
    made = read(llama | {"quantization": mixed}).quantization
    (part,) = made.parts
    assert (part.operators, part.layers, part.of, part.bits.text) == (("down",), 1, 32, "6 bit")
    assert "lm_head" in made.kept
