"""Files of claims checked: read, judged one by one, compared with each other, and reported with their places.

>>> report = check_text("A prompt of 4,096 tokens takes 2.68 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->", "notes.md")
>>> report.claims[0].verdict, report.claims[0].derived, report.claims[0].correction
('wrong', '1.3422 GB', '1.34 GB')
>>> report.summary
{'wrong': 1}
"""

import os
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from time import process_time
from types import MappingProxyType
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.tracking import Track, untracked
from symroof.cases.request import request_of
from symroof.claims.check_result import FAILS, Checked, Report
from symroof.claims.corrected_numbers import corrected_text
from symroof.claims.judge import failed_judgement, judge
from symroof.claims.judgement import HOLDS, Judgement
from symroof.claims.read.claim_files import (
    CLAIM_FILES,
    ClaimFile,
    not_a_claim_file,
    read_claims,
    read_claims_leniently,
)
from symroof.claims.read.markdown import line_starts
from symroof.claims.read.markdown_notes import NOTES
from symroof.claims.read.prose_numbers import Figure
from symroof.claims.read.spelled_arithmetic import dependent_equations
from symroof.claims.read.written_number import CLOSE_ENOUGH
from symroof.claims.related_claims import by_id, claimed_value, with_conflict, with_derived_rates
from symroof.errors import InputError, Problem
from symroof.specs.claims import PYTHON_WORDS, ClaimSpec
from symroof.strict_yaml import Document, read_text
from symroof.symbolic.expressions import is_relation, operator_of
from symroof.symbolic.printing import text
from symroof.theory.sympy_input import is_sympy, read_expression

LONGEST_SHOWN = 400
"""Characters of an equation that its report repeats."""
BUDGET = 60.0
"""Seconds for the claims of one file: about a hundred times what the longest of the sources takes."""
TOO_LATE = f"not reached in {BUDGET:.0f} s, which is all the claims of one file get"

NOTHING: Mapping[str, str] = MappingProxyType({})
WRITTEN = {*ClaimSpec.model_fields, *PYTHON_WORDS}
"""The fields of a claim as files have them, and as Python has them."""


def check(
    paths: Any,
    *,
    read_past_errors: bool = False,
    track: Track = untracked,
    efficiency: str | None = None,
    engine: str | None = None,
    **given: Any,
) -> Report:
    """Check the hand calculations of claim files and Markdown notes, or one formula as a SymPy equation.

    Args:
        paths: claim files (YAML) and notes (Markdown), one path or several; or ``Eq(quantity, formula)``.
        read_past_errors: judge what can be read; the report then holds the problems, and each faulty claim as ``unchecked``.
        track: iterates over the claims of all files, so that a caller can show progress.
        efficiency, engine: ``measured`` or ``peak``, and whose efficiencies, for every claim that states none; otherwise claims assume 100 % of peak.

    Raises:
        InputError: everything wrong with the files, each at its place; then nothing is judged.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     note = os.path.join(folder, "note.md")
    ...     with open(note, "w") as file:
    ...         _ = file.write("The ridge is 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    ...     report = check(note)
    >>> report, report.claims[0].derived
    (Report(1 rounded), '295.34 FLOP/byte')

    Is a formula right? The difference, in SymPy, says where not:

    >>> import sympy
    >>> from symroof.symbols import head_dim, kv_bytes_per_element, kv_bytes_per_token, n_heads, n_layers
    >>> claim = check(sympy.Eq(kv_bytes_per_token, 2*n_layers*n_heads*head_dim*kv_bytes_per_element)).claims[0]
    >>> claim.verdict, claim.difference.factor
    ('wrong', n_heads/n_kv_heads)
    """
    defaults = {
        name: word
        for name, word in (("efficiency", efficiency), ("engine", engine))
        if word is not None
    }
    if is_sympy(paths):
        return _judged_formula(paths, defaults | given)
    if given:
        raise InputError(
            Problem(
                next(iter(given)),
                "settings belong in the file; keywords are accepted only with an equation",
            )
        )
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if defaults:
        request_of(
            efficiency=efficiency, engine=engine
        )  # a wrong word is the caller's fault, and no claim's
    return _check(several, read_past_errors, track, defaults=defaults)


def _check(
    several: Iterable[str | os.PathLike[str]],
    read_past_errors: bool = False,
    track: Track = untracked,
    declared: Mapping[str, str] = NOTHING,
    defaults: Mapping[str, str] = NOTHING,
) -> Report:
    """The claims of several files; ``declared`` maps names that a study declares to the file that declares them, ``defaults`` are settings for claims that
    state none of their own."""
    sources: list[ClaimFile] = []
    problems: list[Problem] = []
    for path in several:
        try:
            source = read_claims_leniently(_text_of(path), os.fspath(path), declared)
            sources.append(_with_defaults(defaults, source) if defaults else source)
            problems += source.problems
        except InputError as error:
            problems += error.problems
    if problems and not read_past_errors:
        raise InputError(problems)
    report = _judged(sources, problems, track)
    if report.problems and not read_past_errors:
        raise InputError(report.problems)
    return report


