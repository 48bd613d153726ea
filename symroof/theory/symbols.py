"""Every input of a case: one name, one LaTeX spelling, one unit, one meaning, and its default if it has one."""

from __future__ import annotations

from dataclasses import dataclass

from symroof.formula.text import text
from symroof.formula.tree import Name, Slope, Tree
from symroof.units import Dimension, combine, describe, parse_quantity, parse_unit


@dataclass(frozen=True)
class Symbol:
    """An input or a quantity, as people see it.

    Attributes:
        name: the one name used in files, formulas, JSON and Python.
        latex: how formulas spell it.
        unit: its base unit; the empty text is a plain number.
        meaning: one line.
        default: the value of a case that sets none; it is listed as defaulted.
        aliases: other names accepted on input, never printed.
        counted: whether it counts things, so that thresholds are rounded to whole ones.
        written_in: the unit people write it in, where that is not the base unit.
        from_zero: whether it may be zero; an input whose default is 0 always may.
        signed: whether it may be negative; every other number is positive or zero.
        least, most: formulas of its bounds; without them every positive value is valid.
        noun: what it counts, in the word that texts for people use where that is not its unit.
        negligible: a quantity below which texts for people write 0: estimates mean nothing there.
    """

    name: str
    latex: str
    unit: str
    meaning: str
    default: str | None = None
    aliases: tuple[str, ...] = ()
    counted: bool = False
    written_in: str | None = None
    from_zero: bool = False
    signed: bool = False
    least: str | None = None
    most: str | None = None
    noun: str | None = None
    negligible: str | None = None

    @property
    def spoken_unit(self) -> str:
        """The unit as texts for people name it: replicas are not devices, whatever the dimension says."""
        return self.noun or self.unit

    @property
    def dimension(self) -> Dimension:
        return parse_unit(self.unit).dimension

    @property
    def may_vanish(self) -> bool:
        """Whether it may be zero: as it is declared, or because its default is."""
        return self.from_zero or (self.default is not None and parse_quantity(self.default).value == 0)


def _symbol(name: str, latex: str, unit: str, meaning: str, default: str | None = None, **more: object) -> Symbol:
    return Symbol(name, latex, unit, meaning, default, **more)  # type: ignore[arg-type]


ARCHITECTURE = (
    _symbol("n_layers", "L", "", "decoder layers", counted=True),
    _symbol("d_model", "d", "", "residual width", aliases=("hidden_size",), counted=True),
    _symbol("n_heads", "H", "", "query heads", counted=True),
    _symbol("n_kv_heads", "H_{kv}", "", "key and value heads", counted=True),
    _symbol("head_dim", "d_h", "", "width of one head; explicit, never assumed d_model/n_heads", counted=True),
    _symbol("d_ff", "d_{ff}", "", "feed-forward width", counted=True),
    _symbol("ffn_matrices", "n_f", "", "feed-forward matrices: 3 gated, 2 plain", counted=True),
    _symbol("vocab_size", "V", "token", "rows of the embedding table", counted=True),
    _symbol("window", "w", "token", "sliding-window length: keys a token sees at most, its own included", counted=True),
    _symbol("chunk_size", "c_a", "token", "chunk length of chunked attention: a token sees what stands before it in its own chunk", counted=True),
    _symbol("value_dim", "d_v", "", "width of one value head, where it is not head_dim", counted=True),
    _symbol("n_experts", "E", "", "routed experts of a layer", counted=True),
    _symbol("experts_per_token", "k", "", "routed experts one token is sent to", counted=True),
    _symbol("n_shared_experts", "E_s", "", "experts of a layer that see every token", counted=True),
    _symbol("d_expert", "d_e", "", "feed-forward width of one routed expert", counted=True),
    _symbol("d_shared", "d_{es}", "", "feed-forward width of one shared expert", counted=True),
    _symbol("q_lora_rank", "r_q", "", "width of the narrow middle of the queries (latent attention)", counted=True),
    _symbol("kv_lora_rank", "r_{kv}", "", "width of the latent that stands for all keys and values of a token", counted=True),
    _symbol("qk_nope_dim", "d_n", "", "width of the part of a query and key head that is not rotated (latent attention)", counted=True),
    _symbol("qk_rope_dim", "d_r", "", "width of the rotated key all heads share (latent attention)", counted=True),
    _symbol("d_inner", "d_i", "", "channels of a state-space layer", counted=True),
    _symbol("d_state", "d_s", "", "state of one channel", counted=True),
    _symbol("d_conv", "d_c", "", "taps of the short convolution", counted=True),
    _symbol("dt_rank", "r_{dt}", "", "width through which the step sizes come (Mamba)", counted=True),
    _symbol("ssm_heads", "H_s", "", "heads of a state-space layer (Mamba-2)", counted=True),
    _symbol("ssm_groups", "G_s", "", "groups that share inputs and outputs of the state (Mamba-2)", counted=True),
    _symbol("linear_key_heads", "H_{lk}", "", "key and query heads of linear attention", counted=True),
    _symbol("linear_value_heads", "H_{lv}", "", "value heads of linear attention", counted=True),
    _symbol("linear_key_dim", "d_{lk}", "", "width of one key head of linear attention", counted=True),
    _symbol("linear_value_dim", "d_{lv}", "", "width of one value head of linear attention", counted=True),
    _symbol("d_latent", "d_l", "", "width of the latent that routed experts work on, where they do", counted=True),
    _symbol("d_embedding", "d_{emb}", "", "width of the embedding tables, where it is not the residual's", counted=True),
    _symbol("more_embeddings", "V_{img}", "token", "rows of the input table that the head does not have", counted=True),
    _symbol("d_layer_input", "d_p", "", "width of the vector that a token brings for each layer", counted=True),
    _symbol("layer_input_vocab", "V_p", "token", "rows of the table of those vectors", counted=True),
    _symbol("altup_inputs", "a_u", "", "copies of the residual that are kept beside each other", counted=True),
    _symbol("laurel_rank", "r_l", "", "width of the narrow product beside the attention", counted=True),
    _symbol("learned_positions", "n_{pos}", "token", "learned position vectors", counted=True),
)

