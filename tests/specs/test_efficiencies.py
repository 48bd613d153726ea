"""Entries of fitted efficiencies: their unit, which one stands for a device and an engine, and how far its interval reaches."""

import math

import pytest

import symroof as sr
from symroof.specs.efficiencies import (
    EfficienciesSpec,
    Efficiency,
    MeasuredKind,
    shipped_efficiencies,
)

from ..tables import case_of, fields, table


def entry(**changes):
    return (
        fields("input: mfu, family: all, engine: all, value: '0.5', rows: 9, sources: 3") | changes
    )


def measured(entries=(), **changes):
    given = fields("""rows: 9, sources: 3, median_error: 1, within_half: 1, held: 1, near: {hbm: 2},
        scatter: {mfu: '0.2', layer_overhead: '0.3'}, far: 4, longest: {compiled: 32768},
        intervals: [{family: hopper, engine: compiled, reach: 1, rows: 40, sources: 2}]""")
    return EfficienciesSpec(**given | {"efficiencies": entries} | changes)


OWN = ["hopper server", "hopper plain", "ampere server", "cpu all", "all all"]
NEAREST = """
# families | engine | the entry | what is said
hopper hbm | plain | hopper plain |
blackwell hopper | server | hopper server |
hbm ampere | plain | ampere server | of plain on this family of devices (ampere); values are those
cpu | server | cpu all |
mi | server | all all | on this family of devices (mi); values are those of all devices
"""


@pytest.mark.parametrize(("families", "engine", "chosen", "words"), table(NEAREST))
def test_the_entry_of_a_family_and_an_engine_or_the_nearest(families, engine, chosen, words):
    entries = []
    for own in OWN:
        family, engines = own.split()
        of = {"of": "all"} if family == "all" else {}
        entries.append(entry(family=family, engine=engines, **of))
    found, said = measured(entries).chosen("mfu", families.split(), engine)
    assert f"{found.family} {found.engine}" == chosen
    assert words in said and bool(words) is bool(said)


KIND = fields(
    "device: h200, family: hbm, generation: hopper, model: dense, bits: 8, layout: one device, "
    "engine: compiled"
)
REACHES = """
device: h200 | 1
# of the same generation
device: h100-sxm | 1
generation: blackwell | 2
# in a precision that was not measured
bits: 4 | 2
model: experts | 2
engine: eager | 4
family: tpu, generation: tpu | 4
"""


@pytest.mark.parametrize(("changes", "reach"), table(REACHES))
def test_what_nobody_measured_has_a_wider_interval(changes, reach):
    kind = MeasuredKind(**KIND | fields(changes))
    assert measured(measured=[KIND]).reach(kind) == int(reach)


def test_the_ends_of_an_interval_by_hand():
    """e to the reach times the scatter to either side; a share ends at 1; what a family's rows do not determine reaches as far as what was never measured."""
    read = measured()
    assert read.ends(Efficiency(**entry()), 2) == pytest.approx(
        (0.5 / math.exp(0.4), 0.5 * math.exp(0.4))
    )
    assert read.ends(Efficiency(**entry(of="hbm")), 2) == pytest.approx((0.5 / math.exp(0.8), 1))
    cost = Efficiency(**entry(input="layer_overhead", value="1 ms"))
    assert read.ends(cost, 1)[1] == pytest.approx(1e-3 * math.exp(0.3))


def test_a_device_that_was_not_measured_has_the_values_of_its_generation():
    """DeepSeek-R1 on MI325X is as on MI300X, and not as on MI355X."""
    case = case_of("model=deepseek-r1 prompt=1000 tp=8 weights=fp8 efficiency=measured")
    devices = ("mi300x", "mi325x", "mi355x")
    made = [sr.Study(**case, hardware=device).first.inputs() for device in devices]
    for name in ("mfu", "layer_overhead"):
        mine, own, other = ((one[name].low, one[name].value, one[name].high) for one in made)
        assert mine == own != other


def test_no_share_of_the_compute_peak_is_shipped_at_its_limit():
    """A fit that ends at 1 would go on: its rows determine nothing."""
    shares = [e for e in shipped_efficiencies().efficiencies if e.input == "mfu"]
    assert max(float(e.value.value) for e in shares) < 0.9
    own = {e.family: e.of for e in shares if e.of and e.family[:2] in ("gd", "ge", "un")}
    assert own == case_of("gddr=hbm geforce=hbm unified=server") | {
        "gddr experts": "hbm experts",
        "geforce experts": "hbm experts",
    }
