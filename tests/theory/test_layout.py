"""How degrees of parallelism read as a layout: which count, what divides, what one device has of a width, when a group leaves its node."""

from fractions import Fraction

import pytest

from symroof.formula.evaluate import evaluate
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.layout import FREE, SINGLE, SYMBOLIC, Layout, layout, may_lay_out, shapes

TWO_KINDS = Architecture((Layer(label="local", own=frozenset({"n_layers", "n_heads"})), Layer(label="full", own=frozenset({"n_layers"}))))
DIMENSIONS = {"d_model": 64, "n_layers": 4}


def of(architecture=GENERIC, rounded=False, **values):
    return layout(architecture, {name: value if value == FREE else Fraction(value) for name, value in values.items()}.get, rounded)


def test_one_device():
    assert of() is of(tp=1, pp=1, ep=1, dp=1, attention_dp=1, n_heads=7) is SINGLE
    assert (SINGLE.single, SINGLE.staged, SINGLE.degrees, SINGLE.group, SINGLE.instance) == (True, False, (), "", "1")


@pytest.mark.parametrize(
    ("degrees", "counted"),
    [
        ({"tp": 4}, {"tp"}), ({"dp": 4}, {"dp"}), ({"ep": 4}, {"ep"}), ({"attention_dp": 4}, {"attention_dp", "ep"}),  # experts stand whole on the groups
        ({"tp": 2, "dp": 2, "ep": 1}, {"tp", "dp"}), ({"tp": FREE}, {"tp", "free"}), ({"ep": FREE}, {"ep"}), ({"tp": Fraction(3, 2)}, {"tp"}),
    ],
)  # fmt: skip
def test_which_degrees_count(degrees, counted):
    made = of(**degrees)
    assert {name for name in ("tp", "attention_dp", "ep", "dp", "free") if getattr(made, name)} == counted
    assert made.absent().keys() == {"tp", "pp", "attention_dp", "ep", "dp"} - counted
    assert made.pp == 1
    assert (made.rounded, of(rounded=True, **degrees).rounded) == (False, "free" in counted)


@pytest.mark.parametrize(("pp", "stages"), [(2, 2), (7, 7), (FREE, SYMBOLIC), (Fraction(5, 2), SYMBOLIC), (-2, SYMBOLIC)])
def test_stages(pp, stages):
    made = of(pp=pp)
    assert (made.pp, made.staged, made.single) == (stages, True, False)
    assert "pp" not in made.absent()


@pytest.mark.parametrize(
    ("made", "single", "degrees", "group", "instance"),
    [
        (Layout(tp=True), False, ("tp",), "tp", "tp"),
        (Layout(attention_dp=True), False, ("attention_dp",), "attention_dp", "attention_dp"),
        (Layout(pp=3), False, ("pp",), "", "pp"),
        (Layout(ep=True, dp=True), True, (), "", "1"),
        (Layout(tp=True, attention_dp=True, pp=0), False, ("tp", "attention_dp", "pp"), "tp*attention_dp", "tp*attention_dp*pp"),
    ],
)
def test_the_devices_of_an_instance(made, single, degrees, group, instance):
    assert (made.single, made.degrees, made.group, made.instance) == (single, degrees, group, instance)


@pytest.mark.parametrize(
    ("tp", "heads", "uneven"),
    [(4, 16, False), (4, 14, True), (4, 2, True), (4, FREE, True), (FREE, 16, True), (0, 16, True), (1, 7, False), (Fraction(3, 2), 6, False), (Fraction(3, 2), 7, True)],
)
def test_heads_that_do_not_divide(tp, heads, uneven):
    assert of(tp=tp, n_kv_heads=heads).uneven == (frozenset({"n_kv_heads"}) if uneven else frozenset())
    assert of(tp=tp).uneven == frozenset(), "heads whose number is not known are taken to divide"
    assert of(TWO_KINDS, tp=tp, **{"n_heads.local": heads, "n_heads": 0}).uneven == ({"n_heads.local"} if uneven else set()) | ({"n_heads"} if tp in (0, FREE) else set())


@pytest.mark.parametrize(
    ("values", "known"), [({}, False), ({"d_model": 64}, False), ({"n_layers": 4}, False), (DIMENSIONS, True), ({**DIMENSIONS, "params": 9}, False), ({**DIMENSIONS, "weight_bytes": 9}, False)]
)  # fmt: skip
def test_whether_the_parts_of_a_device_are_known(values, known):
    """Of dimensions, and of no total: its parts are not known."""
    assert of(tp=2, **values).copies is known
    assert of(TWO_KINDS, tp=2, **values).copies is not bool({"params", "weight_bytes"} & values.keys())


