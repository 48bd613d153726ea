"""``symroof validate``, ``schema`` and ``init``: spec files checked, described, begun."""

from pathlib import Path

import click

from symroof.cli.options import family_option, options_of
from symroof.cli.terminal import say, say_json
from symroof.errors import InputError, Problem
from symroof.specs.spec_files import FILE_KINDS

KIND = click.Choice(list(FILE_KINDS))


@click.command("schema")
@click.argument("kind", type=KIND, metavar="KIND")
def schema(kind: str) -> None:
    """The JSON Schema of a kind of file, for editors that complete and check YAML.

    symroof schema study > study.schema.json

    KIND is study, model, hardware, preset, theory, engine, claims, measured or efficiencies.
    """
    from symroof.specs.spec_files import schema as schema_of

    say_json(schema_of(kind), indent=2)


@click.command("init")
@click.argument("kind", type=KIND, metavar="KIND")
@options_of("init")
def init(kind: str, out: str) -> None:
    """A starter file to fill in, with a comment at each key.

    symroof init study -o chat.yaml

    KIND is study, model, hardware, preset, theory, engine, claims, measured or efficiencies.
    """
    from symroof.output_files import write_new
    from symroof.resources import data_folder

    text = data_folder("templates").joinpath("starters", f"{kind}.yaml").read_text(encoding="utf-8")
    if out == "-":
        say(text, nl=False)
        return
    try:
        write_new(out, text)
    except FileExistsError:
        hint = "choose another name; init never overwrites"
        raise InputError(Problem(out, "exists already", hint=hint)) from None
    say(f"wrote {out}", err=True)


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options_of("validate")
@family_option
def command(
    files: tuple[str, ...], kind: str | None, assume_family: str | None, as_json: bool
) -> None:
    """Check spec files, config.json and GGUF files: every problem, with its place and a hint.

    symroof validate chat.yaml my-gpu.yaml
    """
    problems: list[Problem] = []
    valid = []
    for file in files:
        try:
            valid.append({"file": file, "kind": _validated(file, kind, assume_family)})
        except InputError as error:
            problems += error.problems
    if as_json:
        found = [problem.as_json() for problem in problems]
        say_json({"schema": "symroof/validate/1", "valid": valid, "problems": found})
    for entry in () if as_json else valid:
        say(f"{entry['file']}: a valid {entry['kind']} file")
    if problems:
        raise InputError(problems)


def _validated(file: str, kind: str | None, assume_family: str | None) -> str:
    """The kind of a valid file; a Markdown note counts as claims.

    Raises:
        InputError: every problem of the file.
    """
    from symroof.analysis.study import Study
    from symroof.specs.fields import build
    from symroof.specs.spec_files import file_kind, holds_config, read_spec, spec_class
    from symroof.strict_yaml import loads, read_text

    if Path(file).is_dir() and not (Path(file) / "config.json").exists():
        hint = f"give its files: {file.rstrip('/')}/*.yaml"
        raise InputError(Problem(file, "is a directory without a config.json", hint=hint))
    if kind in (None, "model") and holds_config(Path(file)):
        read_spec("models", str(Path(file).absolute()), None, assume_family)
        return "model"
    text = read_text(file)
    note = file.lower().endswith((".md", ".markdown"))
    document = None if note else loads(text, file)
    kind = kind or (file_kind(document) if document else "claims")
    if kind == "claims":
        from symroof.claims.check import check

        check(file)
    elif kind == "study":
        tuple(Study.load(file).cases)  # names of models and devices are looked up
    else:
        build(document or loads(text, file), spec_class(kind))
    return kind
