"""What stands around the layers of a checkpoint: its name, parts that are not counted, modules that stay wide, the table of embeddings."""

import json

import pytest

from symroof.errors import InputError
from symroof.specs.checkpoints.config_reader import find_config, title_of
from symroof.specs.checkpoints.ggml_types import TYPES
from symroof.specs.checkpoints.gguf import quantization, read_gguf, totals_by_operator
from symroof.specs.checkpoints.gguf_header import Header, Tensor
from symroof.specs.checkpoints.json_text import kind_of_value, loads_json
from symroof.specs.checkpoints.module_names import operators_named
from symroof.specs.checkpoints.quantization_config import NEVER, read_quantization
from symroof.specs.fields import spec_name

from . import problem, read
from .gguf_files import BF16, F16, F32, Q8_0, block, gguf, heads, model

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "vocab_size": 320,
    "intermediate_size": 96,
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("file", "stated", "title", "name"),
    [
        ("/x/My Model/config.json", None, "My Model", "my-model"),
        ("/x/y/config.json", "org/Name-7B", "Name-7B", "name-7b"),
        ("/x/y/config.json", "/models/Q3/", "Q3", "q3"),
        ("/x/y/config.json", "C:\\models\\Q3\\ ", "Q3", "q3"),
        ("/x/y/Foo.config.json", None, "Foo", "foo"),
        ("/x/y/Foo.json", "", "Foo", "foo"),
        ("/x/y/Foo.json", 3, "Foo", "foo"),
        ("/x/y/Foo_1.5.json", None, "Foo_1.5", "foo_1.5"),
        ("/x/y/.json", None, "model", "model"),
        ("/x/y/z.json", "--", "--", "model"),
        ("/x/y/z.json", "a" * 99, "a" * 64, "a" * 64),
        ("/x/y/z.json", "a\x1bb", "ab", "ab"),
    ],
)
def test_what_a_model_is_called(file, stated, title, name):
    document = loads_json(json.dumps({} if stated is None else {"_name_or_path": stated}), file)
    assert (title_of(document), spec_name(title_of(document))) == (title, name)


def test_a_folder_holds_the_file(tmp_path):
    with pytest.raises(InputError, match=r"is a directory that holds no config\.json"):
        find_config(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert (
        find_config(tmp_path) == tmp_path / "config.json" == find_config(tmp_path / "config.json")
    )


@pytest.mark.parametrize(
    ("fields", "caveats"),
    [
        ({}, ()),
        ({"num_nextn_predict_layers": 1}, ("counted without 1 further layer that predicts tokens ahead",)),
        ({"num_mtp_layers": 2}, ("counted without 2 further layers that predict tokens ahead",)),
        ({"num_nextn_predict_layers": 0, "num_mtp_layers": 2}, ("counted without 2 further layers that predict tokens ahead",)),
        ({"mtp_num_hidden_layers": 1}, ("counted without 1 further layer that predicts tokens ahead",)),
        ({"num_nextn_predict_layers": True}, ()),
        ({"vision_config": {}}, ("the language model alone is counted, without vision_config",)),
        ({"vision_config": {}, "audio_config": {}}, ("the language model alone is counted, without vision_config and audio_config",)),
        ({"vision_config": 3}, ("keys of its file that are not read, so that any number may be wrong: vision_config",)),
    ],
)  # fmt: skip
def test_what_is_not_counted_is_said(fields, caveats):
    assert read(CONFIG | fields).caveats == caveats


def test_a_family_that_is_assumed_is_said():
    assert read(CONFIG, assume_family="llama").caveats == ()
    assert read(CONFIG | {"model_type": "own"}, assume_family="llama").caveats == (
        "read as llama, as asked; its model_type is own",
    )
    assert read({key: value for key, value in CONFIG.items() if key != "model_type"}, assume_family="llama").caveats == (
        "read as llama, as asked; its model_type is not given",
    )  # fmt: skip
    assert "no such family 'lama'" in problem(CONFIG, assume_family="lama")
    assert "model_type: expected a text, found 3" in problem(CONFIG | {"model_type": 3})
    assert "model_type: no family 'lama' is known" in problem(CONFIG | {"model_type": "lama"})


def test_the_language_model_inside():
    """By whatever field it stands in, in one inside another too; flat fields of a wrapper are its language model's."""
    inner = {key: value for key, value in CONFIG.items() if key != "model_type"}
    for nested in (
        {"text_config": CONFIG},
        {"thinker_config": {"text_config": CONFIG}},
        {"llm_config": CONFIG},
    ):
        assert read({"model_type": "llava", **nested}).vocab_size == 320
    assert (
        read({"model_type": "llava", "text_config": inner}).source.title
        == "config.json, as LlamaConfig of transformers 5.23.0 reads it"
    )
    assert read({"model_type": "llava", **inner}).vocab_size == 320
    assert "text_config: expected an object with fields, found a list" in problem(
        {"model_type": "llava", "text_config": []}
    )
    assert read({"model_type": "llava", "text_config": None, **inner}).vocab_size == 320


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        ([], "a list"),
        ({}, "an object"),
        ("x" * 41, f"the text '{'x' * 40}'"),
        (3, "3"),
        (10**23, "1" + "0" * 23),
        (10**24, "100000000000..."),
    ],
)
def test_a_value_in_words(value, words):
    assert kind_of_value(value) == words


