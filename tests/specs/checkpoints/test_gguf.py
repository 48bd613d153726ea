"""GGUF files: exact parameters and bytes of the models people run, and every way a header can be wrong."""

import random
import struct
import time
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.checkpoints.gguf import read_gguf
from symroof.specs.checkpoints.gguf_header import TYPES, read_header
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec

from ...tables import table
from . import numbered
from .gguf_files import F16, F32, Q4_0, Q4_K, Q6_K, Q8_0, block, gguf, heads, model, text, value
from .sizes import resident


@pytest.fixture
def read(tmp_path):
    """A model read from a header written into a file."""

    def from_header(metadata, tensors, name="some.gguf", **how):
        path = tmp_path / name
        path.write_bytes(gguf(metadata, tensors, **how))
        return read_gguf(path)[0]

    return from_header


def shipped(name):
    return build(catalogue.find("models", name), ModelSpec)


def same_model(found, name):
    """A model read equals the catalogue's, which has the published count of parameters."""
    known = shipped(name)
    assert [kind.model_copy(update={"label": None, "norms": None}) for kind in found.layers] == [
        kind.model_copy(update={"label": None}) for kind in known.layers
    ]
    assert (found.d_model, found.vocab_size, found.tied_embeddings) == (
        known.d_model,
        known.vocab_size,
        known.tied_embeddings,
    )
    assert Study(model=found).value("params") == found.published_params == known.published_params
    assert numbered(found.sequence()) == numbered(known.sequence())
    assert not any("hold" in note for note in found.notes)


# ------------------------------------------------------------------------------------------------ what llama.cpp prints

SIX_BITS = [*range(4), *range(6, 28, 3), *range(28, 32)]
"""Layers of 32 whose values and down projection Q4_K_M makes wider: an eighth at either end and every third between
(``use_more_bits`` of llama.cpp)."""


def q4_k_m(vocab, kv, ff):
    wide = {"attn_v": Q6_K, "ffn_down": Q6_K}
    layers = [
        block(i, 4096, 32, kv, 128, ff, kind=Q4_K, kinds=wide if i in SIX_BITS else None)
        for i in range(32)
    ]
    stated = heads("llama", 32, kv) | {"general.file_type": 15}
    return model("llama", layers, 4096, vocab, stated, head=Q6_K, table=Q4_K)


def bytes_of(tensors):
    """Bytes of tensors by the blocks of their types."""
    total = 0
    for _, shape, kind in tensors:
        elements = 1
        for extent in shape:
            elements *= extent
        _, weights, size, _ = TYPES[kind]
        total += elements * Fraction(size, weights)
    return total


@pytest.mark.parametrize(
    ("vocab", "kv", "ff", "gib", "bpw", "name"),
    [
        (32000, 32, 11008, "3.80", "4.84", "llama-2-7b"),
        (128256, 8, 14336, "4.58", "4.89", "llama-3-8b"),
    ],
)
def test_q4_k_m_is_as_large_as_llama_cpp_says(read, vocab, kv, ff, gib, bpw, name):
    """llama.cpp of Llama-2-7B Q4_K_M: 65 tensors f32, 193 q4_K, 33 q6_K, 3.80 GiB (4.84 BPW); of Llama-3-8B: 4.58 GiB (4.89 BPW)."""
    metadata, tensors = q4_k_m(vocab, kv, ff)
    kinds = [kind for _, _, kind in tensors]
    assert (kinds.count(F32), kinds.count(Q4_K), kinds.count(Q6_K)) == (65, 193, 33)
    found = read(metadata, tensors)
    same_model(found, name)
    size = resident(found)
    assert size == bytes_of(tensors)
    assert f"{float(size / 2**30):.2f}" == gib
    assert f"{float(8 * size / found.published_params):.2f}" == bpw
    assert found.quantization.method == "q4_k_m"


def test_a_decode_step_reads_the_head_at_its_own_width(read):
    metadata, tensors = q4_k_m(128256, 8, 14336)
    read_by_step = [t for t in tensors if len(t[1]) == 2 and t[0] != "token_embd.weight"]
    assert Study(model=read(metadata, tensors)).value("weight_bytes_read") == bytes_of(read_by_step)


# --------------------------------------------------------------------------------------------------------- architectures


FOUR_NORMS = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")


