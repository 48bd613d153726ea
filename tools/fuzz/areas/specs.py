"""Models, devices and presets as YAML: validated, shown, computed with."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import assumption, rarely, title
from .studies import EFFICIENCY, file_of, mapping

WIDE = st.sampled_from(
    (1, 2, 8, 16, 64, 128, 1024, 4096, 14336, 3, 7, 0, -1, 10**12, 10**13, "8", 1.5, True)
)
NARROW = st.sampled_from((1, 2, 4, 8, 16, 32, 64, 128))


@cache
def width() -> st.SearchStrategy[object]:
    return rarely(NARROW, WIDE, 12)


def _block(kind: str, *fields: str, **more: st.SearchStrategy) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {"kind": st.just(kind), **{name: width() for name in fields}}, optional=more
    )


@cache
def attention() -> st.SearchStrategy[dict]:
    truth = st.booleans()
    grouped = st.tuples(NARROW, NARROW, width()).map(
        lambda t: {"kind": "gqa", "n_heads": t[0] * t[1], "n_kv_heads": t[0], "head_dim": t[2]}
    )
    return st.one_of(
        grouped,
        st.tuples(
            grouped,
            st.fixed_dictionaries(
                {"window": width()},
                optional={"sinks": truth, "qk_norm": st.sampled_from(("head", "full", "x"))},
            ),
        ).map(lambda t: t[0] | t[1]),
        st.tuples(grouped, width()).map(lambda t: t[0] | {"kind": "chunked", "chunk_size": t[1]}),
        _block(
            "mla",
            "n_heads",
            "kv_lora_rank",
            "qk_nope_dim",
            "qk_rope_dim",
            "value_dim",
            q_lora_rank=width(),
            window=width(),
        ),
        _block("mamba", "d_inner", "d_state", "d_conv", "dt_rank"),
        _block("mamba2", "d_inner", "d_state", "d_conv", "ssm_heads", "ssm_groups"),
        _block(
            "linear", "linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"
        ),
        _block(
            "gated_delta",
            "linear_key_heads",
            "linear_value_heads",
            "linear_key_dim",
            "linear_value_dim",
            "d_conv",
        ),
        _block("conv", "d_conv"),
        st.just({"kind": "none"}),
    )


@cache
def feed_forward() -> st.SearchStrategy[dict]:
    return st.one_of(
        _block("gated", "d_ff", bias=st.booleans()),
        _block("plain", "d_ff"),
        st.tuples(NARROW, NARROW, width()).map(
            lambda t: {
                "kind": "moe",
                "n_experts": t[0] * t[1],
                "experts_per_token": t[0],
                "d_expert": t[2],
            }
        ),
        _block(
            "moe",
            "n_experts",
            "experts_per_token",
            "d_expert",
            n_shared_experts=width(),
            d_shared=width(),
            router_bias=st.booleans(),
        ),
        st.just({"kind": "none"}),
    )


@cache
def layer() -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {"count": width(), "attention": attention(), "ffn": feed_forward()},
        optional={"norms": st.integers(0, 9)},
    )


def model() -> st.SearchStrategy[dict]:
    """A model of a few kinds of layer; now and then many of them."""
    many = st.tuples(st.integers(20, 200), attention(), feed_forward()).map(
        lambda t: [
            {"count": 1, "attention": t[1], "ffn": {"kind": "gated", "d_ff": 100 + i}}
            for i in range(t[0])
        ]
    )
    labelled = st.lists(layer(), min_size=1, max_size=3).map(
        lambda found: [{"label": f"k{i}", **one} for i, one in enumerate(found)]
    )
    optional = {
        "title": title(),
        "published_params": width(),
        "tied_embeddings": st.booleans(),
        "positions": width(),
        "max_context": width(),
        "norm": st.fixed_dictionaries(
            {"kind": st.sampled_from(("rms", "layer", "none"))},
            optional={"per_layer": st.integers(-1, 9)},
        ),
        "order": st.lists(st.sampled_from(("k0", "k1", "k2", "x")), max_size=4),
        "notes": st.lists(title(), max_size=2),
        "source": st.fixed_dictionaries(
            {"title": title()}, optional={"address": title(), "date": title()}
        ),
        "aliases": st.lists(title(), max_size=2),
        "vendor": title(),
    }
    layers = rarely(labelled, rarely(st.lists(layer(), max_size=3), many, 5), 5)
    required = {
        "name": rarely(st.just("mine"), title(), 10),
        "d_model": width(),
        "vocab_size": rarely(st.just(32000), WIDE, 8),
        "layers": layers,
    }
    alone = st.tuples(title(), st.sampled_from((8e9, "8e9", 70_000_000_000, "1 byte", 0))).map(
        lambda t: {"name": "mine", "title": t[0], "params": t[1]}
    )
    return rarely(st.fixed_dictionaries(required, optional=optional), alone, 10)


def hardware() -> st.SearchStrategy[dict]:
    source = st.one_of(st.just("sheet"), title().map(lambda text: {"title": text}))

    def figure(*texts: str) -> st.SearchStrategy[dict]:
        return st.fixed_dictionaries(
            {"value": st.sampled_from(texts), "source": source}, optional={"note": title()}
        )

    peak = st.fixed_dictionaries(
        {
            "dense": st.sampled_from(("400 TFLOP/s", "1 FLOP/s", "0", "1e40 FLOP/s", "4 TB/s")),
            "source": source,
        }
    )
    asked = {
        "price": st.sampled_from(("4 USD/hour", "0 USD/hour", "1e40 USD/hour", "3")),
        "kind": st.sampled_from(("on_demand", "reserved", "x")),
        "provider": title(),
        "source": title().map(lambda text: {"title": text, "date": "2026"}),
    }
    memory = {
        "bandwidth": figure("3 TB/s", "1 byte/s", "0", "1e40 byte/s"),
        "capacity": figure("80 GB", "1 byte", "1e30 byte"),
        "kind": title(),
    }
    required = {
        "name": rarely(st.just("mine"), title(), 10),
        "title": title(),
        "vendor": title(),
        "sources": title().map(lambda text: {"sheet": {"title": text}}),
        "peaks": st.dictionaries(
            st.sampled_from(("fp16", "bf16", "fp8", "int8", "fp64", "x")),
            peak,
            min_size=1,
            max_size=3,
        ),
        "memory": st.fixed_dictionaries(
            memory, optional={"reported": figure("81559 MiB", "1 byte")}
        ),
    }
    link = st.fixed_dictionaries(
        {"name": title(), "bandwidth": figure("450 GB/s", "1 byte/s")},
        optional={"devices": figure("8", "1", "0")},
    )
    optional = {
        "link": link,
        "network": link,
        "host_link": link,
        "power": figure("500 W"),
        "prices": st.lists(st.fixed_dictionaries(asked), max_size=3),
        "notes": st.lists(title(), max_size=2),
    }
    return st.fixed_dictionaries(required, optional=optional)


def preset() -> st.SearchStrategy[dict]:
    required = {
        "name": st.just("mine"),
        "title": title(),
        "source": st.fixed_dictionaries({"title": title()}),
    }
    return st.fixed_dictionaries(
        required,
        optional={
            "assume": st.lists(assumption(), max_size=3).map(dict),
            "set": mapping((*EFFICIENCY, "itl")),
        },
    )


LINE = ("--prompt", "512", "--output", "32", "--batch", "4")


def attempts() -> st.SearchStrategy[Attempt]:
    """Every command that takes a spec."""
    of_model = st.sampled_from((
        ("validate", "m.yaml"), ("show", "./m.yaml"), ("show", "./m.yaml", "--json"), ("eval", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE),
        ("eval", "--model", "./m.yaml", "--hardware", "h200", "--tp", "2", "--pp", "2", *LINE, "--json"),
        ("eval", "--model", "./m.yaml", "--hardware", "h200", "--ep", "4", "--attention-dp", "2", *LINE),
        ("derive", "params", "--model", "./m.yaml"), ("derive", "itl", "--model", "./m.yaml", "--hardware", "l4", *LINE),
        ("solve", "max_batch_memory", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE),
        ("solve", "max_context_memory", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE),
        ("plot", "memory", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE, "-o", "-"),
        ("report", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE, "--no-plots", "-o", "-", "--format", "md"),
        ("report", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE, "--no-plots", "-o", "-", "--format", "tex"),
        ("select", "--model", "./m.yaml", "--hardware", "h100-sxm", *LINE, "--target", "itl=20 ms"),
    ))  # fmt: skip
    of_hardware = st.sampled_from((
        ("validate", "m.yaml"), ("show", "./m.yaml"), ("eval", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE),
        ("select", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE, "--target", "itl=20 ms"), ("plot", "roofline", "--model", "gpt2", "--hardware", "./m.yaml", *LINE, "-o", "-"),
        ("report", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE, "--no-plots", "-o", "-", "--format", "md"),
        ("report", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE, "--no-plots", "-o", "-", "--format", "tex"),
        ("report", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE, "--no-plots", "-o", "-", "--format", "html"),
        ("derive", "cost_per_mtok", "--model", "llama-3-8b", "--hardware", "./m.yaml", *LINE),
    ))  # fmt: skip
    of_preset = st.sampled_from(
        (
            ("validate", "m.yaml"),
            ("show", "./m.yaml"),
            ("eval", "--model", "gpt2", "--hardware", "h200", "--preset", "./m.yaml", *LINE),
        )
    )
    made = [
        (of_model, model()),
        (of_hardware, hardware()),
        (of_model, model()),
        (of_preset, preset()),
    ]
    return st.one_of(
        [
            st.tuples(command, file_of(data)).map(lambda t: Attempt(t[0], {"m.yaml": t[1]}))
            for command, data in made
        ]
    )
