"""Formulas with sound dimensions over real names, as text and as LaTeX, and what a slip of the hand makes of them."""

from __future__ import annotations

from functools import cache

import yaml
from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import (
    NASTY,
    any_name,
    definitions,
    input_name,
    listed,
    names,
    of_unit,
    plain_value,
    quantity,
    rarely,
    threshold,
    units,
)

SIGNS = (
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "(",
    ")",
    "=",
    "<",
    ">=",
    ",",
    "%",
    ".",
    "_",
    " ",
    "e",
    "1",
    "\\",
    "{",
    "}",
    "$",
    "&",
    "^^",
    "--",
    "max(",
    "sum(",
    "ceil(",
    "byte/s",
)
PLAIN = ("2", "1", "3", "0.5", "1/3", "1e12", "1e-9", "0", "10", "7", "1e99", "64")
UNITS = (
    "byte",
    "s",
    "FLOP",
    "token",
    "byte/s",
    "request",
    "FLOP/s",
    "FLOP/byte",
    "USD",
    "GB",
    "ms",
    "parsec",
)


@cache
def _leaf(unit: str) -> st.SearchStrategy[str]:
    """A name, a number, or a definition of a unit."""
    found = [st.sampled_from(of_unit()[unit])] if unit in of_unit() else []
    found += (
        [st.sampled_from(definitions()[unit]).map(lambda text: f"({text})")]
        if unit in definitions()
        else []
    )
    found.append(
        st.sampled_from(PLAIN)
        if not unit
        else st.sampled_from(PLAIN).map(lambda number: f"{number} {unit}")
    )
    return st.one_of(found)


def _larger(unit: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """An expression of a unit out of smaller ones of it."""
    ratio = st.sampled_from(
        sorted(unit for unit, members in of_unit().items() if len(members) > 1)
    ).flatmap(
        lambda other: st.tuples(
            st.sampled_from(of_unit()[other]), st.sampled_from(of_unit()[other])
        )
    )
    name = st.sampled_from(of_unit().get(unit, ("itl",)))
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(PLAIN), inner).map(lambda t: f"{t[0]}*{t[1]}"),
        st.tuples(inner, st.sampled_from(PLAIN)).map(lambda t: f"{t[0]}/({t[1]})"),
        st.tuples(inner, ratio).map(lambda t: f"{t[0]}*{t[1][0]}/{t[1][1]}"),
        st.tuples(st.sampled_from(("max", "min")), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
        st.tuples(st.sampled_from(("ceil", "floor")), inner).map(lambda t: f"{t[0]}({t[1]})"),
        inner.map(lambda t: f"sqrt(({t})^2)"),
        st.tuples(inner, st.integers(-3, 5)).map(lambda t: f"({t[0]})*2^{t[1]}"),
        st.tuples(inner, inner).map(lambda t: f"sum({t[0]} + j*{t[1]}, j, 0, 7)"),
        st.tuples(
            name, input_name().flatmap(lambda i: plain_value(i).map(lambda v: f"{i} = {v}"))
        ).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, ratio).map(lambda t: f"{t[0]}*log2(2 + {t[1][0]}/{t[1][1]})"),
    )


@cache
def sound(unit: str) -> st.SearchStrategy[str]:
    """A formula of a unit, sound in its dimension."""
    return st.recursive(_leaf(unit), lambda inner: _larger(unit, inner), max_leaves=5)


def mutated(text: str) -> st.SearchStrategy[str]:
    """A text with a place or two changed."""
    place = st.integers(0, max(len(text), 1))
    change = st.tuples(
        place,
        st.integers(0, 6),
        st.one_of(
            st.sampled_from(("", *SIGNS)),
            any_name(),
            st.sampled_from(NASTY),
            st.sampled_from(UNITS),
            st.just("(" * 70),
        ),
    )

    def apply(changes: list[tuple[int, int, str]]) -> str:
        made = text
        for at, length, new in changes:
            made = made[:at] + new + made[at + length :]
        return made

    return st.lists(change, min_size=1, max_size=2).map(apply)


@cache
def formula(unit: str) -> st.SearchStrategy[str]:
    """A formula of a unit, one in six of them spoilt."""
    return rarely(sound(unit), sound(unit).flatmap(mutated), 6)


@cache
def a_unit() -> st.SearchStrategy[str]:
    return quantity().map(lambda name: units()[name])


@cache
def equation() -> st.SearchStrategy[str]:
    """Two formulas of one unit, or the equation of a threshold."""
    two = a_unit().flatmap(
        lambda unit: st.tuples(formula(unit), formula(unit)).map(lambda t: f"{t[0]} = {t[1]}")
    )
    known = st.sampled_from(tuple(entry["equation"] for entry in listed("thresholds")))
    return st.one_of(two, known, known.flatmap(mutated), two)


