"""The few functions of PyTorch that the probe uses, over NumPy: tensors, attention, and a device that notes when it is waited for."""

import math
from types import SimpleNamespace

import numpy as np

SEED = 7


class Tensor(np.ndarray):
    """An array with the methods that PyTorch has under other names or with other arguments."""

    def transpose(self, one, other):
        return self.swapaxes(one, other)

    def unflatten(self, axis, sizes):
        axis %= self.ndim
        assert min(sizes) >= -1, "PyTorch refuses other negative sizes, NumPy does not"
        return self.reshape(*self.shape[:axis], *sizes, *self.shape[axis + 1 :])

    def flatten(self, first):
        return self.reshape(*self.shape[:first], -1)

    def split(self, sizes, axis):
        return np.split(self, np.cumsum(sizes)[:-1], axis)

    def chunk(self, parts, axis):
        return np.split(self, parts, axis)

    def cos(self):
        return np.cos(self)

    def sin(self):
        return np.sin(self)

    def copy_(self, other):
        self[...] = other
        return self


def tensor(values):
    return np.asarray(values, dtype=float).view(Tensor)


def rms_norm(x, shape, weight):
    assert x.shape[-1:] == tuple(shape)
    return x / np.sqrt((x * x).mean(-1, keepdims=True)) * weight


def attention(query, key, value, attn_mask=None, is_causal=False, enable_gqa=False):
    """Softmax of scaled products, by groups of heads where there are fewer keys; causal alignment is that of PyTorch, at the upper left."""
    assert enable_gqa or query.shape[1] == key.shape[1], (
        "PyTorch refuses fewer heads of keys without enable_gqa"
    )
    key, value = (np.repeat(x, query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    seen = (
        np.tril(np.ones(scores.shape[-2:], bool))
        if is_causal
        else np.ones(scores.shape[-2:], bool)
        if attn_mask is None
        else attn_mask
    )
    weights = np.where(seen, np.exp(scores - scores.max(-1, keepdims=True)), 0.0).view(Tensor)
    return weights / weights.sum(-1, keepdims=True) @ value


class Device:
    """A device under its name: whether there is one, and how often it was waited for."""

    def __init__(self, there, free=0):
        self.there, self.free, self.waits = there, free, 0

    def is_available(self):
        return self.there

    def synchronize(self):
        self.waits += 1

    def mem_get_info(self):
        return self.free, 10 * self.free

    def get_device_name(self):
        return "a fast device"


def made(cuda=False, mps=False, free=0):
    """A module like ``torch``, of its own random numbers; ``sizes`` lists what was drawn, with its keywords."""
    numbers, sizes = np.random.default_rng(SEED), []

    def randn(*size, **kind):
        size = size[0] if isinstance(size[0], tuple) else size
        sizes.append((size, kind))
        return numbers.standard_normal(size).view(Tensor)

    def silu(x):
        return x / (1 + np.exp(-x))

    def gelu(x):
        return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2

    functional = SimpleNamespace(
        rms_norm=rms_norm, silu=silu, gelu=gelu, scaled_dot_product_attention=attention
    )
    return SimpleNamespace(
        nn=SimpleNamespace(functional=functional),
        randn=randn,
        sizes=sizes,
        ones=lambda size, **kind: tensor(np.ones(size)),
        arange=lambda *ends, **kind: tensor(np.arange(*ends)),
        linspace=lambda first, last, count, **kind: tensor(np.linspace(first, last, count)),
        outer=lambda a, b: tensor(np.outer(a, b)),
        cat=lambda parts, axis: np.concatenate(parts, axis).view(Tensor),
        matmul=np.matmul,
        empty_like=np.empty_like,
        get_num_threads=lambda: 3,
        float32=SimpleNamespace(itemsize=4),
        float16=SimpleNamespace(itemsize=2),
        bfloat16=SimpleNamespace(itemsize=2),
        cuda=Device(cuda, free),
        mps=Device(mps),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
    )
