"""How an instance is laid out on its devices: which parallel degrees exceed one, the share of a width that one device holds,
and the time that devices take to communicate (rings and exchanges within a node, and between nodes if a group is larger).

Structure only, like an architecture: a single device needs no formulas of shares, and evenly divided heads no rounding.
:func:`layout` reads it off the values of a case.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from symroof.symbolic.expressions import ONE, ZERO, Expr, symbol
from symroof.symbolic.nodes import Min
from symroof.symbolic.reading import parse
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.symbols import base_name

EVEN = (
    *("d_ff", "d_inner", "d_shared"),
    *("vocab_size", "more_embeddings", "learned_positions", "layer_input_vocab"),
)
"""Widths that devices can split anywhere: feed-forward columns, rows of tables."""
HEADS = (
    *("n_heads", "n_kv_heads", "ssm_heads", "ssm_groups"),
    *("linear_key_heads", "linear_value_heads"),
)
"""Widths that devices hold in whole heads; with more devices than heads, copies."""

DEGREES = ("tp", "pp", "attention_dp", "ep", "dp")
FREE = "free"
"""The value of a degree that is an unknown or a formula: it may be any number."""

SHAPING = frozenset({*DEGREES, "node_devices"})
"""Inputs on which the form of per-device formulas depends, besides the heads."""

SYMBOLIC = 0
"""``pp`` that is no number."""


def shapes_layout(name: str) -> bool:
    """Whether the form of per-device formulas depends on a name, of any layer kind: degrees, and heads held whole.

    >>> shapes_layout("tp"), shapes_layout("n_kv_heads.local"), shapes_layout("batch")
    (True, True, False)
    """
    return base_name(name) in SHAPING or base_name(name) in HEADS


KNOWN = ("params", "weight_bytes", "d_model", "n_layers", "network_bandwidth")
"""Names for which a layout only depends on whether they have a value."""


def affects_layout(name: str) -> bool:
    """Whether a layout may change when a name gets a value or another one."""
    return name in KNOWN or shapes_layout(name)


@dataclass(frozen=True)
class Layout:
    """Which parallel degrees exceed one.

    Attributes:
        tp, attention_dp, ep, dp: whether the degree may differ from one.
        pp: the number of pipeline stages; :data:`SYMBOLIC` where it is no number.
        free: whether ``tp`` is not a number: heads are then divided as for any permitted degree.
        uneven: heads (per layer kind) that ``tp`` does not divide.
        copies: whether the copies of each device are known: norms, routers, latents, replicated heads.
        network: whether a group of devices may be larger than a node.
        rounded: whether a ``tp`` that is not a number may take values that do not divide the heads.
    """

    tp: bool = False
    attention_dp: bool = False
    ep: bool = False
    pp: int = 1
    free: bool = False
    uneven: frozenset[str] = frozenset()
    copies: bool = True
    network: bool = False
    dp: bool = False
    rounded: bool = False

    @property
    def single(self) -> bool:
        """Whether one device holds everything."""
        return not (self.tp or self.attention_dp or self.staged)

    @property
    def staged(self) -> bool:
        """Whether layers are split into stages."""
        return self.pp != 1

    @property
    def degrees(self) -> tuple[str, ...]:
        """The degrees whose product is the devices of one instance."""
        absent = self.absent()
        return tuple(name for name in ("tp", "attention_dp", "pp") if name not in absent)

    @property
    def group(self) -> str:
        """The devices that share a layer, as a product of degrees; empty if one device holds it alone."""
        return "*".join(name for name in self.degrees if name != "pp")

    def absent(self) -> dict[str, Expr]:
        """The value of each degree that is one."""
        above = (self.tp, self.staged, self.attention_dp, self.ep, self.dp)
        return {name: ONE for name, more in zip(DEGREES, above, strict=True) if not more}

    @property
    def exchanges(self) -> bool:
        """Whether tokens go to whole experts on other devices. Where one group shares its attention, each device has all tokens: it adds what its own
        experts contribute in the layer's all-reduce, and sends none (vLLM and SGLang with expert parallelism and without attention groups)."""
        return self.ep and (self.attention_dp or not self.tp)

    @property
    def instance(self) -> str:
        """The devices of one instance, as a product of degrees."""
        return "*".join(self.degrees) or "1"

    def devices(self) -> Expr:
        """The devices of one instance."""
        return parse(self.instance)

    def shares(self, layer: Layer) -> dict[str, Expr]:
        """One device's part of each width that ``tp`` splits, by the width's name in a row."""
        if not self.tp:
            return {}
        held = {name: f"{name}/tp" for name in (*EVEN, *HEADS)}
        held |= {
            name: f"max({name}/tp, 1)" if self.free and not self.rounded else f"ceil({name}/tp)"
            for name in HEADS
            if layer.symbol(name) in self.uneven
        }
        if "mamba2" in layer.mixers and layer.symbol("ssm_heads") in self.uneven:
            held["d_inner"] = f"d_inner/ssm_heads*{held['ssm_heads']}"  # channels belong to heads
        return {name: parse(text) for name, text in held.items()}


