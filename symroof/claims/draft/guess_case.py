"""The case a number of a note is of: the settings its quantity moves with, each from the nearest words that state it.

A batch reaches no farther than its paragraph or table; a model reaches through the note.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from symroof.claims.draft.note_words import ELSEWHERE, OWN_ROW, PARAGRAPH, PRECISIONS, SENTENCE, NoteWords, written_value
from symroof.claims.read.numbers import Figure
from symroof.claims.read.written_lengths import holds
from symroof.theory.layout import Layout
from symroof.theory.symbols import GROUPS, INPUTS
from symroof.theory.theory import theory

DEVICE_INPUTS = frozenset(["peak_flops", "mem_bandwidth", "mem_capacity", "link_bandwidth", "l2_bandwidth", "l2_capacity", "power"])
MODEL_INPUTS = frozenset([*(symbol.name for symbol in GROUPS["architecture"]), "params", "active_params"])
STATED = frozenset(["price", "power", "mfu", "mbu", "memory_reserve", "host_bandwidth", "disk_bandwidth", "network_bandwidth", "output", "chunk", "arrival_rate", "acceptance", "hit_rate",
                    "step_overhead", "prompt", "context", "draft_tokens", "cached_prefix"])  # fmt: skip
"""Inputs that a note states as numbers of their own, which its other numbers then rest on."""
EIGHT_BITS = frozenset(["fp8", "int8", "w8a8"])
OF_BATCHES = ("memory_bytes", "memory_util", "throughput", "cost", "energy", "sustained", "price_per")
"""Parts of the names of quantities that mean little at a batch of one, so that theirs is looked for in the whole note."""
OF_ONE_SENTENCE = frozenset(["kv_cache_bytes", "kv_cache_bytes_per_device"])
"""Quantities whose batch stands in their own sentence: the next one may speak of one request again."""
OF_THE_DEVICE = frozenset(["peak_flops", "ridge_point", "effective_ridge"])
"""Quantities of the precision that is multiplied, whatever the weights are stored in."""
GROUPED = frozenset(["tp", "pp", "ep", "dp"])
LEAST_DIGITS = 2
"""Digits of a number that may settle what it is."""
MOST_VALUES, MOST_VARIANTS = 3, 12
"""Values of a setting, and cases of a number, that are tried."""
NEARLY = Fraction(2, 100)
"""How far a number may be from the reading that nearly gives it, where none does."""
NOT_OF = {"concurrency": {"batch"}, "free_memory": {"batch"}, "energy_per_token": {"power"}, "decode_energy_per_token": {"power"}}
"""Inputs that words near a quantity usually do not mean."""

OF_ANOTHER_SIZE = (
    (DEVICE_INPUTS | {"price"}, re.compile(r"\b(?:aggregated?|combined|together|in total|altogether|both|all (?:of them|\w+ (?:cards|gpus|devices)))\b", re.IGNORECASE), "of one device"),
    (frozenset(["decode_flops", "prefill_flops", "linear_flops_per_token", "decode_bytes", "weight_bytes", "params"]),
     re.compile(r"\b(?:(?:output|lm|language[- ]model|unembedding|logits?) head|head alone|(?:attention|feed-forward|ffn|mlp) alone)\b", re.IGNORECASE), "of the whole model"),
    (frozenset(["weight_bytes", "kv_cache_bytes", "memory_bytes", "decode_bytes"]), re.compile(r"\beach (?:holds|keeps|stores|has|reads|needs|carries|takes)\b", re.IGNORECASE), "of all devices"),
)  # fmt: skip
"""Words of a sentence that make its number one of more, or of less, than the quantity is of."""


@dataclass
class Case:
    """The settings of a draft, and what of it is doubtful."""

    given: dict[str, str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)


@lru_cache(maxsize=512)
def moved_by(quantity: str) -> frozenset[str]:
    """The names a quantity moves with, on any layout of devices."""
    return theory(layout=Layout(tp=True, dp=True)).ancestry(quantity)


def guess_case(words: NoteWords, index: int, figure: Figure, quantity: str) -> Case:
    """The settings of a number of a block."""
    case = Case()
    moves = moved_by(quantity)
    reaches: dict[str, int] = {}

    def take(name: str) -> str:
        far = name == "batch" and any(part in quantity for part in OF_BATCHES)
        stated = words.nearest(name, index, figure, far)
        if stated is None or (name == "batch" and quantity in OF_ONE_SENTENCE and stated.reach == PARAGRAPH):
            return ""
        case.given[name] = stated.value
        reaches[name] = stated.reach
        compared = name in GROUPED and reaches.get("hardware") == OWN_ROW  # a row for each device may be of one of each
        if (stated.soft and name not in PRECISIONS) or (stated.reach == ELSEWHERE and (far or compared or stated.several)):
            case.doubts.append(f"{name} {stated.value}")
        return stated.value

    if moves & MODEL_INPUTS and not take("model"):
        case.doubts.append("no model of the catalogue is named")
    if moves & DEVICE_INPUTS:
        take("hardware")
    if "weight_bytes_per_param" in moves or "peak_flops" in moves:
        peak = words.nearest("compute", index, figure) if quantity in OF_THE_DEVICE else None
        if peak and peak.reach <= PARAGRAPH:
            case.given["weights"] = weights = peak.value
        else:
            weights = take("weights")
        if weights and "peak_flops" in moves:
            case.given = _with_precision(case.given, weights)
    if "kv_bytes_per_element" in moves:
        take("kv")
    _lengths(words, index, figure, quantity, case)
    for name in ("batch", "tp", "pp", "ep", "dp", *sorted(STATED - {"prompt", "context"})):
        if name == "output" and not case.given.keys() & {"prompt", "context"}:
            continue
        if name in moves and name != quantity and name not in NOT_OF.get(quantity, ()):
            take(name)
    if quantity.endswith("_per_device") and "tp" in moves and "tp" not in case.given:
        case.doubts.append("tp is not stated")
    if quantity == "devices":
        _devices(case, written_value(figure))
    if quantity == "weight_bytes_per_param":
        case.given = {"weights": case.given.get("weights", "fp16")}
    elif _is_a_setting(quantity, case):
        case.given = {quantity: written_value(figure)}
        case.doubts = []
    groups = [name for name in GROUPED & case.given.keys() if reaches.get(name) == ELSEWHERE and reaches.get("hardware") == OWN_ROW]
    if groups and quantity not in INPUTS:
        _of_one_device(case, quantity, figure, groups)
    return case


def of_another_size(quantity: str, sentence: str) -> list[str]:
    """What a quantity is of, where its sentence speaks of more, or of less.

    >>> of_another_size("mem_bandwidth", "Four cards have an aggregate bandwidth of 13.4 TB/s."), of_another_size("mem_bandwidth", "It reads 3.35 TB/s.")
    (['of one device'], [])
    """
    return [of for quantities, words, of in OF_ANOTHER_SIZE if quantity in quantities and words.search(sentence)]


def _is_a_setting(quantity: str, case: Case) -> bool:
    """Whether a number is an input of its own case; one that a named device or model has is checked against that."""
    if quantity in DEVICE_INPUTS and "hardware" in case.given:
        return False
    return (quantity in INPUTS or quantity == "context") and not (quantity in ("params", "active_params") and "model" in case.given)


def _of_one_device(case: Case, quantity: str, figure: Figure, groups: Sequence[str]) -> None:
    """A table of devices without the group that the text states elsewhere, where the number holds of one of each and not of the group."""
    alone = {name: value for name, value in case.given.items() if name not in groups}
    own, group = ({"quantity": quantity, "value": figure.written, "given": _typed(settings)} for settings in (alone, case.given))
    if holds(own) and not holds(group):
        case.given = alone
        case.doubts = [doubt for doubt in case.doubts if doubt.split()[0] not in groups] + [f"of one device, not {name}" for name in sorted(groups)]


def settled(words: NoteWords, index: int, figure: Figure, quantity: str, rival: str) -> tuple[str, Case] | None:
    """Of the readings of a doubtful number the first under which it is what symroof derives: as guessed, without a setting that is only inferred
    or with another value that the note states for it, or as its rival. One digit agrees by chance, so it settles nothing.
    """
    if sum(character.isdigit() for character in figure.digits.lstrip("0.")) < LEAST_DIGITS:
        return None
    readings = [(name, given) for name in filter(None, (quantity, rival)) for given in _variants(guess_case(words, index, figure, name), name, words)]
    for within in (None, NEARLY):
        for name, given in readings:
            if holds({"quantity": name, "value": figure.written, "given": _typed(given)}, within):
                return name, Case(given)
    return None


def _variants(case: Case, quantity: str, words: NoteWords) -> list[dict[str, str]]:
    """A case, and the same with its doubtful settings left out or as the note states them elsewhere, few changes before many.

    None of an input that the number itself sets, which would always hold, nor without a model or a group, where there is nothing to vary.
    """
    doubtful = [doubt.partition(" ")[0] for doubt in case.doubts]
    if quantity in case.given or any(name not in case.given for name in doubtful):
        return []
    options = [[case.given[name], *_others(name, case.given[name], words)] for name in doubtful]
    chosen = sorted(itertools.product(*options), key=lambda values: sum(value != own[0] for value, own in zip(values, options, strict=True)))
    return [_with(case.given, dict(zip(doubtful, values, strict=True))) for values in chosen[:MOST_VARIANTS]]


def _others(name: str, value: str, words: NoteWords) -> list[str]:
    """What else a doubtful setting may be; empty text: not set at all."""
    if name in ("model", "hardware"):
        return []
    others = [other for other in words.values(name) if other != value][:MOST_VALUES]
    return [*others, ""] if name in GROUPED else others


def _with(given: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """Settings with others in their place."""
    changed = {name: value for name, value in {**given, **changes}.items() if value}
    return _with_precision(changed, changes["weights"]) if "weights" in changes else changed


def _with_precision(given: Mapping[str, str], weights: str) -> dict[str, str]:
    """Settings with a precision of the weights; eight bits are multiplied as such."""
    others = {name: value for name, value in given.items() if name != "activations"}
    return others | {"weights": weights} | ({"activations": weights} if weights in EIGHT_BITS else {})


def _typed(settings: Mapping[str, str]) -> dict[str, object]:
    """Settings as an annotation would be read."""
    return {name: int(value) if value.isdigit() else value for name, value in settings.items()}


def _devices(case: Case, devices: str) -> None:
    """The copies of a group that so many devices make, or one group of all of them."""
    group = int(case.given.get("tp", "0"))
    many = int(devices) if devices.isdigit() else 0
    copies = many // group if group and many % group == 0 else 0
    case.given = {"tp": str(group), "dp": str(copies)} if copies else {"tp": devices}
    case.doubts = [] if copies else ["one group of all devices"]


def _lengths(words: NoteWords, index: int, figure: Figure, quantity: str, case: Case) -> None:
    """The prompt or the context of a quantity that moves with either: whichever is stated nearer."""
    moves = moved_by(quantity)
    if not moves & {"prompt", "context"} or quantity in ("prompt", "context"):
        return
    stated = {name: value for name in ("prompt", "context") if (value := words.nearest(name, index, figure))}
    if quantity == "free_memory" and all(value.reach > SENTENCE or value.soft for value in stated.values()):
        case.given["prompt"] = "1"
        case.doubts.append("beside the weights alone")
        return
    if not stated:
        return
    name = min(stated, key=lambda one: (stated[one].reach, stated[one].soft))
    value = stated[name]
    as_context = name == "context" and "context" in moves and "peak_context" not in moves
    case.given["context" if as_context else "prompt"] = value.value
    if value.soft or (value.reach == ELSEWHERE and value.several):
        case.doubts.append(f"{name} {value.value}")
