"""Families of 2025 and 2026 made of kinds of layer that older families have too."""

from collections.abc import Mapping
from functools import lru_cache

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.experts import LATENT_SIZES, QWEN_SHARED, ROUTED, ROUTED_SHARED
from symroof.specs.checkpoints.family import TIED, V524, Family, sizes
from symroof.specs.checkpoints.json_text import kind_of_value
from symroof.specs.checkpoints.layer_layouts import (
    CONV,
    DENSE,
    FULL,
    LINEAR,
    NOTHING,
    SLIDING,
    SPARSE,
    each,
    feed_typed,
    full_every,
    pattern_of,
    sparse_by_step,
    sparse_from,
    typed,
    windowed,
)
from symroof.specs.checkpoints.recipes import (
    BIASES,
    FLOORED,
    GATED,
    GROUPED,
    LATENT,
    MLP_BIAS,
    PLAIN,
    QKV_BIAS,
    WINDOW,
    Reader,
    Recipe,
    experts,
    flag,
    grouped,
    heads,
    kv_heads,
    normed_if,
    one_shared,
    times_shared,
    whole,
)
from symroof.specs.checkpoints.recurrent import GATED_DELTA, SHORT_CONV

FLOORED_BIASES: Recipe = {**FLOORED, **BIASES}
SINKS: Recipe = {**FLOORED_BIASES, "sinks": True}
NO_BIAS = {"attention_bias": False, "mlp_bias": False}
LLAMA_FFN: Recipe = {**GATED, **MLP_BIAS}
DENSE_FIRST = {"first_k_dense_replace": 1}
MOE_NAMES = {"num_experts": ("num_experts", "num_local_experts")}


def first_full_every(number: int) -> Reader:
    """The first of every so many layers is full, the others have the window."""
    return lambda c, i: SLIDING if i % number else FULL


def flint_mixing(c: Config, i: int) -> str:
    """Flint: the first two layers, the second of every four and the last are full."""
    return FULL if i < 2 or i % 4 == 1 or i == c.n_layers - 1 else SLIDING


def beam_mixing(c: Config, i: int) -> str:
    """Beam: every sixth layer is full, and the last."""
    return FULL if (i + 1) % 6 == 0 or i == c.n_layers - 1 else SLIDING


def lara_mixing(c: Config, i: int) -> str:
    return (LINEAR, SLIDING, LINEAR, FULL, SLIDING)[i % 5]


def lfm3_mixing(c: Config, i: int) -> str:
    return FULL if i % 4 == 2 else SLIDING if i and i % 4 == 0 else CONV


def cohere_mixing(c: Config, i: int) -> str:
    """Cohere 2 MoE: the dense layers in front have a pattern of their own, the others begin theirs behind them."""
    dense = c.maybe("first_k_dense_replace", 0) or 0
    every, at = (
        ("prefix_dense_sliding_window_pattern", i)
        if i < dense
        else ("sliding_window_pattern", i - dense)
    )
    return SLIDING if (at + 1) % c.whole(every) else FULL


def first_sparse_by(name: str, every: str) -> Reader:
    """Dense layers in front; of the others those at a multiple of a number have experts."""
    return lambda c, i: (
        SPARSE if i >= (c.maybe(name, 0) or 0) and i % (c.maybe(every) or 1) == 0 else DENSE
    )


def rows_without_head(c: Config) -> int | None:
    """Rows of the input table beyond those of a head that is cut short."""
    return c.whole("vocab_size") - (c.maybe("output_vocab_size") or c.whole("vocab_size")) or None


def heads_of_layer(c: Config, i: int) -> int:
    """Laguna: query heads of each layer's own number."""
    own = c.wholes("num_attention_heads_per_layer", c.n_layers, least=1)
    return own[i] if own else heads(c)


def laguna_gate(per_head: bool) -> Reader:
    """Laguna: a gate for each head, or for each of its elements."""

    def read(c: Config, i: int) -> bool:
        if c.raw("gating") not in (True, "per-head", "per-element", "per_element", False):
            c.fail("gating", "expected true, false, 'per-head' or 'per-element'")
        return (c.raw("gating") in (True, "per-head")) == per_head

    return read


def mimo_window(c: Config, i: int) -> int:
    """MiMo: the class adds the query itself to ``sliding_window_size``."""
    size = c.maybe("sliding_window_size")
    return c.whole("sliding_window") if size is None else size + 1


