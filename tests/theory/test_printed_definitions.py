"""The formulas that rows, phases and devices make, as a reader sees them: few names, each with its part of a model, of a step, of a device."""

import pytest

from symroof.formula.text import text
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.totals import counting

from .test_case import made

OUT = "head_flops_per_row*{step}_logit_rows"
HEAD = "head_activation_bytes_per_row*{step}_logit_rows"
TWO_KINDS = Architecture(
    (Layer(label="local", reach="window", own=frozenset({"n_layers"})), Layer(label="full", feed_forward="moe", own=frozenset({"n_layers"}))),
    order=("local", "full"),
)
LATENT = Architecture((Layer(mixers=("mla", "mamba2"), feed_forward="none"),))
EXPERTS = Architecture((Layer(feed_forward="moe"),))
CONVOLUTION = Architecture((Layer(mixers=("conv",), feed_forward="none"),))
COPIES = Architecture((Layer(mixers=(), feed_forward="none", norms=0, traits=frozenset({"layer_input", "altup"})),))
DENSE = {"d_model": 64, "n_layers": 8, "n_heads": 8, "n_kv_heads": 8}
FULLEST = "of_largest(memory_bytes_per_device.first, {0}.first, memory_bytes_per_device.last, {0}.last)"


def steps(formula):
    """A formula of every step."""
    return {f"{step}_{name}": text.format(step=step) for step in ("prefill", "decode", "verify", "loaded") for name, text in formula.items()}


