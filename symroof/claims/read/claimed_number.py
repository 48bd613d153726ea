"""The number of a passage that a claim is about: the last one whose unit fits, or the one its ``value`` refers to."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import declarations_of, merged_settings
from symroof.claims.derive_claim import derived
from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_number import read_written
from symroof.claims.read.written_units import NOUNS
from symroof.errors import InputError
from symroof.specs.claims import FORMS, ClaimSpec
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import COUNTED, parse_unit

SHOWN = 5
"""Numbers that are listed where none of them is the one a ``value`` refers to."""
ANY = "any"
"""The unit of a claim that cannot be derived: any number will do, for the report is why it cannot."""
WORDS = ("relation", "moves", "unchecked")
"""Forms that claim a label or a truth, not a number."""
BOUND = re.compile(r"\b(compute|memory|link|overhead)[\s-]+(?:bound|limited)", re.IGNORECASE)
NOT = re.compile(r"(?:\bnot|n't|n’t|\bnever|\bcannot)\s+fit", re.IGNORECASE)


EXAMPLES = {
    "byte": "1.34 GB",
    "s": "25 ms",
    "token/s": "48 token/s",
    "FLOP/s": "312 TFLOP/s",
    "byte/s": "3.35 TB/s",
    "FLOP": "289 TFLOP",
    "USD/s": "2.50 USD/hour",
}
"""A number as an annotation refers to it, in units of each kind that people write."""
PRECISION = re.compile(
    r"[\s*_`~-]*(?:bit|bits|byte|bytes|B)\b[\s*_`]*(?:/|per\s|each\b|apiece\b|an?\s(?:param|weight|element|value|number)|\)|precision|weights?\b|wide)",
    re.IGNORECASE,
)
NARROW = {"bit": 64, "byte": 8}
"""Widths of an element in bits, and in bytes where the words say ``each``: how wide a number is, not how much memory."""
OF_ELEMENTS = re.compile(r"_per_(?:param|element)$")
TARGET = r"(?:target|SLO|SLA|goal|budget|objective|requirement|ceiling|deadline|limit)s?\b"
TARGET_AFTER = re.compile(
    rf"[\s*_`-]*(?:\w+\s+)?{TARGET}|\s+(?:we|they|you)\s+(?:need|want|allow|promise|aim)",
    re.IGNORECASE,
)
TARGET_BEFORE = re.compile(
    rf"\b{TARGET}\s*(?:(?:of|is|was|to|:|=|\()\s*)*\W{{0,3}}(?:below|under|less than|at most|<=?|≤)?\s*$",
    re.IGNORECASE,
)
OUR_TARGET = re.compile(
    r"\b(?:below|under|above|over|within|beyond|exceed\w*|beat\w*|miss\w*|meet\w*|than|against|vs\.?)\s+(?:our|your|their|his|her|the|its)\s+(?:\w+\s+)?\W{0,3}$",
    re.IGNORECASE,
)
"""A number to be reached, not the one that is claimed: ``below our 100 tok/s``, ``the 50 ms target``."""
CARD_BEFORE = re.compile(
    r"\b(?:a|an|the|one|each|every|any|single|our|your|this|that)[\s*_`]+$", re.IGNORECASE
)
CARD_AFTER = re.compile(
    rf"[\s*_`~-]*(?:of\s+)?(?:(?:V?RAM|HBM\w*|GDDR\w*|memory)[\s-]+)?(?:{NOUNS['device']})\b"
)
"""A number that names a device by its memory: ``of a 24 GB card``."""


@dataclass(frozen=True)
class ClaimedNumber:
    """The number or label that a claim states.

    Attributes:
        figure: the number, with its place in the prose; None where there is none.
        value: the value as a claim file would write it; None where it stays as it is.
        denominator_words: what the number is of, by the words around it.
        fault: why it cannot be determined, and a hint.
    """

    figure: Figure | None = None
    value: str | None = None
    denominators: str | None = None
    fault: tuple[str, str] | None = None


def claimed_number(
    data: Mapping[str, Any],
    prose: str,
    previous_end: int = 0,
    taken_starts: Collection[int] = (),
    complete: Callable[[Figure], Figure] = lambda figure: figure,
) -> ClaimedNumber:
    """The number a claim of a note states, from its own data and the prose before it.

    Args:
        previous_end: where in the prose the annotation before it ended: a claim takes no number before that, unless nothing
            but a comment or a cell is between.
        taken_starts: starts of the numbers that other annotations are about.
        complete: gives a number of a table what the head of its column says of it.

    >>> claimed_number({"quantity": "kv_cache_bytes"}, "It takes 1.34 GB in 5 ms").value
    '1.34 GB'
    """
    unit = expected_unit(data)
    before = [complete(figure) for figure in figures(prose)]
    if "value" in data:
        return _referred(str(data["value"]), before, unit)
    if unit is None or data.get("formula"):
        return ClaimedNumber(
            value=_default_value(
                str(data.get("relation") or ""),
                prose[previous_end:] if re.search(r"\w", prose[previous_end:]) else prose,
            )
            or None
        )
    own = (
        [figure for figure in before if figure.start >= previous_end]
        if re.search(r"\w", prose[previous_end:])
        else before
    )
    own = [figure for figure in own if figure.start not in taken_starts]
    if unit != ANY and not OF_ELEMENTS.search(str(data.get("quantity"))):
        own = [figure for figure in own if not _is_precision(figure, prose)]
    figure = (own[-1] if own else None) if unit == ANY else _fitting(own, unit, prose)
    if figure is None and unit == "" and data.get("expression"):  # 45 GB/1.28 GB are 35 requests
        figure = next(
            filter(None, (_fitting(own, counted, prose) for counted in sorted(COUNTED))), None
        )
    if figure is None and unit != ANY:
        figure = _in_the_unit_before(own, before, unit or "", prose)
    if figure is None and unit != ANY:
        missing = f"no number in {unit}" if unit else "no plain number"
        where = (
            "between the previous annotation and this one"
            if previous_end
            else "before this annotation, in its paragraph or cell"
        )
        return ClaimedNumber(
            fault=(
                f"{missing} found {where}",
                f"name the one it is about: value='{EXAMPLES.get(unit, f'12 {unit}').strip()}'",
            )
        )
    return _claimed(figure, figure.written) if figure else ClaimedNumber(value="?")


def _in_the_unit_before(
    own: list[Figure], before: list[Figure], unit: str, prose: str
) -> Figure | None:
    """A last number without a unit, in that of the number before it in its sentence: ``112 tokens/s, no more than 112``; None where that does not fit."""
    last = own[-1] if own and unit and not own[-1].unit else None
    named = [figure for figure in before if figure.unit and last and figure.start < last.start]
    if (
        not last
        or not named
        or named[-1].fit(unit) > 1
        or END_OF_SENTENCE.search(prose, named[-1].unit_end, last.start)
    ):
        return None
    return replace(last, unit=named[-1].unit, text=f"{last.text} {named[-1].unit}")


END_OF_SENTENCE = re.compile(r"[.!?;]\s")


def _claimed(figure: Figure, value: str) -> ClaimedNumber:
    return ClaimedNumber(figure, value, " per ".join(map(str, figure.denominators)) or None)


def _is_precision(figure: Figure, prose: str) -> bool:
    """Whether a figure says how wide a number is: ``16-bit``, ``2 bytes each``.

    >>> [_is_precision(figure, text) for text in ("16-bit", "2 bytes each", "2 bytes") for figure in figures(text)]
    [True, True, False]
    """
    unit = figure.unit.partition("/")[0]
    most = NARROW.get({"bits": "bit", "B": "byte"}.get(unit, unit), 0)
    if figure.power or figure.range_end or not 0 < float(figure.digits.replace(",", "")) <= most:
        return False
    return (
        unit.startswith("bit")
        or figure.unit in ("byte/parameter", "byte/param", "B/param")
        or PRECISION.match(prose, figure.end) is not None
    )


def _is_no_claim(figure: Figure, prose: str) -> bool:
    """Whether a figure is a number to be reached, ``below our 100 tok/s``, ``the 50 ms target``, or names a device, ``a 24 GB card``.

    >>> [_is_no_claim(figure, text) for text in ("18 GB of a 24 GB card", "the 50 ms target") for figure in figures(text)]
    [False, True, True]
    """
    before = prose[max(figure.start - 60, 0) : figure.start]
    if (
        figure.unit.endswith(("byte", "B"))
        and CARD_BEFORE.search(before)
        and CARD_AFTER.match(prose, figure.unit_end)
    ):
        return True
    return bool(
        TARGET_AFTER.match(prose, figure.unit_end)
        or OUR_TARGET.search(before)
        or TARGET_BEFORE.search(before)
    )


def _referred(value: str, before: list[Figure], unit: str | None) -> ClaimedNumber:
    """The number a ``value`` refers to, with the bound or hedge it has in the sentence; a number the sentence lacks is a fault."""
    own = figures(value)
    figure = _same(before, own)
    if figure is not None:
        return _claimed(figure, value if own[-1].qualifier or own[-1].range_end else figure.written)
    if (
        own
        and unit not in (None, ANY)
        and (fitting := [other.text for other in before if other.fit(unit or "") < 2])
    ):
        return ClaimedNumber(
            fault=(
                f"value {value[:40]!r} does not appear before this annotation",
                f"there are: {', '.join(fitting[-SHOWN:])}",
            )
        )
    return ClaimedNumber()


def _same(before: list[Figure], own: list[Figure]) -> Figure | None:
    """The last number written the same way as a ``value``, or else the last that is as much."""
    if not own:
        return None
    last = own[-1].range_end or own[-1]

    def same(figure: Figure) -> bool:
        ends = (figure.range_end, figure) if figure.range_end else (figure,)
        return any(
            end.number.replace(",", "") == last.number.replace(",", "")
            and last.unit in ("", end.unit)
            for end in ends
        )

    return next((figure for figure in reversed(before) if same(figure)), None) or next(
        (f for f in reversed(before) if f.amount == last.amount != ()), None
    )


def _fitting(before: list[Figure], unit: str, prose: str) -> Figure | None:
    """The last number whose unit fits best; one to be reached only where there is no other."""
    ranked = [
        ((figure.range_end or figure).fit(unit), _is_no_claim(figure, prose), -i)
        for i, figure in enumerate(before)
    ]
    fits, _, place = min(
        ranked, default=(9, False, 0), key=lambda rank: (rank[0] == 9, rank[1], rank[0], rank[2])
    )
    return before[-place] if fits < 9 else None


def expected_unit(data: Mapping[str, Any]) -> str | None:
    """The unit of the number a claim states, empty for a plain number; None for a claim that states none.

    >>> expected_unit({"quantity": "kv_cache_bytes"}), expected_unit({"relation": "decode_bound"})
    ('byte', None)
    """
    form = next((name for name in FORMS if data.get(name)), None)
    if form is None or form in WORDS:
        return None
    if form == "compare":
        return ""
    name, own = "", _declared(data)
    if form == "quantity":
        name = printed_name(data["quantity"])
    elif form == "threshold":  # the unit of its unknown: solving for it may take its time
        named = own.threshold(base_name(str(data["threshold"])))
        name = printed_name(str(data.get("for") or (named.unknown if named else "")))
    if symbol := own.symbol(name) if name in own else INPUTS.get(name) or QUANTITIES.get(name):
        return symbol.unit
    try:
        claim = ClaimSpec.model_validate({**data, "id": "unit", "value": "0"})
        return parse_unit(
            derived(claim).unit
        ).text  # raises for byte*byte and other units without a name
    except Exception:  # a fault of the claim, or of symroof: where it is judged it says so
        return ANY


def _declared(data: Mapping[str, Any]) -> Declarations:
    """The names that the theory of a claim declares; one that cannot be read is reported where names are checked."""
    given = data.get("given")
    try:
        return declarations_of(given) if isinstance(given, Mapping) else NONE
    except InputError:
        return NONE


def _default_value(relation: str, prose: str) -> str:
    """The label or truth a sentence states without a number: ``decode is memory-bound``, ``it does not fit``."""
    if relation == "fits":
        return "false" if NOT.search(prose) else "true"
    if relation.endswith("_bound"):
        labels = BOUND.findall(prose)
        return labels[-1].lower() if labels else ""
    return "true" if re.search("[<>=]", relation) else ""


KILO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?[kK](i?)(?:[\s-]?(?:tokens?|toks?))?")
IN_TOKENS = frozenset(
    name for name, symbol in (*INPUTS.items(), *QUANTITIES.items()) if symbol.unit == "token"
)
OF_A_CONTEXT = ("prompt", "context", "peak_context")
"""Settings that say how long a request is."""


def token_lengths(text: str) -> tuple[int, ...]:
    """The lengths that a number of thousands may be, the likelier first: of a power of two in thousands of 1,024; none without a k."""
    match = KILO.fullmatch(text.strip())
    if not match:
        return ()
    thousands = Fraction(match[1])
    decimal, binary = (thousands * size for size in (1000, 1024))
    power = thousands.denominator == 1 and thousands.numerator & (thousands.numerator - 1) == 0
    options = (binary,) if match[2] else (binary, decimal) if power else (decimal, binary)
    return tuple(int(option) for option in options if option.denominator == 1 and option > 0)


def with_lengths(data: Mapping[str, Any], written: Mapping[str, str]) -> dict[str, Any]:
    """A claim's data with lengths as a text writes them: of those it may mean, the first under which the claimed number holds.

    >>> data = {"quantity": "kv_cache_bytes", "given": {"model": "llama-3-70b"}, "value": "1.31 GB"}
    >>> with_lengths(data, {"prompt": "4k"})["given"]["prompt"], with_lengths({**data, "value": "1.34 GB"}, {"prompt": "4k"})["given"]["prompt"]
    (4000, 4096)
    """
    result = dict(data)
    for name, text in written.items():
        options = [
            {**result, "given": merged_settings(result.get("given", {}), {name: length})}
            for length in token_lengths(text)
        ]
        result = next(
            (option for option in options if len(options) > 1 and claim_holds(option)),
            options[0] if options else result,
        )
    return result


def claim_holds(data: Mapping[str, Any]) -> bool:
    """Whether a claim's number is the derived one, to the digits written; what cannot be derived is reported where it is judged."""
    try:
        result = derived(ClaimSpec.model_validate({**data, "id": "length"}))
        written = read_written(data["value"], result.unit)
        return result.number is not None and written.agrees(result.number)
    except Exception:
        return False
