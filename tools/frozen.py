"""Answers of many cases, frozen before the engine changes and compared after it.

``python tools/frozen.py write`` stores what every command line of :func:`lines` answers, ``python tools/frozen.py`` compares:
whole numbers and words must be equal, other numbers to 1e-12 of their size. What differs is printed, and the exit code is 1.
"""

import contextlib
import gzip
import io
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STORE = Path(__file__).with_name("frozen.json.gz")
CLOSE = 1e-12
H100, H200, A100, MI300X = "h100-sxm", "h200", "a100-sxm-80gb", "mi300x"
TARGETS = ["--set", "itl_target=20 ms", "--set", "ttft_target=1 s"]


def case(model: str, hardware: str, *more: str) -> list[str]:
    """The options of a case; ``name=value`` is an option, ``name:=value`` an input, ``name?=value`` a switch."""
    options = ["--model", model, "--hardware", hardware]
    for item in more:
        for mark, option in ((":=", "--set"), ("?=", "--assume")):
            if mark in item:
                options += [option, item.replace(mark, "=")]
                break
        else:
            name, value = item.split("=", 1)
            options += [f"--{name}", value]
    return options


CASES = {
    "dense": case("llama-3-8b", H100, "prompt=4096", "output=512", "batch=32"),
    "dense-tp": case(
        "llama-3-70b", H100, "tp=8", "prompt=2048", "output=256", "batch=16", "mfu=0.5", "mbu=0.8"
    ),
    "dense-pp": case("llama-3-70b", A100, "tp=2", "pp=4", "prompt=2048", "output=256", "batch=16"),
    "dense-pp-uneven": case("llama-3-70b", A100, "pp=6", "prompt=1000", "output=100", "batch=7"),
    "dp": case(
        "llama-3-8b", H100, "dp=4", "prompt=1000", "output=100", "batch=8", "arrival_rate:=10/s"
    ),
    "load": case(
        "llama-3-8b",
        H100,
        "prompt=2000",
        "output=300",
        "batch=64",
        "chunk:=512",
        "arrival_rate:=5/s",
        "mfu=0.5",
        "mbu=0.7",
    ),
    "load-exclusive": case(
        "llama-3-8b",
        H100,
        "prompt=2000",
        "output=300",
        "batch=64",
        "arrival_rate:=2/s",
        "scheduling?=exclusive",
    ),
    "load-apart": case(
        "llama-3-8b",
        H100,
        "prompt=2000",
        "output=300",
        "batch=64",
        "arrival_rate:=2/s",
        "scheduling?=disaggregated",
        "prefill_devices:=1",
        "network_bandwidth:=50 GB/s",
    ),
    "short-prompts": case(
        "gpt-oss-20b",
        H100,
        "prompt=100",
        "output=40",
        "batch=128",
        "chunk:=1024",
        "arrival_rate:=100/s",
        "queue?=md1",
    ),
    "targets": [
        *case(
            "llama-3-8b",
            H100,
            "prompt=2000",
            "output=300",
            "batch=64",
            "chunk:=512",
            "arrival_rate:=5/s",
        ),
        *TARGETS,
    ],
    "moe": case("mixtral-8x7b", H100, "tp=2", "prompt=4096", "output=256", "batch=8"),
    "moe-all": case(
        "mixtral-8x7b", H100, "tp=2", "prompt=4096", "output=256", "batch=8", "experts?=all"
    ),
    "moe-distinct": case(
        "qwen3-30b-a3b", H200, "prompt=700", "output=33", "batch=5", "experts?=distinct_max"
    ),
    "moe-ep": case(
        "qwen3-235b-a22b", H200, "tp=8", "ep=8", "prompt=3000", "output=500", "batch=64"
    ),
    "mla": case("deepseek-v3", H200, "tp=8", "prompt=4096", "output=256", "batch=32"),
    "mla-expanded": case(
        "deepseek-v3", H200, "tp=8", "prompt=4096", "output=256", "batch=32", "mla?=expanded"
    ),
    "mla-reexpanded": case(
        "deepseek-v2-lite", H100, "prompt=1024", "output=128", "batch=4", "mla?=reexpanded"
    ),
    "attention-dp": case(
        "deepseek-v3",
        H200,
        "tp=1",
        "ep=8",
        "attention_dp:=8",
        "prompt=2000",
        "output=500",
        "batch=64",
    ),
    "windows": case("gemma-3-27b", H100, "prompt=8192", "output=1024", "batch=16"),
    "windows-cross": case(
        "gemma-2-9b", H100, "prompt=4000", "output=400", "batch=9", "roofline?=per_operator"
    ),
    "window-all": case(
        "mistral-7b", A100, "prompt=6000", "output=300", "batch=4", "kv_reserve?=unified"
    ),
    "sinks": case(
        "gpt-oss-120b", H100, "tp=2", "prompt=3000", "output=700", "batch=32", "chunk:=1000"
    ),
    "chunked-attention": case(
        "llama-4-maverick", H200, "tp=8", "prompt=12000", "output=100", "batch=8"
    ),
    "mamba": case("falcon-mamba-7b", H100, "prompt=4096", "output=512", "batch=32"),
    "hybrid": case("jamba-1.5-mini", H100, "tp=2", "prompt=8000", "output=200", "batch=8"),
    "hybrid-granite": case("granite-4.0-h-small", H100, "prompt=8000", "output=200", "batch=8"),
    "lfm": case("lfm2-8b-a1b", H100, "prompt=800", "output=200", "batch=8"),
    "mqa": case("falcon-7b", A100, "prompt=1000", "output=100", "batch=50"),
    "learned-positions": case("gpt2-xl", A100, "prompt=512", "output=128", "batch=3"),
    "tied": case("gemma-2b", A100, "prompt=512", "output=128", "batch=3", "activations=fp16"),
    "fp8": case(
        "llama-3.1-405b",
        H100,
        "tp=8",
        "weights=fp8",
        "kv=fp8",
        "prompt=1024",
        "output=128",
        "batch=4",
    ),
    "int4": case("llama-3-70b", H100, "weights=int4", "prompt=1024", "output=128", "batch=1"),
    "measured": [
        *case("llama-3-8b", H100, "prompt=1024", "output=256", "batch=8"),
        "--efficiency",
        "measured",
    ],
    "measured-moe": [
        *case("gpt-oss-120b", H100, "tp=2", "prompt=1024", "output=256", "batch=8"),
        "--efficiency",
        "measured",
    ],
    "no-overlap": case(
        "llama-3-8b", H100, "prompt=1024", "output=256", "batch=8", "roofline?=no_overlap"
    ),
    "per-operator": case(
        "llama-3-8b", H100, "prompt=1024", "output=256", "batch=8", "roofline?=per_operator"
    ),
    "full-attention": case(
        "llama-3-8b", H100, "prompt=1024", "output=256", "batch=8", "attention?=full", "logits?=all"
    ),
    "unfused": case(
        "llama-3-8b",
        H100,
        "prompt=1024",
        "output=256",
        "batch=8",
        "fusion?=unfused",
        "kv_growth?=fixed",
        "decode_steps?=output",
    ),
    "detail-weights": case(
        "llama-3-8b", H100, "prompt=1024", "output=256", "batch=8", "detail?=weights"
    ),
    "detail-kv": case("llama-3-70b", H100, "prompt=1024", "output=256", "batch=8", "detail?=kv"),
    "paged": case(
        "llama-3-8b",
        H100,
        "prompt=1030",
        "output=250",
        "batch=8",
        "kv_reserve?=paged",
        "block_size:=16",
    ),
    "prefix": case(
        "llama-3-8b", H100, "prompt=8192", "output=256", "batch=8", "cached_prefix:=6000"
    ),
    "speculation": case(
        "llama-3-70b",
        H100,
        "tp=4",
        "prompt=1024",
        "output=256",
        "batch=2",
        "draft_tokens:=4",
        "acceptance:=0.7",
        "draft_cost:=0.1",
    ),
    "draft-model": [
        *case(
            "llama-3-70b",
            H100,
            "tp=4",
            "prompt=1024",
            "output=256",
            "batch=2",
            "draft_tokens:=4",
            "acceptance:=0.7",
        ),
        "--draft",
        "llama-3.2-1b",
    ],
    "overheads": case(
        "llama-3-8b",
        H100,
        "prompt=1024",
        "output=256",
        "batch=8",
        "step_overhead:=0.5 ms",
        "kernel_launch:=4 us",
        "kernels_per_layer:=8",
    ),
    "does-not-fit": case("llama-3-70b", H100, "prompt=4096", "output=512", "batch=4"),
    "one-token": case("llama-3-8b", H100, "prompt=4096", "output=1", "batch=1"),
    "given-quantity": case("llama-3-8b", H100, "prompt=4096", "output=64", "batch=2", "itl:=14 ms"),
    "given-formula": case(
        "llama-3-8b",
        H100,
        "prompt=4096",
        "output=64",
        "batch=2",
        "mem_capacity:=weight_bytes*2 + 1 GB",
    ),
    "amd": case("llama-3.1-70b", MI300X, "tp=2", "prompt=4096", "output=512", "batch=32"),
    "range-mfu": case(
        "llama-3-8b", H100, "prompt=2048", "output=256", "batch=8", "mfu=0.4..0.6", "mbu=0.6..0.9"
    ),
    "range-tp": case("llama-3-70b", H100, "tp=4", "prompt=512..8192", "output=256", "batch=8"),
    "formula-batch": case("llama-3-8b", H100, "prompt=1024", "output=128", "batch=prompt/64"),
    "preset": [
        "--model",
        "llama-3-70b",
        "--hardware",
        H100,
        "--preset",
        "scaling-book",
        "--prompt",
        "4096",
        "--output",
        "256",
        "--batch",
        "16",
    ],
    "none": [],
}
DERIVED = (
    "itl",
    "ttft",
    "decode_time",
    "kv_cache_bytes",
    "memory_bytes_per_device",
    "sustained_itl",
    "fits",
)
SOLVED = (
    "dense",
    "dense-tp",
    "moe",
    "mla",
    "windows",
    "hybrid",
    "targets",
    "moe-all",
    "none",
    "load-exclusive",
    "per-operator",
)
THRESHOLDS = [
    "batch_to_ridge",
    "prompt_to_ridge",
    "context_beyond_ridge",
    "prompt_ttft_exceeds_decode",
    "output_decode_exceeds_ttft",
    "batch_kv_equals_weights",
    "max_batch_memory",
    "max_context_memory",
    "max_batch_itl",
    "max_prompt_ttft",
    "min_bandwidth_itl",
    "min_flops_ttft",
    "min_devices_memory",
    "max_chunk_itl",
    "max_arrival_ttft",
    "max_batch_sustained_itl",
    "attention_equals_linear",
    "useful_devices_itl",
    "batch_reads_experts",
]
EQUATIONS = (
    ("itl = 10 ms", "batch"),
    ("decode_time = 2*ttft", "prompt"),
    ("kv_cache_bytes = weight_bytes", "context"),
    ("tpot = 12 ms", "mem_bandwidth"),
)
SWEPT = ("dense", "moe", "mla", "windows", "load", "hybrid", "per-operator")