def test_gemma3_slides_in_five_of_six(read):
    layers = [block(i, 1152, 4, 1, 256, 6912, norms=FOUR_NORMS, qk_norm=True) for i in range(26)]
    stated = heads("gemma3", 4, 1, **{"attention.sliding_window": 512})
    found = read(*model("gemma3", layers, 1152, 262144, stated, head=None))
    same_model(found, "gemma-3-1b")
    assert [i for i, label in enumerate(found.sequence()) if label == "full"] == [5, 11, 17, 23]


def moe_block(i, d, kv_heads, experts, ff, kind=Q4_K, split=False):
    names = [(n, (d, ff) if n != "down" else (ff, d)) for n in ("gate", "up", "down")]
    router = [("ffn_gate_inp.weight", (d, experts), F32)]
    if split:
        more = [(f"ffn_{n}.{e}.weight", shape, kind) for n, shape in names for e in range(experts)]
    else:
        more = [(f"ffn_{n}_exps.weight", (*shape, experts), kind) for n, shape in names]
    return block(i, d, 32, kv_heads, 128, 0, kind=kind, more=router + more)


@pytest.mark.parametrize("split", [False, True])
def test_mixtral_is_a_llama_with_experts(read, split):
    """46,702,792,704 parameters, 12.9 billion of them active (arXiv 2401.04088); old files hold an expert a tensor."""
    layers = [moe_block(i, 4096, 8, 8, 14336, split=split) for i in range(32)]
    stated = heads("llama", 32, 8, expert_count=8, expert_used_count=2)
    metadata, tensors = model("llama", layers, 4096, 32000, stated, table=Q4_K)
    found = read(metadata, tensors)
    assert Study(model=found).value("params") == found.published_params == 46_702_792_704
    assert resident(found) == bytes_of(tensors)
    assert found.layers[0].ffn.n_experts == 8
    assert found.quantization.widths["router"].value == 4


def layer(i, rows):
    """The tensors of a layer: name, shape and type of each in a line."""
    return [
        (f"blk.{i}.{name}", tuple(map(int, shape.split("x"))), KINDS[kind])
        for name, shape, kind in table(rows)
    ]


KINDS = {"f32": F32, "f16": F16, "q4_0": Q4_0, "q8_0": Q8_0, "q4_k": Q4_K, "q6_k": Q6_K}
DEEPSEEK2 = """
attn_norm.weight | 2048 | f32
ffn_norm.weight | 2048 | f32
attn_kv_a_norm.weight | 512 | f32
attn_q.weight | 2048x3072 | q4_k
attn_kv_a_mqa.weight | 2048x576 | q8_0
attn_kv_b.weight | 512x4096 | q4_k
attn_output.weight | 2048x2048 | q4_k
"""
DENSE = """
ffn_gate.weight | 2048x10944 | q4_0
ffn_up.weight | 2048x10944 | q4_0
ffn_down.weight | 10944x2048 | q8_0
"""
SPARSE = """
ffn_gate_inp.weight | 2048x64 | f32
ffn_gate_exps.weight | 2048x1408x64 | q4_k
ffn_up_exps.weight | 2048x1408x64 | q4_k
ffn_down_exps.weight | 1408x2048x64 | q8_0
ffn_gate_shexp.weight | 2048x2816 | q4_k
ffn_up_shexp.weight | 2048x2816 | q4_k
ffn_down_shexp.weight | 2816x2048 | q6_k
"""
MAMBA = """
attn_norm.weight | 768 | f32
ssm_in.weight | 768x3072 | f16
ssm_conv1d.weight | 4x1536 | f32
ssm_x.weight | 1536x80 | f32
ssm_dt.weight | 48x1536 | f32
ssm_out.weight | 1536x768 | f16
ssm_a | 16x1536 | f32
ssm_d | 1536 | f32
ssm_conv1d.bias | 1536 | f32
ssm_dt.bias | 1536 | f32
"""


