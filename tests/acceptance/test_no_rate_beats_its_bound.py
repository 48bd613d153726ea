"""Published rates of 2024 to 2026 that come nearest to the bound of their devices, a few of each source.

The 1,600 others were compared once. Those above their bound are no evidence against it: OPT-6.7B asked for 4,096 tokens, twice its context, on a GH200;
GLM-4.5-Air said to run in 16 bits on two H100, which do not hold it; Mixtral with 16 equal prompts on four H100, which all choose the same experts; one
row of a GB200 whose layout was not recorded.
"""

import pytest

from symroof.api import Study

INFERENCEX = "InferenceX, SemiAnalysis: DeepSeek-R1, each configuration's runs until 2026-06, github.com/SemiAnalysisAI/InferenceX"
LMSYS = "LMSYS 2025-05-05, Deploying DeepSeek with PD Disaggregation and Large-Scale Expert Parallelism on 96 H100 GPUs"
GPUSTACK = "GPUStack, Performance Lab, docs.gpustack.ai/latest/performance-lab"
ARGONNE = "Argonne, LLM-Inference-Bench, github.com/argonne-lcf/LLM-Inference-Bench"
R1 = {"model": "deepseek-v3", "weights": "fp8"}
APART = {"prefill_devices": 32, "assume": {"scheduling": "disaggregated"}}

RATES = [
    # output tokens a second of all devices in a closed loop; random lengths average nine tenths of those asked for
    (
        INFERENCEX,
        "sustained_throughput",
        8 * 68.3,
        R1 | {"hardware": "h200", "tp": 8, "prompt": 7372, "output": 921, "batch": 8},
    ),
    (
        INFERENCEX,
        "sustained_throughput",
        8 * 584.6,
        R1 | {"hardware": "mi355x", "tp": 8, "prompt": 921, "output": 7372, "batch": 128},
    ),
    (
        INFERENCEX,
        "sustained_throughput",
        8 * 358.6,
        R1 | {"hardware": "mi355x", "tp": 8, "prompt": 921, "output": 7372, "batch": 64},
    ),
    # of devices that only decode: one of three instances of four, one of eight
    (
        INFERENCEX,
        "decode_throughput",
        4 * 5191,
        R1
        | {
            "weights": "nvfp4",
            "hardware": "gb300",
            "attention_dp": 4,
            "prompt": 7372,
            "output": 921,
            "batch": 1076,
        },
    ),
    (
        INFERENCEX,
        "decode_throughput",
        8 * 4500,
        R1 | {"hardware": "gb300", "attention_dp": 8, "prompt": 7372, "output": 921, "batch": 2152},
    ),
    (
        LMSYS,
        "decode_throughput",
        9 * 22282,
        R1
        | {
            "hardware": "h100-sxm",
            "attention_dp": 72,
            "prompt": 2000,
            "output": 100,
            "batch": 72 * 256,
        },
    ),
    (
        GPUSTACK,
        "sustained_throughput",
        8145.6,
        {
            "model": "qwen3.5-35b-a3b",
            "hardware": "h200",
            "weights": "bf16",
            "prompt": 1009,
            "output": 2000,
            "batch": 200,
        },
    ),
    # prompt tokens a second of four nodes that only prefill 16,384 tokens a device at a time; the last with experts evenly loaded by construction
    *(
        (
            LMSYS,
            "prefill_throughput",
            4 * rate,
            R1
            | APART
            | {
                "hardware": "h100-sxm",
                "attention_dp": 32,
                "prompt": prompt,
                "output": 100,
                "batch": 32,
                "prefill_batch": 32 * 16384 // prompt,
            },
        )
        for prompt, rate in ((1024, 57674), (2048, 54543), (4096, 50302), (4096, 59337))
    ),
    # a batch read and written as one
    *(
        (
            ARGONNE,
            "response_time",
            seconds,
            {
                "model": "mistral-7b",
                "hardware": "h100-sxm",
                "prompt": 1024,
                "output": 1024,
                "batch": b,
                "prefill_batch": b,
            },
        )
        for b, seconds in ((1, 7.31345), (64, 16.8465))
    ),
]


@pytest.mark.parametrize(("source", "quantity", "measured", "case"), RATES)
def test_no_rate_beats_its_bound(source, quantity, measured, case):
    bound = float(Study(**case, engine="ideal").value(quantity))
    share = bound / measured if quantity == "response_time" else measured / bound
    assert 0.3 < share < 1, (source, share)
