"""The page ``measured.md``: how far real systems are from the roof, and how well each source is predicted from the others."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable

from accuracy_peers import peers_section

from symroof.calibrate.catalogue_fit import HeldOutPrediction
from symroof.calibrate.catalogue_table import CatalogueFit
from symroof.specs.efficiencies import ALL, TILE_ROWS, shipped_efficiencies, unit_of

OPENING = """# Accuracy

`symroof` derives bounds: what a device allows at 100 % of its peak. This page compares them with {rows} public measurements of {sources} sources
(`symroof list measured`): static batches without a queue and closed loops, each with its model, device, precision, lengths and place in the source. A measurement
{meaning}

With `efficiency: measured`, `--efficiency measured` or `sr.Study(…, efficiency="measured")` a case uses the values fitted to these measurements, where it
gives none itself; `--engine` (`compiled`, `earlier`, `eager`, `ggml`, or the name of an engine, with its version) chooses among them. Every result then has a
value, which is what to expect, and a range.

```sh
symroof eval --model llama-3-8b --hardware h100-sxm --prompt 2048 --efficiency measured
symroof calibrate --catalogue                      # fits the table again, and says which measurements are not used and why
```
"""

MEANING = "that is faster than its device allows is refused, and so is one whose device or model is not in the catalogue."

FITTED = """## The fitted values

Time = max(FLOPs/(`mfu` · peak), bytes/(`mbu` · bandwidth)) + layers · `layer_overhead` + tokens · layers · width · `elementwise_bytes`/bandwidth +
messages · `link_latency` + bytes sent/(`link_share` · link), of the prefill and of the decode. The intervals of a family are so many times the scatter of the
values that single rows imply as cover 80 % of its rows, each predicted without its source: {widening}. What all families share has the intervals of `hbm`.
`link_latency` is the median of all-reduces of small messages, measured alone, between two
devices (`pair`) and among more (`group`): the engines' own kernels for `compiled` engines, those of NCCL for all others. That of
exchanges between experts (`experts`) is fitted; DeepEP's low-latency kernels take about as long on eight H800.

A closed loop keeps a number of requests in flight: its time between tokens is that of a step, and of the prompts that come while a response is written, one of
each other slot. Steps of attention groups beside whole experts take the compute time and the memory time one after the other (`work_overlap` 0), and their exchanges wait for
the work (`exchange_overlap` 0): that took the mean error of such rows from 18 to 11 %. Their most loaded device takes 1.25 of the mean (`expert_imbalance`).
Tokens choose experts at random, and where experts stand whole the device with most of the chosen ones reads more than the mean: 1.5 standard deviations
(`expert_spread`), the mean largest of eight to sixteen. Devices of one group all have its tokens, and exchange none for their experts. An all-reduce over two nodes takes 45 µs
more than one inside (`network_latency`). Models with experts reach a share of the peak of their own (`hbm experts`, `cdna experts`: two fifths of that of other
models on both): each expert multiplies the few tokens that chose it. Of servers that are kept full the time between two responses is compared (`loop_rate`): bursts of
long prompts, which are read as fast as a device multiplies. What servers take outside their steps (`server_latency`, in `loaded_ttft`) is written in the engines' profiles: 20 ms
for vLLM, 75 for SGLang, 130 for TensorRT-LLM.

| input | devices | engines | value | low | high | rows | sources |
| --- | --- | --- | --- | --- | --- | --- | --- |
{table}

`compiled` engines replay a captured graph for each decode step and prepare the next while the device works: vLLM from 0.7, SGLang from 0.4, TensorRT-LLM from 1.0,
gpt-fast. `earlier` are compiled engines as they stood until 2024, whose host launches fused kernels one by one or holds up the device between steps: vLLM and
TensorRT-LLM before these versions, FasterTransformer, ExLlama, TinyChat, NeuronX.

On server parts the expected `mbu` is no more than `mfu` · peak · bytes of a weight/(2 · {tile} · bandwidth), where weights are as wide as what is multiplied: the smallest
tile of a library's matrix product has {tile} rows however few requests there are (NVIDIA, Matrix Multiplication Background User's Guide, tile quantization). In 16
bits and fp8 that limits the H20 alone, which multiplies 37 FLOP in 16 bits for each byte it can read. Where its cache outweighs the weights this is too slow.

