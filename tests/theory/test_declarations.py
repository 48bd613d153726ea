"""The declarations themselves: units that agree, one name and one sign for one thing, each operator said once."""

import re
from collections import defaultdict

import pytest

from symroof.specs import catalogue
from symroof.symbolic import dimensions
from symroof.symbolic.expressions import parts
from symroof.symbolic.reading import parse, written
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.layout import HEADS, layout
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES, assume
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import theory
from symroof.theory.theory_files import section
from symroof.units import parse_unit

from ..tables import case_of, table, words
from . import shipped


def layer(mixers="gqa", traits="", own="", **more):
    """A layer by the words of its mixers, its traits, and its own dimensions."""
    of = {"traits": frozenset(traits.split()), "own": frozenset(own.split())}
    return Layer(mixers=tuple(mixers.split()), **of, **more)


LAYERS = """
gqa
gqa | qkv_bias out_bias ffn_bias | feed_forward=plain reach=window qk_norm=head
gqa | | feed_forward=none qk_norm=full norms=1
gqa | shared_expert shared_gate router_bias ffn_bias plain_experts | feed_forward=moe
mla | q_lora qkv_bias out_bias
mla | | feed_forward=none reach=window
gqa | value_dim sinks out_gate head_gate | reach=chunk
gqa | shares_kv | qk_norm=head
gqa | value_is_key
mamba | mixer_norm conv_bias state_in_bias state_out_bias | feed_forward=none
mamba2 | mixer_norm conv_bias | feed_forward=none
linear
gated_delta | | feed_forward=moe
conv
kimi_delta | zero_experts attention_residuals | feed_forward=moe
mla | q_lora indexer sinks head_gate rope_norm | reach=top
gqa | indexer hyper hyper_residual | reach=top
compressed | compressed indexer | reach=window
shared mamba2 | adapters attention_adapters | feed_forward=none
rwkv7 | value_residual | feed_forward=plain
mamba | head_steps mixer_norm | feed_forward=none
rwkv4 | ffn_result_gate | feed_forward=plain
rg_lru | conv_bias state_in_bias state_out_bias ffn_bias
gqa mamba2 | | feed_forward=plain
"""
"""The mixers of a layer, its traits, and what else it has."""
MIXED = Architecture(
    (
        layer(label="local", reach="window", own="n_layers window"),
        layer(label="full", own="n_layers"),
    ),
    order=("local", "full", "local", "local", "full"),
    traits=frozenset({"final_norm", "tied_embeddings", "learned_positions"}),
    norm="layer",
)
HYBRID = Architecture(
    (
        layer("mamba2", label="mamba", feed_forward="moe", own="n_layers n_experts"),
        layer("mla", label="latent", feed_forward="moe", own="n_layers n_experts"),
        layer(label="chunked", reach="chunk", own="n_layers"),
    ),
    order=("mamba", "latent", "mamba", "chunked"),
    kept=frozenset({"embedding", "lm_head", "router"}),
)
COMPRESSED = Architecture(
    tuple(
        layer("compressed", traits, f"n_layers {own}", label=label, reach="window")
        for label, traits, own in (
            ("chosen", "compressed indexer", "compress_rate"),
            ("heavy", "compressed", "compress_rate"),
            ("local", "", ""),
        )
    ),
    order=("local", "chosen", "heavy"),
    traits=frozenset({"final_norm", "hyper"}),
)
ROWS = [(*row, "", "")[:3] for row in table(LAYERS)]
ALONE = [layer(mixers, traits, **case_of(more)) for mixers, traits, more in ROWS]
ARCHITECTURES = [GENERIC, MIXED, HYBRID, COMPRESSED, *(Architecture((each,)) for each in ALONE)]
LAYOUTS = {
    "one device": {},
    "heads cut and copied": {"tp": 12, "dp": 2},
    "groups": {"tp": 2, "attention_dp": 3, "ep": 2},
    "beyond a node": {"tp": 16, "attention_dp": 4},
    "stages": {"tp": 4, "pp": 3},
    "stages of groups": {"attention_dp": 3, "pp": 2, "ep": 3},
}
"""Degrees by which formulas of a device differ."""
HEADLINES = {*words("ttft itl decode_time decode_bound kv_cache_bytes weight_bytes fits")}
"""Quantities of every theory: where one is missing, a loop over definitions has looked at less than it should."""
PLAIN = next((name, switch.default) for name, switch in SWITCHES.items())
"""No choice at all: the default of one switch is that of each."""
CHOICES = [PLAIN] + [
    (name, value)
    for name, switch in SWITCHES.items()
    for value in switch.values
    if value != switch.default
]
CHECKED = set()
"""Definitions that were checked, each with its unit and those of its names: many a theory has the same one."""