# ------------------------------------------------------------------------------------------------- modules that stay wide


def wide(patterns, layers=8):
    """Operators that are wide in all layers, in some (how many of how many), and what is said of the list."""
    stored = read_quantization(
        {
            "num_hidden_layers": layers,
            "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": patterns},
        }
    )
    return (
        set(stored.kept) - {*NEVER, "lm_head"},
        {part.operators[0]: (part.layers, part.of) for part in stored.parts},
        [*stored.notes, *stored.unread],
    )


@pytest.mark.parametrize(
    ("count", "layers", "wholly", "partly", "notes"),
    [
        (8, 8, {"down"}, {}, []),
        (7, 8, set(), {"down": (7, 8)}, []),
        (1, 8, set(), {"down": (1, 8)}, []),
        (9, 8, {"down"}, {}, []),
        (1, None, {"down"}, {}, ["down stays wide in 1 of some layers; it counts as wide in all"]),
    ],
)
def test_an_operator_that_is_wide_in_some_layers(count, layers, wholly, partly, notes):
    assert wide([f"model.layers.{i}.mlp.down_proj" for i in range(count)], layers) == (
        wholly,
        partly,
        notes,
    )


def test_an_operator_is_wide_where_all_its_modules_are():
    """Gate and up make one operator: named in different layers they are wide in none."""
    gate, up = (
        [f"model.layers.{i}.mlp.{name}_proj" for i in range(low, low + 3)]
        for name, low in (("gate", 0), ("up", 2))
    )
    assert operators_named([*gate, *up]).partly == {
        "gate_up": frozenset({2}),
        "up": frozenset({2, 3, 4}),
    }
    assert operators_named([*gate, "up_proj"]).partly["gate_up"] == frozenset({0, 1, 2})
    assert "gate_up" not in operators_named(gate).partly
    assert operators_named(["mlp.gate_proj", "mlp.up_proj"]).wholly == {"gate_up", "up"}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("pattern", "wholly", "partly"),
    [
        ("model.layers.3", set(), {3}),
        ("model.layers.3.", set(), {3}),
        ("layers.12.mlp", set(), {12}),
        ("transformer.h.99999.mlp", set(), {99999}),
        (
            "model.layers.100000.mlp",
            {"gate_up", "up", "down", "router", "experts", "shared_experts", "shared_gate"},
            set(),
        ),  # a number that no layer has is any
        ("*.layers.*.mlp.down_proj", {"down"}, set()),
        ("model.layers.6*", set(), {6, *range(60, 70), *range(600, 700)}),
        (r"re:.*mlp\.(gate|up|gate_up|down)_proj.*", {"gate_up", "up", "down"}, set()),
        ("model.lm_head.weight", {"lm_head"}, set()),
        ("Vision_model.lm_head", set(), set()),
        ("   ", set(), set()),
    ],
)
def test_paths_lead_to_operators_and_layers(pattern, wholly, partly):
    named = operators_named([pattern])
    assert named.wholly == wholly
    assert {layer for layers in named.partly.values() for layer in layers} == partly
    assert not named.unread


