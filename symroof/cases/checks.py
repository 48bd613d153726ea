"""What values of a case may not be together: lengths, degrees of parallelism, formulas without a value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.values import VARIANT, Input, as_written, number_of
from symroof.errors import InputError, NoValue, Problem
from symroof.specs.engine_profile import IDEAL
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import in_domain
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import Expr, number
from symroof.symbolic.printing import shortened_formula, text
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import TARGET_SYMBOLS, base_name
from symroof.units import is_whole

LENGTHS = (("prompt", "output"), ("context",))
"""The lengths of a request: prompt and output together, and the keys of a step alone."""
LONGEST = 60
"""Characters of a value that a message holds."""
MOST_DEVICES = 2**16
SLOWEST = {"itl": 5, "ttft": 600}
"""Seconds above which a target is probably a slip: milliseconds were meant."""
MOST_RANGES = 8
"""Ranges of a case: all of their corners are looked at."""
MOST_POINTS = 64
"""Corners of the ranges at which formulas are checked."""

Given = Mapping[str, Input]


def check_split(names: Collection[str], given: Given) -> None:
    """A width that differs between kinds of layer, or between operators, cannot be set for all of them at once without saying how.

    Raises:
        InputError: one is set; the hint has the names to set instead.
    """
    problems = []
    for name in names:
        if parts := sorted(part for part in given if "." in part and base_name(part) == name):
            message = f"{name} differs between parts of this model"
            problems.append(Problem("given", message, path=name, hint=f"set {' and '.join(parts)}"))
    if problems:
        raise InputError(problems)


def beyond_context(model: ModelSpec | None, sizes: Mapping[str, float]) -> list[str]:
    """A remark for each length of a request beyond the model's context.

    >>> from symroof.specs.spec_files import read_spec
    >>> beyond_context(read_spec("models", "llama-3-8b")[0], {"prompt": 8000, "output": 500, "context": 8192})
    ["prompt and output together are 8,500 tokens, which exceeds Llama 3 8B's maximum context of 8,192 tokens"]
    """
    if model is None or model.max_context is None:
        return []
    remarks = []
    for names in LENGTHS:
        known = [name for name in names if name in sizes]
        length = sum(sizes[name] for name in known)
        if length > model.max_context:
            subject = f"{known[0]} is" if len(known) == 1 else f"{' and '.join(known)} together are"
            most = f"{model.shown_name}'s maximum context of {model.max_context:,} tokens"
            remarks.append(f"{subject} {int(length):,} tokens, which exceeds {most}")
    return remarks


def lengths(given: Given) -> dict[str, float]:
    """The lengths of a request that are numbers; of a range its upper end."""
    names = [name for together in LENGTHS for name in together if name in given]
    return {name: end for name in names if (end := given[name].high) is not None}


def check_together(given: Given) -> list[str]:
    """Check that a request may have these values together; warnings where it may and they make little sense.

    Raises:
        InputError: the cached part of a prompt is longer than the prompt, somewhere in the ranges of the two; no request arrives; ``tp`` neither divides the key
            and value heads nor is a multiple of them, or a degree is not whole, or a range; there are too many ranges.
    """
    ranges = [n for n, own in given.items() if own.ranged and not (own.measured or own.listed)]
    if len(ranges) > MOST_RANGES:
        message = f"{len(ranges)} inputs are ranges; a case has at most {MOST_RANGES}"
        hint = f"give {' or '.join(ranges[:3])} one value"
        raise InputError(Problem(given[ranges[0]].source, message, hint=hint))
    cached, prompt = (given.get(name) for name in ("cached_prefix", "prompt"))
    most, least = cached.high if cached else None, prompt.low if prompt else None
    if cached and most is not None and least is not None and most > least:
        part = f"the {least:,g} of the prompt they are a part of"
        message, hint = f"{most:,g} cached tokens are more than {part}", f"at most {least:,g}"
        raise InputError(Problem(cached.source, message, path="cached_prefix", hint=hint))
    rate = given.get("arrival_rate")
    if rate and rate.low == 0 and "output" in given:
        hint = "leave it out for a server with every slot taken"
        raise InputError(Problem(rate.source, "must be positive", path="arrival_rate", hint=hint))
    degrees = {name: _degree(name, given) for name in DEGREES if name in given}
    known = {name: degree for name, degree in degrees.items() if degree is not None}
    tp = known.get("tp", 1.0)
    for heads in _whole_heads(given, "n_kv_heads"):  # dealt whole, or copied evenly
        if heads % tp and tp % heads:
            message = f"tp {tp:g} does not divide {heads} key/value heads"
            hint = f"{_divisors(heads)}, or a multiple of {heads}"
            raise InputError(Problem(given["tp"].source, message, path="tp", hint=hint))
    return _remarks(given, known)


def check_changed(case: BoundCase, values: Mapping[str, Any], source: str) -> None:
    """Check that a request may have these values together with those of the case; errors are those of :func:`check_together`."""
    new = {name: Input(number(value), source) for name, value in values.items()}
    check_together(case.given | new)


def _degree(name: str, given: Given) -> float | None:
    """A degree of parallelism; None of a formula. A range is an error: each number is another layout, and few of those between two are permitted."""
    own = given[name]
    if isinstance(ends := own.setting, ValueRange):
        values = [str(2**k) for k in range(10) if ends.low <= 2**k <= ends.high]
        hint = f"one of {', '.join(values)}, or a list of them: a case for each" if values else ""
        message = f"{name} is a range; a number of devices is one, or a list"
        raise InputError(Problem(own.source, message, path=name, hint=hint))
    degree = own.number
    if degree is not None and not (is_whole(degree) and 1 <= degree <= MOST_DEVICES):
        message = f"{name} {degree:g} is not a number of devices"
        raise InputError(Problem(own.source, message, path=name, hint="write 1, 2, 4 …"))
    return degree


def _whole_heads(given: Given, kind: str) -> Iterator[int]:
    """The numbers of heads of each kind of layer."""
    for name in sorted(name for name in given if base_name(name) == kind):
        heads = number_of(given, name)
        if heads is not None and is_whole(heads):
            yield int(heads)


def _divisors(heads: int) -> str:
    return ", ".join(str(n) for n in range(1, heads + 1) if not heads % n)


def _remarks(given: Given, degrees: Mapping[str, float]) -> list[str]:
    """Degrees that leave devices idle, or do nothing; targets that are probably a slip."""
    found = []
    batch, pp, ep = number_of(given, "batch") or 1.0, degrees.get("pp", 1.0), degrees.get("ep", 1.0)
    layers = sum(number_of(given, name) or 0 for name in given if base_name(name) == "n_layers")
    if batch < pp:
        found.append(f"batch {batch:g} is less than pp {pp:g}: stages are idle in a decode step")
    if layers and pp > layers:
        more = f"pp {pp:g} is more than the {layers:g} layers of the model"
        found.append(f"{more}: a stage needs at least one")
    if layers and ep > 1 and "n_experts" not in map(base_name, given):
        found.append(f"ep {ep:g} has no effect: the model has no experts")
    for name, most in SLOWEST.items():
        if (limit := number_of(given, TARGET_SYMBOLS[name]) or 0) > most:
            found.append(f"target {name.upper()} {limit:,g} s: was {limit:,g} ms meant?")
    return found


def check_engine(case: BoundCase) -> None:
    """Query heads that the engine can share out: it keeps each whole, on one device; llama.cpp cuts rows, and physics alone cuts what it likes. Warn where a
    layout has more devices than the same numbers have on the line of an engine that forms attention's groups inside its tensor-parallel ones.

    Raises:
        InputError: ``tp`` does not divide the heads.
    """
    engine, given = case.engine, case.given
    if engine is None:
        return
    if case.model and engine.name == "vllm":
        case.warn(*case.model.padded_caches(case.assumptions["window_cache"] == "full"))
    tp, groups = (number_of(given, name) or 1.0 for name in ("tp", "attention_dp"))
    cut = engine.label == IDEAL or engine.kind == "ggml"
    for heads in () if cut else _whole_heads(given, "n_heads"):
        if heads % tp:
            message = f"tp {tp:g} does not divide {heads} query heads, which {engine.said} refuses"
            hint = f"{_divisors(heads)}; or --engine ideal"
            raise InputError(Problem(given["tp"].source, message, path="tp", hint=hint))
    inside = engine.data_parallel == "inside" and not tp % groups
    advised = any(given[name].source == VARIANT for name in ("tp", "attention_dp") if name in given)
    if inside and tp != 1 and groups != 1 and not advised:
        alike = f"tp {tp // groups:g}, attention_dp {groups:g}"
        case.warn(
            f"tp is of one attention group here, so tp {tp:g} and attention_dp {groups:g} are {tp * groups:g} devices; {engine.said} counts groups inside its tp: its tp {tp:g} is {alike}"
        )


def check_formulas(made: BoundCase) -> None:
    """Formulas that somebody set must be numbers, must not refer to themselves, and must have values that their names may have: with the ranges at their
    middle and at every corner.

    Raises:
        InputError: one does not.
    """
    given = made.given
    formulas = {name: own for name, own in given.items() if own.is_formula and not own.defaulted}
    if not formulas:
        return
    for name, formula in formulas.items():
        if wrong := made.case.first_non_number(formula.setting):
            message = f"{wrong} is true/false or a category, not a number"
            raise InputError(Problem(formula.source, message, path=name))
    for there in (made.case, *made.corners[:MOST_POINTS]):
        values = {name: number(there.value(name)) for name in made.box}
        for name, formula in formulas.items():
            if (value := _value(name, formula, there)) is not None:
                values[name] = value
        settled = {name: replace(given[name], setting=value) for name, value in values.items()}
        check_together({**given, **settled})


def _value(name: str, formula: Input, case: Case) -> Expr | None:
    """The value of a formula; None where one that it needs is missing: what follows says so.

    Raises:
        InputError: it leads back to itself, is a number of devices (on which all other formulas depend) without a value, or has one that its name may not have.
    """
    symbol = case.theory.symbol(name)
    try:
        value = number(case.value(name))
    except NoValue as error:
        if "is defined by itself" in str(error):
            raise InputError(Problem(formula.source, str(error), path=name)) from None
        if name in (*DEGREES, "instance_devices"):
            raise formula.without_value(name, error) from None
        return None
    try:
        if not (formula.definition or symbol.signed):
            in_domain(symbol, value)
    except ValueError as error:
        moving = ((key, end) for key, end in case.numbers.items() if key in case.dependencies(name))
        where = [f"{key} is {as_written(key, number(end))}" for key, end in moving]
        at = f" where {' and '.join(where)}" if where else ""
        written = text(formula.setting)
        hint = f"ceil({written}) or floor({written})" if "whole" in str(error) else ""
        message = f"{written} is {shortened_formula(as_written(name, value), LONGEST)}{at}, but {name} {error}"
        raise InputError(Problem(formula.source, message, path=name, hint=hint)) from None
    return value


def check_load(case: BoundCase) -> None:
    """An arrival rate is a load only with the length of the responses.

    Raises:
        InputError: there is none.
    """
    if case.model and case.chosen("arrival_rate") and not case.case.has_value("output"):
        message = "the load of these requests is not known without the length of their responses"
        raise InputError(Problem("arrival_rate", message, hint="--output 300"))
