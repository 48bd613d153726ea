"""Lines of servers as they are written: that of a purchase, and a given one with other flags."""

import math
import re
import shlex
from collections.abc import Mapping

from symroof.select.purchase import Purchase
from symroof.select.search_space import DEGREES
from symroof.specs import catalogue
from symroof.specs.catalogue import HUB
from symroof.vllm.command_line import VARIABLE
from symroof.vllm.engines import LLAMA, SGLANG, TRTLLM, VLLM, Engine, engine_of_image
from symroof.vllm.served_case import ServedCase

TOGETHER = (
    "tensor-parallel-size",
    "data-parallel-size",
    "enable-expert-parallel",
    "expert-parallel-size",
    "attention-dp",
)
"""Flags of a layout: those that a recommended one does not have are left out."""
TRANSFER = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
"""How instances that only prefill hand their caches over, https://docs.vllm.ai/en/stable/features/nixl_connector_usage.html."""


def layout_flags(one: Purchase, engine: Engine, copies: int = 1) -> dict[str, str]:
    """The flags that say the layout, the largest batch and the tokens of a step, by the names here; a switch has no value.

    ``copies``: of the model, in one line.
    """
    ranks, found = one.parallel["attention_dp"], _degree_flags(one.parallel, engine, copies)
    each = 1 if engine is SGLANG else ranks  # whose largest batch is of all groups
    found["max-num-seqs"] = str(math.ceil(one.batch / each))
    if one.chunk is not None:
        decoded = float(one.case.case.value("decoded_tokens")) * one.batch
        found["max-num-batched-tokens"] = str(math.ceil((one.chunk + decoded) / ranks))
    return found


def _degree_flags(degrees: Mapping[str, int], engine: Engine, copies: int = 1) -> dict[str, str]:
    """The flags of an instance's degrees. vLLM counts ranks beside its tensor-parallel devices, SGLang and TensorRT-LLM inside them; llama.cpp lays out by shares, which stay."""
    if engine is LLAMA:
        return {}
    tp, ranks, ep = (degrees[name] for name in ("tp", "attention_dp", "ep"))
    inside = engine in (SGLANG, TRTLLM)
    found = {"tensor-parallel-size": str(tp * ranks if inside else tp)}
    if ranks * copies > 1 and engine is not TRTLLM:
        found["data-parallel-size"] = str(ranks * copies)
    if ranks > 1 and inside:
        found["attention-dp"] = ""
    if ep > 1:
        found |= {"expert-parallel-size": str(ep)} if inside else {"enable-expert-parallel": ""}
    return found


def serve_command(one: Purchase | None) -> str | None:
    """``vllm serve …`` of an instance that decodes; None of other engines, and without a model.

    >>> from symroof.analysis.study import Study
    >>> from symroof.select.recommend import recommend
    >>> serve_command(recommend(Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, batch=64, chunk=2048)).pick)
    'vllm serve meta-llama/Llama-3.1-8B --max-num-seqs 64 --max-num-batched-tokens 2112'
    """
    return _vllm_line(one, one.parallel, layout_flags(one, VLLM)) if one else None


def prefill_command(one: Purchase | None) -> str | None:
    """The same of an instance that only prefills; None where none does."""
    if one is None or one.prefill is None:
        return None
    degrees = {name: one.prefill.get(name, 1) for name in DEGREES}
    return _vllm_line(one, degrees, _degree_flags(degrees, VLLM))


def _vllm_line(one: Purchase, degrees: Mapping[str, int], layout: Mapping[str, str]) -> str | None:
    """``vllm serve`` of the model of a purchase in its precisions, with the degrees and the flags of a layout."""
    case = one.case
    if not (case.model and case.engine and case.engine.spec.name == VLLM.name):
        return None
    flags: dict[str, str] = {}
    if case.precisions.get("weights") == "fp8" and case.model.quantization is None:
        flags["quantization"] = "fp8"
    if case.precisions.get("kv") == "fp8":
        flags["kv-cache-dtype"] = "fp8"
    if degrees["pp"] > 1:
        flags["pipeline-parallel-size"] = str(degrees["pp"])
    flags |= {k: v for k, v in layout.items() if (k, v) != ("tensor-parallel-size", "1")}
    apart = ["--kv-transfer-config", TRANSFER] if len(one.group) > 1 else []
    return shlex.join(["vllm", "serve", _served_name(one), *_words(flags, VLLM), *apart])


def _served_name(one: Purchase) -> str:
    """The model as it is named, or by its address on the hub."""
    model, asked = one.case.model, one.own.request.models
    assert model
    named = asked[0] if asked and isinstance(asked[0], str) else model.name
    address = (model.source and model.source.address) or ""
    if "/" not in named and address.startswith(HUB):
        owner, _, repo = address.removeprefix(HUB).strip("/").rpartition("/")
        stem = repo.partition("-")[0]
        if named.replace("-", "") in model.name.replace("-", ""):
            return f"{owner}/{repo}"
        if named.startswith(f"{stem.lower()}-"):  # deepseek-r1 has the shape of DeepSeek-V3
            return f"{owner}/{stem}{named[len(stem) :].title()}"
    return named


def recommended_line(served: ServedCase, chosen: Mapping[str, str]) -> str:
    """The command with some flags chosen, each flag once."""
    line, engine = served.line, served.line.engine
    flags = dict(chosen)
    if engine is LLAMA:  # whose slots share the cache out
        flags["max-model-len"] = str(served.requested * int(chosen["max-num-seqs"]))
    named = line.flags["model"].value
    model = [engine.model_flag] if engine.model_flag else []
    if line.before and engine_of_image(line.before[-1]) is not None:
        model = ["--model"]  # older images take none without its flag
    elif engine is LLAMA and catalogue.model_by_hub_name(named) is not None:
        model = ["-hf"]
    kept = {
        name: "" if written.value is True else written.text
        for name, written in line.flags.items()
        if name not in ("model", "config", *TOGETHER, *flags) and written.value is not False
    }
    off = [
        f"--no-{name}"
        for name, written in line.flags.items()
        if written.value is False and name not in TOGETHER
    ]
    words = [*line.before, *model, str(named), *_words(kept | flags, engine), *off, *line.others]
    return " ".join(map(_quoted, words))


def _words(flags: Mapping[str, str], engine: Engine) -> list[str]:
    """Flags as the engine spells them; those that it does not have are left out."""
    spelled = {name: engine.spelled(name) for name in flags}
    return [
        word
        for name, value in flags.items()
        if spelled[name]
        for word in (spelled[name], value)
        if word
    ]


def _quoted(word: str) -> str:
    """A word as a shell takes it, with its variables and its home open."""
    if re.fullmatch(r"~/[\w./:=,@%+-]*", word):
        return word
    plain = VARIABLE.search(word) and not re.search(r"""[\s"'`\\!]""", word)
    return f'"{word}"' if plain else shlex.quote(word)