SINGLE = Layout()
"""One device."""


def layout(
    architecture: Architecture, value: Callable[[str], float | str | None], rounded: bool = False
) -> Layout:
    """The layout of a case; ``value`` gives the number of a name, :data:`FREE` if it is left open, None if it is not given.

    >>> layout(GENERIC, {"tp": 4.0, "n_kv_heads": 8.0, "n_heads": 14.0}.get).uneven
    frozenset({'n_heads'})
    """
    degrees = {name: value(name) for name in DEGREES}
    above = {name: degree is not None and degree != 1 for name, degree in degrees.items()}
    if not any(above.values()):
        return SINGLE
    tp, pp = degrees["tp"], degrees["pp"]
    free, stages = tp == FREE, 1 if not above["pp"] else SYMBOLIC
    if above["pp"] and isinstance(pp, float) and pp.is_integer() and pp > 0:
        stages = int(pp)
    uneven = frozenset(_uneven(architecture, tp, value)) if above["tp"] else frozenset()
    network = _network(degrees, value)
    # the parts of a given total are unknown, so shares are even
    given = any(value(name) is not None for name in KNOWN[:2])
    sized = architecture != GENERIC or all(value(name) is not None for name in KNOWN[2:4])
    ep = above["ep"] or above["attention_dp"]
    return _layout(
        above["tp"],
        above["attention_dp"],
        ep,
        stages,
        free,
        uneven,
        sized and not given,
        network,
        above["dp"],
        rounded and free,
    )


@lru_cache(maxsize=1024)
def _layout(*fields: object) -> Layout:
    """One object for equal layouts: theories are looked up by it."""
    return Layout(*fields)  # type: ignore[arg-type]


def _uneven(
    architecture: Architecture, tp: float | str | None, value: Callable[[str], float | str | None]
) -> Iterator[str]:
    """Heads that devices do not share equally; heads of unknown number are assumed to divide."""
    for name in dict.fromkeys(
        layer.symbol(head) for layer in architecture.layers for head in HEADS
    ):
        heads = value(name)
        if heads is not None and (
            not isinstance(heads, float) or not isinstance(tp, float) or not tp or heads % tp
        ):
            yield name


def _network(
    degrees: dict[str, float | str | None], value: Callable[[str], float | str | None]
) -> bool:
    """Whether a group may span nodes: it does, or a degree is free and the network is known."""
    sizes = [degree for name, degree in degrees.items() if name != "dp"]
    node = value("node_devices")
    if any(size == FREE for size in sizes) or node == FREE:
        return value("network_bandwidth") is not None
    tp, pp, attention_dp, ep, _ = (
        degree if isinstance(degree, float) else 1.0 for degree in degrees.values()
    )
    return isinstance(node, float) and max(tp * attention_dp * pp, ep) > node


LAYERS, EXPERT_LAYERS = symbol("n_layers"), symbol("expert_layers")
FAST, SLOW = "(link_share*link_bandwidth)", "(link_share*network_bandwidth)"


def others(devices: str) -> str:
    """The share of a message that the other devices hold, each an equal one: ``(n - 1)/n``."""
    return f"({devices} - 1)/({devices})"


def all_reduce(devices: str, message: str, network: bool = False, rounds: str = "2*") -> str:
    """A ring in which each device sends all but its own share, twice. Where the group is larger than a node the ring runs
    inside each node, and each device exchanges its share with its counterparts in the others (Thakur, Rabenseifner, Gropp 2005).

    >>> all_reduce("tp", "m")
    '(link_latency + 2*(tp - 1)/(tp)*m/(link_share*link_bandwidth))'
    """
    if not network:
        return f"(link_latency + {rounds}{others(devices)}*{message}/{FAST})"
    near, far = f"min({devices}, node_devices)", f"max({devices} - node_devices, 0)"
    inside = f"link_latency + {rounds}{others(near)}*{message}/{FAST}"
    return f"({inside} + min({far}, 1)*network_latency + {rounds}{far}/({devices}*node_devices)*{message}/{SLOW})"


