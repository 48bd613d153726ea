"""The catalogue of slips: what each changes in a case or a result, and its explanation.

Formulas are over the names of the claim's own case. Adding a slip is adding an entry here. The order is the order of
explanations: model structure, counting, device limits, element widths, units. Slips of digits stand in
:mod:`symroof.claims.slips.digit_slips`, slips with a free parameter in :mod:`symroof.claims.slips.free_parameters`.
"""

from symroof.claims.slips.ways import Change, Other, Result, Rounded, Slip

CACHE = ("kv_bytes_per_token",)
WORK = ("linear_flops_per_token", "attention_flops_per_pair", "head_flops_per_row")
PHASES = ("prefill", "decode")
ON_THE_WAY = {
    "params": (1, 2), "kv_bytes_per_token": (2, 3), "kv_cache_bytes": (2, 3), "weight_bytes": (2, 3), "weight_bytes_read": (2, 3),
    "ridge_point": (2, 3), "peak_flops": (2, 3), "mem_bandwidth": (2,), "itl": (1, 2, 3), "prefill_time": (2, 3),
}  # fmt: skip
"""Figures people write down before they go on, and to how many digits."""


def _times(text: str, *names: str) -> dict[str, str]:
    """Each name set to itself times a factor."""
    return {name: f"{name}*{text}" for name in names}


def _switch(name: str, value: str) -> dict[str, dict[str, str]]:
    return {"assume": {name: value}}


OMISSIONS = (
    Slip("kv_ignored", (Change("reads of the cache left out", _switch("kv_traffic", "off")), Change("no cache at all", _times("0", *CACHE)))),
    Slip("attention_ignored", (Change("attention FLOPs left out", _switch("attention_flops", "off")),)),
    Slip("growth_ignored", (
        Change("every step at one context, as if the cache did not grow", {"assume": {"kv_growth": "fixed"}}),
    )),
    Slip("output_ignored", (
        Change("the output left out of the longest context", {"peak_context": "prompt"}),
        Change("the prompt left out of the longest context", {"peak_context": "output"}),
    )),
    Slip("links_ignored", (
        Change("the time on the links between devices left out", _times("0", *(f"{phase}_link_time" for phase in ("prefill", "decode", "mixed", "loaded")))),
    )),
    Slip("training_flops", (
        Change("6 FLOP a parameter and token, as in training, for 2", _times("3", "linear_flops_per_token", "head_flops_per_row")),
        Change("forward and backward pass counted, as in training", _times("3", *WORK)),
    )),
)  # fmt: skip
"""Of what was left out, or counted as elsewhere."""

STRUCTURE = (
    Slip("gqa_forgotten", (
        Change("query heads used for KV heads in the cache", _times("n_heads/n_kv_heads", *CACHE)),
        Change("query heads used for KV heads", {"n_kv_heads": "n_heads"}, fine=("params",)),
    )),
    Slip("latent_kv_expanded", (
        Change("keys and values of every head kept in place of their latent",
               _times("n_heads*(qk_nope_dim + qk_rope_dim + value_dim)/(kv_lora_rank + qk_rope_dim)", *CACHE)),
        Change("a latent cache taken for two vectors of value_dim a head", _times("2*n_heads*value_dim/(kv_lora_rank + qk_rope_dim)", *CACHE)),
        Change("a latent for keys and another for values", _times("2*kv_lora_rank/(kv_lora_rank + qk_rope_dim)", *CACHE)),
    )),
    Slip("rope_key_forgotten", (
        Change("the rotated key beside the latent left out", _times("kv_lora_rank/(kv_lora_rank + qk_rope_dim)", *CACHE)),
    )),
    Slip("experts_topk_vs_all", (
        Change("a step reads the experts of one token, whatever its batch", {"experts_read": "experts_per_token", "prefill_experts_read": "experts_per_token"}),
        Change("every expert is read, however few tokens there are", _switch("experts", "all")),
        Change("no two tokens share an expert", _switch("experts", "distinct_max")),
    )),
    Slip("total_vs_active_params", (
        Change("every parameter taken for one that a token multiplies", {"active_params": "params"}),
        Result("only the parameters that a token multiplies counted", "value*active_params/params", ("parameter", "byte"), ("n_experts",)),
        Result("only the parameters that a token multiplies counted, and the input table", "value*(active_params + d_model*vocab_size)/params",
               ("parameter", "byte"), ("n_experts",)),
        Change("every expert multiplied by every token", {"experts_per_token": "n_experts"}),
    )),
    Slip("head_dim_assumed", (
        Change("head width taken as d_model/n_heads in attention", _times("d_model/(n_heads*head_dim)", *CACHE, "attention_flops_per_pair")),
        Change("head width taken as d_model/n_heads", {"head_dim": "d_model/n_heads"}),
    )),
    Slip("width_guessed", (
        Change("width guessed as sqrt(params/(12*n_layers)), grouped heads left out",
               {"kv_bytes_per_token": "2*n_layers*sqrt(params/(12*n_layers))*kv_bytes_per_element"}),
    )),
    Slip("tied_embedding", (
        Change("the gathered input table counted among the active parameters", {"active_params": "active_params + d_model*vocab_size"}),
        Change("a tied embedding counted twice, or a head counted in", {"params": "params + d_model*vocab_size"}),
        Change("an untied head left out", {"params": "params - d_model*vocab_size"}),
        Change("the gathered input table streamed too", {"weight_bytes_read": "weight_bytes_read + d_model*vocab_size*weight_bytes_per_param"}),
        Change("the head not streamed", {"weight_bytes_read": "weight_bytes_read - d_model*vocab_size*weight_bytes_per_param"}),
    )),
    Slip("k_and_v_factor", (
        Change("keys without values, or values without keys", _times("1/2", *CACHE)),
        Change("the factor 2 of keys and values twice", _times("2", *CACHE)),
    )),
    Slip("kv_heads_wrong", tuple(
        Change(f"{count} KV heads", _times(f"{count}/n_kv_heads", *CACHE)) for count in (1, 2, 4, 8, 16, 32)
    )),
)  # fmt: skip
"""Of the structure of the model."""

