"""Files of claims checked: read, judged one by one, compared with each other, and reported with their places.

>>> report = check_text("A prompt of 4,096 tokens takes 2.68 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->", "notes.md")
>>> report.claims[0].verdict, report.claims[0].derived
('wrong', '1.3422 GB')
>>> report.summary
{'wrong': 1}
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

from symroof.analysis.study import Study, Track, untracked
from symroof.cases.request import request_of
from symroof.claims.checked import HOLDS, Checked, Report
from symroof.claims.claim_files import HOLD_CLAIMS, NOTHING, ClaimFile, Entry, read_claims
from symroof.claims.judge import failed_judgement, judge
from symroof.errors import InputError, Problem, nearest, why
from symroof.specs.claims import ClaimSpec
from symroof.strict_yaml import Document, Location, read_text
from symroof.symbolic.expressions import is_relation, operator_of
from symroof.symbolic.printing import text
from symroof.theory.spellings import is_sympy, read_expression

LONGEST_SHOWN = 400
"""Characters of an equation that its report repeats."""
BUDGET = 60.0
"""Seconds for the claims of one file: about a hundred times what the longest of the sources takes."""
TEXT_HINT = "write the text to a file such as note.md, with a comment such as <!-- symroof: weight_bytes model=llama-3-70b --> after each number"
TOO_LATE = f"not reached in {BUDGET:.0f} s, which is all the claims of one file get"
TOO_MANY = "this and the claims behind it are not checked: write them in smaller files"


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
        read_past_errors: check what can be read; the report then has the problems, and each faulty claim as ``unchecked``.
        track: iterates over the claims of all files, so that a caller can show progress.
        efficiency, engine: ``measured`` or ``peak``, and the engine, for claims that state no efficiency; otherwise these assume 100 % of the peak.

    Raises:
        InputError: all problems of the files, with their places; then nothing is checked.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     note = os.path.join(folder, "note.md")
    ...     with open(note, "w") as file:
    ...         _ = file.write("The ridge is 295 FLOP/byte. <!-- symroof: ridge_point hardware=h100-sxm -->")
    ...     report = check(note)
    >>> report, report.claims[0].derived
    (Report(1 rounded), '295.34 FLOP/byte')

    Check a formula. The factor, in SymPy, shows what is wrong:

    >>> import sympy
    >>> from symroof.symbols import head_dim, kv_bytes_per_element, kv_bytes_per_token, n_heads, n_layers
    >>> claim = check(sympy.Eq(kv_bytes_per_token, 2*n_layers*n_heads*head_dim*kv_bytes_per_element)).claims[0]
    >>> claim.verdict, claim.factor
    ('wrong', n_heads/n_kv_heads)
    """
    words = {"efficiency": efficiency, "engine": engine}
    defaults = {name: word for name, word in words.items() if word is not None}
    if is_sympy(paths):
        return _judged_formula(paths, defaults | given)
    if given:
        message = "settings belong in the file; keywords are accepted only with an equation"
        raise InputError(Problem(next(iter(given)), message))
    if defaults:  # a wrong word is the caller's fault, and no claim's
        request_of(efficiency=efficiency, engine=engine)
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return _of_files(several, defaults, track, read_past_errors)


def _of_files(
    several: Iterable[str | os.PathLike[str]],
    defaults: Mapping[str, str],
    track: Track = untracked,
    read_past_errors: bool = False,
) -> Report:
    """The claims of several files; ``defaults`` are settings for claims that state none of their own."""
    sources: list[ClaimFile] = []
    problems: list[Problem] = []
    for path in several:
        try:
            known = Path(path).suffix.lower() in HOLD_CLAIMS or not Path(path).is_file()
            content = read_text(path) if known else ""
            sources.append(read_claims(content, os.fspath(path), defaults))
        except InputError as error:
            words = " " in os.fspath(path) and Path(path).suffix.lower() not in HOLD_CLAIMS[:-1]
            problems += [replace(p, hint=p.hint or TEXT_HINT * words) for p in error.problems]
    report = _judged(sources, problems, track)
    return report if read_past_errors else _without_problems(report)


def _without_problems(report: Report) -> Report:
    if report.problems:
        raise InputError(report.problems)
    return report


def _judged_formula(equation: Any, given: dict[str, Any]) -> Report:
    """The report of an equation between a quantity and a formula, under the settings of a claim's ``given``."""
    tree = read_expression(equation)
    sides = tree.args if is_relation(tree) and operator_of(tree) == "=" else ()
    named = next((i for i, side in enumerate(sides) if side.is_Symbol), None)
    if named is None:
        message = "is not Eq(quantity, formula)"
        raise InputError(Problem("expression", message, source=str(equation)[:200]))
    quantity, formula = text(sides[named]), text(sides[1 - named])
    says = str(equation)[:LONGEST_SHOWN]
    claim = ClaimSpec(id=quantity, says=says, quantity=quantity, formula=formula, given=given)
    judged = judge(claim)
    if judged.verdict == "unchecked":
        raise InputError(Problem("expression", judged.reason, source=str(equation)[:200]))
    return Report((replace(judged, claimed=formula),))


def check_text(text: str, file: str) -> Report:
    """The same for a text; the ending of the file's name tells a note from a claim file."""
    return _without_problems(_judged([read_claims(text, file)]))