def check_all(built):
    """Of an intensity whose numbers cancel SymPy keeps no number that could be of FLOPs; it is checked as it is written."""
    for name, tree in built.definitions.items():
        used = [n.name for n in parts(tree) if n.is_Symbol and n.name != "step"]
        units = tuple(map(built.dimension, (name, *used)))
        if (name, tree, units) not in CHECKED and name != "fused_attention_intensity":
            dimensions.check(tree, built.dimension(name), built.dimension, name, bare=True)
            CHECKED.add((name, tree, units))
    assert not HEADLINES - built.definitions.keys()


def test_declared_formulas_have_their_unit_as_they_are_written():
    """There numbers have their units: work is ``2 FLOP*params``."""
    built = theory()
    for quantity in QUANTITIES.values():
        for text in (quantity.definition, *(formula for _, formula in quantity.variants)):
            if text:
                dimensions.check(written(text), quantity.dimension, built.dimension, quantity.name)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("switch", "value"), CHOICES)
def test_every_definition_has_its_declared_unit(switch, value):
    for architecture in ARCHITECTURES:
        check_all(theory(architecture, assume(**{switch: value})))


@pytest.mark.sample(1)
@pytest.mark.parametrize("degrees", LAYOUTS.values(), ids=list(LAYOUTS))
@pytest.mark.parametrize("counted", ["matmul", "nominal"])
def test_every_definition_of_a_device_has_its_declared_unit(degrees, counted):
    for architecture in ARCHITECTURES:
        check_all(laid_out(architecture, assume(parameters=counted), degrees))


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", sorted(catalogue.entries("models")))
def test_every_name_of_a_shipped_model_is_declared(name):
    built = theory(shipped(name).architecture())
    for tree in built.definitions.values():
        for node in parts(tree):
            if node.is_Symbol:
                assert built.symbol(node.name).meaning


def laid_out(architecture, assumptions, degrees):
    """A theory on devices of these degrees, eight in a node, with heads that not all of them divide."""
    sizes = {"node_devices": 8.0, "d_model": 2.0, "n_layers": 3.0, "network_bandwidth": 1.0}
    held = dict.fromkeys(HEADS, 8.0) | sizes | {name: float(n) for name, n in degrees.items()}
    found = layout(architecture, lambda name: held.get(base_name(name)))
    return theory(architecture, assumptions, found)


# -------------------------------------------------------------------------------------------------------- what is refused

UNITS = case_of(
    "prefill_bytes=byte prefill_flops=FLOP mem_bandwidth=byte/s batch=request prompt=token ttft=s "
    "price=USD/s"
)


def unit_of(name):
    return parse_unit(UNITS[name]).dimension


UNLIKE = """
prefill_bytes + prefill_flops | prefill_bytes + 1 | max(prefill_bytes, ttft) | price + ttft
min(1 s, prefill_flops) | prefill_bytes - 3 s | ttft <= prefill_bytes | log2(prefill_bytes)
batch**ttft | ttft**batch | sum(step, step, 1, ttft) | batch**(2 s) | max(2 s, 3 FLOP)
min(2 byte, 1 s) + prefill_bytes | ceil(2.5 s) + batch | floor(7/2 byte) + 1
largest(a = ttft, b = prefill_bytes)
"""


@pytest.mark.parametrize("formula", [cell for row in table(UNLIKE) for cell in row])
def test_unlike_things_do_not_add(formula):
    with pytest.raises(dimensions.DimensionError):
        dimension_of(formula)


