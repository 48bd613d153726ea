"""Measure this machine at a model's shapes: prefill and decode of a decoder layer, the head, and the ceilings of products and copies.

Layers have random weights and are timed over more of them than caches hold; a model's time is the sum of its layers and its head. The
result is a CSV file for ``symroof calibrate``.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from symroof.calibrate.decoder_layer import DecoderLayer, LayerShape
from symroof.errors import InputError, Problem, require
from symroof.specs.layers import FeedForward, GroupedAttention
from symroof.specs.model import ModelSpec

PROMPTS, BATCHES, CONTEXTS = (512, 2048, 8192), (1, 8, 32), (1024, 8192)
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
BEYOND_CACHES = 256 * 2**20
"""Bytes of weights per round, so that no cache keeps them between rounds; fewer if the model has fewer."""
LONGEST, FEWEST, MOST = 2.0, 3, 30
"""Seconds per row, and the fewest and most rounds."""


@dataclass(frozen=True)
class ProbedLatency:
    """One measured latency of the whole model: of a prefill of ``prompt`` tokens, or of a decode step of ``batch`` requests at ``context``."""

    metric: str
    prompt: int
    batch: int
    context: int
    seconds: float

    def __str__(self) -> str:
        times = {"ttft": "", "itl": "", self.metric: f"{1e3 * self.seconds:.6g}"}
        return f"{self.prompt},{self.batch},{self.context},{times['ttft']},{times['itl']}"


@dataclass(frozen=True)
class Probed:
    """What was measured.

    Attributes:
        device: name of the device.
        ceilings: FLOP/s of a large product and bytes/s of a copy, each with a description.
        skipped: rows that were not measured, and why.
    """

    model: str
    device: str
    precision: str
    rows: tuple[ProbedLatency, ...]
    ceilings: tuple[tuple[str, float, str], ...]
    skipped: tuple[str, ...] = ()

    def csv(self) -> str:
        """The rows as CSV for ``symroof calibrate``, with the conditions in comments."""
        lines = [
            f"# symroof probe: {self.model} in {self.precision} on {self.device}, eager PyTorch, random weights, layers and head one after another",
            *(f"# {what}: {value:.4g} {unit}" for what, value, unit in self.ceilings),
            *(f"# {words}" for words in self.skipped),
        ]
        return (
            "\n".join([*lines, "prompt,batch,context,ttft_ms,itl_ms", *map(str, self.rows)]) + "\n"
        )


def shapes(model: ModelSpec) -> tuple[LayerShape, ...]:
    """The shapes of a model's layer kinds.

    Raises:
        InputError: no layers, or a layer other than grouped attention with a dense feed-forward.

    >>> from symroof.specs.model_files import read_model
    >>> shapes(read_model("llama-3-8b")[0])[0].parameters
    218103808
    """
    if not model.layers or model.d_model is None or model.vocab_size is None:
        raise InputError(Problem(model.name, "has no layers to measure"))
    made = []
    for layer in model.layers:
        attention, ffn = layer.attention, layer.ffn
        if (
            not isinstance(attention, GroupedAttention)
            or attention.kind != "gqa"
            or not isinstance(ffn, FeedForward)
            or ffn.d_ff is None
            or layer.mixer
        ):
            kinds = f"{attention.kind} and {ffn.kind}"
            raise InputError(
                Problem(
                    model.name,
                    f"has layers of {kinds}; grouped attention with a dense feed-forward is what probe measures",
                )
            )
        widths = (attention.n_heads, attention.n_kv_heads, attention.head_dim, ffn.d_ff)
        made.append(
            LayerShape(layer.count, model.d_model, *widths, ffn.kind == "gated", attention.window)
        )
    return tuple(made)


def probe(
    model: ModelSpec,
    device: str = "",
    precision: str = "bf16",
    prompts: Sequence[int] = PROMPTS,
    batches: Sequence[int] = BATCHES,
    contexts: Sequence[int] = CONTEXTS,
) -> Probed:
    """Measure this machine at the shapes of a model.

    Args:
        device: ``cuda``, ``mps`` or ``cpu``; by default the first available.
        prompts: lengths of prompts, one request each; batches, contexts: decode steps at each pair.

    Raises:
        InputError: no PyTorch (extra ``probe``), an unsupported model or precision, an unknown device.
    """
    kinds = shapes(model)
    if precision not in PRECISIONS:
        raise InputError(
            Problem("probe", f"measures {', '.join(PRECISIONS)}, not {precision[:20]!r}")
        )
    require("probe", "torch")
    bench = Bench(_device(device), PRECISIONS[precision])
    longest = model.max_context or max((*prompts, *contexts))
    rows: list[ProbedLatency] = []
    skipped: list[str] = []
    with bench.torch.inference_mode():
        head = bench.random(kinds[0].d_model, model.vocab_size or 0)
        asked = [("ttft", n, 1, n) for n in prompts if n <= longest] + [
            ("itl", n, batch, n) for n in contexts if n <= longest for batch in batches
        ]
        for metric, prompt, batch, context in asked:
            if bench.size(kinds, metric, batch, context) > bench.room():
                skipped.append(
                    f"{metric} at batch {batch}, context {context}: memory does not hold it"
                )
                continue
            layers = sum(kind.count * bench.layer(kind, metric, batch, context) for kind in kinds)
            logits = bench.timed(
                [partial(bench.torch.matmul, bench.random(batch, kinds[0].d_model), head)]
            )
            rows.append(ProbedLatency(metric, prompt, batch, context, layers + logits))
        ceilings = tuple(bench.ceilings(kinds[0]))
    return Probed(model.name, bench.name, precision, tuple(rows), ceilings, tuple(skipped))


def _device(name: str) -> str:
    torch: Any = import_module("torch")
    there = [
        *(["cuda"] if torch.cuda.is_available() else []),
        *(["mps"] if torch.backends.mps.is_available() else []),
        "cpu",
    ]
    if name and name not in there:
        raise InputError(
            Problem("probe", f"no device {name[:20]!r} here", hint=f"there is {', '.join(there)}")
        )
    return name or there[0]


class Bench:
    """A device with its clock."""

    def __init__(self, device: str, precision: str) -> None:
        self.torch: Any = import_module("torch")
        self.device, self.precision = device, precision
        self.width = int(getattr(self.torch, precision).itemsize)

    @property
    def name(self) -> str:
        if self.device == "cuda":
            return str(self.torch.cuda.get_device_name())
        return (
            f"{self.device}, {self.torch.get_num_threads()} threads"
            if self.device == "cpu"
            else self.device
        )

    def random(self, *size: int) -> Any:
        return self.torch.randn(size, device=self.device, dtype=getattr(self.torch, self.precision))

    def room(self) -> float:
        """Bytes available for a row."""
        if self.device == "cuda":
            return 0.8 * float(self.torch.cuda.mem_get_info()[0])
        return 0.4 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def rounds(self, kind: LayerShape) -> int:
        """Layers of a kind to allocate: enough to exceed the caches, at most as many as the model has."""
        return min(kind.count, -(-BEYOND_CACHES // (kind.parameters * self.width)))

    def size(self, kinds: Sequence[LayerShape], metric: str, batch: int, context: int) -> float:
        """Bytes of a row: weights, KV cache, and activations including attention scores."""
        tokens = context if metric == "ttft" else batch
        caches: dict[LayerShape, int] = {
            k: 2 * batch * k.cached(context) * k.n_kv_heads * k.head_dim if metric == "itl" else 0
            for k in kinds
        }
        return self.width * max(
            self.rounds(k) * (k.parameters + caches[k]) + tokens * (8 * k.d_model + 3 * k.d_ff)
            for k in kinds
        )

    def layer(self, kind: LayerShape, metric: str, batch: int, context: int) -> float:
        """Seconds of one layer."""
        layers = [DecoderLayer(kind, self.device, self.precision) for _ in range(self.rounds(kind))]
        if metric == "ttft":
            hidden = self.random(batch, context, kind.d_model)
            return self.timed([partial(layer.prefill, hidden) for layer in layers])
        hidden = self.random(batch, 1, kind.d_model)
        return self.timed(
            [partial(layer.decode, hidden, *layer.cache(batch, context)) for layer in layers]
        )

    def timed(self, steps: Sequence[Callable[[], Any]]) -> float:
        """Seconds of one step: the median of rounds over all steps, after a warm-up round."""
        self._round(steps)
        times: list[float] = []
        while len(times) < FEWEST or (sum(times) < LONGEST and len(times) < MOST):
            times.append(self._round(steps))
            if times[0] > LONGEST:
                break
        return statistics.median(times) / len(steps)

    def _round(self, steps: Sequence[Callable[[], Any]]) -> float:
        self._wait()
        start = time.perf_counter()
        for step in steps:
            step()
        self._wait()
        return time.perf_counter() - start

    def _wait(self) -> None:
        if self.device != "cpu":
            getattr(self.torch, self.device).synchronize()

    def ceilings(self, kind: LayerShape) -> Iterator[tuple[str, float, str]]:
        """The ceilings of the device: a large product at the model's widths, a copy larger than its caches."""
        rows = 4096 if self.device != "cpu" else 512
        (inner, columns) = kind.matrices[2]
        left, right = self.random(rows, inner), self.random(inner, columns)
        yield (
            f"product of {rows} x {inner} x {columns}",
            2 * rows * inner * columns / self.timed([partial(self.torch.matmul, left, right)]),
            "FLOP/s",
        )
        source = self.random(BEYOND_CACHES // self.width)
        target = self.torch.empty_like(source)
        yield (
            f"copy of {BEYOND_CACHES} bytes, read and written",
            2 * BEYOND_CACHES / self.timed([partial(target.copy_, source)]),
            "byte/s",
        )
