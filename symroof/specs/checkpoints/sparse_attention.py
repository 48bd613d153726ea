"""Families that read a part of their cache, or keep a part of it: chosen keys, compressed entries, Kimi's delta attention."""

from collections.abc import Mapping
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.experts import LATENT_SIZES, LOCAL, ROUTED, ROUTED_SHARED
from symroof.specs.checkpoints.family import V524, Family, sizes
from symroof.specs.checkpoints.layer_layouts import (
    DENSE,
    FULL,
    INDEXED,
    LINEAR,
    MIXERS,
    SLIDING,
    SPARSE,
    Rule,
    feed_typed,
    linear_but_every,
    pattern_of,
    sparse_from,
    typed,
)
from symroof.specs.checkpoints.recipes import (
    FLOORED,
    LATENT,
    Reader,
    Recipe,
    experts,
    flag,
    heads,
    maybe,
    one_shared,
    times_shared,
    whole,
)

INDEX_SIZES = {"index_topk": 2048, "index_head_dim": 128, "index_n_heads": 64}
INDEXER: Recipe = {
    **LATENT,
    "index_heads": whole("index_n_heads"),
    "index_dim": whole("index_head_dim"),
    "index_topk": whole("index_topk"),
}
ROUTED_LATENT = {
    "moe_intermediate_size": 2048,
    "n_shared_experts": 1,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
}
WINDOWED, HEAVY, CHOSEN = SLIDING, "heavily_compressed_attention", "compressed_sparse_attention"
RATIOS = {0: WINDOWED, 4: CHOSEN, 128: HEAVY}


def scores_itself(rule: Rule) -> Rule:
    """Whether a layer has an indexer, or takes the keys that an earlier layer chose: by a list, a pattern of letters, or a rule."""

    def read(c: Config, i: int) -> str:
        words = c.words("indexer_types", {"full": "full", "shared": "shared"}, c.n_layers)
        if words is None and isinstance(c.raw("index_topk_pattern"), str):
            pattern = c.text("index_topk_pattern") or ""
            if len(pattern) != c.n_layers or set(pattern) - set("FS"):
                c.fail("index_topk_pattern", f"expected F or S for each of {c.n_layers} layers")
            words = ["full" if letter == "F" else "shared" for letter in pattern]
        return words[i] if words else rule(c, i)

    return read


def glm_index(c: Config, i: int) -> str:
    """GLM: the first layers have an indexer, then the last of every ``index_topk_freq``."""
    every, offset = c.maybe("index_topk_freq") or 1, c.maybe("index_skip_topk_offset", 0)
    return "shared" if max(i - (2 if offset is None else offset) + 1, 0) % every else "full"


def hunyuan_index(c: Config, i: int) -> str:
    return "full" if i == 0 or (i - 1) % 4 == 0 else "shared"


def where_scored(rule: Rule) -> Recipe:
    """An indexer in the layers that have one."""
    own = scores_itself(rule)

    def only(name: str) -> Reader:
        return lambda c, i: c.whole(name) if own(c, i) == "full" else None

    return {**INDEXER, "index_heads": only("index_n_heads"), "index_dim": only("index_head_dim")}


# --------------------------------------------------------------------------------------------------------- DeepSeek-V4


def v4_words(c: Config) -> list[str]:
    """DeepSeek-V4: a list of kinds, or of the tokens in an entry (0 for none), which may go on behind the last layer; or every second."""
    known = {word: word for word in (WINDOWED, HEAVY, CHOSEN)}
    words = c.words("layer_types", known, None)
    if words is None and (ratios := c.wholes("compress_ratios")) is not None:
        if unknown := set(ratios) - set(RATIOS):
            c.fail(
                "compress_ratios", f"has {min(unknown)}; known are {', '.join(map(str, RATIOS))}"
            )
        words = [RATIOS[ratio] for ratio in ratios]
    if words is None:
        words = [HEAVY if i < 2 or i % 2 == 0 else CHOSEN for i in range(c.n_layers)]
    if len(words) < c.n_layers:
        c.fail(
            "layer_types" if c.states("layer_types") else "compress_ratios",
            f"has {len(words)} entries for {c.n_layers} layers",
        )
    return words[: c.n_layers]


