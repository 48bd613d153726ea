"""How an instance lies on its devices, read off the values of a case: a table by hand."""

from fractions import Fraction

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import number
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.case import Case
from symroof.theory.layout import (
    FREE,
    SINGLE,
    SYMBOLIC,
    Layout,
    affects_layout,
    layout,
    shapes_layout,
)
from symroof.theory.operator_table import _degree
from symroof.theory.theory import theory

from . import Floats

DIMENSIONS = {"d_model": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8}


def made(architecture=GENERIC, rounded=False, **values):
    return layout(
        architecture,
        {
            key: float(each) if isinstance(each, (int, float)) else each
            for key, each in values.items()
        }.get,
        rounded,
    )


def test_one_device_is_one_device():
    assert made() == made(tp=1, pp=1, ep=1, dp=1, attention_dp=1) == SINGLE
    assert SINGLE.single and not SINGLE.staged
    assert (SINGLE.instance, SINGLE.group, text(SINGLE.devices())) == ("1", "", "1")


@pytest.mark.parametrize(
    ("values", "flags", "instance", "group"),
    [
        ({"tp": 4}, {"tp"}, "tp", "tp"),
        ({"pp": 4}, {"pp"}, "pp", ""),
        ({"dp": 4}, {"dp"}, "1", ""),
        ({"ep": 4}, {"ep"}, "1", ""),
        (
            {"attention_dp": 4},
            {"attention_dp", "ep"},
            "attention_dp",
            "attention_dp",
        ),  # whose experts lie on all of them
        (
            {"tp": 2, "pp": 4, "attention_dp": 2},
            {"tp", "pp", "attention_dp", "ep"},
            "tp*attention_dp*pp",
            "tp*attention_dp",
        ),
        ({"tp": FREE}, {"tp"}, "tp", "tp"),
        ({"tp": 0.5}, {"tp"}, "tp", "tp"),
    ],
)
def test_which_degrees_count(values, flags, instance, group):
    found = made(**values)
    assert {name for name in ("tp", "attention_dp", "ep", "dp") if getattr(found, name)} | (
        {"pp"} if found.staged else set()
    ) == flags
    assert (found.instance, found.group) == (instance, group)
    assert set(found.absent()) == {"tp", "pp", "attention_dp", "ep", "dp"} - flags
    assert found.single is not bool(flags & {"tp", "pp", "attention_dp"})


@pytest.mark.parametrize(
    ("pp", "stages"),
    [(1, 1), (2, 2), (7, 7), (FREE, SYMBOLIC), (2.5, SYMBOLIC), (0, SYMBOLIC), (-3, SYMBOLIC)],
)
def test_stages_are_counted_where_they_are_a_number(pp, stages):
    assert made(tp=2, pp=pp).pp == stages


@pytest.mark.parametrize(
    ("values", "known"),
    [
        ({}, False),
        ({"d_model": 4096}, False),
        ({"n_layers": 32}, False),
        (DIMENSIONS, True),
        ({**DIMENSIONS, "params": 8e9}, False),  # of a total the parts are not known
        ({**DIMENSIONS, "weight_bytes": 16e9}, False),
    ],
)
def test_whether_the_parts_of_a_device_are_known(values, known):
    assert made(tp=4, **values).copies is known
    other = Architecture((Layer(label="a"), Layer(label="b")), order=("a", "b"))
    assert made(other, tp=4, **values).copies is not bool(
        {"params", "weight_bytes"} & values.keys()
    )