def mimo_local_kv_heads(c: Config, i: int) -> int:
    own = c.maybe("swa_num_key_value_heads")
    return 2 * kv_heads(c) if own is None else grouped(c, heads(c), own, "swa_num_key_value_heads")


MIMO: Recipe = {
    **FLOORED,
    **QKV_BIAS,
    "value_dim": whole("v_head_dim"),
    "sinks": flag("add_full_attention_sink_bias"),
}
MIMO_LOCAL: Recipe = {
    **MIMO, "n_kv_heads": mimo_local_kv_heads, "n_heads": lambda c, i: c.maybe("swa_num_attention_heads") or heads(c),
    "head_dim": lambda c, i: c.maybe("swa_head_dim") or c.whole("head_dim"), "value_dim": lambda c, i: c.maybe("swa_v_head_dim") or c.whole("v_head_dim"),
    "sinks": flag("add_swa_attention_sink_bias"), "window": mimo_window,
}  # fmt: skip
LAGUNA: Recipe = {
    **FLOORED_BIASES,
    "n_heads": heads_of_layer,
    "qk_norm": "head",
    "head_gate": laguna_gate(True),
    "out_gate": laguna_gate(False),
}


def step_heads(c: Config, i: int) -> int:
    """Step 3.5: query heads of windowed layers, of their own number where the file says so."""
    own = c.maybe("num_sliding_attention_heads")
    return (
        own
        if own is not None
        else c.inside("attention_other_setting").maybe("num_attention_heads") or heads(c)
    )


def step_kv_heads(c: Config, i: int) -> int:
    own = c.inside("attention_other_setting").maybe("num_attention_groups")
    return grouped(c, step_heads(c, i), own or kv_heads(c), "num_key_value_heads")


@lru_cache(maxsize=1)  # each layer asks again
def _numbers_with_commas(text: str) -> frozenset[str] | None:
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    right = all(part.isdigit() and len(part) < 6 for part in numbers)
    return frozenset(numbers) if right else None


def step_sparse(c: Config, i: int) -> str:
    """Step 3 and 3.5: the layers that a list or a text of numbers names have experts, or else all but the first three."""
    named = c.raw("moe_layers_enum")
    if isinstance(named, str):
        numbers = _numbers_with_commas(named)
        if numbers is None:
            c.fail("moe_layers_enum", "expected numbers with commas between")
        return SPARSE if str(i) in numbers else DENSE
    sparse = c.lists("moe_layers_enum", i)
    if sparse is None:
        sparse = i >= c.whole("first_sparse_layer", least=0)
    return SPARSE if sparse else DENSE


STEP: Recipe = {**FLOORED, **BIASES, "qk_norm": "head", "head_gate": True}
STEP_LOCAL: Recipe = {**STEP, "n_heads": step_heads, "n_kv_heads": step_kv_heads, **WINDOW}
STEP_NAMES = {
    "first_sparse_layer": ("first_k_dense_replace",), "n_routed_experts": ("n_routed_experts", "moe_num_experts", "num_local_experts", "num_experts"), "num_experts_per_tok": ("num_experts_per_tok", "moe_top_k"),
    "num_key_value_heads": ("num_key_value_heads", "num_attention_groups"), "share_expert_dim": ("share_expert_dim", "share_expert_dims"),
}  # fmt: skip
BAILING_SIZES = {
    "use_bias": False, "use_qkv_bias": False, "use_qk_norm": False, "head_dim": None, "moe_intermediate_size": 1408, "num_experts": 16, "num_shared_experts": 0,
    "num_experts_per_tok": 2, "first_k_dense_replace": 0, "norm_head": False,
}  # fmt: skip


def bailing_shared(c: Config, i: int) -> int | None:
    """Ling: the shared experts are one block, of a width of its own where the file gives one."""
    count = c.maybe("num_shared_experts", 0) or 0
    return (
        count * (c.maybe("moe_shared_expert_intermediate_size") or c.whole("moe_intermediate_size"))
        or None
    )


