"""The conditions under which a formula is right: counting switches, identities between dimensions, parts of the model left out.

The derived formula is made again under each and compared exactly, the fewest first. An identity is tried only where the derived formula has a name
that the claimed one lacks, so that it must have been replaced; one that is false in the claim's case is never assumed.

>>> conditions(ClaimSpec(id="p", quantity="params", formula="12*L*d^2", given={"model": "gpt2"}))[:2]
('norms and biases left out', 'embeddings left out')
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.claimed_formula import (
    ALL_ACTIVE,
    ClaimedFormula,
    DetailLevel,
    Identity,
    identity_text,
)
from symroof.claims.slips.context import FAILURES, dependencies
from symroof.claims.slips.explain import OTHER_COUNTS
from symroof.claims.slips.slip_catalogue import CATALOGUE, CaseChange
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.comparison import expanded_terms, lower_order, same
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, ceiling, floor, names, symbol, without_rounding
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.theory.spellings import printed_name
from symroof.theory.switches import DETAIL, SWITCHES, expand_detail
from symroof.theory.symbols import ARCHITECTURE

SECONDS = 2.0
"""Processor time for the search for the conditions of one formula."""
MISTAKEN = frozenset(
    (switch, value)
    for slip in CATALOGUE
    if slip.name not in OTHER_COUNTS
    for variant in slip.variants
    if isinstance(variant, CaseChange)
    for switch, value in variant.sets.get("assume", {}).items()
)
"""Choices that are mistakes with a name of their own rather than another way to count."""

PARAMETERS = "params"
REPLACED: Mapping[str, tuple[str, ...]] = {
    "d_ff": ("4*d_model", "8*d_model/3"),
    "ffn_matrices": ("2", "3"),
    "value_dim": ("head_dim",),
    "n_kv_heads": ("n_heads",),
    "d_model": ("n_heads*head_dim",),
}
"""What texts put for a dimension, by its name, in the order in which it is substituted."""
EMBEDDINGS = ("vocab_size", "learned_positions", "more_embeddings")
EMBEDDINGS_OUT, NORMS_OUT = "embeddings left out", "norms and biases left out"
NO_POSITIONS, HEAD_OUT = "position embeddings left out", "output head left out"
LINKS, LINKS_OUT = ("link_bytes_per_element", "link_latency"), "links left out"
REPLACEABLE = frozenset({*REPLACED, *EMBEDDINGS, *LINKS, PARAMETERS, "link_bandwidth"}) | {
    symbol.name for symbol in ARCHITECTURE
}
"""Names that a text may have something else for, or nothing; what differs by any other stays different."""
FOR_LONG_PROMPTS = "prompt + 1 taken as prompt"
COUNTED = frozenset(
    {
        "n_layers",
        "n_heads",
        "n_kv_heads",
        "ffn_matrices",
        "experts_per_token",
        "n_shared_experts",
        "shared_blocks",
    }
)
"""Dimensions that count parts; a matrix has two others, a vector one."""


@dataclass(frozen=True)
class Omission:
    """Something that texts leave out: the quantity whose definition is then simpler, in words, what it is then, and a name that is in such a text."""

    name: str
    words: str
    formula: str
    mentioned: str = ""

    @property
    def settings(self) -> dict[str, str]:
        return {self.name: self.formula}


PREFILLS_OUT = Omission("sustained_requests", "prefills left out", "decode_throughput/output")
OMISSIONS = (
    *(Omission(f"{phase}_roofline_time", f"{phase} bound by {bound}", f"{phase}_{bound}_time")
      for phase, bound in (("prefill", "compute"), ("decode", "memory"), ("prefill", "memory"), ("decode", "compute"))),
    Omission("peak_context", "the output left out of the longest context", "context"),
    Omission("peak_context", "prompt + output - 1 taken as prompt + output", "prompt + output", "output"),
    Omission("context", "context = prompt + output", "prompt + output", "output"),
    Omission("verify_time", "a verification takes as long as a decode step", "itl"),
    PREFILLS_OUT,
)  # fmt: skip
ROUNDED: dict[Any, str] = {
    floor: "it is not rounded down to a whole number",
    ceiling: "it is not rounded up to a whole number",
}


@dataclass(frozen=True)
class Conditions:
    """Identities substituted into both sides, and how a text would say each of them."""

    identities: tuple[Identity, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counting:
    """A way to count: switches, and what is left out."""

    switches: Mapping[str, str]
    left_out: tuple[Omission, ...] = ()

    def __hash__(self) -> int:
        return hash((*self.switches.items(), *self.left_out))

    @property
    def size(self) -> int:
        """How many things are counted otherwise."""
        return len(self.switches) + len(self.left_out)

    @property
    def settings(self) -> dict[str, Any]:
        """As settings of a claim."""
        return {one.name: one.formula for one in self.left_out} | (
            {"assume": dict(self.switches)} if self.switches else {}
        )

    @property
    def words(self) -> tuple[str, ...]:
        """As a text would say it."""
        return (
            *(one.words for one in self.left_out),
            *([settings_text({"assume": self.switches})] if self.switches else []),
        )


def conditions(claim: ClaimSpec, end: float | None = None) -> tuple[str, ...]:
    """The fewest conditions under which a formula is right, in words; empty where there are none.

    Args:
        end: the processor time at which the search ends.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    end = time.process_time() + SECONDS if end is None else end
    found: list[tuple[str, ...]] = []
    tried: set[tuple[Expr, Expr]] = set()
    idle: set[tuple[str, str]] = set()
    for _, alike in itertools.groupby(countings(claim), key=lambda counting: counting.size):
        for counting in alike:
            known = len(tried)
            if not idle.intersection(counting.switches.items()):
                found += _under(claim, counting, tried, end)
            if (
                counting.size == 1 and len(tried) == known
            ):  # it does not matter to this formula, whatever else is counted otherwise
                idle |= set(counting.switches.items())
        if found or time.process_time() > end:
            break
    return min(found, key=lambda words: (FOR_LONG_PROMPTS in words, len(words)), default=())