MODELS = [
    (
        GENERIC,
        {
            **steps({
                "flops": f"linear_flops_per_token*{{step}}_tokens + attention_flops_per_pair*{{step}}_pairs + {OUT}",
                "bytes": f"weight_bytes_read + activation_bytes_per_token*{{step}}_tokens + kv_bytes_per_token*{{step}}_span + {HEAD}",
                "vector_elements": "{step}_tokens*n_layers*d_model",
                "flops_per_device": "{step}_flops",
                "bytes_per_device": "{step}_bytes",
                "link_time": "0",
            }),
            "active_params": "params - vocab_size*d_model",
            "weight_bytes": "params*weight_bytes_per_param",
            "kv_cache_bytes": "kv_bytes_per_token*batch*context",
            "state_bytes": "0", "expert_layers": "0", "score_traffic": "0", "all_reduces": "0", "stage_send_time": "0",
            "message_bytes": "decode_tokens*d_model*link_bytes_per_element",
            "prefill_attention_flops": "attention_flops_per_pair*prefill_pairs",
            "prefill_linear_flops": f"linear_flops_per_token*prefill_tokens + {OUT.format(step='prefill')}",
            "decode_busy_time": "decode_roofline_time + decode_link_time",
            "prefill_time": "prefill_roofline_time + prefill_link_time",
            "memory_bytes_per_device": "weight_bytes + peak_kv_cache_bytes + state_bytes + memory_reserve",
            "n_layers": None, "fixed_weight_bytes": None, "expert_flops_per_token": None, "expert_weight_bytes": None, "copied_weight_bytes": None,
        },
    ),
    (
        TWO_KINDS,  # layers behind a window; layers with experts
        {
            "n_layers": "n_layers.local + n_layers.full",
            "expert_layers": "n_layers.full",
            "attention_flops_per_pair": "attention_flops_per_pair.local + attention_flops_per_pair.full",
            "kv_bytes_per_token": "kv_bytes_per_token.local + kv_bytes_per_token.full",
            "kv_bytes_per_token.local": "2*n_layers.local*n_kv_heads*head_dim*kv_bytes_per_element",
            "kv_cache_bytes": "kv_bytes_per_token.local*batch*min(context, window) + kv_bytes_per_token.full*batch*context",
            "weight_bytes_read": "fixed_weight_bytes + expert_weight_bytes*experts_read",
            "expert_weight_bytes": "3*n_layers.full*d_model*d_expert*weight_bytes_per_param",
            "expert_flops_per_token": "6*n_layers.full*experts_per_token*d_model*d_expert",
            "expert_activation_bytes_per_token": "n_layers.full*experts_per_token*(2*d_model + 3*d_expert)*act_bytes_per_element",
            "active_params": "params - 3*n_layers.full*(n_experts - experts_per_token)*d_model*d_expert - vocab_size*d_model",
            **steps({"flops": f"linear_flops_per_token*{{step}}_tokens + attention_flops_per_pair.local*{{step}}_pairs.window + attention_flops_per_pair.full*{{step}}_pairs + {OUT}"}),
            "decode_bytes": "fixed_weight_bytes + activation_bytes_per_token*decode_tokens + kv_bytes_per_token.local*decode_span.window + kv_bytes_per_token.full*decode_span"
                            f" + expert_weight_bytes*experts_read + {HEAD.format(step='decode')}",
            "prefill_attention_flops": "attention_flops_per_pair.local*prefill_pairs.window + attention_flops_per_pair.full*prefill_pairs",
        },
    ),
    (
        LATENT,  # what a prompt costs is not what a token costs; a state beside the cache
        {
            "state_bytes": "batch*state_bytes_per_request",
            "kv_bytes_per_token": "n_layers*(kv_lora_rank + qk_rope_dim)*kv_bytes_per_element",
            "attention_flops_per_pair": "2*n_layers*n_heads*(2*kv_lora_rank + qk_rope_dim)",
            "attention_flops_per_pair.prompt": "2*n_layers*n_heads*(qk_nope_dim + qk_rope_dim + value_dim)",
            "decode_flops": f"linear_flops_per_token*decode_tokens + attention_flops_per_pair*decode_pairs + {OUT.format(step='decode')}",
            "prefill_flops": f"linear_flops_per_token.prompt*prefill_tokens + expansion_flops_per_token.prompt*prefill_span + attention_flops_per_pair.prompt*prefill_pairs + {OUT.format(step='prefill')}",
            "mixed_flops": "linear_flops_per_token.prompt*mixed_tokens.prompt + expansion_flops_per_token.prompt*mixed_span.prompt + attention_flops_per_pair.prompt*mixed_pairs.prompt"
                           f" + {OUT.format(step='mixed')} + linear_flops_per_token*mixed_tokens.token + attention_flops_per_pair*mixed_pairs.token",
            "mixed_bytes": "weight_bytes_read + activation_bytes_per_token.prompt*mixed_tokens.prompt + expansion_bytes_per_token.prompt*mixed_span.prompt + kv_bytes_per_token*mixed_span"
                           f" + state_bytes_per_request*mixed_state_moves + {HEAD.format(step='mixed')} + activation_bytes_per_token*mixed_tokens.token",
            "mixed_tokens.prompt": "chunk", "mixed_tokens.token": "batch", "mixed_tokens": "chunk + batch", "mixed_span": "chunk_past + chunk + batch*context",
            "prefill_linear_flops": f"linear_flops_per_token.prompt*prefill_tokens + expansion_flops_per_token.prompt*prefill_span + {OUT.format(step='prefill')}",
            "memory_bytes_per_device": "weight_bytes + peak_kv_cache_bytes + state_bytes + memory_reserve",
        },
    ),
]  # fmt: skip
ALL_REDUCES = "2*n_layers*(link_latency + 2*(tp - 1)/tp*decode_tokens*d_model*link_bytes_per_element/(link_share*link_bandwidth))"
ROOM = "usable_memory_per_device - memory_reserve - weight_bytes_per_device"
DEVICES = [
    (
        GENERIC, {"tp": 4},  # whose dimensions are not known: even shares
        {"kv_cache_bytes_per_device": "kv_cache_bytes/tp", "weight_bytes_per_device": "weight_bytes/tp", "copied_weight_bytes": None, "state_bytes_per_device": "0",
         "decode_flops_per_device": "decode_flops/tp", "all_reduces": "2*n_layers", "decode_link_time": ALL_REDUCES, "instance_devices": "tp",
         "kv_bytes_per_token_per_device": None, "linear_flops_per_token_per_device": None, "head_activation_bytes_per_row_per_device": "(d_model + vocab_size/tp)*act_bytes_per_element"},
    ),
    (
        GENERIC, {"tp": 4, **DENSE},  # norms are copied
        {"kv_cache_bytes_per_device": "kv_cache_bytes/tp", "copied_weight_bytes": "(2*n_layers + 1)*d_model*weight_bytes_per_param",
         "weight_bytes_per_device": "(weight_bytes - copied_weight_bytes)/tp + copied_weight_bytes", "decode_flops_per_device": "decode_flops/tp"},
    ),
    (
        GENERIC, {"tp": 4, **DENSE, "n_kv_heads": 2},  # and heads where there are too few
        {"kv_cache_bytes_per_device": "kv_bytes_per_token_per_device*batch*context",
         "kv_bytes_per_token_per_device": "2*n_layers*ceil(n_kv_heads/tp)*head_dim*kv_bytes_per_element",
         "weight_bytes_per_device": "(weight_bytes - copied_weight_bytes - n_layers*d_model*(n_heads + 2*n_kv_heads)*head_dim*weight_bytes_per_param)/tp"
                                    " + n_layers*d_model*(n_heads/tp + 2*ceil(n_kv_heads/tp))*head_dim*weight_bytes_per_param + copied_weight_bytes",
         "decode_flops_per_device": "linear_flops_per_token_per_device*decode_tokens + attention_flops_per_pair/tp*decode_pairs + head_flops_per_row/tp*decode_logit_rows"},
    ),
    (
        GENERIC, {"attention_dp": 2, **DENSE},  # each group has all of it, and its own requests
        {"kv_cache_bytes_per_device": "kv_bytes_per_token*ceil(batch/attention_dp)*context", "weight_bytes_per_device": "weight_bytes", "decode_tokens.group": "ceil(batch/attention_dp)",
         "decode_flops_per_device": "linear_flops_per_token*decode_tokens.group + attention_flops_per_pair*decode_pairs.group + head_flops_per_row*decode_logit_rows.group",
         "decode_vector_elements": "decode_tokens.group*n_layers*d_model", "message_bytes": "decode_tokens.group*d_model*link_bytes_per_element", "decode_link_time": "0",
         "loaded_tokens.group": "piece_prompts/attention_dp*piece + ceil(batch/attention_dp)", "concurrency": f"attention_dp*max(floor(({ROOM})/request_bytes_per_device), 0)"},
    ),
    (
        EXPERTS, {"attention_dp": 2, **DENSE},  # but experts work for all groups
        {"weight_bytes_per_device": "weight_bytes - 3*n_layers*n_experts*d_model*d_expert*weight_bytes_per_param + n_layers*n_experts*(3*d_model*d_expert/attention_dp)*weight_bytes_per_param",
         "experts_read": "n_experts*(1 - (1 - experts_per_token/n_experts)**decode_tokens)", "prefill_batch": "attention_dp", "ep": "attention_dp",
         "expert_weight_bytes_per_device": None, "kv_bytes_per_token_per_device": None},
    ),
    (
        EXPERTS, {"attention_dp": 2, "pp": 2, **DENSE},  # in a pass, all groups draw
        {"experts_read.pass": "n_experts*(1 - (1 - experts_per_token/n_experts)**decode_tokens.pass)"},
    ),
    (
        TWO_KINDS, {"attention_dp": 2, "d_model": 64},
        {"kv_cache_bytes_per_device": "kv_bytes_per_token.local*ceil(batch/attention_dp)*min(context, window) + kv_bytes_per_token.full*ceil(batch/attention_dp)*context"},
    ),
    (
        CONVOLUTION, {"tp": 2, "d_model": 64, "n_layers": 2},  # cut along the residual on one side, whole on the other
        {"activation_bytes_per_token_per_device": "n_layers*(2*d_model + 3*d_model/tp + d_model/tp)*act_bytes_per_element",
         "state_bytes_per_device": "n_layers*(d_model*d_conv/tp)*act_bytes_per_element*batch",
         "linear_flops_per_token_per_device": "n_layers*(2*d_model*(3*d_model/tp) + 2*d_model*d_conv/tp + 2*(d_model/tp)*d_model)"},
    ),
    (
        COPIES, {"tp": 2, "d_model": 64, "n_layers": 2},  # what is neither heads nor a feed-forward layer is copied, but for the narrow products
        {"activation_bytes_per_token_per_device": "n_layers*(6*d_model + 2*(d_layer_input/tp) + 5*altup_inputs + altup_inputs**2 + 2*altup_inputs*d_model + 2*(laurel_rank/tp))"
                                                  "*act_bytes_per_element",
         "copied_weight_bytes": "(n_layers*(d_model*altup_inputs + altup_inputs*altup_inputs**2 + altup_inputs*altup_inputs + 3*d_model) + d_model)*weight_bytes_per_param"},
    ),
    (
        LATENT, {"tp": 2, "attention_dp": 2, **DENSE},  # a latent is copied to both devices of a group
        {"kv_cache_bytes_per_device": "kv_bytes_per_token*ceil(batch/attention_dp)*context", "state_bytes_per_device": "state_bytes_per_request/tp*ceil(batch/attention_dp)"},
    ),
    (
        GENERIC, {"pp": 2},
        {**{f"{name}_per_device": FULLEST.format(f"{name}_per_device") for name in ("weight_bytes", "kv_cache_bytes", "state_bytes")},
         "memory_bytes_per_device": "max(memory_bytes_per_device.first, memory_bytes_per_device.last)",
         "decode_flops_per_device": f"pp*{FULLEST.format('decode_flops_per_device')}", "prefill_flops_per_device": f"prefill_batch*{FULLEST.format('prefill_flops_per_device')}",
         "decode_compute_time": "pp*max(decode_flops_per_device.first/(mfu*peak_flops), decode_flops_per_device.last/(mfu*peak_flops))",
         "decode_tokens.pass": "ceil(batch/pp)", "prefill_tokens.pass": "prompt - cached_prefix", "decode_vector_elements": "decode_tokens.pass*n_layers*d_model",
         "prefill_vector_elements": "prefill_tokens.pass*n_layers*d_model*((prefill_batch + pp - 1)/pp)", "loaded_tokens.pass": "piece_prompts/pp*piece + ceil(batch/pp)",
         "concurrency": f"max(floor(min(({ROOM}.first)/request_bytes_per_device.first, ({ROOM}.last)/request_bytes_per_device.last)), 0)",
         "stage_send_time": "(pp - 1)*(link_latency + message_bytes/(link_share*link_bandwidth))", "all_reduces": "0"},
    ),
    (
        GENERIC, {"pp": 2, "attention_dp": 3},
        {"decode_tokens.pass": "ceil(batch/pp)", "decode_tokens.group": "ceil(ceil(batch/pp)/attention_dp)", "prefill_tokens.group": "ceil(min(prefill_batch, attention_dp)/attention_dp)*(prompt - cached_prefix)",
         "instance_devices": "attention_dp*pp"},
    ),
]  # fmt: skip


