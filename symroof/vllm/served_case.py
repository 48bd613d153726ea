"""The case of a server's command: what each flag sets, and the engine's defaults for the rest."""

import os
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.input import HEADS
from symroof.cases.request import VLLM_LINE, Request, request_of
from symroof.cases.spec_inputs import DEFAULT_PRECISION
from symroof.errors import InputError
from symroof.select.search_space import uneven_cut
from symroof.specs import catalogue
from symroof.specs.checkpoint_precisions import precision_width
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import read_model
from symroof.symbolic.evaluation import NoValue
from symroof.units import format_quantity
from symroof.vllm.batch_limits import requests_per_rank, solved, with_values
from symroof.vllm.command_line import AUTO, FlagValue, ServeCommand
from symroof.vllm.engines import LLAMA, SGLANG, VLLM
from symroof.vllm.flags import NOT_MODELLED, Flag, FlagNote

ORIGIN = VLLM_LINE
TENSOR_DEGREES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)
"""Degrees of tensor parallelism that are offered where one is refused."""
UNKNOWN = {"max_batch": 256, "token_budget": 2048}
"""What a profile without such limits is taken to have: vLLM's for small devices."""
GPU_LAYERS = ("-ngl", "--n-gpu-layers", "--gpu-layers")


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
    said = [f"its name says {match.stored_word}" if match.stored else "", match.remark()]
    return name, "; ".join([f"the catalogue's {match.name}", *filter(None, said)])


@dataclass
class ServedCase:
    """A command with its case.

    Attributes:
        study: the case. Its batch is max-num-seqs of every rank, or what fits in memory if that is less; its chunk is the rest of the token budget.
        flags: every flag that sets something, and the defaults.
        longest: tokens of the longest request.
        batch: requests of all ranks that run together.
        budget: tokens of one step of a rank.
        chosen: what overrides the line.
    """

    line: ServeCommand
    study: Study
    flags: list[FlagNote]
    others: tuple[str, ...]
    longest: int | None
    batch: int
    budget: int
    spec: ModelSpec
    chosen: Request
    warnings: list[str]

    @property
    def chunked(self) -> bool:
        written = self.line.flags.get("enable-chunked-prefill")
        mixed = self.study.first.assumptions["scheduling"] == "chunked"
        return mixed and (written is None or bool(written.value))

    @property
    def requested(self) -> int:
        first = self.study.first
        return int(sum(first.case.value(n) for n in ("prompt", "output") if n in first.given))


class Notes(list[FlagNote]):
    """What is said of each flag of a command and of the defaults that count, in order."""

    def __init__(self, line: ServeCommand) -> None:
        super().__init__()
        self.line = line

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
        """What vLLM sets where a line does not; other engines have profiles."""
        return flag.default if self.line.engine is VLLM else None


def served_case(line: ServeCommand, chosen: Request) -> ServedCase:
    """The case of a command; ``chosen`` (device, workload, targets, any symroof input) overrides its flags.

    Raises:
        InputError: an unknown model, with its column.
    """
    note = Notes(line)
    model: Any = chosen.models[0] if chosen.models else _model(note)
    spec = model
    if not isinstance(model, ModelSpec):
        spec, model = read_model(model, chosen.base, chosen.assume_family)[0], [model]
    values = _degrees(note, spec) | _memory(note)
    values |= _formats(note, spec) | _speculation(note)
    switches = {"scheduling": "chunked"} if line.on("mixed-chunk") else {}
    laid = request_of(model, origin=ORIGIN, engine=line.engine.name, assume=switches, **values)
    study = Study()

    def add(**more: Any) -> None:
        """Lay more below what was chosen."""
        nonlocal laid
        laid = request_of(origin=ORIGIN, **more).over(laid)
        study.select(chosen.over(laid))

    add()
    if line.on("swa-full") or line.on("disable-hybrid-kv-cache-manager"):
        add(assume={"window_cache": "full"})
    elif "micro-batch" in line.flags:  # of what is prefilled layers with a window keep as much
        add(window_chunk=line.flags["micro-batch"].value)
    longest = _longest(note, spec, study)
    assumed = "prompt" not in study.first.given and longest is not None
    if assumed:
        add(prompt=longest)
    batch, budget = _step(note, study)
    left = budget - requests_per_rank(study, batch)
    chunked = left > 0 and study.first.assumptions["scheduling"] == "chunked"
    add(batch=batch, **({"chunk": left} if chunked else {}))
    note.switches()
    others = tuple(word.text for word in line.others)
    told = list(line.said)
    made = ServedCase(line, study, note, others, longest, batch, budget, spec, chosen, told)
    made.warnings += _warnings(made, assumed)
    return made


