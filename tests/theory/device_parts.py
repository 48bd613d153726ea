"""What a model is made of, and what each part of it holds, reads and multiplies on one device.

The other half of :mod:`per_device`, which hands the parts out and says how the definitions are read: the numbers in its text
are the ones meant here. Nothing is the engine's.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

# ---------------------------------------------------------------------------------------------------- the model, described


@dataclass(frozen=True)
class Grouped:
    """Grouped-query attention; ``qk_norm`` is None, ``head`` (one vector of a head's width each) or ``full``."""

    n_heads: int
    n_kv_heads: int
    head_dim: int
    value_dim: int | None = None
    window: int | None = None
    qk_norm: str | None = None
    qkv_bias: bool = False
    out_bias: bool = False
    sinks: bool = False
    out_gate: bool = False


@dataclass(frozen=True)
class Latent:
    n_heads: int
    kv_lora_rank: int
    qk_nope_dim: int
    qk_rope_dim: int
    value_dim: int
    q_lora_rank: int | None = None


@dataclass(frozen=True)
class Mamba:
    d_inner: int
    d_state: int
    d_conv: int
    dt_rank: int
    conv_bias: bool = True
    mixer_norm: bool = False


@dataclass(frozen=True)
class Mamba2:
    d_inner: int
    d_state: int
    d_conv: int
    ssm_heads: int
    ssm_groups: int
    conv_bias: bool = True
    mixer_norm: bool = True


@dataclass(frozen=True)
class LinearAttention:
    """With ``d_conv`` the gated delta rule, whose decay and step are made for each value head; without it a fixed decay."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    d_conv: int | None = None


@dataclass(frozen=True)
class FeedForward:
    d_ff: int
    gated: bool = True
    bias: bool = False


@dataclass(frozen=True)
class Experts:
    """``d_shared`` is the width of all shared experts together, 0 where there are none."""

    n_experts: int
    per_token: int
    d_expert: int
    d_shared: int = 0
    gated: bool = True
    bias: bool = False
    router_bias: bool = False
    shared_gate: bool = False


@dataclass(frozen=True)
class Layer:
    mixer: object = None
    ffn: object = None
    norms: int = 2


@dataclass(frozen=True)
class Model:
    """Layers in their order; every norm is one vector of the residual's width."""

    d_model: int
    vocab_size: int
    layers: tuple
    tied: bool = False


@dataclass(frozen=True)
class Layout:
    """Parallel degrees of one instance."""

    tp: int = 1
    pp: int = 1
    attention_dp: int = 1

    @property
    def devices(self):
        return self.tp * self.pp * self.attention_dp


@dataclass(frozen=True)
class Widths:
    """Bytes of an element."""

    weight: Fraction = Fraction(2)
    cache: Fraction = Fraction(2)
    activation: Fraction = Fraction(2)
    state: Fraction = Fraction(4)


@dataclass(frozen=True)
class Workload:
    """``context`` is the decode step's; ``peak_context`` what memory has to hold."""

    batch: int = 1
    context: int = 1
    prefill_batch: int = 1
    prompt: int = 1
    cached_prefix: int = 0
    peak_context: int = 1


@dataclass(frozen=True)
class Pass:
    """One pass of one device: requests of its own group, and the tokens of all groups, which the experts see."""

    requests: int
    new: int
    past: int
    instance_tokens: int
    decode: bool

    @property
    def tokens(self):
        return self.requests * self.new


# ------------------------------------------------------------------------------------------------ what stands on a device


@dataclass(frozen=True)
class Vector:
    """Elements that are held and neither streamed nor multiplied: norms, biases, a table that is gathered from."""

    name: str
    elements: Fraction

    def streamed(self, step):
        return 0

    flops = moved = streamed


@dataclass(frozen=True)
class Product:
    """A matrix product, in this device's own inputs and outputs."""

    name: str
    inner: Fraction
    outer: Fraction
    per_request: bool = False

    @property
    def elements(self):
        return self.inner * self.outer

    def rows(self, step):
        return step.requests if self.per_request else step.tokens

    def streamed(self, step):
        return self.elements

    def flops(self, step):
        return 2 * self.rows(step) * self.inner * self.outer

    def moved(self, step):
        return self.rows(step) * (self.inner + self.outer)


@dataclass(frozen=True)
class Expansion:
    """From the latent to keys and values of this device's heads, or the same matrices absorbed by queries and results."""

    name: str
    heads: int
    latent: int
    key: int
    value: int

    @property
    def elements(self):
        return self.latent * self.heads * (self.key + self.value)

    def rows(self, step):
        return step.tokens if step.decode else step.requests * (step.past + step.new)

    def streamed(self, step):
        return self.elements

    def flops(self, step):
        return 2 * self.rows(step) * self.elements

    def moved(self, step):
        into, out = self.key + self.latent, self.latent + self.value
        return (
            step.tokens * self.heads * (into + out)
            if step.decode
            else self.rows(step) * 2 * self.heads * (self.key + self.value)
        )


@dataclass(frozen=True)
class Core:
    """Queries against keys, probabilities against values; ``absorbed`` are the widths of both in a decode step over a latent."""

    name: str
    heads: int
    query: int
    result: int
    window: int | None = None
    absorbed: tuple[int, int] | None = None
    elements = 0

    def width(self, step):
        query, result = (
            self.absorbed if self.absorbed and step.decode else (self.query, self.result)
        )
        return self.heads * (query + result)

    def streamed(self, step):
        return 0

    def flops(self, step):
        return 2 * step.requests * pairs(step.new, step.past, self.window) * self.width(step)

    def moved(self, step):
        return step.tokens * self.width(step)


@dataclass(frozen=True)
class Convolution:
    """One short filter for each channel."""

    name: str
    channels: Fraction
    taps: int

    @property
    def elements(self):
        return self.channels * self.taps

    def streamed(self, step):
        return self.elements

    def flops(self, step):
        return 2 * step.tokens * self.elements

    def moved(self, step):
        return 0


@dataclass(frozen=True)
class Recurrence:
    """A state of so many elements, each multiplied so many times for every token."""

    name: str
    state: Fraction
    times: int
    elements = 0

    def streamed(self, step):
        return 0

    def flops(self, step):
        return 2 * step.tokens * self.times * self.state

    def moved(self, step):
        return 0


@dataclass(frozen=True)
class ExpertPool:
    """This device's share of a layer's routed experts; ``read`` is how many of all experts a pass reads."""

    name: str
    experts: Experts
    d_model: int
    share: Fraction

    @property
    def matrices(self):
        """``(inputs, outputs)`` of one expert's products."""
        width = self.experts.d_expert
        return [(self.d_model, 2 * width if self.experts.gated else width), (width, self.d_model)]

    @property
    def elements(self):
        one = sum(
            inner * outer + (outer if self.experts.bias else 0) for inner, outer in self.matrices
        )
        return self.share * self.experts.n_experts * one

    def streamed(self, step):
        read = experts_read(self.experts.n_experts, self.experts.per_token, step.instance_tokens)
        return self.share * read * sum(inner * outer for inner, outer in self.matrices)

    def flops(self, step):
        return (
            self.share
            * step.instance_tokens
            * self.experts.per_token
            * sum(2 * inner * outer for inner, outer in self.matrices)
        )

    def moved(self, step):
        return (
            self.share
            * step.instance_tokens
            * self.experts.per_token
            * sum(inner + outer for inner, outer in self.matrices)
        )


@dataclass(frozen=True)
class Cached:
    """Keys and values, or the latent: elements of one token of one request."""

    name: str
    elements: int
    window: int | None = None

    def tokens_held(self, context):
        return context if self.window is None else min(context, self.window)

    def tokens_moved(self, step):
        """Of one request: the past that is still there is read, the new is written."""
        past = step.past if self.window is None else min(step.past, self.window - 1)
        return past + step.new


@dataclass(frozen=True)
class State:
    """What one request leaves behind whatever its length: elements, and bytes of each."""

    name: str
    elements: Fraction
    width: Fraction


@cache
def pairs(new, past, window):
    """Keys that each new query meets, query by query: its own included, the last ``window`` where there is one."""
    met = 0
    for query in range(new):
        keys = past + query + 1
        met += keys if window is None else min(keys, window)
    return met


@cache
def experts_read(n_experts, per_token, tokens):
    """Experts that at least one token is sent to, in the mean."""
    idle = Fraction(n_experts - per_token, n_experts) ** tokens
    return n_experts * (1 - idle)
