"""Which operators a list of module names means: ``modules_to_not_convert``, ``ignore``, ``exclude_modules`` and the like.

Such lists hold whole paths, parts of paths, globs and regular expressions from untrusted files. None of them is executed: each is turned
into a glob over the parts of the few module names that checkpoints use, and one that cannot be is reported, not guessed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import combinations
from typing import Any

from symroof.resources import data_folder
from symroof.strict_yaml import load

MODEL_PREFIXES = frozenset({"model", "transformer", "language_model", "gpt_neox", "backbone"})
LAYERS = frozenset({"layers", "h", "blocks", "block"})
LONGEST_PATTERN, MOST_GLOBS, MOST_LAYERS, MOST_PATHS = 200, 64, 1000, 4000
REGEX = {".*": "*", ".+": "*", r"\d+": "*", r"[0-9]+": "*", r"\.": "."}
OTHER_PARTS = ("vision", "visual", "audio", "projector", "image", "mtp", "patch_merge")
"""Parts of a model other than the decoder: towers for other inputs, prediction heads."""
ALWAYS_WIDE = re.compile(
    r"norm|bias|rotary|embed|conv1d|eh_proj|shared_head|indexer|gate$|router|A_log|dt_proj|in_proj_[ab]$"
)
"""Modules that no method narrows, or that are no matrix of the decoder's layers: a list that names them says nothing new."""


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """What methods store and what modules are called (``specs/checkpoints/quantization.yaml``)."""
    data: dict[str, Any] = load(data_folder("specs") / "checkpoints" / "quantization.yaml").data
    return data


@lru_cache(maxsize=8)
def operator_modules(model_type: str = "") -> dict[str, list[str]]:
    """The modules an operator is made of in a model of a type, under each set of names that model classes give them."""
    modules: dict[str, list[str]] = table()["modules"]
    own: dict[str, list[str]] = table()["modules_of_type"].get(model_type, {})
    return modules | own


