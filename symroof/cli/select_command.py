"""``symroof select``: hardware and configuration against targets.

``--json`` gives ``{"schema": "symroof/select/1", "recommendation": {...} or null, "reason", "targets": {name: {"value", "unit", "metric"}}, "sorted_by", "basis": [what latencies rest on],
"passing": count, "configurations": [...], "best": {what: {"configuration", "batch", "values"} or null}, "fronts": [{"over": "passing" or
"fitting", "respects": [{"quantity", "better"}], "runs": [{"configuration", "batch", "values"}]}]}``. ``configuration`` is an
index of the list, which has the order of the table. The first ``--show`` configurations are evaluated in detail (``worked_out``), and ``--lacks`` of the nearest
misses; the others have their identity, verdict, ``batches`` and what they are compared by. Each detailed one has

- ``label``, ``model``, ``hardware``, ``precisions``, ``varied`` (what the study lists): its identity;
- ``scheduling``, ``layout`` (inputs: degrees, and ``chunk`` or ``prefill_devices``), ``copies`` (input ``dp``): what was chosen; given these, ``eval`` says the same;
- ``batch``, ``batch_chosen``: where it is judged: at its own batch, or without one at the largest that passes;
- ``state``: ``passes``, ``in part`` (of its ranges), ``fails``, ``unknown``; ``missed``; ``unknown``: condition -> the missing input;
- ``checks``: memory and each target: ``{"metric", "value", "unit", "limit", "met", "slack", "share"}``, the slack in the metric's
  unit and as a share of the limit, negative where it is missed; ``met`` is null where it holds in a part of the ranges; of a cost it is at the median of
  the list prices, and ``straddles`` says whether others would change it; a target of a percentile has ``statistic`` and ``decided_by``: ``simulation``;
- ``quantities``: each with value, unit, range, flags, and ``bound``, the same at 100 % of peak; ``at_largest_batch``: the same there;
- ``batches``: ``{"least", "most", "stopped_by"}``, every batch between passes; null where none does or the study lists batches;
- ``lacks``: of one that fails (null where it is not solved for), for each input ``{"input", "now", "unit", "value", "side", "cures", "stuck", "unsolved", "breaks"}``: the
  least (or most) value that makes everything pass, or null; what it cures alone; the best metric of what it does not (null: a wait without end); what it may
  cure, where no value of it that does is known; what goes wrong instead;
- ``together``: inputs that, at these values at once, make it pass, where one alone may not;
- ``keeps``: of one that passes, ``{"input", "now", "unit", "value", "side", "breaks"}``: the last value that still does;
- ``elasticities``: ``ttft`` and ``itl`` by ``peak_flops`` and ``mem_bandwidth``;
- ``inputs``, ``assumptions``, ``warnings`` as of ``eval``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import details_option, json_option, pairs, study_from, study_options
from symroof.cli.output import json_text, progress_bar, say, say_marked
from symroof.table_formats import text_table

if TYPE_CHECKING:
    from symroof.select.selection import Selection

MOST_DETAILED = 20
"""Configurations that are shown in detail."""


@click.command("select")
@click.option(
    "--among",
    multiple=True,
    metavar="NAME=LIST",
    help="Candidates: hardware=all, hardware='h100*,h200', weights=fp16,fp8, batch=1,32; devices=8 for a fleet of so many. Layouts, chunks and replicas are searched unless they are listed.",
)
@click.option(
    "--by",
    metavar="WHAT",
    help="Sort key: cost, throughput, rate (throughput per device), ttft, itl, price or fleet.  [default: cost, or fleet where requests arrive; rate where no price is known]",
)
@click.option(
    "--show",
    type=click.IntRange(1),
    metavar="N",
    help="Maximum table rows; --json lists all and gives details of this many.  [default: 12; 20 of details]",
)
@click.option(
    "--lacks",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of failing configurations, the nearest first, to solve the required changes for.",
)
@details_option
@click.option("--strict", is_flag=True, help="Exit 1 unless every configuration passes.")
@study_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    study: str | None,
    among: tuple[str, ...],
    by: str | None,
    show: int | None,
    lacks: int,
    everything: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """What to buy for targets: the cheapest of what passes, the best of each device, what the others lack.

    symroof select STUDY.yaml --among hardware=all --among tp=1,2,4,8 --target itl='50 ms' --target cost='2 USD'

    What nobody fixes is searched: group sizes that the engine starts, chunks, prefill on devices of its own, the batch, the replicas;
    never what changes the answers of a model, unless it is listed. Memory is always a target; the others are
    ttft and itl (means of a server under load where --output is known, else of one request alone), cost (per million output
    tokens), price (of one instance per hour) and fleet_price (of all replicas per hour). The exit code is 0 if one passes, 1 if none does.
    """
    from symroof.select.candidates import device_counts, with_candidates
    from symroof.select.recommend import recommended_of
    from symroof.select.selection import select_from
    from symroof.select.selection_json import selection_json
    from symroof.vllm.serve_line import serve_command

    rest, counts = device_counts(pairs(among, "--among"))
    made = with_candidates(study_from(study, options, needs_case=not rest), rest, True)
    choice = select_from(made, by, progress_bar, counts)
    if as_json:
        data = selection_json(choice, progress_bar, show or MOST_DETAILED, lacks)
        found = recommended_of(choice)
        data |= found.as_json(serve_command(found.pick))
        say(json_text(data))
    elif everything:
        say_marked(details(choice, show or MOST_DETAILED, lacks))
    else:
        from symroof.cli.selection_screen import MOST_ROWS, screen

        say_marked(screen(recommended_of(choice), show or MOST_ROWS, context.obj or ()))
    passing = len(choice.passing)
    return int(passing < len(choice.configurations) if strict else not passing)


def details(choice: Selection, show: int, lacks: int) -> str:
    """Tables, warnings, inputs and assumptions."""
    from symroof.report.selection_tables import headline, ledger, parts, warnings

    lines = [headline(choice), *choice.basis]
    lines += [f"! {text}" for text in (*choice.hints, *warnings(choice, show))]
    for part in (*parts(choice, show, lacks), *ledger(choice, show)):
        heading = f"{part.title} ({part.says})" if part.says else part.title
        lines += ["", heading, text_table(part.rows, part.header, "  ")]
        lines += [f"  {note}" for note in part.notes]
    return "\n".join(lines)
