"""The expressions of the table of families: fields as they are read, which of six layers is of which kind, widths that are rounded."""

import json
import re

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import expression, family_of
from symroof.specs.checkpoints.family import table as of_families
from symroof.specs.checkpoints.family_fields import FUNCTIONS, parsed
from symroof.specs.checkpoints.json_text import loads_json

from ...tables import fields, table


def config(names=None, defaults=None, **data):
    document = loads_json(json.dumps(data))
    return Config(document, (), document.data, defaults or {}, names or {})


def value(text, layer=0, layers=6, **data):
    """What an expression is for a layer of a config."""
    return expression(text, config(num_hidden_layers=layers, **data), layer)


def test_what_a_name_is():
    fields = {"a": 7, "b": 2, "yes": True, "no": False, "none": None, "inner": {"c": 5}}
    for text, expected in {
        "a + b * 2 - 1": 10,
        "whole('inner.c')": 5,
        "inner.c?": 5,
        "flag('yes') and b": 2,
        "absent? or a": 7,
        "a? or absent": 7,
        "count('absent')": 0,
        "n - i": 4,
        "a if flag('yes') else absent": 7,
        "full": "full",
        "max(a, b)": 7,
        "states('a')": True,
        "states('absent')": False,
        "whole('a', 0)": 7,
    }.items():
        assert value(text, 2, **fields) == expected, text


LAYOUTS = """
window if (i + 1) % 3 else full | | wwfwwf
window_behind | sliding_window: 4, use_sliding_window: true, max_window_layers: 4 | ffffww
window_behind | sliding_window: 4, use_sliding_window: false, max_window_layers: 4 | ffffff
either(entry('ones'), chunk, full) or linear | ones: [1, 0, 1, 1, 0, 0] | cfccff
either(entry('ones'), chunk, full) or linear | | llllll
either(entry_if_listed('every'), chunk, full) or linear | every: 2 | llllll
full if lists('those') else linear | those: [0, 5] | fllllf
either(lists('those', i + 1), full, linear) or window | those: [1, 6] | fllllf
either(lists('those'), full, linear) or window | | wwwwww
linear if i % 4 != below('at', 'most') else full | at: 2, most: 4 | llflll
local_by_type() | attention_types: [[[global, local], 2], [[local], 2]] | fwfwww
repeated_block() | block_types: [recurrent, recurrent, attention] | llwllw
listed('types') | types: [attention, mamba, conv, attention, hybrid, sliding_attention] | flcfhw
nemotron('mixer') | hybrid_override_pattern: M-*EM* | lnfnlf
nemotron('feed') | layers_block_type: [attention, moe, mamba, mlp, moe, mlp] | nsndsd
exaone_layout | sliding_window: 4, sliding_window_pattern: 3 | wwfwwf
exaone_layout | sliding_window: 4, sliding_window_pattern: LLLG | wwwfwf
exaone_layout | sliding_window_pattern: 3 | ffffff
sparse_by_step | num_experts: 8, decoder_sparse_step: 2, mlp_only_layers: [3] | dsddds
sparse_by_step | num_experts: 0, decoder_sparse_step: 1 | dddddd
step_sparse() | moe_layers_enum: "1, 4" | dsddsd
dense_first | first_k_dense_replace: 2 | ddssss
"""


def test_which_of_six_layers_is_what():
    for text, said, expected in table(LAYOUTS):
        found = "".join(value(text, i, **fields(said))[0] for i in range(6))
        assert found == expected, text


NOT_RIGHT = """
entry('ones') | ones: [1, 0] | ones: has 2 entries for 6 layers
lists('those') | those: ["2"] | those: expected a whole number
listed('types') | types: [conv, conv, conv, conv, conv, conv, conv] | types: has 7 entries for 6
listed('types') | types: [x, x, x, x, x, x] | types: has an unknown entry
below('at', 'most') | at: 3, most: 3 | at: 3 is not less than most 3
local_by_type() | attention_types: [[[global, local], 2]] | for each of 6 layers
local_by_type() | attention_types: [[[global], 0]] | expected pairs of a list of words and how often
nemotron('mixer') | hybrid_override_pattern: MX | has 'X'; the letters are M
step_sparse() | moe_layers_enum: 1;2 | expected numbers with commas between
zamba2_layer() | | 6 layers need layers_block_type, which is missing
makes_keys() | num_kv_shared_layers: 6 | 6 leaves no layer of 6 that makes keys
pool('experts') | experts: 8, num_experts_per_tok: 9 | 9 is more than experts 8
divisor('kv') | kv: 3, num_attention_heads: 4 | kv: 3 does not divide
"""


def test_lists_that_are_not_right_name_their_field():
    for text, said, message in table(NOT_RIGHT):
        with pytest.raises(InputError) as error:
            value(text, **fields(said))
        assert message in str(error.value), text


LFM2 = "block_multiple_of: 16, block_auto_adjust_ff_dim: true, intermediate_size"
HEADS = "hidden_size: 64, num_attention_heads"
WIDTHS = f"""
# two thirds, times the factor, up to the next multiple
lfm2_width() | {LFM2}: 97, block_ffn_dim_multiplier: 1.0 | 64
lfm2_width() | {LFM2}: 98, block_ffn_dim_multiplier: 1.0 | 80
lfm2_width() | {LFM2}: 96, block_ffn_dim_multiplier: 1.5 | 96
lfm2_width() | {LFM2}: 98 | 65
# a sixteenth rounded up
dt_rank() | time_step_rank: auto, hidden_size: 17 | 2
dt_rank() | time_step_rank: 7, hidden_size: 17 | 7
# three quarters of an even share
olmo_key_dim() | {HEADS}: 4 | 12
olmo_key_dim() | {HEADS}: 4, linear_num_key_heads: 3 | 16
olmo_key_dim() | {HEADS}: 4, linear_key_head_dim: 9 | 9
mamba2_width() | expand: 2, hidden_size: 12, num_heads: 4, mamba_head: auto | 24
given('wide', '4 * hidden_size') | hidden_size: 12 | 48
given('wide', '4 * hidden_size') | wide: 7 | 7
even_share() | {HEADS}: 4 | 16
even_share(1) | {HEADS}: 3 | 21
each('wide') | wide: [1, 2, 3, 4, 5, 6] | 1
each('wide') | wide: 9 | 9
"""


def test_widths_that_follow_from_others():
    for text, said, expected in table(WIDTHS):
        assert value(text, **fields(said)) == int(expected), text
    with pytest.raises(InputError, match="4 heads of 5 do not make up the 24 channels"):
        value("mamba2_width()", expand=2, hidden_size=12, num_heads=4, mamba_head=5)


def test_every_expression_of_the_table_can_be_read():
    for name in of_families()["families"]:
        family = family_of(name)
        texts = [*family.mixers.values(), *family.feeds.values(), family.recipe("outer")]
        written = [text for recipe in texts for text in recipe.values() if isinstance(text, str)]
        for text in (*written, family.feeding, family.entry.get("mixing", "full")):
            called = set(re.findall(r"(\w+)\(", text)) - {"or", "and", "not", "if", "else"}
            assert parsed(text) and called <= set(FUNCTIONS), (name, text)