def tokens_of_entry(word: str, older: str, default: int) -> Reader:
    """Tokens that one entry of a kind of layer stands for."""

    def read(c: Config, i: int) -> int:
        rate = c.inside("compress_rates", {word: default}).maybe(word) or default
        return c.maybe(older) or rate

    return read


V4: Recipe = {
    "kind": "compressed", "n_heads": heads, "head_dim": whole("head_dim"), "q_lora_rank": whole("q_lora_rank"), "window": whole("sliding_window"),
    "out_rank": whole("o_lora_rank"), "out_groups": whole("o_groups"),
}  # fmt: skip
V4_CHOSEN: Recipe = {
    **V4, "compress_rate": tokens_of_entry(CHOSEN, "compress_rate_csa", 4), "index_heads": whole("index_n_heads"), "index_dim": whole("index_head_dim"),
    "index_topk": whole("index_topk"),
}  # fmt: skip


def hyper(residual: bool) -> Reader:
    """Copies of the residual by the field that DeepSeek and Hunyuan have."""
    return lambda c, i: {"copies": c.whole("hc_mult"), "residual": residual}


# ------------------------------------------------------------------------------------------------------------ MiniMax 3


def m3_field(name: str, older: str) -> Reader:
    """MiniMax-M3: a field of its own, or in an object of older files."""
    return lambda c, i: c.inside("sparse_attention_config").maybe(older) or c.whole(name)


def m3_mixing(c: Config, i: int) -> str:
    sparse = c.inside("sparse_attention_config", {"use_sparse_attention": True})
    listed = (
        sparse.wholes("sparse_attention_freq", c.n_layers)
        if sparse.flag("use_sparse_attention")
        else None
    )
    return INDEXED if listed and listed[i] else FULL


M3: Recipe = {**FLOORED, "qk_norm": "head"}
M3_CHOSEN: Recipe = {
    **M3, "index_heads": m3_field("index_n_heads", "sparse_num_index_heads"), "index_dim": m3_field("index_head_dim", "sparse_index_dim"),
    "index_topk": lambda c, i: m3_field("index_block_size", "sparse_block_size")(c, i) * m3_field("index_topk_blocks", "sparse_topk_blocks")(c, i),
}  # fmt: skip

# -------------------------------------------------------------------------------------------------- Kimi's delta attention


def kimi_inside(c: Config) -> Config:
    """Kimi: what files of the model's own code say of its linear layers."""
    return c.inside("linear_attn_config")


def kimi_mixing(c: Config, i: int) -> str:
    """Kimi: a list of the full layers, counted from 1, or else every fourth but the first."""
    listed = kimi_inside(c).wholes("full_attn_layers", least=1)
    return (
        (FULL if i + 1 in listed else LINEAR)
        if listed is not None
        else FULL
        if i and i % 4 == 0
        else LINEAR
    )


def kimi_size(name: str, inner: str) -> Reader:
    return lambda c, i: kimi_inside(c).maybe(inner) or c.whole(name)


def delta(n_heads: Reader, width: Reader, taps: Reader, **more: Any) -> Recipe:
    """Kimi delta attention of heads that are equal for keys and values."""
    return {
        "kind": "kimi_delta", "linear_key_heads": n_heads, "linear_value_heads": n_heads, "linear_key_dim": width, "linear_value_dim": width, "d_conv": taps, **more,
    }  # fmt: skip


def summed_residuals(c: Config, i: int) -> dict[str, int] | None:
    """Kimi K3: so many layers are summed for the later ones to weigh."""
    group = c.maybe("attn_res_block_size", 0)
    return {"group": group} if group else None