def printed(case, names):
    formulas = {name: case.theory.definition(name) for name in names}
    return {name: formula if formula is None else text(formula) for name, formula in formulas.items()}


@pytest.mark.parametrize(("architecture", "formulas"), MODELS, ids=["plain", "two kinds", "latent"])
def test_formulas_of_a_model(architecture, formulas):
    assert printed(made(architecture), formulas) == formulas


@pytest.mark.parametrize(("architecture", "degrees", "formulas"), DEVICES)
def test_formulas_of_a_device(architecture, degrees, formulas):
    assert printed(made(architecture, **degrees), formulas) == formulas


def test_layers_that_differ_have_no_formula_in_the_number_of_stages():
    case = made(Architecture(TWO_KINDS.layers, order=("local", "full")), free=("pp",))
    lacking = {
        "weight_bytes_per_device",
        "kv_cache_bytes_per_device",
        "state_bytes_per_device",
        "memory_bytes_per_device",
        "concurrency",
        "decode_compute_time",
        "prefill_link_time",
    }
    assert (
        lacking <= case.theory.lacking and case.theory.not_closed("concurrency") == "no closed form in pp, as the layers of this model differ: give pp a number"
    )
    assert not made(free=("pp",)).theory.lacking and not made(TWO_KINDS, pp=2).theory.lacking


