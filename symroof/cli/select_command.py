"""``symroof select``: hardware and configuration against targets.

``--json``: ``recommendation`` and ``reason``, ``targets``, ``basis``, ``sorted_by``, ``passing``, and ``configurations`` in the order of
the table. The first 20 of them are evaluated in detail (``worked_out``); of each

- ``layout`` and ``copies`` are what was chosen: given these, ``eval`` says the same; ``batch`` is where it is judged, ``batches`` the largest that passes, and what stops a larger one;
- ``checks`` have a slack in the metric's unit and as a share of the limit, negative where it is missed; ``met`` is null where it holds in a part of the ranges.
"""

from __future__ import annotations

from typing import Any

import click

from symroof.cli.options import options_of, pairs, study_from, study_options
from symroof.cli.terminal import progress_bar, say_json, say_marked


@click.command("select")
@options_of("select")
@study_options
@click.pass_context
def command(
    context: click.Context,
    /,
    study: str | None,
    among: tuple[str, ...],
    everything: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """What to buy: the cheapest configuration that meets your targets, and the best of each device.

    symroof select STUDY.yaml --among hardware=all --among tp=1,2,4,8 --target itl='50 ms' --target cost='2 USD'

    Parallelism, chunk size, disaggregated prefill, batch and replicas are searched unless you fix them; precisions never are, because they
    change a model's answers. Everything must fit in memory. Targets: ttft and itl (means under load if --output is known), cost (per
    million output tokens), price (one replica per hour), fleet_price (all replicas per hour). Exit code 0 if one passes, 1 if none does.
    """
    from symroof.cli.selection_screen import screen
    from symroof.select.candidates import with_candidates
    from symroof.select.recommend import recommended_of
    from symroof.select.selection import select_from, selection_json
    from symroof.vllm.advice import serve_command

    if "all" in options["hardware"]:
        among, options["hardware"] = (*among, "hardware=all"), ()
    listed = pairs(among, "--among")
    made = with_candidates(study_from(study, options, needs_case=not listed), listed, True)
    choice = select_from(made, progress_bar)
    if as_json:
        data = selection_json(choice, progress_bar)
        found = recommended_of(choice)
        data |= found.as_json(serve_command(found.pick))
        say_json(data)
    else:
        say_marked(screen(recommended_of(choice), context.obj or (), everything))
    passing = len(choice.passing)
    return int(passing < len(choice.configurations) if strict else not passing)
