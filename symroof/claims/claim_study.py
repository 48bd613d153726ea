"""The case of a claim: what its text says, as a study; and the same with something changed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.analysis.study import Study
from symroof.claims.claim_cases import PLAIN
from symroof.errors import InputError, Problem
from symroof.formula.text import number_text
from symroof.specs.catalogue import is_path
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.specs.strict_yaml import Document

NESTED = ("assume", "targets")


def study_of(given: Mapping[str, Any]) -> Study:
    """The study a claim's ``given`` describes: names, precisions, symbols, switches, targets.

    >>> study_of({"model": "llama-3-70b", "prompt": 4096}).value("kv_cache_bytes")
    1.342 GB

    Raises:
        InputError: an unknown name, a value that cannot be read.
    """
    for name in NESTED:
        if not isinstance(given.get(name, {}), Mapping):
            raise InputError(Problem(name, "expected keys and values"))
    from_file = any(is_path(str(given.get(name, ""))) for name in PLAIN)
    return _built(given) if from_file else _kept(Key(given))


class Key:
    """A ``given`` by what it says, as the key of its study."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.text = repr(given)  # tells True from 1 and '1' from 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=512)
def _kept(key: Key) -> Study:
    """The same case is asked for by every slip that is looked for in a claim: its values are worked out once."""
    return _built(key.given)


LAYERED = ("layers", "d_model", "vocab_size", "tied_embeddings", "norm", "positions", "head_bias")
"""Fields of a model that a claim may give in full instead of a name."""


def _with_model(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A ``given`` whose own layers are a model."""
    if "layers" not in given:
        return given
    fields = {name: given[name] for name in LAYERED if name in given}
    spec = build(Document("given", {"name": "given", "title": "the given layers", **fields}, {}, (), ""), ModelSpec)
    return {**{name: value for name, value in given.items() if name not in LAYERED}, "model": spec}


def _built(given: Mapping[str, Any]) -> Study:
    given = _with_model(given)
    chosen = {name: value for name, value in given.items() if name not in (*PLAIN, *NESTED)}
    plain = {name: given[name] for name in PLAIN if name in given}
    assume = {str(name): _switch(value) for name, value in given.get("assume", {}).items()}
    return Study(**plain, assume=assume, targets=dict(given.get("targets", {})), **chosen)


def _switch(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def changed(given: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A ``given`` with changes laid over it; switches and targets one by one."""
    merged = {**given, **changes}
    for name in NESTED:
        if name in given and name in changes:
            merged[name] = {**given[name], **changes[name]}
    return merged


def told(changes: Mapping[str, Any]) -> str:
    """Changes in words: ``mfu 0.5, detail weights``."""
    words = []
    for name, value in changes.items():
        inner = value.items() if isinstance(value, Mapping) else ((name, value),)
        words += [f"{key} {_value(item)}" for key, item in inner]
    return ", ".join(words)


def _value(value: Any) -> str:
    return number_text(value) if isinstance(value, Fraction) else _switch(value)