def lines() -> Iterator[tuple[str, list[str]]]:
    """Every command line by a name of its own."""
    for name, options in CASES.items():
        if name != "none":
            yield f"eval {name}", ["eval", *options, "--json"]
        if name in SOLVED:
            for threshold in THRESHOLDS:
                needs = [] if name in ("none", "targets") else TARGETS
                yield f"solve {name} {threshold}", ["solve", threshold, *options, *needs, "--json"]
            for equation, unknown in EQUATIONS:
                yield (
                    f"solve {name} {equation}",
                    ["solve", equation, "--for", unknown, *options, "--json"],
                )
            for quantity in DERIVED:
                yield f"derive {name} {quantity}", ["derive", quantity, *options, "--json"]
        if name in SWEPT:
            over = ["--over", "batch=1:64:x2", "--over", "prompt=100:20000:x3"]
            yield (
                f"sweep {name}",
                ["sweep", *_without(options, "--batch", "--prompt"), *over, "--json"],
            )
    for name in sorted(path.stem for path in (ROOT / "specs" / "claims").glob("*.yaml")):
        yield f"check {name}", ["check", str(ROOT / "specs" / "claims" / f"{name}.yaml"), "--json"]
    for name in ("llama-3-70b-chat", "llama-3-8b-chat", "qwen2.5-7b-budget"):
        study = str(ROOT / "specs" / "studies" / f"{name}.yaml")
        yield f"eval {name}", ["eval", study, "--json"]
        yield f"select {name}", ["select", study, "--json"]
    yield "diff", ["diff", *_sides(), "-q", "itl", "--json"]