def attempts() -> st.SearchStrategy[Attempt]:
    """Formulas on the line: derived, solved, set, swept."""
    from .lines import case, words

    json = st.sampled_from((("--json",), ()))
    some_case = st.one_of(st.just(()), case())
    derive = st.tuples(any_name(), some_case, json).map(lambda t: ("derive", t[0], *t[1], *t[2]))
    solve = st.tuples(equation(), input_name(), some_case, json).map(
        lambda t: ("solve", t[0], "--for", t[1], *t[2], *t[3])
    )
    named = st.tuples(
        st.one_of(threshold(), threshold().map(lambda name: f"{name}.gate_up")), case(), json
    ).map(lambda t: ("solve", t[0], *t[1], *t[2]))
    given = st.one_of(quantity(), input_name()).flatmap(
        lambda name: formula(units()[name]).map(lambda text: f"{name}={text}")
    )
    evaluate = st.tuples(case(), given, json).map(lambda t: ("eval", *t[0], "--set", t[1], *t[2]))
    sweep = st.tuples(case(), given, st.sampled_from(("batch=1:8", "prompt=128:1024:x2"))).map(
        lambda t: ("sweep", *t[0], "--set", t[1], "--over", t[2], "-q", "itl,ttft")
    )
    return st.one_of(solve, derive, named, evaluate, solve, sweep).map(words)


# -------------------------------------------------------------------------------------------------------------- LaTeX


@cache
def _latex_name() -> st.SearchStrategy[str]:
    known = tuple(
        entry["latex"]
        for kind in ("inputs", "quantities")
        for entry in listed(kind)
        if entry.get("latex")
    )
    odd = (
        r"\mathrm{batch}",
        r"\alpha\beta",
        r"x_{y_{z}}",
        r"\text{kv_cache_bytes}",
        r"\operatorname{itl}",
        "{}",
        r"T_{\text{a b}}",
        r"\hat{x}",
        "q^{(2)}",
        r"\frac",
    )
    return rarely(st.sampled_from(known), st.sampled_from((*odd, *names("quantities"))), 8)


@cache
def latex() -> st.SearchStrategy[str]:
    """LaTeX over the spellings of the catalogue."""
    leaf = st.one_of(
        _latex_name(),
        st.sampled_from(PLAIN),
        st.sampled_from(
            (r"3.35 \times 10^{12}\,\mathrm{byte/s}", r"50\,\text{ms}", r"80\,\mathrm{GB}")
        ),
    )

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(
                inner,
                st.sampled_from((" ", r" \cdot ", r" \times ", " + ", " - ", "/", " ")),
                inner,
            ).map("".join),
            st.tuples(inner, inner).map(lambda t: rf"\frac{{{t[0]}}}{{{t[1]}}}"),
            st.tuples(st.sampled_from(("max", "min")), inner, inner).map(
                lambda t: rf"\{t[0]}\left({t[1]}, {t[2]}\right)"
            ),
            inner.map(lambda t: rf"\left\lceil {t} \right\rceil"),
            inner.map(lambda t: rf"\sqrt{{{t}}}"),
            st.tuples(inner, st.sampled_from(("2", "{-1}", "{10}", "{n}", "T", "{}"))).map(
                lambda t: rf"{{{t[0]}}}^{t[1]}"
            ),
            inner.map(lambda t: rf"\sum_{{j=0}}^{{N-1}} {t}"),
            inner.map(lambda t: rf"\left({t}\right)"),
            inner.map(lambda t: rf"\log_2 {t}"),
        )

    return st.recursive(leaf, larger, max_leaves=6)


@cache
def latex_formula() -> st.SearchStrategy[str]:
    return rarely(latex(), latex().flatmap(mutated), 4)


def latex_attempts() -> st.SearchStrategy[Attempt]:
    """LaTeX where a formula or an equation is taken."""
    from .lines import case, words

    some_case = st.one_of(st.just(()), case())
    solve = st.tuples(latex_formula(), latex_formula(), input_name(), some_case).map(
        lambda t: ("solve", f"{t[0]} = {t[1]}", "--for", t[2], *t[3])
    )
    derive = st.tuples(_latex_name(), some_case).map(lambda t: ("derive", t[0], *t[1]))
    evaluate = st.tuples(case(), st.one_of(quantity(), input_name()), latex_formula()).map(
        lambda t: ("eval", *t[0], "--set", f"{t[1]}={t[2]}")
    )
    note = st.tuples(quantity(), latex_formula()).map(
        lambda t: Attempt(
            ("check", "n.yaml"),
            {"n.yaml": yaml_of({"claims": [{"id": "a", "quantity": t[0], "formula": t[1]}]})},
        )
    )
    return st.one_of(st.one_of(solve, derive, evaluate).map(words), note)


class Plain(yaml.SafeDumper):
    """Without anchors: what stands twice is written twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def yaml_of(data: object) -> bytes:
    """Data as YAML, in the plain style people write."""
    return yaml.dump(data, Dumper=Plain, sort_keys=False, allow_unicode=True, width=160).encode(
        "utf-8", "surrogatepass"
    )
