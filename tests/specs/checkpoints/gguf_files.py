"""A writer of GGUF headers, by the format's own document and nothing of the reader's: https://github.com/ggml-org/ggml, docs/gguf.md."""

import struct

F32, F16, Q4_0, Q8_0, Q4_K, Q6_K = 0, 1, 2, 8, 12, 14
INT32, UINT32, INT64, FLOAT32, BOOL, STRING, ARRAY = 5, 4, 11, 6, 7, 8, 9


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
            else struct.pack("<Iq", INT64, found)
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
    q, k = heads * head_dim, kv * head_dim
    matrices = {"attn_q": (d, q), "attn_k": (d, k), "attn_v": (d, k), "attn_output": (q, d)}
    if ff:
        matrices |= {"ffn_gate": (d, ff), "ffn_up": (d, ff), "ffn_down": (ff, d)}
    norms = options.get("norms", ("attn_norm", "ffn_norm"))
    found = [(f"{name}.weight", (d,), F32) for name in norms]
    found += [(f"attn_{n}_norm.weight", (head_dim,), F32) for n in "qk" if options.get("qk_norm")]
    for name, shape in matrices.items():
        found.append((f"{name}.weight", shape, (kinds or {}).get(name, options.get("kind", Q4_0))))
    found += options.get("more", [])
    return [(f"blk.{i}.{name}", shape, t) for name, shape, t in found]


def model(arch, layers, d, vocab, metadata=None, head=Q8_0, table=Q4_0):
    """Metadata and tensors of a whole model; ``head`` None where it is tied."""
    found = {
        "general.architecture": arch,
        f"{arch}.block_count": len(layers),
        f"{arch}.embedding_length": d,
    } | (metadata or {})
    tensors = [("token_embd.weight", (d, vocab), table), ("output_norm.weight", (d,), F32)]
    tensors += [("output.weight", (d, vocab), head)] if head is not None else []
    return found, [*tensors, *(tensor for layer in layers for tensor in layer)]


def heads(arch, n_heads, n_kv, **more):
    """The metadata that shapes do not hold."""
    return {f"{arch}.attention.head_count": n_heads, f"{arch}.attention.head_count_kv": n_kv} | {
        f"{arch}.{key}": v for key, v in more.items()
    }
