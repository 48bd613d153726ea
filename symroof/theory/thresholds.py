"""Named thresholds: one equation each, its unknown, the meaning of the answer, and the source of the question (``specs/theories/inference/thresholds.yaml``)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symroof.theory.theory_files import cited, section

SUBJECTS: dict[str, tuple[str, str]] = {
    entry.name: (entry.fields["title"], cited(entry.fields["source"]))
    for entry in section("subjects")
}
"""The heading of each group, and the reference of its thresholds that name none."""

GROUPS = {group: heading for group, (heading, _) in SUBJECTS.items()}


@dataclass(frozen=True)
class Threshold:
    """A named equation.

    Attributes:
        group: the subject it belongs to, a key of :data:`SUBJECTS`.
        equation: ``lhs = rhs`` over quantities.
        unknown: the input it is solved for.
        kind: ``reach`` (the least whole value at which the sides have changed over), or ``limit`` (the largest at which
            they have not).
        means: the meaning of the value.
        below, above: why there is no crossing if the left side stays below, or above, the right one for all values of the unknown.
        needs: additional inputs, such as a target.
        under_load: the equation where targets apply to a server under load; empty where it is the same.
        when: inputs that a case must set for a review to report it: without chunks, no thresholds of chunks.
        reference: the source of the question.
    """

    group: str
    name: str
    equation: str
    unknown: str
    kind: str
    means: str
    below: str
    above: str
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    reference: str = ""
    under_load: str = ""

    def never(self, verdict: str) -> str:
        """Why there is no crossing, by the larger side; empty for any other verdict."""
        return {"lhs_below": self.below, "lhs_above": self.above}.get(verdict, "")


def declared_threshold(fields: Mapping[str, Any]) -> Threshold:
    """A threshold from its entry in a theory file; its source is that of its subject unless it names one."""
    group = fields["subject"]
    return Threshold(
        group,
        **{
            key: fields[key]
            for key in ("name", "equation", "unknown", "kind", "means", "below", "above")
        },
        needs=tuple(fields.get("needs", ())),
        when=tuple(fields.get("when", ())),
        reference=cited(fields.get("source", "")) or SUBJECTS[group][1],
        under_load=fields.get("under_load", ""),
    )


THRESHOLDS: dict[str, Threshold] = {
    entry.name: declared_threshold(entry.fields) for entry in section("thresholds")
}

FULL_MEMORY = THRESHOLDS["max_batch_memory"].equation
"""The equation at which the most loaded device is full."""
