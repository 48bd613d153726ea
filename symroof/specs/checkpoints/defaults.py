"""What the classes supply where a file is silent, in the words most of them share."""

from __future__ import annotations

V5 = "transformers 5.23.0"
TIED = {"tie_word_embeddings": True}


def sizes(vocab: int, width: int, inner: int | None, layers: int | None, heads: int, kv_heads: int | None, **more: object) -> dict[str, object]:
    """The defaults nearly every class has; the embeddings are not tied unless ``more`` ties them."""
    return {
        "vocab_size": vocab, "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": kv_heads, "tie_word_embeddings": False, **more,
    }  # fmt: skip