def test_deepseek2_has_latent_attention_shared_experts_and_a_dense_layer(read):
    """DeepSeek-V2-Lite: 15,706,484,224 parameters (model.safetensors.index.json: total_size 31412968448 at 2 bytes)."""
    layers = [layer(i, DEEPSEEK2 + (SPARSE if i else DENSE)) for i in range(27)]
    stated = heads("deepseek2", 16, 16, expert_used_count=6, expert_shared_count=2)
    metadata, tensors = model("deepseek2", layers, 2048, 102400, stated, table=Q4_K)
    found = read(metadata, tensors)
    assert Study(model=found).value("params") == found.published_params == 31_412_968_448 // 2
    assert resident(found) == bytes_of(tensors)
    assert Study(model=found).value("kv_bytes_per_token") == 27 * (512 + 64) * 2
    assert [kind.count for kind in found.layers] == [1, 26]
    assert (found.order, found.sequence()[:3]) == ((), ("dense", "moe", "moe"))
    # of config.json: 2 shared experts of 1,408; 2,816 is no multiple of 3
    for stated_count, counted in ((2, (2, 1408)), (3, (1, 2816)), (0, (1, 2816))):
        again = read(metadata | {"deepseek2.expert_shared_count": stated_count}, tensors)
        assert (again.layers[1].ffn.n_shared_experts, again.layers[1].ffn.d_shared) == counted


def test_mamba_has_a_state_and_no_cache(read):
    """state-spaces/mamba-130m: 129,135,360 parameters, tied."""
    layers = [layer(i, MAMBA) for i in range(24)]
    metadata, tensors = model("mamba", layers, 768, 50280, head=None, table=F16)
    found = read(metadata, tensors)
    assert Study(model=found).value("params") == found.published_params == 129_135_360
    assert resident(found) == bytes_of(tensors)
    assert Study(model=found).value("kv_bytes_per_token") == 0


def test_what_no_operator_has_is_told(read):
    more = [("attn_something.weight", (64, 64), F16)]
    layers = [block(i, 64, 4, 2, 16, 96, more=more) for i in range(2)]
    found = read(*model("llama", layers, 64, 320, heads("llama", 4, 2)))
    (note,) = [note for note in found.notes if "operator" in note]
    assert "2 tensors with 16,384 byte" in note
    assert "blk.0.attn_something.weight" in note


def test_a_file_in_parts_is_read_whole(tmp_path):
    metadata, tensors = q4_k_m(32000, 32, 11008)
    paths = [tmp_path / f"some-0000{i}-of-00002.gguf" for i in (1, 2)]
    paths[0].write_bytes(gguf(metadata | {"split.count": 2, "split.no": 0}, tensors[:100]))
    paths[1].write_bytes(gguf({"split.count": 2, "split.no": 1}, tensors[100:]))
    assert resident(read_gguf(paths[0])[0]) == bytes_of(tensors)
    assert resident(read_gguf(paths[1])[0]) == bytes_of(tensors)
    paths[1].write_bytes(gguf({"split.count": 2, "split.no": 1}, tensors[99:]))
    with pytest.raises(InputError, match="duplicate tensor: another part has it too"):
        read_gguf(paths[0])
    paths[1].write_bytes(gguf({"split.count": 2, "split.no": 1}, tensors[100:]))
    paths[1].unlink()
    with pytest.raises(InputError) as error:
        read_gguf(paths[0])
    assert "some-00002-of-00002.gguf: cannot be read" in str(error.value)


# ----------------------------------------------------------------------------------------------------------- what is wrong

SMALL = model("llama", [block(0, 64, 4, 2, 16, 96)], 64, 320, heads("llama", 4, 2))


def header(keys=0, tensors=0, version=3, raw=b""):
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + raw


def small(metadata=None, without=()):
    found = {key: v for key, v in (SMALL[0] | (metadata or {})).items() if key not in without}
    return gguf(found, [t for t in SMALL[1] if t[0] not in without])


def key(name, found):
    return text(name) + found


def array(kind, length, raw=b""):
    return struct.pack("<IIQ", 9, kind, length) + raw


def tensor(name, dimensions, shape, kind=0):
    return (
        text(name)
        + struct.pack(f"<I{len(shape)}Q", dimensions, *shape)
        + struct.pack("<IQ", kind, 0)
    )


SCALARS = [(0, "<B", 200), (1, "<b", -100), (2, "<H", 60_000), (3, "<h", -30_000)]
SCALARS += [(4, "<I", 4 * 10**9), (5, "<i", -2 * 10**9), (6, "<f", 0.5), (7, "<?", True)]
SCALARS += [(10, "<Q", 10**19), (11, "<q", -(9 * 10**18)), (12, "<d", 0.1)]
"""Types of values by their numbers in docs/gguf.md, each with one that the next smaller type and the other sign do not hold."""


