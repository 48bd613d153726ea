"""Every answer in SymPy is the number it stands for: all named thresholds."""

import pytest
import sympy

import symroof as sr
from symroof.errors import InputError
from symroof.theory.thresholds import THRESHOLDS
from tests.tables import case_of

CASE = case_of(
    "hardware=h200 engine=ideal prompt=1000 output=50 batch=4 mfu=0.5 mbu=0.8 "
    "step_overhead='1 ms' itl_target='20 ms' ttft_target='1 s' arrival_rate=0.5 "
    "price='3 USD/hour' chunk=256 gemm_k=4096 gemm_n=4096 network_bandwidth='50 GB/s' "
    "cost_target='0.5 USD' rival_price='4 USD/hour' rival_throughput=1000"
)
DRAFT = {"draft_tokens": 3, "acceptance": 0.7, "draft_cost": 0.1}


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "deepseek-v2-lite"])
def test_named_thresholds(model):
    closed = 0
    for name, threshold in THRESHOLDS.items():
        study = sr.Study(model, **CASE, **(DRAFT if threshold.group == "speculation" else {}))
        try:
            solution = study.solve(name)
        except InputError:  # the model has no such thing: experts, chunks of a state
            continue
        if solution.sympy is None or solution.value is None:
            assert solution.missing or solution.why_numeric, name
            continue
        there = float(sympy.N(solution.sympy.xreplace(study.values()).doit(), 30))
        assert there == pytest.approx(solution.value, rel=1e-10), name
        closed += 1
    assert closed > 15