`hbm` are NVIDIA's server parts with HBM, `cdna` AMD's, `gaudi`, `tpu` and `neuron` those of Intel, Google and AWS, `gddr` professional cards, `geforce` GeForce cards against their peak with fp32 accumulation, `apple` Apple silicon; `all` is
used, with a note, for a family that was never measured. `layer_overhead`, a cost per layer, covers what an engine does between kernels, and kernels too
small to fill the device. `elementwise_bytes` is the traffic that grows with tokens and that no operator of the roofline has: norms, residuals, rotations,
activation functions, conversions, read and written by separate kernels, and the ends of the kernels of matrix products. It is counted for each element of a
token's vector in each layer, and every device of a group repeats it: {elementwise:.0f} bytes are {passes:.0f} reads or writes in 16 bits.
"""

JUDGED = """## Each source predicted from the others

Every row is predicted by a fit that has not seen its source: median error {median:.1%}, {half:.1%} of all rows within ±50 %, {held:.1%} inside the interval. The {count}
rows of `compiled` and `earlier` engines alone: median error {compiled:.1%}, {fifth:.0%} within ±20 %.

| source | rows | median error | median of predicted/measured | within ±20 % | within ±50 % | inside the interval |
| --- | --- | --- | --- | --- | --- | --- |
{table}

The same rows by device, engine and layout, where there are ten of a kind. In the first columns none has seen a row of its own source, so what only one source
has (AMD's parts with engines of 2024, DeepSeek-R1 on Blackwell) is predicted from other devices, engines and models. In the last three each group is predicted from
all other groups, which is what to expect of a device or layout that was not measured beside others that were.

| devices, engines, layout | rows | without its source: median error | predicted/measured | inside the interval | without its group: median error | predicted/measured | inside |
| --- | --- | --- | --- | --- | --- | --- | --- |
{kinds}
"""

TRIED = """## Forms that were tried

Each form was fitted to the same 898 rows, those until 2025, and judged in the same way, one source left out at a time, by a prototype of the fit. The figures compare forms; those of
the shipped table are above.

| form | all rows: median error | within ±20 % | within ±50 % | compiled and earlier engines: median error | within ±20 % |
| --- | --- | --- | --- | --- | --- |
| one class of compiled engines, one `link_latency`, no least tile | 12.6% | 66% | 94% | 12.6% | 68% |
| with `earlier` engines apart | 12.6% | 67% | 96% | 12.6% | 69% |
| with latencies of NCCL and of own kernels | 11.3% | 69% | 95% | 10.9% | 71% |
| with a least tile of 64 rows | 13.6% | 65% | 95% | 13.8% | 66% |
| with `earlier` engines and these latencies | 11.5% | 70% | 96% | 10.6% | 73% |
| with `earlier` engines and the tile | 11.3% | 72% | 96% | 10.7% | 76% |
| **with all three** | **9.9%** | **74%** | **96%** | **9.3%** | **80%** |
| with all three, the cost of a layer apart for prefill and decode | 10.3% | 72% | 94% | 9.3% | 78% |
| with all three, a cost per step in addition to that per layer | 10.3% | 73% | 96% | 9.1% | 78% |
| with all three, compute and memory times added | 14.1% | 64% | 90% | 12.7% | 70% |
| with all three, an `mbu` by family of devices | 10.7% | 73% | 96% | 9.7% | 79% |
| with all three, an `mbu` of weights that a kernel widens | 9.9% | 74% | 96% | 9.3% | 80% |
| with all three, `elementwise_bytes` by class of engines | 10.3% | 73% | 94% | 8.9% | 81% |
| with all three, peaks at what the best matrix product reaches (`stas00-mamf`) | 9.9% | 75% | 96% | 9.0% | 80% |
| with all three, attention of fp8 models multiplied in 16 bits | 9.9% | 74% | 96% | 9.3% | 80% |
| with all three, the cost of a layer of experts apart | 9.9% | 73% | 96% | 9.2% | 78% |

Each of the three has a cause that does not come from the rows it improves: versions of engines, kernels of collectives measured alone, the tile in the
manufacturer's guide. They count together, because the cost of a layer otherwise makes up for what is missing: without the tile, SGLang on H20 (its weights come
at two fifths of the bandwidth) pulls up the cost of a layer that gpt-fast and vLLM on MI300X are predicted with. What gains a few tenths of a percent on one side
and loses them on the other is left out. Before these, `elementwise_bytes` took the median error of all rows from 17.8 to 16.4 %.