def test_times_operator_by_operator():
    """Each operator at its own roofline; of two kinds of layers each has its own."""
    plain = made(switches={"roofline": "per_operator"})
    names = ["qkv", "attention", "attention_out", "gate_up", "down", "lm_head"]
    assert text(plain.theory.definition("decode_roofline_time")) == " + ".join(f"max(decode_compute_time.{name}, decode_memory_time.{name})" for name in names)
    kinds = text(made(TWO_KINDS, switches={"roofline": "per_operator"}).theory.definition("prefill_roofline_time"))
    assert (
        kinds.startswith("max(prefill_compute_time.qkv.local, prefill_memory_time.qkv.local) + ")
        and "time.attention.full" in kinds
        and "time.gate_up)" in kinds
    )


LAYER = "(n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + (ffn_matrices - 1)*d_ff + d_ff"
WIDE = "(params - quantized_params)*kept_bytes_per_param"


def test_formulas_of_a_quantized_checkpoint():
    """Norms stay wide, and the head where a checkpoint leaves it so; some operators have a width of their own."""
    narrow = made(Architecture(kept=frozenset()))
    expected = {
        "quantized_params": f"(n_layers*({LAYER}) + 2*vocab_size)*d_model",
        "weight_bytes": f"quantized_params*weight_bytes_per_param + {WIDE}",
        "layer_weight_bytes": "(weight_bytes_read - d_model*vocab_size*weight_bytes_per_param)/n_layers",
        "weight_bytes_read": f"(n_layers*({LAYER}) + vocab_size)*d_model*weight_bytes_per_param",
    }
    assert printed(narrow, expected) == expected
    own = made(Architecture(kept=frozenset({"lm_head", "embedding"}), widths=frozenset({"down"})))
    expected = {
        "quantized_params": f"n_layers*d_model*({LAYER})",
        "weight_bytes": "n_layers*d_ff*d_model*weight_bytes_per_param.down"
        f" + n_layers*d_model*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + (ffn_matrices - 1)*d_ff)*weight_bytes_per_param + {WIDE}",
        "layer_weight_bytes": "(weight_bytes_read - d_model*vocab_size*kept_bytes_per_param)/n_layers",
    }
    assert printed(own, expected) == expected


