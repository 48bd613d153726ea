"""From a name on the hub to the model it is here: a folder on this machine, or an entry of the catalogue."""

from __future__ import annotations

import os
import re
from typing import Any

from symroof.specs import catalogue
from symroof.specs.errors import nearest

TUNED = r"instruct|it|chat|hf|base|pt|thinking|dynamo|\d{4}|v\d+(?:\.\d+)*"
STORED = r"fp8|awq|gptq|int4|int8|w4a16|w8a8|w8a16|fp8-dynamic|quantized|bnb|4bit|8bit|nvfp4|mxfp4|gguf"
SUFFIX = re.compile(rf"-(?P<stored>{STORED})$|-(?:{TUNED})$")

INSIDE = re.compile(r"-(?:instruct|it|chat)(?=-)")


class NotFound(ValueError):
    """No model by that name; the text ends with a hint."""


def model_here(name: str) -> tuple[str, str]:
    """What ``--model`` of symroof takes for a name on the hub, and a word on how it was found.

    >>> model_here("meta-llama/Llama-3.1-8B-Instruct")
    ('llama-3.1-8b', "the catalogue's llama-3.1-8b")

    Raises:
        NotFound: neither a path nor a model of the catalogue.
    """
    if os.path.exists(name):
        return (name if catalogue.is_path(name) else os.path.join(".", name)), "read from this path"
    for entry in catalogue.entries("models").values():
        data: Any = entry.document.data
        if str((data.get("source") or {}).get("address", "")).lower().rstrip("/") == f"https://huggingface.co/{name.lower()}":
            return entry.name, f"the catalogue's {entry.name}"
    wanted, stored = name.rpartition("/")[2].lower().replace("_", "-"), ""
    while True:
        for spelled in (wanted, wanted.removeprefix("meta-"), INSIDE.sub("", wanted)):
            if catalogue.holds("models", spelled):
                word = f"; its name says {stored}: give --quantization or --weights if that is how it is stored" if stored else ""
                return spelled, f"the catalogue's {spelled}{word}"
        match = SUFFIX.search(wanted)
        if match is None:
            break
        wanted, stored = wanted[: match.start()], stored or match["stored"] or ""
    known = [alias for entry in catalogue.entries("models").values() for alias in (entry.name, *entry.aliases)]
    hint = nearest(wanted, known)
    raise NotFound(f"{name[:80]!r} is neither in the catalogue nor a path here; {f'{hint} Or ' if hint else ''}give its config.json: --model PATH")
