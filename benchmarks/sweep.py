"""What a point of a sweep costs, six quantities each, in one run: the compiled function beside what one would write instead.

Run it from anywhere: ``python benchmarks/sweep.py``. Rounds are interleaved, times are CPU time, ratios are what to read. Beside it
stand the rate at which the machine fills the same arrays, SymPy's ``lambdify(cse=True)`` of the expanded formulas, and the same
formulas written by hand in NumPy (their numbers are compared too). Two other calculators are timed for one point each, where the
Python given by ``--peers`` has them: ``pip install mlsysim==0.3.0 llm-analysis==0.2.2``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

QUANTITIES = ("ttft", "itl", "decode_throughput", "memory_bytes", "fits", "decode_cost_per_mtok")
MODEL, DEVICE = "llama-3-8b", "h100-sxm"
DEVICES = {
    "peak_flops": (1e14, 2e15),
    "mem_bandwidth": (1e12, 8e12),
    "mem_capacity": (2e10, 2e11),
    "link_bandwidth": (1e11, 9e11),
    "price": (1e-4, 3e-3),
}
CASE = {"output": 256, "weights": "fp16", "engine": "ideal"}
Arrays = tuple[np.ndarray, ...]


# --------------------------------------------------------------------------------------------------- the same, by hand


def by_hand(
    batch: np.ndarray, prompt: np.ndarray, tp: np.ndarray, mfu: np.ndarray = 1.0, peak_flops: np.ndarray = 989.4e12, mem_bandwidth: np.ndarray = 3.35e12,
    mem_capacity: np.ndarray = 85_520_809_984, link_bandwidth: np.ndarray = 450e9, price: np.ndarray = 3.9/3600,
) -> Arrays:  # fmt: skip
    """The six quantities of Llama-3 8B, written down from its dimensions; on an H100 where no other device is given.

    Of ``tp`` devices each holds all norms, reads the whole input of the matrices that are cut by columns, and writes the whole
    output of those that are cut by rows.
    """
    layers, width, heads, kv_heads, head, hidden, vocabulary = 32, 4096, 32, 8, 128, 14336, 128256
    matrices = 2 * width * heads * head + 2 * width * kv_heads * head + 3 * width * hidden
    norms = layers * 2 * width + width
    params = layers * matrices + norms + 2 * vocabulary * width
    streamed = 2 * (layers * matrices + vocabulary * width)
    per_token = 2 * layers * kv_heads * head * 2
    activations = 2 * layers * (4 * width * tp + (4 * heads + 2 * kv_heads) * head + 3 * hidden)
    logits = 2 * (width * tp + vocabulary)
    reduces = np.minimum(2, 2 * (tp - 1)) * layers * 2 * (tp - 1) / tp * width * 2 / link_bandwidth
    flops = (
        2 * layers * matrices * prompt
        + 2 * layers * heads * head * prompt * (prompt + 1)
        + 2 * vocabulary * width
    )
    moved = streamed + activations * prompt + per_token * prompt + logits
    ttft = (
        np.maximum(flops / (tp * mfu * peak_flops), moved / (tp * mem_bandwidth)) + reduces * prompt
    )
    step = batch * (
        2 * layers * matrices + 2 * vocabulary * width + 4 * layers * heads * head * prompt
    )
    read = streamed + batch * (activations + logits + per_token * prompt)
    itl = np.maximum(step / (tp * mfu * peak_flops), read / (tp * mem_bandwidth)) + reduces * batch
    rate = batch / itl
    memory = 2 * (params + (tp - 1) * norms) + per_token * batch * (prompt + CASE["output"] - 1)
    return ttft, itl, rate, memory, memory <= tp * mem_capacity, price * tp * 1e6 / rate


# ------------------------------------------------------------------------------------------------------------ sympy


def by_lambdify(inputs: tuple[str, ...]) -> Callable[..., Arrays]:
    """``lambdify(cse=True)`` of the expanded formulas, every other symbol a number handed in."""
    import sympy

    from symroof.analysis.derivation import Derivation
    from symroof.api import Study

    study = Study(model=MODEL, hardware=DEVICE, prompt=1, batch=1, **CASE)
    free = study.first.without_values(inputs)  # degrees among them shape the formulas
    formulas = [
        Derivation(name, free).expanded
        for name in ("ttft", "itl", "decode_throughput", "memory_bytes", "decode_cost_per_mtok")
    ]
    usable = Derivation("usable_memory", free).expanded
    formulas.insert(4, sympy.LessThan(formulas[3], usable))
    names = sorted(
        {symbol.name: symbol for formula in formulas for symbol in formula.free_symbols}.items()
    )
    function = sympy.lambdify([symbol for _, symbol in names], formulas, "numpy", cse=True)
    numbers = {name: float(study.exact(name)) for name, _ in names if name not in inputs}

    def call(*arrays: np.ndarray) -> Arrays:
        given = numbers | dict(zip(inputs, arrays, strict=True))
        return tuple(function(*(given[name] for name, _ in names)))

    return call


# ------------------------------------------------------------------------------------------------------------ timing


def interleaved(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of every way, round after round."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for round_ in range(rounds + 1):
        for name, way in ways.items():
            start = time.process_time()
            way()
            if round_:
                times[name].append(time.process_time() - start)
    return times


def compared(title: str, inputs: tuple[str, ...], arrays: Arrays, rounds: int) -> None:
    """One shape of inputs: nanoseconds a point and ratios to the compiled function."""
    import symroof as sr

    function = sr.compile(QUANTITIES, inputs, model=MODEL, hardware=DEVICE, **CASE)
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    out = tuple(np.empty(shape, bool if name == "fits" else float) for name in QUANTITIES)
    function(*arrays, out=out)
    lambdified = by_lambdify(inputs)
    agree("lambdify", out, lambdified(*arrays))
    agree("by hand", out, by_hand(**dict(zip(inputs, arrays, strict=True))))
    ways = {
        "filling the same arrays": lambda: [array.fill(1) for array in out],
        "compiled": lambda: function(*arrays, out=out),
        "by hand in NumPy": lambda: store(out, by_hand(**dict(zip(inputs, arrays, strict=True)))),
        "lambdify(cse=True)": lambda: store(out, lambdified(*arrays)),
        "compiled, into new arrays": lambda: function(*arrays),
    }
    times = interleaved(ways, rounds)
    points = int(np.prod(shape))
    print(f"\n{title}: {points:,} points, {sum(a.itemsize for a in out)} bytes each")
    for name, seconds in times.items():
        ratios = [a / b for a, b in zip(seconds, times["compiled"], strict=True)]
        print(
            f"  {name:30} {1e9 * statistics.median(seconds) / points:8.1f} ns a point {statistics.median(ratios):8.2f} x"
        )


def store(out: Arrays, results: Arrays) -> None:
    """Results where a sweep wants them: in arrays of the full shape that are used again."""
    for array, result in zip(out, results, strict=True):
        np.copyto(array, result)


def agree(who: str, ours: Arrays, theirs: Arrays) -> None:
    """The numbers are the same, or there is nothing to compare."""
    for name, a, b in zip(QUANTITIES, ours, theirs, strict=True):
        far = np.sum(a != b) if a.dtype == bool else np.max(np.abs(a / b - 1))
        if far > 1e-12:
            raise SystemExit(f"{who} has another {name}: off by {far}")


# ------------------------------------------------------------------------------------------------------- others' points

PEERS = {
    "mlsysim 0.3.0": """
