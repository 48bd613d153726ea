"""The command group; the only place that turns errors into exit codes."""

import importlib
import io
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from symroof.cli.output import BAD_INPUT, print_problems, report_bug, say
from symroof.cli.terminal import colour_option, columns
from symroof.version import __version__

if TYPE_CHECKING:
    from symroof.errors import Problem

COMMANDS = {
    "report": "Write the design review of a study.",
    "eval": "What to expect of a case, what limits it, and whether it fits.",
    "select": "Rank configurations against targets; say what those that fail need.",
    "vllm": "Explain a vllm serve command line, and recommend one.",
    "server": "The same for SGLang, TensorRT-LLM, llama.cpp and containers.",
    "simulate": "Serve requests step by step: percentiles of latencies.",
    "derive": "Derive a quantity: formula, steps with numbers, elasticities.",
    "solve": "Solve an equation or a named threshold in closed form.",
    "diff": "Why two cases, two tools or a measurement give other numbers.",
    "plot": "One picture: roofline, latency-throughput, pareto, tornado ...",
    "check": "Check hand calculations in claim files and Markdown notes.",
    "sweep": "Compute quantities over a grid of inputs.",
    "calibrate": "Fit MFU, MBU and overheads to measured latencies.",
    "list": "The catalogue: models, hardware, quantities, thresholds ...",
    "show": "One entry with values, units and sources.",
    "validate": "Check spec files.",
    "schema": "The JSON Schema of a kind of file.",
    "init": "A starter file to fill in.",
}
"""Every command with its one-line help, so that --help loads none of them."""

OK, INTERRUPTED = 0, 130
WIDEST_HELP = 110
"""Columns beyond which a help text is hard to read."""


class Lazy(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"symroof.cli.{cmd_name}_command").command
        if not any(option.name == "color" for option in command.params):
            command.params.append(colour_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if (
            args
            and args[0] not in COMMANDS
            and not args[0].startswith("-")
            and not ctx.resilient_parsing
        ):
            from symroof.cli.usage_errors import no_such_command
            from symroof.errors import InputError

            raise InputError(no_such_command(args[0], list(COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, which people look for, before the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symroof")
@click.option("--debug", is_flag=True, help="Show the traceback of a bug in symroof.")
def group(debug: bool) -> None:
    """Why is my LLM this fast, and what would make it faster?"""


group.params.append(colour_option())


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from symroof.errors import InputError

    as_json = "--json" in arguments
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
    except click.ClickException as error:
        _show(error, arguments, as_json)
        return BAD_INPUT
    except InputError as error:
        print_problems(error.problems if as_json else _placed(error.problems, arguments), as_json)
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        say("interrupted", err=True)
        return INTERRUPTED
    except (
        BrokenPipeError,
        SystemExit,
    ):  # click exits this way when the reader of its output is gone
        return _closed_pipe()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror or error}", err=True)
        return BAD_INPUT
    except Exception as error:
        return report_bug(error, debug="--debug" in arguments)


def _placed(problems: Iterable["Problem"], arguments: Sequence[str]) -> list["Problem"]:
    """Problems of the command line with the option that each is of."""
    from symroof.cli.usage_errors import on_the_line

    name = next((word for word in arguments if word in COMMANDS), "")
    command = group.get_command(click.Context(group), name)
    return [on_the_line(problem, arguments, command) for problem in problems]


def _show(error: click.ClickException, arguments: Sequence[str], as_json: bool) -> None:
    """Print a usage error as any other problem; without a command, the help."""
    from symroof.cli.usage_errors import problem

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        shown = io.StringIO()
        error.show(file=shown)
        say(shown.getvalue(), err=True, nl=False)
    else:
        print_problems([problem(error, arguments, COMMANDS)], as_json)


def _closed_pipe() -> int:
    """The reader closed our output (``symroof ... | head``): discard later writes."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK
