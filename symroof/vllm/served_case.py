"""The case of a server's command: what its flags set, the engine's defaults for the rest, and what is wrong with it."""

import itertools
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import VLLM_LINE, Request, request_of
from symroof.errors import InputError
from symroof.specs.engine_profile import engine_profile
from symroof.specs.model import ModelSpec
from symroof.specs.spec_files import read_spec
from symroof.units import format_quantity
from symroof.vllm.command_line import ServeCommand
from symroof.vllm.engines import CONTEXT_DEGREES, LLAMA, NOT_MODELLED, SGLANG, VLLM
from symroof.vllm.served_flags import (
    BatchLimit,
    FlagNote,
    Notes,
    degrees_of,
    formats_of,
    longest_of,
    memory_of,
    model_of,
    solved,
    speculation_of,
    with_values,
)


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
        assumed: the length that every request is taken to have; empty where a workload is given.
    """

    line: ServeCommand
    study: Study
    flags: list[FlagNote]
    longest: int | None
    batch: int
    budget: int
    spec: ModelSpec
    chosen: Request
    assumed: str
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


def served_case(line: ServeCommand, chosen: Request) -> ServedCase:
    """The case of a command; ``chosen`` (device, workload, targets, any symroof input) overrides its flags.

    Raises:
        InputError: an unknown model, with its column.
    """
    tag = re.search(r"/.*:v?(\d+(?:\.\d+)+)", " ".join(line.before[-1:]))  # of an image
    engine = f"{line.engine.name}@{tag[1]}" if tag else line.engine.name
    note = Notes(line, engine_profile(chosen.engine or engine))
    model: Any = chosen.models[0] if chosen.models else model_of(note)
    spec = model
    if not isinstance(model, ModelSpec):
        spec, model = read_spec("models", model, chosen.base, chosen.assume_family)[0], [model]
    values = degrees_of(note, spec) | memory_of(note)
    values |= formats_of(note, spec) | speculation_of(note)
    switches = {"scheduling": "chunked"} if line.on("mixed-chunk") else {}
    laid = request_of(model, origin=VLLM_LINE, engine=engine, assume=switches, **values)
    study = Study()

    def add(**more: Any) -> None:
        """Lay more below what was chosen."""
        nonlocal laid
        laid = request_of(origin=VLLM_LINE, **more).over(laid)
        study.select(chosen.over(laid))

    add()
    if line.on("swa-full") or line.on("disable-hybrid-kv-cache-manager"):
        add(assume={"window_cache": "full"})
    elif "micro-batch" in line.flags:  # of what is prefilled layers with a window keep as much
        add(window_chunk=line.flags["micro-batch"].value)
    longest = longest_of(note, spec, study)
    assumed = ""
    if "prompt" not in study.first.given and longest is not None:
        assumed = f"without --prompt and --output every request is taken to have the maximum length, {longest:,} tokens: give them first"
        add(prompt=longest)
    batch, budget, most = _step(note, study)
    left = budget - requests_per_rank(study, batch)
    chunked = left > 0 and study.first.assumptions["scheduling"] == "chunked"
    add(batch=batch, **({"chunk": left} if chunked else {}))
    note.switches()
    found = longest, batch, budget, spec, chosen, assumed
    made = ServedCase(line, study, note, *found, list(line.said))
    if batch > most:
        made.warnings.append(
            f"{batch:,} users are more than the {most:,} requests that max-num-seqs lets run: the others queue, which the figures as given leave out"
        )
    elif batch < most and "max-num-seqs" in line.flags and not study.first.does_not_fit:
        fit = f"only {batch:,} of {most:,} requests fit in memory at once; the others wait"
        made.warnings.append(f"as given: {fit}")
    made.warnings += _warnings(made)
    return made


def _step(note: Notes, study: Study) -> tuple[int, int, int]:
    """Requests that run, tokens of one step, and the requests that may run, by the flags or the engine's defaults."""
    line, first = note.line, study.first
    ranks = int(first.case.value("attention_dp"))
    usual = {"max_batch": 256, "token_budget": 2048}  # vLLM's for small devices
    most, tokens = (int(first.case.value(n)) if n in first.given else usual[n] for n in usual)
    limit, budgeted = line.flags.get("max-num-seqs"), line.flags.get("max-num-batched-tokens")
    of_all = line.engine is SGLANG and limit  # whose limit is of all groups
    asked = max((limit.value if limit else most) * (1 if of_all else ranks), 1)
    batch = int(first.case.value("batch")) if first.chosen("batch") else asked
    own = requests_per_rank(study, batch)
    budget = max(tokens, own) if line.engine is VLLM and budgeted is None else tokens
    room = None if first.chosen("batch") else first.get("concurrency")
    # no more than fit in memory; where none fits, one, and what it needs is said
    running = min(max(int(room.value), 1), batch) if room else batch
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
    return running, budget, asked


