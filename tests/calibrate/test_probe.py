"""Measuring a machine: shapes against the engine's count of work, and the file against what reads it. PyTorch's part is skipped without PyTorch."""

import importlib.util
import sys

import pytest

from symroof.api import Study
from symroof.calibrate.measurements import parse_measured
from symroof.calibrate.probe import Probed, Row, probe, shapes
from symroof.errors import InputError
from symroof.specs.model_files import read_model
from tests.cli import call, good

with_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch (extra probe)")
TINY = """name: tiny
d_model: 64
vocab_size: 256
layers:
- {count: 3, attention: {kind: gqa, n_heads: 4, n_kv_heads: 2, head_dim: 16}, ffn: {kind: gated, d_ff: 96}}
- {count: 2, attention: {kind: gqa, n_heads: 4, n_kv_heads: 4, head_dim: 16, window: 8}, ffn: {kind: plain, d_ff: 128}}
"""


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return path


def test_the_file_is_what_calibrate_reads():
    rows = (Row("ttft", 512, 1, 512, 0.0125), Row("itl", 1024, 8, 1024, 0.004))
    text = Probed("tiny", "a machine", "bf16", rows, (("copy", 2e9, "byte/s"),), ("one: too large",)).csv()
    read = parse_measured(text)
    assert [(m.metric, float(m.seconds), int(m.inputs["batch"]), int(m.inputs["context"])) for m in read] == [("ttft", 0.0125, 1, 512), ("itl", 0.004, 8, 1024)]
    assert [line[0] for line in text.splitlines()[:3]] == ["#"] * 3


def test_the_matrices_are_those_of_the_model():
    """Weights of all layers are the model's parameters without embedding, head and norms."""
    for name, tables in (("llama-3-8b", 2), ("qwen2.5-7b", 2), ("gemma-2-9b", 1)):
        model = read_model(name)[0]
        matrices = sum(kind.count * kind.parameters for kind in shapes(model))
        rest = model.published_params - matrices - tables * model.vocab_size * model.d_model
        assert 0 < rest < 1e-4 * model.published_params


@pytest.mark.parametrize("name", ["deepseek-v3", "mixtral-8x7b"])
def test_layers_that_it_does_not_measure_are_refused(name):
    with pytest.raises(InputError, match="grouped attention with a dense feed-forward is what probe measures"):
        shapes(read_model(name)[0])


def test_without_pytorch_the_error_names_the_extra(monkeypatch, tiny, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = call("probe", "--model", tiny, "-o", tmp_path / "x.csv")
    assert outcome.code == 2 and "needs torch" in outcome.err and "symroof[probe]" in outcome.err
    assert not (tmp_path / "x.csv").exists()


def test_bad_lists_and_precisions_are_refused(tiny, tmp_path):
    for line, word in ((("--prompts", "1,x"), "no list of whole numbers"), (("--batches", "0"), "from 1 to"), (("--weights", "fp4"), "measures fp32")):
        outcome = call("probe", "--model", tiny, "-o", tmp_path / "x.csv", *line)
        assert outcome.code == 2 and word in outcome.err


@with_torch
def test_a_layer_does_the_work_that_the_engine_counts(tiny):
    """PyTorch's own counter of a layer's prefill and decode, over the layers and the head, is the engine's FLOPs with attention's whole square."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from symroof.calibrate.decoder_layer import DecoderLayer

    def counted(work):
        with FlopCounterMode(display=False) as counter, torch.inference_mode(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            work()
        return counter.get_total_flops()

    batch, prompt, context = 3, 8, 20
    prefill = decode = 0
    for kind in shapes(read_model(str(tiny))[0]):
        layer = DecoderLayer(kind, "cpu", "float32")
        prefill += kind.count * counted(lambda layer=layer: layer.prefill(torch.randn(1, prompt, 64)))
        cache = layer.cache(batch, context)
        decode += kind.count * counted(lambda layer=layer, cache=cache: layer.decode(torch.randn(batch, 1, 64), *cache))
    head = 2 * 64 * 256
    study = Study(str(tiny), prompt=prompt, context=context, batch=batch, assume={"attention": "full"})
    assert prefill + head == study.exact("prefill_flops")
    assert decode + batch * head == study.exact("decode_flops")


@with_torch
def test_decode_continues_what_prefill_began(tiny):
    """The last token of a prefill is the decode step on the keys and values of those before it."""
    import torch

    from symroof.calibrate.decoder_layer import DecoderLayer

    for kind in shapes(read_model(str(tiny))[0]):
        layer = DecoderLayer(kind, "cpu", "float32")
        with torch.inference_mode():
            hidden = torch.randn(1, 8, 64)
            keys, values = layer._projected(hidden, 0)[1:]
            step = layer.decode(hidden[:, 7:], keys.clone(), values.clone())
            assert torch.allclose(layer.prefill(hidden)[:, 7:], step, atol=1e-4)


@with_torch
def test_the_command_measures_and_calibrate_reads_it(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["symroof.calibrate.probe"], "BEYOND_CACHES", 2**20)
    out = tmp_path / "measured.csv"
    line = ("--device", "cpu", "--weights", "fp32", "--prompts", "16,64", "--batches", "1,4", "--contexts", "32")
    text = call("probe", "--model", tiny, "-o", out, *line).out
    assert "4 rows" in text and "FLOP/s" in text and "byte/s" in text
    read = parse_measured(out.read_text())
    assert [(m.metric, int(m.inputs["batch"])) for m in read] == [("ttft", 1), ("ttft", 1), ("itl", 1), ("itl", 4)]
    machine = ("--set", "peak_flops=10 TFLOP/s", "--set", "mem_bandwidth=1 TB/s", "--weights", "fp32", "--kv", "fp32", "--activations", "fp32")
    assert "layer_overhead" in good("calibrate", out, "--model", tiny, *machine, "--fit", "layer_overhead").out


@with_torch
def test_rows_that_memory_does_not_hold_are_skipped_and_named(tiny, monkeypatch):
    from symroof.calibrate.probe import Bench

    monkeypatch.setattr(Bench, "room", lambda self: 1.0)
    found = probe(read_model(str(tiny))[0], "cpu", "fp32", (16,), (1,), (16,))
    assert found.rows == () and found.skipped == ("ttft at batch 1, context 16: memory does not hold it", "itl at batch 1, context 16: memory does not hold it")
