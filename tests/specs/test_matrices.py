"""The matrices of a layer, one by one, hold exactly the parameters that the theory's fused products hold."""

from collections import Counter, defaultdict

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

GROUPED = "n_heads: 8, n_kv_heads: 2, head_dim: 16"
LATENT = "kind: mla, n_heads: 8, kv_lora_rank: 32, qk_nope_dim: 16, qk_rope_dim: 8, value_dim: 12"
INDEXED = "index_heads: 2, index_dim: 8, index_topk: 9"
DENSE = "d_ff: 96"
EXPERTS = "kind: moe, n_experts: 6, experts_per_token: 2, d_expert: 40"
COMPRESSED = "kind: compressed, n_heads: 8, head_dim: 16, q_lora_rank: 24, window: 4, out_rank: 12"
COMPRESSED += ", out_groups: 2, compress_rate: 4"
DELTA = "linear_key_heads: 4, linear_key_dim: 16, linear_value_dim: 16, linear_value_heads"
MAMBA2 = "kind: mamba2, d_inner: 128, d_state: 8, d_conv: 4"
LAYERS = {
    "grouped": (GROUPED, DENSE),
    "plain feed-forward": (GROUPED, "kind: plain, d_ff: 96, bias: true"),
    "gates and values": (f"{GROUPED}, value_dim: 24, out_gate: true, head_gate: true", DENSE),
    "shared cache": (f"{GROUPED}, shares_kv: true", DENSE),
    "value is key": (f"{GROUPED}, value_is_key: true", DENSE),
    "latent": (f"{LATENT}, q_lora_rank: 40", DENSE),
    "latent, one step": (LATENT, DENSE),
    "experts": (GROUPED, EXPERTS),
    "shared experts": (GROUPED, f"{EXPERTS}, n_shared_experts: 2, d_shared: 24, shared_gate: true"),
    "plain experts": (GROUPED, f"{EXPERTS}, expert: plain, bias: true"),
    "experts in a latent": (GROUPED, f"{EXPERTS}, d_latent: 48"),
    "mamba": ("kind: mamba, d_inner: 128, d_state: 8, d_conv: 4, dt_rank: 5", ""),
    "mamba2": (f"{MAMBA2}, ssm_heads: 4, ssm_groups: 2", ""),
    "linear": (f"kind: linear, {DELTA}: 4", DENSE),
    "gated delta": (f"kind: gated_delta, d_conv: 4, {DELTA}: 8", DENSE),
    "kimi delta": (f"kind: kimi_delta, d_conv: 4, {DELTA}: 4", DENSE),
    "chosen keys": (f"{LATENT}, q_lora_rank: 40, {INDEXED}", DENSE),
    "chosen blocks": (f"{GROUPED}, {INDEXED}", DENSE),
    "compressed": (f"{COMPRESSED}, {INDEXED}", DENSE),
    "convolution": ("kind: conv, d_conv: 3", DENSE),
}


def model(attention, ffn):
    blocks = f"attention: {{{attention}}}" + (f", ffn: {{{ffn}}}" if ffn else "")
    text = f"name: some\nd_model: 64\nvocab_size: 100\nlayers:\n- {{count: 3, {blocks}}}"
    return build(loads(text), ModelSpec)


def agrees(spec):
    """Elements by operator, counted from shapes and from the operator table."""
    shapes, table = Counter(), defaultdict(list)
    for kind in spec.layers:
        for m in matrices(kind, spec.d_model):
            shapes[m.operator] += m.rows * m.columns * m.times * kind.count
    architecture = spec.architecture(quantized=True)
    values = {name: given.setting for name, given in model_values(spec).items()}
    case = Case(theory(architecture), values)
    for row in placed_rows(architecture, assume()):
        counted = row.stream == "params" and row.width == "weight_bytes_per_param"
        if counted and row.operator not in ("embedding", "lm_head"):
            table[row.operator].append(row)
    return shapes, {name: case.evaluate(parameters(found)) for name, found in table.items()}


EVERYTHING = build(loads("{method: fp8, bits: 8 bit, format: fp8, kept: []}"), Quantization)


@pytest.mark.sample(5)
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_shapes_and_table_hold_the_same(layer):
    shapes, table = agrees(model(*layer).model_copy(update={"quantization": EVERYTHING}))
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
