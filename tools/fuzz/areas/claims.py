"""Claim files: every form a claim can have, over real quantities and cases."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import (
    any_name,
    assumption,
    device,
    model,
    plain_value,
    precision,
    quantity,
    rarely,
    threshold,
    title,
    units,
    value,
)
from .formulas import a_unit, equation, formula, latex_formula
from .studies import file_of, setting_value

VALUES = (
    "1.34 GB",
    "295",
    "66 ms",
    "~24",
    "< 50 ms",
    ">= 3 GB",
    "1.43x",
    "2x",
    "memory",
    "compute",
    "true",
    "20 %",
    "1e400",
    "0",
    "-1 GB",
    "0.000 s",
    "about 24",
    "1..2 ms",
    "nan",
)


@cache
def given() -> st.SearchStrategy[dict]:
    """What a claim's text says of its case."""
    optional = {
        "model": rarely(model(), title(), 15),
        "hardware": rarely(device(), title(), 15),
        "prompt": setting_value("prompt"),
        "batch": setting_value("batch"),
        "output": setting_value("output"),
        "tp": setting_value("tp"),
        "mfu": setting_value("mfu"),
        "kv": precision(),
        "weights": precision(),
        "assume": st.lists(assumption(), max_size=2).map(dict),
        "targets": st.just({"itl": "50 ms"}),
        "preset": st.sampled_from(("tutorial-mlsysim", 1, "nosuch")),
        "draft": st.sampled_from(("gpt2", [1], {"a": 1}, 3)),
        "nosuch": st.just(1),
        "layers": st.just(
            [
                {
                    "count": 2,
                    "attention": {"n_heads": 8, "n_kv_heads": 2, "head_dim": 64},
                    "ffn": {"d_ff": 512},
                }
            ]
        ),
        "d_model": st.just(512),
        "vocab_size": st.just(1000),
    }
    common = {name: optional[name] for name in ("model", "hardware", "prompt", "batch", "output")}
    odd = st.sampled_from(sorted(set(optional) - set(common))).flatmap(
        lambda name: optional[name].map(lambda found: {name: found})
    )
    named = any_name().flatmap(lambda name: setting_value(name).map(lambda found: {name: found}))
    base = st.fixed_dictionaries(
        {"model": model(), "hardware": device(), "prompt": plain_value("prompt")},
        optional={n: common[n] for n in ("batch", "output")},
    )
    return st.tuples(
        rarely(base, st.fixed_dictionaries({}, optional=common), 3),
        rarely(st.just({}), st.one_of(odd, named), 3),
    ).map(lambda t: t[0] | t[1])


@cache
def claimed(name: str) -> st.SearchStrategy[object]:
    """A value that a claim could state of a quantity."""
    return rarely(plain_value(name), st.one_of(st.sampled_from(VALUES), value(name)), 3)