def test_patterns_of_all_lists_count_and_long_ones_are_not_read():
    fields = {
        "quant_method": "fp8",
        "ignore": ["down_proj"],
        "quantization": {"exclude_modules": ["router", "mlp.router"]},
        "ignored_layers": ["lm_head"],
    }
    assert {"down", "router", "lm_head"} <= set(
        read_quantization({"quantization_config": fields}).kept
    )
    assert operators_named(["x" * 200, "y" * 201]).unread == ("y" * 60, "x" * 60)
    assert (
        operators_named(
            [
                "model.layers.0.input_layernorm",
                "model.embed_tokens",
                "model.layers.3.self_attn.k_norm.bias",
            ]
        ).unread
        == ()
    )
    notes = wide([f"re:({i})" for i in range(7)])[2]
    assert notes == [
        f"the pattern 're:({i})' of its list of modules was not understood" for i in range(5)
    ]


# ------------------------------------------------------------------------------------------------------------------ GGUF


@pytest.fixture
def stored(tmp_path):
    """A model written into a file and read back; ``more`` tensors stand beside those of its two layers."""

    def from_tensors(metadata=None, more=(), name="m.gguf", architecture="llama", **options):
        layers = [block(i, 64, 4, 2, 16, 96, **options) for i in range(2)]
        made, tensors = model(
            architecture,
            layers,
            64,
            320,
            heads(architecture, 4, 2) | (metadata or {}),
            head=options.get("head", Q8_0),
        )
        path = tmp_path / name
        path.write_bytes(gguf(made, [*tensors, *more]))
        return read_gguf(path)[0]

    return from_tensors


def test_the_name_and_context_of_a_file(stored):
    assert (stored().name, stored().title, stored().max_context) == ("m", "m", None)
    assert stored(name="Some Model-Q4.gguf").name == "some-model-q4"
    named = stored({"general.name": "Own: Name\x07", "llama.context_length": 77})
    assert (named.name, named.title, named.max_context, named.source.title) == (
        "own-name",
        "Own: Name",
        77,
        "header of m.gguf",
    )
    assert stored({"llama.context_length": 0}).max_context is None
    with pytest.raises(InputError, match="context_length: expected a whole number"):
        stored({"llama.context_length": True})


def test_norms_biases_and_positions(stored):
    """A layer norm where a norm has a bias; a table of positions by its rows."""
    plain = stored()
    assert (
        plain.norm.kind,
        plain.norm.final,
        plain.head_bias,
        plain.positions,
        plain.tied_embeddings,
    ) == ("rms", True, False, None, False)
    more = [
        ("output_norm.bias", (64,), F32),
        ("output.bias", (320,), F32),
        ("position_embd.weight", (64, 48), F32),
    ]
    rich = stored(more=more)
    assert (rich.norm.kind, rich.head_bias, rich.positions) == ("layer", True, 48)


def test_heads_that_guess_ahead_are_left_out(stored):
    """The last block is one; with it the file has three, of which two run."""
    ahead = block(2, 64, 4, 2, 16, 96)
    model = stored({"llama.block_count": 3, "llama.nextn_predict_layers": 1}, more=ahead)
    assert sum(kind.count for kind in model.layers) == 2
    assert model.published_params == stored().published_params


@pytest.mark.parametrize(
    ("architecture", "more", "windows"),
    [
        ("gemma2", {"gemma2.attention.sliding_window": 9}, [9, None]),
        ("gemma2", {"gemma2.attention.sliding_window": 9, "gemma2.context_length": 10}, [9, None]),
        (
            "gemma2",
            {"gemma2.attention.sliding_window": 9, "gemma2.context_length": 9},
            [None, None],
        ),  # as long as the context: none
        ("gemma2", {"gemma2.attention.sliding_window": 0}, [None, None]),
        ("phi3", {"phi3.attention.sliding_window": 9}, [9, 9]),
        ("llama", {"llama.attention.sliding_window": 9}, [None, None]),
        ("llama", {"llama.attention.sliding_window": 9, "llama.attention.sliding_window_pattern": [False, True]}, [None, 9]),
        ("llama", {"llama.attention.sliding_window": 9, "llama.attention.sliding_window_pattern": 2}, [9, None]),
        (
            "gemma3",
            {"gemma3.attention.sliding_window": 9, "gemma3.attention.sliding_window_pattern": True},
            [9, 9],
        ),  # no number: the architecture's six
    ],
)  # fmt: skip
def test_which_layers_slide(stored, architecture, more, windows):
    read = stored(more, architecture=architecture)
    order = read.sequence() or read.labels() * 2
    by_label = dict(
        zip(read.labels(), (kind.attention.window for kind in read.layers), strict=True)
    )
    assert [by_label[label] for label in order] == windows