def block(c: Config, i: int, part: str) -> Config:
    """Nemotron NAS: what a layer has of a part, in a list of objects."""
    blocks = c.listed("block_configs", c.n_layers)
    if blocks is None:
        c.fail("block_configs", "is missing")
    if not (isinstance(blocks[i], dict) and isinstance(blocks[i].get(part), dict)):
        c.fail(
            "block_configs",
            f"expected an object with {part!r} for layer {i}, found {kind_of_value(blocks[i])}",
        )
    return Config(
        c.document,
        (*c.place, "block_configs", i, part),
        blocks[i][part],
        {"no_op": False, "replace_with_linear": False},
        {},
        c.source,
        {},
    )


def absent(part: Config) -> bool:
    """Whether a layer lacks a part; a linear layer instead of it is an error."""
    if part.flag("replace_with_linear"):
        part.fail("replace_with_linear", "a linear layer instead of a block is not read")
    return part.flag("no_op")


def block_kv_heads(c: Config, i: int) -> int:
    group = block(c, i, "attention").whole("n_heads_in_group")
    if heads(c) % group:
        c.fail(
            "block_configs",
            f"n_heads_in_group {group} of layer {i} does not divide num_attention_heads {heads(c)}",
        )
    return heads(c) // group


def block_window(c: Config, i: int) -> int | None:
    return block(c, i, "attention").maybe("window_length")


def block_norms(c: Config, i: int) -> int:
    """One norm before each block that a layer has."""
    return sum(not absent(block(c, i, part)) for part in ("attention", "ffn"))


