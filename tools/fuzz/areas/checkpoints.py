"""Checkpoints: config.json of real models with fields changed, and GGUF headers written by the format's document."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import nasty, rarely

CONFIGS = Path(__file__).parents[3] / "tests" / "data" / "configs"
LINE = ("--hardware", "h100-sxm", "--prompt", "512", "--output", "16")
ODD = (
    0,
    -1,
    1,
    3,
    2**31,
    10**14,
    1e308,
    1.5,
    True,
    None,
    "8",
    "",
    [],
    {},
    [1],
    {"a": 1},
    "\x1b[31m",
    "<fuzzlive>",
    [None],
    [[]],
    10**30,
    float("nan"),
    float("inf"),
)


def _commands(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sampled_from((
        ("show", f"./{name}"), ("show", f"./{name}", "--json"), ("validate", name), ("eval", "--model", f"./{name}", *LINE), ("eval", "--model", f"./{name}", *LINE, "--tp", "2"),
        ("derive", "weight_bytes", "--model", f"./{name}"), ("eval", "--model", f"./{name}", *LINE, "--json", "--weights", "fp8"),
        ("report", "--model", f"./{name}", *LINE, "--no-plots", "-o", "-", "--format", "md"), ("report", "--model", f"./{name}", *LINE, "--no-plots", "-o", "-", "--format", "html"),
        ("solve", "max_batch_memory", "--model", f"./{name}", *LINE),
    ))  # fmt: skip


def config() -> st.SearchStrategy[str]:
    """A published config.json with a few fields changed, added or left out."""
    real = {path.name: json.loads(path.read_text()) for path in sorted(CONFIGS.glob("*.json"))}
    every = sorted({key for found in real.values() for key in found})
    types = [
        *sorted({str(found["model_type"]) for found in real.values()}),
        "mixtral",
        "deepseek_v3",
        "gemma3",
        "llama4",
        "qwen3_next",
        "jamba",
        "mamba2",
        "nosuch",
        "minimax",
    ]

    def change(found: dict) -> st.SearchStrategy[dict]:
        own = st.sampled_from(sorted(found))
        edits = st.one_of(
            st.tuples(own, st.sampled_from(ODD)),
            st.tuples(own, st.sampled_from(("drop",)).map(lambda _: ...)),
            st.tuples(st.sampled_from(every), st.sampled_from(ODD)),
            st.tuples(st.just("model_type"), st.sampled_from(types)),
            st.tuples(
                st.sampled_from(("_name_or_path", "name", "architectures", "torch_dtype", "dtype")),
                nasty(),
            ),
            st.tuples(st.just("quantization_config"), quantization()),
            st.tuples(
                st.sampled_from(
                    (
                        "num_hidden_layers",
                        "num_attention_heads",
                        "hidden_size",
                        "head_dim",
                        "vocab_size",
                        "intermediate_size",
                    )
                ),
                st.sampled_from((1, 2, 7, 8, 64, 1000, 4096)),
            ),
            st.tuples(st.just("text_config"), st.just(found)),
        )
        return st.lists(edits, max_size=3).map(
            lambda made: {
                key: value for key, value in (found | dict(made)).items() if value is not ...
            }
        )

    whole = st.sampled_from(sorted(real)).flatmap(lambda name: change(real[name])).map(json.dumps)
    cut = whole.flatmap(
        lambda text: st.tuples(
            st.integers(0, len(text)),
            st.sampled_from(
                ('"', "{", "}", "[" * 300, ",", "\x00", "NaN", "1e999", '"a":1,"a":2,')
            ),
        ).map(lambda t: text[: t[0]] + t[1] + text[t[0] :])
    )
    return rarely(whole, cut, 8)


def quantization() -> st.SearchStrategy[dict]:
    method = st.sampled_from(
        (
            "awq",
            "gptq",
            "fp8",
            "mxfp4",
            "bitsandbytes",
            "compressed-tensors",
            "modelopt",
            "hqq",
            "x",
            None,
            3,
        )
    )
    group = {
        "num_bits": st.sampled_from((4, 8, 0, -1, 3, "4")),
        "group_size": st.sampled_from((128, 0, -1, 32, 10**12)),
        "strategy": st.sampled_from(("group", "channel", "x")),
        "type": st.sampled_from(("int", "float")),
    }
    return st.fixed_dictionaries(
        {"quant_method": method},
        optional={
            "bits": st.sampled_from((4, 8, 0, 3, -4, "4", 1e9)), "group_size": st.sampled_from((128, 0, -1, 7)), "modules_to_not_convert": st.lists(st.sampled_from(("lm_head", ".*", "(a+)+$", "[", "re:(", "model.layers.0")), max_size=2),
            "load_in_4bit": st.booleans(), "weight_block_size": st.sampled_from(([128, 128], [0, 0], [1], None, "x")),
            "config_groups": st.fixed_dictionaries({"group_0": st.fixed_dictionaries({"weights": st.fixed_dictionaries({}, optional=group), "targets": st.sampled_from((["Linear"], [], "x"))})}),
            "ignore": st.lists(st.sampled_from(("lm_head", "re:.*gate$", "re:(a+)+$")), max_size=2), "zero_point": st.booleans(),
        },
    )  # fmt: skip


def config_attempts() -> st.SearchStrategy[Attempt]:
    family = st.sampled_from(
        ((), (), (), ("--assume-family", "llama"), ("--assume-family", "nosuch"))
    )
    return st.tuples(_commands("config.json"), family, config()).map(
        lambda t: Attempt(
            (*t[0], *(t[1] if t[0][0] in ("show", "eval", "validate") else ())),
            {"config.json": t[2].encode("utf-8", "surrogatepass")},
        )
    )


# --------------------------------------------------------------------------------------------------------------- GGUF


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(raw)) + raw


def _value(found: object) -> bytes:
    if isinstance(found, bool):
        return struct.pack("<I?", 7, found)
    if isinstance(found, int):
        return struct.pack("<II", 4, found) if 0 <= found < 2**32 else struct.pack("<Iq", 11, found)
    if isinstance(found, float):
        return struct.pack("<If", 6, found)
    if isinstance(found, str):
        return struct.pack("<I", 8) + _text(found)
    return struct.pack("<IIQ", 9, 5, len(found)) + struct.pack(f"<{len(found)}i", *found)


def header(
    metadata: dict,
    tensors: list[tuple[str, tuple[int, ...], int]],
    version: int = 3,
    counts: tuple[int, int] = (0, 0),
) -> bytes:
    """A header; ``counts`` are added to the true numbers of tensors and keys."""
    out = b"GGUF" + struct.pack(
        "<IQQ", version, max(0, len(tensors) + counts[0]), max(0, len(metadata) + counts[1])
    )
    out += b"".join(_text(key) + _value(found) for key, found in metadata.items())
    for name, shape, kind in tensors:
        out += (
            _text(name)
            + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
            + struct.pack("<IQ", kind, 0)
        )
    return out


@st.composite
def gguf(draw) -> bytes:
    """A small model of an architecture that is known, with a place or two wrong."""
    arch = draw(
        st.sampled_from(
            (
                "llama",
                "qwen2",
                "qwen3",
                "gemma2",
                "gemma3",
                "qwen3moe",
                "gpt-oss",
                "deepseek2",
                "phi3",
                "mamba",
                "jamba",
                "falcon",
                "gpt2",
                "nosuch",
                "command-r",
            )
        )
    )
    count, d, heads, kv, head_dim, ff = (
        draw(st.sampled_from(choices))
        for choices in ((1, 2, 3), (256, 512), (8, 4), (4, 2, 1), (64, 32), (512, 1024))
    )
    kind = draw(st.sampled_from((12, 2, 8, 1, 30, 14, 39)))
    meta: dict = {
        "general.architecture": arch,
        f"{arch}.block_count": count,
        f"{arch}.embedding_length": d,
    }
    meta |= {f"{arch}.attention.head_count": heads, f"{arch}.attention.head_count_kv": kv}
    tensors = [
        ("token_embd.weight", (d, 1024), kind),
        ("output_norm.weight", (d,), 0),
        ("output.weight", (d, 1024), 8),
    ]
    experts = draw(st.sampled_from((0, 0, 0, 8)))
    if experts:
        meta |= {
            f"{arch}.expert_count": experts,
            f"{arch}.expert_used_count": draw(st.sampled_from((2, 0, 9, 8))),
        }
    for i in range(count):
        block = [
            ("attn_norm", (d,), 0),
            ("ffn_norm", (d,), 0),
            ("attn_q", (d, heads * head_dim), kind),
            ("attn_k", (d, kv * head_dim), kind),
            ("attn_v", (d, kv * head_dim), kind),
        ]
        block += [("attn_output", (heads * head_dim, d), kind)]
        if experts:
            block += [
                ("ffn_gate_inp", (d, experts), 0),
                ("ffn_gate_exps", (d, ff, experts), kind),
                ("ffn_up_exps", (d, ff, experts), kind),
                ("ffn_down_exps", (ff, d, experts), kind),
            ]
        else:
            block += [
                ("ffn_gate", (d, ff), kind),
                ("ffn_up", (d, ff), kind),
                ("ffn_down", (ff, d), kind),
            ]
        tensors += [(f"blk.{i}.{name}.weight", shape, type_) for name, shape, type_ in block]
    for what in draw(
        st.lists(
            st.sampled_from(("name", "drop", "shape", "type", "meta", "extra", "window", "odd")),
            max_size=3,
        )
    ):
        at = draw(st.integers(0, len(tensors) - 1))
        name, shape, type_ = tensors[at]
        if what == "name":
            meta["general.name"] = draw(nasty())
        elif what == "drop":
            del tensors[at]
            if not tensors:
                break
        elif what == "shape":
            tensors[at] = (
                name,
                draw(
                    st.sampled_from(
                        (
                            (0,),
                            (),
                            (d, 0),
                            (1,),
                            (2**40, 2**40),
                            (d, d, d, d),
                            (3, 5),
                            (2**63, 1),
                            (d,),
                        )
                    )
                ),
                type_,
            )
        elif what == "type":
            tensors[at] = (
                name,
                shape,
                draw(st.sampled_from((0, 1, 3, 4, 15, 16, 24, 99, 2**31, 7, 41))),
            )
        elif what == "meta":
            meta[draw(st.sampled_from(sorted(meta)))] = draw(
                st.sampled_from(
                    (
                        0,
                        -1,
                        2**31,
                        True,
                        "x",
                        1.5,
                        float("nan"),
                        [1, 2],
                        [],
                        3,
                        "\x1b[31m",
                        1000,
                        999999,
                    )
                )
            )
        elif what == "extra":
            tensors.append(
                (
                    draw(
                        st.one_of(
                            nasty(),
                            st.sampled_from(
                                (
                                    "blk.0.x\x1b[31m.weight",
                                    "blk.99999.attn_q.weight",
                                    "blk.0.attn_q.weight",
                                    "a" * 900,
                                )
                            ),
                        )
                    ),
                    (d, d),
                    kind,
                )
            )
        elif what == "window":
            meta |= {f"{arch}.attention.sliding_window": draw(st.sampled_from((128, 0, 1, 2**31)))}
        else:
            meta |= {draw(st.sampled_from(("split.count", "general.file_type", "general.quantization_version", f"{arch}.context_length", f"{arch}.rope.dimension_count", f"{arch}.attention.key_length", f"{arch}.attention.kv_lora_rank", f"{arch}.leading_dense_block_count", f"{arch}.nextn_predict_layers"))): draw(st.sampled_from((0, 1, 2, 64, 10**6, -1, "x")))}  # fmt: skip
    counts = draw(
        rarely(
            st.just((0, 0)), st.sampled_from(((1, 0), (0, 1), (-1, 0), (2**40, 0), (0, 2**40))), 15
        )
    )
    raw = header(
        meta,
        tensors,
        draw(rarely(st.sampled_from((3, 2)), st.sampled_from((1, 4, 3 << 24)), 15)),
        counts,
    )
    cut = draw(rarely(st.none(), st.sampled_from((-1, 10, 100, 3)), 15))
    return raw[:cut]


def gguf_attempts() -> st.SearchStrategy[Attempt]:
    return st.tuples(_commands("m.gguf"), gguf()).map(lambda t: Attempt(t[0], {"m.gguf": t[1]}))