def _sides() -> list[str]:
    studies = ROOT / "specs" / "studies"
    return [str(studies / "llama-3-8b-chat.yaml"), str(studies / "qwen2.5-7b-budget.yaml")]


def _without(options: list[str], *names: str) -> list[str]:
    kept, skip = [], False
    for item in options:
        if not skip and item not in names:
            kept.append(item)
        skip = item in names
    return kept


ROOT = Path(__file__).resolve().parents[1]


def answer(line: list[str]) -> Any:
    """What a command line answers: its exit code and its JSON, or its words where it has none."""
    from symroof.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line)
    try:
        said = json.loads(out.getvalue())
    except ValueError:
        said = (out.getvalue() or err.getvalue()).splitlines()[:3]
    return {"exit": code, "answer": _plain(said)}


def _plain(said: Any) -> Any:
    """Without the paths of this machine."""
    if isinstance(said, dict):
        return {key: _plain(value) for key, value in said.items()}
    if isinstance(said, list):
        return [_plain(value) for value in said]
    return said.replace(str(ROOT), ".") if isinstance(said, str) else said


KNOWN = {
    "solve load-exclusive max_arrival_ttft": "the answer frozen, 31.6 a second, lies beyond the 13.2 that the server keeps up with; it is never, up to there",
    "solve none min_devices_memory": "without a case nothing is put in: the answer depends on its conditions",
    "solve none attention_equals_linear": "the same",
    "eval measured-moe": "six measured ranges end together: a label that needs corners apart from that is not possible",
}
"""Answers that differ from those frozen, and why that is right."""