@pytest.mark.parametrize(
    ("positions", "tied", "active"),
    [(False, True, "params"), (True, True, "params - learned_positions*d_model"), (True, False, "params - (vocab_size + learned_positions)*d_model")],
)
def test_parameters_that_a_token_multiplies(positions, tied, active):
    """Not the tables that it takes a row of; a table that is the head too is multiplied."""
    assert printed(made(Architecture(tied_embeddings=tied, learned_positions=positions)), ["active_params"]) == {"active_params": active}


NOMINAL = {"parameters": "nominal", "activations": "off"}
EXPERT = "3*n_layers*n_experts*d_model*d_expert*weight_bytes_per_param"
DRAWN = "(6*experts_per_token*d_expert + 2*(n_heads + 2*n_kv_heads)*head_dim + 2*n_heads*head_dim + 2*n_experts + 4 FLOP)"


def test_work_of_recurrences_beside_nominal_counting():
    """The parameters are all products of matrices; a scan's products with its state are none of them. Logits change nothing, so they move no activations."""
    expected = {
        "linear_flops_per_token": "4*n_layers*d_inner*d_state + 2*params",
        "decode_bytes": "activation_bytes_per_token*decode_tokens + state_bytes_per_request*decode_state_moves + weight_bytes_read",
        "activation_bytes_per_token": "n_layers*(2*d_model + 3*d_inner + 2*ssm_groups*d_state + ssm_heads)*act_bytes_per_element",
        "head_activation_bytes_per_row": None,
    }
    assert printed(made(Architecture((Layer(mixers=("mamba2",), feed_forward="none"),)), switches={"parameters": "nominal"}), expected) == expected


@pytest.mark.parametrize(
    ("architecture", "degrees", "formulas"),
    [
        (GENERIC, {}, {
            "linear_flops_per_token": "2*params", "weight_bytes_read": "params*weight_bytes_per_param", "head_flops_per_row": None,
            "decode_flops": "attention_flops_per_pair*decode_pairs + linear_flops_per_token*decode_tokens", "decode_bytes": "kv_bytes_per_token*decode_span + weight_bytes_read",
        }),
        (GENERIC, {"tp": 2}, {"decode_flops_per_device": "decode_flops/tp", "decode_bytes_per_device": "decode_bytes/tp"}),
        (GENERIC, {"pp": 2, "params": 100}, {  # whose parts are not known: even parts of everything
            "decode_flops_per_device.first": "n_layers*(4*n_heads*head_dim/pp)*decode_pairs.pass + 2*params/pp*decode_tokens.pass",
            "weight_bytes_per_device.first": "weight_bytes/pp", "kv_cache_bytes_per_device.last": "n_layers*(2*n_kv_heads*head_dim*kv_bytes_per_element/pp)*batch*context",
        }),
        (EXPERTS, {}, {
            "linear_flops_per_token": "2*active_params", "weight_bytes_read": "expert_weight_bytes*experts_read + fixed_weight_bytes",
            "fixed_weight_bytes": f"params*weight_bytes_per_param - {EXPERT}",
        }),
        (EXPERTS, {"attention_dp": 2, **DENSE}, {  # experts work for the tokens of all groups
            "linear_flops_per_token_per_device": "2*active_params - 6*n_layers*experts_per_token*d_model*d_expert",
            "decode_flops_per_device": "attention_flops_per_pair*decode_pairs.group + linear_flops_per_token_per_device*decode_tokens.group"
                                       " + n_layers*(6*experts_per_token*d_model*d_expert/attention_dp)*decode_tokens",
        }),
        (EXPERTS, {"pp": 2, **DENSE}, {  # each stage multiplies and reads what stands in it: the table is read, the head is in the last
            "decode_flops_per_device.first": f"4*ceil(n_layers/pp)*n_heads*head_dim*decode_pairs.pass + ceil(n_layers/pp)*{DRAWN}*d_model*decode_tokens.pass",
            "decode_bytes_per_device.first": "2*ceil(n_layers/pp)*n_kv_heads*head_dim*kv_bytes_per_element*decode_span.pass"
                                             " + 3*ceil(n_layers/pp)*d_model*d_expert*weight_bytes_per_param*experts_read.pass"
                                             " + (ceil(n_layers/pp)*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts + 2) + vocab_size)*d_model*weight_bytes_per_param",
            "weight_bytes_per_device.first": "(ceil(n_layers/pp)*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts + 3*n_experts*d_expert + 2)"
                                             " + vocab_size)*d_model*weight_bytes_per_param",
            "memory_bytes_per_device.last": "weight_bytes_per_device.last + kv_cache_bytes_per_device.last(context = peak_context) + state_bytes_per_device.last + memory_reserve",
            "request_bytes_per_device.last": "kv_cache_bytes_per_device.last(batch = 1, context = peak_context) + state_bytes_per_device.last(batch = 1)",
        }),
        (TWO_KINDS, {"pp": 2}, {
            "decode_flops_per_device.stage1": "4*n_heads*head_dim*decode_pairs.window_pass + (2*(n_heads + 2*n_kv_heads)*head_dim + 2*n_heads*head_dim"
                                              " + 2*(ffn_matrices - 1)*d_ff + 2*d_ff + 4 FLOP)*d_model*decode_tokens.pass",
            "decode_bytes_per_device.stage2": "2*n_kv_heads*head_dim*kv_bytes_per_element*decode_span.pass + 3*d_model*d_expert*weight_bytes_per_param*experts_read.pass"
                                              " + d_model*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts + 3 + vocab_size)*weight_bytes_per_param",
        }),
    ],
)  # fmt: skip
def test_formulas_of_nominal_counting(architecture, degrees, formulas):
    """Two FLOPs for a parameter and token, all weights read."""
    assert printed(made(architecture, switches=NOMINAL, **degrees), formulas) == formulas


