"""What each flag of a server's command sets, and what is said of it."""

import math
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.solution import Solution
from symroof.analysis.study import Study
from symroof.cases.request import RECOMMENDED, request_of
from symroof.cases.spec_inputs import DEFAULT_PRECISION
from symroof.cases.values import HEADS
from symroof.errors import InputError, NoValue
from symroof.select.candidates import uneven_cut
from symroof.specs import catalogue
from symroof.specs.engine_profile import EngineSpec
from symroof.specs.model import ModelSpec
from symroof.specs.precision import precision_width, quantization_at
from symroof.theory.declarations import THRESHOLDS
from symroof.vllm.command_line import AUTO, FlagValue, ServeCommand
from symroof.vllm.engines import LLAMA, SGLANG, VLLM, Flag


@dataclass(frozen=True)
class BatchLimit:
    """A number that limits a flag.

    Attributes:
        value: the largest whole number it allows; None if unlimited.
    """

    name: str
    value: int | None
    solution: Solution
    means: str

    @property
    def equation(self) -> str:
        return THRESHOLDS[self.name].equation


def solved(study: Study, name: str, unknown: str) -> BatchLimit | None:
    """A threshold as a limit; None if a required input has no value."""
    try:
        solution = study.solve(name, unknown)
    except (InputError, NoValue):
        return None
    if solution.missing:
        return None
    value = solution.whole
    whole = None if value is None else math.floor(value)
    if whole is None and solution.kind == "limit" and solution.verdict == "lhs_above":
        whole = 0  # exceeded from the start
    reason = (THRESHOLDS[name].never(solution.verdict) if whole is None else "") or solution.reason
    return BatchLimit(name, whole, solution, reason)


def with_values(study: Study, **values: Any) -> Study:
    """The same case with some values changed."""
    made = Study()
    made.select(request_of(origin=RECOMMENDED, **values).over(study.request))
    return made


@dataclass(frozen=True)
class FlagNote:
    """A flag, the inputs it sets, and its meaning; ``defaulted`` where its value is the engine's default."""

    flag: str
    value: str
    sets: str
    says: str
    defaulted: bool = False


def resolve_model(name: str) -> tuple[str, str]:
    """The ``--model`` argument of symroof for the model of a command, and its origin.

    >>> resolve_model("meta-llama/Llama-3.1-8B-Instruct")
    ('meta-llama/Llama-3.1-8B-Instruct', "the catalogue's llama-3.1-8b")

    Raises:
        ValueError: neither a path nor a model of the catalogue; the message ends with a hint.
    """
    if os.path.exists(name):
        return (name if catalogue.is_path(name) else os.path.join(".", name)), "read from this path"
    if catalogue.has_entry("models", name):
        return name.lower(), f"the catalogue's {name.lower()}"
    match = catalogue.model_by_hub_name(name)
    if match is None:
        hint = catalogue.hint_for_hub_name(name)
        raise ValueError(f"{name[:80]!r} is neither in the catalogue nor a path here; {hint}")
    said = [f"its name says {match.stored_word}" if match.stored else "", match.remark]
    return name, "; ".join([f"the catalogue's {match.name}", *filter(None, said)])


