"""The command lines with a golden answer, each by a name of its own."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from ..tables import table, words

ROOT = Path(__file__).resolve().parents[2]
EFFICIENCIES = ("peak", "measured")
H100, H200, A100 = "h100-sxm", "h200", "a100-sxm-80gb"
TARGETS = ["--set", "itl_target=20 ms", "--set", "ttft_target=1 s"]


def case(text: str) -> list[str]:
    """The options of a case: model, hardware, then ``name=value`` for an option, ``name:=value`` for an input, ``name?=value`` for a switch."""
    model, hardware, *more = shlex.split(text)
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


LOAD = "llama-3-8b h100-sxm prompt=2000 output=300 batch=64"
SMALL = "llama-3-8b h100-sxm prompt=1024 output=256 batch=8"
DRAFTED = "llama-3-70b h100-sxm tp=4 prompt=1024 output=256 batch=2 draft_tokens:=4 acceptance:=0.7"
SHORTS = "gpt-oss-20b h100-sxm prompt=100 output=40 batch=128"
TWO = "llama-3-8b h100-sxm prompt=4096 output=64 batch=2"
ELSEWHERE = "prefill_devices:=1 network_bandwidth:='50 GB/s'"
WRITTEN = f"""
dense | llama-3-8b h100-sxm prompt=4096 output=512 batch=32
dense-tp | llama-3-70b h100-sxm tp=8 prompt=2048 output=256 batch=16 mfu=0.5 mbu=0.8
dense-pp | llama-3-70b a100-sxm-80gb tp=2 pp=4 prompt=2048 output=256 batch=16
dense-pp-uneven | llama-3-70b a100-sxm-80gb pp=6 prompt=1000 output=100 batch=7
dp | llama-3-8b h100-sxm dp=4 prompt=1000 output=100 batch=8 arrival_rate:=10/s
load | {LOAD} chunk:=512 arrival_rate:=5/s mfu=0.5 mbu=0.7
load-exclusive | {LOAD} arrival_rate:=2/s scheduling?=exclusive
load-apart | {LOAD} arrival_rate:=2/s scheduling?=disaggregated {ELSEWHERE}
short-prompts | {SHORTS} chunk:=1024 arrival_rate:=100/s queue?=md1
targets | {LOAD} chunk:=512 arrival_rate:=5/s itl_target:='20 ms' ttft_target:='1 s'
moe | mixtral-8x7b h100-sxm tp=2 prompt=4096 output=256 batch=8
moe-all | mixtral-8x7b h100-sxm tp=2 prompt=4096 output=256 batch=8 experts?=all
moe-distinct | qwen3-30b-a3b h200 prompt=700 output=33 batch=5 experts?=distinct_max
moe-ep | qwen3-235b-a22b h200 tp=8 ep=8 prompt=3000 output=500 batch=64
mla | deepseek-v3 h200 tp=8 prompt=4096 output=256 batch=32
mla-expanded | deepseek-v3 h200 tp=8 prompt=4096 output=256 batch=32 mla?=expanded
mla-reexpanded | deepseek-v2-lite h100-sxm prompt=1024 output=128 batch=4 mla?=reexpanded
attention-dp | deepseek-v3 h200 tp=1 ep=8 attention_dp:=8 prompt=2000 output=500 batch=64
windows | gemma-3-27b h100-sxm prompt=8192 output=1024 batch=16
windows-cross | gemma-2-9b h100-sxm prompt=4000 output=400 batch=9 roofline?=per_operator
window-all | mistral-7b a100-sxm-80gb prompt=6000 output=300 batch=4 kv_reserve?=unified
sinks | gpt-oss-120b h100-sxm tp=2 prompt=3000 output=700 batch=32 chunk:=1000
chunked-attention | llama-4-maverick h200 tp=8 prompt=12000 output=100 batch=8
mamba | falcon-mamba-7b h100-sxm prompt=4096 output=512 batch=32
hybrid | jamba-1.5-mini h100-sxm tp=2 prompt=8000 output=200 batch=8
hybrid-granite | granite-4.0-h-small h100-sxm prompt=8000 output=200 batch=8
lfm | lfm2-8b-a1b h100-sxm prompt=800 output=200 batch=8
mqa | falcon-7b a100-sxm-80gb prompt=1000 output=100 batch=50
learned-positions | gpt2-xl a100-sxm-80gb prompt=512 output=128 batch=3
tied | gemma-2b a100-sxm-80gb prompt=512 output=128 batch=3 activations=fp16
fp8 | llama-3.1-405b h100-sxm tp=8 weights=fp8 kv=fp8 prompt=1024 output=128 batch=4
int4 | llama-3-70b h100-sxm weights=int4 prompt=1024 output=128 batch=1
measured | {SMALL} efficiency=measured
measured-moe | gpt-oss-120b h100-sxm tp=2 prompt=1024 output=256 batch=8 efficiency=measured
no-overlap | {SMALL} roofline?=no_overlap
per-operator | {SMALL} roofline?=per_operator
full-attention | {SMALL} attention?=full logits?=all
unfused | {SMALL} fusion?=unfused kv_growth?=fixed decode_steps?=output
detail-weights | {SMALL} detail?=weights
detail-kv | llama-3-70b h100-sxm prompt=1024 output=256 batch=8 detail?=kv
paged | llama-3-8b h100-sxm prompt=1030 output=250 batch=8 kv_reserve?=paged block_size:=16
prefix | llama-3-8b h100-sxm prompt=8192 output=256 batch=8 cached_prefix:=6000
speculation | {DRAFTED} draft_cost:=0.1
draft-model | {DRAFTED} draft=llama-3.2-1b
overheads | {SMALL} step_overhead:='0.5 ms' kernel_launch:='4 us' kernels_per_layer:=8
does-not-fit | llama-3-70b h100-sxm prompt=4096 output=512 batch=4
one-token | llama-3-8b h100-sxm prompt=4096 output=1 batch=1
given-quantity | {TWO} itl:='14 ms'
given-formula | {TWO} mem_capacity:='weight_bytes*2 + 1 GB'
amd | llama-3.1-70b mi300x tp=2 prompt=4096 output=512 batch=32
range-mfu | llama-3-8b h100-sxm prompt=2048 output=256 batch=8 mfu=0.4..0.6 mbu=0.6..0.9
range-tp | llama-3-70b h100-sxm tp=4 prompt=512..8192 output=256 batch=8
formula-batch | llama-3-8b h100-sxm prompt=1024 output=128 batch=prompt/64
preset | llama-3-70b h100-sxm preset=scaling-book prompt=4096 output=256 batch=16
"""
CASES = {name: case(text) for name, text in table(WRITTEN)} | {"none": []}
DERIVED = words("itl ttft decode_time kv_cache_bytes memory_bytes_per_device sustained_itl fits")
SOLVED = words(
    "dense dense-tp moe mla windows hybrid targets moe-all none load-exclusive per-operator"
)
THRESHOLDS = words(
    "batch_to_ridge prompt_to_ridge context_beyond_ridge prompt_ttft_exceeds_decode "
    "output_decode_exceeds_ttft batch_kv_equals_weights max_batch_memory max_context_memory "
    "max_batch_itl max_prompt_ttft min_bandwidth_itl min_flops_ttft min_devices_memory "
    "max_chunk_itl max_arrival_ttft max_batch_sustained_itl attention_equals_linear "
    "useful_devices_itl batch_reads_experts"
)
EQUATIONS = (
    ("itl = 10 ms", "batch"),
    ("decode_time = 2*ttft", "prompt"),
    ("kv_cache_bytes = weight_bytes", "context"),
    ("tpot = 12 ms", "mem_bandwidth"),
)
SWEPT = ("dense", "moe", "mla", "windows", "load", "hybrid", "per-operator")


VLLM = {
    "llama": ("meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192", H100),
    "batch": ("meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 256 --enforce-eager", A100),
    "tp": ("meta-llama/Llama-3.3-70B-Instruct -tp 4 --kv-cache-dtype fp8", H100),
    "moe": ("mistralai/Mixtral-8x7B-Instruct-v0.1 -tp 2 --max-num-batched-tokens 4096", H200),
    "share": ("Qwen/Qwen2.5-7B-Instruct --gpu-memory-utilization 0.8", "l40s"),
}
SIMULATED = {
    "poisson": ["dense", "--set", "arrival_rate=4/s", "--requests", "60", "--seed", "1"],
    "loop": ["moe", "--users", "6", "--requests", "40", "--seed", "2"],
    "bursty": [
        *("dense-tp", "--set", "arrival_rate=2/s", "--arrivals", "bursty"),
        *("--requests", "50", "--seed", "3", "--lengths", "prompt=lognormal:512,1.2"),
    ],
    "exclusive": ["load-exclusive", "--requests", "40", "--seed", "4"],
}
"""Case and options: few requests of a fixed seed, shorter than the case's own."""
SHORT = ["--prompt", "600", "--output", "40"]
REVIEWED = {
    "dense": ["--target", "itl=20 ms"],
    "moe": ["--full"],
    "does-not-fit": [],
    "fp8": [],
    "tied": ["--full"],
}
DEAR = {
    (name, "max_arrival_ttft")
    for name in ("windows", "hybrid", "moe", "moe-all", "per-operator", "dense-tp", "none")
}
"""Left out, ten seconds each: three kinds of cases have this threshold."""
UNSTEADY = ("scaling-book-inference",)
"""Claim files with a verdict that takes a search which ends when its time is up."""


