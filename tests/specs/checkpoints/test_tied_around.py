"""Tied embeddings of a multimodal config, which the outer file, the inner one or neither may state.

Counted by hand: two layers of width 64 and a table of 1,000 rows, which a head of its own doubles. Which class passes the inner field on is
that of transformers 5.23.0, tried with and without the field in either place.
"""

import pytest

from ...tables import case_of, table
from . import case, read

ROWS, WIDTH = 1000, 64
LAYER = 4 * WIDTH * WIDTH + 3 * WIDTH * 128 + 2 * WIDTH
INNER = {
    "hidden_size": WIDTH,
    "vocab_size": ROWS,
    **case_of(
        "intermediate_size=128 num_hidden_layers=2 num_attention_heads=4 num_key_value_heads=4"
    ),
}
TIED = """
# outer type | tie_word_embeddings there | in the inner file | whether the head is the table
llava | | | no
# passes the inner field on
llava | | yes | yes
llava | no | yes | yes
llava | yes | | yes
llava | yes | no | yes
# does not
llava_next | | yes | no
llava_next | yes | no | yes
# tied where nothing is stated
deepseek_vl | | | yes
deepseek_vl | | no | yes
deepseek_vl | no | yes | no
# says nothing of its own: the inner field counts
voxtral | | yes | yes
voxtral | yes | no | no
"""


def stated(word):
    return {"tie_word_embeddings": word == "yes"} if word else {}


@pytest.mark.sample(5)
@pytest.mark.parametrize(("outer", "outside", "inside", "tied"), table(TIED))
def test_who_decides_whether_the_head_is_the_table(outer, outside, inside, tied):
    text = {"model_type": "llama", **INNER, **stated(inside)}
    config = {"model_type": outer, "text_config": text, **stated(outside)}
    tables = ROWS * WIDTH * (1 if tied == "yes" else 2)
    assert case(read(config)).value("params") == 2 * LAYER + WIDTH + tables