def check_study(study: Study) -> Report:
    """Check the claim files that a study names, looked up from its own folder.

    Raises:
        InputError: everything wrong with them.
    """
    file = Path(study.document.file).resolve() if study.document else Path("study")
    own = bool(study.declared) or bool(study.declared.thresholds)
    files = [file.parent / name for name in (study.spec.claims if study.spec else ())]
    return _of_files(files, {"theory": str(file)} if own else NOTHING)


def _judged(
    sources: list[ClaimFile], problems: Iterable[Problem] = (), track: Track = untracked
) -> Report:
    """The claims of several files, one after the other."""
    claims: list[Checked] = []
    every = list(problems)
    for source in sources:
        judged = _in_time(source, track)
        ids = {claim.id: claim for claim in reversed(judged)}
        every += source.problems
        for entry, one in zip(source.entries, judged, strict=True):
            claim = _settled(source.document.file, entry, one, ids)
            if isinstance(claim.error, InputError):
                faults = [_in_its_file(entry.part, fault) for fault in claim.error.problems]
                claim = replace(claim, reason=why(faults))
                every += faults
            claims.append(claim)
    # a fault of a default is one of each claim after it, told once
    told = {(p.file, p.line or 0, p.column or 0, p.message): p for p in every}
    files = tuple(source.document.file for source in sources)
    return Report(tuple(claims), files, tuple(told[place] for place in sorted(told)))


def _in_its_file(part: Document, problem: Problem) -> Problem:
    """The problem of a claim at the field whose key or value it names, or at the claim."""
    if problem.line and problem.file == part.file:
        return problem
    name = problem.path or problem.file
    place = next(iter(sorted(_places_of(part.data, name), key=lambda at: at[-1] != name)), ())
    said_there = not name or place[-1:] == (name,)
    message = problem.message if said_there else f"{name}: {problem.message}"
    return part.problem(place, message, problem.hint)


def _places_of(data: Any, name: str) -> Iterator[Location]:
    """Where a name stands in the data of a claim, as a key or as a value.

    >>> list(_places_of({"id": "a", "given": {"model": "./m.yaml", "promt": 1}}, "promt"))
    [('given', 'promt')]
    """
    for key, value in data.items() if isinstance(data, Mapping) else enumerate(data):
        if key == name or (isinstance(value, str) and name and Path(value) == Path(name)):
            yield (key,)
        if isinstance(value, (Mapping, list, tuple)):
            yield from ((key, *below) for below in _places_of(value, name))


def _in_time(source: ClaimFile, track: Track) -> list[Checked]:
    """The claims of a file judged in their order, until its time is up."""
    judged: list[Checked] = []
    late: InputError | None = InputError(Problem("", TOO_LATE, hint=TOO_MANY))
    end = process_time() + BUDGET
    for entry in track(source.entries, "checking claims"):
        claim = entry.claim
        if claim.form == "unchecked":
            judged.append(replace(judge(claim), error=entry.error))
        elif process_time() <= end:
            judged.append(judge(claim, entry.shared, source.folder))
        else:
            judged.append(Checked(claim, "unchecked", reason=TOO_LATE, error=late))
            late = None  # told once
    return judged


def _settled(file: str, entry: Entry, claim: Checked, ids: Mapping[str, Checked]) -> Checked:
    """A judged claim with its place and its conflicts; where these fail, that claim alone says so."""
    try:
        claim = with_conflict(claim, ids)
        unsound = entry.wrong_arithmetic
        if unsound and claim.error is None:  # the result of a calculation that has another
            sound = claim.verdict in HOLDS
            reason = f"the number holds, but {unsound}" if sound else f"{claim.reason}; {unsound}"
            verdict = "inconsistent" if sound else claim.verdict
            claim = replace(claim, verdict=verdict, reason=reason.removeprefix("; "))
    except Exception as error:
        claim = failed_judgement(claim.claim, error)
    value, (line, column) = claim.claim.value, entry.place
    claimed = claim.claimed or ("" if value is None else str(value))
    return replace(
        claim,
        file=file,
        line=line,
        column=column,
        claimed=entry.figure.text if entry.figure else claimed,
        reason="" if claim.reason == claim.derived else claim.reason,
    )


def with_conflict(claim: Checked, others: Mapping[str, Checked]) -> Checked:
    """A claim compared with the one that it names in ``conflicts_with``."""
    named = claim.claim.conflicts_with
    if named is None or claim.error is not None:
        return claim
    other = others.get(named)
    if other is None or other.claim is claim.claim:
        fault = "is the claim itself" if other else "is the id of no claim in this file"
        problem = Problem("conflicts_with", f"{named[:60]} {fault}", hint=nearest(named, others))
        return replace(claim, verdict="unchecked", reason=fault, error=InputError(problem))
    one, two = claim.number, other.number
    if one is None or two is None or one.unit != two.unit:
        return claim
    # whether one value can be what both claim, at the precision each is written with
    pairs = ((one, two), (two, one)) if one.word is two.word is None else ()
    agree = any(a.agrees(end) for a, b in pairs for end in (b.low, b.number, b.high))
    if agree or (not pairs and one.word == two.word):
        return claim
    both = f"{claim.claimed} here and {other.claimed} in {other.id} cannot both be right"
    derived = f"; derived {claim.derived}" if claim.derived else ""
    return replace(claim, verdict="inconsistent", reason=both + derived)