import time, mlsysim
from mlsysim.engine.solvers.serving import ServingModel
call = lambda: ServingModel().solve(mlsysim.Models.Language.Llama3_8B, mlsysim.Hardware.Cloud.H100, seq_len=4096, batch_size=8)
""",
    "llm-analysis 0.2.2": """
import logging, time
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import get_gpu_config_by_name, get_model_config_by_name
logging.disable(logging.CRITICAL)
made = LLMAnalysis(get_model_config_by_name("facebook_opt-1.3b"), get_gpu_config_by_name("a100-sxm-80gb"), flops_efficiency=0.5, hbm_memory_efficiency=0.8)
call = lambda: made.inference(batch_size_per_gpu=8, seq_len=1024, num_tokens_to_generate=32)
""",
}
TIMED = """
call()
start = time.process_time()
for _ in range(200):
    call()
print((time.process_time() - start)/200)
"""


def peers(python: str, own: float) -> None:
    """Seconds for one point of other calculators; what they work out for it differs, so this is an order of magnitude."""
    print("\none point of other calculators")
    for name, program in PEERS.items():
        done = subprocess.run(
            [python, "-c", program + TIMED], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"  {name:30} not installed in {python}")
        else:
            seconds = float(done.stdout.split()[-1])
            print(
                f"  {name:30} {1e6 * seconds:8.0f} us a point {seconds / own:12,.0f} x a point of the grid"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--peers", default=sys.executable, help="a Python that has the other calculators"
    )
    parser.add_argument("--small", action="store_true", help="small grids, once")
    chosen = parser.parse_args()
    rounds, size, count, points = (1, 8, 2, 100) if chosen.small else (7, 512, 120, 1_000_000)
    workload = ("batch", "prompt", "tp", "mfu")
    batch, prompt = np.arange(1.0, size + 1), np.arange(32.0, 32.0 * (size + 1), 32.0)
    tp, mfu = np.array([1.0, 2.0, 4.0, 8.0]), np.linspace(0.3, 0.9, 7)
    wide = np.arange(1.0, 4 * size + 1)
    compared(
        "one case, a grid of two axes",
        workload,
        (wide[:, None], 8 * wide, np.float64(2), np.float64(0.5)),
        rounds,
    )
    compared(
        "one case, a grid of four axes", workload, tuple(np.ix_(batch, prompt, tp, mfu)), rounds
    )
    rng = np.random.default_rng(1)
    devices = (
        rng.choice(tp, (count, 1, 1)),
        *(rng.uniform(low, high, (count, 1, 1)) for low, high in DEVICES.values()),
    )
    compared(
        f"{count} devices, a grid of two axes each",
        ("batch", "prompt", "tp", *DEVICES),
        (batch[::2, None], prompt[::2], *devices),
        rounds,
    )
    compared(
        "scattered points",
        workload,
        tuple(rng.choice(axis, points) for axis in (batch, prompt, tp, mfu)),
        rounds,
    )
    peers(chosen.peers, grid_point(batch, prompt, rounds))


def grid_point(batch: np.ndarray, prompt: np.ndarray, rounds: int) -> float:
    """Seconds a point of a grid takes."""
    import symroof as sr

    function = sr.compile(QUANTITIES, ("batch", "prompt"), model=MODEL, hardware=DEVICE, **CASE)
    out = tuple(
        np.empty((len(batch), len(prompt)), bool if name == "fits" else float)
        for name in QUANTITIES
    )
    seconds = interleaved(
        {"grid": lambda: function(batch[:, None], prompt[None, :], out=out)}, rounds
    )["grid"]
    return statistics.median(seconds) / out[0].size


if __name__ == "__main__":
    main()
