"""The formulas that rows, phases and switches make of a model, as a reader sees them: few names, each with its part of a step."""

import pytest

from symroof.formula.text import text
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.totals import counting

from . import made
from .printed import DENSE, LATENT, LAYER, NOMINAL, OUT, TWO_KINDS, printed

HEAD = "head_activation_bytes_per_row*{step}_logit_rows"


def steps(formula):
    """A formula of every step."""
    return {
        f"{step}_{name}": text.format(step=step)
        for step in ("prefill", "decode", "verify", "loaded")
        for name, text in formula.items()
    }


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
            "n_layers": None, "fixed_weight_bytes": None, "expert_flops_per_token": None, "expert_weight_bytes": None, "replicated_weight_bytes": None,
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


@pytest.mark.parametrize(("architecture", "formulas"), MODELS, ids=["plain", "two kinds", "latent"])
def test_formulas_of_a_model(architecture, formulas):
    assert printed(made(architecture), formulas) == formulas


def test_times_operator_by_operator():
    """Each operator at its own roofline; of two kinds of layers each has its own."""
    plain = made(switches={"roofline": "per_operator"})
    names = ["qkv", "attention", "attention_out", "gate_up", "down", "lm_head"]
    assert text(plain.theory.definition("decode_roofline_time")) == " + ".join(
        f"max(decode_compute_time.{name}, decode_memory_time.{name})" for name in names
    )
    kinds = text(
        made(TWO_KINDS, switches={"roofline": "per_operator"}).theory.definition(
            "prefill_roofline_time"
        )
    )
    assert (
        kinds.startswith("max(prefill_compute_time.qkv.local, prefill_memory_time.qkv.local) + ")
        and "time.attention.full" in kinds
        and "time.gate_up)" in kinds
    )


WIDE = "(params - quantized_params)*unquantized_bytes_per_param"


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
        "layer_weight_bytes": "(weight_bytes_read - d_model*vocab_size*unquantized_bytes_per_param)/n_layers",
    }
    assert printed(own, expected) == expected


@pytest.mark.parametrize(
    ("positions", "tied", "active"),
    [
        (False, True, "params"),
        (True, True, "params - learned_positions*d_model"),
        (True, False, "params - (vocab_size + learned_positions)*d_model"),
    ],
)
def test_parameters_that_a_token_multiplies(positions, tied, active):
    """Not the tables that it takes a row of; a table that is the head too is multiplied."""
    assert printed(
        made(Architecture(tied_embeddings=tied, learned_positions=positions)), ["active_params"]
    ) == {"active_params": active}


def test_a_quantized_checkpoint_reads_all_it_holds_where_counting_is_nominal():
    assert printed(
        made(Architecture(kept=frozenset()), switches=NOMINAL), ["weight_bytes_read"]
    ) == {"weight_bytes_read": "weight_bytes"}


def test_counting_parameters_alone_counts_the_same():
    """From the rows of parameters, without the rest of the table."""
    layer = f"{LAYER} + 2"
    expected = {
        "params": f"(n_layers*({layer}) + 2*vocab_size + 1)*d_model",
        "active_params": "params - vocab_size*d_model",
    }
    assert {name: text(tree) for name, tree in counting(GENERIC).items()} == expected
    assert (
        text(counting(Architecture(tied_embeddings=True))["params"])
        == f"(n_layers*({layer}) + vocab_size + 1)*d_model"
    )
    assert text(counting(TWO_KINDS)["n_layers"]) == "n_layers.local + n_layers.full"


def test_work_of_recurrences_beside_nominal_counting():
    """The parameters are all products of matrices; a scan's products with its state are none of them. Logits change nothing, so they move no activations."""
    expected = {
        "linear_flops_per_token": "4*n_layers*d_inner*d_state + 2*params",
        "decode_bytes": "activation_bytes_per_token*decode_tokens + state_bytes_per_request*decode_state_moves + weight_bytes_read",
        "activation_bytes_per_token": "n_layers*(2*d_model + 3*d_inner + 2*ssm_groups*d_state + ssm_heads)*act_bytes_per_element",
        "head_activation_bytes_per_row": None,
    }
    assert (
        printed(
            made(
                Architecture((Layer(mixers=("mamba2",), feed_forward="none"),)),
                switches={"parameters": "nominal"},
            ),
            expected,
        )
        == expected
    )