DIMENSIONS = """
prefill_bytes/mem_bandwidth | s
prefill_flops/prefill_bytes | FLOP/byte
batch*prompt + 3 |
sqrt(ttft*ttft) | s
batch/ttft | 1/s
sum(ttft*step, step, 1, prompt) | s
price*ttft | USD
ttft**2/ttft | s
0 + prefill_bytes | byte
max(0, ttft) | s
ceil(2.5 s) + ttft | s
"""


def dimension_of(formula):
    return dimensions.dimension(
        written(formula), lambda name: () if name == "step" else unit_of(name)
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(("formula", "unit"), table(DIMENSIONS))
def test_dimensions_by_hand(formula, unit):
    assert dimension_of(formula) == parse_unit(unit).dimension


def test_bytes_over_bandwidth_is_a_time_and_never_a_rate():
    tree = written("prefill_bytes/mem_bandwidth")
    dimensions.check(tree, parse_unit("s").dimension, unit_of, "time")
    for unit in ("token/s", "byte", "FLOP", ""):
        with pytest.raises(dimensions.DimensionError, match="s"):
            dimensions.check(tree, parse_unit(unit).dimension, unit_of, "rate")


# ------------------------------------------------------------------------------------------------------- names and signs

ALL = [*INPUTS.values(), *QUANTITIES.values()]


def test_every_symbol_says_what_it_is():
    for symbol in ALL:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", symbol.name), symbol
        assert symbol.latex.strip(), symbol
        assert symbol.latex.count("{") == symbol.latex.count("}"), symbol
        assert len(symbol.meaning) > 5, symbol
        assert parse_unit(symbol.unit).size == 1, f"the unit of {symbol.name} is no base unit"


def test_no_sign_stands_for_two_things():
    """A formula in LaTeX is read by its signs alone."""
    owners = defaultdict(list)
    for symbol in ALL:
        owners[symbol.latex].append(symbol.name)
    assert {sign: names for sign, names in owners.items() if len(names) > 1} == {}


CONTRACT = r"""
n_layers | L |
d_model | d |
n_heads | H |
n_kv_heads | H_{kv} |
head_dim | d_h |
d_ff | d_{ff} |
vocab_size | V | token
window | w | token
kv_bytes_per_element | b_{kv} | byte
act_bytes_per_element | b_a | byte
prompt | S | token
output | N | token
batch | B | request
context | C | token
peak_flops | F | FLOP/s
mem_bandwidth | \beta | byte/s
mem_capacity | M | byte
link_bandwidth | \beta_l | byte/s
link_latency | \alpha_l | s
mfu | \eta_c |
mbu | \eta_m |
params | P | parameter
active_params | P_a | parameter
"""


def test_promised_names_have_their_promised_signs_and_units():
    for name, latex, unit in table(CONTRACT):
        symbol = INPUTS.get(name) or QUANTITIES[name]
        assert (symbol.latex, symbol.unit) == (latex, unit)


def test_definitions_use_declared_names_only():
    known = set(INPUTS) | set(QUANTITIES) | {"step", "largest"}
    for quantity in QUANTITIES.values():
        for text in filter(None, (quantity.definition, *dict(quantity.variants).values())):
            assert {node.name for node in parts(parse(text)) if node.is_Symbol} <= known, (
                quantity.name
            )


def test_a_switch_and_its_variants_agree():
    for quantity in QUANTITIES.values():
        if quantity.switch:
            given, known = set(dict(quantity.variants)), set(SWITCHES[quantity.switch].values)
            assert given == known or (given < known and "closed form" in quantity.meaning), (
                quantity.name
            )


NAMED = "unit means latex source counts sign aliases"
FIELDS = {
    "inputs": f"{NAMED} default least most noun",
    "define": f"{NAMED} formula choose fixed_point largest without absent exists negligible digits of_mix",
    "conditions": "holds otherwise",
    "thresholds": "name equation unknown means kind below above source subject needs when met under_load",
}
FIELDS["each_step"] = FIELDS["define"]


@pytest.mark.parametrize("name", FIELDS)
def test_entries_of_the_built_in_theory_have_known_fields(name):
    """Those who read them ask for fields by name, so that a misspelt one would go unseen."""
    known = set(FIELDS[name].split())
    assert [
        (entry.name, more) for entry in section(name) if (more := set(entry.fields) - known)
    ] == []
