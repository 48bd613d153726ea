"""Messages between devices against their sends counted one by one: rings, exchanges and stages, inside a node and over the network."""

from fractions import Fraction
from itertools import pairwise, product
from types import SimpleNamespace

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.reading import parse
from symroof.theory.layout import (
    SINGLE,
    Layout,
    all_gather,
    all_reduce,
    all_to_all,
    link_time,
    sends,
)

from ..near import near
from ..tables import case_of

NODE = 8


NUMBERS = case_of(
    "link_bandwidth=97 network_bandwidth=13 link_latency=3 network_latency=5 d_model=11 tp=1 pp=1 "
    "attention_dp=1 link_bytes_per_element=2 dispatch_bytes_per_element=1 decode_tokens=17 "
    "prefill_tokens=19 message_bytes=840"
)


class Point(SimpleNamespace):
    axes = 0

    def value(self, name):
        return float(getattr(self, name))


def point(**fixed):
    shares = {"link_share": Fraction(3, 5), "expert_imbalance": Fraction(9, 7)}
    return Point(**{**NUMBERS, **shares, "node_devices": NODE, **fixed})


def over(v, fast, slow=0):
    """The time of bytes sent inside a node, and of others between nodes."""
    return (fast / v.link_bandwidth + slow / v.network_bandwidth) / v.link_share


def ring_time(v, devices, size, rounds):
    """A ring of the devices of a node, each sending a part of the message in turn; then, of each part, a ring of the nodes."""
    beside = min(devices, NODE)
    inside = sum(Fraction(size, beside) for _ in range(rounds) for _ in range(beside - 1))
    nodes = devices // beside
    outside = sum(Fraction(size, beside * nodes) for _ in range(rounds) for _ in range(nodes - 1))
    return v.link_latency + (v.network_latency if nodes > 1 else 0) + over(v, inside, outside)


CHOSEN = 3
"""Experts of a token in these tests."""


def distinct(places):
    """How many of some places hold an expert of a token, in the mean over every way to place its experts."""
    ways = list(product(range(places), repeat=CHOSEN))
    return Fraction(sum(len(set(way)) for way in ways), len(ways))


