"""One catalogue entry as facts and tables: what ``symroof show`` prints."""

from fractions import Fraction
from typing import Any

from symroof.cases.binding import Binding, bindings
from symroof.cases.case_results import Answers
from symroof.cases.selection import Entry as Chosen
from symroof.cases.selection import Selection
from symroof.cases.spec_values import model_values
from symroof.errors import InputError, Problem, nearest
from symroof.formula.text import text
from symroof.report.entry import Entry, Table
from symroof.report.measured_entry import measured_entry
from symroof.report.preset_entry import preset_entry
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.kinds import kind_of, spec_class
from symroof.specs.layer_order import runs
from symroof.specs.layers import Block, FeedForward, GroupedAttention, LayerKind
from symroof.specs.measured import MeasuredSpec
from symroof.specs.model import ModelSpec
from symroof.specs.model_files import holds_config, model_path, read_model
from symroof.specs.preset import PresetSpec
from symroof.specs.strict_yaml import Document
from symroof.specs.user_theory import TheorySpec
from symroof.theory.layer_rows import PARAMETER_GROUPS
from symroof.theory.operator_table import parameters, placed_rows, total
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES, assume
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.theory import theory
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import format_quantity


def entry(name: str, assume_family: str | None = None) -> Entry:
    """The entry behind a name or a path.

    Raises:
        InputError: nothing by that name, with the nearest.
    """
    declared = _declared(canonical(name))
    if declared:
        return declared
    path = model_path(name)
    if path is not None and holds_config(path):
        return model_entry(read_model(name, None, assume_family)[0])
    return _from_document(_document(name))


def _declared(name: str) -> Entry | None:
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
        return Entry("threshold", t.name, facts + ([["of one operator", ", ".join(f"{t.name}.{part}" for part in parts)]] if parts else []))
    if name in SWITCHES:
        rows = [[value, meaning, "default" if value == SWITCHES[name].default else ""] for value, meaning in SWITCHES[name].values.items()]
        return Entry("assumption", name, tables=[("values", [], rows)])
    if name in QUANTITIES:
        q = QUANTITIES[name]
        definition = theory().definitions.get(name)
        facts = [["LaTeX", q.latex], ["unit", q.unit or "plain number"], ["meaning", q.meaning]]
        facts += [["definition", text(definition)]] if definition else [["definition", str(q.search)]] if q.search else []
        facts += [["reference", q.reference]]
        return Entry("quantity", name, facts, [(f"by {q.switch}", [], [list(v) for v in q.variants])] if q.switch else [])
    if name in INPUTS:
        s = INPUTS[name]
        facts = [["LaTeX", s.latex], ["unit", s.written_in or s.unit or "plain number"], ["meaning", s.meaning], ["default", s.default or "none"]]
        return Entry("input", name, facts + ([["also written", ", ".join(s.aliases)]] if s.aliases else []))
    return None


SHOWN = ("models", "hardware", "presets", "measured", "theories")


def _document(name: str) -> Document:
    for kind in sorted(SHOWN, key=lambda kind: not catalogue.holds(kind, name)):  # an entry's own name before words of another's
        try:
            return catalogue.find(kind, name)
        except InputError:
            if "/" in name or catalogue.is_path(name) or len(catalogue.entries_matching(kind, name)) > 1:
                raise
    known = [alias for kind in SHOWN for e in catalogue.entries(kind).values() for alias in (e.name, *e.aliases)]
    raise InputError(Problem(name, "unknown name", hint=nearest(name, [*known, *QUANTITIES, *INPUTS, *THRESHOLDS, *SWITCHES])))


def _from_document(document: Document) -> Entry:
    kind = kind_of(document)
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
    facts = [[name, str(value)] for name, value in document.data.items() if not isinstance(value, (dict, list))]
    return Entry(kind, str(getattr(spec, "title", None) or document.file), facts, notes=list(spec.notes))


def theory_entry(spec: TheorySpec) -> Entry:
    """A user-defined theory: inputs with their defaults, formulas and thresholds, each with its source."""
    inputs = [[name, s.unit, "" if s.default is None else str(s.default), s.means, str(s.source or "")] for name, s in spec.inputs.items()]
    formulas = [[name, s.said, s.unit, s.means, str(s.source or "")] for name, s in spec.define.items()]
    solved = [[s.name, s.equation or "", s.unknown or "", s.means or "", str(s.source or "")] for s in spec.thresholds]
    tables: list[Table] = [
        ("inputs", ["name", "unit", "default", "meaning", "source"], inputs),
        ("quantities", ["name", "formula", "unit", "meaning", "source"], formulas),
        ("thresholds", ["name", "equation", "solved for", "meaning", "source"], solved),
    ]
    facts = [["name", spec.name], ["source", str(spec.source or "none given")]]
    return Entry("theory", spec.title, facts, [table for table in tables if table[2]], list(spec.notes))


