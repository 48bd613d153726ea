"""Families with a recurrence in some or all of their layers: state spaces, linear attention, short convolutions."""

from collections.abc import Mapping

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.experts import FLOORED_BIASES, LOCAL, QWEN_SHARED
from symroof.specs.checkpoints.family import TIED, V5, V524, Family, sizes
from symroof.specs.checkpoints.layer_layouts import (
    ALL_LINEAR,
    CONV,
    DENSE,
    FULL,
    HYBRID,
    LINEAR,
    MIXERS,
    NO_FEEDS,
    NOTHING,
    SLIDING,
    SPARSE,
    each,
    indices,
    linear_but_every,
    period,
    sparse_by_step,
    sparse_from,
    typed,
)
from symroof.specs.checkpoints.recipes import (
    FLOORED,
    GATED,
    LAYER_NORM,
    LINEAR_ATTENTION,
    MAMBA,
    MAMBA2,
    MLP_BIAS,
    PLAIN,
    Reader,
    Recipe,
    experts,
    flag,
    four_times,
    heads,
    kv_heads,
    made,
    maybe,
    one_shared,
    shared_out,
    whole,
)

GATED_DELTA: Recipe = {
    "kind": "gated_delta", "linear_key_heads": whole("linear_num_key_heads"), "linear_value_heads": whole("linear_num_value_heads"),
    "linear_key_dim": whole("linear_key_head_dim"), "linear_value_dim": whole("linear_value_head_dim"), "d_conv": whole("linear_conv_kernel_dim"),
}  # fmt: skip
DELTA_SIZES = {
    "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4, "head_dim": 256, "attention_bias": False,
}  # fmt: skip
GATED_FULL = {**FLOORED_BIASES, "qk_norm": "head", "out_gate": True}
MAMBA_SIZES = {
    "vocab_size": 50280, "hidden_size": 768, "state_size": 16, "num_hidden_layers": 32, "expand": 2, "conv_kernel": 4, "use_bias": False, "use_conv_bias": True,
    "time_step_rank": "auto",
}  # fmt: skip
HYBRID_SIZES = {
    "num_heads": 128, "mamba_head": "auto", "n_groups": 1, "state_size": 256, "conv_kernel": 4, "expand": 2, "use_conv_bias": True, "use_bias": False,
    "attention_bias": False,
}  # fmt: skip
OLMO_DELTA: Recipe = {
    **GATED_DELTA, "linear_key_heads": lambda c, i: c.maybe("linear_num_key_heads") or heads(c),
    "linear_value_heads": lambda c, i: c.maybe("linear_num_value_heads") or heads(c), "linear_key_dim": lambda c, i: olmo_key_dim(c),
    "linear_value_dim": lambda c, i: c.maybe("linear_value_head_dim") or 2 * olmo_key_dim(c),
}  # fmt: skip
SHORT_CONV: Recipe = {
    "kind": "conv", "d_conv": whole("conv_L_cache"), "in_bias": flag("conv_bias"), "out_bias": flag("conv_bias"), "conv_bias": flag("conv_bias"),
}  # fmt: skip
HYBRID_NAMES = {
    "state_size": ("mamba_d_state",), "conv_kernel": ("mamba_d_conv",), "expand": ("mamba_expand",), "use_bias": ("mamba_proj_bias",),
    "use_conv_bias": ("mamba_conv_bias",), "time_step_rank": ("mamba_dt_rank",), "num_heads": ("mamba_n_heads",), "mamba_head": ("mamba_d_head",),
    "n_groups": ("mamba_n_groups",),
}  # fmt: skip
NEMOTRON_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
NEMOTRON_WORDS = {
    "mamba": (LINEAR, NOTHING), "linear_attention": (LINEAR, NOTHING), "attention": (FULL, NOTHING), "full_attention": (FULL, NOTHING),
    "mlp": (NOTHING, DENSE), "moe": (NOTHING, SPARSE),
}  # fmt: skip