@pytest.mark.parametrize(
    ("tp", "heads", "shared", "uneven"),
    [
        (4, 32, 8, set()),
        (16, 32, 8, {"n_kv_heads"}),
        (3, 32, 9, {"n_heads"}),
        (5, 32, 8, {"n_heads", "n_kv_heads"}),
        (FREE, 32, 8, {"n_heads", "n_kv_heads"}),
        (4, FREE, 8, {"n_heads"}),
        (4, 32, None, set()),
        (0, 32, 8, {"n_heads", "n_kv_heads"}),
    ],
)
def test_heads_that_devices_hold_unequal_shares_of(tp, heads, shared, uneven):
    values = {"tp": tp, "n_heads": heads} | ({"n_kv_heads": shared} if shared else {})
    found = made(**values)
    assert found.uneven == uneven
    held = {name: text(tree) for name, tree in found.shares(GENERIC.layers[0]).items()}
    rounded = "max({}/tp, 1)" if tp == FREE else "ceil({}/tp)"
    assert {name for name, share in held.items() if share == rounded.format(name)} >= uneven
    assert held["d_ff"] == "d_ff/tp"
    assert all(held[name] == f"{name}/tp" for name in {"n_heads", "n_kv_heads"} - uneven)


def test_a_degree_that_will_not_divide_the_heads_is_rounded_up():
    held = {
        name: text(tree)
        for name, tree in made(rounded=True, tp=FREE, n_heads=32).shares(GENERIC.layers[0]).items()
    }
    assert held["n_heads"] == "ceil(n_heads/tp)"
    assert made(rounded=True, tp=4, n_heads=32).rounded is False
    assert (
        Layout(tp=True).shares(GENERIC.layers[0]).keys() == held.keys()
        and SINGLE.shares(GENERIC.layers[0]) == {}
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("values", "leaves"),
    [
        ({"tp": 8, "node_devices": 8}, False),
        ({"tp": 9, "node_devices": 8}, True),
        ({"tp": 16, "node_devices": 8}, True),
        ({"tp": 4, "pp": 2, "node_devices": 8}, False),
        ({"tp": 4, "pp": 4, "node_devices": 8}, True),
        ({"tp": 2, "attention_dp": 8, "node_devices": 8}, True),
        ({"tp": 4, "pp": 3, "node_devices": 8}, True),
        ({"tp": 3, "attention_dp": 3, "node_devices": 8}, True),
        ({"attention_dp": 9, "node_devices": 8}, True),
        ({"pp": 9, "node_devices": 8}, True),
        ({"attention_dp": 2, "tp": 2, "pp": 2, "node_devices": 8}, False),
        ({"ep": 8, "node_devices": 8}, False),
        ({"ep": 16, "node_devices": 8}, True),
        ({"tp": 2, "dp": 64, "node_devices": 8}, False),  # copies do not talk to each other
        ({"tp": 64}, False),  # nothing says how large a node is
        ({"tp": FREE, "node_devices": 8}, False),
        ({"tp": FREE, "node_devices": 8, "network_bandwidth": 10**9}, True),
        ({"tp": 2, "dp": FREE, "node_devices": 8, "network_bandwidth": 10**9}, False),
        ({"tp": 2, "node_devices": FREE, "network_bandwidth": 10**9}, True),
        ({"tp": 2, "node_devices": FREE}, False),
    ],
)
def test_whether_a_group_may_leave_its_node(values, leaves):
    assert made(**values).network is leaves


def test_a_degree_has_to_suit_the_heads_of_every_kind_of_layer():
    """Four key and value heads in some layers, six in others: each has to be shared out evenly, or copied evenly."""
    kinds = tuple(
        Layer(label=label, own=frozenset({"n_layers", "n_kv_heads"})) for label in ("local", "full")
    )
    case = Case(
        theory(Architecture(kinds, order=("local", "full"))),
        {"n_kv_heads.local": number(Fraction(4)), "n_kv_heads.full": number(Fraction(6))},
    )
    assert [degree for degree in range(1, 30) if case.can_split_heads(degree)] == [1, 2, 12, 24]
    assert all(Case(theory(), {}).can_split_heads(degree) for degree in range(1, 9))


WIDTHS = {
    "tp": 4, "d_ff": 36, "d_inner": 40, "d_shared": 44, "vocab_size": 48, "more_embeddings": 52, "learned_positions": 56, "layer_input_vocab": 60,
    "n_heads": 14, "n_kv_heads": 2, "ssm_heads": 10, "ssm_groups": 3, "linear_key_heads": 5, "linear_value_heads": 6,
}  # fmt: skip
QUARTERS = {name: Fraction(width, 4) for name, width in WIDTHS.items() if name != "tp"}