def _model(note: Notes) -> str:
    written = note.line.flags["model"]
    try:
        model, how = resolve_model(written.value)
    except ValueError as error:
        message, _, hint = str(error).partition("; ")
        raise InputError(note.line.problem(written.column, message, hint, "model")) from None
    note.append(FlagNote("model", written.value, f"model = {model}", how))
    return model


def _degrees(note: Notes, spec: ModelSpec) -> dict[str, Any]:
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
    """What tensor parallelism cuts has equal parts.

    Raises:
        InputError: it has not, with the degrees that the engine starts with.
    """
    whole = line.on("enable-expert-parallel") or "expert-parallel-size" in line.flags
    name = str(line.flags["model"].value) if "model" in line.flags else ""
    why = uneven_cut(spec, name, tp, whole)
    if why:
        starting = [str(n) for n in TENSOR_DEGREES if not uneven_cut(spec, name, n, whole)]
        message = why if "blocks" in why else f"{why}: {line.engine.title} refuses to start"
        column = line.flags["tensor-parallel-size"].column
        raise InputError(line.problem(column, message, f"it starts with {', '.join(starting)}"))


def _split(note: Notes) -> dict[str, Any]:
    """The devices of llama.cpp: as many as shares in the split, by layers unless by rows."""
    line = note.line
    written, mode = line.flags.get("tensor-split"), line.flags.get("split-mode")
    words = re.split(r"[,/;]", written.text if written else "1")
    shares = [share for share in words if share.strip() not in ("", "0", "0.0")]
    by = dict(line.engine.flag("split-mode").choices)[mode.value] if mode else "layer"
    count = 1 if by == "none" else max(len(shares), 1)
    symbol = "tp" if by == "row" else "pp"
    note("tensor-split", f"{symbol} = {count}", says="devices, taken as equal shares")
    note("split-mode", f"{symbol} = {count}")
    return {symbol: count} if count > 1 else {}


def _memory(note: Notes) -> dict[str, Any]:
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


def _formats(note: Notes, spec: ModelSpec) -> dict[str, Any]:
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
        says = "the checkpoint's own format"
        note("quantization", "weights as the model's spec stores them", says=says)
    if line.engine is LLAMA:
        return formats | _ggml_cache(note)
    own = spec.quantization.kv if spec.quantization else None
    kv = _choice(line, "kv-cache-dtype") or own or dtype or DEFAULT_PRECISION
    note("kv-cache-dtype", f"kv = {kv}", "auto", "as the checkpoint asks" if kv == own else "")
    return formats | ({"kv": kv} if "kv-cache-dtype" in line.flags or dtype else {})


def _ggml_cache(note: Notes) -> dict[str, Any]:
    """Keys and values of llama.cpp have types of their own; a cache element has the mean of their widths."""
    names = ("kv-cache-dtype", "value-cache-dtype")
    chosen = [_choice(note.line, name) or DEFAULT_PRECISION for name in names]
    bits = [8 * precision_width(name).bytes for name in chosen]
    kv = chosen[0] if chosen[0] == chosen[1] else f"{float(sum(bits) / 2):g} bit"
    for name in names:
        note(name, f"kv = {kv}", "f16")
    return {"kv": kv} if any(name in note.line.flags for name in names) else {}


def _choice(line: ServeCommand, name: str) -> str:
    written = line.flags.get(name)
    return dict(line.engine.flag(name).choices).get(written.value, "") if written else ""


def _longest(note: Notes, spec: ModelSpec, study: Study) -> int | None:
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


def _speculation(note: Notes) -> dict[str, Any]:
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
    elif head := next(
        (each for each in HEADS if each in str(config.get("method", "")).lower()), ""
    ):
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
    """The number of drafted tokens; 0 if not given.

    Raises:
        InputError: it is not a whole number from 1 to 1,000.
    """
    text = "0" if value is None else str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,4}", text) or int(text) > 1000:
        text = ""
    if not text or (value is not None and not int(text)):
        message = f"num_speculative_tokens is {str(value)[:40]!r}, not a whole number from 1 to 1,000"  # fmt: skip
        raise InputError(line.problem(written.column, message, path="--speculative-config"))
    return int(text)


