"""What is known of names: those a study declares beside the engine's, parts of kinds of layer and operators, what each leads to and whether it is a time of serving."""

import pytest

from symroof.symbolic.expressions import names
from symroof.symbolic.reading import parse
from symroof.theory import theory_files
from symroof.theory.architecture import block_rows
from symroof.theory.declarations import OWN, Declarations, Threshold
from symroof.theory.quantities import Quantity
from symroof.theory.symbols import INPUTS, ExpressionName, Symbol, base_name
from symroof.theory.theory import theory

from ..tables import table, words

SEATS, ROOM = Symbol("seats", "s", "", "seats", "2"), Symbol("room", "r", "s", "time of a room")
WAIT = Quantity("wait", "w", "s", "a wait", group=OWN)
SERVED = Quantity("served", "v", "s", "a wait beside serving", group=OWN)
LOADED = Quantity("loaded", "z", "s", "a wait beside a load", group=OWN)
SEATED = Threshold(
    "memory", "full_house", "seats = batch", "batch", "limit", "it is full", "never", "always"
)
FORMULAS = (
    ("wait", parse("2*room")),
    ("served", parse("room + itl")),
    ("loaded", parse("room + load_time")),
)
STUDY = Declarations((SEATS, ROOM), (WAIT, SERVED, LOADED), (SEATED,), FORMULAS, "A house")


def test_a_formula_in_the_place_of_a_name():
    formula = ExpressionName.of(parse("weight_bytes/mem_bandwidth"))
    symbol = theory().symbol(formula)
    assert (symbol.unit, symbol.meaning, theory().definition(formula)) == (
        "s",
        "an expression",
        parse("weight_bytes/mem_bandwidth"),
    )
    assert (
        theory().symbol(ExpressionName.of(parse("mfu/mbu"))).unit == ""
        and base_name(formula) == formula
    )


LEADS = """
itl | itl mem_bandwidth | price
steady_batch | arrival_rate prompt |
best_batch | mem_capacity itl_target |
mix_sustained_itl | long_prompt chunk |
recompute_time | cached_prefix |
ridge_point | | batch
batch | batch |
"""


@pytest.mark.parametrize(("name", "yes", "no"), table(LEADS))
def test_what_a_name_leads_to(name, yes, no):
    """By its formula, by what stands for it without an input, by what is searched for, and by inputs that a formula changes."""
    found = {on: theory().depends(name, on) for on in words(f"{yes} {no}")}
    assert found == {**dict.fromkeys(yes.split(), True), **dict.fromkeys(no.split(), False)}


TIMED = words(
    "itl decode_throughput cost_per_mtok fleet_price load_time decode_bound decode_compute_time "
    "meets_itl max_goodput"
)
PLAIN = words("ridge_point attainable_flops instance_price params fits batch link_ridge price")


def test_which_quantities_are_times_rates_and_costs_of_serving():
    assert [name for name in (*TIMED, *PLAIN) if theory().timed(name)] == TIMED
    own = theory(own=STUDY)
    named = words("wait served loaded seats itl")
    assert [name for name in named if own.timed(name)] == ["served", "loaded", "itl"]


BLOCKS = words("gqa mla compressed shared mamba kimi_delta rwkv7 conv dense moe layer")


def test_every_trait_changes_some_row_and_rows_speak_of_inputs():
    """A misspelt trait would never hold, and a misspelt width would be an input that nothing gives."""

    def rows(*own):
        given = frozenset(own), {"norm_vectors": "2"}
        return [row for name in BLOCKS for row in block_rows(name, *given)]

    traits = {*theory_files.table("blocks")["traits"]}
    assert [t for t in traits if rows(t) == rows() and rows(*traits) == rows(*traits - {t})] == []
    known = {name for row in rows() + rows(*traits) for name in names(parse(row.amount))}
    assert known <= {*INPUTS}
