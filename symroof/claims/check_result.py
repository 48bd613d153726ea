"""Checked claims with their places: for people who read attributes, and as JSON."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from symroof.cases.quantity_result import plain_value
from symroof.claims.claimed_formula import Sides, factor_of
from symroof.claims.judgement import ORDER, PLAUSIBLE, Judgement
from symroof.claims.read.prose_numbers import Figure
from symroof.claims.related_claims import claimed_value
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.symbols import expression

FAILS = ("wrong", "inconsistent")
"""Verdicts that are findings whatever is asked."""
FAR_OFF = 0.25
"""How far off a conditional claim may be before it is a finding too."""


@dataclass(frozen=True)
class Difference:
    """Two formulas that differ, in the symbols of :mod:`symroof.symbols`.

    Attributes:
        factor: claimed over derived, where that is a number times powers of names; else None.
    """

    factor: Any = None


@dataclass(frozen=True, repr=False)
class Checked:
    """A claim with its verdict and its place.

    >>> from symroof.claims.check import check_text
    >>> claim = check_text("A token costs 262 kB of cache. <!-- symroof: kv_bytes_per_token model=llama-3-8b -->", "note.md").claims[0]
    >>> claim
    <wrong: 262 kB, derived 131.07 kB/token in note.md:1>
    >>> claim.verdict, claim.claimed, claim.derived, claim.correction, claim.line
    ('wrong', '262 kB', '131.07 kB/token', '131 kB', 1)

    Attributes:
        judgement: the verdict with its reasons.
        file, line, column: its place: the number in a note's sentence, the entry of a claim file.
        claimed: the claimed value as written there.
        correction: the same with the right number in it; empty where nothing is to be corrected or no number can be.
        figure: the number's place in the note, for a corrected copy.
        passed_on: later numbers of the note that are calculated from a wrong one, each with its line.
        faulty: whether it was not judged for a problem of its file: it cannot be read, or time was up. Its reason says so.
    """

    judgement: Judgement
    file: str
    line: int
    column: int
    claimed: str
    correction: str = ""
    figure: Figure | None = None
    faulty: bool = False
    passed_on: tuple[str, ...] = ()

    def __repr__(self) -> str:
        place = f" in {self.file}:{self.line}" if self.file else ""
        derived = f", derived {self.derived}" if self.derived else ""
        return f"<{self.verdict}: {self.claimed or self.claim.says}{derived}{place}>"

    @property
    def claim(self) -> ClaimSpec:
        """The claim as it was read."""
        return self.judgement.claim

    @property
    def id(self) -> str:
        """The name of the claim in its file."""
        return self.claim.id

    @property
    def says(self) -> str:
        """The sentence that is checked."""
        return self.claim.says

    @property
    def verdict(self) -> str:
        """One of :data:`symroof.claims.judgement.ORDER`, from ``exact`` to ``unchecked``."""
        return self.judgement.verdict

    @property
    def derived(self) -> str:
        """The derived value, as text with its unit."""
        return self.judgement.derived

    @property
    def ratio(self) -> float | None:
        """The claimed over the derived value; None where they are not numbers."""
        return None if self.judgement.ratio is None else float(self.judgement.ratio)

    @property
    def tolerance(self) -> float | None:
        """The relative tolerance of the claimed digits; None where there are none."""
        return None if self.judgement.tolerance is None else float(self.judgement.tolerance)

    @property
    def failure(self) -> Exception | None:
        """What symroof itself failed with in this claim; None where it did not."""
        error = self.judgement.error
        return None if isinstance(error, (InputError, TimeoutError)) else error

    @property
    def word(self) -> str:
        """The verdict for people: of a time below its bound that it is impossible."""
        return "impossible" if self.judgement.impossible else self.verdict

    @property
    def reason(self) -> str:
        """A sentence; empty where it would only repeat the derived value."""
        return "" if self.judgement.reason == self.derived else self.judgement.reason

    @property
    def assumptions_needed(self) -> tuple[str, ...]:
        """The assumptions the claim leaves out and needs."""
        return self.judgement.needs

    @property
    def slips(self) -> tuple[Any, ...]:
        """Explanations of a wrong claim, the likeliest first."""
        return self.judgement.slips

    @property
    def flags(self) -> tuple[str, ...]:
        """Remarks in addition to the verdict, such as ``does_not_fit``."""
        return self.judgement.flags

    @property
    def difference(self) -> Difference | None:
        """How a claimed formula differs from the derived one, in SymPy; None where it does not, or no formula is claimed."""
        if not self.claim.formula or self.verdict in ("exact", "unchecked"):
            return None
        factor = factor_of(*Sides(self.claim).pairs[0])
        return Difference(None if factor is None else expression(factor))

    @property
    def far_off(self) -> bool:
        """Whether a conditional claim is so far off without its condition that readers are misled; never one that states what it ``needs``."""
        return (
            self.verdict == "conditional"
            and not self.claim.needs
            and self.ratio is not None
            and abs(self.ratio - 1) > FAR_OFF
        )

    def finding(self, strict: bool = False) -> bool:
        """Whether it needs action: wrong, inconsistent, or conditional and far off; strictly also conditional, flagged, or not checkable."""
        if self.verdict in FAILS or self.far_off:
            return True
        return strict and (
            self.verdict in (PLAUSIBLE, "conditional")
            or bool(self.flags)
            or (self.verdict == "unchecked" and self.claim.form != "unchecked")
        )

    def as_json(self) -> dict[str, Any]:
        """The claim in the form of the contract; numbers in base units."""
        judged = self.judgement
        if judged.parts:  # of a row; the parts of a chain carry their names and stay text
            claimed: Any = [_claimed(part, part.claimed) for part in judged.parts]
            derived: Any = [_derived(part) for part in judged.parts]
        else:
            claimed, derived = _claimed(judged, self.claimed), _derived(judged)
        return {
            "id": self.id, "file": self.file, "line": self.line, "column": self.column, "says": self.says, "verdict": self.verdict,
            "claimed": claimed, "derived": derived, "unit": judged.unit, "claimed_text": self.claimed, "derived_text": self.derived,
            "ratio": self.ratio, "tolerance": self.tolerance, "assumptions_needed": list(self.assumptions_needed),
            "slips": [slip.as_json() for slip in self.slips], "flags": list(self.flags), "reason": self.reason, "impossible": self.judgement.impossible, "correction": self.correction,
            "passed_on": list(self.passed_on),
        }  # fmt: skip


@dataclass(frozen=True)
class Report:
    """Every claim of the files that were checked, in their order, and the problems of the files themselves.

    >>> from symroof.claims.check import check_text
    >>> report = check_text("A token costs 131 kB of cache. <!-- symroof: kv_bytes_per_token model=llama-3-8b -->", "note.md")
    >>> report, report.summary, report.findings()
    (Report(1 rounded), {'rounded': 1}, ())

    Attributes:
        claims: each with its verdict, its place and the derived value.
        files: the files, as they were named.
        problems: why files, or claims, could not be read; empty unless reading past errors was chosen.
    """

    claims: tuple[Checked, ...]
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def summary(self) -> dict[str, int]:
        """How many claims have each verdict, from best to worst."""
        counts = Counter(claim.verdict for claim in self.claims)
        return {verdict: counts[verdict] for verdict in ORDER if counts[verdict]}

    def findings(self, strict: bool = False) -> tuple[Checked, ...]:
        """The claims to act on: wrong, inconsistent, or conditional and far off; strictly also conditional, flagged, or not checkable ones."""
        return tuple(claim for claim in self.claims if claim.finding(strict))

    @property
    def failures(self) -> tuple[Checked, ...]:
        """The claims in which symroof itself failed."""
        return tuple(claim for claim in self.claims if claim.failure is not None)

    def as_json(self) -> dict[str, Any]:
        errors = (
            {"errors": [problem.as_json() for problem in self.problems]} if self.problems else {}
        )
        return {
            "schema": "symroof/check/1",
            "claims": [claim.as_json() for claim in self.claims],
            "summary": self.summary,
            **errors,
        }

    def _repr_html_(self) -> str:
        from symroof.table_formats import html_table

        rows = (
            [f"{c.file}:{c.line}" if c.line else c.id, c.claimed, c.word, c.derived, c.reason]
            for c in self.claims
        )
        return html_table(["claim", "claimed", "verdict", "derived", "reason"], rows, repr(self))

    def __repr__(self) -> str:
        return f"Report({', '.join(f'{count} {verdict}' for verdict, count in self.summary.items()) or 'no claims'})"


def _claimed(judgement: Judgement, text: str) -> Any:
    """The claimed number in base units; a label, a range or an unreadable value as its text."""
    written = claimed_value(judgement)
    if written is None or written.low is not None:
        return text
    if written.value is not None:
        return plain_value(written.value)
    return written.word if isinstance(written.word, bool) else text


def _derived(judgement: Judgement) -> Any:
    if judgement.value is not None:
        return plain_value(judgement.value)
    return {"true": True, "false": False}.get(judgement.derived, judgement.derived)