def test_widths_of_keys_and_values(stored):
    """Values narrower than keys have a width of their own; queries and keys may be normalised by head or as a whole."""
    assert stored().layers[0].attention.value_dim is None
    assert (
        stored(qk_norm=True).layers[0].attention.qk_norm,
        stored().layers[0].attention.qk_norm,
    ) == ("head", "none")
    whole = [
        (f"blk.{i}.attn_{name}_norm.weight", (extent,), F32)
        for i in range(2)
        for name, extent in (("q", 64), ("k", 32))
    ]
    assert stored(more=whole).layers[0].attention.qk_norm == "full"
    fused = stored(fused=True).layers[0].attention
    assert (fused.n_kv_heads, fused.head_dim, fused.qkv_bias) == (2, 16, False)
    assert stored(qkv_bias=True).layers[0].attention.qkv_bias is True


def test_the_width_that_most_parameters_have(stored):
    """Matrices of the layers at 4.5 bits, the head at 8.5, norms at 32; with files of one width nothing has a width of its own."""
    model = stored()
    assert (
        model.quantization.method,
        model.quantization.bits.value * 8,
        model.quantization.kept_bits.value * 8,
    ) == ("q4_0", 4.5, 32)
    assert {name: width.value * 8 for name, width in model.quantization.widths.items()} == {
        "lm_head": 8.5
    }
    assert [of_one_type(kind) for kind in (F16, BF16, Q8_0)] == [
        ("f16", {}),
        ("bf16", {}),
        ("q8_0", {}),
    ]


def of_one_type(kind):
    """Method and own widths of a file all of whose matrices are of one type."""
    tensors = {
        name: Tensor(name, shape, TYPES[number])
        for name, shape, number in block(0, 64, 4, 2, 16, 96, kind=kind)
    }
    held = totals_by_operator(
        [(name.split(".", 2)[2], tensor) for name, tensor in tensors.items()], False, False
    )
    made = quantization(Header("m", {}, {}, tensors), held, False)
    return made["method"], made["widths"]


@pytest.mark.parametrize(
    "part",
    ["vision_tower", "visual", "audio_tower", "multi_modal_projector", "image_encoder", "mtp"],
)
def test_what_stands_beside_the_decoder_names_none_of_its_operators(part):
    """In any case of letters, and in whatever place of the path; the same without it does, and blank lines name nothing."""
    for pattern in (
        f"{part}.layers.*.mlp.fc1",
        f"model.{part.title()}.blocks.3.mlp.fc1",
        f"re:.*{part.upper()}.*fc1",
    ):
        assert operators_named([pattern]) == operators_named([" ", ""]) == operators_named([])
    assert operators_named(["model.layers.*.mlp.fc1", f"{part}.layers.*.mlp.fc2"]).wholly == {"up"}


@pytest.mark.parametrize(
    ("pattern", "operators"),
    [
        ("model.layers.*.self_attn.o_proj", {"attention_out"}),
        ("model.layers.*.o_proj", set()),  # below a layer the path is whole
        ("model.layers.*.gate", set()),
        ("self_attn.o_proj", {"attention_out"}),
        ("o_proj", {"attention_out"}),
        ("*o_proj", {"attention_out"}),  # a sign for anything stands for the beginning too
        ("o_proj*", set()),
        ("mlp.gate", {"router"}),
    ],
)
def test_where_a_pattern_begins(pattern, operators):
    assert operators_named([pattern]).wholly == operators