@cache
def claim() -> st.SearchStrategy[dict]:
    """One claim of one form."""
    where = st.dictionaries(
        st.sampled_from(("b", "x", "S", "kappa")),
        st.one_of(quantity(), st.just("kv_bytes_per_element"), st.just("1")),
        max_size=1,
    )
    forms = [
        quantity().flatmap(lambda n: st.fixed_dictionaries({"quantity": st.just(n), "value": claimed(n), "given": given()})),
        quantity().flatmap(
            lambda n: st.fixed_dictionaries({"quantity": st.just(n), "formula": st.one_of(formula(units()[n]), latex_formula(), st.just("2"))}, optional={"given": given(), "where": where})
        ),
        a_unit().flatmap(lambda unit: st.fixed_dictionaries({"expression": formula(unit), "value": st.sampled_from(VALUES)})),
        st.fixed_dictionaries({"threshold": rarely(threshold(), equation(), 3), "value": st.sampled_from((295, "24", "< 100", "none", "1e9")), "given": given()}, optional={"for": st.sampled_from(("batch", "prompt"))}),
        st.fixed_dictionaries({"threshold": threshold(), "formula": latex_formula(), "given": given()}),
        st.fixed_dictionaries({"relation": st.one_of(quantity(), st.sampled_from(("decode_bound", "prefill_bound", "fits", "itl < 50 ms", "itl < ttft")), equation()), "value": st.sampled_from(("memory", "compute", True, False, "link")), "given": given()}),
        st.fixed_dictionaries({
            "relation": st.sampled_from(("prefill_bound", "decode_bound", "fits", "itl < 50 ms")), "value": st.sampled_from(("compute", "memory", True)), "given": given(),
            "for_all": st.sampled_from(({"prompt": "1..131072"}, {"batch": "1..64"}, {"prompt": "1..1e30"}, {"prompt": "2..1"}, {"mfu": "0..1"}, {"nosuch": "1..2"}, {"itl": "1 ms..2 ms"})),
        }),
        st.tuples(quantity(), given(), given(), given()).map(lambda t: {"compare": t[0], "given": t[1], "between": [t[2], t[3]], "value": "1.43x"}),
        quantity().flatmap(lambda n: given().map(lambda g: {"quantity": n, "given": g, "values": {"batch": [1, 8, 32], "value": [1, 8, 32]}})),
        st.tuples(st.one_of(device(), model(), title()), any_name()).map(lambda t: {"catalogue": f"{t[0]}.{t[1]}", "value": "3.35 TB/s"}),
        st.tuples(quantity(), any_name(), given()).map(lambda t: {"moves": t[0], "with": t[1], "given": t[2], "value": "up"}),
        st.tuples(a_unit().flatmap(formula), quantity(), given()).map(
            lambda t: {"steps": [{"name": "a", "expression": t[0], "value": 1}, {"name": "b", "quantity": t[1], "given": t[2], "value": "2"}, {"name": "c", "expression": "a*2 + b", "value": "3"}]}
        ),
        title().map(lambda text: {"unchecked": text}),
    ]  # fmt: skip
    more = st.fixed_dictionaries(
        {},
        optional={
            "says": title(),
            "note": title(),
            "tolerance": st.sampled_from(("5 %", 0.1, "x", "-1")),
        },
    )
    needs = st.fixed_dictionaries(
        {},
        optional={
            "needs": st.sampled_from(
                ({"mfu": 0.5}, {"assume": {"detail": "weights"}}, {"itl": "5 ms"}, {"x": 1})
            )
        },
    )
    return st.tuples(
        st.one_of(forms), rarely(st.just({}), more, 3), rarely(st.just({}), needs, 4)
    ).map(lambda t: t[0] | t[1] | t[2])


def claims() -> st.SearchStrategy[dict]:
    """A file of claims."""
    ids = rarely(st.sampled_from(("a", "b", "c")), title(), 6)
    listed = st.lists(
        st.tuples(ids, claim()).map(lambda t: {"id": t[0], **t[1]}),
        min_size=1,
        max_size=3,
        unique_by=lambda one: one["id"],
    )
    return st.fixed_dictionaries({"claims": listed}, optional={"source": title(), "title": title()})


def attempts() -> st.SearchStrategy[Attempt]:
    """Claims are checked in every form of answer, validated, and reviewed in a study."""
    commands = st.sampled_from((
        ("check", "c.yaml"), ("check", "c.yaml", "--json"), ("check", "c.yaml"), ("check", "c.yaml", "--format", "github"),
        ("validate", "c.yaml"), ("check", "c.yaml", "--strict"),
        ("report", "s.yaml", "--no-plots", "-o", "-", "--format", "md"), ("report", "s.yaml", "--no-plots", "-o", "-", "--format", "tex"), ("report", "s.yaml", "--no-plots", "-o", "-", "--format", "html"),
    ))  # fmt: skip
    study = b"model: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 512, output: 32}\nclaims: [c.yaml]\n"
    return st.tuples(commands, file_of(claims())).map(
        lambda t: Attempt(
            t[0], {"c.yaml": t[1], "s.yaml": study} if t[0][0] == "report" else {"c.yaml": t[1]}
        )
    )