def _with_defaults(defaults: Mapping[str, str], source: ClaimFile) -> ClaimFile:
    """The claims of a file with default settings."""
    claims = tuple(
        claim.model_copy(update={"given": {**defaults, **claim.given}})
        for claim in source.spec.claims
    )
    return replace(source, spec=source.spec.model_copy(update={"claims": claims}))


def _text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file.

    Raises:
        InputError: it cannot be read, or is no text and of a kind that holds no claims.
    """
    try:
        return read_text(path)
    except InputError as error:
        known = Path(path).suffix.lower() in (*NOTES, *CLAIM_FILES)
        raise (
            error
            if known or not Path(path).is_file()
            else InputError(not_a_claim_file(os.fspath(path)))
        ) from None


def _judged_formula(equation: Any, given: dict[str, Any]) -> Report:
    """The report of an equation between a quantity and a formula, under the settings of a claim's ``given``."""
    tree = read_expression(equation)
    sides = tree.args if is_relation(tree) and operator_of(tree) == "=" else ()
    named = next((i for i, side in enumerate(sides) if side.is_Symbol), None)
    if named is None:
        raise InputError(
            Problem("expression", "is not Eq(quantity, formula)", source=str(equation)[:200])
        )
    quantity, formula = text(sides[named]), text(sides[1 - named])
    claim = ClaimSpec(
        id=quantity,
        says=str(equation)[:LONGEST_SHOWN],
        quantity=quantity,
        formula=formula,
        given=given,
    )
    judgement = judge(claim)
    if judgement.verdict == "unchecked":
        raise InputError(Problem("expression", judgement.reason, source=str(equation)[:200]))
    return Report((Checked(judgement, "", 0, 0, formula),))


def check_text(text: str, file: str) -> Report:
    """The same for a text; the ending of the file's name tells a note from a claim file."""
    return _judged([read_claims(text, file)])


def check_study(study: Study) -> Report:
    """Check the claim files that a study names, looked up from its own folder.

    Raises:
        InputError: everything wrong with them.
    """
    file = Path(study.document.file).resolve() if study.document else Path("study")
    names = [*study.declared, *(threshold.name for threshold in study.declared.thresholds)]
    return _check(
        [file.parent / name for name in (study.spec.claims if study.spec else ())],
        declared=dict.fromkeys(names, str(file)),
    )


def _judged(
    sources: list[ClaimFile], problems: Iterable[Problem] = (), track: Track = untracked
) -> Report:
    """The claims of several files, one after the other; claims that the time does not suffice for are a problem of their file."""
    claims: list[Checked] = []
    every = list(problems)
    for source, judged in zip(
        sources, map(with_derived_rates, _in_time(sources, track)), strict=True
    ):
        ids = by_id(judged)
        own = [_checked(source, i, judgement, ids) for i, judgement in enumerate(judged)]
        own = _passed_on(source, own)
        every += [
            _fault(source, i, claim)
            for i, claim in enumerate(own)
            if isinstance(claim.judgement.error, InputError)
        ]
        if late := [claim for claim in own if isinstance(claim.judgement.error, TimeoutError)]:
            message = f"{len(late):,} claims from here on were {TOO_LATE}"
            every.append(
                Problem(
                    source.document.file,
                    message,
                    late[0].line,
                    late[0].column,
                    hint="check them in smaller files",
                )
            )
        claims += own
    return Report(tuple(claims), tuple(source.document.file for source in sources), tuple(every))


def _in_time(sources: list[ClaimFile], track: Track) -> list[list[Judgement]]:
    """The claims of each file judged in their order, until the time of the file is up."""
    judged: list[list[Judgement]] = [[] for _ in sources]
    places = [(k, i) for k, source in enumerate(sources) for i in range(len(source.spec.claims))]
    end = 0.0
    for k, i in track(places, "checking claims"):
        if i == 0:
            end = process_time() + BUDGET
        claim = sources[k].spec.claims[i]
        written = _as_written(sources[k].document, i, claim)
        shared = note.shared[i] if (note := sources[k].note) else frozenset()
        late = claim.form != "unchecked" and process_time() > end
        judged[k].append(
            Judgement(written, "unchecked", reason=TOO_LATE, error=TimeoutError(TOO_LATE))
            if late
            else judge(written, shared)
        )
    return judged


