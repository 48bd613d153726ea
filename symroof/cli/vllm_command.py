"""``symroof vllm`` and ``symroof server``: explain the command line of a server and recommend one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import (
    case_options,
    details_option,
    json_option,
    line_selection,
    strict_option,
)
from symroof.cli.output import json_text, say, say_marked

if TYPE_CHECKING:
    from symroof.vllm.advice import Review
    from symroof.vllm.command_line import ServeCommand


@click.command("vllm")
@click.argument("line", metavar="'vllm serve ...'")
@details_option
@case_options
@strict_option
@json_option
def command(line: str, everything: bool, strict: bool, as_json: bool, **options: Any) -> int:
    """Explain a vllm serve command line and recommend a better one.

    symroof vllm 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 256' --hardware h100-sxm --prompt 2048 --output 256 --target itl='30 ms'

    The command line is only read, never run. Options given here override its flags. --details explains each flag and each limit.
    """
    from symroof.vllm.command_line import read_line

    return _reviewed(read_line(line), everything, strict, as_json, options)


@click.command("server")
@click.argument("line", metavar="'LINE'")
@details_option
@case_options
@strict_option
@json_option
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
    from symroof.cli.server_screen import screen
    from symroof.vllm.advice import review
    from symroof.vllm.served_case import served_case

    advised = review(served_case(line, line_selection(options)))
    case = advised.served.study.first
    idle = [
        f"{name} has no effect here: nothing that is shown depends on it"
        for name in unused_inputs(case, [*advised.facts, *advised.gives])
    ]
    if as_json:
        say(json_text(review_json(advised, idle)))
    else:
        say_marked(screen(advised, idle, everything))
    return int(strict and bool(findings(case)))


def review_json(advised: Review, idle: list[str]) -> dict[str, Any]:
    """The review as JSON; ``idle`` are warnings of what has no effect."""
    from symroof.analysis.case_summary import case_warnings
    from symroof.analysis.solution import solution_json
    from symroof.analysis.verdict import efficiency_basis

    answers, made = advised.served.study.first, advised.served
    pick = advised.pick
    gives = {name: pick.case.json_with_bound(name) for name in advised.gives} if pick else {}
    return {
        "schema": f"symroof/{'vllm' if made.line.engine.name == 'vllm' else 'server'}/1",
        "engine": made.line.engine.name,
        "model": answers.model.name if answers.model else None,
        "hardware": answers.hardware.name if answers.hardware else None,
        "flags": [vars(flag) for flag in made.flags],
        "not_modelled": list(made.line.others),
        "basis": efficiency_basis(answers),
        "quantities": {name: advised.case_of(name).json_with_bound(name) for name in advised.facts},
        "limits": [
            {
                "name": limit.name,
                "value": limit.value,
                "means": limit.means,
                "solution": solution_json(limit.solution),
            }
            for limit in advised.limits
        ],
        "recommended": {
            "line": advised.line or None,
            "flags": [vars(advice) for advice in advised.advice],
            "quantities": gives,
        },
        **(
            advised.found.as_json(advised.line)
            if advised.found
            else {"recommendation": None, "reason": advised.warnings[-1]}
        ),
        **answers.ledger(tuple(advised.facts), everything=False),
        "warnings": list(dict.fromkeys((*idle, *case_warnings(answers), *advised.warnings))),
        "read": made.line.engine.source,
    }
