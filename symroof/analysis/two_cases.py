"""Compare two cases: studies, or what another tool counts for a study."""

import os
from copy import copy
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.waterfall import Waterfall, waterfall
from symroof.cases.request import Request
from symroof.errors import InputError, Problem, nearest
from symroof.specs.catalogue import SINGULAR, entries, has_entry, is_path

SYMROOF = "symroof"
"""The side that counts as symroof does by default, where the other is a preset."""

Side = Study | str | os.PathLike[str]


def diff(a: Side, b: Side, quantity: Any = "itl", study: Study | None = None) -> Waterfall:
    """Explain why two cases, or two tools, give different numbers, as the effect of one difference after another.

    Definitions come first, then counting choices, then inputs. The effects add up to the difference exactly. From a preset to a case
    without one, the steps are reversed. A study of several cases is represented by its first case.

    Args:
        a: a :class:`Study`, the file or name of one, a preset (``"genz"``), or ``"symroof"`` for the default counting.
        b: the same.
        quantity: any quantity or input, by name or symbol.
        study: the case that presets count; by default the other side.

    Returns:
        The steps from one value to the other: ``.steps`` (``.label``, ``.effect`` in the base unit, ``.factor``), ``.start``, ``.end``,
        ``.without_effect``, ``.as_json()``; a table in a notebook. ``study.plot("waterfall", against=...)`` draws it.

    Raises:
        InputError: an unknown study, preset or quantity, a side without a value.

    >>> case = Study("llama-3-8b", "h100-sxm", prompt=2048)
    >>> way = diff(case, Study("llama-3-8b", "h100-sxm", prompt=4096, batch=8), "kv_cache_bytes")
    >>> [(step.label, int(step.factor)) for step in way.steps], int(way.factor)
    ([('prompt: 2,048 tokens -> 4,096 tokens', 2), ('batch: 1 request -> 8 requests', 8)], 16)
    >>> [step.label for step in diff(case, "scaling-book", "kv_cache_bytes").steps]
    []
    """
    first, second = alike(resolve_side(a, study or b), resolve_side(b, study or a))
    return waterfall(first.first, second.first, quantity)


def resolve_side(side: Side, counted: Side) -> Study:
    """The study that a side is; a preset counts another study.

    Raises:
        InputError: neither a study nor a preset; a preset with nothing to count.
    """
    if isinstance(side, Study):
        return side
    text = os.fspath(side)
    if not is_preset(text):
        require_study(text)
        return Study.load(text)
    if not isinstance(counted, Study) and is_preset(os.fspath(counted)):
        hint = "give study=, or a study as the other side"
        raise InputError(Problem(text, "a preset counts a study, and there is none", hint=hint))
    study = copy(resolve_side(counted, counted))
    if text != SYMROOF:
        study.select(Request(preset=text))
    return study


def alike(one: Study, other: Study) -> tuple[Study, Study]:
    """Two sides on one basis: a preset counts at 100 % of peak, and so does a case beside it that states no efficiencies."""
    if bool(one.request.preset) == bool(other.request.preset):
        return one, other
    both = copy(one), copy(other)
    for study in both:
        if not (study.request.states_efficiencies or study.request.efficiency):
            study.select(Request(efficiency="peak"))
    return both


def require_study(text: str) -> None:
    """Whether a path or a name is of a study.

    Raises:
        InputError: it is not; the nearest name is in the hint.
    """
    if not os.path.isfile(text) and not is_path(text) and not has_entry("studies", text):
        near = nearest(text, [*entries("studies"), *entries("presets"), SYMROOF])
        case = {"models": "llama-3-8b", "hardware": "h100-sxm"}
        named = [kind for kind in case if has_entry(kind, text)]
        case |= dict.fromkeys(named, text)
        options = " ".join(f"--{SINGULAR[kind]} {name}" for kind, name in case.items())
        quoted = f"write a case in quotes: '{options} --prompt 2048'"
        message = "is not a study, a preset or a case in quotes"
        hint = near if near.startswith("did") and not named else quoted
        raise InputError(Problem(text[:80], message, hint=hint))


def is_preset(text: str) -> bool:
    """Whether a side is a preset; a file of that name is a study."""
    return text == SYMROOF or (not os.path.isfile(text) and has_entry("presets", text))
