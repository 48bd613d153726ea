"""The page ``measured.md``: how far real systems are from the roof, and how well each source is predicted from the others."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable

from symroof.calibrate.catalogue_fit import Prediction
from symroof.calibrate.catalogue_table import CatalogueFit
from symroof.specs.efficiencies import ALL, shipped, unit_of

OPENING = """# How far real systems are from the roof

`symroof` derives bounds: what a device allows at 100 % of its peak. This page holds them against {rows} public measurements of {sources} sources
(`symroof list measured`): static batches without a queue, each with its model, device, precision, lengths and place in the source. A measurement
{meaning}

With `efficiency: measured`, `--efficiency measured` or `sr.Study(…, efficiency="measured")` a case takes the values that these measurements ask for, where it
gives none itself; `--engine` (`compiled`, `eager`, `ggml`, or the name of an engine) chooses among them. Every result then has a value, which is what to
expect, and a range.

```sh
symroof eval --model llama-3-8b --hardware h100-sxm --prompt 2048 --efficiency measured
symroof calibrate --catalogue                      # fits the table anew, and says which measurements are not used and why
```
"""

MEANING = "that is faster than its device allows is refused, and so is one whose device or model is not in the catalogue."

FITTED = """## What the measurements ask for

Time = max(FLOPs/(`mfu` · peak), bytes/(`mbu` · bandwidth)) + layers · `layer_overhead` + tokens · layers · width · `elementwise_bytes`/bandwidth +
messages · `link_latency` + bytes sent/(`link_share` · link), of the prefill and of the decode. The intervals are {widening:.2f} times the scatter of the values that single rows ask for, which is what it took to hold
80 % of the rows of a source left out of the fit. `link_latency` is not fitted: it is the median of the engines' own all-reduces of small messages.

| input | devices | engines | value | low | high | rows | sources |
| --- | --- | --- | --- | --- | --- | --- | --- |
{table}

`hbm` are server parts with HBM, `gddr` professional cards, `geforce` GeForce cards against their peak with fp32 accumulation, `apple` Apple silicon; `all` is
what stands in, with a word, for a family that was never measured. A cost a layer of `layer_overhead` holds what an engine does between kernels, and kernels too
small to fill the device. `elementwise_bytes` is the traffic that grows with tokens and that no operator of the roofline has: norms, residuals, rotations,
activation functions, conversions, read and written by kernels of their own, and the ends of the kernels of matrix products. It is so much for each element of a
token's vector in each layer, and every device of a group repeats it: {elementwise:.0f} bytes are {passes:.0f} reads or writes in 16 bits.
"""

JUDGED = """## Each source predicted from the others

Every row is predicted by a fit that has not seen its source: median error {median:.1%}, {half:.1%} of all rows within ±50 %, {held:.1%} inside the interval.

| source | rows | median error | median of predicted/measured | within ±20 % | within ±50 % | inside the interval |
| --- | --- | --- | --- | --- | --- | --- |
{table}
"""

TRIED = """## Forms that were tried

Each form was fitted to the same 898 rows and judged in the same way, one source left out at a time, by a prototype whose classes are pulled towards each other
and whose AWS chips are a family of their own. The figures compare forms; those of the table that ships stand above (without `elementwise_bytes` they would be 16.5%
and 89% of rows within ±50 %).

| form | median error | within ±20 % | within ±50 % |
| --- | --- | --- | --- |
| without `elementwise_bytes` | 17.8% | 55% | 91% |
| **with it** | **16.4%** | **58%** | **92%** |
| with it, compute and memory times added instead of overlapped | 16.8% | 58% | 93% |
| with it, an `mbu` of quantized weights | 16.3% | 59% | 92% |
| with it, a cost of each layer of experts | 16.5% | 58% | 92% |
| with it, the cost of a layer apart for engines that serve (vLLM, SGLang) | 16.8% | 57% | 91% |
| with it, one `mfu` for all | 17.1% | 57% | 90% |
| without it, activations counted several times | 17.4% | 56% | 92% |
| without it, an `mbu` by family of devices | 18.1% | 55% | 92% |
| without it, an `mbu` of the cache | 18.7% | 52% | 90% |
| without it, an `mfu` of attention | 19.1% | 51% | 90% |
| without it, the cost of a layer falling with `tp` | 17.9% | 54% | 90% |
| without it, the cost of a layer overlapped with the roofline | 18.9% | 53% | 90% |

With whole families of devices left out, which is how a new kind of device is met, `elementwise_bytes` takes the median error from 21 to 18 % and the rows within ±50 %
from 86 to 92 %. An engine that only one source has cannot be judged so, and has no class of its own.

### Operator by operator