KIMI_DELTA = delta(
    kimi_size("linear_num_heads", "num_heads"), kimi_size("linear_head_dim", "head_dim"), kimi_size("linear_conv_kernel_dim", "short_conv_kernel_size"),
    full_gate=lambda c, i: kimi_inside(c).flag("use_full_rank_gate"),
)  # fmt: skip
KIMI_NAMES = {
    "num_experts": ("num_experts", "num_local_experts"), "num_experts_per_tok": ("num_experts_per_token", "num_experts_per_tok"),
    "num_shared_experts": ("num_shared_experts", "n_shared_experts"), "max_position_embeddings": ("model_max_length", "max_position_embeddings"),
}  # fmt: skip
KIMI_EXPERTS = experts(
    "num_experts",
    "moe_intermediate_size",
    **times_shared("num_shared_experts", "moe_intermediate_size"),
)


def ling_size(name: str, older: str) -> Reader:
    """Ling: sizes of the linear layers, which the class takes from those of the others where a file has none."""
    return lambda c, i: c.maybe(name) or c.whole(older)


LING_DELTA = delta(
    ling_size("linear_num_heads", "num_attention_heads"), ling_size("linear_head_dim", "head_dim"), ling_size("linear_conv_kernel_dim", "short_conv_kernel_size"),
    full_decay=True, full_gate=True,
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- LongCat


def longcat_words(mixing: bool) -> Any:
    """LongCat: a layer is two, each with attention and a dense block; the experts stand beside the first."""
    return lambda c: [FULL, FULL] * c.n_layers if mixing else [SPARSE, DENSE] * c.n_layers


def longcat_nope(c: Config, i: int) -> int:
    """LongCat: a width of queries and keys that is not that of both their parts is an error."""
    nope, rope, both = (
        c.whole("qk_nope_head_dim"),
        c.whole("qk_rope_head_dim"),
        c.maybe("qk_head_dim"),
    )
    if both is not None and both != nope + rope:
        c.fail("qk_head_dim", f"{both} is not qk_nope_head_dim {nope} + qk_rope_head_dim {rope}")
    return nope


LONGCAT_EXPERTS: Recipe = {
    "kind": "moe", "n_experts": whole("n_routed_experts"), "n_zero_experts": maybe("zero_expert_num", 0), "experts_per_token": whole("moe_topk"),
    "d_expert": whole("expert_ffn_hidden_size"), "n_shared_experts": 1, "d_shared": whole("ffn_hidden_size"), "router_bias": flag("router_bias"),
}  # fmt: skip

# --------------------------------------------------------------------------------------------------------- Dots 3


DOTS: Recipe = {**LATENT, "head_gate": True, "rope_norm": True}
DOTS_LOCAL_SIZES = {
    "num_attention_heads": 64,
    "q_lora_rank": 1024,
    "kv_lora_rank": 1024,
    "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}


def dots_local(name: str) -> Reader:
    """Dots 3: a width of windowed layers, by the layer's own fields or by those whose names begin with ``swa_``."""

    def read(c: Config, i: int) -> int:
        if c.states("per_layer_config"):
            return c.whole(name)
        return c.maybe(f"swa_{name}") or DOTS_LOCAL_SIZES[name]

    return read


DOTS_LOCAL: Recipe = {
    **DOTS, "n_heads": dots_local("num_attention_heads"), "kv_lora_rank": dots_local("kv_lora_rank"), "q_lora_rank": dots_local("q_lora_rank"),
    "qk_nope_dim": dots_local("qk_nope_head_dim"), "qk_rope_dim": dots_local("qk_rope_head_dim"), "value_dim": dots_local("v_head_dim"),
    "window": whole("sliding_window"),
}  # fmt: skip


def dots_words(c: Config) -> list[str]:
    """Dots 3: full layers of older files choose their keys too, unless ``use_dsa`` says otherwise."""
    words = c.words("layer_types", MIXERS, c.n_layers) or [
        INDEXED if i < 2 or i % 4 == 1 else SLIDING for i in range(c.n_layers)
    ]
    older = c.flag("use_dsa") if c.states("use_dsa") else not c.states("per_layer_config")
    return [INDEXED if word == FULL and older else word for word in words]


SPARSE_ATTENTION_FAMILIES: Mapping[str, Family] = {
    "deepseek_v32": Family(
        f"DeepseekV32Config of {V524}", sizes(129280, 7168, 18432, 61, 128, 128, **LATENT_SIZES, **ROUTED_LATENT, **INDEX_SIZES), INDEXER,
        experts=ROUTED_SHARED, feeding=feed_typed(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "glm_moe_dsa": Family(
        f"GlmMoeDsaConfig of {V524}",
        sizes(154880, 6144, 12288, 78, 64, 64, kv_lora_rank=512, q_lora_rank=2048, qk_nope_head_dim=192, qk_rope_head_dim=64, v_head_dim=256, attention_bias=False,
              **ROUTED_LATENT, **{**INDEX_SIZES, "index_n_heads": 32}),
        where_scored(glm_index), experts=ROUTED_SHARED, feeding=feed_typed(sparse_from("first_k_dense_replace")), names=ROUTED,
    ),
    "hy_v4": Family(
        f"HYV4Config of {V524}",
        sizes(120832, 2816, 6912, 34, 32, 32, kv_lora_rank=512, q_lora_rank=1536, qk_nope_head_dim=192, qk_rope_head_dim=64, v_head_dim=256, attention_bias=False,
              moe_intermediate_size=768, n_shared_experts=1, n_routed_experts=256, num_experts_per_tok=8, index_topk=2048, index_head_dim=128, index_n_heads=16, hc_mult=4),
        {**where_scored(hunyuan_index), "sinks": True, "out_gate": True}, experts=ROUTED_SHARED, feeding=feed_typed(lambda c, i: SPARSE if i else DENSE),
        outer={"hyper_connections": hyper(residual=False)}, names=ROUTED,
    ),
    "dots3_note_text": Family(
        f"Dots3NoteTextConfig of {V524}",
        sizes(152064, 5120, 13824, 46, 128, 128, kv_lora_rank=512, q_lora_rank=1024, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, attention_bias=False,
              moe_intermediate_size=1536, n_shared_experts=1, n_routed_experts=256, num_experts_per_tok=8, first_k_dense_replace=1, sliding_window=512, shared_experts_intermediate_size=1536, **INDEX_SIZES),
        DOTS, mixers={INDEXED: {**DOTS, **{name: INDEXER[name] for name in ("index_heads", "index_dim", "index_topk")}}, SLIDING: DOTS_LOCAL},
        experts=experts("n_routed_experts", "moe_intermediate_size", **times_shared("n_shared_experts", "shared_experts_intermediate_size")), mixing=dots_words,
        feeding=feed_typed(pattern_of("moe_layer_freq", SPARSE, DENSE, sparse_from("first_k_dense_replace"))),
        names={**ROUTED, "sliding_window": ("sliding_window", "sliding_window_size"),
               "shared_experts_intermediate_size": ("shared_experts_intermediate_size", "moe_shared_expert_intermediate_size")},
    ),
    "deepseek_v4": Family(
        f"DeepseekV4Config of {V524}",
        {"vocab_size": 129280, "hidden_size": 4096, "num_hidden_layers": 43, "num_attention_heads": 64, "head_dim": 512, "q_lora_rank": 1024, "sliding_window": 128,
         "o_groups": 8, "o_lora_rank": 1024, "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512, "hc_mult": 4, "moe_intermediate_size": 2048,
         "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6, "mlp_bias": False, "tie_word_embeddings": False},
        mixers={WINDOWED: V4, HEAVY: {**V4, "compress_rate": tokens_of_entry(HEAVY, "compress_rate_hca", 128)}, CHOSEN: V4_CHOSEN},
        experts=experts("n_routed_experts", "moe_intermediate_size", n_shared_experts=1, d_shared=whole("moe_intermediate_size"), shared_bias=flag("mlp_bias")),
        mixing=v4_words, outer={"hyper_connections": hyper(residual=True)},
        names={**ROUTED, "moe_intermediate_size": ("moe_intermediate_size", "intermediate_size")},
    ),
    "minimax_m3_vl_text": Family(
        f"MiniMaxM3VLTextConfig of {V524}",
        sizes(200064, 6144, 3072, 60, 64, 4, head_dim=128, dense_intermediate_size=12288, shared_intermediate_size=3072, num_local_experts=128, num_experts_per_tok=4,
              index_n_heads=4, index_head_dim=128, index_block_size=128, index_topk_blocks=16),
        M3, mixers={INDEXED: M3_CHOSEN}, ffn={"kind": "gated", "d_ff": whole("dense_intermediate_size")},
        experts=experts("num_local_experts", "intermediate_size", **one_shared("shared_intermediate_size")), mixing=typed(m3_mixing),
        feeding=feed_typed(pattern_of("moe_layer_freq", SPARSE, DENSE, lambda c, i: SPARSE)), names=LOCAL,
    ),
    "kimi_linear": Family(
        f"KimiLinearConfig of {V524}",
        sizes(163840, 2304, 9216, 27, 32, 32, **{**LATENT_SIZES, "q_lora_rank": None}, linear_num_heads=32, linear_head_dim=128, linear_conv_kernel_dim=4,
              moe_intermediate_size=1024, num_experts=256, num_experts_per_tok=8, num_shared_experts=1, first_k_dense_replace=1),
        {**LATENT, "out_gate": flag("mla_use_output_gate")}, mixers={LINEAR: KIMI_DELTA},
        experts={**KIMI_EXPERTS, "d_latent": maybe("routed_expert_hidden_size"), "latent_norm": flag("latent_moe_use_norm")}, mixing=typed(kimi_mixing),
        feeding=feed_typed(sparse_from("first_k_dense_replace")),
        outer={"tied_embeddings": False, "attention_residuals": summed_residuals}, names=KIMI_NAMES,
    ),
    "bailing_hybrid": Family(
        f"BailingHybridConfig of {V524}",
        sizes(157184, 2560, 6144, 42, 32, 32, **{**LATENT_SIZES, "q_lora_rank": None}, head_dim=128, short_conv_kernel_size=4, layer_group_size=6,
              moe_intermediate_size=768, num_experts=512, num_experts_per_tok=8, num_shared_experts=1, first_k_dense_replace=2),
        {**LATENT, "head_gate": True}, mixers={LINEAR: LING_DELTA}, experts=KIMI_EXPERTS,
        mixing=typed(linear_but_every("layer_group_size")), feeding=feed_typed(sparse_from("first_k_dense_replace")), outer={"tied_embeddings": False}, names=KIMI_NAMES,
    ),
    "longcat_flash": Family(
        f"LongcatFlashConfig of {V524}",
        {"vocab_size": 131072, "hidden_size": 6144, "num_hidden_layers": 28, "num_attention_heads": 64, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048,
         "n_routed_experts": 512, "zero_expert_num": 256, "moe_topk": 12, "tie_word_embeddings": False, **LATENT_SIZES},
        {**LATENT, "qk_nope_dim": longcat_nope}, ffn={"kind": "gated", "d_ff": whole("ffn_hidden_size")}, experts=LONGCAT_EXPERTS, mixing=longcat_words(mixing=True), feeding=longcat_words(mixing=False),
        names={"num_hidden_layers": ("num_layers",), "moe_topk": ("moe_topk", "num_experts_per_tok"), "n_routed_experts": ("n_routed_experts", "num_local_experts"),
               "ffn_hidden_size": ("ffn_hidden_size", "intermediate_size"), "expert_ffn_hidden_size": ("expert_ffn_hidden_size", "moe_intermediate_size")},
    ),
}  # fmt: skip