OWN = ("a", "b")
OWN_LIMITS = Architecture(
    tuple(
        Layer(
            label=label,
            reach="window",
            feed_forward="moe",
            own=frozenset({"n_layers", "window", "n_experts"}),
        )
        for label in OWN
    ),
    order=OWN,
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
    spoken = {
        name
        for name in laid_out.theory.definitions
        if name.startswith(("decode_pairs", "decode_tokens", "experts_read"))
    }
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
    expected = {
        "mixed_pairs": "chunk*chunk_past + chunk*(chunk + 1)/2 + batch*context",
        "mixed_pairs.token": "batch*context",
        "mixed_logit_rows": "1 + batch",
    }
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
    pairs, cached = (
        "{0}.local*{1}.window + {0}.full*{1}".format(*names)
        for names in (
            ("attention_flops_per_pair", "decode_pairs"),
            ("kv_bytes_per_token", "decode_span"),
        )
    )
    case = made(TWO_KINDS, switches=switches)
    formulas = printed(
        case,
        [
            "decode_flops",
            "decode_bytes",
            "kv_cache_bytes",
            "prefill_attention_flops",
            "score_traffic",
        ],
    )
    assert (
        formulas["decode_flops"]
        == f"linear_flops_per_token*decode_tokens + {pairs + ' + ' if flops else ''}{OUT.format(step='decode')}"
    )
    assert (
        "kv_bytes_per_token" in formulas["decode_bytes"],
        "activation_bytes" in formulas["decode_bytes"],
    ) == (moved, switches.get("activations") != "off")
    assert scores or not moved or cached in formulas["decode_bytes"]
    assert ("score_bytes_per_pair.full*decode_pairs" in formulas["decode_bytes"]) is scores
    assert (
        formulas["kv_cache_bytes"]
        == "kv_bytes_per_token.local*batch*min(context, window) + kv_bytes_per_token.full*batch*context"
    )
    assert (
        formulas["prefill_attention_flops"]
        == "attention_flops_per_pair.local*prefill_pairs.window + attention_flops_per_pair.full*prefill_pairs"
    )
    if switches == {"fusion": "unfused"}:
        assert (
            formulas["score_traffic"]
            == "score_bytes_per_pair.local*prefill_pairs.window + score_bytes_per_pair.full*prefill_pairs"
        )


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
    assert printed(made(tp=2, **DENSE), group) == group, (
        "the work is the whole model's, the time one device's"
    )


def test_an_operator_of_a_step():
    """Work and traffic of one layer, of the whole model and of one device, and the traffic stream by stream."""
    down = next(
        operator
        for operator in made(tp=2, **DENSE).theory.operators["decode"]
        if operator.name == "down"
    )
    assert (down.layer, text(down.count), text(down.flops), text(down.device_flops)) == (
        "all",
        "n_layers",
        "2*d_ff*d_model*decode_tokens",
        "2*d_ff*d_model/tp*decode_tokens",
    )
    moved = {
        "flops": text(down.flops),
        "weights": "d_ff*d_model*weight_bytes_per_param",
        "activations": "(d_ff + d_model)*act_bytes_per_element*decode_tokens",
    }
    assert {stream: text(amount) for stream, amount in down.streams} == moved
    assert text(down.bytes) == f"{moved['weights']} + {moved['activations']}"
    assert (
        text(down.device_bytes)
        == "d_ff*d_model*weight_bytes_per_param/tp + (d_ff/tp + d_model)*act_bytes_per_element*decode_tokens"
    )
    assert (
        text(down.compute_time) == f"{text(down.device_flops)}/(mfu*peak_flops)"
        and text(down.memory_time) == f"({text(down.device_bytes)})/(mbu*mem_bandwidth)"
    )
    bare = made(switches={"kv_traffic": "off", "activations": "off"}).theory.operators["decode"]
    assert {operator.name: [stream for stream, _ in operator.streams] for operator in bare}[
        "attention"
    ] == ["flops"]