def shares(made, layer=Layer()):  # noqa: B008
    return {name: evaluate(tree, Floats(WIDTHS)) for name, tree in made.shares(layer).items()}


def test_one_devices_part_of_a_width():
    """A quarter of what is cut anywhere, whole heads of what is not; as a share where the degree is none yet, but a head at least."""
    uneven = frozenset({"n_heads", "n_kv_heads"})
    assert shares(Layout()) == {}
    assert shares(Layout(tp=True)) == QUARTERS
    assert shares(Layout(tp=True, uneven=uneven)) == {**QUARTERS, "n_heads": 4, "n_kv_heads": 1}
    assert shares(Layout(tp=True, uneven=uneven, rounded=True)) == {
        **QUARTERS,
        "n_heads": 4,
        "n_kv_heads": 1,
    }
    assert shares(Layout(tp=True, uneven=uneven, free=True)) == {
        **QUARTERS,
        "n_heads": Fraction(14, 4),
        "n_kv_heads": 1,
    }
    assert shares(Layout(tp=True, uneven=uneven, free=True, rounded=True)) == {
        **QUARTERS,
        "n_heads": 4,
        "n_kv_heads": 1,
    }
    local = Layer(label="local", own=frozenset({"n_heads"}))
    assert shares(Layout(tp=True, uneven=frozenset({"n_heads.local"})), local) == {
        **QUARTERS,
        "n_heads": 4,
    }
    assert shares(Layout(tp=True, uneven=frozenset({"n_heads"})), local) == QUARTERS


def test_channels_of_a_state_space_are_those_of_its_heads():
    """40 channels of 10 heads: 3 heads of 4, and a quarter where another mixer has the channels, or the heads divide."""
    uneven = Layout(tp=True, uneven=frozenset({"ssm_heads"}))
    assert shares(uneven, Layer(mixers=("mamba2",))) == {**QUARTERS, "ssm_heads": 3, "d_inner": 12}
    assert shares(uneven, Layer(mixers=("mamba",))) == {**QUARTERS, "ssm_heads": 3}
    assert shares(Layout(tp=True), Layer(mixers=("mamba2",))) == QUARTERS


def test_what_a_layout_looks_at():
    shaping = [
        "tp",
        "pp",
        "ep",
        "dp",
        "attention_dp",
        "node_devices",
        "n_heads",
        "n_kv_heads.local",
        "ssm_heads",
        "ssm_groups",
        "linear_key_heads",
        "linear_value_heads",
    ]
    known = ["params", "weight_bytes", "d_model", "n_layers", "network_bandwidth"]
    assert all(map(shapes_layout, shaping)) and not any(
        map(shapes_layout, [*known, "batch", "itl"])
    )
    assert all(map(affects_layout, [*shaping, *known])) and not any(
        map(affects_layout, ["batch", "prompt", "d_ff", "link_bandwidth"])
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("amount", "degree"),
    [("d_ff", 1), ("d_model", 0), ("3", 0), ("2*d_ff*d_model", 1), ("d_ff*n_heads", 2), ("d_ff/n_heads", 0), ("d_ff/d_model", 1), ("d_model/d_ff", -1), ("-d_ff", 1), ("d_ff + 2*n_heads", 1),
     ("d_ff + d_model", None), ("d_model*(d_ff + 1)", None), ("d_model^2", 0), ("d_ff^2", 2), ("max(d_ff, 1)", None), ("max(d_model, 1)", 0), ("(d_ff + 1)/d_model", None), ("d_model/(d_ff + 1)", None)],
)  # fmt: skip
def test_by_how_many_cut_widths_every_term_is_multiplied(amount, degree):
    """One, and devices share it evenly; where terms differ each has its own part."""
    assert _degree(parse(amount), frozenset({"d_ff", "n_heads"})) == degree
