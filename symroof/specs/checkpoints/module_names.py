"""Which operators a list of module names means: ``modules_to_not_convert``, ``ignore``, ``exclude_modules`` and the like.

Such lists hold whole paths, parts of paths, globs and regular expressions from untrusted files. None of them is executed: each is turned
into a glob over the parts of the few module names that checkpoints use, and one that cannot be is reported, not guessed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

OPERATOR_MODULES: dict[str, tuple[str, ...]] = {
    "embedding": ("embed_tokens", "wte", "word_embeddings", "embed_in", "embeddings"),
    "lm_head": ("lm_head", "embed_out", "head"),
    "qkv": (
        "self_attn.q_proj self_attn.k_proj self_attn.v_proj",
        "self_attn.qkv_proj",
        "self_attn.W_pack",
        "self_attention.query_key_value",
        "attn.c_attn",
        "self_attn.q_proj self_attn.kv_a_proj_with_mqa",
        "mixer.q_proj mixer.k_proj mixer.v_proj",
    ),
    "qkv_down": (
        "self_attn.q_a_proj self_attn.kv_a_proj_with_mqa",
        "self_attn.fused_qkv_a_proj_with_mqa",
    ),
    "q_up": ("self_attn.q_b_proj",),
    "kv_up": ("self_attn.kv_b_proj",),
    "attention_out": (
        "self_attn.o_proj",
        "self_attn.dense",
        "self_attn.out_proj",
        "self_attention.dense",
        "attn.c_proj",
        "mixer.o_proj",
    ),
    "head_gate": ("self_attn.g_proj",),
    "gate_up": (
        "mlp.gate_proj mlp.up_proj",
        "mlp.gate_up_proj",
        "feed_forward.gate_proj feed_forward.up_proj",
        "feed_forward.w1 feed_forward.w3",
    ),
    "up": ("mlp.up_proj", "mlp.fc1", "mlp.c_fc", "mlp.dense_h_to_4h", "fc1", "mixer.up_proj"),
    "down": (
        "mlp.down_proj",
        "mlp.fc2",
        "mlp.c_proj",
        "mlp.dense_4h_to_h",
        "feed_forward.down_proj",
        "feed_forward.w2",
        "fc2",
        "mixer.down_proj",
    ),
    "router": (
        "mlp.gate",
        "mlp.router",
        "block_sparse_moe.gate",
        "feed_forward.router",
        "ffn.gate",
        "mixer.gate",
    ),
    "experts": (
        "mlp.experts.0.gate_proj mlp.experts.0.up_proj mlp.experts.0.down_proj",
        "mlp.experts.gate_up_proj mlp.experts.down_proj",
        "block_sparse_moe.experts.0.w1 block_sparse_moe.experts.0.w2 block_sparse_moe.experts.0.w3",
        "feed_forward.experts.0.gate_proj feed_forward.experts.0.up_proj feed_forward.experts.0.down_proj",
        "ffn.experts.0.w1 ffn.experts.0.w2 ffn.experts.0.w3",
        "mixer.experts.0.up_proj mixer.experts.0.down_proj",
    ),
    "shared_experts": (
        "mlp.shared_experts.gate_proj mlp.shared_experts.up_proj mlp.shared_experts.down_proj",
        "mlp.shared_expert.gate_proj mlp.shared_expert.up_proj mlp.shared_expert.down_proj",
        "feed_forward.shared_expert.gate_proj feed_forward.shared_expert.up_proj feed_forward.shared_expert.down_proj",
        "block_sparse_moe.shared_experts.gate_proj block_sparse_moe.shared_experts.up_proj block_sparse_moe.shared_experts.down_proj",
        "ffn.shared_experts.w1 ffn.shared_experts.w2 ffn.shared_experts.w3",
        "mixer.shared_experts.up_proj mixer.shared_experts.down_proj",
    ),
    "latent_down": ("mixer.fc1_latent_proj",),
    "latent_up": ("mixer.fc2_latent_proj",),
    "shared_gate": ("mlp.shared_expert_gate",),
    "ssm_in": (
        "linear_attn.in_proj_qkvz linear_attn.in_proj_ba",
        "linear_attn.in_proj_qkv linear_attn.in_proj_z",
        "mixer.in_proj",
        "mamba.in_proj",
    ),
    "ssm_x": ("mixer.x_proj", "mamba.x_proj"),
    "ssm_dt": ("mixer.dt_proj", "mamba.dt_proj"),
    "ssm_out": ("linear_attn.out_proj", "mixer.out_proj", "mamba.out_proj"),
}
"""The modules an operator is made of, under each set of names that model classes give them."""

OF_TYPE: dict[str, dict[str, tuple[str, ...]]] = {
    "gemma4_text": {
        "experts": (
            "experts.gate_up_proj experts.down_proj",
            "experts.0.gate_proj experts.0.up_proj experts.0.down_proj",
        ),
        "shared_experts": ("mlp.gate_proj mlp.up_proj mlp.down_proj",),
        "router": ("router.proj",),
    },
}
"""Operators whose modules one type names otherwise: Gemma 4 has its experts beside the feed-forward block, which serves every token."""

MODEL_PREFIXES = frozenset({"model", "transformer", "language_model", "gpt_neox", "backbone"})
LAYERS = frozenset({"layers", "h", "blocks", "block"})
LONGEST_PATTERN, MOST_GLOBS, MOST_LAYERS = 200, 64, 1000
REGEX = {".*": "*", ".+": "*", r"\d+": "*", r"[0-9]+": "*", r"\.": "."}
OTHER_PARTS = ("vision", "visual", "audio", "projector", "image", "mtp", "patch_merge")
"""Parts of a model other than the decoder: towers for other inputs, prediction heads."""
ALWAYS_WIDE = re.compile(
    r"norm|bias|rotary|embed|conv1d|eh_proj|shared_head|indexer|gate$|router|A_log|dt_proj|in_proj_[ab]$"
)
"""Modules that no method narrows, or that are no matrix of the decoder's layers: a list that names them says nothing new."""


