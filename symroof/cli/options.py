"""Options that several commands share: where a command needs a case it takes a study, the same on the line, or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from symroof.binding import Selection
    from symroof.study import Study

F = TypeVar("F", bound=Callable[..., Any])

SYMBOL_OPTIONS = {
    "prompt": (("--prompt", "--isl"), "Prompt tokens of one request."),
    "output": (("--output", "--osl"), "Generated tokens of one request."),
    "batch": (("--batch", "--bs"), "Requests decoded together."),
    "context": (("--context",), "Keys a decode step attends to (default: the prompt)."),
    "tp": (("--tp",), "Tensor-parallel degree."),
    "mfu": (("--mfu",), "Achieved share of peak compute, or a range 0.5..0.7."),
    "mbu": (("--mbu",), "Achieved share of peak bandwidth, or a range."),
    "weights": (("--weights",), "Precision of the weights."),
    "kv": (("--kv",), "Precision of the cache."),
    "activations": (("--activations",), "Precision of the activations."),
}


family_option = click.option("--assume-family", metavar="FAMILY", help="Read a config.json as this family, whatever model_type it says.")


def case_options(command: F) -> F:
    """Add the options that describe a case. Options given several times make several cases."""
    decorators = [
        click.option("--model", multiple=True, metavar="NAME|PATH", help="Catalogue name, model spec, config.json (or its folder), or GGUF file."),
        family_option,
        click.option("--draft", metavar="NAME|PATH", help="A model that drafts tokens for the model (with --set draft_tokens=4 --set acceptance=0.7)."),
        click.option("--hardware", "--system", "hardware", multiple=True, metavar="NAME|PATH", help="Catalogue name or hardware spec."),
        *(click.option(*flags, name, multiple=True, metavar="VALUE", help=text) for name, (flags, text) in SYMBOL_OPTIONS.items()),
        click.option("--assume", multiple=True, metavar="SWITCH=VALUE", help="A counting choice; see `symroof list assumptions`."),
        click.option("--preset", metavar="NAME", help="A named set of switches and values."),
        click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any symbol or quantity, with its unit."),
        click.option(
            "--target",
            multiple=True,
            metavar="NAME=VALUE",
            help="A limit: ttft='200 ms', itl='50 ms', cost='2 USD' (a million tokens), price='20 USD/hour' (the group).",
        ),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
strict_option = click.option("--strict", is_flag=True, help="Exit 1 where something does not fit or misses its target.")


def pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """``NAME=VALUE`` texts as a mapping; a name given twice keeps both values as a list."""
    found: dict[str, Any] = {}
    for value in values:
        name, mark, text = value.partition("=")
        if not mark or not name.strip() or not text.strip():
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint=option)
        known = found.get(name.strip())
        found[name.strip()] = text.strip() if known is None else [*(known if isinstance(known, list) else [known]), text.strip()]
    return found


def line_selection(options: dict[str, Any]) -> Selection:
    """What the options choose, targets included."""
    from symroof.choosing import aimed, selection

    named = {name: (list(values) if len(values) > 1 else values[0]) for name in SYMBOL_OPTIONS if (values := options.get(name))}
    chosen = {**named, **pairs(options.get("settings", ()), "--set")}
    assume = {name: str(value) for name, value in pairs(options.get("assume", ()), "--assume").items()}
    chosen |= {"assume_family": options.get("assume_family"), "draft": options.get("draft")}
    line = selection(options.get("model") or None, options.get("hardware") or None, options.get("preset"), assume, "command line", **chosen)
    return aimed(pairs(options.get("target", ()), "--target")).over(line)


def study_from(path: str | None, options: dict[str, Any], needs_case: bool = True) -> Study:
    """The study of a file, of the options, or of both (the options win)."""
    from symroof.study import Study

    line = line_selection(options)
    if path:
        return Study.load(path, line)
    made = Study()
    made.select(line)
    if made.empty and needs_case:
        raise click.UsageError("give a study file, or a case on the line: --model, --hardware, --prompt ...")
    return made
