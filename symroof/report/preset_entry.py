"""A preset as ``symroof show`` prints it: what another tool counts, and where it is wrong."""

from symroof.cases.quantity_result import Result
from symroof.formula.text import text
from symroof.formula.tree import Num
from symroof.report.entry import Entry, Table
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting
from symroof.specs.preset import PresetSpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, base_name


def preset_entry(spec: PresetSpec) -> Entry:
    """What another tool counts: its switches, values and definitions, and where it is wrong."""
    facts = [["name", spec.name], ["source", f"{spec.source} {spec.source.address or ''}".strip()], *([["version", spec.version]] if spec.version else [])]
    everywhere = [("", spec.set), *((f"on {name}", own) for name, own in spec.hardware.items()), *((f"of {name}", own) for name, own in spec.models.items())]
    values = [[name, _setting(name, setting[0]), where] for where, own in everywhere for name, setting in own.items()]
    values += [["peak_flops", rate.text, f"on {device} at {precision}"] for device, rates in spec.peaks.items() for precision, rate in rates.items()]
    formulas = [[name, own.written, kind] for name, whole in spec.definitions.items() for kind, own in (("", whole), *whole.kinds) if own.own_base]
    formulas = [row for i, row in enumerate(formulas) if row[:2] not in (earlier[:2] for earlier in formulas[:i])]
    formulas += [[name, text(term), label] for name, own in spec.definitions.items() for label, term in own.terms]
    tables: list[Table] = [
        ("counting choices", ["switch", "value"], [[switch, value] for switch, value in spec.assume.items()]),
        ("values", ["name", "value", "where"], values),
        ("definitions", ["quantity", "formula", "for, or adds"], formulas),
        (
            "where",
            ["part", "formula", "for"],
            [[name, written, "" if kind == "formula" else kind] for name, by in spec.where.items() for kind, written in by.items()],
        ),
        ("where the tool is wrong", ["choice", "slip"], [[name, slip] for name, slip in spec.slips.items()]),
    ]
    return Entry("preset", spec.title, facts, [table for table in tables if table[2]], list(spec.notes))


def _setting(name: str, value: Setting) -> str:
    """A value of a preset as people write it."""
    if isinstance(value, ValueRange):
        return value.text
    symbol = INPUTS.get(base_name(name)) or QUANTITIES.get(base_name(name))
    return Result(symbol, value.value).plain(6) if isinstance(value, Num) and symbol else text(value)
