"""The verdict on a claim, a written value compared with a derived one, and the report of several:
for people who read attributes, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from symroof.cases.values import plain_value
from symroof.claims.claim_settings import study_of
from symroof.claims.derive_claim import Derived
from symroof.claims.explain_slips import SlipExplanation
from symroof.claims.written_number import WrittenNumber, read_written
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.units import format_quantity, parse_unit, significant

HOLDS = ("exact", "rounded", "approximate")
ORDER = (*HOLDS, "plausible", "conditional", "inconsistent", "wrong", "unchecked")
"""From best to worst; a row of values is as good as its worst."""
FAILS = ("wrong", "inconsistent")
"""Verdicts that are findings whatever is asked."""
FAR_OFF = 0.25
"""How far off a conditional claim may be before it is a finding too."""
SHOWN_IN = {"USD/s": "USD/hour"}
"""Units shown in place of the base unit."""
AS_THEY_ARE = "id file line column says verdict unit ratio tolerance reason impossible"
"""Fields of a claim that stand in JSON as they are."""
FIGURE_DIGITS = 4
"""Digits from which a figure of a data sheet claims to be that figure."""


@dataclass(frozen=True, repr=False)
class Checked:
    """A claim with its verdict and its place.

    >>> from symroof.claims.check import check_text
    >>> claim = check_text("A token costs 262 kB of cache. <!-- symroof: kv_bytes_per_token model=llama-3-8b -->", "note.md").claims[0]
    >>> claim
    <wrong: 262 kB, derived 131.07 kB/token in note.md:1>
    >>> claim.verdict, claim.claimed, claim.derived, claim.line
    ('wrong', '262 kB', '131.07 kB/token', 1)

    Attributes:
        claim: as it was read.
        verdict: one of :data:`ORDER`.
        claimed, derived: as text; claimed as it stands in the file.
        ratio: claimed over derived, where both are numbers.
        tolerance: how far the derived value may lie off, as a share.
        assumptions_needed: what the text does not state and under which the claim holds.
        flags: ``does_not_fit``, ``dimension``, ``regime``.
        reason: a sentence.
        at_limit: whether it is right as a theoretical limit that no measurement reaches; the reason has both.
        impossible: whether a time is below its bound, or a rate above it.
        slips: explanations of a wrong claim, the likeliest first.
        parts: the verdicts of the values of a row, or the steps of a chain.
        factor: a claimed formula over the derived one, in SymPy, where that is a number times powers of names; else None.
        error: why it could not be judged.
        found: the derivation, where there is one.
        number: the claimed value as it was read, also where nothing could be derived; None for an unreadable.
        file, line, column: its place: the number in a note's sentence, the entry of a claim file.
    """

    claim: ClaimSpec = field(hash=False)  # its settings are dictionaries
    verdict: str
    claimed: str = ""
    derived: str = ""
    ratio: Any = None
    tolerance: Any = None
    assumptions_needed: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    at_limit: bool = False
    impossible: bool = False
    slips: tuple[SlipExplanation, ...] = ()
    parts: tuple[Checked, ...] = ()
    factor: Any = None
    error: Exception | None = field(default=None, compare=False)
    found: Derived | None = None
    number: WrittenNumber | None = None
    file: str = ""
    line: int = 0
    column: int = 0

    def __repr__(self) -> str:
        place = f" in {self.file}:{self.line}" if self.file else ""
        derived = f", derived {self.derived}" if self.derived else ""
        return f"<{self.verdict}: {self.claimed or self.says}{derived}{place}>"

    @property
    def id(self) -> str:
        """The name of the claim in its file."""
        return self.claim.id

    @property
    def says(self) -> str:
        """The sentence that is checked."""
        return self.claim.says

    @property
    def value(self) -> Fraction | None:
        """The derived value, in base units of ``unit``."""
        return self.found.number if self.found else None

    @property
    def unit(self) -> str:
        return self.found.unit if self.found else ""

    @property
    def faulty(self) -> bool:
        """Whether it was not judged for a problem of its file. Its reason says so."""
        return isinstance(self.error, InputError)

    @property
    def failure(self) -> Exception | None:
        """What symroof itself failed with in this claim; None where it did not."""
        return None if self.faulty else self.error

    @property
    def word(self) -> str:
        """The verdict for people: of a time below its bound that it is impossible."""
        return "impossible" if self.impossible else self.verdict

    def conditional(self, needs: str, reason: str) -> Checked:
        """The same, right under something that the text does not state."""
        return replace(self, verdict="conditional", assumptions_needed=(needs,), reason=reason)

    def finding(self, strict: bool = False) -> bool:
        """Whether it needs action: wrong, inconsistent, or conditional and so far off that readers are misled (never where it
        states what it ``needs``); strictly also conditional, flagged, or not checkable."""
        conditional = self.verdict == "conditional"
        unstated = conditional and not self.claim.needs and self.ratio is not None
        if self.verdict in FAILS or (unstated and abs(self.ratio - 1) > FAR_OFF):
            return True
        unchecked = self.verdict == "unchecked" and self.claim.form != "unchecked"
        doubtful = conditional or unchecked or self.verdict == "plausible"
        return strict and (doubtful or bool(self.flags))

    def as_json(self) -> dict[str, Any]:
        """The claim in the form of the contract; numbers in base units."""
        claimed, derived = self._claimed, self._derived
        if self.parts:  # of a row; the parts of a chain carry their names and stay text
            claimed = [part._claimed for part in self.parts]
            derived = [part._derived for part in self.parts]
        texts = {"claimed_text": self.claimed, "derived_text": self.derived}
        return {
            **{name: getattr(self, name) for name in AS_THEY_ARE.split()},
            "claimed": claimed,
            "derived": derived,
            **texts,
            "assumptions_needed": list(self.assumptions_needed),
            "slips": [slip.as_json() for slip in self.slips],
            "flags": list(self.flags),
        }

    @property
    def _claimed(self) -> Any:
        """The claimed number in base units; a label, a range or an unreadable value as its text."""
        number = self.number
        if number is None or number.is_range:
            return self.claimed
        if number.value is not None:
            return plain_value(number.value)
        return number.word if isinstance(number.word, bool) else self.claimed

    @property
    def _derived(self) -> Any:
        if self.value is not None:
            return plain_value(self.value)
        return {"true": True, "false": False}.get(self.derived, self.derived)


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

    def as_json(self) -> dict[str, Any]:
        errors = {"errors": [problem.as_json() for problem in self.problems]}
        claims = [claim.as_json() for claim in self.claims]
        shown = {"schema": "symroof/check/1", "claims": claims, "summary": self.summary}
        return shown | (errors if self.problems else {})

    def _repr_html_(self) -> str:
        from symroof.table_formats import html_table

        places = (f"{c.file}:{c.line}" if c.line else c.id for c in self.claims)
        each = zip(places, self.claims, strict=True)
        rows = ([place, c.claimed, c.word, c.derived, c.reason] for place, c in each)
        return html_table(["claim", "claimed", "verdict", "derived", "reason"], rows, repr(self))

    def __repr__(self) -> str:
        return f"Report({', '.join(f'{count} {verdict}' for verdict, count in self.summary.items()) or 'no claims'})"


def worst(parts: Sequence[Checked]) -> Checked:
    """The first with the worst verdict."""
    return max(parts, key=lambda part: ORDER.index(part.verdict))


def joined(parts: Sequence[Checked]) -> dict[str, Any]:
    """The fields that several parts make up together."""
    claimed = ", ".join(part.claimed for part in parts)
    texts = {"claimed": claimed, "derived": ", ".join(part.derived for part in parts)}
    return {**texts, "flags": flags_of(*parts), "parts": tuple(parts), "number": None}


def flags_of(*parts: Checked) -> tuple[str, ...]:
    """The flags of several parts, each once."""
    return tuple(dict.fromkeys(flag for part in parts for flag in part.flags))


def compared(claim: ClaimSpec, written: WrittenNumber, derived: Derived) -> Checked:
    """A written value compared with a derived one, or with an equally correct alternative."""
    limit = tolerance_of(claim, written.digits)
    options = [value for value in (derived.value, derived.alternative) if value is not None]
    verdict = min((written.verdict(value, limit) for value in options), key=ORDER.index)
    reason, needs = _reason(written, derived, verdict), []
    value, number, span = written.value, derived.number, derived.range
    share = written.margin / abs(value) if limit is None and value else limit
    if derived.value == "in part" and written.word is not None:
        verdict = "conditional"
    if verdict == "wrong" and span and value is not None and span[0] <= value <= span[1]:
        verdict, case = "conditional", study_of(claim.given).first
        ranged = [name for name in case.box if name not in case.measured_box]
        needs = [f"some {name} of {case.given[name].setting.text}" for name in ranged]
    return Checked(
        claim,
        verdict,
        written.text,
        value_text(derived.value, derived.unit),
        float(value / number) if number and value is not None else None,
        None if share is None else float(share),
        tuple(needs),
        derived.flags,
        reason,
        found=derived,
        number=written,
    )


def tolerance_of(claim: ClaimSpec, digits: int = 0) -> Fraction | None:
    """The tolerance the text states, as a share; a figure of a data sheet written with many digits has none."""
    if claim.tolerance is None:
        return Fraction(0) if claim.form == "catalogue" and digits >= FIGURE_DIGITS else None
    try:
        share = read_written(claim.tolerance, "").value
    except ValueError as error:
        raise InputError(Problem("tolerance", str(error))) from None
    if share is None or share < 0:
        message = f"{str(claim.tolerance)[:40]!r} is not a share of the value"
        raise InputError(Problem("tolerance", message, hint="write '5 %' or 0.05"))
    return share


def _reason(written: WrittenNumber, derived: Derived, verdict: str) -> str:
    number, unit = derived.number, derived.unit
    if derived.value == "in part":
        return "holds in only part of the range" + (f": {derived.reason}" if derived.reason else "")
    if verdict == "approximate" and number is not None and written.hedged(number):
        digits = f"{written.digits} digit{'s' * (written.digits > 1)}"
        return f"within the tolerance of a hedged number of {digits}"
    if verdict == "rounded" and written.operator:
        return "the limit, rounded"
    off = abs(number - written.number) if number is not None and written.value is not None else 0
    if verdict == "rounded" and off > written.margin:
        return "digits were cut off, not rounded"
    if verdict == "wrong" and derived.range is not None:
        low, high, middle = (value_text(x, unit) for x in (*derived.range, derived.value))
        return f"over the ranges it is {low} to {high}, in their middle {middle}"
    return derived.reason if verdict == "wrong" else ""


def value_text(value: Fraction | str | bool | None, unit: str) -> str:
    """A derived value as text, a price by the hour.

    >>> value_text(Fraction(179, 360000), "USD/s"), value_text(Fraction(1, 40), "s"), value_text(True, "")
    ('1.79 USD/hour', '25 ms', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Fraction) and (shown := SHOWN_IN.get(unit)):
        return f"{significant(value / parse_unit(shown).size, 5)} {shown}"
    return format_quantity(value, unit, 5) if isinstance(value, float | Fraction) else str(value)