def lines() -> Iterator[tuple[str, list[str]]]:
    """Every command line: where an efficiency may be stated it is, as a default may change.

    Twice, once for each efficiency; but once where a case states its own, with ``measured`` where it gives
    mfu, mbu or a preset (what is left are overheads), as studies do. Claims state theirs.
    """
    for name, line in _questions():
        if line[0] == "check" or "--efficiency" in line:
            yield name, line
        else:
            own = {"--mfu", "--mbu", "--preset"} & set(line) or line[1].endswith(".yaml")
            for efficiency in ("measured",) if own else EFFICIENCIES:
                yield f"{name} {efficiency}", [*line, "--efficiency", efficiency]


def _questions() -> Iterator[tuple[str, list[str]]]:
    for name, options in CASES.items():
        if name != "none":
            yield f"eval {name}", ["eval", *options, "--json"]
        if name in SOLVED:
            yield from _solved(name, options)
        if name in SWEPT:
            over = ["--over", "batch=1:64:x2", "--over", "prompt=100:20000:x3"]
            kept = _without(options, "--batch", "--prompt")
            yield f"sweep {name}", ["sweep", *kept, *over, "--json"]
    for file in sorted((ROOT / "specs" / "claims").glob("*.yaml")):
        if file.stem not in UNSTEADY:
            yield f"check {file.stem}", ["check", str(file), "--json"]
    for name in ("llama-3-70b-chat", "llama-3-8b-chat", "qwen2.5-7b-budget"):
        yield f"eval {name}", ["eval", _study(name), "--json"]
        yield f"select {name}", ["select", _study(name), "--json"]
    sides = [_study("llama-3-8b-chat"), _study("qwen2.5-7b-budget")]
    yield "diff", ["diff", *sides, "-q", "itl", "--json"]
    for name, (line, device) in VLLM.items():
        case_of = ["--hardware", device, "--prompt", "1500", "--output", "250"]
        target = ["--target", "itl=40 ms"]
        yield f"vllm {name}", ["vllm", f"vllm serve {line}", *case_of, *target, "--json"]
    for name, (of, *options) in SIMULATED.items():
        kept = _without(CASES[of], "--prompt", "--output")
        yield f"simulate {name}", ["simulate", *kept, *SHORT, *options, "--json"]
    for name, options in REVIEWED.items():
        form = ["--format", "md", "-o", "-"]
        yield f"report {name}", ["report", *CASES[name], *options, *form]


def _solved(name: str, options: list[str]) -> Iterator[tuple[str, list[str]]]:
    needs = [] if name in ("none", "targets") else TARGETS
    for threshold in THRESHOLDS:
        if (name, threshold) in DEAR:
            continue
        yield f"solve {name} {threshold}", ["solve", threshold, *options, *needs, "--json"]
    for equation, unknown in EQUATIONS:
        asked = ["solve", equation, "--for", unknown, *options, "--json"]
        yield f"solve {name} {equation}", asked
    for quantity in DERIVED:
        yield f"derive {name} {quantity}", ["derive", quantity, *options, "--json"]


def _study(name: str) -> str:
    return str(ROOT / "specs" / "studies" / f"{name}.yaml")


def _without(options: list[str], *names: str) -> list[str]:
    """Options without those of some names."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [item for name, value in pairs if name not in names for item in (name, value)]
