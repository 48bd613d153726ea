"""The layer that is timed, and the clock around it, over NumPy in place of PyTorch: a layer against loops over tokens and heads, every size counted."""

import math
import sys
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

from symroof.calibrate import probe as probing
from symroof.calibrate.decoder_layer import DecoderLayer, LayerShape
from symroof.calibrate.probe import Bench, _device
from symroof.errors import InputError
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.strict_yaml import loads

from . import numpy_torch

PLAIN = LayerShape(3, d_model=10, n_heads=2, n_kv_heads=2, head_dim=6, d_ff=7, gated=False)
GROUPED = LayerShape(
    2, d_model=9, n_heads=6, n_kv_heads=2, head_dim=8, d_ff=11, gated=True, window=4
)
ODD = LayerShape(1, d_model=5, n_heads=3, n_kv_heads=1, head_dim=7, d_ff=3, gated=True, window=9)
SHAPES = [PLAIN, GROUPED, ODD]
TOKENS = 8


@pytest.fixture
def torch(monkeypatch):
    made = numpy_torch.made()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


def by_loops(layer, hidden):
    """One request's tokens through the layer, each of them, each head and each key by itself."""
    shape = layer.shape
    queries, keys, values = [], [], []
    for place, token in enumerate(hidden):
        row = normed(token, layer.norms[0]) @ np.asarray(layer.qkv)
        heads = [
            row[i * shape.head_dim : (i + 1) * shape.head_dim]
            for i in range(shape.n_heads + 2 * shape.n_kv_heads)
        ]
        queries.append([turned(head, place) for head in heads[: shape.n_heads]])
        keys.append(
            [
                turned(head, place)
                for head in heads[shape.n_heads : shape.n_heads + shape.n_kv_heads]
            ]
        )
        values.append(heads[shape.n_heads + shape.n_kv_heads :])
    after = []
    for place, token in enumerate(hidden):
        first = max(0, place + 1 - shape.window) if shape.window else 0
        mixed = []
        for head in range(shape.n_heads):
            shared = head // (shape.n_heads // shape.n_kv_heads)
            scores = [
                math.exp(queries[place][head] @ keys[other][shared] / math.sqrt(shape.head_dim))
                for other in range(first, place + 1)
            ]
            mixed.append(
                sum(score * values[first + i][shared] for i, score in enumerate(scores))
                / sum(scores)
            )
        middle = token + np.concatenate(mixed) @ np.asarray(layer.out)
        wide = normed(middle, layer.norms[1]) @ np.asarray(layer.up)
        if shape.gated:
            gate, wide = wide[: shape.d_ff], wide[shape.d_ff :]
            wide = np.array([w * g / (1 + math.exp(-g)) for g, w in zip(gate, wide, strict=True)])
        else:
            wide = np.array([w * (1 + math.erf(w / math.sqrt(2))) / 2 for w in wide])
        after.append(middle + wide @ np.asarray(layer.down))
    return np.array(after)


def normed(token, weights):
    return np.asarray(weights) * token / math.sqrt(sum(x * x for x in token) / len(token))


def turned(head, place):
    """Pairs (i, i + half) turned by the place times a frequency from 1 down to 1/10,000; an odd last element stays."""
    half = len(head) // 2
    result = np.array(head)
    for i in range(half):
        angle = place * 1e4 ** (-i / (half - 1))
        result[i] = head[i] * math.cos(angle) - head[half + i] * math.sin(angle)
        result[half + i] = head[half + i] * math.cos(angle) + head[i] * math.sin(angle)
    return result


def drawn(torch, shape):
    """A layer whose two norms differ, as trained ones do."""
    layer = DecoderLayer(shape, "cpu", "float32")
    assert [norm.tolist() for norm in layer.norms] == [[1.0] * shape.d_model] * 2
    layer.norms = [torch.randn(shape.d_model) for _ in range(2)]
    return layer


@pytest.mark.parametrize("shape", SHAPES, ids=["plain", "grouped", "odd"])
def test_a_prefill_is_that_of_loops(torch, shape):
    """Windows of 4 and 9 keys and none over eight tokens, two requests that do not see each other."""
    layer = drawn(torch, shape)
    hidden = torch.randn(2, TOKENS, shape.d_model)
    after = layer.prefill(hidden)
    for request in range(2):
        np.testing.assert_allclose(
            after[request], by_loops(layer, np.asarray(hidden[request])), rtol=1e-9
        )


@pytest.mark.parametrize("shape", SHAPES, ids=["plain", "grouped", "odd"])
def test_a_decode_step_is_the_last_token_of_loops(torch, shape):
    """The cache holds the keys of the tokens before, and gets those of this one; where a window is shorter, of the last ones only."""
    layer = drawn(torch, shape)
    tokens = shape.cached(TOKENS)
    hidden = torch.randn(2, tokens, shape.d_model)
    _, keys, values = layer._projected(hidden, 0)
    own_keys, own_values = keys.copy(), values.copy()
    keys[:, :, -1:], values[:, :, -1:] = 0, 0
    after = layer.decode(hidden[:, -1:], keys, values)
    for request in range(2):
        np.testing.assert_allclose(
            after[request, 0], by_loops(layer, np.asarray(hidden[request]))[-1], rtol=1e-9
        )
    np.testing.assert_allclose((keys, values), (own_keys, own_values))


