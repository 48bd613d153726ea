"""The model of a ``vllm serve`` line: a folder on this machine, or an entry of the catalogue by its name on the hub."""

import os

from symroof.specs import catalogue


class NotFound(ValueError):
    """No model by that name; the text ends with a hint."""


def model_here(name: str, precision_chosen: bool = False) -> tuple[str, str]:
    """What ``--model`` of symroof takes for the model of a line, and where that comes from.

    >>> model_here("meta-llama/Llama-3.1-8B-Instruct")
    ('llama-3.1-8b', "the catalogue's llama-3.1-8b")

    Raises:
        NotFound: neither a path nor a model of the catalogue.
    """
    if os.path.exists(name):
        return (name if catalogue.is_path(name) else os.path.join(".", name)), "read from this path"
    if catalogue.has_entry("models", name):
        return name.lower(), f"the catalogue's {name.lower()}"
    match = catalogue.model_by_hub_name(name)
    if match is None:
        raise NotFound(f"{name[:80]!r} is neither in the catalogue nor a path here; {catalogue.hint_for_hub_name(name)}")
    remark = match.remark(precision_chosen)
    return match.name, f"the catalogue's {match.name}{f'; {remark}' if remark else ''}"
