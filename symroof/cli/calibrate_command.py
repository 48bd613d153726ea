"""``symroof calibrate``: efficiencies and overheads from measured latencies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import all_option, json_option, study_from, study_options
from symroof.cli.output import json_text, say, say_one_of, write_file
from symroof.errors import InputError, Problem

if TYPE_CHECKING:
    from symroof.calibrate.calibration_result import Calibration, Parameter


@click.command("calibrate")
@click.argument("measured", metavar="MEASURED")
@click.option(
    "--fit",
    metavar="LIST",
    help="Parameters to fit, comma-separated: mfu, mbu, step_overhead, layer_overhead, link_latency, prefill_overhead, queue_time.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Also write the block for a study file here; - writes only the block, to standard output.",
)
@all_option
@study_options
@json_option
def command(
    measured: str,
    study: str | None,
    fit: str | None,
    out: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit MFU, MBU and overheads to measured latencies.

    symroof calibrate docs/measured.csv --model llama-3.1-8b --hardware h100-sxm

    The first line of MEASURED.csv names its columns: any input (prompt, batch, tp, context, cached_prefix ...) and ttft,
    itl or both, with a unit where it is not the second: ttft_ms, itl_ms. itl is the time of one step at `context`, the
    prompt where there is none; a mean over a response belongs to its middle context, prompt + output/2.

    MEASURED may also be what a benchmark prints or writes: vllm bench serve, SGLang, genai-perf, AIPerf, trtllm-bench, llama-bench; or a table with columns
    such as ISL, OSL, Concurrency, TTFT (ms), TPOT (ms). Several requests in flight are a closed loop; a time that includes a queue is not used, and is
    reported.

    A row faster than the peak allows is an error: the row or the case is wrong.
    """
    names = [name.strip() for name in fit.split(",") if name.strip()] if fit is not None else None
    made = study_from(study, options)
    if (
        out
        and out != "-"
        and os.path.exists(out)
        and any(
            os.path.samefile(out, path)
            for path in (measured, study)
            if path and os.path.exists(path)
        )
    ):
        raise InputError(
            Problem(
                out,
                "is an input file, which the fitted block would overwrite",
                hint="write it to another file",
            )
        )
    fitted = made.calibrate(measured, names)
    say_one_of(made.cases, "calibrating")
    if out == "-":
        say(fitted.block(), nl=False)
        return
    if out:
        write_file(out, fitted.block())
    say(
        json_text(calibration_json(fitted))
        if as_json
        else calibration_text(fitted)
        if everything
        else screen(fitted)
    )


def calibration_json(fit: Calibration) -> dict[str, Any]:
    """The fit as JSON: base units, residuals as fractions."""
    from symroof.calibrate.terms import unit_of

    ledger = fit.answers.ledger(_metrics(fit), everything=False)
    names = {p.name for p in fit.parameters}
    return {
        "schema": "symroof/calibrate/1",
        "parameters": {
            p.name: {
                "value": p.value,
                "unit": unit_of(p.name),
                "low": p.low,
                "high": p.high,
                "determined": p.value is not None,
                "note": p.note,
            }
            for p in fit.parameters
        },
        "level": fit.level,
        "freedom": fit.freedom,
        "deviation": fit.deviation,
        "rows": [
            {
                "line": m.line,
                "metric": m.metric,
                "measured": float(m.seconds),
                "fitted": r.fitted,
                "residual": r.relative,
                "bound": r.bound,
            }
            for r, m in ((r, r.measurement) for r in fit.residuals)
        ],
        "inputs": {name: entry for name, entry in ledger["inputs"].items() if name not in names},
        "assumptions": ledger["assumptions"],
        "warnings": list(fit.warnings),
        "block": fit.block(),
    }


def _metrics(fit: Calibration) -> tuple[str, ...]:
    return tuple(sorted({r.measurement.metric for r in fit.residuals}))


FARTHEST = 3
"""Rows of a first screen: those that the fit meets least."""


