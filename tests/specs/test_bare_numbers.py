"""A number without its unit: taken where it can mean one thing, refused with what to write everywhere else."""

import pytest

from symroof.errors import InputError
from symroof.specs.fields import build
from symroof.specs.input_values import needs_unit, setting
from symroof.specs.study import StudySpec
from symroof.strict_yaml import loads
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.units import parse_quantity, strict

from ..tables import words

COUNTED_OR_NONE = {"", "token", "request", "device", "parameter", "request/device"}
WIDTHS = words(
    "weight_bytes_per_param unquantized_bytes_per_param quantized_bytes_per_param "
    "kv_bytes_per_element state_bytes_per_element act_bytes_per_element link_bytes_per_element "
    "dispatch_bytes_per_element index_bytes_per_element elementwise_bytes"
)


def test_a_bare_number_is_taken_for_counts_shares_and_widths_alone():
    for symbol in (*INPUTS.values(), *QUANTITIES.values()):
        taken = symbol.unit in COUNTED_OR_NONE or symbol.name in WIDTHS
        assert needs_unit(symbol) is not taken, symbol.name
        if taken:
            setting(symbol.name, "1")
            continue
        with pytest.raises(ValueError, match="write the unit") as caught:
            setting(symbol.name, "7")
        hint = str(caught.value).partition("; write ")[2].strip("'")
        # what the hint says to write can be read
        assert strict(parse_quantity(hint).dimension) == strict(symbol.dimension), symbol.name
        setting(symbol.name, hint)


STUDY = """\
model: llama-3-8b
hardware: h100-sxm
workload: {prompt: 4096, arrival_rate: 2}
set: {mem_bandwidth: 3.35, weight_bytes_per_param: 1, link_latency: 0}
targets: {itl: 50, cost: 2}
efficiency: {step_overhead: 0.001}
"""


def test_every_bare_number_of_a_study_is_told_at_its_place():
    with pytest.raises(InputError) as caught:
        build(loads(STUDY, "study.yaml"), StudySpec)
    places = {problem.path: (problem.line, problem.hint) for problem in caught.value.problems}
    assert places == {
        "workload.arrival_rate": (3, "write '2 request/s'"),
        "set.mem_bandwidth": (4, "write '3.35 TB/s'"),
        "targets.itl": (5, "write '50 ms'"),
        "targets.cost": (5, "write '2 USD'"),
        "efficiency.step_overhead": (6, "write '1 ms'"),
    }