PRECISION = (
    _symbol("weight_bytes_per_param", "b_w", "byte/parameter", "bytes of one weight", "2"),
    _symbol("unquantized_bytes_per_param", "b_k", "byte/parameter", "bytes of a parameter that a quantized checkpoint keeps wide", "2"),
    _symbol("kv_bytes_per_element", "b_{kv}", "byte", "bytes of one cached key or value element", "2"),
    _symbol("state_bytes_per_element", "b_s", "byte", "bytes of one element that a recurrence carries from token to token", "4"),
    _symbol("act_bytes_per_element", "b_a", "byte", "bytes of one activation element", "2"),
    _symbol("link_bytes_per_element", "b_l", "byte", "bytes of one element that devices send each other", "2"),
)

WORKLOAD = (
    _symbol("prompt", "S", "token", "prompt tokens of one request", aliases=("isl", "seq_len"), counted=True, least="cached_prefix"),
    _symbol("output", "N", "token", "generated tokens of one request", aliases=("osl",), counted=True),
    _symbol("batch", "B", "request", "decode batch size: requests decoded together", "1", aliases=("bs", "batch_size"), counted=True),
    _symbol("prefill_batch", "B_p", "request", "requests prefilled together", "1", counted=True),
    _symbol("cached_prefix", "S_c", "token", "prompt tokens already cached", "0", counted=True, most="prompt"),
    _symbol("chunk", "c_p", "token", "prompt tokens prefilled in a decode step (token budget less the batch)", counted=True),
    _symbol("chunk_past", "c_0", "token", "prompt tokens already prefilled before a chunk", "0", counted=True),
    _symbol("draft_tokens", r"\gamma", "token", "tokens drafted for one verification", counted=True),
    _symbol("acceptance", r"\alpha", "", "acceptance rate: probability that a drafted token is accepted", most="1", from_zero=True),
    _symbol("draft_cost", "c", "", "time to draft one token, as a share of a decode step", "0"),
    _symbol("arrival_rate", r"\lambda", "request/s", "requests that arrive per second", aliases=("request_rate", "qps", "rps"), from_zero=True),
    _symbol("service_spread", "v_s", "", "squared coefficient of variation of the service time", "1", from_zero=True),
    _symbol("output_spread", "v_N", "", "squared coefficient of variation of the output length: 0 where all responses are equally long", "0", from_zero=True),
    _symbol("hit_rate", "h", "", "prefix-cache hit rate: share of requests whose prefix is cached", "1", most="1", from_zero=True),
    _symbol("slo_share", r"s_{\mathrm{SLO}}", "", "share of requests that meet the targets", "1", most="1", from_zero=True),
    _symbol("percentile", "q_w", "", "quantile of the wait: share of requests that wait no longer", "0.99", most="1", from_zero=True),
    _symbol("burst_rate", r"\lambda_b", "request/s", "requests that arrive per second in a burst", from_zero=True),
    _symbol("burst_duration", "t_b", "s", "length of a burst", from_zero=True),
    _symbol("long_share", "s_l", "", "share of requests that are long", most="1", from_zero=True),
    _symbol("long_prompt", "S_l", "token", "prompt tokens of a long request", counted=True),
    _symbol("long_output", "N_l", "token", "generated tokens of a long request", counted=True),
    _symbol("preemption_rate", r"\lambda_p", "1/s", "preemptions per second", from_zero=True),
    _symbol("block_size", "p", "token", "tokens of one paged cache block", "16", counted=True),
)