OWN = ("a", "b")
OWN_LIMITS = Architecture(
    tuple(Layer(label=label, reach="window", feed_forward="moe", own=frozenset({"n_layers", "window", "n_experts"})) for label in OWN), order=OWN
)


def test_drivers_of_kinds_with_limits_of_their_own_go_by_the_kind():
    expected = {
        "kv_cache_bytes": "kv_bytes_per_token.a*batch*min(context, window.a) + kv_bytes_per_token.b*batch*min(context, window.b)",
        "decode_pairs.a": "batch*min(context, window.a)",
        "experts_read.b": "n_experts.b*(1 - (1 - experts_per_token/n_experts.b)**decode_tokens)",
        "mixed_experts_read.a": "n_experts.a*(1 - (1 - experts_per_token/n_experts.a)**mixed_tokens)",
        "expert_layers": "n_layers.a + n_layers.b",
        "expert_weight_bytes": "expert_weight_bytes.a + expert_weight_bytes.b",
        "weight_bytes_read": "fixed_weight_bytes + expert_weight_bytes.a*experts_read.a + expert_weight_bytes.b*experts_read.b",
        "decode_pairs.window": None,
    }
    assert printed(made(OWN_LIMITS), expected) == expected
    laid_out = made(OWN_LIMITS, attention_dp=2, pp=2, d_model=64)
    spoken = {name for name in laid_out.theory.definitions if name.startswith(("decode_pairs", "decode_tokens", "experts_read"))}
    pairs = {f"decode_pairs.{kind}{part}" for kind in OWN for part in ("", "_pass", "_group")}
    assert spoken == {
        *pairs,
        "decode_tokens",
        "decode_tokens.pass",
        "decode_tokens.group",
        "experts_read.a",
        "experts_read.a_pass",
        "experts_read.b",
        "experts_read.b_pass",
        "experts_read",
    }


def test_drivers_have_formulas_whatever_counts():
    """The whole of a driver beside its phases; pairs where attention's FLOPs do not count, cached tokens where their traffic does not."""
    expected = {"mixed_pairs": "chunk*chunk_past + chunk*(chunk + 1)/2 + batch*context", "mixed_pairs.token": "batch*context", "mixed_logit_rows": "1 + batch"}
    assert printed(made(LATENT), expected) == expected
    expected = {
        "decode_pairs": "batch*context",
        "decode_span": "batch*context",
        "decode_pairs.window": "batch*min(context, window)",
        "decode_span.window": "batch*min(context, window)",
    }
    for switch in ("attention_flops", "kv_traffic", "activations"):
        assert printed(made(TWO_KINDS, switches={switch: "off"}), expected) == expected