def test_random_weights_keep_the_size_of_what_passes(torch):
    """Random rows stay near one in size behind each matrix, so that no precision overflows."""
    layer = DecoderLayer(LayerShape(1, 400, 4, 4, 100, 900, False), "cpu", "float32")
    for matrix in (layer.qkv, layer.out, layer.up, layer.down):
        assert np.std(
            np.asarray(torch.randn(20, matrix.shape[0])) @ np.asarray(matrix)
        ) == pytest.approx(1, rel=0.1)


def test_everything_lies_on_the_device_in_the_precision(torch):
    layer = DecoderLayer(GROUPED, "mps", "bfloat16")
    keys, values = layer.cache(3, 100)
    assert keys.shape == values.shape == (3, 2, 4, 8)  # two heads of keys, a window of four
    assert [size for size, _ in torch.sizes] == [
        (9, (6 + 4) * 8),
        (48, 9),
        (9, 22),
        (11, 9),
        (3, 2, 4, 8),
        (3, 2, 4, 8),
    ]
    assert all(kind == {"device": "mps", "dtype": torch.bfloat16} for _, kind in torch.sizes)


@pytest.mark.parametrize("tokens", [3, 4, 5])
def test_a_mask_stands_where_a_window_is_shorter_than_the_prompt(torch, tokens):
    """Without one, PyTorch's quick kernels for plain causality are measured."""
    mask, causal = DecoderLayer(GROUPED, "cpu", "float32")._mask(tokens)
    assert (mask is None, causal) == (tokens <= 4, tokens <= 4)


# ------------------------------------------------------------------------------------------------------------- the bench


@pytest.mark.parametrize(
    ("cuda", "mps", "asked", "chosen"),
    [
        (True, True, "", "cuda"),
        (False, True, "", "mps"),
        (False, False, "", "cpu"),
        (True, False, "cpu", "cpu"),
        (True, True, "mps", "mps"),
    ],
)
def test_the_device_is_the_one_asked_for_or_the_fastest(monkeypatch, cuda, mps, asked, chosen):
    monkeypatch.setitem(sys.modules, "torch", numpy_torch.made(cuda=cuda, mps=mps))
    assert _device(asked) == chosen


def test_lengths_that_are_measured_unless_others_are_named():
    """Sizes that engines are run at, far apart; one request alone is the step that memory limits most."""
    for sizes in (probing.PROMPTS, probing.BATCHES, probing.CONTEXTS):
        assert all(size.bit_count() == 1 for size in sizes) and all(
            b >= 4 * a for a, b in pairwise(sizes)
        )
    assert probing.BATCHES[0] == 1


def test_a_device_that_is_not_there_is_refused(torch):
    with pytest.raises(InputError) as refused:
        _device("cuda" + "x" * 30)
    (problem,) = refused.value.problems
    assert (problem.message, problem.hint) == (
        "no device 'cuda" + "x" * 16 + "' here",
        "there is cpu",
    )


