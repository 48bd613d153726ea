"""Studies and presets as YAML: validated, evaluated, reviewed, drawn, swept, selected from."""

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
    nasty,
    precision,
    quantity,
    rarely,
    threshold,
    title,
    value,
)
from .formulas import equation, formula, mutated, yaml_of
from .lines import KINDS

TAGS = (
    "&a ",
    "*a",
    "!!python/object:os.system x",
    "<<: {}",
    "? ",
    "- ",
    "\t",
    "%YAML 1.3\n",
    "---\n",
    "...\n",
    "yes",
    "0o17",
    "1:30",
    "2026-01-01",
    "|\n",
    "''",
    "{",
    "[",
)


@cache
def setting_value(name: str) -> st.SearchStrategy[object]:
    """As text, as a number where it is one, or as a list."""
    one = value(name).map(_typed)
    return rarely(one, st.lists(one, min_size=0, max_size=3), 5)


def _typed(text: str) -> object:
    return int(text) if text.isascii() and text.isdigit() else text


@cache
def mapping(names: tuple[str, ...], most: int = 4) -> st.SearchStrategy[dict]:
    """Some of these names with values."""
    return st.lists(st.sampled_from(names), max_size=most, unique=True).flatmap(
        lambda chosen: st.tuples(*(setting_value(name) for name in chosen)).map(
            lambda values: dict(zip(chosen, values, strict=True))
        )
    )


def several(found: st.SearchStrategy) -> st.SearchStrategy:
    return rarely(found, st.lists(found, min_size=1, max_size=3), 3)


WORKLOAD = (
    "output",
    "batch",
    "prefill_batch",
    "cached_prefix",
    "chunk",
    "draft_tokens",
    "acceptance",
    "arrival_rate",
    "hit_rate",
    "context",
    "long_share",
    "block_size",
)
EFFICIENCY = (
    "mfu",
    "mbu",
    "link_share",
    "step_overhead",
    "layer_overhead",
    "kernel_launch",
    "kernels_per_layer",
    "memory_reserve",
    "memory_share",
)
LIMITS = {
    "ttft": ("200 ms", "0 ms", "1e-30 s"),
    "itl": ("50 ms", "0 ms", "1 us", "5"),
    "cost": ("2 USD", "0 USD"),
    "price": ("20 USD/hour", "0 USD/hour"),
}


def study() -> st.SearchStrategy[dict]:
    """A study: mostly one that loads."""
    targets = st.lists(st.sampled_from(sorted(LIMITS)), max_size=3, unique=True).flatmap(
        lambda chosen: st.tuples(*(st.sampled_from(LIMITS[name]) for name in chosen)).map(
            lambda values: dict(zip(chosen, values, strict=True))
        )
    )
    settings = any_name().flatmap(lambda name: setting_value(name).map(lambda found: {name: found}))
    defined = st.tuples(
        st.sampled_from(("mine", "itl", "x" * 50, "B")),
        quantity().flatmap(lambda _: formula("s")),
        title(),
    ).map(lambda t: {t[0]: {"formula": t[1], "unit": "s", "means": t[2]}})
    own = st.tuples(equation(), st.sampled_from(("batch", "prompt", "tp")), title()).map(
        lambda t: {"name": "own", "equation": t[0], "unknown": t[1], "means": t[2]}
    )
    required = {
        "model": several(rarely(model(), nasty(), 20)),
        "hardware": several(rarely(device(), nasty(), 20)),
    }
    required["workload"] = st.tuples(setting_value("prompt"), mapping(WORKLOAD)).map(
        lambda t: {"prompt": t[0], **t[1]}
    )
    optional = {
        "title": title(),
        "parallel": mapping(("tp", "pp", "ep", "dp", "attention_dp")),
        "precision": st.dictionaries(
            st.sampled_from(("weights", "kv", "activations")), several(precision()), max_size=3
        ),
        "efficiency": mapping(EFFICIENCY),
        "assume": st.lists(assumption(), max_size=3).map(dict),
        "preset": st.sampled_from(("tutorial-mlsysim", "nosuch")),
        "targets": targets,
        "set": settings,
        "thresholds": st.one_of(st.just("all"), st.lists(st.one_of(threshold(), own), max_size=2)),
        "define": defined,
        "notes": st.lists(title(), max_size=2),
        "draft": model(),
    }
    chosen = st.fixed_dictionaries(
        required,
        optional={
            name: found
            for name, found in optional.items()
            if name not in ("define", "preset", "draft")
        },
    )
    more = st.fixed_dictionaries(
        {}, optional={name: optional[name] for name in ("define", "preset", "draft")}
    )
    return st.tuples(chosen, rarely(st.just({}), more, 4)).map(lambda t: t[0] | t[1])


def spoilt(text: bytes) -> st.SearchStrategy[bytes]:
    """YAML with a place changed: by a sign, by a line of its own, or by bytes that are no text."""
    tagged = st.tuples(
        st.integers(0, len(text)), st.sampled_from((*TAGS, *ODD, "\x1b", "\xa0"))
    ).map(lambda t: text[: t[0]] + t[1].encode() + text[t[0] :])
    raw = st.tuples(st.integers(0, len(text)), st.binary(min_size=1, max_size=3)).map(
        lambda t: text[: t[0]] + t[1] + text[t[0] :]
    )
    return st.one_of(
        mutated(text.decode()).map(lambda found: found.encode("utf-8", "surrogatepass")),
        tagged,
        raw,
    )


def file_of(data: st.SearchStrategy[dict]) -> st.SearchStrategy[bytes]:
    whole = data.map(yaml_of)
    return rarely(whole, whole.flatmap(spoilt), 5)


def attempts() -> st.SearchStrategy[Attempt]:
    """Every command on a study."""
    commands = [
        st.just(("validate", "s.yaml")),
        st.sampled_from((("eval", "s.yaml"), ("eval", "s.yaml", "--json"))),
        st.sampled_from(("md", "tex", "html")).map(
            lambda form: ("report", "s.yaml", "--no-plots", "-o", "-", "--format", form)
        ),
        st.sampled_from(KINDS).map(lambda kind: ("plot", kind, "s.yaml", "-o", "-")),
        st.sampled_from(
            (
                ("select", "s.yaml"),
                ("select", "s.yaml", "--json"),
                ("select", "s.yaml", "--among", "tp=1,2"),
            )
        ),
        quantity().map(lambda name: ("derive", name, "s.yaml")),
        threshold().map(lambda name: ("solve", name, "s.yaml")),
        st.sampled_from(("batch=1:4", "prompt=128:512:x2", "hardware=h100-sxm,h200")).map(
            lambda over: ("sweep", "s.yaml", "--over", over, "-q", "itl,ttft")
        ),
        st.sampled_from(
            (
                ("validate", "--kind", "study", "s.yaml", "--json"),
                ("report", "s.yaml", "-o", "out", "--format", "md,html"),
            )
        ),
    ]
    return st.tuples(st.one_of(commands), file_of(study())).map(
        lambda t: Attempt(t[0], {"s.yaml": t[1]})
    )
