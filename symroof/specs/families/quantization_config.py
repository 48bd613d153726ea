"""``quantization_config`` of a checkpoint: how wide its matrices are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symroof.specs.quantization import Quantization


def read_quantization(config: Mapping[str, Any]) -> Quantization | None:
    """How the checkpoint of a ``config.json`` is stored; None where it is not quantized."""
    return None
