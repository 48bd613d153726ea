"""``symroof list``: the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import json_option
from symroof.cli.output import json_text, say

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec

Rows = list[dict[str, Any]]


def models() -> Rows:
    from symroof.specs.catalogue import entries
    from symroof.specs.fields import build
    from symroof.specs.model import ModelSpec

    return [_model(build(entry.document, ModelSpec)) for entry in entries("models").values()]


def _model(spec: ModelSpec) -> dict[str, Any]:
    experts = spec.experts()
    return {
        "name": spec.name, "title": spec.shown_name, "parameters": spec.published_params, "active_params": _active(spec) if experts else None,
        "attention": spec.mixing(), "experts": experts, "aliases": list(spec.aliases),
    }  # fmt: skip


def _active(spec: ModelSpec) -> int:
    """The parameters that a token multiplies, by the part of the theory that counts parameters."""
    from symroof.specs.quantization import Dimensions
    from symroof.theory.totals import counting

    return int(Dimensions(spec.values(), counting(spec.architecture())).value("active_params"))


def hardware() -> Rows:
    from symroof.specs.catalogue import entries

    rows = []
    for entry in entries("hardware").values():
        data = entry.document.data
        memory = data["memory"]
        peak = data["peaks"].get("fp16") or data["peaks"].get("bf16") or next(iter(data["peaks"].values()))
        rows.append({
            "name": entry.name, "title": entry.title, "dense_16_bit_peak": peak["dense"], "mem_bandwidth": memory["bandwidth"]["value"],
            "mem_capacity": memory.get("reported", memory["capacity"])["value"], "aliases": list(entry.aliases),
        })  # fmt: skip
    return rows


def quantities() -> Rows:
    from symroof.formula.text import text
    from symroof.theory.quantities import QUANTITIES
    from symroof.theory.theory import theory

    definitions = theory().definitions
    return [
        {
            "name": q.name, "latex": q.latex, "unit": q.unit, "meaning": q.meaning, "reference": q.reference,
            "definition": text(definitions[q.name]) if q.name in definitions else None,
        }
        for q in QUANTITIES.values()
    ]  # fmt: skip


def thresholds() -> Rows:
    from symroof.theory.thresholds import THRESHOLDS

    return [
        {"name": t.name, "group": t.group, "unknown": t.unknown, "meaning": t.means, "reference": t.reference, "equation": t.equation}
        for t in THRESHOLDS.values()
    ]


def assumptions() -> Rows:
    from symroof.theory.switches import SWITCHES

    return [
        {"name": s.name, "value": value, "default": value == s.default, "meaning": meaning} for s in SWITCHES.values() for value, meaning in s.values.items()
    ]


def presets() -> Rows:
    from symroof.specs.catalogue import entries

    return [{"name": e.name, "title": e.title} for e in entries("presets").values()]


def measured() -> Rows:
    """The sources of measurements, counted without validating their rows."""
    from symroof.specs.catalogue import entries

    rows = []
    for entry in entries("measured").values():
        data = entry.document.data
        measurements = data.get("measurements", [])
        rows.append({
            "name": entry.name, "title": entry.title, "measurements": len(measurements), "ceilings": len(data.get("ceilings", [])),
            "engines": sorted({row["engine"] for row in measurements}), "license": data["license"],
        })  # fmt: skip
    return rows


def theories() -> Rows:
    from symroof.specs.catalogue import entries

    return [{"name": entry.name, "title": entry.title, "quantities": len(entry.document.data["define"])} for entry in entries("theories").values()]


def precisions() -> Rows:
    from symroof.specs.precision import BITS
    from symroof.specs.stored import listed

    plain = [{"name": name, "bits": bits, "meaning": "every parameter or element at this width"} for name, bits in BITS.items()]
    return [*plain, *({"name": name, "bits": float(bits), "meaning": meaning} for name, bits, meaning in listed())]


def inputs() -> Rows:
    from symroof.theory.symbols import INPUTS

    return [
        {"name": s.name, "latex": s.latex, "unit": s.written_in or s.unit, "default": s.default, "meaning": s.meaning, "aliases": list(s.aliases)}
        for s in INPUTS.values()
    ]


KINDS: dict[str, Callable[[], Rows]] = {
    "models": models, "hardware": hardware, "precisions": precisions, "quantities": quantities, "thresholds": thresholds,
    "assumptions": assumptions, "presets": presets, "theories": theories, "inputs": inputs, "measured": measured,
}  # fmt: skip


UNPRINTED = {"models": {"title"}, "measured": {"engines"}}
"""Columns of the JSON alone: a model's title repeats its name."""


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)))
@json_option
def command(kind: str, as_json: bool) -> None:
    """The catalogue: what symroof knows by name."""
    say(listing(kind, as_json))


def listing(kind: str, as_json: bool) -> str:
    """Every entry of a kind, as a table or as one JSON object."""
    rows = KINDS[kind]()
    if as_json:
        return json_text({"schema": "symroof/list/1", "kind": kind, "entries": rows}, default=str)
    from symroof.report.text_table import table

    shown = [key for key in rows[0] if key not in UNPRINTED.get(kind, ())]
    return table([[_cell(row[key]) for key in shown] for row in rows], [key.replace("_", " ") for key in shown])


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "default" if value else ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
