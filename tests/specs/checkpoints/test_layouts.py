"""Which of a few layers is of which kind, counted off on the fingers; and widths that are rounded, on either side of an even one."""

import json

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints import (
    experts,
    gemma_mllama,
    layer_layouts,
    older_dense,
    recipes,
    recurrent,
)
from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.json_text import loads_json

WORDS = {
    "full_attention": "F",
    "sliding_attention": "s",
    "chunked_attention": "c",
    "linear_attention": "l",
    "conv": "v",
    "sparse": "S",
    "dense": "d",
}


def config(names=None, defaults=None, **data):
    document = loads_json(json.dumps(data))
    return Config(document, (), document.data, defaults or {}, names or {})


def letters(rule, layers=6, **data):
    """A letter for each layer."""
    c = config(num_hidden_layers=layers, **data)
    return "".join(WORDS[word] for word in layer_layouts.each(rule)(c))


MIXERS = [
    (layer_layouts.windowed, {"sliding_window": 4}, "ssssss"),
    (layer_layouts.windowed, {"sliding_window": None}, "FFFFFF"),
    (layer_layouts.windowed_if_used, {"sliding_window": 4, "use_sliding_window": True}, "ssssss"),
    (layer_layouts.windowed_if_used, {"sliding_window": 4, "use_sliding_window": False}, "FFFFFF"),
    (layer_layouts.windowed_if_used, {"sliding_window": None, "use_sliding_window": True}, "FFFFFF"),
    (layer_layouts.windowed_after, {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 4}, "FFFFss"),
    (layer_layouts.windowed_after, {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 0}, "ssssss"),
    (layer_layouts.windowed_after, {"sliding_window": 4, "use_sliding_window": False, "max_window_layers": 4}, "FFFFFF"),
    (layer_layouts.windowed_after_unasked, {"sliding_window": 4, "max_window_layers": 4}, "FFFFss"),
    (layer_layouts.windowed_after_unasked, {"sliding_window": 4, "max_window_layers": 0}, "ssssss"),
    (layer_layouts.windowed_after_unasked, {"sliding_window": None, "max_window_layers": 4}, "FFFFFF"),
    (layer_layouts.full_every(3), {}, "ssFssF"),
    (layer_layouts.full_every(3, first=True), {}, "FssFss"),
    (layer_layouts.full_every("every"), {"every": 4}, "sssFss"),
    (layer_layouts.full_every_where_windowed("every"), {"every": 4, "sliding_window": 9}, "sssFss"),
    (layer_layouts.full_every_where_windowed("every"), {"every": 4, "sliding_window": None}, "FFFFFF"),
    (layer_layouts.windowed_without_rope, {"no_rope_layers": [1, 1, 0, 1, 0, 1], "use_sliding_window": True, "sliding_window": 9}, "FFsFsF"),
    (layer_layouts.windowed_without_rope, {"no_rope_layer_interval": 3, "use_sliding_window": True, "sliding_window": 9}, "FFsFFs"),
    (layer_layouts.windowed_without_rope, {"no_rope_layer_interval": 3, "use_sliding_window": False, "sliding_window": 9}, "FFFFFF"),
    (layer_layouts.linear_but_every("every"), {"every": 4}, "lllFll"),
    (layer_layouts.period("every", "at", "full_attention", "linear_attention"), {"every": 4, "at": 2}, "llFlll"),
    (layer_layouts.period("every", "at", "full_attention", "linear_attention"), {"every": 3, "at": 0}, "FllFll"),
    (layer_layouts.indices("list", "full_attention", "conv"), {"list": [0, 5]}, "FvvvvF"),
    (layer_layouts.indices("list", "full_attention", "conv"), {"list": None}, "vvvvvv"),
    (experts.early_even, {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 4}, "sFsFFF"),
    (experts.early_even, {"sliding_window": 4, "use_sliding_window": False, "max_window_layers": 4}, "FFFFFF"),
    (experts.chunked_where_rotated, {"no_rope_layers": [1, 0, 1, 1, 0, 0]}, "cFccFF"),
    (experts.chunked_where_rotated, {"no_rope_layers": [], "no_rope_layer_interval": 3}, "ccFccF"),
    (older_dense.local_by_type, {"attention_types": [[["global", "local"], 3]]}, "FsFsFs"),
    (older_dense.local_by_type, {"attention_types": [[["global", "local"], 2], [["local"], 2]]}, "FsFsss"),
    (older_dense.local_by_type, {"attention_types": [[["local"], 1], [["global"], 5]]}, "sFFFFF"),
    (recurrent.lfm2_attention, {"full_attn_idxs": [1, 4]}, "vFvvFv"),
    (recurrent.lfm2_attention, {"full_attn_idxs": None}, "FFFFFF"),
    (recurrent.by_number, {"attn_type_list": [1, 0, 0, 1, 1, 0]}, "FllFFl"),
    (recurrent.by_number, {"attn_type_list": None}, "FlFlFl"),
]  # fmt: skip
FEEDS = [
    (layer_layouts.sparse_from("first"), {"first": 2}, "ddSSSS"),
    (layer_layouts.sparse_from("first"), {"first": 0}, "SSSSSS"),
    (layer_layouts.sparse_by_step("n"), {"n": 8, "decoder_sparse_step": 1}, "SSSSSS"),
    (layer_layouts.sparse_by_step("n"), {"n": 8, "decoder_sparse_step": 2, "mlp_only_layers": [3]}, "dSdddS"),
    (layer_layouts.sparse_by_step("n"), {"n": 0, "decoder_sparse_step": 1}, "dddddd"),
    (experts.interleaved, {"moe_layers": [1, 2]}, "dSSddd"),
    (experts.interleaved, {"moe_layers": []}, "dddddd"),
    (experts.interleaved, {"interleave_moe_layer_step": 2}, "dSdSdS"),
    (experts.ernie_sparse, {"moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1}, "dSSSSS"),
    (experts.ernie_sparse, {"moe_layer_start_index": 0, "moe_layer_end_index": 3, "moe_layer_interval": 2}, "dSdSdd"),
    (experts.ernie_sparse, {"moe_layer_start_index": 2, "moe_layer_end_index": 0, "moe_layer_interval": 1}, "dddddd"),
]  # fmt: skip


@pytest.mark.sample(20)
@pytest.mark.parametrize(("rule", "data", "expected"), MIXERS + FEEDS)
def test_a_rule_for_six_layers(rule, data, expected):
    assert letters(rule, **data) == expected


def test_layers_that_share_the_keys_of_others_stand_last():
    def words(shared, last_full=False, **data):
        c = config(num_hidden_layers=5, num_kv_shared_layers=shared, **data)
        return gemma_mllama.shared_at_the_end(layer_layouts.full_every(2), last_full)(c)

    full, sliding = "full_attention", "sliding_attention"
    assert words(0) == [sliding, full, sliding, full, sliding]
    assert words(0, last_full=True) == [sliding, full, sliding, full, full]
    assert words(2, last_full=True) == [sliding, full, sliding, f"shared_{full}", f"shared_{full}"]
    assert words(4)[:2] == [sliding, f"shared_{full}"]
    assert words(2, layer_types=[full] * 5) == [full] * 3 + [f"shared_{full}"] * 2
    with pytest.raises(InputError, match="5 leaves no layer of 5 that makes keys and values"):
        words(5)


def test_an_offset_lies_within_its_period():
    rule = layer_layouts.period("every", "at", "F", "l")
    assert rule(config(every=3, at=2), 2) == "F"
    with pytest.raises(InputError, match="3 is not less than every 3"):
        rule(config(every=3, at=3), 0)


@pytest.mark.parametrize(
    ("listed", "message"),
    [([1, 0], "has 2 entries for 3 layers"), ([1, 0, 1, 1], "has 4 entries for 3 layers")],
)
def test_a_list_is_as_long_as_there_are_layers(listed, message):
    for rule, name in (
        (experts.chunked_where_rotated, "no_rope_layers"),
        (recurrent.by_number, "attn_type_list"),
    ):
        with pytest.raises(InputError, match=message):
            rule(config(num_hidden_layers=3, **{name: listed}), 0)


PAIRS = "expected pairs of a list of words and how often it is repeated"
EACH = "does not say 'global' or 'local' for each of 4 layers"


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([[["global"], 3]], EACH), ([[["global"], 4], [["local"], 1]], EACH), ([[["global", "other"], 2]], EACH), ([[["global"], 0]], PAIRS), ([[["global"], 5]], PAIRS),
        ([["global", 4]], PAIRS), ([[["global"], 4, 1]], PAIRS), ([4], PAIRS), ([[["global"], "4"]], PAIRS),
    ],
)  # fmt: skip
def test_words_for_each_of_four_layers(types, message):
    with pytest.raises(InputError) as error:
        older_dense.local_by_type(config(num_hidden_layers=4, attention_types=types), 0)
    assert message in str(error.value)
    assert older_dense.local_by_type(config(num_hidden_layers=24), 23) == "sliding_attention"


