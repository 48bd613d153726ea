"""Mistakes on the command line as problems like those in files: place, message, hint."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from symroof.errors import Problem

NEAR, VERY_NEAR = 0.6, 0.72
"""How alike two names are for one to be suggested: a command of few, an option of many."""
OTHER_WORDS = {
    **dict.fromkeys(
        ("gpu", "gpus", "devices", "device", "accelerators", "parts", "cards"), "hardware"
    ),
    **dict.fromkeys(("llm", "llms", "model", "networks"), "models"),
    **dict.fromkeys(("dtype", "dtypes", "formats", "quantizations", "precision"), "precisions"),
    **dict.fromkeys(
        ("metrics", "formulas", "symbols", "names", "outputs", "quantity"), "quantities"
    ),
    **dict.fromkeys(("switches", "choices", "options"), "assumptions"),
    **dict.fromkeys(("parameters", "variables", "settings"), "inputs"),
    **dict.fromkeys(("servers", "frameworks", "backends"), "engines"),
    **dict.fromkeys(("tools", "calculators"), "presets"),
    **dict.fromkeys(("measurements", "benchmarks", "data"), "measured"),
}
"""Other words for the kinds of entries of the catalogue."""


def problem(
    error: click.ClickException, arguments: Sequence[str], commands: Iterable[str]
) -> Problem:
    """A usage error of click with its place: the command, and the option or argument."""
    command = next((word for word in arguments if word in set(commands)), "")
    place = f"symroof {command}".strip()
    help_ = f"`{place} --help`"
    if isinstance(error, click.NoSuchOption):
        return Problem(
            place,
            f"no such option {error.option_name!r}",
            hint=_option_hint(error, arguments) or f"{help_} lists the options",
        )
    if isinstance(error, click.MissingParameter):
        param, context = error.param, error.ctx
        if param is None or context is None:
            return Problem(place, "missing parameter", hint=f"{help_} shows how it is called")
        flag = f"{max(param.opts, key=len)} " if isinstance(param, click.Option) else ""
        choices = (
            f"there are: {', '.join(map(str, param.type.choices))}"
            if isinstance(param.type, click.Choice)
            else ""
        )
        return Problem(
            place,
            f"missing {param.param_type_name} {flag}{param.make_metavar(context)}",
            hint=choices or f"{help_} shows how it is called",
        )
    if isinstance(error, click.BadParameter):
        return _bad_value(error, place)
    return Problem(place, _lower(error.format_message()), hint=help_)


OPTIONS_OF_FILES = {"targets": "--target", "simulate": ""}
"""Places of problems that are options of another name; empty where the path is the option."""
INPUTS_ON_THE_LINE = (
    "model",
    "hardware",
    "draft",
    "preset",
    "engine",
    "efficiency",
    "assume",
    "assume_family",
    "prefill",
)
"""What a case of the command line takes besides inputs, each by an option of its name."""


def on_the_line(
    problem: Problem, arguments: Sequence[str], command: click.Command | None
) -> Problem:
    """A problem of the command line with the option as its place: ``--mfu``, ``--set: mem_bandwidth``, ``--target: itl``, ``--among: tp``."""
    from symroof.cli.options import COMMAND_LINE, SYMBOL_OPTIONS

    first, _, rest = problem.path.partition(".")
    if problem.file == COMMAND_LINE or OPTIONS_OF_FILES.get(problem.file) == "":
        if first in SYMBOL_OPTIONS:
            flags = SYMBOL_OPTIONS[first][0]
            return replace(
                problem,
                file=next((flag for flag in flags if flag in arguments), flags[0]),
                path=rest,
            )
        if first in INPUTS_ON_THE_LINE:
            return replace(problem, file=f"--{first.replace('_', '-')}", path=rest)
        names = (
            "`symroof list inputs` shows the names"
            if problem.message.startswith("unknown name")
            else ""
        )
        return replace(problem, file="--set", hint=problem.hint or names)
    named = (
        next(
            (
                option
                for option in command.params
                if option.name == problem.file and option.opts[0].startswith("-")
            ),
            None,
        )
        if command
        else None
    )
    return replace(
        problem,
        file=OPTIONS_OF_FILES.get(problem.file)
        or (max(named.opts, key=len) if named else problem.file),
    )


def _lower(message: str) -> str:
    """A message as it goes on after its place."""
    return (message[:1].lower() + message[1:] if message[:2].istitle() else message).removesuffix(
        "."
    )


def _parameter(error: click.BadParameter) -> str:
    """The option or argument that a value was for."""
    hint = error.param_hint
    if hint is None and error.param is not None:
        hint = (
            max(error.param.opts, key=len)
            if isinstance(error.param, click.Option)
            else error.param.human_readable_name
        )
    return hint if isinstance(hint, str) else ", ".join(hint or ())


def _option_hint(error: click.NoSuchOption, arguments: Sequence[str]) -> str:
    """The option that was meant: of another tool, for JSON, or spelled alike."""
    from symroof.specs.other_tools import equivalent_of_option

    if ours := equivalent_of_option(error.option_name, arguments):
        return f"did you mean {' and '.join(map(repr, ours.split(', ')))}?"
    known = (
        [name for option in error.ctx.command.params for name in option.opts] if error.ctx else []
    )
    if error.option_name in ("--format", "--output-format", "-f") and "--json" in known:
        return "did you mean '--json'?"
    near = difflib.get_close_matches(error.option_name, known, n=1, cutoff=VERY_NEAR)
    return f"did you mean {near[0]!r}?" if near else ""


def _bad_value(error: click.BadParameter, place: str) -> Problem:
    """A value that an option or argument does not take; of one that is not in its list, which was meant."""
    kind, path = error.param.type if error.param else None, _parameter(error)
    if path.startswith("--"):
        place, path = path, ""
    if not isinstance(kind, click.Choice) or "'" not in error.message:
        return Problem(place, _lower(error.message), path=path)
    word = error.message.split("'")[1]
    if (
        word == "json"
        and error.ctx
        and any("--json" in option.opts for option in error.ctx.command.params)
    ):
        hint = "did you mean '--json'?"
    else:
        hint = near_choice(word, [str(choice) for choice in kind.choices])
    return Problem(place, f"no such value {word[:60]!r}", path=path, hint=hint)


def near_choice(word: str, choices: Sequence[str]) -> str:
    """The choice that a word is another word for, or is near to; all of them where none is."""
    meant = OTHER_WORDS.get(word.lower(), "")
    near = (
        [meant]
        if meant in choices
        else difflib.get_close_matches(word.lower(), choices, n=1, cutoff=NEAR)
    )
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(choices)}"


def no_such_command(word: str, commands: Sequence[str]) -> Problem:
    """The problem of a word that is no command: which was meant, or what to do with a name or a file."""
    hint = _command_hint(word, commands)
    return Problem(
        "symroof",
        f"no such command {word[:60]!r}",
        hint=hint or "`symroof --help` lists the commands",
    )


def _command_hint(word: str, commands: Sequence[str]) -> str:
    if os.path.isfile(word):
        return (
            f"`symroof check {word}` checks its numbers"
            if word.endswith(".md")
            else f"`symroof eval {word}` or `symroof report {word}`"
        )
    begun = [
        command
        for command in commands
        if len(word) > 1 and (command.startswith(word) or word.startswith(command))
    ]
    if near := begun or difflib.get_close_matches(word, commands, n=1, cutoff=NEAR):
        return f"did you mean `symroof {near[0]}`?"
    from symroof.specs.catalogue import entries
    from symroof.theory.quantities import QUANTITIES
    from symroof.theory.symbols import INPUTS
    from symroof.theory.thresholds import THRESHOLDS

    of_command = {
        "derive": [*QUANTITIES, *INPUTS],
        "solve": list(THRESHOLDS),
        "show": [name for kind in ("models", "hardware") for name in entries(kind)],
    }
    for command, names in of_command.items():
        if word in names:
            return f"did you mean `symroof {command} {word}`?"
    best = [
        (near[0], command)
        for command, names in of_command.items()
        if (near := difflib.get_close_matches(word, names, n=1, cutoff=0.8))
    ]
    best.sort(key=lambda pair: -difflib.SequenceMatcher(None, word, pair[0]).ratio())
    return f"did you mean `symroof {best[0][1]} {best[0][0]}`?" if best else ""