COUNTING = (
    Slip("acceptance_not_compounded", (
        Change("accepted tokens added up, though each needs all before it to be accepted", {"tokens_per_verify": "1 + acceptance*draft_tokens"}),
        Change("only the tokens that are accepted counted, not the one that comes with them", {"tokens_per_verify": "tokens_per_verify - 1"}),
    )),
    Slip("markup_vs_margin", (Change("a share of the price put on top of the cost", {"price_per_mtok": "cost_per_mtok*(1 + margin)"}),)),
    Slip("causal_factor", (
        Change("the whole square of attention counted, not the causal half", _switch("attention", "full")),
        Change("the causal half counted, not the whole square", _switch("attention", "causal")),
    )),
    Slip("memory_floor_ignored", tuple(
        Change(f"only the {phase}'s FLOPs timed: no memory floor", {f"{phase}_roofline_time": f"{phase}_compute_time"}) for phase in PHASES
    )),
    Slip("compute_floor_ignored", tuple(
        Change(f"only the {phase}'s bytes timed: no compute floor", {f"{phase}_roofline_time": f"{phase}_memory_time"}) for phase in PHASES
    )),
    Slip("n_vs_n_minus_one", (
        Change("as many decode steps as output tokens; the first token comes with the prefill", _switch("decode_steps", "output")),
        Change("one decode step fewer than counted", _switch("decode_steps", "output_minus_one")),
        Change("one output token more", {"output": "output + 1"}),
        Change("one output token fewer", {"output": "output - 1"}),
        Change("one token of context more", {"context": "context + 1"}),
    )),
    Slip("batch_factor", (
        Change("one request in place of the batch", {"batch": "1"}),
        Result("the batch left out", "value/batch", (), ("batch",)),
        Result("multiplied by the batch once more", "value*batch", (), ("batch",)),
    )),
    Slip("per_device_vs_total", (
        Change("one device in place of the group", {"tp": "1"}),
        Result("one device's share for the whole", "value/tp", ("byte", "FLOP", "USD", "token", "request", "J"), ("tp", "params", "kv_bytes_per_token", "mem_capacity")),
        Result("multiplied by the devices", "value*tp", ("byte", "FLOP", "USD", "token", "request", "J"), ("tp", "params", "kv_bytes_per_token", "mem_capacity")),
    )),
    Slip("layers_factor", (
        Change("the cache of one layer", _times("1/n_layers", *CACHE)),
        Result("one layer in place of all", "value/n_layers", ("byte", "FLOP", "s"), ("n_layers",)),
        Result("layers counted twice", "value*n_layers", ("byte", "FLOP", "s"), ("n_layers",)),
    )),
    Slip("per_token_vs_per_sequence", (
        Result("of one token, not of the sequence", "value/context", ("byte", "FLOP", "s"), ("context",)),
        Result("of a sequence, not of one token", "value*context", ("byte", "FLOP", "s"), ("context", "kv_bytes_per_token")),
        Result("of one prompt token, not of the prompt", "value/prompt", ("byte", "FLOP", "s"), ("prompt",)),
        Result("of the prompt, not of one token", "value*prompt", ("byte", "FLOP", "s"), ("linear_flops_per_token", "mem_bandwidth")),
        Result("of one output token, not of the response", "value/output", ("byte", "FLOP", "s", "USD"), ("output",)),
        Result("of the response, not of one output token", "value*output", ("byte", "FLOP", "s"), ("mem_bandwidth",)),
    )),
    Slip("rounded_chain", (
        *(Rounded(name, digits) for name, places in ON_THE_WAY.items() for digits in places),
        *(Rounded("itl", digits, rate="user_rate") for digits in (1, 2, 3)),
    ), paired=False, figures=True),
)  # fmt: skip
"""Of counting."""