def hardware_entry(spec: HardwareSpec) -> Entry:
    """A device: every number with its source."""
    facts = [["name", spec.name], ["vendor", spec.vendor], ["architecture", spec.architecture or ""], ["released", str(spec.released or "")]]
    peaks = [
        [p, v.dense.text, v.sparse.text if v.sparse else "", v.fp16_accumulate.text if v.fp16_accumulate else "", str(spec.source_of(v)), v.note or ""]
        for p, v in spec.peaks.items()
    ]
    rest = [[where, v.value.text, str(spec.source_of(v)), v.note or ""] for where, v in spec.numbers() if not where.startswith("peaks.")]
    tables: list[Table] = [
        ("peaks, dense and with 2:4 sparsity", ["precision", "dense", "sparse", "with fp16 accumulation", "source", "note"], peaks),
        ("memory, links, power, price", ["number", "value", "source", "note"], rest),
    ]
    return Entry("hardware", spec.title, facts, tables, list(spec.notes))


MODEL_FACTS = (
    "params", "active_params", "weight_bytes_read", "kv_bytes_per_token", "linear_flops_per_token", "attention_flops_per_pair", "head_flops_per_row",
)  # fmt: skip


def model_entry(spec: ModelSpec) -> Entry:
    """A model: layer list, parameters by part, FLOPs and bytes of a token."""
    answers = Answers(_bare_binding(spec))
    facts = [["name", spec.name], ["source", f"{spec.source} {spec.source.address or ''}".strip() if spec.source else "none given"]]
    for result in filter(None, map(answers.get, MODEL_FACTS)):
        whole = isinstance(result.value, Fraction) and result.value.denominator == 1
        facts.append([result.name, result.text(), f"{int(result.value):,} {result.symbol.unit}" if whole else ""])
    if spec.published_params:
        facts.append(["published", format_quantity(Fraction(spec.published_params), "parameter"), f"{spec.published_params:,}"])
    tables: list[Table] = []
    if spec.layers:
        tables += [
            ("layers", ["count", "kind", "attention", "feed-forward"], _layers(spec)),
            *_order(spec),
            ("parameters", ["part", "count", "share"], _parameters(answers)),
            ("FLOPs of a token, by operator", ["operator", "FLOP", "per"], _flops(answers)),
            ("bytes by stream", ["stream", "bytes", "per"], _streams(answers)),
        ]
    if spec.filled:
        tables.append(("missing in the file and filled in", ["field", "value", "why"], [[f.field, f.value, f.why] for f in spec.filled]))
    notes = [*spec.caveats, *spec.notes, "Bytes are at 16 bits for weights and cache; `symroof eval` takes other precisions."]
    notes += spec.quantization.notes if spec.quantization else ()
    return Entry("model", spec.shown_name, facts, [*tables, *_stored(spec)], notes)


def _bare_binding(spec: ModelSpec) -> Binding:
    return Binding(Chosen(spec.name, spec), Chosen(), assume(), model_values(spec))


def _layers(spec: ModelSpec) -> list[list[str]]:
    return [[str(kind.count), label, _mixers(kind), _feed_forward(kind)] for label, kind in zip(spec.labels(), spec.layers, strict=True)]


def _order(spec: ModelSpec) -> list[Table]:
    """The layers as they follow one another, in one line; nothing where all are of one kind."""
    sequence = spec.sequence()
    if not sequence:
        return []
    pattern = spec.order or sequence
    line = ", ".join(f"{count} {label}" if count > 1 else label for label, count in runs(pattern))
    return [("order of the layers", [], [[f"{line}, repeated" if len(pattern) < len(sequence) else line]])]


def _mixers(kind: LayerKind) -> str:
    texts = [_attention(kind.attention)] if kind.attention.kind != "none" or kind.mixer is None else []
    return " beside ".join([*texts, *([_widths(kind.mixer)] if kind.mixer else [])])


def _attention(a: Block) -> str:
    if not isinstance(a, GroupedAttention):
        return _widths(a)
    reach = f", window {a.window:,}" if a.window else f", chunks of {a.chunk_size:,}" if a.chunk_size else ""
    values = f", values {a.value_dim} wide" if a.value_dim else ""
    return f"{a.kind}: {a.n_heads} heads, {a.n_kv_heads} KV heads, width {a.head_dim}{values}{reach}" + _traits(a.traits() - {"value_dim"})


