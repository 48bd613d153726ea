"""How an instance lies on its devices, read off the values of a case: a table by hand."""

from fractions import Fraction

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import number
from symroof.symbolic.printing import text
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.case import Case
from symroof.theory.layout import FREE, Layout, layout
from symroof.theory.theory import theory

from ..tables import case_of, table
from . import Floats


def made(architecture=GENERIC, rounded=False, **values):
    return layout(
        architecture,
        {
            key: float(each) if isinstance(each, (int, float)) else each
            for key, each in values.items()
        }.get,
        rounded,
    )


COUNTED = """
tp=4 | tp | tp | tp
pp=4 | pp | pp |
dp=4 | dp | 1 |
ep=4 | ep | 1 |
# whose experts lie on all of them
attention_dp=4 | attention_dp ep | attention_dp | attention_dp
tp=2 pp=4 attention_dp=2 | tp pp attention_dp ep | tp*attention_dp*pp | tp*attention_dp
tp=free | tp | tp | tp
tp=0.5 | tp | tp | tp
"""


def degrees(text):
    return {name: FREE if value == "free" else value for name, value in case_of(text).items()}


@pytest.mark.parametrize(("values", "flags", "instance", "group"), table(COUNTED))
def test_which_degrees_count(values, flags, instance, group):
    values, flags = degrees(values), {*flags.split()}
    found = made(**values)
    assert {name for name in ("tp", "attention_dp", "ep", "dp") if getattr(found, name)} | (
        {"pp"} if found.staged else set()
    ) == flags
    assert (found.instance, found.group) == (instance, group)
    assert set(found.absent()) == {"tp", "pp", "attention_dp", "ep", "dp"} - flags
    assert found.single is not bool(flags & {"tp", "pp", "attention_dp"})


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


STAYS = """
tp=8 node_devices=8
tp=4 pp=2 node_devices=8
attention_dp=2 tp=2 pp=2 node_devices=8
ep=8 node_devices=8
# copies do not talk to each other
tp=2 dp=64 node_devices=8
tp=2 dp=free node_devices=8 network_bandwidth=1e9
# nothing says how large a node is
tp=64
tp=free node_devices=8
tp=2 node_devices=free
"""
LEAVES = """
tp=9 node_devices=8
tp=16 node_devices=8
tp=4 pp=4 node_devices=8
tp=2 attention_dp=8 node_devices=8
tp=4 pp=3 node_devices=8
tp=3 attention_dp=3 node_devices=8
attention_dp=9 node_devices=8
pp=9 node_devices=8
ep=16 node_devices=8
tp=free node_devices=8 network_bandwidth=1e9
tp=2 node_devices=free network_bandwidth=1e9
"""


def test_whether_a_group_may_leave_its_node():
    for layouts, leaves in ((STAYS, False), (LEAVES, True)):
        for (values,) in table(layouts):
            assert made(**degrees(values)).network is leaves, values


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


WIDTHS = case_of(
    "tp=4 d_ff=36 d_inner=40 d_shared=44 vocab_size=48 more_embeddings=52 learned_positions=56 "
    "layer_input_vocab=60 n_heads=14 n_kv_heads=2 ssm_heads=10 ssm_groups=3 linear_key_heads=5 "
    "linear_value_heads=6"
)
QUARTERS = {name: Fraction(width, 4) for name, width in WIDTHS.items() if name != "tp"}


def shares(made, layer=Layer()):  # noqa: B008
    return {name: evaluate(tree, Floats(WIDTHS)) for name, tree in made.shares(layer).items()}


def test_one_devices_part_of_a_width():
    """A quarter of what is cut anywhere, whole heads of what is not; as a share where the degree is none yet, but a head at least."""
    uneven = frozenset({"n_heads", "n_kv_heads"})
    whole, part = {"n_heads": 4, "n_kv_heads": 1}, {"n_heads": Fraction(14, 4), "n_kv_heads": 1}
    assert shares(Layout()) == {}
    assert shares(Layout(tp=True)) == QUARTERS
    for more, held in (
        ({}, whole),
        ({"rounded": True}, whole),
        ({"free": True}, part),
        ({"free": True, "rounded": True}, whole),
    ):
        assert shares(Layout(tp=True, uneven=uneven, **more)) == QUARTERS | held
    local = Layer(label="local", own=frozenset({"n_heads"}))
    one = Layout(tp=True, uneven=frozenset({"n_heads.local"}))
    assert shares(one, local) == QUARTERS | {"n_heads": 4}
    assert shares(Layout(tp=True, uneven=frozenset({"n_heads"})), local) == QUARTERS


def test_channels_of_a_state_space_are_those_of_its_heads():
    """40 channels of 10 heads: 3 heads of 4, and a quarter where another mixer has the channels, or the heads divide."""
    uneven = Layout(tp=True, uneven=frozenset({"ssm_heads"}))
    assert shares(uneven, Layer(mixers=("mamba2",))) == {**QUARTERS, "ssm_heads": 3, "d_inner": 12}
    assert shares(uneven, Layer(mixers=("mamba",))) == {**QUARTERS, "ssm_heads": 3}
    assert shares(Layout(tp=True), Layer(mixers=("mamba2",))) == QUARTERS