HARDWARE = (
    _symbol("peak_flops", "F", "FLOP/s", "dense peak at the compute precision, one device"),
    _symbol("mem_bandwidth", r"\beta", "byte/s", "memory bandwidth, one device"),
    _symbol("mem_capacity", "M", "byte", "memory capacity, one device"),
    _symbol("link_bandwidth", r"\beta_l", "byte/s", "device-to-device bandwidth, one direction, one device"),
    _symbol("link_latency", r"\alpha_l", "s", "fixed time of one collective", "0"),
    _symbol("node_devices", r"n_{\mathrm{node}}", "device", "devices of a node, which the fast link connects", "8", counted=True),
    _symbol("network_bandwidth", r"\beta_n", "byte/s", "bandwidth between nodes, one direction, one device"),
    _symbol("network_latency", r"\alpha_n", "s", "fixed time of one collective between nodes", "0"),
    _symbol("l2_bandwidth", r"\beta_{L2}", "byte/s", "bandwidth of the L2 cache"),
    _symbol("host_bandwidth", r"\beta_h", "byte/s", "host link bandwidth, one direction, one device"),
    _symbol("disk_bandwidth", r"\beta_d", "byte/s", "rate at which weights are read from storage"),
    _symbol("price", "p_d", "USD/s", "price of one device", written_in="USD/hour"),
    _symbol("power", "W_d", "W", "power of one device"),
    _symbol("multiprocessors", "n_{sm}", "", "streaming multiprocessors of one device", counted=True),
    _symbol("clock", "f", "Hz", "boost clock"),
    _symbol("sram_bytes_per_clock", "b_{sm}", "byte", "bytes one multiprocessor reads from shared memory in a clock", "128"),
    _symbol("sram_per_multiprocessor", "M_{sm}", "byte", "shared memory and L1 of one multiprocessor"),
    _symbol("l2_capacity", "M_{L2}", "byte", "L2 cache of one device"),
)

EFFICIENCY = (
    _symbol("mfu", r"\eta_c", "", "achieved share of peak compute", "1", most="1"),
    _symbol("mbu", r"\eta_m", "", "achieved share of peak memory bandwidth", "1", most="1"),
    _symbol("link_share", r"\eta_l", "", "achieved share of link bandwidth", "1", most="1"),
    _symbol("step_overhead", "t_0", "s", "fixed overhead of a step", "0"),
    _symbol("layer_overhead", "t_l", "s", "fixed overhead of a layer in a step", "0"),
    _symbol("elementwise_bytes", "q_e", "byte", "memory traffic of elementwise work between operators, per element of a token's vector and layer", "0"),
    _symbol("kernel_launch", "t_k", "s", "time to launch one kernel", "0"),
    _symbol("kernels_per_layer", "n_k", "", "kernels of one layer", counted=True),
    _symbol("queue_time", "t_q", "s", "wait before the prefill", "0"),
    _symbol("memory_reserve", "M_0", "byte", "memory of one device kept for activations and the runtime", "0"),
    _symbol("memory_share", r"\eta_M", "", "usable share of memory", "1", most="1"),
)

PARALLEL = (
    _symbol("tp", "n", "device", "tensor-parallel degree", "1", counted=True),
    _symbol("pp", "n_p", "device", "pipeline-parallel degree: stages", "1", counted=True, noun="stage"),
    _symbol("ep", "n_e", "device", "expert-parallel degree: devices over which whole experts are spread", "1", counted=True),
    _symbol("dp", "n_d", "device", "data-parallel degree: replicas of the instance, each with its own requests", "1", counted=True, noun="replica"),
    _symbol(
        "attention_dp",
        "n_a",
        "device",
        "DP attention degree: groups that each hold all but the routed experts, with their own requests",
        "1",
        counted=True,
        noun="group",
    ),
    _symbol("prefill_devices", "n_{pf}", "device", "devices dedicated to prefill (disaggregated prefill)", counted=True),
)

TARGETS = (
    _symbol("ttft_target", r"T_{\mathrm{TTFT}}", "s", "limit on the time to first token"),
    _symbol("attention_share", "s_a", "", "share of a prefill's other FLOPs that attention's are compared with", "0.1"),
    _symbol("speedup_target", "u", "", "speed-up that speculation has to reach", "1"),
    _symbol("margin", "m_p", "", "share of the price that is not cost", most="1"),
    _symbol("price_target", r"p_{\mathrm{max}}", "USD/s", "limit on the price of the devices of one instance", written_in="USD/hour"),
    _symbol("fleet_price_target", r"p_{f,\mathrm{max}}", "USD/s", "budget: limit on the price of all devices of the fleet", written_in="USD/hour"),
    _symbol("cost_target", r"c_{\mathrm{max}}", "USD", "limit on the cost per million output tokens, another device's cost for instance"),
    _symbol("rival_price", r"p_{\mathrm{rival}}", "USD/s", "price of another device to compare with", written_in="USD/hour"),
    _symbol("rival_throughput", r"X_{\mathrm{rival}}", "token/s", "output tokens per second of one such device, under the same targets"),
    _symbol("expert_share", "s_e", "", "share of a layer's experts that count as nearly all", "0.95", most="1"),
    _symbol("itl_target", r"T_{\mathrm{ITL}}", "s", "limit on the inter-token latency, at the last step"),
)