def _under(
    claim: ClaimSpec, counting: Counting, tried: set[tuple[Expr, Expr]], end: float
) -> Iterator[tuple[str, ...]]:
    """The conditions under which a formula is right if it is counted in a way: the first that makes the two sides equal, or nearly; none where nothing
    differs from a way that was tried."""
    try:
        sides = ClaimedFormula(with_settings(claim, counting.settings))
        both = (
            sides.substituted(sides.claimed, sides.expansion_stops[-1]),
            sides.substituted(sides.derived, sides.expansion_stops[-1]),
        )
        if both in tried or time.process_time() > end:
            return
        tried.add(both)
        for one in replacements(sides):
            if time.process_time() > end:
                return
            words = (*counting.words, *one.words)
            near = _holds(ClaimedFormula(sides.claim, one.identities))
            if near is not None and (*words, *near):
                yield (*words, *near)
                return
    except FAILURES:
        return


def _holds(sides: ClaimedFormula) -> tuple[str, ...] | None:
    """What else two sides need to be equal: nothing, or a prompt so long that a token more or less does not matter; None where they differ."""
    for stops in sides.expansion_stops:
        claimed, derived = (
            sides.substituted(sides.claimed, stops),
            sides.substituted(sides.derived, stops),
        )
        if same(claimed, derived):
            return ()
        if lower_order(claimed, derived, "prompt"):
            return (FOR_LONG_PROMPTS,)
        bent = sides.bends(claimed, derived)
        if bent and same(claimed, without_rounding(derived, bent)):
            floors = sides.omitted_bends()
            if any(
                (part.func in ROUNDED and sides.numeric_ratio() is not None)
                or sides.bend_is_inactive(part) is False
                for part in floors
            ):
                return None
            return tuple(dict.fromkeys(ROUNDED.get(part.func) or reaches(part) for part in floors))
    return None


def reaches(extreme: Expr) -> str:
    """``x >= 0`` of ``max(x, 0)``."""
    held, least = sorted(extreme.args, key=lambda arg: bool(arg.is_Number))
    return f"{text(held)} >= {text(least)}"


def countings(claim: ClaimSpec) -> Iterator[Counting]:
    """Ways to count, the simplest first: as the claim says, then with a level of detail, another switch, or something left out, then with several.

    >>> [counting.words for counting in itertools.islice(countings(ClaimSpec(id="t", quantity="itl", formula="1", given={"batch": 1})), 3)]
    [(), ('detail weights',), ('detail kv',)]
    """
    assumed = {str(name): str(value) for name, value in claim.given.get("assume", {}).items()}
    chosen = {} if "preset" in claim.given else expand_detail(assumed)
    details = [
        {"detail": level}
        for level in reversed(DETAIL)
        if level != "exact" and not DETAIL[level].keys() & chosen.keys()
    ]
    singles = [
        {switch: value}
        for switch, declared in SWITCHES.items()
        for value in declared.values
        if value != declared.default and switch not in chosen and (switch, value) not in MISTAKEN
    ]
    if "preset" in claim.given:
        details = singles = []
    both = [
        detail | single
        for detail in details
        for single in singles
        if not DETAIL[detail["detail"]].keys() & single.keys()
    ]
    ways = [Counting(tried) for tried in ({}, *details, *singles)]
    ways += [Counting(tried, left_out) for left_out in _left_out(claim) for tried in ({}, *details)]
    ways += map(Counting, both)
    yield from sorted(ways, key=lambda counting: counting.size)


def _left_out(claim: ClaimSpec) -> Iterator[tuple[Omission, ...]]:
    """What a formula may leave out, of the quantities it depends on; of the two times of a phase only one."""
    sides = ClaimedFormula(claim)
    needed, claimed = dependencies(sides.answers.case, sides.asked), set(names(sides.claimed))
    stated = {*map(printed_name, claim.given)} | claimed
    able = [
        one
        for one in OMISSIONS
        if one.name in needed - stated and (not one.mentioned or one.mentioned in claimed)
    ]
    able = [one for one in able if one.name != "context" or "output" not in needed]
    for count in range(1, len(OMISSIONS) + 1):
        yield from (
            several
            for several in itertools.combinations(able, count)
            if len({one.name for one in several}) == count
        )


