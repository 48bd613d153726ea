"""``symroof validate``: check spec files, all problems at once."""

import click

from symroof.cli.options import family_option, json_option
from symroof.cli.output import say, say_json
from symroof.specs.file_kinds import FILE_KINDS


@click.command("validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--kind",
    type=click.Choice(list(FILE_KINDS)),
    help="Read the files as this kind instead of detecting it from their keys.",
)
@family_option
@json_option
def command(
    files: tuple[str, ...], kind: str | None, assume_family: str | None, as_json: bool
) -> None:
    """Check spec files, config.json and GGUF files: every problem, with its place and a hint.

    symroof validate chat.yaml my-gpu.yaml
    """
    from symroof.errors import InputError, Problem

    problems: list[Problem] = []
    valid = []
    for file in files:
        try:
            valid.append({"file": file, "kind": _validated(file, kind, assume_family)})
        except InputError as error:
            problems += error.problems
    if as_json:
        say_json(
            {
                "schema": "symroof/validate/1",
                "valid": valid,
                "problems": [p.as_json() for p in problems],
            }
        )
    for entry in () if as_json else valid:
        say(f"{entry['file']}: a valid {entry['kind']} file")
    if problems:
        raise InputError(problems)


def _validated(file: str, kind: str | None, assume_family: str | None) -> str:
    """The kind of a valid file; a Markdown note counts as claims.

    Raises:
        InputError: every problem of the file.
    """
    from pathlib import Path

    from symroof.errors import InputError, Problem
    from symroof.specs.fields import build
    from symroof.specs.file_kinds import file_kind, spec_class
    from symroof.specs.model_files import holds_config, read_model
    from symroof.specs.study_files import read_study
    from symroof.strict_yaml import loads, read_text

    if Path(file).is_dir() and not (Path(file) / "config.json").exists():
        raise InputError(
            Problem(
                file,
                "is a directory without a config.json",
                hint=f"give its files: {file.rstrip('/')}/*.yaml",
            )
        )
    if kind in (None, "model") and holds_config(Path(file)):
        read_model(str(Path(file).absolute()), None, assume_family)
        return "model"
    text = read_text(file)
    note = file.lower().endswith((".md", ".markdown"))
    document = None if note else loads(text, file)
    kind = kind or (file_kind(document) if document else "claims")
    if kind == "claims":
        from symroof.claims.read.claim_files import read_claims

        read_claims(text, file)
    else:
        document = document or loads(text, file)
        read_study(document) if kind == "study" else build(document, spec_class(kind))
    return kind