@pytest.mark.parametrize(
    ("switches", "flops", "moved", "scores"),
    [({"attention_flops": "off"}, False, True, False), ({"kv_traffic": "off"}, True, False, False), ({"activations": "off"}, True, True, False), ({"fusion": "unfused"}, True, True, True),
     ({"fusion": "unfused", "activations": "off"}, True, True, False)],
)  # fmt: skip
def test_what_a_switch_leaves_out(switches, flops, moved, scores):
    """Of work and traffic; what is resident and what attention costs by itself stay."""
    pairs, kept = (
        "{0}.local*{1}.window + {0}.full*{1}".format(*names) for names in (("attention_flops_per_pair", "decode_pairs"), ("kv_bytes_per_token", "decode_span"))
    )
    case = made(TWO_KINDS, switches=switches)
    found = printed(case, ["decode_flops", "decode_bytes", "kv_cache_bytes", "prefill_attention_flops", "score_traffic"])
    assert found["decode_flops"] == f"linear_flops_per_token*decode_tokens + {pairs + ' + ' if flops else ''}{OUT.format(step='decode')}"
    assert ("kv_bytes_per_token" in found["decode_bytes"], "activation_bytes" in found["decode_bytes"]) == (moved, switches.get("activations") != "off")
    assert scores or not moved or kept in found["decode_bytes"]
    assert ("score_bytes_per_pair.full*decode_pairs" in found["decode_bytes"]) is scores
    assert found["kv_cache_bytes"] == "kv_bytes_per_token.local*batch*min(context, window) + kv_bytes_per_token.full*batch*context"
    assert found["prefill_attention_flops"] == "attention_flops_per_pair.local*prefill_pairs.window + attention_flops_per_pair.full*prefill_pairs"
    if switches == {"fusion": "unfused"}:
        assert found["score_traffic"] == "score_bytes_per_pair.local*prefill_pairs.window + score_bytes_per_pair.full*prefill_pairs"


def test_operators_have_their_part_of_a_step():
    """Weights once, work and activations of each token; of a latent both phases, each with its own requests."""
    plain = {
        "decode_flops.gate_up": "2*n_layers*d_model*(ffn_matrices - 1)*d_ff*decode_tokens",
        "decode_flops.attention": "4*n_layers*n_heads*head_dim*decode_pairs",
        "decode_bytes.down": "n_layers*d_ff*d_model*weight_bytes_per_param + n_layers*(d_ff + d_model)*act_bytes_per_element*decode_tokens",
        "decode_memory_time.down": "n_layers*(d_ff*d_model*weight_bytes_per_param + (d_ff + d_model)*act_bytes_per_element*decode_tokens)/(mbu*mem_bandwidth)",
        "prefill_roofline_time.lm_head": "max(2*d_model*vocab_size*prefill_logit_rows/(mfu*peak_flops),"
        " (d_model*vocab_size*weight_bytes_per_param + (d_model + vocab_size)*act_bytes_per_element*prefill_logit_rows)/(mbu*mem_bandwidth))",
    }
    assert printed(made(), plain) == plain
    both = {
        "mixed_flops.attention": "n_layers*(2*n_heads*(qk_nope_dim + qk_rope_dim + value_dim)*mixed_pairs.prompt + 2*n_heads*(2*kv_lora_rank + qk_rope_dim)*mixed_pairs.token)",
        "prefill_flops.attention": "2*n_layers*n_heads*(qk_nope_dim + qk_rope_dim + value_dim)*prefill_pairs",
        "mixed_flops.scan": "4*n_layers*d_inner*d_state*mixed_tokens",
        "decode_bytes.scan": "n_layers*d_inner*d_state*state_bytes_per_element*decode_state_moves",
    }
    assert printed(made(LATENT), both) == both
    group = {
        "decode_flops.gate_up": plain["decode_flops.gate_up"],
        "decode_memory_time.down": "n_layers*(d_ff*d_model*weight_bytes_per_param/tp + (d_ff/tp + d_model)*act_bytes_per_element*decode_tokens)/(mbu*mem_bandwidth)",
    }
    assert printed(made(tp=2, **DENSE), group) == group, "the work is the whole model's, the time one device's"


def test_a_quantized_checkpoint_reads_all_it_holds_where_counting_is_nominal():
    assert printed(made(Architecture(kept=frozenset()), switches=NOMINAL), ["weight_bytes_read"]) == {"weight_bytes_read": "weight_bytes"}


def test_counting_parameters_alone_counts_the_same():
    """From the rows of parameters, without the rest of the table."""
    layer = f"{LAYER} + 2"
    expected = {"params": f"(n_layers*({layer}) + 2*vocab_size + 1)*d_model", "active_params": "params - vocab_size*d_model"}
    assert {name: text(tree) for name, tree in counting(GENERIC).items()} == expected
    assert text(counting(Architecture(tied_embeddings=True))["params"]) == f"(n_layers*({layer}) + vocab_size + 1)*d_model"
    assert text(counting(TWO_KINDS)["n_layers"]) == "n_layers.local + n_layers.full"


