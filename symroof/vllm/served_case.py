"""The case of a server's command: what each flag sets, and the engine's defaults for the rest."""

import os
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import VLLM_LINE, Request, request_of
from symroof.cases.spec_inputs import DEFAULT_PRECISION
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.checkpoint_precisions import precision_width
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import read_model
from symroof.symbolic.evaluation import NoValue
from symroof.units import format_quantity
from symroof.vllm.batch_limits import requests_per_rank, solved, with_values
from symroof.vllm.command_line import AUTO, FlagValue, ServeCommand
from symroof.vllm.engines import LLAMA, SGLANG, VLLM
from symroof.vllm.flags import NOT_MODELLED, FlagNote

ORIGIN = VLLM_LINE
CUT = {
    "n_heads": "query heads",
    "d_ff": "columns of a feed-forward",
    "d_expert": "columns of an expert",
}
"""What tensor parallelism cuts into equal parts."""
TENSOR_DEGREES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)
"""Degrees of tensor parallelism that are offered where one is refused."""
UNKNOWN = {"max_batch": 256, "token_budget": 2048}
"""What a profile without such limits is taken to have: vLLM's for small devices."""
DEFAULTS: dict[str, Any] = {"gpu-memory-utilization": Fraction(92, 100), "block-size": 16}
"""vLLM's defaults besides those of its profile."""


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
        raise UnknownModel(
            f"{name[:80]!r} is neither in the catalogue nor a path here; {catalogue.hint_for_hub_name(name)}"
        )
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
        asked: requests of all ranks that the line or the engine's default lets run at once, whether they fit or not.
        chosen: what overrides the line.
    """

    line: ServeCommand
    study: Study
    model: str
    flags: list[FlagNote]
    others: tuple[str, ...]
    longest: int | None
    batch: int
    budget: int
    asked: int
    spec: ModelSpec
    chosen: Request
    warnings: list[str]

    @property
    def chunked(self) -> bool:
        """Whether prefill is chunked."""
        written = self.line.flags.get("enable-chunked-prefill")
        return self.study.first.assumptions["scheduling"] == "chunked" and (
            written is None or bool(written.value)
        )

    @property
    def requested(self) -> int:
        """Tokens of one request, prompt and output."""
        inputs = self.study.first.given
        return int(
            sum(
                self.study.first.case.value(name) for name in ("prompt", "output") if name in inputs
            )
        )


def served_case(line: ServeCommand, chosen: Request) -> ServedCase:
    """The case of a command; ``chosen`` (device, workload, targets, any symroof input) overrides its flags.

    Raises:
        InputError: an unknown model, with its column.
    """
    flags: list[FlagNote] = []
    name = line.flags["model"].value if "model" in line.flags else ""
    model = chosen.models[0] if chosen.models else _model(line, flags)
    spec = (
        model
        if isinstance(model, ModelSpec)
        else read_model(model, chosen.base, chosen.assume_family)[0]
    )
    values: dict[str, Any] = {}
    values |= (
        _degrees(line, flags, spec)
        | _budget(line)
        | _memory(line, flags)
        | _formats(line, flags, spec)
        | _speculation(line, flags)
    )
    switches = {"scheduling": "chunked"} if line.on("mixed-chunk") else {}
    laid = request_of(
        model=[model] if isinstance(model, str) else model,
        origin=ORIGIN,
        engine=line.engine.name,
        assume=switches,
        **values,
    )
    study = Study()
    study.select(chosen.over(laid))
    laid = _windows(line).over(laid)
    study.select(chosen.over(laid))
    longest = _longest(line, flags, spec, study)
    workload: dict[str, Any] = (
        {} if "prompt" in study.first.given or longest is None else {"prompt": longest}
    )
    study.select(chosen.over(laid.over(request_of(origin=ORIGIN, **workload))))
    batch, budget, asked = _step(line, flags, study)
    own = requests_per_rank(study, batch)
    chunk: dict[str, Any] = (
        {"chunk": budget - own}
        if budget > own and study.first.assumptions["scheduling"] == "chunked"
        else {}
    )
    study.select(
        chosen.over(laid.over(request_of(origin=ORIGIN, batch=batch, **chunk, **workload)))
    )
    _switches(line, flags)
    made = ServedCase(
        line,
        study,
        name or spec.name,
        flags,
        tuple(word.text for word in line.others),
        longest,
        batch,
        budget,
        asked,
        spec,
        chosen,
        list(line.said),
    )
    made.warnings += [*_unknown(line), *_warnings(made, bool(workload))]
    return made


def _windows(line: ServeCommand) -> Request:
    """What layers with a window keep: the chunk that is being prefilled too, or the whole context where the line wants that."""
    if line.on("swa-full") or line.on("disable-hybrid-kv-cache-manager"):
        return request_of(origin=ORIGIN, assume={"window_cache": "full"})
    return (
        request_of(origin=ORIGIN, window_chunk=line.flags["micro-batch"].value)
        if "micro-batch" in line.flags
        else Request()
    )


def _unknown(line: ServeCommand) -> list[str]:
    """Values that are not known here, by name."""
    written = line.flags.get("quantization")
    known = dict(line.engine.flag("quantization").choices)
    if written is None or written.value in known:
        return []
    return [
        f"--quantization {written.text[:40]} is not known here: the weights are taken as the model's spec stores them; --weights says otherwise"
    ]


def _note_flag(
    line: ServeCommand,
    flags: list[FlagNote],
    name: str,
    sets: str,
    default: str = "",
    says: str = "",
) -> None:
    """Append a note on a flag of the command, or on its default."""
    written = line.flags.get(name)
    if written or default:
        value = (
            default
            if written is None
            else ("on" if written.value else "off")
            if isinstance(written.value, bool)
            else written.text
        )
        flags.append(
            FlagNote(
                line.engine.spelled(name) or f"--{name}",
                value,
                sets,
                says or line.engine.flag(name).says,
                written is None,
            )
        )


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
    """Parallel degrees as the engine means them.

    vLLM's data-parallel ranks are replicas of a dense model; for a model with experts they are groups of one instance that share the experts:
    distributed whole with expert parallelism, sliced over all devices without. SGLang and TensorRT-LLM have such groups inside the tensor-parallel
    devices (``--tp 8 --dp 8 --enable-dp-attention`` is eight devices); else SGLang's are copies. llama.cpp splits by layers or by rows.
    """
    if line.engine is LLAMA:
        return _split(line, flags)
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
        degrees["attention_dp"] = (
            degrees.get("attention_dp", 1) if line.engine is SGLANG else devices
        )
        if devices % degrees["attention_dp"]:
            written = line.flags.get("data-parallel-size") or line.flags["attention-dp"]
            message = (
                f"{degrees['attention_dp']} groups of attention do not share out {devices} devices"
            )
            raise InputError(
                line.problem(written.column, message, "a divisor of the tensor-parallel size")
            )
        degrees["tp"] = devices // degrees["attention_dp"]
    why = refusal(line, spec, degrees.get("tp", 1))
    if why:
        allowed = ", ".join(str(tp) for tp in TENSOR_DEGREES if not refusal(line, spec, tp))
        raise InputError(
            line.problem(
                line.flags["tensor-parallel-size"].column, why, f"it starts with {allowed}"
            )
        )
    for name, symbol in names.items():
        _note_flag(
            line, flags, name, f"{symbol} = {degrees.get(symbol, 1)}", "1" if symbol == "tp" else ""
        )
    if inside:
        _note_flag(
            line,
            flags,
            "attention-dp",
            f"attention_dp = {degrees['attention_dp']}, tp = {degrees['tp']}: {devices} devices",
        )
    if "expert-parallel-size" in line.flags and spec.experts():
        degrees["ep"] = line.flags["expert-parallel-size"].value
        _note_flag(line, flags, "expert-parallel-size", f"ep = {degrees['ep']}")
    elif line.on("enable-expert-parallel"):
        degrees["ep"] = degrees.get("tp", 1) * degrees.get(groups, 1)
        _note_flag(line, flags, "enable-expert-parallel", f"ep = {degrees['ep']}")
    elif degrees.get("attention_dp", 1) > 1 and spec.experts():
        degrees["ep"] = 1
    return degrees


def refusal(line: ServeCommand, spec: ModelSpec, tp: int) -> str:
    """Why an engine does not start with so many tensor-parallel devices; empty where it does.

    vLLM, SGLang and TensorRT-LLM cut query heads and feed-forward widths into equal parts (``verify_with_parallel_config`` and ``divide`` of vLLM); key
    and value heads may also have copies. Blocks of scales stay whole, where a spec has them: a name that ends in ``FP8`` does not say whether one scale is of a
    block or of a row. Experts that stand whole are not cut."""
    if tp == 1 or line.engine is LLAMA:
        return ""
    cut: dict[int | Fraction, str] = {}
    whole = line.on("enable-expert-parallel") or "expert-parallel-size" in line.flags
    block = (spec.quantization and spec.quantization.scale_rows) or 1
    block = 1 if block > 1 and _is_guessed(line) else block
    for kind in spec.layers:
        widths = kind.widths()
        cut |= {
            widths[name]: f"{widths[name]:,} {word}"
            for name, word in CUT.items()
            if name in widths and not (whole and name == "d_expert")
        }
        for name in ("d_ff", "d_expert"):
            if (
                name in widths
                and not (whole and name == "d_expert")
                and not widths[name] % tp
                and widths[name] // tp % block
            ):
                return f"tp {tp} cuts a feed-forward of {widths[name]:,} into {widths[name] // tp:,} each, which blocks of {block} rows with one scale do not divide"
    uneven = [said for width, said in cut.items() if width % tp]
    return (
        f"tp {tp} does not divide {' or '.join(uneven)}: {line.engine.title} refuses to start"
        if uneven
        else ""
    )


def _is_guessed(line: ServeCommand) -> bool:
    """Whether the storage of the weights is known from words of the model's name alone."""
    name = line.flags["model"].value if "model" in line.flags else ""
    match = catalogue.model_by_hub_name(name) if name else None
    return match is not None and bool(match.stored)


