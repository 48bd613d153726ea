"""Published rates of 2024 to 2026 that come nearest to the bound of their devices, a few of each source.

The 1,600 others were compared once. Those above their bound are no evidence against it: OPT-6.7B asked for 4,096 tokens, twice its context, on a GH200;
GLM-4.5-Air said to run in 16 bits on two H100, which do not hold it; Mixtral with 16 equal prompts on four H100, which all choose the same experts; one
row of a GB200 whose layout was not recorded.
"""

import pytest

from symroof.api import Study

from ..tables import table
from . import case_of

R1 = {"model": "deepseek-v3", "weights": "fp8"}
GB300 = {**R1, "hardware": "gb300", "prompt": 7372, "output": 921}
H100 = {**R1, "hardware": "h100-sxm", "output": 100}
QWEN = {"model": "qwen3.5-35b-a3b", "weights": "bf16"}
PREFILLS = case_of(
    "H100 attention_dp=32 batch=32 prefill_devices=32 scheduling=disaggregated", globals()
)
MISTRAL = {"model": "mistral-7b", "hardware": "h100-sxm", "prompt": 1024, "output": 1024}
RATES = """
# InferenceX, SemiAnalysis: DeepSeek-R1, each configuration's runs until 2026-06,
# github.com/SemiAnalysisAI/InferenceX: output tokens a second of all devices in a closed loop;
# random lengths average nine tenths of those asked for
sustained_throughput | 8*68.3  | R1 hardware=h200 tp=8 prompt=7372 output=921 batch=8
sustained_throughput | 8*584.6 | R1 hardware=mi355x tp=8 prompt=921 output=7372 batch=128
sustained_throughput | 8*358.6 | R1 hardware=mi355x tp=8 prompt=921 output=7372 batch=64
# and of devices that only decode: one of three instances of four, one of eight
decode_throughput | 4*5191 | GB300 weights=nvfp4 attention_dp=4 batch=1076
decode_throughput | 8*4500 | GB300 attention_dp=8 batch=2152
# LMSYS 2025-05-05, Deploying DeepSeek with PD Disaggregation and Large-Scale Expert Parallelism on 96 H100 GPUs
decode_throughput | 9*22282 | H100 attention_dp=72 prompt=2000 batch=18432
# prompt tokens a second of four nodes that only prefill 16,384 tokens a device at a time; the last with
# experts evenly loaded by construction
prefill_throughput | 4*57674 | PREFILLS prompt=1024 prefill_batch=512
prefill_throughput | 4*54543 | PREFILLS prompt=2048 prefill_batch=256
prefill_throughput | 4*50302 | PREFILLS prompt=4096 prefill_batch=128
prefill_throughput | 4*59337 | PREFILLS prompt=4096 prefill_batch=128
# GPUStack, Performance Lab, docs.gpustack.ai/latest/performance-lab
sustained_throughput | 8145.6 | QWEN hardware=h200 prompt=1009 output=2000 batch=200
# Argonne, LLM-Inference-Bench, github.com/argonne-lcf/LLM-Inference-Bench: a batch read and written as one
response_time | 7.31345 | MISTRAL batch=1 prefill_batch=1
response_time | 16.8465 | MISTRAL batch=64 prefill_batch=64
"""


@pytest.mark.parametrize(("quantity", "measured", "case"), table(RATES))
def test_no_rate_beats_its_bound(quantity, measured, case):
    bound = float(Study(**case_of(case, globals()), engine="ideal").value(quantity))
    share = bound / eval(measured) if quantity == "response_time" else eval(measured) / bound
    assert 0.3 < share < 1
