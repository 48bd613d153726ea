"""Figures of the catalogue by their paths, and the error that a path to none gives."""

import pytest

from symroof.claims.catalogue_figures import catalogue_figure
from symroof.errors import InputError
from tests.tables import table


@pytest.mark.parametrize(
    ("path", "value", "unit"),
    [
        ("h100-sxm.mem_bandwidth", 3350 * 10**9, "byte/s"),
        ("h100-sxm.memory.bandwidth", 3350 * 10**9, "byte/s"),
        ("h100-sxm.peaks.fp16.sparse", 19789 * 10**11, "FLOP/s"),
        ("h100-sxm.peaks.fp16.dense", 9894 * 10**11, "FLOP/s"),
        ("h100-sxm.link.devices", 8, ""),
        ("llama-3-70b.n_kv_heads", 8, ""),
        ("llama-3.1-70b.n_layers", 80, ""),
        ("h100-sxm.power", 700, "W"),
    ],
)
def test_a_figure_by_its_path(path, value, unit):
    assert catalogue_figure(path) == (value, unit)


MISSING = """
h100-smx.power | begins with no device or model of the catalogue | did you mean 'h100-sxm'?
h100-sxm.powr | h100-sxm.powr: no such figure | did you mean 'power'?
h100-sxm.peaks.fp16 | no such figure | did you mean 'peaks.fp16.dense'?
h100-sxm.memory.bandwith | no such figure | did you mean 'memory.bandwidth'?
v100-sxm2-32gb.peaks.fp16.sparse | no such figure | did you mean 'peaks.fp16.dense'?
h100-sxm.itl | has no itl |
llama-3-70b.n_experts | has no n_experts |
"""


@pytest.mark.parametrize(("path", "message", "hint"), table(MISSING))
def test_a_figure_that_is_not_there(path, message, hint):
    with pytest.raises(InputError) as error:
        catalogue_figure(path)
    (problem,) = error.value.problems
    assert message in problem.message and problem.hint == hint
