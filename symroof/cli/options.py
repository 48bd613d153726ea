"""Options shared by several commands. A command takes a study file, a case as options, or both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symroof.resources import data_folder
from symroof.strict_yaml import load

if TYPE_CHECKING:
    from symroof.api import Study
    from symroof.cases.request import Request
    from symroof.theory.declarations import Declarations

F = TypeVar("F", bound=Callable[..., Any])

COMMAND_LINE = "command line"
"""The origin of what options give."""


class CaseOption(click.Option):
    """An option that describes a case, in its group of the help."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


TABLE: Any = load(data_folder("templates") / "options.yaml").data
"""Options that describe a case, the rarer ones apart, those that commands share, and those of each command."""
OPTIONS: dict[str, dict[str, Any]] = TABLE["case"] | TABLE["advanced"]
TYPES: dict[Any, type] = {"int": int}
INPUTS = tuple(name for name, option in OPTIONS.items() if option["value"] == "VALUE")
ONCE = ("draft", "efficiency", "engine", "preset", "assume_family")


def option(name: str, said: Mapping[str, Any], **more: Any) -> Callable[[F], F]:
    """An option as the table has it; one without a value is a flag."""
    more |= {key: said[key] for key in ("default",) if key in said}
    return click.option(
        *said["flags"].split(),
        said.get("name", name),
        is_flag=None if said.keys() & {"value", "choices"} else True,
        multiple="several" in said,
        type=click.Choice(said["choices"]) if "choices" in said else TYPES.get(said.get("type")),
        show_default=said.get("default", "-") != "-",
        metavar=said.get("value"),
        help=said["help"],
        **more,
    )


def options_of(command: str) -> Callable[[F], F]:
    """The options that a command has besides those of a case."""

    def add(made: F) -> F:
        for name, own in reversed(TABLE[command].items()):
            made = option(name, TABLE["shared"][name] if own == "shared" else own)(made)
        return made

    return add


def case_option(name: str) -> Callable[[F], F]:
    """One option of a case."""
    said = OPTIONS[name] | ({} if name in ONCE else {"several": True})
    group = "The case" if name in TABLE["case"] else "Advanced"
    return option(name, said, cls=CaseOption, group=group)


family_option = case_option("assume_family")


def case_options(command: F) -> F:
    """Add the options that describe a case; repeated options make several cases."""
    for name in reversed(OPTIONS):
        command = case_option(name)(command)
    return command


def study_options(command: F) -> F:
    """Add the argument STUDY and the options of a case, which override the study."""
    return click.argument("study", required=False)(case_options(command))


def pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """``NAME=VALUE`` arguments as a mapping; a repeated name maps to a list."""
    mapping: dict[str, list[str]] = {}
    for value in values:
        name, mark, text = value.partition("=")
        if not mark or not name.strip() or not text.strip():
            such = f": write {option} instances={value}" * (option == "--prefill")
            raise click.BadParameter(f"{value!r} is not NAME=VALUE{such}", param_hint=option)
        if several := re.match(r"([^,]*?),\s*([A-Za-z_]\w*=.*)", text):
            hint = f"{option} {name.strip()}={several[1]} {option} {several[2]}"
            raise click.BadParameter(f"one NAME=VALUE each: write {hint}", param_hint=option)
        mapping.setdefault(name.strip(), []).append(text.strip())
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in mapping.items()}


OWN_OPTIONS = {
    name: said["flags"].split()[0] for name, said in OPTIONS.items() if name not in INPUTS
}
"""What a case takes besides inputs, with the option that gives it."""


def line_selection(options: dict[str, Any], own: Declarations | None = None) -> Request:
    """The selection that the options describe, including targets; ``own`` are the declarations of the study that the options override."""
    from symroof.cases.request import request_of, target_request
    from symroof.theory.declarations import NONE

    settings = pairs(options.get("settings", ()), "--set")
    for name in ("model", "hardware", *INPUTS):  # --hardware h100,l40s and --batch 1,8,32
        options[name] = tuple(part for text in options.get(name) or () for part in _listed(text))
    for name in settings:
        if name in OWN_OPTIONS or name in ("origin", "base", "own"):
            hint = f"; {OWN_OPTIONS[name]} sets it" if name in OWN_OPTIONS else ""
            raise click.BadParameter(f"{name} is not an input{hint}", param_hint="--set")
    assume = pairs(options.get("assume", ()), "--assume")
    for name, value in assume.items():
        if isinstance(value, list):
            message = f"{name} is {' and '.join(value)}; a case takes one"
            raise click.BadParameter(message, param_hint="--assume")
    chosen = {
        **{
            name: (list(values) if len(values) > 1 else values[0])
            for name in INPUTS
            if (values := options.get(name))
        },
        **settings,
        **{name: options.get(name) for name in ("assume_family", "draft", "efficiency", "engine")},
        "own": own or NONE,
        "prefill": pairs(options.get("prefill", ()), "--prefill"),
    }
    line = request_of(
        options.get("model") or None,
        options.get("hardware") or None,
        options.get("preset"),
        assume,
        COMMAND_LINE,
        **chosen,
    )
    targets = (text.replace("<=", "=").replace("<", "=") for text in options.get("target", ()))
    limits = pairs(tuple(targets), "--target")
    if twice := [name for name, limit in limits.items() if isinstance(limit, list)]:
        raise click.BadParameter(f"{twice[0]} is given twice", param_hint="--target")
    return target_request(limits).over(line)


GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _listed(text: str) -> list[str]:
    """The values of a list with commas."""
    if GROUPED.fullmatch(text):
        plain = text.replace(",", "")
        message = f"{text} may be one number or a list: write {plain}, or repeat the option"
        raise click.BadParameter(message)
    return text.split(",") if re.fullmatch(r"[\w. -]+(?:,[\w. -]+)+", text) else [text]


def words_without(
    words: Iterable[str], with_value: Collection[str], flags: Collection[str] = ()
) -> list[str]:
    """The words of a command line without some options, and their values."""
    kept, left = [], iter(words)
    for word in left:
        option, given, _ = word.partition("=")
        if option in with_value and not given:
            next(left, "")
        elif option not in with_value and word not in flags:
            kept.append(word)
    return kept


def study_from(path: str | None, options: dict[str, Any], needs_case: bool = True) -> Study:
    """The study of a file, of the options, or of both (options override the file)."""
    from symroof.api import Study

    made = Study.load(path) if path else Study()
    made.select(line_selection(options, made.declared))
    if not path and made.empty and needs_case:
        raise click.UsageError("give a study file or a case: --model llama-3.1-8b --hardware h100")
    return made