def _step(note: Notes, study: Study) -> tuple[int, int]:
    """Requests that run and tokens of one step, by the flags or the engine's defaults."""
    line, first = note.line, study.first
    ranks = int(first.case.value("attention_dp"))
    most, tokens = (
        int(first.case.value(name)) if name in first.given else own for name, own in UNKNOWN.items()
    )
    limit, budgeted = line.flags.get("max-num-seqs"), line.flags.get("max-num-batched-tokens")
    of_all = line.engine is SGLANG and limit  # whose limit is of all groups
    asked = (limit.value if limit else most) * (1 if of_all else ranks)
    batch = int(first.case.value("batch")) if "batch" in first.given else max(asked, 1)
    own = requests_per_rank(study, batch)
    budget = max(tokens, own) if line.engine is VLLM and budgeted is None else tokens
    running = batch if "batch" in first.given else _running(study, batch)
    if line.engine is VLLM and budgeted and budget < own:
        message = f"a step of {budget:,} tokens has no room for {own:,} requests"
        hint = "vLLM wants max-num-batched-tokens >= max-num-seqs"
        raise InputError(line.problem(budgeted.column, message, hint))
    own_running = requests_per_rank(study, running)
    sets = f"batch = {running:,}" + (f": {own_running:,} per rank" if ranks > 1 else "")
    if running < batch:
        none = first.does_not_fit and running == 1
        sets += ", not even one fits" if none else ", as many as fit; others wait"
    note("max-num-seqs", sets, f"{own:,}")
    if first.assumptions["scheduling"] == "chunked":
        each = " per rank" if ranks > 1 else ""
        left = f"chunk = {max(budget - own_running, 0):,}: what {budget:,} tokens leave beside a full batch{each}"
    elif budgeted and budgeted.value == 0:
        left = "whole prompts in a step of their own"
    else:
        left = f"{budget:,} tokens of prompts in a step of their own"
    note("max-num-batched-tokens", left, f"{budget:,}")
    if line.engine is LLAMA:
        note.inputs("micro-batch")
    return running, budget


def _running(study: Study, most: int) -> int:
    """Requests that run together: no more than fit in memory; others wait. Where none fits, one, and what it needs is said."""
    try:
        room = int(study.first.case.value("concurrency"))
    except NoValue:
        return most
    return min(max(room, 1), most)


def _warnings(made: ServedCase, assumed: bool) -> list[str]:
    """What the numbers ignore, and what the command leaves open."""
    first, found, line = made.study.first, list[str](), made.line
    method = line.flags.get("quantization")
    if method and method.value not in dict(line.engine.flag("quantization").choices):
        found.append(
            f"--quantization {method.text[:40]} is not known here: the weights are taken as the model's spec stores them; --weights says otherwise"
        )
    if first.does_not_fit:
        case = first.case
        reserved = case.value("memory_reserve") * case.value("instance_devices")
        needs = format_quantity(Fraction(case.value("memory_bytes") - reserved), "byte")
        kept = (
            f", and {format_quantity(Fraction(reserved), 'byte')} are reserved" if reserved else ""
        )
        usable = first.result("usable_memory").plain()
        found.append(
            f"not even one request of {made.requested:,} tokens fits: it needs {needs}{kept}, of {usable} usable"
        )
    if assumed:
        found.append(
            f"no workload is given: every request is assumed to have the maximum length, {made.longest:,} tokens; give --prompt and --output"
        )
    if made.longest is not None and made.requested > made.longest:
        found.append(
            f"prompt and output are {made.requested:,} tokens, more than the longest request of {made.longest:,}: vLLM refuses it or cuts it"
        )
    if made.chunked and made.budget <= requests_per_rank(made.study, made.batch):
        found.append(
            "a full batch takes the whole token budget: no prompt is prefilled while it decodes"
        )
    mixed, limit = first.get("worst_itl") or first.get("mixed_time"), first.targets.get("itl")
    if mixed and limit and made.chunked and Fraction(mixed.value) > limit:
        found.append(
            f"the longest step, which also prefills a full chunk, takes {mixed.plain()}, more than the ITL target of {format_quantity(limit, 's')}: requests that decode wait for it"
        )
    names = {w.lstrip("-").partition("=")[0].replace("_", "-") for w in made.others if w[:1] == "-"}
    found += [f"--{n} is not modelled: {why}" for n, why in NOT_MODELLED.items() if n in names]
    pairs = zip(made.others, made.others[1:], strict=False)
    layers = next((value for flag, value in pairs if flag in GPU_LAYERS), "all")
    own = sum(kind.count for kind in first.model.layers) if first.model else 0
    if layers.isdigit() and int(layers) < own:
        found.append(
            f"-ngl {layers} leaves layers on the host, which is not modelled: all are counted on the device"
        )
    return found
