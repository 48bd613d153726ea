"""Attention that reads a part of what is cached: keys that an indexer chooses, entries made of several tokens; a block of attention and feed-forward that layers share."""

from collections.abc import Iterator
from dataclasses import replace

from symroof.theory.architecture import Layer
from symroof.theory.rows import MatrixShape, OperatorRow, gemm, matrix, product, stacked, stored

CORE, INDEX = "attention", "index_scores"
CORES = (CORE, INDEX)
"""Operators whose work grows with pairs of queries and keys."""

SHARE = "/compress_rate"
"""A token's share of an entry that stands for several."""

CACHE_NAMES = (
    "kv_bytes_per_token",
    "kv_cache_bytes",
    "kv_cache_bytes_per_device",
    "peak_kv_cache_bytes",
)


def attention_sources(layer: Layer) -> Iterator[str]:
    """The references, by their short names, that define what a layer caches for each token."""
    own = {"gqa": "pope", "mla": "mla", "compressed": "deepseek_v4"}
    yield from (own[mixer] for mixer in layer.mixers if mixer in own)
    if layer.has("indexer"):
        yield "deepseek_v32"


def token_indexer() -> Iterator[OperatorRow]:
    """A narrow attention that chooses keys (DeepSeek-V3.2, arXiv 2512.02556): ``index_heads`` queries out of the queries' bottleneck, one key of
    ``index_dim`` a token, which is cached beside the others, and a weight a head. Every query is scored against every key before it; the
    scores are written, and read to choose. All devices of a group hold all of it."""
    yield from gemm("indexer", "q_lora_rank", "index_heads*index_dim")
    yield from gemm(
        "indexer", "d_model", "index_dim + index_heads", parts=stacked(["index_dim", "index_heads"])
    )
    yield stored("indexer", "2*index_dim")
    yield from _scores("2 FLOP*index_heads*(index_dim + 1)", "index_heads*(index_dim + 1)")
    yield OperatorRow(INDEX, "activations", "2*act_bytes_per_element", "pairs")


def block_indexer() -> Iterator[OperatorRow]:
    """One that chooses blocks of keys by their best score (MiniMax-M3): queries and a key out of the residual, both normalised, no weights."""
    yield from gemm(
        "indexer",
        "d_model",
        "(index_heads + 1)*index_dim",
        parts=stacked(["index_heads*index_dim", "index_dim"]),
    )
    yield stored("indexer", "2*index_dim")
    yield from _scores(
        "2 FLOP*index_heads*index_dim", "index_heads*index_dim", width="kv_bytes_per_element"
    )


def _scores(
    flops: str, moved: str, reach: str | None = None, width: str = "index_bytes_per_element"
) -> Iterator[OperatorRow]:
    """The work of a pair, the queries read for a token, and the key that each token caches.

    DeepSeek's engines keep keys in 8 bits with a scale, whatever the cache is in.
    """
    yield OperatorRow(INDEX, "flops", flops, "pairs", reach=reach)
    yield OperatorRow(INDEX, "activations", f"({moved})*act_bytes_per_element", "tokens")
    yield OperatorRow(
        INDEX, "kv", f"index_dim*{width}{SHARE if reach else ''}", "span", reach=reach
    )


def compressed(layer: Layer) -> Iterator[OperatorRow]:
    """Attention to the last ``window`` tokens and to entries that each stand for ``compress_rate`` older ones (DeepSeek-V4's classes in
    transformers 5.24.0). One vector of ``head_dim`` is key and value of all heads. With an indexer an entry overlaps the one before it
    (two series of inputs) and a query attends to the ``index_topk`` best. The inputs of an entry that is still open are not counted.
    """
    yield from gemm(
        "qkv_down", "d_model", "q_lora_rank + head_dim", parts=stacked(["q_lora_rank", "head_dim"])
    )
    yield from gemm("q_up", "q_lora_rank", "n_heads*head_dim")
    yield stored("latent_norm", "q_lora_rank + head_dim")
    yield stored(CORE, "n_heads")
    yield from _entries("window")
    if layer.has("compressed"):
        yield from _compressor("head_dim", series=2 if layer.has("indexer") else 1)
        yield from _entries("top_compressed" if layer.has("indexer") else "compressed")
    if layer.has("indexer"):
        yield from _compressor("index_dim", series=2)
        yield from gemm("indexer", "q_lora_rank", "index_heads*index_dim")
        yield from gemm("indexer", "d_model", "index_heads")
        yield from _scores(
            "2 FLOP*index_heads*(index_dim + 1)", "index_heads*(index_dim + 1)", "compressed"
        )
        yield OperatorRow(
            INDEX, "activations", "2*act_bytes_per_element", "pairs", reach="compressed"
        )
    yield OperatorRow(CORE, "activations", "2*n_heads*head_dim*act_bytes_per_element", "tokens")
    yield from matrix(
        "attention_out",
        "n_heads*head_dim*out_rank",
        (MatrixShape("out_rank", "n_heads*head_dim/out_groups", "out_groups"),),
    )
    yield from product(
        "attention_out", "n_heads*head_dim*out_rank", "n_heads*head_dim + out_groups*out_rank"
    )
    yield from gemm("attention_out", "out_groups*out_rank", "d_model")


