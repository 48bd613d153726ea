"""The page ``serving.md``: quantities under load next to published rates and a server that is simulated step by step."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from serving_bounds import BoundedRate, UnboundedRate

Waits = Mapping[tuple[str, float], tuple[float, Mapping[str, float]]]
"""Simulated mean waits with their estimates by ``queue``, by scheduling and load."""

OPENING = """# A server under load: against published rates and a simulation

`sustained_throughput` is the rate a server sustains, prefills included. This page compares it with {count} published rates of {sources} sources, and its estimated
wait with a server that is simulated step by step.

## Published rates over their bounds

The bound is `sustained_throughput` of all devices at `efficiency: peak`, prompts paced, summed over copies: with as many requests as memory holds at their mean length
(a cache grows block by block, so that not all are full at once) or as the source had at once, and in the best layout of the devices where the source names
none: tensor-parallel, copies, and a pipeline or attention groups. No rate is above its bound: the highest is at {highest:.0%} of it, the median at {median:.0%}.

| source | rates | least | median | highest |
| --- | --- | --- | --- | --- |
{summary}

"""

WAITING = """## The estimated wait

The wait for the first step of a prompt (`prefill_queue_wait`, in `loaded_ttft`) is an estimate: the queue of prompts, `queue: mm1` (the default) or `md1`. A simulated
server (`tools/simulation.py`; {case}), in which requests come at random, waited in the mean:

| scheduling | load | simulated | `mm1` | off | `md1` | off |
| --- | --- | --- | --- | --- | --- | --- |
{table}

Prompts of one length are nearer to `md1`; `mm1` is the cautious side of it. The wait for a slot is not in this estimate: near a load of 1 it is too short. Throughput,
mean inter-token latency and time to first token without its wait are within 1 % of the simulation in 99 of 100 random deployments
(`python -m tools.simulation`).

## The wait for a slot

Before it is read a prompt waits until one of the slots of the batch is free. `admission_wait` estimates that by a queue which all slots serve together (Sakasegawa's
approximation). Targets are compared with `loaded_ttft`, which leaves it out; `queued_ttft` includes it, and `select` takes as many replicas as keep `queued_ttft` within the target.
With few slots and long responses it dominates: the same server ({slot_case}) waited in the mean, next to the sum of both estimates,

| scheduling | load | simulated | `mm1` | off | `md1` | off |
| --- | --- | --- | --- | --- | --- | --- |
{slot_table}

Responses of one length, as here, are nearer to `md1`; lengths that differ lengthen the wait towards `mm1`.

## A mix of requests

`long_share`, `long_prompt` and `long_output` describe a second kind of requests, in addition to `prompt` and `output`: 70 % chat of 500 + 200 tokens and 30 % documents of 8,000 + 400 are
`prompt: 500`, `output: 200`, `long_share: 0.3`, `long_prompt: 8000`, `long_output: 400`. A response holds its slot for all its steps, so that documents hold 46 % of the slots
(0.3·399 of 0.7·199 + 0.3·399 steps). `eval` and `derive` show the quantities of the mix next to those of the first kind, under `mix_…`. Where something is decided (`select`,
`report`, `plot`) throughput, inter-token latency, time to first token, load, cost and memory are those of the mix, and a line says so; a slot then holds the mean of the longest
caches of both kinds, and the targets are compared with means over all requests. There is no target for one kind alone: try that kind as a separate case.

```sh
symroof select --model llama-3.1-8b --prompt 500 --output 200 --set long_share=0.3 --set long_prompt=8000 --set long_output=400 --set arrival_rate='20 request/s' \\
  --among hardware='h100-sxm,l40s' --among instance_devices=1,2 --target ttft='2 s' --target itl='50 ms' --target fleet_price='60 USD/hour'
```

In the estimated wait a prompt waits for the rest of whatever is being read, long ones more often than their share (Pollaczek and Khinchine): `mix_prefill_queue_wait`.

## Percentiles

`sustained_itl`, `loaded_ttft` and `prefill_queue_wait` are means, and targets are compared with them. The closed forms have no percentile of a server under load: a target on a
p99 needs room above the mean, or a simulation. `worst_itl` is the longest step that a decoding request waits for.

"""


def serving_page(rates: Sequence[BoundedRate | UnboundedRate], waits: Waits, case: str, slot_waits: Waits, slot_case: str) -> str:
    """The whole page; ``case`` and ``slot_case`` say what was simulated."""
    bounded = [rate for rate in rates if isinstance(rate, BoundedRate)]
    refused = [rate for rate in rates if isinstance(rate, UnboundedRate)]
    shares = [rate.share for rate in bounded]
    by_source = _by_source(bounded)
    summary = "\n".join(_summary(source, [rate.share for rate in group]) for source, group in by_source.items())
    opening = OPENING.format(count=len(bounded), sources=len(by_source), highest=max(shares), median=statistics.median(shares), summary=summary)
    tables = [part for source, group in by_source.items() for part in (f"### {source}", "", HEADER, *map(rate_line, group), "")]
    table, slot_table = ("\n".join(wait_line(*key, *value) for key, value in simulated.items()) for simulated in (waits, slot_waits))
    waiting = WAITING.format(case=case, table=table, slot_case=slot_case, slot_table=slot_table)
    return opening + waiting + "\n".join(["## Every rate", "", *tables, *_refused(refused)])


HEADER = "| model | devices | weights | prompt | output | published token/s | bound | share | layout | batch |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def rate_line(rate: BoundedRate) -> str:
    """One rate with its bound."""
    row = rate.row
    layout = " ".join(f"{name} {degree}" for name, degree in zip(("tp", "pp", "attention_dp"), rate.layout, strict=True) if degree > 1) or "each alone"
    lengths = [f"{float(length.value):,.6g}" if length else "not named" for length in (row.prompt, row.output)]
    return _cells(
        row.spec,
        f"{row.devices} x {row.hardware}",
        row.weights,
        *lengths,
        f"{float(row.value.value):,.6g}",
        f"{rate.bound:,.0f}",
        f"{rate.share:.0%}",
        layout,
        f"{rate.batch:,}",
    )


def wait_line(scheduling: str, load: float, simulated: float, estimates: Mapping[str, float]) -> str:
    """One simulated wait beside its estimates."""
    cells = [cell for value in estimates.values() for cell in (f"{value * 1e3:.1f} ms", f"{value / simulated - 1:+.0%}")]
    return _cells(scheduling, load, f"{simulated * 1e3:.1f} ms", *cells)


def _by_source(rates: Iterable[BoundedRate]) -> dict[str, list[BoundedRate]]:
    groups: dict[str, list[BoundedRate]] = {}
    for rate in rates:
        groups.setdefault(rate.source, []).append(rate)
    return groups


def _summary(source: str, shares: Sequence[float]) -> str:
    return _cells(source, len(shares), *(f"{share:.0%}" for share in (min(shares), statistics.median(shares), max(shares))))


def _refused(rates: Iterable[UnboundedRate]) -> list[str]:
    """What has no bound, and which device or model is lacking."""
    kinds = Counter((rate.source, rate.reason) for rate in rates)
    rows = [_cells(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return ["## Rates without a bound", "", "| source | rates | why |", "| --- | --- | --- |", *rows, ""]


def _cells(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
