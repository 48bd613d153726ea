"""One catalogue entry as facts and tables: what ``symroof show`` prints."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.case_inputs import LoadedSpec
from symroof.cases.quantity_result import Result
from symroof.cases.request import Request
from symroof.cases.spec_inputs import model_values
from symroof.errors import InputError, Problem, nearest
from symroof.specs import catalogue
from symroof.specs.fields import ValueRange, build
from symroof.specs.file_kinds import file_kind, spec_class
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting
from symroof.specs.layer_order import runs
from symroof.specs.layers import FeedForward, GroupedAttention, LayerBlock, LayerKind
from symroof.specs.measured import MeasuredSpec, ServedRate
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import holds_config, model_path, read_model
from symroof.specs.preset import PresetSpec
from symroof.specs.user_theory import TheorySpec
from symroof.strict_yaml import Document
from symroof.symbolic.expressions import fraction, is_number
from symroof.symbolic.printing import text
from symroof.theory.layer_rows import PARAMETER_GROUPS
from symroof.theory.operator_table import parameters, placed_rows, total
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import INPUTS, base_name, canonical
from symroof.theory.theory import theory
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import format_quantity, is_whole

EntryTable = tuple[str, list[str], list[list[str]]]


@dataclass
class CatalogueEntry:
    """Facts (name, value, remark), tables (heading, header, rows) and notes."""

    kind: str
    title: str
    facts: list[list[str]] = field(default_factory=list)
    tables: list[EntryTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        tables = [
            {"title": heading, "columns": header, "rows": rows}
            for heading, header, rows in self.tables
        ]
        return {
            "kind": self.kind,
            "title": self.title,
            "facts": self.facts,
            "tables": tables,
            "notes": self.notes,
        }


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
        return model_entry(read_model(name, None, assume_family)[0])
    return _from_document(_document(name))


def _declared(name: str) -> CatalogueEntry | None:
    if name in THRESHOLDS:
        t = THRESHOLDS[name]
        facts = [
            ["equation", t.equation],
            ["solved for", t.unknown],
            ["meaning", t.means],
            ["reference", t.reference],
            ["never, left side below", t.below],
            ["never, left side above", t.above],
        ]
        parts = theory().parts(t.step)
        return CatalogueEntry(
            "threshold",
            t.name,
            facts
            + (
                [["of one operator", ", ".join(f"{t.name}.{part}" for part in parts)]]
                if parts
                else []
            ),
        )
    if name in SWITCHES:
        rows = [
            [value, meaning, "default" if value == SWITCHES[name].default else ""]
            for value, meaning in SWITCHES[name].values.items()
        ]
        return CatalogueEntry("assumption", name, tables=[("values", [], rows)])
    if name in QUANTITIES:
        q = QUANTITIES[name]
        definition = theory().definitions.get(name)
        facts = [["LaTeX", q.latex], ["unit", q.unit or "plain number"], ["meaning", q.meaning]]
        facts += (
            [["definition", text(definition)]]
            if definition is not None
            else [["definition", str(q.search)]]
            if q.search
            else []
        )
        facts += [["reference", q.reference]]
        return CatalogueEntry(
            "quantity",
            name,
            facts,
            [(f"by {q.switch}", [], [list(v) for v in q.variants])] if q.switch else [],
        )
    if name in INPUTS:
        s = INPUTS[name]
        facts = [
            ["LaTeX", s.latex],
            ["unit", s.written_in or s.unit or "plain number"],
            ["meaning", s.meaning],
            ["default", s.default or "none"],
        ]
        return CatalogueEntry(
            "input", name, facts + ([["also written", ", ".join(s.aliases)]] if s.aliases else [])
        )
    return None


SHOWN = ("models", "hardware", "presets", "measured", "theories", "engines")


def _document(name: str) -> Document:
    for kind in sorted(
        SHOWN, key=lambda kind: not catalogue.has_entry(kind, name)
    ):  # an exact name before partial matches
        try:
            return catalogue.find(kind, name)
        except InputError:
            if (
                "/" in name
                or catalogue.is_path(name)
                or len(catalogue.entries_matching(kind, name)) > 1
            ):
                raise
    known = [
        alias
        for kind in SHOWN
        for e in catalogue.entries(kind).values()
        for alias in (e.name, *e.aliases)
    ]
    near = nearest(name, [*known, *QUANTITIES, *INPUTS, *THRESHOLDS, *SWITCHES])
    raise InputError(
        Problem(
            name,
            "unknown name",
            hint=near
            or "`symroof list models`, hardware, quantities, inputs or thresholds shows names; a path to a file works too",
        )
    )


def _from_document(document: Document) -> CatalogueEntry:
    kind = file_kind(document)
    spec: Any = build(document, spec_class(kind))
    if isinstance(spec, HardwareSpec):
        return hardware_entry(spec)
    if isinstance(spec, ModelSpec):
        return model_entry(spec)
    if isinstance(spec, MeasuredSpec):
        return measured_entry(spec)
    if isinstance(spec, TheorySpec):
        return theory_entry(spec)
    if isinstance(spec, PresetSpec):
        return preset_entry(spec)
    facts = [
        [name, str(value)]
        for name, value in document.data.items()
        if not isinstance(value, (dict, list))
    ]
    return CatalogueEntry(
        kind, str(getattr(spec, "title", None) or document.file), facts, notes=list(spec.notes)
    )


def theory_entry(spec: TheorySpec) -> CatalogueEntry:
    """A user-defined theory: inputs with defaults, formulas and thresholds, each with its source."""
    inputs = [
        [name, s.unit, "" if s.default is None else str(s.default), s.means, str(s.source or "")]
        for name, s in spec.inputs.items()
    ]
    formulas = [
        [name, s.said, s.unit, s.means, str(s.source or "")] for name, s in spec.define.items()
    ]
    solved = [
        [s.name, s.equation or "", s.unknown or "", s.means or "", str(s.source or "")]
        for s in spec.thresholds
    ]
    tables: list[EntryTable] = [
        ("inputs", ["name", "unit", "default", "meaning", "source"], inputs),
        ("quantities", ["name", "formula", "unit", "meaning", "source"], formulas),
        ("thresholds", ["name", "equation", "solved for", "meaning", "source"], solved),
    ]
    facts = [["name", spec.name], ["source", str(spec.source or "none given")]]
    return CatalogueEntry(
        "theory", spec.title, facts, [table for table in tables if table[2]], list(spec.notes)
    )


def hardware_entry(spec: HardwareSpec) -> CatalogueEntry:
    """A device: every number with its source."""
    facts = [
        ["name", spec.name],
        ["vendor", spec.vendor],
        ["architecture", spec.architecture or ""],
        ["released", str(spec.released or "")],
    ]
    peaks = [
        [
            p,
            v.dense.text,
            v.sparse.text if v.sparse else "",
            v.fp16_accumulate.text if v.fp16_accumulate else "",
            str(spec.source_of(v)),
            v.note or "",
        ]
        for p, v in spec.peaks.items()
    ]
    rest = [
        [where, v.value.text, str(spec.source_of(v)), v.note or ""]
        for where, v in spec.numbers()
        if not where.startswith(("peaks.", "prices."))
    ]
    asked = [
        [p.provider, p.kind.replace("_", " "), p.price.text, str(spec.source_of(p)), p.note or ""]
        for p in spec.prices
    ]
    if spec.price:
        price = Result(INPUTS["price"], spec.price.middle, spec.price.low, spec.price.high).plain()
        facts.append(
            ["price", f"{price}: the median of the list prices on demand, lowest to highest"]
        )
    else:
        facts.append(["price", "no list price on demand was found"])
    tables: list[EntryTable] = [
        (
            "peaks, dense and with 2:4 sparsity",
            ["precision", "dense", "sparse", "with fp16 accumulation", "source", "note"],
            peaks,
        ),
        ("memory, links, power", ["number", "value", "source", "note"], rest),
        *(
            [("list prices of one device", ["provider", "kind", "price", "source", "note"], asked)]
            if asked
            else []
        ),
    ]
    return CatalogueEntry("hardware", spec.title, facts, tables, list(spec.notes))


def preset_entry(spec: PresetSpec) -> CatalogueEntry:
    """A preset: switches, values and definitions of another tool, and its known errors."""
    facts = [
        ["name", spec.name],
        ["source", f"{spec.source} {spec.source.address or ''}".strip()],
        *([["version", spec.version]] if spec.version else []),
    ]
    everywhere = [
        ("", spec.set),
        *((f"on {name}", own) for name, own in spec.hardware.items()),
        *((f"of {name}", own) for name, own in spec.models.items()),
    ]
    values = [
        [name, _setting(name, setting[0]), where]
        for where, own in everywhere
        for name, setting in own.items()
    ]
    values += [
        ["peak_flops", rate.text, f"on {device} at {precision}"]
        for device, rates in spec.peaks.items()
        for precision, rate in rates.items()
    ]
    formulas = [
        [name, own.written, kind]
        for name, whole in spec.definitions.items()
        for kind, own in (("", whole), *whole.kinds)
        if own.own_base
    ]
    formulas = [
        row
        for i, row in enumerate(formulas)
        if row[:2] not in (earlier[:2] for earlier in formulas[:i])
    ]
    formulas += [
        [name, text(term), label]
        for name, own in spec.definitions.items()
        for label, term in own.terms
    ]
    tables: list[EntryTable] = [
        (
            "counting choices",
            ["switch", "value"],
            [[switch, value] for switch, value in spec.assume.items()],
        ),
        ("values", ["name", "value", "where"], values),
        ("definitions", ["quantity", "formula", "for, or adds"], formulas),
        (
            "where",
            ["part", "formula", "for"],
            [
                [name, written, "" if kind == "formula" else kind]
                for name, by in spec.where.items()
                for kind, written in by.items()
            ],
        ),
        (
            "where the tool is wrong",
            ["choice", "slip"],
            [[name, slip] for name, slip in spec.slips.items()],
        ),
    ]
    return CatalogueEntry(
        "preset", spec.title, facts, [table for table in tables if table[2]], list(spec.notes)
    )


def _setting(name: str, value: Setting) -> str:
    """A value of a preset as text."""
    if isinstance(value, ValueRange):
        return value.text
    symbol = INPUTS.get(base_name(name)) or QUANTITIES.get(base_name(name))
    return Result(symbol, fraction(value)).plain(6) if is_number(value) and symbol else text(value)


def measured_entry(spec: MeasuredSpec) -> CatalogueEntry:
    """A source of measurements: the meaning of its figures, and every row."""
    facts = [
        ["name", spec.name],
        ["source", f"{spec.source} {spec.source.address or ''}".strip()],
        ["licence", spec.license],
        ["definition", spec.definition],
    ]
    facts += [["quality", spec.quality]] if spec.quality else []
    rows = [
        [
            row.engine, row.engine_class, row.model, row.device, row.stored or row.weights, row.kv, str(row.tp), str(row.pp),
            str(row.batch), str(row.prompt), str(row.output or ""), row.metric, row.value.text, row.place,
        ]
        for row in spec.measurements
    ]  # fmt: skip
    columns = [
        "engine",
        "class",
        "model",
        "device",
        "weights",
        "kv",
        "tp",
        "pp",
        "batch",
        "prompt",
        "output",
        "metric",
        "value",
        "place",
    ]
    ceilings = [
        [
            row.engine,
            row.device,
            str(row.devices),
            row.op,
            ", ".join(f"{k} {v}" for k, v in row.shape.items()),
            row.precision or "",
            row.value.text,
            row.place,
        ]
        for row in spec.ceilings
    ]
    tables: list[EntryTable] = [("measurements", columns, rows)] if rows else []
    tables += (
        [("servers under load", SERVED_COLUMNS, [_served(row) for row in spec.serving])]
        if spec.serving
        else []
    )
    tables += (
        [
            (
                "ceilings",
                ["engine", "device", "devices", "operator", "shape", "precision", "value", "place"],
                ceilings,
            )
        ]
        if ceilings
        else []
    )
    return CatalogueEntry("measured", spec.title, facts, tables, list(spec.notes))


SERVED_COLUMNS = [
    "engine",
    "model",
    "device",
    "devices",
    "layout",
    "weights",
    "kv",
    "prompt",
    "output",
    "value",
    "place",
]


def _served(row: ServedRate) -> list[str]:
    layout = " ".join(
        f"{name} {degree}"
        for name in ("tp", "pp", "attention_dp")
        if (degree := getattr(row, name))
    )
    lengths = [f"{float(length.value):g}" if length else "" for length in (row.prompt, row.output)]
    return [
        row.engine,
        row.model,
        row.device,
        str(row.devices),
        layout,
        row.weights,
        row.kv,
        *lengths,
        row.value.text,
        row.place,
    ]


MODEL_FACTS = (
    "params", "active_params", "weight_bytes_read", "kv_bytes_per_token", "linear_flops_per_token", "attention_flops_per_pair", "head_flops_per_row",
)  # fmt: skip


def model_entry(spec: ModelSpec) -> CatalogueEntry:
    """A model: layer list, parameters by part, FLOPs and bytes of a token."""
    answers = _bare_case(spec)
    facts = [
        ["name", spec.name],
        [
            "source",
            f"{spec.source} {spec.source.address or ''}".strip() if spec.source else "none given",
        ],
    ]
    for result in filter(None, map(answers.get, MODEL_FACTS)):
        whole = isinstance(result.value, float | Fraction) and is_whole(result.value)
        facts.append(
            [
                result.name,
                result.text(),
                f"{int(result.value):,} {result.symbol.unit}" if whole else "",
            ]
        )
    if spec.published_params:
        facts.append(
            [
                "published",
                format_quantity(Fraction(spec.published_params), "parameter"),
                f"{spec.published_params:,}",
            ]
        )
    tables: list[EntryTable] = []
    if spec.layers:
        tables += [
            ("layers", ["count", "kind", "attention", "feed-forward"], _layers(spec)),
            *_order(spec),
            ("parameters", ["part", "count", "share"], _parameters(answers)),
            ("FLOPs of a token, by operator", ["operator", "FLOP", "per"], _flops(answers)),
            ("bytes by stream", ["stream", "bytes", "per"], _streams(answers)),
        ]
    if spec.filled:
        tables.append(
            (
                "missing in the file and filled in",
                ["field", "value", "why"],
                [[f.field, f.value, f.why] for f in spec.filled],
            )
        )
    if spec.checkpoints:
        rows = [
            [each.name, each.precision, each.kv or "", ", ".join(each.kept)]
            for each in spec.checkpoints
        ]
        tables.append(
            ("checkpoints by their own names", ["name", "weights", "cache", "kept wide"], rows)
        )
    notes = [
        *spec.caveats,
        *(spec.quantization.unread if spec.quantization else ()),
        *spec.notes,
        "Bytes are at 16 bits for weights and cache; `symroof eval` takes other precisions.",
    ]
    notes += spec.quantization.notes if spec.quantization else ()
    return CatalogueEntry("model", spec.shown_name, facts, [*tables, *_stored(spec)], notes)


def _bare_case(spec: ModelSpec) -> BoundCase:
    return BoundCase(LoadedSpec(spec.name, spec), given=model_values(spec))


def _layers(spec: ModelSpec) -> list[list[str]]:
    return [
        [str(kind.count), label, _mixers(kind), _feed_forward(kind)]
        for label, kind in zip(spec.labels(), spec.layers, strict=True)
    ]


def _order(spec: ModelSpec) -> list[EntryTable]:
    """The order of the layers on one line; empty if all are of one kind."""
    sequence = spec.sequence()
    if not sequence:
        return []
    pattern = spec.order or sequence
    line = ", ".join(f"{count} {label}" if count > 1 else label for label, count in runs(pattern))
    return [
        (
            "order of the layers",
            [],
            [[f"{line}, repeated" if len(pattern) < len(sequence) else line]],
        )
    ]


def _mixers(kind: LayerKind) -> str:
    texts = (
        [_attention(kind.attention)] if kind.attention.kind != "none" or kind.mixer is None else []
    )
    return " beside ".join([*texts, *([_widths(kind.mixer)] if kind.mixer else [])])


def _attention(a: LayerBlock) -> str:
    if not isinstance(a, GroupedAttention):
        return _widths(a)
    reach = (
        f", window {a.window:,}"
        if a.window
        else f", chunks of {a.chunk_size:,}"
        if a.chunk_size
        else ""
    )
    values = f", values {a.value_dim} wide" if a.value_dim else ""
    return (
        f"{a.kind}: {a.n_heads} heads, {a.n_kv_heads} KV heads, width {a.head_dim}{values}{reach}"
        + _traits(a.traits() - {"value_dim"})
    )


def _feed_forward(kind: LayerKind) -> str:
    ffn = kind.ffn
    if isinstance(ffn, FeedForward):
        return f"{ffn.kind} {ffn.d_ff:,}" if ffn.d_ff else ffn.kind
    shared = (
        f", {ffn.n_shared_experts} shared of {ffn.d_shared or ffn.d_expert:,}"
        if ffn.n_shared_experts
        else ""
    )
    return f"moe: {ffn.experts_per_token} of {ffn.n_experts} experts of {ffn.d_expert:,}{shared}"


def _widths(block: LayerBlock) -> str:
    """Any other block: its widths by name."""
    widths = ", ".join(f"{name} {value:,}" for name, value in block.widths().items())
    return (f"{block.kind}: {widths}" if widths else block.kind) + _traits(  # type: ignore[attr-defined]
        block.traits() - {"q_lora"}
    )


def _traits(traits: frozenset[str]) -> str:
    return f" ({', '.join(name.replace('_', ' ') for name in sorted(traits))})" if traits else ""


def _stored(spec: ModelSpec) -> list[EntryTable]:
    """Resident bytes of a quantized checkpoint by part and width."""
    if spec.quantization is None or not spec.layers:
        return []
    bound_case = next(bound_cases(Request(models=(spec,))))
    case = bound_case.case
    parts: dict[tuple[str, str], list[Any]] = {}
    for cell in placed_rows(bound_case.architecture, bound_case.assumptions):
        if (
            cell.stream == "params" and cell.end != "tied"
        ):  # a tied head is the embedding's table, which is stored once
            parts.setdefault((PARAMETER_GROUPS[cell.operator], cell.width), []).append(cell)
    rows, held, whole = [], Fraction(0), Fraction(case.value("weight_bytes"))
    for (part, width), group in parts.items():
        count, each = Fraction(case.evaluate(parameters(group))), Fraction(case.value(width))
        held += count
        rows.append(
            [
                part,
                f"{int(count):,}",
                f"{float(8 * each):.5g}",
                f"{float(count * each):,.0f}",
                f"{float(count * each / whole):.2%}",
            ]
        )
    rows.append(
        ["total", f"{int(held):,}", f"{float(8 * whole / held):.5g}", f"{float(whole):,.0f}", ""]
    )
    return [
        (
            f"resident as stored: {spec.quantization.method}",
            ["part", "parameters", "bits of each", "bytes", "share"],
            rows,
        )
    ]


PER = {
    "tokens": "token", "pairs": "query and key", "span": "token read or written", "logit_rows": "row of logits", "once": "step",
    "experts_read": "expert read", "state_moves": "state read or written",
}  # fmt: skip
STREAMS = {
    "weights": "weights",
    "kv": "key-value cache",
    "kv_again": "key-value cache read again",
    "state": "recurrent state",
    "activations": "activations",
}


def _flops(answers: BoundCase) -> list[list[str]]:
    """FLOPs of every operator over all layers in a decode step, and the quantity they are proportional to."""
    return [
        [operator, _exact(amount), PER[per]]
        for (operator, per), amount in _sums(answers, "operator", ("flops",)).items()
    ]


def _streams(answers: BoundCase) -> list[list[str]]:
    """Bytes of every stream over all layers, and the quantity they are proportional to."""
    return [
        [STREAMS[stream], _exact(amount), PER[per]]
        for (stream, per), amount in _sums(answers, "stream", tuple(STREAMS)).items()
    ]


def _sums(
    answers: BoundCase, key: str, streams: tuple[str, ...]
) -> dict[tuple[str, str], Fraction]:
    groups: dict[tuple[str, str], list[Any]] = {}
    for cell in placed_rows(answers.architecture, answers.assumptions):
        if cell.stream in streams and cell.phase in (None, "token"):
            groups.setdefault((getattr(cell, key), cell.per), []).append(cell)
    return {place: answers.case.evaluate(total(group)) for place, group in groups.items()}


def _exact(amount: Fraction) -> str:
    return f"{int(amount):,}" if is_whole(amount) else f"{float(amount):,.3f}"


def _parameters(answers: BoundCase) -> list[list[str]]:
    parts: dict[str, list[Any]] = {}
    for cell in placed_rows(answers.architecture, answers.assumptions):
        if cell.stream == "params":
            parts.setdefault(PARAMETER_GROUPS[cell.operator], []).append(cell)
    whole = answers.case.value("params")
    rows = []
    for part, group in parts.items():
        count = answers.case.evaluate(parameters(group))
        rows.append([part, f"{int(count):,}", f"{float(count / whole):.2%}"])
    return [*rows, ["total", f"{int(whole):,}", ""]]
