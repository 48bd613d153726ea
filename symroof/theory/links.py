"""Communication of devices: rings and exchanges within a node, and between nodes if a group is larger than one."""

from symroof.symbolic.expressions import ZERO, Expr, symbol
from symroof.symbolic.nodes import Min
from symroof.symbolic.reading import parse
from symroof.theory.layout import Layout

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
