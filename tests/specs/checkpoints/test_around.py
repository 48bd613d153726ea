"""What stands around the layers of a checkpoint: its name, parts that are not counted, modules that stay wide, the table of embeddings."""

import json

import pytest

from symroof.specs.checkpoints.config_reader import title_of
from symroof.specs.checkpoints.gguf import read_gguf
from symroof.specs.checkpoints.json_text import loads_json
from symroof.specs.checkpoints.quantization_config import NEVER, read_quantization
from symroof.specs.fields import spec_name

from . import problem, read
from .gguf_files import Q8_0, block, gguf, heads, model

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


@pytest.mark.parametrize(
    ("fields", "caveats"),
    [
        ({}, ()),
        (
            {"num_nextn_predict_layers": 1},
            ("counted without 1 further layer that predicts tokens ahead",),
        ),
        ({"num_mtp_layers": 2}, ("counted without 2 further layers that predict tokens ahead",)),
        (
            {"num_nextn_predict_layers": 0, "num_mtp_layers": 2},
            ("counted without 2 further layers that predict tokens ahead",),
        ),
        (
            {"mtp_num_hidden_layers": 1},
            ("counted without 1 further layer that predicts tokens ahead",),
        ),
        ({"num_nextn_predict_layers": True}, ()),
        ({"vision_config": {}}, ("the language model alone is counted, without vision_config",)),
        (
            {"vision_config": {}, "audio_config": {}},
            ("the language model alone is counted, without vision_config and audio_config",),
        ),
        (
            {"vision_config": 3},
            ("keys of its file that are not read, so that any number may be wrong: vision_config",),
        ),
    ],
)
def test_what_is_not_counted_is_said(fields, caveats):
    assert read(CONFIG | fields).caveats == caveats


def test_a_family_that_is_assumed_is_said():
    assert read(CONFIG, assume_family="llama").caveats == ()
    assert read(CONFIG | {"model_type": "own"}, assume_family="llama").caveats == (
        "read as llama, as asked; its model_type is own",
    )
    assert read(
        {key: value for key, value in CONFIG.items() if key != "model_type"}, assume_family="llama"
    ).caveats == ("read as llama, as asked; its model_type is not given",)
    assert "no such family 'lama'" in problem(CONFIG, assume_family="lama")
    assert "model_type: expected a text, found 3" in problem(CONFIG | {"model_type": 3})
    assert "model_type: no family 'lama' is known" in problem(CONFIG | {"model_type": "lama"})


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
        (
            "llama",
            {
                "llama.attention.sliding_window": 9,
                "llama.attention.sliding_window_pattern": [False, True],
            },
            [None, 9],
        ),
        (
            "llama",
            {"llama.attention.sliding_window": 9, "llama.attention.sliding_window_pattern": 2},
            [9, None],
        ),
        (
            "gemma3",
            {"gemma3.attention.sliding_window": 9, "gemma3.attention.sliding_window_pattern": True},
            [9, 9],
        ),  # no number: the architecture's six
    ],
)
def test_which_layers_slide(stored, architecture, more, windows):
    read = stored(more, architecture=architecture)
    order = read.sequence() or read.labels() * 2
    by_label = dict(
        zip(read.labels(), (kind.attention.window for kind in read.layers), strict=True)
    )
    assert [by_label[label] for label in order] == windows
