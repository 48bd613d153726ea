"""Options shared by several commands. A command takes a study file, a case as options, or both."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from symroof.api import Study
    from symroof.cases.request import Request
    from symroof.theory.declarations import Declarations

F = TypeVar("F", bound=Callable[..., Any])

SYMBOL_OPTIONS = {
    "prompt": (("--prompt", "--isl"), "Prompt tokens of one request."),
    "output": (("--output", "--osl"), "Generated tokens of one request."),
    "batch": (("--batch", "--bs"), "Batch size: requests decoded together."),
    "context": (
        ("--context",),
        "Context length: keys a decode step attends to (default: the prompt).",
    ),
    "tp": (("--tp",), "Tensor-parallel degree."),
    "pp": (("--pp",), "Pipeline-parallel degree: stages of layers."),
    "dp": (("--dp",), "Data-parallel degree: replicas of the instance."),
    "ep": (("--ep",), "Expert-parallel degree: devices over which whole experts are spread."),
    "attention_dp": (
        ("--attention-dp",),
        "Data-parallel attention degree (DP attention): groups that share only the routed experts.",
    ),
    "mfu": (("--mfu",), "Achieved share of peak compute (MFU), or a range 0.5..0.7."),
    "mbu": (("--mbu",), "Achieved share of peak memory bandwidth (MBU), or a range."),
    "weights": (
        ("--weights",),
        "Precision of the weights: bf16, fp8, awq, w8a8, q4_k_m ...; see `symroof list precisions`.",
    ),
    "kv": (("--kv",), "Precision of the KV cache: fp16, fp8, int8 ..."),
    "activations": (
        ("--activations",),
        "Precision of the activations: with 8-bit weights it decides which peak counts.",
    ),
}


COMMAND_LINE = "command line"
"""The origin of what options give."""

family_option = click.option(
    "--assume-family",
    metavar="FAMILY",
    help="Read a config.json as this family, whatever model_type it says.",
)


def case_options(command: F) -> F:
    """Add the options that describe a case; repeated options make several cases."""
    decorators = [
        click.option(
            "--model",
            multiple=True,
            metavar="NAME|PATH",
            help="Catalogue or hub name, model spec, config.json (or its folder), or GGUF file.",
        ),
        family_option,
        click.option(
            "--draft",
            metavar="NAME|PATH",
            help="A model that drafts tokens for the model (with --set draft_tokens=4 --set acceptance=0.7).",
        ),
        click.option(
            "--hardware",
            "--system",
            "hardware",
            multiple=True,
            metavar="NAME|PATH",
            help="Catalogue name, a part's name such as 'H100 SXM', or hardware spec.",
        ),
        *(
            click.option(*flags, name, multiple=True, metavar="VALUE", help=text)
            for name, (flags, text) in SYMBOL_OPTIONS.items()
        ),
        click.option(
            "--assume",
            multiple=True,
            metavar="SWITCH=VALUE",
            help="A counting choice; see `symroof list assumptions`.",
        ),
        click.option(
            "--efficiency",
            metavar="peak|measured",
            help="Source of the efficiencies not given: measured (what to expect, the default) or peak (100 %, a bound).",
        ),
        click.option(
            "--engine",
            metavar="NAME",
            help="Engine, or engine class, of measured efficiencies: compiled, earlier (compiled engines until 2024), eager, ggml, vllm ...",
        ),
        click.option("--preset", metavar="NAME", help="A named set of switches and values."),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Any input or quantity, with its unit: mem_bandwidth='3.35 TB/s'; of one device: h200.price='3 USD/hour'.",
        ),
        click.option(
            "--prefill",
            multiple=True,
            metavar="NAME=N",
            help="Instances that only prefill, with a layout of their own: tp, pp, attention_dp, ep, and instances (or devices) beside all that decode.",
        ),
        click.option(
            "--target",
            multiple=True,
            metavar="NAME=VALUE",
            help="A limit: ttft='200 ms', itl='50 ms' (means; ttft='p99 2 s' a percentile), cost='2 USD' (per million output tokens), price='20 USD/hour' (one instance), fleet_price='100 USD/hour' (all replicas).",
        ),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def study_options(command: F) -> F:
    """Add the argument STUDY and the options of a case, which override the study."""
    return click.argument("study", required=False)(case_options(command))


json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on standard output."
)
all_option = click.option(
    "--all",
    "-v",
    "everything",
    is_flag=True,
    help="Everything: more than the first screen, all digits.",
)
details_option = click.option(
    "--details",
    "-v",
    "everything",
    is_flag=True,
    help="Everything: more than the first screen, all digits.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Exit 1 if something does not fit or misses its target."
)


def pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """``NAME=VALUE`` arguments as a mapping; a repeated name maps to a list."""
    mapping: dict[str, Any] = {}
    for value in values:
        name, mark, text = value.partition("=")
        if not mark or not name.strip() or not text.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint=option)
        known = mapping.get(name.strip())
        mapping[name.strip()] = (
            text.strip()
            if known is None
            else [*(known if isinstance(known, list) else [known]), text.strip()]
        )
    return mapping


NOT_INPUTS = {
    **{
        name: f"; --{name.replace('_', '-')} sets it"
        for name in (
            "model",
            "hardware",
            "preset",
            "assume",
            "assume_family",
            "draft",
            "efficiency",
            "engine",
        )
    },
    "prefill": "; --prefill tp=4 sets it",
    **dict.fromkeys(("origin", "base", "own"), ""),
}
"""Names of a case that are not inputs, with a hint which option sets them."""


def line_selection(options: dict[str, Any], own: Declarations | None = None) -> Request:
    """The selection that the options describe, including targets; ``own`` are the declarations of the study that the options override."""
    from symroof.cases.request import request_of, target_request
    from symroof.theory.declarations import NONE

    named = {
        name: (list(values) if len(values) > 1 else values[0])
        for name in SYMBOL_OPTIONS
        if (values := options.get(name))
    }
    settings = pairs(options.get("settings", ()), "--set")
    if no_input := next((name for name in settings if name in NOT_INPUTS), None):
        raise click.BadParameter(
            f"{no_input} is not an input{NOT_INPUTS[no_input]}", param_hint="--set"
        )
    chosen = {**named, **settings}
    assume = pairs(options.get("assume", ()), "--assume")
    if twice := next((name for name, value in assume.items() if isinstance(value, list)), None):
        raise click.BadParameter(
            f"{twice} is {' and '.join(assume[twice])}; a case takes one", param_hint="--assume"
        )
    chosen |= {"assume_family": options.get("assume_family"), "draft": options.get("draft")}
    chosen |= {"efficiency": options.get("efficiency"), "engine": options.get("engine")}
    chosen |= {"own": own or NONE, "prefill": pairs(options.get("prefill", ()), "--prefill")}
    line = request_of(
        options.get("model") or None,
        options.get("hardware") or None,
        options.get("preset"),
        assume,
        COMMAND_LINE,
        **chosen,
    )
    return target_request(pairs(options.get("target", ()), "--target")).over(line)


def picture_format(file: str) -> str:
    """The picture format of a file name.

    Raises:
        click.BadParameter: another ending, or none.
    """
    from symroof.report.pictures import ENDINGS

    suffix = os.path.splitext(file)[1]
    if suffix.lower().removeprefix(".") not in ENDINGS:
        shown = f"no picture ends in {suffix!r}" if suffix else f"{file!r} has no ending"
        raise click.BadParameter(
            f"{shown}; there are {', '.join(f'.{known}' for known in ENDINGS)}", param_hint="--out"
        )
    return suffix.lower().removeprefix(".")


def check_folder(file: Path) -> None:
    """Raise an InputError if the folder of an output file does not exist."""
    from symroof.errors import InputError, Problem

    if not file.parent.is_dir():
        raise InputError(
            Problem(str(file), f"there is no folder {file.parent}", hint=f"mkdir -p {file.parent}")
        )


def study_from(path: str | None, options: dict[str, Any], needs_case: bool = True) -> Study:
    """The study of a file, of the options, or of both (options override the file)."""
    from symroof.api import Study

    made = Study.load(path) if path else Study()
    made.select(line_selection(options, made.declared))
    if path:
        return made
    if made.empty and needs_case:
        raise click.UsageError(
            "give a study file or a case: --model llama-3-8b --hardware h100-sxm --prompt 4096"
        )
    return made