TARGET_SYMBOLS = {"ttft": "ttft_target", "itl": "itl_target", "cost": "cost_target", "price": "price_target", "fleet_price": "fleet_price_target"}
"""A target by the word people set it with, and the symbol that holds it in formulas."""

SHAPES = (
    _symbol("gemm_m", "m", "", "rows of a matrix product (tokens)", counted=True),
    _symbol("gemm_k", "k_g", "", "inner width of a matrix product", counted=True),
    _symbol("gemm_n", "n_g", "", "outer width of a matrix product", counted=True),
    _symbol("intensity", "I", "FLOP/byte", "arithmetic intensity of any kernel"),
    _symbol("weight_bits", "q", "byte", "width of one quantized weight", written_in="bit"),
    _symbol("scale_bits", "q_s", "byte", "width of one scale", "0", written_in="bit"),
    _symbol("scale_group", "g", "", "weights that share a scale", "1", counted=True),
)

GROUPS = {
    "architecture": ARCHITECTURE,
    "precision": PRECISION,
    "workload": WORKLOAD,
    "hardware": HARDWARE,
    "efficiency": EFFICIENCY,
    "parallel": PARALLEL,
    "targets": TARGETS,
    "shapes": SHAPES,
}
INPUTS: dict[str, Symbol] = {symbol.name: symbol for group in GROUPS.values() for symbol in group}
ALIASES: dict[str, str] = {alias: symbol.name for symbol in INPUTS.values() for alias in symbol.aliases}
NOUNS = frozenset(symbol.noun for symbol in INPUTS.values() if symbol.noun)
"""Words for counted things that are not units."""
SHARES = frozenset(symbol.name for symbol in INPUTS.values() if symbol.most == "1")
"""Inputs that lie between 0 and 1."""
STEP_INDEX = Symbol("step", "j", "", "number of a decode step", counted=True)


class Unnamed(str):
    """A formula where a name is taken: its text, with the tree. What computes quantities by name computes it like one.

    >>> from symroof.formula.parse import parse
    >>> Unnamed.of(parse("ttft/itl")), base_name(Unnamed.of(parse("0.5*itl")))
    ('ttft/itl', 'itl/2')
    """

    tree: Tree

    @classmethod
    def of(cls, tree: Tree) -> Unnamed:
        made = cls(text(tree))
        made.tree = tree
        return made


def named(tree: Tree) -> str:
    """The name that a formula is, or else the formula where a name is taken.

    >>> from symroof.formula.parse import parse
    >>> named(parse("itl")), named(parse("2*itl")), isinstance(named(parse("itl")), Unnamed)
    ('itl', '2*itl', False)
    """
    return tree.name if isinstance(tree, Name) else Unnamed.of(tree)


UNNAMED = (Unnamed, Slope)
"""What may stand where a name is taken without being declared."""


def base_name(name: str) -> str:
    """``n_heads.local`` is a spelling of ``n_heads`` for one kind of layer."""
    return name if isinstance(name, UNNAMED) else name.partition(".")[0]


def canonical(name: str) -> str:
    """The printed name of an input, whatever alias it was given by."""
    return ALIASES.get(name, name)


def slope_symbol(name: Slope, quantity: Symbol, by: Symbol) -> Symbol:
    r"""The declaration of a derivative, from those of the quantity and of the input that moves it.

    >>> slope_symbol(Slope.of("prompt", "batch"), INPUTS["prompt"], INPUTS["batch"]).latex
    '\\frac{\\partial S}{\\partial B}'
    """
    unit = combine((quantity.dimension, 1), (by.dimension, -1))
    latex = rf"\frac{{\partial {quantity.latex}}}{{\partial {by.latex}}}"
    return Symbol(name, latex, describe(unit) if unit else "", f"derivative of {quantity.name} by {by.name}", signed=True)


def default_latex(name: str) -> str:
    r"""How formulas spell a name that declares no LaTeX.

    >>> default_latex("wasted_prefill"), default_latex("j")
    ('\\mathrm{wasted\\_prefill}', 'j')
    """
    return name if len(name) == 1 else rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"