def _fault(source: ClaimFile, index: int, claim: Checked) -> Problem:
    """Why a claim could not be judged, at the field that the fault is of, or at the claim."""
    error = claim.judgement.error
    assert isinstance(error, InputError)
    first, claim_spec = error.problems[0], claim.claim
    name = first.path or first.file
    field = (name,) if name in WRITTEN else ("given", name) if name in claim_spec.given else ()
    message = first.message if field or not name else f"{name}: {first.message}"
    problem = source.document.problem(("claims", index, *field), message, first.hint)
    return problem if not source.note else replace(problem, line=claim.line, column=claim.column)


def _as_written(document: Document, index: int, claim: ClaimSpec) -> ClaimSpec:
    """A claim whose numbers are the texts they stood as: ``1.20`` claims a digit more than 6/5."""

    def text(value: Any, *place: str | int) -> Any:
        return document.written.get(("claims", index, *place), value)

    changes: dict[str, Any] = {"value": text(claim.value, "value")}
    if isinstance(claimed_value := claim.values.get("value"), list):
        changes["values"] = {
            **claim.values,
            "value": [text(value, "values", "value", i) for i, value in enumerate(claimed_value)],
        }
    if claim.steps:
        changes["steps"] = tuple(
            step.model_copy(update={"value": text(step.value, "steps", i, "value")})
            for i, step in enumerate(claim.steps)
        )
    return claim.model_copy(update=changes)


def _checked(
    source: ClaimFile, index: int, judgement: Judgement, ids: Mapping[str, Judgement]
) -> Checked:
    """A judged claim with its place, its conflicts and its correction; where these fail, that claim alone says so."""
    try:
        settled = with_conflict(judgement, ids)
        if (
            source.note
            and (unsound := source.note.wrong_arithmetic.get(index))
            and settled.error is None
        ):
            settled = _unsound(settled, unsound)
        elif (
            source.note
            and (figure := source.note.figures[index])
            and any(
                one.follows and one.result.start == figure.start for one in source.note.arithmetic
            )
        ):
            settled = replace(
                settled, slips=tuple(slip for slip in settled.slips if slip.slip != "arithmetic")
            )  # it is written out, and right
        return _placed(source, index, settled)
    except Exception as error:
        return _placed(source, index, failed_judgement(judgement.claim, error))


def _placed(source: ClaimFile, index: int, judgement: Judgement) -> Checked:
    note = source.note
    figure = note.figures[index] if note else None
    line, column = note.places[index] if note else source.document.places[("claims", index)]
    value = judgement.claim.value
    claimed = figure.text if figure else judgement.claimed or ("" if value is None else str(value))
    correction = (
        _correction(judgement, claimed)
        if judgement.verdict == "wrong" and not judgement.parts
        else ""
    )
    faulty = index in source.skipped or isinstance(judgement.error, (InputError, TimeoutError))
    return Checked(
        judgement, source.document.file, line, column, claimed, correction, figure, faulty
    )


def _unsound(judgement: Judgement, text: str) -> Judgement:
    """A claim whose number is stated as the result of arithmetic that has another: where the number is right, the text disagrees with itself."""
    if judgement.verdict in HOLDS:
        return replace(judgement, verdict="inconsistent", reason=f"the number holds, but {text}")
    return replace(judgement, reason="; ".join(filter(None, (judgement.reason, text))))


def _passed_on(source: ClaimFile, claims: list[Checked]) -> list[Checked]:
    """The claims of a note, each wrong number with those that rest on it further on."""
    if not source.note or not source.note.arithmetic:
        return claims
    starts, arithmetic = line_starts(source.document.text), list(source.note.arithmetic)

    def later(figure: Figure) -> tuple[str, ...]:
        return tuple(
            f"{one.result.text} in line {bisect_right(starts, one.result.start)}"
            for one in dependent_equations(figure, arithmetic)
        )

    def misleads(claim: Checked) -> bool:
        return claim.verdict in FAILS and (
            claim.ratio is None or abs(claim.ratio - 1) > CLOSE_ENOUGH
        )

    return [
        replace(claim, passed_on=later(claim.figure)) if claim.figure and misleads(claim) else claim
        for claim in claims
    ]


def _correction(judgement: Judgement, claimed: str) -> str:
    """The claimed value with the right number in it, or the derived value; empty for a bound or a range, and for a number of a case of ranges, which only
    its author can correct."""
    written = claimed_value(judgement)
    if judgement.ranged:
        return ""
    if written and (written.operator or written.low is not None):
        return ""
    return corrected_text(claimed, judgement.value) or judgement.derived
