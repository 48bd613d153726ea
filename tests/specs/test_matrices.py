"""The matrices of a layer, one by one, hold exactly the parameters that the theory's fused products hold."""

import pytest

from symroof.cases.spec_inputs import model_values
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.specs.quantization import Matrix, Quantization, matrices
from symroof.strict_yaml import loads
from symroof.theory.case import Case
from symroof.theory.operator_table import parameters, placed_rows
from symroof.theory.switches import assume
from symroof.theory.theory import theory

ATTENTION = "{n_heads: 8, n_kv_heads: 2, head_dim: 16}"
LAYERS = {
    "grouped": f"{{attention: {ATTENTION}, ffn: {{d_ff: 96}}}}",
    "plain feed-forward": f"{{attention: {ATTENTION}, ffn: {{kind: plain, d_ff: 96, bias: true}}}}",
    "gates and values": "{attention: {n_heads: 8, n_kv_heads: 2, head_dim: 16, value_dim: 24, out_gate: true, head_gate: true}, ffn: {d_ff: 96}}",
    "shared cache": "{attention: {n_heads: 8, n_kv_heads: 2, head_dim: 16, shares_kv: true}, ffn: {d_ff: 96}}",
    "value is key": "{attention: {n_heads: 8, n_kv_heads: 2, head_dim: 16, value_is_key: true}, ffn: {d_ff: 96}}",
    "latent": "{attention: {kind: mla, n_heads: 8, kv_lora_rank: 32, qk_nope_dim: 16, qk_rope_dim: 8, value_dim: 12, q_lora_rank: 40}, ffn: {d_ff: 96}}",
    "latent, one step": "{attention: {kind: mla, n_heads: 8, kv_lora_rank: 32, qk_nope_dim: 16, qk_rope_dim: 8, value_dim: 12}, ffn: {d_ff: 96}}",
    "experts": f"{{attention: {ATTENTION}, ffn: {{kind: moe, n_experts: 6, experts_per_token: 2, d_expert: 40}}}}",
    "shared experts": f"{{attention: {ATTENTION}, ffn: {{kind: moe, n_experts: 6, experts_per_token: 2, d_expert: 40, n_shared_experts: 2, d_shared: 24, shared_gate: true}}}}",
    "plain experts": f"{{attention: {ATTENTION}, ffn: {{kind: moe, n_experts: 6, experts_per_token: 2, d_expert: 40, expert: plain, bias: true}}}}",
    "experts in a latent": f"{{attention: {ATTENTION}, ffn: {{kind: moe, n_experts: 6, experts_per_token: 2, d_expert: 40, d_latent: 48}}}}",
    "mamba": "{attention: {kind: mamba, d_inner: 128, d_state: 8, d_conv: 4, dt_rank: 5}}",
    "mamba2": "{attention: {kind: mamba2, d_inner: 128, d_state: 8, d_conv: 4, ssm_heads: 4, ssm_groups: 2}}",
    "linear": "{attention: {kind: linear, linear_key_heads: 4, linear_value_heads: 4, linear_key_dim: 16, linear_value_dim: 16}, ffn: {d_ff: 96}}",
    "gated delta": "{attention: {kind: gated_delta, linear_key_heads: 4, linear_value_heads: 8, linear_key_dim: 16, linear_value_dim: 16, d_conv: 4}, ffn: {d_ff: 96}}",
    "chosen keys": "{attention: {kind: mla, n_heads: 8, kv_lora_rank: 32, qk_nope_dim: 16, qk_rope_dim: 8, value_dim: 12, q_lora_rank: 40, index_heads: 2, index_dim: 8, index_topk: 9}, ffn: {d_ff: 96}}",
    "chosen blocks": "{attention: {n_heads: 8, n_kv_heads: 2, head_dim: 16, index_heads: 2, index_dim: 8, index_topk: 9}, ffn: {d_ff: 96}}",
    "compressed": "{attention: {kind: compressed, n_heads: 8, head_dim: 16, q_lora_rank: 24, window: 4, out_rank: 12, out_groups: 2, compress_rate: 4, index_heads: 2, index_dim: 8, index_topk: 9}, ffn: {d_ff: 96}}",
    "kimi delta": "{attention: {kind: kimi_delta, linear_key_heads: 4, linear_value_heads: 4, linear_key_dim: 16, linear_value_dim: 16, d_conv: 4}, ffn: {d_ff: 96}}",
    "convolution": "{attention: {kind: conv, d_conv: 3}, ffn: {d_ff: 96}}",
}


def model(layer):
    return build(
        loads(
            f"name: some\nd_model: 64\nvocab_size: 100\nlayers:\n- {layer.replace('{', '{count: 3, ', 1)}"
        ),
        ModelSpec,
    )


def agrees(spec):
    """Elements by operator, counted from shapes and from the operator table."""
    shapes = {}
    for kind in spec.layers:
        for m in matrices(kind, spec.d_model):
            shapes[m.operator] = (
                shapes.get(m.operator, 0) + m.rows * m.columns * m.times * kind.count
            )
    architecture = spec.architecture(quantized=True)
    case = Case(
        theory(architecture), {name: given.setting for name, given in model_values(spec).items()}
    )
    table = {}
    for row in placed_rows(architecture, assume()):
        if (
            row.stream == "params"
            and row.width == "weight_bytes_per_param"
            and row.operator not in ("embedding", "lm_head")
        ):
            table.setdefault(row.operator, []).append(row)
    return shapes, {name: case.evaluate(parameters(found)) for name, found in table.items()}


EVERYTHING = build(loads("{method: fp8, bits: 8 bit, format: fp8, kept: []}"), Quantization)


@pytest.mark.sample(5)
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_shapes_and_table_hold_the_same(layer):
    shapes, table = agrees(model(layer).model_copy(update={"quantization": EVERYTHING}))
    assert shapes
    assert shapes == table


def test_a_grouped_layer_by_hand():
    kind = build(catalogue.find("models", "llama-3-8b"), ModelSpec).layers[0]
    assert list(matrices(kind, 4096)) == [
        Matrix("qkv", 4096, 4096),
        Matrix("qkv", 1024, 4096),
        Matrix("qkv", 1024, 4096),
        Matrix("attention_out", 4096, 4096),
        Matrix("gate_up", 14336, 4096, 2),
        Matrix("down", 4096, 14336),
    ]
