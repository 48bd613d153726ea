"""``symroof vllm`` and ``symroof server``: explain the command line of a server and recommend one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import case_options, line_selection, options_of
from symroof.cli.terminal import say_json, say_marked

if TYPE_CHECKING:
    from symroof.vllm.command_line import ServeCommand


@click.command("vllm")
@click.argument("line", metavar="'vllm serve ...'")
@options_of("vllm")
@case_options
def command(line: str, everything: bool, strict: bool, as_json: bool, **options: Any) -> int:
    """Explain a vllm serve command line and recommend a better one.

    symroof vllm 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 256' --hardware h100-sxm --prompt 2048 --output 256 --target itl='30 ms'

    The command line is only read, never run. Options given here override its flags. --details explains each flag and each limit.
    """
    from symroof.vllm.command_line import read_line

    return _reviewed(read_line(line), everything, strict, as_json, options)


@click.command("server")
@click.argument("line", metavar="'LINE'")
@options_of("vllm")
@case_options
def server(line: str, everything: bool, strict: bool, as_json: bool, **options: Any) -> int:
    """Explain the command line of a server and recommend a better one.

    symroof server 'python -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2' --hardware h100-sxm --prompt 2048 --output 256

    Understood: vllm serve, sglang serve, sglang.launch_server, trtllm-serve, llama-server, and docker run of their images. The command
    line is only read, never run.
    """
    from symroof.vllm.command_line import read_line
    from symroof.vllm.engines import ENGINES

    return _reviewed(read_line(line, ENGINES), everything, strict, as_json, options)


def _reviewed(
    line: ServeCommand, everything: bool, strict: bool, as_json: bool, options: dict[str, Any]
) -> int:
    """Print the review of a parsed command; the exit code."""
    from symroof.analysis.case_summary import unused_inputs
    from symroof.analysis.verdict import findings
    from symroof.cli.server_screen import review_json, screen
    from symroof.vllm.advice import review
    from symroof.vllm.served_case import served_case

    advised = review(served_case(line, line_selection(options)))
    case = advised.served.study.first
    idle = [
        f"{name} has no effect here: nothing that is shown depends on it"
        for name in unused_inputs(case, [*advised.facts, *advised.gives])
    ]
    if as_json:
        say_json(review_json(advised, idle))
    else:
        say_marked(screen(advised, idle, everything))
    return int(strict and bool(findings(case)))