def test_values_of_every_type_alone_and_in_a_list(tmp_path):
    """What follows each is read as well: no type takes more or fewer bytes."""
    raw = b"".join(
        text(f"one {n}") + struct.pack("<I", n) + struct.pack(form, found)
        for n, form, found in SCALARS
    )
    raw += b"".join(
        text(f"list {n}") + array(n, 3, 3 * struct.pack(form, found)) for n, form, found in SCALARS
    )
    (tmp_path / "x.gguf").write_bytes(header(2 * len(SCALARS), 0, raw=raw))
    found = read_header(tmp_path / "x.gguf")
    assert found.metadata == {f"one {n}": v for n, _, v in SCALARS} | {
        f"list {n}": 3 * [v] for n, _, v in SCALARS
    }
    assert all(type(found.metadata[f"one {n}"]) is type(v) for n, _, v in SCALARS)


HOSTILE = [
    (b"", "magic: the file ends here"),
    (b"GGML" + bytes(100), "magic: is not a GGUF file"),
    (b"GGUF" + struct.pack("<III", 1, 0, 0), "version: is version 1"),
    (b"GGUF" + struct.pack(">IQQ", 3, 1, 1), "version: is big-endian"),
    (header(version=9), "version: is 9; 2 and 3 are read"),
    (gguf(*SMALL)[:-9], "the file ends here"),
    (header(tensors=2**63), "tensor_count: is 9,223,372,036,854,775,808"),
    (header(1, raw=key("a", struct.pack("<IQ", 8, 2**60))), "a: goes beyond the 64 MiB"),
    (header(1, raw=key("a", array(9, 1, array(9, 1)))), "a: is an array of arrays"),
    (header(1, raw=key("a", struct.pack("<I", 77))), "a: has a value of type 77"),
    (header(2, raw=2 * key("a.b", value(1))), "metadata[1]: duplicate key 'a.b'"),
    (header(1, raw=key(b"\xff\xfe", value(1))), "metadata[0]: is not UTF-8"),
    (header(0, 1, raw=tensor("t", 0, ())), "t: has 0 dimensions"),
    (header(0, 1, raw=tensor("t", 4, (2**63,) * 4)), "elements; 1 to"),
    (header(0, 1, raw=tensor("t", 1, (4,), 999)), "t: has a type of number 999"),
    (header(0, 1, raw=tensor("t", 1, (4,), 4)), "t: has a type of number 4"),
    (header(0, 1, raw=tensor("t", 1, (33,), Q4_0)), "t: has rows of 33 weights, no multiple of"),
    (header(0, 2, raw=2 * tensor("t", 1, (4,))), "t: duplicate tensor"),
    (small({"general.architecture": "llamma"}), "no architecture 'llamma' is known"),
    (small(without=("token_embd.weight",)), "token_embd.weight: is missing"),
    (small({"llama.block_count": "1"}), "llama.block_count: expected a whole number"),
    (small(without=("llama.attention.head_count",)), "llama.attention.head_count: is missing"),
    (small({"llama.attention.head_count": 7}), "blk.0.attn_q.weight: its extent of 64 cannot be"),
    (small({"split.count": 10**6}), "split.count: is one of 1,000,000 parts"),
]


@pytest.mark.sample(20)
@pytest.mark.parametrize(("raw", "said"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_broken_header_is_an_error_with_its_place(tmp_path, raw, said):
    path = tmp_path / "broken.gguf"
    path.write_bytes(raw)
    started = time.process_time()
    with pytest.raises(InputError) as error:
        read_gguf(path)
    assert time.process_time() - started < 10
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_bytes_changed_at_random_never_crash(tmp_path):
    """A header cut short, or with some bytes changed or missing, is a model or bad input, nothing else."""
    chance = random.Random(5)
    whole, path = gguf(*SMALL), tmp_path / "changed.gguf"
    read = 0
    for _ in range(800):
        raw = bytearray(whole[: chance.choice((len(whole), chance.randrange(len(whole))))])
        for _ in range(min(chance.randint(1, 3), len(raw))):
            at = chance.randrange(len(raw))
            if chance.random() < 0.3:
                del raw[at]
            else:
                raw[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        path.write_bytes(raw)
        try:
            read_gguf(path)
            read += 1
        except InputError:
            pass
    assert 0 < read < 800