def exchanging(devices):
    """What depends on where the experts of a token lie."""
    return {
        "ep": devices,
        "experts_per_token": CHOSEN,
        "expert_devices": distinct(devices),
        "expert_nodes": distinct(-(-devices // NODE)),
    }


def exchange_time(v, devices, size):
    """What the first device sends: a token to a device once, but not to itself; to each other node once. The most loaded device takes more."""
    if devices == 1:
        return 0
    beside, nodes = min(devices, NODE), -(-devices // NODE)
    inside = size * v.expert_imbalance * distinct(devices) * Fraction(beside - 1, beside)
    outside = size * v.expert_imbalance * distinct(nodes) * Fraction(nodes - 1, nodes)
    return v.link_latency + (v.network_latency if outside else 0) + over(v, inside, outside)


@pytest.mark.parametrize("devices", [1, 2, 7, 8, 24])
def test_rings_and_exchanges(devices):
    v, other = point(tp=devices, ep=5), point(tp=5, **exchanging(devices))
    for network in (True, False) if devices <= NODE else (True,):
        for ring, rounds in ((all_reduce, 2), (all_gather, 1)):
            time = evaluate(parse(ring("tp", "message_bytes", network)), v)
            assert time == near(ring_time(v, devices, 840, rounds))
        time = evaluate(parse(all_to_all("message_bytes", network)), other)
        assert time == near(exchange_time(other, devices, 840))


@pytest.mark.parametrize("devices", [9, 12, 20])
def test_a_last_node_that_is_not_full_is_a_node(devices):
    """As many sends go over the network as if it were full: its own devices send that many."""
    v = point(tp=3, **exchanging(devices))
    assert evaluate(parse(all_to_all("message_bytes", True)), v) == near(
        exchange_time(v, devices, 840)
    )


def nodes_of_stages(devices, pp, node):
    """The nodes of each stage: put in one after another, in the node begun if it fits there, else in as many new ones as it takes."""
    nodes, begun, room = [], -1, 0
    for _ in range(pp):
        if devices > room:
            first, begun = begun + 1, begun + -(-devices // node)
            room = (begun - first + 1) * node - devices if devices <= node else 0
        else:
            first, room = begun, room - devices
        nodes.append(range(first, begun + 1))
    return nodes


@pytest.mark.sample(5)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("tp", "pp", "node"),
    [
        *((1, 1, 4), (1, 3, 4), (1, 5, 4), (2, 2, 4), (2, 7, 4), (4, 3, 4), (4, 3, 8), (1, 9, 8)),
        *((3, 2, 8), (3, 7, 8), (16, 2, 8), (16, 3, 8), (12, 5, 8), (64, 9, 8), (6, 1, 4)),
    ],
)
def test_stages_send_to_the_next_one(tp, pp, node, groups):
    """Stage by stage: whether the next one is in another node. No layout has fewer sends than none."""
    v = point(tp=tp, pp=pp, node_devices=node, attention_dp=groups)
    stages = nodes_of_stages(tp * groups, pp, node)
    far = sum(here != there for here, there in pairwise(stages))
    beside = pp - 1 - far
    expected = beside * (v.link_latency + over(v, 840))
    expected += far * (v.network_latency + over(v, 0, 840))
    for network in (True,) if far else (True, False):
        layout = Layout(tp=tp > 1, attention_dp=groups > 1, pp=pp, network=network)
        assert evaluate(sends("message_bytes", layout), v) == near(expected)


LAYERS, EXPERT_LAYERS = 7, 3


def links(layout, experts, **degrees):
    v = point(
        n_layers=LAYERS, expert_layers=EXPERT_LAYERS, **exchanging(degrees.pop("ep", 1)), **degrees
    )
    return v, evaluate(link_time(layout, "decode_tokens", "prefill_tokens", experts), v)


def vector(v, tokens):
    return tokens * v.d_model * v.link_bytes_per_element


def there_and_back(v, ep, tokens):
    """Tokens go to their experts at one width, and come back at another."""
    return sum(
        exchange_time(v, ep, tokens * v.d_model * width)
        for width in (v.dispatch_bytes_per_element, v.link_bytes_per_element)
    )


@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize("experts", [True, False])
def test_two_all_reduces_a_layer(degree, experts):
    """After the mixer and after the feed-forward layer; experts that are not spread over all groups are cut like any other."""
    v, seconds = links(Layout(tp=True), experts, tp=degree)
    assert seconds == near(2 * LAYERS * ring_time(v, degree, vector(v, v.decode_tokens), 2))


def test_one_device_sends_nothing():
    for layout, experts, degrees in (
        (SINGLE, True, {}),
        (SINGLE, False, {}),
        (Layout(dp=True), False, {"dp": 4}),
    ):
        assert links(layout, experts, **degrees)[1] == 0
    assert links(Layout(tp=True, free=True), False, tp=1)[1] == 0


@pytest.mark.parametrize(
    ("tp", "groups", "ep"), [(1, 4, 4), (2, 2, 4), (2, 4, 1), (1, 2, 1), (2, 1, 2)]
)
def test_experts_of_all_groups(tp, groups, ep):
    """Whole experts on some devices: tokens go there and back. Experts cut over all devices: one all-reduce of the tokens of all groups.
    The devices of one group have all its tokens: they send none, and the layer's all-reduce adds what whole experts contribute."""
    layout = Layout(tp=tp > 1, attention_dp=groups > 1, ep=True)
    v, seconds = links(layout, True, tp=tp, attention_dp=groups, ep=ep)
    alone = tp > 1 and groups == 1
    of_tokens = ring_time(v, tp, vector(v, v.decode_tokens), 2) if tp > 1 else 0
    expected = (2 * LAYERS - EXPERT_LAYERS * (not alone)) * of_tokens
    expected += 0 if alone else EXPERT_LAYERS * there_and_back(v, ep, v.decode_tokens)
    if ep == 1:
        expected += EXPERT_LAYERS * ring_time(v, tp * groups, vector(v, v.prefill_tokens), 2)
    assert seconds == near(expected)
    dense = links(layout, False, tp=tp, attention_dp=groups, ep=ep)[1]
    assert dense == near(2 * LAYERS * of_tokens)