DEVICE = (
    Slip("sparse_peak", (
        Other("the sparse peak, {figure}, for the dense one", "peak_flops", "sparse"),
        Change("a sparse peak for the dense one", _times("2", "peak_flops")),
    ), figures=True),
    Slip("peak_of_other_dtype", (Other("the {figure} peak", "peak_flops", "precisions"),)),
    Slip("peak_of_other_sku", (
        Other("the peak of the {figure}", "peak_flops", "parts"),
        Other("the peak of the {figure}", "peak_flops", "relatives"),
    )),
    Slip("bandwidth_of_other_part", (
        Other("the bandwidth of the {figure}", "mem_bandwidth", "parts"),
        Other("the bandwidth of the {figure}", "mem_bandwidth", "relatives"),
    )),
    Slip("bidirectional_link", (
        Change("both directions of the link added", _times("2", "link_bandwidth")),
        Change("both directions of the host link added", _times("2", "host_bandwidth")),
        Result("both directions of the link added", "value*2", ("byte",), ("link_bandwidth", "host_bandwidth")),
    )),
)  # fmt: skip
"""Of the limits of the device."""

WIDTHS = ("fp32", "fp16", "fp8", "int4")
PRECISION = (
    Slip("bytes_per_param_forgotten", (
        Change("weights at one byte each: the bytes of a parameter forgotten", {"weight_bytes_per_param": "1"}),
    )),
    Slip("precision_mixed", (
        *(Change(f"the {role} at {name}", {role: name}) for name in WIDTHS for role in ("weights", "kv")),
        *(Change(f"weights and arithmetic at {name}", {"weights": name, "activations": name}) for name in WIDTHS),
        *(Change(f"weights, cache and arithmetic at {name}", {"weights": name, "kv": name, "activations": name}) for name in WIDTHS),
    )),
)  # fmt: skip
"""Of the width of an element."""

COUNTS = ("prompt", "context", "output", "cached_prefix")
UNITS = (
    Slip("mac_vs_flop", (
        Change("multiply-adds counted as one FLOP", _times("1/2", *WORK)),
        Change("FLOPs doubled once more", _times("2", *WORK)),
        Result("multiply-adds counted as one FLOP", "value/2", ("FLOP",)),
        Result("FLOPs doubled once more", "value*2", ("FLOP",)),
    )),
    Slip("gb_gib", (
        Result("a {binary} written for a {decimal}", "value*(1000/1024)^prefix", ("byte",)),
        Result("a {decimal} written for a {binary}", "value*(1024/1000)^prefix", ("byte",)),
        Change("memory of so many GB taken as GiB", _times("(1024/1000)^3", "mem_capacity")),
        Change("memory of so many GiB taken as GB", _times("(1000/1024)^3", "mem_capacity")),
    ), figures=True),
    Slip("decimal_binary_k", (
        *(Change(f"a k of 1,000 in the {name}", _times("1000/1024", name)) for name in COUNTS),
        *(Change(f"a k of 1,024 in the {name}", _times("1024/1000", name)) for name in COUNTS),
        Result("tokens counted with a k of 1,024", "value*1000/1024", ("token",)),
        Result("tokens counted with a k of 1,000", "value*1024/1000", ("token",)),
    ), figures=True),
    Slip("bits_bytes", (Result("bits taken for bytes", "value*8", ("byte",)), Result("bytes taken for bits", "value/8", ("byte",)))),
    Slip("inverted_ratio", (
        Result("the ratio upside down", "1/value"),
        Result("a time in milliseconds read as a rate", "1000/value", ("s",)),
    )),
    Slip("hours_seconds", (
        Result("hours taken for seconds", "value*3600", ("s", "USD")),
        Result("seconds taken for hours", "value/3600", ("s", "USD")),
    )),
    Slip("decimal_point", (
        *(Result(f"the decimal point {places} place{'s' * (places > 1)} to the {side}", f"value{by}10^{places}")
          for places in (1, 2) for side, by in (("right", "*"), ("left", "/"))),
        Result("a factor of 1,000{too_large}", "value*10^3"),
        Result("a factor of 1,000{too_small}", "value/10^3"),
    ), paired=False, figures=True),
)  # fmt: skip
"""Of units and notation."""

CATALOGUE: tuple[Slip, ...] = (*STRUCTURE[:4], *OMISSIONS, *STRUCTURE[4:], *DEVICE, *COUNTING, *PRECISION, *UNITS)
"""Every slip that changes a formula, a figure or a unit, the most specific first."""