def block_width(c: Config, i: int) -> int:
    """Two thirds of a multiple of the residual's width, rounded up to a multiple of 256."""
    part = block(c, i, "ffn")
    factor = part.number("ffn_mult")
    if factor is None:
        part.fail("ffn_mult", "is missing")
    return -(-int(2 * factor * c.whole("hidden_size") / 3) // 256) * 256


RECENT_FAMILIES: Mapping[str, Family] = {
    "apertus1p5_text": Family(
        f"Apertus1p5TextConfig of {V524}", sizes(266752, 4096, 14336, 32, 32, None, attention_bias=False), {**FLOORED_BIASES, "qk_norm": "head"},
        ffn={**PLAIN, "learned_activation": True}, outer={"vocab_size": lambda c, i: c.maybe("output_vocab_size") or c.whole("vocab_size"),
                                                          "more_embeddings": lambda c, i: rows_without_head(c)},
    ),
    "aria_text": Family(
        f"AriaTextConfig of {V524}",
        sizes(32000, 4096, 4096, 32, 32, None, num_experts=8, num_experts_per_tok=2, num_shared_experts=2, **NO_BIAS), {**FLOORED, **BIASES},
        experts=experts("num_experts", "intermediate_size", shared_bias=flag("mlp_bias"), **times_shared("num_shared_experts", "intermediate_size")),
        names={"num_experts": ("moe_num_experts",), "num_experts_per_tok": ("moe_topk",), "num_shared_experts": ("moe_num_shared_experts",)},
    ),
    "axk1": Family(
        f"AXK1Config of {V524}",
        sizes(163840, 7168, 18432, 61, 64, 64, **LATENT_SIZES, moe_intermediate_size=2048, n_shared_experts=1, n_routed_experts=192, num_experts_per_tok=8, **DENSE_FIRST),
        LATENT, experts={**ROUTED_SHARED, "norms": 3}, feeding=feed_typed(first_sparse_by("first_k_dense_replace", "moe_layer_freq")), names=ROUTED,
    ),
    "cohere2_moe": Family(
        f"Cohere2MoeConfig of {V524}",
        sizes(256000, 8192, 22528, 40, 64, None, head_dim=128, attention_bias=False, sliding_window=4096, sliding_window_pattern=4, num_experts=8, num_experts_per_tok=2,
              num_shared_experts=0, prefix_dense_sliding_window_pattern=1) | TIED,
        FLOORED_BIASES, ffn={"kind": "gated", "d_ff": lambda c, i: c.maybe("prefix_dense_intermediate_size") or c.whole("intermediate_size")},
        experts=experts("num_experts", "intermediate_size", **times_shared("num_shared_experts", "intermediate_size")), mixing=typed(cohere_mixing),
        feeding=feed_typed(lambda c, i: DENSE if i < (c.maybe("first_k_dense_replace", 0) or 0) else SPARSE), norm={"per_layer": 1}, names=MOE_NAMES,
    ),
    "exaone": Family(f"ExaoneConfig of {V524}", sizes(102400, 4096, 14336, 32, 32, 8, **NO_BIAS), {**GROUPED, **BIASES}, ffn=LLAMA_FFN,
                     names={"num_hidden_layers": ("num_hidden_layers", "num_layers")}),
    "iquestcoder": Family(f"IQuestCoderConfig of {V524}", sizes(76800, 5120, 27648, 80, 40, 8, head_dim=128, **NO_BIAS), {**FLOORED, **BIASES}, ffn=LLAMA_FFN),
    "hyperclovax": Family(
        f"HyperCLOVAXConfig of {V524}", sizes(32000, 4096, 11008, 32, 32, None, use_post_norm=True, **NO_BIAS), {**GROUPED, **BIASES}, ffn=LLAMA_FFN,
        norm={"per_layer": lambda c, i: 4 if c.flag("use_post_norm") else 2},
    ),
    "granite_swa": Family(
        f"GraniteSWAConfig of {V524}", sizes(100352, 2560, 8192, 24, 20, 4, sliding_window=128, **NO_BIAS) | TIED, SINKS, ffn=LLAMA_FFN, mixing=typed(first_full_every(4)),
    ),
    "granitemoe_swa": Family(
        f"GraniteMoeSWAConfig of {V524}",
        sizes(32000, 4096, 11008, 32, 32, None, attention_bias=False, num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=0, sliding_window=128),
        SINKS, experts=experts("num_local_experts", "intermediate_size", **one_shared("shared_intermediate_size")), mixing=typed(first_full_every(4)),
    ),
    "laguna": Family(
        f"LagunaConfig of {V524}",
        sizes(100352, 2048, 8192, 40, 48, 8, head_dim=128, attention_bias=False, gating=True, sliding_window=512, moe_intermediate_size=512,
              shared_expert_intermediate_size=512, num_experts=256, num_experts_per_tok=8),
        LAGUNA, experts=experts("num_experts", "moe_intermediate_size", router_bias=True, **one_shared("shared_expert_intermediate_size")), mixing=typed(lambda c, i: FULL),
        feeding=feed_typed(lambda c, i: SPARSE if i else DENSE), names=MOE_NAMES,
    ),
    "mellum": Family(
        f"MellumConfig of {V524}",
        sizes(98304, 2304, 7168, 28, 32, 4, head_dim=128, attention_bias=False, sliding_window=1024, moe_intermediate_size=896, num_experts=64, num_experts_per_tok=8),
        {**FLOORED_BIASES, "qk_norm": "head"}, experts=experts("num_experts", "moe_intermediate_size"), mixing=typed(lambda c, i: FULL),
        feeding=feed_typed(lambda c, i: SPARSE), names=MOE_NAMES,
    ),
    "nanochat": Family(
        f"NanoChatConfig of {V524}", sizes(50304, 768, 8192, 12, 6, None, attention_bias=False), FLOORED_BIASES, ffn=PLAIN, norm={"kind": "none"},
    ),
    "sarvam_mla": Family(
        f"SarvamMLAConfig of {V524}",
        sizes(262144, 4096, 16384, 32, 64, None, **{**LATENT_SIZES, "q_lora_rank": None}, moe_intermediate_size=2048, n_shared_experts=1, n_routed_experts=128,
              num_experts_per_tok=8, **DENSE_FIRST),
        LATENT, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")),
        names={**ROUTED, "n_shared_experts": ("n_shared_experts", "num_shared_experts")},
    ),
    "sarvam_moe": Family(
        f"SarvamMoEConfig of {V524}",
        sizes(262144, 4096, 8192, 19, 64, 4, head_dim=64, attention_bias=False, use_qk_norm=True, moe_intermediate_size=1024, num_experts_per_tok=6, n_shared_experts=1,
              n_routed_experts=128, **DENSE_FIRST),
        {**FLOORED, **QKV_BIAS, "qk_norm": normed_if("use_qk_norm", "head")}, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")),
        names={**ROUTED, "n_shared_experts": ("n_shared_experts", "num_shared_experts"), "attention_bias": ("attention_bias", "use_qkv_bias")},
    ),
    "mimo_v2_flash": Family(
        f"MiMoV2FlashConfig of {V524}",
        sizes(152576, 4096, 16384, 48, 64, 4, head_dim=192, v_head_dim=128, attention_bias=False, sliding_window=129, moe_intermediate_size=2048, n_routed_experts=256,
              num_experts_per_tok=8, n_shared_experts=None, add_swa_attention_sink_bias=True, add_full_attention_sink_bias=False),
        MIMO, mixers={SLIDING: MIMO_LOCAL}, experts=ROUTED_SHARED,
        mixing=typed(pattern_of("hybrid_layer_pattern", SLIDING, FULL, lambda c, i: SLIDING if i and (i + 1) % 6 else FULL)),
        feeding=feed_typed(pattern_of("moe_layer_freq", SPARSE, DENSE, lambda c, i: SPARSE if i else DENSE)), names=ROUTED,
    ),
    "mistral4": Family(
        f"Mistral4Config of {V524}",
        sizes(131072, 4096, 12288, 36, 32, 32, kv_lora_rank=256, q_lora_rank=1024, qk_nope_head_dim=64, qk_rope_head_dim=64, v_head_dim=128, attention_bias=False,
              moe_intermediate_size=2048, n_shared_experts=1, n_routed_experts=128, num_experts_per_tok=4, first_k_dense_replace=0),
        LATENT, experts=ROUTED_SHARED, feeding=each(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "kolibri1": Family(
        f"Kolibri1Config of {V524}",
        sizes(128000, 2560, None, 50, 48, 4, head_dim=128, sliding_window=513, moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts=384,
              num_experts_per_tok=6),
        {**FLOORED, "qk_norm": "head"}, experts=experts("num_experts", "moe_intermediate_size", **one_shared("shared_expert_intermediate_size")),
        mixing=typed(full_every(5)), norm={"per_layer": 4}, names=MOE_NAMES,
    ),
    "flint": Family(
        f"FlintConfig of {V524}",
        sizes(150144, 2048, 6144, 49, 32, 4, head_dim=128, attention_bias=False, sliding_window=513, decoder_sparse_step=1, moe_intermediate_size=512,
              shared_expert_intermediate_size=1024, num_experts_per_tok=6, num_experts=256, mlp_only_layers=[0, 1]),
        {**SINKS, "qk_norm": "head"}, experts=experts("num_experts", "moe_intermediate_size", **one_shared("shared_expert_intermediate_size")),
        mixing=typed(flint_mixing), feeding=each(sparse_by_step("num_experts")), names=MOE_NAMES,
    ),
    "beam": Family(
        f"BeamConfig of {V524}",
        sizes(151936, 5120, 20480, 52, 48, 8, head_dim=128, attention_bias=False, sliding_window=512, moe_intermediate_size=2560, num_experts=256, num_experts_per_tok=8),
        {**FLOORED_BIASES, "qk_norm": "head", "out_gate": True, "gate_bias": True, "unbiased_gate": True}, experts=experts("num_experts", "moe_intermediate_size"), mixing=typed(beam_mixing),
        feeding=feed_typed(lambda c, i: DENSE if i < 3 else SPARSE), norm={"per_layer": 4}, names=MOE_NAMES,
    ),
    "lara_mini": Family(
        f"LaraMiniConfig of {V524}",
        sizes(151936, 1024, None, 34, 16, 4, head_dim=128, attention_bias=False, sliding_window=512, linear_num_key_heads=8, linear_num_value_heads=16,
              linear_key_head_dim=128, linear_value_head_dim=128, linear_conv_kernel_dim=4, moe_intermediate_size=512, shared_expert_intermediate_size=512,
              num_experts_per_tok=4, num_experts=128) | TIED,
        {**FLOORED_BIASES, "qk_norm": "head"}, mixers={LINEAR: GATED_DELTA},
        experts={key: value for key, value in QWEN_SHARED.items() if key != "shared_gate"}, mixing=typed(lara_mixing), names=MOE_NAMES,
    ),
    "lfm3": Family(
        f"Lfm3Config of {V524}",
        sizes(128000, 2048, 7680, 24, 16, 4, head_dim=128, attention_bias=False, conv_bias=False, conv_L_cache=7, sliding_window=256, use_sandwich_norm=True,
              use_attention_gate=True) | TIED,
        {**FLOORED_BIASES, "qk_norm": "head", "head_gate": flag("use_attention_gate")}, mixers={CONV: SHORT_CONV}, mixing=typed(lfm3_mixing),
        norm={"per_layer": lambda c, i: 4 if c.flag("use_sandwich_norm") else 2},
    ),
    "step3p5": Family(
        f"Step3p7TextConfig of {V524}",
        sizes(128815, 4096, 11264, 45, 64, 8, head_dim=128, attention_bias=False, mlp_bias=False, sliding_window=None, moe_intermediate_size=1280, n_routed_experts=288,
              num_experts_per_tok=8, share_expert_dim=1280, first_sparse_layer=3),
        STEP, mixers={SLIDING: STEP_LOCAL}, ffn=LLAMA_FFN,
        experts=experts("n_routed_experts", "moe_intermediate_size", shared_bias=flag("mlp_bias"), **one_shared("share_expert_dim")), mixing=typed(lambda c, i: FULL, longer=True),
        feeding=feed_typed(step_sparse, longer=True), names=STEP_NAMES,
    ),
    "step3_text": Family(
        "Step3TextConfig of the model's own code (Step-3: 316e9 parameters, arXiv 2507.19427)",
        sizes(128815, 7168, 18432, 61, 64, 1, head_dim=256, share_q_dim=2048, moe_intermediate_size=5120, n_routed_experts=48, num_experts_per_tok=3, share_expert_dim=5120,
              moe_layers_enum="4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,"
                              "53,54,55,56,57,58,59", first_sparse_layer=3),
        {**FLOORED, "q_lora_rank": whole("share_q_dim")}, experts=experts("n_routed_experts", "moe_intermediate_size", **one_shared("share_expert_dim")),
        feeding=each(step_sparse), names=STEP_NAMES,
    ),
    "bailing_moe": Family(
        "BailingMoeConfig of the model's own code (github.com/inclusionAI/Ling; Ling-lite: 16.8e9 parameters)",
        sizes(157184, 2048, 5120, 20, 16, 4, **BAILING_SIZES),
        {**GROUPED, "qkv_bias": flag("use_qkv_bias"), "out_bias": flag("use_bias"), "qk_norm": normed_if("use_qk_norm", "head")},
        ffn={**GATED, "bias": flag("use_bias")},
        experts=experts("num_experts", "moe_intermediate_size", bias=flag("use_bias"), shared_bias=flag("use_bias"),
                        n_shared_experts=lambda c, i: 1 if c.maybe("num_shared_experts", 0) else None, d_shared=bailing_shared),
        feeding=each(sparse_from("first_k_dense_replace")), names=MOE_NAMES,
    ),
    "nemotron-nas": Family(
        "DeciLMConfig of the model's own code (Llama-3.3-Nemotron-Super: 49e9 parameters)", {"num_key_value_heads": None, "attention_bias": False, "mlp_bias": False,
                                                                                     "tie_word_embeddings": False},
        {**GROUPED, **BIASES, "n_kv_heads": block_kv_heads, "window": block_window, "norms": block_norms}, mixers={NOTHING: {"kind": "none", "norms": block_norms}},
        ffn={"kind": "gated", "d_ff": block_width, **MLP_BIAS}, mixing=each(lambda c, i: NOTHING if absent(block(c, i, "attention")) else FULL),
        feeding=each(lambda c, i: NOTHING if absent(block(c, i, "ffn")) else DENSE),
    ),
    "diffllama": Family(
        f"DiffLlamaConfig of {V524}", sizes(32000, 2048, 8192, 16, 32, None, attention_bias=False), {**GROUPED, **BIASES, "differential": True},
    ),
    "emu3_text_model": Family(f"Emu3TextConfig of {V524}", sizes(184622, 4096, 14336, 32, 32, 8), FLOORED),
    "phi4_multimodal": Family(f"Phi4MultimodalConfig of {V524}", sizes(200064, 3072, 8192, 32, 32, 8, sliding_window=None), FLOORED, mixing=each(windowed)),
    "cohere_compass_text": Family(
        f"CohereCompassTextConfig of {V524}", sizes(256000, 8192, 22528, 40, 64, None, attention_bias=False, sliding_window=4096) | TIED, FLOORED_BIASES,
        mixing=typed(lambda c, i: FULL), norm={"per_layer": 1},
    ),
}  # fmt: skip
