"""``symroof server``: explains the command line of a server, whichever its engine, and recommends one."""

from __future__ import annotations

from typing import Any

import click

from symroof.cli.options import case_options, details_option, json_option, strict_option
from symroof.cli.vllm_command import reviewed


@click.command("server")
@click.argument("line", metavar="'LINE'")
@details_option
@case_options
@strict_option
@json_option
def command(line: str, everything: bool, strict: bool, as_json: bool, **options: Any) -> int:
    """Explain the command line of a server, and recommend one.

    symroof server 'python -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2' --hardware h100-sxm --prompt 2048 --output 256

    Lines of vLLM (vllm serve), SGLang (sglang serve, sglang.launch_server), TensorRT-LLM (trtllm-serve) and llama.cpp (llama-server), or of a container
    that runs one (docker run ... vllm/vllm-openai ...). Each flag as its engine means it; otherwise as `symroof vllm`. The line is only read, never run.
    """
    from symroof.vllm.command_line import read_line
    from symroof.vllm.engines import ENGINES

    return reviewed(read_line(line, ENGINES), everything, strict, as_json, options)
