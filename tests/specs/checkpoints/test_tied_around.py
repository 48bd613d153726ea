"""Tied embeddings of a multimodal config, which the outer file, the inner one or neither may state.

Counted by hand: two layers of width 64 and a table of 1,000 rows, which a head of its own doubles. Which class passes the inner field on is
that of transformers 5.23.0, tried with and without the field in either place.
"""

import pytest

from . import case, read

ROWS, WIDTH = 1000, 64
LAYER = 4 * WIDTH * WIDTH + 3 * WIDTH * 128 + 2 * WIDTH
INNER = {
    "hidden_size": WIDTH,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": ROWS,
}


def params(outer, inner, outside=None, inside=None):
    """Parameters of a config of two types with the field set on neither, one or both sides."""
    text = {
        "model_type": inner,
        **INNER,
        **({} if inside is None else {"tie_word_embeddings": inside}),
    }
    config = {
        "model_type": outer,
        "text_config": text,
        **({} if outside is None else {"tie_word_embeddings": outside}),
    }
    return case(read(config)).value("params")


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("outer", "outside", "inside", "tied"),
    [
        ("llava", None, None, False),
        ("llava", None, True, True),  # passes the inner field on
        ("llava", False, True, True),
        ("llava", True, None, True),
        ("llava", True, False, True),
        ("llava_next", None, True, False),  # does not
        ("llava_next", True, False, True),
        ("deepseek_vl", None, None, True),  # tied where nothing is stated
        ("deepseek_vl", None, False, True),
        ("deepseek_vl", False, True, False),
        ("voxtral", None, True, True),  # says nothing of its own: the inner field counts
        ("voxtral", True, False, False),
    ],
)
def test_who_decides_whether_the_head_is_the_table(outer, outside, inside, tied):
    assert params(outer, "llama", outside, inside) == 2 * LAYER + WIDTH + ROWS * WIDTH * (
        1 if tied else 2
    )