@dataclass(frozen=True)
class NamedOperators:
    """Operators that a list names: wholly, in some layers only (which), and patterns that were not understood."""

    wholly: frozenset[str]
    partly: dict[str, frozenset[int]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def operators_named(patterns: Iterable[str], model_type: str = "") -> NamedOperators:
    """The operators that a list of module names and patterns means, in a model of a type.

    >>> sorted(operators_named(["lm_head", "re:.*mlp.gate$", "model.layers.*.self_attn"]).wholly)
    ['attention_out', 'head_gate', 'kv_up', 'lm_head', 'q_up', 'qkv', 'qkv_down', 'router']
    """
    modules = operator_modules(model_type)
    matched: dict[str, set[int | None]] = {}
    paths, unread = _paths(patterns)
    for (below, path), (layers, written) in paths.items():
        found = _modules_at(path, below, model_type)
        for module in found:
            matched.setdefault(module, set()).update(layers)
        if not found and not ALWAYS_WIDE.search(written.removesuffix(".weight").rstrip("*.")):
            unread.append(written[:60])
    named = {
        operator: layers
        for operator, spelled in modules.items()
        if (layers := _layers_of(spelled, matched))
    }
    wholly = frozenset(operator for operator, layers in named.items() if None in layers)
    partly = {
        operator: frozenset(n for n in layers if n is not None)
        for operator, layers in named.items()
        if operator not in wholly
    }
    return NamedOperators(wholly, partly, tuple(unread))


def _paths(
    patterns: Iterable[str],
) -> tuple[dict[tuple[bool, str], tuple[set[int | None], str]], list[str]]:
    """What a list names, each part of a layer once with its layers (None: all) and as it was first written; and what of it is no glob."""
    paths: dict[tuple[bool, str], tuple[set[int | None], str]] = {}
    unread = []
    for pattern in dict.fromkeys(patterns):
        if not pattern.strip() or any(word in pattern.lower() for word in OTHER_PARTS):
            continue
        globs = _globs(pattern)
        if globs is None or ("*" in pattern and len(paths) > MOST_PATHS):
            unread.append(pattern[:60])
            continue
        for glob in globs:
            below, layers, parts = _below_layer(glob.split("."))
            paths.setdefault((below, ".".join(parts)), (set(), pattern))[0].update(layers)
    return paths, unread


def _layers_of(spelled: list[str], matched: dict[str, set[int | None]]) -> set[int | None]:
    """The layers (None: all) in which every module of one set of names matches."""
    layers: set[int | None] = set()
    for names in spelled:
        each = [matched.get(module, set()) for module in names.split()]
        everywhere = [layers for layers in each if None in layers]
        rest = [layers for layers in each if None not in layers]
        layers |= set.intersection(*rest) if rest else {None} if everywhere else set()
    return layers


def _globs(pattern: str) -> list[str] | None:
    """A pattern as globs; None where it is a regular expression with more than wildcards and choices of words in it, or far too long."""
    text = pattern.strip()
    if len(text) > LONGEST_PATTERN:
        return None
    if text.startswith("re:") or "\\" in text:
        text = (
            text.removeprefix("re:")
            .removeprefix("^")
            .removesuffix("$")
            .replace("layers.*.", "layers.*")
        )
        text = re.sub(r"layers\.\*", "layers.[0-9]+.", text)
        text = re.sub(r"\.\*|\.\+|\\d\+|\[0-9\]\+|\\\.", lambda match: REGEX[match[0]], text)
    made = [text]
    while choice := re.search(r"\((?:\?:)?(\w+(?:\|\w+)+)\)", made[0]):
        made = [one.replace(choice[0], word) for one in made for word in choice[1].split("|")]
        if len(made) > MOST_GLOBS:
            return None
    made = [one.removesuffix(".weight").strip(".") for one in made]
    return made if all(one and re.fullmatch(r"[\w.*/-]+", one) for one in made) else None


def _below_layer(parts: list[str]) -> tuple[bool, set[int | None], list[str]]:
    """Whether parts of a path go through a layer, through which (None: any), and what follows; all experts are treated the same."""
    for i, part in enumerate(parts[:-1]):
        following = parts[i + 1]
        if part.rpartition("*")[2] in LAYERS and re.fullmatch(r"\d+\*?|\*", following):
            layers: set[int | None] = {None}
            begin = following.removesuffix("*")
            if begin == following and len(begin) < 6:
                layers = {int(begin)}
            elif 0 < len(begin) < 6:  # 6* is 6, 60, 61 ...
                layers = {n for n in range(MOST_LAYERS) if str(n).startswith(begin)}
            return True, layers, [_any_number(p) for p in parts[i + 2 :]]
    named = [_any_number(p) for p in parts if p not in MODEL_PREFIXES]
    return False, {None}, named[1:] if len(named) > 1 and named[0] == "*" else named


def _any_number(part: str) -> str:
    return "*" if part.isdecimal() else part


@lru_cache(maxsize=8)
def _paths_of_modules(model_type: str) -> dict[str, list[tuple[int, str]]]:
    """Every run of parts of a module's name: the part it begins with, and the module."""
    runs: dict[str, list[tuple[int, str]]] = {}
    spelled = operator_modules(model_type).values()
    for module in dict.fromkeys(each for names in spelled for each in " ".join(names).split()):
        parts = module.split(".")
        for i, j in combinations(range(len(parts) + 1), 2):
            runs.setdefault(".".join(parts[i:j]), []).append((i, module))
    return runs


def _modules_at(path: str, below: bool, model_type: str) -> set[str]:
    """The modules that a glob names, or names a part of; of one below a layer that is empty all of them."""
    runs = _paths_of_modules(model_type)
    wild = "*" in path or (below and not path)
    same = [run for run in runs if fnmatchcase(run, path or "*")] if wild else [path]
    begun = below or (wild and "." not in path)
    return {module for run in same for i, module in runs.get(run, ()) if i == 0 or not begun}