def all_gather(devices: str, message: str, network: bool = False) -> str:
    """A ring all-gather: half of an all-reduce."""
    return all_reduce(devices, message, network, rounds="")


def all_to_all(message: str, network: bool = False) -> str:
    """Every token goes once to each device that holds some of its experts, or comes back from it; one device sends nothing. The most loaded device
    takes ``expert_imbalance`` times the mean. Another node is sent a token once, and passes it on to its devices (DeepEP)."""
    if not network:
        return f"(link_latency + expert_imbalance*{others('ep')}*expert_devices*{message}/{FAST})*min(1, ep - 1)"
    inside = f"link_latency + expert_imbalance*{others('min(ep, node_devices)')}*expert_devices*{message}/{FAST}"
    nodes = "ceil(ep/node_devices)"
    between = f"min(max(ep - node_devices, 0), 1)*network_latency + expert_imbalance*{others(nodes)}*expert_nodes*{message}/{SLOW}"
    return f"({inside} + {between})*min(1, ep - 1)"


def send(message: str) -> str:
    """A message from one device to the next."""
    return f"(link_latency + {message}/{FAST})"


def sends(message: str, layout: Layout) -> Expr:
    """The time of a pass to send activations from stage to stage; over the network if the next stage is in another node.

    A stage that fits in a node is placed in one; stages of a group larger than a node have separate nodes.
    """
    if not layout.staged:
        return ZERO
    if not layout.network:
        return parse(f"(pp - 1)*{send(message)}")
    beside = f"max(floor(node_devices/({layout.group})), 1)" if layout.group else "node_devices"
    far = f"(ceil(pp/{beside}) - 1)"
    return parse(f"(pp - 1 - {far})*{send(message)} + {far}*(network_latency + {message}/{SLOW})")


def message(tokens: str, width: str = "link_bytes_per_element") -> str:
    """The bytes of some tokens that devices send each other: one activation vector each."""
    return f"{tokens}*d_model*{width}"


def all_reduces(
    layout: Layout, experts: bool, layers: Expr = LAYERS, expert_layers: Expr = EXPERT_LAYERS
) -> Expr:
    """All-reduces of a pass within a group: two per layer; one if the layer's experts are spread over several groups."""
    if not layout.tp:
        return ZERO
    some = 2 * layers - (expert_layers if experts and layout.exchanges else 0)
    return parse("min(1, tp - 1)") * some if layout.free else some


def exchange_time(
    layout: Layout, tokens: str, experts: bool, expert_layers: Expr = EXPERT_LAYERS
) -> Expr:
    """The part of a pass's communication that sends tokens to whole experts on other devices, and their results back."""
    if not (experts and layout.exchanges):
        return ZERO
    there, back = (
        all_to_all(message(tokens, width), layout.network)
        for width in ("dispatch_bytes_per_element", "link_bytes_per_element")
    )
    return expert_layers * parse(f"{there} + {back}")


def link_time(
    layout: Layout,
    tokens: str,
    every: str,
    experts: bool,
    layers: Expr = LAYERS,
    expert_layers: Expr = EXPERT_LAYERS,
) -> Expr:
    """The communication time of a pass within one instance, without stages.

    ``tokens`` are those of one group, ``every`` those of all groups: routed experts work for all of them, whole on some
    devices each (two exchanges) or cut over all (one all-reduce).
    """
    times = exchange_time(layout, tokens, experts, expert_layers)
    if layout.tp:
        once = parse(all_reduce("tp", message(tokens), layout.network))
        times += all_reduces(layout, experts, layers, expert_layers) * once
    if experts and layout.exchanges and layout.group:
        cut = all_reduce(layout.group, message(every), layout.network)
        times += expert_layers * parse(f"max(2 - ep, 0)*{cut}")
    return times


def busy_time(roofline: Expr, link: Expr, exchange: Expr) -> Expr:
    """Work and communication one after the other, but for the share of the exchanges that runs beside the work."""
    if exchange == ZERO:
        return roofline + link
    return roofline + link - symbol("exchange_overlap") * Min(roofline, exchange)
