"""Explanations of a number stated for a quantity of a case: the slips of the catalogue, its share of the roof, an efficiency."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.request import Request
from symroof.claims.claim_settings import Settings
from symroof.claims.derive_claim import derived
from symroof.claims.read.written_number import WrittenNumber
from symroof.claims.roof_share import roof_share
from symroof.claims.slips.context import FAILURES
from symroof.claims.slips.explain import explain
from symroof.claims.slips.explanation import SlipExplanation
from symroof.errors import InputError, Problem
from symroof.formula.text import text
from symroof.formula.tree import Num
from symroof.specs.catalogue import is_path, resolve_path
from symroof.specs.claims import ClaimSpec
from symroof.specs.engine_profile import engine_word
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting, symbol_of
from symroof.specs.model import ModelSpec
from symroof.theory.declarations import Declarations
from symroof.units import parse_unit

FITTED_SLIPS = frozenset({"hidden_efficiency", "hidden_overhead"})
"""Explanations with a free parameter: one fits almost any number."""


@dataclass(frozen=True)
class NumberExplanation:
    """What a stated number may be.

    Attributes:
        roof: its share of the roof and which is usual, of a latency or a rate that assumes 100 % of peak; else empty.
        slips: errors of the catalogue that lead to it, each with the share of random errors that some slip would explain as well.
        fitted: an efficiency or an overhead that alone makes it true.
    """

    roof: str = ""
    slips: tuple[SlipExplanation, ...] = ()
    fitted: tuple[SlipExplanation, ...] = ()


def explain_number(study: Study, name: str, written: WrittenNumber) -> NumberExplanation:
    """What a number of a quantity in the first case of a study may be; nothing where the case itself gives it.

    >>> from symroof.claims.read.written_number import read_written
    >>> study = Study("llama-3.1-8b", "h100-sxm", prompt=2048, batch=8)
    >>> [slip.text for slip in explain_number(study, "kv_bytes_per_token", read_written("524 kB", "byte/token")).slips]
    ['query heads used for KV heads in the cache: ×4', '32 KV heads: ×4']
    >>> explain_number(study, "itl", read_written("12.5 ms", "s")).fitted[0].text
    'holds at mbu 0.411: that share of the bandwidth is reached'
    """
    answers = study.first
    result = answers.result(name)
    if (
        not isinstance(result.value, Fraction)
        or result.value <= 0
        or written.value is None
        or written.operator
        or written.agrees(result.value)
    ):
        return NumberExplanation()
    explained = _explained(study, name, written, result.value)
    slips = tuple(entry for entry in explained if entry.slip not in FITTED_SLIPS)
    fitted = tuple(entry for entry in explained if entry.slip in FITTED_SLIPS)
    return NumberExplanation(
        roof_share(answers, name, result.value, written.number / result.value, result.symbol.unit),
        slips,
        fitted,
    )


def _explained(
    study: Study, name: str, written: WrittenNumber, value: Fraction
) -> tuple[SlipExplanation, ...]:
    """The slips behind the number, where a claim can state the case that gives the value."""
    try:
        claim = ClaimSpec(
            id="stated", quantity=name, given=dict(settings_of(study.request)), value=written.text
        )
        truth = derived(claim)
        return (
            explain(claim, written, replace(truth, answers=study.first))
            if truth.number == value
            else ()
        )
    except FAILURES:
        return ()


def settings_of(chosen: Request) -> Settings:
    """What a study selects as the settings of a claim; of a list the first.

    Raises:
        InputError: a model that has no name.

    >>> settings_of(Study("llama-3-8b", prompt=[128, 256], assume={"logits": "all"}).request)
    {'model': 'llama-3-8b', 'assume': {'logits': 'all'}, 'prompt': Fraction(128, 1)}
    """
    words = {
        "model": chosen.models[:1],
        "hardware": chosen.hardware[:1],
        "preset": (chosen.preset,),
        "draft": (chosen.draft,),
    }
    settings: dict[str, Any] = {
        key: _named(names[0], chosen) for key, names in words.items() if names and names[0]
    }
    settings |= {
        key: word
        for key, word in (
            ("efficiency", chosen.efficiency),
            ("engine", engine_word(chosen.engine, chosen.engine_class)),
            ("assume_family", chosen.assume_family),
        )
        if word
    }
    settings |= {"assume": dict(chosen.assume)} if chosen.assume else {}
    settings |= {role: names[0] for role, names in chosen.precision.items() if names}
    return settings | _values(chosen.values, chosen.own)


def _named(name: str | ModelSpec, chosen: Request) -> str:
    if isinstance(name, ModelSpec):
        raise InputError(Problem("model", "has no name that a claim could state"))
    return str(resolve_path(name, chosen.base)) if is_path(name, chosen.base) else name


def _values(values: Mapping[str, tuple[Setting, ...]], own: Declarations) -> dict[str, Any]:
    """Values as Python gives them: numbers in the unit of a bare one, ranges and formulas as text."""
    return {name: _plain(name, settings[0], own) for name, settings in values.items() if settings}


def _plain(name: str, setting: Setting, own: Declarations) -> Any:
    if isinstance(setting, ValueRange):
        return setting.text
    if not isinstance(setting, Num):
        return text(setting)
    symbol = symbol_of(name, own)
    return setting.value / parse_unit(symbol.written_in or symbol.unit).size