class Notes(list[FlagNote]):
    """What is said of each flag of a command and of the defaults that count, in order."""

    def __init__(self, line: ServeCommand, profile: EngineSpec) -> None:
        super().__init__()
        self.line, self.profile = line, profile

    def __call__(self, name: str, sets: str, default: str = "", says: str = "") -> None:
        """Note a flag of the command, or its default."""
        written, engine = self.line.flags.get(name), self.line.engine
        if written is None and not default:
            return
        value = default if written is None else written.text
        if written is not None and isinstance(written.value, bool):
            value = "on" if written.value else "off"
        flag, says = engine.spelled(name) or f"--{name}", says or engine.flag(name).says
        self.append(FlagNote(flag, value, sets, says, written is None))

    def inputs(self, *names: str) -> dict[str, Any]:
        """The inputs that flags set by themselves, or by their defaults."""
        values: dict[str, Any] = {}
        known = self.line.engine.spellings.values()
        for name in (name for name in names if name in known):
            flag, written = self.line.engine.flag(name), self.line.flags.get(name)
            value = self._default(flag) if written is None else written.value
            if value is not None:
                values[flag.input] = value
                shown = f"{float(value):g}" if isinstance(value, Fraction) else f"{value:,}"
                self(name, f"{flag.input} = {shown}{flag.so}", shown)
        return values

    def switches(self) -> None:
        """What switches set."""
        for name in dict.fromkeys(self.line.engine.spellings.values()):
            flag, written = self.line.engine.flag(name), self.line.flags.get(name)
            says = flag.off if written and written.value is False else flag.on
            if says:
                self(name, says, self._default(flag) or "")

    def _default(self, flag: Flag) -> Any:
        """What this version of vLLM sets where a line does not; other engines are not noted."""
        own = {name: entry.value for name, entry in self.profile.inputs.items()}
        return own.get(flag.input, flag.default) if self.line.engine is VLLM else None


def model_of(note: Notes) -> str:
    written = note.line.flags["model"]
    try:
        model, how = resolve_model(written.value)
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        raise InputError(note.line.problem(written.column, message, hint, "model")) from None
    note.append(FlagNote("model", written.value, f"model = {model}", how))
    return model


def degrees_of(note: Notes, spec: ModelSpec) -> dict[str, Any]:
    """Parallel degrees as the engine means them.

    vLLM's data-parallel ranks are replicas of a dense model; for a model with experts they are groups of one instance that share the experts:
    distributed whole with expert parallelism, sliced over all devices without. SGLang and TensorRT-LLM have such groups inside the tensor-parallel
    devices (``--tp 8 --dp 8 --enable-dp-attention`` is eight devices); else SGLang's are copies. llama.cpp splits by layers or by rows.
    """
    line = note.line
    if line.engine is LLAMA:
        return _split(note)
    inside = line.engine is not VLLM and line.on("attention-dp")
    groups = "attention_dp" if inside or (line.engine is VLLM and spec.experts()) else "dp"
    names = {
        "tensor-parallel-size": "tp",
        "pipeline-parallel-size": "pp",
        "data-parallel-size": groups,
    }
    degrees: dict[str, Any] = {
        symbol: line.flags[name].value for name, symbol in names.items() if name in line.flags
    }
    devices = degrees.get("tp", 1)
    if inside:
        count = degrees.get("attention_dp", 1) if line.engine is SGLANG else devices
        if devices % count:
            written = line.flags.get("data-parallel-size") or line.flags["attention-dp"]
            message = f"{count} groups of attention do not share out {devices} devices"
            hint = "a divisor of the tensor-parallel size"
            raise InputError(line.problem(written.column, message, hint))
        degrees |= {"attention_dp": count, "tp": devices // count}
    _check_cut(line, spec, degrees.get("tp", 1))
    for name, symbol in names.items():
        note(name, f"{symbol} = {degrees.get(symbol, 1)}", "1" if symbol == "tp" else "")
    if inside:
        tp = degrees["tp"]
        note("attention-dp", f"attention_dp = {count}, tp = {tp}: {devices} devices")
    if spec.experts() and degrees.get("attention_dp", 1) > 1:
        degrees["ep"] = 1
    if line.on("enable-expert-parallel"):
        degrees["ep"] = degrees.get("tp", 1) * degrees.get(groups, 1)
        note("enable-expert-parallel", f"ep = {degrees['ep']}")
    return degrees | (note.inputs("expert-parallel-size") if spec.experts() else {})


def _check_cut(line: ServeCommand, spec: ModelSpec, tp: int) -> None:
    """Refuse what tensor parallelism does not cut into equal parts, with the degrees that the engine starts with."""
    whole = line.on("enable-expert-parallel") or "expert-parallel-size" in line.flags
    name = str(line.flags["model"].value) if "model" in line.flags else ""
    why = uneven_cut(spec, name, tp, whole)
    if why:
        degrees = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)
        starting = [str(n) for n in degrees if not uneven_cut(spec, name, n, whole)]
        message = why if "blocks" in why else f"{why}: {line.engine.title} refuses to start"
        column = line.flags["tensor-parallel-size"].column
        hint = f"it starts with {', '.join(starting)}"
        if spec.experts() and not uneven_cut(spec, name, tp, True):
            hint += ", or with expert parallelism, which leaves each expert whole"
        raise InputError(line.problem(column, message, hint))


