"""What is predicted without a measurement like it says so, and names the nearest; on another device of a measured family it does not."""

import pytest

from symroof.api import Study
from symroof.cases.engine_inputs import beyond_measurements
from symroof.specs.efficiencies import MeasuredKind, shipped_efficiencies

from ..tables import case_of, table

CASE = {"prompt": 2000, "output": 100, "batch": 8}


@pytest.mark.parametrize(
    ("case", "kind", "nearest"),
    table("""
model=llama-3.1-8b hardware=tpu-v6e | of 16-bit dense models on one TPU V6E in vLLM-class engines | on one
model=falcon-mamba-7b hardware=mi300x | of 16-bit recurrent models on one MI300X | of 16-bit dense models on one MI
model=deepseek-r1 hardware=h200 attention_dp=16 weights=bf16 | of 16-bit models with latent attention and experts on H200 with DP attention | of 8-bit models with latent attention
"""),
)
def test_what_is_said_beside_an_expectation(case, kind, nearest):
    for basis in ({}, {"efficiency": "measured"}):
        found = beyond_measurements(Study(**case_of(case), **CASE, **basis).first)
        own, _, near = found.partition("; the 80 % interval is that of the nearest, ")
        assert near.startswith(nearest) and own.startswith(f"no public measurement {kind}")


@pytest.mark.parametrize(
    "case",
    [
        "model=llama-3.1-8b hardware=h100-sxm",
        "model=llama-3.1-8b hardware=h100-nvl",  # no row of this part, but of its family
        "model=deepseek-r1 hardware=b200 attention_dp=8 weights=fp8",
        "model=deepseek-v3 hardware=h200 tp=8",  # as its checkpoint stores it, in blocks of 8 bits
        "model=falcon-mamba-7b hardware=h100-sxm",  # its kind was measured on an H200
    ],
)
def test_nothing_is_said_where_such_a_case_was_measured(case):
    assert beyond_measurements(Study(**case_of(case), **CASE).first) == ""


@pytest.mark.parametrize(
    ("engine", "prompt", "said"),
    [("mlx", 8000, ""), ("mlx", 146000, "8,193"), ("vllm", 30000, ""), ("vllm", 60000, "32,768")],
)
def test_longer_requests_than_any_measured_are_said(engine, prompt, said):
    hardware = "m3-ultra" if engine == "mlx" else "h100-sxm"
    case = {"model": "llama-3.1-8b", "weights": "fp16" if engine == "vllm" else "q4_k_m"}
    found = Study(**case, hardware=hardware, engine=engine, prompt=prompt).first
    assert beyond_measurements(found).startswith(f"no request longer than {said}" if said else "")
    assert bool(beyond_measurements(found)) == bool(said)


def test_nothing_is_said_where_nothing_is_expected_by_measurements():
    """Efficiencies that somebody gave, and physics alone."""
    case = {"model": "falcon-mamba-7b", "hardware": "mi300x"} | CASE
    for more in ({"mfu": "0.5", "mbu": "0.7"}, {"engine": "ideal"}):
        assert beyond_measurements(Study(**case, **more).first) == ""


def test_the_nearest_has_the_fewest_and_smallest_differences():
    """By hand: models with experts in 16 bits were measured on MI300X with engines of 2024, which is nearer than another model with today's."""
    kind = case_of(
        "device=mi325x family=cdna generation=cdna3 model=experts bits=16 engine=compiled"
    )
    asked = MeasuredKind(**kind, layout="several devices")
    said = " the nearest, on several MI300X in engines of 2023 and 2024"
    assert shipped_efficiencies().beyond(asked).endswith(said)
    other = case_of("device=h200 family=hbm generation=hopper bits=8")
    found = asked.differences(asked.model_copy(update=other))
    assert found == ("family", "generation", "bits", "device")
