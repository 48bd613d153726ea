"""The formulas of one device's part, as a reader sees them: shares and copies, groups, stages, nominal counting on each."""

import pytest

from symroof.theory.architecture import GENERIC, Architecture, Layer

from . import made
from .printed import DENSE, EXPERTS, LATENT, LAYER, NOMINAL, TWO_KINDS, printed

CONVOLUTION = Architecture((Layer(mixers=("conv",), feed_forward="none"),))
COPIES = Architecture(
    (Layer(mixers=(), feed_forward="none", norms=0, traits=frozenset({"layer_input", "altup"})),)
)
FULLEST = (
    "of_largest(memory_bytes_per_device.first, {0}.first, memory_bytes_per_device.last, {0}.last)"
)
ALL_REDUCES = "2*n_layers*(link_latency + 2*(tp - 1)/tp*decode_tokens*d_model*link_bytes_per_element/(link_share*link_bandwidth))"
RESERVE = "memory_reserve(weight_bytes_per_device = weight_bytes_per_device.{0})"
"""Engines size the reserve by the weights beside it, which are those of each stage."""
ROOM = "usable_memory_per_device - memory_reserve - weight_bytes_per_device"
ROOM_OF_STAGE = f"(usable_memory_per_device - {RESERVE} - weight_bytes_per_device.{{0}})/request_bytes_per_device.{{0}}"
DEVICES = [
    (
        GENERIC, {"tp": 4},  # whose dimensions are not known: even shares
        {"kv_cache_bytes_per_device": "kv_cache_bytes/tp", "weight_bytes_per_device": "weight_bytes/tp", "replicated_weight_bytes": None, "state_bytes_per_device": "0",
         "decode_flops_per_device": "decode_flops/tp", "all_reduces": "2*n_layers", "decode_link_time": ALL_REDUCES, "instance_devices": "tp",
         "kv_bytes_per_token_per_device": None, "linear_flops_per_token_per_device": None, "head_activation_bytes_per_row_per_device": "(d_model + vocab_size/tp)*act_bytes_per_element"},
    ),
    (
        GENERIC, {"tp": 4, **DENSE},  # norms are copied
        {"kv_cache_bytes_per_device": "kv_cache_bytes/tp", "replicated_weight_bytes": "(2*n_layers + 1)*d_model*weight_bytes_per_param",
         "weight_bytes_per_device": "(weight_bytes - replicated_weight_bytes)/tp + replicated_weight_bytes", "decode_flops_per_device": "decode_flops/tp"},
    ),
    (
        GENERIC, {"tp": 4, **DENSE, "n_kv_heads": 2},  # and heads where there are too few
        {"kv_cache_bytes_per_device": "kv_bytes_per_token_per_device*batch*context",
         "kv_bytes_per_token_per_device": "2*n_layers*ceil(n_kv_heads/tp)*head_dim*kv_bytes_per_element",
         "weight_bytes_per_device": "(weight_bytes - replicated_weight_bytes - n_layers*d_model*(n_heads + 2*n_kv_heads)*head_dim*weight_bytes_per_param)/tp"
                                    " + n_layers*d_model*(n_heads/tp + 2*ceil(n_kv_heads/tp))*head_dim*weight_bytes_per_param + replicated_weight_bytes",
         "decode_flops_per_device": "linear_flops_per_token_per_device*decode_tokens + attention_flops_per_pair/tp*decode_pairs + head_flops_per_row/tp*decode_logit_rows"},
    ),
    (
        GENERIC, {"attention_dp": 2, **DENSE},  # each group has all of it, and its own requests
        {"kv_cache_bytes_per_device": "kv_bytes_per_token*ceil(batch/attention_dp)*context", "weight_bytes_per_device": "weight_bytes", "decode_tokens.group": "ceil(batch/attention_dp)",
         "decode_flops_per_device": "linear_flops_per_token*decode_tokens.group + attention_flops_per_pair*decode_pairs.group + head_flops_per_row*decode_logit_rows.group",
         "decode_vector_elements": "decode_tokens.group*n_layers*d_model", "message_bytes": "decode_tokens.group*d_model*link_bytes_per_element", "decode_link_time": "0",
         "loaded_tokens.group": "group_chunks*prefill_chunk + ceil(batch/attention_dp)*decoded_tokens", "concurrency": f"attention_dp*max(floor(({ROOM})/request_bytes_per_device), 0)"},
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
         "replicated_weight_bytes": "(n_layers*(d_model*altup_inputs + altup_inputs*altup_inputs**2 + altup_inputs*altup_inputs + 3*d_model) + d_model)*weight_bytes_per_param"},
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
         "prefill_vector_elements": "prefill_tokens.pass*n_layers*d_model*((prefill_batch + pp - 1)/pp)", "loaded_tokens.pass": "concurrent_chunks/pp*prefill_chunk + ceil(batch/pp)*decoded_tokens",
         "concurrency": f"max(floor(min({ROOM_OF_STAGE.format('first')}, {ROOM_OF_STAGE.format('last')})), 0)",
         "stage_send_time": "(pp - 1)*(link_latency + message_bytes/(link_share*link_bandwidth))", "all_reduces": "0"},
    ),
    (
        GENERIC, {"pp": 2, "attention_dp": 3},
        {"decode_tokens.pass": "ceil(batch/pp)", "decode_tokens.group": "ceil(ceil(batch/pp)/attention_dp)", "prefill_tokens.group": "ceil(min(prefill_batch, attention_dp)/attention_dp)*(prompt - cached_prefix)",
         "instance_devices": "attention_dp*pp"},
    ),
]  # fmt: skip