def screen(fit: Calibration) -> str:
    """Parameters, how well they fit, the rows that fit least, and the block for a study."""
    from symroof.analysis.case_titles import case_title
    from symroof.cli.case_screen import rests_on
    from symroof.cli.terminal import folded_table, warning_lines, wrapped

    count = len(fit.residuals)
    lines = [
        *wrapped(f"{case_title(fit.answers)}: fitted to {count} measured times", "  ", ""),
        *warning_lines(fit.warnings),
    ]
    lines += [
        folded_table(
            [_shown(p) for p in fit.parameters],
            ["fitted", "value", f"{fit.level:.0%} interval", ""],
            "  ",
        )
    ]
    lines += (
        [f"typical residual {fit.deviation:.1%}; the farthest:"]
        if fit.deviation is not None
        else ["farthest from the fit:"]
    )
    ranked = sorted(fit.residuals, key=lambda r: -abs(r.relative))[:FARTHEST]
    lines += [
        folded_table(
            [_row(r) for r in ranked],
            ["line", "", "measured", "fitted", "residual", "limited by"],
            "  ",
        )
    ]
    fitted = {p.name for p in fit.parameters} | {
        name for r in fit.residuals for name in r.measurement.inputs
    }
    lines += rests_on(fit.answers, names=_metrics(fit), but=fitted)
    block = [
        line
        for text in fit.block().splitlines()
        if not text.startswith("#")
        for line in wrapped(text, "      ", "  ")
    ]
    lines += ["for a study file:", *block]
    return "\n".join(
        [
            *lines,
            *wrapped(
                "--all: every row, inputs held fixed with their sources, counting choices; -o FILE writes the block",
                "  ",
                "",
            ),
        ]
    )


def calibration_text(fit: Calibration) -> str:
    """Parameters, warnings, residuals, held inputs, and the block."""
    from symroof.analysis.case_titles import case_title
    from symroof.table_formats import text_table

    lines = [
        f"== {case_title(fit.answers)}: {len(fit.residuals)} measured times ==",
        *(f"! {warning}" for warning in fit.warnings),
        "",
    ]
    lines += [
        text_table(
            [_shown(p) for p in fit.parameters],
            ["fitted", "value", f"{fit.level:.0%} interval", ""],
        )
    ]
    how = f"least squares of relative residuals; Student's t with {fit.freedom} degree{'s' * (fit.freedom != 1)} of freedom"
    lines += [
        how + (f"; typical residual {fit.deviation:.2%}" if fit.deviation is not None else ""),
        "",
    ]
    lines += [
        "rows",
        text_table(
            [_row(r) for r in fit.residuals],
            ["line", "", "measured", "fitted", "residual", "limited by"],
            indent="  ",
        ),
        "",
    ]
    return "\n".join([*lines, *_held(fit), "", "for a study file", fit.block().rstrip("\n")])


def _shown(p: Parameter) -> list[str]:
    if p.value is None:
        return [p.name, "not determined by these rows", "", p.note]
    interval = (
        ""
        if p.low is None or p.high is None
        else f"{_written(p.name, p.low)} to {_written(p.name, p.high)}"
    )
    return [p.name, _written(p.name, p.value), interval, p.note]


def _written(name: str, value: float) -> str:
    from symroof.calibrate.calibration_result import to_four_digits
    from symroof.calibrate.terms import unit_of
    from symroof.units import format_quantity

    return format_quantity(to_four_digits(value), unit_of(name))


def _row(r: Any) -> list[str]:
    from symroof.calibrate.calibration_result import to_four_digits
    from symroof.units import format_quantity

    m = r.measurement
    return [
        str(m.line),
        m.metric,
        format_quantity(m.seconds, "s"),
        format_quantity(to_four_digits(r.fitted), "s"),
        f"{100 * r.relative:+.1f} %",
        r.bound,
    ]


def _held(fit: Calibration) -> list[str]:
    """Inputs and switches that the fit holds constant."""
    from symroof.cli.output import inputs_table, switches_line

    fitted = {p.name for p in fit.parameters} | {
        name for r in fit.residuals for name in r.measurement.inputs
    }
    held = {
        name: i
        for name, i in fit.answers.inputs(_metrics(fit), everything=False).items()
        if name not in fitted
    }
    return ["inputs held fixed (* = defaulted)", inputs_table(held), switches_line(fit.answers)]
