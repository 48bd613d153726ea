"""One catalogue entry as facts: what ``symroof show`` prints.

Of a file it is the fields as they are written; of a model, what its layers add up to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symroof.analysis.case_summary import added_token
from symroof.cases.bound_case import BoundCase
from symroof.cases.spec_inputs import model_values
from symroof.cases.values import Input, Result
from symroof.errors import InputError, Problem, nearest
from symroof.report.catalogue_tables import KINDS, shown
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.model import ModelSpec
from symroof.specs.sources import Source
from symroof.specs.spec_files import file_kind, holds_config, model_path, read_spec, spec_class
from symroof.strict_yaml import Document, Location, path_text
from symroof.symbolic.expressions import number
from symroof.theory.architecture import PARAMETER_GROUPS
from symroof.theory.declarations import THRESHOLDS
from symroof.theory.operator_table import parameters, placed_rows
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, canonical
from symroof.units import format_quantity, is_whole


@dataclass
class CatalogueEntry:
    """Facts (name, value, remark) and notes."""

    kind: str
    title: str
    facts: list[list[str]]
    notes: list[str] = field(default_factory=list)


def entry(name: str, assume_family: str | None = None) -> CatalogueEntry:
    """The catalogue entry of a name or a path.

    Raises:
        InputError: an unknown name, with the nearest known one.
    """
    declared = _declared(canonical(name))
    if declared:
        return declared
    path = model_path(name)
    if path is not None and holds_config(path):
        return model_entry(read_spec("models", name, None, assume_family)[0])
    return _from_document(_document(name))


def _declared(name: str) -> CatalogueEntry | None:
    if name in SWITCHES:
        switch = SWITCHES[name]
        rows = [[v, m, "default" * (v == switch.default)] for v, m in switch.values.items()]
        return CatalogueEntry("assumption", name, rows)
    declared: dict[str, Any] = {"threshold": THRESHOLDS, "input": INPUTS, "quantity": QUANTITIES}
    kind = next((kind for kind, names in declared.items() if name in names), None)
    if kind is None:
        return None
    row = next(row for row in KINDS[f"{kind}s".replace("ys", "ies")]() if row.pop("name") == name)
    if kind == "threshold":
        t = THRESHOLDS[name]
        row |= {"never, left side below": t.below, "never, left side above": t.above}
    if kind == "quantity" and (q := QUANTITIES[name]).switch:
        row |= {f"with {q.switch} {value}": definition for value, definition in q.variants}
    facts = [[key, shown(value), ""] for key, value in row.items() if value not in (None, "", [])]
    return CatalogueEntry(kind, name, facts)


SHOWN = ("models", "hardware", "presets", "measured", "theories", "engines")


def _document(name: str) -> Document:
    for kind in sorted(SHOWN, key=lambda kind: not catalogue.has_entry(kind, name)):  # exact first
        try:
            return catalogue.find(kind, name)
        except InputError:
            several = len(catalogue.entries_matching(kind, name)) > 1
            if "/" in name or catalogue.is_path(name) or several:
                raise
    entries = [entry for kind in SHOWN for entry in catalogue.entries(kind).values()]
    known = [alias for entry in entries for alias in (entry.name, *entry.aliases)]
    near = nearest(name, [*known, *QUANTITIES, *INPUTS, *THRESHOLDS, *SWITCHES])
    lists = "`symroof list models`, hardware, quantities, inputs or thresholds shows names; a path to a file works too"
    raise InputError(Problem(name, "unknown name", hint=near or lists))


UNSHOWN = ("title", "aliases", "sources", "notes")
REMARKS = ("source", "note")


def _from_document(document: Document) -> CatalogueEntry:
    """The fields of a file, one a row, with their sources."""
    kind = file_kind(document)
    spec: Any = build(document, spec_class(kind))
    if isinstance(spec, ModelSpec):
        return model_entry(spec)
    facts, fields = list[list[str]](), Fields(document, getattr(spec, "sources", {}))
    for name, value in document.data.items():
        if isinstance(spec, HardwareSpec) and name == "peaks" and (price := spec.price):
            shown = Result(INPUTS["price"], price.middle, price.low, price.high).plain()
            facts.append(["price", shown, "median of the list prices on demand, lowest to highest"])
        if name not in UNSHOWN:
            facts += fields.facts((name,), value)
    title = str(getattr(spec, "title", None) or document.file)
    return CatalogueEntry(kind, title, facts, list(spec.notes))


@dataclass(frozen=True)
class Fields:
    """The fields of a file as text, with each source in full."""

    document: Document
    sources: dict[str, Source]

    def facts(self, place: Location, value: Any) -> Iterator[list[str]]:
        """Place, value and source of each field below a place; plain fields with one source are one fact."""
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for i, each in enumerate(value):
                yield self._record((*place, i), each)
        elif isinstance(value, dict) and (REMARKS[0] in value or "value" in value):
            yield self._record(place, value)
        elif isinstance(value, dict) and place[-1] not in REMARKS:
            for key, each in value.items():
                yield from self.facts((*place, key), each)
        else:
            yield [path_text(place), self.cell(place, value), ""]

    def _record(self, place: Location, value: dict[str, Any]) -> list[str]:
        cells = {key: self.cell((*place, key), each) for key, each in value.items()}
        remarks = "; ".join(cells.pop(key) for key in REMARKS if key in cells)
        named = (f"{key} {cell}" if key != "value" else cell for key, cell in cells.items())
        return [path_text(place), ", ".join(named), remarks]

    def cell(self, place: Location, value: Any) -> str:
        if place[-1] == "source" and isinstance(value, dict):
            source = Source.model_validate(value)
            return f"{source} {source.address or ''}".strip()
        if place[-1] == "source" and value in self.sources:
            return str(self.sources[value])
        if isinstance(value, dict):
            return ", ".join(f"{key} {self.cell((*place, key), x)}" for key, x in value.items())
        if isinstance(value, list):
            return "; ".join(self.cell((*place, i), x) for i, x in enumerate(value))
        return self.document.written.get(place, str(value))


CACHE, ADDED = "kv_bytes_per_token", "kv_bytes_per_added_token"
MODEL_FACTS = (
    "params",
    "active_params",
    "weight_bytes_read",
    CACHE,
    ADDED,
    "linear_flops_per_token",
    "attention_flops_per_pair",
    "head_flops_per_row",
)


def model_entry(spec: ModelSpec) -> CatalogueEntry:
    """A model: its layers, its totals, its parameters by part, and what its file left out."""
    given = model_values(spec)
    if spec.max_context:
        given["context"] = Input(number(spec.max_context), "the longest context")
    answers = BoundCase(spec, given=given)
    source = f"{spec.source} {spec.source.address or ''}".strip() if spec.source else "none given"
    facts = [["name", spec.name, ""], ["source", source, ""], *_layers(spec)]
    shown = (name for name in MODEL_FACTS if name != ADDED or added_token(answers, CACHE))
    for result in filter(None, map(answers.get, shown)):
        whole = isinstance(result.value, float | Fraction) and is_whole(result.value)
        exact = f"{int(result.value):,} {result.symbol.unit}" if whole else ""
        facts.append([result.name, result.text(), exact])
    if count := spec.published_params:
        facts.append(["published", format_quantity(Fraction(count), "parameter"), f"{count:,}"])
    facts += _parameters(answers) if spec.layers else []
    facts += [[f"filled in: {each.field}", str(each.value), each.why] for each in spec.filled]
    for stored in spec.checkpoints:
        kept = f"kept wide: {', '.join(stored.kept)}" if stored.kept else ""
        cache = f", cache {stored.kv}" if stored.kv else ""
        facts.append([stored.name, f"weights {stored.precision}{cache}", kept])
    wide = "Bytes are at 16 bits for weights and cache; `symroof eval` takes other precisions."
    read = spec.quantization
    notes = [*spec.caveats, *(read.unread if read else ()), *spec.notes, wide]
    notes += read.notes if read else ()
    return CatalogueEntry("model", spec.shown_name, facts, notes)


def _layers(spec: ModelSpec) -> list[list[str]]:
    rows = []
    for label, kind in zip(spec.labels(), spec.layers, strict=True):
        mixers: list[Any] = [kind.mixer] if kind.mixer else []
        if kind.attention.kind != "none" or not mixers:
            mixers.insert(0, kind.attention)
        what = f"{' beside '.join(map(_block, mixers))}; {_block(kind.ffn)}"
        rows.append([f"{kind.count} layers, {label}", what, ""])
    return rows


def _block(block: Any) -> str:
    """A part of a layer: its kind, its widths by name, and what it has."""
    fields = {name: value for name, value in block if name != "kind" and value}
    widths = [f"{name} {value:,}" for name, value in fields.items() if type(value) is int]
    traits = [name.replace("_", " ") for name, value in fields.items() if value is True]
    described = f"{block.kind}: {', '.join(widths)}" if widths else block.kind
    return f"{described} ({', '.join(traits)})" if traits else described


def _parameters(answers: BoundCase) -> list[list[str]]:
    """The parameters of each part of the model, and their share."""
    groups: dict[str, list[Any]] = {}
    for cell in placed_rows(answers.case.theory.architecture, answers.assumptions):
        if cell.stream == "params":
            groups.setdefault(PARAMETER_GROUPS[cell.operator], []).append(cell)
    rows, whole = [], answers.case.value("params")
    for part, cells in groups.items():
        count = answers.case.evaluate(parameters(cells))
        rows.append([f"params of {part}", f"{int(count):,}", f"{float(count / whole):.2%}"])
    return rows
