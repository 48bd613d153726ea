"""Mistakes on the command line as problems like those in files: place, message, hint."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import click

from symroof.cli.options import COMMAND_LINE, OPTIONS, OWN_OPTIONS
from symroof.errors import Problem, meant_by, nearest

NEAR, VERY_NEAR = 0.6, 0.8
"""How alike two names are for one to be suggested: a command of few, an option of many."""


def problem(
    error: click.ClickException, arguments: Sequence[str], commands: Iterable[str]
) -> Problem:
    """A usage error of click with its place: the command, and the option or argument."""
    command = next((word for word in arguments if word in set(commands)), "")
    place = f"symroof {command}".strip()
    help_ = f"`{place} --help`"
    if isinstance(error, click.NoSuchOption):
        hint = _option_hint(error) or f"{help_} lists the options"
        return Problem(place, f"no such option {error.option_name!r}", hint=hint)
    if isinstance(error, click.MissingParameter) and error.param and error.ctx:
        param = error.param
        kind = f"{param.param_type_name} {param.make_metavar(error.ctx)}"
        choices = getattr(param.type, "choices", ())
        listed = f"there are: {', '.join(map(str, choices))}" if choices else ""
        said = (" ".join(part.split()) for part in (error.ctx.command.help or "").split("\n\n"))
        examples = [f"such as: {each}" for each in said if each.startswith("symroof ")]
        hint = listed or next(iter(examples), f"{help_} shows how it is called")
        return Problem(place, f"missing {kind}", hint=hint)
    if isinstance(error, click.BadParameter):
        return _bad_value(error, place)
    message = _lower(error.format_message())
    if "unexpected extra argument" in message:
        help_ = "a case has options, lists have commas: --model llama-3.1-8b --hardware h100,h200"
        if command in ("vllm", "server"):
            help_ = f"quote the line: symroof {command} {shlex.join(arguments[1:])!r}"
    return Problem(place, message, hint=help_)


def on_the_line(
    problem: Problem, arguments: Sequence[str], command: click.Command | None
) -> Problem:
    """A problem of the command line with the option as its place: ``--mfu``, ``--set: mem_bandwidth``, ``--target: itl``, ``--among: tp``."""
    if problem.message.startswith("no such threshold"):
        return problem
    if problem.file == "vllm line" and command and command.name == "server":
        return replace(problem, file="server line")  # of another engine, too
    options = {param.name: param.opts for param in command.params} if command else {}
    first, _, rest = problem.path.partition(".")
    if problem.file not in (COMMAND_LINE, "simulate"):
        option = problem.file if problem.file != "targets" else "target"
        flags = [flag for flag in options.get(option, ()) if flag.startswith("-")]
        return replace(problem, file=max(flags, key=len, default=problem.file))
    unknown = problem.message.startswith("unknown name")
    if first in options or first in OWN_OPTIONS:
        flags = options.get(first) or [OWN_OPTIONS[first]]
        typed = next((flag for flag in flags if flag in arguments), flags[0])
        number = "write a number" if unknown else ""
        return replace(problem, file=typed, path=rest, hint=problem.hint or number)
    names = "`symroof list inputs` shows the names" if unknown else ""
    words = (word.partition("=")[0] for word in arguments if word.startswith("--"))
    typed = next((flag for flag in words if _meant(flag, options) == [first]), "")
    path = rest if typed else problem.path
    return replace(problem, file=typed or "--set", path=path, hint=problem.hint or names)


def _lower(message: str) -> str:
    """A message as it goes on after its place."""
    lower = message[:1].lower() + message[1:] if message[:2].istitle() else message
    return lower.removesuffix(".")


def in_our_words(args: Sequence[str], command: click.Command) -> list[str]:
    """The arguments with options of other tools as ours, ``--gpu`` as ``--hardware``, ``--qps 5`` as ``--set arrival_rate=5/s``, where only one can be meant.

    Raises:
        click.UsageError: an option of one value is given twice.
    """
    own = {p.name: max(p.opts, key=len) for p in command.params if isinstance(p, click.Option)}
    known = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)} | {"--help"}
    once = {flag for p in command.params if not getattr(p, "multiple", True) for flag in p.opts}
    made, left, seen = list[str](), list(args), set[str]()
    while left:
        word = left.pop(0)
        flag, given, value = word.partition("=")
        if flag in seen & once:
            raise click.UsageError(f"{flag} is given twice: it takes one value")
        seen.add(flag)
        meant = _meant(flag, own) if flag.startswith("-") and flag not in known else []
        follows = bool(given) or (bool(left) and not re.match(r"-(?![\d.])", left[0]))
        if len(meant) == 1 and follows and not given:
            value = left.pop(0)
        if len(meant) != 1 or not follows:
            made.append(word)
        elif meant[0] in own:
            made += [own[meant[0]], value]
        else:
            bare = re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", value)
            rate = "/s" * (meant[0] == "arrival_rate" and bool(bare))
            made += ["--set", f"{meant[0]}={value}{rate}"]
    return made


def _meant(flag: str, own: Collection[str]) -> list[str]:
    """The options, or else the inputs, that people mean by an option of another tool."""
    from symroof.theory.symbols import INPUTS

    name = flag.lstrip("-").replace("-", "_")
    settable = INPUTS if "settings" in own else {}
    known = name in settable or (name in own and len(name) > 1)
    meant = [name] if known else meant_by(name)
    return [each for each in meant if each in own or each in settable]


def _option_hint(error: click.NoSuchOption) -> str:
    """The option that was meant: in other words, or spelled alike."""
    from symroof.theory.symbols import TARGET_SYMBOLS
    from symroof.vllm.engines import NOT_MODELLED, VLLM

    params = error.ctx.command.params if error.ctx else []
    own = {p.name or "": max(p.opts, key=len) for p in params if isinstance(p, click.Option)}
    flag = error.option_name.lstrip("-").replace("_", "-").partition("=")[0]
    if error.ctx and error.ctx.command.name == "check" and flag in OPTIONS:
        return f"a comment in the file sets it: <!-- symroof: given {flag}=… -->"
    line = f"`symroof vllm 'vllm serve … --{flag} …'` reads it" if flag in VLLM.flags else ""
    if meant := _meant(error.option_name.partition("=")[0], own):
        shown = (repr(own.get(each, f"--set {each}=…")) for each in meant)
        asked = f"did you mean {' or '.join(shown)}?"
        return f"{asked} Or {line}" if line else asked
    if line:
        return f"{VLLM.flags[flag].says}: {line}"
    if effect := NOT_MODELLED.get(flag):
        return f"not modelled: {effect}"
    known = [name for option in params for name in option.opts]
    word = error.option_name.lstrip("-")
    if word == "among" and "hardware" in own:
        return "list what to compare with commas: --hardware h100,h200 --tp 2,4"
    targets = [each for each in (word, *meant_by(word)) if each in TARGET_SYMBOLS]
    if targets and "target" in own:
        return f"write --target {targets[0]}=…"
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
    hint = nearest(word.lower(), map(str, param.type.choices))
    return Problem(place, f"no such value {word[:60]!r}", path=path, hint=hint)


def no_such_command(word: str, commands: Sequence[str]) -> Problem:
    """The problem of a word that is no command, with the one that was meant."""
    from symroof.theory.quantities import QUANTITIES

    near = [each for each in meant_by(word) if each in commands]
    near = near or difflib.get_close_matches(word, commands, n=1, cutoff=NEAR)
    hint = f"did you mean `symroof {near[0]}`?" if near else ""
    if word in QUANTITIES:
        hint = f"did you mean `symroof derive {word}`?"
    hint = hint or "`symroof --help` lists the commands"
    return Problem("symroof", f"no such command {word[:60]!r}", hint=hint)