@pytest.mark.sample(8)
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
        lacking <= case.theory.without_formula
        and case.theory.not_closed("concurrency")
        == "no closed form in pp, as the layers of this model differ: give pp a number"
    )
    assert (
        not made(free=("pp",)).theory.without_formula
        and not made(TWO_KINDS, pp=2).theory.without_formula
    )


EXPERT = "3*n_layers*n_experts*d_model*d_expert*weight_bytes_per_param"
DRAWN = "(6*experts_per_token*d_expert + 2*(n_heads + 2*n_kv_heads)*head_dim + 2*n_heads*head_dim + 2*n_experts + 4 FLOP)"


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
                                       " + n_layers*(6*experts_per_token*d_model*d_expert/attention_dp)*expert_imbalance*decode_tokens",
        }),
        (EXPERTS, {"pp": 2, **DENSE}, {  # each stage multiplies and reads what stands in it: the table is read, the head is in the last
            "decode_flops_per_device.first": f"4*ceil(n_layers/pp)*n_heads*head_dim*decode_pairs.pass + ceil(n_layers/pp)*{DRAWN}*d_model*decode_tokens.pass",
            "decode_bytes_per_device.first": "2*ceil(n_layers/pp)*n_kv_heads*head_dim*kv_bytes_per_element*decode_span.pass"
                                             " + 3*ceil(n_layers/pp)*d_model*d_expert*weight_bytes_per_param*experts_read.pass"
                                             " + (ceil(n_layers/pp)*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts + 2) + vocab_size)*d_model*weight_bytes_per_param",
            "weight_bytes_per_device.first": "(ceil(n_layers/pp)*((n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + n_experts + 3*n_experts*d_expert + 2)"
                                             " + vocab_size)*d_model*weight_bytes_per_param",
            "memory_bytes_per_device.last": "weight_bytes_per_device.last + kv_cache_bytes_per_device.last(context = peak_context) + state_bytes_per_device.last + "
                                            + RESERVE.format("last"),
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


BANDWIDTH = "(link_share*link_bandwidth)"
REDUCED = (
    f"link_latency + 2*(tp - 1)/tp*decode_tokens.pass*d_model*link_bytes_per_element/{BANDWIDTH}"
)
THERE, BACK = (
    f"(link_latency + expert_imbalance*(ep - 1)/ep*expert_devices*decode_tokens.pass*d_model*{width}/{BANDWIDTH})"
    for width in ("dispatch_bytes_per_element", "link_bytes_per_element")
)
CUT = f"link_latency + 2*(tp*attention_dp - 1)/(tp*attention_dp)*decode_all.pass*d_model*link_bytes_per_element/{BANDWIDTH}"
SENT = (
    "(pp - 1)*(link_latency + decode_tokens.{0}*d_model*link_bytes_per_element/" + BANDWIDTH + ")"
)
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
                                             f" + {FIRST}*(6*experts_per_token*d_model*d_expert/attention_dp)*expert_imbalance*decode_tokens.pass + 4*{FIRST}*n_heads*head_dim*decode_pairs.group",
        }),
        (TWO_KINDS, {"pp": 2, "tp": 2, "d_model": 64}, {"decode_link_time": f"2*pp*({REDUCED}) + {SENT.format('pass')}"}),
        (TWO_KINDS, {"pp": 2, "tp": 2, "ep": 2, "d_model": 64}, {"decode_link_time": f"2*pp*({REDUCED}) + {SENT.format('pass')}"}),  # each device has all tokens
        (TWO_KINDS, {"pp": 2, "tp": 2, "attention_dp": 2, "ep": 4, "d_model": 64}, {  # in the stage with experts one all-reduce a layer, and what is exchanged
            "decode_link_time": f"pp*max(2*({REDUCED}), {REDUCED} + {THERE}*min(ep - 1, 1) + {BACK}*min(ep - 1, 1)"
                                f" + max(2 - ep, 0)*({CUT})) + {SENT.format('pass')}".replace("_tokens.pass", "_tokens.group").replace("_all.pass", "_tokens.pass"),
        }),
    ],
)  # fmt: skip
def test_formulas_of_stages(architecture, degrees, formulas):
    assert printed(made(architecture, **degrees), formulas) == formulas