def _feed_forward(kind: LayerKind) -> str:
    ffn = kind.ffn
    if isinstance(ffn, FeedForward):
        return f"{ffn.kind} {ffn.d_ff:,}" if ffn.d_ff else ffn.kind
    shared = f", {ffn.n_shared_experts} shared of {ffn.d_shared or ffn.d_expert:,}" if ffn.n_shared_experts else ""
    return f"moe: {ffn.experts_per_token} of {ffn.n_experts} experts of {ffn.d_expert:,}{shared}"


def _widths(block: Block) -> str:
    """Any other block, its widths by name."""
    widths = ", ".join(f"{name} {value:,}" for name, value in block.widths().items())
    return (f"{block.kind}: {widths}" if widths else block.kind) + _traits(block.traits() - {"q_lora"})  # type: ignore[attr-defined]


def _traits(traits: frozenset[str]) -> str:
    return f" ({', '.join(name.replace('_', ' ') for name in sorted(traits))})" if traits else ""


def _stored(spec: ModelSpec) -> list[Table]:
    """Resident bytes of a quantized checkpoint by part and width: narrow matrices with their scales, and what stays wide."""
    if spec.quantization is None or not spec.layers:
        return []
    binding = next(bindings(Selection(models=(spec,))))
    case = binding.case()
    parts: dict[tuple[str, str], list[Any]] = {}
    for cell in placed_rows(binding.architecture, binding.assumptions):
        if cell.stream == "params":
            parts.setdefault((PARAMETER_GROUPS[cell.operator], cell.width), []).append(cell)
    rows, held, whole = [], Fraction(0), Fraction(case.value("weight_bytes"))
    for (part, width), group in parts.items():
        count, each = Fraction(case.evaluate(parameters(group))), Fraction(case.value(width))
        held += count
        rows.append([part, f"{int(count):,}", f"{float(8 * each):.5g}", f"{float(count * each):,.0f}", f"{float(count * each / whole):.2%}"])
    rows.append(["total", f"{int(held):,}", f"{float(8 * whole / held):.5g}", f"{float(whole):,.0f}", ""])
    return [(f"resident as stored: {spec.quantization.method}", ["part", "parameters", "bits of each", "bytes", "share"], rows)]


PER = {
    "tokens": "token", "pairs": "query and key", "span": "token read or written", "logit_rows": "row of logits", "once": "step",
    "experts_read": "expert read", "state_moves": "state read or written",
}  # fmt: skip
STREAMS = {"weights": "weights", "kv": "key-value cache", "kv_again": "key-value cache read again", "state": "recurrent state", "activations": "activations"}


def _flops(answers: Answers) -> list[list[str]]:
    """FLOPs of every operator over all layers, per what drives them; a decode step's, with latents as the switch says."""
    return [[operator, _exact(amount), PER[per]] for (operator, per), amount in _sums(answers, "operator", ("flops",)).items()]


def _streams(answers: Answers) -> list[list[str]]:
    """Bytes of every stream over all layers, per what drives them."""
    return [[STREAMS[stream], _exact(amount), PER[per]] for (stream, per), amount in _sums(answers, "stream", tuple(STREAMS)).items()]


def _sums(answers: Answers, key: str, streams: tuple[str, ...]) -> dict[tuple[str, str], Fraction]:
    groups: dict[tuple[str, str], list[Any]] = {}
    for cell in placed_rows(answers.binding.architecture, answers.binding.assumptions):
        if cell.stream in streams and cell.phase in (None, "token"):
            groups.setdefault((getattr(cell, key), cell.per), []).append(cell)
    return {place: answers.case.evaluate(total(group)) for place, group in groups.items()}


def _exact(amount: Fraction) -> str:
    return f"{int(amount):,}" if amount.denominator == 1 else f"{float(amount):,.3f}"


def _parameters(answers: Answers) -> list[list[str]]:
    binding = answers.binding
    parts: dict[str, list[Any]] = {}
    for cell in placed_rows(binding.architecture, binding.assumptions):
        if cell.stream == "params":
            parts.setdefault(PARAMETER_GROUPS[cell.operator], []).append(cell)
    whole = answers.case.value("params")
    rows = []
    for part, group in parts.items():
        count = answers.case.evaluate(parameters(group))
        rows.append([part, f"{int(count):,}", f"{float(count / whole):.2%}"])
    return [*rows, ["total", f"{int(whole):,}", ""]]
