"""The precisions that are ways to store a whole checkpoint, each as the file of such a checkpoint describes it."""

from typing import Any

GROUP = 128


def tensors(weights: dict[str, Any], layout: str, activations: int | None = None) -> dict[str, Any]:
    """``config_groups`` as llm-compressor's recipes write them: all linear layers but the head."""
    group = {"targets": ["Linear"], "weights": {"symmetric": True, **weights}}
    group |= {"input_activations": {"num_bits": activations}} if activations else {}
    return {
        "quant_method": "compressed-tensors",
        "format": layout,
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }


def integers(bits: int, group: int) -> dict[str, Any]:
    return tensors(
        {"num_bits": bits, "type": "int", "strategy": "group", "group_size": group},
        "pack-quantized",
    )


CHECKPOINTS: dict[str, dict[str, Any]] = {
    "awq": {"quant_method": "awq", "bits": 4, "group_size": GROUP},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": GROUP},
    "w4a16": integers(4, GROUP),
    "w8a16": tensors({"num_bits": 8, "type": "int", "strategy": "channel"}, "pack-quantized"),
    "w8a8": tensors({"num_bits": 8, "type": "int", "strategy": "channel"}, "int-quantized", 8),
    "gptq-int8": {"quant_method": "gptq", "bits": 8, "group_size": GROUP},
    "fp8-block": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "fp8-tensor": {"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": ["lm_head"]},
    "fp8-dynamic": tensors(
        {"num_bits": 8, "type": "float", "strategy": "channel"}, "float-quantized", 8
    ),
    "mxfp4": tensors(
        {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32},
        "mxfp4-pack-quantized",
    ),
    "nvfp4": {"quant_method": "modelopt", "quant_algo": "NVFP4", "exclude_modules": ["lm_head"]},
    "nvfp4a16": {
        "quant_method": "modelopt",
        "quant_algo": "W4A16_NVFP4",
        "exclude_modules": ["lm_head"],
    },
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
}
"""Precision -> ``quantization_config`` of the checkpoints it describes."""

MEANINGS = {
    "awq": "4 bits, a 16-bit scale and a 4-bit zero point for 128 weights; 16-bit arithmetic",
    "gptq": "the same with a 32-bit group index for each input",
    "w4a16": "4 bits, a 16-bit scale for 128 weights; 16-bit arithmetic",
    "w8a16": "8-bit integers, a 16-bit scale for a row; 16-bit arithmetic",
    "w8a8": "8-bit integers, a 16-bit scale for a row; int8 arithmetic",
    "gptq-int8": "8 bits, a 16-bit scale and an 8-bit zero point for 128 weights, a 32-bit group index for each input; 16-bit arithmetic",
    "fp8-block": "8-bit floats, a 32-bit scale for a block of 128 by 128; fp8 arithmetic",
    "fp8-tensor": "8-bit floats, two 32-bit scales for a matrix; fp8 arithmetic",
    "fp8-dynamic": "8-bit floats, a 16-bit scale for a row; fp8 arithmetic",
    "mxfp4": "4-bit floats, an 8-bit exponent for 32 weights",
    "nvfp4": "4-bit floats, an 8-bit scale for 16 weights; fp4 arithmetic",
    "nvfp4a16": "the same with 16-bit arithmetic",
    "nf4": "4-bit normal floats, a 32-bit scale for 64 weights (bitsandbytes); 16-bit arithmetic",
}
