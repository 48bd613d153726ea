"""Hand calculations with hand-made slips: plain arithmetic on numbers read from the spec files, sharing nothing with symroof's theory.

Counting is that of ``detail: attention``: 2 FLOP a parameter and token, attention over causal pairs, weights and cache read.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import yaml

SPECS = Path(__file__).parents[2] / "specs"
MODELS = (
    "llama-3-8b", "llama-3-70b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3.2-3b", "llama-3.1-405b", "mistral-7b-v0.3", "mistral-nemo-12b",
    "mistral-small-24b", "qwen2.5-7b", "qwen2.5-32b", "qwen3-4b", "qwen3-32b", "gemma-7b", "yi-34b", "phi-4", "falcon-7b", "codellama-34b", "smollm2-1.7b",
)  # fmt: skip
DEVICES = (
    "h100-sxm", "h100-pcie", "h200", "a100-80gb-sxm", "a100-40gb-pcie", "l4", "l40s", "a10",
    "mi300x", "rtx-4090", "v100-sxm2-32gb", "b200",
)  # fmt: skip
DTYPES = ("fp16", "bf16", "fp8", "int8", "fp6", "fp4", "int4", "tf32", "fp32", "fp64")
UNIT = {
    "kv_cache_bytes": "byte", "kv_bytes_per_token": "byte/token", "weight_bytes": "byte", "memory_bytes": "byte", "weight_bytes_per_device": "byte",
    "prefill_flops": "FLOP", "decode_flops": "FLOP", "prefill_time": "s", "ttft": "s", "itl": "s", "decode_time": "s", "user_rate": "token/s",
    "decode_throughput": "token/s", "decode_intensity": "FLOP/byte", "ridge_point": "FLOP/byte", "decode_cost_per_mtok": "USD",
}  # fmt: skip


def _number(text: str) -> Fraction:
    prefixes = {"k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
    number, _, unit = str(text).partition(" ")
    return Fraction(number) * 10 ** (
        prefixes.get(unit[:1], 0) if len(unit) > 1 and unit[0] in prefixes else 0
    )


@lru_cache
def _read(kind: str, name: str) -> dict:
    return yaml.load((SPECS / kind / f"{name}.yaml").read_text(), Loader=yaml.CSafeLoader)


HARDWARE = {
    path.stem: _read("hardware", path.stem) for path in sorted((SPECS / "hardware").glob("*.yaml"))
}


@dataclass(frozen=True)
class Numbers:
    """Everything a hand calculation needs, and what somebody got wrong on the way."""

    model: str
    device: str
    P: Fraction
    L: int
    d: int
    V: int
    H: int
    K: Fraction
    h: Fraction
    S: int
    N: int
    B: int
    n: int
    F: Fraction
    bw: Fraction
    price: Fraction
    b_w: Fraction = Fraction(2)
    b_kv: Fraction = Fraction(2)
    cache: Fraction | None = None  # bytes of a token, where somebody has his own idea of them
    flop: Fraction = Fraction(1)  # of each FLOP counted
    attention: Fraction = Fraction(1)  # of the causal pairs counted
    reads_cache: bool = True
    floors: tuple[bool, bool] = (True, True)  # compute, memory
    steps: int | None = None
    copied: Fraction = Fraction(0)  # parameters that each device has a copy of: norms

    @property
    def per_token(self) -> Fraction:
        return 2 * self.L * self.K * self.h * self.b_kv if self.cache is None else self.cache

    def longest(self, compute: Fraction, memory: Fraction) -> Fraction:
        return max(
            time
            for time, counts in zip((compute / self.F, memory / self.bw), self.floors, strict=True)
            if counts
        )

    def core(self, pairs: Fraction) -> Fraction:
        return 4 * self.L * self.H * self.h * pairs * self.attention

    def prefill_flops(self) -> Fraction:
        return self.flop * (2 * self.P * self.S + self.core(Fraction(self.S * (self.S + 1), 2)))

    def prefill_time(self) -> Fraction:
        return self.longest(
            self.prefill_flops(), self.P * self.b_w + self.reads_cache * self.per_token * self.S
        )

    def decode_flops(self, context: int) -> Fraction:
        one = (
            1 if self.attention == Fraction(2 * self.S, self.S + 1) else self.attention
        )  # one query has no square
        return self.flop * self.B * (2 * self.P + 4 * self.L * self.H * self.h * context * one)

    def decode_bytes(self, context: int) -> Fraction:
        return self.P * self.b_w + self.reads_cache * self.per_token * context * self.B

    def itl(self, context: int | None = None) -> Fraction:
        at = self.S if context is None else context
        return self.longest(self.decode_flops(at), self.decode_bytes(at))

    def value(self, quantity: str) -> Fraction:
        S, N, B = self.S, self.N, self.B
        steps = N - 1 if self.steps is None else self.steps
        return {
            "kv_cache_bytes": lambda: self.per_token * S * B,
            "kv_bytes_per_token": lambda: self.per_token,
            "weight_bytes": lambda: self.P * self.b_w,
            "weight_bytes_per_device": lambda: (
                ((self.P - self.copied) / self.n + self.copied) * self.b_w
            ),
            "memory_bytes": lambda: self.P * self.b_w + self.per_token * (S + N - 1) * B,
            "prefill_flops": self.prefill_flops,
            "decode_flops": lambda: self.decode_flops(S),
            "prefill_time": self.prefill_time,
            "ttft": self.prefill_time,
            "itl": self.itl,
            "decode_time": lambda: sum((self.itl(S + j) for j in range(1, steps + 1)), Fraction(0)),
            "user_rate": lambda: 1 / self.itl(),
            "decode_throughput": lambda: B / self.itl(),
            "decode_intensity": lambda: self.decode_flops(S) / self.decode_bytes(S),
            "ridge_point": lambda: self.F / self.bw,
            "decode_cost_per_mtok": lambda: self.price / 3600 * 10**6 * self.itl() / B,
        }[quantity]()


def peak(device: dict, kind: str = "dense") -> Fraction | None:
    found = next(
        (device["peaks"][name] for name in ("fp16", "bf16") if name in device["peaks"]), None
    )
    return _number(found[kind]) if found and kind in found else None


def norms(spec: dict) -> int:
    """Parameters of all norms: vectors of the residual's width, and where queries and keys have norms two of a head's width a layer."""
    vectors, layers = {"rms": 1, "layer": 2}[spec["norm"]["kind"]], spec["layers"][0]
    attention = layers["attention"]
    heads = {"none": 0, "head": 2 * attention["head_dim"]}[attention.get("qk_norm", "none")]
    return (
        vectors
        * spec["d_model"]
        * (layers["count"] * spec["norm"]["per_layer"] + spec["norm"]["final"])
        + layers["count"] * heads
    )


def case(rng: random.Random) -> tuple[Numbers, dict[str, object]]:
    """A random case in numbers, and as the ``given`` of a claim."""
    model, device = rng.choice(MODELS), rng.choice(DEVICES)
    spec, part = _read("models", model), HARDWARE[device]
    attention = spec["layers"][0]["attention"]
    S, B, N = (
        rng.choice((512, 1000, 1024, 2000, 2048, 3000, 4000, 4096, 8000, 8192, 16384, 32768)),
        rng.choice((1, 2, 4, 6, 8, 16, 24, 32, 64)),
        rng.randint(6, 40),
    )
    price = Fraction(rng.randint(50, 900), 100)
    numbers = Numbers(
        model, device, Fraction(spec["published_params"]), spec["layers"][0]["count"], spec["d_model"], spec["vocab_size"], attention["n_heads"],
        Fraction(attention["n_kv_heads"]), Fraction(attention["head_dim"]), S, N, B, 1, peak(part), _number(part["memory"]["bandwidth"]["value"]), price,
        copied=Fraction(norms(spec)),
    )  # fmt: skip
    given = {
        "model": model,
        "hardware": device,
        "prompt": S,
        "batch": B,
        "output": N,
        "price": f"{float(price)} USD/hour",
        "assume": {"detail": "attention"},
    }
    return numbers, given


def written(value: Fraction, unit: str, digits: int) -> tuple[str, Fraction]:
    """A value as somebody writes it, and what he wrote, exactly; never more than three digits before the point."""
    head, _, tail = unit.partition("/")
    power = (
        math.floor(math.log10(value) / 3)
        if unit.startswith(("byte", "FLOP", "s")) and unit != "FLOP/byte"
        else 0
    )
    power = max(-3, min(power, 0 if head == "s" else 5))
    if head == "byte" or head == "FLOP":
        power = max(power, 0)
    scale = Fraction(1000) ** power
    places = digits - 1 - math.floor(math.log10(value / scale))
    rounded = round(value / scale, places) if places > 0 else round(value / scale)
    prefix = {-3: "n", -2: "u", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P"}[power]
    sign = {"byte": "B" if prefix else "byte"}.get(head, head)
    text = f"{float(rounded):.{max(places, 0)}f} {prefix}{sign}{'/' + tail if tail else ''}"
    return text, Fraction(text.split()[0]) * scale


def slips(v: Numbers, quantity: str, unit: str) -> dict[str, list[Fraction]]:
    """What somebody would get with each slip that can happen to this quantity."""
    true = v.value(quantity)

    def after(**changes: object) -> Fraction:
        return replace(v, **changes).value(quantity)

    part, kappa = HARDWARE[v.device], v.per_token
    family = [
        p
        for p in HARDWARE.values()
        if p["vendor"] == part["vendor"]
        and p["architecture"].split()[0] == part["architecture"].split()[0]
        and p is not part
    ]
    sizes = Fraction(1024, 1000)
    power = max(math.floor(math.log10(true) / 3), 0)
    found: dict[str, list[Fraction]] = {
        "gqa_forgotten": [after(cache=kappa * v.H / v.K)],
        "kv_heads_wrong": [after(cache=kappa * k / v.K) for k in (1, 2, 4, 8, 16, 32) if k <= v.H],
        "k_and_v_factor": [after(cache=kappa * factor) for factor in (Fraction(1, 2), 2)],
        "head_dim_assumed": [after(h=Fraction(v.d, v.H))],
        "width_guessed": [
            after(
                cache=2
                * v.L
                * Fraction(math.sqrt(v.P / (12 * v.L))).limit_denominator(10**12)
                * v.b_kv
            )
        ],
        "bytes_per_param_forgotten": [after(b_w=Fraction(1))],
        "precision_mixed": [
            after(**{name: Fraction(width)})
            for name in ("b_w", "b_kv")
            for width in ("1", "1/2", "4")
        ],
        "kv_ignored": [after(reads_cache=False)],
        "attention_ignored": [after(attention=Fraction(0))],
        "causal_factor": [after(attention=Fraction(2 * v.S, v.S + 1))],
        "memory_floor_ignored": [after(floors=(True, False))],
        "compute_floor_ignored": [after(floors=(False, True))],
        "mac_vs_flop": [after(flop=factor) for factor in (Fraction(1, 2), Fraction(2))],
        "decimal_binary_k": [
            after(S=v.S * 1024 // 1000 if v.S % 1000 == 0 else v.S * 1000 // 1024)
        ],
        "peak_of_other_dtype": [
            after(F=_number(part["peaks"][t]["dense"])) for t in DTYPES if t in part["peaks"]
        ],
        "sparse_peak": [after(F=sparse)] if (sparse := peak(part, "sparse")) else [],
        "peak_of_other_sku": [after(F=other) for p in family if (other := peak(p))],
        "bandwidth_of_other_part": [
            after(bw=_number(p["memory"]["bandwidth"]["value"])) for p in family
        ],
        "tied_embedding": [after(P=v.P + sign * v.d * v.V) for sign in (1, -1)],
        "decimal_point": [true * Fraction(10) ** p for p in (-3, -2, -1, 1, 2, 3)],
        "inverted_ratio": [1 / true] if unit in ("FLOP/byte", "token/s") else [],
    }
    if quantity == "decode_time":
        found["n_vs_n_minus_one"] = [after(steps=v.N)]
        found["per_token_vs_per_sequence"] = [true / v.N]
    if unit.startswith("byte"):
        found |= {
            "bits_bytes": [true * 8, true / 8],
            "gb_gib": [true / sizes**power, true * sizes**power],
        }
    if quantity in ("kv_cache_bytes", "prefill_flops"):
        found["per_token_vs_per_sequence"] = [true / v.S]
    if quantity == "kv_bytes_per_token":
        found["per_token_vs_per_sequence"] = [true * v.S]
    if quantity in ("kv_cache_bytes", "kv_bytes_per_token"):
        found["layers_factor"] = [true / v.L]
    if quantity == "decode_cost_per_mtok":
        found["hours_seconds"] = [true * 3600, true / 3600]
    if quantity in ("kv_cache_bytes", "itl", "decode_throughput", "decode_flops"):
        found["batch_factor"] = [after(B=1), true / v.B, true * v.B]
    if quantity == "weight_bytes_per_device":
        found["per_device_vs_total"] = [v.P * v.b_w]
    return {
        name: [value for value in values if value > 0 and abs(value / true - 1) > Fraction(3, 100)]
        for name, values in found.items()
    }
