"""The servers whose command lines are read, from ``specs/servers/flags.yaml``: how a line begins, what its flags are called, and which of vLLM's each one is.

A flag means what its engine means by it; :mod:`symroof.vllm.served_flags` has what that is in symroof's inputs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from symroof.resources import data_folder
from symroof.strict_yaml import load


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes:
        name: that of vLLM, where vLLM has it.
        kind: the type of its value: ``count``, ``share``, ``choice``, ``switch``, ``text`` or ``json``.
        says: its meaning.
        spelled: how the engine spells it, without dashes, the one of a recommended line first.
        choices: allowed values, each with its name in symroof; empty if it sets nothing.
        input: the input that its value is of, where it is of one; ``so``: what follows from that.
        default: what vLLM sets where a line does not.
        on, off: what a switch sets.
    """

    name: str
    kind: str
    says: str
    spelled: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    input: str = ""
    so: str = ""
    default: Any = None
    on: str = ""
    off: str = ""


@dataclass(frozen=True)
class Engine:
    """A server.

    Attributes:
        name: its profile.
        starts: how its line begins, each a regular expression over the first words.
        image: its container image, a regular expression over the name without its organisation.
        program: the words of a recommended line.
        flags: its flags by the name here.
        abbreviates: whether it takes a beginning of a flag that is no other's.
        model_flag: the flag of the model in a recommended line; empty where the model comes first.
        underscores: whether recommended lines have them in flags.
    """

    name: str
    title: str
    source: str
    starts: tuple[str, ...]
    image: str
    program: tuple[str, ...]
    flags: Mapping[str, Flag]
    abbreviates: bool = False
    model_flag: str = ""
    underscores: bool = False

    @cached_property
    def spellings(self) -> dict[str, str]:
        """Its names of flags, without dashes, each with the name here."""
        return {word: flag.name for flag in self.flags.values() for word in flag.spelled}

    def flag(self, name: str) -> Flag:
        """A flag of its own, or else vLLM's."""
        return self.flags.get(name) or VLLM.flags[name]

    def spelled(self, name: str) -> str:
        """A flag as the engine's own lines spell it, with dashes; empty where it has none."""
        if name not in self.flags:
            return ""
        word = self.flags[name].spelled[0]
        return f"--{word.replace('-', '_') if self.underscores else word}"


TABLE: Any = load(data_folder("specs") / "servers" / "flags.yaml").data


def _engine(entry: dict[str, Any]) -> Engine:
    """An engine of the table; a flag has the fields of vLLM's where its own entry leaves them out."""
    own: dict[str, Any] = {}
    for name, said in entry["flags"].items():
        plain = {"as": [name], **said}
        spelled = {"name": name, "spelled": tuple(plain.pop("as"))}
        usual = TABLE["engines"][0]["flags"].get(name, {})
        given = {key: value for key, value in (usual | plain).items() if key != "as"}
        own[name] = Flag(**given, **spelled)
    lists = {key: tuple(entry[key]) for key in ("starts", "program")}
    return Engine(**entry | lists | {"flags": own})


ENGINES = tuple(map(_engine, TABLE["engines"]))
VLLM, SGLANG, TRTLLM, LLAMA = ENGINES
CONTEXT_DEGREES: list[str] = TABLE["context_parallel"]["flags"]
NOT_MODELLED: dict[str, str] = TABLE["not_modelled"] | dict.fromkeys(
    CONTEXT_DEGREES, TABLE["context_parallel"]["effect"]
)
"""Flags of any server that affect performance but are not modelled, and their effect."""
VALUELESS = frozenset(TABLE["valueless"])
"""Flags without a value."""


def engine_of_image(word: str) -> Engine | None:
    """The engine of a container image, by its name."""
    last = word.rpartition("/")[2].partition(":")[0].partition("@")[0]
    engines = (engine for engine in ENGINES if re.fullmatch(engine.image, last))
    return next(engines, None) if "/" in word else None
