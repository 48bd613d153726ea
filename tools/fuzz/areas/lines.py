"""Command lines: cases with models, devices, layouts, ranges, precisions, switches, presets, settings, targets."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import (
    ODD,
    any_name,
    assumption,
    device,
    model,
    names,
    nasty,
    plain_value,
    precision,
    quantity,
    rarely,
    setting,
    threshold,
    value,
)

KINDS = ("roofline", "latency-throughput", "regimes", "pareto", "memory", "tornado", "ttft", "itl")
TARGETS = (
    "itl=30 ms",
    "ttft=200 ms",
    "cost=2 USD",
    "price=20 USD/hour",
    "itl=0 ms",
    "itl=0",
    "ttft=-1 s",
    "cost=1e-30 USD",
    "itl=5",
    "nosuch=1 s",
    "itl=1e9 s",
)
OVER = (
    "batch=1:8", "prompt=128:4096:x2", "mfu=0.1:0.9:+0.2", "hardware=h100-sxm,h200", "model=llama-3-8b,gpt2", "weights=fp16,fp8", "detail=exact,weights", "tp=1,2,4",
    "batch=1:1e9", "batch=8:1", "batch=1:8:x1", "batch=1:8:+0", "batch=", "nosuch=1:2", "batch=1:8,16", "itl=1 ms,2 ms", "batch=0:3", "mfu=0:1:+0.5", "=", "batch",
    "prompt=1:100000:x1.0001", "context=1:4", "kv=fp8", "mla=absorbed,expanded", "batch=\x1b",
)  # fmt: skip
AMONG = (
    "hardware=all", "hardware=h100*,h200", "tp=1,2,4,8", "weights=fp16,fp8", "batch=1,32", "model=llama-3-8b", "hardware=*", "hardware=[", "tp=0", "tp=1:8", "nosuch=1",
    "batch=1e9", "pp=1,2", "ep=1,2", "attention_dp=1,2",
)  # fmt: skip


SERVING = (
    "arrival_rate=1 request/s", "burst_rate=3 request/s", "burst_duration=2 s", "long_share=0.1", "long_prompt=4096", "long_output=64", "preemption_rate=0.1/s", "chunk=256",
    "draft_tokens=4", "acceptance=0.7", "kernels_per_layer=8", "prefill_devices=2", "itl_target=50 ms", "ttft_target=1 s", "cost_target=2 USD",
)  # fmt: skip
"""What quantities of a server need; with all of it every formula can be worked out."""


def words(arguments: tuple[str, ...]) -> Attempt:
    """A command without files; a NUL cannot stand on a line."""
    return Attempt(tuple(word.replace("\0", "\x01") for word in arguments))


def option(
    flag: str, found: st.SearchStrategy[str], one_in: int = 2
) -> st.SearchStrategy[tuple[str, ...]]:
    """An option that stands there one in so many times; shrinks to nothing."""
    return st.integers(0, one_in - 1).flatmap(
        lambda i: found.map(lambda text: (flag, text)) if i == one_in // 2 else st.just(())
    )


def _always(flag: str, found: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return found.map(lambda text: (flag, text))


@cache
def case() -> st.SearchStrategy[tuple[str, ...]]:
    """Options that describe a case: mostly a whole one."""
    degree = st.sampled_from(("1", "2", "4", "8", "3", "16", "0", "64"))
    share = rarely(
        st.sampled_from(("0.5", "1", "0.4..0.6", "0.6..0.9", "50 %")), st.sampled_from(ODD), 10
    )
    parts = [
        _always("--model", rarely(model(), nasty(), 30)),
        _always("--hardware", rarely(device(), nasty(), 30)),
        option("--hardware", device(), 6),
        _always("--prompt", value("prompt")),
        option("--output", value("output")),
        option("--batch", value("batch")),
        option("--context", value("context"), 6),
        option("--tp", degree, 3),
        option("--pp", degree, 5),
        option("--ep", degree, 5),
        option("--dp", degree, 8),
        option("--attention-dp", degree, 6),
        option("--mfu", share, 3),
        option("--mbu", share, 3),
        option("--weights", precision(), 4),
        option("--kv", precision(), 5),
        option("--activations", precision(), 8),
        option("--assume", assumption().map("=".join), 3),
        option("--assume", assumption().map("=".join), 4),
        option("--preset", st.sampled_from((*names("presets"), "nosuch")), 12),
        option("--set", setting(), 3),
        option("--set", setting(), 4),
        option("--target", st.sampled_from(TARGETS), 4),
        option("--draft", model(), 10),
        rarely(
            st.just(()), st.just(tuple(word for text in SERVING for word in ("--set", text))), 4
        ),
    ]
    return st.tuples(*parts).map(lambda found: tuple(word for part in found for word in part))


def attempts() -> st.SearchStrategy[Attempt]:
    """Every command that takes a case."""
    json = st.sampled_from((("--json",), ()))
    strict = st.sampled_from(((), ("--strict",)))
    quantities = st.lists(
        rarely(quantity(), any_name(), 8), min_size=1, max_size=3, unique=True
    ).map(",".join)
    commands = [
        st.tuples(case(), json, strict).map(lambda t: ("eval", *t[0], *t[1], *t[2])),
        st.tuples(
            rarely(quantity(), any_name(), 5),
            case(),
            st.sampled_from((("--json",), (), ("--latex",))),
        ).map(lambda t: ("derive", t[0], *t[1], *t[2])),
        st.tuples(threshold(), case(), json).map(lambda t: ("solve", t[0], *t[1], *t[2])),
        st.tuples(
            case(),
            option("--among", st.sampled_from(AMONG)),
            option("--by", st.sampled_from(("cost", "itl", "rate", "nosuch")), 4),
            json,
        ).map(lambda t: ("select", *t[0], *t[1], *t[2], *t[3])),
        st.tuples(
            case(), st.sampled_from(OVER), option("--over", st.sampled_from(OVER), 3), quantities
        ).map(lambda t: ("sweep", *t[0], "--over", t[1], *t[2], "-q", t[3])),
        st.tuples(st.sampled_from(KINDS), case()).map(lambda t: ("plot", t[0], *t[1], "-o", "-")),
        st.tuples(case(), st.sampled_from(("md", "tex", "html"))).map(
            lambda t: ("report", *t[0], "--no-plots", "-o", "-", "--format", t[1])
        ),
        st.tuples(st.one_of(any_name(), model(), device(), nasty()), json).map(
            lambda t: ("show", t[0], *t[1])
        ),
        st.tuples(rarely(quantity(), any_name()), st.lists(plain_value("batch"), max_size=1)).map(
            lambda t: ("derive", t[0], *(x for v in t[1] for x in ("--batch", v)))
        ),
    ]
    return st.one_of(commands).map(words)
