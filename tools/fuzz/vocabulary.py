"""The real catalogue, as the command line lists it: names, units, definitions, equations, switches, and values that suit a name."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache

from hypothesis import strategies as st


@cache
def listed(kind: str) -> tuple[dict, ...]:
    """The entries of ``symroof list KIND --json``."""
    from symroof.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["list", kind, "--json"])
    return tuple(json.loads(out.getvalue())["entries"])


@cache
def names(kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry["name"] for entry in listed(kind)))


@cache
def units() -> dict[str, str]:
    """Base unit of every input and quantity."""
    return {
        entry["name"]: entry.get("unit") or ""
        for kind in ("inputs", "quantities")
        for entry in listed(kind)
    }


@cache
def of_unit() -> dict[str, tuple[str, ...]]:
    """Names by their unit."""
    found: dict[str, list[str]] = {}
    for name, unit in units().items():
        found.setdefault(unit, []).append(name)
    return {unit: tuple(members) for unit, members in found.items()}


@cache
def definitions() -> dict[str, tuple[str, ...]]:
    """Definitions as the catalogue prints them, by unit."""
    found: dict[str, list[str]] = {}
    for entry in listed("quantities"):
        if entry.get("definition"):
            found.setdefault(entry.get("unit") or "", []).append(str(entry["definition"]))
    return {unit: tuple(texts) for unit, texts in found.items()}


@cache
def switches() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {"detail": ["exact", "attention", "kv", "weights"]}
    for entry in listed("assumptions"):
        found.setdefault(entry["name"], []).append(entry["value"])
    return {name: tuple(values) for name, values in found.items()}


SMALL = (
    "llama-3-8b",
    "llama-3-70b",
    "gpt2",
    "mixtral-8x7b",
    "deepseek-v2-lite",
    "gemma-2-9b",
    "gpt-oss-20b",
    "mamba2-2.7b",
    "lfm2-8b-a1b",
    "jamba-1.5-mini",
)
"""One model of every kind, drawn more often than the rest."""
DEVICES = ("h100-sxm", "h200", "a100-80gb-sxm", "l4", "mi300x", "tpu-v5e")

COUNTS = ("1", "2", "4", "8", "16", "64", "128", "512", "2048", "4096", "131072")
BASES = {
    "byte/s": ("3.35 TB/s", "900 GB/s", "64 GB/s", "1 byte/s", "1e30 byte/s"),
    "byte": ("80 GB", "16 MiB", "2 byte", "4 bit", "1.34 GB", "1e-3 byte"),
    "FLOP/s": ("989.4 TFLOP/s", "312 TFLOP/s", "1 FLOP/s"),
    "s": ("50 ms", "200 ms", "1 us", "0", "2 s", "1 hour", "1e-12 s"),
    "W": ("700 W", "1 mW"),
    "USD/s": ("4.29 USD/hour", "2 USD/hour", "0"),
    "USD": ("2 USD", "0.5 USD"),
    "Hz": ("1.83 GHz",),
    "byte/parameter": ("2", "1", "0.5", "4.5 bit/parameter"),
    "byte/token": ("320 KB/token", "128 KiB/token", "1 byte/token"),
    "token/s": ("1000 token/s", "25 token/s"),
    "request/s": ("2 request/s", "0.5 request/s", "0"),
    "1/s": ("0.1/s", "3 Hz"),
    "FLOP": ("1e12 FLOP", "140 GFLOP"),
    "FLOP/byte": ("295 FLOP/byte", "1 FLOP/byte"),
    "FLOP/token": ("16 GFLOP/token",),
    "J/token": ("0.5 J/token",),
}
ODD = (
    "0", "-1", "1e308", "1e400", "1e9999", "-0", "9" * 60, "0.1", "1/3", "1e-400", "nan", "inf", "NaN", "1_000", "\uff11\uff12", "0x10", "1.", ".5", "",
    " ", "true", "null", "~24", "1..2", "2..1", "0..0", "0..1", "1..", "..", "62 %", "101 %", "1 parsec", "3 byte/s/s", "1 GB/", "1e6 token", "m", "batch",
    "draft_tokens", "2*prefill_bound", "9**9**9", "2^64^2", "1e99", "1e100", "\u221e", "1\u00a0000", "1,000", "1 000", "5 ms ", "5\tms", "+5", "5e", "--", "=",
)  # fmt: skip
"""What stands where a value should, and is none, or an extreme one."""
NASTY = (
    "\x1b[31mred", "\x07", "a\x00b", "\x9b2J", "\u202egnp.exe", "<fuzzlive>", "`<fuzzlive>`", "``", "`", "a|b", "|", "[x]", "*bold*", "[1ex] y", "* z", "\\input{x}",
    "\\", "$x$", "%", "&", "#", "_", "{{ 7*7 }}", "{% raw %}", "]]>", "-->", "--", "\u2028", "\ud7ff", "\U0001f600", "e\u0301", "\ufeff", "\x85", "::error::x",
    "%0A", "a" * 300, "\t", "\r", "'", '"', "a\nb", "= HYPERLINK()", "../x", "/etc/passwd", "C:\\x", "~", "con", "-", "--json", "\x7f",
)  # fmt: skip
"""Texts that steer terminals, close quotations, or are markup somewhere."""


@cache
def nasty() -> st.SearchStrategy[str]:
    """A text of a stranger: a few plain words with something among them."""
    return st.builds(
        lambda before, bad, after: f"{before}{bad}{after}",
        st.sampled_from(("", "x ", "model ")),
        st.sampled_from(NASTY),
        st.sampled_from(("", " y")),
    )


@cache
def title() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(("chat", "My model", "Llama 3, 8B", "H100 x 8")),
        nasty(),
        st.lists(nasty(), min_size=2, max_size=3).map(" ".join),
    )


def rarely(
    common: st.SearchStrategy, rare: st.SearchStrategy, one_in: int = 8
) -> st.SearchStrategy:
    """Mostly the one, one in so many times the other; shrinks to the first."""
    return st.integers(0, one_in - 1).flatmap(
        lambda i: rare if i == one_in // 2 else common
    )  # an end of the range is drawn too often


@cache
def model() -> st.SearchStrategy[str]:
    return rarely(st.sampled_from(SMALL), st.sampled_from(names("models")), 4)


@cache
def device() -> st.SearchStrategy[str]:
    return rarely(st.sampled_from(DEVICES), st.sampled_from(names("hardware")), 4)


@cache
def quantity() -> st.SearchStrategy[str]:
    return st.sampled_from(names("quantities"))


@cache
def input_name() -> st.SearchStrategy[str]:
    return st.sampled_from(names("inputs"))


@cache
def threshold() -> st.SearchStrategy[str]:
    return st.sampled_from(names("thresholds"))


@cache
def any_name() -> st.SearchStrategy[str]:
    """A name of any kind, or what looks like one."""
    odd = st.sampled_from(
        (
            "a.b.c.d",
            "itl.x",
            "n_heads.local",
            "batch_to_ridge.gate_up",
            "nosuch",
            "preset",
            "draft",
            "step",
            "j",
            "x" * 60,
            "\u03b2",
            "B",
            "S",
        )
    )
    return st.one_of(quantity(), input_name(), threshold(), odd)


@cache
def plain_value(name: str) -> st.SearchStrategy[str]:
    """A value that suits a name."""
    unit = units().get(name, "")
    if unit in BASES:
        return st.sampled_from(BASES[unit])
    share = name in (
        "mfu",
        "mbu",
        "link_share",
        "memory_share",
        "acceptance",
        "hit_rate",
        "slo_share",
        "percentile",
        "long_share",
        "margin",
        "expert_share",
    )
    if share:
        return st.sampled_from(("0.5", "1", "0.9", "62 %", "0.01", "0.4..0.6", "0", "0.7..0.9"))
    counts = st.sampled_from(COUNTS)
    return (
        counts
        if unit in ("", "token", "request", "device", "parameter")
        else counts.map(lambda count: f"{count} {unit}")
    )


@cache
def value(name: str) -> st.SearchStrategy[str]:
    """A value for a name: mostly one that suits it, sometimes a formula, sometimes nonsense."""
    from .areas.formulas import formula

    return rarely(
        plain_value(name), st.one_of(st.sampled_from(ODD), formula(units().get(name, ""))), 12
    )


@cache
def setting() -> st.SearchStrategy[str]:
    """``NAME=VALUE`` of any input or quantity."""
    return rarely(st.one_of(input_name(), quantity()), any_name(), 12).flatmap(
        lambda name: value(name).map(lambda text: f"{name}={text}")
    )


@cache
def precision() -> st.SearchStrategy[str]:
    return rarely(
        st.sampled_from(names("precisions")),
        st.sampled_from(("fp3", "weights", "", "FP16", "int4", "\x1b")),
        8,
    )


@cache
def assumption() -> st.SearchStrategy[tuple[str, str]]:
    whole = st.sampled_from(sorted(switches())).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(switches()[name]))
    )
    return rarely(
        whole,
        st.tuples(
            st.sampled_from(("detail", "nosuch", "mla")), st.sampled_from(("on", "nosuch", "\x1b"))
        ),
        12,
    )