BANDWIDTH = "(link_share*link_bandwidth)"
REDUCED = f"link_latency + 2*(tp - 1)/tp*decode_tokens.pass*d_model*link_bytes_per_element/{BANDWIDTH}"
SENT = "(pp - 1)*(link_latency + decode_tokens.{0}*d_model*link_bytes_per_element/" + BANDWIDTH + ")"
FIRST, LAST = "ceil(n_layers/pp)", "max(n_layers - ceil(n_layers/pp)*(pp - 1), 0)"


@pytest.mark.parametrize(
    ("architecture", "degrees", "formulas"),
    [
        (Architecture(tied_embeddings=True), {"pp": 2, **DENSE}, {  # the table of a tied head stands at both ends
            f"weight_bytes_per_device.{end}": f"({layers}*({LAYER} + 2) + {table})*d_model*weight_bytes_per_param"
            for end, layers, table in (("first", FIRST, "vocab_size"), ("last", LAST, "1 + vocab_size"))
        }),
        (TWO_KINDS, {"pp": 2}, {
            "kv_cache_bytes_per_device.stage1": "2*n_kv_heads*head_dim*kv_bytes_per_element*batch*min(context, window)",
            "kv_cache_bytes_per_device.stage2": "2*n_kv_heads*head_dim*kv_bytes_per_element*batch*context",
        }),
        (GENERIC, {"pp": 2, "attention_dp": 3, **DENSE}, {"decode_link_time": SENT.format("group")}),  # a group sends its own tokens on
        (EXPERTS, {"pp": 2, "attention_dp": 2, **DENSE}, {
            "decode_flops_per_device.first": f"2*{FIRST}*d_model*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts)*decode_tokens.group"
                                             f" + {FIRST}*(6*experts_per_token*d_model*d_expert/attention_dp)*decode_tokens.pass + 4*{FIRST}*n_heads*head_dim*decode_pairs.group",
        }),
        (TWO_KINDS, {"pp": 2, "tp": 2, "d_model": 64}, {"decode_link_time": f"2*pp*({REDUCED}) + {SENT.format('pass')}"}),
        (TWO_KINDS, {"pp": 2, "tp": 2, "ep": 2, "d_model": 64}, {  # of the stage with experts one all-reduce a layer, and what experts exchange
            "decode_link_time": f"pp*max(2*({REDUCED}), {REDUCED} + 2*(link_latency + (ep - 1)/ep*decode_tokens.pass*d_model*link_bytes_per_element*experts_per_token/{BANDWIDTH})"
                                f"*min(ep - 1, 1) + max(2 - ep, 0)*({REDUCED})) + {SENT.format('pass')}",
        }),
    ],
)  # fmt: skip
def test_formulas_of_stages(architecture, degrees, formulas):
    assert printed(made(architecture, **degrees), formulas) == formulas


def test_an_operator_of_a_step():
    """Work and traffic of one layer, of the whole model and of one device, and the traffic stream by stream."""
    down = next(operator for operator in made(tp=2, **DENSE).theory.operators["decode"] if operator.name == "down")
    assert (down.layer, text(down.count), text(down.flops), text(down.device_flops)) == (
        "all",
        "n_layers",
        "2*d_ff*d_model*decode_tokens",
        "2*d_ff*d_model/tp*decode_tokens",
    )
    moved = {"flops": text(down.flops), "weights": "d_ff*d_model*weight_bytes_per_param", "activations": "(d_ff + d_model)*act_bytes_per_element*decode_tokens"}
    assert {stream: text(amount) for stream, amount in down.streams} == moved
    assert text(down.bytes) == f"{moved['weights']} + {moved['activations']}"
    assert text(down.device_bytes) == "d_ff*d_model*weight_bytes_per_param/tp + (d_ff/tp + d_model)*act_bytes_per_element*decode_tokens"
    assert (
        text(down.compute_time) == f"{text(down.device_flops)}/(mfu*peak_flops)"
        and text(down.memory_time) == f"({text(down.device_bytes)})/(mbu*mem_bandwidth)"
    )
    bare = made(switches={"kv_traffic": "off", "activations": "off"}).theory.operators["decode"]
    assert {operator.name: [stream for stream, _ in operator.streams] for operator in bare}["attention"] == ["flops"]
