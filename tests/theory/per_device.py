"""What each device of an instance holds, reads and multiplies, with everything handed out one by one in plain loops.

Written from the definitions of what is counted, not from the engine, and without any of its code: numbers are integers and
fractions, and the only arithmetic is that of one device. ``deploy`` builds the devices; a ``Device`` answers for itself. What
a part holds, reads and multiplies stands in :mod:`device_parts`.

How the definitions are read where they leave something open:

1.  Heads are dealt as an engine would: each key-value head to its device, or a copy to each of its devices, and its query
    heads one by one among these. The fullest device then has ceil(H/tp) query heads and ceil(H_kv/tp) key-value heads.
    State-space groups and the key heads of linear attention go like key-value heads, refusals included; the heads of a
    state and the value heads go like query heads. Channels without heads (Mamba) are cut evenly.
2.  Learned vectors of heads or channels that are no norm (decays, skips, step biases, sinks, biases of a convolution, query,
    key and value biases) go with their heads. Norms are copied whole, those as wide as all heads too. The bias of an
    output or a down projection is copied.
3.  The gate of a shared expert is a router: copied. A router's bias too. Everything of routed experts is spread evenly,
    biases included, whether experts stand whole or are cut, so ``ep`` changes nothing here.
4.  A fused product counts once: its input is read once. Without a query latent the latent attention has one product that
    makes queries (of a device's heads) and the latent (copied); with one, both down projections are one copied product.
5.  Absorbed latent attention decodes with queries of the latent's width: each head's query goes into the latent
    (qk_nope_dim to kv_lora_rank) and its result comes out (kv_lora_rank to value_dim), with these inputs and outputs as
    activations. In a prefill keys and values of the past and of the new tokens are expanded by one product: it reads the cache,
    and what it writes the core reads again.
6.  Of a state-space layer, the products write and read activations (in, x, step size, out); the convolution and the
    recurrence between them are fused. The taps of the convolution are streamed weights; decays and biases are not. A state is read
    and written once a pass, of a prefill too. It has 32 bits an element; that of linear attention and the last inputs of a
    convolution have the activations' width.
7.  Requests are dealt to the groups one by one, so the first group has ceil(B/attention_dp). Experts see the tokens of
    all groups: B in a decode step, not attention_dp * ceil(B/attention_dp).
8.  With pp > 1 a decode pass of a stage is that of one group of ceil(B/pp) requests, again dealt over attention_dp. A step is pp passes. A prefill pass is of one request of each
    attention_dp group; ceil(prefill_batch/attention_dp) + pp - 1 passes follow each other. With pp = 1 all is one pass.
9.  The cache in memory is that of all requests on every stage, for the stage's own layers.
10. A tied table is the head: with pp = 1 it stands once and is read whole; with pp > 1 the first stage holds it to gather.
11. Concurrency is attention_dp times the requests of one group that the first full device takes; on stages, all stand on each.
12. Where there are so many stages that the last ones have no layer, the last still has final norm and head.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property

from .device_parts import (
    Cached,
    Convolution,
    Core,
    Expansion,
    ExpertPool,
    Experts,
    FeedForward,
    Grouped,
    Latent,
    LinearAttention,
    Mamba,
    Mamba2,
    Pass,
    Product,
    Recurrence,
    State,
    Vector,
)

# -------------------------------------------------------------------------------------------------------------- dealing


def deal(count, places):
    """``count`` things, one by one, to so many places: how many each has."""
    had = [0] * places
    for thing in range(count):
        had[thing % places] += 1
    return had


@cache
def deal_heads(n_heads, n_groups, tp):
    """``(heads, groups)`` of each of ``tp`` devices, where a device with a head needs the group that the head belongs to.

    >>> deal_heads(28, 4, 8)  # each key-value head twice, its seven query heads as four and three
    [(4, 1), (3, 1), (4, 1), (3, 1), (4, 1), (3, 1), (4, 1), (3, 1)]
    """
    if tp % n_groups and n_groups % tp:
        raise ValueError(
            f"{tp} devices neither divide {n_groups} key-value heads nor are a multiple of them"
        )
    heads, groups = [0] * tp, [0] * tp
    for group in range(n_groups):
        holders = [
            rank
            for rank in range(tp)
            if rank == group * tp // n_groups or rank * n_groups // tp == group
        ]
        for rank in holders:
            groups[rank] += 1
        for head in range(n_heads // n_groups):
            heads[holders[head % len(holders)]] += 1
    return list(zip(heads, groups, strict=True))


def stages(layers, pp):
    """Runs of consecutive layers, each as long as the first; the last may be shorter, or empty."""
    length = -(-len(layers) // pp)
    return [layers[length * stage : length * (stage + 1)] for stage in range(pp)]


# -------------------------------------------------------------------------------------------------------------- devices


@dataclass
class Device:
    """One device: ``parts`` are weights and the work with them, ``caches`` and ``states`` are of one request."""

    stage: int
    group: int
    rank: int
    parts: list = field(default_factory=list)
    caches: list = field(default_factory=list)
    states: list = field(default_factory=list)

    def held(self, widths, requests=0, context=0):
        """``(name, elements, bytes of each)`` of everything on the device."""
        held = [(part.name, part.elements, widths.weight) for part in self.parts]
        held += [
            (cached.name, requests * cached.tokens_held(context) * cached.elements, widths.cache)
            for cached in self.caches
        ]
        return held + [
            (state.name, requests * state.elements, state.width) for state in self.states
        ]

    @cached_property
    def alike(self):
        """Each part once, with how many of it there are: the same sum, sooner. Asked for once everything is placed."""
        return Counter(self.parts).items()

    def weight_bytes(self, widths):
        return sum(many * part.elements for part, many in self.alike) * widths.weight

    def cache_bytes(self, widths, requests, context):
        return sum(
            requests * cached.tokens_held(context) * cached.elements * widths.cache
            for cached in self.caches
        )

    def state_bytes(self, requests):
        return sum(requests * state.elements * state.width for state in self.states)

    def flops(self, step):
        return sum(many * part.flops(step) for part, many in self.alike)

    def bytes_read(self, step, widths):
        """Weights streamed, inputs and outputs, past cache read and new written, states read and written."""
        weights = sum(many * part.streamed(step) for part, many in self.alike) * widths.weight
        activations = sum(many * part.moved(step) for part, many in self.alike) * widths.activation
        cached = (
            sum(
                step.requests * cached.tokens_moved(step) * cached.elements
                for cached in self.caches
            )
            * widths.cache
        )
        return weights + activations + cached + 2 * self.state_bytes(step.requests)


def place_mixer(device, mixer, d_model, tp, widths):
    if isinstance(mixer, Grouped):
        _grouped(device, mixer, d_model, tp)
    elif isinstance(mixer, Latent):
        _latent(device, mixer, d_model, tp)
    elif isinstance(mixer, Mamba):
        _mamba(device, mixer, d_model, tp, widths)
    elif isinstance(mixer, Mamba2):
        _mamba2(device, mixer, d_model, tp, widths)
    elif isinstance(mixer, LinearAttention):
        _linear(device, mixer, d_model, tp, widths)
    elif mixer is not None:
        raise TypeError(f"no rule for {mixer}")


def _grouped(device, a, d_model, tp):
    heads, kv_heads = deal_heads(a.n_heads, a.n_kv_heads, tp)[device.rank]
    key, value = a.head_dim, a.value_dim or a.head_dim
    made = heads * key + kv_heads * (key + value) + (heads * value if a.out_gate else 0)
    device.parts += [
        Product("qkv", d_model, made),
        Core("attention", heads, key, value, a.window),
        Product("attention_out", heads * value, d_model),
    ]
    norm = {None: 0, "head": 2 * key, "full": (a.n_heads + a.n_kv_heads) * key}[a.qk_norm]
    vectors = {
        "qkv bias": made if a.qkv_bias else 0,
        "attention_out bias": d_model if a.out_bias else 0,
    }
    vectors |= {"sinks": heads if a.sinks else 0, "qk norms": norm}
    device.parts += [Vector(name, elements) for name, elements in vectors.items() if elements]
    device.caches.append(Cached("keys and values", kv_heads * (key + value), a.window))


def _latent(device, a, d_model, tp):
    heads = deal(a.n_heads, tp)[device.rank]
    query, latent = a.qk_nope_dim + a.qk_rope_dim, a.kv_lora_rank + a.qk_rope_dim
    if a.q_lora_rank is None:
        device.parts.append(Product("queries and latent", d_model, heads * query + latent))
    else:
        device.parts += [
            Product("qkv_down", d_model, a.q_lora_rank + latent),
            Vector("query latent norm", a.q_lora_rank),
            Product("q_up", a.q_lora_rank, heads * query),
        ]
    device.parts += [
        Vector("latent norm", a.kv_lora_rank),
        Expansion("kv_up", heads, a.kv_lora_rank, a.qk_nope_dim, a.value_dim),
        Core("attention", heads, query, a.value_dim, absorbed=(latent, a.kv_lora_rank)),
        Product("attention_out", heads * a.value_dim, d_model),
    ]
    device.caches.append(Cached("latent", latent))


def _mamba(device, m, d_model, tp, widths):
    channels = Fraction(m.d_inner, tp)
    small = m.dt_rank + 2 * m.d_state
    device.parts += [
        Product("ssm_in", d_model, 2 * channels),
        Convolution("conv", channels, m.d_conv),
        Vector("conv bias", channels if m.conv_bias else 0),
        Product("ssm_x", channels, small),
        Vector("mixer norms", small if m.mixer_norm else 0),
        Product("ssm_dt", m.dt_rank, channels),
        Vector("step bias", channels),
        Vector("decays", channels * m.d_state),
        Vector("skips", channels),
        Recurrence("scan", channels * m.d_state, 2),
        Product("ssm_out", channels, d_model),
    ]
    device.states += [
        State("conv state", channels * m.d_conv, widths.activation),
        State("state", channels * m.d_state, widths.state),
    ]


def _mamba2(device, m, d_model, tp, widths):
    heads, groups = deal_heads(m.ssm_heads, m.ssm_groups, tp)[device.rank]
    own = heads * Fraction(m.d_inner, m.ssm_heads)
    channels = own + 2 * groups * m.d_state
    device.parts += [
        Product("ssm_in", d_model, own + channels + heads),
        Convolution("conv", channels, m.d_conv),
        Vector("conv bias", channels if m.conv_bias else 0),
        Vector("decays, skips and step biases", 3 * heads),
        Vector("mixer norm", m.d_inner if m.mixer_norm else 0),
        Recurrence("scan", own * m.d_state, 2),
        Product("ssm_out", own, d_model),
    ]
    device.states += [
        State("conv state", channels * m.d_conv, widths.activation),
        State("state", own * m.d_state, widths.state),
    ]


def _linear(device, a, d_model, tp, widths):
    value_heads, key_heads = deal_heads(a.value_heads, a.key_heads, tp)[device.rank]
    keys, values, state = (
        key_heads * a.key_dim,
        value_heads * a.value_dim,
        value_heads * a.key_dim * a.value_dim,
    )
    delta = a.d_conv is not None
    device.parts += [
        Product("ssm_in", d_model, 2 * keys + 2 * values + (2 * value_heads if delta else 0)),
        Vector("norm", a.value_dim if delta else a.value_heads * a.value_dim),
        Recurrence("scan", state, 3 if delta else 2),
        Product("ssm_out", values, d_model),
    ]
    if delta:
        channels = 2 * keys + values
        device.parts += [
            Convolution("conv", channels, a.d_conv),
            Vector("decays and step biases", 2 * value_heads),
        ]
        device.states.append(State("conv state", channels * a.d_conv, widths.activation))
    device.states.append(State("state", state, widths.state if delta else widths.activation))


def place_feed_forward(device, ffn, d_model, layout):
    if isinstance(ffn, FeedForward):
        _dense(device, "", d_model, ffn.d_ff, ffn.gated, ffn.bias, layout.tp)
    elif isinstance(ffn, Experts):
        device.parts += [
            Product("router", d_model, ffn.n_experts),
            Vector("router bias", ffn.n_experts if ffn.router_bias else 0),
            ExpertPool("experts", ffn, d_model, Fraction(1, layout.tp * layout.attention_dp)),
        ]
        if ffn.d_shared:
            _dense(device, "shared ", d_model, ffn.d_shared, ffn.gated, False, layout.tp)
        if ffn.shared_gate:
            device.parts.append(Product("shared gate", d_model, 1))
    elif ffn is not None:
        raise TypeError(f"no rule for {ffn}")


def _dense(device, which, d_model, width, gated, bias, tp):
    own = Fraction(width, tp)
    made = 2 * own if gated else own
    device.parts += [Product(f"{which}up", d_model, made), Product(f"{which}down", own, d_model)]
    if bias:
        device.parts += [Vector(f"{which}up bias", made), Vector(f"{which}down bias", d_model)]


def place_layer(device, layer, d_model, layout, widths):
    for _ in range(layer.norms):
        device.parts.append(Vector("norm", d_model))
    place_mixer(device, layer.mixer, d_model, layout.tp, widths)
    place_feed_forward(device, layer.ffn, d_model, layout)


def instance(model, layout, widths):
    """Every device of one instance, with what it holds."""
    devices = []
    own_vocabulary = Fraction(model.vocab_size, layout.tp)
    for stage, layers in enumerate(stages(model.layers, layout.pp)):
        first, last = stage == 0, stage == layout.pp - 1
        for group in range(layout.attention_dp):
            for rank in range(layout.tp):
                device = Device(stage, group, rank)
                if first and not (model.tied and last):
                    device.parts.append(Vector("embedding", own_vocabulary * model.d_model))
                for layer in layers:
                    place_layer(device, layer, model.d_model, layout, widths)
                if last:
                    device.parts.append(Vector("final norm", model.d_model))
                    device.parts.append(
                        Product("lm_head", model.d_model, own_vocabulary, per_request=True)
                    )
                devices.append(device)
    return devices


# --------------------------------------------------------------------------------------------------------------- counting


@dataclass(frozen=True)
class Count:
    """What one device holds at ``context`` (``total`` at ``peak_context``), and what it reads and multiplies in a pass."""

    stage: int
    group: int
    rank: int
    weights: Fraction
    cache: Fraction
    state: Fraction
    total: Fraction
    request: Fraction
    decode_bytes: Fraction
    decode_flops: Fraction
    prefill_bytes: Fraction
    prefill_flops: Fraction


def decode_pass(work, layout, group):
    """One step of the requests that are on a stage together."""
    together = deal(work.batch, layout.pp)[0]
    return Pass(
        deal(together, layout.attention_dp)[group], 1, work.context - 1, together, decode=True
    )


def prefill_pass(work, layout, group):
    together = (
        work.prefill_batch if layout.pp == 1 else min(work.prefill_batch, layout.attention_dp)
    )
    new = work.prompt - work.cached_prefix
    return Pass(
        deal(together, layout.attention_dp)[group],
        new,
        work.cached_prefix,
        together * new,
        decode=False,
    )


def prefill_passes(work, layout):
    """Passes of the slowest stage that a prefill takes."""
    return 1 if layout.pp == 1 else deal(work.prefill_batch, layout.attention_dp)[0] + layout.pp - 1


@cache
def deploy(model, layout, widths, work):
    """A ``Count`` for each device of the instance."""
    return [_count(device, layout, widths, work) for device in instance(model, layout, widths)]


def _count(device, layout, widths, work):
    requests = deal(work.batch, layout.attention_dp)[device.group]
    decode, prefill = (step(work, layout, device.group) for step in (decode_pass, prefill_pass))
    weights, state = device.weight_bytes(widths), device.state_bytes(requests)
    request = device.cache_bytes(widths, 1, work.peak_context) + device.state_bytes(1)
    return Count(
        stage=device.stage,
        group=device.group,
        rank=device.rank,
        weights=weights,
        cache=device.cache_bytes(widths, requests, work.context),
        state=state,
        total=weights + requests * request,
        request=request,
        decode_bytes=device.bytes_read(decode, widths),
        decode_flops=device.flops(decode),
        prefill_bytes=device.bytes_read(prefill, widths),
        prefill_flops=device.flops(prefill),
    )


def fullest(counts):
    """The device with the largest total; of several the first."""
    return max(counts, key=lambda count: count.total)


def concurrency(model, layout, widths, work, memory):
    """Requests at ``peak_context`` that the instance takes before its first device is full: one more for each group at a time."""
    one = replace(work, batch=layout.attention_dp)
    room = [(memory - count.weights, count.request) for count in deploy(model, layout, widths, one)]
    if any(free < 0 for free, _ in room):
        return 0
    return layout.attention_dp * min(free // request for free, request in room if request)