def _warnings(made: ServedCase) -> list[str]:
    """What the numbers ignore, and what the command leaves open."""
    first, found, line = made.study.first, list[str](), made.line
    method = line.flags.get("quantization")
    if method and method.value not in dict(line.engine.flag("quantization").choices):
        found.append(
            f"--quantization {method.text[:40]} is not known here: the weights are taken as the model's spec stores them; --weights says otherwise"
        )
    stored, chosen = made.spec.quantization, made.chosen.precision.get("weights")
    if stored and chosen and first.precisions["weights"] != stored.method:
        found.append(
            f"the checkpoint of the command is stored as {stored.method}, which no flag changes: weights in {chosen[0]} need another one"
        )
    if first.does_not_fit:
        case = first.case
        reserved = case.value("memory_reserve") * case.value("instance_devices")
        needs = format_quantity(Fraction(case.value("memory_bytes") - reserved), "byte")
        held = format_quantity(Fraction(reserved), "byte")
        kept = f", and {held} are reserved" if reserved else ""
        usable = first.result("usable_memory").plain()
        found.append(
            f"not even one request of {made.requested:,} tokens fits: it needs {needs}{kept}, of {usable} usable"
        )
    if made.longest is not None and made.requested > made.longest:
        found.append(
            f"prompt and output are {made.requested:,} tokens, more than the longest request of {made.longest:,}: vLLM refuses it or cuts it"
        )
    if made.chunked and made.budget <= requests_per_rank(made.study, made.batch):
        full = "a full batch takes the whole token budget: no prompt is prefilled while it decodes"
        found.append(full)
    mixed, limit = first.get("worst_itl") or first.get("mixed_time"), first.targets.get("itl")
    if mixed and limit and made.chunked and Fraction(mixed.value) > limit:
        found.append(
            f"a step with a full prefill chunk takes {mixed.plain()}, above the ITL target of {format_quantity(limit, 's')}: decoding requests stall that long"
        )
    words = [part for word in line.others for part in word.split("=", 1)]
    pairs = itertools.zip_longest(words, words[1:], fillvalue="")
    values = {flag.lstrip("-").replace("_", "-"): x for flag, x in pairs if flag[:1] == "-"}
    for name, why in NOT_MODELLED.items():
        if name in values and (values[name] != "1" or name not in CONTEXT_DEGREES):
            found.append(f"--{name} is not modelled: {why}")
    written = (values[x] for x in ("ngl", "n-gpu-layers", "gpu-layers") if x in values)
    layers = next(written, "all")
    own = sum(kind.count for kind in first.model.layers) if first.model else 0
    if layers.isdigit() and int(layers) < own:
        found.append(
            f"-ngl {layers} leaves layers on the host, which is not modelled: all are counted on the device"
        )
    return found


def requests_per_rank(study: Study, batch: int) -> int:
    """Requests of one rank: vLLM counts max-num-seqs and max-num-batched-tokens per rank."""
    return -(-batch // int(study.first.case.value("attention_dp")))


def batch_limits(study: Study) -> list[BatchLimit]:
    """Limits of the batch: memory, the ITL target with and without prefills, the ridge."""
    limits = [solved(study, "max_batch_memory", "batch"), solved(study, "batch_to_ridge", "batch")]
    if "itl_target" in study.first.given:
        named = ("max_batch_itl", "max_batch_sustained_itl")
        limits += [solved(study, name, "batch") for name in named]
    return [limit for limit in limits if limit]


def chunk_limits(study: Study) -> list[BatchLimit]:
    """Limits of the chunk beside a full batch at its slowest step: every request at its last token, the chunk at the end of its prompt."""
    case, values = study.first.case, {}
    if study.first.get("peak_context"):
        values["context"] = case.value("peak_context")
    if "prompt" in study.first.given:  # a range counts with the whole number below its middle
        values["chunk_past"] = Fraction(math.floor(case.value("prompt")))
    late = with_values(study, **values)
    limits = [
        solved(late, "max_chunk_itl", "chunk") if "itl_target" in study.first.given else None,
        solved(late, "free_chunk", "chunk"),
    ]
    return [limit for limit in limits if limit]