def test_a_row_may_take_four_fifths_of_what_is_free_or_two_fifths_of_the_machine(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", numpy_torch.made(cuda=True, free=10_000))
    monkeypatch.setattr(
        probing.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__
    )
    bench = Bench("cuda", "float16")
    assert (bench.room(), bench.name, bench.width) == (8000, "a fast device", 2)
    cpu = Bench("cpu", "float32")
    assert (cpu.room(), cpu.name, cpu.width) == (
        pytest.approx(0.4 * 4_096_000),
        "cpu, 3 threads",
        4,
    )
    assert Bench("mps", "float32").name == "mps"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_ceilings_are_work_over_time(torch, monkeypatch, device):
    """At four seconds a round: twice rows by inner by columns FLOPs, and every byte read and written; more rows on what is not a processor."""
    monkeypatch.setattr(probing, "BEYOND_CACHES", 3000)
    bench, steps = Bench(device, "float16"), []
    monkeypatch.setattr(bench, "timed", lambda made: steps.extend(made) or 4.0)
    product, copy = bench.ceilings(GROUPED)
    rows = 512 if device == "cpu" else 4096
    assert product == (f"product of {rows} x 9 x 22", 2 * rows * 9 * 22 / 4, "FLOP/s")
    assert copy == ("copy of 3000 bytes, read and written", 6000 / 4, "byte/s")
    assert [size for size, _ in torch.sizes] == [(rows, 9), (9, 22), (1500,)]
    assert steps[0]().shape == (rows, 22) and steps[1]().shape == (1500,)


@pytest.mark.parametrize(("metric", "hidden"), [("ttft", (3, 20, 9)), ("itl", (3, 1, 9))])
def test_layers_stand_side_by_side_each_with_weights_of_its_own(torch, monkeypatch, metric, hidden):
    bench, steps = Bench("cpu", "float16"), []
    monkeypatch.setattr(bench, "timed", lambda made: steps.extend(made) or 5.0)
    assert bench.layer(GROUPED, metric, 3, 20) == 5.0
    assert len(steps) == GROUPED.count
    assert all(
        step.args[0].shape == hidden
        and step.func.__name__ == ("prefill" if metric == "ttft" else "decode")
        for step in steps
    )
    assert len({id(step.func.__self__) for step in steps}) == 2
    if metric == "itl":
        assert all(part.shape == (3, 2, 4, 8) for step in steps for part in step.args[1:])


def test_bytes_of_a_row_are_those_of_the_kind_that_takes_most(torch):
    """Weights of every layer side by side, keys and values of each in a step, and activations with room for scores: by hand of both kinds."""
    bench = Bench("cpu", "float16")
    grouped = 9 * 80 + 48 * 9 + 9 * 22 + 11 * 9
    plain = 10 * 36 + 12 * 10 + 10 * 7 + 7 * 10
    by_hand = {
        ("ttft", 1, 30): (2 * grouped + 30 * (72 + 33), 3 * plain + 30 * (80 + 21)),
        ("itl", 5, 30): (
            2 * (grouped + 2 * 5 * 4 * 2 * 8) + 5 * (72 + 33),
            3 * (plain + 2 * 5 * 30 * 2 * 6) + 5 * (80 + 21),
        ),
    }
    assert (GROUPED.parameters, PLAIN.parameters) == (grouped, plain)
    for row, (first, second) in by_hand.items():
        assert (bench.size([GROUPED], *row), bench.size([PLAIN], *row)) == (2 * first, 2 * second)
        assert (
            bench.size([GROUPED, PLAIN], *row)
            == bench.size([PLAIN, GROUPED], *row)
            == 2 * max(first, second)
        )


LAYERS = {
    "gqa": "{kind: gqa, n_heads: 4, n_kv_heads: 2, head_dim: 16}",
    "chunked": "{kind: chunked, n_heads: 4, n_kv_heads: 2, head_dim: 16, chunk_size: 8}",
    "mla": "{kind: mla, n_heads: 4, kv_lora_rank: 8, qk_nope_dim: 16, qk_rope_dim: 8, value_dim: 16}",
    "none": "{kind: none}",
}
BEHIND = {
    "gated": "{kind: gated, d_ff: 96}",
    "plain": "{kind: plain, d_ff: 96}",
    "moe": "{kind: moe, n_experts: 4, experts_per_token: 2, d_expert: 32}",
    "none": "{kind: none}",
}


def model(layers, tokens=None):
    context = f"max_context: {tokens}\n" if tokens else ""
    return build(
        loads(
            f"name: tiny\nd_model: 64\nvocab_size: 256\n{context}layers:\n"
            + "".join(f"- {layer}\n" for layer in layers)
        ),
        ModelSpec,
    )


@pytest.mark.parametrize("attention", LAYERS)
@pytest.mark.parametrize("ffn", BEHIND)
def test_grouped_attention_with_a_dense_feed_forward_is_measured_and_nothing_else(attention, ffn):
    if attention == ffn == "none":
        return  # no layer
    made = model([f"{{count: 1, attention: {LAYERS[attention]}, ffn: {BEHIND[ffn]}}}"])
    if attention == "gqa" and ffn in ("gated", "plain"):
        assert probing.shapes(made) == (LayerShape(1, 64, 4, 2, 16, 96, ffn == "gated"),)
    else:
        with pytest.raises(
            InputError, match="grouped attention with a dense feed-forward is what probe measures"
        ):
            probing.shapes(made)


def test_every_length_is_measured_where_a_model_names_no_longest(torch, monkeypatch):
    """Layers of one kind; a row that fills the memory to the byte is measured, one more byte is not; the head is of the model's width and vocabulary."""
    monkeypatch.setattr(probing, "require", lambda *_: None)
    monkeypatch.setattr(probing, "BEYOND_CACHES", 3000)
    monkeypatch.setattr(probing.Bench, "timed", lambda self, steps: 1.0)
    torch.inference_mode = nullcontext
    kind = f"{{count: 2, attention: {LAYERS['gqa']}, ffn: {BEHIND['gated']}}}"
    exact = Bench("cpu", "float16").size(probing.shapes(model([kind])), "itl", 3, 40)
    for room, skipped in (
        (exact, ()),
        (exact - 1, ("itl at batch 3, context 40: memory does not hold it",)),
    ):
        monkeypatch.setattr(probing.Bench, "room", lambda self, room=room: room)
        made = probing.probe(model([kind]), "cpu", "fp16", (7, 11), (1, 3), (20, 40))
        rows = [
            ("ttft", 7, 1, 7),
            ("ttft", 11, 1, 11),
            *(("itl", n, b, n) for n in (20, 40) for b in (1, 3)),
        ]
        assert [(row.metric, row.prompt, row.batch, row.context) for row in made.rows] == (
            rows[:-1] if skipped else rows
        )
        assert made.skipped == skipped
    assert torch.sizes[0][0] == (64, 256)
    assert made.ceilings[0] == ("product of 512 x 64 x 192", 2 * 512 * 64 * 192, "FLOP/s")
