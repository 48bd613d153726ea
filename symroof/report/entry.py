"""The form of a catalogue entry that ``symroof show`` prints."""

from dataclasses import dataclass, field
from typing import Any

Table = tuple[str, list[str], list[list[str]]]


@dataclass
class Entry:
    """Facts (name, value, remark), tables (heading, header, rows) and notes."""

    kind: str
    title: str
    facts: list[list[str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        tables = [{"title": heading, "columns": header, "rows": rows} for heading, header, rows in self.tables]
        return {"kind": self.kind, "title": self.title, "facts": self.facts, "tables": tables, "notes": self.notes}