def _budget(line: ServeCommand) -> dict[str, Any]:
    """The tokens of one step, where the line says them: what they take in memory counts."""
    written = line.flags.get("max-num-batched-tokens")
    return (
        {"token_budget": written.value} if written and written.value else {}
    )  # 0: prompts are not cut


def _split(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    """The devices of llama.cpp: as many as shares in the split, by layers unless by rows."""
    written, mode = line.flags.get("tensor-split"), line.flags.get("split-mode")
    shares = [
        share
        for share in re.split(r"[,/;]", written.text if written else "1")
        if share.strip() not in ("", "0", "0.0")
    ]
    by = dict(line.engine.flag("split-mode").choices)[mode.value] if mode else "layer"
    count = 1 if by == "none" else max(len(shares), 1)
    symbol = "tp" if by == "row" else "pp"
    _note_flag(
        line, flags, "tensor-split", f"{symbol} = {count}", says="devices, taken as equal shares"
    )
    _note_flag(line, flags, "split-mode", f"{symbol} = {count}")
    return {symbol: count} if count > 1 else {}


def _memory(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    if line.engine is VLLM:
        share, block = _value(line, "gpu-memory-utilization"), _value(line, "block-size")
        _note_flag(
            line,
            flags,
            "gpu-memory-utilization",
            f"memory_share = {float(share):g}",
            f"{float(share):g}",
        )
        _note_flag(line, flags, "block-size", f"block_size = {block}")
        return {"memory_share": share, "block_size": block}
    values: dict[str, Any] = {}
    if "gpu-memory-utilization" in line.flags:
        values |= {"memory_share": line.flags["gpu-memory-utilization"].value, "memory_reserve": 0}
        _note_flag(
            line,
            flags,
            "gpu-memory-utilization",
            f"memory_share = {float(values['memory_share']):g}, memory_reserve = 0: activations have the rest",
        )
    if "free-memory-share" in line.flags:
        left = 1 - line.flags["free-memory-share"].value
        values["memory_reserve"] = (
            f"0.04*mem_capacity + {float(left):g}*max(0.96*mem_capacity - weight_bytes_per_device, 0 byte)"
        )
        _note_flag(line, flags, "free-memory-share", f"memory_reserve = {values['memory_reserve']}")
    if "block-size" in line.flags:
        values["block_size"] = line.flags["block-size"].value
        _note_flag(line, flags, "block-size", f"block_size = {values['block_size']}")
    return values


def _formats(line: ServeCommand, flags: list[FlagNote], spec: ModelSpec) -> dict[str, Any]:
    """Precisions: by default the checkpoint's, and an ``auto`` cache is stored like the activations."""
    formats: dict[str, Any] = {}
    dtype = _choice(line, "dtype")
    if dtype:
        formats |= {"activations": dtype} | (
            {} if spec.quantization or "quantization" in line.flags else {"weights": dtype}
        )
        _note_flag(
            line, flags, "dtype", " and ".join(f"{role} = {name}" for role, name in formats.items())
        )
    method = _choice(line, "quantization")
    if method and spec.quantization is None:
        formats["weights"] = method
        _note_flag(line, flags, "quantization", f"weights = {method}")
    elif "quantization" in line.flags:
        _note_flag(
            line,
            flags,
            "quantization",
            "weights as the model's spec stores them",
            says="the checkpoint's own format",
        )
    if line.engine is LLAMA:
        return formats | _ggml_cache(line, flags)
    own = spec.quantization.kv if spec.quantization else None
    kv = _choice(line, "kv-cache-dtype") or own or dtype or DEFAULT_PRECISION
    _note_flag(
        line,
        flags,
        "kv-cache-dtype",
        f"kv = {kv}",
        "auto",
        "as the checkpoint asks" if kv == own else "",
    )
    return formats | ({"kv": kv} if "kv-cache-dtype" in line.flags or dtype else {})


def _ggml_cache(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    """Keys and values of llama.cpp have types of their own; a cache element has the mean of their widths."""
    names = ("kv-cache-dtype", "value-cache-dtype")
    chosen = [_choice(line, name) or DEFAULT_PRECISION for name in names]
    bits = [8 * precision_width(name).bytes for name in chosen]
    kv = chosen[0] if chosen[0] == chosen[1] else f"{float(sum(bits) / 2):g} bit"
    for name in names:
        _note_flag(line, flags, name, f"kv = {kv}", "f16")
    return {"kv": kv} if any(name in line.flags for name in names) else {}


def _choice(line: ServeCommand, name: str) -> str:
    written = line.flags.get(name)
    return dict(line.engine.flag(name).choices).get(written.value, "") if written else ""


def _longest(
    line: ServeCommand, flags: list[FlagNote], spec: ModelSpec, study: Study
) -> int | None:
    written = line.flags.get("max-model-len")
    if written and written.value == AUTO:
        return _longest_that_fits(line, flags, spec, study)
    longest = written.value if written else spec.max_context
    if line.engine is LLAMA and longest and "max-num-seqs" in line.flags:
        longest = max(
            longest // line.flags["max-num-seqs"].value, 1
        )  # the slots share the cache out
    shown = (
        "requests of the model's own longest context"
        if longest
        else "requests of any length: the model's spec does not say"
    )
    _note_flag(
        line,
        flags,
        "max-model-len",
        f"prompt + output up to {longest:,}" if longest else "nothing",
        f"{longest:,}" if longest else "unknown",
        "" if written else shown,
    )
    return longest


def _longest_that_fits(
    line: ServeCommand, flags: list[FlagNote], spec: ModelSpec, study: Study
) -> int | None:
    """The longest request that fits beside the weights, no longer than the model's own."""
    limit = (
        solved(with_values(study, batch=1), "max_context_memory", "context")
        if study.first.get("usable_memory")
        else None
    )
    fitting = limit.value if limit else None
    longest = min((length for length in (fitting, spec.max_context) if length), default=None)
    shown = f"{longest:,}" if longest else "unknown"
    says = (
        "the longest request that fits"
        if fitting == longest and longest
        else "the model's own longest context"
    )
    flags.append(
        FlagNote(
            line.engine.spelled("max-model-len"),
            line.flags["max-model-len"].text,
            f"prompt + output up to {shown}",
            says,
        )
    )
    return longest


def _speculation(line: ServeCommand, flags: list[FlagNote]) -> dict[str, Any]:
    """Speculative decoding from ``--speculative-config``, given as JSON or key by key, or from flags of their own."""
    if "draft-tokens" in line.flags:
        count = max(
            line.flags["draft-tokens"].value - (line.engine is SGLANG), 1
        )  # SGLang counts the root of the tree, too
        _note_flag(
            line,
            flags,
            "draft-tokens",
            f"draft_tokens = {count}",
            says="give --set acceptance=0.7 to see whether it pays",
        )
        draft, how = (
            _draft(line.flags["draft-model"].value) if "draft-model" in line.flags else ("", "")
        )
        _note_flag(line, flags, "draft-model", how)
        return {"draft_tokens": count} | ({"draft": draft} if draft else {})
    whole = line.flags.get("speculative-config")
    config: dict[str, Any] = dict(whole.value) if whole else {}
    parts = {
        name.partition(".")[2]: written
        for name, written in line.flags.items()
        if name.startswith("speculative-config.")
    }
    config |= {key: written.value for key, written in parts.items()}
    if not config:
        return {}
    written = whole or next(iter(parts.values()))
    count = _drafted(line, written, config.get("num_speculative_tokens"))
    values: dict[str, Any] = {"draft_tokens": count} if count else {}
    sets = [
        f"draft_tokens = {count}" if count else "no draft_tokens: it says no num_speculative_tokens"
    ]
    if isinstance(config.get("model"), str) and config.get("method") in (None, "draft_model"):
        draft, how = _draft(config["model"])
        values |= {"draft": draft} if draft else {}
        sets.append(how)
    says = "give --set acceptance=0.7 to see whether it pays" + (
        "" if "draft" in values else ", and --set draft_cost=0.1 or --draft MODEL"
    )
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
    if (
        isinstance(value, bool)
        or not text.isascii()
        or not text.isdigit()
        or not 0 < int(text[:9]) <= 1000
        or len(text) > 4
    ):
        raise InputError(
            line.problem(
                written.column,
                f"num_speculative_tokens is {text[:40]!r}, not a whole number from 1 to 1,000",
                path="--speculative-config",
            )
        )
    return int(text)


def _step(line: ServeCommand, flags: list[FlagNote], study: Study) -> tuple[int, int, int]:
    """Requests that run and tokens of one step, and requests that may run, by the flags or the engine's defaults."""
    inputs = study.first.given
    ranks = int(study.first.case.value("attention_dp"))
    most, tokens = (
        int(study.first.case.value(name)) if name in inputs else own
        for name, own in UNKNOWN.items()
    )
    asked = (line.flags["max-num-seqs"].value if "max-num-seqs" in line.flags else most) * (
        1 if line.engine is SGLANG and "max-num-seqs" in line.flags else ranks
    )
    batch = int(study.first.case.value("batch")) if "batch" in inputs else max(asked, 1)
    own = requests_per_rank(study, batch)
    written = (
        line.flags["max-num-batched-tokens"].value
        if "max-num-batched-tokens" in line.flags
        else None
    )
    budget = max(tokens, own) if line.engine is VLLM and written is None else tokens
    running = batch if "batch" in inputs else _running(study, batch)
    if line.engine is VLLM and budget < own:
        column = line.flags["max-num-batched-tokens"].column
        raise InputError(
            line.problem(
                column,
                f"a step of {budget:,} tokens has no room for {own:,} requests",
                "vLLM wants max-num-batched-tokens >= max-num-seqs",
            )
        )
    own_running = requests_per_rank(study, running)
    each = f": {own_running:,} per rank" if ranks > 1 else ""
    fitting = (
        "not even one fits"
        if study.first.does_not_fit and running == 1
        else "as many as fit; others wait"
    )
    waiting = f", {fitting}" if running < batch else ""
    _note_flag(line, flags, "max-num-seqs", f"batch = {running:,}{each}{waiting}", f"{own:,}")
    if study.first.assumptions["scheduling"] == "chunked":
        left = f"chunk = {max(budget - own_running, 0):,}: what {budget:,} tokens leave beside a full batch{' per rank' * (ranks > 1)}"
    else:
        left = (
            "whole prompts in a step of their own"
            if written == 0
            else f"{budget:,} tokens of prompts in a step of their own"
        )
    _note_flag(line, flags, "max-num-batched-tokens", left, f"{budget:,}")
    if "micro-batch" in line.flags:
        _note_flag(
            line, flags, "micro-batch", f"window_chunk = {line.flags['micro-batch'].value:,}"
        )
    return running, budget, batch


def _running(study: Study, most: int) -> int:
    """Requests that run together: no more than fit in memory; others wait. Where none fits, one, and what it needs is said."""
    try:
        room = int(study.first.case.value("concurrency"))
    except NoValue:
        return most
    return min(max(room, 1), most)


def _switches(line: ServeCommand, flags: list[FlagNote]) -> None:
    if line.engine is not VLLM:
        _note_flag(line, flags, "no-prefix-caching", "cached_prefix = 0")
        _note_flag(line, flags, "mixed-chunk", "scheduling = chunked")
        _note_flag(line, flags, "swa-full", "window_cache = full")
        return
    _note_flag(line, flags, "disable-hybrid-kv-cache-manager", "window_cache = full")
    prefix = line.flags.get("enable-prefix-caching")
    if prefix is None or prefix.value:
        _note_flag(
            line,
            flags,
            "enable-prefix-caching",
            "cached_prefix stays what you give: --set cached_prefix=1024",
            "on",
        )
    chunked = line.flags.get("enable-chunked-prefill")
    whole = chunked is not None and not chunked.value
    _note_flag(
        line,
        flags,
        "enable-chunked-prefill",
        "a prompt is prefilled whole: ttft applies, chunked_ttft does not"
        if whole
        else "chunked_ttft and mixed_time apply",
        "on",
    )


def _warnings(made: ServedCase, assumed: bool) -> list[str]:
    """What the numbers ignore, and what the command leaves open."""
    warnings = []
    inputs = made.study.first.given
    if made.study.first.does_not_fit:
        answers = made.study.first
        reserved = Fraction(answers.case.value("memory_reserve")) * Fraction(
            answers.case.value("instance_devices")
        )
        needs = format_quantity(Fraction(answers.case.value("memory_bytes")) - reserved, "byte")
        kept = f", and {format_quantity(reserved, 'byte')} are reserved" if reserved else ""
        usable = answers.result("usable_memory").plain()
        warnings.append(
            f"not even one request of {made.requested:,} tokens fits: it needs {needs}{kept}, of {usable} usable"
        )
    if assumed:
        warnings.append(
            f"no workload is given: every request is assumed to have the maximum length, {made.longest:,} tokens; give --prompt and --output"
        )
    sizes = [made.study.first.case.value(name) for name in ("prompt", "output") if name in inputs]
    if made.longest is not None and sum(sizes) > made.longest:
        warnings.append(
            f"prompt and output are {int(sum(sizes)):,} tokens, more than the longest request of {made.longest:,}: vLLM refuses it or cuts it"
        )
    if made.chunked and made.budget <= requests_per_rank(made.study, made.batch):
        warnings.append(
            "a full batch takes the whole token budget: no prompt is prefilled while it decodes"
        )
    mixed, limit = (
        made.study.first.get("worst_itl") or made.study.first.get("mixed_time"),
        made.study.first.targets.get("itl"),
    )
    if mixed and limit and made.chunked and Fraction(mixed.value) > limit:
        warnings.append(
            f"the longest step, which also prefills a full chunk, takes {mixed.plain()}, more than the ITL target of {format_quantity(limit, 's')}: requests that decode wait for it"
        )
    names = {
        word.lstrip("-").partition("=")[0].replace("_", "-")
        for word in made.others
        if word.startswith("-")
    }
    warnings += [
        f"--{name} is not modelled: {why}" for name, why in NOT_MODELLED.items() if name in names
    ]
    layers = next(
        (
            made.others[i + 1]
            for i, word in enumerate(made.others[:-1])
            if word in ("-ngl", "--n-gpu-layers", "--gpu-layers")
        ),
        "all",
    )
    if layers.isdigit() and int(layers) < sum(
        kind.count for kind in (made.study.first.model.layers if made.study.first.model else ())
    ):
        warnings.append(
            f"-ngl {layers} leaves layers on the host, which is not modelled: all are counted on the device"
        )
    return warnings
