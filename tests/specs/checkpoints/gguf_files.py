"""A writer of GGUF headers, by the format's own document and nothing of the reader's: https://github.com/ggml-org/ggml, docs/gguf.md."""

import struct

F32, F16, Q4_0, Q8_0, Q4_K, Q6_K, BF16, MXFP4 = 0, 1, 2, 8, 12, 14, 30, 39
UINT8, INT32, UINT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 0, 5, 4, 6, 7, 8, 9, 10


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(found):
    """A value with its type before it."""
    if isinstance(found, bool):
        return struct.pack("<I?", BOOL, found)
    if isinstance(found, int):
        return (
            struct.pack("<II", UINT32, found)
            if 0 <= found < 2**32
            else struct.pack("<Iq", 11, found)
        )
    if isinstance(found, float):
        return struct.pack("<If", FLOAT32, found)
    if isinstance(found, (str, bytes)):
        return struct.pack("<I", STRING) + text(found)
    if found and isinstance(found[0], str):
        return struct.pack("<IIQ", ARRAY, STRING, len(found)) + b"".join(map(text, found))
    if found and isinstance(found[0], bool):
        return struct.pack("<IIQ", ARRAY, BOOL, len(found)) + bytes(found)
    return struct.pack("<IIQ", ARRAY, INT32, len(found)) + struct.pack(f"<{len(found)}i", *found)


def gguf(metadata, tensors, version=3, raw=b""):
    """A header: metadata by key, tensors as (name, shape with inputs first, type)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    out += b"".join(text(key) + value(found) for key, found in metadata.items())
    for name, shape, kind in tensors:
        out += (
            text(name)
            + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
            + struct.pack("<IQ", kind, 0)
        )
    return out + raw


def block(i, d, heads, kv, head_dim, ff, kinds=None, **options):
    """The tensors of one layer; ``kinds`` gives a type other than Q4_0 to some."""

    def kind(name):
        return (kinds or {}).get(name, options.get("kind", Q4_0))

    q, k = heads * head_dim, kv * head_dim
    found = [
        (f"{name}.weight", (d,), F32) for name in options.get("norms", ("attn_norm", "ffn_norm"))
    ]
    if options.get("fused"):
        found.append(("attn_qkv.weight", (d, q + 2 * k), kind("attn_qkv")))
    else:
        found += [
            (f"attn_{n}.weight", (d, rows), kind(f"attn_{n}"))
            for n, rows in (("q", q), ("k", k), ("v", k))
        ]
    found.append(("attn_output.weight", (q, d), kind("attn_output")))
    found += [
        (f"attn_{n}.bias", (rows,), F32)
        for n, rows in (("q", q), ("k", k), ("v", k))
        if options.get("qkv_bias")
    ]
    found += [(f"attn_{n}_norm.weight", (head_dim,), F32) for n in "qk" if options.get("qk_norm")]
    if ff:
        gates = ("gate", "up") if options.get("gate", True) else ("up",)
        wide = (
            [(f"ffn_{n}", ff) for n in gates]
            if not options.get("fused_gate")
            else [("ffn_up", 2 * ff)]
        )
        found += [(f"{n}.weight", (d, rows), kind(n)) for n, rows in wide] + [
            ("ffn_down.weight", (ff, d), kind("ffn_down"))
        ]
    found += options.get("more", [])
    return [(f"blk.{i}.{name}", shape, t) for name, shape, t in found]


def model(arch, layers, d, vocab, metadata=None, head=Q8_0, table=Q4_0, outer=()):
    """Metadata and tensors of a whole model; ``head`` None where it is tied."""
    found = {
        "general.architecture": arch,
        f"{arch}.block_count": len(layers),
        f"{arch}.embedding_length": d,
    } | (metadata or {})
    tensors = [("token_embd.weight", (d, vocab), table), ("output_norm.weight", (d,), F32)]
    tensors += [("output.weight", (d, vocab), head)] if head is not None else []
    return found, [*tensors, *outer, *(tensor for layer in layers for tensor in layer)]


def heads(arch, n_heads, n_kv, **more):
    """The metadata that shapes do not hold."""
    return {f"{arch}.attention.head_count": n_heads, f"{arch}.attention.head_count_kv": n_kv} | {
        f"{arch}.{key}": v for key, v in more.items()
    }
