"""What stands around the layers of a checkpoint: its name, parts that are not counted, modules that stay wide, the table of embeddings."""

import json

import pytest

from symroof.specs.checkpoints.config_reader import title_of
from symroof.specs.checkpoints.gguf import read_gguf
from symroof.specs.checkpoints.json_text import loads_json
from symroof.specs.checkpoints.quantization_config import NEVER, read_quantization
from symroof.specs.fields import spec_name

from ...tables import fields, table
from . import problem, read
from .gguf_files import block, gguf, heads, model

CONFIG = fields(
    "model_type: llama, hidden_size: 64, num_attention_heads: 4, num_hidden_layers: 2, "
    "vocab_size: 320, intermediate_size: 96"
)
CALLED = r"""
/x/My Model/config.json | null | My Model | my-model
/x/y/config.json | org/Name-7B | Name-7B | name-7b
/x/y/config.json | /models/Q3/ | Q3 | q3
/x/y/config.json | C:\models\Q3\ | Q3 | q3
/x/y/Foo.config.json | null | Foo | foo
/x/y/Foo.json | "" | Foo | foo
/x/y/Foo.json | 3 | Foo | foo
/x/y/Foo_1.5.json | null | Foo_1.5 | foo_1.5
/x/y/.json | null | model | model
/x/y/z.json | "--" | -- | model
/x/y/z.json | "a\eb" | ab | ab
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("file", "stated", "title", "name"), table(CALLED))
def test_what_a_model_is_called(file, stated, title, name):
    document = loads_json(json.dumps(fields(f"_name_or_path: {stated}")), file)
    assert (title_of(document), spec_name(title_of(document))) == (title, name)


AHEAD = "counted without {} that predict{} tokens ahead"
ONE_AHEAD, TWO_AHEAD = AHEAD.format("1 further layer", "s"), AHEAD.format("2 further layers", "")
ALONE, UNREAD = "the language model alone is counted, without", "keys of its file that are not read"
CAVEATS = f"""
num_nextn_predict_layers: 1 | {ONE_AHEAD}
num_mtp_layers: 2 | {TWO_AHEAD}
num_nextn_predict_layers: 0, num_mtp_layers: 2 | {TWO_AHEAD}
mtp_num_hidden_layers: 1 | {ONE_AHEAD}
num_nextn_predict_layers: true |
vision_config: {{}} | {ALONE} vision_config
vision_config: {{}}, audio_config: {{}} | {ALONE} vision_config and audio_config
vision_config: 3 | {UNREAD}, so that any number may be wrong: vision_config
"""


@pytest.mark.parametrize(("said", "caveat"), table(CAVEATS))
def test_what_is_not_counted_is_said(said, caveat):
    assert read(CONFIG | fields(said)).caveats == ((caveat,) if caveat else ())


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
    """A model of two layers written into a file and read back."""

    def with_metadata(architecture, metadata):
        layers = [block(i, 64, 4, 2, 16, 96) for i in range(2)]
        stated = heads(architecture, 4, 2) | metadata
        (tmp_path / "m.gguf").write_bytes(gguf(*model(architecture, layers, 64, 320, stated)))
        return read_gguf(tmp_path / "m.gguf")[0]

    return with_metadata


SLIDING = """
gemma2 | sliding_window: 9 | [9, null]
gemma2 | sliding_window: 9, context_length: 10 | [9, null]
# as long as the context: none
gemma2 | sliding_window: 9, context_length: 9 | [null, null]
gemma2 | sliding_window: 0 | [null, null]
phi3 | sliding_window: 9 | [9, 9]
llama | sliding_window: 9 | [null, null]
llama | sliding_window: 9, sliding_window_pattern: [false, true] | [null, 9]
llama | sliding_window: 9, sliding_window_pattern: 2 | [9, null]
# no number: the architecture's six
gemma3 | sliding_window: 9, sliding_window_pattern: true | [9, 9]
"""


@pytest.mark.parametrize(("architecture", "said", "windows"), table(SLIDING))
def test_which_layers_slide(stored, architecture, said, windows):
    more = {
        f"{architecture}.{'attention.' * key.startswith('sliding')}{key}": value
        for key, value in fields(said).items()
    }
    read = stored(architecture, more)
    order = read.sequence() or read.labels() * 2
    by_label = dict(
        zip(read.labels(), (kind.attention.window for kind in read.layers), strict=True)
    )
    assert [by_label[label] for label in order] == fields(f"slide: {windows}")["slide"]
