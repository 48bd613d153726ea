"""The page ``serving.md``: quantities under load next to published rates and a server that is simulated step by step."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from serving_bounds import BoundedRate, UnboundedRate

Simulated = Mapping[tuple[str, float], tuple[float, float]]
"""Mean times to first token, simulated and in closed form, by scheduling and load."""

OPENING = """# A server under load: against published rates and a simulation

`sustained_throughput` is the rate a server sustains, prefills included. This page compares it with {count} published rates of {sources} sources, and the
time to first token with a server that is simulated step by step.

## Published rates over those at the peak

The bound of each is `sustained_throughput` of all devices at `efficiency: peak`, whole prompts and no token budget, summed over copies: with as many requests as memory holds at their mean length
(a cache grows block by block, so that not all are full at once) or as the source had at once, and in the best layout of the devices where the source names
none: tensor-parallel, copies, and a pipeline or attention groups. No rate is above its bound: the highest is at {highest:.0%} of it, the median at {median:.0%}.

| source | rates | least | median | highest |
| --- | --- | --- | --- | --- |
{summary}

"""

WAITING = """## The time to first token

`loaded_ttft` is a mean: the rest of the step that runs when a request comes, the waits for earlier prompts and for a slot of the batch, and the steps that prefill the
prompt beside others. It is an estimate; `symroof simulate` serves the same requests step by step. Both, at shares of the rate that the server sustains
({case}; {slot_case}):

| scheduling | load | simulated | `loaded_ttft` | off |
| --- | --- | --- | --- | --- |
{table}

Over random deployments of all kinds of models (`python -m tools.simulation`) rates and mean inter-token latencies are within 3 % of the simulation in 95 of 100, and times to
first token within 15 % below a load of 0.8 in nine of ten. The largest deviations: attention groups whose prompts are longer than a step has room for (first tokens up to 40 % too
early at a load of 0.8), and near a load of 1 any wait for a slot.

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

A step of the mix does the work of what is in it: the decoding requests of each kind by requests times steps, prompt tokens by requests times tokens.

## Percentiles

`sustained_itl` and `loaded_ttft` are means, and targets are compared with them. The closed forms have no percentile of a server under load: a target on a
p99 needs room above the mean, or a simulation. `worst_itl` is the longest step that a decoding request may wait for: full of prompts, which is rare where a step has room for many.

"""


def serving_page(
    rates: Sequence[BoundedRate | UnboundedRate], simulated: Simulated, case: str, slot_case: str
) -> str:
    """The whole page; ``case`` and ``slot_case`` say what was simulated."""
    bounded = [rate for rate in rates if isinstance(rate, BoundedRate)]
    refused = [rate for rate in rates if isinstance(rate, UnboundedRate)]
    shares = [rate.share for rate in bounded]
    by_source = _by_source(bounded)
    summary = "\n".join(
        _summary(source, [rate.share for rate in group]) for source, group in by_source.items()
    )
    opening = OPENING.format(
        count=len(bounded),
        sources=len(by_source),
        highest=max(shares),
        median=statistics.median(shares),
        summary=summary,
    )
    tables = [
        part
        for source, group in by_source.items()
        for part in (f"### {source}", "", HEADER, *map(rate_line, group), "")
    ]
    waiting = WAITING.format(
        case=case,
        table="\n".join(wait_line(*key, *value) for key, value in simulated.items()),
        slot_case=slot_case,
    )
    return opening + waiting + "\n".join(["## Every rate", "", *tables, *_refused(refused)])


HEADER = "| model | devices | weights | prompt | output | published token/s | bound | share | layout | batch |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def rate_line(rate: BoundedRate) -> str:
    """One rate with its bound."""
    row = rate.row
    layout = (
        " ".join(
            f"{name} {degree}"
            for name, degree in zip(("tp", "pp", "attention_dp"), rate.layout, strict=True)
            if degree > 1
        )
        or "each alone"
    )
    lengths = [
        f"{float(length.value):,.6g}" if length else "not named"
        for length in (row.prompt, row.output)
    ]
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


def wait_line(kind: str, load: float, simulated: float, closed: float) -> str:
    """A simulated time to first token beside its closed form."""
    return _cells(
        kind,
        load,
        f"{simulated * 1e3:.1f} ms",
        f"{closed * 1e3:.1f} ms",
        f"{closed / simulated - 1:+.0%}",
    )


def _by_source(rates: Iterable[BoundedRate]) -> dict[str, list[BoundedRate]]:
    groups: dict[str, list[BoundedRate]] = {}
    for rate in rates:
        groups.setdefault(rate.source, []).append(rate)
    return groups


def _summary(source: str, shares: Sequence[float]) -> str:
    return _cells(
        source,
        len(shares),
        *(f"{share:.0%}" for share in (min(shares), statistics.median(shares), max(shares))),
    )


def _refused(rates: Iterable[UnboundedRate]) -> list[str]:
    """What has no bound, and which device or model is lacking."""
    kinds = Counter((rate.source, rate.reason) for rate in rates)
    rows = [_cells(source, count, reason) for (source, reason), count in sorted(kinds.items())]
    return [
        "## Rates without a bound",
        "",
        "| source | rates | why |",
        "| --- | --- | --- |",
        *rows,
        "",
    ]


def _cells(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
