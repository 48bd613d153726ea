"""The one place that prints: text of strangers cannot steer a terminal, whatever command shows it."""

import json
import re
from typing import Any

import click

from symroof.errors import visible

UNSAFE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters JSON may hold as they are, and a terminal or an encoder should not get: DEL and C1, bidirectional and format characters, lone surrogates."""


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text with control and bidirectional characters written out."""
    click.echo(visible(str(text), line_breaks=True), err=err, nl=nl)


def say_json(value: object, *, err: bool = False, **options: Any) -> None:
    """Print an object as JSON, every character that could steer a terminal escaped."""
    click.echo(json_text(value, **options), err=err)


def json_text(value: object, **options: Any) -> str:
    """JSON in which DEL, C1, format characters and lone surrogates are escaped as well as C0.

    >>> json_text({"a": "µ\\x9b2J"})
    '{"a": "µ\\\\u009b2J"}'
    """
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False, **options))
