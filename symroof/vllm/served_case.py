"""The case of a ``vllm serve`` command: what each flag sets, and vLLM's defaults for the rest."""

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import VLLM_LINE, Request, request_of
from symroof.cases.spec_values import DEFAULT_PRECISION
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.specs import catalogue
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import read_model
from symroof.units import format_quantity
from symroof.vllm.command_line import FlagValue, ServeCommand
from symroof.vllm.flags import FLAGS, NOT_MODELLED, FlagNote

ORIGIN = VLLM_LINE
LARGE_MEMORY = 70 * 2**30
DEFAULTS: dict[str, Any] = {"gpu-memory-utilization": Fraction(92, 100), "block-size": 16}
"""vLLM's defaults. Those of batch and budget depend on the device's memory."""


class UnknownModel(ValueError):
    """An unknown model; the message ends with a hint."""


def resolve_model(name: str) -> tuple[str, str]:
    """The ``--model`` argument of symroof for the model of a command, and its origin.

    >>> resolve_model("meta-llama/Llama-3.1-8B-Instruct")
    ('meta-llama/Llama-3.1-8B-Instruct', "the catalogue's llama-3.1-8b")

    Raises:
        UnknownModel: neither a path nor a model of the catalogue.
    """
    if os.path.exists(name):
        return (name if catalogue.is_path(name) else os.path.join(".", name)), "read from this path"
    if catalogue.has_entry("models", name):
        return name.lower(), f"the catalogue's {name.lower()}"
    match = catalogue.model_by_hub_name(name)
    if match is None:
        raise UnknownModel(f"{name[:80]!r} is neither in the catalogue nor a path here; {catalogue.hint_for_hub_name(name)}")
    said = [f"stored as its name says: {match.stored_word}" if match.stored else "", match.remark()]
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
    """

    line: ServeCommand
    study: Study
    model: str
    flags: list[FlagNote]
    others: tuple[str, ...]
    longest: int | None
    batch: int
    budget: int
    warnings: list[str]

    @property
    def chunked(self) -> bool:
        """Whether prefill is chunked."""
        written = self.line.flags.get("enable-chunked-prefill")
        return written is None or bool(written.value)


def served_case(line: ServeCommand, chosen: Request) -> ServedCase:
    """The case of a command; ``chosen`` (device, workload, targets, any symroof input) overrides its flags.

    Raises:
        InputError: an unknown model, with its column.
    """
    flags: list[FlagNote] = []
    name = line.flags["model"].value if "model" in line.flags else ""
    model = chosen.models[0] if chosen.models else _model(line, flags)
    spec = model if isinstance(model, ModelSpec) else read_model(model, chosen.base, chosen.assume_family)[0]
    values: dict[str, Any] = {}
    values |= _degrees(line, flags, spec) | _memory(line, flags) | _formats(line, flags, spec) | _speculation(line, flags)
    longest = _longest(line, flags, spec)
    laid = request_of(model=[model] if isinstance(model, str) else model, origin=ORIGIN, **values).over(Request(efficiency="measured"))
    study = Study()
    study.select(chosen.over(laid))
    workload: dict[str, Any] = {} if "prompt" in study.first.given or longest is None else {"prompt": longest}
    study.select(chosen.over(laid.over(request_of(origin=ORIGIN, **workload))))
    batch, budget = _step(line, flags, study)
    own = requests_per_rank(study, batch)
    chunk: dict[str, Any] = {"chunk": budget - own} if budget > own else {}
    study.select(chosen.over(laid.over(request_of(origin=ORIGIN, batch=batch, **chunk, **workload))))
    _switches(line, flags)
    made = ServedCase(line, study, name or spec.name, flags, tuple(word.text for word in line.others), longest, batch, budget, [])
    made.warnings += _warnings(made, bool(workload))
    return made


def _note_flag(line: ServeCommand, flags: list[FlagNote], name: str, sets: str, default: str = "", says: str = "") -> None:
    """Append a note on a flag of the command, or on its default."""
    written = line.flags.get(name)
    if written or default:
        value = default if written is None else ("on" if written.value else "off") if isinstance(written.value, bool) else written.text
        flags.append(FlagNote(f"--{name}", value, sets, says or FLAGS[name].says, written is None))


def _value(line: ServeCommand, name: str) -> Any:
    written = line.flags.get(name)
    return DEFAULTS.get(name) if written is None else written.value


def _model(line: ServeCommand, flags: list[FlagNote]) -> str:
    written = line.flags["model"]
    try:
        model, how = resolve_model(written.value)
    except UnknownModel as error:
        message, _, hint = str(error).partition("; ")
        raise InputError(line.problem(written.column, message, hint, "model")) from None
    flags.append(FlagNote("model", written.value, f"model = {model}", how))
    return model


def _degrees(line: ServeCommand, flags: list[FlagNote], spec: ModelSpec) -> dict[str, Any]:
    """Parallel degrees. Data-parallel ranks are replicas of a dense model. For a model with experts they are groups of one
    instance that share the experts: distributed whole with expert parallelism, sliced over all devices without."""
    groups = "attention_dp" if spec.experts() else "dp"
    names = {"tensor-parallel-size": "tp", "pipeline-parallel-size": "pp", "data-parallel-size": groups}
    degrees: dict[str, Any] = {symbol: line.flags[name].value for name, symbol in names.items() if name in line.flags}
    for name, symbol in names.items():
        _note_flag(line, flags, name, f"{symbol} = {degrees.get(symbol, 1)}", "1" if symbol == "tp" else "")
    if "enable-expert-parallel" in line.flags and line.flags["enable-expert-parallel"].value:
        degrees["ep"] = degrees.get("tp", 1) * degrees.get(groups, 1)
        _note_flag(line, flags, "enable-expert-parallel", f"ep = {degrees['ep']}")
    elif degrees.get("attention_dp", 1) > 1:
        degrees["ep"] = 1
    return degrees


def _memory(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    share, block = _value(line, "gpu-memory-utilization"), _value(line, "block-size")
    _note_flag(line, flags, "gpu-memory-utilization", f"memory_share = {float(share):g}", f"{float(share):g}")
    _note_flag(line, flags, "block-size", f"block_size = {block}")
    return {"memory_share": share, "block_size": block}


def _formats(line: ServeCommand, flags: list[FlagNote], spec: ModelSpec) -> dict[str, Any]:
    """Precisions: by default the checkpoint's, and an ``auto`` cache is stored like the activations."""
    formats: dict[str, Any] = {}
    dtype = _choice(line, "dtype")
    if dtype:
        formats |= {"activations": dtype} | ({} if spec.quantization or "quantization" in line.flags else {"weights": dtype})
        _note_flag(line, flags, "dtype", " and ".join(f"{role} = {name}" for role, name in formats.items()))
    method = _choice(line, "quantization")
    if method and spec.quantization is None:
        formats |= {"weights": method} | ({"activations": method} if method == "fp8" else {})
        both = "weights and activations = fp8: products run at the fp8 peak" if method == "fp8" else f"weights = {method}"
        _note_flag(line, flags, "quantization", both)
    elif "quantization" in line.flags:
        _note_flag(line, flags, "quantization", "weights as the model's spec stores them", says="the checkpoint's own format")
    kv = _choice(line, "kv-cache-dtype") or dtype or DEFAULT_PRECISION
    _note_flag(line, flags, "kv-cache-dtype", f"kv = {kv}", "auto")
    return formats | ({"kv": kv} if "kv-cache-dtype" in line.flags or dtype else {})