def _split(note: Notes) -> dict[str, Any]:
    """The devices of llama.cpp: as many as shares in the split, by layers unless by rows."""
    line = note.line
    written, mode = line.flags.get("tensor-split"), line.flags.get("split-mode")
    words = re.split(r"[,/;]", written.text if written else "1")
    shares = [share for share in words if share.strip() not in ("", "0", "0.0")]
    by = line.engine.flag("split-mode").choices[mode.value] if mode else "layer"
    count = 1 if by == "none" else max(len(shares), 1)
    symbol = "tp" if by == "row" else "pp"
    note("tensor-split", f"{symbol} = {count}", says="devices, taken as equal shares")
    note("split-mode", f"{symbol} = {count}")
    return {symbol: count} if count > 1 else {}


def memory_of(note: Notes) -> dict[str, Any]:
    """What the engine takes of a device's memory, its blocks, and the tokens of one step, which take memory too; with 0 prompts are not cut."""
    line, values = note.line, note.inputs("gpu-memory-utilization")
    if values and line.engine is not VLLM:
        values["memory_reserve"] = 0
    if "free-memory-share" in line.flags:
        left = float(1 - line.flags["free-memory-share"].value)
        free = "max(0.96*mem_capacity - weight_bytes_per_device, 0 byte)"
        values["memory_reserve"] = reserve = f"0.04*mem_capacity + {left:g}*{free}"
        note("free-memory-share", f"memory_reserve = {reserve}")
    budget = line.flags.get("max-num-batched-tokens")
    if budget and budget.value:
        values["token_budget"] = budget.value
    return values | note.inputs("block-size")


def formats_of(note: Notes, spec: ModelSpec) -> dict[str, Any]:
    """Precisions: by default the checkpoint's, and an ``auto`` cache is stored like the activations."""
    line, formats = note.line, dict[str, Any]()
    dtype, method = _choice(line, "dtype"), _choice(line, "quantization")
    if dtype:
        formats["activations"] = dtype
        if not spec.quantization and "quantization" not in line.flags:
            formats["weights"] = dtype
        note("dtype", " and ".join(f"{role} = {name}" for role, name in formats.items()))
    if method and spec.quantization is None:
        formats["weights"] = method
        note("quantization", f"weights = {method}")
    else:
        stored, asked = spec.quantization, quantization_at(method, spec) if method else None
        if method and stored and stored.format != (asked.format if asked else method):
            message = f"the checkpoint is stored as {stored.method}, not {method}: {line.engine.title} refuses to start"
            hint = "leave it out, or name another checkpoint"
            raise InputError(line.problem(line.flags["quantization"].column, message, hint))
        says = "the checkpoint's own format"
        note("quantization", "weights as the model's spec stores them", says=says)
    if line.engine is LLAMA:
        # keys and values have types of their own; a cache element has the mean of their widths
        names = ("kv-cache-dtype", "value-cache-dtype")
        chosen = [_choice(line, name) or DEFAULT_PRECISION for name in names]
        bits = [8 * precision_width(name).bytes for name in chosen]
        kv = chosen[0] if chosen[0] == chosen[1] else f"{float(sum(bits) / 2):g} bit"
        for name in names:
            note(name, f"kv = {kv}", "f16")
        return formats | ({"kv": kv} if any(name in line.flags for name in names) else {})
    own = spec.quantization.kv if spec.quantization else None
    kv = _choice(line, "kv-cache-dtype") or own or dtype or DEFAULT_PRECISION
    note("kv-cache-dtype", f"kv = {kv}", "auto", "as the checkpoint asks" if kv == own else "")
    return formats | ({"kv": kv} if "kv-cache-dtype" in line.flags or dtype else {})


