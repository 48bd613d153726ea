"""The catalogue of slips: what each changes in a case or a result, and its explanation.

Formulas are over the names of the claim's own case. Adding a slip is adding an entry here. The order is the order of
explanations: model structure, counting, device limits, element widths, units. Slips of digits are in
:mod:`symroof.claims.slips.explain`, and so are slips with a free parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CaseChange:
    """Names set to formulas over the true case, precisions and switches to values.

    A formula for an input, or for a quantity in terms of itself, is evaluated in the true case first; any other becomes
    the definition of its quantity.

    Attributes:
        precise_for: names of which, where the value depends on one, it explains a number of three digits or more only: fewer say too little.
    """

    text: str
    sets: Mapping[str, Any]
    precise_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundedFigure:
    """A figure written down with few digits and used on: a quantity, or as ``rate`` the reciprocal of one."""

    symbol: str
    digits: int
    rate: str = ""

    @property
    def text(self) -> str:
        return f"{self.rate or self.symbol} rounded to {self.digits} digit{'s' if self.digits > 1 else ''} on the way"


@dataclass(frozen=True)
class OtherFigure:
    """Another figure of the catalogue in an input's place.

    Attributes:
        text: the explanation; ``{figure}`` is the other figure's name.
        symbol: the input.
        kind: ``sparse`` (this peak with sparsity), ``precisions`` (this part's other peaks), ``siblings`` (variants of one product), ``parts`` (others of
            its architecture), ``generations`` (the vendor's others), all with memory of its sort.
    """

    text: str
    symbol: str
    kind: str


@dataclass(frozen=True)
class MisreadResult:
    """The derived value, misread or counted differently.

    Attributes:
        text: the explanation; ``{decimal}`` and ``{binary}`` are the claim's unit of bytes, such as GB and GiB.
        formula: over the case and ``value``, the derived value; ``prefix`` is the power of the claim's prefix, 3 for GB.
        units: base units of which the derived value has one; empty for any.
        depends_on: names of which the claimed quantity depends on one; empty for any.
    """

    text: str
    formula: str
    units: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


Variant = CaseChange | RoundedFigure | OtherFigure | MisreadResult


@dataclass(frozen=True)
class Slip:
    """One slip by name and the ways it happens.

    Attributes:
        paired: whether it may be one of two.
        numbers_only: whether it happens to figures as they are read and written only, and never to a formula over names.
        common: whether it is one of those that people make all the time: of these alone it is asked how many random errors they would explain.
    """

    name: str
    variants: tuple[Variant, ...]
    paired: bool = True
    numbers_only: bool = False
    common: bool = False


CACHE = ("kv_bytes_per_token",)
WORK = ("linear_flops_per_token", "attention_flops_per_pair", "head_flops_per_row")
PHASES = ("prefill", "decode")
ROUNDED_ON_THE_WAY = {
    "params": (1, 2),
    "kv_bytes_per_token": (2, 3),
    "kv_cache_bytes": (2, 3),
    "weight_bytes": (2, 3),
    "weight_bytes_read": (2, 3),
    "ridge_point": (2, 3),
    "peak_flops": (2, 3),
    "mem_bandwidth": (2,),
    "itl": (1, 2, 3),
    "prefill_time": (2, 3),
}
"""Figures people write down before they go on, and to how many digits."""


def _times(text: str, *names: str) -> dict[str, str]:
    """Each name set to itself times a factor."""
    return {name: f"{name}*{text}" for name in names}


def _switch(name: str, value: str) -> dict[str, dict[str, str]]:
    return {"assume": {name: value}}


OMISSIONS = (
    Slip(
        "kv_ignored",
        (
            CaseChange("reads of the cache left out", _switch("kv_traffic", "off")),
            CaseChange("no cache at all", _times("0", *CACHE)),
        ),
        common=True,
    ),
    Slip(
        "attention_ignored",
        (CaseChange("attention FLOPs left out", _switch("attention_flops", "off")),),
    ),
    Slip(
        "growth_ignored",
        (
            CaseChange(
                "every step at one context, as if the cache did not grow",
                {"assume": {"kv_growth": "fixed"}},
            ),
        ),
    ),
    Slip(
        "output_ignored",
        (
            CaseChange("the output left out of the longest context", {"peak_context": "prompt"}),
            CaseChange("the prompt left out of the longest context", {"peak_context": "output"}),
        ),
    ),
    Slip(
        "window_ignored",
        (
            CaseChange(
                "every layer keeps the whole context, as if none had a window",
                {"window": "context"},
            ),
        ),
    ),
    Slip(
        "links_ignored",
        (
            CaseChange(
                "the time on the links between devices left out",
                _times(
                    "0",
                    *(
                        f"{phase}_link_time"
                        for phase in ("prefill", "decode", "mixed", "loaded", "mixture")
                    ),
                ),
            ),
        ),
    ),
    Slip(
        "training_flops",
        (
            CaseChange(
                "6 FLOP a parameter and token, as in training, for 2",
                _times("3", "linear_flops_per_token", "head_flops_per_row"),
            ),
            CaseChange("forward and backward pass counted, as in training", _times("3", *WORK)),
        ),
    ),
)

STRUCTURE = (
    Slip(
        "gqa_forgotten",
        (
            CaseChange(
                "query heads used for KV heads in the cache", _times("n_heads/n_kv_heads", *CACHE)
            ),
            CaseChange(
                "query heads used for KV heads", {"n_kv_heads": "n_heads"}, precise_for=("params",)
            ),
        ),
        common=True,
    ),
    Slip(
        "latent_kv_expanded",
        (
            CaseChange(
                "keys and values of every head kept in place of their latent",
                _times(
                    "n_heads*(qk_nope_dim + qk_rope_dim + value_dim)/(kv_lora_rank + qk_rope_dim)",
                    *CACHE,
                ),
            ),
            CaseChange(
                "a latent cache taken for two vectors of value_dim a head",
                _times("2*n_heads*value_dim/(kv_lora_rank + qk_rope_dim)", *CACHE),
            ),
            CaseChange(
                "a latent for keys and another for values",
                _times("2*kv_lora_rank/(kv_lora_rank + qk_rope_dim)", *CACHE),
            ),
        ),
    ),
    Slip(
        "rope_key_forgotten",
        (
            CaseChange(
                "the rotated key beside the latent left out",
                _times("kv_lora_rank/(kv_lora_rank + qk_rope_dim)", *CACHE),
            ),
        ),
    ),
    Slip(
        "experts_topk_vs_all",
        (
            CaseChange(
                "a step reads the experts of one token, whatever its batch",
                {"experts_read": "experts_per_token", "prefill_experts_read": "experts_per_token"},
            ),
            CaseChange(
                "every expert is read, however few tokens there are", _switch("experts", "all")
            ),
            CaseChange("no two tokens share an expert", _switch("experts", "distinct_max")),
        ),
    ),
    Slip(
        "total_vs_active_params",
        (
            CaseChange(
                "every parameter taken for one that a token multiplies", {"active_params": "params"}
            ),
            MisreadResult(
                "only the parameters that a token multiplies counted",
                "value*active_params/params",
                ("parameter", "byte"),
                ("n_experts", "active_params"),
            ),
            MisreadResult(
                "only the parameters that a token multiplies counted, and the input table",
                "value*(active_params + d_model*vocab_size)/params",
                ("parameter", "byte"),
                ("n_experts",),
            ),
            CaseChange(
                "every expert multiplied by every token", {"experts_per_token": "n_experts"}
            ),
        ),
        common=True,
    ),
    Slip(
        "head_dim_assumed",
        (
            CaseChange(
                "head width taken as d_model/n_heads in attention",
                _times("d_model/(n_heads*head_dim)", *CACHE, "attention_flops_per_pair"),
            ),
            CaseChange("head width taken as d_model/n_heads", {"head_dim": "d_model/n_heads"}),
        ),
    ),
    Slip(
        "width_guessed",
        (
            CaseChange(
                "width guessed as sqrt(params/(12*n_layers)), grouped heads left out",
                {
                    "kv_bytes_per_token": "2*n_layers*sqrt(params/(12*n_layers))*kv_bytes_per_element"
                },
            ),
        ),
    ),
    Slip(
        "tied_embedding",
        (
            CaseChange(
                "the gathered input table counted among the active parameters",
                {"active_params": "active_params + d_model*vocab_size"},
            ),
            CaseChange(
                "a tied embedding counted twice, or a head counted in",
                {"params": "params + d_model*vocab_size"},
            ),
            CaseChange("an untied head left out", {"params": "params - d_model*vocab_size"}),
            CaseChange(
                "the gathered input table streamed too",
                {
                    "weight_bytes_read": "weight_bytes_read + d_model*vocab_size*weight_bytes_per_param"
                },
            ),
            CaseChange(
                "the head not streamed",
                {
                    "weight_bytes_read": "weight_bytes_read - d_model*vocab_size*weight_bytes_per_param"
                },
            ),
        ),
    ),
    Slip(
        "k_and_v_factor",
        (
            CaseChange("keys without values, or values without keys", _times("1/2", *CACHE)),
            CaseChange("the factor 2 of keys and values twice", _times("2", *CACHE)),
        ),
        common=True,
    ),
    Slip(
        "kv_heads_wrong",
        tuple(
            CaseChange(f"{count} KV heads", _times(f"{count}/n_kv_heads", *CACHE))
            for count in (1, 2, 4, 8, 16, 32)
        ),
    ),
)

COUNTING = (
    Slip(
        "acceptance_not_compounded",
        (
            CaseChange(
                "accepted tokens added up, though each needs all before it to be accepted",
                {"tokens_per_verify": "1 + acceptance*draft_tokens"},
            ),
            CaseChange(
                "only the tokens that are accepted counted, not the one that comes with them",
                {"tokens_per_verify": "tokens_per_verify - 1"},
            ),
        ),
    ),
    Slip(
        "markup_vs_margin",
        (
            CaseChange(
                "a share of the price put on top of the cost",
                {"price_per_mtok": "cost_per_mtok*(1 + margin)"},
            ),
        ),
    ),
    Slip(
        "causal_factor",
        (
            CaseChange(
                "the whole square of attention counted, not the causal half",
                _switch("attention", "full"),
            ),
            CaseChange(
                "the causal half counted, not the whole square", _switch("attention", "causal")
            ),
        ),
    ),
    Slip(
        "memory_floor_ignored",
        tuple(
            CaseChange(
                f"only the {phase}'s FLOPs timed: no memory floor",
                {f"{phase}_roofline_time": f"{phase}_compute_time"},
            )
            for phase in PHASES
        ),
    ),
    Slip(
        "compute_floor_ignored",
        tuple(
            CaseChange(
                f"only the {phase}'s bytes timed: no compute floor",
                {f"{phase}_roofline_time": f"{phase}_memory_time"},
            )
            for phase in PHASES
        ),
    ),
    Slip(
        "n_vs_n_minus_one",
        (
            CaseChange(
                "as many decode steps as output tokens; the first token comes with the prefill",
                _switch("decode_steps", "output"),
            ),
            CaseChange(
                "one decode step fewer than counted", _switch("decode_steps", "output_minus_one")
            ),
            CaseChange("one output token more", {"output": "output + 1"}),
            CaseChange("one output token fewer", {"output": "output - 1"}),
            CaseChange("one token of context more", {"context": "context + 1"}),
        ),
    ),
    Slip(
        "batch_factor",
        (
            CaseChange("one request in place of the batch", {"batch": "1"}),
            MisreadResult("the batch left out", "value/batch", (), ("batch",)),
            MisreadResult("multiplied by the batch once more", "value*batch", (), ("batch",)),
        ),
        common=True,
    ),
    Slip(
        "per_device_vs_total",
        (
            CaseChange("one device in place of the group", {"tp": "1"}),
            MisreadResult(
                "one device's share for the whole",
                "value/tp",
                ("byte", "FLOP", "USD", "token", "request", "J"),
                ("tp", "params", "kv_bytes_per_token", "mem_capacity"),
            ),
            MisreadResult(
                "multiplied by the devices",
                "value*tp",
                ("byte", "FLOP", "USD", "token", "request", "J"),
                ("tp", "params", "kv_bytes_per_token", "mem_capacity"),
            ),
        ),
        common=True,
    ),
    Slip(
        "layers_factor",
        (
            CaseChange("the cache of one layer", _times("1/n_layers", *CACHE)),
            CaseChange(
                "every layer taken for one that keeps a cache",
                {"kv_bytes_per_token": "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element"},
            ),
            MisreadResult(
                "one layer in place of all", "value/n_layers", ("byte", "FLOP", "s"), ("n_layers",)
            ),
            MisreadResult(
                "layers counted twice", "value*n_layers", ("byte", "FLOP", "s"), ("n_layers",)
            ),
        ),
    ),
    Slip(
        "per_token_vs_per_sequence",
        (
            MisreadResult(
                "of one token, not of the sequence",
                "value/context",
                ("byte", "FLOP", "s"),
                ("context",),
            ),
            MisreadResult(
                "of a sequence, not of one token",
                "value*context",
                ("byte", "FLOP", "s"),
                ("context", "kv_bytes_per_token"),
            ),
            MisreadResult(
                "of one prompt token, not of the prompt",
                "value/prompt",
                ("byte", "FLOP", "s"),
                ("prompt",),
            ),
            MisreadResult(
                "of the prompt, not of one token",
                "value*prompt",
                ("byte", "FLOP", "s"),
                ("linear_flops_per_token", "mem_bandwidth"),
            ),
            MisreadResult(
                "of one output token, not of the response",
                "value/output",
                ("byte", "FLOP", "s", "USD"),
                ("output",),
            ),
            MisreadResult(
                "of the response, not of one output token",
                "value*output",
                ("byte", "FLOP", "s"),
                ("mem_bandwidth",),
            ),
        ),
    ),
    Slip(
        "rounded_chain",
        (
            *(
                RoundedFigure(name, digits)
                for name, places in ROUNDED_ON_THE_WAY.items()
                for digits in places
            ),
            *(RoundedFigure("itl", digits, rate="user_rate") for digits in (1, 2, 3)),
        ),
        paired=False,
        numbers_only=True,
    ),
)

KIN = ("siblings", "parts", "generations")
DEVICE = (
    Slip(
        "sparse_peak",
        (OtherFigure("the sparse peak, {figure}, for the dense one", "peak_flops", "sparse"),),
        numbers_only=True,
        common=True,
    ),
    Slip("peak_of_other_dtype", (OtherFigure("the {figure} peak", "peak_flops", "precisions"),)),
    Slip(
        "bidirectional_link",
        (
            CaseChange("both directions of the link added", _times("2", "link_bandwidth")),
            CaseChange("both directions of the host link added", _times("2", "host_bandwidth")),
            MisreadResult(
                "both directions of the link added",
                "value*2",
                ("byte",),
                ("link_bandwidth", "host_bandwidth"),
            ),
        ),
    ),
    Slip(
        "peak_of_other_sku",
        tuple(OtherFigure("the peak of the {figure}", "peak_flops", kind) for kind in KIN),
    ),
    Slip(
        "bandwidth_of_other_part",
        tuple(OtherFigure("the bandwidth of the {figure}", "mem_bandwidth", kind) for kind in KIN),
    ),
)

WIDTHS = ("fp32", "fp16", "fp8", "int4")
PRECISION = (
    Slip(
        "bytes_per_param_forgotten",
        (
            CaseChange(
                "weights at one byte each: the bytes of a parameter forgotten",
                {"weight_bytes_per_param": "1"},
            ),
        ),
        common=True,
    ),
    Slip(
        "precision_mixed",
        (
            *(
                CaseChange(f"the {role} at {name}", {role: name})
                for name in WIDTHS
                for role in ("weights", "kv")
            ),
            *(
                CaseChange(
                    f"weights and arithmetic at {name}", {"weights": name, "activations": name}
                )
                for name in WIDTHS
            ),
            *(
                CaseChange(
                    f"weights, cache and arithmetic at {name}",
                    {"weights": name, "kv": name, "activations": name},
                )
                for name in WIDTHS
            ),
            *(
                CaseChange(f"weights of {size} byte each", {"weight_bytes_per_param": size})
                for size in ("4", "2", "1/2")
            ),
        ),
    ),
)

LINES = ("disk_bandwidth", "host_bandwidth", "link_bandwidth", "network_bandwidth")
"""Whose rates are printed in bits as often as in bytes."""
COUNTS = ("prompt", "context", "output", "cached_prefix")
UNITS = (
    Slip(
        "mac_vs_flop",
        (
            CaseChange("multiply-adds counted as one FLOP", _times("1/2", *WORK)),
            CaseChange("FLOPs doubled once more", _times("2", *WORK)),
            MisreadResult("multiply-adds counted as one FLOP", "value/2", ("FLOP",)),
            MisreadResult("FLOPs doubled once more", "value*2", ("FLOP",)),
        ),
        common=True,
    ),
    Slip(
        "gb_gib",
        (
            MisreadResult(
                "a {binary} written for a {decimal}", "value*(1000/1024)^prefix", ("byte",)
            ),
            MisreadResult(
                "a {decimal} written for a {binary}", "value*(1024/1000)^prefix", ("byte",)
            ),
            CaseChange(
                "memory of so many GB taken as GiB", _times("(1024/1000)^3", "mem_capacity")
            ),
            CaseChange(
                "memory of so many GiB taken as GB", _times("(1000/1024)^3", "mem_capacity")
            ),
        ),
        numbers_only=True,
        common=True,
    ),
    Slip(
        "decimal_binary_k",
        (
            *(
                CaseChange(f"a k of 1,000 in the {name}", _times("1000/1024", name))
                for name in COUNTS
            ),
            *(
                CaseChange(f"a k of 1,024 in the {name}", _times("1024/1000", name))
                for name in COUNTS
            ),
            MisreadResult("tokens counted with a k of 1,024", "value*1000/1024", ("token",)),
            MisreadResult("tokens counted with a k of 1,000", "value*1024/1000", ("token",)),
        ),
        numbers_only=True,
    ),
    Slip(
        "bits_bytes",
        (
            MisreadResult("bits taken for bytes", "value*8", ("byte",)),
            MisreadResult("bytes taken for bits", "value/8", ("byte",)),
            CaseChange("a rate in bytes taken for one in bits", _times("1/8", *LINES)),
            CaseChange("a rate in bits taken for one in bytes", _times("8", *LINES)),
        ),
        common=True,
    ),
    Slip(
        "inverted_ratio",
        (
            MisreadResult("the ratio upside down", "1/value"),
            MisreadResult("a time in milliseconds read as a rate", "1000/value", ("s",)),
            MisreadResult("a rate read as a time in milliseconds", "1/(1000*value)", ("s",)),
        ),
    ),
    Slip(
        "hours_seconds",
        (
            MisreadResult("hours taken for seconds", "value*3600", ("s", "USD")),
            MisreadResult("seconds taken for hours", "value/3600", ("s", "USD")),
        ),
    ),
    Slip(
        "decimal_point",
        (
            *(
                MisreadResult(
                    f"the decimal point {places} place{'s' * (places > 1)} to the {side}",
                    f"value{by}10^{places}",
                )
                for places in (1, 2)
                for side, by in (("right", "*"), ("left", "/"))
            ),
            MisreadResult("a factor of 1,000 too much", "value*10^3"),
            MisreadResult("a factor of 1,000 too little", "value/10^3"),
        ),
        paired=False,
        numbers_only=True,
    ),
)

CATALOGUE: tuple[Slip, ...] = (
    *STRUCTURE[:4],
    *OMISSIONS,
    *STRUCTURE[4:],
    *DEVICE,
    *COUNTING,
    *PRECISION,
    *UNITS,
)
"""Every slip that changes a formula, a figure or a unit, the most specific first."""

OTHER_COUNTS = frozenset({"kv_ignored", "attention_ignored", "causal_factor"})
"""Slips that are another way of counting rather than an error: a claim that one of them explains is
right under what it leaves out."""