@dataclass(frozen=True)
class NamedOperators:
    """Operators that a list names: wholly, in some layers only (which), and patterns that were not understood."""

    wholly: frozenset[str]
    partly: dict[str, frozenset[int]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def operators_named(patterns: Iterable[str], model_type: str = "") -> NamedOperators:
    """The operators that a list of module names and patterns means, in a model of a type.

    >>> sorted(operators_named(["lm_head", "re:.*mlp.gate$", "model.layers.*.self_attn"]).wholly)
    ['attention_out', 'head_gate', 'kv_up', 'lm_head', 'q_up', 'qkv', 'qkv_down', 'router']
    """
    modules = OPERATOR_MODULES | OF_TYPE.get(model_type, {})
    each = dict.fromkeys(
        module for spelled in modules.values() for names in spelled for module in names.split()
    )
    matched: dict[str, set[int | None]] = {}
    paths, unread = _paths(patterns)
    for (below, parts), (layers, written) in paths.items():
        found = [module for module in each if _matches(list(parts), module, below)]
        for module in found:
            matched.setdefault(module, set()).update(layers)
        if not found and not ALWAYS_WIDE.search(written.removesuffix(".weight").rstrip("*.")):
            unread.append(written[:60])
    named = {
        operator: layers
        for operator, spelled in modules.items()
        if (layers := _layers_of(spelled, matched))
    }
    wholly = frozenset(operator for operator, layers in named.items() if None in layers)
    partly = {
        operator: frozenset(n for n in layers if n is not None)
        for operator, layers in named.items()
        if operator not in wholly
    }
    return NamedOperators(wholly, partly, tuple(unread))


def _paths(
    patterns: Iterable[str],
) -> tuple[dict[tuple[bool, tuple[str, ...]], tuple[set[int | None], str]], list[str]]:
    """What a list names, each part of a layer once with its layers (None: all) and as it was first written; and what of it is no glob."""
    paths: dict[tuple[bool, tuple[str, ...]], tuple[set[int | None], str]] = {}
    unread = []
    for pattern in dict.fromkeys(patterns):
        if not pattern.strip() or any(word in pattern.lower() for word in OTHER_PARTS):
            continue
        globs = _globs(pattern)
        if globs is None:
            unread.append(pattern[:60])
        for glob in globs or ():
            below, layers, parts = _below_layer(glob.split("."))
            paths.setdefault((below, tuple(parts)), (set(), pattern))[0].update(layers)
    return paths, unread


def _layers_of(spelled: tuple[str, ...], matched: dict[str, set[int | None]]) -> set[int | None]:
    """The layers (None: all) in which every module of one set of names matches."""
    layers: set[int | None] = set()
    for names in spelled:
        each = [matched.get(module, set()) for module in names.split()]
        everywhere = [layers for layers in each if None in layers]
        rest = [layers for layers in each if None not in layers]
        layers |= set.intersection(*rest) if rest else {None} if everywhere else set()
    return layers


def _globs(pattern: str) -> list[str] | None:
    """A pattern as globs; None where it is a regular expression with more than wildcards and choices of words in it, or far too long."""
    text = pattern.strip()
    if len(text) > LONGEST_PATTERN:
        return None
    if text.startswith("re:") or "\\" in text:
        text = (
            text.removeprefix("re:")
            .removeprefix("^")
            .removesuffix("$")
            .replace("layers.*.", "layers.*")
        )
        text = re.sub(r"layers\.\*", "layers.[0-9]+.", text)
        text = re.sub(r"\.\*|\.\+|\\d\+|\[0-9\]\+|\\\.", lambda match: REGEX[match[0]], text)
    made = [text]
    while choice := re.search(r"\((?:\?:)?(\w+(?:\|\w+)+)\)", made[0]):
        made = [one.replace(choice[0], word) for one in made for word in choice[1].split("|")]
        if len(made) > MOST_GLOBS:
            return None
    made = [one.removesuffix(".weight").strip(".") for one in made]
    return made if all(one and re.fullmatch(r"[\w.*/-]+", one) for one in made) else None


def _below_layer(parts: list[str]) -> tuple[bool, set[int | None], list[str]]:
    """Whether parts of a path go through a layer, through which (None: any), and what follows; all experts are treated the same."""
    for i, part in enumerate(parts[:-1]):
        following = parts[i + 1]
        if part.rpartition("*")[2] in LAYERS and re.fullmatch(r"\d+\*?|\*", following):
            layers: set[int | None] = {None}
            begin = following.removesuffix("*")
            if 0 < len(begin) < 6:  # a number, or one and a wildcard: 6* is 6, 60, 61 ...
                layers = {n for n in range(MOST_LAYERS) if str(n).startswith(begin)}
                layers = {int(begin)} if begin == following else layers
            return True, layers, [_any_number(p) for p in parts[i + 2 :]]
    named = [_any_number(p) for p in parts if p not in MODEL_PREFIXES]
    return False, {None}, named[1:] if len(named) > 1 and named[0] == "*" else named


def _any_number(part: str) -> str:
    return "*" if part.isdecimal() else part


def _matches(parts: list[str], module: str, below: bool) -> bool:
    """Whether the parts of a glob name a module, or something it is a part of."""
    if not parts:
        return below  # the whole layer
    names = module.split(".")
    starts = (0,) if below or (len(parts) == 1 and "*" in parts[0]) else range(len(names))
    text = ".".join(parts)
    return any(
        fnmatchcase(".".join(names[i:j]), text)
        for i in starts
        for j in range(i + 1, len(names) + 1)
    )