def _entries(reach: str) -> Iterator[OperatorRow]:
    """The core over some of the entries: a score and a weighted value a pair and head, one vector cached."""
    yield OperatorRow(CORE, "flops", "4 FLOP*n_heads*head_dim", "pairs", reach=reach)
    yield OperatorRow(
        CORE,
        "activations",
        "4*n_heads*act_bytes_per_element",
        "pairs",
        reach=reach,
        when=(("fusion", "unfused"),),
    )
    yield OperatorRow(
        CORE,
        "kv",
        f"(head_dim*kv_bytes_per_element + latent_extra_bytes){'' if reach == 'window' else SHARE}",
        "span",
        reach=reach,
    )


def _compressor(width: str, series: int) -> Iterator[OperatorRow]:
    """What makes entries: inputs and their gates for each series, a bias for the places in an entry, a norm."""
    operator = "compressor" if width == "head_dim" else "indexer"
    yield from gemm(
        operator,
        "d_model",
        f"{2 * series}*{width}",
        parts=[MatrixShape(f"{series}*{width}", "d_model", "2")],
    )
    yield stored(operator, f"compress_rate*{series}*{width} + {width}")


SHARED_COPIES = "shared_blocks"
"""The symbol of how many such blocks there are, for layers to take in turn."""


def shared_block(layer: Layer) -> Iterator[OperatorRow]:
    """A block whose weights several layers share (Zamba 2, arXiv 2411.15242): stored once, read and run by each of them. Its input is the residual beside the embedding; a matrix of each layer's own joins its result to the residual, and adapters of a low rank,
    each layer's own too, stand beside its first matrices."""
    for row in _shared():
        yield replace(row, copies=SHARED_COPIES) if row.stream == "params" else row
    cache = "2*n_kv_heads*head_dim*kv_bytes_per_element"
    yield OperatorRow(CORE, "flops", "4 FLOP*n_heads*head_dim", "pairs")
    yield OperatorRow(CORE, "activations", "2*n_heads*head_dim*act_bytes_per_element", "tokens")
    yield OperatorRow(
        CORE,
        "activations",
        "4*n_heads*act_bytes_per_element",
        "pairs",
        when=(("fusion", "unfused"),),
    )
    yield OperatorRow(CORE, "kv", cache, "span")
    yield from gemm("shared_out", "d_model", "d_model", cut="outer")
    if layer.has("adapters"):
        yield from _adapter("adapter", "d_model", "2*d_ff")
    if layer.has("attention_adapters"):
        yield from _adapter("attention_adapter", "2*d_model", "2*d_model", 3)


def _shared() -> Iterator[OperatorRow]:
    heads = "(n_heads + 2*n_kv_heads)*head_dim"
    parts = [
        MatrixShape("n_heads*head_dim", "2*d_model"),
        MatrixShape("n_kv_heads*head_dim", "2*d_model", "2"),
    ]
    yield from gemm("qkv", "2*d_model", heads, parts=parts)
    yield from gemm("attention_out", "n_heads*head_dim", "d_model")
    yield from gemm("gate_up", "d_model", "2*d_ff", parts=[MatrixShape("d_ff", "d_model", "2")])
    yield from gemm("down", "d_ff", "d_model")
    yield stored("norm", "3*d_model")


def _adapter(operator: str, inner: str, outer: str, times: int = 1) -> Iterator[OperatorRow]:
    """Two narrow products beside a wide one, or beside several."""
    yield from gemm(
        operator,
        inner,
        f"{times}*adapter_rank",
        parts=[MatrixShape("adapter_rank", inner, str(times))],
    )
    yield from gemm(
        f"{operator}_out",
        "adapter_rank",
        f"{times}*({outer})",
        parts=[MatrixShape(outer, "adapter_rank", str(times))],
    )
