"""The catalogue as tables: the rows of every kind, for ``symroof list`` and for ``sr.models()`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from symroof.errors import nearest
from symroof.table_formats import html_table, text_table

if TYPE_CHECKING:
    from symroof.specs.model import ModelSpec

Rows = list[dict[str, Any]]


class CatalogueTable(list[dict[str, Any]]):
    """Rows by index or name, printed as a table in terminals and notebooks; ``pandas.DataFrame(table)`` works.

    >>> table = CatalogueTable([{"name": "batch_to_ridge", "unknown": "batch"}, {"name": "max_batch_itl", "unknown": "batch"}])
    >>> table["batch_to_ridge"]["unknown"], len(table)
    ('batch', 2)
    >>> table
    name            unknown
    --------------  -------
    batch_to_ridge  batch
    max_batch_itl   batch
    """

    def __getitem__(self, key: Any) -> Any:
        """A row by index, name or symbol, or a table of some.

        Raises:
            KeyError: no row has that name.
        """
        if isinstance(key, slice):
            return CatalogueTable(super().__getitem__(key))
        if isinstance(key, int):
            return super().__getitem__(key)
        from symroof.theory.spellings import symbol_name

        name = symbol_name(key)
        row = next((row for row in self if row["name"] == name), None)
        if row is None:
            raise KeyError(f"{name}: {nearest(str(name), [row['name'] for row in self])}")
        return row

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(row["name"] for row in self))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [[shown(value) for value in row.values()] for row in self]
        return [key.replace("_", " ") for key in (self[0] if self else ())], rows

    def __repr__(self) -> str:
        header, rows = self._cells()
        return text_table(rows, header)

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def shown(value: Any) -> str:
    """A cell as text."""
    if isinstance(value, bool):
        return "default" if value else ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value)


def models() -> Rows:
    from symroof.specs.catalogue import entries
    from symroof.specs.fields import build
    from symroof.specs.model import ModelSpec

    specs = [build(entry.document, ModelSpec) for entry in entries("models").values()]
    return [
        {
            "name": spec.name,
            "title": spec.shown_name,
            "parameters": spec.published_params,
            "active_params": _active(spec) if spec.experts() else None,
            "attention": spec.mixing(),
            "experts": spec.experts(),
            "aliases": list(spec.aliases),
        }
        for spec in specs
    ]


def _active(spec: ModelSpec) -> int:
    """Active parameters per token, from the theory's parameter count."""
    from symroof.symbolic.evaluation import evaluate
    from symroof.symbolic.expressions import inline, names, symbol
    from symroof.theory.layout import SINGLE
    from symroof.theory.switches import assume
    from symroof.theory.totals import totals

    counted = totals(spec.architecture(), assume(), SINGLE).counting()
    definitions, values = dict(counted), spec.values()
    tree = inline(symbol("active_params"), lambda name, _: definitions.get(name))
    return int(evaluate(tree, None, {name: float(values[name]) for name in names(tree)}))


def _fields(item: Any, *names: str, **others: Any) -> dict[str, Any]:
    """Some attributes of something by their names, and what stands beside them."""
    return {name: getattr(item, name) for name in names} | others


def hardware(data: Any) -> dict[str, Any]:
    peaks, memory = data["peaks"], data["memory"]
    peak = peaks.get("fp16") or peaks.get("bf16") or next(iter(peaks.values()))
    return {
        "dense_16_bit_peak": peak["dense"],
        "mem_bandwidth": memory["bandwidth"]["value"],
        "mem_capacity": memory.get("reported", memory["capacity"])["value"],
        "aliases": list(data.get("aliases", [])),
    }


def measured(data: Any) -> dict[str, Any]:
    """The sources of measurements; rows are counted without validation."""
    rows = {name: data.get(name, []) for name in ("measurements", "serving", "ceilings")}
    engines = sorted({row["engine"] for row in (*rows["measurements"], *rows["serving"])})
    return {
        **{name: len(own) for name, own in rows.items()},
        "engines": engines,
        "license": data["license"],
    }


OF_FILES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "hardware": hardware,
    "presets": lambda data: {},
    "theories": lambda data: {"quantities": len(data["define"])},
    "engines": lambda data: {"version": str(data.get("version", "")), "class": data["class"]},
    "measured": measured,
}
"""What a row has of the data of a file, beside its name and title."""


def rows_of_files(kind: str) -> Rows:
    from symroof.specs.catalogue import entries

    return [
        {"name": entry.name, "title": entry.title, **OF_FILES[kind](entry.document.data)}
        for entry in entries(kind).values()
    ]


def quantities() -> Rows:
    from symroof.symbolic.printing import text
    from symroof.theory.quantities import QUANTITIES
    from symroof.theory.theory import theory

    definitions = theory().definitions
    names = ("name", "latex", "unit", "meaning", "reference")
    return [
        _fields(q, *names)
        | {"definition": text(definitions[q.name]) if q.name in definitions else None}
        | {"search": str(q.search) if q.search else None}
        for q in QUANTITIES.values()
    ]


def thresholds() -> Rows:
    from symroof.theory.declarations import THRESHOLDS

    names = ("name", "group", "unknown", "reference", "equation")
    return [_fields(t, *names, meaning=t.means) for t in THRESHOLDS.values()]


def assumptions() -> Rows:
    from symroof.theory.switches import SWITCHES

    return [
        {"name": s.name, "value": value, "default": value == s.default, "meaning": meaning}
        for s in SWITCHES.values()
        for value, meaning in s.values.items()
    ]


def precisions() -> Rows:
    from symroof.specs.precision import listed_precisions
    from symroof.specs.quantization import BITS

    plain = "every parameter or element at this width"
    rows: list[tuple[str, float, str]] = [(n, bits, plain) for n, bits in BITS.items()]
    rows += [(name, float(bits), meaning) for name, bits, meaning in listed_precisions()]
    return [{"name": name, "bits": bits, "meaning": meaning} for name, bits, meaning in rows]


def inputs() -> Rows:
    from symroof.theory.symbols import INPUTS

    names = ("name", "latex", "default", "meaning")
    return [
        _fields(s, *names, unit=s.written_in or s.unit, aliases=list(s.aliases))
        for s in INPUTS.values()
    ]


KINDS: dict[str, Callable[[], Rows]] = {
    "models": models,
    "hardware": partial(rows_of_files, "hardware"),
    "precisions": precisions,
    "quantities": quantities,
    "thresholds": thresholds,
    "assumptions": assumptions,
    **{kind: partial(rows_of_files, kind) for kind in ("presets", "theories", "engines")},
    "inputs": inputs,
    "measured": partial(rows_of_files, "measured"),
}