@pytest.mark.parametrize(
    ("values", "leaves"),
    [
        ({"tp": 8, "node_devices": 8}, False), ({"tp": 9, "node_devices": 8}, True), ({"tp": 9}, False), ({"pp": 9, "node_devices": 8}, True), ({"attention_dp": 9, "node_devices": 8}, True),
        ({"ep": 8, "node_devices": 8}, False), ({"ep": 9, "node_devices": 8}, True), ({"dp": 9, "node_devices": 8}, False), ({"tp": 2, "dp": FREE, "node_devices": 8, "network_bandwidth": 1}, False),
        ({"tp": 4, "pp": 2, "node_devices": 8}, False), ({"tp": 4, "pp": 3, "node_devices": 8}, True), ({"tp": 3, "attention_dp": 3, "node_devices": 8}, True),
        ({"attention_dp": 2, "tp": 2, "pp": 2, "node_devices": 8}, False), ({"attention_dp": 2, "tp": 2, "pp": 2, "node_devices": 7}, True),
        ({"tp": FREE, "node_devices": 8}, False), ({"tp": FREE, "node_devices": 8, "network_bandwidth": 1}, True), ({"tp": 2, "ep": FREE, "node_devices": 8, "network_bandwidth": 1}, True),
        ({"tp": 2, "node_devices": FREE}, False), ({"tp": 2, "node_devices": FREE, "network_bandwidth": 1}, True), ({"tp": 2, "node_devices": 8, "network_bandwidth": 1}, False),
    ],
)  # fmt: skip
def test_whether_a_group_may_leave_its_node(values, leaves):
    """One that is larger than a node; copies of the instance are no group. A degree that may be any does where there is a network."""
    assert of(**values).network is leaves


WIDTHS = {
    "tp": 4, "d_ff": 36, "d_inner": 40, "d_shared": 44, "vocab_size": 48, "more_embeddings": 52, "learned_positions": 56, "layer_input_vocab": 60,
    "n_heads": 14, "n_kv_heads": 2, "ssm_heads": 10, "ssm_groups": 3, "linear_key_heads": 5, "linear_value_heads": 6,
}  # fmt: skip
QUARTERS = {name: Fraction(width, 4) for name, width in WIDTHS.items() if name != "tp"}


class Widths:
    def value(self, name):
        return Fraction(WIDTHS[name])


def shares(made, layer=Layer()):  # noqa: B008
    return {name: evaluate(tree, Widths()) for name, tree in made.shares(layer).items()}


def test_one_devices_part_of_a_width():
    """A quarter of what is cut anywhere, whole heads of what is not; as a share where the degree is none yet, but a head at least."""
    uneven = frozenset({"n_heads", "n_kv_heads"})
    assert shares(Layout()) == {}
    assert shares(Layout(tp=True)) == QUARTERS
    assert shares(Layout(tp=True, uneven=uneven)) == {**QUARTERS, "n_heads": 4, "n_kv_heads": 1}
    assert shares(Layout(tp=True, uneven=uneven, rounded=True)) == {**QUARTERS, "n_heads": 4, "n_kv_heads": 1}
    assert shares(Layout(tp=True, uneven=uneven, free=True)) == {**QUARTERS, "n_heads": Fraction(14, 4), "n_kv_heads": 1}
    assert shares(Layout(tp=True, uneven=uneven, free=True, rounded=True)) == {**QUARTERS, "n_heads": 4, "n_kv_heads": 1}
    local = Layer(label="local", own=frozenset({"n_heads"}))
    assert shares(Layout(tp=True, uneven=frozenset({"n_heads.local"})), local) == {**QUARTERS, "n_heads": 4}
    assert shares(Layout(tp=True, uneven=frozenset({"n_heads"})), local) == QUARTERS


def test_channels_of_a_state_space_are_those_of_its_heads():
    """40 channels of 10 heads: 3 heads of 4, and a quarter where another mixer has the channels, or the heads divide."""
    uneven = Layout(tp=True, uneven=frozenset({"ssm_heads"}))
    assert shares(uneven, Layer(mixers=("mamba2",))) == {**QUARTERS, "ssm_heads": 3, "d_inner": 12}
    assert shares(uneven, Layer(mixers=("mamba",))) == {**QUARTERS, "ssm_heads": 3}
    assert shares(Layout(tp=True), Layer(mixers=("mamba2",))) == QUARTERS


def test_what_a_layout_looks_at():
    shaping = ["tp", "pp", "ep", "dp", "attention_dp", "node_devices", "n_heads", "n_kv_heads.local", "ssm_heads", "ssm_groups", "linear_key_heads", "linear_value_heads"]
    known = ["params", "weight_bytes", "d_model", "n_layers", "network_bandwidth"]
    assert all(map(shapes, shaping)) and not any(map(shapes, [*known, "batch", "itl"]))
    assert all(map(may_lay_out, [*shaping, *known])) and not any(map(may_lay_out, ["batch", "prompt", "d_ff", "link_bandwidth"]))