def nemotron_layers(c: Config) -> list[tuple[str, str]]:
    """Nemotron-H: each layer is one block, by a list of words or a pattern of letters."""
    if (words := c.listed("layers_block_type") or c.listed("layer_types")) is None:
        pattern = c.text("hybrid_override_pattern") or "ME*-"
        if unknown := set(pattern) - set(NEMOTRON_LETTERS):
            c.fail(
                "hybrid_override_pattern",
                f"has {min(unknown)!r}; the letters are {' '.join(NEMOTRON_LETTERS)}",
            )
        words = [NEMOTRON_LETTERS[letter] for letter in pattern]
    for word in words:
        if not isinstance(word, str) or word not in NEMOTRON_WORDS:
            c.fail("layers_block_type", f"has an unknown entry: {str(word)[:40]!r}")
    c.bounded("hybrid_override_pattern", len(words))
    if (stated := c.maybe("num_hidden_layers")) not in (None, len(words)):
        c.fail(
            "num_hidden_layers",
            f"{stated} layers, but the list or pattern of blocks has {len(words)}",
        )
    return [NEMOTRON_WORDS[word] for word in words]


def lfm2_width(c: Config, i: int) -> int:
    """LFM2: two thirds of the width the file says, times a factor, rounded up to a multiple."""
    width, factor = c.whole("intermediate_size"), c.number("block_ffn_dim_multiplier")
    if not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, multiple = int(2 * width / 3), c.whole("block_multiple_of")
    return width if factor is None else multiple * -(-int(factor * width) // multiple)


def olmo_key_dim(c: Config) -> int:
    """OLMo hybrid: three quarters of an even share of the residual width, where the file does not say."""
    width = c.maybe("linear_key_head_dim")
    if width is None:
        width = int(0.75 * c.whole("hidden_size") / (c.maybe("linear_num_key_heads") or heads(c)))
        c.fill("linear_key_head_dim", width, "0.75 * hidden_size / linear_num_key_heads")
    return width


def lfm2_attention(c: Config, i: int) -> str:
    """LFM2: the layers listed have attention; all of them where there is no list."""
    return CONV if c.lists("full_attn_idxs", i) is False else FULL


def shared_or_routed(c: Config) -> list[str]:
    """Granite hybrid: a model without routed experts has the shared one alone, as a dense layer."""
    return [SPARSE if c.maybe("num_local_experts", 0) else DENSE] * c.n_layers


def by_number(c: Config, i: int) -> str:
    """MiniMax: the older list of ones and zeros, or else every second layer is linear."""
    listed = c.wholes("attn_type_list", c.n_layers)
    return (FULL if listed[i] else LINEAR) if listed else (LINEAR if i % 2 else FULL)


def beside_mamba2(c: Config, i: int) -> dict[str, object]:
    """Falcon-H1: a state space of its own width beside the attention of every layer."""
    inner = c.maybe("mamba_d_ssm") or c.whole("expand") * c.whole("hidden_size")
    return made(
        {
            **MAMBA2,
            "d_inner": inner,
            "mixer_norm": flag("mamba_rms_norm"),
            "out_bias": flag("projectors_bias"),
        },
        c,
        i,
    )


def zamba_layers(c: Config) -> list[str]:
    """Zamba: a list of the layers that also run the shared block, or else the third and those at an offset in a period behind it."""
    listed = c.words("layers_block_type", MIXERS, c.n_layers) or c.words(
        "layer_types", MIXERS, c.n_layers
    )
    rule = period("attn_layer_period", "attn_layer_offset", HYBRID, LINEAR)
    return listed or [
        LINEAR if i < 2 else HYBRID if i == 2 else rule(c, i - 3) for i in range(c.n_layers)
    ]


def zamba2_layers(c: Config) -> list[str]:
    """Zamba 2: the list, or else that of the class, which is as long as one model."""
    listed = c.words("layers_block_type", MIXERS, c.n_layers) or c.words(
        "layer_types", MIXERS, c.n_layers
    )
    own = [
        LINEAR,
        *([LINEAR] * 5 + [HYBRID]) * 7,
        *[LINEAR] * 4,
        HYBRID,
        *[LINEAR] * 3,
        HYBRID,
        *[LINEAR] * 2,
    ]
    if listed is None and c.n_layers != len(own):
        c.fail("num_hidden_layers", f"{c.n_layers} layers need layers_block_type, which is missing")
    return listed or own


def twice_share(c: Config, i: int) -> int:
    """Zamba: a head has its share of the residual and the embedding beside it; another width, or a block for each layer, is an error."""
    width = 2 * c.whole("hidden_size")
    for name, own in (("attention_hidden_size", width), ("attention_head_dim", width // heads(c))):
        if c.maybe(name) not in (None, own):
            c.fail(name, f"is not {own}, which follows from hidden_size")
    if not c.flag("tie_word_embeddings"):
        c.fail(
            "tie_word_embeddings",
            "without tied weights the class shares no block, which is not read",
        )
    return width // heads(c)


def beside_shared(mixer: Recipe) -> Reader:
    return lambda c, i: made(mixer, c, i)


def adapter_rank(c: Config, i: int) -> int:
    """Zamba 2: the rank of the adapters; biases of the shared matrices are an error."""
    if c.flag("use_bias"):
        c.fail("add_bias_linear", "biases of a shared block are not read")
    return c.whole("adapter_rank")


ZAMBA_MAMBA2: Recipe = {**MAMBA2, "d_inner": shared_out, "conv_bias": True}
SHARED_BLOCK: Recipe = {
    "kind": "shared", "n_heads": heads, "n_kv_heads": kv_heads, "head_dim": twice_share, "d_ff": four_times("intermediate_size"), "shared_blocks": 1,
}  # fmt: skip
SHARED_WITH_ADAPTERS: Recipe = {
    **SHARED_BLOCK, "shared_blocks": whole("num_mem_blocks"), "adapter_rank": adapter_rank, "attention_adapters": flag("use_shared_attention_adapter"),
    "beside": beside_shared(ZAMBA_MAMBA2),
}  # fmt: skip
ZAMBA_MAMBA: Recipe = {**MAMBA, "d_inner": lambda c, i: c.whole("expand") * c.whole("hidden_size")}
ZAMBA_NAMES = {
    **HYBRID_NAMES, "num_heads": ("n_mamba_heads",), "mamba_head": ("mamba_headdim",), "n_groups": ("mamba_ngroups",), "use_bias": ("add_bias_linear",),
    "use_conv_bias": ("use_conv_bias",),
}  # fmt: skip


def plamo_layer(c: Config, i: int) -> str:
    """PLaMo 2: attention in the middle of every ``mamba_step`` layers, or in the last of few; of those, all but the listed have the window."""
    step = c.whole("mamba_step", least=2)
    attends = not c.flag("mamba_enabled") or (
        i == c.n_layers - 1 if c.n_layers <= step // 2 else i % step == step // 2
    )
    windowed = c.lists("full_attention_idx", i) is False
    return (
        LINEAR
        if not attends
        else SLIDING
        if windowed and c.maybe("attention_window_size")
        else FULL
    )


PLAMO: Recipe = {
    "kind": "mamba", "d_inner": lambda c, i: c.whole("num_heads") * c.whole("head_dim"), "d_state": whole("state_size"), "d_conv": whole("conv_kernel"),
    "dt_rank": lambda c, i: max(64, c.whole("hidden_size") // 16), "ssm_heads": whole("num_heads"), "mixer_norm": True, "conv_bias": False,
}  # fmt: skip


def rwkv_heads(c: Config, i: int) -> int:
    """RWKV-7: as many heads as the residual has room for; values of another width are an error."""
    width, head = c.whole("hidden_size"), c.whole("head_dim")
    if width % head:
        c.fail("head_dim", f"{head} does not divide hidden_size {width}")
    widths = c.wholes("value_dim") or []
    if widths.count(width) < len(widths):
        c.fail("value_dim", "values that are not as wide as the residual are not read")
    return width // head


def rwkv_width(c: Config, i: int) -> int:
    return c.maybe("intermediate_size") or c.whole("hidden_ratio") * c.whole("hidden_size")


RWKV7: Recipe = {
    "kind": "rwkv7", "linear_key_heads": rwkv_heads, "linear_value_heads": rwkv_heads, "linear_key_dim": whole("head_dim"), "linear_value_dim": whole("head_dim"),
    "decay_rank": whole("decay_low_rank_dim"), "erase_rank": whole("a_low_rank_dim"), "gate_rank": whole("gate_low_rank_dim"),
    "value_rank": lambda c, i: c.whole("v_low_rank_dim") if i else None, "norms": lambda c, i: 3 if i == 0 and c.flag("norm_first") else 2,
}  # fmt: skip


def griffin_words(c: Config) -> list[str]:
    """RecurrentGemma: a pattern of blocks, repeated; attention has the window."""
    pattern = c.words("block_types", {"recurrent": LINEAR, "attention": SLIDING}, None) or []
    return [pattern[i % len(pattern)] for i in range(c.n_layers)]


def griffin_blocks(c: Config, i: int) -> int:
    """RecurrentGemma: as many blocks of channels as heads, which share them out evenly."""
    width, blocks = griffin_width(c, i), heads(c)
    if width % blocks:
        c.fail("lru_width", f"{width} is not a multiple of num_attention_heads {blocks}")
    return blocks


def griffin_width(c: Config, i: int) -> int:
    return c.maybe("lru_width") or c.whole("hidden_size")


GRIFFIN: Recipe = {
    "kind": "rg_lru", "d_inner": griffin_width, "d_conv": whole("conv1d_width"), "ssm_heads": griffin_blocks, "in_bias": True, "out_bias": True, "conv_bias": True,
}  # fmt: skip

RWKV4: Recipe = {
    "kind": "rwkv4", "d_inner": lambda c, i: c.maybe("attention_hidden_size") or c.whole("hidden_size"), "norms": lambda c, i: 2 if i else 3,
}  # fmt: skip

RECURRENT_FAMILIES: Mapping[str, Family] = {
    "mamba": Family(f"MambaConfig of {V5}", MAMBA_SIZES | TIED, mixers={LINEAR: MAMBA}, mixing=ALL_LINEAR, feeding=NO_FEEDS, norm={"per_layer": 1}),
    "falcon_mamba": Family(f"FalconMambaConfig of {V5}", MAMBA_SIZES | TIED, mixers={LINEAR: MAMBA}, mixing=ALL_LINEAR, feeding=NO_FEEDS, norm={"per_layer": 1}),
    "mamba2": Family(
        f"Mamba2Config of {V5}",
        MAMBA_SIZES | {"vocab_size": 32768, "hidden_size": 4096, "state_size": 128, "num_hidden_layers": 64, "num_heads": 128, "mamba_head": 64, "n_groups": 8,
                       "tie_word_embeddings": False},
        mixers={LINEAR: MAMBA2}, mixing=ALL_LINEAR, feeding=NO_FEEDS, norm={"per_layer": 1}, names={"mamba_head": ("head_dim",)},
    ),
    "zamba": Family(
        f"ZambaConfig of {V524}",
        sizes(32000, 3712, None, 76, 16, None, state_size=16, conv_kernel=4, expand=2, time_step_rank="auto", use_conv_bias=True, use_bias=False,
              attn_layer_period=6, attn_layer_offset=4) | TIED,
        mixers={LINEAR: ZAMBA_MAMBA, HYBRID: {**SHARED_BLOCK, "beside": beside_shared(ZAMBA_MAMBA)}}, mixing=zamba_layers, feeding=NO_FEEDS, norm={"per_layer": 1},
        names=HYBRID_NAMES,
    ),
    "zamba2": Family(
        f"Zamba2Config of {V524}",
        sizes(32000, 2560, None, 54, 32, None, state_size=64, conv_kernel=4, expand=2, n_groups=1, num_heads=8, use_conv_bias=True, use_bias=False, num_mem_blocks=1,
              use_shared_attention_adapter=False, adapter_rank=128) | TIED,
        mixers={LINEAR: ZAMBA_MAMBA2, HYBRID: SHARED_WITH_ADAPTERS}, mixing=zamba2_layers, feeding=NO_FEEDS, norm={"per_layer": 1}, names=ZAMBA_NAMES,
    ),
    "jamba": Family(
        f"JambaConfig of {V5}",
        sizes(65536, 4096, 14336, 32, 32, 8, state_size=16, conv_kernel=4, expand=2, time_step_rank="auto", use_conv_bias=True, use_bias=False, num_experts=16,
              num_experts_per_tok=2, expert_layer_period=2, expert_layer_offset=1, attn_layer_period=8, attn_layer_offset=4),
        FLOORED, mixers={LINEAR: {**MAMBA, "d_inner": lambda c, i: c.whole("expand") * c.whole("hidden_size"), "mixer_norm": True}},
        experts=experts("num_experts", "intermediate_size"), mixing=each(period("attn_layer_period", "attn_layer_offset", FULL, LINEAR)),
        feeding=each(lambda c, i: period("expert_layer_period", "expert_layer_offset", SPARSE, DENSE)(c, i) if c.whole("num_experts") > 1 else DENSE),
        names={**HYBRID_NAMES, "num_experts": ("num_experts", "num_local_experts")},
    ),
    "bamba": Family(
        f"BambaConfig of {V5}", sizes(128000, 4096, 14336, 32, 32, 8, mlp_bias=False, **HYBRID_SIZES), FLOORED_BIASES, mixers={LINEAR: MAMBA2},
        ffn={**GATED, **MLP_BIAS}, mixing=each(indices("attn_layer_indices", FULL, LINEAR)), names=HYBRID_NAMES,
    ),
    "granitemoehybrid": Family(
        f"GraniteMoeHybridConfig of {V5}",
        sizes(32000, 4096, 11008, 32, 32, None, num_local_experts=8, num_experts_per_tok=2, shared_intermediate_size=1024, **HYBRID_SIZES),
        FLOORED_BIASES, mixers={LINEAR: MAMBA2}, ffn={"kind": "gated", "d_ff": whole("shared_intermediate_size")},
        experts=experts("num_local_experts", "intermediate_size", **one_shared("shared_intermediate_size")), mixing=typed(lambda c, i: LINEAR),
        feeding=shared_or_routed, names={**HYBRID_NAMES, "layer_types": ("layer_types", "layers_block_type")},
    ),
    "falcon_h1": Family(
        f"FalconH1Config of {V5}",
        sizes(128000, 4096, 14336, 32, 32, 8, mamba_d_ssm=1024, mamba_rms_norm=False, projectors_bias=False, mlp_bias=False, **HYBRID_SIZES),
        {**FLOORED_BIASES, "beside": beside_mamba2}, ffn={**GATED, **MLP_BIAS}, names=HYBRID_NAMES,
    ),
    "nemotron_h": Family(
        f"NemotronHConfig of {V5}",
        sizes(131072, 4096, 21504, None, 32, 8, head_dim=128, mlp_bias=False, state_size=128, num_heads=128, mamba_head=64, n_groups=8, conv_kernel=4,
              use_conv_bias=True, use_bias=False, n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=7688, moe_shared_expert_intermediate_size=7688),
        FLOORED, mixers={LINEAR: {**MAMBA2, "d_inner": lambda c, i: c.whole("num_heads") * c.whole("mamba_head")}, NOTHING: {"kind": "none"}},
        ffn={**PLAIN, **MLP_BIAS},
        experts=experts("n_routed_experts", "moe_intermediate_size", expert="plain", d_latent=maybe("moe_latent_size"), shared_bias=flag("mlp_bias"),
                        **one_shared("moe_shared_expert_intermediate_size")),
        mixing=lambda c: [word for word, _ in nemotron_layers(c)], feeding=lambda c: [word for _, word in nemotron_layers(c)], norm={"per_layer": 1},
        outer={"tied_embeddings": False},  # the class ties nothing, whatever the file says
        names={"state_size": ("ssm_state_size",), "num_heads": ("mamba_num_heads",), "mamba_head": ("mamba_head_dim",), "n_groups": ("mamba_n_groups", "n_groups"),
               "conv_kernel": ("mamba_d_conv", "conv_kernel"), "use_conv_bias": ("mamba_conv_bias", "use_conv_bias"),
               "n_routed_experts": ("n_routed_experts", "num_local_experts")},
    ),
    "rwkv": Family(
        f"RwkvConfig of {V524}",
        {"vocab_size": 50277, "max_position_embeddings": 1024, "hidden_size": 4096, "num_hidden_layers": 32, "attention_hidden_size": None, "intermediate_size": None,
         "tie_word_embeddings": False},
        mixers={LINEAR: RWKV4}, ffn={"kind": "plain", "d_ff": four_times("intermediate_size"), "result_gate": True}, mixing=ALL_LINEAR, norm=LAYER_NORM,
        names={"max_position_embeddings": ("context_length", "max_position_embeddings")},
    ),
    "recurrent_gemma": Family(
        f"RecurrentGemmaConfig of {V524}",
        sizes(256000, 2560, 7680, 26, 10, None, lru_width=None, sliding_window=2048, conv1d_width=4, attention_bias=False,
              block_types=["recurrent", "recurrent", "attention"]) | TIED,
        {**FLOORED, "qkv_bias": flag("attention_bias"), "out_bias": True}, mixers={LINEAR: GRIFFIN},
        ffn={"kind": "gated", "d_ff": lambda c, i: c.whole("intermediate_size") // 2, "bias": True}, mixing=griffin_words,
        names={"sliding_window": ("attention_window_size", "sliding_window")},
    ),
    "qwen3_next": Family(
        f"Qwen3NextConfig of {V5}",
        sizes(151936, 2048, 5632, 48, 16, 2, decoder_sparse_step=1, moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts_per_tok=10,
              num_experts=512, **DELTA_SIZES),
        GATED_FULL, mixers={LINEAR: GATED_DELTA}, experts=QWEN_SHARED, mixing=typed(linear_but_every("full_attention_interval")),
        feeding=each(sparse_by_step("num_experts")),
    ),
    "qwen3_5_text": Family(
        f"Qwen3_5TextConfig of {V5}", sizes(248320, 4096, 12288, 32, 16, 4, **DELTA_SIZES), GATED_FULL, mixers={LINEAR: GATED_DELTA},
        mixing=typed(linear_but_every("full_attention_interval")),
    ),
    "qwen3_5_moe_text": Family(
        f"Qwen3_5MoeTextConfig of {V5}",
        sizes(248320, 2048, None, 40, 16, 2, moe_intermediate_size=512, shared_expert_intermediate_size=512, num_experts_per_tok=8, num_experts=256, **DELTA_SIZES),
        GATED_FULL, mixers={LINEAR: GATED_DELTA}, experts=QWEN_SHARED, mixing=typed(linear_but_every("full_attention_interval")),
    ),
    "olmo_hybrid": Family(
        f"OlmoHybridConfig of {V5}",
        sizes(100352, 3840, 11008, 32, 30, None, attention_bias=False, linear_conv_kernel_dim=4, full_attention_interval=4),
        {**FLOORED_BIASES, "qk_norm": "full"}, mixers={LINEAR: OLMO_DELTA}, mixing=typed(linear_but_every("full_attention_interval")),
    ),
    "plamo2": Family(
        "Plamo2Config of the model's own code (huggingface.co/pfnet/plamo-2-1b)",
        sizes(32000, 4096, 13312, 32, 32, 4, head_dim=128, state_size=64, conv_kernel=4, num_heads=64, mamba_step=2, mamba_enabled=True, attention_window_size=None) | TIED,
        {**FLOORED, "qk_norm": "full"}, mixers={LINEAR: PLAMO, SLIDING: {**FLOORED, "qk_norm": "full", "window": whole("attention_window_size")}},
        mixing=each(plamo_layer), norm={"per_layer": 4},
        names={**HYBRID_NAMES, "head_dim": ("hidden_size_per_head",), "num_heads": ("mamba_num_heads",)},
    ),
    "rwkv7": Family(
        "RWKV7Config of flash-linear-attention (github.com/fla-org/flash-linear-attention)",
        {"vocab_size": 32000, "hidden_size": 2048, "hidden_ratio": 4, "num_hidden_layers": 24, "head_dim": 64, "decay_low_rank_dim": 64, "gate_low_rank_dim": 128,
         "a_low_rank_dim": 64, "v_low_rank_dim": 16, "norm_first": True, "norm_bias": True, "tie_word_embeddings": False},
        mixers={LINEAR: RWKV7}, ffn={"kind": "plain", "d_ff": rwkv_width}, mixing=ALL_LINEAR,
        norm={"kind": lambda c, i: "layer" if c.flag("norm_bias") else "rms", "per_layer": 2},
    ),
    "minimax": Family(
        f"MiniMaxConfig of {V5}", sizes(32000, 4096, 14336, 32, 32, 8, sliding_window=None, num_experts_per_tok=2, num_local_experts=8),
        FLOORED, mixers={LINEAR: LINEAR_ATTENTION}, experts=experts("num_local_experts", "intermediate_size"), mixing=typed(by_number),
        names={**LOCAL, "sliding_window": ()},  # no published model has one, and a file with one is told that it is not read
    ),
    "lfm2": Family(
        f"Lfm2Config of {V5}",
        sizes(65536, 2560, 12288, 32, 32, 8, conv_bias=False, conv_L_cache=3, block_multiple_of=256, block_ffn_dim_multiplier=1.0, block_auto_adjust_ff_dim=True) | TIED,
        {**FLOORED, "qk_norm": "head"}, mixers={CONV: SHORT_CONV}, ffn={"kind": "gated", "d_ff": lfm2_width}, mixing=typed(lfm2_attention),
        names={"tie_word_embeddings": ("tie_embedding", "tie_word_embeddings"), "intermediate_size": ("block_ff_dim", "intermediate_size")},
    ),
    "lfm2_moe": Family(
        f"Lfm2MoeConfig of {V5}",
        sizes(65536, 2048, 7168, 32, 32, 8, conv_bias=False, conv_L_cache=3, moe_intermediate_size=1792, num_dense_layers=2, num_experts_per_tok=4, num_experts=32) | TIED,
        {**FLOORED, "qk_norm": "head"}, mixers={CONV: SHORT_CONV}, experts=experts("num_experts", "moe_intermediate_size"), mixing=typed(lambda c, i: FULL),
        feeding=each(sparse_from("num_dense_layers")), names={"tie_word_embeddings": ("tie_embedding", "tie_word_embeddings")},
    ),
}  # fmt: skip
