"""``symroof calibrate``: efficiencies and overheads from measured latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import (
    fitted_table,
    say,
    say_json,
    say_one_of,
    warning_lines,
    wrapped,
    write_file,
)
from symroof.units import format_quantity

if TYPE_CHECKING:
    from symroof.calibrate.calibration_result import Calibration, Parameter


@click.command("calibrate")
@click.argument("measured", metavar="MEASURED")
@options_of("calibrate")
@study_options
def command(
    measured: str,
    study: str | None,
    fit: str | None,
    out: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit efficiencies (MFU, MBU, overheads) to your own measurements.

    symroof calibrate docs/measured.csv --model llama-3.1-8b --hardware h100-sxm

    MEASURED is a CSV file whose columns are inputs (prompt, batch, tp ...) and times (ttft_ms, itl_ms), or the output of a benchmark: vllm
    bench serve, SGLang, genai-perf, AIPerf, trtllm-bench, llama-bench. itl is the time of one step at `context`, by default the prompt.
    A row faster than the peak allows is an error.
    """
    names = [name.strip() for name in fit.split(",") if name.strip()] if fit is not None else None
    if measured.lower().endswith((".yaml", ".yml")) and study is None:
        raise click.UsageError(f"{measured} is a study: name the file of measurements before it")
    made = study_from(study, options)
    fitted = made.calibrate(measured, names)
    say_one_of(made.cases, "calibrating")
    if out == "-":
        say(fitted.block(), nl=False)
        return
    if out:
        write_file(out, fitted.block(), measured, study)
    if as_json:
        say_json(calibration_json(fitted))
    else:
        say("\n".join(calibration_lines(fitted, everything)))


def calibration_json(fit: Calibration) -> dict[str, Any]:
    """The fit as JSON: base units, residuals as fractions."""
    ledger = fit.answers.ledger(_metrics(fit), everything=False)
    names = {p.name for p in fit.parameters}
    return {
        "schema": "symroof/calibrate/1",
        "parameters": {
            p.name: {
                **{name: getattr(p, name) for name in ("value", "unit", "low", "high")},
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
                "line": r.measurement.line,
                "metric": r.measurement.metric,
                "measured": float(r.measurement.seconds),
                "fitted": r.fitted,
                "residual": r.relative,
                "bound": r.bound,
            }
            for r in fit.residuals
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
MORE = "--all shows every row and the inputs held fixed with sources; -o FILE writes the block."


def calibration_lines(fit: Calibration, everything: bool) -> list[str]:
    """Parameters, how well they fit, the rows that fit least or all, what the fit holds constant, and the block for a study."""
    from symroof.analysis.case_summary import case_title
    from symroof.cli.case_screen import assumed, ledger

    most = len(fit.residuals) if everything else FARTHEST
    warned = len(fit.warnings) if everything else 4
    lines = wrapped(f"{case_title(fit.answers)}: fitted to {len(fit.residuals)} measured times")
    told = [text for text in fit.warnings if everything or " is not determined " not in text]
    lines += warning_lines(told, warned)
    head = ["fitted", "value", f"{fit.level:.0%} interval", ""]
    lines.append(fitted_table([_shown(p) for p in fit.parameters], head, "  "))
    typical = f"typical residual {fit.deviation:.1%}; " if fit.deviation is not None else ""
    free = f"Student's t with {fit.freedom} degrees of freedom"
    method = f"least squares on relative residuals, {free}"
    lines.append(f"{typical}{method}" if everything else f"{typical}largest residuals:")
    rows = fit.residuals if everything else sorted(fit.residuals, key=lambda r: -abs(r.relative))
    head = ["line", "", "measured", "fitted", "residual", "limited by"]
    lines.append(fitted_table([_row(r) for r in rows[:most]], head, "  "))
    moved = {name for r in fit.residuals for name in r.measurement.inputs}
    fitted = moved | {p.name for p in fit.parameters}
    if everything:
        lines += ledger(fit.answers, _metrics(fit), but=fitted)
        return [*lines, "", "for a study file:", fit.block().rstrip()]
    lines.append("for a study file:")
    for text in fit.block().splitlines():
        lines += wrapped(text, "      ", "  ") if not text.startswith("#") else []
    return [*lines, *assumed(fit.answers, _metrics(fit), but=fitted, remark=MORE)]


def _shown(p: Parameter) -> list[str]:
    from symroof.calibrate.calibration_result import to_four_digits

    if p.value is None:
        return [p.name, "not determined by these rows", "", p.note]
    value, *ends = (
        format_quantity(to_four_digits(each), p.unit)
        for each in (p.value, p.low, p.high)
        if each is not None
    )
    return [p.name, value, " to ".join(ends) if len(ends) > 1 else "", p.note]


def _row(r: Any) -> list[str]:
    from symroof.calibrate.calibration_result import to_four_digits

    m = r.measurement
    times = [format_quantity(time, "s") for time in (m.seconds, to_four_digits(r.fitted))]
    return [str(m.line), m.metric, *times, f"{100 * r.relative:+.1f} %", r.bound]