def replacements(sides: ClaimedFormula) -> Iterator[Conditions]:
    """The identities by which the claimed formula may have lost the names that it lacks, the fewest first."""
    needed = dependencies(sides.answers.case, sides.asked)
    inputs = sides.expansion_stops[-1]
    claimed = set(names(sides.expanded(sides.claimed, inputs)))
    lacking = set(names(sides.expanded(sides.derived, inputs))) - claimed
    ways = [ways for name in REPLACED if (ways := list(_ways(sides, name, lacking, claimed)))]
    embeddings = [name for name in EMBEDDINGS if name in lacking]
    left_out = [Conditions()]
    if embeddings:
        words = (
            NO_POSITIONS
            if "vocab_size" not in lacking
            else EMBEDDINGS_OUT
            if PARAMETERS in needed
            else HEAD_OUT
        )
        left_out.append(Conditions(tuple((name, "0") for name in embeddings), (words,)))
    if lacking.intersection(LINKS):
        left_out += [
            Conditions((*one.identities, *((name, "0") for name in LINKS)), (*one.words, LINKS_OUT))
            for one in left_out
        ]
    yield Conditions()
    left = set(names(sides.substituted(sides.derived, inputs))) - set(
        names(sides.substituted(sides.claimed, inputs))
    )
    if left - REPLACEABLE:
        return
    yield from _combined(left_out, ways)
    if ALL_ACTIVE[1] in names(sides.claimed):
        yield Conditions((ALL_ACTIVE,), (identity_text((ALL_ACTIVE,)),))
    if PARAMETERS in needed and PARAMETERS not in claimed and (matrices := _without_vectors(sides)):
        yield from _combined(
            [
                Conditions(((PARAMETERS, matrices), *one.identities), (NORMS_OUT, *one.words))
                for one in left_out
            ],
            ways,
        )


def _combined(
    left_out: Sequence[Conditions], ways: Sequence[Sequence[Conditions]]
) -> Iterator[Conditions]:
    for parts in itertools.product(left_out, *ways):
        yield Conditions(
            tuple(one for part in parts for one in part.identities),
            tuple(word for part in parts for word in part.words),
        )


def _ways(
    sides: ClaimedFormula, name: str, lacking: set[str], claimed: set[str]
) -> Iterator[Conditions]:
    """What may stand for a dimension, if the derived formula has it and the claimed one does not, or the other way round with what it equals; one that
    both have may stay."""
    if name in claimed:
        yield Conditions()
    for formula in REPLACED[name]:
        parts = set(names(parse(formula)))
        if name not in lacking and not (
            name in claimed and parts & lacking and not parts <= claimed
        ):
            continue
        if holds(sides, (name, formula)) is not False:
            yield Conditions(((name, formula),), (identity_text(((name, formula),)),))


def holds(sides: ClaimedFormula, identity: Identity) -> bool | None:
    """Whether an identity is true in the numbers of the claim's case; None where it has no numbers."""
    case = sides.answers.case
    try:
        return bool(case.evaluate(symbol(identity[0])) == case.evaluate(parse(identity[1])))
    except (NoValue, TypeError, LookupError, ArithmeticError):
        return None


def _without_vectors(sides: ClaimedFormula) -> str:
    """The parameters in matrices: each has two widths; norms and biases have one. Empty where that is no shorter."""

    def widths(term: Expr) -> Any:
        powers = term.as_powers_dict().items()
        return sum(n for part, n in powers if not part.is_Number and str(part) not in COUNTED)

    terms = expanded_terms(sides.expanded(symbol(PARAMETERS), frozenset()))
    matrices = [term for term in terms if widths(term) > 1]
    return text(sympy.Add(*matrices)) if matrices and len(matrices) < len(terms) else ""


def simplest(claim: ClaimSpec) -> tuple[list[DetailLevel], tuple[str, ...]]:
    """The claim with everything left out that texts leave out, at each level of detail; and where it is right so, what of that it takes."""
    ways = [*countings(claim)]
    most = max(len(counting.left_out) for counting in ways)
    levels = {
        counting: _level(claim, counting)
        for counting in ways
        if most and len(counting.left_out) == most
    }
    right = next((counting for counting, level in levels.items() if level.equal), None)
    return [*levels.values()], _fewest(claim, right).words if right else ()


def _level(claim: ClaimSpec, counting: Counting) -> DetailLevel:
    return DetailLevel(
        ", ".join(counting.words), ClaimedFormula(with_settings(claim, counting.settings))
    )


def _fewest(claim: ClaimSpec, counting: Counting) -> Counting:
    """A way to count under which a formula is right without what it does not take."""
    for one in counting.left_out:
        fewer = Counting(
            counting.switches, tuple(other for other in counting.left_out if other != one)
        )
        if _level(claim, fewer).equal:
            return _fewest(claim, fewer)
    return counting