def _choice(line: ServeCommand, name: str) -> str:
    written = line.flags.get(name)
    return line.engine.flag(name).choices.get(written.value, "") if written else ""


def longest_of(note: Notes, spec: ModelSpec, study: Study) -> int | None:
    """Tokens of the longest request: as written, as the model has it, or as fits."""
    line, written = note.line, note.line.flags.get("max-model-len")
    longest = written.value if written else spec.max_context
    says = ""
    if longest == AUTO:
        limit = None
        if study.first.get("usable_memory"):
            limit = solved(with_values(study, batch=1), "max_context_memory", "context")
        fitting = limit.value if limit else None
        longest = min((n for n in (fitting, spec.max_context) if n), default=None)
        shorter = longest is not None and fitting == longest
        says = "the longest request that fits" if shorter else "the model's own longest context"
    elif written is None:
        says = "requests of the model's own longest context"
        says = says if longest else "requests of any length: the model's spec does not say"
    if line.engine is LLAMA and longest and "max-num-seqs" in line.flags:
        longest = max(longest // line.flags["max-num-seqs"].value, 1)  # slots share the cache out
    sets = f"prompt + output up to {longest:,}" if longest else "nothing"
    note("max-model-len", sets, f"{longest:,}" if longest else "unknown", says)
    return longest


def speculation_of(note: Notes) -> dict[str, Any]:
    """Speculative decoding from ``--speculative-config``, given as JSON or key by key, or from flags of their own."""
    line, pays = note.line, "give --set acceptance=0.7 to see whether it pays"
    if "draft-tokens" in line.flags:
        root = line.engine is SGLANG  # which counts the root of the tree, too
        count = max(line.flags["draft-tokens"].value - root, 1)
        note("draft-tokens", f"draft_tokens = {count}", says=pays)
        named = line.flags.get("draft-model")
        draft, how = _draft(named.value) if named else ("", "")
        note("draft-model", how)
        return {"draft_tokens": count} | ({"draft": draft} if draft else {})
    whole = line.flags.get("speculative-config")
    parts = {
        name.partition(".")[2]: written
        for name, written in line.flags.items()
        if name.startswith("speculative-config.")
    }
    config: dict[str, Any] = dict(whole.value) if whole else {}
    config |= {key: written.value for key, written in parts.items()}
    if not config:
        return {}
    written = whole or next(iter(parts.values()))
    count = _drafted(line, written, config.get("num_speculative_tokens"))
    values: dict[str, Any] = {"draft_tokens": count} if count else {}
    none = "no draft_tokens: it says no num_speculative_tokens"
    sets = [f"draft_tokens = {count}" if count else none]
    if isinstance(config.get("model"), str) and config.get("method") in (None, "draft_model"):
        draft, how = _draft(config["model"])
        values |= {"draft": draft} if draft else {}
        sets.append(how)
    elif heads := [each for each in HEADS if each in str(config.get("method", "")).lower()]:
        head = heads[0]
        values |= {"draft": head}
        sets.append(f"draft = {head}, a head of the model")
    pays += "" if "draft" in values else ", and --set draft_cost=0.1 or --draft MODEL"
    note.append(FlagNote("--speculative-config", written.text[:60], ", ".join(sets), pays))
    return values


def _draft(name: str) -> tuple[str, str]:
    """The draft model by its hub name; an unknown one is noted and left out."""
    try:
        draft, _ = resolve_model(name)
    except ValueError:
        return "", f"no draft: {name[:60]!r} is neither in the catalogue nor a path here"
    return draft, f"draft = {draft}"


def _drafted(line: ServeCommand, written: FlagValue, value: Any) -> int:
    """The number of drafted tokens, 1 to 1,000; 0 if not given."""
    text = "0" if value is None else str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > 1000:
        text = ""
    if not text or (value is not None and not int(text)):
        said = str(value)[:40]
        message = f"num_speculative_tokens is {said!r}, not a whole number from 1 to 1,000"
        raise InputError(line.problem(written.column, message, path="--speculative-config"))
    return int(text)
