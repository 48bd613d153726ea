"""Measuring a machine: shapes against the engine's count of work, and the file against what reads it. PyTorch's part is skipped without PyTorch."""

import importlib.util
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from symroof.api import Study
from symroof.calibrate.decoder_layer import LayerShape
from symroof.calibrate.measurements import parse_measured
from symroof.calibrate.probe import Bench, Probed, ProbedLatency, probe, shapes
from symroof.errors import InputError
from symroof.specs.model_files import read_model
from tests.cli import call, good

with_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch (extra probe)"
)
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
    rows = (ProbedLatency("ttft", 512, 1, 512, 0.0125), ProbedLatency("itl", 1024, 8, 1024, 0.004))
    text = Probed(
        "tiny", "a machine", "bf16", rows, (("copy", 2e9, "byte/s"),), ("one: too large",)
    ).csv()
    read = parse_measured(text)
    assert [
        (m.metric, float(m.seconds), int(m.inputs["batch"]), int(m.inputs["context"])) for m in read
    ] == [("ttft", 0.0125, 1, 512), ("itl", 0.004, 8, 1024)]
    assert [line[0] for line in text.splitlines()[:3]] == ["#"] * 3


def test_the_matrices_are_those_of_the_model():
    """Weights of all layers are the model's parameters without embedding, head and norms."""
    for name, tables in (("llama-3-8b", 2), ("qwen2.5-7b", 2), ("gemma-2-9b", 1)):
        model = read_model(name)[0]
        matrices = sum(kind.count * kind.parameters for kind in shapes(model))
        rest = model.published_params - matrices - tables * model.vocab_size * model.d_model
        assert 0 < rest < 1e-4 * model.published_params


@pytest.mark.parametrize(
    "name", ["deepseek-v3", "mixtral-8x7b", "lfm2-1.2b", "granite-4.0-h-micro", "mamba2-2.7b"]
)
def test_layers_that_it_does_not_measure_are_refused(name):
    with pytest.raises(
        InputError, match="grouped attention with a dense feed-forward is what probe measures"
    ):
        shapes(read_model(name)[0])