An engine that only one source has cannot be judged so, and has no class of its own: MLX is a third faster on Apple silicon than llama.cpp and Ollama.

### Operator by operator

On the form with all three, the 618 rows of compiled and earlier engines of 11 sources:

| form | median error | within ±20 % | within ±50 % |
| --- | --- | --- | --- |
| the plain form | 9.3% | 80% | 99% |
| the larger time operator by operator, one `mfu` and `mbu` | 9.0% | 80% | 99% |
| the same, attention with a separate `mfu` and `mbu` | 10.2% | 74% | 97% |
| the same, attention's `mfu` by its length | 9.0% | 80% | 99% |
| the same, a cost of each kernel instead of each layer | 9.3% | 80% | 99% |
| the kernels' own efficiencies, and the engine's fixed costs | 9.4% | 74% | 96% |

The kernels' own efficiencies are those of the catalogue (`symroof show aiconfigurator-gemm`, `aiconfigurator-attention`): a matrix product reaches 0.79 (fp8) or 0.86
(bf16) of the bandwidth and 0.60 or 0.72 of the peak, decode attention 0.8 of the bandwidth, causal attention 0.7·S/(S + 2,300) of the peak. They predict kernels
well: over the 18,360 shapes in bf16 that aiconfigurator 0.12 has measured on an H100, 4 µs + max(bytes/(0.85 · bandwidth), FLOPs/(0.80 · peak)) is off by 4 % in
the median, and by 5 % with tiles of 128 × 128 in whole waves (A100 7 and 6 %, H200 5 and 7 %, B200 7 and 8 %; fp8 on Hopper, 20 and 17 %). The aggregate of a step
differs from the sum over its operators by less than 1 % in nine rows of ten, so finer kernels gain nothing while engines differ as they do, and
`efficiency: measured` speaks of the aggregate roofline alone; `roofline: per_operator` remains a separate bound.

### Where it fails

MI300X and MI250X with vLLM of mid 2024 take two to three times as long as anything else would lead one to expect: only one source has them, and their class of
engines is their own. The engines of 2024 also take some 70 µs for each request in a step on their host, those since about 2 µs: a cost of its own for that takes
vLLM of 2024 on the H100 from 16 to 9 % and on the GH200 from 13 to 4 %, and is left out, because nothing since has it. DeepSpeed-MII takes twice the time between kernels of vLLM of its
year. The first token under attention groups in a closed loop comes 1 to 7 s after its request (TensorRT-LLM waits until all groups have a prompt), and that of SGLang with 512 in flight
minutes: `loaded_ttft` knows neither. TensorRT-LLM on H200 decodes DeepSeek-R1 a quarter slower than expected, on Blackwell as expected. Gaudi and MI250X were measured
by one source each. TensorRT-LLM 0.5 and 0.6 take two to three times as long as expected where many requests with grouped queries decode for 2,000 steps (Llama 2 70B, Falcon 180B),
about as if keys and values were read once for each query head; no other source has that engine. NeuronX pads contexts to buckets. Weights in 4 bits decode half as
slow again on an H20 as expected, and nothing here says why. llama.cpp reads prompts at 0.29 of the peak of professional cards and at 0.87 of that of GeForce
cards, and only one source has the former.
"""

SHARES = """## Share of the roof

The least time that the theory allows over the time measured: 100 % is the roof.