def _choice(line: ServeCommand, name: str) -> str:
    written = line.flags.get(name)
    return dict(FLAGS[name].choices)[written.value] if written else ""


def _longest(line: ServeCommand, flags: list[FlagNote], spec: ModelSpec) -> int | None:
    written = line.flags.get("max-model-len")
    longest = written.value if written else spec.max_context
    shown = "requests of the model's own longest context" if longest else "requests of any length: the model's spec does not say"
    _note_flag(
        line,
        flags,
        "max-model-len",
        f"prompt + output up to {longest:,}" if longest else "nothing",
        f"{longest:,}" if longest else "unknown",
        "" if written else shown,
    )
    return longest


def _speculation(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    """Speculative decoding from ``--speculative-config``, given as JSON or key by key."""
    whole = line.flags.get("speculative-config")
    config: dict[str, Any] = dict(whole.value) if whole else {}
    parts = {name.partition(".")[2]: written for name, written in line.flags.items() if name.startswith("speculative-config.")}
    config |= {key: written.value for key, written in parts.items()}
    if not config:
        return {}
    written = whole or next(iter(parts.values()))
    count = _drafted(line, written, config.get("num_speculative_tokens"))
    values: dict[str, Any] = {"draft_tokens": count} if count else {}
    sets = [f"draft_tokens = {count}" if count else "no draft_tokens: it says no num_speculative_tokens"]
    if isinstance(config.get("model"), str) and config.get("method") in (None, "draft_model"):
        draft, how = _draft(config["model"])
        values |= {"draft": draft} if draft else {}
        sets.append(how)
    says = "give --set acceptance=0.7 to see whether it pays" + ("" if "draft" in values else ", and --set draft_cost=0.1 or --draft MODEL")
    flags.append(FlagNote("--speculative-config", written.text[:60], ", ".join(sets), says))
    return values


def _draft(name: str) -> tuple[str, str]:
    """The draft model by its hub name; an unknown one is noted and left out."""
    try:
        draft, _ = resolve_model(name)
    except UnknownModel:
        return "", f"no draft: {name[:60]!r} is neither in the catalogue nor a path here"
    return draft, f"draft = {draft}"


def _drafted(line: ServeCommand, written: FlagValue, value: Any) -> int:
    """The number of drafted tokens; 0 if not given.

    Raises:
        InputError: it is not a whole number from 1 to 1,000.
    """
    if value is None:
        return 0
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= 1000 or len(text) > 4:
        raise InputError(
            line.problem(written.column, f"num_speculative_tokens is {text[:40]!r}, not a whole number from 1 to 1,000", path="--speculative-config")
        )
    return int(text)


def _step(line: ServeCommand, flags: list[FlagNote], study: Study) -> tuple[int, int]:
    """Requests and tokens of one step; vLLM's defaults depend on the device's memory (an A100 counts as small)."""
    inputs = study.first.given
    device = study.first.hardware
    capacity = study.first.case.value("mem_capacity") if "mem_capacity" in inputs else Fraction(0)
    large = capacity >= LARGE_MEMORY and not (device and device.name.startswith("a100"))
    ranks = int(study.first.case.value("attention_dp"))
    batch = int(study.first.case.value("batch")) if "batch" in inputs else ranks * (_value(line, "max-num-seqs") or (1024 if large else 256))
    own = requests_per_rank(study, batch)
    budget = _value(line, "max-num-batched-tokens") or max(8192 if large else 2048, own)
    running = batch if "batch" in inputs else _running(study, batch)
    if budget < own:
        column = line.flags["max-num-batched-tokens"].column
        raise InputError(
            line.problem(column, f"a step of {budget:,} tokens has no room for {own:,} requests", "vLLM wants max-num-batched-tokens >= max-num-seqs")
        )
    own_running = requests_per_rank(study, running)
    each = f": {own_running:,} per rank" if ranks > 1 else ""
    _note_flag(line, flags, "max-num-seqs", f"batch = {running:,}{each}" + (", as many as fit; others wait" if running < batch else ""), f"{own:,}")
    left = f"chunk = {budget - own_running:,}: what {budget:,} tokens leave beside a full batch{' per rank' * (ranks > 1)}"
    _note_flag(line, flags, "max-num-batched-tokens", left, f"{budget:,}")
    return running, budget


def _running(study: Study, most: int) -> int:
    """Requests that run together: no more than fit in memory; others wait. If none fits, the batch is left unchanged."""
    try:
        room = int(study.first.case.value("concurrency"))
    except NoValue:
        return most
    return room if 1 <= room < most else most


def requests_per_rank(study: Study, batch: int) -> int:
    """Requests of one rank: vLLM counts max-num-seqs and max-num-batched-tokens per rank."""
    return -(-batch // int(study.first.case.value("attention_dp")))


def _switches(line: ServeCommand, flags: list[FlagNote]) -> None:
    prefix = line.flags.get("enable-prefix-caching")
    if prefix is None or prefix.value:
        _note_flag(line, flags, "enable-prefix-caching", "cached_prefix stays what you give: --set cached_prefix=1024", "on")
    chunked = line.flags.get("enable-chunked-prefill")
    whole = chunked is not None and not chunked.value
    _note_flag(
        line,
        flags,
        "enable-chunked-prefill",
        "a prompt is prefilled whole: ttft applies, chunked_ttft does not" if whole else "chunked_ttft and mixed_time apply",
        "on",
    )


def _warnings(made: ServedCase, assumed: bool) -> list[str]:
    """What the numbers ignore, and what the command leaves open."""
    warnings = []
    inputs = made.study.first.given
    if assumed:
        warnings.append(f"no workload is given: every request is assumed to have the maximum length, {made.longest:,} tokens; give --prompt and --output")
    sizes = [made.study.first.case.value(name) for name in ("prompt", "output") if name in inputs]
    if made.longest is not None and sum(sizes) > made.longest:
        warnings.append(f"prompt and output are {int(sum(sizes)):,} tokens, more than the longest request of {made.longest:,}: vLLM refuses it or cuts it")
    if made.budget <= requests_per_rank(made.study, made.batch):
        warnings.append("a full batch takes the whole token budget: no prompt is prefilled while it decodes")
    mixed, limit = made.study.first.get("mixed_time"), made.study.first.targets.get("itl")
    if mixed and limit and made.chunked and Fraction(mixed.value) > limit:
        warnings.append(
            f"a decode step that also prefills a full chunk takes {mixed.plain()}, more than the ITL target of {format_quantity(limit, 's')}: requests that decode wait for it"
        )
    if "long_share" in inputs:
        warnings.append("a mix of requests is ignored: every request is assumed to have the given prompt and output; `symroof select` supports mixes")
    if "memory_reserve" not in inputs:
        warnings.append("activations and CUDA graphs take memory that is not counted: --set memory_reserve='4 GB' does")
    names = {word.lstrip("-").partition("=")[0].replace("_", "-") for word in made.others if word.startswith("-")}
    warnings += [f"--{name} is not modelled: {why}" for name, why in NOT_MODELLED.items() if name in names]
    return warnings