FORMULAS = {
    "text",
    "latex",
    "steps",
    "where",
    "conditions",
    "definition",
    "expanded",
    "substituted",
    "branches",
    "reason",
}
"""How a formula is written may change; its value may not."""


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Where two answers differ; keys that are new are no difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key in FORMULAS:
                continue
            if key not in new:
                yield f"{path}.{key}: gone"
            else:
                yield from differences(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries, now {len(new)}"
        for i, (a, b) in enumerate(zip(old, new, strict=False)):
            yield from differences(a, b, f"{path}[{i}]")
    elif isinstance(old, float) and isinstance(new, (int, float)):
        if not (math.isclose(old, new, rel_tol=CLOSE) or (math.isnan(old) and math.isnan(new))):
            yield f"{path}: {old!r}, now {new!r}"
    elif old != new:
        yield f"{path}: {old!r}, now {new!r}"[:300]


def main(args: list[str]) -> int:
    """Write the store, or compare with it; words behind that choose the lines that contain one of them."""
    writing = args[:1] == ["write"]
    words = args[1:] if writing else args
    chosen = {
        name: line for name, line in lines() if not words or any(word in name for word in words)
    }
    stored = json.loads(gzip.decompress(STORE.read_bytes())) if STORE.exists() else {}
    changed, start = 0, time.process_time()
    for name, line in chosen.items():
        said = answer(line)
        if writing:
            stored[name] = said
            continue
        found = list(differences(stored.get(name), said))
        changed += bool(found) and name not in KNOWN
        if found:
            print(
                f"{name}: {len(found)} differences{', as known: ' + KNOWN[name] if name in KNOWN else ''}",
                *found[:3],
                sep="\n    ",
            )
    if writing:
        STORE.write_bytes(gzip.compress(json.dumps(stored, sort_keys=True).encode(), mtime=0))
    print(
        f"{len(chosen)} command lines, {changed} differ, {time.process_time() - start:.0f} s of processor time"
    )
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
