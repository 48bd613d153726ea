"""What of a ``config.json`` was not read: keys that no recipe took, less those known to change no parameter, byte or operation.

A number from a file that is understood by halves is wrong without a sign of it, so what is left is named; where a family is only assumed, a key that
could carry structure stops the reading.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.strict_yaml import Location


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OTHER_PARTS = (
    "vision_config", "audio_config", "vit_config", "speech_config", "talker_config", "code2wav_config", "token2wav_config", "vq_config", "encoder_config",
    "perceiver_config", "projector_config", "vision_tower_config", "audio_encoder_config", "sound_config", "mm_projector_config", "qformer_config",
)  # fmt: skip
"""Objects that describe parts for images and sounds, which are counted nowhere and said to be left aside."""
AHEAD = (
    "num_nextn_predict_layers",
    "num_mtp_layers",
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "mtp_num_layers",
)
"""How many further layers predict tokens ahead: said to be left aside."""

NO_EFFECT = _words("""
_attn_implementation _attn_implementation_autoset _name_or_path _num_labels architectures attn_implementation auto_map base_model_name_or_path
bos_token_id dtype eos_token_id finetuning_task id2label label2id language license model_name model_type name pad_token_id prefix problem_type
sep_token_id tokenizer_class tokenizer_name torch_dtype transformers.js_config transformers_version unsloth_fixed unsloth_version
bad_words_ids begin_suppress_tokens cache_implementation chunk_size_feed_forward cross_attention_hidden_size decoder_start_token_id
diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id
generation_config is_decoder length_penalty max_length min_length no_repeat_ngram_size num_beam_groups num_beams
num_return_sequences output_attentions output_hidden_states output_past output_scores  remove_invalid_values repetition_penalty return_dict
return_dict_in_generate suppress_tokens task_specific_params temperature tf_legacy_loss tie_encoder_decoder top_k top_p torchscript typical_p
use_bfloat16 use_cache quantization_config compression_config quantization
activation activation_function act_fn gelu_activation hidden_act hidden_activation mamba_hidden_act mlp_hidden_act swiglu_limit swiglu_alpha
embed_pdrop attn_pdrop resid_pdrop summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj
attn_logit_softcapping final_logit_softcapping embedding_multiplier attention_multiplier logits_scaling residual_multiplier logit_scale
query_pre_attn_scalar scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx scale_attn_weights attention_softmax_in_fp32
reorder_and_upcast_attn masked_softmax_fusion slow_but_exact skip_bias_add residual_in_fp32 rescale_prenorm_residual fused_add_norm
fp32_residual_connection apply_query_key_layer_scaling attn_temperature_tuning attn_scale floor_scale attention_scale clip_qkv
initializer_range initializer_factor init_std init_device init_method embedding_init_std emb_init_range gradient_checkpointing layerdrop use_cut_cross_entropy
rope_theta rope_scaling rope_parameters rope_local_base_freq rope_percent rope_pct rope_interleave rope_interleaved rope_traditional rope_ratio rope_base
rotary rotary_base rotary_dim rotary_emb_base rotary_pct rotary_percent attn_rotary_emb partial_rotary_factor partial_rotary_factors mrope_section
use_mrope position_embedding_type alibi offset_alibi local_rope_theta global_rope_theta swa_rope_theta initial_context_length
original_max_position_embeddings model_max_length n_ctx seq_length max_seq_length max_sequence_length
aux_loss_alpha norm_topk_prob output_router_logits router_aux_loss_coef router_jitter_noise router_z_loss_coef routed_scaling_factor
moe_routed_scaling_factor moe_router_enable_expert_bias moe_router_use_sigmoid moe_router_topk_scaling_factor
scoring_func moe_router_activation_func score_function score_func seq_aux topk_method topk_group n_group ep_size
router_bias_update_speed input_jitter_noise router_scaling_factor moe_router_scaling_factor use_moe_router_bias use_routing_bias moe_renormalize
num_expert_group use_grouped_topk moe_router_dtype
indexer_rope_interleave index_share_for_mtp_iteration compress_rope_theta layer_rope_theta attention_value_scale
expert_dtype embd_pdrop emb_pdrop activation_situ_beta activation_situ_linear_beta lambda_std_dev hc_sinkhorn_iters
use_gemma_norm scale_embedding image_placeholder
apply_residual_connection_post_layernorm parallel_attn use_parallel_residual norm_eps layernorm_epsilon
mamba_chunk_size mamba_ssm_cache_dtype mamba_ssm_dtype time_step_floor time_step_init_scheme time_step_limit time_step_max time_step_min time_step_scale
use_mamba_kernels use_mambapy use_associative_scan num_logits_to_keep logits_to_keep pretraining_tp use_flash_attn use_flash_attention
use_flash_attention_2 flash_attn use_long_context use_kernel
ignore_index language_model_only mm_tokens_per_image spatial_merge_size vision_feature_layer vision_feature_select_strategy
use_unified_vision_chunk video_placeholder vision_soft_tokens_per_image multimodal_projector_bias projector_hidden_act mm_hidden_size
image_seq_length image_grid_pinpoints tokenizer_padding_side use_mtp
expert_dtype moe_router_dtype indexer_rope_interleave hc_sinkhorn_iters compress_rope_theta attention_value_scale activation_situ_beta
activation_situ_linear_beta mla_use_nope moe_renormalize num_expert_group use_grouped_topk image_placeholder process_image_mode img_token_compression_config
projector_hidden_size use_gemma_norm moe_router_scaling_factor
""")
"""Keys that change nothing that is counted: what the file is called, how text is chosen, activations, scales, rotations, losses, initial values."""
NO_EFFECT_ENDS = re.compile(
    r".*(?:_token_ids?|_token_index|_tokens?_index|dropout(?:_rate|_prob)?|_eps|_epsilon|_loss_coef|_loss_weight|_prompt_template)"
)

PAIRED = ("add_cross_attention", "is_encoder_decoder")
"""Fields that give the layers of a decoder an attention to an encoder, in any class that has them."""
BIASES = re.compile(r"(?:.*_)?bias(?:_.*)?")
OFF = frozenset([*PAIRED, "use_bidirectional_attention", "shared_intermediate_size", "shared_expert_intermediate_size", "use_qk_norm", "qk_layernorm", "moe_layer_num_skipped", "use_mla",
                 "use_cla", "first_k_dense_replace", "num_kv_shared_layers", "sliding_window", "n_shared_experts", "num_shared_experts", "use_post_norm", "attention_output_gate", "num_reward_heads"])  # fmt: skip
"""Keys that change nothing where they are off (biases are others)."""
ONE = frozenset(
    [
        "moe_layer_freq",
        "decoder_sparse_step",
        "interleave_moe_layer_step",
        "moe_every_n_layers",
        "expert_interval",
        "moe_layer_interval",
    ]
)
"""Keys that change nothing where they are 1: every layer."""
WINDOWED = frozenset(["sliding_window", "max_window_layers", "sliding_window_size"])
"""Keys that change nothing where the file switches windows off."""
REPEATED = {
    "experts_per_token": "num_experts_per_tok", "num_heads": "num_attention_heads", "n_layer": "num_hidden_layers", "n_layers": "num_hidden_layers",
    "num_layers": "num_hidden_layers", "dim": "hidden_size", "block_dim": "hidden_size", "conv_dim": "hidden_size", "conv_dim_out": "hidden_size",
    "n_embd": "hidden_size", "d_model": "hidden_size", "n_head": "num_attention_heads", "n_heads": "num_attention_heads", "sliding_window_size": "sliding_window",
    "attention_head_dim": "head_dim", "layer_switch": "sliding_window_pattern", "max_window_layers": "num_hidden_layers", "attention_window": "sliding_window",
    "moe_intermediate_size": "intermediate_size",
}  # fmt: skip
"""Keys that repeat another, and change nothing where they are equal to it."""
ONE_KIND = {
    "layer_types": ("full_attention", "attention"),
    "mlp_layer_types": ("dense",),
    "attn_type_list": (1,),
}
"""Lists of a word for each layer that change nothing where every layer is the plain one."""

WORDS = _words("""
activated attention attn block blocks cache chunk compress compressed compression compressor conv cross dense depth dim dims embd embedding embeddings
every expand expansion expert experts factor ffn freq frequency gate group groups hash head heads hidden idx idxs index indexer indices interleave
interleaved interval kernel kv latent layer layers linear local lora mamba memory mla mlp moe ngram norm num offset pattern patterns period proj
projection rank ranks ratio ratios recurrent recurrence repeat residual sequence share shared sharing sink sinks size sizes skip sliding sparse sparsity
ssm state states step stride swa top topk type types width window windows
""")
"""Words in the names of keys that carry structure."""
MOST_NAMED = 12


def unread(c: Config, without_effect: Collection[str]) -> list[tuple[Location, bool]]:
    """The keys of a file that nothing took and that are not ``without_effect`` in its family, those that could carry structure (true) first, each with its place."""
    left = [
        (place, could_be_structure(place[-1], value)) for place, value in _left(c, without_effect)
    ]
    return sorted(left, key=lambda entry: not entry[1])


def unread_text(left: list[tuple[Location, bool]]) -> str:
    """The keys in a sentence."""
    names = [".".join(map(str, place)) for place, _ in left]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def could_be_structure(key: object, value: Any) -> bool:
    """Whether a key of unknown meaning could say what a layer is made of: by a word of its name, or because it counts or lists something.

    >>> could_be_structure("engram_vocab", 8), could_be_structure("expert_pattern", "abc"), could_be_structure("comment", "abc")
    (True, True, False)
    """
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())
    counts = isinstance(value, (int, list, dict)) and not isinstance(value, bool)
    return counts or bool(WORDS & set(words))


def _left(c: Config, without_effect: Collection[str]) -> Iterator[tuple[Location, Any]]:
    """Every key around and in the language model that nothing took and that may have an effect."""
    data: Mapping[str, Any] = c.document.data
    for depth in range(len(c.place) + 1):
        inside = c.place[depth] if depth < len(c.place) else None
        for key, value in data.items():
            place = (*c.place[:depth], key)
            aside = (
                key == inside
                or (key in OTHER_PARTS and isinstance(value, dict))
                or (inside and _is_repeated(value, c.data.get(key)))
            )
            if aside or _is_known(c, without_effect, place, value):
                continue
            yield from _left_inside(c, without_effect, place, value)
        data = data[str(inside)] if inside else {}


def _left_inside(
    c: Config, without_effect: Collection[str], place: Location, value: Any
) -> Iterator[tuple[Location, Any]]:
    """A key, or, of an object that was looked into, those in it that nothing took."""
    if place not in c.consulted or not isinstance(value, dict):
        yield place, value
    else:
        for key, inner in value.items():
            if not _is_known(c, without_effect, (*place, key), inner):
                yield from _left_inside(c, without_effect, (*place, key), inner)


def _is_known(c: Config, without_effect: Collection[str], place: Location, value: Any) -> bool:
    """Whether a key was taken, states nothing, or changes nothing."""
    key = str(place[-1])
    if value is None or value == [] or value == {}:
        return True
    if place[:-1] == c.place and c.contradicts(key):
        return False
    if place in c.consulted and not isinstance(value, dict):
        return True
    if (
        key in NO_EFFECT
        or key in without_effect
        or NO_EFFECT_ENDS.fullmatch(key)
        or key in AHEAD
        or key.startswith("mtp_")
        or key in c.known
    ):
        return True
    if key == "qk_head_dim":
        return value == sum(  # type: ignore[no-any-return]
            c.data.get(part, 0)
            for part in ("qk_nope_head_dim", "qk_rope_head_dim")
            if isinstance(c.data.get(part), int)
        )
    if key == "use_sliding_window" and value is False:
        return (*c.place, "sliding_window") not in c.consulted or c.data.get(
            "sliding_window"
        ) is None
    if value is False or value == 0:
        return key in OFF or bool(BIASES.fullmatch(key))
    if key in ONE_KIND and isinstance(value, list):
        return all(entry in ONE_KIND[key] for entry in value)
    if key in WINDOWED and not c.data.get("use_sliding_window", True):
        return True
    return (key in ONE and value == 1) or _repeats_another(c, key, value)


def _repeats_another(c: Config, key: str, value: Any) -> bool:
    """Whether a key says again what another one says that was taken."""
    other = REPEATED.get(key, "")
    return (*c.place, other) in c.consulted and _is_repeated(
        value, c.data.get(other, c.defaults.get(other))
    )


def _is_repeated(value: Any, read: Any) -> bool:
    """Whether a value, or every entry of a list, is the one that was read."""
    return read is not None and (
        value == read or (isinstance(value, list) and all(entry == read for entry in value))
    )