def test_tables_of_another_width_and_norms_that_are_left_out():
    """OPT: narrow tables, a final norm where norms come first, and none without its weights."""
    assert [
        older_dense.opt_embedding(config(word_embed_proj_dim=narrow, hidden_size=64), 0)
        for narrow in (32, 64, None)
    ] == [32, None, None]
    final = [
        older_dense.opt_final(
            config(do_layer_norm_before=before, _remove_final_layer_norm=without), 0
        )
        for before in (True, False)
        for without in (True, False)
    ]
    assert final == [False, True, False, False]
    assert [
        older_dense.opt_norm(config(layer_norm_elementwise_affine=affine), 0)
        for affine in (True, False)
    ] == ["layer", "none"]


def test_blocks_by_letters():
    """Nemotron-H: one block a layer; without a list or a pattern the class's own four."""

    def blocks(**data):
        return "".join(
            {"linear_attention": "M", "full_attention": "*"}.get(
                mixer, {"dense": "-", "sparse": "E"}.get(feed, "?")
            )
            for mixer, feed in recurrent.nemotron_layers(config(**data))
        )

    assert blocks(hybrid_override_pattern="M-*EM") == "M-*EM"
    assert blocks() == "ME*-"
    assert blocks(layers_block_type=["attention", "moe", "mamba", "mlp"]) == "*EM-"
    assert blocks(layer_types=["full_attention", "linear_attention"]) == "*M"
    with pytest.raises(InputError, match="has 'X'; the letters are M"):
        recurrent.nemotron_layers(config(hybrid_override_pattern="MX"))


