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
    "hardware": "gpu gpus devices device accelerators parts cards",
    "models": "llm llms model networks",
    "precisions": "dtype dtypes formats quantizations precision",
    "quantities": "metrics formulas symbols names outputs quantity",
    "assumptions": "switches choices options",
    "inputs": "parameters variables settings",
    "engines": "servers frameworks backends",
    "presets": "tools calculators",
    "measured": "measurements benchmarks data",
}
"""Other words for the kinds of entries of the catalogue."""
OPTIONS_OF_FILES = {"targets": "--target"}  # places of problems that are options of another name


def problem(
    error: click.ClickException, arguments: Sequence[str], commands: Iterable[str]
) -> Problem:
    """A usage error of click with its place: the command, and the option or argument."""
    command = next((word for word in arguments if word in set(commands)), "")
    place = f"symroof {command}".strip()
    help_ = f"`{place} --help`"
    if isinstance(error, click.NoSuchOption):
        hint = _option_hint(error, arguments) or f"{help_} lists the options"
        return Problem(place, f"no such option {error.option_name!r}", hint=hint)
    if isinstance(error, click.MissingParameter) and error.param and error.ctx:
        param = error.param
        kind = f"{param.param_type_name} {param.make_metavar(error.ctx)}"
        choices = getattr(param.type, "choices", ())
        listed = f"there are: {', '.join(map(str, choices))}" if choices else ""
        hint = listed or f"{help_} shows how it is called"
        return Problem(place, f"missing {kind}", hint=hint)
    if isinstance(error, click.BadParameter):
        return _bad_value(error, place)
    return Problem(place, _lower(error.format_message()), hint=help_)


def on_the_line(
    problem: Problem, arguments: Sequence[str], command: click.Command | None
) -> Problem:
    """A problem of the command line with the option as its place: ``--mfu``, ``--set: mem_bandwidth``, ``--target: itl``, ``--among: tp``."""
    from symroof.cli.options import COMMAND_LINE, OWN_OPTIONS

    if problem.file == "vllm line" and command and command.name == "server":
        return replace(problem, file="server line")  # of another engine, too
    options = {param.name: param.opts for param in command.params} if command else {}
    first, _, rest = problem.path.partition(".")
    if problem.file not in (COMMAND_LINE, "simulate"):
        flags = [flag for flag in options.get(problem.file, ()) if flag.startswith("-")]
        named = max(flags, key=len, default=problem.file)
        return replace(problem, file=OPTIONS_OF_FILES.get(problem.file, named))
    if first in options or first in OWN_OPTIONS:
        flags = options.get(first) or [OWN_OPTIONS[first]]
        typed = next((flag for flag in flags if flag in arguments), flags[0])
        return replace(problem, file=typed, path=rest)
    unknown = problem.message.startswith("unknown name")
    names = "`symroof list inputs` shows the names" if unknown else ""
    return replace(problem, file="--set", hint=problem.hint or names)


def _lower(message: str) -> str:
    """A message as it goes on after its place."""
    lower = message[:1].lower() + message[1:] if message[:2].istitle() else message
    return lower.removesuffix(".")


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
    param = error.param
    path = error.param_hint or (max(param.opts, key=len) if param else "")
    if isinstance(param, click.Argument) and not error.param_hint:
        path = param.human_readable_name
    path = path if isinstance(path, str) else ", ".join(path)
    if path.startswith("--"):
        place, path = path, ""
    if not (param and isinstance(param.type, click.Choice)) or "'" not in error.message:
        return Problem(place, _lower(error.message), path=path)
    word = error.message.split("'")[1]
    others = error.ctx.command.params if error.ctx else []
    if word == "json" and any("--json" in option.opts for option in others):
        hint = "did you mean '--json'?"
    else:
        hint = near_choice(word, [str(choice) for choice in param.type.choices])
    return Problem(place, f"no such value {word[:60]!r}", path=path, hint=hint)


def near_choice(word: str, choices: Sequence[str]) -> str:
    """The choice that a word is another word for, or is near to; all of them where none is."""
    near = [choice for choice in choices if word.lower() in OTHER_WORDS.get(choice, "").split()]
    near = near or difflib.get_close_matches(word.lower(), choices, n=1, cutoff=NEAR)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(choices)}"


def no_such_command(word: str, commands: Sequence[str]) -> Problem:
    """The problem of a word that is no command: which was meant, or what to do with a name or a file."""
    hint = _command_hint(word, commands) or "`symroof --help` lists the commands"
    return Problem("symroof", f"no such command {word[:60]!r}", hint=hint)


def _command_hint(word: str, commands: Sequence[str]) -> str:
    if os.path.isfile(word) and word.endswith(".md"):
        return f"`symroof check {word}` checks its numbers"
    if os.path.isfile(word):
        return f"`symroof eval {word}` or `symroof report {word}`"
    begun = [each for each in commands if each.startswith(word) or word.startswith(each)]
    if near := (begun if len(word) > 1 else []) or difflib.get_close_matches(
        word, commands, n=1, cutoff=NEAR
    ):
        return f"did you mean `symroof {near[0]}`?"
    from symroof.specs.catalogue import entries
    from symroof.theory.quantities import QUANTITIES
    from symroof.theory.symbols import INPUTS
    from symroof.theory.thresholds import THRESHOLDS

    catalogue = [name for kind in ("models", "hardware") for name in entries(kind)]
    of_command = {**dict.fromkeys(catalogue, "show"), **dict.fromkeys(THRESHOLDS, "solve")}
    of_command |= dict.fromkeys([*QUANTITIES, *INPUTS], "derive")
    near = difflib.get_close_matches(word, of_command, n=1, cutoff=0.8)
    return f"did you mean `symroof {of_command[near[0]]} {near[0]}`?" if near else ""