def test_without_pytorch_the_error_names_the_extra(monkeypatch, tiny, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = call("probe", "--model", tiny, "-o", tmp_path / "x.csv")
    assert outcome.code == 2 and "needs torch" in outcome.err and "symroof[probe]" in outcome.err
    assert not (tmp_path / "x.csv").exists()


def test_bad_lists_and_precisions_are_refused(tiny, tmp_path):
    for line, word in (
        (("--prompts", "1,x"), "not a list of whole numbers"),
        (("--batches", "0"), "from 1 to"),
        (("--weights", "fp4"), "measures fp32"),
    ):
        outcome = call("probe", "--model", tiny, "-o", tmp_path / "x.csv", *line)
        assert outcome.code == 2 and word in outcome.err


@pytest.mark.parametrize("missing", ["layers", "d_model", "vocab_size"])
def test_a_model_without_its_sizes_is_refused(tiny, missing):
    model = read_model(str(tiny))[0].model_copy(
        update={missing: () if missing == "layers" else None}
    )
    with pytest.raises(InputError, match="has no layers to measure"):
        shapes(model)


@pytest.fixture
def bench():
    """A bench without a device: 16-bit numbers and a clock that is told what it says."""
    made = Bench.__new__(Bench)
    made.width, made.device = 2, "cpu"
    return made


def test_layers_side_by_side_outgrow_the_caches_and_no_more(bench):
    """A layer of 100 wide, one head and ten of d_ff has 30,000 + 10,000 + 2,000 weights; 256 MiB of 16 bits hold 3,195 of them, and some more."""
    kind = LayerShape(5000, 100, 1, 1, 100, 10, False)
    assert kind.parameters == 42_000
    assert bench.rounds(kind) == 3196
    assert bench.rounds(LayerShape(7, 100, 1, 1, 100, 10, False)) == 7
    assert (
        bench.rounds(LayerShape(9, 8192, 64, 64, 128, 8192, False)) == 1
    )  # 2**28 weights and more: 768 MiB a layer


def test_bytes_of_a_row(bench):
    kind = LayerShape(2, 100, 1, 1, 100, 10, False, window=50)
    assert [kind.cached(context) for context in (49, 50, 51)] == [49, 50, 50]
    assert bench.size([kind], "ttft", 1, 60) == 2 * (2 * 42_000 + 60 * (800 + 30))
    assert bench.size([kind], "itl", 3, 60) == 2 * (
        2 * (42_000 + 2 * 3 * 50 * 100) + 3 * (800 + 30)
    )


@pytest.mark.parametrize(
    ("seconds", "median", "rounds"),
    [
        ((9, 4, 1, 2, 3), 4, 2),
        ((9, 1, 0.9, 0.2), 0.9, 4),
        ((9, *[0.05] * 30, 7), 0.05, 31),
        ((9, 0.5, 0.75, 0.5, 0.5, 7), 0.5, 5),
        ((9, 2, 1, 3), 2, 4),
    ],
)
def test_a_time_is_the_median_of_rounds_after_one_to_warm_up(bench, seconds, median, rounds):
    """Three rounds at least and thirty at most, until two seconds are spent; one that takes longer alone is enough."""
    clock = iter(seconds)
    bench._round = lambda steps: next(clock)
    assert bench.timed([None, None]) == median / 2
    assert len(list(clock)) == len(seconds) - rounds


def test_a_row_is_its_layers_and_its_head(monkeypatch, tiny):
    """Three layers of the first kind and two of the second, a tenth of a second for every head of keys and token in the cache, and one second of logits."""
    model = read_model(str(tiny))[0].model_copy(update={"max_context": 64})
    sizes = []

    class Told(Bench):
        def __init__(self, device, precision):
            self.device, self.precision, self.width = device, precision, 2
            self.torch = SimpleNamespace(
                inference_mode=nullcontext, matmul=max, get_num_threads=lambda: 4
            )

        def random(self, *size):
            sizes.append(size)

        def room(self):
            return 1e6

        def layer(self, kind, metric, batch, context):
            return 0.1 * kind.n_kv_heads * batch * context

        def timed(self, steps):
            return 1.0

        def ceilings(self, kind):
            yield "copy", 3e9, "byte/s"

    monkeypatch.setattr(sys.modules["symroof.calibrate.probe"], "Bench", Told)
    monkeypatch.setattr(sys.modules["symroof.calibrate.probe"], "require", lambda *_: None)
    monkeypatch.setattr(
        sys.modules["symroof.calibrate.probe"], "_device", lambda name: name or "cpu"
    )
    made = probe(model, "", "fp16", (8, 64, 65), (1, 200), (64, 65))
    assert [(row.metric, row.prompt, row.batch, row.context) for row in made.rows] == [
        ("ttft", 8, 1, 8),
        ("ttft", 64, 1, 64),
        ("itl", 64, 1, 64),
    ]
    assert [row.seconds for row in made.rows] == pytest.approx(
        [1 + 1.4 * 8, 1 + 1.4 * 64, 1 + 1.4 * 64]
    )
    assert made.skipped == ("itl at batch 200, context 64: memory does not hold it",)
    assert sizes[0] == (64, 256) and sizes[1:] == [(1, 64)] * 3
    assert (made.model, made.device, made.precision, made.ceilings) == (
        "tiny",
        "cpu, 4 threads",
        "fp16",
        (("copy", 3e9, "byte/s"),),
    )


@with_torch
def test_a_layer_does_the_work_that_the_engine_counts(tiny):
    """PyTorch's own counter of a layer's prefill and decode, over the layers and the head, is the engine's FLOPs with attention's whole square."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from symroof.calibrate.decoder_layer import DecoderLayer

    def counted(work):
        with (
            FlopCounterMode(display=False) as counter,
            torch.inference_mode(),
            torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
        ):
            work()
        return counter.get_total_flops()

    batch, prompt, context = 3, 8, 20
    prefill = decode = 0
    for kind in shapes(read_model(str(tiny))[0]):
        layer = DecoderLayer(kind, "cpu", "float32")
        prefill += kind.count * counted(
            lambda layer=layer: layer.prefill(torch.randn(1, prompt, 64))
        )
        cache = layer.cache(batch, context)
        decode += kind.count * counted(
            lambda layer=layer, cache=cache: layer.decode(torch.randn(batch, 1, 64), *cache)
        )
    head = 2 * 64 * 256
    study = Study(
        str(tiny), prompt=prompt, context=context, batch=batch, assume={"attention": "full"}
    )
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
    line = (
        "--device",
        "cpu",
        "--weights",
        "fp32",
        "--prompts",
        "16,64",
        "--batches",
        "1,4",
        "--contexts",
        "32",
    )
    text = call("probe", "--model", tiny, "-o", out, *line).out
    assert "4 rows" in text and "FLOP/s" in text and "byte/s" in text
    read = parse_measured(out.read_text())
    assert [(m.metric, int(m.inputs["batch"])) for m in read] == [
        ("ttft", 1),
        ("ttft", 1),
        ("itl", 1),
        ("itl", 4),
    ]
    machine = (
        "--set",
        "peak_flops=10 TFLOP/s",
        "--set",
        "mem_bandwidth=1 TB/s",
        "--weights",
        "fp32",
        "--kv",
        "fp32",
        "--activations",
        "fp32",
    )
    assert (
        "layer_overhead"
        in good("calibrate", out, "--model", tiny, *machine, "--fit", "layer_overhead").out
    )


@with_torch
def test_rows_that_memory_does_not_hold_are_skipped_and_named(tiny, monkeypatch):
    monkeypatch.setattr(Bench, "room", lambda self: 1.0)
    found = probe(read_model(str(tiny))[0], "cpu", "fp32", (16,), (1,), (16,))
    assert found.rows == () and found.skipped == (
        "ttft at batch 1, context 16: memory does not hold it",
        "itl at batch 1, context 16: memory does not hold it",
    )