{tables}
"""


def measured_page(fitted: CatalogueFit) -> str:
    """The whole page."""
    made = fitted.predictions
    counts = {"rows": len(fitted.rows), "sources": len({row.source for row in fitted.rows})}
    table = "\n".join(
        _cells(
            e.input,
            e.family,
            e.engine,
            _text(e.value),
            _text(e.low),
            _text(e.high),
            e.rows,
            e.sources,
        )
        for e in shipped_efficiencies().efficiencies
    )
    between = fitted.values["elementwise_bytes", ALL, ALL]
    groups: tuple[tuple[str, Callable[[HeldOutPrediction], str]], ...] = (
        ("Device", lambda p: p.row.row.hardware or ""),
        ("Engines", lambda p: f"{p.row.engine}, {p.row.family}"),
        ("Batch", lambda p: _batch(p.row.row.batch)),
        ("Phase", _phase),
    )
    return "\n".join([
        OPENING.format(**counts, meaning=MEANING),
        FITTED.format(widening=", ".join(f"{family} {factor:.2f}" for family, factor in sorted(fitted.widening.items())), table=table, elementwise=between, passes=between / 2, tile=TILE_ROWS),
        JUDGED.format(median=fitted.median_error, half=fitted.within_half, held=fitted.held, table="\n".join(_judged(made, lambda p: p.row.source)), kinds="\n".join(_by_group(fitted)), **_of_compiled(made)),
        peers_section(made),
        TRIED,
        SHARES.format(tables="\n\n".join(_shares(name, made, group) for name, group in groups)),
        _refused(fitted),
    ])  # fmt: skip


def _cells(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _text(amount: object) -> str:
    value = amount.value  # type: ignore[attr-defined]
    unit = unit_of(amount)  # type: ignore[arg-type]
    return f"{float(value) * 1e6:.3g} µs" if unit == "s" else f"{float(value):.3g} {unit}".strip()


def _by_group(fitted: CatalogueFit) -> list[str]:
    """A row for each group: its rows predicted without their sources, and without the group."""
    without_source = dict(_grouped(fitted.predictions, lambda p: p.row.group))
    rows = []
    for name, group in _grouped(fitted.group_predictions, lambda p: p.row.group):
        columns = [
            (
                f"{statistics.median(abs(p.error) for p in made):.0%}",
                f"{statistics.median(1 + p.error for p in made):.2f}",
                f"{statistics.mean(p.held for p in made):.0%}",
            )
            for made in (without_source[name], group)
        ]
        rows.append(_cells(name, len(group), *columns[0], *columns[1]))
    return rows


def _judged(made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]) -> list[str]:
    rows = []
    for source, group in _grouped(made, by):
        errors = [abs(p.error) for p in group]
        shares = [statistics.mean(error <= limit for error in errors) for limit in (0.2, 0.5)]
        held = statistics.mean(p.held for p in group)
        bias = statistics.median(1 + p.error for p in group)
        rows.append(
            _cells(
                source,
                len(group),
                f"{statistics.median(errors):.0%}",
                f"{bias:.2f}",
                *(f"{share:.0%}" for share in (*shares, held)),
            )
        )
    return rows


def _of_compiled(made: Iterable[HeldOutPrediction]) -> dict[str, float]:
    errors = [abs(p.error) for p in made if p.row.engine in ("compiled", "earlier")]
    return {
        "count": len(errors),
        "compiled": statistics.median(errors),
        "fifth": statistics.mean(error <= 0.2 for error in errors),
    }


def _grouped(
    made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]
) -> list[tuple[str, list[HeldOutPrediction]]]:
    groups: dict[str, list[HeldOutPrediction]] = {}
    for prediction in made:
        groups.setdefault(by(prediction), []).append(prediction)
    return sorted(groups.items())


def _shares(
    name: str, made: Iterable[HeldOutPrediction], by: Callable[[HeldOutPrediction], str]
) -> str:
    rows = [
        f"| {name} | rows | median | lowest tenth | highest tenth |",
        "| --- | --- | --- | --- | --- |",
    ]
    for word, group in _grouped(made, by):
        shares = sorted(p.row.roof / p.row.seconds for p in group)
        tenth = len(shares) // 10
        rows.append(
            _cells(
                word,
                len(shares),
                *(
                    f"{share:.0%}"
                    for share in (statistics.median(shares), shares[tenth], shares[-1 - tenth])
                ),
            )
        )
    return "\n".join(rows)


def _batch(batch: int) -> str:
    return (
        "1" if batch == 1 else "2 to 8" if batch <= 8 else "9 to 64" if batch <= 64 else "above 64"
    )


def _phase(prediction: HeldOutPrediction) -> str:
    row = prediction.row
    return (
        "whole response" if row.prefill and row.decode else "prefill" if row.prefill else "decode"
    )


def _refused(fitted: CatalogueFit) -> str:
    kinds = Counter(
        (
            r.source,
            "faster than the roof"
            if "least time" in r.reason
            else r.reason.partition(" is ")[2] or r.reason,
        )
        for r in fitted.refused
    )
    rows = [_cells(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return "\n".join(
        [
            "## Measurements that are not compared",
            "",
            "| source | rows | why |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )
