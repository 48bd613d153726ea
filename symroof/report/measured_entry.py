"""A source of measurements as facts and tables: what ``symroof show`` prints of it."""

from symroof.report.entry import Entry, Table
from symroof.specs.measured import MeasuredSpec, ServedRate


def measured_entry(spec: MeasuredSpec) -> Entry:
    """A source of measurements: what its figures mean, and every row."""
    facts = [["name", spec.name], ["source", f"{spec.source} {spec.source.address or ''}".strip()], ["licence", spec.license], ["definition", spec.definition]]
    facts += [["quality", spec.quality]] if spec.quality else []
    rows = [
        [
            row.engine, row.engine_class, row.model, row.device, row.stored or row.weights, row.kv, str(row.tp), str(row.pp),
            str(row.batch), str(row.prompt), str(row.output or ""), row.metric, row.value.text, row.place,
        ]
        for row in spec.measurements
    ]  # fmt: skip
    columns = ["engine", "class", "model", "device", "weights", "kv", "tp", "pp", "batch", "prompt", "output", "metric", "value", "place"]
    ceilings = [
        [row.engine, row.device, str(row.devices), row.op, ", ".join(f"{k} {v}" for k, v in row.shape.items()), row.precision or "", row.value.text, row.place]
        for row in spec.ceilings
    ]
    tables: list[Table] = [("measurements", columns, rows)] if rows else []
    tables += [("servers under load", SERVED_COLUMNS, [_served(row) for row in spec.serving])] if spec.serving else []
    tables += [("ceilings", ["engine", "device", "devices", "operator", "shape", "precision", "value", "place"], ceilings)] if ceilings else []
    return Entry("measured", spec.title, facts, tables, list(spec.notes))


SERVED_COLUMNS = ["engine", "model", "device", "devices", "layout", "weights", "kv", "prompt", "output", "value", "place"]


def _served(row: ServedRate) -> list[str]:
    layout = " ".join(f"{name} {degree}" for name in ("tp", "pp", "attention_dp") if (degree := getattr(row, name)))
    lengths = [f"{float(length.value):g}" if length else "" for length in (row.prompt, row.output)]
    return [row.engine, row.model, row.device, str(row.devices), layout, row.weights, row.kv, *lengths, row.value.text, row.place]