The kernels of the catalogue (`symroof show aiconfigurator-gemm`, `aiconfigurator-attention`) have efficiencies of their own: a matrix product reaches 0.79 (fp8) or 0.86
(bf16) of the bandwidth and 0.60 or 0.72 of the peak, decode attention 0.8 of the bandwidth, causal attention 0.7·S/(S + 2,300) of the peak. Summed over operators, with
the engine's cost a layer, `elementwise_bytes` and links fitted on top, they were held against the plain form on the 618 rows of compiled engines of 11 sources:

| form | median error | within ±20 % | within ±50 % |
| --- | --- | --- | --- |
| the plain form | 13.6% | 66% | 96% |
| the larger time operator by operator, one `mfu` and `mbu` | 13.9% | 67% | 96% |
| the same, attention with an `mfu` and `mbu` of its own | 15.9% | 62% | 92% |
| the same, attention's `mfu` by its length | 14.5% | 66% | 96% |
| the kernels' own efficiencies, and the engine's fixed costs | 14.8% | 62% | 94% |
| the same, scaled by family of devices | 16.0% | 61% | 95% |

Finer kernels gain nothing while engines differ as they do: with everything else the same, gpt-fast and vLLM on MI300X are a fifth to a quarter faster than the cost of a layer
that the other engines ask for, and SGLang on H20 is a tenth slower. So `efficiency: measured` speaks of the aggregate roofline alone, and `roofline: per_operator` stays
a bound of its own.
"""

SHARES = """## Share of the roof

The least time that the theory allows over the time measured: 100 % is the roof.

{tables}
"""


def measured_page(fitted: CatalogueFit) -> str:
    """The whole page."""
    made = fitted.predictions
    counts = {"rows": len(fitted.rows), "sources": len({row.source for row in fitted.rows})}
    table = "\n".join(_cells(e.input, e.family, e.engine, _text(e.value), _text(e.low), _text(e.high), e.rows, e.sources) for e in shipped().efficiencies)
    between = fitted.values["elementwise_bytes", ALL, ALL]
    groups: tuple[tuple[str, Callable[[Prediction], str]], ...] = (
        ("Device", lambda p: p.row.row.hardware or ""),
        ("Engines", lambda p: f"{p.row.engine}, {p.row.family}"),
        ("Batch", lambda p: _batch(p.row.row.batch)),
        ("Phase", _phase),
    )
    return "\n".join([
        OPENING.format(**counts, meaning=MEANING),
        FITTED.format(widening=fitted.widening, table=table, elementwise=between, passes=between / 2),
        JUDGED.format(median=fitted.median_error, half=fitted.within_half, held=fitted.held, table="\n".join(_judged(made))),
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


def _judged(made: Iterable[Prediction]) -> list[str]:
    rows = []
    for source, group in _grouped(made, lambda p: p.row.source):
        errors = [abs(p.error) for p in group]
        shares = [statistics.mean(error <= limit for error in errors) for limit in (0.2, 0.5)]
        held = statistics.mean(p.held for p in group)
        bias = statistics.median(1 + p.error for p in group)
        rows.append(_cells(source, len(group), f"{statistics.median(errors):.0%}", f"{bias:.2f}", *(f"{share:.0%}" for share in (*shares, held))))
    return rows


def _grouped(made: Iterable[Prediction], by: Callable[[Prediction], str]) -> list[tuple[str, list[Prediction]]]:
    groups: dict[str, list[Prediction]] = {}
    for prediction in made:
        groups.setdefault(by(prediction), []).append(prediction)
    return sorted(groups.items())


def _shares(name: str, made: Iterable[Prediction], by: Callable[[Prediction], str]) -> str:
    rows = [f"| {name} | rows | median | lowest tenth | highest tenth |", "| --- | --- | --- | --- | --- |"]
    for word, group in _grouped(made, by):
        shares = sorted(p.row.roof / p.row.seconds for p in group)
        tenth = len(shares) // 10
        rows.append(_cells(word, len(shares), *(f"{share:.0%}" for share in (statistics.median(shares), shares[tenth], shares[-1 - tenth]))))
    return "\n".join(rows)


def _batch(batch: int) -> str:
    return "1" if batch == 1 else "2 to 8" if batch <= 8 else "9 to 64" if batch <= 64 else "above 64"


def _phase(prediction: Prediction) -> str:
    row = prediction.row
    return "whole response" if row.prefill and row.decode else "prefill" if row.prefill else "decode"


def _refused(fitted: CatalogueFit) -> str:
    kinds = Counter((r.source, "faster than the roof" if "least time" in r.reason else r.reason.partition(" is ")[2] or r.reason) for r in fitted.refused)
    rows = [_cells(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return "\n".join(["## Measurements that are not compared", "", "| source | rows | why |", "| --- | --- | --- |", *rows, ""])