@pytest.mark.parametrize(
    ("data", "width"),
    [
        # two thirds, times the factor, up to the next multiple
        ({"intermediate_size": 96, "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 16, "block_auto_adjust_ff_dim": True}, 64),
        (
            {
                "intermediate_size": 97,
                "block_ffn_dim_multiplier": 1.0,
                "block_multiple_of": 16,
                "block_auto_adjust_ff_dim": True,
            },
            64,
        ),  # 64.67 without its rest
        (
            {
                "intermediate_size": 98,
                "block_ffn_dim_multiplier": 1.0,
                "block_multiple_of": 16,
                "block_auto_adjust_ff_dim": True,
            },
            80,
        ),  # 65.3
        ({"intermediate_size": 96, "block_ffn_dim_multiplier": 1.5, "block_multiple_of": 16, "block_auto_adjust_ff_dim": True}, 96),
        ({"intermediate_size": 98, "block_ffn_dim_multiplier": None, "block_multiple_of": 16, "block_auto_adjust_ff_dim": True}, 65),
        ({"intermediate_size": 98, "block_ffn_dim_multiplier": 1.5, "block_multiple_of": 16, "block_auto_adjust_ff_dim": False}, 98),
    ],
)  # fmt: skip
def test_a_width_that_is_adjusted(data, width):
    assert recurrent.lfm2_width(config(**data), 0) == width


@pytest.mark.parametrize(("width", "rank"), [(16, 1), (17, 2), (32, 2), (33, 3), (4096, 256)])
def test_a_rank_of_a_sixteenth_is_rounded_up(width, rank):
    c = config(time_step_rank="auto", hidden_size=width)
    assert recipes.dt_rank(c) == rank
    assert [(one.field, one.value, one.why) for one in c.filled.values()] == [
        ("time_step_rank", str(rank), "auto: hidden_size / 16, rounded up")
    ]
    assert recipes.dt_rank(config(time_step_rank=7, hidden_size=width)) == 7


@pytest.mark.parametrize(
    ("data", "width"),
    [
        ({"expand": 2, "hidden_size": 12, "num_heads": 4, "mamba_head": 6}, 24),
        ({"expand": 2, "hidden_size": 12, "num_heads": 4, "mamba_head": "auto"}, 24),
        ({"expand": 2, "hidden_size": 12, "num_heads": 4}, 24),
        (
            {"expand": 2, "hidden_size": 12, "num_heads": 5},
            "5 heads do not make up the 24 channels",
        ),
        (
            {"expand": 2, "hidden_size": 12, "num_heads": 4, "mamba_head": 5},
            "4 heads of 5 do not make up the 24 channels",
        ),
    ],
)
def test_heads_share_out_the_channels(data, width):
    c = config(**data)
    if isinstance(width, int):
        assert recipes.shared_out(c) == width
    else:
        with pytest.raises(InputError, match=width):
            recipes.shared_out(c)


def test_widths_that_a_file_leaves_out():
    """Four times the residual's; twice, or its own number; three quarters of an even share, twice that for values."""
    assert recipes.four_times("n_inner")(config(n_inner=None, hidden_size=12), 0) == 48
    assert recipes.four_times("n_inner")(config(n_inner=7, hidden_size=12), 0) == 7
    assert recipes.inner(config(expand=2, hidden_size=12, intermediate_size=None)) == 24
    assert recipes.inner(config(expand=2, hidden_size=12, intermediate_size=30)) == 30
    assert recurrent.olmo_key_dim(config(hidden_size=64, num_attention_heads=4)) == 12
    assert (
        recurrent.olmo_key_dim(
            config(hidden_size=64, num_attention_heads=4, linear_num_key_heads=3)
        )
        == 16
    )
    assert (
        recurrent.olmo_key_dim(config(hidden_size=64, num_attention_heads=4, linear_key_head_dim=9))
        == 9
    )
    assert (
        recurrent.OLMO_DELTA["linear_value_dim"](config(hidden_size=64, num_attention_heads=4), 0)
        == 24
    )


def test_experts_there_are_and_those_of_a_token():
    assert recipes.at_least_taken(config(taken=8, there=8), "taken", "there") == 8
    with pytest.raises(InputError, match="9 is more than there 8"):
        recipes.at_least_taken(config(taken=9, there=8), "taken", "there")


@pytest.mark.parametrize(
    ("recipe", "data", "shared"),
    [
        (recipes.shared("n", "w"), {"n": 2, "w": 5}, (2, 5)),
        (recipes.shared("n", "w"), {"n": 0, "w": 5}, (None, None)),
        (recipes.shared("n", "w"), {"n": None, "w": 5}, (None, None)),
        (recipes.times_shared("n", "w"), {"n": 3, "w": 5}, (1, 15)),
        (recipes.times_shared("n", "w"), {"n": 0, "w": 5}, (None, None)),
        (recipes.times_shared("n", "w"), {"n": None, "w": 5}, (None, None)),
        (recipes.one_shared("w"), {"w": 5}, (1, 5)),
        (recipes.one_shared("w"), {"w": 0}, (None, None)),
        (recipes.one_shared("w"), {"w": None}, (None, None)),
    ],
)
def test_shared_experts(recipe, data, shared):
    c = config(**data)
    assert (recipe["n_shared_experts"](c, 0), recipe["d_shared"](c, 0)) == shared


# --------------------------------------------------------------------------------------------------------- single fields


def test_what_a_field_may_be():
    c = config(
        zero=0,
        minus=-1,
        long="x" * 10_000,
        longer="x" * 10_001,
        empty="",
        many=10**8,
        more=10**8 + 1,
        half=0.5,
        none=None,
        yes=True,
    )
    assert (
        c.maybe("zero", 0),
        c.whole("minus", least=-1),
        c.maybe("none"),
        c.maybe("many"),
        c.number("half"),
        c.flag("yes"),
        c.flag("none"),
    ) == (
        0,
        -1,
        None,
        10**8,
        0.5,
        True,
        False,
    )
    assert len(c.text("long")) == 10_000
    for read, message in (
        (lambda: c.whole("zero"), "zero: expected a whole number, 1 or more, found 0"),
        (lambda: c.whole("minus", least=0), "minus: expected a whole number, 0 or more, found -1"),
        (lambda: c.whole("none"), "none: is null; expected a whole number"),
        (lambda: c.whole("absent"), "absent: is missing"),
        (lambda: c.maybe("more"), "more: is far too large: 100000001; at most 100,000,000"),
        (lambda: c.text("longer"), "longer: expected a text, found the text 'xxxx"),
        (lambda: c.text("empty"), "empty: expected a text, found the text ''"),
        (lambda: c.number("zero"), "zero: expected a positive number, found 0"),
        (lambda: c.number("many"), "many: expected a positive number, found 100000000"),
        (lambda: c.number("yes"), "yes: expected a positive number, found true"),
        (lambda: c.whole("yes"), "yes: expected a whole number, found true"),
        (lambda: c.flag("zero"), "zero: expected true or false, found 0"),
        (lambda: c.bounded("many", 0), "many: lays out 0 layers; from 1 to 10,000 can be read"),
        (lambda: c.bounded("many", 10_001), "many: lays out 10,001 layers"),
        (lambda: c.inside("half"), "half: expected an object with fields, found 0.5"),
        (lambda: c.listed("half"), "half: expected a list, found 0.5"),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert message in str(error.value)
    c.bounded("many", 1)
    c.bounded("many", 10_000)


def test_a_field_by_its_other_spellings():
    """The first that says something counts; one that is null is nothing, and a default is written down only where the file has none of them."""
    names, defaults = {"n": ("n_new", "n_old")}, {"n": 7, "flag": True}
    both = config(names, defaults, n_new=None, n_old=3)
    assert (both.whole("n"), both.states("n"), both.place_of("n"), dict(both.filled)) == (
        3,
        True,
        ("n_old",),
        {},
    )
    null = config(names, defaults, n_new=None)
    assert (null.maybe("n"), null.states("n"), null.place_of("n"), dict(null.filled)) == (
        None,
        False,
        ("n_new",),
        {},
    )
    silent = config(names, defaults)
    assert (silent.whole("n"), silent.states("n"), silent.place_of("n"), silent.flag("flag")) == (
        7,
        False,
        ("n",),
        True,
    )
    assert [(one.field, one.value, one.why) for one in silent.filled.values()] == [
        ("n", "7", "the default of the class"),
        ("flag", "true", "the default of the class"),
    ]
