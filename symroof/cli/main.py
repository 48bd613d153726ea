"""The command group; the only place that turns errors into exit codes."""

import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

from symroof.cli.terminal import BAD_INPUT, columns, print_problems, report_bug, say
from symroof.resources import __version__

GROUPS = {
    "Decide": {
        "select": "What to buy: the cheapest configuration that meets your targets.",
        "report": "Write a design review with a recommendation, as HTML, Markdown or PDF.",
        "vllm": "Explain a vllm serve command line and recommend a better one.",
        "server": "The same for SGLang, TensorRT-LLM, llama.cpp and docker commands.",
        "simulate": "Simulate a server step by step: mean and percentile latencies.",
    },
    "Understand": {
        "eval": "Predict latency, throughput, cost and memory, and what limits them.",
        "derive": "Show the formula of a quantity, step by step with numbers.",
        "solve": "Find a threshold, or solve an equation, in closed form.",
        "diff": "Explain why two cases, two tools or a measurement differ.",
        "plot": "Draw one picture: roofline, latency-throughput, memory ...",
    },
    "Verify": {
        "check": "Check the numbers in a note, a post, a notebook or a claims file.",
        "calibrate": "Fit efficiencies to your own measurements.",
    },
    "Data": {
        "sweep": "Compute quantities over a grid of inputs, into a table or a file.",
        "list": "List the models, GPUs, quantities, thresholds ... that have a name.",
        "show": "Show one of them with values, units and sources.",
        "init": "Write a starter file to fill in.",
        "validate": "Check spec files.",
        "schema": "Print the JSON Schema of a kind of file.",
    },
}
"""Every command with its one-line help, so that --help loads none of them."""
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
BESIDE = {"server": "vllm", "schema": "validate", "init": "validate", "show": "list"}
"""Commands in the module of another."""

OK, INTERRUPTED = 0, 130
WIDEST_HELP = 110
"""Columns beyond which a help text is hard to read."""


def load(name: str) -> click.Command:
    """A command, imported when it is called."""
    module = importlib.import_module(f"symroof.cli.{BESIDE.get(name, name)}_command")
    made: click.Command = getattr(module, name if name in BESIDE else "command")
    return Command(
        made.name, made.context_settings, made.callback, made.params, made.help, made.epilog
    )


class Command(click.Command):
    """A command that understands options of other tools, and whose help has its options in groups: its own, those of the case, and the rarer ones."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from symroof.cli.usage_errors import in_our_words

        return super().parse_args(ctx, in_our_words(args, self))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                groups.setdefault(getattr(param, "group", "This command"), []).append(record)
        for title in sorted(groups, key=("This command", "The case", "Advanced").index):
            with formatter.section(title):
                formatter.write_dl(groups[title])


class Lazy(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from symroof.cli.usage_errors import no_such_command
            from symroof.errors import InputError

            raise InputError(no_such_command(args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, which people look for, before the options."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=12)
        click.Command.format_options(self, ctx, formatter)


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symroof")
@click.option("--debug", is_flag=True, help="Show the traceback of a bug in symroof.")
def group(debug: bool) -> None:
    """How fast will this LLM run on this GPU, what limits it, and what should you buy?

    symroof eval --model llama-3.1-8b --hardware h100 --prompt 2048 --output 256

    `symroof COMMAND --help` has the options and an example. Tutorials: docs/index.md.
    """


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from symroof.errors import InputError

    as_json = "--json" in arguments
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    try:
        result = group.main(
            args=list(arguments),
            prog_name="symroof",
            standalone_mode=False,
            obj=list(arguments),
            terminal_width=min(columns(), WIDEST_HELP),
        )
        return result if isinstance(result, int) else OK
    except click.exceptions.Exit as done:
        return done.exit_code
    except (InputError, click.ClickException) as error:
        _show(error, arguments, as_json)
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        say("interrupted", err=True)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # of click, when the reader of its output is gone
        # the reader closed our output (``symroof ... | head``): discard later writes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror or error}", err=True)
        return BAD_INPUT
    except Exception as error:
        return report_bug(error, debug="--debug" in arguments)


def _show(error: Exception, arguments: Sequence[str], as_json: bool) -> None:
    """Print the problems of an input, or of how the command was called; without a command, the help."""
    from symroof.cli.usage_errors import on_the_line, problem
    from symroof.errors import InputError

    if isinstance(error, InputError):
        name = next((word for word in arguments if word in COMMANDS), "")
        command = load(name) if name and not as_json else None
        placed = [on_the_line(each, arguments, command) for each in error.problems]
        print_problems(error.problems if as_json else placed, as_json)
    elif isinstance(error, click.exceptions.NoArgsIsHelpError):
        shown = io.StringIO()
        error.show(file=shown)
        say(shown.getvalue(), err=True, nl=False)
    elif isinstance(error, click.ClickException):
        print_problems([problem(error, arguments, COMMANDS)], as_json)
